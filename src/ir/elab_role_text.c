/*
 * Roles as programs: what each does to pipelines and orders, over values.
 *
 * One walk over each role, in the order of its text, knows the value of every
 * integer: a term over leaves (parameters, constants, indices of loops, loads
 * from memory that nobody writes). Equal operations on equal values are equal,
 * in whatever role; loops of one depth over one range have one index. What
 * depends on the thread, or on memory that is written, is equal to nothing.
 *
 * A `var` that a loop assigns begins each turn as an unknown, which is the same
 * in all roles whose variables have this name and begin alike. That it goes on
 * alike is assumed, and seen when each role has been read; where it is not so,
 * all is read again without that assumption.
 */
#include "elab_role_priv.h"

enum { MOST_STEPS = 200000 };	/* of ways that exits part */

struct value {
	bool is_known, is_cond;
	struct cj_int i;
	const struct cj_cond *cond;
};

/* Where a way goes on when a region has ended: frames, innermost first. */
struct frame {
	cj_ref owner;		/* whose region ends here; a loop's: it turns */
	cj_ref next;		/* behind it */
	struct frame *outer;
};

struct reader {
	struct cj_compare *c;
	const struct cj_module *m;
	uint32_t role;
	struct value *values;	/* by ref */
	struct cj_int *slots;	/* by object: what it holds */
	bool *has_slot;
	unsigned depth;		/* of loops */
	uint32_t unique;	/* made so far */
	CJ_VEC(cj_ref) draws;	/* of this role, in its text */
	uint32_t steps;
	/* the loop that is read: what its ways end with */
	struct cj_int *end;
	bool *has_end;
	bool some_end;
};

/* ---- values -------------------------------------------------------------- */

struct cj_int
cj_role_symbol(struct cj_compare *c, const char *key, const char *name,
    int64_t lo, int64_t hi)
{
	uint32_t i;
	struct cj_int s;

	for (i = 0; i < c->atoms.len; i++)
		if (strcmp(c->atoms.at[i].key, key) == 0)
			return c->atoms.at[i].symbol;
	s = cj_symbol(&c->sym, cj_elab_intern(c->el, name), c->atoms.len, lo,
	    hi, 1);
	*cj_push(c->el->arena, &c->atoms) = (struct cj_role_atom){
	    .key = key, .symbol = s };
	return s;
}

struct cj_role_atom *
cj_role_atom_of(struct cj_compare *c, struct cj_int s)
{
	return &c->atoms.at[cj_term_get(&c->sym, s)->symbol];
}

static bool
cond_depends(struct cj_compare *c, const struct cj_cond *cond,
    struct cj_int on)
{
	return cond != NULL && (cj_role_depends(c, cond->e, on) ||
	    cond_depends(c, cond->x, on) || cond_depends(c, cond->y, on));
}

static bool
symbol_depends(struct cj_compare *c, const struct cj_role_atom *a,
    struct cj_int on)
{
	uint32_t i;

	for (i = 0; i < a->count; i++)
		if (cj_role_depends(c, a->of[i], on))
			return true;
	return a->varies || cond_depends(c, a->cond, on);
}

bool
cj_role_depends(struct cj_compare *c, struct cj_int e, struct cj_int on)
{
	const struct cj_term *t;
	uint32_t i;

	if (cj_is_known(e))
		return false;
	if (cj_int_same(e, on))
		return true;
	t = cj_term_get(&c->sym, e);
	if (t->kind == CJ_TERM_SYMBOL)
		return symbol_depends(c, &c->atoms.at[t->symbol], on);
	for (i = 0; i < t->count; i++)
		if (cj_role_depends(c, (struct cj_int){ 0, t->kind ==
		    CJ_TERM_SUM ? t->addend[i].term : t->operand[i] }, on))
			return true;
	return cj_role_depends(c, t->a, on) || cj_role_depends(c, t->b, on);
}

static const char *
key_of(struct reader *r, struct cj_int i)
{
	return cj_printf(r->c->el->arena, "%u:%lld", (unsigned)i.term,
	    (long long)i.value);
}

/* A value that is equal to no other one. */
static struct cj_int
unlike_any(struct reader *r, const char *name)
{
	struct cj_int s = cj_role_symbol(r->c, cj_printf(r->c->el->arena,
	    "own %u %u", (unsigned)r->role, (unsigned)r->unique++), name,
	    INT64_MIN, INT64_MAX);

	cj_role_atom_of(r->c, s)->varies = true;
	return s;
}

