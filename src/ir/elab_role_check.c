/*
 * Do roles agree on how many stages go from one to the other?
 *
 * Roles whose text for a pipeline is one loop over one range are paired, and
 * the bodies compared for one turn. What is left is counted, as a term over the
 * roles' values, in each case that the conditions tell apart; in every case
 * each role must read as many stages as are filled. Of a split pipeline, one
 * role reads all of them and the others skip as many. Of an order, in each case
 * everybody takes equally many turns, or one alone takes one.
 */
#include "elab_role_check.h"

enum { MOST_CASES = 64 };

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
static bool
is_positive(struct cj_role_question *q, struct cj_int whole)
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

static bool
is_zero(struct cj_role_question *q, struct cj_int e)
{
	return !is_positive(q, e) &&
	    !is_positive(q, cj_int_neg(&q->c->sym, e));
}

bool
cj_role_holds(struct cj_role_question *q, const struct cj_cond *c)
{
	switch (c->kind) {
	case CJ_COND_KNOWN: return c->truth;
	case CJ_COND_POSITIVE: return is_positive(q, c->e);
	case CJ_COND_NOT: return !cj_role_holds(q, c->x);
	case CJ_COND_AND:
		return cj_role_holds(q, c->x) && cj_role_holds(q, c->y);
	case CJ_COND_OR:
		return cj_role_holds(q, c->x) || cj_role_holds(q, c->y);
	}
	return false;
}

static bool
concerns(const struct cj_role_question *q, const struct cj_deeds *deeds)
{
	uint32_t i;

	for (i = 0; i < deeds->len; i++) {
		const struct cj_deed *d = deeds->at[i];

		if ((d->kind == CJ_DEED_OP || d->kind == CJ_DEED_SKIP) &&
		    (q->order != 0 ? d->order == q->order :
		    d->pipeline == q->pipeline))
			return true;
		if (concerns(q, &d->then) || concerns(q, &d->other))
			return true;
	}
	return false;
}

/* ---- loops that are left early ------------------------------------------- */

/* while c { ... } reads: if c' { leave } else { ... } */
static const struct cj_deeds *
body_of(const struct cj_deed *d)
{
	const struct cj_deed *test = d->then.at[0];

	if (d->kind == CJ_DEED_FOR)
		return &d->then;
	if (d->then.len == 1 && test->kind == CJ_DEED_IF &&
	    test->then.len == 1 && test->then.at[0]->kind == CJ_DEED_EXIT)
		return &test->other;
	return NULL;
}

/* Loops around an exit, up to the one that is asked about. */
struct nest {
	cj_ref loop;
	const struct nest *outer;
};

/* Where and under which conditions a loop is left: equal texts, equal ways. */
struct exits {
	struct cj_strbuf text;
	cj_ref first;
};

/* Does a scope hold stages or turns? */
static bool
holds_stages(const struct cj_module *m, const struct cj_inst *scope)
{
	struct cj_walk w = cj_walk_begin(m, scope->region);
	const struct cj_inst *i;

	while ((i = cj_walk_inst(&w)) != NULL)
		if (i->op == CJ_OP_PRODUCE || i->op == CJ_OP_CONSUME ||
		    i->op == CJ_OP_SKIP || i->op == CJ_OP_TURN)
			return true;
	return false;
}

/* Does it leave the outermost loop of the nest? A function that returns out of
 * a loop of its own leaves none of stages. */
static bool
leaves(const struct cj_role_question *q, const struct cj_deed *d,
    const struct nest *in)
{
	const struct cj_module *m = q->c->el->m;
	const struct cj_inst *i = cj_inst(m, d->at);

	if (cj_inst(m, i->attr)->op == CJ_OP_SCOPE &&
	    !holds_stages(m, cj_inst(m, i->attr)))
		return false;
	for (; in != NULL; in = in->outer)
		if (in->loop == i->attr)
			return in->outer == NULL && i->op == CJ_OP_BREAK;
	return true;
}

static struct exits find_exits(const struct cj_role_question *q,
    const struct cj_deeds *deeds, const struct nest *in);

/* Those of a condition's arms, or of a loop inside. */
static struct exits
inner_exits(const struct cj_role_question *q, const struct cj_deed *d,
    const struct nest *in)
{
	bool is_loop = d->kind == CJ_DEED_FOR || d->kind == CJ_DEED_WHILE;
	struct nest inside = { d->at, in };
	struct exits x = find_exits(q, &d->then, is_loop ? &inside : in);
	struct exits y = find_exits(q, &d->other, in);
	struct exits both = { .first = x.first != 0 ? x.first : y.first };

	cj_strbuf_init(&both.text, q->c->el->arena);
	if (both.first != 0)
		cj_strbuf_printf(&both.text, "%s %u (%s, %s)", is_loop ?
		    d->loop : "if", d->cond != NULL ?
		    (unsigned)d->cond->number : 0, x.text.text, y.text.text);
	return both;
}

