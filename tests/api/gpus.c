/*
 * Two GPUs that are there, in one process: whose memory decides where a kernel
 * runs, whatever context is current and whichever thread asks; what cannot go
 * together is refused; an error that stays is told of.
 * With fewer GPUs the test is skipped.
 */
#include "driver.h"

#include <pthread.h>

enum { N = 1 << 16, GPUS = 2, TURNS = 50, THREADS = 8 };

/* The workspace needs setting, so a call is several nodes. */
static const char text[] =
    "kernel axpy(a: f32, x: tensor(f32, N:1), y: tensor(f32, N:1))\n"
    "{\n"
    "    let w = workspace(f32, N:1, fill = 1.0);\n"
    "    launch grid(ceil_div(N, 256)) block(256) {\n"
    "        let i = block_idx.x * 256 + thread_idx.x;\n"
    "        if i < N { w[i] = w[i] + a * x[i]; }\n"
    "    }\n"
    "    launch grid(ceil_div(N, 256)) block(256) {\n"
    "        let i = block_idx.x * 256 + thread_idx.x;\n"
    "        if i < N { y[i] = w[i]; }\n"
    "    }\n"
    "}\n"
    "kernel wild(x: tensor(i64, N:1))\n"
    "{\n"
    "    launch grid(1) block(1) { x[i32(x[0])] = 1; }\n"
    "}\n";

static cutejit_context *c;
static cutejit_module *m;
static void *primary[GPUS];

/* y = 1 + a x on one GPU. */
struct problem {
	int gpu;
	uint64_t x, y;
	struct vector vx, vy;
	cutejit_argument args[3];
};

static void
enter(int gpu)
{
	CHECK(cu.push(primary[gpu]) == 0);
}

static void
leave(void)
{
	void *was;

	CHECK(cu.pop(&was) == 0);
}

static void *
current(void)
{
	void *context;

	CHECK(cu.current(&context) == 0);
	return context;
}

/* Memory of the current context, which is one of that GPU. */
static void
set_up(struct problem *p, int gpu)
{
	static float x[N];
	int i;

	for (i = 0; i < N; i++)
		x[i] = (float)i;
	p->gpu = gpu;
	CHECK(cu.alloc(&p->x, sizeof x) == 0);
	CHECK(cu.alloc(&p->y, sizeof x) == 0);
	CHECK(cu.to(p->x, x, sizeof x) == 0);
	vector_set(&p->vx, (void *)(uintptr_t)p->x, N, CUTEJIT_DL_CUDA);
	vector_set(&p->vy, (void *)(uintptr_t)p->y, N, CUTEJIT_DL_CUDA);
	p->vx.tensor.device_id = p->vy.tensor.device_id = gpu;
	p->args[0] = cutejit_arg_float("a", 0);
	p->args[1] = cutejit_arg_tensor("x", &p->vx.tensor);
	p->args[2] = cutejit_arg_tensor("y", &p->vy.tensor);
}

static void
poison(struct problem *p)
{
	float *y = malloc(N * sizeof *y);

	CHECK(y != NULL);
	memset(y, 0x7f, N * sizeof *y);
	CHECK(cu.to(p->y, y, N * sizeof *y) == 0);
	free(y);
}

/* In a context of its GPU. */
static void
expect(struct problem *p, float a)
{
	float *y = malloc(N * sizeof *y);
	int i;

	CHECK(y != NULL && cu.synchronize() == 0);
	CHECK(cu.from(y, p->y, N * sizeof *y) == 0);
	for (i = 0; i < N; i++)
		CHECK(y[i] == 1 + a * (float)i);
	free(y);
}

static void
tear_down(struct problem *p)
{
	CHECK(cu.release(p->x) == 0 && cu.release(p->y) == 0);
}

/* ---- whose memory it is -------------------------------------------------- */

/* Current: no context, or the other GPU's. It is left as found. */
static void
test_place(void)
{
	struct problem p;
	int gpu, how;

	for (gpu = 0; gpu < GPUS; gpu++) {
		enter(gpu);
		set_up(&p, gpu);
		for (how = -1; how < GPUS; how++) {
			void *was;

			poison(&p);
			leave();
			if (how >= 0)
				enter(how);
			was = current();
			p.args[0].value.number = 2 + how;
			DO(c, cutejit_call(m, "axpy", p.args, 3, NULL,
			    NULL));
			CHECK(current() == was);
			if (how >= 0)
				leave();
			CHECK(current() == NULL);
			enter(gpu);
			expect(&p, (float)(2 + how));
		}
		tear_down(&p);
		leave();
	}
}

