/*
 * Pictures: the text exactly, the other forms by what they must contain.
 */
#include "layouts.h"

#include "layout/atom.h"
#include "layout/layout_draw.h"

static const char *
draw(const struct cj_picture *p, uint32_t count, enum cj_draw_form form)
{
	struct cj_strbuf b;

	cj_strbuf_init(&b, &arena);
	return cj_layout_draw(&b, &al, p, count, form) ? b.text : NULL;
}

static unsigned
count_of(const char *text, const char *word)
{
	unsigned n = 0;

	while ((text = strstr(text, word)) != NULL) {
		text += strlen(word);
		n++;
	}
	return n;
}

START_TEST(text_is_a_table)
{
	struct cj_picture p[2] = {
		{ .layout = L("(2,3):(3,1)"), .title = "A" },
		{ .layout = L("2:5") },
	};

	ck_assert_str_eq(draw(p, 1, CJ_DRAW_TEXT),
	    "A\n"
	    "       0   1   2\n"
	    "     +---+---+---+\n"
	    "   0 | 0 | 1 | 2 |\n"
	    "     +---+---+---+\n"
	    "   1 | 3 | 4 | 5 |\n"
	    "     +---+---+---+\n");
	ck_assert_str_eq(draw(p + 1, 1, CJ_DRAW_TEXT),
	    "2:5\n"
	    "       0   1\n"
	    "     +---+---+\n"
	    "   0 | 0 | 5 |\n"
	    "     +---+---+\n");
	ck_assert_str_eq(draw(p, 2, CJ_DRAW_TEXT),
	    "A                     2:5\n"
	    "       0   1   2             0   1\n"
	    "     +---+---+---+         +---+---+\n"
	    "   0 | 0 | 1 | 2 |       0 | 0 | 5 |\n"
	    "     +---+---+---+         +---+---+\n"
	    "   1 | 3 | 4 | 5 |\n"
	    "     +---+---+---+\n");
}
END_TEST

START_TEST(layouts_are_drawn_together)
{
	struct cj_picture two[2] = { { .layout = L("(2,2):(1,2)") },
	    { .layout = L("Sw<1,0,1> o 0 o (2,2):(1,2)"),
	    .kind = CJ_DRAW_BANKS } };
	const char *text = draw(two, 2, CJ_DRAW_TEXT);

	ck_assert_msg(strstr(text, "| 0 | 2 |") != NULL
	    && strstr(text, "| 0 | 3 |") != NULL
	    && strstr(text, "| 1 | 2 |") != NULL, "%s", text);
	/* a title wider than its grid stays whole */
	ck_assert_msg(strstr(text, " composition(swizzle(1, 0, 1), 0,"
	    " (2, 2):(1, 2)): 32 bits, a colour for 4 banks\n") != NULL,
	    "%s", text);
	two[1].layout = L("(1000,1000):(1,1000)");
	ck_assert(draw(two, 2, CJ_DRAW_TEXT) == NULL);
	ck_assert(al.why.text != NULL);
}
END_TEST

START_TEST(operands_have_their_names)
{
	struct cj_mma_atom atom;
	struct cj_tiled_mma mma;
	struct cj_picture p;

	ck_assert(cj_mma_atom_find(&al, "SM80_16x8x8_F32F16F16F32_TN",
	    &atom));
	ck_assert(cj_tiled_mma_make(&al, &atom, cj_layout_unit(&al), NULL,
	    &mma));
	ck_assert(cj_picture_of_mma(&al, &mma, &p));
	ck_assert_ptr_ne(strstr(draw(&p, 1, CJ_DRAW_TEXT), " A        0 "),
	    NULL);
	ck_assert_uint_eq(count_of(draw(&p, 1, CJ_DRAW_SVG),
	    "<text class=\"o\""), 3);
	ck_assert_uint_eq(count_of(draw(&p, 1, CJ_DRAW_HTML),
	    "<th class=\"o\""), 3);
	ck_assert_uint_eq(count_of(draw(&p, 1, CJ_DRAW_LATEX),
	    "{\\bfseries "), 3);
}
END_TEST

