/*
 * Source texts: lines, columns, UTF-8.
 */
#include "check_main.h"

#include "base/base.h"

static struct cj_recover point;
static struct cj_arena arena;
static struct cj_sources sources;

static void
set_up(void)
{
	cj_arena_init(&arena, &point, NULL);
	CJ_CHECK_RECOVER(&point);
	cj_sources_init(&sources, &arena);
}

static void
tear_down(void)
{
	cj_arena_fini(&arena);
}

static const struct cj_source *
add(const char *text, size_t length)
{
	return cj_source_get(&sources,
	    cj_source_add(&sources, "t.cute", text, length));
}

START_TEST(text_is_copied)
{
	char text[] = "a\0b";
	const struct cj_source *s;

	CJ_CHECK_RECOVER(&point);
	s = add(text, 3);
	text[0] = 'x';
	ck_assert_mem_eq(s->text, "a\0b", 4);
	ck_assert_uint_eq(s->length, 3);
	ck_assert_str_eq(s->name, "t.cute");
}
END_TEST

START_TEST(too_long_a_text_is_refused)
{
	CJ_CHECK_RECOVER(&point);
	ck_assert_uint_eq(cj_source_add(&sources, "t.cute", "",
	    (size_t)CJ_SOURCE_MAX + 1), 0);
}
END_TEST

static const struct {
	const char *text;
	uint32_t offset, line, column;
} places[] = {
	{ "", 0, 1, 1 },
	{ "ab\ncd", 0, 1, 1 },
	{ "ab\ncd", 2, 1, 3 },		/* the end of the line is on it */
	{ "ab\ncd", 3, 2, 1 },
	{ "ab\ncd", 5, 2, 3 },
	{ "ab\ncd", 99, 2, 3 },
	{ "\n\n\n", 3, 4, 1 },
	{ "\n\n\n", 1, 2, 1 },
	{ "a\xc3\xa4z", 3, 1, 3 },	/* two bytes, one column */
	{ "\xe2\x82\xac\xf0\x9f\x98\x80x", 7, 1, 3 },
	{ "\tx", 1, 1, 2 },
};

START_TEST(positions)
{
	const struct cj_source *s;
	struct cj_position p;

	CJ_CHECK_RECOVER(&point);
	s = add(places[_i].text, strlen(places[_i].text));
	p = cj_source_position(s, places[_i].offset);
	ck_assert_uint_eq(p.line, places[_i].line);
	ck_assert_uint_eq(p.column, places[_i].column);
}
END_TEST

/* Positions by counting from the start, at every offset of a long text. */
START_TEST(positions_agree_with_counting)
{
	enum { LENGTH = 4000 };
	char text[LENGTH];
	const struct cj_source *s;
	uint32_t line = 1, column = 1, i;

	CJ_CHECK_RECOVER(&point);
	for (i = 0; i < LENGTH; i++)
		text[i] = i * i % 13 == 4 ? '\n' : 'x';
	s = add(text, LENGTH);
	for (i = 0; i < LENGTH; i++) {
		struct cj_position p = cj_source_position(s, i);

		ck_assert_uint_eq(p.line, line);
		ck_assert_uint_eq(p.column, column);
		column++;
		if (text[i] == '\n') {
			line++;
			column = 1;
		}
	}
}
END_TEST

START_TEST(lines_have_no_end)
{
	const struct cj_source *s;
	uint32_t n;

	CJ_CHECK_RECOVER(&point);
	s = add("one\r\n\nthree", 11);
	ck_assert_uint_eq(s->line_count, 3);
	ck_assert_mem_eq(cj_source_line(s, 1, &n), "one", 3);
	ck_assert_uint_eq(n, 3);
	cj_source_line(s, 2, &n);
	ck_assert_uint_eq(n, 0);
	ck_assert_mem_eq(cj_source_line(s, 3, &n), "three", 5);
	ck_assert_uint_eq(n, 5);
}
END_TEST

START_TEST(spans_join)
{
	struct cj_span a = { 1, 4, 6 }, b = { 1, 8, 9 }, none = { 0, 0, 0 };
	struct cj_span j = cj_span_join(a, b);

	ck_assert_uint_eq(j.begin, 4);
	ck_assert_uint_eq(j.end, 9);
	j = cj_span_join(none, b);
	ck_assert_uint_eq(j.begin, 8);
	j = cj_span_join(a, none);
	ck_assert_uint_eq(j.end, 6);
	ck_assert_uint_eq(j.source, 1);
}
END_TEST

/* Bytes of text, and how many of them are valid. */
static const struct {
	const char *text;
	size_t length, valid;
} utf8[] = {
	{ "", 0, 0 },
	{ "plain\0\x7f", 7, 7 },
	{ "\xc3\xa4", 2, 2 },
	{ "a\xc3", 2, 1 },			/* cut short */
	{ "a\x80", 2, 1 },			/* no first byte */
	{ "\xc0\x80", 2, 0 },			/* too long for U+0000 */
	{ "\xc1\xbf", 2, 0 },
	{ "\xe0\x9f\xbf", 3, 0 },
	{ "\xe0\xa0\x80", 3, 3 },
	{ "\xed\x9f\xbf", 3, 3 },
	{ "\xed\xa0\x80", 3, 0 },		/* a surrogate */
	{ "\xee\x80\x80", 3, 3 },
	{ "\xf0\x8f\xbf\xbf", 4, 0 },
	{ "\xf0\x90\x80\x80", 4, 4 },
	{ "\xf4\x8f\xbf\xbf", 4, 4 },
	{ "\xf4\x90\x80\x80", 4, 0 },		/* above U+10FFFF */
	{ "\xf5\x80\x80\x80", 4, 0 },
	{ "ok\xff", 3, 2 },
	{ "\xe2\x82", 2, 0 },
	{ "\xe2\x82(", 3, 0 },
};

START_TEST(utf8_is_checked)
{
	ck_assert_uint_eq(cj_utf8_check(utf8[_i].text, utf8[_i].length),
	    utf8[_i].valid);
}
END_TEST

static Suite *
source_suite(void)
{
	Suite *s = suite_create("source");
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, text_is_copied);
	tcase_add_test(t, too_long_a_text_is_refused);
	tcase_add_loop_test(t, positions, 0, CJ_LENGTH(places));
	tcase_add_test(t, positions_agree_with_counting);
	tcase_add_test(t, lines_have_no_end);
	tcase_add_test(t, spans_join);
	tcase_add_loop_test(t, utf8_is_checked, 0, CJ_LENGTH(utf8));
	suite_add_tcase(s, t);
	return s;
}

CJ_CHECK_MAIN(source_suite)
