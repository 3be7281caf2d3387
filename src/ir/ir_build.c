/*
 * Building modules: tables, instructions, regions.
 *
 * Constants, positions, conversions, texts and places are interned: equal ones
 * get one index. The table for that lies behind the module in memory, where
 * only this file sees it.
 */
#include "ir_priv.h"

/* What an index of the intern table means. */
enum tag { TAG_CONSTANT, TAG_POSITIONS, TAG_CONVERSION, TAG_TEXT, TAG_PLACE };

struct entry {
	uint64_t hash;
	uint32_t tag, index;	/* index 0: free */
};

struct whole {
	struct cj_module m;	/* first: a module is one of these */
	struct entry *slots;	/* open addressing, a power of two */
	uint32_t slot_count, used;
};

enum { FIRST_SLOTS = 64 };

#define UNUSED_FIRST(a, vec)						\
	memset(cj_push((a), (vec)), 0, sizeof *(vec)->at)

struct cj_module *
cj_module_create(struct cj_arena *a, const char *name,
    const struct cj_target *target)
{
	struct whole *w = CJ_NEW(a, struct whole);
	struct cj_module *m = &w->m;

	m->arena = a;
	m->name = cj_strdup(a, name);
	m->target = target;
	UNUSED_FIRST(a, &m->insts);
	UNUSED_FIRST(a, &m->regions);
	UNUSED_FIRST(a, &m->pool);
	UNUSED_FIRST(a, &m->constants);
	UNUSED_FIRST(a, &m->objects);
	UNUSED_FIRST(a, &m->accesses);
	UNUSED_FIRST(a, &m->copies);
	UNUSED_FIRST(a, &m->pipelines);
	UNUSED_FIRST(a, &m->roles);
	UNUSED_FIRST(a, &m->orders);
	UNUSED_FIRST(a, &m->stage_uses);
	UNUSED_FIRST(a, &m->maps);
	UNUSED_FIRST(a, &m->tmas);
	UNUSED_FIRST(a, &m->bulks);
	UNUSED_FIRST(a, &m->wgmmas);
	UNUSED_FIRST(a, &m->tmem_uses);
	UNUSED_FIRST(a, &m->tcgen05s);
	UNUSED_FIRST(a, &m->positions);
	UNUSED_FIRST(a, &m->conversions);
	UNUSED_FIRST(a, &m->requires);
	UNUSED_FIRST(a, &m->launches);
	UNUSED_FIRST(a, &m->arrays);
	UNUSED_FIRST(a, &m->expects);
	UNUSED_FIRST(a, &m->calls);
	UNUSED_FIRST(a, &m->mmas);
	UNUSED_FIRST(a, &m->texts);
	UNUSED_FIRST(a, &m->places);
	UNUSED_FIRST(a, &m->functions);
	m->conversions.at[0].is_default = true;
	w->slot_count = FIRST_SLOTS;
	w->slots = CJ_NEWS(a, struct entry, w->slot_count);
	return m;
}

/* ---- interning ----------------------------------------------------------- */

static uint64_t
mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 29;
}

static void
intern_grow(struct whole *w)
{
	struct entry *old = w->slots;
	uint32_t count = w->slot_count, i, at;

	w->slot_count = count * 2;
	w->slots = CJ_NEWS(w->m.arena, struct entry, w->slot_count);
	for (i = 0; i < count; i++) {
		if (old[i].index == 0)
			continue;
		at = (uint32_t)old[i].hash & (w->slot_count - 1);
		while (w->slots[at].index != 0)
			at = (at + 1) & (w->slot_count - 1);
		w->slots[at] = old[i];
	}
}

