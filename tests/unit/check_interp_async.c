/*
 * Copies by cp.async in the executor: data land at the wait and not before;
 * planted faults (a wait, a barrier, the wrong distance) are found where
 * their right twins are silent.
 */
#include "interp_fixture.h"

/* 64 threads; x = @1, y = @2, s = @3; %3 is the thread, %6 its partner. */
#define HEAD								\
	"module \"t\" sm_80\n"						\
	"object @1 tensor f32[?] name \"x\" of 0.0 align 16 reads writes\n" \
	"object @2 tensor f32[?] name \"y\" of 1.0 align 16 reads writes\n" \
	"object @3 shared f32[512] name \"s\" align 16 reads writes in #1\n" \
	"device $1 \"k\" { #1\n"					\
	"    leaf object ptr @1\n"					\
	"    leaf object ptr @2\n"					\
	"    %3 = special int thread_x\n"				\
	"    %4 = const int 63\n"					\
	"    %5 = const int 64\n"					\
	"    %6 = sub int %4, %3\n"					\
	"    %7 = const int 1\n"					\
	"    %8 = const int 0\n"					\
	"    %9 = const f32 0.5\n"					\
	"    %10 = add int %3, %5\n"					\
	"    %11 = add int %6, %5\n"

#define COPY(to, from)							\
	"    cp_async @3[" to "] align 4 from @1[" from "] align 4 count 1\n"

static float *x, *y;

static void
run_body(const char *body)
{
	static char text[8192];
	int i;

	snprintf(text, sizeof text, "%s%s}\n", HEAD, body);
	read_module(text);
	x = give(1, 256);
	y = give(2, 256);
	for (i = 0; i < 256; i++) {
		x[i] = (float)i + 1;
		y[i] = -1;
	}
	run_kernel(1, 64, NULL);
}

START_TEST(lands_at_the_wait)
{
	int i;

	run_body(COPY("%3", "%3")
	    "    cp_commit\n"
	    "    cp_wait 0\n"
	    "    barrier\n"
	    "    %12 = load f32 @3[%6] align 4\n"
	    "    store @2[%3], %12 align 4\n");
	expect_clean();
	for (i = 0; i < 64; i++)
		ck_assert_float_eq(y[i], x[63 - i]);
}
END_TEST

START_TEST(masked_copies_fill_with_zeros)
{
	int i;

	run_body("    %12 = const int 40\n"
	    "    %13 = lt bool %3, %12\n"
	    "    %14 = const int 4\n"
	    "    %15 = mul int %3, %14\n"
	    "    %16 = const int 1000\n"
	    "    %17 = select int %13, %15, %16\n"	/* outside, unread */
	    "    cp_async @3[%15] align 16 from @1[%17] align 16 count 4 "
		"mask %13 by global\n"
	    "    cp_wait all\n"
	    "    %18 = load f32[4] @3[%15] align 16\n"
	    "    store @2[%15], %18 align 16\n");
	expect_clean();
	for (i = 0; i < 256; i++)
		ck_assert_float_eq(y[i], i < 160 ? x[i] : 0);
}
END_TEST

/* The newest group stays open: its elements are late, the others not. */
START_TEST(waits_for_all_but_the_newest)
{
	run_body(COPY("%3", "%3")
	    "    cp_commit\n"
	    COPY("%10", "%10")
	    "    cp_commit\n"
	    "    cp_wait 1\n"
	    "    barrier\n"
	    "    %12 = load f32 @3[%6] align 4\n"
	    "    store @2[%3], %12 align 4\n"
	    "    cp_wait 0\n"
	    "    barrier\n"
	    "    %13 = load f32 @3[%11] align 4\n"
	    "    store @2[%10], %13 align 4\n");
	expect_clean();
	ck_assert_float_eq(y[0], 64);
	ck_assert_float_eq(y[64], 128);
}
END_TEST

START_TEST(finds_a_wait_one_short)
{
	run_body(COPY("%3", "%3")
	    "    cp_commit\n"
	    COPY("%10", "%10")
	    "    cp_commit\n"
	    "    cp_wait 1\n"
	    "    barrier\n"
	    "    %12 = load f32 @3[%11] align 4\n"
	    "    store @2[%3], %12 align 4\n");
	expect_fault("\"s\" is read at elements from 127 on in block (0, 0, "
	    "0) thread (0, 0, 0), which a copy has not filled yet");
	ck_assert_float_eq(y[0], 0);	/* what was there */
}
END_TEST

