/*
 * Programs of the language, made of bytes: a kernel whose threads compute with
 * numbers of all kinds and write what they get. Any bytes make a right program,
 * which ends, leaves no bounds and has no race, so that whatever changes what
 * it writes is a fault.
 *
 * One program has two texts: the numbers in it are known, or they are given as
 * parameters. Both write the same.
 */
#ifndef CJ_FUZZ_PROGRAM_H
#define CJ_FUZZ_PROGRAM_H

#include "ir/elab.h"

/* Each thread has OWN elements of each tensor that is written. */
enum { PROGRAM_BLOCKS = 2, PROGRAM_OWN = 8, PROGRAM_INPUTS = 256,
    PROGRAM_PARAMETERS = 64 };

enum program_numbers { PROGRAM_KNOWN, PROGRAM_GIVEN };

enum program_role {
	PROGRAM_SCALAR,
	PROGRAM_INPUT,		/* read by all */
	PROGRAM_OUTPUT,		/* OWN elements of each thread */
	PROGRAM_COUNTERS	/* changed by atomic operations of all */
};

struct program_parameter {
	enum program_role role;
	enum cj_kind kind;
	uint64_t bits;		/* of a scalar */
	int64_t extent;		/* of a tensor */
	bool is_bounded;	/* the contract says within what */
};

struct program {
	const char *text;
	struct program_parameter parameters[PROGRAM_PARAMETERS];
	uint32_t count;
	uint64_t seed;		/* of what the inputs hold */
};

void program_make(struct cj_arena *a, const uint8_t *data, size_t size,
    enum program_numbers numbers, struct program *out);

/* A number of a kind: often one at an edge of it. NaNs are canonical. */
uint64_t program_value(enum cj_kind k, uint64_t random);

#endif
