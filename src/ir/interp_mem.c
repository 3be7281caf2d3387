/*
 * Memory: loads, stores and atomics of vectors at offsets in elements.
 *
 * The common case, all lanes running and their vectors one after the other
 * inside the object, is one check and one copy. Everything else goes lane by
 * lane: bounds, rights, what was never written, races, packed elements.
 * A wrong load gives 0, a wrong store is dropped.
 */
#include "interp_priv.h"

/* ---- what an access is about --------------------------------------------- */

static struct cj_vectors
view_for(struct cj_frame *f, const struct cj_access *a)
{
	const struct cj_module *m = f->code->module;
	struct cj_vectors v = { .number = a->object,
	    .align = a->align == 0 ? 1 : a->align };
	unsigned bits;

	assert(a->object != 0 && a->object < m->objects.len);
	v.object = &m->objects.at[a->object];
	v.memory = &f->machine->memory[a->object];
	v.kind = v.object->element;
	bits = cj_stored_bits(v.kind);
	v.bytes = bits < 8 ? 0 : bits / 8;
	return v;
}

static struct cj_vectors
view_of(struct cj_frame *f, const struct cj_step *s, uint32_t mask)
{
	struct cj_vectors v = view_for(f, cj_step_access(f, s));

	v.width = s->n / f->lanes;
	v.offset = CJ_AT(f, int64_t, s->a);
	v.mask = mask == CJ_NO_OFFSET ? NULL : cj_mask(f, mask);
	return v;
}

static bool
is_aligned(const struct cj_vectors *v, int64_t offset)
{
	return v->bytes == 0 || v->align <= v->bytes
	    || ((uintptr_t)v->memory->data
	    + (uintptr_t)offset * v->bytes) % v->align == 0;
}

/* All lanes run and touch one range inside the object, in order. */
static bool
is_one_range(const struct cj_frame *f, const struct cj_vectors *v)
{
	const struct cj_memory *m = v->memory;
	int64_t first = v->offset[0], w = v->width;
	uint64_t wrong = 0;
	uint32_t i;

	if (!f->full || v->mask != NULL || v->bytes == 0
	    || w * v->bytes % v->align != 0)
		return false;
	for (i = 0; i < f->lanes; i++)
		wrong |= (uint64_t)v->offset[i]
		    ^ ((uint64_t)first + (uint64_t)i * (uint64_t)w);
	return wrong == 0 && first >= m->lo && first < m->hi
	    && m->hi - first >= w * f->lanes && is_aligned(v, first);
}

/* All lanes run and stay inside, in any order, with nothing else to look at. */
static bool
is_plain(const struct cj_frame *f, const struct cj_vectors *v)
{
	const struct cj_memory *m = v->memory;
	int64_t last = m->hi - v->width;
	bool inside = true;
	uint32_t i;

	if (!f->full || v->mask != NULL || v->bytes == 0
	    || v->align > v->bytes
	    || cj_race_watches(f->machine->race, v->number)
	    || f->machine->async != NULL)
		return false;
	for (i = 0; i < f->lanes; i++)
		inside &= (v->offset[i] >= m->lo) & (v->offset[i] <= last);
	return inside;
}

/* What the lanes of a plain load read, each by itself. */
static bool
are_written(const struct cj_frame *f, const struct cj_vectors *v)
{
	const struct cj_memory *m = v->memory;
	bool all = true;
	uint32_t i, j;

	if (m->written == NULL || !(f->machine->checks & CJ_CHECK_WRITTEN))
		return true;
	for (i = 0; i < f->lanes; i++)
		for (j = 0; j < v->width; j++)
			all &= m->written[v->offset[i] - m->lo + j] != 0;
	return all;
}

/* ---- checks of one lane -------------------------------------------------- */

static bool
is_inside(const struct cj_vectors *v, int64_t at)
{
	const struct cj_memory *m = v->memory;

	return at >= m->lo && at < m->hi && m->hi - at >= v->width;
}

