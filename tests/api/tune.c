/*
 * Searches on the stand-in driver, whose launches take as long as the test
 * says: the fastest candidate wins, bad ones are passed over, and the winner is
 * what later launches of the same class use, in this process and the next.
 */
#include "fake_open.h"

#include <unistd.h>

static const char text[] =
    "kernel add(const threads: int = 128, const per: int = 1,\n"
    "    x: tensor(f32, N:1), y: tensor(f32, N:1))\n"
    "    where threads < 512\n"
    "{\n"
    "    launch grid(ceil_div(N, threads * per)) block(threads) {\n"
    "        const for k in 0..per {\n"
    "            let i = (block_idx.x * per + k) * threads + thread_idx.x;\n"
    "            if i < N { y[i] = x[i] + 1.0; }\n"
    "        }\n"
    "    }\n"
    "}\n"
    "tune add over threads in {32, 64, 96, 192, 512}, per in 1..3\n"
    "    where threads * per != 128;\n"
    "tune add over (threads, per) in {(256, 4), (288, 1)};\n"
    "bench \"sums\" over n in {1000, 5000} {\n"
    "    let x = normal(f32, n:1, seed = 1);\n"
    "    time add(x, empty(f32, n:1)) bytes(8 * n);\n"
    "    time add(x, empty(f32, n:1), threads = 64) bytes(8 * n);\n"
    "}\n"
    "bench \"other\" { time add(zeros(f32, 70000:1), empty(f32, 70000:1)); }\n";

enum { BEST = 96, FAILING = 64, DEFAULT = 128 };

static char folder[] = "/tmp/tune-XXXXXX";

/* Shorter the nearer the block is to the best one, and with two elements. */
static double
ms_of(const struct fake_launch *l)
{
	unsigned per = l->grid[0] * l->block[0] < 2 * l->params[0] / 3 ? 0 : 1;

	return 0.1 + 0.001 * abs((int)l->block[0] - BEST) + 0.01 * per;
}

static int
error_of(const struct fake_launch *l)
{
	return l->block[0] == FAILING ? 701 : 0;
}

static cutejit_context *
context(void)
{
	cutejit_options o = CUTEJIT_OPTIONS_INIT;
	cutejit_context *c;

	o.cache_folder = folder;
	CHECK(cutejit_context_create(&o, &c) == CUTEJIT_OK);
	return c;
}

/* As much time as a machine with other work may need. */
static cutejit_tune_options
options(void)
{
	cutejit_tune_options o = CUTEJIT_TUNE_OPTIONS_INIT;

	o.budget_ms = 600000;
	return o;
}

/* ---- searching ----------------------------------------------------------- */

struct seen {
	int passed, failed, skipped, winners;
	char winner[100], problem[200];
	double ms, default_ms;
	int stop_after;			/* 0: never */
	cutejit_tune_position last;
};

static int
each(void *user, const cutejit_tune_result *r)
{
	struct seen *s = user;

	if (r->is_winner) {
		s->winners++;
		snprintf(s->winner, sizeof s->winner, "%s", r->values);
		snprintf(s->problem, sizeof s->problem, "%s", r->problem);
		s->ms = r->ms;
		s->default_ms = r->default_ms;
		return 0;
	}
	s->passed += r->outcome == CUTEJIT_PASSED;
	s->failed += r->outcome == CUTEJIT_FAILED;
	s->skipped += r->outcome == CUTEJIT_SKIPPED;
	CHECK((r->outcome == CUTEJIT_PASSED) == (*r->text == '\0'));
	return s->stop_after != 0 && s->passed + s->failed + s->skipped
	    >= s->stop_after;
}

static void
before(void *user, const cutejit_tune_position *at)
{
	((struct seen *)user)->last = *at;
}

static void
test_search(unsigned jobs)
{
	cutejit_tune_options o = options();
	cutejit_context *c = context();
	cutejit_module *m = test_module(c, text);
	struct seen s = { 0 };

	o.jobs = jobs;
	o.filter = "sums [n=1000]";
	CHECK(strcmp(cutejit_module_tune(m, 0)->kernel, "add") == 0);
	CHECK(strcmp(cutejit_module_tune(m, 0)->parameters,
	    "threads, per; threads, per") == 0);
	CHECK(cutejit_module_tune(m, 1) == NULL);
	DO(c, cutejit_tune_run(m, 0, &o, each, &s));
	/* the defaults; 5 times 2 less one, of which one does not start and
	 * two are refused; and two more */
	CHECK(s.passed == 1 + 6 + 2);
	CHECK(s.failed == 1 && s.skipped == 2 && s.winners == 1);
	CHECK(strcmp(s.winner, "threads=96; per=2") == 0);
	CHECK(strcmp(s.problem, "x=f32(1024)/0 y=f32(1024)/0") == 0);
	CHECK(s.ms < 0.11 && s.default_ms > s.ms);
	cutejit_module_destroy(m);
	cutejit_context_destroy(c);
}

