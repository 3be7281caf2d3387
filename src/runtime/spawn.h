/*
 * Programs that we run: input from memory, output to memory, under a deadline.
 */
#ifndef CJ_SPAWN_H
#define CJ_SPAWN_H

#include "runtime.h"

enum cj_spawn_status {
	CJ_SPAWN_OK,		/* it ended with exit code 0 */
	CJ_SPAWN_FAILED,	/* another exit code, or a signal */
	CJ_SPAWN_LATE,		/* it was stopped at the deadline */
	CJ_SPAWN_NOT		/* it could not be started */
};

struct cj_spawned {
	const char *out, *err;	/* terminated, on the work's arena; err says
				   why it could not be started */
	size_t out_length, err_length;
	int signal;		/* that ended it; 0: none */
	int code;		/* with which it ended by itself */
};

/*
 * Run `argv` (argv[0] is a path) with `in` as its standard input. Files lie in
 * memory, so neither a full disk, a pipe that nobody reads nor SIGPIPE can get
 * in the way. Signals of the host are left as they are.
 */
enum cj_spawn_status cj_spawn(struct cj_work *f, const char *const *argv,
    const char *in, size_t in_length, struct cj_spawned *out);

/*
 * A program that is begun before there is what it reads, so that it has started
 * when there is. Whoever begins one gives cj_child_drop to cj_defer, which
 * stops it if it runs. NULL: it cannot be begun.
 */
struct cj_child *cj_child_begin(struct cj_work *f, const char *const *argv);
/* All of its input, once. False: it cannot have it, and is stopped. */
bool cj_child_feed(struct cj_child *c, const char *in, size_t length);
/* Wait for its end; when it is LATE, it runs on. */
enum cj_spawn_status cj_child_end(struct cj_work *f, struct cj_child *c,
    struct cj_spawned *out);
void cj_child_drop(void *child);

/* Path of a program: in the environment variable `variable` if that is set,
 * else in PATH and the folders of the CUDA toolkit. NULL: there is none. */
const char *cj_find_program(struct cj_arena *a, const char *variable,
    const char *name);
/* Folders of CUDA toolkits, NULL at the end. */
const char *const *cj_cuda_folders(struct cj_arena *a);
/* A library of the toolkit by one of its names, as the loader finds it or in
 * those folders; NULL: there is none. */
void *cj_cuda_library(struct cj_arena *a, const char *const *names);

#endif
