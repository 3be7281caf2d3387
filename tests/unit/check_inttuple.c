/*
 * Tuples: shapes, coordinates, arithmetic of shapes.
 */
#include "vectors.h"

#include "layouts.h"

static const struct {
	const char *name;
	uint64_t lines;
} files[] = {
	{ "algebra/append.txt", 80 },
	{ "algebra/compatible.txt", 150 },
	{ "algebra/congruent.txt", 150 },
	{ "algebra/weakly_congruent.txt", 150 },
	{ "algebra/ceil_div.txt", 150 },
	{ "algebra/round_up.txt", 60 },
	{ "algebra/shape_div.txt", 120 },
	{ "algebra/product_each.txt", 40 },
	{ "algebra/elem_less.txt", 60 },
	{ "algebra/evenly_divides.txt", 150 },
	{ "algebra/crd2crd.txt", 150 },
	{ "algebra/crd2idx.txt", 300 },
	{ "algebra/crd2idx_shape.txt", 200 },
	{ "algebra/idx2crd.txt", 226 },
	{ "algebra/idx2crd_stride.txt", 200 },
	{ "algebra/slice.txt", 218 },
	{ "algebra/dice.txt", 120 },
	{ "algebra/slice_and_offset.txt", 150 },
};

START_TEST(vectors_agree)
{
	check_vectors(files[_i].name, files[_i].lines);
}
END_TEST

START_TEST(nesting_has_a_limit)
{
	const struct cj_tuple *t = cj_tuple_known(&al, 1);
	unsigned i;

	for (i = 0; i < CJ_MAX_DEPTH; i++) {
		t = cj_tuple_make(&al, &t, 1);
		ck_assert(t != NULL);
		ck_assert_uint_eq(cj_tuple_depth(t), i + 1);
	}
	REFUSES(cj_tuple_make(&al, &t, 1), CJ_REFUSED_LIMIT);
}
END_TEST

/* (t, t, ...) of itself has 32^k leaves after k steps. */
START_TEST(shared_tuples_have_a_limit_of_leaves)
{
	const struct cj_tuple *t = cj_tuple_known(&al, 1), *at[32];
	unsigned i, k;

	for (k = 0; k < 3; k++) {
		for (i = 0; i < 32; i++)
			at[i] = t;
		t = cj_tuple_make(&al, at, 32);
		ck_assert(t != NULL);
	}
	for (i = 0; i < 32; i++)
		at[i] = t;
	REFUSES(cj_tuple_make(&al, at, 32), CJ_REFUSED_LIMIT);
}
END_TEST

START_TEST(ranks_have_a_limit)
{
	const struct cj_tuple **at = CJ_NEWS(&arena, const struct cj_tuple *,
	    CJ_MAX_RANK + 1);
	unsigned i;

	for (i = 0; i <= CJ_MAX_RANK; i++)
		at[i] = cj_tuple_known(&al, 1);
	ck_assert(cj_tuple_make(&al, at, CJ_MAX_RANK) != NULL);
	REFUSES(cj_tuple_make(&al, at, CJ_MAX_RANK + 1), CJ_REFUSED_LIMIT);
}
END_TEST

START_TEST(products_do_not_wrap)
{
	cj_tuple_product(&al, T("(4611686018427387904,4)"));
	ck_assert(sym.overflow);
	sym.overflow = false;
	REFUSES(cj_layout_make(&al, T("(4611686018427387904,4)"), NULL),
	    CJ_REFUSED_OVERFLOW);
}
END_TEST

START_TEST(coordinates_are_symbols_too)
{
	struct cj_int m = extent("M", 1), n = extent("N", 1);
	struct cj_int i = cj_symbol(&sym, cj_intern_str(&names, "i"), 9, 0,
	    INT64_MAX, 1);
	const struct cj_tuple *shape = ints(m, n), *c;
	struct cj_int back;

	c = cj_idx2crd(&al, i, shape);
	ck_assert_str_eq(tuple_text(c), "(i % M, i/M)");
	ck_assert(cj_crd2idx_shape(&al, c, shape, &back));
	ck_assert(cj_int_same(back, i));
}
END_TEST

START_TEST(printing_follows_the_style)
{
	struct cj_strbuf b;

	ck_assert_str_eq(tuple_text(T("((4),_,2@1@0)")),
	    "((4,), _, 2*basis(0, 1))");
	cj_strbuf_init(&b, &arena);
	cj_tuple_print(&b, &sym, T("((4),_,2@1@0)"), CJ_STYLE_VECTORS);
	ck_assert_str_eq(b.text, "((4),_,2@1@0)");
}
END_TEST

static Suite *
inttuple_suite(void)
{
	Suite *s = suite_create("inttuple");
	TCase *c = tcase_create("inttuple");

	tcase_add_checked_fixture(c, set_up, tear_down);
	tcase_add_loop_test(c, vectors_agree, 0, (int)CJ_LENGTH(files));
	tcase_add_test(c, nesting_has_a_limit);
	tcase_add_test(c, shared_tuples_have_a_limit_of_leaves);
	tcase_add_test(c, ranks_have_a_limit);
	tcase_add_test(c, products_do_not_wrap);
	tcase_add_test(c, coordinates_are_symbols_too);
	tcase_add_test(c, printing_follows_the_style);
	suite_add_tcase(s, c);
	return s;
}

CJ_CHECK_MAIN(inttuple_suite)
