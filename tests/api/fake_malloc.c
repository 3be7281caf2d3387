/*
 * A malloc for LD_PRELOAD that gives nothing once: at call number FAILING, from
 * 0.
 */
#include "failing_malloc.h"

static long left;			/* 0: FAILING is not looked at yet */

static bool
fails(void)
{
	const char *failing;

	if (left == 0) {
		failing = getenv("FAILING");
		left = failing != NULL ? atol(failing) + 1 : -1;
	}
	if (left < 0 || --left != 0)
		return false;
	left = -1;
	return true;
}
