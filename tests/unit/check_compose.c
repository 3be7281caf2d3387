/*
 * Composition: R(c) = A(B(c)).
 */
#include "vectors.h"

#include "layouts.h"

static const struct {
	const char *name;
	uint64_t lines;
} files[] = {
	{ "algebra/composition.txt", 395 },
	{ "algebra/composition_tiler.txt", 210 },
	{ "algebra/composed_o_layout.txt", 80 },
	{ "algebra/composed_slice_and_offset.txt", 120 },
};

START_TEST(vectors_agree)
{
	check_vectors(files[_i].name, files[_i].lines);
}
END_TEST

START_TEST(symbolic_conditions_have_to_be_known)
{
	struct cj_int m = extent("M", 1), n = extent("N", 8);
	struct cj_int ld = extent("ld", 8);
	const struct cj_layout *by_m, *by_n, *tile = L("8:1");

	by_n = cj_layout_make(&al, ints(n, m), ints(cj_known(1), ld));
	PRINTS(cj_layout_compose(&al, by_n, tile), "8:1");
	by_m = cj_layout_make(&al, ints(m, n), ints(cj_known(1), ld));
	REFUSES(cj_layout_compose(&al, by_m, tile), CJ_REFUSED_SYMBOLIC);
	ck_assert_ptr_ne(strstr(al.why.text, "mode 0 of extent M"), NULL);
}
END_TEST

/* The last mode goes on, so nothing has to divide it. */
START_TEST(last_modes_need_no_condition)
{
	struct cj_int m = extent("M", 1);

	PRINTS(cj_layout_compose(&al, cj_layout_make(&al, cj_tuple_int(&al,
	    m), T("3")), L("(8,5):(1,8)")), "(8, 5):(3, 24)");
}
END_TEST

/* Conditions that are not met: what is right all the same is answered. */
START_TEST(small_layouts_are_looked_at)
{
	PRINTS(cj_layout_compose(&al, L("(4,4):(1,4)"), L("(8,3):(3,1)")),
	    "(8, 3):(3, 1)");
	PRINTS(cj_layout_compose(&al, L("(8,2):(1,8)"), L("5:4")), "5:4");
	REFUSES(cj_layout_compose(&al, L("(4,4):(1,8)"), L("(8,3):(3,1)")),
	    CJ_REFUSED_STRIDE_DIV);
	ck_assert_ptr_ne(strstr(al.why.text, "a step of 3 does not fit"),
	    NULL);
	REFUSES(cj_layout_compose(&al, L("(8,2):(1,2)"), L("5:4")),
	    CJ_REFUSED_SHAPE_DIV);
}
END_TEST

/* A mode of stride 0 hides what a step carries; 4096 elements at most. */
START_TEST(large_layouts_are_not_looked_at)
{
	const struct cj_layout *a = L("(9,8):(0,6)");

	PRINTS(cj_layout_compose(&al, a, L("4:5")), "(2, 2):(0, 6)");
	PRINTS(cj_layout_compose(&al, a, L("(4,1024):(5,0)")),
	    "((2, 2), 1024):((0, 6), 0)");
	REFUSES(cj_layout_compose(&al, a, L("(4,1025):(5,0)")),
	    CJ_REFUSED_STRIDE_DIV);
}
END_TEST

START_TEST(zero_extents_are_refused)
{
	REFUSES(cj_layout_compose(&al, L("(0,4):(1,4)"), L("2:1")),
	    CJ_REFUSED_SHAPE_DIV);
	REFUSES(cj_layout_compose(&al, L("(2,4):(4,1)"), L("0:1")),
	    CJ_REFUSED_SHAPE_DIV);
}
END_TEST

START_TEST(overflow_is_refused)
{
	REFUSES(cj_layout_compose(&al, L("(4,4):(1,4611686018427387904)"),
	    L("2:12")), CJ_REFUSED_OVERFLOW);
}
END_TEST

static Suite *
compose_suite(void)
{
	Suite *s = suite_create("compose");
	TCase *c = tcase_create("compose");

	tcase_add_checked_fixture(c, set_up, tear_down);
	tcase_add_loop_test(c, vectors_agree, 0, (int)CJ_LENGTH(files));
	tcase_add_test(c, symbolic_conditions_have_to_be_known);
	tcase_add_test(c, last_modes_need_no_condition);
	tcase_add_test(c, small_layouts_are_looked_at);
	tcase_add_test(c, large_layouts_are_not_looked_at);
	tcase_add_test(c, zero_extents_are_refused);
	tcase_add_test(c, overflow_is_refused);
	suite_add_tcase(s, c);
	return s;
}

CJ_CHECK_MAIN(compose_suite)
