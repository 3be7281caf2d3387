/*
 * Calls in one go: find the member that fits, check, launch.
 */
#include "device.h"
#include "program.h"
#include "select.h"

struct calling {
	struct cutejit_module *module;
	const char *kernel;
	const cutejit_argument *given;
	size_t count;
	const cutejit_compile_options *options;
	void *stream;
};

/* A workspace of the call itself goes when the kernel has ended. */
static cutejit_status
fire_once(struct cj_work *f, const struct cj_gpu *gpu,
    const struct cj_selected *s, const struct cj_arguments *args,
    void *stream)
{
	size_t bytes = s->plan.workspace_bytes;
	struct cj_shots shots;
	uint64_t memory = 0;
	cutejit_status status;
	int rc = 0;

	if (bytes != 0)
		rc = gpu->cu->MemAlloc(&memory, bytes);
	if (rc != 0)
		return cj_gpu_fail(f, gpu->cu, rc,
		    "there is no memory for a workspace");
	status = cj_shots_make(f, &f->arena, s->program, args, &s->plan,
	    memory, &shots);
	if (status == CUTEJIT_OK) {
		rc = cj_shots_fire(gpu->cu, &shots, stream);
		if (rc == 0 && bytes != 0)
			rc = gpu->cu->StreamSynchronize(stream);
		if (rc != 0)
			status = cj_gpu_fail(f, gpu->cu, rc,
			    "the launch failed");
	}
	if (bytes != 0)
		gpu->cu->MemFree(memory);
	return status;
}

static cutejit_status
call_on_gpu(struct cj_work *f, struct calling *c, struct cj_request *q,
    cutejit_compile_options *o, int ordinal)
{
	struct cj_selected s = { 0 };
	struct cj_gpu gpu;
	cutejit_gpu about;
	cutejit_status status = cj_gpu_enter(f, ordinal, &gpu);

	if (status != CUTEJIT_OK)
		return status;
	q->sms = cj_gpu_sms(&gpu);
	q->stage = CJ_STAGE_IMAGE;
	if (o->target == NULL && cj_gpu_probe(f, gpu.ordinal, &about)
	    && about.target[0] != '\0')
		o->target = cj_strdup(&f->arena, about.target);
	status = cj_select(f, c->module, q, o, &s);
	if (status == CUTEJIT_OK) {
		status = cj_image_load(f, gpu.cu, s.program);
		if (status == CUTEJIT_OK)
			status = fire_once(f, &gpu, &s, q->arguments,
			    c->stream);
		cj_select_end(f, &s);
	}
	cj_gpu_leave(f, &gpu);
	return status;
}

static cutejit_status
call_on_cpu(struct cj_work *f, struct calling *c, struct cj_request *q,
    const cutejit_compile_options *o)
{
	struct cj_cpu_run defaults = { 0 };
	struct cj_selected s = { 0 };
	cutejit_status status;

	q->on_cpu = true;
	q->stage = CJ_STAGE_IR;
	q->sms = CJ_CPU_SMS;
	status = cj_select(f, c->module, q, o, &s);
	if (status != CUTEJIT_OK)
		return status;
	status = cj_cpu_run(f, s.program->ir, q->arguments, &s.plan,
	    &defaults);
	cj_select_end(f, &s);
	return status;
}

static cutejit_status
call(struct cj_work *f, void *arguments)
{
	struct calling *c = arguments;
	struct cj_arguments args = { .arena = &f->arena };
	struct cj_request q = { c->kernel, &args, 0, false, false,
	    CJ_STAGE_IR };
	cutejit_compile_options o;
	cutejit_status status = cj_compile_options(f, c->options, &o);
	const struct cj_member_info *family;
	uint32_t members;
	bool on_gpu;
	int ordinal;

	f->module = c->module;
	f->doing = c->kernel;
	cj_set_warnings(f, &c->module->sources);
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
	struct calling c = { module, kernel, arguments, count, options,
	    stream };

	if (module == NULL || kernel == NULL
	    || (arguments == NULL && count != 0))
		return CUTEJIT_USAGE;
	return cj_enter(module->context, call, &c);
}
