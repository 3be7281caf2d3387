/*
 * What a name means where it stands: a symbol of this text, of one that it
 * imports, or of the prelude; else a word of the language.
 */
#include <string.h>

#include "lsp.h"

/* ---- names --------------------------------------------------------------- */

/* The text behind `import "..." as name`. */
static struct document *
target_of(struct server *s, struct document *d, const struct cj_node *import)
{
	return document_imported(s, d, import->import.path.bytes);
}

static struct meaning
exported(struct server *s, struct document *d, const char *name,
    bool is_kernel)
{
	struct meaning m = { .symbol = NULL };

	if (d != NULL)
		m.symbol = view_export(view_of(s, d), name, is_kernel);
	if (m.symbol != NULL)
		m.document = d;
	return m;
}

struct meaning
meaning_of_foreign(struct server *s, struct document *d, const char *name,
    bool is_kernel)
{
	const struct view *v = view_of(s, d);
	struct meaning m = { .symbol = NULL };
	uint32_t i;

	for (i = 0; m.symbol == NULL && i < v->tree->decls.count; i++) {
		const struct cj_node *n = v->tree->decls.at[i];

		if (n->kind == CJ_NODE_IMPORT && n->import.alias.name == 0)
			m = exported(s, target_of(s, d, n), name, is_kernel);
	}
	if (m.symbol == NULL && !is_kernel)
		m = exported(s, document_of_library(s, "cute/prelude.cute"),
		    name, false);
	if (m.symbol == NULL && !is_kernel)
		m.word = word_find(name, false);
	return m;
}

static struct meaning
name_at(struct server *s, struct document *d, cj_name name, bool is_kernel,
    size_t offset)
{
	const struct view *v = view_of(s, d);
	struct meaning m = { .symbol = NULL };

	m.symbol = view_lookup(v, name, is_kernel, offset);
	if (m.symbol == NULL)
		return meaning_of_foreign(s, d, view_text(v, name),
		    is_kernel);
	m.document = d;
	if (m.symbol->kind == SYMBOL_IMPORT)
		m.target = target_of(s, d, m.symbol->node);
	return m;
}

/* ---- members ------------------------------------------------------------- */

const struct cj_node *
pipeline_of_stage(const struct view *v, const struct symbol *stage)
{
	const struct cj_node *path = stage->node->stage.path;
	const struct symbol *p;

	while (path->kind == CJ_NODE_INDEX || path->kind == CJ_NODE_MEMBER)
		path = path->kind == CJ_NODE_INDEX ? path->index.base :
		    path->member.base;
	if (path->kind != CJ_NODE_NAME)
		return NULL;
	p = view_lookup(v, path->name.name, false, path->span.begin);
	return p != NULL && p->kind == SYMBOL_PIPELINE ? p->node : NULL;
}

static const struct symbol *
field_of(const struct view *v, const struct symbol *stage, cj_name name)
{
	const struct cj_node *p = pipeline_of_stage(v, stage);
	uint32_t i;

	for (i = 0; p != NULL && i < v->symbols.len; i++) {
		const struct symbol *f = &v->symbols.at[i];

		if (f->kind == SYMBOL_FIELD && f->name == name &&
		    f->span.begin >= p->span.begin &&
		    f->span.end <= p->span.end)
			return f;
	}
	return NULL;
}

static struct meaning
member(struct server *s, struct document *d, const struct use *u)
{
	const struct view *v = view_of(s, d);
	const struct cj_node *base = u->node->member.base;
	struct meaning m = { .symbol = NULL }, of;

	if (base->kind != CJ_NODE_NAME)
		return m;
	if (strcmp(view_text(v, base->name.name), "cute") == 0 &&
	    view_lookup(v, base->name.name, false, base->span.begin) == NULL) {
		m.word = word_find(view_text(v, u->name), false);
		return m;
	}
	of = name_at(s, d, base->name.name, false, base->span.begin);
	if (of.symbol == NULL)
		return m;
	if (of.symbol->kind == SYMBOL_STAGE) {
		m.symbol = field_of(v, of.symbol, u->name);
		m.document = d;
	} else if (of.target != NULL) {
		m = exported(s, of.target, view_text(v, u->name), false);
		if (m.symbol == NULL)
			m = exported(s, of.target, view_text(v, u->name),
			    true);
	}
	return m;
}

