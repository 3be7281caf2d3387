/*
 * The CUDA driver of this machine, for tests on GPUs that are there: the
 * functions that they need, by the names of their table.
 */
#ifndef DRIVER_H
#define DRIVER_H

#include "test.h"

#include <dlfcn.h>

#define DRIVER_FUNCTIONS(F)						\
	F(init, "cuInit", (unsigned))					\
	F(count, "cuDeviceGetCount", (int *))				\
	F(retain, "cuDevicePrimaryCtxRetain", (void **, int))		\
	F(push, "cuCtxPushCurrent_v2", (void *))			\
	F(pop, "cuCtxPopCurrent_v2", (void **))				\
	F(current, "cuCtxGetCurrent", (void **))			\
	F(create, "cuCtxCreate_v2", (void **, unsigned, int))		\
	F(context_end, "cuCtxDestroy_v2", (void *))			\
	F(alloc, "cuMemAlloc_v2", (uint64_t *, size_t))			\
	F(release, "cuMemFree_v2", (uint64_t))				\
	F(to, "cuMemcpyHtoD_v2", (uint64_t, const void *, size_t))	\
	F(from, "cuMemcpyDtoH_v2", (void *, uint64_t, size_t))		\
	F(synchronize, "cuCtxSynchronize", (void))			\
	F(load, "cuLibraryLoadData", (void **, const void *, int *,	\
	    void **, unsigned, int *, void **, unsigned))		\
	F(get, "cuLibraryGetKernel", (void **, void *, const char *))	\
	F(function, "cuKernelGetFunction", (void **, void *))		\
	F(launch, "cuLaunchKernel", (void *, unsigned, unsigned,	\
	    unsigned, unsigned, unsigned, unsigned, unsigned, void *,	\
	    void **, void **))						\
	F(stream, "cuStreamCreate", (void **, unsigned))		\
	F(stream_end, "cuStreamDestroy_v2", (void *))			\
	F(stream_wait, "cuStreamSynchronize", (void *))			\
	F(begin, "cuStreamBeginCapture_v2", (void *, int))		\
	F(end, "cuStreamEndCapture", (void *, void **))			\
	F(graph, "cuGraphCreate", (void **, unsigned))			\
	F(graph_end, "cuGraphDestroy", (void *))			\
	F(instantiate, "cuGraphInstantiateWithFlags", (void **, void *,	\
	    unsigned long long))					\
	F(exec_end, "cuGraphExecDestroy", (void *))			\
	F(play, "cuGraphLaunch", (void *, void *))

static struct {
#define MEMBER(name, symbol, parameters) int (*name) parameters;
	DRIVER_FUNCTIONS(MEMBER)
#undef MEMBER
} cu;

/* How many GPUs there are. */
static int
open_driver(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);
	int count = 0;

	if (library == NULL)
		return 0;
#define FIND(name, symbol, parameters)					\
	*(void **)&cu.name = dlsym(library, symbol);			\
	CHECK(cu.name != NULL);
	DRIVER_FUNCTIONS(FIND)
#undef FIND
	return cu.init(0) == 0 && cu.count(&count) == 0 ? count : 0;
}

#endif
