/*
 * Launches: a kernel with arguments that were checked once, run often.
 *
 * A run is a look at the current context and a call of the driver per launch of
 * the kernel. A change is checked when it is made: it patches what is ready
 * (ready.c), or makes all of it anew and puts that in place if it is right.
 */
#include "launch.h"

#include <stdlib.h>

#include "program.h"
#include "select.h"

static void
begin(struct cj_work *f, struct cutejit_kernel *k)
{
	f->module = k->module;
	f->doing = k->info.kernel;
	cj_set_warnings(f, &k->module->sources);
}

/* ---- workspaces ---------------------------------------------------------- */

static cutejit_status
allocate(struct cj_work *f, const struct cj_ready *r, size_t bytes,
    struct cj_scratch *out)
{
	int rc = r->cu->MemAlloc(&out->address, bytes);

	if (rc != 0)
		return cj_gpu_fail(f, r->cu, rc,
		    "there is no memory for a workspace");
	out->cu = r->cu;
	out->bytes = bytes;
	out->context = r->context;
	return CUTEJIT_OK;
}

/* What was given out may stand in graphs, so it stays while the launch does;
 * each is twice as large as the one before. */
static cutejit_status
own_workspace(struct cj_work *f, struct cutejit_launch *l,
    const struct cj_ready *r, uint64_t *out)
{
	size_t bytes = r->shots.workspace_bytes - r->shots.restored_bytes;
	struct cj_scratch *s = l->scratch;
	cutejit_status status;

	*out = 0;
	if (bytes == 0)
		return CUTEJIT_OK;
	if (s != NULL && s->bytes >= bytes && s->context == r->context) {
		*out = s->address;
		return CUTEJIT_OK;
	}
	if (s != NULL && bytes < 2 * s->bytes)
		bytes = 2 * s->bytes;
	s = cj_take(f->context, sizeof *s);
	if (s == NULL)
		cj_leave(&f->recover, CJ_WHY_MEMORY,
		    "there is no memory for a workspace");
	status = allocate(f, r, bytes, s);
	if (status != CUTEJIT_OK) {
		cj_give_back(f->context, s);
		return status;
	}
	s->next = l->scratch;
	l->scratch = s;
	*out = s->address;
	return CUTEJIT_OK;
}

/* Fills number `n` on of those that are restored; the first. */
static const struct cj_filled *
next_restored(const struct cj_shots *s, uint32_t *n)
{
	while (*n < s->fill_count && !s->fills[*n].restored)
		++*n;
	return *n < s->fill_count ? &s->fills[(*n)++] : NULL;
}

static bool
keeps_these(const struct cj_kept *k, const struct cj_ready *r)
{
	const struct cj_filled *w;
	uint32_t n = 0, i = 0;

	if (k->memory.context != r->context)
		return false;
	while ((w = next_restored(&r->shots, &n)) != NULL) {
		const struct cj_filled *own = &k->fills[i];

		if (i++ == k->count || own->offset != w->offset
		    || own->elements != w->elements || own->kind != w->kind
		    || own->fill != w->fill)
			return false;
	}
	return i == k->count;
}

static struct cj_kept *
take_kept(struct cutejit_context *c, const struct cj_shots *s)
{
	struct cj_kept *k = cj_take(c, sizeof *k + s->fill_count
	    * sizeof *k->fills);
	const struct cj_filled *w;
	uint32_t n = 0;

	if (k == NULL)
		return NULL;
	k->fills = (struct cj_filled *)(k + 1);
	while ((w = next_restored(s, &n)) != NULL)
		k->fills[k->count++] = *w;
	return k;
}

