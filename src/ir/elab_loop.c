/*
 * Loops: repeated while elaborating (`const for`, over tuples), or regions.
 *
 * A static loop needs no region unless something jumps: then the whole is a
 * scope that `break` leaves, and each turn one that `continue` leaves.
 */
#include "elab_priv.h"
#include "elab_origin.h"

enum { CJ_MAX_TURNS = 100000 };

/* Would `more` turns be too many? Said before the first of them is made. */
static bool
has_turns_left(struct cj_elab *el, struct cj_span span, uint64_t more)
{
	if (el->has_ended)
		return false;
	if (more <= CJ_MAX_TURNS - el->turns)
		return true;
	el->has_ended = true;
	cj_help(cj_elab_report(el, CJ_DIAG_LIMIT, span,
	    "static loops have more than %d turns together", CJ_MAX_TURNS),
	    "Leave out \"const\": a loop at run time has no limit.");
	return false;
}

/* A turn of a static loop, or an inlined call: false if a limit is passed. */
static bool
count_turn(struct cj_elab *el, struct cj_span span)
{
	if (!has_turns_left(el, span, 1) || !cj_elab_has_room(el, span))
		return false;
	cj_poll(el->recover);
	el->turns++;
	return true;
}

static void
push_jump(struct cj_elab *el, struct cj_jump *j)
{
	j->outer = el->jump;
	j->depth = el->jump == NULL ? 1 : el->jump->depth + 1;
	el->jump = j;
	assert(j->depth < UINT32_MAX / 4 && "see CJ_LEFT_BREAK");
}

/* ---- does a body jump? --------------------------------------------------- */

static bool
jumps(const struct cj_node *n)
{
	uint32_t i;

	switch ((unsigned)n->kind) {
	case CJ_NODE_BREAK: case CJ_NODE_CONTINUE:
		return true;
	case CJ_NODE_BLOCK:
		for (i = 0; i < n->block.stmts.count; i++)
			if (jumps(n->block.stmts.at[i]))
				return true;
		return false;
	case CJ_NODE_PRODUCE: case CJ_NODE_CONSUME:
		return jumps(n->stage.body);
	case CJ_NODE_IF:
		for (i = 0; i < n->if_stmt.arms.count; i++)
			if (jumps(n->if_stmt.arms.at[i]->arm.body))
				return true;
		return n->if_stmt.otherwise != NULL &&
		    jumps(n->if_stmt.otherwise);
	}
	return false;
}

/* ---- static loops -------------------------------------------------------- */

struct statics {
	const struct cj_node *n;
	struct cj_jump j;
	bool has_jumps;
	int64_t turn;
};

static void
statics_begin(struct cj_elab *el, struct statics *s, const struct cj_node *n,
    cj_region *outer)
{
	memset(s, 0, sizeof *s);
	s->n = n;
	s->j.kind = CJ_JUMP_LOOP;
	s->has_jumps = el->em != NULL && jumps(n->for_stmt.body);
	push_jump(el, &s->j);
	if (!s->has_jumps)
		return;
	s->j.breaks = cj_emit0(&el->em->b, CJ_OP_SCOPE, 0, 0);
	s->j.continue_breaks = true;
	*outer = cj_elab_enter(el, s->j.breaks, NULL);
}

/* One turn; false: the loop has been left. */
static bool
statics_turn(struct cj_elab *el, struct statics *s, struct cj_value item)
{
	cj_place trail = el->trail;
	cj_region outer = 0;
	unsigned left;

	assert(el->jump == &s->j && el->left == 0);
	if (!count_turn(el, s->n->span))
		return false;
	el->trail = cj_module_place(el->m, s->n->span, trail, s->turn++);
	cj_elab_at(el, s->n->span);
	if (s->has_jumps) {
		s->j.continues = cj_emit0(&el->em->b, CJ_OP_SCOPE, 0, 0);
		outer = cj_elab_enter(el, s->j.continues, NULL);
	}
	cj_env_push(el);
	cj_elab_bind(el, s->n->for_stmt.binding, CJ_BOUND_CONST, item);
	cj_elab_block(el, s->n->for_stmt.body);
	cj_env_pop(el);
	if (s->has_jumps)
		cj_elab_leave(el, outer);
	el->trail = trail;
	left = el->left;
	if (left == CJ_LEFT_CONTINUE(&s->j))
		el->left = 0;
	return el->left == 0 && !el->has_ended;
}

