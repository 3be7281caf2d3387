/*
 * Inverses, nullspace and common parts.
 */
#include "vectors.h"

#include "layouts.h"

static const struct {
	const char *name;
	uint64_t lines;
} files[] = {
	{ "algebra/right_inverse.txt", 227 },
	{ "algebra/left_inverse.txt", 250 },
	{ "algebra/nullspace.txt", 150 },
	{ "algebra/composed_right_inverse.txt", 60 },
	{ "algebra/max_common_layout.txt", 150 },
	{ "algebra/max_common_vector.txt", 150 },
	{ "algebra/composed_max_common_vector.txt", 60 },
	{ "algebra/max_alignment.txt", 80 },
	{ "algebra/domain_distribute.txt", 80 },
};

START_TEST(vectors_agree)
{
	check_vectors(files[_i].name, files[_i].lines);
}
END_TEST

START_TEST(inverses_of_coordinates_are_refused)
{
	REFUSES(cj_layout_right_inverse(&al, L("4:1@0")), CJ_REFUSED_KIND);
	REFUSES(cj_layout_left_inverse(&al, L("4:1@0")), CJ_REFUSED_KIND);
}
END_TEST

START_TEST(left_inverse_needs_known_strides)
{
	struct cj_int ld = extent("ld", 1);

	REFUSES(cj_layout_left_inverse(&al, cj_layout_make(&al, T("(4,4)"),
	    ints(cj_known(1), ld))), CJ_REFUSED_SYMBOLIC);
}
END_TEST

START_TEST(right_inverse_stops_at_a_symbol)
{
	struct cj_int ld = extent("ld", 1);

	PRINTS(cj_layout_right_inverse(&al, cj_layout_make(&al, T("(4,4)"),
	    ints(ld, cj_known(1)))), "4:4");
}
END_TEST

static Suite *
inverse_suite(void)
{
	Suite *s = suite_create("inverse");
	TCase *c = tcase_create("inverse");

	tcase_add_checked_fixture(c, set_up, tear_down);
	tcase_add_loop_test(c, vectors_agree, 0, (int)CJ_LENGTH(files));
	tcase_add_test(c, inverses_of_coordinates_are_refused);
	tcase_add_test(c, left_inverse_needs_known_strides);
	tcase_add_test(c, right_inverse_stops_at_a_symbol);
	suite_add_tcase(s, c);
	return s;
}

CJ_CHECK_MAIN(inverse_suite)
