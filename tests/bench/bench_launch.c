/*
 * What launching costs the host above the driver, in the same process and with
 * the same machine code:
 *
 *	prepared	cutejit_launch_run() of ten arguments
 *	in one go	cutejit_call() with three tensors; with three that have
 *			tensor maps, always the same, or two triples in turn
 *	graph		a graph of ten launches, ours against nodes made bare
 *
 * each against a bare cuLaunchKernelEx() of the kernel with the same arguments,
 * in alternating bursts of 200, so that the queue never fills; the differences
 * are those of neighbours. Also hits: of the disk, from a module to a loaded
 * kernel that was launched, and in memory.
 *
 *	bench_launch launch.cute [ROUNDS [stream]]
 *
 * All on the default stream, or on one that is made for it.
 *
 * The driver is libcuda.so.1 or what CUTEJIT_LIBCUDA names. The stand-in of
 * tests/api (build/fake/libcuda.so.1, with CUTEJIT_ASSEMBLER=driver) returns
 * from a launch at once, so that ours is measured alone; a hit in memory is
 * then the call in one go above the driver, with all that it looks up.
 *
 *	cc bench_launch.c -o bench_launch $(pkg-config --cflags --libs cutejit)
 */
#include <cutejit.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_time.h"

enum { BURST = 200, N = 32, TENSORS = 8, NODES = 10, MAPS = 3 };

/* CUlaunchConfig and CUDA_KERNEL_NODE_PARAMS_v2. */
struct config {
	unsigned grid[3], block[3];
	unsigned shared_bytes;
	void *stream, *attributes;
	unsigned count;
};
struct node {
	void *function;
	unsigned grid[3], block[3];
	unsigned shared_bytes;
	void **params, **extra;
	void *kernel, *context;
};

/* The driver's functions that a bare launch needs. */
static struct {
	int (*init)(unsigned);
	int (*retain)(void **, int);
	int (*push)(void *);
	int (*allocate)(uint64_t *, size_t);
	int (*load)(void **, const void *, int *, void **, unsigned, int *,
	    void **, unsigned);
	int (*kernel)(void **, void *, const char *);
	int (*launch)(const struct config *, void *, void **, void **);
	int (*synchronize)(void);
	int (*stream)(void **, unsigned);
	int (*encode)(void *, int, uint32_t, void *, const uint64_t *,
	    const uint64_t *, const uint32_t *, const uint32_t *, int, int,
	    int, int);
	int (*graph)(void **, unsigned);
	int (*add)(void **, void *, void *const *, size_t,
	    const struct node *);
	int (*instantiate)(void **, void *, unsigned long long);
	int (*play)(void *, void *);
} cu;
static void *primary, *stream;
static int is_stand_in;

static _Noreturn void
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

static void *
open_driver(void)
{
	const char *named = getenv("CUTEJIT_LIBCUDA");
	void *library = dlopen(named != NULL ? named : "libcuda.so.1",
	    RTLD_NOW);

	if (library == NULL)
		die("there is no driver");
	resolve(library, "cuInit", &cu.init);
	resolve(library, "cuDevicePrimaryCtxRetain", &cu.retain);
	resolve(library, "cuCtxPushCurrent_v2", &cu.push);
	resolve(library, "cuMemAlloc_v2", &cu.allocate);
	resolve(library, "cuLibraryLoadData", &cu.load);
	resolve(library, "cuLibraryGetKernel", &cu.kernel);
	resolve(library, "cuLaunchKernelEx", &cu.launch);
	resolve(library, "cuCtxSynchronize", &cu.synchronize);
	resolve(library, "cuStreamCreate", &cu.stream);
	resolve(library, "cuTensorMapEncodeTiled", &cu.encode);
	resolve(library, "cuGraphCreate", &cu.graph);
	resolve(library, "cuGraphAddKernelNode_v2", &cu.add);
	resolve(library, "cuGraphInstantiateWithFlags", &cu.instantiate);
	resolve(library, "cuGraphLaunch", &cu.play);
	if (cu.init(0) != 0 || cu.retain(&primary, 0) != 0
	    || cu.push(primary) != 0)
		die("there is no GPU");
	return library;
}

/* From here on launches are not written down. */
static void
hasten(void *library)
{
	int *(*fast)(void);

	*(void **)&fast = dlsym(library, "fake_cuda_fast");
	is_stand_in = fast != NULL;
	if (is_stand_in)
		*fast() = 1;
}

