/*
 * Vectors at offsets in elements, one of each lane: what every access of
 * memory asks of a lane's vector, and how it moves between memory and
 * registers.
 *
 * A wrong read gives 0, a wrong write is dropped; both are reported.
 */
#include "interp_vectors.h"

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
	v.block = f->machine->block;
	v.kind = v.object->element;
	bits = cj_stored_bits(v.kind);
	v.bytes = bits < 8 ? 0 : bits / 8;
	return v;
}

struct cj_vectors
cj_vectors_of(struct cj_frame *f, const struct cj_step *s, uint32_t mask)
{
	struct cj_vectors v = view_for(f, cj_step_access(f, s));

	v.width = s->n / f->lanes;
	v.offset = CJ_AT(f, int64_t, s->a);
	v.mask = mask == CJ_NO_OFFSET ? NULL : cj_mask(f, mask);
	return v;
}

/* ---- may it? ------------------------------------------------------------- */

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
	if (!cj_vectors_are_aligned(v, v->offset[lane]))
		cj_report_misaligned(f, s, v, lane);
}

bool
cj_vectors_may_read(struct cj_frame *f, const struct cj_step *s,
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

bool
cj_vectors_may_write(struct cj_frame *f, const struct cj_step *s,
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

void
cj_vectors_check_written(struct cj_frame *f, const struct cj_step *s,
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
		return cj_vectors_may_write(f, s, &v, lane);
	if (!cj_vectors_may_read(f, s, &v, lane))
		return false;
	cj_vectors_check_written(f, s, &v, lane);
	return true;
}

/* ---- moving -------------------------------------------------------------- */

/* Elements of one width, at two paces. */
#define MOVE(type, to, from)						\
	for (i = 0; i < v->width; i++)					\
		((type *)(void *)(to))[(to##_step) * i] =		\
		    ((const type *)(const void *)(from))[(from##_step) * i]

void
cj_vectors_move(const struct cj_vectors *v, char *to, size_t to_step,
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

void
cj_vectors_fetch(struct cj_frame *f, const struct cj_step *s,
    const struct cj_vectors *v, uint32_t lane)
{
	const struct cj_memory *m = v->memory;
	int64_t at = v->offset[lane];
	uint32_t i;

	assert(is_inside(v, at) && m->readable);
	if (v->bytes != 0 && v->kind != CJ_KIND_BOOL) {
		cj_vectors_move(v, f->regs + s->dst + lane * v->bytes, f->lanes,
		    m->data + at * (int64_t)v->bytes, 1);
		return;
	}
	for (i = 0; i < v->width; i++)
		cj_reg_set(f->regs + s->dst, i * f->lanes + lane, v->kind,
		    cj_memory_get(m, v->kind, at + i));
}

void
cj_vectors_deposit(struct cj_frame *f, const struct cj_step *s,
    const struct cj_vectors *v, uint32_t lane)
{
	const struct cj_memory *m = v->memory;
	int64_t at = v->offset[lane];
	uint32_t i;

	assert(is_inside(v, at) && m->writable);
	cj_memory_mark(m, at, v->width, s->from);
	if (v->bytes != 0) {
		cj_vectors_move(v, m->data + at * (int64_t)v->bytes, 1,
		    f->regs + s->b + lane * v->bytes, f->lanes);
		return;
	}
	for (i = 0; i < v->width; i++)
		cj_memory_set(m, v->kind, at + i, cj_reg_get(f->regs + s->b,
		    i * f->lanes + lane, v->kind));
}

void
cj_vectors_fill(struct cj_frame *f, const struct cj_step *s, uint32_t from,
    uint32_t lane)
{
	uint32_t i;

	for (i = lane; i < s->n; i += f->lanes)
		cj_reg_set(f->regs + s->dst, i, s->kind,
		    from == CJ_NO_OFFSET ? 0
		    : cj_reg_get(f->regs + from, i, s->kind));
}

/* ---- what others are told ------------------------------------------------ */

struct cj_touched_range
cj_vectors_touched(struct cj_frame *f, const struct cj_step *s,
    const struct cj_vectors *v, uint32_t lane)
{
	return (struct cj_touched_range){ .object = v->number,
	    .width = v->width, .first = v->offset[lane],
	    .is_write = s->op == CJ_OP_STORE || s->op == CJ_OP_STMATRIX,
	    .is_atomic = cj_op_is_atomic((enum cj_op)s->op)
	    || cj_step_access(f, s)->order != CJ_ORDER_WEAK };
}

void
cj_vectors_watch(struct cj_frame *f, const struct cj_step *s,
    const struct cj_vectors *v, uint32_t lane)
{
	cj_race_access(f, s, lane, cj_vectors_touched(f, s, v, lane));
}

bool
cj_vectors_meet_copy(struct cj_frame *f, const struct cj_step *s,
    const struct cj_vectors *v, uint32_t lane)
{
	struct cj_touched_range t = cj_vectors_touched(f, s, v, lane);

	t.is_write = s->op != CJ_OP_LOAD && s->op != CJ_OP_LDMATRIX;
	return cj_async_meets(f, s, lane, t);
}

void
cj_vectors_count(struct cj_frame *f, const struct cj_step *s,
    const struct cj_vectors *v, uint32_t lanes)
{
	struct cj_touched_lanes t = { .bytes = v->width * v->bytes };
	uint32_t lane;

	if (f->machine->profile == NULL || v->bytes == 0)
		return;
	for (lane = 0; lane < lanes; lane++) {
		t.takes_part[lane] = cj_vectors_take_part(f, v, lane);
		t.address[lane] = (uint64_t)v->offset[lane] * v->bytes;
	}
	cj_count_access(f, s, v->number, &t);
}

/* ---- what is stored ------------------------------------------------------ */

/* The same number whoever computes it, and whenever? */
static bool
is_fixed(const struct cj_module *m, cj_ref value)
{
	const struct cj_inst *i = cj_inst(m, value);

	while (i->op == CJ_OP_SPLAT || i->op == CJ_OP_CONVERT)
		i = cj_inst(m, cj_operand(m, i, 0));
	return i->op == CJ_OP_CONST || i->op == CJ_OP_PARAM;
}

void
cj_decode_stored(struct cj_decoder *d, struct cj_step *s, cj_ref r, unsigned n)
{
	const struct cj_module *m = d->module;
	cj_ref value = cj_operand(m, cj_inst(m, r), n);
	cj_type t = cj_inst(m, value)->type;

	s->n = cj_type_count(t) * d->code->lanes;
	s->kind = (uint8_t)cj_type_kind(t);
	s->from = is_fixed(m, value) ? CJ_WRITTEN_PADDING : CJ_WRITTEN_DATA;
}
