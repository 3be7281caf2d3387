/*
 * The executor's control and kernels: what lanes do in branches, loops and
 * exits, against the same program written for one thread in C; barriers,
 * shared memory, warps, special values.
 */
#include "interp_fixture.h"

enum { THREADS = 100, BLOCKS = 3, ALL = THREADS * BLOCKS };

/* A kernel in which @1 is the output, %i the thread's number. */
#define HEAD								\
	"module \"t\" sm_80\n"						\
	"object @1 tensor int[?] name \"y\" of 0.0 align 8 reads writes\n" \
	"object @2 slot int[1] name \"v\" in #1\n"			\
	"object @3 slot int[1] name \"w\" in #1\n"			\
	"device $1 \"k\" { #1\n"					\
	"    leaf object ptr @1\n"					\
	"    %1 = special int block_x\n"				\
	"    %2 = special int block_dim_x\n"				\
	"    %3 = special int thread_x\n"				\
	"    %4 = mul int %1, %2\n"					\
	"    %5 = add int %4, %3\n"					\
	"    %6 = const int 0\n"					\
	"    %7 = const int 1\n"					\
	"    %8 = const int 3\n"					\
	"    slot_set @2[0], %6\n"					\
	"    slot_set @3[0], %6\n"

static const int64_t *
run_lanes(const char *body)
{
	static char text[8192];
	int64_t *y;

	snprintf(text, sizeof text, "%s%s}\n", HEAD, body);
	read_module(text);
	y = give(1, ALL);
	run_kernel(BLOCKS, THREADS, NULL);
	return y;
}

START_TEST(stores_by_thread)
{
	const int64_t *y = run_lanes("    store @1[%5], %5 align 8\n");
	int i;

	expect_clean();
	for (i = 0; i < ALL; i++)
		ck_assert_int_eq(y[i], i);
}
END_TEST

START_TEST(branches_join)
{
	const int64_t *y = run_lanes(
	    "    %9 = mod int %5, %8\n"
	    "    %10 = eq bool %9, %6\n"
	    "    %11 = if int %10 {\n"
	    "        %12 = add int %5, %7\n"
	    "        yield %12\n"
	    "    } else {\n"
	    "        %13 = eq bool %9, %7\n"
	    "        %14 = if int %13 {\n"
	    "            yield %6\n"
	    "        } else {\n"
	    "            %15 = neg int %5\n"
	    "            yield %15\n"
	    "        }\n"
	    "        yield %14\n"
	    "    }\n"
	    "    %16 = add int %11, %8\n"
	    "    store @1[%5], %16 align 8\n");
	int i;

	expect_clean();
	for (i = 0; i < ALL; i++)
		ck_assert_int_eq(y[i],
		    (i % 3 == 0 ? i + 1 : i % 3 == 1 ? 0 : -i) + 3);
}
END_TEST

START_TEST(returns_early)
{
	const int64_t *y = run_lanes(
	    "    %9 = mod int %5, %8\n"
	    "    %10 = eq bool %9, %6\n"
	    "    if %10 {\n"
	    "        return\n"
	    "    }\n"
	    "    %11 = eq bool %9, %7\n"
	    "    if %11 {\n"
	    "        store @1[%5], %7 align 8\n"
	    "        return\n"
	    "    } else {\n"
	    "        store @1[%5], %8 align 8\n"
	    "    }\n"
	    "    store @1[%5], %5 align 8\n");
	int i;

	expect_clean();
	for (i = 0; i < ALL; i++)
		ck_assert_int_eq(y[i], i % 3 == 0 ? 0 : i % 3 == 1 ? 1 : i);
}
END_TEST

