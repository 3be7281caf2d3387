/*
 * Products into tensor memory, copies there from shared memory, and the
 * commits that say when they have ended.
 *
 * One thread issues them. They are computed at once: products exact, summed in
 * f64 with k ascending together with what is added to, rounded once, as for
 * other products. What is read and written belongs to the unit until whoever
 * touches it is ordered behind a wait for the mbarrier of a commit. An arrival
 * of a commit comes when somebody asks for it and nothing else is missing.
 */
#include "interp_tmem.h"

enum { WORD = 32, UNIT_BITS = 128 };

/* One product. */
struct cj_tcgen05_room {
	double a[128 * 64], b[256 * 64], c[128 * 256];
};

struct operand {
	struct cj_frame *f;
	const struct cj_step *s;
	uint32_t lane, object;
	enum cj_kind kind;
	const struct cj_operand_desc *desc;
	int64_t start, last;		/* element; unit that was seen last */
	bool may;			/* be read */
};

static struct cj_unit
unit_of(const struct cj_frame *f)
{
	return (struct cj_unit){ CJ_UNIT_PRODUCT, f->warp,
	    cj_tmem_self(f)->open[CJ_TMEM_PRODUCTS] };
}

/* ---- matrices in shared memory ------------------------------------------- */

static bool
may_read(const struct operand *o, int64_t first, uint32_t width)
{
	struct cj_access access = { .object = o->object };
	struct cj_touched_range t = { .object = o->object, .width = width,
	    .first = first, .is_async = true };

	if (!cj_reach_may(o->f, o->s, o->lane, (struct cj_reach){ &access,
	    first, width }, false))
		return false;
	if (cj_async_is_quiet(o->f, o->object, first, width, false) ||
	    !cj_async_meets(o->f, o->s, o->lane, t))
		cj_race_unit(o->f->machine->block, o->f, o->s,
		    unit_of(o->f), t);
	return true;
}

static struct operand
begin_operand(struct cj_frame *f, const struct cj_step *s, uint32_t lane,
    uint32_t access, const struct cj_operand_desc *d, uint32_t offset)
{
	const struct cj_module *m = f->code->module;
	struct operand o = { .f = f, .s = s, .lane = lane, .desc = d,
	    .last = -1 };

	o.object = m->accesses.at[access].object;
	o.kind = m->objects.at[o.object].element;
	o.start = CJ_AT(f, int64_t, offset)[lane];
	return o;
}

/* The bits of element (row, k); 0 where it may not be read. */
static uint64_t
element_at(struct operand *o, int64_t row, int64_t k)
{
	int64_t bytes = cj_kind_bits(o->kind) / 8, unit = UNIT_BITS / 8 /
	    bytes;
	int64_t at = o->start + cj_operand_byte(o->desc, row, k, bytes) /
	    bytes;

	at = cj_swizzled(o->desc->swizzle, o->kind, at);
	if (o->last < 0 || at / unit != o->last) {
		o->last = at / unit;
		o->may = may_read(o, o->last * unit, (uint32_t)unit);
	}
	return o->may ? cj_memory_get(&o->f->machine->memory[o->object],
	    o->kind, at) : 0;
}

static void
read_shared(struct operand o, double *to, uint32_t rows, uint32_t depth)
{
	uint32_t row, k;

	for (row = 0; row < rows; row++)
		for (k = 0; k < depth; k++)
			to[row * depth + k] = cj_num_to_f64(o.kind,
			    element_at(&o, row, k));
}

/* ---- matrices in tensor memory ------------------------------------------- */

/* 64 rows take the first 16 of each 32 lanes. */
static uint32_t
lane_of(const struct cj_tcgen05 *t, uint32_t row)
{
	return t->m == 64 ? row % 16 + row / 16 * 32 : row;
}

static enum cj_kind
kind_of(const struct cj_tmem_access *a)
{
	return a->f->code->module->objects.at[a->object].element;
}

static void
read_tmem(struct cj_tmem_access *a, const struct cj_tcgen05 *t, double *to)
{
	uint32_t row, k;

	for (row = 0; row < t->m; row++)
		for (k = 0; k < t->k; k++) {
			int64_t e = cj_tmem_at(a, lane_of(t, row), k);

			to[row * t->k + k] = e < 0 ? 0 : cj_num_to_f64(t->a,
			    cj_memory_get(&a->f->machine->memory[a->object],
			    t->a, e));
		}
}

/* Sums take a column each, whatever their width. */
static int64_t
sum_at(struct cj_tmem_access *a, const struct cj_tcgen05 *t, uint32_t row,
    uint32_t column)
{
	return cj_tmem_at(a, lane_of(t, row), (int64_t)column *
	    (WORD / cj_kind_bits(t->d)));
}

