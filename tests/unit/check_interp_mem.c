/*
 * Memory in the executor: vectors, masks, fill, packed kinds, atomics; and
 * that planted faults are found where their right twins are silent: bounds,
 * never written, rights, alignment, races.
 */
#include "interp_fixture.h"

/* x = @1 is read, y = @2 written; %5 is the thread's number. */
#define HEAD(kind)							\
	"module \"t\" sm_80\n"						\
	"object @1 tensor " kind "[?] name \"x\" of 0.0 align 16 reads " \
	"layout \"N:1\"\n"						\
	"object @2 tensor " kind "[?] name \"y\" of 1.0 align 16 "	\
	"reads writes\n"						\
	"object @3 shared " kind "[64] name \"s\" align 16 reads writes " \
	"in #1\n"							\
	"device $1 \"k\" { #1\n"					\
	"    leaf object ptr @1\n"					\
	"    leaf object ptr @2\n"					\
	"    %1 = special int block_x\n"				\
	"    %2 = special int block_dim_x\n"				\
	"    %3 = special int thread_x\n"				\
	"    %4 = mul int %1, %2\n"					\
	"    %5 = add int %4, %3\n"

static void
read_body(const char *head, const char *body)
{
	static char text[8192];

	snprintf(text, sizeof text, "%s%s}\n", head, body);
	read_module(text);
}

/* ---- moving -------------------------------------------------------------- */

START_TEST(copies_vectors)
{
	uint16_t *x, *y;
	int i;

	read_body(HEAD("f16"),
	    "    %6 = const int 8\n"
	    "    %7 = mul int %5, %6\n"
	    "    %8 = load f16[8] @1[%7] align 16\n"
	    "    store @2[%7], %8 align 16\n");
	x = give(1, 8 * 96);
	y = give(2, 8 * 96);
	for (i = 0; i < 8 * 96; i++)
		x[i] = (uint16_t)(i * 7);
	run_kernel(1, 96, NULL);
	expect_clean();
	ck_assert_int_eq(memcmp(x, y, 8 * 96 * 2), 0);
}
END_TEST

START_TEST(gathers_any_order)
{
	int32_t *x, *y;
	int i;

	read_body(HEAD("i32"),
	    "    %6 = const int 63\n"
	    "    %7 = sub int %6, %5\n"
	    "    %8 = load i32 @1[%7] align 4\n"
	    "    store @2[%5], %8 align 4\n");
	x = give(1, 64);
	y = give(2, 64);
	for (i = 0; i < 64; i++)
		x[i] = i * i;
	run_kernel(2, 32, NULL);
	expect_clean();
	for (i = 0; i < 64; i++)
		ck_assert_int_eq(y[i], (63 - i) * (63 - i));
}
END_TEST

START_TEST(masks_and_fills)
{
	float *x, *y;
	int i;

	read_body(HEAD("f32"),
	    "    %6 = const int 50\n"
	    "    %7 = lt bool %5, %6\n"
	    "    %8 = const f32[2] {-1, -2}\n"
	    "    %9 = add int %5, %5\n"
	    "    %10 = load f32[2] @1[%9] mask %7 fill %8 align 8\n"
	    "    store @2[%9], %10 align 8\n"
	    "    %11 = load f32[2] @1[%9] mask %7 align 8\n"
	    "    %12 = const int 128\n"
	    "    %13 = add int %9, %12\n"
	    "    store @2[%13], %11 mask %7 align 8\n");
	x = give(1, 100);		/* what is masked does not exist */
	y = give(2, 228);
	for (i = 0; i < 100; i++)
		x[i] = (float)i;
	y[227] = 5;
	run_kernel(1, 64, NULL);
	expect_clean();
	for (i = 0; i < 128; i++) {
		ck_assert(y[i] == (i < 100 ? (float)i : i % 2 ? -2 : -1));
		if (i < 100)
			ck_assert(y[128 + i] == (float)i);
	}
}
END_TEST

