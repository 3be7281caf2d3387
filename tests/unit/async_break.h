/*
 * Ways to break lowered pipelines, one rule each: a row says what is changed in
 * the IR. The functions give the number of places that they changed.
 */
#ifndef CJ_ASYNC_BREAK_H
#define CJ_ASYNC_BREAK_H

#include "lower_fixture.h"

/* Of ir_priv.h, which no one else includes. */
void cj_inst_link(struct cj_module *m, cj_region region, cj_ref r,
    cj_ref before);

struct place {
	cj_ref r;
	cj_region g;
};
struct places {
	struct place at[512];
	unsigned count;
};

static bool
ends_with(const char *name, const char *end)
{
	size_t n = strlen(end), len = name == NULL ? 0 : strlen(name);

	return len >= n && strcmp(name + len - n, end) == 0;
}

static const char *
object_of(const struct cj_module *m, cj_ref r)
{
	return m->objects.at[m->accesses.at[cj_inst(m, r)->attr].object].name;
}

/* All of an operation; with `end`, on objects whose names end so. */
static struct places
all(const struct cj_module *m, enum cj_op op, const char *end)
{
	struct places p = { .count = 0 };
	struct cj_walk w;

	for (w = cj_walk_begin(m, m->functions.at[2].body);
	    cj_walk_next(&w);) {
		if (w.event != CJ_WALK_INST || cj_inst(m, w.ref)->op != op ||
		    (end != NULL && !ends_with(object_of(m, w.ref), end)))
			continue;
		ck_assert_uint_lt(p.count, CJ_LENGTH(p.at));
		p.at[p.count++] = (struct place){ w.ref, w.region };
	}
	return p;
}

static struct cj_builder
in_front(struct cj_module *m, const struct place *p)
{
	return (struct cj_builder){ .module = m, .region = p->g,
	    .before = p->r, .place = cj_inst(m, p->r)->place };
}

static void
set_operand(struct cj_module *m, cj_ref r, unsigned n, cj_ref to)
{
	m->pool.at[cj_inst(m, r)->operands + n] = to;
}

/* operand n of all of them: a op b, or b op a if `swaps` */
static unsigned
shift(struct cj_module *m, enum cj_op op, const char *end, unsigned n,
    int64_t by)
{
	struct places p = all(m, op, end);
	unsigned i;

	for (i = 0; i < p.count; i++) {
		struct cj_builder b = in_front(m, &p.at[i]);
		cj_ref x = cj_operand(m, cj_inst(m, p.at[i].r), n);

		set_operand(m, p.at[i].r, n, cj_emit2(&b, CJ_OP_ADD,
		    cj_type_of(CJ_KIND_INDEX, 1), x, cj_emit_index(&b, by)));
	}
	return p.count;
}

static unsigned
flip(struct cj_module *m, const char *end)
{
	struct places p = all(m, CJ_OP_MBARRIER_WAIT, end);
	unsigned i;

	for (i = 0; i < p.count; i++) {
		struct cj_builder b = in_front(m, &p.at[i]);
		cj_ref x = cj_operand(m, cj_inst(m, p.at[i].r), 1);

		set_operand(m, p.at[i].r, 1, cj_emit2(&b, CJ_OP_SUB,
		    cj_type_of(CJ_KIND_INDEX, 1), cj_emit_index(&b, 1), x));
	}
	return p.count;
}

/* Those whose attribute is in lo..hi. */
static unsigned
remove_all(struct cj_module *m, enum cj_op op, uint32_t lo, uint32_t hi)
{
	struct places p = all(m, op, NULL);
	unsigned i, n = 0;

	for (i = 0; i < p.count; i++) {
		uint32_t attr = cj_inst(m, p.at[i].r)->attr;

		if (attr < lo || attr > hi)
			continue;
		cj_inst_remove(m, p.at[i].g, p.at[i].r);
		n++;
	}
	return n;
}

/* Waits for groups leave one more open. */
static unsigned
wait_less(struct cj_module *m, enum cj_op op, uint32_t lo)
{
	struct places p = all(m, op, NULL);
	unsigned i, n = 0;

	for (i = 0; i < p.count; i++) {
		struct cj_inst *in = cj_inst(m, p.at[i].r);

		if (in->attr >= lo && in->attr < 7) {
			in->attr++;
			n++;
		}
	}
	return n;
}

