/*
 * Facts: what is known of integer values, and which threads agree on a value.
 *
 * One walk forward: there are no phis, so an operand's fact is there before it
 * is needed; the value of an `if` gets its own when its last region ends. What
 * comes out of memory or out of a slot is anything its kind can hold.
 *
 * Uniformity is of values, among the threads that compute them: whether a place
 * is reached by all of them is the question of the regions around it.
 */
#include "facts_priv.h"

struct facts {
	const struct cj_module *m;
	const struct cj_function *f;
	struct cj_fact *at;
};

/* ---- facts and sets ------------------------------------------------------ */

static enum cj_kind
kind_of(const struct facts *s, cj_ref r)
{
	return cj_type_kind(cj_inst(s->m, r)->type);
}

static bool
is_counted(enum cj_kind k)
{
	return cj_kind_is_integer(k) || k == CJ_KIND_BOOL;
}

/* An upper bound of INT64_MAX says nothing about an unsigned 64-bit value. */
static struct cj_range
range_of(const struct facts *s, cj_ref r)
{
	const struct cj_fact *f = &s->at[r];
	struct cj_range range = { f->lo, f->hi, f->divisor };

	if (kind_of(s, r) == CJ_KIND_U64 && f->hi == INT64_MAX)
		range.hi = UINT64_MAX;
	return range;
}

static void
set_range(struct cj_fact *f, struct cj_range r, enum cj_kind k)
{
	r = cj_range_wrap(r, k);
	assert(r.lo >= INT64_MIN && r.lo <= r.hi && r.divisor >= 0);
	f->lo = r.lo > INT64_MAX ? INT64_MAX : (int64_t)r.lo;
	f->hi = r.hi > INT64_MAX ? INT64_MAX : (int64_t)r.hi;
	f->divisor = r.divisor;
	if (r.lo == r.hi)
		f->uniform = CJ_SCOPE_GRID;
}

static enum cj_scope
narrower(enum cj_scope a, enum cj_scope b)
{
	return a < b ? a : b;
}

/* ---- where values begin -------------------------------------------------- */

static struct cj_range
between(int64_t lo, int64_t hi)
{
	struct cj_range r = { lo, hi, 1 };

	return lo == hi ? cj_range_number(lo) : r;
}

static struct cj_range
constant_range(const struct cj_constant *c)
{
	enum cj_kind k = cj_type_kind(c->type);
	struct cj_range r = cj_range_number(0), one;
	uint32_t i;

	for (i = 0; i < cj_type_count(c->type); i++) {
		one = cj_range_number(cj_kind_is_signed(k) ?
		    (cj_wide)(int64_t)c->bits[i] : (cj_wide)c->bits[i]);
		r = i == 0 ? one : cj_range_hull(r, one);
	}
	return r;
}

static struct cj_range
param_range(const struct facts *s, uint32_t leaf)
{
	const struct cj_leaf *l = &s->f->leaves.at[leaf];
	struct cj_range r = { l->lo, l->hi, l->divisor };

	assert(leaf < s->f->leaves.len && l->lo <= l->hi);
	if (l->lo == 0 && l->hi == 0 && l->divisor == 0)
		return cj_range_of_kind(cj_type_kind(l->type));
	if (l->divisor < 1 && (l->lo != 0 || l->hi != 0))
		r.divisor = 1;
	return r;
}

/* Number of threads, or 0. */
static int64_t
block_threads(const struct cj_function *f)
{
	return f->block[0] * f->block[1] * f->block[2];
}

static struct cj_range
thread_range(const struct cj_function *f, unsigned axis)
{
	int64_t most = axis == 2 ? CJ_MAX_BLOCK_Z : CJ_MAX_BLOCK_THREADS;

	return between(0, (f->block[axis] > 0 ? f->block[axis] : most) - 1);
}

