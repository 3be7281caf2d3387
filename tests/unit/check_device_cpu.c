/*
 * The executor as a device: bounds of views, workspaces, schedules, runs that
 * do not end.
 */
#include "check_main.h"

#include "runtime/device.h"

static cutejit_context *ctx;
static char printed[256];

static void
print(void *user, const char *line)
{
	(void)user;
	strncat(printed, line, sizeof printed - strlen(printed) - 2);
	strcat(printed, "\n");
}

static int cancelled;

static int
cancel(void *user)
{
	(void)user;
	return cancelled;
}

static void
begin(unsigned deadline_ms)
{
	cutejit_options o = CUTEJIT_OPTIONS_INIT;

	setenv("CUTEJIT_LIBCUDA", "/nonexistent/libcuda.so.1", 1);
	o.cache = CUTEJIT_CACHE_MEMORY;
	o.print = print;
	o.deadline_ms = deadline_ms;
	o.cancel = deadline_ms == 1 ? cancel : NULL;
	if (deadline_ms == 1)
		o.deadline_ms = 0;
	ck_assert_int_eq(cutejit_context_create(&o, &ctx), CUTEJIT_OK);
	printed[0] = '\0';
}

static void
teardown(void)
{
	cutejit_context_destroy(ctx);
	ctx = NULL;
}

static cutejit_module *
module(const char *text)
{
	cutejit_module *m;

	if (cutejit_module_from_memory(ctx, "k.cute", text, strlen(text), &m)
	    != CUTEJIT_OK)
		ck_abort_msg("%s", cutejit_report_text(
		    cutejit_context_report(ctx), 0));
	return m;
}

/* Run kernel k on n floats that lie in the middle of a larger array. */
static cutejit_status
run(const char *text, float *data, int64_t n, const cutejit_run_options *o)
{
	cutejit_module *m = module(text);
	cutejit_tensor t = { data, CUTEJIT_DL_CPU, 0, 1, 2, 32, 1, &n, NULL,
	    0 };
	cutejit_argument a = cutejit_arg_tensor("y", &t);
	cutejit_status status = cutejit_run(m, "k", &a, 1, NULL, o, NULL);

	cutejit_module_destroy(m);
	return status;
}

static const char *
report(void)
{
	return cutejit_report_text(cutejit_context_report(ctx), 0);
}

START_TEST(test_bounds)
{
	float data[64] = { 0 };

	begin(0);
	ck_assert_int_eq(run("kernel k(y: tensor(f32, N:1)) {\n"
	    "    launch grid(N + 1) block(1) { y[block_idx.x] = 1.0; }\n}\n",
	    data + 16, 32, NULL), CUTEJIT_ERROR);
	ck_assert_ptr_nonnull(strstr(report(), "k.cute:2:"));
	ck_assert_ptr_nonnull(strstr(report(), "y"));
	ck_assert(data[47] == 1 && data[48] == 0 && data[15] == 0);
	teardown();
}
END_TEST

START_TEST(test_endless)
{
	float data[4] = { 0 };
	int64_t start;

	begin(300);
	start = cj_clock();
	ck_assert_int_eq(run("kernel k(y: tensor(f32, N:1)) {\n"
	    "    launch grid(1) block(1) {\n"
	    "        var i = 0;\n"
	    "        while y[0] == 0 { i = 1 - i; }\n"
	    "    }\n}\n", data, 4, NULL), CUTEJIT_LIMIT);
	ck_assert(cj_ms_since(start) < 5000);
	ck_assert_str_eq(cutejit_report_at(cutejit_context_report(ctx), 0)
	    ->code, "deadline");
	teardown();
}
END_TEST

START_TEST(test_cancel)
{
	float data[4] = { 0 };

	begin(1);
	cancelled = 1;
	ck_assert_int_eq(run("kernel k(y: tensor(f32, N:1)) {\n"
	    "    launch grid(1) block(1) { y[0] = 1.0; }\n}\n", data, 4,
	    NULL), CUTEJIT_LIMIT);
	cancelled = 0;
	ck_assert_int_eq(run("kernel k(y: tensor(f32, N:1)) {\n"
	    "    launch grid(1) block(1) { y[0] = 1.0; }\n}\n", data, 4,
	    NULL), CUTEJIT_OK);
	teardown();
}
END_TEST

START_TEST(test_print)
{
	float data[4] = { 0 };

	begin(0);
	ck_assert_int_eq(run("kernel k(y: tensor(f32, N:1)) {\n"
	    "    print(\"host\", N);\n"
	    "    launch grid(1) block(1) { y[0] = 1.0; print(\"device\"); }\n"
	    "}\n", data, 4, NULL), CUTEJIT_OK);
	ck_assert_ptr_nonnull(strstr(printed, "host 4\n"));
	ck_assert_ptr_nonnull(strstr(printed, "device\n"));
	teardown();
}
END_TEST

/* Each schedule begins with the same memory. */
START_TEST(test_schedules)
{
	cutejit_run_options o = CUTEJIT_RUN_OPTIONS_INIT;
	float data[4] = { 1, 1, 1, 1 };

	begin(0);
	o.device = CUTEJIT_DEVICE_CPU;
	o.schedules = 5;
	ck_assert_int_eq(run("kernel k(y: tensor(f32, N:1)) {\n"
	    "    launch grid(N) block(1) { y[block_idx.x] += 1.0; }\n}\n",
	    data, 4, &o), CUTEJIT_OK);
	ck_assert(data[0] == 2 && data[3] == 2);
	teardown();
}
END_TEST

/* Empty grids launch nothing; the launches around them go on. */
START_TEST(test_empty)
{
	float data[4] = { 0 };

	begin(0);
	ck_assert_int_eq(run("kernel k(y: tensor(f32, N:1)) {\n"
	    "    launch grid(N - 4) block(1) { y[0] = 7.0; }\n"
	    "    launch grid(1) block(1) { y[1] = 8.0; }\n}\n", data, 4,
	    NULL), CUTEJIT_OK);
	ck_assert(data[0] == 0 && data[1] == 8);
	teardown();
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("device_cpu");
	TCase *t = tcase_create("runs");

	tcase_add_test(t, test_bounds);
	tcase_add_test(t, test_endless);
	tcase_add_test(t, test_cancel);
	tcase_add_test(t, test_print);
	tcase_add_test(t, test_schedules);
	tcase_add_test(t, test_empty);
	suite_add_tcase(s, t);
	return s;
}

CJ_CHECK_MAIN(suite)
