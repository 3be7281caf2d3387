/*
 * Statements: scopes, and what may stand where.
 *
 * A launch block belongs to the host part, what section 7 of the manual adds
 * to launch blocks, calls of kernels to tests and benches. Functions of the
 * file may be called from host and device; what they may hold is known only
 * where they are called, and elaboration says so there.
 */
#include "resolve_priv.h"

static void
misplaced(struct cj_resolve *r, const struct cj_node *n, const char *text)
{
	struct cj_span span = n->span;
	const char *word = cj_node_kind_text(n->kind);

	/* the word is enough; the block would underline pages */
	if (span.end - span.begin > strlen(word))
		span.end = span.begin + (uint32_t)strlen(word);
	cj_report(r->diags, CJ_DIAG_MISPLACED_STATEMENT, span, "%s", text);
}

static void
body(struct cj_resolve *r, const struct cj_node *n)
{
	uint32_t scope = cj_scope_begin(&r->scopes);

	if (n->kind == CJ_NODE_BLOCK) {
		uint32_t i;

		for (i = 0; i < n->block.stmts.count; i++)
			cj_resolve_stmt(r, n->block.stmts.at[i]);
	}
	cj_resolve_leave(r, scope);
}

/* A block that break and continue leave, or must not. */
static void
body_with(struct cj_resolve *r, const struct cj_node *n, struct cj_exits in)
{
	struct cj_exits outside = r->exits;

	r->exits = in;
	body(r, n);
	r->exits = outside;
}

static void
items(struct cj_resolve *r, const struct cj_list *attrs,
    enum cj_attr_place place)
{
	uint32_t i;

	cj_resolve_attrs(r, attrs, place);
	for (i = 0; i < attrs->count; i++)
		if (attrs->at[i]->kind == CJ_NODE_ATTR)
			cj_resolve_list(r, &attrs->at[i]->attr.items,
			    CJ_USE_ITEM);
}

static void
needs_device(struct cj_resolve *r, const struct cj_node *n)
{
	if (r->place == CJ_IN_DEVICE || r->place == CJ_IN_FN)
		return;
	misplaced(r, n, cj_printf(r->arena,
	    "\"%s\" stands only in a launch block",
	    cj_node_kind_text(n->kind)));
}

/* ---- statements ---------------------------------------------------------- */

static void
let(struct cj_resolve *r, const struct cj_node_let *l)
{
	if (l->type != NULL && l->type->kind != CJ_NODE_FN_TYPE)
		cj_resolve_expr(r, l->type, CJ_USE_VALUE);
	cj_resolve_expr(r, l->init, CJ_USE_VALUE);
	cj_resolve_binding(r, l->binding);
	if (l->binding->kind == CJ_NODE_NAME)
		cj_scope_watch(&r->scopes);
}

static void
if_stmt(struct cj_resolve *r, const struct cj_node_if *s)
{
	uint32_t i;

	for (i = 0; i < s->arms.count; i++) {
		if (s->arms.at[i]->kind != CJ_NODE_ARM)
			continue;
		cj_resolve_expr(r, s->arms.at[i]->arm.cond, CJ_USE_VALUE);
		body(r, s->arms.at[i]->arm.body);
	}
	if (s->otherwise != NULL)
		body(r, s->otherwise);
}

static void
for_stmt(struct cj_resolve *r, const struct cj_node_for *f)
{
	uint32_t scope = cj_scope_begin(&r->scopes);

	cj_resolve_expr(r, f->over, CJ_USE_VALUE);
	items(r, &f->attrs, CJ_ATTR_LOOP);
	cj_resolve_binding(r, f->binding);
	body_with(r, f->body, (struct cj_exits){ .has_loop = true });
	cj_resolve_leave(r, scope);
}

static void
while_stmt(struct cj_resolve *r, const struct cj_node_while *w)
{
	cj_resolve_expr(r, w->cond, CJ_USE_VALUE);
	items(r, &w->attrs, CJ_ATTR_WHILE);
	body_with(r, w->body, (struct cj_exits){ .has_loop = true });
}