static void
check_aligned(struct cj_frame *f, const struct cj_step *s,
    const struct cj_vectors *v, uint32_t lane)
{
	if (!is_aligned(v, v->offset[lane]))
		cj_report_misaligned(f, s, v, lane);
}

static bool
may_read(struct cj_frame *f, const struct cj_step *s,
    const struct cj_vectors *v, uint32_t lane)
{
	if (!is_inside(v, v->offset[lane])) {
		cj_report_outside(f, s, v, lane, "read");
		return false;
	}
	if (!v->memory->readable) {
		cj_report_right(f, s, v, lane, false);
		return false;
	}
	check_aligned(f, s, v, lane);
	return true;
}

static bool
may_write(struct cj_frame *f, const struct cj_step *s,
    const struct cj_vectors *v, uint32_t lane)
{
	if (!is_inside(v, v->offset[lane])) {
		cj_report_outside(f, s, v, lane, "written");
		return false;
	}
	if (!v->memory->writable) {
		cj_report_right(f, s, v, lane, true);
		return false;
	}
	check_aligned(f, s, v, lane);
	return true;
}

static void
check_written(struct cj_frame *f, const struct cj_step *s,
    const struct cj_vectors *v, uint32_t lane)
{
	const struct cj_memory *m = v->memory;
	const uint8_t *from, *hole;

	if (m->written == NULL || !(f->machine->checks & CJ_CHECK_WRITTEN))
		return;
	from = m->written + (v->offset[lane] - m->lo);
	hole = memchr(from, 0, v->width);
	if (hole != NULL)
		cj_report_unwritten(f, s, v, lane,
		    v->offset[lane] + (hole - from));
}

/* Of one range in order. */
static bool
is_all_written(const struct cj_frame *f, const struct cj_vectors *v)
{
	const struct cj_memory *m = v->memory;

	return m->written == NULL || !(f->machine->checks & CJ_CHECK_WRITTEN)
	    || memchr(m->written + (v->offset[0] - m->lo), 0,
	    (size_t)v->width * f->lanes) == NULL;
}

static void
mark_written(const struct cj_memory *m, int64_t at, size_t count,
    enum cj_written mark)
{
	if (m->written != NULL)
		memset(m->written + (at - m->lo), mark, count);
}

/* ---- moving -------------------------------------------------------------- */

