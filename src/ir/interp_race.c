/*
 * Races: two accesses of one element, one of them a write, that nothing
 * orders (interp_clock.c says what does).
 *
 * Each cell of memory that is written has a shadow: a word for who wrote it
 * last, who read it last, who used it by atomics last. A cell is as many
 * elements as every access of its object moves at once. A word names a block,
 * a warp, a lane and the warp's interval; most accesses are found in order by
 * looking at it. Readers that nothing orders among each other have one of
 *
 *	several lanes of one warp	a mark in the word
 *	several warps of one block	a mask of them, all in one interval
 *	others				a set of up to MOST words
 *
 * A full set forgets one of its readers, so that of more than MOST
 * unordered ones not every race is found; none is ever made up.
 *
 * What units of the hardware write stands under block numbers behind those of
 * the launch, and is ordered like what another block wrote.
 *
 * Shadows are pages of 1024 cells, made by the thread that first needs one.
 * Those of global memory are touched by several threads of ours: each access
 * first announces itself and then looks for others, so that of two at least
 * one sees the other.
 */
#include "interp_race.h"
#include "base/room.h"

enum { PAGE = 1024, MOST = 8 };

/*
 *	63..38 block + 1	37..33 warp	32..28 lane
 *	63..32 mask of warps (of the block that owns the shadow)
 *	27..6 interval		1..0 form
 *	63..2 address of a set
 */
typedef uint64_t who;

/* Of one warp, as member of a mask or set: MASK stands for some lane. */
enum form { SINGLE, MASK, SET, LANES };
enum kind { WRITER, READER, ATOMIC, KINDS };

#define WARP_BITS	(~(who)0 << 33)		/* block and warp */
#define LANE_BITS	(~(who)0 << 28)

struct set {
	atomic_flag lock;
	uint32_t count;
	who at[MOST];			/* SINGLE or LANES */
};

struct page {
	_Atomic who who[PAGE];
	_Atomic cj_ref ref[PAGE];	/* the instruction */
};

typedef struct page *page_ref;

/* The shadow of one memory; NULL pages: nobody yet. */
struct shadow {
	int64_t first;			/* element where cell 0 begins */
	size_t cells;
	unsigned log2_cell;		/* elements of a cell */
	bool is_own;			/* of one thread of ours: shared, */
	uint64_t owner;			/* of this block */
	_Atomic page_ref *pages[KINDS];
};

/* An access under examination. */
struct act {
	struct cj_frame *f;
	const struct cj_step *s;
	struct cj_race_run *run;
	struct shadow *shadow;
	uint32_t lane, object;
	int64_t element;
	enum kind kind;
	who me;
};

/* ---- words --------------------------------------------------------------- */

static enum form
form_of(who w)
{
	return (enum form)(w & 3);
}

static uint64_t
block_of(who w)
{
	return (w >> 38) - 1;
}

static uint32_t
warp_of(who w)
{
	return (uint32_t)(w >> 33) & 31;
}

static uint32_t
lane_of(who w)
{
	return (uint32_t)(w >> 28) & 31;
}

static uint32_t
interval_of(who w)
{
	return (uint32_t)(w >> 6) & CJ_LAST_INTERVAL;
}

static who
word_of(uint64_t block, uint32_t warp, uint32_t interval)
{
	assert(warp < 32 && interval <= CJ_LAST_INTERVAL);
	return (who)(block + 1) << 38 | (who)warp << 33
	    | (who)interval << 6;
}

static who
myself(const struct cj_frame *f, uint32_t lane)
{
	return word_of(f->machine->block->number, f->warp,
	    f->clock->warp[f->warp]) | (who)lane << 28;
}

static struct set *
set_of(who w)
{
	assert(form_of(w) == SET);
	return (struct set *)(uintptr_t)(w & ~(who)3);
}

/* ---- order --------------------------------------------------------------- */

/* What the lane under examination knows. */
static const struct cj_clock *
clock_of(const struct act *a)
{
	const struct cj_frame *f = a->f;

	return f->ahead == 0 || f->ahead >> a->lane & 1 ? f->clock : f->stale;
}

