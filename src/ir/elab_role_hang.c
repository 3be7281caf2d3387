/*
 * Do roles that agree on how much they fill and take wait for each other for
 * ever? Their order decides.
 *
 * The roles' texts are run with numbers for what is not known, the same for
 * equal values, all of them small: how far each gets does not depend on who
 * goes first, for a role waits for one thing at a time and never looks whether
 * it is there. A stage counts as full when its produce block begins, and as
 * given back when its consume block does, a turn as passed on when it is taken:
 * so nothing is found that would not hang. What hangs with each of several
 * numbers is refused; what hangs for some lengths alone is the executor's to
 * find.
 */
#include "elab_role_priv.h"

enum { MOST_EVENTS = 1 << 14, NUMBERS = 3 };

struct event {
	const struct cj_deed *deed;
	uint32_t pipe;		/* of the launch; of a turn: its number */
	bool fills;
	int64_t skips;
};

/* One role: what it does, one after the other, and how far it is. */
struct runner {
	const struct cj_role_text *role;
	CJ_VEC(struct event) events;
	uint32_t at;
	uint32_t bit;		/* in produced_by and consumed_by */
};

struct world {
	struct cj_compare *c;
	int64_t number;
	/* by atom: what loops that turn have made of it */
	int64_t *index;
	bool *has_index;
	struct runner *runners;
	uint32_t count;
	bool gave_up;
	/* by pipeline and runner: filled, taken or passed over */
	int64_t *filled, *taken;
	/* by order and number of a turn: how often it was taken */
	int64_t (*turns)[32];
};

/* ---- values -------------------------------------------------------------- */

static int64_t eval(struct world *w, struct cj_int e);

static bool
holds(struct world *w, const struct cj_cond *c)
{
	switch (c->kind) {
	case CJ_COND_KNOWN: return c->truth;
	case CJ_COND_POSITIVE: return eval(w, c->e) > 0;
	case CJ_COND_NOT: return !holds(w, c->x);
	case CJ_COND_AND: return holds(w, c->x) && holds(w, c->y);
	case CJ_COND_OR: return holds(w, c->x) || holds(w, c->y);
	}
	return false;
}

/* A small number in the symbol's range. */
static int64_t
small(struct world *w, struct cj_int symbol)
{
	const struct cj_term *t = cj_term_get(&w->c->sym, symbol);
	int64_t step = t->divisor > 1 ? t->divisor : 1;
	int64_t lo = t->lo > 0 ? (t->lo - 1) / step * step : 0;
	int64_t n = lo + w->number * step;

	return n > t->hi ? t->hi : n < t->lo ? t->lo : n;
}

static int64_t
value_of(void *user, uint32_t symbol)
{
	struct world *w = user;
	const struct cj_role_atom *a = &w->c->atoms.at[symbol];

	if (w->has_index[symbol])
		return w->index[symbol];
	if (a->varies)
		w->gave_up = true;
	if (a->cond != NULL && a->count == 2)
		return eval(w, a->of[holds(w, a->cond) ? 0 : 1]);
	if (a->cond != NULL && a->count == 0)
		return holds(w, a->cond);
	return small(w, a->symbol);
}

static int64_t
eval(struct world *w, struct cj_int e)
{
	int64_t n = 0;

	if (!cj_int_eval(&w->c->sym, e, value_of, w, &n))
		w->gave_up = true;
	return n;
}

/* ---- a text becomes events ----------------------------------------------- */

/* false: a loop is left. */
static bool unroll(struct world *w, struct runner *r,
    const struct cj_deeds *deeds);

static void
add(struct world *w, struct runner *r, struct event e)
{
	if (r->events.len == MOST_EVENTS)
		w->gave_up = true;
	else
		*cj_push(w->c->el->arena, &r->events) = e;
}

static void
add_stage(struct world *w, struct runner *r, const struct cj_deed *d)
{
	const struct cj_emitter *em = w->c->el->em;
	struct event e = { .deed = d };
	const struct cj_inst *i = cj_inst(w->c->el->m, d->at);
	uint32_t p;

	for (p = 0; p < em->pipes.len; p++)
		if (em->pipes.at[p]->number == d->pipeline)
			break;
	if (p == em->pipes.len || cj_pipe_is_local(em->pipes.at[p]))
		return;
	e.pipe = p;
	e.fills = i->op == CJ_OP_PRODUCE;
	if (d->kind == CJ_DEED_SKIP)
		e.skips = eval(w, d->n);
	if (d->kind != CJ_DEED_SKIP || e.skips > 0)
		add(w, r, e);
}

/* Turns of who is not known wait for nobody here. */
static void
add_turn(struct world *w, struct runner *r, const struct cj_deed *d)
{
	const struct cj_module *m = w->c->el->m;
	const struct cj_constant *c = cj_constant_of(m, cj_operand(m,
	    cj_inst(m, d->at), 0));

	if (c != NULL && c->bits[0] < m->orders.at[d->order].count)
		add(w, r, (struct event){ .deed = d,
		    .pipe = (uint32_t)c->bits[0] });
}

