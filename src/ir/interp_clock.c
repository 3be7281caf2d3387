/*
 * Clocks: what has happened before what.
 *
 * A warp counts its intervals: a new one begins wherever others may learn of
 * what it did, at barriers and releases. Its clock holds, for each warp of its
 * block, the last interval of it that happened before now; what it knows of
 * other blocks lies in a tree that never changes once it is made, a leaf of
 * such numbers per block, so that a clock is published by a pointer and two
 * trees are joined by sharing what only one of them has.
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
 * them: there are clocks for them (enum cj_view), which grow
 * at fences alone and go the same ways. Numbers of the own block's warps stand
 * in the clock and in its leaf. A fence behind what other blocks did makes the
 * whole tree known, as it is then, below a child of the root for each view.
 *
 * Releases and acquires meet in a table by address. A release publishes for
 * threads of its block, its cluster or all, as its scope says; an acquire
 * takes what is published for those its scope reaches. An atomic update keeps
 * what earlier releases published, a store replaces it.
 */
#include "interp_race.h"

enum { FAN = 16, FAN_BITS = 4, MOST_NODES = 1 << 21 };

/* An inner node. A leaf is numbers instead, one for each warp of the block. */
struct cj_past {
	const struct cj_past *child[FAN];
};

struct sync {				/* what releases left at an address */
	uintptr_t address;
	uint64_t owner;			/* the block, for its shared memory */
	struct {
		uint64_t group;		/* block or cluster that it is for */
		const struct cj_past *past;
	} level[3];			/* block, cluster, all */
	struct sync *next;
};

struct cj_sync_table {
	struct { atomic_flag lock; struct sync *first; } bucket[1024];
};

/* ---- trees --------------------------------------------------------------- */

/* A leaf has what is known of all warps; the same for units follows. That of
 * `view` begins at a place. */
static uint32_t
place_of(const struct cj_race_run *r, enum cj_view view)
{
	return view == CJ_VIEW_THREADS ? 0 :
	    r->warps + ((uint32_t)view - 1) * r->own_warps;
}

static uint32_t
warps_of(const struct cj_race_run *r, enum cj_view view)
{
	return view == CJ_VIEW_THREADS ? r->warps : r->own_warps;
}

static unsigned
views_of(const struct cj_race_run *r)
{
	return r->has_async ? CJ_VIEWS : 1;
}

static const struct cj_known *
seen_in(const struct cj_race_run *r, const struct cj_past *p,
    enum cj_view view)
{
	return (const struct cj_known *)(const void *)p + place_of(r, view);
}

static struct cj_known
known_in(const struct cj_race_run *r, const struct cj_past *p,
    enum cj_view view, uint32_t warp)
{
	assert(warp < warps_of(r, view));
	return seen_in(r, p, view)[warp];
}

/* Take more knowledge of a warp in. */
static void
learn(struct cj_known *k, struct cj_known more)
{
	if (more.interval > k->interval)
		k->interval = more.interval;
	if (k->since <= k->interval)
		k->since = k->lanes = 0;
	if (more.since <= k->interval)
		return;
	k->lanes |= more.lanes;
	if (more.since > k->since)
		k->since = more.since;
}

unsigned
cj_past_levels(uint64_t blocks)
{
	unsigned levels = 1;

	while (levels < 64 / FAN_BITS && (blocks - 1) >> levels * FAN_BITS)
		levels++;
	return levels;
}

static void *
new_node(struct cj_frame *f, bool is_leaf)
{
	struct cj_race_run *r = f->machine->race->run;
	size_t bytes = is_leaf ? place_of(r, r->has_async ? CJ_VIEWS :
	    CJ_VIEW_SHARED) * sizeof(struct cj_known) : sizeof(struct cj_past);

	if (atomic_fetch_add_explicit(&r->nodes, 1, memory_order_relaxed)
	    == MOST_NODES)
		cj_race_give_up(f, "it releases memory too often");
	return cj_alloc(f->machine->arena, bytes);
}

