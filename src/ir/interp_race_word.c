/*
 * Words of shadows: who did something last to a cell, and how others come to
 * that.
 *
 * A word names a block, a warp, a lane and the warp's interval; most accesses
 * are found in order by looking at it. Readers that nothing orders among each
 * other have one of
 *
 *	several lanes of one warp	a mark in the word
 *	several warps of one block	a mask of them, all in one interval,
 *					each by the same lane, or by several
 *	others				a set of words, one for each warp
 *
 * A full set forgets one of its readers, so that of more than there is room
 * for, which is at least MOST and the warps of a block for its shared memory,
 * not every race is found; none is ever made up.
 */
#include "interp_race.h"

enum { MOST = 8 };

typedef cj_doer who;

struct set {
	atomic_flag lock;
	uint32_t count, room;
	who at[];			/* CJ_DOER_LANE or CJ_DOER_LANES */
};

static struct set *
set_of(who w)
{
	assert(cj_doer_form(w) == CJ_DOER_SET);
	return (struct set *)(uintptr_t)(w & ~(who)3);
}

/* ---- masks --------------------------------------------------------------- */

/*
 *	63..32 warps	31..27 lane	26..22 last	21..4 interval
 *	3..2 deeds	1..0 form
 *
 * ONE: each of the warps by this lane alone; ALL: each by several lanes; BUT:
 * the last one, so far, by this lane alone, the others by several. As lanes
 * of a step come one by one, what all read goes from BUT to ALL and back.
 */
enum deeds { ONE, ALL, BUT };
enum { MASK_LAST_INTERVAL = (1 << 18) - 1 };

static enum deeds
deeds_of(who mask)
{
	return (enum deeds)(mask >> 2 & 3);
}

static uint32_t
lane_in(who mask)
{
	return (uint32_t)(mask >> 27) & 31;
}

static uint32_t
last_in(who mask)
{
	return (uint32_t)(mask >> 22) & 31;
}

uint32_t
cj_doer_mask_interval(cj_doer mask)
{
	return (uint32_t)(mask >> 4) & MASK_LAST_INTERVAL;
}

static bool
has_warp(who mask, uint32_t warp)
{
	return mask >> (32 + warp) & 1;
}

/* A word of a mask's warp. */
static who
member_of(const struct cj_act *a, who mask, uint32_t warp)
{
	who one = cj_doer_of(a->shadow->owner, warp,
	    cj_doer_mask_interval(mask));

	if (deeds_of(mask) == ONE || (deeds_of(mask) == BUT &&
	    last_in(mask) == warp))
		return one | (who)lane_in(mask) << 28;
	return one | CJ_DOER_LANES;
}

/* The mask with the access in it; 0: there is none that says who. */
static who
mask_and_me(const struct cj_act *a, who mask)
{
	uint32_t warp = a->f->warp, lane = cj_doer_lane(a->me);
	who warps = mask >> 32 << 32 | (who)1 << (32 + warp);
	who rest = mask & ((who)MASK_LAST_INTERVAL << 4 | CJ_DOER_MASK);

	if (deeds_of(mask) == ONE)
		return lane_in(mask) == lane ? mask | warps : 0;
	if (deeds_of(mask) == BUT && last_in(mask) == warp)
		return lane_in(mask) == lane ? mask :
		    warps | rest | ALL << 2;
	if (has_warp(mask, warp))
		return mask;
	return deeds_of(mask) == BUT ? 0 : warps | rest | BUT << 2 |
	    (who)warp << 22 | (who)lane << 27;
}

/* A mask of what one warp has done, as a word says. */
static who
mask_of_one(who w)
{
	who mask = (who)1 << (32 + cj_doer_warp(w)) |
	    (who)cj_doer_interval(w) << 4 | CJ_DOER_MASK;

	return cj_doer_form(w) == CJ_DOER_LANES ? mask | ALL << 2 :
	    mask | ONE << 2 | (who)cj_doer_lane(w) << 27;
}

/* ---- order --------------------------------------------------------------- */

/* Is what a word says part of what is known of its warp? Several lanes may be
 * those that are known, where these are more than one. */
static bool
is_known(struct cj_known k, who w)
{
	if (k.interval >= cj_doer_interval(w))
		return true;
	if (k.since < cj_doer_interval(w))
		return false;
	return cj_doer_form(w) == CJ_DOER_LANE ?
	    k.lanes >> cj_doer_lane(w) & 1 : (k.lanes & (k.lanes - 1)) != 0;
}

/* Did one warp's access happen before the one under examination? */
static bool
is_before(const struct cj_act *a, who w)
{
	const struct cj_clock *c = cj_act_clock(a);
	uint32_t warp = cj_doer_warp(w);

	if ((w ^ a->me) >> 38 != 0)
		return is_known(cj_past_known(a->run, c->past, cj_doer_block(w),
		    warp), w);
	if (((w ^ a->me) & CJ_DOER_WARP_BITS) != 0)
		return is_known(c->of[CJ_VIEW_THREADS].warp[warp], w);
	if (cj_doer_form(w) != CJ_DOER_LANE)
		return cj_doer_interval(w) < c->met;
	return ((w ^ a->me) & CJ_DOER_LANE_BITS) == 0
	    || is_known(cj_clock_own(c, warp), w);
}

/* Of a mask: one of its warps that did not come before, else 0. */
static who
find_in_mask(const struct cj_act *a, who w)
{
	uint32_t i;

	for (i = 0; i < 32 && w >> (32 + i) != 0; i++)
		if (has_warp(w, i) && !is_before(a, member_of(a, w, i)))
			return member_of(a, w, i);
	return 0;
}

