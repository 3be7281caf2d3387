/*
 * Are stages filled and read in step?
 *
 * When a launch is complete, one walk over its regions counts the full stages
 * of every pipeline. The threads fill and read themselves, so a consume that
 * finds none, or a produce that finds no room, would wait for itself for ever.
 * The count must be the same on all ways to a place, and after a turn of a
 * loop what it was before: then it is known everywhere.
 */
#include "elab_priv.h"

/* By pipeline: full stages, and those that open consume blocks have taken since
 * the outermost of them began. NULL where nothing arrives. */
typedef struct level {
	int full, held, depth;
} *levels;

/* A consume block that is open. */
struct held {
	cj_region region;
	uint32_t pipeline;
	struct held *outer;
};

struct check {
	struct cj_elab *el;
	uint32_t count;		/* pipelines + 1 */
	levels *exits;		/* by instruction: of who leaves it */
	levels *heads;		/* by loop: at its first instruction */
	struct held *held;
	bool failed;
	bool *is_local;		/* by pipeline: who fills it reads it */
	bool *is_drawn;		/* one stage is full at the end */
};

static const char *
name_of(const struct check *c, uint32_t p)
{
	return c->el->m->pipelines.at[p].name;
}

static levels
copy(const struct check *c, levels from)
{
	return cj_memdup(c->el->arena, from, c->count * sizeof *from);
}

static void
report(struct check *c, cj_ref r, const char *help, const char *text)
{
	const struct cj_module *m = c->el->m;
	cj_place place = cj_inst(m, r)->place;
	struct cj_span none = { 0, 0, 0 };

	c->failed = true;
	cj_help(cj_elab_report(c->el, CJ_DIAG_UNBALANCED, place == 0 ? none :
	    m->places.at[place].span, "%s", text), "%s", help);
}

/* Two ways meet at `r`; NULL is a way that nobody comes. */
static levels
meet(struct check *c, levels a, levels b, cj_ref r)
{
	uint32_t p;

	if (a == NULL || b == NULL)
		return a == NULL ? b : a;
	for (p = 1; p < c->count && !c->failed; p++)
		if (a[p].full != b[p].full || a[p].held != b[p].held)
			report(c, r, "Fill and read as many stages on every "
			    "way; ahead() fills the first ones of a loop.",
			    cj_printf(c->el->arena, "\"%s\" has %d full "
			    "stages on one way through here, %d on another",
			    name_of(c, p), a[p].full + a[p].held,
			    b[p].full + b[p].held));
	return a;
}

static levels walk(struct check *c, cj_region g, levels at);

static const struct cj_stage_use *
use_of(const struct check *c, const struct cj_inst *i)
{
	return &c->el->m->stage_uses.at[i->attr];
}

static levels
produce(struct check *c, cj_ref r, levels at)
{
	const struct cj_inst *i = cj_inst(c->el->m, r);
	uint32_t p = use_of(c, i)->pipeline;
	int stages = (int)c->el->m->pipelines.at[p].stages;

	if (at[p].full + at[p].held >= stages)
		report(c, r, "Add a stage, or fill less early.",
		    cj_printf(c->el->arena, "this produce waits for itself: "
		    "all of the %d stages of \"%s\" are full or being read",
		    stages, name_of(c, p)));
	at[p].full++;
	return c->failed ? at : walk(c, i->region, at);
}

static void
give_back(levels at, uint32_t pipeline)
{
	if (--at[pipeline].depth == 0)
		at[pipeline].held = 0;
}

static bool
is_inside(const struct cj_module *m, cj_region region, cj_region outer)
{
	while (region != 0 && region != outer)
		region = m->regions.at[region].parent;
	return region != 0;
}

/* An exit gives back what the blocks hold that it leaves. */
static levels
leave(const struct check *c, cj_ref target, levels at)
{
	const struct cj_module *m = c->el->m;
	const struct held *h;

	for (h = c->held; h != NULL && is_inside(m, h->region,
	    cj_inst(m, target)->region); h = h->outer)
		give_back(at, h->pipeline);
	return at;
}

static levels
consume(struct check *c, cj_ref r, levels at)
{
	const struct cj_inst *i = cj_inst(c->el->m, r);
	const struct cj_stage_use *u = use_of(c, i);
	uint32_t p = u->pipeline;
	struct held held;

	if (at[p].full < 1)
		report(c, r, "Produce a stage before it, or earlier: ahead().",
		    cj_printf(c->el->arena, "this consume waits for itself: "
		    "no stage of \"%s\" is full", name_of(c, p)));
	if (c->failed)
		return at;
	if (u->keep)
		return walk(c, i->region, at);
	held = (struct held){ i->region, p, c->held };
	c->held = &held;
	at[p].full--;
	at[p].held++;
	at[p].depth++;
	at = walk(c, i->region, at);
	if (at != NULL)
		give_back(at, p);
	c->held = held.outer;
	return at;
}

