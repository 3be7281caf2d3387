/*
 * Float arithmetic, one register or a pair at a time: one rounding of the
 * exact result, no contraction, denormals kept.
 *
 * f32 and f64 are LLVM's own. f16 and bf16 use the packed instructions where
 * there are such; division and roots go through f32, whose 24 bits are enough
 * for a second rounding to be harmless (24 >= 2 * 11 + 2: Figueroa 1995; for
 * results below the normal range the quotient or root of numbers of at most
 * 11 bits stays further from every midpoint than f32's last place).
 *
 * Kinds that LLVM does not know go through f32 by the same argument (f4 ...
 * f8), or through f64: tf32, whose range is that of f32 and leaves no room
 * below it, and all fused operations, whose sum may need many bits. Of tf32 it
 * may need more than f64 has, so that it is rounded to odd there (Boldo and
 * Melquiond 2008).
 */
#include "llvm_gen.h"

bool
cj_llvm_float_packs(const struct cj_llvm_gen *g, enum cj_op op,
    enum cj_kind k)
{
	if (!cj_llvm_is_packed(g, k))
		return false;
	switch ((unsigned)op) {
	case CJ_OP_ADD:
	case CJ_OP_SUB:
	case CJ_OP_MUL:
	case CJ_OP_FMA:
		return true;
	case CJ_OP_NEG:
	case CJ_OP_ABS:
	case CJ_OP_MIN:
	case CJ_OP_MAX:
		return k != CJ_KIND_F32;
	}
	return false;
}

/* ---- kinds that LLVM knows ---------------------------------------------- */

/* f32 and f64; f16, bf16 and pairs of them for what they have. */
static cj_llvm
apply_native(struct cj_llvm_gen *g, enum cj_op op, const cj_llvm *x)
{
	switch ((unsigned)op) {
	case CJ_OP_ADD:
		return LLVMBuildFAdd(g->b, x[0], x[1], "");
	case CJ_OP_SUB:
		return LLVMBuildFSub(g->b, x[0], x[1], "");
	case CJ_OP_MUL:
		return LLVMBuildFMul(g->b, x[0], x[1], "");
	case CJ_OP_DIV:
		return LLVMBuildFDiv(g->b, x[0], x[1], "");
	case CJ_OP_FMA:
		return cj_llvm_call3(g, "llvm.fma", x[0], x[1], x[2]);
	case CJ_OP_NEG:
		return LLVMBuildFNeg(g->b, x[0], "");
	case CJ_OP_ABS:
		return cj_llvm_call1(g, "llvm.fabs", x[0]);
	case CJ_OP_MIN:
		return cj_llvm_call2(g, "llvm.minimum", x[0], x[1]);
	case CJ_OP_MAX:
		return cj_llvm_call2(g, "llvm.maximum", x[0], x[1]);
	case CJ_OP_SQRT:
		return cj_llvm_call1(g, "llvm.sqrt", x[0]);
	case CJ_OP_FLOOR:
		return cj_llvm_call1(g, "llvm.floor", x[0]);
	case CJ_OP_CEIL:
		return cj_llvm_call1(g, "llvm.ceil", x[0]);
	case CJ_OP_TRUNC:
		return cj_llvm_call1(g, "llvm.trunc", x[0]);
	case CJ_OP_RINT:
		return cj_llvm_call1(g, "llvm.roundeven", x[0]);
	case CJ_OP_EQ:
		return LLVMBuildFCmp(g->b, LLVMRealOEQ, x[0], x[1], "");
	case CJ_OP_NE:
		return LLVMBuildFCmp(g->b, LLVMRealUNE, x[0], x[1], "");
	case CJ_OP_LT:
		return LLVMBuildFCmp(g->b, LLVMRealOLT, x[0], x[1], "");
	case CJ_OP_LE:
		return LLVMBuildFCmp(g->b, LLVMRealOLE, x[0], x[1], "");
	}
	cj_llvm_bug(g, "%s of floats", cj_op_info[op].text);
}