static void
report(const char *what, const char *unit, double *v, int n)
{
	sort_times(v, (size_t)n);
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
	cutejit_context *context;
	cutejit_module *module;
	cutejit_kernel *ten, *three, *maps;
	cutejit_launch *launch;
	cutejit_argument ten_args[TENSORS + 2], three_args[3];
	cutejit_tensor tensor[TENSORS];
	int64_t extent;
	uint64_t address[TENSORS];
	float a, b;
	/* bare */
	void *ten_function, *three_function;
	void *ten_params[TENSORS + 2], *three_params[3];
	void *ours, *bare;		/* graphs, instantiated */
	/* matrices of N rows, of two triples */
	cutejit_argument maps_args[2][MAPS];
	cutejit_tensor matrix[2][MAPS];
	int64_t square[2], strides[2];
	void *maps_function, *maps_params[2][MAPS + 1];
	int turn;
	_Alignas(64) unsigned char map[2][MAPS][128];
};

static void
make_tensors(struct work *w)
{
	static const char *const names[TENSORS] = { "x0", "x1", "x2", "x3",
	    "x4", "x5", "x6", "y" };
	static const char *const short_names[3] = { "x", "y", "z" };
	int i;

	w->extent = N;
	w->a = 2;
	w->b = 3;
	w->ten_args[0] = cutejit_arg_float("a", 2);
	w->ten_args[1] = cutejit_arg_float("b", 3);
	for (i = 0; i < TENSORS; i++) {
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
		w->ten_args[i + 2] = cutejit_arg_tensor(names[i],
		    &w->tensor[i]);
		if (i < 3)
			w->three_args[i] = cutejit_arg_tensor(short_names[i],
			    &w->tensor[i]);
	}
}

/* As the kernel has them: boxes of 32 x 32, rows of 128 bytes swizzled. */
static void
encode(struct work *w, int triple, int i)
{
	static const uint32_t box[2] = { 32, 32 }, steps[2] = { 1, 1 };
	uint64_t extents[2] = { N, N }, stride = N * sizeof(float);

	if (cu.encode(w->map[triple][i], 7, 2, w->matrix[triple][i].data,
	    extents, &stride, box, steps, 0, 3, 3, 0) != 0)
		die("a map cannot be encoded");
	w->maps_params[triple][i + 1] = w->map[triple][i];
}

static void
make_matrices(struct work *w)
{
	static const char *const names[MAPS] = { "a", "b", "c" };
	uint64_t address;
	int triple, i;

	w->square[0] = w->square[1] = w->strides[0] = N;
	w->strides[1] = 1;
	for (triple = 0; triple < 2; triple++)
		for (i = 0; i < MAPS; i++) {
			cutejit_tensor t = { 0 };

			if (cu.allocate(&address, N * N * sizeof(float)) != 0)
				die("no memory");
			t.data = (void *)(uintptr_t)address;
			t.device_type = CUTEJIT_DL_CUDA;
			t.ndim = 2;
			t.code = 2;
			t.bits = 32;
			t.lanes = 1;
			t.shape = w->square;
			t.strides = w->strides;
			w->matrix[triple][i] = t;
			w->maps_args[triple][i] = cutejit_arg_tensor(names[i],
			    &w->matrix[triple][i]);
			encode(w, triple, i);
		}
	w->maps_params[0][0] = w->maps_params[1][0] = &w->square[0];
}

static void *
load_bare(struct work *w, cutejit_kernel *k)
{
	const void *image;
	void *library, *kernel;

	if (cutejit_kernel_artifact(k, "cubin", &image, NULL) != CUTEJIT_OK)
		check(w->context, cutejit_kernel_artifact(k, "ptx", &image,
		    NULL));
	if (cu.load(&library, image, NULL, NULL, 0, NULL, NULL, 0) != 0
	    || cu.kernel(&kernel, library,
	    cutejit_kernel_entry(k, 0)->name) != 0)
		die("cannot load the kernel");
	return kernel;
}

