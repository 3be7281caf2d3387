/*
 * The executor as a device: plans on host memory.
 *
 * Objects get the memory of the arguments' views, exactly as far as the view
 * reaches, so that whatever leaves it is found. Several orders of warps are
 * tried if asked (schedules.c).
 */
#include <stdlib.h>

#include "base/room.h"
#include "device.h"
#include "program.h"
#include "schedules.h"

struct cpu_run {
	struct cj_work *work;
	struct cj_program *program;
	const struct cj_module *ir;
	const struct cj_arguments *args;
	struct cj_memory *memory;	/* by object */
	char *workspace, *next;
};

static void
bind_tensor(struct cpu_run *c, const struct cj_object *o,
    struct cj_memory *out)
{
	const struct cj_actual *a = &c->args->actuals[o->parameter];
	const struct cj_view *v;

	if (!a->present || o->member >= a->count)
		return;
	v = &c->args->views[o->parameter][o->member];
	out->data = v->data;
	out->lo = v->lo;
	out->hi = v->hi;
	out->readable = o->reads;
	out->writable = o->writes;
	out->extents = v->extents;
	out->strides = v->strides;
	out->rank = v->rank;
	if (v->memory != NULL && v->memory->written != NULL)
		out->written = v->memory->written
		    + (v->lo + v->origin - v->memory->lo);
}

static void
bind_arguments(struct cpu_run *c)
{
	uint32_t i;

	for (i = 1; i < c->ir->objects.len; i++)
		if (c->ir->objects.at[i].kind == CJ_OBJECT_TENSOR)
			bind_tensor(c, &c->ir->objects.at[i], &c->memory[i]);
}

static void
fill_elements(char *data, enum cj_kind k, int64_t elements, uint64_t bits)
{
	unsigned width = k == CJ_KIND_BOOL ? 8 : cj_kind_bits(k);
	unsigned char *at = (unsigned char *)data;
	int64_t i;

	for (i = 0; i < elements && width >= 8; i++)
		memcpy(at + i * (int64_t)(width / 8), &bits, width / 8);
	/* packed from bit 0 up; the memory was zero */
	for (i = 0; i < elements * (int64_t)width && width < 8; i++)
		at[i / 8] |= (unsigned char)((bits >> i % (int64_t)width & 1)
		    << i % 8);
}

/* A workspace without a fill is memory that was never written. */
static void
bind_workspace(struct cpu_run *c, const struct cj_plan_step *s)
{
	const struct cj_object *o = &c->ir->objects.at[s->object];
	struct cj_memory *m = &c->memory[s->object];
	size_t bytes = cj_workspace_bytes(c->ir, s);

	m->data = c->next;
	if (bytes != 0) {
		memset(m->data, 0, bytes);
		c->next += bytes;
	}
	m->lo = 0;
	m->hi = s->elements;
	m->readable = m->writable = true;
	m->written = NULL;
	if (s->has_fill)
		fill_elements(m->data, o->element, s->elements, s->fill);
	else
		m->written = cj_alloc(&c->work->arena, (size_t)s->elements);
}

/* The element that is not as the workspace was filled; -1: there is none. */
static int64_t
not_as_filled(const struct cpu_run *c, const struct cj_plan_step *s)
{
	unsigned width = cj_kind_bits(c->ir->objects.at[s->object].element);
	const char *at = c->memory[s->object].data;
	int64_t i;

	width = width < 8 ? 8 : width;
	for (i = 0; i < s->elements; i++)
		if (memcmp(at + i * (int64_t)(width / 8), &s->fill,
		    width / 8) != 0)
			return i;
	return -1;
}

/* What runs restore is as it was filled, or a message says where it is not. */
static bool
all_restored(struct cpu_run *c, const struct cj_plan *p)
{
	uint32_t i;

	for (i = 0; i < p->steps.len; i++) {
		const struct cj_plan_step *s = &p->steps.at[i];
		const struct cj_object *o = &c->ir->objects.at[s->object];
		int64_t at = -1;

		if (s->kind == CJ_STEP_WORKSPACE && o->restored)
			at = not_as_filled(c, s);
		if (at < 0)
			continue;
		cj_report(&c->work->diags, CJ_DIAG_NOT_RESTORED,
		    c->ir->places.at[o->place].span, "this workspace is "
		    "restored, and behind the run its element %lld is not "
		    "what it was filled with", (long long)at);
		return false;
	}
	return true;
}