static uint64_t
number_of(const struct cj_tcgen05 *t, double sum)
{
	return t->d != CJ_KIND_I32 ? cj_num_from_f64(t->d, sum) :
	    (uint64_t)(int64_t)(int32_t)(uint32_t)(int64_t)sum;
}

static void
multiply(struct cj_tcgen05_room *r, const struct cj_tcgen05 *t)
{
	uint32_t i, j, k;

	for (i = 0; i < t->m; i++)
		for (j = 0; j < t->n; j++) {
			const double *a = r->a + i * t->k;
			const double *b = r->b + j * t->k;
			double sum = r->c[i * t->n + j];

			for (k = 0; k < t->k; k++)
				sum += a[k] * b[k];
			r->c[i * t->n + j] = sum;
		}
}

static void
add_up(struct cj_tmem_access *d, const struct cj_tcgen05 *t,
    struct cj_tcgen05_room *r)
{
	const struct cj_memory *m = &d->f->machine->memory[d->object];
	enum cj_kind k = kind_of(d);
	uint32_t i, j;
	int64_t e;

	for (i = 0; i < t->m && d->reads; i++)
		for (j = 0; j < t->n; j++) {
			e = (d->lane0 + lane_of(t, i)) * d->o->row +
			    d->element0 + (int64_t)j * (WORD /
			    cj_kind_bits(t->d));
			r->c[i * t->n + j] = e >= m->hi ? 0 :
			    cj_num_to_f64(k, cj_memory_get(m, k, e));
		}
	multiply(r, t);
	for (i = 0; i < t->m; i++)
		for (j = 0; j < t->n; j++) {
			e = sum_at(d, t, i, j);
			if (e >= 0)
				cj_memory_set(m, k, e, number_of(t,
				    r->c[i * t->n + j]));
		}
}

/* ---- issuing ------------------------------------------------------------- */

/* The one lane that issues; others are reported. */
static uint32_t
issuer(struct cj_frame *f, const struct cj_step *s, const char *what)
{
	uint32_t first = cj_first_lane(f), lane, count = 0;
	struct cj_tmem_warp *w = cj_tmem_self(f);

	for (lane = 0; lane < f->lanes; lane++)
		count += cj_lane_runs(f, lane);
	if (count > 1 && !cj_fault_again(f, s, CJ_DIAG_MISUSED_TMEM)) {
		struct cj_fault *fault = cj_fault_at(f, s, first,
		    CJ_DIAG_MISUSED_TMEM, "%u lanes of a warp issue %s" CJ_WHO,
		    (unsigned)count, what);

		if (fault != NULL)
			fault->note = "each issues one of its own: if elect() "
			    "{ ... }";
	}
	w->issuer = first;
	w->issued = s->ref;
	return first;
}

/* a: offset of A (in tensor memory or shared memory), b: of B, c: accumulate,
 * dst: offset of D */
static void
step_mma(struct cj_frame *f, const struct cj_step *s)
{
	const struct cj_tcgen05 *t = &f->code->module->tcgen05s.at[
	    cj_step_inst(f, s)->attr];
	struct cj_tmem *all = f->machine->tmem;
	struct cj_tmem_access d = { .f = f, .s = s,
	    .unit = CJ_TMEM_PRODUCTS, .writes = true }, a = { .f = f, .s = s,
	    .unit = CJ_TMEM_PRODUCTS, .reads = true };

	d.lane = a.lane = issuer(f, s, "a product");
	d.reads = s->c == CJ_NO_OFFSET || cj_mask(f, s->c)[d.lane];
	if (all->room == NULL)
		all->room = CJ_NEW(f->machine->arena, struct cj_tcgen05_room);
	memset(all->room->c, 0, sizeof all->room->c);
	if (!cj_tmem_begin(&d, t->d_at, CJ_AT(f, int64_t, s->dst)[d.lane]))
		return;
	if (!cj_tcgen05_is_left_in_tmem(f->code->module, t))
		read_shared(begin_operand(f, s, d.lane, t->a_at, &t->a_desc,
		    s->a), all->room->a, t->m, t->k);
	else if (cj_tmem_begin(&a, t->a_at, CJ_AT(f, int64_t, s->a)[d.lane]))
		read_tmem(&a, t, all->room->a);
	read_shared(begin_operand(f, s, d.lane, t->b_at, &t->b_desc, s->b),
	    all->room->b, t->n, t->k);
	cj_timeline_product(f, s, t->n);
	add_up(&d, t, all->room);
}

