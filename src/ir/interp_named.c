/*
 * Barriers 1 to 15 of a block, where as many threads meet as they say, and
 * the meeting of a warp's lanes.
 *
 * The hardware counts warps: each brings 32 threads. Who arrives goes on; who
 * waits learns of all that came before it did.
 */
#include "interp_priv.h"

static bool
named_is_open(struct cj_frame *f)
{
	const struct cj_barrier *b =
	    &f->machine->block->barrier[f->wait_at];

	if (b->turn == f->wait_turn)
		return false;
	cj_clock_join(f, b->done);
	cj_timeline_wait(f, &f->code->steps.at[f->pc - 1], b->done_at);
	return true;
}

static void
describe_named(const struct cj_frame *f, struct cj_strbuf *out)
{
	const struct cj_barrier *b = &f->machine->block->barrier[f->wait_at];

	cj_strbuf_printf(out, "named barrier %u, where %u of %u threads have "
	    "come", (unsigned)f->wait_at, (unsigned)b->arrived,
	    (unsigned)b->expected);
}

static const struct cj_wait named_wait = { named_is_open, describe_named };

/* a: number, b: threads; false: reported, and nobody comes. */
static bool
operands_fit(struct cj_frame *f, const struct cj_step *s, uint32_t lane)
{
	int64_t number = CJ_AT(f, int64_t, s->a)[lane];
	int64_t threads = CJ_AT(f, int64_t, s->b)[lane];

	if (number < 1 || number >= CJ_BARRIERS) {
		cj_fault_at(f, s, lane, CJ_DIAG_DIVERGENT_BARRIER,
		    "there is no named barrier %lld: they have the numbers "
		    "1 to %d", (long long)number, CJ_BARRIERS - 1);
		return false;
	}
	if (threads >= CJ_LANES_WARP && threads % CJ_LANES_WARP == 0)
		return true;
	cj_fault_at(f, s, lane, CJ_DIAG_DIVERGENT_BARRIER,
	    "%lld threads are to meet at named barrier %lld, which counts "
	    "whole warps", (long long)threads, (long long)number);
	return false;
}

static void
check_expected(struct cj_frame *f, const struct cj_step *s,
    const struct cj_barrier *b, int64_t threads)
{
	struct cj_fault *fault;

	if (b->arrived == 0 || b->expected == threads)
		return;
	fault = cj_fault_at(f, s, cj_first_lane(f), CJ_DIAG_DIVERGENT_BARRIER,
	    "%lld threads are to meet here" CJ_WHO ", %u where another warp "
	    "came to this barrier", (long long)threads,
	    (unsigned)b->expected);
	if (fault != NULL) {
		fault->other = b->first;
		fault->note = "the other warp came here";
	}
}

/* Who comes for the next round knows that the last one has ended, or may count
 * in it in another order of warps. */
static void
check_round(struct cj_frame *f, const struct cj_step *s,
    const struct cj_barrier *b)
{
	struct cj_fault *fault;

	if (cj_clock_is_behind(f, b->done))
		return;
	fault = cj_fault_at(f, s, cj_first_lane(f), CJ_DIAG_DIVERGENT_BARRIER,
	    "a warp comes to named barrier %u" CJ_WHO " with nothing that "
	    "orders it behind the barrier's last round, in which it may "
	    "count as well", (unsigned)f->wait_at);
	if (fault != NULL) {
		fault->other = b->last;
		fault->note = "the last round ended here";
	}
}

static void
step_named(struct cj_frame *f, const struct cj_step *s)
{
	uint32_t lane = cj_first_lane(f);
	const struct cj_past *past;
	struct cj_barrier *b;

	cj_warp_needed(f, s);
	if (!operands_fit(f, s, lane))
		return;
	f->wait_at = (uint32_t)CJ_AT(f, int64_t, s->a)[lane];
	b = &f->machine->block->barrier[f->wait_at];
	check_expected(f, s, b, CJ_AT(f, int64_t, s->b)[lane]);
	if (b->arrived == 0) {
		b->expected = (uint32_t)CJ_AT(f, int64_t, s->b)[lane];
		b->first = s->ref;
	}
	check_round(f, s, b);
	past = cj_clock_publish(f);
	cj_clock_meet_lanes(f);
	if (past != NULL)
		b->coming = cj_past_join(f, b->coming, past);
	if (f->now > b->coming_at)
		b->coming_at = f->now;
	f->wait_turn = b->turn;
	b->arrived += CJ_LANES_WARP;
	if (b->arrived >= b->expected) {
		b->turn++;
		b->arrived = 0;
		b->done = b->coming;
		b->last = s->ref;
		b->coming = NULL;
		b->done_at = b->coming_at;
		b->coming_at = 0;
	}
	if (s->op == CJ_OP_NAMED_ARRIVE || named_is_open(f))
		return;
	f->state = CJ_STATE_WAITING;
	f->wait = &named_wait;
}

void
cj_interp_NAMED_BARRIER(struct cj_decoder *d, cj_ref r)
{
	cj_step_value(d, r, step_named);
}

void
cj_interp_NAMED_ARRIVE(struct cj_decoder *d, cj_ref r)
{
	cj_step_value(d, r, step_named);
}

static void
step_sync_warp(struct cj_frame *f, const struct cj_step *s)
{
	cj_warp_needed(f, s);
	cj_clock_meet_lanes(f);
}

void
cj_interp_SYNC_WARP(struct cj_decoder *d, cj_ref r)
{
	cj_step_add(d, r, step_sync_warp);
}
