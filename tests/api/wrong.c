/*
 * Wrong use of every function: handles, texts and places for results that are
 * NULL, indices behind the last, options of wrong sizes and with values that
 * there are not. A getter gives NULL or 0; all others give CUTEJIT_USAGE, set
 * the handle asked for to NULL, and where there is a context, say why. Nothing
 * is launched, and the context serves on.
 *
 * Each call is noted by name, and at the end the names are compared with what
 * the library exports: a new function fails here until it stands in the list.
 */
#include "test.h"

#include <dlfcn.h>
#include <limits.h>

enum { NAMES = 200 };
static const char *names[NAMES];
static int name_count;

static int
note(const char *name)
{
	int i;

	for (i = 0; i < name_count; i++)
		if (strcmp(names[i], name) == 0)
			return 1;
	CHECK(name_count < NAMES);
	names[name_count++] = name;
	return 1;
}

/* A call, noted. */
#define C(function, ...)	(note(#function), function(__VA_ARGS__))
#define C_OF_NOTHING(function)	(note(#function), function())

static void *const poison = (void *)&names;

/* Refused as wrong use; `out` is NULL afterwards. */
#define WRONG(call)	CHECK((call) == CUTEJIT_USAGE)
#define WRONG_OUT(out, call)						\
	do {								\
		*(void **)&(out) = poison;				\
		WRONG(call);						\
		CHECK((void *)(out) == NULL);				\
	} while (0)

static cutejit_context *c;
static cutejit_module *m;
static cutejit_kernel *k;
static cutejit_launch *l;
static cutejit_array *a;

/* ---- nothing where a handle belongs -------------------------------------- */

static void
test_getters(void)
{
	cutejit_tensor none = { 0 };
	char text[8] = "x";
	int64_t index = 0;
	const char *why;

	CHECK(*C_OF_NOTHING(cutejit_version) != '\0');
	CHECK(*C_OF_NOTHING(cutejit_build) != '\0');
	CHECK(*C_OF_NOTHING(cutejit_generator) != '\0');
	CHECK(*C(cutejit_status_text, CUTEJIT_OK) != '\0');
	CHECK(*C(cutejit_status_text, (cutejit_status)12345) != '\0');
	CHECK(C(cutejit_report_count, NULL) == 0);
	CHECK(C(cutejit_report_at, NULL, 0) == NULL);
	CHECK(*C(cutejit_report_text, NULL, 0) == '\0');
	CHECK(C(cutejit_context_report, NULL) == NULL);
	CHECK(C(cutejit_target_at, SIZE_MAX) == NULL);
	CHECK(C(cutejit_code_at, SIZE_MAX) == NULL);
	CHECK(C(cutejit_pass_at, SIZE_MAX) == NULL);
	CHECK(C(cutejit_check_at, SIZE_MAX) == NULL);
	CHECK(C(cutejit_explain, NULL) == NULL);
	CHECK(C(cutejit_explain, "no such code") == NULL);
	CHECK(cutejit_report_count(C(cutejit_module_report, NULL)) == 0);
	CHECK(cutejit_report_count(C(cutejit_kernel_report, NULL)) == 0);
	CHECK(C(cutejit_module_file, NULL, 0) == NULL);
	CHECK(C(cutejit_module_member, NULL, 0) == NULL);
	CHECK(C(cutejit_module_imported, NULL, 0) == NULL);
	CHECK(C(cutejit_module_test, NULL, 0) == NULL);
	CHECK(C(cutejit_module_tune, NULL, 0) == NULL);
	CHECK(C(cutejit_kernel_about, NULL) == NULL);
	CHECK(C(cutejit_kernel_entry, NULL, 0) == NULL);
	CHECK(C(cutejit_kernel_phase, NULL, 0) == NULL);
	CHECK(C(cutejit_launch_nodes, NULL) == 0);
	CHECK(C(cutejit_launch_workspace, NULL) == 0);
	CHECK(C(cutejit_array_tensor, NULL) == NULL);
	CHECK(C(cutejit_type_of, NULL) == NULL);
	CHECK(C(cutejit_type_of, &none) == NULL);
	CHECK(C(cutejit_type_set, NULL, "f16") == 0);
	CHECK(C(cutejit_type_set, &none, NULL) == 0);
	CHECK(C(cutejit_element_text, NULL, &index, text, sizeof text) == 0);
	CHECK(C(cutejit_element_text, &none, &index, text, sizeof text) == 0);
	CHECK(C(cutejit_element_text, &none, NULL, NULL, 0) == 0);
	CHECK(C(cutejit_cache_folder, NULL) == NULL);
	CHECK(C(cutejit_cache_why, NULL) == NULL);
	CHECK(C(cutejit_cache_remote, NULL, &why) == NULL && why == NULL);
	C(cutejit_context_destroy, NULL);
	C(cutejit_module_destroy, NULL);
	C(cutejit_kernel_destroy, NULL);
	C(cutejit_launch_destroy, NULL);
	C(cutejit_array_destroy, NULL);
}