static const struct cj_cond *
condition(struct reader *r, struct cj_cond n)
{
	struct cj_cond *made;
	uint32_t i;

	for (i = 0; i < r->c->conds.len; i++) {
		const struct cj_cond *c = r->c->conds.at[i];

		if (c->kind == n.kind && c->truth == n.truth && c->x == n.x &&
		    c->y == n.y && cj_int_same(c->e, n.e))
			return c;
	}
	n.number = r->c->conds.len;
	made = cj_memdup(r->c->el->arena, &n, sizeof n);
	*cj_push(r->c->el->arena, &r->c->conds) = made;
	return made;
}

static const struct cj_cond *
positive(struct reader *r, struct cj_int e)
{
	if (cj_is_known(e))
		return condition(r, (struct cj_cond){ .kind = CJ_COND_KNOWN,
		    .truth = e.value > 0 });
	return condition(r, (struct cj_cond){ .kind = CJ_COND_POSITIVE,
	    .e = e });
}

static const struct cj_cond *
negated(struct reader *r, const struct cj_cond *x)
{
	return condition(r, (struct cj_cond){ .kind = CJ_COND_NOT, .x = x });
}

static const struct cj_cond *
both(struct reader *r, enum cj_cond_kind kind, const struct cj_cond *x,
    const struct cj_cond *y)
{
	return condition(r, (struct cj_cond){ .kind = kind, .x = x, .y = y });
}

static struct value
of_int(struct cj_int i)
{
	return (struct value){ .is_known = true, .i = i };
}

static struct value
of_cond(const struct cj_cond *c)
{
	return (struct value){ .is_known = true, .is_cond = true, .cond = c };
}

static struct value
operand(struct reader *r, const struct cj_inst *i, unsigned n)
{
	return r->values[cj_operand(r->m, i, n)];
}

/* An integer; a truth as 0 or 1. */
static struct cj_int
int_of(struct reader *r, struct value v)
{
	struct cj_int s;

	if (!v.is_known)
		return unlike_any(r, "a value");
	if (!v.is_cond)
		return v.i;
	s = cj_role_symbol(r->c, cj_printf(r->c->el->arena, "truth %u",
	    (unsigned)v.cond->number), "a condition", 0, 1);
	cj_role_atom_of(r->c, s)->cond = v.cond;
	return s;
}

static const struct cj_cond *
cond_of(struct reader *r, struct value v)
{
	return v.is_known && v.is_cond ? v.cond : positive(r, int_of(r, v));
}

/* ---- instructions -------------------------------------------------------- */

static bool
is_wide(const struct cj_inst *i)
{
	return i->type == cj_type_of(CJ_KIND_INDEX, 1) ||
	    i->type == cj_type_of(CJ_KIND_I64, 1);
}

static bool
is_integer(cj_type t)
{
	return cj_type_count(t) == 1 && cj_kind_is_integer(cj_type_kind(t));
}

/* The operation on its operands, whatever it does. */
static struct value
opaque(struct reader *r, const struct cj_inst *i)
{
	struct cj_strbuf key;
	struct cj_int of[4], s;
	unsigned n;

	if (i->operand_count > CJ_LENGTH(of))
		return (struct value){ .is_known = false };
	cj_strbuf_init(&key, r->c->el->arena);
	cj_strbuf_printf(&key, "%s %u %u", cj_op_info[i->op].text,
	    (unsigned)i->attr, (unsigned)i->type);
	for (n = 0; n < i->operand_count; n++) {
		struct value v = operand(r, i, n);

		if (!v.is_known)
			return (struct value){ .is_known = false };
		of[n] = int_of(r, v);
		cj_strbuf_printf(&key, " %s", key_of(r, of[n]));
	}
	s = cj_role_symbol(r->c, key.text, cj_op_info[i->op].text, INT64_MIN,
	    INT64_MAX);
	memcpy(cj_role_atom_of(r->c, s)->of, of, n * sizeof *of);
	cj_role_atom_of(r->c, s)->count = n;
	return of_int(s);
}

static struct value
compare(struct reader *r, const struct cj_inst *i)
{
	struct cj_int a = int_of(r, operand(r, i, 0));
	struct cj_int b = int_of(r, operand(r, i, 1));
	struct cj_symtab *t = &r->c->sym;
	const struct cj_cond *more = positive(r, cj_int_sub(t, a, b));
	const struct cj_cond *less = positive(r, cj_int_sub(t, b, a));

	switch ((unsigned)i->op) {
	case CJ_OP_LT: return of_cond(less);
	case CJ_OP_LE: return of_cond(negated(r, more));
	case CJ_OP_NE:
		return of_cond(both(r, CJ_COND_OR, more, less));
	}
	return of_cond(both(r, CJ_COND_AND, negated(r, more),
	    negated(r, less)));
}

