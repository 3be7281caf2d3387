/*
 * A malloc for LD_PRELOAD that gives nothing once: at call number FAILING, from
 * 0. For glibc, whose own one stands behind it.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t bytes);

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
	errno = ENOMEM;
	return true;
}

void *
malloc(size_t bytes)
{
	return fails() ? NULL : __libc_malloc(bytes);
}

void *
calloc(size_t count, size_t size)
{
	return fails() ? NULL : __libc_calloc(count, size);
}

void *
realloc(void *memory, size_t bytes)
{
	return fails() ? NULL : __libc_realloc(memory, bytes);
}
