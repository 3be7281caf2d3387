/*
 * Products of warpgroups: each warp computes its 16 rows of the 64, from
 * shared memory as the descriptors say it lies there.
 *
 * Numbers are those of mma (interp_mma.c): products exact, summed in f64 with
 * k ascending together with what is accumulated, rounded once. The result is
 * there at once, but what the product reads in shared memory stays in flight
 * until a wait ends its group: nobody may write it.
 */
#include "interp_tma.h"

enum { ROWS = 16, MOST_K = 64, MOST_N = 256 };

struct product {
	struct cj_frame *f;
	const struct cj_step *s;
	const struct cj_wgmma *w;
	uint32_t depth;			/* what is stored of A along K */
	struct cj_places places;	/* of a sparse A */
	double a[ROWS * MOST_K], b[MOST_N * MOST_K], c[ROWS * MOST_N];
};

int64_t
cj_operand_byte(const struct cj_operand_desc *d, int64_t row, int64_t k,
    int64_t bytes)
{
	int64_t width = (int64_t)16 << d->swizzle;
	int64_t fast = (d->by_column ? row : k) * bytes;
	int64_t slow = d->by_column ? k : row;

	if (!d->by_column && d->swizzle == CJ_MAP_PLAIN)
		return slow / 8 * d->stride + fast / 16 * d->leading +
		    slow % 8 * 16 + fast % 16;
	if (!d->by_column)
		return slow / 8 * d->stride + slow % 8 * width + fast;
	if (d->swizzle == CJ_MAP_PLAIN)
		return fast / 16 * d->stride + slow / 8 * d->leading +
		    slow % 8 * 16 + fast % 16;
	return fast / width * d->leading + slow / 8 * d->stride +
	    slow % 8 * width + fast % width;
}

/* Elements of 16 bytes: they stay together, and are read together. */
static uint32_t
unit_of(const struct cj_frame *f, uint32_t object)
{
	return 128 / cj_kind_bits(
	    f->code->module->objects.at[object].element);
}

/* The unit that begins at an element. */
static bool
may_read(struct product *p, uint32_t object, int64_t at)
{
	struct cj_access access = { .object = object };
	struct cj_touched_range t = { .object = object,
	    .width = unit_of(p->f, object), .first = at, .is_async = true };

	if (!cj_reach_may(p->f, p->s, 0, (struct cj_reach){ &access, at,
	    t.width }, false))
		return false;
	if (cj_async_is_quiet(p->f, object, at, t.width, false) ||
	    !cj_async_meets(p->f, p->s, 0, t))
		cj_race_access(p->f, p->s, 0, t);
	return true;
}

/* Rows first .. first + rows of an operand in shared memory. */
static void
read_matrix(struct product *p, double *to, uint32_t access,
    const struct cj_operand_desc *d, uint32_t offset, uint32_t first,
    uint32_t rows, uint32_t depth)
{
	const struct cj_module *m = p->f->code->module;
	uint32_t object = m->accesses.at[access].object, row, k;
	enum cj_kind kind = m->objects.at[object].element;
	int64_t bytes = cj_kind_bits(kind) / 8, at, last = -1;
	int64_t start = CJ_AT(p->f, int64_t, offset)[0];
	int64_t unit = unit_of(p->f, object);
	bool may = false;
	struct cj_bulk *b = cj_bulk_add(p->f, p->s, CJ_BULK_PRODUCT);

	b->object = object;
	b->lo = INT64_MAX;
	b->swizzle = d->swizzle;
	b->group = p->f->wgmma_commits;
	for (row = 0; row < rows; row++)
		for (k = 0; k < depth; k++) {
			at = start + cj_operand_byte(d, first + row, k,
			    bytes) / bytes;
			b->lo = at < b->lo ? at : b->lo;
			b->hi = at >= b->hi ? at + 1 : b->hi;
			at = cj_swizzled(d->swizzle, kind, at);
			if (last < 0 || at / unit != last) {
				last = at / unit;
				may = may_read(p, object, last * unit);
			}
			to[row * depth + k] = may ?
			    cj_num_to_f64(kind, cj_memory_get(
			    &p->f->machine->memory[object], kind, at)) : 0;
		}
	p->f->machine->async->sources[object]++;
}

/* Register r of a lane of an operand that lies as the hardware has it: which
 * of the warp's rows, which column. `parts` registers are a word. */
static uint32_t
row_at(uint32_t lane, uint32_t r, uint32_t parts)
{
	return lane / 4 + r / parts % 2 * 8;
}

