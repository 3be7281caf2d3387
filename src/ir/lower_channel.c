/*
 * Channels: pipelines whose stages have an mbarrier for "full" and one for
 * "empty" each.
 *
 * Each role keeps, of what it fills and of what it reads, the stage and the
 * parity of its phase; both move on entry. A new mbarrier counts its phase of
 * parity 1 as ended, so that the first fills wait for nobody.
 *
 *	full	the lane that issues TMA, with the bytes of all its copies;
 *		each warp that stores; each thread whose cp.async has landed
 *	empty	each warp that reads; the issuing lane alone where TMA does
 *
 * What stands in a produce block of TMA alone is done by that lane alone.
 *
 * Blocks of a cluster that share a load send a part of it each to all of them,
 * and each counts the bytes of all parts. A stage may be filled again when all
 * of them have read it: their warps arrive at `empty` of each.
 */
#include "lower_priv.h"

/* One side of a channel in one role. */
struct side {
	uint32_t stage, parity;		/* slots */
	uint32_t oldest, held;		/* consume, in_flight: what goes back
					   next, how many have not */
};

struct channel {
	struct cj_lower *l;
	uint32_t p;
	const struct cj_pipeline *pipeline;
	const struct cj_channel *c;
	uint32_t full, empty;		/* objects */
	uint32_t least, most;		/* arrivals of a role at `empty` */
	bool is_read_async;		/* by TMA or products */
	uint32_t x, y;			/* the cluster's extents */
	uint32_t share;			/* bits: modes that loads are shared
					   along, 4: along both at once */
	uint32_t sharers;		/* blocks that give back to a block */
	struct side *fills, *reads;	/* by role */
	cj_ref *taken;			/* by block: its stage */
};

/* ---- blocks that share loads --------------------------------------------- */

/* Everybody whom a block sends to, or gets from, gives it stages back: blocks
 * of its row of the cluster, then the others of its column; or all. */
static void
find_sharers(struct channel *h)
{
	struct cj_module *m = h->l->m;
	const int64_t *c = m->functions.at[h->l->s.function].cluster;
	cj_ref r;

	h->x = c[0] > 1 ? (uint32_t)c[0] : 1;
	h->y = c[1] > 1 ? (uint32_t)c[1] : 1;
	for (r = 1; r < h->l->s.count; r++) {
		const struct cj_inst *i = cj_inst(m, r);
		uint32_t share;

		if (h->l->s.home[r] == 0 || i->op != CJ_OP_TMA_LOAD ||
		    h->l->s.owner[m->accesses.at[m->tmas.at[i->attr].shared]
		    .object] != h->p)
			continue;
		share = m->tmas.at[i->attr].share;
		h->share |= share == 3 ? 4 : share;
	}
	h->sharers = h->share & 4 ? h->x * h->y : h->share == 3 ?
	    h->x + h->y - 1 : h->share == 1 ? h->x : h->share == 2 ? h->y : 1;
	h->l->is_far |= h->sharers > 1;
}

static cj_ref
math(struct cj_builder *b, enum cj_op op, cj_ref x, cj_ref y)
{
	return cj_emit2(b, op, cj_type_of(CJ_KIND_INDEX, 1), x, y);
}

static cj_ref
choose(struct cj_builder *b, cj_ref condition, cj_ref x, cj_ref y)
{
	return cj_emit3(b, CJ_OP_SELECT, cj_type_of(CJ_KIND_INDEX, 1),
	    condition, x, y);
}

/* The rank of sharer number `i`. */
static cj_ref
rank_of(const struct channel *h, struct cj_builder *b, cj_ref i)
{
	cj_ref rank = cj_emit0(b, CJ_OP_SPECIAL, cj_type_of(CJ_KIND_INDEX,
	    1), CJ_SPECIAL_BLOCK_RANK), width, x, y, in_row, in_column;

	if (h->share & 4)
		return i;
	width = cj_emit_index(b, h->x);
	x = math(b, CJ_OP_MOD, rank, width);
	y = math(b, CJ_OP_DIV, rank, width);
	in_row = math(b, CJ_OP_ADD, i, math(b, CJ_OP_MUL, y, width));
	if (h->share == 1)
		return in_row;
	if (h->share == 2)
		return math(b, CJ_OP_ADD, x, math(b, CJ_OP_MUL, i, width));
	/* the own block is in its row already */
	in_column = math(b, CJ_OP_SUB, i, width);
	in_column = math(b, CJ_OP_ADD, in_column, choose(b, cj_lower_compare(
	    b, CJ_OP_LE, y, in_column), cj_emit_index(b, 1),
	    cj_emit_index(b, 0)));
	in_column = math(b, CJ_OP_ADD, x, math(b, CJ_OP_MUL, in_column,
	    width));
	return choose(b, cj_lower_compare(b, CJ_OP_LT, i, width), in_row,
	    in_column);
}