static struct value
logic(struct reader *r, const struct cj_inst *i)
{
	const struct cj_cond *x = cond_of(r, operand(r, i, 0));

	if (i->op == CJ_OP_NOT)
		return of_cond(negated(r, x));
	return of_cond(both(r, i->op == CJ_OP_AND ? CJ_COND_AND : CJ_COND_OR,
	    x, cond_of(r, operand(r, i, 1))));
}

static struct value
arithmetic(struct reader *r, const struct cj_inst *i)
{
	struct cj_symtab *t = &r->c->sym;
	struct cj_int a = int_of(r, operand(r, i, 0));
	struct cj_int b = i->operand_count > 1 ? int_of(r, operand(r, i, 1)) :
	    cj_known(0);

	switch ((unsigned)i->op) {
	case CJ_OP_ADD: return of_int(cj_int_add(t, a, b));
	case CJ_OP_SUB: return of_int(cj_int_sub(t, a, b));
	case CJ_OP_MUL: return of_int(cj_int_mul(t, a, b));
	case CJ_OP_DIV: case CJ_OP_DIVIDE_BY:
		return of_int(cj_int_div(t, a, b));
	case CJ_OP_MOD: return of_int(cj_int_mod(t, a, b));
	case CJ_OP_MIN: return of_int(cj_int_min(t, a, b));
	case CJ_OP_MAX: return of_int(cj_int_max(t, a, b));
	}
	return opaque(r, i);
}

/* The remainder of a narrow number by a known one has few values. */
static struct value
narrow(struct reader *r, const struct cj_inst *i)
{
	struct value v, by;

	if (i->op != CJ_OP_MOD)
		return opaque(r, i);
	v = operand(r, i, 0);
	by = operand(r, i, 1);
	if (!v.is_known || !by.is_known || by.is_cond ||
	    !cj_is_known(by.i) || by.i.value < 1)
		return opaque(r, i);
	return of_int(cj_int_mod(&r->c->sym, int_of(r, v), by.i));
}

static struct value
constant(const struct cj_module *m, const struct cj_inst *i)
{
	const struct cj_constant *k = &m->constants.at[i->attr];

	if (cj_type_count(k->type) != 1)
		return (struct value){ .is_known = false };
	return of_int(cj_known((int64_t)k->bits[0]));
}

static struct value
leaf(struct reader *r, const struct cj_inst *i)
{
	const struct cj_leaf *l = &r->m->functions.at[
	    r->c->el->em->function].leaves.at[i->attr];
	bool is_bounded = l->lo != 0 || l->hi != 0 || l->divisor != 0;
	int64_t lo = is_bounded ? l->lo : INT64_MIN;
	int64_t hi = is_bounded ? l->hi : INT64_MAX;
	struct cj_int s;

	s = cj_role_symbol(r->c, cj_printf(r->c->el->arena, "param %u",
	    (unsigned)i->attr), l->name != NULL ? l->name : "a parameter",
	    lo, hi);
	if (is_bounded && l->divisor > 1)
		cj_symbol_assume(&r->c->sym, s, lo, hi, l->divisor);
	return of_int(s);
}

/* Blocks of a cluster count on from a multiple of its extent. */
static struct cj_int
block_index(struct reader *r, uint32_t axis)
{
	struct cj_symtab *t = &r->c->sym;
	struct cj_arena *a = r->c->el->arena;
	int64_t extent = r->m->functions.at[r->c->el->em->function]
	    .cluster[axis];
	struct cj_int cluster = cj_role_symbol(r->c, cj_printf(a,
	    "cluster %u", (unsigned)axis), "the number of the cluster", 0,
	    INT32_MAX), rank;

	if (extent <= 1)
		return cluster;
	rank = cj_role_symbol(r->c, cj_printf(a, "rank %u", (unsigned)axis),
	    "the block's index in its cluster", 0, extent - 1);
	return cj_int_add(t, cj_int_mul(t, cluster, cj_known(extent)), rank);
}

