/*
 * A block: its warps take turns, each for a number of steps drawn from the
 * seed, until it ends or waits. Barriers open when all have come; when nobody
 * can go on, those who wait say for what, and who should come.
 *
 * Threads that have ended do not come to a barrier any more. The block's own
 * opens without them, with a report, when nobody else can run.
 */
#include "interp_tmem.h"

enum {
	LONG_TURN = 1 << 12,		/* steps of a warp, for seed 0 */
	MOST_DOUBLINGS = 9		/* of a turn that is drawn */
};

/* ---- making -------------------------------------------------------------- */

static void
make_memory(struct cj_block *b, const struct cj_decoded *c)
{
	struct cj_machine *w = &b->machine;
	const struct cj_module *m = c->module;
	struct cj_memory *memory = CJ_NEWS(w->arena, struct cj_memory,
	    m->objects.len + 1);
	uint32_t o;

	for (o = 1; o < m->objects.len; o++) {
		const struct cj_object *object = &m->objects.at[o];

		if (object->kind == CJ_OBJECT_TABLE)
			memory[o] = c->tables[o];
		else if (object->kind == CJ_OBJECT_SHARED ||
		    object->kind == CJ_OBJECT_TMEM) {
			memory[o].data = cj_alloc(w->arena, cj_memory_bytes(
			    object->element, object->extent));
			memory[o].hi = object->extent;
			memory[o].written = cj_alloc(w->arena,
			    (size_t)object->extent);
			memory[o].readable = memory[o].writable = true;
		} else if (b->launch->memory != NULL)
			memory[o] = b->launch->memory[o];
	}
	w->memory = memory;
}

static void
make_threads(struct cj_block *b)
{
	const struct cj_kernel_launch *l = b->launch;
	struct cj_arena *a = b->machine.arena;
	uint32_t i, axis, padded = b->warps * CJ_LANES_WARP;

	for (axis = 0; axis < 3; axis++)
		b->thread[axis] = CJ_NEWS(a, int64_t, padded);
	for (i = 0; i < padded; i++) {
		b->thread[0][i] = i % l->block[0];
		b->thread[1][i] = i / l->block[0] % l->block[1];
		b->thread[2][i] = i / l->block[0] / l->block[1];
	}
}

static void
make_warps(struct cj_block *b, const struct cj_decoded *c)
{
	struct cj_arena *a = b->machine.arena;
	uint32_t i;

	b->order = CJ_NEWS(a, uint32_t, b->warps);
	b->frames = CJ_NEWS(a, struct cj_frame, b->warps);
	for (i = 0; i < b->warps; i++) {
		char *regs = cj_alloc(a, c->frame_bytes + CJ_FRAME_ALIGN);

		regs += -(uintptr_t)regs & (CJ_FRAME_ALIGN - 1);
		cj_frame_init(&b->frames[i], c, &b->machine, regs);
		b->frames[i].warp = i;
		b->order[i] = i;
	}
}

static void
watch_races(struct cj_block *b, const struct cj_race *race)
{
	struct cj_machine *m = &b->machine;
	uint32_t i;

	m->race = cj_race_worker(m->arena, race, m->memory);
	for (i = 0; i < b->warps; i++) {
		b->frames[i].clock = CJ_NEW(m->arena, struct cj_clock);
		b->frames[i].stale = CJ_NEW(m->arena, struct cj_clock);
	}
}

struct cj_block *
cj_block_create(struct cj_arena *a, const struct cj_decoded *c,
    const struct cj_kernel_launch *l, const struct cj_machine *proto,
    const struct cj_race *race)
{
	struct cj_block *b = CJ_NEW(a, struct cj_block);

	b->machine = *proto;
	b->machine.arena = a;
	b->machine.block = b;
	b->launch = l;
	b->threads = (uint32_t)(l->block[0] * l->block[1] * l->block[2]);
	b->warps = (b->threads + CJ_LANES_WARP - 1) / CJ_LANES_WARP;
	b->machine.async = cj_async_create(a, c);
	b->machine.mbarriers = cj_mbarriers_create(a, c);
	b->machine.stages = cj_stages_create(a, c);
	b->machine.tmem = cj_tmem_create(a, c, b->warps);
	make_memory(b, c);
	make_threads(b);
	make_warps(b, c);
	if (race != NULL)
		watch_races(b, race);
	return b;
}

/* ---- starting ------------------------------------------------------------ */

