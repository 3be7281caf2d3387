/*
 * Walking over instructions in order of the text, without recursion: regions
 * know their owner and the region that it stands in.
 */
#include "ir.h"

struct cj_walk
cj_walk_begin(const struct cj_module *m, cj_region top)
{
	struct cj_walk w = { .m = m, .top = top };

	assert(top != 0 && top < m->regions.len);
	return w;
}

static void
enter(struct cj_walk *w, cj_region region)
{
	w->region = region;
	w->ref = 0;
	w->next = w->m->regions.at[region].first;
	w->event = CJ_WALK_ENTER;
}

/* The region is done: its owner's next region, or on behind the owner. */
static bool
after_region(struct cj_walk *w)
{
	const struct cj_region_info *g = &w->m->regions.at[w->region];

	if (w->region == w->top)
		return false;
	if (g->next != 0) {
		enter(w, g->next);
		return true;
	}
	w->depth--;
	w->region = g->parent;
	w->ref = 0;
	w->next = cj_inst(w->m, g->owner)->next;
	w->event = CJ_WALK_INST;
	return cj_walk_next(w);
}

bool
cj_walk_next(struct cj_walk *w)
{
	const struct cj_inst *i;

	if (w->region == 0) {
		enter(w, w->top);
		return true;
	}
	if (w->event == CJ_WALK_LEAVE)
		return after_region(w);
	if (w->ref != 0 && (i = cj_inst(w->m, w->ref))->region != 0) {
		assert(w->m->regions.at[i->region].parent == w->region);
		w->depth++;
		enter(w, i->region);
		return true;
	}
	if (w->next == 0) {
		w->ref = 0;
		w->event = CJ_WALK_LEAVE;
		return true;
	}
	w->ref = w->next;
	w->next = cj_inst(w->m, w->ref)->next;
	w->event = CJ_WALK_INST;
	return true;
}

struct cj_inst *
cj_walk_inst(struct cj_walk *w)
{
	while (cj_walk_next(w))
		if (w->event == CJ_WALK_INST)
			return cj_inst(w->m, w->ref);
	return NULL;
}

void
cj_walk_skip(struct cj_walk *w)
{
	assert(w->event == CJ_WALK_INST);
	w->ref = 0;
}
