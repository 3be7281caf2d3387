/*
 * Folding of regions: an `if` whose condition is known, a counted loop that
 * runs once or never, a scope that nobody leaves early. What runs takes the
 * place of the operation.
 */
#include "fold_priv.h"

static bool
is_exit(const struct cj_inst *i)
{
	return cj_op_info[i->op].effects == CJ_EFFECTS_EXIT;
}

/* Nothing after `last` is reached any more: unlink it. */
static void
cut_after(struct cj_fold *f, cj_region region, cj_ref last)
{
	struct cj_inst *i = cj_inst(f->m, last);

	assert(is_exit(i));
	i->next = 0;
	f->m->regions.at[region].last = last;
}

/*
 * Put what stands in `from` in front of `owner` in `region` and remove
 * `owner`. A yield at the end becomes the owner's value.
 */
static void
splice(struct cj_fold *f, cj_region region, cj_ref owner, cj_region from)
{
	struct cj_module *m = f->m;
	cj_ref r, next, first = 0, last = 0;

	assert(m->regions.at[from].owner == owner);
	assert(m->regions.at[from].parent == region);
	for (r = m->regions.at[from].first; r != 0; r = next) {
		const struct cj_inst *i = cj_inst(m, r);
		cj_region g;

		next = i->next;
		if (i->op == CJ_OP_YIELD) {
			if (i->operand_count > 0)
				f->replaced.at[owner] = cj_operand(m, i, 0);
			break;
		}
		for (g = i->region; g != 0; g = m->regions.at[g].next)
			m->regions.at[g].parent = region;
		cj_inst_link(m, region, r, owner);
		if (first == 0)
			first = r;
		last = r;
	}
	f->moved.at[from] = region;
	next = cj_inst(m, owner)->next;
	cj_inst_remove(m, region, owner);
	if (last != 0 && is_exit(cj_inst(m, last)))
		cut_after(f, region, last);
	f->walk.next = first != 0 ? first : next;
	cj_walk_skip(&f->walk);
}

static void
drop(struct cj_fold *f, cj_region region, cj_ref owner)
{
	cj_inst_remove(f->m, region, owner);
	cj_walk_skip(&f->walk);
}

static void
fold_if(struct cj_fold *f, cj_region region, cj_ref owner)
{
	const struct cj_inst *i = cj_inst(f->m, owner);
	const struct cj_constant *c = cj_constant_of(f->m,
	    cj_operand(f->m, i, 0));
	cj_region runs = i->region;

	if (c == NULL)
		return;
	if (c->bits[0] == 0)
		runs = f->m->regions.at[runs].next;
	if (runs != 0)
		splice(f, region, owner, runs);
	else
		drop(f, region, owner);
}

static void
fold_for(struct cj_fold *f, cj_region region, cj_ref owner)
{
	const struct cj_inst *i = cj_inst(f->m, owner);
	cj_ref lo_ref = cj_operand(f->m, i, 0), index;
	const struct cj_fact *lo = cj_fold_fact(f, lo_ref);
	const struct cj_fact *hi = cj_fold_fact(f, cj_operand(f->m, i, 1));
	const struct cj_fact *step = cj_fold_fact(f, cj_operand(f->m, i, 2));
	cj_region body = i->region;
	int64_t second;

	if (lo == NULL || hi == NULL || step == NULL)
		return;
	if (hi->hi <= lo->lo) {
		drop(f, region, owner);
		return;
	}
	if (f->left.at[owner] || lo->lo != lo->hi || hi->lo <= lo->hi ||
	    __builtin_add_overflow(lo->lo, step->lo, &second) ||
	    second < hi->hi)
		return;
	index = f->m->regions.at[body].first;
	f->replaced.at[index] = lo_ref;
	cj_inst_remove(f->m, body, index);
	splice(f, region, owner, body);
}

void
cj_fold_region(struct cj_fold *f, cj_ref owner)
{
	const struct cj_inst *i = cj_inst(f->m, owner);
	cj_region region = f->walk.region;

	switch ((unsigned)i->op) {
	case CJ_OP_IF:
		fold_if(f, region, owner);
		break;
	case CJ_OP_FOR:
		fold_for(f, region, owner);
		break;
	case CJ_OP_SCOPE:
		if (!f->left.at[owner])
			splice(f, region, owner, i->region);
		break;
	}
}
