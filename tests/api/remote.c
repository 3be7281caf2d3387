/*
 * The cache that machines share: against a server in this process that answers
 * as told (right, not at all, slowly, with rubbish), and against real nginx and
 * redis-server where they are installed. Whatever a server does, the compile
 * goes well; an entry is believed only if every byte of it is right.
 */
#include "test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- a server of one entry ----------------------------------------------- */

enum how { RIGHT, ABSENT, ERROR, SILENT, CLOSED, SHORT, RUBBISH, FLIPPED,
    OTHER_KEY, ENDLESS };
static struct {
	int listener, port;
	enum how how;
	char *body;
	size_t length;
	unsigned gets, puts;
} server;

static void
answer(int fd, const char *status, const char *body, size_t length,
    size_t said)
{
	char head[256];
	int n = snprintf(head, sizeof head, "HTTP/1.1 %s\r\n"
	    "Content-Length: %zu\r\nConnection: close\r\n\r\n", status, said);

	if (send(fd, head, (size_t)n, MSG_NOSIGNAL) == n && length != 0)
		send(fd, body, length, MSG_NOSIGNAL);
}

static void
answer_get(int fd)
{
	static char rubbish[100000];
	char *copy;
	int i;

	server.gets++;
	switch (server.how) {
	case RIGHT:
	case OTHER_KEY:
		if (server.body != NULL)
			answer(fd, "200 OK", server.body, server.length,
			    server.length);
		else
			answer(fd, "404 Not Found", "", 0, 0);
		break;
	case ABSENT:
		answer(fd, "404 Not Found", "no", 2, 2);
		break;
	case ERROR:
		answer(fd, "500 Internal Server Error", "no", 2, 2);
		break;
	case SILENT:
		usleep(1200 * 1000);
		break;
	case CLOSED:
		break;
	case SHORT:
		answer(fd, "200 OK", server.body, server.length / 2,
		    server.length);
		break;
	case RUBBISH:
		answer(fd, "200 OK", rubbish, sizeof rubbish,
		    sizeof rubbish);
		break;
	case FLIPPED:
		copy = malloc(server.length);
		memcpy(copy, server.body, server.length);
		copy[server.length * 3 / 4] ^= 1;
		answer(fd, "200 OK", copy, server.length, server.length);
		free(copy);
		break;
	case ENDLESS:
		answer(fd, "200 OK", rubbish, sizeof rubbish, SIZE_MAX / 4);
		for (i = 0; i < 20; i++) {
			usleep(100 * 1000);
			send(fd, rubbish, 100, MSG_NOSIGNAL);
		}
		break;
	}
}

static void
answer_put(int fd, const char *have, size_t n, size_t length)
{
	free(server.body);
	server.body = malloc(length + 1);
	memcpy(server.body, have, n);
	while (n < length) {
		ssize_t more = recv(fd, server.body + n, length - n, 0);

		if (more <= 0)
			break;
		n += (size_t)more;
	}
	server.length = n;
	server.puts++;
	answer(fd, "201 Created", "", 0, 0);
}

static void
serve_one(int fd)
{
	char head[1 << 14];
	size_t n = 0, length = 0;
	char *end = NULL, *at;

	while (end == NULL && n < sizeof head - 1) {
		ssize_t more = recv(fd, head + n, sizeof head - 1 - n, 0);

		if (more <= 0)
			return;
		n += (size_t)more;
		head[n] = '\0';
		end = strstr(head, "\r\n\r\n");
	}
	if (end == NULL)
		return;
	end += 4;
	if (strncmp(head, "PUT ", 4) != 0) {
		answer_get(fd);
		return;
	}
	at = strstr(head, "Content-Length:");
	length = at != NULL ? (size_t)atol(at + 15) : 0;
	if (strstr(head, "100-continue") != NULL)
		send(fd, "HTTP/1.1 100 Continue\r\n\r\n", 25, MSG_NOSIGNAL);
	answer_put(fd, end, n - (size_t)(end - head), length);
}

static void *
serve_apart(void *connection)
{
	int fd = (int)(intptr_t)connection;

	serve_one(fd);
	close(fd);
	return NULL;
}

