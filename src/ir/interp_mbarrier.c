/*
 * Mbarriers of the executor: phases that end when all arrivals and all bytes
 * have come, and what waits for them.
 *
 * An mbarrier counts `pending` arrivals down and `tx` bytes up and down; its
 * phase ends when both are 0. A wait for a parity passes once the phase of
 * that parity has ended, that is while the other one runs. Copies that signal
 * an mbarrier land when somebody asks for it and nothing but their bytes is
 * missing (interp_tma.c), which is as late as they can.
 *
 * What happened before an arrival, or before a copy's issue, happened before
 * what follows a wait for that phase.
 */
#include "interp_tmem.h"

struct cj_mbarriers {
	struct cj_mbarrier **at;	/* by object, by element */
	bool *gives_back;		/* by object: stages of pipelines */
};

struct cj_mbarriers *
cj_mbarriers_create(struct cj_arena *a, const struct cj_decoded *c)
{
	const struct cj_module *m = c->module;
	struct cj_mbarriers *s = NULL;
	uint32_t o;

	for (o = 1; o < m->objects.len; o++) {
		const struct cj_object *object = &m->objects.at[o];

		if (object->kind != CJ_OBJECT_SHARED ||
		    object->element != CJ_KIND_MBARRIER)
			continue;
		if (s == NULL) {
			s = CJ_NEW(a, struct cj_mbarriers);
			s->at = CJ_NEWS(a, struct cj_mbarrier *,
			    m->objects.len);
			s->gives_back = CJ_NEWS(a, bool, m->objects.len);
		}
		s->at[o] = CJ_NEWS(a, struct cj_mbarrier,
		    (size_t)object->extent);
	}
	for (o = 1; s != NULL && o < m->objects.len; o++)
		s->gives_back[m->objects.at[o].freed] =
		    m->objects.at[o].freed != 0;
	return s;
}

struct cj_mbarrier_state
cj_mbarrier_look(const struct cj_frame *f, uint32_t object, int64_t at)
{
	const struct cj_mbarrier *b = &f->machine->mbarriers->at[object][at];

	return (struct cj_mbarrier_state){ b->count, b->pending, b->tx,
	    b->phase };
}

uint32_t
cj_mbarrier_number(const struct cj_machine *owner,
    const struct cj_mbarrier *b)
{
	const struct cj_module *m = owner->module;
	struct cj_mbarrier *const *all = owner->mbarriers->at;
	uint32_t o, number = 0;

	for (o = 1; o < m->objects.len; o++) {
		if (all[o] == NULL)
			continue;
		if (b >= all[o] && b < all[o] + m->objects.at[o].extent)
			return number + (uint32_t)(b - all[o]);
		number += (uint32_t)m->objects.at[o].extent;
	}
	assert(false && "one of the block's");
	return 0;
}

/* A new block: nobody has made any. */
void
cj_mbarriers_clear(struct cj_block *b)
{
	const struct cj_module *m = b->machine.module;
	struct cj_mbarriers *s = b->machine.mbarriers;
	uint32_t o;

	for (o = 1; s != NULL && o < m->objects.len; o++)
		if (s->at[o] != NULL)
			memset(s->at[o], 0, (size_t)m->objects.at[o].extent *
			    sizeof *s->at[o]);
}

/* ---- one of them --------------------------------------------------------- */

static const char *
name_of(const struct cj_frame *f, uint32_t object)
{
	const char *name = f->code->module->objects.at[object].name;

	return name != NULL ? name : "memory";
}

/* c: rank of the block whose it is. */
static struct cj_machine *
owner_of(struct cj_frame *f, const struct cj_step *s, uint32_t lane)
{
	return s->c == CJ_NO_OFFSET ? f->machine : cj_cluster_machine(f, s,
	    lane, CJ_AT(f, int64_t, s->c)[lane]);
}

