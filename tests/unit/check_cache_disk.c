/*
 * The folder of entries, as it is met in the world: damaged, read-only, full,
 * of another user, shared by processes of which some die.
 */
#include "check_main.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

#include "runtime/cache.h"

static char folder[64];

static void
setup(void)
{
	snprintf(folder, sizeof folder, "/tmp/cutejit-check-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void
teardown(void)
{
	char command[200];

	snprintf(command, sizeof command, "chmod -R u+w %s; rm -rf %s",
	    folder, folder);
	ck_assert_int_eq(system(command), 0);
}

static cutejit_context *
context(cutejit_cache_mode mode, uint64_t bytes)
{
	cutejit_options o = CUTEJIT_OPTIONS_INIT;
	cutejit_context *c;

	o.cache_folder = folder;
	o.cache = mode;
	o.cache_bytes = bytes;
	ck_assert_int_eq(cutejit_context_create(&o, &c), CUTEJIT_OK);
	return c;
}

static struct cj_digest
key_of(int n)
{
	return cj_digest_of(&n, sizeof n);
}

static void
fill(struct cj_record *r, const char *text, size_t length)
{
	int i;

	memset(r, 0, sizeof *r);
	for (i = 0; i < CJ_SECTION_COUNT; i++)
		r->section[i].bytes = "";
	r->section[CJ_SECTION_CUBIN].bytes = text;
	r->section[CJ_SECTION_CUBIN].length = length;
}

/* ---- what a thread of work does, as bodies for cj_enter ------------------ */

struct job {
	int key;
	size_t bytes;
	bool is_found;
	char text[32];
	int hold_ms;
	bool is_alone;
};

static cutejit_status
put(struct cj_work *f, void *arguments)
{
	const char *bytes;
	size_t length;
	struct job *j = arguments;
	struct cj_digest k = key_of(j->key);
	struct cj_record r;
	char *text = cj_alloc(&f->arena, j->bytes + 32);

	snprintf(text, 32, "content of %d", j->key);
	fill(&r, text, j->bytes != 0 ? j->bytes : strlen(text));
	bytes = cj_record_encode(&f->arena, &k, &r, &length);
	cj_store_put(f, &k, bytes, length);
	return CUTEJIT_OK;
}

static cutejit_status
find(struct cj_work *f, void *arguments)
{
	struct job *j = arguments;
	struct cj_digest k = key_of(j->key);
	struct cj_record r;

	j->is_found = cj_store_find(f, &f->arena, &k, &r);
	if (j->is_found)
		snprintf(j->text, sizeof j->text, "%s",
		    r.section[CJ_SECTION_CUBIN].bytes);
	return CUTEJIT_OK;
}

/* Make the entry as compile.c does: alone, unless somebody has. */
static cutejit_status
make(struct cj_work *f, void *arguments)
{
	struct job *j = arguments;
	struct cj_digest k = key_of(j->key);
	struct cj_flight *flight;
	struct cj_record r;

	j->is_found = cj_store_find(f, &f->arena, &k, &r);
	if (j->is_found)
		return CUTEJIT_OK;
	flight = cj_flight_begin(f, &k);
	j->is_alone = flight != NULL;
	if (j->is_alone)
		j->is_found = cj_store_find(f, &f->arena, &k, &r);
	if (!j->is_found) {
		usleep((unsigned)j->hold_ms * 1000);
		put(f, j);
	}
	if (j->is_alone)
		cj_flight_end(f, flight);
	return CUTEJIT_OK;
}

static bool
is_found(cutejit_context *c, int key)
{
	struct job j = { .key = key };

	ck_assert_int_eq(cj_enter(c, find, &j), CUTEJIT_OK);
	if (j.is_found) {
		char expected[32];

		snprintf(expected, sizeof expected, "content of %d", key);
		ck_assert_str_eq(j.text, expected);
	}
	return j.is_found;
}

static void
do_put(cutejit_context *c, int key, size_t bytes)
{
	struct job j = { .key = key, .bytes = bytes };

	ck_assert_int_eq(cj_enter(c, put, &j), CUTEJIT_OK);
}

static void
path_of(char path[256], int key)
{
	struct cj_digest k = key_of(key);
	char text[65];

	cj_digest_text(&k, text);
	snprintf(path, 256, "%s/v1/%.2s/%s", folder, text, text);
}

/* ---- tests --------------------------------------------------------------- */

START_TEST(test_put_and_find)
{
	cutejit_context *c = context(CUTEJIT_CACHE_DEFAULT, 0);
	struct stat st;
	char path[256];

	ck_assert(!is_found(c, 1));
	do_put(c, 1, 0);
	ck_assert(is_found(c, 1));
	ck_assert(!is_found(c, 2));
	path_of(path, 1);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
	cutejit_context_destroy(c);
}
END_TEST

START_TEST(test_damage_heals)
{
	cutejit_context *c = context(CUTEJIT_CACHE_DEFAULT, 0);
	char path[256];
	struct stat st;
	off_t i;

	do_put(c, 1, 0);
	path_of(path, 1);
	ck_assert_int_eq(stat(path, &st), 0);
	for (i = 0; i < st.st_size; i += 7) {
		int fd = open(path, O_RDWR);
		char byte;

		ck_assert_int_ge(fd, 0);
		ck_assert_int_eq(pread(fd, &byte, 1, i), 1);
		byte = (char)~byte;
		ck_assert_int_eq(pwrite(fd, &byte, 1, i), 1);
		close(fd);
		ck_assert(!is_found(c, 1));
		ck_assert_int_ne(access(path, F_OK), 0);
		do_put(c, 1, 0);
		ck_assert(is_found(c, 1));
	}
	ck_assert_int_eq(truncate(path, 10), 0);
	ck_assert(!is_found(c, 1));
	cutejit_context_destroy(c);
}
END_TEST

START_TEST(test_read_only)
{
	cutejit_context *c = context(CUTEJIT_CACHE_DEFAULT, 0);
	char path[256];
	int fd;

	do_put(c, 1, 0);
	cutejit_context_destroy(c);
	c = context(CUTEJIT_CACHE_READ_ONLY, 0);
	ck_assert(is_found(c, 1));
	do_put(c, 2, 0);
	ck_assert(!is_found(c, 2));
	path_of(path, 1);
	fd = open(path, O_RDWR);
	ck_assert_int_eq(pwrite(fd, "?", 1, 100), 1);
	close(fd);
	ck_assert(!is_found(c, 1));
	ck_assert_int_eq(access(path, F_OK), 0);
	cutejit_context_destroy(c);
}
END_TEST

/* A folder that cannot be made or written: misses, and nothing else. */
START_TEST(test_no_folder)
{
	char file[128];
	cutejit_context *c;
	int fd;

	snprintf(file, sizeof file, "%s/v1", folder);
	fd = open(file, O_CREAT | O_WRONLY, 0600);
	close(fd);
	c = context(CUTEJIT_CACHE_DEFAULT, 0);
	do_put(c, 1, 0);
	ck_assert(!is_found(c, 1));
	cutejit_context_destroy(c);
}
END_TEST

/* RLIMIT_FSIZE is a disk that gets full in the middle of a write. */
START_TEST(test_full_disk)
{
	cutejit_context *c = context(CUTEJIT_CACHE_DEFAULT, 0);
	struct rlimit small = { 4096, 4096 };
	char path[256], command[160];

	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
	do_put(c, 1, 100000);
	ck_assert(!is_found(c, 1));
	path_of(path, 1);
	snprintf(command, sizeof command,
	    "test -z \"$(find %s -name '*.tmp.*')\"", folder);
	ck_assert_int_eq(system(command), 0);
	do_put(c, 2, 0);
	ck_assert(is_found(c, 2));
	cutejit_context_destroy(c);
}
END_TEST

START_TEST(test_other_user)
{
	cutejit_context *c = context(CUTEJIT_CACHE_DEFAULT, 0);
	char path[256];

	do_put(c, 1, 0);
	path_of(path, 1);
	if (geteuid() == 0) {	/* only root can give a file away */
		ck_assert_int_eq(chown(path, 12345, 12345), 0);
		ck_assert(!is_found(c, 1));
	}
	unlink(path);
	ck_assert_int_eq(symlink("/etc/passwd", path), 0);
	ck_assert(!is_found(c, 1));
	unlink(path);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert(!is_found(c, 1));
	cutejit_context_destroy(c);
}
END_TEST

START_TEST(test_bound)
{
	enum { BYTES = 10000, BOUND = 50000 };
	cutejit_context *c = context(CUTEJIT_CACHE_DEFAULT, BOUND);
	cutejit_cache_stats stats;
	char path[256];
	int i;

	for (i = 0; i < 20; i++) {
		struct timespec times[2] = {
			{ .tv_sec = 1000000 + i }, { .tv_sec = 1000000 + i }
		};

		do_put(c, i, BYTES);
		path_of(path, i);
		ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
	}
	ck_assert_int_eq(cutejit_cache_stats_get(c, &stats), CUTEJIT_OK);
	ck_assert_uint_le(stats.bytes, BOUND);
	ck_assert_uint_ge(stats.entries, 3);
	ck_assert_uint_ge(stats.evicted, 15);
	ck_assert(is_found(c, 19));
	ck_assert(is_found(c, 18));
	ck_assert(!is_found(c, 0));
	do_put(c, 99, 2 * BOUND);	/* too large for the cache at all */
	ck_assert(!is_found(c, 99));
	cutejit_context_destroy(c);
}
END_TEST

/* Children ask for the same entry at once: exactly one makes it. */
static int
child(int hold_ms)
{
	cutejit_context *c = context(CUTEJIT_CACHE_DEFAULT, 0);
	struct job j = { .key = 7, .hold_ms = hold_ms };
	cutejit_status status = cj_enter(c, make, &j);

	cutejit_context_destroy(c);
	return status != CUTEJIT_OK ? 9 : j.is_found ? 1 : 2;
}

START_TEST(test_single_flight)
{
	enum { CHILDREN = 16 };
	int i, how, makers = 0, finders = 0;

	for (i = 0; i < CHILDREN; i++)
		if (fork() == 0)
			_exit(child(100));
	for (i = 0; i < CHILDREN; i++) {
		ck_assert_int_gt(wait(&how), 0);
		ck_assert(WIFEXITED(how));
		makers += WEXITSTATUS(how) == 2;
		finders += WEXITSTATUS(how) == 1;
	}
	ck_assert_int_eq(makers, 1);
	ck_assert_int_eq(finders, CHILDREN - 1);
}
END_TEST

/* A maker that is killed gives way at once. */
START_TEST(test_killed_maker)
{
	cutejit_context *c = context(CUTEJIT_CACHE_DEFAULT, 0);
	struct job j = { .key = 7 };
	pid_t pid = fork();
	int64_t start;
	int how;

	if (pid == 0)
		_exit(child(60000));
	usleep(200000);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, &how, 0), pid);
	start = cj_clock();
	ck_assert_int_eq(cj_enter(c, make, &j), CUTEJIT_OK);
	ck_assert(j.is_alone && !j.is_found);
	ck_assert(is_found(c, 7));
	ck_assert_msg(cj_ms_since(start) < 5000, "it waited for a dead one");
	cutejit_context_destroy(c);
}
END_TEST

