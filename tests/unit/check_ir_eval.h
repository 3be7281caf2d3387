/*
 * Random straight-line functions and their values, computed register by
 * register from the meaning of each operation alone: what facts and passes
 * are tested against.
 */
#ifndef CJ_CHECK_IR_EVAL_H
#define CJ_CHECK_IR_EVAL_H

#include "check_ir.h"
#include "random.h"

enum { RANDOM_LEAVES = 6, RANDOM_MOST = 8 };

static inline uint32_t
below(uint32_t n)
{
	return (uint32_t)(random_word() >> 20) % n;
}

/* ---- making -------------------------------------------------------------- */

static const enum cj_kind random_kinds[] = { CJ_KIND_INDEX, CJ_KIND_INDEX,
    CJ_KIND_I32, CJ_KIND_U8, CJ_KIND_U64, CJ_KIND_I4, CJ_KIND_BOOL,
    CJ_KIND_F32, CJ_KIND_F16 };

static inline uint64_t
random_bits(enum cj_kind k)
{
	static const int64_t small[] = { 0, 1, -1, 2, 3, 4, 7, 8, 16, 31, 32,
	    100, 255, 256, -8, 65536, INT32_MAX, INT64_MAX, INT64_MIN };
	int64_t n = small[below(CJ_LENGTH(small))];

	if (below(8) == 0)
		n = (int64_t)random_word() >> below(63);
	if (cj_kind_is_float(k))
		return cj_num_from_f64(k, (double)n / (below(2) ? 1 : 16));
	return cj_num_convert(k, CJ_KIND_I64, (uint64_t)n,
	    (struct cj_conversion){ .is_default = true });
}

/* One of the values made so far that has the type, or 0. */
static inline cj_ref
random_value(const struct cj_module *m, cj_type t)
{
	unsigned tries;

	for (tries = 0; tries < 40; tries++) {
		cj_ref r = 1 + below(m->insts.len - 1);

		if (cj_inst(m, r)->type == t)
			return r;
	}
	return 0;
}

static inline cj_ref
need_value(struct cj_builder *b, cj_type t)
{
	cj_ref r = below(3) == 0 ? 0 : random_value(b->module, t);
	uint64_t bits[RANDOM_MOST];
	uint32_t n;

	if (r != 0)
		return r;
	bits[0] = random_bits(cj_type_kind(t));
	for (n = 1; n < cj_type_count(t); n++)
		bits[n] = below(3) != 0 ? bits[0] :
		    random_bits(cj_type_kind(t));
	return cj_emit0(b, CJ_OP_CONST, t,
	    cj_module_constant(b->module, t, bits));
}

static inline cj_type
random_type(void)
{
	return cj_type_of(random_kinds[below(CJ_LENGTH(random_kinds))],
	    below(4) == 0 ? 1 + below(4) : 1);
}

/* A random row from ADD to SELECT; none if types do not allow it. */
static inline void
emit_random_operation(struct cj_builder *b)
{
	enum cj_op op = (enum cj_op)(CJ_OP_ADD +
	    below(CJ_OP_LE - CJ_OP_ADD + 1));
	cj_type t = random_type(), result = t;
	enum cj_kind k = cj_type_kind(t);
	const struct cj_op_info *info = &cj_op_info[op];
	bool is_integer = cj_kind_is_integer(k);
	cj_ref x[3];
	unsigned n;

	if (op == CJ_OP_COPYSIGN || (op >= CJ_OP_SQRT && op <= CJ_OP_RINT)) {
		if (!cj_kind_is_float(k))
			return;
	} else if (op < CJ_OP_MIN && k == CJ_KIND_BOOL) {
		return;
	} else if ((op == CJ_OP_MOD || (op >= CJ_OP_SHL &&
	    op <= CJ_OP_CTZ)) && !is_integer) {
		return;
	} else if (op >= CJ_OP_AND && op <= CJ_OP_NOT && !is_integer &&
	    k != CJ_KIND_BOOL) {
		return;
	}
	if (info->result == CJ_RESULT_BOOL)
		result = cj_type_of(CJ_KIND_BOOL, cj_type_count(t));
	for (n = 0; n < info->least; n++)
		x[n] = need_value(b, t);
	cj_emit(b, op, result, 0, x, info->least);
}

