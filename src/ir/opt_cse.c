/*
 * Compute equal things once.
 *
 * A pure instruction that equals an earlier one whose region is still open is
 * replaced by it. The table is emptied of a region's entries when the region
 * is left: with linear probing, removing what came last first leaves no holes
 * before older entries.
 *
 * needs: verified IR.   keeps: order, regions.
 */
#include "ir_priv.h"

struct cse {
	struct cj_module *m;
	cj_ref *replaced;		/* by instruction; 0: stays */
	cj_ref *slots;			/* open addressing, a power of two */
	uint32_t slot_count;
	CJ_VEC(uint32_t) filled;	/* slots in order, and REGION_OPENS */
};

#define REGION_OPENS	UINT32_MAX

static bool
is_commutative(enum cj_op op)
{
	switch ((unsigned)op) {
	case CJ_OP_ADD: case CJ_OP_MUL: case CJ_OP_MIN: case CJ_OP_MAX:
	case CJ_OP_AND: case CJ_OP_OR: case CJ_OP_XOR: case CJ_OP_EQ:
	case CJ_OP_NE: case CJ_OP_MUL_HI:
		return true;
	}
	return false;
}

static uint64_t
hash_of(const struct cj_module *m, const struct cj_inst *i)
{
	uint64_t h = (uint64_t)i->op << 32 | i->type;
	unsigned n;

	h = (h ^ i->attr) * 0x9e3779b97f4a7c15u;
	for (n = 0; n < i->operand_count; n++)
		h = (h ^ h >> 31 ^ cj_operand(m, i, n)) * 0xbf58476d1ce4e5b9u;
	return h ^ h >> 32;
}

static bool
are_equal(const struct cj_module *m, const struct cj_inst *a,
    const struct cj_inst *b)
{
	return a->op == b->op && a->type == b->type && a->attr == b->attr &&
	    a->operand_count == b->operand_count &&
	    memcmp(&m->pool.at[a->operands], &m->pool.at[b->operands],
	    a->operand_count * sizeof(cj_ref)) == 0;
}

static void
rename_operands(struct cse *c, const struct cj_inst *i)
{
	cj_ref *at = &c->m->pool.at[i->operands];
	unsigned n;

	for (n = 0; n < i->operand_count; n++)
		if (c->replaced[at[n]] != 0)
			at[n] = c->replaced[at[n]];
	if (is_commutative(i->op) && at[0] > at[1]) {
		cj_ref first = at[0];

		at[0] = at[1];
		at[1] = first;
	}
}

/* The earlier equal of `r`, or 0 and `r` is entered. */
static cj_ref
find_or_enter(struct cse *c, cj_ref r)
{
	const struct cj_inst *i = cj_inst(c->m, r);
	uint32_t at = (uint32_t)hash_of(c->m, i) & (c->slot_count - 1);

	for (; c->slots[at] != 0; at = (at + 1) & (c->slot_count - 1))
		if (are_equal(c->m, cj_inst(c->m, c->slots[at]), i))
			return c->slots[at];
	c->slots[at] = r;
	assert(c->filled.len <= c->slot_count / 2 + c->m->regions.len);
	*cj_push(c->m->arena, &c->filled) = at;
	return 0;
}

static void
leave_region(struct cse *c)
{
	uint32_t at;

	assert(c->filled.len > 0 && "a region was entered");
	while ((at = c->filled.at[--c->filled.len]) != REGION_OPENS)
		c->slots[at] = 0;
}

static void
visit(struct cse *c, struct cj_walk *w)
{
	const struct cj_inst *i = cj_inst(c->m, w->ref);
	cj_ref earlier;

	rename_operands(c, i);
	if (cj_op_info[i->op].effects != CJ_EFFECTS_PURE ||
	    i->op == CJ_OP_INDEX)
		return;
	earlier = find_or_enter(c, w->ref);
	if (earlier != 0) {
		c->replaced[w->ref] = earlier;
		cj_inst_remove(c->m, w->region, w->ref);
		cj_walk_skip(w);
	}
}

static void
run_function(struct cse *c, cj_region body)
{
	struct cj_walk w;

	for (w = cj_walk_begin(c->m, body); cj_walk_next(&w);)
		switch (w.event) {
		case CJ_WALK_ENTER:
			*cj_push(c->m->arena, &c->filled) = REGION_OPENS;
			break;
		case CJ_WALK_INST:
			visit(c, &w);
			break;
		case CJ_WALK_LEAVE:
			leave_region(c);
			break;
		}
	assert(c->filled.len == 0);
}

void
cj_opt_cse(struct cj_module *m)
{
	struct cj_mark before = cj_arena_mark(m->arena);
	struct cse c = { .m = m, .slot_count = 64 };
	uint32_t f;

	while (c.slot_count < 2 * m->insts.len)
		c.slot_count *= 2;
	c.slots = CJ_NEWS(m->arena, cj_ref, c.slot_count);
	c.replaced = CJ_NEWS(m->arena, cj_ref, m->insts.len);
	for (f = 1; f < m->functions.len; f++)
		run_function(&c, m->functions.at[f].body);
	cj_arena_release(m->arena, before);
}
