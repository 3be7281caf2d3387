/*
 * Divides: tiles and the rest.
 */
#include "vectors.h"

#include "layouts.h"

static const struct {
	const char *name;
	uint64_t lines;
} files[] = {
	{ "algebra/logical_divide.txt", 303 },
	{ "algebra/logical_divide_tiler.txt", 249 },
	{ "algebra/zipped_divide.txt", 220 },
	{ "algebra/tiled_divide.txt", 221 },
	{ "algebra/flat_divide.txt", 220 },
	{ "algebra/composed_logical_divide.txt", 50 },
	{ "algebra/composed_zipped_divide.txt", 50 },
	{ "algebra/composed_tiled_divide.txt", 50 },
	{ "algebra/composed_flat_divide.txt", 50 },
};

START_TEST(vectors_agree)
{
	check_vectors(files[_i].name, files[_i].lines);
}
END_TEST

/* The tiles that kernels make of tensors with symbolic extents. */
START_TEST(tiles_of_symbolic_tensors_are_exact)
{
	struct cj_int m = extent("M", 1), n = extent("N", 8);
	struct cj_int ld = extent("ld", 8), k = extent("K", 1);
	const struct cj_layout *x, *t;

	x = cj_layout_make(&al, ints(m, n), ints(ld, cj_known(1)));
	PRINTS(cj_layout_divide(&al, CJ_DIVIDE_ZIPPED, x, T("(1,8)")),
	    "((1, 8), (M, N/8)):((0, 1), (ld, 8))");
	t = cj_layout_make(&al, ints(n, m), ints(cj_known(1), ld));
	PRINTS(cj_layout_divide(&al, CJ_DIVIDE_LOGICAL, t, T("8")),
	    "(8, (N/8, M)):(1, (8, ld))");
	x = cj_layout_make(&al, ints(m, k), ints(ld, cj_known(1)));
	PRINTS(cj_layout_local_tile(&al, x, T("(128,64)"), T("(2,_)")),
	    "(128, 64, (K + 63)/64):(ld, 1, 64) + ld*256");
}
END_TEST

START_TEST(tilers_have_no_more_modes)
{
	REFUSES(cj_layout_divide(&al, CJ_DIVIDE_ZIPPED, L("(4,4):(1,4)"),
	    T("(2,2,2)")), CJ_REFUSED_RANK);
	REFUSES(cj_layout_divide(&al, CJ_DIVIDE_LOGICAL, L("8:1"), T("0")),
	    CJ_REFUSED_SHAPE_DIV);
}
END_TEST

static Suite *
divide_suite(void)
{
	Suite *s = suite_create("divide");
	TCase *c = tcase_create("divide");

	tcase_add_checked_fixture(c, set_up, tear_down);
	tcase_add_loop_test(c, vectors_agree, 0, (int)CJ_LENGTH(files));
	tcase_add_test(c, tiles_of_symbolic_tensors_are_exact);
	tcase_add_test(c, tilers_have_no_more_modes);
	suite_add_tcase(s, c);
	return s;
}

CJ_CHECK_MAIN(divide_suite)
