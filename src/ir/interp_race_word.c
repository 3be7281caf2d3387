/*
 * Words of shadows: who did something last to a cell, and how others come to
 * that.
 *
 * A word names a block, a warp, a lane and the warp's interval; most accesses
 * are found in order by looking at it. Readers that nothing orders among each
 * other have one of
 *
 *	several lanes of one warp	a mark in the word
 *	several warps of one block	a mask of them, all in one interval
 *	others				a set of up to MOST words
 *
 * A full set forgets one of its readers, so that of more than MOST
 * unordered ones not every race is found; none is ever made up.
 */
#include "interp_race.h"

enum { MOST = 8 };

typedef cj_doer who;

struct set {
	atomic_flag lock;
	uint32_t count;
	who at[MOST];			/* CJ_DOER_LANE or CJ_DOER_LANES */
};

static struct set *
set_of(who w)
{
	assert(cj_doer_form(w) == CJ_DOER_SET);
	return (struct set *)(uintptr_t)(w & ~(who)3);
}

/* ---- order --------------------------------------------------------------- */

/* Is what a word says part of what is known of its warp? */
static bool
is_known(struct cj_known k, who w)
{
	if (k.interval >= cj_doer_interval(w))
		return true;
	if (k.lane >> 6 < cj_doer_interval(w))
		return false;
	return cj_doer_form(w) == CJ_DOER_MASK ||
	    (cj_doer_form(w) == CJ_DOER_LANE &&
	    (k.lane >> 1 & 31) == cj_doer_lane(w));
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
		return is_known((struct cj_known){
		    c->of[CJ_VIEW_THREADS].warp[warp],
		    c->of[CJ_VIEW_THREADS].lane[warp] }, w);
	if (cj_doer_form(w) != CJ_DOER_LANE)
		return cj_doer_interval(w) < c->met;
	return ((w ^ a->me) & CJ_DOER_LANE_BITS) == 0
	    || is_known((struct cj_known){ c->met - 1,
	    c->of[CJ_VIEW_THREADS].lane[warp] }, w);
}

/* A word of a mask's warp number i. */
static who
member_of(const struct cj_act *a, who mask, uint32_t i)
{
	return cj_doer_of(a->shadow->owner, i, cj_doer_interval(mask)) |
	    CJ_DOER_MASK;
}

/* Of a mask: one of its warps that did not come before, else 0. */
static who
find_in_mask(const struct cj_act *a, who w)
{
	uint32_t warps = (uint32_t)(w >> 32), i;

	for (i = 0; i < 32 && warps >> i != 0; i++) {
		who one = member_of(a, w, i);

		if (warps >> i & 1 && ((one ^ a->me) & CJ_DOER_WARP_BITS) != 0
		    && !is_before(a, one))
			return one;
	}
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
	uint32_t warps = (uint32_t)(w >> 32), i;

	for (i = 0; i < 32 && warps >> i != 0; i++)
		if (warps >> i & 1 && !is_fenced(a, view, member_of(a, w, i)))
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
	s->at[kept < MOST ? kept : (a->me >> 33) % MOST] = me;
	s->count = kept < MOST ? kept + 1 : MOST;
	atomic_flag_clear(&s->lock);
}

static who
new_set(const struct cj_act *a, who old)
{
	struct set *s = CJ_NEW(a->f->machine->arena, struct set);
	uint32_t i;

	atomic_flag_clear(&s->lock);
	if (cj_doer_form(old) != CJ_DOER_MASK)
		s->at[s->count++] = old;
	for (i = 0; cj_doer_form(old) == CJ_DOER_MASK && i < 32 &&
	    s->count < MOST; i++)
		if (old >> (32 + i) & 1)
			s->at[s->count++] = member_of(a, old, i);
	set_add(a, s);
	return (who)(uintptr_t)s | CJ_DOER_SET;
}

static who
mask_of(const struct cj_act *a, who w)
{
	who others = cj_doer_form(w) == CJ_DOER_MASK ? w >> 32 :
	    (who)1 << cj_doer_warp(w);

	return (others | (who)1 << a->f->warp) << 32
	    | (w & ((who)CJ_LAST_INTERVAL << 6)) | CJ_DOER_MASK;
}

static bool
can_be_mask(const struct cj_act *a, who w)
{
	return a->shadow->is_own && a->shadow->owner == cj_doer_block(a->me)
	    && cj_doer_interval(w) == cj_doer_interval(a->me)
	    && (cj_doer_form(w) == CJ_DOER_MASK || (w ^ a->me) >> 38 == 0);
}

/* What becomes of a word when this access joins it; sets change inside. */
who
cj_doer_joined(const struct cj_act *a, who old)
{
	if (cj_doer_form(old) == CJ_DOER_SET) {
		set_add(a, set_of(old));
		return old;
	}
	if (cj_doer_form(old) == CJ_DOER_MASK) {
		if (can_be_mask(a, old))
			return mask_of(a, old);
		return find_in_mask(a, old) == 0 ? a->me : new_set(a, old);
	}
	if (is_before(a, old))
		return a->me;
	if (((old ^ a->me) & CJ_DOER_WARP_BITS) == 0)
		return a->me | CJ_DOER_LANES;
	return can_be_mask(a, old) ? mask_of(a, old) : new_set(a, old);
}
