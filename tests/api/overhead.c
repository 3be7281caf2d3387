/*
 * Two hundred thousand launches of each kind against a driver that returns at
 * once: none fails. What they cost is printed, not judged, since machines have
 * other work; tests/bench/bench_launch.c measures it.
 */
#include "fake_open.h"

#include <time.h>

enum { LAUNCHES = 200000, ROUNDS = 7, TENSORS = 8 };

static const char many_text[] =
    "kernel many(a: f32, b: f32, x0: tensor(f32, N:1), x1: tensor(f32, N:1),\n"
    "    x2: tensor(f32, N:1), x3: tensor(f32, N:1), x4: tensor(f32, N:1),\n"
    "    x5: tensor(f32, N:1), x6: tensor(f32, N:1), y: tensor(f32, N:1))\n"
    "{\n"
    "    launch grid(ceil_div(N, 256)) block(256)\n"
    "    {\n"
    "        let i = block_idx.x * 256 + thread_idx.x;\n"
    "        if i < N { y[i] = a * x0[i] + b * x1[i] + x2[i] + x3[i]\n"
    "            + x4[i] + x5[i] + x6[i]; }\n"
    "    }\n"
    "}\n"
    "kernel three(a: f32, x: tensor(f32, N:1), y: tensor(f32, N:1),\n"
    "    z: tensor(f32, N:1))\n"
    "{\n"
    "    launch grid(ceil_div(N, 256)) block(256)\n"
    "    {\n"
    "        let i = block_idx.x * 256 + thread_idx.x;\n"
    "        if i < N { z[i] = a * x[i] + y[i]; }\n"
    "    }\n"
    "}\n";

/* Of this process: others may have the processor meanwhile. */
static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

struct work {
	cutejit_context *c;
	cutejit_module *m;
	cutejit_launch *launch;
	float *data;
	struct vector v[TENSORS];
	cutejit_argument args[TENSORS + 2], call[4];
	int i, status;		/* all of them, or-ed */
};

static void
run_prepared(struct work *w)
{
	w->status |= cutejit_launch_run(w->launch, NULL);
}

static void
run_patched(struct work *w)
{
	w->status |= cutejit_launch_set_data(w->launch, 2, w->data
	    + (w->i++ % 2 ? 0 : 64 * 1024));
	w->status |= cutejit_launch_run(w->launch, NULL);
}

static void
run_scalar(struct work *w)
{
	cutejit_argument a = cutejit_arg_float(NULL, w->i++ % 2);

	w->status |= cutejit_launch_set(w->launch, 0, &a);
	w->status |= cutejit_launch_run(w->launch, NULL);
}

static void
run_call(struct work *w)
{
	w->call[0].value.number = w->i++ % 3;
	w->v[0].tensor.data = w->data + (w->i % 2 ? 0 : 64 * 1024);
	w->status |= cutejit_call(w->m, "three", w->call, 4, NULL,
	    NULL);
}

/* The best of some rounds, in microseconds. */
static double
measure(struct work *w, void (*run)(struct work *w))
{
	double best = 1e9, start, each;
	int round, i;

	for (round = 0; round < ROUNDS; round++) {
		start = now();
		for (i = 0; i < LAUNCHES; i++)
			run(w);
		each = (now() - start) / LAUNCHES;
		best = each < best ? each : best;
	}
	return best;
}

static void
setup(struct work *w)
{
	static const char *const names[TENSORS] = { "x0", "x1", "x2", "x3",
	    "x4", "x5", "x6", "y" };
	cutejit_kernel *k;
	int i;

	w->data = aligned_alloc(1024, 16 * 64 * 1024 * sizeof *w->data);
	CHECK(w->data != NULL);
	w->c = test_context();
	w->m = test_module(w->c, many_text);
	w->args[0] = cutejit_arg_float("a", 2);
	w->args[1] = cutejit_arg_float("b", 3);
	for (i = 0; i < TENSORS; i++)
		w->args[2 + i] = cutejit_arg_tensor(names[i], vector_set(
		    &w->v[i], w->data + (i + 2) * 64 * 1024, 1024,
		    CUTEJIT_DL_CUDA));
	DO(w->c, cutejit_compile(w->m, "many", NULL, &k));
	DO(w->c, cutejit_prepare(k, w->args, TENSORS + 2, &w->launch));
	cutejit_kernel_destroy(k);
	w->call[0] = cutejit_arg_float("a", 2);
	w->call[1] = cutejit_arg_tensor("x", &w->v[0].tensor);
	w->call[2] = cutejit_arg_tensor("y", &w->v[1].tensor);
	w->call[3] = cutejit_arg_tensor("z", &w->v[2].tensor);
}

int
main(void)
{
	struct work w = { 0 };
	int (*retain)(void **, int), (*push)(void *);
	double prepared, patched, scalar, call;
	void *primary;

	fake_open();
	fake_find("cuDevicePrimaryCtxRetain", &retain);
	fake_find("cuCtxPushCurrent_v2", &push);
	setup(&w);
	CHECK(retain(&primary, 0) == 0 && push(primary) == 0);
	DO(w.c, cutejit_call(w.m, "three", w.call, 4, NULL, NULL));
	fake->is_fast = 1;
	prepared = measure(&w, run_prepared);
	patched = measure(&w, run_patched);
	scalar = measure(&w, run_scalar);
	call = measure(&w, run_call);
	printf("ten arguments: prepared launch %.3f us, address patched and "
	    "launched %.3f us, scalar %.3f us\n"
	    "three tensors and a scalar in one call: %.3f us\n", prepared,
	    patched, scalar, call);
	CHECK(w.status == CUTEJIT_OK);
	cutejit_launch_destroy(w.launch);
	cutejit_module_destroy(w.m);
	cutejit_context_destroy(w.c);
	free(w.data);
	return 0;
}
