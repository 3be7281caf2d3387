/*
 * Calls: arguments, and whatever can be called.
 */
#include "elab_priv.h"

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
		return cj_elab_call_function(el, callee.function, args);
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