/* ---- counts, bytes, parities, the start ---------------------------------- */

static unsigned full_more(struct cj_module *m)
{ return shift(m, CJ_OP_MBARRIER_INIT, "full", 1, 1); }
static unsigned full_less(struct cj_module *m)
{ return shift(m, CJ_OP_MBARRIER_INIT, "full", 1, -1); }
static unsigned empty_more(struct cj_module *m)
{ return shift(m, CJ_OP_MBARRIER_INIT, "empty", 1, 1); }
static unsigned bytes_more(struct cj_module *m)
{ return shift(m, CJ_OP_MBARRIER_EXPECT, NULL, 1, 16) +
    shift(m, CJ_OP_MBARRIER_BYTES, NULL, 1, 16); }
static unsigned bytes_less(struct cj_module *m)
{ return shift(m, CJ_OP_MBARRIER_EXPECT, NULL, 1, -16) +
    shift(m, CJ_OP_MBARRIER_BYTES, NULL, 1, -16); }
static unsigned fill_parity(struct cj_module *m)
{ return flip(m, "empty"); }
static unsigned read_parity(struct cj_module *m)
{ return flip(m, "full"); }

/* A count of 1 stays: none may be 0. */
static unsigned
empty_less(struct cj_module *m)
{
	struct places p = all(m, CJ_OP_MBARRIER_INIT, "empty");
	unsigned i, n = 0;

	for (i = 0; i < p.count; i++) {
		struct cj_builder b = in_front(m, &p.at[i]);
		const struct cj_constant *c = cj_constant_of(m, cj_operand(m,
		    cj_inst(m, p.at[i].r), 1));

		if (c->bits[0] == 1)
			continue;
		set_operand(m, p.at[i].r, 1, cj_emit_index(&b,
		    (int64_t)c->bits[0] - 1));
		n++;
	}
	return n;
}

/* The first barrier of the kernel. */
static unsigned
no_start(struct cj_module *m)
{
	static const enum cj_op ops[] = { CJ_OP_BARRIER,
	    CJ_OP_CLUSTER_BARRIER };
	unsigned i;

	for (i = 0; i < CJ_LENGTH(ops); i++) {
		struct places p = all(m, ops[i], NULL);

		if (p.count == 0)
			continue;
		cj_inst_remove(m, p.at[0].g, p.at[0].r);
		return 1;
	}
	return 0;
}

/* Each of them is enough: that of the pipelines, and that of the barrier that
 * a role has for itself. */
static unsigned no_starts(struct cj_module *m)
{ return remove_all(m, CJ_OP_BARRIER, 0, UINT32_MAX); }

static unsigned no_init_fence(struct cj_module *m)
{ return remove_all(m, CJ_OP_FENCE, CJ_FENCE_MBARRIER_INIT,
    CJ_FENCE_MBARRIER_INIT); }

/* As if no other block gave stages back. */
static unsigned
one_block(struct cj_module *m)
{
	struct places p = all(m, CJ_OP_MBARRIER_INIT, "empty");
	unsigned i, n = 0;

	for (i = 0; i < p.count; i++) {
		struct cj_builder b = in_front(m, &p.at[i]);
		const struct cj_constant *c = cj_constant_of(m, cj_operand(m,
		    cj_inst(m, p.at[i].r), 1));

		if (c->bits[0] <= 4)
			continue;
		set_operand(m, p.at[i].r, 1, cj_emit_index(&b, 4));
		n++;
	}
	return n;
}

/* ---- products in flight -------------------------------------------------- */

/* Stages go back without a wait for who reads them. */
static unsigned early_release(struct cj_module *m)
{ return remove_all(m, CJ_OP_WGMMA_WAIT, 0, 7); }
static unsigned wait_one_less(struct cj_module *m)
{ return wait_less(m, CJ_OP_WGMMA_WAIT, 0); }
static unsigned no_drain_wait(struct cj_module *m)
{ return remove_all(m, CJ_OP_WGMMA_WAIT, 0, 0); }
static unsigned no_product_fence(struct cj_module *m)
{ return remove_all(m, CJ_OP_WGMMA_FENCE, 0, UINT32_MAX); }