static void
make_kernels(struct work *w, const char *path)
{
	cutejit_compile_options o = CUTEJIT_COMPILE_OPTIONS_INIT;

	check(NULL, cutejit_context_create(NULL, &w->context));
	check(w->context, cutejit_module_from_file(w->context, path,
	    &w->module));
	o.arguments = w->ten_args;
	o.argument_count = TENSORS + 2;
	check(w->context, cutejit_compile(w->module, "ten", &o, &w->ten));
	o.arguments = w->three_args;
	o.argument_count = 3;
	check(w->context, cutejit_compile(w->module, "three", &o, &w->three));
	check(w->context, cutejit_prepare(w->ten, w->ten_args, TENSORS + 2,
	    &w->launch));
	w->ten_function = load_bare(w, w->ten);
	w->three_function = load_bare(w, w->three);
	o.arguments = w->maps_args[0];
	o.argument_count = MAPS;
	check(w->context, cutejit_compile(w->module, "maps", &o, &w->maps));
	w->maps_function = load_bare(w, w->maps);
}

/* Parameters in the order of first use, as --emit=host prints them: x0, x1, b,
 * a, x2 ... y. */
static void
make_parameters(struct work *w)
{
	int i;

	w->ten_params[2] = &w->b;
	w->ten_params[3] = &w->a;
	for (i = 0; i < TENSORS; i++)
		w->ten_params[i < 2 ? i : i + 2] = &w->address[i];
	for (i = 0; i < 3; i++)
		w->three_params[i] = &w->address[i];
}

/* ---- bursts -------------------------------------------------------------- */

static void
launch_bare(void *function, void **params)
{
	struct config c = { { 1, 1, 1 }, { 32, 1, 1 }, 0, stream, NULL, 0 };

	if (cu.launch(&c, function, params, NULL) != 0)
		die("a bare launch failed");
}

static void
bare_ten(struct work *w)
{
	launch_bare(w->ten_function, w->ten_params);
}

static void
bare_three(struct work *w)
{
	launch_bare(w->three_function, w->three_params);
}

static void
prepared(struct work *w)
{
	if (cutejit_launch_run(w->launch, stream) != CUTEJIT_OK)
		die("a launch failed");
}

static void
in_one_go(struct work *w)
{
	if (cutejit_call(w->module, "three", w->three_args, 3, NULL, stream)
	    != CUTEJIT_OK)
		die("a call failed");
}

static void
bare_maps(struct work *w)
{
	launch_bare(w->maps_function, w->maps_params[0]);
}

static void
call_maps(struct work *w, int triple)
{
	if (cutejit_call(w->module, "maps", w->maps_args[triple], MAPS, NULL,
	    stream) != CUTEJIT_OK)
		die("a call failed");
}

static void
same_maps(struct work *w)
{
	call_maps(w, 0);
}

static void
other_maps(struct work *w)
{
	call_maps(w, w->turn++ % 2);
}

static void
play_ours(struct work *w)
{
	if (cu.play(w->ours, stream) != 0)
		die("a graph failed");
}

static void
play_bare(struct work *w)
{
	if (cu.play(w->bare, stream) != 0)
		die("a graph failed");
}

static double
burst(struct work *w, void (*one)(struct work *w), int count)
{
	double start = now_us();
	int i;

	for (i = 0; i < count; i++)
		one(w);
	start = (now_us() - start) / count;
	cu.synchronize();
	return start;
}

/* Bursts of both, which of them begins in turn. */
static void
compare(struct work *w, const char *what, void (*bare)(struct work *w),
    void (*ours)(struct work *w), int count, int rounds)
{
	double *b = calloc((size_t)rounds, sizeof *b);
	double *o = calloc((size_t)rounds, sizeof *o);
	double *d = calloc((size_t)rounds, sizeof *d);
	char name[64];
	int r;

	if (b == NULL || o == NULL || d == NULL)
		die("no memory");
	burst(w, bare, count);
	burst(w, ours, count);
	for (r = 0; r < rounds; r++) {
		if (r % 2 == 0)
			b[r] = burst(w, bare, count);
		o[r] = burst(w, ours, count);
		if (r % 2 != 0)
			b[r] = burst(w, bare, count);
		d[r] = o[r] - b[r];
	}
	snprintf(name, sizeof name, "%s: bare", what);
	report(name, "us", b, rounds);
	snprintf(name, sizeof name, "%s: ours", what);
	report(name, "us", o, rounds);
	snprintf(name, sizeof name, "%s: difference", what);
	report(name, "us", d, rounds);
	free(b);
	free(o);
	free(d);
}

