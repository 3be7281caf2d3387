/*
 * Tests as programs: the executor runs the test's own function, and each launch
 * in it comes here.
 *
 * A launch becomes arguments, a search for the member that fits, a plan, and a
 * run on the test's device. Arrays live in host memory; where a GPU takes part
 * they have mirrors, copied only when the other side looks.
 */
#include "testing.h"

#include "program.h"
#include "tune.h"

void
cj_testing_init(struct cj_testing *t, struct cutejit_module *m,
    uint32_t index, const cutejit_run_options *o)
{
	memset(t, 0, sizeof *t);
	t->module = m;
	t->index = index;
	t->options = *o;
	t->cpu.checks = o->checks;
	t->cpu.schedules = o->schedules;
	t->cpu.seed = o->seed;
	t->cpu.step_limit = o->step_limit;
	cj_arena_init(&t->arena, NULL, &m->context->mem);
}

void
cj_testing_fini(struct cj_testing *t)
{
	cj_arena_fini(&t->arena);
}

bool
cj_run_options_read(const cutejit_run_options *given,
    cutejit_run_options *out)
{
	const cutejit_run_options defaults = CUTEJIT_RUN_OPTIONS_INIT;

	*out = defaults;
	return cj_options_copy(out, sizeof *out, given)
	    && (unsigned)out->device <= CUTEJIT_DEVICE_BOTH
	    && (unsigned)out->level <= CUTEJIT_LEVEL_3 && out->ordinal >= 0
	    && (unsigned)out->profile <= CUTEJIT_PROFILE_TRACE
	    && (out->profile == CUTEJIT_PROFILE_NONE
	    || out->take_profile != NULL)
	    && (out->checks & ~(unsigned)(CUTEJIT_CHECK_ALL
	    | CUTEJIT_CHECK_NONE)) == 0;
}

cutejit_status
cj_run_devices(struct cj_work *f, const cutejit_run_options *o,
    bool auto_means_both, bool use[2])
{
	const struct cj_cuda *cu;
	cutejit_gpu gpu;
	bool have;

	use[0] = o->device != CUTEJIT_DEVICE_GPU;
	use[1] = o->device != CUTEJIT_DEVICE_CPU;
	if (!use[1])
		return CUTEJIT_OK;
	have = cj_gpu_probe(f, o->ordinal, &gpu);
	if (o->device == CUTEJIT_DEVICE_AUTO) {
		use[1] = have;
		use[0] = !have || auto_means_both;
		return CUTEJIT_OK;
	}
	if (have)
		return CUTEJIT_OK;
	if (cj_gpu_driver(f, &cu) != CUTEJIT_OK)
		return CUTEJIT_MISSING;
	return cj_fail(f, CUTEJIT_MISSING, CJ_DIAG_MISSING_GPU,
	    "there is no GPU %d: the driver finds %d", o->ordinal,
	    cu->devices);
}

/* ---- arguments of a launch ----------------------------------------------- */

static bool
read_tensor(struct cj_testing *t, const struct cj_argument *record,
    const struct cj_call_argument *from, const char *name, struct cj_view *v)
{
	struct cj_memory *m = from->memory;
	int64_t bits = record->element == CJ_KIND_BOOL ? 8
	    : (int64_t)cj_kind_bits(record->element);

	v->kind = record->element;
	v->rank = record->rank;
	v->extents = from->extents;
	v->strides = from->strides;
	v->data = m->data + (from->offset * bits >> 3);
	v->device_type = CUTEJIT_DL_CPU;
	v->memory = m;
	v->origin = from->offset;
	if (!cj_view_reach(v)) {
		cj_fail(t->work, CUTEJIT_ERROR, CJ_DIAG_WRONG_ARGUMENT,
		    "\"%s\" reaches farther than 64 bits", name);
		return false;
	}
	if (v->lo == v->hi
	    || (v->lo + v->origin >= m->lo && v->hi + v->origin <= m->hi))
		return true;
	cj_fail(t->work, CUTEJIT_ERROR, CJ_DIAG_WRONG_ARGUMENT,
	    "\"%s\" reaches outside its array, which has elements %lld..%lld: "
	    "the view that is given has %lld..%lld", name, (long long)m->lo,
	    (long long)m->hi, (long long)(v->lo + v->origin),
	    (long long)(v->hi + v->origin));
	return false;
}

static uint32_t
count_members(const struct cj_call *record, uint32_t parameter)
{
	uint32_t i, n = 0;

	for (i = 0; i < record->count; i++)
		if (record->argument[i].parameter == parameter
		    && record->argument[i].member >= n)
			n = record->argument[i].member + 1;
	return n;
}

