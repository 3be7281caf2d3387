/*
 * What the roles' instructions compute: a term over leaves for each integer,
 * equal where the operations and what they are done to are equal, in whatever
 * role; for each truth a condition on such terms.
 */
#include "elab_role_priv.h"

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
	const struct cj_term *t = cj_term_get(&c->sym, e);
	struct cj_int part;
	uint32_t n;

	if (t == NULL)
		return false;
	if (cj_int_same(e, on))
		return true;
	if (t->kind == CJ_TERM_SYMBOL)
		return symbol_depends(c, &c->atoms.at[t->symbol], on);
	for (n = 0; cj_term_part(t, n, &part); n++)
		if (cj_role_depends(c, part, on))
			return true;
	return false;
}

const char *
cj_role_key(struct cj_role_reader *r, struct cj_int i)
{
	return cj_printf(r->c->el->arena, "%u:%lld", (unsigned)i.term,
	    (long long)i.value);
}

/* A value that is equal to no other one. */
struct cj_int
cj_role_unlike(struct cj_role_reader *r, const char *name)
{
	struct cj_int s = cj_role_symbol(r->c, cj_printf(r->c->el->arena,
	    "own %u %u", (unsigned)r->role, (unsigned)r->unique++), name,
	    INT64_MIN, INT64_MAX);

	cj_role_atom_of(r->c, s)->varies = true;
	return s;
}

static const struct cj_cond *
condition(struct cj_role_reader *r, struct cj_cond n)
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
positive(struct cj_role_reader *r, struct cj_int e)
{
	if (cj_is_known(e))
		return condition(r, (struct cj_cond){ .kind = CJ_COND_KNOWN,
		    .truth = e.value > 0 });
	return condition(r, (struct cj_cond){ .kind = CJ_COND_POSITIVE,
	    .e = e });
}

static const struct cj_cond *
negated(struct cj_role_reader *r, const struct cj_cond *x)
{
	return condition(r, (struct cj_cond){ .kind = CJ_COND_NOT, .x = x });
}

static const struct cj_cond *
both(struct cj_role_reader *r, enum cj_cond_kind kind, const struct cj_cond *x,
    const struct cj_cond *y)
{
	return condition(r, (struct cj_cond){ .kind = kind, .x = x, .y = y });
}

struct cj_role_value
cj_role_of_int(struct cj_int i)
{
	return (struct cj_role_value){ .is_known = true, .i = i };
}

static struct cj_role_value
of_cond(const struct cj_cond *c)
{
	return (struct cj_role_value){ .is_known = true, .is_cond = true,
	    .cond = c };
}

struct cj_role_value
cj_role_operand(struct cj_role_reader *r, const struct cj_inst *i, unsigned n)
{
	return r->values[cj_operand(r->m, i, n)];
}

/* An integer; a truth as 0 or 1. */
struct cj_int
cj_role_int(struct cj_role_reader *r, struct cj_role_value v)
{
	struct cj_int s;

	if (!v.is_known)
		return cj_role_unlike(r, "a value");
	if (!v.is_cond)
		return v.i;
	s = cj_role_symbol(r->c, cj_printf(r->c->el->arena, "truth %u",
	    (unsigned)v.cond->number), "a condition", 0, 1);
	cj_role_atom_of(r->c, s)->cond = v.cond;
	return s;
}

