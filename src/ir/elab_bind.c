/*
 * Binding: the compile-time arguments of a member, from what the caller names,
 * from its tensors, from defaults.
 */
#include "elab_contract.h"

/* ---- texts of values ----------------------------------------------------- */

/* The text as one of the unit's sources: function values keep places in it.
 * Equal texts are one source. 0: too long. */
static uint32_t
source_of(struct cj_elab *el, const char *text)
{
	struct cj_sources *all = el->unit->sources;
	uint32_t i;

	assert(text != NULL);
	for (i = 1; i < all->all.len; i++)
		if (strcmp(all->all.at[i].name, "argument") == 0 &&
		    strcmp(all->all.at[i].text, text) == 0)
			return i;
	return cj_source_add(all, "argument", text, strlen(text));
}

/* Parse `text` as an expression. NULL: *why says what is wrong. */
static const struct cj_node *
parse_text(struct cj_elab *el, const char *text, const char **why)
{
	struct cj_diags *quiet = CJ_NEW(el->arena, struct cj_diags);
	uint32_t source = source_of(el, text);
	const struct cj_node *n;

	*why = "the text is too long";
	if (source == 0)
		return NULL;
	cj_diags_init(quiet, el->arena, el->unit->sources);
	n = cj_parse_value(el->arena, el->names, el->unit->sources, source,
	    quiet);
	if (n == NULL)
		*why = quiet->first->text;
	return n;
}

/* The value of an argument; false: does not fit. */
static bool
value_of_text(struct cj_contract *c, const struct cj_node *param,
    const struct cj_const_argument *g, struct cj_value *out)
{
	struct cj_elab *el = c->el;
	struct cj_diags *ds = el->ds, quiet;
	uint32_t errors;
	const char *why = NULL;
	const struct cj_node *n = parse_text(el, g->text, &why);

	cj_diags_init(&quiet, el->arena, el->unit->sources);
	if (n != NULL) {
		errors = el->errors;
		el->ds = &quiet;
		*out = cj_elab_known(el, n, g->name);
		el->ds = ds;
		el->errors = errors;
		if (out->kind != CJ_VALUE_ERROR)
			return true;
		why = quiet.first != NULL ? quiet.first->text : "wrong value";
	}
	return cj_contract_refuse(c, param->span, "%s = %s: %s", g->name,
	    g->text, why);
}

/* ---- what the arguments say ---------------------------------------------- */

static bool
is_name(const struct cj_node *n, cj_name name)
{
	return n != NULL && n->kind == CJ_NODE_NAME && n->name.name == name;
}

static bool
implied_by_modes(const struct cj_node *n, const struct cj_actual *a,
    const int64_t *numbers, cj_name name, struct cj_value *out)
{
	const struct cj_node *modes[CJ_MAX_MODES], *rest;
	uint32_t first, i;

	if (n == NULL || !cj_pattern_modes(n, a->rank, modes, &rest, &first))
		return false;
	for (i = 0; i < a->rank; i++)
		if (is_name(modes[i], name)) {
			*out = cj_value_known(numbers[i]);
			return true;
		}
	return false;
}

/* A const parameter whose name stands in a pattern is bound by the argument.
 */
static bool
implied(struct cj_contract *c, const struct cj_pattern *list, uint32_t count,
    cj_name name, struct cj_value *out)
{
	uint32_t i;

	for (i = 0; i < count && c->actuals != NULL; i++) {
		const struct cj_pattern *p = &list[i];
		const struct cj_actual *a = &c->actuals[p->number];

		if (!a->present)
			continue;
		if (p->is_array && is_name(p->count, name)) {
			*out = cj_value_known(a->count);
			return true;
		}
		if (is_name(p->type, name)) {
			*out = cj_value_type(c->el, a->kind);
			return true;
		}
		if (p->is_tensor && a->is_tensor &&
		    (implied_by_modes(p->shape, a, a->extents, name, out) ||
		    implied_by_modes(p->stride, a, a->strides, name, out)))
			return true;
	}
	return false;
}

/* ---- names of functions -------------------------------------------------- */

/* A function as a name that is equal for equal functions: its text and what
 * it sees of the names around it. */
static const char *
function_text(struct cj_elab *el, const struct cj_function_value *f)
{
	struct cj_strbuf out;
	struct cj_env *env;
	const struct cj_bound *b;

	cj_strbuf_init(&out, el->arena);
	cj_strbuf_puts(&out, cj_elab_source_text(el, f->node->span));
	for (env = f->env; env != NULL; env = env->parent)
		for (b = env->names; b != NULL; b = b->next) {
			const char *name = cj_elab_name(el, b->name);

			if (!cj_value_is_known(&b->value) ||
			    strstr(out.text, name) == NULL)
				continue;
			cj_strbuf_printf(&out, "; %s=%s", name,
			    cj_value_text(el, &b->value));
		}
	return out.text;
}