/* A maker that hangs holds others up until their deadline, no longer. */
START_TEST(test_hung_maker)
{
	cutejit_options o = CUTEJIT_OPTIONS_INIT;
	struct job j = { .key = 7 };
	cutejit_context *c;
	pid_t pid = fork();
	int how;

	if (pid == 0)
		_exit(child(60000));
	usleep(200000);
	o.cache_folder = folder;
	o.deadline_ms = 300;
	ck_assert_int_eq(cutejit_context_create(&o, &c), CUTEJIT_OK);
	ck_assert_int_eq(cj_enter(c, make, &j), CUTEJIT_OK);
	ck_assert(!j.is_alone);
	ck_assert(is_found(c, 7));
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, &how, 0), pid);
	cutejit_context_destroy(c);
}
END_TEST

/* ---- where the folder is ------------------------------------------------- */

static const struct {
	const char *cache, *folder, *xdg, *home;
	const char *expected, *why;
} places[] = {
	{ NULL, "/a", "/b", "/c", "/a", "CUTEJIT_CACHE_DIR" },
	{ NULL, NULL, "/b", "/c", "/b/cutejit", "XDG_CACHE_HOME" },
	{ NULL, NULL, NULL, "/c", "/c/.cache/cutejit", "HOME" },
	{ NULL, NULL, "b", "c", NULL, "neither" },
	{ NULL, NULL, NULL, NULL, NULL, "neither" },
	{ "off", "/a", "/b", "/c", NULL, "off" },
	{ "memory", "/a", "/b", "/c", NULL, "memory" },
	{ "readonly", "/a", "/b", "/c", "/a", "CUTEJIT_CACHE_DIR" },
};

