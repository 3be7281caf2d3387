/*
 * The facts of the calculator, and layouts read as they are printed.
 */
#include "layouts.h"

static const char *
facts(const char *text)
{
	struct cj_strbuf b;

	cj_strbuf_init(&b, &arena);
	cj_layout_facts(&b, &al, L(text));
	return b.text;
}

static const struct {
	const char *layout;
	enum cj_truth bijective, contiguous;
	int vector;
} cases[] = {
	{ "(4,8):(1,4)", CJ_YES, CJ_YES, 32 },
	{ "(4,8):(8,1)", CJ_YES, CJ_NO, 32 },
	{ "(4,8):(1,12)", CJ_NO, CJ_NO, 4 },
	{ "(4,2):(1,2)", CJ_NO, CJ_NO, 2 },
	{ "(4,8):(-8,1)", CJ_NO, CJ_NO, 8 },
	{ "8:0", CJ_NO, CJ_NO, 1 },
	{ "Sw<2,0,3> o 0 o (8,8):(8,1)", CJ_YES, CJ_NO, 1 },
	{ "Sw<2,2,3> o 0 o (8,8):(8,1)", CJ_YES, CJ_NO, 4 },
};

START_TEST(facts_are_right)
{
	const char *text = facts(cases[_i].layout);
	char line[64];

	snprintf(line, sizeof line, "bijective   %s\n",
	    cases[_i].bijective == CJ_YES ? "yes" : "no");
	ck_assert_msg(strstr(text, line) != NULL, "%s: %s",
	    cases[_i].layout, text);
	snprintf(line, sizeof line, "contiguous  %s\n",
	    cases[_i].contiguous == CJ_YES ? "yes" : "no");
	ck_assert_msg(strstr(text, line) != NULL, "%s: %s",
	    cases[_i].layout, text);
	snprintf(line, sizeof line, "vector      %d\n", cases[_i].vector);
	ck_assert_msg(strstr(text, line) != NULL, "%s: %s",
	    cases[_i].layout, text);
}
END_TEST

START_TEST(facts_are_lines)
{
	ck_assert_str_eq(facts("(4,8):(8,1)"),
	    "size        32\ncosize      32\ninjective   yes\n"
	    "bijective   yes\ncontiguous  no\nvector      32\n");
	ck_assert_str_eq(facts("(4,8):(1@0,1@1)"),
	    "size        32\ncosize      32\ninjective   not known\n");
	ck_assert(strstr(facts("(9,4000000000,4000000000):(1,1,1)"),
	    "size        beyond 64 bits\n") != NULL);
}
END_TEST

/* Answered by the strides, or value by value as far as there are few. */
START_TEST(bijective_is_by_definition)
{
	const struct cj_layout *l = L("Sw<3,0,3> o 5 o (8,8):(8,1)");

	ck_assert_int_eq(cj_layout_bijective(&al, l), CJ_NO);
	ck_assert_int_eq(cj_layout_bijective(&al, L("65537:1")), CJ_YES);
	ck_assert_int_eq(cj_layout_bijective(&al, L("65536:-1")), CJ_NO);
	ck_assert_int_eq(cj_layout_bijective(&al, L("65537:-1")), CJ_MAYBE);
	ck_assert_int_eq(cj_layout_bijective(&al, L("(1,4):(-3,1)")), CJ_YES);
}
END_TEST

START_TEST(layouts_are_read_as_printed)
{
	static const char *const texts[] = { "8:1", "(8,):(1,)",
	    "((2, 4), 8):((1, 16), 2)", "(4, (2,)):(1, (4,))",
	    "(4, 8):(basis(0), 2*basis(1, 3))", "(4, 8):(-1*basis(0), 7)",
	    "composition(swizzle(2, 4, 3), 0, (8, 8):(8, 1))" };
	static const char *const others[] = { "", "8", "(8,:(1,)", "(4, ):3",
	    "composition(swizzle(2, 4, 3), 0, (8, 8):(8, 1)", "4:basis()",
	    "composition(swizzle(2, 4, 3), 0)", "swizzle(2, 4, 3)",
	    "4:basis(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6)" };
	const struct cj_layout *l;
	size_t i;

	for (i = 0; i < CJ_LENGTH(texts); i++) {
		l = cj_layout_read(&al, texts[i], strlen(texts[i]));
		ck_assert_msg(l != NULL, "%s", texts[i]);
		ck_assert_str_eq(cj_layout_text(&al, l), texts[i]);
	}
	for (i = 0; i < CJ_LENGTH(others); i++)
		ck_assert_msg(cj_layout_read(&al, others[i],
		    strlen(others[i])) == NULL, "%s", others[i]);
}
END_TEST

static Suite *
layout_facts_suite(void)
{
	Suite *s = suite_create("layout_facts");
	TCase *c = tcase_create("layout_facts");

	tcase_add_checked_fixture(c, set_up, tear_down);
	tcase_add_loop_test(c, facts_are_right, 0, (int)CJ_LENGTH(cases));
	tcase_add_test(c, facts_are_lines);
	tcase_add_test(c, bijective_is_by_definition);
	tcase_add_test(c, layouts_are_read_as_printed);
	suite_add_tcase(s, c);
	return s;
}

CJ_CHECK_MAIN(layout_facts_suite)