static bool
is_same(const struct cj_module *m, const struct entry *e, const void *key)
{
	switch ((enum tag)e->tag) {
	case TAG_CONSTANT: {
		const struct cj_constant *k = key;
		const struct cj_constant *c = &m->constants.at[e->index];

		return c->type == k->type && memcmp(c->bits, k->bits,
		    cj_type_count(k->type) * sizeof *k->bits) == 0;
	}
	case TAG_POSITIONS: {
		const struct cj_positions *k = key;
		const struct cj_positions *p = &m->positions.at[e->index];

		return p->count == k->count && (k->count == 0 ||
		    memcmp(p->at, k->at, k->count * sizeof *k->at) == 0);
	}
	case TAG_CONVERSION: {
		const struct cj_conversion *k = key;
		const struct cj_conversion *c = &m->conversions.at[e->index];

		return c->rounding == k->rounding &&
		    c->saturate == k->saturate &&
		    c->is_default == k->is_default;
	}
	case TAG_TEXT:
		return strcmp(m->texts.at[e->index], key) == 0;
	case TAG_PLACE: {
		const struct cj_place_info *k = key;
		const struct cj_place_info *p = &m->places.at[e->index];

		return p->span.source == k->span.source &&
		    p->span.begin == k->span.begin &&
		    p->span.end == k->span.end && p->parent == k->parent &&
		    p->turn == k->turn;
	}
	}
	return false;
}

/* Where `key` is or belongs; an index of 0 there: the caller fills it in. */
static uint32_t *
intern(struct cj_module *m, enum tag tag, uint64_t hash, const void *key)
{
	struct whole *w = (struct whole *)m;
	uint32_t at;

	hash = mix(hash, tag);
	if (w->used >= w->slot_count / 2)
		intern_grow(w);
	at = (uint32_t)hash & (w->slot_count - 1);
	while (w->slots[at].index != 0) {
		if (w->slots[at].hash == hash && w->slots[at].tag == tag &&
		    is_same(m, &w->slots[at], key))
			return &w->slots[at].index;
		at = (at + 1) & (w->slot_count - 1);
	}
	w->used++;
	w->slots[at].hash = hash;
	w->slots[at].tag = tag;
	return &w->slots[at].index;
}

uint32_t
cj_module_constant(struct cj_module *m, cj_type t, const uint64_t *bits)
{
	uint32_t count = cj_type_count(t), i, *index;
	struct cj_constant key = { t, bits };
	uint64_t hash = t;

	assert(count > 0 && count <= CJ_MAX_REGISTERS);
	for (i = 0; i < count; i++)
		hash = mix(hash, bits[i]);
	index = intern(m, TAG_CONSTANT, hash, &key);
	if (*index == 0) {
		*index = m->constants.len;
		key.bits = cj_memdup(m->arena, bits, count * sizeof *bits);
		*cj_push(m->arena, &m->constants) = key;
	}
	return *index;
}

uint32_t
cj_module_positions(struct cj_module *m, const uint32_t *at, uint32_t count)
{
	struct cj_positions key = { count, at };
	uint64_t hash = count;
	uint32_t i, *index;

	for (i = 0; i < count; i++)
		hash = mix(hash, at[i]);
	index = intern(m, TAG_POSITIONS, hash, &key);
	if (*index == 0) {
		*index = m->positions.len;
		key.at = cj_memdup(m->arena, at, count * sizeof *at);
		*cj_push(m->arena, &m->positions) = key;
	}
	return *index;
}

uint32_t
cj_module_conversion(struct cj_module *m, struct cj_conversion c)
{
	uint32_t *index;

	if (c.is_default)
		return 0;
	index = intern(m, TAG_CONVERSION,
	    mix(c.rounding, c.saturate), &c);
	if (*index == 0) {
		*index = m->conversions.len;
		*cj_push(m->arena, &m->conversions) = c;
	}
	return *index;
}

uint32_t
cj_module_text(struct cj_module *m, const char *text)
{
	uint32_t *index;

	index = intern(m, TAG_TEXT, cj_hash64(text, strlen(text)), text);
	if (*index == 0) {
		*index = m->texts.len;
		*cj_push(m->arena, &m->texts) = cj_strdup(m->arena, text);
	}
	return *index;
}

cj_place
cj_module_place(struct cj_module *m, struct cj_span span, cj_place parent,
    int64_t turn)
{
	struct cj_place_info key = { span, parent, turn };
	uint64_t hash = mix(span.source, (uint64_t)span.begin << 32 | span.end);
	uint32_t *index;

	assert(parent < m->places.len && "a parent is older than its child");
	hash = mix(mix(hash, parent), (uint64_t)turn);
	index = intern(m, TAG_PLACE, hash, &key);
	if (*index == 0) {
		*index = m->places.len;
		*cj_push(m->arena, &m->places) = key;
	}
	return *index;
}