/* Is what a word says part of what is known of its warp? */
static bool
is_known(struct cj_known k, who w)
{
	if (k.interval >= interval_of(w))
		return true;
	if (k.lane >> 6 < interval_of(w))
		return false;
	return form_of(w) == MASK || (form_of(w) == SINGLE &&
	    (k.lane >> 1 & 31) == lane_of(w));
}

/* Did one warp's access happen before the one under examination? */
static bool
is_before(const struct act *a, who w)
{
	const struct cj_clock *c = clock_of(a);
	uint32_t warp = warp_of(w);

	if ((w ^ a->me) >> 38 != 0)
		return is_known(cj_past_known(a->run, c->past, block_of(w),
		    warp), w);
	if (((w ^ a->me) & WARP_BITS) != 0)
		return is_known((struct cj_known){ c->warp[warp],
		    c->lane[warp] }, w);
	if (form_of(w) != SINGLE)
		return interval_of(w) < c->met;
	return ((w ^ a->me) & LANE_BITS) == 0 || is_known((struct cj_known){
	    c->met - 1, c->lane[warp] }, w);
}

/* A word of a mask's warp number i. */
static who
member_of(const struct act *a, who mask, uint32_t i)
{
	return word_of(a->shadow->owner, i, interval_of(mask)) | MASK;
}

/* Of a mask: one of its warps that did not come before, else 0. */
static who
find_in_mask(const struct act *a, who w)
{
	uint32_t warps = (uint32_t)(w >> 32), i;

	for (i = 0; i < 32 && warps >> i != 0; i++) {
		who one = member_of(a, w, i);

		if (warps >> i & 1 && ((one ^ a->me) & WARP_BITS) != 0
		    && !is_before(a, one))
			return one;
	}
	return 0;
}

static void
lock(struct set *s)
{
	while (atomic_flag_test_and_set(&s->lock))
		;
}

static who
find_in_set(const struct act *a, who w)
{
	struct set *s = set_of(w);
	who found = 0;
	uint32_t i;

	lock(s);
	for (i = 0; i < s->count && found == 0; i++)
		if (!is_before(a, s->at[i]))
			found = s->at[i];
	atomic_flag_clear(&s->lock);
	return found;
}

/* Who of a word did not come before; 0: all did. */
static who
find_unordered(const struct act *a, who w)
{
	switch (form_of(w)) {
	case MASK:
		return find_in_mask(a, w);
	case SET:
		return find_in_set(a, w);
	case SINGLE:
	case LANES:
		break;
	}
	return is_before(a, w) ? 0 : w;
}

/* The usual cases: nobody, this lane, this block before its last barrier. */
static bool
is_plain(const struct act *a, who w)
{
	who other = w ^ a->me;

	if (w == 0)
		return true;
	if (form_of(w) == MASK && a->shadow->owner == block_of(a->me))
		return interval_of(w) <= clock_of(a)->floor;
	return form_of(w) == SINGLE && ((other & LANE_BITS) == 0
	    || (other >> 38 == 0
	    && interval_of(w) <= clock_of(a)->floor));
}

/* ---- sharing a word ------------------------------------------------------ */

static void
set_add(const struct act *a, struct set *s)
{
	uint32_t i, kept = 0;
	who me = a->me;

	lock(s);
	for (i = 0; i < s->count; i++) {
		if (is_before(a, s->at[i]))
			continue;
		if (((s->at[i] ^ a->me) & WARP_BITS) != 0)
			s->at[kept++] = s->at[i];
		else
			me |= LANES;
	}
	s->at[kept < MOST ? kept : (a->me >> 33) % MOST] = me;
	s->count = kept < MOST ? kept + 1 : MOST;
	atomic_flag_clear(&s->lock);
}

static who
new_set(const struct act *a, who old)
{
	struct set *s = CJ_NEW(a->f->machine->arena, struct set);
	uint32_t i;

	atomic_flag_clear(&s->lock);
	if (form_of(old) != MASK)
		s->at[s->count++] = old;
	for (i = 0; form_of(old) == MASK && i < 32 && s->count < MOST; i++)
		if (old >> (32 + i) & 1)
			s->at[s->count++] = member_of(a, old, i);
	set_add(a, s);
	return (who)(uintptr_t)s | SET;
}