/* Does the narrow kind lack the operation, so that f32 has to do it? */
static bool
needs_f32(enum cj_op op, enum cj_kind k)
{
	switch ((unsigned)op) {
	case CJ_OP_DIV:
	case CJ_OP_SQRT:
		return true;
	case CJ_OP_FLOOR:
	case CJ_OP_CEIL:
	case CJ_OP_TRUNC:
	case CJ_OP_RINT:
	case CJ_OP_EQ:
	case CJ_OP_NE:
	case CJ_OP_LT:
	case CJ_OP_LE:
		return k == CJ_KIND_BF16;
	}
	return false;
}

static bool
is_compare(enum cj_op op)
{
	return cj_op_info[op].result == CJ_RESULT_BOOL;
}

static cj_llvm
apply_f16(struct cj_llvm_gen *g, enum cj_op op, enum cj_kind k,
    const cj_llvm *x)
{
	cj_llvm wide[3] = { NULL, NULL, NULL }, r;
	unsigned i;

	if (!needs_f32(op, k))
		return apply_native(g, op, x);
	for (i = 0; i < cj_op_info[op].most; i++)
		wide[i] = LLVMBuildFPExt(g->b, x[i],
		    cj_llvm_type(g, CJ_KIND_F32), "");
	r = apply_native(g, op, wide);
	return is_compare(op) ? r :
	    LLVMBuildFPTrunc(g->b, r, cj_llvm_type(g, k), "");
}

/* ---- kinds that it does not --------------------------------------------- */

/*
 * a * b + c for doubles whose product is exact, rounded to odd: the sum as it
 * is if nothing was lost or its last bit is set, else one step toward what was
 * lost. The loss is found by Knuth's two-sum; where it is not 0 the sum is
 * neither 0 nor infinite.
 */
static cj_llvm
fma_to_odd(struct cj_llvm_gen *g, const cj_llvm *x)
{
	LLVMBuilderRef b = g->b;
	cj_llvm p, s, t, lost, bits, same, step, even, zero, move;

	p = LLVMBuildFMul(b, x[0], x[1], "");
	s = LLVMBuildFAdd(b, p, x[2], "");
	t = LLVMBuildFSub(b, s, p, "");
	lost = LLVMBuildFAdd(b, LLVMBuildFSub(b, p, LLVMBuildFSub(b, s, t,
	    ""), ""), LLVMBuildFSub(b, x[2], t, ""), "");
	zero = LLVMConstNull(LLVMTypeOf(s));
	bits = LLVMBuildBitCast(b, s, g->i64, "");
	same = LLVMBuildICmp(b, LLVMIntEQ,
	    LLVMBuildFCmp(b, LLVMRealOGT, lost, zero, ""),
	    LLVMBuildFCmp(b, LLVMRealOGT, s, zero, ""), "");
	step = LLVMBuildSelect(b, same, cj_llvm_int(g->i64, 1),
	    cj_llvm_int(g->i64, -1), "");
	even = LLVMBuildICmp(b, LLVMIntEQ, LLVMBuildAnd(b, bits,
	    cj_llvm_int(g->i64, 1), ""), cj_llvm_int(g->i64, 0), "");
	/* of infinities and NaN the loss is NaN: not one */
	move = LLVMBuildAnd(b, even, LLVMBuildFCmp(b, LLVMRealONE, lost, zero,
	    ""), "");
	bits = LLVMBuildSelect(b, move, LLVMBuildAdd(b, bits, step, ""), bits,
	    "");
	return LLVMBuildBitCast(b, bits, LLVMTypeOf(s), "");
}

