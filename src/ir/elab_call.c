/*
 * Calls: arguments, parameters, and the inlined body.
 *
 * A body whose returns all stand where elaboration arrives at most once needs
 * no region. Else it is a scope that returns leave, with the result in slots.
 */
#include "elab_priv.h"
#include "elab_origin.h"

enum { CJ_MAX_INSTS = 1000000 };

/* ---- arguments ----------------------------------------------------------- */

struct arguments {
	CJ_VEC(struct cj_value) at;
	CJ_VEC(struct cj_span) spans;
	CJ_VEC(struct cj_named_arg) named;
};

static bool
takes_place(const struct cj_value *callee, uint32_t position)
{
	const struct cj_node *n;
	const struct cj_list *params;

	if (callee->kind == CJ_VALUE_BUILTIN)
		return (callee->builtin->flags & CJ_BUILTIN_PLACES) != 0 ||
		    (position == 0 &&
		    (callee->builtin->flags & CJ_BUILTIN_PLACE) != 0);
	if (callee->kind != CJ_VALUE_FUNCTION)
		return false;
	n = callee->function->node;
	params = n->kind == CJ_NODE_FN ? &n->fn.params : &n->lambda.params;
	return position < params->count &&
	    params->at[position]->param.mode == CJ_MODE_VAR;
}

static bool
add_spread(struct cj_elab *el, const struct cj_node *n, struct arguments *a)
{
	struct cj_value v = cj_elab_expr(el, n);
	uint32_t i;

	if (v.kind != CJ_VALUE_TUPLE) {
		if (v.kind != CJ_VALUE_ERROR)
			cj_elab_error(el, CJ_DIAG_WRONG_KIND, n->span,
			    "only a tuple can be spread, this is %s",
			    cj_value_what(el, &v));
		return false;
	}
	for (i = 0; i < v.tuple->count; i++) {
		*cj_push(el->arena, &a->at) = v.tuple->at[i];
		*cj_push(el->arena, &a->spans) = n->span;
	}
	return true;
}

/* Mbarriers and tensor maps are named, never read. */
static struct cj_value
named_value(struct cj_elab *el, const struct cj_node *item,
    const struct cj_value *callee)
{
	struct cj_value v;

	if (callee->kind != CJ_VALUE_BUILTIN ||
	    (callee->builtin->flags & CJ_BUILTIN_PLACES) == 0)
		return cj_elab_expr(el, item->named.value);
	v = cj_elab_place(el, item->named.value);
	return v.kind == CJ_VALUE_TENSOR && cj_kind_is_place(
	    v.tensor->element) ? v : cj_elab_read(el, item->span, v);
}

static bool
add_argument(struct cj_elab *el, const struct cj_node *item,
    const struct cj_value *callee, struct arguments *a)
{
	struct cj_named_arg named = { 0 };
	struct cj_value v;

	if (item->kind == CJ_NODE_SPREAD)
		return add_spread(el, item->spread.operand, a);
	if (item->kind == CJ_NODE_NAMED) {
		named.name = item->named.name.name;
		named.span = item->span;
		named.value = named_value(el, item, callee);
		*cj_push(el->arena, &a->named) = named;
		return named.value.kind != CJ_VALUE_ERROR;
	}
	v = takes_place(callee, a->at.len) ? cj_elab_place(el, item) :
	    cj_elab_expr(el, item);
	*cj_push(el->arena, &a->at) = v;
	*cj_push(el->arena, &a->spans) = item->span;
	return v.kind != CJ_VALUE_ERROR;
}

bool
cj_elab_names_once(struct cj_elab *el, const struct cj_list *items)
{
	uint32_t i, k;

	for (i = 1; i < items->count; i++) {
		const struct cj_node *n = items->at[i], *first;

		for (k = 0; k < i && n->kind == CJ_NODE_NAMED; k++) {
			first = items->at[k];
			if (first->kind != CJ_NODE_NAMED ||
			    first->named.name.name != n->named.name.name)
				continue;
			cj_note(cj_elab_report(el, CJ_DIAG_WRONG_ARGUMENTS,
			    n->span, "\"%s\" is given twice",
			    cj_elab_name(el, n->named.name.name)),
			    first->span, "it is given here first");
			return false;
		}
	}
	return true;
}

static struct cj_value call_value(struct cj_elab *el, struct cj_value callee,
    struct cj_args *args);