static who
mask_of(const struct act *a, who w)
{
	who others = form_of(w) == MASK ? w >> 32 : (who)1 << warp_of(w);

	return (others | (who)1 << a->f->warp) << 32
	    | (w & ((who)CJ_LAST_INTERVAL << 6)) | MASK;
}

static bool
can_be_mask(const struct act *a, who w)
{
	return a->shadow->is_own && a->shadow->owner == block_of(a->me)
	    && interval_of(w) == interval_of(a->me)
	    && (form_of(w) == MASK || (w ^ a->me) >> 38 == 0);
}

/* What becomes of a word when this access joins it; sets change inside. */
static who
joined(const struct act *a, who old)
{
	if (form_of(old) == SET) {
		set_add(a, set_of(old));
		return old;
	}
	if (form_of(old) == MASK) {
		if (can_be_mask(a, old))
			return mask_of(a, old);
		return find_in_mask(a, old) == 0 ? a->me : new_set(a, old);
	}
	if (is_before(a, old))
		return a->me;
	if (((old ^ a->me) & WARP_BITS) == 0)
		return a->me | LANES;
	return can_be_mask(a, old) ? mask_of(a, old) : new_set(a, old);
}

/* ---- reports ------------------------------------------------------------- */

static const char *
who_text(const struct act *a, who other)
{
	const struct cj_block *b = a->f->machine->block;
	const struct cj_kernel_launch *l = b->launch;
	uint64_t number = block_of(other);
	uint32_t t = warp_of(other) * CJ_LANES_WARP + lane_of(other);
	const char *block = cj_printf(a->f->machine->arena,
	    "block (%lld, %lld, %lld)",
	    (long long)(number % (uint64_t)l->grid[0]),
	    (long long)(number / (uint64_t)l->grid[0]
	    % (uint64_t)l->grid[1]),
	    (long long)(number / (uint64_t)l->grid[0]
	    / (uint64_t)l->grid[1]));

	if (form_of(other) != SINGLE)
		return cj_printf(a->f->machine->arena, "%s warp %u", block,
		    (unsigned)warp_of(other));
	return cj_printf(a->f->machine->arena, "%s thread (%lld, %lld, %lld)",
	    block, (long long)b->thread[0][t], (long long)b->thread[1][t],
	    (long long)b->thread[2][t]);
}

static bool
is_unit(const struct act *a, who w)
{
	return block_of(w) >= a->run->blocks;
}

static const char *const verbs[KINDS] = { "written", "read", "changed" };

static const char *
name_of(const struct act *a)
{
	const char *name =
	    a->f->code->module->objects.at[a->object].name;

	return name == NULL ? "memory" : name;
}

static void
report_lanes(const struct act *a, who other)
{
	cj_fault_at(a->f, a->s, lane_of(other), CJ_DIAG_RACE, "\"%s\" is "
	    "written at %s by lanes %u and %u at once", name_of(a),
	    cj_where(a->f, a->object, a->element),
	    (unsigned)lane_of(other), (unsigned)a->lane);
}

/* What a copy writes or a product reads is touched without a wait for its
 * end. */
static void
report_unit(const struct act *a, who other, cj_ref ref)
{
	static const struct { const char *what, *note; } units[] = {
		[CJ_UNIT_LOAD] = { "copy writes", "it is issued here; nothing "
		    "orders that access behind a wait for its mbarrier" },
		[CJ_UNIT_STORE] = { "copy writes", "it is issued here; "
		    "nothing orders that access behind a bulk_wait() of its "
		    "thread" },
		[CJ_UNIT_PRODUCT] = { "product reads", "it is issued here; "
		    "nothing orders that access behind a wait for the "
		    "mbarrier of its tcgen05_commit()" },
	};
	unsigned unit = (unsigned)(block_of(other) / a->run->blocks) - 1;
	struct cj_fault *fault;

	if (cj_fault_again(a->f, a->s, CJ_DIAG_IN_FLIGHT))
		return;
	fault = cj_fault_at(a->f, a->s, a->lane, CJ_DIAG_IN_FLIGHT,
	    "\"%s\" is %s at %s" CJ_WHO ", which a %s", name_of(a),
	    verbs[a->kind], cj_where(a->f, a->object, a->element),
	    units[unit].what);
	if (fault == NULL)
		return;
	fault->other = ref;
	fault->note = units[unit].note;
}