/* for j in 0..i step 3 { if j % 3 == ... continue; if j > 20 break; v += j } */
START_TEST(leaves_loops)
{
	const int64_t *y = run_lanes(
	    "    %9 = const int 20\n"
	    "    %10 = const int 2\n"
	    "    for ^1 %11 in %6..%5 step %7 {\n"
	    "        %12 = mod int %11, %8\n"
	    "        %13 = mod int %5, %8\n"
	    "        %14 = eq bool %12, %13\n"
	    "        if %14 {\n"
	    "            continue ^1\n"
	    "        }\n"
	    "        %15 = lt bool %9, %11\n"
	    "        if %15 {\n"
	    "            break ^1\n"
	    "        }\n"
	    "        %16 = slot_get int @2[0]\n"
	    "        %17 = add int %16, %11\n"
	    "        slot_set @2[0], %17\n"
	    "    }\n"
	    "    %18 = slot_get int @2[0]\n"
	    "    store @1[%5], %18 align 8\n");
	int i, j;

	expect_clean();
	for (i = 0; i < ALL; i++) {
		int64_t v = 0;

		for (j = 0; j < i; j++) {
			if (j % 3 == i % 3)
				continue;
			if (j > 20)
				break;
			v += j;
		}
		ck_assert_int_eq(y[i], v);
	}
}
END_TEST

/* Loops in loops, left by two levels, and returns out of the middle. */
START_TEST(leaves_outer_loops)
{
	const int64_t *y = run_lanes(
	    "    %9 = const int 7\n"
	    "    %10 = const int 40\n"
	    "    for ^1 %11 in %6..%10 step %8 {\n"
	    "        loop ^2 {\n"
	    "            %12 = slot_get int @2[0]\n"
	    "            %13 = add int %12, %7\n"
	    "            slot_set @2[0], %13\n"
	    "            %14 = add int %13, %5\n"
	    "            %15 = mod int %14, %9\n"
	    "            %16 = eq bool %15, %6\n"
	    "            if %16 {\n"
	    "                continue ^1\n"
	    "            }\n"
	    "            %17 = eq bool %15, %7\n"
	    "            if %17 {\n"
	    "                break ^2\n"
	    "            }\n"
	    "            %18 = lt bool %10, %13\n"
	    "            if %18 {\n"
	    "                break ^1\n"
	    "            }\n"
	    "            %19 = const int 35\n"
	    "            %20 = eq bool %13, %19\n"
	    "            if %20 {\n"
	    "                store @1[%5], %19 align 8\n"
	    "                return\n"
	    "            }\n"
	    "        }\n"
	    "        %21 = slot_get int @3[0]\n"
	    "        %22 = add int %21, %7\n"
	    "        slot_set @3[0], %22\n"
	    "    }\n"
	    "    %23 = slot_get int @2[0]\n"
	    "    %24 = slot_get int @3[0]\n"
	    "    %25 = const int 1000\n"
	    "    %26 = mul int %24, %25\n"
	    "    %27 = add int %23, %26\n"
	    "    store @1[%5], %27 align 8\n");
	int i, j;

	expect_clean();
	for (i = 0; i < ALL; i++) {
		int64_t v = 0, w = 0;

		for (j = 0; j < 40; j += 3) {
			for (;;) {
				int64_t r;

				v++;
				r = (v + i) % 7;
				if (r == 0)
					goto next;
				if (r == 1)
					break;
				if (v > 40)
					goto out;
				if (v == 35) {
					ck_assert_int_eq(y[i], 35);
					goto done;
				}
			}
			w++;
next:			;
		}
out:		ck_assert_int_eq(y[i], v + w * 1000);
done:		;
	}
}
END_TEST

