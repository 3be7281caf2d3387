/*
 * nvJitLink: the assembler as a library, opened when first needed and kept.
 */
#include <dlfcn.h>

#include "assemble.h"
#include "spawn.h"

struct cj_nvjitlink {
#define API(name, parameters) int (*name) parameters;
#include "nvjitlink_api.def"
#undef API
};

static bool
fill(struct cj_nvjitlink *n, void *library)
{
	bool done = true;

#define API(name, parameters)						\
	*(void **)&n->name = dlsym(library, "nvJitLink" #name);		\
	done = done && n->name != NULL;
#include "nvjitlink_api.def"
#undef API
	return done;
}

static void *
open_library(struct cj_arena *a)
{
	static const char *const names[] = {
		"libnvJitLink.so.13", "libnvJitLink.so.12", NULL
	};

	return cj_cuda_library(a, names);
}

/* The library stays: it has threads and handlers of its own, and closing it
 * gives nothing back. */
struct cj_nvjitlink *
cj_nvjitlink_open(struct cj_arena *a, unsigned *major, unsigned *minor)
{
	struct cj_nvjitlink *n;
	void *library = open_library(a);

	if (library == NULL)
		return NULL;
	n = CJ_NEW(a, struct cj_nvjitlink);
	if (!fill(n, library) || n->Version(major, minor) != 0) {
		dlclose(library);
		return NULL;
	}
	return n;
}

static void
copy_log(struct cj_work *f, struct cj_nvjitlink *n, void *link,
    struct cj_assembly *out)
{
	size_t size = 0;
	char *log;

	if (n->GetErrorLogSize(link, &size) != 0 || size == 0)
		return;
	log = cj_alloc(&f->arena, size + 1);
	if (n->GetErrorLog(link, log) == 0)
		out->log = log;
}

/* What it says of a link that went well. */
static void
copy_info(struct cj_work *f, struct cj_nvjitlink *n, void *link,
    struct cj_assembly *out)
{
	size_t size = 0;
	char *log;

	if (n->GetInfoLogSize(link, &size) != 0 || size == 0)
		return;
	log = cj_alloc(&f->arena, size + 1);
	if (n->GetInfoLog(link, log) == 0)
		out->properties = log;
}

struct link {
	struct cj_nvjitlink *n;
	void *handle;
};

static void
destroy(void *object)
{
	struct link *l = object;

	l->n->Destroy(&l->handle);
}

static cutejit_status
link_it(struct cj_work *f, struct link *l, const char *ptx, size_t length,
    struct cj_arena *a, struct cj_assembly *out)
{
	enum { PTX = 2 };
	char *cubin;

	if (l->n->AddData(l->handle, PTX, ptx, length + 1, "kernel") != 0
	    || l->n->Complete(l->handle) != 0
	    || l->n->GetLinkedCubinSize(l->handle, &out->length) != 0) {
		copy_log(f, l->n, l->handle, out);
		return CUTEJIT_INTERNAL;
	}
	cubin = cj_alloc(a, out->length + 1);
	if (l->n->GetLinkedCubin(l->handle, cubin) != 0)
		return CUTEJIT_INTERNAL;
	out->cubin = cubin;
	copy_info(f, l->n, l->handle, out);
	return CUTEJIT_OK;
}

cutejit_status
cj_nvjitlink_run(struct cj_work *f, struct cj_nvjitlink *n,
    const struct cj_recipe *r, const char *ptx, size_t length,
    struct cj_arena *a, struct cj_assembly *out)
{
	struct link *l = CJ_NEW(&f->arena, struct link);
	const char *options[4];
	cutejit_status status;
	uint32_t count = 0;

	options[count++] = cj_printf(&f->arena, "-arch=%s", r->target->name);
	/* its own levels are 0 and 3 */
	options[count++] = "-O3";
	if (cj_assembler_level(r->level, ptx, length) < 3)
		options[count++] = "-Xptxas=-O1";
	if (r->lineinfo)
		options[count++] = "-lineinfo";
	l->n = n;
	if (n->Create(&l->handle, count, options) != 0)
		return CUTEJIT_INTERNAL;
	cj_defer(f, destroy, l);
	status = link_it(f, l, ptx, length, a, out);
	cj_undefer(f);
	destroy(l);
	return status;
}

struct cj_nvjitlink *
cj_nvjitlink_copy(struct cj_arena *a, const struct cj_nvjitlink *n)
{
	return cj_memdup(a, n, sizeof *n);
}
