/*
 * Deadlines and cancellation, wherever a call may take long: reading a text,
 * static loops, queries of layouts, the executor, LLVM. The call ends in time
 * with CUTEJIT_LIMIT, and the context, the module and the same kernel serve on.
 */
#include "test.h"

#include <stdint.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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

/* ---- LLVM, which looks at no clock --------------------------------------- */

/* Much of LLVM's time behind little of ours. */
static const char *
long_text(int n, int number)
{
	static char text[1024];

	snprintf(text, sizeof text, "// number %d\n"
	    "kernel k(y: tensor(f32, N:1), n: i32)\n"
	    "{\n"
	    "    launch grid(1) block(32) {\n"
	    "        var a = y[0];\n"
	    "        for j in 0..n {\n"
	    "            const for i in 0..%d {\n"
	    "                a = a * y[(i * 7 + j) %% 2048] +\n"
	    "                    f32(j %% (i + 3));\n"
	    "            }\n"
	    "        }\n"
	    "        y[thread_idx.x] = a;\n"
	    "    }\n"
	    "}\n", number, n);
	return text;
}

struct patience {
	double end;			/* of it; 0: never */
};

static int
is_over(void *user)
{
	struct patience *p = user;

	return p->end != 0 && now_ms() > p->end;
}

static cutejit_context *
impatient_context(struct patience *p)
{
	cutejit_options o = CUTEJIT_OPTIONS_INIT;
	cutejit_context *c;

	o.cache = CUTEJIT_CACHE_MEMORY;
	o.cancel = is_over;
	o.user = p;
	CHECK(cutejit_context_create(&o, &c) == CUTEJIT_OK);
	return c;
}

static cutejit_status
generate(cutejit_module *m, const char *kernel, cutejit_kernel **out)
{
	cutejit_compile_options o = CUTEJIT_COMPILE_OPTIONS_INIT;

	o.until = CUTEJIT_UNTIL_PTX;
	return cutejit_compile(m, kernel, &o, out);
}

/* How long the whole of it takes, without anybody who looks on. */
static double
whole_ms(void)
{
	cutejit_context *c = test_context();
	cutejit_module *m = test_module(c, long_text(400, 0));
	cutejit_kernel *k;
	double start = now_ms();

	DO(c, generate(m, "k", &k));
	cutejit_kernel_destroy(k);
	cutejit_module_destroy(m);
	cutejit_context_destroy(c);
	return now_ms() - start;
}

/* The elaborated kernel is there: what is left is LLVM. */
static void
elaborate(cutejit_context *c, cutejit_module *m)
{
	cutejit_compile_options o = CUTEJIT_COMPILE_OPTIONS_INIT;
	cutejit_kernel *k;

	o.until = CUTEJIT_UNTIL_IR;
	DO(c, cutejit_compile(m, "k", &o, &k));
	cutejit_kernel_destroy(k);
}

/* A call that came too late, and what goes on behind it. */
static void
test_generator(double whole)
{
	struct patience p = { 0 };
	cutejit_context *c = impatient_context(&p);
	cutejit_module *m = test_module(c, long_text(400, 0));
	const void *ptx;
	cutejit_kernel *k;
	double start;
	int i;

	elaborate(c, m);
	for (i = 0; i < 3; i++) {
		start = now_ms();
		p.end = start + 20;
		REFUSED(c, CUTEJIT_LIMIT, "deadline", generate(m, "k", &k));
		CHECK(k == NULL);
		start = now_ms() - start;
		printf("LLVM, which takes %.0f ms: ended after %.0f ms\n",
		    whole, start);
		CHECK(start < 20 + whole / 2);
	}
	p.end = 0;
	DO(c, generate(m, "k", &k));
	DO(c, cutejit_kernel_artifact(k, "ptx", &ptx, NULL));
	CHECK(strstr(ptx, ".entry k") != NULL);
	cutejit_kernel_destroy(k);
	cutejit_module_destroy(m);
	cutejit_context_destroy(c);
}