static void
set(const char *name, const char *value)
{
	if (value != NULL)
		setenv(name, value, 1);
	else
		unsetenv(name);
}

START_TEST(test_places)
{
	cutejit_context *c;

	set("CUTEJIT_CACHE", places[_i].cache);
	set("CUTEJIT_CACHE_DIR", places[_i].folder);
	set("XDG_CACHE_HOME", places[_i].xdg);
	set("HOME", places[_i].home);
	ck_assert_int_eq(cutejit_context_create(NULL, &c), CUTEJIT_OK);
	if (places[_i].expected == NULL)
		ck_assert_ptr_null(cutejit_cache_folder(c));
	else
		ck_assert_str_eq(cutejit_cache_folder(c),
		    places[_i].expected);
	ck_assert_ptr_nonnull(strstr(cutejit_cache_why(c), places[_i].why));
	cutejit_context_destroy(c);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("cache_disk");
	TCase *t = tcase_create("folder"), *p = tcase_create("places");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, test_put_and_find);
	tcase_add_test(t, test_damage_heals);
	tcase_add_test(t, test_read_only);
	tcase_add_test(t, test_no_folder);
	tcase_add_test(t, test_full_disk);
	tcase_add_test(t, test_other_user);
	tcase_add_test(t, test_bound);
	tcase_add_test(t, test_single_flight);
	tcase_add_test(t, test_killed_maker);
	tcase_add_test(t, test_hung_maker);
	suite_add_tcase(s, t);
	tcase_add_loop_test(p, test_places, 0, (int)CJ_LENGTH(places));
	suite_add_tcase(s, p);
	return s;
}

CJ_CHECK_MAIN(suite)
