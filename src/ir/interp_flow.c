/*
 * Control: regions and the masks of who is where. See interp_priv.h for the
 * masks each kind of region keeps.
 *
 *	if	[begin] then-arm [else] else-arm [end]
 *	for	[begin] body [next] [left]	loop  [begin] body [next] [left]
 *	scope	[begin] body [left]
 *
 * A step that finds no lane running leaves for the end of its region.
 */
#include "interp_priv.h"

enum { BETWEEN_CANCELS = 4096 };	/* turns of loops */

/* ---- masks as words ------------------------------------------------------ */

static uint32_t
words(const struct cj_frame *f)
{
	return f->lanes < 8 ? 1 : f->lanes / 8;
}

static void
mask_clear(struct cj_frame *f, uint32_t at)
{
	memset(CJ_AT(f, char, at), 0, (size_t)words(f) * 8);
}

static void
mask_copy(struct cj_frame *f, uint32_t to, uint32_t from)
{
	memcpy(CJ_AT(f, char, to), CJ_AT(f, char, from),
	    (size_t)words(f) * 8);
}

static void
mask_or(struct cj_frame *f, uint32_t to, uint32_t from)
{
	uint64_t *a = CJ_AT(f, uint64_t, to);
	const uint64_t *b = CJ_AT(f, uint64_t, from);
	uint32_t i;

	for (i = 0; i < words(f); i++)
		a[i] |= b[i];
}

static void
leave_if_none(struct cj_frame *f, const struct cj_step *s)
{
	if (!f->any)
		f->pc = s->target;
}

/* All running lanes go: for `to`, or for good. */
static void
move_all(struct cj_frame *f, const struct cj_step *s, uint32_t to)
{
	if (to != CJ_NO_OFFSET)
		mask_or(f, to, CJ_FRAME_MASK);
	mask_clear(f, CJ_FRAME_MASK);
	f->any = f->full = false;
	f->pc = s->target;
}

/* ---- if ------------------------------------------------------------------ */

/* a: condition; b: the mask `else`; c: the mask `joined`. */
static void
step_if(struct cj_frame *f, const struct cj_step *s)
{
	uint64_t *mask = CJ_AT(f, uint64_t, CJ_FRAME_MASK);
	const uint64_t *condition = CJ_AT(f, uint64_t, s->a);
	uint64_t *other = CJ_AT(f, uint64_t, s->b);
	uint32_t i;

	/* One lane: what lies beside the condition meets zeros of the mask. */
	for (i = 0; i < words(f); i++) {
		uint64_t yes = mask[i] & condition[i];

		other[i] = mask[i] ^ yes;
		mask[i] = yes;
	}
	mask_clear(f, s->c);
	cj_mask_changed(f);
	leave_if_none(f, s);
}

static void
step_else(struct cj_frame *f, const struct cj_step *s)
{
	mask_copy(f, s->c, CJ_FRAME_MASK);
	mask_copy(f, CJ_FRAME_MASK, s->b);
	mask_clear(f, s->b);
	cj_mask_changed(f);
	leave_if_none(f, s);
}

static void
step_end_if(struct cj_frame *f, const struct cj_step *s)
{
	mask_or(f, CJ_FRAME_MASK, s->b);
	mask_or(f, CJ_FRAME_MASK, s->c);
	cj_mask_changed(f);
	leave_if_none(f, s);
}

static struct cj_step *
add_if_step(struct cj_decoder *d, cj_ref r, cj_step_fn *run, uint32_t other,
    uint32_t joined)
{
	struct cj_step *s = cj_step_add(d, r, run);

	s->b = other;
	s->c = joined;
	return s;
}

void
cj_interp_IF(struct cj_decoder *d, cj_ref r)
{
	const struct cj_inst *i = cj_inst(d->module, r);
	cj_region then = i->region;
	cj_region otherwise = d->module->regions.at[then].next;
	uint32_t other = cj_decode_mask(d), joined = cj_decode_mask(d);
	uint32_t condition = cj_decode_operand(d, r, 0), first;
	cj_ref around = d->yields_to;

	assert(then != 0 && (otherwise == 0
	    || d->module->regions.at[otherwise].next == 0));
	cj_decode_result(d, r);
	d->yields_to = r;
	first = cj_decode_pc(d);
	add_if_step(d, r, step_if, other, joined)->a = condition;
	cj_decode_region(d, then);
	cj_decode_at(d, first)->target = cj_decode_pc(d);
	if (otherwise != 0) {
		uint32_t middle = cj_decode_pc(d);

		add_if_step(d, r, step_else, other, joined);
		cj_decode_region(d, otherwise);
		cj_decode_at(d, middle)->target = cj_decode_pc(d);
	}
	cj_decode_exit(d, add_if_step(d, r, step_end_if, other, joined));
	d->yields_to = around;
	cj_decode_release(d, other, cj_decode_mask_bytes(d));
	cj_decode_release(d, joined, cj_decode_mask_bytes(d));
}

