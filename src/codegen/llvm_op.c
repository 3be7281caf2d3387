/*
 * Element-wise operations: which registers, in which width, by scalars or in
 * pairs. What one register computes is llvm_int.c's and llvm_float.c's.
 */
#include "llvm_int.h"

static enum cj_kind
operand_kind(const struct cj_llvm_gen *g, const struct cj_inst *i, unsigned n)
{
	return cj_type_kind(cj_inst(g->m, cj_operand(g->m, i, n))->type);
}

/* ---- integers ----------------------------------------------------------- */

/*
 * May `int` operands be computed in 32 bits? All ranges must fit, the result's
 * too; and what looks at all 64 bits cannot.
 */
static bool
fits_narrow(const struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *i = cj_inst(g->m, r);
	unsigned n;

	switch (i->op) {
	case CJ_OP_POPC:
	case CJ_OP_CLZ:
	case CJ_OP_CTZ:
	case CJ_OP_MUL_HI:
	case CJ_OP_FMA:
		return false;
	}
	for (n = 0; n < i->operand_count; n++)
		if (!cj_llvm_is_narrow(g, cj_operand(g->m, i, n)))
			return false;
	return cj_type_kind(i->type) == CJ_KIND_BOOL ||
	    cj_llvm_is_narrow(g, r);
}

static cj_llvm
int_operand(const struct cj_llvm_gen *g, const struct cj_inst *inst,
    unsigned n, uint32_t i, bool narrow)
{
	cj_ref r;

	if (n >= inst->operand_count)
		return NULL;
	r = cj_operand(g->m, inst, n);
	return narrow ? cj_llvm_narrow(g, r, i) : cj_llvm_wide(g, r, i);
}

static void
int_facts(const struct cj_llvm_gen *g, const struct cj_inst *inst,
    struct cj_llvm_int_operands *x)
{
	struct cj_fact f;

	if (operand_kind(g, inst, 0) != CJ_KIND_INDEX ||
	    cj_type_count(inst->type) != 1)
		return;
	x->a_not_negative =
	    cj_llvm_fact(g, cj_operand(g->m, inst, 0)).lo >= 0;
	if (inst->operand_count < 2)
		return;
	f = cj_llvm_fact(g, cj_operand(g->m, inst, 1));
	x->b_not_negative = f.lo >= 0;
	x->b_positive = f.lo >= 1;
	x->b_in_width = f.lo >= 0 && f.hi < (x->no_wrap ? 32 : 64);
}

static void
int_elements(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	enum cj_kind k = operand_kind(g, inst, 0);
	struct cj_llvm_int_operands x = {
		.is_signed = cj_kind_is_signed(k)
	};
	bool narrow = k == CJ_KIND_INDEX && fits_narrow(g, r);
	uint32_t i, n = cj_type_count(inst->type);
	cj_llvm *out = cj_llvm_define(g, r);

	assert(inst->operand_count <= 3);
	x.no_wrap = narrow;
	int_facts(g, inst, &x);
	for (i = 0; i < n; i++) {
		x.a = int_operand(g, inst, 0, i, narrow);
		x.b = int_operand(g, inst, 1, i, narrow);
		x.c = int_operand(g, inst, 2, i, narrow);
		out[i] = cj_llvm_int_apply(g, inst->op, &x);
	}
}

/* ---- floats ------------------------------------------------------------- */

static void
float_pairs(struct cj_llvm_gen *g, cj_ref r, enum cj_kind k)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	uint32_t i, j, n = cj_type_count(inst->type);
	cj_llvm x[3] = { NULL, NULL, NULL };

	for (i = 0; i < n / 2; i++) {
		for (j = 0; j < inst->operand_count; j++)
			x[j] = cj_llvm_pair(g, cj_operand(g->m, inst, j), i);
		cj_llvm_set_pair(g, r, i,
		    cj_llvm_float_apply(g, inst->op, k, x));
	}
}

static void
float_elements(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	enum cj_kind k = operand_kind(g, inst, 0);
	uint32_t i = 0, j, n = cj_type_count(inst->type);
	cj_llvm *out = cj_llvm_define(g, r), x[3] = { NULL, NULL, NULL };

	if (n >= 2 && cj_llvm_float_packs(g, inst->op, k)) {
		float_pairs(g, r, k);
		i = n & ~1u;
	}
	for (; i < n; i++) {
		for (j = 0; j < inst->operand_count; j++)
			x[j] = cj_llvm_value(g, cj_operand(g->m, inst, j), i);
		out[i] = cj_llvm_float_apply(g, inst->op, k, x);
	}
}

static void
elements(struct cj_llvm_gen *g, cj_ref r)
{
	if (cj_kind_is_float(operand_kind(g, cj_inst(g->m, r), 0)))
		float_elements(g, r);
	else
		int_elements(g, r);
	cj_llvm_finish(g, r);
}

#define ELEMENTS(name)							\
void									\
cj_llvm_op_##name(struct cj_llvm_gen *g, cj_ref r)			\
{									\
	elements(g, r);							\
}