static struct value
special(struct reader *r, const struct cj_inst *i)
{
	bool is_of_thread = i->attr <= CJ_SPECIAL_THREAD_Z || i->attr ==
	    CJ_SPECIAL_LANE || i->attr == CJ_SPECIAL_WARP;

	if (is_of_thread)
		return (struct value){ .is_known = false };
	if (i->attr >= CJ_SPECIAL_BLOCK_X && i->attr <= CJ_SPECIAL_BLOCK_Z)
		return of_int(block_index(r, i->attr - CJ_SPECIAL_BLOCK_X));
	if (i->attr == CJ_SPECIAL_BLOCK_RANK)
		return of_int(cj_role_symbol(r->c, "rank",
		    "the block's rank in its cluster", 0, 15));
	return of_int(cj_role_symbol(r->c, cj_printf(r->c->el->arena,
	    "special %u", (unsigned)i->attr), "a number of the block", 0,
	    INT32_MAX));
}

static bool
is_drawn(const struct reader *r, uint32_t pipeline)
{
	const struct cj_emitter *em = r->c->el->em;
	uint32_t i;

	for (i = 0; i < em->pipes.len; i++)
		if (em->pipes.at[i]->number == pipeline)
			return em->pipes.at[i]->is_drawn;
	return false;
}

/* Is it a field of a pipeline that carries drawn numbers? */
static bool
is_number(const struct reader *r, uint32_t object)
{
	uint32_t p;

	for (p = 1; p < r->m->pipelines.len; p++)
		if (r->m->pipelines.at[p].fields[0] == object)
			return is_drawn(r, p);
	return false;
}

/* Which draw of the role this is: all roles draw the same numbers. */
static struct value
drawn(struct reader *r, const struct cj_inst *i, uint32_t object)
{
	cj_ref at = (cj_ref)(i - r->m->insts.at);
	uint32_t n;

	for (n = 0; n < r->draws.len && r->draws.at[n] != at; n++)
		;
	if (n == r->draws.len)
		*cj_push(r->c->el->arena, &r->draws) = at;
	return of_int(cj_role_symbol(r->c, cj_printf(r->c->el->arena,
	    "draw %u of %u", (unsigned)n, (unsigned)object), "a drawn number",
	    0, INT32_MAX));
}

/* Memory that nobody writes is equal at equal places. */
static struct value
load(struct reader *r, const struct cj_inst *i)
{
	const struct cj_access *a = &r->m->accesses.at[i->attr];
	const struct cj_object *o = &r->m->objects.at[a->object];

	if (is_number(r, a->object))
		return drawn(r, i, a->object);
	if (o->kind == CJ_OBJECT_SHARED || o->kind == CJ_OBJECT_FOREIGN ||
	    o->writes || o->may_alias || a->order != CJ_ORDER_WEAK)
		return (struct value){ .is_known = false };
	return opaque(r, &(struct cj_inst){ .op = i->op, .attr = a->object,
	    .type = i->type, .operands = i->operands,
	    .operand_count = i->operand_count });
}

static struct value
get(struct reader *r, const struct cj_inst *i)
{
	uint32_t o = r->m->accesses.at[i->attr].object;

	if (r->m->objects.at[o].extent != 1 || !r->has_slot[o])
		return (struct value){ .is_known = false };
	return of_int(r->slots[o]);
}

static struct value
evaluate(struct reader *r, const struct cj_inst *i)
{
	cj_type first = i->operand_count > 0 ? cj_inst(r->m, cj_operand(r->m,
	    i, 0))->type : 0;
	bool is_truth = i->type == cj_type_of(CJ_KIND_BOOL, 1);

	if (!is_truth && !is_integer(i->type) && i->op != CJ_OP_PARAM)
		return (struct value){ .is_known = false };
	switch ((unsigned)i->op) {
	case CJ_OP_CONST: return constant(r->m, i);
	case CJ_OP_PARAM: return leaf(r, i);
	case CJ_OP_SPECIAL: return special(r, i);
	case CJ_OP_LOAD: return load(r, i);
	case CJ_OP_SLOT_GET: return get(r, i);
	case CJ_OP_INDEX: return r->values[i - r->m->insts.at];
	case CJ_OP_CONVERT:
		return is_wide(i) && is_integer(first) ? operand(r, i, 0) :
		    opaque(r, i);
	case CJ_OP_EQ: case CJ_OP_NE: case CJ_OP_LT: case CJ_OP_LE:
		return is_integer(first) ? compare(r, i) : opaque(r, i);
	case CJ_OP_AND: case CJ_OP_OR: case CJ_OP_NOT:
		return is_truth ? logic(r, i) : opaque(r, i);
	}
	if (cj_op_info[i->op].effects != CJ_EFFECTS_PURE ||
	    i->op == CJ_OP_PTX_PURE)
		return (struct value){ .is_known = false };
	return is_wide(i) ? arithmetic(r, i) : narrow(r, i);
}

