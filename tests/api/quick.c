/*
 * Calls in one go that look like earlier ones: that the short way gives the
 * driver what the long one would, and that what it must not skip is checked.
 */
#include "fake_open.h"

#include <pthread.h>

static int (*push)(void *context), (*pop)(void **context);
static int (*retain)(void **context, int device);

/* `a` is only handed on, `n` decides the grid, `w` needs memory. */
static const char text[] =
    "kernel axpy(a: f32, x: tensor(f32, N:1), y: tensor(f32, N:1))\n"
    "where N % 4 == 0\n"
    "{\n"
    "    launch grid(ceil_div(N, 256)) block(256)\n"
    "    {\n"
    "        let i = block_idx.x * 256 + thread_idx.x;\n"
    "        if i < N { y[i] = a * x[i] + y[i]; }\n"
    "    }\n"
    "}\n"
    "kernel first(n: i32, y: tensor(f32, N:1))\n"
    "where 0 < n, n <= N\n"
    "{\n"
    "    launch grid(n) block(1) { y[block_idx.x] = 1.0; }\n"
    "}\n"
    "kernel scratch(y: tensor(f32, N:1))\n"
    "{\n"
    "    let w = workspace(f32, N:1, fill = 0.0);\n"
    "    launch grid(1) block(1) { w[0] = y[0]; }\n"
    "    launch grid(1) block(1) { y[0] = w[0]; }\n"
    "}\n"
    "kernel sum(x: tensor(f32, N:1)[2], y: tensor(f32, N:1))\n"
    "{\n"
    "    launch grid(1) block(1) { y[0] = x[0][0] + x[1][0]; }\n"
    "}\n"
    "kernel talk(y: tensor(f32, N:1))\n"
    "{\n"
    "    print(\"N is\", N);\n"
    "    launch grid(1) block(1) { y[0] = 1.0; }\n"
    "}\n";

static cutejit_context *c;
static cutejit_module *m;
static float *x, *y;
static struct vector vx, vy;
static cutejit_argument args[3];

static void
set(int64_t n)
{
	args[0] = cutejit_arg_float("a", 2);
	args[1] = cutejit_arg_tensor("x", vector_set(&vx, x, n,
	    CUTEJIT_DL_CUDA));
	args[2] = cutejit_arg_tensor("y", vector_set(&vy, y, n,
	    CUTEJIT_DL_CUDA));
}

#define SHORT_CALLS()	(stats().memory_hits)

static cutejit_cache_stats
stats(void)
{
	cutejit_cache_stats s;

	DO(c, cutejit_cache_stats_get(c, &s));
	return s;
}

static void
call(const char *kernel, const cutejit_argument *a, size_t count)
{
	unsigned long before = fake->launches;

	DO(c, cutejit_call(m, kernel, a, count, NULL, NULL));
	CHECK(fake->launches > before);
}

/* Addresses, numbers and shapes, again and again in turn. */
static void
test_patched(void)
{
	int round;

	for (round = 0; round < 4; round++) {
		int64_t n = 256 * (1 + round % 2);

		set(n);
		args[0].value.number = 1 + round;
		vx.tensor.data = x + 1024 * round;
		vx.tensor.byte_offset = 4096 * (uint64_t)(round / 2);
		call("axpy", args, 3);
		CHECK(fake->last.grid[0] == n / 256);
		CHECK(has_param(bits_of(1 + (float)round)));
		CHECK(has_param((uintptr_t)(x + 1024 * round)
		    + vx.tensor.byte_offset));
		CHECK(has_param((uintptr_t)y));
	}
}