struct cj_value
cj_elab_call_node(struct cj_elab *el, const struct cj_node *n)
{
	struct cj_value callee = cj_elab_place(el, n->call.callee);
	struct arguments a = { 0 };
	struct cj_args args = { .span = n->span, .node = n };
	bool ok = callee.kind != CJ_VALUE_ERROR;
	uint32_t i;

	if (!cj_elab_names_once(el, &n->call.items))
		return cj_value_error();
	if (callee.kind == CJ_VALUE_BUILTIN &&
	    (callee.builtin->flags & CJ_BUILTIN_NODE) != 0) {
		args.count = n->call.items.count;
		return call_value(el, callee, &args);
	}
	for (i = 0; i < n->call.items.count; i++)
		ok = add_argument(el, n->call.items.at[i], &callee, &a) && ok;
	if (!ok)
		return cj_value_error();
	args.count = a.at.len;
	args.at = a.at.at;
	args.spans = a.spans.at;
	args.named_count = a.named.len;
	args.named = a.named.at;
	cj_elab_at(el, n->span);
	return call_value(el, callee, &args);
}

const struct cj_value *
cj_arg_named(struct cj_elab *el, struct cj_args *args, const char *name)
{
	cj_name key = cj_elab_intern(el, name);
	uint32_t i;

	for (i = 0; i < args->named_count; i++)
		if (args->named[i].name == key) {
			args->named[i].used = true;
			return &args->named[i].value;
		}
	return NULL;
}

struct cj_span
cj_arg_named_span(struct cj_elab *el, const struct cj_args *args,
    const char *name)
{
	cj_name key = cj_elab_intern(el, name);
	uint32_t i;

	for (i = 0; i < args->named_count; i++)
		if (args->named[i].name == key)
			return args->named[i].span;
	return args->span;
}

/* ---- parameters ---------------------------------------------------------- */

struct callee {
	const struct cj_function_value *f;
	const struct cj_list *params;
	const struct cj_node *body, *result;	/* result may be NULL */
	const char *name;
	struct cj_env *caller;
};

static struct callee
callee_of(struct cj_elab *el, const struct cj_function_value *f)
{
	struct callee c = { .f = f, .caller = el->env };

	if (f->node->kind == CJ_NODE_FN) {
		c.params = &f->node->fn.params;
		c.body = f->node->fn.body;
		c.result = f->node->fn.result;
	} else {
		c.params = &f->node->lambda.params;
		c.body = f->node->lambda.body;
	}
	c.name = f->name == 0 ? "fn" : cj_elab_name(el, f->name);
	return c;
}

/* f(a, b = 1): how a call is written. */
static void
help_form(struct cj_elab *el, struct cj_diag *d, const struct callee *c)
{
	struct cj_strbuf b;
	uint32_t i;

	cj_strbuf_init(&b, el->ds->arena);
	for (i = 0; i < c->params->count; i++) {
		const struct cj_node *p = c->params->at[i];

		cj_strbuf_printf(&b, "%s%s", i == 0 ? "" : ", ",
		    cj_elab_name(el, p->param.name.name));
		if (p->param.init != NULL)
			cj_strbuf_printf(&b, " = %s",
			    cj_elab_source_text(el, p->param.init->span));
	}
	cj_help(d, "It is called as %s(%s).", c->name, b.text);
}

static bool
too_many(struct cj_elab *el, const struct callee *c,
    const struct cj_args *args)
{
	struct cj_diag *d;

	if (args->count <= c->params->count)
		return false;
	d = cj_elab_report(el, CJ_DIAG_WRONG_ARGUMENTS, args->span,
	    "\"%s\" takes %u argument%s, there %s %u", c->name,
	    c->params->count, c->params->count == 1 ? "" : "s",
	    args->count == 1 ? "is" : "are", args->count);
	cj_note(d, c->f->node->span, "it is declared here");
	help_form(el, d, c);
	return true;
}

/* As many as there are: no parameter. */
static uint32_t
parameter_of(const struct callee *c, cj_name name)
{
	uint32_t k;

	for (k = 0; k < c->params->count; k++)
		if (c->params->at[k]->param.name.name == name)
			break;
	return k;
}