/* Behind the last, of handles that there are. */
static void
test_indices(void)
{
	CHECK(cutejit_module_file(m, SIZE_MAX) == NULL);
	CHECK(cutejit_module_member(m, SIZE_MAX) == NULL);
	CHECK(cutejit_module_imported(m, SIZE_MAX) == NULL);
	CHECK(cutejit_module_test(m, SIZE_MAX) == NULL);
	CHECK(cutejit_module_tune(m, SIZE_MAX) == NULL);
	CHECK(cutejit_kernel_entry(k, SIZE_MAX) == NULL);
	CHECK(cutejit_kernel_phase(k, SIZE_MAX) == NULL);
	CHECK(cutejit_report_at(cutejit_kernel_report(k), SIZE_MAX) == NULL);
}

static int
any(void *user, const void *result)
{
	(void)user, (void)result;
	return 0;
}

/* The functions that are called back, of any type: none of them is. */
#define EACH(type)	((type *)(void (*)(void))any)

static void
test_contexts(void)
{
	cutejit_context *none;
	cutejit_module *module;
	cutejit_array *array;
	cutejit_gpu gpu;
	cutejit_cache_stats stats;
	const char *text;
	uint64_t n;
	int count;

	WRONG(C(cutejit_context_create, NULL, NULL));
	WRONG(C(cutejit_gpu_count, NULL, &count));
	WRONG(C(cutejit_gpu_count, c, NULL));
	WRONG(C(cutejit_gpu_info, NULL, 0, &gpu));
	WRONG(C(cutejit_gpu_info, c, 0, NULL));
	CHECK(cutejit_gpu_info(c, -1, &gpu) == CUTEJIT_MISSING);
	CHECK(cutejit_gpu_info(c, INT_MAX, &gpu) == CUTEJIT_MISSING);
	WRONG_OUT(module, C(cutejit_module_from_file, NULL, "x", &module));
	WRONG_OUT(module, C(cutejit_module_from_file, c, NULL, &module));
	WRONG(C(cutejit_module_from_file, c, "x", NULL));
	WRONG_OUT(module, C(cutejit_module_from_memory, NULL, "x", "", 0,
	    &module));
	WRONG_OUT(module, C(cutejit_module_from_memory, c, NULL, "", 0,
	    &module));
	WRONG_OUT(module, C(cutejit_module_from_memory, c, "x", NULL, 1,
	    &module));
	WRONG(C(cutejit_module_from_memory, c, "x", "", 0, NULL));
	WRONG_OUT(text, C(cutejit_emit_text, NULL, "x", "", 0, "ast", &text));
	WRONG_OUT(text, C(cutejit_emit_text, c, NULL, "", 0, "ast", &text));
	WRONG_OUT(text, C(cutejit_emit_text, c, "x", NULL, 1, "ast", &text));
	WRONG_OUT(text, C(cutejit_emit_text, c, "x", "", 0, NULL, &text));
	WRONG_OUT(text, C(cutejit_emit_text, c, "x", "", 0, "no", &text));
	WRONG(C(cutejit_emit_text, c, "x", "", 0, "ast", NULL));
	WRONG_OUT(text, C(cutejit_evaluate, NULL, NULL, "1", &text));
	WRONG_OUT(text, C(cutejit_evaluate, c, NULL, NULL, &text));
	WRONG(C(cutejit_evaluate, c, NULL, "1", NULL));
	WRONG(C(cutejit_layout_check, NULL, "x", "", 0, &text, &n, &n));
	WRONG(C(cutejit_layout_check, c, NULL, "", 0, &text, &n, &n));
	WRONG(C(cutejit_layout_check, c, "x", NULL, 1, &text, &n, &n));
	WRONG(C(cutejit_layout_check, c, "x", "", 0, NULL, &n, &n));
	WRONG_OUT(array, C(cutejit_array_create, NULL, NULL, "zeros(f32, 1:1)",
	    &array));
	WRONG_OUT(array, C(cutejit_array_create, c, NULL, NULL, &array));
	WRONG(C(cutejit_array_create, c, NULL, "zeros(f32, 1:1)", NULL));
	WRONG(C(cutejit_cache_list, NULL, EACH(cutejit_cache_fn), NULL));
	WRONG(C(cutejit_cache_list, c, NULL, NULL));
	WRONG(C(cutejit_cache_verify, NULL, EACH(cutejit_cache_fn), NULL));
	WRONG(C(cutejit_cache_verify, c, NULL, NULL));
	WRONG(C(cutejit_cache_show, NULL, "0", EACH(cutejit_cache_fn), NULL));
	WRONG(C(cutejit_cache_show, c, NULL, EACH(cutejit_cache_fn), NULL));
	WRONG(C(cutejit_cache_show, c, "0", NULL, NULL));
	WRONG(C(cutejit_cache_stats_get, NULL, &stats));
	WRONG(C(cutejit_cache_stats_get, c, NULL));
	WRONG(C(cutejit_cache_prune, NULL, 0, 0, NULL, NULL));
	WRONG(C(cutejit_tuning_list, NULL, EACH(cutejit_tuning_fn), NULL));
	WRONG(C(cutejit_tuning_list, c, NULL, NULL));
	WRONG(C(cutejit_tuning_export, NULL, "x.cute", &n));
	WRONG(C(cutejit_tuning_export, m, NULL, &n));
	WRONG(C(cutejit_tuning_export, m, "x.cute", NULL));
	WRONG(C(cutejit_doctor, NULL, EACH(cutejit_finding_fn), NULL));
	WRONG(C(cutejit_doctor, c, NULL, NULL));
	(void)none;
}

