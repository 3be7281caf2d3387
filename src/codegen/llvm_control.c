/*
 * Regions become blocks and phis.
 *
 * One walk over the body, without recursion. What stands behind an exit is
 * never reached and not emitted; a block that nothing jumps to ends at once.
 *
 *	if	cond -> then, else -> leave; yield adds to the phis
 *	for	head: index < hi -> body; next: index + step -> head
 *	loop	body; next: -> body
 *	scope	body -> leave
 *
 * Some conditions need no blocks (llvm_flat.c).
 */
#include "llvm_gen.h"

/* Out of what stands in line there is nothing to jump to: `to` is NULL. */
static void
jump(struct cj_llvm_gen *g, LLVMBasicBlockRef to)
{
	if (to != NULL && !cj_llvm_ended(g))
		LLVMBuildBr(g->b, to);
}

static struct cj_llvm_nest *
push(struct cj_llvm_gen *g, cj_ref owner)
{
	struct cj_llvm_nest *n = CJ_NEW(g->arena, struct cj_llvm_nest);

	n->owner = owner;
	n->outer = g->nest;
	g->nest = n;
	return n;
}

static struct cj_llvm_nest *
find(struct cj_llvm_gen *g, cj_ref owner)
{
	struct cj_llvm_nest *n;

	for (n = g->nest; n != NULL; n = n->outer)
		if (n->owner == owner)
			return n;
	cj_llvm_bug(g, "%%%u does not enclose its exit", owner);
}

/* ---- if ----------------------------------------------------------------- */

/* Phis of the value: of pairs where the kind has them, else of scalars. Their
 * types are those of the registers, an `int` in the width that r has. */
static void
make_phis(struct cj_llvm_gen *g, cj_ref r)
{
	cj_type t = cj_inst(g->m, r)->type;
	LLVMTypeRef type = cj_llvm_is_narrow(g, r) ? g->i32 :
	    cj_llvm_type(g, cj_type_kind(t));
	uint32_t i, n = cj_type_count(t), from = 0;
	cj_llvm *v = cj_llvm_define(g, r);

	for (i = 0; g->pairs[r] != NULL && i < n / 2; i++, from = 2 * i)
		g->pairs[r][i] = LLVMBuildPhi(g->b, LLVMVectorType(type, 2),
		    "");
	for (i = from; i < n; i++)
		v[i] = LLVMBuildPhi(g->b, type, "");
}

static void
add_to_phis(struct cj_llvm_gen *g, cj_ref r, cj_ref value)
{
	LLVMBasicBlockRef here = LLVMGetInsertBlock(g->b);
	uint32_t i, n = cj_type_count(cj_inst(g->m, r)->type), from = 0;
	cj_llvm in;

	for (i = 0; g->pairs[r] != NULL && i < n / 2; i++, from = 2 * i) {
		in = cj_llvm_pair(g, value, i);
		LLVMAddIncoming(g->pairs[r][i], &in, &here, 1);
	}
	for (i = from; i < n; i++) {
		in = cj_llvm_wide(g, value, i);
		if (cj_llvm_is_narrow(g, r))
			in = LLVMBuildTrunc(g->b, in, g->i32, "");
		LLVMAddIncoming(g->scalars[r][i], &in, &here, 1);
	}
}

void
cj_llvm_op_IF(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	bool has_else = g->m->regions.at[inst->region].next != 0;
	LLVMBasicBlockRef here = LLVMGetInsertBlock(g->b);
	struct cj_llvm_nest *n = push(g, r);

	if (g->predicate != NULL || cj_llvm_is_flat(g, r)) {
		cj_llvm_flat_begin(g, r, n);
		return;
	}
	n->arms[0] = cj_llvm_block(g, "if.then");
	if (has_else)
		n->arms[1] = cj_llvm_block(g, "if.else");
	n->next = n->leave = cj_llvm_block(g, "if.end");
	LLVMBuildCondBr(g->b, cj_llvm_value(g, cj_operand(g->m, inst, 0), 0),
	    n->arms[0], has_else ? n->arms[1] : n->leave);
	if (inst->type == 0)
		return;
	cj_llvm_enter(g, n->leave);
	make_phis(g, r);
	cj_llvm_enter(g, here);
}

