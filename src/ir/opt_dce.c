/*
 * Drop instructions that nobody uses.
 *
 * Live is what acts (writes memory, meets others, prints, leaves a region),
 * what live instructions use, and whatever region stands around them. A write
 * to a slot is live if a live instruction reads the slot; a weak load that
 * nobody uses is not. Counted loops and conditions without live contents go.
 *
 * needs: verified IR.   keeps: order, regions, tables.
 */
#include "ir_priv.h"

struct dce {
	struct cj_module *m;
	cj_region *stands_in;		/* by instruction */
	bool *live;
	bool *read;			/* by object: a live slot_get */
	cj_ref *first_set, *next_set;	/* by object; by instruction */
	CJ_VEC(cj_ref) work;
};

static void
mark(struct dce *d, cj_ref r)
{
	if (r == 0 || d->live[r])
		return;
	d->live[r] = true;
	*cj_push(d->m->arena, &d->work) = r;
}

static const struct cj_access *
access_of(const struct dce *d, const struct cj_inst *i)
{
	return &d->m->accesses.at[i->attr];
}

/* Does it act by itself? */
static bool
is_root(const struct dce *d, const struct cj_inst *i)
{
	switch (cj_op_info[i->op].effects) {
	case CJ_EFFECTS_PURE:
		return false;
	case CJ_EFFECTS_READ:
		return access_of(d, i)->order != CJ_ORDER_WEAK;
	case CJ_EFFECTS_WRITE:
		return i->op != CJ_OP_SLOT_SET;
	case CJ_EFFECTS_SYNC:
	case CJ_EFFECTS_IO:
		return true;
	case CJ_EFFECTS_EXIT:
		return i->op != CJ_OP_YIELD;
	case CJ_EFFECTS_REGION:
		return i->op == CJ_OP_EXPECT || i->op == CJ_OP_LOOP;
	}
	return true;
}

static void
collect(struct dce *d, cj_region body)
{
	const struct cj_inst *i;
	struct cj_walk w = cj_walk_begin(d->m, body);

	while ((i = cj_walk_inst(&w)) != NULL) {
		d->stands_in[w.ref] = w.region;
		if (i->op == CJ_OP_SLOT_SET) {
			uint32_t slot = access_of(d, i)->object;

			d->next_set[w.ref] = d->first_set[slot];
			d->first_set[slot] = w.ref;
		}
		if (is_root(d, i))
			mark(d, w.ref);
	}
}

/* A region operation stays: so do its index and what its regions yield. */
static void
mark_regions(struct dce *d, cj_region g)
{
	for (; g != 0; g = d->m->regions.at[g].next) {
		const struct cj_region_info *info = &d->m->regions.at[g];

		if (cj_region_has_index(d->m, g))
			mark(d, info->first);
		if (info->last != 0 &&
		    cj_inst(d->m, info->last)->op == CJ_OP_YIELD)
			mark(d, info->last);
	}
}

static void
mark_sets(struct dce *d, uint32_t slot)
{
	cj_ref r;

	assert(d->m->objects.at[slot].kind == CJ_OBJECT_SLOT);
	if (d->read[slot])
		return;
	d->read[slot] = true;
	for (r = d->first_set[slot]; r != 0; r = d->next_set[r])
		mark(d, r);
}

/* The slots that an instruction reads: products too have them. */
static void
mark_read_slots(struct dce *d, const struct cj_inst *i)
{
	struct cj_touch touches[CJ_TOUCHES];
	unsigned n = cj_touches(d->m, i, touches), k;

	for (k = 0; k < n; k++)
		if (touches[k].reads && d->m->objects.at[touches[k].access->
		    object].kind == CJ_OBJECT_SLOT)
			mark_sets(d, touches[k].access->object);
}

static void
propagate(struct dce *d)
{
	while (d->work.len > 0) {
		cj_ref r = d->work.at[--d->work.len];
		const struct cj_inst *i = cj_inst(d->m, r);
		unsigned n;

		assert(d->live[r] && d->stands_in[r] != 0);
		for (n = 0; n < i->operand_count; n++)
			mark(d, cj_operand(d->m, i, n));
		mark(d, d->m->regions.at[d->stands_in[r]].owner);
		mark_regions(d, i->region);
		if (i->op != CJ_OP_SLOT_SET)
			mark_read_slots(d, i);
	}
}

static void
sweep(struct dce *d, cj_region body)
{
	struct cj_walk w;

	for (w = cj_walk_begin(d->m, body); cj_walk_next(&w);) {
		if (w.event != CJ_WALK_INST || d->live[w.ref])
			continue;
		cj_inst_remove(d->m, w.region, w.ref);
		cj_walk_skip(&w);
	}
}

void
cj_opt_dce(struct cj_module *m)
{
	struct cj_mark before = cj_arena_mark(m->arena);
	struct dce d = { .m = m };
	uint32_t f;

	d.stands_in = CJ_NEWS(m->arena, cj_region, m->insts.len);
	d.live = CJ_NEWS(m->arena, bool, m->insts.len);
	d.next_set = CJ_NEWS(m->arena, cj_ref, m->insts.len);
	d.first_set = CJ_NEWS(m->arena, cj_ref, m->objects.len);
	d.read = CJ_NEWS(m->arena, bool, m->objects.len);
	for (f = 1; f < m->functions.len; f++)
		collect(&d, m->functions.at[f].body);
	propagate(&d);
	for (f = 1; f < m->functions.len; f++)
		sweep(&d, m->functions.at[f].body);
	cj_arena_release(m->arena, before);
}
