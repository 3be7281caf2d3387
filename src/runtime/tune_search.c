/*
 * Searches: every candidate on the problems of the benches that launch the
 * kernel.
 *
 *	bench -> time k(...)			a problem
 *	      -> compile candidates	side by side, each a call of its own
 *	      -> warm up by the defaults
 *	      -> measure them shortly, in order
 *	      -> measure the best of them and the defaults in rounds
 *	      -> keep the winner
 *
 * A GPU is slower when it is warm or draws all its power, so what is compared
 * last is measured in turn, each round in the other direction, and the medians
 * of the rounds count.
 *
 * A candidate that is refused, does not compile or cannot be launched is told
 * and passed over. A driver that has been harmed answers nothing any more: then
 * the search ends, and another process may go on behind the candidate.
 */
#include "tune.h"

#include <stdlib.h>
#include <unistd.h>

#include "testing.h"

enum { BUDGET_MS = 30000, FINALISTS = 5, ROUNDS = 5, MOST_JOBS = 64,
    TEXT = 200 };
#define WARM_MS		300.0
#define SHORT_MS	25.0
#define ROUND_MS	60.0
/* What is not faster by so much may be so by chance: the defaults stay. */
#define LEAST_GAIN	1.01

/* One candidate on one problem. */
struct attempt {
	const struct cj_candidate *candidate;	/* NULL: the defaults */
	/* SAME: it is the defaults once more */
	enum { WAITING, COMPILED, REFUSED, FAILED, SAME, TIMED } state;
	char text[TEXT];			/* of what went wrong */
	const char *bound;			/* of the defaults: values, */
	struct cj_digest recipe;		/* and what they make */
	double ms;
};

struct search {
	struct cj_testing t;
	const char *kernel;
	cutejit_tune_options options;
	cutejit_tune_fn *each;
	void *user;
	struct cj_arena arena;		/* candidates */
	struct cj_candidate *candidates;
	uint32_t count;
	cutejit_gpu gpu;
	uint32_t launch;		/* so far, in this combination */
	bool is_stopped, is_broken;
};
static_assert(offsetof(struct search, t) == 0, "found by its test");

/* A problem that is searched. */
struct problem {
	struct search *s;
	const struct cj_call *record;
	const struct cj_arguments *args;
	const struct cj_request *q;
	const char *class;
	struct attempt *attempts;	/* the defaults first */
	uint32_t count, first;		/* to be tried */
	int64_t begin;
	pthread_mutex_t lock;		/* of `next` */
	uint32_t next;			/* to be compiled */
};

/* Milliseconds of the budget that are left. */
static double
left(const struct problem *p)
{
	unsigned ms = p->s->options.budget_ms;

	return (ms != 0 ? ms : BUDGET_MS) - cj_ms_since(p->begin);
}

/* ---- choosing a candidate's member --------------------------------------- */

static cutejit_status
select_candidate(struct cj_work *f, const struct problem *p,
    const struct attempt *a, struct cj_selected *out)
{
	struct cj_testing *t = &p->s->t;
	struct cj_choice choice;
	struct cj_const_argument *all;
	cutejit_status status;
	uint32_t n;

	cj_testing_choice(f, t, p->record, &choice);
	n = choice.const_count;
	if (a->candidate != NULL) {
		all = CJ_NEWS(&f->arena, struct cj_const_argument,
		    n + a->candidate->count);
		if (n != 0)
			memcpy(all, choice.consts, n * sizeof *all);
		memcpy(all + n, a->candidate->consts,
		    a->candidate->count * sizeof *all);
		choice.consts = all;
		choice.const_count = n + a->candidate->count;
	}
	status = cj_testing_recipe(f, t, &out->recipe);
	return status != CUTEJIT_OK ? status
	    : cj_select_from(f, t->module, p->q, &choice, out);
}

