/*
 * Diagnostics: what is kept, and how it is printed.
 */
#include "check_main.h"

#include "base/base.h"

static struct cj_recover point;
static struct cj_arena arena;
static struct cj_sources sources;
static struct cj_diags diags;

static void
set_up(void)
{
	cj_arena_init(&arena, &point, NULL);
	CJ_CHECK_RECOVER(&point);
	cj_sources_init(&sources, &arena);
	cj_diags_init(&diags, &arena, &sources);
}

static void
tear_down(void)
{
	cj_arena_fini(&arena);
}

/* The span of the first `needle` in a new text. */
static struct cj_span
span_in(const char *text, const char *needle)
{
	struct cj_span s;

	s.source = cj_source_add(&sources, "t.cute", text, strlen(text));
	s.begin = (uint32_t)(strstr(text, needle) - text);
	s.end = s.begin + (uint32_t)strlen(needle);
	return s;
}

static const char *
printed(void)
{
	struct cj_strbuf out;

	cj_strbuf_init(&out, &arena);
	cj_diags_print(&out, &diags, false);
	return out.text;
}

START_TEST(message_with_all_its_parts)
{
	const char *text = "let a = 1;\n\tlet b = aa + 1;\n";
	struct cj_span at, note;
	struct cj_diag *d;

	CJ_CHECK_RECOVER(&point);
	at = span_in(text, "aa");
	note = at;
	note.begin = 4;
	note.end = 5;
	d = cj_report(&diags, CJ_DIAG_UNKNOWN_NAME, at,
	    "\"%s\" is not declared", "aa");
	cj_note(d, note, "\"a\" is declared here");
	cj_note(d, (struct cj_span){ 0 }, "no place");
	cj_help(d, "Did you mean \"%s\"?", "a");
	cj_fixit(d, at, "a");
	ck_assert_str_eq(printed(),
	    "t.cute:2:10: error: \"aa\" is not declared [unknown-name]\n"
	    "    2 |         let b = aa + 1;\n"
	    "      |                 ^~\n"
	    "      |                 a\n"
	    "t.cute:1:5: note: \"a\" is declared here\n"
	    "    1 | let a = 1;\n"
	    "      |     ^\n"
	    "note: no place\n"
	    "help: Did you mean \"a\"?\n");
	ck_assert_uint_eq(diags.errors, 1);
}
END_TEST

/* Source line, the needle, and the two lines that show it. */
static const struct {
	const char *text, *needle, *shown;
} lines[] = {
	{ "abc", "b",
	  "    1 | abc\n      |  ^\n" },
	{ "f\t(x)", "(x)",			/* a tab inside the line */
	  "    1 | f       (x)\n      |         ^~~\n" },
	{ "\"\xc3\xa4\xe2\x82\xac\" + y", "y",	/* a character, a column */
	  "    1 | \"\xc3\xa4\xe2\x82\xac\" + y\n      |        ^\n" },
	{ "a\x01\x7f\x62 c", "c",		/* control characters */
	  "    1 | a??b c\n      |      ^\n" },
	{ "a\xe2\x80\xae" "b c", "c",		/* right-to-left override */
	  "    1 | a?b c\n      |     ^\n" },
	{ "a \xff c", "c",			/* not UTF-8 */
	  "    1 | a ? c\n      |     ^\n" },
	{ "one {\n  two\n}", "{\n  two\n}",	/* several lines */
	  "    1 | one {\n      |     ^\n" },
	{ "x\r\ny", "x\r\n",
	  "    1 | x\n      | ^\n" },
	{ "x\n", "\n",				/* the end of a line */
	  "    1 | x\n      |  ^\n" },
	{ "x", "",				/* an empty span */
	  "    1 | x\n      | ^\n" },
};

START_TEST(source_lines)
{
	struct cj_span at;
	const char *all;

	CJ_CHECK_RECOVER(&point);
	at = span_in(lines[_i].text, lines[_i].needle);
	cj_report(&diags, CJ_DIAG_SYNTAX, at, "text");
	all = printed();
	ck_assert_str_eq(strchr(all, '\n') + 1, lines[_i].shown);
}
END_TEST

START_TEST(end_of_text_is_a_place)
{
	struct cj_span at;

	CJ_CHECK_RECOVER(&point);
	at = span_in("ab\n", "ab");
	at.begin = at.end = 3;
	cj_report(&diags, CJ_DIAG_SYNTAX, at, "text ends here");
	ck_assert_str_eq(printed(),
	    "t.cute:2:1: error: text ends here [syntax]\n"
	    "    2 | \n      | ^\n");
}
END_TEST