static bool
check_named(struct cj_elab *el, const struct callee *c,
    const struct cj_args *args)
{
	CJ_VEC(const char *) words = { 0 };
	struct cj_diag *d;
	const char *near;
	uint32_t i, k;

	for (i = 0; i < args->named_count; i++) {
		k = parameter_of(c, args->named[i].name);
		if (k < c->params->count && k >= args->count)
			continue;
		if (k < args->count) {
			cj_elab_error(el, CJ_DIAG_WRONG_ARGUMENTS,
			    args->named[i].span, "\"%s\" is given twice: "
			    "argument %u is it, too", cj_elab_name(el,
			    args->named[i].name), k + 1);
			return false;
		}
		for (k = 0; k < c->params->count; k++)
			*cj_push(el->arena, &words) = cj_elab_name(el,
			    c->params->at[k]->param.name.name);
		d = cj_elab_report(el, CJ_DIAG_WRONG_ARGUMENTS,
		    args->named[i].span, "\"%s\" has no parameter \"%s\"",
		    c->name, cj_elab_name(el, args->named[i].name));
		near = cj_nearest(cj_elab_name(el, args->named[i].name),
		    words.at, words.len);
		if (near != NULL)
			cj_help(d, "Did you mean \"%s\"?", near);
		else
			help_form(el, d, c);
		return false;
	}
	return true;
}

/* The argument for parameter i, its default, or an error. */
static struct cj_value
argument_for(struct cj_elab *el, const struct callee *c, uint32_t i,
    struct cj_args *args, struct cj_span *span)
{
	const struct cj_node *p = c->params->at[i];
	uint32_t k;

	*span = args->span;
	if (i < args->count) {
		if (args->spans != NULL)
			*span = args->spans[i];
		return args->at[i];
	}
	for (k = 0; k < args->named_count; k++)
		if (args->named[k].name == p->param.name.name) {
			*span = args->named[k].span;
			return args->named[k].value;
		}
	if (p->param.init != NULL)
		return cj_elab_expr(el, p->param.init);
	cj_note(cj_elab_report(el, CJ_DIAG_WRONG_ARGUMENTS, args->span,
	    "\"%s\" has no argument for \"%s\"", c->name,
	    cj_elab_name(el, p->param.name.name)), p->span,
	    "the parameter is declared here");
	return cj_value_error();
}

static bool
is_in_domain(struct cj_elab *el, const struct callee *c,
    const struct cj_node *p, struct cj_value v, struct cj_span span)
{
	bool inside;

	if (!cj_elab_in_domain(el, p->param.domain, v, &inside))
		return false;
	if (inside)
		return true;
	cj_note(cj_elab_report(el, CJ_DIAG_WRONG_ARGUMENTS, span,
	    "\"%s\" of \"%s\" is not in %s: it is %s",
	    cj_elab_name(el, p->param.name.name), c->name,
	    cj_elab_source_text(el, p->param.domain->span),
	    cj_value_text(el, &v)), p->span,
	    "the parameter is declared here");
	return false;
}

static struct cj_value
checked(struct cj_elab *el, const struct callee *c, const struct cj_node *p,
    struct cj_value v, struct cj_span span)
{
	struct cj_value type;
	struct cj_env *inner;
	struct cj_diag *d;

	if (v.kind == CJ_VALUE_ERROR)
		return v;
	if (p->param.mode == CJ_MODE_CONST && !cj_value_is_known(&v)) {
		d = cj_elab_report(el, CJ_DIAG_NOT_KNOWN, span,
		    "\"%s\" of \"%s\" must be known at compile time, this is "
		    "%s", cj_elab_name(el, p->param.name.name), c->name,
		    cj_value_what(el, &v));
		cj_note(d, p->span, "the parameter is declared here");
		inner = el->env;
		el->env = c->caller;
		cj_elab_note_origin(el, d, &v, NULL);
		el->env = inner;
		return cj_value_error();
	}
	if (p->param.mode == CJ_MODE_VAR && v.kind != CJ_VALUE_PLACE &&
	    v.kind != CJ_VALUE_TUPLE && v.kind != CJ_VALUE_TENSOR)
		return cj_elab_error(el, CJ_DIAG_WRONG_PLACE, span,
		    "\"%s\" of \"%s\" is passed in and out: a \"var\" is "
		    "needed, this is %s", cj_elab_name(el,
		    p->param.name.name), c->name, cj_value_what(el, &v));
	if (p->param.mode == CJ_MODE_CONST &&
	    !is_in_domain(el, c, p, v, span))
		return cj_value_error();
	if (p->param.type == NULL || p->param.mode == CJ_MODE_VAR)
		return v;
	type = cj_elab_memory_type(el, p->param.type);
	return type.kind == CJ_VALUE_ERROR ? type :
	    cj_elab_coerce_type(el, span, type.type, v);
}

static bool
bind_parameters(struct cj_elab *el, const struct callee *c,
    struct cj_args *args)
{
	bool ok = true;
	uint32_t i;

