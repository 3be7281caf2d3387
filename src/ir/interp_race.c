/*
 * Races: two accesses of one element, one of them a write, that nothing
 * orders (interp_clock.c says what does).
 *
 * Units of the hardware look at what threads did in their own way, and a fence
 * stands between: what they read is kept apart from what threads read.
 *
 * Each cell of memory that is written has a shadow: a word for who wrote it
 * last, who read it last, who used it by atomics last (interp_race_word.c). A
 * cell is as many elements as every access of its object moves at once.
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

enum { PAGE = CJ_SHADOW_PAGE };

typedef cj_doer who;

/* ---- words --------------------------------------------------------------- */

static who
myself(const struct cj_frame *f, uint32_t lane)
{
	return cj_doer_of(f->machine->block->number, f->warp,
	    f->clock->of[CJ_VIEW_THREADS].warp[f->warp].interval) |
	    (who)lane << 28;
}

/* The usual cases: nobody, this lane, this block before its last barrier. */
static bool
is_plain(const struct cj_act *a, who w)
{
	who other = w ^ a->me;

	if (w == 0)
		return true;
	if (cj_doer_form(w) == CJ_DOER_MASK &&
	    a->shadow->owner == cj_doer_block(a->me))
		return cj_doer_mask_interval(w) <=
		    cj_act_clock(a)->floor;
	return cj_doer_form(w) == CJ_DOER_LANE
	    && ((other & CJ_DOER_LANE_BITS) == 0 || (other >> 38 == 0
	    && cj_doer_interval(w) <= cj_act_clock(a)->floor));
}

/* ---- units see with a fence in between ----------------------------------- */

/* Units see what was there when they were started; where they have ended they
 * are announced once more. */
static bool
is_started(const struct cj_act *a)
{
	return a->is_async && a->s == &a->f->code->steps.at[a->f->pc - 1];
}

/* What units combine is no thread's. */
static bool
is_of_threads(const struct cj_act *a, cj_ref ref)
{
	enum cj_op op = ref != 0 ? cj_inst(a->run->module, ref)->op :
	    CJ_OP_LOAD;

	return op != CJ_OP_TMA_STORE && op != CJ_OP_BULK_COPY;
}

static enum cj_view
view_of(const struct cj_act *a, cj_ref ref)
{
	const struct cj_module *m = a->run->module;

	if (m->objects.at[a->object].kind != CJ_OBJECT_SHARED)
		return CJ_VIEW_GLOBAL;
	return ref != 0 && cj_inst(m, ref)->op == CJ_OP_CP_ASYNC ?
	    CJ_VIEW_LANDED : CJ_VIEW_SHARED;
}

static void
check_fence(const struct cj_act *a, who w, cj_ref ref, enum cj_doer_kind kind)
{
	who other;

	if (kind == CJ_DOER_VIEW ||
	    (kind == CJ_DOER_ATOMIC && !is_of_threads(a, ref)))
		return;
	other = cj_doer_unfenced(a, view_of(a, ref), w);
	if (other != 0)
		cj_race_report_unfenced(a, other, ref, kind);
}

/* ---- one cell ------------------------------------------------------------ */

/* The page of a number, which the thread's own arena gives if need be; of two
 * threads that need it at once the first one's serves both. */
