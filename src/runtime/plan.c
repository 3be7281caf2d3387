/*
 * Plans: what a host function does for given arguments, written down.
 *
 * The executor runs the function with one lane; each launch and workspace it
 * asks for becomes a step. A `require` that does not hold is a misfit: of one
 * kernel an error, of a family a reason to try the next member.
 */
#include "device.h"
#include "program.h"

size_t
cj_workspace_bytes(const struct cj_module *ir, const struct cj_plan_step *s)
{
	enum cj_kind k = ir->objects.at[s->object].element;
	size_t bits = k == CJ_KIND_BOOL ? 8 : cj_kind_bits(k);
	size_t bytes = ((size_t)s->elements * bits + 7) / 8;

	return (bytes + CJ_WORKSPACE_ALIGN - 1)
	    & ~(size_t)(CJ_WORKSPACE_ALIGN - 1);
}

struct planning {
	struct cj_work *work;
	struct cj_arena *arena;
	const struct cj_module *ir;
	struct cj_plan *plan;
	const struct cj_arguments *args;
	const struct cj_gpu *on;
	bool again;			/* it was left open */
	uint32_t skip;			/* lines that were printed then */
};

static size_t
count_values(const struct cj_function *fn)
{
	size_t n = 0;
	uint32_t i;

	for (i = 0; i < fn->leaves.len; i++)
		if (fn->leaves.at[i].kind != CJ_LEAF_OBJECT)
			n += cj_type_count(fn->leaves.at[i].type);
	return n;
}

/* Tensor maps are kept as long as the plan. */
static void
keep_maps(struct planning *p, const struct cj_function *fn, uint64_t *values)
{
	uint32_t i;

	for (i = 0; i < fn->leaves.len; i++) {
		const struct cj_leaf *leaf = &fn->leaves.at[i];

		if (leaf->kind == CJ_LEAF_OBJECT)
			continue;
		if (cj_type_kind(leaf->type) == CJ_KIND_MAP)
			*values = (uint64_t)(uintptr_t)cj_memdup(p->arena,
			    (const void *)(uintptr_t)*values,
			    sizeof(struct cj_tensor_map));
		values += cj_type_count(leaf->type);
	}
}

static bool
add_launch(void *user, const struct cj_kernel_launch *k,
    const struct cj_launch *attributes)
{
	struct planning *p = user;
	const struct cj_function *fn = &p->ir->functions.at[k->function];
	struct cj_plan_step *s = cj_push(p->arena, &p->plan->steps);
	size_t n = count_values(fn);
	uint64_t *values;

	memset(s, 0, sizeof *s);
	s->kind = CJ_STEP_LAUNCH;
	s->function = k->function;
	memcpy(s->grid, k->grid, sizeof s->grid);
	memcpy(s->block, k->block, sizeof s->block);
	memcpy(s->cluster, k->cluster, sizeof s->cluster);
	s->cooperative = attributes->cooperative;
	/* before sm_90 it waits for the launch in front as any other does */
	s->dependent = attributes->dependent && p->ir->target->number >= 90;
	values = n != 0
	    ? cj_memdup(p->arena, k->values, n * sizeof *k->values) : NULL;
	keep_maps(p, fn, values);
	s->values = values;
	return true;
}

static int64_t
workspace_elements(const struct cj_plan *p, uint32_t object)
{
	uint32_t i;

	for (i = 0; i < p->steps.len; i++)
		if (p->steps.at[i].kind == CJ_STEP_WORKSPACE &&
		    p->steps.at[i].object == object)
			return p->steps.at[i].elements;
	return 0;
}

static bool
add_workspace(void *user, uint32_t object, int64_t elements, bool has_fill,
    uint64_t fill)
{
	struct planning *p = user;
	struct cj_plan_step *s = cj_push(p->arena, &p->plan->steps);

	memset(s, 0, sizeof *s);
	s->kind = CJ_STEP_WORKSPACE;
	s->object = object;
	s->elements = elements > 0 ? elements : 0;
	s->has_fill = has_fill;
	s->fill = fill;
	p->plan->workspace_bytes += cj_workspace_bytes(p->ir, s);
	return true;
}

/* Every element that a fill sets must be there. */
static bool
is_there(const struct planning *p, const struct cj_plan_step *s,
    cj_place place)
{
	const struct cj_object *o = &p->ir->objects.at[s->object];
	int64_t last = s->offset + (s->elements - 1) * s->stride;
	int64_t lo = 0, hi = o->extent;

	if (o->kind == CJ_OBJECT_TENSOR) {
		lo = p->args->views[o->parameter][o->member].lo;
		hi = p->args->views[o->parameter][o->member].hi;
	} else if (hi < 0) {
		hi = workspace_elements(p->plan, s->object);
	}
	if (s->offset >= lo && last < hi)
		return true;
	if (hi <= lo) {
		cj_report(&p->work->diags, CJ_DIAG_OUT_OF_BOUNDS,
		    p->ir->places.at[place].span, "fill leaves \"%s\": it "
		    "sets element %lld, and there are none", o->name,
		    (long long)s->offset);
		return false;
	}
	cj_report(&p->work->diags, CJ_DIAG_OUT_OF_BOUNDS,
	    p->ir->places.at[place].span, "fill leaves \"%s\": it sets "
	    "elements %lld to %lld, there are %lld to %lld", o->name,
	    (long long)s->offset, (long long)last, (long long)lo,
	    (long long)hi - 1);
	return false;
}