/* The table is short: a module has few different ones. */
uint32_t
cj_module_mma(struct cj_module *m, const char *atom, const char **why)
{
	struct cj_mma *made;
	uint32_t i;

	for (i = 1; i < m->mmas.len; i++)
		if (strcmp(m->mmas.at[i]->name, atom) == 0)
			return i;
	made = CJ_NEW(m->arena, struct cj_mma);
	*why = cj_mma_find(m->arena, atom, made);
	if (*why != NULL)
		return 0;
	*cj_push(m->arena, &m->mmas) = made;
	return m->mmas.len - 1;
}

/* ---- the other tables ---------------------------------------------------- */

uint32_t
cj_module_object(struct cj_module *m, const struct cj_object *o)
{
	assert(o->element != CJ_KIND_VOID && o->extent >= -1);
	*cj_push(m->arena, &m->objects) = *o;
	return m->objects.len - 1;
}

uint32_t
cj_module_access(struct cj_module *m, const struct cj_access *a)
{
	assert(a->object != 0 && a->object < m->objects.len);
	*cj_push(m->arena, &m->accesses) = *a;
	return m->accesses.len - 1;
}

uint32_t
cj_module_copy(struct cj_module *m, const struct cj_copy *c)
{
	assert(c->to != 0 && c->to < m->accesses.len);
	assert(c->from != 0 && c->from < m->accesses.len);
	*cj_push(m->arena, &m->copies) = *c;
	return m->copies.len - 1;
}

uint32_t
cj_module_pipeline(struct cj_module *m, const struct cj_pipeline *p)
{
	struct cj_pipeline kept = *p;

	assert(p->stages > 0 && p->stages <= CJ_MAX_STAGES);
	kept.fields = cj_memdup(m->arena, p->fields,
	    p->field_count * sizeof *p->fields);
	*cj_push(m->arena, &m->pipelines) = kept;
	return m->pipelines.len - 1;
}

uint32_t
cj_module_stage_use(struct cj_module *m, const struct cj_stage_use *u)
{
	assert(u->pipeline != 0 && u->pipeline < m->pipelines.len);
	*cj_push(m->arena, &m->stage_uses) = *u;
	return m->stage_uses.len - 1;
}

uint32_t
cj_module_role(struct cj_module *m, const struct cj_role *role)
{
	*cj_push(m->arena, &m->roles) = *role;
	return m->roles.len - 1;
}

uint32_t
cj_module_turns(struct cj_module *m, const struct cj_turns *o)
{
	*cj_push(m->arena, &m->orders) = *o;
	return m->orders.len - 1;
}

bool
cj_op_has_index(enum cj_op op)
{
	return op == CJ_OP_FOR || op == CJ_OP_ARRAY_MAP ||
	    op == CJ_OP_EXPECT || op == CJ_OP_PRODUCE || op == CJ_OP_CONSUME;
}

uint32_t
cj_module_map(struct cj_module *m, const struct cj_map *map)
{
	uint32_t i;

	for (i = 1; i < m->maps.len; i++)
		if (memcmp(&m->maps.at[i], map, sizeof *map) == 0)
			return i;
	*cj_push(m->arena, &m->maps) = *map;
	return m->maps.len - 1;
}

uint32_t
cj_module_tma(struct cj_module *m, const struct cj_tma_copy *c)
{
	*cj_push(m->arena, &m->tmas) = *c;
	return m->tmas.len - 1;
}

uint32_t
cj_module_bulk(struct cj_module *m, const struct cj_bulk_copy *c)
{
	*cj_push(m->arena, &m->bulks) = *c;
	return m->bulks.len - 1;
}

uint32_t
cj_module_wgmma(struct cj_module *m, const struct cj_wgmma *w)
{
	*cj_push(m->arena, &m->wgmmas) = *w;
	return m->wgmmas.len - 1;
}

