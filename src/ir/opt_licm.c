/*
 * Compute before a loop what the loop does not change.
 *
 * A pure instruction of a loop's region whose operands all stand outside goes
 * in front of the loop, and on outward as far as that holds. Wide values stay,
 * since they would hold registers through the loop; constants go, they cost
 * nothing. INDEX arithmetic goes only where its range shows that it cannot
 * overflow: a loop that runs never must not fault.
 *
 * needs: verified IR.   keeps: regions; order within what moves.
 */
#include "ir_priv.h"

enum { MOST_REGISTERS = 4 };

struct licm {
	struct cj_module *m;
	const struct cj_fact *facts;
	cj_region *stands_in;		/* by instruction */
};

static bool
can_overflow(const struct licm *l, cj_ref r)
{
	const struct cj_inst *i = cj_inst(l->m, r);

	if (cj_type_kind(i->type) != CJ_KIND_INDEX)
		return false;
	switch ((unsigned)i->op) {
	case CJ_OP_ADD: case CJ_OP_SUB: case CJ_OP_MUL: case CJ_OP_FMA:
	case CJ_OP_NEG: case CJ_OP_ABS: case CJ_OP_DIV: case CJ_OP_SHL:
		return l->facts[r].lo == INT64_MIN ||
		    l->facts[r].hi == INT64_MAX;
	}
	return false;
}

static bool
is_movable(const struct licm *l, cj_ref r)
{
	const struct cj_inst *i = cj_inst(l->m, r);

	return cj_op_info[i->op].effects == CJ_EFFECTS_PURE &&
	    i->op != CJ_OP_INDEX &&
	    cj_type_count(i->type) <= MOST_REGISTERS && !can_overflow(l, r);
}

/* Does an operand stand in this very region? Others dominate from outside. */
static bool
needs_region(const struct licm *l, const struct cj_inst *i, cj_region region)
{
	unsigned n;

	for (n = 0; n < i->operand_count; n++)
		if (l->stands_in[cj_operand(l->m, i, n)] == region)
			return true;
	return false;
}

static bool
is_loop(const struct licm *l, cj_ref owner)
{
	unsigned op = owner == 0 ? CJ_OP_NONE : cj_inst(l->m, owner)->op;

	return op == CJ_OP_FOR || op == CJ_OP_LOOP || op == CJ_OP_ARRAY_MAP;
}

static void
visit(struct licm *l, cj_ref r, cj_region region)
{
	const struct cj_inst *i = cj_inst(l->m, r);
	cj_region to = region;
	cj_ref before = 0;

	if (is_movable(l, r))
		while (is_loop(l, l->m->regions.at[to].owner) &&
		    !needs_region(l, i, to)) {
			before = l->m->regions.at[to].owner;
			to = l->m->regions.at[to].parent;
		}
	if (before != 0) {
		assert(to != region && is_loop(l, before));
		cj_inst_remove(l->m, region, r);
		cj_inst_link(l->m, to, r, before);
	}
	l->stands_in[r] = to;
}

void
cj_opt_licm(struct cj_module *m)
{
	struct cj_mark mark = cj_arena_mark(m->arena);
	struct licm l = { .m = m };
	struct cj_walk w;
	uint32_t n;

	l.stands_in = CJ_NEWS(m->arena, cj_region, m->insts.len);
	for (n = 1; n < m->functions.len; n++) {
		l.facts = cj_facts_compute(m->arena, m, n);
		for (w = cj_walk_begin(m, m->functions.at[n].body);
		    cj_walk_next(&w);)
			if (w.event == CJ_WALK_INST)
				visit(&l, w.ref, w.region);
	}
	cj_arena_release(m->arena, mark);
}
