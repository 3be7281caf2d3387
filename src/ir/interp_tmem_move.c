/*
 * Tensor memory in the executor: allocation, loads, stores, waits, fences, and
 * what is left at the end. Registers that a load fills are watched like those
 * of products of warpgroups.
 */
#include "interp_race.h"
#include "interp_tmem.h"

enum { WORD = 32, COLUMNS_OF_BIT = CJ_TMEM_LEAST };

/* ---- allocation ---------------------------------------------------------- */

static const struct cj_tmem_use *
use_of(const struct cj_frame *f, const struct cj_step *s)
{
	return &f->code->module->tmem_uses.at[cj_step_inst(f, s)->attr];
}

static uint32_t
object_of(const struct cj_frame *f, const struct cj_step *s)
{
	return f->code->module->accesses.at[use_of(f, s)->tmem].object;
}

/* Room for so many columns, from a multiple of them on; false: not now. */
static bool
find_room(const struct cj_tmem *t, uint32_t columns, uint32_t *column)
{
	uint32_t n = columns / COLUMNS_OF_BIT, i;
	uint32_t bits = (uint32_t)(((uint64_t)1 << n) - 1);

	for (i = 0; i < CJ_TMEM_COLUMNS / COLUMNS_OF_BIT; i += n)
		if ((t->taken & bits << i) == 0) {
			*column = i * COLUMNS_OF_BIT;
			return true;
		}
	return false;
}

static uint32_t
bits_of(const struct cj_frame *f, uint32_t object, uint32_t column)
{
	uint32_t n = cj_tmem_columns(&f->code->module->objects.at[object]) /
	    COLUMNS_OF_BIT;

	return (uint32_t)(((uint64_t)1 << n) - 1) << column / COLUMNS_OF_BIT;
}

static void
fault_with(struct cj_frame *f, const struct cj_step *s, cj_ref other,
    const char *note, const char *format, const char *name)
{
	struct cj_fault *fault;

	if (cj_fault_again(f, s, CJ_DIAG_MISUSED_TMEM))
		return;
	fault = cj_fault_at(f, s, cj_first_lane(f), CJ_DIAG_MISUSED_TMEM,
	    "\"%s\" %s", name, format);
	if (fault == NULL)
		return;
	fault->other = other;
	fault->note = note;
}

/* The address comes to shared memory, as from one lane. */
static bool
take(struct cj_frame *f)
{
	const struct cj_step *s = &f->code->steps.at[f->pc - 1];
	struct cj_tmem *t = f->machine->tmem;
	uint32_t object = object_of(f, s), lane = cj_first_lane(f);
	struct cj_tmem_object *o = &t->objects[object];
	const struct cj_access *to = &f->code->module->accesses.at[
	    use_of(f, s)->other];
	int64_t at = CJ_AT(f, int64_t, s->a)[lane];

	if (!find_room(t, cj_tmem_columns(&f->code->module->objects.at[
	    object]), &o->column))
		return false;
	t->taken |= bits_of(f, object, o->column);
	o->is_allocated = true;
	o->allocated = s->ref;
	o->freed = 0;
	if (!cj_reach_may(f, s, lane, (struct cj_reach){ to, at, 1 }, true))
		return true;
	cj_race_access(f, s, lane, (struct cj_touched_range){
	    .object = to->object, .width = 1, .first = at,
	    .is_write = true });
	cj_memory_set(&f->machine->memory[to->object], CJ_KIND_U32, at,
	    o->column);
	f->machine->memory[to->object].written[at] = 1;
	cj_clock_meet_lanes(f);		/* each lane's next load sees it */
	return true;
}

static void
describe(const struct cj_frame *f, struct cj_strbuf *out)
{
	const struct cj_step *s = &f->code->steps.at[f->pc - 1];
	uint32_t object = object_of(f, s), left = 0, i;

	for (i = 0; i < CJ_TMEM_COLUMNS / COLUMNS_OF_BIT; i++)
		left += f->machine->tmem->taken >> i & 1 ? 0 : COLUMNS_OF_BIT;
	cj_strbuf_printf(out, "%u columns of tensor memory for \"%s\", where "
	    "%u are free", (unsigned)cj_tmem_columns(
	    &f->code->module->objects.at[object]), cj_tmem_name(f, object),
	    (unsigned)left);
}

