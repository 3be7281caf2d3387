/*
 * The prelude: functions that are in scope everywhere.
 *
 * A program uses few of them, so that only their names and places are known at
 * first. They are found without the grammar: in this text each function begins
 * with "fn NAME(" in the first column, and nothing else stands at file level. A
 * unit parses and resolves a function when it is looked up first, in its own
 * names and on its own memory, and keeps it.
 */
#include "elab_priv.h"
#include "std/std.h"

static const char name_of_text[] = "cute/prelude.cute";
static const char head[] = "fn ";

struct cj_prelude {
	struct cj_names names;
	struct cj_sources sources;
	uint32_t source;
	CJ_VEC(struct cj_decl) decls;	/* none is read */
	struct cj_name_map by_name;
	struct cj_words words;		/* that need no declaration */
};

/* ---- the index ----------------------------------------------------------- */

static bool
begins_function(const char *text, uint32_t at)
{
	return (at == 0 || text[at - 1] == '\n') &&
	    strncmp(text + at, head, strlen(head)) == 0;
}

/* Offset of the function that begins at or behind `at`, or the text's end. */
static uint32_t
next_function(const struct cj_source *s, uint32_t at)
{
	const char *line;

	while (at < s->length && !begins_function(s->text, at)) {
		line = memchr(s->text + at, '\n', s->length - at);
		at = line == NULL ? s->length :
		    (uint32_t)(line - s->text) + 1;
	}
	return at;
}

static void
list_functions(struct cj_prelude *p, struct cj_arena *a)
{
	const struct cj_source *s = cj_source_get(&p->sources, p->source);
	uint32_t at = next_function(s, 0), end;

	for (; at < s->length; at = end) {
		const char *name = s->text + at + strlen(head);
		struct cj_decl *d = cj_push(a, &p->decls);

		end = next_function(s, at + 1);
		*d = (struct cj_decl){
			.name = cj_intern(&p->names, name,
			    strcspn(name, "(\n")),
			.text = { p->source, at, end },
			.index = p->decls.len
		};
		cj_name_map_set(a, &p->by_name, d->name, p->decls.len);
	}
}

/* ---- the words that need no declaration ---------------------------------- */

static void
collect_words(struct cj_prelude *p, struct cj_arena *a)
{
	CJ_VEC(const char *) v = { 0 };
	uint32_t i;

	for (i = 0; i < cj_builtin_count; i++)
		*cj_push(a, &v) = cj_builtins[i].name;
	for (i = CJ_KIND_VOID + 1; i < CJ_KIND_COUNT; i++)
		*cj_push(a, &v) = cj_kind_text((enum cj_kind)i);
	*cj_push(a, &v) = "type";
	*cj_push(a, &v) = "cute";
	for (i = 0; i < p->decls.len; i++)
		*cj_push(a, &v) = cj_name_text(&p->names,
		    p->decls.at[i].name);
	p->words.at = v.at;
	p->words.count = v.len;
}

const struct cj_prelude *
cj_prelude_load(struct cj_arena *a)
{
	const struct cj_std_file *std = cj_std_find("prelude.cute");
	struct cj_prelude *p = CJ_NEW(a, struct cj_prelude);

	assert(std != NULL && "the library has its prelude");
	cj_names_init(&p->names, a);
	cj_sources_init(&p->sources, a);
	p->source = cj_source_add(&p->sources, name_of_text, std->text,
	    std->length);
	list_functions(p, a);
	collect_words(p, a);
	cj_names_fini(&p->names);	/* nothing is added any more */
	return p;
}

/* ---- in a unit ----------------------------------------------------------- */

void
cj_unit_begin(struct cj_unit_text *t, struct cj_arena *a)
{
	cj_names_copy(t->names, a, &t->prelude->names);
	cj_sources_copy(t->sources, a, &t->prelude->sources);
}

void
cj_prelude_share(struct cj_unit *u, const struct cj_prelude *p)
{
	struct cj_file *f = cj_unit_add_file(u, name_of_text, p->source);

	f->tree = CJ_NEW(u->arena, struct cj_tree);
	f->tree->arena = u->arena;
	f->tree->source = p->source;
	f->decls.at = cj_memdup(u->arena, p->decls.at,
	    p->decls.len * sizeof *p->decls.at);
	f->decls.len = f->decls.cap = p->decls.len;
	f->by_name = p->by_name;	/* nobody adds to it */
	f->is_prelude = true;
	u->prelude = f;
	u->decl_count = p->decls.len;
	u->words = &p->words;
}

/* The text is ours: a message about it is a fault of ours. */
static const struct cj_node *
read_function(const struct cj_unit *u, const struct cj_decl *d)
{
	struct cj_diags ds;
	struct cj_tree *t;

	cj_diags_init(&ds, u->arena, u->sources);
	t = cj_parse_part(u->arena, u->names, u->sources, d->text, &ds);
	if (!t->is_broken)
		cj_resolve(t, u->names, &ds, u->words);
	if (ds.errors != 0 || t->decls.count != 1)
		cj_bug(u->arena->recover, "the prelude is wrong: %s",
		    ds.first == NULL ? "" : ds.first->text);
	return t->decls.at[0];
}

const struct cj_node *
cj_unit_read(const struct cj_file *f, struct cj_decl *d)
{
	if (d->node == NULL)
		d->node = read_function(f->unit, d);
	return d->node;
}
