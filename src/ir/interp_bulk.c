/*
 * What the hardware's own units have in flight: copies by TMA, copies of
 * neighbours, registers sent to another block, operands of products.
 *
 * A copy is checked where it is issued: bounds, rights, races. Its data move
 * late: what signals an mbarrier when somebody asks for it and nothing else is
 * missing there, stores at the wait for their group. Until then nobody may
 * read or write what a copy fills, nor write what it reads. What goes to
 * another block is in that block's list, and what it reads in the own one's.
 */
#include "interp_tmem.h"

enum { MOST_KEPT = 256 };		/* stores that have read */

int64_t
cj_swizzled(enum cj_map_swizzle s, enum cj_kind k, int64_t at)
{
	int64_t bytes = cj_kind_bits(k) / 8, byte = at * bytes;

	if (s == CJ_MAP_PLAIN)
		return at;
	byte ^= (byte >> 7 & (((int64_t)1 << s) - 1)) << 4;
	return byte / bytes;
}

/* ---- the list ------------------------------------------------------------ */

static struct cj_bulk *
add(struct cj_frame *f, struct cj_machine *owner)
{
	struct cj_async *a = owner->async;
	struct cj_bulk *b = a->unused, **last = &a->bulks;

	if (b == NULL)
		b = CJ_NEW(f->machine->arena, struct cj_bulk);
	else
		a->unused = b->next;
	memset(b, 0, sizeof *b);
	b->owner = owner;
	while (*last != NULL)
		last = &(*last)->next;
	*last = b;
	return b;
}

struct cj_bulk *
cj_bulk_add(struct cj_frame *f, const struct cj_step *s,
    enum cj_bulk_kind kind)
{
	struct cj_bulk *b = add(f, f->machine);

	b->kind = kind;
	b->step = s;
	b->frame = f;
	return b;
}

