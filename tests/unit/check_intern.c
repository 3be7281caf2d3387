/*
 * Names.
 */
#include "check_main.h"

#include "base/base.h"

static struct cj_recover point;
static struct cj_arena arena;
static struct cj_names names;

static void
set_up(void)
{
	cj_arena_init(&arena, &point, NULL);
	CJ_CHECK_RECOVER(&point);
	cj_names_init(&names, &arena);
}

static void
tear_down(void)
{
	cj_names_fini(&names);
	cj_arena_fini(&arena);
}

START_TEST(equal_texts_equal_names)
{
	char copy[] = "tile";
	cj_name a, b, c;

	CJ_CHECK_RECOVER(&point);
	a = cj_intern_str(&names, "tile");
	b = cj_intern(&names, copy, 4);
	c = cj_intern(&names, "tiles", 4);
	ck_assert_uint_ne(a, 0);
	ck_assert_uint_eq(a, b);
	ck_assert_uint_eq(a, c);
	ck_assert_str_eq(cj_name_text(&names, a), "tile");
	ck_assert_str_eq(cj_name_text(&names, 0), "");
}
END_TEST

START_TEST(prefixes_are_other_names)
{
	cj_name a, b, c;

	CJ_CHECK_RECOVER(&point);
	a = cj_intern_str(&names, "tile");
	b = cj_intern_str(&names, "til");
	c = cj_intern_str(&names, "tile_");
	ck_assert_uint_ne(a, b);
	ck_assert_uint_ne(a, c);
	ck_assert_uint_ne(b, c);
}
END_TEST

/* Through many growths of the table every name keeps its number and text. */
START_TEST(many_names)
{
	enum { MANY = 20000 };
	static cj_name name[MANY];
	char text[16];
	int i;

	CJ_CHECK_RECOVER(&point);
	for (i = 0; i < MANY; i++) {
		snprintf(text, sizeof text, "n%d", i);
		name[i] = cj_intern_str(&names, text);
	}
	for (i = 0; i < MANY; i++) {
		snprintf(text, sizeof text, "n%d", i);
		ck_assert_uint_eq(cj_intern_str(&names, text), name[i]);
		ck_assert_str_eq(cj_name_text(&names, name[i]), text);
	}
}
END_TEST

static void *
intern_all(void *result)
{
	cj_name *to = result;
	char text[16];
	int i;

	for (i = 0; i < 2000; i++) {
		snprintf(text, sizeof text, "t%d", i);
		to[i] = cj_intern_str(&names, text);
	}
	return NULL;
}

START_TEST(threads_agree)
{
	static cj_name result[4][2000];
	pthread_t threads[4];
	int i;

	CJ_CHECK_RECOVER(&point);
	for (i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, intern_all,
		    result[i]), 0);
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	for (i = 1; i < 4; i++)
		ck_assert_mem_eq(result[0], result[i], sizeof result[0]);
}
END_TEST

/* Where memory ends the lock is given back, and the table still answers. */
START_TEST(table_survives_the_end_of_memory)
{
	volatile int added = 0;
	char text[64];

	arena.limit = 256 << 10;
	if (!CJ_RECOVER(&point)) {
		for (;; added++) {
			snprintf(text, sizeof text, "%048d", added);
			cj_intern_str(&names, text);
		}
	}
	ck_assert_int_eq(point.why, CJ_WHY_MEMORY);
	ck_assert_int_gt(added, 100);
	CJ_CHECK_RECOVER(&point);
	snprintf(text, sizeof text, "%048d", added - 1);
	ck_assert_str_eq(cj_name_text(&names, cj_intern_str(&names, text)),
	    text);
}
END_TEST

static Suite *
intern_suite(void)
{
	Suite *s = suite_create("intern");
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, equal_texts_equal_names);
	tcase_add_test(t, prefixes_are_other_names);
	tcase_add_test(t, many_names);
	tcase_add_test(t, threads_agree);
	tcase_add_test(t, table_survives_the_end_of_memory);
	suite_add_tcase(s, t);
	return s;
}

CJ_CHECK_MAIN(intern_suite)