static void
set(struct world *w, struct cj_int symbol, int64_t value, bool has)
{
	uint32_t atom;

	if (cj_is_known(symbol))
		return;
	atom = cj_term_get(&w->c->sym, symbol)->symbol;
	w->index[atom] = value;
	w->has_index[atom] = has;
}

static bool
is_carried(const struct cj_role_var *v, const struct cj_deed *loop)
{
	return !v->is_bad && v->loop != NULL &&
	    strcmp(v->loop, loop->loop) == 0;
}

/* What the loop's variables begin with; then, what each turn makes of them. */
static void
carry(struct world *w, const struct cj_deed *d, bool begins)
{
	uint32_t n = w->c->carried.len, i;
	int64_t *next = CJ_NEWS(w->c->el->arena, int64_t, n + 1);

	for (i = 0; i < n; i++)
		if (is_carried(&w->c->carried.at[i], d))
			next[i] = eval(w, begins ? w->c->carried.at[i].first :
			    w->c->carried.at[i].next);
	for (i = 0; i < n; i++)
		if (is_carried(&w->c->carried.at[i], d))
			set(w, w->c->carried.at[i].now, next[i], true);
}

static void
forget(struct world *w, const struct cj_deed *d)
{
	uint32_t i;

	for (i = 0; i < w->c->carried.len; i++)
		if (is_carried(&w->c->carried.at[i], d))
			set(w, w->c->carried.at[i].now, 0, false);
	set(w, d->index, 0, false);
}

static void
unroll_for(struct world *w, struct runner *r, const struct cj_deed *d)
{
	int64_t lo = eval(w, d->lo), hi = eval(w, d->hi);
	int64_t step = eval(w, d->step), i;

	carry(w, d, true);
	for (i = lo; i < hi && step > 0 && !w->gave_up; i += step) {
		set(w, d->index, i, true);
		if (!unroll(w, r, &d->then))
			break;
		carry(w, d, false);
		w->gave_up |= hi - i > MOST_EVENTS;
	}
	forget(w, d);
}

/* How often is not known: as often in all roles. */
static void
unroll_while(struct world *w, struct runner *r, const struct cj_deed *d)
{
	const struct cj_deed *test = d->then.at[0];
	bool has_test = d->then.len == 1 && test->kind == CJ_DEED_IF &&
	    test->then.len == 1 && test->then.at[0]->kind == CJ_DEED_EXIT;
	int64_t i;

	carry(w, d, true);
	for (i = 0; i < 2 * w->number; i++) {
		if (!unroll(w, r, has_test ? &test->other : &d->then))
			break;
		carry(w, d, false);
	}
	forget(w, d);
}

static bool
unroll_one(struct world *w, struct runner *r, const struct cj_deed *d)
{
	switch (d->kind) {
	case CJ_DEED_OP:
		if (d->order != 0)
			add_turn(w, r, d);
		else
			add_stage(w, r, d);
		return true;
	case CJ_DEED_SKIP: add_stage(w, r, d); return true;
	case CJ_DEED_IF:
		return unroll(w, r, holds(w, d->cond) ? &d->then : &d->other);
	case CJ_DEED_FOR: unroll_for(w, r, d); return true;
	case CJ_DEED_WHILE: unroll_while(w, r, d); return true;
	case CJ_DEED_EXIT: return false;
	}
	return true;
}

static bool
unroll(struct world *w, struct runner *r, const struct cj_deeds *deeds)
{
	uint32_t i;

	for (i = 0; i < deeds->len && !w->gave_up; i++)
		if (!unroll_one(w, r, deeds->at[i]))
			return false;
	return true;
}

/* ---- run ----------------------------------------------------------------- */

static int64_t *
of_runner(const struct world *w, int64_t *table, uint32_t pipe, uint32_t r)
{
	return &table[pipe * w->count + r];
}

/* Has anybody of a split pipeline, has everybody else gone on far enough? */
static bool
may_fill(const struct world *w, const struct cj_pipe *p, uint32_t pipe,
    int64_t filled)
{
	bool all = true, any = false, is_free;
	uint32_t k;

	for (k = 0; k < w->count; k++) {
		if (!(p->consumed_by >> w->runners[k].bit & 1))
			continue;
		is_free = filled - *of_runner(w, w->taken, pipe, k) <
		    p->stages;
		all &= is_free;
		any |= is_free;
	}
	return p->is_split ? any : all;
}

static bool
may_take(const struct world *w, const struct cj_pipe *p, uint32_t pipe,
    int64_t taken)
{
	uint32_t k;

	for (k = 0; k < w->count; k++)
		if (p->produced_by >> w->runners[k].bit & 1 &&
		    *of_runner(w, w->filled, pipe, k) <= taken)
			return false;
	return true;
}

