/*
 * All entries together: listing, checking, and keeping the bound.
 *
 * The bound is kept shard by shard where shards are large enough, so that
 * adding to a cache of a million entries looks at some thousands of them.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "remote.h"

enum { SHARDS = 256, KEY_DIGITS = 64, LEFT_OVER_SECONDS = 3600 };
#define SMALLEST_SHARD	(UINT64_C(1) << 20)

typedef CJ_VEC(struct cj_stored) stored_list;

static bool
is_key(const char *name)
{
	return strspn(name, "0123456789abcdef") == KEY_DIGITS
	    && strlen(name) == KEY_DIGITS;
}

static void
scan_shard(struct cj_arena *a, const char *shard, stored_list *list)
{
	DIR *d = opendir(shard);
	struct dirent *e;
	struct stat st;

	if (d == NULL)
		return;
	while ((e = readdir(d)) != NULL) {
		struct cj_stored *s;

		if (e->d_name[0] == '.' || fstatat(dirfd(d), e->d_name, &st,
		    AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
			continue;
		s = cj_push(a, list);
		s->path = cj_printf(a, "%s/%s", shard, e->d_name);
		s->name = strrchr(s->path, '/') + 1;
		s->bytes = (uint64_t)st.st_size;
		s->used = st.st_atime;
		s->made = st.st_mtime;
		s->is_entry = is_key(e->d_name);
	}
	closedir(d);
}

static int
newest_first(const void *a, const void *b)
{
	const struct cj_stored *x = a, *y = b;

	if (x->used != y->used)
		return x->used > y->used ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Files of one folder of entries, or of all (NULL). */
static struct cj_stored *
scan(struct cj_arena *a, const struct cj_store *s, const char *shard,
    size_t *count)
{
	stored_list list = { 0 };
	int i;

	if (shard != NULL)
		scan_shard(a, shard, &list);
	for (i = 0; shard == NULL && s->folder != NULL && i < SHARDS; i++)
		scan_shard(a, cj_printf(a, "%s/%02x", s->folder, i), &list);
	if (list.len != 0)
		qsort(list.at, list.len, sizeof *list.at, newest_first);
	*count = list.len;
	return list.at;
}

/* All files, for who asks what there is: a folder that nobody has made yet has
 * none, but one that cannot be read is told. */
static cutejit_status
scan_all(struct cj_work *f, struct cj_stored **list, size_t *count)
{
	const struct cj_store *s = f->context->store;
	DIR *d = s->folder != NULL ? opendir(s->folder) : NULL;

	*list = NULL;
	*count = 0;
	if (d == NULL && s->folder != NULL && errno != ENOENT)
		return cj_fail(f, CUTEJIT_MISSING, CJ_DIAG_MISSING_FILE,
		    "the cache folder %s (%s) cannot be read: %s", s->root,
		    s->why, strerror(errno));
	if (d != NULL)
		closedir(d);
	*list = scan(&f->arena, s, NULL, count);
	return CUTEJIT_OK;
}

/* ---- the bound ----------------------------------------------------------- */

struct bound {
	uint64_t max_bytes;
	int64_t oldest;			/* last use before it: goes */
	const char *keep;
	uint64_t removed, removed_bytes;
};

static void
drop_file(struct bound *b, const struct cj_stored *s)
{
	if (unlink(s->path) != 0)
		return;
	b->removed++;
	b->removed_bytes += s->bytes;
}

/* A lock that nobody holds, which is held while it goes, or a file that nobody
 * writes any more. */