static const struct cj_wait alloc_wait = { take, describe };

static void
step_alloc(struct cj_frame *f, const struct cj_step *s)
{
	struct cj_tmem *t = f->machine->tmem;
	uint32_t object = object_of(f, s);
	struct cj_tmem_object *o = &t->objects[object];

	cj_warp_needed(f, s);
	if (t->relinquished != 0)
		fault_with(f, s, t->relinquished, "it is given up here",
		    "is allocated, and the block has given up to allocate "
		    "more", cj_tmem_name(f, object));
	if (o->is_allocated) {
		fault_with(f, s, o->allocated, "it is allocated here",
		    "is allocated a second time", cj_tmem_name(f, object));
		return;
	}
	if (take(f))
		return;
	f->state = CJ_STATE_WAITING;
	f->wait = &alloc_wait;
}

void
cj_interp_TMEM_ALLOC(struct cj_decoder *d, cj_ref r)
{
	uint32_t at = cj_decode_operand(d, r, 0);

	cj_step_add(d, r, step_alloc)->a = at;
}

static void
check_over(struct cj_frame *f, const struct cj_step *s, uint32_t object)
{
	static const char *const notes[CJ_TMEM_UNITS] = {
		"this load may still be under way",
		"this store may still be under way",
		("nothing orders that behind a wait for the mbarrier of this "
		    "one's tcgen05_commit()") };
	const struct cj_tmem_object *o =
	    &f->machine->tmem->objects[object];
	uint32_t u, w;

	for (u = 0; u < CJ_TMEM_UNITS; u++)
		for (w = 0; w < CJ_LANES_WARP; w++) {
			struct cj_fault *fault;

			if (o->last[u][w].ref == 0 || cj_tmem_is_over(f,
			    &o->last[u][w], (enum cj_tmem_unit)u, w) ||
			    cj_fault_again(f, s, CJ_DIAG_IN_FLIGHT))
				continue;
			fault = cj_fault_at(f, s, cj_first_lane(f),
			    CJ_DIAG_IN_FLIGHT, "\"%s\" is freed" CJ_WHO
			    ", and warp %u uses it", cj_tmem_name(f, object),
			    (unsigned)w);
			if (fault == NULL)
				continue;
			fault->other = o->last[u][w].ref;
			fault->note = notes[u];
		}
}

static void
step_dealloc(struct cj_frame *f, const struct cj_step *s)
{
	struct cj_tmem *t = f->machine->tmem;
	uint32_t object = object_of(f, s);
	struct cj_tmem_object *o = &t->objects[object];

	cj_warp_needed(f, s);
	if (!o->is_allocated) {
		fault_with(f, s, o->freed, o->freed != 0 ?
		    "it is freed here" : NULL, o->freed != 0 ?
		    "is freed a second time" :
		    "is freed, and nobody has allocated it",
		    cj_tmem_name(f, object));
		return;
	}
	check_over(f, s, object);
	t->taken &= ~bits_of(f, object, o->column);
	o->is_allocated = false;
	o->freed = s->ref;
	cj_tmem_forget(t, o);
	memset(f->machine->memory[object].written, 0,
	    (size_t)f->code->module->objects.at[object].extent);
}

void
cj_interp_TMEM_DEALLOC(struct cj_decoder *d, cj_ref r)
{
	cj_step_add(d, r, step_dealloc);
}

static void
step_relinquish(struct cj_frame *f, const struct cj_step *s)
{
	cj_warp_needed(f, s);
	f->machine->tmem->relinquished = s->ref;
}

void
cj_interp_TMEM_RELINQUISH(struct cj_decoder *d, cj_ref r)
{
	cj_step_add(d, r, step_relinquish);
}

/* ---- loads and stores: b is the offset, target the use ------------------- */

