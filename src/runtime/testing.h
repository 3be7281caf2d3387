/*
 * Tests and benches as runs: what tests.c and bench.c share (testing.c).
 */
#ifndef CJ_TESTING_H
#define CJ_TESTING_H

#include "buffer.h"
#include "select.h"

struct cj_testing;

/* A `time` that was reached: arguments ready, plan made. False: stop. */
typedef bool cj_time_fn(struct cj_testing *t, const struct cj_call *record,
    struct cj_selected *s, const struct cj_arguments *args, double bytes,
    double flops);

/* A `time` that a search tries its candidates on instead. */
typedef cutejit_status cj_search_fn(struct cj_testing *t,
    const struct cj_call *record, const struct cj_arguments *args,
    const struct cj_request *q);

/* One combination of a test or bench on one device. */
struct cj_testing {
	struct cutejit_module *module;
	uint32_t index;			/* among the module's tests */
	uint32_t combination;
	bool on_gpu;
	cutejit_run_options options;
	cj_time_fn *time;		/* of a bench */
	bool uses_tuned;		/* what a search has found */
	cj_search_fn *search;
	void *user;
	/* results; texts on `arena` */
	struct cj_arena arena;
	uint32_t count;			/* of combinations */
	uint32_t launches;		/* digested so far */
	const char *name, *text;
	cutejit_outcome outcome;
	bool is_filtered;		/* the name does not match */
	double ms;
	/* while it runs */
	struct cj_work *work;
	struct cj_gpu gpu;
	struct cj_blocks blocks;
	struct cj_cpu_run cpu;
	const char *skipped;		/* why it cannot run here, or NULL */
};

void cj_testing_init(struct cj_testing *t, struct cutejit_module *m,
    uint32_t index, const cutejit_run_options *o);
void cj_testing_fini(struct cj_testing *t);
/* Run one combination. Not CUTEJIT_OK: it has failed, the thread's report says
 * why. Sets `count`. */
cutejit_status cj_testing_run(struct cj_testing *t, uint32_t combination,
    bool on_gpu);

/* Run a plan on the device of the test, and wait. */
cutejit_status cj_testing_launch(struct cj_testing *t, struct cj_selected *s,
    const struct cj_arguments *args);

/* The median time of a plan on the test's GPU, from batches of `total_ms`
 * together. False: a message says why not. */
bool cj_time_on_gpu(struct cj_testing *t, struct cj_selected *s,
    const struct cj_arguments *args, double total_ms,
    cutejit_bench_result *out);

/* A record's arguments as the search for a member begins with. */
void cj_testing_choice(struct cj_work *f, const struct cj_testing *t,
    const struct cj_call *record, struct cj_choice *out);
/* Print a digest of what a launch has written (bits.c). */
cutejit_status cj_testing_digest(struct cj_testing *t,
    const struct cj_module *ir, const struct cj_arguments *args);
/* Print what a launch is given (told.c). */
void cj_testing_tell(struct cj_testing *t, const struct cj_selected *chosen,
    const struct cj_arguments *args);
cutejit_status cj_testing_recipe(struct cj_work *f,
    const struct cj_testing *t, struct cj_recipe *r);

/* Options with defaults; false: wrong. */
bool cj_run_options_read(const cutejit_run_options *given,
    cutejit_run_options *out);
/* Which devices are meant: [0] the executor, [1] a GPU. CUTEJIT_MISSING only
 * if a GPU is asked for that is not there. */
cutejit_status cj_run_devices(struct cj_work *f,
    const cutejit_run_options *o, bool auto_means_both, bool use[2]);

/* The reach of a view from its extents and strides; false: too large. */
bool cj_view_reach(struct cj_view *v);

#endif
