/*
 * Streams of all kinds, captures and graphs, with a driver that plays GPUs:
 * first use inside a capture, launches as nodes, updates of an instantiated
 * graph, default streams of a thread, several GPUs and contexts at once.
 */
#include "fake_open.h"

#include <pthread.h>

enum { GLOBAL, THREAD_LOCAL, RELAXED };

static struct {
	int (*push)(void *), (*pop)(void **), (*retain)(void **, int);
	int (*stream)(void **, unsigned), (*stream_end)(void *);
	int (*begin)(void *, int), (*end)(void *, void **);
	int (*graph)(void **, unsigned), (*destroy)(void *);
	int (*instantiate)(void **, void *, unsigned long long);
	int (*destroy_exec)(void *), (*play)(void *, void *);
} cu;

static const char text[] =
    "kernel axpy(a: f32, x: tensor(f32, N:1), y: tensor(f32, N:1))\n"
    "{\n"
    "    launch grid(ceil_div(N, 256)) block(256)\n"
    "    {\n"
    "        let i = block_idx.x * 256 + thread_idx.x;\n"
    "        if i < N { y[i] = a * x[i] + y[i]; }\n"
    "    }\n"
    "}\n"
    "kernel two(y: tensor(f32, N:1))\n"
    "{\n"
    "    let w = workspace(f32, N:1, fill = 3.0);\n"
    "    let v = workspace(i64, N:1, fill = 4294967298);\n"
    "    launch grid(1) block(1) { w[0] = y[0] + f32(v[0]); }\n"
    "    launch grid(1) block(1) cooperative { y[0] = w[0]; }\n"
    "}\n";

static cutejit_context *c;
static cutejit_module *m;
static float x[4096], y[4096];
static struct vector vx, vy;
static cutejit_argument args[3];

static void
set(int64_t n, int device)
{
	args[0] = cutejit_arg_float("a", 2);
	args[1] = cutejit_arg_tensor("x", vector_set(&vx, x, n,
	    CUTEJIT_DL_CUDA));
	args[2] = cutejit_arg_tensor("y", vector_set(&vy, y, n,
	    CUTEJIT_DL_CUDA));
	vx.tensor.device_id = vy.tensor.device_id = device;
}

static void
open_driver(void)
{
	static const struct {
		const char *name;
		void *slot;
	} functions[] = {
		{ "cuCtxPushCurrent_v2", &cu.push },
		{ "cuCtxPopCurrent_v2", &cu.pop },
		{ "cuDevicePrimaryCtxRetain", &cu.retain },
		{ "cuStreamCreate", &cu.stream },
		{ "cuStreamDestroy_v2", &cu.stream_end },
		{ "cuStreamBeginCapture_v2", &cu.begin },
		{ "cuStreamEndCapture", &cu.end },
		{ "cuGraphCreate", &cu.graph },
		{ "cuGraphDestroy", &cu.destroy },
		{ "cuGraphInstantiateWithFlags", &cu.instantiate },
		{ "cuGraphExecDestroy", &cu.destroy_exec },
		{ "cuGraphLaunch", &cu.play },
	};
	size_t i;

	setenv("FAKE_CUDA_DEVICES", "4", 1);
	fake_open();
	for (i = 0; i < sizeof functions / sizeof *functions; i++)
		fake_find(functions[i].name, functions[i].slot);
}

static void
setup(void)
{
	c = test_context();
	m = test_module(c, text);
	set(1000, 0);
}

static void
teardown(void)
{
	cutejit_module_destroy(m);
	cutejit_context_destroy(c);
	CHECK(fake->loads == fake->unloads && fake->live_bytes == 0);
}

