/*
 * Every name that a tree declares, with where it is known, and every place
 * where a name stands.
 *
 * One walk collects both, as parser/resolve.c does but without messages, and
 * for wrong texts too.
 */
#include <stdlib.h>

#include "lsp.h"

struct walk {
	struct view *v;
	uint32_t end;			/* of the scope */
	bool is_file;			/* no scope but the file's */
	const struct cj_node *owner;	/* function or kernel around */
	const struct cj_node *above;	/* for generic visits */
	cj_name tensor;
};

static void walk(struct walk *w, const struct cj_node *n,
    const struct cj_node *above);

/* ---- collecting ---------------------------------------------------------- */

static struct use *
add_use(struct walk *w, enum use_kind kind, struct cj_ident id,
    const struct cj_node *n, const struct cj_node *above)
{
	struct use *u = cj_push(&w->v->arena, &w->v->uses);

	*u = (struct use){ .kind = kind, .name = id.name, .span = id.span,
	    .node = n, .above = above };
	return u;
}

/* Declare a name that is known from `begin` to the end of the scope. */
static struct symbol *
declare(struct walk *w, enum symbol_kind kind, struct cj_ident id,
    const struct cj_node *n, uint32_t begin)
{
	struct symbol *s;

	if (id.name == 0)
		return NULL;
	add_use(w, USE_DECLARED, id, n, NULL)->symbol = w->v->symbols.len;
	s = cj_push(&w->v->arena, &w->v->symbols);
	*s = (struct symbol){ .kind = kind, .name = id.name, .span = id.span,
	    .begin = w->is_file ? 0 : begin,
	    .end = w->is_file ? UINT32_MAX : w->end, .is_file = w->is_file,
	    .node = n, .owner = w->owner };
	return s;
}

static void
declare_binding(struct walk *w, enum symbol_kind kind,
    const struct cj_node *binding, const struct cj_node *n, uint32_t begin)
{
	uint32_t i;

	if (binding->kind == CJ_NODE_NAME)
		declare(w, kind, (struct cj_ident){ binding->name.name,
		    binding->span }, n, begin);
	else if (binding->kind == CJ_NODE_TUPLE)
		for (i = 0; i < binding->tuple.items.count; i++)
			declare_binding(w, kind, binding->tuple.items.at[i],
			    n, begin);
}

static void
see(void *context, struct cj_node *below)
{
	struct walk *w = context;

	walk(w, below, w->above);
}

/* All nodes below, with `n` as what stands above them. */
static void
walk_below(struct walk *w, const struct cj_node *n)
{
	const struct cj_node *outside = w->above;

	w->above = n;
	cj_node_visit(n, see, w);
	w->above = outside;
}

static void
walk_list(struct walk *w, const struct cj_list *list,
    const struct cj_node *above)
{
	uint32_t i;

	for (i = 0; i < list->count; i++)
		walk(w, list->at[i], above);
}

/* A node in a scope of its own, which ends where `around` does. */
static void
walk_inside(const struct walk *w, const struct cj_node *n,
    const struct cj_node *around)
{
	struct walk inner = *w;

	if (n == NULL)
		return;
	inner.end = around->span.end;
	inner.is_file = false;
	walk(&inner, n, around);
}

/* ---- parameters and patterns --------------------------------------------- */

static void walk_pattern(struct walk *w, const struct cj_node *n,
    const struct cj_node *param);

static void
pattern_list(struct walk *w, const struct cj_list *list,
    const struct cj_node *param)
{
	uint32_t i;

	for (i = 0; i < list->count; i++)
		walk_pattern(w, list->at[i], param);
}

/* A name is bound here if nothing declares it yet. */
static void
pattern_name(struct walk *w, const struct cj_node *n,
    const struct cj_node *param)
{
	struct cj_ident id = { n->name.name, n->span };

	if (view_lookup(w->v, id.name, false, n->span.begin) == NULL)
		declare(w, SYMBOL_PATTERN, id, param, n->span.begin);
	else
		add_use(w, USE_NAME, id, n, param);
}

static void
pattern_const(struct walk *w, const struct cj_node *n,
    const struct cj_node *param)
{
	uint32_t before = w->v->symbols.len;

	declare_binding(w, SYMBOL_PATTERN, n->const_bind.binding, param,
	    n->span.begin);
	for (; before < w->v->symbols.len; before++)
		w->v->symbols.at[before].is_const = true;
	if (n->const_bind.domain != NULL)
		walk(w, n->const_bind.domain, n);
}

