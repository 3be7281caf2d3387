/*
 * The main function of a suite, and where test data lies.
 *
 *	CJ_CHECK_MAIN(suite_function)
 *
 * Prints what failed and, last, `N passed, N failed, N skipped`. A test gets
 * sixty seconds; CK_FORK=no keeps all of them in one process for a debugger.
 * A test that lacks what it needs calls cj_check_skip() and returns.
 */
#ifndef CJ_CHECK_MAIN_H
#define CJ_CHECK_MAIN_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

/* A test that leaves by its recovery point reads none of its variables. */
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wclobbered"
#endif

/* The root of the source, given by the Makefile. */
#ifndef CJ_SRCDIR
#define CJ_SRCDIR "."
#endif

/* A byte for each test that was skipped: they run in processes of their own,
 * which share the file and its position. */
static FILE *cj_skip_log;

static inline void
cj_check_skip(void)
{
	ck_assert_ptr_nonnull(cj_skip_log);
	fputc('s', cj_skip_log);
	fflush(cj_skip_log);
}

static inline int
cj_check_run(Suite *(*suite)(void))
{
	SRunner *r;
	int run, failed, skipped = 0;

	cj_skip_log = tmpfile();
	/* Each case reads it when it is made. */
	setenv("CK_DEFAULT_TIMEOUT", "60", 0);
	r = srunner_create(suite());
	srunner_run_all(r, CK_SILENT);
	srunner_print(r, CK_NORMAL);
	run = srunner_ntests_run(r);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	if (cj_skip_log != NULL && fseek(cj_skip_log, 0, SEEK_END) == 0)
		skipped = (int)ftell(cj_skip_log);
	printf("%d passed, %d failed, %d skipped\n", run - failed - skipped,
	    failed, skipped);
	return failed != 0 || run == 0;
}

#define CJ_CHECK_MAIN(suite_function)		\
int						\
main(void)					\
{						\
	return cj_check_run(suite_function);	\
}

/* A recovery point that fails the test, for arenas in tests. */
#define CJ_CHECK_RECOVER(r)						\
	do {								\
		if (CJ_RECOVER(r))					\
			ck_abort_msg("left the compiler: %s", (r)->text); \
	} while (0)

#endif