/* The mbarrier that a lane names; NULL: there is none, reported. */
static struct cj_mbarrier *
find(struct cj_frame *f, const struct cj_step *s, uint32_t lane, bool makes)
{
	const struct cj_access *a = cj_step_access(f, s);
	struct cj_machine *owner = owner_of(f, s, lane);
	int64_t at = CJ_AT(f, int64_t, s->a)[lane];
	struct cj_reach reach = { a, at, 1 };
	struct cj_mbarrier *b;

	if (owner == NULL || !cj_reach_may(f, s, lane, reach, true))
		return NULL;
	cj_race_access_of(owner->block, f, s, lane, (struct cj_touched_range){
	    .object = a->object, .width = 1, .first = at, .is_write = true,
	    .is_atomic = !makes });
	b = &owner->mbarriers->at[a->object][at];
	if (makes || b->is_made)
		return b;
	cj_fault_at(f, s, lane, CJ_DIAG_MISUSED_MBARRIER,
	    "mbarrier %lld of \"%s\" is used" CJ_WHO ", but nobody has "
	    "initialised it", (long long)at, name_of(f, a->object));
	return NULL;
}

struct cj_mbarrier *
cj_mbarrier_of_copy(struct cj_frame *f, const struct cj_step *s,
    uint32_t lane, struct cj_machine *owner, uint32_t object, int64_t at)
{
	const struct cj_object *o = &f->code->module->objects.at[object];
	struct cj_mbarrier *b;

	if (at < 0 || at >= o->extent) {
		cj_fault_at(f, s, lane, CJ_DIAG_OUT_OF_BOUNDS,
		    "\"%s\" has no mbarrier %lld, outside 0..%lld",
		    name_of(f, object), (long long)at, (long long)o->extent);
		return NULL;
	}
	if (owner != f->machine)
		cj_race_access_of(owner->block, f, s, lane,
		    (struct cj_touched_range){ .object = object, .width = 1,
		    .first = at, .is_write = true, .is_atomic = true });
	b = &owner->mbarriers->at[object][at];
	if (b->is_made && b->is_fenced)
		return b;
	cj_fault_at(f, s, lane, CJ_DIAG_MISUSED_MBARRIER,
	    b->is_made ? "a copy signals mbarrier %lld of \"%s\"" CJ_WHO
	    ", and no fence(.mbarrier_init) follows its initialisation" :
	    "a copy signals mbarrier %lld of \"%s\"" CJ_WHO ", but nobody "
	    "has initialised it", (long long)at, name_of(f, object));
	return b->is_made ? b : NULL;
}

/* A stage is given back: nobody wants what it holds, so that who reads it
 * before it is filled again reads what nobody has written for them. */
static void
forget_stage(const struct cj_mbarrier *b)
{
	const struct cj_module *m = b->owner->module;
	uint32_t o;

	for (o = 1; o < m->objects.len; o++) {
		const struct cj_object *field = &m->objects.at[o];
		struct cj_memory *memory = &b->owner->memory[o];
		int64_t n;

		if (field->freed != b->object || memory->written == NULL)
			continue;
		n = field->extent / field->stages;
		cj_memory_forget(memory, b->at * n, n);
	}
}

static void
end_phase(struct cj_mbarrier *b)
{
	if (b->pending != 0 || b->tx != 0)
		return;
	if (b->owner->mbarriers->gives_back[b->object])
		forget_stage(b);
	b->phase++;
	b->pending = b->count;
	b->expected = 0;
	b->done = b->coming;
	b->coming = NULL;
	b->done_at = b->coming_at;
	b->coming_at = 0;
	b->far_done = b->far_coming;
	b->far_coming = false;
}

static void
expect(struct cj_frame *f, const struct cj_step *s, uint32_t lane,
    struct cj_mbarrier *b, int64_t bytes)
{
	if (bytes < 0 || b->tx + bytes > CJ_MBARRIER_MOST)
		cj_fault_at(f, s, lane, CJ_DIAG_MISUSED_MBARRIER, "mbarrier "
		    "%lld of \"%s\" is to wait for %lld bytes" CJ_WHO ", and "
		    "for %lld in all; it counts 0 to %d",
		    (long long)CJ_AT(f, int64_t, s->a)[lane],
		    name_of(f, b->object), (long long)bytes,
		    (long long)(b->tx + bytes), CJ_MBARRIER_MOST);
	b->tx += bytes;
	b->expected += bytes;
}

