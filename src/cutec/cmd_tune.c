/*
 * cutec tune: run the searches of files on a GPU, list what they found, or put
 * it into the tables that go along with the files.
 *
 * A candidate may harm the driver, end the process or never end. So each search
 * runs in a child, which writes down in memory shared with us what it is about
 * to try; when it dies, or is silent for too long and is killed, another goes
 * on behind that candidate.
 */
#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cutec.h"

/* A child's own codes. */
enum { CODE_HARMED = 99 };
enum { LOOK_MS = 20, PATIENCE = 20, COMPILE_SECONDS = 120 };

/* What a child tells us: written by it alone. */
struct shared {
	cutejit_tune_position at;
	volatile int is_trying;		/* at.candidate */
	volatile int64_t beat;		/* seconds, when it last said so */
};

struct tune {
	const struct common *c;
	const char *path;
	size_t index;			/* of the search in the file */
	unsigned patience;		/* seconds for a candidate */
	cutejit_tune_options options;
	cutejit_tune_position from;
	struct shared *shared;
	FILE *records;			/* results as lines of JSON, or NULL */
};

static int64_t
seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

/* ---- the child ----------------------------------------------------------- */

static void
before(void *user, const cutejit_tune_position *at)
{
	struct tune *t = user;

	t->shared->is_trying = 0;
	t->shared->at = *at;
	t->shared->beat = seconds();
	t->shared->is_trying = 1;
}

static const char *
shown(const cutejit_tune_result *r)
{
	return *r->values != '\0' ? r->values : "(defaults)";
}

static void
show_winner(const cutejit_tune_result *r)
{
	printf("  best: %s, %.4f ms", shown(r), r->ms);
	if (r->default_ms > 0 && r->candidate != 0)
		printf(", defaults %.4f ms", r->default_ms);
	printf("\n");
}

static void
record(FILE *to, const struct tune *t, const cutejit_tune_result *r)
{
	static const char *const words[] = { "pass", "fail", "skip" };
	json_t *j = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:f, "
	    "s:b}", "file", t->path, "bench", r->bench, "kernel", r->kernel,
	    "device", r->device, "problem", r->problem, "values", r->values,
	    "outcome", words[r->outcome], "text", r->text, "ms", r->ms,
	    "winner", r->is_winner);

	json_dumpf(j, to, JSON_COMPACT);
	fputc('\n', to);
	fflush(to);
	json_decref(j);
}

static int
show(void *user, const cutejit_tune_result *r)
{
	struct tune *t = user;

	t->shared->is_trying = 0;
	t->shared->beat = seconds();
	if (r->candidate == 0 && !r->is_winner)
		printf("%s: %s, %s: %zu candidates\n", r->bench, r->kernel,
		    r->problem, r->candidates);
	if (r->is_winner)
		show_winner(r);
	else if (r->outcome == CUTEJIT_PASSED)
		printf("  %-44s %10.4f ms\n", shown(r), r->ms);
	else
		printf("  %-44s %s: %s\n", shown(r),
		    r->outcome == CUTEJIT_FAILED ? "failed" : "skipped",
		    r->text);
	fflush(stdout);
	if (t->records != NULL)
		record(t->records, t, r);
	return 0;
}

/* A driver that was harmed: only another process has one that was not. */
static bool
is_harmed(cutejit_context *context)
{
	const cutejit_diagnostic *d = cutejit_report_at(
	    cutejit_context_report(context), 0);

	return d != NULL && strcmp(d->code, "driver") == 0;
}

static int
search(const struct common *c, cutejit_context *context, cutejit_module *m,
    const char *path, void *user)
{
	struct tune *t = user;
	cutejit_status status;

	(void)path;
	status = cutejit_tune_run(m, t->index, &t->options, show, t);
	if (status == CUTEJIT_ERROR && is_harmed(context))
		return CODE_HARMED;
	return common_status(c, context, status);
}

/* ---- the parent ---------------------------------------------------------- */

static void
pause_ms(int ms)
{
	struct timespec t = { 0, ms * 1000000L };

	nanosleep(&t, NULL);
}

/* How long the child may be silent. */
static int64_t
patience(const struct tune *t)
{
	return t->shared->is_trying && t->options.jobs != 1
	    ? t->patience : COMPILE_SECONDS + t->options.budget_ms / 1000;
}

