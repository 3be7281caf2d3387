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
 * Where there are many accesses constants are taken out of their addresses
 * here, and what is then equal is made once. The generator would do the same,
 * but look for strength to reduce before it has met what is equal, in a time
 * that grows with the square.
 */
#include "llvm_gen.h"

#include <llvm-c/Error.h>
#include <llvm-c/Transforms/PassBuilder.h>

/* Instructions of a module of ours from which on it is large. */
enum { LARGE = 700 };

static const char *
pipeline(const struct cj_llvm_gen *g)
{
	static const char clean[] = "function(sroa,early-cse<memssa>,"
	    "instcombine<no-verify-fixpoint>,simplifycfg,reassociate,gvn,"
	    "instcombine<no-verify-fixpoint>,dce)";
	static const char loops[] = "function(sroa,early-cse,simplifycfg,"
	    "loop-mssa(loop-rotate,licm),loop(indvars),loop-unroll,"
	    "early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,"
	    "separate-const-offset-from-gep,early-cse,loop-mssa(licm),dce)";
	int level = g->options->level;

	if (level <= 0)
		return "function(sroa)";
	if (!g->has_loops || level == 1)
		return clean;
	if (level == 2 || g->m->insts.len > LARGE)
		return loops;
	return "function(sroa,early-cse),default<O3>";
}

char *
cj_llvm_optimise(struct cj_llvm_gen *g, LLVMTargetMachineRef machine)
{
	LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
	LLVMErrorRef error = LLVMRunPasses(g->module,
	    pipeline(g), machine, options);

	LLVMDisposePassBuilderOptions(options);
	return error == NULL ? NULL : LLVMGetErrorMessage(error);
}
