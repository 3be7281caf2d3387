/*
 * Repeat the bodies of loops as often as `unroll n` asks.
 *
 *	for k in lo..hi step s unroll n { f(k) }
 * becomes
 *	mid = lo + s * n * (turns / n)
 *	for k in lo..mid step s * n { f(k)  f(k + s)  ... }
 *	for k in mid..hi step s { f(k) }
 * and, where the number of turns is known, straight code for those that are
 * left over, or for all if there are no more than n. A loop without a number
 * has n turns in one.
 *
 * A loop that is left by `break` gets a scope around it, which is left
 * instead; where a turn can end early, each copy stands in a scope.
 *
 * needs: verified IR.   keeps: order of effects.
 */
#include "ir_priv.h"

/* No module gets longer than this by it. */
enum { LONGEST = 65536 };

struct unroll {
	struct cj_module *m;
	cj_ref loop;
	cj_region around, body;
	cj_ref lo, hi, step;
	int64_t turns;			/* -1: not known */
	uint32_t n;
	cj_ref leave;			/* what `break` leaves; 0: the loop */
	bool in_scopes;			/* a turn may end early */
	struct cj_builder b;
};

/* ---- numbers of turns ---------------------------------------------------- */

static cj_ref
int_of(struct unroll *u, enum cj_op op, cj_ref x, cj_ref y)
{
	return cj_emit2(&u->b, op, cj_type_of(CJ_KIND_INDEX, 1), x, y);
}

static bool
is_known(const struct cj_module *m, cj_ref r, int64_t *value)
{
	const struct cj_constant *c = cj_constant_of(m, r);

	if (c == NULL)
		return false;
	*value = (int64_t)c->bits[0];
	return true;
}

static int64_t
known_turns(const struct unroll *u)
{
	int64_t lo, hi, step, length;

	if (!is_known(u->m, u->lo, &lo) || !is_known(u->m, u->hi, &hi) ||
	    !is_known(u->m, u->step, &step) || step < 1 ||
	    __builtin_sub_overflow(hi, lo, &length))
		return -1;
	return length <= 0 ? 0 : (length - 1) / step + 1;
}

/* Where the turns end of which n make one of the new loop. */
static cj_ref
middle(struct unroll *u)
{
	cj_ref one = cj_emit_index(&u->b, 1), turns, n;

	turns = int_of(u, CJ_OP_SUB, u->hi, u->lo);
	turns = int_of(u, CJ_OP_ADD, turns, int_of(u, CJ_OP_SUB, u->step,
	    one));
	turns = int_of(u, CJ_OP_DIV, turns, u->step);
	turns = int_of(u, CJ_OP_MAX, turns, cj_emit_index(&u->b, 0));
	n = cj_emit_index(&u->b, u->n);
	turns = int_of(u, CJ_OP_MUL, int_of(u, CJ_OP_DIV, turns, n), n);
	return int_of(u, CJ_OP_ADD, u->lo, int_of(u, CJ_OP_MUL, turns,
	    u->step));
}

/* ---- copies of a turn ---------------------------------------------------- */

/* Leaving the loop and ending a turn, in the region of a copy. */
static void
turn_exits(struct unroll *u, cj_region copy, cj_ref scope)
{
	struct cj_inst *i;
	struct cj_walk w = cj_walk_begin(u->m, copy);

	while ((i = cj_walk_inst(&w)) != NULL) {
		if (i->op == CJ_OP_BREAK && i->attr == u->loop) {
			i->attr = u->leave;
		} else if (i->op == CJ_OP_CONTINUE && i->attr == u->loop) {
			assert(scope != 0 && "a turn that ends has one");
			i->op = CJ_OP_BREAK;
			i->attr = scope;
		}
	}
}

