/*
 * The GPU as a device: contexts, images, and launches in the driver's form.
 *
 * Images are loaded as libraries, which belong to no context: one load serves
 * every device that the image fits, and works while a stream is captured. The
 * driver reports a bad image only when a kernel is asked for, so every kernel
 * is, at once.
 */
#include <stdlib.h>

#include "assemble.h"
#include "device.h"

/* ---- the driver ---------------------------------------------------------- */

cutejit_status
cj_gpu_driver(struct cj_work *f, const struct cj_cuda **out)
{
	const char *why;

	*out = cj_cuda_open(&why);
	if (*out != NULL)
		return CUTEJIT_OK;
	cj_fail(f, CUTEJIT_MISSING, CJ_DIAG_MISSING_DRIVER,
	    "no GPU can be used: %s", why);
	cj_say_help(f, "Compiling, and running on the executor "
	    "(--device=cpu), work without it.");
	return CUTEJIT_MISSING;
}

/* Sticky errors are of a kernel that ran before, not of what is asked now. */
static bool
is_sticky(int error)
{
	return error >= CJ_CUDA_ILLEGAL_ADDRESS && error < 720
	    && error != 701 && error != 704 && error != 705 && error != 708
	    && error != 709 && error != 711 && error != 712 && error != 713;
}

cutejit_status
cj_gpu_fail(struct cj_work *f, const struct cj_cuda *cu, int error,
    const char *doing)
{
	const char *name = NULL, *text = NULL;

	cu->GetErrorName(error, &name);
	cu->GetErrorString(error, &text);
	cj_fail(f, CUTEJIT_MISSING, CJ_DIAG_DRIVER, "%s: %s (%s)", doing,
	    text != NULL ? text : "unknown error",
	    name != NULL ? name : "?");
	if (error == CJ_CUDA_ASSERT)
		return CUTEJIT_ERROR;
	if (is_sticky(error)) {
		cj_say_help(f, "A kernel that ran on this GPU has failed; "
		    "run it on the executor (--device=cpu) to see where.");
		return CUTEJIT_ERROR;
	}
	return error == CJ_CUDA_OUT_OF_MEMORY ? CUTEJIT_LIMIT
	    : CUTEJIT_MISSING;
}

static int
attribute(const struct cj_cuda *cu, int ordinal, int which)
{
	int device, value = 0;

	if (cu->DeviceGet(&device, ordinal) != 0
	    || cu->DeviceGetAttribute(&value, which, device) != 0)
		return 0;
	return value;
}

bool
cj_gpu_probe(struct cj_work *f, int ordinal, cutejit_gpu *out)
{
	const char *why;
	const struct cj_cuda *cu = cj_cuda_open(&why);
	const struct cj_target *target;
	size_t bytes = 0;
	int device;

	(void)f;
	memset(out, 0, sizeof *out);
	if (cu == NULL || ordinal < 0 || ordinal >= cu->devices
	    || cu->DeviceGet(&device, ordinal) != 0)
		return false;
	cu->DeviceGetName(out->name, sizeof out->name, device);
	cu->DeviceTotalMem(&bytes, device);
	out->memory_bytes = bytes;
	out->major = attribute(cu, ordinal, CJ_CUDA_MAJOR);
	out->minor = attribute(cu, ordinal, CJ_CUDA_MINOR);
	out->sms = attribute(cu, ordinal, CJ_CUDA_SMS);
	out->driver = cu->version;
	target = cj_target_for_chip(out->major, out->minor);
	if (target != NULL)
		snprintf(out->target, sizeof out->target, "%s", target->name);
	return true;
}

/* ---- contexts ------------------------------------------------------------ */

static void
pop(void *object)
{
	const struct cj_cuda *cu = object;
	void *was;

	cu->CtxPopCurrent(&was);
}

/* Is the caller's context one of the device? Then it is used. */
static bool
use_current(struct cj_gpu *g, int ordinal)
{
	int device = -1, wanted = -1;

	if (g->cu->CtxGetCurrent(&g->context) != 0 || g->context == NULL
	    || g->cu->CtxGetDevice(&device) != 0)
		return false;
	if (ordinal >= 0 && (g->cu->DeviceGet(&wanted, ordinal) != 0
	    || wanted != device))
		return false;
	g->ordinal = ordinal >= 0 ? ordinal : device;
	return true;
}