static void
walk_pattern(struct walk *w, const struct cj_node *n,
    const struct cj_node *param)
{
	switch ((int)n->kind) {
	case CJ_NODE_NAME:
		pattern_name(w, n, param);
		return;
	case CJ_NODE_TUPLE:
		pattern_list(w, &n->tuple.items, param);
		return;
	case CJ_NODE_LAYOUT:
		walk_pattern(w, n->layout.shape, param);
		walk_pattern(w, n->layout.stride, param);
		return;
	case CJ_NODE_SPREAD:
		walk_pattern(w, n->spread.operand, param);
		return;
	case CJ_NODE_CONST_BIND:
		pattern_const(w, n, param);
		return;
	default:
		walk(w, n, param);
		return;
	}
}

/* tensor(T, shape:stride)[n] binds names; any other type is an expression. */
static void
walk_type(struct walk *w, const struct cj_node *type,
    const struct cj_node *param)
{
	const struct cj_node *n = type;
	uint32_t i;

	if (n->kind == CJ_NODE_INDEX)
		n = n->index.base;
	if (n->kind != CJ_NODE_CALL || n->call.callee->kind != CJ_NODE_NAME ||
	    n->call.callee->name.name != w->tensor) {
		walk(w, type, param);
		return;
	}
	walk(w, n->call.callee, n);
	for (i = 0; i < n->call.items.count; i++) {
		if (i == 0)
			walk(w, n->call.items.at[i], n);
		else
			walk_pattern(w, n->call.items.at[i], param);
	}
	if (type->kind == CJ_NODE_INDEX)
		pattern_list(w, &type->index.items, param);
}

static void
walk_attrs(struct walk *w, const struct cj_list *attrs,
    const struct cj_node *param)
{
	uint32_t i, j;

	for (i = 0; i < attrs->count; i++) {
		const struct cj_node *n = attrs->at[i];

		if (n->kind != CJ_NODE_ATTR)
			continue;
		add_use(w, USE_ATTRIBUTE, (struct cj_ident){ n->attr.name,
		    n->attr.path->span }, n, param);
		for (j = 0; j < n->attr.items.count; j++) {
			if (n->attr.items.at[j]->kind == CJ_NODE_CONST_BIND)
				pattern_const(w, n->attr.items.at[j], param);
			else
				walk(w, n->attr.items.at[j], n);
		}
	}
}

static void
walk_params(struct walk *w, const struct cj_list *params)
{
	uint32_t i;

	for (i = 0; i < params->count; i++)
		if (params->at[i]->kind == CJ_NODE_PARAM)
			declare(w, SYMBOL_PARAM, params->at[i]->param.name,
			    params->at[i], w->owner->span.begin);
	for (i = 0; i < params->count; i++) {
		const struct cj_node *n = params->at[i];

		if (n->kind != CJ_NODE_PARAM)
			continue;
		if (n->param.type != NULL)
			walk_type(w, n->param.type, n);
		walk_attrs(w, &n->param.attrs, n);
		if (n->param.domain != NULL)
			walk(w, n->param.domain, n);
		if (n->param.init != NULL)
			walk(w, n->param.init, n);
	}
}

/* A function or kernel: the scope of its parameters. */
static void
walk_function(const struct walk *w, const struct cj_node *n,
    const struct cj_list *params, const struct cj_list *where,
    const struct cj_node *result, const struct cj_node *body)
{
	struct walk inner = *w;

	inner.end = n->span.end;
	inner.is_file = false;
	inner.owner = n;
	walk_params(&inner, params);
	if (where != NULL)
		walk_list(&inner, where, n);
	if (result != NULL)
		walk(&inner, result, n);
	if (body != NULL)
		walk(&inner, body, n);
}

/* ---- statements ---------------------------------------------------------- */

static void
walk_block(const struct walk *w, const struct cj_node *n)
{
	struct walk inner = *w;

	inner.end = n->span.end;
	inner.is_file = false;
	walk_list(&inner, &n->block.stmts, n);
}

static void
walk_let(struct walk *w, const struct cj_node *n)
{
	enum symbol_kind kind = n->kind == CJ_NODE_CONST ? SYMBOL_CONST :
	    n->kind == CJ_NODE_LET ? SYMBOL_LET : SYMBOL_VAR;

	if (n->let.type != NULL)
		walk(w, n->let.type, n);
	walk(w, n->let.init, n);
	if (!w->is_file)	/* the file's own were declared before */
		declare_binding(w, kind, n->let.binding, n, n->span.end);
}

static void
walk_for(struct walk *w, const struct cj_node *n)
{
	struct walk inner = *w;

	walk(w, n->for_stmt.over, n);
	walk_attrs(w, &n->for_stmt.attrs, n);
	inner.end = n->span.end;
	inner.is_file = false;
	declare_binding(&inner, SYMBOL_LOOP, n->for_stmt.binding, n,
	    n->for_stmt.body->span.begin);
	walk(&inner, n->for_stmt.body, n);
}

