/*
 * Fuzz the front: any bytes are scanned, parsed, resolved and printed, with
 * their messages, within 64 MiB and without a fault. What parses is formatted;
 * the result has the same tree, and formatting it again changes nothing.
 */
#include "parser/parser.h"

enum { MEMORY = 64 << 20 };

struct front {
	struct cj_arena *arena;
	struct cj_names *names;
	struct cj_sources sources;
	struct cj_diags diags;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct cj_tree *
parse(struct front *f, const char *text, size_t size)
{
	return cj_parse(f->arena, f->names, &f->sources,
	    cj_source_add(&f->sources, "fuzz.cute", text, size), &f->diags);
}

static struct cj_strbuf
tree_text(struct front *f, const struct cj_tree *tree)
{
	struct cj_strbuf out;

	cj_strbuf_init(&out, f->arena);
	cj_tree_print(&out, f->names, tree);
	return out;
}

static struct cj_strbuf
format(struct front *f, const struct cj_tree *tree)
{
	struct cj_strbuf out;

	cj_strbuf_init(&out, f->arena);
	cj_format(&out, f->names, &f->sources, tree);
	return out;
}

static void
must_be_equal(const struct cj_strbuf *a, const struct cj_strbuf *b)
{
	if (a->len != b->len || memcmp(a->text, b->text, a->len) != 0)
		__builtin_trap();
}

static void
check_format(struct front *f, const struct cj_tree *tree)
{
	struct cj_strbuf once = format(f, tree), twice, before, after;
	struct cj_tree *again = parse(f, once.text, once.len);

	if (again->is_broken)
		__builtin_trap();
	before = tree_text(f, tree);
	after = tree_text(f, again);
	must_be_equal(&before, &after);
	twice = format(f, again);
	must_be_equal(&once, &twice);
}

static void
run(struct cj_arena *a, struct cj_names *names, const char *text, size_t size)
{
	static const char *const some[] = { "f32", "tensor", "sync", "size" };
	struct cj_words words = { .at = some,
	    .count = CJ_LENGTH(some) };
	struct front f = { .arena = a, .names = names };
	struct cj_strbuf out;
	struct cj_tree *tree;

	cj_sources_init(&f.sources, a);
	cj_diags_init(&f.diags, a, &f.sources);
	tree = parse(&f, text, size);
	if (!tree->is_broken) {
		check_format(&f, tree);
		cj_resolve(tree, names, &f.diags, &words);
	}
	out = tree_text(&f, tree);
	cj_diags_print(&out, &f.diags, true);
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