cutejit_status
cj_gpu_enter(struct cj_work *f, int ordinal, struct cj_gpu *g)
{
	cutejit_status status;
	int rc;

	memset(g, 0, sizeof *g);
	status = cj_gpu_driver(f, &g->cu);
	if (status != CUTEJIT_OK)
		return status;
	if (!use_current(g, ordinal)) {
		g->ordinal = ordinal >= 0 ? ordinal : 0;
		if (g->ordinal >= g->cu->devices)
			return cj_fail(f, CUTEJIT_MISSING,
			    CJ_DIAG_MISSING_GPU, "there is no GPU %d: the "
			    "driver finds %d", ordinal, g->cu->devices);
		rc = cj_cuda_primary(g->cu, g->ordinal, &g->context);
		if (rc == 0)
			rc = g->cu->CtxPushCurrent(g->context);
		if (rc != 0)
			return cj_gpu_fail(f, g->cu, rc,
			    "the GPU cannot be used");
		g->is_pushed = true;
		cj_defer(f, pop, (void *)g->cu);
	}
	return CUTEJIT_OK;
}

void
cj_gpu_leave(struct cj_work *f, struct cj_gpu *g)
{
	if (!g->is_pushed)
		return;
	cj_undefer(f);
	pop((void *)g->cu);
	g->is_pushed = false;
}

int64_t
cj_gpu_sms(const struct cj_gpu *g)
{
	return attribute(g->cu, g->ordinal, CJ_CUDA_SMS);
}

/* ---- images -------------------------------------------------------------- */

enum { LOG_BYTES = 4096 };

struct load_log {
	char info[LOG_BYTES], error[LOG_BYTES];
};

static int
load_library(const struct cj_cuda *cu, const void *code, void **library,
    struct load_log *log)
{
	int options[] = { CJ_CUDA_INFO_LOG, CJ_CUDA_INFO_LOG_BYTES,
	    CJ_CUDA_ERROR_LOG, CJ_CUDA_ERROR_LOG_BYTES };
	void *values[] = { log->info, (void *)(uintptr_t)LOG_BYTES,
	    log->error, (void *)(uintptr_t)LOG_BYTES };

	memset(log, 0, sizeof *log);
	return cu->LibraryLoadData(library, code, options, values,
	    CJ_LENGTH(options), NULL, NULL, 0);
}

static int
get_kernels(const struct cj_cuda *cu, const struct cj_program *p,
    struct cj_image *image)
{
	uint32_t i;

	for (i = 0; i < p->entry_count; i++) {
		int rc = cu->LibraryGetKernel(&image->kernels[i],
		    image->library, p->entries[i].name);

		if (rc != 0)
			return rc;
	}
	return 0;
}

static int
load_code(const struct cj_cuda *cu, const struct cj_program *p,
    const char *code, struct cj_image *image, struct load_log *log)
{
	int rc = load_library(cu, code, &image->library, log);

	if (rc != 0) {
		image->library = NULL;
		return rc;
	}
	rc = get_kernels(cu, p, image);
	if (rc != 0) {
		cu->LibraryUnload(image->library);
		image->library = NULL;
	}
	return rc;
}

static cutejit_status
load_failed(struct cj_work *f, const struct cj_cuda *cu,
    const struct cj_program *p, int rc, const struct load_log *log)
{
	cutejit_status status;

	if (log->error[0] != '\0')
		cj_log(f->context, CUTEJIT_LOG_WARNING, "driver: %s",
		    log->error);
	switch (rc) {
	case CJ_CUDA_PTX_VERSION:
		cj_fail(f, CUTEJIT_MISSING, CJ_DIAG_DRIVER, "the driver "
		    "(CUDA %d.%d) is too old for the PTX of %s",
		    cu->version / 1000, cu->version % 1000 / 10, p->kernel);
		cj_say_help(f, "Install a newer driver, or ptxas of the CUDA "
		    "toolkit, so that a cubin can be made.");
		return CUTEJIT_MISSING;
	case CJ_CUDA_NO_BINARY:
		return cj_fail(f, CUTEJIT_MISSING, CJ_DIAG_DRIVER,
		    "%s was compiled for %s, which this GPU is not",
		    p->kernel, p->target->name);
	case CJ_CUDA_NO_JIT:
	case CJ_CUDA_JIT_DISABLED:
		return cj_fail(f, CUTEJIT_MISSING, CJ_DIAG_MISSING_ASSEMBLER,
		    "%s is PTX, and the driver may or can not compile it",
		    p->kernel);
	case CJ_CUDA_INVALID_PTX:
	case CJ_CUDA_INVALID_IMAGE:
		cj_fault(f, "the driver refuses an image (%d): %.150s", rc,
		    log->error);
	default:
		break;
	}
	status = cj_gpu_fail(f, cu, rc, cj_printf(&f->arena,
	    "%s cannot be loaded", p->kernel));
	return status;
}