static void
test_modules(void)
{
	cutejit_kernel *kernel;
	cutejit_argument no_text = cutejit_arg_text("a", NULL);

	WRONG_OUT(kernel, C(cutejit_compile, NULL, "saxpy", NULL, &kernel));
	WRONG_OUT(kernel, C(cutejit_compile, m, NULL, NULL, &kernel));
	WRONG(C(cutejit_compile, m, "saxpy", NULL, NULL));
	WRONG(C(cutejit_call, NULL, "saxpy", NULL, 0, NULL, NULL));
	WRONG(C(cutejit_call, m, NULL, NULL, 0, NULL, NULL));
	WRONG(C(cutejit_call, m, "saxpy", NULL, 1, NULL, NULL));
	CHECK(cutejit_call(m, "saxpy", &no_text, 1, NULL, NULL)
	    != CUTEJIT_OK);
	WRONG(C(cutejit_run, NULL, "saxpy", NULL, 0, NULL, NULL, NULL));
	WRONG(C(cutejit_run, m, NULL, NULL, 0, NULL, NULL, NULL));
	WRONG(C(cutejit_run, m, "saxpy", NULL, 1, NULL, NULL, NULL));
	WRONG(C(cutejit_test_run, NULL, 0, NULL, EACH(cutejit_test_fn),
	    NULL));
	WRONG(C(cutejit_test_run, m, 0, NULL, NULL, NULL));
	WRONG(C(cutejit_test_run, m, SIZE_MAX, NULL, EACH(cutejit_test_fn),
	    NULL));
	WRONG(C(cutejit_bench_run, NULL, 0, NULL, EACH(cutejit_bench_fn),
	    NULL));
	WRONG(C(cutejit_bench_run, m, 0, NULL, NULL, NULL));
	WRONG(C(cutejit_bench_run, m, SIZE_MAX, NULL, EACH(cutejit_bench_fn),
	    NULL));
	WRONG(C(cutejit_tune_run, NULL, 0, NULL, EACH(cutejit_tune_fn),
	    NULL));
	WRONG(C(cutejit_tune_run, m, 0, NULL, NULL, NULL));
	WRONG(C(cutejit_tune_run, m, SIZE_MAX, NULL, EACH(cutejit_tune_fn),
	    NULL));
}

