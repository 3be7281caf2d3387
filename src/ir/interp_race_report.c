/*
 * What is said of races: who, where, and the other side.
 */
#include "interp_race.h"

/* A thread, or a warp where it is some of its lanes. */
static const char *
thread_text(const struct cj_act *a, cj_doer other)
{
	const struct cj_block *b = a->f->machine->block;
	uint32_t t = cj_doer_warp(other) * CJ_LANES_WARP + cj_doer_lane(other);

	if (cj_doer_form(other) != CJ_DOER_LANE)
		return cj_printf(a->f->machine->arena, "warp %u",
		    (unsigned)cj_doer_warp(other));
	return cj_printf(a->f->machine->arena, "thread (%lld, %lld, %lld)",
	    (long long)b->thread[0][t], (long long)b->thread[1][t],
	    (long long)b->thread[2][t]);
}

static const char *
who_text(const struct cj_act *a, cj_doer other)
{
	const struct cj_kernel_launch *l = a->f->machine->block->launch;
	uint64_t number = cj_doer_block(other);

	return cj_printf(a->f->machine->arena,
	    "block (%lld, %lld, %lld) %s",
	    (long long)(number % (uint64_t)l->grid[0]),
	    (long long)(number / (uint64_t)l->grid[0]
	    % (uint64_t)l->grid[1]),
	    (long long)(number / (uint64_t)l->grid[0]
	    / (uint64_t)l->grid[1]), thread_text(a, other));
}

static const char *const verbs[CJ_DOER_KINDS] = { "written", "read", "changed",
    "read" };

static const char *
name_of(const struct cj_act *a)
{
	const char *name =
	    a->f->code->module->objects.at[a->object].name;

	return name == NULL ? "memory" : name;
}

static void
report_lanes(const struct cj_act *a, cj_doer other)
{
	cj_fault_at(a->f, a->s, cj_doer_lane(other), CJ_DIAG_RACE, "\"%s\" is "
	    "written at %s by lanes %u and %u at once", name_of(a),
	    cj_where(a->f, a->object, a->element),
	    (unsigned)cj_doer_lane(other), (unsigned)a->lane);
}

/* What a copy writes or a product reads is touched without a wait for its
 * end. */
static void
report_unit(const struct cj_act *a, cj_doer other, cj_ref ref)
{
	static const struct { const char *what, *note; } units[] = {
		[CJ_UNIT_LOAD] = { "copy writes", "it is issued here; nothing "
		    "orders that access behind a wait for its mbarrier" },
		[CJ_UNIT_STORE] = { "copy writes", "it is issued here; "
		    "nothing orders that access behind a bulk_wait() of its "
		    "thread" },
		[CJ_UNIT_PRODUCT] = { "product reads", "it is issued here; "
		    "nothing orders that access behind a wait for the "
		    "mbarrier of its tcgen05_commit()" },
	};
	unsigned unit = (unsigned)(cj_doer_block(other) / a->run->blocks) - 1;
	struct cj_fault *fault;

	if (cj_fault_again(a->f, a->s, CJ_DIAG_IN_FLIGHT))
		return;
	fault = cj_fault_at(a->f, a->s, a->lane, CJ_DIAG_IN_FLIGHT,
	    "\"%s\" is %s at %s" CJ_WHO ", which a %s", name_of(a),
	    verbs[a->kind], cj_where(a->f, a->object, a->element),
	    units[unit].what);
	if (fault == NULL)
		return;
	fault->other = ref;
	fault->note = units[unit].note;
}

void
cj_race_report(const struct cj_act *a, cj_doer other, cj_ref ref,
    enum cj_doer_kind kind)
{
	struct cj_fault *fault;

	if (cj_doer_is_of_unit(a, other)) {
		report_unit(a, other, ref);
		return;
	}
	if (cj_fault_again(a->f, a->s, CJ_DIAG_RACE))
		return;
	if (ref == a->s->ref && ((other ^ a->me) & CJ_DOER_WARP_BITS) == 0
	    && kind == CJ_DOER_WRITE && a->kind == CJ_DOER_WRITE) {
		report_lanes(a, other);
		return;
	}
	fault = cj_fault_at(a->f, a->s, a->lane,
	    CJ_DIAG_RACE, "\"%s\" is %s at %s" CJ_WHO
	    " and %s by %s, and nothing orders them", name_of(a),
	    verbs[a->kind], cj_where(a->f, a->object, a->element),
	    verbs[kind], who_text(a, other));
	if (fault == NULL)
		return;
	fault->other = ref;
	fault->note = "the other side is here";
}

void
cj_race_report_unfenced(const struct cj_act *a, cj_doer other, cj_ref ref,
    enum cj_doer_kind kind)
{
	struct cj_fault *fault;

	if (cj_fault_again(a->f, a->s, CJ_DIAG_IN_FLIGHT))
		return;
	fault = cj_fault_at(a->f, a->s, a->lane, CJ_DIAG_IN_FLIGHT,
	    "%s \"%s\" at %s" CJ_WHO ", which %s has %s with no "
	    "fence(proxy = .async) between", a->kind != CJ_DOER_VIEW ?
	    "a copy overwrites" : a->s->op == CJ_OP_WGMMA ||
	    a->s->op == CJ_OP_TCGEN05_MMA ? "a product reads" :
	    "a copy reads", name_of(a), cj_where(a->f, a->object, a->element),
	    cj_doer_block(other) == a->f->machine->block->number ?
	    thread_text(a, other) : who_text(a, other), verbs[kind]);
	if (fault == NULL)
		return;
	fault->other = ref;
	fault->note = kind == CJ_DOER_WRITE ? "it is stored here" :
	    kind == CJ_DOER_READ ? "it is read here" : "it is changed here";
}

void
cj_race_report_scope(const struct cj_act *a, cj_doer other, cj_ref ref)
{
	struct cj_fault *fault;

	fault = cj_fault_at(a->f, a->s, a->lane, CJ_DIAG_RACE,
	    "\"%s\" is changed at %s" CJ_WHO " and by %s, which the scope "
	    "of one of the atomics does not reach", name_of(a),
	    cj_where(a->f, a->object, a->element), who_text(a, other));
	if (fault == NULL)
		return;
	fault->other = ref;
	fault->note = "the other side is here";
}
