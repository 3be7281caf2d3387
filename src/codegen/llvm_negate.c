/*
 * Opposites of 16 bits: that of -32768 is -32768. ptxas 13 widens what neg.s16
 * and abs.s16, and what sub.s16 makes of 0, as though it were 32768, and
 * compares it so; of a product with -1 it does not.
 */
#include "llvm_gen.h"

static bool
is_opposite(cj_llvm v)
{
	cj_llvm first;

	if (LLVMIsAInstruction(v) == NULL ||
	    LLVMGetInstructionOpcode(v) != LLVMSub)
		return false;
	first = LLVMGetOperand(v, 0);
	return LLVMIsAConstantInt(first) != NULL &&
	    LLVMConstIntGetSExtValue(first) == 0;
}

static bool
is_absolute(cj_llvm v)
{
	static const char name[] = "llvm.abs.";
	cj_llvm called;
	const char *text;
	size_t length;

	if (LLVMIsACallInst(v) == NULL)
		return false;
	called = LLVMGetCalledValue(v);
	text = LLVMGetValueName2(called, &length);
	return length >= sizeof name - 1 &&
	    memcmp(text, name, sizeof name - 1) == 0;
}

void
cj_llvm_opposite(struct cj_llvm_gen *g, cj_llvm v)
{
	bool absolute = is_absolute(v);
	cj_llvm both[2];

	if (LLVMTypeOf(v) != g->i16 || (!absolute && !is_opposite(v)))
		return;
	both[0] = LLVMGetOperand(v, absolute ? 0 : 1);
	LLVMPositionBuilderBefore(g->b, v);
	both[1] = cj_llvm_asm(g, CJ_LLVM_ASM_PURE, g->i16,
	    "mul.lo.s16 $0, $1, -1;", "=h,h", &both[0], 1);
	LLVMReplaceAllUsesWith(v, absolute ? cj_llvm_intrinsic(g, "llvm.smax",
	    g->i16, both, 2) : both[1]);
}
