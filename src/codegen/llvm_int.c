/*
 * Integer arithmetic, one register at a time: exactly ir/num.c, cheaper where
 * facts allow.
 *
 * LLVM leaves undefined what the language defines (division by zero, shifts
 * by the width, the least number divided by -1), so such operands are replaced
 * before and the result chosen after.
 */
#include "llvm_int.h"

#include <stdio.h>

typedef struct cj_llvm_int_operands operands;

static unsigned
width(const operands *x)
{
	return LLVMGetIntTypeWidth(LLVMTypeOf(x->a));
}

static cj_llvm
number(const operands *x, int64_t value)
{
	return cj_llvm_int(LLVMTypeOf(x->a), value);
}

static bool
is_const(cj_llvm v, int64_t *value)
{
	if (v == NULL || LLVMIsAConstantInt(v) == NULL)
		return false;
	*value = LLVMConstIntGetSExtValue(v);
	return true;
}

static cj_llvm
compare(struct cj_llvm_gen *g, LLVMIntPredicate p, cj_llvm a, cj_llvm b)
{
	return LLVMBuildICmp(g->b, p, a, b, "");
}

static cj_llvm
choose(struct cj_llvm_gen *g, cj_llvm c, cj_llvm a, cj_llvm b)
{
	return LLVMBuildSelect(g->b, c, a, b, "");
}

/* ---- division: rounds down; a / 0 is 0, a % 0 is a ---------------------- */

struct quotient {
	cj_llvm q, r;
};

/* a unsigned or not negative; b too, and maybe 0. */
static struct quotient
divide_unsigned(struct cj_llvm_gen *g, const operands *x)
{
	struct quotient out;
	cj_llvm zero = number(x, 0), is_zero = NULL, b = x->b;
	int64_t known;

	assert(!x->is_signed || x->b_not_negative);
	if (!x->b_positive && !(is_const(b, &known) && known != 0)) {
		is_zero = compare(g, LLVMIntEQ, b, zero);
		b = choose(g, is_zero, number(x, 1), b);
	}
	out.q = LLVMBuildUDiv(g->b, x->a, b, "");
	out.r = LLVMBuildURem(g->b, x->a, b, "");
	if (is_zero != NULL) {
		out.q = choose(g, is_zero, zero, out.q);
		out.r = choose(g, is_zero, x->a, out.r);
	}
	return out;
}

/* b >= 1: floor(a / b) = ~(~a / b) for a < 0; a power of two is a shift. */
static struct quotient
divide_by_positive(struct cj_llvm_gen *g, const operands *x)
{
	struct quotient out;
	cj_llvm sign;
	int64_t d;

	if (is_const(x->b, &d) && (d & (d - 1)) == 0) {
		out.q = LLVMBuildAShr(g->b, x->a,
		    number(x, __builtin_ctzll((uint64_t)d)), "");
		out.r = LLVMBuildAnd(g->b, x->a, number(x, d - 1), "");
		return out;
	}
	sign = LLVMBuildAShr(g->b, x->a, number(x, width(x) - 1), "");
	out.q = LLVMBuildUDiv(g->b, LLVMBuildXor(g->b, x->a, sign, ""), x->b,
	    "");
	out.q = LLVMBuildXor(g->b, out.q, sign, "");
	out.r = LLVMBuildSub(g->b, x->a,
	    LLVMBuildMul(g->b, out.q, x->b, ""), "");
	return out;
}

/* Any b: 0 and -1 are replaced by 1 and their results chosen after. */
static struct quotient
divide_signed(struct cj_llvm_gen *g, const operands *x)
{
	struct quotient out;
	cj_llvm zero = number(x, 0), b, is_zero, is_minus, r, adjust;

	is_zero = compare(g, LLVMIntEQ, x->b, zero);
	is_minus = compare(g, LLVMIntEQ, x->b, number(x, -1));
	b = choose(g, LLVMBuildOr(g->b, is_zero, is_minus, ""), number(x, 1),
	    x->b);
	out.q = LLVMBuildSDiv(g->b, x->a, b, "");
	r = LLVMBuildSub(g->b, x->a, LLVMBuildMul(g->b, out.q, b, ""), "");
	adjust = LLVMBuildAnd(g->b, compare(g, LLVMIntNE, r, zero),
	    compare(g, LLVMIntSLT, LLVMBuildXor(g->b, r, b, ""), zero), "");
	out.q = LLVMBuildAdd(g->b, out.q,
	    LLVMBuildSExt(g->b, adjust, LLVMTypeOf(x->a), ""), "");
	r = choose(g, adjust, LLVMBuildAdd(g->b, r, b, ""), r);
	out.q = choose(g, is_minus, LLVMBuildNeg(g->b, x->a, ""), out.q);
	out.q = choose(g, is_zero, zero, out.q);
	out.r = choose(g, is_zero, x->a, r);	/* by 1 the rest is 0 */
	return out;
}

