/*
 * Turns: roles, or warpgroups of one, that go one after the other, and what may
 * not be waited for meanwhile.
 */
#include "elab_tiled.h"

enum { GROUP = 4, MOST_TURNS = 16 };

void
cj_elab_order(struct cj_elab *el, const struct cj_node *n)
{
	struct cj_turns o = { .name = cj_elab_name(el, n->order.name.name) };
	struct cj_value v = cj_elab_expr(el, n->order.items.at[0]);
	int64_t count;

	if (el->time != CJ_TIME_DEVICE) {
		cj_elab_error(el, CJ_DIAG_WRONG_TIME, n->span,
		    "an order belongs to device code");
		v = cj_value_error();
	} else if (!cj_value_to_known(el, n->order.items.at[0]->span, &v,
	    "the number of turns", &count)) {
		v = cj_value_error();
	} else if (count < 2 || count > MOST_TURNS) {
		cj_help(cj_elab_report(el, CJ_DIAG_LIMIT,
		    n->order.items.at[0]->span, "an order has 2 to %d turns, "
		    "not %lld", MOST_TURNS, (long long)count), "It has as "
		    "many as roles, or warpgroups of one, that take turns.");
		v = cj_value_error();
	} else {
		o.count = (uint32_t)count;
		o.place = el->em->b.place;
		v = (struct cj_value){ .kind = CJ_VALUE_ORDER,
		    .order = cj_module_turns(el->m, &o) };
	}
	cj_env_bind(el, n->order.name.name, CJ_BOUND_LET, v,
	    n->order.name.span);
}

/* The number of a turn: known, or the same for a warpgroup. */
static bool
number_fits(struct cj_elab *el, struct cj_span span,
    const struct cj_turns *o, struct cj_int number)
{
	struct cj_range r = cj_int_range(&el->sym, number);

	if (r.lo >= 0 && r.hi < (int64_t)o->count)
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_BAD_TURN, span,
	    "\"%s\" has the turns 0..%u, and this number may be another",
	    o->name, (unsigned)o->count), "Take the role's \"index\" or its "
	    "\"warpgroup\".");
	return false;
}

/* A turn goes on to the next one where it ends: one of the same order inside
 * of it would wait for that. */
static bool
is_apart(struct cj_elab *el, struct cj_span span, uint32_t order)
{
	const struct cj_module *m = el->m;
	cj_region g = el->em->b.region;
	cj_ref owner;
	struct cj_diag *d;

	for (; (owner = m->regions.at[g].owner) != 0;
	    g = m->regions.at[g].parent) {
		if (cj_inst(m, owner)->op != CJ_OP_TURN ||
		    cj_inst(m, owner)->attr != order)
			continue;
		d = cj_elab_report(el, CJ_DIAG_BAD_TURN, span, "a turn of "
		    "\"%s\" in one of its turns waits for ever",
		    m->orders.at[order].name);
		cj_note(d, m->places.at[cj_inst(m, owner)->place].span,
		    "that one");
		cj_help(d, "End the outer one in front of it, or declare "
		    "another order.");
		return false;
	}
	return true;
}

void
cj_elab_turn(struct cj_elab *el, const struct cj_node *n)
{
	struct cj_value order = cj_elab_expr(el, n->turn.path);
	struct cj_value v = cj_elab_expr(el, n->turn.index);
	cj_ref ref, owner;
	cj_region outer;
	struct cj_int number;

	if (order.kind == CJ_VALUE_ERROR || v.kind == CJ_VALUE_ERROR)
		return;
	if (order.kind != CJ_VALUE_ORDER) {
		cj_elab_error(el, CJ_DIAG_WRONG_KIND, n->turn.path->span,
		    "an order is needed, this is %s",
		    cj_value_what(el, &order));
		return;
	}
	if (el->role == NULL) {
		cj_elab_error(el, CJ_DIAG_BAD_TURN, n->span,
		    "roles take turns, and this is outside of them");
		return;
	}
	if (!cj_value_to_int(el, n->turn.index->span, &v, &number) ||
	    !number_fits(el, n->turn.index->span,
	    &el->m->orders.at[order.order], number))
		return;
	if (!is_apart(el, n->span, order.order))
		return;
	cj_elab_at(el, n->span);
	ref = cj_elab_ref_int(el, number);
	cj_elab_meet(el, 32 * (cj_is_known(number) ?
	    el->m->roles.at[el->role->number].warps : GROUP), "\"turn\"");
	cj_elab_agree(el, 128, "the number of a turn", ref);
	owner = cj_emit(&el->em->b, CJ_OP_TURN, 0, order.order, &ref, 1);
	outer = cj_elab_enter(el, owner, NULL);
	cj_elab_block(el, n->turn.body);
	cj_elab_leave(el, outer);
}

/* ---- what turns hold ----------------------------------------------------- */

/* The turn around a region whose role has other participants; 0: none. */
static cj_ref
shared_turn(const struct cj_elab *el, cj_region g)
{
	const struct cj_module *m = el->m;
	cj_ref owner;

	for (; g != 0; g = m->regions.at[g].parent) {
		owner = m->regions.at[g].owner;
		if (owner != 0 && cj_inst(m, owner)->op == CJ_OP_TURN)
			return cj_constant_of(m, cj_operand(m, cj_inst(m,
			    owner), 0)) == NULL ? owner : 0;
	}
	return 0;
}