static void
learn(struct cj_frame *f, struct cj_mbarrier *b, const struct cj_past *p)
{
	if (p != NULL && f->machine->race != NULL)
		b->coming = cj_past_join(f, b->coming, p);
}

void
cj_mbarrier_complete(struct cj_frame *f, struct cj_mbarrier *b,
    int64_t bytes, const struct cj_bulk *of)
{
	learn(f, b, of->past);
	if (of->until > b->coming_at)
		b->coming_at = of->until;
	b->tx -= bytes;
	end_phase(b);
}

/* All arrivals by commits come now, if none is missing but theirs. */
static void
land_commits(struct cj_frame *f, struct cj_mbarrier *b)
{
	if (b->due == 0 || b->due != b->pending)
		return;
	learn(f, b, b->due_past);
	if (b->due_at > b->coming_at)
		b->coming_at = b->due_at;
	b->pending = b->due = 0;
	b->due_past = NULL;
	b->due_at = 0;
	end_phase(b);
}

static void
arrive(struct cj_frame *f, const struct cj_step *s, uint32_t lane,
    struct cj_mbarrier *b, int64_t count)
{
	struct cj_fault *fault;

	land_commits(f, b);
	if (count >= 1 && count <= (int64_t)(b->pending - b->due)) {
		b->pending -= (uint32_t)count;
		if (f->now > b->coming_at)
			b->coming_at = f->now;
		b->last = s->ref;
		end_phase(b);
		return;
	}
	fault = cj_fault_at(f, s, lane, CJ_DIAG_MISUSED_MBARRIER,
	    "%lld arrive at mbarrier %lld of \"%s\"" CJ_WHO ", where %u of "
	    "%u are still to come in phase %llu", (long long)count,
	    (long long)CJ_AT(f, int64_t, s->a)[lane],
	    name_of(f, cj_step_access(f, s)->object), (unsigned)b->pending,
	    (unsigned)b->count, (unsigned long long)b->phase);
	if (fault != NULL && b->last != 0) {
		fault->other = b->last;
		fault->note = "the last one that counted is here";
	}
}

void
cj_mbarrier_commit(struct cj_frame *f, const struct cj_step *s,
    struct cj_mbarrier *b, const struct cj_past *p)
{
	land_commits(f, b);
	if (b->pending == b->due) {		/* bytes are missing */
		cj_fault_at(f, s, cj_first_lane(f), CJ_DIAG_MISUSED_MBARRIER,
		    "a commit arrives" CJ_WHO " where none of %u is still to "
		    "come in phase %llu", (unsigned)b->count,
		    (unsigned long long)b->phase);
		return;
	}
	b->due++;
	b->due_frame = f;
	b->due_step = s;
	b->last = s->ref;
	if (f->machine->race != NULL)
		b->due_past = cj_past_join(f, b->due_past, p);
	if (f->product_end > b->due_at)
		b->due_at = f->product_end;
}

void
cj_mbarriers_end(struct cj_block *b)
{
	const struct cj_module *m = b->machine.module;
	struct cj_mbarriers *s = b->machine.mbarriers;
	struct cj_fault *fault;
	uint32_t o;
	int64_t i;

	for (o = 1; s != NULL && o < m->objects.len; o++)
		for (i = 0; s->at[o] != NULL && i < m->objects.at[o].extent;
		    i++) {
			const struct cj_mbarrier *at = &s->at[o][i];

			if (at->due == 0 || cj_fault_again(at->due_frame,
			    at->due_step, CJ_DIAG_MISUSED_MBARRIER))
				continue;
			fault = cj_fault_at(at->due_frame, at->due_step, 0,
			    CJ_DIAG_MISUSED_MBARRIER, "the block ends, and "
			    "the commit issued here may still have to arrive "
			    "at mbarrier %lld of \"%s\"", (long long)i,
			    name_of(at->due_frame, o));
			if (fault != NULL)
				fault->note = "nobody has waited for it: "
				    "memory of the block may be another's "
				    "then";
		}
}

/* ---- steps: a is the offset ---------------------------------------------- */

