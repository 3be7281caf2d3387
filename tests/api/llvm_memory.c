/*
 * Memory ends while LLVM works: at one allocation in turn, of malloc and of
 * operator new. The call says so; the host goes on, with its own handler of
 * operator new, and uses all of the library that needs no LLVM.
 */
#include "test.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define TAKEN
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TAKEN
#endif
#endif

#if !defined __GLIBC__ || defined TAKEN

int
main(void)
{
	return 77;	/* malloc is not ours to replace */
}

#else

/* ---- an allocator that fails once ---------------------------------------- */

#include "failing_malloc.h"

static bool is_armed;
static long calls, failing = -1;

static bool
fails(void)
{
	return is_armed && calls++ == failing;
}

/* ---- the host's handler of operator new ---------------------------------- */

typedef void (*handler)(void);
static handler (*set_new_handler)(handler), (*get_new_handler)(void);

static void
hosts(void)
{
	abort();		/* nothing of the host's lacks memory */
}

static void
find(void *library, const char *name, void *slot)
{
	*(void **)slot = dlsym(library, name);
	CHECK(*(void **)slot != NULL);
}

/* LLVM's libstdc++ may be within the library: then the host's is another. */
static void
set_hosts(void)
{
	void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_NOLOAD);

	if (library == NULL)
		return;
	find(library, "_ZSt15set_new_handlerPFvvE", &set_new_handler);
	find(library, "_ZSt15get_new_handlerv", &get_new_handler);
	set_new_handler(hosts);
}

/* -------------------------------------------------------------------------- */

static cutejit_context *c;
static cutejit_module *m;

static cutejit_status
compile(cutejit_until until)
{
	cutejit_compile_options o = CUTEJIT_COMPILE_OPTIONS_INIT;
	cutejit_kernel *k;
	cutejit_status status;

	o.until = until;
	o.target = "sm_90a";
	status = cutejit_compile(m, "saxpy", &o, &k);
	cutejit_kernel_destroy(k);
	return status;
}

static void
check_short(cutejit_status status)
{
	const cutejit_report *r = cutejit_context_report(c);

	CHECK(status == CUTEJIT_LIMIT && cutejit_report_count(r) == 1);
	CHECK(strcmp(cutejit_report_at(r, 0)->code, "memory") == 0);
}

/* How a child ends. */
enum { WENT_WELL, WAS_SHORT, LOST_LLVM };

static int
fail_at(long i)
{
	cutejit_status status;
	int how = WENT_WELL;

	alarm(60);
	failing = i;
	calls = 0;
	is_armed = true;
	status = compile(CUTEJIT_UNTIL_PTX);
	is_armed = false;
	if (status != CUTEJIT_OK) {
		check_short(status);
		how = WAS_SHORT;
		status = compile(CUTEJIT_UNTIL_PTX);
	}
	if (status != CUTEJIT_OK) {
		check_short(status);
		how = LOST_LLVM;
	}
	CHECK(compile(CUTEJIT_UNTIL_IR) == CUTEJIT_OK);
	CHECK(get_new_handler == NULL || get_new_handler() == hosts);
	cutejit_module_destroy(m);
	cutejit_context_destroy(c);
	return how;
}

static int
in_child(long i)
{
	int status;
	pid_t child;

	child = fork();
	CHECK(child >= 0);
	if (child == 0)
		exit(10 + fail_at(i));
	CHECK(waitpid(child, &status, 0) == child);
	if (!WIFEXITED(status) || WEXITSTATUS(status) < 10) {
		fprintf(stderr, "allocation %ld: %s %d\n", i, WIFEXITED(status)
		    ? "status" : "signal", WIFEXITED(status)
		    ? WEXITSTATUS(status) : WTERMSIG(status));
		exit(1);
	}
	return WEXITSTATUS(status) - 10;
}

int
main(void)
{
	cutejit_options o = CUTEJIT_OPTIONS_INIT;
	int ends[3] = { 0 };
	long count, i, step;

	o.cache = CUTEJIT_CACHE_OFF;
	CHECK(cutejit_context_create(&o, &c) == CUTEJIT_OK);
	m = test_module(c, saxpy_text);
	DO(c, compile(CUTEJIT_UNTIL_PTX));	/* LLVM is there, and at work */
	set_hosts();
	is_armed = true;
	DO(c, compile(CUTEJIT_UNTIL_PTX));
	is_armed = false;
	count = calls;
	CHECK(count > 500);
	for (i = 0; i < count; i += step) {
		/* the ends are where the library itself allocates */
		step = i < 30 || i > count - 30 ? 1 : count / 40;
		ends[in_child(i)]++;
	}
	CHECK(ends[WAS_SHORT] > 5 && ends[LOST_LLVM] > 20);
	return 0;
}

#endif
