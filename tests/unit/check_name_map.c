/*
 * Maps of names.
 */
#include "check_main.h"

#include "base/base.h"

static struct cj_recover point;
static struct cj_arena arena;

static void
set_up(void)
{
	cj_arena_init(&arena, &point, NULL);
	CJ_CHECK_RECOVER(&point);
}

static void
tear_down(void)
{
	cj_arena_fini(&arena);
}

START_TEST(empty_has_nothing)
{
	struct cj_name_map m = { 0 };

	ck_assert_uint_eq(cj_name_map_get(&m, 1), 0);
}
END_TEST

START_TEST(last_value_counts)
{
	struct cj_name_map m = { 0 };

	cj_name_map_set(&arena, &m, 7, 1);
	cj_name_map_set(&arena, &m, 7, 2);
	ck_assert_uint_eq(cj_name_map_get(&m, 7), 2);
	ck_assert_uint_eq(cj_name_map_get(&m, 8), 0);
	ck_assert_uint_eq(m.count, 1);
}
END_TEST

/* Far more than at first there is room for, with gaps between the names. */
START_TEST(many_names)
{
	struct cj_name_map m = { 0 };
	uint32_t i;

	for (i = 1; i <= 10000; i++)
		cj_name_map_set(&arena, &m, 3 * i, i);
	for (i = 1; i <= 10000; i++) {
		ck_assert_uint_eq(cj_name_map_get(&m, 3 * i), i);
		ck_assert_uint_eq(cj_name_map_get(&m, 3 * i + 1), 0);
	}
	ck_assert_uint_le(2 * m.count, m.slot_count);
}
END_TEST

static Suite *
name_map_suite(void)
{
	Suite *s = suite_create("name_map");
	TCase *c = tcase_create("name_map");

	tcase_add_checked_fixture(c, set_up, tear_down);
	tcase_add_test(c, empty_has_nothing);
	tcase_add_test(c, last_value_counts);
	tcase_add_test(c, many_names);
	suite_add_tcase(s, c);
	return s;
}

CJ_CHECK_MAIN(name_map_suite)