/* What the long way refuses is refused after calls that were right. */
static void
test_refused(void)
{
	unsigned long before;

	set(256);
	call("axpy", args, 3);
	before = fake->launches;
	vx.tensor.data = y + 128;
	REFUSED(c, CUTEJIT_ERROR, "overlap", cutejit_call(m, "axpy", args, 3,
	    NULL, NULL));
	set(256);
	vx.tensor.data = (char *)x + 2;
	REFUSED(c, CUTEJIT_ERROR, "contract", cutejit_call(m, "axpy", args, 3,
	    NULL, NULL));
	set(255);
	REFUSED(c, CUTEJIT_ERROR, "contract", cutejit_call(m, "axpy", args, 3,
	    NULL, NULL));
	set(256);
	vx.tensor.bits = 64;
	CHECK(cutejit_call(m, "axpy", args, 3, NULL, NULL) == CUTEJIT_ERROR);
	set(256);
	vx.tensor.device_id = 1;
	REFUSED(c, CUTEJIT_ERROR, "wrong-device", cutejit_call(m, "axpy",
	    args, 3, NULL, NULL));
	set(256);
	args[0] = cutejit_arg_text("a", "many");
	REFUSED(c, CUTEJIT_ERROR, "wrong-argument", cutejit_call(m, "axpy",
	    args, 3, NULL, NULL));
	CHECK(fake->launches == before);
	set(256);
	call("axpy", args, 3);
}

/* A number that the host part computes with is part of what is compared. */
static void
test_pinned(void)
{
	cutejit_argument a[2];
	int round;

	set(256);
	a[1] = args[2];
	for (round = 0; round < 6; round++) {
		a[0] = cutejit_arg_int("n", 1 + round % 3);
		call("first", a, 2);
		CHECK(fake->last.grid[0] == (unsigned)(1 + round % 3));
	}
	a[0] = cutejit_arg_int("n", 0);
	REFUSED(c, CUTEJIT_ERROR, "contract", cutejit_call(m, "first", a, 2,
	    NULL, NULL));
	a[0] = cutejit_arg_int("n", INT64_C(1) << 32);
	REFUSED(c, CUTEJIT_ERROR, "wrong-argument", cutejit_call(m, "first",
	    a, 2, NULL, NULL));
}

static void
test_workspace(void)
{
	unsigned long sets = fake->sets;
	int round;

	set(256);
	for (round = 0; round < 6; round++) {
		fake->no_pools = round >= 3;
		call("scratch", &args[2], 1);
		CHECK(fake->live_bytes == 0);
	}
	CHECK(fake->sets == sets + 6);
	fake->no_pools = 0;
}

static void
test_list(void)
{
	const cutejit_tensor *list[2];
	struct vector v[2];
	cutejit_argument a[2];
	int round;

	set(256);
	a[1] = args[2];
	for (round = 0; round < 3; round++) {
		list[0] = vector_set(&v[0], x + 256 * round, 256,
		    CUTEJIT_DL_CUDA);
		list[1] = vector_set(&v[1], x + 1024, 256, CUTEJIT_DL_CUDA);
		a[0] = cutejit_arg_tensors("x", list, 2);
		call("sum", a, 2);
		CHECK(has_param((uintptr_t)(x + 256 * round)));
		CHECK(has_param((uintptr_t)(x + 1024)));
	}
	v[0].tensor.data = y;
	REFUSED(c, CUTEJIT_ERROR, "overlap", cutejit_call(m, "sum", a, 2,
	    NULL, NULL));
}

static int lines;

static void
count_line(void *user, const char *line)
{
	(void)user;
	CHECK(strcmp(line, "N is 256") == 0);
	lines++;
}

/* Options and contexts count; a kernel that prints prints each time. */
static void
test_looks(void)
{
	cutejit_compile_options o = CUTEJIT_COMPILE_OPTIONS_INIT;
	void *primary, *was;
	int own[2] = { 1, 0 };		/* a context of device 1 */
	int round;

	set(256);
	for (round = 0; round < 2; round++) {
		o.level = CUTEJIT_LEVEL_1;
		o.target = round != 0 ? "sm_80" : "sm_90";
		DO(c, cutejit_call(m, "axpy", args, 3, &o, NULL));
		CHECK(retain(&primary, 0) == 0);
		CHECK(fake->last.context == primary);
		CHECK(push(own) == 0);
		vx.tensor.device_id = vy.tensor.device_id = 1;
		DO(c, cutejit_call(m, "axpy", args, 3, &o, (void *)2));
		CHECK(fake->last.context == own && fake->last.device == 1);
		CHECK(fake->last.stream == (void *)2);
		vx.tensor.device_id = vy.tensor.device_id = 0;
		DO(c, cutejit_call(m, "axpy", args, 3, &o, NULL));
		CHECK(fake->last.context == primary);
		CHECK(pop(&was) == 0 && was == own);
	}
	lines = 0;
	for (round = 0; round < 3; round++)
		call("talk", &args[2], 1);
	CHECK(lines == 3);
}

