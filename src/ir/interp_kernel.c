/*
 * Kernels: blocks on threads of ours.
 *
 * A worker takes the next block, or cluster of blocks (interp_cluster.c), and
 * gives its warps turns until all have ended (interp_block.c). A block that
 * goes on for long in code that talks to other blocks by atomics may be waiting
 * for one that has not begun: then the worker begins the next one beside it and
 * gives all of them turns. Memory of a block that has ended serves the next
 * one. A worker has its own arena, faults and lines, brought together in the
 * order of blocks at the end.
 */
#include "interp_tma.h"

enum {
	MAX_WORKERS = 256, MAX_THREADS = 1024,
	PATIENCE = 4			/* turns before another block begins */
};
#define DEFAULT_STEP_LIMIT	((uint64_t)1 << 26)

struct cj_launch_run {			/* what the workers share */
	const struct cj_decoded *code;
	const struct cj_kernel_launch *launch;
	const struct cj_run_options *options;
	uint64_t clusters;		/* of one block, if no more are asked */
	_Atomic uint64_t next;		/* the one that begins next */
	bool may_wait;			/* blocks for each other */
	atomic_int halt;
	struct cj_locks locks;
	struct cj_race *race;
};

struct worker {
	struct cj_launch_run *run;
	struct cj_arena arena;
	struct cj_recover recover;
	struct cj_machine machine;	/* what those of its blocks begin as */
	CJ_VEC(struct cj_block *) live, idle;
	CJ_VEC(struct cj_cluster *) ended;	/* for use again */
	struct cj_fault_list faults;
	struct cj_lines lines;
	uint64_t operations;
};

/* ---- a worker ------------------------------------------------------------ */

static void
make_machine(struct worker *w)
{
	const struct cj_run_options *o = w->run->options;
	struct cj_machine *m = &w->machine;

	m->module = w->run->code->module;
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
	m->halt = &w->run->halt;
	m->locks = &w->run->locks;
	m->trace = o->trace;
	m->timeline = o->timeline;
	if (o->profile != NULL)
		m->profile = cj_profile_create(&w->arena, m->module);
}

static struct cj_block *
take_block(struct worker *w)
{
	const struct cj_launch_run *r = w->run;

	return w->idle.len != 0 ? w->idle.at[--w->idle.len]
	    : cj_block_create(&w->arena, r->code, r->launch, &w->machine,
	    r->race);
}

/* The blocks of the next cluster begin; false: all have. */
static bool
begin_cluster(struct worker *w)
{
	struct cj_launch_run *r = w->run;
	uint64_t number = atomic_fetch_add(&r->next, 1);
	struct cj_cluster *c;
	uint32_t i;

	if (number >= r->clusters)
		return false;
	c = w->ended.len != 0 ? w->ended.at[--w->ended.len]
	    : CJ_NEW(&w->arena, struct cj_cluster);
	c->count = c->left = cj_cluster_size(r->launch);
	c->turn = 0;
	c->done_at = 0;
	c->has_ended = false;
	cj_share_clear(c);
	for (i = 0; i < c->count; i++) {
		struct cj_block *b = take_block(w);

		b->cluster = c;
		c->blocks[i] = b;
		cj_block_start(b, cj_cluster_block(r->launch, number, i),
		    r->options->seed);
		*cj_push(&w->arena, &w->live) = b;
	}
	return true;
}

static void
end_block(struct worker *w, uint32_t i)
{
	struct cj_block *b = w->live.at[i];

	w->operations += cj_block_steps(b);
	w->machine.stop |= b->machine.stop;
	memmove(&w->live.at[i], &w->live.at[i + 1],
	    (w->live.len - i - 1) * sizeof *w->live.at);
	w->live.len--;
	*cj_push(&w->arena, &w->idle) = b;
	if (--b->cluster->left == 0)
		*cj_push(&w->arena, &w->ended) = b->cluster;
}

/* A turn for all; is there one that can still run? */
static bool
turn_all(struct worker *w)
{
	bool runs = false;
	uint32_t i;

	for (i = 0; i < w->live.len && !w->machine.stop;) {
		struct cj_block *b = w->live.at[i];
		enum cj_turn t = cj_block_turn(b);

		runs |= t == CJ_TURN_RAN;
		w->machine.stop |= b->machine.stop;
		if (t == CJ_TURN_ENDED && cj_cluster_ended(b->cluster)) {
			if (!b->machine.stop) {
				cj_bulk_end(b);
				cj_mbarriers_end(b);
			}
			end_block(w, i);
		} else {
			i++;
		}
	}
	for (i = 0; i < w->live.len && !runs; i++)
		runs = cj_cluster_open(w->live.at[i]->cluster);
	return runs;
}

static void
hang_all(struct worker *w)
{
	while (w->live.len != 0) {
		cj_block_hang(w->live.at[0]);
		end_block(w, 0);
	}
}

static bool
run_blocks(struct worker *w)
{
	bool more = true, runs;
	unsigned turns = 0;

	make_machine(w);
	while (!w->machine.stop && !cj_is_halted(&w->machine)) {
		if (more && (w->live.len == 0 || (turns >= PATIENCE
		    && w->run->may_wait))) {
			more = begin_cluster(w);
			turns = 0;
		}
		if (w->live.len == 0)
			return true;
		runs = turn_all(w);
		turns++;
		if (!runs && w->live.len != 0)
			hang_all(w);
	}
	w->machine.stop = true;
	return false;
}

