/*
 * Bitcode of other compilers: the functions that a program calls, as PTX.
 *
 * Around each of them stands a function that takes and gives words of 32 and
 * 64 bits (ir/elab_extern.c calls it); all else becomes internal, so that only
 * what is called is left.
 */
#include "llvm_gen.h"

#include "llvm_guard.h"

struct job {
	struct cj_arena *arena;
	const struct cj_target *target;
	struct cj_codegen_shim *shims;
	uint32_t count;
	struct cj_codegen_result *out;
	LLVMContextRef context;
	LLVMModuleRef module;
	LLVMTargetMachineRef machine;
	LLVMBuilderRef b;
	LLVMMemoryBufferRef text;
	struct cj_llvm_guard guard;
	struct cj_recover recover, *outer;
};

static bool
refuse(struct job *j, const char *format, const char *what)
{
	j->out->error = cj_printf(j->arena, format, what);
	return false;
}

/* ---- what is in it ------------------------------------------------------- */

static bool
read_module(struct job *j, const char *bytes, size_t length)
{
	LLVMMemoryBufferRef buffer =
	    LLVMCreateMemoryBufferWithMemoryRangeCopy(bytes, length,
	    "bitcode");
	LLVMTargetDataRef layout;
	const char *triple;
	bool failed;

	if (buffer == NULL)
		cj_llvm_no_memory(j->arena->recover);
	failed = LLVMParseBitcodeInContext2(j->context, buffer, &j->module);
	LLVMDisposeMemoryBuffer(buffer);
	if (failed) {
		j->module = NULL;
		return refuse(j, "it is no bitcode that %s reads",
		    cj_codegen_version());
	}
	triple = LLVMGetTarget(j->module);
	if (strncmp(triple, "nvptx64", 7) != 0)
		return refuse(j, "it is for \"%s\", not for nvptx64",
		    triple);
	layout = LLVMCreateTargetDataLayout(j->machine);
	LLVMSetModuleDataLayout(j->module, layout);
	LLVMDisposeTargetData(layout);
	LLVMSetTarget(j->module, cj_llvm_triple());
	return true;
}

static void
hide_all(struct job *j)
{
	LLVMValueRef v;

	for (v = LLVMGetFirstFunction(j->module); v != NULL;
	    v = LLVMGetNextFunction(v))
		if (!LLVMIsDeclaration(v))
			LLVMSetLinkage(v, LLVMInternalLinkage);
	for (v = LLVMGetFirstGlobal(j->module); v != NULL;
	    v = LLVMGetNextGlobal(v))
		if (!LLVMIsDeclaration(v))
			LLVMSetLinkage(v, LLVMInternalLinkage);
}

/* ---- from words to the types of a function, and back --------------------- */

static LLVMTypeRef
word_type(const struct job *j, enum cj_kind k)
{
	return cj_kind_bits(k) == 64 ?
	    LLVMInt64TypeInContext(j->context) :
	    LLVMInt32TypeInContext(j->context);
}

static unsigned
float_bits(LLVMTypeRef t)
{
	switch ((unsigned)LLVMGetTypeKind(t)) {
	case LLVMHalfTypeKind: case LLVMBFloatTypeKind:
		return 16;
	case LLVMFloatTypeKind:
		return 32;
	case LLVMDoubleTypeKind:
		return 64;
	}
	return 0;
}

/* Has a kind this type in LLVM? bool also comes as a byte. */
static bool
is_same(enum cj_kind k, LLVMTypeRef t)
{
	unsigned bits = cj_kind_bits(k);

	if (k == CJ_KIND_BOOL)
		return LLVMGetTypeKind(t) == LLVMIntegerTypeKind &&
		    (LLVMGetIntTypeWidth(t) == 1 ||
		    LLVMGetIntTypeWidth(t) == 8);
	if (cj_kind_is_float(k))
		return float_bits(t) == bits && (bits != 16 ||
		    (k == CJ_KIND_F16) == (LLVMGetTypeKind(t) ==
		    LLVMHalfTypeKind));
	return LLVMGetTypeKind(t) == LLVMIntegerTypeKind &&
	    LLVMGetIntTypeWidth(t) == bits;
}