static void
statics_end(struct cj_elab *el, struct statics *s, cj_region outer)
{
	if (s->has_jumps)
		cj_elab_leave(el, outer);
	if (el->left == CJ_LEFT_BREAK(&s->j))
		el->left = 0;
	el->jump = s->j.outer;
}

static bool
no_step(struct cj_elab *el, struct cj_span span, const struct cj_value *v)
{
	cj_help(cj_elab_report(el, CJ_DIAG_WRONG_INDEX, span,
	    "a step is at least 1, this is %s", cj_value_text(el, v)),
	    "To go down, count up: for i in 0..n { let k = n - 1 - i; ... }");
	return false;
}

static bool
known_step(struct cj_elab *el, const struct cj_node *n, int64_t *step)
{
	const struct cj_node *a = cj_attr_find(&n->for_stmt.attrs,
	    cj_elab_intern(el, "step"));
	struct cj_value v;

	*step = 1;
	if (a == NULL)
		return true;
	v = cj_elab_expr(el, a->attr.items.at[0]);
	if (!cj_value_to_known(el, a->span, &v,
	    "the step of a static loop", step))
		return false;
	if (*step > 0)
		return true;
	return no_step(el, a->span, &v);
}

static void
static_range(struct cj_elab *el, const struct cj_node *n,
    const struct cj_range_value *r)
{
	struct statics s;
	cj_region outer = 0;
	struct cj_diag *d;
	int64_t i, step;

	if (!cj_is_known(r->first) || !cj_is_known(r->last)) {
		d = cj_elab_report(el, CJ_DIAG_NOT_KNOWN,
		    n->for_stmt.over->span,
		    "the range of \"const for\" must be known at compile time");
		cj_elab_note_int(el, d, cj_is_known(r->first) ? r->last :
		    r->first);
		cj_help(d, "Leave out \"const\" for a loop at run time.");
		return;
	}
	if (!known_step(el, n, &step))
		return;
	if (r->first.value < r->last.value && !jumps(n->for_stmt.body) &&
	    !has_turns_left(el, n->span, ((uint64_t)r->last.value -
	    (uint64_t)r->first.value - 1) / (uint64_t)step + 1))
		return;
	statics_begin(el, &s, n, &outer);
	for (i = r->first.value; i < r->last.value; i += step)
		if (!statics_turn(el, &s, cj_value_known(i)) ||
		    i > INT64_MAX - step)
			break;
	statics_end(el, &s, outer);
}

static void
static_tuple(struct cj_elab *el, const struct cj_node *n,
    const struct cj_tuple_value *t)
{
	struct statics s;
	cj_region outer = 0;
	uint32_t i;

	statics_begin(el, &s, n, &outer);
	for (i = 0; i < t->count; i++)
		if (!statics_turn(el, &s, t->at[i]))
			break;
	statics_end(el, &s, outer);
}

/* ---- loops at run time --------------------------------------------------- */

/* The body of a region loop, entered already. */
static void
region_body(struct cj_elab *el, const struct cj_node *n, struct cj_jump *j)
{
	cj_elab_block(el, n->kind == CJ_NODE_FOR ? n->for_stmt.body :
	    n->while_stmt.body);
	assert(el->jump == j && "inner jumps are gone");
	el->left = 0;
	el->jump = j->outer;
}

