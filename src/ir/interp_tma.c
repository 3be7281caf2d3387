/*
 * Copies of boxes between global and shared memory by TMA: where a box lies,
 * what is asked where it is issued (interp_bulk.c moves it), and tensor maps.
 * Outside the tensor a load brings zeros, and a store leaves everything as it
 * is.
 */
#include "interp_tma.h"

/* ---- boxes --------------------------------------------------------------- */

static int64_t
box_size(const struct cj_map *map)
{
	int64_t n = 1;
	uint32_t i;

	for (i = 0; i < map->rank; i++)
		n *= map->box[i];
	return n;
}

int64_t
cj_box_width(const struct cj_bulk *b)
{
	return b->map == NULL ? b->hi - b->lo : b->map->map->box[0];
}

int64_t
cj_box_rows(const struct cj_bulk *b)
{
	return (b->hi - b->lo) / cj_box_width(b);
}

/* Pixel `row` behind the first one: the modes between channels and images are
 * digits of a number. */
static struct cj_row
pixel_row(const struct cj_bulk *b, int64_t row)
{
	const struct cj_tensor_map *t = b->map;
	const struct cj_map *map = t->map;
	uint32_t spatial = map->rank - 2, i;
	struct cj_row r = { t->offset + b->at[0], 0, map->box[0] };
	int64_t count, at, step, carry = row;

	for (i = 0; i < spatial; i++) {
		step = map->step[i + 1];
		count = (t->extent[i + 1] + map->upper[i] - map->lower[i] +
		    step - 1) / step;
		at = (b->at[i + 1] - map->lower[i]) / step + carry;
		carry = count > 0 ? at / count : 0;
		at = count > 0 ? at % count : 0;
		at = at * step + map->lower[i];
		at += b->at[map->rank + i];
		if (at < 0 || at >= t->extent[i + 1] || count <= 0)
			r.to = 0;
		else
			r.first += at * t->stride[i + 1];
	}
	at = b->at[map->rank - 1] + carry;
	if (at < 0 || at >= t->extent[map->rank - 1])
		r.to = 0;
	else
		r.first += at * t->stride[map->rank - 1];
	r.from = b->at[0] < 0 ? -b->at[0] : 0;
	if (r.to > t->extent[0] - b->at[0])
		r.to = t->extent[0] - b->at[0];
	r.to = r.to < r.from ? r.from : r.to;
	return r;
}

struct cj_row
cj_box_row(const struct cj_bulk *b, int64_t row)
{
	const struct cj_tensor_map *t = b->map;
	struct cj_row r = { b->from, 0, b->hi - b->lo };
	int64_t at;
	uint32_t i;

	if (t == NULL)
		return r;
	if (t->map->kind == CJ_MAP_PIXELS)
		return pixel_row(b, row);
	r.first = t->offset + b->at[0];
	r.from = b->at[0] < 0 ? -b->at[0] : 0;
	r.to = t->extent[0] - b->at[0];
	if (r.to > t->map->box[0])
		r.to = t->map->box[0];
	for (i = 1; i < t->map->rank; i++) {
		at = t->map->kind == CJ_MAP_ROWS ? b->at[1 + row] :
		    b->at[i] + row % t->map->box[i] * t->map->step[i];
		row /= t->map->box[i];
		if (at < 0 || at >= t->extent[i])
			r.to = r.from;
		else
			r.first += at * t->stride[i];
	}
	r.to = r.to < r.from ? r.from : r.to;
	return r;
}

/* Bounds, rights and races of the tensor's side. */
static bool
check_global(struct cj_frame *f, const struct cj_bulk *b)
{
	struct cj_access access = { .object = b->map->object };
	bool writes = b->kind == CJ_BULK_STORE;
	int64_t rows = cj_box_rows(b), i;
	struct cj_reach reach;
	struct cj_row r;

	for (i = 0; i < rows; i++) {
		r = cj_box_row(b, i);
		if (r.from == r.to)
			continue;
		reach = (struct cj_reach){ &access, r.first + r.from,
		    (uint32_t)(r.to - r.from) };
		if (!cj_reach_may(f, b->step, b->lane, reach, writes) ||
		    (b->reduces && !cj_reach_may(f, b->step, b->lane, reach,
		    false)))
			return false;
		cj_race_access(f, b->step, b->lane, (struct cj_touched_range){
		    .object = access.object, .width = reach.width,
		    .first = reach.first, .is_write = writes,
		    .is_atomic = b->reduces, .is_async = true });
	}
	return true;
}

