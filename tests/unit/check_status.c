/*
 * What the library says of itself, and how it takes wrong options.
 */
#include "check_main.h"

#include "runtime/runtime.h"

START_TEST(test_statuses)
{
	static const int all[] = { 0, 1, 2, 3, 4, 70, 12345 };
	size_t i;

	for (i = 0; i < CJ_LENGTH(all); i++)
		ck_assert_str_ne(cutejit_status_text(
		    (cutejit_status)all[i]), "");
}
END_TEST

START_TEST(test_codes)
{
	const char *code;
	size_t i;

	for (i = 0; (code = cutejit_code_at(i)) != NULL; i++) {
		ck_assert_str_ne(code, "");
		ck_assert_ptr_nonnull(cutejit_explain(code));
		ck_assert_str_ne(cutejit_explain(code), "");
	}
	ck_assert_uint_gt(i, 20);
	ck_assert_ptr_null(cutejit_explain("no-such-code"));
	ck_assert_ptr_null(cutejit_explain(""));
	ck_assert_ptr_null(cutejit_explain(NULL));
}
END_TEST

START_TEST(test_targets)
{
	const cutejit_target *t;
	size_t i;

	for (i = 0; (t = cutejit_target_at(i)) != NULL; i++) {
		const struct cj_target *same = cj_target_find(t->name);

		ck_assert_ptr_nonnull(same);
		ck_assert_int_eq(t->number, same->number);
		ck_assert_int_eq(t->ptx, same->ptx);
		ck_assert_int_eq(t->shared_bytes, same->shared_bytes);
	}
	ck_assert_uint_eq(i, cj_target_count);
}
END_TEST

START_TEST(test_options_sizes)
{
	struct {
		cutejit_options o;
		char more[16];
	} big;
	const cutejit_options good = CUTEJIT_OPTIONS_INIT;
	cutejit_context *c;

	memset(&big, 0, sizeof big);
	big.o = good;
	big.o.size = sizeof big;	/* of a later version, nothing set */
	ck_assert_int_eq(cutejit_context_create(&big.o, &c), CUTEJIT_OK);
	cutejit_context_destroy(c);
	big.more[15] = 1;		/* and something we do not know */
	ck_assert_int_eq(cutejit_context_create(&big.o, &c), CUTEJIT_USAGE);
	ck_assert_ptr_null(c);
	big.o.size = 0;
	ck_assert_int_eq(cutejit_context_create(&big.o, &c), CUTEJIT_USAGE);
	big.o.size = SIZE_MAX;
	ck_assert_int_eq(cutejit_context_create(&big.o, &c), CUTEJIT_USAGE);
	big.o.size = offsetof(cutejit_options, cache);	/* of an older one */
	ck_assert_int_eq(cutejit_context_create(&big.o, &c), CUTEJIT_OK);
	cutejit_context_destroy(c);
}
END_TEST

START_TEST(test_options_values)
{
	cutejit_options o = CUTEJIT_OPTIONS_INIT;
	const char *warnings[] = { "no-such-thing" };
	cutejit_context *c;

	o.warnings = warnings;
	o.warning_count = 1;
	ck_assert_int_eq(cutejit_context_create(&o, &c), CUTEJIT_USAGE);
	warnings[0] = "error";
	ck_assert_int_eq(cutejit_context_create(&o, &c), CUTEJIT_OK);
	cutejit_context_destroy(c);
	o.warnings = NULL;
	ck_assert_int_eq(cutejit_context_create(&o, &c), CUTEJIT_USAGE);
	o.warning_count = 0;
	o.allocate = NULL;
	o.release = (void (*)(void *, void *))(void (*)(void))free;
	ck_assert_int_eq(cutejit_context_create(&o, &c), CUTEJIT_USAGE);
}
END_TEST

START_TEST(test_null)
{
	cutejit_module *m;
	cutejit_kernel *k;
	const char *text;

	cutejit_context_destroy(NULL);
	cutejit_module_destroy(NULL);
	cutejit_kernel_destroy(NULL);
	cutejit_launch_destroy(NULL);
	cutejit_array_destroy(NULL);
	ck_assert_int_eq(cutejit_context_create(NULL, NULL), CUTEJIT_USAGE);
	ck_assert_int_eq(cutejit_module_from_file(NULL, "x", &m),
	    CUTEJIT_USAGE);
	ck_assert_int_eq(cutejit_compile(NULL, "x", NULL, &k),
	    CUTEJIT_USAGE);
	ck_assert_int_eq(cutejit_evaluate(NULL, NULL, "1", &text),
	    CUTEJIT_USAGE);
	ck_assert_int_eq(cutejit_launch_run(NULL, NULL), CUTEJIT_USAGE);
	ck_assert_uint_eq(cutejit_report_count(NULL), 0);
	ck_assert_str_eq(cutejit_report_text(NULL, 0), "");
	ck_assert_ptr_null(cutejit_context_report(NULL));
}
END_TEST

/* A fault of ours: status 70, a message that says nothing of its text, and a
 * report that does. */
static cutejit_status
break_down(struct cj_work *f, void *arguments)
{
	(void)arguments;
	f->doing = "testing";
	cj_bug(&f->recover, "a secret of LLVM");
}

START_TEST(test_fault)
{
	char folder[] = "/tmp/cutejit-check-XXXXXX", command[96];
	const cutejit_report *r;
	cutejit_context *c;

	ck_assert_ptr_nonnull(mkdtemp(folder));
	setenv("CUTEJIT_REPRO", folder, 1);
	ck_assert_int_eq(cutejit_context_create(NULL, &c), CUTEJIT_OK);
	ck_assert_int_eq(cj_enter(c, break_down, NULL), CUTEJIT_INTERNAL);
	r = cutejit_context_report(c);
	ck_assert_uint_eq(cutejit_report_count(r), 1);
	ck_assert_str_eq(cutejit_report_at(r, 0)->code, "internal");
	ck_assert_ptr_null(strstr(cutejit_report_text(r, 0), "secret"));
	ck_assert_ptr_nonnull(strstr(cutejit_report_text(r, 0), folder));
	snprintf(command, sizeof command, "grep -q 'a secret of LLVM' %s/*",
	    folder);
	ck_assert_int_eq(system(command), 0);
	cutejit_context_destroy(c);
	snprintf(command, sizeof command, "rm -rf %s", folder);
	ck_assert_int_eq(system(command), 0);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("status");
	TCase *t = tcase_create("all");

	tcase_add_test(t, test_statuses);
	tcase_add_test(t, test_codes);
	tcase_add_test(t, test_targets);
	tcase_add_test(t, test_options_sizes);
	tcase_add_test(t, test_options_values);
	tcase_add_test(t, test_null);
	tcase_add_test(t, test_fault);
	suite_add_tcase(s, t);
	return s;
}

CJ_CHECK_MAIN(suite)
