/*
 * cutec bench: time the kernels that the benches of files name.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cutec.h"

struct bench {
	const struct common *c;
	const char *file;
	bool has_title;
	size_t count;
	size_t failed;
	json_t *list;			/* NULL: not wanted */
};

static void
show_title(struct bench *b)
{
	if (b->has_title)
		return;
	b->has_title = true;
	printf("%-44s %-12s %10s %21s %9s %8s\n", "bench", "kernel",
	    "median ms", "min ... max ms", "GB/s", "TFLOP/s");
}

static void
append_json(struct bench *b, const cutejit_bench_result *r)
{
	json_array_append_new(b->list, json_pack(
	    "{s:s, s:s, s:s, s:i, s:s, s:f, s:f, s:f, s:i, s:f, s:f}", "file",
	    b->file, "name", r->name, "kernel", r->kernel, "member",
	    (int)r->member, "device", r->device == CUTEJIT_DEVICE_GPU ?
	    "gpu" : "cpu", "ms_median", r->ms_median, "ms_min", r->ms_min,
	    "ms_max", r->ms_max, "samples", (int)r->samples, "gb_per_s",
	    r->gb_per_s, "tflop_per_s", r->tflop_per_s));
}

static int
show(void *user, const cutejit_bench_result *r)
{
	struct bench *b = user;
	char kernel[80], spread[48];

	b->count++;
	show_report(r->report, b->c->form);
	if (r->outcome != CUTEJIT_PASSED) {
		b->failed += r->outcome == CUTEJIT_FAILED;
		printf("%s: %s\n", r->name, r->text);
		return 0;
	}
	show_title(b);
	snprintf(kernel, sizeof kernel, "%s[%u]", r->kernel, r->member);
	snprintf(spread, sizeof spread, "%.4f ... %.4f", r->ms_min, r->ms_max);
	printf("%-44s %-12s %10.4f %21s %9.0f %8.1f\n", r->name, kernel,
	    r->ms_median, spread, r->gb_per_s, r->tflop_per_s);
	fflush(stdout);
	if (b->list != NULL)
		append_json(b, r);
	return 0;
}

static int
run_module(const struct common *c, cutejit_context *context,
    cutejit_module *m, const char *path, void *user)
{
	struct bench *b = user;
	const cutejit_test *test;
	bool is_any = false;
	int code, worst = 0;
	size_t i;

	b->file = path;
	for (i = 0; (test = cutejit_module_test(m, i)) != NULL; i++) {
		if (!test->is_bench)
			continue;
		is_any = true;
		/* each result has shown its own report */
		code = (int)cutejit_bench_run(m, i, &c->run, show, b);
		if (code != 0)
			worst = common_status(c, context,
			    (cutejit_status)code);
	}
	if (!is_any)
		printf("%s: there is no \"bench\" in it\n", path);
	return worst;
}

int
cmd_bench(int argc, char **argv)
{
	const char *json = NULL;
	struct bench b = { 0 };
	struct common c;
	int o, code;

	common_init(&c, "bench");
	while ((o = option_next("bench", argc, argv)) != -1) {
		if (o == OPT_JSON) {
			json = optarg;
			continue;
		}
		code = common_take(&c, o, optarg);
		if (code != 0)
			return code < 0 ? 0 : code;
	}
	if (optind == argc)
		return usage_error("bench", "a file is needed");
	b.c = &c;
	b.list = json != NULL ? json_array() : NULL;
	code = common_modules(&c, argv + optind, argc - optind, run_module,
	    &b);
	if (b.count == 0)
		code = common_found(&c, "bench", code);
	if (code == 0 && b.failed != 0)
		code = CUTEJIT_ERROR;
	if (json != NULL && !write_json(json, "benches", b.list))
		code = code != 0 ? code : CUTEJIT_MISSING;
	json_decref(b.list);
	return code;
}