static struct cj_range
special_range(const struct cj_function *f, enum cj_special what)
{
	static const int64_t grid[] = { INT32_MAX, CJ_MAX_GRID_YZ,
	    CJ_MAX_GRID_YZ };
	int64_t threads = block_threads(f), most;
	unsigned axis;

	switch (what) {
	case CJ_SPECIAL_THREAD_X: case CJ_SPECIAL_THREAD_Y:
	case CJ_SPECIAL_THREAD_Z:
		return thread_range(f, what - CJ_SPECIAL_THREAD_X);
	case CJ_SPECIAL_BLOCK_X: case CJ_SPECIAL_BLOCK_Y:
	case CJ_SPECIAL_BLOCK_Z:
		return between(0, grid[what - CJ_SPECIAL_BLOCK_X] - 1);
	case CJ_SPECIAL_BLOCK_DIM_X: case CJ_SPECIAL_BLOCK_DIM_Y:
	case CJ_SPECIAL_BLOCK_DIM_Z:
		axis = what - CJ_SPECIAL_BLOCK_DIM_X;
		if (f->block[axis] > 0)
			return cj_range_number(f->block[axis]);
		return between(1, axis == 2 ? CJ_MAX_BLOCK_Z :
		    CJ_MAX_BLOCK_THREADS);
	case CJ_SPECIAL_GRID_DIM_X: case CJ_SPECIAL_GRID_DIM_Y:
	case CJ_SPECIAL_GRID_DIM_Z:
		return between(1, grid[what - CJ_SPECIAL_GRID_DIM_X]);
	case CJ_SPECIAL_LANE:
		return between(0, 31);
	case CJ_SPECIAL_WARP:
		if (threads <= 0)
			threads = CJ_MAX_BLOCK_THREADS;
		return between(0, (threads + 31) / 32 - 1);
	case CJ_SPECIAL_BLOCK_RANK:
		most = f->cluster[0] * f->cluster[1] * f->cluster[2];
		return between(0, (most > 0 ? most : 16) - 1);
	case CJ_SPECIAL_COUNT:
		break;
	}
	return cj_range_of_kind(CJ_KIND_INDEX);
}

static enum cj_scope
special_scope(const struct cj_function *f, enum cj_special what)
{
	switch (what) {
	case CJ_SPECIAL_THREAD_Y:	/* rows of whole warps */
		return f->block[0] > 0 && f->block[0] % 32 == 0 ?
		    CJ_SCOPE_WARP : CJ_SCOPE_THREAD;
	case CJ_SPECIAL_THREAD_Z:
		return f->block[0] > 0 && f->block[1] > 0 &&
		    f->block[0] * f->block[1] % 32 == 0 ?
		    CJ_SCOPE_WARP : CJ_SCOPE_THREAD;
	case CJ_SPECIAL_WARP:
		return CJ_SCOPE_WARP;
	case CJ_SPECIAL_BLOCK_X: case CJ_SPECIAL_BLOCK_Y:
	case CJ_SPECIAL_BLOCK_Z: case CJ_SPECIAL_BLOCK_RANK:
		return CJ_SCOPE_BLOCK;
	case CJ_SPECIAL_BLOCK_DIM_X: case CJ_SPECIAL_BLOCK_DIM_Y:
	case CJ_SPECIAL_BLOCK_DIM_Z: case CJ_SPECIAL_GRID_DIM_X:
	case CJ_SPECIAL_GRID_DIM_Y: case CJ_SPECIAL_GRID_DIM_Z:
		return CJ_SCOPE_GRID;
	case CJ_SPECIAL_THREAD_X: case CJ_SPECIAL_LANE:
	case CJ_SPECIAL_COUNT:
		break;
	}
	return CJ_SCOPE_THREAD;
}