/* ---- what is done -------------------------------------------------------- */

static void
add(struct reader *r, struct cj_deeds *to, struct cj_deed d)
{
	*cj_push(r->c->el->arena, to) = cj_memdup(r->c->el->arena, &d,
	    sizeof d);
}

struct state {
	struct cj_int *slots;
	bool *has_slot;
};

static struct state
save(struct reader *r)
{
	uint32_t n = r->m->objects.len;

	return (struct state){ cj_memdup(r->c->el->arena, r->slots,
	    n * sizeof *r->slots), cj_memdup(r->c->el->arena, r->has_slot,
	    n * sizeof *r->has_slot) };
}

static void
restore(struct reader *r, struct state s)
{
	struct state own = s;

	r->slots = own.slots;
	r->has_slot = own.has_slot;
}

/* Another way ends with other values. */
static void
merge(struct reader *r, const struct cj_cond *cond, struct state other)
{
	struct cj_role_atom *a;
	struct cj_int s;
	uint32_t o;

	for (o = 1; o < r->m->objects.len; o++) {
		if (!r->has_slot[o] || !other.has_slot[o]) {
			r->has_slot[o] = false;
			continue;
		}
		if (cj_int_same(r->slots[o], other.slots[o]))
			continue;
		s = cj_role_symbol(r->c, cj_printf(r->c->el->arena,
		    "select %u %s %s", (unsigned)cond->number,
		    key_of(r, r->slots[o]), key_of(r, other.slots[o])),
		    "a variable", INT64_MIN, INT64_MAX);
		a = cj_role_atom_of(r->c, s);
		a->of[0] = r->slots[o];
		a->of[1] = other.slots[o];
		a->count = 2;
		a->cond = cond;
		r->slots[o] = s;
	}
}

static bool
has_exit(const struct cj_module *m, cj_ref owner)
{
	struct cj_walk w;
	cj_region g;

	for (g = cj_inst(m, owner)->region; g != 0; g = m->regions.at[g].next)
		for (w = cj_walk_begin(m, g); cj_walk_next(&w);)
			if (w.event == CJ_WALK_INST && (cj_inst(m, w.ref)->op
			    == CJ_OP_BREAK || cj_inst(m, w.ref)->op ==
			    CJ_OP_CONTINUE))
				return true;
	return false;
}

static void read_from(struct reader *r, cj_ref at, struct frame *f,
    struct cj_deeds *to);

static void
read_region(struct reader *r, cj_region g, struct frame *f,
    struct cj_deeds *to)
{
	read_from(r, g == 0 ? 0 : r->m->regions.at[g].first, f, to);
}

/* A region without exits, by itself. */
static void
read_alone(struct reader *r, cj_region g, struct cj_deeds *to)
{
	read_region(r, g, NULL, to);
}

/* What a region that has been read yields. */
static struct value
yielded(const struct reader *r, cj_region g)
{
	cj_ref last = r->m->regions.at[g].last;

	if (last == 0 || cj_inst(r->m, last)->op != CJ_OP_YIELD ||
	    cj_inst(r->m, last)->operand_count != 1)
		return (struct value){ .is_known = false };
	return r->values[cj_operand(r->m, cj_inst(r->m, last), 0)];
}

/* One of two values: equal to the same choice between equal ones. */
static struct value
chosen(struct reader *r, const struct cj_cond *cond, struct value x,
    struct value y)
{
	struct cj_symtab *t = &r->c->sym;
	struct cj_role_atom *a;
	struct cj_range u, v;
	struct cj_int s, p, q;

	if (!x.is_known || !y.is_known)
		return (struct value){ .is_known = false };
	p = int_of(r, x);
	q = int_of(r, y);
	if (cj_int_same(p, q))
		return x;
	u = cj_int_range(t, p);
	v = cj_int_range(t, q);
	s = cj_role_symbol(r->c, cj_printf(r->c->el->arena,
	    "select %u %s %s", (unsigned)cond->number, key_of(r, p),
	    key_of(r, q)), "a choice", u.lo < v.lo ? u.lo : v.lo,
	    u.hi > v.hi ? u.hi : v.hi);
	a = cj_role_atom_of(r->c, s);
	a->of[0] = p;
	a->of[1] = q;
	a->count = 2;
	a->cond = cond;
	return of_int(s);
}

