/*
 * Timelines: when what waits, multiplies and copies began and ended.
 *
 * The executor runs one warp after the other, so time is that of a machine
 * that runs them side by side: a warp's clock counts its steps, a wait moves
 * it to the time of what it waited for, and a copy or product ends some time
 * after its issue. The costs are round numbers of an H200; they show what
 * overlaps, and not how long it takes.
 */
#include "interp_tma.h"

enum {
	MMA_TIME = 16,			/* of a warp */
	COPY_LATENCY = 600,		/* until the first bytes are there, */
	COPY_BYTES = 32			/* then so many in a step */
};

struct cj_timeline *
cj_timeline_create(struct cj_arena *a, uint64_t block)
{
	struct cj_timeline *t = CJ_NEW(a, struct cj_timeline);

	t->block = block;
	t->slices = CJ_NEWS(a, struct cj_slice, CJ_MOST_SLICES);
	return t;
}

static void
add_slice(struct cj_frame *f, const struct cj_step *s,
    enum cj_slice_kind kind, uint64_t from, uint64_t to)
{
	struct cj_timeline *t = f->machine->timeline;

	if (t == NULL || f->machine->block->number != t->block)
		return;
	if (to > t->end)
		t->end = to;
	if (f->warp >= t->warps)
		t->warps = f->warp + 1;
	if (t->count == CJ_MOST_SLICES) {
		t->lost++;
		return;
	}
	t->slices[t->count++] = (struct cj_slice){ kind, f->warp, s->ref,
	    from, to };
}

void
cj_timeline_step(struct cj_frame *f, const struct cj_step *s)
{
	bool is_mma = s->op == CJ_OP_MMA || s->op == CJ_OP_MMA_SPARSE;
	uint64_t cost = is_mma ? MMA_TIME : 1;

	if (is_mma)
		add_slice(f, s, CJ_SLICE_PRODUCT, f->now,
		    f->now + cost);
	f->now += cost;
}

void
cj_timeline_wait(struct cj_frame *f, const struct cj_step *s, uint64_t until)
{
	if (f->machine->timeline == NULL || until <= f->now)
		return;
	add_slice(f, s, CJ_SLICE_WAIT, f->now, until);
	f->now = until;
}

uint64_t
cj_timeline_copy(struct cj_frame *f, const struct cj_step *s, int64_t bytes)
{
	uint64_t until = f->now + COPY_LATENCY + (uint64_t)bytes /
	    COPY_BYTES;

	if (f->machine->timeline == NULL)
		return 0;
	add_slice(f, s, CJ_SLICE_COPY, f->now, until);
	return until;
}

/* Products of a warp follow one another; a wide one takes longer. */
uint64_t
cj_timeline_product(struct cj_frame *f, const struct cj_step *s,
    uint32_t columns)
{
	uint64_t from = f->now > f->product_end ? f->now : f->product_end;

	if (f->machine->timeline == NULL)
		return 0;
	f->product_end = from + columns / 2;
	add_slice(f, s, CJ_SLICE_PRODUCT, from, f->product_end);
	return f->product_end;
}
