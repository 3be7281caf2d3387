/*
 * The stack of the calling thread.
 */
#ifndef CJ_STACK_H
#define CJ_STACK_H

#include <stdbool.h>
#include <stdint.h>

/* Where it should go no deeper: some room is left below for whoever does not
 * look. 1: not known. */
uintptr_t cj_stack_floor(void);

/* Is the caller's frame below that? */
bool cj_stack_is_below(uintptr_t floor);

#endif
