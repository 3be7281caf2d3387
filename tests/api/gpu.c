/*
 * On a GPU that is there: results, contexts, and what a launch costs.
 *
 * Host time is measured in alternating bursts of at most 300, so that the
 * queue never fills: the bare cuLaunchKernel of the same kernel, the prepared
 * launch, the call in one go. Without a GPU the test is skipped.
 */
#include "driver.h"

#include <time.h>

enum { N = 1 << 16, BURST = 300, ROUNDS = 200 };

static const char five_text[] =
    "kernel five(a: f32, b: f32, x: tensor(f32, N:1), y: tensor(f32, N:1),\n"
    "            z: tensor(f32, N:1))\n"
    "{\n"
    "    launch grid(ceil_div(N, 256)) block(256)\n"
    "    {\n"
    "        let i = block_idx.x * 256 + thread_idx.x;\n"
    "        if i < N { z[i] = a * x[i] + b * y[i]; }\n"
    "    }\n"
    "}\n";

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double
median(double *list)
{
	qsort(list, ROUNDS, sizeof *list, compare);
	return list[ROUNDS / 2];
}

static uint64_t device[3];
static float host[3][N];
static struct vector v[3];

static void
set_arguments(cutejit_argument args[5])
{
	static const char *const names[] = { "x", "y", "z" };
	int i, k;

	args[0] = cutejit_arg_float("a", 2);
	args[1] = cutejit_arg_float("b", 3);
	for (i = 0; i < 3; i++) {
		CHECK(cu.alloc(&device[i], sizeof host[i]) == 0);
		for (k = 0; k < N; k++)
			host[i][k] = (float)((i + 1) * k);
		CHECK(cu.to(device[i], host[i], sizeof host[i]) == 0);
		args[i + 2] = cutejit_arg_tensor(names[i], vector_set(&v[i],
		    (void *)(uintptr_t)device[i], N, CUTEJIT_DL_CUDA));
	}
}

static void
check_result(void)
{
	int k;

	CHECK(cu.synchronize() == 0);
	CHECK(cu.from(host[2], device[2], sizeof host[2]) == 0);
	for (k = 0; k < N; k++)
		CHECK(host[2][k] == (float)(8 * k));
}

/* The same kernel, loaded by hand, its parameters in the order of the host
 * part as --emit=host prints it. */
static void *
load_bare(cutejit_context *c, cutejit_kernel *k)
{
	const void *image;
	void *library, *kernel, *function;

	if (cutejit_kernel_artifact(k, "cubin", &image, NULL) != CUTEJIT_OK)
		DO(c, cutejit_kernel_artifact(k, "ptx", &image, NULL));
	CHECK(cu.load(&library, image, NULL, NULL, 0, NULL, NULL, 0) == 0);
	CHECK(cu.get(&kernel, library, "five") == 0);
	CHECK(cu.function(&function, kernel) == 0);
	return function;
}

static double
burst_bare(void *function, void **params)
{
	double start = now();
	int i;

	for (i = 0; i < BURST; i++)
		cu.launch(function, N / 256, 1, 1, 256, 1, 1, 0, NULL,
		    params, NULL);
	start = (now() - start) / BURST;
	cu.synchronize();
	return start;
}

static double
burst_prepared(cutejit_launch *l)
{
	double start = now();
	int i;

	for (i = 0; i < BURST; i++)
		cutejit_launch_run(l, NULL);
	start = (now() - start) / BURST;
	cu.synchronize();
	return start;
}

static double
burst_calls(cutejit_module *m, const cutejit_argument *args)
{
	double start = now();
	int i;

	for (i = 0; i < BURST; i++)
		cutejit_call(m, "five", args, 5, NULL, NULL);
	start = (now() - start) / BURST;
	cu.synchronize();
	return start;
}