static void
step_init(struct cj_frame *f, const struct cj_step *s)
{
	const int64_t *count = CJ_AT(f, int64_t, s->b);
	struct cj_mbarrier *b;
	uint32_t lane;

	for (lane = 0; lane < f->lanes; lane++) {
		if (!cj_lane_runs(f, lane) ||
		    (b = find(f, s, lane, true)) == NULL)
			continue;
		if (count[lane] < 1 || count[lane] > CJ_MBARRIER_MOST) {
			cj_fault_at(f, s, lane, CJ_DIAG_MISUSED_MBARRIER,
			    "an mbarrier is initialised for %lld arrivals, "
			    "there may be 1 to %d", (long long)count[lane],
			    CJ_MBARRIER_MOST);
			continue;
		}
		memset(b, 0, sizeof *b);
		b->is_made = true;
		b->maker = f->warp;
		b->owner = owner_of(f, s, lane);
		b->object = cj_step_access(f, s)->object;
		b->at = CJ_AT(f, int64_t, s->a)[lane];
		b->count = b->pending = (uint32_t)count[lane];
	}
}

void
cj_interp_MBARRIER_INIT(struct cj_decoder *d, cj_ref r)
{
	cj_step_value(d, r, step_init);
}

/* Lanes that arrive at once belong to one phase: where it ends in between, the
 * others count for the next one, which nobody can want. */
static void
check_together(struct cj_frame *f, const struct cj_step *s, uint32_t lane,
    const struct cj_mbarrier *b, const struct cj_mbarrier *first,
    uint64_t phase)
{
	if (b != first || b->phase == phase)
		return;
	cj_fault_at(f, s, lane, CJ_DIAG_MISUSED_MBARRIER,
	    "lanes of a warp arrive at mbarrier %lld of \"%s\" at once" CJ_WHO
	    ", and phase %llu, of %u arrivals, has ended before this one",
	    (long long)CJ_AT(f, int64_t, s->a)[lane],
	    name_of(f, cj_step_access(f, s)->object),
	    (unsigned long long)phase, (unsigned)b->count);
}

/* b: arrivals, or the bytes that come before one. */
static void
step_arrive(struct cj_frame *f, const struct cj_step *s)
{
	const int64_t *n = CJ_AT(f, int64_t, s->b);
	const struct cj_past *past = NULL;
	struct cj_mbarrier *b, *first = NULL;
	bool expects = s->op == CJ_OP_MBARRIER_EXPECT;
	uint64_t phase = 0;
	uint32_t lane;

	for (lane = 0; lane < f->lanes; lane++) {
		if (!cj_lane_runs(f, lane) ||
		    (b = find(f, s, lane, false)) == NULL)
			continue;
		if (past == NULL)
			past = cj_clock_publish(f);
		if (first == NULL) {
			first = b;
			phase = b->phase;
		}
		check_together(f, s, lane, b, first, phase);
		learn(f, b, past);
		b->far_coming |= owner_of(f, s, lane) != f->machine;
		if (expects)
			expect(f, s, lane, b, n[lane]);
		arrive(f, s, lane, b, expects ? 1 : n[lane]);
	}
}

void
cj_interp_MBARRIER_ARRIVE(struct cj_decoder *d, cj_ref r)
{
	cj_step_value(d, r, step_arrive);
}

static void
step_bytes(struct cj_frame *f, const struct cj_step *s)
{
	struct cj_mbarrier *b;
	uint32_t lane;

	for (lane = 0; lane < f->lanes; lane++)
		if (cj_lane_runs(f, lane) &&
		    (b = find(f, s, lane, false)) != NULL)
			expect(f, s, lane, b, CJ_AT(f, int64_t,
			    s->b)[lane]);
}

void
cj_interp_MBARRIER_BYTES(struct cj_decoder *d, cj_ref r)
{
	cj_step_value(d, r, step_bytes);
}

void
cj_interp_MBARRIER_EXPECT(struct cj_decoder *d, cj_ref r)
{
	cj_step_value(d, r, step_arrive);
}