static bool
step_of(struct cj_elab *el, const struct cj_node *n, struct cj_int *step)
{
	const struct cj_node *a = cj_attr_find(&n->for_stmt.attrs,
	    cj_elab_intern(el, "step"));
	struct cj_value v;

	*step = cj_known(1);
	if (a == NULL)
		return true;
	v = cj_elab_expr(el, a->attr.items.at[0]);
	if (!cj_value_to_int(el, a->span, &v, step))
		return false;
	if (cj_int_range(&el->sym, *step).hi >= 1)
		return true;
	return no_step(el, a->span, &v);
}

static bool
unroll_of(struct cj_elab *el, const struct cj_list *attrs, int64_t *unroll)
{
	const struct cj_node *a = cj_attr_find(attrs,
	    cj_elab_intern(el, "unroll"));
	struct cj_value v;

	*unroll = 0;
	if (a == NULL)
		return true;
	v = cj_elab_expr(el, a->attr.items.at[0]);
	if (!cj_value_to_known(el, a->span, &v, "the number of turns",
	    unroll))
		return false;
	if (*unroll >= 1 && *unroll <= UINT16_MAX)
		return true;
	cj_elab_error(el, CJ_DIAG_WRONG_INDEX, a->span,
	    "unroll takes 1 to %d turns at once", UINT16_MAX);
	return false;
}

static struct cj_value
loop_index(struct cj_elab *el, const struct cj_node *n, cj_ref index,
    const struct cj_range_value *r, struct cj_int step)
{
	struct cj_range a = cj_int_range(&el->sym, r->first);
	struct cj_range b = cj_int_range(&el->sym, r->last);
	int64_t hi = b.hi == INT64_MAX || b.hi == INT64_MIN ? INT64_MAX :
	    b.hi - 1;
	const struct cj_node *binding = n->for_stmt.binding;
	const char *name = binding->kind == CJ_NODE_NAME ?
	    cj_elab_name(el, binding->name.name) : NULL;
	int64_t divisor = cj_gcd(cj_int_divisor(&el->sym, r->first),
	    cj_int_divisor(&el->sym, step));
	struct cj_int s;

	s = cj_elab_symbol(el, index, name, a.lo, hi < a.lo ? a.lo : hi,
	    divisor == 0 ? 1 : divisor);
	cj_elab_symbol_below(el, s, r->last);
	cj_elab_symbol_counts(el, s, r->first);
	return cj_value_int(s);
}

static void
run_range(struct cj_elab *el, const struct cj_node *n,
    const struct cj_range_value *r)
{
	struct cj_jump j = { .kind = CJ_JUMP_LOOP };
	struct cj_int step;
	int64_t unroll;
	cj_ref refs[3], owner, index;
	bool outer_never_runs = el->never_runs;
	cj_region outer;

	if (!step_of(el, n, &step) ||
	    !unroll_of(el, &n->for_stmt.attrs, &unroll))
		return;
	cj_elab_at(el, n->span);
	refs[0] = cj_elab_ref_int(el, r->first);
	refs[1] = cj_elab_ref_int(el, r->last);
	refs[2] = cj_elab_ref_int(el, step);
	owner = cj_emit(&el->em->b, CJ_OP_FOR, 0, (uint32_t)unroll, refs, 3);
	j.breaks = j.continues = owner;
	push_jump(el, &j);
	outer = cj_elab_enter(el, owner, &index);
	cj_env_push(el);
	cj_elab_bind(el, n->for_stmt.binding, CJ_BOUND_LET,
	    loop_index(el, n, index, r, step));
	j.env = el->env;
	if (cj_int_less(&el->sym, r->first, r->last) == CJ_NO)
		el->never_runs = true;
	region_body(el, n, &j);
	el->never_runs = outer_never_runs;
	cj_env_pop(el);
	cj_elab_leave(el, outer);
	if (j.is_ahead)
		cj_elab_check_ahead(el, owner);
}

