/*
 * The executor's operations over all lanes of a warp that take part: what
 * another lane holds, what they hold reduced, and who holds the same.
 */
#include "interp_priv.h"

/* The lane that `lane` takes from; its own where the distance leads out. */
static uint32_t
source_lane(enum cj_shfl how, uint32_t lane, int64_t by)
{
	int64_t from = lane;

	switch (how) {
	case CJ_SHFL_IDX:
		return (uint32_t)by & (CJ_LANES_WARP - 1);
	case CJ_SHFL_UP:
		from = by >= 0 && by <= lane ? (int64_t)lane - by : lane;
		break;
	case CJ_SHFL_DOWN:
		from = by >= 0 && by < CJ_LANES_WARP - (int64_t)lane
		    ? (int64_t)lane + by : lane;
		break;
	case CJ_SHFL_XOR:
		return (lane ^ (uint32_t)by) & (CJ_LANES_WARP - 1);
	}
	return (uint32_t)from;
}

/* a: value, b: lane or distance. */
static void
step_shfl(struct cj_frame *f, const struct cj_step *s)
{
	enum cj_shfl how = cj_step_inst(f, s)->attr;
	const int64_t *by = CJ_AT(f, int64_t, s->b);
	uint32_t bytes = cj_reg_bytes(s->kind), lane, i;

	for (lane = 0; lane < f->lanes; lane++) {
		uint32_t from = source_lane(how, lane, by[lane]);

		if (!cj_lane_runs(f, lane))
			continue;
		if (!cj_lane_runs(f, from))
			cj_fault_at(f, s, lane, CJ_DIAG_MISSING_LANE,
			    "lane %u takes a value from lane %u, which does "
			    "not take part", (unsigned)lane, (unsigned)from);
		for (i = 0; i < s->n; i += f->lanes)
			memcpy(f->regs + s->dst + (size_t)(i + lane) * bytes,
			    f->regs + s->a + (size_t)(i + from) * bytes,
			    bytes);
	}
}

void
cj_interp_SHFL(struct cj_decoder *d, cj_ref r)
{
	cj_step_value(d, r, step_shfl);
}

static void
step_ballot(struct cj_frame *f, const struct cj_step *s)
{
	const uint8_t *condition = cj_mask(f, s->a);
	uint32_t *out = CJ_AT(f, uint32_t, s->dst), bits = 0, lane;

	for (lane = 0; lane < f->lanes; lane++)
		if (cj_lane_runs(f, lane) && condition[lane])
			bits |= (uint32_t)1 << lane;
	for (lane = 0; lane < f->lanes; lane++)
		out[lane] = bits;
}

void
cj_interp_BALLOT(struct cj_decoder *d, cj_ref r)
{
	cj_step_value(d, r, step_ballot);
}

static uint32_t
reduced(enum cj_atomic op, bool is_signed, uint32_t a, uint32_t b)
{
	bool less = is_signed ? (int32_t)a < (int32_t)b : a < b;

	switch (op) {
	case CJ_ATOMIC_ADD:
		return a + b;
	case CJ_ATOMIC_MIN:
		return less ? a : b;
	case CJ_ATOMIC_MAX:
		return less ? b : a;
	case CJ_ATOMIC_AND:
		return a & b;
	case CJ_ATOMIC_OR:
		return a | b;
	case CJ_ATOMIC_XOR:
		return a ^ b;
	case CJ_ATOMIC_INC:
	case CJ_ATOMIC_DEC:
	case CJ_ATOMIC_EXCH:
	case CJ_ATOMIC_CAS:
	case CJ_ATOMIC_COUNT:
		break;
	}
	assert(false && "the verifier let an operation of memory through");
	return 0;
}

static void
step_redux(struct cj_frame *f, const struct cj_step *s)
{
	enum cj_atomic op = cj_step_inst(f, s)->attr;
	const uint32_t *in = CJ_AT(f, uint32_t, s->a);
	uint32_t *out = CJ_AT(f, uint32_t, s->dst), all = 0, lane;
	bool is_first = true;

	assert(s->kind == CJ_KIND_I32 || s->kind == CJ_KIND_U32);
	for (lane = 0; lane < f->lanes; lane++) {
		if (!cj_lane_runs(f, lane))
			continue;
		all = is_first ? in[lane] : reduced(op,
		    s->kind == CJ_KIND_I32, all, in[lane]);
		is_first = false;
	}
	for (lane = 0; lane < f->lanes; lane++)
		out[lane] = all;
}

void
cj_interp_REDUX(struct cj_decoder *d, cj_ref r)
{
	cj_step_value(d, r, step_redux);
}

/* The bits of a lane's value. */
static uint64_t
bits_of(const struct cj_frame *f, const struct cj_step *s, unsigned bytes,
    uint32_t lane)
{
	uint64_t bits = 0;

	assert(bytes <= sizeof bits);
	memcpy(&bits, f->regs + s->a + (size_t)lane * bytes, bytes);
	return bits;
}

static void
match(struct cj_frame *f, const struct cj_step *s, unsigned bytes)
{
	uint32_t *out = CJ_AT(f, uint32_t, s->dst), lane, other;

	for (lane = 0; lane < f->lanes; lane++) {
		uint32_t same = 0;

		if (!cj_lane_runs(f, lane))
			continue;
		for (other = 0; other < f->lanes; other++)
			if (cj_lane_runs(f, other) && bits_of(f, s, bytes,
			    lane) == bits_of(f, s, bytes, other))
				same |= (uint32_t)1 << other;
		out[lane] = same;
	}
}

static void
step_match_32(struct cj_frame *f, const struct cj_step *s)
{
	match(f, s, 4);
}

static void
step_match_64(struct cj_frame *f, const struct cj_step *s)
{
	match(f, s, 8);
}

void
cj_interp_MATCH(struct cj_decoder *d, cj_ref r)
{
	cj_type t = cj_inst(d->module, cj_operand(d->module,
	    cj_inst(d->module, r), 0))->type;

	cj_step_value(d, r, cj_kind_bits(cj_type_kind(t)) == 64 ?
	    step_match_64 : step_match_32);
}

void
cj_warp_needed(struct cj_frame *f, const struct cj_step *s)
{
	uint32_t lane = 0;

	if (f->full)
		return;
	while (lane + 1 < f->lanes && cj_lane_runs(f, lane))
		lane++;
	cj_fault_at(f, s, cj_first_lane(f), CJ_DIAG_MISSING_LANE,
	    "%s needs all lanes of the warp, and lane %u does not take part",
	    cj_op_info[s->op].text, (unsigned)lane);
}