static void
measure(cutejit_context *c, cutejit_module *m, cutejit_kernel *k,
    cutejit_launch *l, const cutejit_argument *args)
{
	static double bare[ROUNDS], prepared[ROUNDS], calls[ROUNDS];
	/* more than enough slots: only the cost matters, the grid is real */
	static uint64_t slots[16];
	void *params[16], *function = load_bare(c, k);
	double b, p, o;
	int i;

	for (i = 0; i < 16; i++)
		params[i] = &slots[i];
	(void)function;
	for (i = 0; i < ROUNDS; i++) {
		bare[i] = burst_bare(function, params);
		prepared[i] = burst_prepared(l);
		calls[i] = burst_calls(m, args);
	}
	b = median(bare);
	p = median(prepared);
	o = median(calls);
	printf("host time of a launch: bare %.3f us, prepared %.3f us "
	    "(%+.3f), in one go %.3f us (%+.3f)\n", b, p, p - b, o, o - b);
	CHECK(p - b < 1.0 && o - b < 2.0);
}

/* From a kernel on disk to a loaded one, in a process that is warm. */
static void
measure_disk(cutejit_module *m, const cutejit_argument *args)
{
	cutejit_context *c;
	cutejit_module *again;
	double start, took[3];
	int i;

	(void)m;
	for (i = 0; i < 3; i++) {
		CHECK(cutejit_context_create(NULL, &c) == CUTEJIT_OK);
		DO(c, cutejit_module_from_memory(c, "five.cute", five_text,
		    strlen(five_text), &again));
		start = now();
		DO(c, cutejit_call(again, "five", args, 5, NULL, NULL));
		took[i] = (now() - start) / 1000;
		cutejit_module_destroy(again);
		cutejit_context_destroy(c);
	}
	printf("first call in a context: %.2f ms, %.2f ms, %.2f ms\n",
	    took[0], took[1], took[2]);
}

/* ---- captures and graphs ------------------------------------------------- */

static const char scratch_text[] =
    "kernel scratch(a: f32, x: tensor(f32, N:1), y: tensor(f32, N:1))\n"
    "{\n"
    "    let w = workspace(f32, N:1, fill = 1.0);\n"
    "    let v = workspace(i64, N:1, fill = 4294967298);\n"
    "    launch grid(ceil_div(N, 256)) block(256) {\n"
    "        let i = block_idx.x * 256 + thread_idx.x;\n"
    "        if i < N { w[i] = w[i] + a * x[i]; }\n"
    "    }\n"
    "    launch grid(ceil_div(N, 256)) block(256) {\n"
    "        let i = block_idx.x * 256 + thread_idx.x;\n"
    "        if i < N { y[i] = w[i] + f32(v[i] - 4294967298); }\n"
    "    }\n"
    "}\n";

/* y = 1 + a x, and nothing else. */
static void
expect(float a)
{
	static float x[N], y[N];
	int i;

	CHECK(cu.synchronize() == 0);
	CHECK(cu.from(x, device[0], sizeof x) == 0);
	CHECK(cu.from(y, device[1], sizeof y) == 0);
	for (i = 0; i < N; i++)
		CHECK(y[i] == 1 + a * x[i]);
	memset(y, 0x7f, sizeof y);
	CHECK(cu.to(device[1], y, sizeof y) == 0);
}

/* First use, loading and workspaces included, while a stream is captured. */
static void
test_capture(cutejit_context *c, int mode)
{
	cutejit_module *m = test_module(c, scratch_text);
	cutejit_argument args[3];
	void *stream, *graph, *exec;
	int i;

	args[0] = cutejit_arg_float("a", (float)(2 + mode));
	args[1] = cutejit_arg_tensor("x", &v[0].tensor);
	args[2] = cutejit_arg_tensor("y", &v[1].tensor);
	CHECK(cu.stream(&stream, 1) == 0 && cu.begin(stream, mode) == 0);
	DO(c, cutejit_call(m, "scratch", args, 3, NULL, stream));
	DO(c, cutejit_call(m, "scratch", args, 3, NULL, stream));
	CHECK(cu.end(stream, &graph) == 0);
	CHECK(cu.instantiate(&exec, graph, 0) == 0);
	for (i = 0; i < 3; i++) {
		CHECK(cu.play(exec, stream) == 0);
		expect((float)(2 + mode));
	}
	cu.exec_end(exec);
	cu.graph_end(graph);
	cu.stream_end(stream);
	/* the default stream of the thread */
	DO(c, cutejit_call(m, "scratch", args, 3, NULL, (void *)2));
	expect((float)(2 + mode));
	cutejit_module_destroy(m);
}

