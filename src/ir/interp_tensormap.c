/*
 * Tensor maps that device code changes.
 *
 * Memory of kind tensormap holds struct cj_tensor_map: in shared memory copies
 * whose fields are replaced, in global memory what was published of them. A
 * published map knows where it lies and how often something was published
 * there; a frame remembers which version a fence has made visible to each of
 * its lanes (rule F5: the copy's lane must have seen the newest).
 *
 * An address is one of host memory here. It belongs to the tensor of the launch
 * in whose memory it lies, where it is known whether a copy stays inside.
 */
#include "interp_tma.h"

struct cj_seen_map {
	const struct cj_tensor_map *map;
	uint64_t version[CJ_LANES_WARP];
	struct cj_seen_map *next;
};

_Static_assert(sizeof(struct cj_tensor_map) <= 128, "it is one in memory");

static const char *
name_of(const struct cj_frame *f, uint32_t object)
{
	const char *name = f->code->module->objects.at[object].name;

	return name != NULL ? name : "memory";
}

/* Element `at` of an object of maps; NULL: reported, as where a map is read
 * that nobody has made. */
static struct cj_tensor_map *
map_at(struct cj_frame *f, const struct cj_step *s, uint32_t lane,
    uint32_t access, int64_t at, bool writes)
{
	const struct cj_access *a = &f->code->module->accesses.at[access];
	struct cj_memory *m = &f->machine->memory[a->object];
	struct cj_reach reach = { a, at, 1 };
	struct cj_tensor_map *t;

	if (!cj_reach_may(f, s, lane, reach, writes))
		return NULL;
	cj_race_access(f, s, lane, (struct cj_touched_range){
	    .object = a->object, .width = 1, .first = at,
	    .is_write = writes });
	if (writes && m->written != NULL)
		m->written[at - m->lo] = 1;
	t = (struct cj_tensor_map *)(void *)(m->data + at * (int64_t)
	    (cj_kind_bits(CJ_KIND_MAP) / 8));
	return writes || t->map != NULL ? t : NULL;
}

static uint32_t
attr_of(const struct cj_frame *f, const struct cj_step *s)
{
	return cj_step_inst(f, s)->attr;
}

/* ---- changing a copy ----------------------------------------------------- */

static void
step_init(struct cj_frame *f, const struct cj_step *s)
{
	const struct cj_tensor_map *from;
	struct cj_tensor_map *to;
	uint32_t lane;

	for (lane = 0; lane < f->lanes; lane++) {
		if (!cj_lane_runs(f, lane))
			continue;
		from = (const struct cj_tensor_map *)(uintptr_t)
		    CJ_AT(f, uint64_t, s->b)[lane];
		to = map_at(f, s, lane, attr_of(f, s), CJ_AT(f, int64_t,
		    s->a)[lane], true);
		if (to == NULL)
			continue;
		*to = *from;
		to->home = 0;
	}
}

void
cj_interp_MAP_INIT(struct cj_decoder *d, cj_ref r)
{
	cj_step_value(d, r, step_init);
}

/* The tensor of the launch whose memory has a byte at that address: of the
 * map's kind; 0: none. */
static uint32_t
object_at(const struct cj_frame *f, enum cj_kind k, uint64_t address,
    int64_t *offset)
{
	const struct cj_module *m = f->code->module;
	int64_t bytes = cj_kind_bits(k) / 8;
	uint32_t o;

	for (o = 1; o < m->objects.len; o++) {
		const struct cj_memory *at = &f->machine->memory[o];
		uint64_t first = (uint64_t)(uintptr_t)at->data;
		int64_t by = (int64_t)(address - first);

		if (m->objects.at[o].kind != CJ_OBJECT_TENSOR ||
		    m->objects.at[o].element != k || at->data == NULL ||
		    by % bytes != 0 || by / bytes < at->lo ||
		    by / bytes >= at->hi)
			continue;
		*offset = by / bytes;
		return o;
	}
	return 0;
}

static void
set_address(struct cj_frame *f, const struct cj_step *s, uint32_t lane,
    struct cj_tensor_map *t, uint64_t address)
{
	const struct cj_object *o =
	    &f->code->module->objects.at[t->map->object];
	struct cj_fault *fault;