/* ---- who arrives how often ----------------------------------------------- */

static uint32_t
arrivals_full(const struct channel *h, uint32_t role)
{
	const struct cj_lower_role *r = &h->l->roles[role];
	unsigned writes = h->c->writes[role];
	uint32_t n = 0;

	if (!h->c->produces[role])
		return 0;
	n += (writes & CJ_BY_TMA) != 0;
	n += writes & CJ_BY_COPY ? 32 * r->warps : 0;
	n += writes & CJ_BY_THREAD || writes == 0 ? r->warps : 0;
	return n;
}

static uint32_t
arrivals_empty(const struct channel *h, uint32_t role)
{
	return h->c->reads[role] == CJ_BY_TMA ? 1 : h->l->roles[role].warps;
}

static void
count(struct channel *h)
{
	struct cj_lower *l = h->l;
	uint32_t full = 0, empty = 0, r, n;
	const char *name = h->pipeline->name != NULL ? h->pipeline->name :
	    "pipeline";

	h->least = UINT32_MAX;
	for (r = 0; r < l->m->roles.len; r++) {
		full += arrivals_full(h, r);
		h->is_read_async |= (h->c->reads[r] & (CJ_BY_TMA |
		    CJ_BY_WGMMA)) != 0;
		if (!h->c->consumes[r])
			continue;
		n = arrivals_empty(h, r);
		empty = h->pipeline->is_split ? (n > empty ? n : empty) :
		    empty + n;
		h->least = n < h->least ? n : h->least;
		h->most = n > h->most ? n : h->most;
	}
	h->full = cj_lower_mbarriers(l, h->pipeline->place, cj_printf(
	    l->m->arena, "%s.full", name), h->pipeline->stages, full);
	h->empty = cj_lower_mbarriers(l, h->pipeline->place, cj_printf(
	    l->m->arena, "%s.empty", name), h->pipeline->stages,
	    empty * h->sharers);
}

/* ---- cursors ------------------------------------------------------------- */

static void
make_side(struct channel *h, uint32_t role, struct side *s, bool fills)
{
	const struct cj_pipeline *p = h->pipeline;
	struct cj_arena *a = h->l->m->arena;
	const char *name = p->name != NULL ? p->name : "pipeline";
	cj_region g = h->l->roles[role].region;

	if (s->parity != 0)
		return;
	s->stage = cj_lower_slot(h->l, g, p->place, cj_printf(a, "%s.%s",
	    name, fills ? "fill" : "read"), p->stages - 1, 0);
	s->parity = cj_lower_slot(h->l, g, p->place, cj_printf(a,
	    "%s.%s_parity", name, fills ? "fill" : "read"), 1, fills);
}

static cj_ref
plus(struct cj_builder *b, cj_ref x, int64_t n)
{
	return cj_emit2(b, CJ_OP_ADD, cj_type_of(CJ_KIND_INDEX, 1), x,
	    cj_emit_index(b, n));
}

static cj_ref
other_parity(struct cj_builder *b, cj_ref parity)
{
	return cj_emit2(b, CJ_OP_SUB, cj_type_of(CJ_KIND_INDEX, 1),
	    cj_emit_index(b, 1), parity);
}

/* The stage behind `stage`; *is_last says whether that is the first again. */
static cj_ref
next_stage(struct channel *h, struct cj_builder *b, cj_ref stage,
    cj_ref *is_last)
{
	uint32_t last = h->pipeline->stages - 1;

	*is_last = cj_lower_compare(b, CJ_OP_EQ, stage, cj_emit_index(b,
	    last));
	return choose(b, *is_last, cj_emit_index(b, 0), plus(b, stage, 1));
}

