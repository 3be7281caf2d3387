/*
 * Symbolic integers: random expressions over symbols of known range and
 * divisor are built as terms and computed directly; both must agree for all
 * values, and what is known of a term must hold. Then handles that must be
 * equal, and text.
 */
#include "check_main.h"

#include <time.h>

#include "base/base.h"
#include "layout/sym.h"
#include "random.h"

enum { SYMBOLS = 6, SAMPLES = 24, NODES = 40, ROUNDS = 2500 };

static struct cj_recover point;
static struct cj_arena arena;
static struct cj_names names;
static struct cj_symtab t;

static void
set_up(void)
{
	cj_arena_init(&arena, &point, NULL);
	CJ_CHECK_RECOVER(&point);
	cj_names_init(&names, &arena);
	cj_symtab_init(&t, &arena, &names);
}

static void
tear_down(void)
{
	cj_names_fini(&names);
	cj_arena_fini(&arena);
}

static int64_t
random_in(int64_t lo, int64_t hi)
{
	return lo + (int64_t)(random_word() % (uint64_t)(hi - lo + 1));
}

static struct cj_int
symbol(const char *name, int64_t lo, int64_t hi, int64_t divisor)
{
	return cj_symbol(&t, cj_intern_str(&names, name),
	    (uint32_t)t.terms.len, lo, hi, divisor);
}

static struct cj_int
extent(const char *name)
{
	return symbol(name, 1, INT64_MAX, 1);
}

static const char *
text(struct cj_int a)
{
	struct cj_strbuf b;

	cj_strbuf_init(&b, &arena);
	cj_int_print(&b, &t, a);
	return b.text;
}

/* ---- random expressions ------------------------------------------------ */

struct node {
	struct cj_int term;
	int64_t value[SAMPLES];
	bool good[SAMPLES];	/* no overflow on the way */
};

static struct node nodes[SYMBOLS + NODES];
static int64_t symbol_value[SAMPLES][SYMBOLS];
static unsigned sample;

static int64_t
value_of(void *user, uint32_t number)
{
	(void)user;
	return symbol_value[sample][number];
}

static int64_t
floor_div(int64_t a, int64_t b)
{
	return b == 0 ? 0 : a / b - (a % b != 0 && (a % b < 0) != (b < 0));
}

/* The meaning of an operation, on values far from the ends of 64 bits. */
static int64_t
apply(unsigned op, int64_t a, int64_t b)
{
	switch (op) {
	case 0:
		return a + b;
	case 1:
		return a - b;
	case 2:
		return a * b;
	case 3:
		return floor_div(a, b);
	case 4:
		return b == 0 ? a : a - b * floor_div(a, b);
	case 5:
		return b == 0 ? 0 : -floor_div(-a, b);
	case 6:
		return a < b ? a : b;
	case 7:
		return a > b ? a : b;
	case 8:
		return a ^ b;
	case 9:
		return a & b;
	case 10:
		return a | b;
	default:
		return a < 0 ? -a : a;
	}
}

static struct cj_int
build(unsigned op, struct cj_int a, struct cj_int b)
{
	switch (op) {
	case 0:
		return cj_int_add(&t, a, b);
	case 1:
		return cj_int_sub(&t, a, b);
	case 2:
		return cj_int_mul(&t, a, b);
	case 3:
		return cj_int_div(&t, a, b);
	case 4:
		return cj_int_mod(&t, a, b);
	case 5:
		return cj_int_ceil_div(&t, a, b);
	case 6:
		return cj_int_min(&t, a, b);
	case 7:
		return cj_int_max(&t, a, b);
	case 8:
		return cj_int_bit(&t, CJ_TERM_XOR, a, b);
	case 9:
		return cj_int_bit(&t, CJ_TERM_AND, a, b);
	case 10:
		return cj_int_bit(&t, CJ_TERM_OR, a, b);
	default:
		return cj_int_abs(&t, a);
	}
}

static bool
is_small(int64_t v)
{
	return v > -((int64_t)1 << 40) && v < (int64_t)1 << 40;
}