/* The index of a region that `owner` runs for 0 .. product of extents. */
static struct cj_range
count_range(const struct facts *s, const struct cj_inst *owner)
{
	cj_wide most = 1;
	unsigned n;

	for (n = 0; n < owner->operand_count; n++) {
		cj_wide extent = s->at[cj_operand(s->m, owner, n)].hi;

		most *= extent > 0 ? extent : 1;
		if (most > INT64_MAX)
			most = INT64_MAX;
	}
	return between(0, (int64_t)most - 1);
}

static void
index_fact(struct facts *s, struct cj_fact *f, cj_region region)
{
	const struct cj_inst *owner = cj_inst(s->m,
	    s->m->regions.at[region].owner);
	const struct cj_fact *lo, *hi, *step;
	struct cj_range r;

	if (owner->op == CJ_OP_PRODUCE || owner->op == CJ_OP_CONSUME) {
		uint32_t p = s->m->stage_uses.at[owner->attr].pipeline;

		set_range(f, between(0, s->m->pipelines.at[p].stages - 1),
		    CJ_KIND_INDEX);
		f->uniform = CJ_SCOPE_BLOCK;
		return;
	}
	if (owner->op != CJ_OP_FOR) {
		set_range(f, count_range(s, owner), CJ_KIND_INDEX);
		f->uniform = CJ_SCOPE_THREAD;
		return;
	}
	lo = &s->at[cj_operand(s->m, owner, 0)];
	hi = &s->at[cj_operand(s->m, owner, 1)];
	step = &s->at[cj_operand(s->m, owner, 2)];
	r = between(lo->lo, hi->hi > lo->lo ? hi->hi - 1 : lo->lo);
	if (r.lo != r.hi) {
		struct cj_range of_lo = { 0, 0, lo->divisor };
		struct cj_range of_step = { 0, 0, step->divisor };

		r.divisor = cj_range_hull(of_lo, of_step).divisor;
	}
	f->uniform = narrower(lo->uniform, narrower(hi->uniform,
	    step->uniform));
	set_range(f, r, CJ_KIND_INDEX);
}

/* ---- what is made of values ---------------------------------------------- */

static enum cj_scope
operands_scope(const struct facts *s, const struct cj_inst *i)
{
	enum cj_scope scope = CJ_SCOPE_GRID;
	unsigned n;

	for (n = 0; n < i->operand_count; n++)
		scope = narrower(scope,
		    s->at[cj_operand(s->m, i, n)].uniform);
	return scope;
}

static enum cj_scope
scope_of(const struct facts *s, const struct cj_inst *i)
{
	const struct cj_access *a;

	switch (cj_op_info[i->op].effects) {
	case CJ_EFFECTS_PURE:
		if (i->op == CJ_OP_SPECIAL)
			return special_scope(s->f, (enum cj_special)i->attr);
		if (cj_op_info[i->op].scope != CJ_SCOPE_THREAD ||
		    i->op == CJ_OP_PTX_PURE)	/* it may ask for the lane */
			return CJ_SCOPE_THREAD;	/* each lane has its part */
		return operands_scope(s, i);
	case CJ_EFFECTS_READ:
		if (i->op != CJ_OP_LOAD)
			return CJ_SCOPE_THREAD;
		a = &s->m->accesses.at[i->attr];
		if (a->order != CJ_ORDER_WEAK ||
		    (s->m->objects.at[a->object].kind != CJ_OBJECT_TABLE &&
		    (s->m->objects.at[a->object].kind != CJ_OBJECT_TENSOR ||
		    s->m->objects.at[a->object].writes)))
			return CJ_SCOPE_THREAD;
		return operands_scope(s, i);
	case CJ_EFFECTS_SYNC:
		return i->op == CJ_OP_BALLOT || i->op == CJ_OP_REDUX ?
		    CJ_SCOPE_WARP :
		    CJ_SCOPE_THREAD;
	case CJ_EFFECTS_WRITE: case CJ_EFFECTS_IO: case CJ_EFFECTS_EXIT:
	case CJ_EFFECTS_REGION:
		break;
	}
	return CJ_SCOPE_THREAD;
}