static void
fill_argument(struct cpu_run *c, const struct cj_plan_step *s)
{
	const struct cj_object *o = &c->ir->objects.at[s->object];
	const struct cj_memory *m = &c->memory[s->object];
	size_t width = o->element == CJ_KIND_BOOL ? 1 :
	    cj_kind_bits(o->element) / 8;
	int64_t last = s->offset + (s->elements - 1) * s->stride, i;

	assert(s->offset >= m->lo && last < m->hi && "the plan has looked");
	for (i = s->offset; i <= last; i += s->stride) {
		memcpy((char *)m->data + i * (int64_t)width, &s->fill, width);
		if (m->written != NULL)
			m->written[i - m->lo] = 1;
	}
}

static bool
is_empty(const struct cj_plan_step *s)
{
	return s->grid[0] <= 0 || s->grid[1] <= 0 || s->grid[2] <= 0;
}

static cutejit_status
run_steps(struct cpu_run *c, const struct cj_plan *p,
    struct cj_run_options *o)
{
	struct cj_outcome outcome;
	uint64_t faults = 0;
	uint32_t i;

	c->next = c->workspace;
	for (i = 0; i < p->steps.len; i++) {
		const struct cj_plan_step *s = &p->steps.at[i];
		struct cj_kernel_launch k = { .function = s->function };

		if (s->kind == CJ_STEP_WORKSPACE)
			bind_workspace(c, s);
		if (s->kind == CJ_STEP_FILL)
			fill_argument(c, s);
		if (s->kind != CJ_STEP_LAUNCH || is_empty(s))
			continue;
		memcpy(k.grid, s->grid, sizeof k.grid);
		memcpy(k.block, s->block, sizeof k.block);
		memcpy(k.cluster, s->cluster, sizeof k.cluster);
		k.memory = c->memory;
		k.values = s->values;
		memset(&outcome, 0, sizeof outcome);
		cj_interp_kernel_run(&c->work->arena,
		    cj_program_decoded(c->work, c->program, s->function), &k,
		    o, &c->work->diags, &outcome);
		faults += outcome.faults;
		o->timeline = NULL;	/* of the first launch */
		if (outcome.stopped && faults == 0 && o->trace != NULL &&
		    o->trace->stop_line != 0 && *o->trace->reached)
			return CUTEJIT_OK;
		if (outcome.stopped)
			return outcome.is_endless || faults == 0
			    ? CUTEJIT_LIMIT : CUTEJIT_ERROR;
	}
	return faults != 0 || !all_restored(c, p) ? CUTEJIT_ERROR
	    : CUTEJIT_OK;
}

/* The first order that fails ends it; later ones may differ in results. */
static cutejit_status
run_schedules(struct cpu_run *c, const struct cj_plan *p,
    struct cj_run_options *o, unsigned count)
{
	struct cj_schedules *s = cj_schedules_begin(c->work, c->ir,
	    c->memory);
	uint64_t first = o->seed;
	cutejit_status status;
	unsigned i;

	for (i = 0; i < count; i++, o->seed++) {
		if (i != 0)
			cj_schedules_again(s);
		status = run_steps(c, p, o);
		if (status != CUTEJIT_OK
		    || !cj_schedules_compare(s, first, o->seed))
			return status;
		o->print = NULL;	/* lines and costs are those */
		o->profile = NULL;	/* of the first */
	}
	return CUTEJIT_OK;
}

/* ---- running ------------------------------------------------------------- */

static void
print_line(void *user, const char *text)
{
	const cutejit_options *o = user;

	if (o->print != NULL)
		o->print(o->user, text);
}

bool
cj_cpu_watches(const struct cj_cpu_run *o)
{
	return o->checks == 0 || (o->checks & CJ_CHECK_BOUNDS) != 0;
}

