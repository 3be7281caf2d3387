/*
 * The library as a guest: texts from memory, reflection, compiling, artifacts,
 * calls on arrays of the host, messages as structures.
 */
#include "test.h"

static const char library_text[] =
    "fn twice(x) => 2 * x;\n"
    "kernel fill(const v: int in {3, 4} = 3, x: tensor(f32, N:1))\n"
    "{ launch grid(1) block(1) { for i in 0..N { x[i] = f32(v); } } }\n";

static const char main_text[] =
    "import \"lib/twice.cute\";\n"
    "const K = 3;\n"
    "kernel scale(const T: type in {f16, f32} = f32,\n"
    "             x: tensor(T, N:1), y: tensor(T, N:1), s: f32 = 1)\n"
    "{\n"
    "    launch grid(ceil_div(N, 128)) block(128)\n"
    "    {\n"
    "        let i = block_idx.x * 128 + thread_idx.x;\n"
    "        if i < N { y[i] = T(s * f32(twice(x[i]))); }\n"
    "    }\n"
    "}\n"
    "test \"scale\" over n in {1, 100} {\n"
    "    let x = normal(f32, n:1, seed = 1);\n"
    "    let y = empty(f32, n:1);\n"
    "    launch scale(x, y, 2);\n"
    "    expect(y == 4 * x);\n"
    "}\n"
    "test \"wrong\" {\n"
    "    let x = normal(f32, 8:1, seed = 1);\n"
    "    expect(x == x + 1);\n"
    "}\n"
    "bench \"scale\" {\n"
    "    let x = normal(f32, 256:1, seed = 1);\n"
    "    let y = empty(f32, 256:1);\n"
    "    time scale(x, y) bytes(2048);\n"
    "}\n";

static int
find_text(void *user, const char *from, const char *path, const char **name,
    const char **text, size_t *length)
{
	int *asked = user;

	(*asked)++;
	CHECK(strcmp(from, "main.cute") == 0);
	if (strcmp(path, "lib/twice.cute") != 0)
		return 0;
	*name = path;
	*text = library_text;
	*length = strlen(library_text);
	return 1;
}

static void
reflect(const cutejit_module *m)
{
	const cutejit_member *k = cutejit_module_member(m, 0);
	const cutejit_test *t;

	CHECK(k != NULL && cutejit_module_member(m, 1) == NULL);
	CHECK(strcmp(k->kernel, "scale") == 0 && k->member == 0);
	CHECK(k->place.line == 3 && strcmp(k->place.file, "main.cute") == 0);
	CHECK(k->parameter_count == 4);
	CHECK(k->parameters[0].kind == CUTEJIT_PARAMETER_CONST);
	CHECK(k->parameters[0].has_default);
	CHECK(k->parameters[1].kind == CUTEJIT_PARAMETER_TENSOR);
	CHECK(strcmp(k->parameters[1].name, "x") == 0);
	CHECK(!k->parameters[1].has_default);
	CHECK(k->parameters[3].kind == CUTEJIT_PARAMETER_SCALAR);
	CHECK(strcmp(k->parameters[3].scalar, "f32") == 0);
	t = cutejit_module_test(m, 0);
	CHECK(t != NULL && strcmp(t->name, "scale") == 0 && !t->is_bench);
	t = cutejit_module_test(m, 2);
	CHECK(t != NULL && t->is_bench);
	CHECK(cutejit_module_test(m, 3) == NULL);
	CHECK(strcmp(cutejit_module_file(m, 0), "main.cute") == 0
	    || strcmp(cutejit_module_file(m, 1), "main.cute") == 0);
	CHECK(cutejit_module_file(m, 2) == NULL);
}

