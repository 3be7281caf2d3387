/*
 * What fuzzers have in common.
 */
#include "fuzz.h"

static struct cj_arena prelude_arena;
static const struct cj_prelude *prelude;

const struct cj_prelude *
fuzz_prelude(void)
{
	static struct cj_recover r;

	if (prelude != NULL)
		return prelude;
	if (CJ_RECOVER(&r))
		__builtin_trap();
	cj_arena_init(&prelude_arena, &r, NULL);
	prelude = cj_prelude_load(&prelude_arena);
	return prelude;
}

int
fuzz_run(void (*run)(struct cj_arena *a, struct cj_recover *r,
    const uint8_t *data, size_t size), size_t limit, const uint8_t *data,
    size_t size)
{
	struct cj_recover r = { 0 };
	struct cj_arena a;

	cj_arena_init(&a, &r, NULL);
	a.limit = limit;
	if (!CJ_RECOVER(&r)) {
		run(&a, &r, data, size);
	} else if (r.why == CJ_WHY_BUG) {
		fprintf(stderr, "%s\n", r.text);
		__builtin_trap();
	}
	cj_arena_fini(&a);
	return 0;
}
