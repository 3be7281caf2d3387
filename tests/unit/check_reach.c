/*
 * Views that meet, against touching every byte of small ones.
 */
#include "check_main.h"
#include "runtime/runtime.h"

enum { BYTES = 4096, TURNS = 20000 };

static uint64_t
next(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

struct sample {
	int64_t extents[3], strides[3];
	struct cj_view v;
};

static void
make(struct sample *s, uint64_t *state, char *memory)
{
	static const enum cj_kind kinds[] = { CJ_KIND_U8, CJ_KIND_F16,
	    CJ_KIND_F32, CJ_KIND_F64 };
	unsigned i;

	memset(s, 0, sizeof *s);
	s->v.kind = kinds[next(state) % 4];
	s->v.rank = (uint32_t)(next(state) % 4);
	for (i = 0; i < s->v.rank; i++) {
		s->extents[i] = (int64_t)(next(state) % 6);
		s->strides[i] = (int64_t)(next(state) % 25) - 12;
	}
	s->v.extents = s->extents;
	s->v.strides = s->strides;
	s->v.data = memory + BYTES / 2 + next(state) % 64;
}

/* How often each byte is touched; true: one more than once. */
static bool
touch(const struct cj_view *v, const char *memory, unsigned char *count)
{
	int64_t size = 1, width = cj_kind_bits(v->kind) / 8, i, b;
	bool twice = false;
	uint32_t k;

	for (k = 0; k < v->rank; k++)
		size *= v->extents[k];
	for (i = 0; i < size; i++) {
		int64_t rest = i, at = 0;

		for (k = 0; k < v->rank; k++) {
			at += rest % v->extents[k] * v->strides[k];
			rest /= v->extents[k];
		}
		for (b = 0; b < width; b++)
			twice = count[v->data + at * width + b - memory]++ !=
			    0 || twice;
	}
	return twice;
}

START_TEST(test_against_bytes)
{
	static char memory[BYTES];
	static unsigned char a[BYTES], b[BYTES];
	uint64_t state = 7;
	unsigned turn, i, meet = 0;

	for (turn = 0; turn < TURNS; turn++) {
		struct sample x, y;
		bool expected = false, twice;

		make(&x, &state, memory);
		make(&y, &state, memory);
		memset(a, 0, sizeof a);
		memset(b, 0, sizeof b);
		twice = touch(&x.v, memory, a);
		touch(&y.v, memory, b);
		for (i = 0; i < BYTES; i++)
			expected = expected || (a[i] != 0 && b[i] != 0);
		ck_assert_int_eq(cj_view_meets_itself(&x.v) >= 0, twice);
		ck_assert_int_eq(cj_views_meet(&x.v, &y.v), expected);
		ck_assert_int_eq(cj_views_meet(&y.v, &x.v), expected);
		meet += expected;
	}
	ck_assert_int_gt(meet, TURNS / 20);
	ck_assert_int_lt(meet, TURNS - TURNS / 20);
}
END_TEST

static struct cj_view
matrix(char *data, const int64_t *extents, const int64_t *strides)
{
	return (struct cj_view){ .data = data, .kind = CJ_KIND_F32,
	    .rank = 2, .extents = extents, .strides = strides };
}

START_TEST(test_interleaved)
{
	static const int64_t columns[] = { 1 << 20, 1 << 20 };
	static const int64_t every_other[] = { (int64_t)1 << 21, 2 };
	static const int64_t rows[] = { (int64_t)1 << 21, 1 };
	char *base = (char *)(uintptr_t)4096;
	struct cj_view even = matrix(base, columns, every_other);
	struct cj_view odd = matrix(base + 4, columns, every_other);
	struct cj_view left = matrix(base, columns, rows);
	struct cj_view right = matrix(base + 4 * (1 << 20), columns, rows);

	ck_assert(!cj_views_meet(&even, &odd));
	ck_assert(cj_views_meet(&even, &even));
	ck_assert(!cj_views_meet(&left, &right));
	ck_assert(cj_views_meet(&left, &odd));
	ck_assert_int_eq(cj_view_meets_itself(&even), -1);
}
END_TEST

START_TEST(test_itself)
{
	static const int64_t extents[] = { 4, 4 };
	static const int64_t same[] = { 1, 1 }, near[] = { 3, 1 };
	static const int64_t back[] = { -4, 1 }, apart[] = { 5, 2 };
	static const int64_t huge[] = { INT64_MAX / 4, INT64_MIN / 4 };
	struct cj_view v = matrix((char *)(uintptr_t)4096, extents, same);

	ck_assert_int_eq(cj_view_meets_itself(&v), 0);
	v.strides = near;
	ck_assert_int_eq(cj_view_meets_itself(&v), 0);
	v.strides = back;
	ck_assert_int_eq(cj_view_meets_itself(&v), -1);
	v.strides = apart;		/* 5 * 2 == 2 * 5 needs six of a kind */
	ck_assert_int_eq(cj_view_meets_itself(&v), -1);
	v.strides = huge;
	ck_assert_int_eq(cj_view_meets_itself(&v), -1);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("reach");
	TCase *t = tcase_create("views");

	tcase_add_test(t, test_against_bytes);
	tcase_add_test(t, test_interleaved);
	tcase_add_test(t, test_itself);
	suite_add_tcase(s, t);
	return s;
}

CJ_CHECK_MAIN(suite)
