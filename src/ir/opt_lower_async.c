/*
 * Lower pipelines: waits, barriers and cursors in place of produce and consume.
 *
 * All pipelines here are rings of one role, filled by stores or by cp.async:
 * program order, groups and barriers do the work. lower_flow.c says where they
 * are needed. A wait may stand earlier than where it is needed, in front of a
 * produce block or of a loop: this is tried place by place, and kept where it
 * saves barriers.
 *
 * The number of a stage becomes a cursor, a slot that counts up and wraps. If
 * the number is used as a multiple alone, the cursor counts in that: no
 * multiplication is left. A block of a stage becomes a scope, or a condition.
 *
 * needs: verified IR, `ahead`.   keeps: order of effects.
 */
#include "lower_priv.h"

enum { MOST_WALKED = 1 << 23 };		/* a tenth of a second or so */

/* ---- what is there ------------------------------------------------------- */

static bool
is_block(const struct cj_inst *i)
{
	return i->op == CJ_OP_PRODUCE || i->op == CJ_OP_CONSUME;
}

/* A stage op moves its pipeline for all that is around it. */
static void
note_moves(struct cj_lower *l, cj_ref r)
{
	const struct cj_module *m = l->m;
	cj_ref at = r;

	if (cj_inst(m, r)->op == CJ_OP_CONSUME && cj_lower_use(l, r)->keep)
		return;
	while ((at = m->regions.at[l->s.home[at]].owner) != 0) {
		if (l->moves[at] == NULL)
			l->moves[at] = CJ_NEWS(m->arena, bool,
			    m->pipelines.len);
		l->moves[at][cj_lower_use(l, r)->pipeline] = true;
	}
}

static bool
is_ring(const struct cj_lower *l, uint32_t pipeline)
{
	return !l->s.channels[pipeline].is_channel;
}

/* A block of a ring. */
static bool
is_of_ring(const struct cj_lower *l, cj_ref r)
{
	return is_block(cj_inst(l->m, r)) &&
	    is_ring(l, cj_lower_use(l, r)->pipeline);
}

static void
collect(struct cj_lower *l)
{
	const struct cj_module *m = l->m;
	cj_ref r;

	for (r = 1; r < l->s.count; r++) {
		const struct cj_inst *i = cj_inst(m, r);

		if (l->s.home[r] == 0)
			continue;
		if (is_of_ring(l, r))
			note_moves(l, r);
		if (i->op == CJ_OP_CP_ASYNC)
			l->has_copies[l->s.owner[m->accesses.at[
			    m->copies.at[i->attr].to].object]] = true;
	}
}

static void
find_rings(struct cj_lower *l)
{
	struct cj_module *m = l->m;

	l->moves = CJ_NEWS(m->arena, bool *, m->insts.len);
	l->has_copies = CJ_NEWS(m->arena, bool, m->pipelines.len);
	collect(l);
	l->has_copies[0] = false;	/* of no pipeline */
	cj_lower_begin_analyses(l);
}

/* ---- waits that stand earlier -------------------------------------------- */

static void
add_try(struct cj_lower *l, cj_ref at, uint32_t pipeline)
{
	struct cj_move *t = cj_push(l->m->arena, &l->tries);

	*t = (struct cj_move){ .at = at, .pipeline = pipeline };
}

static bool
is_consumed_behind(const struct cj_lower *l, cj_ref r, uint32_t pipeline)
{
	while ((r = cj_inst(l->m, r)->next) != 0)
		if (cj_inst(l->m, r)->op == CJ_OP_CONSUME &&
		    cj_lower_use(l, r)->pipeline == pipeline)
			return true;
	return false;
}