void
cj_interp_YIELD(struct cj_decoder *d, cj_ref r)
{
	const struct cj_inst *i = cj_inst(d->module, r);
	cj_type t;
	uint32_t from;
	struct cj_step *s;

	if (d->yields_to == 0) {	/* of an expect: for interp_map.c */
		unsigned n;

		assert(i->operand_count <= CJ_LENGTH(d->code->yields));
		for (n = 0; n < i->operand_count; n++)
			d->code->yields[n] = cj_decode_operand(d, r, n);
		d->code->yield = r;
		return;
	}
	t = cj_inst(d->module, d->yields_to)->type;
	if (i->operand_count == 0 || t == 0)
		return;
	from = cj_decode_operand(d, r, 0);
	s = cj_step_add(d, r, cj_step_blend);
	s->a = from;
	s->dst = d->code->offset[d->yields_to];
	s->kind = (uint8_t)cj_type_kind(t);
	s->n = cj_type_count(t) * d->code->lanes;
}

/* ---- loops --------------------------------------------------------------- */

static void
report_limit(struct cj_frame *f, const struct cj_step *s, uint64_t limit)
{
	struct cj_fault *p = cj_fault_at(f, s, cj_first_lane(f),
	    CJ_DIAG_ENDLESS_KERNEL, "this loop still runs after %llu "
	    "operations of one %s", (unsigned long long)limit,
	    f->machine->block != NULL ? "warp" : "thread");

	if (p != NULL && f->machine->host == NULL)
		p->note = "if it does end, allow more: --steps=N";
	cj_frame_stop(f);
}

static void
report_cycle(struct cj_frame *f, const struct cj_step *s)
{
	cj_fault_at(f, s, cj_first_lane(f), CJ_DIAG_ENDLESS_KERNEL,
	    "this loop never ends: a turn begins with all that an earlier one "
	    "began with");
	cj_frame_stop(f);
}

/* A turn of a loop is over: time to see whether it should go on. Operations
 * since the frame was started are in `looped`. */
static bool
goes_on(struct cj_frame *f, const struct cj_step *s, uint64_t looped,
    uint64_t limit)
{
	struct cj_machine *m = f->machine;

	f->turns++;
	if (f->turns % BETWEEN_CANCELS == 0 && cj_is_halted(m))
		cj_frame_stop(f);
	if (looped > limit)
		report_limit(f, s, limit);
	return !m->stop;
}

/* One that ends by itself: it counts in all. */
static bool
counted_goes_on(struct cj_frame *f, const struct cj_step *s)
{
	f->looped += f->pc - s->target;
	return goes_on(f, s, f->looped, f->machine->step_limit);
}

static bool
open_goes_on(struct cj_frame *f, const struct cj_step *s)
{
	uint64_t limit = f->machine->open_limit;

	f->looped += f->pc - s->target;
	if (limit == 0)
		return goes_on(f, s, f->looped, f->machine->step_limit);
	f->looped_open += f->pc - s->target;
	return goes_on(f, s, f->looped_open, limit);
}

/* b: `again`, c: `out`. */
static void
step_loop(struct cj_frame *f, const struct cj_step *s)
{
	mask_clear(f, s->b);
	mask_clear(f, s->c);
}

/* The same of a `while` or `loop`; target: its step at the end of a turn. */
static void
step_enter_loop(struct cj_frame *f, const struct cj_step *s)
{
	step_loop(f, s);
	cj_loop_enter(f, s->target);
}

/* target: first step of the body; n: it touches nothing but the frame. */
static void
step_loop_next(struct cj_frame *f, const struct cj_step *s)
{
	assert(s->target < f->pc);
	mask_or(f, CJ_FRAME_MASK, s->b);
	mask_clear(f, s->b);
	cj_mask_changed(f);
	if (!f->any || !open_goes_on(f, s))
		return;
	if (s->n && f->turns % BETWEEN_CANCELS == 0 &&
	    cj_loop_repeats(f, f->pc))
		report_cycle(f, s);
	else
		f->pc = s->target;
}

