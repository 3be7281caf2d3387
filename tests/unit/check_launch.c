/*
 * Arguments: from the caller's tensors and numbers to what a kernel gets, and
 * which of them may share memory.
 */
#include "check_main.h"

#include "runtime/select.h"

static cutejit_context *ctx;
static cutejit_module *mod;

static const char text[] =
    "kernel k(n: int, a: f32, b: i8, h: f16, t: bool,\n"
    "         x: tensor(f32, (M, N):(_, _)), y: tensor(f32, (M, N):(_, _)))\n"
    "{\n"
    "    launch grid(1) block(1)\n"
    "    {\n"
    "        if t && n > 0 { y[0, 0] = a + f32(b) + f32(h) + x[0, 0]; }\n"
    "    }\n"
    "}\n"
    "kernel same(x: tensor(f32, N:1), y: tensor(f32, N:1) alias(x))\n"
    "{\n"
    "    launch grid(N) block(1) { y[block_idx.x] = x[block_idx.x]; }\n"
    "}\n";

static void
setup(void)
{
	cutejit_options o = CUTEJIT_OPTIONS_INIT;

	setenv("CUTEJIT_LIBCUDA", "/nonexistent/libcuda.so.1", 1);
	o.cache = CUTEJIT_CACHE_MEMORY;
	ck_assert_int_eq(cutejit_context_create(&o, &ctx), CUTEJIT_OK);
	ck_assert_int_eq(cutejit_module_from_memory(ctx, "k.cute", text,
	    strlen(text), &mod), CUTEJIT_OK);
}

static void
teardown(void)
{
	cutejit_module_destroy(mod);
	cutejit_context_destroy(ctx);
}

/* ---- numbers ------------------------------------------------------------- */

struct job {
	cutejit_argument given[8];
	size_t count;
	uint32_t at;			/* whose bits are looked at */
	uint64_t bits;
	int64_t lo, hi;
};

static cutejit_status
read_them(struct cj_work *f, void *arguments)
{
	struct job *j = arguments;
	struct cj_arguments args = { .arena = &f->arena };
	cutejit_status status = cj_arguments_read(f, mod, &mod->infos[0],
	    j->given, j->count, &args);

	if (status != CUTEJIT_OK)
		return status;
	j->bits = args.actuals[j->at].bits;
	if (args.views[j->at] != NULL) {
		j->lo = args.views[j->at][0].lo;
		j->hi = args.views[j->at][0].hi;
	}
	return CUTEJIT_OK;
}

static float memory[64];
static int64_t shape[2] = { 2, 3 }, plain[2] = { 3, 1 };
static cutejit_tensor tensor;

static void
begin(struct job *j, uint32_t at)
{
	static const cutejit_tensor t = {
		memory, CUTEJIT_DL_CPU, 0, 2, 2, 32, 1, shape, plain, 0
	};

	memset(j, 0, sizeof *j);
	tensor = t;
	j->given[0] = cutejit_arg_int("n", 1);
	j->given[1] = cutejit_arg_int("a", 1);
	j->given[2] = cutejit_arg_int("b", 1);
	j->given[3] = cutejit_arg_int("h", 1);
	j->given[4] = cutejit_arg_int("t", 1);
	j->given[5] = cutejit_arg_tensor("x", &tensor);
	j->given[6] = cutejit_arg_tensor("y", &tensor);
	j->count = 7;
	j->at = at;
}

static const struct {
	uint32_t at;
	cutejit_argument_kind kind;
	double number;
	const char *text;
	bool good;
	uint64_t bits;
} numbers[] = {
	{ 0, CUTEJIT_ARG_INT, -5, NULL, true, (uint64_t)-5 },
	{ 0, CUTEJIT_ARG_FLOAT, 7, NULL, true, 7 },
	{ 0, CUTEJIT_ARG_FLOAT, 7.5, NULL, false, 0 },
	{ 0, CUTEJIT_ARG_FLOAT, 1e30, NULL, false, 0 },
	{ 0, CUTEJIT_ARG_TEXT, 0, "12", true, 12 },
	{ 1, CUTEJIT_ARG_INT, 2, NULL, true, 0x40000000 },
	{ 1, CUTEJIT_ARG_FLOAT, 0.1, NULL, true, 0x3dcccccd },
	{ 1, CUTEJIT_ARG_TEXT, 0, "-0.5", true, 0xbf000000 },
	{ 1, CUTEJIT_ARG_TEXT, 0, "half", false, 0 },
	{ 2, CUTEJIT_ARG_INT, -128, NULL, true, (uint64_t)-128 },
	{ 2, CUTEJIT_ARG_INT, 128, NULL, false, 0 },
	{ 2, CUTEJIT_ARG_TEXT, 0, "300", false, 0 },
	{ 3, CUTEJIT_ARG_FLOAT, 1, NULL, true, 0x3c00 },
	{ 3, CUTEJIT_ARG_FLOAT, 1e9, NULL, true, 0x7c00 },
	{ 4, CUTEJIT_ARG_INT, 0, NULL, true, 0 },
	{ 4, CUTEJIT_ARG_INT, 2, NULL, false, 0 },
	{ 4, CUTEJIT_ARG_TEXT, 0, "true", true, 1 },
};

START_TEST(test_numbers)
{
	cutejit_argument *g;
	cutejit_status status;
	struct job j;

	begin(&j, numbers[_i].at);
	g = &j.given[numbers[_i].at];
	g->kind = numbers[_i].kind;
	if (g->kind == CUTEJIT_ARG_INT)
		g->value.integer = (int64_t)numbers[_i].number;
	else if (g->kind == CUTEJIT_ARG_FLOAT)
		g->value.number = numbers[_i].number;
	else
		g->value.text = numbers[_i].text;
	status = cj_enter(ctx, read_them, &j);
	ck_assert_int_eq(status, numbers[_i].good ? CUTEJIT_OK
	    : CUTEJIT_ERROR);
	if (numbers[_i].good)
		ck_assert_uint_eq(j.bits, numbers[_i].bits);
	else
		ck_assert_ptr_nonnull(strstr(cutejit_report_text(
		    cutejit_context_report(ctx), 0), g->name));
}
END_TEST