/* Bytes beyond what a kernel may have without asking for more. */
static int
allow_dynamic(const struct cj_cuda *cu, const struct cj_program *p,
    struct cj_image *image)
{
	uint32_t i;
	int d, rc;

	for (i = 0; i < p->entry_count; i++) {
		image->dynamic[i] = p->dynamic[i];
		for (d = 0; p->dynamic[i] != 0 && d < cu->devices; d++) {
			int device;

			rc = cu->DeviceGet(&device, d);
			if (rc == 0)
				rc = cu->KernelSetAttribute(
				    CJ_CUDA_MAX_DYNAMIC, (int)p->dynamic[i],
				    image->kernels[i], device);
			/* a smaller device of another kind: its own launches
			 * will say so */
			if (rc != 0 && cu->devices == 1)
				return rc;
		}
	}
	return 0;
}

static cutejit_status
load(struct cj_work *f, const struct cj_cuda *cu, struct cj_program *p)
{
	struct cj_image *image = CJ_NEW(&p->arena, struct cj_image);
	struct load_log *log = CJ_NEW(&f->arena, struct load_log);
	int rc = CJ_CUDA_NO_BINARY;

	image->kernels = CJ_NEWS(&p->arena, void *, p->entry_count);
	image->dynamic = CJ_NEWS(&p->arena, int64_t, p->entry_count);
	if (p->cubin != NULL)
		rc = load_code(cu, p, p->cubin, image, log);
	/* A driver may be older than the assembler: let it compile. */
	if (p->cubin == NULL || rc == CJ_CUDA_INVALID_IMAGE
	    || rc == CJ_CUDA_NO_BINARY) {
		image->is_ptx = true;
		rc = load_code(cu, p, p->ptx, image, log);
	}
	if (rc == 0) {
		rc = allow_dynamic(cu, p, image);
		if (rc != 0)
			cu->LibraryUnload(image->library);
	}
	if (rc != 0)
		return load_failed(f, cu, p, rc, log);
	p->image = image;
	return CUTEJIT_OK;
}

cutejit_status
cj_image_load(struct cj_work *f, const struct cj_cuda *cu,
    struct cj_program *p)
{
	cutejit_status status = CUTEJIT_OK;

	cj_defer_lock(f, &p->lock);
	p->arena.recover = &f->recover;
	if (p->image == NULL)
		status = load(f, cu, p);
	cj_undefer_lock(f);
	return status;
}

/* After a fork, or once the driver is gone, there is nothing to give back. */
void
cj_image_unload(struct cj_image *image)
{
	const char *why;
	const struct cj_cuda *cu;

	if (image == NULL || image->library == NULL || !cj_cuda_is_ours())
		return;
	cu = cj_cuda_open(&why);
	if (cu != NULL)
		cu->LibraryUnload(image->library);
	image->library = NULL;
}

/* ---- launches ------------------------------------------------------------ */

static const struct {
	const char *name;
	int64_t limit[3];
} grid_limits = { "grid", { INT32_MAX, CJ_MAX_GRID_YZ, CJ_MAX_GRID_YZ } },
  block_limits = { "block", { CJ_MAX_BLOCK_THREADS, CJ_MAX_BLOCK_THREADS,
    CJ_MAX_BLOCK_Z } };

static bool
set_extents(struct cj_work *f, const struct cj_program *p, const char *what,
    const int64_t *limit, const int64_t *from, uint32_t *to)
{
	int i;

	for (i = 0; i < 3; i++) {
		if (from[i] < 1 || from[i] > limit[i]) {
			cj_fail(f, CUTEJIT_ERROR, CJ_DIAG_LIMIT, "%s: extent "
			    "%d of the %s is %lld, and may be 1 to %lld",
			    p->kernel, i, what, (long long)from[i],
			    (long long)limit[i]);
			return false;
		}
		to[i] = (uint32_t)from[i];
	}
	return true;
}

static struct cj_cuda_attribute *
add_attribute(struct cj_shot *s, int id)
{
	struct cj_cuda_attribute *a = &s->attributes[s->config.count++];

	a->id = id;
	return a;
}