static uint32_t
column_at(uint32_t lane, uint32_t r, uint32_t parts)
{
	return lane % 4 * parts + r % parts + r / parts / 2 * parts * 4;
}

static void
read_registers(struct product *p, uint32_t offset)
{
	const struct cj_wgmma *w = p->w;
	uint32_t parts = 32 / cj_kind_bits(w->a), r, lane;

	for (r = 0; r < p->depth / 2; r++)
		for (lane = 0; lane < CJ_LANES_WARP; lane++)
			p->a[row_at(lane, r, parts) * p->depth +
			    column_at(lane, r, parts)] = cj_num_to_f64(w->a,
			    cj_reg_get(p->f->regs + offset, r * CJ_LANES_WARP
			    + lane, w->a));
}

/* The sum's registers go two by two along a row. */
static size_t
sum_at(const struct cj_wgmma *w, uint32_t lane, uint32_t r)
{
	return row_at(lane, r, 2) * w->n + column_at(lane, r, 2);
}

static double
dense(const struct product *p, uint32_t i, uint32_t j, double sum)
{
	const double *a = p->a + i * p->w->k, *b = p->b + j * p->w->k;
	uint32_t k;

	for (k = 0; k < p->w->k; k++)
		sum += a[k] * b[k];
	return sum;
}

static double
sparse(const struct product *p, uint32_t i, uint32_t j, double sum)
{
	const double *a = p->a + i * p->depth, *b = p->b + j * p->w->k;
	uint32_t k;

	for (k = 0; k < p->depth; k++)
		sum += a[k] * b[p->places.at[i][k]];
	return sum;
}

/* Bits that both have set. */
static double
common(const struct product *p, uint32_t i, uint32_t j, double sum)
{
	const double *a = p->a + i * p->w->k, *b = p->b + j * p->w->k;
	uint32_t k;

	for (k = 0; k < p->w->k; k++)
		sum += __builtin_popcount((unsigned)a[k] & (unsigned)b[k]);
	return sum;
}

static void
multiply(struct product *p)
{
	const struct cj_wgmma *w = p->w;
	uint32_t i, j;

	for (i = 0; i < ROWS; i++)
		for (j = 0; j < w->n; j++) {
			double *c = &p->c[i * w->n + j];

			*c = (w->counts ? common : w->selectors != 0 ? sparse :
			    dense)(p, i, j, *c);
		}
}

/* Integers are exact as f64, and wrap or clamp as i32. */
static uint64_t
number_of(const struct cj_wgmma *w, double sum)
{
	if (w->c != CJ_KIND_I32)
		return cj_num_from_f64(w->c, sum);
	if (w->saturate)
		sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ?
		    INT32_MIN : sum;
	return (uint64_t)(int64_t)(int32_t)(uint32_t)(int64_t)sum;
}

/* ---- registers between products and others ------------------------------- */

static void
note_touched(struct cj_frame *f, uint32_t from, uint32_t to)
{
	uint32_t i;

	for (i = 0; i < f->loose_count; i++)
		if (f->loose[i].from <= from && to <= f->loose[i].to)
			return;
	if (f->loose_count == CJ_MOST_LOOSE)
		return;
	f->loose[f->loose_count].from = from;
	f->loose[f->loose_count++].to = to;
}

static bool
is_loose(const struct cj_frame *f, uint32_t from, uint32_t to)
{
	uint32_t i;

	for (i = 0; i < f->loose_count; i++)
		if (from < f->loose[i].to && f->loose[i].from < to)
			return true;
	return false;
}

static void
check_fenced(struct cj_frame *f, const struct cj_step *s,
    const struct cj_bulk *b)
{
	if ((is_loose(f, b->sum, b->sum_end) ||
	    is_loose(f, b->left, b->left_end)) &&
	    !cj_fault_again(f, s, CJ_DIAG_IN_FLIGHT))
		cj_fault_at(f, s, cj_first_lane(f), CJ_DIAG_IN_FLIGHT,
		    "a product has registers that the warp has touched with "
		    "no wgmma fence behind");
}

