/*
 * Folding by identities that are exact, bit for bit.
 *
 * Of floats: no NaN may vanish and no zero may change its sign, so x + 0 and
 * x * 0 stay. Of INDEX, whose overflow is a fault: what is only true without
 * overflow holds, since there is none.
 */
#include "fold_priv.h"

/* An instruction under examination. */
struct look {
	struct cj_fold *f;
	const struct cj_inst *i;
	cj_ref a, b;		/* the first two operands */
	cj_type type;		/* of the operands */
	enum cj_kind kind;
	uint64_t one, ones;	/* 1, and all bits set, of the kind */
	bool is_float;
};

static bool
is(const struct look *l, cj_ref r, uint64_t bits)
{
	return cj_fold_is(l->f, r, bits);
}

static cj_ref
number(const struct look *l, uint64_t bits)
{
	return cj_fold_splat(l->f, l->i->type, bits);
}

static const struct cj_inst *
made_by(const struct look *l, cj_ref r, enum cj_op op)
{
	const struct cj_inst *i = cj_inst(l->f->m, r);

	return i->op == op ? i : NULL;
}

/* The power of two that every register of `r` is, or -1. */
static int
power_of(const struct look *l, cj_ref r)
{
	const struct cj_constant *c = cj_constant_of(l->f->m, r);
	uint64_t v;

	if (c == NULL || l->is_float || !is(l, r, c->bits[0]))
		return -1;
	v = c->bits[0];
	if (v == 0 || (v & (v - 1)) != 0 ||
	    (cj_kind_is_signed(l->kind) && (int64_t)v < 0))
		return -1;
	return __builtin_ctzll(v);
}

/* Change the instruction into `op` of its first operand and a constant. */
static void
become(const struct look *l, enum cj_op op, uint64_t with)
{
	cj_ref r = l->f->walk.ref;
	cj_ref constant = cj_fold_splat(l->f, l->type, with);
	struct cj_inst *i = cj_inst(l->f->m, r);

	assert(i->operand_count == 2 && i->attr == 0);
	i->op = (uint16_t)op;
	l->f->m->pool.at[i->operands + 1] = constant;
}

static cj_ref
fold_add(const struct look *l)
{
	uint64_t minus_zero;

	if (!l->is_float)
		return is(l, l->b, 0) ? l->a : is(l, l->a, 0) ? l->b : 0;
	minus_zero = cj_num_from_f64(l->kind, -0.0);
	return is(l, l->b, minus_zero) ? l->a :
	    is(l, l->a, minus_zero) ? l->b : 0;
}

static cj_ref
fold_sub(const struct look *l)
{
	if (is(l, l->b, 0))
		return l->a;
	return !l->is_float && l->a == l->b ? number(l, 0) : 0;
}

static cj_ref
fold_mul(const struct look *l)
{
	if (is(l, l->b, l->one))
		return l->a;
	if (is(l, l->a, l->one))
		return l->b;
	if (!l->is_float && (is(l, l->a, 0) || is(l, l->b, 0)))
		return number(l, 0);
	return 0;
}

/* One value, or two constants that are the same. */
static bool
are_same(const struct look *l, cj_ref a, cj_ref b)
{
	const struct cj_constant *c = cj_constant_of(l->f->m, a);

	return a == b || (c != NULL && c == cj_constant_of(l->f->m, b));
}

/* (x * b) / b of INDEX, which does not overflow. */
static cj_ref
fold_quotient_of_product(const struct look *l)
{
	const struct cj_inst *i = made_by(l, l->a, CJ_OP_MUL);
	cj_ref x, y;

	if (l->kind != CJ_KIND_INDEX || i == NULL)
		return 0;
	x = cj_operand(l->f->m, i, 0);
	y = cj_operand(l->f->m, i, 1);
	if (cj_fold_fact(l->f, l->b) == NULL ||
	    cj_fold_fact(l->f, l->b)->lo < 1)
		return 0;
	return are_same(l, y, l->b) ? x : are_same(l, x, l->b) ? y : 0;
}

/* Is 0 <= a < b known? */
static bool
is_below(const struct look *l)
{
	const struct cj_fact *a = cj_fold_fact(l->f, l->a);
	const struct cj_fact *b = cj_fold_fact(l->f, l->b);

	return a != NULL && b != NULL && a->lo >= 0 && a->hi < b->lo;
}

static cj_ref
fold_div(const struct look *l)
{
	int power = power_of(l, l->b);

	if (is(l, l->b, l->one))
		return l->a;
	if (l->is_float)
		return 0;
	if (is(l, l->a, 0) || is(l, l->b, 0) || is_below(l))
		return number(l, 0);
	if (power > 0)
		become(l, CJ_OP_SHR, (uint64_t)power);	/* both floor */
	return fold_quotient_of_product(l);
}

static cj_ref
fold_mod(const struct look *l)
{
	int power = power_of(l, l->b);

	if (is(l, l->b, 1))
		return number(l, 0);
	if (is(l, l->b, 0) || is_below(l))
		return l->a;
	if (power > 0)
		become(l, CJ_OP_AND, (UINT64_C(1) << power) - 1);
	return 0;
}

