/*
 * Making arguments ready: the work of cutejit_prepare().
 *
 * Checking runs the host function and leaves a plan; for a GPU the plan becomes
 * calls of the driver with all parameters in place. A new address of a tensor
 * that is as well aligned as the old and overlaps nothing changes a slot, and
 * so does a scalar that the host function only hands on.
 */
#include "ready.h"

#include "program.h"
#include "select.h"

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

static const cutejit_dlpack *
copy_dlpack(struct cj_arena *a, const cutejit_dlpack *from)
{
	cutejit_dlpack *to;

	if (from == NULL)
		return NULL;
	to = cj_memdup(a, from, sizeof *from);
	to->tensor = *copy_tensor(a, &from->tensor);
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
	case CUTEJIT_ARG_DLPACK:
		to->value.dlpack = copy_dlpack(a, from->value.dlpack);
		break;
	case CUTEJIT_ARG_TENSORS:
		if (from->value.tensors == NULL || from->count > 65535)
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

static uint32_t
parameter_of(const struct cj_ready *r, size_t index)
{
	uint32_t i;

	if (r->given[index].name == NULL)
		return (uint32_t)index;
	for (i = 0; i < r->args.count; i++)
		if (strcmp(r->args.names[i], r->given[index].name) == 0)
			break;
	return i;
}

static void
find_parameters(struct cj_ready *r)
{
	size_t i;

	r->parameter = CJ_NEWS(&r->arena, uint32_t, r->count);
	for (i = 0; i < r->count; i++)
		r->parameter[i] = parameter_of(r, i);
}

/* ---- making -------------------------------------------------------------- */

static cutejit_status
make_plan(struct cj_work *f, struct cj_ready *r, struct cj_program *p,
    const struct cj_gpu *on)
{
	struct cj_misfit misfit;

	switch (cj_plan_make(f, &r->arena, p, &r->args, on, &r->plan,
	    &misfit)) {
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
check_binding(struct cj_work *f, struct cutejit_kernel *k,
    const struct cj_arguments *args)
{
	const char *why;
	const struct cj_binding *b = cj_kernel_bind(f, k, args->actuals,
	    args->count, &why);

	if (b == NULL)
		return cj_fail(f, CUTEJIT_ERROR, CJ_DIAG_CONTRACT, "%s: %s",
		    k->info.kernel, why != NULL ? why : "it does not fit");
	if (strcmp(cj_binding_text(b), k->program->binding) == 0)
		return CUTEJIT_OK;
	return cj_fail(f, CUTEJIT_ERROR, CJ_DIAG_CONTRACT,
	    "%s was compiled for %s, and these arguments need %s",
	    k->info.kernel, k->program->binding, cj_binding_text(b));
}

const bool *
cj_pinned_scalars(struct cj_arena *a, const struct cj_module *ir,
    const struct cj_arguments *args)
{
	const struct cj_function *host = &ir->functions.at[1];
	const bool *leaves = cj_pinned_leaves(a, ir);
	bool *pinned = CJ_NEWS(a, bool, args->count);
	uint32_t i;

	for (i = 0; i < host->leaves.len; i++)
		if (leaves[i] && host->leaves.at[i].kind == CJ_LEAF_SCALAR)
			pinned[host->leaves.at[i].parameter] = true;
	return pinned;
}

static void
number_tensors(struct cj_ready *r, const struct cj_module *ir)
{
	uint32_t i, k, n = 0;

	cj_tensors_number(&r->arena, &r->args, &r->tensors);
	cj_tensors_pair(&r->arena, ir, &r->args, &r->tensors);
	r->address = CJ_NEWS(&r->arena, uintptr_t, r->tensors.count);
	for (i = 0; i < r->args.count; i++)
		for (k = 0; r->args.actuals[i].is_tensor
		    && k < r->args.actuals[i].count; k++)
			r->address[n++] =
			    (uintptr_t)r->args.views[i][k].data;
	r->is_pinned = cj_pinned_scalars(&r->arena, ir, &r->args);
}

static cutejit_status
make_on_gpu(struct cj_work *f, struct cutejit_kernel *k, struct cj_ready *r)
{
	struct cj_program *p = k->program;
	struct cj_gpu gpu;
	cutejit_status status = cj_gpu_enter(f, r->ordinal, &gpu);

	if (status != CUTEJIT_OK)
		return status;
	r->cu = gpu.cu;
	r->ordinal = gpu.ordinal;
	r->context = gpu.context;
	status = make_plan(f, r, p, &gpu);
	if (status == CUTEJIT_OK)
		status = cj_program_advance(f, k->module, &k->recipe,
		    CJ_STAGE_IMAGE, p);
	if (status == CUTEJIT_OK)
		status = cj_spills_tell(f, p);
	if (status == CUTEJIT_OK)
		status = cj_image_load(f, r->cu, p);
	if (status == CUTEJIT_OK && r->plan.open.len != 0) {
		cj_resident_learn(f, &gpu, p, &r->plan);
		status = make_plan(f, r, p, &gpu);
	}
	if (status == CUTEJIT_OK)
		status = cj_shots_make(f, &r->arena, p, &r->args, &r->plan,
		    &r->shots);
	cj_gpu_leave(f, &gpu);
	return status;
}

static cutejit_status
make(struct cj_work *f, struct cutejit_kernel *k, struct cj_ready *r)
{
	cutejit_status status;

	r->args.arena = &r->arena;
	status = cj_arguments_read(f, k->module, k->recipe.member, r->given,
	    r->count, &r->args);
	if (status == CUTEJIT_OK)
		status = cj_device_of(f, &r->args, &r->on_gpu, &r->ordinal);
	if (status == CUTEJIT_OK)
		status = check_binding(f, k, &r->args);
	if (status != CUTEJIT_OK)
		return status;
	find_parameters(r);
	status = r->on_gpu ? make_on_gpu(f, k, r)
	    : make_plan(f, r, k->program, NULL);
	if (status == CUTEJIT_OK)
		number_tensors(r, k->program->ir);
	return status;
}

void
cj_ready_drop(void *object)
{
	struct cj_ready *r = object;

	if (r == NULL)
		return;
	cj_arena_fini(&r->arena);
	cj_give_back(r->owner, r);
}

cutejit_status
cj_ready_make(struct cj_work *f, struct cutejit_kernel *k,
    const cutejit_argument *given, size_t count, struct cj_ready **out)
{
	struct cj_ready *r = cj_take(f->context, sizeof *r);
	cutejit_status status;
	size_t i;

	*out = NULL;
	if (r == NULL)
		cj_leave(&f->recover, CJ_WHY_MEMORY,
		    "there is no memory for a launch");
	r->owner = f->context;
	cj_arena_init(&r->arena, &f->recover, &f->context->mem);
	cj_defer(f, cj_ready_drop, r);
	r->given = CJ_NEWS(&r->arena, cutejit_argument, count);
	r->count = count;
	for (i = 0; i < count; i++)
		copy_argument(&r->arena, &r->given[i], &given[i]);
	status = make(f, k, r);
	cj_undefer(f);
	if (status != CUTEJIT_OK)
		cj_ready_drop(r);
	else
		*out = r;
	return status;
}

/* ---- patching ------------------------------------------------------------ */

static bool
is_same_shape(const cutejit_tensor *a, const cutejit_tensor *b)
{
	size_t bytes = (size_t)a->ndim * sizeof *a->shape;

	return a->device_type == b->device_type
	    && a->device_id == b->device_id && a->ndim == b->ndim
	    && a->code == b->code && a->bits == b->bits
	    && a->lanes == b->lanes
	    && (a->strides == NULL) == (b->strides == NULL)
	    && (bytes == 0 || (b->shape != NULL
	    && memcmp(a->shape, b->shape, bytes) == 0
	    && (a->strides == NULL
	    || memcmp(a->strides, b->strides, bytes) == 0)));
}

/* The maps of a parameter's tensor show it where it is now; all of them or
 * none. */
static bool
patch_maps(struct cj_ready *r, uint32_t parameter, uintptr_t data)
{
	struct cj_encoded_map now;
	uint32_t i;
	int turn;

	for (turn = 0; turn < 2; turn++)
		for (i = 0; i < r->shots.map_count; i++) {
			struct cj_mapped *m = &r->shots.mapped[i];
			uintptr_t at = data + (uintptr_t)m->offset;

			if (m->parameter != parameter)
				continue;
			now = r->shots.maps[i];
			if (r->cu->TensorMapReplaceAddress(&now, (void *)at)
			    != 0)
				return false;
			if (turn == 0)
				continue;
			r->shots.maps[i] = now;
			m->address = at;
		}
	return true;
}

static bool
patch_tensor(struct cj_ready *r, size_t index, const cutejit_tensor *to)
{
	cutejit_tensor *was = (cutejit_tensor *)r->given[index].value.tensor;
	uint32_t parameter = r->parameter[index], i;
	uint32_t number = r->tensors.first[parameter];
	struct cj_view *v = &r->args.views[parameter][0];
	char *data;

	if (to == NULL || to->data == NULL || was->data == NULL
	    || !is_same_shape(was, to))
		return false;
	data = (char *)to->data + to->byte_offset;
	if (cj_alignment(data) != cj_alignment(v->data))
		return false;
	r->address[number] = (uintptr_t)data;
	if (cj_tensors_overlap(&r->tensors, r->address)) {
		r->address[number] = (uintptr_t)v->data;
		return false;
	}
	if (!patch_maps(r, parameter, (uintptr_t)data)) {
		r->address[number] = (uintptr_t)v->data;
		return false;
	}
	v->data = data;
	was->data = to->data;
	was->byte_offset = to->byte_offset;
	for (i = 0; i < r->shots.patch_count; i++) {
		const struct cj_patch *p = &r->shots.patches[i];

		if (p->kind == CJ_PATCH_ADDRESS && p->parameter == parameter)
			r->shots.slots[p->slot] = (uintptr_t)data;
	}
	return true;
}

static bool
patch_scalar(struct cj_ready *r, size_t index, const cutejit_argument *to)
{
	uint32_t parameter = r->parameter[index], i;
	enum cj_kind as = r->args.actuals[parameter].kind;
	uint64_t bits;

	if (r->is_pinned[parameter] || !r->on_gpu
	    || !cj_scalar_bits(to, as, as, &bits))
		return false;
	for (i = 0; i < r->shots.patch_count; i++) {
		const struct cj_patch *p = &r->shots.patches[i];

		if (p->kind == CJ_PATCH_SCALAR && p->parameter == parameter
		    && !cj_scalar_bits(to, as, p->scalar,
		    &r->shots.slots[p->slot]))
			return false;
	}
	r->args.actuals[parameter].bits = bits;
	r->given[index].value = to->value;
	return true;
}

bool
cj_ready_patch(struct cj_ready *r, size_t index, const cutejit_argument *to)
{
	const cutejit_argument *was = &r->given[index];

	if (to->kind != was->kind || (to->name != NULL && (was->name == NULL
	    || strcmp(to->name, was->name) != 0)))
		return false;
	switch (to->kind) {
	case CUTEJIT_ARG_TENSOR:
		return patch_tensor(r, index, to->value.tensor);
	case CUTEJIT_ARG_INT:
	case CUTEJIT_ARG_FLOAT:
		return patch_scalar(r, index, to);
	case CUTEJIT_ARG_NONE:
	case CUTEJIT_ARG_TENSORS:
	case CUTEJIT_ARG_DLPACK:
	case CUTEJIT_ARG_TEXT:
		break;
	}
	return false;
}
