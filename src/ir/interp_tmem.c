/*
 * Tensor memory in the executor: who touched what, and in which order.
 *
 * Data move where they are issued; what is wrong with that is found by order:
 * every element knows who wrote and who read it last (interp_tmem.h), and each
 * access asks whether that came before.
 */
#include "interp_tmem.h"
#include "interp_race.h"
#include "layout/atom.h"

enum { WORD = 32, WARP_BITS = 5, UNIT_BITS = 2 };

/* ---- marks --------------------------------------------------------------- */

static cj_tmem_mark
mark_of(enum cj_tmem_unit u, uint32_t warp, uint32_t interval)
{
	return (interval << UNIT_BITS | (uint32_t)u) << WARP_BITS | warp;
}

static uint32_t
warp_of(cj_tmem_mark m)
{
	return m & ((1u << WARP_BITS) - 1);
}

static enum cj_tmem_unit
unit_of(cj_tmem_mark m)
{
	return (enum cj_tmem_unit)(m >> WARP_BITS & ((1u << UNIT_BITS) - 1));
}

static uint32_t
interval_of(cj_tmem_mark m)
{
	return m >> (WARP_BITS + UNIT_BITS);
}

struct cj_unit
cj_tmem_as_unit(enum cj_tmem_unit u, uint32_t warp, uint32_t interval)
{
	return (struct cj_unit){ (enum cj_unit_kind)(CJ_UNIT_TMEM_LOAD + u),
	    warp, interval };
}

/* ---- order --------------------------------------------------------------- */

/* Two products of one thread that follow each other: the hardware orders them
 * if they add to the same sums in the same shape; copies come before the
 * products behind them. */
static bool
are_pipelined(const struct cj_tmem_access *a, cj_ref before, bool it_writes)
{
	const struct cj_module *m = a->f->code->module;
	const struct cj_inst *x = cj_inst(m, before);
	const struct cj_inst *y = cj_step_inst(a->f, a->s);
	const struct cj_tcgen05 *p, *q;

	if (y->op != CJ_OP_TCGEN05_MMA || !it_writes)
		return false;
	if (x->op == CJ_OP_TMEM_COPY)
		return true;
	p = &m->tcgen05s.at[x->attr];
	q = &m->tcgen05s.at[y->attr];
	return a->writes && p->m == q->m && p->n == q->n && p->a == q->a &&
	    p->b == q->b && p->d == q->d;
}

static bool
is_in(const struct cj_tmem_access *a, const struct cj_past *past,
    cj_tmem_mark m)
{
	const struct cj_race_run *run = a->f->machine->race->run;
	struct cj_unit u = cj_tmem_as_unit(unit_of(m), warp_of(m), 0);

	return cj_past_known(run, past, (1 + u.kind) * run->blocks +
	    a->f->machine->block->number, u.number).interval >=
	    interval_of(m);
}

bool
cj_tmem_is_over(const struct cj_frame *f, const struct cj_tmem_last *l,
    enum cj_tmem_unit u, uint32_t warp)
{
	const struct cj_tmem_warp *w = &f->machine->tmem->warps[warp];
	struct cj_tmem_access a = { .f = (struct cj_frame *)f };

	if (u != CJ_TMEM_PRODUCTS)
		return l->interval <= w->done[u] && (warp == f->warp ||
		    f->machine->race == NULL ||
		    f->clock->of[CJ_VIEW_THREADS].warp[warp].interval >=
		    w->waited);
	return f->machine->race == NULL || is_in(&a, f->clock->past,
	    mark_of(u, warp, l->interval));
}

/* What the lanes under examination may rely on. */
static const struct cj_past *
known(const struct cj_tmem_access *a)
{
	return cj_tmem_self(a->f)->known[a->unit == CJ_TMEM_PRODUCTS];
}

static bool
is_before(const struct cj_tmem_access *a, cj_tmem_mark m, cj_ref ref,
    bool it_writes)
{
	const struct cj_tmem_warp *w = cj_tmem_self(a->f);
	enum cj_tmem_unit u = unit_of(m);

	if (warp_of(m) == a->f->warp && u != CJ_TMEM_PRODUCTS)
		return interval_of(m) <= w->done[u];
	if (warp_of(m) == a->f->warp && a->unit == CJ_TMEM_PRODUCTS &&
	    are_pipelined(a, ref, it_writes))
		return true;
	return a->f->machine->race == NULL || is_in(a, known(a), m);
}

