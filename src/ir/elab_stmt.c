/*
 * Statements: blocks, names, assignments, and leaving.
 */
#include "elab_origin.h"

/* ---- names --------------------------------------------------------------- */

void
cj_elab_bind(struct cj_elab *el, const struct cj_node *binding,
    enum cj_binding_kind kind, struct cj_value v)
{
	uint32_t i, count;

	if (binding->kind == CJ_NODE_NAME) {
		if (v.kind == CJ_VALUE_INT)
			cj_elab_symbol_name(el, v.i, binding->name.name);
		cj_env_bind(el, binding->name.name, kind, v, binding->span);
		return;
	}
	if (binding->kind != CJ_NODE_TUPLE)
		return;		/* `_` */
	count = binding->tuple.items.count;
	if (v.kind != CJ_VALUE_ERROR && (v.kind != CJ_VALUE_TUPLE ||
	    v.tuple->count != count)) {
		cj_elab_error(el, CJ_DIAG_WRONG_KIND, binding->span,
		    "a tuple of %u is needed, this is %s", count,
		    cj_value_what(el, &v));
		v = cj_value_error();
	}
	for (i = 0; i < count; i++)
		cj_elab_bind(el, binding->tuple.items.at[i], kind,
		    v.kind == CJ_VALUE_ERROR ? v : v.tuple->at[i]);
}

static struct cj_value
coerce_tuple(struct cj_elab *el, struct cj_span span,
    const struct cj_type_value *t, const struct cj_value *v)
{
	struct cj_value *at;
	uint32_t i;

	if (v->kind != CJ_VALUE_TUPLE || v->tuple->count != t->count)
		return cj_elab_error(el, CJ_DIAG_WRONG_KIND, span,
		    "a tuple of %u is needed, this is %s", t->count,
		    cj_value_what(el, v));
	at = CJ_NEWS(el->arena, struct cj_value, t->count + 1);
	for (i = 0; i < t->count; i++)
		at[i] = cj_elab_coerce_type(el, span, t->at[i],
		    v->tuple->at[i]);
	return cj_value_tuple(el, at, v->tuple->names, t->count);
}

struct cj_value
cj_elab_coerce_type(struct cj_elab *el, struct cj_span span,
    const struct cj_type_value *t, struct cj_value v)
{
	const char *needed;

	if (v.kind == CJ_VALUE_ERROR)
		return v;
	if (t->is_tuple)
		return coerce_tuple(el, span, t, &v);
	if (t->is_type || t->is_fn) {
		if (t->is_type ? v.kind == CJ_VALUE_TYPE :
		    v.kind == CJ_VALUE_FUNCTION || v.kind ==
		    CJ_VALUE_BUILTIN)
			return v;
		needed = t->is_type ? "a type" : "a function";
		return cj_elab_error(el, CJ_DIAG_WRONG_KIND, span,
		    "%s is needed, this is %s", needed,
		    cj_value_what(el, &v));
	}
	if (!t->is_tensor)
		return cj_elab_coerce(el, span, t->scalar, v);
	if (v.kind == CJ_VALUE_TENSOR && v.tensor->element == t->scalar)
		return v;
	return cj_elab_error(el, CJ_DIAG_WRONG_KIND, span,
	    "a tensor of %s is needed, this is %s", cj_kind_text(t->scalar),
	    cj_value_what(el, &v));
}

static cj_name
only_name(const struct cj_node *binding)
{
	return binding->kind == CJ_NODE_NAME ? binding->name.name : 0;
}

/* The places of a `var`, each with the name that it is bound to. */
static struct cj_value
slots_for(struct cj_elab *el, const struct cj_node *binding,
    struct cj_value v)
{
	struct cj_value *at;
	uint32_t i;

	if (binding->kind != CJ_NODE_TUPLE || v.kind != CJ_VALUE_TUPLE ||
	    v.tuple->count != binding->tuple.items.count)
		return cj_elab_slot(el, binding->span, only_name(binding), v);
	at = CJ_NEWS(el->arena, struct cj_value, v.tuple->count + 1);
	for (i = 0; i < v.tuple->count; i++)
		at[i] = slots_for(el, binding->tuple.items.at[i],
		    v.tuple->at[i]);
	return cj_value_tuple(el, at, v.tuple->names, v.tuple->count);
}

struct cj_value
cj_elab_typed(struct cj_elab *el, const struct cj_node *n, struct cj_value v)
{
	struct cj_value type;

	if (n->let.type == NULL)
		return v;
	type = cj_elab_type_expr(el, n->let.type);
	return type.kind == CJ_VALUE_ERROR ? type : cj_elab_coerce_type(el,
	    n->let.init->span, type.type, v);
}

