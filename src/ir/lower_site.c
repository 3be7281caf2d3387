/*
 * Where pipelines are used, by which role, and by which engines.
 *
 * A pipeline that one role fills and reads by itself, by stores and cp.async,
 * is a ring: program order, groups and barriers of the role do the work. Any
 * other one is a channel, whose stages have mbarriers: another role reads it,
 * TMA fills it, or a lane of another block of the cluster.
 */
#include "lower_priv.h"

static bool
is_block(const struct cj_inst *i)
{
	return i->op == CJ_OP_PRODUCE || i->op == CJ_OP_CONSUME;
}

/* The block whose stage a value is made of: its region's index, and on. */
static cj_ref
find_stage(const struct cj_sites *s, cj_ref r, cj_region region)
{
	const struct cj_inst *i = cj_inst(s->m, r);
	cj_ref owner = s->m->regions.at[region].owner, from;
	unsigned n;

	if (i->op == CJ_OP_INDEX)
		return is_block(cj_inst(s->m, owner)) ? owner : 0;
	for (n = 0; n < i->operand_count && i->type != 0; n++) {
		from = s->stage_of[cj_operand(s->m, i, n)];
		if (from != 0)
			return from;
	}
	return 0;
}

/* The role around a region, 0: none. Its owner has been seen. */
static uint32_t
find_role(const struct cj_sites *s, cj_region g)
{
	cj_ref owner = s->m->regions.at[g].owner;

	if (owner == 0)
		return 0;
	return cj_inst(s->m, owner)->op == CJ_OP_ROLE ?
	    cj_inst(s->m, owner)->attr : s->role_of[owner];
}

static unsigned
engine_of(const struct cj_inst *i)
{
	switch ((unsigned)i->op) {
	case CJ_OP_TMA_LOAD: case CJ_OP_TMA_STORE: return CJ_BY_TMA;
	case CJ_OP_WGMMA: return CJ_BY_WGMMA;
	case CJ_OP_CP_ASYNC: return CJ_BY_COPY;
	}
	return CJ_BY_THREAD;
}

/* The innermost block of a pipeline around an instruction. */
static cj_ref
block_around(const struct cj_sites *s, cj_ref r, uint32_t p)
{
	const struct cj_module *m = s->m;
	cj_region g = s->home[r];
	cj_ref at;

	for (; g != 0; g = m->regions.at[g].parent) {
		at = m->regions.at[g].owner;
		if (at != 0 && is_block(cj_inst(m, at)) && m->stage_uses.at[
		    cj_inst(m, at)->attr].pipeline == p)
			return at;
	}
	return 0;
}

/* Its offset is made of the stage's number; but for a pipeline of one stage,
 * whose number is 0. */
cj_ref
cj_site_of(const struct cj_sites *s, cj_ref r, unsigned n)
{
	const struct cj_inst *i = cj_inst(s->m, r);
	/* of a product: the sum, B, A, which may have no offset */
	unsigned operand = i->op == CJ_OP_WGMMA && n == 1 &&
	    cj_wgmma_has_offset(s->m, &s->m->wgmmas.at[i->attr]) ? 1 : 0;
	struct cj_touch touches[CJ_TOUCHES];
	uint32_t p;
	cj_ref offset;

	if (n >= cj_touches(s->m, i, touches))
		return 0;
	p = s->owner[touches[n].access->object];
	if (p == 0 || operand >= i->operand_count)
		return 0;
	offset = cj_operand(s->m, i, operand);
	if (offset < s->count && s->stage_of[offset] != 0)
		return s->stage_of[offset];
	return block_around(s, r, p);
}

bool
cj_site_is_lane(const struct cj_sites *s, cj_ref r)
{
	const struct cj_inst *i;
	cj_ref at = r;

	while ((at = s->m->regions.at[s->home[at]].owner) != 0) {
		i = cj_inst(s->m, at);
		if (i->op == CJ_OP_PRODUCE &&
		    s->m->stage_uses.at[i->attr].by_lane)
			return true;
	}
	return false;
}