static bool
step_turn(struct world *w, const struct event *e)
{
	uint32_t n = w->c->el->m->orders.at[e->deed->order].count;
	int64_t *turns = w->turns[e->deed->order];

	if (e->pipe == 0 ? turns[n - 1] < turns[0] :
	    turns[e->pipe - 1] <= turns[e->pipe])
		return false;
	turns[e->pipe]++;
	return true;
}

/* false: it waits. */
static bool
step(struct world *w, uint32_t r)
{
	struct runner *u = &w->runners[r];
	const struct event *e = &u->events.at[u->at];
	const struct cj_pipe *p;
	int64_t *n;

	if (e->deed->order != 0)
		return step_turn(w, e);
	p = w->c->el->em->pipes.at[e->pipe];
	n = of_runner(w, e->fills ? w->filled : w->taken, e->pipe, r);
	if (e->skips > 0) {
		*n += e->skips;
		return true;
	}
	if (e->fills ? !may_fill(w, p, e->pipe, *n) :
	    !may_take(w, p, e->pipe, *n))
		return false;
	++*n;
	return true;
}

/* true: all came to their ends. */
static bool
run(struct world *w)
{
	bool moved = true, ended = false;
	uint32_t r;

	while (moved) {
		moved = false;
		ended = true;
		for (r = 0; r < w->count; r++) {
			struct runner *u = &w->runners[r];

			while (u->at < u->events.len && step(w, r)) {
				u->at++;
				moved = true;
			}
			ended &= u->at == u->events.len;
		}
	}
	return ended;
}

/* ---- all numbers --------------------------------------------------------- */

static uint32_t
bit_of(const struct cj_elab *el, const struct cj_role_text *role)
{
	uint32_t k;

	for (k = 0; k < el->em->roles.len; k++)
		if (el->em->roles.at[k]->number == role->number)
			return k + 1;
	return 0;
}

/* With this number: NULL, or the world in which roles wait. */
static struct world *
hangs(struct cj_compare *c, int64_t number)
{
	struct cj_arena *a = c->el->arena;
	struct world *w = CJ_NEW(a, struct world);
	uint32_t i;

	*w = (struct world){ .c = c, .number = number,
	    .count = c->roles.len - 1 };
	w->index = CJ_NEWS(a, int64_t, c->atoms.len + 1);
	w->has_index = CJ_NEWS(a, bool, c->atoms.len + 1);
	w->runners = CJ_NEWS(a, struct runner, w->count + 1);
	w->filled = CJ_NEWS(a, int64_t, (c->el->em->pipes.len + 1) *
	    (w->count + 1));
	w->taken = CJ_NEWS(a, int64_t, (c->el->em->pipes.len + 1) *
	    (w->count + 1));
	w->turns = cj_alloc(a, (c->el->m->orders.len + 1) *
	    sizeof *w->turns);
	memset(w->turns, 0, (c->el->m->orders.len + 1) * sizeof *w->turns);
	for (i = 0; i < w->count; i++) {
		w->runners[i].role = &c->roles.at[i + 1];
		w->runners[i].bit = bit_of(c->el, w->runners[i].role);
		unroll(w, &w->runners[i], &w->runners[i].role->deeds);
	}
	return w->gave_up || run(w) || w->gave_up ? NULL : w;
}

static const char *
name_of(const struct world *w, const struct runner *r)
{
	const char *name = w->c->el->m->roles.at[r->role->number].name;

	return name != NULL ? name : "a role";
}

static const char *
what_of(const struct world *w, const struct event *e)
{
	const struct cj_elab *el = w->c->el;

	if (e->deed->order != 0)
		return cj_printf(el->arena, "turn %u of \"%s\"",
		    (unsigned)e->pipe, el->m->orders.at[e->deed->order].name);
	return cj_printf(el->arena, "%s stage of \"%s\"", e->fills ?
	    "an empty" : "a full", cj_elab_name(w->c->el,
	    el->em->pipes.at[e->pipe]->name));
}

static void
report(const struct world *w)
{
	struct cj_elab *el = w->c->el;
	struct cj_diag *d = NULL;
	uint32_t i;

	for (i = 0; i < w->count; i++) {
		const struct runner *r = &w->runners[i];
		const struct event *e = &r->events.at[r->at];
		struct cj_span at;

		if (r->at == r->events.len)
			continue;
		at = el->m->places.at[cj_inst(el->m, e->deed->at)->place]
		    .span;
		if (d == NULL)
			d = cj_elab_report(el, CJ_DIAG_UNBALANCED, at,
			    "roles wait for each other for ever: \"%s\" waits "
			    "for %s here", name_of(w, r), what_of(w, e));
		else
			cj_note(d, at, "\"%s\" waits for %s", name_of(w, r),
			    what_of(w, e));
	}
	cj_help(d, "Let all of them fill and take stages, and take turns, in "
	    "one order, or let somebody fill a stage in front of what it "
	    "waits for.");
}

void
cj_roles_check_order(struct cj_compare *c)
{
	struct world *w = NULL;
	int64_t n;

	for (n = 1; n <= NUMBERS; n++) {
		w = hangs(c, n);
		if (w == NULL)
			return;
	}
	report(w);
}