/* Loading, allocating, compiling: all of it while a stream is captured. */
static void
test_first_use(int mode)
{
	unsigned long before, foul = fake->foul;
	cutejit_kernel *k;
	cutejit_launch *l;
	void *primary, *stream, *graph, *exec;

	setup();
	CHECK(cu.retain(&primary, 0) == 0 && cu.push(primary) == 0);
	CHECK(cu.stream(&stream, 1) == 0 && cu.begin(stream, mode) == 0);
	before = fake->launches;
	DO(c, cutejit_call(m, "axpy", args, 3, NULL, stream));
	DO(c, cutejit_call(m, "axpy", args, 3, NULL, stream));
	DO(c, cutejit_compile(m, "two", NULL, &k));
	DO(c, cutejit_prepare(k, &args[2], 1, &l));
	DO(c, cutejit_launch_run(l, stream));
	CHECK(fake->launches == before && fake->foul == foul);
	CHECK(cu.end(stream, &graph) == 0);
	CHECK(cu.instantiate(&exec, graph, 0) == 0);
	CHECK(cu.play(exec, stream) == 0);
	CHECK(fake->launches == before + 4);
	CHECK(strcmp(fake->last.kernel, "two_l1") == 0);
	cu.destroy_exec(exec);
	cu.destroy(graph);
	cu.stream_end(stream);
	cutejit_launch_destroy(l);
	cutejit_kernel_destroy(k);
	CHECK(cu.pop(&primary) == 0);
	teardown();
}

static void
test_nodes(void)
{
	cutejit_kernel *k;
	cutejit_launch *l;
	void *graph, *exec, *nodes[2], *more[1];
	unsigned long before = fake->launches;

	setup();
	DO(c, cutejit_compile(m, "axpy", NULL, &k));
	DO(c, cutejit_prepare(k, args, 3, &l));
	CHECK(cutejit_launch_nodes(l) == 1);
	CHECK(cu.graph(&graph, 0) == 0);
	DO(c, cutejit_launch_graph_add(l, graph, NULL, 0, &nodes[0]));
	DO(c, cutejit_launch_set_data(l, 1, x + 1024));
	DO(c, cutejit_launch_graph_add(l, graph, nodes, 1, &nodes[1]));
	CHECK(cu.instantiate(&exec, graph, 0) == 0);
	CHECK(fake->launches == before);
	CHECK(cu.play(exec, NULL) == 0);
	CHECK(fake->launches == before + 2);
	CHECK(has_param((uintptr_t)(x + 1024)) && has_param((uintptr_t)y));
	/* other addresses and another shape in the graph that is there */
	set(100, 0);
	vx.tensor.data = x + 2048;
	DO(c, cutejit_launch_set_all(l, args));
	DO(c, cutejit_launch_graph_update(l, exec, &nodes[1], 1));
	CHECK(cu.play(exec, NULL) == 0);
	CHECK(fake->last.grid[0] == 1 && has_param((uintptr_t)(x + 2048)));
	/* nothing is left of it: the graph has a node too many */
	set(0, 0);
	DO(c, cutejit_launch_set_all(l, args));
	CHECK(cutejit_launch_nodes(l) == 0);
	REFUSED(c, CUTEJIT_ERROR, "wrong-argument",
	    cutejit_launch_graph_update(l, exec, &nodes[1], 1));
	DO(c, cutejit_launch_graph_add(l, graph, nodes, 2, more));
	CHECK(cutejit_launch_graph_add(l, NULL, NULL, 0, more)
	    == CUTEJIT_USAGE);
	CHECK(cutejit_launch_graph_update(l, exec, NULL, 1) == CUTEJIT_USAGE);
	cu.destroy_exec(exec);
	cu.destroy(graph);
	cutejit_launch_destroy(l);
	cutejit_kernel_destroy(k);
	teardown();
}

