/*
 * Where names are: definition, references, highlights, renaming.
 *
 * Two uses belong together if they mean the same symbol, or kernels of one
 * family. What is searched are the texts that are open or imported by them.
 */
#include <string.h>

#include "lsp.h"

/* ---- definition ---------------------------------------------------------- */

static json_t *
location(const struct document *d, struct cj_span span)
{
	return json_pack("{s:s, s:o}", "uri", d->uri, "range",
	    lines_range(&d->lines, span.begin, span.end));
}

/* Every member of a family is a definition of its name. */
static void
add_family(struct server *s, json_t *list, const struct meaning *m)
{
	const struct view *v = view_of(s, m->document);
	uint32_t i;

	for (i = 0; i < v->symbols.len; i++)
		if (v->symbols.at[i].kind == SYMBOL_KERNEL &&
		    v->symbols.at[i].name == m->symbol->name)
			json_array_append_new(list, location(m->document,
			    v->symbols.at[i].span));
}

json_t *
answer_definition(struct server *s, const json_t *params)
{
	struct document *d = document_param(s, params);
	static const struct cj_span top = { 0, 0, 0 };
	const struct use *u;
	struct meaning m;
	json_t *list;
	size_t offset;

	if (d == NULL || !offset_param(s, params, d, &offset))
		return NULL;
	u = view_use_at(view_of(s, d), offset);
	if (u == NULL)
		return json_null();
	m = meaning_of(s, d, u);
	list = json_array();
	if (m.target != NULL && !is_of_library(m.target) &&
	    (u->kind == USE_IMPORT || u->kind == USE_DECLARED))
		json_array_append_new(list, location(m.target, top));
	else if (m.symbol != NULL && !is_of_library(m.document) &&
	    m.symbol->kind == SYMBOL_KERNEL)
		add_family(s, list, &m);
	else if (m.symbol != NULL && !is_of_library(m.document))
		json_array_append_new(list, location(m.document,
		    m.symbol->span));
	return list;
}

/* ---- all uses ------------------------------------------------------------ */

static bool
is_same(const struct meaning *a, const struct meaning *b)
{
	if (a->symbol == NULL || a->document != b->document ||
	    b->symbol == NULL)
		return false;
	return a->symbol == b->symbol || (a->symbol->kind == SYMBOL_KERNEL &&
	    b->symbol->kind == SYMBOL_KERNEL &&
	    a->symbol->name == b->symbol->name);
}

typedef void use_fn(json_t *to, const struct document *d,
    const struct use *u);

/* Call `each` for all uses in a text that mean the same. */
static void
each_use(struct server *s, struct document *d, const struct meaning *of,
    use_fn *each, json_t *to)
{
	const struct view *v = view_of(s, d);
	const char *name = view_text(view_of(s, of->document),
	    of->symbol->name);
	uint32_t i;

	for (i = 0; i < v->uses.len; i++) {
		const struct use *u = &v->uses.at[i];
		struct meaning m;

		if (u->name == 0 || strcmp(view_text(v, u->name), name) != 0)
			continue;
		m = meaning_of(s, d, u);
		if (is_same(of, &m))
			each(to, d, u);
	}
}

/* In all texts; those loaded on the way have no uses of their own to add. */
static void
each_use_of_all(struct server *s, const struct meaning *of, use_fn *each,
    json_t *to)
{
	struct document *d;

	if (!of->symbol->is_file) {
		each_use(s, of->document, of, each, to);
		return;
	}
	for (d = s->documents; d != NULL; d = d->next)
		if (!d->is_stale && !is_of_library(d))
			each_use(s, d, of, each, to);
}

/* The symbol of a text at the position of params; symbol NULL: none. */
static struct meaning
symbol_param(struct server *s, const json_t *params, const struct use **use,
    struct document **document)
{
	struct document *d = document_param(s, params);
	struct meaning m = { .symbol = NULL };
	size_t offset;

