/*
 * Functions of the program: parameters, and the inlined body.
 *
 * A body whose returns all stand where elaboration arrives at most once needs
 * no region. Else it is a scope that returns leave, with the result in slots.
 */
#include "elab_origin.h"

enum { CJ_MAX_INSTS = 1000000 };

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

struct cj_value
cj_elab_call_function(struct cj_elab *el, const struct cj_function_value *f,
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
