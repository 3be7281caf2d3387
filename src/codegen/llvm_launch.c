/*
 * What a kernel does in front of its body: it asks for its tensor maps, and a
 * dependent one waits for the launch in front of it, as late as it may
 * (ir/depend.c). Barriers are set up while the other launch ends.
 */
#include "llvm_gen.h"

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
	g->waits = cj_waits_plan(g->arena, g->m, function);
	g->lets_begin = g->waits.is_dependent && !says_when(g);
}

bool
cj_llvm_waits_before(const struct cj_llvm_gen *g, cj_ref r)
{
	uint32_t i;

	for (i = 0; i < g->waits.before.len; i++)
		if (g->waits.before.at[i] == r)
			return true;
	return false;
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
	if (g->waits.at_end)
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
	if (g->waits.at_begin)
		cj_llvm_wait(g);
}