uint32_t
cj_module_tmem(struct cj_module *m, const struct cj_tmem_use *u)
{
	*cj_push(m->arena, &m->tmem_uses) = *u;
	return m->tmem_uses.len - 1;
}

uint32_t
cj_module_tcgen05(struct cj_module *m, const struct cj_tcgen05 *t)
{
	*cj_push(m->arena, &m->tcgen05s) = *t;
	return m->tcgen05s.len - 1;
}

bool
cj_wgmma_has_offset(const struct cj_module *m, const struct cj_wgmma *w)
{
	return m->objects.at[m->accesses.at[w->a_at].object].kind !=
	    CJ_OBJECT_SLOT;
}

uint32_t
cj_wgmma_left(const struct cj_wgmma *w)
{
	return w->k / (w->selectors != 0 ? 4 : 2);
}

static unsigned
wgmma_touches(const struct cj_module *m, const struct cj_wgmma *w,
    struct cj_touch *out)
{
	unsigned n = 0;

	out[n++] = (struct cj_touch){ &m->accesses.at[w->sum], true, true };
	out[n++] = (struct cj_touch){ &m->accesses.at[w->b_at], true, false };
	out[n++] = (struct cj_touch){ &m->accesses.at[w->a_at], true, false };
	return n;
}

static unsigned
tmem_touches(const struct cj_module *m, const struct cj_inst *i,
    struct cj_touch *out)
{
	const struct cj_tmem_use *u = &m->tmem_uses.at[i->attr];
	bool loads = i->op == CJ_OP_TMEM_LOAD;

	out[0] = (struct cj_touch){ &m->accesses.at[u->tmem], true,
	    i->op != CJ_OP_TMEM_LOAD };
	if (u->other == 0)
		return 1;
	out[1] = (struct cj_touch){ &m->accesses.at[u->other],
	    i->op == CJ_OP_TMEM_COPY, loads || i->op == CJ_OP_TMEM_ALLOC };
	return 2;
}

static unsigned
tcgen05_touches(const struct cj_module *m, const struct cj_tcgen05 *t,
    struct cj_touch *out)
{
	unsigned n = 0;

	out[n++] = (struct cj_touch){ &m->accesses.at[t->d_at], true, true };
	out[n++] = (struct cj_touch){ &m->accesses.at[t->b_at], true, false };
	out[n++] = (struct cj_touch){ &m->accesses.at[t->a_at], true, false };
	return n;
}

static unsigned
bulk_touches(const struct cj_module *m, const struct cj_bulk_copy *c,
    struct cj_touch *out)
{
	unsigned n = 0;

	out[n++] = (struct cj_touch){ &m->accesses.at[c->to], c->reduces,
	    true };
	if (c->from != 0)
		out[n++] = (struct cj_touch){ &m->accesses.at[c->from], true,
		    false };
	if (c->signal != 0)
		out[n++] = (struct cj_touch){ &m->accesses.at[c->signal], true,
		    false };
	return n;
}

unsigned
cj_touches(const struct cj_module *m, const struct cj_inst *i,
    struct cj_touch out[CJ_TOUCHES])
{
	enum cj_effects effects = cj_op_info[i->op].effects;
	const struct cj_tma_copy *t;
	const struct cj_copy *c;

	switch ((unsigned)cj_op_info[i->op].attr) {
	case CJ_ATTR_ACCESS:
		out[0].access = &m->accesses.at[i->attr];
		out[0].writes = effects == CJ_EFFECTS_WRITE;
		out[0].reads = !out[0].writes || cj_op_is_atomic(i->op);
		return 1;
	case CJ_ATTR_WGMMA:
		return wgmma_touches(m, &m->wgmmas.at[i->attr], out);
	case CJ_ATTR_TMEM:
		return tmem_touches(m, i, out);
	case CJ_ATTR_TCGEN05:
		return tcgen05_touches(m, &m->tcgen05s.at[i->attr], out);
	case CJ_ATTR_TMA:
		t = &m->tmas.at[i->attr];
		out[0] = (struct cj_touch){ &m->accesses.at[t->shared],
		    i->op == CJ_OP_TMA_STORE, i->op == CJ_OP_TMA_LOAD };
		out[1] = (struct cj_touch){ &m->accesses.at[t->signal], true,
		    false };
		return t->signal == 0 ? 1 : 2;
	case CJ_ATTR_BULK:
		return bulk_touches(m, &m->bulks.at[i->attr], out);
	case CJ_ATTR_COPY:
		c = &m->copies.at[i->attr];
		out[0] = (struct cj_touch){ &m->accesses.at[c->to], false,
		    true };
		out[1] = (struct cj_touch){ &m->accesses.at[c->from], true,
		    false };
		return 2;
	}
	return 0;
}

