/*
 * Blocks of a cluster: from when until when the memory of one is there for the
 * others, and what its arrivals must let them see.
 *
 * An arrival at another block's mbarrier that releases to the cluster is a
 * fence for all of memory, hundreds of cycles for each; a wait that acquires
 * from the cluster empties L1. A ring whose stages come by multicast and go
 * back by arrivals needs neither: copies complete at mbarriers by themselves,
 * and a stage was read, not written, when it is given back. So the scope of the
 * block is enough where blocks reach each other by such copies and arrivals
 * alone, and no memory outside of blocks is both written and read. What is sent
 * to another block comes with its mbarrier, too, and who waits there sees it by
 * acquiring from the cluster.
 */
#include "llvm_gen.h"

/* Does the function touch memory of other blocks, or write it? */
static bool
reaches(const struct cj_llvm_gen *g, bool writes)
{
	const struct cj_inst *i;
	struct cj_walk w = cj_walk_begin(g->m, g->function->body);

	while ((i = cj_walk_inst(&w)) != NULL) {
		if (cj_inst_is_far(g->m, i) && !(writes &&
		    i->op == CJ_OP_REMOTE_LOAD))
			return true;
	}
	return false;
}

/* ---- what arrivals tell -------------------------------------------------- */

/* How a function uses memory outside of blocks. */
struct use {
	bool is_read, is_written;
};

static void
note(const struct cj_llvm_gen *g, struct use *uses, uint32_t object,
    bool reads, bool writes)
{
	const struct cj_object *o = &g->m->objects.at[object];

	if (o->kind == CJ_OBJECT_SHARED || o->kind == CJ_OBJECT_SLOT ||
	    o->kind == CJ_OBJECT_TABLE)
		return;
	if (o->may_alias || o->kind == CJ_OBJECT_FOREIGN)
		object = 0;	/* whatever may be under another name, too */
	uses[object].is_read |= reads;
	uses[object].is_written |= writes;
}

/* An addition that nobody sees but by what it gave. */
static bool
is_draw(const struct cj_module *m, const struct cj_inst *i)
{
	return i->op == CJ_OP_ATOMIC &&
	    m->accesses.at[i->attr].order == CJ_ORDER_WEAK;
}

static void
note_uses(const struct cj_llvm_gen *g, const struct cj_inst *i,
    struct use *uses)
{
	struct cj_touch touches[CJ_TOUCHES];
	unsigned n = cj_touches(g->m, i, touches), k;

	if (is_draw(g->m, i))
		return;
	for (k = 0; k < n; k++)
		note(g, uses, touches[k].access->object, touches[k].reads,
		    touches[k].writes);
	if (i->op == CJ_OP_TMA_LOAD)
		note(g, uses, g->m->maps.at[g->m->tmas.at[i->attr].map].object,
		    true, false);
}

/* What may show or see memory in ways that are not looked at here. */
static bool
is_open(const struct cj_module *m, const struct cj_inst *i)
{
	if (i->op == CJ_OP_PTX)
		return !cj_inst_moves_registers(m, i);
	if (i->op == CJ_OP_SEND)
		return m->bulks.at[i->attr].reduces;
	return cj_inst_is_far(m, i) && i->op != CJ_OP_TMA_LOAD &&
	    i->op != CJ_OP_MBARRIER_ARRIVE && i->op != CJ_OP_MBARRIER_EXPECT;
}

static bool
any_is_shown(const struct cj_module *m, const struct use *uses)
{
	bool reads = false, writes = false;
	uint32_t o;

	for (o = 0; o < m->objects.len; o++) {
		if (uses[o].is_read && uses[o].is_written)
			return true;
		reads |= uses[o].is_read;
		writes |= uses[o].is_written;
	}
	return (uses[0].is_read && writes) || (uses[0].is_written && reads);
}

