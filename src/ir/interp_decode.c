/*
 * Decoding: a function, or the region of an array_map or expect, becomes flat
 * steps, and every value gets a place in the frame.
 *
 * Places are reused. A value dies with the instruction of its own region that
 * uses it last, where a use inside a nested region counts as a use by the
 * instruction that owns it: so what a loop reads lives until the loop ends.
 * Results are allotted before operands die, hence never overlap them. Ranges
 * are powers of two, kept in one list per size. Slots live as long as their
 * region. Constants and parameters are presets: written once per frame and
 * kept, up to a limit; beyond it a constant is a step.
 */
#include "interp_priv.h"

enum {
	MAX_PRESET_BYTES = 1 << 16,
	MAX_FRAME_BYTES = 1 << 30,
	MAX_DEPTH = 2000		/* nested regions */
};

struct cj_free {
	uint32_t offset;
	struct cj_free *next;
};

static cj_decode_fn *const decode_fns[CJ_OP_COUNT] = {
#define OP(name, text, least, most, rule, result, attr, effects, scope,	\
    engine, level) [CJ_OP_##name] = cj_interp_##name,
#include "ops.def"
#undef OP
};

/* ---- places in the frame ------------------------------------------------- */

static unsigned
size_class(const struct cj_decoder *d, uint32_t bytes)
{
	unsigned class = d->code->lanes == CJ_LANES_ONE ? 3 : 6;

	while (((uint64_t)1 << class) < bytes)
		class++;
	return class;
}

uint32_t
cj_decode_fresh(struct cj_decoder *d, uint32_t bytes)
{
	unsigned class = size_class(d, bytes);
	uint32_t offset = d->code->frame_bytes;

	if (((uint64_t)1 << class) > MAX_FRAME_BYTES - offset)
		cj_leave(d->arena->recover, CJ_WHY_MEMORY,
		    "a thread of \"%s\" needs more registers than the "
		    "executor has", d->module->name);
	d->code->frame_bytes += (uint32_t)1 << class;
	return offset;
}

uint32_t
cj_decode_range(struct cj_decoder *d, uint32_t bytes)
{
	struct cj_free **list = &d->free[size_class(d, bytes)];
	struct cj_free *f = *list;

	if (f == NULL)
		return cj_decode_fresh(d, bytes);
	*list = f->next;
	return f->offset;
}

void
cj_decode_release(struct cj_decoder *d, uint32_t offset, uint32_t bytes)
{
	unsigned class = size_class(d, bytes);
	struct cj_free *f = CJ_NEW(d->arena, struct cj_free);

	assert(offset != CJ_NO_OFFSET);
	assert(offset + ((uint64_t)1 << class) <= d->code->frame_bytes);
	f->offset = offset;
	f->next = d->free[class];
	d->free[class] = f;
}

uint32_t
cj_decode_result(struct cj_decoder *d, cj_ref r)
{
	cj_type t = cj_inst(d->module, r)->type;
	uint32_t *offset = &d->code->offset[r];

	if (t == 0)
		return CJ_NO_OFFSET;
	if (*offset == CJ_NO_OFFSET)
		*offset = cj_decode_range(d,
		    cj_value_bytes(t, d->code->lanes));
	return *offset;
}

/* A value from around a map becomes a preset that is copied to all lanes. */
static uint32_t
capture(struct cj_decoder *d, uint32_t outer, cj_type t)
{
	struct cj_capture *c = cj_push(d->arena, &d->code->captures);

	assert(outer != CJ_NO_OFFSET && d->outer != NULL);
	c->outer = outer;
	c->type = t;
	c->inner = cj_decode_fresh(d, cj_value_bytes(t, d->code->lanes));
	return c->inner;
}

uint32_t
cj_decode_operand(struct cj_decoder *d, cj_ref r, unsigned n)
{
	cj_ref v = cj_operand(d->module, cj_inst(d->module, r), n);
	uint32_t *offset = &d->code->offset[v];

	if (*offset == CJ_NO_OFFSET && d->outer != NULL)
		*offset = capture(d, d->outer->code->offset[v],
		    cj_inst(d->module, v)->type);
	if (*offset == CJ_NO_OFFSET)
		cj_bug(d->arena->recover, "%%%u uses %%%u, which has no value",
		    (unsigned)r, (unsigned)v);
	return *offset;
}

