/*
 * What the code of a launch says about races before it runs: how many elements
 * each object's cells have, whether accesses order others, whether units of
 * the hardware write.
 */
#include "interp_race.h"

enum { LARGEST_CELL = 32 };

/* ---- cells --------------------------------------------------------------- */

/* Elements that an access moves at once, if it is aligned to them. */
static void
note_width(const struct cj_module *m, uint32_t *cells, uint32_t access,
    uint32_t width)
{
	const struct cj_access *a = &m->accesses.at[access];
	unsigned bits = cj_kind_bits(m->objects.at[a->object].element);
	uint32_t cell = width & (0 - width);

	if (cell > LARGEST_CELL / 2)
		cell = LARGEST_CELL / 2;
	while (cell > 1 && (bits < 8 || a->align < cell * bits / 8))
		cell /= 2;
	if (cell < cells[a->object])
		cells[a->object] = cell;
}

/* Operands of wgmma are read by 16 bytes, to which their tiles are aligned. */
static void
note_operand(const struct cj_module *m, uint32_t *cells, uint32_t access)
{
	uint32_t object = m->accesses.at[access].object;
	uint32_t unit = 128 / cj_kind_bits(m->objects.at[object].element);

	if (unit < cells[object])
		cells[object] = unit;
}

/* Copies by a map whose address was replaced touch any of them. */
static void
note_tensors(const struct cj_module *m, uint32_t *cells)
{
	uint32_t o;

	for (o = 1; o < m->objects.len; o++)
		if (m->objects.at[o].kind == CJ_OBJECT_TENSOR)
			cells[o] = 1;
}

/* False: the instruction may touch memory in ways not known here. */
static bool
note_inst(const struct cj_module *m, uint32_t *cells, cj_ref r)
{
	const struct cj_inst *i = cj_inst(m, r);
	const struct cj_op_info *info = &cj_op_info[i->op];
	const struct cj_tma_copy *t;

	switch (i->op) {
	case CJ_OP_LOAD:
		note_width(m, cells, i->attr, cj_type_count(i->type));
		return true;
	case CJ_OP_STORE:
	case CJ_OP_ATOMIC:
		note_width(m, cells, i->attr, cj_type_count(
		    cj_inst(m, cj_operand(m, i, 1))->type));
		return true;
	case CJ_OP_REMOTE_LOAD:
		note_width(m, cells, i->attr, cj_type_count(i->type));
		return true;
	case CJ_OP_REMOTE_STORE:
	case CJ_OP_REMOTE_ATOMIC:
		note_width(m, cells, i->attr, cj_type_count(
		    cj_inst(m, cj_operand(m, i, 2))->type));
		return true;
	case CJ_OP_LDMATRIX:
	case CJ_OP_STMATRIX:
		note_width(m, cells, i->attr, CJ_MATRIX_ROW_BYTES * 8
		    / cj_kind_bits(m->objects.at[m->accesses.at[
		    i->attr].object].element));
		return true;
	case CJ_OP_TMA_LOAD:
	case CJ_OP_TMA_STORE:
		t = &m->tmas.at[i->attr];
		note_width(m, cells, t->shared, 128 / cj_kind_bits(
		    m->objects.at[m->accesses.at[t->shared].object].element));
		cells[m->maps.at[t->map].object] = 1;
		return true;
	case CJ_OP_SEND:
		note_width(m, cells, m->bulks.at[i->attr].to, cj_type_count(
		    cj_inst(m, cj_operand(m, i, 2))->type));
		return true;
	case CJ_OP_BULK_COPY:
		note_width(m, cells, m->bulks.at[i->attr].to, 128 /
		    cj_kind_bits(m->objects.at[m->accesses.at[
		    m->bulks.at[i->attr].to].object].element));
		note_width(m, cells, m->bulks.at[i->attr].from, 128 /
		    cj_kind_bits(m->objects.at[m->accesses.at[
		    m->bulks.at[i->attr].from].object].element));
		return true;
	case CJ_OP_WGMMA:
		note_operand(m, cells, m->wgmmas.at[i->attr].b_at);
		if (cj_wgmma_has_offset(m, &m->wgmmas.at[i->attr]))
			note_operand(m, cells, m->wgmmas.at[i->attr].a_at);
		return true;
	case CJ_OP_TMEM_ALLOC:
		cells[m->accesses.at[m->tmem_uses.at[i->attr].other].object] =
		    1;
		return true;
	case CJ_OP_TMEM_COPY:
		note_operand(m, cells, m->tmem_uses.at[i->attr].other);
		return true;
	case CJ_OP_TCGEN05_MMA:
		note_operand(m, cells, m->tcgen05s.at[i->attr].b_at);
		if (!cj_tcgen05_is_left_in_tmem(m, &m->tcgen05s.at[i->attr]))
			note_operand(m, cells, m->tcgen05s.at[i->attr].a_at);
		return true;
	case CJ_OP_TCGEN05_COMMIT:
	case CJ_OP_MBARRIER_INIT:
	case CJ_OP_MBARRIER_ARRIVE:
	case CJ_OP_MBARRIER_EXPECT:
	case CJ_OP_MBARRIER_WAIT:
	case CJ_OP_MBARRIER_TEST:
		note_width(m, cells, i->attr, 1);
		return true;
	case CJ_OP_MAP_REPLACE:
		note_tensors(m, cells);
		return true;
	case CJ_OP_MAP_AT:
	case CJ_OP_SLOT_GET:
	case CJ_OP_SLOT_SET:
	case CJ_OP_PREFETCH:
		return true;
	case CJ_OP_CP_ASYNC:
		note_width(m, cells, m->copies.at[i->attr].to,
		    m->copies.at[i->attr].count);
		note_width(m, cells, m->copies.at[i->attr].from,
		    m->copies.at[i->attr].count);
		return true;
	default:			/* by its row */
		return info->effects != CJ_EFFECTS_READ
		    && info->effects != CJ_EFFECTS_WRITE;
	}
}

