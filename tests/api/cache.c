/*
 * The cache on disk under everything that disks and processes do.
 *
 * The calls of the library that touch files are caught here (a program's own
 * functions are found before those of libc), counted, and at a chosen one the
 * process is killed, or the call fails as on a full, broken or read-only disk.
 * Whatever happened, the compile of the process that lives on and of the next
 * one is right, and no entry is damaged.
 */
#include "test.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64];

/* ---- steps --------------------------------------------------------------- */

enum { NEVER = 1 << 30 };
static int armed, step, fatal_step = NEVER, failing_step = NEVER, error;

/* Not 0: the call fails. */
static int
take_step(void)
{
	if (!armed)
		return 0;
	step++;
	if (step == fatal_step)
		kill(getpid(), SIGKILL);
	if (step != failing_step)
		return 0;
	errno = error;
	return 1;
}

#define NEXT(name)	(*(void **)&next = dlsym(RTLD_NEXT, name))

int
open(const char *path, int flags, ...)
{
	int (*next)(const char *, int, ...);
	mode_t mode;
	va_list ap;

	va_start(ap, flags);
	mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(ap, mode_t) : 0;
	va_end(ap);
	if (take_step())
		return -1;
	NEXT("open");
	return next(path, flags, mode);
}

int
mkostemp(char *path, int flags)
{
	int (*next)(char *, int);

	if (take_step())
		return -1;
	NEXT("mkostemp");
	return next(path, flags);
}

/* A disk that becomes full takes a part first. */
ssize_t
write(int fd, const void *bytes, size_t length)
{
	ssize_t (*next)(int, const void *, size_t);

	NEXT("write");
	if (armed && step + 1 == failing_step && length > 1)
		next(fd, bytes, length / 2);
	if (take_step())
		return -1;
	return next(fd, bytes, length);
}

ssize_t
read(int fd, void *bytes, size_t length)
{
	ssize_t (*next)(int, void *, size_t);

	if (take_step())
		return -1;
	NEXT("read");
	return next(fd, bytes, length);
}

int
close(int fd)
{
	int (*next)(int);

	NEXT("close");
	if (take_step()) {
		next(fd);
		errno = error;
		return -1;
	}
	return next(fd);
}

int
rename(const char *from, const char *to)
{
	int (*next)(const char *, const char *);

	if (take_step())
		return -1;
	NEXT("rename");
	return next(from, to);
}

int
linkat(int from_folder, const char *from, int to_folder, const char *to,
    int flags)
{
	int (*next)(int, const char *, int, const char *, int);

	if (take_step())
		return -1;
	NEXT("linkat");
	return next(from_folder, from, to_folder, to, flags);
}

int
unlink(const char *path)
{
	int (*next)(const char *);

	if (take_step())
		return -1;
	NEXT("unlink");
	return next(path);
}

int
mkdir(const char *path, mode_t mode)
{
	int (*next)(const char *, mode_t);

	if (take_step())
		return -1;
	NEXT("mkdir");
	return next(path, mode);
}

int
flock(int fd, int how)
{
	int (*next)(int, int);

	if (take_step())
		return -1;
	NEXT("flock");
	return next(fd, how);
}

/* ---- compiles ------------------------------------------------------------ */

struct outcome {
	int status, right, steps;
	cutejit_cache_stats stats;
};

static const char *wanted;		/* the PTX */

static struct outcome
compile(cutejit_cache_mode mode)
{
	cutejit_options o = CUTEJIT_OPTIONS_INIT;
	cutejit_compile_options how = CUTEJIT_COMPILE_OPTIONS_INIT;
	struct outcome out = { 0 };
	cutejit_context *c;
	cutejit_module *m;
	cutejit_kernel *k = NULL;
	const void *ptx;

	o.cache = mode;
	o.cache_folder = folder;
	CHECK(cutejit_context_create(&o, &c) == CUTEJIT_OK);
	m = test_module(c, saxpy_text);
	armed = 1;
	how.target = "sm_80";
	out.status = (int)cutejit_compile(m, "saxpy", &how, &k);
	armed = 0;
	out.steps = step;
	if (out.status == CUTEJIT_OK) {
		DO(c, cutejit_kernel_artifact(k, "ptx", &ptx, NULL));
		out.right = wanted == NULL || strcmp(ptx, wanted) == 0;
		if (wanted == NULL)
			wanted = strdup(ptx);
	}
	DO(c, cutejit_cache_stats_get(c, &out.stats));
	cutejit_kernel_destroy(k);
	cutejit_module_destroy(m);
	cutejit_context_destroy(c);
	return out;
}

