/*
 * Texts without kernels: stages of a text, values of expressions, and lines of
 * the layout algebra.
 */
#include "layout/layout.h"
#include "lexer/lexer.h"
#include "runtime.h"

/* ---- stages of a text ---------------------------------------------------- */

struct emitting {
	const char *name, *text, *kind;
	size_t length;
	const char **out;
};

static cutejit_status
emit(struct cj_work *f, void *arguments)
{
	struct emitting *e = arguments;
	struct cj_sources *sources = CJ_NEW(&f->arena, struct cj_sources);
	struct cj_names *names = CJ_NEW(&f->arena, struct cj_names);
	struct cj_strbuf b;
	uint32_t source;

	cj_names_init(names, &f->arena);
	cj_sources_init(sources, &f->arena);
	cj_set_warnings(f, sources);
	source = cj_source_add(sources, e->name, e->text, e->length);
	if (source == 0)
		return cj_fail(f, CUTEJIT_ERROR, CJ_DIAG_LIMIT,
		    "%s is too long", e->name);
	cj_strbuf_init(&b, &f->arena);
	if (strcmp(e->kind, "tokens") == 0)
		cj_tokens_print(&b, names, sources, source, &f->diags);
	else if (strcmp(e->kind, "ast") == 0)
		cj_tree_print(&b, names, cj_parse(&f->arena, names, sources,
		    source, &f->diags));
	else
		return cj_fail(f, CUTEJIT_USAGE, CJ_DIAG_USAGE,
		    "\"%s\" is no stage of a text: there are tokens and ast",
		    e->kind);
	cj_give(f, b.text, e->out);
	return f->diags.errors != 0 ? CUTEJIT_ERROR : CUTEJIT_OK;
}

cutejit_status
cutejit_emit_text(cutejit_context *context, const char *name,
    const char *text, size_t length, const char *kind, const char **out)
{
	struct emitting e = { name, text, kind, length, out };

	if (out == NULL)
		return cj_misuse(context, "the place for the result is NULL");
	*out = NULL;
	if (context == NULL || name == NULL || kind == NULL
	    || (text == NULL && length != 0))
		return cj_misuse(context, "a text that is needed is NULL");
	if (text == NULL)
		e.text = "";
	return cj_enter(context, emit, &e);
}

/* ---- expressions --------------------------------------------------------- */

struct evaluating {
	struct cutejit_module *module;
	const char *text;
	const char **out;
};

static cutejit_status
evaluate(struct cj_work *f, void *arguments)
{
	struct evaluating *e = arguments;
	struct cutejit_module *m = e->module;
	const char *value;

	if (m == NULL)
		m = cj_module_blank(f);
	f->module = m;
	f->doing = e->text;
	cj_set_warnings(f, &m->sources);
	cj_module_enter(f, m);
	value = cj_elab_expression(&f->arena, m->unit, e->text, &f->diags);
	cj_module_leave(f, m);
	if (value == NULL)
		return CUTEJIT_ERROR;
	cj_give(f, value, e->out);
	return CUTEJIT_OK;
}

cutejit_status
cutejit_evaluate(cutejit_context *context, cutejit_module *module,
    const char *expression, const char **value)
{
	struct evaluating e = { module, expression, value };

	if (value == NULL)
		return cj_misuse(context, "the place for the result is NULL");
	*value = NULL;
	if (context == NULL || expression == NULL
	    || (module != NULL && module->context != context))
		return cj_misuse(context,
		    "no expression, or a module of another context");
	return cj_enter(context, evaluate, &e);
}

/* ---- the layout algebra -------------------------------------------------- */

struct checking {
	const char *name, *text;
	size_t length;
	const char **out;
	struct cj_check_counts counts;
};

static cutejit_status
check(struct cj_work *f, void *arguments)
{
	struct checking *c = arguments;
	struct cj_strbuf b;
	bool is_read;

	cj_strbuf_init(&b, &f->arena);
	is_read = cj_layout_check(&f->arena, c->text, c->length, c->name, &b,
	    &c->counts);
	cj_give(f, b.text, c->out);
	return is_read ? CUTEJIT_OK : CUTEJIT_ERROR;
}

cutejit_status
cutejit_layout_check(cutejit_context *context, const char *name,
    const char *text, size_t length, const char **differences,
    uint64_t *passed, uint64_t *failed)
{
	struct checking c = { name, text, length, differences, { 0 } };
	cutejit_status status;

	if (context == NULL || name == NULL || differences == NULL
	    || passed == NULL || failed == NULL
	    || (text == NULL && length != 0))
		return cj_misuse(context,
		    "a text or a place for the results is NULL");
	status = cj_enter(context, check, &c);
	*passed = c.counts.passed;
	*failed = c.counts.failed;
	return status;
}