/* A turn, of `index` if it has one, where the builder stands. */
static void
copy_turn(struct unroll *u, cj_ref index)
{
	struct cj_copier c = { .m = u->m, .keeps_shared = true };
	cj_region to = u->b.region;
	cj_ref r = u->m->regions.at[u->body].first, scope = 0;

	if (u->in_scopes) {
		scope = cj_emit0(&u->b, CJ_OP_SCOPE, 0, 0);
		to = cj_region_append(u->m, scope, to);
	}
	cj_copier_begin(&c);
	if (index != 0)
		c.inst_of[r] = index;
	if (u->in_scopes) {
		cj_copy_region(&c, u->body, to);
		turn_exits(u, to, scope);
		return;
	}
	c.region_of[u->body] = to;
	for (; r != 0; r = cj_inst(u->m, r)->next)
		if (c.inst_of[r] == 0)
			cj_copy_inst(&c, r, to, u->b.before);
}

/* from + number * step */
static cj_ref
index_at(struct unroll *u, cj_ref from, int64_t number)
{
	return number == 0 ? from : int_of(u, CJ_OP_ADD, from,
	    int_of(u, CJ_OP_MUL, u->step, cj_emit_index(&u->b, number)));
}

/* Turns first .. first + count of those known. */
static void
straight(struct unroll *u, int64_t first, int64_t count)
{
	int64_t i;

	for (i = first; i < first + count; i++)
		copy_turn(u, index_at(u, u->lo, i));
}

/* n turns in the new loop. */
static void
fill_turns(struct unroll *u, cj_ref loop)
{
	struct cj_builder outer = u->b;
	cj_ref index = 0;
	uint32_t i;

	u->b.region = cj_region_add(&u->b, loop, &index);
	u->b.before = 0;
	for (i = 0; i < u->n; i++)
		copy_turn(u, index == 0 ? 0 : index_at(u, index, i));
	u->b = outer;
}

/* A loop up to `mid` whose turns are n of the old one. */
static void
long_turns(struct unroll *u, cj_ref mid)
{
	const cj_ref range[] = { u->lo, mid, int_of(u, CJ_OP_MUL, u->step,
	    cj_emit_index(&u->b, u->n)) };

	fill_turns(u, cj_emit(&u->b, CJ_OP_FOR, 0, 1, range, 3));
}

/* ---- one loop ------------------------------------------------------------ */

/* What a turn may do with the loop; how many instructions it has. */
static uint32_t
look_at_turn(struct unroll *u, bool *breaks)
{
	const struct cj_inst *i;
	uint32_t length = 0;
	struct cj_walk w;

	*breaks = u->in_scopes = false;
	for (w = cj_walk_begin(u->m, u->body); cj_walk_next(&w);) {
		if (w.event != CJ_WALK_INST)
			continue;
		length++;
		i = cj_inst(u->m, w.ref);
		if (i->op == CJ_OP_BREAK && i->attr == u->loop)
			*breaks = u->in_scopes = true;
		if ((i->op == CJ_OP_CONTINUE && i->attr == u->loop) ||
		    (cj_op_info[i->op].effects == CJ_EFFECTS_EXIT &&
		    w.region == u->body))
			u->in_scopes = true;
	}
	return length;
}

/* A scope around the loop, for `break` to leave. */
static void
put_in_scope(struct unroll *u)
{
	struct cj_module *m = u->m;
	cj_region inside;

	u->leave = cj_emit0(&u->b, CJ_OP_SCOPE, 0, 0);
	inside = cj_region_append(m, u->leave, u->around);
	cj_inst_remove(m, u->around, u->loop);
	cj_inst_link(m, inside, u->loop, 0);
	m->regions.at[u->body].parent = inside;
	u->around = u->b.region = inside;
}

/* Shared memory of a turn lives around the loop: all copies have it. */
static void
lift_shared(struct unroll *u)
{
	struct cj_module *m = u->m;
	struct cj_walk w;
	uint32_t i;

	for (w = cj_walk_begin(m, u->body); cj_walk_next(&w);)
		for (i = 1; w.event == CJ_WALK_ENTER && i < m->objects.len;
		    i++)
			if (m->objects.at[i].kind == CJ_OBJECT_SHARED &&
			    m->objects.at[i].region == w.region)
				m->objects.at[i].region = u->around;
}

