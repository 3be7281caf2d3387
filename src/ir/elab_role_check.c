/*
 * Do roles agree on how many stages go from one to the other?
 *
 * Roles whose text for a pipeline is one loop over one range are paired, and
 * the bodies compared for one turn. What is left is counted, as a term over the
 * roles' values, in each case that the conditions tell apart
 * (elab_role_count.c); in every case each role must read as many stages as are
 * filled. Of a split pipeline, one role reads all of them and the others skip
 * as many. Of an order, in each case everybody takes equally many turns, or one
 * alone takes one.
 */
#include "elab_role_check.h"

enum { MOST_CASES = 64 };

/* ---- one case ------------------------------------------------------------ */

/* true: it is settled, well or not; else the question is open. */
static bool
judge_split(struct cj_role_question *q, const struct cj_role_side *s,
    uint32_t n, struct cj_int filled, const struct cj_role_counted *counts)
{
	uint32_t i, takers = 0, last = 0;

	if (cj_role_is_zero(q, filled) || q->is_open)
		return !q->is_open;
	for (i = 0; i < n; i++) {
		if (s[i].fills)
			continue;
		last = i;
		takers += cj_role_is_zero(q, cj_int_sub(&q->c->sym, filled,
		    counts[i].used));
	}
	if (q->is_open)
		return false;
	if (takers != 1)
		cj_role_report(q, &s[0], &s[last], cj_printf(q->c->el->arena,
		    "%s takes the %s%s", takers == 0 ? "no role" :
		    "more than one role", cj_role_thing(q),
		    cj_role_case_text(q)));
	return true;
}

static bool
judge_stages(struct cj_role_question *q, const struct cj_role_side *s,
    uint32_t n)
{
	struct cj_arena *a = q->c->el->arena;
	struct cj_role_counted *counts = CJ_NEWS(a, struct cj_role_counted, n);
	struct cj_int filled, all;
	uint32_t i;

	for (i = 0; i < n; i++)
		counts[i] = cj_role_count(q, &s[i]);
	filled = counts[0].used;
	for (i = 1; i < n && !q->is_open; i++) {
		all = cj_int_add(&q->c->sym, counts[i].used,
		    counts[i].skipped);
		if (cj_role_is_zero(q, cj_int_sub(&q->c->sym, filled, all)) ||
		    q->is_open)
			continue;
		cj_role_report_counts(q, &s[0], &s[i], filled, counts[i]);
		return true;
	}
	if (q->is_open)
		return false;
	return !q->is_split || judge_split(q, s, n, filled, counts);
}

static bool
judge_turns(struct cj_role_question *q, const struct cj_role_side *s,
    uint32_t n)
{
	struct cj_role_counted *counts = CJ_NEWS(q->c->el->arena,
	    struct cj_role_counted, n);
	uint32_t i, some = 0, same = 0, one = 0;

	for (i = 0; i < n; i++)
		counts[i] = cj_role_count(q, &s[i]);
	for (i = 0; i < n; i++) {
		some += !cj_role_is_zero(q, counts[i].used);
		one += cj_role_is_zero(q, cj_int_sub(&q->c->sym, counts[i].used,
		    cj_known(1)));
		same += cj_role_is_zero(q, cj_int_sub(&q->c->sym,
		    counts[i].used, counts[0].used));
	}
	if (q->is_open)
		return false;
	if (same != n && !(some == 1 && one == 1))
		cj_role_report(q, &s[0], &s[1], cj_printf(q->c->el->arena,
		    "the roles do not take equally many %s%s", cj_role_thing(q),
		    cj_role_case_text(q)));
	return true;
}

/* ---- all cases ----------------------------------------------------------- */

static void
judge(struct cj_role_question *q, const struct cj_role_side *s, uint32_t n)
{
	struct cj_role_decided *work = CJ_NEWS(q->c->el->arena,
	    struct cj_role_decided, MOST_CASES + 2);
	uint32_t left = 1, done = 0, errors = q->c->el->errors;
	bool settled;

	while (left > 0 && q->c->el->errors == errors) {
		q->now = work[--left];
		q->is_open = false;
		settled = q->order != 0 ? judge_turns(q, s, n) :
		    judge_stages(q, s, n);
		if (settled && !q->is_open) {
			done++;
			continue;
		}
		if (q->now.len == CJ_ROLE_DECISIONS ||
		    done + left + 2 > MOST_CASES) {
			cj_role_report(q, &s[0], &s[n - 1], "the roles' "
			    "counts depend on more conditions than can be "
			    "compared");
			return;
		}
		q->now.at[q->now.len++] = q->split;
		work[left++] = q->now;
		q->now.at[q->now.len - 1].truth = true;
		work[left++] = q->now;
	}
}

/* The one deed that cj_role_concerns the question; NULL: there are several. */
static const struct cj_deed *
only_deed(const struct cj_role_question *q, const struct cj_deeds *deeds)
{
	const struct cj_deed *only = NULL;
	uint32_t i;

	for (i = 0; i < deeds->len; i++) {
		const struct cj_deed *d = deeds->at[i];
		struct cj_deeds one = { &deeds->at[i], 1, 1 };

		if (!cj_role_concerns(q, &one))
			continue;
		if (only != NULL)
			return NULL;
		only = d;
	}
	return only;
}