/* Copies that nobody waits for otherwise land here, as early as they can. */
static void
step_cp_arrive(struct cj_frame *f, const struct cj_step *s)
{
	const struct cj_past *past;
	struct cj_mbarrier *b;
	uint32_t lane;

	cj_async_land_all(f, s);
	past = cj_clock_publish(f);
	for (lane = 0; lane < f->lanes; lane++) {
		if (!cj_lane_runs(f, lane) ||
		    (b = find(f, s, lane, false)) == NULL)
			continue;
		learn(f, b, past);
		arrive(f, s, lane, b, 1);
	}
}

void
cj_interp_CP_ARRIVE(struct cj_decoder *d, cj_ref r)
{
	cj_step_value(d, r, step_cp_arrive);
}

/* ---- waiting ------------------------------------------------------------- */

/* A GPU defines nothing for other parities. */
static void
check_parity(struct cj_frame *f, const struct cj_step *s, uint32_t lane)
{
	int64_t parity = CJ_AT(f, int64_t, s->b)[lane];

	if (parity == 0 || parity == 1)
		return;
	cj_fault_at(f, s, lane, CJ_DIAG_MISUSED_MBARRIER,
	    "the phase of parity %lld of \"%s\" is asked for" CJ_WHO
	    "; parities are 0 and 1", (long long)parity,
	    name_of(f, cj_step_access(f, s)->object));
}

/* Has the phase of that parity ended? What is missing may be on its way. */
static bool
has_ended(struct cj_frame *f, const struct cj_step *s, uint32_t lane)
{
	uint32_t object = cj_step_access(f, s)->object;
	int64_t at = CJ_AT(f, int64_t, s->a)[lane];
	uint64_t parity = CJ_AT(f, uint64_t, s->b)[lane] & 1;
	struct cj_mbarrier *b = &f->machine->mbarriers->at[object][at];

	if ((b->phase & 1) == parity)
		land_commits(f, b);
	if (b->pending == 0 && (b->phase & 1) == parity)
		cj_tma_land(f, b);
	return (b->phase & 1) != parity;
}

/* Lanes that no mbarrier was found for do not wait. */
static bool
names_one(struct cj_frame *f, const struct cj_step *s, uint32_t lane)
{
	uint32_t object = cj_step_access(f, s)->object;
	int64_t at = CJ_AT(f, int64_t, s->a)[lane];

	return cj_lane_runs(f, lane) && at >= 0 &&
	    at < f->code->module->objects.at[object].extent &&
	    f->machine->mbarriers->at[object][at].is_made;
}

static void
take(struct cj_frame *f, const struct cj_step *s, uint32_t lane)
{
	const struct cj_access *a = cj_step_access(f, s);
	const struct cj_mbarrier *b = &f->machine->mbarriers->at[a->object]
	    [CJ_AT(f, int64_t, s->a)[lane]];

	cj_clock_join(f, b->done);
	cj_timeline_wait(f, s, b->done_at);
	if (b->far_done && a->scope == CJ_MEMORY_BLOCK)
		cj_fault_at(f, s, lane, CJ_DIAG_MISUSED_MBARRIER,
		    "another block has released to mbarrier %lld of \"%s\", "
		    "and scope = .block acquires from the own block alone",
		    (long long)CJ_AT(f, int64_t, s->a)[lane],
		    name_of(f, a->object));
}

static bool
may_go(struct cj_frame *f)
{
	const struct cj_step *s = &f->code->steps.at[f->pc - 1];
	uint32_t lane;

	for (lane = 0; lane < f->lanes; lane++)
		if (names_one(f, s, lane) && !has_ended(f, s, lane))
			return false;
	for (lane = 0; lane < f->lanes; lane++)
		if (names_one(f, s, lane))
			take(f, s, lane);
	return true;
}