/* The product that was added last, that of B, stands for its registers. */
static void
note_registers(struct cj_frame *f, const struct cj_step *s,
    const struct cj_wgmma *w)
{
	struct cj_bulk *b = f->machine->async->bulks, *last = NULL;

	for (; b != NULL; b = b->next)
		if (b->frame == f && b->kind == CJ_BULK_PRODUCT)
			last = b;
	assert(last != NULL && "it was just added");
	last->sum = s->dst;
	last->sum_end = s->dst + w->n / 2 * CJ_LANES_WARP *
	    cj_reg_bytes(w->c);
	if (!cj_wgmma_has_offset(f->code->module, w)) {
		last->left = s->a;
		last->left_end = s->a + cj_wgmma_left(w) * CJ_LANES_WARP *
		    cj_reg_bytes(w->a);
	}
	check_fenced(f, s, last);
}

void
cj_wgmma_meets(struct cj_frame *f, const struct cj_step *s, uint32_t offset,
    uint32_t bytes, bool writes)
{
	struct cj_async *a = f->machine->async;
	const struct cj_bulk *b = a != NULL ? a->bulks : NULL;
	struct cj_fault *fault;
	bool sums;

	note_touched(f, offset, offset + bytes);
	for (; b != NULL; b = b->next) {
		if ((b->kind != CJ_BULK_PRODUCT &&
		    b->kind != CJ_BULK_REGISTERS) || b->frame != f)
			continue;
		sums = offset < b->sum_end && b->sum < offset + bytes;
		if (sums || (writes && offset < b->left_end &&
		    b->left < offset + bytes))
			break;
	}
	if (b == NULL || cj_fault_again(f, s, CJ_DIAG_IN_FLIGHT))
		return;
	fault = cj_fault_at(f, s, cj_first_lane(f), CJ_DIAG_IN_FLIGHT,
	    "registers of a %s in flight are %s", b->kind == CJ_BULK_PRODUCT ?
	    "product" : "load from tensor memory", writes ? "written" :
	    "read");
	if (fault != NULL) {
		fault->other = b->step->ref;
		fault->note = b->kind == CJ_BULK_PRODUCT ? "it is issued "
		    "here, and no wait has ended it" : "it is issued here, "
		    "and no tcgen05_wait(.load) follows";
	}
}

/* a: offset of A in shared memory, or its registers; b: of B; c: accumulate;
 * target: metadata; dst: the slot's registers. */
static void
step_wgmma(struct cj_frame *f, const struct cj_step *s)
{
	struct product *p = f->machine->async->product;
	const struct cj_wgmma *w =
	    &f->code->module->wgmmas.at[cj_step_inst(f, s)->attr];
	const struct cj_module *m = f->code->module;
	char *sum = f->regs + s->dst;
	bool adds = s->c == CJ_NO_OFFSET || cj_mask(f, s->c)[0];
	uint32_t r, lane, warp = f->warp % 4;
	struct cj_bulk *b;
	uint64_t until;

	if (p == NULL)
		p = f->machine->async->product = CJ_NEW(f->machine->arena,
		    struct product);
	p->f = f;
	p->s = s;
	p->w = w;
	p->depth = cj_wgmma_left(w) * 2;
	cj_warp_needed(f, s);
	if (!cj_wgmma_has_offset(m, w))
		cj_slot_reads(f, s, &m->accesses.at[w->a_at],
		    cj_wgmma_left(w));
	if (cj_wgmma_has_offset(m, w))
		read_matrix(p, p->a, w->a_at, &w->a_desc, s->a, warp * ROWS,
		    ROWS, p->depth);
	else
		read_registers(p, s->a);
	read_matrix(p, p->b, w->b_at, &w->b_desc, s->b, 0, w->n, w->k);
	if (w->selectors != 0)
		cj_sparse_places(f, s, &(struct cj_sparse){ w->a, w->k,
		    w->selector }, CJ_AT(f, uint32_t, s->target),
		    &p->places);
	if (adds)
		cj_slot_reads(f, s, &m->accesses.at[w->sum], w->n / 2);
	cj_slot_writes(f, &m->accesses.at[w->sum], w->n / 2);
	until = cj_timeline_product(f, s, w->n);
	note_registers(f, s, w);
	for (b = f->machine->async->bulks; b != NULL; b = b->next)
		if (b->frame == f && b->kind == CJ_BULK_PRODUCT &&
		    b->until == 0)
			b->until = until;
	for (r = 0; r < w->n / 2; r++)
		for (lane = 0; lane < CJ_LANES_WARP; lane++)
			p->c[sum_at(w, lane, r)] = adds ? cj_num_to_f64(w->c,
			    cj_reg_get(sum, r * CJ_LANES_WARP + lane, w->c)) :
			    0;
	multiply(p);
	for (r = 0; r < w->n / 2; r++)
		for (lane = 0; lane < CJ_LANES_WARP; lane++)
			cj_reg_set(sum, r * CJ_LANES_WARP + lane, w->c,
			    number_of(w, p->c[sum_at(w, lane, r)]));
}

