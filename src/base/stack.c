/*
 * The stack of the calling thread (stack.h). It grows downwards where we run.
 */
#include "stack.h"

#include <pthread.h>
#include <stddef.h>

enum { ROOM = 128 << 10 };

uintptr_t
cj_stack_floor(void)
{
	pthread_attr_t attr;
	size_t size = 0;
	void *lowest = NULL;

	if (pthread_getattr_np(pthread_self(), &attr) != 0)
		return 1;
	if (pthread_attr_getstack(&attr, &lowest, &size) != 0)
		lowest = NULL;
	pthread_attr_destroy(&attr);
	if (lowest == NULL)
		return 1;
	return (uintptr_t)lowest + (size / 4 < ROOM ? size / 4 : ROOM);
}

bool
cj_stack_is_below(uintptr_t floor)
{
	return (uintptr_t)__builtin_frame_address(0) < floor;
}