START_TEST(leaves_scopes)
{
	const int64_t *y = run_lanes(
	    "    scope ^1 {\n"
	    "        scope ^2 {\n"
	    "            %9 = mod int %5, %8\n"
	    "            %10 = eq bool %9, %6\n"
	    "            if %10 {\n"
	    "                break ^1\n"
	    "            }\n"
	    "            %11 = eq bool %9, %7\n"
	    "            if %11 {\n"
	    "                break ^2\n"
	    "            }\n"
	    "            slot_set @2[0], %8\n"
	    "        }\n"
	    "        slot_set @3[0], %7\n"
	    "    }\n"
	    "    %12 = slot_get int @2[0]\n"
	    "    %13 = slot_get int @3[0]\n"
	    "    %14 = add int %12, %13\n"
	    "    store @1[%5], %14 align 8\n");
	int i;

	expect_clean();
	for (i = 0; i < ALL; i++)
		ck_assert_int_eq(y[i], i % 3 == 0 ? 0 : i % 3 == 1 ? 1 : 4);
}
END_TEST

/* Bounds of a loop may differ from lane to lane, and be empty. */
START_TEST(loops_by_lane)
{
	const int64_t *y = run_lanes(
	    "    %9 = const int 50\n"
	    "    %10 = add int %3, %7\n"
	    "    for %11 in %5..%9 step %10 {\n"
	    "        %12 = slot_get int @2[0]\n"
	    "        %13 = add int %12, %7\n"
	    "        slot_set @2[0], %13\n"
	    "    }\n"
	    "    %14 = slot_get int @2[0]\n"
	    "    store @1[%5], %14 align 8\n");
	int i, j;

	expect_clean();
	for (i = 0; i < ALL; i++) {
		int64_t v = 0;

		for (j = i; j < 50; j += i % THREADS + 1)
			v++;
		ck_assert_int_eq(y[i], v);
	}
}
END_TEST

START_TEST(finds_endless_loops)
{
	options.step_limit = 10000;
	run_lanes("    loop {\n"
	    "        %9 = slot_get int @2[0]\n"
	    "        slot_set @2[0], %9\n"
	    "    }\n");
	expect_fault("endless-kernel");
	ck_assert(outcome.stopped);
}
END_TEST

START_TEST(finds_steps_that_do_not_advance)
{
	run_lanes("    for %9 in %6..%8 step %6 {\n"
	    "        store @1[%9], %9 align 8\n"
	    "    }\n");
	expect_fault("the step of this loop is 0");
	ck_assert(outcome.stopped);
}
END_TEST

START_TEST(can_be_cancelled)
{
	static atomic_int cancel = 1;

	options.cancel = &cancel;
	run_lanes("    loop {\n"
	    "        %9 = slot_get int @2[0]\n"
	    "        slot_set @2[0], %9\n"
	    "    }\n");
	ck_assert(outcome.stopped);
	ck_assert_str_eq(faults, "");
}
END_TEST

START_TEST(finds_index_overflow_of_running_lanes)
{
	/* lanes below 3 do not multiply, the others overflow */
	run_lanes("    %9 = lt bool %3, %8\n"
	    "    %10 = const int 9223372036854775807\n"
	    "    if %9 {\n"
	    "    } else {\n"
	    "        %11 = add int %10, %3\n"
	    "        store @1[%5], %11 align 8\n"
	    "    }\n");
	expect_fault("\"int\" overflows in add of 9223372036854775807 and 3, "
	    "in block (0, 0, 0) thread (3, 0, 0)");
	expect_fault("and 290 more at this place");
}
END_TEST

START_TEST(is_silent_about_lanes_elsewhere)
{
	run_lanes("    %9 = lt bool %3, %7\n"
	    "    %10 = const int 9223372036854775807\n"
	    "    if %9 {\n"
	    "        %11 = add int %10, %3\n"
	    "        store @1[%5], %11 align 8\n"
	    "    }\n");
	expect_clean();
}
END_TEST

/* ---- special values ------------------------------------------------------ */

