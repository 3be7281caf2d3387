/*
 * Copies of boxes between global and shared memory by TMA, and what is in
 * flight by the hardware's own units.
 *
 * A box is checked where it is issued: bounds, rights, races. Its data move
 * late: loads when somebody asks for the mbarrier that they signal and nothing
 * else is missing there, stores at the wait for their group. Until then nobody
 * may read or write what a load fills, nor write what a store reads. Outside
 * the tensor a load brings zeros, and a store leaves everything as it is.
 */
#include "interp_tma.h"

int64_t
cj_swizzled(enum cj_map_swizzle s, enum cj_kind k, int64_t at)
{
	int64_t bytes = cj_kind_bits(k) / 8, byte = at * bytes;

	if (s == CJ_MAP_PLAIN)
		return at;
	byte ^= (byte >> 7 & (((int64_t)1 << s) - 1)) << 4;
	return byte / bytes;
}

/* ---- what is in flight --------------------------------------------------- */

struct cj_bulk *
cj_bulk_add(struct cj_frame *f, const struct cj_step *s,
    enum cj_bulk_kind kind)
{
	struct cj_async *a = f->machine->async;
	struct cj_bulk *b = a->unused, **last = &a->bulks;

	if (b == NULL)
		b = CJ_NEW(f->machine->arena, struct cj_bulk);
	else
		a->unused = b->next;
	memset(b, 0, sizeof *b);
	b->kind = kind;
	b->step = s;
	b->frame = f;
	while (*last != NULL)
		last = &(*last)->next;
	*last = b;
	return b;
}

void
cj_bulk_drop(struct cj_frame *f, struct cj_bulk *b)
{
	struct cj_async *a = f->machine->async;
	struct cj_bulk **at = &a->bulks;

	while (*at != b)
		at = &(*at)->next;
	*at = b->next;
	b->next = a->unused;
	a->unused = b;
}

static enum cj_kind
kind_of(const struct cj_frame *f, uint32_t object)
{
	return f->code->module->objects.at[object].element;
}

static void
mark(struct cj_frame *f, const struct cj_bulk *b, bool begins)
{
	enum cj_kind k = kind_of(f, b->object);
	int64_t i;

	if (b->kind != CJ_BULK_LOAD) {
		f->machine->async->sources[b->object] += begins ? 1 : -1u;
		return;
	}
	for (i = b->lo; i < b->hi; i++)
		f->machine->async->late[b->object]
		    [cj_swizzled(b->swizzle, k, i)] = begins;
}

void
cj_bulk_clear(struct cj_frame *f)
{
	const struct cj_module *m = f->code->module;
	struct cj_async *a = f->machine->async;
	uint32_t o;

	while (a != NULL && a->bulks != NULL) {
		mark(f, a->bulks, false);
		cj_bulk_drop(f, a->bulks);
	}
	for (o = 1; a != NULL && f->warp == 0 && o < m->objects.len; o++)
		if (a->generic[o] != NULL)
			memset(a->generic[o], 0, (size_t)m->objects.at[o]
			    .extent * sizeof *a->generic[o]);
	memset(f->bulk_commits, 0, sizeof f->bulk_commits);
	f->wgmma_commits = 0;
	f->proxy_fences = 0;
}

static bool
touches(const struct cj_frame *f, const struct cj_bulk *b,
    struct cj_touched_range t)
{
	enum cj_kind k = kind_of(f, t.object);
	uint32_t i;
	int64_t at;

	if (b->object != t.object || b->has_read ||
	    (b->kind != CJ_BULK_LOAD && !t.is_write))
		return false;
	for (i = 0; i < t.width; i++) {
		at = cj_swizzled(b->swizzle, k, t.first + i);
		if (at >= b->lo && at < b->hi)
			return true;
	}
	return false;
}

bool
cj_bulk_meets(struct cj_frame *f, const struct cj_step *s, uint32_t lane,
    struct cj_touched_range t)
{
	static const char *const what[] = {
		[CJ_BULK_LOAD] = "which a copy has not filled yet",
		[CJ_BULK_STORE] = "which a copy has not read yet",
		[CJ_BULK_PRODUCT] = "which a product has not read yet",
	};
	const char *name = f->code->module->objects.at[t.object].name;
	const struct cj_bulk *b = f->machine->async->bulks;
	struct cj_fault *fault;

	while (b != NULL && !touches(f, b, t))
		b = b->next;
	if (b == NULL)
		return false;
	fault = cj_fault_at(f, s, lane, CJ_DIAG_IN_FLIGHT,
	    "\"%s\" is %s at elements from %lld on" CJ_WHO ", %s",
	    name != NULL ? name : "memory", t.is_write ? "written" : "read",
	    (long long)t.first, what[b->kind]);
	if (fault != NULL) {
		fault->other = b->step->ref;
		fault->note = "it is issued here, and nothing has waited for "
		    "its end";
	}
	return true;
}

