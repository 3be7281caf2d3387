/*
 * Meetings: places where threads wait for one another, or take one another's
 * values. All threads that meet have to come, so that the conditions around,
 * and the exits before, must not part them.
 *
 * Refused is what is certain to depend on the thread: computed from thread
 * indices by pure operations, and not found to be the same for all who meet.
 * Agreement is counted in threads: with g, each g neighbours in linear order
 * that begin at a multiple of g see one value. Values out of memory and of
 * `var`s are left to the executor.
 */
#include "elab_priv.h"

enum { EVERYBODY = 1 << 30, DEPTH_MAX = 64 };

struct meetings {
	struct cj_elab *el;
	const struct cj_module *m;
	const struct cj_function *f;
	const struct cj_fact *facts;
};

void
cj_elab_agree(struct cj_elab *el, unsigned threads, const char *what,
    cj_ref value)
{
	struct cj_meeting *m;

	if (el->time != CJ_TIME_DEVICE || el->em == NULL)
		return;
	m = cj_push(el->arena, &el->meetings);
	m->function = el->em->function;
	m->region = el->em->b.region;
	m->at = el->m->insts.len;
	m->threads = threads;
	m->value = value;
	m->what = what;
	m->place = el->em->b.place;
}

void
cj_elab_meet(struct cj_elab *el, unsigned threads, const char *what)
{
	cj_elab_agree(el, threads, what, 0);
}

/* ---- which threads agree on a value -------------------------------------- */

static int64_t
least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* The largest power of two that divides n. */
static int64_t
power_in(int64_t n)
{
	return n == 0 ? EVERYBODY : least(n & -n, EVERYBODY);
}

static bool
is_one_row(const struct cj_function *f)
{
	return f->block[1] == 1 && f->block[2] == 1;
}

/*
 * How many neighbours count up from a multiple of that number: 32 for the
 * lane, 1 for what does not count.
 */
static int64_t
run_of(const struct meetings *s, cj_ref r, unsigned depth)
{
	const struct cj_inst *i = cj_inst(s->m, r);
	cj_ref a, b;

	if (depth > DEPTH_MAX)
		return 1;
	if (i->op == CJ_OP_SPECIAL && i->attr == CJ_SPECIAL_LANE)
		return 32;
	if (i->op == CJ_OP_SPECIAL && i->attr == CJ_SPECIAL_THREAD_X)
		return is_one_row(s->f) ? 1024 :
		    s->f->block[0] > 0 ? power_in(s->f->block[0]) : 1;
	if (i->op == CJ_OP_CONVERT && s->facts[r].hi < INT32_MAX)
		return run_of(s, cj_operand(s->m, i, 0), depth + 1);
	if (i->op != CJ_OP_ADD)
		return 1;
	a = cj_operand(s->m, i, 0);
	b = cj_operand(s->m, i, 1);
	if (run_of(s, a, depth + 1) == 1) {
		cj_ref swap = a;

		a = b;
		b = swap;
	}
	return least(run_of(s, a, depth + 1),
	    least(power_in(s->facts[b].divisor),
	    s->facts[b].uniform >= CJ_SCOPE_BLOCK ? EVERYBODY :
	    s->facts[b].uniform >= CJ_SCOPE_WARP ? 32 : 1));
}

static int64_t
of_scope(enum cj_scope scope)
{
	return scope >= CJ_SCOPE_BLOCK ? EVERYBODY :
	    scope >= CJ_SCOPE_WARPGROUP ? 128 :
	    scope >= CJ_SCOPE_WARP ? 32 : 1;
}

static int64_t agree(const struct meetings *s, cj_ref r, unsigned depth);

/* The index of the warp, in whatever width. */
static bool
is_warp(const struct meetings *s, cj_ref r)
{
	const struct cj_inst *i = cj_inst(s->m, r);

	while (i->op == CJ_OP_CONVERT)
		i = cj_inst(s->m, cj_operand(s->m, i, 0));
	return i->op == CJ_OP_SPECIAL && i->attr == CJ_SPECIAL_WARP;
}

/* The same of warps, which count up too, 32 threads each. */
static int64_t
agree_by_warp(const struct meetings *s, const struct cj_inst *i,
    cj_ref multiple, unsigned depth)
{
	const struct cj_fact *by = &s->facts[multiple];

	if (i->op == CJ_OP_LT || i->op == CJ_OP_LE)
		return least(32 * least(power_in(by->divisor), 32),
		    agree(s, multiple, depth));
	if (by->lo != by->hi || by->lo < (i->op == CJ_OP_DIV) || by->lo > 31)
		return 1;
	return i->op == CJ_OP_DIV ? 32 * least(power_in(by->lo), 32) :
	    i->op == CJ_OP_SHR ? (int64_t)32 << by->lo : 1;
}