START_TEST(moves_bools)
{
	uint8_t *x, *y;
	int i;

	read_body(HEAD("bool"),
	    "    %6 = load bool @1[%5] align 1\n"
	    "    %7 = not bool %6\n"
	    "    store @2[%5], %7 align 1\n");
	x = give(1, 32);
	y = give(2, 32);
	for (i = 0; i < 32; i++)
		x[i] = (uint8_t)(i % 3);	/* anything but 0 is true */
	run_kernel(1, 32, NULL);
	expect_clean();
	for (i = 0; i < 32; i++)
		ck_assert_uint_eq(y[i], i % 3 == 0);
}
END_TEST

START_TEST(packs_narrow_kinds)
{
	uint8_t *x, *y;
	int i;

	read_body(HEAD("i4"),
	    "    %6 = add int %5, %5\n"
	    "    %7 = load i4[2] @1[%6] align 1\n"
	    "    %8 = neg i4[2] %7\n"
	    "    store @2[%6], %8 align 1\n");
	x = give(1, 64);
	y = give(2, 64);
	for (i = 0; i < 32; i++)
		x[i] = (uint8_t)((i % 16) | (15 - i % 16) << 4);
	run_kernel(1, 32, NULL);
	expect_clean();
	for (i = 0; i < 32; i++)
		ck_assert_uint_eq(y[i], (-i & 15) | (-(15 - i) & 15) << 4);
}
END_TEST

/* ---- atomics ------------------------------------------------------------- */

START_TEST(counts_by_atomics)
{
	uint32_t *y;

	read_body(HEAD("u32"),
	    "    %6 = const int 0\n"
	    "    %7 = const u32 1\n"
	    "    %8 = atomic u32 add @2[%6], %7 align 4 order relaxed scope "
	    "gpu\n"
	    "    %9 = const int 1\n"
	    "    %10 = convert u32 %5\n"
	    "    %11 = atomic u32 max @2[%9], %10 align 4 order relaxed "
	    "scope gpu\n"
	    "    %12 = const int 2\n"
	    "    %13 = add int %5, %12\n"
	    "    store @2[%13], %8 align 4\n");
	y = give(2, 40 * 100 + 2);
	run_kernel(40, 100, NULL);
	expect_clean();
	ck_assert_uint_eq(y[0], 4000);
	ck_assert_uint_eq(y[1], 3999);
	{
		static unsigned char seen[4000];
		int i;

		for (i = 0; i < 4000; i++)
			ck_assert_uint_eq(seen[y[2 + i]]++, 0);
	}
}
END_TEST

START_TEST(exchanges_by_atomics)
{
	int64_t *y;

	read_body(HEAD("int"),
	    "    %6 = const int 0\n"
	    "    %7 = const int 1\n"
	    "    %8 = const int 31\n"
	    "    %9 = eq bool %3, %8\n"
	    "    %10 = atomic int cas @2[%6], %7, %6 mask %9 align 8\n"
	    "    %11 = const int 1\n"
	    "    %12 = atomic int exch @2[%11], %5 align 8\n"
	    "    %13 = const int 2\n"
	    "    %14 = atomic int xor @2[%13], %5 align 8\n");
	y = give(2, 3);
	y[0] = 0;
	y[1] = -1;
	run_kernel(1, 32, NULL);
	expect_clean();
	ck_assert_int_eq(y[0], 1);
	ck_assert_int_eq(y[1], 31);
	ck_assert_int_eq(y[2], 0);
}
END_TEST

START_TEST(finds_atomics_out_of_bounds)
{
	read_body(HEAD("u32"),
	    "    %6 = const u32 1\n"
	    "    %7 = atomic u32 add @2[%5], %6 align 4 order relaxed\n");
	give(2, 31);
	run_kernel(1, 32, NULL);
	expect_fault("at element 31, outside 0..31");
	ck_assert_uint_eq(outcome.faults, 1);
}
END_TEST

/* ---- bounds -------------------------------------------------------------- */

#define COPY								\
	"    %6 = load f32 @1[%5] align 4\n"				\
	"    store @2[%5], %6 align 4\n"

START_TEST(finds_reads_out_of_bounds)
{
	const float *y;

	read_body(HEAD("f32"), COPY);
	give(1, 60);
	y = give(2, 64);
	run_kernel(1, 64, NULL);
	expect_fault("\"x\" is read at element 60, outside 0..60, in block "
	    "(0, 0, 0) thread (60, 0, 0)");
	expect_fault("the layout of \"x\" is N:1");
	expect_fault("and 3 more at this place");
	ck_assert(y[63] == 0);
}
END_TEST