static void
make_symbols(void)
{
	unsigned i, s;

	for (i = 0; i < SYMBOLS; i++) {
		int64_t d = random_in(0, 2) == 0 ? (int64_t)1
		    << random_in(0, 4) : random_in(1, 6);
		int64_t lo = random_in(0, 3) == 0 ? random_in(-9, 0)
		    : random_in(0, 1);
		int64_t hi = lo + random_in(1, 40);
		bool open = random_in(0, 2) == 0;

		nodes[i].term = cj_symbol(&t, 0, i, lo * d, open ? INT64_MAX
		    : hi * d, d);
		for (s = 0; s < SAMPLES; s++) {
			symbol_value[s][i] = d * random_in(lo, hi);
			nodes[i].value[s] = symbol_value[s][i];
			nodes[i].good[s] = true;
		}
	}
}

/* A node over two earlier ones, or a known number on one side. */
static void
make_node(unsigned n)
{
	static const int64_t numbers[] = { 0, 1, 2, 3, 4, 5, 7, 8, 12, 16, 64,
	    -1, -2, -8, 31, 48 };
	struct node *x = &nodes[n], *a, *b;
	unsigned op = (unsigned)random_in(0, 11), s;
	int64_t k = numbers[random_in(0, 15)];
	bool known = random_in(0, 2) != 0;

	a = &nodes[random_in(0, n - 1)];
	b = &nodes[random_in(0, n - 1)];
	x->term = build(op, a->term, known ? cj_known(k) : b->term);
	for (s = 0; s < SAMPLES; s++) {
		int64_t v = known ? k : b->value[s];

		x->good[s] = a->good[s] && (known || b->good[s])
		    && is_small(a->value[s]) && is_small(v)
		    && (op != 2 || (llabs(a->value[s]) < 1 << 20
		    && llabs(v) < 1 << 20));
		x->value[s] = x->good[s] ? apply(op, a->value[s], v) : 0;
	}
}

static void
check_node(const struct node *x)
{
	struct cj_range r = cj_int_range(&t, x->term);
	int64_t d = cj_int_divisor(&t, x->term), v;

	for (sample = 0; sample < SAMPLES; sample++) {
		if (!x->good[sample]
		    || !cj_int_eval(&t, x->term, value_of, NULL, &v))
			continue;
		if (v != x->value[sample])
			ck_abort_msg("%s is %lld, should be %lld",
			    text(x->term), (long long)v,
			    (long long)x->value[sample]);
		if (v < r.lo || v > r.hi)
			ck_abort_msg("%s: %lld is not in %lld..%lld",
			    text(x->term), (long long)v, (long long)r.lo,
			    (long long)r.hi);
		if (d == 0 ? v != 0 : v % d != 0)
			ck_abort_msg("%s: %lld is no multiple of %lld",
			    text(x->term), (long long)v, (long long)d);
	}
}

static void
check_pair(const struct node *a, const struct node *b)
{
	enum cj_truth equal = cj_int_equal(&t, a->term, b->term);
	enum cj_truth less = cj_int_less(&t, a->term, b->term);
	enum cj_truth most = cj_int_less_equal(&t, a->term, b->term);
	unsigned s;

	for (s = 0; s < SAMPLES; s++) {
		int64_t x = a->value[s], y = b->value[s];

		if (!a->good[s] || !b->good[s])
			continue;
		/* ck_assert writes to a file each time */
		if ((equal != CJ_MAYBE && (equal == CJ_YES) != (x == y))
		    || (less != CJ_MAYBE && (less == CJ_YES) != (x < y))
		    || (most != CJ_MAYBE && (most == CJ_YES) != (x <= y)))
			ck_abort_msg("%s and %s compare as %d %d %d, are"
			    " %lld and %lld", text(a->term), text(b->term),
			    equal, less, most, (long long)x, (long long)y);
	}
}