/* Comparing or dividing what counts up, by a multiple of what is agreed. */
static int64_t
agree_by_run(const struct meetings *s, const struct cj_inst *i,
    unsigned depth)
{
	bool is_at_least = i->op == CJ_OP_LE;	/* multiple <= counting */
	cj_ref counting, multiple;
	const struct cj_fact *by;

	if (i->operand_count != 2)
		return 1;
	counting = cj_operand(s->m, i, is_at_least ? 1 : 0);
	multiple = cj_operand(s->m, i, is_at_least ? 0 : 1);
	by = &s->facts[multiple];
	if (is_warp(s, counting))
		return agree_by_warp(s, i, multiple, depth);
	if (i->op == CJ_OP_LT || is_at_least)
		return least(run_of(s, counting, depth),
		    least(power_in(by->divisor), agree(s, multiple, depth)));
	if (i->op == CJ_OP_DIV && by->lo == by->hi && by->lo > 0)
		return least(run_of(s, counting, depth), power_in(by->lo));
	if (i->op == CJ_OP_SHR && by->lo == by->hi && by->lo >= 0)
		return least(run_of(s, counting, depth),
		    by->lo < 30 ? (int64_t)1 << by->lo : EVERYBODY);
	return 1;
}

static int64_t
agree(const struct meetings *s, cj_ref r, unsigned depth)
{
	const struct cj_inst *i = cj_inst(s->m, r);
	int64_t g = EVERYBODY;
	unsigned n;

	if (s->facts[r].lo == s->facts[r].hi ||
	    s->facts[r].uniform >= CJ_SCOPE_BLOCK)
		return EVERYBODY;
	if (cj_op_info[i->op].effects != CJ_EFFECTS_PURE ||
	    i->op == CJ_OP_SPECIAL || i->op == CJ_OP_PTX_PURE ||
	    i->operand_count == 0 || depth > DEPTH_MAX)
		return of_scope(s->facts[r].uniform);
	for (n = 0; n < i->operand_count; n++)
		g = least(g, agree(s, cj_operand(s->m, i, n), depth + 1));
	n = (unsigned)agree_by_run(s, i, depth + 1);
	return n > g ? n : g;
}

/* Is it made of thread indices by pure operations? */
static bool
is_of_thread(const struct meetings *s, cj_ref r, unsigned depth)
{
	const struct cj_inst *i = cj_inst(s->m, r);
	unsigned n;

	if (i->op == CJ_OP_SPECIAL)
		return i->attr <= CJ_SPECIAL_THREAD_Z ||
		    i->attr == CJ_SPECIAL_LANE || i->attr == CJ_SPECIAL_WARP;
	if (cj_op_info[i->op].effects != CJ_EFFECTS_PURE || depth > DEPTH_MAX)
		return false;
	for (n = 0; n < i->operand_count; n++)
		if (is_of_thread(s, cj_operand(s->m, i, n), depth + 1))
			return true;
	return false;
}

static bool
parts(const struct meetings *s, cj_ref value, int64_t threads)
{
	return is_of_thread(s, value, 0) && agree(s, value, 0) < threads;
}

/* All come to the end of the same number of turns: lo in 0..step, hi a
 * multiple of step. */
static bool
has_equal_turns(const struct meetings *s, const struct cj_inst *loop)
{
	const struct cj_fact *lo = &s->facts[cj_operand(s->m, loop, 0)];
	const struct cj_fact *hi = &s->facts[cj_operand(s->m, loop, 1)];
	const struct cj_fact *step = &s->facts[cj_operand(s->m, loop, 2)];

	return step->lo == step->hi && step->lo > 0 && lo->lo >= 0 &&
	    lo->hi < step->lo && hi->divisor % step->lo == 0;
}

/* The operand of a region's owner that parts `threads`; 0: none. */
static cj_ref
parting(const struct meetings *s, cj_ref owner, int64_t threads)
{
	const struct cj_inst *i = cj_inst(s->m, owner);
	unsigned n;

	if (i->op != CJ_OP_IF && (i->op != CJ_OP_FOR ||
	    has_equal_turns(s, i)))
		return 0;
	for (n = 0; n < i->operand_count; n++)
		if (parts(s, cj_operand(s->m, i, n), threads))
			return cj_operand(s->m, i, n);
	return 0;
}

/* ---- what is around a meeting, and what has left before ------------------ */

static cj_region
around(const struct cj_module *m, cj_region region)
{
	return m->regions.at[region].parent;
}

static bool
is_inside(const struct cj_module *m, cj_region region, cj_ref owner)
{
	for (; region != 0; region = around(m, region))
		if (m->regions.at[region].owner == owner)
			return true;
	return owner == 0;
}

static void
complain(const struct meetings *s, const struct cj_meeting *at, cj_ref cond,
    cj_ref exit)
{
	const struct cj_place_info *p = &s->m->places.at[at->place];
	struct cj_elab *el = s->el;
	cj_place trail = el->trail;
	struct cj_diag *d;

	el->trail = p->parent;
	d = cj_elab_report(el, CJ_DIAG_DIVERGENT_BARRIER, p->span, exit == 0 ?
	    "%s stands under a condition that depends on the thread" :
	    "%s comes after some threads have left, which depends on the "
	    "thread", at->what);
	el->trail = trail;
	cj_note(d, s->m->places.at[cj_inst(s->m, cond)->place].span,
	    "this differs from thread to thread");
	if (exit != 0)
		cj_note(d, s->m->places.at[cj_inst(s->m, exit)->place].span,
		    "here they leave");
	cj_help(d, "All threads that meet must come: put the condition around "
	    "what they do, not around %s.", at->what);
}

