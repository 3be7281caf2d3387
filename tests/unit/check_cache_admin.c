/*
 * Listing, checking and pruning what the cache holds.
 */
#include "check_main.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "runtime/cache.h"

static char folder[64];
static cutejit_context *ctx;

static cutejit_status
put(struct cj_work *f, void *arguments)
{
	const char *bytes;
	size_t length;
	int *n = arguments;
	struct cj_digest k = cj_digest_of(n, sizeof *n);
	struct cj_record r = { 0 };
	int i;

	for (i = 0; i < CJ_SECTION_COUNT; i++)
		r.section[i].bytes = "";
	r.section[CJ_SECTION_KERNEL].bytes = "relu";
	r.section[CJ_SECTION_KERNEL].length = 4;
	bytes = cj_record_encode(&f->arena, &k, &r, &length);
	cj_store_put(f, &k, bytes, length);
	return CUTEJIT_OK;
}

static void
path_of(char path[256], int n)
{
	struct cj_digest k = cj_digest_of(&n, sizeof n);
	char text[65];

	cj_digest_text(&k, text);
	snprintf(path, 256, "%s/v1/%.2s/%s", folder, text, text);
}

static void
set_age(const char *path, int64_t seconds)
{
	struct timespec times[2] = {
		{ .tv_sec = time(NULL) - seconds },
		{ .tv_sec = time(NULL) - seconds }
	};

	ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* Five entries, entry n last used n hours ago. */
static void
setup(void)
{
	cutejit_options o = CUTEJIT_OPTIONS_INIT;
	char path[256];
	int i;

	snprintf(folder, sizeof folder, "/tmp/cutejit-check-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	o.cache_folder = folder;
	ck_assert_int_eq(cutejit_context_create(&o, &ctx), CUTEJIT_OK);
	for (i = 0; i < 5; i++) {
		ck_assert_int_eq(cj_enter(ctx, put, &i), CUTEJIT_OK);
		path_of(path, i);
		set_age(path, i * 3600);
	}
}

static void
teardown(void)
{
	char command[96];

	cutejit_context_destroy(ctx);
	snprintf(command, sizeof command, "rm -rf %s", folder);
	ck_assert_int_eq(system(command), 0);
}

struct seen {
	int count, good;
	int64_t last;
	char key[65];
};

static int
see(void *user, const cutejit_cache_entry *e)
{
	struct seen *s = user;

	s->count++;
	s->good += e->is_good;
	if (s->last != 0)
		ck_assert_int_le(e->used, s->last);
	s->last = e->used;
	snprintf(s->key, sizeof s->key, "%s", e->key);
	if (e->is_good)
		ck_assert_str_eq(e->kernel, "relu");
	else
		ck_assert_str_ne(e->why, "");
	return 0;
}

static void
damage(int n)
{
	char path[256];
	struct stat st;
	int fd;

	path_of(path, n);
	fd = open(path, O_RDWR);
	ck_assert_int_eq(fstat(fd, &st), 0);
	ck_assert_int_eq(pwrite(fd, "?", 1, st.st_size - 1), 1);
	close(fd);
}

START_TEST(test_list)
{
	struct seen s = { 0 };

	ck_assert_int_eq(cutejit_cache_list(ctx, see, &s), CUTEJIT_OK);
	ck_assert_int_eq(s.count, 5);
	ck_assert_int_eq(s.good, 5);
}
END_TEST

START_TEST(test_verify)
{
	struct seen s = { 0 };

	damage(2);
	ck_assert_int_eq(cutejit_cache_verify(ctx, see, &s), CUTEJIT_OK);
	ck_assert_int_eq(s.count, 5);
	ck_assert_int_eq(s.good, 4);
}
END_TEST

START_TEST(test_show)
{
	struct seen s = { 0 }, one = { 0 };

	ck_assert_int_eq(cutejit_cache_list(ctx, see, &s), CUTEJIT_OK);
	s.key[12] = '\0';
	ck_assert_int_eq(cutejit_cache_show(ctx, s.key, see, &one),
	    CUTEJIT_OK);
	ck_assert_int_eq(one.count, 1);
	ck_assert_int_eq(cutejit_cache_show(ctx, "zz", see, &one),
	    CUTEJIT_ERROR);
	ck_assert_uint_eq(cutejit_report_count(
	    cutejit_context_report(ctx)), 1);
}
END_TEST

START_TEST(test_prune_by_age)
{
	uint64_t entries, bytes;
	struct seen s = { 0 };

	ck_assert_int_eq(cutejit_cache_prune(ctx, UINT64_MAX,
	    2 * 3600 + 1800, &entries, &bytes), CUTEJIT_OK);
	ck_assert_uint_eq(entries, 2);
	ck_assert_uint_gt(bytes, 0);
	ck_assert_int_eq(cutejit_cache_list(ctx, see, &s), CUTEJIT_OK);
	ck_assert_int_eq(s.count, 3);
}
END_TEST

START_TEST(test_prune_by_size)
{
	cutejit_cache_stats stats;
	uint64_t entries, each;

	ck_assert_int_eq(cutejit_cache_stats_get(ctx, &stats), CUTEJIT_OK);
	ck_assert_uint_eq(stats.entries, 5);
	each = stats.bytes / 5;
	ck_assert_int_eq(cutejit_cache_prune(ctx, 2 * each, 0, &entries,
	    NULL), CUTEJIT_OK);
	ck_assert_uint_eq(entries, 3);
	ck_assert_int_eq(cutejit_cache_prune(ctx, 0, 0, &entries, NULL),
	    CUTEJIT_OK);
	ck_assert_uint_eq(entries, 2);
	ck_assert_int_eq(cutejit_cache_stats_get(ctx, &stats), CUTEJIT_OK);
	ck_assert_uint_eq(stats.entries, 0);
}
END_TEST

START_TEST(test_prune_damage_and_left_overs)
{
	char path[256], lock[300], aside[300];
	uint64_t entries;
	int held;

	damage(0);
	path_of(path, 1);
	snprintf(lock, sizeof lock, "%s.lock", path);
	snprintf(aside, sizeof aside, "%s.tmp.abcdef", path);
	held = open(lock, O_CREAT | O_WRONLY, 0600);
	ck_assert_int_eq(flock(held, LOCK_EX), 0);
	close(open(aside, O_CREAT | O_WRONLY, 0600));
	ck_assert_int_eq(cutejit_cache_prune(ctx, UINT64_MAX, 0, &entries,
	    NULL), CUTEJIT_OK);
	ck_assert_uint_eq(entries, 1);
	ck_assert_int_eq(access(lock, F_OK), 0);
	set_age(aside, 3000);		/* somebody may still write it */
	ck_assert_int_eq(cutejit_cache_prune(ctx, UINT64_MAX, 0, &entries,
	    NULL), CUTEJIT_OK);
	ck_assert_uint_eq(entries, 0);
	close(held);			/* as when its process ends */
	set_age(aside, 3700);
	ck_assert_int_eq(cutejit_cache_prune(ctx, UINT64_MAX, 0, &entries,
	    NULL), CUTEJIT_OK);
	ck_assert_uint_eq(entries, 2);
	ck_assert_int_ne(access(lock, F_OK), 0);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("cache_admin");
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, test_list);
	tcase_add_test(t, test_verify);
	tcase_add_test(t, test_show);
	tcase_add_test(t, test_prune_by_age);
	tcase_add_test(t, test_prune_by_size);
	tcase_add_test(t, test_prune_damage_and_left_overs);
	suite_add_tcase(s, t);
	return s;
}

CJ_CHECK_MAIN(suite)
