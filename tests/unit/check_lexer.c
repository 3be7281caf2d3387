/*
 * The scanner: values of literals, places, and what it says of wrong ones.
 */
#include "syntax_fixture.h"

static bool
check_tokens(const char *stem)
{
	struct cj_strbuf out;

	open_case(stem);
	cj_strbuf_init(&out, &fix.arena);
	cj_tokens_print(&out, &fix.names, &fix.sources, fix.source,
	    &fix.diags);
	if (fix.diags.errors != 0) {
		fprintf(stderr, "%s\n", diags_text());
		return false;
	}
	return is_golden(cj_printf(&fix.arena, "%s.tokens", stem), out.text,
	    out.len);
}

START_TEST(tokens_are_golden)
{
	CJ_CHECK_RECOVER(&fix.point);
	each_case("tokens", check_tokens);
}
END_TEST

static struct cj_token
first_token(const char *text)
{
	add_source("t", text, strlen(text));
	return cj_lexer_next(cj_lexer_create(&fix.arena, &fix.names,
	    &fix.sources, fix.source, &fix.diags));
}

static const struct { const char *text; uint64_t value; } integers[] = {
	{ "0", 0 }, { "7", 7 }, { "1_000", 1000 }, { "0x1F", 31 },
	{ "0Xff_ff", 65535 }, { "0b1_01", 5 }, { "007", 7 },
	{ "18446744073709551615", UINT64_MAX },
	{ "0xffffffffffffffff", UINT64_MAX },
};

START_TEST(integers_have_values)
{
	struct cj_token t;

	CJ_CHECK_RECOVER(&fix.point);
	t = first_token(integers[_i].text);
	ck_assert_int_eq(t.kind, CJ_TOKEN_INTEGER);
	ck_assert_uint_eq(t.integer, integers[_i].value);
	ck_assert_uint_eq(fix.diags.errors, 0);
	ck_assert_uint_eq(t.span.end, strlen(integers[_i].text));
}
END_TEST

/* The nearest double, as the C library reads the same digits. */
static const char *const numbers[] = {
	"0.0", "1.5", "0.1", "3.14159265358979323846", "1e10", "1E-10",
	"2.5e+3", "123456789.987654321e-20", "1e308", "4.9e-324", "1e-400",
	"0.000000000000000000000000000000000001", "9007199254740993.0",
	"1.7976931348623157e308", "2.2250738585072011e-308",
};

START_TEST(numbers_are_nearest)
{
	struct cj_token t;

	CJ_CHECK_RECOVER(&fix.point);
	t = first_token(numbers[_i]);
	ck_assert_int_eq(t.kind, CJ_TOKEN_NUMBER);
	ck_assert(t.number.value == strtod(numbers[_i], NULL));
	ck_assert_str_eq(t.number.text, numbers[_i]);
	ck_assert_uint_eq(fix.diags.errors, 0);
}
END_TEST

START_TEST(numbers_may_be_parted)
{
	struct cj_token t;

	CJ_CHECK_RECOVER(&fix.point);
	t = first_token("1_0.2_5");
	ck_assert(t.number.value == 10.25);
	ck_assert_str_eq(t.number.text, "10.25");
}
END_TEST

START_TEST(strings_lose_their_escapes)
{
	struct cj_token t;

	CJ_CHECK_RECOVER(&fix.point);
	t = first_token("\"a\\n\\t\\r\\0\\\\\\\"\\'\\x41\\xfF \303\244\"");
	ck_assert_int_eq(t.kind, CJ_TOKEN_STRING);
	ck_assert_uint_eq(t.string.length, 13);
	ck_assert_mem_eq(t.string.bytes, "a\n\t\r\0\\\"'A\xff \303\244", 14);
	ck_assert_uint_eq(fix.diags.errors, 0);
}
END_TEST

/* Wrong literals: one message each, and a token all the same. */
static const struct {
	const char *text;
	enum cj_code code;
	enum cj_token_kind kind;
} wrong[] = {
	{ "18446744073709551616", CJ_DIAG_BAD_NUMBER, CJ_TOKEN_INTEGER },
	{ "0x1ffffffffffffffff", CJ_DIAG_BAD_NUMBER, CJ_TOKEN_INTEGER },
	{ "0x", CJ_DIAG_BAD_NUMBER, CJ_TOKEN_INTEGER },
	{ "0x_", CJ_DIAG_BAD_NUMBER, CJ_TOKEN_INTEGER },
	{ "0b2", CJ_DIAG_BAD_NUMBER, CJ_TOKEN_INTEGER },
	{ "3u", CJ_DIAG_BAD_NUMBER, CJ_TOKEN_INTEGER },
	{ "1e", CJ_DIAG_BAD_NUMBER, CJ_TOKEN_INTEGER },
	{ "1.", CJ_DIAG_BAD_NUMBER, CJ_TOKEN_INTEGER },
	{ "1.f", CJ_DIAG_BAD_NUMBER, CJ_TOKEN_INTEGER },
	{ "1.5f", CJ_DIAG_BAD_NUMBER, CJ_TOKEN_INTEGER },
	{ "1e309", CJ_DIAG_BAD_NUMBER, CJ_TOKEN_NUMBER },
	{ "1e99999999999999999999", CJ_DIAG_BAD_NUMBER, CJ_TOKEN_NUMBER },
	{ ".5", CJ_DIAG_BAD_NUMBER, CJ_TOKEN_NUMBER },
	{ "\"abc", CJ_DIAG_BAD_STRING, CJ_TOKEN_STRING },
	{ "\"abc\\", CJ_DIAG_BAD_STRING, CJ_TOKEN_STRING },
	{ "\"abc\\\"", CJ_DIAG_BAD_STRING, CJ_TOKEN_STRING },
	{ "\"", CJ_DIAG_BAD_STRING, CJ_TOKEN_STRING },
	{ "\"\\q\"", CJ_DIAG_BAD_STRING, CJ_TOKEN_STRING },
	{ "\"\\xg\"", CJ_DIAG_BAD_STRING, CJ_TOKEN_STRING },
	{ "'a'", CJ_DIAG_BAD_STRING, CJ_TOKEN_STRING },
	{ "\303\244", CJ_DIAG_BAD_CHARACTER, CJ_TOKEN_NAME },
	{ "a\303\244", CJ_DIAG_BAD_CHARACTER, CJ_TOKEN_NAME },
	{ "$ a", CJ_DIAG_BAD_CHARACTER, CJ_TOKEN_NAME },
	{ "# a\nb", CJ_DIAG_BAD_CHARACTER, CJ_TOKEN_NAME },
	{ "\377", CJ_DIAG_BAD_UTF8, CJ_TOKEN_NAME },
	{ "/* \300\257 */ a", CJ_DIAG_BAD_UTF8, CJ_TOKEN_NAME },
	{ "/* /* */", CJ_DIAG_SYNTAX, CJ_TOKEN_END },
	{ "/*", CJ_DIAG_SYNTAX, CJ_TOKEN_END },
};

