/*
 * Pipelines as the language means them: stages are waited for by themselves.
 *
 * Each warp counts the stages that it has filled, taken and given back. A warp
 * may fill position q when all warps have given back q - S, and read it when
 * all have filled it; until then it waits. Copies into a stage land when the
 * first warp reads it. A fill begins with nothing written but padding, so that
 * what a stage still holds of an earlier one cannot be read. That is all that
 * orders the accesses to stages: their memory is not looked at for races.
 */
#include "interp_priv.h"

enum { MOST_WARPS = 32 };

struct line {			/* of a pipeline */
	uint64_t begun;		/* positions that some warp fills or filled */
	struct {
		uint64_t produced, filled, consumed, freed;
		uint32_t depth;		/* of open consume blocks */
	} warp[MOST_WARPS];
};

struct cj_stages {
	uint32_t count;
	struct line *lines;	/* by pipeline */
};

struct cj_stages *
cj_stages_create(struct cj_arena *a, const struct cj_decoded *c)
{
	struct cj_stages *s;
	uint32_t i;

	for (i = 0; i < c->steps.len; i++)
		if (c->steps.at[i].op == CJ_OP_PRODUCE ||
		    c->steps.at[i].op == CJ_OP_CONSUME)
			break;
	if (i == c->steps.len)
		return NULL;
	s = CJ_NEW(a, struct cj_stages);
	s->count = c->module->pipelines.len;
	s->lines = CJ_NEWS(a, struct line, s->count);
	return s;
}

void
cj_stages_clear(struct cj_stages *s)
{
	memset(s->lines, 0, s->count * sizeof *s->lines);
}

static const struct cj_stage_use *
use_of(const struct cj_frame *f, const struct cj_step *s)
{
	return &f->code->module->stage_uses.at[cj_step_inst(f, s)->attr];
}

static const struct cj_pipeline *
pipeline_of(const struct cj_frame *f, const struct cj_step *s)
{
	return &f->code->module->pipelines.at[use_of(f, s)->pipeline];
}

static struct line *
line_of(const struct cj_frame *f, const struct cj_step *s)
{
	return &f->machine->stages->lines[use_of(f, s)->pipeline];
}

/* All threads of a warp fill and read together. */
static void
check_together(struct cj_frame *f, const struct cj_step *s)
{
	const uint8_t *left = cj_mask(f, f->code->unfinished);
	uint32_t lane;

	for (lane = 0; lane < f->lanes; lane++)
		if (left[lane] && !cj_lane_runs(f, lane))
			break;
	if (lane < f->lanes && f->machine->checks & CJ_CHECK_BARRIER)
		cj_fault_at(f, s, cj_first_lane(f),
		    CJ_DIAG_DIVERGENT_BARRIER, "this %s of \"%s\" is for all "
		    "threads" CJ_WHO ", but lane %u of the warp took another "
		    "way", cj_op_info[s->op].text, pipeline_of(f, s)->name,
		    (unsigned)lane);
}

static void
set_index(struct cj_frame *f, const struct cj_step *s, uint64_t position)
{
	int64_t *index = CJ_AT(f, int64_t, s->dst);
	uint32_t lane;

	for (lane = 0; lane < f->lanes; lane++)
		index[lane] = (int64_t)(position % pipeline_of(f, s)->stages);
}

static bool
is_empty(struct cj_frame *f)
{
	const struct cj_step *s = &f->code->steps.at[f->pc - 1];
	const struct line *l = line_of(f, s);
	uint64_t position = l->warp[f->warp].produced;
	uint32_t w;

	for (w = 0; w < f->machine->block->warps; w++)
		if (l->warp[w].freed + pipeline_of(f, s)->stages <= position)
			return false;
	return true;
}

static bool
is_full(struct cj_frame *f)
{
	const struct cj_step *s = &f->code->steps.at[f->pc - 1];
	const struct line *l = line_of(f, s);
	uint32_t w;

	for (w = 0; w < f->machine->block->warps; w++)
		if (l->warp[w].filled <= l->warp[f->warp].consumed)
			return false;
	return true;
}

static void
describe(const struct cj_frame *f, struct cj_strbuf *out)
{
	const struct cj_step *s = &f->code->steps.at[f->pc - 1];

	cj_strbuf_printf(out, s->op == CJ_OP_CONSUME ? "a stage of \"%s\" "
	    "that all warps have filled" : "a stage of \"%s\" that all warps "
	    "have given back", pipeline_of(f, s)->name);
}

static const struct cj_wait waits[] = { { is_empty, describe },
    { is_full, describe } };

static void
wait_for(struct cj_frame *f, const struct cj_step *s)
{
	check_together(f, s);
	f->wait = &waits[s->op == CJ_OP_CONSUME];
	if (!f->wait->may_go(f))
		f->state = CJ_STATE_WAITING;
}

/* ---- produce ------------------------------------------------------------- */

static void
forget_stage(struct cj_frame *f, const struct cj_pipeline *p, uint64_t stage)
{
	uint32_t i;

	for (i = 0; i < p->field_count; i++) {
		const struct cj_object *o =
		    &f->code->module->objects.at[p->fields[i]];
		struct cj_memory *m = &f->machine->memory[p->fields[i]];
		int64_t each = o->extent / p->stages;

		if (m->written != NULL)
			cj_memory_forget(m, (int64_t)stage * each, each);
	}
}