void
cj_interp_TCGEN05_MMA(struct cj_decoder *d, cj_ref r)
{
	const struct cj_inst *i = cj_inst(d->module, r);
	unsigned a = cj_tcgen05_is_left_in_tmem(d->module,
	    &d->module->tcgen05s.at[i->attr]) ? 3 : 2;
	uint32_t at[4];
	struct cj_step *s;

	at[0] = cj_decode_operand(d, r, 1);
	at[1] = cj_decode_operand(d, r, a);
	at[2] = cj_decode_operand(d, r, a + 1);
	at[3] = i->operand_count > a + 2 ? cj_decode_operand(d, r, a + 2) :
	    CJ_NO_OFFSET;
	s = cj_step_add(d, r, step_mma);
	s->dst = at[0];
	s->a = at[1];
	s->b = at[2];
	s->c = at[3];
}

/* ---- copies from shared memory ------------------------------------------- */

/* Row of the matrix that comes to a lane. */
static uint32_t
row_of(const struct cj_tmem_use *u, uint32_t lane)
{
	uint32_t group = lane / 32, at = lane % 32;

	switch (u->spread) {
	case CJ_TMEM_PAIRS_02_13: return group % 2 * 32 + at;
	case CJ_TMEM_PAIRS_01_23: return group / 2 * 32 + at;
	case CJ_TMEM_ALL_FOUR: return at;
	case CJ_TMEM_OWN: case CJ_TMEM_SPREADS: break;
	}
	return lane;
}

/* a: offset in shared memory, dst: in tensor memory */
static void
step_copy(struct cj_frame *f, const struct cj_step *s)
{
	const struct cj_tmem_use *u = &f->code->module->tmem_uses.at[
	    cj_step_inst(f, s)->attr];
	struct cj_tmem_access to = { .f = f, .s = s,
	    .unit = CJ_TMEM_PRODUCTS, .writes = true };
	struct operand from;
	uint32_t lane, i, n;

	to.lane = issuer(f, s, "a copy to tensor memory");
	if (!cj_tmem_begin(&to, u->tmem, CJ_AT(f, int64_t, s->dst)[to.lane]))
		return;
	from = begin_operand(f, s, to.lane, u->other, &u->desc, s->a);
	n = u->bits / cj_kind_bits(from.kind);
	for (lane = 0; lane < CJ_TMEM_LANES; lane++)
		for (i = 0; i < n; i++) {
			int64_t e = cj_tmem_at(&to, lane, i);
			uint64_t v = element_at(&from, row_of(u, lane), i);

			if (e >= 0)
				cj_memory_set(&f->machine->memory[to.object],
				    from.kind, e, v);
		}
}

void
cj_interp_TMEM_COPY(struct cj_decoder *d, cj_ref r)
{
	uint32_t to = cj_decode_operand(d, r, 1);
	uint32_t from = cj_decode_operand(d, r, 2);
	struct cj_step *s = cj_step_add(d, r, step_copy);

	s->dst = to;
	s->a = from;
}

/* ---- commits: a is the offset of the mbarrier ---------------------------- */

static void
check_issuer(struct cj_frame *f, const struct cj_step *s)
{
	const struct cj_tmem_warp *w = cj_tmem_self(f);
	struct cj_fault *fault;

	if (w->issued == 0 || cj_lane_runs(f, w->issuer) ||
	    cj_fault_again(f, s, CJ_DIAG_MISUSED_TMEM))
		return;
	fault = cj_fault_at(f, s, cj_first_lane(f), CJ_DIAG_MISUSED_TMEM,
	    "this commit" CJ_WHO " does not cover what lane %u has issued",
	    (unsigned)w->issuer);
	if (fault == NULL)
		return;
	fault->other = w->issued;
	fault->note = "it is issued here: one thread issues and commits";
}

static void
step_commit(struct cj_frame *f, const struct cj_step *s)
{
	const struct cj_access *a = cj_step_access(f, s);
	struct cj_tmem_warp *w = cj_tmem_self(f);
	const struct cj_past *past = NULL;
	uint32_t lane;

	check_issuer(f, s);
	for (lane = 0; lane < f->lanes; lane++) {
		struct cj_mbarrier *b;

		if (!cj_lane_runs(f, lane))
			continue;
		b = cj_mbarrier_of_copy(f, s, lane, f->machine, a->object,
		    CJ_AT(f, int64_t, s->a)[lane]);
		if (b == NULL)
			continue;
		if (past == NULL && f->machine->race != NULL)
			past = cj_past_join(f, cj_clock_publish(f),
			    cj_unit_past(f, f->machine->block, unit_of(f)));
		cj_mbarrier_commit(f, s, b, past);
	}
	w->open[CJ_TMEM_PRODUCTS]++;
	w->issued = 0;
}

void
cj_interp_TCGEN05_COMMIT(struct cj_decoder *d, cj_ref r)
{
	uint32_t at = cj_decode_operand(d, r, 0);

	cj_step_add(d, r, step_commit)->a = at;
}