static void
advance(struct channel *h, struct cj_builder *b, const struct side *s,
    cj_ref stage, cj_ref parity)
{
	cj_ref is_last, next = next_stage(h, b, stage, &is_last);

	cj_lower_set(b, s->stage, next);
	cj_lower_set(b, s->parity, choose(b, is_last, other_parity(b, parity),
	    parity));
}

/* ---- produce ------------------------------------------------------------- */

/* What comes into this block, from all that share it. */
static int64_t
bytes_of(const struct channel *h, const struct cj_inst *load)
{
	const struct cj_module *m = h->l->m;
	const struct cj_map *map = &m->maps.at[m->tmas.at[load->attr].map];
	int64_t n = cj_kind_bits(m->objects.at[map->object].element);
	uint32_t i;

	for (i = 0; i < map->rank; i++)
		n *= map->box[i];
	n *= m->tmas.at[load->attr].share & 1 ? h->x : 1;
	n *= m->tmas.at[load->attr].share & 2 ? h->y : 1;
	return n / 8;
}

/* A load of this channel, by the stage of a block. */
static bool
is_load(const struct channel *h, cj_ref r, cj_ref block)
{
	const struct cj_inst *i = cj_inst(h->l->m, r);

	return i->op == CJ_OP_TMA_LOAD && h->l->m->tmas.at[i->attr].signal ==
	    0 && cj_site_of(&h->l->s, r, 0) == block;
}

static void
signal_load(struct channel *h, cj_ref r, cj_ref stage)
{
	struct cj_module *m = h->l->m;
	struct cj_inst *i = cj_inst(m, r);
	struct cj_tma_copy copy = m->tmas.at[i->attr];
	struct cj_access a = { .object = h->full, .align = 8 };
	cj_ref refs[4 + CJ_MAP_MODES];
	uint32_t n, count = i->operand_count;
	struct cj_builder b = cj_lower_at(h->l, h->l->s.home[r], r, r);

	for (n = 0; n < count; n++)
		refs[n < 2 ? n : n + 1] = cj_operand(m, i, n);
	refs[2] = stage;
	copy.signal = cj_module_access(m, &a);
	cj_emit(&b, CJ_OP_TMA_LOAD, 0, cj_module_tma(m, &copy), refs,
	    count + 1);
	cj_inst_remove(m, h->l->s.home[r], r);
	h->l->s.home[r] = 0;
}

/* The bytes of all loads of a block, each of which happens once. */
static int64_t
bytes_of_block(struct channel *h, cj_ref block)
{
	const struct cj_module *m = h->l->m;
	cj_region g = cj_inst(m, block)->region;
	int64_t bytes = 0;
	cj_ref r;

	for (r = 1; r < h->l->s.count; r++) {
		if (h->l->s.home[r] == 0 || !is_load(h, r, block))
			continue;
		if (h->l->s.home[r] != g)
			return -1;
		bytes += bytes_of(h, cj_inst(m, r));
	}
	return bytes;
}

/* Loads of which nobody knows how many happen: each says its bytes itself. */
static void
expect_each(struct channel *h, cj_ref block, cj_ref stage)
{
	struct cj_lower *l = h->l;
	struct cj_builder b;
	cj_ref r;

	for (r = 1; r < l->s.count; r++) {
		if (l->s.home[r] == 0 || !is_load(h, r, block))
			continue;
		b = cj_lower_at(l, l->s.home[r], r, r);
		cj_lower_on(&b, CJ_OP_MBARRIER_BYTES, h->full, stage,
		    cj_emit_index(&b, bytes_of(h, cj_inst(l->m, r))));
	}
}

static void
signal_loads(struct channel *h, cj_ref block, cj_ref stage)
{
	cj_ref r;

	for (r = 1; r < h->l->s.count; r++)
		if (h->l->s.home[r] != 0 && is_load(h, r, block))
			signal_load(h, r, stage);
}

static void
arrive(struct cj_builder *b, uint32_t object, cj_ref at)
{
	cj_lower_on(b, CJ_OP_MBARRIER_ARRIVE, object, at,
	    cj_emit_index(b, 1));
}