START_TEST(random_terms_have_their_value)
{
	unsigned round, n;

	seed = (uint64_t)time(NULL) * 2654435761u | 1;
	if (getenv("CJ_SEED") != NULL)
		seed = strtoull(getenv("CJ_SEED"), NULL, 0);
	printf("seed %llu\n", (unsigned long long)seed);
	for (round = 0; round < ROUNDS; round++) {
		struct cj_mark mark = cj_arena_mark(&arena);

		cj_symtab_init(&t, &arena, &names);
		make_symbols();
		for (n = SYMBOLS; n < SYMBOLS + NODES && !t.overflow; n++) {
			make_node(n);
			if (t.overflow)
				break;
			check_node(&nodes[n]);
			check_pair(&nodes[n], &nodes[random_in(0, n)]);
		}
		cj_arena_release(&arena, mark);
	}
}
END_TEST

/* ---- equal handles ------------------------------------------------------ */

#define SAME(a, b)							\
	do {								\
		struct cj_int x_ = (a), y_ = (b);			\
									\
		ck_assert_msg(cj_int_same(x_, y_), "%s is not %s",	\
		    text(x_), text(y_));				\
	} while (0)

START_TEST(equal_functions_are_equal_handles)
{
	struct cj_int m = extent("M"), n = symbol("N", 8, INT64_MAX, 8);
	struct cj_int k = symbol("K", 1, INT64_MAX, 16);
	struct cj_int two = cj_known(2), eight = cj_known(8);
	struct cj_int i = symbol("i", 0, INT64_MAX, 1);
	struct cj_int j = symbol("j", 0, 7, 1);

	SAME(cj_int_mul(&t, cj_int_div(&t, n, eight), eight), n);
	SAME(cj_int_mul(&t, cj_int_div(&t, n, eight), cj_known(4)),
	    cj_int_div(&t, n, two));
	SAME(cj_int_mul(&t, cj_int_div(&t, n, eight), m),
	    cj_int_div(&t, cj_int_mul(&t, n, m), eight));
	SAME(cj_int_ceil_div(&t, n, eight), cj_int_div(&t, n, eight));
	SAME(cj_int_div(&t, cj_int_mul(&t, m, n), m), n);
	SAME(cj_int_mod(&t, cj_int_mul(&t, m, n), m), cj_known(0));
	SAME(cj_int_div(&t, cj_int_add(&t, cj_int_mul(&t, m, eight), j),
	    eight), m);
	SAME(cj_int_mod(&t, cj_int_add(&t, cj_int_mul(&t, m, eight), j),
	    eight), j);
	SAME(cj_int_div(&t, n, cj_int_div(&t, n, eight)), eight);
	SAME(cj_int_sub(&t, cj_int_add(&t, m, n), n), m);
	SAME(cj_int_mod(&t, k, eight), cj_known(0));
	SAME(cj_int_div(&t, cj_int_div(&t, i, eight), two),
	    cj_int_div(&t, i, cj_known(16)));
	SAME(cj_int_div(&t, cj_int_mod(&t, i, cj_known(64)), eight),
	    cj_int_mod(&t, cj_int_div(&t, i, eight), eight));
	SAME(cj_int_ceil_div(&t, cj_int_ceil_div(&t, m, eight), two),
	    cj_int_ceil_div(&t, m, cj_known(16)));
	SAME(cj_int_bit(&t, CJ_TERM_XOR, j, cj_known(64)),
	    cj_int_add(&t, j, cj_known(64)));
}
END_TEST

START_TEST(coordinates_put_together_are_the_index)
{
	struct cj_int i = symbol("i", 0, INT64_MAX, 1), m = extent("M");
	struct cj_int q = cj_int_div(&t, i, m), r = cj_int_mod(&t, i, m);
	struct cj_int a = cj_int_mod(&t, i, cj_known(4));
	struct cj_int b = cj_int_mod(&t, cj_int_div(&t, i, cj_known(4)),
	    cj_known(8));
	struct cj_int c = cj_int_div(&t, i, cj_known(32));

	SAME(cj_int_add(&t, cj_int_mul(&t, q, m), r), i);
	SAME(cj_int_add(&t, cj_int_add(&t, a, cj_int_mul(&t, b,
	    cj_known(4))), cj_int_mul(&t, c, cj_known(32))), i);
}
END_TEST

