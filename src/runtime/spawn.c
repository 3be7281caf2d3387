/*
 * Programs that we run. They are waited for by their own id, so that a host
 * which waits for its children, or ignores their end, is not disturbed.
 */
#include "spawn.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"

extern char **environ;

/* How long other processes may hold what they close when they begin. */
enum { END_MS = 20 };

enum { IN, OUT, ERR, FILES };

/* How a program ended whose host ignores its children: it has done its work if
 * it wrote something. No program ends like this. */
enum { UNSEEN = -1 };

struct cj_child {
	int fd[FILES];		/* its standard files; -1: not open */
	int feed;		/* the end of a pipe into fd[IN]; or -1 */
	pid_t pid;		/* 0: it does not run */
};

static void
close_end(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void
cj_child_drop(void *child)
{
	struct cj_child *c = child;
	int i, how;

	if (c->pid != 0) {
		kill(c->pid, SIGKILL);
		waitpid(c->pid, &how, 0);
	}
	c->pid = 0;
	close_end(&c->feed);
	for (i = 0; i < FILES; i++)
		close_end(&c->fd[i]);
}

static struct cj_child *
create(struct cj_work *f)
{
	struct cj_child *c = CJ_NEW(&f->arena, struct cj_child);

	c->fd[IN] = c->fd[OUT] = c->fd[ERR] = c->feed = -1;
	return c;
}

static bool
open_memory(struct cj_child *c, int i)
{
	c->fd[i] = memfd_create("cutejit", MFD_CLOEXEC);
	return c->fd[i] >= 0;
}

static bool
open_files(struct cj_child *c, const char *in, size_t length)
{
	return open_memory(c, IN) && open_memory(c, OUT) && open_memory(c, ERR)
	    && cj_write_all(c->fd[IN], in, length)
	    && lseek(c->fd[IN], 0, SEEK_SET) == 0;
}

/* Both ends are ours while it is written: no write raises SIGPIPE. */
static bool
open_pipe(struct cj_child *c)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0)
		return false;
	c->fd[IN] = ends[0];
	c->feed = ends[1];
	return fcntl(c->feed, F_SETFL, O_NONBLOCK) == 0
	    && open_memory(c, OUT) && open_memory(c, ERR);
}

static const char *
contents(struct cj_arena *a, int fd, size_t *length)
{
	struct stat st;
	char *bytes;
	size_t got = 0;

	*length = 0;
	if (fstat(fd, &st) != 0 || lseek(fd, 0, SEEK_SET) != 0)
		return "";
	bytes = cj_alloc(a, (size_t)st.st_size + 1);
	while (got < (size_t)st.st_size) {
		ssize_t n = read(fd, bytes + got, (size_t)st.st_size - got);

		if (n <= 0)
			break;
		got += (size_t)n;
	}
	*length = got;
	return bytes;
}

/*
 * Ours, and for a heap of glibc large pages that are kept and hold large blocks
 * too, unless somebody has said what that shall do: a tenth of ptxas's time
 * goes into first looks at small pages.
 */
static char **
environment(struct cj_arena *a)
{
	static const char tuned[] = "GLIBC_TUNABLES=glibc.malloc.hugetlb=1:"
	    "glibc.malloc.top_pad=67108864:"
	    "glibc.malloc.mmap_threshold=33554432:"
	    "glibc.malloc.trim_threshold=1073741824";
	size_t n = 0;
	char **list;

	if (cj_env("GLIBC_TUNABLES") != NULL)
		return environ;
	while (environ[n] != NULL)
		n++;
	list = CJ_NEWS(a, char *, n + 2);
	memcpy(list, environ, n * sizeof *list);
	list[n] = cj_strdup(a, tuned);
	return list;
}

/* The program begins with default signals and nothing blocked. */
static int
start(struct cj_child *c, const char *const *argv, char **with)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none, all;
	pid_t pid;
	int i, rc;

	sigemptyset(&none);
	sigfillset(&all);
	sigdelset(&all, SIGKILL);
	sigdelset(&all, SIGSTOP);
	posix_spawn_file_actions_init(&actions);
	for (i = 0; i < FILES; i++)
		posix_spawn_file_actions_adddup2(&actions, c->fd[i], i);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &all);
	posix_spawnattr_setflags(&attributes,
	    POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	rc = posix_spawn(&pid, argv[0], &actions, &attributes,
	    (char *const *)argv, with);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	c->pid = rc == 0 ? pid : 0;
	return rc;
}

static void
nap(int64_t ns)
{
	struct timespec t = { 0, (long)ns };

	nanosleep(&t, NULL);
}

/* Wait until the program has ended or time is over; true: it has ended. */
static bool
await_end(struct cj_work *f, pid_t pid, int *how)
{
	int64_t step = 100000;

	for (;;) {
		pid_t got = waitpid(pid, how, WNOHANG);

		if (got == pid)
			return true;
		if (got < 0 && errno != EINTR) {
			*how = UNSEEN;
			return true;
		}
		if (cj_is_late(f))
			return false;
		nap(step);
		step = step < 2000000 ? step + step / 4 : step;
	}
}