static void
report(const struct act *a, who other, cj_ref ref, enum kind kind)
{
	struct cj_fault *fault;

	if (is_unit(a, other)) {
		report_unit(a, other, ref);
		return;
	}
	if (cj_fault_again(a->f, a->s, CJ_DIAG_RACE))
		return;
	if (ref == a->s->ref && ((other ^ a->me) & WARP_BITS) == 0
	    && kind == WRITER && a->kind == WRITER) {
		report_lanes(a, other);
		return;
	}
	fault = cj_fault_at(a->f, a->s, a->lane,
	    CJ_DIAG_RACE, "\"%s\" is %s at %s" CJ_WHO
	    " and %s by %s, and nothing orders them", name_of(a),
	    verbs[a->kind], cj_where(a->f, a->object, a->element),
	    verbs[kind], who_text(a, other));
	if (fault == NULL)
		return;
	fault->other = ref;
	fault->note = "the other side is here";
}

/* ---- one cell ------------------------------------------------------------ */

/* The page of a number, which the thread's own arena gives if need be; of two
 * threads that need it at once the first one's serves both. */
static struct page *
page_for(const struct act *a, enum kind kind, size_t number)
{
	_Atomic page_ref *at = &a->shadow->pages[kind][number];
	page_ref have = atomic_load_explicit(at, memory_order_acquire), made;

	if (have != NULL)
		return have;
	if (atomic_fetch_sub_explicit(&a->run->pages_left, 1,
	    memory_order_relaxed) == 0)
		cj_race_give_up(a->f, "that takes more memory than there is");
	made = cj_alloc(a->f->machine->arena, sizeof *made);
	return atomic_compare_exchange_strong(at, &have, made) ? made : have;
}

/* The instruction matters to the report alone, and may be a little late. */
static void
set_ref(struct page *p, size_t i, cj_ref ref)
{
	atomic_store_explicit(&p->ref[i], ref, memory_order_relaxed);
}

/* Has somebody done `kind` to the cell, with nothing between? */
static void
look(const struct act *a, enum kind kind, size_t cell)
{
	struct page *p = atomic_load_explicit(
	    &a->shadow->pages[kind][cell / PAGE], memory_order_acquire);
	who w, other;

	if (p == NULL)
		return;
	w = p->who[cell % PAGE];
	if (is_plain(a, w))
		return;
	other = find_unordered(a, w);
	if (other != 0)
		report(a, other, p->ref[cell % PAGE], kind);
}

/* Shared memory is one thread's own. */
static who
exchange(const struct act *a, _Atomic who *at, who next)
{
	who before;

	if (!a->shadow->is_own)
		return atomic_exchange(at, next);
	before = atomic_load_explicit(at, memory_order_relaxed);
	atomic_store_explicit(at, next, memory_order_relaxed);
	return before;
}

static void
write_cell(const struct act *a, size_t cell)
{
	struct page *p = page_for(a, WRITER, cell / PAGE);
	who before = exchange(a, &p->who[cell % PAGE], a->me);

	if (!is_plain(a, before)) {
		who other = find_unordered(a, before);

		if (other != 0)
			report(a, other, p->ref[cell % PAGE], WRITER);
	}
	set_ref(p, cell % PAGE, a->s->ref);
}

/* Mbarriers, and what is sent, are whole for the cluster, what copies combine
 * in global memory for all. */
