/*
 * Expectations of tests: expect, same, near, expect_error.
 *
 * `expect(a == b)` is elaborated from its tree, not from the value of the
 * condition: the region of EXPECT gives both sides for an index, so that a
 * failure can show them.
 */
#include "elab_test_priv.h"

/* ---- same and near ------------------------------------------------------- */

static enum cj_kind
bits_kind(enum cj_kind k)
{
	switch (cj_kind_bits(k)) {
	case 8: return CJ_KIND_U8;
	case 16: return CJ_KIND_U16;
	case 32: return CJ_KIND_U32;
	case 64: return CJ_KIND_U64;
	default: return k;
	}
}

/* The same bits as a number of kind `to`, of the same width. */
static struct cj_value
as_bits(struct cj_elab *el, enum cj_kind to, struct cj_value v)
{
	const struct cj_tuple *shape = cj_value_shape(&v);
	uint32_t count = cj_shape_count(shape);
	enum cj_kind from = cj_value_kind_of(&v);

	if (v.kind == CJ_VALUE_SCALAR)
		return cj_value_scalar(to, cj_kind_bits(to) == 64 ? v.bits :
		    v.bits & ((UINT64_C(1) << cj_kind_bits(to)) - 1));
	return cj_value_regs(el, to, shape, cj_emit1(&el->em->b,
	    CJ_OP_BITCAST, cj_type_of(to, count), cj_elab_ref(el, &v, from)));
}

/* What takes part in a comparison of two: literals adapt to the other. */
static enum cj_kind
common_kind(const struct cj_value *v)
{
	enum cj_kind a = cj_value_kind_of(&v[0]), b = cj_value_kind_of(&v[1]);

	if (a == CJ_KIND_VOID || v[0].kind == CJ_VALUE_INT)
		a = b;
	return a == CJ_KIND_VOID ? CJ_KIND_F64 : a;
}

static struct cj_value
same_bits(struct cj_elab *el, void *user, const struct cj_value *args,
    uint32_t count)
{
	struct cj_span span = *(struct cj_span *)user;
	enum cj_kind k = common_kind(args), to = bits_kind(k);
	struct cj_value v[2];
	unsigned i;

	assert(count == 2);
	(void)count;
	for (i = 0; i < 2; i++) {
		v[i] = cj_elab_coerce(el, span, k, args[i]);
		if (v[i].kind == CJ_VALUE_ERROR)
			return v[i];
		if (k != CJ_KIND_INDEX && k != CJ_KIND_BOOL && to != k)
			v[i] = as_bits(el, to, v[i]);
	}
	return cj_elab_binary(el, span, CJ_OPER_EQ, v[0], v[1]);
}

struct near {
	struct cj_span span;
	struct cj_value rel, abs;
};

/* |a - b| <= abs + rel |b| in f64; equal infinities and NaNs are near. */
static struct cj_value
is_near(struct cj_elab *el, void *user, const struct cj_value *args,
    uint32_t count)
{
	const struct near *n = user;
	struct cj_span s = n->span;
	struct cj_value a, b, d, tolerance, m, close, equal, nan_a, nan_b;

	assert(count == 2);
	(void)count;
	a = cj_elab_convert(el, s, CJ_KIND_F64, args[0], 0);
	b = cj_elab_convert(el, s, CJ_KIND_F64, args[1], 0);
	if (a.kind == CJ_VALUE_ERROR || b.kind == CJ_VALUE_ERROR)
		return cj_value_error();
	d = cj_elab_binary(el, s, CJ_OPER_SUB, a, b);
	d = cj_elab_apply(el, s, CJ_OP_ABS, &d, 1);
	m = cj_elab_apply(el, s, CJ_OP_ABS, &b, 1);
	tolerance = cj_elab_fma(el, s, m, n->rel, n->abs);
	close = cj_elab_binary(el, s, CJ_OPER_LE, d, tolerance);
	equal = cj_elab_binary(el, s, CJ_OPER_EQ, a, b);
	nan_a = cj_elab_binary(el, s, CJ_OPER_NE, a, a);
	nan_b = cj_elab_binary(el, s, CJ_OPER_NE, b, b);
	close = cj_elab_binary(el, s, CJ_OPER_BIT_OR, close, equal);
	return cj_elab_binary(el, s, CJ_OPER_BIT_OR, close,
	    cj_elab_binary(el, s, CJ_OPER_BIT_AND, nan_a, nan_b));
}

