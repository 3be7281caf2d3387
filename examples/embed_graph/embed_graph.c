/*
 * Three kernels and a CUDA graph: prepared once, put into a graph, replayed,
 * changed in the graph that is there, replayed again.
 *
 *	cc embed_graph.c -o embed_graph \
 *	    $(pkg-config --cflags --libs cutejit) -ldl
 *	./embed_graph		in this folder
 *
 * Without a GPU the same launches run one after the other on the executor. A
 * program that is built with the CUDA toolkit includes cuda.h and links
 * libcuda; here the few functions of the driver are looked up, so that the
 * program builds anywhere.
 */
#include <cutejit.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 10000, KERNELS = 3 };

static cutejit_context *context;

static void
need(cutejit_status status)
{
	if (status == CUTEJIT_OK)
		return;
	fputs(cutejit_report_text(cutejit_context_report(context), 0),
	    stderr);
	exit(status);
}

/* ---- the driver ---------------------------------------------------------- */

static struct {
	int (*init)(unsigned), (*retain)(void **, int), (*current)(void *);
	int (*alloc)(uint64_t *, size_t), (*release)(uint64_t);
	int (*to)(uint64_t, const void *, size_t);
	int (*from)(void *, uint64_t, size_t);
	int (*graph)(void **, unsigned), (*graph_end)(void *);
	int (*instantiate)(void **, void *, unsigned long long);
	int (*exec_end)(void *), (*launch)(void *, void *);
	int (*synchronize)(void);
} cu;

static void
need_cuda(int error)
{
	if (error == 0)
		return;
	fprintf(stderr, "the driver says %d\n", error);
	exit(CUTEJIT_MISSING);
}

/* False: there is no GPU. */
static int
open_driver(void)
{
	static const struct {
		const char *name;
		void *slot;
	} functions[] = {
		{ "cuInit", &cu.init },
		{ "cuDevicePrimaryCtxRetain", &cu.retain },
		{ "cuCtxSetCurrent", &cu.current },
		{ "cuMemAlloc_v2", &cu.alloc },
		{ "cuMemFree_v2", &cu.release },
		{ "cuMemcpyHtoD_v2", &cu.to },
		{ "cuMemcpyDtoH_v2", &cu.from },
		{ "cuGraphCreate", &cu.graph },
		{ "cuGraphDestroy", &cu.graph_end },
		{ "cuGraphInstantiateWithFlags", &cu.instantiate },
		{ "cuGraphExecDestroy", &cu.exec_end },
		{ "cuGraphLaunch", &cu.launch },
		{ "cuCtxSynchronize", &cu.synchronize },
	};
	void *library = dlopen("libcuda.so.1", RTLD_NOW), *primary;
	size_t i;

	if (library == NULL)
		return 0;
	for (i = 0; i < sizeof functions / sizeof *functions; i++) {
		void **slot = functions[i].slot;

		*slot = dlsym(library, functions[i].name);
		if (*slot == NULL)
			return 0;
	}
	return cu.init(0) == 0 && cu.retain(&primary, 0) == 0
	    && cu.current(primary) == 0;
}

/* ---- arrays and launches ------------------------------------------------- */

static float host_x[N], host_y[N];
static int64_t extent = N;
static cutejit_tensor x, y;
static cutejit_launch *launch[KERNELS];

static cutejit_tensor
vector(float *host, int on_gpu)
{
	cutejit_tensor t = { 0 };
	uint64_t address;

	t.data = host;
	t.device_type = CUTEJIT_DL_CPU;
	if (on_gpu) {
		need_cuda(cu.alloc(&address, N * sizeof *host));
		need_cuda(cu.to(address, host, N * sizeof *host));
		t.data = (void *)(uintptr_t)address;
		t.device_type = CUTEJIT_DL_CUDA;
	}
	t.ndim = 1;
	t.shape = &extent;
	cutejit_type_set(&t, "f32");
	return t;
}

