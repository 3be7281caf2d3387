/*
 * Kernels: the public face of a program.
 *
 * A kernel keeps what it was made from, so that a stage that was not kept (IR
 * before or between passes, LLVM's text) can be made again when asked for.
 */
#include <stdlib.h>

#include "artifact.h"
#include "assemble.h"
#include "cache.h"
#include "device.h"
#include "program.h"
#include "select.h"
#include "tune.h"

/* ---- life ---------------------------------------------------------------- */

static void
release(struct cutejit_kernel *k)
{
	struct cutejit_module *m = k->module;
	struct cutejit_context *c = m->context;

	cj_program_drop(k->program);
	cj_arena_fini(&k->arena);
	pthread_mutex_destroy(&k->lock);
	cj_handle_free(c, k);
	cj_module_drop(m);
}

void
cj_kernel_hold(struct cutejit_kernel *k)
{
	atomic_fetch_add(&k->references, 1);
}

void
cj_kernel_drop(struct cutejit_kernel *k)
{
	int before = atomic_fetch_sub(&k->references, 1);

	assert(before > 0 && "a reference was held");
	if (before == 1)
		release(k);
}

void
cutejit_kernel_destroy(cutejit_kernel *kernel)
{
	if (cj_handle_close(kernel, CJ_KERNEL))
		cj_kernel_drop(kernel);
}

static void
copy_constants(struct cutejit_kernel *k, const struct cj_selected *s)
{
	uint32_t i;

	k->constants = CJ_NEWS(&k->arena, cutejit_constant, s->const_count);
	k->constant_count = s->const_count;
	for (i = 0; i < s->const_count; i++) {
		k->constants[i].name = cj_strdup(&k->arena,
		    s->consts[i].name);
		k->constants[i].text = cj_strdup(&k->arena,
		    s->consts[i].text);
	}
}

static void
copy_actual(struct cj_arena *a, struct cj_actual *to,
    const struct cj_actual *from)
{
	uint32_t i;

	*to = *from;
	if (!from->is_tensor)
		return;
	to->extents = cj_memdup(a, from->extents,
	    from->rank * sizeof *from->extents);
	to->strides = cj_memdup(a, from->strides,
	    from->rank * sizeof *from->strides);
	if (from->count > 1) {
		struct cj_actual *more = CJ_NEWS(a, struct cj_actual,
		    from->count - 1);

		for (i = 0; i + 1 < from->count; i++)
			copy_actual(a, &more[i], &from->more[i]);
		to->more = more;
	}
}

static void
copy_actuals(struct cutejit_kernel *k, const struct cj_arguments *args)
{
	uint32_t i;

	if (args == NULL)
		return;
	k->actual_count = args->count;
	k->actuals = CJ_NEWS(&k->arena, struct cj_actual, args->count);
	for (i = 0; i < args->count; i++)
		copy_actual(&k->arena, &k->actuals[i], &args->actuals[i]);
}

const struct cj_binding *
cj_kernel_bind(struct cj_work *f, const struct cutejit_kernel *k,
    const struct cj_actual *actuals, uint32_t count, const char **why)
{
	struct cj_const_argument *consts = CJ_NEWS(&f->arena,
	    struct cj_const_argument, k->constant_count);
	const struct cj_binding *b;
	struct cj_span span;
	size_t i;

	*why = NULL;
	for (i = 0; i < k->constant_count; i++) {
		consts[i].name = k->constants[i].name;
		consts[i].text = k->constants[i].text;
	}
	cj_module_enter(f, k->module);
	b = cj_bind(&f->arena, k->module->unit, k->recipe.member, consts,
	    (uint32_t)k->constant_count, actuals, count, &f->diags, why,
	    &span);
	cj_module_leave(f, k->module);
	return b;
}

static void
describe(struct cutejit_kernel *k)
{
	const struct cj_program *p = k->program;
	cutejit_kernel_info *i = &k->info;
	int stage = atomic_load(&p->stage);	/* others may take it further */

	i->kernel = p->kernel;
	i->member = p->member;
	i->binding = p->binding;
	i->target = p->target->name;
	i->assembler = stage == CJ_STAGE_IMAGE ? p->assembler : "";
	i->entry_count = stage >= CJ_STAGE_PTX ? p->entry_count : 0;
	i->key = k->key;
	if (stage == CJ_STAGE_IMAGE)
		cj_digest_text(&p->key, k->key);
}