bool
cj_inst_spreads(const struct cj_module *m, const struct cj_inst *i)
{
	if (i->op == CJ_OP_TMA_LOAD)
		return i->operand_count > 3 + cj_map_numbers(&m->maps.at[
		    m->tmas.at[i->attr].map]);
	return i->op == CJ_OP_BULK_COPY && i->operand_count > 4 &&
	    m->objects.at[m->accesses.at[m->bulks.at[i->attr].from].object]
	    .kind != CJ_OBJECT_SHARED;
}

bool
cj_inst_is_far(const struct cj_module *m, const struct cj_inst *i)
{
	switch ((unsigned)i->op) {
	case CJ_OP_REMOTE_LOAD: case CJ_OP_REMOTE_STORE:
	case CJ_OP_REMOTE_ATOMIC: case CJ_OP_SEND:
		return true;
	case CJ_OP_BULK_COPY:
		return i->operand_count > 4;
	case CJ_OP_MBARRIER_ARRIVE: case CJ_OP_MBARRIER_EXPECT:
		return i->operand_count > 2;
	case CJ_OP_TMA_LOAD:
		return cj_inst_spreads(m, i);
	}
	return false;
}

uint32_t
cj_module_function(struct cj_module *m, enum cj_function_kind kind,
    const char *name)
{
	struct cj_function f = { .kind = kind };

	f.name = cj_strdup(m->arena, name);
	f.body = cj_region_append(m, 0, 0);
	*cj_push(m->arena, &m->functions) = f;
	return m->functions.len - 1;
}

/* ---- instructions -------------------------------------------------------- */

void
cj_inst_link(struct cj_module *m, cj_region region, cj_ref r, cj_ref before)
{
	struct cj_region_info *g = &m->regions.at[region];
	struct cj_inst *i = cj_inst(m, r);

	assert(region != 0 && region < m->regions.len);
	i->next = before;
	i->prev = before == 0 ? g->last : cj_inst(m, before)->prev;
	if (i->prev == 0)
		g->first = r;
	else
		cj_inst(m, i->prev)->next = r;
	if (before == 0)
		g->last = r;
	else
		cj_inst(m, before)->prev = r;
}

cj_ref
cj_append(struct cj_module *m, cj_region region, const struct cj_inst *inst,
    const cj_ref *operands, uint32_t count)
{
	cj_ref r = m->insts.len;
	struct cj_inst i = *inst;
	uint32_t n;

	assert(count <= UINT16_MAX && "the operands fit in an instruction");
	i.operand_count = (uint16_t)count;
	i.operands = m->pool.len;
	i.region = 0;
	for (n = 0; n < count; n++)
		*cj_push(m->arena, &m->pool) = operands[n];
	*cj_push(m->arena, &m->insts) = i;
	cj_inst_link(m, region, r, 0);
	return r;
}

cj_ref
cj_emit(struct cj_builder *b, enum cj_op op, cj_type type, uint32_t attr,
    const cj_ref *operands, uint32_t count)
{
	struct cj_inst i = { .op = (uint16_t)op, .type = type, .attr = attr,
	    .place = b->place };
	cj_ref r = cj_append(b->module, b->region, &i, operands, count);

	assert(cj_rule_check(b->module, cj_inst(b->module, r)) == NULL);
	if (b->before != 0) {
		cj_inst_remove(b->module, b->region, r);
		cj_inst_link(b->module, b->region, r, b->before);
	}
	return r;
}

cj_ref
cj_emit0(struct cj_builder *b, enum cj_op op, cj_type t, uint32_t attr)
{
	return cj_emit(b, op, t, attr, NULL, 0);
}

