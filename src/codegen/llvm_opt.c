/*
 * LLVM's passes: few, since what comes is unrolled and inlined already, and
 * the generator of NVPTX has its own.
 *
 *	0	allocas become values, nothing else
 *	1	and the cheap clean-up
 *	2	and loops: invariants out of them, unrolling
 *	3	LLVM's own -O3 where there are loops, in modules that are
 *		small: without loops it changes nothing worth its time, which
 *		is a quarter of a small compile; and its many turns of
 *		instcombine and GVN are two thirds of a large one
 *
 * In large modules the generator's loop strength reduction is kept from loops:
 * it would give each address a counter of its own, in registers that there are
 * no more, and search long for the best ones. It works on counters that LLVM
 * sees through: they are hidden from it.
 *
 * Where there are many accesses constants are taken out of their addresses
 * here, and what is then equal is made once. The generator would do the same,
 * but look for strength to reduce before it has met what is equal, in a time
 * that grows with the square. It is done before instcombine moves an address
 * to the one block that uses it, where it meets no other.
 */
#include "llvm_gen.h"

/* Instructions of a module of ours from which on it is large. */
enum { LARGE = 700 };

static bool
is_large(const struct cj_llvm_gen *g)
{
	return g->has_loops && g->m->insts.len > LARGE;
}

static const char *
pipeline(const struct cj_llvm_gen *g)
{
	static const char clean[] = "function(sroa,early-cse<memssa>,"
	    "instcombine<no-verify-fixpoint>,simplifycfg,reassociate,gvn,"
	    "instcombine<no-verify-fixpoint>,dce)";
	static const char loops[] = "function(sroa,early-cse,simplifycfg,"
	    "loop-mssa(loop-rotate,licm),loop(indvars),loop-unroll,"
	    "early-cse<memssa>,simplifycfg,separate-const-offset-from-gep,"
	    "early-cse,loop-mssa(licm),instcombine<no-verify-fixpoint>,dce)";
	int level = g->options->level;

	if (level <= 0)
		return "function(sroa)";
	if (!g->has_loops || level == 1)
		return clean;
	if (level == 2 || is_large(g))
		return loops;
	return "function(sroa,early-cse),default<O3>";
}

/* Is v = phi + constant? */
static bool
is_step(cj_llvm v, cj_llvm phi)
{
	return LLVMIsAInstruction(v) != NULL &&
	    LLVMGetInstructionOpcode(v) == LLVMAdd &&
	    LLVMGetOperand(v, 0) == phi &&
	    LLVMIsAConstantInt(LLVMGetOperand(v, 1)) != NULL;
}

/* A move of PTX between a step and the phi that it comes back to. */
static void
hide_counter(struct cj_llvm_gen *g, cj_llvm phi)
{
	LLVMTypeRef type = LLVMTypeOf(phi);
	bool wide = type == g->i64;
	unsigned i;

	for (i = 0; i < LLVMCountIncoming(phi); i++) {
		cj_llvm v = LLVMGetIncomingValue(phi, i);

		if (!is_step(v, phi))
			continue;
		LLVMPositionBuilderBefore(g->b, LLVMGetBasicBlockTerminator(
		    LLVMGetIncomingBlock(phi, i)));
		v = cj_llvm_asm(g, CJ_LLVM_ASM_PURE, type, wide ?
		    "mov.b64 $0, $1;" : "mov.b32 $0, $1;", wide ? "=l,l" :
		    "=r,r", &v, 1);
		LLVMSetOperand(phi, i, v);
	}
}

static void
visit_block(struct cj_llvm_gen *g, LLVMBasicBlockRef b)
{
	LLVMValueRef i;

	for (i = LLVMGetFirstInstruction(b); i != NULL;
	    i = LLVMGetNextInstruction(i)) {
		if (LLVMIsACallInst(i) != NULL)
			cj_llvm_constants_of_copy(g, i);
		else if (LLVMIsAPHINode(i) != NULL && is_large(g) &&
		    (LLVMTypeOf(i) == g->i32 || LLVMTypeOf(i) == g->i64))
			hide_counter(g, i);
	}
}

/* What LLVM's passes do not know of. */
static void
finish(struct cj_llvm_gen *g)
{
	LLVMValueRef fn;
	LLVMBasicBlockRef b;

	for (fn = LLVMGetFirstFunction(g->module); fn != NULL;
	    fn = LLVMGetNextFunction(fn))
		for (b = LLVMGetFirstBasicBlock(fn); b != NULL;
		    b = LLVMGetNextBasicBlock(b))
			visit_block(g, b);
}

char *
cj_llvm_optimise(struct cj_llvm_gen *g, LLVMTargetMachineRef machine)
{
	LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
	LLVMErrorRef error = LLVMRunPasses(g->module,
	    pipeline(g), machine, options);

	LLVMDisposePassBuilderOptions(options);
	if (error != NULL)
		return LLVMGetErrorMessage(error);
	finish(g);
	return NULL;
}