static struct cj_value
f64_argument(struct cj_elab *el, struct cj_args *args, const char *name)
{
	const struct cj_value *v = cj_arg_named(el, args, name);

	return cj_elab_convert(el, args->span, CJ_KIND_F64,
	    v != NULL ? *v : cj_value_real(0), 0);
}

static bool
read_near(struct cj_elab *el, struct cj_args *args, struct near *n)
{
	uint32_t i;

	for (i = 0; i < args->count; i++)
		if (args->at[i].kind == CJ_VALUE_ERROR)
			return false;
	if (args->named_count == 0) {
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_ARGUMENTS,
		    args->span, "near needs a tolerance"),
		    "Write rel = 1e-5, abs = 1e-6, or both.");
		return false;
	}
	n->span = args->span;
	n->rel = f64_argument(el, args, "rel");
	n->abs = f64_argument(el, args, "abs");
	return n->rel.kind != CJ_VALUE_ERROR && n->abs.kind != CJ_VALUE_ERROR;
}

/* ---- expect -------------------------------------------------------------- */

/* What one EXPECT looks at: the condition as a function of one or two. */
struct expectation {
	struct cj_span span;
	struct cj_value side[2];
	uint32_t count;
	cj_each *holds;
	void *user;
	struct cj_expect texts;
};

static const char *
text_of(struct cj_elab *el, struct cj_span s)
{
	const struct cj_source *src = cj_source_get(el->unit->sources,
	    s.source);

	return cj_strndup(el->arena, src->text + s.begin, s.end - s.begin);
}

struct compare {
	struct cj_span span, left, right;
	enum cj_oper oper;
};

static struct cj_value
compare(struct cj_elab *el, void *user, const struct cj_value *args,
    uint32_t count)
{
	const struct compare *c = user;

	assert(count == 2);
	(void)count;
	cj_elab_operands(el, c->span, c->left, c->right);
	return cj_elab_binary(el, c->span, c->oper, args[0], args[1]);
}

static struct cj_value
truth(struct cj_elab *el, void *user, const struct cj_value *args,
    uint32_t count)
{
	(void)el;
	(void)user;
	assert(count == 1);
	(void)count;
	return args[0];
}

static void
emit_extents(struct cj_elab *el, const struct cj_tuple *shape, cj_ref *ref,
    uint32_t rank)
{
	uint32_t i;

	if (shape == NULL)
		ref[0] = cj_emit_index(&el->em->b, 1);
	else
		for (i = 0; i < rank; i++)
			ref[i] = cj_elab_count(el, cj_tuple_get(shape, i));
}

static bool
is_number(const struct cj_value *v)
{
	return v->kind == CJ_VALUE_INT || v->kind == CJ_VALUE_REAL ||
	    v->kind == CJ_VALUE_BOOL || v->kind == CJ_VALUE_SCALAR ||
	    v->kind == CJ_VALUE_REGS || v->kind == CJ_VALUE_TENSOR;
}

/* The last instruction of the region: ok, and both sides if there are. */
static void
yield_sides(struct cj_elab *el, const struct expectation *e,
    const struct cj_value *ok, const struct cj_value *side)
{
	bool known, is_true;
	cj_ref out[3];
	uint32_t n = 1;
	enum cj_kind k;

	if (!cj_elab_condition(el, e->span, *ok, &known, &is_true, &out[0]))
		return;
	if (known)
		out[0] = cj_emit_bool(&el->em->b, is_true);
	if (e->count == 2 && is_number(&side[0]) && is_number(&side[1]) &&
	    cj_value_shape(&side[0]) == NULL &&
	    cj_value_shape(&side[1]) == NULL) {
		for (uint32_t i = 0; i < 2; i++) {
			k = cj_value_kind_of(&side[i]);
			if (side[i].kind == CJ_VALUE_BOOL)
				k = CJ_KIND_BOOL;
			if (k == CJ_KIND_VOID)
				k = common_kind(side);
			out[n++] = cj_elab_ref(el, &side[i], k);
		}
	}
	cj_emit(&el->em->b, CJ_OP_YIELD, 0, 0, out, n);
}

