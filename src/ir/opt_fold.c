/*
 * Compute what is known: constants, exact identities, and integers whose range
 * (facts.c) leaves one number; then the regions that are decided by them.
 *
 * One walk forward. What replaces a value is noted and put into the operands
 * of later instructions when they are reached.
 *
 * needs: verified IR.   keeps: the meaning bit for bit.   leaves: unused
 * instructions for dce.
 */
#include "fold_priv.h"

const struct cj_fact *
cj_fold_fact(const struct cj_fold *f, cj_ref r)
{
	const struct cj_inst *i = cj_inst(f->m, r);
	enum cj_kind k = cj_type_kind(i->type);

	if (r >= f->known || cj_type_count(i->type) != 1 ||
	    (!cj_kind_is_integer(k) && k != CJ_KIND_BOOL))
		return NULL;
	return &f->facts[r];
}

bool
cj_fold_is(const struct cj_fold *f, cj_ref r, uint64_t bits)
{
	const struct cj_constant *c = cj_constant_of(f->m, r);
	uint32_t n;

	if (c == NULL)
		return false;
	for (n = 0; n < cj_type_count(c->type); n++)
		if (c->bits[n] != bits)
			return false;
	return true;
}

/* Tables by instruction grow with the module. */
static void
cover(struct cj_fold *f)
{
	while (f->replaced.len < f->m->insts.len) {
		*cj_push(f->m->arena, &f->replaced) = 0;
		*cj_push(f->m->arena, &f->left) = false;
	}
	while (f->moved.len < f->m->regions.len)
		*cj_push(f->m->arena, &f->moved) = 0;
}

cj_ref
cj_fold_constant(struct cj_fold *f, cj_type t, const uint64_t *bits)
{
	struct cj_module *m = f->m;
	struct cj_inst i = { .op = CJ_OP_CONST, .type = t };
	cj_ref r;

	assert(f->walk.ref != 0 && "it goes in front of this one");
	i.attr = cj_module_constant(m, t, bits);
	i.place = cj_inst(m, f->walk.ref)->place;
	r = cj_append(m, f->walk.region, &i, NULL, 0);
	cj_inst_remove(m, f->walk.region, r);
	cj_inst_link(m, f->walk.region, r, f->walk.ref);
	cover(f);
	return r;
}

cj_ref
cj_fold_splat(struct cj_fold *f, cj_type t, uint64_t each)
{
	uint64_t *bits = CJ_NEWS(f->m->arena, uint64_t, cj_type_count(t));
	uint32_t n;

	for (n = 0; n < cj_type_count(t); n++)
		bits[n] = each;
	return cj_fold_constant(f, t, bits);
}

static void
rename_operands(struct cj_fold *f, const struct cj_inst *i)
{
	cj_ref *at = &f->m->pool.at[i->operands];
	unsigned n;

	/* a yield may have been replaced after what it was made a value of */
	for (n = 0; n < i->operand_count; n++)
		while (f->replaced.at[at[n]] != 0)
			at[n] = f->replaced.at[at[n]];
}

/* Is a coordinate known to be inside? Values that were made meanwhile have no
 * facts. */
static bool
is_inside(const struct cj_fold *f, cj_ref r)
{
	const struct cj_inst *i = cj_inst(f->m, r);
	cj_ref at = cj_operand(f->m, i, 0), extent = cj_operand(f->m, i, 1);

	return at < f->known && extent < f->known && f->facts[at].lo >= 0 &&
	    f->facts[at].hi < f->facts[extent].lo;
}

static void
visit(struct cj_fold *f)
{
	cj_ref r = f->walk.ref, same;

	assert(f->walk.event == CJ_WALK_INST);
	rename_operands(f, cj_inst(f->m, r));
	if (cj_op_info[cj_inst(f->m, r)->op].effects == CJ_EFFECTS_REGION) {
		cj_fold_region(f, r);
		return;
	}
	if (cj_inst(f->m, r)->op == CJ_OP_INSIDE && is_inside(f, r)) {
		cj_inst_remove(f->m, f->walk.region, r);
		cj_walk_skip(&f->walk);
		return;
	}
	if (cj_op_info[cj_inst(f->m, r)->op].effects != CJ_EFFECTS_PURE)
		return;
	same = cj_fold_numbers(f, r);
	if (same == 0)
		same = cj_fold_identity(f, r);
	if (same == 0)
		same = cj_fold_registers(f, r);
	if (same != 0) {
		assert(cj_inst(f->m, same)->type == cj_inst(f->m, r)->type);
		f->replaced.at[r] = same;
		cj_inst_remove(f->m, f->walk.region, r);
		cj_walk_skip(&f->walk);
	}
}

/* Which operations are left by break or continue. */
static void
find_left(struct cj_fold *f, cj_region body)
{
	const struct cj_inst *i;
	struct cj_walk w = cj_walk_begin(f->m, body);

	while ((i = cj_walk_inst(&w)) != NULL) {
		if (cj_op_info[i->op].attr == CJ_ATTR_TARGET)
			f->left.at[i->attr] = true;
	}
}

/* Objects live on in the region that took their region's contents. */
static void
move_objects(struct cj_fold *f)
{
	uint32_t i;

	for (i = 1; i < f->m->objects.len; i++) {
		cj_region *at = &f->m->objects.at[i].region;

		while (*at < f->moved.len && f->moved.at[*at] != 0)
			*at = f->moved.at[*at];
	}
}

void
cj_opt_fold(struct cj_module *m)
{
	struct cj_fold f = { .m = m };
	uint32_t n;

	cover(&f);
	for (n = 1; n < m->functions.len; n++) {
		f.known = m->insts.len;
		f.facts = cj_facts_compute(m->arena, m, n);
		find_left(&f, m->functions.at[n].body);
		for (f.walk = cj_walk_begin(m, m->functions.at[n].body);
		    cj_walk_next(&f.walk);)
			if (f.walk.event == CJ_WALK_INST)
				visit(&f);
	}
	move_objects(&f);
}