static enum cj_memory_scope
scope_of(const struct act *a, cj_ref ref)
{
	const struct cj_module *m = a->run->module;
	const struct cj_inst *i = cj_inst(m, ref);

	switch (i->op) {
	case CJ_OP_MBARRIER_ARRIVE: case CJ_OP_MBARRIER_EXPECT:
	case CJ_OP_MBARRIER_WAIT: case CJ_OP_MBARRIER_TEST: case CJ_OP_SEND:
		return CJ_MEMORY_CLUSTER;
	case CJ_OP_BULK_COPY: case CJ_OP_TMA_STORE: case CJ_OP_TMA_LOAD:
		return CJ_MEMORY_GPU;
	default:
		assert(cj_op_info[i->op].attr == CJ_ATTR_ACCESS);
		return m->accesses.at[i->attr].scope;
	}
}

static bool
reaches(const struct act *a, cj_ref ref, who other)
{
	const struct cj_kernel_launch *l = a->f->machine->block->launch;
	enum cj_memory_scope scope = scope_of(a, ref);

	return cj_scope_group(l, block_of(other), scope)
	    == cj_scope_group(l, block_of(a->me), scope);
}

/* Atomics race where the scope of one does not reach the other. */
static void
check_scope(const struct act *a, who w, cj_ref ref)
{
	const struct cj_module *m = a->run->module;
	struct cj_fault *fault;
	who other;

	if (is_plain(a, w) || ref == 0 || (cj_inst(m, ref)->op == CJ_OP_LOAD
	    && a->s->op == CJ_OP_LOAD))
		return;
	other = find_unordered(a, w);
	if (other == 0 || (reaches(a, ref, other)
	    && reaches(a, a->s->ref, other))
	    || cj_fault_again(a->f, a->s, CJ_DIAG_RACE))
		return;
	fault = cj_fault_at(a->f, a->s, a->lane, CJ_DIAG_RACE,
	    "\"%s\" is changed at %s" CJ_WHO " and by %s, which the scope "
	    "of one of the atomics does not reach", name_of(a),
	    cj_where(a->f, a->object, a->element), who_text(a, other));
	if (fault == NULL)
		return;
	fault->other = ref;
	fault->note = "the other side is here";
}

/* Be one of the readers, or of the users by atomics, of a cell. */
static void
join_cell(const struct act *a, size_t cell)
{
	struct page *p = page_for(a, a->kind, cell / PAGE);
	_Atomic who *at = &p->who[cell % PAGE];
	who old = atomic_load_explicit(at, memory_order_relaxed), next;

	if (a->kind == ATOMIC)
		check_scope(a, old, p->ref[cell % PAGE]);
	if (old == a->me)
		return;
	do {
		next = is_plain(a, old) ? a->me : joined(a, old);
		if (a->shadow->is_own) {
			atomic_store_explicit(at, next, memory_order_relaxed);
			break;
		}
	} while (!atomic_compare_exchange_weak(at, &old, next));
	set_ref(p, cell % PAGE, a->s->ref);
}

static void
touch(struct act *a, int64_t first, uint32_t width)
{
	const struct shadow *s = a->shadow;
	size_t cell = (size_t)(first - s->first) >> s->log2_cell;
	size_t last = (size_t)(first - s->first + width - 1) >> s->log2_cell;

	assert(first >= s->first && last < s->cells);
	for (; cell <= last; cell++) {
		a->element = first > s->first
		    + (int64_t)(cell << s->log2_cell) ? first
		    : s->first + (int64_t)(cell << s->log2_cell);
		if (a->kind == WRITER)
			write_cell(a, cell);
		else
			join_cell(a, cell);
		if (a->kind != WRITER)
			look(a, WRITER, cell);
		if (a->kind != READER)
			look(a, READER, cell);
		if (a->kind != ATOMIC)
			look(a, ATOMIC, cell);
	}
}

static struct act
begin(struct cj_frame *f, const struct cj_step *s,
    const struct cj_touched_range *t)
{
	struct cj_race *r = f->machine->race;
	struct act a = { .f = f, .s = s, .run = r->run,
	    .shadow = r->shadows[t->object], .object = t->object,
	    .kind = t->is_atomic ? ATOMIC : t->is_write ? WRITER : READER };

	return a;
}

void
cj_race_access(struct cj_frame *f, const struct cj_step *s, uint32_t lane,
    struct cj_touched_range t)
{
	struct act a;