/* Of a very long line, some text around the span is shown. */
START_TEST(long_lines_are_cut)
{
	enum { LENGTH = 100000 };
	char *text;
	struct cj_span at;
	const char *out, *line, *carets;

	CJ_CHECK_RECOVER(&point);
	text = cj_alloc(&arena, LENGTH + 1);
	memset(text, 'x', LENGTH);
	memcpy(text + LENGTH / 2, "HERE", 4);
	at = span_in(text, "HERE");
	cj_report(&diags, CJ_DIAG_SYNTAX, at, "text");
	out = printed();
	ck_assert_uint_lt(strlen(out), 500);
	line = strchr(out, '\n') + 1;
	carets = strchr(line, '\n') + 1;
	ck_assert_int_eq(strstr(line, "HERE") - line,
	    strstr(carets, "^~~~\n") - carets);
}
END_TEST

START_TEST(fix_elsewhere_has_its_own_place)
{
	struct cj_span at;
	struct cj_diag *d;
	const char *out;

	CJ_CHECK_RECOVER(&point);
	at = span_in("one\ntwo;\n", "one");
	d = cj_report(&diags, CJ_DIAG_SYNTAX, at, "text");
	at.begin = 7;
	at.end = 8;
	cj_fixit(d, at, "%s", "");
	out = printed();
	ck_assert_ptr_nonnull(strstr(out, "\nt.cute:2:4: fix: remove this\n"));
}
END_TEST

START_TEST(same_code_and_span_once)
{
	struct cj_span at, other;

	CJ_CHECK_RECOVER(&point);
	at = span_in("abc", "b");
	other = at;
	other.end++;
	cj_report(&diags, CJ_DIAG_SYNTAX, at, "first");
	ck_assert_ptr_nonnull(cj_report(&diags, CJ_DIAG_SYNTAX, at, "again"));
	ck_assert_uint_eq(diags.errors, 1);
	cj_report(&diags, CJ_DIAG_SYNTAX, other, "elsewhere");
	cj_report(&diags, CJ_DIAG_UNKNOWN_NAME, at, "another code");
	ck_assert_uint_eq(diags.errors, 3);
	ck_assert_ptr_null(strstr(printed(), "again"));
}
END_TEST

START_TEST(errors_are_limited)
{
	struct cj_span at;
	int i;

	CJ_CHECK_RECOVER(&point);
	at = span_in("0123456789012345678901234567890123456789", "0");
	for (i = 0; i < 30; i++, at.begin++, at.end++)
		cj_report(&diags, CJ_DIAG_SYNTAX, at, "number %d", i);
	ck_assert_uint_eq(diags.errors, 20);
	ck_assert_uint_eq(diags.dropped, 10);
	ck_assert_ptr_null(strstr(printed(), "number 20"));
	ck_assert_ptr_nonnull(strstr(printed(),
	    "note: 10 more errors are not shown\n"));
}
END_TEST

/* A code that may be silenced: the first warning or remark of the table. */
static enum cj_code
soft_code(void)
{
	int i;

	for (i = CJ_DIAG_NONE + 1; i < CJ_DIAG_COUNT; i++)
		if (cj_code_severity((enum cj_code)i) != CJ_ERROR)
			return (enum cj_code)i;
	return CJ_DIAG_NONE;
}

/* A line in front, the end of the line itself; is the code silenced? */
static const struct {
	const char *above, *behind;
	bool silent;
} allowed[] = {
	{ "", "", false },
	{ "// allow %s: it is meant\n", "", true },
	{ "", " // allow %s: it is meant", true },
	{ "", " //allow %s", true },
	{ "", " // a word // allow %s: late", true },
	{ "// allow %s: too far away\n\n", "", false },
	{ "", " // allow %sx: another code", false },
	{ "", " // allow %s-x: another code", false },
	{ "", " // disallow %s: no", false },
	{ "", " /* allow %s */", false },
};

START_TEST(allow_comments)
{
	enum cj_code code = soft_code();
	char text[300], above[100], behind[100];
	const char *name;

	CJ_CHECK_RECOVER(&point);
	if (code == CJ_DIAG_NONE)
		return;
	name = cj_code_text(code);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-extra-args"
	snprintf(above, sizeof above, allowed[_i].above, name);
	snprintf(behind, sizeof behind, allowed[_i].behind, name);
#pragma GCC diagnostic pop
	snprintf(text, sizeof text, "first\n%shere%s\nlast", above, behind);
	cj_report(&diags, code, span_in(text, "here"), "text");
	ck_assert_int_eq(diags.first == NULL, allowed[_i].silent);
}
END_TEST

START_TEST(errors_cannot_be_allowed)
{
	CJ_CHECK_RECOVER(&point);
	cj_report(&diags, CJ_DIAG_SYNTAX,
	    span_in("here // allow syntax: no", "here"), "text");
	diags.off[CJ_DIAG_UNKNOWN_NAME] = 1;
	cj_report(&diags, CJ_DIAG_UNKNOWN_NAME, span_in("a", "a"), "text");
	ck_assert_uint_eq(diags.errors, 2);
}
END_TEST

