/*
 * Clocks: what has happened before what.
 *
 * A warp counts its intervals: a new one begins wherever others may learn of
 * what it did, at barriers and releases. Its clock holds, for each warp of its
 * block, the last interval of it that happened before now; what it knows of
 * other blocks lies in a tree (interp_past.c).
 *
 * Lanes of a warp are threads like others, ordered among themselves where they
 * meet. What some lanes publish covers what the others did before the last
 * meeting, and what they did themselves since; where such pieces of knowledge
 * come together, their lanes count up to the later interval (that is too much,
 * and never says what is not so). What one lane learns the others learn at
 * their next meeting. Of the own warp, `lanes` are those whose newer intervals
 * came back to the others through a barrier at which they arrived alone.
 *
 *	publish		the tree with the own block's leaf; a new interval
 *	join		take a published tree in
 *	meet		all of a barrier learn what each of them knows
 *	fence		what happened for threads has happened for units, too
 *
 * Units of the hardware see what threads did where a fence stands between
 * them: there are clocks for them (enum cj_view), which grow at fences alone
 * and go the same ways. Numbers of the own block's warps stand in the clock and
 * in its leaf. Releases and acquires are the subject of interp_sync.c.
 */
#include "interp_race.h"

/* ---- clocks -------------------------------------------------------------- */

void
cj_clock_begin(struct cj_frame *f)
{
	if (f->clock == NULL)
		return;
	memset(f->clock, 0, sizeof *f->clock);
	f->clock->of[CJ_VIEW_THREADS].warp[f->warp].interval = 1;
	f->clock->met = 1;
	f->ahead = 0;
}

static void
next_interval(struct cj_frame *f, uint32_t last)
{
	if (last >= CJ_LAST_INTERVAL)
		cj_race_give_up(f, "a warp meets others too often");
	f->clock->of[CJ_VIEW_THREADS].warp[f->warp].interval =
	    last < CJ_LAST_INTERVAL ? last + 1 : last;
}

static void
have_met(struct cj_frame *f)
{
	struct cj_known *own = &f->clock->of[CJ_VIEW_THREADS].warp[f->warp];

	f->clock->met = own->interval;
	own->since = own->lanes = 0;
	f->ahead = 0;
}

/* Lanes of the warp meet. */
void
cj_clock_meet_lanes(struct cj_frame *f)
{
	if (f->clock == NULL || f->machine->race == NULL)
		return;
	next_interval(f, f->clock->of[CJ_VIEW_THREADS].warp[f->warp].interval);
	have_met(f);
}

/* The lanes that run, as bits. */
static uint32_t
lanes_here(const struct cj_frame *f)
{
	uint32_t lane, here = 0;

	for (lane = 0; lane < f->lanes; lane++)
		here |= (uint32_t)cj_lane_runs(f, lane) << lane;
	return here;
}

/* Do all run that have not ended? */
static bool
all_run(const struct cj_frame *f)
{
	const uint8_t *unfinished = cj_mask(f, f->code->unfinished);
	bool elsewhere = false;
	uint32_t lane;

	for (lane = 0; lane < f->lanes; lane++)
		elsewhere |= unfinished[lane] && !cj_lane_runs(f, lane);
	return !elsewhere;
}

/* What the lanes that run have done, or have met. */
static struct cj_known
own_deeds(const struct cj_frame *f)
{
	const struct cj_clock *c = f->clock;
	uint32_t now = c->of[CJ_VIEW_THREADS].warp[f->warp].interval;
	struct cj_known own;

	if (c->met > now || all_run(f))
		return (struct cj_known){ now, 0, 0 };
	own = cj_clock_own(c, f->warp);
	cj_known_learn(&own, (struct cj_known){ c->met - 1, now,
	    lanes_here(f) });
	return own;
}

const struct cj_past *
cj_clock_publish(struct cj_frame *f)
{
	struct cj_clock *c = f->clock;
	const struct cj_past *p;
	struct cj_known before, *own;

	if (f->machine->race == NULL)
		return NULL;
	own = &c->of[CJ_VIEW_THREADS].warp[f->warp];
	before = *own;
	*own = own_deeds(f);
	p = cj_past_join(f, c->past, cj_past_of_clock(f, c));
	*own = before;
	next_interval(f, before.interval);
	return p;
}

/* Lanes that do not wait know what all knew before. */
static void
remember_stale(struct cj_frame *f)
{
	if (all_run(f)) {
		f->ahead = 0;
		return;
	}
	if (f->ahead == 0)
		*f->stale = *f->clock;
	f->ahead |= lanes_here(f);
}

/* Lanes of the own warp arrived: those that wait now know what they did. */
static void
learn_of_own(struct cj_frame *f, struct cj_known k)
{
	struct cj_clock *c = f->clock;
	struct cj_known own = cj_clock_own(c, f->warp),
	    *at = &c->of[CJ_VIEW_THREADS].warp[f->warp];

	cj_known_learn(&own, k);
	c->met = own.interval + 1;
	own.interval = at->interval;
	*at = own;
}

bool
cj_clock_is_behind(const struct cj_frame *f, const struct cj_past *p)
{
	const struct cj_race *r = f->machine->race;
	uint32_t i;

	for (i = 0; r != NULL && p != NULL && i < r->run->warps; i++)
		if (i != f->warp && cj_past_known(r->run, p,
		    f->machine->block->number, i).interval >
		    f->clock->of[CJ_VIEW_THREADS].warp[i].interval)
			return false;
	return true;
}