static void
set_actual(struct cj_actual *a, const struct cj_view *v)
{
	a->present = a->is_tensor = true;
	a->kind = v->kind;
	a->rank = v->rank;
	a->extents = v->extents;
	a->strides = v->strides;
	a->count = 1;
}

/* Tensors of a parameter: the first in `actuals`, the others behind `more`. */
static void
join_members(struct cj_arena *arena, struct cj_actual *a,
    const struct cj_view *views, uint32_t count)
{
	struct cj_actual *more = CJ_NEWS(arena, struct cj_actual, count);
	uint32_t i;

	for (i = 0; i < count; i++)
		set_actual(&more[i], &views[i]);
	*a = more[0];
	a->count = count;
	a->more = more + 1;
}

static bool
read_arguments(struct cj_testing *t, const struct cj_call *record,
    const struct cj_call_argument *from, struct cj_arguments *out)
{
	struct cj_arena *a = &t->work->arena;
	uint32_t i;

	for (i = 0; i < record->count; i++) {
		const struct cj_argument *r = &record->argument[i];
		struct cj_actual *actual = &out->actuals[r->parameter];
		uint32_t members;

		assert(r->parameter < out->count && "a parameter");
		switch (r->kind) {
		case CJ_ARGUMENT_NONE:
			break;
		case CJ_ARGUMENT_SCALAR:
			actual->present = true;
			actual->kind = r->element;
			actual->bits = from[i].scalar;
			break;
		case CJ_ARGUMENT_TENSOR:
			members = count_members(record, r->parameter);
			if (out->views[r->parameter] == NULL)
				out->views[r->parameter] = CJ_NEWS(a,
				    struct cj_view, members);
			if (!read_tensor(t, r, &from[i],
			    out->names[r->parameter],
			    &out->views[r->parameter][r->member]))
				return false;
			join_members(a, actual, out->views[r->parameter],
			    members);
			break;
		}
	}
	return true;
}

static void
make_arguments(struct cj_testing *t, const struct cj_member_info *member,
    struct cj_arguments *out)
{
	struct cj_arena *a = &t->work->arena;
	const struct cj_parameter_info **list;
	uint32_t i;

	memset(out, 0, sizeof *out);
	out->arena = a;
	out->count = cj_run_parameters(t->work, t->module, member, &list);
	out->actuals = CJ_NEWS(a, struct cj_actual, out->count);
	out->views = CJ_NEWS(a, struct cj_view *, out->count);
	out->names = CJ_NEWS(a, const char *, out->count);
	for (i = 0; i < out->count; i++)
		out->names[i] = list[i]->name;
}

/* ---- running a launch ---------------------------------------------------- */

static cutejit_status
launch_on_gpu(struct cj_testing *t, struct cj_selected *s,
    const struct cj_arguments *args)
{
	struct cj_work *f = t->work;
	const struct cj_cuda *cu = t->gpu.cu;
	struct cj_arguments device;
	struct cj_shots shots;
	cutejit_status status;
	void *scratch = NULL;
	uint64_t workspace = 0;
	int rc;

	status = cj_image_load(f, cu, s->program);
	if (status != CUTEJIT_OK)
		return status;
	rc = cj_blocks_to_device(&t->blocks, &f->arena, args, &device);
	if (rc == 0 && s->plan.workspace_bytes != 0) {
		scratch = cj_blocks_take(&t->blocks,
		    s->plan.workspace_bytes);
		if (scratch == NULL)
			cj_leave(&f->recover, CJ_WHY_MEMORY,
			    "there is no memory for a workspace");
		rc = cj_block_upload(&t->blocks, t->blocks.first);
		workspace = t->blocks.first->device;
	}
	if (rc != 0)
		return cj_gpu_fail(f, cu, rc,
		    "the arrays cannot be brought to the GPU");
	status = cj_shots_make(f, &f->arena, s->program, &device, &s->plan,
	    &shots);
	if (status != CUTEJIT_OK)
		return status;
	cj_shots_place(&shots, workspace);
	rc = cj_shots_fire(cu, &shots, false, NULL);
	if (rc == 0)
		rc = cu->CtxSynchronize();
	if (rc != 0)
		return cj_gpu_fail(f, cu, rc, cj_printf(&f->arena,
		    "%s failed on the GPU", s->program->kernel));
	cj_blocks_written(&t->blocks, s->program->ir, args);
	return CUTEJIT_OK;
}