static LLVMValueRef
from_word(struct job *j, LLVMValueRef v, LLVMTypeRef t)
{
	unsigned bits = float_bits(t);

	if (bits != 0)
		return LLVMBuildBitCast(j->b, LLVMBuildTrunc(j->b, v,
		    LLVMIntTypeInContext(j->context, bits), ""), t, "");
	return LLVMBuildTrunc(j->b, v, t, "");
}

static LLVMValueRef
to_word(struct job *j, LLVMValueRef v, enum cj_kind k)
{
	unsigned bits = float_bits(LLVMTypeOf(v));

	if (bits != 0)
		v = LLVMBuildBitCast(j->b, v, LLVMIntTypeInContext(j->context,
		    bits), "");
	return LLVMBuildZExt(j->b, v, word_type(j, k), "");
}

static bool
fits(struct job *j, const struct cj_codegen_shim *s, LLVMTypeRef type)
{
	LLVMTypeRef *params = CJ_NEWS(j->arena, LLVMTypeRef, s->count + 1);
	LLVMTypeRef result = LLVMGetReturnType(type);
	uint32_t i;

	if (LLVMIsFunctionVarArg(type) ||
	    LLVMCountParamTypes(type) != s->count)
		return false;
	LLVMGetParamTypes(type, params);
	for (i = 0; i < s->count; i++)
		if (!is_same(s->kinds[i], params[i]))
			return false;
	return s->result == CJ_KIND_VOID ?
	    LLVMGetTypeKind(result) == LLVMVoidTypeKind :
	    is_same(s->result, result);
}

static void
build_shim(struct job *j, const struct cj_codegen_shim *s, LLVMValueRef f)
{
	LLVMTypeRef type = LLVMGlobalGetValueType(f);
	LLVMTypeRef *params = CJ_NEWS(j->arena, LLVMTypeRef, s->count + 1);
	LLVMValueRef *at = CJ_NEWS(j->arena, LLVMValueRef, s->count + 1), g;
	LLVMValueRef v;
	uint32_t i;

	for (i = 0; i < s->count; i++)
		params[i] = word_type(j, s->kinds[i]);
	g = LLVMAddFunction(j->module, cj_printf(j->arena,
	    CJ_EXTERN_PREFIX "%s", s->name), LLVMFunctionType(
	    s->result == CJ_KIND_VOID ? LLVMVoidTypeInContext(j->context) :
	    word_type(j, s->result), params, s->count, 0));
	LLVMPositionBuilderAtEnd(j->b, LLVMAppendBasicBlockInContext(
	    j->context, g, "entry"));
	LLVMGetParamTypes(type, params);
	for (i = 0; i < s->count; i++)
		at[i] = from_word(j, LLVMGetParam(g, i), params[i]);
	v = LLVMBuildCall2(j->b, type, f, at, s->count, "");
	LLVMSetInstructionCallConv(v, LLVMGetFunctionCallConv(f));
	if (s->result == CJ_KIND_VOID)
		LLVMBuildRetVoid(j->b);
	else
		LLVMBuildRet(j->b, to_word(j, v, s->result));
}

static bool
build_shims(struct job *j)
{
	uint32_t i;

	for (i = 0; i < j->count; i++) {
		struct cj_codegen_shim *s = &j->shims[i];
		LLVMValueRef f = LLVMGetNamedFunction(j->module, s->name);

		s->is_found = f != NULL && !LLVMIsDeclaration(f);
		if (!s->is_found)
			continue;
		if (!fits(j, s, LLVMGlobalGetValueType(f)))
			return refuse(j, "\"%s\" has other types there than "
			    "it is declared with", s->name);
		build_shim(j, s, f);
	}
	return true;
}

/* ---- to PTX -------------------------------------------------------------- */

/* Who is called and not there; intrinsics are LLVM's own. */
static bool
is_complete(struct job *j)
{
	LLVMValueRef v;
	const char *name;
	size_t length;

	for (v = LLVMGetFirstFunction(j->module); v != NULL;
	    v = LLVMGetNextFunction(v)) {
		name = LLVMGetValueName2(v, &length);
		if (LLVMIsDeclaration(v) && LLVMGetFirstUse(v) != NULL &&
		    strncmp(name, "llvm.", 5) != 0)
			return refuse(j, "it calls \"%s\", which nothing "
			    "defines", name);
	}
	return true;
}

