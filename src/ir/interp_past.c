/*
 * What is known of other blocks: trees that never change once they are made.
 *
 * A leaf has, for each warp of a block, the last interval of it that happened
 * before. A clock is published by a pointer to a tree, and two trees are joined
 * by sharing what only one of them has. A fence behind what other blocks did
 * makes the whole tree known to units, as it is then, below a child of the root
 * for each view.
 */
#include "interp_race.h"

enum { FAN = 16, FAN_BITS = 4, MOST_NODES = 1 << 21 };

/* An inner node. A leaf is numbers instead, one for each warp of the block. */
struct cj_past {
	const struct cj_past *child[FAN];
};

/* A leaf has what is known of all warps; the same for units follows. That of
 * `view` begins at a place. */
static uint32_t
place_of(const struct cj_race_run *r, enum cj_view view)
{
	return view == CJ_VIEW_THREADS ? 0 :
	    r->warps + ((uint32_t)view - 1) * r->own_warps;
}

static const struct cj_known *
seen_in(const struct cj_race_run *r, const struct cj_past *p,
    enum cj_view view)
{
	return (const struct cj_known *)(const void *)p + place_of(r, view);
}

struct cj_known
cj_leaf_known(const struct cj_race_run *r, const struct cj_past *p,
    enum cj_view view, uint32_t warp)
{
	assert(warp < cj_race_warps(r, view));
	return seen_in(r, p, view)[warp];
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
new_node(struct cj_frame *f, size_t bytes)
{
	struct cj_race_run *r = f->machine->race->run;

	if (atomic_fetch_add_explicit(&r->nodes, 1, memory_order_relaxed)
	    == MOST_NODES)
		cj_race_give_up(f, "it releases memory too often");
	return cj_alloc(f->machine->arena, bytes);
}

static struct cj_known *
new_leaf(struct cj_frame *f)
{
	const struct cj_race_run *r = f->machine->race->run;

	return new_node(f, place_of(r, r->has_async ? CJ_VIEWS :
	    CJ_VIEW_SHARED) * sizeof(struct cj_known));
}

static struct cj_past *
new_inner(struct cj_frame *f)
{
	return new_node(f, sizeof(struct cj_past));
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

	for (v = 0; v < cj_race_views(r); v++) {
		at = place_of(r, v);
		warps = cj_race_warps(r, v);
		x_has_all &= has_all(a + at, b + at, warps);
		y_has_all &= has_all(b + at, a + at, warps);
	}
	if (x_has_all || y_has_all)
		return x_has_all ? x : y;
	both = new_leaf(f);
	for (v = 0; v < cj_race_views(r); v++) {
		at = place_of(r, v);
		warps = cj_race_warps(r, v);
		memcpy(both + at, a + at, warps * sizeof *both);
		for (i = at; i < at + warps; i++)
			cj_known_learn(&both[i], b[i]);
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
	made = new_inner(f);
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

const struct cj_past *
cj_past_leaf(const struct cj_race_run *r, const struct cj_past *p,
    uint64_t block)
{
	return find_leaf(p, r->levels, block);
}

const struct cj_past *
cj_past_fenced_leaf(const struct cj_race_run *r, const struct cj_past *p,
    enum cj_view view, uint64_t block)
{
	return p == NULL ? NULL :
	    find_leaf(p->child[view], r->levels - 1, block);
}

struct cj_known
cj_past_known(const struct cj_race_run *r, const struct cj_past *p,
    uint64_t block, uint32_t warp)
{
	const struct cj_past *leaf = cj_past_leaf(r, p, block);

	return leaf == NULL ? (struct cj_known){ 0 } :
	    cj_leaf_known(r, leaf, CJ_VIEW_THREADS, warp);
}

/* A tree of one leaf. */
static const struct cj_past *
tree_of(struct cj_frame *f, uint64_t block, const struct cj_past *leaf)
{
	unsigned level;

	for (level = 0; level < f->machine->race->run->levels; level++) {
		struct cj_past *up = new_inner(f);

		up->child[block >> level * FAN_BITS & (FAN - 1)] = leaf;
		leaf = up;
	}
	return leaf;
}

const struct cj_past *
cj_past_of(struct cj_frame *f, uint64_t block, uint32_t warp,
    uint32_t interval)
{
	struct cj_known *leaf = new_leaf(f);

	assert(warp < f->machine->race->run->warps);
	leaf[warp].interval = interval;
	return tree_of(f, block, (const void *)leaf);
}

const struct cj_past *
cj_past_of_clock(struct cj_frame *f, const struct cj_clock *c)
{
	const struct cj_race_run *r = f->machine->race->run;
	struct cj_known *leaf = new_leaf(f);
	uint32_t v;

	for (v = 0; v < cj_race_views(r); v++)
		memcpy(leaf + place_of(r, v), c->of[v].warp,
		    cj_race_warps(r, v) * sizeof *leaf);
	return tree_of(f, f->machine->block->number, (const void *)leaf);
}

const struct cj_past *
cj_past_fence(struct cj_frame *f, const struct cj_past *p, enum cj_view view)
{
	const struct cj_past *all = join_trees(f, p->child[view], p->child[
	    CJ_VIEW_THREADS], f->machine->race->run->levels - 1);
	struct cj_past *made;

	if (all == p->child[view])
		return p;
	made = new_inner(f);
	*made = *p;
	made->child[view] = all;
	return made;
}
