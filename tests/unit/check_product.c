/*
 * Products: a block repeated.
 */
#include "vectors.h"

#include "layouts.h"

static const struct {
	const char *name;
	uint64_t lines;
} files[] = {
	{ "algebra/logical_product.txt", 250 },
	{ "algebra/logical_product_tiler.txt", 150 },
	{ "algebra/zipped_product.txt", 180 },
	{ "algebra/tiled_product.txt", 180 },
	{ "algebra/flat_product.txt", 180 },
	{ "algebra/blocked_product.txt", 180 },
	{ "algebra/raked_product.txt", 180 },
	{ "algebra/tile_to_shape.txt", 220 },
	{ "algebra/composed_tile_to_shape.txt", 80 },
};

START_TEST(vectors_agree)
{
	check_vectors(files[_i].name, files[_i].lines);
}
END_TEST

START_TEST(products_of_symbols)
{
	struct cj_int n = extent("N", 1);

	PRINTS(cj_layout_product(&al, CJ_PRODUCT_LOGICAL, L("4:1"),
	    cj_tuple_int(&al, n)), "(4, N):(1, 4)");
}
END_TEST

START_TEST(swizzled_tiles_move_their_swizzle)
{
	const struct cj_layout *p = cj_layout_product(&al,
	    CJ_PRODUCT_LOGICAL, L("4:1"), cj_tuple_layout(&al,
	    L("Sw<2,0,2> o 0 o (4,4):(1,4)")));

	PRINTS(p, "composition(swizzle(2, 2, 2), 0, "
	    "(4, (4, 4)):(1, (4, 16)))");
}
END_TEST

START_TEST(blocks_that_do_not_fit_are_refused)
{
	REFUSES(cj_layout_tile_to_shape(&al, L("(8,8):(1,8)"), T("(12,8)"),
	    NULL), CJ_REFUSED_TILE_DIV);
	REFUSES(cj_layout_tile_to_shape(&al, L("(8,8):(1,8)"), T("16"),
	    NULL), CJ_REFUSED_RANK);
}
END_TEST

static Suite *
product_suite(void)
{
	Suite *s = suite_create("product");
	TCase *c = tcase_create("product");

	tcase_add_checked_fixture(c, set_up, tear_down);
	tcase_add_loop_test(c, vectors_agree, 0, (int)CJ_LENGTH(files));
	tcase_add_test(c, products_of_symbols);
	tcase_add_test(c, swizzled_tiles_move_their_swizzle);
	tcase_add_test(c, blocks_that_do_not_fit_are_refused);
	suite_add_tcase(s, c);
	return s;
}

CJ_CHECK_MAIN(product_suite)