/* Is there a loop between a place and the turn around it? */
static bool
loops_in_turn(const struct cj_module *m, cj_region g)
{
	bool loops = false;
	enum cj_op op;

	for (; m->regions.at[g].owner != 0; g = m->regions.at[g].parent) {
		op = cj_inst(m, m->regions.at[g].owner)->op;
		if (op == CJ_OP_TURN)
			return loops;
		loops |= op == CJ_OP_FOR || op == CJ_OP_LOOP;
	}
	return false;
}

static void
refuse_in_turn(struct cj_elab *el, const struct cj_inst *i,
    const char *text, const char *help)
{
	cj_help(cj_elab_report(el, CJ_DIAG_BAD_TURN,
	    el->m->places.at[i->place].span, "%s", text), "%s", help);
}

/* The turn around a region; 0: none. */
static cj_ref
turn_around(const struct cj_module *m, cj_region g)
{
	cj_ref owner;

	for (; (owner = m->regions.at[g].owner) != 0;
	    g = m->regions.at[g].parent)
		if (cj_inst(m, owner)->op == CJ_OP_TURN)
			return owner;
	return 0;
}

/* Stages of a pipeline that a turn takes up to an instruction of it, and those
 * that others need not give back for that: more are waited for in vain. */
static bool
takes_too_many(const struct cj_elab *el, cj_ref r, cj_region g,
    const struct cj_pipe *p)
{
	const struct cj_module *m = el->m;
	cj_ref turn = turn_around(m, g);
	int64_t taken = m->stage_uses.at[cj_inst(m, r)->attr].count;
	struct cj_walk w;

	if (turn == 0)
		return false;
	for (w = cj_walk_begin(m, cj_inst(m, turn)->region);
	    cj_walk_next(&w);) {
		if (w.event != CJ_WALK_INST)
			continue;
		taken += cj_inst(m, w.ref)->op == CJ_OP_CONSUME &&
		    cj_elab_pipe_of(el, cj_inst(m, w.ref)) == p &&
		    !m->stage_uses.at[cj_inst(m, w.ref)->attr].keep;
		if (w.ref == r)
			break;
	}
	return taken > p->stages;
}

/* What waits for others while they wait for the turn. */
static void
check_in_turn(struct cj_elab *el, cj_ref r, cj_region g)
{
	const struct cj_inst *i = cj_inst(el->m, r);
	bool is_stage = i->op == CJ_OP_PRODUCE || i->op == CJ_OP_CONSUME;
	const struct cj_pipe *p = is_stage ? cj_elab_pipe_of(el, i) : NULL;

	if (shared_turn(el, g) != 0 && (i->op == CJ_OP_BARRIER ||
	    (p != NULL && cj_pipe_is_local(p))))
		refuse_in_turn(el, i, "all warpgroups of the role meet here, "
		    "and each has to wait for its turn first",
		    "Do it in front of the turn or behind it, or make a role "
		    "of each warpgroup: role name[n].");
	else if (i->op == CJ_OP_CONSUME && p != NULL &&
	    !cj_pipe_is_local(p) && !p->is_split && loops_in_turn(el->m, g))
		refuse_in_turn(el, i, "a stage that all of them read is waited "
		    "for in a turn, and the others cannot give theirs back",
		    "Take stages in front of the turn, or give each to one "
		    "role alone: pipeline name(n) split { ... }.");
	else if (i->op == CJ_OP_CONSUME && p != NULL &&
	    !cj_pipe_is_local(p) && !p->is_split &&
	    takes_too_many(el, r, g, p))
		refuse_in_turn(el, i, cj_printf(el->arena, "a turn takes more "
		    "than the %lld stages of \"%s\", and the others cannot "
		    "give theirs back", (long long)p->stages,
		    cj_elab_name(el, p->name)), "Add stages, or take fewer of "
		    "them in a turn.");
}

/* Each turn has somebody to take it. */
static void
check_takers(struct cj_elab *el, uint32_t order, uint32_t taken)
{
	const struct cj_turns *o = &el->m->orders.at[order];
	uint32_t n;

	for (n = 0; n < o->count && (taken >> n & 1); n++)
		;
	if (n < o->count && taken != 0)
		cj_help(cj_elab_report(el, CJ_DIAG_BAD_TURN,
		    el->m->places.at[o->place].span, "nobody takes turn %u "
		    "of \"%s\"", (unsigned)n, o->name), "Let each role, or "
		    "warpgroup, take its own, turn %s as role.index, or say "
		    "order %s(n) with n as many as there are.", o->name,
		    o->name);
}

void
cj_elab_check_turns(struct cj_elab *el)
{
	const struct cj_module *m = el->m;
	uint32_t *taken = CJ_NEWS(el->arena, uint32_t, m->orders.len), i;
	struct cj_walk w;

	if (m->orders.len == 1)
		return;
	for (w = cj_walk_begin(m, m->functions.at[el->em->function].body);
	    cj_walk_next(&w);) {
		const struct cj_constant *c;

		if (w.event != CJ_WALK_INST)
			continue;
		check_in_turn(el, w.ref, w.region);
		if (cj_inst(m, w.ref)->op != CJ_OP_TURN)
			continue;
		c = cj_constant_of(m, cj_operand(m, cj_inst(m, w.ref), 0));
		taken[cj_inst(m, w.ref)->attr] |= c == NULL ? UINT32_MAX :
		    (uint32_t)1 << c->bits[0];
	}
	for (i = 1; i < m->orders.len; i++)
		check_takers(el, i, taken[i]);
}