/* A divisor that may be 0: a / 0 is 0, a % 0 is a. */
START_TEST(zero_divisors_are_kept_apart)
{
	struct cj_int z = symbol("z", 0, INT64_MAX, 1);
	int64_t v;

	ck_assert(!cj_int_same(cj_int_div(&t, z, z), cj_known(1)));
	SAME(cj_int_div(&t, z, cj_known(0)), cj_known(0));
	SAME(cj_int_mod(&t, z, cj_known(0)), z);
	memset(symbol_value, 0, sizeof symbol_value);
	sample = 0;
	z = cj_symbol(&t, 0, 0, 0, INT64_MAX, 1);
	ck_assert(cj_int_eval(&t, cj_int_div(&t, z, z), value_of, NULL, &v));
	ck_assert_int_eq(v, 0);
}
END_TEST

START_TEST(overflow_raises_the_flag)
{
	struct cj_int big = cj_known(INT64_MAX);

	cj_int_add(&t, big, cj_known(1));
	ck_assert(t.overflow);
	t.overflow = false;
	cj_int_mul(&t, cj_known((int64_t)1 << 40), cj_known((int64_t)1
	    << 40));
	ck_assert(t.overflow);
	t.overflow = false;
	cj_int_mul(&t, cj_int_mul(&t, extent("M"), big), cj_known(2));
	ck_assert(t.overflow);
	t.overflow = false;
	cj_int_div(&t, cj_known(INT64_MIN), cj_known(-1));
	ck_assert(t.overflow);
}
END_TEST

/* XOR of itself shifted nests without end: refused at the limit. */
START_TEST(nesting_has_a_limit)
{
	struct cj_int x = symbol("x", 0, INT64_MAX, 1);
	unsigned i;

	for (i = 0; i < 2 * CJ_MAX_TERM_DEPTH && !t.overflow; i++)
		x = cj_int_bit(&t, CJ_TERM_XOR, x, cj_int_mul(&t, x,
		    cj_known(3)));
	ck_assert(t.overflow);
}
END_TEST

START_TEST(long_sums_have_a_limit)
{
	struct cj_int sum = cj_known(0);
	unsigned i;

	for (i = 0; i < 2 * CJ_MAX_ADDENDS && !t.overflow; i++)
		sum = cj_int_add(&t, sum, extent("x"));
	ck_assert(t.overflow);
	ck_assert_uint_ge(i, CJ_MAX_ADDENDS);
}
END_TEST

/* Each level asks for quotients of the one below, more than once. */
START_TEST(nested_quotients_are_found_again)
{
	struct cj_int a = symbol("a", 0, 100000, 1);
	unsigned i;

	for (i = 0; i < 40; i++)
		a = cj_int_add(&t, a, cj_int_mod(&t, cj_int_div(&t,
		    cj_int_add(&t, a, cj_known(i)), cj_known(3)),
		    cj_known(1000)));
	ck_assert(!t.overflow);
	ck_assert_uint_lt(t.divided_count, 40 * 1000);
}
END_TEST

/* A quotient that was asked for before a fact is simplified behind it. */
START_TEST(facts_count_for_quotients)
{
	struct cj_int m = extent("M"), q = cj_int_div(&t, m, cj_known(8));

	ck_assert(!cj_int_same(cj_int_mul(&t, q, cj_known(8)), m));
	cj_symbol_assume(&t, m, 1, 7, 1);
	ck_assert(cj_is_value(cj_int_div(&t, m, cj_known(8)), 0));
}
END_TEST

START_TEST(comparisons_use_differences)
{
	struct cj_int m = extent("M");
	struct cj_int up = cj_int_mul(&t, cj_int_ceil_div(&t, m,
	    cj_known(128)), cj_known(128));

	ck_assert_int_eq(cj_int_less(&t, m, cj_int_add(&t, m, cj_known(1))),
	    CJ_YES);
	ck_assert_int_eq(cj_int_equal(&t, m, cj_int_add(&t, m, cj_known(1))),
	    CJ_NO);
	ck_assert_int_eq(cj_int_less_equal(&t, m, up), CJ_YES);
	ck_assert_int_eq(cj_int_less(&t, up, cj_int_add(&t, m,
	    cj_known(128))), CJ_YES);
	ck_assert_int_eq(cj_int_less(&t, m, extent("N")), CJ_MAYBE);
}
END_TEST

