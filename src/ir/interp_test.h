/*
 * Inside of the executor: what a run of a test function holds.
 */
#ifndef CJ_INTERP_TEST_H
#define CJ_INTERP_TEST_H

#include "interp_priv.h"

enum cj_touched { CJ_TOUCHED_NOT, CJ_TOUCHED_READ, CJ_TOUCHED_WRITE };

struct cj_test_run {
	const struct cj_test_hooks *hooks;
	const struct cj_run_options *options;
	struct cj_test_outcome *out;
	unsigned char *touched;		/* by object, since the last call */
};

/* The run, or a fault of ours: the operation stands in no test. */
struct cj_test_run *cj_test_of(struct cj_frame *f);

#endif