static cj_ref
loop_around(const struct cj_module *m, cj_region g)
{
	cj_ref owner;

	for (; (owner = m->regions.at[g].owner) != 0;
	    g = m->regions.at[g].parent)
		if (cj_inst(m, owner)->op == CJ_OP_FOR ||
		    cj_inst(m, owner)->op == CJ_OP_LOOP)
			return owner;
	return 0;
}

/* Arrivals behind the loop whose turns wait for full stages. */
static unsigned
no_drain_release(struct cj_module *m)
{
	struct places p = all(m, CJ_OP_MBARRIER_ARRIVE, "ring.empty");
	struct places w = all(m, CJ_OP_MBARRIER_WAIT, "ring.full");
	unsigned i, k, n = 0;

	for (i = 0; i < p.count; i++) {
		cj_ref loop = loop_around(m, p.at[i].g);

		for (k = 0; k < w.count; k++)
			if (loop_around(m, w.at[k].g) == loop)
				break;
		if (k < w.count)
			continue;
		cj_inst_remove(m, p.at[i].g, p.at[i].r);
		n++;
	}
	return n;
}

/* ---- fences, barriers of roles, stores ----------------------------------- */

static unsigned no_fence(struct cj_module *m)
{ return remove_all(m, CJ_OP_FENCE, CJ_FENCE_ASYNC_SHARED,
    CJ_FENCE_ASYNC_SHARED); }
static unsigned store_wait_less(struct cj_module *m)
{ return wait_less(m, CJ_OP_BULK_WAIT_READ, 1); }

static unsigned
no_role_barrier(struct cj_module *m)
{
	unsigned n = remove_all(m, CJ_OP_NAMED_BARRIER, 0, UINT32_MAX);

	return n != 0 ? n : remove_all(m, CJ_OP_BARRIER, 0, UINT32_MAX);
}

/* The last wait of each role. */
static unsigned
no_store_drain(struct cj_module *m)
{
	struct places p = all(m, CJ_OP_BULK_WAIT_READ, NULL);
	unsigned i, n = 0;

	for (i = 0; i < p.count; i++) {
		if (loop_around(m, p.at[i].g) != 0)
			continue;
		cj_inst_remove(m, p.at[i].g, p.at[i].r);
		n++;
	}
	return n;
}

/* ---- rings --------------------------------------------------------------- */

static unsigned cp_wait_less(struct cj_module *m)
{ return wait_less(m, CJ_OP_CP_WAIT, 0); }

/* A fill that is left out makes no group. */
static unsigned
no_empty_group(struct cj_module *m)
{
	struct places p = all(m, CJ_OP_CP_COMMIT, NULL);
	unsigned i, n = 0;

	for (i = 0; i < p.count; i++) {
		cj_ref block = cj_inst(m, p.at[i].r)->prev;

		while (block != 0 && cj_inst(m, block)->region == 0)
			block = cj_inst(m, block)->prev;
		if (block == 0 || cj_inst(m, block)->op != CJ_OP_IF)
			continue;
		cj_inst_remove(m, p.at[i].g, p.at[i].r);
		cj_inst_link(m, cj_inst(m, block)->region, p.at[i].r, 0);
		n++;
	}
	return n;
}

/* ---- turns, skips, attention --------------------------------------------- */

/* Always that of the first phase: flipped, the turns would only be others'. */
static unsigned
turn_parity(struct cj_module *m)
{
	static const char *const orders[] = { "products", "gate" };
	unsigned i, k, n = 0;

	for (i = 0; i < CJ_LENGTH(orders); i++) {
		struct places p = all(m, CJ_OP_MBARRIER_WAIT, orders[i]);

		for (k = 0; k < p.count; k++) {
			struct cj_builder b = in_front(m, &p.at[k]);

			set_operand(m, p.at[k].r, 1, cj_emit_index(&b, 0));
			n++;
		}
	}
	return n;
}

/* skip(p, n) reads its number through a maximum with 0. */
static unsigned
short_skip(struct cj_module *m)
{
	struct places p = all(m, CJ_OP_MAX, NULL);
	unsigned i;

	for (i = 0; i < p.count; i++) {
		struct cj_builder b = in_front(m, &p.at[i]);

		set_operand(m, p.at[i].r, 0, cj_emit2(&b, CJ_OP_SUB,
		    cj_type_of(CJ_KIND_INDEX, 1), cj_operand(m, cj_inst(m,
		    p.at[i].r), 0), cj_emit_index(&b, 1)));
	}
	return p.count;
}