/* Memory of its own, so that nothing else is ever written there. */
static cutejit_status
own_kept(struct cj_work *f, struct cutejit_launch *l,
    const struct cj_ready *r, struct cj_kept **out)
{
	struct cj_kept *k = l->kept;
	cutejit_status status;

	*out = NULL;
	if (r->shots.restored_bytes == 0)
		return CUTEJIT_OK;
	while (k != NULL && !keeps_these(k, r))
		k = k->next;
	*out = k;
	if (k != NULL)
		return CUTEJIT_OK;
	k = take_kept(f->context, &r->shots);
	if (k == NULL)
		cj_leave(&f->recover, CJ_WHY_MEMORY,
		    "there is no memory for a workspace");
	status = allocate(f, r, r->shots.restored_bytes, &k->memory);
	if (status != CUTEJIT_OK) {
		cj_give_back(f->context, k);
		return status;
	}
	k->next = l->kept;
	l->kept = *out = k;
	return CUTEJIT_OK;
}

static cutejit_status
too_small(struct cj_work *f, size_t needed, size_t got)
{
	return cj_fail(f, CUTEJIT_ERROR, CJ_DIAG_WRONG_ARGUMENT,
	    "the workspace needs %zu bytes, got %zu", needed, got);
}

static cutejit_status
place_workspace(struct cj_work *f, struct cutejit_launch *l,
    struct cj_ready *r)
{
	size_t bytes = r->shots.workspace_bytes;
	uint64_t address = (uint64_t)(uintptr_t)l->user_workspace;
	struct cj_kept *kept = NULL;
	struct cj_gpu gpu;
	cutejit_status status;

	if (!r->on_gpu || bytes == 0) {
		l->in_use = NULL;
		return CUTEJIT_OK;
	}
	if (l->user_workspace != NULL && l->user_bytes < bytes)
		return too_small(f, bytes, l->user_bytes);
	if (l->user_workspace == NULL) {
		status = cj_gpu_enter(f, r->ordinal, &gpu);
		if (status == CUTEJIT_OK) {
			status = own_workspace(f, l, r, &address);
			if (status == CUTEJIT_OK)
				status = own_kept(f, l, r, &kept);
			cj_gpu_leave(f, &gpu);
		}
		if (status != CUTEJIT_OK)
			return status;
	}
	cj_shots_place(&r->shots, address);
	if (kept != NULL)
		cj_shots_place_restored(&r->shots, kept->memory.address);
	l->in_use = kept;
	return CUTEJIT_OK;
}

/* The driver may be gone, or the device reset: memory then is too. */
static void
free_memory(const struct cj_scratch *s)
{
	void *was;

	if (cj_cuda_is_ours() && s->cu->CtxPushCurrent(s->context) == 0) {
		s->cu->MemFree(s->address);
		s->cu->CtxPopCurrent(&was);
	}
}

static void
free_workspaces(struct cutejit_launch *l, struct cutejit_context *c)
{
	while (l->scratch != NULL) {
		struct cj_scratch *s = l->scratch;

		l->scratch = s->next;
		free_memory(s);
		cj_give_back(c, s);
	}
	while (l->kept != NULL) {
		struct cj_kept *k = l->kept;

		l->kept = k->next;
		free_memory(&k->memory);
		cj_give_back(c, k);
	}
}

/* ---- life ---------------------------------------------------------------- */

