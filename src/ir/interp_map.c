/*
 * array_map and expect: the region for each index, 256 of them as the lanes of
 * a frame, pieces of the range on all cores. The region has code of its own;
 * what it takes from around it is copied to all lanes once per worker.
 */
#include "interp_test.h"

#include <math.h>

enum { GRAIN = 16 * CJ_LANES_MAP };

/* What an expect has found, by worker. */
struct tally {
	uint64_t failed;
	uint64_t first;			/* index of the first failure */
	uint64_t left, right;		/* its sides */
	double absolute, relative;	/* worst errors, */
	uint64_t absolute_at, relative_at;	/* and where */
};

struct map_worker {
	struct cj_arena arena;
	struct cj_recover recover;
	struct cj_machine machine;
	struct cj_fault_list faults;
	struct cj_lines lines;
	struct cj_frame frame;
	struct tally tally;
	bool is_ready;
};

struct map_run {
	struct cj_frame *outer;
	const struct cj_decoded *code;
	struct map_worker *workers;
	atomic_int halt;
	struct cj_locks locks;
	bool is_expect;
};

/* ---- workers ------------------------------------------------------------- */

/* A value of the function around, in every lane. */
static void
copy_capture(struct cj_frame *f, const struct cj_frame *outer,
    const struct cj_capture *c)
{
	enum cj_kind k = cj_type_kind(c->type);
	size_t row = (size_t)cj_reg_bytes(k) * f->lanes;
	uint32_t r;

	for (r = 0; r < cj_type_count(c->type); r++)
		cj_reg_fill(f->regs + c->inner + r * row, f->lanes, k,
		    cj_reg_get(outer->regs + c->outer, r, k));
}

static void
make_worker(struct map_run *run, struct map_worker *w)
{
	const struct cj_machine *outer = run->outer->machine;
	struct cj_machine *m = &w->machine;
	char *regs = cj_alloc(&w->arena, run->code->frame_bytes
	    + CJ_FRAME_ALIGN);
	uint32_t i;

	*m = *outer;
	m->arena = &w->arena;
	m->faults = &w->faults;
	m->lines = &w->lines;
	m->test = NULL;			/* arrays were touched before */
	m->halt = &run->halt;
	m->locks = &run->locks;
	w->lines.arena = &w->arena;
	w->lines.last = &w->lines.first;
	w->tally.first = UINT64_MAX;
	regs += -(uintptr_t)regs & (CJ_FRAME_ALIGN - 1);
	cj_frame_init(&w->frame, run->code, m, regs);
	for (i = 0; i < run->code->captures.len; i++)
		copy_capture(&w->frame, run->outer,
		    &run->code->captures.at[i]);
	w->is_ready = true;
}

static void count_batch(struct map_worker *w, uint32_t lanes);

static void
run_batch(struct map_run *run, struct map_worker *w, uint64_t lo,
    uint32_t lanes)
{
	struct cj_frame *f = &w->frame;
	int64_t *index = CJ_AT(f, int64_t, run->code->index);
	uint32_t i;

	for (i = 0; i < CJ_LANES_MAP; i++)
		index[i] = (int64_t)lo + (i < lanes ? i : 0);
	assert(lanes >= 1 && lanes <= CJ_LANES_MAP);
	f->base = (int64_t)lo;
	cj_frame_start(f, lanes);
	cj_frame_run(f);
	if (f->state == CJ_STATE_WAITING)
		cj_bug(w->arena.recover, "a barrier in a map");
	if (run->is_expect && f->state == CJ_STATE_ENDED)
		count_batch(w, lanes);
}

static bool
run_batches(struct map_run *run, struct map_worker *w, uint64_t lo,
    uint64_t hi)
{
	if (!w->is_ready)
		make_worker(run, w);
	for (; lo < hi && !cj_is_halted(&w->machine); lo += CJ_LANES_MAP)
		run_batch(run, w, lo, hi - lo < CJ_LANES_MAP
		    ? (uint32_t)(hi - lo) : CJ_LANES_MAP);
	return !cj_is_halted(&w->machine);
}