static void
branch(struct reader *r, const struct cj_inst *i, cj_ref at,
    struct cj_deeds *to)
{
	struct cj_deed d = { .kind = CJ_DEED_IF, .at = at,
	    .cond = cond_of(r, operand(r, i, 0)) };
	struct state before = save(r), after;

	read_alone(r, i->region, &d.then);
	after = save(r);
	restore(r, before);
	read_alone(r, r->m->regions.at[i->region].next, &d.other);
	before = save(r);
	restore(r, after);
	merge(r, d.cond, before);
	r->values[at] = (struct value){ .is_known = false };
	if (i->type != 0)
		r->values[at] = chosen(r, d.cond, yielded(r, i->region),
		    yielded(r, r->m->regions.at[i->region].next));
	if (d.then.len > 0 || d.other.len > 0)
		add(r, to, d);
}

/* Ways that part for good: each takes what stands behind along. */
static void
part(struct reader *r, const struct cj_inst *i, cj_ref at, struct frame *f,
    struct cj_deeds *to)
{
	struct frame behind = { at, i->next, f };
	struct cj_deed d = { .kind = CJ_DEED_IF, .at = at,
	    .cond = cond_of(r, operand(r, i, 0)) };
	struct state before = save(r);

	read_region(r, i->region, &behind, &d.then);
	restore(r, before);
	read_region(r, r->m->regions.at[i->region].next, &behind, &d.other);
	add(r, to, d);
}

/* ---- loops --------------------------------------------------------------- */

/* Objects that a loop assigns. */
static bool *
assigned(struct reader *r, cj_region g)
{
	bool *is = CJ_NEWS(r->c->el->arena, bool, r->m->objects.len);
	struct cj_walk w;

	for (w = cj_walk_begin(r->m, g); cj_walk_next(&w);)
		if (w.event == CJ_WALK_INST && cj_inst(r->m, w.ref)->op ==
		    CJ_OP_SLOT_SET)
			is[r->m->accesses.at[cj_inst(r->m, w.ref)->attr]
			    .object] = true;
	return is;
}

static struct cj_role_var *
carried(struct reader *r, const char *key)
{
	struct cj_compare *c = r->c;
	uint32_t i;

	for (i = 0; i < c->carried.len; i++)
		if (strcmp(c->carried.at[i].key, key) == 0)
			return &c->carried.at[i];
	*cj_push(c->el->arena, &c->carried) = (struct cj_role_var){
	    .key = key };
	return &c->carried.at[c->carried.len - 1];
}

static const char *
carried_key(struct reader *r, uint32_t o, const char *loop)
{
	const char *name = r->m->objects.at[o].name;

	return cj_printf(r->c->el->arena, "carried %s %s %s", loop,
	    name != NULL ? name : "", key_of(r, r->slots[o]));
}

/* Each turn begins with what the last one ended with. */
static void
begin_turn(struct reader *r, const bool *is, const char *loop,
    struct cj_int index, const char **keys)
{
	struct cj_role_atom *a;
	struct cj_role_var *v;
	uint32_t o;

	for (o = 1; o < r->m->objects.len; o++) {
		if (!is[o] || !r->has_slot[o])
			continue;
		keys[o] = carried_key(r, o, loop);
		v = carried(r, keys[o]);
		v->loop = loop;
		v->first = r->slots[o];
		r->slots[o] = v->is_bad ?
		    unlike_any(r, "a variable") : cj_role_symbol(r->c,
		    keys[o], r->m->objects.at[o].name != NULL ?
		    r->m->objects.at[o].name : "a variable", INT64_MIN,
		    INT64_MAX);
		v->now = r->slots[o];
		a = cj_role_atom_of(r->c, r->slots[o]);
		a->of[0] = index;
		a->count = 1;
	}
}

static void
end_turn(struct reader *r, const char **keys)
{
	struct cj_role_var *k;
	uint32_t o;

	for (o = 1; o < r->m->objects.len; o++) {
		if (keys[o] == NULL)
			continue;
		k = carried(r, keys[o]);
		if (!r->some_end || !r->has_end[o])
			k->is_bad = true;
		else if (!k->is_known)
			k->next = r->end[o];
		else if (!cj_int_same(k->next, r->end[o]))
			k->is_bad = true;
		k->is_known = true;
	}
}