cutejit_status
cj_testing_launch(struct cj_testing *t, struct cj_selected *s,
    const struct cj_arguments *args)
{
	if (t->on_gpu)
		return launch_on_gpu(t, s, args);
	return cj_cpu_run(t->work, s->program, args, &s->plan, &t->cpu);
}

static struct cj_span
span_of(const struct cj_module *ir, cj_place place)
{
	const struct cj_span none = { 0 };

	return place != 0 && place < ir->places.len
	    ? ir->places.at[place].span : none;
}

/* Where in the test: a note on what has just been said. */
static void
note_place(struct cj_testing *t, const struct cj_module *ir, cj_place place)
{
	struct cj_diag *d = t->work->diags.first;

	if (d == NULL)
		return;
	while (d->next != NULL)
		d = d->next;
	cj_note(d, span_of(ir, place), "launched here");
}

void
cj_testing_choice(struct cj_work *f, const struct cj_testing *t,
    const struct cj_call *record, struct cj_choice *out)
{
	const struct cj_const_argument *consts;

	memset(out, 0, sizeof *out);
	out->kernel = record->kernel;
	out->member = record->member;
	out->family = cj_module_family(f, t->module, record->kernel,
	    &out->count);
	out->target_is_given = t->on_gpu;
	out->const_count = cj_call_consts(record, &consts);
	out->consts = cj_memdup(&f->arena, consts,
	    out->const_count * sizeof *consts);
}

cutejit_status
cj_testing_recipe(struct cj_work *f, const struct cj_testing *t,
    struct cj_recipe *r)
{
	cutejit_compile_options o = CUTEJIT_COMPILE_OPTIONS_INIT;
	cutejit_status status;
	cutejit_gpu gpu;

	o.level = t->options.level;
	o.checked = t->options.checked;
	o.lineinfo = t->options.lineinfo;
	if (t->on_gpu && cj_gpu_probe(f, t->gpu.ordinal, &gpu)
	    && gpu.target[0] != '\0')
		o.target = cj_strdup(&f->arena, gpu.target);
	else if (!t->on_gpu)
		o.target = "sm_90a";
	status = cj_recipe_begin(f, &o, r);
	r->watched = !t->on_gpu && cj_cpu_watches(&t->cpu);
	return status;
}

/* Every member that could be meant needs another chip: no failure. */
static bool
lacks_target(const struct cj_choice *c)
{
	uint32_t i;

	for (i = 0; i < c->misfits.len; i++)
		if (c->misfits.at[i].is_target)
			return true;
	return false;
}

/* With the values that a search has found; without them if they do not fit. */
static cutejit_status
select_member(struct cj_testing *t, const struct cj_call *record,
    const struct cj_request *q, struct cj_choice *choice,
    struct cj_selected *s)
{
	struct cj_work *f = t->work;
	const struct cj_diags before = f->diags;
	cutejit_status status;
	cutejit_gpu gpu;

	cj_testing_choice(f, t, record, choice);
	status = cj_testing_recipe(f, t, &s->recipe);
	if (status != CUTEJIT_OK)
		return status;
	if (!t->uses_tuned || !record->is_time || !t->on_gpu
	    || !cj_gpu_probe(f, t->gpu.ordinal, &gpu)
	    || !cj_tuned_add(f, t->module, choice, q->arguments, &gpu))
		return cj_select_from(f, t->module, q, choice, s);
	status = cj_select_from(f, t->module, q, choice, s);
	if (status != CUTEJIT_ERROR)
		return status;
	cj_tuned_pass_over(f, t->module, &before, record->kernel);
	cj_testing_choice(f, t, record, choice);
	status = cj_testing_recipe(f, t, &s->recipe);
	return status != CUTEJIT_OK ? status
	    : cj_select_from(f, t->module, q, choice, s);
}