/* Shared memory is made anew: written by nobody. */
static void
clear_shared(struct cj_block *b)
{
	const struct cj_module *m = b->machine.module;
	uint32_t o;

	for (o = 1; o < m->objects.len; o++) {
		const struct cj_object *object = &m->objects.at[o];
		struct cj_memory *memory = &b->machine.memory[o];

		if ((object->kind != CJ_OBJECT_SHARED &&
		    object->kind != CJ_OBJECT_TMEM) || memory->data == NULL)
			continue;
		memset(memory->data, 0, cj_memory_bytes(object->element,
		    object->extent));
		if (memory->written != NULL)
			memset(memory->written, 0, (size_t)object->extent);
	}
}

static uint64_t
mix(uint64_t x)
{
	x ^= x >> 31;
	x *= UINT64_C(0x7fb5d329728ea185);
	x ^= x >> 27;
	x *= UINT64_C(0x81dadef4bc2dd44d);
	return x ^ x >> 33;
}

static uint64_t
draw(struct cj_block *b)
{
	return b->drawn = mix(b->drawn + 0x9e3779b97f4a7c15);
}

/* Warps in order for seed 0, else shuffled. */
static void
draw_order(struct cj_block *b)
{
	uint32_t i;

	for (i = b->warps; i > 1 && b->seed != 0; i--) {
		uint32_t j = (uint32_t)(draw(b) % i);
		uint32_t held = b->order[i - 1];

		b->order[i - 1] = b->order[j];
		b->order[j] = held;
	}
}

void
cj_block_start(struct cj_block *b, uint64_t number, uint64_t seed)
{
	const struct cj_kernel_launch *l = b->launch;
	uint32_t i;

	b->number = number;
	b->at[0] = (int64_t)(number % (uint64_t)l->grid[0]);
	b->at[1] = (int64_t)(number / (uint64_t)l->grid[0]
	    % (uint64_t)l->grid[1]);
	b->at[2] = (int64_t)(number / (uint64_t)l->grid[0]
	    / (uint64_t)l->grid[1]);
	b->seed = seed;
	b->drawn = mix(seed + mix(number + 1));
	memset(b->barrier, 0, sizeof b->barrier);
	clear_shared(b);
	cj_mbarriers_clear(b);
	cj_tmem_clear(b);
	if (b->machine.race != NULL)
		cj_race_clear(b->machine.race, number);
	if (b->machine.stages != NULL)
		cj_stages_clear(b->machine.stages);
	for (i = 0; i < b->warps; i++) {
		uint32_t left = b->threads - i * CJ_LANES_WARP;

		b->order[i] = i;
		cj_async_clear(&b->frames[i]);
		cj_clock_begin(&b->frames[i]);
		cj_frame_start(&b->frames[i],
		    left < CJ_LANES_WARP ? left : CJ_LANES_WARP);
	}
}

uint64_t
cj_block_steps(const struct cj_block *b)
{
	uint64_t steps = 0;
	uint32_t i;

	for (i = 0; i < b->warps; i++)
		steps += b->frames[i].steps;
	return steps;
}

/* ---- barriers ------------------------------------------------------------ */

static const struct cj_step *
waiting_at(const struct cj_frame *f)
{
	assert(f->state == CJ_STATE_WAITING && f->pc > 0);
	return &f->code->steps.at[f->pc - 1];
}

static bool
barrier_is_open(struct cj_frame *f)
{
	const struct cj_barrier *b =
	    &f->machine->block->barrier[f->wait_at];

	if (b->turn == f->wait_turn)
		return false;
	cj_timeline_wait(f, &f->code->steps.at[f->pc - 1], b->done_at);
	return true;
}

static void
describe_barrier(const struct cj_frame *f, struct cj_strbuf *out)
{
	(void)f;
	cj_strbuf_puts(out, "the barrier of the block");
}

static const struct cj_wait barrier_wait = { barrier_is_open,
    describe_barrier };

bool
cj_block_waits(const struct cj_block *b, const struct cj_wait *wait)
{
	bool some = false;
	uint32_t i;

	for (i = 0; i < b->warps; i++) {
		if (b->frames[i].state == CJ_STATE_ENDED)
			continue;
		if (b->frames[i].state != CJ_STATE_WAITING ||
		    b->frames[i].wait != wait)
			return false;
		some = true;
	}
	return some;
}

static bool
waits_for_block(const struct cj_frame *f)
{
	return f->state == CJ_STATE_WAITING && f->wait == &barrier_wait
	    && f->wait_at == 0;
}

/* How many threads of a block have ended, and one of them. */
static uint32_t
count_ended(const struct cj_block *b, uint32_t *some)
{
	uint32_t t, ended = 0;

	assert(b->threads != 0);
	for (t = 0; t < b->threads; t++) {
		const struct cj_frame *f = &b->frames[t / CJ_LANES_WARP];
		const uint8_t *left = cj_mask(f, f->code->unfinished);

		if (f->state == CJ_STATE_WAITING && left[t % CJ_LANES_WARP])
			continue;
		if (ended++ == 0)
			*some = t;
	}
	return ended;
}

