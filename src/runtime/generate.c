/*
 * Generating PTX, and what becomes of it when time is over meanwhile.
 *
 * LLVM looks at no clock and cannot be left half-way. A call that has a
 * deadline or may be cancelled lets a thread of its own generate, and waits for
 * it no longer than it may:
 *
 *	call -> begin -> wait -> take the result
 *	                  `-> late: the call ends, the thread goes on
 *
 * What goes on is not lost and not made twice: a later call for the same
 * program finds it in the list of the context, and waits for it or takes it.
 * The list is short, so that calls that come too late again and again do not
 * fill the machine. A thread touches nothing but its own entry, which holds
 * program and module; who takes the entry out of the list joins the thread.
 * Destroying the context waits for all of them, and so does the end of the
 * process, whose exit handlers take away what LLVM works with.
 */
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "program.h"
#include "worker.h"

enum { LEAST_ENTRIES = 4, LOOK_NS = 2000000, STACK_BYTES = 16 << 20,
    EXIT_SECONDS = 20 };

struct cj_generation {
	struct cj_generation *next;	/* in the list of the context */
	struct cutejit_module *module;	/* held */
	struct cj_program *program;	/* held */
	pthread_t thread;
	pid_t process;
	bool is_wanted;			/* a call waits for it */
	bool is_done;
	/* what the thread works with */
	struct cutejit_context *context;
	struct cj_arena arena;
	struct cj_recover recover;
	struct cj_codegen_options options;
	enum cj_codegen_status status;
	struct cj_codegen_result result;
};

static void
set_options(const struct cj_recipe *r, bool want_llvm,
    struct cj_codegen_options *o)
{
	memset(o, 0, sizeof *o);
	o->level = r->level;
	o->ptx = r->ptx;
	o->lineinfo = r->lineinfo;
	o->checked = r->checked;
	o->want_llvm = want_llvm;
}

/* ---- the end of the process ---------------------------------------------- */

/* Threads that generate, of all contexts: one count per process, as it ends for
 * all of them. */
static struct {
	pthread_once_t once;
	pthread_mutex_t lock;
	pthread_cond_t ended;
	unsigned count;
	pid_t process;
} running = { .once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER,
    .ended = PTHREAD_COND_INITIALIZER };

/* Also when the library is closed, whose code they run. */
static void
wait_at_exit(void)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += EXIT_SECONDS;
	pthread_mutex_lock(&running.lock);
	while (running.count > 0 && running.process == getpid())
		if (pthread_cond_timedwait(&running.ended, &running.lock,
		    &end) != 0)
			break;
	pthread_mutex_unlock(&running.lock);
}

static void
register_exit(void)
{
	atexit(wait_at_exit);
}

static void
count_running(int change)
{
	pthread_mutex_lock(&running.lock);
	if (running.process != getpid()) {
		running.process = getpid();	/* a child: none came along */
		running.count = 0;
	}
	running.count += (unsigned)change;
	pthread_cond_broadcast(&running.ended);
	pthread_mutex_unlock(&running.lock);
}

/* ---- the thread ---------------------------------------------------------- */

static void
generate(struct cj_generation *g)
{
	if (CJ_RECOVER(&g->recover)) {
		g->status = CJ_CODEGEN_FAULT;
		g->result.error = NULL;
		return;
	}
	g->status = cj_codegen_ptx(&g->arena, g->program->ir, &g->options,
	    &g->result);
}

static void *
thread_main(void *argument)
{
	struct cj_generation *g = argument;
	struct cutejit_context *c = g->context;

	generate(g);
	pthread_mutex_lock(&c->lock);
	g->is_done = true;
	pthread_cond_broadcast(&c->generated);
	pthread_mutex_unlock(&c->lock);
	count_running(-1);
	return NULL;
}

/* Signals are for the host's threads. */
static int
start_thread(struct cj_generation *g)
{
	pthread_attr_t attributes;
	sigset_t all, was;
	int rc;

	pthread_once(&running.once, register_exit);
	count_running(1);
	sigfillset(&all);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	pthread_sigmask(SIG_SETMASK, &all, &was);
	rc = pthread_create(&g->thread, &attributes, thread_main, g);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	pthread_attr_destroy(&attributes);
	if (rc != 0)
		count_running(-1);
	return rc;
}

/* ---- the list ------------------------------------------------------------ */

