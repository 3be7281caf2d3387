/*
 * Layouts: making them, their modes, and what files say of them.
 */
#include "vectors.h"

#include "layouts.h"

static const struct {
	const char *name;
	uint64_t lines;
} files[] = {
	{ "algebra/append_to_rank.txt", 80 },
	{ "algebra/prepend.txt", 80 },
	{ "algebra/prepend_to_rank.txt", 80 },
	{ "algebra/cosize.txt", 199 },
	{ "algebra/depth.txt", 200 },
	{ "algebra/rank.txt", 200 },
	{ "algebra/shape.txt", 200 },
	{ "algebra/size.txt", 200 },
	{ "algebra/stride.txt", 200 },
	{ "algebra/get.txt", 200 },
	{ "algebra/group.txt", 100 },
	{ "algebra/take.txt", 100 },
	{ "algebra/select.txt", 100 },
	{ "algebra/replace.txt", 60 },
	{ "algebra/flatten.txt", 200 },
	{ "algebra/unflatten.txt", 60 },
	{ "algebra/zip.txt", 50 },
	{ "algebra/coalesce.txt", 300 },
	{ "algebra/coalesce_profile.txt", 250 },
	{ "algebra/filter.txt", 200 },
	{ "algebra/filter_profile.txt", 120 },
	{ "algebra/filter_zeros.txt", 150 },
	{ "algebra/make_fragment_like.txt", 120 },
	{ "algebra/make_identity_layout.txt", 40 },
	{ "algebra/make_layout_left.txt", 60 },
	{ "algebra/make_layout_like.txt", 100 },
	{ "algebra/make_layout_right.txt", 60 },
	{ "algebra/make_ordered_layout.txt", 120 },
};

START_TEST(vectors_agree)
{
	check_vectors(files[_i].name, files[_i].lines);
}
END_TEST

START_TEST(strides_have_the_nesting_of_shapes)
{
	REFUSES(cj_layout_make(&al, T("(4,(2,2))"), T("(4,2)")),
	    CJ_REFUSED_RANK);
	REFUSES(cj_layout_make(&al, T("(4,_)"), NULL), CJ_REFUSED_KIND);
	REFUSES(cj_layout_make(&al, T("(4,-2)"), NULL), CJ_REFUSED_KIND);
	REFUSES(cj_layout_make(&al, T("(4,2)"), T("(1,_)")),
	    CJ_REFUSED_KIND);
}
END_TEST

START_TEST(modes_that_are_not_there_are_refused)
{
	uint32_t modes[2] = { 0, 2 };

	REFUSES(cj_layout_get(&al, L("(4,2):(1,4)"), 2), CJ_REFUSED_RANK);
	REFUSES(cj_layout_select(&al, L("(4,2):(1,4)"), modes, 2),
	    CJ_REFUSED_RANK);
	REFUSES(cj_layout_take(&al, L("(4,2):(1,4)"), 1, 1),
	    CJ_REFUSED_RANK);
	REFUSES(cj_layout_group(&al, L("(4,2):(1,4)"), 1, 3),
	    CJ_REFUSED_RANK);
}
END_TEST

START_TEST(symbols_print_by_name)
{
	struct cj_int m = extent("M", 1), n = extent("N", 8);
	const struct cj_layout *l = cj_layout_make(&al, ints(m, n), NULL);

	PRINTS(l, "(M, N):(1, M)");
	PRINTS(cj_layout_row_major(&al, l->shape), "(M, N):(N, 1)");
	PRINTS(cj_layout_coalesce(&al, l, NULL), "M*N:1");
	PRINTS(cj_layout_identity(&al, l->shape),
	    "(M, N):(basis(0), basis(1))");
}
END_TEST

/* A known extent is not lost in a symbolic one. */
START_TEST(coalesce_keeps_what_is_known)
{
	struct cj_int m = extent("M", 1);

	PRINTS(cj_layout_coalesce(&al, cj_layout_make(&al, ints(cj_known(4),
	    m), NULL), NULL), "(4, M):(1, 4)");
	PRINTS(cj_layout_coalesce(&al, cj_layout_make(&al, ints(m,
	    cj_known(4)), NULL), NULL), "M*4:1");
}
END_TEST

