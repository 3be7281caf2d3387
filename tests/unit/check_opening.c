/*
 * Opening LLVM beside other work: it is open at the end, whatever ends it, and
 * no thread is left.
 */
#include "check_main.h"

#include <dirent.h>

#include "codegen/codegen.h"
#include "runtime/opening.h"

static cutejit_context *
context(const char *worker)
{
	cutejit_options o = CUTEJIT_OPTIONS_INIT;
	cutejit_context *c;

	o.cache = CUTEJIT_CACHE_OFF;
	o.worker = worker;
	ck_assert_int_eq(cutejit_context_create(&o, &c), CUTEJIT_OK);
	return c;
}

static unsigned
thread_count(void)
{
	DIR *d = opendir("/proc/self/task");
	struct dirent *e;
	unsigned n = 0;

	ck_assert_ptr_nonnull(d);
	while ((e = readdir(d)) != NULL)
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

static cutejit_status
begin_and_end(struct cj_work *f, void *arguments)
{
	(void)arguments;
	cj_opening_end(f, cj_opening_begin(f));
	return CUTEJIT_OK;
}

static cutejit_status
begin_and_leave(struct cj_work *f, void *arguments)
{
	(void)arguments;
	cj_opening_begin(f);
	cj_leave(&f->recover, CJ_WHY_DEADLINE, "late");
}

START_TEST(test_opens)
{
	cutejit_context *c = context(NULL);
	unsigned before = thread_count();

	if (_i == 0)
		ck_assert_int_eq(cj_enter(c, begin_and_end, NULL),
		    CUTEJIT_OK);
	else
		ck_assert_int_eq(cj_enter(c, begin_and_leave, NULL),
		    CUTEJIT_LIMIT);
	ck_assert(cj_codegen_is_open());
	ck_assert_uint_eq(thread_count(), before);
	cutejit_context_destroy(c);
}
END_TEST

static cutejit_status
begin_nothing(struct cj_work *f, void *arguments)
{
	(void)arguments;
	ck_assert_ptr_null(cj_opening_begin(f));
	return CUTEJIT_OK;
}

/* What is open, and what another program will open, is not opened. */
START_TEST(test_nothing_to_open)
{
	cutejit_context *c = context(_i == 0 ? NULL : "/bin/true");

	if (_i == 0)
		ck_assert_ptr_null(cj_codegen_open());
	ck_assert_int_eq(cj_enter(c, begin_nothing, NULL), CUTEJIT_OK);
	cutejit_context_destroy(c);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("opening");
	TCase *t = tcase_create("threads");

	tcase_add_loop_test(t, test_opens, 0, 2);
	tcase_add_loop_test(t, test_nothing_to_open, 0, 2);
	suite_add_tcase(s, t);
	return s;
}

CJ_CHECK_MAIN(suite)