static void
let(struct cj_elab *el, const struct cj_node *n)
{
	const struct cj_node *b = n->let.binding;
	cj_name outer = el->naming;
	struct cj_value v;

	el->naming = b->kind == CJ_NODE_NAME ? b->name.name : 0;
	v = n->kind == CJ_NODE_CONST ?
	    cj_elab_known(el, n->let.init, "a constant") :
	    cj_elab_expr(el, n->let.init);
	el->naming = outer;
	v = cj_elab_typed(el, n, v);
	if (n->kind == CJ_NODE_VAR) {
		cj_elab_at(el, n->span);
		v = slots_for(el, n->let.binding, v);
		cj_elab_bind(el, n->let.binding, CJ_BOUND_VAR, v);
		return;
	}
	if (n->kind == CJ_NODE_LET) {
		cj_elab_at(el, n->span);
		cj_elab_settle(el, &v);
	}
	cj_elab_bind(el, n->let.binding, n->kind == CJ_NODE_LET ?
	    CJ_BOUND_LET : CJ_BOUND_CONST, v);
}

static void
nested_fn(struct cj_elab *el, const struct cj_node *n)
{
	struct cj_function_value *f = CJ_NEW(el->arena,
	    struct cj_function_value);

	*f = (struct cj_function_value){ .node = n, .env = el->env,
	    .file = el->env->file, .name = n->fn.name.name };
	cj_env_bind(el, n->fn.name.name, CJ_BOUND_CONST, (struct cj_value){
	    .kind = CJ_VALUE_FUNCTION, .function = f }, n->fn.name.span);
}

/* ---- assignment ---------------------------------------------------------- */

static struct cj_value
not_a_place(struct cj_elab *el, const struct cj_node *n,
    const struct cj_value *v)
{
	const struct cj_bound *b = n->kind == CJ_NODE_NAME ?
	    cj_env_find(el->env, n->name.name) : NULL;
	struct cj_diag *d;

	if (b == NULL)
		return cj_elab_error(el, CJ_DIAG_WRONG_PLACE, n->span,
		    "%s cannot be assigned to", cj_value_what(el, v));
	d = cj_elab_report(el, CJ_DIAG_WRONG_PLACE, n->span,
	    "\"%s\" cannot be assigned to: it is %s",
	    cj_elab_name(el, b->name),
	    b->kind == CJ_BOUND_CONST ? "a constant" : "no \"var\"");
	cj_note(d, b->span, "\"%s\" is declared here",
	    cj_elab_name(el, b->name));
	cj_help(d, "Only a \"var\" and elements of tensors change.");
	return cj_value_error();
}

static struct cj_value
place_of(struct cj_elab *el, const struct cj_node *n)
{
	struct cj_value v, *at;
	uint32_t i;

	if (n->kind == CJ_NODE_ANY)
		return (struct cj_value){ .kind = CJ_VALUE_ANY };
	if (n->kind == CJ_NODE_TUPLE) {
		at = CJ_NEWS(el->arena, struct cj_value,
		    n->tuple.items.count + 1);
		for (i = 0; i < n->tuple.items.count; i++)
			at[i] = place_of(el, n->tuple.items.at[i]);
		return cj_value_tuple(el, at, NULL, n->tuple.items.count);
	}
	v = cj_elab_place(el, n);
	if (v.kind == CJ_VALUE_ERROR || v.kind == CJ_VALUE_PLACE ||
	    v.kind == CJ_VALUE_TENSOR || v.kind == CJ_VALUE_TUPLE)
		return v;
	return not_a_place(el, n, &v);
}

static void
assign_tuple(struct cj_elab *el, struct cj_span span,
    const struct cj_tuple_value *places, const struct cj_value *v)
{
	uint32_t i;

	if (v->kind != CJ_VALUE_TUPLE || v->tuple->count != places->count) {
		cj_elab_error(el, CJ_DIAG_WRONG_KIND, span,
		    "a tuple of %u is assigned to, this is %s",
		    places->count, cj_value_what(el, v));
		return;
	}
	for (i = 0; i < places->count; i++)
		cj_elab_assign(el, span, places->at[i], v->tuple->at[i]);
}

void
cj_elab_assign(struct cj_elab *el, struct cj_span span,
    struct cj_value place, struct cj_value v)
{
	static const struct cj_how plain;
	bool is_element;

	if (place.kind == CJ_VALUE_ERROR || v.kind == CJ_VALUE_ERROR ||
	    place.kind == CJ_VALUE_ANY)
		return;
	if (!cj_fragments_agree(el, span, v.fragment, place.fragment))
		return;
	if (place.kind == CJ_VALUE_PLACE) {
		cj_slot_store(el, span, &place, v);
	} else if (place.kind == CJ_VALUE_TUPLE) {
		assign_tuple(el, span, place.tuple, &v);
	} else if (place.kind == CJ_VALUE_TENSOR) {
		is_element = !cj_is_leaf(place.tensor->layout->shape) &&
		    place.tensor->layout->shape->rank == 0;
		if (cj_elab_is_array(el, &place) && !is_element)
			cj_elab_array_assign(el, span, place.tensor, v);
		else
			cj_tensor_store(el, span, place.tensor, v, &plain);
	} else {
		cj_elab_error(el, CJ_DIAG_WRONG_PLACE, span,
		    "%s cannot be assigned to", cj_value_what(el, &place));
	}
}

