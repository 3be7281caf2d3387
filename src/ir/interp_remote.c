/*
 * Memory of another block of the cluster: loads, stores and atomic operations,
 * lane by lane.
 */
#include "interp_vectors.h"

/* The view as lane `lane` has it; false: there is no such block. */
static bool
find_block(struct cj_frame *f, const struct cj_step *s, int64_t rank,
    uint32_t lane, struct cj_vectors *v)
{
	const struct cj_cluster *c = f->machine->block->cluster;

	if (rank < 0 || rank >= c->count) {
		cj_fault_at(f, s, lane, CJ_DIAG_OUT_OF_BOUNDS, "\"%s\" of "
		    "block %lld is touched, in a cluster of %u",
		    cj_vectors_name(f, v), (long long)rank, (unsigned)c->count);
		return false;
	}
	v->block = c->blocks[rank];
	v->memory = &v->block->machine.memory[v->number];
	return true;
}

static void
watch_of(struct cj_frame *f, const struct cj_step *s,
    const struct cj_vectors *v, uint32_t lane)
{
	struct cj_touched_range t = cj_vectors_touched(f, s, v, lane);

	t.is_write = s->op == CJ_OP_REMOTE_STORE;
	cj_race_access_of(v->block, f, s, lane, t);
}

/* a: offset, b: rank. */
static void
step_remote_load(struct cj_frame *f, const struct cj_step *s)
{
	struct cj_vectors v = cj_vectors_of(f, s, CJ_NO_OFFSET);
	const int64_t *rank = CJ_AT(f, int64_t, s->b);
	uint32_t lane;

	for (lane = 0; lane < f->lanes; lane++) {
		if (!cj_lane_runs(f, lane))
			continue;
		if (!find_block(f, s, rank[lane], lane, &v) ||
		    !cj_vectors_may_read(f, s, &v, lane)) {
			cj_vectors_fill(f, s, CJ_NO_OFFSET, lane);
			continue;
		}
		cj_vectors_check_written(f, s, &v, lane);
		watch_of(f, s, &v, lane);
		cj_vectors_fetch(f, s, &v, lane);
	}
}

void
cj_interp_REMOTE_LOAD(struct cj_decoder *d, cj_ref r)
{
	cj_step_value(d, r, step_remote_load);
}

/* a: offset, b: value, c: rank. */
static void
step_remote_store(struct cj_frame *f, const struct cj_step *s)
{
	struct cj_vectors v = cj_vectors_of(f, s, CJ_NO_OFFSET);
	const int64_t *rank = CJ_AT(f, int64_t, s->c);
	uint32_t lane;

	for (lane = 0; lane < f->lanes; lane++) {
		if (!cj_lane_runs(f, lane) ||
		    !find_block(f, s, rank[lane], lane, &v) ||
		    !cj_vectors_may_write(f, s, &v, lane))
			continue;
		watch_of(f, s, &v, lane);
		cj_vectors_deposit(f, s, &v, lane);
	}
}

void
cj_interp_REMOTE_STORE(struct cj_decoder *d, cj_ref r)
{
	struct cj_step *s = cj_step_value(d, r, step_remote_store);
	uint32_t rank = s->b;

	s->b = s->c;
	s->c = rank;
	cj_decode_stored(d, s, r, 2);
}

/* a: offset, b: value, c: expected, target: rank. */
static void
step_remote_atomic(struct cj_frame *f, const struct cj_step *s)
{
	struct cj_vectors v = cj_vectors_of(f, s, CJ_NO_OFFSET);
	const int64_t *rank = CJ_AT(f, int64_t, s->target);
	const struct cj_past *published = NULL;
	uint32_t lane;

	for (lane = 0; lane < f->lanes; lane++) {
		if (!cj_lane_runs(f, lane) ||
		    !find_block(f, s, rank[lane], lane, &v) ||
		    !cj_vectors_may_read(f, s, &v, lane) ||
		    !cj_vectors_may_write(f, s, &v, lane))
			continue;
		cj_vectors_check_written(f, s, &v, lane);
		watch_of(f, s, &v, lane);
		cj_vectors_update(f, s, &v, lane, &published);
	}
}

void
cj_interp_REMOTE_ATOMIC(struct cj_decoder *d, cj_ref r)
{
	const struct cj_inst *i = cj_inst(d->module, r);
	bool cas = i->operand_count == 4;
	uint32_t expected = cas ? cj_decode_operand(d, r, 3) : CJ_NO_OFFSET;
	struct cj_step *s = cj_step_value(d, r, step_remote_atomic);

	s->target = s->b;
	s->b = s->c;
	s->c = expected;
	s->n = cj_type_count(i->type) * d->code->lanes;
	s->kind = (uint8_t)cj_type_kind(i->type);
}
