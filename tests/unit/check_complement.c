/*
 * Complement: what a layout leaves out.
 */
#include "vectors.h"

#include "layouts.h"

static const struct {
	const char *name;
	uint64_t lines;
} files[] = {
	{ "algebra/complement.txt", 300 },
	{ "algebra/complement_default.txt", 120 },
	{ "algebra/complement_shape.txt", 105 },
	{ "algebra/ceil_div_layout.txt", 80 },
};

START_TEST(vectors_agree)
{
	check_vectors(files[_i].name, files[_i].lines);
}
END_TEST

START_TEST(complement_of_coordinates_is_refused)
{
	REFUSES(cj_layout_complement(&al, L("4:1@0"), T("8")),
	    CJ_REFUSED_KIND);
	REFUSES(cj_layout_complement(&al, L("4:-1"), T("8")),
	    CJ_REFUSED_NONINJECTIVE);
	REFUSES(cj_layout_complement(&al, L("0:1"), T("8")),
	    CJ_REFUSED_SHAPE_DIV);
}
END_TEST

START_TEST(rest_of_a_symbol_is_rounded_up)
{
	struct cj_int m = extent("M", 1), n = extent("N", 8);

	PRINTS(cj_layout_complement(&al, L("8:1"), cj_tuple_int(&al, m)),
	    "(M + 7)/8:8");
	PRINTS(cj_layout_complement(&al, L("8:1"), cj_tuple_int(&al, n)),
	    "N/8:8");
}
END_TEST

static Suite *
complement_suite(void)
{
	Suite *s = suite_create("complement");
	TCase *c = tcase_create("complement");

	tcase_add_checked_fixture(c, set_up, tear_down);
	tcase_add_loop_test(c, vectors_agree, 0, (int)CJ_LENGTH(files));
	tcase_add_test(c, complement_of_coordinates_is_refused);
	tcase_add_test(c, rest_of_a_symbol_is_rounded_up);
	suite_add_tcase(s, c);
	return s;
}

CJ_CHECK_MAIN(complement_suite)
