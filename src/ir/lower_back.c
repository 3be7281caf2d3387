/*
 * Channels, where stages go back: waits for who reads them, arrivals at
 * "empty", of this block or of all that share its loads.
 */
#include "lower_channel.h"

/* Those who arrive less often than others in a split one make up for it. */
static cj_ref
arrivals(struct channel *h, struct cj_builder *b, uint32_t role)
{
	uint32_t n = cj_channel_arrivals_empty(h, role);
	cj_ref warp, is_first;

	if (!h->pipeline->is_split || n == h->most)
		return cj_emit_index(b, 1);
	warp = cj_emit0(b, CJ_OP_SPECIAL, cj_type_of(CJ_KIND_INDEX, 1),
	    CJ_SPECIAL_WARP);
	is_first = cj_lower_compare(b, CJ_OP_EQ, warp, cj_emit_index(b,
	    h->l->roles[role].first));
	return cj_lower_choose(b, is_first, cj_emit_index(b, h->most - n + 1),
	    cj_emit_index(b, 1));
}

static void
arrive_at(struct channel *h, struct cj_builder *b, cj_ref stage, cj_ref count,
    cj_ref rank)
{
	struct cj_access a = { .object = h->empty, .align = 8 };
	cj_ref refs[3] = { stage, count, rank };

	cj_emit(b, CJ_OP_MBARRIER_ARRIVE, 0, cj_module_access(b->module, &a),
	    refs, 3);
}

/* To all blocks that share its loads: each lane to one of them, or the lane
 * that stores to one after the other. */
static void
give_back_far(struct channel *h, struct cj_builder *b, uint32_t role,
    cj_ref stage)
{
	struct cj_builder in = *b;
	cj_ref lane, count;
	uint32_t i;

	if (cj_channel_is_freed_by_lane(h, role)) {
		cj_lower_lead(h->l, &in, role);
		count = arrivals(h, &in, role);
		for (i = 0; i < h->sharers; i++)
			arrive_at(h, &in, stage, count, cj_channel_rank_of(h,
			    &in, cj_emit_index(&in, i)));
		return;
	}
	lane = cj_emit0(&in, CJ_OP_SPECIAL, cj_type_of(CJ_KIND_INDEX, 1),
	    CJ_SPECIAL_LANE);
	cj_lower_if(&in, cj_lower_compare(&in, CJ_OP_LT, lane,
	    cj_emit_index(&in, h->sharers)));
	arrive_at(h, &in, stage, arrivals(h, &in, role),
	    cj_channel_rank_of(h, &in, lane));
}

static void
give_back(struct channel *h, struct cj_builder *b, uint32_t role,
    cj_ref stage)
{
	struct cj_builder in = *b;

	if (h->sharers > 1) {
		give_back_far(h, b, role, stage);
		return;
	}
	if (cj_channel_is_freed_by_lane(h, role))
		cj_lower_lead(h->l, &in, role);
	else
		cj_lower_if(&in, cj_lower_is_lane0(&in));
	cj_lower_on(&in, CJ_OP_MBARRIER_ARRIVE, h->empty, stage,
	    arrivals(h, &in, role));
}

/* Readers have ended, for all lanes of the warp. */
static void
settle_readers(struct channel *h, struct cj_builder *b, uint32_t role,
    uint32_t open)
{
	unsigned reads = h->c->reads[role];
	struct cj_builder lead = *b;

	if (reads & CJ_BY_TMA) {
		cj_lower_lead(h->l, &lead, role);
		cj_emit0(&lead, CJ_OP_BULK_COMMIT, 0, 0);
		cj_emit0(&lead, CJ_OP_BULK_WAIT_READ, 0, open);
	}
	if (reads & CJ_BY_THREAD && cj_channel_is_filled_by(h, CJ_BY_TMA))
		cj_emit0(b, CJ_OP_FENCE, 0, CJ_FENCE_ASYNC_SHARED);
	if (!h->l->roles[role].is_single && (reads & CJ_BY_THREAD ||
	    (reads & CJ_BY_TMA && reads != CJ_BY_TMA)))
		cj_emit0(b, CJ_OP_SYNC_WARP, 0, 0);
}

/* The consume block of this channel around an instruction. */
static cj_ref
block_around(const struct channel *h, cj_ref r)
{
	const struct cj_module *m = h->l->m;
	cj_ref at = r;

	while ((at = m->regions.at[h->l->s.home[at]].owner) != 0)
		if (cj_inst(m, at)->op == CJ_OP_CONSUME &&
		    cj_lower_use(h->l, at)->pipeline == h->p)
			return at;
	cj_bug(m->arena->recover, "a stage of \"%s\" goes back outside of its "
	    "block", h->pipeline->name);
}