uint32_t
cj_decode_list(struct cj_decoder *d, cj_ref r, unsigned first)
{
	uint32_t at = d->code->lists.len;
	unsigned n;

	for (n = first; n < cj_inst(d->module, r)->operand_count; n++) {
		uint32_t offset = cj_decode_operand(d, r, n);

		*cj_push(d->arena, &d->code->lists) = offset;
	}
	return at;
}

uint32_t
cj_decode_slot(struct cj_decoder *d, uint32_t object)
{
	const struct cj_object *o = &d->module->objects.at[object];
	cj_type t = cj_type_of(o->element, (uint32_t)o->extent);
	uint32_t *offset = &d->code->slot[object];

	assert(o->kind == CJ_OBJECT_SLOT && o->extent > 0);
	if (*offset != CJ_NO_OFFSET)
		return *offset;
	if (d->outer != NULL)
		*cj_push(d->arena, &d->slots) = object;
	if (d->outer != NULL && d->outer->code->slot[object] != CJ_NO_OFFSET)
		*offset = capture(d, d->outer->code->slot[object], t);
	else if (o->region == 0 || d->outer != NULL)
		*offset = cj_decode_fresh(d,
		    cj_value_bytes(t, d->code->lanes));
	else
		*offset = cj_decode_range(d,
		    cj_value_bytes(t, d->code->lanes));
	return *offset;
}

/* ---- steps --------------------------------------------------------------- */

struct cj_step *
cj_step_add(struct cj_decoder *d, cj_ref r, cj_step_fn *run)
{
	struct cj_step *s = cj_push(d->arena, &d->code->steps);

	memset(s, 0, sizeof *s);
	s->run = run;
	s->ref = r;
	s->op = r == 0 ? CJ_OP_NONE : cj_inst(d->module, r)->op;
	s->dst = s->a = s->b = s->c = CJ_NO_OFFSET;
	return s;
}

struct cj_step *
cj_step_value(struct cj_decoder *d, cj_ref r, cj_step_fn *run)
{
	const struct cj_inst *i = cj_inst(d->module, r);
	uint32_t at[3] = { CJ_NO_OFFSET, CJ_NO_OFFSET, CJ_NO_OFFSET };
	uint32_t dst = cj_decode_result(d, r);
	struct cj_step *s;
	unsigned n;

	for (n = 0; n < i->operand_count && n < 3; n++)
		at[n] = cj_decode_operand(d, r, n);
	s = cj_step_add(d, r, run);
	s->dst = dst;
	s->a = at[0];
	s->b = at[1];
	s->c = at[2];
	s->n = cj_type_count(i->type) * d->code->lanes;
	s->kind = (uint8_t)cj_type_kind(i->type);
	return s;
}

void
cj_decode_exit(struct cj_decoder *d, struct cj_step *s)
{
	s->target = d->exits;
	d->exits = (uint32_t)(s - d->code->steps.at) + 1;
}

static void
bind_exits(struct cj_decoder *d)
{
	while (d->exits != 0) {
		struct cj_step *s = cj_decode_at(d, d->exits - 1);

		d->exits = s->target;
		s->target = cj_decode_pc(d);
	}
}

/* ---- lives --------------------------------------------------------------- */

/* Instructions of `region` and what it holds, in order of the program. */
static void
find_homes(struct cj_decoder *d, cj_region region)
{
	const struct cj_module *m = d->module;
	cj_ref r;
	cj_region inner;

	if (++d->depth > MAX_DEPTH)
		cj_bug(d->arena->recover, "regions are nested too deep");
	for (r = m->regions.at[region].first; r != 0; r = cj_inst(m, r)->next) {
		d->home[r] = region;
		for (inner = cj_inst(m, r)->region; inner != 0;
		    inner = m->regions.at[inner].next)
			find_homes(d, inner);
	}
	d->depth--;
}

