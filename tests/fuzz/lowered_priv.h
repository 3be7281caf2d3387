/*
 * A function of LLVM as flat steps. A value is one uint64_t for each of its
 * elements, in a frame of each thread, beside a byte that says poison: integers
 * have zeros above their width, floats are their bits, pointers addresses.
 */
#ifndef CJ_FUZZ_LOWERED_PRIV_H
#define CJ_FUZZ_LOWERED_PRIV_H

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>

#include "lowered.h"

__extension__ typedef __int128 low_wide;
__extension__ typedef unsigned __int128 low_wide_unsigned;

struct low_type {
	enum cj_kind kind;	/* a float; VOID: an integer or a pointer */
	unsigned width;		/* bits of an element */
	uint32_t count;		/* elements */
	uint32_t stride;	/* bytes from one to the next in memory */
};

enum low_flag { LOW_NSW = 1, LOW_NUW = 2, LOW_EXACT = 4, LOW_DISJOINT = 8,
    LOW_NNEG = 16, LOW_SAME_SIGN = 32, LOW_INBOUNDS = 64, LOW_ASM = 128 };

struct low_step {
	LLVMOpcode op;
	struct low_type type, from;	/* of the result, of operand 0 */
	uint32_t at;			/* the result */
	uint32_t *operand, operands;
	unsigned flags;
	unsigned which;			/* predicate, kind of atomic */
	const char *name;		/* of what is called; its text */
	/* branches: steps; phis: the steps that their blocks end with;
	 * addresses: bytes that each index
	 * counts, and behind them its bits; shuffles: the mask; parts: which */
	int64_t *extra;
	uint32_t extras;
};

struct low_region {
	uint64_t from, to;
};

struct low_code {
	struct cj_arena *arena;
	LLVMTargetDataRef layout;
	CJ_VEC(struct low_step) steps;
	CJ_VEC(struct low_region) regions;
	CJ_VEC(uint64_t) frame;		/* what a thread begins with */
	CJ_VEC(uint8_t) poison;
	LLVMValueRef fn;
	struct low_place {		/* by hash of the value */
		LLVMValueRef value;
		uint32_t at;
	} *places;
	uint32_t room;
	uint64_t shared_from;		/* memory of globals, for each block */
	size_t shared_bytes;
};

enum low_wait { LOW_RUNS, LOW_IN_WARP, LOW_IN_BLOCK, LOW_ENDED };

struct low_thread {
	uint64_t *frame;
	uint8_t *poison;
	uint32_t pc, from;		/* the step that came here */
	enum low_wait wait;
	unsigned number;
};

struct low_run {
	const struct low_code *code;
	const struct lowered_launch *launch;
	struct low_thread *threads;
	unsigned block;
	uint64_t left;			/* steps */
	const char *wrong;		/* the first fault */
};

void lowered_read(struct low_code *c, LLVMModuleRef m,
    const struct lowered_launch *l);

/* A call; false: the thread waits for others. */
bool lowered_call(struct low_run *r, struct low_thread *t,
    const struct low_step *s);
/* What lanes that have all come to one call get of each other. */
void lowered_meet(struct low_run *r, struct low_thread *lanes,
    const struct low_step *s);
void lowered_fault(struct low_run *r, const struct low_step *s,
    const char *what);
/* The memory of so many bytes at an address; NULL: a fault. */
char *lowered_memory(struct low_run *r, const struct low_step *s,
    uint64_t address, size_t bytes);

static inline uint64_t
low_cut(uint64_t bits, unsigned width)
{
	return width >= 64 ? bits : bits & (((uint64_t)1 << width) - 1);
}

static inline int64_t
low_signed(uint64_t bits, unsigned width)
{
	return width >= 64 ? (int64_t)bits :
	    (int64_t)(bits << (64 - width)) >> (64 - width);
}

#endif