/* The stages behind the oldest one that has not gone back. */
static void
give_oldest(struct channel *h, struct cj_builder *b, uint32_t role)
{
	struct side *s = &h->reads[role];
	cj_ref stage = cj_lower_get(b, s->oldest), is_last;

	give_back(h, b, role, stage);
	cj_lower_set(b, s->oldest, cj_channel_next_stage(h, b, stage,
	    &is_last));
}

static void
make_in_flight(struct channel *h, uint32_t role)
{
	struct side *s = &h->reads[role];
	const struct cj_pipeline *p = h->pipeline;
	cj_region g = h->l->roles[role].region;
	struct cj_arena *a = h->l->m->arena;

	if (s->oldest != 0)
		return;
	s->oldest = cj_lower_slot(h->l, g, p->place, cj_printf(a,
	    "%s.oldest", p->name), p->stages - 1, 0);
	s->held = cj_lower_slot(h->l, g, p->place, cj_printf(a, "%s.held",
	    p->name), p->stages - 1, 0);
}

/* held == n: the oldest goes back; else one more is held. */
static void
release_in_flight(struct channel *h, cj_ref r, uint32_t role, uint32_t n)
{
	struct cj_lower *l = h->l;
	struct cj_builder b = cj_lower_at(l, l->s.home[r], r, r), in;
	cj_ref block = block_around(h, r), held, owner;
	struct side *s = &h->reads[role];

	make_in_flight(h, role);
	settle_readers(h, &b, role, n);
	held = cj_lower_get(&b, s->held);
	in = b;
	owner = cj_lower_if(&in, cj_lower_compare(&in, CJ_OP_EQ, held,
	    cj_emit_index(&in, n)));
	give_oldest(h, &in, role);
	in = b;
	in.region = cj_region_add(&in, owner, NULL);
	in.before = 0;
	/* the first that is held is the oldest one */
	if (h->taken[block] != 0) {
		struct cj_builder set = in;

		cj_lower_if(&set, cj_lower_compare(&set, CJ_OP_EQ, held,
		    cj_emit_index(&set, 0)));
		cj_lower_set(&set, s->oldest, h->taken[block]);
	}
	cj_lower_set(&in, s->held, cj_lower_plus(&in, held, 1));
}

void
cj_channel_release(struct channel *h, cj_ref r)
{
	struct cj_lower *l = h->l;
	uint32_t role = l->s.role_of[r], n = cj_lower_use(l, r)->count;
	struct cj_builder b = cj_lower_at(l, l->s.home[r], r, r);

	if (n > 0) {
		release_in_flight(h, r, role, n);
	} else {
		settle_readers(h, &b, role, 0);
		give_back(h, &b, role, h->taken[block_around(h, r)]);
	}
	cj_inst_remove(l->m, l->s.home[r], r);
}

void
cj_channel_drain(struct channel *h, cj_ref r)
{
	struct cj_lower *l = h->l;
	uint32_t role = l->s.role_of[r];
	struct cj_builder b = cj_lower_at(l, l->s.home[r], r, r), in;
	struct side *s = &h->reads[role];
	cj_ref range[3], owner;

	make_in_flight(h, role);
	if (h->c->reads[role] & CJ_BY_TMA) {
		in = b;
		cj_lower_lead(l, &in, role);
		cj_emit0(&in, CJ_OP_BULK_WAIT_READ, 0, 0);
	}
	if (h->c->reads[role] & CJ_BY_TMA && h->c->reads[role] != CJ_BY_TMA)
		cj_emit0(&b, CJ_OP_SYNC_WARP, 0, 0);
	in = b;
	range[1] = cj_lower_get(&in, s->held);
	if (cj_lower_use(l, r)->count == 1) {
		cj_lower_if(&in, cj_lower_compare(&in, CJ_OP_LT,
		    cj_emit_index(&in, 0), range[1]));
	} else {
		range[0] = cj_emit_index(&in, 0);
		range[2] = cj_emit_index(&in, 1);
		owner = cj_emit(&in, CJ_OP_FOR, 0, 0, range, 3);
		in.region = cj_region_add(&in, owner, NULL);
		in.before = 0;
	}
	give_oldest(h, &in, role);
	cj_lower_set(&b, s->held, cj_emit_index(&b, 0));
	cj_inst_remove(l->m, l->s.home[r], r);
}

