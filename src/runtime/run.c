/*
 * Runs for tools: arrays in host memory, one kernel, once, on any device.
 */
#include "profile.h"
#include "testing.h"

struct running {
	struct cutejit_module *module;
	const char *kernel;
	const cutejit_argument *given;
	size_t count;
	const cutejit_compile_options *compile_given;
	const cutejit_run_options *run_given;
	cutejit_run_result result;
	struct cj_testing t;
	bool reached;			/* the line to stop at */
};

static cutejit_status
check_host(struct cj_work *f, const struct cj_arguments *args)
{
	uint32_t i, k;

	for (i = 0; i < args->count; i++)
		for (k = 0; args->views[i] != NULL
		    && k < args->actuals[i].count; k++)
			if (args->views[i][k].device_type
			    == CUTEJIT_DL_CUDA)
				return cj_fail(f, CUTEJIT_ERROR,
				    CJ_DIAG_WRONG_DEVICE, "argument \"%s\" "
				    "lies on a GPU, and must lie in host "
				    "memory", args->names[i]);
	return CUTEJIT_OK;
}

/* Views that share memory share a block: overlapping ranges become one. */
static bool
add_range(struct cj_blocks *b, char *begin, char *end)
{
	struct cj_block **at = &b->first;

	while (*at != NULL) {
		struct cj_block *k = *at;

		if (begin <= k->host + k->bytes && k->host <= end) {
			if (k->host < begin)
				begin = k->host;
			if (k->host + k->bytes > end)
				end = k->host + k->bytes;
			*at = k->next;
			cj_give_back(b->context, k);
		} else {
			at = &k->next;
		}
	}
	return cj_blocks_add(b, begin, (size_t)(end - begin)) != NULL;
}

static bool
add_view(struct cj_blocks *b, const struct cj_view *v)
{
	int64_t bits = v->kind == CJ_KIND_BOOL ? 8
	    : (int64_t)cj_kind_bits(v->kind);

	return add_range(b, v->data + (v->lo * bits >> 3),
	    v->data + ((v->hi * bits + 7) >> 3));
}

static void
add_blocks(struct cj_work *f, struct cj_blocks *b,
    const struct cj_arguments *args)
{
	uint32_t i, k;

	for (i = 0; i < args->count; i++)
		for (k = 0; args->views[i] != NULL
		    && k < args->actuals[i].count; k++)
			if (!add_view(b, &args->views[i][k]))
				cj_leave(&f->recover, CJ_WHY_MEMORY,
				    "there is no memory for the arrays");
}

static cutejit_status
bring_back(struct cj_work *f, struct cj_testing *t)
{
	struct cj_block *k;
	int rc = 0;

	for (k = t->blocks.first; k != NULL && rc == 0; k = k->next)
		if (!k->is_ours)
			rc = cj_block_download(&t->blocks, k);
	return rc == 0 ? CUTEJIT_OK : cj_gpu_fail(f, t->gpu.cu, rc,
	    "an array cannot be brought back from the GPU");
}

/* What it cost goes to the caller. */
static void
give_profile(struct cj_work *f, const struct running *r,
    const struct cj_selected *s)
{
	const cutejit_run_options *o = &r->t.options;
	struct cj_profiled p = { .arena = &f->arena, .kernel = r->kernel,
	    .ir = s->program->ir, .plan = &s->plan,
	    .counts = r->t.cpu.profile, .timeline = r->t.cpu.timeline,
	    .source = s->recipe.member->span.source };
	struct cj_strbuf out;

	cj_strbuf_init(&out, &f->arena);
	cj_profile_lines(&p);
	switch (o->profile) {
	case CUTEJIT_PROFILE_NONE:
		return;
	case CUTEJIT_PROFILE_JSON:
		cj_profile_json(&out, &p);
		break;
	case CUTEJIT_PROFILE_HTML:
		cj_profile_html(&out, &p);
		break;
	case CUTEJIT_PROFILE_TRACE:
		cj_timeline_json(&out, &p);
		break;
	}
	o->take_profile(o->user, out.text);
}

static bool
wants_profile(const struct running *r)
{
	return r->t.options.profile != CUTEJIT_PROFILE_NONE
	    && r->t.options.take_profile != NULL && !r->t.on_gpu;
}