/* ---- reach --------------------------------------------------------------- */

static const struct {
	int64_t shape[2], stride[2];
	bool has_strides, good;
	int64_t lo, hi;
} reaches[] = {
	{ { 2, 3 }, { 3, 1 }, true, true, 0, 6 },
	{ { 2, 3 }, { 0, 0 }, false, true, 0, 6 },
	{ { 2, 3 }, { -3, 1 }, true, true, -3, 3 },
	{ { 2, 3 }, { -3, -1 }, true, true, -5, 1 },
	{ { 2, 3 }, { 0, 0 }, true, true, 0, 1 },
	{ { 0, 3 }, { 3, 1 }, true, true, 0, 0 },
	{ { 1, 1 }, { INT64_MAX, INT64_MAX }, true, true, 0, 1 },
	{ { 2, 3 }, { INT64_MAX, 1 }, true, false, 0, 0 },
	{ { INT64_MAX, 3 }, { 0, 0 }, false, false, 0, 0 },
	{ { -1, 3 }, { 3, 1 }, true, false, 0, 0 },
};

START_TEST(test_reach)
{
	int64_t s[2], d[2];
	cutejit_status status;
	struct job j;

	begin(&j, 5);
	memcpy(s, reaches[_i].shape, sizeof s);
	memcpy(d, reaches[_i].stride, sizeof d);
	tensor.shape = s;
	tensor.strides = reaches[_i].has_strides ? d : NULL;
	status = cj_enter(ctx, read_them, &j);
	ck_assert_int_eq(status, reaches[_i].good ? CUTEJIT_OK
	    : CUTEJIT_ERROR);
	if (reaches[_i].good) {
		ck_assert_int_eq(j.lo, reaches[_i].lo);
		ck_assert_int_eq(j.hi, reaches[_i].hi);
	}
}
END_TEST

/* ---- overlap ------------------------------------------------------------- */

static const struct {
	const char *kernel;
	int offset;			/* of y from x, in elements */
	int64_t n;
	bool good;
} overlaps[] = {
	{ "same", 0, 8, true },		/* the same view: allowed by alias */
	{ "same", 1, 8, false },
	{ "same", 7, 8, false },
	{ "same", 8, 8, true },
	{ "same", 4, 4, true },
};

START_TEST(test_overlap)
{
	float data[32] = { 0 };
	int64_t n = overlaps[_i].n;
	cutejit_tensor x = { data, CUTEJIT_DL_CPU, 0, 1, 2, 32, 1, &n, NULL,
	    0 };
	cutejit_tensor y = x;
	cutejit_argument args[2];
	cutejit_status status;

	y.data = data + overlaps[_i].offset;
	args[0] = cutejit_arg_tensor("x", &x);
	args[1] = cutejit_arg_tensor("y", &y);
	status = cutejit_call(mod, overlaps[_i].kernel, args, 2, NULL, NULL);
	ck_assert_int_eq(status, overlaps[_i].good ? CUTEJIT_OK
	    : CUTEJIT_ERROR);
	if (!overlaps[_i].good)
		ck_assert_str_eq(cutejit_report_at(
		    cutejit_context_report(ctx), 0)->code, "overlap");
}
END_TEST

START_TEST(test_alignment)
{
	char *base = (char *)4096;
	int i;

	ck_assert_uint_eq(cj_alignment(base), 1024);
	ck_assert_uint_eq(cj_alignment(NULL), 1024);
	for (i = 0; i < 10; i++)
		ck_assert_uint_eq(cj_alignment(base + (1 << i)), 1u << i);
	ck_assert_uint_eq(cj_alignment(base + 3 * 16), 16);
}
END_TEST

static const struct {
	const char *type;
	uint8_t code, bits;
} types[] = {
	{ "f16", 2, 16 }, { "f32", 2, 32 }, { "f64", 2, 64 },
	{ "bf16", 4, 16 }, { "i8", 0, 8 }, { "i64", 0, 64 }, { "u32", 1, 32 },
	{ "bool", 6, 8 }, { "f8e4m3", 10, 8 }, { "f8e5m2", 12, 8 },
	{ "f8ue8m0", 14, 8 }, { "f4e2m1", 17, 4 },
};

START_TEST(test_types)
{
	cutejit_tensor t = { 0 };

	ck_assert_int_eq(cutejit_type_set(&t, types[_i].type), 1);
	ck_assert_int_eq(t.code, types[_i].code);
	ck_assert_int_eq(t.bits, types[_i].bits);
	ck_assert_int_eq(t.lanes, 1);
	ck_assert_str_eq(cutejit_type_of(&t), types[_i].type);
	ck_assert_int_eq(cutejit_type_set(&t, "f17"), 0);
	t.bits = 99;
	ck_assert_ptr_null(cutejit_type_of(&t));
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("launch");
	TCase *t = tcase_create("arguments");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, test_numbers, 0, (int)CJ_LENGTH(numbers));
	tcase_add_loop_test(t, test_reach, 0, (int)CJ_LENGTH(reaches));
	tcase_add_loop_test(t, test_overlap, 0, (int)CJ_LENGTH(overlaps));
	tcase_add_test(t, test_alignment);
	tcase_add_loop_test(t, test_types, 0, (int)CJ_LENGTH(types));
	suite_add_tcase(s, t);
	return s;
}

CJ_CHECK_MAIN(suite)