START_TEST(wrong_tokens_are_named)
{
	struct cj_token t;

	CJ_CHECK_RECOVER(&fix.point);
	t = first_token(wrong[_i].text);
	ck_assert_uint_eq(fix.diags.errors, 1);
	ck_assert_int_eq(fix.diags.first->code, wrong[_i].code);
	ck_assert_int_eq(t.kind, wrong[_i].kind);
}
END_TEST

START_TEST(ends_stay_ends)
{
	struct cj_lexer *lx;
	struct cj_token t;

	CJ_CHECK_RECOVER(&fix.point);
	add_source("t", " a ", 3);
	lx = cj_lexer_create(&fix.arena, &fix.names, &fix.sources, fix.source,
	    &fix.diags);
	t = cj_lexer_next(lx);
	ck_assert_uint_eq(t.span.begin, 1);
	ck_assert_uint_eq(t.span.end, 2);
	ck_assert_str_eq(cj_name_text(&fix.names, t.name), "a");
	ck_assert_int_eq(cj_lexer_next(lx).kind, CJ_TOKEN_END);
	t = cj_lexer_next(lx);
	ck_assert_int_eq(t.kind, CJ_TOKEN_END);
	ck_assert_uint_eq(t.span.begin, 3);
}
END_TEST

/* C++ text, and where it ends. */
static const struct { const char *text; int length; } cuda[] = {
	{ "extern cuda {}", 0 },
	{ "extern cuda { {} }", 4 },
	{ "extern cuda { '}' }", 5 },
	{ "extern cuda { \"}\\\"}\" }", 8 },
	{ "extern cuda {/*}*/}", 5 },
	{ "extern cuda {//}\n}", 4 },
	{ "extern cuda {//}\\\n}\n}", 7 },
	{ "extern cuda {R\"(})\"}", 6 },
	{ "extern cuda {u8R\"ab(}\" )a\" )ab\"}", 18 },
	{ "extern cuda {1'0}", 3 },
	{ "extern cuda {xR\"}\"}", 5 },
	{ "extern /* c */ cuda /* { */ {a}", 1 },
};

START_TEST(cuda_text_ends)
{
	struct cj_lexer *lx;
	struct cj_token t;

	CJ_CHECK_RECOVER(&fix.point);
	add_source("t", cuda[_i].text, strlen(cuda[_i].text));
	lx = cj_lexer_create(&fix.arena, &fix.names, &fix.sources, fix.source,
	    &fix.diags);
	ck_assert_int_eq(cj_lexer_next(lx).kind, CJ_TOKEN_EXTERN);
	ck_assert_int_eq(cj_lexer_next(lx).kind, CJ_TOKEN_CUDA);
	t = cj_lexer_next(lx);
	ck_assert_int_eq(t.kind, CJ_TOKEN_CUDA_TEXT);
	ck_assert_int_eq((int)t.string.length, cuda[_i].length);
	ck_assert_int_eq(cj_lexer_next(lx).kind, CJ_TOKEN_END);
	ck_assert_uint_eq(fix.diags.errors, 0);
}
END_TEST

static Suite *
lexer_suite(void)
{
	const TTest *const tests[] = { tokens_are_golden,
	    numbers_may_be_parted, strings_lose_their_escapes,
	    ends_stay_ends };
	Suite *suite = suite_of("lexer", tests, CJ_LENGTH(tests));
	TCase *tc = tcase_create("loops");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_loop_test(tc, integers_have_values, 0,
	    (int)CJ_LENGTH(integers));
	tcase_add_loop_test(tc, numbers_are_nearest, 0,
	    (int)CJ_LENGTH(numbers));
	tcase_add_loop_test(tc, wrong_tokens_are_named, 0,
	    (int)CJ_LENGTH(wrong));
	tcase_add_loop_test(tc, cuda_text_ends, 0, (int)CJ_LENGTH(cuda));
	suite_add_tcase(suite, tc);
	return suite;
}

CJ_CHECK_MAIN(lexer_suite)