static void
walk_over(struct walk *w, const struct cj_list *list)
{
	uint32_t i;

	for (i = 0; i < list->count; i++) {
		if (list->at[i]->kind != CJ_NODE_EACH)
			continue;
		walk(w, list->at[i]->each.domain, list->at[i]);
		declare_binding(w, SYMBOL_OVER, list->at[i]->each.binding,
		    list->at[i], list->at[i]->span.end);
	}
}

static void
walk_pipeline(struct walk *w, const struct cj_node *n)
{
	uint32_t i;
	struct walk fields = *w;

	walk_list(w, &n->pipeline.items, n);
	walk_attrs(w, &n->pipeline.attrs, n);
	fields.end = 0;			/* known by way of a stage only */
	fields.is_file = false;
	for (i = 0; i < n->pipeline.fields.count; i++) {
		const struct cj_node *f = n->pipeline.fields.at[i];

		if (f->kind != CJ_NODE_FIELD)
			continue;
		walk(w, f->field.type, f);
		walk_attrs(w, &f->field.attrs, f);
		declare(&fields, SYMBOL_FIELD, f->field.name, f, 0);
	}
	declare(w, SYMBOL_PIPELINE, n->pipeline.name, n, n->span.end);
}

static void
walk_stage(struct walk *w, const struct cj_node *n)
{
	struct walk inner = *w;

	walk(w, n->stage.path, n);
	walk_attrs(w, &n->stage.attrs, n);
	inner.end = n->span.end;
	inner.is_file = false;
	declare(&inner, SYMBOL_STAGE, n->stage.name, n,
	    n->stage.name.span.end);
	walk(&inner, n->stage.body, n);
}

static void
walk_role(struct walk *w, const struct cj_node *n)
{
	if (n->role.count != NULL)
		walk(w, n->role.count, n);
	walk_attrs(w, &n->role.attrs, n);
	declare(w, SYMBOL_ROLE, n->role.name, n, n->role.name.span.end);
	walk_inside(w, n->role.body, n);
}

/* k(...), k[i](...), library.k(...) */
static void
walk_kernel_call(struct walk *w, const struct cj_node *attr)
{
	const struct cj_node *path;

	if (attr->kind != CJ_NODE_ATTR)
		return;
	path = attr->attr.path;
	if (path->kind == CJ_NODE_INDEX) {
		walk_list(w, &path->index.items, path);
		path = path->index.base;
	}
	if (path->kind == CJ_NODE_NAME)
		add_use(w, USE_KERNEL, (struct cj_ident){ path->name.name,
		    path->span }, path, attr);
	else
		walk(w, path, attr);
	walk_list(w, &attr->attr.items, attr);
}

static void
walk_launch(struct walk *w, const struct cj_node *n)
{
	struct cj_list first = { (struct cj_node **)(uintptr_t)
	    &n->launch.attr, 1 };

	if (n->launch.body == NULL)
		walk_kernel_call(w, n->launch.attr);
	else
		walk_attrs(w, &first, n);
	walk_attrs(w, &n->launch.attrs, n);
	if (n->launch.body != NULL)
		walk_inside(w, n->launch.body, n);
}

static void
walk_object(struct walk *w, const struct cj_node *n)
{
	walk(w, n->field.type, n);
	walk_attrs(w, &n->field.attrs, n);
	declare(w, SYMBOL_SHARED, n->field.name, n, n->span.end);
}

static void
walk_fn(struct walk *w, const struct cj_node *n)
{
	if (!w->is_file)
		declare(w, SYMBOL_FN, n->fn.name, n, n->fn.name.span.begin);
	walk_function(w, n, &n->fn.params, NULL, n->fn.result, n->fn.body);
}

static void
walk_test(const struct walk *w, const struct cj_node *n)
{
	struct walk inner = *w;

	inner.end = n->span.end;
	inner.is_file = false;
	walk_over(&inner, &n->test.over);
	walk(&inner, n->test.body, n);
}

static void
walk_tune(const struct walk *w, const struct cj_node *n)
{
	struct walk inner = *w;

	inner.end = n->span.end;
	inner.is_file = false;
	add_use(&inner, USE_KERNEL, n->tune.name, n, NULL);
	walk_over(&inner, &n->tune.over);
	walk_list(&inner, &n->tune.where, n);
}

/* ---- all nodes ----------------------------------------------------------- */