START_TEST(finds_writes_out_of_bounds)
{
	float *x;
	int64_t i;

	read_body(HEAD("f32"), COPY);
	x = give(1, 64);
	give(2, 80);
	for (i = 0; i < 64; i++)
		x[i] = 1;
	memory[2].lo = 4;		/* elements 4 .. 59 exist */
	memory[2].hi = 60;
	run_kernel(1, 64, NULL);
	expect_fault("\"y\" is written at element 0, outside 4..60");
	ck_assert_uint_eq(outcome.faults, 8);
	for (i = 0; i < 80; i++)
		ck_assert(((float *)(void *)memory[2].data)[i]
		    == (i >= 4 && i < 60 ? 1 : 0));
}
END_TEST

START_TEST(finds_vectors_that_reach_out)
{
	read_body(HEAD("f32"),
	    "    %6 = const int 4\n"
	    "    %7 = mul int %5, %6\n"
	    "    %8 = load f32[4] @1[%7] align 16\n"
	    "    store @2[%7], %8 align 16\n");
	give(1, 126);
	give(2, 128);
	run_kernel(1, 32, NULL);
	expect_fault("\"x\" is read at element 126, outside 0..126, in block "
	    "(0, 0, 0) thread (31, 0, 0)");
	ck_assert_uint_eq(outcome.faults, 1);
}
END_TEST

START_TEST(says_when_there_are_no_elements)
{
	read_body(HEAD("f32"), COPY);
	give(1, 0);
	give(2, 32);
	run_kernel(1, 1, NULL);
	expect_fault("\"x\" is read at element 0, but has no elements");
}
END_TEST

START_TEST(drops_quietly_without_the_check)
{
	read_body(HEAD("f32"), COPY);
	give(1, 10);
	give(2, 10);
	options.checks = 0;
	run_kernel(1, 32, NULL);
	expect_clean();
}
END_TEST

/* ---- rights and alignment ------------------------------------------------ */

/* All threads write one element: faults without end. */
START_TEST(gives_up_on_races_by_name)
{
	read_body(HEAD("f32"),
	    "    %6 = const int 0\n"
	    "    %7 = const f32 1\n"
	    "    store @2[%6], %7 align 4\n");
	give(1, 32);
	give(2, 32);
	options.workers = 1;
	run_kernel(1200, 1024, NULL);
	expect_fault("more than 2^20 faults");
	ck_assert(strstr(faults, cj_code_text(CJ_DIAG_UNCHECKED)) != NULL);
}
END_TEST

START_TEST(finds_writes_without_right)
{
	read_body(HEAD("f32"), COPY);
	give(1, 32);
	give(2, 32);
	memory[2].writable = false;
	run_kernel(1, 32, NULL);
	expect_fault("\"y\" is written at element 0, but may only be read");
	ck_assert(strstr(faults, cj_code_text(CJ_DIAG_MISSING_RIGHT)) != NULL);
}
END_TEST

START_TEST(finds_misaligned_vectors)
{
	read_body(HEAD("f32"),
	    "    %6 = const int 1\n"
	    "    %7 = const int 4\n"
	    "    %8 = mul int %5, %7\n"
	    "    %9 = add int %8, %6\n"
	    "    %10 = load f32[4] @1[%9] align 16\n"
	    "    store @2[%8], %10 align 16\n");
	give(1, 200);
	give(2, 200);
	run_kernel(1, 32, NULL);
	expect_fault("\"x\" is touched at element 1, which is not aligned to "
	    "the 16 bytes that were promised");
}
END_TEST

/* ---- never written ------------------------------------------------------- */

START_TEST(finds_reads_of_what_nobody_wrote)
{
	read_body(HEAD("f32"),
	    "    %6 = load f32 @2[%5] align 4\n"
	    "    store @2[%5], %6 align 4\n");
	give(2, 64);
	memory[2].written = cj_alloc(&arena, 64);
	memset(memory[2].written, 1, 40);
	run_kernel(1, 64, NULL);
	expect_fault("\"y\" is read at element 40, which nobody has written, "
	    "in block (0, 0, 0) thread (40, 0, 0)");
	ck_assert_uint_eq(outcome.faults, 24);
	ck_assert_uint_eq(memory[2].written[63], 1);
}
END_TEST

