/*
 * Expressions: a value for each kind of node.
 *
 * Views stay views until something needs their elements; an element of a
 * tensor and a `var` are read where they stand. cj_elab_place() is the same
 * walk without that last step.
 */
#include "base/stack.h"
#include "elab_tiled.h"
#include "elab_origin.h"

/* How deep expressions may nest, and where it is first asked how much of the
 * stack is left. */
enum { CJ_MAX_EXPR_NEST = 4000, STACK_ASKED = 48 };

/* ---- reading ------------------------------------------------------------- */

static struct cj_value
read_tuple(struct cj_elab *el, struct cj_span span,
    const struct cj_tuple_value *t)
{
	struct cj_value *at = CJ_NEWS(el->arena, struct cj_value,
	    t->count + 1);
	uint32_t i;

	for (i = 0; i < t->count; i++)
		at[i] = t->at[i].kind == CJ_VALUE_PLACE ||
		    t->at[i].kind == CJ_VALUE_TUPLE ?
		    cj_elab_read(el, span, t->at[i]) : t->at[i];
	return cj_value_tuple(el, at, t->names, t->count);
}

static bool
has_places(const struct cj_tuple_value *t)
{
	uint32_t i;

	for (i = 0; i < t->count; i++)
		if (t->at[i].kind == CJ_VALUE_PLACE ||
		    (t->at[i].kind == CJ_VALUE_TUPLE &&
		    has_places(t->at[i].tuple)))
			return true;
	return false;
}

static bool
is_element(const struct cj_value *v)
{
	return v->kind == CJ_VALUE_TENSOR &&
	    !cj_is_leaf(v->tensor->layout->shape) &&
	    v->tensor->layout->shape->rank == 0;
}

struct cj_value
cj_elab_read(struct cj_elab *el, struct cj_span span, struct cj_value v)
{
	static const struct cj_how plain;

	if (v.kind == CJ_VALUE_PLACE)
		return cj_slot_load(el, span, &v);
	if (v.kind == CJ_VALUE_TUPLE && has_places(v.tuple))
		return read_tuple(el, span, v.tuple);
	if (v.kind == CJ_VALUE_TENSOR &&
	    (is_element(&v) || !cj_elab_is_array(el, &v)))
		return cj_tensor_load(el, span, v.tensor, &plain);
	return v;
}

/* What stands in an expression: views stay, elements and variables are read. */
static struct cj_value
value_of(struct cj_elab *el, struct cj_span span, struct cj_value v)
{
	if (v.kind == CJ_VALUE_PLACE || v.kind == CJ_VALUE_TUPLE ||
	    is_element(&v))
		return cj_elab_read(el, span, v);
	return v;
}

/* ---- leaves of the tree -------------------------------------------------- */

static struct cj_value
integer(const struct cj_node *n)
{
	if (n->integer.value > INT64_MAX)
		return cj_value_scalar(CJ_KIND_U64, n->integer.value);
	return cj_value_known((int64_t)n->integer.value);
}

static struct cj_value
fn_type(struct cj_elab *el)
{
	struct cj_type_value *t = CJ_NEW(el->arena, struct cj_type_value);

	t->is_fn = true;
	return (struct cj_value){ .kind = CJ_VALUE_TYPE, .type = t };
}

static struct cj_value
lambda(struct cj_elab *el, const struct cj_node *n)
{
	struct cj_function_value *f = CJ_NEW(el->arena,
	    struct cj_function_value);

	f->node = n;
	f->env = el->env;
	assert(el->env != NULL && "a function sees names");
	f->file = el->env->file;
	return (struct cj_value){ .kind = CJ_VALUE_FUNCTION, .function = f };
}

/* ---- tuples, ranges, layouts --------------------------------------------- */

