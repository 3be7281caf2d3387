/*
 * Launches: a kernel with arguments that were checked once.
 *
 * Checking runs the host function and leaves a plan; for a GPU the plan becomes
 * calls of the driver with all parameters in place, so that a run is a look at
 * the current context and one call per launch. Changing an address changes a
 * parameter in place if the address is as well aligned and overlaps nothing;
 * any other change makes the next run check anew.
 */
#include <stdlib.h>

#include "device.h"
#include "program.h"
#include "select.h"

struct cutejit_launch {
	struct cutejit_kernel *kernel;
	struct cj_arena given_arena, made_arena;
	cutejit_argument *given;	/* copies, shapes included */
	size_t count;
	bool is_ready;			/* what follows is made */
	bool on_gpu;
	int ordinal;
	struct cj_arguments args;
	struct cj_plan plan;
	/* GPU */
	const struct cj_cuda *cu;
	void *context;
	struct cj_shots shots;
	uint64_t own_workspace;
	size_t own_bytes;
	void *user_workspace;
	size_t user_bytes;
};

/* ---- the caller's arguments, copied -------------------------------------- */

static const cutejit_tensor *
copy_tensor(struct cj_arena *a, const cutejit_tensor *from)
{
	cutejit_tensor *to;
	size_t n;

	if (from == NULL)
		return NULL;
	to = cj_memdup(a, from, sizeof *from);
	n = from->ndim > 0 && from->ndim <= 64 ? (size_t)from->ndim : 0;
	if (from->shape != NULL)
		to->shape = cj_memdup(a, from->shape, n * sizeof *to->shape);
	if (from->strides != NULL)
		to->strides = cj_memdup(a, from->strides,
		    n * sizeof *to->strides);
	return to;
}

static void
copy_argument(struct cj_arena *a, cutejit_argument *to,
    const cutejit_argument *from)
{
	const cutejit_tensor **list;
	size_t i;

	*to = *from;
	if (from->name != NULL)
		to->name = cj_strdup(a, from->name);
	switch (from->kind) {
	case CUTEJIT_ARG_TENSOR:
		to->value.tensor = copy_tensor(a, from->value.tensor);
		break;
	case CUTEJIT_ARG_TENSORS:
		if (from->value.tensors == NULL)
			break;
		list = CJ_NEWS(a, const cutejit_tensor *, from->count);
		for (i = 0; i < from->count; i++)
			list[i] = copy_tensor(a, from->value.tensors[i]);
		to->value.tensors = list;
		break;
	case CUTEJIT_ARG_TEXT:
		if (from->value.text != NULL)
			to->value.text = cj_strdup(a, from->value.text);
		break;
	case CUTEJIT_ARG_NONE:
	case CUTEJIT_ARG_INT:
	case CUTEJIT_ARG_FLOAT:
		break;
	}
}

/* ---- where it runs ------------------------------------------------------- */

static bool
is_on_gpu(const struct cj_view *v)
{
	return v->device_type == CUTEJIT_DL_CUDA
	    || v->device_type == CUTEJIT_DL_CUDA_MANAGED;
}

static cutejit_status
mixed(struct cj_work *f, const char *name, const char *where,
    const char *first, const char *there)
{
	return cj_fail(f, CUTEJIT_ERROR, CJ_DIAG_WRONG_DEVICE,
	    "argument \"%s\" lies on %s, and \"%s\" on %s", name, where,
	    first, there);
}

static const char *
where_text(struct cj_work *f, const struct cj_view *v)
{
	return is_on_gpu(v) ? cj_printf(&f->arena, "GPU %d", v->device_id)
	    : "the CPU";
}

/*
 * All tensors on one device. Memory of the host that CUDA has pinned goes with
 * either. Without tensors: a GPU if there is one.
 */
cutejit_status
cj_device_of(struct cj_work *f, const struct cj_arguments *args, bool *on_gpu,
    int *ordinal)
{
	const struct cj_view *first = NULL;
	const char *first_name = NULL;
	cutejit_gpu gpu;
	uint32_t i, k;

	for (i = 0; i < args->count; i++) {
		const struct cj_actual *a = &args->actuals[i];

		for (k = 0; a->is_tensor && k < a->count; k++) {
			const struct cj_view *v = &args->views[i][k];

			if (v->device_type == CUTEJIT_DL_CUDA_HOST)
				continue;
			if (first == NULL) {
				first = v;
				first_name = args->names[i];
			} else if (is_on_gpu(v) != is_on_gpu(first)
			    || (is_on_gpu(v)
			    && v->device_id != first->device_id)) {
				return mixed(f, args->names[i],
				    where_text(f, v), first_name,
				    where_text(f, first));
			}
		}
	}
	*on_gpu = first != NULL ? is_on_gpu(first)
	    : cj_gpu_probe(f, 0, &gpu);
	*ordinal = first != NULL ? first->device_id : -1;
	return CUTEJIT_OK;
}