	if (!cj_race_watches(f->machine->race, t.object))
		return;
	a = begin(f, s, &t);
	a.lane = lane;
	a.me = myself(f, lane);
	touch(&a, t.first, t.width);
}

void
cj_race_access_of(const struct cj_block *owner, struct cj_frame *f,
    const struct cj_step *s, uint32_t lane, struct cj_touched_range t)
{
	struct act a;

	if (!cj_race_watches(f->machine->race, t.object)
	    || owner->machine.race == NULL)
		return;
	a = begin(f, s, &t);
	a.shadow = owner->machine.race->shadows[t.object];
	a.lane = lane;
	a.me = myself(f, lane);
	touch(&a, t.first, t.width);
}

void
cj_race_unit(const struct cj_block *owner, struct cj_frame *f,
    const struct cj_step *s, struct cj_unit u, struct cj_touched_range t)
{
	const struct cj_race *r = f->machine->race;
	struct act a;
	size_t cell, last;
	struct page *p;

	if (!cj_race_watches(r, t.object) || owner->machine.race == NULL)
		return;
	a = begin(f, s, &t);
	a.shadow = owner->machine.race->shadows[t.object];
	a.lane = cj_first_lane(f);
	a.element = t.first;
	cell = (size_t)(t.first - a.shadow->first) >> a.shadow->log2_cell;
	last = (size_t)(t.first - a.shadow->first + t.width - 1)
	    >> a.shadow->log2_cell;
	for (; cell <= last; cell++) {
		if (!t.is_write) {
			a.me = myself(f, a.lane);
			look(&a, WRITER, cell);
			look(&a, ATOMIC, cell);
		}
		a.me = word_of((1 + u.kind) * r->run->blocks + owner->number,
		    u.number, u.interval);
		if (!t.is_write) {
			join_cell(&a, cell);
			continue;
		}
		p = page_for(&a, WRITER, cell / PAGE);
		exchange(&a, &p->who[cell % PAGE], a.me);
		set_ref(p, cell % PAGE, s->ref);
	}
}

const struct cj_past *
cj_unit_past(struct cj_frame *f, const struct cj_block *owner,
    struct cj_unit u)
{
	if (f->machine->race == NULL)
		return NULL;
	return cj_past_of(f, (1 + u.kind) * f->machine->race->run->blocks +
	    owner->number, u.number, u.interval);
}

void
cj_race_access_all(struct cj_frame *f, const struct cj_step *s,
    struct cj_touched_range t, const int64_t *first)
{
	struct act a;
	who me;

	if (!cj_race_watches(f->machine->race, t.object))
		return;
	a = begin(f, s, &t);
	me = myself(f, 0);
	for (a.lane = 0; a.lane < f->lanes; a.lane++) {
		if (!cj_lane_runs(f, a.lane))
			continue;
		a.me = me | (who)a.lane << 28;
		touch(&a, first[a.lane], t.width);
	}
}

/* ---- shadows ------------------------------------------------------------- */

static size_t
count_pages(const struct shadow *s)
{
	return (s->cells + PAGE - 1) / PAGE;
}

/* Cells begin at multiples of their size in memory. */
static struct shadow *
make_shadow(struct cj_arena *a, const struct cj_memory *m, enum cj_kind k,
    uint32_t cell)
{
	struct shadow *s = CJ_NEW(a, struct shadow);
	unsigned bits = k == CJ_KIND_BOOL ? 8 : cj_kind_bits(k);
	int kind;

	s->first = m->lo;
	if (cell > 1)
		s->first -= (int64_t)(((uintptr_t)m->data / (bits / 8)
		    + (uintptr_t)m->lo) % cell);
	while ((uint32_t)1 << s->log2_cell < cell)
		s->log2_cell++;
	s->cells = ((size_t)(m->hi - s->first) + cell - 1) >> s->log2_cell;
	for (kind = 0; kind < KINDS; kind++)
		s->pages[kind] = CJ_NEWS(a, _Atomic page_ref, count_pages(s));
	return s;
}

static bool
is_same(const struct cj_memory *a, const struct cj_memory *b)
{
	return a->data == b->data && a->lo == b->lo && a->hi == b->hi;
}

