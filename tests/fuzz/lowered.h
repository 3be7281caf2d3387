/*
 * LLVM's text of a kernel, run thread by thread: what the generator made of
 * the IR, behind LLVM's passes and in front of its choice of instructions.
 *
 * Everything that LLVM leaves undefined is a fault here: what overflows
 * although it was said not to is poison, and poison that is stored, branched
 * on or used as an address is reported, as is an address outside of all
 * memory. What the text calls of NVPTX and of PTX is done as the PTX manual
 * says.
 */
#ifndef CJ_FUZZ_LOWERED_H
#define CJ_FUZZ_LOWERED_H

#include "ir/ir.h"

enum { LOWERED_ARGUMENTS = 256, LOWERED_WARP = 32 };

struct lowered_argument {
	uint64_t bits;		/* a number, or an address of this machine */
	size_t bytes;		/* behind the address; 0: a number */
};

struct lowered_launch {
	const char *kernel;
	unsigned grid, threads;		/* along x */
	uint32_t count;
	struct lowered_argument arguments[LOWERED_ARGUMENTS];
};

/* NULL, or what went wrong. What is not known here leaves by a bug. */
const char *lowered_run(struct cj_arena *a, const char *text,
    const struct lowered_launch *l);

#endif