static cutejit_status
make_ready(struct cj_work *f, struct cutejit_launch *l,
    const cutejit_argument *given, size_t count)
{
	struct cj_ready *r;
	cutejit_status status = cj_ready_make(f, l->kernel, given, count, &r);

	if (status != CUTEJIT_OK)
		return status;
	cj_defer(f, cj_ready_drop, r);
	status = place_workspace(f, l, r);
	cj_undefer(f);
	if (status != CUTEJIT_OK) {
		cj_ready_drop(r);
		return status;
	}
	cj_ready_drop(l->ready);
	l->ready = r;
	return CUTEJIT_OK;
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

static cutejit_status
prepare(struct cj_work *f, void *arguments)
{
	struct preparing *p = arguments;
	struct cutejit_launch *l = cj_take(f->context, sizeof *l);
	cutejit_status status;

	begin(f, p->kernel);
	if (l == NULL)
		cj_leave(&f->recover, CJ_WHY_MEMORY,
		    "there is no memory for a launch");
	cj_handle_init(l, CJ_LAUNCH, f->context);
	l->kernel = p->kernel;
	cj_kernel_hold(l->kernel);
	cj_defer(f, destroy, l);
	status = make_ready(f, l, p->given, p->count);
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
		return cj_handle_misuse(kernel,
		    "the place for the result is NULL");
	*out = NULL;
	if (!cj_is(kernel, CJ_KERNEL))
		return cj_handle_refuse(kernel);
	if (arguments == NULL && count != 0)
		return cj_handle_misuse(kernel, "the arguments are NULL");
	status = cj_enter(kernel->module->context, prepare, &p);
	*out = p.out;
	return status;
}

void
cutejit_launch_destroy(cutejit_launch *launch)
{
	struct cutejit_kernel *k;

	if (!cj_handle_close(launch, CJ_LAUNCH))
		return;
	k = launch->kernel;
	free_workspaces(launch, k->module->context);
	cj_ready_drop(launch->ready);
	cj_handle_free(k->module->context, launch);
	cj_kernel_drop(k);
}

/* ---- changing arguments -------------------------------------------------- */

struct setting {
	struct cutejit_launch *launch;
	size_t first, count;
	const cutejit_argument *to;
};

/* Names that are not given again stay. */
static cutejit_status
set(struct cj_work *f, void *arguments)
{
	struct setting *s = arguments;
	struct cj_ready *r = s->launch->ready;
	cutejit_argument *all = CJ_NEWS(&f->arena, cutejit_argument,
	    r->count);
	size_t i;

	begin(f, s->launch->kernel);
	memcpy(all, r->given, r->count * sizeof *all);
	for (i = 0; i < s->count; i++) {
		const char *name = all[s->first + i].name;

		all[s->first + i] = s->to[i];
		if (s->to[i].name == NULL)
			all[s->first + i].name = name;
	}
	return make_ready(f, s->launch, all, r->count);
}

cutejit_status
cutejit_launch_set(cutejit_launch *launch, size_t index,
    const cutejit_argument *argument)
{
	struct setting s = { launch, index, 1, argument };

	if (!cj_is(launch, CJ_LAUNCH))
		return cj_handle_refuse(launch);
	if (argument == NULL
	    || index >= launch->ready->count)
		return cj_handle_misuse(launch,
		    "the argument is NULL, or there are not that many");
	if (cj_ready_patch(launch->ready, index, argument))
		return CUTEJIT_OK;
	return cj_enter(launch->kernel->module->context, set, &s);
}

cutejit_status
cutejit_launch_set_all(cutejit_launch *launch,
    const cutejit_argument *arguments)
{
	struct setting s = { launch, 0, 0, arguments };

	if (!cj_is(launch, CJ_LAUNCH))
		return cj_handle_refuse(launch);
	if (arguments == NULL)
		return cj_handle_misuse(launch, "the arguments are NULL");
	s.count = launch->ready->count;
	return cj_enter(launch->kernel->module->context, set, &s);
}

cutejit_status
cutejit_launch_set_data(cutejit_launch *launch, size_t index, void *data)
{
	cutejit_argument to;
	cutejit_dlpack managed;
	cutejit_tensor moved;

	if (!cj_is(launch, CJ_LAUNCH))
		return cj_handle_refuse(launch);
	if (index >= launch->ready->count)
		return cj_handle_misuse(launch,
		    "there are not that many arguments");
	to = launch->ready->given[index];
	if (to.kind == CUTEJIT_ARG_TENSOR) {
		moved = *to.value.tensor;
		moved.data = data;
		to.value.tensor = &moved;
	} else if (to.kind == CUTEJIT_ARG_DLPACK) {
		managed = *to.value.dlpack;
		managed.tensor.data = data;
		to.value.dlpack = &managed;
	} else {
		return cj_handle_misuse(launch,
		    "the argument of this index is no tensor");
	}
	return cutejit_launch_set(launch, index, &to);
}

/* ---- running ------------------------------------------------------------- */

struct running {
	struct cutejit_launch *launch;
	void *stream;
	int error;			/* of a launch that was tried */
};

/* A stream is asked for its context when it comes first. What is captured has
 * not been filled. */
static int
fire(struct cutejit_launch *l, void *context, void *stream)
{
	const struct cj_ready *ready = l->ready;
	struct cj_kept *kept = l->in_use;
	int rc = 0, capturing = 0;

	if (stream != l->stream || context != l->stream_context) {
		rc = cj_stream_check(ready->cu, context, stream);
		if (rc != 0)
			return rc;
		l->stream = stream;
		l->stream_context = context;
	}
	rc = cj_shots_fire(ready->cu, &ready->shots,
	    kept != NULL && kept->is_filled, stream);
	if (rc == 0 && kept != NULL && !kept->is_filled)
		kept->is_filled = ready->cu->StreamIsCapturing(stream,
		    &capturing) == 0 && capturing == 0;
	return rc;
}

static cutejit_status
run_on_gpu(struct cj_work *f, struct running *r)
{
	struct cj_ready *ready = r->launch->ready;
	struct cj_gpu gpu;
	cutejit_status status;
	int rc = r->error;

	if (rc != 0)
		return cj_launch_fail(f, ready->cu, rc);
	status = cj_gpu_enter(f, ready->ordinal, &gpu);
	if (status != CUTEJIT_OK)
		return status;
	rc = fire(r->launch, gpu.context, r->stream);
	if (rc != 0)
		status = cj_launch_fail(f, gpu.cu, rc);
	cj_gpu_leave(f, &gpu);
	return status;
}

static cutejit_status
run(struct cj_work *f, void *arguments)
{
	struct running *r = arguments;
	struct cutejit_launch *l = r->launch;
	struct cj_cpu_run defaults = { 0 };

	begin(f, l->kernel);
	if (l->ready->on_gpu)
		return run_on_gpu(f, r);
	return cj_cpu_run(f, l->kernel->program, &l->ready->args,
	    &l->ready->plan, &defaults);
}

/* The short way: on a GPU, its context current. */
cutejit_status
cutejit_launch_run(cutejit_launch *launch, void *stream)
{
	struct running r = { launch, stream, 0 };
	const struct cj_ready *ready;
	void *current;

	if (!cj_is(launch, CJ_LAUNCH))
		return cj_handle_refuse(launch);
	ready = launch->ready;
	if (ready->on_gpu && ready->cu->CtxGetCurrent(&current) == 0
	    && current == ready->context) {
		r.error = fire(launch, current, stream);
		if (r.error == 0)
			return CUTEJIT_OK;
	}
	return cj_enter(launch->kernel->module->context, run, &r);
}

/* ---- the workspace as the caller sees it --------------------------------- */

size_t
cutejit_launch_workspace(const cutejit_launch *launch)
{
	return cj_is(launch, CJ_LAUNCH)
	    ? launch->ready->plan.workspace_bytes : 0;
}

struct placing {
	struct cutejit_launch *launch;
	void *memory;
	size_t bytes;
};

static cutejit_status
place(struct cj_work *f, void *arguments)
{
	struct placing *p = arguments;
	struct cutejit_launch *l = p->launch;
	size_t needed = l->ready->plan.workspace_bytes;

	if (p->memory != NULL && p->bytes < needed)
		return too_small(f, needed, p->bytes);
	l->user_workspace = p->memory;
	l->user_bytes = p->bytes;
	return place_workspace(f, l, l->ready);
}

cutejit_status
cutejit_launch_workspace_set(cutejit_launch *launch, void *memory,
    size_t bytes)
{
	struct placing p = { launch, memory, bytes };

	if (!cj_is(launch, CJ_LAUNCH))
		return cj_handle_refuse(launch);
	if ((uintptr_t)memory % CJ_WORKSPACE_ALIGN != 0)
		return cj_handle_misuse(launch,
		    "the workspace is not aligned to 256 bytes");
	return cj_enter(launch->kernel->module->context, place, &p);
}
