/*
 * From terms to instructions.
 *
 * A term is computed where something needs its number, and remembered while
 * the region that holds the instruction is open. In device code a term whose
 * symbols are all of level 1 is computed by the outer function and arrives as
 * a leaf; a mixed term is split, so that its largest parts of level 1 arrive.
 * A division by such a part uses a divisor that the host prepared. Room for
 * parameters is short: behind so many of them, symbols alone arrive, and
 * device code computes the rest itself.
 */
#include "elab_origin.h"

/* Of them; a divisor is as long as two. */
enum { MOST_PASSED = 256, MOST_DIVIDED = 128 };

static const struct cj_passed no_pass;

/* ---- symbols ------------------------------------------------------------- */

static struct cj_int
add_symbol(struct cj_elab *el, const struct cj_symbol_info *info,
    const char *name, const int64_t bounds[3])
{
	*cj_push(el->arena, &el->symbols) = *info;
	return cj_symbol(&el->sym, name == NULL ? 0 :
	    cj_elab_intern(el, name), el->symbols.len - 1, bounds[0],
	    bounds[1], bounds[2]);
}

struct cj_int
cj_elab_symbol(struct cj_elab *el, cj_ref ref, const char *name, int64_t lo,
    int64_t hi, int64_t divisor)
{
	const int64_t bounds[3] = { lo, hi, divisor };
	struct cj_symbol_info info = { .source = CJ_SOURCE_REF, .ref = ref };

	assert(el->em != NULL && lo <= hi);
	info.level = el->em->level;
	return add_symbol(el, &info, name, bounds);
}

void
cj_elab_symbol_name(struct cj_elab *el, struct cj_int symbol, cj_name name)
{
	struct cj_term *t;

	if (cj_is_known(symbol) || name == 0)
		return;
	t = &el->sym.terms.at[symbol.term];
	if (t->kind == CJ_TERM_SYMBOL && t->name == 0)
		t->name = name;
}

void
cj_elab_symbol_below(struct cj_elab *el, struct cj_int symbol,
    struct cj_int below)
{
	const struct cj_term *t;

	if (cj_is_known(symbol))
		return;
	t = cj_term_get(&el->sym, symbol);
	if (t->kind == CJ_TERM_SYMBOL)
		el->symbols.at[t->symbol].below = below;
}

struct cj_int
cj_elab_index_symbol(struct cj_elab *el, cj_ref index, const char *name,
    int64_t first, struct cj_int below)
{
	int64_t hi = cj_int_range(&el->sym, below).hi;
	struct cj_int i = cj_elab_symbol(el, index, name, first,
	    hi > first ? hi - 1 : first, 1);

	cj_elab_symbol_below(el, i, below);
	return i;
}

void
cj_elab_symbol_counts(struct cj_elab *el, struct cj_int symbol,
    struct cj_int first)
{
	struct cj_symbol_info *s;
	const struct cj_term *t;

	if (cj_is_known(symbol))
		return;
	t = cj_term_get(&el->sym, symbol);
	assert(t->kind == CJ_TERM_SYMBOL && "an index is a symbol");
	s = &el->symbols.at[t->symbol];
	s->counts = true;
	s->first = first;
}

struct cj_int
cj_elab_leaf_symbol(struct cj_elab *el, const struct cj_leaf *leaf,
    int64_t lo, int64_t hi, int64_t divisor)
{
	const int64_t bounds[3] = { lo, hi, divisor };
	struct cj_symbol_info info = { .level = 1, .source = CJ_SOURCE_LEAF,
	    .leaf = *leaf };

	return add_symbol(el, &info, leaf->name, bounds);
}

struct cj_int
cj_elab_step(struct cj_elab *el, const char *name, int64_t divisor)
{
	const int64_t bounds[3] = { INT64_MIN, INT64_MAX, divisor };
	struct cj_symbol_info info = { .level = el->em == NULL ? 1 :
	    el->em->level, .source = CJ_SOURCE_STEP };

	return add_symbol(el, &info, name, bounds);
}