	*use = NULL;
	*document = d;
	if (d == NULL || !offset_param(s, params, d, &offset))
		return m;
	*use = view_use_at(view_of(s, d), offset);
	if (*use != NULL)
		m = meaning_of(s, d, *use);
	return m;
}

static void
add_location(json_t *to, const struct document *d, const struct use *u)
{
	json_array_append_new(to, location(d, u->span));
}

static void
add_reference(json_t *to, const struct document *d, const struct use *u)
{
	if (u->kind != USE_DECLARED)
		add_location(to, d, u);
}

json_t *
answer_references(struct server *s, const json_t *params)
{
	const json_t *context = json_object_get(params, "context");
	const struct use *u;
	struct document *d;
	struct meaning m = symbol_param(s, params, &u, &d);
	json_t *list;

	if (s->error != 0)
		return NULL;
	list = json_array();
	if (m.symbol != NULL)
		each_use_of_all(s, &m, json_is_true(json_object_get(context,
		    "includeDeclaration")) ? add_location : add_reference,
		    list);
	return list;
}

static void
add_highlight(json_t *to, const struct document *d, const struct use *u)
{
	json_array_append_new(to, json_pack("{s:o, s:i}", "range",
	    lines_range(&d->lines, u->span.begin, u->span.end), "kind",
	    u->kind == USE_DECLARED ? 3 : 2));
}

json_t *
answer_highlight(struct server *s, const json_t *params)
{
	const struct use *u;
	struct document *d;
	struct meaning m = symbol_param(s, params, &u, &d);
	json_t *list;

	if (s->error != 0)
		return NULL;
	list = json_array();
	if (m.symbol != NULL)
		each_use(s, d, &m, add_highlight, list);
	return list;
}

/* ---- renaming ------------------------------------------------------------ */

static bool
is_name(const char *text)
{
	size_t i, n = strlen(text);
	struct cj_word_table words;

	for (i = 0; i < n; i++) {
		char c = text[i];

		if (c != '_' && ((c | 32) < 'a' || (c | 32) > 'z') &&
		    (i == 0 || c < '0' || c > '9'))
			return false;
	}
	cj_word_table_init(&words);
	return n != 0 && !cj_token_is_reserved(cj_token_of_word(&words, text,
	    n));
}

static bool
is_renamable(const struct meaning *m)
{
	return m->symbol != NULL && !is_of_library(m->document);
}

json_t *
answer_prepare_rename(struct server *s, const json_t *params)
{
	const struct use *u;
	struct document *d;
	struct meaning m = symbol_param(s, params, &u, &d);

	if (s->error != 0)
		return NULL;
	if (!is_renamable(&m))
		return json_null();
	return lines_range(&d->lines, u->span.begin, u->span.end);
}

/* {"text": new name, uri: [edit]} */
static void
add_edit(json_t *to, const struct document *d, const struct use *u)
{
	json_t *list = json_object_get(to, d->uri);

	if (list == NULL) {
		list = json_array();
		json_object_set_new(to, d->uri, list);
	}
	json_array_append_new(list, json_pack("{s:o, s:O}", "range",
	    lines_range(&d->lines, u->span.begin, u->span.end), "newText",
	    json_object_get(to, "text")));
}

json_t *
answer_rename(struct server *s, const json_t *params)
{
	const char *name = json_string_value(json_object_get(params,
	    "newName"));
	const struct use *u;
	struct document *d;
	struct meaning m = symbol_param(s, params, &u, &d);
	json_t *changes;

	if (s->error != 0)
		return NULL;
	if (name == NULL || !is_name(name))
		return refuse(s, LSP_INVALID_PARAMS, "this is no name");
	if (!is_renamable(&m))
		return refuse(s, LSP_REQUEST_FAILED,
		    "what stands here cannot be renamed");
	changes = json_pack("{s:s}", "text", name);
	each_use_of_all(s, &m, add_edit, changes);
	json_object_del(changes, "text");
	return json_pack("{s:o}", "changes", changes);
}