static void
drop_left_over(struct bound *b, const struct cj_stored *s)
{
	int fd;

	if (strstr(s->name, ".lock") == NULL) {
		if (time(NULL) - s->made >= LEFT_OVER_SECONDS)
			drop_file(b, s);
		return;
	}
	fd = open(s->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		drop_file(b, s);
	close(fd);
}

static void
keep_bound(struct bound *b, const struct cj_stored *list, size_t count)
{
	uint64_t held = 0;
	size_t i;

	for (i = 0; i < count; i++)
		if (b->keep != NULL && strcmp(list[i].path, b->keep) == 0)
			held = list[i].bytes;
	for (i = 0; i < count; i++) {
		if (b->keep != NULL && strcmp(list[i].path, b->keep) == 0)
			continue;
		if (!list[i].is_entry) {
			drop_left_over(b, &list[i]);
		} else if (list[i].used < b->oldest
		    || list[i].bytes > b->max_bytes
		    || held > b->max_bytes - list[i].bytes) {
			drop_file(b, &list[i]);
		} else {
			held += list[i].bytes;
		}
	}
}

void
cj_store_evict(struct cj_work *f, const char *shard, const char *keep)
{
	struct cj_store *s = f->context->store;
	struct bound b = { s->limit, INT64_MIN, keep, 0, 0 };
	struct cj_mark m = cj_arena_mark(&f->arena);
	struct cj_stored *list;
	size_t count;

	if (s->limit / SHARDS >= SMALLEST_SHARD) {
		b.max_bytes = s->limit / SHARDS;
		list = scan(&f->arena, s, shard, &count);
	} else {
		list = scan(&f->arena, s, NULL, &count);
	}
	keep_bound(&b, list, count);
	atomic_fetch_add(&s->evicted, b.removed);
	cj_arena_release(&f->arena, m);
}

struct pruning {
	uint64_t max_bytes, older_than;
	struct bound bound;
};

static bool is_good(struct cj_work *f, const struct cj_stored *s,
    const char **why, struct cj_record *r, bool deep);

static cutejit_status
prune(struct cj_work *f, void *arguments)
{
	struct pruning *p = arguments;
	struct cj_record r;
	struct cj_stored *list;
	const char *why;
	size_t count, i, kept = 0;
	cutejit_status status = scan_all(f, &list, &count);

	for (i = 0; i < count; i++) {
		struct cj_mark m = cj_arena_mark(&f->arena);
		bool good = !list[i].is_entry
		    || is_good(f, &list[i], &why, &r, true);

		cj_arena_release(&f->arena, m);
		if (good)
			list[kept++] = list[i];
		else
			drop_file(&p->bound, &list[i]);
		cj_check_time(f);
	}
	p->bound.max_bytes = p->max_bytes;
	p->bound.oldest = p->older_than == 0 ? INT64_MIN
	    : time(NULL) - (int64_t)(p->older_than < INT32_MAX
	    ? p->older_than : INT32_MAX);
	keep_bound(&p->bound, list, kept);
	return status;
}

cutejit_status
cutejit_cache_prune(cutejit_context *context, uint64_t max_bytes,
    uint64_t older_than, uint64_t *entries, uint64_t *bytes)
{
	struct pruning p = { max_bytes, older_than, { 0 } };
	cutejit_status status;

	if (context == NULL)
		return CUTEJIT_USAGE;
	status = cj_enter(context, prune, &p);
	if (entries != NULL)
		*entries = p.bound.removed;
	if (bytes != NULL)
		*bytes = p.bound.removed_bytes;
	return status;
}

/* ---- listing ------------------------------------------------------------- */

static bool
is_good(struct cj_work *f, const struct cj_stored *s, const char **why,
    struct cj_record *r, bool deep)
{
	int fd = open(s->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;
	size_t got = 0, length = s->bytes;
	char *bytes;

	memset(r, 0, sizeof *r);
	*why = "it cannot be read";
	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && st.st_uid != geteuid()) {
		close(fd);
		*why = "it belongs to another user";
		return false;
	}
	bytes = cj_alloc(&f->arena, length + 1);
	while (got < length) {
		ssize_t n = read(fd, bytes + got, length - got);

		if (n <= 0)
			break;
		got += (size_t)n;
	}
	close(fd);
	*why = cj_record_decode(bytes, got, NULL, deep, r);
	return *why == NULL;
}

static const char *
text_of(const struct cj_record *r, enum cj_section s)
{
	return r->section[s].bytes != NULL ? r->section[s].bytes : "";
}

static void
describe(struct cj_work *f, const struct cj_stored *s, bool deep,
    cutejit_cache_entry *e)
{
	struct cj_record r;
	const char *why;

	memset(e, 0, sizeof *e);
	e->is_good = is_good(f, s, &why, &r, deep);
	e->why = e->is_good ? "" : why;
	if (!e->is_good)
		memset(&r, 0, sizeof r);
	e->key = s->name;
	e->file = s->path;
	e->kernel = text_of(&r, CJ_SECTION_KERNEL);
	e->binding = text_of(&r, CJ_SECTION_BINDING);
	e->target = text_of(&r, CJ_SECTION_TARGET);
	e->assembler = text_of(&r, CJ_SECTION_ASSEMBLER);
	e->product = text_of(&r, CJ_SECTION_PRODUCT);
	e->bytes = s->bytes;
	e->made = s->made;
	e->used = s->used;
}

struct listing {
	cutejit_cache_fn *each;
	void *user;
	const char *key;		/* beginning of keys; "": all */
	bool deep;
	size_t shown;
};

static cutejit_status
list(struct cj_work *f, void *arguments)
{
	struct listing *l = arguments;
	struct cj_stored *at;
	size_t count, i;
	cutejit_status status = scan_all(f, &at, &count);

	for (i = 0; i < count; i++) {
		struct cj_mark m = cj_arena_mark(&f->arena);
		cutejit_cache_entry e;

		if (!at[i].is_entry
		    || strncmp(at[i].name, l->key, strlen(l->key)) != 0)
			continue;
		cj_check_time(f);
		describe(f, &at[i], l->deep, &e);
		l->shown++;
		if (l->each(l->user, &e) != 0)
			break;
		cj_arena_release(&f->arena, m);
	}
	return status;
}

static cutejit_status
show(struct cj_work *f, void *arguments)
{
	struct listing *l = arguments;
	cutejit_status status = list(f, arguments);

	if (l->shown != 0 || status != CUTEJIT_OK)
		return status;
	return cj_fail(f, CUTEJIT_ERROR, CJ_DIAG_USAGE,
	    "the cache has no entry whose key begins with \"%s\"", l->key);
}

cutejit_status
cutejit_cache_list(cutejit_context *context, cutejit_cache_fn *each,
    void *user)
{
	struct listing l = { each, user, "", false, 0 };

	if (context == NULL || each == NULL)
		return cj_misuse(context,
		    "a function or a place for a result is NULL");
	return cj_enter(context, list, &l);
}

cutejit_status
cutejit_cache_verify(cutejit_context *context, cutejit_cache_fn *each,
    void *user)
{
	struct listing l = { each, user, "", true, 0 };

	if (context == NULL || each == NULL)
		return cj_misuse(context,
		    "a function or a place for a result is NULL");
	return cj_enter(context, list, &l);
}

cutejit_status
cutejit_cache_show(cutejit_context *context, const char *key,
    cutejit_cache_fn *each, void *user)
{
	struct listing l = { each, user, key, true, 0 };

	if (context == NULL || key == NULL || each == NULL)
		return cj_misuse(context,
		    "the key, or the function to tell, is NULL");
	return cj_enter(context, show, &l);
}

static cutejit_status
count(struct cj_work *f, void *arguments)
{
	struct cj_store *s = f->context->store;
	cutejit_cache_stats *out = arguments;
	struct cj_stored *at;
	size_t n, i;

	memset(out, 0, sizeof *out);
	at = scan(&f->arena, s, NULL, &n);
	for (i = 0; i < n; i++) {
		out->entries += at[i].is_entry;
		out->bytes += at[i].bytes;
	}
	out->limit_bytes = s->limit;
	out->memory_hits = atomic_load(&s->memory_hits);
	out->disk_hits = atomic_load(&s->disk_hits);
	out->misses = atomic_load(&s->misses);
	out->damaged = atomic_load(&s->damaged);
	out->stored = atomic_load(&s->stored);
	out->evicted = atomic_load(&s->evicted);
	out->waited = atomic_load(&s->waited);
	out->remote_hits = atomic_load(&s->remote_hits);
	out->remote_misses = atomic_load(&s->remote_misses);
	out->remote_stored = atomic_load(&s->remote_stored);
	out->remote_errors = atomic_load(&s->remote_errors);
	return CUTEJIT_OK;
}

cutejit_status
cutejit_cache_stats_get(cutejit_context *context, cutejit_cache_stats *out)
{
	if (context == NULL || out == NULL)
		return cj_misuse(context, "the place for the result is NULL");
	return cj_enter(context, count, out);
}

const char *
cutejit_cache_folder(const cutejit_context *context)
{
	return context != NULL ? context->store->root : NULL;
}

const char *
cutejit_cache_remote(const cutejit_context *context, const char **why)
{
	const struct cj_store *s = context != NULL ? context->store : NULL;

	if (why != NULL)
		*why = s != NULL ? s->remote_why : NULL;
	return s != NULL && s->remote != NULL ? s->remote->shown
	    : NULL;
}

const char *
cutejit_cache_why(const cutejit_context *context)
{
	return context != NULL ? context->store->why : NULL;
}