/* One lane's vector between memory and its registers. */
#define MOVE(type, to, from)						\
	for (i = 0; i < v->width; i++)					\
		((type *)(void *)(to))[(to##_step) * i] =		\
		    ((const type *)(const void *)(from))[(from##_step) * i]

static void
move_by_bytes(const struct cj_vectors *v, char *to, size_t to_step,
    const char *from, size_t from_step)
{
	uint32_t i;

	switch (v->bytes) {
	case 1:
		MOVE(uint8_t, to, from);
		return;
	case 2:
		MOVE(uint16_t, to, from);
		return;
	case 4:
		MOVE(uint32_t, to, from);
		return;
	case 8:
		MOVE(uint64_t, to, from);
		return;
	}
	assert(0 && "an element has 1, 2, 4 or 8 bytes");
}

static void
fetch(struct cj_frame *f, const struct cj_step *s, const struct cj_vectors *v,
    uint32_t lane)
{
	const struct cj_memory *m = v->memory;
	int64_t at = v->offset[lane];
	uint32_t i;

	assert(is_inside(v, at) && m->readable);
	if (v->bytes != 0 && v->kind != CJ_KIND_BOOL) {
		move_by_bytes(v, f->regs + s->dst + lane * v->bytes, f->lanes,
		    m->data + at * (int64_t)v->bytes, 1);
		return;
	}
	for (i = 0; i < v->width; i++)
		cj_reg_set(f->regs + s->dst, i * f->lanes + lane, v->kind,
		    cj_memory_get(m, v->kind, at + i));
}

static void
deposit(struct cj_frame *f, const struct cj_step *s, const struct cj_vectors *v,
    uint32_t lane)
{
	const struct cj_memory *m = v->memory;
	int64_t at = v->offset[lane];
	uint32_t i;

	assert(is_inside(v, at) && m->writable);
	mark_written(m, at, v->width, s->from);
	if (v->bytes != 0) {
		move_by_bytes(v, m->data + at * (int64_t)v->bytes, 1,
		    f->regs + s->b + lane * v->bytes, f->lanes);
		return;
	}
	for (i = 0; i < v->width; i++)
		cj_memory_set(m, v->kind, at + i, cj_reg_get(f->regs + s->b,
		    i * f->lanes + lane, v->kind));
}

/* Registers of a lane from another value (fill), or 0. */
static void
fill_lane(struct cj_frame *f, const struct cj_step *s, uint32_t from,
    uint32_t lane)
{
	uint32_t i;

	for (i = lane; i < s->n; i += f->lanes)
		cj_reg_set(f->regs + s->dst, i, s->kind,
		    from == CJ_NO_OFFSET ? 0
		    : cj_reg_get(f->regs + from, i, s->kind));
}

static struct cj_touched_range
touched(struct cj_frame *f, const struct cj_step *s, const struct cj_vectors *v,
    uint32_t lane)
{
	return (struct cj_touched_range){ .object = v->number,
	    .width = v->width, .first = v->offset[lane],
	    .is_write = s->op == CJ_OP_STORE || s->op == CJ_OP_STMATRIX,
	    .is_atomic = s->op == CJ_OP_ATOMIC
	    || cj_step_access(f, s)->order != CJ_ORDER_WEAK };
}

static void
watch(struct cj_frame *f, const struct cj_step *s, const struct cj_vectors *v,
    uint32_t lane)
{
	cj_race_access(f, s, lane, touched(f, s, v, lane));
}

/* No copy in flight has to do with the range of all lanes. */
static bool
is_quiet(const struct cj_frame *f, const struct cj_vectors *v, bool writes)
{
	return cj_async_is_quiet(f, v->number, v->offset[0],
	    (int64_t)v->width * f->lanes, writes);
}

/* Reports what meets a copy in flight. */
static bool
meets_copy(struct cj_frame *f, const struct cj_step *s,
    const struct cj_vectors *v, uint32_t lane)
{
	struct cj_touched_range t = touched(f, s, v, lane);

	t.is_write = s->op != CJ_OP_LOAD && s->op != CJ_OP_LDMATRIX;
	return cj_async_meets(f, s, lane, t);
}

bool
cj_reach_may(struct cj_frame *f, const struct cj_step *s, uint32_t lane,
    struct cj_reach r, bool writes)
{
	struct cj_vectors v = view_for(f, r.access);
	int64_t at[CJ_LANES_WARP] = { 0 };

	assert(lane < CJ_LANES_WARP);
	v.width = r.width;
	v.offset = at;
	at[lane] = r.first;
	if (writes)
		return may_write(f, s, &v, lane);
	if (!may_read(f, s, &v, lane))
		return false;
	check_written(f, s, &v, lane);
	return true;
}

static void
watch_all(struct cj_frame *f, const struct cj_step *s,
    const struct cj_vectors *v)
{
	cj_race_access_all(f, s, touched(f, s, v, 0), v->offset);
}

/* Accesses that order others go lane by lane. */
static bool
is_weak(struct cj_frame *f, const struct cj_step *s)
{
	return f->machine->race == NULL
	    || cj_step_access(f, s)->order == CJ_ORDER_WEAK;
}

static struct cj_ordered
ordered(struct cj_frame *f, const struct cj_step *s, const struct cj_vectors *v,
    uint32_t lane)
{
	const struct cj_access *a = cj_step_access(f, s);

	return (struct cj_ordered){ .address = (uintptr_t)v->memory->data
	    + (uintptr_t)v->offset[lane] * v->bytes,
	    .is_shared = v->object->kind == CJ_OBJECT_SHARED,
	    .is_update = s->op == CJ_OP_ATOMIC, .order = a->order,
	    .scope = a->scope };
}

/* What an access of the first lanes costs, on demand. */
static void
count_first(struct cj_frame *f, const struct cj_step *s,
    const struct cj_vectors *v, uint32_t lanes)
{
	struct cj_touched_lanes t = { .bytes = v->width * v->bytes };
	uint32_t lane;

	if (f->machine->profile == NULL || v->bytes == 0)
		return;
	for (lane = 0; lane < lanes; lane++) {
		t.takes_part[lane] = cj_lane_runs(f, lane)
		    && (v->mask == NULL || v->mask[lane]);
		t.address[lane] = (uint64_t)v->offset[lane] * v->bytes;
	}
	cj_count_access(f, s, v->number, &t);
}

static void
count(struct cj_frame *f, const struct cj_step *s, const struct cj_vectors *v)
{
	count_first(f, s, v, f->lanes);
}

/* ---- load ---------------------------------------------------------------- */

static void
load_range(struct cj_frame *f, const struct cj_step *s,
    const struct cj_vectors *v)
{
	const char *from = v->memory->data
	    + v->offset[0] * (int64_t)v->bytes;
	uint32_t lane;

	if (v->width == 1) {
		memcpy(f->regs + s->dst, from, (size_t)s->n * v->bytes);
		return;
	}
	for (lane = 0; lane < f->lanes; lane++)
		move_by_bytes(v, f->regs + s->dst + lane * v->bytes, f->lanes,
		    from + (size_t)lane * v->width * v->bytes, 1);
}

#define GATHER(type)							\
	for (i = 0; i < f->lanes; i++)					\
		((type *)to)[i] = ((const type *)from)[v->offset[i]]

static void
gather(struct cj_frame *f, const struct cj_step *s, const struct cj_vectors *v)
{
	const void *from = v->memory->data;
	void *to = f->regs + s->dst;
	uint32_t i;

	if (v->width != 1) {
		for (i = 0; i < f->lanes; i++)
			fetch(f, s, v, i);
		return;
	}
	switch (v->bytes) {
	case 1:
		GATHER(uint8_t);
		return;
	case 2:
		GATHER(uint16_t);
		return;
	case 4:
		GATHER(uint32_t);
		return;
	case 8:
		GATHER(uint64_t);
		return;
	}
	assert(0 && "an element has 1, 2, 4 or 8 bytes");
}

/* a: offset, b: mask, c: fill. */
static void
step_load(struct cj_frame *f, const struct cj_step *s)
{
	struct cj_vectors v = view_of(f, s, s->b);
	uint32_t lane;

	count(f, s, &v);
	if (f->machine->test != NULL)
		cj_test_touch(f, v.number, false);
	if (is_weak(f, s) && is_one_range(f, &v) && v.kind != CJ_KIND_BOOL
	    && v.memory->readable && is_all_written(f, &v)
	    && is_quiet(f, &v, false)) {
		watch_all(f, s, &v);
		load_range(f, s, &v);
		return;
	}
	if (v.kind != CJ_KIND_BOOL && v.memory->readable && is_plain(f, &v)
	    && are_written(f, &v)) {
		gather(f, s, &v);
		return;
	}
	for (lane = 0; lane < f->lanes; lane++) {
		if (!cj_lane_runs(f, lane))
			continue;
		if (v.mask != NULL && !v.mask[lane]) {
			fill_lane(f, s, s->c, lane);
			continue;
		}
		if (!may_read(f, s, &v, lane)) {
			fill_lane(f, s, CJ_NO_OFFSET, lane);
			continue;
		}
		if (!meets_copy(f, s, &v, lane)) {
			check_written(f, s, &v, lane);
			watch(f, s, &v, lane);
		}
		fetch(f, s, &v, lane);
		if (!is_weak(f, s)) {
			const struct cj_ordered o = ordered(f, s, &v, lane);

			cj_clock_acquire(f, &o);
		}
	}
}

void
cj_interp_LOAD(struct cj_decoder *d, cj_ref r)
{
	cj_step_value(d, r, step_load);
}

static bool
takes_part(const struct cj_frame *f, const struct cj_vectors *v, uint32_t lane)
{
	return cj_lane_runs(f, lane)
	    && (v->mask == NULL || v->mask[lane]);
}

/* ---- store --------------------------------------------------------------- */

static void
store_range(struct cj_frame *f, const struct cj_step *s,
    const struct cj_vectors *v)
{
	char *to = v->memory->data + v->offset[0] * (int64_t)v->bytes;
	uint32_t lane;

	mark_written(v->memory, v->offset[0], (size_t)v->width * f->lanes,
	    s->from);
	if (v->width == 1) {
		memcpy(to, f->regs + s->b, (size_t)s->n * v->bytes);
		return;
	}
	for (lane = 0; lane < f->lanes; lane++)
		move_by_bytes(v, to + (size_t)lane * v->width * v->bytes, 1,
		    f->regs + s->b + lane * v->bytes, f->lanes);
}

/* Lanes of one step publish the same. */
static void
release(struct cj_frame *f, const struct cj_step *s, const struct cj_vectors *v,
    uint32_t lane, const struct cj_past **published)
{
	struct cj_ordered o;

	if (f->machine->race == NULL)
		return;
	o = ordered(f, s, v, lane);
	cj_clock_release(f, &o, published);
}

/* a: offset, b: value, c: mask. */
static void
step_store(struct cj_frame *f, const struct cj_step *s)
{
	struct cj_vectors v = view_of(f, s, s->c);
	const struct cj_past *published = NULL;
	uint32_t lane;

	count(f, s, &v);
	if (f->machine->test != NULL)
		cj_test_touch(f, v.number, true);
	if (is_weak(f, s) && is_one_range(f, &v) && v.memory->writable
	    && is_quiet(f, &v, true)) {
		watch_all(f, s, &v);
		store_range(f, s, &v);
		return;
	}
	if (v.memory->writable && is_plain(f, &v)) {
		for (lane = 0; lane < f->lanes; lane++)
			deposit(f, s, &v, lane);
		return;
	}
	for (lane = 0; lane < f->lanes; lane++) {
		if (!takes_part(f, &v, lane) || !may_write(f, s, &v, lane))
			continue;
		if (!meets_copy(f, s, &v, lane))
			watch(f, s, &v, lane);
		release(f, s, &v, lane, &published);
		deposit(f, s, &v, lane);
	}
}

/* The same number whoever computes it, and whenever? */
static bool
is_fixed(const struct cj_module *m, cj_ref value)
{
	const struct cj_inst *i = cj_inst(m, value);

	while (i->op == CJ_OP_SPLAT || i->op == CJ_OP_CONVERT)
		i = cj_inst(m, cj_operand(m, i, 0));
	return i->op == CJ_OP_CONST || i->op == CJ_OP_PARAM;
}

/* What is stored is operand n. */
static void
set_stored(struct cj_decoder *d, struct cj_step *s, cj_ref r, unsigned n)
{
	const struct cj_module *m = d->module;
	cj_ref value = cj_operand(m, cj_inst(m, r), n);
	cj_type t = cj_inst(m, value)->type;

	s->n = cj_type_count(t) * d->code->lanes;
	s->kind = (uint8_t)cj_type_kind(t);
	s->from = is_fixed(m, value) ? CJ_WRITTEN_PADDING : CJ_WRITTEN_DATA;
}

void
cj_interp_STORE(struct cj_decoder *d, cj_ref r)
{
	set_stored(d, cj_step_value(d, r, step_store), r, 1);
}

/* ---- memory of another block --------------------------------------------- */

/* The view as lane `lane` has it; false: there is no such block. */
static bool
find_block(struct cj_frame *f, const struct cj_step *s, int64_t rank,
    uint32_t lane, struct cj_vectors *v)
{
	const struct cj_cluster *c = f->machine->block->cluster;

	if (rank < 0 || rank >= c->count) {
		cj_fault_at(f, s, lane, CJ_DIAG_OUT_OF_BOUNDS, "\"%s\" of "
		    "block %lld is touched, in a cluster of %u",
		    cj_vectors_name(f, v), (long long)rank, (unsigned)c->count);
		return false;
	}
	v->memory = &c->blocks[rank]->machine.memory[v->number];
	return true;
}

static void
watch_of(struct cj_frame *f, const struct cj_step *s,
    const struct cj_vectors *v, uint32_t lane, int64_t rank)
{
	struct cj_touched_range t = touched(f, s, v, lane);

	t.is_write = s->op == CJ_OP_REMOTE_STORE;
	cj_race_access_of(f->machine->block->cluster->blocks[rank], f, s,
	    lane, t);
}

/* a: offset, b: rank. */
static void
step_remote_load(struct cj_frame *f, const struct cj_step *s)
{
	struct cj_vectors v = view_of(f, s, CJ_NO_OFFSET);
	const int64_t *rank = CJ_AT(f, int64_t, s->b);
	uint32_t lane;

	for (lane = 0; lane < f->lanes; lane++) {
		if (!cj_lane_runs(f, lane))
			continue;
		if (!find_block(f, s, rank[lane], lane, &v) ||
		    !may_read(f, s, &v, lane)) {
			fill_lane(f, s, CJ_NO_OFFSET, lane);
			continue;
		}
		check_written(f, s, &v, lane);
		watch_of(f, s, &v, lane, rank[lane]);
		fetch(f, s, &v, lane);
	}
}

void
cj_interp_REMOTE_LOAD(struct cj_decoder *d, cj_ref r)
{
	cj_step_value(d, r, step_remote_load);
}

/* a: offset, b: value, c: rank. */
static void
step_remote_store(struct cj_frame *f, const struct cj_step *s)
{
	struct cj_vectors v = view_of(f, s, CJ_NO_OFFSET);
	const int64_t *rank = CJ_AT(f, int64_t, s->c);
	uint32_t lane;

	for (lane = 0; lane < f->lanes; lane++) {
		if (!cj_lane_runs(f, lane) ||
		    !find_block(f, s, rank[lane], lane, &v) ||
		    !may_write(f, s, &v, lane))
			continue;
		watch_of(f, s, &v, lane, rank[lane]);
		deposit(f, s, &v, lane);
	}
}

void
cj_interp_REMOTE_STORE(struct cj_decoder *d, cj_ref r)
{
	struct cj_step *s = cj_step_value(d, r, step_remote_store);
	uint32_t rank = s->b;

	s->b = s->c;
	s->c = rank;
	set_stored(d, s, r, 2);
}

/* ---- atomics ------------------------------------------------------------- */

/* b: value; c: expected, for cas. The old value goes to dst. */
static void
update(struct cj_frame *f, const struct cj_step *s, const struct cj_vectors *v,
    uint32_t i)
{
	uint32_t lane = i % f->lanes;
	int64_t at = v->offset[lane] + i / f->lanes;
	uint64_t old, expected = 0;

	if (s->c != CJ_NO_OFFSET)
		expected = cj_reg_get(f->regs + s->c, i, v->kind);
	old = cj_memory_update(f, v->memory, v->kind, at,
	    cj_step_access(f, s)->atomic,
	    cj_reg_get(f->regs + s->b, i, v->kind), expected);
	if (s->dst != CJ_NO_OFFSET)
		cj_reg_set(f->regs + s->dst, i, v->kind, old);
}

/* a: offset, b: value, c: expected, target: mask. */
static void
step_atomic(struct cj_frame *f, const struct cj_step *s)
{
	struct cj_vectors v = view_of(f, s, s->target);
	const struct cj_past *published = NULL;
	struct cj_ordered o;
	uint32_t lane, i;

	count(f, s, &v);
	if (f->machine->test != NULL)
		cj_test_touch(f, v.number, true);
	for (lane = 0; lane < f->lanes; lane++) {
		if (!takes_part(f, &v, lane))
			continue;
		if (!may_read(f, s, &v, lane) || !may_write(f, s, &v, lane))
			continue;
		if (!meets_copy(f, s, &v, lane)) {
			check_written(f, s, &v, lane);
			watch(f, s, &v, lane);
		}
		release(f, s, &v, lane, &published);
		for (i = lane; i < s->n; i += f->lanes)
			update(f, s, &v, i);
		o = ordered(f, s, &v, lane);
		cj_clock_acquire(f, &o);
		mark_written(v.memory, v.offset[lane], v.width,
		    CJ_WRITTEN_DATA);
	}
}

/* A hint has no result, and no place where it would be wrong. */
void
cj_interp_PREFETCH(struct cj_decoder *d, cj_ref r)
{
	(void)d;
	(void)r;
}

void
cj_interp_ATOMIC(struct cj_decoder *d, cj_ref r)
{
	const struct cj_module *m = d->module;
	const struct cj_inst *i = cj_inst(m, r);
	bool cas = m->accesses.at[i->attr].atomic == CJ_ATOMIC_CAS;
	cj_type t = cj_inst(m, cj_operand(m, i, 1))->type;
	unsigned mask = cas ? 3 : 2;
	uint32_t at = CJ_NO_OFFSET;
	struct cj_step *s;

	if (i->operand_count > mask)
		at = cj_decode_operand(d, r, mask);
	s = cj_step_value(d, r, step_atomic);
	if (!cas)
		s->c = CJ_NO_OFFSET;
	s->target = at;
	s->n = cj_type_count(t) * d->code->lanes;
	s->kind = (uint8_t)cj_type_kind(t);
}

/* ---- rows of matrices ---------------------------------------------------- */

static struct cj_vectors
row_view(struct cj_frame *f, const struct cj_step *s)
{
	struct cj_vectors v = view_of(f, s, CJ_NO_OFFSET);

	assert(cj_stored_bits(v.kind) >= 4);
	v.width = CJ_MATRIX_ROW_BYTES * 8 / cj_stored_bits(v.kind);
	return v;
}

/* A row of kinds under 8 bits begins at a byte, since 16 are promised. */
static char *
row_at(const struct cj_vectors *v, uint32_t lane)
{
	return v->memory->data + v->offset[lane] / (int64_t)v->width
	    * CJ_MATRIX_ROW_BYTES;
}

static bool
is_row(struct cj_frame *f, const struct cj_step *s, const struct cj_vectors *v,
    uint32_t lane)
{
	if (v->offset[lane] % (int64_t)v->width == 0)
		return true;
	cj_fault_at(f, s, lane, CJ_DIAG_MISALIGNED_ACCESS,
	    "a row of a matrix in \"%s\" begins at element %lld, which is no "
	    "multiple of %u", cj_vectors_name(f, v), (long long)v->offset[lane],
	    (unsigned)v->width);
	return false;
}

void
cj_memory_read_rows(struct cj_frame *f, const struct cj_step *s,
    uint32_t rows, char *to)
{
	struct cj_vectors v = row_view(f, s);
	uint32_t lane;

	assert(rows <= f->lanes);
	count_first(f, s, &v, rows);
	for (lane = 0; lane < rows; lane++, to += CJ_MATRIX_ROW_BYTES) {
		memset(to, 0, CJ_MATRIX_ROW_BYTES);
		if (!cj_lane_runs(f, lane) || !may_read(f, s, &v, lane)
		    || !is_row(f, s, &v, lane))
			continue;
		if (!meets_copy(f, s, &v, lane)) {
			check_written(f, s, &v, lane);
			watch(f, s, &v, lane);
		}
		memcpy(to, row_at(&v, lane), CJ_MATRIX_ROW_BYTES);
	}
}

void
cj_memory_write_rows(struct cj_frame *f, const struct cj_step *s,
    uint32_t rows, const char *from)
{
	struct cj_vectors v = row_view(f, s);
	uint32_t lane;

	assert(rows <= f->lanes);
	count_first(f, s, &v, rows);
	for (lane = 0; lane < rows; lane++, from += CJ_MATRIX_ROW_BYTES) {
		if (!cj_lane_runs(f, lane) || !may_write(f, s, &v, lane)
		    || !is_row(f, s, &v, lane))
			continue;
		if (!meets_copy(f, s, &v, lane))
			watch(f, s, &v, lane);
		mark_written(v.memory, v.offset[lane], v.width,
		    CJ_WRITTEN_DATA);
		memcpy(row_at(&v, lane), from, CJ_MATRIX_ROW_BYTES);
	}
}