START_TEST(slices_carry_their_offset)
{
	struct cj_int i = cj_symbol(&sym, cj_intern_str(&names, "i"), 9, 0,
	    63, 1);
	const struct cj_layout *rest;
	const struct cj_tuple *offset;

	ck_assert(cj_layout_slice(&al, L("(64,32):(32,1)"),
	    pair(cj_tuple_int(&al, i), cj_tuple_any(&al)), &rest, &offset));
	PRINTS(rest, "(32,):(1,)");
	ck_assert_str_eq(tuple_text(offset), "i*32");
	ck_assert(cj_layout_slice(&al, L("Sw<3,3,3> o 0 o (64,64):(64,1)"),
	    pair(cj_tuple_int(&al, i), cj_tuple_any(&al)), &rest, &offset));
	PRINTS(rest, "composition(swizzle(3, 3, 3), i*64, (64,):(1,))");
	ck_assert_str_eq(tuple_text(offset), "0");
}
END_TEST

/* All at once as one by one. */
static const char *const listed[] = {
	"1:0", "8:3", "((2, 4), 8):((1, 16), 2)", "(4, (2, 3)):(-6, (1, 0))",
	("((4, 8, 2, 2), ((2, 2, 2), (2, 2))):"
	    "((16, 1, 8, 0), ((32, 8, 256), (64, 128)))"),
	"Sw<3,3,3> o 0 o (8, 64):(64, 1)",
	"Sw<2,4,3> o 5 o ((8, 2), 32):((1, 300), 8)"
};

START_TEST(all_at_once_are_those_one_by_one)
{
	const struct cj_layout *l = L(listed[_i]);
	size_t count = (size_t)cj_layout_size(&al, l).value, i;
	int64_t at[8192];
	struct cj_int one;

	ck_assert(count <= CJ_LENGTH(at));
	ck_assert(cj_layout_list(&al, l, at, count));
	for (i = 0; i < count; i++) {
		ck_assert(cj_layout_offset(&al, l, cj_tuple_known(&al,
		    (int64_t)i), &one));
		ck_assert_msg(at[i] == one.value, "%s at %zu: %lld",
		    listed[_i], i, (long long)at[i]);
	}
	ck_assert(!cj_layout_list(&al, l, at, count + 1));
	ck_assert(count == 1 || !cj_layout_list(&al, l, at, count - 1));
}
END_TEST

START_TEST(what_is_not_known_is_not_listed)
{
	const struct cj_layout *unknown = cj_layout_make(&al,
	    cj_tuple_int(&al, extent("N", 8)), NULL);
	int64_t at[8];

	ck_assert(!cj_layout_list(&al, unknown, at, 8));
	ck_assert(!cj_layout_list(&al, L("(4, 2):(1@0, 1@1)"), at, 8));
	ck_assert(cj_layout_list(&al, L("(0, 2):(1, 1)"), at, 0));
}
END_TEST

START_TEST(unit_strides_give_coordinates)
{
	ck_assert_str_eq(tuple_text(cj_layout_at(&al,
	    L("(4,(2,3)):(1@0,(1@0@1,1@1@1))"), T("(3,(1,2))"))),
	    "(3, (1, 2))");
	ck_assert_str_eq(tuple_text(cj_layout_at(&al, L("4:2@1"), T("3"))),
	    "(0, 6)");
}
END_TEST

static Suite *
layout_suite(void)
{
	Suite *s = suite_create("layout");
	TCase *c = tcase_create("layout");

	tcase_add_checked_fixture(c, set_up, tear_down);
	tcase_add_loop_test(c, vectors_agree, 0, (int)CJ_LENGTH(files));
	tcase_add_test(c, strides_have_the_nesting_of_shapes);
	tcase_add_test(c, modes_that_are_not_there_are_refused);
	tcase_add_test(c, symbols_print_by_name);
	tcase_add_test(c, coalesce_keeps_what_is_known);
	tcase_add_test(c, slices_carry_their_offset);
	tcase_add_loop_test(c, all_at_once_are_those_one_by_one, 0,
	    CJ_LENGTH(listed));
	tcase_add_test(c, what_is_not_known_is_not_listed);
	tcase_add_test(c, unit_strides_give_coordinates);
	suite_add_tcase(s, c);
	return s;
}

CJ_CHECK_MAIN(layout_suite)