/* ---- the asynchronous proxy ---------------------------------------------- */

void
cj_proxy_note(struct cj_frame *f, uint32_t object, int64_t first,
    int64_t count)
{
	uint32_t *at = f->machine->async->generic[object];
	int64_t i;

	for (i = 0; at != NULL && i < count; i++)
		at[first + i] = f->proxy_fences * CJ_LANES_WARP + f->warp + 1;
}

void
cj_proxy_fence(struct cj_frame *f)
{
	f->proxy_fences++;
}

void
cj_check_proxy(struct cj_frame *f, const struct cj_step *s, uint32_t lane,
    uint32_t object, int64_t lo, int64_t hi, enum cj_map_swizzle swizzle)
{
	const uint32_t *at = f->machine->async->generic[object];
	const struct cj_object *o = &f->code->module->objects.at[object];
	int64_t i, e;

	for (i = lo; i < hi; i++) {
		e = cj_swizzled(swizzle, o->element, i);
		if (e < 0 || e >= o->extent || at[e] == 0 ||
		    f->machine->block->frames[(at[e] - 1) % CJ_LANES_WARP]
		    .proxy_fences != (at[e] - 1) / CJ_LANES_WARP)
			continue;
		cj_fault_at(f, s, lane, CJ_DIAG_IN_FLIGHT,
		    "%s reads \"%s\" at element %lld" CJ_WHO ", which warp "
		    "%u has stored with no fence(proxy = .async) behind",
		    s->op == CJ_OP_WGMMA ? "a product" : "a copy", o->name,
		    (long long)e, (unsigned)((at[e] - 1) % CJ_LANES_WARP));
		return;
	}
}

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

/* Row `row` of a box: where it begins in global memory, which of its elements
 * are inside the tensor. */
struct row {
	int64_t first;
	int64_t from, to;
};

static struct row
row_of(const struct cj_bulk *b, int64_t row)
{
	const struct cj_tensor_map *t = b->map;
	const struct cj_map *map = t->map;
	struct row r = { .first = t->offset + b->at[0], .from = -b->at[0],
	    .to = t->extent[0] - b->at[0] };
	int64_t at;
	uint32_t i;

	r.from = r.from < 0 ? 0 : r.from;
	r.to = r.to > map->box[0] ? map->box[0] : r.to;
	for (i = 1; i < map->rank; i++) {
		at = b->at[i] + row % map->box[i];
		row /= map->box[i];
		if (at < 0 || at >= t->extent[i])
			r.to = r.from;
		r.first += at * t->stride[i];
	}
	r.to = r.to < r.from ? r.from : r.to;
	return r;
}

/* Whole units of 16 bytes stay together behind a swizzle. */
static int64_t
unit_of(const struct cj_frame *f, uint32_t object)
{
	return 128 / cj_kind_bits(kind_of(f, object));
}

static void
announce_shared(struct cj_frame *f, const struct cj_bulk *b)
{
	int64_t unit = unit_of(f, b->object), i;

	for (i = b->lo; i < b->hi; i += unit)
		cj_race_access(f, b->step, b->lane, (struct cj_touched_range){
		    .object = b->object, .width = (uint32_t)unit,
		    .first = cj_swizzled(b->swizzle, kind_of(f, b->object),
		    i), .is_write = b->kind == CJ_BULK_LOAD });
}

/* Bounds, rights and races of the tensor's side. */
static bool
check_global(struct cj_frame *f, const struct cj_bulk *b)
{
	const struct cj_map *map = b->map->map;
	struct cj_access access = { .object = map->object };
	bool writes = b->kind == CJ_BULK_STORE;
	int64_t rows = box_size(map) / map->box[0], i;
	struct cj_reach reach;
	struct row r;

	for (i = 0; i < rows; i++) {
		r = row_of(b, i);
		if (r.from == r.to)
			continue;
		reach = (struct cj_reach){ &access, r.first + r.from,
		    (uint32_t)(r.to - r.from) };
		if (!cj_reach_may(f, b->step, b->lane, reach, writes))
			return false;
		cj_race_access(f, b->step, b->lane, (struct cj_touched_range){
		    .object = map->object, .width = reach.width,
		    .first = reach.first, .is_write = writes });
	}
	return true;
}

