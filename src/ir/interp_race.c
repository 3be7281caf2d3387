/*
 * Races: two accesses of one element, one of them a write, that nothing
 * orders.
 *
 * Each element of memory that is written has a shadow: who wrote it last, who
 * read it last, who touched it by an atomic last. Who is a block, a warp, a
 * lane and the number of barriers the block had passed. Of one block, accesses
 * of different numbers are ordered, and those of one warp, which runs in
 * lockstep; of two blocks nothing is. A reader that is not the only one of its
 * block or of the grid is marked as several, so that no later write escapes.
 * Atomics do not race with each other.
 *
 * Shadows are pages of 1024 elements, made by the thread that first needs one.
 * Those of global memory are touched by several threads of ours: each access
 * first announces itself and then looks for others, so that of two at least
 * one sees the other. Kernels that order memory by acquire and release are not
 * looked at, since this would blame them.
 */
#include "interp_priv.h"

enum { PAGE = 1024 };			/* elements */

/*
 *	63..32 block + 1	31..27 warp	26..22 lane
 *	21 several warps	20 several blocks	19..0 epoch
 */
typedef uint64_t who;

#define SEVERAL_WARPS	((who)1 << 21)
#define SEVERAL_BLOCKS	((who)1 << 20)
#define EPOCH_BITS	(SEVERAL_BLOCKS - 1)

enum kind { WRITER, READER, ATOMIC, KINDS };

struct page {
	_Atomic who who[PAGE];
	_Atomic cj_ref ref[PAGE];	/* the instruction */
};

typedef struct page *page_ref;

/* The shadow of one memory; NULL pages: nobody yet. */
struct shadow {
	int64_t lo, hi;
	bool is_own;			/* of one thread of ours */
	_Atomic page_ref *pages[KINDS];
};

struct cj_race {
	const struct cj_module *module;
	struct shadow **shadows;	/* by object; NULL: nobody writes */
};

/* ---- shadows ------------------------------------------------------------- */

static bool
orders_memory(const struct cj_decoded *c)
{
	const struct cj_module *m = c->module;
	uint32_t i;

	for (i = 0; i < c->steps.len; i++) {
		const struct cj_step *s = &c->steps.at[i];

		if ((s->op == CJ_OP_LOAD || s->op == CJ_OP_STORE
		    || s->op == CJ_OP_ATOMIC) && m->accesses.at[cj_inst(m,
		    s->ref)->attr].order >= CJ_ORDER_ACQUIRE)
			return true;
	}
	return false;
}

static size_t
count_pages(int64_t lo, int64_t hi)
{
	return ((size_t)(hi - lo) + PAGE - 1) / PAGE;
}

static struct shadow *
make_shadow(struct cj_arena *a, int64_t lo, int64_t hi)
{
	struct shadow *s = CJ_NEW(a, struct shadow);
	int kind;

	s->lo = lo;
	s->hi = hi;
	for (kind = 0; kind < KINDS; kind++)
		s->pages[kind] = CJ_NEWS(a, _Atomic page_ref,
		    count_pages(lo, hi));
	return s;
}

/* Parameters that show the same memory share a shadow. */
static struct shadow *
find_same(const struct cj_race *r, const struct cj_kernel_launch *k,
    uint32_t object)
{
	uint32_t o;

	for (o = 1; o < r->module->objects.len; o++)
		if (r->shadows[o] != NULL
		    && k->memory[o].data == k->memory[object].data
		    && k->memory[o].lo == k->memory[object].lo
		    && k->memory[o].hi == k->memory[object].hi)
			return r->shadows[o];
	return NULL;
}

static bool
is_global(const struct cj_object *o)
{
	return o->kind == CJ_OBJECT_TENSOR || o->kind == CJ_OBJECT_WORKSPACE
	    || o->kind == CJ_OBJECT_FOREIGN;
}

static void
give_shadow(struct cj_arena *a, struct cj_race *r,
    const struct cj_kernel_launch *k, uint32_t object)
{
	const struct cj_memory *m = &k->memory[object];

	if (!is_global(&r->module->objects.at[object]) || m->hi <= m->lo)
		return;
	r->shadows[object] = find_same(r, k, object);
	if (r->shadows[object] == NULL && m->writable)
		r->shadows[object] = make_shadow(a, m->lo, m->hi);
}