/* Kernels of an import go by the name that the text has for them. */
static void
imported(cutejit_context *c, cutejit_module *m, const char *name)
{
	const cutejit_member *k = cutejit_module_imported(m, 0);
	const cutejit_constant four[] = { { "v", "4" } };
	cutejit_compile_options o = CUTEJIT_COMPILE_OPTIONS_INIT;
	cutejit_argument args[1];
	cutejit_kernel *kernel;
	struct vector vx;
	float x[5] = { 0 };

	CHECK(k != NULL && cutejit_module_imported(m, 1) == NULL);
	CHECK(strcmp(k->kernel, name) == 0 && k->member == 0);
	CHECK(strcmp(k->place.file, "lib/twice.cute") == 0);
	CHECK(k->place.line == 2 && k->parameter_count == 2);
	CHECK(k->parameters[0].has_default);
	args[0] = cutejit_arg_tensor("x", vector_set(&vx, x, 5,
	    CUTEJIT_DL_CPU));
	DO(c, cutejit_call(m, name, args, 1, NULL, NULL));
	CHECK(x[0] == 3 && x[4] == 3);
	o.constants = four;
	o.constant_count = 1;
	DO(c, cutejit_call(m, name, args, 1, &o, NULL));
	CHECK(x[0] == 4 && x[4] == 4);
	o.until = CUTEJIT_UNTIL_PTX;
	DO(c, cutejit_compile(m, name, &o, &kernel));
	CHECK(strcmp(cutejit_kernel_about(kernel)->kernel, name) == 0);
	CHECK(strcmp(cutejit_kernel_entry(kernel, 0)->name, "fill") == 0);
	cutejit_kernel_destroy(kernel);
}

static void
imported_as(cutejit_context *c)
{
	static const char text[] = "import \"lib/twice.cute\" as lib;\n";
	cutejit_module *m;

	DO(c, cutejit_module_from_memory(c, "main.cute", text, strlen(text),
	    &m));
	CHECK(cutejit_module_member(m, 0) == NULL);
	imported(c, m, "lib.fill");
	cutejit_module_destroy(m);
}

static void
artifacts(cutejit_context *c, cutejit_module *m)
{
	static const char *const kinds[] = { "ir", "ir:start", "host", "llvm",
	    "ptx" };
	cutejit_compile_options o = CUTEJIT_COMPILE_OPTIONS_INIT;
	const cutejit_constant consts[] = { { "T", "f16" } };
	const void *bytes, *again;
	cutejit_kernel *k;
	size_t length, i;

	o.target = "sm_80";
	o.until = CUTEJIT_UNTIL_PTX;
	o.constants = consts;
	o.constant_count = 1;
	DO(c, cutejit_compile(m, "scale", &o, &k));
	CHECK(strcmp(cutejit_kernel_about(k)->target, "sm_80") == 0);
	CHECK(strstr(cutejit_kernel_about(k)->binding, "T=f16") != NULL);
	CHECK(cutejit_kernel_entry(k, 0) != NULL);
	CHECK(strcmp(cutejit_kernel_entry(k, 0)->name, "scale") == 0);
	CHECK(cutejit_kernel_entry(k, 1) == NULL);
	CHECK(cutejit_kernel_phase(k, 0) != NULL);
	for (i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		DO(c, cutejit_kernel_artifact(k, kinds[i], &bytes, &length));
		CHECK(length > 20 && strlen(bytes) == length);
		DO(c, cutejit_kernel_artifact(k, kinds[i], &again, NULL));
		CHECK(bytes == again);
	}
	CHECK(strstr(bytes, ".target sm_80") != NULL);
	REFUSED(c, CUTEJIT_USAGE, "usage", cutejit_kernel_artifact(k,
	    "nonsense", &bytes, NULL));
	REFUSED(c, CUTEJIT_USAGE, "usage", cutejit_kernel_artifact(k,
	    "ir:nonsense", &bytes, NULL));
	cutejit_kernel_destroy(k);
	o.target = "sm_1";
	REFUSED(c, CUTEJIT_ERROR, "unknown-target", cutejit_compile(m,
	    "scale", &o, &k));
	CHECK(k == NULL);
	REFUSED(c, CUTEJIT_ERROR, "unknown-kernel", cutejit_compile(m,
	    "scal", NULL, &k));
	CHECK(strstr(cutejit_report_text(cutejit_context_report(c), 0),
	    "scale") != NULL);
}

