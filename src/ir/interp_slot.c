/*
 * Slots: registers that a thread keeps under a name.
 *
 * They begin as 0 each time their region is entered, so that a program which
 * reads one too early has the same wrong result every time. Of a bare one,
 * which the program gives no first value, each register of each lane has a
 * mark that says whether anybody has written it.
 */
#include "interp_priv.h"

/* ---- where they live ----------------------------------------------------- */

static void
step_clear(struct cj_frame *f, const struct cj_step *s)
{
	memset(CJ_AT(f, char, s->dst), 0, s->n);
}

static uint32_t
bytes_of(const struct cj_decoder *d, const struct cj_object *slot)
{
	return cj_value_bytes(cj_type_of(slot->element,
	    (uint32_t)slot->extent), d->code->lanes);
}

static uint32_t
marks_of(const struct cj_decoder *d, const struct cj_object *slot)
{
	return (uint32_t)slot->extent * d->code->lanes;
}

static void
add_marks(struct cj_decoder *d, uint32_t object)
{
	const struct cj_module *m = d->module;
	uint32_t *marks = d->code->marks, o;
	struct cj_step *s;

	if (marks == NULL) {
		marks = CJ_NEWS(d->arena, uint32_t, m->objects.len + 1);
		for (o = 0; o <= m->objects.len; o++)
			marks[o] = CJ_NO_OFFSET;
		d->code->marks = marks;
	}
	marks[object] = cj_decode_range(d, marks_of(d,
	    &m->objects.at[object]));
	s = cj_step_add(d, 0, step_clear);
	s->dst = marks[object];
	s->n = marks_of(d, &m->objects.at[object]);
}

void
cj_decode_open_slot(struct cj_decoder *d, uint32_t object)
{
	const struct cj_object *slot = &d->module->objects.at[object];
	uint32_t offset = cj_decode_slot(d, object);
	struct cj_step *s = cj_step_add(d, 0, step_clear);

	s->dst = offset;
	s->n = bytes_of(d, slot);
	if (slot->is_bare && d->code->lanes == CJ_LANES_WARP)
		add_marks(d, object);
}

void
cj_decode_close_slot(struct cj_decoder *d, uint32_t object)
{
	const struct cj_object *slot = &d->module->objects.at[object];

	cj_decode_release(d, d->code->slot[object], bytes_of(d, slot));
	if (d->code->marks != NULL && d->code->marks[object] != CJ_NO_OFFSET)
		cj_decode_release(d, d->code->marks[object], marks_of(d,
		    slot));
}

/* Where the registers that a slot gets come from. */
enum { MADE, HANDED_ON };

/* ---- what is written ----------------------------------------------------- */

static uint8_t *
marks_at(const struct cj_frame *f, const struct cj_access *a)
{
	const uint32_t *marks = f->code->marks;

	return marks == NULL || marks[a->object] == CJ_NO_OFFSET ? NULL :
	    cj_mask(f, marks[a->object]) + a->position * f->lanes;
}

void
cj_slot_writes(struct cj_frame *f, const struct cj_access *a,
    uint32_t registers)
{
	uint8_t *at = marks_at(f, a);
	uint32_t r, lane;

	for (r = 0; at != NULL && r < registers; r++)
		for (lane = 0; lane < f->lanes; lane++)
			at[r * f->lanes + lane] |= cj_lane_runs(f, lane);
}

/* What is only handed on to another slot is as written there as it was. */
static void
hand_on(struct cj_frame *f, const struct cj_access *from,
    const struct cj_access *to, uint32_t registers)
{
	const uint8_t *was = marks_at(f, from);
	uint8_t *is = marks_at(f, to);
	uint32_t i;

	for (i = 0; i < registers * f->lanes; i++)
		if (cj_lane_runs(f, i % f->lanes))
			is[i] = was[i];
}

static void
report(struct cj_frame *f, const struct cj_step *s,
    const struct cj_access *a, uint32_t lane, uint32_t i)
{
	const char *name = f->code->module->objects.at[a->object].name;
	struct cj_fault *fault;

	if (cj_fault_again(f, s, CJ_DIAG_NEVER_WRITTEN))
		return;
	fault = cj_fault_at(f, s, lane, CJ_DIAG_NEVER_WRITTEN, "register %u "
	    "of \"%s\" is read" CJ_WHO ", which nobody has written",
	    (unsigned)(a->position + i), name != NULL ? name : "var");
	if (fault != NULL)
		fault->note = s->op == CJ_OP_WGMMA ? "the first product says "
		    "accumulate = false, or the fragment begins with fill = 0"
		    : "the fragment begins with fill = 0, or is written before "
		    "it is read";
}

void
cj_slot_reads(struct cj_frame *f, const struct cj_step *s,
    const struct cj_access *a, uint32_t registers)
{
	const uint8_t *at = marks_at(f, a);
	uint32_t r, lane;

	if (!(f->machine->checks & CJ_CHECK_WRITTEN))
		return;
	for (r = 0; at != NULL && r < registers; r++)
		for (lane = 0; lane < f->lanes; lane++)
			if (!at[r * f->lanes + lane] &&
			    cj_lane_runs(f, lane)) {
				report(f, s, a, lane, r);
				return;
			}
}

