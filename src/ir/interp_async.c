/*
 * Copies by cp.async: issued now, landed late.
 *
 * A copy is checked where it is issued: bounds, rights, races. Its data move
 * as late as the program allows, at the wait that needs them, so that what is
 * missing a wait gets old data every time. Until then the elements that it
 * fills are marked: nobody may read or write them, and nobody may write the
 * elements that it reads. Where it lands it counts as an access once more, so
 * that other warps need a barrier behind the wait.
 *
 * Groups belong to a lane: a lane's number of commits is that of its open
 * group. What has not landed when the block ends is dropped.
 */
#include "interp_tma.h"

/* One cp_async of a warp. */
struct cj_flight {
	const struct cj_step *step;
	uint32_t lanes;			/* still to land, a bit each */
	uint32_t zeros;			/* of them: masked off */
	uint32_t count;			/* elements of a lane */
	uint32_t to_object, from_object;
	uint32_t pipeline;		/* of a stage, and its position, */
	uint64_t position;		/* where stages are waited for */
	uint64_t until;			/* of timelines */
	int64_t to[CJ_LANES_WARP], from[CJ_LANES_WARP];
	uint64_t group[CJ_LANES_WARP];
	struct cj_flight *next;
};


struct cj_async *
cj_async_create(struct cj_arena *a, const struct cj_decoded *c)
{
	const struct cj_module *m = c->module;
	struct cj_async *s;
	uint32_t i, o;

	for (i = 0; i < c->steps.len; i++)
		if (c->steps.at[i].op == CJ_OP_CP_ASYNC ||
		    c->steps.at[i].op == CJ_OP_TMA_LOAD ||
		    c->steps.at[i].op == CJ_OP_TMA_STORE ||
		    c->steps.at[i].op == CJ_OP_BULK_COPY ||
		    c->steps.at[i].op == CJ_OP_SEND ||
		    c->steps.at[i].op == CJ_OP_WGMMA ||
		    cj_op_info[c->steps.at[i].op].engine ==
		    CJ_ENGINE_TCGEN05)
			break;
	if (i == c->steps.len)
		return NULL;
	s = CJ_NEW(a, struct cj_async);
	s->late = CJ_NEWS(a, uint8_t *, m->objects.len);
	s->sources = CJ_NEWS(a, uint32_t, m->objects.len);
	for (o = 1; o < m->objects.len; o++)
		if (m->objects.at[o].kind == CJ_OBJECT_SHARED)
			s->late[o] = cj_alloc(a,
			    (size_t)m->objects.at[o].extent);
	return s;
}

/* ---- what is in flight --------------------------------------------------- */

static void
count_lane(struct cj_machine *m, const struct cj_flight *p, uint32_t lane,
    bool begins)
{
	memset(m->async->late[p->to_object] + p->to[lane], begins, p->count);
	if (!(p->zeros >> lane & 1))
		m->async->sources[p->from_object] += begins ? 1 : -1u;
}

static void
drop(struct cj_frame *f, struct cj_flight *p)
{
	struct cj_flight **at = &f->flights;

	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	p->next = f->landed;
	f->landed = p;
}

void
cj_async_clear(struct cj_frame *f)
{
	uint32_t lane;

	while (f->flights != NULL) {
		for (lane = 0; lane < f->lanes; lane++)
			if (f->flights->lanes >> lane & 1)
				count_lane(f->machine, f->flights, lane,
				    false);
		drop(f, f->flights);
	}
	memset(f->commits, 0, sizeof f->commits);
	cj_bulk_clear(f);
}

bool
cj_async_is_quiet(const struct cj_frame *f, uint32_t object, int64_t first,
    int64_t count, bool writes)
{
	const struct cj_async *a = f->machine->async;

	if (a == NULL || (writes && a->sources[object] != 0))
		return a == NULL;
	return a->late[object] == NULL ||
	    memchr(a->late[object] + first, 1, (size_t)count) == NULL;
}

static bool
overlaps(int64_t a, int64_t b, uint32_t n, uint32_t m)
{
	return a < b + m && b < a + n;
}

/* Does a lane's copy fill, or (for a write) read, an element of t? */
static bool
meets(const struct cj_flight *p, uint32_t lane, struct cj_touched_range t,
    bool *fills)
{
	if (!(p->lanes >> lane & 1))
		return false;
	*fills = p->to_object == t.object && overlaps(p->to[lane], t.first,
	    p->count, t.width);
	return *fills || (t.is_write && p->from_object == t.object &&
	    !(p->zeros >> lane & 1) && overlaps(p->from[lane], t.first,
	    p->count, t.width));
}

static const struct cj_flight *
find(const struct cj_frame *f, struct cj_touched_range t, bool *fills)
{
	const struct cj_block *b = f->machine->block;
	const struct cj_flight *p;
	uint32_t w, lane;

	for (w = 0; w < b->warps; w++)
		for (p = b->frames[w].flights; p != NULL; p = p->next)
			for (lane = 0; lane < CJ_LANES_WARP; lane++)
				if (meets(p, lane, t, fills))
					return p;
	return NULL;
}