static void
leave(struct cj_resolve *r, const struct cj_node *n)
{
	const char *word = cj_node_kind_text(n->kind);

	if (r->exits.has_loop)
		return;
	misplaced(r, n, cj_printf(r->arena, r->exits.is_produce ?
	    "\"%s\" would leave a produce block early" :
	    "\"%s\" outside a loop", word));
}

static void
return_stmt(struct cj_resolve *r, const struct cj_node *n)
{
	if (r->exits.is_produce)
		misplaced(r, n, "\"return\" would leave a produce block early");
	if (r->place == CJ_IN_DEVICE && n->return_stmt.value != NULL &&
	    r->scopes.level == 1)
		misplaced(r, n, "a launch block returns no value");
	if (n->return_stmt.value != NULL)
		cj_resolve_expr(r, n->return_stmt.value, CJ_USE_VALUE);
}

static void
do_stmt(struct cj_resolve *r, const struct cj_node *n)
{
	const struct cj_node *e = n->do_stmt.call;
	struct cj_diag *d;

	cj_resolve_expr(r, e, CJ_USE_VALUE);
	if (e->kind == CJ_NODE_CALL || e->kind == CJ_NODE_ERROR)
		return;
	d = cj_report(r->diags, CJ_DIAG_NO_EFFECT, e->span,
	    "this statement is neither a call nor an assignment");
	if (e->kind == CJ_NODE_NAME)
		cj_help(d, "A call has parentheses: %s().",
		    cj_resolve_text(r, e->name.name));
}

/* A place to assign to: a name, a part of one, a view, a tuple of places. */
static void
place(struct cj_resolve *r, const struct cj_node *n)
{
	uint32_t i;

	switch ((int)n->kind) {
	case CJ_NODE_TUPLE:
		for (i = 0; i < n->tuple.items.count; i++)
			place(r, n->tuple.items.at[i]);
		return;
	case CJ_NODE_NAME:
	case CJ_NODE_INDEX:
	case CJ_NODE_MEMBER:
	case CJ_NODE_CALL:
		cj_resolve_expr(r, n, CJ_USE_VALUE);
		return;
	case CJ_NODE_ERROR:
		return;
	case CJ_NODE_ANY:
		cj_help(cj_report(r->diags, CJ_DIAG_BAD_PLACE, n->span,
		    "\"_\" cannot be assigned to"),
		    "A value that is not needed: let _ = e;");
		return;
	default:
		cj_report(r->diags, CJ_DIAG_BAD_PLACE, n->span,
		    "this cannot be assigned to: it is no name, element, "
		    "view or tuple of them");
		return;
	}
}

static void
assign(struct cj_resolve *r, const struct cj_node_assign *a)
{
	cj_resolve_expr(r, a->value, CJ_USE_VALUE);
	if (a->oper != CJ_OPER_NONE && a->place->kind == CJ_NODE_TUPLE) {
		cj_report(r->diags, CJ_DIAG_BAD_PLACE, a->oper_span,
		    "\"%s=\" cannot update a tuple", cj_oper_text(a->oper));
		return;
	}
	if (a->place->kind == CJ_NODE_NAME)
		r->assigned = a->place->span.begin + 1;
	place(r, a->place);
	r->assigned = 0;
}

static void
object(struct cj_resolve *r, const struct cj_node *n)
{
	needs_device(r, n);
	cj_resolve_expr(r, n->field.type, CJ_USE_VALUE);
	items(r, &n->field.attrs, CJ_ATTR_OBJECT);
	cj_resolve_declare(r, n->field.name);
}

