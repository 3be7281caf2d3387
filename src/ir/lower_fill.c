/*
 * Channels, the side that fills: waits for an empty stage, bytes that come,
 * arrivals at "full".
 */
#include "lower_channel.h"

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
	cj_ref refs[4 + CJ_MAP_NUMBERS];
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
	cj_lower_wait(b, h->empty, stage, parity, h->sharers > 1 ?
	    CJ_MEMORY_CLUSTER : CJ_MEMORY_BLOCK);
}

/* What stands in a block behind its beginning moves into the lane's region. */
static void
move_into(struct channel *h, cj_ref block, const struct cj_builder *b)
{
	struct cj_module *m = h->l->m;
	cj_region g = cj_inst(m, block)->region, in = b->region;

	/* the outermost condition that was made in the block */
	while (m->regions.at[in].parent != g)
		in = m->regions.at[in].parent;
	cj_lower_move(h->l, g, cj_inst(m, m->regions.at[in].owner)->next,
	    b->region);
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
	/* `first` may have been a load, which is another one now */
	if (b.region != g)
		move_into(h, block, &b);
	b.before = 0;
	if (bytes < 0)
		arrive(&b, h->full, stage);
}

/* ---- stores of one lane -------------------------------------------------- */

/* A store of this channel in a block. */
static bool
is_store(const struct channel *h, cj_ref r, cj_ref block)
{
	const struct cj_inst *i = cj_inst(h->l->m, r);

	return h->l->s.home[r] != 0 && i->op == CJ_OP_STORE &&
	    cj_site_of(&h->l->s, r, 0) == block;
}

/* To the same place of all blocks, each of which hears of its bytes. */
static void
send(struct channel *h, cj_ref store, cj_ref stage)
{
	struct cj_module *m = h->l->m;
	struct cj_access signal = { .object = h->full, .align = 8 };
	struct cj_bulk_copy copy = { .to = cj_inst(m, store)->attr };
	struct cj_builder b = cj_lower_at(h->l, h->l->s.home[store], store,
	    store);
	cj_ref refs[4];
	uint32_t rank;

	copy.signal = cj_module_access(m, &signal);
	refs[0] = cj_operand(m, cj_inst(m, store), 0);
	refs[2] = cj_operand(m, cj_inst(m, store), 1);
	refs[3] = stage;
	for (rank = 0; rank < h->sharers; rank++) {
		refs[1] = cj_emit_index(&b, rank);
		cj_emit(&b, CJ_OP_SEND, 0, cj_module_bulk(m, &copy), refs, 4);
	}
	cj_inst_remove(m, h->l->s.home[store], store);
	h->l->s.home[store] = 0;
}

static int64_t
stored_bytes(const struct channel *h, cj_ref block)
{
	const struct cj_module *m = h->l->m;
	int64_t bytes = 0;
	cj_ref r;

	for (r = 1; r < h->l->s.count; r++)
		if (is_store(h, r, block))
			bytes += cj_kind_bytes(m->objects.at[m->accesses.at[
			    cj_inst(m, r)->attr].object].element);
	return bytes;
}

/* The first block's lane fills the stage of all blocks of the cluster; each
 * block's own lane waits until they may be filled, and says what comes. */
static void
send_by_lane(struct channel *h, cj_ref block, struct cj_builder *b,
    cj_ref stage)
{
	const cj_type t = cj_type_of(CJ_KIND_INDEX, 1);
	cj_ref r;

	cj_lower_on(b, CJ_OP_MBARRIER_EXPECT, h->full, stage,
	    cj_emit_index(b, stored_bytes(h, block)));
	cj_lower_if(b, cj_lower_compare(b, CJ_OP_EQ, cj_emit0(b,
	    CJ_OP_SPECIAL, t, CJ_SPECIAL_BLOCK_RANK), cj_emit_index(b, 0)));
	move_into(h, block, b);
	for (r = 1; r < h->l->s.count; r++)
		if (is_store(h, r, block))
			send(h, r, stage);
}

static void
store_by_lane(struct channel *h, cj_ref block, cj_ref first, uint32_t role,
    cj_ref stage, cj_ref parity)
{
	struct cj_lower *l = h->l;
	cj_region g = cj_inst(l->m, block)->region;
	struct cj_builder b = cj_lower_at(l, g, first, block);

	cj_lower_lead(l, &b, role);
	wait_empty(h, &b, stage, parity);
	if (h->sharers > 1) {
		send_by_lane(h, block, &b, stage);
		return;
	}
	if (b.region != g)
		move_into(h, block, &b);
	b.before = 0;
	if (h->is_read_async)
		cj_emit0(&b, CJ_OP_FENCE, 0, CJ_FENCE_ASYNC_SHARED);
	arrive(&b, h->full, stage);
}

/* ---- threads ------------------------------------------------------------- */

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

void
cj_channel_produce(struct channel *h, cj_ref block)
{
	struct cj_lower *l = h->l;
	uint32_t role = l->s.role_of[block];
	cj_region g = cj_inst(l->m, block)->region;
	cj_ref first = cj_lower_first(l->m, g), stage, parity;
	struct cj_builder b = cj_lower_at(l, g, first, block);
	struct side *s = &h->fills[role];

	cj_channel_make_side(h, role, s, true);
	stage = cj_lower_get(&b, s->stage);
	parity = cj_lower_get(&b, s->parity);
	cj_channel_advance(h, &b, s, stage, parity);
	cj_channel_end_block(h, block, stage);
	if (h->c->writes[role] == CJ_BY_LANE)
		store_by_lane(h, block, first, role, stage, parity);
	else if (h->c->writes[role] == CJ_BY_TMA)
		fill_by_lane(h, block, first, role, stage, parity);
	else
		fill_by_threads(h, block, first, role, stage, parity);
}

