/*
 * An arena for each test, with a recovery point.
 */
#ifndef ARENA_FIXTURE_H
#define ARENA_FIXTURE_H

#include "check_main.h"

#include "base/base.h"

static struct cj_recover point;
static struct cj_arena arena;

static inline void
set_up(void)
{
	cj_arena_init(&arena, &point, NULL);
}

static inline void
tear_down(void)
{
	cj_arena_fini(&arena);
}

#endif