ELEMENTS(ADD)
ELEMENTS(SUB)
ELEMENTS(MUL)
ELEMENTS(DIV)
ELEMENTS(MOD)
ELEMENTS(FMA)
ELEMENTS(NEG)
ELEMENTS(ABS)
ELEMENTS(MIN)
ELEMENTS(MAX)
ELEMENTS(COPYSIGN)
ELEMENTS(SQRT)
ELEMENTS(FLOOR)
ELEMENTS(CEIL)
ELEMENTS(TRUNC)
ELEMENTS(RINT)
ELEMENTS(AND)
ELEMENTS(OR)
ELEMENTS(XOR)
ELEMENTS(NOT)
ELEMENTS(SHL)
ELEMENTS(SHR)
ELEMENTS(MUL_HI)
ELEMENTS(POPC)
ELEMENTS(CLZ)
ELEMENTS(CTZ)
ELEMENTS(EQ)
ELEMENTS(NE)
ELEMENTS(LT)
ELEMENTS(LE)

/* ---- choices ------------------------------------------------------------ */

void
cj_llvm_op_SELECT(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	cj_ref c = cj_operand(g->m, inst, 0);
	cj_ref a = cj_operand(g->m, inst, 1), b = cj_operand(g->m, inst, 2);
	bool one = cj_type_count(cj_inst(g->m, c)->type) == 1;
	uint32_t i, n = cj_type_count(inst->type);
	cj_llvm *out = cj_llvm_define(g, r);
	bool narrow = cj_llvm_is_narrow(g, a) && cj_llvm_is_narrow(g, b);

	for (i = 0; i < n; i++) {
		cj_llvm x = narrow ? cj_llvm_narrow(g, a, i) :
		    cj_llvm_wide(g, a, i);
		cj_llvm y = narrow ? cj_llvm_narrow(g, b, i) :
		    cj_llvm_wide(g, b, i);

		out[i] = LLVMBuildSelect(g->b, cj_llvm_value(g, c, one ? 0 :
		    i), x, y, "");
	}
	if (g->pairs[r] != NULL && one)
		for (i = 0; i < n / 2; i++)
			cj_llvm_set_pair(g, r, i, LLVMBuildSelect(g->b,
			    cj_llvm_value(g, c, 0), cj_llvm_pair(g, a, i),
			    cj_llvm_pair(g, b, i), ""));
	cj_llvm_finish(g, r);
}

/* ---- division by a prepared divisor (cj_num_divisor, ir/num.h) ---------- */

/* The operands of one division, in 32 or 64 bits. */
struct prepared {
	LLVMTypeRef type;
	cj_llvm magic, shift;
	bool has_sign;		/* the dividend may be negative */
	cj_llvm keeps_sign;	/* all ones but where the divisor is 0; NULL: it
				   is not */
};

/* Of a number all ones, where it is negative. */
static cj_llvm
sign_of(struct cj_llvm_gen *g, const struct prepared *p, cj_llvm v)
{
	return LLVMBuildAShr(g->b, v, cj_llvm_int(p->type,
	    p->type == g->i32 ? 31 : 63), "");
}

/* 32 bits do where both numbers fit them. */
static struct prepared
prepare(struct cj_llvm_gen *g, const struct cj_inst *inst)
{
	cj_ref a = cj_operand(g->m, inst, 0), d = cj_operand(g->m, inst, 1);
	cj_ref numbers = cj_operand(g->m, inst, 2);
	struct prepared p = { .type = g->i64 };

	p.has_sign = cj_llvm_fact(g, a).lo < 0;
	p.magic = cj_llvm_value(g, numbers, 0);
	p.shift = cj_llvm_value(g, numbers, 1);
	if (cj_llvm_is_narrow(g, a) && cj_llvm_is_narrow(g, d)) {
		p.type = g->i32;
		p.magic = LLVMBuildTrunc(g->b, LLVMBuildLShr(g->b, p.shift,
		    cj_llvm_int(g->i64, 32), ""), g->i32, "");
		p.shift = LLVMBuildTrunc(g->b, p.shift, g->i32, "");
	}
	if (p.has_sign && cj_llvm_fact(g, d).lo <= 0)
		p.keeps_sign = sign_of(g, &p, LLVMBuildNeg(g->b, p.type ==
		    g->i32 ? cj_llvm_narrow(g, d, 0) : cj_llvm_wide(g, d, 0),
		    ""));
	/* the shift is below the width, so nothing of it is poison */
	p.shift = LLVMBuildAnd(g->b, p.shift, cj_llvm_int(p.type,
	    p.type == g->i32 ? 31 : 63), "");
	return p;
}

static cj_llvm
divide_prepared(struct cj_llvm_gen *g, const struct prepared *p, cj_llvm a)
{
	struct cj_llvm_int_operands x = { .is_signed = false };
	cj_llvm sign = NULL, q;

	if (p->has_sign) {
		sign = sign_of(g, p, a);
		a = LLVMBuildXor(g->b, a, sign, "");
	}
	x.a = a;
	x.b = p->magic;
	q = cj_llvm_int_apply(g, CJ_OP_MUL_HI, &x);
	q = LLVMBuildLShr(g->b, LLVMBuildAdd(g->b, q, a, ""), p->shift, "");
	if (p->keeps_sign != NULL)
		sign = LLVMBuildAnd(g->b, sign, p->keeps_sign, "");
	return sign == NULL ? q : LLVMBuildXor(g->b, q, sign, "");
}

void
cj_llvm_op_DIVIDE_BY(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	cj_ref a = cj_operand(g->m, inst, 0);
	struct prepared p = prepare(g, inst);
	uint32_t i, n = cj_type_count(inst->type);
	cj_llvm *out = cj_llvm_define(g, r);

	for (i = 0; i < n; i++)
		out[i] = divide_prepared(g, &p, p.type == g->i32 ?
		    cj_llvm_narrow(g, a, i) : cj_llvm_wide(g, a, i));
	cj_llvm_finish(g, r);
}