/* One launch moves from GPU to GPU with its arguments. */
static void
test_moved(void)
{
	struct problem p[GPUS];
	cutejit_kernel *k;
	cutejit_launch *l;
	int i, gpu;

	for (i = 0; i < GPUS; i++) {
		enter(i);
		set_up(&p[i], i);
		poison(&p[i]);
		leave();
	}
	DO(c, cutejit_compile(m, "axpy", NULL, &k));
	DO(c, cutejit_prepare(k, p[0].args, 3, &l));
	for (i = 0; i < 6; i++) {
		gpu = i % GPUS;
		p[gpu].args[0].value.number = i;
		DO(c, cutejit_launch_set_all(l, p[gpu].args));
		DO(c, cutejit_launch_run(l, NULL));
		enter(gpu);
		expect(&p[gpu], (float)i);
		leave();
	}
	/* half of them would be of two GPUs: refused, the launch as it was */
	REFUSED(c, CUTEJIT_ERROR, "wrong-device", cutejit_launch_set(l, 1,
	    &p[0].args[1]));
	DO(c, cutejit_launch_run(l, NULL));
	cutejit_launch_destroy(l);
	cutejit_kernel_destroy(k);
	for (i = 0; i < GPUS; i++) {
		enter(i);
		expect(&p[i], (float)(4 + i));
		tear_down(&p[i]);
		leave();
	}
}

/* ---- threads ------------------------------------------------------------- */

static void *
work(void *argument)
{
	int number = *(int *)argument, gpu = number % GPUS, i;
	struct problem p;
	void *stream;

	enter(gpu);
	set_up(&p, gpu);
	CHECK(cu.stream(&stream, 1) == 0);
	leave();
	if (number & 2)
		enter(1 - gpu);		/* a context that does not serve */
	for (i = 0; i < TURNS; i++) {
		p.args[0].value.number = number + i;
		/* the thread's default stream, or one of its own */
		DO(c, cutejit_call(m, "axpy", p.args, 3, NULL, number & 2
		    ? stream : (void *)2));
	}
	if (number & 2)
		leave();
	enter(gpu);
	expect(&p, (float)(number + TURNS - 1));
	CHECK(cu.stream_end(stream) == 0);
	tear_down(&p);
	leave();
	return NULL;
}