static void
fields(struct cj_resolve *r, const struct cj_list *list)
{
	uint32_t i, j;

	for (i = 0; i < list->count; i++) {
		const struct cj_node_field *f = &list->at[i]->field;

		if (list->at[i]->kind != CJ_NODE_FIELD)
			continue;
		cj_resolve_expr(r, f->type, CJ_USE_VALUE);
		items(r, &f->attrs, CJ_ATTR_OBJECT);
		for (j = 0; j < i; j++)
			if (list->at[j]->kind == CJ_NODE_FIELD &&
			    list->at[j]->field.name.name == f->name.name)
				cj_note(cj_report(r->diags,
				    CJ_DIAG_DUPLICATE_NAME, f->name.span,
				    "two fields are called \"%s\"",
				    cj_resolve_text(r, f->name.name)),
				    list->at[j]->field.name.span,
				    "the first one");
	}
}

static void
pipeline(struct cj_resolve *r, const struct cj_node *n)
{
	const struct cj_node_pipeline *p = &n->pipeline;

	needs_device(r, n);
	cj_resolve_list(r, &p->items, CJ_USE_ITEM);
	items(r, &p->attrs, CJ_ATTR_PIPELINE);
	if (p->items.count != 1)
		cj_report(r->diags, CJ_DIAG_BAD_ATTRIBUTE, p->name.span,
		    "a pipeline takes its number of stages, not %u arguments",
		    p->items.count);
	fields(r, &p->fields);
	cj_resolve_declare(r, p->name);
}

static void
order(struct cj_resolve *r, const struct cj_node *n)
{
	needs_device(r, n);
	cj_resolve_list(r, &n->order.items, CJ_USE_ITEM);
	if (n->order.items.count != 1)
		cj_report(r->diags, CJ_DIAG_BAD_ATTRIBUTE, n->order.name.span,
		    "an order takes its number of turns, not %u arguments",
		    n->order.items.count);
	cj_resolve_declare(r, n->order.name);
}

static void
role(struct cj_resolve *r, const struct cj_node *n)
{
	needs_device(r, n);
	if (n->role.count != NULL)
		cj_resolve_expr(r, n->role.count, CJ_USE_VALUE);
	items(r, &n->role.attrs, CJ_ATTR_ROLE);
	cj_resolve_declare(r, n->role.name);
	body_with(r, n->role.body, (struct cj_exits){ .has_loop = false });
}

static void
stage(struct cj_resolve *r, const struct cj_node *n)
{
	const struct cj_node_stage *s = &n->stage;
	bool is_produce = n->kind == CJ_NODE_PRODUCE;
	uint32_t scope = cj_scope_begin(&r->scopes);

	needs_device(r, n);
	cj_resolve_expr(r, s->path, CJ_USE_VALUE);
	items(r, &s->attrs, is_produce ? CJ_ATTR_PRODUCE : CJ_ATTR_CONSUME);
	cj_resolve_declare(r, s->name);
	if (is_produce)
		body_with(r, s->body, (struct cj_exits){ .is_produce = true });
	else
		body(r, s->body);
	cj_resolve_leave(r, scope);
}

static void
turn(struct cj_resolve *r, const struct cj_node *n)
{
	needs_device(r, n);
	cj_resolve_expr(r, n->turn.path, CJ_USE_VALUE);
	cj_resolve_expr(r, n->turn.index, CJ_USE_VALUE);
	body(r, n->turn.body);
}

/* The attributes of a launch block: the first and the others as one list. */
static struct cj_list
launch_attrs(struct cj_resolve *r, const struct cj_node_launch *l)
{
	struct cj_node **all = CJ_NEWS(r->arena, struct cj_node *,
	    l->attrs.count + 1u);
	uint32_t i;

	all[0] = l->attr;
	for (i = 0; i < l->attrs.count; i++)
		all[i + 1] = l->attrs.at[i];
	return (struct cj_list){ all, l->attrs.count + 1 };
}

static void
launch_block(struct cj_resolve *r, const struct cj_node *n)
{
	struct cj_list attrs = launch_attrs(r, &n->launch);
	enum cj_place outside = r->place;

	if (outside != CJ_IN_HOST)
		misplaced(r, n, outside == CJ_IN_DEVICE ?
		    "a launch block cannot stand in a launch block" :
		    "a launch block stands only in the host part of a kernel");
	items(r, &attrs, CJ_ATTR_LAUNCH);
	r->place = CJ_IN_DEVICE;
	body_with(r, n->launch.body, (struct cj_exits){ .has_loop = false });
	r->place = outside;
}

