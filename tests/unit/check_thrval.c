/*
 * Tiles, partitions, and facts for accesses.
 */
#include "vectors.h"

#include "layouts.h"

static const struct {
	const char *name;
	uint64_t lines;
} files[] = {
	{ "algebra/local_tile.txt", 194 },
	{ "algebra/local_tile_proj.txt", 80 },
	{ "algebra/local_partition.txt", 179 },
	{ "algebra/local_partition_proj.txt", 80 },
};

START_TEST(vectors_agree)
{
	check_vectors(files[_i].name, files[_i].lines);
}
END_TEST

START_TEST(thread_values_cover_in_rounds)
{
	struct cj_int n = extent("N", 1);

	PRINTS(cj_layout_thread_value(&al, cj_known(4), cj_known(32),
	    cj_known(2)), "(4, (2, 4)):(2, (1, 8))");
	PRINTS(cj_layout_thread_value(&al, cj_known(4), cj_known(33),
	    cj_known(2)), "(4, (2, 5)):(2, (1, 8))");
	PRINTS(cj_layout_thread_value(&al, cj_known(256), n, cj_known(8)),
	    "(256, (8, (N + 2047)/2048)):(8, (1, 2048))");
	REFUSES(cj_layout_thread_value(&al, cj_known(0), n, cj_known(8)),
	    CJ_REFUSED_SHAPE_DIV);
}
END_TEST

START_TEST(injective_or_not)
{
	struct cj_int m = extent("M", 1), n = extent("N", 1);

	ck_assert_int_eq(cj_layout_injective(&al, L("(4,2):(1,4)")), CJ_YES);
	ck_assert_int_eq(cj_layout_injective(&al, L("(4,2):(1,3)")), CJ_NO);
	ck_assert_int_eq(cj_layout_injective(&al, L("(2,2):(3,2)")), CJ_YES);
	ck_assert_int_eq(cj_layout_injective(&al, L("(4,2):(1,0)")), CJ_NO);
	ck_assert_int_eq(cj_layout_injective(&al, cj_layout_make(&al,
	    ints(m, n), NULL)), CJ_YES);
	ck_assert_int_eq(cj_layout_injective(&al, cj_layout_make(&al,
	    ints(m, n), ints(cj_known(1), extent("ld", 1)))), CJ_MAYBE);
}
END_TEST

/* By their values, where those are at most 65,536. */
START_TEST(injective_by_values)
{
	ck_assert_int_eq(cj_layout_injective(&al, L("(256,256):(2,1)")),
	    CJ_NO);
	ck_assert_int_eq(cj_layout_injective(&al, L("(2,32768):(32768,2)")),
	    CJ_NO);
	ck_assert_int_eq(cj_layout_injective(&al, L("(2,32769):(32768,2)")),
	    CJ_MAYBE);
}
END_TEST

START_TEST(equivalent_as_functions)
{
	ck_assert_int_eq(cj_layout_equivalent(&al, L("(4,2):(1,4)"),
	    L("8:1")), CJ_YES);
	ck_assert_int_eq(cj_layout_equivalent(&al, L("(4,2):(2,1)"),
	    L("8:1")), CJ_NO);
	ck_assert_int_eq(cj_layout_equivalent(&al, L("4:1"), L("8:1")),
	    CJ_NO);
	ck_assert_int_eq(cj_layout_equivalent(&al,
	    L("Sw<1,2,3> o 0 o 8:1"), L("8:1")), CJ_YES);
	ck_assert_int_eq(cj_layout_equivalent(&al, L("(1,4):(7,1)"),
	    L("4:1")), CJ_YES);
}
END_TEST

static Suite *
thrval_suite(void)
{
	Suite *s = suite_create("thrval");
	TCase *c = tcase_create("thrval");

	tcase_add_checked_fixture(c, set_up, tear_down);
	tcase_add_loop_test(c, vectors_agree, 0, (int)CJ_LENGTH(files));
	tcase_add_test(c, thread_values_cover_in_rounds);
	tcase_add_test(c, injective_or_not);
	tcase_add_test(c, injective_by_values);
	tcase_add_test(c, equivalent_as_functions);
	suite_add_tcase(s, c);
	return s;
}

CJ_CHECK_MAIN(thrval_suite)