static void
describe(const struct cj_frame *frame, struct cj_strbuf *out)
{
	const struct cj_step *s = &frame->code->steps.at[frame->pc - 1];
	const struct cj_mbarriers *all = frame->machine->mbarriers;
	uint32_t object = cj_step_access(frame, s)->object, lane;
	const struct cj_mbarrier *b;
	int64_t at;

	for (lane = 0; lane < frame->lanes; lane++) {
		if (!cj_lane_runs(frame, lane))
			continue;
		at = CJ_AT(frame, int64_t, s->a)[lane];
		b = &all->at[object][at];
		if ((b->phase & 1) != (CJ_AT(frame, uint64_t, s->b)[lane] &
		    1))
			continue;
		cj_strbuf_printf(out, "phase %llu of mbarrier %lld of \"%s\", "
		    "which lacks %u of %u arrivals",
		    (unsigned long long)b->phase, (long long)at,
		    name_of(frame, object), (unsigned)b->pending,
		    (unsigned)b->count);
		if (b->tx > 0)
			cj_strbuf_printf(out, " and %lld of the %lld bytes "
			    "that copies are to bring", (long long)b->tx,
			    (long long)b->expected);
		else if (b->tx < 0)
			cj_strbuf_printf(out, " and has got %lld bytes, %lld "
			    "more than it expects",
			    (long long)(b->expected - b->tx),
			    (long long)-b->tx);
		return;
	}
}

static const struct cj_wait mbarrier_wait = { may_go, describe };

static void
step_wait(struct cj_frame *f, const struct cj_step *s)
{
	uint32_t lane;

	for (lane = 0; lane < f->lanes; lane++)
		if (cj_lane_runs(f, lane)) {
			check_parity(f, s, lane);
			find(f, s, lane, false);
		}
	if (may_go(f))
		return;
	f->state = CJ_STATE_WAITING;
	f->wait = &mbarrier_wait;
}

void
cj_interp_MBARRIER_WAIT(struct cj_decoder *d, cj_ref r)
{
	cj_step_value(d, r, step_wait);
}

static void
step_test(struct cj_frame *f, const struct cj_step *s)
{
	uint8_t *out = CJ_AT(f, uint8_t, s->dst);
	uint32_t lane;

	for (lane = 0; lane < f->lanes; lane++) {
		if (!cj_lane_runs(f, lane))
			continue;
		check_parity(f, s, lane);
		out[lane] = find(f, s, lane, false) == NULL ||
		    has_ended(f, s, lane);
		if (out[lane] && names_one(f, s, lane))
			take(f, s, lane);
	}
}

void
cj_interp_MBARRIER_TEST(struct cj_decoder *d, cj_ref r)
{
	cj_step_value(d, r, step_test);
}

/* ---- fences -------------------------------------------------------------- */

static void
fence_init(struct cj_frame *f)
{
	const struct cj_module *m = f->code->module;
	struct cj_mbarriers *all = f->machine->mbarriers;
	uint32_t o;
	int64_t i;

	for (o = 1; all != NULL && o < m->objects.len; o++)
		for (i = 0; all->at[o] != NULL &&
		    i < m->objects.at[o].extent; i++)
			all->at[o][i].is_fenced |= all->at[o][i].is_made &&
			    all->at[o][i].maker == f->warp;
}

static void
step_fence(struct cj_frame *f, const struct cj_step *s)
{
	enum cj_fence fence = (enum cj_fence)cj_step_inst(f, s)->attr;

	switch (fence) {
	case CJ_FENCE_MBARRIER_INIT:
		fence_init(f);
		return;
	case CJ_FENCE_BEFORE_SYNC: case CJ_FENCE_AFTER_SYNC:
		cj_tmem_fence(f, fence == CJ_FENCE_BEFORE_SYNC);
		return;
	case CJ_FENCE_ASYNC: case CJ_FENCE_ASYNC_SHARED:
	case CJ_FENCE_ASYNC_GLOBAL:
		if (fence != CJ_FENCE_ASYNC_GLOBAL) {
			cj_clock_fence(f, CJ_VIEW_SHARED);
			cj_clock_fence(f, CJ_VIEW_LANDED);
		}
		if (fence != CJ_FENCE_ASYNC_SHARED)
			cj_clock_fence(f, CJ_VIEW_GLOBAL);
		return;
	case CJ_FENCE_COUNT:
		break;
	}
	assert(false && "one of the fences");
}

void
cj_interp_FENCE(struct cj_decoder *d, cj_ref r)
{
	cj_step_add(d, r, step_fence);
}