	t->object = object_at(f, o->element, address, &t->offset);
	if (address % 16 != 0)
		cj_fault_at(f, s, lane, CJ_DIAG_MISALIGNED_ACCESS,
		    "a tensor map of \"%s\" is given an address that is no "
		    "multiple of 16, but %u more", name_of(f, t->map->object),
		    (unsigned)(address % 16));
	else if (t->object == 0) {
		fault = cj_fault_at(f, s, lane, CJ_DIAG_OUT_OF_BOUNDS,
		    "a tensor map of \"%s\" is given an address that lies in "
		    "no tensor of %s of this launch",
		    name_of(f, t->map->object), cj_kind_text(o->element));
		if (fault != NULL)
			fault->note = "the executor knows the memory of "
			    "arguments alone: make that of all groups one";
	}
}

static void
set_extent(struct cj_frame *f, const struct cj_step *s, uint32_t lane,
    struct cj_tensor_map *t, uint32_t mode, int64_t n)
{
	t->extent[mode] = n;
	if (n < 0 || n >= (int64_t)1 << 32)
		cj_fault_at(f, s, lane, CJ_DIAG_LIMIT, "extent %u of a tensor "
		    "map of \"%s\" becomes %lld; it is 0 to 2^32 - 1",
		    (unsigned)mode, name_of(f, t->map->object), (long long)n);
}

static void
set_stride(struct cj_frame *f, const struct cj_step *s, uint32_t lane,
    struct cj_tensor_map *t, uint32_t mode, int64_t n)
{
	const struct cj_object *o =
	    &f->code->module->objects.at[t->map->object];
	int64_t bytes = cj_kind_bits(o->element) / 8;

	t->stride[mode] = n / bytes;
	if (n < 0 || n >= (int64_t)1 << 40 || n % 16 != 0)
		cj_fault_at(f, s, lane, CJ_DIAG_LIMIT, "stride %u of a tensor "
		    "map of \"%s\" becomes %lld bytes; it is a multiple of "
		    "16 bytes, from 0 to 2^40", (unsigned)mode,
		    name_of(f, t->map->object), (long long)n);
}

/* b: field, c: value. */
static void
step_replace(struct cj_frame *f, const struct cj_step *s)
{
	uint32_t lane, field;

	for (lane = 0; lane < f->lanes; lane++) {
		struct cj_tensor_map *t;
		int64_t value;

		if (!cj_lane_runs(f, lane))
			continue;
		/* it must have been made: read, then written */
		t = map_at(f, s, lane, attr_of(f, s), CJ_AT(f, int64_t,
		    s->a)[lane], false);
		if (t == NULL || map_at(f, s, lane, attr_of(f, s), CJ_AT(f,
		    int64_t, s->a)[lane], true) == NULL)
			continue;
		field = (uint32_t)CJ_AT(f, int64_t, s->b)[lane];
		value = CJ_AT(f, int64_t, s->c)[lane];
		if (field == CJ_MAP_ADDRESS)
			set_address(f, s, lane, t, (uint64_t)value);
		else if (field < CJ_MAP_STRIDE)
			set_extent(f, s, lane, t, field - CJ_MAP_EXTENT,
			    value);
		else
			set_stride(f, s, lane, t, field - CJ_MAP_STRIDE,
			    value);
	}
}

void
cj_interp_MAP_REPLACE(struct cj_decoder *d, cj_ref r)
{
	cj_step_value(d, r, step_replace);
}

/* ---- publishing ---------------------------------------------------------- */

/* Does a copy in flight still go by what lies there? */
static bool
is_quiet(struct cj_frame *f, const struct cj_step *s, uint32_t lane,
    uint32_t object, int64_t at)
{
	const struct cj_async *a = f->machine->async;
	const struct cj_bulk *b = a != NULL ? a->bulks : NULL;
	struct cj_fault *fault;

	while (b != NULL && (b->map == NULL || b->has_read ||
	    b->map->home != object || b->map->home_at != at))
		b = b->next;
	if (b == NULL)
		return true;
	fault = cj_fault_at(f, s, lane, CJ_DIAG_IN_FLIGHT,
	    "map %lld of \"%s\" is published anew" CJ_WHO ", and a copy in "
	    "flight goes by the old one", (long long)at, name_of(f, object));
	if (fault != NULL) {
		fault->other = b->step->ref;
		fault->note = "it is issued here, and nothing has waited for "
		    "its end";
	}
	return false;
}

