/*
 * Numbers that say where masked accesses are, and nothing else.
 *
 * Beside a place stands the mask, which a guard has made of the coordinates
 * themselves: where it does not hold, nobody goes to the place, and a
 * coordinate that came out of memory may be anything. So these may wrap where
 * others are "int" beyond 64 bits (cj_index_overflow).
 *
 * One walk back from the users: a number is such a place if it is one of all
 * that use it, or is added to, or multiplied by, others to make one.
 */
#include "interp_priv.h"

enum { CJ_PLACE_UNUSED, CJ_PLACE_ALONE, CJ_PLACE_MORE };

/* Is operand n of a masked access where it is? */
static bool
is_masked_place(const struct cj_inst *i, unsigned n)
{
	switch ((unsigned)i->op) {
	case CJ_OP_LOAD: case CJ_OP_PREFETCH:
		return n == 0 && i->operand_count > 1;
	case CJ_OP_STORE:
		return n == 0 && i->operand_count > 2;
	case CJ_OP_CP_ASYNC:
		return n < 2 && i->operand_count > 2;
	}
	return false;
}

/* Does what it makes wrap as its operands do? */
static bool
carries_on(const struct cj_inst *i)
{
	if (cj_type_kind(i->type) != CJ_KIND_INDEX)
		return false;
	switch ((unsigned)i->op) {
	case CJ_OP_ADD: case CJ_OP_SUB: case CJ_OP_MUL: case CJ_OP_FMA:
	case CJ_OP_NEG: case CJ_OP_SHL:
		return true;
	}
	return false;
}

static void
use_operands(const struct cj_module *m, uint8_t *use, cj_ref r)
{
	const struct cj_inst *i = cj_inst(m, r);
	bool is_place = carries_on(i) && use[r] != CJ_PLACE_MORE;
	unsigned n;

	for (n = 0; n < i->operand_count; n++) {
		uint8_t *of = &use[cj_operand(m, i, n)];

		if (!is_place && !is_masked_place(i, n))
			*of = CJ_PLACE_MORE;
		else if (*of == CJ_PLACE_UNUSED)
			*of = CJ_PLACE_ALONE;
	}
}

const uint8_t *
cj_decode_places(struct cj_arena *a, const struct cj_module *m,
    cj_region body)
{
	uint8_t *use = CJ_NEWS(a, uint8_t, m->insts.len);
	CJ_VEC(cj_ref) order = { 0 };
	struct cj_walk w = cj_walk_begin(m, body);
	uint32_t i;

	while (cj_walk_inst(&w) != NULL)
		*cj_push(a, &order) = w.ref;
	memset(use, CJ_PLACE_UNUSED, m->insts.len);
	for (i = order.len; i > 0; i--)
		use_operands(m, use, order.at[i - 1]);
	for (i = 0; i < m->insts.len; i++)
		use[i] = use[i] == CJ_PLACE_ALONE;
	return use;
}
