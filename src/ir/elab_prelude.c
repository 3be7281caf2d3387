/*
 * The prelude: functions that are in scope everywhere. Their names and places
 * are found once, for all units of a context; elab_std.c reads them.
 */
#include "elab_priv.h"
#include "std/std.h"

static const char name_of_text[] = "cute/prelude.cute";

struct cj_prelude {
	struct cj_names names;
	struct cj_sources sources;
	uint32_t source;
	CJ_VEC(struct cj_decl) decls;	/* none is read */
	struct cj_name_map by_name;
	struct cj_words words;		/* that need no declaration */
};

/* ---- the index ----------------------------------------------------------- */

static void
list_functions(struct cj_prelude *p, struct cj_arena *a)
{
	struct cj_std_part part = { .text = { p->source, 0, 0 } };

	while (cj_std_next(&p->sources, &part)) {
		struct cj_decl *d = cj_push(a, &p->decls);

		assert(part.name != NULL && "all of it can wait");
		*d = (struct cj_decl){
			.name = cj_intern(&p->names, part.name, part.length),
			.text = part.text,
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