/* The old loop, which has the turns that are left over, goes on as it was. */
static void
leave_rest(struct unroll *u)
{
	struct cj_walk w;
	struct cj_inst *i;

	for (w = cj_walk_begin(u->m, u->body); cj_walk_next(&w);) {
		i = w.event == CJ_WALK_INST ? cj_inst(u->m, w.ref) : NULL;
		if (i != NULL && i->op == CJ_OP_BREAK && i->attr == u->loop)
			i->attr = u->leave;
	}
}

static void
write_out(struct unroll *u)
{
	cj_ref mid;
	int64_t whole;

	if (u->turns < 0) {
		mid = middle(u);
		long_turns(u, mid);
		cj_inst(u->m, u->loop)->attr = 1;
		u->m->pool.at[cj_inst(u->m, u->loop)->operands] = mid;
		leave_rest(u);
		return;
	}
	whole = u->turns / u->n;
	if (whole > 1)
		long_turns(u, index_at(u, u->lo, whole * u->n));
	else
		straight(u, 0, whole * u->n);
	straight(u, whole * u->n, u->turns % u->n);
	cj_inst_remove(u->m, u->around, u->loop);
}

static void
unroll_for(struct unroll *u, bool breaks)
{
	const struct cj_inst *i = cj_inst(u->m, u->loop);

	u->lo = cj_operand(u->m, i, 0);
	u->hi = cj_operand(u->m, i, 1);
	u->step = cj_operand(u->m, i, 2);
	u->turns = known_turns(u);
	if (breaks)
		put_in_scope(u);
	write_out(u);
}

static void
unroll_loop(struct unroll *u)
{
	u->leave = cj_emit0(&u->b, CJ_OP_LOOP, 0, 1);
	fill_turns(u, u->leave);
	cj_inst_remove(u->m, u->around, u->loop);
}

static void
unroll(struct cj_module *m, cj_ref loop, cj_region around)
{
	const struct cj_inst *i = cj_inst(m, loop);
	struct unroll u = { .m = m, .loop = loop, .around = around,
	    .body = i->region, .n = i->attr,
	    .b = { .module = m, .region = around, .before = loop,
	    .place = i->place } };
	uint32_t length, room;
	bool breaks;

	length = look_at_turn(&u, &breaks);
	room = m->insts.len < LONGEST ? (LONGEST - m->insts.len) / length : 0;
	if (u.n > room)
		u.n = room;
	if (u.n < 2) {
		cj_inst(m, loop)->attr = 1;
		return;
	}
	lift_shared(&u);
	if (i->op == CJ_OP_FOR)
		unroll_for(&u, breaks);
	else
		unroll_loop(&u);
}

static bool
is_asked(const struct cj_inst *i)
{
	return (i->op == CJ_OP_FOR || i->op == CJ_OP_LOOP) && i->attr > 1;
}

void
cj_opt_unroll(struct cj_module *m)
{
	CJ_VEC(cj_ref) loops = { 0 };
	CJ_VEC(cj_region) around = { 0 };
	struct cj_walk w;
	uint32_t f;

	for (f = 1; f < m->functions.len; f++)
		for (w = cj_walk_begin(m, m->functions.at[f].body);
		    cj_walk_next(&w);) {
			if (w.event != CJ_WALK_INST ||
			    !is_asked(cj_inst(m, w.ref)))
				continue;
			*cj_push(m->arena, &loops) = w.ref;
			*cj_push(m->arena, &around) = w.region;
		}
	while (loops.len > 0) {		/* inner ones first */
		loops.len--;
		unroll(m, loops.at[loops.len], around.at[loops.len]);
	}
}
