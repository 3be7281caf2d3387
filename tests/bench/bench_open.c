/*
 * What opening the library costs a process: dlopen() and a first context, each
 * time in a child that has not had it.
 *
 *	bench_open libcutejit.so.0 [ROUNDS]
 *
 *	cc bench_open.c -o bench_open -ldl
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench_time.h"

/* Milliseconds of the opening, and of the context. */
static void
open_once(const char *path, double ms[2])
{
	int (*create)(const void *options, void **out);
	double start = now_ms();
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL), *context;

	if (library == NULL) {
		fprintf(stderr, "bench_open: %s\n", dlerror());
		exit(3);
	}
	ms[0] = now_ms() - start;
	*(void **)&create = dlsym(library, "cutejit_context_create");
	start = now_ms();
	if (create == NULL || create(NULL, &context) != 0)
		exit(3);
	ms[1] = now_ms() - start;
}

static void
in_child(const char *path, double ms[2])
{
	int ends[2], how;
	pid_t pid;

	if (pipe(ends) != 0)
		exit(3);
	pid = fork();
	if (pid == 0) {
		open_once(path, ms);
		_exit(write(ends[1], ms, 2 * sizeof *ms)
		    != 2 * (ssize_t)sizeof *ms);
	}
	if (pid < 0 || read(ends[0], ms, 2 * sizeof *ms)
	    != 2 * (ssize_t)sizeof *ms || waitpid(pid, &how, 0) != pid)
		exit(3);
	close(ends[0]);
	close(ends[1]);
}

static void
report(const char *what, double *v, int n)
{
	sort_times(v, (size_t)n);
	printf("%-20s median %7.3f ms   p5 %7.3f   p95 %7.3f\n", what,
	    v[n / 2], v[n / 20], v[n - 1 - n / 20]);
}

int
main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 100, i;
	double *all = calloc(3 * (size_t)(rounds > 0 ? rounds : 0),
	    sizeof *all), ms[2];

	if (argc < 2 || rounds < 20 || all == NULL) {
		fprintf(stderr, "usage: bench_open LIBRARY [ROUNDS >= 20]\n");
		return 2;
	}
	for (i = 0; i < rounds; i++) {
		in_child(argv[1], ms);
		all[i] = ms[0];
		all[rounds + i] = ms[1];
		all[2 * rounds + i] = ms[0] + ms[1];
	}
	report("dlopen", all, rounds);
	report("first context", all + rounds, rounds);
	report("both", all + 2 * rounds, rounds);
	free(all);
	return 0;
}