static void
test_launches(void)
{
	cutejit_argument one = cutejit_arg_float("a", 1);
	cutejit_launch *launch;
	const void *bytes;
	size_t length;
	void *node = NULL;

	WRONG_OUT(bytes, C(cutejit_kernel_artifact, NULL, "ptx", &bytes,
	    &length));
	WRONG_OUT(bytes, C(cutejit_kernel_artifact, k, NULL, &bytes,
	    &length));
	WRONG_OUT(bytes, C(cutejit_kernel_artifact, k, "nothing", &bytes,
	    NULL));
	WRONG(C(cutejit_kernel_artifact, k, "ptx", NULL, &length));
	WRONG_OUT(launch, C(cutejit_prepare, NULL, NULL, 0, &launch));
	WRONG_OUT(launch, C(cutejit_prepare, k, NULL, 1, &launch));
	WRONG(C(cutejit_prepare, k, NULL, 0, NULL));
	WRONG(C(cutejit_launch_set, NULL, 0, &one));
	WRONG(C(cutejit_launch_set, l, 0, NULL));
	WRONG(C(cutejit_launch_set, l, SIZE_MAX, &one));
	WRONG(C(cutejit_launch_set_all, NULL, &one));
	WRONG(C(cutejit_launch_set_all, l, NULL));
	WRONG(C(cutejit_launch_set_data, NULL, 1, &one));
	WRONG(C(cutejit_launch_set_data, l, SIZE_MAX, &one));
	WRONG(C(cutejit_launch_set_data, l, 0, &one));	/* a number */
	WRONG(C(cutejit_launch_run, NULL, NULL));
	WRONG(C(cutejit_launch_graph_add, NULL, &one, NULL, 0, &node));
	WRONG(C(cutejit_launch_graph_add, l, NULL, NULL, 0, &node));
	WRONG(C(cutejit_launch_graph_add, l, &one, NULL, 1, &node));
	WRONG(C(cutejit_launch_graph_add, l, &one, NULL, 0, NULL));
	WRONG(C(cutejit_launch_graph_update, NULL, &one, &node, 1));
	WRONG(C(cutejit_launch_graph_update, l, NULL, &node, 1));
	WRONG(C(cutejit_launch_graph_update, l, &one, NULL, 1));
	WRONG(C(cutejit_launch_workspace_set, NULL, &one, 1));
}

/* ---- options ------------------------------------------------------------- */

/* A call that takes options of these bytes, the first eight being a size. */
struct taker {
	size_t size;
	cutejit_status (*call)(const void *options);
};

static cutejit_status
take_context(const void *options)
{
	cutejit_context *other = poison;
	cutejit_status status = cutejit_context_create(options, &other);

	CHECK((status == CUTEJIT_OK) == (other != NULL));
	cutejit_context_destroy(other);
	return status;
}

static cutejit_status
take_compile(const void *options)
{
	cutejit_kernel *other = poison;
	cutejit_status status = cutejit_compile(m, "saxpy", options, &other);

	CHECK((status == CUTEJIT_OK) == (other != NULL));
	cutejit_kernel_destroy(other);
	return status;
}

static const cutejit_argument *arguments(void);

static cutejit_status
take_call(const void *options)
{
	return cutejit_call(m, "saxpy", arguments(), 3, options, NULL);
}

