/*
 * Work: how a public call begins, and the ways in which it ends.
 *
 * A call has an arena, a list of messages, a deadline, and one recovery point.
 * When it ends, its messages are copied to the record that its context keeps
 * for the thread. A fault of ours ends here too: the user is told that it is
 * one and where the report lies, and nothing of its text.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>

#include "runtime.h"
#include "repro.h"

int64_t
cj_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

double
cj_ms_since(int64_t start)
{
	return (double)(cj_clock() - start) / 1e6;
}

void
cj_defer(struct cj_work *f, void (*run)(void *object), void *object)
{
	struct cj_cleanup *c = &f->cleanups[f->cleanup_count];

	assert(f->cleanup_count < CJ_CLEANUPS && "calls nest not so deep");
	c->run = run;
	c->object = object;
	f->cleanup_count++;
}

void
cj_undefer(struct cj_work *f)
{
	assert(f->cleanup_count > 0 && "something was deferred");
	f->cleanup_count--;
}

static void
unlock(void *lock)
{
	pthread_mutex_unlock(lock);
}

void
cj_defer_lock(struct cj_work *f, pthread_mutex_t *lock)
{
	pthread_mutex_lock(lock);
	cj_defer(f, unlock, lock);
}

void
cj_undefer_lock(struct cj_work *f)
{
	assert(f->cleanup_count > 0
	    && f->cleanups[f->cleanup_count - 1].run == unlock
	    && "the newest is a lock");
	unlock(f->cleanups[--f->cleanup_count].object);
}

bool
cj_is_late(const struct cj_work *f)
{
	const cutejit_options *o = &f->context->options;

	return (f->deadline != 0 && cj_clock() > f->deadline)
	    || (o->cancel != NULL && o->cancel(o->user) != 0);
}

void
cj_check_time(struct cj_work *f)
{
	if (cj_is_late(f))
		cj_leave(&f->recover, CJ_WHY_DEADLINE, "late");
}

cutejit_status
cj_fail(struct cj_work *f, cutejit_status status, enum cj_code code,
    const char *format, ...)
{
	struct cj_span nowhere = { 0 };
	struct cj_strbuf b;
	va_list ap;

	cj_strbuf_init(&b, &f->arena);
	va_start(ap, format);
	cj_strbuf_vprintf(&b, format, ap);
	va_end(ap);
	cj_report(&f->diags, code, nowhere, "%s", b.text);
	return status;
}

void
cj_say_help(struct cj_work *f, const char *format, ...)
{
	struct cj_diag *d = f->diags.first;
	struct cj_strbuf b;
	va_list ap;

	if (d == NULL)
		return;
	while (d->next != NULL)
		d = d->next;
	cj_strbuf_init(&b, &f->arena);
	va_start(ap, format);
	cj_strbuf_vprintf(&b, format, ap);
	va_end(ap);
	d->help = b.text;
}

void
cj_forget_messages(struct cj_work *f, const struct cj_diags *before)
{
	f->diags = *before;
	*f->diags.last = NULL;
}

void
cj_fault(struct cj_work *f, const char *format, ...)
{
	char text[sizeof f->recover.text];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	cj_leave(&f->recover, CJ_WHY_BUG, "%s", text);
}

void
cj_give(struct cj_work *f, const char *text, const char **at)
{
	f->value = text;
	f->value_at = at;
}

/* ---- the record of the thread -------------------------------------------- */

static struct cj_thread_report *
find_report(struct cutejit_context *c, pthread_t self)
{
	struct cj_thread_report *r;

	for (r = c->reports; r != NULL; r = r->next)
		if (pthread_equal(r->thread, self))
			return r;
	return NULL;
}

/* The record of this thread; made if `make`, NULL without memory, which one
 * thread does not need. */
static struct cj_thread_report *
thread_report(struct cutejit_context *c, bool make)
{
	pthread_t self = pthread_self();
	struct cj_thread_report *r;

	pthread_mutex_lock(&c->lock);
	r = find_report(c, self);
	if (r == NULL && make) {
		r = c->reports == NULL ? &c->first_report
		    : cj_take(c, sizeof *r);
		if (r != NULL) {
			r->thread = self;
			cj_report_init(&r->report, &c->mem);
			r->next = c->reports;
			c->reports = r;
		}
	}
	pthread_mutex_unlock(&c->lock);
	return r;
}

static const struct cutejit_report nothing = {
	.plain = "", .colour = "", .value = ""
};

const cutejit_report *
cutejit_context_report(const cutejit_context *context)
{
	struct cutejit_context *c = (struct cutejit_context *)context;
	struct cj_thread_report *r;

	if (c == NULL)
		return NULL;
	r = thread_report(c, false);
	return r != NULL ? &r->report : &nothing;
}

static bool
has_something_to_say(const struct cj_work *f)
{
	return f->diags.first != NULL || f->value != NULL || f->is_mute;
}

/* Elaboration adds to the sources of a module, which messages read. */
static bool
fill_report(struct cj_work *f, struct cutejit_report *r)
{
	struct cutejit_module *m = (struct cutejit_module *)f->module;
	bool done;

	if (m != NULL)
		pthread_mutex_lock(&m->lock);
	done = cj_report_fill(r, &f->diags, f->value);
	if (m != NULL)
		pthread_mutex_unlock(&m->lock);
	return done;
}