/* The extent that bounds an index of the launch; 0: not known. */
static struct cj_int
special_bound(const struct cj_elab *el, enum cj_special what)
{
	switch (what) {
	case CJ_SPECIAL_THREAD_X: case CJ_SPECIAL_THREAD_Y:
	case CJ_SPECIAL_THREAD_Z:
		return el->block_extent[what - CJ_SPECIAL_THREAD_X];
	case CJ_SPECIAL_BLOCK_X: case CJ_SPECIAL_BLOCK_Y:
	case CJ_SPECIAL_BLOCK_Z:
		return el->grid_extent[what - CJ_SPECIAL_BLOCK_X];
	case CJ_SPECIAL_LANE:
		return cj_known(32);
	case CJ_SPECIAL_WARP:
		return cj_known(CJ_MAX_BLOCK_THREADS / 32);
	case CJ_SPECIAL_BLOCK_DIM_X: case CJ_SPECIAL_BLOCK_DIM_Y:
	case CJ_SPECIAL_BLOCK_DIM_Z: case CJ_SPECIAL_GRID_DIM_X:
	case CJ_SPECIAL_GRID_DIM_Y: case CJ_SPECIAL_GRID_DIM_Z:
	case CJ_SPECIAL_BLOCK_RANK: case CJ_SPECIAL_COUNT:
		break;
	}
	return cj_known(0);
}

struct cj_int
cj_elab_special(struct cj_elab *el, enum cj_special what)
{
	static const char *const names[CJ_SPECIAL_COUNT] = {
		"thread_idx.x", "thread_idx.y", "thread_idx.z",
		"block_idx.x", "block_idx.y", "block_idx.z",
		"block_dim.x", "block_dim.y", "block_dim.z",
		"grid_dim.x", "grid_dim.y", "grid_dim.z",
		"lane_idx", "warp_idx", "block_rank"
	};
	struct cj_symbol_info info = { .level = 2,
	    .source = CJ_SOURCE_SPECIAL, .number = what };
	int64_t bounds[3] = { 0, INT32_MAX - 1, 1 };

	assert(el->em != NULL && el->em->level == 2);
	if (!cj_is_value(el->em->special[what], 0))
		return el->em->special[what];
	info.below = special_bound(el, what);
	if (!cj_is_value(info.below, 0)) {
		struct cj_range r = cj_int_range(&el->sym, info.below);

		if (r.hi - 1 < bounds[1] && r.hi > 0)
			bounds[1] = r.hi - 1;
	}
	if (cj_is_value(info.below, 1))
		return cj_known(0);
	el->em->special[what] = add_symbol(el, &info, names[what], bounds);
	return el->em->special[what];
}

struct cj_int
cj_elab_thread_number(struct cj_elab *el)
{
	struct cj_int n = cj_elab_special(el, CJ_SPECIAL_THREAD_Z);

	n = cj_int_mul(&el->sym, n, el->block_extent[1]);
	n = cj_int_add(&el->sym, n, cj_elab_special(el,
	    CJ_SPECIAL_THREAD_Y));
	n = cj_int_mul(&el->sym, n, el->block_extent[0]);
	return cj_int_add(&el->sym, n, cj_elab_special(el,
	    CJ_SPECIAL_THREAD_X));
}

struct cj_int
cj_elab_fact(struct cj_elab *el, struct cj_device_ask ask, const char *name)
{
	static const int64_t bounds[3] = { 1, 1 << 20, 1 };
	struct cj_symbol_info info = { .level = 1, .source = CJ_SOURCE_FACT,
	    .number = cj_device_attr(ask) };

	return add_symbol(el, &info, name, bounds);
}

/* ---- levels -------------------------------------------------------------- */

static unsigned
max_level(unsigned a, unsigned b)
{
	return a > b ? a : b;
}

static unsigned
term_level(struct cj_elab *el, uint32_t term)
{
	const struct cj_term *t;
	struct cj_int part;
	unsigned level = 0;
	uint32_t n;

	assert(term != 0 && term < el->sym.terms.len);
	while (el->levels.len <= term)
		*cj_push(el->arena, &el->levels) = 0;
	if (el->levels.at[term] != 0)
		return el->levels.at[term];
	t = &el->sym.terms.at[term];
	if (t->kind == CJ_TERM_SYMBOL)
		level = el->symbols.at[t->symbol].level;
	for (n = 0; cj_term_part(t, n, &part); n++)
		level = max_level(level, cj_elab_int_level(el, part));
	el->levels.at[term] = (uint8_t)level;
	return level;
}