static void
lock(struct set *s)
{
	while (atomic_flag_test_and_set(&s->lock))
		;
}

static who
find_in_set(const struct cj_act *a, who w)
{
	struct set *s = set_of(w);
	who found = 0;
	uint32_t i;

	lock(s);
	for (i = 0; i < s->count && found == 0; i++)
		if (!is_before(a, s->at[i]))
			found = s->at[i];
	atomic_flag_clear(&s->lock);
	return found;
}

/* Who of a word did not come before; 0: all did. */
who
cj_doer_unordered(const struct cj_act *a, who w)
{
	switch (cj_doer_form(w)) {
	case CJ_DOER_MASK:
		return find_in_mask(a, w);
	case CJ_DOER_SET:
		return find_in_set(a, w);
	case CJ_DOER_LANE:
	case CJ_DOER_LANES:
		break;
	}
	return is_before(a, w) ? 0 : w;
}

/* ---- fences -------------------------------------------------------------- */

/* Does a fence stand between what one warp did and a unit that is started
 * now? */
static bool
is_fenced(const struct cj_act *a, enum cj_view view, who w)
{
	struct cj_fenced k;

	if (cj_doer_is_of_unit(a, w))
		return true;
	k = cj_clock_fenced(a->f, cj_act_clock(a), view, cj_doer_block(w),
	    cj_doer_warp(w));
	return is_known(k.by[0], w) || is_known(k.by[1], w);
}

static who
unfenced_in_mask(const struct cj_act *a, enum cj_view view, who w)
{
	uint32_t i;

	for (i = 0; i < 32 && w >> (32 + i) != 0; i++)
		if (has_warp(w, i) && !is_fenced(a, view, member_of(a, w, i)))
			return member_of(a, w, i);
	return 0;
}

static who
unfenced_in_set(const struct cj_act *a, enum cj_view view, who w)
{
	struct set *s = set_of(w);
	who found = 0;
	uint32_t i;

	lock(s);
	for (i = 0; i < s->count && found == 0; i++)
		if (!is_fenced(a, view, s->at[i]))
			found = s->at[i];
	atomic_flag_clear(&s->lock);
	return found;
}

/* Who of a word has no fence behind; 0: all have. */
who
cj_doer_unfenced(const struct cj_act *a, enum cj_view view, who w)
{
	switch (cj_doer_form(w)) {
	case CJ_DOER_MASK:
		return unfenced_in_mask(a, view, w);
	case CJ_DOER_SET:
		return unfenced_in_set(a, view, w);
	case CJ_DOER_LANE:
	case CJ_DOER_LANES:
		break;
	}
	return is_fenced(a, view, w) ? 0 : w;
}

/* ---- sharing a word ------------------------------------------------------ */

static void
set_add(const struct cj_act *a, struct set *s)
{
	uint32_t i, kept = 0;
	who me = a->me;

	lock(s);
	for (i = 0; i < s->count; i++) {
		if (is_before(a, s->at[i]))
			continue;
		if (((s->at[i] ^ a->me) & CJ_DOER_WARP_BITS) != 0)
			s->at[kept++] = s->at[i];
		else
			me |= CJ_DOER_LANES;
	}
	s->at[kept < s->room ? kept : (a->me >> 33) % s->room] = me;
	s->count = kept < s->room ? kept + 1 : s->room;
	atomic_flag_clear(&s->lock);
}

static who
new_set(const struct cj_act *a, who old)
{
	uint32_t warps = a->shadow->is_own ? a->run->own_warps : 0, i;
	uint32_t room = warps > MOST ? warps : MOST;
	struct set *s = cj_alloc(a->f->machine->arena, sizeof *s +
	    room * sizeof s->at[0]);

	atomic_flag_clear(&s->lock);
	s->room = room;
	if (cj_doer_form(old) != CJ_DOER_MASK)
		s->at[s->count++] = old;
	for (i = 0; cj_doer_form(old) == CJ_DOER_MASK && i < 32; i++)
		if (has_warp(old, i))
			s->at[s->count++] = member_of(a, old, i);
	assert(s->count <= room && "a mask has warps of the block alone");
	set_add(a, s);
	return (who)(uintptr_t)s | CJ_DOER_SET;
}

/* The mask of a word and the access; 0: there is none. */
static who
joined_mask(const struct cj_act *a, who old)
{
	bool is_mask = cj_doer_form(old) == CJ_DOER_MASK;
	uint32_t interval = is_mask ? cj_doer_mask_interval(old) :
	    cj_doer_interval(old);

	if (!a->shadow->is_own || a->shadow->owner != cj_doer_block(a->me) ||
	    interval != cj_doer_interval(a->me) ||
	    interval > MASK_LAST_INTERVAL ||
	    (!is_mask && (old ^ a->me) >> 38 != 0))
		return 0;
	return mask_and_me(a, is_mask ? old : mask_of_one(old));
}

/* What becomes of a word when this access joins it; sets change inside. */
who
cj_doer_joined(const struct cj_act *a, who old)
{
	who mask;

	if (cj_doer_form(old) == CJ_DOER_SET) {
		set_add(a, set_of(old));
		return old;
	}
	if (cj_doer_form(old) == CJ_DOER_MASK) {
		mask = joined_mask(a, old);
		if (mask != 0)
			return mask;
		return find_in_mask(a, old) == 0 ? a->me : new_set(a, old);
	}
	if (is_before(a, old))
		return a->me;
	if (((old ^ a->me) & CJ_DOER_WARP_BITS) == 0)
		return a->me | CJ_DOER_LANES;
	mask = joined_mask(a, old);
	return mask != 0 ? mask : new_set(a, old);
}