static struct cj_value
tuple(struct cj_elab *el, const struct cj_node *n)
{
	CJ_VEC(struct cj_value) at = { 0 };
	CJ_VEC(cj_name) names = { 0 };
	bool has_names = false;
	uint32_t i, k;

	if (!cj_elab_names_once(el, &n->tuple.items))
		return cj_value_error();
	for (i = 0; i < n->tuple.items.count; i++) {
		const struct cj_node *item = n->tuple.items.at[i];
		const struct cj_node *e = item;
		cj_name name = 0;
		struct cj_value v;

		if (item->kind == CJ_NODE_NAMED) {
			name = item->named.name.name;
			e = item->named.value;
			has_names = true;
		} else if (item->kind == CJ_NODE_SPREAD) {
			e = item->spread.operand;
		}
		v = cj_elab_expr(el, e);
		if (v.kind == CJ_VALUE_ERROR)
			return v;
		if (item->kind != CJ_NODE_SPREAD) {
			*cj_push(el->arena, &at) = v;
			*cj_push(el->arena, &names) = name;
			continue;
		}
		if (v.kind != CJ_VALUE_TUPLE)
			return cj_elab_error(el, CJ_DIAG_WRONG_KIND, e->span,
			    "only a tuple can be spread, this is %s",
			    cj_value_what(el, &v));
		for (k = 0; k < v.tuple->count; k++) {
			*cj_push(el->arena, &at) = v.tuple->at[k];
			*cj_push(el->arena, &names) =
			    v.tuple->names == NULL ? 0 : v.tuple->names[k];
		}
	}
	return cj_value_tuple(el, at.at, has_names ? names.at : NULL, at.len);
}

static struct cj_value
range(struct cj_elab *el, const struct cj_node *n)
{
	struct cj_range_value *r = CJ_NEW(el->arena, struct cj_range_value);
	struct cj_value a = cj_elab_expr(el, n->range.first);
	struct cj_value b = cj_elab_expr(el, n->range.last);

	if (!cj_value_to_int(el, n->range.first->span, &a, &r->first) ||
	    !cj_value_to_int(el, n->range.last->span, &b, &r->last))
		return cj_value_error();
	return (struct cj_value){ .kind = CJ_VALUE_RANGE, .range = r };
}

static struct cj_value
layout(struct cj_elab *el, const struct cj_node *n)
{
	struct cj_value a = cj_elab_expr(el, n->layout.shape);
	struct cj_value b = cj_elab_expr(el, n->layout.stride);
	const struct cj_tuple *shape, *stride;
	const struct cj_layout *l;

	shape = cj_value_to_tuple(el, n->layout.shape->span, &a);
	stride = cj_value_to_tuple(el, n->layout.stride->span, &b);
	if (shape == NULL || stride == NULL)
		return cj_value_error();
	l = cj_layout_make(&el->al, shape, stride);
	return l == NULL ? cj_elab_refused(el, n->span, "layout") :
	    cj_value_layout(l);
}

/* ---- operators ----------------------------------------------------------- */

static bool
is_product(const struct cj_node *n)
{
	return n->kind == CJ_NODE_BINARY && n->binary.oper == CJ_OPER_MUL &&
	    !n->has_parens;
}

/* acc op right, where one of them is a product of a and b. */
static struct cj_value
fused(struct cj_elab *el, struct cj_span span, enum cj_oper op,
    struct cj_value a, struct cj_value b, struct cj_value c)
{
	if (op == CJ_OPER_SUB)
		c = cj_elab_unary(el, span, CJ_OPER_NEG, c);
	return cj_elab_fma(el, span, a, b, c);
}

/* c - a * b, c + a * b */
static struct cj_value
fused_right(struct cj_elab *el, const struct cj_node *n, struct cj_value c)
{
	const struct cj_node *p = n->binary.right;
	struct cj_value a = cj_elab_expr(el, p->binary.left);
	struct cj_value b = cj_elab_expr(el, p->binary.right);

	if (n->binary.oper == CJ_OPER_SUB)
		a = cj_elab_unary(el, n->span, CJ_OPER_NEG, a);
	return cj_elab_fma(el, n->span, a, b, c);
}