/* A way has come to the loop's end. */
static void
reach_end(struct reader *r)
{
	uint32_t o;

	for (o = 1; o < r->m->objects.len; o++) {
		if (!r->some_end) {
			r->end[o] = r->slots[o];
			r->has_end[o] = r->has_slot[o];
		} else if (!r->has_slot[o] ||
		    !cj_int_same(r->end[o], r->slots[o])) {
			r->has_end[o] = false;
		}
	}
	r->some_end = true;
}

static void
read_turn(struct reader *r, const struct cj_inst *i, cj_ref at,
    const char *loop, struct cj_int index, struct cj_deeds *to)
{
	uint32_t n = r->m->objects.len, o;
	struct reader outer = *r;
	bool *is = assigned(r, i->region);
	const char **keys = CJ_NEWS(r->c->el->arena, const char *, n);
	struct state before = save(r);
	struct frame f = { at, 0, NULL };

	r->end = CJ_NEWS(r->c->el->arena, struct cj_int, n);
	r->has_end = CJ_NEWS(r->c->el->arena, bool, n);
	r->some_end = false;
	r->depth++;
	begin_turn(r, is, loop, index, keys);
	read_region(r, i->region, &f, to);
	end_turn(r, keys);
	r->depth--;
	r->end = outer.end;
	r->has_end = outer.has_end;
	r->some_end = outer.some_end;
	restore(r, before);
	for (o = 1; o < n; o++)
		if (is[o])
			r->has_slot[o] = false;
}

static void
loop(struct reader *r, const struct cj_inst *i, cj_ref at,
    struct cj_deeds *to)
{
	struct cj_deed d = { .kind = i->op == CJ_OP_FOR ? CJ_DEED_FOR :
	    CJ_DEED_WHILE, .at = at };
	const char *key = cj_printf(r->c->el->arena, "while %u", r->depth);
	struct cj_range a, b;

	if (i->op == CJ_OP_FOR) {
		d.lo = int_of(r, operand(r, i, 0));
		d.hi = int_of(r, operand(r, i, 1));
		d.step = int_of(r, operand(r, i, 2));
		key = cj_printf(r->c->el->arena, "for %u %s %s %s", r->depth,
		    key_of(r, d.lo), key_of(r, d.hi), key_of(r, d.step));
		a = cj_int_range(&r->c->sym, d.lo);
		b = cj_int_range(&r->c->sym, d.hi);
		d.index = cj_role_symbol(r->c, key, "the index", a.lo,
		    b.hi > a.lo && b.hi < INT64_MAX ? b.hi - 1 : b.hi >
		    a.lo ? INT64_MAX : a.lo);
		r->values[r->m->regions.at[i->region].first] =
		    of_int(d.index);
	}
	d.loop = key;
	read_turn(r, i, at, key, d.index, &d.then);
	if (d.then.len > 0)
		add(r, to, d);
}

/* ---- all instructions ---------------------------------------------------- */

static void
set(struct reader *r, const struct cj_inst *i)
{
	uint32_t o = r->m->accesses.at[i->attr].object;
	struct value v = operand(r, i, 0);

	r->has_slot[o] = r->m->objects.at[o].extent == 1 && v.is_known;
	if (r->has_slot[o])
		r->slots[o] = int_of(r, v);
}

static void
use_stage(struct reader *r, const struct cj_inst *i, cj_ref at,
    struct cj_deeds *to)
{
	const struct cj_stage_use *u = &r->m->stage_uses.at[i->attr];
	struct cj_deed d = { .kind = CJ_DEED_OP, .at = at,
	    .pipeline = u->pipeline };

	if (i->op == CJ_OP_SKIP) {
		d.kind = CJ_DEED_SKIP;
		d.n = int_of(r, operand(r, i, 0));
	}
	if (!u->keep && !is_drawn(r, u->pipeline))
		add(r, to, d);
}

/* Leave outward, to `target`; what is behind it goes on. */
static void
leave(struct reader *r, const struct cj_inst *i, cj_ref at, struct frame *f,
    struct cj_deeds *to)
{
	while (f != NULL && f->owner != i->attr)
		f = f->outer;
	if (f != NULL && cj_inst(r->m, f->owner)->op == CJ_OP_SCOPE) {
		read_from(r, f->next, f->outer, to);
	} else if (i->op == CJ_OP_CONTINUE && f != NULL) {
		reach_end(r);
	} else {		/* of a loop, or out of several */
		add(r, to, (struct cj_deed){ .kind = CJ_DEED_EXIT,
		    .at = at });
	}
}