/* In front of a produce whose pipeline is consumed behind it, and of loops. */
static void
find_tries(struct cj_lower *l)
{
	const struct cj_module *m = l->m;
	const struct cj_inst *i;
	struct cj_walk w;
	uint32_t p;

	w = cj_walk_begin(m, m->functions.at[l->s.function].body);
	while ((i = cj_walk_inst(&w)) != NULL) {
		if (i->op == CJ_OP_PRODUCE && is_of_ring(l, w.ref) &&
		    is_consumed_behind(l, w.ref,
		    cj_lower_use(l, w.ref)->pipeline))
			add_try(l, w.ref, cj_lower_use(l, w.ref)->pipeline);
		for (p = 1; (i->op == CJ_OP_FOR || i->op == CJ_OP_LOOP) &&
		    p < m->pipelines.len; p++)
			if (l->moves[w.ref] != NULL && l->moves[w.ref][p])
				add_try(l, w.ref, p);
	}
}

/* Many pipelines in a long text have more places than are worth the time: the
 * work is bounded, in instructions times pipelines. */
static bool
has_time(const struct cj_lower *l)
{
	return l->walked * l->m->pipelines.len < MOST_WALKED;
}

/* Each by itself, then each on top of a first one: a wait that moves out of a
 * loop shows what it is worth only when the one in the loop has moved. */
static void
choose_moves(struct cj_lower *l)
{
	uint64_t best = cj_lower_analyse(l), cost;
	uint32_t i, k;

	find_tries(l);
	for (i = 0; i < l->tries.len && has_time(l); i++) {
		l->tries.at[i].is_on = true;
		cost = cj_lower_analyse(l);
		for (k = 0; cost >= best && k < i && has_time(l); k++) {
			if (l->tries.at[k].is_on)
				continue;
			l->tries.at[k].is_on = true;
			cost = cj_lower_analyse(l);
			if (cost >= best)
				l->tries.at[k].is_on = false;
		}
		if (cost >= best)
			l->tries.at[i].is_on = false;
		else
			best = cost;
	}
	cj_lower_analyse(l);
}

/* Products and TMA see what threads and their copies wrote behind a fence. */
static bool
is_read_async(const struct cj_lower *l, uint32_t pipeline)
{
	const struct cj_channel *c = &l->s.channels[pipeline];
	uint32_t r;

	for (r = 0; r < l->m->roles.len; r++)
		if (c->reads[r] & (CJ_BY_TMA | CJ_BY_WGMMA))
			return true;
	return false;
}

static bool
copies_need_fence(const struct cj_lower *l)
{
	uint32_t p;

	for (p = 1; p < l->m->pipelines.len; p++)
		if (is_ring(l, p) && l->has_copies[p] && is_read_async(l, p))
			return true;
	return false;
}

static void
put_needs(struct cj_lower *l)
{
	bool fences = copies_need_fence(l);
	struct cj_builder b, lead;
	cj_ref r;

	for (r = 1; r < l->s.count; r++) {
		if (l->s.home[r] == 0)
			continue;
		b = cj_lower_at(l, l->s.home[r], r, r);
		if (l->needs[r].stores >= 0) {
			lead = b;
			cj_lower_lead(l, &lead, l->s.role_of[r]);
			cj_emit0(&lead, CJ_OP_BULK_WAIT_READ, 0,
			    (uint32_t)l->needs[r].stores);
		}
		if (l->needs[r].wait >= 0)
			cj_emit0(&b, CJ_OP_CP_WAIT, 0,
			    (uint32_t)l->needs[r].wait);
		if (l->needs[r].wait >= 0 && fences)
			cj_emit0(&b, CJ_OP_FENCE, 0, CJ_FENCE_ASYNC_SHARED);
		if (l->needs[r].barrier)
			cj_lower_barrier(l, &b, l->s.role_of[r]);
	}
}

/* ---- cursors ------------------------------------------------------------- */

enum { MOST_SCALES = 32 };

/* Slots of one side of a pipeline, each in its own unit. */
struct cursors {
	uint32_t count;
	int64_t scale[MOST_SCALES];
	uint32_t slot[MOST_SCALES];
};