/* Slow answers do not keep others waiting. */
static void *
serve(void *unused)
{
	pthread_t thread;

	for (;;) {
		int fd = accept(server.listener, NULL, NULL);

		if (fd < 0)
			return unused;
		CHECK(pthread_create(&thread, NULL, serve_apart,
		    (void *)(intptr_t)fd) == 0);
		pthread_detach(thread);
	}
}

static int
free_port(int *listener)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t length = sizeof a;

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	*listener = socket(AF_INET, SOCK_STREAM, 0);
	CHECK(*listener >= 0);
	CHECK(bind(*listener, (struct sockaddr *)&a, sizeof a) == 0);
	CHECK(getsockname(*listener, (struct sockaddr *)&a, &length) == 0);
	return ntohs(a.sin_port);
}

/* ---- compiles ------------------------------------------------------------ */

static char *wanted;
static int warnings;

static void
see_log(void *user, cutejit_log_level level, const char *text)
{
	(void)user, (void)text;
	warnings += level == CUTEJIT_LOG_WARNING;
}

struct outcome {
	cutejit_origin origin;
	cutejit_cache_stats stats;
	double ms;
};

/* On a machine of its own: nothing on disk. */
static struct outcome
compile(const char *url, int read_only)
{
	cutejit_options o = CUTEJIT_OPTIONS_INIT;
	cutejit_compile_options how = CUTEJIT_COMPILE_OPTIONS_INIT;
	struct outcome out = { 0 };
	struct timespec a, b;
	char folder[] = "/tmp/cutejit-remote-XXXXXX", command[64];
	cutejit_context *c;
	cutejit_module *m;
	cutejit_kernel *k;
	const void *ptx;

	CHECK(mkdtemp(folder) != NULL);
	o.cache_folder = folder;
	o.remote_cache = url;
	o.remote_read_only = read_only;
	o.remote_timeout_ms = 400;
	o.log = see_log;
	CHECK(cutejit_context_create(&o, &c) == CUTEJIT_OK);
	m = test_module(c, saxpy_text);
	how.target = "sm_80";
	clock_gettime(CLOCK_MONOTONIC, &a);
	DO(c, cutejit_compile(m, "saxpy", &how, &k));
	clock_gettime(CLOCK_MONOTONIC, &b);
	out.ms = (double)(b.tv_sec - a.tv_sec) * 1e3
	    + (double)(b.tv_nsec - a.tv_nsec) / 1e6;
	DO(c, cutejit_kernel_artifact(k, "ptx", &ptx, NULL));
	if (wanted == NULL)
		wanted = strdup(ptx);
	CHECK(strcmp(wanted, ptx) == 0);
	out.origin = cutejit_kernel_about(k)->origin;
	DO(c, cutejit_cache_stats_get(c, &out.stats));
	cutejit_kernel_destroy(k);
	cutejit_module_destroy(m);
	cutejit_context_destroy(c);
	snprintf(command, sizeof command, "rm -rf %s", folder);
	CHECK(system(command) == 0);
	return out;
}

/* One machine makes it, the next finds it and keeps it on disk. */
static void
test_shared(const char *url)
{
	struct outcome o = compile(url, 1);

	CHECK(o.origin == CUTEJIT_ORIGIN_COMPILED);
	CHECK(o.stats.remote_stored == 0 && o.stats.remote_errors == 0);
	o = compile(url, 0);
	CHECK(o.origin == CUTEJIT_ORIGIN_COMPILED);
	CHECK(o.stats.remote_misses == 1 && o.stats.remote_stored == 1);
	o = compile(url, 0);
	CHECK(o.origin == CUTEJIT_ORIGIN_REMOTE);
	CHECK(o.stats.remote_hits == 1 && o.stats.entries == 1);
	o = compile(url, 1);
	CHECK(o.origin == CUTEJIT_ORIGIN_REMOTE);
}

static const struct {
	enum how how;
	uint64_t errors, damaged;
} answers[] = {
	{ ABSENT, 0, 0 }, { ERROR, 1, 0 }, { SILENT, 1, 0 },
	{ CLOSED, 1, 0 }, { SHORT, 1, 0 }, { RUBBISH, 0, 1 },
	{ FLIPPED, 0, 1 }, { ENDLESS, 1, 0 },
};