/* k(...), k[i](...), library.k(...) */
static void
kernel_call(struct cj_resolve *r, const struct cj_node *attr)
{
	const struct cj_node *path;

	if (attr->kind != CJ_NODE_ATTR)
		return;
	path = attr->attr.path;
	if (path->kind == CJ_NODE_INDEX) {
		cj_resolve_list(r, &path->index.items, CJ_USE_ITEM);
		path = path->index.base;
	}
	if (path->kind == CJ_NODE_NAME)
		cj_resolve_launched(r, (struct cj_ident){ path->name.name,
		    path->span });
	else if (path->kind == CJ_NODE_MEMBER)
		cj_resolve_expr(r, path->member.base, CJ_USE_VALUE);
	if (!attr->attr.has_list)
		cj_report(r->diags, CJ_DIAG_BAD_ATTRIBUTE, attr->span,
		    "a call of a kernel has parentheses");
	cj_resolve_list(r, &attr->attr.items, CJ_USE_ITEM);
}

static void
launch(struct cj_resolve *r, const struct cj_node *n)
{
	if (n->launch.body != NULL) {
		launch_block(r, n);
		return;
	}
	if (r->place != CJ_IN_TEST && r->place != CJ_IN_BENCH)
		misplaced(r, n, "a kernel is called only in tests and benches "
		    "(and through the library)");
	kernel_call(r, n->launch.attr);
}

static void
time_stmt(struct cj_resolve *r, const struct cj_node *n)
{
	if (r->place != CJ_IN_BENCH)
		misplaced(r, n, "\"time\" stands only in a bench");
	kernel_call(r, n->launch.attr);
	items(r, &n->launch.attrs, CJ_ATTR_TIME);
}

void
cj_resolve_stmt(struct cj_resolve *r, const struct cj_node *n)
{
	switch ((int)n->kind) {
	case CJ_NODE_BLOCK:
		body(r, n);
		return;
	case CJ_NODE_FN:
		cj_resolve_declare(r, n->fn.name);
		cj_resolve_fn(r, &n->fn.params, n->fn.result, n->fn.body);
		return;
	case CJ_NODE_CONST:
	case CJ_NODE_LET:
	case CJ_NODE_VAR:
		let(r, &n->let);
		return;
	case CJ_NODE_IF:
		if_stmt(r, &n->if_stmt);
		return;
	case CJ_NODE_FOR:
		for_stmt(r, &n->for_stmt);
		return;
	case CJ_NODE_WHILE:
		while_stmt(r, &n->while_stmt);
		return;
	case CJ_NODE_BREAK:
	case CJ_NODE_CONTINUE:
		leave(r, n);
		return;
	case CJ_NODE_RETURN:
		return_stmt(r, n);
		return;
	case CJ_NODE_DO:
		do_stmt(r, n);
		return;
	case CJ_NODE_ASSIGN:
		assign(r, &n->assign);
		return;
	case CJ_NODE_SHARED:
	case CJ_NODE_TMEM:
		object(r, n);
		return;
	case CJ_NODE_PIPELINE:
		pipeline(r, n);
		return;
	case CJ_NODE_ORDER:
		order(r, n);
		return;
	case CJ_NODE_ROLE:
		role(r, n);
		return;
	case CJ_NODE_PRODUCE:
	case CJ_NODE_CONSUME:
		stage(r, n);
		return;
	case CJ_NODE_TURN:
		turn(r, n);
		return;
	case CJ_NODE_LAUNCH:
		launch(r, n);
		return;
	case CJ_NODE_TIME:
		time_stmt(r, n);
		return;
	default:
		assert(n->kind == CJ_NODE_ERROR);
		return;
	}
}