/* What was said since `before` is the reason, and is taken back. */
static void
note_failure(struct cj_work *f, struct attempt *a,
    const struct cj_diags *before, cutejit_status status)
{
	snprintf(a->text, sizeof a->text, "%s",
	    cj_tuned_misfit(&f->arena, *before->last));
	a->state = status == CUTEJIT_ERROR ? REFUSED : FAILED;
	cj_forget_messages(f, before);
}

/* ---- compiling ----------------------------------------------------------- */

struct compiling {
	struct problem *problem;
	struct attempt *attempt;
};

static cutejit_status
compile_one(struct cj_work *f, void *arguments)
{
	struct compiling *c = arguments;
	struct cj_selected s = { 0 };
	cutejit_status status;

	f->module = c->problem->s->t.module;
	f->doing = c->problem->record->kernel;
	cj_set_warnings(f, &f->module->sources);
	status = select_candidate(f, c->problem, c->attempt, &s);
	if (status == CUTEJIT_OK)
		cj_select_end(f, &s);
	return status;
}

static void
compile(struct problem *p, struct attempt *a)
{
	struct cutejit_context *c = p->s->t.module->context;
	struct compiling job = { p, a };
	cutejit_status status = cj_enter(c, compile_one, &job);
	const cutejit_diagnostic *d;
	bool is_family;

	if (status == CUTEJIT_OK) {
		a->state = COMPILED;
		return;
	}
	d = cutejit_report_at(cutejit_context_report(c), 0);
	is_family = d != NULL && strcmp(d->code, "no-member") == 0
	    && d->note_count != 0;
	if (d == NULL)
		snprintf(a->text, sizeof a->text, "%s",
		    cutejit_status_text(status));
	else
		snprintf(a->text, sizeof a->text, "%s%s%s", d->text,
		    is_family ? ": " : "", is_family ? d->notes[0].text : "");
	a->state = status == CUTEJIT_ERROR ? REFUSED : FAILED;
}

/* Half of the budget at most is for compiling. */
static struct attempt *
next_job(struct problem *p)
{
	struct attempt *a = NULL;
	unsigned ms = p->s->options.budget_ms;

	pthread_mutex_lock(&p->lock);
	if (p->next < p->count && left(p) > (ms != 0 ? ms : BUDGET_MS) / 2)
		a = &p->attempts[p->next++];
	pthread_mutex_unlock(&p->lock);
	return a;
}

static void *
compile_some(void *problem)
{
	struct problem *p = problem;
	struct attempt *a;

	while ((a = next_job(p)) != NULL)
		compile(p, a);
	return NULL;
}