static struct cutejit_kernel *
create(struct cj_work *f, struct cutejit_module *m, struct cj_program *p,
    const struct cj_recipe *r)
{
	struct cutejit_kernel *k = cj_take(f->context, sizeof *k);

	if (k == NULL)
		return NULL;
	cj_handle_init(k, CJ_KERNEL, f->context);
	atomic_init(&k->references, 1);
	pthread_mutex_init(&k->lock, NULL);
	cj_arena_init(&k->arena, &f->recover, &f->context->mem);
	k->module = m;
	k->program = p;
	cj_module_hold(m);
	cj_program_hold(p);
	k->recipe = *r;
	k->recipe.binding = NULL;
	k->recipe.is_fresh = false;
	return k;
}

static void
drop_kernel(void *object)
{
	cj_kernel_drop(object);
}

static struct cutejit_kernel *
wrap(struct cj_work *f, struct cutejit_module *m,
    const struct cj_selected *s, const struct cj_arguments *args)
{
	struct cutejit_kernel *k = create(f, m, s->program, &s->recipe);
	uint32_t i;

	if (k == NULL)
		cj_leave(&f->recover, CJ_WHY_MEMORY,
		    "there is no memory for a kernel");
	cj_defer(f, drop_kernel, k);
	k->recipe.binding_text = s->program->binding;
	for (i = 0; i < m->member_count; i++)
		if (m->infos[i].node == s->recipe.member->node)
			k->recipe.member = &m->infos[i];
	copy_constants(k, s);
	copy_actuals(k, args);
	k->info.origin = s->origin;
	describe(k);
	cj_undefer(f);
	k->arena.recover = NULL;
	return k;
}

/* ---- compiling ----------------------------------------------------------- */

struct compiling {
	struct cutejit_module *module;
	const char *kernel;
	const cutejit_compile_options *given;
	struct cutejit_kernel *out;
};

static bool
options_are_right(const cutejit_compile_options *o)
{
	return (unsigned)o->until <= CUTEJIT_UNTIL_CUBIN
	    && (unsigned)o->level <= CUTEJIT_LEVEL_3
	    && o->ptx >= 0 && o->ptx <= 200
	    && (o->arguments != NULL || o->argument_count == 0);
}

cutejit_status
cj_compile_options(struct cj_work *f, const cutejit_compile_options *given,
    cutejit_compile_options *out)
{
	const cutejit_compile_options defaults = CUTEJIT_COMPILE_OPTIONS_INIT;

	*out = defaults;
	if (cj_options_copy(out, sizeof *out, given)
	    && options_are_right(out))
		return CUTEJIT_OK;
	return cj_fail(f, CUTEJIT_USAGE, CJ_DIAG_USAGE,
	    "the options of the compile have a wrong size or value");
}

static enum cj_stage
last_stage(cutejit_until until)
{
	switch (until) {
	case CUTEJIT_UNTIL_IR:
		return CJ_STAGE_IR;
	case CUTEJIT_UNTIL_PTX:
		return CJ_STAGE_PTX;
	case CUTEJIT_UNTIL_LOADABLE:
	case CUTEJIT_UNTIL_CUBIN:
		break;
	}
	return CJ_STAGE_IMAGE;
}

static cutejit_status
no_assembler(struct cj_work *f)
{
	cj_fail(f, CUTEJIT_MISSING, CJ_DIAG_MISSING_ASSEMBLER,
	    "a cubin needs ptxas or nvJitLink of the CUDA toolkit: neither "
	    "is there, or it is too old");
	cj_say_help(f, "PTX can be made without, and a GPU's driver takes it: "
	    "\"cutec doctor\" shows where was looked.");
	return CUTEJIT_MISSING;
}

/* The GPU on which the arguments lie, if its target is meant and a search has
 * to do with the kernel. */
