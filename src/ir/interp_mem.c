/*
 * Memory: loads, stores and atomics of vectors at offsets in elements.
 *
 * The common case, all lanes running and their vectors one after the other
 * inside the object, is one check and one copy. Everything else goes lane by
 * lane: bounds, rights, what was never written, races, packed elements
 * (interp_vectors.c).
 */
#include "interp_vectors.h"

/* ---- all lanes at once --------------------------------------------------- */

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
	    && m->hi - first >= w * f->lanes
	    && cj_vectors_are_aligned(v, first);
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

/* Of one range in order. */
static bool
is_all_written(const struct cj_frame *f, const struct cj_vectors *v)
{
	const struct cj_memory *m = v->memory;

	return m->written == NULL || !(f->machine->checks & CJ_CHECK_WRITTEN)
	    || memchr(m->written + (v->offset[0] - m->lo), 0,
	    (size_t)v->width * f->lanes) == NULL;
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

/* No copy in flight has to do with the range of all lanes. */
static bool
is_quiet(const struct cj_frame *f, const struct cj_vectors *v, bool writes)
{
	return cj_async_is_quiet(f, v->number, v->offset[0],
	    (int64_t)v->width * f->lanes, writes);
}

static void
watch_all(struct cj_frame *f, const struct cj_step *s,
    const struct cj_vectors *v)
{
	cj_race_access_all(f, s, cj_vectors_touched(f, s, v, 0), v->offset);
}

/* ---- order --------------------------------------------------------------- */

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
	    .owner = v->object->kind != CJ_OBJECT_SHARED ? 0 :
	    v->block->number,
	    .is_update = cj_op_is_atomic((enum cj_op)s->op),
	    .order = a->order, .scope = a->scope };
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
		cj_vectors_move(v, f->regs + s->dst + lane * v->bytes, f->lanes,
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
			cj_vectors_fetch(f, s, v, i);
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
	struct cj_vectors v = cj_vectors_of(f, s, s->b);
	uint32_t lane;

	cj_vectors_count(f, s, &v, f->lanes);
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
			cj_vectors_fill(f, s, s->c, lane);
			continue;
		}
		if (!cj_vectors_may_read(f, s, &v, lane)) {
			cj_vectors_fill(f, s, CJ_NO_OFFSET, lane);
			continue;
		}
		if (!cj_vectors_meet_copy(f, s, &v, lane)) {
			cj_vectors_check_written(f, s, &v, lane);
			cj_vectors_watch(f, s, &v, lane);
		}
		cj_vectors_fetch(f, s, &v, lane);
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

/* A hint has no result, and no place where it would be wrong. */
void
cj_interp_PREFETCH(struct cj_decoder *d, cj_ref r)
{
	(void)d;
	(void)r;
}

/* ---- store --------------------------------------------------------------- */

static void
store_range(struct cj_frame *f, const struct cj_step *s,
    const struct cj_vectors *v)
{
	char *to = v->memory->data + v->offset[0] * (int64_t)v->bytes;
	uint32_t lane;

	cj_memory_mark(v->memory, v->offset[0], (size_t)v->width * f->lanes,
	    s->from);
	if (v->width == 1) {
		memcpy(to, f->regs + s->b, (size_t)s->n * v->bytes);
		return;
	}
	for (lane = 0; lane < f->lanes; lane++)
		cj_vectors_move(v, to + (size_t)lane * v->width * v->bytes, 1,
		    f->regs + s->b + lane * v->bytes, f->lanes);
}

/* a: offset, b: value, c: mask. */
static void
step_store(struct cj_frame *f, const struct cj_step *s)
{
	struct cj_vectors v = cj_vectors_of(f, s, s->c);
	const struct cj_past *published = NULL;
	uint32_t lane;

	cj_vectors_count(f, s, &v, f->lanes);
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
			cj_vectors_deposit(f, s, &v, lane);
		return;
	}
	for (lane = 0; lane < f->lanes; lane++) {
		if (!cj_vectors_take_part(f, &v, lane) ||
		    !cj_vectors_may_write(f, s, &v, lane))
			continue;
		if (!cj_vectors_meet_copy(f, s, &v, lane))
			cj_vectors_watch(f, s, &v, lane);
		release(f, s, &v, lane, &published);
		cj_vectors_deposit(f, s, &v, lane);
	}
}

void
cj_interp_STORE(struct cj_decoder *d, cj_ref r)
{
	cj_decode_stored(d, cj_step_value(d, r, step_store), r, 1);
}

/* ---- atomics ------------------------------------------------------------- */

/* The old value goes to dst. */
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

void
cj_vectors_update(struct cj_frame *f, const struct cj_step *s,
    const struct cj_vectors *v, uint32_t lane,
    const struct cj_past **published)
{
	struct cj_ordered o;
	uint32_t i;

	release(f, s, v, lane, published);
	for (i = lane; i < s->n; i += f->lanes)
		update(f, s, v, i);
	o = ordered(f, s, v, lane);
	cj_clock_acquire(f, &o);
	cj_memory_mark(v->memory, v->offset[lane], v->width, CJ_WRITTEN_DATA);
}

/* a: offset, b: value, c: expected, target: mask. */
static void
step_atomic(struct cj_frame *f, const struct cj_step *s)
{
	struct cj_vectors v = cj_vectors_of(f, s, s->target);
	const struct cj_past *published = NULL;
	uint32_t lane;

	cj_vectors_count(f, s, &v, f->lanes);
	if (f->machine->test != NULL)
		cj_test_touch(f, v.number, true);
	for (lane = 0; lane < f->lanes; lane++) {
		if (!cj_vectors_take_part(f, &v, lane))
			continue;
		if (!cj_vectors_may_read(f, s, &v, lane) ||
		    !cj_vectors_may_write(f, s, &v, lane))
			continue;
		if (!cj_vectors_meet_copy(f, s, &v, lane)) {
			cj_vectors_check_written(f, s, &v, lane);
			cj_vectors_watch(f, s, &v, lane);
		}
		cj_vectors_update(f, s, &v, lane, &published);
	}
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