static bool
run_piece(void *user, unsigned number, uint64_t lo, uint64_t hi)
{
	struct map_run *run = user;
	struct map_worker *w = &run->workers[number];

	if (!CJ_RECOVER(&w->recover))
		return run_batches(run, w, lo, hi);
	run->halt = 1;
	return false;
}

/* ---- running ------------------------------------------------------------- */

/* Arrays that the region touches, made ready before the threads start. */
static void
touch_arrays(struct cj_frame *outer, const struct cj_decoded *code)
{
	const struct cj_module *m = code->module;
	uint32_t i;

	for (i = 0; i < code->steps.len; i++) {
		const struct cj_step *s = &code->steps.at[i];

		if (s->op == CJ_OP_LOAD || s->op == CJ_OP_STORE
		    || s->op == CJ_OP_ATOMIC)
			cj_test_touch(outer,
			    m->accesses.at[cj_inst(m, s->ref)->attr].object,
			    s->op != CJ_OP_LOAD);
	}
}

/* All indices of a map; the workers stay readable until drop_workers. */
static unsigned
run_map(struct map_run *run, uint64_t count)
{
	struct cj_frame *outer = run->outer;
	uint64_t grain = count / 8 < GRAIN ? CJ_LANES_MAP : GRAIN;
	unsigned n = cj_worker_count(outer->machine->test->options->workers,
	    (count + CJ_LANES_MAP - 1) / CJ_LANES_MAP), i;

	touch_arrays(outer, run->code);
	for (i = 0; i < CJ_LENGTH(run->locks.at); i++)
		atomic_flag_clear_explicit(&run->locks.at[i],
		    memory_order_relaxed);
	run->workers = CJ_NEWS(outer->machine->arena, struct map_worker, n);
	for (i = 0; i < n; i++) {
		struct map_worker *w = &run->workers[i];

		cj_arena_init(&w->arena, &w->recover,
		    &outer->machine->arena->mem);
		cj_fault_list_init(&w->faults, &w->arena);
	}
	cj_parallel(n, count, grain, run_piece, run);
	return n;
}

/* What all have found and printed; or leaves, as the first that left. */
static void
collect(struct map_run *run, unsigned n)
{
	struct cj_frame *outer = run->outer;
	struct cj_machine *m = outer->machine;
	struct cj_lines *lines[256];
	unsigned i;

	assert(n <= CJ_LENGTH(lines));
	for (i = 0; i < n; i++)
		if (run->workers[i].recover.why != CJ_WHY_NONE)
			cj_leave(m->arena->recover,
			    run->workers[i].recover.why, "%s",
			    run->workers[i].recover.text);
	for (i = 0; i < n; i++) {
		cj_fault_merge(m->faults, outer->code->module,
		    &run->workers[i].faults);
		outer->steps += run->workers[i].frame.steps;
		lines[i] = &run->workers[i].lines;
	}
	if (m->print != NULL)
		cj_lines_print(lines, n, m->print, m->print_user);
}

static void
drop_workers(struct map_run *run, unsigned n)
{
	struct cj_machine *m = run->outer->machine;
	struct cj_recover *outer = m->arena->recover, inner = { 0 };
	unsigned i;

	assert(m->faults->arena == m->arena && "one way out");
	if (!CJ_RECOVER(&inner)) {
		m->arena->recover = &inner;
		collect(run, n);
	}
	m->arena->recover = outer;
	for (i = 0; i < n; i++)
		cj_arena_fini(&run->workers[i].arena);
	if (inner.why != CJ_WHY_NONE)
		cj_leave(outer, inner.why, "%s", inner.text);
	if (run->halt || cj_is_halted(m))
		cj_frame_stop(run->outer);
}

/* a: count; b: which of the inner regions. */
static void
step_array_map(struct cj_frame *f, const struct cj_step *s)
{
	struct map_run run = { .outer = f, .code = f->code->inner.at[s->b] };
	int64_t count = *CJ_AT(f, int64_t, s->a);
	unsigned n;

	assert(run.code != NULL);
	cj_test_of(f);
	if (count <= 0)
		return;
	n = run_map(&run, (uint64_t)count);
	drop_workers(&run, n);
}

