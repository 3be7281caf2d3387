/*
 * Programs of program.h on the executor: elaborated, given memory, run.
 */
#ifndef CJ_FUZZ_PROGRAM_RUN_H
#define CJ_FUZZ_PROGRAM_RUN_H

#include "ir/interp.h"
#include "program.h"

/* By number of the parameter; the inputs hold what the seed says. */
struct program_memory {
	char *at[PROGRAM_PARAMETERS];
	const uint64_t *values;	/* behind a run: what the launch was given */
};
size_t program_bytes(const struct program_parameter *p);
struct program_memory *program_memory_make(struct cj_arena *a,
    const struct program *p);

/* The IR of its one kernel, verified; a text that is refused is a fault. */
struct cj_module *program_elaborate(struct cj_arena *a, struct cj_recover *r,
    const struct program *p);

/* Run the host function and what it launches. NULL, or what went wrong. */
const char *program_run(struct cj_arena *a, const struct cj_module *m,
    const struct program *p, struct program_memory *memory);

/* The first element that is not the same; NULL: all are. */
enum program_nans { PROGRAM_NANS_BY_BITS, PROGRAM_NANS_ALIKE };
const char *program_difference(struct cj_arena *a, const struct program *p,
    const struct program_memory *wanted, const struct program_memory *got,
    enum program_nans nans);

#endif