/* All who left meet again. */
static void
step_left(struct cj_frame *f, const struct cj_step *s)
{
	mask_copy(f, CJ_FRAME_MASK, s->c);
	cj_mask_changed(f);
	leave_if_none(f, s);
}

static void
step_left_scope(struct cj_frame *f, const struct cj_step *s)
{
	mask_or(f, CJ_FRAME_MASK, s->c);
	cj_mask_changed(f);
	leave_if_none(f, s);
}

static struct cj_step *
add_loop_step(struct cj_decoder *d, cj_ref r, cj_step_fn *run,
    const struct cj_open *open)
{
	struct cj_step *s = cj_step_add(d, r, run);

	s->b = open->again;
	s->c = open->out;
	return s;
}

static void
open_region(struct cj_decoder *d, struct cj_open *open, cj_ref r)
{
	open->owner = r;
	open->out = cj_decode_mask(d);
	open->again = cj_decode_mask(d);
	open->around = d->open;
	d->open = open;
}

static void
close_region(struct cj_decoder *d, struct cj_open *open)
{
	assert(d->open == open);
	d->open = open->around;
	cj_decode_release(d, open->out, cj_decode_mask_bytes(d));
	cj_decode_release(d, open->again, cj_decode_mask_bytes(d));
}

void
cj_interp_LOOP(struct cj_decoder *d, cj_ref r)
{
	cj_region region = cj_inst(d->module, r)->region;
	struct cj_open open;
	struct cj_step *next;
	uint32_t body;

	open_region(d, &open, r);
	add_loop_step(d, r, step_enter_loop, &open);
	body = cj_decode_pc(d);
	cj_decode_region(d, region);
	next = add_loop_step(d, r, step_loop_next, &open);
	next->target = body;
	next->n = cj_loop_is_closed(d, region);
	cj_decode_at(d, body - 1)->target = cj_decode_pc(d);
	cj_decode_exit(d, add_loop_step(d, r, step_left, &open));
	close_region(d, &open);
}

void
cj_interp_SCOPE(struct cj_decoder *d, cj_ref r)
{
	struct cj_open open;

	open_region(d, &open, r);
	add_loop_step(d, r, step_loop, &open);
	cj_decode_region(d, cj_inst(d->module, r)->region);
	cj_decode_exit(d, add_loop_step(d, r, step_left_scope, &open));
	close_region(d, &open);
}

/* ---- for ----------------------------------------------------------------- */

/* Lanes whose index has come to its end leave. a: the last step's index, n:
 * bound. */
static void
for_test(struct cj_frame *f, const struct cj_step *s)
{
	const int64_t *index = CJ_AT(f, int64_t, s->dst);
	const int64_t *hi = CJ_AT(f, int64_t, s->n);
	uint8_t *mask = cj_mask(f, CJ_FRAME_MASK);
	uint8_t *out = cj_mask(f, s->c);
	uint32_t i;

	for (i = 0; i < f->lanes; i++) {
		uint8_t goes = mask[i] & (uint8_t)(index[i] < hi[i]);

		out[i] |= mask[i] ^ goes;
		mask[i] = goes;
	}
	cj_mask_changed(f);
}

/* dst: index; n: bound; a: first value, then step; b, c: masks. */
static void
step_for(struct cj_frame *f, const struct cj_step *s)
{
	memcpy(CJ_AT(f, char, s->dst), CJ_AT(f, char, s->a),
	    f->lanes * sizeof(int64_t));
	mask_clear(f, s->b);
	mask_clear(f, s->c);
	for_test(f, s);
	leave_if_none(f, s);
}

static void
step_for_check(struct cj_frame *f, const struct cj_step *s)
{
	const int64_t *by = CJ_AT(f, int64_t, s->a);
	uint32_t i;

	for (i = 0; i < f->lanes; i++) {
		if (by[i] > 0 || !cj_lane_runs(f, i))
			continue;
		cj_fault_at(f, s, i, CJ_DIAG_BAD_STEP,
		    "the step of this loop is %lld", (long long)by[i]);
		cj_frame_stop(f);
		return;
	}
}