/* In a process of its own: killed or made to fail at a step, NEVER: not. False:
 * it was killed. */
static int
compile_apart(int kill_at, int fail_at, int with, struct outcome *out)
{
	int ends[2], how;
	pid_t pid;

	CHECK(pipe(ends) == 0);
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		struct outcome o;

		fatal_step = kill_at;
		failing_step = fail_at;
		error = with;
		o = compile(CUTEJIT_CACHE_DEFAULT);
		_exit(write(ends[1], &o, sizeof o) != sizeof o);
	}
	close(ends[1]);
	how = read(ends[0], out, sizeof *out) == sizeof *out;
	close(ends[0]);
	CHECK(waitpid(pid, NULL, 0) == pid);
	return how;
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *w)
{
	(void)st, (void)type, (void)w;
	return remove(path);
}

static void
clear(void)
{
	nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	CHECK(mkdir(folder, 0700) == 0);
}

static char entry[512];			/* path of the newest */
static unsigned entries, others, asides;

static int
see(const char *path, const struct stat *st, int type, struct FTW *w)
{
	if (type == FTW_D)
		CHECK((st->st_mode & 077) == 0);
	if (type != FTW_F)
		return 0;
	CHECK((st->st_mode & 077) == 0 && st->st_uid == geteuid());
	asides += strstr(path + w->base, ".tmp.") != NULL;
	if (strlen(path + w->base) == 64) {
		snprintf(entry, sizeof entry, "%s", path);
		entries++;
	} else {
		others++;
	}
	return 0;
}

/* What lies there; every file and folder is the user's alone. */
static void
look(void)
{
	entries = others = asides = 0;
	CHECK(nftw(folder, see, 16, FTW_PHYS) == 0);
}

static int
expect_good(void *user, const cutejit_cache_entry *e)
{
	(void)user;
	CHECK(e->is_good);
	return 0;
}

static void
verify(void)
{
	cutejit_options o = CUTEJIT_OPTIONS_INIT;
	cutejit_context *c;

	o.cache_folder = folder;
	CHECK(cutejit_context_create(&o, &c) == CUTEJIT_OK);
	DO(c, cutejit_cache_verify(c, expect_good, NULL));
	cutejit_context_destroy(c);
}

/* ---- tests --------------------------------------------------------------- */

/* Are there files without a name here? */
static int
has_nameless(void)
{
	int fd = open(folder, O_TMPFILE | O_RDWR, 0600);

	if (fd >= 0)
		close(fd);
	return fd >= 0 && access("/proc/self/fd", X_OK) == 0;
}

/* Killed at each step: the next process compiles or finds it, at once; what was
 * half written is gone. */
static void
test_killed(int steps)
{
	struct outcome o;
	int at, kills = 0;

	for (at = 1; at <= steps; at++) {
		clear();
		kills += !compile_apart(at, NEVER, 0, &o);
		look();
		CHECK(asides == 0 || !has_nameless());
		verify();
		CHECK(compile_apart(NEVER, NEVER, 0, &o));
		CHECK(o.status == CUTEJIT_OK && o.right);
		CHECK(o.stats.disk_hits + o.stats.misses == 1);
		look();
		CHECK(entries == 1);
		verify();
	}
	CHECK(kills == steps);
}

/* Each call fails once, in each way: the compile goes well all the same. */
static void
test_failing(int steps)
{
	static const int errors[] = { ENOSPC, EROFS, EIO, ESTALE, EACCES };
	struct outcome o;
	size_t i;
	int at;

	for (at = 1; at <= steps; at++) {
		i = (size_t)at % (sizeof errors / sizeof *errors);
		clear();
		CHECK(compile_apart(NEVER, at, errors[i], &o));
		CHECK(o.status == CUTEJIT_OK && o.right);
		verify();
	}
	clear();
	CHECK(compile_apart(NEVER, NEVER, 0, &o));
	for (at = 1; at < 8; at++) {	/* while it is read */
		CHECK(compile_apart(NEVER, at, EIO, &o));
		CHECK(o.status == CUTEJIT_OK && o.right);
	}
}

/* Other things in the place of the entry, and entries that anyone could have
 * written. Those that can be are replaced. */