static void
note_touches(struct cj_sites *s, cj_ref r, uint32_t role)
{
	const struct cj_inst *i = cj_inst(s->m, r);
	struct cj_touch touches[CJ_TOUCHES];
	unsigned n = cj_touches(s->m, i, touches), k;
	unsigned engine = engine_of(i);

	for (k = 0; k < n; k++) {
		uint32_t p = s->owner[touches[k].access->object];
		struct cj_channel *c = &s->channels[p];

		if (p == 0)
			continue;
		if (touches[k].writes)
			c->writes[role] |= (uint8_t)(engine == CJ_BY_THREAD &&
			    cj_site_is_lane(s, r) ? CJ_BY_LANE : engine);
		if (touches[k].reads)
			c->reads[role] |= (uint8_t)engine;
	}
}

static void
note_use(struct cj_sites *s, const struct cj_inst *i, uint32_t role)
{
	struct cj_channel *c = &s->channels[s->m->stage_uses.at[i->attr]
	    .pipeline];

	if (i->op == CJ_OP_PRODUCE)
		c->produces[role] = true;
	else if (i->op == CJ_OP_CONSUME || i->op == CJ_OP_SKIP)
		c->consumes[role] = true;
}

static void
make_tables(struct cj_sites *s)
{
	struct cj_module *m = s->m;
	uint32_t p, i;

	s->count = m->insts.len;
	s->home = CJ_NEWS(m->arena, cj_region, m->insts.len);
	s->stage_of = CJ_NEWS(m->arena, cj_ref, m->insts.len);
	s->role_of = CJ_NEWS(m->arena, uint32_t, m->insts.len);
	s->owner = CJ_NEWS(m->arena, uint32_t, m->objects.len);
	s->channels = CJ_NEWS(m->arena, struct cj_channel, m->pipelines.len);
	for (p = 0; p < m->pipelines.len; p++) {
		struct cj_channel *c = &s->channels[p];

		c->writes = CJ_NEWS(m->arena, uint8_t, m->roles.len);
		c->reads = CJ_NEWS(m->arena, uint8_t, m->roles.len);
		c->produces = CJ_NEWS(m->arena, bool, m->roles.len);
		c->consumes = CJ_NEWS(m->arena, bool, m->roles.len);
		for (i = 0; p != 0 && i < m->pipelines.at[p].field_count; i++)
			s->owner[m->pipelines.at[p].fields[i]] = p;
	}
}

static void
judge(struct cj_sites *s, uint32_t p)
{
	const int64_t *cluster = s->m->functions.at[s->function].cluster;
	struct cj_channel *c = &s->channels[p];
	bool is_far = cluster[0] > 1 || cluster[1] > 1;
	uint32_t r, roles = 0;

	for (r = 0; r < s->m->roles.len; r++) {
		roles += c->produces[r] || c->consumes[r];
		c->is_channel |= (c->writes[r] & CJ_BY_TMA) != 0 ||
		    (c->writes[r] & CJ_BY_LANE && is_far);
	}
	c->is_channel |= roles > 1;
}

void
cj_sites_find(struct cj_sites *s, struct cj_module *m, uint32_t function)
{
	const struct cj_inst *i;
	struct cj_walk w;
	uint32_t p;

	memset(s, 0, sizeof *s);
	s->m = m;
	s->function = function;
	make_tables(s);
	w = cj_walk_begin(m, m->functions.at[function].body);
	while ((i = cj_walk_inst(&w)) != NULL) {
		s->home[w.ref] = w.region;
		s->stage_of[w.ref] = find_stage(s, w.ref, w.region);
		s->role_of[w.ref] = find_role(s, w.region);
		s->has_roles |= i->op == CJ_OP_ROLE;
		if (cj_op_info[i->op].attr == CJ_ATTR_STAGE)
			note_use(s, i, s->role_of[w.ref]);
		note_touches(s, w.ref, s->role_of[w.ref]);
	}
	for (p = 1; p < m->pipelines.len; p++)
		judge(s, p);
}