static inline void
emit_random_move(struct cj_builder *b)
{
	cj_type t = random_type();
	enum cj_kind k = cj_type_kind(t);
	uint32_t count = cj_type_count(t), first = below(count), n, at[8];
	cj_ref x = need_value(b, t), y;
	struct cj_conversion how = { (enum cj_rounding)below(4),
	    below(2) != 0, below(2) != 0 };

	switch (below(6)) {
	case 0:
		cj_emit(b, CJ_OP_CONVERT, cj_type_of(random_kinds[
		    below(CJ_LENGTH(random_kinds))], count),
		    cj_module_conversion(b->module, how), &x, 1);
		return;
	case 1:
		if (count == 1)
			cj_emit1(b, CJ_OP_SPLAT, cj_type_of(k, 1 + below(4)),
			    x);
		return;
	case 2:
		cj_emit(b, CJ_OP_SLICE, cj_type_of(k, 1 + below(count -
		    first)), first, &x, 1);
		return;
	case 3:
		y = need_value(b, cj_type_of(k, 1 + below(3)));
		n = cj_type_count(cj_inst(b->module, y)->type);
		if (count + n <= RANDOM_MOST)
			cj_emit2(b, CJ_OP_CONCAT, cj_type_of(k, count + n), x,
			    y);
		return;
	case 4:
		for (n = 0; n < count; n++)
			at[n] = below(3) ? n : below(count);
		cj_emit(b, CJ_OP_PERMUTE, t,
		    cj_module_positions(b->module, at, count), &x, 1);
		return;
	case 5:
		y = need_value(b, cj_type_of(k, 1 + below(count - first)));
		cj_emit(b, CJ_OP_INSERT, t, first, (cj_ref[]){ x, y }, 2);
		return;
	}
}

/* A device function whose leaves are small ranges, and a print of all that it
 * made, so that nothing is dead. */
static inline struct cj_module *
random_module(unsigned length)
{
	struct cj_module *m = cj_module_create(&arena, "random", NULL);
	struct cj_builder b = { .module = m };
	CJ_VEC(cj_ref) shown = { 0 };
	struct cj_function *f;
	unsigned n;
	cj_ref r;

	f = &m->functions.at[cj_module_function(m, CJ_FUNCTION_DEVICE, "f")];
	f->block[0] = 32 << below(4);
	f->block[1] = f->block[2] = 1;
	b.region = f->body;
	for (n = 0; n < RANDOM_LEAVES; n++) {
		struct cj_leaf l = { .kind = CJ_LEAF_VALUE };

		l.type = cj_type_of(CJ_KIND_INDEX, 1);
		l.divisor = 1 + below(9);
		l.lo = ((int64_t)below(400) - 200) * l.divisor;
		l.hi = l.lo + (int64_t)below(200) * l.divisor;
		*cj_push(&arena, &f->leaves) = l;
		cj_emit0(&b, CJ_OP_PARAM, l.type, n);
	}
	cj_emit0(&b, CJ_OP_SPECIAL, cj_type_of(CJ_KIND_INDEX, 1),
	    CJ_SPECIAL_THREAD_X);
	for (n = 0; n < length; n++) {
		if (below(3) == 0)
			emit_random_move(&b);
		else
			emit_random_operation(&b);
		if (below(8) == 0) {
			cj_ref x[3] = { need_value(&b,
			    cj_type_of(CJ_KIND_BOOL, 1)) };
			cj_type t = random_type();

			x[1] = need_value(&b, t);
			x[2] = need_value(&b, t);
			cj_emit(&b, CJ_OP_SELECT, t, 0, x, 3);
		}
	}
	for (r = 1; r < m->insts.len; r++)
		if (below(3) != 0)
			*cj_push(&arena, &shown) = r;
	cj_emit(&b, CJ_OP_PRINT, 0, cj_module_text(m, "all"), shown.at,
	    shown.len);
	return m;
}