static unsigned scores_early(struct cj_module *m)
{ return wait_less(m, CJ_OP_WGMMA_WAIT, 1); }

/* The wait for the second product, which reads p, where turns are. */
static unsigned
p_early(struct cj_module *m)
{
	struct places p = all(m, CJ_OP_WGMMA_WAIT, NULL);
	unsigned i, n = 0;

	for (i = 1; i < p.count; i++) {
		if (cj_inst(m, p.at[i].r)->attr != 0 || cj_inst(m,
		    p.at[i - 1].r)->attr != 1 || p.at[i - 1].g != p.at[i].g)
			continue;
		cj_inst_remove(m, p.at[i].g, p.at[i].r);
		n++;
	}
	return n;
}

/* The condition around an instruction, as a place in the region around. */
static struct place
holder_in(const struct cj_module *m, struct place p, cj_region g)
{
	while (p.g != g && p.g != 0) {
		p.r = m->regions.at[p.g].owner;
		p.g = m->regions.at[p.g].parent;
	}
	return p;
}

/* The same arrival of a first lane, in front of another place. */
static void
arrive_at(struct cj_module *m, const struct place *p, cj_ref arrival)
{
	const cj_type t = cj_type_of(CJ_KIND_INDEX, 1);
	struct cj_builder b = in_front(m, p);
	uint32_t access = cj_inst(m, arrival)->attr;
	cj_ref refs[2], is_first = cj_emit2(&b, CJ_OP_EQ,
	    cj_type_of(CJ_KIND_BOOL, 1), cj_emit0(&b, CJ_OP_SPECIAL, t,
	    CJ_SPECIAL_LANE), cj_emit_index(&b, 0));
	cj_ref owner = cj_emit(&b, CJ_OP_IF, 0, 0, &is_first, 1);

	b.region = cj_region_add(&b, owner, NULL);
	b.before = 0;
	refs[0] = cj_operand(m, cj_inst(m, arrival), 0);
	refs[1] = cj_emit_index(&b, 1);
	cj_emit(&b, CJ_OP_MBARRIER_ARRIVE, 0, access, refs, 2);
}

/* The values' stage goes back where that of the keys does. */
static unsigned
release_both(struct cj_module *m)
{
	struct places p = all(m, CJ_OP_WGMMA_WAIT, NULL);
	struct places a = all(m, CJ_OP_MBARRIER_ARRIVE, "vs.empty");
	unsigned i, k, n = 0;

	for (i = 1; i < p.count; i++) {
		if (cj_inst(m, p.at[i].r)->attr != 0 || cj_inst(m,
		    p.at[i - 1].r)->attr != 1)
			continue;
		for (k = 0; k < a.count; k++) {
			struct place h = holder_in(m, a.at[k], p.at[i].g);

			if (h.g != p.at[i].g || h.r == 0)
				continue;
			arrive_at(m, &p.at[i], a.at[k].r);
			cj_inst_remove(m, a.at[k].g, a.at[k].r);
			n++;
		}
	}
	return n;
}

/* ---- by hand: maps, tensor memory ---------------------------------------- */

/* The waits in front of the last load: the other side's come behind. */
static unsigned
map_early(struct cj_module *m)
{
	struct places p = all(m, CJ_OP_MBARRIER_WAIT, "full");
	struct places loads = all(m, CJ_OP_TMA_LOAD, NULL);
	unsigned i, n = 0;

	for (i = 0; i < p.count && loads.count != 0; i++) {
		if (p.at[i].r > loads.at[loads.count - 1].r)
			continue;
		cj_inst_remove(m, p.at[i].g, p.at[i].r);
		n++;
	}
	return n;
}

static unsigned no_map_fence(struct cj_module *m)
{ return remove_all(m, CJ_OP_MAP_ACQUIRE, 0, UINT32_MAX); }