static struct exits
find_exits(const struct cj_role_question *q, const struct cj_deeds *deeds,
    const struct nest *in)
{
	struct exits all = { .first = 0 }, one;
	uint32_t i;

	cj_strbuf_init(&all.text, q->c->el->arena);
	for (i = 0; i < deeds->len; i++) {
		const struct cj_deed *d = deeds->at[i];

		if (d->kind == CJ_DEED_EXIT && leaves(q, d, in)) {
			cj_strbuf_puts(&all.text, "leave");
			all.first = all.first != 0 ? all.first : d->at;
		}
		one = inner_exits(q, d, in);
		cj_strbuf_puts(&all.text, one.text.text);
		all.first = all.first != 0 ? all.first : one.first;
	}
	return all;
}

/* But for the test that a while loop begins with. */
static struct exits
exits_of(const struct cj_role_question *q, const struct cj_deed *d)
{
	const struct nest itself = { d->at, NULL };
	const struct cj_deeds *body = body_of(d);

	return find_exits(q, body != NULL ? body : &d->then, &itself);
}

cj_ref
cj_role_early_exit(const struct cj_role_question *q,
    const struct cj_deeds *deeds)
{
	cj_ref r = 0;
	uint32_t i;

	for (i = 0; i < deeds->len && r == 0; i++) {
		const struct cj_deed *d = deeds->at[i];
		struct cj_deeds one = { &deeds->at[i], 1, 1 };

		if (!concerns(q, &one))
			continue;
		if (d->kind == CJ_DEED_FOR || d->kind == CJ_DEED_WHILE)
			r = exits_of(q, d).first;
		if (r == 0)
			r = cj_role_early_exit(q, &d->then);
		if (r == 0)
			r = cj_role_early_exit(q, &d->other);
	}
	return r;
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
	turns = is_positive(q, n);
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
	struct exits early = exits_of(q, d);
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
	    cond, exits_of(q, d).text.text), each);
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
		if (q->order != 0 ? d->order == q->order :
		    d->pipeline == q->pipeline)
			none.used = cj_known(1);
		return none;
	case CJ_DEED_SKIP:
		if (d->pipeline == q->pipeline && q->order == 0 &&
		    is_positive(q, d->n))
			none.skipped = d->n;
		return none;
	case CJ_DEED_IF:
		if (!concerns(q, &d->then) && !concerns(q, &d->other))
			return none;
		return count(q, is_taken(q, d) ? &d->then : &d->other);
	case CJ_DEED_FOR:
		return concerns(q, &d->then) ? count_loop(q, d) : none;
	case CJ_DEED_WHILE:
		return concerns(q, &d->then) ? count_while(q, d) : none;
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

static struct cj_role_counted
count_side(struct cj_role_question *q, const struct cj_role_side *s)
{
	struct cj_role_counted n;

	q->side = s;
	n = count(q, &s->deeds);
	q->side = NULL;
	return n;
}

/* ---- one case ------------------------------------------------------------ */