static void
note_use(struct cj_decoder *d, cj_ref user, cj_ref value)
{
	if (d->home[value] == 0)
		return;			/* from around a map */
	assert(d->home[user] != 0);
	while (d->home[user] != d->home[value])
		user = d->module->regions.at[d->home[user]].owner;
	assert(user != 0);
	d->last_use[value] = user;
}

static void
find_uses(struct cj_decoder *d, cj_region region)
{
	const struct cj_module *m = d->module;
	cj_region inner;
	cj_ref r;
	unsigned n;

	for (r = m->regions.at[region].first; r != 0; r = cj_inst(m, r)->next) {
		const struct cj_inst *i = cj_inst(m, r);

		for (n = 0; n < i->operand_count; n++)
			note_use(d, r, cj_operand(m, i, n));
		for (inner = i->region; inner != 0;
		    inner = m->regions.at[inner].next)
			find_uses(d, inner);
	}
}

/* Lists of the values that die with an instruction. */
static void
find_deaths(struct cj_decoder *d, cj_region region)
{
	const struct cj_module *m = d->module;
	cj_region inner;
	cj_ref r;

	for (r = m->regions.at[region].first; r != 0; r = cj_inst(m, r)->next) {
		cj_ref at = d->last_use[r] != 0 ? d->last_use[r] : r;

		if (cj_inst(m, r)->type != 0) {
			d->dies_next[r] = d->dies_first[at];
			d->dies_first[at] = r;
		}
		for (inner = cj_inst(m, r)->region; inner != 0;
		    inner = m->regions.at[inner].next)
			find_deaths(d, inner);
	}
}

static bool
is_kept(const struct cj_decoder *d, cj_ref v)
{
	unsigned op = cj_inst(d->module, v)->op;

	return op == CJ_OP_INDEX || op == CJ_OP_PARAM || d->preset[v];
}

static void
release_dead(struct cj_decoder *d, cj_ref at)
{
	cj_ref v;

	for (v = d->dies_first[at]; v != 0; v = d->dies_next[v])
		if (!is_kept(d, v) && d->code->offset[v] != CJ_NO_OFFSET)
			cj_decode_release(d, d->code->offset[v],
			    cj_value_bytes(cj_inst(d->module, v)->type,
			    d->code->lanes));
}

/* ---- presets ------------------------------------------------------------- */

bool
cj_decode_preset(struct cj_decoder *d, cj_ref r)
{
	const struct cj_inst *i = cj_inst(d->module, r);
	uint32_t bytes = cj_value_bytes(i->type, d->code->lanes);
	bool is_const = i->op == CJ_OP_CONST;
	struct cj_preset *p;

	if (is_const && d->constant[i->attr] != CJ_NO_OFFSET) {
		d->code->offset[r] = d->constant[i->attr];
		d->preset[r] = true;
		return true;
	}
	if (is_const && bytes > MAX_PRESET_BYTES - d->preset_bytes)
		return false;
	assert(is_const || i->op == CJ_OP_PARAM);
	d->preset_bytes += is_const ? bytes : 0;
	d->preset[r] = true;
	p = cj_push(d->arena, &d->code->presets);
	p->ref = r;
	/* Not from the lists: earlier steps may still write such a range. */
	p->offset = d->code->offset[r] = cj_decode_fresh(d, bytes);
	if (is_const)
		d->constant[i->attr] = p->offset;
	return true;
}

/* ---- regions ------------------------------------------------------------- */

static void
open_slots(struct cj_decoder *d, cj_region region)
{
	uint32_t o;

	for (o = d->slot_first[region]; o != 0; o = d->slot_next[o])
		cj_decode_open_slot(d, o);
}

static void
close_slots(struct cj_decoder *d, cj_region region)
{
	uint32_t o;

	for (o = d->slot_first[region]; o != 0; o = d->slot_next[o])
		cj_decode_close_slot(d, o);
}