static bool
clamps(const struct cj_conversion *c)
{
	return !c->is_default && c->saturate;
}

static struct cj_range
clamped(struct cj_range r, struct cj_range all)
{
	r.lo = r.lo < all.lo ? all.lo : r.lo > all.hi ? all.hi : r.lo;
	r.hi = r.hi < all.lo ? all.lo : r.hi > all.hi ? all.hi : r.hi;
	r.divisor = r.lo == r.hi ? cj_range_number(r.lo).divisor : 1;
	return r;
}

static struct cj_range
convert_range(const struct facts *s, const struct cj_inst *i)
{
	cj_ref from = cj_operand(s->m, i, 0);
	struct cj_range all = cj_range_of_kind(cj_type_kind(i->type)), r;

	if (!is_counted(kind_of(s, from)))
		return all;
	r = range_of(s, from);
	if (cj_type_kind(i->type) == CJ_KIND_BOOL)
		return r.lo > 0 || r.hi < 0 ? cj_range_number(1) :
		    r.divisor == 0 ? cj_range_number(0) : all;
	if (clamps(&s->m->conversions.at[i->attr]) &&
	    (r.lo < all.lo || r.hi > all.hi))
		return clamped(r, all);
	/* INDEX does not wrap by arithmetic, but by conversion it does */
	if (cj_type_kind(i->type) == CJ_KIND_INDEX && r.hi > all.hi)
		return all;
	return r;
}

static struct cj_range
hull_of_operands(const struct facts *s, const struct cj_inst *i)
{
	struct cj_range r = range_of(s, cj_operand(s->m, i, 0));
	unsigned n;

	for (n = 1; n < i->operand_count; n++)
		r = cj_range_hull(r, range_of(s, cj_operand(s->m, i, n)));
	return r;
}

/* Is it safe to compute with the operands' sets? */
static bool
are_narrow(const struct cj_range *x, unsigned count)
{
	unsigned n;

	for (n = 0; n < count; n++)
		if (x[n].hi > INT64_MAX)
			return false;
	return true;
}

static struct cj_range
arithmetic_range(const struct facts *s, const struct cj_inst *i)
{
	enum cj_kind k = kind_of(s, cj_operand(s->m, i, 0));
	struct cj_range x[3] = { { 0, 0, 0 } };
	unsigned n;

	if (i->op == CJ_OP_SELECT)
		k = cj_type_kind(i->type);
	if (!is_counted(k) || i->operand_count > 3)
		return cj_range_of_kind(cj_type_kind(i->type));
	for (n = 0; n < i->operand_count; n++)
		x[n] = range_of(s, cj_operand(s->m, i, n));
	/* products of bounds above 63 bits might leave 128 */
	if (!are_narrow(x, i->op == CJ_OP_DIVIDE_BY ? 2 : i->operand_count) &&
	    (i->op == CJ_OP_MUL || i->op == CJ_OP_FMA || i->op == CJ_OP_SHL))
		return cj_range_of_kind(k);
	return cj_range_apply(i->op, k, x);
}

static struct cj_range
slot_range(const struct facts *s, const struct cj_inst *i)
{
	const struct cj_object *o =
	    &s->m->objects.at[s->m->accesses.at[i->attr].object];
	struct cj_range r = { 0, o->most, o->multiple };

	if (o->multiple == 0)
		return cj_range_of_kind(o->element);
	return o->most == 0 ? cj_range_number(0) : r;
}