static uint32_t *
find_cells(struct cj_arena *a, const struct cj_decoded *c)
{
	const struct cj_module *m = c->module;
	uint32_t *cells = CJ_NEWS(a, uint32_t, m->objects.len + 1), i;
	bool known = true;

	for (i = 0; i <= m->objects.len; i++)
		cells[i] = LARGEST_CELL;
	for (i = 0; i < c->steps.len; i++)
		if (c->steps.at[i].ref != 0)
			known &= note_inst(m, cells, c->steps.at[i].ref);
	for (i = 0; i <= m->objects.len; i++)
		if (!known || cells[i] == LARGEST_CELL)
			cells[i] = 1;
	return cells;
}

/* ---- a launch ------------------------------------------------------------ */

static bool
orders_memory(const struct cj_decoded *c)
{
	const struct cj_module *m = c->module;
	uint32_t i;

	for (i = 0; i < c->steps.len; i++) {
		const struct cj_step *s = &c->steps.at[i];

		if ((s->op == CJ_OP_LOAD || s->op == CJ_OP_STORE ||
		    cj_op_is_atomic((enum cj_op)s->op)) &&
		    m->accesses.at[cj_inst(m, s->ref)->attr].order >=
		    CJ_ORDER_ACQUIRE)
			return true;
	}
	return false;
}

static bool
has_units(const struct cj_decoded *c)
{
	uint32_t i;

	for (i = 0; i < c->steps.len; i++)
		if (c->steps.at[i].op == CJ_OP_TMA_LOAD ||
		    c->steps.at[i].op == CJ_OP_TMA_STORE ||
		    c->steps.at[i].op == CJ_OP_BULK_COPY ||
		    c->steps.at[i].op == CJ_OP_SEND ||
		    cj_op_info[c->steps.at[i].op].engine ==
		    CJ_ENGINE_TCGEN05)
			return true;
	return false;
}

/* Of what the code has: copies by units, products that read shared memory. */
static bool
has_async(const struct cj_decoded *c)
{
	uint32_t i;

	for (i = 0; i < c->steps.len; i++)
		if (c->steps.at[i].op == CJ_OP_TMA_LOAD ||
		    c->steps.at[i].op == CJ_OP_TMA_STORE ||
		    c->steps.at[i].op == CJ_OP_BULK_COPY ||
		    c->steps.at[i].op == CJ_OP_WGMMA ||
		    cj_op_info[c->steps.at[i].op].engine ==
		    CJ_ENGINE_TCGEN05)
			return true;
	return false;
}

struct cj_race_run *
cj_race_run_of(struct cj_arena *a, const struct cj_decoded *c,
    const struct cj_kernel_launch *k)
{
	struct cj_race_run *run = CJ_NEW(a, struct cj_race_run);
	uint64_t blocks = (uint64_t)k->grid[0] * (uint64_t)k->grid[1]
	    * (uint64_t)k->grid[2];
	uint32_t i;

	run->module = c->module;
	run->blocks = blocks;
	run->warps = (uint32_t)((k->block[0] * k->block[1] * k->block[2]
	    + CJ_LANES_WARP - 1) / CJ_LANES_WARP);
	run->own_warps = run->warps;
	run->has_async = has_async(c);
	if (has_units(c)) {
		run->warps = CJ_LANES_WARP;
		blocks *= 1 + CJ_UNIT_KINDS;
	}
	run->levels = cj_past_levels(blocks) + (run->has_async ? 1 : 0);
	for (i = 0; i < c->steps.len; i++)
		run->has_stages |= c->steps.at[i].op == CJ_OP_CONSUME;
	run->orders = orders_memory(c);
	run->syncs = cj_sync_create(a);
	run->cells = find_cells(a, c);
	if (blocks >= (uint64_t)1 << 26)
		run->stopped = "it has more than 2^26 blocks";
	return run;
}