START_TEST(knows_special_values)
{
	int64_t *y;
	int b, t;

	read_module("module \"t\" sm_80\n"
	    "object @1 tensor int[?] name \"y\" of 0.0 align 8 writes\n"
	    "device $1 \"k\" {\n"
	    "    leaf object ptr @1\n"
	    "    %1 = special int thread_x\n"
	    "    %2 = special int thread_y\n"
	    "    %3 = special int thread_z\n"
	    "    %4 = special int block_x\n"
	    "    %5 = special int block_y\n"
	    "    %6 = special int block_z\n"
	    "    %7 = special int block_dim_x\n"
	    "    %8 = special int grid_dim_y\n"
	    "    %9 = special int lane\n"
	    "    %10 = special int warp\n"
	    "    %11 = special int block_rank\n"
	    "    %12 = const int 5\n"
	    "    %13 = const int 3\n"
	    "    %14 = const int 2\n"
	    "    %15 = mul int %3, %13\n"
	    "    %16 = add int %15, %2\n"
	    "    %17 = mul int %16, %12\n"
	    "    %18 = add int %17, %1\n"		/* thread */
	    "    %19 = mul int %6, %8\n"
	    "    %20 = add int %19, %5\n"
	    "    %21 = const int 4\n"
	    "    %22 = mul int %20, %21\n"
	    "    %23 = add int %22, %4\n"		/* block */
	    "    %24 = const int 60\n"
	    "    %25 = mul int %23, %24\n"
	    "    %26 = add int %25, %18\n"
	    "    %27 = const int 8\n"
	    "    %28 = mul int %26, %27\n"
	    "    %29 = concat int[8] %1, %2, %3, %9, %10, %11, %7, %8\n"
	    "    store @1[%28], %29 align 64\n"
	    "}\n");
	y = give(1, 4 * 2 * 3 * 60 * 8);
	{
		struct cj_kernel_launch k = { .function = 1,
		    .grid = { 4, 2, 3 }, .block = { 5, 3, 4 },
		    .cluster = { 2, 2, 1 }, .memory = memory };

		cj_interp_kernel(&arena, module, &k, &options, &diags,
		    &outcome);
		take_faults();
	}
	expect_clean();
	for (b = 0; b < 24; b++)
		for (t = 0; t < 60; t++) {
			const int64_t *v = y + (b * 60 + t) * 8;

			ck_assert_int_eq(v[0], t % 5);
			ck_assert_int_eq(v[1], t / 5 % 3);
			ck_assert_int_eq(v[2], t / 15);
			ck_assert_int_eq(v[3], t % 32);
			ck_assert_int_eq(v[4], t / 32);
			ck_assert_int_eq(v[5], b % 4 % 2 + b / 4 % 2 * 2);
			ck_assert_int_eq(v[6], 5);
			ck_assert_int_eq(v[7], 2);
		}
}
END_TEST

/* ---- barriers ------------------------------------------------------------ */

/* Reverse a block through shared memory. */
#define REVERSE(sync)							\
	"module \"t\" sm_80\n"						\
	"object @1 tensor int[?] name \"y\" of 0.0 align 8 writes\n"	\
	"object @2 shared int[100] name \"s\" align 16 reads writes in #1\n" \
	"device $1 \"k\" { #1\n"					\
	"    leaf object ptr @1\n"					\
	"    %1 = special int block_x\n"				\
	"    %2 = special int block_dim_x\n"				\
	"    %3 = special int thread_x\n"				\
	"    %4 = mul int %1, %2\n"					\
	"    %5 = add int %4, %3\n"					\
	"    %6 = const int 99\n"					\
	"    %7 = sub int %6, %3\n"					\
	"    store @2[%3], %5 align 8\n"				\
	sync								\
	"    %8 = load int @2[%7] align 8\n"				\
	"    store @1[%5], %8 align 8\n"				\
	"}\n"

START_TEST(barriers_order_shared_memory)
{
	const int64_t *y;
	int i;

	for (options.seed = 0; options.seed < 5; options.seed++) {
		read_module(REVERSE("    barrier\n"));
		y = give(1, ALL);
		run_kernel(BLOCKS, THREADS, NULL);
		expect_clean();
		for (i = 0; i < ALL; i++)
			ck_assert_int_eq(y[i], i / THREADS * THREADS
			    + THREADS - 1 - i % THREADS);
	}
}
END_TEST