/* ---- steps --------------------------------------------------------------- */

/* A slot's registers lie like a value's. */
static uint32_t
slot_at(struct cj_decoder *d, cj_ref r, cj_type t)
{
	const struct cj_access *a =
	    &d->module->accesses.at[cj_inst(d->module, r)->attr];
	const struct cj_object *o = &d->module->objects.at[a->object];

	assert(a->position + cj_type_count(t) <= (uint64_t)o->extent);
	return cj_decode_slot(d, a->object)
	    + a->position * cj_reg_bytes(o->element) * d->code->lanes;
}

static void
step_get(struct cj_frame *f, const struct cj_step *s)
{
	memcpy(f->regs + s->dst, f->regs + s->a, s->n);
}

static void
check_get(struct cj_frame *f, const struct cj_step *s)
{
	cj_slot_reads(f, s, cj_step_access(f, s), cj_type_count(
	    cj_step_inst(f, s)->type));
}

/* A slot gets registers: those of another one, or new ones. */
static void
mark_set(struct cj_frame *f, const struct cj_step *s)
{
	const struct cj_module *m = f->code->module;
	const struct cj_inst *i = cj_step_inst(f, s);

	if (s->from == HANDED_ON)
		hand_on(f, &m->accesses.at[cj_inst(m, cj_operand(m, i, 0))
		    ->attr], cj_step_access(f, s), s->n / f->lanes);
	else
		cj_slot_writes(f, cj_step_access(f, s), s->n / f->lanes);
}

/* Where products of warpgroups, or loads of tensor memory, may be in flight. */
static void
step_get_watched(struct cj_frame *f, const struct cj_step *s)
{
	cj_wgmma_meets(f, s, s->a, s->n, false);
	step_get(f, s);
}

static void
step_get_both(struct cj_frame *f, const struct cj_step *s)
{
	check_get(f, s);
	step_get_watched(f, s);
}

static void
step_set_watched(struct cj_frame *f, const struct cj_step *s)
{
	cj_wgmma_meets(f, s, s->dst, s->n * cj_reg_bytes(s->kind), true);
	cj_step_blend(f, s);
	if (f->code->marks != NULL)
		mark_set(f, s);
}

static void
step_get_bare(struct cj_frame *f, const struct cj_step *s)
{
	check_get(f, s);
	step_get(f, s);
}

static void
step_set_bare(struct cj_frame *f, const struct cj_step *s)
{
	cj_step_blend(f, s);
	mark_set(f, s);
}

static bool
is_bare(const struct cj_decoder *d, cj_ref r)
{
	return d->code->marks != NULL && d->code->marks[d->module->accesses.
	    at[cj_inst(d->module, r)->attr].object] != CJ_NO_OFFSET;
}

/* Is what a slot gets the registers of another one, which nobody else wants? */
static bool
is_handed_on(const struct cj_decoder *d, cj_ref get, cj_ref set)
{
	const struct cj_module *m = d->module;

	return set != 0 && cj_inst(m, get)->op == CJ_OP_SLOT_GET &&
	    cj_inst(m, get)->next == set && d->last_use[get] == set &&
	    cj_inst(m, set)->op == CJ_OP_SLOT_SET && is_bare(d, get) &&
	    is_bare(d, set);
}

static bool
watches_registers(const struct cj_module *m)
{
	return m->wgmmas.len > 1 || m->tmem_uses.len > 1;
}

void
cj_interp_SLOT_GET(struct cj_decoder *d, cj_ref r)
{
	cj_type t = cj_inst(d->module, r)->type;
	uint32_t from = slot_at(d, r, t);
	uint32_t to = cj_decode_result(d, r);
	/* what nobody uses is not there behind all passes */
	bool checks = is_bare(d, r) && d->last_use[r] != 0 &&
	    !is_handed_on(d, r, cj_inst(d->module, r)->next);
	struct cj_step *s = cj_step_add(d, r, watches_registers(d->module) ?
	    checks ? step_get_both : step_get_watched :
	    checks ? step_get_bare : step_get);

	s->a = from;
	s->dst = to;
	s->n = cj_value_bytes(t, d->code->lanes);
}

void
cj_interp_SLOT_SET(struct cj_decoder *d, cj_ref r)
{
	const struct cj_module *m = d->module;
	cj_type t = cj_inst(m, cj_operand(m, cj_inst(m, r), 0))->type;
	uint32_t to = slot_at(d, r, t);
	uint32_t from = cj_decode_operand(d, r, 0);
	struct cj_step *s;

	if (d->outer != NULL && d->outer->code->slot[m->accesses.at[
	    cj_inst(m, r)->attr].object] != CJ_NO_OFFSET)
		cj_bug(d->arena->recover, "a map assigns to a slot around it");
	s = cj_step_add(d, r, watches_registers(m) ? step_set_watched :
	    is_bare(d, r) ? step_set_bare : cj_step_blend);
	s->dst = to;
	s->a = from;
	s->kind = (uint8_t)cj_type_kind(t);
	if (is_handed_on(d, cj_operand(m, cj_inst(m, r), 0), r))
		s->from = HANDED_ON;
	s->n = cj_type_count(t) * d->code->lanes;
}