/* Scalars of the pairs of phis are taken out behind all phis. */
static void
finish_if(struct cj_llvm_gen *g, cj_ref r, bool is_reached)
{
	cj_type t = cj_inst(g->m, r)->type;
	uint32_t i, n = cj_type_count(t);
	cj_llvm phi;

	if (t == 0)
		return;
	if (!is_reached)
		while ((phi = LLVMGetFirstInstruction(
		    LLVMGetInsertBlock(g->b))) != NULL)
			LLVMInstructionEraseFromParent(phi);
	if (!is_reached)
		return;
	for (i = 0; g->pairs[r] != NULL && i < n / 2; i++)
		cj_llvm_set_pair(g, r, i, g->pairs[r][i]);
	cj_llvm_finish(g, r);
}

/* ---- loops -------------------------------------------------------------- */

/* Keep LLVM from unrolling a loop: it has the turns that were asked for. */
static void
forbid_unroll(struct cj_llvm_gen *g, cj_llvm jump_back)
{
	static const char name[] = "llvm.loop.unroll.disable";
	LLVMMetadataRef wish, loop[2], node;

	wish = LLVMMDStringInContext2(g->context, name, sizeof name - 1);
	/* a loop is named by a node whose first operand is itself */
	loop[0] = LLVMTemporaryMDNode(g->context, NULL, 0);
	loop[1] = LLVMMDNodeInContext2(g->context, &wish, 1);
	node = LLVMMDNodeInContext2(g->context, loop, 2);
	LLVMMetadataReplaceAllUsesWith(loop[0], node);
	LLVMSetMetadata(jump_back, LLVMGetMDKindIDInContext(g->context,
	    "llvm.loop", 9), LLVMMetadataAsValue(g->context, node));
}

struct bounds {
	cj_llvm lo, hi, step;
	LLVMTypeRef type;
	bool no_wrap;		/* index + step fits the type */
};

static struct bounds
bounds_of(struct cj_llvm_gen *g, const struct cj_inst *inst, cj_ref index)
{
	cj_ref lo = cj_operand(g->m, inst, 0), hi = cj_operand(g->m, inst, 1);
	cj_ref step = cj_operand(g->m, inst, 2);
	struct cj_fact h = cj_llvm_fact(g, hi), s = cj_llvm_fact(g, step);
	struct bounds b = { .type = g->i64 };

	if (cj_llvm_is_narrow(g, index) && cj_llvm_is_narrow(g, lo) &&
	    cj_llvm_is_narrow(g, hi) && cj_llvm_is_narrow(g, step) &&
	    h.hi + s.hi - 1 <= INT32_MAX) {
		b.type = g->i32;
		b.lo = cj_llvm_narrow(g, lo, 0);
		b.hi = cj_llvm_narrow(g, hi, 0);
		b.step = cj_llvm_narrow(g, step, 0);
		b.no_wrap = true;
		return b;
	}
	b.lo = cj_llvm_wide(g, lo, 0);
	b.hi = cj_llvm_wide(g, hi, 0);
	b.step = cj_llvm_wide(g, step, 0);
	b.no_wrap = s.hi > 0 && h.hi <= INT64_MAX - s.hi;
	return b;
}

/* The back edge. Where index + step could wrap, whether to go on is decided
 * by what is left (which is positive) and kept in a phi. */
static void
loop_next(struct cj_llvm_gen *g, const struct cj_llvm_nest *n,
    LLVMBasicBlockRef head, const struct bounds *b, cj_llvm more)
{
	cj_llvm left, next, go_on, back;

	cj_llvm_enter(g, n->next);
	next = LLVMBuildAdd(g->b, n->index, b->step, "for.next");
	if (b->no_wrap) {
		LLVMSetNSW(next, 1);
	} else {
		left = LLVMBuildSub(g->b, b->hi, n->index, "");
		go_on = LLVMBuildICmp(g->b, LLVMIntULT, b->step, left, "");
		LLVMAddIncoming(more, &go_on, (LLVMBasicBlockRef[]){ n->next },
		    1);
	}
	LLVMAddIncoming(n->index, &next, (LLVMBasicBlockRef[]){ n->next }, 1);
	back = LLVMBuildBr(g->b, head);
	if (cj_inst(g->m, n->owner)->attr != 0)
		forbid_unroll(g, back);
}

