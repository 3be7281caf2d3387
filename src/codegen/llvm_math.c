/*
 * The hardware's approximations.
 *
 * In f32 denormals count as 0, in and out: without .ftz the hardware scales
 * around every instruction. f32 has all of them; f16 and bf16 have ex2 and
 * tanh, and go through f32 for the others. f64 has none worth the name: roots
 * and quotients are computed exactly there, the rest with f32's precision.
 */
#include "llvm_gen.h"

#include <stdio.h>

static const struct {
	const char *f32;	/* of one operand; div.full: of two */
	const char *f16, *bf16;	/* NULL: none */
} approximations[] = {
	[CJ_OP_APPROX_EX2] = { "ex2.approx.ftz.f32", "ex2.approx.f16",
	    "ex2.approx.ftz.bf16" },
	[CJ_OP_APPROX_LG2] = { "lg2.approx.ftz.f32", NULL, NULL },
	[CJ_OP_APPROX_SIN] = { "sin.approx.ftz.f32", NULL, NULL },
	[CJ_OP_APPROX_COS] = { "cos.approx.ftz.f32", NULL, NULL },
	[CJ_OP_APPROX_TANH] = { "tanh.approx.f32", "tanh.approx.f16",
	    "tanh.approx.bf16" },
	[CJ_OP_APPROX_RCP] = { "rcp.approx.ftz.f32", NULL, NULL },
	[CJ_OP_APPROX_RSQRT] = { "rsqrt.approx.ftz.f32", NULL, NULL },
	[CJ_OP_APPROX_SQRT] = { "sqrt.approx.ftz.f32", NULL, NULL },
	[CJ_OP_APPROX_DIV] = { "div.full.ftz.f32", NULL, NULL },
};

static cj_llvm
in_f32(struct cj_llvm_gen *g, enum cj_op op, cj_llvm *x, unsigned count)
{
	char text[64];

	assert(op < (int)CJ_LENGTH(approximations));
	snprintf(text, sizeof text, "%s $0, $1%s;", approximations[op].f32,
	    count == 2 ? ", $2" : "");
	return cj_llvm_asm(g, CJ_LLVM_ASM_PURE, cj_llvm_type(g, CJ_KIND_F32),
	    text, count == 2 ? "=f,f,f" : "=f,f", x, count);
}

/* f16 and bf16 of sm_75 and sm_90; registers of PTX are 16 bits without a
 * type. NULL: the target has none. */
static cj_llvm
in_16_bits(struct cj_llvm_gen *g, enum cj_op op, enum cj_kind k, cj_llvm x)
{
	const char *name = NULL;
	char text[64];

	if (k == CJ_KIND_F16)
		name = approximations[op].f16;
	else if (k == CJ_KIND_BF16 && g->m->target->number >= 90)
		name = approximations[op].bf16;
	if (name == NULL)
		return NULL;
	snprintf(text, sizeof text, "%s $0, $1;", name);
	x = LLVMBuildBitCast(g->b, x, g->i16, "");
	x = cj_llvm_asm(g, CJ_LLVM_ASM_PURE, g->i16, text, "=h,h", &x, 1);
	return LLVMBuildBitCast(g->b, x, cj_llvm_type(g, k), "");
}

/* f64: what is exact in LLVM, NULL for the others. */
static cj_llvm
in_f64(struct cj_llvm_gen *g, enum cj_op op, const cj_llvm *x)
{
	cj_llvm one = cj_llvm_const(g, CJ_KIND_F64, 0x3ff0000000000000);
	cj_llvm y[2] = { one, x[0] };

	switch ((unsigned)op) {
	case CJ_OP_APPROX_RCP:
		return cj_llvm_float_apply(g, CJ_OP_DIV, CJ_KIND_F64, y);
	case CJ_OP_APPROX_RSQRT:
		y[1] = cj_llvm_float_apply(g, CJ_OP_SQRT, CJ_KIND_F64, x);
		return cj_llvm_float_apply(g, CJ_OP_DIV, CJ_KIND_F64, y);
	case CJ_OP_APPROX_SQRT:
		return cj_llvm_float_apply(g, CJ_OP_SQRT, CJ_KIND_F64, x);
	case CJ_OP_APPROX_DIV:
		return cj_llvm_float_apply(g, CJ_OP_DIV, CJ_KIND_F64, x);
	}
	return NULL;
}

static cj_llvm
approximate(struct cj_llvm_gen *g, enum cj_op op, enum cj_kind k,
    const cj_llvm *x)
{
	cj_llvm wide[2] = { NULL, NULL }, r = NULL;
	unsigned i, count = cj_op_info[op].most;

	assert(op >= CJ_OP_APPROX_EX2 && op <= CJ_OP_APPROX_DIV);
	assert(count == 1 || count == 2);
	if (k == CJ_KIND_F64)
		r = in_f64(g, op, x);
	else if (count == 1)
		r = in_16_bits(g, op, k, x[0]);
	if (r != NULL)
		return r;
	for (i = 0; i < count; i++)
		wide[i] = cj_llvm_convert(g, CJ_KIND_F32, k, cj_llvm_default,
		    x[i]);
	return cj_llvm_convert(g, k, CJ_KIND_F32, cj_llvm_default,
	    in_f32(g, op, wide, count));
}

static void
approximate_all(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	enum cj_kind k = cj_type_kind(inst->type);
	uint32_t i, j, n = cj_type_count(inst->type);
	cj_llvm *out = cj_llvm_define(g, r), x[2] = { NULL, NULL };

	for (i = 0; i < n; i++) {
		for (j = 0; j < inst->operand_count; j++)
			x[j] = cj_llvm_value(g, cj_operand(g->m, inst, j), i);
		out[i] = approximate(g, inst->op, k, x);
	}
	cj_llvm_finish(g, r);
}

#define APPROXIMATE(name)						\
void									\
cj_llvm_op_##name(struct cj_llvm_gen *g, cj_ref r)			\
{									\
	approximate_all(g, r);						\
}

APPROXIMATE(APPROX_EX2)
APPROXIMATE(APPROX_LG2)
APPROXIMATE(APPROX_SIN)
APPROXIMATE(APPROX_COS)
APPROXIMATE(APPROX_TANH)
APPROXIMATE(APPROX_RCP)
APPROXIMATE(APPROX_RSQRT)
APPROXIMATE(APPROX_SQRT)
APPROXIMATE(APPROX_DIV)
