/*
 * Calls like one before (quick.c): by what a call looks like, all but addresses
 * and scalars that are only handed on, to a launch that was checked.
 */
#ifndef CJ_QUICK_H
#define CJ_QUICK_H

#include "cutejit.h"
#include "select.h"

struct cj_calling {
	struct cutejit_module *module;
	const char *kernel;
	const cutejit_argument *given;
	size_t count;
	const cutejit_compile_options *options;
	void *stream;
	/* a launch that was tried and failed */
	const struct cj_cuda *cu;
	int error;
};

/* True: the kernel was launched, or c->error says why not. */
bool cj_quick_call(struct cj_calling *c);

/*
 * Make ready to remember a call: its program, plan and shots. `current` is the
 * context that the caller has. NULL where the call depends on more than its
 * looks. Once it went well it is kept, else dropped.
 */
struct cj_quick *cj_quick_make(struct cj_work *f, const struct cj_calling *c,
    const struct cj_gpu *gpu, void *current, const struct cj_selected *s,
    const struct cj_arguments *args);
void cj_quick_keep(const struct cj_calling *c, struct cj_quick *q);
void cj_quick_drop(void *quick);

void cj_quick_fini(struct cutejit_context *c, struct cj_quick_table *t);

/* A workspace for one run, ordered in the stream where the device can. */
int cj_scratch_take(const struct cj_cuda *cu, int ordinal, size_t bytes,
    void *stream, uint64_t *address);
int cj_scratch_give(const struct cj_cuda *cu, int ordinal, void *stream,
    uint64_t address);

#endif