static struct cj_generation *
create(struct cj_work *f, struct cutejit_module *m, struct cj_program *p,
    const struct cj_codegen_options *o)
{
	struct cj_generation *g = cj_take(f->context, sizeof *g);

	if (g == NULL)
		cj_leave(&f->recover, CJ_WHY_MEMORY,
		    "there is no memory for a thread of LLVM");
	g->context = f->context;
	g->module = m;
	g->program = p;
	g->process = getpid();
	g->options = *o;
	g->is_wanted = true;
	cj_module_hold(m);
	cj_program_hold(p);
	cj_arena_init(&g->arena, &g->recover, &f->context->mem);
	g->arena.limit = f->context->options.memory_limit;
	return g;
}

static void
release(struct cj_generation *g)
{
	struct cutejit_context *c = g->context;

	cj_context_hold(c);
	cj_arena_fini(&g->arena);
	cj_program_drop(g->program);
	cj_module_drop(g->module);
	cj_give_back(c, g);
	cj_context_drop(c);
}

static void
unlink_locked(struct cutejit_context *c, struct cj_generation *g)
{
	struct cj_generation **at = &c->generations;

	while (*at != g)
		at = &(*at)->next;
	*at = g->next;
	c->generation_count--;
}

/* It is done, or will be when this returns. */
static void
retire(struct cj_generation *g)
{
	struct cutejit_context *c = g->context;

	pthread_mutex_lock(&c->lock);
	unlink_locked(c, g);
	pthread_mutex_unlock(&c->lock);
	pthread_join(g->thread, NULL);
	release(g);
}

static uint32_t
most_entries(void)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	return cores > LEAST_ENTRIES ? (uint32_t)cores : LEAST_ENTRIES;
}

/* Threads do not come along into a child: nobody will end what they did, and
 * what they hold stays. */
static void
forget_parents_locked(struct cutejit_context *c)
{
	struct cj_generation *g, *next;

	for (g = c->generations; g != NULL; g = next) {
		next = g->next;
		if (g->process != getpid())
			unlink_locked(c, g);
	}
}

static struct cj_generation *
find_locked(struct cutejit_context *c, const struct cj_program *p,
    const struct cj_codegen_options *o)
{
	struct cj_generation *g;

	for (g = c->generations; g != NULL; g = g->next)
		if (g->program == p && !g->is_wanted
		    && g->options.want_llvm == o->want_llvm)
			break;
	return g;
}

/* An entry that is done and that nobody waits for. */
static struct cj_generation *
idle_locked(struct cutejit_context *c)
{
	struct cj_generation *g, *found = NULL;

	for (g = c->generations; g != NULL; g = g->next)
		if (g->is_done && !g->is_wanted)
			found = g;	/* the oldest stands last */
	return found;
}

/* A moment, or until some thread is done. Call under the lock. */
static void
wait_a_moment(struct cutejit_context *c)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_nsec += LOOK_NS;
	if (t.tv_nsec >= 1000000000) {
		t.tv_sec++;
		t.tv_nsec -= 1000000000;
	}
	pthread_cond_timedwait(&c->generated, &c->lock, &t);
}

/* What goes on for the program already; NULL: nothing, and there is room. */
static struct cj_generation *
adopt_or_make_room(struct cj_work *f, const struct cj_program *p,
    const struct cj_codegen_options *o)
{
	struct cutejit_context *c = f->context;
	uint32_t most = most_entries();

	for (;;) {
		struct cj_generation *g, *old = NULL;
		bool has_room;

		pthread_mutex_lock(&c->lock);
		forget_parents_locked(c);
		g = find_locked(c, p, o);
		has_room = c->generation_count < most;
		if (g == NULL && !has_room)
			old = idle_locked(c);
		if (g != NULL)
			g->is_wanted = true;
		else if (old != NULL)
			old->is_wanted = true;	/* ours to take away */
		else if (!has_room)
			wait_a_moment(c);
		pthread_mutex_unlock(&c->lock);
		if (old != NULL)
			retire(old);
		if (g != NULL || has_room)
			return g;
		cj_check_time(f);
	}
}