static cutejit_status
take_compile_of_run(const void *options)
{
	return cutejit_run(m, "saxpy", arguments(), 3, options, NULL, NULL);
}

static cutejit_status
take_run(const void *options)
{
	return cutejit_run(m, "saxpy", arguments(), 3, NULL, options, NULL);
}

static cutejit_status
take_test(const void *options)
{
	return cutejit_test_run(m, 0, options, EACH(cutejit_test_fn), NULL);
}

static cutejit_status
take_bench(const void *options)
{
	return cutejit_bench_run(m, 1, options, EACH(cutejit_bench_fn), NULL);
}

static cutejit_status
take_tune(const void *options)
{
	return cutejit_tune_run(m, 0, options, EACH(cutejit_tune_fn), NULL);
}

static const struct taker takers[] = {
	{ sizeof(cutejit_options), take_context },
	{ sizeof(cutejit_compile_options), take_compile },
	{ sizeof(cutejit_compile_options), take_call },
	{ sizeof(cutejit_compile_options), take_compile_of_run },
	{ sizeof(cutejit_run_options), take_run },
	{ sizeof(cutejit_run_options), take_test },
	{ sizeof(cutejit_run_options), take_bench },
	{ sizeof(cutejit_tune_options), take_tune }
};

/* Sizes of no header, and a member that this library does not know. Those of
 * an earlier header, of a later one with nothing set, and zeros are right. */
static void
test_sizes(const struct taker *t)
{
	static union {
		size_t size;
		unsigned char bytes[4096];
	} o;
	static const size_t bad[] = { 0, 1, 3, 7, SIZE_MAX, SIZE_MAX / 2,
	    (size_t)1 << 40 };
	cutejit_status usual;
	size_t i;

	CHECK(t->size + 64 <= sizeof o);
	memset(&o, 0, sizeof o);
	for (i = 0; i < sizeof bad / sizeof *bad; i++) {
		o.size = bad[i];
		WRONG(t->call(&o));
	}
	o.size = t->size;
	usual = t->call(&o);
	CHECK(usual == CUTEJIT_OK || usual == CUTEJIT_MISSING);
	o.size = sizeof(size_t);
	CHECK(t->call(&o) == usual);
	for (i = 1; i <= 64; i++) {
		o.size = t->size + i;
		CHECK(t->call(&o) == usual);
		o.bytes[t->size + i - 1] = 1;
		WRONG(t->call(&o));
		o.bytes[t->size + i - 1] = 0;
	}
}