static cutejit_status
launch(struct cj_work *f, struct running *r, struct cj_request *q,
    const cutejit_compile_options *o)
{
	struct cj_selected s = { 0 };
	cutejit_status status;
	int64_t start;

	status = cj_select(f, r->module, q, o, &s);
	if (status != CUTEJIT_OK)
		return status;
	r->t.cpu.is_traced = r->t.options.trace != 0;
	r->t.cpu.trace.block = r->t.options.trace_block;
	r->t.cpu.trace.warp = r->t.options.trace_warp;
	if (r->t.options.stop_line != 0) {
		r->t.cpu.is_traced = true;
		if (r->t.options.trace == 0)
			r->t.cpu.trace.warp = CJ_TRACE_ALL;
		r->t.cpu.trace.stop_line = r->t.options.stop_line;
		r->t.cpu.trace.stop_source =
		    s.recipe.member->span.source;
		r->t.cpu.trace.reached = &r->reached;
	}
	if (wants_profile(r)) {
		r->t.cpu.profile = cj_profile_create(&f->arena,
		    s.program->ir);
		r->t.cpu.timeline = cj_timeline_create(&f->arena,
		    r->t.options.trace_block);
	}
	start = cj_clock();
	status = cj_testing_launch(&r->t, &s, q->arguments);
	r->result.ms = cj_ms_since(start);
	r->result.member = s.program->member;
	if (status == CUTEJIT_OK && r->t.on_gpu)
		status = bring_back(f, &r->t);
	if (status == CUTEJIT_OK && r->t.options.stop_line != 0 &&
	    !r->reached)
		status = cj_fail(f, CUTEJIT_ERROR, CJ_DIAG_WRONG_ARGUMENT,
		    "no warp of block %llu has come to line %u",
		    (unsigned long long)r->t.options.trace_block,
		    r->t.options.stop_line);
	if (status == CUTEJIT_OK && wants_profile(r))
		give_profile(f, r, &s);
	cj_select_end(f, &s);
	return status;
}

static cutejit_status
run_on_gpu(struct cj_work *f, struct running *r, struct cj_request *q,
    cutejit_compile_options *o)
{
	struct cj_testing *t = &r->t;
	cutejit_status status;
	cutejit_gpu gpu;

	status = cj_gpu_enter(f, t->options.ordinal, &t->gpu);
	if (status != CUTEJIT_OK)
		return status;
	cj_gpu_probe(f, t->gpu.ordinal, &gpu);
	memcpy(r->result.device_name, gpu.name, sizeof gpu.name);
	r->result.device = CUTEJIT_DEVICE_GPU;
	if (o->target == NULL) {
		q->gpu = cj_memdup(&f->arena, &gpu, sizeof gpu);
		if (gpu.target[0] != '\0')
			o->target = cj_strdup(&f->arena, gpu.target);
	}
	q->on = &t->gpu;
	q->stage = CJ_STAGE_IMAGE;
	cj_blocks_begin(f, &t->blocks, t->gpu.cu);
	add_blocks(f, &t->blocks, q->arguments);
	status = launch(f, r, q, o);
	cj_blocks_end(f, &t->blocks);
	cj_gpu_leave(f, &t->gpu);
	return status;
}

static cutejit_status
read_options(struct cj_work *f, struct running *r,
    cutejit_compile_options *o, bool use[2])
{
	cutejit_run_options run;
	cutejit_status status = cj_compile_options(f, r->compile_given, o);

	if (status != CUTEJIT_OK)
		return status;
	if (!cj_run_options_read(r->run_given, &run))
		return cj_fail(f, CUTEJIT_USAGE, CJ_DIAG_USAGE,
		    "the options of the run have a wrong size or value");
	if (o->level == CUTEJIT_LEVEL_DEFAULT)
		o->level = run.level;
	o->checked = o->checked || run.checked;
	o->lineinfo = o->lineinfo || run.lineinfo;
	cj_testing_init(&r->t, r->module, 0, &run);
	return cj_run_devices(f, &run, false, use);
}

static cutejit_status
run(struct cj_work *f, void *arguments)
{
	struct running *r = arguments;
	struct cj_arguments args = { .arena = &f->arena };
	struct cj_request q = { .kernel = r->kernel, .arguments = &args };
	const struct cj_member_info *family;
	cutejit_compile_options o;
	cutejit_status status;
	uint32_t members;
	bool use[2];

	f->module = r->module;
	f->doing = r->kernel;
	cj_set_warnings(f, &r->module->sources);
	status = read_options(f, r, &o, use);
	if (status != CUTEJIT_OK)
		return status;
	family = cj_module_family(f, r->module, r->kernel, &members);
	if (family == NULL)
		return CUTEJIT_ERROR;
	status = cj_arguments_read(f, r->module, &family[0], r->given,
	    r->count, &args);
	if (status == CUTEJIT_OK)
		status = check_host(f, &args);
	if (status != CUTEJIT_OK)
		return status;
	r->t.work = f;
	r->t.on_gpu = use[1];
	if (use[1])
		return run_on_gpu(f, r, &q, &o);
	q.on_cpu = true;
	q.watched = cj_cpu_watches(&r->t.cpu);
	q.stage = CJ_STAGE_IR;
	r->result.device = CUTEJIT_DEVICE_CPU;
	snprintf(r->result.device_name, sizeof r->result.device_name,
	    "executor");
	return launch(f, r, &q, &o);
}

cutejit_status
cutejit_run(cutejit_module *module, const char *kernel,
    const cutejit_argument *arguments, size_t count,
    const cutejit_compile_options *compile,
    const cutejit_run_options *options, cutejit_run_result *result)
{
	struct running r = { module, kernel, arguments, count, compile,
	    options, { 0 }, { 0 }, false };
	cutejit_status status;

	if (!cj_is(module, CJ_MODULE))
		return cj_handle_refuse(module);
	if (kernel == NULL
	    || (arguments == NULL && count != 0))
		return cj_handle_misuse(module,
		    "the kernel's name or the arguments are NULL");
	status = cj_enter(module->context, run, &r);
	if (result != NULL)
		*result = r.result;
	return status;
}
