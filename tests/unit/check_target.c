/*
 * Targets: which program runs on which chip.
 */
#include "check_main.h"

#include "ir/target.h"

START_TEST(rows_are_found)
{
	unsigned i;

	for (i = 0; i < cj_target_count; i++) {
		const struct cj_target *t = &cj_targets[i];
		char name[16];

		ck_assert_ptr_eq(cj_target_find(t->name), t);
		snprintf(name, sizeof name, "sm_%d%s", t->number, t->suffix);
		ck_assert_str_eq(t->name, name);
		ck_assert(t->ptx >= 70 && t->shared_bytes > 0);
	}
	ck_assert_ptr_null(cj_target_find("sm_70"));
	ck_assert_ptr_null(cj_target_find(""));
}
END_TEST

START_TEST(best_for_a_chip)
{
	static const struct {
		int major, minor;
		const char *name;
	} t[] = { { 8, 0, "sm_80" }, { 8, 6, "sm_86" }, { 8, 7, "sm_86" },
	    { 8, 9, "sm_89" }, { 9, 0, "sm_90a" }, { 10, 0, "sm_100a" },
	    { 10, 3, "sm_103a" }, { 12, 0, "sm_120a" }, { 12, 1, "sm_90" },
	    { 7, 5, NULL } };
	unsigned i;

	for (i = 0; i < CJ_LENGTH(t); i++) {
		const struct cj_target *best = cj_target_for_chip(t[i].major,
		    t[i].minor);

		if (t[i].name == NULL)
			ck_assert_ptr_null(best);
		else
			ck_assert_str_eq(best->name, t[i].name);
	}
}
END_TEST

START_TEST(serves)
{
	static const struct {
		const char *target, *needs;
		bool does;
	} t[] = { { "sm_80", "sm_80", true }, { "sm_86", "sm_80", true },
	    { "sm_80", "sm_86", false }, { "sm_90a", "sm_80", true },
	    { "sm_90a", "sm_90a", true }, { "sm_90", "sm_90a", false },
	    { "sm_100a", "sm_90a", false }, { "sm_103a", "sm_100f", true },
	    { "sm_120a", "sm_100f", false }, { "sm_90a", "sm_90b", false },
	    { "sm_90a", "sm_9", false }, { "sm_90a", "90", false },
	    { "sm_90a", "sm_90aa", false }, { "sm_90a", "", false } };
	unsigned i;

	for (i = 0; i < CJ_LENGTH(t); i++)
		ck_assert_msg(cj_target_serves(cj_target_find(t[i].target),
		    t[i].needs) == t[i].does, "%s for %s", t[i].target,
		    t[i].needs);
}
END_TEST

static Suite *
target_suite(void)
{
	Suite *s = suite_create("target");
	TCase *t = tcase_create("target");

	tcase_add_test(t, rows_are_found);
	tcase_add_test(t, best_for_a_chip);
	tcase_add_test(t, serves);
	suite_add_tcase(s, t);
	return s;
}

CJ_CHECK_MAIN(target_suite)
