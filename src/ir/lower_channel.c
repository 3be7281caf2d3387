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
#include "lower_channel.h"

bool
cj_channel_is_filled_by(const struct channel *h, unsigned engine)
{
	uint32_t r;

	for (r = 0; r < h->l->m->roles.len; r++)
		if (h->c->writes[r] & engine)
			return true;
	return false;
}

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
	if (h->x * h->y > 1 && cj_channel_is_filled_by(h, CJ_BY_LANE))
		h->share = 4;
	h->sharers = h->share & 4 ? h->x * h->y : h->share == 3 ?
	    h->x + h->y - 1 : h->share == 1 ? h->x : h->share == 2 ? h->y : 1;
	h->l->is_far |= h->sharers > 1;
}

/* The rank of sharer number `i`. */
cj_ref
cj_channel_rank_of(const struct channel *h, struct cj_builder *b, cj_ref i)
{
	cj_ref rank = cj_emit0(b, CJ_OP_SPECIAL, cj_type_of(CJ_KIND_INDEX,
	    1), CJ_SPECIAL_BLOCK_RANK), width, x, y, in_row, in_column;

	if (h->share & 4)
		return i;
	width = cj_emit_index(b, h->x);
	x = cj_lower_math(b, CJ_OP_MOD, rank, width);
	y = cj_lower_math(b, CJ_OP_DIV, rank, width);
	in_row = cj_lower_math(b, CJ_OP_ADD, i, cj_lower_math(b, CJ_OP_MUL, y,
	    width));
	if (h->share == 1)
		return in_row;
	if (h->share == 2)
		return cj_lower_math(b, CJ_OP_ADD, x, cj_lower_math(b,
		    CJ_OP_MUL, i, width));
	/* the own block is in its row already */
	in_column = cj_lower_math(b, CJ_OP_SUB, i, width);
	in_column = cj_lower_math(b, CJ_OP_ADD, in_column, cj_lower_choose(b,
	    cj_lower_compare(b, CJ_OP_LE, y, in_column), cj_emit_index(b, 1),
	    cj_emit_index(b, 0)));
	in_column = cj_lower_math(b, CJ_OP_ADD, x, cj_lower_math(b,
	    CJ_OP_MUL, in_column, width));
	return cj_lower_choose(b, cj_lower_compare(b, CJ_OP_LT, i, width),
	    in_row, in_column);
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
	n += (writes & (CJ_BY_TMA | CJ_BY_LANE)) != 0;
	n += writes & CJ_BY_COPY ? 32 * r->warps : 0;
	n += writes & CJ_BY_THREAD || writes == 0 ? r->warps : 0;
	return n;
}

/* Does one lane alone give stages back? */
bool
cj_channel_is_freed_by_lane(const struct channel *h, uint32_t role)
{
	return h->c->reads[role] == CJ_BY_TMA || h->l->roles[role].is_single;
}

uint32_t
cj_channel_arrivals_empty(const struct channel *h, uint32_t role)
{
	return cj_channel_is_freed_by_lane(h, role) ? 1 :
	    h->l->roles[role].warps;
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
		n = cj_channel_arrivals_empty(h, r);
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

void
cj_channel_make_side(struct channel *h, uint32_t role, struct side *s,
    bool fills)
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
other_parity(struct cj_builder *b, cj_ref parity)
{
	return cj_emit2(b, CJ_OP_SUB, cj_type_of(CJ_KIND_INDEX, 1),
	    cj_emit_index(b, 1), parity);
}

/* The stage behind `stage`; *is_last says whether that is the first again. */
cj_ref
cj_channel_next_stage(struct channel *h, struct cj_builder *b, cj_ref stage,
    cj_ref *is_last)
{
	uint32_t last = h->pipeline->stages - 1;

	*is_last = cj_lower_compare(b, CJ_OP_EQ, stage, cj_emit_index(b,
	    last));
	return cj_lower_choose(b, *is_last, cj_emit_index(b, 0),
	    cj_lower_plus(b, stage, 1));
}

void
cj_channel_advance(struct channel *h, struct cj_builder *b,
    const struct side *s, cj_ref stage, cj_ref parity)
{
	cj_ref is_last, next = cj_channel_next_stage(h, b, stage, &is_last);

	cj_lower_set(b, s->stage, next);
	cj_lower_set(b, s->parity, cj_lower_choose(b, is_last,
	    other_parity(b, parity), parity));
}

/* ---- blocks -------------------------------------------------------------- */

/* The block is what it was, but for its index. */
void
cj_channel_end_block(struct channel *h, cj_ref block, cj_ref stage)
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

/* ---- consume ------------------------------------------------------------- */

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

	cj_channel_make_side(h, role, s, false);
	stage = cj_lower_get(&b, s->stage);
	parity = cj_lower_get(&b, s->parity);
	if (!cj_lower_use(l, block)->keep)
		cj_channel_advance(h, &b, s, stage, parity);
	cj_lower_wait(&b, h->full, stage, parity, h->sharers > 1 &&
	    cj_channel_is_filled_by(h, CJ_BY_LANE) ? CJ_MEMORY_CLUSTER :
	    CJ_MEMORY_BLOCK);
	if (h->is_read_async && cj_channel_is_filled_by(h, CJ_BY_COPY))
		cj_emit0(&b, CJ_OP_FENCE, 0, CJ_FENCE_ASYNC_SHARED);
	lead_stores(h, block, role);
	cj_channel_end_block(h, block, stage);
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

	cj_channel_make_side(h, role, s, false);
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

/* Of stages that are this block's alone: who watches memory knows when nobody
 * wants any more what they held. */
static void
note_freed(const struct channel *h)
{
	uint32_t i;

	for (i = 0; h->sharers == 1 && i < h->pipeline->field_count; i++)
		h->l->m->objects.at[h->pipeline->fields[i]].freed = h->empty;
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
	note_freed(&h);
	each(&h, CJ_OP_PRODUCE, cj_channel_produce);
	each(&h, CJ_OP_CONSUME, lower_consume);
	each(&h, CJ_OP_RELEASE, cj_channel_release);
	each(&h, CJ_OP_DRAIN, cj_channel_drain);
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
