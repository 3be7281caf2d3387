/*
 * Tests: every combination on every device that is meant, one result each.
 */
#include "testing.h"

struct asked {
	struct cutejit_module *module;
	const cutejit_run_options *given;
	cutejit_run_options options;
	bool use[2];			/* executor, GPU */
	bool auto_means_both;
};

static cutejit_status
ask(struct cj_work *f, void *arguments)
{
	struct asked *a = arguments;

	if (!cj_run_options_read(a->given, &a->options))
		return cj_fail(f, CUTEJIT_USAGE, CJ_DIAG_USAGE,
		    "the options of the run have a wrong size or value");
	return cj_run_devices(f, &a->options, a->auto_means_both, a->use);
}

static int
tell(struct cj_testing *t, cutejit_status status, cutejit_test_fn *each,
    void *user)
{
	cutejit_test_result r = {
		.name = t->name,
		.device = t->on_gpu ? CUTEJIT_DEVICE_GPU
		    : CUTEJIT_DEVICE_CPU,
		.outcome = t->outcome, .text = t->text,
		.report = cutejit_context_report(t->module->context),
		.status = status, .ms = t->ms,
	};

	if (t->outcome == CUTEJIT_FAILED && status == CUTEJIT_OK)
		r.status = CUTEJIT_ERROR;
	return t->is_filtered ? 0 : each(user, &r);
}

/* The device is the outer loop, so that a GPU's clocks and caches are met by
 * tests that follow one another. */
static void
run_all(struct asked *a, uint32_t index, cutejit_test_fn *each, void *user)
{
	struct cj_testing t;
	int device, stop = 0;
	uint32_t i;

	cj_testing_init(&t, a->module, index, &a->options);
	for (device = 0; device < 2; device++) {
		t.count = 1;
		for (i = 0; a->use[device] && i < t.count && stop == 0; i++) {
			cutejit_status status = cj_testing_run(&t, i,
			    device == 1);

			stop = tell(&t, status, each, user);
		}
	}
	cj_testing_fini(&t);
}

cutejit_status
cutejit_test_run(cutejit_module *module, size_t index,
    const cutejit_run_options *options, cutejit_test_fn *each, void *user)
{
	struct asked a = { .module = module, .given = options,
	    .auto_means_both = true };
	cutejit_status status;

	if (!cj_is(module, CJ_MODULE))
		return cj_handle_refuse(module);
	if (each == NULL || index >= module->test_count
	    || module->tests[index].is_bench)
		return cj_handle_misuse(module,
		    "the index is too large, or a function is NULL");
	status = cj_enter(module->context, ask, &a);
	if (status == CUTEJIT_OK)
		run_all(&a, (uint32_t)index, each, user);
	return status;
}