/* Has a leaf all that another one has of a view? */
static bool
has_all(const struct cj_known *a, const struct cj_known *b, uint32_t warps)
{
	bool all = true;
	uint32_t i;

	for (i = 0; i < warps; i++)
		all &= a[i].interval >= b[i].interval && (b[i].since == 0 ||
		    (a[i].since == b[i].since &&
		    (b[i].lanes & ~a[i].lanes) == 0));
	return all;
}

static const struct cj_past *
join_leaves(struct cj_frame *f, const struct cj_past *x,
    const struct cj_past *y)
{
	const struct cj_race_run *r = f->machine->race->run;
	const struct cj_known *a = seen_in(r, x, 0), *b = seen_in(r, y, 0);
	bool x_has_all = true, y_has_all = true;
	uint32_t v, i, at, warps;
	struct cj_known *both;

	for (v = 0; v < views_of(r); v++) {
		at = place_of(r, v);
		warps = warps_of(r, v);
		x_has_all &= has_all(a + at, b + at, warps);
		y_has_all &= has_all(b + at, a + at, warps);
	}
	if (x_has_all || y_has_all)
		return x_has_all ? x : y;
	both = new_node(f, true);
	for (v = 0; v < views_of(r); v++) {
		at = place_of(r, v);
		warps = warps_of(r, v);
		memcpy(both + at, a + at, warps * sizeof *both);
		for (i = at; i < at + warps; i++)
			learn(&both[i], b[i]);
	}
	return (const void *)both;
}

/* Everything that either has; one of the two if it has all. */
static const struct cj_past *
join_trees(struct cj_frame *f, const struct cj_past *x,
    const struct cj_past *y, unsigned levels)
{
	struct cj_past kids, *made;
	bool is_x = true, is_y = true;
	unsigned i;

	if (x == y || y == NULL)
		return x;
	if (x == NULL)
		return y;
	if (levels == 0)
		return join_leaves(f, x, y);
	for (i = 0; i < FAN; i++) {
		kids.child[i] = join_trees(f, x->child[i],
		    y->child[i], levels - 1);
		is_x &= kids.child[i] == x->child[i];
		is_y &= kids.child[i] == y->child[i];
	}
	if (is_x || is_y)
		return is_x ? x : y;
	made = new_node(f, false);
	*made = kids;
	return made;
}

const struct cj_past *
cj_past_join(struct cj_frame *f, const struct cj_past *x,
    const struct cj_past *y)
{
	return join_trees(f, x, y, f->machine->race->run->levels);
}

/* Below a node of a level; the root's is the number of levels. */
static const struct cj_past *
find_leaf(const struct cj_past *p, unsigned level, uint64_t block)
{
	while (p != NULL && level-- != 0)
		p = p->child[block >> level * FAN_BITS & (FAN - 1)];
	return p;
}

struct cj_known
cj_past_known(const struct cj_race_run *r, const struct cj_past *p,
    uint64_t block, uint32_t warp)
{
	const struct cj_past *leaf = find_leaf(p, r->levels, block);

	return leaf == NULL ? (struct cj_known){ 0 } :
	    known_in(r, leaf, CJ_VIEW_THREADS, warp);
}

/* A tree of one leaf. */
static const struct cj_past *
tree_of(struct cj_frame *f, uint64_t block, const struct cj_past *leaf)
{
	unsigned level;

	for (level = 0; level < f->machine->race->run->levels; level++) {
		struct cj_past *up = new_node(f, false);

		up->child[block >> level * FAN_BITS & (FAN - 1)] = leaf;
		leaf = up;
	}
	return leaf;
}

const struct cj_past *
cj_past_of(struct cj_frame *f, uint64_t block, uint32_t warp,
    uint32_t interval)
{
	struct cj_known *leaf = new_node(f, true);

	assert(warp < f->machine->race->run->warps);
	leaf[warp].interval = interval;
	return tree_of(f, block, (const void *)leaf);
}

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