/* The constant that a multiplication multiplies the index with, or 0. */
static int64_t
scale_of(const struct cj_module *m, cj_ref user, cj_ref index)
{
	const struct cj_inst *i = cj_inst(m, user);
	const struct cj_constant *c;

	if (i->op != CJ_OP_MUL)
		return 0;
	c = cj_constant_of(m, cj_operand(m, i, cj_operand(m, i, 0) == index));
	return c == NULL ? 0 : (int64_t)c->bits[0];
}

static void
add_scale(const struct cj_lower *l, struct cursors *c, int64_t scale)
{
	uint32_t i;

	for (i = 0; i < c->count; i++)
		if (c->scale[i] == scale)
			return;
	if (c->count == MOST_SCALES)
		cj_bug(l->m->arena->recover, "a stage has too many fields");
	c->scale[c->count++] = scale;
}

static uint32_t
slot_of(const struct cursors *c, int64_t scale)
{
	uint32_t i = 0;

	while (i < c->count && c->scale[i] != scale)
		i++;
	assert(i < c->count);
	return c->slot[i];
}

/* All uses of a stage's number on one side. */
static void
find_scales(struct cj_lower *l, uint32_t pipeline, enum cj_op side,
    struct cursors *c)
{
	const struct cj_module *m = l->m;
	cj_ref r, index;
	unsigned n;
	int64_t scale;

	for (r = 1; r < l->s.count; r++) {
		const struct cj_inst *i = cj_inst(m, r);

		for (n = 0; n < i->operand_count; n++) {
			cj_ref block;

			index = cj_operand(m, i, n);
			block = index < l->s.count ? l->s.stage_of[index] : 0;
			if (cj_inst(m, index)->op != CJ_OP_INDEX ||
			    block == 0 || cj_inst(m, block)->op != side ||
			    cj_lower_use(l, block)->pipeline != pipeline ||
			    l->s.home[r] == 0)
				continue;
			scale = scale_of(m, r, index);
			add_scale(l, c, scale > 0 ? scale : 1);
		}
	}
}

static cj_ref
first_place(const struct cj_module *m, cj_region g)
{
	cj_ref first = m->regions.at[g].first;

	return first != 0 && cj_region_has_index(m, g) ?
	    cj_inst(m, first)->next : first;
}

static void
make_cursor(struct cj_lower *l, const struct cj_pipeline *p,
    struct cursors *c, uint32_t i)
{
	struct cj_object o = { .kind = CJ_OBJECT_SLOT, .align = 1,
	    .element = CJ_KIND_INDEX, .extent = 1, .reads = true,
	    .writes = true, .region = p->region, .place = p->place };
	struct cj_builder b = { .module = l->m, .region = p->region,
	    .place = p->place };
	struct cj_access a = { 0 };
	cj_ref zero;

	o.name = cj_printf(l->m->arena, "%s.cursor", p->name);
	o.most = (p->stages - 1) * c->scale[i];
	o.multiple = c->scale[i];
	a.object = c->slot[i] = cj_module_object(l->m, &o);
	b.before = first_place(l->m, p->region);
	zero = cj_emit_index(&b, 0);
	cj_emit(&b, CJ_OP_SLOT_SET, 0, cj_module_access(l->m, &a), &zero, 1);
}

/* Count on, and begin again behind the last stage. */
static void
advance(struct cj_builder *b, cj_ref value, int64_t scale, uint32_t stages,
    uint32_t access)
{
	const cj_type t = cj_type_of(CJ_KIND_INDEX, 1);
	cj_ref by = cj_emit_index(b, scale), zero = cj_emit_index(b, 0);
	cj_ref end = cj_emit_index(b, scale * (stages - 1)), next, last;

	last = cj_emit2(b, CJ_OP_EQ, cj_type_of(CJ_KIND_BOOL, 1), value, end);
	next = cj_emit2(b, CJ_OP_ADD, t, value, by);
	next = cj_emit3(b, CJ_OP_SELECT, t, last, zero, next);
	cj_emit(b, CJ_OP_SLOT_SET, 0, access, &next, 1);
}