START_TEST(is_silent_after_the_write)
{
	read_body(HEAD("f32"),
	    "    %6 = const f32 3\n"
	    "    store @2[%5], %6 align 4\n"
	    "    %7 = load f32 @2[%5] align 4\n"
	    "    store @2[%5], %7 align 4\n");
	give(2, 64);
	memory[2].written = cj_alloc(&arena, 64);
	run_kernel(1, 64, NULL);
	expect_clean();
}
END_TEST

/* ---- races --------------------------------------------------------------- */

START_TEST(finds_races_of_warps)
{
	/* each thread reads what its neighbour wrote, no barrier between */
	read_body(HEAD("int"),
	    "    %6 = const int 63\n"
	    "    store @3[%3], %3 align 8\n"
	    "    %7 = sub int %6, %3\n"
	    "    %8 = load int @3[%7] align 8\n"
	    "    store @2[%5], %8 align 8\n");
	give(2, 64);
	run_kernel(1, 64, NULL);
	/* warp 1 comes second and sees what warp 0 wrote */
	expect_fault("\"s\" is read at element 31 in block (0, 0, 0) thread "
	    "(32, 0, 0) and written by block (0, 0, 0) thread (31, 0, 0), "
	    "and nothing orders them");
}
END_TEST

START_TEST(finds_races_of_a_loop_back_edge)
{
	/* the barrier after the read is missing */
	read_body(HEAD("int"),
	    "    %6 = const int 63\n"
	    "    %7 = const int 0\n"
	    "    %8 = const int 3\n"
	    "    %9 = const int 1\n"
	    "    for %10 in %7..%8 step %9 {\n"
	    "        store @3[%3], %10 align 8\n"
	    "        barrier\n"
	    "        %11 = sub int %6, %3\n"
	    "        %12 = load int @3[%11] align 8\n"
	    "        store @2[%5], %12 align 8\n"
	    "    }\n");
	give(2, 64);
	run_kernel(1, 64, NULL);
	expect_fault("[race]");
}
END_TEST

START_TEST(is_silent_with_both_barriers)
{
	read_body(HEAD("int"),
	    "    %6 = const int 63\n"
	    "    %7 = const int 0\n"
	    "    %8 = const int 3\n"
	    "    %9 = const int 1\n"
	    "    for %10 in %7..%8 step %9 {\n"
	    "        store @3[%3], %10 align 8\n"
	    "        barrier\n"
	    "        %11 = sub int %6, %3\n"
	    "        %12 = load int @3[%11] align 8\n"
	    "        store @2[%5], %12 align 8\n"
	    "        barrier\n"
	    "    }\n");
	give(2, 640);
	run_kernel(10, 64, NULL);
	expect_clean();
}
END_TEST

START_TEST(finds_races_of_blocks)
{
	read_body(HEAD("int"),
	    "    %6 = const int 0\n"
	    "    %7 = eq bool %3, %6\n"
	    "    store @2[%6], %1 mask %7 align 8\n");
	give(2, 64);
	run_kernel(4, 32, NULL);
	expect_fault("\"y\" is written at element 0 in block (");
	expect_fault("the other side is here");
}
END_TEST

/* `// allow race: reason` at the line of either side. */
START_TEST(is_silent_where_it_is_allowed)
{
	static const char text[] = "one\n// allow race: any will do\nthree\n";

	read_body(HEAD("int"),
	    "    %6 = const int 0\n"
	    "    %7 = eq bool %3, %6\n"
	    "    store @2[%6], %1 mask %7 align 8 !1\n"
	    "}\n"
	    "place !1 1:34:39\n"
	    "device $2 \"end\" {\n");
	cj_source_add(&sources, "t.cute", text, strlen(text));
	give(2, 64);
	run_kernel(4, 32, NULL);
	expect_clean();
}
END_TEST

START_TEST(finds_races_of_lanes)
{
	read_body(HEAD("int"),
	    "    %6 = const int 2\n"
	    "    %7 = div int %3, %6\n"
	    "    store @2[%7], %3 align 8\n");
	give(2, 64);
	run_kernel(1, 32, NULL);
	expect_fault("\"y\" is written at element 0 by lanes 0 and 1 at "
	    "once");
}
END_TEST