static bool
begin(struct cj_frame *f, const struct cj_step *s, struct cj_tmem_access *a)
{
	const struct cj_tmem_use *u = &f->code->module->tmem_uses.at[
	    s->target];
	const int64_t *offset = CJ_AT(f, int64_t, s->b);
	int64_t first = (int64_t)f->warp % 4 * 32;
	uint32_t lane;

	cj_warp_needed(f, s);
	for (lane = 1; lane < f->lanes; lane++)
		if (offset[lane] != offset[0]) {
			fault_with(f, s, 0, NULL, "is reached at different "
			    "places by the lanes of one warp", cj_tmem_name(f,
			    object_of(f, s)));
			return false;
		}
	if (!cj_tmem_begin(a, u->tmem, offset[0]))
		return false;
	if (a->lane0 == first || (u->lanes == 16 && a->lane0 == first + 16))
		return true;
	if (!cj_fault_again(f, s, CJ_DIAG_MISUSED_TMEM))
		cj_fault_at(f, s, 0, CJ_DIAG_MISUSED_TMEM, "lane %lld of "
		    "\"%s\" is where warp %u begins" CJ_WHO ", it reaches "
		    "lanes %lld to %lld", (long long)a->lane0, cj_tmem_name(f,
		    a->object), (unsigned)f->warp, (long long)first,
		    (long long)first + 31);
	return false;
}

static void
watch_registers(struct cj_frame *f, const struct cj_step *s, uint32_t bytes)
{
	struct cj_bulk *b = cj_bulk_add(f, s, CJ_BULK_REGISTERS);

	b->sum = s->dst;
	b->sum_end = s->dst + bytes;
}

static void
step_load(struct cj_frame *f, const struct cj_step *s)
{
	const struct cj_tmem_spot *at = f->machine->tmem->spots[s->target];
	const struct cj_module *m = f->code->module;
	enum cj_kind k = (enum cj_kind)s->kind;
	struct cj_tmem_access a = { .f = f, .s = s, .unit = CJ_TMEM_LOADS,
	    .reads = true };
	uint32_t i;

	cj_wgmma_meets(f, s, s->dst, s->n * cj_reg_bytes(k), true);
	if (!begin(f, s, &a))
		return;
	for (i = 0; i < s->n; i++) {
		int64_t e;

		a.lane = i % CJ_LANES_WARP;
		e = cj_tmem_at(&a, at[i].lane, at[i].element);
		cj_reg_set(f->regs + s->dst, i, k, e < 0 ? 0 : cj_memory_get(
		    &f->machine->memory[a.object], k, e));
	}
	watch_registers(f, s, s->n * cj_reg_bytes(k));
	cj_slot_writes(f, &m->accesses.at[m->tmem_uses.at[cj_step_inst(f,
	    s)->attr].other], s->n / CJ_LANES_WARP);
}

static void
step_store(struct cj_frame *f, const struct cj_step *s)
{
	const struct cj_tmem_spot *at = f->machine->tmem->spots[s->target];
	enum cj_kind k = (enum cj_kind)s->kind;
	struct cj_tmem_access a = { .f = f, .s = s, .unit = CJ_TMEM_STORES,
	    .writes = true };
	uint32_t i;

	if (!begin(f, s, &a))
		return;
	for (i = 0; i < s->n; i++) {
		int64_t e;

		a.lane = i % CJ_LANES_WARP;
		e = cj_tmem_at(&a, at[i].lane, at[i].element);
		if (e >= 0)
			cj_memory_set(&f->machine->memory[a.object], k, e,
			    cj_reg_get(f->regs + s->c, i, k));
	}
}

static struct cj_step *
decode(struct cj_decoder *d, cj_ref r, cj_step_fn *run)
{
	const struct cj_module *m = d->module;
	const struct cj_tmem_use *u = &m->tmem_uses.at[cj_inst(m, r)->attr];
	enum cj_kind k = m->objects.at[m->accesses.at[u->tmem].object].element;
	uint32_t offset = cj_decode_operand(d, r, 1);
	struct cj_step *s = cj_step_add(d, r, run);

	s->b = offset;
	s->target = cj_inst(m, r)->attr;
	s->kind = (uint8_t)k;
	s->n = cj_tmem_registers(u->lanes, u->bits, u->repeat) * WORD /
	    cj_kind_bits(k) * CJ_LANES_WARP;
	return s;
}