/* Must others see, at an mbarrier, what the function writes? */
static bool
tells(const struct cj_llvm_gen *g)
{
	struct use *uses = CJ_NEWS(g->arena, struct use, g->m->objects.len);
	const struct cj_inst *i;
	struct cj_walk w = cj_walk_begin(g->m, g->function->body);

	while ((i = cj_walk_inst(&w)) != NULL) {
		if (is_open(g->m, i))
			return true;
		note_uses(g, i, uses);
	}
	return any_is_shown(g->m, uses);
}

/* The mbarriers, by object, at which something is sent. */
static bool *
sent_at(const struct cj_llvm_gen *g)
{
	bool *sent = CJ_NEWS(g->arena, bool, g->m->objects.len);
	const struct cj_inst *i;
	struct cj_walk w = cj_walk_begin(g->m, g->function->body);

	while ((i = cj_walk_inst(&w)) != NULL) {
		if (i->op == CJ_OP_SEND)
			sent[g->m->accesses.at[g->m->bulks.at[i->attr].signal]
			    .object] = true;
	}
	return sent;
}

/* Does a wait at that mbarrier see what other blocks have done? */
bool
cj_llvm_hears_others(const struct cj_llvm_gen *g, uint32_t object)
{
	return g->tells_others || (g->writes_others && g->sent_at[object]);
}

/* ---- begin and end ------------------------------------------------------- */

/* Threads may be on different ways here. What a thread has read of other blocks
 * it has used by now, so that without stores to them there is nothing to make
 * visible: an arrival that releases would wait for all stores to global memory,
 * too. */
static void
meet_cluster(struct cj_llvm_gen *g, bool releases)
{
	if (releases || !cj_llvm_wants_ptx(g, 80))
		cj_llvm_intrinsic(g, "llvm.nvvm.barrier.cluster.arrive", NULL,
		    NULL, 0);
	else			/* LLVM selects no intrinsic for it */
		cj_llvm_asm(g, CJ_LLVM_ASM_CONVERGENT, g->void_type,
		    "barrier.cluster.arrive.relaxed;", "~{memory}", NULL, 0);
	cj_llvm_intrinsic(g, "llvm.nvvm.barrier.cluster.wait", NULL, NULL, 0);
}

/*
 * Do all meet before any of them reaches another, and after all have? A scope
 * counts as what is in it; what can leave one may leave out a barrier behind
 * it.
 */
static void
plan_meetings(struct cj_llvm_gen *g)
{
	bool was_far = false, may_leave = false;
	struct cj_walk w;
	uint32_t scopes = 0;

	g->meets_first = g->meets_last = false;
	for (w = cj_walk_begin(g->m, g->function->body); cj_walk_next(&w);) {
		const struct cj_inst *i;

		if (w.event == CJ_WALK_LEAVE && w.depth == scopes && scopes > 0)
			scopes--;
		if (w.event != CJ_WALK_INST)
			continue;
		i = cj_inst(g->m, w.ref);
		may_leave |= i->op == CJ_OP_BREAK || i->op == CJ_OP_RETURN;
		if (cj_inst_is_far(g->m, i)) {
			was_far = true;
			g->meets_last = false;
		}
		if (w.depth != scopes)
			continue;
		if (i->op == CJ_OP_CLUSTER_BARRIER && !may_leave) {
			g->meets_first |= !was_far;
			g->meets_last = true;
		}
		if (i->op == CJ_OP_SCOPE)
			scopes++;
	}
}

/* Memory of a block is there from its begin to its end: nobody writes it
 * before, nobody leaves while others may touch it. Nothing has been written
 * when they begin. */
void
cj_llvm_begin_cluster(struct cj_llvm_gen *g)
{
	g->reaches_others = g->m->target->number >= 90 && reaches(g, false);
	g->writes_others = g->reaches_others && reaches(g, true);
	g->tells_others = g->writes_others && tells(g);
	if (g->writes_others)
		g->sent_at = sent_at(g);
	if (g->reaches_others)
		plan_meetings(g);
	if (g->writes_others && !g->meets_first)
		meet_cluster(g, false);
}

void
cj_llvm_return(struct cj_llvm_gen *g)
{
	if (g->reaches_others && !g->meets_last)
		meet_cluster(g, g->writes_others);
	LLVMBuildRetVoid(g->b);
}
