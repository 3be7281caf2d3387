/*
 * The driver, for tests that compare with a GPU: a few of its functions, the
 * first device, and modules made and loaded.
 */
#ifndef CJ_CUDA_DRIVER_H
#define CJ_CUDA_DRIVER_H

#include "arena_fixture.h"
#include "codegen/codegen.h"

#include <dlfcn.h>

typedef int cu_status;
typedef uint64_t device_pointer;

static struct {
	cu_status (*init)(unsigned);
	cu_status (*device_get)(int *, int);
	cu_status (*attribute)(int *, int, int);
	cu_status (*retain)(void **, int);
	cu_status (*set)(void *);
	cu_status (*load)(void **, const void *, unsigned, int *, void **);
	cu_status (*unload)(void *);
	cu_status (*function)(void **, void *, const char *);
	cu_status (*alloc)(device_pointer *, size_t);
	cu_status (*to_device)(device_pointer, const void *, size_t);
	cu_status (*from_device)(void *, device_pointer, size_t);
	cu_status (*launch)(void *, unsigned, unsigned, unsigned, unsigned,
	    unsigned, unsigned, unsigned, void *, void **, void **);
	cu_status (*synchronize)(void);
} cu;

static const struct {
	const char *name;
	void *to;
} entries[] = {
	{ "cuInit", &cu.init }, { "cuDeviceGet", &cu.device_get },
	{ "cuDeviceGetAttribute", &cu.attribute },
	{ "cuDevicePrimaryCtxRetain", &cu.retain },
	{ "cuCtxSetCurrent", &cu.set }, { "cuModuleLoadDataEx", &cu.load },
	{ "cuModuleUnload", &cu.unload },
	{ "cuModuleGetFunction", &cu.function },
	{ "cuMemAlloc_v2", &cu.alloc }, { "cuMemcpyHtoD_v2", &cu.to_device },
	{ "cuMemcpyDtoH_v2", &cu.from_device },
	{ "cuLaunchKernel", &cu.launch },
	{ "cuCtxSynchronize", &cu.synchronize },
};

/* The target of the first GPU, with a current context; NULL: there is none. */
static inline const struct cj_target *
open_gpu(void)
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOW), *p, *context;
	int device, major, minor;
	unsigned i;

	if (lib == NULL)
		return NULL;
	for (i = 0; i < CJ_LENGTH(entries); i++) {
		if ((p = dlsym(lib, entries[i].name)) == NULL)
			return NULL;
		memcpy(entries[i].to, &p, sizeof p);
	}
	if (cu.init(0) != 0 || cu.device_get(&device, 0) != 0 ||
	    cu.attribute(&major, 75, device) != 0 ||
	    cu.attribute(&minor, 76, device) != 0 ||
	    cu.retain(&context, device) != 0 || cu.set(context) != 0)
		return NULL;
	return cj_target_for_chip(major, minor);
}

static const struct cj_target *gpu;

static inline void
set_up_gpu(void)
{
	set_up();
	gpu = open_gpu();
}

static inline void *
cuda_load(struct cj_arena *a, const struct cj_module *m)
{
	static char log[4000];
	int options[] = { 5, 6 };	/* error log and its size */
	void *values[] = { log, (void *)sizeof log }, *module = NULL;
	struct cj_codegen_options o = { .level = 2 };
	struct cj_codegen_result out;

	if (cj_codegen_ptx(a, m, &o, &out) != CJ_CODEGEN_OK)
		ck_abort_msg("%s", out.error);
	if (cu.load(&module, out.ptx, 2, options, values) != 0)
		ck_abort_msg("the driver refuses the PTX: %s", log);
	return module;
}

#endif