/* ---- using --------------------------------------------------------------- */

struct arrays {
	struct vector x, y;
	cutejit_argument args[2];
};

static void
set(struct arrays *a, int64_t n)
{
	static float memory[2][80000];

	a->args[0] = cutejit_arg_tensor("x", vector_set(&a->x, memory[0], n,
	    CUTEJIT_DL_CUDA));
	a->args[1] = cutejit_arg_tensor("y", vector_set(&a->y, memory[1], n,
	    CUTEJIT_DL_CUDA));
}

/* Threads of the block that a call of n elements launches. */
static unsigned
called(cutejit_context *c, cutejit_module *m, int64_t n)
{
	struct arrays a;

	set(&a, n);
	DO(c, cutejit_call(m, "add", a.args, 2, NULL, NULL));
	return fake->last.block[0];
}

static void
test_use(cutejit_context *c, cutejit_module *m)
{
	cutejit_constant named[] = { { "per", "2" } };
	cutejit_compile_options o = CUTEJIT_COMPILE_OPTIONS_INIT;
	struct arrays a;
	cutejit_kernel *k;
	cutejit_launch *l;

	CHECK(called(c, m, 1000) == BEST);
	CHECK(called(c, m, 1024) == BEST);
	CHECK(called(c, m, 513) == BEST);
	CHECK(called(c, m, 512) == DEFAULT);	/* of other classes */
	CHECK(called(c, m, 1025) == DEFAULT);
	/* who names a parameter has all of them */
	set(&a, 1000);
	o.constants = named;
	o.constant_count = 1;
	DO(c, cutejit_call(m, "add", a.args, 2, &o, NULL));
	CHECK(fake->last.block[0] == DEFAULT);
	/* kernels that are compiled for arguments, and launches of them */
	o.constant_count = 0;
	o.arguments = a.args;
	o.argument_count = 2;
	DO(c, cutejit_compile(m, "add", &o, &k));
	CHECK(strstr(cutejit_kernel_about(k)->binding, "threads=96")
	    != NULL);
	DO(c, cutejit_prepare(k, a.args, 2, &l));
	DO(c, cutejit_launch_run(l, NULL));
	CHECK(fake->last.block[0] == BEST);
	cutejit_launch_destroy(l);
	cutejit_kernel_destroy(k);
	o.argument_count = 0;
	DO(c, cutejit_compile(m, "add", &o, &k));
	CHECK(strstr(cutejit_kernel_about(k)->binding, "threads=128")
	    != NULL);
	cutejit_kernel_destroy(k);
}

/* A call that was remembered before the search is made anew after it. */
static void
test_next_launch(void)
{
	cutejit_tune_options o = options();
	cutejit_context *c = context();
	cutejit_module *m = test_module(c, text);
	struct seen s = { 0 };

	CHECK(called(c, m, 70000) == DEFAULT);
	CHECK(called(c, m, 70000) == DEFAULT);
	o.filter = "other";
	DO(c, cutejit_tune_run(m, 0, &o, each, &s));
	CHECK(s.winners == 1);
	CHECK(called(c, m, 70000) == BEST);
	cutejit_module_destroy(m);
	cutejit_context_destroy(c);
}

static const char *importing;

static int
find_text(void *user, const char *from, const char *path, const char **name,
    const char **found, size_t *length)
{
	(void)user;
	(void)from;
	*name = path;
	*found = importing;
	*length = strlen(importing);
	return 1;
}

