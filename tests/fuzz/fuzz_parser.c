/*
 * Fuzz the front: any bytes are scanned, parsed, resolved and printed, with
 * their messages, within 64 MiB and without a fault.
 */
#include "parser/parser.h"

enum { MEMORY = 64 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
run(struct cj_arena *a, struct cj_names *names, const char *text, size_t size)
{
	struct cj_words none = { NULL, 0 };
	struct cj_sources sources;
	struct cj_diags diags;
	struct cj_strbuf out;
	struct cj_tree *tree;
	uint32_t source;

	cj_sources_init(&sources, a);
	cj_diags_init(&diags, a, &sources);
	cj_strbuf_init(&out, a);
	source = cj_source_add(&sources, "fuzz.cute", text, size);
	tree = cj_parse(a, names, &sources, source, &diags);
	if (!tree->is_broken)
		cj_resolve(tree, names, &diags, &none);
	cj_tree_print(&out, names, tree);
	cj_diags_print(&out, &diags, true);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cj_recover r = { 0 };
	struct cj_names names;
	struct cj_arena a;

	cj_arena_init(&a, &r, NULL);
	a.limit = MEMORY;
	if (CJ_RECOVER(&r)) {
		if (r.why != CJ_WHY_MEMORY)
			__builtin_trap();
	} else {
		cj_names_init(&names, &a);
		run(&a, &names, (const char *)data, size);
	}
	cj_arena_fini(&a);
	return 0;
}
