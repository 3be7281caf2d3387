/*
 * Text under construction.
 */
#include "check_main.h"

#include "base/base.h"

static struct cj_recover point;
static struct cj_arena arena;
static struct cj_strbuf out;

static void
set_up(void)
{
	cj_arena_init(&arena, &point, NULL);
	CJ_CHECK_RECOVER(&point);
	cj_strbuf_init(&out, &arena);
}

static void
tear_down(void)
{
	cj_arena_fini(&arena);
}

START_TEST(starts_empty)
{
	ck_assert_uint_eq(out.len, 0);
	ck_assert_str_eq(out.text, "");
}
END_TEST

START_TEST(pieces_follow_each_other)
{
	CJ_CHECK_RECOVER(&point);
	cj_strbuf_puts(&out, "ab");
	cj_strbuf_putc(&out, 'c');
	cj_strbuf_write(&out, "defg", 2);
	cj_strbuf_printf(&out, "%d%s", 7, "");
	ck_assert_str_eq(out.text, "abcde7");
	ck_assert_uint_eq(out.len, 6);
}
END_TEST

START_TEST(numbers_are_decimal)
{
	static const uint64_t numbers[] = { 0, 9, 10, 4294967296,
	    UINT64_MAX };
	char text[32];
	unsigned i;

	CJ_CHECK_RECOVER(&point);
	for (i = 0; i < CJ_LENGTH(numbers); i++) {
		out.len = 0;
		cj_strbuf_number(&out, numbers[i]);
		snprintf(text, sizeof text, "%llu",
		    (unsigned long long)numbers[i]);
		ck_assert_str_eq(out.text, text);
	}
}
END_TEST

START_TEST(nul_bytes_are_kept)
{
	CJ_CHECK_RECOVER(&point);
	cj_strbuf_write(&out, "a\0b", 3);
	cj_strbuf_putc(&out, 'c');
	ck_assert_uint_eq(out.len, 4);
	ck_assert_mem_eq(out.text, "a\0bc", 5);
}
END_TEST

/* Two texts that grow in turns do not run into each other. */
START_TEST(two_grow_side_by_side)
{
	struct cj_strbuf other;
	int i;

	CJ_CHECK_RECOVER(&point);
	cj_strbuf_init(&other, &arena);
	for (i = 0; i < 5000; i++) {
		cj_strbuf_printf(&out, "%d,", i);
		cj_strbuf_putc(&other, 'x');
		ck_assert_uint_eq(strlen(out.text), out.len);
	}
	ck_assert_uint_eq(strspn(other.text, "x"), 5000);
	ck_assert_ptr_nonnull(strstr(out.text, "0,1,2,"));
	ck_assert_ptr_nonnull(strstr(out.text, ",4998,4999,"));
}
END_TEST

/* A formatted piece of every length around the capacity of 64. */
START_TEST(formatted_pieces_of_any_length)
{
	char expected[256];

	CJ_CHECK_RECOVER(&point);
	memset(expected, ' ', sizeof expected);
	expected[_i] = '\0';
	cj_strbuf_printf(&out, "%*s", _i, "");
	ck_assert_str_eq(out.text, expected);
	ck_assert_uint_lt(out.len, out.cap);
}
END_TEST

static Suite *
strbuf_suite(void)
{
	Suite *s = suite_create("strbuf");
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, starts_empty);
	tcase_add_test(t, pieces_follow_each_other);
	tcase_add_test(t, numbers_are_decimal);
	tcase_add_test(t, nul_bytes_are_kept);
	tcase_add_test(t, two_grow_side_by_side);
	tcase_add_loop_test(t, formatted_pieces_of_any_length, 0, 200);
	suite_add_tcase(s, t);
	return s;
}

CJ_CHECK_MAIN(strbuf_suite)