/* Winners are the kernel's, whatever the text is that launches it. */
static void
test_imported(void)
{
	cutejit_options o = CUTEJIT_OPTIONS_INIT;
	cutejit_context *c;
	cutejit_module *m;
	struct arrays a;

	o.cache_folder = folder;
	o.import = find_text;
	importing = text;
	CHECK(cutejit_context_create(&o, &c) == CUTEJIT_OK);
	m = test_module(c, "import \"add.cute\" as lib;\n");
	CHECK(cutejit_module_tune(m, 0) == NULL);
	set(&a, 1000);
	DO(c, cutejit_call(m, "lib.add", a.args, 2, NULL, NULL));
	CHECK(fake->last.block[0] == BEST);
	set(&a, 100);
	DO(c, cutejit_call(m, "lib.add", a.args, 2, NULL, NULL));
	CHECK(fake->last.block[0] == DEFAULT);
	cutejit_module_destroy(m);
	cutejit_context_destroy(c);
}

static int
count_kept(void *user, const cutejit_tuning *k)
{
	++*(int *)user;
	CHECK(strcmp(k->kernel, "add") == 0);
	CHECK(strcmp(k->device, "Stand-in") == 0);
	return 0;
}

static void
test_kept(void)
{
	cutejit_context *c = context();
	cutejit_module *m = test_module(c, text);
	char other[sizeof text];
	int n = 0;

	test_use(c, m);
	DO(c, cutejit_tuning_list(c, count_kept, &n));
	CHECK(n == 2);
	cutejit_module_destroy(m);
	/* another kernel of the name has winners of its own */
	snprintf(other, sizeof other, "%s", text);
	*strstr(other, "1.0") = '2';
	m = test_module(c, other);
	CHECK(called(c, m, 1000) == DEFAULT);
	cutejit_module_destroy(m);
	cutejit_context_destroy(c);
}

/* A winner that does not fit any more is as if it were not there. */
static void
test_stale(void)
{
	char path[100];
	cutejit_context *c = context();
	cutejit_module *m = test_module(c, text);
	FILE *f;
	char line[400], all[2000] = "";

	snprintf(path, sizeof path, "%s/tuned/Stand_in.txt", folder);
	f = fopen(path, "r");
	CHECK(f != NULL);
	while (fgets(line, sizeof line, f) != NULL) {
		char *at = strstr(line, "threads=96");

		if (at != NULL)
			memcpy(at, "threads=-6", 10);
		strcat(all, line);
		strcat(all, "no line\n\t\t\n");
	}
	fclose(f);
	f = fopen(path, "w");
	fputs(all, f);
	fclose(f);
	CHECK(called(c, m, 1000) == DEFAULT);
	cutejit_module_destroy(m);
	cutejit_context_destroy(c);
}

/* A table beside the file counts where nothing was found. */
static void
test_shipped(void)
{
	char path[100];
	cutejit_context *c = test_context();
	cutejit_module *m;
	FILE *f;

	snprintf(path, sizeof path, "%s/sums.tune", folder);
	f = fopen(path, "w");
	CHECK(f != NULL);
	fputs("# winners\n[Another*, sm_90x131, sm_80x*]\n"
	    "add\t*\tx=f32(1024)/0 y=f32(1024)/0\tthreads=192; per=1\t1\n"
	    "[No such, Stand*]\n"
	    "add\t*\tx=f32(1024)/0 y=f32(1024)/0\tthreads=288; per=1\t1\n"
	    "[sm_90x132]\n"
	    "add\t*\tx=f32(1024)/0 y=f32(1024)/0\tthreads=192; per=1\t1\n"
	    "add\t*\tx=f32(2048)/0 y=f32(2048)/0\tthreads=160; per=1\t1\n"
	    "add\t*\tx=f32(4096)/0 y=f32(4096)/0\t"
	    "default: threads=160; per=1\t1\n"
	    "add\t*\tx=f32(16384)/0 y=f32(16384)/0\tthreads=600\t1\n",
	    f);
	fclose(f);
	snprintf(path, sizeof path, "%s/sums.cute", folder);
	f = fopen(path, "w");
	CHECK(f != NULL);
	fputs(text, f);
	fclose(f);
	DO(c, cutejit_module_from_file(c, path, &m));
	CHECK(called(c, m, 1000) == 288);	/* the first that names it */
	CHECK(called(c, m, 2000) == 160);	/* by its class */
	CHECK(called(c, m, 4000) == DEFAULT);	/* explicitly */
	CHECK(called(c, m, 5000) == DEFAULT);	/* no line */
	CHECK(called(c, m, 16000) == DEFAULT);	/* refused */
	cutejit_module_destroy(m);
	cutejit_context_destroy(c);
}

/* ---- what goes wrong ----------------------------------------------------- */