static void
test_threads(void)
{
	pthread_t threads[THREADS];
	int numbers[THREADS], i;

	for (i = 0; i < THREADS; i++) {
		numbers[i] = i;
		CHECK(pthread_create(&threads[i], NULL, work, &numbers[i])
		    == 0);
	}
	for (i = 0; i < THREADS; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
}

/* ---- what does not go together ------------------------------------------- */

static void
test_refused(void)
{
	struct problem p[GPUS];
	cutejit_argument args[3];
	void *stream;
	int i;

	for (i = 0; i < GPUS; i++) {
		enter(i);
		set_up(&p[i], i);
		leave();
	}
	memcpy(args, p[0].args, sizeof args);
	args[2] = p[1].args[2];
	REFUSED(c, CUTEJIT_ERROR, "wrong-device", cutejit_call(m, "axpy",
	    args, 3, NULL, NULL));
	p[1].vx.tensor.device_id = p[1].vy.tensor.device_id = 4711;
	REFUSED(c, CUTEJIT_MISSING, "missing-gpu", cutejit_call(m, "axpy",
	    p[1].args, 3, NULL, NULL));
	p[1].vx.tensor.device_id = p[1].vy.tensor.device_id = 1;

	/* a stream of the other GPU: said, and nothing is broken by it */
	enter(0);
	CHECK(cu.stream(&stream, 1) == 0);
	leave();
	for (i = 0; i < 2; i++)
		REFUSED(c, CUTEJIT_ERROR, "wrong-device", cutejit_call(m,
		    "axpy", p[1].args, 3, NULL, stream));
	for (i = 0; i < GPUS; i++) {
		p[i].args[0].value.number = 7;
		DO(c, cutejit_call(m, "axpy", p[i].args, 3, NULL,
		    i == 0 ? stream : NULL));
		enter(i);
		expect(&p[i], 7);
		tear_down(&p[i]);
		leave();
	}
	enter(0);
	CHECK(cu.stream_end(stream) == 0);
	leave();
}

/* ---- captures and graphs ------------------------------------------------- */

/* First use of a module in a capture on the GPU that is not current. */
static void
test_capture(int mode)
{
	cutejit_module *own = test_module(c, text);
	void *stream, *graph, *exec;
	struct problem p;
	int i;

	enter(1);
	set_up(&p, 1);
	CHECK(cu.stream(&stream, 1) == 0 && cu.begin(stream, mode) == 0);
	leave();
	enter(0);
	p.args[0].value.number = 3 + mode;
	DO(c, cutejit_call(own, "axpy", p.args, 3, NULL, stream));
	leave();
	enter(1);
	CHECK(cu.end(stream, &graph) == 0);
	CHECK(cu.instantiate(&exec, graph, 0) == 0);
	for (i = 0; i < 3; i++) {
		poison(&p);
		CHECK(cu.play(exec, stream) == 0);
		CHECK(cu.stream_wait(stream) == 0);
		expect(&p, (float)(3 + mode));
	}
	CHECK(cu.exec_end(exec) == 0 && cu.graph_end(graph) == 0);
	CHECK(cu.stream_end(stream) == 0);
	tear_down(&p);
	leave();
	cutejit_module_destroy(own);
}

/* ---- contexts of the caller's -------------------------------------------- */

/* Not the primary one: memory and kernel are of the current context. */
static void
test_own_context(void)
{
	struct problem p;
	void *own, *was;

	CHECK(cu.create(&own, 0, 1) == 0 && current() == own);
	set_up(&p, 1);
	p.args[0].value.number = 9;
	DO(c, cutejit_call(m, "axpy", p.args, 3, NULL, NULL));
	CHECK(current() == own);
	expect(&p, 9);
	tear_down(&p);
	CHECK(cu.pop(&was) == 0 && was == own);
	CHECK(cu.context_end(own) == 0);
}

/* ---- an error that stays ------------------------------------------------- */

/* The context of GPU 1 is of no use afterwards: the last test. The driver's
 * manual has the whole process end, and some drivers refuse GPU 0 as well: then
 * the call says so. */
static void
test_sticky(void)
{
	struct problem p[GPUS];
	cutejit_tensor where;
	cutejit_argument arg;
	int64_t far = INT32_MAX;
	cutejit_status status;
	int i;

	for (i = 0; i < GPUS; i++) {
		enter(i);
		set_up(&p[i], i);
		leave();
	}
	where = p[1].vx.tensor;
	where.code = 0;
	where.bits = 64;
	arg = cutejit_arg_tensor("x", &where);
	enter(1);
	CHECK(cu.to(p[1].x, &far, sizeof far) == 0);
	p[1].vx.extent[0] = N / 2;
	DO(c, cutejit_call(m, "wild", &arg, 1, NULL, NULL));
	CHECK(cu.synchronize() != 0);
	p[1].vx.extent[0] = N;
	status = cutejit_call(m, "axpy", p[1].args, 3, NULL, NULL);
	printf("after an error that stays: %s", cutejit_report_text(
	    cutejit_context_report(c), 0));
	CHECK(status != CUTEJIT_OK && status != CUTEJIT_INTERNAL);
	leave();
	p[0].args[0].value.number = 4;
	enter(0);
	if (cu.synchronize() == 0) {
		DO(c, cutejit_call(m, "axpy", p[0].args, 3, NULL, NULL));
		expect(&p[0], 4);
	} else {
		status = cutejit_call(m, "axpy", p[0].args, 3, NULL, NULL);
		CHECK(status != CUTEJIT_OK && status != CUTEJIT_INTERNAL);
	}
	leave();
}

int
main(void)
{
	int count = open_driver(), i;

	if (count < GPUS) {
		printf("skipped: %d GPU%s, and %d are needed\n", count,
		    count == 1 ? "" : "s", GPUS);
		return 77;
	}
	for (i = 0; i < GPUS; i++)
		CHECK(cu.retain(&primary[i], i) == 0);
	CHECK(cutejit_context_create(NULL, &c) == CUTEJIT_OK);
	m = test_module(c, text);
	test_place();
	test_moved();
	test_threads();
	test_refused();
	for (i = 0; i < 3; i++)
		test_capture(i);
	test_own_context();
	test_sticky();
	cutejit_module_destroy(m);
	cutejit_context_destroy(c);
	return 0;
}