/* NULL: there is no thread to be had. */
static struct cj_generation *
begin(struct cj_work *f, struct cutejit_module *m, struct cj_program *p,
    const struct cj_codegen_options *o)
{
	struct cutejit_context *c = f->context;
	struct cj_generation *g = adopt_or_make_room(f, p, o);

	if (g != NULL)
		return g;
	g = create(f, m, p, o);
	pthread_mutex_lock(&c->lock);
	g->next = c->generations;
	c->generations = g;
	c->generation_count++;
	pthread_mutex_unlock(&c->lock);
	if (start_thread(g) == 0)
		return g;
	pthread_mutex_lock(&c->lock);
	unlink_locked(c, g);
	pthread_mutex_unlock(&c->lock);
	release(g);
	return NULL;
}

/* ---- one program --------------------------------------------------------- */

/* False: time is over; the thread goes on for whoever asks next. */
static bool
wait_for(struct cj_work *f, struct cj_generation *g)
{
	struct cutejit_context *c = f->context;
	bool done;

	for (;;) {
		pthread_mutex_lock(&c->lock);
		if (!g->is_done)
			wait_a_moment(c);
		done = g->is_done;
		pthread_mutex_unlock(&c->lock);
		if (done)
			return true;
		if (cj_is_late(f))
			break;
	}
	pthread_mutex_lock(&c->lock);
	done = g->is_done;
	g->is_wanted = done;
	pthread_mutex_unlock(&c->lock);
	return done;
}

static void
retire_deferred(void *object)
{
	retire(object);
}

/* Onto the work's arena; everything else of the entry goes. */
static void
take(struct cj_work *f, struct cj_generation *g,
    struct cj_codegen_result *out)
{
	struct cj_arena *a = &f->arena;
	const struct cj_codegen_result *r = &g->result;
	uint32_t i;

	cj_defer(f, retire_deferred, g);
	*out = *r;
	if (g->status != CJ_CODEGEN_OK && r->error == NULL)
		cj_leave(&f->recover, g->recover.why, "%s", g->recover.text);
	if (g->status != CJ_CODEGEN_OK)
		cj_fault(f, "code generation: %.180s", r->error);
	out->ptx = cj_memdup(a, r->ptx, r->ptx_length + 1);
	if (r->llvm != NULL)
		out->llvm = cj_strdup(a, r->llvm);
	out->kernels = cj_memdup(a, r->kernels,
	    r->kernel_count * sizeof *r->kernels);
	for (i = 0; i < r->kernel_count; i++)
		out->kernels[i].entry = cj_strdup(a, r->kernels[i].entry);
	cj_undefer(f);
	retire(g);
}

static void
generate_here(struct cj_work *f, const struct cj_module *ir,
    const struct cj_codegen_options *o, struct cj_codegen_result *out)
{
	memset(out, 0, sizeof *out);
	if (cj_codegen_ptx(&f->arena, ir, o, out) != CJ_CODEGEN_OK)
		cj_fault(f, "code generation: %.180s", out->error != NULL
		    ? out->error : "no reason given");
}

cutejit_status
cj_generate(struct cj_work *f, struct cutejit_module *m,
    const struct cj_recipe *r, struct cj_program *p, bool want_llvm,
    struct cj_codegen_result *out)
{
	struct cj_codegen_options o;
	struct cj_generation *g = NULL;
	const char *why;
	int64_t start;
	double load_ms;

	set_options(r, want_llvm, &o);
	if (cj_worker_generate(f, p->ir, &o, out))
		return CUTEJIT_OK;
	start = cj_clock();
	why = cj_codegen_open();
	load_ms = cj_ms_since(start);
	if (why != NULL)
		return cj_fail(f, CUTEJIT_MISSING, CJ_DIAG_MISSING_LLVM,
		    "LLVM is needed to generate code: %s", why);
	if (f->deadline != 0 || f->context->options.cancel != NULL)
		g = begin(f, m, p, &o);
	if (g != NULL && !wait_for(f, g))
		cj_leave(&f->recover, CJ_WHY_DEADLINE, "late");
	if (g != NULL)
		take(f, g, out);
	else
		generate_here(f, p->ir, &o, out);
	out->load_ms = load_ms;
	return CUTEJIT_OK;
}

/* ---- the end of the context ---------------------------------------------- */

void
cj_generations_end(struct cutejit_context *c)
{
	struct cj_generation *g;

	for (;;) {
		pthread_mutex_lock(&c->lock);
		forget_parents_locked(c);
		for (g = c->generations; g != NULL; g = g->next)
			if (!g->is_wanted)
				break;
		if (g != NULL)
			g->is_wanted = true;
		pthread_mutex_unlock(&c->lock);
		if (g == NULL)
			break;
		retire(g);
	}
}
