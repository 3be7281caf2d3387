/*
 * in_flight(n): waits for products, and where stages go back, that are known by
 * the text. The stage of n blocks ago goes back at the end of each block, the
 * rest behind the innermost loop, and behind a turn that this loop ends.
 */
#include "wgmma_flow.h"

static cj_ref
loop_around(const struct cj_flow *f, cj_ref r)
{
	while ((r = f->m->regions.at[f->s.home[r]].owner) != 0)
		if (cj_inst(f->m, r)->op == CJ_OP_FOR ||
		    cj_inst(f->m, r)->op == CJ_OP_LOOP)
			return r;
	return 0;
}

static bool
is_inside(const struct cj_flow *f, cj_region region, cj_ref owner)
{
	for (; region != 0; region = f->m->regions.at[region].parent)
		if (f->m->regions.at[region].owner == owner)
			return true;
	return false;
}

struct cj_builder
cj_flow_builder(const struct cj_flow *f, cj_region region, cj_ref before,
    cj_ref like)
{
	return (struct cj_builder){ .module = f->m, .region = region,
	    .before = before, .place = cj_inst(f->m, like)->place };
}

unsigned
cj_flow_reads(const struct cj_flow *f, cj_ref block)
{
	return f->s.channels[cj_flow_use(f, block)->pipeline]
	    .reads[f->s.role_of[block]];
}

/* Where an exit goes on is around this. */
bool
cj_flow_leaves(const struct cj_flow *f, cj_ref exit, cj_ref what)
{
	const struct cj_inst *i = cj_inst(f->m, exit);

	if (!is_inside(f, f->s.home[exit], what))
		return false;
	if (i->op == CJ_OP_RETURN)
		return true;
	if (i->op == CJ_OP_BREAK && i->attr == what)
		return false;		/* what stands behind it does this */
	return (i->op == CJ_OP_BREAK || i->op == CJ_OP_CONTINUE) &&
	    i->attr != what && !is_inside(f, f->s.home[i->attr], what);
}

static bool
is_left_early(const struct cj_flow *f, cj_ref block)
{
	cj_ref exit;

	for (exit = 1; exit < f->s.count; exit++)
		if (f->s.home[exit] != 0 && cj_op_info[cj_inst(f->m, exit)
		    ->op].effects == CJ_EFFECTS_EXIT &&
		    cj_flow_leaves(f, exit, block))
			return true;
	return false;
}

/* Groups that each way through a block commits, at least. */
static uint32_t
groups_of(const struct cj_flow *f, cj_ref block)
{
	uint32_t n = 0, i;

	for (i = 0; i < f->count && !is_left_early(f, block); i++)
		n += is_inside(f, f->s.home[f->group[i].commit], block) &&
		    cj_flow_on_way(f, f->group[i].commit, block) ==
		    f->group[i].commit;
	return n;
}

static bool
is_same_pipe(const struct cj_flow *f, cj_ref a, cj_ref b)
{
	return cj_flow_use(f, a)->pipeline == cj_flow_use(f, b)->pipeline;
}

/* What all blocks of the pipeline in the role allow: stages in flight, and
 * groups that each of them commits. */
static uint32_t
least_in_flight(const struct cj_flow *f, cj_ref block, uint32_t *committed)
{
	uint32_t n = UINT32_MAX, each;
	cj_ref r;

	*committed = UINT32_MAX;
	for (r = 1; r < f->s.count; r++) {
		if (!f->in_flight[r] || f->s.role_of[r] !=
		    f->s.role_of[block] || !is_same_pipe(f, r, block))
			continue;
		each = groups_of(f, r);
		n = cj_flow_use(f, r)->count < n ? cj_flow_use(f, r)->count : n;
		*committed = each < *committed ? each : *committed;
	}
	return n;
}

static void
put_release(struct cj_flow *f, cj_region region, cj_ref before, cj_ref block)
{
	struct cj_builder b = cj_flow_builder(f, region, before, block);
	struct cj_stage_use use = *cj_flow_use(f, block);
	uint32_t each, open;

	use.count = least_in_flight(f, block, &each);
	open = use.count * each;
	if (cj_flow_reads(f, block) & CJ_BY_WGMMA)
		cj_emit0(&b, CJ_OP_WGMMA_WAIT, 0, open < MOST_OPEN ? open :
		    MOST_OPEN);
	cj_emit0(&b, CJ_OP_RELEASE, 0, cj_module_stage_use(f->m, &use));
}