static void
test_impostors(void)
{
	struct outcome o;
	char command[1200];
	size_t i;
	static const struct {
		const char *command;
		int heals;
	} cases[] = {
		{ "rm '%s' && mkdir -m 700 '%s'", 1 },
		{ "rm '%s' && umask 077 && mkdir -p '%s/deep'", 0 },
		{ "rm '%s' && ln -s /etc/passwd '%s'", 1 },
		{ "rm '%s' && mkfifo -m 600 '%s'", 1 },
		{ ": >'%s'; : '%s'", 1 },
		{ "chmod 666 '%s'; : '%s'", 1 },
		{ "echo more >>'%s'; : '%s'", 1 },
	};

	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		clear();
		CHECK(compile_apart(NEVER, NEVER, 0, &o));
		look();
		CHECK(entries == 1);
		snprintf(command, sizeof command, cases[i].command, entry,
		    entry);
		CHECK(system(command) == 0);
		CHECK(compile_apart(NEVER, NEVER, 0, &o));
		CHECK(o.status == CUTEJIT_OK && o.right);
		CHECK(o.stats.misses == 1 && o.stats.disk_hits == 0);
		CHECK(compile_apart(NEVER, NEVER, 0, &o));
		CHECK(o.right && (int)o.stats.disk_hits == cases[i].heals);
	}
}

/* Bytes of an entry, one after the other: never believed, always healed. */
static void
test_damage(void)
{
	struct outcome o;
	struct stat st;
	int at, fd;
	char byte;

	clear();
	CHECK(compile_apart(NEVER, NEVER, 0, &o));
	look();
	CHECK(stat(entry, &st) == 0);
	for (at = 0; at < 24; at++) {
		off_t where = st.st_size * at / 24;

		fd = open(entry, O_RDWR);
		CHECK(fd >= 0 && pread(fd, &byte, 1, where) == 1);
		byte ^= 1 << at % 8;
		CHECK(pwrite(fd, &byte, 1, where) == 1);
		close(fd);
		o = compile(CUTEJIT_CACHE_DEFAULT);
		CHECK(o.right && o.stats.damaged == 1 && o.stats.stored == 1);
	}
	o = compile(CUTEJIT_CACHE_READ_ONLY);
	CHECK(o.right && o.stats.disk_hits == 1);
}

enum { PROCESSES = 64 };

/* All at once: one compiles, the others wait and find it. */
static void
test_crowd(int is_full)
{
	int ends[2], i, how;
	struct outcome o;
	uint64_t misses = 0, hits = 0;
	pid_t pids[PROCESSES];

	clear();
	if (is_full)
		CHECK(compile_apart(NEVER, NEVER, 0, &o));
	CHECK(pipe(ends) == 0);
	for (i = 0; i < PROCESSES; i++) {
		pids[i] = fork();
		CHECK(pids[i] >= 0);
		if (pids[i] == 0) {
			o = compile(CUTEJIT_CACHE_DEFAULT);
			_exit(write(ends[1], &o, sizeof o) != sizeof o);
		}
	}
	close(ends[1]);
	for (i = 0; i < PROCESSES; i++) {
		CHECK(read(ends[0], &o, sizeof o) == sizeof o);
		CHECK(o.status == CUTEJIT_OK && o.right);
		misses += o.stats.misses;
		hits += o.stats.disk_hits;
	}
	close(ends[0]);
	for (i = 0; i < PROCESSES; i++)
		CHECK(waitpid(pids[i], &how, 0) == pids[i] && how == 0);
	CHECK(misses + hits == PROCESSES && misses == !is_full);
	look();
	CHECK(entries == 1 && others == 0);
}

/* Nobody says where: kernels are kept in memory. */
static void
test_homeless(void)
{
	cutejit_context *c;

	unsetenv("CUTEJIT_CACHE_DIR");
	unsetenv("XDG_CACHE_HOME");
	unsetenv("HOME");
	CHECK(cutejit_context_create(NULL, &c) == CUTEJIT_OK);
	CHECK(cutejit_cache_folder(c) == NULL);
	CHECK(strstr(cutejit_cache_why(c), "HOME") != NULL);
	cutejit_context_destroy(c);
}

int
main(void)
{
	struct outcome o;

	setenv("CUTEJIT_LIBCUDA", "/nonexistent/libcuda.so.1", 1);
	setenv("CUTEJIT_ASSEMBLER", "driver", 1);
	umask(0);			/* ours are the modes */
	snprintf(folder, sizeof folder, "/tmp/cutejit-cache-XXXXXX");
	CHECK(mkdtemp(folder) != NULL);
	o = compile(CUTEJIT_CACHE_MEMORY);
	CHECK(o.right && wanted != NULL);
	step = 0;
	CHECK(compile_apart(NEVER, NEVER, 0, &o));
	printf("%d steps\n", o.steps);
	CHECK(o.steps > 10);
	test_killed(o.steps);
	test_failing(o.steps);
	test_impostors();
	test_damage();
	test_crowd(0);
	test_crowd(1);
	test_homeless();
	nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return 0;
}
