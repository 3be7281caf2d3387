/*
 * `if`, as a statement and as a value, and `&&` `||`.
 *
 * A condition that is known chooses while elaborating. Otherwise both arms are
 * regions of one IF; what the arms give meets in a yield, or, for tuples, in
 * slots.
 */
#include "elab_priv.h"

cj_region
cj_elab_enter(struct cj_elab *el, cj_ref owner, cj_ref *index)
{
	cj_region outer = el->em->b.region;

	assert(owner != 0 && outer != 0);
	el->em->b.region = cj_region_add(&el->em->b, owner, index);
	return outer;
}

void
cj_elab_leave(struct cj_elab *el, cj_region outer)
{
	el->em->b.region = outer;
}

/* ---- meeting of two arms ------------------------------------------------- */

struct arm {
	cj_region region;
	struct cj_value v;
};

static struct cj_value merge(struct cj_elab *el, struct cj_span span,
    cj_ref owner, const struct arm *a, const struct arm *b);

static struct cj_value
merge_tuples(struct cj_elab *el, struct cj_span span, const struct arm *a,
    const struct arm *b)
{
	uint32_t count = a->v.tuple->count, i;
	struct cj_value *at = CJ_NEWS(el->arena, struct cj_value, count + 1);

	for (i = 0; i < count; i++) {
		struct arm x = { a->region, a->v.tuple->at[i] };
		struct arm y = { b->region, b->v.tuple->at[i] };

		at[i] = merge(el, span, 0, &x, &y);
		if (at[i].kind == CJ_VALUE_ERROR)
			return at[i];
	}
	return cj_value_tuple(el, at, a->v.tuple->names, count);
}

static struct cj_value
differ(struct cj_elab *el, struct cj_span span, const struct arm *a,
    const struct arm *b)
{
	if (a->v.kind == CJ_VALUE_ERROR || b->v.kind == CJ_VALUE_ERROR)
		return cj_value_error();
	return cj_elab_error(el, CJ_DIAG_WRONG_KIND, span,
	    "the arms give %s and %s, and only run time knows which",
	    cj_value_what(el, &a->v), cj_value_what(el, &b->v));
}

/* The kind that both values take; VOID: there is none. */
static enum cj_kind
kind_of_both(const struct cj_value *a, const struct cj_value *b)
{
	enum cj_kind x = cj_value_kind_of(a), y = cj_value_kind_of(b);
	bool x_adapts = a->kind == CJ_VALUE_REAL ||
	    (a->kind == CJ_VALUE_INT && cj_is_known(a->i));
	bool y_adapts = b->kind == CJ_VALUE_REAL ||
	    (b->kind == CJ_VALUE_INT && cj_is_known(b->i));

	if (x_adapts && y_adapts)
		return a->kind == CJ_VALUE_REAL || b->kind == CJ_VALUE_REAL ?
		    CJ_KIND_F32 : CJ_KIND_INDEX;
	return x_adapts ? y : y_adapts ? x : x == y ? x : CJ_KIND_VOID;
}

/* In the arm's region: its value as `k` of `shape`. */
static cj_ref
arm_ref(struct cj_elab *el, struct cj_span span, const struct arm *a,
    enum cj_kind k, const struct cj_tuple *shape)
{
	cj_region saved = el->em->b.region;
	struct cj_value v;
	cj_ref r = 0;

	assert(a->region != 0 && "the arm was a region");
	el->em->b.region = a->region;
	v = cj_elab_coerce(el, span, k, a->v);
	if (v.kind != CJ_VALUE_ERROR)
		v = cj_elab_broadcast(el, span, v, shape);
	if (v.kind != CJ_VALUE_ERROR)
		r = cj_elab_ref(el, &v, k);
	el->em->b.region = saved;
	return r;
}

static void
emit_in(struct cj_elab *el, cj_region region, enum cj_op op, uint32_t attr,
    cj_ref r)
{
	cj_region saved = el->em->b.region;

	el->em->b.region = region;
	cj_emit(&el->em->b, op, 0, attr, &r, 1);
	el->em->b.region = saved;
}