/* ---- making it ready ----------------------------------------------------- */

static void
forget(struct cutejit_launch *l)
{
	l->is_ready = false;
	cj_arena_fini(&l->made_arena);
	memset(&l->shots, 0, sizeof l->shots);
	memset(&l->plan, 0, sizeof l->plan);
}

static cutejit_status
own_workspace(struct cj_work *f, struct cutejit_launch *l, uint64_t *out)
{
	size_t bytes = l->plan.workspace_bytes;
	int rc;

	*out = 0;
	if (bytes == 0)
		return CUTEJIT_OK;
	if (l->user_workspace != NULL) {
		*out = (uint64_t)(uintptr_t)l->user_workspace;
		if (l->user_bytes >= bytes)
			return CUTEJIT_OK;
		return cj_fail(f, CUTEJIT_ERROR, CJ_DIAG_WRONG_ARGUMENT,
		    "the workspace needs %zu bytes, got %zu", bytes,
		    l->user_bytes);
	}
	if (l->own_bytes < bytes) {
		if (l->own_workspace != 0)
			l->cu->MemFree(l->own_workspace);
		l->own_workspace = 0;
		l->own_bytes = 0;
		rc = l->cu->MemAlloc(&l->own_workspace, bytes);
		if (rc != 0)
			return cj_gpu_fail(f, l->cu, rc,
			    "there is no memory for a workspace");
		l->own_bytes = bytes;
	}
	*out = l->own_workspace;
	return CUTEJIT_OK;
}

static cutejit_status
ready_on_gpu(struct cj_work *f, struct cutejit_launch *l)
{
	struct cj_program *p = l->kernel->program;
	uint64_t workspace;
	cutejit_status status;

	status = cj_program_advance(f, l->kernel->module, &l->kernel->recipe,
	    CJ_STAGE_IMAGE, p);
	if (status == CUTEJIT_OK)
		status = cj_image_load(f, l->cu, p);
	if (status == CUTEJIT_OK)
		status = own_workspace(f, l, &workspace);
	if (status == CUTEJIT_OK)
		status = cj_shots_make(f, &l->made_arena, p, &l->args,
		    &l->plan, workspace, &l->shots);
	return status;
}

static cutejit_status
plan(struct cj_work *f, struct cutejit_launch *l, int64_t sms)
{
	struct cj_program *p = l->kernel->program;
	struct cj_misfit misfit;

	switch (cj_plan_make(f, &l->made_arena, p->ir, &l->args, sms,
	    &l->plan, &misfit)) {
	case CJ_FITS:
		return CUTEJIT_OK;
	case CJ_FITS_NOT:
		return cj_fail(f, CUTEJIT_ERROR, misfit.code, "%s: %s",
		    p->kernel, misfit.why);
	case CJ_FIT_FAILED:
		break;
	}
	return CUTEJIT_ERROR;
}

/* The binding was made for these types and ranks. */
static cutejit_status
check_binding(struct cj_work *f, struct cutejit_launch *l)
{
	struct cutejit_kernel *k = l->kernel;
	struct cj_const_argument *consts = CJ_NEWS(&f->arena,
	    struct cj_const_argument, k->constant_count);
	const struct cj_binding *b;
	const char *why = NULL;
	struct cj_span span;
	size_t i;

	for (i = 0; i < k->constant_count; i++) {
		consts[i].name = k->constants[i].name;
		consts[i].text = k->constants[i].text;
	}
	cj_module_enter(f, k->module);
	b = cj_bind(&f->arena, k->module->unit, k->recipe.member, consts,
	    (uint32_t)k->constant_count, l->args.actuals, l->args.count,
	    &f->diags, &why, &span);
	cj_module_leave(f, k->module);
	if (b == NULL)
		return cj_fail(f, CUTEJIT_ERROR, CJ_DIAG_CONTRACT, "%s: %s",
		    k->info.kernel, why != NULL ? why : "it does not fit");
	if (strcmp(cj_binding_text(b), k->program->binding) == 0)
		return CUTEJIT_OK;
	return cj_fail(f, CUTEJIT_ERROR, CJ_DIAG_CONTRACT,
	    "%s was compiled for %s, and these arguments need %s",
	    k->info.kernel, k->program->binding, cj_binding_text(b));
}