/* Until the stage has come back from all who read it, in all blocks. */
static void
wait_empty(struct channel *h, struct cj_builder *b, cj_ref stage,
    cj_ref parity)
{
	struct cj_access a = { .object = h->empty, .align = 8,
	    .scope = h->sharers > 1 ? CJ_MEMORY_CLUSTER : CJ_MEMORY_BLOCK };
	cj_ref refs[2] = { stage, parity };

	cj_emit(b, CJ_OP_MBARRIER_WAIT, 0, cj_module_access(b->module, &a),
	    refs, 2);
}

/* The lane waits, says how many bytes come, and copies. */
static void
fill_by_lane(struct channel *h, cj_ref block, cj_ref first, uint32_t role,
    cj_ref stage, cj_ref parity)
{
	struct cj_lower *l = h->l;
	cj_region g = cj_inst(l->m, block)->region;
	struct cj_builder b = cj_lower_at(l, g, first, block);
	int64_t bytes = bytes_of_block(h, block);

	cj_lower_lead(l, &b, role);
	wait_empty(h, &b, stage, parity);
	if (bytes >= 0)
		cj_lower_on(&b, CJ_OP_MBARRIER_EXPECT, h->full, stage,
		    cj_emit_index(&b, bytes));
	else
		expect_each(h, block, stage);
	signal_loads(h, block, stage);
	if (b.region != g) {
		/* `first` may have been a load, which is another one now */
		cj_ref owner = l->m->regions.at[b.region].owner;

		cj_lower_move(l, g, cj_inst(l->m, owner)->next, b.region);
	}
	b.before = 0;
	if (bytes < 0)
		arrive(&b, h->full, stage);
}

/* All threads wait and fill; copies by TMA are their leader's. */
static void
fill_by_threads(struct channel *h, cj_ref block, cj_ref first, uint32_t role,
    cj_ref stage, cj_ref parity)
{
	struct cj_lower *l = h->l;
	unsigned writes = h->c->writes[role];
	cj_region g = cj_inst(l->m, block)->region;
	struct cj_builder b = cj_lower_at(l, g, first, block), lead;
	int64_t bytes = bytes_of_block(h, block);
	cj_ref r;

	wait_empty(h, &b, stage, parity);
	if (writes & CJ_BY_TMA && bytes >= 0) {
		lead = b;
		cj_lower_lead(l, &lead, role);
		cj_lower_on(&lead, CJ_OP_MBARRIER_EXPECT, h->full, stage,
		    cj_emit_index(&lead, bytes));
	}
	for (r = 1; r < l->s.count; r++)
		if (l->s.home[r] != 0 && is_load(h, r, block))
			cj_lower_lead_one(l, r, role);
	if (bytes < 0)
		expect_each(h, block, stage);
	signal_loads(h, block, stage);
	b.before = 0;
	if (writes & CJ_BY_TMA && bytes < 0) {
		lead = b;
		cj_lower_lead(l, &lead, role);
		arrive(&lead, h->full, stage);
	}
	if (writes & CJ_BY_COPY)
		cj_lower_on(&b, CJ_OP_CP_ARRIVE, h->full, stage, 0);
	if (writes != 0 && !(writes & CJ_BY_THREAD))
		return;
	if (h->is_read_async)
		cj_emit0(&b, CJ_OP_FENCE, 0, CJ_FENCE_ASYNC_SHARED);
	cj_emit0(&b, CJ_OP_SYNC_WARP, 0, 0);
	cj_lower_if(&b, cj_lower_is_lane0(&b));
	arrive(&b, h->full, stage);
}

/* The block is what it was, but for its index. */
static void
end_block(struct channel *h, cj_ref block, cj_ref stage)
{
	struct cj_module *m = h->l->m;
	cj_region g = cj_inst(m, block)->region;
	cj_ref index = m->regions.at[g].first;

	cj_replace_uses(m, index, stage);
	h->taken[block] = stage;
}

static void
close_block(struct cj_lower *l, cj_ref block)
{
	struct cj_module *m = l->m;
	struct cj_inst *i = cj_inst(m, block);
	cj_region g = i->region;

	cj_inst_remove(m, g, m->regions.at[g].first);
	i = cj_inst(m, block);
	i->op = i->operand_count > 0 ? CJ_OP_IF : CJ_OP_SCOPE;
	i->attr = 0;
}

