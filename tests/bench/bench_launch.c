/*
 * What a launch costs the host: cutejit_launch_run() of a prepared launch
 * against a bare cuLaunchKernel() of the same machine code with the same
 * arguments, in alternating bursts short enough that the queue never fills.
 * Also the way from a warm cache to a loaded kernel.
 *
 *	bench_launch launch.cute [ROUNDS]
 *
 * Needs a GPU and its driver.
 */
#include <cutejit.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BURST = 200, N = 32 };

/* The driver's functions that a bare launch needs. */
static struct {
	int (*init)(unsigned);
	int (*device)(int *, int);
	int (*retain)(void **, int);
	int (*current)(void *);
	int (*allocate)(uint64_t *, size_t);
	int (*load)(void **, const void *);
	int (*function)(void **, void *, const char *);
	int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned,
	    unsigned, unsigned, void *, void **, void **);
	int (*synchronize)(void);
} cu;

static void
die(const char *text)
{
	fprintf(stderr, "bench_launch: %s\n", text);
	exit(3);
}

static void
resolve(void *library, const char *name, void *slot)
{
	*(void **)slot = dlsym(library, name);
	if (*(void **)slot == NULL)
		die(name);
}

static void
open_driver(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW), *context;
	int device;

	if (library == NULL)
		die("there is no driver");
	resolve(library, "cuInit", &cu.init);
	resolve(library, "cuDeviceGet", &cu.device);
	resolve(library, "cuDevicePrimaryCtxRetain", &cu.retain);
	resolve(library, "cuCtxSetCurrent", &cu.current);
	resolve(library, "cuMemAlloc_v2", &cu.allocate);
	resolve(library, "cuModuleLoadData", &cu.load);
	resolve(library, "cuModuleGetFunction", &cu.function);
	resolve(library, "cuLaunchKernel", &cu.launch);
	resolve(library, "cuCtxSynchronize", &cu.synchronize);
	if (cu.init(0) != 0 || cu.device(&device, 0) != 0 ||
	    cu.retain(&context, device) != 0 || cu.current(context) != 0)
		die("there is no GPU");
}

static double
now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int
by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void
report(const char *what, const char *unit, double *v, int n)
{
	qsort(v, (size_t)n, sizeof *v, by_value);
	printf("%-44s median %8.3f %s   p5 %8.3f   p95 %8.3f\n", what,
	    v[n / 2], unit, v[n / 20], v[n - 1 - n / 20]);
}

static void
check(cutejit_context *context, cutejit_status status)
{
	if (status == CUTEJIT_OK)
		return;
	fputs(cutejit_report_text(cutejit_context_report(context), 0),
	    stderr);
	exit((int)status);
}

struct work {
	cutejit_argument argument[5];
	cutejit_tensor tensor[3];
	int64_t extent;
	uint64_t address[3];
	float a, b;
};

static void
make_arguments(struct work *w)
{
	static const char *const names[] = { "x", "y", "z" };
	int i;

	w->extent = N;
	w->a = 2;
	w->b = 3;
	for (i = 0; i < 3; i++) {
		cutejit_tensor t = { 0 };

		if (cu.allocate(&w->address[i], N * sizeof(float)) != 0)
			die("no memory");
		t.data = (void *)(uintptr_t)w->address[i];
		t.device_type = CUTEJIT_DL_CUDA;
		t.ndim = 1;
		t.code = 2;
		t.bits = 32;
		t.lanes = 1;
		t.shape = &w->extent;
		w->tensor[i] = t;
		w->argument[i] = cutejit_arg_tensor(names[i], &w->tensor[i]);
	}
	w->argument[3] = cutejit_arg_float("a", 2);
	w->argument[4] = cutejit_arg_float("b", 3);
}