/* Multiples of 128 bytes of shared memory; of 16 bytes along the mode of stride
 * 1, whatever lies outside of the tensor: the chip stops at others. */
static bool
is_aligned(struct cj_frame *f, const struct cj_bulk *b)
{
	const struct cj_object *o = &f->code->module->objects.at[b->object];
	const struct cj_object *t = &f->code->module->objects.at[
	    b->map->object];
	int64_t bytes = cj_kind_bits(o->element) / 8;

	if (b->lo * bytes % 128 != 0) {
		cj_fault_at(f, b->step, b->lane, CJ_DIAG_MISALIGNED_ACCESS,
		    "a copy by TMA begins at byte %lld of \"%s\", which is not "
		    "a multiple of 128", (long long)(b->lo * bytes), o->name);
		return false;
	}
	if (b->at[0] * bytes % 16 == 0)
		return true;
	cj_fault_at(f, b->step, b->lane, CJ_DIAG_MISALIGNED_ACCESS,
	    "a copy by TMA begins at element %lld of \"%s\" along its mode of "
	    "stride 1, which is not a multiple of 16 bytes",
	    (long long)b->at[0], t->name);
	return false;
}

/* What a chip does not do when it stores: begin in front of the tensor, or end
 * inside 16 bytes, of which it writes the rest, too. */
static bool
may_store(struct cj_frame *f, const struct cj_bulk *b)
{
	const struct cj_object *o = &f->code->module->objects.at[
	    b->map->object];
	int64_t bytes = cj_kind_bits(o->element) / 8;
	int64_t end = b->map->extent[0] - b->at[0];
	uint32_t i;

	for (i = 0; i < cj_map_numbers(b->map->map); i++)
		if (b->at[i] < 0) {
			cj_fault_at(f, b->step, b->lane,
			    CJ_DIAG_OUT_OF_BOUNDS, "a store by TMA begins in "
			    "front of \"%s\", at %lld: only its end may lie "
			    "outside", o->name, (long long)b->at[i]);
			return false;
		}
	if (end <= 0 || end >= b->map->map->box[0] || end * bytes % 16 == 0)
		return true;
	cj_fault_at(f, b->step, b->lane, CJ_DIAG_OUT_OF_BOUNDS, "a store by "
	    "TMA writes whole units of 16 bytes, and \"%s\" ends inside one, "
	    "behind %lld elements", o->name, (long long)b->map->extent[0]);
	return false;
}

/* The instruction has few bits, without a sign, for what is added to pixels. */
static bool
offsets_fit(struct cj_frame *f, const struct cj_bulk *b)
{
	const struct cj_map *map = b->map->map;
	uint32_t i;

	for (i = map->rank; map->kind == CJ_MAP_PIXELS &&
	    i < cj_map_numbers(map); i++) {
		if (b->at[i] >= 0 && b->at[i] <= cj_map_most_offset(map))
			continue;
		cj_fault_at(f, b->step, b->lane, CJ_DIAG_OUT_OF_BOUNDS,
		    "an offset of a copy of pixels is %lld, outside 0..%lld",
		    (long long)b->at[i], (long long)cj_map_most_offset(map));
		return false;
	}
	return true;
}

/* ---- issue --------------------------------------------------------------- */

static const struct cj_tensor_map *
map_of(const struct cj_frame *f, const struct cj_step *s, uint32_t lane)
{
	return (const struct cj_tensor_map *)(uintptr_t)
	    CJ_AT(f, uint64_t, s->b)[lane];
}

/* Coordinates have 32 bits in the hardware; what is farther is outside,
 * whatever a GPU would make of it. */
