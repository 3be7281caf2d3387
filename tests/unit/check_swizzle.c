/*
 * Swizzles, and elements of other widths.
 */
#include "vectors.h"

#include "layouts.h"

static const struct {
	const char *name;
	uint64_t lines;
} files[] = {
	{ "algebra/swizzle_apply.txt", 303 },
	{ "algebra/swizzle_compose.txt", 200 },
	{ "algebra/swizzle_swizzle.txt", 60 },
	{ "algebra/layout_o_swizzle.txt", 80 },
	{ "algebra/swizzle_upcast.txt", 80 },
	{ "algebra/swizzle_downcast.txt", 80 },
	{ "algebra/upcast.txt", 180 },
	{ "algebra/downcast.txt", 150 },
	{ "algebra/recast.txt", 160 },
};

START_TEST(vectors_agree)
{
	check_vectors(files[_i].name, files[_i].lines);
}
END_TEST

START_TEST(swizzles_are_checked)
{
	REFUSES(cj_layout_composed(&al, (struct cj_swizzle){ 3, 0, 2 }, NULL,
	    L("8:1")), CJ_REFUSED_SWIZZLE);
	REFUSES(cj_layout_composed(&al, (struct cj_swizzle){ 3, 50, 20 },
	    NULL, L("8:1")), CJ_REFUSED_SWIZZLE);
	REFUSES(cj_layout_composed(&al, (struct cj_swizzle){ 1, 0, 1 }, NULL,
	    L("8:1@0")), CJ_REFUSED_KIND);
}
END_TEST

static int64_t the_value;

static int64_t
value_of(void *user, uint32_t symbol)
{
	(void)user;
	(void)symbol;
	return the_value;
}

/* The symbolic swizzle has the value of the known one. */
START_TEST(swizzles_of_symbols_are_the_same_function)
{
	static const struct cj_swizzle all[] = { { 3, 3, 3 }, { 2, 4, 3 },
	    { 1, 0, 1 }, { 3, 0, -3 }, { 2, 1, -4 }, { 2, 5, 2 } };
	struct cj_int x = cj_symbol(&sym, 0, 0, 0, 4095, 1), s;
	int64_t v;
	size_t i;

	for (i = 0; i < CJ_LENGTH(all); i++) {
		s = cj_swizzle_apply(&al, all[i], x);
		for (the_value = 0; the_value < 4096; the_value += 7) {
			ck_assert(cj_int_eval(&sym, s, value_of, NULL, &v));
			ck_assert_int_eq(v, cj_swizzle_apply(&al, all[i],
			    cj_known(the_value)).value);
		}
	}
}
END_TEST

/* The bits that are read lie beyond the domain, where the last mode's values
 * meet those of the first. */
START_TEST(swizzles_from_beyond_the_domain_are_refused)
{
	REFUSES(cj_layout_compose(&al, L("(8,2,4):(8,4,1)"),
	    L("Sw<2,4,4> o 0 o 64:1")), CJ_REFUSED_SWIZZLE);
	PRINTS(cj_layout_compose(&al, L("(8,2,4):(8,4,1)"),
	    L("Sw<2,0,4> o 0 o 64:1")), "composition(swizzle(2, 0, -3), 0, "
	    "(8, 2, 4):(8, 4, 1))");
}
END_TEST

START_TEST(two_unit_strides_are_ambiguous)
{
	REFUSES(cj_layout_recast(&al, L("(4,2):(1,1)"), 32, 16),
	    CJ_REFUSED_NOT_CONTIGUOUS);
	PRINTS(cj_layout_recast(&al, L("(4,2):(1,4)"), 32, 16),
	    "(8, 2):(1, 8)");
}
END_TEST

static Suite *
swizzle_suite(void)
{
	Suite *s = suite_create("swizzle");
	TCase *c = tcase_create("swizzle");

	tcase_add_checked_fixture(c, set_up, tear_down);
	tcase_add_loop_test(c, vectors_agree, 0, (int)CJ_LENGTH(files));
	tcase_add_test(c, swizzles_are_checked);
	tcase_add_test(c, swizzles_of_symbols_are_the_same_function);
	tcase_add_test(c, swizzles_from_beyond_the_domain_are_refused);
	tcase_add_test(c, two_unit_strides_are_ambiguous);
	suite_add_tcase(s, c);
	return s;
}

CJ_CHECK_MAIN(swizzle_suite)