static const struct cj_past *
leaf_of(struct cj_frame *f, const struct cj_clock *c)
{
	const struct cj_race_run *r = f->machine->race->run;
	struct cj_known *leaf = new_node(f, true);
	uint32_t v;

	for (v = 0; v < views_of(r); v++)
		memcpy(leaf + place_of(r, v), c->of[v].warp,
		    warps_of(r, v) * sizeof *leaf);
	return (const void *)leaf;
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
	learn(&own, (struct cj_known){ c->met - 1, now, lanes_here(f) });
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
	p = cj_past_join(f, c->past, tree_of(f, f->machine->block->number,
	    leaf_of(f, c)));
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

	learn(&own, k);
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

	for (v = 0; v < views_of(r); v++)
		for (i = 0; i < warps_of(r, v); i++) {
			struct cj_known k = known_in(r, leaf, v, i);

			if (v == CJ_VIEW_THREADS && i == f->warp)
				learn_of_own(f, k);
			else
				learn(&c->of[v].warp[i], k);
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
	leaf = find_leaf(p, r->run->levels, f->machine->block->number);
	if (leaf != NULL)
		learn_leaf(f, leaf);
	f->clock->past = cj_past_join(f, f->clock->past, p);
}

/* ---- fences -------------------------------------------------------------- */

/* The tree where all that it says of threads is so for units as well. */
static const struct cj_past *
fence_past(struct cj_frame *f, const struct cj_past *p, enum cj_view view)
{
	const struct cj_past *all = join_trees(f, p->child[view], p->child[
	    CJ_VIEW_THREADS], f->machine->race->run->levels - 1);
	struct cj_past *made;

	if (all == p->child[view])
		return p;
	made = new_node(f, false);
	*made = *p;
	made->child[view] = all;
	return made;
}

static void
fence_clock(struct cj_frame *f, struct cj_clock *c, enum cj_view view,
    struct cj_known own)
{
	const struct cj_seen *threads = &c->of[CJ_VIEW_THREADS];
	struct cj_seen *units = &c->of[view];
	uint32_t i;

	learn(&units->warp[f->warp], own);
	for (i = 0; view != CJ_VIEW_SHARED && i < f->machine->race->run->
	    own_warps; i++)
		if (i != f->warp)
			learn(&units->warp[i], threads->warp[i]);
	if (c->past != NULL && view == CJ_VIEW_GLOBAL)
		c->past = fence_past(f, c->past, view);
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
	else if ((leaf = find_leaf(c->past, r->levels, block)) != NULL)
		k.by[0] = known_in(r, leaf, view, warp);
	leaf = c->past == NULL ? NULL : find_leaf(c->past->child[view],
	    r->levels - 1, block);
	if (leaf != NULL)
		k.by[1] = known_in(r, leaf, CJ_VIEW_THREADS, warp);
	return k;
}

/* ---- barriers ------------------------------------------------------------ */

static void
learn_clock(const struct cj_race_run *r, const struct cj_clock *c,
    uint32_t warps, struct cj_clock *all)
{
	uint32_t v, k;

	for (v = 0; v < views_of(r); v++)
		for (k = 0; k < warps; k++)
			learn(&all->of[v].warp[k], c->of[v].warp[k]);
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
		    tree_of(f, blocks[i]->number, leaf_of(f, &all[i]))));
	}
	for (i = 0; i < count; i++) {
		all[i].past = past;
		spread(blocks[i], comes, &all[i]);
	}
}

/* ---- releases and acquires ----------------------------------------------- */

struct cj_sync_table *
cj_sync_create(struct cj_arena *a)
{
	struct cj_sync_table *t = CJ_NEW(a, struct cj_sync_table);
	unsigned i;

	for (i = 0; i < CJ_LENGTH(t->bucket); i++)
		atomic_flag_clear_explicit(&t->bucket[i].lock,
		    memory_order_relaxed);
	return t;
}

/* The blocks that a scope reaches, as a number: alike for all of them. */
uint64_t
cj_scope_group(const struct cj_kernel_launch *l, uint64_t block,
    enum cj_memory_scope scope)
{
	uint64_t group = 0, rest = block, at, extent;
	int axis;

