/*
 * What can be known of a text before its arguments: declarations.
 *
 * One walk in the order of the text, with a stack of scopes. The file's own
 * names are declared first, since they may be used before they stand. Kernels
 * have names of their own and form families.
 */
#include "resolve_priv.h"

const char *
cj_resolve_text(const struct cj_resolve *r, cj_name name)
{
	return cj_name_text(r->names, name);
}

/* A remark where a local name hides one of the file or of the language; the
 * words are not searched unless somebody wants it. */
static void
remark_shadow(struct cj_resolve *r, struct cj_ident id)
{
	const char *name = cj_resolve_text(r, id.name);
	const struct cj_decl *d = cj_scope_find(&r->scopes, id.name);
	struct cj_diag *m;
	uint32_t i;

	assert(d != NULL && "it was declared just now");
	if (d->hidden != 0) {
		d = &r->scopes.decls.at[d->hidden - 1];
		if (d->level != 0)
			return;
		m = cj_report(r->diags, CJ_DIAG_SHADOWED, id.span,
		    "\"%s\" hides a name of the file", name);
		cj_note(m, d->span, "which is declared here");
		return;
	}
	for (i = 0; r->words != NULL && i < r->words->count; i++)
		if (strcmp(r->words->at[i], name) == 0) {
			cj_help(cj_report(r->diags, CJ_DIAG_SHADOWED,
			    id.span, "\"%s\" hides a name of the language",
			    name), "cute.%s still reaches it.", name);
			return;
		}
}

void
cj_resolve_declare(struct cj_resolve *r, struct cj_ident id)
{
	const struct cj_decl *old = cj_scope_add(&r->scopes, id);
	struct cj_diag *d;

	if (old == NULL && r->scopes.level != 0 &&
	    !r->diags->off[CJ_DIAG_SHADOWED])
		remark_shadow(r, id);
	if (old == NULL)
		return;
	d = cj_report(r->diags, CJ_DIAG_SHADOWED_NAME, id.span,
	    "\"%s\" hides another local name", cj_resolve_text(r, id.name));
	cj_note(d, old->span, "which is declared here");
}

void
cj_resolve_leave(struct cj_resolve *r, uint32_t begin)
{
	uint32_t i;

	for (i = begin; i < r->scopes.decls.len; i++) {
		const struct cj_decl *d = &r->scopes.decls.at[i];
		const char *name = cj_resolve_text(r, d->name);

		if (!d->is_watched || d->is_used || name[0] == '_')
			continue;
		cj_help(cj_report(r->diags, CJ_DIAG_UNUSED, d->span,
		    "\"%s\" is not used", name),
		    "A name that begins with \"_\" says that this is meant.");
	}
	cj_scope_end(&r->scopes, begin);
}

void
cj_resolve_binding(struct cj_resolve *r, const struct cj_node *binding)
{
	uint32_t i;

	if (binding->kind == CJ_NODE_NAME)
		cj_resolve_declare(r, (struct cj_ident){ binding->name.name,
		    binding->span });
	else if (binding->kind == CJ_NODE_TUPLE)
		for (i = 0; i < binding->tuple.items.count; i++)
			cj_resolve_binding(r, binding->tuple.items.at[i]);
}

void
cj_resolve_fn(struct cj_resolve *r, const struct cj_list *params,
    const struct cj_node *result, const struct cj_node *body)
{
	struct cj_exits outside = r->exits;
	enum cj_place place = r->place;
	uint32_t scope = cj_scope_begin(&r->scopes);

	r->exits = (struct cj_exits){ .has_loop = false };
	if (place == CJ_IN_HOST)
		r->place = CJ_IN_FN;	/* device code may call it too */
	r->scopes.level++;
	cj_resolve_params(r, params);
	if (result != NULL && result->kind != CJ_NODE_FN_TYPE)
		cj_resolve_expr(r, result, CJ_USE_VALUE);
	if (body != NULL && body->kind == CJ_NODE_BLOCK)
		cj_resolve_stmt(r, body);
	else if (body != NULL)
		cj_resolve_expr(r, body, CJ_USE_VALUE);
	r->scopes.level--;
	cj_resolve_leave(r, scope);
	r->exits = outside;
	r->place = place;
}