static void
call(cutejit_context *c, cutejit_module *m)
{
	float x[300], y[300];
	struct vector vx, vy;
	cutejit_argument args[3];
	int i;

	for (i = 0; i < 300; i++)
		x[i] = (float)i;
	args[0] = cutejit_arg_tensor("x", vector_set(&vx, x, 300,
	    CUTEJIT_DL_CPU));
	args[1] = cutejit_arg_tensor(NULL, vector_set(&vy, y, 300,
	    CUTEJIT_DL_CPU));
	args[2] = cutejit_arg_float("s", 0.5);
	DO(c, cutejit_call(m, "scale", args, 3, NULL, NULL));
	for (i = 0; i < 300; i++)
		CHECK(y[i] == x[i]);
	DO(c, cutejit_call(m, "scale", args, 2, NULL, NULL));
	CHECK(y[7] == 14);
}

/* Each wrong argument is named, and nothing is written. */
static void
wrong_arguments(cutejit_context *c, cutejit_module *m)
{
	float x[64], y[64] = { 0 };
	int64_t zero[1] = { 0 };
	struct vector vx, vy;
	cutejit_argument args[4];
	const char *text;

	memset(x, 0, sizeof x);
	args[0] = cutejit_arg_tensor("x", vector_set(&vx, x, 64,
	    CUTEJIT_DL_CPU));
	args[1] = cutejit_arg_tensor("y", vector_set(&vy, y, 64,
	    CUTEJIT_DL_CPU));
	REFUSED(c, CUTEJIT_ERROR, "wrong-argument", cutejit_call(m, "scale",
	    args, 1, NULL, NULL));
	args[2] = cutejit_arg_tensor("y", &vy.tensor);
	REFUSED(c, CUTEJIT_ERROR, "wrong-argument", cutejit_call(m, "scale",
	    args, 3, NULL, NULL));
	args[2] = cutejit_arg_float("z", 1);
	REFUSED(c, CUTEJIT_ERROR, "unknown-argument", cutejit_call(m,
	    "scale", args, 3, NULL, NULL));
	args[2] = cutejit_arg_text("T", "f16");
	REFUSED(c, CUTEJIT_ERROR, "unknown-argument", cutejit_call(m,
	    "scale", args, 3, NULL, NULL));
	text = cutejit_report_text(cutejit_context_report(c), 0);
	CHECK(strstr(text, "one of the constants") != NULL);
	args[2] = cutejit_arg_tensor("s", &vy.tensor);
	REFUSED(c, CUTEJIT_ERROR, "wrong-argument", cutejit_call(m, "scale",
	    args, 3, NULL, NULL));
	args[2] = cutejit_arg_text("s", "many");
	REFUSED(c, CUTEJIT_ERROR, "wrong-argument", cutejit_call(m, "scale",
	    args, 3, NULL, NULL));
	vy.extent[0] = 63;
	REFUSED(c, CUTEJIT_ERROR, "contract", cutejit_call(m, "scale", args,
	    2, NULL, NULL));
	text = cutejit_report_text(cutejit_context_report(c), 0);
	CHECK(strstr(text, "\"y\"") != NULL && strstr(text, "63") != NULL
	    && strstr(text, "64") != NULL);
	vy.extent[0] = 64;
	vy.tensor.bits = 16;
	REFUSED(c, CUTEJIT_ERROR, "contract", cutejit_call(m, "scale", args,
	    2, NULL, NULL));
	vy.tensor.bits = 33;
	REFUSED(c, CUTEJIT_ERROR, "wrong-argument", cutejit_call(m, "scale",
	    args, 2, NULL, NULL));
	vy.tensor.bits = 32;
	vy.tensor.device_type = CUTEJIT_DL_CUDA;
	REFUSED(c, CUTEJIT_ERROR, "wrong-device", cutejit_call(m, "scale",
	    args, 2, NULL, NULL));
	vy.tensor.device_type = 10;
	REFUSED(c, CUTEJIT_ERROR, "wrong-argument", cutejit_call(m, "scale",
	    args, 2, NULL, NULL));
	vy.tensor.device_type = CUTEJIT_DL_CPU;
	vy.tensor.data = NULL;
	REFUSED(c, CUTEJIT_ERROR, "wrong-argument", cutejit_call(m, "scale",
	    args, 2, NULL, NULL));
	vy.tensor.data = x + 1;
	vy.extent[0] = vx.extent[0] = 32;
	REFUSED(c, CUTEJIT_ERROR, "overlap", cutejit_call(m, "scale", args,
	    2, NULL, NULL));
	vy.tensor.data = y;
	vy.tensor.strides = zero;
	CHECK(cutejit_call(m, "scale", args, 2, NULL, NULL)
	    == CUTEJIT_ERROR);
	CHECK(y[0] == 0 && y[63] == 0);
}