/* Products of the index become the value of their cursor. */
static void
replace_products(struct cj_lower *l, cj_ref index, int64_t scale, cj_ref with)
{
	struct cj_module *m = l->m;
	cj_ref r;
	unsigned n;

	for (r = 1; r < l->s.count; r++)
		for (n = 0; n < cj_inst(m, r)->operand_count; n++)
			if (cj_operand(m, cj_inst(m, r), n) == index &&
			    scale_of(m, r, index) == scale) {
				cj_replace_uses(m, r, with);
				cj_inst_remove(m, l->s.home[r], r);
				break;
			}
}

static void
take_cursors(struct cj_lower *l, cj_ref r, const struct cursors *c)
{
	struct cj_module *m = l->m;
	const struct cj_stage_use *u = cj_lower_use(l, r);
	cj_region g = cj_inst(m, r)->region;
	cj_ref index = m->regions.at[g].first, value;
	uint32_t stages = m->pipelines.at[u->pipeline].stages, i;
	struct cj_builder b = { .module = m, .region = g,
	    .place = cj_inst(m, r)->place };

	for (i = 0; i < c->count; i++) {
		struct cj_access a = { .object = slot_of(c, c->scale[i]) };
		uint32_t access = cj_module_access(m, &a);

		b.before = cj_inst(m, index)->next;
		value = cj_emit0(&b, CJ_OP_SLOT_GET,
		    cj_type_of(CJ_KIND_INDEX, 1), access);
		if (!u->keep)
			advance(&b, value, c->scale[i], stages, access);
		replace_products(l, index, c->scale[i], value);
		if (c->scale[i] == 1)
			cj_replace_uses(m, index, value);
	}
}

/* One stage: its number is 0. */
static void
take_zero(struct cj_lower *l, cj_ref r)
{
	struct cj_module *m = l->m;
	cj_region g = cj_inst(m, r)->region;
	cj_ref index = m->regions.at[g].first, zero;
	struct cj_builder b = { .module = m, .region = g,
	    .place = cj_inst(m, r)->place,
	    .before = cj_inst(m, index)->next };

	zero = cj_emit_index(&b, 0);
	cj_replace_uses(m, index, zero);
}

/* ---- blocks -------------------------------------------------------------- */

static bool
is_store_of(const struct cj_lower *l, cj_ref r, cj_ref block)
{
	return l->s.home[r] != 0 && cj_inst(l->m, r)->op == CJ_OP_TMA_STORE &&
	    cj_site_of(&l->s, r, 0) == block;
}

/* Stores by TMA are the role's leader's, and each block's are a group. */
static void
lead_stores(struct cj_lower *l, cj_ref block)
{
	cj_region g = cj_inst(l->m, block)->region;
	uint32_t role = l->s.role_of[block];
	struct cj_builder b = cj_lower_at(l, g, 0, block);
	bool some = false;
	cj_ref r;

	for (r = 1; r < l->s.count; r++)
		if (is_store_of(l, r, block)) {
			cj_lower_lead_one(l, r, role);
			some = true;
		}
	if (!some)
		return;
	cj_lower_lead(l, &b, role);
	cj_emit0(&b, CJ_OP_BULK_COMMIT, 0, 0);
	l->roles[role].has_stores = true;
}

/* The block of a stage is what it was, but for its index. */
static void
lower_block(struct cj_lower *l, cj_ref r)
{
	struct cj_module *m = l->m;
	struct cj_inst *i = cj_inst(m, r);
	uint32_t p = cj_lower_use(l, r)->pipeline;
	cj_region g = i->region;
	struct cj_builder b = { .module = m, .region = l->s.home[r],
	    .place = i->place, .before = i->next };

	if (i->op == CJ_OP_CONSUME)
		lead_stores(l, r);
	else if (l->has_copies[p])
		cj_emit0(&b, CJ_OP_CP_COMMIT, 0, 0);
	if (cj_inst(m, r)->op == CJ_OP_PRODUCE && is_read_async(l, p) &&
	    l->s.channels[p].writes[l->s.role_of[r]] &
	    (CJ_BY_THREAD | CJ_BY_LANE)) {
		b.region = g;
		b.before = 0;
		cj_emit0(&b, CJ_OP_FENCE, 0, CJ_FENCE_ASYNC_SHARED);
	}
	cj_inst_remove(m, g, m->regions.at[g].first);
	i = cj_inst(m, r);		/* the table may have moved */
	i->op = i->operand_count > 0 ? CJ_OP_IF : CJ_OP_SCOPE;
	i->attr = 0;
}

