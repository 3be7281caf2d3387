/*
 * Clusters: blocks that run together. They begin and end at the same time for
 * each other, so that their shared memory can be reached, and meet at a
 * barrier of all of them.
 */
#include "interp_tma.h"

/* ---- who belongs together ------------------------------------------------ */

static int64_t
extent(const struct cj_kernel_launch *l, int axis)
{
	return l->cluster[axis] < 1 ? 1 : l->cluster[axis];
}

uint32_t
cj_cluster_size(const struct cj_kernel_launch *l)
{
	return (uint32_t)(extent(l, 0) * extent(l, 1) * extent(l, 2));
}

/* Ranks count along x first, as clusters do. */
uint64_t
cj_cluster_block(const struct cj_kernel_launch *l, uint64_t cluster,
    uint32_t rank)
{
	uint64_t number = 0, inside[3], outside[3];
	int axis;

	for (axis = 0; axis < 3; axis++) {
		uint64_t e = (uint64_t)extent(l, axis);
		uint64_t clusters = (uint64_t)l->grid[axis] / e;

		inside[axis] = rank % e;
		rank /= (uint32_t)e;
		outside[axis] = cluster % clusters * e;
		cluster /= clusters;
	}
	for (axis = 2; axis >= 0; axis--)
		number = number * (uint64_t)l->grid[axis] + outside[axis] +
		    inside[axis];
	return number;
}

struct cj_machine *
cj_cluster_machine(struct cj_frame *f, const struct cj_step *s,
    uint32_t lane, int64_t rank)
{
	const struct cj_cluster *c = f->machine->block->cluster;

	if (rank >= 0 && rank < c->count)
		return &c->blocks[rank]->machine;
	cj_fault_at(f, s, lane, CJ_DIAG_OUT_OF_BOUNDS, "block %lld is named, "
	    "in a cluster of %u", (long long)rank, (unsigned)c->count);
	return NULL;
}

bool
cj_cluster_ended(struct cj_cluster *c)
{
	uint32_t i, w;

	for (i = 0; i < c->count && !c->has_ended; i++)
		for (w = 0; w < c->blocks[i]->warps; w++)
			if (c->blocks[i]->frames[w].state != CJ_STATE_ENDED &&
			    !c->blocks[i]->machine.stop)
				return false;
	c->has_ended = true;
	return true;
}

/* ---- the barrier --------------------------------------------------------- */

static bool
barrier_is_open(struct cj_frame *f)
{
	const struct cj_cluster *c = f->machine->block->cluster;

	if (c->turn == f->wait_turn)
		return false;
	cj_timeline_wait(f, &f->code->steps.at[f->pc - 1], c->done_at);
	return true;
}

static void
describe_barrier(const struct cj_frame *f, struct cj_strbuf *out)
{
	cj_strbuf_printf(out, "the barrier of the cluster of %u blocks",
	    (unsigned)f->machine->block->cluster->count);
}

static const struct cj_wait cluster_wait = { barrier_is_open,
    describe_barrier };

static bool
waits_here(const struct cj_frame *f)
{
	return f->state == CJ_STATE_WAITING && f->wait == &cluster_wait;
}

/* Blocks that have ended do not come: those who wait say so as they hang. */
bool
cj_cluster_open(struct cj_cluster *c)
{
	uint32_t i, w;

	for (i = 0; i < c->count; i++)
		if (!cj_block_waits(c->blocks[i], &cluster_wait))
			return false;
	cj_clock_meet_blocks(c->blocks, c->count, waits_here);
	for (i = 0; i < c->count; i++)
		for (w = 0; w < c->blocks[i]->warps; w++)
			if (c->blocks[i]->frames[w].now > c->done_at)
				c->done_at = c->blocks[i]->frames[w].now;
	c->turn++;
	return true;
}

static void
step_cluster_barrier(struct cj_frame *f, const struct cj_step *s)
{
	cj_barrier_wait(f, s, &cluster_wait,
	    f->machine->block->cluster->turn);
}

void
cj_interp_CLUSTER_BARRIER(struct cj_decoder *d, cj_ref r)
{
	cj_step_add(d, r, step_cluster_barrier);
}
