/*
 * Host functions in the executor: requirements and their messages, launches
 * with their values, workspaces, the device, faults.
 */
#include "interp_fixture.h"

#include <time.h>

static struct cj_host_outcome host;
static int launches;
static struct cj_kernel_launch seen;
static uint64_t seen_values[8];
static int64_t workspace_elements;
static uint64_t workspace_fill;

static bool
on_launch(void *user, const struct cj_kernel_launch *k,
    const struct cj_launch *attributes)
{
	(void)user;
	ck_assert(!attributes->cooperative);
	launches++;
	seen = *k;
	memcpy(seen_values, k->values, sizeof seen_values[0] * 4);
	return true;
}

static bool
on_workspace(void *user, uint32_t object, int64_t elements, bool has_fill,
    uint64_t fill)
{
	(void)user;
	ck_assert_uint_eq(object, 1);
	ck_assert(has_fill);
	workspace_elements = elements;
	workspace_fill = fill;
	return elements < 1000;
}

static struct cj_host_fill filled;

static bool
on_fill(void *user, const struct cj_host_fill *f)
{
	(void)user;
	filled = *f;
	return f->elements < 1000;
}

static int64_t
on_device(void *user, struct cj_device_ask ask)
{
	(void)user;
	return ask.fact == CJ_DEVICE_SMS ? 132
	    : 1000 * ask.blocks + ask.per_sm;
}

static const struct cj_host_hooks hooks = { .launch = on_launch,
	.workspace = on_workspace, .fill = on_fill, .device = on_device,
	.print = take_line };

static void
run_host(const uint64_t *values)
{
	launches = 0;
	cj_interp_host(&arena, module, 1, values, &hooks, &diags, &host);
	take_faults();
}

#define DEVICE								\
	"device $2 \"k\" {\n"						\
	"    leaf value int name \"n\"\n"				\
	"    leaf value u64[2] name \"d\"\n"				\
	"    leaf value f32 name \"alpha\"\n"				\
	"    %1 = param int 0\n"					\
	"}\n"

#define HOST								\
	"module \"t\" sm_80\n"						\
	"object @1 workspace f32[?] name \"w\" align 16 reads writes\n"	\
	"host $1 \"t\" {\n"						\
	"    leaf extent int name \"N\"\n"				\
	"    leaf scalar f32 name \"alpha\"\n"				\
	"    leaf stride int name \"ld\"\n"				\
	"    %1 = param int 0\n"					\
	"    %2 = param f32 1\n"					\
	"    %3 = param int 2\n"					\
	"    %4 = const int 8\n"					\
	"    %5 = const int 0\n"					\
	"    %6 = const int 1\n"					\
	"    %7 = const int 256\n"

START_TEST(launches_with_values)
{
	const uint64_t values[] = { 1000, 0x3f800000, 40 };

	read_module(HOST
	    "    %8 = mod int %1, %4\n"
	    "    %9 = eq bool %8, %5\n"
	    "    require %9, %1, %3 parameter \"x\" need \"N % 8 == 0\" names "
	    "\"N, ld\"\n"
	    "    %10 = div int %1, %4\n"
	    "    %11 = divisor u64[2] %1\n"
	    "    launch $2 grid(%10, %6, %6) block(%7, %6, %6) cluster(%6, "
	    "%6, %6) with(%1, %11, %2)\n"
	    "}\n" DEVICE);
	run_host(values);
	ck_assert_str_eq(faults, "");
	ck_assert(!host.stopped && host.require == 0);
	ck_assert_int_eq(launches, 1);
	ck_assert_uint_eq(seen.function, 2);
	ck_assert_int_eq(seen.grid[0], 125);
	ck_assert_int_eq(seen.block[0], 256);
	ck_assert_uint_eq(seen_values[0], 1000);
	ck_assert_uint_eq(seen_values[3], 0x3f800000);
	{
		uint64_t pair[2];

		cj_num_divisor(1000, pair);
		ck_assert_uint_eq(seen_values[1], pair[0]);
		ck_assert_uint_eq(seen_values[2], pair[1]);
	}
}
END_TEST

START_TEST(stops_at_a_requirement)
{
	const uint64_t values[] = { 33, 0x3f800000, 40 };

	read_module(HOST
	    "    %8 = mod int %1, %4\n"
	    "    %9 = eq bool %8, %5\n"
	    "    require %9, %1, %3 parameter \"x\" need \"N % 8 == 0\" names "
	    "\"N, ld\"\n"
	    "    %10 = divisor u64[2] %1\n"
	    "    launch $2 grid(%6, %6, %6) block(%7, %6, %6) cluster(%6, "
	    "%6, %6) with(%1, %10, %2)\n"
	    "}\n" DEVICE);
	run_host(values);
	ck_assert_int_eq(launches, 0);
	ck_assert_uint_ne(host.require, 0);
	ck_assert_str_eq(module->requires.at[host.require].need,
	    "N % 8 == 0");
	ck_assert_str_eq(host.values, "N = 33, ld = 40");
	ck_assert(!host.stopped);
	ck_assert_str_eq(faults, "");
}
END_TEST

START_TEST(launches_in_loops_and_skips_empty_grids)
{
	const uint64_t values[] = { 5, 0x3f800000, 40 };

	read_module(HOST
	    "    %8 = divisor u64[2] %1\n"
	    "    for %9 in %5..%1 step %6 {\n"
	    "        launch $2 grid(%9, %6, %6) block(%7, %6, %6) cluster(%6, "
	    "%6, %6) with(%9, %8, %2)\n"
	    "    }\n"
	    "}\n" DEVICE);
	run_host(values);
	ck_assert_int_eq(launches, 4);	/* not for 0 */
	ck_assert_int_eq(seen.grid[0], 4);
}
END_TEST