static bool
is_global(const struct cj_object *o)
{
	return o->kind == CJ_OBJECT_TENSOR || o->kind == CJ_OBJECT_WORKSPACE
	    || o->kind == CJ_OBJECT_FOREIGN;
}

/* Parameters that show the same memory share a shadow, which is made if one
 * of them may be written. */
static void
give_shadow(struct cj_arena *a, struct cj_race *r,
    const struct cj_memory *all, uint32_t *cells, uint32_t object)
{
	const struct cj_module *m = r->run->module;
	struct shadow *s;
	bool writable = false;
	uint32_t o, cell = cells[object];

	for (o = object; o < m->objects.len; o++)
		if (is_global(&m->objects.at[o])
		    && is_same(&all[o], &all[object])) {
			writable |= all[o].writable;
			cell = cells[o] < cell ? cells[o] : cell;
		}
	if (!writable)
		return;
	s = make_shadow(a, &all[object], m->objects.at[object].element, cell);
	for (o = object; o < m->objects.len; o++)
		if (is_global(&m->objects.at[o])
		    && is_same(&all[o], &all[object]))
			r->shadows[o] = s;
}

struct cj_race *
cj_race_create(struct cj_arena *a, const struct cj_decoded *c,
    const struct cj_kernel_launch *k)
{
	struct cj_race *r = CJ_NEW(a, struct cj_race);
	const struct cj_module *m = c->module;
	uint32_t o;

	r->run = cj_race_run_of(a, c, k);
	r->run->pages_left = (int64_t)(cj_room() / 2 / sizeof(struct page));
	r->shadows = CJ_NEWS(a, struct shadow *, m->objects.len + 1);
	for (o = 1; o < m->objects.len && k->memory != NULL; o++)
		if (r->shadows[o] == NULL && is_global(&m->objects.at[o])
		    && k->memory[o].hi > k->memory[o].lo)
			give_shadow(a, r, k->memory, r->run->cells, o);
	return r;
}

struct cj_race *
cj_race_worker(struct cj_arena *a, const struct cj_race *from,
    const struct cj_memory *memory)
{
	const struct cj_module *m = from->run->module;
	struct cj_race *r = CJ_NEW(a, struct cj_race);
	uint32_t o;

	r->run = from->run;
	r->shadows = cj_memdup(a, from->shadows,
	    (m->objects.len + 1) * sizeof(struct shadow *));
	for (o = 1; o < m->objects.len; o++)
		if (m->objects.at[o].kind == CJ_OBJECT_SHARED
		    && memory[o].hi > 0 && !(r->run->has_stages
		    && m->objects.at[o].stages != 0)) {
			r->shadows[o] = make_shadow(a, &memory[o],
			    m->objects.at[o].element, r->run->cells[o]);
			r->shadows[o]->is_own = true;
		}
	return r;
}

static void
clear_shadow(struct shadow *s)
{
	size_t count = count_pages(s), i;
	int kind;

	for (kind = 0; kind < KINDS; kind++)
		for (i = 0; i < count; i++)
			if (s->pages[kind][i] != NULL)
				memset((void *)s->pages[kind][i]->who, 0,
				    sizeof s->pages[kind][i]->who);
}

void
cj_race_clear(struct cj_race *r, uint64_t block)
{
	const struct cj_module *m = r->run->module;
	uint32_t o;

	for (o = 1; o < m->objects.len; o++)
		if (m->objects.at[o].kind == CJ_OBJECT_SHARED
		    && r->shadows[o] != NULL) {
			clear_shadow(r->shadows[o]);
			r->shadows[o]->owner = block;
		}
}

bool
cj_race_watches(const struct cj_race *r, uint32_t object)
{
	return r != NULL && r->shadows[object] != NULL
	    && r->run->stopped == NULL;
}

void
cj_race_give_up(struct cj_frame *f, const char *why)
{
	if (f->machine->race != NULL)
		f->machine->race->run->stopped = why;
}

const char *
cj_race_stopped(const struct cj_race *r)
{
	return r->run->stopped;
}