START_TEST(facts_narrow)
{
	struct cj_int m = extent("M");

	cj_symbol_assume(&t, m, 16, 4096, 4);
	cj_symbol_assume(&t, m, 1, INT64_MAX, 6);
	ck_assert_int_eq(cj_int_range(&t, m).lo, 16);
	ck_assert_int_eq(cj_int_range(&t, m).hi, 4096);
	ck_assert_int_eq(cj_int_divisor(&t, m), 12);
	ck_assert(cj_int_divisible(&t, m, 3));
	ck_assert(!cj_int_divisible(&t, m, 8));
}
END_TEST

START_TEST(text_reads_as_written)
{
	struct cj_int m = extent("M"), n = extent("N");

	ck_assert_str_eq(text(m), "M");
	ck_assert_str_eq(text(cj_int_mul(&t, m, cj_known(8))), "M*8");
	ck_assert_str_eq(text(cj_int_ceil_div(&t, n, cj_known(8))),
	    "(N + 7)/8");
	ck_assert_str_eq(text(cj_int_mod(&t, m, cj_known(4))), "M % 4");
	ck_assert_str_eq(text(cj_int_mul(&t, m, n)), "M*N");
	ck_assert_str_eq(text(cj_int_sub(&t, m, n)), "M - N");
	ck_assert_str_eq(text(cj_int_mul(&t, cj_int_add(&t, m, cj_known(1)),
	    n)), "N + M*N");
	ck_assert_str_eq(text(cj_int_min(&t, m, n)), "min(M, N)");
	ck_assert_str_eq(text(cj_int_mul(&t, cj_int_div(&t, m, cj_known(3)),
	    cj_known(2))), "(M/3)*2");
}
END_TEST

/* How many parts a term has, all of them symbols. */
static unsigned
parts(struct cj_int a)
{
	struct cj_int part;
	unsigned n;

	for (n = 0; cj_term_part(cj_term_get(&t, a), n, &part); n++)
		ck_assert(cj_is_known(part)
		    || cj_term_get(&t, part)->kind == CJ_TERM_SYMBOL);
	return n;
}

START_TEST(terms_have_parts)
{
	struct cj_int m = extent("M"), n = extent("N");

	ck_assert_uint_eq(parts(m), 0);
	ck_assert_uint_eq(parts(cj_int_add(&t, cj_int_mul(&t, m,
	    cj_known(3)), n)), 2);
	ck_assert_uint_eq(parts(cj_int_mul(&t, m, n)), 2);
	ck_assert_uint_eq(parts(cj_int_div(&t, m, n)), 2);
	ck_assert_uint_eq(parts(cj_int_bit(&t, CJ_TERM_XOR, m,
	    cj_known(5))), 2);
}
END_TEST

static Suite *
sym_suite(void)
{
	Suite *s = suite_create("sym");
	TCase *c = tcase_create("sym");

	tcase_add_checked_fixture(c, set_up, tear_down);
	tcase_add_test(c, random_terms_have_their_value);
	tcase_add_test(c, equal_functions_are_equal_handles);
	tcase_add_test(c, coordinates_put_together_are_the_index);
	tcase_add_test(c, nested_quotients_are_found_again);
	tcase_add_test(c, facts_count_for_quotients);
	tcase_add_test(c, zero_divisors_are_kept_apart);
	tcase_add_test(c, overflow_raises_the_flag);
	tcase_add_test(c, nesting_has_a_limit);
	tcase_add_test(c, long_sums_have_a_limit);
	tcase_add_test(c, comparisons_use_differences);
	tcase_add_test(c, facts_narrow);
	tcase_add_test(c, text_reads_as_written);
	tcase_add_test(c, terms_have_parts);
	suite_add_tcase(s, c);
	return s;
}

CJ_CHECK_MAIN(sym_suite)