static struct cj_shadow_page *
page_for(const struct cj_act *a, enum cj_doer_kind kind, size_t number)
{
	_Atomic cj_shadow_page_ref *at = &a->shadow->pages[kind][number];
	cj_shadow_page_ref have = atomic_load_explicit(at,
	    memory_order_acquire), made;

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
set_ref(struct cj_shadow_page *p, size_t i, cj_ref ref)
{
	atomic_store_explicit(&p->ref[i], ref, memory_order_relaxed);
}

/* Is what a word says of a cell in order? */
static void
check_word(const struct cj_act *a, who w, cj_ref ref, enum cj_doer_kind kind)
{
	who other = is_plain(a, w) ? 0 : cj_doer_unordered(a, w);

	if (other != 0)
		cj_race_report(a, other, ref, kind);
	else if (w != 0 && is_started(a))
		check_fence(a, w, ref, kind);
}

/* Has somebody done `kind` to the cell, with nothing between? */
static void
look(const struct cj_act *a, enum cj_doer_kind kind, size_t cell)
{
	struct cj_shadow_page *p = atomic_load_explicit(
	    &a->shadow->pages[kind][cell / PAGE], memory_order_acquire);

	if (p != NULL)
		check_word(a, p->who[cell % PAGE], p->ref[cell % PAGE], kind);
}

/* Shared memory is one thread's own. */
static who
exchange(const struct cj_act *a, _Atomic who *at, who next)
{
	who before;

	if (!a->shadow->is_own)
		return atomic_exchange(at, next);
	before = atomic_load_explicit(at, memory_order_relaxed);
	atomic_store_explicit(at, next, memory_order_relaxed);
	return before;
}

static void
write_cell(const struct cj_act *a, size_t cell)
{
	struct cj_shadow_page *p = page_for(a, CJ_DOER_WRITE, cell / PAGE);
	who before = exchange(a, &p->who[cell % PAGE], a->me);

	check_word(a, before, p->ref[cell % PAGE], CJ_DOER_WRITE);
	set_ref(p, cell % PAGE, a->s->ref);
}

/* Mbarriers, and what is sent, are whole for the cluster, what copies combine
 * in global memory for all. */
static enum cj_memory_scope
scope_of(const struct cj_act *a, cj_ref ref)
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
reaches(const struct cj_act *a, cj_ref ref, who other)
{
	const struct cj_kernel_launch *l = a->f->machine->block->launch;
	enum cj_memory_scope scope = scope_of(a, ref);

	return cj_scope_group(l, cj_doer_block(other), scope)
	    == cj_scope_group(l, cj_doer_block(a->me), scope);
}

/* Atomics race where the scope of one does not reach the other. */
static void
check_scope(const struct cj_act *a, who w, cj_ref ref)
{
	const struct cj_module *m = a->run->module;
	who other;

	if (is_plain(a, w) || ref == 0 || (cj_inst(m, ref)->op == CJ_OP_LOAD
	    && a->s->op == CJ_OP_LOAD))
		return;
	other = cj_doer_unordered(a, w);
	if (other == 0 || (reaches(a, ref, other)
	    && reaches(a, a->s->ref, other))
	    || cj_fault_again(a->f, a->s, CJ_DIAG_RACE))
		return;
	cj_race_report_scope(a, other, ref);
}

/* Be one of the readers, or of the users by atomics, of a cell. */
static void
join_cell(const struct cj_act *a, size_t cell)
{
	struct cj_shadow_page *p = page_for(a, a->kind, cell / PAGE);
	_Atomic who *at = &p->who[cell % PAGE];
	who old = atomic_load_explicit(at, memory_order_relaxed), next;

	if (a->kind == CJ_DOER_ATOMIC)
		check_scope(a, old, p->ref[cell % PAGE]);
	if (old == a->me)
		return;
	do {
		next = is_plain(a, old) ? a->me : cj_doer_joined(a, old);
		if (a->shadow->is_own) {
			atomic_store_explicit(at, next, memory_order_relaxed);
			break;
		}
	} while (!atomic_compare_exchange_weak(at, &old, next));
	set_ref(p, cell % PAGE, a->s->ref);
}

static void
touch(struct cj_act *a, int64_t first, uint32_t width)
{
	const struct cj_shadow *s = a->shadow;
	size_t cell = (size_t)(first - s->first) >> s->log2_cell;
	size_t last = (size_t)(first - s->first + width - 1) >> s->log2_cell;

	assert(first >= s->first && last < s->cells);
	for (; cell <= last; cell++) {
		a->element = first > s->first
		    + (int64_t)(cell << s->log2_cell) ? first
		    : s->first + (int64_t)(cell << s->log2_cell);
		if (a->kind == CJ_DOER_WRITE)
			write_cell(a, cell);
		else if (!a->is_over)
			join_cell(a, cell);
		if (a->kind != CJ_DOER_WRITE)
			look(a, CJ_DOER_WRITE, cell);
		if (a->kind == CJ_DOER_WRITE || a->kind == CJ_DOER_ATOMIC) {
			look(a, CJ_DOER_READ, cell);
			look(a, CJ_DOER_VIEW, cell);
		}
		if (a->kind != CJ_DOER_ATOMIC)
			look(a, CJ_DOER_ATOMIC, cell);
	}
}

static struct cj_act
begin(struct cj_frame *f, const struct cj_step *s,
    const struct cj_touched_range *t)
{
	struct cj_race *r = f->machine->race;
	struct cj_act a = { .f = f, .s = s, .run = r->run,
	    .shadow = r->shadows[t->object], .object = t->object,
	    .kind = t->is_atomic ? CJ_DOER_ATOMIC :
	    t->is_write ? CJ_DOER_WRITE :
	    t->is_async ? CJ_DOER_VIEW : CJ_DOER_READ,
	    .is_async = t->is_async, .is_over = t->is_over };

	return a;
}

void
cj_race_access(struct cj_frame *f, const struct cj_step *s, uint32_t lane,
    struct cj_touched_range t)
{
	struct cj_act a;

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
	struct cj_act a;

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
	struct cj_act a;
	size_t cell, last;
	struct cj_shadow_page *p;

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
			look(&a, CJ_DOER_WRITE, cell);
			look(&a, CJ_DOER_ATOMIC, cell);
		}
		a.me = cj_doer_of((1 + u.kind) * r->run->blocks + owner->number,
		    u.number, u.interval);
		if (!t.is_write) {
			join_cell(&a, cell);
			continue;
		}
		p = page_for(&a, CJ_DOER_WRITE, cell / PAGE);
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
	struct cj_act a;
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
count_pages(const struct cj_shadow *s)
{
	return (s->cells + PAGE - 1) / PAGE;
}

/* Cells begin at multiples of their size in memory. */
static struct cj_shadow *
make_shadow(struct cj_arena *a, const struct cj_memory *m, enum cj_kind k,
    uint32_t cell)
{
	struct cj_shadow *s = CJ_NEW(a, struct cj_shadow);
	unsigned bits = k == CJ_KIND_BOOL ? 8 : cj_kind_bits(k);
	int kind;

	s->first = m->lo;
	if (cell > 1)
		s->first -= (int64_t)(((uintptr_t)m->data / (bits / 8)
		    + (uintptr_t)m->lo) % cell);
	while ((uint32_t)1 << s->log2_cell < cell)
		s->log2_cell++;
	s->cells = ((size_t)(m->hi - s->first) + cell - 1) >> s->log2_cell;
	for (kind = 0; kind < CJ_DOER_KINDS; kind++)
		s->pages[kind] = CJ_NEWS(a, _Atomic cj_shadow_page_ref,
		    count_pages(s));
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
	struct cj_shadow *s;
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
	r->run->pages_left = (int64_t)(cj_room() / 2 /
	    sizeof(struct cj_shadow_page));
	r->shadows = CJ_NEWS(a, struct cj_shadow *, m->objects.len + 1);
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
	    (m->objects.len + 1) * sizeof(struct cj_shadow *));
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
clear_shadow(struct cj_shadow *s)
{
	size_t count = count_pages(s), i;
	int kind;

	for (kind = 0; kind < CJ_DOER_KINDS; kind++)
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
