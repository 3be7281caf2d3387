/*
 * The library as a guest of this process: loaded and unloaded again and again,
 * forked around, without threads or memory when it wants them. It leaves signal
 * handlers, masks, standard output, open files and the working folder as they
 * were, and does not grow.
 */
#include "test.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_WATCHED	1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_WATCHED	1
#endif
#endif
#ifndef IS_WATCHED
#define IS_WATCHED	0
#endif

/* ---- threads that cannot be had ------------------------------------------ */

static int no_threads;

int
pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
    void *(*run)(void *), void *argument)
{
	int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *),
	    void *);

	if (no_threads)
		return EAGAIN;
	*(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
	return next(thread, attributes, run, argument);
}

/* ---- work ---------------------------------------------------------------- */

static float x[4096], y[4096];

static cutejit_status
run(cutejit_module *m)
{
	struct vector vx, vy;
	cutejit_argument args[3];
	int i;

	for (i = 0; i < 4096; i++) {
		x[i] = (float)i;
		y[i] = 1;
	}
	args[0] = cutejit_arg_float("a", 2);
	args[1] = cutejit_arg_tensor("x", vector_set(&vx, x, 4096,
	    CUTEJIT_DL_CPU));
	args[2] = cutejit_arg_tensor("y", vector_set(&vy, y, 4096,
	    CUTEJIT_DL_CPU));
	return cutejit_call(m, "saxpy", args, 3, NULL, NULL);
}

static void
check(void)
{
	int i;

	for (i = 0; i < 4096; i++)
		CHECK(y[i] == 2 * (float)i + 1);
}

/* All of it: text, PTX, executor, a wrong text. */
static void
work(cutejit_context *c)
{
	cutejit_compile_options o = CUTEJIT_COMPILE_OPTIONS_INIT;
	cutejit_module *m = test_module(c, saxpy_text), *wrong;
	cutejit_kernel *k;

	o.until = CUTEJIT_UNTIL_PTX;
	DO(c, cutejit_compile(m, "saxpy", &o, &k));
	DO(c, run(m));
	check();
	CHECK(cutejit_module_from_memory(c, "w", "kernel", 6, &wrong)
	    == CUTEJIT_ERROR);
	cutejit_kernel_destroy(k);
	cutejit_module_destroy(m);
}

static void
work_alone(void)
{
	cutejit_context *c = test_context();

	work(c);
	cutejit_context_destroy(c);
}

/* ---- what is left as it was ---------------------------------------------- */

enum { SIGNALS = 32 };
struct state {
	struct sigaction actions[SIGNALS];
	sigset_t mask;
	char folder[512];
	int files;
	mode_t mode;
};

static int
count_files(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (d != NULL && readdir(d) != NULL)
		n++;
	if (d != NULL)
		closedir(d);
	return n;
}

static void
look(struct state *s)
{
	int i;

	memset(s, 0, sizeof *s);
	for (i = 1; i < SIGNALS; i++)
		sigaction(i, NULL, &s->actions[i]);
	pthread_sigmask(SIG_SETMASK, NULL, &s->mask);
	CHECK(getcwd(s->folder, sizeof s->folder) != NULL);
	s->files = count_files();
	s->mode = umask(0);
	umask(s->mode);
}

static void
on_signal(int number)
{
	(void)number;
}

static void
test_untouched(void)
{
	static struct state before, after;
	struct sigaction own = { .sa_handler = on_signal };
	char path[] = "/tmp/cutejit-output-XXXXXX";
	int i, out = dup(1), file = mkstemp(path);
	struct stat st;

	CHECK(out >= 0 && file >= 0);
	sigaction(SIGSEGV, &own, NULL);
	sigaction(SIGPIPE, &own, NULL);
	sigaction(SIGCHLD, &own, NULL);
	fflush(stdout);
	CHECK(dup2(file, 1) == 1);
	work_alone();			/* LLVM opens what it keeps open */
	look(&before);
	work_alone();
	look(&after);
	fflush(stdout);
	CHECK(fstat(1, &st) == 0 && st.st_size == 0);
	CHECK(dup2(out, 1) == 1);
	for (i = 1; i < SIGNALS; i++)
		CHECK(before.actions[i].sa_handler
		    == after.actions[i].sa_handler);
	CHECK(after.actions[SIGSEGV].sa_handler == on_signal);
	CHECK(memcmp(&before.mask, &after.mask, sizeof before.mask) == 0);
	CHECK(strcmp(before.folder, after.folder) == 0);
	CHECK(before.files == after.files && before.mode == after.mode);
	close(out);
	close(file);
	unlink(path);
}

/* ---- forks --------------------------------------------------------------- */

static void
in_child(void (*body)(void))
{
	pid_t pid = fork();
	int how;

	CHECK(pid >= 0);
	if (pid == 0) {
		body();
		_exit(0);
	}
	CHECK(waitpid(pid, &how, 0) == pid);
	CHECK(WIFEXITED(how) && WEXITSTATUS(how) == 0);
}

static cutejit_context *shared;

static void
work_shared(void)
{
	work(shared);
}

/* Before any use, after some, and with the parent's own handles. */
static void
test_forks(void)
{
	in_child(work_alone);
	work_alone();
	in_child(work_alone);
	shared = test_context();
	work(shared);
	in_child(work_shared);
	work(shared);
	cutejit_context_destroy(shared);
}

/* ---- no threads ---------------------------------------------------------- */

static int
never(void *user)
{
	(void)user;
	return 0;
}