static const char *
name_of(struct cj_frame *f, uint32_t object)
{
	const char *name = f->code->module->objects.at[object].name;

	return name != NULL ? name : "memory";
}

bool
cj_async_meets(struct cj_frame *f, const struct cj_step *s, uint32_t lane,
    struct cj_touched_range t)
{
	const struct cj_flight *p;
	struct cj_fault *fault;
	bool fills = false;

	if (cj_async_is_quiet(f, t.object, t.first, t.width, t.is_write))
		return false;
	p = find(f, t, &fills);
	if (p == NULL)
		return cj_bulk_meets(f, s, lane, t);
	fault = cj_fault_at(f, s, lane, CJ_DIAG_IN_FLIGHT,
	    "\"%s\" is %s at elements from %lld on" CJ_WHO ", %s",
	    name_of(f, t.object), t.is_write ? "written" : "read",
	    (long long)t.first, fills ? "which a copy has not filled yet" :
	    "which a copy has not read yet");
	if (fault != NULL) {
		fault->other = p->step->ref;
		fault->note = "the copy is issued here, and nothing has "
		    "waited for it";
	}
	return true;
}

/* ---- issue --------------------------------------------------------------- */

/* Whose stage a copy fills: it lands when that is consumed. */
static void
find_pipeline(const struct cj_frame *f, struct cj_flight *p)
{
	const struct cj_module *m = f->code->module;
	uint32_t i, k;

	if (f->machine->stages == NULL ||
	    m->objects.at[p->to_object].stages == 0)
		return;
	for (i = 1; i < m->pipelines.len; i++)
		for (k = 0; k < m->pipelines.at[i].field_count; k++)
			if (m->pipelines.at[i].fields[k] == p->to_object)
				p->pipeline = i;
	if (p->pipeline != 0)
		p->position = cj_stages_filling(f, p->pipeline);
}

static struct cj_flight *
new_flight(struct cj_frame *f, const struct cj_step *s,
    const struct cj_copy *c)
{
	const struct cj_module *m = f->code->module;
	struct cj_flight *p = f->landed, **last = &f->flights;

	if (p == NULL)
		p = CJ_NEW(f->machine->arena, struct cj_flight);
	else
		f->landed = p->next;
	memset(p, 0, sizeof *p);
	p->step = s;
	p->count = c->count;
	p->to_object = m->accesses.at[c->to].object;
	p->from_object = m->accesses.at[c->from].object;
	find_pipeline(f, p);
	while (*last != NULL)
		last = &(*last)->next;
	*last = p;
	return p;
}

static struct cj_touched_range
range_to(const struct cj_flight *p, uint32_t lane)
{
	return (struct cj_touched_range){ .object = p->to_object,
	    .width = p->count, .first = p->to[lane], .is_write = true };
}

static struct cj_touched_range
range_from(const struct cj_flight *p, uint32_t lane)
{
	return (struct cj_touched_range){ .object = p->from_object,
	    .width = p->count, .first = p->from[lane] };
}

/* Races with what others did, or do at the time. */
static void
announce(struct cj_frame *f, const struct cj_flight *p, uint32_t lane)
{
	cj_race_access(f, p->step, lane, range_to(p, lane));
	if (!(p->zeros >> lane & 1))
		cj_race_access(f, p->step, lane, range_from(p, lane));
}

static void
issue(struct cj_frame *f, struct cj_flight *p, uint32_t lane, bool reads,
    const struct cj_copy *c)
{
	const struct cj_module *m = f->code->module;
	const struct cj_step *s = p->step;
	struct cj_reach to = { &m->accesses.at[c->to], p->to[lane],
	    c->count };
	struct cj_reach from = { &m->accesses.at[c->from], p->from[lane],
	    c->count };

	if (!cj_reach_may(f, s, lane, to, true) ||
	    (reads && !cj_reach_may(f, s, lane, from, false)))
		return;
	cj_async_meets(f, s, lane, range_to(p, lane));
	p->lanes |= (uint32_t)1 << lane;
	if (!reads)
		p->zeros |= (uint32_t)1 << lane;
	p->group[lane] = f->commits[lane];
	count_lane(f->machine, p, lane, true);
	announce(f, p, lane);
}

/* What one side of the copies costs. */
static void
count_side(struct cj_frame *f, const struct cj_flight *p, uint32_t lanes,
    uint32_t object, const int64_t *at)
{
	const struct cj_object *o = &f->code->module->objects.at[object];
	unsigned bits = cj_kind_bits(o->element);
	struct cj_touched_lanes t = { .bytes = p->count * bits / 8 };
	uint32_t lane;

	for (lane = 0; lane < f->lanes; lane++) {
		t.takes_part[lane] = lanes >> lane & 1;
		t.address[lane] = (uint64_t)at[lane] * bits / 8;
	}
	cj_count_access(f, p->step, object, &t);
}