/* Workspaces: their fills are nodes too, in front of the kernel. */
static void
test_chain(void)
{
	static char memory[1 << 16] __attribute__((aligned(256)));
	cutejit_kernel *k;
	cutejit_launch *l;
	void *graph, *exec, *nodes[5];
	const char *failing[] = { "cuGraphAddKernelNode",
	    "cuGraphAddMemsetNode", "cuGraphKernelNodeSetAttribute" };
	unsigned long before = fake->launches, sets = fake->sets;
	size_t i;

	setup();
	DO(c, cutejit_compile(m, "two", NULL, &k));
	DO(c, cutejit_prepare(k, &args[2], 1, &l));
	CHECK(cutejit_launch_nodes(l) == 5);
	CHECK(cutejit_launch_workspace(l) <= sizeof memory);
	REFUSED(c, CUTEJIT_ERROR, "wrong-argument",
	    cutejit_launch_workspace_set(l, memory, 256));
	DO(c, cutejit_launch_workspace_set(l, memory, sizeof memory));
	CHECK(cu.graph(&graph, 0) == 0);
	for (i = 0; i < 3; i++) {	/* a failure leaves nothing behind */
		fake->fail = failing[i];
		fake->fail_after = i == 1 ? 2 : 0;
		fake->error = 1;
		REFUSED(c, CUTEJIT_MISSING, "driver",
		    cutejit_launch_graph_add(l, graph, NULL, 0, nodes));
		fake->fail = NULL;
	}
	DO(c, cutejit_launch_graph_add(l, graph, NULL, 0, nodes));
	CHECK(cu.instantiate(&exec, graph, 0) == 0);
	CHECK(cu.play(exec, NULL) == 0);
	CHECK(fake->launches == before + 2 && fake->sets == sets + 3);
	CHECK(fake->last.cooperative == 1);
	{
		float f;
		int64_t w;

		memcpy(&f, memory + 999 * sizeof f, sizeof f);
		memcpy(&w, memory + 4096 + 999 * sizeof w, sizeof w);
		CHECK(f == 3 && w == INT64_C(4294967298));
	}
	DO(c, cutejit_launch_graph_update(l, exec, nodes, 5));
	cu.destroy_exec(exec);
	cu.destroy(graph);
	cutejit_launch_destroy(l);
	cutejit_kernel_destroy(k);
	teardown();
}

static void
test_executor(void)
{
	cutejit_kernel *k;
	cutejit_launch *l;
	void *graph, *nodes[1];

	setup();
	vx.tensor.device_type = vy.tensor.device_type = CUTEJIT_DL_CPU;
	DO(c, cutejit_compile(m, "axpy", NULL, &k));
	DO(c, cutejit_prepare(k, args, 3, &l));
	CHECK(cutejit_launch_nodes(l) == 0);
	CHECK(cu.graph(&graph, 0) == 0);
	REFUSED(c, CUTEJIT_USAGE, "usage", cutejit_launch_graph_add(l, graph,
	    NULL, 0, nodes));
	REFUSED(c, CUTEJIT_USAGE, "usage", cutejit_launch_graph_update(l,
	    graph, nodes, 1));
	cu.destroy(graph);
	cutejit_launch_destroy(l);
	cutejit_kernel_destroy(k);
	teardown();
}

/* The default streams by their numbers reach the driver as they are; a stream
 * of another context is refused, and the message says so. */