static void
step_for_next(struct cj_frame *f, const struct cj_step *s)
{
	int64_t *index = CJ_AT(f, int64_t, s->dst);
	const int64_t *by = CJ_AT(f, int64_t, s->a);
	uint32_t i;

	assert(s->target < f->pc);
	mask_or(f, CJ_FRAME_MASK, s->b);
	mask_clear(f, s->b);
	for (i = 0; i < f->lanes; i++)	/* beyond the range: the loop ends */
		if (__builtin_add_overflow(index[i], by[i], &index[i]))
			index[i] = INT64_MAX;
	for_test(f, s);
	if (f->any && counted_goes_on(f, s))
		f->pc = s->target;
}

void
cj_interp_FOR(struct cj_decoder *d, cj_ref r)
{
	cj_region region = cj_inst(d->module, r)->region;
	uint32_t lo = cj_decode_operand(d, r, 0);
	uint32_t hi = cj_decode_operand(d, r, 1);
	uint32_t by = cj_decode_operand(d, r, 2);
	uint32_t bytes = cj_value_bytes(cj_type_of(CJ_KIND_INDEX, 1),
	    d->code->lanes);
	cj_ref parameter = d->module->regions.at[region].first;
	struct cj_open open;
	uint32_t index = cj_decode_range(d, bytes), first;
	struct cj_step *s;

	open_region(d, &open, r);
	if (parameter != 0
	    && cj_inst(d->module, parameter)->op == CJ_OP_INDEX)
		d->code->offset[parameter] = index;
	cj_step_add(d, r, step_for_check)->a = by;
	first = cj_decode_pc(d);
	s = add_loop_step(d, r, step_for, &open);
	s->dst = index;
	s->n = hi;
	s->a = lo;
	cj_decode_region(d, region);
	s = add_loop_step(d, r, step_for_next, &open);
	s->dst = index;
	s->n = hi;
	s->a = by;
	s->target = first + 1;
	cj_decode_at(d, first)->target = cj_decode_pc(d);
	cj_decode_exit(d, add_loop_step(d, r, step_left, &open));
	close_region(d, &open);
	cj_decode_release(d, index, bytes);
}

void
cj_interp_INDEX(struct cj_decoder *d, cj_ref r)
{
	/* A for has set it already; else it is the map's. */
	if (d->code->offset[r] == CJ_NO_OFFSET)
		d->code->offset[r] = d->code->index;
}

/* ---- exits --------------------------------------------------------------- */

static void
step_leave(struct cj_frame *f, const struct cj_step *s)
{
	move_all(f, s, s->a);
}

static void
step_return(struct cj_frame *f, const struct cj_step *s)
{
	uint8_t *unfinished = cj_mask(f, f->code->unfinished);
	const uint8_t *mask = cj_mask(f, CJ_FRAME_MASK);
	uint32_t i;

	for (i = 0; i < f->lanes; i++)
		unfinished[i] &= mask[i] ^ 1;
	move_all(f, s, CJ_NO_OFFSET);
}

static const struct cj_open *
target_of(struct cj_decoder *d, cj_ref r)
{
	cj_ref owner = cj_inst(d->module, r)->attr;
	const struct cj_open *open = d->open;

	while (open != NULL && open->owner != owner)
		open = open->around;
	if (open == NULL)
		cj_bug(d->arena->recover, "%%%u leaves what is not around it",
		    (unsigned)r);
	return open;
}

static void
add_leave(struct cj_decoder *d, cj_ref r, cj_step_fn *run, uint32_t to)
{
	struct cj_step *s;

	cj_decode_releases(d, cj_op_info[cj_inst(d->module, r)->op].attr ==
	    CJ_ATTR_TARGET ? cj_inst(d->module, r)->attr : 0);
	s = cj_step_add(d, r, run);
	s->a = to;
	cj_decode_exit(d, s);
}

void
cj_interp_BREAK(struct cj_decoder *d, cj_ref r)
{
	add_leave(d, r, step_leave, target_of(d, r)->out);
}

void
cj_interp_CONTINUE(struct cj_decoder *d, cj_ref r)
{
	add_leave(d, r, step_leave, target_of(d, r)->again);
}

void
cj_interp_RETURN(struct cj_decoder *d, cj_ref r)
{
	if (d->self != 0)
		cj_bug(d->arena->recover, "a map cannot return");
	add_leave(d, r, step_return, CJ_NO_OFFSET);
}
