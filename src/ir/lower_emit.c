/*
 * Pieces of which pipelines, roles and turns are lowered.
 */
#include "lower_priv.h"

struct cj_builder
cj_lower_at(const struct cj_lower *l, cj_region region, cj_ref before,
    cj_ref like)
{
	return (struct cj_builder){ .module = l->m, .region = region,
	    .before = before, .place = cj_inst(l->m, like)->place };
}

cj_ref
cj_lower_first(const struct cj_module *m, cj_region g)
{
	cj_ref first = m->regions.at[g].first;

	return first != 0 && cj_region_has_index(m, g) ?
	    cj_inst(m, first)->next : first;
}

cj_ref
cj_lower_compare(struct cj_builder *b, enum cj_op op, cj_ref x, cj_ref y)
{
	return cj_emit2(b, op, cj_type_of(CJ_KIND_BOOL, 1), x, y);
}

cj_ref
cj_lower_math(struct cj_builder *b, enum cj_op op, cj_ref x, cj_ref y)
{
	return cj_emit2(b, op, cj_type_of(CJ_KIND_INDEX, 1), x, y);
}

cj_ref
cj_lower_choose(struct cj_builder *b, cj_ref condition, cj_ref x, cj_ref y)
{
	return cj_emit3(b, CJ_OP_SELECT, cj_type_of(CJ_KIND_INDEX, 1),
	    condition, x, y);
}

cj_ref
cj_lower_plus(struct cj_builder *b, cj_ref x, int64_t n)
{
	return cj_emit2(b, CJ_OP_ADD, cj_type_of(CJ_KIND_INDEX, 1), x,
	    cj_emit_index(b, n));
}

static cj_ref
is_special(struct cj_builder *b, enum cj_special what, int64_t value)
{
	cj_ref x = cj_emit0(b, CJ_OP_SPECIAL, cj_type_of(CJ_KIND_INDEX, 1),
	    what);

	return cj_lower_compare(b, CJ_OP_EQ, x, cj_emit_index(b, value));
}

cj_ref
cj_lower_is_lane0(struct cj_builder *b)
{
	return is_special(b, CJ_SPECIAL_LANE, 0);
}

cj_ref
cj_lower_is_leader(const struct cj_lower *l, struct cj_builder *b,
    uint32_t role)
{
	cj_ref lane = cj_lower_is_lane0(b);

	return cj_emit2(b, CJ_OP_AND, cj_type_of(CJ_KIND_BOOL, 1), lane,
	    is_special(b, CJ_SPECIAL_WARP, l->roles[role].first));
}

cj_ref
cj_lower_if(struct cj_builder *b, cj_ref condition)
{
	cj_ref owner = cj_emit(b, CJ_OP_IF, 0, 0, &condition, 1);

	b->region = cj_region_add(b, owner, NULL);
	b->before = 0;
	return owner;
}

void
cj_lower_lead(const struct cj_lower *l, struct cj_builder *b, uint32_t role)
{
	if (!l->roles[role].is_single)
		cj_lower_if(b, cj_lower_is_leader(l, b, role));
}

/* A number that nobody names: from the last one down. */
static uint32_t
give_barrier(struct cj_lower *l)
{
	uint32_t n;

	for (n = 15; n > 0 && (l->barriers_taken >> n & 1); n--)
		;
	if (n == 0)
		cj_bug(l->m->arena->recover, "all 16 barriers are in use");
	l->barriers_taken |= (uint32_t)1 << n;
	return n;
}

void
cj_lower_barrier(struct cj_lower *l, struct cj_builder *b, uint32_t role)
{
	struct cj_lower_role *r = &l->roles[role];

	if (role == 0) {
		cj_emit0(b, CJ_OP_BARRIER, 0, 0);
	} else if (r->warps == 1) {
		cj_emit0(b, CJ_OP_SYNC_WARP, 0, 0);
	} else {
		if (r->barrier == 0)
			r->barrier = give_barrier(l);
		cj_emit2(b, CJ_OP_NAMED_BARRIER, 0, cj_emit_index(b,
		    r->barrier), cj_emit_index(b, 32 * (int64_t)r->warps));
	}
}

static void
adopt(struct cj_module *m, cj_ref r, cj_region parent)
{
	cj_region g;

	for (g = cj_inst(m, r)->region; g != 0; g = m->regions.at[g].next)
		m->regions.at[g].parent = parent;
}

void
cj_lower_move(struct cj_lower *l, cj_region from, cj_ref first, cj_region to)
{
	struct cj_module *m = l->m;
	cj_ref r, next;

	for (r = first; r != 0; r = next) {
		next = cj_inst(m, r)->next;
		cj_inst_remove(m, from, r);
		cj_inst_link(m, to, r, 0);
		adopt(m, r, to);
		if (r < l->s.count)
			l->s.home[r] = to;
	}
}

