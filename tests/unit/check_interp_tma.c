/*
 * TMA copies and products of warpgroups in the executor: boxes land at the
 * wait, with zeros outside the tensor and their bytes exchanged; planted faults
 * (waits, fences, releases that are missing) are found where their right twins
 * are silent.
 */
#include "interp_fixture.h"

/* x = @1 is 40 x 96 of bf16 in rows; s = @2 and t = @3 hold boxes of 64 x 8;
 * %1 is the map, %2 the thread, %20 who is thread 0. */
#define HEAD								\
	"module \"t\" sm_90a\n"						\
	"object @1 tensor bf16[?] name \"x\" of 0.0 align 16 reads writes\n" \
	"object @2 shared bf16[512] name \"s\" align 1024 reads "	\
	    "writes in #1\n"						\
	"object @3 shared bf16[512] name \"t\" align 1024 reads "	\
	    "writes in #1\n"						\
	"object @4 shared mbarrier[2] name \"b\" align 16 reads "	\
	    "writes in #1\n"						\
	"object @5 tensor bf16[?] name \"y\" of 1.0 align 16 reads writes\n" \
	"object @6 slot f32[4] name \"acc\" reads writes in #1\n"	\
	"object @7 slot bf16[8] name \"left\" reads writes in #1\n"	\
	"device $1 \"k\" { #1\n"					\
	"    leaf object ptr @1\n"					\
	"    leaf object ptr @5\n"					\
	"    leaf value tensormap\n"					\
	"    %1 = param tensormap 2\n"					\
	"    %2 = special int thread_x\n"				\
	"    %3 = const int 0\n"					\
	"    %4 = const int 1\n"					\
	"    %5 = const int 64\n"					\
	"    %6 = const int 36\n"					\
	"    %7 = const int 1024\n"					\
	"    %8 = const int 4\n"					\
	"    %9 = mul int %2, %8\n"					\
	"    %10 = const bf16 3\n"					\
	"    %20 = eq bool %2, %3\n"

#define INIT								\
	"    if %20 { #2\n"						\
	"        mbarrier_init @4[%3], %4\n"				\
	"        fence mbarrier_init\n"					\
	"    }\n"							\
	"    barrier\n"
#define BOX								\
	" map %1 signal @4[%3] of @1 box (64, 8) swizzle 128 "		\
	"at %5, %6\n"
#define LOAD								\
	"    if %20 { #3\n"						\
	"        mbarrier_expect @4[%3], %7\n"				\
	"        tma_load @2[%3]" BOX					\
	"    }\n"
#define WAIT	"    mbarrier_wait @4[%3], %3\n"
#define READ								\
	"    %30 = load bf16[4] @2[%9] align 8\n"			\
	"    store @5[%9], %30 align 8\n"
#define STORE								\
	"    if %20 { #4\n"						\
	"        tma_store @3[%3] map %1 of @1 box (64, 8) "		\
		"swizzle 128 at %3, %3\n"				\
	"        bulk_commit\n"						\
	"        bulk_wait 0\n"						\
	"    }\n"
#define FILL								\
	"    %40 = splat bf16[4] %10\n"					\
	"    store @3[%9], %40 align 8\n"
#define PRODUCT								\
	"    wgmma_fence\n"						\
	"    wgmma \"SM90_64x8x16_F32BF16BF16_SS\" @6[0] "		\
		"a @7[0] b @3[%3] leading 16 stride 1024 swizzle 128\n"	\
	"    wgmma_commit\n"

static uint16_t *x, *y;
static struct cj_map map;
static struct cj_tensor_map tensor;

static uint16_t
bits_of(float v)
{
	uint32_t u;

	memcpy(&u, &v, sizeof u);
	return (uint16_t)(u >> 16);
}

static void
run_body(const char *body)
{
	static char text[8192];
	uint64_t value = (uint64_t)(uintptr_t)&tensor;
	int i;

	map = (struct cj_map){ .object = 1, .rank = 2, .box = { 64, 8 },
	    .step = { 1, 1, 1, 1, 1 },
	    .swizzle = CJ_MAP_128 };
	tensor = (struct cj_tensor_map){ .map = &map, .object = 1,
	    .extent = { 96, 40 },
	    .stride = { 1, 96 } };
	snprintf(text, sizeof text, "%s%s}\n", HEAD, body);
	read_module(text);
	x = give(1, 96 * 40);
	y = give(5, 512);
	for (i = 0; i < 96 * 40; i++)
		x[i] = bits_of((float)(i % 251));
	run_kernel(1, 128, &value);
}

/* Columns 64 to 127 of rows 36 to 43: there are 96 and 40. */
START_TEST(lands_with_zeros_outside)
{
	int row, column, at;

	run_body(INIT LOAD WAIT READ);
	expect_clean();
	for (row = 0; row < 8; row++)
		for (column = 0; column < 64; column++) {
			at = row * 64 + (column ^ row % 8 * 8);
			ck_assert_uint_eq(y[at], row < 4 && column < 32 ?
			    bits_of((float)(((36 + row) * 96 + 64 + column) %
			    251)) : 0);
		}
}
END_TEST

START_TEST(finds_a_missing_wait)
{
	run_body(INIT LOAD READ);
	expect_fault("which a copy has not filled yet");
}
END_TEST

START_TEST(finds_an_invisible_mbarrier)
{
	run_body("    if %20 { #2\n"
	    "        mbarrier_init @4[%3], %4\n"
	    "    }\n"
	    "    barrier\n" LOAD WAIT);
	expect_fault("and no fence(.mbarrier_init) follows its "
	    "initialisation");
}
END_TEST

