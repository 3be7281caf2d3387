/*
 * For tests of lexer/ and parser/: one text with all that belongs to it, and
 * comparison with golden files (UPDATE=1 rewrites them).
 */
#ifndef SYNTAX_FIXTURE_H
#define SYNTAX_FIXTURE_H

#include <dirent.h>

#include "check_main.h"
#include "parser/parser.h"

struct fixture {
	struct cj_recover point;
	struct cj_arena arena;
	struct cj_names names;
	struct cj_sources sources;
	struct cj_diags diags;
	uint32_t source;
};

static struct fixture fix;

static const char *const builtin_words[] = {
#define BUILTIN(name, least, most, named, flags) #name,
#define EACH(name, operands, op) #name,
#define VALUE(name) #name,
#include "ir/builtins.def"
#undef BUILTIN
#undef EACH
#undef VALUE
	"f32", "f16", "bf16", "int", "type", "ptr", "cute", "tensor", "none",
	"size", "sync", "fill",
};

static const struct cj_words words = { .at = builtin_words,
    .count = CJ_LENGTH(builtin_words) };

static inline void
set_up(void)
{
	cj_arena_init(&fix.arena, &fix.point, NULL);
	CJ_CHECK_RECOVER(&fix.point);
	cj_names_init(&fix.names, &fix.arena);
	cj_sources_init(&fix.sources, &fix.arena);
	cj_diags_init(&fix.diags, &fix.arena, &fix.sources);
	fix.diags.off[CJ_DIAG_UNUSED] = true;	/* as in the command */
}

static inline void
tear_down(void)
{
	cj_names_fini(&fix.names);
	cj_arena_fini(&fix.arena);
}

static inline void
add_source(const char *name, const char *text, size_t length)
{
	fix.source = cj_source_add(&fix.sources, name, text, length);
	ck_assert_uint_ne(fix.source, 0);
}

static inline struct cj_tree *
parse_source(void)
{
	return cj_parse(&fix.arena, &fix.names, &fix.sources, fix.source,
	    &fix.diags);
}

static inline struct cj_tree *
parse(const char *text)
{
	add_source("t", text, strlen(text));
	return parse_source();
}

static inline const char *
diags_text(void)
{
	struct cj_strbuf out;

	cj_strbuf_init(&out, &fix.arena);
	cj_diags_print(&out, &fix.diags, false);
	return out.text;
}

/* The tree of a text that must be right. */
static inline struct cj_tree *
parse_right(const char *text)
{
	struct cj_tree *tree = parse(text);

	if (tree->is_broken)
		ck_abort_msg("%s", diags_text());
	return tree;
}

static inline const char *
tree_text(const struct cj_tree *tree)
{
	struct cj_strbuf out;

	cj_strbuf_init(&out, &fix.arena);
	cj_tree_print(&out, &fix.names, tree);
	return out.text;
}

/* ---- files --------------------------------------------------------------- */

static inline char *
read_file(const char *path, size_t *length)
{
	FILE *f = fopen(path, "rb");
	char *text;
	long size;

	*length = 0;
	if (f == NULL)
		return NULL;
	fseek(f, 0, SEEK_END);
	size = ftell(f);
	rewind(f);
	text = cj_alloc(&fix.arena, (size_t)size + 1);
	*length = fread(text, 1, (size_t)size, f);
	fclose(f);
	return text;
}

static inline bool
is_update(void)
{
	const char *update = getenv("UPDATE");

	return update != NULL && strcmp(update, "1") == 0;
}

/* Whether the file at `path` holds `found`; says so if it does not. */
static inline bool
is_golden(const char *path, const char *found, size_t length)
{
	size_t n;
	char *wanted = read_file(path, &n);
	FILE *f;

	if (wanted != NULL && n == length && memcmp(wanted, found, n) == 0)
		return true;
	if (is_update()) {
		f = fopen(path, "wb");
		if (f == NULL || fwrite(found, 1, length, f) != length ||
		    fclose(f) != 0)
			ck_abort_msg("cannot write %s", path);
		return true;
	}
	fprintf(stderr, "%s differs; found:\n%s\n", path, found);
	return false;
}

/* Call `check` for every .cute file of a folder: path without its ending. */
static inline void
each_case(const char *folder, bool (*check)(const char *stem))
{
	const char *path = cj_printf(&fix.arena, "%s/tests/golden/%s",
	    CJ_SRCDIR, folder);
	DIR *dir = opendir(path);
	struct dirent *e;
	int count = 0, wrong = 0;

	ck_assert_msg(dir != NULL, "no folder %s", path);
	while ((e = readdir(dir)) != NULL) {
		size_t n = strlen(e->d_name);

		if (n < 6 || strcmp(e->d_name + n - 5, ".cute") != 0)
			continue;
		count++;
		wrong += !check(cj_printf(&fix.arena, "%s/%.*s", path,
		    (int)n - 5, e->d_name));
	}
	closedir(dir);
	ck_assert_int_gt(count, 0);
	ck_assert_int_eq(wrong, 0);
}

/* Fresh diagnostics and the case's text, named as it lies. */
static inline void
open_case(const char *stem)
{
	size_t n;
	char *text = read_file(cj_printf(&fix.arena, "%s.cute", stem), &n);

	ck_assert_msg(text != NULL, "cannot read %s.cute", stem);
	cj_diags_init(&fix.diags, &fix.arena, &fix.sources);
	fix.diags.off[CJ_DIAG_UNUSED] = true;	/* as in the command */
	add_source(cj_printf(&fix.arena, "%s.cute", strrchr(stem, '/') + 1),
	    text, n);
}

static inline Suite *
suite_of(const char *name, const TTest *const *tests, size_t count)
{
	Suite *suite = suite_create(name);
	TCase *tc = tcase_create(name);
	size_t i;

	tcase_add_checked_fixture(tc, set_up, tear_down);
	for (i = 0; i < count; i++)
		tcase_add_test(tc, tests[i]);
	suite_add_tcase(suite, tc);
	return suite;
}

#endif