START_TEST(threads_share_elements)
{
	struct cj_picture p = { .kind = CJ_DRAW_THREADS,
	    .layout = L("((2,2),2):((0,1),2)"), .tile = T("(2,2)") };

	ck_assert_ptr_ne(strstr(draw(&p, 1, CJ_DRAW_TEXT),
	    "   0 | T0+ V0 | T0+ V1 |\n"), NULL);
	p.tile = NULL;
	ck_assert(draw(&p, 1, CJ_DRAW_TEXT) == NULL);
	ck_assert_int_eq(al.why.kind, CJ_REFUSED_RANK);
}
END_TEST

START_TEST(every_cell_is_in_every_form)
{
	struct cj_mma_atom atom;
	struct cj_picture p = { .kind = CJ_DRAW_THREADS,
	    .tile = T("(16,16)"), .title = "a < b & c" };

	ck_assert(cj_mma_atom_find(&al, "SM80_16x8x16_F32F16F16F32_TN",
	    &atom));
	p.layout = atom.a;
	/* a rectangle each, and the background */
	ck_assert_uint_eq(count_of(draw(&p, 1, CJ_DRAW_SVG), "<rect "), 257);
	ck_assert_uint_eq(count_of(draw(&p, 1, CJ_DRAW_SVG),
	    "a &lt; b &amp; c"), 1);
	ck_assert_uint_eq(count_of(draw(&p, 1, CJ_DRAW_HTML), "<td "), 256);
	ck_assert_uint_eq(count_of(draw(&p, 1, CJ_DRAW_LATEX),
	    "\\cell{"), 256);
}
END_TEST

/* Rows of 128 bytes, swizzled: a column of 8 rows uses each colour once. */
START_TEST(banks_show_conflicts)
{
	struct cj_picture p = { .kind = CJ_DRAW_BANKS, .element_bits = 16,
	    .layout = L("Sw<3,3,3> o 0 o (8,1):(64,1)") };
	const char *html = draw(&p, 1, CJ_DRAW_HTML);
	char word[16];
	int i;

	for (i = 0; i < 8; i++) {
		snprintf(word, sizeof word, "class=\"c%d\"", i);
		ck_assert_uint_eq(count_of(html, word), 1);
	}
	p.layout = L("(8,1):(64,1)");
	ck_assert_uint_eq(count_of(draw(&p, 1, CJ_DRAW_HTML),
	    "class=\"c0\""), 8);
}
END_TEST

START_TEST(what_cannot_be_drawn_is_refused)
{
	struct cj_picture p = { .layout = L("(1024,1024):(1,1024)") };

	ck_assert(draw(&p, 1, CJ_DRAW_SVG) == NULL);
	ck_assert_int_eq(al.why.kind, CJ_REFUSED_LIMIT);
	p.layout = cj_layout_make(&al, ints(extent("M", 1), cj_known(4)),
	    NULL);
	ck_assert(draw(&p, 1, CJ_DRAW_SVG) == NULL);
	ck_assert_int_eq(al.why.kind, CJ_REFUSED_SYMBOLIC);
	p.layout = L("4:1@0");
	ck_assert(draw(&p, 1, CJ_DRAW_SVG) == NULL);
	ck_assert_int_eq(al.why.kind, CJ_REFUSED_KIND);
	p.layout = L("(0,4):(1,4)");
	ck_assert(draw(&p, 1, CJ_DRAW_TEXT) == NULL);
}
END_TEST

static Suite *
layout_draw_suite(void)
{
	Suite *s = suite_create("layout_draw");
	TCase *c = tcase_create("layout_draw");

	tcase_add_checked_fixture(c, set_up, tear_down);
	tcase_add_test(c, text_is_a_table);
	tcase_add_test(c, layouts_are_drawn_together);
	tcase_add_test(c, operands_have_their_names);
	tcase_add_test(c, threads_share_elements);
	tcase_add_test(c, every_cell_is_in_every_form);
	tcase_add_test(c, banks_show_conflicts);
	tcase_add_test(c, what_cannot_be_drawn_is_refused);
	suite_add_tcase(s, c);
	return s;
}

CJ_CHECK_MAIN(layout_draw_suite)
