/*
 * Copies of neighbours and registers sent to another block, as they are issued:
 * what they may touch is checked here, and interp_bulk.c has them in flight.
 */
#include "interp_tmem.h"

/* ---- copies of neighbours: a to, b from, lists[c] count, signal, rank ---- */

struct issue {
	struct cj_frame *f;
	const struct cj_step *s;
	const struct cj_bulk_copy *copy;
	uint32_t lane;
	int64_t to, from, count;
};

static int64_t
operand(const struct issue *i, unsigned n)
{
	return CJ_AT(i->f, int64_t, i->f->code->lists.at[i->s->c + n])
	    [i->lane];
}

static uint32_t
object_of(const struct issue *i, uint32_t access)
{
	return i->f->code->module->accesses.at[access].object;
}

static bool
is_whole(const struct issue *i, int64_t bytes, const char *what)
{
	if (bytes % 16 == 0 && i->count >= 0)
		return true;
	cj_fault_at(i->f, i->s, i->lane, CJ_DIAG_MISALIGNED_ACCESS,
	    "%s of a bulk copy is %lld bytes, which is not a multiple of 16",
	    what, (long long)bytes);
	return false;
}

static int64_t
bytes_of(const struct issue *i, uint32_t object, int64_t elements)
{
	return elements * (cj_kind_bits(
	    i->f->code->module->objects.at[object].element) / 8);
}

/* Shared memory begins at a multiple of 16 bytes, a tensor anywhere. */
static bool
begins_whole(const struct issue *i, uint32_t object, int64_t at,
    const char *what)
{
	uintptr_t slip = 0;

	if (i->f->code->module->objects.at[object].kind != CJ_OBJECT_SHARED)
		slip = (uintptr_t)i->f->machine->memory[object].data % 16;
	return is_whole(i, bytes_of(i, object, at) + (int64_t)slip, what);
}

/* Bounds, rights and races of neighbours that are no destination in shared
 * memory. */
static bool
other_may(const struct issue *i, uint32_t object, int64_t first, bool writes)
{
	struct cj_access access = { .object = object };
	struct cj_reach reach = { &access, first, (uint32_t)i->count };
	bool combines = writes && i->copy->reduces;

	if (!cj_reach_may(i->f, i->s, i->lane, reach, writes) || (combines &&
	    !cj_reach_may(i->f, i->s, i->lane, reach, false)))
		return false;
	cj_race_access(i->f, i->s, i->lane, (struct cj_touched_range){
	    .object = object, .first = first, .width = reach.width,
	    .is_write = writes, .is_atomic = combines, .is_async = true });
	return true;
}

static struct cj_bulk
bulk_of(const struct issue *i, enum cj_bulk_kind kind, uint32_t object,
    int64_t at, int64_t count)
{
	return (struct cj_bulk){ .kind = kind, .step = i->s, .frame = i->f,
	    .owner = i->f->machine, .lane = i->lane, .object = object,
	    .lo = at, .hi = at + count, .reduces = i->copy->reduces &&
	    kind != CJ_BULK_SOURCE, .how = i->copy->how };
}

static void
store(const struct issue *i)
{
	struct cj_bulk b = bulk_of(i, CJ_BULK_STORE, object_of(i,
	    i->copy->from), i->from, i->count);

	b.group = i->f->bulk_commits[i->lane];
	b.other = object_of(i, i->copy->to);
	b.from = i->to;
	if (cj_bulk_may(i->f, &b) && other_may(i, b.other, b.from, true))
		cj_bulk_issue(i->f, &b);
}

/* To one block, whose mbarrier is signalled. */
static void
load(const struct issue *i, struct cj_machine *owner, struct cj_bulk *source)
{
	struct cj_bulk b = bulk_of(i, CJ_BULK_LOAD, object_of(i, i->copy->to),
	    i->to, i->count);

	b.owner = owner;
	b.other = object_of(i, i->copy->from);
	b.from = i->from;
	b.signal = cj_mbarrier_of_copy(i->f, i->s, i->lane, owner,
	    object_of(i, i->copy->signal), operand(i, 1));
	if (b.signal == NULL || !cj_bulk_may(i->f, &b))
		return;
	b.past = cj_clock_publish(i->f);
	if (source != NULL)
		b.source = cj_bulk_issue(i->f, source);
	cj_bulk_issue(i->f, &b);
}

static void
send(const struct issue *i)
{
	struct cj_bulk source = bulk_of(i, CJ_BULK_SOURCE, object_of(i,
	    i->copy->from), i->from, i->count);
	struct cj_machine *owner = cj_cluster_machine(i->f, i->s, i->lane,
	    operand(i, 2));

	if (owner == i->f->machine) {
		cj_fault_at(i->f, i->s, i->lane, CJ_DIAG_OUT_OF_BOUNDS,
		    "a bulk copy goes to the shared memory of its own block, "
		    "not of another one");
		return;
	}
	if (owner != NULL && cj_bulk_may(i->f, &source))
		load(i, owner, &source);
}