static cutejit_status
make_ready(struct cj_work *f, struct cutejit_launch *l)
{
	cutejit_status status;
	struct cj_gpu gpu;

	forget(l);
	cj_arena_init(&l->made_arena, &f->recover, &f->context->mem);
	memset(&l->args, 0, sizeof l->args);
	l->args.arena = &l->made_arena;
	status = cj_arguments_read(f, l->kernel->module,
	    l->kernel->recipe.member, l->given, l->count, &l->args);
	if (status == CUTEJIT_OK)
		status = cj_device_of(f, &l->args, &l->on_gpu, &l->ordinal);
	if (status == CUTEJIT_OK)
		status = check_binding(f, l);
	if (status != CUTEJIT_OK)
		return status;
	if (!l->on_gpu) {
		status = plan(f, l, CJ_CPU_SMS);
		l->is_ready = status == CUTEJIT_OK;
		return status;
	}
	status = cj_gpu_enter(f, l->ordinal, &gpu);
	if (status != CUTEJIT_OK)
		return status;
	l->cu = gpu.cu;
	l->ordinal = gpu.ordinal;
	l->context = gpu.context;
	status = plan(f, l, cj_gpu_sms(&gpu));
	if (status == CUTEJIT_OK)
		status = ready_on_gpu(f, l);
	cj_gpu_leave(f, &gpu);
	l->is_ready = status == CUTEJIT_OK;
	return status;
}

struct preparing {
	struct cutejit_kernel *kernel;
	const cutejit_argument *given;
	size_t count;
	struct cutejit_launch *out;
};

static void
destroy(void *launch)
{
	cutejit_launch_destroy(launch);
}

static struct cutejit_launch *
create(struct cj_work *f, const struct preparing *p)
{
	struct cutejit_launch *l = cj_take(f->context, sizeof *l);
	size_t i;

	if (l == NULL)
		cj_leave(&f->recover, CJ_WHY_MEMORY, "launch");
	l->kernel = p->kernel;
	cj_kernel_hold(l->kernel);
	cj_arena_init(&l->given_arena, &f->recover, &f->context->mem);
	cj_arena_init(&l->made_arena, &f->recover, &f->context->mem);
	cj_defer(f, destroy, l);
	l->given = CJ_NEWS(&l->given_arena, cutejit_argument, p->count);
	l->count = p->count;
	for (i = 0; i < p->count; i++)
		copy_argument(&l->given_arena, &l->given[i], &p->given[i]);
	cj_undefer(f);
	return l;
}

static void
begin(struct cj_work *f, struct cutejit_kernel *k)
{
	f->module = k->module;
	f->doing = k->info.kernel;
	cj_set_warnings(f, &k->module->sources);
}

static cutejit_status
prepare(struct cj_work *f, void *arguments)
{
	struct preparing *p = arguments;
	struct cutejit_launch *l;
	cutejit_status status;

	begin(f, p->kernel);
	l = create(f, p);
	cj_defer(f, destroy, l);
	status = make_ready(f, l);
	cj_undefer(f);
	if (status != CUTEJIT_OK)
		destroy(l);
	else
		p->out = l;
	return status;
}

cutejit_status
cutejit_prepare(cutejit_kernel *kernel, const cutejit_argument *arguments,
    size_t count, cutejit_launch **out)
{
	struct preparing p = { kernel, arguments, count, NULL };
	cutejit_status status;

	if (out == NULL)
		return CUTEJIT_USAGE;
	*out = NULL;
	if (kernel == NULL || (arguments == NULL && count != 0))
		return CUTEJIT_USAGE;
	status = cj_enter(kernel->module->context, prepare, &p);
	*out = p.out;
	return status;
}

/* The driver may be gone, or the device reset: memory then is too. */
static void
free_workspace(struct cutejit_launch *l)
{
	void *was;

	if (l->own_workspace == 0 || !cj_cuda_is_ours())
		return;
	if (l->cu->CtxPushCurrent(l->context) != 0)
		return;
	l->cu->MemFree(l->own_workspace);
	l->cu->CtxPopCurrent(&was);
}

void
cutejit_launch_destroy(cutejit_launch *launch)
{
	struct cutejit_kernel *k;

	if (launch == NULL)
		return;
	k = launch->kernel;
	free_workspace(launch);
	cj_arena_fini(&launch->made_arena);
	cj_arena_fini(&launch->given_arena);
	cj_give_back(k->module->context, launch);
	cj_kernel_drop(k);
}

/* ---- changing arguments -------------------------------------------------- */

struct setting {
	struct cutejit_launch *launch;
	size_t index;
	const cutejit_argument *to;
};

static cutejit_status
set(struct cj_work *f, void *arguments)
{
	struct setting *s = arguments;
	struct cutejit_launch *l = s->launch;

	l->given_arena.recover = &f->recover;
	copy_argument(&l->given_arena, &l->given[s->index], s->to);
	l->is_ready = false;
	return CUTEJIT_OK;
}

