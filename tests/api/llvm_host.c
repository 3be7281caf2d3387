/*
 * A host that works with LLVM itself, of the same or another version, in the
 * same process: our LLVM's symbols are not the host's, and each goes on when
 * the other has been used. LLVM_HOST_LIBRARY names the host's; skipped where no
 * shared libLLVM is found.
 */
#include "test.h"

#include <dlfcn.h>

static struct {
	void (*install)(void (*handler)(const char *reason));
	void *(*context)(void);
	void (*context_end)(void *context);
	void *(*module)(const char *name, void *context);
	void (*module_end)(void *module);
	void *(*i32)(void *context);
	void *(*function_type)(void *result, void **params, unsigned count,
	    int variadic);
	void *(*add)(void *module, const char *name, void *type);
	void *(*block)(void *context, void *function, const char *name);
	void *(*builder)(void *context);
	void (*builder_end)(void *builder);
	void (*at_end)(void *builder, void *block);
	void *(*parameter)(void *function, unsigned i);
	void *(*sum)(void *builder, void *a, void *b, const char *name);
	void *(*ret)(void *builder, void *value);
	char *(*print)(void *module);
	void (*free_text)(char *text);
	int (*verify)(void *module, int action, char **text);
} llvm;

static void *
open_llvm(void)
{
	static const char *const names[] = { "libLLVM.so.22.1",
	    "libLLVM-22.so.1", "libLLVM-22.so", "libLLVM.so.23.1",
	    "libLLVM-15.so.1", "libLLVM-14.so.1" };
	const char *named = getenv("LLVM_HOST_LIBRARY");
	void *library = named != NULL ? dlopen(named, RTLD_NOW | RTLD_GLOBAL)
	    : NULL;
	size_t i;

	for (i = 0; library == NULL && i < sizeof names / sizeof *names; i++)
		library = dlopen(names[i], RTLD_NOW | RTLD_GLOBAL);
	return library;
}

static void
find(void *library, const char *name, void *slot)
{
	*(void **)slot = dlsym(library, name);
	CHECK(*(void **)slot != NULL);
}

static void
find_all(void *library)
{
	find(library, "LLVMInstallFatalErrorHandler", &llvm.install);
	find(library, "LLVMContextCreate", &llvm.context);
	find(library, "LLVMContextDispose", &llvm.context_end);
	find(library, "LLVMModuleCreateWithNameInContext", &llvm.module);
	find(library, "LLVMDisposeModule", &llvm.module_end);
	find(library, "LLVMInt32TypeInContext", &llvm.i32);
	find(library, "LLVMFunctionType", &llvm.function_type);
	find(library, "LLVMAddFunction", &llvm.add);
	find(library, "LLVMAppendBasicBlockInContext", &llvm.block);
	find(library, "LLVMCreateBuilderInContext", &llvm.builder);
	find(library, "LLVMDisposeBuilder", &llvm.builder_end);
	find(library, "LLVMPositionBuilderAtEnd", &llvm.at_end);
	find(library, "LLVMGetParam", &llvm.parameter);
	find(library, "LLVMBuildAdd", &llvm.sum);
	find(library, "LLVMBuildRet", &llvm.ret);
	find(library, "LLVMPrintModuleToString", &llvm.print);
	find(library, "LLVMDisposeMessage", &llvm.free_text);
	find(library, "LLVMVerifyModule", &llvm.verify);
}

/* What the host does with its LLVM: a function that adds. */
static void
host_works(void)
{
	void *c = llvm.context(), *m = llvm.module("host", c);
	void *i32 = llvm.i32(c), *two[2] = { i32, i32 };
	void *f = llvm.add(m, "add", llvm.function_type(i32, two, 2, 0));
	void *b = llvm.builder(c);
	char *text, *why = NULL;

	llvm.at_end(b, llvm.block(c, f, "entry"));
	llvm.ret(b, llvm.sum(b, llvm.parameter(f, 0), llvm.parameter(f, 1),
	    "s"));
	CHECK(llvm.verify(m, 2, &why) == 0);
	llvm.free_text(why);
	text = llvm.print(m);
	CHECK(strstr(text, "define i32 @add") != NULL);
	llvm.free_text(text);
	llvm.builder_end(b);
	llvm.module_end(m);
	llvm.context_end(c);
}

static int handled;

static void
on_fatal(const char *reason)
{
	(void)reason;
	handled++;
}

static void
ours_works(int number)
{
	cutejit_compile_options o = CUTEJIT_COMPILE_OPTIONS_INIT;
	cutejit_context *c = test_context();
	char text[sizeof saxpy_text + 32];
	cutejit_module *m;
	cutejit_kernel *k;
	const void *ptx;

	snprintf(text, sizeof text, "// %d\n%s", number, saxpy_text);
	m = test_module(c, text);
	o.until = CUTEJIT_UNTIL_PTX;
	DO(c, cutejit_compile(m, "saxpy", &o, &k));
	DO(c, cutejit_kernel_artifact(k, "ptx", &ptx, NULL));
	CHECK(strstr(ptx, ".entry saxpy") != NULL);
	cutejit_kernel_destroy(k);
	cutejit_module_destroy(m);
	cutejit_context_destroy(c);
}

/* Nothing of LLVM, and nothing private, lies open in our library. */
static void
test_hidden(void)
{
	Dl_info ours, found;
	void *library, *symbol;

	CHECK(dladdr((void *)(size_t)cutejit_version, &ours) != 0);
	library = dlopen(ours.dli_fname, RTLD_NOW | RTLD_NOLOAD);
	CHECK(library != NULL);
	CHECK(dlsym(library, "cj_codegen_ptx") == NULL);
	symbol = dlsym(library, "LLVMContextCreate");
	CHECK(symbol == NULL || (dladdr(symbol, &found) != 0
	    && found.dli_fbase != ours.dli_fbase));
	dlclose(library);
}

int
main(void)
{
	void *library = open_llvm();
	int i;

	setenv("CUTEJIT_LIBCUDA", "/nonexistent/libcuda.so.1", 1);
	if (library == NULL) {
		printf("no shared libLLVM: skipped\n");
		return 77;
	}
	find_all(library);
	test_hidden();
	llvm.install(on_fatal);
	host_works();
	for (i = 0; i < 3; i++) {
		ours_works(i);
		host_works();
	}
	CHECK(handled == 0);
	return 0;
}