/* true: it is settled, well or not; else the question is open. */
static bool
judge_split(struct cj_role_question *q, const struct cj_role_side *s,
    uint32_t n, struct cj_int filled, const struct cj_role_counted *counts)
{
	uint32_t i, takers = 0, last = 0;

	if (is_zero(q, filled) || q->is_open)
		return !q->is_open;
	for (i = 0; i < n; i++) {
		if (s[i].fills)
			continue;
		last = i;
		takers += is_zero(q, cj_int_sub(&q->c->sym, filled,
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
		counts[i] = count_side(q, &s[i]);
	filled = counts[0].used;
	for (i = 1; i < n && !q->is_open; i++) {
		all = cj_int_add(&q->c->sym, counts[i].used,
		    counts[i].skipped);
		if (is_zero(q, cj_int_sub(&q->c->sym, filled, all)) ||
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
		counts[i] = count_side(q, &s[i]);
	for (i = 0; i < n; i++) {
		some += !is_zero(q, counts[i].used);
		one += is_zero(q, cj_int_sub(&q->c->sym, counts[i].used,
		    cj_known(1)));
		same += is_zero(q, cj_int_sub(&q->c->sym, counts[i].used,
		    counts[0].used));
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

/* The one deed that concerns the question; NULL: there are several. */
static const struct cj_deed *
only_deed(const struct cj_role_question *q, const struct cj_deeds *deeds)
{
	const struct cj_deed *only = NULL;
	uint32_t i;

	for (i = 0; i < deeds->len; i++) {
		const struct cj_deed *d = deeds->at[i];
		struct cj_deeds one = { &deeds->at[i], 1, 1 };

		if (!concerns(q, &one))
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
	if (a->kind != b->kind || (a->kind != CJ_DEED_FOR &&
	    a->kind != CJ_DEED_WHILE) || strcmp(exits_of(q, a).text.text,
	    exits_of(q, b).text.text) != 0)
		return false;
	if (a->kind == CJ_DEED_WHILE)
		return body_of(a) != NULL && body_of(b) != NULL &&
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
			s[i].deeds = *body_of(only_deed(q, &s[i].deeds));
		first = only_deed(q, &s[0].deeds);
	}
	judge(q, s, n);
}

/* ---- blocks of a cluster ------------------------------------------------- */

/* Is a value another one in other blocks of the cluster? */
static bool
is_of_block(struct cj_role_question *q, struct cj_int e)
{
	static const char *const keys[] = { "rank", "rank 0", "rank 1",
	    "rank 2" };
	uint32_t i, k;

	for (i = 0; i < q->c->atoms.len; i++)
		for (k = 0; k < CJ_LENGTH(keys); k++)
			if (strcmp(q->c->atoms.at[i].key, keys[k]) == 0 &&
			    cj_role_depends(q->c, e,
			    q->c->atoms.at[i].symbol))
				return true;
	return false;
}

static bool
cond_is_of_block(struct cj_role_question *q, const struct cj_cond *c)
{
	return c != NULL && (is_of_block(q, c->e) ||
	    cond_is_of_block(q, c->x) || cond_is_of_block(q, c->y));
}

/* A condition under which a loop is left. */
static bool
is_exit(const struct cj_deed *d)
{
	return d->kind == CJ_DEED_IF && ((d->then.len == 1 &&
	    d->then.at[0]->kind == CJ_DEED_EXIT) || (d->other.len == 1 &&
	    d->other.at[0]->kind == CJ_DEED_EXIT));
}

/* The first deed that is done differently in other blocks; NULL: none. */
static const struct cj_deed *
differs(struct cj_role_question *q, const struct cj_deeds *deeds)
{
	const struct cj_deed *found = NULL;
	uint32_t i;

	for (i = 0; i < deeds->len && found == NULL; i++) {
		const struct cj_deed *d = deeds->at[i];
		struct cj_deeds one = { &deeds->at[i], 1, 1 };

		if (!concerns(q, &one) && !is_exit(d))
			continue;
		if (cond_is_of_block(q, d->cond) || is_of_block(q, d->lo) ||
		    is_of_block(q, d->hi) || is_of_block(q, d->step) ||
		    is_of_block(q, d->n))
			return d;
		found = differs(q, &d->then);
		if (found == NULL)
			found = differs(q, &d->other);
	}
	return found;
}

static bool
is_shared(const struct cj_module *m, const struct cj_pipe *p)
{
	cj_ref r;
	uint32_t i;

	for (r = 1; r < m->insts.len; r++) {
		const struct cj_inst *l = cj_inst(m, r);

		for (i = 0; l->op == CJ_OP_TMA_LOAD &&
		    m->tmas.at[l->attr].share != 0 && i < p->count; i++)
			if (m->accesses.at[m->tmas.at[l->attr].shared].object
			    == p->field[i].object)
				return true;
	}
	return false;
}

/* Blocks that share loads fill and read equally often. */
static void
compare_blocks(struct cj_compare *c, const struct cj_pipe *p)
{
	struct cj_role_question q = { .c = c, .pipeline = p->number };
	const struct cj_deed *d = NULL;
	struct cj_diag *report;
	uint32_t i;

	if (!is_shared(c->el->m, p))
		return;
	for (i = 0; i < c->roles.len && d == NULL; i++)
		d = differs(&q, &c->roles.at[i].deeds);
	if (d == NULL)
		return;
	report = cj_elab_report(c->el, CJ_DIAG_UNEQUAL_ROLES,
	    c->el->m->places.at[cj_inst(c->el->m, d->at)->place].span,
	    "the blocks of a cluster may not fill and read as many stages of "
	    "\"%s\", whose loads they share", cj_elab_name(c->el, p->name));
	cj_note(report, p->span, "the pipeline");
	cj_help(report, "Let all of them do as much: count clusters, "
	    "block_idx.x / 2 for two blocks along x.");
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
		if (concerns(&q, &c->roles.at[i].deeds))
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
		compare_blocks(&c, el->em->pipes.at[i]);
	}
	for (i = 1; i < el->m->orders.len && el->errors == 0; i++)
		compare_order(&c, i);
	if (el->errors == 0 && c.roles.len > 2)
		cj_roles_check_order(&c);
}