static void
test_no_threads(void)
{
	cutejit_options o = CUTEJIT_OPTIONS_INIT;
	cutejit_context *c;

	o.cache = CUTEJIT_CACHE_MEMORY;
	o.workers = 8;
	o.deadline_ms = 60000;
	o.cancel = never;
	no_threads = 1;
	CHECK(cutejit_context_create(&o, &c) == CUTEJIT_OK);
	work(c);
	cutejit_context_destroy(c);
	no_threads = 0;
}

/* ---- memory -------------------------------------------------------------- */

/* Resident bytes. */
static long
resident(void)
{
	long total, pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	CHECK(f != NULL);
	CHECK(fscanf(f, "%ld %ld", &total, &pages) == 2);
	fclose(f);
	return pages * sysconf(_SC_PAGESIZE);
}

/* Kernel number n: a text of its own. */
static void
compile(cutejit_context *c, int n)
{
	cutejit_compile_options o = CUTEJIT_COMPILE_OPTIONS_INIT;
	char text[400];
	cutejit_module *m;
	cutejit_kernel *k;

	snprintf(text, sizeof text,
	    "kernel k(y: tensor(f32, N:1))\n"
	    "{\n"
	    "    launch grid(ceil_div(N, 128)) block(128) {\n"
	    "        let i = block_idx.x * 128 + thread_idx.x;\n"
	    "        if i < N { y[i] = y[i] * %d.0; }\n"
	    "    }\n"
	    "}\n", n + 1);
	m = test_module(c, text);
	o.until = CUTEJIT_UNTIL_PTX;
	DO(c, cutejit_compile(m, "k", &o, &k));
	cutejit_kernel_destroy(k);
	cutejit_module_destroy(m);
}

enum { COMPILES = 1000, WARM = 100 };

/* 1,000 different kernels: no growth over the 100th by more than 1 %, give or
 * take what the allocator rounds to. */
static void
test_memory(void)
{
	cutejit_context *c = test_context();
	long at_warm = 0, at_end;
	int i;

	for (i = 0; i < COMPILES; i++) {
		compile(c, i);
		if (i + 1 == WARM)
			at_warm = resident();
	}
	at_end = resident();
	printf("resident after %d compiles %.2f MiB, after %d %.2f MiB\n",
	    WARM, (double)at_warm / (1 << 20), COMPILES,
	    (double)at_end / (1 << 20));
	CHECK(at_end - at_warm <= at_warm / 100 + (256 << 10));
	cutejit_context_destroy(c);
}

/* A launch whose arguments change without end does not grow either. */
static void
test_changes(void)
{
	cutejit_context *c = test_context();
	cutejit_module *m = test_module(c, saxpy_text);
	struct vector vx, vy;
	cutejit_argument args[3];
	cutejit_kernel *k;
	cutejit_launch *l;
	long before = 0;
	int i;

	args[0] = cutejit_arg_float("a", 2);
	args[1] = cutejit_arg_tensor("x", vector_set(&vx, x, 64,
	    CUTEJIT_DL_CPU));
	args[2] = cutejit_arg_tensor("y", vector_set(&vy, y, 64,
	    CUTEJIT_DL_CPU));
	DO(c, cutejit_compile(m, "saxpy", NULL, &k));
	DO(c, cutejit_prepare(k, args, 3, &l));
	for (i = 0; i < 20000; i++) {
		if (i == 2000)
			before = resident();
		vx.extent[0] = vy.extent[0] = 1 + i % 64;
		DO(c, cutejit_launch_set_all(l, args));
	}
	CHECK(resident() - before < 512 << 10);
	cutejit_launch_destroy(l);
	cutejit_kernel_destroy(k);
	cutejit_module_destroy(m);
	cutejit_context_destroy(c);
}

/* ---- loaded and unloaded ------------------------------------------------- */

/* In a process that is not linked with it: this one runs itself. */
static void
load_and_unload(const char *path)
{
	cutejit_status (*create)(const cutejit_options *, cutejit_context **);
	void (*destroy)(cutejit_context *);
	cutejit_status (*from_memory)(cutejit_context *, const char *,
	    const char *, size_t, cutejit_module **);
	void (*destroy_module)(cutejit_module *);
	cutejit_options o = CUTEJIT_OPTIONS_INIT;
	int i;

	o.cache = CUTEJIT_CACHE_MEMORY;
	for (i = 0; i < 30; i++) {
		void *library = dlmopen(i % 8 == 0 ? LM_ID_NEWLM : LM_ID_BASE,
		    path, RTLD_NOW | RTLD_LOCAL);
		cutejit_context *c;
		cutejit_module *m;

		CHECK(library != NULL);
		*(void **)&create = dlsym(library, "cutejit_context_create");
		*(void **)&destroy = dlsym(library,
		    "cutejit_context_destroy");
		*(void **)&from_memory = dlsym(library,
		    "cutejit_module_from_memory");
		*(void **)&destroy_module = dlsym(library,
		    "cutejit_module_destroy");
		CHECK(create(&o, &c) == CUTEJIT_OK);
		CHECK(from_memory(c, "s.cute", saxpy_text,
		    strlen(saxpy_text), &m) == CUTEJIT_OK);
		destroy_module(m);
		destroy(c);
		CHECK(dlclose(library) == 0);
	}
}

static void
test_loading(void)
{
	Dl_info info;

	CHECK(dladdr((void *)(size_t)cutejit_version, &info) != 0);
	load_and_unload(info.dli_fname);
}

int
main(void)
{
	setenv("CUTEJIT_LIBCUDA", "/nonexistent/libcuda.so.1", 1);
	test_forks();
	test_untouched();
	test_no_threads();
	/* sanitizers keep what was freed, and are loaded once */
	if (!IS_WATCHED) {
		test_changes();
		test_memory();
		test_loading();
	}
	work_alone();
	return 0;
}
