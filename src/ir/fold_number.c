/*
 * Folding: what is made of constants is a constant.
 */
#include "fold_priv.h"

static const struct cj_constant *
constant(const struct cj_fold *f, const struct cj_inst *i, unsigned n)
{
	return cj_constant_of(f->m, cj_operand(f->m, i, n));
}

/* Register `n` of a constant that may have one for all. */
static uint64_t
bits_at(const struct cj_constant *c, uint32_t n)
{
	return c == NULL ? 0 : c->bits[cj_type_count(c->type) == 1 ? 0 : n];
}

static uint64_t *
new_bits(struct cj_fold *f, cj_type t)
{
	return CJ_NEWS(f->m->arena, uint64_t, cj_type_count(t));
}

/* ADD ... APPROX_DIV, SELECT and DIVIDE_BY, by register. */
static cj_ref
fold_arithmetic(struct cj_fold *f, const struct cj_inst *i)
{
	const struct cj_constant *x[3] = { NULL, NULL, NULL };
	cj_type t = i->type;
	enum cj_op op = i->op;
	enum cj_kind k;
	uint64_t *bits;
	uint32_t n;

	assert(i->operand_count >= 1 && i->operand_count <= 3);
	for (n = 0; n < i->operand_count; n++)
		x[n] = constant(f, i, n);
	k = cj_type_kind(x[op == CJ_OP_SELECT ? 1 : 0]->type);
	bits = new_bits(f, t);
	for (n = 0; n < cj_type_count(t); n++)
		bits[n] = cj_num_apply(op, k, bits_at(x[0], n),
		    bits_at(x[1], n), bits_at(x[2], n));
	return cj_fold_constant(f, t, bits);
}

static cj_ref
fold_convert(struct cj_fold *f, const struct cj_inst *i)
{
	const struct cj_constant *x = constant(f, i, 0);
	cj_type t = i->type;
	uint64_t *bits = new_bits(f, t);
	uint32_t n;

	assert(cj_type_count(t) == cj_type_count(x->type));
	for (n = 0; n < cj_type_count(t); n++)
		bits[n] = cj_num_convert(cj_type_kind(t),
		    cj_type_kind(x->type), x->bits[n],
		    f->m->conversions.at[i->attr]);
	return cj_fold_constant(f, t, bits);
}

/* Between kinds of one width; others are left to the machine. */
static cj_ref
fold_bitcast(struct cj_fold *f, const struct cj_inst *i)
{
	const struct cj_constant *x = constant(f, i, 0);
	cj_type t = i->type;
	unsigned width = cj_kind_bits(cj_type_kind(t));
	uint64_t *bits, mask;
	uint32_t n;

	if (width != cj_kind_bits(cj_type_kind(x->type)) || width > 64)
		return 0;
	bits = new_bits(f, t);
	mask = UINT64_MAX >> (64 - width);
	for (n = 0; n < cj_type_count(t); n++) {
		bits[n] = x->bits[n] & mask;
		if (cj_kind_is_signed(cj_type_kind(t)))
			bits[n] = (uint64_t)((int64_t)(bits[n] <<
			    (64 - width)) >> (64 - width));
	}
	return cj_fold_constant(f, t, bits);
}

static cj_ref
fold_moves(struct cj_fold *f, const struct cj_inst *i)
{
	const struct cj_constant *x = constant(f, i, 0);
	cj_type t = i->type;
	uint32_t attr = i->attr, n, at = 0, operand;
	enum cj_op op = i->op;
	uint64_t *bits = new_bits(f, t);

	for (n = 0; n < cj_type_count(t); n++)
		switch ((unsigned)op) {
		case CJ_OP_SLICE: bits[n] = x->bits[attr + n]; break;
		case CJ_OP_PERMUTE:
			bits[n] = x->bits[f->m->positions.at[attr].at[n]];
			break;
		case CJ_OP_INSERT: bits[n] = x->bits[n]; break;
		default: bits[n] = x->bits[0]; break;	/* SPLAT */
		}
	if (op == CJ_OP_INSERT) {
		x = constant(f, i, 1);
		memcpy(bits + attr, x->bits, cj_type_count(x->type) *
		    sizeof *bits);
	}
	if (op == CJ_OP_CONCAT)
		for (operand = 0; operand < i->operand_count; operand++) {
			x = constant(f, i, operand);
			memcpy(bits + at, x->bits, cj_type_count(x->type) *
			    sizeof *bits);
			at += cj_type_count(x->type);
		}
	return cj_fold_constant(f, t, bits);
}

/* An integer of one register whose range is a single number. */
static cj_ref
fold_range(struct cj_fold *f, cj_ref r)
{
	const struct cj_fact *fact = cj_fold_fact(f, r);
	uint64_t bits;

	if (fact == NULL || fact->lo != fact->hi ||
	    fact->hi == INT64_MAX || fact->lo == INT64_MIN)
		return 0;
	bits = (uint64_t)fact->lo;
	return cj_fold_splat(f, cj_inst(f->m, r)->type, bits);
}

cj_ref
cj_fold_numbers(struct cj_fold *f, cj_ref r)
{
	const struct cj_inst *i = cj_inst(f->m, r);
	unsigned n;

	if (i->op == CJ_OP_CONST || i->op == CJ_OP_INDEX)
		return 0;
	for (n = 0; n < i->operand_count; n++)
		if (constant(f, i, n) == NULL)
			return fold_range(f, r);
	if (i->operand_count == 0)
		return fold_range(f, r);
	if (cj_op_info[i->op].scope != CJ_SCOPE_THREAD)
		return 0;	/* of lanes together, whatever each has */
	switch ((unsigned)i->op) {
	case CJ_OP_CONVERT: return fold_convert(f, i);
	case CJ_OP_BITCAST: return fold_bitcast(f, i);
	case CJ_OP_SPLAT: case CJ_OP_SLICE: case CJ_OP_CONCAT:
	case CJ_OP_PERMUTE: case CJ_OP_INSERT:
		return fold_moves(f, i);
	case CJ_OP_DIVISOR: case CJ_OP_MAP_ENCODE: case CJ_OP_ADDRESS:
	case CJ_OP_PTX_PURE:
		return 0;
	case CJ_OP_DIVIDE_BY:
		return cj_type_count(i->type) == 1 ? fold_arithmetic(f, i) : 0;
	default: return fold_arithmetic(f, i);
	}
}