/* Through a slot: set in both arms, read behind. */
static cj_ref
through_slot(struct cj_elab *el, const struct arm *a, cj_ref x,
    const struct arm *b, cj_ref y)
{
	cj_type t = cj_inst(el->m, x)->type;
	struct cj_object o = { .kind = CJ_OBJECT_SLOT,
	    .element = cj_type_kind(t), .extent = cj_type_count(t),
	    .align = 1, .reads = true, .writes = true,
	    .region = el->em->b.region, .name = "if",
	    .place = el->em->b.place };
	struct cj_access access = { 0 };

	assert(t == cj_inst(el->m, y)->type && "one type in both arms");
	access.object = cj_module_object(el->m, &o);
	emit_in(el, a->region, CJ_OP_SLOT_SET,
	    cj_module_access(el->m, &access), x);
	emit_in(el, b->region, CJ_OP_SLOT_SET,
	    cj_module_access(el->m, &access), y);
	return cj_emit0(&el->em->b, CJ_OP_SLOT_GET, t,
	    cj_module_access(el->m, &access));
}

static struct cj_value
merge_ints(struct cj_elab *el, cj_ref r, const struct cj_value *a,
    const struct cj_value *b)
{
	struct cj_range x = cj_int_range(&el->sym, a->i);
	struct cj_range y = cj_int_range(&el->sym, b->i);

	return cj_value_int(cj_elab_symbol(el, r, NULL,
	    x.lo < y.lo ? x.lo : y.lo, x.hi > y.hi ? x.hi : y.hi, 1));
}

static struct cj_value
merge_numbers(struct cj_elab *el, struct cj_span span, cj_ref owner,
    const struct arm *a, const struct arm *b)
{
	enum cj_kind k = kind_of_both(&a->v, &b->v);
	const struct cj_value both[2] = { a->v, b->v };
	const struct cj_tuple *shape;
	cj_ref x, y, r = owner;

	if (k == CJ_KIND_VOID)
		return differ(el, span, a, b);
	if (!cj_elab_common_shape(el, span, both, 2, &shape))
		return cj_value_error();
	x = arm_ref(el, span, a, k, shape);
	y = arm_ref(el, span, b, k, shape);
	if (x == 0 || y == 0)
		return cj_value_error();
	if (owner == 0) {
		r = through_slot(el, a, x, b, y);
	} else {
		emit_in(el, a->region, CJ_OP_YIELD, 0, x);
		emit_in(el, b->region, CJ_OP_YIELD, 0, y);
		cj_inst(el->m, owner)->type = cj_inst(el->m, x)->type;
	}
	if (k == CJ_KIND_INDEX && a->v.kind == CJ_VALUE_INT &&
	    b->v.kind == CJ_VALUE_INT && shape == NULL)
		return merge_ints(el, r, &a->v, &b->v);
	return cj_value_regs(el, k, shape, r);
}

/* owner: an IF whose regions end here with a yield, or 0. */
static struct cj_value
merge(struct cj_elab *el, struct cj_span span, cj_ref owner,
    const struct arm *a, const struct arm *b)
{
	if (a->v.kind == CJ_VALUE_ERROR || b->v.kind == CJ_VALUE_ERROR)
		return cj_value_error();
	if (a->v.kind == CJ_VALUE_TUPLE && b->v.kind == CJ_VALUE_TUPLE &&
	    a->v.tuple->count == b->v.tuple->count)
		return merge_tuples(el, span, a, b);
	if (cj_value_is_known(&a->v) && cj_value_same(&a->v, &b->v))
		return a->v;
	if (cj_value_is_number(&a->v) && cj_value_is_number(&b->v))
		return merge_numbers(el, span, owner, a, b);
	return differ(el, span, a, b);
}

