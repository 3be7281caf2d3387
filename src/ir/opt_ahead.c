/*
 * Write out loops whose produce blocks run ahead.
 *
 *	for k { produce p ahead 2 { f(k) }  ... }
 * becomes
 *	produce p when lo < hi { f(lo) }  produce p when lo + 1 < hi { ... }
 *	for k { produce p when k + 2 < hi { f(k + 2) }  ... }
 *	settle p ahead 2
 *
 * In front of the loop blocks stand in the order that turns -n .. -1 would
 * have. What a block needs of its turn is pure and computed again for it; that
 * it needs nothing else is seen to by elaboration.
 *
 * needs: verified IR.   keeps: order of effects, up to what runs ahead.
 */
#include "ir_priv.h"

struct ahead {
	struct cj_module *m;
	cj_ref loop;
	cj_region around;		/* the loop stands in it */
	bool *in_body;			/* by instruction of the loop's body */
	struct cj_copier copier;
	struct cj_builder b;		/* what a copy computes of its turn */
};

/* ---- one block of one turn ----------------------------------------------- */

/* A copy of produce block `r` for the index, if that is below the end. */
static void
copy_block(struct ahead *a, cj_ref r, cj_ref index)
{
	struct cj_module *m = a->m;
	const struct cj_inst *loop = cj_inst(m, a->loop);
	struct cj_stage_use use = m->stage_uses.at[cj_inst(m, r)->attr];
	cj_region from = cj_inst(m, r)->region;
	cj_ref end = cj_operand(m, loop, 1), condition, made;
	cj_ref k = m->regions.at[loop->region].first;

	a->copier = (struct cj_copier){ .m = m, .again = a->in_body,
	    .pure_to = a->b.region, .pure_before = a->b.before };
	cj_copier_begin(&a->copier);
	a->copier.inst_of[k] = index;
	condition = cj_emit2(&a->b, CJ_OP_LT, cj_type_of(CJ_KIND_BOOL, 1),
	    index, end);
	use.count = 0;
	made = cj_emit(&a->b, CJ_OP_PRODUCE, 0, cj_module_stage_use(m, &use),
	    &condition, 1);
	/* what is of the turn is computed in front of the block */
	a->copier.pure_before = made;
	a->copier.inst_of[r] = made;
	cj_copy_region(&a->copier, from, cj_region_append(m, made,
	    a->b.region));
}

/* from + turns * step */
static cj_ref
index_at(struct ahead *a, cj_ref from, int64_t turns)
{
	const cj_type t = cj_type_of(CJ_KIND_INDEX, 1);
	cj_ref step = cj_operand(a->m, cj_inst(a->m, a->loop), 2), by;

	if (turns == 0)
		return from;
	by = cj_emit_index(&a->b, turns);
	by = cj_emit2(&a->b, CJ_OP_MUL, t, step, by);
	return cj_emit2(&a->b, CJ_OP_ADD, t, from, by);
}

static uint32_t
count_of(const struct cj_module *m, cj_ref r)
{
	const struct cj_inst *i = cj_inst(m, r);

	return i->op == CJ_OP_PRODUCE ? m->stage_uses.at[i->attr].count : 0;
}

/* Turn -back of the loop, as far as its blocks run ahead so far. */
static void
turn_before(struct ahead *a, cj_region body, uint32_t back)
{
	cj_ref r, lo = cj_operand(a->m, cj_inst(a->m, a->loop), 0), index;

	for (r = a->m->regions.at[body].first; r != 0;
	    r = cj_inst(a->m, r)->next) {
		if (count_of(a->m, r) < back)
			continue;
		a->b.region = a->around;
		a->b.before = a->loop;
		a->b.place = cj_inst(a->m, r)->place;
		index = index_at(a, lo, count_of(a->m, r) - back);
		copy_block(a, r, index);
	}
}

/* The block in the loop, for the index that is `count` turns on. */
static void
block_inside(struct ahead *a, cj_region body, cj_ref r)
{
	struct cj_stage_use use = a->m->stage_uses.at[
	    cj_inst(a->m, r)->attr];
	cj_ref index;

	a->b.region = body;
	a->b.before = r;
	a->b.place = cj_inst(a->m, r)->place;
	index = index_at(a, a->m->regions.at[body].first, use.count);
	copy_block(a, r, index);
	cj_inst_remove(a->m, body, r);
	a->b.region = a->around;
	a->b.before = cj_inst(a->m, a->loop)->next;
	cj_emit0(&a->b, CJ_OP_SETTLE, 0, cj_module_stage_use(a->m, &use));
}

static void
write_out(struct cj_module *m, cj_ref loop, cj_region around)
{
	struct ahead a = { .m = m, .loop = loop, .around = around,
	    .b = { .module = m } };
	cj_region body = cj_inst(m, loop)->region;
	uint32_t most = 0, back;
	struct cj_walk w;
	cj_ref r, next;

	for (r = m->regions.at[body].first; r != 0; r = cj_inst(m, r)->next)
		if (count_of(m, r) > most)
			most = count_of(m, r);
	if (most == 0)
		return;
	a.in_body = CJ_NEWS(m->arena, bool, m->insts.len);
	for (w = cj_walk_begin(m, body); cj_walk_next(&w);)
		if (w.event == CJ_WALK_INST)
			a.in_body[w.ref] = true;
	for (r = m->regions.at[body].first; r != 0; r = cj_inst(m, r)->next)
		if (count_of(m, r) > 0)	/* its own are copied with it */
			for (w = cj_walk_begin(m, cj_inst(m, r)->region);
			    cj_walk_next(&w);)
				if (w.event == CJ_WALK_INST)
					a.in_body[w.ref] = false;
	for (back = most; back > 0; back--)
		turn_before(&a, body, back);
	for (r = m->regions.at[body].first; r != 0; r = next) {
		next = cj_inst(m, r)->next;
		if (count_of(m, r) > 0)
			block_inside(&a, body, r);
	}
}

void
cj_opt_ahead(struct cj_module *m)
{
	CJ_VEC(cj_ref) loops = { 0 };
	CJ_VEC(cj_region) around = { 0 };
	struct cj_walk w;
	uint32_t f;

	if (m->pipelines.len == 1)
		return;
	for (f = 1; f < m->functions.len; f++)
		for (w = cj_walk_begin(m, m->functions.at[f].body);
		    cj_walk_next(&w);) {
			if (w.event != CJ_WALK_INST ||
			    cj_inst(m, w.ref)->op != CJ_OP_FOR)
				continue;
			*cj_push(m->arena, &loops) = w.ref;
			*cj_push(m->arena, &around) = w.region;
		}
	while (loops.len > 0) {		/* inner ones first */
		loops.len--;
		write_out(m, loops.at[loops.len], around.at[loops.len]);
	}
}