static bool
is_sum(const struct cj_node *n)
{
	return n->binary.oper == CJ_OPER_ADD || n->binary.oper == CJ_OPER_SUB;
}

/*
 * The left spine, innermost first. A product whose sum comes next waits for
 * it, so that both are one operation.
 */
/* -9223372036854775808 is an int, though what stands behind "-" is none. */
static struct cj_value
unary(struct cj_elab *el, const struct cj_node *n)
{
	const struct cj_node *operand = n->unary.operand;
	const uint64_t least = UINT64_C(1) << 63;

	if (n->unary.oper != CJ_OPER_NEG || operand->kind != CJ_NODE_INTEGER ||
	    operand->integer.value < least)
		return cj_elab_unary(el, n->span, n->unary.oper,
		    cj_elab_expr(el, operand));
	if (operand->integer.value == least)
		return cj_value_known(INT64_MIN);
	return cj_elab_error(el, CJ_DIAG_INEXACT, n->span,
	    "the result of \"-\" does not fit in 64 bits");
}

static struct cj_value
binary(struct cj_elab *el, const struct cj_node *top)
{
	uint32_t count, i;
	struct cj_node **spine = cj_node_spine(el->arena,
	    (struct cj_node *)top, &count);
	struct cj_value acc = cj_elab_expr(el, spine[0]->binary.left), right;

	assert(count > 0 && spine[count - 1] == top);
	for (i = 0; i < count; i++) {
		const struct cj_node *n = spine[i];
		enum cj_oper op = n->binary.oper;

		cj_elab_at(el, n->span);
		if (op == CJ_OPER_AND || op == CJ_OPER_OR) {
			acc = cj_elab_logic(el, n, acc);
			continue;
		}
		if (is_product(n) && i + 1 < count && is_sum(spine[i + 1])) {
			right = cj_elab_expr(el, n->binary.right);
			n = spine[++i];
			acc = fused(el, n->span, n->binary.oper, acc, right,
			    cj_elab_expr(el, n->binary.right));
			continue;
		}
		if (is_sum(n) && is_product(n->binary.right)) {
			acc = fused_right(el, n, acc);
			continue;
		}
		right = cj_elab_expr(el, n->binary.right);
		cj_elab_at(el, n->span);
		cj_elab_operands(el, n->span, n->binary.left->span,
		    n->binary.right->span);
		acc = cj_elab_binary(el, n->span, op, acc, right);
	}
	return acc;
}

static struct cj_value
in_set(struct cj_elab *el, const struct cj_node *n)
{
	struct cj_value v = cj_elab_expr(el, n->in.value), any, one;
	uint32_t i;

	any = cj_value_bool(false);
	for (i = 0; i < n->in.items.count; i++) {
		one = cj_elab_binary(el, n->span, CJ_OPER_EQ, v,
		    cj_elab_expr(el, n->in.items.at[i]));
		if (one.kind == CJ_VALUE_ERROR)
			return one;
		if (any.kind == CJ_VALUE_BOOL)
			any = any.truth ? any : one;
		else
			any = cj_elab_binary(el, n->span, CJ_OPER_BIT_OR, any,
			    one);
	}
	return any;
}

/* ---- parts --------------------------------------------------------------- */

/* What is a member elsewhere, x.shape, and a function here. */
static const char *
function_for(struct cj_elab *el, cj_name name)
{
	static const char *const other[][2] = {
		{ "dtype", "element" }, { "ndim", "rank" },
		{ "dim", "rank" }, { "T", "transpose" }, { "numel", "size" },
		{ "length", "size" }, { "strides", "stride" },
	};
	const char *text = cj_elab_name(el, name);
	const struct cj_builtin *b;
	size_t i;

	for (i = 0; i < CJ_LENGTH(other); i++)
		if (strcmp(other[i][0], text) == 0)
			return other[i][1];
	b = cj_builtin_lookup(text);
	return b != NULL && b->run != NULL && b->least <= 1 && b->most >= 1 ?
	    text : NULL;
}

