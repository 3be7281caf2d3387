/*
 * The view of a text: its tree, tokens, names and uses.
 *
 * Names are looked up when somebody asks. Two declarations of a name may reach
 * the same place; the one that begins later is the inner.
 */
#include <stdlib.h>
#include <string.h>

#include "lsp.h"

/* ---- making -------------------------------------------------------------- */

static void
scan(struct view *v)
{
	struct cj_diags none;
	struct cj_lexer *lx;
	struct cj_token *t;

	cj_diags_init(&none, &v->arena, &v->sources);
	lx = cj_lexer_create(&v->arena, &v->names, &v->sources, v->source,
	    &none);
	do {
		t = cj_push(&v->arena, &v->tokens);
		*t = cj_lexer_next(lx);
	} while (t->kind != CJ_TOKEN_END);
}

/* Until the tree is there, a view is only memory: view_drop takes it. */
struct view *
view_of(struct server *s, struct document *d)
{
	struct view *v = d->view;

	if (v != NULL && v->tree != NULL)
		return v;
	view_drop(v);
	d->view = v = calloc(1, sizeof *v);
	if (v == NULL)
		cj_leave(&s->recover, CJ_WHY_MEMORY, "no room for a text");
	v->document = d;
	cj_arena_init(&v->arena, &s->recover, NULL);
	cj_names_init(&v->names, &v->arena);
	cj_sources_init(&v->sources, &v->arena);
	cj_diags_init(&v->diags, &v->arena, &v->sources);
	v->source = cj_source_add(&v->sources, document_name(d), d->text,
	    d->length <= CJ_SOURCE_MAX ? d->length : 0);
	v->tree = cj_parse(&v->arena, &v->names, &v->sources, v->source,
	    &v->diags);
	scan(v);
	view_collect(v);
	return v;
}

void
view_drop(struct view *v)
{
	if (v == NULL)
		return;
	if (v->names.arena != NULL)
		cj_names_fini(&v->names);
	cj_arena_fini(&v->arena);
	free(v);
}

/* ---- asking -------------------------------------------------------------- */

const char *
view_text(const struct view *v, cj_name name)
{
	return cj_name_text((struct cj_names *)(uintptr_t)&v->names, name);
}

const struct use *
view_use_at(const struct view *v, size_t offset)
{
	uint32_t low = 0, high = v->uses.len;

	/* the last one that begins at or before the offset */
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (v->uses.at[middle].span.begin <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return NULL;
	low--;
	return offset <= v->uses.at[low].span.end ? &v->uses.at[low] : NULL;
}

const struct symbol *
view_lookup(const struct view *v, cj_name name, bool is_kernel,
    size_t offset)
{
	const struct symbol *best = NULL;
	uint32_t i;

	for (i = 0; i < v->symbols.len; i++) {
		const struct symbol *s = &v->symbols.at[i];

		if (s->name != name ||
		    (s->kind == SYMBOL_KERNEL) != is_kernel ||
		    offset < s->begin || offset >= s->end)
			continue;
		if (best == NULL || s->begin > best->begin ||
		    (best->is_file && !s->is_file))
			best = s;
	}
	return best;
}

const struct symbol *
view_export(const struct view *v, const char *name, bool is_kernel)
{
	uint32_t i;

	for (i = 0; i < v->symbols.len; i++) {
		const struct symbol *s = &v->symbols.at[i];

		if (s->is_file && s->kind != SYMBOL_IMPORT &&
		    (s->kind == SYMBOL_KERNEL) == is_kernel &&
		    strcmp(view_text(v, s->name), name) == 0)
			return s;
	}
	return NULL;
}

uint32_t
view_token_at(const struct view *v, size_t offset)
{
	uint32_t low = 0, high = v->tokens.len - 1;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (v->tokens.at[middle].span.end <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