/* ---- sequences: first, more, next, item ---------------------------------- */

static bool
sequence_part(struct cj_elab *el, const struct cj_value *v, const char *name,
    struct cj_value *out)
{
	cj_name key = cj_elab_intern(el, name);
	uint32_t i;

	if (v->kind != CJ_VALUE_TUPLE || v->tuple->names == NULL)
		return false;
	for (i = 0; i < v->tuple->count; i++)
		if (v->tuple->names[i] == key) {
			*out = v->tuple->at[i];
			return out->kind == CJ_VALUE_FUNCTION ||
			    out->kind == CJ_VALUE_BUILTIN;
		}
	return false;
}

struct sequence {
	struct cj_value first, more, next, item;
};

static bool
is_sequence(struct cj_elab *el, const struct cj_value *v, struct sequence *s)
{
	return sequence_part(el, v, "first", &s->first) &&
	    sequence_part(el, v, "more", &s->more) &&
	    sequence_part(el, v, "next", &s->next) &&
	    sequence_part(el, v, "item", &s->item);
}

/* Leave the loop unless the condition holds. */
static bool
leave_unless(struct cj_elab *el, struct cj_span span, struct cj_value cond,
    cj_ref loop)
{
	bool known, truth;
	cj_ref c, owner;
	cj_region outer;

	if (!cj_elab_condition(el, span, cond, &known, &truth, &c))
		return false;
	if (known) {
		if (!truth)
			cj_emit0(&el->em->b, CJ_OP_BREAK, 0, loop);
		return truth;
	}
	c = cj_emit1(&el->em->b, CJ_OP_NOT, cj_type_of(CJ_KIND_BOOL, 1), c);
	owner = cj_emit(&el->em->b, CJ_OP_IF, 0, 0, &c, 1);
	outer = cj_elab_enter(el, owner, NULL);
	cj_emit0(&el->em->b, CJ_OP_BREAK, 0, loop);
	cj_elab_leave(el, outer);
	return true;
}

/*
 *	state = first()
 *	loop { if !more(state) break; scope { body(item(state)) }
 *	    state = next(state) }
 */
static void
run_sequence(struct cj_elab *el, const struct cj_node *n,
    const struct sequence *s)
{
	struct cj_span span = n->for_stmt.over->span;
	struct cj_jump j = { .kind = CJ_JUMP_LOOP, .continue_breaks = true };
	struct cj_value state, now;
	cj_region outer, inner;
	int64_t unroll;

	if (!unroll_of(el, &n->for_stmt.attrs, &unroll))
		return;
	state = cj_elab_call_values(el, span, s->first, NULL, 0);
	state = cj_elab_slot(el, span, cj_elab_intern(el, "state"), state);
	if (state.kind == CJ_VALUE_ERROR)
		return;
	j.breaks = cj_emit0(&el->em->b, CJ_OP_LOOP, 0, (uint32_t)unroll);
	outer = cj_elab_enter(el, j.breaks, NULL);
	push_jump(el, &j);
	now = cj_elab_read(el, span, state);
	if (leave_unless(el, span, cj_elab_call_values(el, span, s->more,
	    &now, 1), j.breaks)) {
		j.continues = cj_emit0(&el->em->b, CJ_OP_SCOPE, 0, 0);
		inner = cj_elab_enter(el, j.continues, NULL);
		cj_env_push(el);
		cj_elab_bind(el, n->for_stmt.binding, CJ_BOUND_LET,
		    cj_elab_call_values(el, span, s->item, &now, 1));
		cj_elab_block(el, n->for_stmt.body);
		cj_env_pop(el);
		cj_elab_leave(el, inner);
		cj_elab_assign(el, span, state, cj_elab_call_values(el, span,
		    s->next, &now, 1));
	}
	el->left = 0;
	el->jump = j.outer;
	cj_elab_leave(el, outer);
}

