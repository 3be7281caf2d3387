/*
 * How many stages or turns a role's text has in a case.
 *
 * A case is what is decided of the conditions so far. What it leaves open is
 * put to whoever asks: the case is then split in two (elab_role_check.c).
 */
#include "elab_role_check.h"

/* ---- what is known in a case --------------------------------------------- */

/* What is positive where e is, and is no multiple: of 2 n + 1 it is n + 1. */
static struct cj_int
reduced(struct cj_symtab *t, struct cj_int e)
{
	const struct cj_term *sum = cj_term_get(t, e);
	int64_t by, more;

	if (cj_is_known(e) || sum->kind != CJ_TERM_SUM || sum->count != 1)
		return e;
	by = sum->addend[0].factor;
	by = by < 0 ? -by : by;
	more = sum->constant / by + (sum->constant % by > 0);
	return cj_int_add(t, cj_int_mul(t, (struct cj_int){ 0,
	    sum->addend[0].term }, cj_known(sum->addend[0].factor / by)),
	    cj_known(more));
}

/* e > 0; where it is not known, the question is open. */
bool
cj_role_is_positive(struct cj_role_question *q, struct cj_int whole)
{
	struct cj_symtab *t = &q->c->sym;
	struct cj_int e = reduced(t, whole), d;
	struct cj_range r = cj_int_range(t, e);
	uint32_t i;

	if (r.lo > 0 || r.hi <= 0)
		return r.lo > 0;
	for (i = 0; i < q->now.len; i++) {
		const struct cj_role_decision *k = &q->now.at[i];

		d = cj_int_sub(t, e, k->e);
		if (cj_is_known(d) && k->truth && d.value >= 0)
			return true;
		if (cj_is_known(d) && !k->truth && d.value <= 0)
			return false;
		d = cj_int_add(t, e, k->e);
		if (cj_is_known(d) && k->truth && d.value <= 1)
			return false;
		if (cj_is_known(d) && !k->truth && d.value >= 1)
			return true;
	}
	if (!q->is_open) {
		q->is_open = true;
		q->split = (struct cj_role_decision){ e, false, q->by,
		    q->side };
	}
	return false;
}

bool
cj_role_is_zero(struct cj_role_question *q, struct cj_int e)
{
	return !cj_role_is_positive(q, e) &&
	    !cj_role_is_positive(q, cj_int_neg(&q->c->sym, e));
}

bool
cj_role_holds(struct cj_role_question *q, const struct cj_cond *c)
{
	switch (c->kind) {
	case CJ_COND_KNOWN: return c->truth;
	case CJ_COND_POSITIVE: return cj_role_is_positive(q, c->e);
	case CJ_COND_NOT: return !cj_role_holds(q, c->x);
	case CJ_COND_AND:
		return cj_role_holds(q, c->x) && cj_role_holds(q, c->y);
	case CJ_COND_OR:
		return cj_role_holds(q, c->x) || cj_role_holds(q, c->y);
	}
	return false;
}

bool
cj_role_concerns(const struct cj_role_question *q, const struct cj_deeds *deeds)
{
	uint32_t i;

	for (i = 0; i < deeds->len; i++) {
		const struct cj_deed *d = deeds->at[i];

		if ((d->kind == CJ_DEED_OP || d->kind == CJ_DEED_SKIP) &&
		    cj_role_is_asked(q, d))
			return true;
		if (cj_role_concerns(q, &d->then) ||
		    cj_role_concerns(q, &d->other))
			return true;
	}
	return false;
}

/* ---- counts -------------------------------------------------------------- */

static struct cj_role_counted count(struct cj_role_question *q,
    const struct cj_deeds *deeds);

static struct cj_int
times(struct cj_role_question *q, const struct cj_deed *d)
{
	struct cj_symtab *t = &q->c->sym;
	struct cj_int n = cj_int_sub(t, d->hi, d->lo);
	const struct cj_deed *by = q->by;
	bool turns;

	q->by = d;
	turns = cj_role_is_positive(q, n);
	q->by = by;
	if (!turns)
		return cj_known(0);
	return cj_is_value(d->step, 1) ? n : cj_int_ceil_div(t, n, d->step);
}

/* A loop whose turns differ: a sum that is equal to the same sum alone. */
static struct cj_int
sum(struct cj_role_question *q, const struct cj_deed *d, struct cj_int each)
{
	struct cj_int s = cj_role_symbol(q->c, cj_printf(q->c->el->arena,
	    "sum %u:%lld of %u:%lld", (unsigned)d->index.term,
	    (long long)d->index.value, (unsigned)each.term,
	    (long long)each.value), "a sum", 0, INT64_MAX);
	struct cj_role_atom *a = cj_role_atom_of(q->c, s);

	a->of[0] = d->lo;
	a->of[1] = d->hi;
	a->of[2] = each;
	a->count = 3;
	return s;
}

