/*
 * Wait for products before their result is touched.
 *
 * An accumulator may be read, or written by anything but products, once no
 * group is open. A wait for all stands in front of each such access, but where
 * none can be open: before the first product, outside of loops with one, and
 * where the wait in front still holds. So products that follow each other in a
 * loop wait for nobody, and the first read behind the loop waits once.
 *
 * needs: verified IR.   keeps: regions, order.
 */
#include "ir_priv.h"

struct waits {
	struct cj_module *m;
	bool *is_sum;		/* by object: a product adds to it */
	bool *loops;		/* by region: in a loop with a product */
	bool some, closed;	/* a product came; all are waited for */
};

static bool
is_product(const struct cj_inst *i)
{
	return i->op == CJ_OP_WGMMA || i->op == CJ_OP_WGMMA_COMMIT;
}

static bool
is_loop(const struct cj_module *m, cj_region g)
{
	cj_ref owner = m->regions.at[g].owner;

	return owner != 0 && (cj_inst(m, owner)->op == CJ_OP_FOR ||
	    cj_inst(m, owner)->op == CJ_OP_LOOP);
}

/* A product stands in `from`: all loops around it have one. */
static void
mark_loops(struct waits *s, cj_region from)
{
	for (; from != 0; from = s->m->regions.at[from].parent)
		s->loops[from] |= is_loop(s->m, from);
}

static bool
find_products(struct waits *s, cj_region body)
{
	bool some = false;
	struct cj_walk w;

	for (w = cj_walk_begin(s->m, body); cj_walk_next(&w);) {
		const struct cj_inst *i;

		if (w.event != CJ_WALK_INST)
			continue;
		i = cj_inst(s->m, w.ref);
		if (i->op != CJ_OP_WGMMA)
			continue;
		s->is_sum[s->m->accesses.at[s->m->wgmmas.at[i->attr].sum]
		    .object] = true;
		mark_loops(s, w.region);
		some = true;
	}
	return some;
}

static bool
may_be_open(const struct waits *s, cj_region from)
{
	for (; from != 0; from = s->m->regions.at[from].parent)
		if (s->loops[from])
			return true;
	return s->some;
}

static bool
touches_sum(const struct waits *s, const struct cj_inst *i)
{
	return (i->op == CJ_OP_SLOT_GET || i->op == CJ_OP_SLOT_SET) &&
	    s->is_sum[s->m->accesses.at[i->attr].object];
}

static void
visit(struct waits *s, const struct cj_walk *w)
{
	const struct cj_inst *i = cj_inst(s->m, w->ref);
	struct cj_builder b = { .module = s->m, .region = w->region,
	    .before = w->ref, .place = i->place };

	if (is_product(i)) {
		s->some = true;
		s->closed = false;
	} else if (i->op == CJ_OP_WGMMA_WAIT && i->attr == 0) {
		s->closed = true;
	} else if (touches_sum(s, i) && !s->closed &&
	    may_be_open(s, w->region)) {
		cj_emit0(&b, CJ_OP_WGMMA_WAIT, 0, 0);
		s->closed = true;
	}
}

void
cj_opt_wgmma_wait(struct cj_module *m)
{
	struct waits s = { .m = m };
	uint32_t f;

	for (f = 1; f < m->functions.len; f++) {
		struct cj_walk w;

		if (m->functions.at[f].kind != CJ_FUNCTION_DEVICE)
			continue;
		s.is_sum = CJ_NEWS(m->arena, bool, m->objects.len);
		s.loops = CJ_NEWS(m->arena, bool, m->regions.len);
		s.some = s.closed = false;
		if (!find_products(&s, m->functions.at[f].body))
			continue;
		for (w = cj_walk_begin(m, m->functions.at[f].body);
		    cj_walk_next(&w);) {
			if (w.event == CJ_WALK_INST)
				visit(&s, &w);
			else
				s.closed = false;
		}
	}
}