START_TEST(finds_a_missing_barrier)
{
	read_module(REVERSE(""));
	give(1, ALL);
	run_kernel(BLOCKS, THREADS, NULL);
	/* warp 0 is first: what it reads is not there yet */
	expect_fault("never-written");
	expect_fault("[race]");
}
END_TEST

START_TEST(finds_early_returns_before_a_barrier)
{
	read_module(HEAD
	    "    %9 = const int 64\n"
	    "    %10 = lt bool %3, %9\n"
	    "    if %10 {\n"
	    "        return\n"
	    "    }\n"
	    "    barrier\n"
	    "}\n");
	give(1, ALL);
	run_kernel(1, THREADS, NULL);
	expect_fault("36 of 100 threads wait at this barrier in block (0, 0, "
	    "0) thread (64, 0, 0), but 64 have ended, thread (0, 0, 0) among "
	    "them");
}
END_TEST

START_TEST(finds_divergent_barriers_in_a_warp)
{
	read_module(HEAD
	    "    %9 = const int 10\n"
	    "    %10 = lt bool %3, %9\n"
	    "    if %10 {\n"
	    "        barrier\n"
	    "    }\n"
	    "    store @1[%5], %5 align 8\n"
	    "}\n");
	give(1, ALL);
	run_kernel(1, 32, NULL);
	expect_fault("10 threads of warp 0 wait at this barrier in block (0, "
	    "0, 0) thread (0, 0, 0), but 22, lane 10 among them, took "
	    "another way");
	ck_assert_int_eq(((int64_t *)(void *)memory[1].data)[31], 31);
}
END_TEST

START_TEST(finds_warps_at_different_barriers)
{
	read_module(HEAD
	    "    %9 = const int 32\n"
	    "    %10 = lt bool %3, %9\n"
	    "    if %10 {\n"
	    "        barrier\n"
	    "    } else {\n"
	    "        barrier\n"
	    "    }\n"
	    "}\n");
	give(1, ALL);
	run_kernel(1, 64, NULL);
	expect_fault("warp 0 waits at this barrier, warp 1 at another one");
}
END_TEST

START_TEST(barriers_in_uniform_loops)
{
	const int64_t *y;
	int i;

	read_module("module \"t\" sm_80\n"
	    "object @1 tensor int[?] name \"y\" of 0.0 align 8 writes\n"
	    "object @2 shared int[256] name \"s\" align 16 reads writes "
	    "in #1\n"
	    "device $1 \"k\" { #1\n"
	    "    leaf object ptr @1\n"
	    "    %1 = special int thread_x\n"
	    "    %2 = const int 0\n"
	    "    %3 = const int 8\n"
	    "    %4 = const int 1\n"
	    "    store @2[%1], %1 align 8\n"
	    "    for %5 in %2..%3 step %4 {\n"
	    "        barrier\n"
	    "        %6 = shl int %4, %5\n"
	    "        %7 = xor int %1, %6\n"
	    "        %8 = load int @2[%7] align 8\n"
	    "        %9 = load int @2[%1] align 8\n"
	    "        %10 = add int %8, %9\n"
	    "        barrier\n"
	    "        store @2[%1], %10 align 8\n"
	    "    }\n"
	    "    %11 = load int @2[%1] align 8\n"
	    "    store @1[%1], %11 align 8\n"
	    "}\n");
	y = give(1, 256);
	options.seed = 7;
	run_kernel(1, 256, NULL);
	expect_clean();
	for (i = 0; i < 256; i++)
		ck_assert_int_eq(y[i], 255 * 128);
}
END_TEST

/* ---- operations of the warp ---------------------------------------------- */