static void
emit_expect(struct cj_elab *el, const struct expectation *e)
{
	const struct cj_tuple *shape, *coord = NULL;
	struct cj_lane *lane;
	struct cj_value v[2], ok;
	cj_ref extents[64], op, index;
	cj_region outer;
	uint32_t rank, i;
	struct cj_int at;

	lane = cj_elab_lanes(el, e->span, e->side, e->count, &shape);
	if (lane == NULL)
		return;
	rank = shape == NULL ? 1 : cj_tuple_rank(shape);
	if (rank > CJ_LENGTH(extents)) {
		cj_elab_report(el, CJ_DIAG_LIMIT, e->span,
		    "expect takes arrays of up to %zu modes",
		    CJ_LENGTH(extents));
		return;
	}
	emit_extents(el, shape, extents, rank);
	*cj_push(el->arena, &el->m->expects) = e->texts;
	op = cj_emit(&el->em->b, CJ_OP_EXPECT, 0, el->m->expects.len - 1,
	    extents, rank);
	outer = cj_elab_enter(el, op, &index);
	at = cj_elab_symbol(el, index, "i", 0, INT64_MAX, 1);
	if (shape != NULL) {
		cj_elab_symbol_below(el, at,
		    cj_tuple_product(&el->al, shape));
		coord = cj_idx2crd(&el->al, at, shape);
	}
	for (i = 0; i < e->count; i++)
		v[i] = cj_elab_lane_at(el, e->span, &lane[i], coord);
	ok = e->holds(el, e->user, v, e->count);
	if (ok.kind != CJ_VALUE_ERROR)
		yield_sides(el, e, &ok, v);
	cj_elab_leave(el, outer);
}

static bool
is_comparison(enum cj_oper op)
{
	return op == CJ_OPER_EQ || op == CJ_OPER_NE || op == CJ_OPER_LT ||
	    op == CJ_OPER_LE || op == CJ_OPER_GT || op == CJ_OPER_GE;
}

/* Evaluate both sides; false: reported. */
static bool
read_sides(struct cj_elab *el, struct expectation *e,
    const struct cj_node *left, const struct cj_node *right)
{
	e->count = 2;
	e->side[0] = cj_elab_expr(el, left);
	e->side[1] = cj_elab_expr(el, right);
	e->texts.left = text_of(el, left->span);
	e->texts.right = text_of(el, right->span);
	return e->side[0].kind != CJ_VALUE_ERROR &&
	    e->side[1].kind != CJ_VALUE_ERROR;
}

/* Is `n` a call of the built-in name? */
static bool
calls(struct cj_elab *el, const struct cj_node *n, const char *name)
{
	struct cj_value v;

	if (n->kind != CJ_NODE_CALL || n->call.callee->kind != CJ_NODE_NAME ||
	    n->call.callee->name.name != cj_elab_intern(el, name))
		return false;
	v = cj_elab_lookup(el, n->call.callee->name.name,
	    n->call.callee->span);
	return v.kind == CJ_VALUE_BUILTIN;
}

/* The named items of near(a, b, rel = r, abs = a) as arguments. */
static bool
near_arguments(struct cj_elab *el, const struct cj_node *call,
    struct near *n)
{
	const struct cj_list *items = &call->call.items;
	struct cj_args args = { 0 };
	uint32_t i;

	args.span = call->span;
	args.named = CJ_NEWS(el->arena, struct cj_named_arg, items->count);
	for (i = 2; i < items->count; i++) {
		const struct cj_node *item = items->at[i];
		struct cj_named_arg *a = &args.named[args.named_count];

		if (item->kind != CJ_NODE_NAMED ||
		    (item->named.name.name != cj_elab_intern(el, "rel") &&
		    item->named.name.name != cj_elab_intern(el, "abs"))) {
			cj_help(cj_elab_report(el, CJ_DIAG_WRONG_ARGUMENTS,
			    item->span,
			    "near takes two values, rel and abs"),
			    "It is called as near(a, b [, rel = r] "
			    "[, abs = a]).");
			return false;
		}
		a->name = item->named.name.name;
		a->span = item->span;
		a->value = cj_elab_expr(el, item->named.value);
		if (a->value.kind == CJ_VALUE_ERROR)
			return false;
		args.named_count++;
	}
	return read_near(el, &args, n);
}

static bool
has_two_sides(const struct cj_node *n)
{
	const struct cj_list *items = &n->call.items;

	if (n->kind != CJ_NODE_CALL)
		return false;
	return items->count >= 2 && items->at[0]->kind != CJ_NODE_NAMED &&
	    items->at[1]->kind != CJ_NODE_NAMED &&
	    items->at[0]->kind != CJ_NODE_SPREAD &&
	    items->at[1]->kind != CJ_NODE_SPREAD;
}

