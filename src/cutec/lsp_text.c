/*
 * What the server says about a text as a whole: its outline, what can be
 * folded, and the text laid out anew.
 */
#include <string.h>

#include "lsp.h"

/* Kinds of symbols in the protocol. */
enum { KIND_MODULE = 2, KIND_METHOD = 6, KIND_FIELD = 8, KIND_FUNCTION = 12,
	KIND_VARIABLE = 13, KIND_CONSTANT = 14, KIND_ARRAY = 18,
	KIND_OBJECT = 19, KIND_EVENT = 24 };

/* ---- outline ------------------------------------------------------------- */

struct outline {
	const struct view *v;
	json_t *list;
};

static void list_node(void *context, struct cj_node *n);

/* What is declared below a node. */
static json_t *
below(const struct outline *o, const struct cj_node *n)
{
	struct outline inner = { o->v, json_array() };

	if (n != NULL)
		cj_node_visit(n, list_node, &inner);
	return inner.list;
}

static void
add_entry(struct outline *o, const struct cj_node *n, const char *name,
    struct cj_span at, int kind, json_t *children)
{
	const struct lines *l = &o->v->document->lines;
	json_t *e = json_pack("{s:o, s:i, s:o, s:o}", "name",
	    string_of(*name != '\0' ? name : "?", *name != '\0' ?
	    strlen(name) : 1), "kind", kind, "range", lines_range(l,
	    n->span.begin, n->span.end), "selectionRange", lines_range(l,
	    at.begin, at.end));

	if (json_array_size(children) != 0)
		json_object_set(e, "children", children);
	json_decref(children);
	json_array_append_new(o->list, e);
}

static void
add_ident(struct outline *o, const struct cj_node *n, struct cj_ident id,
    int kind, json_t *children)
{
	if (id.name != 0)
		add_entry(o, n, view_text(o->v, id.name), id.span, kind,
		    children);
	else
		json_decref(children);
}

static void
add_test(struct outline *o, const struct cj_node *n)
{
	struct cj_strbuf b;

	cj_strbuf_init(&b, o->v->tree->arena);
	cj_strbuf_puts(&b, n->kind == CJ_NODE_TEST ? "test " : "bench ");
	cj_strbuf_puts(&b, n->test.title.bytes);
	add_entry(o, n, b.text, n->test.title_span, KIND_EVENT,
	    below(o, n->test.body));
}

static void
add_binding(struct outline *o, const struct cj_node *n,
    const struct cj_node *binding)
{
	uint32_t i;

	if (binding->kind == CJ_NODE_NAME)
		add_ident(o, n, (struct cj_ident){ binding->name.name,
		    binding->span }, KIND_CONSTANT, json_array());
	else if (binding->kind == CJ_NODE_TUPLE)
		for (i = 0; i < binding->tuple.items.count; i++)
			add_binding(o, n, binding->tuple.items.at[i]);
}

static void
list_node(void *context, struct cj_node *n)
{
	struct outline *o = context;

	switch ((int)n->kind) {
	case CJ_NODE_KERNEL:
		add_ident(o, n, n->kernel.name, KIND_METHOD,
		    below(o, n->kernel.body));
		return;
	case CJ_NODE_FN:
		add_ident(o, n, n->fn.name, KIND_FUNCTION,
		    below(o, n->fn.body));
		return;
	case CJ_NODE_TEST:
	case CJ_NODE_BENCH:
		add_test(o, n);
		return;
	case CJ_NODE_CONST:
		add_binding(o, n, n->let.binding);
		return;
	case CJ_NODE_IMPORT:
		add_ident(o, n, n->import.alias, KIND_MODULE, json_array());
		return;
	case CJ_NODE_SHARED:
	case CJ_NODE_TMEM:
		add_ident(o, n, n->field.name, KIND_ARRAY, json_array());
		return;
	case CJ_NODE_PIPELINE:
		add_ident(o, n, n->pipeline.name, KIND_OBJECT, below(o, n));
		return;
	case CJ_NODE_FIELD:
		add_ident(o, n, n->field.name, KIND_FIELD, json_array());
		return;
	case CJ_NODE_ROLE:
		add_ident(o, n, n->role.name, KIND_FUNCTION,
		    below(o, n->role.body));
		return;
	case CJ_NODE_BLOCK: case CJ_NODE_IF: case CJ_NODE_ARM:
	case CJ_NODE_FOR: case CJ_NODE_WHILE: case CJ_NODE_LAUNCH:
	case CJ_NODE_PRODUCE: case CJ_NODE_CONSUME: case CJ_NODE_TURN:
		cj_node_visit(n, list_node, o);
		return;
	default:
		return;		/* expressions declare nothing to list */
	}
}