static const char *
thread_text(const struct cj_block *b, uint32_t t)
{
	return cj_printf(b->machine.arena, "(%lld, %lld, %lld)",
	    (long long)b->thread[0][t], (long long)b->thread[1][t],
	    (long long)b->thread[2][t]);
}

/* Some ended without coming here: the first warp that waits says so. */
static void
report_ended(struct cj_block *b, struct cj_frame *f, uint32_t waiting)
{
	uint32_t some = 0, ended = count_ended(b, &some);

	if (ended == 0)
		return;
	cj_fault_at(f, waiting_at(f), cj_first_lane(f),
	    CJ_DIAG_DIVERGENT_BARRIER,
	    "%u of %u threads wait at this barrier" CJ_WHO ", but %u have "
	    "ended, thread %s among them",
	    (unsigned)waiting, (unsigned)b->threads, (unsigned)ended,
	    thread_text(b, some));
}

static void
report_elsewhere(struct cj_frame *f, struct cj_frame *g)
{
	struct cj_fault *fault = cj_fault_at(f, waiting_at(f),
	    cj_first_lane(f), CJ_DIAG_DIVERGENT_BARRIER,
	    "warp %u waits at this barrier, warp %u at another one",
	    (unsigned)f->warp, (unsigned)g->warp);

	if (fault == NULL)
		return;
	fault->other = waiting_at(g)->ref;
	fault->note = "the other barrier is here";
}

/* Do all who have not ended wait for the block's barrier? */
static bool
all_have_come(const struct cj_block *b)
{
	bool some = false;
	uint32_t i;

	for (i = 0; i < b->warps; i++) {
		if (b->frames[i].state == CJ_STATE_ENDED)
			continue;
		if (!waits_for_block(&b->frames[i]))
			return false;
		some = true;
	}
	return some;
}

static void
check_barrier(struct cj_block *b)
{
	struct cj_frame *first = NULL;
	uint32_t i, lane, waiting = 0;

	for (i = 0; i < b->warps; i++) {
		struct cj_frame *f = &b->frames[i];

		if (!waits_for_block(f))
			continue;
		for (lane = 0; lane < f->lanes; lane++)
			waiting += cj_lane_runs(f, lane);
		if (first == NULL)
			first = f;
		else if (waiting_at(first)->ref != waiting_at(f)->ref)
			report_elsewhere(first, f);
	}
	report_ended(b, first, waiting);
}

/* Nobody can run: the block's barrier opens. */
static bool
open_block_barrier(struct cj_block *b)
{
	uint32_t i;

	if (!all_have_come(b))
		return false;
	if (b->machine.checks & CJ_CHECK_BARRIER)
		check_barrier(b);
	cj_clock_meet(b, waits_for_block);
	for (i = 0; i < b->warps; i++)
		if (waits_for_block(&b->frames[i]) &&
		    b->frames[i].now > b->barrier[0].done_at)
			b->barrier[0].done_at = b->frames[i].now;
	b->barrier[0].turn++;
	return true;
}

/* Lanes of a warp that are elsewhere cannot come before this one goes on. */
void
cj_barrier_wait(struct cj_frame *f, const struct cj_step *s,
    const struct cj_wait *wait, uint32_t turn)
{
	const uint8_t *unfinished = cj_mask(f, f->code->unfinished);
	const uint8_t *mask = cj_mask(f, CJ_FRAME_MASK);
	uint32_t lane, here = 0, elsewhere = 0, some = 0;

	for (lane = 0; lane < f->lanes; lane++) {
		here += mask[lane];
		if (unfinished[lane] && !mask[lane] && elsewhere++ == 0)
			some = lane;
	}
	if (elsewhere != 0 && f->machine->checks & CJ_CHECK_BARRIER)
		cj_fault_at(f, s, cj_first_lane(f), CJ_DIAG_DIVERGENT_BARRIER,
		    "%u threads of warp %u wait at this barrier" CJ_WHO
		    ", but %u, lane %u among them, took another way",
		    (unsigned)here, (unsigned)f->warp, (unsigned)elsewhere,
		    (unsigned)some);
	f->state = CJ_STATE_WAITING;
	f->wait = wait;
	f->wait_at = 0;
	f->wait_turn = turn;
}

static void
step_barrier(struct cj_frame *f, const struct cj_step *s)
{
	cj_barrier_wait(f, s, &barrier_wait,
	    f->machine->block->barrier[0].turn);
}

