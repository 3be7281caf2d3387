/*
 * Conditions without jumps.
 *
 * An `if` of asynchronous copies, such as a stage that is filled ahead while
 * there is a turn to fill it for, becomes straight code: what is computed for
 * the copies is computed always, the copies have a predicate, and what is kept
 * in a slot is chosen. So the copies mix with the products around them, where
 * a jump would end the block that the assembler schedules.
 *
 * What stands in line is pure but for copies and slots, so that nothing but
 * time is lost where the condition is false.
 */
#include "llvm_gen.h"

/* Beyond as many computations a jump is cheaper when it is taken. */
enum { MOST = 512 };

struct found {
	unsigned copies, others;
};

static bool flattens(const struct cj_llvm_gen *g, cj_region region,
    struct found *f);

static bool
inst_flattens(const struct cj_llvm_gen *g, cj_ref r, struct found *f)
{
	const struct cj_inst *inst = cj_inst(g->m, r);

	f->others++;
	switch ((unsigned)inst->op) {
	case CJ_OP_CP_ASYNC:	/* a mask of its own keeps registers for it */
		f->copies++;
		return inst->operand_count == 2;
	case CJ_OP_IF:
	case CJ_OP_SCOPE:
		return inst->type == 0 &&
		    g->m->regions.at[inst->region].next == 0 &&
		    flattens(g, inst->region, f);
	case CJ_OP_YIELD:
		return inst->operand_count == 0;
	case CJ_OP_SLOT_GET:
		return true;
	case CJ_OP_SLOT_SET:
		return g->m->objects.at[g->m->accesses.at[inst->attr].object]
		    .element == CJ_KIND_INDEX;
	}
	return cj_op_info[inst->op].effects == CJ_EFFECTS_PURE;
}

static bool
flattens(const struct cj_llvm_gen *g, cj_region region, struct found *f)
{
	cj_ref r;

	for (r = g->m->regions.at[region].first; r != 0;
	    r = cj_inst(g->m, r)->next)
		if (f->others >= MOST || !inst_flattens(g, r, f))
			return false;
	return true;
}

bool
cj_llvm_is_flat(const struct cj_llvm_gen *g, cj_ref r)
{
	struct found f = { 0 };

	return !g->options->checked && inst_flattens(g, r, &f) &&
	    f.copies > 0;
}

void
cj_llvm_flat_begin(struct cj_llvm_gen *g, cj_ref r, struct cj_llvm_nest *n)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	cj_llvm condition;

	n->is_flat = true;
	n->predicate = g->predicate;
	if (inst->op != CJ_OP_IF)
		return;
	condition = cj_llvm_value(g, cj_operand(g->m, inst, 0), 0);
	g->predicate = g->predicate == NULL ? condition :
	    LLVMBuildAnd(g->b, g->predicate, condition, "");
}

void
cj_llvm_flat_end(struct cj_llvm_gen *g, const struct cj_llvm_nest *n)
{
	g->predicate = n->predicate;
}