const struct cj_cond *
cj_role_cond(struct cj_role_reader *r, struct cj_role_value v)
{
	return v.is_known && v.is_cond ? v.cond :
	    positive(r, cj_role_int(r, v));
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
static struct cj_role_value
opaque(struct cj_role_reader *r, const struct cj_inst *i)
{
	struct cj_strbuf key;
	struct cj_int of[4], s;
	unsigned n;

	if (i->operand_count > CJ_LENGTH(of))
		return (struct cj_role_value){ .is_known = false };
	cj_strbuf_init(&key, r->c->el->arena);
	cj_strbuf_printf(&key, "%s %u %u", cj_op_info[i->op].text,
	    (unsigned)i->attr, (unsigned)i->type);
	for (n = 0; n < i->operand_count; n++) {
		struct cj_role_value v = cj_role_operand(r, i, n);

		if (!v.is_known)
			return (struct cj_role_value){ .is_known = false };
		of[n] = cj_role_int(r, v);
		cj_strbuf_printf(&key, " %s", cj_role_key(r, of[n]));
	}
	s = cj_role_symbol(r->c, key.text, cj_op_info[i->op].text, INT64_MIN,
	    INT64_MAX);
	memcpy(cj_role_atom_of(r->c, s)->of, of, n * sizeof *of);
	cj_role_atom_of(r->c, s)->count = n;
	return cj_role_of_int(s);
}

static struct cj_role_value
compare(struct cj_role_reader *r, const struct cj_inst *i)
{
	struct cj_int a = cj_role_int(r, cj_role_operand(r, i, 0));
	struct cj_int b = cj_role_int(r, cj_role_operand(r, i, 1));
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

static struct cj_role_value
logic(struct cj_role_reader *r, const struct cj_inst *i)
{
	const struct cj_cond *x = cj_role_cond(r, cj_role_operand(r, i, 0));

	if (i->op == CJ_OP_NOT)
		return of_cond(negated(r, x));
	return of_cond(both(r, i->op == CJ_OP_AND ? CJ_COND_AND : CJ_COND_OR,
	    x, cj_role_cond(r, cj_role_operand(r, i, 1))));
}

static struct cj_role_value
arithmetic(struct cj_role_reader *r, const struct cj_inst *i)
{
	struct cj_symtab *t = &r->c->sym;
	struct cj_int a = cj_role_int(r, cj_role_operand(r, i, 0));
	struct cj_int b = i->operand_count > 1 ?
	    cj_role_int(r, cj_role_operand(r, i, 1)) : cj_known(0);

	switch ((unsigned)i->op) {
	case CJ_OP_ADD: return cj_role_of_int(cj_int_add(t, a, b));
	case CJ_OP_SUB: return cj_role_of_int(cj_int_sub(t, a, b));
	case CJ_OP_MUL: return cj_role_of_int(cj_int_mul(t, a, b));
	case CJ_OP_DIV: case CJ_OP_DIVIDE_BY:
		return cj_role_of_int(cj_int_div(t, a, b));
	case CJ_OP_MOD: return cj_role_of_int(cj_int_mod(t, a, b));
	case CJ_OP_MIN: return cj_role_of_int(cj_int_min(t, a, b));
	case CJ_OP_MAX: return cj_role_of_int(cj_int_max(t, a, b));
	}
	return opaque(r, i);
}

/* The remainder of a narrow number by a known one has few values. */
static struct cj_role_value
narrow(struct cj_role_reader *r, const struct cj_inst *i)
{
	struct cj_role_value v, by;

	if (i->op != CJ_OP_MOD)
		return opaque(r, i);
	v = cj_role_operand(r, i, 0);
	by = cj_role_operand(r, i, 1);
	if (!v.is_known || !by.is_known || by.is_cond ||
	    !cj_is_known(by.i) || by.i.value < 1)
		return opaque(r, i);
	return cj_role_of_int(cj_int_mod(&r->c->sym, cj_role_int(r, v), by.i));
}

static struct cj_role_value
constant(const struct cj_module *m, const struct cj_inst *i)
{
	const struct cj_constant *k = &m->constants.at[i->attr];

	if (cj_type_count(k->type) != 1)
		return (struct cj_role_value){ .is_known = false };
	return cj_role_of_int(cj_known((int64_t)k->bits[0]));
}

/* What a term of the host part is a known multiple of, and some more. */
static int64_t
factor_of(const struct cj_symtab *t, struct cj_int i, uint32_t *base)
{
	const struct cj_term *sum = &t->terms.at[i.term];

	*base = i.term;
	if (sum->kind != CJ_TERM_SUM || sum->count != 1)
		return 1;
	*base = sum->addend[0].term;
	return sum->addend[0].factor;
}

/* Is `a` a known number of times `b`, and a known number more? */
static bool
is_behind(struct cj_symtab *t, struct cj_int a, struct cj_int b,
    int64_t *times, struct cj_int *more)
{
	uint32_t of_a, of_b;
	int64_t f = factor_of(t, a, &of_a), g = factor_of(t, b, &of_b);

	*times = of_a == of_b && f % g == 0 ? f / g : 1;
	*more = cj_int_sub(t, a, cj_int_mul(t, b, cj_known(*times)));
	return cj_is_known(*more);
}

/* The leaf of the launch that a leaf is the most times of, and a known number
 * more: terms of the host part are passed one by one. */
static uint32_t
leaf_below(struct cj_elab *el, uint32_t number, int64_t *times,
    struct cj_int *more)
{
	const struct cj_passed *at = el->em->passed.at;
	uint32_t i, found = number;
	struct cj_int d;
	int64_t n;

	*times = 0;
	*more = cj_known(0);
	for (i = 0; !cj_is_known(at[number].i) && !at[number].is_divisor &&
	    i < el->em->passed.len; i++) {
		if (cj_is_known(at[i].i) || at[i].is_divisor ||
		    !is_behind(&el->sym, at[number].i, at[i].i, &n, &d) ||
		    n <= *times)
			continue;
		found = i;
		*times = n;
		*more = d;
	}
	*times = *times == 0 ? 1 : *times;
	return found;
}

static struct cj_role_value
leaf(struct cj_role_reader *r, const struct cj_inst *i)
{
	struct cj_int more;
	int64_t times;
	uint32_t number = leaf_below(r->c->el, i->attr, &times, &more);
	const struct cj_leaf *l = &r->m->functions.at[
	    r->c->el->em->function].leaves.at[number];
	bool is_bounded = l->lo != 0 || l->hi != 0 || l->divisor != 0;
	int64_t lo = is_bounded ? l->lo : INT64_MIN;
	int64_t hi = is_bounded ? l->hi : INT64_MAX;
	struct cj_int s;

	s = cj_role_symbol(r->c, cj_printf(r->c->el->arena, "param %u",
	    (unsigned)number), l->name != NULL ? l->name : "a parameter",
	    lo, hi);
	if (is_bounded && l->divisor > 1)
		cj_symbol_assume(&r->c->sym, s, lo, hi, l->divisor);
	return cj_role_of_int(cj_int_add(&r->c->sym, cj_int_mul(&r->c->sym, s,
	    cj_known(times)), more));
}

/* Blocks of a cluster count on from a multiple of its extent. */
static struct cj_int
block_index(struct cj_role_reader *r, uint32_t axis)
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

static struct cj_role_value
special(struct cj_role_reader *r, const struct cj_inst *i)
{
	bool is_of_thread = i->attr <= CJ_SPECIAL_THREAD_Z || i->attr ==
	    CJ_SPECIAL_LANE || i->attr == CJ_SPECIAL_WARP;

	if (is_of_thread)
		return (struct cj_role_value){ .is_known = false };
	if (i->attr >= CJ_SPECIAL_BLOCK_X && i->attr <= CJ_SPECIAL_BLOCK_Z)
		return cj_role_of_int(block_index(r, i->attr -
		    CJ_SPECIAL_BLOCK_X));
	if (i->attr == CJ_SPECIAL_BLOCK_RANK)
		return cj_role_of_int(cj_role_symbol(r->c, "rank",
		    "the block's rank in its cluster", 0, 15));
	return cj_role_of_int(cj_role_symbol(r->c, cj_printf(r->c->el->arena,
	    "special %u", (unsigned)i->attr), "a number of the block", 0,
	    INT32_MAX));
}

bool
cj_role_is_drawn(const struct cj_role_reader *r, uint32_t pipeline)
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
is_number(const struct cj_role_reader *r, uint32_t object)
{
	uint32_t p;

	for (p = 1; p < r->m->pipelines.len; p++)
		if (r->m->pipelines.at[p].fields[0] == object)
			return cj_role_is_drawn(r, p);
	return false;
}

/* Which draw of the role this is: all roles draw the same numbers. */
static struct cj_role_value
drawn(struct cj_role_reader *r, const struct cj_inst *i, uint32_t object)
{
	cj_ref at = (cj_ref)(i - r->m->insts.at);
	uint32_t n;

	for (n = 0; n < r->draws.len && r->draws.at[n] != at; n++)
		;
	if (n == r->draws.len)
		*cj_push(r->c->el->arena, &r->draws) = at;
	return cj_role_of_int(cj_role_symbol(r->c, cj_printf(r->c->el->arena,
	    "draw %u of %u", (unsigned)n, (unsigned)object), "a drawn number",
	    0, INT32_MAX));
}

/* Memory that nobody writes is equal at equal places. */
static struct cj_role_value
load(struct cj_role_reader *r, const struct cj_inst *i)
{
	const struct cj_access *a = &r->m->accesses.at[i->attr];
	const struct cj_object *o = &r->m->objects.at[a->object];

	if (is_number(r, a->object))
		return drawn(r, i, a->object);
	if (o->kind == CJ_OBJECT_SHARED || o->kind == CJ_OBJECT_FOREIGN ||
	    o->writes || o->may_alias || a->order != CJ_ORDER_WEAK)
		return (struct cj_role_value){ .is_known = false };
	return opaque(r, &(struct cj_inst){ .op = i->op, .attr = a->object,
	    .type = i->type, .operands = i->operands,
	    .operand_count = i->operand_count });
}

static struct cj_role_value
get(struct cj_role_reader *r, const struct cj_inst *i)
{
	uint32_t o = r->m->accesses.at[i->attr].object;

	if (r->m->objects.at[o].extent != 1 || !r->has_slot[o])
		return (struct cj_role_value){ .is_known = false };
	return cj_role_of_int(r->slots[o]);
}

struct cj_role_value
cj_role_evaluate(struct cj_role_reader *r, const struct cj_inst *i)
{
	cj_type first = i->operand_count > 0 ? cj_inst(r->m, cj_operand(r->m,
	    i, 0))->type : 0;
	bool is_truth = i->type == cj_type_of(CJ_KIND_BOOL, 1);

	if (!is_truth && !is_integer(i->type) && i->op != CJ_OP_PARAM)
		return (struct cj_role_value){ .is_known = false };
	switch ((unsigned)i->op) {
	case CJ_OP_CONST: return constant(r->m, i);
	case CJ_OP_PARAM: return leaf(r, i);
	case CJ_OP_SPECIAL: return special(r, i);
	case CJ_OP_LOAD: return load(r, i);
	case CJ_OP_SLOT_GET: return get(r, i);
	case CJ_OP_INDEX: return r->values[i - r->m->insts.at];
	case CJ_OP_CONVERT:
		return is_wide(i) && is_integer(first) ?
		    cj_role_operand(r, i, 0) : opaque(r, i);
	case CJ_OP_EQ: case CJ_OP_NE: case CJ_OP_LT: case CJ_OP_LE:
		return is_integer(first) ? compare(r, i) : opaque(r, i);
	case CJ_OP_AND: case CJ_OP_OR: case CJ_OP_NOT:
		return is_truth ? logic(r, i) : opaque(r, i);
	}
	if (cj_op_info[i->op].effects != CJ_EFFECTS_PURE ||
	    i->op == CJ_OP_PTX_PURE)
		return (struct cj_role_value){ .is_known = false };
	return is_wide(i) ? arithmetic(r, i) : narrow(r, i);
}
