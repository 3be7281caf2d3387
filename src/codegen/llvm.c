/*
 * From a verified module to PTX: the frame around all other files here.
 *
 * Whatever goes wrong ends in CJ_CODEGEN_FAULT with a text: a fatal error of
 * LLVM (then what LLVM held is leaked), an error that it reported, or a bug of
 * ours (then everything is released). Running out of memory leaves by the
 * arena's recovery point as everywhere else, after releasing LLVM's objects.
 */
#include "llvm_gen.h"

#include "llvm_guard.h"

#include <stdio.h>
#include <time.h>

/* All that must be released, and all that a jump must not lose. */
struct job {
	struct cj_llvm_gen g;
	struct cj_llvm_guard guard;
	struct cj_codegen_result *out;
	LLVMTargetMachineRef machine;
	LLVMMemoryBufferRef text;
	struct cj_recover recover, *outer;
};

static double
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* ---- steps -------------------------------------------------------------- */

static void
start(struct job *j)
{
	struct cj_llvm_gen *g = &j->g;

	g->context = LLVMContextCreate();
	cj_llvm_guard_watch(&j->guard, g->context);
	LLVMContextSetDiscardValueNames(g->context, !g->options->want_llvm);
	g->module = LLVMModuleCreateWithNameInContext(
	    g->m->name == NULL ? "module" : g->m->name, g->context);
	g->b = LLVMCreateBuilderInContext(g->context);
	g->void_type = LLVMVoidTypeInContext(g->context);
	g->i1 = LLVMInt1TypeInContext(g->context);
	g->i8 = LLVMInt8TypeInContext(g->context);
	g->i16 = LLVMInt16TypeInContext(g->context);
	g->i32 = LLVMInt32TypeInContext(g->context);
	g->i64 = LLVMInt64TypeInContext(g->context);
	g->ptr = LLVMPointerTypeInContext(g->context, 0);
}

static void
make_machine(struct job *j)
{
	struct cj_llvm_gen *g = &j->g;
	LLVMTargetDataRef layout;

	j->machine = cj_llvm_machine(g->m->target, g->ptx_needs,
	    g->options->level);
	if (j->machine == NULL)
		cj_llvm_bug(g, "LLVM has no NVPTX target");
	layout = LLVMCreateTargetDataLayout(j->machine);
	LLVMSetModuleDataLayout(g->module, layout);
	LLVMDisposeTargetData(layout);
	LLVMSetTarget(g->module, cj_llvm_triple());
}

static void
build(struct job *j)
{
	struct cj_llvm_gen *g = &j->g;
	struct cj_codegen_result *out = j->out;
	uint32_t f, n = 0;

	out->kernels = cj_alloc_array(g->arena, g->m->functions.len + 1,
	    sizeof *out->kernels);
	cj_llvm_debug_begin(g);
	for (f = 1; f < g->m->functions.len; f++) {
		if (g->m->functions.at[f].kind != CJ_FUNCTION_DEVICE)
			continue;
		cj_llvm_function(g, f);
		out->kernels[n].entry = g->function->name;
		out->kernels[n].function = f;
		out->kernels[n].shared_bytes = g->dynamic_bytes;
		out->kernels[n++].shared_total = g->shared_bytes;
	}
	cj_llvm_debug_end(g);
	assert(g->di == NULL && n < g->m->functions.len + 1);
	out->kernel_count = n;
}

/* LLVM's fatal and other errors, on purpose: a function without a body that it
 * can select, an assembler constraint that no register satisfies. */
static void
make_fault(struct job *j)
{
	struct cj_llvm_gen *g = &j->g;
	LLVMTypeRef f32 = cj_llvm_type(g, CJ_KIND_F32);
	LLVMTypeRef type = LLVMFunctionType(f32, &f32, 1, 0);
	cj_llvm x;

	if (g->options->fault == CJ_CODEGEN_NO_FAULT)
		return;
	if (g->options->fault == CJ_CODEGEN_BUG)
		cj_llvm_bug(g, "forced by a test");
	g->fn = LLVMAddFunction(g->module, "cj_fault", type);
	cj_llvm_enter(g, cj_llvm_block(g, "entry"));
	x = LLVMGetParam(g->fn, 0);
	if (g->options->fault == CJ_CODEGEN_LLVM_FATAL)
		x = cj_llvm_call2(g, "llvm.pow", x, x);
	else
		x = cj_llvm_asm(g, CJ_LLVM_ASM_EFFECT, f32, "", "=v", NULL,
		    0);
	LLVMBuildRet(g->b, x);
}

/* That what was built is LLVM at all is for our tests to say, as in clang. */
#ifdef NDEBUG
enum { VERIFIES = 0 };
#else
enum { VERIFIES = 1 };
#endif

static void
verify(struct job *j)
{
	char *error = NULL;

	if (VERIFIES && LLVMVerifyModule(j->g.module, LLVMReturnStatusAction,
	    &error))
		cj_llvm_bug(&j->g, "LLVM refuses what was built: %.160s",
		    error);
	LLVMDisposeMessage(error);
}

static void
optimise(struct job *j)
{
	char *error = cj_llvm_optimise(&j->g, j->machine), *text;

	if (error != NULL)
		cj_llvm_bug(&j->g, "LLVM's passes: %.160s", error);
	if (!j->g.options->want_llvm)
		return;
	text = LLVMPrintModuleToString(j->g.module);
	if (text == NULL)
		cj_llvm_no_memory(j->g.arena->recover);
	j->out->llvm = cj_strdup(j->g.arena, text);
	LLVMDisposeMessage(text);
}

