/*
 * What a kernel does in front of its body: it asks for its tensor maps, and a
 * dependent one waits for the launch in front of it.
 *
 * The wait stands as late as it may: in front of the first instruction of the
 * outermost region that touches, or holds one that touches, what others share.
 * Barriers are set up while the other launch ends.
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

	if (info->effects == CJ_EFFECTS_PURE ||
	    info->effects == CJ_EFFECTS_REGION ||
	    inst->op == CJ_OP_BARRIER || inst->op == CJ_OP_FENCE ||
	    inst->op == CJ_OP_CLUSTER_BARRIER ||
	    inst->op == CJ_OP_NAMED_BARRIER || inst->op == CJ_OP_YIELD ||
	    inst->op == CJ_OP_PREFETCH || inst->op == CJ_OP_SLOT_GET ||
	    inst->op == CJ_OP_SLOT_SET ||
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

/* Where the wait stands; 0: at the begin. A scope counts as what is in it. */
static cj_ref
first_shared(const struct cj_llvm_gen *g)
{
	struct cj_walk w;
	cj_ref outer = 0;
	uint32_t scopes = 0;

	for (w = cj_walk_begin(g->m, g->function->body); cj_walk_next(&w);) {
		if (w.event == CJ_WALK_LEAVE && w.depth == scopes && scopes > 0)
			scopes--;
		if (w.event != CJ_WALK_INST)
			continue;
		if (w.depth == scopes)
			outer = w.ref;
		if (!is_private(g->m, cj_inst(g->m, w.ref)))
			return outer;
		if (w.depth == scopes && cj_inst(g->m, w.ref)->op ==
		    CJ_OP_SCOPE)
			scopes++;
	}
	return 0;
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
	g->waits_at = g->is_dependent ? first_shared(g) : 0;
	g->lets_begin = g->is_dependent && !says_when(g);
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
	if (g->is_dependent && g->waits_at == 0)
		cj_llvm_wait(g);
}