/* Everything is destroyed while LLVM goes on; other kernels get through. */
static void
test_abandoned(int context_first)
{
	struct patience p = { 0 };
	cutejit_context *c = impatient_context(&p);
	cutejit_module *m = test_module(c, long_text(400, 0)), *other;
	cutejit_kernel *k;

	elaborate(c, m);
	p.end = now_ms() + 20;
	CHECK(generate(m, "k", &k) == CUTEJIT_LIMIT);
	p.end = 0;
	other = test_module(c, saxpy_text);
	DO(c, generate(other, "saxpy", &k));
	cutejit_kernel_destroy(k);
	if (context_first)
		cutejit_context_destroy(c);
	cutejit_module_destroy(other);
	cutejit_module_destroy(m);
	if (!context_first)
		cutejit_context_destroy(c);
}

/* More of them than the machine has room for: each ends in time. */
static void
test_many(double whole)
{
	enum { MANY = 12, MS = 5 };
	struct patience p = { 0 };
	cutejit_context *c = impatient_context(&p);
	cutejit_kernel *k;
	double start;
	int i;

	for (i = 0; i < MANY; i++) {
		cutejit_module *m = test_module(c, long_text(150, i));

		start = now_ms();
		p.end = start + MS;
		CHECK(generate(m, "k", &k) == CUTEJIT_LIMIT);
		CHECK(now_ms() - start < MS + whole);
		p.end = 0;
		cutejit_module_destroy(m);
	}
	cutejit_context_destroy(c);
}

/* A child has none of the threads that its parent left at work, and begins
 * anew. */
static void
test_child(void)
{
	struct patience p = { 0 };
	cutejit_context *c = impatient_context(&p);
	cutejit_module *m = test_module(c, long_text(150, 77));
	cutejit_kernel *k;
	pid_t pid;
	int how, i;

	for (i = 0; i < 6; i++) {
		cutejit_module *other = test_module(c, long_text(100, i));

		p.end = now_ms() + 1;
		CHECK(generate(other, "k", &k) == CUTEJIT_LIMIT);
		cutejit_module_destroy(other);
		p.end = 0;
	}
	/* nobody is at work at the fork, but the list is full */
	DO(c, generate(m, "k", &k));
	cutejit_kernel_destroy(k);
	cutejit_module_destroy(m);
	m = test_module(c, saxpy_text);
	fflush(stdout);
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		alarm(60);
		DO(c, generate(m, "saxpy", &k));
		cutejit_kernel_destroy(k);
		cutejit_module_destroy(m);
		cutejit_context_destroy(c);
		_exit(0);
	}
	CHECK(waitpid(pid, &how, 0) == pid);
	CHECK(WIFEXITED(how) && WEXITSTATUS(how) == 0);
	cutejit_module_destroy(m);
	cutejit_context_destroy(c);
}

/* A process that ends meanwhile ends well. */
static void
test_exit(void)
{
	pid_t pid;
	int how;

	fflush(stdout);
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		static struct patience p;
		cutejit_context *c = impatient_context(&p);
		cutejit_module *m = test_module(c, long_text(400, 0));
		cutejit_kernel *k;

		elaborate(c, m);
		p.end = now_ms() + 20;
		exit(generate(m, "k", &k) != CUTEJIT_LIMIT);
	}
	CHECK(waitpid(pid, &how, 0) == pid);
	CHECK(WIFEXITED(how) && WEXITSTATUS(how) == 0);
}

int
main(void)
{
	double whole;
	size_t i;

	setenv("CUTEJIT_LIBCUDA", "/nonexistent/libcuda.so.1", 1);
	for (i = 0; i < sizeof endless / sizeof *endless; i++) {
		test_endless(i, 0);
		test_endless(i, 1);
	}
	test_reading();
	test_exit();
	whole = whole_ms();
	test_generator(whole);
	test_abandoned(0);
	test_abandoned(1);
	test_many(whole);
	test_child();
	return 0;
}
