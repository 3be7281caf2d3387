/*
 * What lanes ask about themselves: threads, blocks, extents, ranks.
 */
#include "interp_priv.h"

static void
fill_lanes(struct cj_frame *f, const struct cj_step *s, int64_t value)
{
	int64_t *out = CJ_AT(f, int64_t, s->dst);
	uint32_t lane;

	for (lane = 0; lane < f->lanes; lane++)
		out[lane] = value;
}

static void
step_thread(struct cj_frame *f, const struct cj_step *s)
{
	memcpy(CJ_AT(f, char, s->dst), f->machine->block->thread[s->target]
	    + f->warp * CJ_LANES_WARP, CJ_LANES_WARP * sizeof(int64_t));
}

static void
step_lane(struct cj_frame *f, const struct cj_step *s)
{
	int64_t *out = CJ_AT(f, int64_t, s->dst);
	uint32_t lane;

	for (lane = 0; lane < f->lanes; lane++)
		out[lane] = lane;
}

static void
step_block(struct cj_frame *f, const struct cj_step *s)
{
	fill_lanes(f, s, f->machine->block->at[s->target]);
}

static void
step_extent(struct cj_frame *f, const struct cj_step *s)
{
	const struct cj_kernel_launch *l = f->machine->block->launch;

	if (s->target < CJ_SPECIAL_GRID_DIM_X)
		fill_lanes(f, s,
		    l->block[s->target - CJ_SPECIAL_BLOCK_DIM_X]);
	else
		fill_lanes(f, s, l->grid[s->target - CJ_SPECIAL_GRID_DIM_X]);
}

static void
step_warp(struct cj_frame *f, const struct cj_step *s)
{
	fill_lanes(f, s, f->warp);
}

/* Ranks count along x first, within the cluster. */
static void
step_rank(struct cj_frame *f, const struct cj_step *s)
{
	const struct cj_block *b = f->machine->block;
	int64_t rank = 0;
	int axis;

	for (axis = 2; axis >= 0; axis--) {
		int64_t extent = b->launch->cluster[axis];

		if (extent < 1)
			extent = 1;
		rank = rank * extent + b->at[axis] % extent;
	}
	fill_lanes(f, s, rank);
}

void
cj_interp_SPECIAL(struct cj_decoder *d, cj_ref r)
{
	static cj_step_fn *const runs[CJ_SPECIAL_COUNT] = {
		[CJ_SPECIAL_THREAD_X] = step_thread,
		[CJ_SPECIAL_THREAD_Y] = step_thread,
		[CJ_SPECIAL_THREAD_Z] = step_thread,
		[CJ_SPECIAL_BLOCK_X] = step_block,
		[CJ_SPECIAL_BLOCK_Y] = step_block,
		[CJ_SPECIAL_BLOCK_Z] = step_block,
		[CJ_SPECIAL_BLOCK_DIM_X] = step_extent,
		[CJ_SPECIAL_BLOCK_DIM_Y] = step_extent,
		[CJ_SPECIAL_BLOCK_DIM_Z] = step_extent,
		[CJ_SPECIAL_GRID_DIM_X] = step_extent,
		[CJ_SPECIAL_GRID_DIM_Y] = step_extent,
		[CJ_SPECIAL_GRID_DIM_Z] = step_extent,
		[CJ_SPECIAL_LANE] = step_lane,
		[CJ_SPECIAL_WARP] = step_warp,
		[CJ_SPECIAL_BLOCK_RANK] = step_rank,
	};
	uint32_t what = cj_inst(d->module, r)->attr;
	struct cj_step *s;

	assert(what < CJ_SPECIAL_COUNT);
	if (d->code->lanes != CJ_LANES_WARP)
		cj_bug(d->arena->recover, "\"special\" outside a kernel");
	s = cj_step_value(d, r, runs[what]);
	s->target = what;
	if (runs[what] == step_thread)
		s->target = what - CJ_SPECIAL_THREAD_X;
	else if (runs[what] == step_block)
		s->target = what - CJ_SPECIAL_BLOCK_X;
}