void
cj_interp_ARRAY_MAP(struct cj_decoder *d, cj_ref r)
{
	uint32_t count = cj_decode_operand(d, r, 0);
	uint32_t inner = cj_decode_inner(d, r);
	struct cj_step *s = cj_step_add(d, r, step_array_map);

	s->a = count;
	s->b = inner;
}

/* ---- expect -------------------------------------------------------------- */

static cj_ref
yielded(const struct cj_decoded *c, unsigned n)
{
	return cj_operand(c->module, cj_inst(c->module, c->yield), n);
}

static enum cj_kind
yielded_kind(const struct cj_decoded *c, unsigned n)
{
	return cj_type_kind(cj_inst(c->module, yielded(c, n))->type);
}

static uint64_t
yielded_bits(const struct cj_frame *f, unsigned n, uint32_t lane)
{
	return cj_reg_get(f->regs + f->code->yields[n], lane,
	    yielded_kind(f->code, n));
}

static bool
has_sides(const struct cj_decoded *c)
{
	return cj_inst(c->module, c->yield)->operand_count == 3;
}

/* The error of a failed element, where both sides are finite. */
static void
note_error(struct tally *t, double left, double right, uint64_t index)
{
	double error = fabs(left - right);

	if (!isfinite(error))
		return;
	if (error > t->absolute
	    || (error == t->absolute && index < t->absolute_at)) {
		t->absolute = error;
		t->absolute_at = index;
	}
	if (right == 0)
		return;
	error /= fabs(right);
	if (error > t->relative
	    || (error == t->relative && index < t->relative_at)) {
		t->relative = error;
		t->relative_at = index;
	}
}

static void
count_batch(struct map_worker *w, uint32_t lanes)
{
	const struct cj_frame *f = &w->frame;
	struct tally *t = &w->tally;
	uint32_t lane;

	if (memchr(f->regs + f->code->yields[0], 0, lanes)
	    == NULL)
		return;
	for (lane = 0; lane < lanes; lane++) {
		uint64_t index = (uint64_t)f->base + lane;

		if (yielded_bits(f, 0, lane) != 0)
			continue;
		t->failed++;
		if (!has_sides(f->code)) {
			t->first = index < t->first ? index : t->first;
			continue;
		}
		if (index < t->first) {
			t->first = index;
			t->left = yielded_bits(f, 1, lane);
			t->right = yielded_bits(f, 2, lane);
		}
		note_error(t,
		    cj_num_to_f64(yielded_kind(f->code, 1),
		    yielded_bits(f, 1, lane)),
		    cj_num_to_f64(yielded_kind(f->code, 2),
		    yielded_bits(f, 2, lane)), index);
	}
}

static void
add_tally(struct tally *to, const struct tally *t)
{
	to->failed += t->failed;
	if (t->failed != 0 && t->first < to->first) {
		to->first = t->first;
		to->left = t->left;
		to->right = t->right;
	}
	if (t->absolute > to->absolute || (t->absolute == to->absolute
	    && t->absolute_at < to->absolute_at)) {
		to->absolute = t->absolute;
		to->absolute_at = t->absolute_at;
	}
	if (t->relative > to->relative || (t->relative == to->relative
	    && t->relative_at < to->relative_at)) {
		to->relative = t->relative;
		to->relative_at = t->relative_at;
	}
}

/* "[3, 5]": the first extent runs fastest. */
static void
print_coordinates(struct cj_strbuf *out, const struct cj_frame *f,
    const struct cj_step *s, uint64_t index)
{
	unsigned rank = cj_step_inst(f, s)->operand_count, n;

	cj_strbuf_putc(out, '[');
	for (n = 0; n < rank; n++) {
		int64_t extent = *CJ_AT(f, int64_t,
		    f->code->lists.at[s->a + n]);
		uint64_t by = extent < 1 || n + 1 == rank ? UINT64_MAX
		    : (uint64_t)extent;

		cj_strbuf_printf(out, "%s%llu", n == 0 ? "" : ", ",
		    (unsigned long long)(index % by));
		index /= by;
	}
	cj_strbuf_putc(out, ']');
}