static levels
branch(struct check *c, cj_ref r, levels at)
{
	cj_region then = cj_inst(c->el->m, r)->region;
	cj_region other = c->el->m->regions.at[then].next;
	levels a = walk(c, then, copy(c, at));
	levels b = other != 0 ? walk(c, other, copy(c, at)) : at;

	return meet(c, a, b, r);
}

/* What the produce blocks of a loop fill in front of it. */
static void
add_ahead(const struct check *c, cj_region g, levels at, int sign)
{
	const struct cj_module *m = c->el->m;
	cj_ref r;

	for (r = m->regions.at[g].first; r != 0; r = cj_inst(m, r)->next)
		if (cj_inst(m, r)->op == CJ_OP_PRODUCE)
			at[use_of(c, cj_inst(m, r))->pipeline].full += sign *
			    (int)use_of(c, cj_inst(m, r))->count;
}

static levels
loop(struct check *c, cj_ref r, levels at)
{
	const struct cj_inst *i = cj_inst(c->el->m, r);
	bool is_for = i->op == CJ_OP_FOR;
	levels head, end;

	if (is_for)
		add_ahead(c, i->region, at, 1);
	head = copy(c, at);
	c->heads[r] = head;
	c->exits[r] = is_for ? head : NULL;
	end = walk(c, i->region, at);
	meet(c, head, end, r);
	if (c->exits[r] == NULL)
		return NULL;
	end = copy(c, c->exits[r]);
	if (is_for)
		add_ahead(c, i->region, end, -1);
	return end;
}

static levels
step(struct check *c, cj_ref r, levels at)
{
	const struct cj_inst *i = cj_inst(c->el->m, r);

	switch ((unsigned)i->op) {
	case CJ_OP_PRODUCE: case CJ_OP_CONSUME:
		if (!c->is_local[use_of(c, i)->pipeline])
			return walk(c, i->region, at);
		return i->op == CJ_OP_PRODUCE ? produce(c, r, at) :
		    consume(c, r, at);
	case CJ_OP_ROLE: case CJ_OP_TURN:
		return walk(c, i->region, at);
	case CJ_OP_IF: return branch(c, r, at);
	case CJ_OP_FOR: case CJ_OP_LOOP: return loop(c, r, at);
	case CJ_OP_SCOPE:
		at = walk(c, i->region, at);
		return meet(c, at, c->exits[r], r);
	case CJ_OP_BREAK:
		at = leave(c, i->attr, at);
		c->exits[i->attr] = meet(c, c->exits[i->attr], at, r);
		return NULL;
	case CJ_OP_CONTINUE:
		meet(c, c->heads[i->attr], leave(c, i->attr, at), r);
		return NULL;
	case CJ_OP_RETURN:
		return NULL;
	}
	return at;
}

static levels
walk(struct check *c, cj_region g, levels at)
{
	const struct cj_module *m = c->el->m;
	cj_ref r;

	for (r = m->regions.at[g].first; r != 0 && at != NULL && !c->failed;
	    r = cj_inst(m, r)->next)
		at = step(c, r, at);
	return at;
}

/* ---- who uses the fields ------------------------------------------------- */

static void
never_written(struct cj_elab *el, const struct cj_pipe *p, uint32_t field,
    const char *name)
{
	struct cj_diag *d = cj_elab_report(el, CJ_DIAG_NEVER_PRODUCED,
	    p->read_at[field], "the field \"%s\" of \"%s\" is read, but no "
	    "produce block writes it", name, cj_elab_name(el, p->name));

	cj_note(d, p->span, "the pipeline");
	cj_help(d, "Write it, or copy to it, in each produce block of \"%s\".",
	    cj_elab_name(el, p->name));
}

static void
check_fields(struct cj_elab *el, const struct cj_pipe *p)
{
	uint32_t i;

	for (i = 0; i < p->count; i++) {
		const struct cj_object *o =
		    &el->m->objects.at[p->field[i].object];

		if (o->reads && !o->writes)
			never_written(el, p, i, o->name);
	}
}

static bool
check_ends(struct cj_elab *el, const struct cj_pipe *p)
{
	const char *name = cj_elab_name(el, p->name);

	if (p->is_produced && p->is_consumed)
		return true;
	if (p->is_consumed)
		cj_help(cj_elab_report(el, CJ_DIAG_NEVER_PRODUCED, p->span,
		    "\"%s\" is consumed, but nobody produces it", name),
		    "Fill as many stages as are read: produce %s as s { }.",
		    name);
	else
		cj_help(cj_elab_report(el, CJ_DIAG_PIPELINE_UNUSED, p->span,
		    p->is_produced ? "nobody consumes the stages of \"%s\"" :
		    "nobody uses \"%s\"", name), p->is_produced ?
		    "Read as many stages as are filled, consume %s as s { }: "
		    "when all are full, who fills them waits for ever." :
		    "Leave %s away.", name);
	return false;
}