START_TEST(finds_a_reader_among_blocks)
{
	/* all blocks read element 5, block 3 writes it */
	read_body(HEAD("int"),
	    "    %6 = const int 5\n"
	    "    %7 = load int @2[%6] align 8\n"
	    "    %8 = const int 3\n"
	    "    %9 = eq bool %1, %8\n"
	    "    %10 = eq bool %3, %8\n"
	    "    %11 = and bool %9, %10\n"
	    "    store @2[%6], %7 mask %11 align 8\n");
	give(2, 64);
	run_kernel(4, 32, NULL);
	expect_fault("[race]");
}
END_TEST

START_TEST(is_silent_where_all_only_read)
{
	read_body(HEAD("int"),
	    "    %6 = const int 5\n"
	    "    %7 = load int @1[%6] align 8\n"
	    "    store @2[%5], %7 align 8\n");
	give(1, 64);
	give(2, 640);
	run_kernel(10, 64, NULL);
	expect_clean();
}
END_TEST

START_TEST(finds_an_alias_that_is_shifted)
{
	/* y is x: thread i reads i + 1, which another one writes */
	read_body(HEAD("int"),
	    "    %6 = const int 32\n"
	    "    %7 = add int %5, %6\n"
	    "    %8 = load int @1[%7] align 8\n"
	    "    store @2[%5], %8 align 8\n");
	give(2, 640);
	memory[1] = memory[2];
	memory[1].writable = false;
	run_kernel(4, 32, NULL);
	expect_fault("[race]");
}
END_TEST

START_TEST(finds_plain_reads_beside_atomics)
{
	read_body(HEAD("u32"),
	    "    %6 = const int 0\n"
	    "    %7 = const u32 1\n"
	    "    %8 = atomic u32 add @2[%6], %7 align 4 order relaxed scope "
	    "gpu\n"
	    "    %9 = load u32 @2[%6] align 4\n"
	    "    %10 = const int 1\n"
	    "    %11 = add int %5, %10\n"
	    "    store @2[%11], %9 align 4\n");
	give(2, 640);
	run_kernel(4, 32, NULL);
	expect_fault("[race]");
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("interp_mem");
	TCase *c = tcase_create("all");

	tcase_add_checked_fixture(c, set_up, tear_down);
	tcase_add_test(c, copies_vectors);
	tcase_add_test(c, gathers_any_order);
	tcase_add_test(c, masks_and_fills);
	tcase_add_test(c, moves_bools);
	tcase_add_test(c, packs_narrow_kinds);
	tcase_add_test(c, counts_by_atomics);
	tcase_add_test(c, exchanges_by_atomics);
	tcase_add_test(c, finds_atomics_out_of_bounds);
	tcase_add_test(c, finds_reads_out_of_bounds);
	tcase_add_test(c, finds_writes_out_of_bounds);
	tcase_add_test(c, finds_vectors_that_reach_out);
	tcase_add_test(c, says_when_there_are_no_elements);
	tcase_add_test(c, drops_quietly_without_the_check);
	tcase_add_test(c, gives_up_on_races_by_name);
	tcase_add_test(c, finds_writes_without_right);
	tcase_add_test(c, finds_misaligned_vectors);
	tcase_add_test(c, finds_reads_of_what_nobody_wrote);
	tcase_add_test(c, is_silent_after_the_write);
	tcase_add_test(c, finds_races_of_warps);
	tcase_add_test(c, finds_races_of_a_loop_back_edge);
	tcase_add_test(c, is_silent_with_both_barriers);
	tcase_add_test(c, finds_races_of_blocks);
	tcase_add_test(c, is_silent_where_it_is_allowed);
	tcase_add_test(c, finds_races_of_lanes);
	tcase_add_test(c, finds_a_reader_among_blocks);
	tcase_add_test(c, is_silent_where_all_only_read);
	tcase_add_test(c, finds_an_alias_that_is_shifted);
	tcase_add_test(c, finds_plain_reads_beside_atomics);
	suite_add_tcase(s, c);
	return s;
}

CJ_CHECK_MAIN(suite)