/* Values that an enumeration does not have. */
static void
test_values(void)
{
	cutejit_options o = CUTEJIT_OPTIONS_INIT;
	cutejit_compile_options co = CUTEJIT_COMPILE_OPTIONS_INIT;
	cutejit_run_options ro = CUTEJIT_RUN_OPTIONS_INIT;
	cutejit_tune_options to = CUTEJIT_TUNE_OPTIONS_INIT;
	static const char *const unknown[] = { "no-such-warning" };
	static const char *const hole[] = { NULL };
	cutejit_argument odd = cutejit_arg_float("a", 1);
	int i;

	for (i = 0; i < 8; i++) {
		o = (cutejit_options)CUTEJIT_OPTIONS_INIT;
		switch (i) {
		case 0: o.cache = (cutejit_cache_mode)99; break;
		case 1: o.include_count = 1; break;
		case 2: o.warning_count = 1; break;
		case 3: o.warnings = unknown; o.warning_count = 1; break;
		case 4: o.warnings = hole; o.warning_count = 1; break;
		case 5:
			o.include_folders = hole;
			o.include_count = 1;
			break;
		case 6: o.allocate = (void *(*)(void *, size_t))(void (*)
		    (void))any; break;
		case 7: o.cache = (cutejit_cache_mode)-1; break;
		}
		WRONG(take_context(&o));
	}
	for (i = 0; i < 7; i++) {
		co = (cutejit_compile_options)CUTEJIT_COMPILE_OPTIONS_INIT;
		switch (i) {
		case 0: co.until = (cutejit_until)99; break;
		case 1: co.level = (cutejit_level)99; break;
		case 2: co.constant_count = 1; break;
		case 3: co.argument_count = 1; break;
		case 4: co.ptx = -1; break;
		case 5: co.until = (cutejit_until)-1; break;
		case 6: co.level = (cutejit_level)-1; break;
		}
		REFUSED(c, CUTEJIT_USAGE, "usage", take_compile(&co));
	}
	co = (cutejit_compile_options)CUTEJIT_COMPILE_OPTIONS_INIT;
	for (i = 0; i < 3; i++) {
		co.member = i == 0 ? 2 : i == 1 ? INT_MAX : UINT_MAX;
		REFUSED(c, CUTEJIT_ERROR, "unknown-kernel",
		    take_compile(&co));
	}
	for (i = 0; i < 6; i++) {
		ro = (cutejit_run_options)CUTEJIT_RUN_OPTIONS_INIT;
		switch (i) {
		case 0: ro.device = (cutejit_device)99; break;
		case 1: ro.level = (cutejit_level)99; break;
		case 2: ro.checks = 1u << 30; break;
		case 3: ro.profile = (cutejit_profile)99; break;
		case 4: ro.device = (cutejit_device)-1; break;
		case 5: ro.profile = CUTEJIT_PROFILE_JSON; break;
		}
		REFUSED(c, CUTEJIT_USAGE, "usage", take_run(&ro));
	}
	to.level = (cutejit_level)99;
	WRONG(take_tune(&to));
	odd.kind = (cutejit_argument_kind)99;
	REFUSED(c, CUTEJIT_ERROR, "wrong-argument", cutejit_call(m, "saxpy",
	    &odd, 1, NULL, NULL));
}

/* ---- all of them --------------------------------------------------------- */

/* What nm says that the library exports. */
static void
test_names(void)
{
	char command[PATH_MAX + 64], name[256];
	int count = 0;
	Dl_info info;
	FILE *list;

	note("cutejit_worker");		/* reads standard input: worker.c */
	CHECK(dladdr((void *)(uintptr_t)cutejit_version, &info) != 0);
	snprintf(command, sizeof command, "nm -D --defined-only '%s' | sed -n "
	    "'s/^.* T \\(cutejit_[a-z0-9_]*\\).*$/\\1/p'", info.dli_fname);
	list = popen(command, "r");
	CHECK(list != NULL);
	while (fgets(name, sizeof name, list) != NULL) {
		int before = name_count;
		char *copy = strdup(name);

		CHECK(copy != NULL);
		copy[strcspn(copy, "\n")] = '\0';
		note(copy);
		if (name_count != before) {
			fprintf(stderr, "%s is not tried here\n", copy);
			exit(1);
		}
		free(copy);
		count++;
	}
	if (pclose(list) != 0 || count == 0)
		printf("skipped: no nm to list the functions\n");
	else
		CHECK(count == name_count);
}

/* ---- what all of this leaves --------------------------------------------- */

static float x[8], y[8];
static struct vector vx, vy;
static cutejit_argument args[3];

static const cutejit_argument *
arguments(void)
{
	args[0] = cutejit_arg_float("a", 2);
	args[1] = cutejit_arg_tensor("x", vector_set(&vx, x, 8,
	    CUTEJIT_DL_CPU));
	args[2] = cutejit_arg_tensor("y", vector_set(&vy, y, 8,
	    CUTEJIT_DL_CPU));
	return args;
}

static void
test_serves_on(void)
{
	int i;

	for (i = 0; i < 8; i++)
		x[i] = (float)i, y[i] = 1;
	DO(c, cutejit_launch_run(l, NULL));
	DO(c, cutejit_call(m, "saxpy", arguments(), 3, NULL, NULL));
	for (i = 0; i < 8; i++)
		CHECK(y[i] == 1 + 4 * (float)i);
}

