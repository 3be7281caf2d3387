/*
 * Texts of the standard library: declarations that are read at first use.
 *
 * A program uses few of the functions that are in scope or that it imports, so
 * that only their names and places are known at first. They are found without
 * the grammar: in these texts a declaration begins in the first column with a
 * word of the list below, and nothing else does. A unit parses a function or a
 * constant when it is looked up first, in its own names and on its own memory,
 * and keeps it.
 *
 * That the texts are right, whole and resolved, is for our tests to say.
 */
#include "elab_priv.h"
#include "std/std.h"

/* How declarations begin; those with a name behind can wait. */
static const struct {
	const char *text;
	bool can_wait;
} heads[] = {
	{ "fn ", true }, { "const ", true },
	{ "import ", false }, { "kernel ", false }
};

enum { HEADS = sizeof heads / sizeof heads[0] };

const struct cj_std_file *
cj_std_find(const char *name)
{
	unsigned i;

	for (i = 0; i < cj_std_count; i++)
		if (strcmp(cj_std_files[i].name, name) == 0)
			return &cj_std_files[i];
	return NULL;
}

/* Which head stands at the start of a line; HEADS: none. */
static unsigned
head_at(const char *line)
{
	unsigned i = 0;

	if (*line < 'a' || *line > 'z')
		return HEADS;
	while (i < HEADS && strncmp(line, heads[i].text,
	    strlen(heads[i].text)) != 0)
		i++;
	return i;
}

/* Offset of the line that begins behind `at`, or the text's end. */
static uint32_t
next_line(const struct cj_source *s, uint32_t at)
{
	const char *end = memchr(s->text + at, '\n', s->length - at);

	return end == NULL ? s->length : (uint32_t)(end - s->text) + 1;
}

/* Offset of the declaration that begins at the line `at` or behind it. */
static uint32_t
next_head(const struct cj_source *s, uint32_t at)
{
	while (at < s->length && head_at(s->text + at) == HEADS)
		at = next_line(s, at);
	return at;
}

bool
cj_std_next(const struct cj_sources *sources, struct cj_std_part *part)
{
	const struct cj_source *s = cj_source_get(sources, part->text.source);
	uint32_t at = next_head(s, part->text.end);
	unsigned head;

	if (at == s->length)
		return false;
	head = head_at(s->text + at);
	part->text.begin = at;
	part->text.end = next_head(s, next_line(s, at));
	part->name = NULL;
	if (heads[head].can_wait) {
		part->name = s->text + at + strlen(heads[head].text);
		part->length = (uint32_t)strcspn(part->name, "(: \n");
	}
	return true;
}

/* The text is ours: a message about it is a fault of ours. */
struct cj_node *
cj_std_read(const struct cj_unit *u, struct cj_span text)
{
	struct cj_diags ds;
	struct cj_tree *t;

	cj_diags_init(&ds, u->arena, u->sources);
	t = cj_parse_part(u->arena, u->names, u->sources, text, &ds);
	if (ds.errors != 0 || t->decls.count != 1)
		cj_bug(u->arena->recover, "the library is wrong: %s",
		    ds.first == NULL ? "" : ds.first->text);
	return t->decls.at[0];
}

const struct cj_node *
cj_unit_read(const struct cj_file *f, struct cj_decl *d)
{
	if (d->node == NULL)
		d->node = cj_std_read(f->unit, d->text);
	return d->node;
}