/* ---- reports ------------------------------------------------------------- */

static const char *const doing[CJ_TMEM_UNITS] = {
	[CJ_TMEM_LOADS] = "a load of warp %u reads",
	[CJ_TMEM_STORES] = "a store of warp %u writes",
	[CJ_TMEM_PRODUCTS] = "a product or copy of warp %u uses",
};

/* What has to be added; the other side is known where its end has been. */
static const char *
remedy(const struct cj_tmem_access *a, cj_tmem_mark m)
{
	const struct cj_frame *f = a->f;
	const struct cj_tmem_warp *w = &f->machine->tmem->warps[warp_of(m)];
	bool ordered = is_in(a, f->clock->past, m);

	if (ordered)
		return "it is issued here, and ended; no "
		    "fence(.after_thread_sync) follows what orders the two";
	if (unit_of(m) == CJ_TMEM_PRODUCTS)
		return "it is issued here; nothing orders that access behind "
		    "a wait for the mbarrier of its tcgen05_commit()";
	if (interval_of(m) > w->done[unit_of(m)])
		return unit_of(m) == CJ_TMEM_LOADS ? "it is issued here, and "
		    "no tcgen05_wait(.load) has ended it" : "it is issued "
		    "here, and no tcgen05_wait(.store) has ended it";
	return f->clock->of[CJ_VIEW_THREADS].warp[warp_of(m)].interval >=
	    w->waited ?
	    "it is issued here; no fence(.before_thread_sync) stands between "
	    "its end and what orders the two" :
	    "it is issued here, and nothing orders the two";
}

static void
report(const struct cj_tmem_access *a, int64_t element, cj_tmem_mark m,
    cj_ref ref)
{
	char who[64];
	struct cj_fault *fault;

	if (cj_fault_again(a->f, a->s, CJ_DIAG_IN_FLIGHT))
		return;
	snprintf(who, sizeof who, doing[unit_of(m)], (unsigned)warp_of(m));
	fault = cj_fault_at(a->f, a->s, a->lane, CJ_DIAG_IN_FLIGHT,
	    "\"%s\" is %s at %s" CJ_WHO ", which %s", cj_tmem_name(a->f,
	    a->object), a->writes ? "written" : "read", cj_where(a->f,
	    a->object, element), who);
	if (fault == NULL)
		return;
	fault->other = ref;
	if (warp_of(m) == a->f->warp && unit_of(m) != CJ_TMEM_PRODUCTS)
		fault->note = unit_of(m) == CJ_TMEM_LOADS ?
		    "it is issued here, and no tcgen05_wait(.load) follows" :
		    "it is issued here, and no tcgen05_wait(.store) follows";
	else
		fault->note = remedy(a, m);
}

static void
look(struct cj_tmem_access *a, int64_t element, cj_tmem_mark m, cj_ref ref,
    bool it_writes)
{
	if (m == 0 || (m == a->fine && !it_writes))
		return;
	if (is_before(a, m, ref, it_writes))
		a->fine = it_writes ? a->fine : m;
	else
		report(a, element, m, ref);
}

/* ---- one element --------------------------------------------------------- */

static void
check_written(const struct cj_tmem_access *a, int64_t element)
{
	const struct cj_memory *m = &a->f->machine->memory[a->object];

	if (m->written[element] != 0 || !(a->f->machine->checks &
	    CJ_CHECK_WRITTEN) || cj_fault_again(a->f, a->s,
	    CJ_DIAG_NEVER_WRITTEN))
		return;
	cj_fault_at(a->f, a->s, a->lane, CJ_DIAG_NEVER_WRITTEN,
	    "\"%s\" is read at %s" CJ_WHO ", which nobody has written",
	    cj_tmem_name(a->f, a->object), cj_where(a->f, a->object, element));
}

/* Loads of warps w, w + 4, ... reach one lane; products are the last slot. */
static uint32_t
slot_of(const struct cj_tmem_access *a)
{
	return a->unit == CJ_TMEM_PRODUCTS ? a->f->machine->tmem->slots - 1 :
	    a->f->warp / 4;
}