static cutejit_status
run_call(struct cj_testing *t, const struct cj_call *record,
    const struct cj_call_argument *from, double bytes, double flops)
{
	struct cj_work *f = t->work;
	const struct cj_member_info *family;
	struct cj_request q = { .kernel = record->kernel };
	struct cj_selected s = { 0 };
	struct cj_arguments args;
	struct cj_choice choice;
	cutejit_status status;
	uint32_t count;

	family = cj_module_family(f, t->module, record->kernel, &count);
	if (family == NULL)
		return CUTEJIT_ERROR;
	make_arguments(t, &family[0], &args);
	if (!read_arguments(t, record, from, &args))
		return CUTEJIT_ERROR;
	q.arguments = &args;
	q.on_cpu = !t->on_gpu;
	q.on = t->on_gpu ? &t->gpu : NULL;
	q.stage = t->on_gpu ? CJ_STAGE_IMAGE : CJ_STAGE_IR;
	if (record->is_time && t->search != NULL)
		return t->search(t, record, &args, &q);
	status = select_member(t, record, &q, &choice, &s);
	if (status != CUTEJIT_OK) {
		if (t->on_gpu && lacks_target(&choice))
			t->skipped = "no member of a kernel runs on this GPU";
		return status;
	}
	if (t->options.tells && !record->is_time)
		cj_testing_tell(t, &s, &args);
	if (record->is_time && t->time != NULL)
		status = t->time(t, record, &s, &args, bytes, flops)
		    ? CUTEJIT_OK : CUTEJIT_ERROR;
	else
		status = cj_testing_launch(t, &s, &args);
	if (status == CUTEJIT_OK && t->options.digests && !record->is_time)
		status = cj_testing_digest(t, s.program->ir, &args);
	cj_select_end(f, &s);
	return status;
}

/* ---- hooks --------------------------------------------------------------- */

struct hooked {
	struct cj_testing *t;
	const struct cj_module *ir;
	cutejit_status status;		/* of the last launch */
};

/*
 * A launch that has to be refused (expect_error): what it said, all behind
 * `before`, is taken back. It stays only as a note where it lacks the text.
 */
static cutejit_status
expect_refusal(struct hooked *h, const struct cj_call *record,
    const struct cj_diags *before, struct cj_span span)
{
	struct cj_diags *ds = &h->t->work->diags;
	const struct cj_diag *said = *before->last;

	if (h->status != CUTEJIT_OK && h->status != CUTEJIT_ERROR)
		return h->status;
	if (h->status == CUTEJIT_ERROR && h->t->skipped != NULL)
		return h->status;
	cj_forget_messages(h->t->work, before);
	if (h->status == CUTEJIT_OK) {
		cj_report(ds, CJ_DIAG_EXPECT_ERROR, span,
		    "nothing was refused with \"%s\"", record->refusal);
		return CUTEJIT_ERROR;
	}
	if (cj_diag_mentions(said, record->refusal))
		return CUTEJIT_OK;
	cj_note(cj_report(ds, CJ_DIAG_EXPECT_ERROR, span,
	    "the message does not have \"%s\" in it", record->refusal),
	    said == NULL ? span : said->span, "%s", said == NULL ?
	    "there is none" : said->text);
	return CUTEJIT_ERROR;
}

/* Did a launch on the executor end because of a ptx() without `emulate`, and
 * of nothing else? No failure either. */
static void
find_unemulated(struct cj_testing *t, const struct cj_diags *before)
{
	const struct cj_diag *said = *before->last, *d;

	if (t->on_gpu || before->errors != 0 || said == NULL)
		return;
	for (d = said; d != NULL; d = d->next)
		if (d->code != CJ_DIAG_NOT_EMULATED)
			return;
	t->skipped = cj_strdup(&t->arena, said->text);
}

static bool
call(void *user, const struct cj_call *record, cj_place place,
    const struct cj_call_argument *arguments, double bytes, double flops)
{
	struct hooked *h = user;
	struct cj_mark mark = cj_arena_mark(&h->t->work->arena);
	const struct cj_diags before = h->t->work->diags;

	h->status = run_call(h->t, record, arguments, bytes, flops);
	if (h->status == CUTEJIT_ERROR)
		find_unemulated(h->t, &before);
	if (record->refusal != NULL)
		h->status = expect_refusal(h, record, &before,
		    span_of(h->ir, place));
	else if (h->status != CUTEJIT_OK)
		note_place(h->t, h->ir, place);
	if (h->status == CUTEJIT_OK && before.first == NULL
	    && h->t->work->diags.first == NULL)
		cj_arena_release(&h->t->work->arena, mark);
	return h->status == CUTEJIT_OK;
}

static void *
allocate(void *user, size_t bytes)
{
	struct hooked *h = user;

	return cj_blocks_take(&h->t->blocks, bytes);
}

static void
touch(void *user, struct cj_memory *memory, bool writes)
{
	struct hooked *h = user;
	struct cj_block *k = cj_blocks_find(&h->t->blocks, memory->data);
	int rc;

	if (k == NULL)
		return;
	rc = cj_block_download(&h->t->blocks, k);
	if (rc != 0)
		h->status = cj_gpu_fail(h->t->work, h->t->gpu.cu, rc,
		    "an array cannot be brought back from the GPU");
	if (writes)
		k->host_newer = true;
}