cutejit_status
cutejit_launch_set(cutejit_launch *launch, size_t index,
    const cutejit_argument *argument)
{
	struct setting s = { launch, index, argument };

	if (launch == NULL || argument == NULL || index >= launch->count)
		return CUTEJIT_USAGE;
	return cj_enter(launch->kernel->module->context, set, &s);
}

/* Parameter that argument `index` is for. */
static uint32_t
parameter_of(const struct cutejit_launch *l, size_t index)
{
	uint32_t i;

	if (l->given[index].name == NULL)
		return (uint32_t)index;
	for (i = 0; i < l->args.count; i++)
		if (strcmp(l->args.names[i], l->given[index].name) == 0)
			break;
	return i;
}

static void
patch(struct cutejit_launch *l, uint32_t parameter, char *data)
{
	struct cj_view *v = &l->args.views[parameter][0];
	bool same = cj_alignment(data) == cj_alignment(v->data);
	uint32_t i;

	v->data = data;
	if (!same || cj_overlaps(l->kernel->program->ir, &l->args)) {
		l->is_ready = false;
		return;
	}
	for (i = 0; i < l->shots.patch_count; i++)
		if (l->shots.patches[i].parameter == parameter)
			*l->shots.patches[i].slot =
			    (uint64_t)(uintptr_t)data;
}

cutejit_status
cutejit_launch_set_data(cutejit_launch *launch, size_t index, void *data)
{
	cutejit_tensor *t;

	if (launch == NULL || index >= launch->count
	    || launch->given[index].kind != CUTEJIT_ARG_TENSOR)
		return CUTEJIT_USAGE;
	t = (cutejit_tensor *)launch->given[index].value.tensor;
	t->data = data;
	if (launch->is_ready && data != NULL)
		patch(launch, parameter_of(launch, index),
		    (char *)data + t->byte_offset);
	else
		launch->is_ready = false;
	return CUTEJIT_OK;
}

/* ---- running ------------------------------------------------------------- */

struct running {
	struct cutejit_launch *launch;
	void *stream;
	int error;			/* of a launch that was tried */
};

static cutejit_status
run_on_gpu(struct cj_work *f, struct running *r)
{
	struct cutejit_launch *l = r->launch;
	struct cj_gpu gpu;
	cutejit_status status;
	int rc;

	if (r->error != 0)
		return cj_gpu_fail(f, l->cu, r->error, "the launch failed");
	status = cj_gpu_enter(f, l->ordinal, &gpu);
	if (status != CUTEJIT_OK)
		return status;
	rc = cj_shots_fire(l->cu, &l->shots, r->stream);
	cj_gpu_leave(f, &gpu);
	return rc == 0 ? CUTEJIT_OK
	    : cj_gpu_fail(f, l->cu, rc, "the launch failed");
}

static cutejit_status
run(struct cj_work *f, void *arguments)
{
	struct running *r = arguments;
	struct cutejit_launch *l = r->launch;
	struct cj_cpu_run defaults = { 0 };
	cutejit_status status = CUTEJIT_OK;

	begin(f, l->kernel);
	if (!l->is_ready)
		status = make_ready(f, l);
	if (status != CUTEJIT_OK)
		return status;
	if (l->on_gpu)
		return run_on_gpu(f, r);
	return cj_cpu_run(f, l->kernel->program->ir, &l->args, &l->plan,
	    &defaults);
}

/* The short way: ready, on a GPU, its context current. */
cutejit_status
cutejit_launch_run(cutejit_launch *launch, void *stream)
{
	struct running r = { launch, stream, 0 };
	void *current;

	if (launch == NULL)
		return CUTEJIT_USAGE;
	if (launch->is_ready && launch->on_gpu
	    && launch->cu->CtxGetCurrent(&current) == 0
	    && current == launch->context) {
		r.error = cj_shots_fire(launch->cu, &launch->shots, stream);
		if (r.error == 0)
			return CUTEJIT_OK;
	}
	return cj_enter(launch->kernel->module->context, run, &r);
}

size_t
cutejit_launch_workspace(const cutejit_launch *launch)
{
	return launch != NULL ? launch->plan.workspace_bytes : 0;
}

cutejit_status
cutejit_launch_workspace_set(cutejit_launch *launch, void *memory,
    size_t bytes)
{
	if (launch == NULL
	    || (uintptr_t)memory % CJ_WORKSPACE_ALIGN != 0)
		return CUTEJIT_USAGE;
	launch->user_workspace = memory;
	launch->user_bytes = bytes;
	launch->is_ready = false;
	return CUTEJIT_OK;
}