void
cj_decode_region(struct cj_decoder *d, cj_region region)
{
	const struct cj_module *m = d->module;
	uint32_t exits = d->exits;
	cj_ref r;

	d->exits = 0;
	open_slots(d, region);
	for (r = m->regions.at[region].first; r != 0; r = cj_inst(m, r)->next) {
		assert(cj_inst(m, r)->op < CJ_OP_COUNT);
		d->code->first[r] = cj_decode_pc(d);
		decode_fns[cj_inst(m, r)->op](d, r);
		release_dead(d, r);
	}
	close_slots(d, region);
	bind_exits(d);
	d->exits = exits;
}

/* ---- functions ----------------------------------------------------------- */

static uint32_t *
offsets(struct cj_arena *a, uint32_t count)
{
	uint32_t *at = CJ_NEWS(a, uint32_t, count + 1), i;

	for (i = 0; i <= count; i++)
		at[i] = CJ_NO_OFFSET;
	return at;
}

static void
list_slots(struct cj_decoder *d)
{
	const struct cj_module *m = d->module;
	uint32_t o;

	d->slot_first = CJ_NEWS(d->arena, uint32_t, m->regions.len + 1);
	d->slot_next = CJ_NEWS(d->arena, uint32_t, m->objects.len + 1);
	for (o = 1; o < m->objects.len; o++) {
		const struct cj_object *slot = &m->objects.at[o];

		if (slot->kind != CJ_OBJECT_SLOT || slot->region == 0)
			continue;
		d->slot_next[o] = d->slot_first[slot->region];
		d->slot_first[slot->region] = o;
	}
}

static void
step_end(struct cj_frame *f, const struct cj_step *s)
{
	(void)s;
	f->state = CJ_STATE_ENDED;
}

/* Tables of a decoder, by whatever the module has. */
static void
make_tables(struct cj_decoder *d)
{
	const struct cj_module *m = d->module;

	d->code->first = offsets(d->arena, m->insts.len);
	d->code->offset = offsets(d->arena, m->insts.len);
	d->code->slot = offsets(d->arena, m->objects.len);
	d->constant = offsets(d->arena, m->constants.len);
	d->preset = CJ_NEWS(d->arena, bool, m->insts.len + 1);
	d->home = CJ_NEWS(d->arena, cj_region, m->insts.len + 1);
	d->last_use = CJ_NEWS(d->arena, cj_ref, m->insts.len + 1);
	d->dies_first = CJ_NEWS(d->arena, cj_ref, m->insts.len + 1);
	d->dies_next = CJ_NEWS(d->arena, cj_ref, m->insts.len + 1);
}

static void
begin(struct cj_decoder *d, const struct cj_module *m, uint32_t lanes)
{
	struct cj_decoded *c = d->code;

	/* masks are whole words */
	assert(lanes == CJ_LANES_ONE || lanes % 8 == 0);
	d->module = m;
	c->module = m;
	c->lanes = lanes;
	c->frame_bytes = CJ_FRAME_MASK + (lanes < 64 ? 64 : lanes);
	c->unfinished = cj_decode_mask(d);
}

static void
decode_body(struct cj_decoder *d, cj_region body)
{
	find_homes(d, body);
	find_uses(d, body);
	find_deaths(d, body);
	cj_decode_region(d, body);
	cj_step_add(d, 0, step_end);
	d->code->frame_bytes = (d->code->frame_bytes + CJ_FRAME_ALIGN - 1)
	    & ~(uint32_t)(CJ_FRAME_ALIGN - 1);
}

/* Known data, as memory has it. */
static void
build_tables(struct cj_decoder *d)
{
	const struct cj_module *m = d->module;
	uint32_t o;
	int64_t i;

	d->code->tables = CJ_NEWS(d->arena, struct cj_memory,
	    m->objects.len + 1);
	for (o = 1; o < m->objects.len; o++) {
		const struct cj_object *table = &m->objects.at[o];
		struct cj_memory *to = &d->code->tables[o];

		if (table->kind != CJ_OBJECT_TABLE || table->data == NULL)
			continue;
		to->data = cj_alloc(d->arena,
		    cj_memory_bytes(table->element, table->extent));
		to->hi = table->extent;
		to->readable = true;
		for (i = 0; i < table->extent; i++)
			cj_memory_set(to, table->element, i, table->data[i]);
	}
}

