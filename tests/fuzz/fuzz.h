/*
 * What fuzzers have in common.
 */
#ifndef CJ_FUZZ_H
#define CJ_FUZZ_H

#include "ir/elab.h"

/* Loaded once; never written after that. */
const struct cj_prelude *fuzz_prelude(void);

/* Call `run` with an arena of at most `limit` bytes. That memory ends is right;
 * a fault of ours is told and traps. 0, for LLVMFuzzerTestOneInput. */
int fuzz_run(void (*run)(struct cj_arena *a, struct cj_recover *r,
    const uint8_t *data, size_t size), size_t limit, const uint8_t *data,
    size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
