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
 * Shadows of global memory are touched by several threads of ours: each access
 * first announces itself and then looks for others, so that of two at least
 * one sees the other. Kernels that order memory by acquire and release are not
 * looked at, since this would blame them.
 */
#include "interp_priv.h"

#define MAX_SHADOW_BYTES	((uint64_t)4 << 30)

/*
 *	63..32 block + 1	31..27 warp	26..22 lane
 *	21 several warps	20 several blocks	19..0 epoch
 */
typedef uint64_t who;

#define SEVERAL_WARPS	((who)1 << 21)
#define SEVERAL_BLOCKS	((who)1 << 20)
#define EPOCH_BITS	(SEVERAL_BLOCKS - 1)

struct shadow {
	_Atomic who writer, reader, atomic;
	_Atomic cj_ref writer_ref, reader_ref, atomic_ref;
};

struct range {
	struct shadow *at;		/* of element lo; NULL: nobody writes */
	int64_t lo, hi;
};

struct cj_race {
	const struct cj_module *module;
	struct range *ranges;		/* by object */
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

/* Parameters that show the same memory share a shadow. */
static struct shadow *
find_same(const struct cj_race *r, const struct cj_kernel_launch *k,
    uint32_t object)
{
	uint32_t o;

	for (o = 1; o < r->module->objects.len; o++)
		if (r->ranges[o].at != NULL
		    && k->memory[o].data == k->memory[object].data
		    && k->memory[o].lo == k->memory[object].lo
		    && k->memory[o].hi == k->memory[object].hi)
			return r->ranges[o].at;
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
    const struct cj_kernel_launch *k, uint32_t object, uint64_t *left)
{
	const struct cj_memory *m = &k->memory[object];
	struct range *range = &r->ranges[object];
	uint64_t count;

	if (!is_global(&r->module->objects.at[object]) || m->hi <= m->lo)
		return;
	count = (uint64_t)(m->hi - m->lo);
	range->lo = m->lo;
	range->hi = m->hi;
	range->at = find_same(r, k, object);
	if (range->at != NULL || !m->writable)
		return;
	if (count > *left / sizeof(struct shadow)) {
		*left = 0;
		return;
	}
	*left -= count * sizeof(struct shadow);
	range->at = CJ_NEWS(a, struct shadow, count);
}

struct cj_race *
cj_race_create(struct cj_arena *a, const struct cj_decoded *c,
    const struct cj_kernel_launch *k, struct cj_diags *ds)
{
	struct cj_race *r = CJ_NEW(a, struct cj_race);
	const struct cj_span none = { 0, 0, 0 };
	uint64_t left = MAX_SHADOW_BYTES;
	uint32_t o;
	int turn;

	if (orders_memory(c)) {
		cj_report(ds, CJ_DIAG_UNCHECKED, none, "\"%s\" orders memory "
		    "by acquire and release", c->module->name);
		return NULL;
	}
	r->module = c->module;
	r->ranges = CJ_NEWS(a, struct range, c->module->objects.len + 1);
	/* in the second turn, those that only read find the writers' */
	for (turn = 0; turn < 2 && k->memory != NULL; turn++)
		for (o = 1; o < c->module->objects.len; o++)
			if (r->ranges[o].at == NULL)
				give_shadow(a, r, k, o, &left);
	if (left == 0)
		cj_report(ds, CJ_DIAG_UNCHECKED, none, "the memory that "
		    "\"%s\" writes is too large to watch", c->module->name);
	return r;
}

struct cj_race *
cj_race_worker(struct cj_arena *a, const struct cj_race *from)
{
	const struct cj_module *m = from->module;
	struct cj_race *r = CJ_NEW(a, struct cj_race);
	uint32_t o;

	r->module = m;
	r->ranges = cj_memdup(a, from->ranges,
	    (m->objects.len + 1) * sizeof *r->ranges);
	for (o = 1; o < m->objects.len; o++) {
		const struct cj_object *object = &m->objects.at[o];

		if (object->kind != CJ_OBJECT_SHARED)
			continue;
		r->ranges[o].at = CJ_NEWS(a, struct shadow,
		    (size_t)object->extent);
		r->ranges[o].hi = object->extent;
	}
	return r;
}

void
cj_race_clear(struct cj_race *r)
{
	uint32_t o;

	for (o = 1; o < r->module->objects.len; o++)
		if (r->module->objects.at[o].kind == CJ_OBJECT_SHARED)
			memset(r->ranges[o].at, 0, (size_t)r->ranges[o].hi
			    * sizeof(struct shadow));
}

/* ---- order --------------------------------------------------------------- */

static who
myself(const struct cj_frame *f, uint32_t lane)
{
	const struct cj_block *b = f->machine->block;

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

/* Make `me` one of the readers (or users by atomics) in `word`. */
static void
join(_Atomic who *word, _Atomic cj_ref *ref, who me, cj_ref my_ref)
{
	who old = *word, next;

	do {
		if (old & SEVERAL_BLOCKS)
			return;
		next = me;
		if (old != 0 && !same_block(old, me))
			next = me | SEVERAL_BLOCKS;
		else if (old != 0
		    && (old & EPOCH_BITS) == (me & EPOCH_BITS)
		    && (old & SEVERAL_WARPS || old >> 27 != me >> 27))
			next = me | SEVERAL_WARPS;
	} while (!atomic_compare_exchange_weak(word, &old, next));
	*ref = my_ref;
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

static struct shadow *
shadow_of(struct cj_frame *f, uint32_t object, int64_t element)
{
	const struct range *r = &f->machine->race->ranges[object];

	if (r->at == NULL || element < r->lo || element >= r->hi)
		return NULL;
	return &r->at[element - r->lo];
}

/* An access under examination. */
struct act {
	struct cj_frame *f;
	const struct cj_step *s;
	uint32_t lane, object;
	int64_t element;
	const char *what;		/* "read", "written", "changed" */
};

/* Report if nothing orders `other` before `me`. */
static void
look(const struct act *a, who me, who other, cj_ref ref, const char *theirs)
{
	const struct cj_object *o;
	struct cj_fault *fault;

	if (!is_unordered(other, me))
		return;
	o = &a->f->code->module->objects.at[a->object];
	fault = cj_fault_at(a->f, a->s, a->lane, CJ_DIAG_RACE,
	    "\"%s\" is %s at element %lld" CJ_WHO " and %s by %s, and nothing "
	    "orders them", o->name == NULL ? "memory" : o->name, a->what,
	    (long long)a->element, theirs, who_text(a->f, other));
	if (fault == NULL)
		return;
	fault->other = ref;
	fault->note = "the other side is here";
}

void
cj_race_access(struct cj_frame *f, const struct cj_step *s, uint32_t lane,
    uint32_t object, int64_t element, bool writes)
{
	const struct act a = { f, s, lane, object, element,
	    writes ? "written" : "read" };
	struct shadow *w = shadow_of(f, object, element);
	who me = myself(f, lane);

	if (w == NULL)
		return;
	if (writes) {
		who before = atomic_exchange(&w->writer, me);

		look(&a, me, before, w->writer_ref, "written");
		w->writer_ref = s->ref;
		look(&a, me, w->reader, w->reader_ref, "read");
	} else {
		join(&w->reader, &w->reader_ref, me, s->ref);
		look(&a, me, w->writer, w->writer_ref, "written");
	}
	look(&a, me, w->atomic, w->atomic_ref, "changed");
}

void
cj_race_atomic(struct cj_frame *f, const struct cj_step *s, uint32_t lane,
    uint32_t object, int64_t element)
{
	const struct act a = { f, s, lane, object, element, "changed" };
	struct shadow *w = shadow_of(f, object, element);
	who me = myself(f, lane);

	if (w == NULL)
		return;
	join(&w->atomic, &w->atomic_ref, me, s->ref);
	look(&a, me, w->writer, w->writer_ref, "written");
	look(&a, me, w->reader, w->reader_ref, "read");
}