/* One instruction; true: the way has gone on elsewhere. */
static bool
step(struct reader *r, cj_ref at, struct frame *f, struct cj_deeds *to)
{
	const struct cj_inst *i = cj_inst(r->m, at);
	struct frame behind = { at, i->next, f };
	cj_ref index;

	switch ((unsigned)i->op) {
	case CJ_OP_PRODUCE: case CJ_OP_CONSUME:
		use_stage(r, i, at, to);
		index = r->m->regions.at[i->region].first;
		r->values[index] = (struct value){ .is_known = false };
		read_region(r, i->region, &behind, to);
		return true;
	case CJ_OP_SKIP: use_stage(r, i, at, to); return false;
	case CJ_OP_TURN:
		add(r, to, (struct cj_deed){ .kind = CJ_DEED_OP, .at = at,
		    .order = i->attr });
		read_region(r, i->region, &behind, to);
		return true;
	case CJ_OP_SCOPE:
		read_region(r, i->region, &behind, to);
		return true;
	case CJ_OP_IF:
		if (has_exit(r->m, at)) {
			part(r, i, at, f, to);
			return true;
		}
		branch(r, i, at, to);
		return false;
	case CJ_OP_FOR: case CJ_OP_LOOP: loop(r, i, at, to); return false;
	case CJ_OP_BREAK: case CJ_OP_CONTINUE:
		leave(r, i, at, f, to);
		return true;
	case CJ_OP_SLOT_SET: set(r, i); return false;
	case CJ_OP_ROLE: return false;
	}
	r->values[at] = evaluate(r, i);
	return false;
}

static void
read_from(struct reader *r, cj_ref at, struct frame *f, struct cj_deeds *to)
{
	cj_ref next;

	for (;;) {
		for (; at != 0; at = next) {
			next = cj_inst(r->m, at)->next;
			if (++r->steps > MOST_STEPS)
				return;
			if (step(r, at, f, to))
				return;
		}
		if (f == NULL)
			return;
		if (f->next == 0 && f->outer == NULL && (cj_inst(r->m,
		    f->owner)->op == CJ_OP_FOR || cj_inst(r->m, f->owner)->op
		    == CJ_OP_LOOP)) {
			reach_end(r);
			return;
		}
		at = f->next;
		f = f->outer;
	}
}

/* ---- all roles ----------------------------------------------------------- */

static void
read_all(struct cj_compare *c)
{
	struct cj_elab *el = c->el;
	const struct cj_module *m = el->m;
	struct reader r = { .c = c, .m = m };
	struct cj_role_text *text;
	cj_ref at;

	r.values = CJ_NEWS(el->arena, struct value, m->insts.len);
	r.slots = CJ_NEWS(el->arena, struct cj_int, m->objects.len);
	r.has_slot = CJ_NEWS(el->arena, bool, m->objects.len);
	r.end = CJ_NEWS(el->arena, struct cj_int, m->objects.len);
	r.has_end = CJ_NEWS(el->arena, bool, m->objects.len);
	*cj_push(el->arena, &c->roles) = (struct cj_role_text){ 0 };
	for (at = m->regions.at[m->functions.at[el->em->function].body].first;
	    at != 0; at = cj_inst(m, at)->next) {
		const struct cj_inst *i = cj_inst(m, at);
		struct state before = save(&r);
		struct cj_deeds deeds = { 0 };

		r.role = i->op == CJ_OP_ROLE ? i->attr : 0;
		r.draws.len = 0;
		if (i->op != CJ_OP_ROLE) {
			step(&r, at, NULL, &c->roles.at[0].deeds);
			continue;
		}
		read_region(&r, i->region, NULL, &deeds);
		restore(&r, before);
		text = cj_push(el->arena, &c->roles);
		text->number = i->attr;
		text->deeds = deeds;
	}
}

static uint32_t
count_bad(const struct cj_compare *c)
{
	uint32_t i, n = 0;

	for (i = 0; i < c->carried.len; i++)
		n += c->carried.at[i].is_bad;
	return n;
}

/* Until nothing that was assumed of variables is found wrong. */
void
cj_roles_read(struct cj_compare *c)
{
	uint32_t bad, i;

	do {
		bad = count_bad(c);
		c->roles.len = 0;
		for (i = 0; i < c->carried.len; i++)
			c->carried.at[i].is_known = false;
		read_all(c);
	} while (count_bad(c) > bad);
}