static void
touch(struct cj_tmem_access *a, int64_t element)
{
	struct cj_tmem *t = a->f->machine->tmem;
	struct cj_tmem_object *o = a->o;
	cj_tmem_mark me = mark_of(a->unit, a->f->warp,
	    cj_tmem_self(a->f)->open[a->unit]);
	size_t first = (size_t)element * t->slots;
	uint32_t i;

	if (a->reads)
		check_written(a, element);
	if (o->writer[element] != 0)
		look(a, element, o->writer[element], o->writer_ref[element],
		    true);
	for (i = 0; a->writes && i < t->slots; i++)
		if (o->readers[first + i] != 0)
			look(a, element, o->readers[first + i],
			    o->reader_ref[first + i], false);
	if (a->writes) {
		o->writer[element] = me;
		o->writer_ref[element] = a->s->ref;
		a->f->machine->memory[a->object].written[element] = 1;
	} else {
		o->readers[first + slot_of(a)] = me;
		o->reader_ref[first + slot_of(a)] = a->s->ref;
	}
}

bool
cj_tmem_begin(struct cj_tmem_access *a, uint32_t access, int64_t offset)
{
	const struct cj_module *m = a->f->code->module;
	int64_t step;

	a->object = m->accesses.at[access].object;
	a->o = &a->f->machine->tmem->objects[a->object];
	a->fine = 0;
	step = (int64_t)CJ_TMEM_LANE_STEP * (WORD / cj_kind_bits(
	    m->objects.at[a->object].element));
	a->lane0 = offset / step;
	a->element0 = offset % step;
	if (a->o->is_allocated) {
		a->o->last[a->unit][a->f->warp] = (struct cj_tmem_last){
		    a->s->ref, cj_tmem_self(a->f)->open[a->unit] };
		return true;
	}
	if (!cj_fault_again(a->f, a->s, CJ_DIAG_MISUSED_TMEM)) {
		struct cj_fault *fault = cj_fault_at(a->f, a->s, a->lane,
		    CJ_DIAG_MISUSED_TMEM, "\"%s\" is used" CJ_WHO ", and %s",
		    cj_tmem_name(a->f, a->object), a->o->freed != 0 ?
		    "has been freed" : "nobody has allocated it");

		if (fault != NULL && a->o->freed != 0) {
			fault->other = a->o->freed;
			fault->note = "it is freed here";
		}
	}
	return false;
}

int64_t
cj_tmem_at(struct cj_tmem_access *a, int64_t lane, int64_t element)
{
	int64_t l = a->lane0 + lane, e = a->element0 + element;

	if (l < 0 || l >= CJ_TMEM_LANES || e < 0 || e >= a->o->row) {
		cj_fault_at(a->f, a->s, a->lane, CJ_DIAG_OUT_OF_BOUNDS,
		    "\"%s\" has no lane %lld, column %lld", cj_tmem_name(a->f,
		    a->object), (long long)l, (long long)(e *
		    cj_kind_bits(a->f->code->module->objects.at[
		    a->object].element) / WORD));
		return -1;
	}
	touch(a, l * a->o->row + e);
	return l * a->o->row + e;
}

/* ---- making -------------------------------------------------------------- */