/* A loop whose step is below 1 would not come to its end. */
static void
check_step(struct cj_llvm_gen *g, cj_ref step)
{
	if (g->options->checked && cj_llvm_fact(g, step).lo < 1)
		cj_llvm_check(g, LLVMBuildICmp(g->b, LLVMIntSGT,
		    cj_llvm_wide(g, step, 0), cj_llvm_int(g->i64, 0), ""),
		    "the step of a loop is below 1");
}

void
cj_llvm_op_FOR(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	cj_ref index = g->m->regions.at[inst->region].first;
	struct bounds b = bounds_of(g, inst, index);
	LLVMBasicBlockRef before, head;
	struct cj_llvm_nest *n;
	cj_llvm more, first;

	check_step(g, cj_operand(g->m, inst, 2));
	before = LLVMGetInsertBlock(g->b);
	head = cj_llvm_block(g, "for.head");
	n = push(g, r);
	first = LLVMBuildICmp(g->b, LLVMIntSLT, b.lo, b.hi, "");

	n->arms[0] = cj_llvm_block(g, "for.body");
	n->next = cj_llvm_block(g, "for.next");
	n->leave = cj_llvm_block(g, "for.end");
	LLVMBuildBr(g->b, head);
	cj_llvm_enter(g, head);
	n->index = LLVMBuildPhi(g->b, b.type, "for.index");
	LLVMAddIncoming(n->index, &b.lo, &before, 1);
	if (b.no_wrap) {
		more = LLVMBuildICmp(g->b, LLVMIntSLT, n->index, b.hi, "");
	} else {
		more = LLVMBuildPhi(g->b, g->i1, "for.more");
		LLVMAddIncoming(more, &first, &before, 1);
	}
	LLVMBuildCondBr(g->b, more, n->arms[0], n->leave);
	loop_next(g, n, head, &b, more);
	cj_llvm_enter(g, before);
	g->has_loops = true;
}

void
cj_llvm_op_LOOP(struct cj_llvm_gen *g, cj_ref r)
{
	LLVMBasicBlockRef before = LLVMGetInsertBlock(g->b);
	struct cj_llvm_nest *n = push(g, r);

	n->arms[0] = cj_llvm_block(g, "loop.body");
	n->next = cj_llvm_block(g, "loop.next");
	n->leave = cj_llvm_block(g, "loop.end");
	LLVMBuildBr(g->b, n->arms[0]);
	cj_llvm_enter(g, n->next);
	LLVMBuildBr(g->b, n->arms[0]);
	cj_llvm_enter(g, before);
	g->has_loops = true;
}

void
cj_llvm_op_SCOPE(struct cj_llvm_gen *g, cj_ref r)
{
	struct cj_llvm_nest *n = push(g, r);

	if (g->predicate != NULL) {
		cj_llvm_flat_begin(g, r, n);
		return;
	}
	n->arms[0] = cj_llvm_block(g, "scope.body");
	n->next = n->leave = cj_llvm_block(g, "scope.end");
	LLVMBuildBr(g->b, n->arms[0]);
}

/* The parameter of the region just entered. */
void
cj_llvm_op_INDEX(struct cj_llvm_gen *g, cj_ref r)
{
	assert(g->nest != NULL && g->nest->index != NULL);
	cj_llvm_define(g, r)[0] = g->nest->index;
	cj_llvm_finish(g, r);
}

/* ---- exits -------------------------------------------------------------- */

void
cj_llvm_op_YIELD(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);

	assert(g->nest != NULL && "a region of something");
	if (inst->operand_count > 0)
		add_to_phis(g, g->nest->owner, cj_operand(g->m, inst, 0));
	jump(g, g->nest->next);
}

void
cj_llvm_op_BREAK(struct cj_llvm_gen *g, cj_ref r)
{
	jump(g, find(g, cj_inst(g->m, r)->attr)->leave);
}

void
cj_llvm_op_CONTINUE(struct cj_llvm_gen *g, cj_ref r)
{
	jump(g, find(g, cj_inst(g->m, r)->attr)->next);
}

void
cj_llvm_op_RETURN(struct cj_llvm_gen *g, cj_ref r)
{
	(void)r;
	cj_llvm_return(g);
}

/* ---- the walk ----------------------------------------------------------- */