static void
lower_pipeline(struct cj_lower *l, uint32_t p)
{
	const struct cj_pipeline *record = &l->m->pipelines.at[p];
	static const enum cj_op sides[] = { CJ_OP_PRODUCE, CJ_OP_CONSUME };
	uint32_t i;
	unsigned side;
	cj_ref r;

	for (side = 0; side < CJ_LENGTH(sides); side++) {
		struct cursors c = { 0 };

		if (record->stages > 1)
			find_scales(l, p, sides[side], &c);
		for (i = 0; i < c.count; i++)
			make_cursor(l, record, &c, i);
		for (r = 1; r < l->s.count; r++) {
			if (l->s.home[r] == 0 || cj_inst(l->m, r)->op !=
			    sides[side] || cj_lower_use(l, r)->pipeline != p)
				continue;
			if (record->stages > 1)
				take_cursors(l, r, &c);
			else
				take_zero(l, r);
		}
	}
}

/* Nobody writes what a store still reads, and the block does not end. */
static void
wait_for_stores(struct cj_lower *l, uint32_t role)
{
	const struct cj_lower_role *r = &l->roles[role];
	struct cj_builder b = { .module = l->m, .region = r->region,
	    .place = l->m->functions.at[l->s.function].place };
	cj_ref last = l->m->regions.at[r->region].last;

	if (last != 0 && cj_op_info[cj_inst(l->m, last)->op].effects ==
	    CJ_EFFECTS_EXIT)
		b.before = last;
	cj_lower_lead(l, &b, role);
	cj_emit0(&b, CJ_OP_BULK_WAIT_READ, 0, 0);
}

static void
lower_rings(struct cj_lower *l)
{
	struct cj_module *m = l->m;
	uint32_t p;
	cj_ref r;

	find_rings(l);
	choose_moves(l);
	put_needs(l);
	for (p = 1; p < m->pipelines.len; p++)
		if (is_ring(l, p))
			lower_pipeline(l, p);
	for (r = 1; r < l->s.count; r++) {
		if (l->s.home[r] == 0)
			continue;
		if (is_of_ring(l, r))
			lower_block(l, r);
		else if (cj_inst(m, r)->op == CJ_OP_SETTLE &&
		    is_ring(l, cj_lower_use(l, r)->pipeline))
			cj_inst_remove(m, l->s.home[r], r);
	}
	for (p = 0; p < m->roles.len; p++)
		if (l->roles[p].has_stores)
			wait_for_stores(l, p);
}

static void
lower_function(struct cj_module *m, uint32_t function)
{
	struct cj_lower l = { .m = m };

	l.s.function = function;
	cj_sites_find(&l.s, m, function);
	cj_lower_find_roles(&l);
	lower_rings(&l);
	cj_sites_find(&l.s, m, function);
	cj_lower_channels(&l);
	cj_sites_find(&l.s, m, function);
	cj_lower_orders(&l);
	cj_lower_roles(&l);
}

void
cj_opt_lower_async(struct cj_module *m)
{
	uint32_t f;

	for (f = 1; f < m->functions.len && (m->pipelines.len > 1 ||
	    m->roles.len > 1); f++)
		if (m->functions.at[f].kind == CJ_FUNCTION_DEVICE)
			lower_function(m, f);
	m->pipelines.len = 1;
	m->orders.len = 1;
	m->is_lowered = true;
}