static void
count(struct cj_frame *f, const struct cj_flight *p)
{
	if (f->machine->profile == NULL)
		return;
	count_side(f, p, p->lanes, p->to_object, p->to);
	count_side(f, p, p->lanes & ~p->zeros, p->from_object, p->from);
}

/* a, b: offsets; c: mask. */
static void
step_cp_async(struct cj_frame *f, const struct cj_step *s)
{
	const struct cj_copy *c =
	    &f->code->module->copies.at[cj_step_inst(f, s)->attr];
	const uint8_t *mask = s->c == CJ_NO_OFFSET ? NULL : cj_mask(f, s->c);
	struct cj_flight *p = new_flight(f, s, c);
	uint32_t lane;

	memcpy(p->to, CJ_AT(f, int64_t, s->a), sizeof p->to);
	memcpy(p->from, CJ_AT(f, int64_t, s->b), sizeof p->from);
	for (lane = 0; lane < f->lanes; lane++)
		if (cj_lane_runs(f, lane))
			issue(f, p, lane, mask == NULL || mask[lane], c);
	count(f, p);
	if (p->lanes == 0) {
		drop(f, p);
		return;
	}
	p->until = cj_timeline_copy(f, s, (int64_t)(p->count * (uint32_t)
	    __builtin_popcount(p->lanes) * cj_kind_bits(f->code->module->
	    objects.at[p->to_object].element) / 8));
}

void
cj_interp_CP_ASYNC(struct cj_decoder *d, cj_ref r)
{
	cj_step_value(d, r, step_cp_async);
}

/* ---- groups -------------------------------------------------------------- */

static void
step_cp_commit(struct cj_frame *f, const struct cj_step *s)
{
	uint32_t lane;

	(void)s;
	for (lane = 0; lane < f->lanes; lane++)
		f->commits[lane] += cj_lane_runs(f, lane);
}

void
cj_interp_CP_COMMIT(struct cj_decoder *d, cj_ref r)
{
	cj_step_add(d, r, step_cp_commit);
}

static void
land(struct cj_frame *f, struct cj_flight *p, uint32_t lane)
{
	const struct cj_machine *m = f->machine;
	unsigned bits = cj_kind_bits(
	    f->code->module->objects.at[p->to_object].element);
	const struct cj_memory *to = &m->memory[p->to_object];
	const struct cj_memory *from = &m->memory[p->from_object];
	size_t bytes = (size_t)p->count * bits / 8;
	char *at = to->data + p->to[lane] * bits / 8;

	if (p->zeros >> lane & 1)
		memset(at, 0, bytes);
	else
		memcpy(at, from->data + p->from[lane] * bits / 8, bytes);
	if (to->written != NULL)
		memset(to->written + (p->to[lane] - to->lo), 1, p->count);
	count_lane(f->machine, p, lane, false);
	p->lanes &= ~((uint32_t)1 << lane);
	announce(f, p, lane);
}

/* Is a lane's copy among those that a wait for all but n groups ends? */
static bool
is_due(const struct cj_frame *f, const struct cj_flight *p, uint32_t lane,
    uint32_t n)
{
	if (!(p->lanes >> lane & 1) || !cj_lane_runs(f, lane))
		return false;
	return n == CJ_WAIT_ALL || p->group[lane] + n < f->commits[lane];
}

/* target: how many groups may stay open. */
static void
step_cp_wait(struct cj_frame *f, const struct cj_step *s)
{
	struct cj_flight *p, *next;
	uint32_t lane;

	for (p = f->flights; p != NULL; p = next) {
		next = p->next;
		for (lane = 0; lane < f->lanes; lane++)
			if (is_due(f, p, lane, s->target)) {
				land(f, p, lane);
				cj_timeline_wait(f, s, p->until);
			}
		if (p->lanes == 0)
			drop(f, p);
	}
}

void
cj_interp_CP_WAIT(struct cj_decoder *d, cj_ref r)
{
	cj_step_add(d, r, step_cp_wait)->target = cj_inst(d->module, r)->attr;
}

void
cj_async_land_all(struct cj_frame *f, const struct cj_step *s)
{
	struct cj_step all = *s;

	all.target = CJ_WAIT_ALL;
	step_cp_wait(f, &all);
}

void
cj_async_land(struct cj_frame *f, uint32_t pipeline, uint64_t position)
{
	const struct cj_block *b = f->machine->block;
	struct cj_flight *p, *next;
	uint32_t w, lane;

	for (w = 0; w < b->warps; w++)
		for (p = b->frames[w].flights; p != NULL; p = next) {
			next = p->next;
			if (p->pipeline != pipeline ||
			    p->position != position)
				continue;
			for (lane = 0; lane < CJ_LANES_WARP; lane++)
				if (p->lanes >> lane & 1)
					land(&b->frames[w], p, lane);
			drop(&b->frames[w], p);
		}
}