/* Hand messages and text over to the thread. */
static cutejit_status
publish(struct cj_work *f, cutejit_status status)
{
	struct cj_thread_report *r =
	    thread_report(f->context, has_something_to_say(f));

	if (r == NULL) {
		if (f->value_at != NULL)
			*f->value_at = nothing.value;
		return has_something_to_say(f) && status == CUTEJIT_OK
		    ? CUTEJIT_LIMIT : status;
	}
	if (f->is_mute)
		cj_report_no_memory(&r->report);
	else if (!fill_report(f, &r->report) && status == CUTEJIT_OK)
		status = CUTEJIT_LIMIT;
	if (f->value_at != NULL)
		*f->value_at = r->report.value;
	return status;
}

/* ---- ends ---------------------------------------------------------------- */

static void
run_cleanups(struct cj_work *f)
{
	while (f->cleanup_count > 0) {
		struct cj_cleanup *c = &f->cleanups[--f->cleanup_count];

		c->run(c->object);
	}
}

static void
say_note(struct cj_work *f, const char *text)
{
	const struct cj_span none = { 0 };
	struct cj_diag *d = f->diags.first;

	if (d == NULL)
		return;
	while (d->next != NULL)
		d = d->next;
	cj_note(d, none, "%s", text);
}

/* What it was stands in the report alone: it may hold what is nobody's
 * business but the author's. */
static cutejit_status
tell_fault(struct cj_work *f)
{
	const char *path = cj_repro_write(f);

	cj_fail(f, CUTEJIT_INTERNAL, CJ_DIAG_INTERNAL,
	    "a fault of the compiler, not of your program");
	if (f->doing != NULL)
		say_note(f, cj_printf(&f->arena, "while: %s", f->doing));
	if (path != NULL)
		cj_say_help(f, "Please send the report %s.", path);
	else
		cj_say_help(f, "Set CUTEJIT_REPRO to a folder, try again, and "
		    "send the report that is written there.");
	return CUTEJIT_INTERNAL;
}

/* What control left for. Messages of the call so far are kept. */
static cutejit_status
tell_why(struct cj_work *f)
{
	switch (f->recover.why) {
	case CJ_WHY_DEADLINE:
		return cj_fail(f, CUTEJIT_LIMIT, CJ_DIAG_DEADLINE,
		    "stopped: the deadline has passed or the caller cancelled");
	case CJ_WHY_MEMORY:
		return cj_fail(f, CUTEJIT_LIMIT, CJ_DIAG_MEMORY, "%s",
		    f->recover.text);
	case CJ_WHY_NONE:
	case CJ_WHY_BUG:
		break;
	}
	return tell_fault(f);
}

/* The second way out, for telling about the first. */
static cutejit_status
recovered(struct cj_work *f)
{
	struct cj_recover second = { 0 };

	run_cleanups(f);
	if (CJ_RECOVER(&second)) {
		f->diags.first = NULL;
		f->value = NULL;
		f->is_mute = true;
		return CUTEJIT_LIMIT;
	}
	f->arena.recover = &second;
	return tell_why(f);
}

static bool
poll_time(void *work)
{
	return cj_is_late(work);
}

cutejit_status
cj_enter(struct cutejit_context *c, cj_body *body, void *arguments)
{
	struct cj_work f = { .context = c };
	cutejit_status status;

	cj_context_hold(c);
	cj_arena_init(&f.arena, &f.recover, &c->mem);
	f.arena.limit = c->options.memory_limit;
	cj_diags_init(&f.diags, &f.arena, NULL);
	if (c->options.deadline_ms != 0)
		f.deadline = cj_clock()
		    + c->options.deadline_ms * INT64_C(1000000);
	if (f.deadline != 0 || c->options.cancel != NULL)
		f.recover.poll = poll_time;
	f.recover.poll_user = &f;
	if (CJ_RECOVER(&f.recover)) {
		status = recovered(&f);
	} else {
		cj_set_warnings(&f, NULL);
		status = body(&f, arguments);
		assert(f.cleanup_count == 0 && "a body undoes what it did");
	}
	status = publish(&f, status);
	if (f.program != NULL)
		cj_program_drop(f.program);
	if (f.reads != NULL)
		cj_module_drop(f.reads);
	cj_arena_fini(&f.arena);
	cj_context_drop(c);
	return status;
}

/* ---- watches ------------------------------------------------------------- */

enum { WATCH_NS = 2000000 };

static void *
watch(void *argument)
{
	struct cj_watch *w = argument;
	struct timespec step = { 0, WATCH_NS };

	while (atomic_load(&w->done) == 0) {
		if (cj_is_late(w->work)) {
			atomic_store(&w->stop, 1);
			break;
		}
		nanosleep(&step, NULL);
	}
	return NULL;
}

/* Without a thread the run simply goes on to its end. */
void
cj_watch_begin(struct cj_watch *w, struct cj_work *f)
{
	memset(w, 0, sizeof *w);
	w->work = f;
	if (f->deadline == 0 && f->context->options.cancel == NULL)
		return;
	w->running = pthread_create(&w->thread, NULL, watch, w) == 0;
}

void
cj_watch_end(struct cj_watch *w)
{
	if (!w->running)
		return;
	atomic_store(&w->done, 1);
	pthread_join(w->thread, NULL);
	w->running = false;
}

static void
end_watch(void *watch)
{
	cj_watch_end(watch);
}

struct cj_watch *
cj_watch_hold(struct cj_work *f)
{
	struct cj_watch *w = CJ_NEW(&f->arena, struct cj_watch);

	cj_watch_begin(w, f);
	cj_defer(f, end_watch, w);
	return w;
}

void
cj_watch_drop(struct cj_work *f, struct cj_watch *w)
{
	cj_undefer(f);
	cj_watch_end(w);
	if (atomic_load(&w->stop) != 0)
		cj_leave(&f->recover, CJ_WHY_DEADLINE, "run");
}