/* A launch that fails is reported, and not tried again. */
static void
test_failed(void)
{
	unsigned long before;

	set(256);
	call("axpy", args, 3);
	before = fake->launches;
	fake->fail = "cuLaunchKernel";
	fake->error = 700;
	fake->fail_after = 0;
	REFUSED(c, CUTEJIT_ERROR, "driver", cutejit_call(m, "axpy", args, 3,
	    NULL, NULL));
	CHECK(fake->launches == before);
	fake->fail = NULL;
	call("axpy", args, 3);
	CHECK(fake->launches == before + 1);
}

/* More shapes than are kept: all right, and the memory stays bounded. */
static void
test_many(void)
{
	int64_t n;
	uint64_t hits;

	for (n = 4; n <= 4 * 700; n += 4) {
		set(n);
		call("axpy", args, 3);
		CHECK(fake->last.grid[0] == (n + 255) / 256);
	}
	hits = SHORT_CALLS();
	for (n = 4 * 690; n <= 4 * 700; n += 4) {
		set(n);
		call("axpy", args, 3);
	}
	CHECK(SHORT_CALLS() == hits + 11);
}

enum { THREADS = 8, CALLS = 2000 };

static void *
run_thread(void *number)
{
	float *own = x + 4096 * (1 + *(int *)number);
	struct vector v, w;
	cutejit_argument a[3];
	int i;

	a[0] = cutejit_arg_float("a", 1);
	for (i = 0; i < CALLS; i++) {
		int64_t n = 4 * (1 + i % 40);

		a[1] = cutejit_arg_tensor("x", vector_set(&v, own, n,
		    CUTEJIT_DL_CUDA));
		a[2] = cutejit_arg_tensor("y", vector_set(&w, own + 1024, n,
		    CUTEJIT_DL_CUDA));
		CHECK(cutejit_call(m, "axpy", a, 3, NULL, NULL)
		    == CUTEJIT_OK);
	}
	return NULL;
}

static void
test_threads(void)
{
	unsigned long before = fake->launches;
	pthread_t threads[THREADS];
	int numbers[THREADS], i;

	for (i = 0; i < THREADS; i++) {
		numbers[i] = i;
		CHECK(pthread_create(&threads[i], NULL, run_thread,
		    &numbers[i]) == 0);
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	CHECK(fake->launches == before + THREADS * CALLS);
}

int
main(void)
{
	cutejit_options o = CUTEJIT_OPTIONS_INIT;

	setenv("FAKE_CUDA_DEVICES", "2", 1);
	fake_open();
	fake_find("cuCtxPushCurrent_v2", &push);
	fake_find("cuCtxPopCurrent_v2", &pop);
	fake_find("cuDevicePrimaryCtxRetain", &retain);
	x = aligned_alloc(1024, 1 << 20);
	y = aligned_alloc(1024, 1 << 20);
	CHECK(x != NULL && y != NULL);
	o.cache = CUTEJIT_CACHE_MEMORY;
	o.print = count_line;
	CHECK(cutejit_context_create(&o, &c) == CUTEJIT_OK);
	m = test_module(c, text);
	test_patched();
	test_refused();
	test_pinned();
	test_workspace();
	test_list();
	test_looks();
	test_failed();
	test_many();
	test_threads();
	cutejit_module_destroy(m);
	cutejit_context_destroy(c);
	CHECK(fake->loads == fake->unloads && fake->live_bytes == 0);
	free(x);
	free(y);
	return 0;
}