static struct cj_range
range_of_inst(const struct facts *s, const struct cj_inst *i)
{
	switch ((unsigned)i->op) {
	case CJ_OP_CONST:
		return constant_range(&s->m->constants.at[i->attr]);
	case CJ_OP_PARAM:
		return param_range(s, i->attr);
	case CJ_OP_SPECIAL:
		return special_range(s->f, (enum cj_special)i->attr);
	case CJ_OP_DEVICE:
		return between(1, INT32_MAX);
	case CJ_OP_CONVERT:
		return convert_range(s, i);
	case CJ_OP_SLOT_GET:
		return slot_range(s, i);
	case CJ_OP_SPLAT: case CJ_OP_SLICE: case CJ_OP_PERMUTE:
	case CJ_OP_CONCAT: case CJ_OP_INSERT:
		return hull_of_operands(s, i);
	case CJ_OP_SHFL:
		return range_of(s, cj_operand(s->m, i, 0));
	}
	if (cj_op_info[i->op].effects == CJ_EFFECTS_PURE &&
	    (cj_op_info[i->op].rule == CJ_RULE_SAME ||
	    i->op == CJ_OP_SELECT || i->op == CJ_OP_DIVIDE_BY))
		return arithmetic_range(s, i);
	return cj_range_of_kind(cj_type_kind(i->type));
}

static void
visit(struct facts *s, cj_ref r, cj_region region)
{
	const struct cj_inst *i = cj_inst(s->m, r);
	struct cj_fact *f = &s->at[r];

	if (i->type == 0)
		return;
	if (i->op == CJ_OP_INDEX) {
		index_fact(s, f, region);
		return;
	}
	f->uniform = scope_of(s, i);
	if (is_counted(cj_type_kind(i->type)))
		set_range(f, range_of_inst(s, i), cj_type_kind(i->type));
}

/* The value of an `if`, when its last region has been seen. */
static void
leave(struct facts *s, cj_region region)
{
	const struct cj_region_info *g = &s->m->regions.at[region];
	const struct cj_inst *owner;
	struct cj_fact *f;
	bool first = true;
	cj_region each;

	if (g->owner == 0 || g->next != 0)
		return;
	owner = cj_inst(s->m, g->owner);
	if (owner->op != CJ_OP_IF || owner->type == 0)
		return;
	f = &s->at[g->owner];
	f->uniform = s->at[cj_operand(s->m, owner, 0)].uniform;
	for (each = owner->region; each != 0;
	    each = s->m->regions.at[each].next) {
		cj_ref last = s->m->regions.at[each].last;
		const struct cj_inst *y = last != 0 ? cj_inst(s->m, last) :
		    NULL;
		const struct cj_fact *v;

		if (y == NULL || y->op != CJ_OP_YIELD ||
		    y->operand_count == 0)
			continue;
		v = &s->at[cj_operand(s->m, y, 0)];
		if (first) {
			f->lo = v->lo;
			f->hi = v->hi;
			f->divisor = v->divisor;
		} else {
			struct cj_range r = cj_range_hull(
			    (struct cj_range){ f->lo, f->hi, f->divisor },
			    (struct cj_range){ v->lo, v->hi, v->divisor });

			f->lo = (int64_t)r.lo;
			f->hi = (int64_t)r.hi;
			f->divisor = r.divisor;
		}
		f->uniform = narrower(f->uniform, v->uniform);
		first = false;
	}
}

struct cj_fact *
cj_facts_compute(struct cj_arena *a, const struct cj_module *m,
    uint32_t function)
{
	struct facts s = { .m = m };
	struct cj_walk w;
	uint32_t i;

	assert(function != 0 && function < m->functions.len);
	s.f = &m->functions.at[function];
	s.at = CJ_NEWS(a, struct cj_fact, m->insts.len);
	for (i = 0; i < m->insts.len; i++) {
		s.at[i].lo = INT64_MIN;
		s.at[i].hi = INT64_MAX;
		s.at[i].divisor = 1;
	}
	for (w = cj_walk_begin(m, s.f->body); cj_walk_next(&w);)
		switch (w.event) {
		case CJ_WALK_ENTER:
			break;
		case CJ_WALK_INST:
			visit(&s, w.ref, w.region);
			break;
		case CJ_WALK_LEAVE:
			leave(&s, w.region);
			break;
		}
	return s.at;
}
