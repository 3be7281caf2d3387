/*
 * Programs that we run. They are waited for by their own id, so that a host
 * which waits for its children, or ignores their end, is not disturbed.
 */
#include "spawn.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
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

enum { IN, OUT, ERR, FILES };

struct files {
	int fd[FILES];
};

static void
close_files(void *object)
{
	struct files *s = object;
	int i;

	for (i = 0; i < FILES; i++)
		if (s->fd[i] >= 0)
			close(s->fd[i]);
}

static bool
open_files(struct files *s, const char *in, size_t length)
{
	bool done = true;
	int i;

	for (i = 0; i < FILES && done; i++) {
		s->fd[i] = memfd_create("cutejit", MFD_CLOEXEC);
		done = s->fd[i] >= 0;
	}
	return done && cj_write_all(s->fd[IN], in, length)
	    && lseek(s->fd[IN], 0, SEEK_SET) == 0;
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

/* The program begins with default signals and nothing blocked. */
static int
start(pid_t *pid, const char *const *argv, const struct files *s)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none, all;
	int i, rc;

	sigemptyset(&none);
	sigfillset(&all);
	sigdelset(&all, SIGKILL);
	sigdelset(&all, SIGSTOP);
	posix_spawn_file_actions_init(&actions);
	for (i = 0; i < FILES; i++)
		posix_spawn_file_actions_adddup2(&actions, s->fd[i], i);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &all);
	posix_spawnattr_setflags(&attributes,
	    POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	rc = posix_spawn(pid, argv[0], &actions, &attributes,
	    (char *const *)argv, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
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
			/* the host ignores its children: its end is all */
			*how = 0;
			return kill(pid, 0) != 0;
		}
		if (cj_is_late(f))
			return false;
		nap(step);
		step = step < 2000000 ? step + step / 4 : step;
	}
}

static enum cj_spawn_status
run(struct cj_work *f, const char *const *argv, const struct files *s,
    struct cj_spawned *out)
{
	pid_t pid;
	int how = 0, rc = start(&pid, argv, s);

	if (rc != 0) {
		out->err = cj_strdup(&f->arena, strerror(rc));
		return CJ_SPAWN_NOT;
	}
	if (f->deadline == 0 && f->context->options.cancel == NULL) {
		while (waitpid(pid, &how, 0) < 0)
			if (errno != EINTR)
				break;
	} else if (!await_end(f, pid, &how)) {
		kill(pid, SIGKILL);
		waitpid(pid, &how, 0);
		return CJ_SPAWN_LATE;
	}
	out->signal = WIFSIGNALED(how) ? WTERMSIG(how) : 0;
	out->code = WIFEXITED(how) ? WEXITSTATUS(how) : 0;
	return WIFEXITED(how) && out->code == 0 ? CJ_SPAWN_OK
	    : CJ_SPAWN_FAILED;
}

enum cj_spawn_status
cj_spawn(struct cj_work *f, const char *const *argv, const char *in,
    size_t in_length, struct cj_spawned *out)
{
	struct files *s = CJ_NEW(&f->arena, struct files);
	enum cj_spawn_status status = CJ_SPAWN_NOT;

	memset(out, 0, sizeof *out);
	out->out = out->err = "";
	s->fd[IN] = s->fd[OUT] = s->fd[ERR] = -1;
	cj_defer(f, close_files, s);
	if (open_files(s, in, in_length))
		status = run(f, argv, s, out);
	else
		out->err = cj_strdup(&f->arena, strerror(errno));
	if (status != CJ_SPAWN_NOT) {
		out->out = contents(&f->arena, s->fd[OUT], &out->out_length);
		out->err = contents(&f->arena, s->fd[ERR], &out->err_length);
	}
	cj_undefer(f);
	close_files(s);
	return status;
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
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode)
	    && access(path, X_OK) == 0 ? path : NULL;
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
		return access(named, X_OK) == 0 ? cj_strdup(a, named) : NULL;
	found = find_in_path(a, name);
	for (folder = cj_cuda_folders(a); found == NULL && *folder != NULL;
	    folder++) {
		const char *bin = cj_printf(a, "%s/bin", *folder);

		found = usable(a, bin, strlen(bin), name);
	}
	return found;
}