static void
lower_produce(struct channel *h, cj_ref block)
{
	struct cj_lower *l = h->l;
	uint32_t role = l->s.role_of[block];
	cj_region g = cj_inst(l->m, block)->region;
	cj_ref first = cj_lower_first(l->m, g), stage, parity;
	struct cj_builder b = cj_lower_at(l, g, first, block);
	struct side *s = &h->fills[role];

	make_side(h, role, s, true);
	stage = cj_lower_get(&b, s->stage);
	parity = cj_lower_get(&b, s->parity);
	advance(h, &b, s, stage, parity);
	end_block(h, block, stage);
	if (h->c->writes[role] == CJ_BY_TMA)
		fill_by_lane(h, block, first, role, stage, parity);
	else
		fill_by_threads(h, block, first, role, stage, parity);
}

/* ---- consume ------------------------------------------------------------- */

static bool
is_filled_by(const struct channel *h, unsigned engine)
{
	uint32_t r;

	for (r = 0; r < h->l->m->roles.len; r++)
		if (h->c->writes[r] & engine)
			return true;
	return false;
}

/* Stores by TMA are the leader's. */
static void
lead_stores(struct channel *h, cj_ref block, uint32_t role)
{
	struct cj_lower *l = h->l;
	cj_ref r;

	for (r = 1; r < l->s.count; r++)
		if (l->s.home[r] != 0 && cj_inst(l->m, r)->op ==
		    CJ_OP_TMA_STORE && cj_site_of(&l->s, r, 0) == block)
			cj_lower_lead_one(l, r, role);
}

static void
lower_consume(struct channel *h, cj_ref block)
{
	struct cj_lower *l = h->l;
	uint32_t role = l->s.role_of[block];
	cj_region g = cj_inst(l->m, block)->region;
	struct cj_builder b = cj_lower_at(l, g, cj_lower_first(l->m, g),
	    block);
	struct side *s = &h->reads[role];
	cj_ref stage, parity;

	make_side(h, role, s, false);
	stage = cj_lower_get(&b, s->stage);
	parity = cj_lower_get(&b, s->parity);
	if (!cj_lower_use(l, block)->keep)
		advance(h, &b, s, stage, parity);
	cj_lower_on(&b, CJ_OP_MBARRIER_WAIT, h->full, stage, parity);
	if (h->is_read_async && is_filled_by(h, CJ_BY_COPY))
		cj_emit0(&b, CJ_OP_FENCE, 0, CJ_FENCE_ASYNC_SHARED);
	lead_stores(h, block, role);
	end_block(h, block, stage);
}

/* ---- stages go back ------------------------------------------------------ */

