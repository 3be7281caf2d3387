/*
 * Work in a child process: whatever the compiler does with a text, the server
 * goes on. A child that takes too long, or whose answer is no longer wanted
 * because a message has come, is killed; one that dies is reported.
 *
 * The server has one thread when it forks, and the child leaves by _exit.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lsp.h"

static int
write_bytes(const char *bytes, size_t length, void *to)
{
	const int *fd = to;

	while (length != 0) {
		ssize_t n = write(*fd, bytes, length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		bytes += n;
		length -= (size_t)n;
	}
	return 0;
}

/* The child. The client's messages are not for it. */
static _Noreturn void
work(struct server *s, child_fn *fn, void *argument, int out)
{
	int none = open("/dev/null", O_RDONLY);
	json_t *result;

	if (none >= 0)
		dup2(none, STDIN_FILENO);
	if (CJ_RECOVER(&s->recover))
		_exit(CUTEJIT_INTERNAL);
	result = fn(argument);
	_exit(json_dump_callback(result, write_bytes, &out, JSON_COMPACT) == 0
	    ? 0 : CUTEJIT_INTERNAL);
}

static long long
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (long long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* What the parent collects. */
struct answer {
	char *bytes;
	size_t length, room;
};

/* false: that was all. */
static bool
read_some(struct answer *a, int in)
{
	ssize_t n;
	char *more;

	if (a->room - a->length < 4096) {
		more = realloc(a->bytes, a->room * 2 + 65536);
		if (more == NULL)
			return false;
		a->bytes = more;
		a->room = a->room * 2 + 65536;
	}
	do
		n = read(in, a->bytes + a->length, a->room - a->length);
	while (n < 0 && errno == EINTR);
	if (n > 0)
		a->length += (size_t)n;
	return n > 0;
}

/* Collect the answer until it ends, or nobody waits for it any longer. */
static enum child_end
collect(const struct server *s, struct answer *a, int in, bool yields,
    int limit_ms)
{
	long long end = now_ms() + limit_ms, left;
	struct pollfd p[2] = { { .fd = in, .events = POLLIN },
	    { .fd = yields ? s->wire.in : -1, .events = POLLIN } };

	while ((left = end - now_ms()) > 0) {
		if (poll(p, 2, (int)left) <= 0)
			continue;
		if (p[1].revents != 0)
			return CHILD_UNWANTED;
		if (p[0].revents != 0 && !read_some(a, in))
			return CHILD_DONE;
	}
	return CHILD_LATE;
}

json_t *
child_run(struct server *s, child_fn *fn, void *argument, bool yields,
    int limit_ms, enum child_end *end)
{
	struct answer a = { NULL, 0, 0 };
	json_t *result = NULL;
	int fd[2], status = 0;
	pid_t pid;

	*end = CHILD_DIED;
	if (pipe(fd) != 0)
		return NULL;
	pid = fork();
	if (pid == 0) {
		close(fd[0]);
		work(s, fn, argument, fd[1]);
	}
	close(fd[1]);
	if (pid > 0) {
		*end = collect(s, &a, fd[0], yields, limit_ms);
		if (*end != CHILD_DONE)
			kill(pid, SIGKILL);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			continue;
	}
	close(fd[0]);
	if (*end == CHILD_DONE && status == 0)
		result = json_loadb(a.bytes, a.length, JSON_ALLOW_NUL |
		    JSON_DECODE_ANY, NULL);
	if (*end == CHILD_DONE && result == NULL)
		*end = CHILD_DIED;
	free(a.bytes);
	return result;
}