/* ---- kernels ------------------------------------------------------------- */

const struct cj_node *
cj_resolve_find_kernel(const struct cj_resolve *r, cj_name name)
{
	uint32_t i;

	for (i = 0; i < r->tree->decls.count; i++) {
		const struct cj_node *n = r->tree->decls.at[i];

		if (n->kind == CJ_NODE_KERNEL && n->kernel.name.name == name)
			return n;
	}
	return NULL;
}

void
cj_resolve_launched(struct cj_resolve *r, struct cj_ident name)
{
	bool is_here = r->place == CJ_IN_TEST || r->place == CJ_IN_BENCH;

	if (r->checks_names && !r->has_imports && is_here)
		cj_resolve_own_kernel(r, name);
}

/* "launch" starts kernels: functions are called as they are. */
static bool
is_function(struct cj_resolve *r, struct cj_ident name)
{
	uint32_t i;
	const char *text = cj_resolve_text(r, name.name);
	struct cj_diag *d;

	for (i = 0; i < r->tree->decls.count; i++) {
		const struct cj_node *n = r->tree->decls.at[i];

		if (n->kind != CJ_NODE_FN || n->fn.name.name != name.name)
			continue;
		d = cj_report(r->diags, CJ_DIAG_MISPLACED_STATEMENT,
		    name.span, "\"%s\" is a function, not a kernel", text);
		cj_note(d, n->fn.name.span, "it is declared here");
		cj_help(d, "A function is called without \"launch\": %s(...).",
		    text);
		return true;
	}
	return false;
}

void
cj_resolve_own_kernel(struct cj_resolve *r, struct cj_ident name)
{
	uint32_t i, n = 0;
	const char **all, *near, *text = cj_resolve_text(r, name.name);
	struct cj_diag *d;

	if (r->words == NULL || r->tree->is_broken ||
	    cj_resolve_find_kernel(r, name.name) != NULL ||
	    is_function(r, name))
		return;
	all = CJ_NEWS(r->arena, const char *, r->tree->decls.count);
	for (i = 0; i < r->tree->decls.count; i++)
		if (r->tree->decls.at[i]->kind == CJ_NODE_KERNEL)
			all[n++] = cj_resolve_text(r,
			    r->tree->decls.at[i]->kernel.name.name);
	d = cj_report(r->diags, CJ_DIAG_UNKNOWN_NAME, name.span,
	    "there is no kernel \"%s\" in this file", text);
	near = cj_nearest(text, all, n);
	if (near != NULL) {
		cj_help(d, "Did you mean \"%s\"?", near);
		cj_fixit(d, name.span, "%s", near);
	}
}

/* ---- declarations -------------------------------------------------------- */

/* A name of the file; names of imports count, kernels' do not. */
static void
declare_at_file(struct cj_resolve *r, struct cj_ident id)
{
	const struct cj_decl *old = cj_scope_add(&r->scopes, id);

	if (old != NULL)
		cj_note(cj_report(r->diags, CJ_DIAG_DUPLICATE_NAME, id.span,
		    "\"%s\" is declared twice", cj_resolve_text(r, id.name)),
		    old->span, "the first declaration");
}

static void
declare_binding(struct cj_resolve *r, const struct cj_node *b)
{
	uint32_t i;

	if (b->kind == CJ_NODE_NAME)
		declare_at_file(r, (struct cj_ident){ b->name.name, b->span });
	else if (b->kind == CJ_NODE_TUPLE)
		for (i = 0; i < b->tuple.items.count; i++)
			declare_binding(r, b->tuple.items.at[i]);
}