static struct quotient
divide(struct cj_llvm_gen *g, const operands *x)
{
	int64_t d;

	if (!x->is_signed || (x->a_not_negative && x->b_not_negative))
		return divide_unsigned(g, x);
	if (x->b_positive || (is_const(x->b, &d) && d > 0))
		return divide_by_positive(g, x);
	return divide_signed(g, x);
}

/* ---- shifts: by the width or more 0, or the sign ------------------------ */

static bool
is_in_width(const operands *x)
{
	int64_t by;

	return x->b_in_width || (is_const(x->b, &by) && by >= 0 &&
	    by < width(x));
}

/*
 * PTX's own shift of 64 bits, whose amount of 32 bits may be anything. LLVM 22
 * turns a choice between a shift and 0 into this instruction too, but cuts the
 * amount to 32 bits first: by 2^32 it would shift by nothing.
 */
static cj_llvm
shift_64(struct cj_llvm_gen *g, const operands *x, const char *name)
{
	cj_llvm by = cj_llvm_call2(g, "llvm.umin", x->b, number(x, 64));
	cj_llvm arguments[] = { x->a, LLVMBuildTrunc(g->b, by, g->i32, "") };
	char text[32];

	assert(width(x) == 64);
	snprintf(text, sizeof text, "%s $0, $1, $2;", name);
	return cj_llvm_asm(g, CJ_LLVM_ASM_PURE, g->i64, text, "=l,l,r",
	    arguments, 2);
}

static cj_llvm
shift_left(struct cj_llvm_gen *g, const operands *x)
{
	cj_llvm fits;

	if (is_in_width(x))
		return LLVMBuildShl(g->b, x->a, x->b, "");
	if (width(x) == 64)
		return shift_64(g, x, "shl.b64");
	fits = compare(g, LLVMIntULT, x->b, number(x, width(x)));
	return choose(g, fits, LLVMBuildShl(g->b, x->a, x->b, ""),
	    number(x, 0));
}

static cj_llvm
shift_right(struct cj_llvm_gen *g, const operands *x)
{
	cj_llvm fits, by = x->b;

	if (!is_in_width(x) && !x->is_signed && width(x) == 64)
		return shift_64(g, x, "shr.u64");
	fits = compare(g, LLVMIntULT, x->b, number(x, width(x)));
	if (x->is_signed) {
		if (!is_in_width(x))
			by = choose(g, fits, by, number(x, width(x) - 1));
		return LLVMBuildAShr(g->b, x->a, by, "");
	}
	by = LLVMBuildLShr(g->b, x->a, by, "");
	return is_in_width(x) ? by : choose(g, fits, by, number(x, 0));
}

/* ---- the rest ----------------------------------------------------------- */

static cj_llvm
no_wrap(const operands *x, cj_llvm v)
{
	if (x->no_wrap && LLVMIsAInstruction(v) != NULL)
		LLVMSetNSW(v, 1);
	return v;
}

/* The instruction of 32 and 64 bits: LLVM's own pattern is lost when a pass
 * sees through an operand's extension. */
static cj_llvm
high_instruction(struct cj_llvm_gen *g, const operands *x)
{
	const char *name = width(x) == 64 ?
	    (x->is_signed ? "llvm.nvvm.mulhi.ll" : "llvm.nvvm.mulhi.ull") :
	    (x->is_signed ? "llvm.nvvm.mulhi.i" : "llvm.nvvm.mulhi.ui");
	cj_llvm arguments[] = { x->a, x->b };

	return cj_llvm_intrinsic(g, name, NULL, arguments, 2);
}

static cj_llvm
multiply_high(struct cj_llvm_gen *g, const operands *x)
{
	unsigned w = width(x);
	LLVMTypeRef type = LLVMTypeOf(x->a);
	LLVMTypeRef twice = LLVMIntTypeInContext(g->context, 2 * w);
	cj_llvm a, b;

	if (w >= 32)
		return high_instruction(g, x);
	if (x->is_signed) {
		a = LLVMBuildSExt(g->b, x->a, twice, "");
		b = LLVMBuildSExt(g->b, x->b, twice, "");
	} else {
		a = LLVMBuildZExt(g->b, x->a, twice, "");
		b = LLVMBuildZExt(g->b, x->b, twice, "");
	}
	a = LLVMBuildLShr(g->b, LLVMBuildMul(g->b, a, b, ""),
	    LLVMConstInt(twice, w, 0), "");
	return LLVMBuildTrunc(g->b, a, type, "");
}

