/*
 * Arguments made ready: copied, checked against a kernel's contract, and for a
 * GPU packed as the driver wants them (ready.c). Immutable but for the slots of
 * its shots; a change that needs more makes another.
 */
#ifndef CJ_READY_H
#define CJ_READY_H

#include "device.h"

struct cj_ready {
	struct cutejit_context *owner;
	struct cj_arena arena;		/* of all that follows */
	cutejit_argument *given;	/* copies, shapes included */
	size_t count;
	uint32_t *parameter;		/* that each given one is for */
	struct cj_arguments args;
	struct cj_plan plan;
	bool on_gpu;
	int ordinal;
	/* GPU */
	const struct cj_cuda *cu;
	void *context;
	struct cj_shots shots;
	struct cj_tensors tensors;
	uintptr_t *address;		/* of each tensor */
	const bool *is_pinned;		/* by parameter: a scalar that counts */
};

/* On CUTEJIT_OK *out is for cj_ready_drop. */
cutejit_status cj_ready_make(struct cj_work *f, struct cutejit_kernel *k,
    const cutejit_argument *given, size_t count, struct cj_ready **out);
void cj_ready_drop(void *ready);	/* NULL may be dropped */

/* By parameter: scalars whose value enters a plan. */
const bool *cj_pinned_scalars(struct cj_arena *a, const struct cj_module *ir,
    const struct cj_arguments *args);

/*
 * Change one argument where that changes nothing but slots. False: it may
 * change more (or be wrong), and nothing was changed.
 */
bool cj_ready_patch(struct cj_ready *r, size_t index,
    const cutejit_argument *to);

#endif