static void
find_local(struct check *c)
{
	struct cj_elab *el = c->el;
	uint32_t i;

	c->is_local = CJ_NEWS(el->arena, bool, c->count);
	c->is_drawn = CJ_NEWS(el->arena, bool, c->count);
	for (i = 0; i < el->em->pipes.len; i++) {
		const struct cj_pipe *p = el->em->pipes.at[i];

		c->is_drawn[p->number] = p->is_drawn;
		c->is_local[p->number] = cj_pipe_is_local(p) &&
		    !(p->is_drawn && el->cluster_blocks > 1);
	}
}

void
cj_elab_check_pipelines(struct cj_elab *el)
{
	struct check c = { .el = el };
	uint32_t i;
	levels at;

	if (el->errors != 0)		/* what is missing may be wrong */
		return;
	for (i = 0; i < el->em->pipes.len; i++)
		if (check_ends(el, el->em->pipes.at[i]))
			check_fields(el, el->em->pipes.at[i]);
	if (el->em->pipes.len == 0 || el->errors != 0)
		return;
	c.count = el->m->pipelines.len;
	find_local(&c);
	c.exits = CJ_NEWS(el->arena, levels, el->m->insts.len);
	c.heads = CJ_NEWS(el->arena, levels, el->m->insts.len);
	at = walk(&c, el->m->functions.at[el->em->function].body,
	    CJ_NEWS(el->arena, struct level, c.count));
	for (i = 1; i < c.count && at != NULL && !c.failed; i++)
		if (at[i].full > (int)c.is_drawn[i] && c.is_local[i])
			cj_elab_report(el, CJ_DIAG_UNBALANCED,
			    el->m->places.at[el->m->pipelines.at[i].place]
			    .span, "at the end %d of the stages of \"%s\" "
			    "are full that nobody has read", at[i].full,
			    name_of(&c, i));
}

/* ---- loops with ahead() -------------------------------------------------- */

/* The loop writes what a turn that runs ahead reads. */
static void
check_slot(struct cj_elab *el, cj_ref get, cj_region produce, cj_region body)
{
	const struct cj_module *m = el->m;
	uint32_t slot = m->accesses.at[cj_inst(m, get)->attr].object;
	const struct cj_inst *i;
	struct cj_walk w = cj_walk_begin(m, body);

	while ((i = cj_walk_inst(&w)) != NULL) {
		if (i->op != CJ_OP_SLOT_SET || m->accesses.at[i->attr].object
		    != slot || is_inside(m, w.region, produce))
			continue;
		cj_note(cj_elab_report(el, CJ_DIAG_BAD_AHEAD,
		    m->places.at[cj_inst(m, get)->place].span,
		    "\"%s\" is read in a produce block that runs ahead, but "
		    "the loop assigns to it", m->objects.at[slot].name),
		    m->places.at[i->place].span, "the assignment");
		return;
	}
}

static void
check_produce(struct cj_elab *el, cj_ref r, cj_region body)
{
	const struct cj_module *m = el->m;
	cj_region g = cj_inst(m, r)->region;
	struct cj_walk w;

	for (w = cj_walk_begin(m, g); cj_walk_next(&w);)
		if (w.event == CJ_WALK_INST && cj_inst(m, w.ref)->op ==
		    CJ_OP_SLOT_GET && !is_inside(m, m->objects.at[
		    m->accesses.at[cj_inst(m, w.ref)->attr].object].region, g))
			check_slot(el, w.ref, g, body);
}

/* A way out of the loop from inside of it. */
static bool
leaves(const struct cj_module *m, const struct cj_inst *i, cj_ref loop)
{
	bool is_jump = i->op == CJ_OP_BREAK || i->op == CJ_OP_CONTINUE;

	if (i->op == CJ_OP_RETURN)
		return true;
	if (i->op == CJ_OP_BREAK && i->attr == loop)
		return true;
	return is_jump && i->attr != loop && !is_inside(m,
	    cj_inst(m, i->attr)->region, cj_inst(m, loop)->region);
}

void
cj_elab_check_ahead(struct cj_elab *el, cj_ref loop)
{
	const struct cj_module *m = el->m;
	cj_region body = cj_inst(m, loop)->region;
	const struct cj_inst *i;
	struct cj_walk w;
	cj_ref next = 0;		/* the first `continue` */

	w = cj_walk_begin(m, body);
	while ((i = cj_walk_inst(&w)) != NULL) {
		if (i->op == CJ_OP_CONTINUE && i->attr == loop && next == 0)
			next = w.ref;
		if (i->op == CJ_OP_PRODUCE && w.region == body &&
		    m->stage_uses.at[i->attr].count > 0) {
			check_produce(el, w.ref, body);
			if (next != 0)
				cj_note(cj_elab_report(el, CJ_DIAG_BAD_AHEAD,
				    m->places.at[cj_inst(m, next)->place]
				    .span, "a turn ends in front of a "
				    "produce block that runs ahead"),
				    m->places.at[i->place].span,
				    "the produce block");
		}
		if (leaves(m, i, loop))
			cj_elab_report(el, CJ_DIAG_BAD_AHEAD,
			    m->places.at[i->place].span,
			    "a loop with a produce block that runs ahead is "
			    "left early");
	}
}
