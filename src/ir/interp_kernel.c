/*
 * Kernels: blocks on threads of ours, the warps of a block taking turns.
 *
 * A worker takes the next block, starts its warps and runs them in an order
 * drawn from the seed, each until it ends or waits at a barrier. When none can
 * run, those that wait have all arrived; whoever ended, or waits elsewhere, has
 * not, and is reported. Registers, shared memory and shadows belong to the
 * worker and serve one block after the other. A worker has its own arena,
 * faults and lines, brought together in the order of blocks at the end.
 */
#include "interp_priv.h"

enum { MAX_WORKERS = 256, MAX_THREADS = 1024 };
#define DEFAULT_STEP_LIMIT	((uint64_t)1 << 26)

struct cj_launch_run {			/* what the workers share */
	const struct cj_decoded *code;
	const struct cj_kernel_launch *launch;
	const struct cj_run_options *options;
	uint64_t blocks;
	atomic_int halt;
	struct cj_locks locks;
	struct cj_race *race;
};

struct worker {
	struct cj_launch_run *run;
	struct cj_arena arena;
	struct cj_recover recover;
	struct cj_machine machine;
	struct cj_block block;
	struct cj_fault_list faults;
	struct cj_lines lines;
	uint32_t *order;		/* of warps */
	uint64_t operations;
};

/* ---- a block ------------------------------------------------------------- */