static void
help_members(struct cj_elab *el, struct cj_diag *d, const char *const *names,
    uint32_t count)
{
	struct cj_strbuf b;
	uint32_t i;

	if (count == 0)
		return;
	cj_strbuf_init(&b, el->arena);
	for (i = 0; i < count; i++)
		cj_strbuf_printf(&b, "%s%s", i == 0 ? "" : i + 1 == count ?
		    " and " : ", ", names[i]);
	cj_help(d, "It has %s.", b.text);
}

static struct cj_value
unknown_member(struct cj_elab *el, struct cj_span span,
    const struct cj_value *base, cj_name name)
{
	const char *function = function_for(el, name);
	struct cj_diag *d = cj_elab_report(el, CJ_DIAG_UNKNOWN_MEMBER, span,
	    "%s has no member \"%s\"", cj_value_what(el, base),
	    cj_elab_name(el, name));
	CJ_VEC(const char *) words = { 0 };
	const char *near;
	uint32_t i;

	if (function != NULL) {
		cj_help(d, "It is a function here: %s(%s).", function,
		    base->kind == CJ_VALUE_TENSOR && base->tensor->name != 0 ?
		    cj_elab_name(el, base->tensor->name) : "x");
		return cj_value_error();
	}
	if (base->kind != CJ_VALUE_TUPLE || base->tuple->names == NULL)
		return cj_value_error();
	for (i = 0; i < base->tuple->count; i++)
		if (base->tuple->names[i] != 0)
			*cj_push(el->arena, &words) =
			    cj_elab_name(el, base->tuple->names[i]);
	near = cj_nearest(cj_elab_name(el, name), words.at, words.len);
	if (near != NULL)
		cj_help(d, "Did you mean \"%s\"?", near);
	else
		help_members(el, d, words.at, words.len);
	return cj_value_error();
}

static struct cj_value
member_of(struct cj_elab *el, struct cj_span span, struct cj_value base,
    cj_name name)
{
	const struct cj_layout *tv;
	uint32_t i;

	if (base.kind == CJ_VALUE_ERROR)
		return base;
	if (base.kind == CJ_VALUE_FILE)
		return cj_elab_file_member(el, base.file, name, span);
	if (base.fragment != NULL &&
	    strcmp(cj_elab_name(el, name), "tv") == 0) {
		tv = cj_fragment_tv(el, span, base.fragment);
		return tv == NULL ? cj_value_error() : cj_value_layout(tv);
	}
	if (base.kind == CJ_VALUE_TUPLE && base.tuple->names != NULL)
		for (i = 0; i < base.tuple->count; i++)
			if (base.tuple->names[i] == name)
				return base.tuple->at[i];
	return unknown_member(el, span, &base, name);
}

static struct cj_value
coordinate(struct cj_elab *el, const struct cj_node *n)
{
	return cj_elab_expr(el, n);
}

/* y[i][j]: y[i] is an element already. */
static bool
is_index_of_element(struct cj_elab *el, const struct cj_node *n,
    const struct cj_value *base)
{
	const struct cj_node *inner = n->index.base;
	const struct cj_bound *b = inner->kind == CJ_NODE_INDEX &&
	    inner->index.base->kind == CJ_NODE_NAME ?
	    cj_env_find(el->env, inner->index.base->name.name) : NULL;
	struct cj_int size;
	uint32_t i;

	/* of a tensor, not of several */
	if (b == NULL || b->value.kind != CJ_VALUE_TENSOR ||
	    base->kind != CJ_VALUE_TENSOR)
		return false;
	for (i = 0; i < inner->index.items.count; i++)
		if (inner->index.items.at[i]->kind != CJ_NODE_INTEGER &&
		    inner->index.items.at[i]->kind != CJ_NODE_NAME)
			return false;
	size = cj_layout_size(&el->al, base->tensor->layout);
	if (!cj_is_known(size) || size.value != 1)
		return false;
	cj_help(cj_elab_report(el, CJ_DIAG_WRONG_INDEX, n->span,
	    "%s is one element", cj_elab_source_text(el, inner->span)),
	    "The coordinates of all modes stand in one index: %s[i, j].",
	    cj_elab_source_text(el, inner->index.base->span));
	return true;
}