static void
test_answers(const char *url)
{
	struct outcome o;
	size_t i;

	for (i = 0; i < sizeof answers / sizeof *answers; i++) {
		server.how = answers[i].how;
		warnings = 0;
		o = compile(url, 1);
		CHECK(o.origin == CUTEJIT_ORIGIN_COMPILED);
		CHECK(o.stats.remote_hits == 0);
		CHECK(o.stats.remote_errors == answers[i].errors);
		CHECK(o.stats.damaged == answers[i].damaged);
		CHECK((uint64_t)warnings == answers[i].errors
		    + answers[i].damaged);
		CHECK(o.ms < 5000);
	}
	server.how = RIGHT;
	CHECK(compile(url, 1).origin == CUTEJIT_ORIGIN_REMOTE);
	/* right in itself, but of another key: its digits stand in it */
	server.body[24] ^= 1;
	o = compile(url, 1);
	CHECK(o.origin == CUTEJIT_ORIGIN_COMPILED && o.stats.damaged == 1);
	server.body[24] ^= 1;
}

/* A server that failed is not asked again for a while. */
static void
test_quiet(void)
{
	cutejit_options o = CUTEJIT_OPTIONS_INIT;
	cutejit_compile_options how = CUTEJIT_COMPILE_OPTIONS_INIT;
	static const char *const targets[] = { "sm_80", "sm_86", "sm_89" };
	cutejit_cache_stats stats;
	cutejit_context *c;
	cutejit_module *m;
	cutejit_kernel *k;
	size_t i;

	o.remote_cache = "http://127.0.0.1:1/nobody/listens";
	unsetenv("HOME");
	CHECK(cutejit_context_create(&o, &c) == CUTEJIT_OK);
	m = test_module(c, saxpy_text);
	for (i = 0; i < 3; i++) {
		how.target = targets[i];
		DO(c, cutejit_compile(m, "saxpy", &how, &k));
		cutejit_kernel_destroy(k);
	}
	DO(c, cutejit_cache_stats_get(c, &stats));
	CHECK(stats.remote_errors == 1 && stats.misses == 3);
	cutejit_module_destroy(m);
	cutejit_context_destroy(c);
}

static void
test_addresses(void)
{
	static const char *const wrong[] = { "ftp://host/", "host",
	    "redis://", "redis://host:99999", "redis://user@host",
	    "redis://host/x" };
	cutejit_options o = CUTEJIT_OPTIONS_INIT;
	cutejit_context *c;
	const char *why;
	size_t i;

	for (i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		o.remote_cache = wrong[i];
		CHECK(cutejit_context_create(&o, &c) == CUTEJIT_OK);
		CHECK(cutejit_cache_remote(c, &why) == NULL && why != NULL);
		cutejit_context_destroy(c);
	}
	o.remote_cache = "http://someone:secret@host/path/";
	CHECK(cutejit_context_create(&o, &c) == CUTEJIT_OK);
	CHECK(strcmp(cutejit_cache_remote(c, &why), "http://host/path") == 0);
	CHECK(why == NULL);
	cutejit_context_destroy(c);
}

/* ---- real servers -------------------------------------------------------- */

static char place[64];
static pid_t child;

static int
is_there(const char *program)
{
	char command[128];

	snprintf(command, sizeof command, "PATH=$PATH:/usr/sbin command -v %s "
	    ">/dev/null 2>&1", program);
	return system(command) == 0;
}

static void
start(const char *command)
{
	child = fork();
	CHECK(child >= 0);
	if (child == 0) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, 0);
		dup2(null, 1);
		dup2(null, 2);
		setenv("PATH", "/usr/bin:/bin:/usr/sbin:/sbin", 1);
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
}

/* True once somebody accepts connections. */
static int
wait_for_port(int port)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
	    .sin_port = htons((uint16_t)port) };
	int i, fd, done = 0;

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	for (i = 0; i < 200 && !done; i++) {
		fd = socket(AF_INET, SOCK_STREAM, 0);
		done = connect(fd, (struct sockaddr *)&a, sizeof a) == 0;
		close(fd);
		if (!done)
			usleep(25000);
	}
	return done;
}

static void
stop(void)
{
	kill(child, SIGTERM);
	CHECK(waitpid(child, NULL, 0) == child);
}

static int
port_for_server(void)
{
	int listener, port = free_port(&listener);

	close(listener);
	return port;
}