static cj_ref
fold_fma(const struct look *l)
{
	cj_ref c = cj_operand(l->f->m, l->i, 2), kept = 0;
	struct cj_inst *i;

	if (is(l, l->b, l->one))
		kept = l->a;
	else if (is(l, l->a, l->one))
		kept = l->b;
	else if (!l->is_float && (is(l, l->a, 0) || is(l, l->b, 0)))
		return c;
	if (kept == 0)
		return 0;
	i = cj_inst(l->f->m, l->f->walk.ref);
	i->op = CJ_OP_ADD;
	i->operand_count = 2;
	l->f->m->pool.at[i->operands] = kept;
	l->f->m->pool.at[i->operands + 1] = c;
	return 0;
}

static cj_ref
fold_min_max(const struct look *l)
{
	const struct cj_fact *a = cj_fold_fact(l->f, l->a);
	const struct cj_fact *b = cj_fold_fact(l->f, l->b);
	bool is_min = l->i->op == CJ_OP_MIN;

	if (l->is_float)
		return 0;	/* a NaN with payload would get through */
	if (l->a == l->b)
		return l->a;
	if (a == NULL || b == NULL || l->kind == CJ_KIND_U64)
		return 0;
	if (a->hi <= b->lo)
		return is_min ? l->a : l->b;
	if (b->hi <= a->lo)
		return is_min ? l->b : l->a;
	return 0;
}

static cj_ref
fold_bits(const struct look *l)
{
	enum cj_op op = l->i->op;

	if (l->a == l->b)
		return op == CJ_OP_XOR ? number(l, 0) : l->a;
	if (op == CJ_OP_AND) {
		if (is(l, l->a, 0) || is(l, l->b, 0))
			return number(l, 0);
		return is(l, l->b, l->ones) ? l->a :
		    is(l, l->a, l->ones) ? l->b : 0;
	}
	if (op == CJ_OP_OR && (is(l, l->a, l->ones) || is(l, l->b, l->ones)))
		return number(l, l->ones);
	return is(l, l->b, 0) ? l->a : is(l, l->a, 0) ? l->b : 0;
}

/* not not x, neg neg x, abs abs x, abs neg x; abs of what has no sign */
static cj_ref
fold_unary(const struct look *l)
{
	enum cj_kind k = cj_type_kind(l->i->type);
	const struct cj_inst *i;
	cj_ref r = l->f->walk.ref;

	if (l->i->op != CJ_OP_ABS) {
		i = made_by(l, l->a, l->i->op);
		return i != NULL ? cj_operand(l->f->m, i, 0) : 0;
	}
	if (made_by(l, l->a, CJ_OP_ABS) != NULL ||
	    !(l->is_float || cj_kind_is_signed(k)))
		return l->a;
	i = made_by(l, l->a, CJ_OP_NEG);
	if (i != NULL)
		l->f->m->pool.at[cj_inst(l->f->m, r)->operands] =
		    cj_operand(l->f->m, i, 0);
	return 0;
}

static cj_ref
fold_compare(const struct look *l)
{
	bool holds = l->i->op == CJ_OP_EQ || l->i->op == CJ_OP_LE;

	if (l->is_float || l->a != l->b)
		return 0;
	return number(l, holds);
}

static cj_ref
fold_select(const struct look *l)
{
	cj_ref c = cj_operand(l->f->m, l->i, 2);

	if (l->b == c || is(l, l->a, 1))
		return l->b;
	return is(l, l->a, 0) ? c : 0;
}

static cj_ref
fold_by_name(const struct look *l)
{
	switch ((unsigned)l->i->op) {
	case CJ_OP_ADD: return fold_add(l);
	case CJ_OP_SUB: return fold_sub(l);
	case CJ_OP_MUL: return fold_mul(l);
	case CJ_OP_DIV: return fold_div(l);
	case CJ_OP_MOD: return fold_mod(l);
	case CJ_OP_FMA: return fold_fma(l);
	case CJ_OP_MIN: case CJ_OP_MAX: return fold_min_max(l);
	case CJ_OP_AND: case CJ_OP_OR: case CJ_OP_XOR: return fold_bits(l);
	case CJ_OP_NOT: case CJ_OP_NEG: case CJ_OP_ABS: return fold_unary(l);
	case CJ_OP_SHL: case CJ_OP_SHR:
		return is(l, l->b, 0) ? l->a : 0;
	case CJ_OP_EQ: case CJ_OP_NE: case CJ_OP_LT: case CJ_OP_LE:
		return fold_compare(l);
	case CJ_OP_SELECT: return fold_select(l);
	case CJ_OP_CONVERT:
		return l->type == l->i->type ? l->a : 0;
	default: return 0;
	}
}

cj_ref
cj_fold_identity(struct cj_fold *f, cj_ref r)
{
	const struct cj_inst *i = cj_inst(f->m, r);
	struct look l = { .f = f, .i = i };

	if (i->operand_count == 0)
		return 0;
	l.a = cj_operand(f->m, i, 0);
	l.b = i->operand_count > 1 ? cj_operand(f->m, i, 1) : 0;
	l.type = cj_inst(f->m, l.a)->type;
	l.kind = cj_type_kind(l.type);
	l.is_float = cj_kind_is_float(l.kind);
	if (l.kind == CJ_KIND_F8UE8M0)
		return 0;	/* has no 0 */
	l.one = l.is_float ? cj_num_from_f64(l.kind, 1) : 1;
	if (!l.is_float && l.kind != CJ_KIND_MAP)
		l.ones = cj_num_apply(CJ_OP_NOT, l.kind, 0, 0, 0);
	return fold_by_name(&l);
}