	for (i = 0; i < c->params->count; i++) {
		const struct cj_node *p = c->params->at[i];
		struct cj_span span;
		struct cj_value v = argument_for(el, c, i, args, &span);

		v = checked(el, c, p, v, span);
		ok = ok && v.kind != CJ_VALUE_ERROR;
		cj_env_bind(el, p->param.name.name,
		    p->param.mode == CJ_MODE_CONST ? CJ_BOUND_CONST :
		    p->param.mode == CJ_MODE_VAR ? CJ_BOUND_VAR :
		    CJ_BOUND_LET, v, p->param.name.span);
	}
	return ok;
}

/* ---- the body ------------------------------------------------------------ */

/* A return that stands under something that run time decides. */
static bool
returns_early(const struct cj_node *n, bool is_inside)
{
	uint32_t i;

	switch ((unsigned)n->kind) {
	case CJ_NODE_RETURN:
		return is_inside;
	case CJ_NODE_BLOCK:
		for (i = 0; i < n->block.stmts.count; i++)
			if (returns_early(n->block.stmts.at[i], is_inside))
				return true;
		return false;
	case CJ_NODE_IF:
		for (i = 0; i < n->if_stmt.arms.count; i++) {
			const struct cj_node *arm = n->if_stmt.arms.at[i];

			is_inside = is_inside || !arm->arm.is_const;
			if (returns_early(arm->arm.body, is_inside))
				return true;
		}
		return n->if_stmt.otherwise != NULL &&
		    returns_early(n->if_stmt.otherwise, is_inside);
	case CJ_NODE_PRODUCE: case CJ_NODE_CONSUME:
		return returns_early(n->stage.body, is_inside);
	case CJ_NODE_FOR:
		return returns_early(n->for_stmt.body, true);
	case CJ_NODE_WHILE:
		return returns_early(n->while_stmt.body, true);
	}
	return false;
}

/* The body of a kernel or test: "return" leaves it. */
void
cj_elab_body(struct cj_elab *el, const struct cj_node *body)
{
	struct cj_jump j = { .kind = CJ_JUMP_FUNCTION, .outer = el->jump,
	    .depth = el->jump == NULL ? 1 : el->jump->depth + 1,
	    .is_body = true };
	bool scoped = returns_early(body, true);
	cj_region outer = 0;

	if (scoped) {
		j.breaks = cj_emit0(&el->em->b, CJ_OP_SCOPE, 0, 0);
		outer = cj_elab_enter(el, j.breaks, NULL);
	}
	el->jump = &j;
	cj_elab_block(el, body);
	el->jump = j.outer;
	el->left = 0;
	if (scoped)
		cj_elab_leave(el, outer);
}

static struct cj_value
run_block(struct cj_elab *el, const struct callee *c, struct cj_jump *j)
{
	bool scoped = el->em != NULL && returns_early(c->body, false);
	uint32_t errors = el->errors;
	cj_region outer = 0;

	j->kind = CJ_JUMP_FUNCTION;
	j->outer = el->jump;
	j->depth = el->jump == NULL ? 1 : el->jump->depth + 1;
	if (scoped) {
		j->home = el->em->b.region;
		j->breaks = cj_emit0(&el->em->b, CJ_OP_SCOPE, 0, 0);
		outer = cj_elab_enter(el, j->breaks, NULL);
	}
	el->jump = j;
	cj_elab_block(el, c->body);
	el->jump = j->outer;
	if (scoped)
		cj_elab_leave(el, outer);
	if (el->has_ended)
		return cj_value_error();
	if (el->left == 0 && j->has_result && j->result.kind !=
	    CJ_VALUE_NONE && j->result.kind != CJ_VALUE_ERROR)
		cj_elab_error(el, CJ_DIAG_NO_RESULT, c->body->span,
		    "some way through \"%s\" ends without a \"return\"",
		    c->name);
	if (el->left == 0 && !j->has_result && c->result != NULL) {
		if (el->errors == errors)
			cj_elab_error(el, CJ_DIAG_NO_RESULT, c->body->span,
			    "\"%s\" ends without the \"return\" of %s",
			    c->name, cj_elab_source_text(el,
			    c->result->span));
		return cj_value_error();
	}
	el->left = 0;
	if (!j->has_result)	/* what was wrong may have been on the way */
		return el->errors == errors ? cj_value_none() :
		    cj_value_error();
	return scoped ? cj_elab_read(el, c->body->span, j->result) :
	    j->result;
}