static void
complain_of_value(const struct meetings *s, const struct cj_meeting *at)
{
	const struct cj_place_info *p = &s->m->places.at[at->place];
	struct cj_elab *el = s->el;
	cj_place trail = el->trail;

	el->trail = p->parent;
	cj_help(cj_elab_report(el, CJ_DIAG_DIVERGENT_BARRIER, p->span,
	    "%s differs between the %u threads that work together",
	    at->what, at->threads), "Compute it from what they share: "
	    "thread_idx.x / %u.", at->threads);
	el->trail = trail;
}

static int64_t
who_meets(const struct meetings *s, const struct cj_meeting *at)
{
	int64_t block = s->f->block[0] * s->f->block[1] * s->f->block[2];

	return at->threads != 0 ? (int64_t)at->threads :
	    block > 0 ? block : EVERYBODY;
}

/* A condition around the meeting. */
static bool
check_conditions(const struct meetings *s, const struct cj_meeting *at)
{
	cj_region r = at->region;
	cj_ref owner, cond;

	for (; (owner = s->m->regions.at[r].owner) != 0; r = around(s->m, r)) {
		cond = parting(s, owner, who_meets(s, at));
		if (cond == 0)
			continue;
		complain(s, at, cond, 0);
		return false;
	}
	return true;
}

struct leaving {
	cj_ref exit, target;	/* target 0: the function */
	cj_region region;
};

/* Does the meeting follow the exit, or precede it in a loop that it ends? */
static bool
misses(const struct meetings *s, const struct cj_meeting *at,
    const struct leaving *l)
{
	enum cj_op op = cj_inst(s->m, l->exit)->op, target;
	cj_region r;

	if (!is_inside(s->m, at->region, l->target))
		return false;
	if (at->at > l->exit)
		return true;
	if (op == CJ_OP_CONTINUE)
		return false;
	/* an earlier place of a loop around both comes again */
	for (r = l->region; r != 0; r = around(s->m, r)) {
		cj_ref owner = s->m->regions.at[r].owner;

		if (owner == 0)
			break;
		target = cj_inst(s->m, owner)->op;
		if ((target == CJ_OP_FOR || target == CJ_OP_LOOP) &&
		    is_inside(s->m, at->region, owner))
			return true;
		if (owner == l->target)
			break;
	}
	return false;
}

/* The condition under which an exit leaves its target. */
static cj_ref
exit_condition(const struct meetings *s, const struct leaving *l,
    int64_t threads)
{
	cj_region r;

	for (r = l->region; r != 0; r = around(s->m, r)) {
		cj_ref owner = s->m->regions.at[r].owner, cond;

		if (owner == 0 || owner == l->target)
			break;
		cond = parting(s, owner, threads);
		if (cond != 0)
			return cond;
	}
	return 0;
}

static void
check(const struct meetings *s, const struct cj_meeting *at,
    const struct leaving *exits, uint32_t count)
{
	uint32_t i;
	cj_ref cond;

	if (at->value != 0) {
		if (parts(s, at->value, who_meets(s, at)))
			complain_of_value(s, at);
		return;
	}
	if (!check_conditions(s, at))
		return;
	for (i = 0; i < count; i++) {
		if (!misses(s, at, &exits[i]))
			continue;
		cond = exit_condition(s, &exits[i], who_meets(s, at));
		if (cond == 0)
			continue;
		complain(s, at, cond, exits[i].exit);
		return;
	}
}

static void
check_function(struct cj_elab *el, uint32_t function)
{
	struct meetings s = { .el = el, .m = el->m };
	CJ_VEC(struct leaving) exits = { 0 };
	const struct cj_inst *in;
	struct cj_walk w;
	uint32_t i;

	s.f = &el->m->functions.at[function];
	s.facts = cj_facts_compute(el->arena, el->m, function);
	w = cj_walk_begin(el->m, s.f->body);
	while ((in = cj_walk_inst(&w)) != NULL) {
		if (in->op == CJ_OP_BREAK || in->op == CJ_OP_CONTINUE ||
		    in->op == CJ_OP_RETURN)
			*cj_push(el->arena, &exits) = (struct leaving){
			    w.ref, in->op == CJ_OP_RETURN ? 0 : in->attr,
			    w.region };
	}
	for (i = 0; i < el->meetings.len; i++)
		if (el->meetings.at[i].function == function)
			check(&s, &el->meetings.at[i], exits.at, exits.len);
}

void
cj_elab_check_meetings(struct cj_elab *el)
{
	uint32_t i, k;

	for (i = 1; i < el->m->functions.len; i++)
		for (k = 0; k < el->meetings.len; k++)
			if (el->meetings.at[k].function == i) {
				check_function(el, i);
				break;
			}
}