/* ---- one combination ----------------------------------------------------- */

static struct cj_module *
elaborate(struct cj_testing *t)
{
	struct cj_work *f = t->work;
	struct cutejit_module *m = t->module;
	const struct cj_test_info *info = &m->test_infos[t->index];
	struct cj_combination which = { .number = t->combination };
	struct cj_module *ir;

	cj_module_enter(f, m);
	ir = cj_elab_test(&f->arena, m->unit, info, &which, &f->diags);
	cj_module_leave(f, m);
	t->count = which.count;
	t->name = cj_strdup(&t->arena, which.name);
	t->launches = 0;
	if (f->diags.errors != 0)
		return NULL;
	if (ir != NULL) {
		const char *wrong = cj_module_verify(ir);

		if (wrong != NULL)
			cj_fault(f, "elaboration of a test: %.180s", wrong);
		ir->sources = &m->sources;
		cj_passes_run(ir, &f->recover, NULL, NULL);
	}
	return ir;
}

static cutejit_status
judge(struct cj_testing *t, const struct hooked *h,
    const struct cj_test_outcome *o)
{
	if (t->skipped != NULL) {
		t->outcome = CUTEJIT_SKIPPED;
		t->text = t->skipped;
		t->work->diags.first = NULL;
		t->work->diags.last = &t->work->diags.first;
		return CUTEJIT_OK;
	}
	if (o->failure != NULL)
		t->text = cj_strdup(&t->arena, o->failure);
	if (h->status != CUTEJIT_OK)
		return h->status;
	if (t->work->diags.errors != 0)
		return CUTEJIT_ERROR;
	t->outcome = o->passed && !o->stopped ? CUTEJIT_PASSED
	    : CUTEJIT_FAILED;
	return CUTEJIT_OK;
}

static cutejit_status
run_ir(struct cj_testing *t, const struct cj_module *ir)
{
	struct cj_work *f = t->work;
	struct hooked h = { t, ir, CUTEJIT_OK };
	const struct cj_test_hooks hooks = { &h, call, allocate, touch };
	struct cj_test_outcome outcome = { 0 };
	struct cj_run_options options;
	struct cj_watch *watch = cj_watch_hold(f);
	int64_t start;

	cj_run_options_set(f, &t->cpu, &options, &watch->stop);
	cj_blocks_begin(f, &t->blocks, t->on_gpu ? t->gpu.cu : NULL);
	start = cj_clock();
	cj_interp_test(&f->arena, ir, 1, &options, &hooks, &f->diags,
	    &outcome);
	t->ms = cj_ms_since(start);
	cj_blocks_end(f, &t->blocks);
	cj_watch_drop(f, watch);
	return judge(t, &h, &outcome);
}

static cutejit_status
run(struct cj_work *f, void *arguments)
{
	struct cj_testing *t = arguments;
	const struct cj_module *ir;
	cutejit_status status;

	t->work = f;
	t->arena.recover = &f->recover;
	f->module = t->module;
	f->doing = t->name;
	cj_set_warnings(f, &t->module->sources);
	ir = elaborate(t);
	if (t->options.filter != NULL
	    && strstr(t->name, t->options.filter) == NULL) {
		t->is_filtered = true;
		f->diags.first = NULL;
		return CUTEJIT_OK;
	}
	if (ir == NULL)
		return CUTEJIT_ERROR;
	if (!t->on_gpu)
		return run_ir(t, ir);
	status = cj_gpu_enter(f, t->options.ordinal, &t->gpu);
	if (status != CUTEJIT_OK)
		return status;
	status = run_ir(t, ir);
	cj_gpu_leave(f, &t->gpu);
	return status;
}

cutejit_status
cj_testing_run(struct cj_testing *t, uint32_t combination, bool on_gpu)
{
	cutejit_status status;

	t->combination = combination;
	t->on_gpu = on_gpu;
	t->name = t->module->test_infos[t->index].name;
	t->text = "";
	t->outcome = CUTEJIT_FAILED;
	t->is_filtered = false;
	t->skipped = NULL;
	t->ms = 0;
	status = cj_enter(t->module->context, run, t);
	t->work = NULL;
	t->arena.recover = NULL;
	if (status != CUTEJIT_OK)
		t->outcome = CUTEJIT_FAILED;
	return status;
}