static void
print_side(struct cj_strbuf *out, const char *text, enum cj_kind k,
    uint64_t bits)
{
	cj_strbuf_printf(out, "\n    %s = ", text);
	cj_num_print(out, k, bits);
}

static void
print_errors(struct cj_strbuf *out, const struct cj_frame *f,
    const struct cj_step *s, const struct tally *t)
{
	if (t->absolute > 0) {
		cj_strbuf_printf(out, "; worst absolute error %.3g at ",
		    t->absolute);
		print_coordinates(out, f, s, t->absolute_at);
	}
	if (t->relative > 0) {
		cj_strbuf_printf(out, ", relative %.3g at ", t->relative);
		print_coordinates(out, f, s, t->relative_at);
	}
}

static const char *
failure_text(struct cj_frame *f, const struct cj_step *s,
    const struct cj_decoded *c, const struct tally *t, uint64_t count)
{
	const struct cj_expect *e = &f->code->module->expects.at[
	    cj_step_inst(f, s)->attr];
	struct cj_strbuf out;

	cj_strbuf_init(&out, f->machine->arena);
	cj_strbuf_printf(&out, "expect(%s) failed",
	    e->text == NULL ? "" : e->text);
	if (count > 1) {
		cj_strbuf_puts(&out, " at ");
		print_coordinates(&out, f, s, t->first);
	}
	if (has_sides(c)) {
		print_side(&out, e->left == NULL ? "left" : e->left,
		    yielded_kind(c, 1), t->left);
		print_side(&out, e->right == NULL ? "right" : e->right,
		    yielded_kind(c, 2), t->right);
	}
	if (count > 1) {
		cj_strbuf_printf(&out, "\n    %llu of %llu elements fail",
		    (unsigned long long)t->failed, (unsigned long long)count);
		print_errors(&out, f, s, t);
	}
	return out.text;
}

static void
fail(struct cj_frame *f, const struct cj_step *s,
    const struct cj_decoded *c, const struct tally *t, uint64_t count)
{
	struct cj_test_run *run = cj_test_of(f);

	run->out->failure = failure_text(f, s, c, t, count);
	run->out->place = cj_step_inst(f, s)->place;
	cj_frame_stop(f);
}

/* a: the extents' offsets in `lists`; b: which of the inner regions. */
static void
step_expect(struct cj_frame *f, const struct cj_step *s)
{
	struct map_run run = { .outer = f, .code = f->code->inner.at[s->b],
	    .is_expect = true };
	struct tally all = { .first = UINT64_MAX };
	uint64_t count = 1;
	unsigned n, i;

	assert(run.code != NULL && run.code->yield != 0);
	cj_test_of(f);
	for (i = 0; i < cj_step_inst(f, s)->operand_count; i++) {
		int64_t extent = *CJ_AT(f, int64_t,
		    f->code->lists.at[s->a + i]);

		if (extent <= 0)
			return;
		if (__builtin_mul_overflow(count, (uint64_t)extent, &count)
		    || count > INT64_MAX)
			cj_bug(f->machine->arena->recover,
			    "an expect of more than 2^63 elements");
	}
	n = run_map(&run, count);
	for (i = 0; i < n; i++)
		add_tally(&all, &run.workers[i].tally);
	drop_workers(&run, n);
	if (all.failed != 0 && f->state == CJ_STATE_READY)
		fail(f, s, run.code, &all, count);
}

void
cj_interp_EXPECT(struct cj_decoder *d, cj_ref r)
{
	uint32_t list = cj_decode_list(d, r, 0);
	uint32_t inner = cj_decode_inner(d, r);
	struct cj_step *s = cj_step_add(d, r, step_expect);

	s->a = list;
	s->b = inner;
	if (d->code->inner.at[inner]->yield == 0)
		cj_bug(d->arena->recover, "an expect yields nothing");
}