/* All lanes read what is published, though one of them may have made it; none
 * goes on before they have. */
static void
watch_source(struct cj_frame *f, const struct cj_step *s, uint32_t object)
{
	uint32_t lane;

	for (lane = 0; lane < f->lanes; lane++)
		if (cj_lane_runs(f, lane))
			cj_race_access(f, s, lane, (struct cj_touched_range){
			    .object = object, .width = 1, .first =
			    CJ_AT(f, int64_t, s->b)[lane], .is_over =
			    true });
}

/* a: offset of global, b: of shared memory; by a whole warp, as one. */
static void
step_publish(struct cj_frame *f, const struct cj_step *s)
{
	const struct cj_copy *c = &f->code->module->copies.at[attr_of(f, s)];
	uint32_t object = f->code->module->accesses.at[c->to].object;
	const struct cj_tensor_map *from;
	struct cj_tensor_map *to;
	uint32_t lane = 0;
	uint64_t version;
	int64_t at;

	while (lane < f->lanes && !cj_lane_runs(f, lane))
		lane++;
	at = CJ_AT(f, int64_t, s->a)[lane];
	from = map_at(f, s, lane, c->from, CJ_AT(f, int64_t, s->b)[lane],
	    false);
	if (from == NULL)
		return;
	watch_source(f, s, f->code->module->accesses.at[c->from].object);
	to = map_at(f, s, lane, c->to, at, true);
	if (to == NULL || !is_quiet(f, s, lane, object, at))
		return;
	version = to->version;
	*to = *from;
	to->home = object;
	to->home_at = at;
	to->version = version + 1;
}

void
cj_interp_MAP_PUBLISH(struct cj_decoder *d, cj_ref r)
{
	cj_step_value(d, r, step_publish);
}

/* ---- using it ------------------------------------------------------------ */

static struct cj_seen_map *
seen(const struct cj_frame *f, const struct cj_tensor_map *map)
{
	struct cj_seen_map *s = f->seen_maps;

	while (s != NULL && s->map != map)
		s = s->next;
	return s;
}

/* The version of what lies there that the lane has made visible by a fence; 0:
 * none. */
static uint64_t
seen_version(const struct cj_frame *f, uint32_t lane,
    const struct cj_tensor_map *map)
{
	const struct cj_seen_map *s = seen(f, map);

	return s != NULL ? s->version[lane] : 0;
}

static void
step_acquire(struct cj_frame *f, const struct cj_step *s)
{
	struct cj_seen_map *note;
	const struct cj_tensor_map *map;
	uint32_t lane;

	for (lane = 0; lane < f->lanes; lane++) {
		if (!cj_lane_runs(f, lane))
			continue;
		map = map_at(f, s, lane, attr_of(f, s), CJ_AT(f, int64_t,
		    s->a)[lane], false);
		if (map == NULL)
			continue;
		note = seen(f, map);
		if (note == NULL) {
			note = CJ_NEW(f->machine->arena, struct cj_seen_map);
			note->map = map;
			note->next = f->seen_maps;
			f->seen_maps = note;
		}
		note->version[lane] = map->version;
	}
}

void
cj_interp_MAP_ACQUIRE(struct cj_decoder *d, cj_ref r)
{
	cj_step_value(d, r, step_acquire);
}

/* A place that is not there, or never written, is no map. */
static void
step_at(struct cj_frame *f, const struct cj_step *s)
{
	const struct cj_access *a = cj_step_access(f, s);
	const struct cj_memory *m = &f->machine->memory[a->object];
	uint64_t *out = CJ_AT(f, uint64_t, s->dst);
	uint32_t lane;

	for (lane = 0; lane < f->lanes; lane++) {
		int64_t at = CJ_AT(f, int64_t, s->a)[lane];
		struct cj_reach reach = { a, at, 1 };

		if (cj_lane_runs(f, lane))
			out[lane] = !cj_reach_may(f, s, lane, reach, false) ?
			    0 : (uint64_t)(uintptr_t)(m->data + at *
			    (int64_t)(cj_kind_bits(CJ_KIND_MAP) / 8));
	}
}