static cutejit_launch *
prepare(cutejit_module *module, const char *name,
    const cutejit_argument *args, size_t count)
{
	cutejit_kernel *kernel;
	cutejit_launch *l;

	need(cutejit_compile(module, name, NULL, &kernel));
	need(cutejit_prepare(kernel, args, count, &l));
	cutejit_kernel_destroy(kernel);		/* the launch keeps it */
	return l;
}

static void
prepare_all(cutejit_module *module)
{
	cutejit_argument scale[2], add[2];

	scale[0] = cutejit_arg_float("a", 2);
	scale[1] = cutejit_arg_tensor("x", &x);
	add[0] = cutejit_arg_tensor("x", &x);
	add[1] = cutejit_arg_tensor("y", &y);
	launch[0] = prepare(module, "scale", scale, 2);
	launch[1] = prepare(module, "add", add, 2);
	launch[2] = prepare(module, "negate", &add[1], 1);
}

static void
check(float expected_x, float expected_y)
{
	int i;

	if (x.device_type == CUTEJIT_DL_CUDA) {
		need_cuda(cu.synchronize());
		need_cuda(cu.from(host_x, (uintptr_t)x.data, sizeof host_x));
		need_cuda(cu.from(host_y, (uintptr_t)y.data, sizeof host_y));
	}
	for (i = 0; i < N; i++)
		if (host_x[i] != expected_x || host_y[i] != expected_y) {
			fprintf(stderr, "element %d: %g and %g, not %g and "
			    "%g\n", i, host_x[i], host_y[i], expected_x,
			    expected_y);
			exit(CUTEJIT_ERROR);
		}
	printf("x is %g, y is %g\n", expected_x, expected_y);
}

/* ---- both ways ----------------------------------------------------------- */

static void
run_graph(void)
{
	cutejit_argument four = cutejit_arg_float("a", 4);
	void *graph, *exec, *nodes[KERNELS];
	int i;

	need_cuda(cu.graph(&graph, 0));
	for (i = 0; i < KERNELS; i++)	/* a node each, one behind the other */
		need(cutejit_launch_graph_add(launch[i], graph,
		    i > 0 ? &nodes[i - 1] : NULL, i > 0, &nodes[i]));
	need_cuda(cu.instantiate(&exec, graph, 0));
	need_cuda(cu.launch(exec, NULL));
	check(2, -3);
	need(cutejit_launch_set(launch[0], 0, &four));
	need(cutejit_launch_graph_update(launch[0], exec, &nodes[0], 1));
	need_cuda(cu.launch(exec, NULL));
	check(8, -5);
	cu.exec_end(exec);
	cu.graph_end(graph);
}

static void
run_plain(void)
{
	cutejit_argument four = cutejit_arg_float("a", 4);
	int i;

	for (i = 0; i < KERNELS; i++)
		need(cutejit_launch_run(launch[i], NULL));
	check(2, -3);
	need(cutejit_launch_set(launch[0], 0, &four));
	for (i = 0; i < KERNELS; i++)
		need(cutejit_launch_run(launch[i], NULL));
	check(8, -5);
}

int
main(void)
{
	cutejit_module *module;
	int on_gpu = open_driver(), i;

	need(cutejit_context_create(NULL, &context));
	need(cutejit_module_from_file(context, "kernels.cute", &module));
	for (i = 0; i < N; i++)
		host_x[i] = host_y[i] = 1;
	x = vector(host_x, on_gpu);
	y = vector(host_y, on_gpu);
	prepare_all(module);
	if (on_gpu)
		run_graph();
	else
		run_plain();
	for (i = 0; i < KERNELS; i++)
		cutejit_launch_destroy(launch[i]);
	if (on_gpu) {
		cu.release((uintptr_t)x.data);
		cu.release((uintptr_t)y.data);
	}
	cutejit_module_destroy(module);
	cutejit_context_destroy(context);
	return 0;
}