static bool
is_product(const struct cj_node *n)
{
	return n->kind == CJ_NODE_BINARY && n->binary.oper == CJ_OPER_MUL &&
	    !n->has_parens;
}

/* c += a * b, c -= a * b */
static struct cj_value
updated_by_product(struct cj_elab *el, const struct cj_node *n,
    struct cj_value old)
{
	const struct cj_node *p = n->assign.value;
	struct cj_value a = cj_elab_expr(el, p->binary.left);
	struct cj_value b = cj_elab_expr(el, p->binary.right);

	if (n->assign.oper == CJ_OPER_SUB)
		a = cj_elab_unary(el, n->span, CJ_OPER_NEG, a);
	return cj_elab_fma(el, n->span, a, b, old);
}

static void
assign(struct cj_elab *el, const struct cj_node *n)
{
	struct cj_value place = place_of(el, n->assign.place), v, old;
	enum cj_oper op = n->assign.oper;

	if (place.kind == CJ_VALUE_ERROR) {
		cj_elab_expr(el, n->assign.value);
		return;
	}
	if (op == CJ_OPER_NONE) {
		v = cj_elab_expr(el, n->assign.value);
	} else if ((op == CJ_OPER_ADD || op == CJ_OPER_SUB) &&
	    is_product(n->assign.value)) {
		old = cj_elab_read(el, n->assign.place->span, place);
		v = updated_by_product(el, n, old);
	} else {
		v = cj_elab_expr(el, n->assign.value);
		cj_elab_at(el, n->span);
		old = cj_elab_read(el, n->assign.place->span, place);
		cj_elab_operands(el, n->span, n->assign.place->span,
		    n->assign.value->span);
		v = cj_elab_binary(el, n->span, op, old, v);
	}
	cj_elab_at(el, n->span);
	cj_elab_assign(el, n->span, place, v);
}

/* ---- leaving ------------------------------------------------------------- */

static struct cj_jump *
find_jump(struct cj_elab *el, enum cj_jump_kind kind)
{
	struct cj_jump *j = el->jump;

	while (j != NULL && j->kind != kind) {
		if (j->kind == CJ_JUMP_FUNCTION)
			return NULL;
		j = j->outer;
	}
	return j;
}

static void
break_stmt(struct cj_elab *el, const struct cj_node *n)
{
	struct cj_jump *j = find_jump(el, CJ_JUMP_LOOP);

	if (j == NULL) {
		cj_elab_error(el, CJ_DIAG_WRONG_TIME, n->span,
		    "there is no loop to leave here");
		return;
	}
	assert(el->left == 0 && "dead statements are not walked");
	j->was_broken = true;
	if (j->breaks != 0)
		cj_emit0(&el->em->b, CJ_OP_BREAK, 0, j->breaks);
	el->left = CJ_LEFT_BREAK(j);
}

static void
continue_stmt(struct cj_elab *el, const struct cj_node *n)
{
	struct cj_jump *j = find_jump(el, CJ_JUMP_LOOP);

	if (j == NULL) {
		cj_elab_error(el, CJ_DIAG_WRONG_TIME, n->span,
		    "there is no loop to go on with here");
		return;
	}
	if (j->continues != 0)
		cj_emit0(&el->em->b, j->continue_breaks ? CJ_OP_BREAK :
		    CJ_OP_CONTINUE, 0, j->continues);
	el->left = CJ_LEFT_CONTINUE(j);
}

/* Into the places that wait for the result behind the function's scope. */
static void
store_result(struct cj_elab *el, const struct cj_node *n, struct cj_jump *j,
    struct cj_value v)
{
	if (v.kind == CJ_VALUE_NONE || (j->has_result &&
	    j->result.kind == CJ_VALUE_NONE)) {
		if (j->has_result && j->result.kind != v.kind)
			v = cj_elab_error(el, CJ_DIAG_NO_RESULT, n->span,
			    "some ways through the function return a value, "
			    "others none");
		j->result = v;
	} else if (!j->has_result) {
		j->result = cj_elab_slot_in(el, n->span,
		    cj_elab_intern(el, "result"), v, j->home);
	} else {
		cj_elab_assign(el, n->span, j->result, v);
	}
	j->has_result = true;
}