START_TEST(codes_can_be_off_or_errors)
{
	enum cj_code code = soft_code();
	struct cj_diag *d;

	CJ_CHECK_RECOVER(&point);
	if (code == CJ_DIAG_NONE)
		return;
	diags.off[code] = 1;
	d = cj_report(&diags, code, span_in("a", "a"), "text");
	ck_assert_ptr_nonnull(d);
	ck_assert_ptr_null(diags.first);
	diags.off[code] = 0;
	diags.as_error[code] = 1;
	d = cj_report(&diags, code, span_in("a", "a"), "text");
	ck_assert_int_eq(d->severity, CJ_ERROR);
	ck_assert_uint_eq(diags.errors, 1);
}
END_TEST

START_TEST(colour_changes_nothing_else)
{
	struct cj_strbuf out;
	const char *plain;
	char *p, *q;

	CJ_CHECK_RECOVER(&point);
	cj_help(cj_report(&diags, CJ_DIAG_SYNTAX, span_in("a b", "b"), "text"),
	    "Write c.");
	plain = printed();
	cj_strbuf_init(&out, &arena);
	cj_diags_print(&out, &diags, true);
	ck_assert_str_ne(out.text, plain);
	for (p = q = out.text; *p != '\0'; p++) {
		if (*p == '\033')
			p = strchr(p, 'm');
		else
			*q++ = *p;
	}
	*q = '\0';
	ck_assert_str_eq(out.text, plain);
}
END_TEST

/* Lines of an example are indented; the wrong ones say so. */
static void
count_lines(const char *text, unsigned *wrong, unsigned *right)
{
	const char *line, *end, *mark;

	*wrong = *right = 0;
	for (line = text; *line != '\0'; line = end + 1) {
		end = strchr(line, '\n');
		ck_assert_msg(end != NULL, "lines end");
		if (strncmp(line, "    ", 4) != 0)
			continue;
		mark = strstr(line, "wrong");
		++*(mark != NULL && mark < end ? wrong : right);
	}
}

/* What is wrong, and what is right, in a few lines each. */
START_TEST(explanations_show_both)
{
	unsigned i, wrong, right;

	for (i = CJ_DIAG_NONE + 1; i < CJ_DIAG_COUNT; i++) {
		count_lines(cj_code_explanation((enum cj_code)i), &wrong,
		    &right);
		ck_assert_msg(wrong != 0 && right != 0, "%s: %u wrong, %u "
		    "right lines", cj_code_text((enum cj_code)i), wrong,
		    right);
	}
}
END_TEST

/* Codes are lower-case words with hyphens, all different, all explained. */
START_TEST(table_is_sound)
{
	int i;

	for (i = CJ_DIAG_NONE + 1; i < CJ_DIAG_COUNT; i++) {
		enum cj_code code = (enum cj_code)i;
		const char *text = cj_code_text(code);

		ck_assert_uint_eq(strspn(text,
		    "abcdefghijklmnopqrstuvwxyz0123456789-"), strlen(text));
		ck_assert_int_eq(cj_code_find(text), code);
		ck_assert_uint_gt(strlen(cj_code_explanation(code)), 10);
	}
	ck_assert_int_eq(cj_code_find("no-such-code"), CJ_DIAG_NONE);
	ck_assert_int_eq(cj_code_find(""), CJ_DIAG_NONE);
}
END_TEST

static const struct {
	const char *word, *near;
} words[] = {
	{ "thread_ix", "thread_idx" },
	{ "tread_idx", "thread_idx" },
	{ "szie", "size" },
	{ "sizes", "size" },
	{ "x", NULL },
	{ "completely_different", NULL },
	{ "", NULL },
	{ "bolck", "block" },
};

START_TEST(nearest_word)
{
	static const char *const known[] = {
		"block", "size", "thread_idx", "cosize"
	};
	const char *near = cj_nearest(words[_i].word, known, CJ_LENGTH(known));

	if (words[_i].near == NULL)
		ck_assert_ptr_null(near);
	else
		ck_assert_str_eq(near, words[_i].near);
}
END_TEST

static Suite *
diag_suite(void)
{
	Suite *s = suite_create("diag");
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, message_with_all_its_parts);
	tcase_add_loop_test(t, source_lines, 0, CJ_LENGTH(lines));
	tcase_add_test(t, end_of_text_is_a_place);
	tcase_add_test(t, long_lines_are_cut);
	tcase_add_test(t, fix_elsewhere_has_its_own_place);
	tcase_add_test(t, same_code_and_span_once);
	tcase_add_test(t, errors_are_limited);
	tcase_add_loop_test(t, allow_comments, 0, CJ_LENGTH(allowed));
	tcase_add_test(t, errors_cannot_be_allowed);
	tcase_add_test(t, codes_can_be_off_or_errors);
	tcase_add_test(t, colour_changes_nothing_else);
	tcase_add_test(t, table_is_sound);
	tcase_add_test(t, explanations_show_both);
	tcase_add_loop_test(t, nearest_word, 0, CJ_LENGTH(words));
	suite_add_tcase(s, t);
	return s;
}

CJ_CHECK_MAIN(diag_suite)