static bool
is_reached(LLVMBasicBlockRef block)
{
	return LLVMGetFirstUse(LLVMBasicBlockAsValue(block)) != NULL;
}

static void
region_enter(struct cj_llvm_gen *g, cj_region region)
{
	const struct cj_region_info *i = &g->m->regions.at[region];
	bool is_first;

	if (i->owner == 0)
		return;
	assert(g->nest != NULL && g->nest->owner == i->owner);
	if (g->nest->is_flat)
		return;
	is_first = cj_inst(g->m, i->owner)->region == region;
	cj_llvm_enter(g, g->nest->arms[is_first ? 0 : 1]);
}

static void
region_leave(struct cj_llvm_gen *g, cj_region region)
{
	const struct cj_region_info *i = &g->m->regions.at[region];
	struct cj_llvm_nest *n = g->nest;
	bool reached;

	if (i->owner == 0) {
		if (cj_llvm_ended(g))
			return;
		cj_llvm_wait_last(g);
		cj_llvm_return(g);
		return;
	}
	assert(n != NULL && n->owner == i->owner);
	if (n->is_flat) {
		cj_llvm_flat_end(g, n);
		g->nest = n->outer;
		return;
	}
	jump(g, n->next);
	if (i->next != 0)
		return;
	g->nest = n->outer;
	reached = is_reached(n->leave);
	cj_llvm_enter(g, n->leave);
	if (cj_inst(g->m, n->owner)->op == CJ_OP_IF)
		finish_if(g, n->owner, reached);
	if (!reached)
		LLVMBuildUnreachable(g->b);
}

void
cj_llvm_body(struct cj_llvm_gen *g, cj_region body)
{
	struct cj_walk w;

	for (w = cj_walk_begin(g->m, body); cj_walk_next(&w);) {
		switch (w.event) {
		case CJ_WALK_ENTER:
			region_enter(g, w.region);
			break;
		case CJ_WALK_INST:
			if (cj_llvm_ended(g))
				cj_walk_skip(&w);
			else
				cj_llvm_inst(g, w.ref);
			break;
		case CJ_WALK_LEAVE:
			region_leave(g, w.region);
			break;
		}
	}
	assert(g->nest == NULL && cj_llvm_ended(g));
}

/* ---- masks -------------------------------------------------------------- */

cj_llvm
cj_llvm_mask(struct cj_llvm_gen *g, cj_ref r, unsigned operand)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	cj_llvm mask;

	if (operand >= inst->operand_count)
		return NULL;
	mask = cj_llvm_value(g, cj_operand(g->m, inst, operand), 0);
	if (LLVMIsAConstantInt(mask) != NULL &&
	    LLVMConstIntGetZExtValue(mask) != 0)
		return NULL;
	return mask;
}

struct cj_llvm_masked
cj_llvm_mask_begin(struct cj_llvm_gen *g, cj_llvm mask)
{
	struct cj_llvm_masked m = { NULL, NULL, NULL };

	if (mask == NULL)
		return m;
	m.before = LLVMGetInsertBlock(g->b);
	m.inside = cj_llvm_block(g, "mask.set");
	m.after = cj_llvm_block(g, "mask.end");
	LLVMBuildCondBr(g->b, mask, m.inside, m.after);
	cj_llvm_enter(g, m.inside);
	return m;
}

void
cj_llvm_mask_end(struct cj_llvm_gen *g, struct cj_llvm_masked *m)
{
	if (m->inside == NULL)
		return;
	m->inside = LLVMGetInsertBlock(g->b);
	LLVMBuildBr(g->b, m->after);
	cj_llvm_enter(g, m->after);
}

cj_llvm
cj_llvm_mask_merge(struct cj_llvm_gen *g, const struct cj_llvm_masked *m,
    cj_llvm inside, cj_llvm otherwise)
{
	cj_llvm phi;

	assert(m->inside != NULL && LLVMTypeOf(inside) ==
	    LLVMTypeOf(otherwise));
	phi = LLVMBuildPhi(g->b, LLVMTypeOf(inside), "");
	LLVMAddIncoming(phi, &inside, (LLVMBasicBlockRef[]){ m->inside }, 1);
	LLVMAddIncoming(phi, &otherwise, (LLVMBasicBlockRef[]){ m->before },
	    1);
	return phi;
}