static void
emit(struct job *j)
{
	const char *start;
	char *error = NULL;

	LLVMSetTargetMachineAsmVerbosity(j->machine, j->g.options->lineinfo);
	if (LLVMTargetMachineEmitToMemoryBuffer(j->machine, j->g.module,
	    LLVMAssemblyFile, &error, &j->text))
		cj_llvm_bug(&j->g, "LLVM's generator: %.160s", error);
	if (j->text == NULL)
		cj_llvm_no_memory(j->g.arena->recover);
	start = LLVMGetBufferStart(j->text);
	j->out->ptx_length = LLVMGetBufferSize(j->text);
	j->out->ptx = j->g.options->lineinfo ? cj_llvm_lines(&j->g, start,
	    j->out->ptx_length, &j->out->ptx_length) :
	    cj_strndup(j->g.arena, start, j->out->ptx_length);
	j->out->ptx_version = j->g.ptx_needs;
}

/* The version is known when all is built; it matters from the passes on. */
static void
run(struct job *j)
{
	int first = j->g.ptx_needs;
	double begin = now_ms(), built, passed;

	start(j);
	make_machine(j);
	build(j);
	make_fault(j);
	if (j->g.ptx_needs != first) {
		LLVMDisposeTargetMachine(j->machine);
		j->machine = NULL;
		make_machine(j);
	}
	verify(j);
	built = now_ms();
	optimise(j);
	passed = now_ms();
	emit(j);
	j->out->build_ms = built - begin;
	j->out->passes_ms = passed - built;
	j->out->emit_ms = now_ms() - passed;
}

/* ---- the frame ---------------------------------------------------------- */

static void
release(struct job *j)
{
	if (j->text != NULL)
		LLVMDisposeMemoryBuffer(j->text);
	if (j->g.di != NULL)
		cj_llvm_debug_end(&j->g);
	if (j->g.b != NULL)
		LLVMDisposeBuilder(j->g.b);
	if (j->g.module != NULL)
		LLVMDisposeModule(j->g.module);
	if (j->machine != NULL)
		LLVMDisposeTargetMachine(j->machine);
	if (j->g.context != NULL)
		LLVMContextDispose(j->g.context);
}

static enum cj_codegen_status
fault(struct job *j, const char *who, const char *text)
{
	struct cj_codegen_result *out = j->out;

	memset(out, 0, sizeof *out);
	out->error = cj_printf(j->g.arena, "%s: %s", who, text);
	return CJ_CODEGEN_FAULT;
}

/* Left by a recovery point of ours: no frame of LLVM was jumped over. */
static enum cj_codegen_status
left(struct job *j)
{
	j->g.arena->recover = j->outer;
	cj_llvm_guard_end(&j->guard);
	release(j);
	if (j->recover.why == CJ_WHY_BUG)
		return fault(j, "code generation", j->recover.text);
	cj_leave(j->outer, j->recover.why, "%s", j->recover.text);
}

static enum cj_codegen_status
guarded(struct job *j)
{
	cj_llvm_guard_begin(&j->guard);
	if (CJ_LLVM_CAUGHT(&j->guard)) {
		j->g.arena->recover = j->outer;
		if (j->guard.lacks_memory)
			cj_llvm_no_memory(j->outer);
		return fault(j, "LLVM", j->guard.text);
	}
	if (CJ_RECOVER(&j->recover))
		return left(j);
	run(j);
	j->g.arena->recover = j->outer;
	cj_llvm_guard_end(&j->guard);
	release(j);
	if (j->guard.has_error)
		return fault(j, "LLVM", j->guard.text);
	return CJ_CODEGEN_OK;
}

enum cj_codegen_status
cj_codegen_ptx(struct cj_arena *a, const struct cj_module *m,
    const struct cj_codegen_options *o, struct cj_codegen_result *out)
{
	struct job *j = CJ_NEW(a, struct job);
	const char *refused;

	assert(a->recover != NULL && m->target != NULL);
	assert(o->level >= 0 && o->level <= 3 && "a level");
	memset(out, 0, sizeof *out);
	j->g.arena = a;
	j->g.m = m;
	j->g.options = o;
	j->g.ptx_needs = o->ptx == 0 ? m->target->ptx : o->ptx;
	j->g.ptx_limit = o->ptx == 0 ? cj_llvm_newest_ptx : o->ptx;
	j->out = out;
	refused = cj_codegen_open();
	if (refused != NULL)
		return fault(j, "LLVM", refused);
	refused = cj_llvm_ptx_refused(m->target, j->g.ptx_needs);
	if (refused != NULL)
		return fault(j, m->target->name, cj_printf(a,
		    "%d.%d is %s", j->g.ptx_needs / 10, j->g.ptx_needs % 10,
		    refused));
	if (cj_llvm_lost() != NULL)
		cj_leave(a->recover, CJ_WHY_MEMORY, "%s", cj_llvm_lost());
	j->outer = a->recover;
	a->recover = &j->recover;
	return guarded(j);
}

const char *
cj_codegen_version(void)
{
	return "LLVM " LLVM_VERSION_STRING;
}