/* The thread gives the stage back, as if its product had ended. */
static unsigned
before_commit(struct cj_module *m)
{
	struct places p = all(m, CJ_OP_TCGEN05_COMMIT, "empty");
	unsigned i;

	for (i = 0; i < p.count; i++) {
		struct cj_builder b = in_front(m, &p.at[i]);
		const struct cj_inst *in = cj_inst(m, p.at[i].r);
		cj_ref refs[2] = { cj_operand(m, in, 0),
		    cj_emit_index(&b, 1) };

		cj_emit(&b, CJ_OP_MBARRIER_ARRIVE, 0, cj_inst(m,
		    p.at[i].r)->attr, refs, 2);
		cj_inst_remove(m, p.at[i].g, p.at[i].r);
	}
	return p.count;
}

/* Who has read tensor memory gives it back with no fence in front. */
static unsigned
no_tmem_fence(struct cj_module *m)
{
	struct places p = all(m, CJ_OP_FENCE, NULL);
	unsigned i, n = 0;

	for (i = 0; i < p.count; i++) {
		if (cj_inst(m, p.at[i].r)->attr != CJ_FENCE_BEFORE_SYNC ||
		    loop_around(m, p.at[i].g) == 0)
			continue;
		cj_inst_remove(m, p.at[i].g, p.at[i].r);
		n++;
	}
	return n;
}

/* The last barrier of the kernel. */
static unsigned
no_end_barrier(struct cj_module *m)
{
	struct places p = all(m, CJ_OP_BARRIER, NULL);

	if (p.count == 0)
		return 0;
	cj_inst_remove(m, p.at[p.count - 1].g, p.at[p.count - 1].r);
	return 1;
}

/* What waits for stages that nobody fills any more. */
static unsigned
no_tail(struct cj_module *m)
{
	struct places p = all(m, CJ_OP_MBARRIER_WAIT, "empty");
	struct places loads = all(m, CJ_OP_TMA_LOAD, NULL);
	unsigned i, k, n = 0;

	for (i = 0; i < p.count; i++) {
		for (k = 0; k < loads.count; k++)
			if (loads.at[k].g == p.at[i].g)
				break;
		if (k < loads.count || ends_with(object_of(m, p.at[i].r),
		    "sums_empty"))
			continue;
		cj_inst_remove(m, p.at[i].g, p.at[i].r);
		n++;
	}
	return n;
}

/* Zeros where the copy is still on its way. */
static unsigned
zeroed_early(struct cj_module *m)
{
	struct places p = all(m, CJ_OP_MBARRIER_WAIT, "edge");
	unsigned i;

	for (i = 0; i < p.count; i++)
		cj_inst_remove(m, p.at[i].g, p.at[i].r);
	return p.count;
}

/* ---- by name ------------------------------------------------------------- */

static const struct breaking {
	const char *rule;
	unsigned (*breaks)(struct cj_module *m);
} breakings[] = {
	{ "full + 1", full_more }, { "full - 1", full_less },
	{ "empty + 1", empty_more }, { "empty - 1", empty_less },
	{ "bytes + 16", bytes_more }, { "bytes - 16", bytes_less },
	{ "producer parity", fill_parity },
	{ "consumer parity", read_parity },
	{ "no start barrier", no_start }, { "no start barriers", no_starts },
	{ "no fence.mbarrier_init", no_init_fence },
	{ "one block's count", one_block },
	{ "early release", early_release },
	{ "wait one less", wait_one_less },
	{ "no drain wait", no_drain_wait },
	{ "no drain release", no_drain_release },
	{ "no wgmma.fence", no_product_fence },
	{ "no fence_fill", no_fence }, { "no fence_free", no_fence },
	{ "no fence_take", no_fence },
	{ "no role barrier", no_role_barrier },
	{ "store wait one less", store_wait_less },
	{ "no store drain", no_store_drain },
	{ "cp wait one less", cp_wait_less },
	{ "no empty group", no_empty_group },
	{ "turn parity", turn_parity }, { "short skip", short_skip },
	{ "scores too early", scores_early }, { "p too early", p_early },
	{ "release both", release_both },
	{ "zeroed before it is there", zeroed_early },
	{ "no fence after zeroing", no_fence },
	{ "map rewritten early", map_early },
	{ "no map fence", no_map_fence },
	{ "free before commit", before_commit },
	{ "no fence of tensor memory", no_tmem_fence },
	{ "no end barrier", no_end_barrier }, { "no tail", no_tail },
};

#endif