/* Every block whose bit is set gets the same, at the same place. */
void
cj_bulk_spread(struct cj_frame *f, const struct cj_step *s, uint32_t lane,
    uint32_t ranks, void (*issue)(void *user, struct cj_machine *owner),
    void *user)
{
	int64_t rank;

	if (ranks == 0)
		cj_fault_at(f, s, lane, CJ_DIAG_OUT_OF_BOUNDS, "a copy by "
		    "multicast goes to no block: none of its bits is set");
	for (rank = 0; rank < 32; rank++) {
		struct cj_machine *owner;

		if (!(ranks >> rank & 1))
			continue;
		owner = cj_cluster_machine(f, s, lane, rank);
		if (owner != NULL)
			issue(user, owner);
	}
}

static void
load_to(void *user, struct cj_machine *owner)
{
	load(user, owner, NULL);
}

static void
copy_lane(const struct issue *i)
{
	const struct cj_inst *inst = cj_step_inst(i->f, i->s);
	const struct cj_module *m = i->f->code->module;
	uint32_t to = object_of(i, i->copy->to);
	uint32_t from = object_of(i, i->copy->from);
	struct issue copy = *i;

	if (!begins_whole(i, to, i->to, "the destination") ||
	    !begins_whole(i, from, i->from, "the source") ||
	    !is_whole(i, bytes_of(i, to, i->count), "the size") ||
	    i->count == 0)
		return;
	if (m->objects.at[to].kind != CJ_OBJECT_SHARED) {
		store(i);
		return;
	}
	if (m->objects.at[from].kind == CJ_OBJECT_SHARED) {
		send(i);
		return;
	}
	if (!other_may(i, from, i->from, false))
		return;
	if (inst->operand_count > 4)
		cj_bulk_spread(i->f, i->s, i->lane, CJ_AT(i->f, uint32_t,
		    i->f->code->lists.at[i->s->c + 2])[i->lane], load_to,
		    &copy);
	else
		load(i, i->f->machine, NULL);
}

static void
step_copy(struct cj_frame *f, const struct cj_step *s)
{
	struct issue i = { .f = f, .s = s, .copy =
	    &f->code->module->bulks.at[cj_step_inst(f, s)->attr] };

	for (i.lane = 0; i.lane < f->lanes; i.lane++) {
		if (!cj_lane_runs(f, i.lane))
			continue;
		i.to = CJ_AT(f, int64_t, s->a)[i.lane];
		i.from = CJ_AT(f, int64_t, s->b)[i.lane];
		i.count = operand(&i, 0);
		copy_lane(&i);
	}
}

void
cj_interp_BULK_COPY(struct cj_decoder *d, cj_ref r)
{
	uint32_t list = cj_decode_list(d, r, 2);
	struct cj_step *s = cj_step_add(d, r, step_copy);

	s->a = cj_decode_operand(d, r, 0);
	s->b = cj_decode_operand(d, r, 1);
	s->c = list;
}

/* ---- registers: a to, lists[c] rank, -, signal; b value, of n registers -- */

static const uint64_t *
hold(const struct issue *i)
{
	struct cj_frame *f = i->f;
	enum cj_kind k = (enum cj_kind)i->s->kind;
	uint64_t *held = CJ_NEWS(f->machine->arena, uint64_t, i->s->n);
	uint32_t n;

	for (n = 0; n < i->s->n; n++)
		held[n] = cj_reg_get(f->regs + i->s->b, n * f->lanes +
		    i->lane, k);
	return held;
}

static void
send_lane(const struct issue *i)
{
	struct cj_bulk b = bulk_of(i, CJ_BULK_LOAD, object_of(i, i->copy->to),
	    i->to, i->count);
	int64_t bytes = bytes_of(i, b.object, 1);

	b.owner = cj_cluster_machine(i->f, i->s, i->lane, operand(i, 0));
	if (b.owner == NULL)
		return;
	if (i->to * bytes % (i->count * bytes) != 0) {
		cj_fault_at(i->f, i->s, i->lane, CJ_DIAG_MISALIGNED_ACCESS,
		    "%lld bytes are sent to byte %lld of \"%s\"",
		    (long long)(i->count * bytes), (long long)(i->to * bytes),
		    i->f->code->module->objects.at[b.object].name);
		return;
	}
	b.signal = cj_mbarrier_of_copy(i->f, i->s, i->lane, b.owner,
	    object_of(i, i->copy->signal), operand(i, 2));
	if (b.signal == NULL || !cj_bulk_may(i->f, &b))
		return;
	b.past = cj_clock_publish(i->f);
	b.held = hold(i);
	cj_bulk_issue(i->f, &b);
}

static void
step_send(struct cj_frame *f, const struct cj_step *s)
{
	struct issue i = { .f = f, .s = s, .count = s->n, .copy =
	    &f->code->module->bulks.at[cj_step_inst(f, s)->attr] };

	for (i.lane = 0; i.lane < f->lanes; i.lane++) {
		if (!cj_lane_runs(f, i.lane))
			continue;
		i.to = CJ_AT(f, int64_t, s->a)[i.lane];
		send_lane(&i);
	}
}

void
cj_interp_SEND(struct cj_decoder *d, cj_ref r)
{
	cj_type type = cj_inst(d->module, cj_operand(d->module, cj_inst(
	    d->module, r), 2))->type;
	uint32_t list = cj_decode_list(d, r, 1);
	struct cj_step *s = cj_step_add(d, r, step_send);

	s->a = cj_decode_operand(d, r, 0);
	s->b = cj_decode_operand(d, r, 2);
	s->c = list;
	s->n = cj_type_count(type);
	s->kind = (uint8_t)cj_type_kind(type);
}