static int
harm(const struct fake_launch *l)
{
	return l->block[0] == 96 ? fake->harm = 700 : 0;
}

/* The search ends with the driver; another goes on behind the candidate. */
static void
test_harm(void)
{
	cutejit_tune_options o = options();
	cutejit_context *c = test_context();
	cutejit_module *m = test_module(c, text);
	cutejit_tune_position from;
	struct seen s = { 0 };
	int n = 0;

	fake->error_of = harm;
	o.filter = "other";
	o.before = before;
	REFUSED(c, CUTEJIT_ERROR, "driver", cutejit_tune_run(m, 0, &o, each,
	    &s));
	CHECK(s.winners == 0 && s.failed == 1);
	fake->harm = 0;
	from = s.last;
	while (from.candidate++ < 20) {
		o.from = &from;
		n++;
		if (cutejit_tune_run(m, 0, &o, each, &s) == CUTEJIT_OK)
			break;
		fake->harm = 0;
		from = s.last;
	}
	/* both with 96 threads fail */
	CHECK(n == 2 && s.winners == 1);
	CHECK(strstr(s.winner, "threads=96") == NULL);
	fake->error_of = error_of;
	cutejit_module_destroy(m);
	cutejit_context_destroy(c);
}

/* A search whose text is wrong says where; nothing is tried. */
static void
test_wrong_text(cutejit_context *c, const char *search, const char *code)
{
	cutejit_tune_options o = options();
	char all[sizeof text + 200];
	cutejit_module *m;
	struct seen s = { 0 };

	snprintf(all, sizeof all, "%s%s", text, search);
	m = test_module(c, all);
	REFUSED(c, CUTEJIT_ERROR, code, cutejit_tune_run(m, 0, &o, each,
	    &s));
	CHECK(cutejit_report_at(cutejit_context_report(c), 0)->place.line
	    == 21);
	CHECK(s.passed + s.failed + s.skipped + s.winners == 0);
	cutejit_module_destroy(m);
}

static void
test_misuse(void)
{
	cutejit_tune_options o = options();
	cutejit_context *c = test_context();
	cutejit_module *m = test_module(c, text);
	struct seen s = { .stop_after = 3 };

	CHECK(cutejit_tune_run(NULL, 0, &o, each, &s) == CUTEJIT_USAGE);
	CHECK(cutejit_tune_run(m, 1, &o, each, &s) == CUTEJIT_USAGE);
	CHECK(cutejit_tune_run(m, 0, &o, NULL, &s) == CUTEJIT_USAGE);
	CHECK(cutejit_tuning_list(NULL, count_kept, &s) == CUTEJIT_USAGE);
	CHECK(cutejit_module_tune(NULL, 0) == NULL);
	o.size = 7;
	REFUSED(c, CUTEJIT_USAGE, "usage", cutejit_tune_run(m, 0, &o, each,
	    &s));
	o.size = sizeof o;
	o.ordinal = 5;
	REFUSED(c, CUTEJIT_MISSING, "missing-gpu", cutejit_tune_run(m, 0, &o,
	    each, &s));
	o.ordinal = 0;
	test_wrong_text(c, "tune add over threads in {32} where threads;",
	    "wrong-kind");
	test_wrong_text(c, "tune add over (threads, per) in {(32, 1), 3};",
	    "wrong-kind");
	test_wrong_text(c, "tune add over threads in 32;", "wrong-kind");
	/* stopped by the caller */
	o.ordinal = 0;
	DO(c, cutejit_tune_run(m, 0, &o, each, &s));
	CHECK(s.passed + s.failed + s.skipped == 3);
	cutejit_module_destroy(m);
	cutejit_context_destroy(c);
}

int
main(void)
{
	int (*retain)(void **, int), (*push)(void *);
	void *primary;
	char command[64];

	fake_open();
	unsetenv("CUTEJIT_CACHE");
	CHECK(mkdtemp(folder) != NULL);
	fake_find("cuDevicePrimaryCtxRetain", &retain);
	fake_find("cuCtxPushCurrent_v2", &push);
	fake->ms_of = ms_of;
	fake->error_of = error_of;
	test_misuse();
	test_search(3);
	test_search(1);
	CHECK(retain(&primary, 0) == 0 && push(primary) == 0);
	test_next_launch();
	test_kept();
	test_imported();
	test_stale();
	test_shipped();
	test_harm();
	snprintf(command, sizeof command, "rm -r %s", folder);
	return system(command) != 0;
}