static struct cj_value
index_node(struct cj_elab *el, const struct cj_node *n)
{
	struct cj_value base = cj_elab_place(el, n->index.base), v;
	CJ_VEC(struct cj_value) at = { 0 };
	uint32_t i, k;

	if (base.kind == CJ_VALUE_ERROR)
		return base;
	for (i = 0; i < n->index.items.count; i++) {
		const struct cj_node *item = n->index.items.at[i];

		if (item->kind != CJ_NODE_SPREAD) {
			v = coordinate(el, item);
			*cj_push(el->arena, &at) = v;
		} else {
			v = cj_elab_expr(el, item->spread.operand);
			for (k = 0; v.kind == CJ_VALUE_TUPLE &&
			    k < v.tuple->count; k++)
				*cj_push(el->arena, &at) = v.tuple->at[k];
		}
		if (v.kind == CJ_VALUE_ERROR)
			return v;
	}
	if (is_index_of_element(el, n, &base))
		return cj_value_error();
	cj_elab_at(el, n->span);
	return cj_elab_index(el, n->span, base, at.at, at.len);
}

/* ---- all kinds ----------------------------------------------------------- */

static struct cj_value
walk(struct cj_elab *el, const struct cj_node *n)
{
	switch ((unsigned)n->kind) {
	case CJ_NODE_NAME:
		return cj_elab_lookup(el, n->name.name, n->span);
	case CJ_NODE_ANY:
		return (struct cj_value){ .kind = CJ_VALUE_ANY };
	case CJ_NODE_INTEGER: return integer(n);
	case CJ_NODE_NUMBER: return cj_value_real(n->number.value);
	case CJ_NODE_STRING:
		return (struct cj_value){ .kind = CJ_VALUE_STRING,
		    .text = &n->string.text };
	case CJ_NODE_BOOL: return cj_value_bool(n->boolean.value);
	case CJ_NODE_CHOICE:
		return (struct cj_value){ .kind = CJ_VALUE_CHOICE,
		    .choice = n->choice.name.name };
	case CJ_NODE_FN_TYPE: return fn_type(el);
	case CJ_NODE_TUPLE: return tuple(el, n);
	case CJ_NODE_CALL: return cj_elab_call_node(el, n);
	case CJ_NODE_INDEX: return index_node(el, n);
	case CJ_NODE_MEMBER:
		return member_of(el, n->member.name.span,
		    cj_elab_place(el, n->member.base), n->member.name.name);
	case CJ_NODE_UNARY: return unary(el, n);
	case CJ_NODE_BINARY: return binary(el, n);
	case CJ_NODE_IN: return in_set(el, n);
	case CJ_NODE_RANGE: return range(el, n);
	case CJ_NODE_LAYOUT: return layout(el, n);
	case CJ_NODE_LAMBDA: return lambda(el, n);
	case CJ_NODE_IF_VALUE: return cj_elab_if_value(el, n, 0);
	case CJ_NODE_ERROR: return cj_value_error();
	}
	return cj_elab_error(el, CJ_DIAG_WRONG_KIND, n->span,
	    "this is not an expression here");
}

/* Threads of programs have stacks of their own sizes, often small ones. */
static bool
stack_has_room(struct cj_elab *el)
{
	if (el->nested < STACK_ASKED)
		return true;
	if (el->stack_floor == 0)
		el->stack_floor = cj_stack_floor();
	return !cj_stack_is_below(el->stack_floor);
}

