/*
 * Copies of instructions with their regions, for passes that write code out
 * more than once: what is inside refers to the copies, the rest stays.
 *
 * What lives in a copied region is new in each copy, but for shared memory
 * where the pass says so: it then lets it live in a region around all copies.
 */
#include "ir_priv.h"

void
cj_copier_begin(struct cj_copier *c)
{
	struct cj_module *m = c->m;

	c->insts = m->insts.len;
	c->regions = m->regions.len;
	c->objects = m->objects.len;
	c->inst_of = CJ_NEWS(m->arena, cj_ref, c->insts);
	c->region_of = CJ_NEWS(m->arena, cj_region, c->regions);
	c->object_of = CJ_NEWS(m->arena, uint32_t, c->objects);
}

/* An operand in the copy; pure ones of the turn are computed again. */
static cj_ref
map_operand(struct cj_copier *c, cj_ref r)
{
	const struct cj_inst *i = cj_inst(c->m, r);

	if (r >= c->insts || c->inst_of[r] != 0)
		return r >= c->insts ? r : c->inst_of[r];
	if (c->again == NULL || !c->again[r])
		return r;
	if (cj_op_info[i->op].effects != CJ_EFFECTS_PURE ||
	    i->op == CJ_OP_INDEX)
		cj_bug(c->m->arena->recover,
		    "%%%u runs ahead with what its turn alone knows",
		    (unsigned)r);
	return cj_copy_inst(c, r, c->pure_to, c->pure_before);
}

static uint32_t
map_object(struct cj_copier *c, uint32_t object)
{
	struct cj_object o = c->m->objects.at[object];

	if (object >= c->objects || o.region >= c->regions ||
	    c->region_of[o.region] == 0 ||
	    (c->keeps_shared && o.kind == CJ_OBJECT_SHARED))
		return object;
	if (c->object_of[object] != 0)
		return c->object_of[object];
	o.region = c->region_of[o.region];
	return c->object_of[object] = cj_module_object(c->m, &o);
}

static uint32_t
map_access(struct cj_copier *c, uint32_t access)
{
	struct cj_access copy = c->m->accesses.at[access];
	uint32_t object = map_object(c, copy.object);

	if (object == copy.object)
		return access;
	copy.object = object;
	return cj_module_access(c->m, &copy);
}

static uint32_t
map_wgmma(struct cj_copier *c, uint32_t attr)
{
	struct cj_wgmma w = c->m->wgmmas.at[attr];

	w.sum = map_access(c, w.sum);
	w.a_at = map_access(c, w.a_at);
	w.b_at = map_access(c, w.b_at);
	return cj_module_wgmma(c->m, &w);
}

static uint32_t
map_attr(struct cj_copier *c, const struct cj_inst *i)
{
	struct cj_copy copy;

	switch ((unsigned)cj_op_info[i->op].attr) {
	case CJ_ATTR_ACCESS:
		return map_access(c, i->attr);
	case CJ_ATTR_COPY:
		copy = c->m->copies.at[i->attr];
		copy.to = map_access(c, copy.to);
		copy.from = map_access(c, copy.from);
		return cj_module_copy(c->m, &copy);
	case CJ_ATTR_WGMMA:
		return map_wgmma(c, i->attr);
	case CJ_ATTR_TARGET:
		return i->attr < c->insts && c->inst_of[i->attr] != 0 ?
		    c->inst_of[i->attr] : i->attr;
	}
	return i->attr;		/* of the others none names a register */
}

void
cj_copy_region(struct cj_copier *c, cj_region from, cj_region to)
{
	cj_ref r;

	c->region_of[from] = to;
	for (r = c->m->regions.at[from].first; r != 0;
	    r = cj_inst(c->m, r)->next)
		if (c->inst_of[r] == 0)
			cj_copy_inst(c, r, to, 0);
}

cj_ref
cj_copy_inst(struct cj_copier *c, cj_ref r, cj_region to, cj_ref before)
{
	struct cj_inst i = *cj_inst(c->m, r);
	cj_ref *operands = CJ_NEWS(c->m->arena, cj_ref, i.operand_count + 1);
	cj_region g;
	cj_ref made;
	unsigned n;

	for (n = 0; n < i.operand_count; n++)
		operands[n] = map_operand(c, cj_operand(c->m, &i, n));
	i.attr = map_attr(c, &i);
	made = cj_append(c->m, to, &i, operands, i.operand_count);
	if (before != 0) {
		cj_inst_remove(c->m, to, made);
		cj_inst_link(c->m, to, made, before);
	}
	c->inst_of[r] = made;
	for (g = i.region; g != 0; g = c->m->regions.at[g].next)
		cj_copy_region(c, g, cj_region_append(c->m, made, to));
	return made;
}