struct cj_race *
cj_race_create(struct cj_arena *a, const struct cj_decoded *c,
    const struct cj_kernel_launch *k, struct cj_diags *ds)
{
	struct cj_race *r = CJ_NEW(a, struct cj_race);
	const struct cj_span none = { 0, 0, 0 };
	uint32_t o;
	int turn;

	if (orders_memory(c)) {
		cj_report(ds, CJ_DIAG_UNCHECKED, none, "\"%s\" orders memory "
		    "by acquire and release", c->module->name);
		return NULL;
	}
	r->module = c->module;
	r->shadows = CJ_NEWS(a, struct shadow *, c->module->objects.len + 1);
	/* in the second turn, those that only read find the writers' */
	for (turn = 0; turn < 2 && k->memory != NULL; turn++)
		for (o = 1; o < c->module->objects.len; o++)
			if (r->shadows[o] == NULL)
				give_shadow(a, r, k, o);
	return r;
}

struct cj_race *
cj_race_worker(struct cj_arena *a, const struct cj_race *from)
{
	const struct cj_module *m = from->module;
	struct cj_race *r = CJ_NEW(a, struct cj_race);
	uint32_t o;

	r->module = m;
	r->shadows = cj_memdup(a, from->shadows,
	    (m->objects.len + 1) * sizeof(struct shadow *));
	for (o = 1; o < m->objects.len; o++)
		if (m->objects.at[o].kind == CJ_OBJECT_SHARED) {
			r->shadows[o] = make_shadow(a, 0,
			    m->objects.at[o].extent);
			r->shadows[o]->is_own = true;
		}
	return r;
}

static void
clear_shadow(struct shadow *s)
{
	size_t count = count_pages(s->lo, s->hi), i;
	int kind;

	for (kind = 0; kind < KINDS; kind++)
		for (i = 0; i < count; i++)
			if (s->pages[kind][i] != NULL)
				memset(s->pages[kind][i], 0,
				    sizeof(struct page));
}

void
cj_race_clear(struct cj_race *r)
{
	uint32_t o;

	for (o = 1; o < r->module->objects.len; o++)
		if (r->module->objects.at[o].kind == CJ_OBJECT_SHARED)
			clear_shadow(r->shadows[o]);
}

bool
cj_race_watches(const struct cj_race *r, uint32_t object)
{
	return r != NULL && r->shadows[object] != NULL;
}

/* The page of a number, which the thread's own arena gives if need be; of two
 * threads that need it at once the first one's serves both. */
static struct page *
page_for(struct cj_frame *f, struct shadow *s, enum kind kind, size_t number)
{
	_Atomic page_ref *at = &s->pages[kind][number];
	page_ref have = *at, made;

	if (have != NULL)
		return have;
	made = cj_alloc(f->machine->arena, sizeof *made);
	return atomic_compare_exchange_strong(at, &have, made) ? made : have;
}

/* ---- order --------------------------------------------------------------- */

static who
myself(const struct cj_frame *f, uint32_t lane)
{
	const struct cj_block *b = f->machine->block;

	assert(f->warp < 32 && lane < CJ_LANES_WARP);
	return ((who)(uint32_t)(b->number + 1) << 32) | (who)f->warp << 27
	    | (who)lane << 22 | (b->epoch & EPOCH_BITS);
}

static bool
same_block(who a, who b)
{
	return a >> 32 == b >> 32;
}

/* Does nothing order `other` before `me`? */
static bool
is_unordered(who other, who me)
{
	if (other == 0)
		return false;
	if (!same_block(other, me) || other & SEVERAL_BLOCKS)
		return true;
	if ((other & EPOCH_BITS) != (me & EPOCH_BITS))
		return false;
	return other & SEVERAL_WARPS || other >> 27 != me >> 27;
}

/* The instruction matters to the report alone, and may be a little late. */
static void
set_ref(struct page *p, size_t i, cj_ref ref)
{
	atomic_store_explicit(&p->ref[i], ref, memory_order_relaxed);
}

/* Shared memory is one thread's own. */
static who
exchange(const struct shadow *s, _Atomic who *at, who me)
{
	who before;

	if (!s->is_own)
		return atomic_exchange(at, me);
	before = atomic_load_explicit(at, memory_order_relaxed);
	atomic_store_explicit(at, me, memory_order_relaxed);
	return before;
}

