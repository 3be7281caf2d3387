/*
 * From a text to PTX inside the library, in a process that has compiled
 * nothing yet: open a context, read the module, compile the kernel.
 *
 *	bench_compile FILE KERNEL [TARGET [RUNS [NAME=VALUE]...]]
 *
 * Each run is a process of its own, forked before the library was used, with
 * the cache off. Prints medians and spread in ms of wall time, and the
 * same for a second compile in the same process, for another target.
 */
#include <cutejit.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench_time.h"

enum { OPEN, MODULE, LOAD, FIRST, AGAIN, STEPS, MOST = 1000, CONSTANTS = 16 };

/* LLVM is loaded where it is a library of its own. */
static const char *const names[STEPS + 1] = { "create a context",
    "module: read, parse, resolve", "load LLVM", "first kernel to PTX",
    "the same for another target", "text to PTX (module + first)" };

static void
need(cutejit_context *context, cutejit_status status)
{
	if (status == CUTEJIT_OK)
		return;
	fputs(cutejit_report_text(cutejit_context_report(context), 0),
	    stderr);
	_exit(1);
}

/* Compile-time arguments, of the command line. */
static cutejit_constant constants[CONSTANTS];
static size_t constant_count;

/* KERNEL may be gemm[1]. */
static unsigned
member_of(const char *kernel)
{
	const char *bracket = strchr(kernel, '[');

	return bracket == NULL ? 0 : (unsigned)atoi(bracket + 1);
}

/* The time that it took to load LLVM, now or before. */
static double
load_ms(const cutejit_kernel *kernel)
{
	const cutejit_phase *p;
	size_t i;

	for (i = 0; (p = cutejit_kernel_phase(kernel, i)) != NULL; i++)
		if (strcmp(p->name, "load LLVM") == 0)
			return p->ms;
	return 0;
}

/* Without what it took to load LLVM, which goes to *load. */
static double
compile(cutejit_context *context, cutejit_module *module, const char *kernel,
    const char *target, double *load)
{
	cutejit_compile_options o = CUTEJIT_COMPILE_OPTIONS_INIT;
	cutejit_kernel *out;
	char name[64];
	double begin = now_ms();

	o.constants = constants;
	o.constant_count = constant_count;
	o.target = target;
	o.until = CUTEJIT_UNTIL_PTX;
	o.member = 1 + member_of(kernel);
	snprintf(name, sizeof name, "%.*s", (int)strcspn(kernel, "["), kernel);
	need(context, cutejit_compile(module, name, &o, &out));
	begin = now_ms() - begin;
	*load = load_ms(out);
	cutejit_kernel_destroy(out);
	return begin - *load;
}

/* What a forked process does. */
static void
measure(char **argv, const char *target, double *ms)
{
	const char *other = strcmp(target, "sm_80") == 0 ? "sm_90" : "sm_80";
	cutejit_options o = CUTEJIT_OPTIONS_INIT;
	cutejit_context *context;
	cutejit_module *module;
	double begin = now_ms(), none;

	o.cache = CUTEJIT_CACHE_OFF;
	if (cutejit_context_create(&o, &context) != CUTEJIT_OK)
		_exit(1);
	ms[OPEN] = now_ms() - begin;
	begin = now_ms();
	need(context, cutejit_module_from_file(context, argv[1], &module));
	ms[MODULE] = now_ms() - begin;
	ms[FIRST] = compile(context, module, argv[2], target, &ms[LOAD]);
	ms[AGAIN] = compile(context, module, argv[2], other, &none);
}

static void
show(const char *name, double *ms, int n)
{
	sort_times(ms, (size_t)n);
	printf("%-32s median %6.2f   least %6.2f   most %6.2f ms\n", name,
	    ms[n / 2], ms[0], ms[n - 1]);
}

static void
take_constants(int argc, char **argv)
{
	int i;

	for (i = 5; i < argc && constant_count < CONSTANTS; i++) {
		char *value = strchr(argv[i], '=');

		if (value == NULL)
			continue;
		*value = '\0';
		constants[constant_count].name = argv[i];
		constants[constant_count++].text = value + 1;
	}
}

int
main(int argc, char **argv)
{
	static double all[STEPS + 1][MOST];
	const char *target = argc > 3 ? argv[3] : "sm_90a";
	int n = argc > 4 ? atoi(argv[4]) : 50, i, k, status, pipes[2];
	double ms[STEPS];

	take_constants(argc, argv);
	if (argc < 3 || n < 1 || n > MOST || pipe(pipes) != 0) {
		fprintf(stderr,
		    "usage: bench_compile FILE KERNEL "
		    "[TARGET [RUNS [NAME=VALUE]...]]\n");
		return 2;
	}
	for (i = 0; i < n; i++) {
		pid_t child = fork();

		if (child == 0) {
			measure(argv, target, ms);
			_exit(write(pipes[1], ms, sizeof ms) != sizeof ms);
		}
		if (child < 0 || waitpid(child, &status, 0) != child ||
		    status != 0 || read(pipes[0], ms, sizeof ms) != sizeof ms)
			return 1;
		for (k = 0; k < STEPS; k++)
			all[k][i] = ms[k];
		all[STEPS][i] = ms[MODULE] + ms[FIRST];
	}
	for (k = 0; k <= STEPS; k++)
		show(names[k], all[k], n);
	return 0;
}
