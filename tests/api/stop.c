/*
 * Deadlines and cancellation, wherever a call may take long: reading a text,
 * static loops, queries of layouts, the executor. The call ends in time with
 * CUTEJIT_LIMIT, and the context, the module and the same kernel serve on.
 */
#include "test.h"

#include <stdint.h>
#include <time.h>

enum { DEADLINE_MS = 150, LATEST_MS = 3000 };

static const struct {
	const char *name, *text;
} endless[] = {
	{ "a static loop",
	  "kernel k(y: tensor(f32, N:1), n: i32)\n"
	  "{\n"
	  "    launch grid(1) block(32) {\n"
	  "        const for i in 0..60000 { y[i] = y[i + 1] * f32(i); }\n"
	  "        const for i in 0..40000 { y[i] = y[i + 1] - f32(i); }\n"
	  "    }\n"
	  "}\n" },
	{ "the executor",
	  "kernel k(y: tensor(f32, N:1), n: i32)\n"
	  "{\n"
	  "    launch grid(1) block(1) {\n"
	  "        for i in 0..2000000000 { y[0] = y[0] + f32(i); }\n"
	  "    }\n"
	  "}\n" },
};

static double
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double begin;

/* Not 0 once some time has passed since the beginning. */
static int
cancel(void *user)
{
	(void)user;
	return now_ms() - begin > DEADLINE_MS;
}

static cutejit_status
call(cutejit_module *m)
{
	static float y[64];
	struct vector v;
	cutejit_argument args[2];

	args[0] = cutejit_arg_tensor("y", vector_set(&v, y, 64,
	    CUTEJIT_DL_CPU));
	args[1] = cutejit_arg_int("n", 1);
	return cutejit_call(m, "k", args, 2, NULL, NULL);
}

static void
test_endless(size_t i, int by_cancel)
{
	cutejit_options o = CUTEJIT_OPTIONS_INIT;
	cutejit_context *c;
	cutejit_module *m;
	double took;
	int round;

	o.cache = CUTEJIT_CACHE_MEMORY;
	o.workers = 1;
	if (by_cancel)
		o.cancel = cancel;
	else
		o.deadline_ms = DEADLINE_MS;
	begin = now_ms();
	CHECK(cutejit_context_create(&o, &c) == CUTEJIT_OK);
	m = test_module(c, endless[i].text);
	for (round = 0; round < 2; round++) {
		begin = now_ms();
		REFUSED(c, CUTEJIT_LIMIT, "deadline", call(m));
		took = now_ms() - begin;
		printf("%s: ended after %.0f ms\n", endless[i].name, took);
		CHECK(took < LATEST_MS);
	}
	cutejit_module_destroy(m);
	begin = now_ms();
	m = test_module(c, saxpy_text);
	cutejit_module_destroy(m);
	cutejit_context_destroy(c);
}

/* Reading a long text ends, too. */
static void
test_reading(void)
{
	cutejit_options o = CUTEJIT_OPTIONS_INIT;
	cutejit_context *c;
	cutejit_module *m;
	size_t bytes = 24 << 20, n = 0;
	char *text = malloc(bytes + 64);

	CHECK(text != NULL);
	while (n < bytes)
		n += (size_t)sprintf(text + n, "const c%zu = %zu + 1;\n", n,
		    n);
	o.cache = CUTEJIT_CACHE_MEMORY;
	o.deadline_ms = 50;
	CHECK(cutejit_context_create(&o, &c) == CUTEJIT_OK);
	begin = now_ms();
	REFUSED(c, CUTEJIT_LIMIT, "deadline", cutejit_module_from_memory(c,
	    "long.cute", text, n, &m));
	CHECK(m == NULL);
	printf("a text of %zu bytes: ended after %.0f ms\n", n,
	    now_ms() - begin);
	CHECK(now_ms() - begin < LATEST_MS);
	cutejit_context_destroy(c);
	free(text);
}

int
main(void)
{
	size_t i;

	setenv("CUTEJIT_LIBCUDA", "/nonexistent/libcuda.so.1", 1);
	for (i = 0; i < sizeof endless / sizeof *endless; i++) {
		test_endless(i, 0);
		test_endless(i, 1);
	}
	test_reading();
	return 0;
}
