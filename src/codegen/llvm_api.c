/*
 * Opening LLVM where it is a library of its own (llvm_api.h).
 */
#include "codegen/codegen.h"

#define CJ_LLVM_API_BARE
#include "llvm_api.h"

#ifdef CJ_LLVM_LIBRARY

#include "base/library.h"

#include <stdio.h>

/* One per process, as the library is. */
struct cj_llvm_api cj_llvm_api;

static const struct cj_symbol symbols[] = {
#define FUNCTION(name) { #name, offsetof(struct cj_llvm_api, name), false },
#define OPTIONAL(name) { #name, offsetof(struct cj_llvm_api, name), true },
#include "llvm_api.def"
#undef OPTIONAL
#undef FUNCTION
};

static const char *check_version(void);
static struct cj_library library = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.names = (const char *const[]){ CJ_LLVM_LIBRARY, CJ_LLVM_NAME, NULL },
	.variable = "CUTEJIT_LLVM",
	.symbols = symbols, .count = CJ_LENGTH(symbols),
	.table = &cj_llvm_api, .start = check_version
};

/* Its name has the version in it, but the environment may name any. */
static const char *
check_version(void)
{
	unsigned major, minor, patch;

	cj_llvm_api.LLVMGetVersion(&major, &minor, &patch);
	if (major == LLVM_VERSION_MAJOR && minor == LLVM_VERSION_MINOR)
		return NULL;
	snprintf(library.why, sizeof library.why,
	    "it is LLVM %u.%u, and this program needs %d.%d", major, minor,
	    LLVM_VERSION_MAJOR, LLVM_VERSION_MINOR);
	return library.why;
}

const char *
cj_codegen_open(void)
{
	return cj_library_open(&library);
}

bool
cj_codegen_is_open(void)
{
	return cj_library_is_open(&library);
}

#else

const char *
cj_codegen_open(void)
{
	return NULL;
}

bool
cj_codegen_is_open(void)
{
	return true;
}

#endif