void
cj_interp_BARRIER(struct cj_decoder *d, cj_ref r)
{
	cj_step_add(d, r, step_barrier);
}

/* ---- running ------------------------------------------------------------- */

static void
run_warp(struct cj_block *b, struct cj_frame *f)
{
	f->quantum = LONG_TURN;
	if (b->seed != 0) {
		uint64_t drawn = draw(b);

		f->quantum = 1 + (drawn >> 8) % ((uint64_t)1
		    << drawn % MOST_DOUBLINGS);
	}
	cj_frame_run(f);
}

enum cj_turn
cj_block_turn(struct cj_block *b)
{
	bool ran = false, waits = false;
	uint32_t i;

	draw_order(b);
	for (i = 0; i < b->warps && !b->machine.stop; i++) {
		struct cj_frame *f = &b->frames[b->order[i]];

		if (f->state == CJ_STATE_WAITING && f->wait->may_go(f))
			f->state = CJ_STATE_READY;
		if (f->state == CJ_STATE_READY) {
			run_warp(b, f);
			ran = true;
		}
		waits |= f->state == CJ_STATE_WAITING;
	}
	if (b->machine.stop)
		return CJ_TURN_ENDED;
	if (ran || open_block_barrier(b))
		return CJ_TURN_RAN;
	return waits ? CJ_TURN_STUCK : CJ_TURN_ENDED;
}

/* ---- hanging ------------------------------------------------------------- */

/* What a warp waits for, as the place and the words for it. */
static const char *
wish_of(const struct cj_frame *f)
{
	struct cj_strbuf out;

	cj_strbuf_init(&out, f->machine->arena);
	f->wait->describe(f, &out);
	return out.text;
}

static bool
waits_alike(const struct cj_frame *f, const struct cj_frame *g)
{
	return g->state == CJ_STATE_WAITING &&
	    waiting_at(f)->ref == waiting_at(g)->ref &&
	    strcmp(wish_of(f), wish_of(g)) == 0;
}

/* "warp 1", "warps 0 to 3, 7"; how many. */
static uint32_t
put_warps(struct cj_strbuf *out, uint32_t warps)
{
	uint32_t i, from, count = (uint32_t)__builtin_popcount(warps);
	const char *sign = count > 1 ? "warps " : "warp ";

	for (i = 0; i < 32; i++) {
		if (!(warps >> i & 1))
			continue;
		for (from = i; i < 31 && warps >> (i + 1) & 1; i++)
			;
		cj_strbuf_printf(out, "%s%u", sign, (unsigned)from);
		if (i > from)
			cj_strbuf_printf(out, "%s%u", i > from + 1 ? " to " :
			    ", ", (unsigned)i);
		sign = ", ";
	}
	return count;
}

static const char *
ended_text(const struct cj_block *b)
{
	struct cj_strbuf out;
	uint32_t warps = 0, i;

	for (i = 0; i < b->warps; i++)
		if (b->frames[i].state == CJ_STATE_ENDED)
			warps |= (uint32_t)1 << i;
	if (warps == 0)
		return NULL;
	cj_strbuf_init(&out, b->machine.arena);
	cj_strbuf_puts(&out, put_warps(&out, warps) > 1 ? " have ended" :
	    " has ended");
	return out.text;
}

/* All that wait for the same at the same place, once. */
static void
report_waiting(struct cj_block *b, struct cj_frame *f, uint32_t warps,
    const char *note)
{
	struct cj_strbuf who;
	struct cj_fault *fault;
	uint32_t count;

	cj_strbuf_init(&who, b->machine.arena);
	count = put_warps(&who, warps);
	fault = cj_fault_at(f, waiting_at(f), cj_first_lane(f),
	    CJ_DIAG_DEADLOCK, "%s %s for ever for %s", who.text, count > 1 ?
	    "wait" : "waits", wish_of(f));
	if (fault != NULL)
		fault->note = note;
}

void
cj_block_hang(struct cj_block *b)
{
	const char *note = ended_text(b);
	uint32_t told = 0, warps, i, k;

	for (i = 0; i < b->warps; i++) {
		if (b->frames[i].state != CJ_STATE_WAITING || told >> i & 1)
			continue;
		for (k = i, warps = 0; k < b->warps; k++)
			if (waits_alike(&b->frames[i], &b->frames[k]))
				warps |= (uint32_t)1 << k;
		report_waiting(b, &b->frames[i], warps, note);
		told |= warps;
		note = NULL;
	}
	for (i = 0; i < b->warps; i++)
		b->frames[i].state = CJ_STATE_ENDED;
}