static void
return_stmt(struct cj_elab *el, const struct cj_node *n)
{
	struct cj_jump *j = el->jump;
	struct cj_value v = cj_value_none();

	while (j != NULL && j->kind != CJ_JUMP_FUNCTION)
		j = j->outer;
	if (n->return_stmt.value != NULL)
		v = cj_elab_expr(el, n->return_stmt.value);
	cj_elab_at(el, n->span);
	if (j != NULL && j->is_launch && el->role != NULL) {
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_TIME, n->span,
		    "a role runs to its end, and is not left by \"return\""),
		    "Put a condition around what is not to be done.");
		return;
	}
	if (j == NULL || ((j->is_launch || j->is_body) &&
	    v.kind != CJ_VALUE_NONE)) {
		if (v.kind != CJ_VALUE_ERROR)
			cj_elab_error(el, CJ_DIAG_WRONG_TIME, n->span,
			    "nobody takes a result here");
		return;
	}
	if (j->is_body) {
		cj_emit0(&el->em->b, CJ_OP_BREAK, 0, j->breaks);
		el->left = CJ_LEFT_BREAK(j);
		return;
	}
	if (j->is_launch) {
		cj_emit0(&el->em->b, CJ_OP_RETURN, 0, 0);
		el->left = CJ_LEFT_BREAK(j);
		return;
	}
	if (j->type.kind == CJ_VALUE_TYPE)
		v = cj_elab_coerce_type(el, n->span, j->type.type, v);
	if (j->breaks == 0) {
		j->result = v;
		j->has_result = true;
	} else {
		store_result(el, n, j, v);
		cj_emit0(&el->em->b, CJ_OP_BREAK, 0, j->breaks);
	}
	el->left = CJ_LEFT_BREAK(j);
}

/* ---- all ----------------------------------------------------------------- */

static void
unsupported(struct cj_elab *el, const struct cj_node *n)
{
	cj_elab_error(el, CJ_DIAG_UNSUPPORTED, n->span,
	    "\"%s\" is not supported by this version",
	    cj_node_kind_text(n->kind));
}

static void
do_stmt(struct cj_elab *el, const struct cj_node *n)
{
	cj_elab_expr(el, n->do_stmt.call);
}

static void
launch_stmt(struct cj_elab *el, const struct cj_node *n)
{
	if (n->kind == CJ_NODE_LAUNCH && n->launch.body != NULL)
		cj_elab_launch(el, n);
	else if (el->time == CJ_TIME_TEST)
		cj_elab_test_call(el, n);
	else
		cj_elab_error(el, CJ_DIAG_WRONG_TIME, n->span,
		    "kernels are launched by tests and by the caller");
}

static void
stmt(struct cj_elab *el, const struct cj_node *n)
{
	cj_elab_at(el, n->span);
	cj_elab_behind_roles(el, n);
	switch ((unsigned)n->kind) {
	case CJ_NODE_BLOCK: cj_elab_block(el, n); break;
	case CJ_NODE_CONST: case CJ_NODE_LET: case CJ_NODE_VAR:
		let(el, n);
		break;
	case CJ_NODE_FN: nested_fn(el, n); break;
	case CJ_NODE_IF: cj_elab_if(el, n); break;
	case CJ_NODE_FOR: cj_elab_for(el, n); break;
	case CJ_NODE_WHILE: cj_elab_while(el, n); break;
	case CJ_NODE_BREAK: break_stmt(el, n); break;
	case CJ_NODE_CONTINUE: continue_stmt(el, n); break;
	case CJ_NODE_RETURN: return_stmt(el, n); break;
	case CJ_NODE_DO: do_stmt(el, n); break;
	case CJ_NODE_ASSIGN: assign(el, n); break;
	case CJ_NODE_SHARED: cj_elab_shared(el, n); break;
	case CJ_NODE_TMEM: cj_elab_tmem(el, n); break;
	case CJ_NODE_PIPELINE: cj_elab_pipeline(el, n); break;
	case CJ_NODE_PRODUCE: case CJ_NODE_CONSUME:
		cj_elab_stage(el, n);
		break;
	case CJ_NODE_ROLE: cj_elab_role(el, n); break;
	case CJ_NODE_ORDER: cj_elab_order(el, n); break;
	case CJ_NODE_TURN: cj_elab_turn(el, n); break;
	case CJ_NODE_LAUNCH: case CJ_NODE_TIME: launch_stmt(el, n); break;
	case CJ_NODE_ERROR: break;
	default: unsupported(el, n); break;
	}
}

void
cj_elab_block(struct cj_elab *el, const struct cj_node *block)
{
	uint32_t i;

	assert(block->kind == CJ_NODE_BLOCK);
	cj_env_push(el);
	for (i = 0; i < block->block.stmts.count; i++) {
		if (el->left != 0 || el->has_ended)
			break;
		stmt(el, block->block.stmts.at[i]);
	}
	cj_env_pop(el);
}
