/*
 * What a kernel does in front of its body: it asks for its tensor maps, and a
 * dependent one waits for the launch in front of it.
 *
 * The wait stands as late as it may: in front of the first instruction of the
 * outermost region that touches, or holds one that touches, what others share.
 * Where that is an `if` behind which nothing does, each of its ways has a wait
 * of its own. Barriers are set up, and a loader finds its first tile, while the
 * other launch ends.
 */
#include "llvm_gen.h"

/* May the kernel start before the launch in front of it has ended? */
static bool
is_dependent(const struct cj_llvm_gen *g, uint32_t function)
{
	const struct cj_module *m = g->m;
	uint32_t i;

	for (i = 0; i < m->launches.len; i++)
		if (m->launches.at[i].function == function &&
		    m->launches.at[i].dependent)
			return m->target->number >= 90;
	return false;
}

/* Only the block's own memory, if any, or what the launch in front has left as
 * it was; hints to L2 stay true there. */
static bool
is_private(const struct cj_module *m, const struct cj_inst *inst)
{
	const struct cj_op_info *info = &cj_op_info[inst->op];
	enum cj_object_kind kind;

	if (inst->op == CJ_OP_PTX)
		return cj_llvm_moves_registers(m, inst);
	if (info->effects == CJ_EFFECTS_PURE ||
	    info->effects == CJ_EFFECTS_REGION ||
	    inst->op == CJ_OP_BARRIER || inst->op == CJ_OP_FENCE ||
	    inst->op == CJ_OP_CLUSTER_BARRIER ||
	    inst->op == CJ_OP_NAMED_BARRIER || inst->op == CJ_OP_YIELD ||
	    inst->op == CJ_OP_PREFETCH || inst->op == CJ_OP_SLOT_GET ||
	    inst->op == CJ_OP_SLOT_SET ||
	    inst->op == CJ_OP_BULK_WAIT_READ ||
	    inst->op == CJ_OP_LAUNCH_DEPENDENTS)
		return true;
	if (inst->op == CJ_OP_TMA_LOAD)
		return m->tmas.at[inst->attr].is_early;
	if (info->attr != CJ_ATTR_ACCESS)
		return false;
	if (m->accesses.at[inst->attr].is_early)
		return true;
	kind = m->objects.at[m->accesses.at[inst->attr].object].kind;
	return kind == CJ_OBJECT_SHARED || kind == CJ_OBJECT_SLOT;
}

/* Is that, and all within, private? */
static bool
is_all_private(const struct cj_module *m, cj_ref r)
{
	cj_region region;
	struct cj_walk w;

	if (!is_private(m, cj_inst(m, r)))
		return false;
	for (region = cj_inst(m, r)->region; region != 0;
	    region = m->regions.at[region].next)
		for (w = cj_walk_begin(m, region); cj_walk_next(&w);)
			if (w.event == CJ_WALK_INST &&
			    !is_private(m, cj_inst(m, w.ref)))
				return false;
	return true;
}

/* The first from r on that is not private, or 0. */
static cj_ref
first_shared(const struct cj_module *m, cj_ref r)
{
	while (r != 0 && is_all_private(m, r))
		r = cj_inst(m, r)->next;
	return r;
}

enum { LEVELS = 8 };	/* of what is looked into */

/*
 * Where the waits of a region stand: one in front of what is first to need it.
 * A scope counts as what is in it: to leave it needs the wait, too. `last`:
 * nothing behind the region needs one.
 */
static void
plan_region(struct cj_llvm_gen *g, cj_region region, bool last, int levels)
{
	cj_ref r = first_shared(g->m, g->m->regions.at[region].first);
	const struct cj_inst *i = cj_inst(g->m, r);

	if (r == 0)
		return;
	last = last && first_shared(g->m, i->next) == 0;
	if (levels == 0 ||
	    (i->op != CJ_OP_SCOPE && (i->op != CJ_OP_IF || !last))) {
		g->waits[r] = true;
		return;
	}
	g->waits_last |= i->op == CJ_OP_IF;
	for (region = i->region; region != 0;
	    region = g->m->regions.at[region].next)
		plan_region(g, region, last, levels - 1);
}

/* Does the text say when a launch behind may begin? */
static bool
says_when(const struct cj_llvm_gen *g)
{
	struct cj_walk w;

	for (w = cj_walk_begin(g->m, g->function->body); cj_walk_next(&w);)
		if (w.event == CJ_WALK_INST &&
		    cj_inst(g->m, w.ref)->op == CJ_OP_LAUNCH_DEPENDENTS)
			return true;
	return false;
}

void
cj_llvm_plan_wait(struct cj_llvm_gen *g, uint32_t function)
{
	g->is_dependent = is_dependent(g, function);
	g->waits_last = false;
	g->lets_begin = g->is_dependent && !says_when(g);
	if (!g->is_dependent)
		return;
	g->waits = CJ_NEWS(g->arena, bool, g->m->insts.len);
	plan_region(g, g->function->body, true, LEVELS);
	g->waits_first = first_shared(g->m,
	    g->m->regions.at[g->function->body].first) == 0;
}

/* From here on all that the launch in front has written is there. A dependent
 * launch behind may be started, where the text does not say when: it gets room
 * as blocks of this one end, and it waits in its turn. */
void
cj_llvm_wait(struct cj_llvm_gen *g)
{
	cj_llvm_asm(g, CJ_LLVM_ASM_CONVERGENT, g->void_type, g->lets_begin ?
	    "griddepcontrol.wait;\n\tgriddepcontrol.launch_dependents;" :
	    "griddepcontrol.wait;", "~{memory}", NULL, 0);
}

/* In front of the end: no launch ends before the one in front of it, though a
 * thread may have come past all that waits. */
void
cj_llvm_wait_last(struct cj_llvm_gen *g)
{
	if (g->is_dependent && g->waits_last)
		cj_llvm_asm(g, CJ_LLVM_ASM_CONVERGENT, g->void_type,
		    "griddepcontrol.wait;", "~{memory}", NULL, 0);
}

void
cj_llvm_op_LAUNCH_DEPENDENTS(struct cj_llvm_gen *g, cj_ref r)
{
	(void)r;
	if (g->m->target->number >= 90)
		cj_llvm_asm(g, CJ_LLVM_ASM_EFFECT, g->void_type,
		    "griddepcontrol.launch_dependents;", "~{memory}", NULL, 0);
}

/* One thread has the maps come to where copies will look for them. */
static void
ask_for_maps(struct cj_llvm_gen *g)
{
	const struct cj_function *f = g->function;
	uint32_t i;
	cj_llvm map;

	for (i = 0; i < f->leaves.len; i++) {
		if (cj_type_kind(f->leaves.at[i].type) != CJ_KIND_MAP ||
		    !cj_llvm_wants_ptx(g, 80))
			continue;
		map = LLVMBuildPtrToInt(g->b, LLVMGetParam(g->fn,
		    g->leaf_first[i]), g->i64, "");
		cj_llvm_asm(g, CJ_LLVM_ASM_EFFECT, g->void_type,
		    "{\n\t.reg .b32 thread;\n\t.reg .pred first;\n\t"
		    "mov.u32 thread, %tid.x;\n\t"
		    "setp.eq.u32 first, thread, 0;\n\t"
		    "@first prefetch.tensormap [$0];\n\t}", "l", &map, 1);
	}
}

/* In the entry block, behind all that is put there for the body. */
void
cj_llvm_begin(struct cj_llvm_gen *g)
{
	ask_for_maps(g);
	if (g->is_dependent && g->waits_first)
		cj_llvm_wait(g);
}