unsigned
cj_elab_int_level(struct cj_elab *el, struct cj_int i)
{
	return cj_is_known(i) ? 0 : term_level(el, i.term);
}

/* ---- what is remembered -------------------------------------------------- */

static bool
is_open(const struct cj_elab *el, cj_region region)
{
	cj_region r = el->em->b.region;

	for (; r != 0; r = el->m->regions.at[r].parent)
		if (r == region)
			return true;
	return false;
}

static cj_ref
remembered(const struct cj_elab *el, uint32_t term)
{
	const struct cj_memo *m;

	if (term >= el->em->terms.len)
		return 0;
	m = &el->em->terms.at[term];
	return m->ref != 0 && is_open(el, m->region) ? m->ref : 0;
}

static void
remember(struct cj_elab *el, uint32_t term, cj_ref ref)
{
	struct cj_memo m = { el->em->b.region, ref };

	assert(ref != 0 && "a term has an instruction");
	while (el->em->terms.len <= term)
		memset(cj_push(el->arena, &el->em->terms), 0, sizeof m);
	el->em->terms.at[term] = m;
}

/* ---- leaves -------------------------------------------------------------- */

/* The PARAM of a leaf in the current function. */
static cj_ref
leaf_ref(struct cj_elab *el, uint32_t leaf)
{
	struct cj_function *f = &el->m->functions.at[el->em->function];
	struct cj_memo *m;

	assert(leaf < f->leaves.len);
	while (el->em->leaves.len <= leaf)
		memset(cj_push(el->arena, &el->em->leaves), 0, sizeof *m);
	m = &el->em->leaves.at[leaf];
	if (m->ref == 0 || !is_open(el, m->region)) {
		m->ref = cj_emit0(&el->em->b, CJ_OP_PARAM,
		    f->leaves.at[leaf].type, leaf);
		m->region = el->em->b.region;
	}
	return m->ref;
}

static uint32_t
add_leaf(struct cj_elab *el, const struct cj_leaf *leaf,
    const struct cj_passed *p)
{
	struct cj_function *f = &el->m->functions.at[el->em->function];

	*cj_push(el->m->arena, &f->leaves) = *leaf;
	*cj_push(el->arena, &el->em->passed) = *p;
	return f->leaves.len - 1;
}

cj_ref
cj_elab_host_leaf(struct cj_elab *el, const struct cj_leaf *leaf)
{
	struct cj_function *f = &el->m->functions.at[el->em->function];
	uint32_t i;

	for (i = 0; i < f->leaves.len; i++) {
		const struct cj_leaf *l = &f->leaves.at[i];

		if (l->kind == leaf->kind && l->parameter ==
		    leaf->parameter && l->member == leaf->member &&
		    l->mode == leaf->mode)
			return leaf_ref(el, i);
	}
	return leaf_ref(el, add_leaf(el, leaf, &no_pass));
}

void
cj_elab_object_leaf(struct cj_elab *el, uint32_t object)
{
	struct cj_function *f = &el->m->functions.at[el->em->function];
	const struct cj_object *o = &el->m->objects.at[object];
	struct cj_leaf leaf = { .kind = CJ_LEAF_OBJECT,
	    .type = cj_type_of(CJ_KIND_PTR, 1), .object = object,
	    .parameter = o->parameter, .member = o->member, .lo = INT64_MIN,
	    .hi = INT64_MAX, .divisor = 1, .name = o->name };
	uint32_t i;

	if (o->kind == CJ_OBJECT_SHARED || o->kind == CJ_OBJECT_SLOT ||
	    o->kind == CJ_OBJECT_TABLE || el->em->level != 2)
		return;
	for (i = 0; i < f->leaves.len; i++)
		if (f->leaves.at[i].kind == CJ_LEAF_OBJECT &&
		    f->leaves.at[i].object == object)
			return;
	add_leaf(el, &leaf, &no_pass);
}