static int64_t
coordinate(struct cj_frame *f, const struct cj_step *s, uint32_t lane,
    int64_t at)
{
	if (at >= INT32_MIN && at <= INT32_MAX)
		return at;
	cj_fault_at(f, s, lane, CJ_DIAG_LIMIT, "a coordinate of a copy by TMA "
	    "is %lld, which does not fit in 32 bits", (long long)at);
	return at < 0 ? INT32_MIN : INT32_MAX;
}

/* a: offset of shared memory, b: map, c: coordinates in `lists`. */
static struct cj_bulk
box_at(struct cj_frame *f, const struct cj_step *s, uint32_t lane,
    enum cj_bulk_kind kind)
{
	const struct cj_module *m = f->code->module;
	const struct cj_tma_copy *c =
	    &m->tmas.at[cj_step_inst(f, s)->attr];
	struct cj_bulk b = { .kind = kind, .step = s, .frame = f,
	    .owner = f->machine, .lane = lane,
	    .object = m->accesses.at[c->shared].object,
	    .swizzle = m->maps.at[c->map].swizzle, .reduces = c->reduces,
	    .how = c->how };
	uint32_t i;

	b.map = map_of(f, s, lane);
	b.lo = CJ_AT(f, int64_t, s->a)[lane];
	b.hi = b.lo + box_size(b.map->map);
	for (i = 0; i < cj_map_numbers(b.map->map); i++)
		b.at[i] = coordinate(f, s, lane, CJ_AT(f, int64_t,
		    f->code->lists.at[s->c + i])[lane]);
	return b;
}

struct load {
	struct cj_frame *f;
	const struct cj_step *s;
	struct cj_bulk b;
};

/* target: offset of the mbarriers' offsets. */
static void
load_to(void *user, struct cj_machine *owner)
{
	struct load *l = user;
	const struct cj_module *m = l->f->code->module;
	uint32_t object = m->accesses.at[m->tmas.at[cj_step_inst(l->f,
	    l->s)->attr].signal].object;

	l->b.owner = owner;
	l->b.signal = cj_mbarrier_of_copy(l->f, l->s, l->b.lane, owner, object,
	    CJ_AT(l->f, int64_t, l->s->target)[l->b.lane]);
	if (l->b.signal == NULL || !cj_bulk_may(l->f, &l->b))
		return;
	l->b.past = cj_clock_publish(l->f);
	cj_bulk_issue(l->f, &l->b);
}

static void
step_load(struct cj_frame *f, const struct cj_step *s)
{
	uint32_t lane, rank, count = cj_step_inst(f, s)->operand_count;

	for (lane = 0; lane < f->lanes; lane++) {
		struct load l = { f, s, { 0 } };

		if (!cj_lane_runs(f, lane) ||
		    !cj_map_may(f, s, lane, map_of(f, s, lane)))
			continue;
		l.b = box_at(f, s, lane, CJ_BULK_LOAD);
		rank = cj_map_numbers(l.b.map->map);
		if (!is_aligned(f, &l.b) || !offsets_fit(f, &l.b) ||
		    !check_global(f, &l.b))
			continue;
		cj_share_ask(f, &l.b);
		if (count > 3 + rank)
			cj_bulk_spread(f, s, lane, CJ_AT(f, uint32_t,
			    f->code->lists.at[s->c + rank])[lane], load_to,
			    &l);
		else
			load_to(&l, f->machine);
	}
}

void
cj_interp_TMA_LOAD(struct cj_decoder *d, cj_ref r)
{
	uint32_t signal = cj_decode_operand(d, r, 2);
	uint32_t list = cj_decode_list(d, r, 3);
	struct cj_step *s = cj_step_add(d, r, step_load);

	s->a = cj_decode_operand(d, r, 0);
	s->b = cj_decode_operand(d, r, 1);
	s->c = list;
	s->target = signal;
}

static void
step_store(struct cj_frame *f, const struct cj_step *s)
{
	uint32_t lane;

	for (lane = 0; lane < f->lanes; lane++) {
		struct cj_bulk b;

		if (!cj_lane_runs(f, lane) ||
		    !cj_map_may(f, s, lane, map_of(f, s, lane)))
			continue;
		b = box_at(f, s, lane, CJ_BULK_STORE);
		b.group = f->bulk_commits[lane];
		if (is_aligned(f, &b) && may_store(f, &b) &&
		    cj_bulk_may(f, &b) &&
		    check_global(f, &b))
			cj_bulk_issue(f, &b);
	}
}