static struct cj_value
run_body(struct cj_elab *el, const struct callee *c, struct cj_span span)
{
	struct cj_jump j = { .type = cj_value_none() };
	struct cj_value v;

	if (c->f->node->kind == CJ_NODE_FN && c->f->node->fn.is_extern &&
	    (c->body == NULL || el->time == CJ_TIME_DEVICE))
		return cj_elab_extern_call(el, c->f, span);
	if (c->result != NULL) {
		j.type = cj_elab_type_expr(el, c->result);
		if (j.type.kind == CJ_VALUE_ERROR)
			return j.type;
	}
	if (c->body->kind == CJ_NODE_BLOCK)
		return run_block(el, c, &j);
	v = cj_elab_expr(el, c->body);
	return c->result == NULL ? v :
	    cj_elab_coerce_type(el, c->body->span, j.type.type, v);
}

bool
cj_elab_has_room(struct cj_elab *el, struct cj_span span)
{
	if (el->has_ended)
		return false;
	if (el->m->insts.len < CJ_MAX_INSTS)
		return true;
	el->has_ended = true;
	cj_help(cj_elab_report(el, CJ_DIAG_LIMIT, span,
	    "the program has more than %d instructions", CJ_MAX_INSTS),
	    "Calls and static loops are copied out: use loops at run time.");
	return false;
}

static bool
is_within_limits(struct cj_elab *el, const struct callee *c,
    struct cj_span span)
{
	struct cj_diag *d;

	if (!cj_elab_has_room(el, span))
		return false;
	if (el->depth < CJ_MAX_INLINE)
		return true;
	el->has_ended = true;
	d = cj_elab_report(el, CJ_DIAG_LIMIT, span,
	    "calls of \"%s\" nest deeper than %d", c->name, CJ_MAX_INLINE);
	cj_help(d, "Functions are inlined: recursion ends under \"const "
	    "if\" alone.");
	return false;
}

static struct cj_value
call_function(struct cj_elab *el, const struct cj_function_value *f,
    struct cj_args *args)
{
	struct callee c = callee_of(el, f);
	struct cj_env *env = el->env;
	cj_place trail = el->trail;
	struct cj_value v = cj_value_error();

	assert(f->file != NULL && c.params != NULL);
	if (!is_within_limits(el, &c, args->span) || too_many(el, &c, args) ||
	    !check_named(el, &c, args))
		return v;
	el->depth++;
	el->trail = cj_module_place(el->m, args->span, trail, -1);
	el->env = CJ_NEW(el->arena, struct cj_env);
	el->env->parent = f->env;
	el->env->file = f->file;
	el->env->is_function = true;
	if (bind_parameters(el, &c, args))
		v = run_body(el, &c, args->span);
	if (el->has_ended)
		v = cj_value_error();
	el->env = env;
	el->trail = trail;
	el->depth--;
	cj_elab_at(el, args->span);
	return v;
}

/* ---- functions over arrays of a test ------------------------------------- */

struct map_call {
	struct cj_value callee;
	struct cj_args *args;
};

static struct cj_value
call_each(struct cj_elab *el, void *user, const struct cj_value *at,
    uint32_t count)
{
	const struct map_call *m = user;
	struct cj_args args = *m->args;

	args.at = at;
	args.count = count;
	return call_value(el, m->callee, &args);
}

static bool
maps_over_arrays(const struct cj_elab *el, const struct cj_value *callee,
    const struct cj_args *args)
{
	if (!cj_elab_any_array(el, args->at, args->count))
		return false;
	if (callee->kind == CJ_VALUE_FUNCTION)
		return callee->function->file->is_prelude;
	return callee->kind == CJ_VALUE_BUILTIN &&
	    (callee->builtin->flags & CJ_BUILTIN_EACH) != 0;
}

/* ---- all that can be called ---------------------------------------------- */

static bool
check_time(struct cj_elab *el, const struct cj_builtin *b,
    struct cj_span span)
{
	const char *where = NULL;

	if ((b->flags & CJ_BUILTIN_TEST) != 0 && el->time != CJ_TIME_TEST)
		where = "tests and benches";
	if ((b->flags & CJ_BUILTIN_DEVICE) != 0 && el->time != CJ_TIME_DEVICE)
		where = "device code";
	if ((b->flags & CJ_BUILTIN_HOST) != 0 && el->time != CJ_TIME_HOST)
		where = "the host part of a kernel";
	if (where == NULL)
		return true;
	cj_elab_error(el, CJ_DIAG_WRONG_TIME, span, "\"%s\" belongs to %s",
	    b->name, where);
	return false;
}