/* Work in the outer function for a while. */
static struct cj_emitter *
go_out(struct cj_elab *el)
{
	struct cj_emitter *inner = el->em;

	assert(inner->level == 2 && el->host != NULL);
	el->em = el->host;
	el->em->b.place = inner->b.place;
	return inner;
}

static uint32_t
find_passed(const struct cj_elab *el, const struct cj_passed *p)
{
	uint32_t i;

	for (i = 0; i < el->em->passed.len; i++) {
		const struct cj_passed *q = &el->em->passed.at[i];

		if (cj_int_same(p->i, q->i) && p->ref == q->ref &&
		    p->is_divisor == q->is_divisor && p->slot == q->slot &&
		    p->position == q->position && p->count == q->count &&
		    (q->i.term != 0 || q->ref != 0 || q->slot != 0))
			return i;
	}
	return UINT32_MAX;
}

/* A new leaf of the launch that holds the outer function's `ref`. */
static cj_ref
pass(struct cj_elab *el, const struct cj_passed *p, cj_ref ref,
    const char *name)
{
	struct cj_leaf leaf = { .kind = CJ_LEAF_VALUE, .lo = INT64_MIN,
	    .hi = INT64_MAX, .divisor = 1, .name = name };

	leaf.type = cj_inst(el->m, ref)->type;
	assert(leaf.type != 0 && "only values are passed");
	if (!cj_is_known(p->i) && !p->is_divisor) {
		struct cj_range r = cj_int_range(&el->sym, p->i);

		leaf.lo = r.lo;
		leaf.hi = r.hi;
		leaf.divisor = cj_int_divisor(&el->sym, p->i);
	}
	*cj_push(el->arena, &el->em->operands) = ref;
	return leaf_ref(el, add_leaf(el, &leaf, p));
}

/* Is a term that the host can compute to arrive as a leaf? */
static bool
arrives(struct cj_elab *el, struct cj_int i)
{
	struct cj_passed p = { .i = i };

	return el->em->level == 2 && cj_elab_int_level(el, i) == 1 &&
	    (el->em->passed.len < MOST_PASSED ||
	    cj_term_get(&el->sym, i)->kind == CJ_TERM_SYMBOL ||
	    find_passed(el, &p) != UINT32_MAX);
}

static cj_ref
pass_int(struct cj_elab *el, struct cj_int i)
{
	struct cj_passed p = { .i = i };
	uint32_t found = find_passed(el, &p);
	struct cj_emitter *inner;
	cj_ref ref;

	if (found != UINT32_MAX)
		return leaf_ref(el, found);
	inner = go_out(el);
	ref = cj_elab_ref_int(el, i);
	el->em = inner;
	return pass(el, &p, ref, cj_elab_int_text(el, i));
}

static cj_ref
pass_divisor(struct cj_elab *el, struct cj_int i)
{
	struct cj_passed p = { .i = i, .is_divisor = true };
	uint32_t found = find_passed(el, &p);
	struct cj_emitter *inner;
	cj_ref ref;

	if (found != UINT32_MAX)
		return leaf_ref(el, found);
	inner = go_out(el);
	ref = cj_emit1(&el->em->b, CJ_OP_DIVISOR, cj_type_of(CJ_KIND_U64, 2),
	    cj_elab_ref_int(el, i));
	el->em = inner;
	return pass(el, &p, ref, cj_printf(el->arena, "divisor of %s",
	    cj_elab_int_text(el, i)));
}

/* Of a scalar argument; others have no name. */
static const char *
ref_name(const struct cj_elab *el, cj_ref ref)
{
	const struct cj_inst *i = cj_inst(el->m, ref);

	if (i->op != CJ_OP_PARAM)
		return NULL;
	return el->m->functions.at[el->host->function].leaves.at[i->attr].name;
}

