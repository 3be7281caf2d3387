/*
 * Calls in one go: find the member that fits, check, launch.
 *
 * A call that looks like one before goes the short way (quick.c); this is the
 * long one.
 */
#include "program.h"
#include "quick.h"

/* A workspace of the call itself goes when the kernel has ended. */
static cutejit_status
fire_once(struct cj_work *f, const struct cj_gpu *gpu,
    const struct cj_selected *s, const struct cj_arguments *args,
    void *stream)
{
	struct cj_shots shots;
	uint64_t memory = 0;
	cutejit_status status = cj_shots_make(f, &f->arena, s->program, args,
	    &s->plan, &shots);
	int rc, freed = 0;

	if (status != CUTEJIT_OK)
		return status;
	rc = cj_stream_check(gpu->cu, gpu->context, stream);
	if (rc != 0)
		return cj_launch_fail(f, gpu->cu, rc);
	if (shots.workspace_bytes != 0)
		rc = cj_scratch_take(gpu->cu, gpu->ordinal,
		    shots.workspace_bytes, stream, &memory);
	if (rc != 0)
		return cj_gpu_fail(f, gpu->cu, rc,
		    "there is no memory for a workspace");
	cj_shots_place(&shots, memory);
	rc = cj_shots_fire(gpu->cu, &shots, false, stream);
	if (shots.workspace_bytes != 0)
		freed = cj_scratch_give(gpu->cu, gpu->ordinal, stream,
		    memory);
	if (rc == 0)
		rc = freed;
	return rc == 0 ? CUTEJIT_OK
	    : cj_launch_fail(f, gpu->cu, rc);
}

/* All memory is taken before the kernel is launched. */
static cutejit_status
fire_and_keep(struct cj_work *f, const struct cj_calling *c,
    const struct cj_gpu *gpu, void *current, const struct cj_selected *s,
    const struct cj_arguments *args)
{
	struct cj_quick *q = cj_quick_make(f, c, gpu, current, s, args);
	cutejit_status status;

	if (q == NULL)
		return fire_once(f, gpu, s, args, c->stream);
	cj_defer(f, cj_quick_drop, q);
	status = fire_once(f, gpu, s, args, c->stream);
	cj_undefer(f);
	if (status == CUTEJIT_OK)
		cj_quick_keep(c, q);
	else
		cj_quick_drop(q);
	return status;
}

/* The context that the caller has, before we use any. */
static void *
current_context(struct cj_work *f)
{
	const struct cj_cuda *cu;
	void *current = NULL;

	if (cj_gpu_driver(f, &cu) != CUTEJIT_OK
	    || cu->CtxGetCurrent(&current) != 0)
		return NULL;
	return current;
}

static cutejit_status
call_on_gpu(struct cj_work *f, struct cj_calling *c, struct cj_request *q,
    cutejit_compile_options *o, int ordinal)
{
	struct cj_selected s = { 0 };
	void *current = current_context(f);
	struct cj_gpu gpu;
	cutejit_gpu about;
	cutejit_status status = f->diags.errors != 0 ? CUTEJIT_MISSING
	    : cj_gpu_enter(f, ordinal, &gpu);

	if (status != CUTEJIT_OK)
		return status;
	q->on = &gpu;
	q->stage = CJ_STAGE_IMAGE;
	if (o->target == NULL && cj_gpu_probe(f, gpu.ordinal, &about)) {
		q->gpu = cj_memdup(&f->arena, &about, sizeof about);
		if (about.target[0] != '\0')
			o->target = cj_strdup(&f->arena, about.target);
	}
	status = cj_select(f, c->module, q, o, &s);
	if (status == CUTEJIT_OK) {
		status = cj_image_load(f, gpu.cu, s.program);
		if (status == CUTEJIT_OK)
			status = fire_and_keep(f, c, &gpu, current, &s,
			    q->arguments);
		cj_select_end(f, &s);
	}
	cj_gpu_leave(f, &gpu);
	return status;
}

static cutejit_status
call_on_cpu(struct cj_work *f, struct cj_calling *c, struct cj_request *q,
    const cutejit_compile_options *o)
{
	struct cj_cpu_run defaults = { 0 };
	struct cj_selected s = { 0 };
	cutejit_status status;

	q->on_cpu = q->watched = true;
	q->stage = CJ_STAGE_IR;
	status = cj_select(f, c->module, q, o, &s);
	if (status != CUTEJIT_OK)
		return status;
	status = cj_cpu_run(f, s.program, q->arguments, &s.plan,
	    &defaults);
	cj_select_end(f, &s);
	return status;
}

static cutejit_status
call(struct cj_work *f, void *arguments)
{
	struct cj_calling *c = arguments;
	struct cj_arguments args = { .arena = &f->arena };
	struct cj_request q = { .kernel = c->kernel, .arguments = &args,
	    .stage = CJ_STAGE_IR };
	cutejit_compile_options o;
	cutejit_status status;
	const struct cj_member_info *family;
	uint32_t members;
	bool on_gpu;
	int ordinal;

	f->module = c->module;
	f->doing = c->kernel;
	cj_set_warnings(f, &c->module->sources);
	if (c->error != 0)
		return cj_launch_fail(f, c->cu, c->error);
	status = cj_compile_options(f, c->options, &o);
	if (status != CUTEJIT_OK)
		return status;
	family = cj_module_family(f, c->module, c->kernel, &members);
	if (family == NULL)
		return CUTEJIT_ERROR;
	status = cj_arguments_read(f, c->module, &family[0], c->given,
	    c->count, &args);
	if (status == CUTEJIT_OK)
		status = cj_device_of(f, &args, &on_gpu, &ordinal);
	if (status != CUTEJIT_OK)
		return status;
	return on_gpu ? call_on_gpu(f, c, &q, &o, ordinal)
	    : call_on_cpu(f, c, &q, &o);
}

cutejit_status
cutejit_call(cutejit_module *module, const char *kernel,
    const cutejit_argument *arguments, size_t count,
    const cutejit_compile_options *options, void *stream)
{
	struct cj_calling c = { .module = module, .kernel = kernel,
	    .given = arguments, .count = count, .options = options,
	    .stream = stream };

	if (!cj_is(module, CJ_MODULE))
		return cj_handle_refuse(module);
	if (kernel == NULL
	    || (arguments == NULL && count != 0))
		return cj_handle_misuse(module,
		    "the kernel's name or the arguments are NULL");
	if (cj_quick_call(&c) && c.error == 0)
		return CUTEJIT_OK;
	return cj_enter(module->context, call, &c);
}
