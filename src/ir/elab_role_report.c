/*
 * What is said of roles that disagree: where, in which case, and what to do.
 */
#include "elab_role_check.h"

static cj_ref
first_deed(const struct cj_role_question *q, const struct cj_deeds *deeds)
{
	cj_ref r;
	uint32_t i;

	for (i = 0; i < deeds->len; i++) {
		const struct cj_deed *d = deeds->at[i];

		if (d->kind == CJ_DEED_OP || d->kind == CJ_DEED_SKIP) {
			if (cj_role_is_asked(q, d))
				return d->at;
			continue;
		}
		r = first_deed(q, &d->then);
		if (r == 0)
			r = first_deed(q, &d->other);
		if (r != 0)
			return r;
	}
	return 0;
}

static struct cj_span
span_of(const struct cj_role_question *q, const struct cj_role_side *s)
{
	const struct cj_module *m = q->c->el->m;
	cj_ref r = first_deed(q, &s->role->deeds);

	/* stages that are kept are not taken: there is no deed then */
	return m->places.at[r != 0 ? cj_inst(m, r)->place : q->order != 0 ?
	    m->orders.at[q->order].place :
	    m->pipelines.at[q->pipeline].place].span;
}

static const char *
name_of(const struct cj_role_question *q, const struct cj_role_side *s)
{
	const char *name = q->c->el->m->roles.at[s->role->number].name;

	return s->role->number == 0 || name == NULL ? "the block" : name;
}

static const char *
text_of(struct cj_role_question *q, struct cj_int e)
{
	struct cj_strbuf out;

	cj_strbuf_init(&out, q->c->el->arena);
	cj_int_print(&out, &q->c->sym, e);
	return out.text;
}

/* Is it made of what the user has names for, and short? */
static bool
is_plain(struct cj_role_question *q, struct cj_int e)
{
	enum { MOST = 60 };
	uint32_t i;

	for (i = 0; i < q->c->atoms.len; i++)
		if (strncmp(q->c->atoms.at[i].key, "param ", 6) != 0 &&
		    cj_role_depends(q->c, e, q->c->atoms.at[i].symbol))
			return false;
	return strlen(text_of(q, e)) <= MOST;
}

const char *
cj_role_case_text(struct cj_role_question *q)
{
	struct cj_strbuf out;
	unsigned count = 0;
	uint32_t i;

	cj_strbuf_init(&out, q->c->el->arena);
	for (i = 0; i < q->now.len; i++) {
		const struct cj_role_decision *k = &q->now.at[i];

		if (is_plain(q, k->e))
			cj_strbuf_printf(&out, "%s%s %s 0", count++ == 0 ?
			    ", where " : " and ", text_of(q, k->e),
			    k->truth ? ">" : "<=");
	}
	return count == 0 ? "" : out.text;
}

/* Is a value made of the thread's number? */
static bool
is_of_thread(const struct cj_module *m, cj_ref r, unsigned depth)
{
	const struct cj_inst *i = cj_inst(m, r);
	unsigned n;

	if (i->op == CJ_OP_SPECIAL)
		return i->attr <= CJ_SPECIAL_THREAD_Z ||
		    i->attr == CJ_SPECIAL_LANE || i->attr == CJ_SPECIAL_WARP;
	if (i->region != 0 || depth == 0)
		return false;
	for (n = 0; n < i->operand_count; n++)
		if (is_of_thread(m, cj_operand(m, i, n), depth - 1))
			return true;
	return false;
}

/* The decision that threads of one role take differently; NULL: none. */
static const struct cj_role_decision *
parts_threads(const struct cj_role_question *q)
{
	enum { DEEP = 16 };
	const struct cj_module *m = q->c->el->m;
	uint32_t i;

	for (i = 0; i < q->now.len; i++) {
		const struct cj_deed *d = q->now.at[i].by;

		if (d != NULL && d->kind == CJ_DEED_IF && is_of_thread(m,
		    cj_operand(m, cj_inst(m, d->at), 0), DEEP))
			return &q->now.at[i];
	}
	return NULL;
}

static struct cj_span
span_by(const struct cj_role_question *q, const struct cj_role_decision *k)
{
	const struct cj_module *m = q->c->el->m;

	return m->places.at[cj_inst(m, k->by->at)->place].span;
}