/* Those that only hold a name, and what is below. */
static void
walk_name(struct walk *w, const struct cj_node *n,
    const struct cj_node *above)
{
	struct cj_ident id = { n->name.name, n->span };

	switch ((int)n->kind) {
	case CJ_NODE_NAME:
		add_use(w, USE_NAME, id, n, above);
		return;
	case CJ_NODE_MEMBER:
		walk(w, n->member.base, n);
		add_use(w, USE_MEMBER, n->member.name, n, above);
		return;
	case CJ_NODE_NAMED:
		add_use(w, USE_ARGUMENT, n->named.name, n, above);
		walk(w, n->named.value, n);
		return;
	case CJ_NODE_CHOICE:
		add_use(w, USE_CHOICE, n->choice.name, n, above);
		return;
	default:
		assert(n->kind == CJ_NODE_IMPORT);
		id = (struct cj_ident){ 0, n->import.path_span };
		add_use(w, USE_IMPORT, id, n, NULL);
		return;
	}
}

static void
walk(struct walk *w, const struct cj_node *n, const struct cj_node *above)
{
	while (n->kind == CJ_NODE_BINARY) {	/* long chains to the left */
		walk(w, n->binary.right, n);
		above = n;
		n = n->binary.left;
	}
	switch ((int)n->kind) {
	case CJ_NODE_NAME:
	case CJ_NODE_MEMBER:
	case CJ_NODE_NAMED:
	case CJ_NODE_CHOICE:
	case CJ_NODE_IMPORT:
		walk_name(w, n, above);
		return;
	case CJ_NODE_LAMBDA:
		walk_function(w, n, &n->lambda.params, NULL, NULL,
		    n->lambda.body);
		return;
	case CJ_NODE_BLOCK:
		walk_block(w, n);
		return;
	case CJ_NODE_FN:
		walk_fn(w, n);
		return;
	case CJ_NODE_KERNEL:
		walk_function(w, n, &n->kernel.params, &n->kernel.where, NULL,
		    n->kernel.body);
		return;
	case CJ_NODE_TEST:
	case CJ_NODE_BENCH:
		walk_test(w, n);
		return;
	case CJ_NODE_TUNE:
		walk_tune(w, n);
		return;
	case CJ_NODE_CONST:
	case CJ_NODE_LET:
	case CJ_NODE_VAR:
		walk_let(w, n);
		return;
	case CJ_NODE_FOR:
		walk_for(w, n);
		return;
	case CJ_NODE_WHILE:
		walk(w, n->while_stmt.cond, n);
		walk_attrs(w, &n->while_stmt.attrs, n);
		walk(w, n->while_stmt.body, n);
		return;
	case CJ_NODE_SHARED:
	case CJ_NODE_TMEM:
		walk_object(w, n);
		return;
	case CJ_NODE_PIPELINE:
		walk_pipeline(w, n);
		return;
	case CJ_NODE_ORDER:
		walk_list(w, &n->order.items, n);
		declare(w, SYMBOL_ORDER, n->order.name, n, n->span.end);
		return;
	case CJ_NODE_ROLE:
		walk_role(w, n);
		return;
	case CJ_NODE_PRODUCE:
	case CJ_NODE_CONSUME:
		walk_stage(w, n);
		return;
	case CJ_NODE_LAUNCH:
	case CJ_NODE_TIME:
		walk_launch(w, n);
		return;
	default:
		walk_below(w, n);
		return;
	}
}

/* Names of the file are known before they stand. */
static void
declare_file(struct walk *w, const struct cj_node *n)
{
	if (n->kind == CJ_NODE_CONST)
		declare_binding(w, SYMBOL_CONST, n->let.binding, n, 0);
	else if (n->kind == CJ_NODE_FN)
		declare(w, SYMBOL_FN, n->fn.name, n, 0);
	else if (n->kind == CJ_NODE_KERNEL)
		declare(w, SYMBOL_KERNEL, n->kernel.name, n, 0);
	else if (n->kind == CJ_NODE_IMPORT)
		declare(w, SYMBOL_IMPORT, n->import.alias, n, 0);
}

static int
compare_uses(const void *a, const void *b)
{
	const struct use *x = a, *y = b;

	return x->span.begin != y->span.begin ?
	    (x->span.begin < y->span.begin ? -1 : 1) :
	    (x->span.end > y->span.end) - (x->span.end < y->span.end);
}

void
view_collect(struct view *v)
{
	struct walk w = { .v = v, .end = UINT32_MAX, .is_file = true };
	uint32_t i;

	w.tensor = cj_intern_str(&v->names, "tensor");
	for (i = 0; i < v->tree->decls.count; i++)
		declare_file(&w, v->tree->decls.at[i]);
	for (i = 0; i < v->tree->decls.count; i++)
		walk(&w, v->tree->decls.at[i], NULL);
	if (v->uses.len != 0)
		qsort(v->uses.at, v->uses.len, sizeof *v->uses.at,
		    compare_uses);
}