static void
set_attributes(struct cj_shot *s, const struct cj_plan_step *step)
{
	if (step->cooperative)
		add_attribute(s, CJ_CUDA_COOPERATIVE)->value.value = 1;
	if (step->dependent)
		add_attribute(s, CJ_CUDA_PROGRAMMATIC)->value.value = 1;
	if (step->cluster[0] * step->cluster[1] * step->cluster[2] > 1) {
		struct cj_cuda_attribute *a =
		    add_attribute(s, CJ_CUDA_CLUSTER);

		a->value.extents.x = (unsigned)step->cluster[0];
		a->value.extents.y = (unsigned)step->cluster[1];
		a->value.extents.z = (unsigned)step->cluster[2];
	}
	if (s->config.count == 0)
		return;
	memcpy(s->config.grid, s->grid, sizeof s->grid);
	memcpy(s->config.block, s->block, sizeof s->block);
	s->config.shared_bytes = s->shared_bytes;
	s->config.attributes = s->attributes;
}

struct packing {
	struct cj_work *work;
	struct cj_arena *arena;
	const struct cj_program *program;
	const struct cj_arguments *args;
	const uint64_t *workspace;	/* address by object */
	struct cj_shots *out;
	uint32_t patch_cap;
};

static void
add_patch(struct packing *k, uint64_t *slot, const struct cj_object *o)
{
	struct cj_patch *p = &k->out->patches[k->out->patch_count++];

	assert(k->out->patch_count <= k->patch_cap);
	p->slot = slot;
	p->parameter = o->parameter;
	p->member = o->member;
}

static uint64_t
address_of(struct packing *k, uint32_t object, uint64_t *slot)
{
	const struct cj_object *o =
	    &k->program->ir->objects.at[object];

	if (o->kind != CJ_OBJECT_TENSOR)
		return k->workspace[object];
	if (!k->args->actuals[o->parameter].present
	    || o->member >= k->args->actuals[o->parameter].count)
		return 0;
	add_patch(k, slot, o);
	return (uint64_t)(uintptr_t)
	    k->args->views[o->parameter][o->member].data;
}

/* One parameter per register; the driver takes as many low bytes of a slot as
 * the parameter has. */
static void
pack_params(struct packing *k, const struct cj_plan_step *step,
    struct cj_shot *s)
{
	const struct cj_module *ir = k->program->ir;
	const struct cj_function *fn = &ir->functions.at[step->function];
	const uint64_t *bits = step->values;
	uint64_t *slot;
	size_t slots = 0, n;
	uint32_t i, r;

	for (i = 0; i < fn->leaves.len; i++)
		slots += cj_type_count(fn->leaves.at[i].type);
	s->params = CJ_NEWS(k->arena, void *, slots);
	s->slots = slot = CJ_NEWS(k->arena, uint64_t, slots);
	for (n = 0; n < slots; n++)
		s->params[n] = &s->slots[n];
	for (i = 0; i < fn->leaves.len; i++) {
		const struct cj_leaf *leaf = &fn->leaves.at[i];

		if (leaf->kind == CJ_LEAF_OBJECT) {
			*slot = address_of(k, leaf->object, slot);
			slot++;
			continue;
		}
		for (r = 0; r < cj_type_count(leaf->type); r++)
			*slot++ = *bits++;
	}
	assert(slot == s->slots + slots && "every leaf has its slots");
}

static uint32_t
entry_of(const struct cj_program *p, uint32_t function)
{
	uint32_t i;

	for (i = 0; i < p->entry_count; i++)
		if (p->functions[i] == function)
			break;
	assert(i < p->entry_count && "every device function is an entry");
	return i;
}

static bool
make_shot(struct packing *k, const struct cj_plan_step *step)
{
	const struct cj_program *p = k->program;
	struct cj_shot *s = &k->out->at[k->out->count];
	uint32_t entry = entry_of(p, step->function);
	int64_t threads = step->block[0] * step->block[1] * step->block[2];

	if (step->grid[0] <= 0 || step->grid[1] <= 0 || step->grid[2] <= 0)
		return true;
	if (!set_extents(k->work, p, grid_limits.name, grid_limits.limit,
	    step->grid, s->grid)
	    || !set_extents(k->work, p, block_limits.name,
	    block_limits.limit, step->block, s->block))
		return false;
	if (threads > CJ_MAX_BLOCK_THREADS) {
		cj_fail(k->work, CUTEJIT_ERROR, CJ_DIAG_LIMIT, "%s: a block "
		    "has %lld threads, and may have %d", p->kernel,
		    (long long)threads, CJ_MAX_BLOCK_THREADS);
		return false;
	}
	s->function = p->image->kernels[entry];
	s->shared_bytes = (uint32_t)p->image->dynamic[entry];
	pack_params(k, step, s);
	set_attributes(s, step);
	k->out->count++;
	return true;
}

