/*
 * NVRTC: the compiler of CUDA C++ as a library, opened when a program needs it.
 */
#include <dlfcn.h>

#include "foreign.h"
#include "spawn.h"

struct cj_nvrtc {
#define API(name, parameters) int (*name) parameters;
#include "nvrtc_api.def"
#undef API
};

/* NULL: all are there; else the first that is not. */
static const char *
fill(struct cj_nvrtc *n, void *library)
{
	const char *missing = NULL;

#define API(name, parameters)						\
	*(void **)&n->name = dlsym(library, "nvrtc" #name);		\
	if (n->name == NULL && missing == NULL)				\
		missing = "nvrtc" #name;
#include "nvrtc_api.def"
#undef API
	return missing;
}

/* CUTEJIT_NVRTC names it; else the loader and the toolkit's folders do. */
static void *
open_library(struct cj_arena *a)
{
	static const char *const names[] = {
		"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", NULL
	};
	const char *own = cj_env("CUTEJIT_NVRTC");

	if (own != NULL)
		return dlopen(own, RTLD_NOW | RTLD_LOCAL);
	return cj_cuda_library(a, names);
}

/* The library stays, as nvJitLink does. */
struct cj_nvrtc *
cj_nvrtc_open(struct cj_arena *a, int *major, int *minor, const char **why)
{
	void *library = open_library(a);
	const char *missing;
	struct cj_nvrtc *n;

	*why = "is not on this machine";
	if (library == NULL)
		return NULL;
	n = CJ_NEW(a, struct cj_nvrtc);
	missing = fill(n, library);
	if (missing == NULL && n->Version(major, minor) == 0)
		return n;
	*why = missing == NULL ? "does not tell its version" :
	    cj_printf(a, "has no function %s", missing);
	dlclose(library);
	return NULL;
}

struct compiling {
	struct cj_nvrtc *n;
	void *program;
};

static void
destroy(void *object)
{
	struct compiling *c = object;

	c->n->DestroyProgram(&c->program);
}

static void
copy_log(struct cj_work *f, struct compiling *c, const char **log)
{
	size_t size = 0;
	char *text;

	*log = "it gives no reason";
	if (c->n->GetProgramLogSize(c->program, &size) != 0 || size <= 1)
		return;
	text = cj_alloc(&f->arena, size + 1);
	if (c->n->GetProgramLog(c->program, text) == 0)
		*log = text;
}

static const char *
compile(struct cj_work *f, struct compiling *c, const struct cj_recipe *r,
    const char **log)
{
	const char *const *folder = cj_cuda_folders(&f->arena);
	const char *options[16];
	int count = 0;
	size_t size;
	char *ptx;

	options[count++] = cj_printf(&f->arena,
	    "--gpu-architecture=compute_%s", r->target->name + 3);
	options[count++] = "--relocatable-device-code=true";
	options[count++] = "--std=c++17";
	if (r->lineinfo)
		options[count++] = "--generate-line-info";
	for (; *folder != NULL && count < 16; folder++)
		options[count++] = cj_printf(&f->arena,
		    "--include-path=%s/include", *folder);
	if (c->n->CompileProgram(c->program, count, options) != 0 ||
	    c->n->GetPTXSize(c->program, &size) != 0) {
		copy_log(f, c, log);
		return NULL;
	}
	ptx = cj_alloc(&f->arena, size + 1);
	if (c->n->GetPTX(c->program, ptx) == 0)
		return ptx;
	copy_log(f, c, log);
	return NULL;
}

const char *
cj_nvrtc_compile(struct cj_work *f, struct cj_nvrtc *n,
    const struct cj_recipe *r, const char *text, const char **log)
{
	struct compiling *c = CJ_NEW(&f->arena, struct compiling);
	const char *ptx;

	c->n = n;
	*log = "it takes no text";
	if (n->CreateProgram(&c->program, text, "extern.cu", 0, NULL, NULL)
	    != 0)
		return NULL;
	cj_defer(f, destroy, c);
	ptx = compile(f, c, r, log);
	cj_undefer(f);
	destroy(c);
	return ptx;
}