/* ---- graphs -------------------------------------------------------------- */

static void *
instantiate(void *graph)
{
	void *exec;

	if (cu.instantiate(&exec, graph, 0) != 0)
		die("a graph cannot be instantiated");
	return exec;
}

static void
make_graphs(struct work *w)
{
	struct node n = { NULL, { 1, 1, 1 }, { 32, 1, 1 }, 0,
	    w->ten_params, NULL, w->ten_function, primary };
	void *ours, *bare, *at = NULL, *node;
	int i;

	if (cu.graph(&ours, 0) != 0 || cu.graph(&bare, 0) != 0)
		die("no graph");
	for (i = 0; i < NODES; i++, at = node)
		check(w->context, cutejit_launch_graph_add(w->launch, ours,
		    &at, at != NULL, &node));
	at = NULL;
	for (i = 0; i < NODES; i++, at = node)
		if (cu.add(&node, bare, &at, at != NULL, &n) != 0)
			die("a bare node cannot be added");
	w->ours = instantiate(ours);
	w->bare = instantiate(bare);
}

/* ---- hits ---------------------------------------------------------------- */

/* A new context for each round, so that nothing is in memory. */
static void
measure_disk(const char *path, struct work *w, int rounds)
{
	double *ms = calloc((size_t)rounds, sizeof *ms);
	cutejit_cache_stats s;
	int r;

	for (r = -1; r < rounds; r++) {
		cutejit_context *context;
		cutejit_module *module;
		double start;

		check(NULL, cutejit_context_create(NULL, &context));
		check(context, cutejit_module_from_file(context, path,
		    &module));
		start = now_us();
		check(context, cutejit_call(module, "three", w->three_args, 3,
		    NULL, NULL));
		if (r >= 0)
			ms[r] = (now_us() - start) / 1e3;
		cutejit_cache_stats_get(context, &s);
		if (r >= 0 && s.disk_hits == 0)
			die("the kernel did not come from the cache");
		cu.synchronize();
		cutejit_module_destroy(module);
		cutejit_context_destroy(context);
	}
	report("cache on disk to launched kernel", "ms", ms, rounds);
	free(ms);
}

static void
compile(struct work *w)
{
	cutejit_kernel *k;

	cutejit_compile_options o = CUTEJIT_COMPILE_OPTIONS_INIT;

	o.arguments = w->three_args;
	o.argument_count = 3;
	check(w->context, cutejit_compile(w->module, "three", &o, &k));
	cutejit_kernel_destroy(k);
}

static void
measure_memory(struct work *w, int rounds)
{
	double *us = calloc((size_t)rounds, sizeof *us);
	int r;

	compile(w);
	for (r = 0; r < rounds; r++)
		us[r] = burst(w, compile, BURST);
	report("cutejit_compile() of what is in memory", "us", us, rounds);
	free(us);
}

int
main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 300;
	struct work w = { 0 };
	void *library;

	if (argc < 2 || rounds < 20)
		die("usage: bench_launch launch.cute [ROUNDS >= 20 "
		    "[stream]]");
	library = open_driver();
	if (argc > 3 && cu.stream(&stream, 1) != 0)
		die("there is no stream");
	make_tensors(&w);
	make_matrices(&w);
	make_kernels(&w, argv[1]);
	make_parameters(&w);
	make_graphs(&w);
	in_one_go(&w);
	measure_disk(argv[1], &w, rounds < 100 ? rounds : 100);
	measure_memory(&w, 20);
	hasten(library);
	compare(&w, "prepared, ten arguments", bare_ten, prepared, BURST,
	    rounds);
	compare(&w, "in one go, three tensors", bare_three, in_one_go, BURST,
	    rounds);
	compare(&w, "in one go, three maps", bare_maps, same_maps, BURST,
	    rounds);
	compare(&w, "in one go, maps that move", bare_maps, other_maps, BURST,
	    rounds);
	if (!is_stand_in)
		compare(&w, "graph of ten launches", play_bare, play_ours, 50,
		    rounds);
	cutejit_launch_destroy(w.launch);
	cutejit_kernel_destroy(w.ten);
	cutejit_kernel_destroy(w.three);
	cutejit_kernel_destroy(w.maps);
	cutejit_module_destroy(w.module);
	cutejit_context_destroy(w.context);
	return 0;
}
