/*
 * A server that compiles what strangers send, under a deadline: no request may
 * take longer than it is worth, and none may take the server down.
 *
 *	cc server.c -o server $(pkg-config --cflags --libs cutejit) -lpthread
 *	./server
 *
 * Requests come from an array here, to several threads that share one context.
 * A deadline bounds each call, a limit its memory, and a flag stops them all.
 */
#include <cutejit.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { THREADS = 4, DEADLINE_MS = 300 };

static const struct request {
	const char *who, *text;
	cutejit_status expected;
} requests[] = {
	{ "ann", "kernel zero(y: tensor(f32, N:1)) {\n"
	  "    launch grid(N) block(1) { y[block_idx.x] = 0.0; }\n"
	  "}\n", CUTEJIT_OK },
	{ "bob", "kernel zero(y: tensor(f32, N:1)) {\n"
	  "    launch grid(N) block(1) { y[block_idx] = 0.0; }\n"
	  "}\n", CUTEJIT_ERROR },
	{ "eve", "kernel slow(y: tensor(f32, N:1), n: i32) {\n"
	  "    launch grid(1) block(1) {\n"
	  "        const for i in 0..60000 { y[i] = y[i + 1] * f32(i); }\n"
	  "        const for i in 0..40000 { y[i] = y[i + 1] - f32(i); }\n"
	  "    }\n"
	  "}\n", CUTEJIT_LIMIT },
};
enum { REQUESTS = sizeof requests / sizeof *requests };

static cutejit_context *context;
static volatile int is_stopping;
static int failures;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Asked by the library while it works. */
static int
must_stop(void *user)
{
	(void)user;
	return is_stopping;
}

static cutejit_status
serve(const struct request *r)
{
	cutejit_compile_options o = CUTEJIT_COMPILE_OPTIONS_INIT;
	const cutejit_member *member;
	cutejit_module *module;
	cutejit_kernel *kernel = NULL;
	cutejit_status status = cutejit_module_from_memory(context, r->who,
	    r->text, strlen(r->text), &module);

	o.target = "sm_90";
	o.until = CUTEJIT_UNTIL_PTX;
	member = status == CUTEJIT_OK ? cutejit_module_member(module, 0)
	    : NULL;
	if (member != NULL)
		status = cutejit_compile(module, member->kernel, &o, &kernel);
	cutejit_kernel_destroy(kernel);
	cutejit_module_destroy(module);
	return status;
}

static double
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void
answer(const struct request *r)
{
	double start = now_ms();
	cutejit_status status = serve(r);
	const cutejit_diagnostic *d = cutejit_report_at(
	    cutejit_context_report(context), 0);

	start = now_ms() - start;
	pthread_mutex_lock(&lock);
	printf("%s: %s%s%s\n", r->who, cutejit_status_text(status),
	    status != CUTEJIT_OK && d != NULL ? ": " : "",
	    status != CUTEJIT_OK && d != NULL ? d->text : "");
	failures += status != r->expected || start > 20 * DEADLINE_MS;
	pthread_mutex_unlock(&lock);
}

static void *
worker(void *number)
{
	size_t i;

	for (i = 0; i < REQUESTS; i++)
		answer(&requests[(i + *(size_t *)number) % REQUESTS]);
	return NULL;
}

int
main(void)
{
	cutejit_options o = CUTEJIT_OPTIONS_INIT;
	pthread_t threads[THREADS];
	size_t numbers[THREADS], i;

	o.deadline_ms = DEADLINE_MS;
	o.memory_limit = (size_t)512 << 20;
	o.cancel = must_stop;
	if (cutejit_context_create(&o, &context) != CUTEJIT_OK)
		return CUTEJIT_LIMIT;
	for (i = 0; i < THREADS; i++) {
		numbers[i] = i;
		if (pthread_create(&threads[i], NULL, worker, &numbers[i])
		    != 0)
			return CUTEJIT_LIMIT;
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	/* a server that is told to end ends what it does */
	is_stopping = 1;
	failures += serve(&requests[2]) != CUTEJIT_LIMIT;
	cutejit_context_destroy(context);
	return failures != 0;
}
