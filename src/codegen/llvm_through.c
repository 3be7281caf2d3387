/*
 * Which registers have to go through a wait for products.
 *
 * A wait takes and returns accumulators and left operands so that no access of
 * theirs moves across it. A hundred registers that do are much of what a kernel
 * costs LLVM, and where nothing reads or writes them before the next product,
 * fence or wait that takes them, nothing can move: that one holds it.
 *
 * What may run behind the wait is walked: the rest of its region, then that of
 * each region around it, of loops another turn first.
 */
#include "llvm_gen.h"

/* HELD: on all ways something takes the registers first, or there is no way. */
enum ending { OPEN, HELD, TOUCHED };

struct search {
	const struct cj_module *m;
	uint32_t object;
	bool leaves;	/* some way went on elsewhere: break, continue */
};

static enum ending from_here(struct search *s, cj_ref r);

static enum ending
both(enum ending a, enum ending b)
{
	if (a == TOUCHED || b == TOUCHED)
		return TOUCHED;
	return a == HELD && b == HELD ? HELD : OPEN;
}

/* Regions of an operation; only an `if` with two surely runs one of them. */
static enum ending
inside(struct search *s, const struct cj_inst *i)
{
	cj_region g = i->region, next = s->m->regions.at[g].next;
	enum ending first = from_here(s, s->m->regions.at[g].first);

	if (i->op == CJ_OP_IF && next != 0)
		return both(first,
		    from_here(s, s->m->regions.at[next].first));
	return both(first, OPEN);
}

static bool
touches(const struct search *s, const struct cj_inst *i)
{
	struct cj_touch at[CJ_TOUCHES];
	unsigned n = cj_touches(s->m, i, at), k;

	for (k = 0; k < n; k++)
		if (at[k].access->object == s->object)
			return true;
	return false;
}

static enum ending
step(struct search *s, const struct cj_inst *i)
{
	switch ((unsigned)i->op) {
	case CJ_OP_WGMMA:
		/* as a left operand it goes in and stays what it is */
		return s->m->accesses.at[s->m->wgmmas.at[i->attr].sum].object
		    == s->object ? HELD : OPEN;
	case CJ_OP_WGMMA_WAIT: case CJ_OP_WGMMA_FENCE: case CJ_OP_RETURN:
		return HELD;
	case CJ_OP_BREAK: case CJ_OP_CONTINUE:
		s->leaves = true;
		return HELD;
	}
	if (i->region != 0)
		return inside(s, i);
	return touches(s, i) ? TOUCHED : OPEN;
}

/* From an instruction to the end of its region. */
static enum ending
from_here(struct search *s, cj_ref r)
{
	enum ending e = OPEN;

	for (; r != 0 && e == OPEN; r = cj_inst(s->m, r)->next)
		e = step(s, cj_inst(s->m, r));
	return e;
}

bool
cj_llvm_goes_through(const struct cj_llvm_gen *g, cj_ref wait, uint32_t object)
{
	struct search s = { .m = g->m, .object = object };
	cj_region home = cj_llvm_home(g, wait);
	enum ending e = from_here(&s, cj_inst(g->m, wait)->next);
	cj_ref owner;

	for (; e != TOUCHED && (e == OPEN || s.leaves);
	    home = g->m->regions.at[home].parent) {
		owner = g->m->regions.at[home].owner;
		if (owner == 0 || !cj_llvm_slot_is_seen(g->m, object, home))
			break;
		if (cj_inst(g->m, owner)->op == CJ_OP_FOR ||
		    cj_inst(g->m, owner)->op == CJ_OP_LOOP)
			e = from_here(&s, g->m->regions.at[home].first);
		if (e != TOUCHED)
			e = from_here(&s, cj_inst(g->m, owner)->next);
	}
	return e == TOUCHED;
}