/* Is the shared side inside its object, quiet, and (to be read) written? */
static bool
check_shared(struct cj_frame *f, const struct cj_bulk *b)
{
	struct cj_access access = { .object = b->object };
	bool writes = b->kind == CJ_BULK_LOAD;
	int64_t unit = unit_of(f, b->object), i, at;

	for (i = b->lo; i < b->hi; i += unit) {
		at = cj_swizzled(b->swizzle, kind_of(f, b->object), i);
		if (!cj_reach_may(f, b->step, b->lane, (struct cj_reach){
		    &access, at, (uint32_t)unit }, writes))
			return false;
		cj_async_meets(f, b->step, b->lane, (struct cj_touched_range){
		    .object = b->object, .width = (uint32_t)unit, .first = at,
		    .is_write = writes });
	}
	return true;
}

static bool
is_aligned(struct cj_frame *f, const struct cj_bulk *b)
{
	int64_t byte = b->lo * (cj_kind_bits(kind_of(f, b->object)) / 8);

	if (byte % 128 == 0)
		return true;
	cj_fault_at(f, b->step, b->lane, CJ_DIAG_MISALIGNED_ACCESS,
	    "a copy by TMA begins at byte %lld of \"%s\", which is not a "
	    "multiple of 128", (long long)byte,
	    f->code->module->objects.at[b->object].name);
	return false;
}

/* ---- issue --------------------------------------------------------------- */

/* a: offset of shared memory, b: map, c: coordinates in `lists`. */
static struct cj_bulk
box_at(struct cj_frame *f, const struct cj_step *s, uint32_t lane,
    enum cj_bulk_kind kind)
{
	const struct cj_module *m = f->code->module;
	const struct cj_tma_copy *c =
	    &m->tmas.at[cj_step_inst(f, s)->attr];
	struct cj_bulk b = { .kind = kind, .step = s, .frame = f,
	    .lane = lane, .object = m->accesses.at[c->shared].object,
	    .swizzle = m->maps.at[c->map].swizzle };
	uint32_t i;

	b.map = (const struct cj_tensor_map *)(uintptr_t)
	    CJ_AT(f, uint64_t, s->b)[lane];
	b.lo = CJ_AT(f, int64_t, s->a)[lane];
	b.hi = b.lo + box_size(b.map->map);
	for (i = 0; i < b.map->map->rank; i++)
		b.at[i] = CJ_AT(f, int64_t, f->code->lists.at[s->c + i])[lane];
	return b;
}

static bool
may_issue(struct cj_frame *f, const struct cj_bulk *b)
{
	if (!is_aligned(f, b) || !check_shared(f, b) || !check_global(f, b))
		return false;
	announce_shared(f, b);
	return true;
}

static struct cj_bulk *
issue(struct cj_frame *f, const struct cj_bulk *what)
{
	struct cj_bulk *b = cj_bulk_add(f, what->step, what->kind);
	struct cj_bulk *next = b->next;

	*b = *what;
	b->next = next;
	mark(f, b, true);
	return b;
}