static const char *
value_text(struct cj_elab *el, const struct cj_value *v)
{
	if (v->kind == CJ_VALUE_FUNCTION)
		return function_text(el, v->function);
	return cj_value_text(el, v);
}

/* ---- const parameters ---------------------------------------------------- */

/* A value that the parameter might have, as it is written. */
static const char *
example_of(struct cj_elab *el, const struct cj_node *p)
{
	const struct cj_node *t = p->param.type;
	const char *first = cj_domain_first(el, p->param.domain);

	if (first != NULL)
		return first;
	if (t != NULL && strcmp(cj_elab_source_text(el, t->span),
	    "type") == 0)
		return "f32";
	return t != NULL && t->kind == CJ_NODE_FN_TYPE ? "max" : "4";
}

/* What the caller asked for and what the arguments have. */
static bool
agrees(const struct cj_value *asked, const struct cj_value *has)
{
	return cj_value_same(asked, has) ||
	    (asked->kind == CJ_VALUE_TYPE && has->kind == CJ_VALUE_TYPE &&
	    cj_contract_takes(asked->type->scalar, has->type->scalar));
}

static bool
const_value(struct cj_contract *c, const struct cj_node *p,
    const struct cj_pattern *list, uint32_t count, struct cj_value *out)
{
	const char *name = cj_elab_name(c->el, p->param.name.name);
	const struct cj_const_argument *g = cj_contract_argument(c, name);
	struct cj_value from_actual;
	bool has = implied(c, list, count, p->param.name.name, &from_actual);

	if (g != NULL && g->value != NULL) {
		*out = *(const struct cj_value *)g->value;
	} else if (g != NULL) {
		if (!value_of_text(c, p, g, out))
			return false;
	} else if (has) {
		*out = from_actual;
	} else if (p->param.init != NULL) {
		*out = cj_elab_known(c->el, p->param.init, "a default");
	} else {
		return cj_contract_refuse(c, p->span,
		    c->actuals != NULL ? "\"%s\" needs a value at compile "
		    "time, given by name: %s = %s" :
		    "\"%s\" needs a value at compile time, as in -D %s=%s",
		    name, name, example_of(c->el, p));
	}
	if (g == NULL || !has || agrees(out, &from_actual))
		return out->kind != CJ_VALUE_ERROR;
	return cj_contract_refuse(c, p->span,
	    "%s = %s was asked for, the arguments have %s", name,
	    cj_value_text(c->el, out), cj_value_text(c->el, &from_actual));
}

static bool
bind_const(struct cj_contract *c, const struct cj_node *p,
    const struct cj_pattern *list, uint32_t count)
{
	struct cj_elab *el = c->el;
	const char *name = cj_elab_name(el, p->param.name.name);
	struct cj_bound_name *b;
	struct cj_value v, type;

	if (!const_value(c, p, list, count, &v))
		return false;
	if (p->param.type != NULL) {
		type = cj_elab_type_expr(el, p->param.type);
		if (type.kind == CJ_VALUE_ERROR)
			return false;
		v = cj_elab_coerce_type(el, p->span, type.type, v);
	}
	if (v.kind == CJ_VALUE_ERROR)
		return false;
	if (!cj_contract_domain(c, p->param.domain, name, v))
		return false;
	b = cj_push(el->arena, &c->b->consts);
	b->name = p->param.name.name;
	b->value = v;
	cj_env_bind(el, b->name, CJ_BOUND_CONST, v, p->param.name.span);
	cj_contract_name(c, name, value_text(el, &v));
	return true;
}

static bool
bind_consts(struct cj_contract *c, const struct cj_pattern *list,
    uint32_t count)
{
	const struct cj_list *params = &c->kernel->kernel.params;
	uint32_t i;

	for (i = 0; i < params->count; i++)
		if (params->at[i]->param.mode == CJ_MODE_CONST &&
		    !bind_const(c, params->at[i], list, count))
			return false;
	return true;
}

/* ---- run-time parameters ------------------------------------------------- */

static bool
count_of(struct cj_contract *c, const struct cj_pattern *p, uint32_t *count)
{
	struct cj_value v;
	int64_t n = 1;

	*count = 1;
	if (!p->is_array)
		return true;
	if (p->count != NULL) {
		v = cj_elab_expr(c->el, p->count);
		if (!cj_value_to_known(c->el, p->count->span, &v,
		    "the number of tensors", &n))
			return false;
	}
	if (n < 1 || n > CJ_MAX_MEMBERS) {
		cj_elab_error(c->el, CJ_DIAG_CONTRACT, p->param->span,
		    "the number of tensors is 1 to %d, this is %lld",
		    CJ_MAX_MEMBERS, (long long)n);
		return false;
	}
	*count = (uint32_t)n;
	return true;
}