static void
place_workspace(struct packing *k, const struct cj_plan_step *step,
    uint64_t *table, uint64_t *next)
{
	const struct cj_object *o =
	    &k->program->ir->objects.at[step->object];

	table[step->object] = *next;
	if (step->has_fill && step->elements > 0) {
		struct cj_filled *fill = &k->out->fills[k->out->fill_count++];

		fill->address = *next;
		fill->elements = step->elements;
		fill->kind = o->element;
		fill->fill = step->fill;
		fill->before = k->out->count;
	}
	*next += cj_workspace_bytes(k->program->ir, step);
}

static uint32_t
count_pointers(const struct cj_module *ir, const struct cj_plan *plan)
{
	uint32_t i, k, n = 0;

	for (i = 0; i < plan->steps.len; i++) {
		const struct cj_function *fn;

		if (!plan->steps.at[i].is_launch)
			continue;
		fn = &ir->functions.at[plan->steps.at[i].function];
		for (k = 0; k < fn->leaves.len; k++)
			n += fn->leaves.at[k].kind == CJ_LEAF_OBJECT;
	}
	return n;
}

cutejit_status
cj_shots_make(struct cj_work *f, struct cj_arena *a,
    const struct cj_program *p, const struct cj_arguments *args,
    const struct cj_plan *plan, uint64_t workspace, struct cj_shots *out)
{
	uint64_t *table = CJ_NEWS(&f->arena, uint64_t, p->ir->objects.len);
	struct packing k = { f, a, p, args, table, out, 0 };
	uint32_t i;

	memset(out, 0, sizeof *out);
	k.patch_cap = count_pointers(p->ir, plan);
	out->at = CJ_NEWS(a, struct cj_shot, plan->steps.len);
	out->fills = CJ_NEWS(a, struct cj_filled, plan->steps.len);
	out->patches = CJ_NEWS(a, struct cj_patch, k.patch_cap);
	for (i = 0; i < plan->steps.len; i++) {
		const struct cj_plan_step *step = &plan->steps.at[i];

		if (!step->is_launch)
			place_workspace(&k, step, table, &workspace);
		else if (!make_shot(&k, step))
			return CUTEJIT_ERROR;
	}
	return CUTEJIT_OK;
}

/* ---- firing -------------------------------------------------------------- */

static int
fill_memory(const struct cj_cuda *cu, const struct cj_filled *w, void *stream)
{
	unsigned bits = w->kind == CJ_KIND_BOOL ? 8 : cj_kind_bits(w->kind);
	size_t n = (size_t)w->elements;
	int rc;

	if (bits == 64 && (uint32_t)w->fill == w->fill >> 32)
		return cu->MemsetD32Async(w->address, (unsigned)w->fill,
		    2 * n, stream);
	switch (bits) {
	case 32:
		return cu->MemsetD32Async(w->address, (unsigned)w->fill, n,
		    stream);
	case 16:
		return cu->MemsetD16Async(w->address,
		    (unsigned short)w->fill, n, stream);
	case 8:
		return cu->MemsetD8Async(w->address, (unsigned char)w->fill,
		    n, stream);
	case 4:
		return cu->MemsetD8Async(w->address,
		    (unsigned char)((w->fill & 15) * 17), (n + 1) / 2,
		    stream);
	default:
		break;
	}
	for (rc = 0; n-- > 0 && rc == 0;)
		rc = cu->MemcpyHtoDAsync(w->address + 8 * n, &w->fill, 8,
		    stream);
	return rc;
}

static int
fire(const struct cj_cuda *cu, struct cj_shot *s, void *stream)
{
	struct cj_cuda_config config;

	if (s->config.count == 0)
		return cu->LaunchKernel(s->function, s->grid[0], s->grid[1],
		    s->grid[2], s->block[0], s->block[1], s->block[2],
		    s->shared_bytes, stream, s->params, NULL);
	config = s->config;
	config.stream = stream;
	return cu->LaunchKernelEx(&config, s->function, s->params, NULL);
}

int
cj_shots_fire(const struct cj_cuda *cu, const struct cj_shots *s,
    void *stream)
{
	uint32_t i, w = 0;
	int rc;

	for (i = 0; i < s->count; i++) {
		for (; w < s->fill_count && s->fills[w].before <= i; w++) {
			rc = fill_memory(cu, &s->fills[w], stream);
			if (rc != 0)
				return rc;
		}
		rc = fire(cu, &s->at[i], stream);
		if (rc != 0)
			return rc;
	}
	return 0;
}