/* Nodes of a graph that the caller builds, and other arguments in it. */
static void
test_nodes(cutejit_context *c)
{
	cutejit_module *m = test_module(c, scratch_text);
	cutejit_argument args[3], five = cutejit_arg_float("a", 5);
	cutejit_kernel *k;
	cutejit_launch *l;
	void *graph, *exec, *nodes[8];
	size_t count;

	args[0] = cutejit_arg_float("a", 3);
	args[1] = cutejit_arg_tensor("x", &v[0].tensor);
	args[2] = cutejit_arg_tensor("y", &v[1].tensor);
	DO(c, cutejit_compile(m, "scratch", NULL, &k));
	DO(c, cutejit_prepare(k, args, 3, &l));
	count = cutejit_launch_nodes(l);
	CHECK(count == 5);
	CHECK(cu.graph(&graph, 0) == 0);
	DO(c, cutejit_launch_graph_add(l, graph, NULL, 0, nodes));
	CHECK(cu.instantiate(&exec, graph, 0) == 0);
	CHECK(cu.play(exec, NULL) == 0);
	expect(3);
	DO(c, cutejit_launch_set(l, 0, &five));
	DO(c, cutejit_launch_graph_update(l, exec, nodes, count));
	CHECK(cu.play(exec, NULL) == 0);
	expect(5);
	cu.exec_end(exec);
	cu.graph_end(graph);
	cutejit_launch_destroy(l);
	cutejit_kernel_destroy(k);
	cutejit_module_destroy(m);
}

int
main(void)
{
	cutejit_context *c;
	int mode;
	cutejit_module *m;
	cutejit_kernel *k;
	cutejit_launch *l;
	cutejit_argument args[5];
	void *primary, *current, *was;

	if (!open_driver()) {
		printf("no GPU: skipped\n");
		return 77;
	}
	CHECK(cutejit_context_create(NULL, &c) == CUTEJIT_OK);
	m = test_module(c, five_text);
	CHECK(cu.retain(&primary, 0) == 0 && cu.push(primary) == 0);
	set_arguments(args);
	DO(c, cutejit_compile(m, "five", NULL, &k));
	DO(c, cutejit_prepare(k, args, 5, &l));
	DO(c, cutejit_launch_run(l, NULL));
	check_result();
	CHECK(cu.to(device[2], host[0], sizeof host[0]) == 0);
	DO(c, cutejit_call(m, "five", args, 5, NULL, NULL));
	check_result();
	measure(c, m, k, l, args);
	measure_disk(m, args);
	for (mode = 0; mode < 3; mode++)
		test_capture(c, mode);
	test_nodes(c);

	/* without a current context the primary one serves, and is not left */
	CHECK(cu.to(device[1], host[1], sizeof host[1]) == 0);
	CHECK(cu.pop(&was) == 0 && was == primary);
	DO(c, cutejit_launch_run(l, NULL));
	CHECK(cu.current(&current) == 0 && current == NULL);
	CHECK(cu.push(primary) == 0);
	check_result();
	v[0].extent[0] = N - 1;
	REFUSED(c, CUTEJIT_ERROR, "contract", cutejit_call(m, "five", args, 5,
	    NULL, NULL));
	cutejit_launch_destroy(l);
	cutejit_kernel_destroy(k);
	cutejit_module_destroy(m);
	cutejit_context_destroy(c);
	return 0;
}
