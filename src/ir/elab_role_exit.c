/*
 * Loops of roles that are left early: where, and under which conditions.
 */
#include "elab_role_check.h"

/* while c { ... } reads: if c' { leave } else { ... } */
const struct cj_deeds *
cj_role_body(const struct cj_deed *d)
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

static struct cj_role_exits find_exits(const struct cj_role_question *q,
    const struct cj_deeds *deeds, const struct nest *in);

/* Those of a condition's arms, or of a loop inside. */
static struct cj_role_exits
inner_exits(const struct cj_role_question *q, const struct cj_deed *d,
    const struct nest *in)
{
	bool is_loop = d->kind == CJ_DEED_FOR || d->kind == CJ_DEED_WHILE;
	struct nest inside = { d->at, in };
	struct cj_role_exits x = find_exits(q, &d->then,
	    is_loop ? &inside : in);
	struct cj_role_exits y = find_exits(q, &d->other, in), both;

	both.first = x.first != 0 ? x.first : y.first;
	cj_strbuf_init(&both.text, q->c->el->arena);
	if (both.first != 0)
		cj_strbuf_printf(&both.text, "%s %u (%s, %s)", is_loop ?
		    d->loop : "if", d->cond != NULL ?
		    (unsigned)d->cond->number : 0, x.text.text, y.text.text);
	return both;
}

static struct cj_role_exits
find_exits(const struct cj_role_question *q, const struct cj_deeds *deeds,
    const struct nest *in)
{
	struct cj_role_exits all = { .first = 0 }, one;
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
struct cj_role_exits
cj_role_exits_of(const struct cj_role_question *q, const struct cj_deed *d)
{
	const struct nest itself = { d->at, NULL };
	const struct cj_deeds *body = cj_role_body(d);

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

		if (!cj_role_concerns(q, &one))
			continue;
		if (d->kind == CJ_DEED_FOR || d->kind == CJ_DEED_WHILE)
			r = cj_role_exits_of(q, d).first;
		if (r == 0)
			r = cj_role_early_exit(q, &d->then);
		if (r == 0)
			r = cj_role_early_exit(q, &d->other);
	}
	return r;
}