/* An arm's value as it leaves the arm: memory is read there. */
static struct cj_value
arm_value(struct cj_elab *el, struct cj_span span, struct cj_value v)
{
	return v.kind == CJ_VALUE_TENSOR ? cj_elab_read(el, span, v) : v;
}

struct cj_value
cj_elab_if_value(struct cj_elab *el, const struct cj_node *n, uint32_t at)
{
	const struct cj_node *arm;
	struct cj_value c;
	struct arm a, b;
	bool known, truth;
	cj_region outer;
	cj_ref cond, owner;

	/* those that are known to be passed over take no stack */
	for (;; at++) {
		if (at == n->if_value.arms.count)
			return cj_elab_expr(el, n->if_value.otherwise);
		arm = n->if_value.arms.at[at];
		c = cj_elab_expr(el, arm->arm.cond);
		if (!cj_elab_condition(el, arm->arm.cond->span, c, &known,
		    &truth, &cond))
			return cj_value_error();
		if (!known)
			break;
		if (truth)
			return cj_elab_expr(el, arm->arm.body);
	}
	owner = cj_emit(&el->em->b, CJ_OP_IF, 0, 0, &cond, 1);
	outer = cj_elab_enter(el, owner, NULL);
	a.region = el->em->b.region;
	a.v = arm_value(el, arm->span, cj_elab_expr(el, arm->arm.body));
	cj_elab_leave(el, outer);
	cj_elab_enter(el, owner, NULL);
	b.region = el->em->b.region;
	b.v = arm_value(el, n->span, cj_elab_if_value(el, n, at + 1));
	cj_elab_leave(el, outer);
	return merge(el, n->span, owner, &a, &b);
}

/* ---- && and || ----------------------------------------------------------- */

/* Evaluating it costs nothing worth a branch and touches no memory. */
static bool
is_cheap(const struct cj_node *n)
{
	switch ((unsigned)n->kind) {
	case CJ_NODE_NAME: case CJ_NODE_INTEGER: case CJ_NODE_NUMBER:
	case CJ_NODE_BOOL:
		return true;
	case CJ_NODE_MEMBER:
		return is_cheap(n->member.base);
	case CJ_NODE_UNARY:
		return is_cheap(n->unary.operand);
	case CJ_NODE_BINARY:
		return is_cheap(n->binary.left) && is_cheap(n->binary.right);
	}
	return false;
}

static struct cj_value
eager(struct cj_elab *el, const struct cj_node *n, struct cj_value a,
    struct cj_value b)
{
	return cj_elab_binary(el, n->span, n->binary.oper == CJ_OPER_AND ?
	    CJ_OPER_BIT_AND : CJ_OPER_BIT_OR, a, b);
}

static struct cj_value
lazy(struct cj_elab *el, const struct cj_node *n, cj_ref cond)
{
	bool is_and = n->binary.oper == CJ_OPER_AND;
	cj_ref owner = cj_emit(&el->em->b, CJ_OP_IF, 0, 0, &cond, 1);
	cj_region outer = cj_elab_enter(el, owner, NULL);
	struct arm a = { el->em->b.region, cj_value_bool(true) };
	struct arm b = { 0, cj_value_bool(false) };
	const struct cj_value *right;

	if (is_and)
		a.v = cj_elab_expr(el, n->binary.right);
	cj_elab_leave(el, outer);
	cj_elab_enter(el, owner, NULL);
	b.region = el->em->b.region;
	if (!is_and)
		b.v = cj_elab_expr(el, n->binary.right);
	cj_elab_leave(el, outer);
	right = is_and ? &a.v : &b.v;
	if (right->kind == CJ_VALUE_ERROR)
		return *right;
	if (cj_value_kind_of(right) != CJ_KIND_BOOL)
		return cj_elab_not_condition(el, n->binary.right->span, right);
	return merge(el, n->span, owner, &a, &b);
}

static bool
is_bool_tensor(const struct cj_value *v)
{
	return v->kind == CJ_VALUE_REGS && v->regs.shape != NULL;
}