cj_ref
cj_elab_pass(struct cj_elab *el, cj_ref ref, unsigned level)
{
	struct cj_passed p = { .ref = ref };
	const struct cj_constant *c;
	uint32_t found;

	assert(el->em != NULL);
	if (level >= el->em->level)
		return ref;
	c = cj_constant_of(el->m, ref);
	if (c != NULL)
		return cj_emit0(&el->em->b, CJ_OP_CONST, c->type,
		    cj_inst(el->m, ref)->attr);
	found = find_passed(el, &p);
	if (found != UINT32_MAX)
		return leaf_ref(el, found);
	return pass(el, &p, ref, ref_name(el, ref));
}

cj_ref
cj_elab_pass_slot(struct cj_elab *el, uint32_t object, uint32_t position,
    uint32_t count)
{
	struct cj_passed p = { .slot = object, .position = position,
	    .count = count };
	const struct cj_object *o = &el->m->objects.at[object];
	struct cj_access access = { .object = object, .position = position };
	uint32_t found = find_passed(el, &p);
	struct cj_emitter *inner;
	cj_ref ref;

	if (found != UINT32_MAX)
		return leaf_ref(el, found);
	inner = go_out(el);
	ref = cj_emit0(&el->em->b, CJ_OP_SLOT_GET,
	    cj_type_of(o->element, count), cj_module_access(el->m, &access));
	el->em = inner;
	return pass(el, &p, ref, o->name);
}

/* ---- terms --------------------------------------------------------------- */

static const cj_type index_type = CJ_KIND_INDEX | 1 << 8;

static cj_ref
emit2(struct cj_elab *el, enum cj_op op, cj_ref a, cj_ref b)
{
	return cj_emit2(&el->em->b, op, index_type, a, b);
}

/* factor * term */
static cj_ref
addend_ref(struct cj_elab *el, const struct cj_addend *x)
{
	struct cj_int term = { 0, x->term };
	cj_ref r = cj_elab_ref_int(el, term);

	return x->factor == 1 ? r :
	    emit2(el, CJ_OP_MUL, r, cj_emit_index(&el->em->b, x->factor));
}

/*
 * A sum without its constant. Addends of level 1 arrive one by one, behind the
 * others: what neighbouring elements of a view have in common is then computed
 * once, and there is a leaf for each row and each column, not for each element.
 */
static cj_ref
variable_ref(struct cj_elab *el, const struct cj_term *t)
{
	struct cj_int part, x = { 0, 0 };
	cj_ref sum = 0, r;
	bool outer;
	uint32_t i;
	int pass;

	for (pass = 0; pass < 2; pass++)
		for (i = 0; i < t->count; i++) {
			x.term = t->addend[i].term;
			outer = el->em->level == 2 &&
			    cj_elab_int_level(el, x) == 1;
			if (outer != (pass == 1))
				continue;
			part = cj_int_mul(&el->sym,
			    cj_known(t->addend[i].factor), x);
			r = arrives(el, part) ? cj_elab_ref_int(el, part) :
			    addend_ref(el, &t->addend[i]);
			sum = sum == 0 ? r : emit2(el, CJ_OP_ADD, sum, r);
		}
	return sum;
}

static cj_ref
sum_ref(struct cj_elab *el, const struct cj_term *t)
{
	struct cj_term copy = *t;	/* the table may move */
	struct cj_int whole = cj_known(copy.constant), rest;
	cj_ref r;
	uint32_t i;

	if (copy.constant == 0)
		return variable_ref(el, &copy);
	for (i = 0, rest = cj_known(0); i < copy.count; i++) {
		struct cj_int x = { 0, copy.addend[i].term };

		rest = cj_int_add(&el->sym, rest, cj_int_mul(&el->sym,
		    cj_known(copy.addend[i].factor), x));
	}
	r = cj_elab_ref_int(el, rest);
	return emit2(el, CJ_OP_ADD, r, cj_emit_index(&el->em->b,
	    whole.value));
}