struct seen {
	int passed, failed, cpu;
	char text[256];
};

static int
see_test(void *user, const cutejit_test_result *r)
{
	struct seen *s = user;

	s->passed += r->outcome == CUTEJIT_PASSED;
	s->failed += r->outcome == CUTEJIT_FAILED;
	s->cpu += r->device == CUTEJIT_DEVICE_CPU;
	snprintf(s->text, sizeof s->text, "%s", r->text);
	return 0;
}

static int
see_bench(void *user, const cutejit_bench_result *r)
{
	struct seen *s = user;

	CHECK(r->outcome == CUTEJIT_PASSED && r->ms_median > 0);
	CHECK(r->bytes == 2048 && r->gb_per_s > 0);
	s->passed++;
	return 0;
}

static void
tests(cutejit_context *c, cutejit_module *m)
{
	cutejit_run_options o = CUTEJIT_RUN_OPTIONS_INIT;
	struct seen s = { 0 };

	o.device = CUTEJIT_DEVICE_CPU;
	DO(c, cutejit_test_run(m, 0, &o, see_test, &s));
	CHECK(s.passed == 2 && s.failed == 0 && s.cpu == 2);
	DO(c, cutejit_test_run(m, 1, &o, see_test, &s));
	CHECK(s.failed == 1 && strstr(s.text, "x == x + 1") != NULL);
	CHECK(cutejit_test_run(m, 2, &o, see_test, &s) == CUTEJIT_USAGE);
	CHECK(cutejit_test_run(m, 9, &o, see_test, &s) == CUTEJIT_USAGE);
	memset(&s, 0, sizeof s);
	DO(c, cutejit_bench_run(m, 2, &o, see_bench, &s));
	CHECK(s.passed == 1);
	o.device = CUTEJIT_DEVICE_GPU;
	REFUSED(c, CUTEJIT_MISSING, "missing-driver", cutejit_test_run(m, 0,
	    &o, see_test, &s));
}

static void
arrays(cutejit_context *c, cutejit_module *m)
{
	const cutejit_tensor *t;
	int64_t at[2] = { 1, 2 };
	cutejit_array *a;
	const char *value;
	char text[32];

	DO(c, cutejit_array_create(c, NULL, "iota(i32, row_major(2, 3))",
	    &a));
	t = cutejit_array_tensor(a);
	CHECK(t->ndim == 2 && t->shape[0] == 2 && t->shape[1] == 3);
	CHECK(strcmp(cutejit_type_of(t), "i32") == 0);
	CHECK(cutejit_element_text(t, at, text, sizeof text) == 1);
	CHECK(strcmp(text, "5") == 0);
	cutejit_array_destroy(a);
	CHECK(cutejit_array_create(c, NULL, "no array at all", &a)
	    == CUTEJIT_ERROR && a == NULL);
	CHECK(cutejit_report_count(cutejit_context_report(c)) > 0);
	DO(c, cutejit_evaluate(c, m, "K + size((2, 4))", &value));
	CHECK(strcmp(value, "11") == 0);
	DO(c, cutejit_evaluate(c, NULL,
	    "composition((8, 4):(4, 1), (4, 2))", &value));
	CHECK(strcmp(value, "(4, 2):(4, 1)") == 0);
	CHECK(cutejit_evaluate(c, m, "1 +", &value) == CUTEJIT_ERROR);
	CHECK(value == NULL || *value == '\0');
}

