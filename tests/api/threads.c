/*
 * Many threads, one context: the same kernel is compiled once, different ones
 * side by side, calls do not disturb each other, messages stay with the thread
 * that caused them.
 */
#include "test.h"

#include <pthread.h>

enum { THREADS = 32, ROUNDS = 8, N = 500 };

static cutejit_context *context;
static cutejit_module *module;

static void
call(int t, int round)
{
	float x[N], y[N];
	struct vector vx, vy;
	cutejit_argument args[3];
	int i;

	for (i = 0; i < N; i++) {
		x[i] = (float)(i + t);
		y[i] = (float)round;
	}
	args[0] = cutejit_arg_int("a", t);
	args[1] = cutejit_arg_tensor("x", vector_set(&vx, x, N,
	    CUTEJIT_DL_CPU));
	args[2] = cutejit_arg_tensor("y", vector_set(&vy, y, N,
	    CUTEJIT_DL_CPU));
	DO(context, cutejit_call(module, "saxpy", args, 3, NULL, NULL));
	for (i = 0; i < N; i++)
		CHECK(y[i] == (float)(t * (i + t) + round));
}

static void
fail(int t)
{
	char name[32], text[64];
	cutejit_module *m;
	const cutejit_report *r;

	snprintf(name, sizeof name, "t%d.cute", t);
	snprintf(text, sizeof text, "const x = unknown%d;\nkernel", t);
	CHECK(cutejit_module_from_memory(context, name, text, strlen(text),
	    &m) == CUTEJIT_ERROR);
	r = cutejit_context_report(context);
	CHECK(cutejit_report_count(r) >= 1);
	CHECK(strcmp(cutejit_report_at(r, 0)->place.file, name) == 0);
}

static void *
work(void *argument)
{
	int t = (int)(size_t)argument, round;
	cutejit_compile_options o = CUTEJIT_COMPILE_OPTIONS_INIT;
	cutejit_kernel *k;
	const void *ptx;

	for (round = 0; round < ROUNDS; round++) {
		o.until = CUTEJIT_UNTIL_PTX;
		o.target = t % 2 ? "sm_80" : "sm_90a";
		DO(context, cutejit_compile(module, "saxpy", &o, &k));
		DO(context, cutejit_kernel_artifact(k, "ptx", &ptx, NULL));
		CHECK(strstr(ptx, o.target) != NULL);
		call(t, round);
		fail(t);
		cutejit_kernel_destroy(k);
	}
	return NULL;
}

/* ---- the same programs at different stages ------------------------------- */

/* Each turn takes the program as far as another thread may not have, looks at
 * what there is of it meanwhile, and reads functions of the prelude. */
static const char math_text[] =
    "kernel math(const n = 1, x: tensor(f32, N:1))\n"
    "{\n"
    "    launch grid(1) block(32)\n"
    "    {\n"
    "        let i = thread_idx.x;\n"
    "        const if n == 0 { x[i] = exp(x[i]) + log(x[i]); }\n"
    "        else const if n == 1 { x[i] = sin(x[i]); }\n"
    "        else { x[i] = pow(x[i], 2.0); }\n"
    "    }\n"
    "}\n";

static void *
stages(void *argument)
{
	static const cutejit_until until[] = { CUTEJIT_UNTIL_IR,
	    CUTEJIT_UNTIL_PTX, CUTEJIT_UNTIL_LOADABLE };
	static const char *const values[] = { "0", "1", "2" };
	size_t t = (size_t)argument, i;
	cutejit_constant n = { "n", NULL };
	cutejit_compile_options o = CUTEJIT_COMPILE_OPTIONS_INIT;
	const cutejit_entry *e;
	const char *value;
	cutejit_kernel *k;

	o.constants = &n;
	o.constant_count = 1;
	o.target = "sm_80";
	for (i = 0; i < 9; i++) {
		n.text = values[(t + i) % 3];
		o.until = until[(t + i / 3) % 3];
		DO(context, cutejit_compile(module, "math", &o, &k));
		CHECK(cutejit_kernel_phase(k, 0) != NULL);
		CHECK(cutejit_kernel_about(k)->entry_count
		    >= (o.until != CUTEJIT_UNTIL_IR));
		e = cutejit_kernel_entry(k, 0);
		CHECK(o.until == CUTEJIT_UNTIL_IR || (e != NULL
		    && strstr(e->name, "math") != NULL));
		DO(context, cutejit_evaluate(context, module,
		    "exp2(3.0) == 8.0", &value));
		CHECK(strcmp(value, "true") == 0);
		cutejit_kernel_destroy(k);
	}
	return NULL;
}

static void
test_stages(void)
{
	pthread_t threads[THREADS];
	size_t i;

	module = test_module(context, math_text);
	for (i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, stages, (void *)i)
		    == 0);
	for (i = 0; i < THREADS; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
	cutejit_module_destroy(module);
}

int
main(void)
{
	cutejit_options o = CUTEJIT_OPTIONS_INIT;
	pthread_t threads[THREADS];
	cutejit_cache_stats stats;
	size_t i;

	setenv("CUTEJIT_LIBCUDA", "/nonexistent/libcuda.so.1", 1);
	o.cache = CUTEJIT_CACHE_MEMORY;
	o.workers = 1;
	CHECK(cutejit_context_create(&o, &context) == CUTEJIT_OK);
	module = test_module(context, saxpy_text);
	for (i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, work, (void *)i)
		    == 0);
	for (i = 0; i < THREADS; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
	DO(context, cutejit_cache_stats_get(context, &stats));
	CHECK(stats.memory_hits >= THREADS * ROUNDS);
	/* two kernels, each asked for by half of the threads at once */
	CHECK(stats.misses == 2);
	cutejit_module_destroy(module);
	test_stages();
	cutejit_context_destroy(context);
	return 0;
}
