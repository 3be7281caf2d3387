/*
 * Fuzz the text form of the IR: any bytes are read, or refused with a message.
 * What is read prints, and what was printed reads back and prints the same.
 * What the verifier finds right stays so through all passes.
 */
#include "ir/ir.h"

enum { MEMORY = 256 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct cj_module *
must_read(struct cj_arena *a, const char *text, size_t length)
{
	struct cj_strbuf error;
	struct cj_module *m;

	cj_strbuf_init(&error, a);
	m = cj_module_read(a, text, length, &error);
	if (m == NULL)
		__builtin_trap();
	return m;
}

static void
check(struct cj_arena *a, struct cj_recover *r, struct cj_module *m)
{
	struct cj_strbuf once, twice;

	cj_strbuf_init(&once, a);
	cj_module_print(&once, m);
	cj_strbuf_init(&twice, a);
	cj_module_print(&twice, must_read(a, once.text, once.len));
	if (once.len != twice.len ||
	    memcmp(once.text, twice.text, once.len) != 0)
		__builtin_trap();
	if (cj_module_verify(m) == NULL)
		cj_passes_run(m, r, NULL, NULL);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cj_recover r = { 0 };
	struct cj_arena arena;
	struct cj_strbuf error;
	struct cj_module *m;

	cj_arena_init(&arena, &r, NULL);
	arena.limit = MEMORY;
	if (CJ_RECOVER(&r)) {
		if (r.why == CJ_WHY_BUG)
			__builtin_trap();
		cj_arena_fini(&arena);
		return 0;
	}
	cj_strbuf_init(&error, &arena);
	m = cj_module_read(&arena, (const char *)data, size, &error);
	if (m != NULL)
		check(&arena, &r, m);
	else if (error.len == 0)
		__builtin_trap();
	cj_arena_fini(&arena);
	return 0;
}