/* Shared memory is made anew: written by nobody. */
static void
clear_shared(struct worker *w)
{
	const struct cj_module *m = w->machine.module;
	uint32_t o;

	for (o = 1; o < m->objects.len; o++) {
		const struct cj_object *object = &m->objects.at[o];
		struct cj_memory *memory = &w->machine.memory[o];

		if (object->kind != CJ_OBJECT_SHARED || memory->data == NULL)
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

/* Warps in order for seed 0, else shuffled by seed and block. */
static void
draw_order(struct worker *w)
{
	uint64_t seed = w->run->options->seed;
	uint32_t i;

	for (i = 0; i < w->block.warps; i++)
		w->order[i] = i;
	if (seed == 0)
		return;
	seed = mix(seed + mix(w->block.number + 1));
	for (i = w->block.warps; i > 1; i--) {
		uint32_t j = (uint32_t)((seed = mix(seed + i)) % i);
		uint32_t held = w->order[i - 1];

		w->order[i - 1] = w->order[j];
		w->order[j] = held;
	}
}

static void
start_block(struct worker *w, uint64_t number)
{
	const struct cj_kernel_launch *l = w->run->launch;
	struct cj_block *b = &w->block;
	uint32_t i;

	assert(number < w->run->blocks);
	b->number = number;
	b->at[0] = (int64_t)(number % (uint64_t)l->grid[0]);
	b->at[1] = (int64_t)(number / (uint64_t)l->grid[0]
	    % (uint64_t)l->grid[1]);
	b->at[2] = (int64_t)(number / (uint64_t)l->grid[0]
	    / (uint64_t)l->grid[1]);
	b->epoch = 0;
	w->faults.block = number;
	w->faults.order = 0;
	clear_shared(w);
	if (w->machine.race != NULL)
		cj_race_clear(w->machine.race);
	draw_order(w);
	for (i = 0; i < b->warps; i++) {
		uint32_t left = b->threads - i * CJ_LANES_WARP;

		cj_async_clear(&b->frames[i]);
		cj_frame_start(&b->frames[i],
		    left < CJ_LANES_WARP ? left : CJ_LANES_WARP);
	}
}

/* ---- barriers ------------------------------------------------------------ */

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
thread_text(struct worker *w, uint32_t t)
{
	return cj_printf(&w->arena, "(%lld, %lld, %lld)",
	    (long long)w->block.thread[0][t], (long long)w->block.thread[1][t],
	    (long long)w->block.thread[2][t]);
}

static const struct cj_step *
waiting_at(const struct cj_frame *f)
{
	assert(f->state == CJ_STATE_WAITING && f->pc > 0);
	return &f->code->steps.at[f->pc - 1];
}

/* Some ended without coming here: the first warp that waits says so. */
static void
report_ended(struct worker *w, struct cj_frame *f, uint32_t waiting)
{
	uint32_t some = 0, ended = count_ended(&w->block, &some);

	if (ended == 0)
		return;
	cj_fault_at(f, waiting_at(f), cj_first_lane(f),
	    CJ_DIAG_DIVERGENT_BARRIER,
	    "%u of %u threads wait at this barrier" CJ_WHO ", but %u have "
	    "ended, thread %s among them",
	    (unsigned)waiting, (unsigned)w->block.threads, (unsigned)ended,
	    thread_text(w, some));
}

static void
report_elsewhere(struct worker *w, struct cj_frame *f, struct cj_frame *g)
{
	struct cj_fault *fault = cj_fault_at(f, waiting_at(f),
	    cj_first_lane(f), CJ_DIAG_DIVERGENT_BARRIER,
	    "warp %u waits at this barrier, warp %u at another one",
	    (unsigned)f->warp, (unsigned)g->warp);

	(void)w;
	if (fault == NULL)
		return;
	fault->other = waiting_at(g)->ref;
	fault->note = "the other barrier is here";
}

/* Nobody can run: the barrier opens. False: nobody waits either. */
static bool
open_barrier(struct worker *w)
{
	struct cj_block *b = &w->block;
	struct cj_frame *first = NULL;
	uint32_t i, waiting = 0, lane;

	for (i = 0; i < b->warps; i++) {
		struct cj_frame *f = &b->frames[i];

		if (f->state != CJ_STATE_WAITING)
			continue;
		for (lane = 0; lane < f->lanes; lane++)
			waiting += cj_lane_runs(f, lane);
		if (first == NULL)
			first = f;
		else if (waiting_at(first)->ref != waiting_at(f)->ref
		    && w->machine.checks & CJ_CHECK_BARRIER)
			report_elsewhere(w, first, f);
	}
	if (first == NULL)
		return false;
	if (w->machine.checks & CJ_CHECK_BARRIER)
		report_ended(w, first, waiting);
	for (i = 0; i < b->warps; i++)
		if (b->frames[i].state == CJ_STATE_WAITING)
			b->frames[i].state = CJ_STATE_READY;
	b->epoch++;
	return true;
}

/* Lanes of a warp that are elsewhere cannot come before this one goes on. */
static void
step_barrier(struct cj_frame *f, const struct cj_step *s)
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
}

void
cj_interp_BARRIER(struct cj_decoder *d, cj_ref r)
{
	cj_step_add(d, r, step_barrier);
}

static void
run_block(struct worker *w, uint64_t number)
{
	struct cj_block *b = &w->block;
	uint32_t i;

	start_block(w, number);
	do {
		for (i = 0; i < b->warps && !w->machine.stop; i++) {
			struct cj_frame *f = &b->frames[w->order[i]];

			if (f->state == CJ_STATE_READY)
				cj_frame_run(f);
		}
	} while (!w->machine.stop && open_barrier(w));
	for (i = 0; i < b->warps; i++)
		w->operations += b->frames[i].steps;
}

/* ---- what lanes ask ------------------------------------------------------ */

static void
fill_lanes(struct cj_frame *f, const struct cj_step *s, int64_t value)
{
	int64_t *out = CJ_AT(f, int64_t, s->dst);
	uint32_t lane;

	for (lane = 0; lane < f->lanes; lane++)
		out[lane] = value;
}

static void
step_thread(struct cj_frame *f, const struct cj_step *s)
{
	memcpy(CJ_AT(f, char, s->dst), f->machine->block->thread[s->target]
	    + f->warp * CJ_LANES_WARP, CJ_LANES_WARP * sizeof(int64_t));
}

static void
step_lane(struct cj_frame *f, const struct cj_step *s)
{
	int64_t *out = CJ_AT(f, int64_t, s->dst);
	uint32_t lane;

	for (lane = 0; lane < f->lanes; lane++)
		out[lane] = lane;
}

static void
step_block(struct cj_frame *f, const struct cj_step *s)
{
	fill_lanes(f, s, f->machine->block->at[s->target]);
}

static void
step_extent(struct cj_frame *f, const struct cj_step *s)
{
	const struct cj_kernel_launch *l = f->machine->block->launch;

	if (s->target < CJ_SPECIAL_GRID_DIM_X)
		fill_lanes(f, s,
		    l->block[s->target - CJ_SPECIAL_BLOCK_DIM_X]);
	else
		fill_lanes(f, s, l->grid[s->target - CJ_SPECIAL_GRID_DIM_X]);
}

static void
step_warp(struct cj_frame *f, const struct cj_step *s)
{
	fill_lanes(f, s, f->warp);
}

/* Ranks count along x first, within the cluster. */
static void
step_rank(struct cj_frame *f, const struct cj_step *s)
{
	const struct cj_block *b = f->machine->block;
	int64_t rank = 0;
	int axis;

	for (axis = 2; axis >= 0; axis--) {
		int64_t extent = b->launch->cluster[axis];

		if (extent < 1)
			extent = 1;
		rank = rank * extent + b->at[axis] % extent;
	}
	fill_lanes(f, s, rank);
}

void
cj_interp_SPECIAL(struct cj_decoder *d, cj_ref r)
{
	static cj_step_fn *const runs[CJ_SPECIAL_COUNT] = {
		[CJ_SPECIAL_THREAD_X] = step_thread,
		[CJ_SPECIAL_THREAD_Y] = step_thread,
		[CJ_SPECIAL_THREAD_Z] = step_thread,
		[CJ_SPECIAL_BLOCK_X] = step_block,
		[CJ_SPECIAL_BLOCK_Y] = step_block,
		[CJ_SPECIAL_BLOCK_Z] = step_block,
		[CJ_SPECIAL_BLOCK_DIM_X] = step_extent,
		[CJ_SPECIAL_BLOCK_DIM_Y] = step_extent,
		[CJ_SPECIAL_BLOCK_DIM_Z] = step_extent,
		[CJ_SPECIAL_GRID_DIM_X] = step_extent,
		[CJ_SPECIAL_GRID_DIM_Y] = step_extent,
		[CJ_SPECIAL_GRID_DIM_Z] = step_extent,
		[CJ_SPECIAL_LANE] = step_lane,
		[CJ_SPECIAL_WARP] = step_warp,
		[CJ_SPECIAL_BLOCK_RANK] = step_rank,
	};
	uint32_t what = cj_inst(d->module, r)->attr;
	struct cj_step *s;

	assert(what < CJ_SPECIAL_COUNT);
	if (d->code->lanes != CJ_LANES_WARP)
		cj_bug(d->arena->recover, "\"special\" outside a kernel");
	s = cj_step_value(d, r, runs[what]);
	s->target = what;
	if (runs[what] == step_thread)
		s->target = what - CJ_SPECIAL_THREAD_X;
	else if (runs[what] == step_block)
		s->target = what - CJ_SPECIAL_BLOCK_X;
}

/* ---- operations of the warp ---------------------------------------------- */

/* The lane that `lane` takes from; its own where the distance leads out. */
static uint32_t
source_lane(enum cj_shfl how, uint32_t lane, int64_t by)
{
	int64_t from = lane;

	switch (how) {
	case CJ_SHFL_IDX:
		return (uint32_t)by & (CJ_LANES_WARP - 1);
	case CJ_SHFL_UP:
		from = by >= 0 && by <= lane ? (int64_t)lane - by : lane;
		break;
	case CJ_SHFL_DOWN:
		from = by >= 0 && by < CJ_LANES_WARP - (int64_t)lane
		    ? (int64_t)lane + by : lane;
		break;
	case CJ_SHFL_XOR:
		return (lane ^ (uint32_t)by) & (CJ_LANES_WARP - 1);
	}
	return (uint32_t)from;
}

/* a: value, b: lane or distance. */
static void
step_shfl(struct cj_frame *f, const struct cj_step *s)
{
	enum cj_shfl how = cj_step_inst(f, s)->attr;
	const int64_t *by = CJ_AT(f, int64_t, s->b);
	uint32_t bytes = cj_reg_bytes(s->kind), lane, i;

	for (lane = 0; lane < f->lanes; lane++) {
		uint32_t from = source_lane(how, lane, by[lane]);

		if (!cj_lane_runs(f, lane))
			continue;
		if (!cj_lane_runs(f, from))
			cj_fault_at(f, s, lane, CJ_DIAG_MISSING_LANE,
			    "lane %u takes a value from lane %u, which does "
			    "not take part", (unsigned)lane, (unsigned)from);
		for (i = 0; i < s->n; i += f->lanes)
			memcpy(f->regs + s->dst + (size_t)(i + lane) * bytes,
			    f->regs + s->a + (size_t)(i + from) * bytes,
			    bytes);
	}
}

void
cj_interp_SHFL(struct cj_decoder *d, cj_ref r)
{
	cj_step_value(d, r, step_shfl);
}

static void
step_ballot(struct cj_frame *f, const struct cj_step *s)
{
	const uint8_t *condition = cj_mask(f, s->a);
	uint32_t *out = CJ_AT(f, uint32_t, s->dst), bits = 0, lane;

	for (lane = 0; lane < f->lanes; lane++)
		if (cj_lane_runs(f, lane) && condition[lane])
			bits |= (uint32_t)1 << lane;
	for (lane = 0; lane < f->lanes; lane++)
		out[lane] = bits;
}

void
cj_interp_BALLOT(struct cj_decoder *d, cj_ref r)
{
	cj_step_value(d, r, step_ballot);
}

/* ---- a worker ------------------------------------------------------------ */

static void
make_memory(struct worker *w)
{
	const struct cj_module *m = w->machine.module;
	struct cj_memory *memory = CJ_NEWS(&w->arena, struct cj_memory,
	    m->objects.len + 1);
	uint32_t o;

	for (o = 1; o < m->objects.len; o++) {
		const struct cj_object *object = &m->objects.at[o];

		if (object->kind == CJ_OBJECT_TABLE)
			memory[o] = w->run->code->tables[o];
		else if (object->kind == CJ_OBJECT_SHARED) {
			memory[o].data = cj_alloc(&w->arena, cj_memory_bytes(
			    object->element, object->extent));
			memory[o].hi = object->extent;
			memory[o].written = cj_alloc(&w->arena,
			    (size_t)object->extent);
			memory[o].readable = memory[o].writable = true;
		} else if (w->run->launch->memory != NULL)
			memory[o] = w->run->launch->memory[o];
	}
	w->machine.memory = memory;
}

static void
make_block(struct worker *w)
{
	const struct cj_kernel_launch *l = w->run->launch;
	const struct cj_decoded *c = w->run->code;
	struct cj_block *b = &w->block;
	uint32_t i, axis, padded;
	char *regs;

	b->launch = l;
	b->threads = (uint32_t)(l->block[0] * l->block[1] * l->block[2]);
	b->warps = (b->threads + CJ_LANES_WARP - 1) / CJ_LANES_WARP;
	padded = b->warps * CJ_LANES_WARP;
	for (axis = 0; axis < 3; axis++)
		b->thread[axis] = CJ_NEWS(&w->arena, int64_t, padded);
	for (i = 0; i < padded; i++) {
		b->thread[0][i] = i % l->block[0];
		b->thread[1][i] = i / l->block[0] % l->block[1];
		b->thread[2][i] = i / l->block[0] / l->block[1];
	}
	w->order = CJ_NEWS(&w->arena, uint32_t, b->warps);
	b->frames = CJ_NEWS(&w->arena, struct cj_frame, b->warps);
	for (i = 0; i < b->warps; i++) {
		regs = cj_alloc(&w->arena, c->frame_bytes + CJ_FRAME_ALIGN);
		regs += -(uintptr_t)regs & (CJ_FRAME_ALIGN - 1);
		cj_frame_init(&b->frames[i], c, &w->machine, regs);
		b->frames[i].warp = i;
	}
}

static void
make_machine(struct worker *w)
{
	const struct cj_run_options *o = w->run->options;
	struct cj_machine *m = &w->machine;

	m->module = w->run->code->module;
	m->arena = &w->arena;
	cj_fault_list_init(&w->faults, &w->arena);
	m->faults = &w->faults;
	w->lines.arena = &w->arena;
	w->lines.last = &w->lines.first;
	m->lines = &w->lines;
	m->print = o->print;
	m->print_user = o->user;
	m->cancel = o->cancel;
	m->checks = o->checks;
	m->step_limit = o->step_limit != 0 ? o->step_limit
	    : DEFAULT_STEP_LIMIT;
	m->values = w->run->launch->values;
	m->block = &w->block;
	m->halt = &w->run->halt;
	m->locks = &w->run->locks;
	if (w->run->race != NULL)
		m->race = cj_race_worker(&w->arena, w->run->race);
	m->async = cj_async_create(&w->arena, w->run->code);
	make_memory(w);
	make_block(w);
}

static bool
run_blocks(struct worker *w, uint64_t lo, uint64_t hi)
{
	if (w->machine.module == NULL)
		make_machine(w);
	for (; lo < hi && !w->machine.stop; lo++)
		run_block(w, lo);
	if (cj_is_halted(&w->machine))
		w->machine.stop = true;
	return !w->machine.stop;
}

static bool
work(void *user, unsigned number, uint64_t lo, uint64_t hi)
{
	struct worker *w = (struct worker *)user + number;

	if (!CJ_RECOVER(&w->recover))
		return run_blocks(w, lo, hi);
	w->run->halt = 1;
	return false;
}

/* ---- a launch ------------------------------------------------------------ */

static void
print_lines(struct worker *all, unsigned count,
    const struct cj_run_options *o)
{
	struct cj_lines *lines[MAX_WORKERS];
	unsigned i;

	if (o->print == NULL)
		return;
	for (i = 0; i < count; i++)
		lines[i] = &all[i].lines;
	cj_lines_print(lines, count, o->print, o->user);
}

/* The first reason to leave, taken along once all is cleaned up. */
static void
collect(struct worker *all, unsigned count, struct cj_fault_list *faults,
    struct cj_outcome *out, struct cj_recover *reason)
{
	unsigned i;

	for (i = 0; i < count; i++) {
		struct worker *w = &all[i];

		out->operations += w->operations;
		out->stopped |= w->machine.stop;
		if (w->recover.why != CJ_WHY_NONE
		    && reason->why == CJ_WHY_NONE) {
			reason->why = w->recover.why;
			memcpy(reason->text, w->recover.text,
			    sizeof reason->text);
		}
		cj_fault_merge(faults, &w->faults);
	}
}

static bool
is_empty(const struct cj_kernel_launch *k)
{
	return k->grid[0] <= 0 || k->grid[1] <= 0 || k->grid[2] <= 0;
}

static void
check_extents(struct cj_arena *a, const struct cj_kernel_launch *k)
{
	int64_t threads = 1;
	int axis;

	for (axis = 0; axis < 3; axis++) {
		if (k->block[axis] < 1 || k->block[axis] > MAX_THREADS)
			cj_bug(a->recover, "a block of %lld threads",
			    (long long)k->block[axis]);
		threads *= k->block[axis];
	}
	if (threads > MAX_THREADS)
		cj_bug(a->recover, "a block of %lld threads",
		    (long long)threads);
}

static void
run_launch(struct cj_arena *a, struct cj_launch_run *run,
    struct cj_diags *ds, struct cj_outcome *out)
{
	unsigned count = cj_worker_count(run->options->workers, run->blocks);
	struct worker *all = CJ_NEWS(a, struct worker, count);
	struct cj_recover reason = { .why = CJ_WHY_NONE };
	struct cj_fault_list faults;
	unsigned i;

	for (i = 0; i < CJ_LENGTH(run->locks.at); i++)
		atomic_flag_clear(&run->locks.at[i]);
	for (i = 0; i < count; i++) {
		all[i].run = run;
		cj_arena_init(&all[i].arena, &all[i].recover, &a->mem);
		cj_fault_list_init(&all[i].faults, &all[i].arena);
	}
	cj_parallel(count, run->blocks, 1, work, all);
	cj_fault_list_init(&faults, a);
	collect(all, count, &faults, out, &reason);
	if (reason.why == CJ_WHY_NONE)
		print_lines(all, count, run->options);
	for (i = 0; i < count; i++)
		cj_arena_fini(&all[i].arena);
	if (reason.why != CJ_WHY_NONE)
		cj_leave(a->recover, reason.why, "%s", reason.text);
	out->faults = cj_fault_report(&faults, run->code->module, ds);
}

void
cj_interp_kernel_run(struct cj_arena *a, const struct cj_decoded *c,
    const struct cj_kernel_launch *k, const struct cj_run_options *o,
    struct cj_diags *ds, struct cj_outcome *out)
{
	struct cj_launch_run run = { .code = c, .launch = k, .options = o };

	memset(out, 0, sizeof *out);
	if (is_empty(k))
		return;
	assert(c->lanes == CJ_LANES_WARP);
	check_extents(a, k);
	if (__builtin_mul_overflow((uint64_t)k->grid[0],
	    (uint64_t)k->grid[1], &run.blocks)
	    || __builtin_mul_overflow(run.blocks, (uint64_t)k->grid[2],
	    &run.blocks))
		cj_bug(a->recover, "a grid of more than 2^64 blocks");
	if (o->checks & CJ_CHECK_RACE)
		run.race = cj_race_create(a, c, k, ds);
	run_launch(a, &run, ds, out);
}

void
cj_interp_kernel(struct cj_arena *a, const struct cj_module *m,
    const struct cj_kernel_launch *k, const struct cj_run_options *o,
    struct cj_diags *ds, struct cj_outcome *out)
{
	cj_interp_kernel_run(a, cj_interp_decode(a, m, k->function), k, o, ds,
	    out);
}