struct cj_decoded *
cj_interp_decode(struct cj_arena *a, const struct cj_module *m,
    uint32_t function)
{
	struct cj_decoded *c = CJ_NEW(a, struct cj_decoded);
	struct cj_decoder d = { .arena = a, .code = c };
	const struct cj_function *fn;

	assert(function != 0 && function < m->functions.len);
	fn = &m->functions.at[function];
	c->function = function;
	begin(&d, m, fn->kind == CJ_FUNCTION_DEVICE ? CJ_LANES_WARP
	    : CJ_LANES_ONE);
	make_tables(&d);
	list_slots(&d);
	build_tables(&d);
	d.place = cj_decode_places(a, m, fn->body);
	decode_body(&d, fn->body);
	return c;
}

/* The regions of maps, of which a test has many, share their tables: each takes
 * them as they were made, and leaves them so. */
static void
borrow_tables(struct cj_decoder *d, struct cj_decoder *outer)
{
	struct cj_decoder *t = outer->inner;

	if (t == NULL) {
		t = outer->inner = CJ_NEW(d->arena, struct cj_decoder);
		t->arena = d->arena;
		t->module = d->module;
		t->code = CJ_NEW(d->arena, struct cj_decoded);
		make_tables(t);
	}
	d->code->first = outer->code->first;	/* each has its own entries */
	d->code->offset = t->code->offset;
	d->code->slot = t->code->slot;
	d->constant = t->constant;
	d->preset = t->preset;
	d->home = t->home;
	d->last_use = t->last_use;
	d->dies_first = t->dies_first;
	d->dies_next = t->dies_next;
	d->slot_first = outer->slot_first;
	d->slot_next = outer->slot_next;
}

static void
clear_value(struct cj_decoder *d, cj_ref v)
{
	d->code->offset[v] = CJ_NO_OFFSET;
	d->preset[v] = false;
	d->home[v] = 0;
	d->last_use[v] = d->dies_first[v] = d->dies_next[v] = 0;
}

static void
clear_tables(struct cj_decoder *d, cj_region region)
{
	const struct cj_module *m = d->module;
	cj_region inner;
	cj_ref r;
	unsigned n;

	for (r = m->regions.at[region].first; r != 0; r = cj_inst(m, r)->next) {
		const struct cj_inst *i = cj_inst(m, r);

		clear_value(d, r);
		for (n = 0; n < i->operand_count; n++)
			clear_value(d, cj_operand(m, i, n));
		if (i->op == CJ_OP_CONST)
			d->constant[i->attr] = CJ_NO_OFFSET;
		for (inner = i->region; inner != 0;
		    inner = m->regions.at[inner].next)
			clear_tables(d, inner);
	}
}

static void
give_tables_back(struct cj_decoder *d, cj_region region)
{
	uint32_t i;

	clear_tables(d, region);
	for (i = 0; i < d->slots.len; i++)
		d->code->slot[d->slots.at[i]] = CJ_NO_OFFSET;
	d->code->offset = d->code->slot = NULL;
}

uint32_t
cj_decode_inner(struct cj_decoder *outer, cj_ref owner)
{
	struct cj_decoded *c = CJ_NEW(outer->arena, struct cj_decoded);
	struct cj_decoder d = { .arena = outer->arena, .code = c };
	cj_region region = cj_inst(outer->module, owner)->region;

	if (outer->outer != NULL)
		cj_bug(outer->arena->recover, "a map stands in a map");
	d.outer = outer;
	d.self = owner;
	c->function = outer->code->function;
	begin(&d, outer->module, CJ_LANES_MAP);
	borrow_tables(&d, outer);
	c->tables = outer->code->tables;
	c->index = cj_decode_range(&d, sizeof(int64_t) * CJ_LANES_MAP);
	decode_body(&d, region);
	give_tables_back(&d, region);
	*cj_push(outer->arena, &outer->code->inner) = c;
	return outer->code->inner.len - 1;
}