static cj_ref
product_ref(struct cj_elab *el, const struct cj_term *t)
{
	const uint32_t *operand = t->operand;
	uint32_t count = t->count, i;
	struct cj_int outer = cj_known(1);
	cj_ref r = 0, x;
	bool apart;

	assert(t->kind == CJ_TERM_PRODUCT && count >= 2);
	for (i = 0; i < count; i++) {
		struct cj_int o = { 0, operand[i] };

		if (el->em->level == 2 && cj_elab_int_level(el, o) == 1)
			outer = cj_int_mul(&el->sym, outer, o);
	}
	apart = !cj_is_known(outer) && !arrives(el, outer);
	for (i = 0; i < count; i++) {
		struct cj_int o = { 0, operand[i] };

		if (!apart && el->em->level == 2 &&
		    cj_elab_int_level(el, o) == 1)
			continue;
		x = cj_elab_ref_int(el, o);
		r = r == 0 ? x : emit2(el, CJ_OP_MUL, r, x);
	}
	if (apart || cj_is_value(outer, 1))
		return r;
	x = cj_elab_ref_int(el, outer);
	return r == 0 ? x : emit2(el, CJ_OP_MUL, r, x);
}

/* Nothing looks at 0 where the grid says that the divisor is not. */
static void
narrow_divisor(struct cj_elab *el, struct cj_int b, cj_ref ref)
{
	const struct cj_inst *i = cj_inst(el->m, ref);
	struct cj_leaf *leaf;

	if (i->op != CJ_OP_PARAM)
		return;
	leaf = &el->m->functions.at[el->em->function].leaves.at[i->attr];
	leaf->lo = cj_elab_least(el, b);
}

/* The quotient by a prepared divisor. */
static cj_ref
prepared_quotient(struct cj_elab *el, struct cj_int a, struct cj_int b)
{
	cj_ref x = cj_elab_ref_int(el, a), y = cj_elab_ref_int(el, b);

	narrow_divisor(el, b, y);
	return cj_emit3(&el->em->b, CJ_OP_DIVIDE_BY, index_type, x, y,
	    pass_divisor(el, b));
}

/* Can the host prepare a division by b? Its formula serves where b is not
 * negative (cj_num_divisor). */
static bool
is_prepared(struct cj_elab *el, struct cj_int b)
{
	return el->em->level == 2 && !cj_is_known(b) &&
	    cj_elab_int_level(el, b) == 1 &&
	    cj_int_range(&el->sym, b).lo >= 0 &&
	    el->em->passed.len < MOST_DIVIDED;
}

/* Operands are emitted from left to right, whatever C compiler built us. */
static cj_ref
binary_ref(struct cj_elab *el, enum cj_op op, struct cj_int a,
    struct cj_int b)
{
	cj_ref x = cj_elab_ref_int(el, a);

	return emit2(el, op, x, cj_elab_ref_int(el, b));
}

static cj_ref
div_ref(struct cj_elab *el, struct cj_int a, struct cj_int b)
{
	return is_prepared(el, b) ? prepared_quotient(el, a, b) :
	    binary_ref(el, CJ_OP_DIV, a, b);
}

static cj_ref
mod_ref(struct cj_elab *el, struct cj_int a, struct cj_int b)
{
	cj_ref q, x;

	if (!is_prepared(el, b))
		return binary_ref(el, CJ_OP_MOD, a, b);
	/* through the term of the quotient, so that both share it */
	q = cj_elab_ref_int(el, cj_int_div(&el->sym, a, b));
	q = emit2(el, CJ_OP_MUL, q, cj_elab_ref_int(el, b));
	x = cj_elab_ref_int(el, a);
	return emit2(el, CJ_OP_SUB, x, q);
}

static cj_ref
symbol_ref(struct cj_elab *el, const struct cj_symbol_info *s)
{
	switch (s->source) {
	case CJ_SOURCE_REF:
		assert(s->level == el->em->level);
		return s->ref;
	case CJ_SOURCE_LEAF:
		return cj_elab_host_leaf(el, &s->leaf);
	case CJ_SOURCE_SPECIAL:
		assert(el->em->level == 2);
		return cj_emit0(&el->em->b, CJ_OP_SPECIAL, index_type,
		    s->number);
	case CJ_SOURCE_FACT:
		assert(el->em->level == 1);
		return cj_emit0(&el->em->b, CJ_OP_DEVICE, index_type,
		    s->number);
	case CJ_SOURCE_STEP:
		break;
	}
	cj_bug(el->recover, "a gathered mode has no stride");
}

