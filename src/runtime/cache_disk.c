/*
 * The folder of entries: looking up, adding, and one maker at a time.
 *
 * Works where files may be renamed over, handles go stale, the disk is full or
 * the folder may not be written: whatever fails is a miss, or an entry that is
 * not kept. Entries belong to one user; those of others are not believed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "remote.h"

enum { LONGEST_WAIT_MS = 30000, STAMP_SECONDS = 600, MOST_TRIES = 100 };
#define DEFAULT_BYTES	(UINT64_C(2) << 30)

/* ---- where --------------------------------------------------------------- */

/* A relative name means the folder that was current when we began. */
static const char *
absolute(struct cj_arena *a, const char *folder)
{
	char here[4096];

	if (folder[0] == '/' || getcwd(here, sizeof here) == NULL)
		return cj_strdup(a, folder);
	return cj_printf(a, "%s/%s", here, folder);
}

static void
choose_folder(struct cj_arena *a, struct cj_store *s, const char *given)
{
	const char *named = cj_env("CUTEJIT_CACHE_DIR");
	const char *xdg = cj_env("XDG_CACHE_HOME"), *home = cj_env("HOME");

	if (given != NULL) {
		s->root = absolute(a, given);
		s->why = "the options of the context";
	} else if (named != NULL) {
		s->root = absolute(a, named);
		s->why = "CUTEJIT_CACHE_DIR";
	} else if (xdg != NULL && xdg[0] == '/') {
		s->root = cj_printf(a, "%s/cutejit", xdg);
		s->why = "XDG_CACHE_HOME";
	} else if (home != NULL && home[0] == '/') {
		s->root = cj_printf(a, "%s/.cache/cutejit", home);
		s->why = "HOME";
	} else {
		s->why = "neither CUTEJIT_CACHE_DIR, XDG_CACHE_HOME nor HOME "
		    "is set";
	}
}

static cutejit_cache_mode
choose_mode(cutejit_cache_mode given)
{
	const char *word = cj_env("CUTEJIT_CACHE");

	if (given != CUTEJIT_CACHE_DEFAULT || word == NULL)
		return given;
	if (strcmp(word, "off") == 0)
		return CUTEJIT_CACHE_OFF;
	if (strcmp(word, "memory") == 0)
		return CUTEJIT_CACHE_MEMORY;
	if (strcmp(word, "readonly") == 0)
		return CUTEJIT_CACHE_READ_ONLY;
	return CUTEJIT_CACHE_DEFAULT;
}

static uint64_t
choose_limit(uint64_t given)
{
	const char *word = cj_env("CUTEJIT_CACHE_BYTES");
	uint64_t n;

	if (given != 0)
		return given;
	return word != NULL && cj_is_count(word, &n) ? n : DEFAULT_BYTES;
}

struct cj_store *
cj_store_open(struct cj_arena *a, const cutejit_options *o)
{
	struct cj_store *s = CJ_NEW(a, struct cj_store);

	s->limit = choose_limit(o->cache_bytes);
	atomic_flag_clear(&s->told);
	switch (choose_mode(o->cache)) {
	case CUTEJIT_CACHE_OFF:
		s->is_off = true;
		s->why = "the cache is off";
		return s;
	case CUTEJIT_CACHE_MEMORY:
		s->why = "the cache is kept in memory only";
		return s;
	case CUTEJIT_CACHE_READ_ONLY:
		s->is_read_only = true;
		break;
	case CUTEJIT_CACHE_DEFAULT:
		break;
	}
	choose_folder(a, s, o->cache_folder);
	if (s->root != NULL)
		s->folder = cj_printf(a, "%s/v1", s->root);
	s->remote = cj_remote_open(a, o, s->is_read_only,
	    &s->remote_why);
	return s;
}

/* Every folder on the way; those we make are the user's alone. */
static bool
make_folders(struct cj_arena *a, const char *path)
{
	char *copy = cj_strdup(a, path), *p;

	for (p = copy + 1; *p != '\0'; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		if (mkdir(copy, 0700) != 0 && errno != EEXIST)
			return false;
		*p = '/';
	}
	return mkdir(copy, 0700) == 0 || errno == EEXIST;
}

static char *
path_of(struct cj_arena *a, const struct cj_store *s,
    const struct cj_digest *key)
{
	char text[65];

	cj_digest_text(key, text);
	return cj_printf(a, "%s/%.2s/%s", s->folder, text, text);
}

static char *
shard_of(struct cj_arena *a, const char *path)
{
	return cj_strndup(a, path, (size_t)(strrchr(path, '/') - path));
}

/* ---- looking up ---------------------------------------------------------- */

/* The time of last use is written when it is old, not at every hit. */
static void
stamp(const struct cj_store *s, int fd, const struct stat *st)
{
	struct timespec times[2] = {
		{ .tv_nsec = UTIME_NOW }, { .tv_nsec = UTIME_OMIT }
	};

	if (!s->is_read_only && time(NULL) - st->st_atime > STAMP_SECONDS)
		futimens(fd, times);
}

/* Bytes of a file that may be believed; NULL if there is none. */
static char *
read_entry(struct cj_work *f, struct cj_arena *a, const char *path,
    size_t *length)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	char *bytes;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)
	    || st.st_uid != geteuid() || (st.st_mode & 022) != 0
	    || (uint64_t)st.st_size > (UINT64_C(1) << 30)) {
		close(fd);
		return NULL;
	}
	bytes = cj_alloc(a, (size_t)st.st_size);
	*length = (size_t)st.st_size;
	if (!cj_read_all(fd, bytes, *length))
		*length = 0;		/* cut off meanwhile: damaged */
	else
		stamp(f->context->store, fd, &st);
	close(fd);
	return bytes;
}