static bool
is_same_loop(const struct cj_role_question *q, const struct cj_deed *a,
    const struct cj_deed *b)
{
	if (a->kind != b->kind ||
	    (a->kind != CJ_DEED_FOR && a->kind != CJ_DEED_WHILE) ||
	    strcmp(cj_role_exits_of(q, a).text.text,
	    cj_role_exits_of(q, b).text.text) != 0)
		return false;
	if (a->kind == CJ_DEED_WHILE)
		return cj_role_body(a) != NULL && cj_role_body(b) != NULL &&
		    a->then.at[0]->cond == b->then.at[0]->cond;
	return cj_int_same(a->lo, b->lo) && cj_int_same(a->hi, b->hi) &&
	    cj_int_same(a->step, b->step);
}

/* Loops over one sequence: their bodies, in one turn. */
static void
pair(struct cj_role_question *q, struct cj_role_side *s, uint32_t n)
{
	const struct cj_deed *first = only_deed(q, &s[0].deeds), *d;
	uint32_t i;

	for (;;) {
		for (i = 0; i < n && first != NULL; i++) {
			d = only_deed(q, &s[i].deeds);
			if (d == NULL || !is_same_loop(q, first, d))
				first = NULL;
		}
		if (first == NULL)
			break;
		for (i = 0; i < n; i++)
			s[i].deeds = *cj_role_body(only_deed(q, &s[i].deeds));
		first = only_deed(q, &s[0].deeds);
	}
	judge(q, s, n);
}

/* ---- pipelines and orders ------------------------------------------------ */

static void
add_sides(struct cj_role_question *q, struct cj_role_side *s, uint32_t *n,
    bool fills, uint64_t roles)
{
	struct cj_compare *c = q->c;
	uint32_t i, k;

	for (i = 0; i < c->roles.len; i++) {
		const struct cj_role_text *r = &c->roles.at[i];
		uint32_t bit = 0;

		for (k = 0; k < c->el->em->roles.len && r->number != 0; k++)
			if (c->el->em->roles.at[k]->number == r->number)
				bit = k + 1;
		if (!(roles >> bit & 1))
			continue;
		s[(*n)++] = (struct cj_role_side){ r, r->deeds, fills };
	}
}

/* Roles wait for each other at mbarriers. */
static void
check_target(struct cj_elab *el, const struct cj_pipe *p)
{
	if (cj_pipe_is_local(p) || el->target == NULL ||
	    el->target->number >= 90)
		return;
	cj_help(cj_elab_report(el, CJ_DIAG_NO_ATOM, p->span, "roles hand "
	    "stages on from sm_90 on, not on %s", el->target->name),
	    "Say \"target sm_90\" behind the contract, and give the family a "
	    "member where all warps fill and read stages themselves.");
}

/* A role that fills and reads has both among its deeds: not to be compared. */
static void
compare_pipe(struct cj_compare *c, const struct cj_pipe *p)
{
	struct cj_role_question q = { .c = c, .pipeline = p->number,
	    .is_split = p->is_split };
	struct cj_role_side *s = CJ_NEWS(c->el->arena, struct cj_role_side,
	    2 * c->roles.len + 1);
	uint32_t n = 0;

	if (cj_pipe_is_local(p) || p->produced_by & p->consumed_by)
		return;
	add_sides(&q, s, &n, true, p->produced_by);
	add_sides(&q, s, &n, false, p->consumed_by);
	if (n > 1)
		pair(&q, s, n);
}

static void
compare_order(struct cj_compare *c, uint32_t order)
{
	struct cj_role_question q = { .c = c, .order = order };
	struct cj_role_side *s = CJ_NEWS(c->el->arena, struct cj_role_side,
	    c->roles.len + 1);
	uint32_t n = 0, i;

	for (i = 1; i < c->roles.len; i++)
		if (cj_role_concerns(&q, &c->roles.at[i].deeds))
			s[n++] = (struct cj_role_side){ &c->roles.at[i],
			    c->roles.at[i].deeds, false };
	if (n > 1)
		pair(&q, s, n);
}

void
cj_elab_compare_roles(struct cj_elab *el)
{
	struct cj_compare c = { .el = el };
	uint32_t i;

	cj_symtab_init(&c.sym, el->arena, el->names);
	cj_roles_read(&c);
	for (i = 0; i < el->em->pipes.len && el->errors == 0; i++) {
		check_target(el, el->em->pipes.at[i]);
		compare_pipe(&c, el->em->pipes.at[i]);
		cj_role_compare_blocks(&c, el->em->pipes.at[i]);
	}
	for (i = 1; i < el->m->orders.len && el->errors == 0; i++)
		compare_order(&c, i);
	if (el->errors == 0 && c.roles.len > 2)
		cj_roles_check_order(&c);
}