enum cj_spawn_status
cj_child_end(struct cj_work *f, struct cj_child *c, struct cj_spawned *out)
{
	int how = UNSEEN;

	memset(out, 0, sizeof *out);
	out->out = out->err = "";
	if (f->deadline == 0 && f->context->options.cancel == NULL) {
		while (waitpid(c->pid, &how, 0) < 0)
			if (errno != EINTR)
				break;
	} else if (!await_end(f, c->pid, &how)) {
		return CJ_SPAWN_LATE;
	}
	c->pid = 0;
	out->out = contents(&f->arena, c->fd[OUT], &out->out_length);
	out->err = contents(&f->arena, c->fd[ERR], &out->err_length);
	if (how == UNSEEN)
		return out->out_length != 0 ? CJ_SPAWN_OK : CJ_SPAWN_FAILED;
	out->signal = WIFSIGNALED(how) ? WTERMSIG(how) : 0;
	out->code = WIFEXITED(how) ? WEXITSTATUS(how) : 0;
	return WIFEXITED(how) && out->code == 0 ? CJ_SPAWN_OK
	    : CJ_SPAWN_FAILED;
}

enum cj_spawn_status
cj_spawn(struct cj_work *f, const char *const *argv, const char *in,
    size_t in_length, struct cj_spawned *out)
{
	char **with = environment(&f->arena);
	struct cj_child *c = create(f);
	enum cj_spawn_status status = CJ_SPAWN_NOT;
	int rc;

	memset(out, 0, sizeof *out);
	out->out = out->err = "";
	cj_defer(f, cj_child_drop, c);
	rc = open_files(c, in, in_length) ? start(c, argv, with) : errno;
	if (rc == 0)
		status = cj_child_end(f, c, out);
	else
		out->err = cj_strdup(&f->arena, strerror(rc));
	cj_undefer(f);
	cj_child_drop(c);
	return status;
}

/* ---- begun before there is input ----------------------------------------- */

struct cj_child *
cj_child_begin(struct cj_work *f, const char *const *argv)
{
	char **with = environment(&f->arena);
	struct cj_child *c = create(f);

	if (open_pipe(c) && start(c, argv, with) == 0)
		return c;
	cj_child_drop(c);
	return NULL;
}

/* All of it fits into the pipe, or nothing is begun. */
static bool
fill(int fd, const char *in, size_t length)
{
	return length <= INT_MAX
	    && (length <= PIPE_BUF
	    || fcntl(fd, F_SETPIPE_SZ, (int)length) >= (int)length)
	    && write(fd, in, length) == (ssize_t)length;
}

/*
 * A process that the host has forked meanwhile may hold the end of the pipe,
 * and the program would wait for the end of that one.
 */
static bool
has_end(int fd)
{
	struct pollfd p = { .fd = fd };

	return poll(&p, 1, END_MS) == 1 && (p.revents & POLLHUP) != 0;
}

bool
cj_child_feed(struct cj_child *c, const char *in, size_t length)
{
	bool done = fill(c->feed, in, length);

	close_end(&c->feed);
	done = done && has_end(c->fd[IN]);
	if (!done)
		cj_child_drop(c);
	return done;
}

/* ---- where programs lie -------------------------------------------------- */

const char *const *
cj_cuda_folders(struct cj_arena *a)
{
	static const char *const names[] = { "CUDA_HOME", "CUDA_PATH" };
	const char **list = CJ_NEWS(a, const char *, CJ_LENGTH(names) + 2);
	size_t i, n = 0;

	for (i = 0; i < CJ_LENGTH(names); i++)
		if (cj_env(names[i]) != NULL)
			list[n++] = cj_strdup(a, cj_env(names[i]));
	list[n++] = "/usr/local/cuda";
	return list;
}

void *
cj_cuda_library(struct cj_arena *a, const char *const *names)
{
	static const char *const parts[] = { "lib64", "lib" };
	const char *const *folder, *const *n;
	void *library;
	size_t i;

	for (n = names; *n != NULL; n++) {
		library = dlopen(*n, RTLD_NOW | RTLD_LOCAL);
		if (library != NULL)
			return library;
	}
	for (folder = cj_cuda_folders(a); *folder != NULL; folder++)
		for (n = names; *n != NULL; n++)
			for (i = 0; i < CJ_LENGTH(parts); i++) {
				library = dlopen(cj_printf(a, "%s/%s/%s",
				    *folder, parts[i], *n),
				    RTLD_NOW | RTLD_LOCAL);
				if (library != NULL)
					return library;
			}
	return NULL;
}

static const char *
usable(struct cj_arena *a, const char *folder, size_t length,
    const char *name)
{
	char *path = cj_printf(a, "%.*s/%s", (int)length, folder, name);

	return cj_is_program(path) ? path : NULL;
}

static const char *
find_in_path(struct cj_arena *a, const char *name)
{
	const char *p = cj_env("PATH"), *end, *found;

	for (; p != NULL && *p != '\0'; p = *end == ':' ? end + 1 : end) {
		end = strchrnul(p, ':');
		if (*p != '/')
			continue;
		found = usable(a, p, (size_t)(end - p), name);
		if (found != NULL)
			return found;
	}
	return NULL;
}

const char *
cj_find_program(struct cj_arena *a, const char *variable, const char *name)
{
	const char *named = variable != NULL ? cj_env(variable) : NULL;
	const char *const *folder;
	const char *found;

	if (named != NULL)
		return cj_is_program(named) ? cj_strdup(a, named) : NULL;
	found = find_in_path(a, name);
	for (folder = cj_cuda_folders(a); found == NULL && *folder != NULL;
	    folder++) {
		const char *bin = cj_printf(a, "%s/bin", *folder);

		found = usable(a, bin, strlen(bin), name);
	}
	return found;
}