static void
put_drain(struct cj_flow *f, cj_region region, cj_ref before, cj_ref block)
{
	struct cj_builder b = cj_flow_builder(f, region, before, block);
	struct cj_stage_use use = *cj_flow_use(f, block);
	uint32_t each;

	use.count = least_in_flight(f, block, &each);
	if (cj_flow_reads(f, block) & CJ_BY_WGMMA)
		cj_emit0(&b, CJ_OP_WGMMA_WAIT, 0, 0);
	cj_emit0(&b, CJ_OP_DRAIN, 0, cj_module_stage_use(f->m, &use));
}

/* Behind the loop, and behind a turn that ends with it. */
static void
put_drain_behind(struct cj_flow *f, cj_ref loop, cj_ref block)
{
	cj_ref at = loop, owner;

	while (cj_inst(f->m, at)->next == 0 && (owner =
	    f->m->regions.at[f->s.home[at]].owner) != 0 &&
	    cj_inst(f->m, owner)->op == CJ_OP_TURN)
		at = owner;
	put_drain(f, f->s.home[at], cj_inst(f->m, at)->next, block);
}

/* The first block of a pipeline in a loop stands for all of them. */
static bool
is_first_in(const struct cj_flow *f, cj_ref block, cj_ref loop)
{
	cj_ref r;

	for (r = 1; r < block; r++)
		if (f->in_flight[r] && loop_around(f, r) == loop &&
		    is_same_pipe(f, r, block))
			return false;
	return true;
}

static void
keep_in_flight(struct cj_flow *f, cj_ref block)
{
	cj_region g = cj_inst(f->m, block)->region;
	cj_ref loop = loop_around(f, block), last, exit;
	bool drains = is_first_in(f, block, loop);

	for (exit = 1; exit < f->s.count; exit++) {
		if (f->s.home[exit] == 0 || cj_op_info[cj_inst(f->m, exit)
		    ->op].effects != CJ_EFFECTS_EXIT)
			continue;
		if (cj_flow_leaves(f, exit, block))
			put_release(f, f->s.home[exit], exit, block);
		if (drains && cj_flow_leaves(f, exit, loop))
			put_drain(f, f->s.home[exit], exit, block);
	}
	last = f->m->regions.at[g].last;
	if (last == 0 || cj_op_info[cj_inst(f->m, last)->op].effects !=
	    CJ_EFFECTS_EXIT)
		put_release(f, g, 0, block);
	if (drains)
		put_drain_behind(f, loop, block);
}

/* Stages go back in order: those that other blocks of the loop take, and give
 * back themselves, would be among them. */
static bool
is_alone(const struct cj_flow *f, cj_ref block)
{
	cj_ref loop = loop_around(f, block), r;

	for (r = 1; r < f->s.count; r++) {
		if (f->s.home[r] == 0 || cj_inst(f->m, r)->op !=
		    CJ_OP_CONSUME || f->in_flight[r] ||
		    cj_flow_use(f, r)->keep || !is_same_pipe(f, r, block))
			continue;
		if (is_inside(f, f->s.home[r], loop))
			return false;
	}
	for (r = 1; r < f->s.count; r++)
		if (f->in_flight[r] && is_same_pipe(f, r, block) &&
		    loop_around(f, r) != loop &&
		    is_inside(f, f->s.home[r], loop))
			return false;
	return true;
}

/* Only products and stores go on behind a block, and only loops can wait. */
void
cj_flow_find_in_flight(struct cj_flow *f)
{
	bool changes;
	cj_ref r;

	for (r = 1; r < f->s.count; r++)
		f->in_flight[r] = f->s.home[r] != 0 &&
		    cj_inst(f->m, r)->op == CJ_OP_CONSUME &&
		    cj_flow_is_channel(f, r) && cj_flow_use(f, r)->count > 0 &&
		    !cj_flow_use(f, r)->keep && loop_around(f, r) != 0 &&
		    (cj_flow_reads(f, r) & (CJ_BY_WGMMA | CJ_BY_TMA)) != 0;
	do {
		changes = false;
		for (r = 1; r < f->s.count; r++)
			if (f->in_flight[r] && !is_alone(f, r)) {
				f->in_flight[r] = false;
				changes = true;
			}
	} while (changes);
	for (r = 1; r < f->s.count; r++)
		if (f->in_flight[r])
			keep_in_flight(f, r);
}