cj_ref
cj_emit1(struct cj_builder *b, enum cj_op op, cj_type t, cj_ref x)
{
	return cj_emit(b, op, t, 0, &x, 1);
}

cj_ref
cj_emit2(struct cj_builder *b, enum cj_op op, cj_type t, cj_ref x, cj_ref y)
{
	const cj_ref operands[] = { x, y };

	return cj_emit(b, op, t, 0, operands, 2);
}

cj_ref
cj_emit3(struct cj_builder *b, enum cj_op op, cj_type t, cj_ref x, cj_ref y,
    cj_ref z)
{
	const cj_ref operands[] = { x, y, z };

	return cj_emit(b, op, t, 0, operands, 3);
}

cj_ref
cj_emit_bits(struct cj_builder *b, cj_type t, uint64_t each)
{
	uint32_t count = cj_type_count(t), i;
	uint64_t few[16], *bits = few;

	assert(count > 0 && count <= CJ_MAX_REGISTERS);
	if (count > CJ_LENGTH(few))
		bits = CJ_NEWS(b->module->arena, uint64_t, count);
	for (i = 0; i < count; i++)
		bits[i] = each;
	return cj_emit0(b, CJ_OP_CONST, t,
	    cj_module_constant(b->module, t, bits));
}

cj_ref
cj_emit_index(struct cj_builder *b, int64_t value)
{
	return cj_emit_bits(b, cj_type_of(CJ_KIND_INDEX, 1), (uint64_t)value);
}

cj_ref
cj_emit_bool(struct cj_builder *b, bool value)
{
	return cj_emit_bits(b, cj_type_of(CJ_KIND_BOOL, 1), value);
}

const struct cj_constant *
cj_constant_of(const struct cj_module *m, cj_ref r)
{
	const struct cj_inst *i = cj_inst(m, r);

	return i->op == CJ_OP_CONST ? &m->constants.at[i->attr] : NULL;
}

void
cj_inst_remove(struct cj_module *m, cj_region region, cj_ref r)
{
	struct cj_region_info *g = &m->regions.at[region];
	struct cj_inst *i = cj_inst(m, r);

	assert(region != 0 && region < m->regions.len);
	assert((i->prev != 0 || g->first == r) && "it stands in this region");
	if (i->prev != 0)
		cj_inst(m, i->prev)->next = i->next;
	else
		g->first = i->next;
	if (i->next != 0)
		cj_inst(m, i->next)->prev = i->prev;
	else
		g->last = i->prev;
	i->prev = i->next = 0;
}

void
cj_replace_uses(struct cj_module *m, cj_ref old, cj_ref with)
{
	uint32_t n;

	assert(old != 0 && with != 0);
	for (n = 1; n < m->pool.len; n++)
		if (m->pool.at[n] == old)
			m->pool.at[n] = with;
}

/* ---- regions ------------------------------------------------------------- */

cj_region
cj_region_append(struct cj_module *m, cj_ref owner, cj_region parent)
{
	struct cj_region_info g = { .owner = owner, .parent = parent };
	cj_region region = m->regions.len, *link;

	*cj_push(m->arena, &m->regions) = g;
	if (owner == 0)
		return region;
	link = &cj_inst(m, owner)->region;
	while (*link != 0)
		link = &m->regions.at[*link].next;
	*link = region;
	return region;
}

cj_region
cj_region_add(struct cj_builder *b, cj_ref owner, cj_ref *index)
{
	struct cj_module *m = b->module;
	cj_region first = cj_inst(m, owner)->region, region;
	enum cj_op op = cj_inst(m, owner)->op;
	cj_ref made = 0;

	assert(cj_op_info[op].effects == CJ_EFFECTS_REGION);
	region = cj_region_append(m, owner,
	    first != 0 ? m->regions.at[first].parent : b->region);
	if (cj_op_has_index(op)) {
		struct cj_inst i = { .op = CJ_OP_INDEX,
		    .type = cj_type_of(CJ_KIND_INDEX, 1), .place = b->place };

		made = cj_append(m, region, &i, NULL, 0);
	}
	if (index != NULL)
		*index = made;
	return region;
}