/* How often a loop turns is not known, but for equal ones. */
static struct cj_role_counted
some_turns(struct cj_role_question *q, const char *loop,
    struct cj_role_counted each)
{
	struct cj_elab *el = q->c->el;
	const char *key = cj_printf(el->arena, "%s sum %u:%lld", loop,
	    (unsigned)each.used.term, (long long)each.used.value);

	return (struct cj_role_counted){ cj_role_symbol(q->c, key, "a sum", 0,
	    INT64_MAX), cj_is_value(each.skipped, 0) ? cj_known(0) :
	    cj_role_symbol(q->c, cj_printf(el->arena, "%s skip %u:%lld", key,
	    (unsigned)each.skipped.term, (long long)each.skipped.value),
	    "a sum", 0, INT64_MAX) };
}

static struct cj_role_counted
count_loop(struct cj_role_question *q, const struct cj_deed *d)
{
	struct cj_symtab *t = &q->c->sym;
	struct cj_role_counted each = count(q, &d->then);
	struct cj_role_exits early = cj_role_exits_of(q, d);
	struct cj_int n;

	if (early.first != 0)
		return some_turns(q, cj_printf(q->c->el->arena, "%s but %s",
		    d->loop, early.text.text), each);
	if (cj_role_depends(q->c, each.used, d->index) ||
	    cj_role_depends(q->c, each.skipped, d->index))
		return (struct cj_role_counted){ sum(q, d, each.used),
		    sum(q, d, each.skipped) };
	n = times(q, d);
	return (struct cj_role_counted){ cj_int_mul(t, n, each.used),
	    cj_int_mul(t, n, each.skipped) };
}

static struct cj_role_counted
count_while(struct cj_role_question *q, const struct cj_deed *d)
{
	const struct cj_deed *test = d->then.at[0], *around = q->loop;
	unsigned cond = test->kind == CJ_DEED_IF ? test->cond->number : d->at;
	struct cj_role_counted each;

	q->loop = d;
	each = count(q, &d->then);
	q->loop = around;
	return some_turns(q, cj_printf(q->c->el->arena, "while %u but %s",
	    cond, cj_role_exits_of(q, d).text.text), each);
}

static bool
is_taken(struct cj_role_question *q, const struct cj_deed *d)
{
	const struct cj_deed *by = q->by;
	bool taken;

	q->by = q->loop != NULL && q->loop->then.at[0] == d ? q->loop : d;
	taken = cj_role_holds(q, d->cond);
	q->by = by;
	return taken;
}

static struct cj_role_counted
count_one(struct cj_role_question *q, const struct cj_deed *d)
{
	struct cj_role_counted none = { cj_known(0), cj_known(0) };

	switch (d->kind) {
	case CJ_DEED_OP:
		if (cj_role_is_asked(q, d))
			none.used = cj_known(1);
		return none;
	case CJ_DEED_SKIP:
		if (d->pipeline == q->pipeline && q->order == 0 &&
		    cj_role_is_positive(q, d->n))
			none.skipped = d->n;
		return none;
	case CJ_DEED_IF:
		if (!cj_role_concerns(q, &d->then) &&
		    !cj_role_concerns(q, &d->other))
			return none;
		return count(q, is_taken(q, d) ? &d->then : &d->other);
	case CJ_DEED_FOR:
		return cj_role_concerns(q, &d->then) ? count_loop(q, d) : none;
	case CJ_DEED_WHILE:
		return cj_role_concerns(q, &d->then) ? count_while(q, d) : none;
	case CJ_DEED_EXIT:
		return none;
	}
	return none;
}

static struct cj_role_counted
count(struct cj_role_question *q, const struct cj_deeds *deeds)
{
	struct cj_symtab *t = &q->c->sym;
	struct cj_role_counted all = { cj_known(0), cj_known(0) }, one;
	uint32_t i;

	for (i = 0; i < deeds->len; i++) {
		one = count_one(q, deeds->at[i]);
		all.used = cj_int_add(t, all.used, one.used);
		all.skipped = cj_int_add(t, all.skipped, one.skipped);
	}
	return all;
}

struct cj_role_counted
cj_role_count(struct cj_role_question *q, const struct cj_role_side *s)
{
	struct cj_role_counted n;

	q->side = s;
	n = count(q, &s->deeds);
	q->side = NULL;
	return n;
}