START_TEST(shuffles)
{
	const int64_t *y;
	int i;

	read_module(HEAD
	    "    %9 = special int lane\n"
	    "    %10 = shfl int idx %5, %8\n"
	    "    %11 = shfl int up %5, %8\n"
	    "    %12 = shfl int down %5, %8\n"
	    "    %13 = shfl int xor %5, %8\n"
	    "    %14 = const int 4\n"
	    "    %15 = mul int %5, %14\n"
	    "    %16 = concat int[4] %10, %11, %12, %13\n"
	    "    store @1[%15], %16 align 8\n"
	    "}\n");
	y = give(1, 64 * 4);
	run_kernel(1, 64, NULL);
	expect_clean();
	for (i = 0; i < 64; i++) {
		int warp = i & ~31, lane = i & 31;

		ck_assert_int_eq(y[4 * i], warp + 3);
		ck_assert_int_eq(y[4 * i + 1], lane < 3 ? i : i - 3);
		ck_assert_int_eq(y[4 * i + 2], lane + 3 > 31 ? i : i + 3);
		ck_assert_int_eq(y[4 * i + 3], i ^ 3);
	}
}
END_TEST

START_TEST(finds_lanes_that_do_not_take_part)
{
	read_module(HEAD
	    "    %9 = const int 16\n"
	    "    %10 = lt bool %3, %9\n"
	    "    if %10 {\n"
	    "        %11 = shfl int xor %5, %9\n"
	    "        store @1[%5], %11 align 8\n"
	    "    }\n"
	    "}\n");
	give(1, 32);
	run_kernel(1, 32, NULL);
	expect_fault("lane 0 takes a value from lane 16, which does not take "
	    "part");
}
END_TEST

START_TEST(ballots)
{
	const uint32_t *y;
	int i;

	read_module("module \"t\" sm_80\n"
	    "object @1 tensor u32[?] name \"y\" of 0.0 align 4 writes\n"
	    "device $1 \"k\" {\n"
	    "    leaf object ptr @1\n"
	    "    %1 = special int thread_x\n"
	    "    %2 = const int 3\n"
	    "    %3 = mod int %1, %2\n"
	    "    %4 = const int 1\n"
	    "    %5 = eq bool %3, %4\n"
	    "    %6 = ballot u32 %5\n"
	    "    store @1[%1], %6 align 4\n"
	    "}\n");
	y = give(1, 40);
	run_kernel(1, 40, NULL);
	expect_clean();
	for (i = 0; i < 40; i++)
		ck_assert_uint_eq(y[i], i < 32 ? 0x92492492 : 0x24);
}
END_TEST

/* ---- print and assert ---------------------------------------------------- */

START_TEST(prints_in_order)
{
	read_module("module \"t\" sm_80\n"
	    "device $1 \"k\" {\n"
	    "    %1 = special int thread_x\n"
	    "    %2 = const f32[2] {1.5, -2}\n"
	    "    print \"x = {}, v = {}\" %1, %2\n"
	    "}\n");
	run_kernel(2, 2, NULL);
	expect_clean();
	ck_assert_str_eq(printed,
	    "block (0, 0, 0) thread (0, 0, 0): x = 0, v = [1.5, -2]\n"
	    "block (0, 0, 0) thread (1, 0, 0): x = 1, v = [1.5, -2]\n"
	    "block (1, 0, 0) thread (0, 0, 0): x = 0, v = [1.5, -2]\n"
	    "block (1, 0, 0) thread (1, 0, 0): x = 1, v = [1.5, -2]\n");
}
END_TEST

START_TEST(asserts)
{
	run_lanes("    %9 = lt bool %5, %8\n"
	    "    assert \"few threads\" %9\n");
	expect_fault("assertion failed: few threads, in block (0, 0, 0) "
	    "thread (3, 0, 0)");
	ck_assert(outcome.stopped);
}
END_TEST

