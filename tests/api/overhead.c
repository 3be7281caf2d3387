/*
 * What a prepared launch costs above the driver, alone: against a driver that
 * returns at once. The bound is wide; the figure is printed.
 */
#include "test.h"

#include <dlfcn.h>
#include <time.h>

#include "fake_cuda.h"

enum { LAUNCHES = 200000 };

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

int
main(void)
{
	fake_cuda_state_fn *state;
	cutejit_context *c;
	cutejit_module *m;
	cutejit_kernel *k;
	cutejit_launch *l;
	static float x[4096], y[4096];
	struct vector vx, vy;
	cutejit_argument args[3];
	double start, prepared, patched, best = 1e9;
	void *library;
	int i, round;

	setenv("CUTEJIT_LIBCUDA", FAKE_CUDA, 1);
	setenv("CUTEJIT_ASSEMBLER", "driver", 1);
	library = dlopen(FAKE_CUDA, RTLD_NOW);
	CHECK(library != NULL);
	*(void **)&state = dlsym(library, "fake_cuda_state");
	c = test_context();
	m = test_module(c, saxpy_text);
	args[0] = cutejit_arg_float("a", 2);
	args[1] = cutejit_arg_tensor("x", vector_set(&vx, x, 1024,
	    CUTEJIT_DL_CUDA));
	args[2] = cutejit_arg_tensor("y", vector_set(&vy, y, 1024,
	    CUTEJIT_DL_CUDA));
	DO(c, cutejit_compile(m, "saxpy", NULL, &k));
	DO(c, cutejit_prepare(k, args, 3, &l));
	state()->is_fast = 1;
	{
		int (*retain)(void **, int), (*push)(void *);
		void *primary;

		*(void **)&retain = dlsym(library,
		    "cuDevicePrimaryCtxRetain");
		*(void **)&push = dlsym(library, "cuCtxPushCurrent_v2");
		CHECK(retain(&primary, 0) == 0 && push(primary) == 0);
	}
	for (round = 0; round < 5; round++) {
		start = now();
		for (i = 0; i < LAUNCHES; i++)
			cutejit_launch_run(l, NULL);
		prepared = (now() - start) / LAUNCHES;
		best = prepared < best ? prepared : best;
	}
	start = now();
	for (i = 0; i < LAUNCHES; i++) {
		cutejit_launch_set_data(l, 1, i % 2 ? x : x + 2048);
		cutejit_launch_run(l, NULL);
	}
	patched = (now() - start) / LAUNCHES;
	printf("prepared launch %.3f us, patched and launched %.3f us\n",
	    best, patched);
	CHECK(best < 0.3);
	CHECK(patched < 1.0);
	cutejit_launch_destroy(l);
	cutejit_kernel_destroy(k);
	cutejit_module_destroy(m);
	cutejit_context_destroy(c);
	return 0;
}