static const cutejit_gpu *
gpu_of(struct cj_work *f, const struct cutejit_module *m,
    const char *kernel, const struct cj_arguments *args,
    const cutejit_compile_options *o)
{
	const struct cj_diags before = f->diags;
	cutejit_gpu gpu;
	bool on_gpu;
	int ordinal;

	if (!cj_is_tuned(m, kernel))
		return NULL;
	if (cj_device_of(f, args, &on_gpu, &ordinal) != CUTEJIT_OK) {
		cj_forget_messages(f, &before);	/* preparing will say so */
		return NULL;
	}
	return on_gpu && cj_gpu_probe(f, ordinal < 0 ? 0 : ordinal, &gpu)
	    && (o->target == NULL || strcmp(o->target, gpu.target) == 0)
	    ? cj_memdup(&f->arena, &gpu, sizeof gpu) : NULL;
}

static cutejit_status
compile(struct cj_work *f, void *arguments)
{
	struct compiling *c = arguments;
	struct cj_selected s = { 0 };
	struct cj_arguments args;
	struct cj_request q = { .kernel = c->kernel,
	    .is_fresh = f->context->store->is_off, .stage = CJ_STAGE_IMAGE };
	cutejit_compile_options o;
	cutejit_status status = cj_compile_options(f, c->given, &o);

	f->module = c->module;
	cj_set_warnings(f, &c->module->sources);
	if (status != CUTEJIT_OK)
		return status;
	q.stage = last_stage(o.until);
	status = cj_select_arguments(f, c->module, c->kernel, o.arguments,
	    o.argument_count, &args);
	if (status != CUTEJIT_OK)
		return status;
	if (o.argument_count != 0) {
		q.arguments = &args;
		q.gpu = gpu_of(f, c->module, c->kernel, &args, &o);
	}
	status = cj_select(f, c->module, &q, &o, &s);
	if (status != CUTEJIT_OK)
		return status;
	if (o.until == CUTEJIT_UNTIL_CUBIN && s.program->cubin == NULL)
		status = no_assembler(f);
	else if (o.until == CUTEJIT_UNTIL_CUBIN)
		status = cj_advice_tell_cubin(f, s.program);
	if (status == CUTEJIT_OK)
		c->out = wrap(f, c->module, &s, q.arguments);
	cj_select_end(f, &s);
	return status;
}

cutejit_status
cutejit_compile(cutejit_module *module, const char *kernel,
    const cutejit_compile_options *options, cutejit_kernel **out)
{
	struct compiling c = { module, kernel, options, NULL };
	cutejit_status status;

	if (out == NULL)
		return cj_handle_misuse(module,
		    "the place for the result is NULL");
	*out = NULL;
	if (!cj_is(module, CJ_MODULE))
		return cj_handle_refuse(module);
	if (kernel == NULL)
		return cj_handle_misuse(module, "the kernel's name is NULL");
	status = cj_enter(module->context, compile, &c);
	if (status != CUTEJIT_OK) {
		cutejit_kernel_destroy(c.out);
		c.out = NULL;
	}
	*out = c.out;
	return status;
}

/* ---- what it is ---------------------------------------------------------- */

const cutejit_report *
cutejit_kernel_report(const cutejit_kernel *kernel)
{
	const struct cj_program *p;

	if (!cj_is(kernel, CJ_KERNEL))
		return NULL;
	p = kernel->program;
	return atomic_load(&p->has_whole) ? &p->whole : &p->report;
}

const cutejit_kernel_info *
cutejit_kernel_about(const cutejit_kernel *kernel)
{
	return cj_is(kernel, CJ_KERNEL) ? &kernel->info : NULL;
}

const cutejit_entry *
cutejit_kernel_entry(const cutejit_kernel *kernel, size_t i)
{
	const struct cj_program *p = cj_is(kernel, CJ_KERNEL)
	    ? kernel->program : NULL;

	return p != NULL && atomic_load(&p->stage) >= CJ_STAGE_PTX
	    && i < p->entry_count ? atomic_load(&p->entries) + i : NULL;
}

const cutejit_phase *
cutejit_kernel_phase(const cutejit_kernel *kernel, size_t i)
{
	return cj_is(kernel, CJ_KERNEL) && i < kernel->program->phase_count
	    ? &kernel->program->phases[i] : NULL;
}
