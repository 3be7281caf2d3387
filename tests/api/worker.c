/*
 * Code generated in a program of its own: this one, run as its own worker. It
 * gives the same PTX; when it crashes, answers nonsense or never ends, the call
 * fails and the host and its context go on.
 */
#include "test.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

static int
be_worker(void)
{
	const char *how = getenv("TEST_WORKER");

	if (how != NULL && strcmp(how, "crash") == 0)
		raise(SIGSEGV);
	if (how != NULL && strcmp(how, "hang") == 0)
		for (;;)
			pause();
	if (how != NULL && strcmp(how, "nonsense") == 0)
		return puts("ok 1 2 3") < 0;
	if (how != NULL && strcmp(how, "exit") == 0)
		return 9;
	return cutejit_worker();
}

static cutejit_context *
context(const char *worker, unsigned deadline_ms)
{
	cutejit_options o = CUTEJIT_OPTIONS_INIT;
	cutejit_context *c;

	o.cache = CUTEJIT_CACHE_MEMORY;
	o.worker = worker;
	o.deadline_ms = deadline_ms;
	CHECK(cutejit_context_create(&o, &c) == CUTEJIT_OK);
	return c;
}

static cutejit_status
compile(cutejit_module *m, cutejit_kernel **k)
{
	cutejit_compile_options o = CUTEJIT_COMPILE_OPTIONS_INIT;

	o.until = CUTEJIT_UNTIL_PTX;
	return cutejit_compile(m, "saxpy", &o, k);
}

/* The PTX, and LLVM's text, of one way. */
static void
texts(const char *worker, char **ptx, char **llvm)
{
	cutejit_context *c = context(worker, 0);
	cutejit_module *m = test_module(c, saxpy_text);
	cutejit_kernel *k;
	const void *text;

	DO(c, compile(m, &k));
	CHECK(strcmp(cutejit_kernel_entry(k, 0)->name, "saxpy") == 0);
	DO(c, cutejit_kernel_artifact(k, "ptx", &text, NULL));
	*ptx = strdup(text);
	DO(c, cutejit_kernel_artifact(k, "llvm", &text, NULL));
	*llvm = strdup(text);
	cutejit_kernel_destroy(k);
	cutejit_module_destroy(m);
	cutejit_context_destroy(c);
}

static void
test_same(const char *self)
{
	char *ptx[2], *llvm[2];
	int i;

	texts(NULL, &ptx[0], &llvm[0]);
	texts(self, &ptx[1], &llvm[1]);
	CHECK(strcmp(ptx[0], ptx[1]) == 0 && strlen(ptx[0]) > 100);
	/* its values may have other names */
	CHECK(strlen(llvm[0]) > 100
	    && strlen(llvm[0]) - strlen(llvm[1]) + 20 < 40);
	for (i = 0; i < 2; i++) {
		free(ptx[i]);
		free(llvm[i]);
	}
}

static void
test_bad(const char *self, const char *how)
{
	cutejit_context *c = context(self, 0);
	cutejit_module *m = test_module(c, saxpy_text);
	cutejit_kernel *k;

	setenv("TEST_WORKER", how, 1);
	REFUSED(c, CUTEJIT_INTERNAL, "internal", compile(m, &k));
	CHECK(k == NULL);
	unsetenv("TEST_WORKER");
	DO(c, compile(m, &k));
	cutejit_kernel_destroy(k);
	cutejit_module_destroy(m);
	cutejit_context_destroy(c);
}

static void
test_hang(const char *self)
{
	cutejit_context *c = context(self, 2000);
	cutejit_module *m = test_module(c, saxpy_text);
	cutejit_kernel *k;
	time_t start = time(NULL);

	setenv("TEST_WORKER", "hang", 1);
	REFUSED(c, CUTEJIT_LIMIT, "deadline", compile(m, &k));
	CHECK(time(NULL) - start < 30);
	unsetenv("TEST_WORKER");
	cutejit_module_destroy(m);
	cutejit_context_destroy(c);
}

int
main(int argc, char **argv)
{
	char self[4096], folder[] = "/tmp/cutejit-worker-XXXXXX";
	char command[64], *ptx, *llvm;
	ssize_t n;

	if (argc > 1 && strcmp(argv[1], "worker") == 0)
		return be_worker();
	n = readlink("/proc/self/exe", self, sizeof self - 1);
	CHECK(n > 0);
	self[n] = '\0';
	CHECK(mkdtemp(folder) != NULL);
	setenv("CUTEJIT_REPRO", folder, 1);
	setenv("CUTEJIT_LIBCUDA", "/nonexistent/libcuda.so.1", 1);
	test_same(self);
	test_bad(self, "crash");
	test_bad(self, "nonsense");
	test_bad(self, "exit");
	test_hang(self);
	/* one that is not there is done without */
	texts("/nonexistent/worker", &ptx, &llvm);
	free(ptx);
	free(llvm);
	snprintf(command, sizeof command, "rm -rf %s", folder);
	return system(command) != 0;
}