/* What a leaf of the own block has. */
static void
learn_leaf(struct cj_frame *f, const struct cj_past *leaf)
{
	const struct cj_race_run *r = f->machine->race->run;
	struct cj_clock *c = f->clock;
	uint32_t v, i;

	for (v = 0; v < cj_race_views(r); v++)
		for (i = 0; i < cj_race_warps(r, v); i++) {
			struct cj_known k = cj_leaf_known(r, leaf, v, i);

			if (v == CJ_VIEW_THREADS && i == f->warp)
				learn_of_own(f, k);
			else
				cj_known_learn(&c->of[v].warp[i], k);
		}
}

void
cj_clock_join(struct cj_frame *f, const struct cj_past *p)
{
	const struct cj_race *r = f->machine->race;
	const struct cj_past *leaf;

	if (r == NULL || p == NULL)
		return;
	remember_stale(f);
	leaf = cj_past_leaf(r->run, p, f->machine->block->number);
	if (leaf != NULL)
		learn_leaf(f, leaf);
	f->clock->past = cj_past_join(f, f->clock->past, p);
}

/* ---- fences -------------------------------------------------------------- */

static void
fence_clock(struct cj_frame *f, struct cj_clock *c, enum cj_view view,
    struct cj_known own)
{
	const struct cj_seen *threads = &c->of[CJ_VIEW_THREADS];
	struct cj_seen *units = &c->of[view];
	uint32_t i;

	cj_known_learn(&units->warp[f->warp], own);
	for (i = 0; view != CJ_VIEW_SHARED && i < f->machine->race->run->
	    own_warps; i++)
		if (i != f->warp)
			cj_known_learn(&units->warp[i], threads->warp[i]);
	if (c->past != NULL && view == CJ_VIEW_GLOBAL)
		c->past = cj_past_fence(f, c->past, view);
}

void
cj_clock_fence(struct cj_frame *f, enum cj_view view)
{
	const struct cj_race *r = f->machine->race;
	struct cj_known own;

	if (r == NULL || !r->run->has_async)
		return;
	own = own_deeds(f);
	if (f->ahead != 0 && all_run(f))
		fence_clock(f, f->stale, view, own);
	else
		remember_stale(f);
	fence_clock(f, f->clock, view, own);
	next_interval(f, f->clock->of[CJ_VIEW_THREADS].warp[f->warp].interval);
}

struct cj_fenced
cj_clock_fenced(const struct cj_frame *f, const struct cj_clock *c,
    enum cj_view view, uint64_t block, uint32_t warp)
{
	const struct cj_race_run *r = f->machine->race->run;
	const struct cj_past *leaf = NULL;
	struct cj_fenced k = { 0 };

	if (block == f->machine->block->number)
		k.by[0] = c->of[view].warp[warp];
	else if ((leaf = cj_past_leaf(r, c->past, block)) != NULL)
		k.by[0] = cj_leaf_known(r, leaf, view, warp);
	leaf = cj_past_fenced_leaf(r, c->past, view, block);
	if (leaf != NULL)
		k.by[1] = cj_leaf_known(r, leaf, CJ_VIEW_THREADS, warp);
	return k;
}

/* ---- barriers ------------------------------------------------------------ */

static void
learn_clock(const struct cj_race_run *r, const struct cj_clock *c,
    uint32_t warps, struct cj_clock *all)
{
	uint32_t v, k;

	for (v = 0; v < cj_race_views(r); v++)
		for (k = 0; k < warps; k++)
			cj_known_learn(&all->of[v].warp[k], c->of[v].warp[k]);
}

/* What the warps of a block that come know of it together. */
static struct cj_clock
gather(struct cj_block *b, bool (*comes)(const struct cj_frame *f))
{
	struct cj_clock all = { .floor = UINT32_MAX };
	const struct cj_seen *seen = &all.of[CJ_VIEW_THREADS];
	uint32_t i;

	for (i = 0; i < b->warps; i++) {
		const struct cj_clock *c = b->frames[i].clock;

		if (!comes(&b->frames[i]))
			continue;
		learn_clock(b->machine.race->run, c, b->warps, &all);
		all.past = cj_past_join(&b->frames[i], all.past, c->past);
	}
	for (i = 0; i < b->warps; i++)
		if (seen->warp[i].interval < all.floor)
			all.floor = seen->warp[i].interval;
	return all;
}

/* Intervals begin anew, with one number. */
static void
spread(struct cj_block *b, bool (*comes)(const struct cj_frame *f),
    const struct cj_clock *all)
{
	uint32_t i, last = 0;

	for (i = 0; i < b->warps; i++)
		if (all->of[CJ_VIEW_THREADS].warp[i].interval > last)
			last = all->of[CJ_VIEW_THREADS].warp[i].interval;
	for (i = 0; i < b->warps; i++) {
		if (!comes(&b->frames[i]))
			continue;
		*b->frames[i].clock = *all;
		next_interval(&b->frames[i], last);
		have_met(&b->frames[i]);
	}
}

void
cj_clock_meet(struct cj_block *b, bool (*comes)(const struct cj_frame *f))
{
	struct cj_clock all;

	if (b->machine.race == NULL)
		return;
	all = gather(b, comes);
	spread(b, comes, &all);
}

void
cj_clock_meet_blocks(struct cj_block *const *blocks, uint32_t count,
    bool (*comes)(const struct cj_frame *f))
{
	struct cj_clock all[CJ_MAX_CLUSTER];
	const struct cj_past *past = NULL;
	uint32_t i;

	assert(count <= CJ_MAX_CLUSTER);
	if (blocks[0]->machine.race == NULL)
		return;
	for (i = 0; i < count; i++) {
		struct cj_frame *f = &blocks[i]->frames[0];

		all[i] = gather(blocks[i], comes);
		past = cj_past_join(f, past, cj_past_join(f, all[i].past,
		    cj_past_of_clock(f, &all[i])));
	}
	for (i = 0; i < count; i++) {
		all[i].past = past;
		spread(blocks[i], comes, &all[i]);
	}
}