/* The child's code, or -1: it was ended by a signal, ours perhaps. */
static int
wait_for(struct tune *t, pid_t child)
{
	int how;

	for (;;) {
		pid_t done = waitpid(child, &how, WNOHANG);

		if (done == child)
			return WIFEXITED(how) ? WEXITSTATUS(how) : -1;
		if (done < 0 && errno != EINTR)
			return -1;
		if (seconds() - t->shared->beat > patience(t))
			kill(child, SIGKILL);
		pause_ms(LOOK_MS);
	}
}

/* Nobody waits for a candidate that never ends when the parent was killed. */
static void
end_with(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(CUTEJIT_INTERNAL);
}

static int
run_child(struct tune *t)
{
	char *file = (char *)(uintptr_t)t->path;
	pid_t parent = getpid(), child;

	fflush(stdout);
	t->shared->is_trying = 0;
	t->shared->beat = seconds();
	child = fork();
	if (child == 0) {
		int code;

		end_with(parent);
		code = common_modules(t->c, &file, 1, search, t);

		fflush(stdout);
		_exit(code);
	}
	if (child < 0) {
		complain("no process can be made: %s", strerror(errno));
		return CUTEJIT_MISSING;
	}
	return wait_for(t, child);
}

static bool
is_same_place(const cutejit_tune_position *a, const cutejit_tune_position *b)
{
	return a->test == b->test && a->combination == b->combination
	    && a->launch == b->launch && a->candidate == b->candidate;
}

/* What to do after a child that came to no end. */
static bool
can_go_on(struct tune *t, int code, cutejit_tune_position *last)
{
	bool is_known = code == CODE_HARMED || t->shared->is_trying;

	if (!is_known && t->options.jobs != 1) {
		printf("  a compile ended the process: one at a time now\n");
		t->options.jobs = 1;
		return true;
	}
	if (!is_known || is_same_place(last, &t->shared->at)) {
		complain("the search in %s ends its process again and again",
		    t->path);
		return false;
	}
	printf("  candidate %zu ended %s\n", t->shared->at.candidate,
	    code == CODE_HARMED ? "the driver" : "the process");
	*last = t->from = t->shared->at;
	t->from.candidate++;
	t->options.from = &t->from;
	return true;
}

/* Until a child has come to the end of the search. */
static int
run_search(struct tune *t)
{
	cutejit_tune_position last = { .test = SIZE_MAX };
	unsigned jobs = t->options.jobs;
	int code;

	t->options.from = NULL;
	for (;;) {
		code = run_child(t);
		if (code != -1 && code != CODE_HARMED)
			break;
		if (!can_go_on(t, code, &last)) {
			code = CUTEJIT_INTERNAL;
			break;
		}
	}
	t->options.jobs = jobs;
	return code;
}

/* How many searches a file has; reading it needs no driver. */
static int
count(const struct common *c, cutejit_context *context, cutejit_module *m,
    const char *path, void *user)
{
	size_t *n = user;

	(void)c;
	(void)context;
	*n = 0;
	while (cutejit_module_tune(m, *n) != NULL)
		++*n;
	if (*n == 0)
		printf("%s: there is no \"tune\" in it\n", path);
	return 0;
}

static int
tune_file(struct tune *t, char *path)
{
	size_t n = 0;
	int code = common_modules(t->c, &path, 1, count, &n), worst = code;

	t->path = path;
	for (t->index = 0; t->index < n && code != CUTEJIT_MISSING;
	    t->index++) {
		code = run_search(t);
		if (code != 0)
			worst = code;
	}
	return worst;
}

static json_t *
read_records(FILE *from)
{
	json_t *list = json_array(), *one;

	rewind(from);
	while ((one = json_loadf(from, JSON_DISABLE_EOF_CHECK, NULL)) != NULL)
		json_array_append_new(list, one);
	return list;
}

/* ---- listing ------------------------------------------------------------- */

static int
show_kept(void *user, const cutejit_tuning *k)
{
	(void)user;
	printf("%s: %s, %s: %s, %.4f ms\n", k->device, k->kernel, k->problem,
	    *k->values != '\0' ? k->values : "(defaults)", k->ms);
	return 0;
}

static int
list_kept(const struct common *c)
{
	int code;
	cutejit_context *context = common_context(c, &code);

	if (context == NULL)
		return code;
	code = common_status(c, context, cutejit_tuning_list(context,
	    show_kept, NULL));
	cutejit_context_destroy(context);
	return code;
}