START_TEST(finds_wrong_bytes)
{
	run_body(INIT
	    "    if %20 { #3\n"
	    "        mbarrier_expect @4[%3], %5\n"
	    "        tma_load @2[%3]" BOX
	    "    }\n" WAIT);
	expect_fault("960 more than it expects");
}
END_TEST

START_TEST(finds_a_misaligned_box)
{
	run_body(INIT
	    "    if %20 { #3\n"
	    "        tma_load @2[%8]" BOX
	    "    }\n");
	expect_fault("begins at byte 8 of \"s\", which is not a multiple of "
	    "128");
}
END_TEST

/* The stage is given back while a box is still on its way. */
START_TEST(finds_two_boxes_in_one_place)
{
	run_body(INIT LOAD
	    "    if %20 { #5\n"
	    "        tma_load @2[%3]" BOX
	    "    }\n");
	expect_fault("\"s\" is written at elements from 0 on");
}
END_TEST

START_TEST(stores_what_is_inside)
{
	run_body(FILL
	    "    fence async_shared\n"
	    "    barrier\n" STORE);
	expect_clean();
	ck_assert_uint_eq(x[0], bits_of(3));
	ck_assert_uint_eq(x[7 * 96 + 63], bits_of(3));
	ck_assert_uint_eq(x[64], bits_of(64));
	ck_assert_uint_eq(x[8 * 96], bits_of(8 * 96 % 251));
}
END_TEST

START_TEST(finds_a_missing_proxy_fence)
{
	run_body(FILL "    barrier\n" STORE);
	expect_fault("with no fence(proxy = .async) between");
}
END_TEST

START_TEST(finds_a_store_beside_the_writers)
{
	run_body(FILL "    fence async_shared\n" STORE);
	expect_fault("[race]");
}
END_TEST

START_TEST(finds_an_overwritten_source)
{
	run_body(FILL
	    "    fence async_shared\n"
	    "    barrier\n"
	    "    if %20 { #4\n"
	    "        tma_store @3[%3] map %1 of @1 box (64, 8) swizzle 128 "
		"at %3, %3\n"
	    "        bulk_commit\n"
	    "        store @3[%3], %10 align 2\n"
	    "        bulk_wait_read 0\n"
	    "    }\n");
	expect_fault("\"t\" is written at elements from 0 on in block (0, 0, "
	    "0) thread (0, 0, 0), which a copy has not read yet");
}
END_TEST

/* A and B are 3 everywhere: 16 products of 9 each. */
#define REGISTERS							\
	"    %41 = splat bf16[8] %10\n"					\
	"    %42 = const f32[4] 0\n"					\
	"    slot_set @6[0], %42\n"					\
	"    slot_set @7[0], %41\n"

START_TEST(multiplies)
{
	run_body(FILL
	    "    fence async_shared\n"
	    "    barrier\n" REGISTERS PRODUCT
	    "    wgmma_wait 0\n"
	    "    %43 = slot_get f32[4] @6[0]\n"
	    "    %44 = convert bf16[4] %43\n"
	    "    store @5[%9], %44 align 8\n");
	expect_clean();
	ck_assert_uint_eq(y[0], bits_of(144));
	ck_assert_uint_eq(y[511], bits_of(144));
}
END_TEST

START_TEST(finds_an_operand_that_is_overwritten)
{
	run_body(FILL
	    "    fence async_shared\n"
	    "    barrier\n" REGISTERS PRODUCT
	    "    store @3[%9], %40 align 8\n"
	    "    wgmma_wait 0\n");
	expect_fault("which a product has not read yet");
}
END_TEST

START_TEST(finds_an_operand_with_no_fence)
{
	run_body(FILL "    barrier\n" REGISTERS PRODUCT
	    "    wgmma_wait 0\n");
	expect_fault("a product reads \"t\" at element");
}
END_TEST

START_TEST(finds_a_sum_that_is_read_in_flight)
{
	run_body(FILL
	    "    fence async_shared\n"
	    "    barrier\n" REGISTERS PRODUCT
	    "    %43 = slot_get f32[4] @6[0]\n"
	    "    wgmma_wait 0\n"
	    "    slot_set @6[0], %43\n");
	expect_fault("registers of a product in flight are read");
}
END_TEST

START_TEST(finds_a_left_operand_that_is_overwritten)
{
	run_body(FILL
	    "    fence async_shared\n"
	    "    barrier\n" REGISTERS PRODUCT
	    "    slot_set @7[0], %41\n"
	    "    wgmma_wait 0\n");
	expect_fault("registers of a product in flight are written");
}
END_TEST

static Suite *
interp_tma_suite(void)
{
	Suite *s = suite_create("interp_tma");
	TCase *c = tcase_create("boxes");

	tcase_add_checked_fixture(c, set_up, tear_down);
	tcase_add_test(c, lands_with_zeros_outside);
	tcase_add_test(c, finds_a_missing_wait);
	tcase_add_test(c, finds_an_invisible_mbarrier);
	tcase_add_test(c, finds_wrong_bytes);
	tcase_add_test(c, finds_a_misaligned_box);
	tcase_add_test(c, finds_two_boxes_in_one_place);
	tcase_add_test(c, stores_what_is_inside);
	tcase_add_test(c, finds_a_missing_proxy_fence);
	tcase_add_test(c, finds_a_store_beside_the_writers);
	tcase_add_test(c, finds_an_overwritten_source);
	tcase_add_test(c, multiplies);
	tcase_add_test(c, finds_an_operand_that_is_overwritten);
	tcase_add_test(c, finds_an_operand_with_no_fence);
	tcase_add_test(c, finds_a_sum_that_is_read_in_flight);
	tcase_add_test(c, finds_a_left_operand_that_is_overwritten);
	suite_add_tcase(s, c);
	return s;
}

CJ_CHECK_MAIN(interp_tma_suite)