START_TEST(asks_for_workspace_and_device)
{
	uint64_t values[] = { 5, 0x3f800000, 40 };

	read_module(HOST
	    "    %8 = device int sms\n"
	    "    %9 = mul int %8, %1\n"
	    "    workspace @1 %9, %2\n"
	    "    %10 = device int clusters 16 per_sm 3\n"
	    "    print \"{} elements, {}, {}\" %9, %2, %10\n"
	    "}\n" DEVICE);
	run_host(values);
	ck_assert_str_eq(faults, "");
	ck_assert_int_eq(workspace_elements, 660);
	ck_assert_uint_eq(workspace_fill, 0x3f800000);
	ck_assert_str_eq(printed, "660 elements, 1, 16003\n");
	ck_assert(!host.stopped);
	values[0] = 100;
	run_host(values);		/* the hook says no */
	ck_assert(host.stopped);
}
END_TEST

START_TEST(fills)
{
	uint64_t values[] = { 5, 0xff800000, (uint64_t)-40 };

	read_module(HOST
	    "    workspace @1 %4, %2\n"
	    "    fill @1[%4], %2, %1, %3\n"
	    "}\n" DEVICE);
	run_host(values);
	ck_assert_str_eq(faults, "");
	ck_assert_uint_eq(filled.object, 1);
	ck_assert_int_eq(filled.offset, 8);
	ck_assert_uint_eq(filled.bits, 0xff800000);
	ck_assert_int_eq(filled.elements, 5);
	ck_assert_int_eq(filled.stride, -40);
	ck_assert(!host.stopped);
	filled.object = 0;
	values[0] = 0;			/* nothing is nothing to do */
	run_host(values);
	ck_assert_uint_eq(filled.object, 0);
	values[0] = 1000;
	run_host(values);		/* the hook says no */
	ck_assert(host.stopped);
}
END_TEST

START_TEST(stops_before_a_launch_on_overflow)
{
	const uint64_t values[] = { INT64_MAX, 0x3f800000, 40 };

	read_module(HOST
	    "    %8 = divisor u64[2] %1\n"
	    "    %9 = mul int %1, %4\n"
	    "    launch $2 grid(%9, %6, %6) block(%7, %6, %6) cluster(%6, "
	    "%6, %6) with(%1, %8, %2)\n"
	    "}\n" DEVICE);
	run_host(values);
	ck_assert(host.stopped);
	ck_assert_int_eq(launches, 0);
	ck_assert(strstr(faults, "index-overflow") != NULL);
}
END_TEST

START_TEST(stops_at_an_assert)
{
	const uint64_t values[] = { 5, 0x3f800000, 40 };

	read_module(HOST
	    "    %8 = lt bool %4, %1\n"
	    "    assert \"more than 8\" %8\n"
	    "}\n" DEVICE);
	run_host(values);
	ck_assert(host.stopped);
	ck_assert(strstr(faults, "assertion failed: more than 8") != NULL);
}
END_TEST

/* A prepared call costs this each time: a few microseconds. */
START_TEST(is_quick)
{
	const uint64_t values[] = { 1000, 0x3f800000, 40 };
	const struct cj_decoded *c;
	struct timespec a, b;
	double best = 1e9;
	int i, n;

	read_module(HOST
	    "    %8 = mod int %1, %4\n"
	    "    %9 = eq bool %8, %5\n"
	    "    require %9, %1, %3 parameter \"x\" need \"N % 8 == 0\" names "
	    "\"N, ld\"\n"
	    "    %10 = div int %1, %4\n"
	    "    %11 = divisor u64[2] %1\n"
	    "    launch $2 grid(%10, %6, %6) block(%7, %6, %6) cluster(%6, "
	    "%6, %6) with(%1, %11, %2)\n"
	    "}\n" DEVICE);
	c = cj_interp_decode(&arena, module, 1);
	for (i = 0; i < 20; i++) {
		double t;

		clock_gettime(CLOCK_MONOTONIC, &a);
		for (n = 0; n < 1000; n++) {
			struct cj_mark mark = cj_arena_mark(&arena);

			cj_interp_host_run(&arena, c, values, &hooks, &diags,
			    &host);
			cj_arena_release(&arena, mark);
		}
		clock_gettime(CLOCK_MONOTONIC, &b);
		t = (double)(b.tv_sec - a.tv_sec) * 1e6
		    + (double)(b.tv_nsec - a.tv_nsec) * 1e-3;
		best = t / 1000 < best ? t / 1000 : best;
	}
	ck_assert_msg(best < 20, "%.2f us a call", best);
	if (getenv("CJ_CHECK_TIMES") == NULL)
		return;
	printf("a host function: %.2f us\n", best);
	clock_gettime(CLOCK_MONOTONIC, &a);
	for (n = 0; n < 1000; n++)
		cj_interp_decode(&arena, module, 1);
	clock_gettime(CLOCK_MONOTONIC, &b);
	printf("its decoding: %.2f us\n", (double)(b.tv_sec - a.tv_sec) * 1e3
	    + (double)(b.tv_nsec - a.tv_nsec) * 1e-6);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("interp_host");
	TCase *c = tcase_create("all");

	tcase_add_checked_fixture(c, set_up, tear_down);
	tcase_add_test(c, launches_with_values);
	tcase_add_test(c, stops_at_a_requirement);
	tcase_add_test(c, launches_in_loops_and_skips_empty_grids);
	tcase_add_test(c, asks_for_workspace_and_device);
	tcase_add_test(c, fills);
	tcase_add_test(c, stops_before_a_launch_on_overflow);
	tcase_add_test(c, stops_at_an_assert);
	tcase_add_test(c, is_quick);
	suite_add_tcase(s, c);
	return s;
}

CJ_CHECK_MAIN(suite)