static const char more[] =
    "test \"runs\" { let x = zeros(f32, 8:1); let y = zeros(f32, 8:1);\n"
    "    launch saxpy(1, x, y); expect(y == 0); }\n"
    "bench \"runs\" { let x = zeros(f32, 8:1); let y = zeros(f32, 8:1);\n"
    "    time saxpy(1, x, y) bytes(96); }\n"
    "kernel tuned(const n = 1, y: tensor(f32, N:1))\n"
    "{ launch grid(1) block(n) { y[0] = 0.0; } }\n"
    "tune tuned over n in {1, 2};\n";

/* Each says what is wrong with it, and nothing of the call before. */
static void
test_reasons(void)
{
	static const char two[] = "kernel k(x: tensor(f32, N)) { "
	    "launch grid(1) block(1) { x[0] = 1; } }";
	cutejit_compile_options o = CUTEJIT_COMPILE_OPTIONS_INIT;
	cutejit_context *ctx = test_context();
	cutejit_module *mod = test_module(ctx, two);
	cutejit_module *none;
	cutejit_kernel *ker;
	const void *bytes;
	const char *value;
	size_t length;

	o.until = CUTEJIT_UNTIL_IR;
	CHECK(cutejit_compile(mod, "k", &o, &ker) == CUTEJIT_OK);
	REFUSED(ctx, CUTEJIT_ERROR, "unknown-kernel", cutejit_call(mod, "none",
	    NULL, 0, NULL, NULL));
	REFUSED(ctx, CUTEJIT_USAGE, "usage", cutejit_call(mod, NULL, NULL, 0,
	    NULL, NULL));
	REFUSED(ctx, CUTEJIT_ERROR, "unknown-kernel", cutejit_call(mod, "none",
	    NULL, 0, NULL, NULL));
	REFUSED(ctx, CUTEJIT_USAGE, "usage", cutejit_compile(mod, "k", &o,
	    NULL));
	REFUSED(ctx, CUTEJIT_ERROR, "syntax", cutejit_evaluate(ctx, mod, "1 +",
	    &value));
	REFUSED(ctx, CUTEJIT_USAGE, "usage", cutejit_evaluate(ctx, mod, NULL,
	    &value));
	REFUSED(ctx, CUTEJIT_ERROR, "syntax", cutejit_evaluate(ctx, mod, "1 +",
	    &value));
	REFUSED(ctx, CUTEJIT_USAGE, "usage", cutejit_module_from_memory(ctx,
	    NULL, two, 1, &none));
	REFUSED(ctx, CUTEJIT_ERROR, "syntax", cutejit_evaluate(ctx, mod, "1 +",
	    &value));
	REFUSED(ctx, CUTEJIT_USAGE, "usage", cutejit_kernel_artifact(ker, NULL,
	    &bytes, &length));
	cutejit_kernel_destroy(ker);
	cutejit_module_destroy(mod);
	cutejit_context_destroy(ctx);
}

int
main(void)
{
	char text[sizeof saxpy_text + sizeof more];
	cutejit_options o = CUTEJIT_OPTIONS_INIT;
	size_t i;

	setenv("CUTEJIT_LIBCUDA", "/nonexistent/libcuda.so.1", 1);
	setenv("CUTEJIT_ASSEMBLER", "driver", 1);
	o.cache = CUTEJIT_CACHE_MEMORY;
	CHECK(cutejit_context_create(&o, &c) == CUTEJIT_OK);
	snprintf(text, sizeof text, "%s%s", saxpy_text, more);
	DO(c, cutejit_module_from_memory(c, "t.cute", text, strlen(text),
	    &m));
	DO(c, cutejit_compile(m, "saxpy", NULL, &k));
	DO(c, cutejit_prepare(k, arguments(), 3, &l));
	DO(c, cutejit_array_create(c, NULL, "zeros(f32, 1:1)", &a));
	test_getters();
	test_indices();
	test_contexts();
	test_modules();
	test_launches();
	for (i = 0; i < sizeof takers / sizeof *takers; i++)
		test_sizes(&takers[i]);
	test_values();
	test_serves_on();
	test_names();
	cutejit_array_destroy(a);
	cutejit_launch_destroy(l);
	cutejit_kernel_destroy(k);
	cutejit_module_destroy(m);
	cutejit_context_destroy(c);
	test_reasons();
	return 0;
}