/* ctlz and cttz of 0 are the width: their flag for poison is false. */
static cj_llvm
count_zeros(struct cj_llvm_gen *g, const char *name, cj_llvm a)
{
	cj_llvm arguments[] = { a, LLVMConstInt(g->i1, 0, 0) };

	return cj_llvm_intrinsic(g, name, LLVMTypeOf(a), arguments, 2);
}

static cj_llvm
absolute(struct cj_llvm_gen *g, const operands *x)
{
	cj_llvm arguments[] = { x->a, LLVMConstInt(g->i1, 0, 0) };

	if (!x->is_signed || x->a_not_negative)
		return x->a;
	return cj_llvm_intrinsic(g, "llvm.abs", LLVMTypeOf(x->a), arguments,
	    2);
}

cj_llvm
cj_llvm_int_apply(struct cj_llvm_gen *g, enum cj_op op, const operands *x)
{
	bool s = x->is_signed;

	assert(x->a != NULL);
	assert(x->b == NULL || LLVMTypeOf(x->a) == LLVMTypeOf(x->b));
	assert(!x->b_positive || x->b_not_negative);
	switch ((unsigned)op) {
	case CJ_OP_ADD:
		return no_wrap(x, LLVMBuildAdd(g->b, x->a, x->b, ""));
	case CJ_OP_SUB:
		return no_wrap(x, LLVMBuildSub(g->b, x->a, x->b, ""));
	case CJ_OP_MUL:
		return no_wrap(x, LLVMBuildMul(g->b, x->a, x->b, ""));
	case CJ_OP_FMA:
		return LLVMBuildAdd(g->b, LLVMBuildMul(g->b, x->a, x->b, ""),
		    x->c, "");
	case CJ_OP_DIV:
		return divide(g, x).q;
	case CJ_OP_MOD:
		return divide(g, x).r;
	case CJ_OP_NEG:
		return no_wrap(x, LLVMBuildNeg(g->b, x->a, ""));
	case CJ_OP_ABS:
		return absolute(g, x);
	case CJ_OP_MIN:
		return cj_llvm_call2(g, s ? "llvm.smin" : "llvm.umin", x->a,
		    x->b);
	case CJ_OP_MAX:
		return cj_llvm_call2(g, s ? "llvm.smax" : "llvm.umax", x->a,
		    x->b);
	case CJ_OP_AND:
		return LLVMBuildAnd(g->b, x->a, x->b, "");
	case CJ_OP_OR:
		return LLVMBuildOr(g->b, x->a, x->b, "");
	case CJ_OP_XOR:
		return LLVMBuildXor(g->b, x->a, x->b, "");
	case CJ_OP_NOT:
		return LLVMBuildNot(g->b, x->a, "");
	case CJ_OP_SHL:
		return shift_left(g, x);
	case CJ_OP_SHR:
		return shift_right(g, x);
	case CJ_OP_MUL_HI:
		return multiply_high(g, x);
	case CJ_OP_POPC:
		return cj_llvm_call1(g, "llvm.ctpop", x->a);
	case CJ_OP_CLZ:
		return count_zeros(g, "llvm.ctlz", x->a);
	case CJ_OP_CTZ:
		return count_zeros(g, "llvm.cttz", x->a);
	case CJ_OP_EQ:
		return compare(g, LLVMIntEQ, x->a, x->b);
	case CJ_OP_NE:
		return compare(g, LLVMIntNE, x->a, x->b);
	case CJ_OP_LT:
		return compare(g, s ? LLVMIntSLT : LLVMIntULT, x->a, x->b);
	case CJ_OP_LE:
		return compare(g, s ? LLVMIntSLE : LLVMIntULE, x->a, x->b);
	}
	cj_llvm_bug(g, "%s of integers", cj_op_info[op].text);
}

cj_llvm
cj_llvm_int_update(struct cj_llvm_gen *g, enum cj_op op, enum cj_kind k,
    cj_llvm a, cj_llvm b)
{
	operands x = { .a = a, .b = b, .is_signed = cj_kind_is_signed(k) };

	return cj_llvm_int_apply(g, op, &x);
}
