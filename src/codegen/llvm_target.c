/*
 * Targets as LLVM knows them: initialisation, PTX versions, target machines.
 *
 * A version below what the target needs would make LLVM end the process, and
 * one that it does not know would be replaced silently: both are refused here.
 */
#include "llvm_gen.h"

#include <pthread.h>
#include <stdio.h>

static const char triple[] = "nvptx64-nvidia-cuda";

/* Versions that LLVM 22 writes. */
const int cj_llvm_newest_ptx = 90;

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void
initialise(void)
{
	LLVMInitializeNVPTXTargetInfo();
	LLVMInitializeNVPTXTarget();
	LLVMInitializeNVPTXTargetMC();
	LLVMInitializeNVPTXAsmPrinter();
}

static bool
is_version(int ptx)
{
	/* 7.0 to 7.8, 8.0 to 8.8, 9.0 */
	return ptx >= 70 && ptx <= cj_llvm_newest_ptx && ptx % 10 <= 8;
}

const char *
cj_llvm_ptx_refused(const struct cj_target *target, int ptx)
{
	if (!is_version(ptx))
		return "a PTX version that the code generator does not write";
	if (ptx < target->ptx)
		return "a PTX version below what the target needs";
	return NULL;
}

static LLVMCodeGenOptLevel
generator_level(int level)
{
	/* 0 would allocate registers fast and badly; beyond Default nothing
	 * but GVN comes in, twice, after ours */
	return level >= 2 ? LLVMCodeGenLevelDefault : LLVMCodeGenLevelLess;
}

LLVMTargetMachineRef
cj_llvm_machine(const struct cj_target *target, int ptx, int level)
{
	LLVMTargetRef t = NULL;
	char feature[16], *error = NULL;

	assert(cj_llvm_ptx_refused(target, ptx) == NULL);
	pthread_once(&once, initialise);
	snprintf(feature, sizeof feature, "+ptx%d", ptx);
	if (LLVMGetTargetFromTriple(triple, &t, &error)) {
		LLVMDisposeMessage(error);
		return NULL;
	}
	return LLVMCreateTargetMachine(t, triple, target->name, feature,
	    generator_level(level), LLVMRelocDefault, LLVMCodeModelDefault);
}

const char *
cj_llvm_triple(void)
{
	return triple;
}