	if (scope == CJ_MEMORY_BLOCK)
		return block;
	for (axis = 0; scope == CJ_MEMORY_CLUSTER && axis < 3; axis++) {
		extent = l->cluster[axis] < 1 ? 1 : (uint64_t)l->cluster[axis];
		at = rest % (uint64_t)l->grid[axis];
		rest /= (uint64_t)l->grid[axis];
		group = group * (uint64_t)l->grid[axis] + at / extent;
	}
	return group;
}

static unsigned
level_of(enum cj_memory_scope scope)
{
	return scope == CJ_MEMORY_BLOCK ? 0 : scope == CJ_MEMORY_CLUSTER ? 1
	    : 2;
}

static const enum cj_memory_scope scope_at[3] = { CJ_MEMORY_BLOCK,
    CJ_MEMORY_CLUSTER, CJ_MEMORY_GPU };

static struct sync *
find(struct sync **first, const struct cj_ordered *o)
{
	struct sync *s;

	for (s = *first; s != NULL; s = s->next)
		if (s->address == o->address && s->owner == o->owner)
			return s;
	return NULL;
}

static struct sync *
add(struct cj_frame *f, struct sync **first, const struct cj_ordered *o)
{
	struct sync *s = CJ_NEW(f->machine->arena, struct sync);

	s->address = o->address;
	s->owner = o->owner;
	s->next = *first;
	*first = s;
	return s;
}

static void
leave_behind(struct cj_frame *f, struct sync *s, enum cj_memory_scope scope,
    const struct cj_past *p)
{
	const struct cj_block *b = f->machine->block;
	unsigned i;

	for (i = 0; i <= level_of(scope); i++) {
		uint64_t group = cj_scope_group(b->launch, b->number,
		    scope_at[i]);

		if (s->level[i].group != group)
			s->level[i].past = NULL;
		s->level[i].group = group;
		s->level[i].past = cj_past_join(f, s->level[i].past, p);
	}
}

/* In front of a write: what it publishes. One step publishes once. */
void
cj_clock_release(struct cj_frame *f, const struct cj_ordered *o,
    const struct cj_past **published)
{
	bool releases = o->order == CJ_ORDER_RELEASE
	    || o->order == CJ_ORDER_ACQ_REL;
	struct cj_race *r = f->machine->race;
	struct sync *s;
	unsigned at, i;

	if (r == NULL || !r->run->orders)
		return;
	if (releases && *published == NULL)
		*published = cj_clock_publish(f);
	if (f->machine->race == NULL)
		return;
	at = o->address / 4 % CJ_LENGTH(r->run->syncs->bucket);
	while (atomic_flag_test_and_set(&r->run->syncs->bucket[at].lock))
		;
	s = find(&r->run->syncs->bucket[at].first, o);
	if (s != NULL && !o->is_update)
		for (i = 0; i < 3; i++)
			s->level[i].past = NULL;
	if (releases) {
		if (s == NULL)
			s = add(f, &r->run->syncs->bucket[at].first, o);
		leave_behind(f, s, o->scope, *published);
	}
	atomic_flag_clear(&r->run->syncs->bucket[at].lock);
}

/* Behind a read. */
void
cj_clock_acquire(struct cj_frame *f, const struct cj_ordered *o)
{
	struct cj_race *r = f->machine->race;
	const struct cj_block *b = f->machine->block;
	const struct cj_past *got[3] = { NULL, NULL, NULL };
	struct sync *s;
	unsigned at, i;

	if (r == NULL || (o->order != CJ_ORDER_ACQUIRE
	    && o->order != CJ_ORDER_ACQ_REL))
		return;
	at = o->address / 4 % CJ_LENGTH(r->run->syncs->bucket);
	while (atomic_flag_test_and_set(&r->run->syncs->bucket[at].lock))
		;
	s = find(&r->run->syncs->bucket[at].first, o);
	for (i = 0; s != NULL && i <= level_of(o->scope); i++)
		if (s->level[i].group == cj_scope_group(b->launch, b->number,
		    scope_at[i]))
			got[i] = s->level[i].past;
	atomic_flag_clear(&r->run->syncs->bucket[at].lock);
	for (i = 0; i < 3; i++)
		cj_clock_join(f, got[i]);
}