/* Make `me` one of the readers (or users by atomics) of element `i`. */
static void
join(struct page *p, size_t i, who me, cj_ref ref)
{
	who old = p->who[i], next;

	do {
		if (old & SEVERAL_BLOCKS || (old >> 27 == me >> 27
		    && ((old ^ me) & EPOCH_BITS) == 0))
			return;
		next = me;
		if (old != 0 && !same_block(old, me))
			next = me | SEVERAL_BLOCKS;
		else if (old != 0
		    && (old & EPOCH_BITS) == (me & EPOCH_BITS)
		    && (old & SEVERAL_WARPS || old >> 27 != me >> 27))
			next = me | SEVERAL_WARPS;
	} while (!atomic_compare_exchange_weak(&p->who[i], &old, next));
	set_ref(p, i, ref);
}

/* ---- reports ------------------------------------------------------------- */

static const char *
who_text(struct cj_frame *f, who other)
{
	const struct cj_block *b = f->machine->block;
	const struct cj_kernel_launch *l = b->launch;
	uint64_t number = (other >> 32) - 1;
	uint32_t t = (uint32_t)(other >> 22 & 1023);

	return cj_printf(f->machine->arena, "block (%lld, %lld, %lld) thread "
	    "(%lld, %lld, %lld)",
	    (long long)(number % (uint64_t)l->grid[0]),
	    (long long)(number / (uint64_t)l->grid[0]
	    % (uint64_t)l->grid[1]),
	    (long long)(number / (uint64_t)l->grid[0]
	    / (uint64_t)l->grid[1]),
	    (long long)b->thread[0][t], (long long)b->thread[1][t],
	    (long long)b->thread[2][t]);
}

/* An access under examination. */
struct act {
	struct cj_frame *f;
	const struct cj_step *s;
	uint32_t lane, object;
	int64_t element;
	enum kind kind;
	who me;
};

static const char *const verbs[KINDS] = { "written", "read", "changed" };

static void
report(const struct act *a, who other, cj_ref ref, enum kind kind)
{
	const struct cj_object *o =
	    &a->f->code->module->objects.at[a->object];
	struct cj_fault *fault = cj_fault_at(a->f, a->s, a->lane,
	    CJ_DIAG_RACE, "\"%s\" is %s at element %lld" CJ_WHO
	    " and %s by %s, and nothing orders them",
	    o->name == NULL ? "memory" : o->name, verbs[a->kind],
	    (long long)a->element, verbs[kind], who_text(a->f, other));

	if (fault == NULL)
		return;
	fault->other = ref;
	fault->note = "the other side is here";
}

/* Has somebody done `kind` to the element, with nothing between? */
static void
look(const struct act *a, const struct shadow *s, enum kind kind)
{
	size_t at = (size_t)(a->element - s->lo);
	struct page *p = s->pages[kind][at / PAGE];
	who other;

	if (p == NULL)
		return;
	other = p->who[at % PAGE];
	if (is_unordered(other, a->me))
		report(a, other, p->ref[at % PAGE], kind);
}

static void
announce(const struct act *a, struct shadow *s)
{
	size_t at = (size_t)(a->element - s->lo);
	struct page *p = page_for(a->f, s, a->kind, at / PAGE);
	who before;

	if (a->kind != WRITER) {
		join(p, at % PAGE, a->me, a->s->ref);
		return;
	}
	before = exchange(s, &p->who[at % PAGE], a->me);
	if (is_unordered(before, a->me))
		report(a, before, p->ref[at % PAGE], WRITER);
	set_ref(p, at % PAGE, a->s->ref);
}

static void
touch(struct act *a, uint32_t width)
{
	struct shadow *s = a->f->machine->race->shadows[a->object];
	uint32_t i;

	assert(a->element >= s->lo && a->element + width <= s->hi);
	for (i = 0; i < width; i++, a->element++) {
		announce(a, s);
		if (a->kind != WRITER)
			look(a, s, WRITER);
		if (a->kind != READER)
			look(a, s, READER);
		if (a->kind != ATOMIC)
			look(a, s, ATOMIC);
	}
}

void
cj_race_access(struct cj_frame *f, const struct cj_step *s, uint32_t lane,
    struct cj_touched_range t)
{
	struct act a = { f, s, lane, t.object, t.first, WRITER, 0 };

	if (!cj_race_watches(f->machine->race, t.object))
		return;
	a.me = myself(f, lane);
	if (t.is_atomic)
		a.kind = ATOMIC;
	else if (!t.is_write)
		a.kind = READER;
	touch(&a, t.width);
}
