/*
 * Arenas, growing arrays and recovery points.
 */
#include "check_main.h"

#include "base/base.h"

static struct cj_recover point;
static struct cj_arena arena;

static void
set_up(void)
{
	cj_arena_init(&arena, &point, NULL);
}

static void
tear_down(void)
{
	cj_arena_fini(&arena);
	ck_assert_uint_eq(arena.bytes, 0);
}

/* Every size gives aligned, zeroed memory that overlaps nothing before it. */
START_TEST(memory_is_zeroed_and_aligned)
{
	static const unsigned char zeros[3000];
	size_t size;

	CJ_CHECK_RECOVER(&point);
	for (size = 0; size < sizeof zeros; size++) {
		unsigned char *p = cj_alloc(&arena, size);

		ck_assert_uint_eq((uintptr_t)p % _Alignof(max_align_t), 0);
		ck_assert_mem_eq(p, zeros, size);
		memset(p, 0xff, size);
	}
}
END_TEST

START_TEST(large_blocks_get_their_own_chunk)
{
	unsigned char *p;

	CJ_CHECK_RECOVER(&point);
	p = cj_alloc(&arena, 40u << 20);
	p[(40u << 20) - 1] = 1;
	ck_assert_uint_ge(arena.bytes, 40u << 20);
}
END_TEST

/* Whatever was there before: large chunks come from the system zeroed, and what
 * comes in them again is cleared. */
START_TEST(large_blocks_are_zeroed)
{
	enum { LARGE = 9 << 20 };
	struct cj_mark m;
	unsigned char *p;
	int turn;

	CJ_CHECK_RECOVER(&point);
	m = cj_arena_mark(&arena);
	for (turn = 0; turn < 8; turn++) {
		p = cj_alloc(&arena, LARGE + (size_t)turn);
		ck_assert(p[0] == 0 && memcmp(p, p + 1, LARGE - 1) == 0);
		memset(p, 0xff, LARGE);
		if (turn % 2 != 0)
			cj_arena_release(&arena, m);
	}
}
END_TEST

START_TEST(release_takes_back_what_came_after)
{
	struct cj_mark m;
	char *before, *after, *again;
	size_t bytes;

	CJ_CHECK_RECOVER(&point);
	before = cj_strdup(&arena, "kept");
	m = cj_arena_mark(&arena);
	bytes = arena.bytes;
	after = cj_alloc(&arena, 100);
	memset(after, 1, 100);
	cj_alloc(&arena, 1u << 20);
	cj_arena_release(&arena, m);
	ck_assert_uint_eq(arena.bytes, bytes);
	ck_assert_str_eq(before, "kept");
	again = cj_alloc(&arena, 100);
	ck_assert_ptr_eq(again, after);
	ck_assert_int_eq(again[99], 0);
}
END_TEST

START_TEST(limit_leaves_by_the_recovery_point)
{
	arena.limit = 1u << 20;
	if (CJ_RECOVER(&point)) {
		ck_assert_int_eq(point.why, CJ_WHY_MEMORY);
		ck_assert_ptr_nonnull(strstr(point.text, "1048576"));
		return;
	}
	for (;;)
		cj_alloc(&arena, 1000);
}
END_TEST

START_TEST(product_of_an_array_is_checked)
{
	if (CJ_RECOVER(&point)) {
		ck_assert_int_eq(point.why, CJ_WHY_MEMORY);
		return;
	}
	cj_alloc_array(&arena, SIZE_MAX / 8, 16);
	ck_abort_msg("an impossible array was given out");
}
END_TEST

struct counting {
	int left;	/* allocations that still succeed */
	int live;
};

static void *
counting_alloc(void *user, size_t bytes)
{
	struct counting *c = user;
	void *p;

	if (c->left-- <= 0)
		return NULL;
	p = malloc(bytes);
	c->live += p != NULL;
	return p;
}

static void
counting_release(void *user, void *memory)
{
	struct counting *c = user;

	c->live--;
	free(memory);
}

/* Whichever allocation fails, control comes back and nothing is lost. */
START_TEST(every_allocation_may_fail)
{
	struct counting c = { _i, 0 };
	struct cj_allocator mem = { counting_alloc, counting_release, &c };
	struct cj_recover r = { 0 };
	struct cj_arena a;

	cj_arena_init(&a, &r, &mem);
	if (CJ_RECOVER(&r)) {
		ck_assert_int_eq(r.why, CJ_WHY_MEMORY);
	} else {
		int i;

		for (i = 0; i < 8; i++)
			cj_alloc(&a, 1u << 20);
		ck_assert_int_ge(_i, 2);
	}
	cj_arena_fini(&a);
	ck_assert_int_eq(c.live, 0);
}
END_TEST

START_TEST(arrays_grow)
{
	CJ_VEC(int) v = { 0 };
	int i;

	CJ_CHECK_RECOVER(&point);
	for (i = 0; i < 10000; i++)
		*cj_push(&arena, &v) = i;
	ck_assert_uint_eq(v.len, 10000);
	for (i = 0; i < 10000; i++)
		ck_assert_int_eq(v.at[i], i);
}
END_TEST

/* An array alone on its arena grows where it stands. */
START_TEST(last_allocation_grows_in_place)
{
	char *p, *q;

	CJ_CHECK_RECOVER(&point);
	p = cj_alloc(&arena, 24);
	memset(p, 7, 24);
	q = cj_regrow(&arena, p, 24, 100);
	ck_assert_ptr_eq(p, q);
	ck_assert_int_eq(q[23], 7);
	ck_assert_int_eq(q[24], 0);
	ck_assert_int_eq(q[99], 0);
	cj_alloc(&arena, 1);
	q = cj_regrow(&arena, p, 100, 200);
	ck_assert_ptr_ne(p, q);
	ck_assert_int_eq(q[23], 7);
	ck_assert_int_eq(q[199], 0);
}
END_TEST

START_TEST(copies_are_terminated)
{
	CJ_CHECK_RECOVER(&point);
	ck_assert_str_eq(cj_strndup(&arena, "abcdef", 3), "abc");
	ck_assert_str_eq(cj_strndup(&arena, "", 0), "");
	ck_assert_str_eq(cj_printf(&arena, "%d-%s", 42, "x"), "42-x");
	ck_assert_mem_eq(cj_memdup(&arena, "a\0b", 3), "a\0b", 3);
}
END_TEST

START_TEST(fault_of_ours_names_its_place)
{
	if (CJ_RECOVER(&point)) {
		ck_assert_int_eq(point.why, CJ_WHY_BUG);
		ck_assert_ptr_nonnull(strstr(point.text, "check_arena.c:"));
		ck_assert_ptr_nonnull(strstr(point.text, "row 7"));
		return;
	}
	cj_bug(&point, "row %d", 7);
}
END_TEST

static Suite *
arena_suite(void)
{
	Suite *s = suite_create("arena");
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, memory_is_zeroed_and_aligned);
	tcase_add_test(t, large_blocks_get_their_own_chunk);
	tcase_add_test(t, large_blocks_are_zeroed);
	tcase_add_test(t, release_takes_back_what_came_after);
	tcase_add_test(t, limit_leaves_by_the_recovery_point);
	tcase_add_test(t, product_of_an_array_is_checked);
	tcase_add_loop_test(t, every_allocation_may_fail, 0, 9);
	tcase_add_test(t, arrays_grow);
	tcase_add_test(t, last_allocation_grows_in_place);
	tcase_add_test(t, copies_are_terminated);
	tcase_add_test(t, fault_of_ours_names_its_place);
	suite_add_tcase(s, t);
	return s;
}

CJ_CHECK_MAIN(arena_suite)