void
cj_interp_TMA_STORE(struct cj_decoder *d, cj_ref r)
{
	uint32_t list = cj_decode_list(d, r, 2);
	struct cj_step *s = cj_step_add(d, r, step_store);

	s->a = cj_decode_operand(d, r, 0);
	s->b = cj_decode_operand(d, r, 1);
	s->c = list;
}

/* Only sooner or later: nothing that a program can see. */
static void
step_nothing(struct cj_frame *f, const struct cj_step *s)
{
	(void)f;
	(void)s;
}

void
cj_interp_MAP_PREFETCH(struct cj_decoder *d, cj_ref r)
{
	cj_step_add(d, r, step_nothing);
}

void
cj_interp_TMA_PREFETCH(struct cj_decoder *d, cj_ref r)
{
	cj_step_add(d, r, step_nothing);
}

/* The executor runs launches one by one. */
void
cj_interp_LAUNCH_DEPENDENTS(struct cj_decoder *d, cj_ref r)
{
	cj_step_add(d, r, step_nothing);
}

/* ---- maps ---------------------------------------------------------------- */

static bool
refuse_map(struct cj_fault *fault)
{
	if (fault != NULL)
		fault->note = "give the kernel a part of the tensor, or a "
		    "member of its family that copies by bulk_copy() or "
		    "cp_async()";
	return false;
}

static bool
map_fits(struct cj_frame *f, const struct cj_step *s,
    const struct cj_tensor_map *t)
{
	const struct cj_object *o =
	    &f->code->module->objects.at[t->map->object];
	int64_t bytes = cj_kind_bits(o->element) / 8;
	uint32_t i;

	for (i = 0; i < t->map->rank; i++) {
		if (t->extent[i] < 0 || t->extent[i] > (int64_t)1 << 32) {
			return refuse_map(cj_fault_at(f, s, 0, CJ_DIAG_LIMIT,
			    "an extent of \"%s\" is %lld; a tensor map has up "
			    "to 2^32", o->name, (long long)t->extent[i]));
		}
		if (i == 0 || t->extent[i] <= 1)
			continue;
		if (t->stride[i] < 0 || t->stride[i] * bytes % 16 != 0 ||
		    t->stride[i] >= ((int64_t)1 << 40) / bytes) {
			return refuse_map(cj_fault_at(f, s, 0, CJ_DIAG_LIMIT,
			    "a stride of \"%s\" is %lld elements; of a tensor "
			    "map it is a multiple of 16 bytes, from 0 to 2^40",
			    o->name, (long long)t->stride[i]));
		}
	}
	return true;
}

/* b: operands in `lists`. */
static void
step_map(struct cj_frame *f, const struct cj_step *s)
{
	struct cj_tensor_map *t = CJ_NEW(f->machine->arena,
	    struct cj_tensor_map);
	const uint32_t *at = &f->code->lists.at[s->b];
	uint32_t i;

	t->map = &f->code->module->maps.at[cj_step_inst(f, s)->attr];
	t->object = t->map->object;
	t->offset = *CJ_AT(f, int64_t, at[0]);
	for (i = 0; i < t->map->rank; i++) {
		t->extent[i] = *CJ_AT(f, int64_t, at[1 + i]);
		t->stride[i] = *CJ_AT(f, int64_t, at[1 + t->map->rank + i]);
	}
	*CJ_AT(f, uint64_t, s->dst) = (uint64_t)(uintptr_t)t;
	if (!map_fits(f, s, t))
		cj_frame_stop(f);
}

void
cj_interp_MAP_ENCODE(struct cj_decoder *d, cj_ref r)
{
	uint32_t list = cj_decode_list(d, r, 0);
	struct cj_step *s = cj_step_add(d, r, step_map);

	s->b = list;
	s->dst = cj_decode_result(d, r);
}