void
cj_interp_WGMMA(struct cj_decoder *d, cj_ref r)
{
	const struct cj_inst *i = cj_inst(d->module, r);
	const struct cj_wgmma *w = &d->module->wgmmas.at[i->attr];
	const struct cj_access *sum = &d->module->accesses.at[w->sum];
	const struct cj_access *left = &d->module->accesses.at[w->a_at];
	struct cj_step *s = cj_step_add(d, r, step_wgmma);
	unsigned b = cj_wgmma_has_offset(d->module, w) ? 1 : 0;

	assert(d->code->lanes == CJ_LANES_WARP);
	s->a = b != 0 ? cj_decode_operand(d, r, 0) :
	    cj_decode_slot(d, left->object) + left->position *
	    cj_reg_bytes(w->a) * d->code->lanes;
	s->b = cj_decode_operand(d, r, b);
	if (w->selectors != 0)
		s->target = cj_decode_operand(d, r, ++b);
	s->c = i->operand_count > b + 1 ? cj_decode_operand(d, r, b + 1) :
	    CJ_NO_OFFSET;
	s->dst = cj_decode_slot(d, sum->object) + sum->position *
	    cj_reg_bytes(w->c) * d->code->lanes;
}

/* ---- groups -------------------------------------------------------------- */

static void
step_fence(struct cj_frame *f, const struct cj_step *s)
{
	cj_warp_needed(f, s);
	f->loose_count = 0;
}

void
cj_interp_WGMMA_FENCE(struct cj_decoder *d, cj_ref r)
{
	cj_step_add(d, r, step_fence);
}

static void
step_commit(struct cj_frame *f, const struct cj_step *s)
{
	cj_warp_needed(f, s);
	f->wgmma_commits++;
}

void
cj_interp_WGMMA_COMMIT(struct cj_decoder *d, cj_ref r)
{
	cj_step_add(d, r, step_commit);
}

/* What has been read counts as read here once more, so that whoever overwrites
 * it must be ordered behind this wait. Parts of one operand are one range. */
static void
announce(struct cj_frame *f, const struct cj_bulk *b)
{
	enum cj_kind kind = f->code->module->objects.at[b->object].element;
	uint32_t unit = unit_of(f, b->object);
	int64_t i;

	for (i = b->lo / unit * unit; i < b->hi; i += unit)
		cj_race_access(f, b->step, 0, (struct cj_touched_range){
		    .object = b->object, .width = unit,
		    .first = cj_swizzled(b->swizzle, kind, i),
		    .is_async = true });
}

static bool
is_due(const struct cj_frame *f, const struct cj_bulk *b, uint32_t open)
{
	return b->kind == CJ_BULK_PRODUCT && b->frame == f &&
	    b->group + open < f->wgmma_commits;
}

/* The next one that ends here and overlaps `b` takes its range in. */
static bool
hand_on(const struct cj_frame *f, const struct cj_bulk *b, uint32_t open)
{
	struct cj_bulk *o;

	for (o = b->next; o != NULL; o = o->next) {
		if (!is_due(f, o, open) || o->object != b->object ||
		    o->swizzle != b->swizzle || o->step->ref != b->step->ref
		    || o->lo > b->hi || b->lo > o->hi)
			continue;
		o->lo = b->lo < o->lo ? b->lo : o->lo;
		o->hi = b->hi > o->hi ? b->hi : o->hi;
		return true;
	}
	return false;
}

/* target: how many groups may stay open. */
static void
step_wait(struct cj_frame *f, const struct cj_step *s)
{
	struct cj_async *a = f->machine->async;
	struct cj_bulk *b, *next;

	cj_warp_needed(f, s);
	cj_clock_meet_lanes(f);
	for (b = a != NULL ? a->bulks : NULL; b != NULL; b = next) {
		next = b->next;
		if (!is_due(f, b, s->target))
			continue;
		cj_timeline_wait(f, s, b->until);
		if (f->machine->race != NULL && !hand_on(f, b, s->target))
			announce(f, b);
		a->sources[b->object]--;
		cj_bulk_drop(b);
	}
}

void
cj_interp_WGMMA_WAIT(struct cj_decoder *d, cj_ref r)
{
	cj_step_add(d, r, step_wait)->target = cj_inst(d->module, r)->attr;
}