struct cj_value
cj_elab_logic(struct cj_elab *el, const struct cj_node *n,
    struct cj_value left)
{
	bool known, truth, is_and = n->binary.oper == CJ_OPER_AND;
	const struct cj_node *right = n->binary.right;
	struct cj_value v;
	cj_ref cond;

	if (left.kind == CJ_VALUE_ERROR)
		return left;
	if (is_bool_tensor(&left) || cj_elab_is_array(el, &left))
		return cj_elab_error(el, CJ_DIAG_WRONG_KIND, n->span,
		    "\"%s\" works on single conditions; \"%s\" works element "
		    "by element", is_and ? "&&" : "||", is_and ? "&" : "|");
	if (!cj_elab_condition(el, n->binary.left->span, left, &known, &truth,
	    &cond))
		return cj_value_error();
	if (known && truth != is_and)
		return cj_value_bool(truth);
	if (!known && !is_cheap(right))
		return lazy(el, n, cond);
	v = cj_elab_expr(el, right);
	if (v.kind != CJ_VALUE_ERROR && (cj_value_kind_of(&v) !=
	    CJ_KIND_BOOL || is_bool_tensor(&v)))
		return cj_elab_not_condition(el, right->span, &v);
	return known ? v : eager(el, n, left, v);
}

/* ---- the statement ------------------------------------------------------- */

/* An if at run time whose else is open. */
struct open_else {
	cj_region outer;
	unsigned left;			/* of its arm */
};

/* Both arms are regions; what follows is dead if both have left. True: the else
 * is open. */
static bool
if_at_run_time(struct cj_elab *el, const struct cj_node *n, uint32_t at,
    cj_ref cond, struct open_else *open)
{
	cj_ref owner = cj_emit(&el->em->b, CJ_OP_IF, 0, 0, &cond, 1);

	open->outer = cj_elab_enter(el, owner, NULL);
	cj_elab_block(el, n->if_stmt.arms.at[at]->arm.body);
	open->left = el->left;
	el->left = 0;
	cj_elab_leave(el, open->outer);
	if (at + 1 == n->if_stmt.arms.count && n->if_stmt.otherwise == NULL)
		return false;
	cj_elab_enter(el, owner, NULL);
	return true;
}

static void
close_else(struct cj_elab *el, const struct open_else *open)
{
	if (open->left == 0 || el->left == 0)
		el->left = 0;
	else if (open->left > el->left)
		el->left = open->left;
	cj_elab_leave(el, open->outer);
}

/* Each arm that may be taken stands in the else of the one in front of it; a
 * chain may be long, and takes no stack. Returns how many are open. */
static uint32_t
open_arms(struct cj_elab *el, const struct cj_node *n, struct open_else *open)
{
	uint32_t count = 0, at;
	bool known, truth;
	cj_ref cond;

	for (at = 0; at < n->if_stmt.arms.count; at++) {
		const struct cj_node *arm = n->if_stmt.arms.at[at];
		struct cj_value c = arm->arm.is_const ?
		    cj_elab_known(el, arm->arm.cond,
		    "the condition of \"const if\"") :
		    cj_elab_expr(el, arm->arm.cond);

		if (!cj_elab_condition(el, arm->arm.cond->span, c, &known,
		    &truth, &cond))
			return count;
		if (known && truth) {
			cj_elab_block(el, arm->arm.body);
			return count;
		}
		if (known)
			continue;
		if (!if_at_run_time(el, n, at, cond, &open[count]))
			return count;
		count++;
	}
	if (n->if_stmt.otherwise != NULL)
		cj_elab_block(el, n->if_stmt.otherwise);
	return count;
}

void
cj_elab_if(struct cj_elab *el, const struct cj_node *n)
{
	struct open_else *open = CJ_NEWS(el->arena, struct open_else,
	    n->if_stmt.arms.count);
	uint32_t count = open_arms(el, n, open);

	while (count > 0)
		close_else(el, &open[--count]);
}
