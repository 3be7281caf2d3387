/*
 * Registers that a loop certainly carries from turn to turn.
 *
 * A register of a slot from outside of a loop is carried if the loop writes it
 * and its first access in the loop, in the order of the text, is a read: what
 * a turn leaves there the next one wants. All of these are alive at once where
 * the loop begins, whatever a generator of code does. This is a lower bound:
 * what else is alive there is not counted.
 */
#include "ir_priv.h"

enum { IS_READ = 1, IS_WRITTEN = 2 };	/* IS_READ: and before any write */

struct loop {
	cj_ref op;
	unsigned char *seen;		/* by register of all slots */
	struct loop *outer;
};

struct carried {
	struct cj_module *m;
	uint32_t *base;			/* by object: its first register */
	uint32_t count;
	struct loop *loop;		/* the innermost one here */
	struct cj_carried best;
};

static bool
is_loop(const struct cj_inst *i)
{
	return i->op == CJ_OP_FOR || i->op == CJ_OP_LOOP;
}

static bool
is_inside(const struct cj_module *m, cj_region g, cj_ref loop)
{
	for (; g != 0; g = m->regions.at[g].parent)
		if (m->regions.at[g].owner == loop)
			return true;
	return false;
}

/* Bits that a register of the kind keeps; a bool is a predicate. */
static int64_t
bits_of(enum cj_kind k)
{
	return k == CJ_KIND_BOOL ? 0 : cj_kind_bits(k);
}

static int64_t
carried_bits(const struct carried *c, const struct loop *l, uint32_t object)
{
	const struct cj_object *o = &c->m->objects.at[object];
	int64_t n = 0, i;

	if (o->kind != CJ_OBJECT_SLOT)
		return 0;
	for (i = 0; i < o->extent; i++)
		n += l->seen[c->base[object] + i] == (IS_READ | IS_WRITTEN);
	return n * bits_of(o->element);
}

static void
leave(struct carried *c)
{
	const struct loop *l = c->loop;
	int64_t *by_object = CJ_NEWS(c->m->arena, int64_t,
	    c->m->objects.len);
	int64_t registers = 0;
	uint32_t o;

	for (o = 1; o < c->m->objects.len; o++) {
		by_object[o] = (carried_bits(c, l, o) + 31) / 32;
		registers += by_object[o];
	}
	if (registers > c->best.registers)
		c->best = (struct cj_carried){ l->op, registers, by_object };
	c->loop = l->outer;
}

static void
enter(struct carried *c, cj_ref op)
{
	struct loop *l = CJ_NEW(c->m->arena, struct loop);

	l->op = op;
	l->seen = CJ_NEWS(c->m->arena, unsigned char, c->count + 1);
	l->outer = c->loop;
	c->loop = l;
}

static void
note(struct carried *c, uint32_t access, uint32_t n, bool writes)
{
	const struct cj_access *a = &c->m->accesses.at[access];
	cj_region home = c->m->objects.at[a->object].region;
	struct loop *l;
	uint32_t k;

	for (l = c->loop; l != NULL; l = l->outer) {
		unsigned char *seen = l->seen + c->base[a->object] +
		    a->position;

		if (is_inside(c->m, home, l->op))
			continue;
		for (k = 0; k < n; k++)
			if (writes)
				seen[k] |= IS_WRITTEN;
			else if (seen[k] == 0)
				seen[k] = IS_READ;
	}
}

/* Sums of a product of warpgroups: these are added to but where it begins
 * anew. */
static void
note_sums(struct carried *c, const struct cj_inst *i)
{
	const struct cj_wgmma *w = &c->m->wgmmas.at[i->attr];
	const struct cj_inst *adds = i->operand_count == 0 ? NULL :
	    cj_inst(c->m, cj_operand(c->m, i, i->operand_count - 1u));
	bool begins = adds != NULL && adds->type == cj_type_of(CJ_KIND_BOOL,
	    1) && adds->op == CJ_OP_CONST &&
	    c->m->constants.at[adds->attr].bits[0] == 0;

	if (!begins)
		note(c, w->sum, w->n / 2, false);
	note(c, w->sum, w->n / 2, true);
}

static void
look(struct carried *c, cj_ref r)
{
	const struct cj_inst *i = cj_inst(c->m, r);

	if (is_loop(i))
		enter(c, r);
	else if (i->op == CJ_OP_SLOT_GET)
		note(c, i->attr, cj_type_count(i->type), false);
	else if (i->op == CJ_OP_SLOT_SET)
		note(c, i->attr, cj_type_count(cj_inst(c->m, cj_operand(c->m,
		    i, 0))->type), true);
	else if (i->op == CJ_OP_WGMMA)
		note_sums(c, i);
}

struct cj_carried
cj_carried_most(struct cj_module *m, uint32_t function)
{
	struct carried c = { .m = m };
	struct cj_walk w;
	uint32_t o;

	c.base = CJ_NEWS(m->arena, uint32_t, m->objects.len);
	for (o = 1; o < m->objects.len; o++) {
		c.base[o] = c.count;
		if (m->objects.at[o].kind == CJ_OBJECT_SLOT)
			c.count += (uint32_t)m->objects.at[o].extent;
	}
	for (w = cj_walk_begin(m, m->functions.at[function].body);
	    cj_walk_next(&w);) {
		if (w.event == CJ_WALK_INST)
			look(&c, w.ref);
		else if (w.event == CJ_WALK_LEAVE && c.loop != NULL &&
		    m->regions.at[w.region].owner == c.loop->op)
			leave(&c);
	}
	return c.best;
}