static cj_ref
term_ref(struct cj_elab *el, const struct cj_term *t)
{
	switch (t->kind) {
	case CJ_TERM_SYMBOL:
		return symbol_ref(el, &el->symbols.at[t->symbol]);
	case CJ_TERM_SUM: return sum_ref(el, t);
	case CJ_TERM_PRODUCT: return product_ref(el, t);
	case CJ_TERM_DIV: return div_ref(el, t->a, t->b);
	case CJ_TERM_MOD: return mod_ref(el, t->a, t->b);
	case CJ_TERM_MIN: return binary_ref(el, CJ_OP_MIN, t->a, t->b);
	case CJ_TERM_MAX: return binary_ref(el, CJ_OP_MAX, t->a, t->b);
	case CJ_TERM_XOR: return binary_ref(el, CJ_OP_XOR, t->a, t->b);
	case CJ_TERM_AND: return binary_ref(el, CJ_OP_AND, t->a, t->b);
	case CJ_TERM_OR: return binary_ref(el, CJ_OP_OR, t->a, t->b);
	case CJ_TERM_SHL: return binary_ref(el, CJ_OP_SHL, t->a, t->b);
	case CJ_TERM_SHR: return binary_ref(el, CJ_OP_SHR, t->a, t->b);
	}
	return 0;
}

cj_ref
cj_elab_ref_int(struct cj_elab *el, struct cj_int i)
{
	cj_ref r;

	assert(el->em != NULL && "only a function has instructions");
	if (cj_is_known(i))
		return cj_emit_index(&el->em->b, i.value);
	r = remembered(el, i.term);
	if (r != 0)
		return r;
	if (arrives(el, i))
		r = pass_int(el, i);
	else
		r = term_ref(el, &el->sym.terms.at[i.term]);
	remember(el, i.term, r);
	return r;
}

/* ---- bounds that are terms ----------------------------------------------- */

static struct cj_int at_most(struct cj_elab *el, struct cj_int i);

/* A value that is at least `i`, with the last value of each bounded symbol in
 * its place; `i` itself where nothing is known. */
static struct cj_int
product_at_most(struct cj_elab *el, const struct cj_term *t)
{
	struct cj_int p = cj_known(1);
	uint32_t count = t->count, i;
	const uint32_t *operand = t->operand;

	for (i = 0; i < count; i++) {
		struct cj_int o = { 0, operand[i] };

		if (cj_int_range(&el->sym, o).lo < 0)
			return cj_known(INT64_MIN);
		p = cj_int_mul(&el->sym, p, at_most(el, o));
	}
	return p;
}

/* A term that is nowhere less: bounded symbols at their last value. */
static struct cj_int
at_most(struct cj_elab *el, struct cj_int i)
{
	struct cj_term t;
	struct cj_int sum, x, most;
	uint32_t n;

	if (cj_is_known(i))
		return i;
	t = *cj_term_get(&el->sym, i);
	if (t.kind == CJ_TERM_SYMBOL) {
		most = el->symbols.at[t.symbol].below;
		return cj_is_value(most, 0) ? i :
		    cj_int_sub(&el->sym, most, cj_known(1));
	}
	if (t.kind == CJ_TERM_PRODUCT) {
		most = product_at_most(el, &t);
		return cj_is_known(most) ? i : most;
	}
	if (t.kind != CJ_TERM_SUM)
		return i;
	sum = cj_known(t.constant);
	for (n = 0; n < t.count; n++) {
		x.value = 0;
		x.term = t.addend[n].term;
		if (t.addend[n].factor > 0)
			x = at_most(el, x);
		sum = cj_int_add(&el->sym, sum, cj_int_mul(&el->sym,
		    cj_known(t.addend[n].factor), x));
	}
	return sum;
}

bool
cj_elab_proves_less(struct cj_elab *el, struct cj_int a, struct cj_int b)
{
	struct cj_int most;

	if (cj_int_less(&el->sym, a, b) == CJ_YES)
		return true;
	most = at_most(el, a);
	return !cj_int_same(most, a) &&
	    cj_int_less(&el->sym, most, b) == CJ_YES;
}