static void
note_decision(struct cj_role_question *q, struct cj_diag *d,
    const struct cj_role_decision *k)
{
	bool is_if = k->by->kind == CJ_DEED_IF, is_so = k->truth;
	const char *of = k->side == NULL || k->side->role->number == 0 ? "" :
	    cj_printf(q->c->el->arena, " of \"%s\"", name_of(q, k->side));

	/* what ends a while loop is the condition that it begins with */
	q->is_open = false;
	if (is_if)
		is_so = cj_role_holds(q, k->by->cond);
	else if (k->by->kind == CJ_DEED_WHILE)
		is_so = !cj_role_holds(q, k->by->then.at[0]->cond);
	if (!q->is_open)
		cj_note(d, span_by(q, k), "where this %s%s %s", is_if ?
		    "condition" : "loop", of, is_if ? is_so ? "holds" :
		    "does not hold" : is_so ? "has turns" : "has no turn");
	q->is_open = false;
}

/* Where conditions and loops that have no names decide, each once. */
static void
note_case(struct cj_role_question *q, struct cj_diag *d)
{
	uint32_t i, k;

	for (i = 0; i < q->now.len; i++) {
		const struct cj_role_decision *now = &q->now.at[i];

		for (k = 0; k < i && q->now.at[k].by != now->by;)
			k++;
		if (now->by != NULL && k == i && !is_plain(q, now->e))
			note_decision(q, d, now);
	}
}

const char *
cj_role_thing(const struct cj_role_question *q)
{
	const struct cj_module *m = q->c->el->m;

	return cj_printf(q->c->el->arena, "%s of \"%s\"", q->order != 0 ?
	    "turns" : "stages", q->order != 0 ? m->orders.at[q->order].name :
	    m->pipelines.at[q->pipeline].name);
}

/* Where a loop of the role ends early; false: nowhere. */
static bool
note_exit(const struct cj_role_question *q, struct cj_diag *d,
    const struct cj_role_side *s)
{
	const struct cj_module *m = q->c->el->m;
	cj_ref r = cj_role_early_exit(q, &s->role->deeds);

	if (r != 0)
		cj_note(d, m->places.at[cj_inst(m, r)->place].span, "\"%s\" "
		    "leaves the loop here, and nobody tells the other role",
		    name_of(q, s));
	return r != 0;
}

static const char *
remedy_of(const struct cj_role_question *q, const struct cj_role_side *b)
{
	if (q->order == 0 && first_deed(q, &b->role->deeds) == 0)
		return "What is read with \"keep\" is left for the next "
		    "consume: let one without it take the stage.";
	if (parts_threads(q) != NULL)
		return "All threads of a role take a stage or a turn "
		    "together: put the condition inside of it.";
	if (q->is_split)
		return "Of a split pipeline each role goes through all "
		    "stages: say skip(pipeline, n) where it leaves n of them "
		    "to another role.";
	return "Let loops and conditions around be the same, over the same "
	    "values: compute them in front of the roles, or send them through "
	    "a pipeline.";
}

void
cj_role_report(struct cj_role_question *q, const struct cj_role_side *a,
    const struct cj_role_side *b, const char *text)
{
	const struct cj_role_decision *parted = parts_threads(q);
	struct cj_diag *d;

	if (parted != NULL && parted->side != NULL) {
		b = parted->side;
		text = cj_printf(q->c->el->arena, "only some threads of "
		    "\"%s\" come to the %s", name_of(q, b), cj_role_thing(q));
	}
	d = cj_elab_report(q->c->el, CJ_DIAG_UNEQUAL_ROLES, span_of(q, b),
	    "%s", text);
	if (a != b)
		cj_note(d, span_of(q, a), q->order != 0 ?
		    "the other one's turn" : "they are filled here");
	if (parted != NULL)
		cj_note(d, span_by(q, parted), "this condition tells them "
		    "apart");
	else if (!note_exit(q, d, b) && !note_exit(q, d, a))
		note_case(q, d);
	cj_help(d, "%s", remedy_of(q, b));
}

void
cj_role_report_counts(struct cj_role_question *q,
    const struct cj_role_side *a, const struct cj_role_side *b,
    struct cj_int filled, struct cj_role_counted n)
{
	struct cj_elab *el = q->c->el;
	struct cj_int all = cj_int_add(&q->c->sym, n.used, n.skipped);

	if (is_plain(q, all) && is_plain(q, filled))
		cj_role_report(q, a, b, cj_printf(el->arena, "\"%s\" takes "
		    "%s %s, \"%s\" fills %s%s", name_of(q, b), text_of(q, all),
		    cj_role_thing(q), name_of(q, a), text_of(q, filled),
		    cj_role_case_text(q)));
	else
		cj_role_report(q, a, b, cj_printf(el->arena, "\"%s\" does "
		    "not take as many %s as \"%s\" fills%s", name_of(q, b),
		    cj_role_thing(q), name_of(q, a), cj_role_case_text(q)));
}