/* ---- arguments ----------------------------------------------------------- */

const struct cj_list *
params_of(const struct symbol *symbol)
{
	const struct cj_node *n = symbol != NULL ? symbol->node : NULL;

	if (n == NULL)
		return NULL;
	if (symbol->kind == SYMBOL_KERNEL)
		return &n->kernel.params;
	if (symbol->kind == SYMBOL_FN)
		return &n->fn.params;
	if ((n->kind == CJ_NODE_CONST || n->kind == CJ_NODE_LET) &&
	    n->let.init->kind == CJ_NODE_LAMBDA)
		return &n->let.init->lambda.params;
	return NULL;
}

/* What is called or launched by the call above a named argument. */
static struct meaning
callee_of(struct server *s, struct document *d, const struct cj_node *call)
{
	const struct view *v = view_of(s, d);
	const struct cj_node *path = NULL;
	const struct use *u;

	if (call != NULL && call->kind == CJ_NODE_CALL)
		path = call->call.callee;
	else if (call != NULL && call->kind == CJ_NODE_ATTR)
		path = call->attr.path;
	if (path != NULL && path->kind == CJ_NODE_INDEX)
		path = path->index.base;
	if (path == NULL || (path->kind != CJ_NODE_NAME &&
	    path->kind != CJ_NODE_MEMBER))
		return (struct meaning){ .symbol = NULL };
	u = view_use_at(v, path->kind == CJ_NODE_NAME ? path->span.begin :
	    path->member.name.span.begin);
	return u != NULL ? meaning_of(s, d, u) :
	    (struct meaning){ .symbol = NULL };
}

/* The symbol that a parameter of another meaning declares. */
static struct meaning
param_of(struct server *s, const struct meaning *of, const char *name)
{
	const struct cj_list *params = params_of(of->symbol);
	const struct view *v = of->document != NULL ?
	    view_of(s, of->document) : NULL;
	struct meaning m = { .symbol = NULL };
	uint32_t i, k;

	for (i = 0; params != NULL && i < params->count; i++) {
		const struct cj_node *p = params->at[i];

		if (p->kind != CJ_NODE_PARAM || strcmp(view_text(v,
		    p->param.name.name), name) != 0)
			continue;
		for (k = 0; k < v->symbols.len; k++)
			if (v->symbols.at[k].node == p &&
			    v->symbols.at[k].kind == SYMBOL_PARAM)
				m.symbol = &v->symbols.at[k];
		m.document = of->document;
		return m;
	}
	return m;
}

struct meaning
meaning_of(struct server *s, struct document *d, const struct use *u)
{
	const struct view *v = view_of(s, d);
	struct meaning m = { .symbol = NULL };

	switch (u->kind) {
	case USE_DECLARED:
		m.document = d;
		m.symbol = &v->symbols.at[u->symbol];
		if (m.symbol->kind == SYMBOL_IMPORT)
			m.target = target_of(s, d, m.symbol->node);
		return m;
	case USE_NAME:
	case USE_KERNEL:
		return name_at(s, d, u->name, u->kind == USE_KERNEL,
		    u->span.begin);
	case USE_MEMBER:
		return member(s, d, u);
	case USE_ARGUMENT:
		m = callee_of(s, d, u->above);
		return param_of(s, &m, view_text(v, u->name));
	case USE_ATTRIBUTE:
		m.word = u->name == 0 ? NULL :
		    word_find(view_text(v, u->name), true);
		return m;
	case USE_CHOICE:
		return m;
	case USE_IMPORT:
		m.target = target_of(s, d, u->node);
		return m;
	}
	return m;
}