/* ---- launches ------------------------------------------------------------ */

START_TEST(takes_values)
{
	const uint64_t values[3] = { 7, 0x3f800000, 0x40000000 };
	const float *y;

	read_module("module \"t\" sm_80\n"
	    "object @1 tensor f32[?] name \"y\" of 0.0 align 4 writes\n"
	    "device $1 \"k\" {\n"
	    "    leaf object ptr @1\n"
	    "    leaf value int name \"n\"\n"
	    "    leaf value f32[2] name \"v\"\n"
	    "    %1 = special int thread_x\n"
	    "    %2 = param int 1\n"
	    "    %3 = param f32[2] 2\n"
	    "    %4 = add int %1, %1\n"
	    "    %5 = lt bool %1, %2\n"
	    "    store @1[%4], %3 mask %5 align 4\n"
	    "}\n");
	y = give(1, 64);
	run_kernel(1, 32, values);
	expect_clean();
	ck_assert(y[12] == 1 && y[13] == 2 && y[14] == 0 && y[15] == 0);
}
END_TEST

START_TEST(launches_nothing_for_an_empty_grid)
{
	read_module(HEAD "    store @1[%5], %5 align 4\n}\n");
	run_kernel(0, 32, NULL);
	expect_clean();
	ck_assert_uint_eq(outcome.operations, 0);
}
END_TEST

/* The same text of faults for any number of workers. */
START_TEST(reports_the_same_with_any_workers)
{
	char first[sizeof faults];
	int i;

	for (i = 1; i <= 4; i++) {
		tear_down();
		set_up();
		options.workers = (unsigned)i;
		read_module(HEAD "    store @1[%5], %5 align 4\n}\n");
		give(1, 500);
		run_kernel(40, THREADS, NULL);
		expect_fault("\"y\" is written at element 500, outside "
		    "0..500, in block (5, 0, 0) thread (0, 0, 0)");
		expect_fault("and 3499 more at this place");
		ck_assert_uint_eq(outcome.faults, 3500);
		if (i > 1)
			ck_assert_str_eq(first, faults);
		memcpy(first, faults, sizeof first);
	}
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("interp");
	TCase *c = tcase_create("all");

	tcase_add_checked_fixture(c, set_up, tear_down);
	tcase_add_test(c, stores_by_thread);
	tcase_add_test(c, branches_join);
	tcase_add_test(c, returns_early);
	tcase_add_test(c, leaves_loops);
	tcase_add_test(c, leaves_outer_loops);
	tcase_add_test(c, leaves_scopes);
	tcase_add_test(c, loops_by_lane);
	tcase_add_test(c, finds_endless_loops);
	tcase_add_test(c, finds_steps_that_do_not_advance);
	tcase_add_test(c, can_be_cancelled);
	tcase_add_test(c, finds_index_overflow_of_running_lanes);
	tcase_add_test(c, is_silent_about_lanes_elsewhere);
	tcase_add_test(c, knows_special_values);
	tcase_add_test(c, barriers_order_shared_memory);
	tcase_add_test(c, finds_a_missing_barrier);
	tcase_add_test(c, finds_early_returns_before_a_barrier);
	tcase_add_test(c, finds_divergent_barriers_in_a_warp);
	tcase_add_test(c, finds_warps_at_different_barriers);
	tcase_add_test(c, barriers_in_uniform_loops);
	tcase_add_test(c, shuffles);
	tcase_add_test(c, finds_lanes_that_do_not_take_part);
	tcase_add_test(c, ballots);
	tcase_add_test(c, prints_in_order);
	tcase_add_test(c, asserts);
	tcase_add_test(c, takes_values);
	tcase_add_test(c, launches_nothing_for_an_empty_grid);
	tcase_add_test(c, reports_the_same_with_any_workers);
	suite_add_tcase(s, c);
	return s;
}

CJ_CHECK_MAIN(suite)