void
cj_interp_MAP_AT(struct cj_decoder *d, cj_ref r)
{
	cj_step_value(d, r, step_at);
}

/* Do the boxes that a map has been made for lie as those of a copy? */
static bool
is_same_box(const struct cj_module *m, const struct cj_map *a,
    const struct cj_map *b)
{
	uint32_t i;
	bool same = a->rank == b->rank && a->kind == b->kind &&
	    a->swizzle == b->swizzle && a->fills_nan == b->fills_nan &&
	    a->compares == b->compares &&
	    m->objects.at[a->object].element ==
	    m->objects.at[b->object].element;

	for (i = 0; same && i < a->rank; i++)
		same = a->box[i] == b->box[i] && a->step[i] == b->step[i];
	for (i = 0; same && a->kind == CJ_MAP_PIXELS && i + 2 < a->rank; i++)
		same = a->lower[i] == b->lower[i] &&
		    a->upper[i] == b->upper[i];
	return same;
}

/* The device can put any map where a copy looks for one. */
static bool
suits_copy(struct cj_frame *f, const struct cj_step *s, uint32_t lane,
    const struct cj_tensor_map *map)
{
	const struct cj_module *m = f->code->module;
	const struct cj_map *want = &m->maps.at[m->tmas.at[cj_step_inst(f,
	    s)->attr].map];
	struct cj_fault *fault;

	if (is_same_box(m, map->map, want))
		return true;
	fault = cj_fault_at(f, s, lane, CJ_DIAG_WRONG_LAYOUT, "a copy goes by "
	    "map %lld of \"%s\", which was made for boxes of another shape, "
	    "layout or kind", (long long)map->home_at, name_of(f, map->home));
	if (fault != NULL)
		fault->note = "map_init() takes what the copy takes, "
		    "tma_load() or tma_store() of the same layout";
	return false;
}

bool
cj_map_may(struct cj_frame *f, const struct cj_step *s, uint32_t lane,
    const struct cj_tensor_map *map)
{
	struct cj_fault *fault;

	if (map == NULL || map->map == NULL || map->object == 0)
		return false;		/* reported where that became so */
	if (map->home == 0)
		return true;
	if (!suits_copy(f, s, lane, map))
		return false;
	if (seen_version(f, lane, map) != map->version &&
	    !cj_fault_again(f, s, CJ_DIAG_IN_FLIGHT)) {
		fault = cj_fault_at(f, s, lane, CJ_DIAG_IN_FLIGHT, "a copy "
		    "goes by map %lld of \"%s\", which is published, but not "
		    "visible to this thread's copies", (long long)map->home_at,
		    name_of(f, map->home));
		if (fault != NULL)
			fault->note = "fence(proxy = .tensormap, map = m) "
			    "stands between, in the thread that copies";
		return false;
	}
	cj_race_access(f, s, lane, (struct cj_touched_range){
	    .object = map->home, .width = 1, .first = map->home_at });
	return true;
}

/* ---- addresses ----------------------------------------------------------- */

static void
step_address(struct cj_frame *f, const struct cj_step *s)
{
	const struct cj_access *a = cj_step_access(f, s);
	int64_t bytes = cj_kind_bits(f->code->module->objects.at[a->object]
	    .element) / 8;
	const char *data = f->machine->memory[a->object].data;
	uint64_t *out = CJ_AT(f, uint64_t, s->dst);
	uint32_t lane;

	for (lane = 0; lane < f->lanes; lane++)
		if (cj_lane_runs(f, lane))
			out[lane] = (uint64_t)(uintptr_t)data + (uint64_t)
			    (CJ_AT(f, int64_t, s->a)[lane] * bytes);
}

void
cj_interp_ADDRESS(struct cj_decoder *d, cj_ref r)
{
	cj_step_value(d, r, step_address);
}