/* a: condition or none; c: the step behind the block. */
static void
step_wait_empty(struct cj_frame *f, const struct cj_step *s)
{
	if (s->a != CJ_NO_OFFSET && !cj_mask(f, s->a)[cj_first_lane(f)])
		f->pc = s->c;
	else
		wait_for(f, s);
}

/* dst: index. */
static void
step_produce(struct cj_frame *f, const struct cj_step *s)
{
	const struct cj_pipeline *p = pipeline_of(f, s);
	struct line *l = line_of(f, s);
	uint64_t position = l->warp[f->warp].produced;

	l->warp[f->warp].produced++;
	if (l->begun == position) {
		l->begun++;
		forget_stage(f, p, position % p->stages);
	}
	set_index(f, s, position);
}

static void
step_produced(struct cj_frame *f, const struct cj_step *s)
{
	if (!f->any)
		f->pc = s->target;
	else
		line_of(f, s)->warp[f->warp].filled++;
}

/* [wait] [enter] the region of an index that `enter` sets. */
static uint32_t
decode_stage(struct cj_decoder *d, cj_ref r, cj_step_fn *wait,
    cj_step_fn *enter)
{
	const struct cj_module *m = d->module;
	cj_region region = cj_inst(m, r)->region;
	uint32_t bytes = cj_value_bytes(cj_type_of(CJ_KIND_INDEX, 1),
	    d->code->lanes);
	uint32_t index = cj_decode_range(d, bytes), first;
	uint32_t condition = cj_inst(m, r)->operand_count == 0 ?
	    CJ_NO_OFFSET : cj_decode_operand(d, r, 0);

	d->code->offset[m->regions.at[region].first] = index;
	first = cj_decode_pc(d);
	cj_step_add(d, r, wait)->a = condition;
	cj_step_add(d, r, enter)->dst = index;
	cj_decode_region(d, region);
	cj_decode_release(d, index, bytes);
	return first;
}

void
cj_interp_PRODUCE(struct cj_decoder *d, cj_ref r)
{
	uint32_t first;

	if (d->module->stage_uses.at[cj_inst(d->module, r)->attr].count > 0)
		cj_bug(d->arena->recover, "\"ahead\" comes before running");
	first = decode_stage(d, r, step_wait_empty, step_produce);
	cj_decode_exit(d, cj_step_add(d, r, step_produced));
	cj_decode_at(d, first)->c = cj_decode_pc(d);
}

/* ---- consume ------------------------------------------------------------- */

static void
step_consume(struct cj_frame *f, const struct cj_step *s)
{
	struct line *l = line_of(f, s);
	uint64_t position = l->warp[f->warp].consumed;

	cj_async_land(f, use_of(f, s)->pipeline, position);
	if (!use_of(f, s)->keep) {
		l->warp[f->warp].consumed++;
		l->warp[f->warp].depth++;
	}
	set_index(f, s, position);
}

/* Stages go back in order: when the outermost block ends. */
static void
release(struct cj_frame *f, const struct cj_step *s)
{
	struct line *l = line_of(f, s);

	if (!use_of(f, s)->keep && --l->warp[f->warp].depth == 0)
		l->warp[f->warp].freed = l->warp[f->warp].consumed;
}

static void
step_consumed(struct cj_frame *f, const struct cj_step *s)
{
	if (!f->any)
		f->pc = s->target;
	else
		release(f, s);
}

void
cj_interp_CONSUME(struct cj_decoder *d, cj_ref r)
{
	struct cj_open open = { r, CJ_NO_OFFSET, CJ_NO_OFFSET, d->open };

	d->open = &open;
	decode_stage(d, r, wait_for, step_consume);
	d->open = open.around;
	cj_decode_exit(d, cj_step_add(d, r, step_consumed));
}

void
cj_decode_releases(struct cj_decoder *d, cj_ref target)
{
	const struct cj_open *o;

	for (o = d->open; o != NULL && o->owner != target; o = o->around)
		if (cj_inst(d->module, o->owner)->op == CJ_OP_CONSUME)
			cj_step_add(d, o->owner, release);
}

void
cj_interp_SETTLE(struct cj_decoder *d, cj_ref r)
{
	(void)d;
	(void)r;			/* a dropped produce has done nothing */
}

uint64_t
cj_stages_filling(const struct cj_frame *f, uint32_t pipeline)
{
	return f->machine->stages->lines[pipeline].warp[f->warp].produced - 1;
}

/* ---- what only lowered pipelines have ------------------------------------ */

#define LOWERED(name)							\
	void								\
	cj_interp_##name(struct cj_decoder *d, cj_ref r)		\
	{								\
		cj_bug(d->arena->recover, "%%%u \"%s\" runs lowered",	\
		    (unsigned)r, cj_op_info[CJ_OP_##name].text);	\
	}
LOWERED(SKIP)
LOWERED(TURN)

/* When a block ends, its stage goes back at the latest: it may here. */
void
cj_interp_RELEASE(struct cj_decoder *d, cj_ref r)
{
	(void)d;
	(void)r;
}

void
cj_interp_DRAIN(struct cj_decoder *d, cj_ref r)
{
	(void)d;
	(void)r;
}
