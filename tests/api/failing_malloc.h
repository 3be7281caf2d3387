/*
 * The allocator of a program, or of what is preloaded into one, of which some
 * calls give nothing: those for which fails() of whoever includes this is true.
 * For glibc, whose own one stands behind it.
 */
#ifndef FAILING_MALLOC_H
#define FAILING_MALLOC_H

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t bytes);
extern void *__libc_memalign(size_t alignment, size_t bytes);

static bool fails(void);

static bool
denied(void)
{
	if (!fails())
		return false;
	errno = ENOMEM;
	return true;
}

void *
malloc(size_t bytes)
{
	return denied() ? NULL : __libc_malloc(bytes);
}

void *
calloc(size_t count, size_t size)
{
	return denied() ? NULL : __libc_calloc(count, size);
}

void *
realloc(void *memory, size_t bytes)
{
	return denied() ? NULL : __libc_realloc(memory, bytes);
}

void *
aligned_alloc(size_t alignment, size_t bytes)
{
	return denied() ? NULL : __libc_memalign(alignment, bytes);
}

#endif