json_t *
answer_symbols(struct server *s, const json_t *params)
{
	struct document *d = document_param(s, params);
	struct outline o;
	uint32_t i;

	if (d == NULL)
		return NULL;
	o.v = view_of(s, d);
	o.list = json_array();
	for (i = 0; i < o.v->tree->decls.count; i++)
		list_node(&o, o.v->tree->decls.at[i]);
	return o.list;
}

/* ---- folding ------------------------------------------------------------- */

static void
add_fold(const struct document *d, json_t *list, uint32_t begin, uint32_t end)
{
	json_t *range = lines_range(&d->lines, begin, end);
	json_t *from = json_object_get(json_object_get(range, "start"),
	    "line");
	json_t *to = json_object_get(json_object_get(range, "end"), "line");

	if (json_integer_value(from) < json_integer_value(to))
		json_array_append_new(list, json_pack("{s:O, s:O}",
		    "startLine", from, "endLine", to));
	json_decref(range);
}

json_t *
answer_folding(struct server *s, const json_t *params)
{
	struct document *d = document_param(s, params);
	const struct view *v;
	CJ_VEC(uint32_t) open = { 0 };
	json_t *list;
	uint32_t i;

	if (d == NULL)
		return NULL;
	v = view_of(s, d);
	list = json_array();
	for (i = 0; i < v->tokens.len; i++) {
		const struct cj_token *t = &v->tokens.at[i];

		if (t->kind == CJ_TOKEN_LBRACE)
			*cj_push(&s->scratch, &open) = t->span.begin;
		else if (t->kind == CJ_TOKEN_RBRACE && open.len != 0)
			add_fold(d, list, open.at[--open.len],
			    t->span.begin);
	}
	return list;
}

/* ---- formatting ---------------------------------------------------------- */

/* The part that differs, in whole characters, as one edit. */
static json_t *
edit_of(const struct document *d, const char *text, size_t length)
{
	size_t begin = 0, end = d->length, end_new = length;

	while (begin < end && begin < end_new && d->text[begin] == text[begin])
		begin++;
	while (begin > 0 && ((unsigned char)d->text[begin] & 0xc0) == 0x80)
		begin--;
	/* a position cannot stand between \r and \n */
	if (begin > 0 && d->text[begin - 1] == '\r')
		begin--;
	while (end > begin && end_new > begin &&
	    d->text[end - 1] == text[end_new - 1]) {
		end--;
		end_new--;
	}
	while (end < d->length && (((unsigned char)d->text[end] & 0xc0) ==
	    0x80 || d->text[end] == '\n')) {
		end++;
		end_new++;
	}
	if (begin == end && begin == end_new)
		return json_array();
	return json_pack("[{s:o, s:o}]", "range", lines_range(&d->lines,
	    begin, end), "newText", string_of(text + begin, end_new - begin));
}

json_t *
answer_format(struct server *s, const json_t *params)
{
	struct document *d = document_param(s, params);
	struct cj_strbuf b;
	struct view *v;

	if (d == NULL)
		return NULL;
	v = view_of(s, d);
	if (v->tree->is_broken)
		return refuse(s, LSP_REQUEST_FAILED, "a text with a syntax "
		    "error cannot be laid out");
	cj_strbuf_init(&b, &s->scratch);
	cj_format(&b, &v->names, &v->sources, v->tree);
	return edit_of(d, b.text, b.len);
}