static void
test_nginx(void)
{
	char path[128], command[256], url[64];
	int port = port_for_server();
	FILE *file;

	if (!is_there("nginx")) {
		printf("skipped: nginx is not installed\n");
		return;
	}
	snprintf(path, sizeof path, "%s/nginx.conf", place);
	file = fopen(path, "w");
	CHECK(file != NULL);
	fprintf(file, "daemon off; pid %s/pid; error_log %s/error.log;\n"
	    "user root;\n"
	    "events { worker_connections 64; }\n"
	    "http {\n"
	    "  access_log off; client_body_temp_path %s/body;\n"
	    "  proxy_temp_path %s/p; fastcgi_temp_path %s/f;\n"
	    "  uwsgi_temp_path %s/u; scgi_temp_path %s/s;\n"
	    "  server { listen 127.0.0.1:%d; location /kernels {\n"
	    "    root %s/www; dav_methods PUT; create_full_put_path on;\n"
	    "    client_max_body_size 256m; } }\n"
	    "}\n", place, place, place, place, place, place, place, port,
	    place);
	fclose(file);
	snprintf(command, sizeof command, "mkdir %s/www; exec nginx -c %s",
	    place, path);
	start(command);
	if (!wait_for_port(port)) {
		printf("skipped: nginx does not start here\n");
		stop();
		return;
	}
	snprintf(url, sizeof url, "http://127.0.0.1:%d/kernels/", port);
	test_shared(url);
	stop();
	/* and nobody is there any more */
	CHECK(compile(url, 0).origin == CUTEJIT_ORIGIN_COMPILED);
}

static void
test_redis(void)
{
	char command[256], url[64];
	int port = port_for_server();
	struct outcome o;

	if (!is_there("redis-server")) {
		printf("skipped: redis-server is not installed\n");
		return;
	}
	snprintf(command, sizeof command, "exec redis-server --port %d "
	    "--bind 127.0.0.1 --save '' --dir %s --requirepass sesame", port,
	    place);
	start(command);
	CHECK(wait_for_port(port));
	snprintf(url, sizeof url, "redis://:sesame@127.0.0.1:%d/3", port);
	test_shared(url);
	snprintf(url, sizeof url, "redis://:wrong@127.0.0.1:%d", port);
	o = compile(url, 0);
	CHECK(o.origin == CUTEJIT_ORIGIN_COMPILED);
	CHECK(o.stats.remote_errors == 1);
	stop();
	snprintf(url, sizeof url, "redis://127.0.0.1:%d", port);
	o = compile(url, 0);
	CHECK(o.origin == CUTEJIT_ORIGIN_COMPILED);
	CHECK(o.stats.remote_errors == 1);
}

/* What a build has is known only by what it says. */
static int
is_built_in(const char *url)
{
	cutejit_options o = CUTEJIT_OPTIONS_INIT;
	cutejit_context *c;
	const char *why;
	int there;

	o.remote_cache = url;
	CHECK(cutejit_context_create(&o, &c) == CUTEJIT_OK);
	there = cutejit_cache_remote(c, &why) != NULL;
	if (!there)
		printf("skipped: %s\n", why);
	cutejit_context_destroy(c);
	return there;
}

int
main(void)
{
	char url[64], command[96];
	pthread_t thread;

	setenv("CUTEJIT_LIBCUDA", "/nonexistent/libcuda.so.1", 1);
	setenv("CUTEJIT_ASSEMBLER", "driver", 1);
	snprintf(place, sizeof place, "/tmp/cutejit-servers-XXXXXX");
	CHECK(mkdtemp(place) != NULL);
	if (is_built_in("http://127.0.0.1/")) {
		server.port = free_port(&server.listener);
		CHECK(listen(server.listener, 16) == 0);
		CHECK(pthread_create(&thread, NULL, serve, NULL) == 0);
		snprintf(url, sizeof url, "http://127.0.0.1:%d/a/b",
		    server.port);
		test_shared(url);
		CHECK(server.puts == 1 && server.gets == 4);
		test_answers(url);
		test_quiet();
		test_addresses();
		test_nginx();
	}
	if (is_built_in("redis://127.0.0.1"))
		test_redis();
	snprintf(command, sizeof command, "rm -rf %s", place);
	CHECK(system(command) == 0);
	return 0;
}