static bool
add_fill(void *user, const struct cj_host_fill *w)
{
	struct planning *p = user;
	struct cj_plan_step *s = cj_push(p->arena, &p->plan->steps);
	int64_t reach, last;

	memset(s, 0, sizeof *s);
	s->kind = CJ_STEP_FILL;
	s->object = w->object;
	s->offset = w->offset;
	s->elements = w->elements;
	s->stride = w->elements > 1 ? w->stride : 1;
	s->fill = w->bits;
	if (__builtin_mul_overflow(s->elements - 1, s->stride, &reach) ||
	    __builtin_add_overflow(s->offset, reach, &last)) {
		cj_report(&p->work->diags, CJ_DIAG_OUT_OF_BOUNDS,
		    p->ir->places.at[w->place].span, "fill leaves \"%s\": "
		    "the last of its elements is beyond 64 bits",
		    p->ir->objects.at[w->object].name);
		return false;
	}
	if (s->stride < 0) {		/* from the other end */
		s->offset = last;
		s->stride = -s->stride;
	}
	return is_there(p, s, w->place);
}

static int64_t
clusters(struct planning *p, struct cj_device_ask ask)
{
	int64_t count;

	if (p->on == NULL)
		return cj_resident_of(CJ_CPU_SMS, ask);
	if (!cj_resident_on(p->work, p->on, ask, &count))
		*cj_push(p->arena, &p->plan->open) = ask;
	return count;
}

static int64_t
device_fact(void *user, struct cj_device_ask ask)
{
	struct planning *p = user;

	switch (ask.fact) {
	case CJ_DEVICE_SMS:
		return p->on != NULL ? cj_gpu_sms(p->on) : CJ_CPU_SMS;
	case CJ_DEVICE_CLUSTERS:
		return clusters(p, ask);
	case CJ_DEVICE_FACT_COUNT:
		break;
	}
	return 0;
}

static void
print_line(void *user, const char *text)
{
	struct planning *p = user;
	const cutejit_options *o = &p->work->context->options;

	p->plan->prints = true;
	if (!p->again && p->plan->open.len != 0)
		return;
	if (p->plan->printed++ < p->skip)
		return;
	if (o->print != NULL)
		o->print(o->user, text);
}

static const char *
misfit_text(struct cj_arena *a, const struct cj_require *r,
    const char *values)
{
	const char *got = values != NULL && values[0] != '\0'
	    ? cj_printf(a, ", got %s", values) : "";

	if (r->parameter != NULL && r->parameter[0] != '\0')
		return cj_printf(a, "argument \"%s\": needs %s%s",
		    r->parameter, r->need, got);
	return cj_printf(a, "needs %s%s", r->need, got);
}

enum cj_fit
cj_plan_make(struct cj_work *f, struct cj_arena *a,
    struct cj_program *program, const struct cj_arguments *args,
    const struct cj_gpu *on, struct cj_plan *out, struct cj_misfit *misfit)
{
	const struct cj_module *ir = program->ir;
	struct planning p = { f, a, ir, out, args, on, out->open.len != 0,
	    out->printed };
	const struct cj_host_hooks hooks = {
		.user = &p, .launch = add_launch, .workspace = add_workspace,
		.fill = add_fill,
		.device = device_fact, .print = print_line
	};
	struct cj_host_outcome outcome = { 0 };
	const uint64_t *values = cj_leaf_values(&f->arena, ir, 1, args);
	uint32_t errors = f->diags.errors;

	memset(out, 0, sizeof *out);
	misfit->code = CJ_DIAG_OVERLAP;
	misfit->why = cj_overlap(&f->arena, ir, args);
	if (misfit->why == NULL) {
		misfit->code = CJ_DIAG_WRONG_ARGUMENT;
		misfit->why = cj_read_only(&f->arena, ir, args);
	}
	if (misfit->why != NULL)
		return CJ_FITS_NOT;
	cj_interp_host_run(&f->arena, cj_program_decoded(f, program, 1),
	    values, &hooks, &f->diags, &outcome);
	if (outcome.require != 0) {
		const struct cj_require *r =
		    &ir->requires.at[outcome.require];

		misfit->why = misfit_text(&f->arena, r, outcome.values);
		misfit->code = r->code != CJ_DIAG_NONE ? r->code
		    : CJ_DIAG_CONTRACT;
		return CJ_FITS_NOT;
	}
	return outcome.stopped || f->diags.errors != errors ? CJ_FIT_FAILED
	    : CJ_FITS;
}