static void
measure_launch(cutejit_context *context, cutejit_kernel *kernel,
    struct work *w, int rounds)
{
	/* in order of first use: z is written last */
	void *parameters[] = { &w->address[0], &w->address[1], &w->a, &w->b,
	    &w->address[2] };
	double *bare = calloc((size_t)rounds, sizeof *bare);
	double *ours = calloc((size_t)rounds, sizeof *ours);
	double *over = calloc((size_t)rounds, sizeof *over);
	cutejit_launch *launch;
	const void *cubin;
	void *module, *function;
	size_t length;
	int r, i;

	check(context, cutejit_kernel_artifact(kernel, "cubin", &cubin,
	    &length));
	if (cu.load(&module, cubin) != 0 || cu.function(&function, module,
	    cutejit_kernel_entry(kernel, 0)->name) != 0)
		die("cannot load the cubin");
	check(context, cutejit_prepare(kernel, w->argument, 5, &launch));
	for (r = -3; r < rounds; r++) {
		double t0 = now_us(), t1, t2;

		for (i = 0; i < BURST; i++)
			cu.launch(function, 1, 1, 1, 32, 1, 1, 0, NULL,
			    parameters, NULL);
		t1 = now_us();
		cu.synchronize();
		t2 = now_us();
		for (i = 0; i < BURST; i++)
			cutejit_launch_run(launch, NULL);
		if (r >= 0) {
			ours[r] = (now_us() - t2) / BURST;
			bare[r] = (t1 - t0) / BURST;
			over[r] = ours[r] - bare[r];
		}
		cu.synchronize();
	}
	report("bare cuLaunchKernel", "us", bare, rounds);
	report("cutejit_launch_run", "us", ours, rounds);
	report("difference", "us", over, rounds);
	cutejit_launch_destroy(launch);
}

/* A new context for each round, so that nothing is in memory. */
static void
measure_cache(const char *path, struct work *w, int rounds)
{
	double *ms = calloc((size_t)rounds, sizeof *ms);
	int r;

	for (r = -1; r < rounds; r++) {
		cutejit_compile_options o = CUTEJIT_COMPILE_OPTIONS_INIT;
		cutejit_context *context;
		cutejit_module *module;
		cutejit_kernel *kernel;
		cutejit_launch *launch;
		double start;

		check(NULL, cutejit_context_create(NULL, &context));
		check(context, cutejit_module_from_file(context, path,
		    &module));
		o.arguments = w->argument;
		o.argument_count = 5;
		start = now_us();
		check(context, cutejit_compile(module, "axpby", &o, &kernel));
		check(context, cutejit_prepare(kernel, w->argument, 5,
		    &launch));
		check(context, cutejit_launch_run(launch, NULL));
		if (r >= 0)
			ms[r] = (now_us() - start) / 1e3;
		if (r >= 0 && cutejit_kernel_about(kernel)->origin !=
		    CUTEJIT_ORIGIN_DISK)
			die("the kernel did not come from the cache");
		cu.synchronize();
		cutejit_launch_destroy(launch);
		cutejit_kernel_destroy(kernel);
		cutejit_module_destroy(module);
		cutejit_context_destroy(context);
	}
	report("cache on disk to launched kernel", "ms", ms, rounds);
	free(ms);
}

int
main(int argc, char **argv)
{
	cutejit_compile_options o = CUTEJIT_COMPILE_OPTIONS_INIT;
	int rounds = argc > 2 ? atoi(argv[2]) : 300;
	cutejit_context *context;
	cutejit_module *module;
	cutejit_kernel *kernel;
	struct work w = { 0 };

	if (argc < 2 || rounds < 20)
		die("usage: bench_launch launch.cute [ROUNDS >= 20]");
	open_driver();
	make_arguments(&w);
	check(NULL, cutejit_context_create(NULL, &context));
	check(context, cutejit_module_from_file(context, argv[1], &module));
	o.arguments = w.argument;
	o.argument_count = 5;
	check(context, cutejit_compile(module, "axpby", &o, &kernel));
	measure_launch(context, kernel, &w, rounds);
	measure_cache(argv[1], &w, rounds < 100 ? rounds : 100);
	cutejit_kernel_destroy(kernel);
	cutejit_module_destroy(module);
	cutejit_context_destroy(context);
	return 0;
}