static cj_llvm
apply_wide(struct cj_llvm_gen *g, enum cj_op op, enum cj_kind k,
    const cj_llvm *x)
{
	enum cj_kind by = k == CJ_KIND_TF32 || op == CJ_OP_FMA ? CJ_KIND_F64 :
	    CJ_KIND_F32;
	cj_llvm wide[3] = { NULL, NULL, NULL }, r;
	unsigned i;

	for (i = 0; i < cj_op_info[op].most; i++)
		wide[i] = cj_llvm_convert(g, by, k, cj_llvm_default, x[i]);
	r = op == CJ_OP_FMA && k == CJ_KIND_TF32 ? fma_to_odd(g, wide) :
	    apply_native(g, op, wide);
	return is_compare(op) ? r :
	    cj_llvm_convert(g, k, by, cj_llvm_default, r);
}

/* ---- signs -------------------------------------------------------------- */

static cj_llvm
to_bits(struct cj_llvm_gen *g, enum cj_kind k, cj_llvm x)
{
	return LLVMBuildBitCast(g->b, x,
	    cj_llvm_int_type(g, cj_llvm_is_small(k) ? 8 : cj_kind_bits(k)),
	    "");
}

/* The sign bit is the highest of the kind; f8ue8m0 has none. */
static cj_llvm
copy_sign(struct cj_llvm_gen *g, enum cj_kind k, const cj_llvm *x)
{
	cj_llvm a = to_bits(g, k, x[0]), b = to_bits(g, k, x[1]);
	uint64_t sign = (uint64_t)1 << (cj_kind_bits(k) - 1);
	LLVMTypeRef type = LLVMTypeOf(a);

	if (k == CJ_KIND_F8UE8M0)
		return x[0];
	if (k == CJ_KIND_F32 || k == CJ_KIND_F64)
		return cj_llvm_call2(g, "llvm.copysign", x[0], x[1]);
	a = LLVMBuildAnd(g->b, a, LLVMConstInt(type, sign - 1, 0), "");
	b = LLVMBuildAnd(g->b, b, LLVMConstInt(type, sign, 0), "");
	return LLVMBuildBitCast(g->b, LLVMBuildOr(g->b, a, b, ""),
	    cj_llvm_type(g, k), "");
}

static cj_llvm
small_sign(struct cj_llvm_gen *g, enum cj_op op, enum cj_kind k, cj_llvm x)
{
	unsigned sign = 1u << (cj_kind_bits(k) - 1);

	assert(op == CJ_OP_NEG || op == CJ_OP_ABS);
	if (op == CJ_OP_NEG)
		return LLVMBuildXor(g->b, x, LLVMConstInt(g->i8, sign, 0), "");
	return LLVMBuildAnd(g->b, x, LLVMConstInt(g->i8, sign - 1, 0), "");
}

static cj_llvm
compare_tf32(struct cj_llvm_gen *g, enum cj_op op, const cj_llvm *x)
{
	cj_llvm value[2];

	value[0] = cj_llvm_tf32_value(g, x[0]);
	value[1] = cj_llvm_tf32_value(g, x[1]);
	return apply_native(g, op, value);
}

cj_llvm
cj_llvm_float_apply(struct cj_llvm_gen *g, enum cj_op op, enum cj_kind k,
    const cj_llvm *x)
{
	bool is_sign = op == CJ_OP_NEG || op == CJ_OP_ABS;

	assert(cj_kind_is_float(k) && x[0] != NULL);
	if (op == CJ_OP_COPYSIGN)
		return copy_sign(g, k, x);
	if (k == CJ_KIND_F32 || k == CJ_KIND_F64)
		return apply_native(g, op, x);
	if (k == CJ_KIND_F16 || k == CJ_KIND_BF16)
		return apply_f16(g, op, k, x);
	if (k == CJ_KIND_TF32 && is_sign)
		return apply_native(g, op, x);
	if (k == CJ_KIND_TF32 && is_compare(op))
		return compare_tf32(g, op, x);
	if (cj_llvm_is_small(k) && is_sign && k != CJ_KIND_F8UE8M0)
		return small_sign(g, op, k, x[0]);
	return apply_wide(g, op, k, x);
}