static bool
generate(struct job *j)
{
	LLVMPassBuilderOptionsRef o = LLVMCreatePassBuilderOptions();
	LLVMErrorRef wrong;
	char *error = NULL;

	if (LLVMVerifyModule(j->module, LLVMReturnStatusAction, &error)) {
		LLVMDisposePassBuilderOptions(o);
		return refuse(j, "LLVM refuses it: %.200s", error);
	}
	LLVMDisposeMessage(error);
	wrong = LLVMRunPasses(j->module, "default<O3>", j->machine, o);
	LLVMDisposePassBuilderOptions(o);
	if (wrong != NULL) {
		LLVMConsumeError(wrong);
		return refuse(j, "LLVM's passes refuse it%s", "");
	}
	if (!is_complete(j))
		return false;
	if (LLVMTargetMachineEmitToMemoryBuffer(j->machine, j->module,
	    LLVMAssemblyFile, &error, &j->text))
		return refuse(j, "LLVM's generator: %.200s", error);
	if (j->text == NULL)
		cj_llvm_no_memory(j->arena->recover);
	j->out->ptx_length = LLVMGetBufferSize(j->text);
	j->out->ptx = cj_strndup(j->arena, LLVMGetBufferStart(j->text),
	    j->out->ptx_length);
	return true;
}

static bool
run(struct job *j, const char *bytes, size_t length)
{
	j->context = LLVMContextCreate();
	cj_llvm_guard_watch(&j->guard, j->context);
	j->b = LLVMCreateBuilderInContext(j->context);
	j->machine = cj_llvm_machine(j->target, j->target->ptx, 3);
	if (j->machine == NULL)
		return refuse(j, "LLVM has no NVPTX target%s", "");
	if (!read_module(j, bytes, length))
		return false;
	hide_all(j);
	return build_shims(j) && generate(j);
}

static void
release(struct job *j)
{
	if (j->text != NULL)
		LLVMDisposeMemoryBuffer(j->text);
	if (j->b != NULL)
		LLVMDisposeBuilder(j->b);
	if (j->module != NULL)
		LLVMDisposeModule(j->module);
	if (j->machine != NULL)
		LLVMDisposeTargetMachine(j->machine);
	if (j->context != NULL)
		LLVMContextDispose(j->context);
}

static enum cj_codegen_status
guarded(struct job *j, const char *bytes, size_t length)
{
	bool done;

	cj_llvm_guard_begin(&j->guard);
	if (CJ_LLVM_CAUGHT(&j->guard)) {
		j->arena->recover = j->outer;
		if (j->guard.lacks_memory)
			cj_llvm_no_memory(j->outer);
		refuse(j, "LLVM: %s", j->guard.text);
		return CJ_CODEGEN_FAULT;
	}
	if (CJ_RECOVER(&j->recover)) {
		j->arena->recover = j->outer;
		cj_llvm_guard_end(&j->guard);
		release(j);
		cj_leave(j->outer, j->recover.why, "%s", j->recover.text);
	}
	done = run(j, bytes, length);
	j->arena->recover = j->outer;
	cj_llvm_guard_end(&j->guard);
	release(j);
	if (done && j->guard.has_error)
		done = refuse(j, "LLVM: %s", j->guard.text);
	return done ? CJ_CODEGEN_OK : CJ_CODEGEN_FAULT;
}

enum cj_codegen_status
cj_codegen_bitcode(struct cj_arena *a, const struct cj_target *target,
    const char *bytes, size_t length, struct cj_codegen_shim *shims,
    uint32_t count, struct cj_codegen_result *result)
{
	struct job *j = CJ_NEW(a, struct job);

	memset(result, 0, sizeof *result);
	j->arena = a;
	j->target = target;
	j->shims = shims;
	j->count = count;
	j->out = result;
	if (cj_llvm_lost() != NULL)
		cj_leave(a->recover, CJ_WHY_MEMORY, "%s", cj_llvm_lost());
	j->outer = a->recover;
	a->recover = &j->recover;
	return guarded(j, bytes, length);
}