/* Threads that cannot be had are done without. */
static void
compile_all(struct problem *p)
{
	long jobs = p->s->options.jobs != 0 ? (long)p->s->options.jobs
	    : sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t threads[MOST_JOBS];
	long i, n = 0;

	if (jobs == 1)
		return;
	jobs = jobs > MOST_JOBS ? MOST_JOBS : jobs;
	for (i = 0; i + 1 < jobs && i < (long)p->count; i++)
		n += pthread_create(&threads[n], NULL, compile_some, p) == 0;
	compile_some(p);
	for (i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

/* ---- measuring ----------------------------------------------------------- */

static void
tell_before(struct problem *p, uint32_t i, const struct attempt *best)
{
	struct search *s = p->s;
	cutejit_tune_position at = { .test = s->t.index,
	    .combination = s->t.combination, .launch = s->launch,
	    .candidate = i };

	if (s->options.before == NULL)
		return;
	if (best != NULL) {
		at.best_ms = best->ms;
		if (best->candidate != NULL)
			snprintf(at.best, sizeof at.best, "%s",
			    best->candidate->text);
	}
	s->options.before(s->user, &at);
}

/* Whether the driver answers as before. */
static bool
is_well(const struct search *s)
{
	return s->t.gpu.cu->CtxSynchronize() == 0;
}

/* Values of the parameters that are searched, where nobody gave any. */
static const char *
bound_of(const struct problem *p, const struct cj_binding *b)
{
	struct cutejit_module *m = p->s->t.module;
	const char *text;

	cj_module_enter(p->s->t.work, m);
	text = cj_tune_bound(&p->s->arena, m->unit, b, p->s->kernel);
	cj_module_leave(p->s->t.work, m);
	return text;
}

static cutejit_status
time_selected(struct problem *p, struct attempt *a, double total_ms,
    struct cj_selected *s)
{
	cutejit_bench_result r = { 0 };

	if (!cj_time_on_gpu(&p->s->t, s, p->args, total_ms, &r))
		return CUTEJIT_MISSING;
	if (a->candidate == NULL && a->bound == NULL) {
		a->bound = bound_of(p, s->recipe.binding);
		a->recipe = s->program->recipe;
	}
	a->ms = r.ms_median;
	a->state = TIMED;
	return CUTEJIT_OK;
}

static bool
is_default(const struct problem *p, const struct attempt *a,
    const struct cj_program *program)
{
	return a->candidate != NULL && p->attempts[0].bound != NULL
	    && memcmp(&p->attempts[0].recipe, &program->recipe,
	    sizeof program->recipe) == 0;
}

static void
measure(struct problem *p, struct attempt *a, double total_ms)
{
	struct cj_work *f = p->s->t.work;
	const struct cj_diags before = f->diags;
	struct cj_mark mark = cj_arena_mark(&f->arena);
	struct cj_selected s = { 0 };
	cutejit_status status = select_candidate(f, p, a, &s);

	if (status == CUTEJIT_OK) {
		if (is_default(p, a, s.program))
			a->state = SAME;
		else
			status = time_selected(p, a, total_ms, &s);
		cj_select_end(f, &s);
	}
	if (status != CUTEJIT_OK)
		note_failure(f, a, &before, status);
	if (a->state == FAILED && !is_well(p->s))
		p->s->is_broken = true;
	if (before.first == NULL && f->diags.first == NULL)
		cj_arena_release(&f->arena, mark);
}

/* ---- telling ------------------------------------------------------------- */

static cutejit_tune_result
result_of(const struct problem *p, const struct attempt *a)
{
	cutejit_tune_result r = { .bench = p->s->t.name,
	    .kernel = p->record->kernel, .device = p->s->gpu.name,
	    .problem = p->class, .values = "", .text = a->text,
	    .candidate = (size_t)(a - p->attempts),
	    .candidates = p->count - 1 };

	if (a->candidate != NULL)
		r.values = a->candidate->text;
	if (p->attempts[0].state == TIMED)
		r.default_ms = p->attempts[0].ms;
	r.outcome = a->state == TIMED ? CUTEJIT_PASSED
	    : a->state == FAILED ? CUTEJIT_FAILED : CUTEJIT_SKIPPED;
	if (a->state == TIMED)
		r.ms = a->ms;
	if (a->state == SAME)
		r.text = "these are the defaults";
	if (a->state == WAITING || a->state == COMPILED)
		r.text = "the budget is spent";
	return r;
}

static void
tell(struct problem *p, const struct attempt *a, bool is_winner)
{
	cutejit_tune_result r = result_of(p, a);

	r.is_winner = is_winner;
	if (p->s->each(p->s->user, &r) != 0)
		p->s->is_stopped = true;
}

/* ---- one problem --------------------------------------------------------- */

static bool
goes_on(const struct problem *p)
{
	return !p->s->is_stopped && !p->s->is_broken;
}

static struct attempt *
best_of(struct problem *p, const bool *without)
{
	struct attempt *best = NULL;
	uint32_t i;

	for (i = 0; i < p->count; i++)
		if (p->attempts[i].state == TIMED
		    && (without == NULL || !without[i])
		    && (best == NULL || p->attempts[i].ms < best->ms))
			best = &p->attempts[i];
	return best;
}

static void
try_each(struct problem *p)
{
	uint32_t i;

	for (i = 0; i < p->count && goes_on(p); i++) {
		struct attempt *a = &p->attempts[i];

		if (i != 0 && i < p->first)
			continue;	/* before the process went on */
		if (a->state == REFUSED || a->state == FAILED) {
			tell(p, a, false);
			continue;
		}
		if (i != 0 && left(p) <= 0) {
			tell(p, a, false);
			continue;
		}
		tell_before(p, i, best_of(p, NULL));
		if (a->state == WAITING)
			compile(p, a);
		if (a->state == COMPILED && i == 0)
			measure(p, a, WARM_MS);
		if (a->state == TIMED)
			a->state = COMPILED;
		if (a->state == COMPILED)
			measure(p, a, SHORT_MS);
		tell(p, a, false);
		cj_check_time(p->s->t.work);
	}
}

struct final {
	struct attempt *attempt;
	double ms[ROUNDS];
	uint32_t count;
};

/* The best, and the defaults if they run; the others are out. */
static uint32_t
choose_finalists(struct problem *p, struct final *out)
{
	bool *done = CJ_NEWS(&p->s->t.work->arena, bool, p->count);
	struct attempt *a;
	uint32_t i, n = 0;

	for (i = 0; i < FINALISTS; i++) {
		a = best_of(p, done);
		if (a != NULL)
			done[a - p->attempts] = true;
	}
	done[0] = p->attempts[0].state == TIMED;
	for (i = 0; i < p->count; i++) {
		if (done[i])
			out[n++].attempt = &p->attempts[i];
		else if (p->attempts[i].state == TIMED)
			p->attempts[i].state = COMPILED;
	}
	return n;
}

/* A failure now is as bad as one before. */
static void
run_round(struct problem *p, struct final *all, uint32_t n, uint32_t round)
{
	uint32_t i;

	for (i = 0; i < n && goes_on(p); i++) {
		struct final *x = &all[round % 2 == 0 ? i : n - 1 - i];

		if (x->attempt->state != TIMED)
			continue;
		tell_before(p, p->count, best_of(p, NULL));
		measure(p, x->attempt, ROUND_MS);
		x->ms[x->count++] = x->attempt->ms;
	}
}

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void
try_finalists(struct problem *p)
{
	struct final all[FINALISTS + 1] = { 0 };
	uint32_t n = choose_finalists(p, all), round, i;

	for (round = 0; round < ROUNDS && goes_on(p); round++)
		run_round(p, all, n, round);
	for (i = 0; i < n; i++) {
		if (all[i].count == 0)
			continue;
		qsort(all[i].ms, all[i].count, sizeof(double), compare);
		all[i].attempt->ms = all[i].ms[all[i].count / 2];
	}
}

/* The defaults, unless another is faster by more than chance. */
static const struct attempt *
winner_of(struct problem *p)
{
	const struct attempt *best = best_of(p, NULL);
	const struct attempt *defaults = &p->attempts[0];

	return best != NULL && defaults->state == TIMED
	    && defaults->ms < best->ms * LEAST_GAIN ? defaults : best;
}

static void
keep_winner(struct problem *p)
{
	struct cj_work *f = p->s->t.work;
	const struct attempt *best = winner_of(p);
	struct cj_tuned row = { .kernel = p->record->kernel,
	    .problem = p->class };

	if (best == NULL)
		return;
	row.space = cj_tune_space(p->s->t.module, row.kernel);
	row.ms = best->ms;
	row.values = best->candidate != NULL ? best->candidate->text :
	    cj_printf(&f->arena, CJ_TUNED_DEFAULT "%s", best->bound);
	cj_tuned_keep(f, &p->s->gpu, &row);
	tell(p, best, true);
}

/* Where another process has come to: its best stays in the race. */
static void
go_on(struct problem *p)
{
	const cutejit_tune_position *from = p->s->options.from;
	uint32_t i;

	p->first = p->next = (uint32_t)from->candidate;
	for (i = 1; i < p->count && i < p->first && from->best_ms > 0; i++)
		if (strcmp(p->attempts[i].candidate->text, from->best) == 0) {
			p->attempts[i].ms = from->best_ms;
			p->attempts[i].state = TIMED;
		}
}

static void
destroy_lock(void *lock)
{
	pthread_mutex_destroy(lock);
}

static void
search_problem(struct problem *p)
{
	struct search *s = p->s;
	struct cj_work *f = s->t.work;
	uint32_t i;

	p->begin = cj_clock();
	p->count = s->count + 1;
	p->attempts = CJ_NEWS(&f->arena, struct attempt, p->count);
	for (i = 0; i < s->count; i++)
		p->attempts[i + 1].candidate = &s->candidates[i];
	if (s->options.from != NULL) {
		go_on(p);
		s->options.from = NULL;
	}
	compile_all(p);
	try_each(p);
	if (goes_on(p))
		try_finalists(p);
	if (!s->is_broken)
		keep_winner(p);
}

/* Is this problem in front of where the search goes on? */
static bool
is_past(const struct search *s)
{
	const cutejit_tune_position *from = s->options.from;

	return from != NULL && (s->t.index < from->test
	    || (s->t.index == from->test
	    && (s->t.combination < from->combination
	    || (s->t.combination == from->combination
	    && s->launch < from->launch))));
}

static bool
has_parameter(const struct search *s, const char *name)
{
	uint32_t i, k;

	for (i = 0; i < s->count; i++)
		for (k = 0; k < s->candidates[i].count; k++)
			if (strcmp(s->candidates[i].consts[k].name, name)
			    == 0)
				return true;
	return false;
}

static bool
names_parameter(const struct search *s, const struct cj_call *record)
{
	const struct cj_const_argument *consts;
	uint32_t n = cj_call_consts(record, &consts), i;

	for (i = 0; i < n; i++)
		if (has_parameter(s, consts[i].name))
			return true;
	return false;
}

static cutejit_status
search_call(struct cj_testing *t, const struct cj_call *record,
    const struct cj_arguments *args, const struct cj_request *q)
{
	struct search *s = (struct search *)t;
	struct problem *p;
	const struct cj_const_argument *consts;
	uint32_t n;

	if (strcmp(record->kernel, s->kernel) != 0
	    || names_parameter(s, record) || s->is_stopped || s->is_broken)
		return CUTEJIT_OK;
	s->launch++;
	if (is_past(s))
		return CUTEJIT_OK;
	n = cj_call_consts(record, &consts);
	p = CJ_NEW(&t->work->arena, struct problem);
	p->s = s;
	p->record = record;
	p->args = args;
	p->q = q;
	p->class = cj_tune_problem(t->work, t->module, record->kernel,
	    consts, n, args);
	pthread_mutex_init(&p->lock, NULL);
	cj_defer(t->work, destroy_lock, &p->lock);
	search_problem(p);
	cj_undefer(t->work);
	destroy_lock(&p->lock);
	if (s->is_broken)
		return cj_fail(t->work, CUTEJIT_ERROR, CJ_DIAG_DRIVER,
		    "the driver does not answer any more after a candidate "
		    "of \"%s\"", record->kernel);
	return CUTEJIT_OK;
}

/* ---- all of it ----------------------------------------------------------- */

struct beginning {
	struct search *search;
	size_t index;
	const cutejit_tune_options *given;
};

/* Candidates of all declarations, in order. */
static bool
list_candidates(struct cj_work *f, struct search *s)
{
	const struct cutejit_module *m = s->t.module;
	CJ_VEC(struct cj_candidate) all = { 0 };
	struct cj_candidate *some;
	uint32_t i, k, count;

	for (i = 0; i < m->tune_info_count; i++) {
		if (strcmp(m->tune_infos[i].kernel, s->kernel) != 0)
			continue;
		if (!cj_elab_tune(&s->arena, m->unit, &m->tune_infos[i],
		    &some, &count, &f->diags))
			return false;
		for (k = 0; k < count; k++)
			*cj_push(&s->arena, &all) = some[k];
	}
	s->candidates = all.at;
	s->count = all.len;
	return true;
}

static cutejit_status
begin(struct cj_work *f, void *arguments)
{
	const cutejit_tune_options defaults = CUTEJIT_TUNE_OPTIONS_INIT;
	struct beginning *b = arguments;
	struct search *s = b->search;
	struct cutejit_module *m = s->t.module;
	cutejit_run_options run = CUTEJIT_RUN_OPTIONS_INIT;
	bool use[2], done;
	const char *why;

	f->module = m;
	cj_set_warnings(f, &m->sources);
	s->options = defaults;
	if (!cj_options_copy(&s->options, sizeof s->options, b->given)
	    || (unsigned)s->options.level > CUTEJIT_LEVEL_3
	    || s->options.ordinal < 0)
		return cj_fail(f, CUTEJIT_USAGE, CJ_DIAG_USAGE,
		    "the options of the search have a wrong size or value");
	run.device = CUTEJIT_DEVICE_GPU;
	run.ordinal = s->options.ordinal;
	if (cj_run_devices(f, &run, false, use) != CUTEJIT_OK
	    || !cj_gpu_probe(f, run.ordinal, &s->gpu))
		return CUTEJIT_MISSING;
	why = cj_tuned_kept_not(f);
	if (why != NULL)
		cj_log(f->context, CUTEJIT_LOG_WARNING, "winners are not kept "
		    "behind the end of this process: %s", why);
	s->arena.recover = &f->recover;
	cj_module_enter(f, m);
	done = list_candidates(f, s);
	cj_module_leave(f, m);
	s->arena.recover = NULL;
	return done ? CUTEJIT_OK : CUTEJIT_ERROR;
}

static cutejit_status
search_bench(struct search *s, uint32_t index, const cutejit_run_options *run)
{
	struct cj_testing *t = &s->t;
	struct cutejit_module *m = t->module;
	cutejit_status status = CUTEJIT_OK;
	uint32_t i;

	cj_testing_init(t, m, index, run);
	t->search = search_call;
	t->count = 1;
	for (i = 0; i < t->count && status == CUTEJIT_OK && !s->is_stopped;
	    i++) {
		s->launch = 0;
		status = cj_testing_run(t, i, true);
	}
	cj_testing_fini(t);
	return status;
}

static cutejit_status
search_all(struct search *s)
{
	struct cutejit_module *m = s->t.module;
	cutejit_run_options run = CUTEJIT_RUN_OPTIONS_INIT;
	cutejit_status status = CUTEJIT_OK;
	uint32_t i;

	run.device = CUTEJIT_DEVICE_GPU;
	run.ordinal = s->options.ordinal;
	run.filter = s->options.filter;
	run.level = s->options.level;
	for (i = 0; i < m->test_count && status == CUTEJIT_OK
	    && !s->is_stopped; i++)
		if (m->tests[i].is_bench)
			status = search_bench(s, i, &run);
	return status;
}

cutejit_status
cutejit_tune_run(cutejit_module *module, size_t index,
    const cutejit_tune_options *options, cutejit_tune_fn *each, void *user)
{
	struct search s = { .each = each, .user = user };
	struct beginning b = { &s, index, options };
	cutejit_status status;

	if (!cj_is(module, CJ_MODULE))
		return cj_handle_refuse(module);
	if (each == NULL || index >= module->own_tune_count)
		return cj_handle_misuse(module,
		    "the index is too large, or a function is NULL");
	s.t.module = module;
	s.kernel = module->tunes[index].kernel;
	cj_arena_init(&s.arena, NULL, &module->context->mem);
	status = cj_enter(module->context, begin, &b);
	if (status == CUTEJIT_OK)
		status = search_all(&s);
	cj_arena_fini(&s.arena);
	return status;
}