void
cj_interp_TMEM_LOAD(struct cj_decoder *d, cj_ref r)
{
	const struct cj_module *m = d->module;
	const struct cj_access *to = &m->accesses.at[m->tmem_uses.at[cj_inst(m,
	    r)->attr].other];
	struct cj_step *s = decode(d, r, step_load);
	uint32_t at = cj_decode_slot(d, to->object);

	s->dst = at + to->position * cj_reg_bytes((enum cj_kind)s->kind) *
	    CJ_LANES_WARP;
}

void
cj_interp_TMEM_STORE(struct cj_decoder *d, cj_ref r)
{
	uint32_t from = cj_decode_operand(d, r, 2);

	decode(d, r, step_store)->c = from;
}

/* ---- waits and fences ---------------------------------------------------- */

static void
drop_registers(struct cj_frame *f)
{
	struct cj_async *a = f->machine->async;
	struct cj_bulk *b, *next;

	for (b = a != NULL ? a->bulks : NULL; b != NULL; b = next) {
		next = b->next;
		if (b->kind == CJ_BULK_REGISTERS && b->frame == f)
			cj_bulk_drop(b);
	}
}

static void
step_wait(struct cj_frame *f, const struct cj_step *s)
{
	bool loads = cj_step_inst(f, s)->attr == CJ_TMEM_WAIT_LOAD;
	enum cj_tmem_unit u = loads ? CJ_TMEM_LOADS : CJ_TMEM_STORES;
	struct cj_tmem_warp *w;

	cj_warp_needed(f, s);
	if (loads)
		drop_registers(f);
	if (f->machine->tmem == NULL)
		return;
	w = cj_tmem_self(f);
	w->done[u] = w->open[u]++;
	w->waited = f->clock != NULL ?
	    f->clock->of[CJ_VIEW_THREADS].warp[f->warp].interval : 0;
}

void
cj_interp_TMEM_WAIT(struct cj_decoder *d, cj_ref r)
{
	cj_step_add(d, r, step_wait);
}

void
cj_tmem_fence(struct cj_frame *f, bool before)
{
	struct cj_tmem_warp *w;
	bool all = true;
	uint32_t u, lane;

	if (f->machine->tmem == NULL || f->machine->race == NULL)
		return;
	w = cj_tmem_self(f);
	for (u = 0; before && u < CJ_TMEM_PRODUCTS; u++)
		if (w->done[u] != 0)
			cj_clock_join(f, cj_unit_past(f, f->machine->block,
			    cj_tmem_as_unit((enum cj_tmem_unit)u, f->warp,
			    w->done[u])));
	if (before)
		return;
	for (lane = 0; lane < f->lanes; lane++)
		all &= cj_lane_runs(f, lane);
	w->known[1] = cj_past_join(f, w->known[1], f->clock->past);
	if (all)
		w->known[0] = cj_past_join(f, w->known[0], f->clock->past);
}

/* ---- the end ------------------------------------------------------------- */

static const struct cj_step *
step_of(const struct cj_frame *f, cj_ref ref)
{
	uint32_t i;

	for (i = 0; i < f->code->steps.len; i++)
		if (f->code->steps.at[i].ref == ref)
			return &f->code->steps.at[i];
	return &f->code->steps.at[0];
}

void
cj_tmem_end(struct cj_block *b)
{
	struct cj_tmem *t = b->machine.tmem;
	struct cj_frame *f = &b->frames[0];
	uint32_t o, w;

	if (t == NULL)
		return;
	for (o = 1; o < b->machine.module->objects.len; o++)
		if (t->objects[o].is_allocated)
			fault_with(f, step_of(f, t->objects[o].allocated), 0,
			    "other blocks of the multiprocessor never get it "
			    "back: tcgen05_dealloc()", "is allocated here, "
			    "and the block ends without freeing it",
			    cj_tmem_name(f, o));
	for (w = 0; w < b->warps; w++) {
		f = &b->frames[w];
		if (t->warps[w].issued == 0)
			continue;
		cj_fault_at(f, step_of(f, t->warps[w].issued),
		    t->warps[w].issuer, CJ_DIAG_IN_FLIGHT, "the block ends, "
		    "and no tcgen05_commit() follows what is issued here");
	}
}