static void
wrong_texts(cutejit_context *c)
{
	static const char text[] = "kernel k(x: tensor(f32, N:1)) {\n"
	    "    launch grid(1) block(1) { x[0] = yy; }\n}\n";
	const cutejit_report *r;
	const cutejit_diagnostic *d;
	cutejit_module *m;
	const char *tokens;

	CHECK(cutejit_module_from_memory(c, "bad.cute", text, strlen(text),
	    &m) == CUTEJIT_ERROR);
	CHECK(m == NULL);
	r = cutejit_context_report(c);
	d = cutejit_report_at(r, 0);
	CHECK(cutejit_report_count(r) == 1 && d != NULL);
	CHECK(d->severity == CUTEJIT_SEVERITY_ERROR);
	CHECK(strcmp(d->place.file, "bad.cute") == 0 && d->place.line == 2);
	CHECK(d->place.column == 38 && d->place.end_column == 40);
	CHECK(strstr(cutejit_report_text(r, 0), "bad.cute:2:38: error: ")
	    != NULL);
	CHECK(strstr(cutejit_report_text(r, 1), "\033[") != NULL);
	CHECK(cutejit_explain(d->code) != NULL);
	CHECK(cutejit_module_from_memory(c, "bad.cute", "kernel", 6, &m)
	    == CUTEJIT_ERROR);
	CHECK(cutejit_module_from_memory(c, "empty.cute", NULL, 0, &m)
	    == CUTEJIT_OK);
	cutejit_module_destroy(m);
	REFUSED(c, CUTEJIT_MISSING, "missing-file", cutejit_module_from_file(
	    c, "/nonexistent/x.cute", &m));
	REFUSED(c, CUTEJIT_MISSING, "missing-file", cutejit_module_from_file(
	    c, "/", &m));
	DO(c, cutejit_emit_text(c, "t", "fn f(x) => x;", 13, "tokens",
	    &tokens));
	CHECK(strstr(tokens, "fn") != NULL);
	CHECK(cutejit_emit_text(c, "t", "fn", 2, "ast", &tokens)
	    == CUTEJIT_ERROR);
	REFUSED(c, CUTEJIT_USAGE, "usage", cutejit_emit_text(c, "t", "", 0,
	    "poem", &tokens));
}

/* Handles may go in any order. */
static void
any_order(void)
{
	cutejit_context *c = test_context();
	cutejit_module *m = test_module(c, saxpy_text);
	cutejit_compile_options o = CUTEJIT_COMPILE_OPTIONS_INIT;
	cutejit_kernel *k;
	const void *ptx;

	o.until = CUTEJIT_UNTIL_IR;
	DO(c, cutejit_compile(m, "saxpy", &o, &k));
	cutejit_context_destroy(c);
	cutejit_module_destroy(m);
	CHECK(cutejit_kernel_artifact(k, "ptx", &ptx, NULL) == CUTEJIT_OK);
	CHECK(strstr(ptx, ".entry saxpy") != NULL);
	cutejit_kernel_destroy(k);
}

int
main(void)
{
	cutejit_options o = CUTEJIT_OPTIONS_INIT;
	cutejit_context *c;
	cutejit_module *m;
	int asked = 0;

	setenv("CUTEJIT_LIBCUDA", "/nonexistent/libcuda.so.1", 1);
	o.cache = CUTEJIT_CACHE_MEMORY;
	o.import = find_text;
	o.user = &asked;
	CHECK(cutejit_context_create(&o, &c) == CUTEJIT_OK);
	DO(c, cutejit_module_from_memory(c, "main.cute", main_text,
	    strlen(main_text), &m));
	CHECK(asked == 1);
	CHECK(cutejit_report_count(cutejit_module_report(m)) == 0);
	reflect(m);
	imported(c, m, "fill");
	imported_as(c);
	artifacts(c, m);
	call(c, m);
	wrong_arguments(c, m);
	tests(c, m);
	arrays(c, m);
	wrong_texts(c);
	any_order();
	cutejit_module_destroy(m);
	cutejit_context_destroy(c);
	return 0;
}