struct cj_value
cj_builtin_expect(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_node *n = args->node->call.items.at[0];
	struct expectation e = { 0 };
	struct compare c;
	struct near near;

	(void)row;
	e.span = n->span;
	e.texts.text = text_of(el, n->span);
	if (n->kind == CJ_NODE_BINARY && is_comparison(n->binary.oper)) {
		c.span = n->span;
		c.left = n->binary.left->span;
		c.right = n->binary.right->span;
		c.oper = n->binary.oper;
		e.holds = compare;
		e.user = &c;
		if (!read_sides(el, &e, n->binary.left, n->binary.right))
			return cj_value_none();
	} else if (has_two_sides(n) && calls(el, n, "same")) {
		e.holds = same_bits;
		e.user = &e.span;
		if (!read_sides(el, &e, n->call.items.at[0],
		    n->call.items.at[1]))
			return cj_value_none();
	} else if (has_two_sides(n) && calls(el, n, "near")) {
		e.holds = is_near;
		e.user = &near;
		if (!read_sides(el, &e, n->call.items.at[0],
		    n->call.items.at[1]) || !near_arguments(el, n, &near))
			return cj_value_none();
	} else {
		e.holds = truth;
		e.count = 1;
		e.side[0] = cj_elab_expr(el, n);
		if (e.side[0].kind == CJ_VALUE_ERROR)
			return cj_value_none();
		if (!is_number(&e.side[0])) {
			cj_elab_report(el, CJ_DIAG_WRONG_KIND, n->span,
			    "expect needs a condition, this is %s",
			    cj_value_what(el, &e.side[0]));
			return cj_value_none();
		}
	}
	emit_expect(el, &e);
	return cj_value_none();
}

/* ---- the same as values -------------------------------------------------- */

struct cj_value
cj_builtin_same(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	(void)row;
	return cj_elab_array_map(el, args->span, args->at, args->count,
	    same_bits, &args->span);
}

struct cj_value
cj_builtin_near(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	struct near n;

	(void)row;
	if (!read_near(el, args, &n))
		return cj_value_error();
	return cj_elab_array_map(el, args->span, args->at, args->count,
	    is_near, &n);
}

/* ---- expect_error -------------------------------------------------------- */

/* Every launch that the function made must be refused with the text. */
static uint32_t
expect_refusals(struct cj_elab *el, uint32_t from, const char *text)
{
	uint32_t i, found = 0;

	for (i = from; i < el->m->calls.len; i++) {
		if (el->m->calls.at[i].refusal == NULL) {
			el->m->calls.at[i].refusal = text;
			found++;
		}
	}
	return found;
}

/*
 * expect_error("text", fn() { ... }): the text of the function, or each launch
 * in it, is refused with a message that has the text in it. A function that is
 * refused while it is elaborated leaves nothing behind: what it emitted stands
 * in a region that never runs.
 */
struct cj_value
cj_builtin_expect_error(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_list *items = &args->node->call.items;
	struct cj_diags *outer_ds = el->ds, ds;
	struct cj_value text, f;
	uint32_t calls_before = el->m->calls.len, errors = el->errors;
	cj_ref condition, guard;
	cj_region outer;
	bool refused;

	(void)row;
	text = cj_elab_expr(el, items->at[0]);
	f = cj_elab_expr(el, items->at[1]);
	if (text.kind != CJ_VALUE_STRING || f.kind != CJ_VALUE_FUNCTION)
		return cj_elab_error(el, CJ_DIAG_WRONG_ARGUMENTS, args->span,
		    "expect_error needs a text and a function");
	condition = cj_emit_bool(&el->em->b, true);
	guard = cj_emit(&el->em->b, CJ_OP_IF, 0, 0, &condition, 1);
	outer = cj_elab_enter(el, guard, NULL);
	cj_diags_init(&ds, el->arena, outer_ds->sources);
	el->ds = &ds;
	cj_elab_call_values(el, args->span, f, NULL, 0);
	el->ds = outer_ds;
	refused = ds.errors != 0;
	el->errors = errors;
	el->has_ended = false;
	el->left = 0;
	cj_elab_leave(el, outer);
	if (refused) {
		cj_inst_remove(el->m, el->em->b.region, guard);
		if (!cj_diag_mentions(ds.first, text.text->bytes))
			cj_note(cj_elab_report(el, CJ_DIAG_EXPECT_ERROR,
			    args->span, "the message does not have \"%s\" in "
			    "it", text.text->bytes), ds.first->span, "%s",
			    ds.first->text);
	} else if (expect_refusals(el, calls_before, text.text->bytes) == 0) {
		cj_elab_report(el, CJ_DIAG_EXPECT_ERROR, args->span,
		    "nothing was refused with \"%s\"", text.text->bytes);
	}
	return cj_value_none();
}
