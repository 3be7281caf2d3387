/*
 * Where a dependent launch waits for the one in front of it: as late as it may,
 * in front of what touches memory that others share. What is read early may
 * stand in front.
 *
 * A way through the text waits at the first such instruction that it comes to.
 * An `if` has its waits in its arms where it holds something early, or where
 * nothing behind it needs one: a loader finds its first tile meanwhile. Scopes
 * are what stands in them. A loop is waited for as a whole: what is early in it
 * has nothing of it where the loop holds anything else. Whoever leaves has
 * waited, since the launch behind takes the end of this one for the end of the
 * one in front, too. To wait again costs little: where one arm has waited and
 * another has not, both do so behind.
 */
#include "depend.h"

#include <string.h>

enum { MOST_NESTED = 64 };

/* What waits though it is early, and why. */
struct late {
	cj_ref early;
	cj_ref wait;			/* the wait stands in front of this */
	struct late *next;
};

struct plan {
	struct cj_arena *arena;
	const struct cj_module *m;
	struct cj_waits *out;
	unsigned depth;
	CJ_VEC(cj_ref) in_time;		/* what is read in front of the wait */
	struct late *late, **last;
};

/* ---- instructions -------------------------------------------------------- */

static bool
is_early(const struct cj_module *m, const struct cj_inst *i)
{
	if (i->op == CJ_OP_TMA_LOAD)
		return m->tmas.at[i->attr].is_early;
	return cj_op_info[i->op].attr == CJ_ATTR_ACCESS &&
	    m->accesses.at[i->attr].is_early;
}

/* The text is one instruction, and its name begins so. */
static bool
is_one(const char *text, const char *name)
{
	const char *end = strchr(text, ';');

	return end != NULL && end[1] == '\0' &&
	    strncmp(text, name, strlen(name)) == 0;
}

bool
cj_inst_moves_registers(const struct cj_module *m, const struct cj_inst *i)
{
	const char *text;

	if (i->op != CJ_OP_PTX)
		return false;
	text = m->texts.at[i->attr];
	return is_one(text, "setmaxnreg.") || is_one(text, "mov.");
}

/* Only the block's own memory, if any, or what the launch in front has left as
 * it was; hints to L2 stay true there. */
static bool
is_private(const struct cj_module *m, const struct cj_inst *i)
{
	const struct cj_op_info *info = &cj_op_info[i->op];
	enum cj_object_kind kind;

	if (info->effects == CJ_EFFECTS_PURE ||
	    info->effects == CJ_EFFECTS_REGION ||
	    i->op == CJ_OP_BARRIER || i->op == CJ_OP_FENCE ||
	    i->op == CJ_OP_CLUSTER_BARRIER || i->op == CJ_OP_NAMED_BARRIER ||
	    i->op == CJ_OP_YIELD || i->op == CJ_OP_PREFETCH ||
	    i->op == CJ_OP_TMA_PREFETCH ||
	    i->op == CJ_OP_SLOT_GET || i->op == CJ_OP_SLOT_SET ||
	    i->op == CJ_OP_BULK_WAIT_READ ||
	    i->op == CJ_OP_LAUNCH_DEPENDENTS || is_early(m, i) ||
	    cj_inst_moves_registers(m, i))
		return true;
	if (info->attr != CJ_ATTR_ACCESS)
		return false;
	kind = m->objects.at[m->accesses.at[i->attr].object].kind;
	return kind == CJ_OBJECT_SHARED || kind == CJ_OBJECT_SLOT;
}

/* Does an instruction in `region`, inside of r, leave something within r? */
static bool
leaves_within(const struct cj_module *m, const struct cj_inst *i,
    cj_region region, cj_ref r)
{
	cj_ref owner;

	if (i->op != CJ_OP_BREAK && i->op != CJ_OP_CONTINUE)
		return false;
	for (;;) {
		owner = m->regions.at[region].owner;
		if (owner == i->attr || owner == r)
			return owner == i->attr;
		region = m->regions.at[region].parent;
	}
}

/* Of an instruction and all that it holds. */
static bool
is_all_private(const struct cj_module *m, cj_ref r)
{
	cj_region region;
	struct cj_walk w;

	if (!is_private(m, cj_inst(m, r)))
		return false;
	for (region = cj_inst(m, r)->region; region != 0;
	    region = m->regions.at[region].next)
		for (w = cj_walk_begin(m, region); cj_walk_next(&w);)
			if (w.event == CJ_WALK_INST &&
			    !is_private(m, cj_inst(m, w.ref)) &&
			    !leaves_within(m, cj_inst(m, w.ref), w.region, r))
				return false;
	return true;
}

static bool
holds_early(const struct cj_module *m, cj_ref r)
{
	cj_region region;
	struct cj_walk w;

	for (region = cj_inst(m, r)->region; region != 0;
	    region = m->regions.at[region].next)
		for (w = cj_walk_begin(m, region); cj_walk_next(&w);)
			if (w.event == CJ_WALK_INST &&
			    is_early(m, cj_inst(m, w.ref)))
				return true;
	return false;
}

/* ---- the plan ------------------------------------------------------------ */

static void
note(struct plan *p, cj_ref r, bool is_late)
{
	struct late *l;

	if (!is_early(p->m, cj_inst(p->m, r)))
		return;
	if (!is_late) {
		*cj_push(p->arena, &p->in_time) = r;
		return;
	}
	l = CJ_NEW(p->arena, struct late);
	l->early = r;
	l->wait = p->out->before.at[p->out->before.len - 1];
	*p->last = l;
	p->last = &l->next;
}