static void
test_streams(void)
{
	int own[2] = { 0, 0 };		/* a context of device 0 */
	void *was, *stream, *good, *primary;
	unsigned long before;
	cutejit_kernel *k;
	cutejit_launch *l;
	uintptr_t i;

	setup();
	for (i = 0; i < 3; i++) {
		DO(c, cutejit_call(m, "axpy", args, 3, NULL, (void *)i));
		CHECK(fake->last.stream == (void *)i);
	}
	CHECK(cu.push(own) == 0 && cu.stream(&stream, 0) == 0);
	CHECK(cu.pop(&was) == 0);
	for (i = 0; i < 2; i++) {
		before = fake->launches;
		REFUSED(c, CUTEJIT_ERROR, "wrong-device", cutejit_call(m,
		    "axpy", args, 3, NULL, stream));
		CHECK(strstr(cutejit_report_at(cutejit_context_report(c),
		    0)->text, "another context") != NULL);
		CHECK(fake->launches == before);
	}
	/* a prepared launch, also behind a stream that served */
	DO(c, cutejit_compile(m, "axpy", NULL, &k));
	DO(c, cutejit_prepare(k, args, 3, &l));
	CHECK(cu.retain(&primary, 0) == 0 && cu.push(primary) == 0);
	CHECK(cu.stream(&good, 0) == 0 && cu.pop(&was) == 0);
	for (i = 0; i < 4; i++) {
		before = fake->launches;
		if (i % 2 == 0) {
			DO(c, cutejit_launch_run(l, good));
			continue;
		}
		REFUSED(c, CUTEJIT_ERROR, "wrong-device", cutejit_launch_run(
		    l, stream));
		CHECK(fake->launches == before);
	}
	cutejit_launch_destroy(l);
	cutejit_kernel_destroy(k);
	cu.stream_end(good);
	cu.stream_end(stream);
	teardown();
}

/* ---- GPUs side by side --------------------------------------------------- */

enum { GPUS = 4, CALLS = 500 };
static struct vector of_gpu[GPUS][2];

static void *
use_gpu(void *number)
{
	int gpu = *(int *)number, i;
	struct vector *v = of_gpu[gpu];
	cutejit_argument a[3];
	cutejit_kernel *k;
	cutejit_launch *l;
	void *primary, *was;

	a[0] = cutejit_arg_float("a", 1);
	a[1] = cutejit_arg_tensor("x", vector_set(&v[0], x + 256 * gpu, 256,
	    CUTEJIT_DL_CUDA));
	a[2] = cutejit_arg_tensor("y", vector_set(&v[1], y + 256 * gpu, 256,
	    CUTEJIT_DL_CUDA));
	v[0].tensor.device_id = v[1].tensor.device_id = gpu;
	CHECK(cu.retain(&primary, gpu) == 0);
	if (gpu % 2 != 0)		/* the others come without one */
		CHECK(cu.push(primary) == 0);
	CHECK(cutejit_compile(m, "axpy", NULL, &k) == CUTEJIT_OK);
	CHECK(cutejit_prepare(k, a, 3, &l) == CUTEJIT_OK);
	for (i = 0; i < CALLS; i++) {
		CHECK(cutejit_call(m, "axpy", a, 3, NULL, (void *)2)
		    == CUTEJIT_OK);
		CHECK(cutejit_launch_run(l, (void *)2) == CUTEJIT_OK);
	}
	cutejit_launch_destroy(l);
	cutejit_kernel_destroy(k);
	if (gpu % 2 != 0)
		CHECK(cu.pop(&was) == 0 && was == primary);
	return NULL;
}

static void
test_gpus(void)
{
	unsigned long before = fake->launches, loads = fake->loads;
	pthread_t threads[GPUS];
	int numbers[GPUS], i;

	setup();
	for (i = 0; i < GPUS; i++) {
		numbers[i] = i;
		CHECK(pthread_create(&threads[i], NULL, use_gpu, &numbers[i])
		    == 0);
	}
	for (i = 0; i < GPUS; i++)
		pthread_join(threads[i], NULL);
	CHECK(fake->launches == before + 2 * GPUS * CALLS);
	/* one program and one image serve them all */
	CHECK(fake->loads <= loads + 2);
	for (i = 0; i < GPUS; i++) {
		set(256, i);
		DO(c, cutejit_call(m, "axpy", args, 3, NULL, NULL));
		CHECK(fake->last.device == i);
	}
	teardown();
}

int
main(void)
{
	int mode;

	open_driver();
	setup();
	DO(c, cutejit_call(m, "axpy", args, 3, NULL, NULL));
	teardown();
	for (mode = GLOBAL; mode <= RELAXED; mode++)
		test_first_use(mode);
	test_nodes();
	test_chain();
	test_executor();
	test_streams();
	test_gpus();
	return 0;
}