void
cj_bulk_drop(struct cj_bulk *b)
{
	struct cj_async *a = b->owner->async;
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
mark(const struct cj_bulk *b, bool begins)
{
	enum cj_kind k = kind_of(b->frame, b->object);
	struct cj_async *a = b->owner->async;
	int64_t i;

	if (b->kind == CJ_BULK_REGISTERS)
		return;
	if (b->kind != CJ_BULK_LOAD) {
		a->sources[b->object] += begins ? 1 : -1u;
		return;
	}
	for (i = b->lo; i < b->hi; i++)
		a->late[b->object][cj_swizzled(b->swizzle, k, i)] = begins;
}

/* Elements that stay together behind a swizzle, and divide what is copied. */
static int64_t
unit_of(const struct cj_bulk *b)
{
	int64_t unit = 128 / cj_kind_bits(kind_of(b->frame, b->object));

	return (b->hi - b->lo) % unit == 0 ? unit : 1;
}

static void
hand_over_shared(struct cj_frame *f, const struct cj_bulk *b)
{
	int64_t unit = unit_of(b), i;

	for (i = b->lo; i < b->hi; i += unit)
		cj_race_unit(b->owner->block, f, b->step, b->unit,
		    (struct cj_touched_range){ .object = b->object,
		    .width = (uint32_t)unit, .first = cj_swizzled(b->swizzle,
		    kind_of(f, b->object), i), .is_write = true });
}

static void
hand_over_global(struct cj_frame *f, const struct cj_bulk *b)
{
	int64_t rows = cj_box_rows(b), i;

	for (i = 0; i < rows; i++) {
		struct cj_row r = cj_box_row(b, i);

		if (r.from != r.to)
			cj_race_unit(b->owner->block, f, b->step, b->unit,
			    (struct cj_touched_range){ .object = b->map !=
			    NULL ? b->map->object : b->other,
			    .width = (uint32_t)(r.to - r.from),
			    .first = r.first + r.from, .is_write = true });
	}
}

/* From now on the unit writes when it likes: nobody touches what it writes
 * before they have waited for it. Updates are whole, and wait for nobody. */
static void
hand_over(struct cj_frame *f, struct cj_bulk *b)
{
	bool loads = b->kind == CJ_BULK_LOAD;

	if ((!loads && b->kind != CJ_BULK_STORE) || b->reduces)
		return;
	b->unit.kind = loads ? CJ_UNIT_LOAD : CJ_UNIT_STORE;
	b->unit.number = loads ? cj_mbarrier_number(b->owner, b->signal)
	    % CJ_LANES_WARP : f->warp;
	b->unit.interval = ++b->owner->async->unit[b->unit.kind]
	    [b->unit.number];
	if (loads)
		hand_over_shared(f, b);
	else
		hand_over_global(f, b);
	if (b->past != NULL)
		b->past = cj_past_join(f, b->past, cj_unit_past(f,
		    b->owner->block, b->unit));
}

struct cj_bulk *
cj_bulk_issue(struct cj_frame *f, const struct cj_bulk *what)
{
	struct cj_bulk *b = add(f, what->owner);
	struct cj_bulk *next = b->next;

	*b = *what;
	b->next = next;
	if (b->map != NULL) {		/* as it is now */
		b->own_map = *b->map;
		b->map = &b->own_map;
	}
	mark(b, true);
	hand_over(f, b);
	if (b->kind != CJ_BULK_SOURCE)
		b->until = cj_timeline_copy(f, b->step, (b->hi - b->lo) *
		    cj_kind_bits(kind_of(f, b->object)) / 8);
	return b;
}

void
cj_bulk_clear(struct cj_frame *f)
{
	struct cj_async *a = f->machine->async;

	while (a != NULL && a->bulks != NULL) {
		mark(a->bulks, false);
		cj_bulk_drop(a->bulks);
	}
	if (a != NULL && f->warp == 0) {
		memset(a->unit, 0, sizeof a->unit);
		a->kept = 0;
	}
	f->seen_maps = NULL;
	memset(f->bulk_commits, 0, sizeof f->bulk_commits);
	f->wgmma_commits = 0;
	f->loose_count = 0;
}

/* ---- who meets it -------------------------------------------------------- */

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

/* Updates of one element by several copies are each whole. */
static bool
meets_in(struct cj_frame *f, const struct cj_machine *owner,
    const struct cj_step *s, uint32_t lane, struct cj_touched_range t)
{
	static const char *const what[] = {
		[CJ_BULK_LOAD] = "which a copy has not filled yet",
		[CJ_BULK_STORE] = "which a copy has not read yet",
		[CJ_BULK_PRODUCT] = "which a product has not read yet",
		[CJ_BULK_SOURCE] = "which a copy has not read yet",
	};
	const char *name = f->code->module->objects.at[t.object].name;
	const struct cj_bulk *b = owner->async->bulks;
	struct cj_fault *fault;

	while (b != NULL && (!touches(f, b, t) ||
	    (t.is_atomic && b->reduces)))
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

bool
cj_bulk_meets(struct cj_frame *f, const struct cj_step *s, uint32_t lane,
    struct cj_touched_range t)
{
	return meets_in(f, f->machine, s, lane, t);
}

static void
announce(struct cj_frame *f, const struct cj_bulk *b)
{
	int64_t unit = unit_of(b), i;

	for (i = b->lo; i < b->hi; i += unit)
		cj_race_access_of(b->owner->block, f, b->step, b->lane,
		    (struct cj_touched_range){ .object = b->object,
		    .width = (uint32_t)unit, .first = cj_swizzled(b->swizzle,
		    kind_of(f, b->object), i), .is_write =
		    b->kind == CJ_BULK_LOAD, .is_atomic = b->reduces &&
		    b->kind == CJ_BULK_LOAD,
		    .is_async = b->step->op != CJ_OP_SEND });
}

bool
cj_bulk_may(struct cj_frame *f, const struct cj_bulk *b)
{
	struct cj_access access = { .object = b->object };
	bool writes = b->kind == CJ_BULK_LOAD, has_met = false;
	int64_t unit = unit_of(b), i;

	/* what it meets is reported once: copies are many elements */
	for (i = b->lo; i < b->hi; i += unit) {
		struct cj_touched_range t = { .object = b->object,
		    .width = (uint32_t)unit, .is_write = writes,
		    .is_atomic = writes && b->reduces };

		t.first = cj_swizzled(b->swizzle, kind_of(f, b->object), i);
		if (!cj_reach_may(f, b->step, b->lane, (struct cj_reach){
		    &access, t.first, t.width }, writes))
			return false;
		if (has_met)
			continue;
		has_met = b->owner != f->machine || t.is_atomic ?
		    meets_in(f, b->owner, b->step, b->lane, t) :
		    cj_async_meets(f, b->step, b->lane, t);
	}
	announce(f, b);
	return true;
}

/* ---- landing ------------------------------------------------------------- */

static void
put(struct cj_frame *f, const struct cj_bulk *b, const struct cj_memory *to,
    int64_t at, uint64_t value)
{
	enum cj_kind k = kind_of(f, b->object);

	if (b->reduces)
		cj_memory_combine(f, to, k, at, b->how, value);
	else
		cj_memory_set(to, k, at, value);
	if (to->written != NULL)
		to->written[at - to->lo] = 1;
}

/* What comes of an element: TMA makes tf32 of the f32 that may lie there. */
static uint64_t
brought(const struct cj_bulk *b, enum cj_kind k, uint64_t bits)
{
	return b->map == NULL || k != CJ_KIND_TF32 ? bits :
	    cj_num_convert(CJ_KIND_TF32, CJ_KIND_F32, bits,
	    (struct cj_conversion){ .is_default = true });
}

static void
move_row(struct cj_frame *f, const struct cj_bulk *b, int64_t row)
{
	const struct cj_memory *shared = &b->owner->memory[b->object];
	const struct cj_memory *other = &b->frame->machine->memory[
	    b->map != NULL ? b->map->object : b->other];
	enum cj_kind k = kind_of(f, b->object);
	struct cj_row r = cj_box_row(b, row);
	uint64_t fill = b->map == NULL ? 0 : cj_map_fill(b->map->map, k);
	int64_t width = cj_box_width(b), i, at;

	for (i = 0; i < width; i++) {
		bool inside = i >= r.from && i < r.to;

		at = cj_swizzled(b->swizzle, k, b->lo + row * width + i);
		if (b->kind == CJ_BULK_LOAD)
			put(f, b, shared, at, b->held != NULL ? b->held[i] :
			    inside ? brought(b, k, cj_memory_get(other, k,
			    r.first + i)) : fill);
		else if (inside)
			put(f, b, other, r.first + i, cj_memory_get(shared, k,
			    at));
	}
}

static void
move(struct cj_frame *f, const struct cj_bulk *b)
{
	int64_t rows = cj_box_rows(b), i;

	for (i = 0; i < rows; i++)
		move_row(f, b, i);
}

/* What it has read may be written again. */
static void
give_back(struct cj_bulk *b)
{
	if (b->source == NULL)
		return;
	mark(b->source, false);
	cj_bulk_drop(b->source);
}

void
cj_tma_land(struct cj_frame *f, struct cj_mbarrier *signal)
{
	struct cj_async *a = f->machine->async;
	struct cj_bulk *b, *next;

	for (b = a != NULL ? a->bulks : NULL; b != NULL; b = next) {
		struct cj_bulk held;
		int64_t bytes;

		next = b->next;
		if (b->kind != CJ_BULK_LOAD || b->signal != signal)
			continue;
		bytes = (b->hi - b->lo) * cj_kind_bits(kind_of(f,
		    b->object)) / 8;
		move(f, b);
		mark(b, false);
		if (next == b->source)
			next = next != NULL ? next->next : NULL;
		give_back(b);
		signal->far_coming |= b->held != NULL &&
		    b->frame->machine != f->machine;
		held = *b;
		cj_bulk_drop(b);
		cj_mbarrier_complete(f, signal, bytes, &held);
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

/* It has read its source, which counts as a read here once more: what is to
 * overwrite it must be ordered behind this wait. It may have written, too. */
static void
end_store(struct cj_frame *f, const struct cj_step *s, struct cj_bulk *b)
{
	if (!b->has_read) {
		move(f, b);
		mark(b, false);
		b->has_read = true;
		announce(f, b);
		f->machine->async->kept++;
	}
	cj_timeline_wait(f, s, b->until);
	if (s->op == CJ_OP_BULK_WAIT) {
		cj_clock_join(f, cj_unit_past(f, f->machine->block,
		    b->unit));
		f->machine->async->kept--;
		cj_bulk_drop(b);
	}
}

/* Stores that are never waited for to their end need not be remembered for
 * ever. */
static void
forget_old(struct cj_async *a)
{
	struct cj_bulk *b, *next;

	for (b = a->bulks; b != NULL && a->kept > MOST_KEPT; b = next) {
		next = b->next;
		if (b->kind == CJ_BULK_STORE && b->has_read) {
			cj_bulk_drop(b);
			a->kept--;
		}
	}
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
		end_store(f, s, b);
	}
	if (a != NULL)
		forget_old(a);
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

	cj_tmem_end(b);
	while (at != NULL && (at->kind == CJ_BULK_PRODUCT ||
	    at->kind == CJ_BULK_REGISTERS ||
	    at->kind == CJ_BULK_SOURCE || at->has_read))
		at = at->next;
	if (at == NULL)
		return;
	f = at->frame;
	if (at->kind == CJ_BULK_LOAD) {
		fault = cj_fault_at(f, at->step, at->lane, CJ_DIAG_IN_FLIGHT,
		    "the block ends before the copy issued here has landed");
		if (fault != NULL)
			fault->note = "nobody has waited for its mbarrier: "
			    "memory of the block may be another's then";
		return;
	}
	fault = cj_fault_at(f, at->step, at->lane, CJ_DIAG_IN_FLIGHT,
	    "the block ends before the copy issued here has read its source");
	if (fault != NULL)
		fault->note = at->group >= f->bulk_commits[at->lane] ?
		    "it belongs to no group: bulk_commit(), then "
		    "bulk_wait_read(0)" : "its thread has not waited for its "
		    "group: bulk_wait_read(0)";
}