/* What no group holds is not waited for, but by `all`. */
START_TEST(finds_a_missing_commit)
{
	run_body(COPY("%3", "%3")
	    "    cp_wait 0\n"
	    "    %12 = load f32 @3[%3] align 4\n"
	    "    store @2[%3], %12 align 4\n");
	expect_fault("which a copy has not filled yet");
}
END_TEST

START_TEST(finds_a_missing_barrier)
{
	run_body(COPY("%3", "%3")
	    "    barrier\n"			/* before the wait: no help */
	    "    cp_wait all\n"
	    "    %12 = load f32 @3[%6] align 4\n"
	    "    store @2[%3], %12 align 4\n");
	expect_fault("[race]");
}
END_TEST

START_TEST(finds_an_overwritten_destination)
{
	run_body(COPY("%3", "%3")
	    "    store @3[%3], %9 align 4\n"
	    "    cp_wait all\n");
	expect_fault("\"s\" is written at elements from 0 on in block (0, 0, "
	    "0) thread (0, 0, 0), which a copy has not filled yet");
}
END_TEST

START_TEST(finds_two_copies_to_one_place)
{
	run_body(COPY("%3", "%3") COPY("%3", "%10")
	    "    cp_wait all\n");
	expect_fault("\"s\" is written");
}
END_TEST

START_TEST(finds_a_written_source)
{
	run_body(COPY("%3", "%3")
	    "    store @1[%3], %9 align 4\n"
	    "    cp_wait all\n");
	expect_fault("\"x\" is written at elements from 0 on in block (0, 0, "
	    "0) thread (0, 0, 0), which a copy has not read yet");
}
END_TEST

START_TEST(a_source_may_be_written_behind_the_wait)
{
	run_body(COPY("%3", "%3")
	    "    cp_wait all\n"
	    "    store @1[%3], %9 align 4\n"
	    "    %12 = load f32 @3[%3] align 4\n"
	    "    store @2[%3], %12 align 4\n");
	expect_clean();
	ck_assert_float_eq(y[5], 6);
}
END_TEST

START_TEST(finds_copies_out_of_bounds)
{
	run_body("    %12 = const int 500\n"
	    "    %13 = add int %3, %12\n"
	    COPY("%13", "%3")
	    COPY("%3", "%13")
	    "    cp_wait all\n");
	expect_fault("\"s\" is written at element 512, outside 0..512");
	expect_fault("\"x\" is read at element 500, outside 0..256");
}
END_TEST

/* Lanes count their own groups. */
START_TEST(groups_belong_to_lanes)
{
	int i;

	run_body("    %12 = const int 2\n"
	    "    %13 = mod int %3, %12\n"
	    "    %14 = eq bool %13, %8\n"
	    COPY("%3", "%3")
	    "    cp_commit\n"
	    "    if %14 {\n"
	    "        cp_commit\n"
	    "    } else {\n"
	    "        cp_wait 0\n"
	    "    }\n"
	    "    cp_wait 1\n"
	    "    %15 = load f32 @3[%3] align 4\n"
	    "    store @2[%3], %15 align 4\n");
	expect_clean();
	for (i = 0; i < 64; i++)
		ck_assert_float_eq(y[i], x[i]);
}
END_TEST

/* A block that ends with copies open leaves nothing to the next. */
START_TEST(blocks_begin_anew)
{
	static char text[8192];

	snprintf(text, sizeof text, "%s%s}\n", HEAD, COPY("%3", "%3"));
	read_module(text);
	give(1, 256);
	give(2, 256);
	options.workers = 1;
	run_kernel(3, 64, NULL);
	expect_clean();
}
END_TEST

static Suite *
interp_async_suite(void)
{
	Suite *s = suite_create("interp_async");
	TCase *c = tcase_create("copies");

	tcase_add_checked_fixture(c, set_up, tear_down);
	tcase_add_test(c, lands_at_the_wait);
	tcase_add_test(c, masked_copies_fill_with_zeros);
	tcase_add_test(c, waits_for_all_but_the_newest);
	tcase_add_test(c, finds_a_wait_one_short);
	tcase_add_test(c, finds_a_missing_commit);
	tcase_add_test(c, finds_a_missing_barrier);
	tcase_add_test(c, finds_an_overwritten_destination);
	tcase_add_test(c, finds_two_copies_to_one_place);
	tcase_add_test(c, finds_a_written_source);
	tcase_add_test(c, a_source_may_be_written_behind_the_wait);
	tcase_add_test(c, finds_copies_out_of_bounds);
	tcase_add_test(c, groups_belong_to_lanes);
	tcase_add_test(c, blocks_begin_anew);
	suite_add_tcase(s, c);
	return s;
}

CJ_CHECK_MAIN(interp_async_suite)