/* Those who arrive less often than others in a split one make up for it. */
static cj_ref
arrivals(struct channel *h, struct cj_builder *b, uint32_t role)
{
	uint32_t n = arrivals_empty(h, role);
	cj_ref warp, is_first;

	if (!h->pipeline->is_split || n == h->most)
		return cj_emit_index(b, 1);
	warp = cj_emit0(b, CJ_OP_SPECIAL, cj_type_of(CJ_KIND_INDEX, 1),
	    CJ_SPECIAL_WARP);
	is_first = cj_lower_compare(b, CJ_OP_EQ, warp, cj_emit_index(b,
	    h->l->roles[role].first));
	return choose(b, is_first, cj_emit_index(b, h->most - n + 1),
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

	if (h->c->reads[role] == CJ_BY_TMA) {
		cj_lower_lead(h->l, &in, role);
		count = arrivals(h, &in, role);
		for (i = 0; i < h->sharers; i++)
			arrive_at(h, &in, stage, count, rank_of(h, &in,
			    cj_emit_index(&in, i)));
		return;
	}
	lane = cj_emit0(&in, CJ_OP_SPECIAL, cj_type_of(CJ_KIND_INDEX, 1),
	    CJ_SPECIAL_LANE);
	cj_lower_if(&in, cj_lower_compare(&in, CJ_OP_LT, lane,
	    cj_emit_index(&in, h->sharers)));
	arrive_at(h, &in, stage, arrivals(h, &in, role), rank_of(h, &in,
	    lane));
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
	if (h->c->reads[role] == CJ_BY_TMA)
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
	if (reads & CJ_BY_THREAD && is_filled_by(h, CJ_BY_TMA))
		cj_emit0(b, CJ_OP_FENCE, 0, CJ_FENCE_ASYNC_SHARED);
	if (reads & CJ_BY_THREAD || (reads & CJ_BY_TMA && reads != CJ_BY_TMA))
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
	cj_lower_set(b, s->oldest, next_stage(h, b, stage, &is_last));
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
	cj_lower_set(&in, s->held, plus(&in, held, 1));
}

static void
lower_release(struct channel *h, cj_ref r)
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

static void
lower_drain(struct channel *h, cj_ref r)
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

/* ---- skip ---------------------------------------------------------------- */

static void
lower_skip(struct channel *h, cj_ref r)
{
	const cj_type t = cj_type_of(CJ_KIND_INDEX, 1);
	struct cj_lower *l = h->l;
	uint32_t role = l->s.role_of[r];
	struct cj_builder b = cj_lower_at(l, l->s.home[r], r, r);
	struct side *s = &h->reads[role];
	cj_ref by = cj_operand(l->m, cj_inst(l->m, r), 0), stages, sum, turns;

	make_side(h, role, s, false);
	stages = cj_emit_index(&b, h->pipeline->stages);
	by = cj_emit2(&b, CJ_OP_MAX, t, by, cj_emit_index(&b, 0));
	sum = cj_emit2(&b, CJ_OP_ADD, t, cj_lower_get(&b, s->stage), by);
	turns = cj_emit2(&b, CJ_OP_DIV, t, sum, stages);
	turns = cj_emit2(&b, CJ_OP_ADD, t, cj_lower_get(&b, s->parity),
	    turns);
	cj_lower_set(&b, s->parity, cj_emit2(&b, CJ_OP_MOD, t, turns,
	    cj_emit_index(&b, 2)));
	cj_lower_set(&b, s->stage, cj_emit2(&b, CJ_OP_MOD, t, sum, stages));
	cj_inst_remove(l->m, l->s.home[r], r);
}

/* ---- all of them --------------------------------------------------------- */

typedef void lower_fn(struct channel *h, cj_ref r);

static void
each(struct channel *h, enum cj_op op, lower_fn *lower)
{
	struct cj_lower *l = h->l;
	cj_ref r;

	for (r = 1; r < l->s.count; r++)
		if (l->s.home[r] != 0 && cj_inst(l->m, r)->op == op &&
		    cj_lower_use(l, r)->pipeline == h->p)
			lower(h, r);
}

static void
remove_settle(struct channel *h, cj_ref r)
{
	cj_inst_remove(h->l->m, h->l->s.home[r], r);
}

static void
close_one(struct channel *h, cj_ref block)
{
	close_block(h->l, block);
}

/* Whoever needs a block around finds it: blocks are closed last. */
static void
lower_one(struct cj_lower *l, uint32_t p)
{
	struct cj_arena *a = l->m->arena;
	struct channel h = { .l = l, .p = p,
	    .pipeline = &l->m->pipelines.at[p], .c = &l->s.channels[p] };

	h.fills = CJ_NEWS(a, struct side, l->m->roles.len);
	h.reads = CJ_NEWS(a, struct side, l->m->roles.len);
	h.taken = CJ_NEWS(a, cj_ref, l->s.count);
	find_sharers(&h);
	count(&h);
	each(&h, CJ_OP_PRODUCE, lower_produce);
	each(&h, CJ_OP_CONSUME, lower_consume);
	each(&h, CJ_OP_RELEASE, lower_release);
	each(&h, CJ_OP_DRAIN, lower_drain);
	each(&h, CJ_OP_SKIP, lower_skip);
	each(&h, CJ_OP_SETTLE, remove_settle);
	each(&h, CJ_OP_PRODUCE, close_one);
	each(&h, CJ_OP_CONSUME, close_one);
}

void
cj_lower_channels(struct cj_lower *l)
{
	uint32_t p;

	for (p = 1; p < l->m->pipelines.len; p++)
		if (l->s.channels[p].is_channel)
			lower_one(l, p);
	/* nobody arrives where nothing has begun */
	if (l->is_far)
		cj_inst(l->m, l->init_barrier)->op = CJ_OP_CLUSTER_BARRIER;
}