/* ---- tables that go along ------------------------------------------------ */

static int
export(const struct common *c, cutejit_context *context, cutejit_module *m,
    const char *path, void *user)
{
	size_t n;
	cutejit_status status = cutejit_tuning_export(m, path, &n);

	(void)user;
	if (status != CUTEJIT_OK)
		return common_status(c, context, status);
	if (n == 0) {
		complain("%s: nothing is kept of its kernels as they are; "
		    "\"cutec tune %s\" searches", path, path);
		return CUTEJIT_ERROR;
	}
	printf("%.*s.tune: %zu winner%s\n", (int)(strlen(path)
	    - strlen(".cute")), path, n, n == 1 ? "" : "s");
	return 0;
}

/* ---- the command --------------------------------------------------------- */

/* "30", "30s" or "1.5". */
static bool
read_budget(const char *text, unsigned *ms)
{
	char *end;
	double s = strtod(text, &end);

	if (end == text || (strcmp(end, "s") != 0 && *end != '\0') || !(s > 0)
	    || s > 86400)
		return false;
	*ms = s < 0.001 ? 1 : (unsigned)(s * 1000);
	return true;
}

struct settings {
	struct common c;
	struct tune t;
	const char *json;
	bool lists, exports;
};

/* 0, or the code to leave with; -1: success. */
static int
take(struct settings *s, int o, char *value)
{
	uint64_t n;
	int bad;

	switch (o) {
	case OPT_BUDGET:
		return read_budget(value, &s->t.options.budget_ms) ? 0
		    : usage_error("tune", "--budget needs seconds, not "
		    "\"%s\"", value);
	case OPT_JOBS:
	case OPT_GPU:
	case OPT_PATIENCE:
		bad = take_number(&s->c, o == OPT_JOBS ? "--jobs" :
		    o == OPT_GPU ? "--gpu" : "--patience", value, 1024, &n);
		if (bad != 0)
			return bad;
		if (o == OPT_JOBS)
			s->t.options.jobs = (unsigned)n;
		else if (o == OPT_PATIENCE)
			s->t.patience = (unsigned)n;
		else
			s->t.options.ordinal = (int)n;
		return 0;
	case OPT_JSON:
		s->json = value;
		return 0;
	case OPT_LIST:
		s->lists = true;
		return 0;
	case OPT_EXPORT:
		s->exports = true;
		return 0;
	default:
		return common_take(&s->c, o, value);
	}
}

static int
tune_files(struct settings *s, char **files, int n)
{
	int i, code, worst = 0;
	json_t *list;

	s->t.shared = mmap(NULL, sizeof *s->t.shared, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (s->json != NULL)
		s->t.records = tmpfile();
	if (s->t.shared == MAP_FAILED
	    || (s->json != NULL && s->t.records == NULL)) {
		complain("no memory that is shared: %s", strerror(errno));
		return CUTEJIT_MISSING;
	}
	for (i = 0; i < n; i++) {
		code = tune_file(&s->t, files[i]);
		if (code != 0)
			worst = code;
	}
	if (s->t.records == NULL)
		return worst;
	list = read_records(s->t.records);
	fclose(s->t.records);
	if (!write_json(s->json, "candidates", list) && worst == 0)
		worst = CUTEJIT_MISSING;
	json_decref(list);
	return worst;
}

int
cmd_tune(int argc, char **argv)
{
	const cutejit_tune_options defaults = CUTEJIT_TUNE_OPTIONS_INIT;
	static struct settings s;
	int o, code;

	common_init(&s.c, "tune");
	s.t.options = defaults;
	s.t.patience = PATIENCE;
	while ((o = option_next("tune", argc, argv)) != -1) {
		code = take(&s, o, optarg);
		if (code != 0)
			return code < 0 ? 0 : code;
	}
	s.t.c = &s.c;
	s.t.options.before = before;
	s.t.options.filter = s.c.run.filter;
	s.t.options.level = s.c.level;
	if (s.lists)
		return list_kept(&s.c);
	if (optind == argc)
		return usage_error("tune", "a file is needed");
	if (s.exports)
		return common_modules(&s.c, argv + optind, argc - optind,
		    export, NULL);
	return tune_files(&s, argv + optind, argc - optind);
}