static void
check_depth(struct cj_elab *el, const struct cj_node *n)
{
	if (++el->nested > CJ_MAX_EXPR_NEST) {
		el->has_ended = true;
		cj_elab_error(el, CJ_DIAG_LIMIT, n->span,
		    "calls and expressions nest deeper than %d",
		    CJ_MAX_EXPR_NEST);
	} else if (!stack_has_room(el)) {
		el->has_ended = true;
		cj_help(cj_elab_report(el, CJ_DIAG_LIMIT, n->span,
		    "calls and expressions nest deeper than the stack of this "
		    "thread has room for"), "The limit is %d, for which 8 MB "
		    "are enough: \"ulimit -s\" is of the main thread, others "
		    "have what they were made with.", CJ_MAX_EXPR_NEST);
	}
}

static struct cj_value
guarded_walk(struct cj_elab *el, const struct cj_node *n)
{
	struct cj_value v;

	if (el->has_ended)
		return cj_value_error();
	check_depth(el, n);
	cj_elab_at(el, n->span);
	v = walk(el, n);
	el->nested--;
	if (!el->sym.overflow)
		return v;
	el->sym.overflow = false;
	return cj_elab_error(el, CJ_DIAG_INEXACT, n->span,
	    "a number does not fit in 64 bits");
}

struct cj_value
cj_elab_expr(struct cj_elab *el, const struct cj_node *n)
{
	struct cj_value v = guarded_walk(el, n);

	return value_of(el, n->span, v);
}

struct cj_value
cj_elab_place(struct cj_elab *el, const struct cj_node *n)
{
	return guarded_walk(el, n);
}

struct cj_value
cj_elab_known(struct cj_elab *el, const struct cj_node *n, const char *what)
{
	struct cj_value v = cj_elab_expr(el, n);

	if (cj_value_is_known(&v))
		return v;
	cj_elab_note_origin(el, cj_elab_report(el, CJ_DIAG_NOT_KNOWN, n->span,
	    "%s must be known at compile time, this is %s", what,
	    cj_value_what(el, &v)), &v, n);
	return cj_value_error();
}

/* ---- types --------------------------------------------------------------- */

static struct cj_value
type_tuple(struct cj_elab *el, struct cj_span span, const struct cj_value *v)
{
	struct cj_type_value *t = CJ_NEW(el->arena, struct cj_type_value);
	const struct cj_type_value **at = CJ_NEWS(el->arena,
	    const struct cj_type_value *, v->tuple->count + 1);
	uint32_t i;

	for (i = 0; i < v->tuple->count; i++) {
		struct cj_value one = v->tuple->at[i];

		if (one.kind == CJ_VALUE_TUPLE)
			one = type_tuple(el, span, &one);
		if (one.kind != CJ_VALUE_TYPE)
			return cj_elab_error(el, CJ_DIAG_WRONG_KIND, span,
			    "a type is needed, this is %s",
			    cj_value_what(el, &one));
		at[i] = one.type;
	}
	t->is_tuple = true;
	t->count = v->tuple->count;
	t->at = at;
	return (struct cj_value){ .kind = CJ_VALUE_TYPE, .type = t };
}

/* tensor(mbarrier, layout): the one place where that type is named. */
struct cj_value
cj_elab_memory_type(struct cj_elab *el, const struct cj_node *n)
{
	struct cj_span outer = el->mbarriers;
	struct cj_value v;

	if (n->kind == CJ_NODE_CALL && n->call.items.count != 0 &&
	    n->call.callee->kind == CJ_NODE_NAME && strcmp(cj_elab_name(el,
	    n->call.callee->name.name), "tensor") == 0)
		el->mbarriers = n->call.items.at[0]->span;
	v = cj_elab_type_expr(el, n);
	el->mbarriers = outer;
	return v;
}

struct cj_value
cj_elab_type_expr(struct cj_elab *el, const struct cj_node *n)
{
	struct cj_value v = cj_elab_expr(el, n);

	if (v.kind == CJ_VALUE_TUPLE)
		return type_tuple(el, n->span, &v);
	if (v.kind == CJ_VALUE_TYPE || v.kind == CJ_VALUE_ERROR)
		return v;
	return cj_elab_error(el, CJ_DIAG_WRONG_KIND, n->span,
	    "a type is needed, this is %s", cj_value_what(el, &v));
}
