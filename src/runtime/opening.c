/*
 * LLVM is opened beside the elaboration.
 *
 * As a library of its own it takes ten milliseconds to load, longer than most
 * kernels take to elaborate. Where PTX will be made of what is elaborated, a
 * thread opens it meanwhile; the call waits for the rest, whatever ends it:
 * the thread runs code that may be unloaded, and nothing else may wait.
 */
#include "opening.h"

#include <signal.h>

struct cj_opening {
	pthread_t thread;
};

/* Why it cannot be opened is asked again by whoever generates. */
static void *
open_generator(void *unused)
{
	(void)unused;
	cj_codegen_open();
	return NULL;
}

/* Signals are for the host's threads. */
static bool
start(struct cj_opening *o)
{
	sigset_t all, was;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &was);
	rc = pthread_create(&o->thread, NULL, open_generator, NULL);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	return rc == 0;
}

static void
join(void *object)
{
	struct cj_opening *o = object;

	pthread_join(o->thread, NULL);
}

struct cj_opening *
cj_opening_begin(struct cj_work *f)
{
	struct cj_opening *o;

	if (f->context->options.worker != NULL || cj_codegen_is_open())
		return NULL;
	o = CJ_NEW(&f->arena, struct cj_opening);
	if (!start(o))
		return NULL;
	cj_defer(f, join, o);
	return o;
}

double
cj_opening_end(struct cj_work *f, struct cj_opening *o)
{
	int64_t begin = cj_clock();

	if (o == NULL)
		return 0;
	cj_undefer(f);
	join(o);
	return cj_ms_since(begin);
}