/* ---- computing ----------------------------------------------------------- */

struct values {
	uint64_t bits[RANDOM_MOST];
};

struct inputs {
	int64_t leaf[RANDOM_LEAVES], thread;
};

static inline struct inputs
random_inputs(const struct cj_function *f)
{
	struct inputs in = { .thread = below((uint32_t)f->block[0]) };
	unsigned n;

	for (n = 0; n < RANDOM_LEAVES; n++) {
		const struct cj_leaf *l = &f->leaves.at[n];
		uint32_t steps = (uint32_t)((l->hi - l->lo) / l->divisor);

		in.leaf[n] = l->lo + (int64_t)below(steps + 1) * l->divisor;
	}
	return in;
}

static inline uint64_t
operand_bits(const struct cj_module *m, const struct cj_inst *i, unsigned n,
    uint32_t at, const struct values *v)
{
	cj_ref r;

	if (n >= i->operand_count)
		return 0;
	r = cj_operand(m, i, n);
	return v[r].bits[cj_type_count(cj_inst(m, r)->type) == 1 ? 0 : at];
}

/* Register `at` of an instruction. */
static inline uint64_t
compute_register(const struct cj_module *m, const struct cj_inst *i,
    uint32_t at, const struct values *v, const struct inputs *in)
{
	cj_ref x = i->operand_count > 0 ? cj_operand(m, i, 0) : 0;
	enum cj_kind k = cj_type_kind(i->type);
	uint32_t n;

	switch ((unsigned)i->op) {
	case CJ_OP_CONST: return m->constants.at[i->attr].bits[at];
	case CJ_OP_PARAM: return (uint64_t)in->leaf[i->attr];
	case CJ_OP_SPECIAL: return (uint64_t)in->thread;
	case CJ_OP_CONVERT:
		return cj_num_convert(k, cj_type_kind(cj_inst(m, x)->type),
		    v[x].bits[at], m->conversions.at[i->attr]);
	case CJ_OP_SPLAT: return v[x].bits[0];
	case CJ_OP_SLICE: return v[x].bits[at + i->attr];
	case CJ_OP_PERMUTE:
		return v[x].bits[m->positions.at[i->attr].at[at]];
	case CJ_OP_INSERT:
		n = cj_type_count(cj_inst(m, cj_operand(m, i, 1))->type);
		if (at >= i->attr && at < i->attr + n)
			return v[cj_operand(m, i, 1)].bits[at - i->attr];
		return v[x].bits[at];
	case CJ_OP_CONCAT:
		for (n = 0; at >= cj_type_count(cj_inst(m,
		    cj_operand(m, i, n))->type); n++)
			at -= cj_type_count(cj_inst(m,
			    cj_operand(m, i, n))->type);
		return v[cj_operand(m, i, n)].bits[at];
	}
	if (i->op != CJ_OP_SELECT)
		k = cj_type_kind(cj_inst(m, x)->type);
	return cj_num_apply(i->op, k, operand_bits(m, i, 0, at, v),
	    operand_bits(m, i, 1, at, v), operand_bits(m, i, 2, at, v));
}

/* All values of the function's body; false if an INDEX overflows. */
static inline bool
compute_all(const struct cj_module *m, struct values *v,
    const struct inputs *in)
{
	const struct cj_region_info *g =
	    &m->regions.at[m->functions.at[1].body];
	uint32_t at;
	cj_ref r;

	for (r = g->first; r != 0; r = cj_inst(m, r)->next) {
		const struct cj_inst *i = cj_inst(m, r);

		for (at = 0; at < cj_type_count(i->type); at++) {
			if (cj_type_kind(i->type) == CJ_KIND_INDEX &&
			    cj_num_index_overflows(i->op,
			    (int64_t)operand_bits(m, i, 0, at, v),
			    (int64_t)operand_bits(m, i, 1, at, v),
			    (int64_t)operand_bits(m, i, 2, at, v)))
				return false;
			v[r].bits[at] = compute_register(m, i, at, v, in);
		}
	}
	return true;
}

#endif