static void
discard(struct cj_work *f, const char *path, const char *why)
{
	struct cj_store *s = f->context->store;

	atomic_fetch_add(&s->damaged, 1);
	cj_log(f->context, CUTEJIT_LOG_INFO, "cache entry %s: %s", path, why);
	if (!s->is_read_only)
		unlink(path);
}

bool
cj_store_find(struct cj_work *f, struct cj_arena *a,
    const struct cj_digest *key, struct cj_record *out)
{
	struct cj_store *s = f->context->store;
	const char *why;
	char *path, *bytes;
	size_t length;

	if (s->folder == NULL)
		return false;
	path = path_of(&f->arena, s, key);
	bytes = read_entry(f, a, path, &length);
	if (bytes == NULL)
		return false;
	why = cj_record_decode(bytes, length, key, true, out);
	if (why == NULL)
		return true;
	discard(f, path, why);
	return false;
}

bool
cj_store_is_empty(const struct cj_store *s)
{
	return s->remote == NULL
	    && (s->folder == NULL || access(s->folder, F_OK) != 0);
}

const char *
cj_store_trouble(struct cj_arena *a, const struct cj_store *s)
{
	if (s->folder == NULL || s->is_read_only)
		return NULL;
	return make_folders(a, s->folder) && access(s->folder, W_OK | X_OK)
	    == 0 ? NULL : strerror(errno);
}

/* ---- adding -------------------------------------------------------------- */

/* Nothing is wrong but that the next process compiles again. */
static void
tell_once(struct cj_work *f, const char *why)
{
	struct cj_store *s = f->context->store;

	if (!atomic_flag_test_and_set(&s->told))
		cj_log(f->context, CUTEJIT_LOG_WARNING, "nothing is kept in "
		    "the cache folder %s (%s): %s", s->root, s->why, why);
}

void
cj_store_put(struct cj_work *f, const struct cj_digest *key,
    const char *bytes, size_t length)
{
	struct cj_store *s = f->context->store;
	char *path, *shard;

	if (s->folder == NULL || s->is_read_only)
		return;
	path = path_of(&f->arena, s, key);
	shard = shard_of(&f->arena, path);
	if (length > s->limit)
		return;
	if (!make_folders(&f->arena, shard)
	    || !cj_file_replace_sure(path, bytes, length)) {
		tell_once(f, strerror(errno));
		return;
	}
	atomic_fetch_add(&s->stored, 1);
	cj_store_evict(f, shard, path);
}

/* ---- one maker at a time ------------------------------------------------- */

static void
end_flight(void *object)
{
	struct cj_flight *flight = object;

	unlink(flight->path);
	close(flight->fd);
}

static void
pause_ms(int ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&t, NULL);
}

static int
open_lock(struct cj_work *f, const char *path)
{
	int fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd >= 0 || errno != ENOENT)
		return fd;
	if (!make_folders(&f->arena, shard_of(&f->arena, path)))
		return -1;
	return open(path, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
}

/*
 * Wait for whoever makes the entry now; a process that dies gives its lock
 * back. The wait is bounded: the maker may hang, or run on a machine that is
 * gone, where locks are kept by a server.
 */
static bool
wait_for(struct cj_work *f, int fd, int64_t end)
{
	int step = 1;
	bool waited = false;

	while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return false;
		if (!waited)
			atomic_fetch_add(&f->context->store->waited, 1);
		waited = true;
		if (cj_clock() > end || cj_is_late(f))
			return false;
		pause_ms(step);
		step = step < 20 ? step + 1 : 20;
	}
	return true;
}

/* Whoever had the lock has removed its file: another may have made a new one
 * meanwhile. */
static bool
is_still(int fd, const char *path)
{
	struct stat ours, there;

	return fstat(fd, &ours) == 0 && lstat(path, &there) == 0
	    && ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;
}

static int
take_lock(struct cj_work *f, const char *path)
{
	int64_t end = cj_clock() + LONGEST_WAIT_MS * INT64_C(1000000);
	int fd, tries;

	for (tries = 0; tries < MOST_TRIES; tries++) {
		fd = open_lock(f, path);
		if (fd < 0)
			return -1;
		if (!wait_for(f, fd, end)) {
			close(fd);
			return -1;
		}
		if (is_still(fd, path))
			return fd;
		close(fd);
	}
	return -1;
}

struct cj_flight *
cj_flight_begin(struct cj_work *f, const struct cj_digest *key)
{
	struct cj_store *s = f->context->store;
	struct cj_flight *flight;

	if (s->folder == NULL || s->is_read_only)
		return NULL;
	flight = CJ_NEW(&f->arena, struct cj_flight);
	flight->path = cj_printf(&f->arena, "%s.lock",
	    path_of(&f->arena, s, key));
	flight->fd = take_lock(f, flight->path);
	if (flight->fd < 0)
		return NULL;
	cj_defer(f, end_flight, flight);
	return flight;
}

void
cj_flight_end(struct cj_work *f, struct cj_flight *flight)
{
	cj_undefer(f);
	end_flight(flight);
}