/* Without arguments: the pattern's rank, `*S` by "rank(S)=2". */
static bool
rank_of(struct cj_contract *c, const struct cj_pattern *p,
    struct cj_bound_param *b)
{
	const struct cj_node *rest;
	const struct cj_const_argument *g;
	const char *name;
	int64_t n;

	if (!p->is_tensor)
		return true;
	b->rank = cj_pattern_rank(p->shape, &rest);
	if (rest == NULL)
		return true;
	name = rest->spread.operand->kind == CJ_NODE_NAME ?
	    cj_printf(c->el->arena, "rank(%s)", cj_elab_name(c->el,
	    rest->spread.operand->name.name)) : "rank(_)";
	g = cj_contract_argument(c, name);
	if (g == NULL || g->text == NULL)
		return cj_contract_refuse(c, rest->span,
		    "the rank is not known: give %s", name);
	n = g->text[0] - '0';
	if (n < 0 || n > 9 || g->text[1] != '\0')
		return cj_contract_refuse(c, rest->span,
		    "%s is 0 to 9, not %s", name, g->text);
	b->rank += (uint32_t)n;
	return true;
}

static void
name_param(struct cj_contract *c, const struct cj_pattern *p,
    const struct cj_bound_param *b)
{
	const char *name = cj_elab_name(c->el, p->param->param.name.name);
	const struct cj_node *rest;
	struct cj_arena *a = c->el->arena;

	if (!b->present) {
		cj_contract_name(c, name, p->is_optional ? "none" :
		    "default");
		return;
	}
	if (!p->is_tensor)
		return;
	cj_pattern_rank(p->shape, &rest);
	if (rest != NULL)
		cj_contract_name(c, cj_printf(a, "rank(%s)", name),
		    cj_printf(a, "%u", b->rank));
	if (p->is_array)
		cj_contract_name(c, cj_printf(a, "count(%s)", name),
		    cj_printf(a, "%u", b->count));
}

/* What is left out, a tensor by "x=none", a scalar by "x=default". Where there
 * are arguments they say so. */
static bool
leave_out(struct cj_contract *c, const struct cj_pattern *p, const char *name,
    struct cj_bound_param *b)
{
	const struct cj_const_argument *g = cj_contract_argument(c, name);
	const char *word = p->is_optional ? "none" : "default";
	bool may = p->is_optional || (!p->is_tensor &&
	    p->param->param.init != NULL);

	bool says = may && g != NULL && g->text != NULL &&
	    strcmp(g->text, word) == 0;

	if (g == NULL)
		return true;
	if (c->actuals != NULL)
		return (says && !b->present) || cj_contract_refuse(c,
		    p->param->param.name.span, "%s is an argument of "
		    "each launch, where its value stands, and no compile-time "
		    "parameter", name);
	b->present = false;
	if (says)
		return true;
	if (may)
		return cj_contract_refuse(c, p->param->param.name.span,
		    "%s is an argument of each launch, of which can be said "
		    "that it is left out: %s=%s", name, name, word);
	return cj_contract_refuse(c, p->param->param.name.span,
	    p->is_tensor ? "%s is an argument, of which nothing is known but "
	    "what a pattern names, as in %s.stride0=4" : "%s is an argument "
	    "of each launch, not a compile-time parameter: declare it as "
	    "const %s", name, name);
}

static bool
bind_param(struct cj_contract *c, const struct cj_pattern *p)
{
	struct cj_bound_param *b = cj_push(c->el->arena, &c->b->params);
	const struct cj_actual *a = NULL;
	const char *name = cj_elab_name(c->el, p->param->param.name.name);

	memset(b, 0, sizeof *b);
	b->present = true;
	if (c->actuals != NULL)
		a = &c->actuals[p->number];
	if (a != NULL && !a->present) {
		b->present = false;
		if (p->param->param.init == NULL)
			return cj_contract_refuse(c, p->param->span,
			    "%s: the argument is missing", name);
	}
	if (!leave_out(c, p, name, b))
		return false;
	if (!count_of(c, p, &b->count))
		return false;
	if (a != NULL && a->present) {
		b->rank = a->rank;
		if (p->is_array && a->count != b->count)
			return cj_contract_refuse(c, p->param->span,
			    "%s: needs %u tensors, got %u", name, b->count,
			    a->count);
	} else if (!rank_of(c, p, b)) {
		return false;
	}
	name_param(c, p, b);
	return true;
}

