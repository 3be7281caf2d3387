/*
 * LLVM's passes: few, since what comes is unrolled and inlined already, and
 * the generator of NVPTX has its own.
 *
 *	0	allocas become values, nothing else
 *	1	and the cheap clean-up
 *	2	and loops: invariants out of them, unrolling
 *	3	LLVM's own -O3 where there are loops: without any it changes
 *		nothing worth its time, which is a quarter of a small compile
 */
#include "llvm_gen.h"

#include <llvm-c/Error.h>
#include <llvm-c/Transforms/PassBuilder.h>

static const char *
pipeline(int level, bool has_loops)
{
	static const char clean[] = "function(sroa,early-cse<memssa>,"
	    "instcombine<no-verify-fixpoint>,simplifycfg,reassociate,gvn,"
	    "instcombine<no-verify-fixpoint>,dce)";
	static const char loops[] = "function(sroa,early-cse<memssa>,"
	    "instcombine<no-verify-fixpoint>,simplifycfg,"
	    "loop-mssa(loop-rotate,licm),loop(indvars),loop-unroll,sroa,"
	    "instcombine<no-verify-fixpoint>,simplifycfg,gvn,dce)";

	if (level <= 0)
		return "function(sroa)";
	if (!has_loops || level == 1)
		return clean;
	return level >= 3 ? "function(sroa,early-cse),default<O3>" : loops;
}

char *
cj_llvm_optimise(struct cj_llvm_gen *g, LLVMTargetMachineRef machine)
{
	LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
	LLVMErrorRef error = LLVMRunPasses(g->module,
	    pipeline(g->options->level, g->has_loops), machine, options);

	LLVMDisposePassBuilderOptions(options);
	return error == NULL ? NULL : LLVMGetErrorMessage(error);
}