/* ---- statements ---------------------------------------------------------- */

static struct cj_value
bound_range(struct cj_elab *el, const struct cj_node *n)
{
	struct cj_value v = cj_elab_expr(el, n->for_stmt.over);

	if (n->for_stmt.over->kind == CJ_NODE_LAYOUT)
		return cj_elab_error(el, CJ_DIAG_WRONG_KIND,
		    n->for_stmt.over->span, "a:b is a layout; a range is "
		    "a..b");
	if (v.kind == CJ_VALUE_INT || v.kind == CJ_VALUE_TENSOR)
		return cj_elab_error(el, CJ_DIAG_WRONG_KIND,
		    n->for_stmt.over->span, "a loop goes over a range, a "
		    "tuple or a sequence, this is %s; write 0..n",
		    cj_value_what(el, &v));
	return v;
}

void
cj_elab_for(struct cj_elab *el, const struct cj_node *n)
{
	struct cj_value v = bound_range(el, n);
	struct sequence s;

	if (v.kind == CJ_VALUE_ERROR)
		return;
	if (v.kind == CJ_VALUE_RANGE && (n->for_stmt.is_const ||
	    el->em == NULL))
		static_range(el, n, v.range);
	else if (v.kind == CJ_VALUE_RANGE)
		run_range(el, n, v.range);
	else if (is_sequence(el, &v, &s) && el->em != NULL)
		run_sequence(el, n, &s);
	else if (v.kind == CJ_VALUE_TUPLE)
		static_tuple(el, n, v.tuple);
	else
		cj_elab_error(el, CJ_DIAG_WRONG_KIND, n->for_stmt.over->span,
		    "a loop goes over a range, a tuple or a sequence, this "
		    "is %s", cj_value_what(el, &v));
}

/* At compile time alone: the condition is known at each turn. */
static void
static_while(struct cj_elab *el, const struct cj_node *n)
{
	struct cj_jump j = { .kind = CJ_JUMP_LOOP };
	struct cj_value c;
	bool known, truth;
	cj_ref ref;

	push_jump(el, &j);
	while (count_turn(el, n->span)) {
		c = cj_elab_expr(el, n->while_stmt.cond);
		if (!cj_elab_condition(el, n->while_stmt.cond->span, c,
		    &known, &truth, &ref) || !known || !truth)
			break;
		cj_elab_block(el, n->while_stmt.body);
		if (el->left == CJ_LEFT_CONTINUE(&j))
			el->left = 0;
		if (el->left != 0)
			break;
	}
	if (el->left == CJ_LEFT_BREAK(&j))
		el->left = 0;
	el->jump = j.outer;
}

void
cj_elab_while(struct cj_elab *el, const struct cj_node *n)
{
	struct cj_jump j = { .kind = CJ_JUMP_LOOP };
	struct cj_jump *around = el->jump;
	struct cj_value c;
	cj_region outer;
	int64_t unroll;

	if (!unroll_of(el, &n->while_stmt.attrs, &unroll))
		return;
	if (el->em == NULL) {
		static_while(el, n);
		return;
	}
	j.breaks = j.continues = cj_emit0(&el->em->b, CJ_OP_LOOP, 0,
	    (uint32_t)unroll);
	push_jump(el, &j);
	outer = cj_elab_enter(el, j.breaks, NULL);
	c = cj_elab_expr(el, n->while_stmt.cond);
	if (leave_unless(el, n->while_stmt.cond->span, c, j.breaks))
		region_body(el, n, &j);
	el->jump = around;
	cj_elab_leave(el, outer);
	/* `while true` without a break goes on nowhere */
	if (c.kind == CJ_VALUE_BOOL && c.truth && !j.was_broken) {
		while (around != NULL && around->kind != CJ_JUMP_FUNCTION)
			around = around->outer;
		if (around != NULL)
			el->left = CJ_LEFT_BREAK(around);
	}
}