static void
declare(struct cj_resolve *r, const struct cj_node *n)
{
	if (n->kind == CJ_NODE_CONST)
		declare_binding(r, n->let.binding);
	else if (n->kind == CJ_NODE_FN)
		declare_at_file(r, n->fn.name);
	else if (n->kind == CJ_NODE_IMPORT && n->import.alias.name != 0)
		declare_at_file(r, n->import.alias);
}

static void
check_param_modes(struct cj_resolve *r, const struct cj_list *params)
{
	uint32_t i;

	for (i = 0; i < params->count; i++)
		if (params->at[i]->kind == CJ_NODE_PARAM &&
		    params->at[i]->param.mode == CJ_MODE_VAR)
			cj_report(r->diags, CJ_DIAG_SYNTAX,
			    params->at[i]->span, "a kernel's parameter cannot "
			    "be \"var\": tensors are written as they are");
}

static void
kernel(struct cj_resolve *r, const struct cj_node *n)
{
	const struct cj_node_kernel *k = &n->kernel;

	cj_resolve_family(r, n);
	check_param_modes(r, &k->params);
	cj_resolve_params(r, &k->params);
	cj_resolve_list(r, &k->where, CJ_USE_VALUE);
	r->place = CJ_IN_HOST;
	cj_resolve_stmt(r, k->body);
}

static void
over(struct cj_resolve *r, const struct cj_list *list)
{
	uint32_t i;

	for (i = 0; i < list->count; i++) {
		if (list->at[i]->kind != CJ_NODE_EACH)
			continue;
		cj_resolve_expr(r, list->at[i]->each.domain, CJ_USE_VALUE);
		cj_resolve_binding(r, list->at[i]->each.binding);
	}
}

static void
test(struct cj_resolve *r, const struct cj_node *n)
{
	r->place = n->kind == CJ_NODE_TEST ? CJ_IN_TEST : CJ_IN_BENCH;
	over(r, &n->test.over);
	cj_resolve_stmt(r, n->test.body);
}

static void
decl(struct cj_resolve *r, const struct cj_node *n)
{
	uint32_t scope = cj_scope_begin(&r->scopes);

	r->place = CJ_IN_FN;
	if (n->kind == CJ_NODE_FN) {
		cj_resolve_fn(r, &n->fn.params, n->fn.result, n->fn.body);
	} else if (n->kind == CJ_NODE_CONST) {
		if (n->let.type != NULL && n->let.type->kind != CJ_NODE_FN_TYPE)
			cj_resolve_expr(r, n->let.type, CJ_USE_VALUE);
		cj_resolve_expr(r, n->let.init, CJ_USE_VALUE);
	}
	r->scopes.level = 1;
	if (n->kind == CJ_NODE_KERNEL)
		kernel(r, n);
	else if (n->kind == CJ_NODE_TEST || n->kind == CJ_NODE_BENCH)
		test(r, n);
	else if (n->kind == CJ_NODE_TUNE)
		cj_resolve_tune(r, &n->tune);
	r->scopes.level = 0;
	cj_resolve_leave(r, scope);
}

bool
cj_resolve(struct cj_tree *tree, struct cj_names *names,
    struct cj_diags *ds, const struct cj_words *builtins)
{
	struct cj_resolve r = { .arena = tree->arena, .names = names,
	    .diags = ds, .tree = tree, .words = builtins };
	uint32_t i, errors = ds->errors + ds->dropped;

	r.scopes.arena = tree->arena;
	r.tensor = cj_intern_str(names, "tensor");
	r.checks_names = builtins != NULL && builtins->at != NULL &&
	    !tree->is_broken;
	for (i = 0; i < tree->decls.count; i++) {
		const struct cj_node *n = tree->decls.at[i];

		if (n->kind == CJ_NODE_IMPORT) {
			r.has_imports = true;
			r.checks_names = r.checks_names &&
			    n->import.alias.name != 0;
		}
		declare(&r, n);
	}
	for (i = 0; i < tree->decls.count; i++)
		decl(&r, tree->decls.at[i]);
	return ds->errors + ds->dropped == errors;
}