/* ---- all ----------------------------------------------------------------- */

static bool
bind_all(struct cj_contract *c)
{
	const struct cj_pattern *list;
	uint32_t count, i;

	if (!cj_pattern_list(c->el, c->kernel, &list, &count))
		return false;
	if (c->actuals != NULL && c->actual_count != count)
		return cj_contract_refuse(c, c->kernel->kernel.name.span,
		    "%s takes %u arguments, there are %u",
		    c->b->member->kernel, count, c->actual_count);
	if (!bind_consts(c, list, count))
		return false;
	for (i = 0; i < count; i++)
		if (!bind_param(c, &list[i]))
			return false;
	return cj_contract_walk(c) && cj_contract_where(c);
}

/* A name that no const parameter and no pattern has. */
static bool
knows_name(const struct cj_contract *c, const char *name)
{
	const struct cj_list *params = &c->kernel->kernel.params;
	cj_name key = cj_elab_intern(c->el, name);
	uint32_t i;

	if (strncmp(name, "rank(", 5) == 0 ||
	    cj_env_find(c->el->env, key) != NULL)
		return true;
	for (i = 0; i < params->count; i++)
		if (params->at[i]->param.name.name == key)
			return true;
	for (i = 0; i < c->asked.len; i++)
		if (strcmp(c->asked.at[i], name) == 0)
			return true;
	return false;
}

/* "T, x, y" */
static const char *
parameter_names(const struct cj_contract *c)
{
	const struct cj_list *params = &c->kernel->kernel.params;
	struct cj_strbuf out;
	uint32_t i;

	cj_strbuf_init(&out, c->el->arena);
	for (i = 0; i < params->count; i++)
		cj_strbuf_printf(&out, "%s%s", i == 0 ? "" : ", ",
		    cj_elab_name(c->el, params->at[i]->param.name.name));
	return out.text;
}

static bool
check_given(struct cj_contract *c)
{
	uint32_t i;

	for (i = 0; i < c->given_count; i++)
		if (!knows_name(c, c->given[i].name))
			return cj_contract_refuse(c,
			    c->kernel->kernel.name.span,
			    "%s has no parameter \"%s\"; it has %s",
			    c->b->member->kernel, c->given[i].name,
			    parameter_names(c));
	return true;
}

const struct cj_binding *
cj_bind(struct cj_arena *a, const struct cj_unit *u,
    const struct cj_member_info *m, const struct cj_const_argument *consts,
    uint32_t const_count, const struct cj_actual *actuals,
    uint32_t actual_count, struct cj_diags *ds, const char **why,
    struct cj_span *span)
{
	struct cj_elab *el = CJ_NEW(a, struct cj_elab);
	struct cj_binding *b = CJ_NEW(a, struct cj_binding);
	struct cj_contract c = { .el = el, .walk = CJ_WALK_BIND,
	    .kernel = m->node, .b = b, .actuals = actuals,
	    .actual_count = actual_count, .given = consts,
	    .given_count = const_count, .why = why, .why_span = span };
	uint32_t errors = ds->errors;

	*why = NULL;
	cj_elab_init(el, a, u, NULL, ds);
	cj_strbuf_init(&c.text, a);
	cj_env_push(el);
	el->env->file = m->file;
	b->member = m;
	if (!bind_all(&c) || !check_given(&c) || el->errors != 0 ||
	    ds->errors != errors) {
		if (*why == NULL)
			*why = "the text is wrong";
		return NULL;
	}
	b->text = c.text.text;
	return b;
}

const char *
cj_binding_text(const struct cj_binding *b)
{
	return b->text;
}

/* ---- expressions of the command ------------------------------------------ */

const char *
cj_elab_expression(struct cj_arena *a, const struct cj_unit *u,
    const char *text, struct cj_diags *ds)
{
	struct cj_elab *el = CJ_NEW(a, struct cj_elab);
	uint32_t errors = ds->errors, source;
	const struct cj_node *n;
	struct cj_value v;

	cj_elab_init(el, a, u, NULL, ds);
	cj_env_push(el);
	el->env->file = u->main;
	source = cj_source_add(u->sources, "expression", text, strlen(text));
	n = source == 0 ? NULL :
	    cj_parse_value(a, u->names, u->sources, source, ds);
	if (n == NULL)
		return NULL;
	v = cj_elab_known(el, n, "the expression");
	return v.kind == CJ_VALUE_ERROR || el->errors != 0 ||
	    ds->errors != errors ? NULL :
	    cj_value_text(el, &v);
}