static struct cj_value
call_type(struct cj_elab *el, const struct cj_type_value *t,
    struct cj_args *args)
{
	uint32_t how = 0;

	if (t->is_type || t->is_fn || t->is_tensor || t->is_tuple ||
	    args->count != 1)
		return cj_elab_error(el, CJ_DIAG_WRONG_ARGUMENTS, args->span,
		    "a conversion is T(x) for one value x");
	if (!cj_elab_conversion(el, args, t->scalar, &how))
		return cj_value_error();
	return cj_elab_convert(el, args->span, t->scalar, args->at[0], how);
}

/* L(2, _): the modes beside _, with the value at the rest of c inside. */
static struct cj_value
part_of_layout(struct cj_elab *el, struct cj_span span,
    const struct cj_layout *l, const struct cj_tuple *c)
{
	const struct cj_tuple *offset;
	const struct cj_layout *rest;

	if (!cj_layout_slice(&el->al, l, c, &rest, &offset))
		return cj_elab_refused(el, span, "layout");
	if (offset->kind != CJ_TUPLE_INT || !cj_is_value(offset->value, 0))
		rest = cj_layout_view(&el->al, l, c);
	return cj_value_layout(rest);
}

static struct cj_value
call_layout(struct cj_elab *el, const struct cj_layout *l,
    struct cj_args *args)
{
	struct cj_value c = args->count == 1 ? args->at[0] :
	    cj_value_tuple(el, args->at, NULL, args->count);
	const struct cj_tuple *coord = cj_value_to_tuple(el, args->span, &c);
	const struct cj_tuple *at;

	if (coord == NULL)
		return cj_value_error();
	if ((coord->has & CJ_HAS_ANY) != 0)
		return part_of_layout(el, args->span, l, coord);
	at = cj_layout_at(&el->al, l, coord);
	return at == NULL ? cj_elab_refused(el, args->span, "layout") :
	    cj_value_from_tuple(el, at);
}

/* .lanes(8): the choice and its arguments as a tuple. */
static struct cj_value
call_choice(struct cj_elab *el, struct cj_value callee,
    const struct cj_args *args)
{
	struct cj_value *at = CJ_NEWS(el->arena, struct cj_value,
	    args->count + 1);

	at[0] = callee;
	if (args->count != 0)
		memcpy(at + 1, args->at, args->count * sizeof *at);
	return cj_value_tuple(el, at, NULL, args->count + 1);
}

/* Call any callable value. */
static struct cj_value
call_value(struct cj_elab *el, struct cj_value callee, struct cj_args *args)
{
	struct map_call map = { callee, args };
	struct cj_diag *d;

	assert(args->count == 0 || args->at != NULL || args->node != NULL);
	if (args->at != NULL && maps_over_arrays(el, &callee, args))
		return cj_elab_array_map(el, args->span, args->at,
		    args->count, call_each, &map);
	switch ((unsigned)callee.kind) {
	case CJ_VALUE_ERROR:
		return callee;
	case CJ_VALUE_FUNCTION:
		return call_function(el, callee.function, args);
	case CJ_VALUE_BUILTIN:
		if (!cj_elab_check_arguments(el, callee.builtin, args) ||
		    !check_time(el, callee.builtin, args->span))
			return cj_value_error();
		return callee.builtin->run(el, args, callee.builtin);
	case CJ_VALUE_TYPE:
		return call_type(el, callee.type, args);
	case CJ_VALUE_LAYOUT:
		return call_layout(el, callee.layout, args);
	case CJ_VALUE_CHOICE:
		return call_choice(el, callee, args);
	}
	d = cj_elab_report(el, CJ_DIAG_WRONG_KIND, args->span,
	    "%s cannot be called", cj_value_what(el, &callee));
	if (callee.kind == CJ_VALUE_TUPLE)
		cj_help(d, "A layout that is written out stands in "
		    "parentheses, ((4, 8):(8, 1))(c); an element is t[i].");
	else if (callee.kind == CJ_VALUE_TENSOR)
		cj_help(d, "Elements are x[i, j].");
	return cj_value_error();
}

struct cj_value
cj_elab_call_values(struct cj_elab *el, struct cj_span span,
    struct cj_value callee, const struct cj_value *at, uint32_t count)
{
	struct cj_args args = { .span = span, .count = count, .at = at };

	return call_value(el, callee, &args);
}
