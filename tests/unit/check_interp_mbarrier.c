/*
 * Mbarriers in the executor: phases end by arrivals, what was written before
 * them is seen behind a wait; planted faults are found where their right twins
 * are silent. Named barriers, and the meeting of a warp.
 */
#include "interp_fixture.h"

/* 64 threads; y = @1, b = @2 (two mbarriers), s = @3; %2 is the thread, %3 the
 * warp, %13 who is thread 0, %14 who is in warp 0. */
#define HEAD								\
	"module \"t\" sm_90\n"						\
	"object @1 tensor f32[?] name \"y\" of 0.0 align 16 reads writes\n" \
	"object @2 shared mbarrier[2] name \"b\" align 16 reads "	\
	    "writes in #1\n"						\
	"object @3 shared f32[64] name \"s\" align 16 reads writes in #1\n" \
	"device $1 \"k\" { #1\n"					\
	"    leaf object ptr @1\n"					\
	"    %2 = special int thread_x\n"				\
	"    %3 = special int warp\n"					\
	"    %4 = const int 0\n"					\
	"    %5 = const int 1\n"					\
	"    %6 = const int 32\n"					\
	"    %7 = const int 64\n"					\
	"    %8 = const int 63\n"					\
	"    %9 = sub int %8, %2\n"					\
	"    %10 = const f32 0.5\n"					\
	"    %11 = const int 2\n"					\
	"    %13 = eq bool %2, %4\n"					\
	"    %14 = eq bool %3, %4\n"

#define INIT(count)							\
	"    if %13 { #2\n"						\
	"        mbarrier_init @2[%4], " count "\n"			\
	"        fence mbarrier_init\n"					\
	"    }\n"							\
	"    barrier\n"

#define WRITE "    store @3[%2], %10 align 4\n"
#define READ								\
	"    %20 = load f32 @3[%9] align 4\n"				\
	"    store @1[%2], %20 align 4\n"

static float *y;

static void
run_body(const char *body)
{
	static char text[8192];
	int i;

	snprintf(text, sizeof text, "%s%s}\n", HEAD, body);
	read_module(text);
	y = give(1, 64);
	for (i = 0; i < 64; i++)
		y[i] = -1;
	run_kernel(1, 64, NULL);
}

static void
expect_all(float value)
{
	int i;

	for (i = 0; i < 64; i++)
		ck_assert_float_eq(y[i], value);
}

START_TEST(orders_what_was_written)
{
	run_body(INIT("%7") WRITE
	    "    mbarrier_arrive @2[%4], %5\n"
	    "    mbarrier_wait @2[%4], %4\n" READ);
	expect_clean();
	expect_all(0.5f);
}
END_TEST

START_TEST(finds_a_missing_wait)
{
	run_body(INIT("%7") WRITE
	    "    mbarrier_arrive @2[%4], %5\n" READ);
	expect_fault("[race]");
}
END_TEST

/* The other parity counts as ended from the start: it orders nothing. */
START_TEST(finds_the_wrong_parity)
{
	run_body(INIT("%7") WRITE
	    "    mbarrier_arrive @2[%4], %5\n"
	    "    mbarrier_wait @2[%4], %5\n" READ);
	expect_fault("[race]");
}
END_TEST

START_TEST(counts_several_arrivals_at_once)
{
	run_body(INIT("%11")
	    "    if %13 { #3\n"
	    "        mbarrier_arrive @2[%4], %11\n"
	    "    }\n"
	    "    mbarrier_wait @2[%4], %4\n"
	    "    %20 = mbarrier_test bool @2[%4], %4\n"
	    "    %21 = convert f32 %20\n"
	    "    store @1[%2], %21 align 4\n");
	expect_clean();
	expect_all(1);
}
END_TEST

START_TEST(finds_too_many_arrivals)
{
	run_body(INIT("%6")
	    "    if %13 { #3\n"
	    "        mbarrier_arrive @2[%4], %7\n"
	    "    }\n");
	expect_fault("64 arrive at mbarrier 0 of \"b\" in block (0, 0, 0) "
	    "thread (0, 0, 0), where 32 of 32 are still to come in phase 0");
}
END_TEST

START_TEST(finds_one_that_nobody_made)
{
	run_body(INIT("%6")
	    "    mbarrier_wait @2[%5], %5\n");
	expect_fault("mbarrier 1 of \"b\" is used in block (0, 0, 0) thread "
	    "(0, 0, 0), but nobody has initialised it");
}
END_TEST

START_TEST(finds_a_use_beside_the_initialisation)
{
	run_body("    if %13 { #2\n"
	    "        mbarrier_init @2[%4], %7\n"
	    "    }\n"
	    "    mbarrier_arrive @2[%4], %5\n");
	expect_fault("[race]");
}
END_TEST

START_TEST(finds_an_mbarrier_out_of_bounds)
{
	run_body(INIT("%6")
	    "    mbarrier_arrive @2[%7], %5\n");
	expect_fault("\"b\" is written at element 64, outside 0..2");
}
END_TEST