/* Element v of thread t of a load or store. */
static struct cj_tmem_spot *
find_spots(struct cj_arena *a, const struct cj_module *m,
    const struct cj_tmem_use *u)
{
	unsigned bits = cj_kind_bits(m->objects.at[m->accesses.at[u->tmem]
	    .object].element);
	uint32_t n = cj_tmem_registers(u->lanes, u->bits, u->repeat) * WORD /
	    bits, t, v;
	struct cj_tmem_spot *spots = CJ_NEWS(a, struct cj_tmem_spot,
	    (size_t)n * CJ_LANES_WARP);
	struct cj_copy_atom atom;
	struct cj_symtab symbols;
	struct cj_algebra al;
	struct cj_int at, bit;
	bool ok;

	cj_symtab_init(&symbols, a, NULL);
	cj_algebra_init(&al, a, &symbols);
	ok = cj_copy_atom_find(&al, cj_printf(a, "SM100_TMEM_LOAD_%udp%ub%ux%s",
	    (unsigned)u->lanes, (unsigned)u->bits, (unsigned)u->repeat,
	    u->packs ? "_16b" : ""), &atom);
	assert(ok && atom.address != NULL);
	(void)ok;
	for (t = 0; t < CJ_LANES_WARP; t++)
		for (v = 0; v < n; v++) {
			const struct cj_tuple *both[2] = {
			    cj_tuple_known(&al, t),
			    cj_tuple_known(&al, (int64_t)v * bits) };

			ok = cj_layout_offset(&al, atom.target, cj_tuple_make(
			    &al, both, 2), &bit) && cj_layout_offset(&al,
			    atom.address, cj_tuple_int(&al, bit), &at);
			assert(ok && cj_is_known(at));
			spots[v * CJ_LANES_WARP + t] = (struct cj_tmem_spot){
			    (uint16_t)(at.value / (CJ_TMEM_LANE_STEP * WORD)),
			    (uint16_t)(at.value % (CJ_TMEM_LANE_STEP * WORD) /
			    bits) };
		}
	return spots;
}

static void
make_object(struct cj_arena *a, struct cj_tmem *t, const struct cj_object *o,
    struct cj_tmem_object *to)
{
	size_t n = (size_t)o->extent;

	to->row = o->extent / CJ_TMEM_LANES;
	to->writer = CJ_NEWS(a, cj_tmem_mark, n);
	to->writer_ref = CJ_NEWS(a, cj_ref, n);
	to->readers = CJ_NEWS(a, cj_tmem_mark, n * t->slots);
	to->reader_ref = CJ_NEWS(a, cj_ref, n * t->slots);
}

struct cj_tmem *
cj_tmem_create(struct cj_arena *a, const struct cj_decoded *c, uint32_t warps)
{
	const struct cj_module *m = c->module;
	struct cj_tmem *t = NULL;
	uint32_t o, i;

	for (o = 1; o < m->objects.len; o++) {
		if (m->objects.at[o].kind != CJ_OBJECT_TMEM)
			continue;
		if (t == NULL) {
			t = CJ_NEW(a, struct cj_tmem);
			t->objects = CJ_NEWS(a, struct cj_tmem_object,
			    m->objects.len);
			t->slots = (warps + 3) / 4 + 1;
		}
		make_object(a, t, &m->objects.at[o], &t->objects[o]);
	}
	if (t == NULL)
		return NULL;
	t->spots = CJ_NEWS(a, struct cj_tmem_spot *, m->tmem_uses.len);
	for (i = 0; i < c->steps.len; i++)
		if (c->steps.at[i].op == CJ_OP_TMEM_LOAD ||
		    c->steps.at[i].op == CJ_OP_TMEM_STORE) {
			uint32_t use = cj_inst(m, c->steps.at[i].ref)->attr;

			t->spots[use] = find_spots(a, m,
			    &m->tmem_uses.at[use]);
		}
	return t;
}

void
cj_tmem_forget(struct cj_tmem *t, struct cj_tmem_object *o)
{
	size_t n = (size_t)o->row * CJ_TMEM_LANES;

	memset(o->writer, 0, n * sizeof *o->writer);
	memset(o->readers, 0, n * t->slots * sizeof *o->readers);
	memset(o->last, 0, sizeof o->last);
}

void
cj_tmem_clear(struct cj_block *b)
{
	struct cj_tmem *t = b->machine.tmem;
	uint32_t o, w, u;

	if (t == NULL)
		return;
	t->taken = 0;
	t->relinquished = 0;
	memset(t->warps, 0, sizeof t->warps);
	for (w = 0; w < CJ_LANES_WARP; w++)
		for (u = 0; u < CJ_TMEM_UNITS; u++)
			t->warps[w].open[u] = 1;
	for (o = 1; o < b->machine.module->objects.len; o++) {
		if (t->objects[o].row == 0)
			continue;
		cj_tmem_forget(t, &t->objects[o]);
		t->objects[o].is_allocated = false;
		t->objects[o].allocated = t->objects[o].freed = 0;
	}
}