static bool
work(void *user, unsigned thread, uint64_t lo, uint64_t hi)
{
	struct worker *w = (struct worker *)user + lo;

	(void)thread;
	assert(hi == lo + 1);
	if (!CJ_RECOVER(&w->recover))
		return run_blocks(w);
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

/* What all have found and printed; or leaves, as the first that left. */
static void
collect(struct cj_arena *a, struct worker *all, unsigned count,
    struct cj_diags *ds, struct cj_outcome *out)
{
	const struct cj_launch_run *run = all[0].run;
	struct cj_fault_list faults;
	unsigned i;

	for (i = 0; i < count; i++)
		if (all[i].recover.why != CJ_WHY_NONE)
			cj_leave(a->recover, all[i].recover.why, "%s",
			    all[i].recover.text);
	cj_fault_list_init(&faults, a);
	for (i = 0; i < count; i++) {
		struct worker *w = &all[i];

		out->operations += w->operations;
		out->stopped |= w->machine.stop ||
		    w->faults.places[CJ_DIAG_DEADLOCK] != 0;
		out->is_endless |=
		    w->faults.places[CJ_DIAG_ENDLESS_KERNEL] != 0;
		cj_fault_merge(&faults, run->code->module, &w->faults);
		if (w->machine.profile != NULL)
			cj_profile_add(run->options->profile,
			    w->machine.profile);
	}
	print_lines(all, count, run->options);
	out->faults = cj_fault_report(&faults, run->code->module, ds);
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

/* Does the code see what other blocks write while they run? */
static bool
may_wait(const struct cj_decoded *c)
{
	const struct cj_module *m = c->module;
	uint32_t i;

	for (i = 0; i < c->steps.len; i++) {
		const struct cj_step *s = &c->steps.at[i];

		if (cj_op_is_atomic((enum cj_op)s->op) || (s->op == CJ_OP_LOAD
		    && m->accesses.at[cj_inst(m, s->ref)->attr].order
		    != CJ_ORDER_WEAK))
			return true;
	}
	return false;
}

static void
run_launch(struct cj_arena *a, struct cj_launch_run *run,
    struct cj_diags *ds, struct cj_outcome *out)
{
	unsigned count = cj_worker_count(run->options->workers,
	    run->clusters);
	struct worker *all = CJ_NEWS(a, struct worker, count);
	struct cj_recover *outer = a->recover, inner = { 0 };
	unsigned i;

	run->may_wait = may_wait(run->code);
	for (i = 0; i < CJ_LENGTH(run->locks.at); i++)
		atomic_flag_clear_explicit(&run->locks.at[i],
		    memory_order_relaxed);
	for (i = 0; i < count; i++) {
		all[i].run = run;
		cj_arena_init(&all[i].arena, &all[i].recover, &a->mem);
		cj_fault_list_init(&all[i].faults, &all[i].arena);
	}
	cj_parallel(count, count, 1, work, all);
	if (!CJ_RECOVER(&inner)) {
		a->recover = &inner;
		collect(a, all, count, ds, out);
	}
	a->recover = outer;
	for (i = 0; i < count; i++)
		cj_arena_fini(&all[i].arena);
	if (inner.why != CJ_WHY_NONE)
		cj_leave(outer, inner.why, "%s", inner.text);
}

void
cj_interp_kernel_run(struct cj_arena *a, const struct cj_decoded *c,
    const struct cj_kernel_launch *k, const struct cj_run_options *o,
    struct cj_diags *ds, struct cj_outcome *out)
{
	struct cj_launch_run run = { .code = c, .launch = k, .options = o };
	const struct cj_span none = { 0, 0, 0 };

	memset(out, 0, sizeof *out);
	if (is_empty(k))
		return;
	assert(c->lanes == CJ_LANES_WARP);
	check_extents(a, k);
	if (__builtin_mul_overflow((uint64_t)k->grid[0],
	    (uint64_t)k->grid[1], &run.clusters)
	    || __builtin_mul_overflow(run.clusters, (uint64_t)k->grid[2],
	    &run.clusters))
		cj_bug(a->recover, "a grid of more than 2^64 blocks");
	assert(run.clusters % cj_cluster_size(k) == 0 &&
	    "the host part has looked");
	run.clusters /= cj_cluster_size(k);
	if (o->checks & CJ_CHECK_RACE)
		run.race = cj_race_create(a, c, k);
	run_launch(a, &run, ds, out);
	if (run.race != NULL && cj_race_stopped(run.race) != NULL)
		cj_report(ds, CJ_DIAG_UNCHECKED, none, "races in \"%s\" "
		    "were not looked for to its end: %s", c->module->name,
		    cj_race_stopped(run.race));
}

void
cj_interp_kernel(struct cj_arena *a, const struct cj_module *m,
    const struct cj_kernel_launch *k, const struct cj_run_options *o,
    struct cj_diags *ds, struct cj_outcome *out)
{
	cj_interp_kernel_run(a, cj_interp_decode(a, m, k->function), k, o, ds,
	    out);
}