/* What is early in r and all that it holds comes behind a wait, or not. */
static void
note_early(struct plan *p, cj_ref r, bool is_late)
{
	cj_region region;
	struct cj_walk w;

	note(p, r, is_late);
	for (region = cj_inst(p->m, r)->region; region != 0;
	    region = p->m->regions.at[region].next)
		for (w = cj_walk_begin(p->m, region); cj_walk_next(&w);)
			if (w.event == CJ_WALK_INST)
				note(p, w.ref, is_late);
}

static bool plan_region(struct plan *p, cj_region region, bool is_last);

/* Both arms have to wait, so that nobody needs to behind them. */
static bool
plan_arms(struct plan *p, cj_ref r, bool is_last)
{
	cj_region then = cj_inst(p->m, r)->region;
	cj_region otherwise = p->m->regions.at[then].next;
	bool waits = plan_region(p, then, is_last);

	return otherwise != 0 && plan_region(p, otherwise, is_last) && waits;
}

/* From r on. */
static bool
are_private(const struct cj_module *m, cj_ref r)
{
	while (r != 0 && is_all_private(m, r))
		r = cj_inst(m, r)->next;
	return r == 0;
}

/* The first to need it: does whoever comes past it have waited? `is_last`:
 * nothing behind its region needs it. */
static bool
plan_inst(struct plan *p, cj_ref r, bool is_last)
{
	const struct cj_inst *i = cj_inst(p->m, r);

	if (is_all_private(p->m, r)) {
		note_early(p, r, false);
		return false;
	}
	is_last = is_last && are_private(p->m, i->next);
	if (i->op == CJ_OP_SCOPE && p->depth < MOST_NESTED)
		return plan_region(p, i->region, is_last);
	if (i->op == CJ_OP_IF && p->depth < MOST_NESTED &&
	    (is_last || holds_early(p->m, r)))
		return plan_arms(p, r, is_last);
	*cj_push(p->arena, &p->out->before) = r;
	note_early(p, r, true);
	return true;
}

static bool
plan_region(struct plan *p, cj_region region, bool is_last)
{
	bool has_waited = false;
	cj_ref r;

	p->depth++;
	for (r = p->m->regions.at[region].first; r != 0;
	    r = cj_inst(p->m, r)->next)
		if (has_waited)
			note_early(p, r, true);
		else
			has_waited = plan_inst(p, r, is_last);
	p->depth--;
	return has_waited;
}

/* May the kernel start before the launch in front of it has ended? */
static bool
is_dependent(const struct cj_module *m, uint32_t function)
{
	uint32_t i;

	for (i = 0; i < m->launches.len; i++)
		if (m->launches.at[i].function == function &&
		    m->launches.at[i].dependent)
			return m->target->number >= 90;
	return false;
}

static void
plan(struct plan *p, uint32_t function)
{
	struct cj_waits *w = p->out;
	bool has_waited;

	p->last = &p->late;
	w->is_dependent = is_dependent(p->m, function);
	if (!w->is_dependent)
		return;
	has_waited = plan_region(p, p->m->functions.at[function].body, true);
	w->at_begin = w->before.len == 0;
	w->at_end = !has_waited && !w->at_begin;
}

struct cj_waits
cj_waits_plan(struct cj_arena *a, const struct cj_module *m, uint32_t function)
{
	struct cj_waits waits = { 0 };
	struct plan p = { .arena = a, .m = m, .out = &waits };

	plan(&p, function);
	return waits;
}

/* ---- what is said -------------------------------------------------------- */

static struct cj_span
span_of(const struct cj_module *m, cj_ref r)
{
	const struct cj_span none = { 0, 0, 0 };
	cj_place place = cj_inst(m, r)->place;

	return place == 0 ? none : m->places.at[place].span;
}

static bool
is_same(struct cj_span a, struct cj_span b)
{
	return a.source == b.source && a.begin == b.begin && a.end == b.end;
}

/* The same line may be read in front of the wait, too: a first turn. */
static bool
is_in_time(const struct plan *p, cj_ref early)
{
	uint32_t i;

	for (i = 0; i < p->in_time.len; i++)
		if (is_same(span_of(p->m, p->in_time.at[i]),
		    span_of(p->m, early)))
			return true;
	return false;
}

static void
report(const struct plan *p, const struct late *l, struct cj_diags *ds)
{
	struct cj_diag *d = cj_report(ds, CJ_DIAG_EARLY_WAITS,
	    span_of(p->m, l->early), "what is read early here waits for the "
	    "launch in front all the same");

	if (d == NULL)
		return;
	cj_note(d, span_of(p->m, l->wait), "the wait stands in front of this");
	cj_help(d, "Read it in front of what waits, and not in a loop with "
	    "such.");
}

void
cj_waits_report(struct cj_arena *a, const struct cj_module *m,
    struct cj_diags *ds)
{
	const struct late *l;
	uint32_t i;

	for (i = 1; i < m->functions.len; i++) {
		struct cj_waits waits = { 0 };
		struct plan p = { .arena = a, .m = m, .out = &waits };

		if (m->functions.at[i].kind != CJ_FUNCTION_DEVICE)
			continue;
		plan(&p, i);
		for (l = p.late; l != NULL; l = l->next)
			if (span_of(m, l->early).source != 0 &&
			    !is_in_time(&p, l->early))
				report(&p, l, ds);
	}
}
