/*
 * The table of tokens.
 */
#include "syntax_fixture.h"

START_TEST(texts_and_kinds)
{
	ck_assert_str_eq(cj_token_text(CJ_TOKEN_END), "end of file");
	ck_assert_str_eq(cj_token_text(CJ_TOKEN_NAME), "name");
	ck_assert_str_eq(cj_token_text(CJ_TOKEN_SHR_SET), ">>=");
	ck_assert_str_eq(cj_token_text(CJ_TOKEN_WHERE), "where");
	ck_assert(cj_token_is_class(CJ_TOKEN_STRING));
	ck_assert(cj_token_is_class(CJ_TOKEN_END));
	ck_assert(!cj_token_is_class(CJ_TOKEN_BREAK));
	ck_assert(!cj_token_is_class(CJ_TOKEN_PLUS));
}
END_TEST

/* Each word is found by its text, and a little more or less is a name. */
START_TEST(words_are_found)
{
	char text[32];
	int k, reserved = 0, plain = 0;
	struct cj_word_table table;

	cj_word_table_init(&table);
	for (k = CJ_TOKEN_NAME; k < CJ_TOKEN_AFTER; k++) {
		enum cj_token_kind kind = (enum cj_token_kind)k;
		const char *word = cj_token_text(kind);
		size_t n = strlen(word);

		if (!cj_token_is_reserved(kind) &&
		    !cj_token_is_plain_word(kind))
			continue;
		reserved += cj_token_is_reserved(kind);
		plain += cj_token_is_plain_word(kind);
		ck_assert_int_eq(cj_token_of_word(&table, word, n), kind);
		snprintf(text, sizeof text, "%sx", word);
		ck_assert_int_eq(cj_token_of_word(&table, text, n + 1),
		    CJ_TOKEN_NAME);
		if (strcmp(word, "_") != 0)
			ck_assert_int_ne(cj_token_of_word(&table, word,
			    n - 1), kind);
	}
	ck_assert_int_eq(reserved, 15);
	ck_assert_int_eq(plain, 22);
}
END_TEST

static Suite *
token_suite(void)
{
	const TTest *const tests[] = { texts_and_kinds, words_are_found };

	return suite_of("token", tests, CJ_LENGTH(tests));
}

CJ_CHECK_MAIN(token_suite)
