/*
 * Generating in a program of its own (worker.c).
 */
#ifndef CJ_WORKER_H
#define CJ_WORKER_H

#include "runtime.h"

/* False: the context names none, it cannot be started, or it cannot do this;
 * leaves if it fails or time is over. */
bool cj_worker_generate(struct cj_work *f, const struct cj_module *ir,
    const struct cj_codegen_options *o, struct cj_codegen_result *out);

#endif