START_TEST(says_who_hangs)
{
	run_body(INIT("%7")
	    "    if %14 { #3\n"
	    "        mbarrier_arrive @2[%4], %5\n"
	    "        mbarrier_wait @2[%4], %4\n"
	    "    }\n");
	expect_fault("warp 0 waits for ever for phase 0 of mbarrier 0 of "
	    "\"b\", which lacks 32 of 64 arrivals");
}
END_TEST

START_TEST(says_which_bytes_are_missing)
{
	run_body(INIT("%5")
	    "    if %13 { #3\n"
	    "        mbarrier_expect @2[%4], %7\n"
	    "        mbarrier_wait @2[%4], %4\n"
	    "    }\n");
	expect_fault("which lacks 0 of 1 arrivals and 64 of the 64 bytes "
	    "that copies are to bring");
}
END_TEST

/* ---- barriers of some threads -------------------------------------------- */

START_TEST(meets_by_name)
{
	run_body(WRITE
	    "    named_barrier %11, %7\n" READ);
	expect_clean();
	expect_all(0.5f);
}
END_TEST

/* Who arrives gives, who waits takes. */
START_TEST(arrives_without_waiting)
{
	run_body("    if %14 { #3\n"
	    "        store @3[%2], %10 align 4\n"
	    "        named_arrive %11, %7\n"
	    "    } else { #4\n"
	    "        named_barrier %11, %7\n"
	    "        %20 = load f32 @3[%9] align 4\n"
	    "        store @1[%2], %20 align 4\n"
	    "    }\n");
	expect_clean();
	ck_assert_float_eq(y[40], 0.5f);
}
END_TEST

START_TEST(finds_a_reader_that_only_arrives)
{
	run_body("    if %14 { #3\n"
	    "        store @3[%2], %10 align 4\n"
	    "        named_barrier %11, %7\n"
	    "    } else { #4\n"
	    "        named_arrive %11, %7\n"
	    "        %20 = load f32 @3[%9] align 4\n"
	    "        store @1[%2], %20 align 4\n"
	    "    }\n");
	expect_fault("[race]");
}
END_TEST

START_TEST(says_who_hangs_at_a_name)
{
	run_body("    if %14 { #3\n"
	    "        named_barrier %11, %7\n"
	    "    }\n");
	expect_fault("warp 0 waits for ever for named barrier 2, where 32 of "
	    "64 threads have come");
}
END_TEST

START_TEST(finds_other_counts)
{
	run_body("    if %14 { #3\n"
	    "        named_arrive %11, %7\n"
	    "    } else { #4\n"
	    "        named_barrier %11, %6\n"
	    "    }\n");
	expect_fault("32 threads are to meet here in block (0, 0, 0) thread "
	    "(32, 0, 0), 64 where another warp came to this barrier");
}
END_TEST

START_TEST(finds_barriers_that_do_not_exist)
{
	run_body("    named_barrier %6, %7\n");
	expect_fault("there is no named barrier 32");
	run_body("    named_barrier %11, %8\n");
	expect_fault("63 threads are to meet at named barrier 2, which counts "
	    "whole warps");
}
END_TEST

START_TEST(lanes_meet)
{
	run_body("    %15 = const int 1\n"
	    "    %16 = xor int %2, %15\n" WRITE
	    "    sync_warp\n"
	    "    %20 = load f32 @3[%16] align 4\n"
	    "    store @1[%2], %20 align 4\n");
	expect_clean();
	expect_all(0.5f);
}
END_TEST

static Suite *
interp_mbarrier_suite(void)
{
	Suite *s = suite_create("interp_mbarrier");
	TCase *c = tcase_create("mbarriers");

	tcase_add_checked_fixture(c, set_up, tear_down);
	tcase_add_test(c, orders_what_was_written);
	tcase_add_test(c, finds_a_missing_wait);
	tcase_add_test(c, finds_the_wrong_parity);
	tcase_add_test(c, counts_several_arrivals_at_once);
	tcase_add_test(c, finds_too_many_arrivals);
	tcase_add_test(c, finds_one_that_nobody_made);
	tcase_add_test(c, finds_a_use_beside_the_initialisation);
	tcase_add_test(c, finds_an_mbarrier_out_of_bounds);
	tcase_add_test(c, says_who_hangs);
	tcase_add_test(c, says_which_bytes_are_missing);
	tcase_add_test(c, meets_by_name);
	tcase_add_test(c, arrives_without_waiting);
	tcase_add_test(c, finds_a_reader_that_only_arrives);
	tcase_add_test(c, says_who_hangs_at_a_name);
	tcase_add_test(c, finds_other_counts);
	tcase_add_test(c, finds_barriers_that_do_not_exist);
	tcase_add_test(c, lanes_meet);
	suite_add_tcase(s, c);
	return s;
}

CJ_CHECK_MAIN(interp_mbarrier_suite)