/* target: offset of the mbarriers' offsets. */
static void
step_load(struct cj_frame *f, const struct cj_step *s)
{
	const struct cj_module *m = f->code->module;
	uint32_t object = m->accesses.at[m->tmas.at[
	    cj_step_inst(f, s)->attr].signal].object, lane;

	for (lane = 0; lane < f->lanes; lane++) {
		struct cj_bulk b;

		if (!cj_lane_runs(f, lane))
			continue;
		b = box_at(f, s, lane, CJ_BULK_LOAD);
		b.signal = cj_mbarrier_of_copy(f, s, lane, object,
		    CJ_AT(f, int64_t, s->target)[lane]);
		if (b.signal == NULL || !may_issue(f, &b))
			continue;
		b.past = cj_clock_publish(f);
		issue(f, &b);
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

		if (!cj_lane_runs(f, lane))
			continue;
		b = box_at(f, s, lane, CJ_BULK_STORE);
		b.group = f->bulk_commits[lane];
		cj_check_proxy(f, s, lane, b.object, b.lo, b.hi, b.swizzle);
		if (may_issue(f, &b))
			issue(f, &b);
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

/* ---- landing ------------------------------------------------------------- */

static void
move_row(struct cj_frame *f, const struct cj_bulk *b, int64_t row)
{
	const struct cj_memory *shared = &f->machine->memory[b->object];
	const struct cj_memory *global =
	    &f->machine->memory[b->map->map->object];
	enum cj_kind k = kind_of(f, b->object);
	struct row r = row_of(b, row);
	int64_t width = b->map->map->box[0], i, at;

	for (i = 0; i < width; i++) {
		bool inside = i >= r.from && i < r.to;

		at = cj_swizzled(b->swizzle, k, b->lo + row * width + i);
		if (b->kind == CJ_BULK_LOAD) {
			cj_memory_set(shared, k, at, inside ?
			    cj_memory_get(global, k, r.first + i) : 0);
			if (shared->written != NULL)
				shared->written[at] = 1;
		} else if (inside) {
			cj_memory_set(global, k, r.first + i,
			    cj_memory_get(shared, k, at));
			if (global->written != NULL)
				global->written[r.first + i - global->lo] = 1;
		}
	}
}

static void
move(struct cj_frame *f, const struct cj_bulk *b)
{
	int64_t rows = box_size(b->map->map) / b->map->map->box[0], i;

	for (i = 0; i < rows; i++)
		move_row(f, b, i);
}

void
cj_tma_land(struct cj_frame *f, struct cj_mbarrier *signal)
{
	struct cj_async *a = f->machine->async;
	struct cj_bulk *b, *next;

	for (b = a != NULL ? a->bulks : NULL; b != NULL; b = next) {
		const struct cj_past *past = b->past;
		int64_t bytes;

		next = b->next;
		if (b->kind != CJ_BULK_LOAD || b->signal != signal)
			continue;
		bytes = (b->hi - b->lo) * cj_kind_bits(kind_of(f,
		    b->object)) / 8;
		move(f, b);
		mark(f, b, false);
		cj_bulk_drop(f, b);
		cj_mbarrier_complete(f, signal, bytes, past);
		if (signal->pending != 0)
			return;		/* that was the last of the phase */
	}
}

/* ---- groups of stores ---------------------------------------------------- */

static void
step_commit(struct cj_frame *f, const struct cj_step *s)
{
	uint32_t lane;

	(void)s;
	for (lane = 0; lane < f->lanes; lane++)
		f->bulk_commits[lane] += cj_lane_runs(f, lane);
}

void
cj_interp_BULK_COMMIT(struct cj_decoder *d, cj_ref r)
{
	cj_step_add(d, r, step_commit);
}

/* target: how many groups may stay open. */
static void
step_wait(struct cj_frame *f, const struct cj_step *s)
{
	struct cj_async *a = f->machine->async;
	struct cj_bulk *b, *next;

	for (b = a != NULL ? a->bulks : NULL; b != NULL; b = next) {
		next = b->next;
		if (b->kind != CJ_BULK_STORE || b->frame != f ||
		    !cj_lane_runs(f, b->lane) ||
		    b->group + s->target >= f->bulk_commits[b->lane])
			continue;
		if (!b->has_read) {
			move(f, b);
			mark(f, b, false);
			b->has_read = true;
		}
		if (s->op == CJ_OP_BULK_WAIT)
			cj_bulk_drop(f, b);
	}
}

static void
decode_wait(struct cj_decoder *d, cj_ref r)
{
	cj_step_add(d, r, step_wait)->target = cj_inst(d->module, r)->attr;
}

void
cj_interp_BULK_WAIT(struct cj_decoder *d, cj_ref r)
{
	decode_wait(d, r);
}

void
cj_interp_BULK_WAIT_READ(struct cj_decoder *d, cj_ref r)
{
	decode_wait(d, r);
}

void
cj_bulk_end(struct cj_block *b)
{
	struct cj_async *a = b->machine.async;
	struct cj_bulk *at = a != NULL ? a->bulks : NULL;
	struct cj_frame *f;
	struct cj_fault *fault;

	while (at != NULL && (at->kind != CJ_BULK_STORE || at->has_read))
		at = at->next;
	if (at == NULL)
		return;
	f = at->frame;
	fault = cj_fault_at(f, at->step, at->lane, CJ_DIAG_IN_FLIGHT,
	    "the block ends before the copy issued here has read its source");
	if (fault != NULL)
		fault->note = at->group >= f->bulk_commits[at->lane] ?
		    "it belongs to no group: bulk_commit(), then "
		    "bulk_wait_read(0)" : "its thread has not waited for its "
		    "group: bulk_wait_read(0)";
}

/* ---- maps ---------------------------------------------------------------- */

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
			cj_fault_at(f, s, 0, CJ_DIAG_LIMIT, "extent %u of "
			    "\"%s\" is %lld; a tensor map has up to 2^32",
			    (unsigned)i, o->name, (long long)t->extent[i]);
			return false;
		}
		if (i == 0 || t->extent[i] <= 1)
			continue;
		if (t->stride[i] < 0 || t->stride[i] * bytes % 16 != 0 ||
		    t->stride[i] >= ((int64_t)1 << 40) / bytes) {
			cj_fault_at(f, s, 0, CJ_DIAG_LIMIT, "stride %u of "
			    "\"%s\" is %lld elements; of a tensor map it is a "
			    "multiple of 16 bytes, from 0 to 2^40",
			    (unsigned)i, o->name, (long long)t->stride[i]);
			return false;
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