void
cj_lower_lead_one(struct cj_lower *l, cj_ref r, uint32_t role)
{
	struct cj_builder b = cj_lower_at(l, l->s.home[r], r, r);

	cj_lower_lead(l, &b, role);
	if (b.region == l->s.home[r])
		return;
	cj_inst_remove(l->m, l->s.home[r], r);
	cj_inst_link(l->m, b.region, r, 0);
	l->s.home[r] = b.region;
}

/* ---- slots --------------------------------------------------------------- */

uint32_t
cj_lower_slot(struct cj_lower *l, cj_region region, cj_place place,
    const char *name, int64_t most, int64_t begin)
{
	struct cj_object o = { .kind = CJ_OBJECT_SLOT, .align = 1,
	    .element = CJ_KIND_INDEX, .extent = 1, .reads = true,
	    .writes = true, .region = region, .place = place, .name = name,
	    .most = most, .multiple = 1 };
	struct cj_builder b = { .module = l->m, .region = region,
	    .place = place, .before = cj_lower_first(l->m, region) };
	uint32_t slot = cj_module_object(l->m, &o);

	cj_lower_set(&b, slot, cj_emit_index(&b, begin));
	return slot;
}

static uint32_t
access_to(struct cj_module *m, uint32_t object, uint32_t align)
{
	struct cj_access a = { .object = object, .align = align };

	return cj_module_access(m, &a);
}

cj_ref
cj_lower_get(struct cj_builder *b, uint32_t slot)
{
	return cj_emit0(b, CJ_OP_SLOT_GET, cj_type_of(CJ_KIND_INDEX, 1),
	    access_to(b->module, slot, 0));
}

void
cj_lower_set(struct cj_builder *b, uint32_t slot, cj_ref value)
{
	cj_emit(b, CJ_OP_SLOT_SET, 0, access_to(b->module, slot, 0), &value,
	    1);
}

/* ---- mbarriers ----------------------------------------------------------- */

void
cj_lower_on(struct cj_builder *b, enum cj_op op, uint32_t object, cj_ref at,
    cj_ref operand)
{
	cj_ref refs[2] = { at, operand };

	cj_emit(b, op, 0, access_to(b->module, object, 8), refs,
	    operand != 0 ? 2 : 1);
}

void
cj_lower_wait(struct cj_builder *b, uint32_t object, cj_ref at, cj_ref parity,
    enum cj_memory_scope scope)
{
	struct cj_access a = { .object = object, .align = 8, .scope = scope };
	cj_ref refs[2] = { at, parity };

	cj_emit(b, CJ_OP_MBARRIER_WAIT, 0, cj_module_access(b->module, &a),
	    refs, 2);
}

/* One thread makes all mbarriers, before anything else is done. */
static void
open_init(struct cj_lower *l)
{
	cj_region body = l->m->functions.at[l->s.function].body;
	struct cj_builder b = { .module = l->m, .region = body,
	    .place = l->m->functions.at[l->s.function].place,
	    .before = cj_lower_first(l->m, body) }, inside;

	inside = b;
	cj_lower_if(&inside, cj_lower_is_leader(l, &inside, 0));
	l->init = inside.region;
	cj_emit0(&inside, CJ_OP_FENCE, 0, CJ_FENCE_MBARRIER_INIT);
	l->init_barrier = cj_emit0(&b, CJ_OP_BARRIER, 0, 0);
}

void
cj_lower_init(struct cj_lower *l, uint32_t object, uint32_t at,
    uint32_t count)
{
	struct cj_builder b = { .module = l->m,
	    .place = l->m->objects.at[object].place };

	if (l->init == 0)
		open_init(l);
	b.region = l->init;
	b.before = l->m->regions.at[l->init].last;
	cj_lower_on(&b, CJ_OP_MBARRIER_INIT, object, cj_emit_index(&b, at),
	    cj_emit_index(&b, count));
}

uint32_t
cj_lower_mbarriers(struct cj_lower *l, cj_place place, const char *name,
    uint32_t extent, uint32_t count)
{
	struct cj_object o = { .kind = CJ_OBJECT_SHARED, .align = 8,
	    .element = CJ_KIND_MBARRIER, .extent = extent, .reads = true,
	    .writes = true, .place = place, .name = name,
	    .region = l->m->functions.at[l->s.function].body };
	uint32_t object = cj_module_object(l->m, &o), i;

	for (i = 0; count != 0 && i < extent; i++)
		cj_lower_init(l, object, i, count);
	return object;
}