void
cj_run_options_set(struct cj_work *f, const struct cj_cpu_run *o,
    struct cj_run_options *out, const atomic_int *stop)
{
	memset(out, 0, sizeof *out);
	out->checks = o->checks == 0 ? CJ_CHECK_ALL
	    : o->checks & CJ_CHECK_ALL;
	out->workers = f->context->options.workers;
	out->seed = o->seed;
	out->step_limit = o->step_limit;
	out->print = print_line;
	out->user = &f->context->options;
	out->cancel = stop;
	out->profile = o->profile;
	out->timeline = o->timeline;
	out->trace = o->is_traced ? &o->trace : NULL;
}

struct holding {
	struct cutejit_context *context;
	struct cj_watch watch;
	void *memory;			/* workspaces */
};

static void
let_go(void *object)
{
	struct holding *h = object;

	cj_watch_end(&h->watch);
	cj_give_back(h->context, h->memory);
}

static struct holding *
hold(struct cj_work *f, const struct cj_plan *p)
{
	struct holding *h = CJ_NEW(&f->arena, struct holding);

	h->context = f->context;
	if (p->workspace_bytes != 0) {
		h->memory = cj_take(f->context, p->workspace_bytes);
		if (h->memory == NULL)
			cj_leave(&f->recover, CJ_WHY_MEMORY,
			    "there is no memory for a workspace");
	}
	cj_watch_begin(&h->watch, f);
	cj_defer(f, let_go, h);
	return h;
}

/* Is there the block, and the warp, whose trace is wanted? */
static cutejit_status
check_trace(struct cj_work *f, const struct cj_plan *p,
    const struct cj_trace *t)
{
	uint64_t blocks = 0, warps = 0, n;
	uint32_t i;

	for (i = 0; i < p->steps.len; i++) {
		const struct cj_plan_step *s = &p->steps.at[i];

		if (s->kind != CJ_STEP_LAUNCH || is_empty(s))
			continue;
		n = (uint64_t)s->grid[0] * (uint64_t)s->grid[1] *
		    (uint64_t)s->grid[2];
		blocks = n > blocks ? n : blocks;
		n = (uint64_t)(s->block[0] * s->block[1] * s->block[2] + 31) /
		    32;
		warps = n > warps ? n : warps;
	}
	if (t->block >= blocks)
		return cj_fail(f, CUTEJIT_USAGE, CJ_DIAG_USAGE,
		    "there is no block %llu to trace: the largest grid has "
		    "%llu", (unsigned long long)t->block,
		    (unsigned long long)blocks);
	if (t->warp != CJ_TRACE_ALL && t->warp >= warps)
		return cj_fail(f, CUTEJIT_USAGE, CJ_DIAG_USAGE,
		    "there is no warp %u to trace: a block has %llu", t->warp,
		    (unsigned long long)warps);
	return CUTEJIT_OK;
}

cutejit_status
cj_cpu_run(struct cj_work *f, struct cj_program *program,
    const struct cj_arguments *args, const struct cj_plan *p,
    const struct cj_cpu_run *o)
{
	const struct cj_module *ir = program->ir;
	struct cpu_run c = { .work = f, .program = program, .ir = ir,
	    .args = args };
	struct holding *h;
	struct cj_run_options options;
	uint32_t errors = f->diags.errors;
	cutejit_status status = o->is_traced ? check_trace(f, p, &o->trace) :
	    CUTEJIT_OK;

	if (status != CUTEJIT_OK)
		return status;
	if (cj_room_lacks(p->workspace_bytes))
		return cj_fail(f, CUTEJIT_LIMIT, CJ_DIAG_MEMORY,
		    "the workspaces of \"%s\" take %llu bytes, and there "
		    "are not that many", program->kernel,
		    (unsigned long long)p->workspace_bytes);
	h = hold(f, p);
	c.workspace = h->memory;
	c.memory = CJ_NEWS(&f->arena, struct cj_memory, ir->objects.len);
	bind_arguments(&c);
	cj_run_options_set(f, o, &options, &h->watch.stop);
	status = o->schedules > 1
	    ? run_schedules(&c, p, &options, o->schedules)
	    : run_steps(&c, p, &options);
	cj_undefer(f);
	let_go(h);
	if (h->watch.stop != 0)
		cj_leave(&f->recover, CJ_WHY_DEADLINE, "run");
	if (status == CUTEJIT_LIMIT && f->diags.errors == errors)
		cj_fail(f, status, CJ_DIAG_DEADLINE,
		    "the kernel was stopped before its end");
	return status;
}
