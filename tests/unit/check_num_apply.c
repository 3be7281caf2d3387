/*
 * Arithmetic against references that share no code with it: narrow floats in
 * 128-bit fixed point, bytes in full, wide integers by their edges.
 */
#include "check_num.h"

__extension__ typedef __int128 wide;

/* A narrow float as an integer times 2^-FIXED. */
enum { FIXED = 24, ONE = 1 << FIXED };

static wide
fixed(const struct narrow *n, unsigned bits)
{
	unsigned sign = 1u << (n->bits - 1);
	wide v = (wide)(table[bits & ~sign] * (1 << FIXED));

	return bits & sign ? -v : v;
}

/* numerator / (denominator * 2^scale), rounded by search; denominator > 0. */
static unsigned
ratio_by_search(const struct narrow *n, wide numerator, wide denominator,
    int scale)
{
	wide a = numerator < 0 ? -numerator : numerator;
	unsigned sign = numerator < 0 ? 1u << (n->bits - 1) : 0;
	unsigned lo = 0, hi = most;
	wide low, high;

#define AS_WIDE(bits)	((fixed(n, (bits)) << scale) * denominator)
	while (lo < hi) {
		unsigned mid = (lo + hi + 1) / 2;

		if (AS_WIDE(mid) <= a)
			lo = mid;
		else
			hi = mid - 1;
	}
	low = AS_WIDE(lo);
	high = lo < most ? AS_WIDE(lo + 1) : 2 * low - AS_WIDE(lo - 1);
#undef AS_WIDE
	if (a - low > high - a || (a - low == high - a && lo & 1))
		lo++;
	return sign | lo;
}

/* Random f16: finite; every third is small or a denormal. */
static unsigned
random_half(const struct narrow *n)
{
	unsigned bits = (unsigned)random_word() & 0xffff;

	if (random_word() % 3 == 0)
		bits &= 0x87ff;
	return isfinite(value_by_fields(n, bits)) ? bits : bits & 0x3fff;
}

START_TEST(half_arithmetic)
{
	const struct narrow *n = &narrows[5];
	int i;

	tabulate(n);
	for (i = 0; i < 300000; i++) {
		unsigned a = random_half(n), b = random_half(n);
		unsigned c = random_half(n), got;
		wide x = fixed(n, a), y = fixed(n, b), z = fixed(n, c);

		got = (unsigned)cj_num_apply(CJ_OP_ADD, n->kind, a, b, 0);
		if (x + y != 0)
			SAME(got, ratio_by_search(n, x + y, 1,
			    0));
		got = (unsigned)cj_num_apply(CJ_OP_SUB, n->kind, a, b, 0);
		if (x - y != 0)
			SAME(got, ratio_by_search(n, x - y, 1,
			    0));
		got = (unsigned)cj_num_apply(CJ_OP_MUL, n->kind, a, b, 0);
		if (x * y != 0)
			SAME(got, ratio_by_search(n, x * y, 1,
			    FIXED));
		got = (unsigned)cj_num_apply(CJ_OP_FMA, n->kind, a, b, c);
		if (x * y + z * ONE != 0)
			SAME(got, ratio_by_search(n,
			    x * y + z * ONE, 1, FIXED));
		got = (unsigned)cj_num_apply(CJ_OP_DIV, n->kind, a, b, 0);
		if (x != 0 && y != 0)
			SAME(got, ratio_by_search(n,
			    (y < 0 ? -x : x) * ONE, y < 0 ? -y : y, 0));
	}
}
END_TEST

START_TEST(half_square_roots)
{
	const struct narrow *n = &narrows[5];
	unsigned a;

	for (a = 1; a < 0x7c00; a++) {
		/* root lies between the midpoints around it */
		unsigned got = (unsigned)cj_num_apply(CJ_OP_SQRT, n->kind, a,
		    0, 0);
		double v = value_by_fields(n, a), r = value_by_fields(n, got);
		double below = (r + value_by_fields(n, got - 1)) / 2;
		double above = (r + value_by_fields(n, got + 1)) / 2;

		ck_assert(below * below <= v && v <= above * above);
		if (below * below == v || v == above * above)
			SAME(got & 1, 0);
	}
	SAME(cj_num_apply(CJ_OP_SQRT, n->kind, 0x8000, 0, 0),
	    0x8000);
	SAME(cj_num_apply(CJ_OP_SQRT, n->kind, 0xbc00, 0, 0),
	    0x7fff);
}
END_TEST

/* bf16 with exponents near 0, so that fixed point holds all results. */
static unsigned
random_brain(void)
{
	return (unsigned)(random_word() & 0x807f) |
	    (unsigned)(127 - 8 + random_word() % 16) << 7;
}

START_TEST(brain_arithmetic)
{
	const struct narrow *n = &narrows[6];
	int i;

	tabulate(n);
	for (i = 0; i < 300000; i++) {
		unsigned a = random_brain(), b = random_brain();
		unsigned c = random_brain(), got;
		double x = value_by_fields(n, a), y = value_by_fields(n, b);
		double z = value_by_fields(n, c);

		/* exact in double: 8 bits each, exponents at most 16 apart */
		SAME(cj_num_apply(CJ_OP_ADD, n->kind, a, b, 0),
		    rounded_by_search(n, x + y, CJ_ROUND_EVEN, false));
		SAME(cj_num_apply(CJ_OP_MUL, n->kind, a, b, 0),
		    rounded_by_search(n, x * y, CJ_ROUND_EVEN, false));
		got = (unsigned)cj_num_apply(CJ_OP_FMA, n->kind, a, b, c);
		SAME(got, rounded_by_search(n, x * y + z,
		    CJ_ROUND_EVEN, false));
	}
}
END_TEST

START_TEST(fma_rounds_once)
{
	/* 1 + half a unit in the last place, and a hair beside it */
	static const struct {
		enum cj_kind k;
		double a, b, c;
		double want;
	} cases[] = {
		{ CJ_KIND_BF16, 0x1p-60, 0x1p-60, 1 + 0x1p-7, 1 + 0x1p-7 },
		{ CJ_KIND_BF16, 1.0078125, 0.50390625, 0x1p-120,
		    0.5078125 },
		{ CJ_KIND_BF16, 1, 1.0078125, 0x1p-8, 1.015625 },
		{ CJ_KIND_F16, 0x1p-12, 1, 0x1p-1 + 0x1p-11, 0x1p-1 + 0x1p-10 },
		{ CJ_KIND_F16, 0x1.004p0, 0x1p-14, 0x1p10, 0x1p10 },
		{ CJ_KIND_F32, 0x1p-12, 0x1p-12, 1, 1 },
		{ CJ_KIND_F32, 0x1.000002p0, 0x1p-24, 1, 1 + 0x1p-23 },
		{ CJ_KIND_F64, 0x1.0000000000001p0, 0x1p-53, 1,
		    1 + 0x1p-52 },
	};
	unsigned i;

	for (i = 0; i < CJ_LENGTH(cases); i++)
		ck_assert(cj_num_to_f64(cases[i].k, cj_num_apply(CJ_OP_FMA,
		    cases[i].k, cj_num_from_f64(cases[i].k, cases[i].a),
		    cj_num_from_f64(cases[i].k, cases[i].b),
		    cj_num_from_f64(cases[i].k, cases[i].c))) ==
		    cases[i].want);
}
END_TEST

/*
 * An fma in bf16 whose terms lie further apart than a double is wide: a tie
 * of bf16 that the far term decides.
 */
START_TEST(fma_sees_what_is_far)
{
	uint64_t tie_a = cj_num_from_f64(CJ_KIND_BF16, 1.5);
	/* 1.5 * 1.0078125 = 1.51171875 = 1.5078125 + half a unit */
	uint64_t tie_b = cj_num_from_f64(CJ_KIND_BF16, 1.0078125);
	uint64_t up = cj_num_from_f64(CJ_KIND_BF16, 0x1p-100);
	uint64_t down = cj_num_from_f64(CJ_KIND_BF16, -0x1p-100);

	ck_assert(cj_num_to_f64(CJ_KIND_BF16, cj_num_apply(CJ_OP_FMA,
	    CJ_KIND_BF16, tie_a, tie_b, 0)) == 1.515625);
	ck_assert(cj_num_to_f64(CJ_KIND_BF16, cj_num_apply(CJ_OP_FMA,
	    CJ_KIND_BF16, tie_a, tie_b, up)) == 1.515625);
	ck_assert(cj_num_to_f64(CJ_KIND_BF16, cj_num_apply(CJ_OP_FMA,
	    CJ_KIND_BF16, tie_a, tie_b, down)) == 1.5078125);
}
END_TEST

START_TEST(nans_and_zeros)
{
	static const struct {
		enum cj_kind k;
		uint64_t nan, some_nan, one, zero, minus_zero;
	} t[] = {
		{ CJ_KIND_F32, 0x7fffffff, 0xffc12345, 0x3f800000, 0,
		    0x80000000 },
		{ CJ_KIND_F16, 0x7fff, 0xfe01, 0x3c00, 0, 0x8000 },
		{ CJ_KIND_BF16, 0x7fff, 0xffc1, 0x3f80, 0, 0x8000 },
		{ CJ_KIND_F64, 0x7fffffffffffffff, 0xfff8000000000123,
		    0x3ff0000000000000, 0, 0x8000000000000000 },
	};
	static const enum cj_op ops[] = { CJ_OP_ADD, CJ_OP_MUL, CJ_OP_DIV,
	    CJ_OP_MIN, CJ_OP_MAX, CJ_OP_SQRT, CJ_OP_FLOOR, CJ_OP_RINT };
	unsigned i;

	for (i = 0; i < CJ_LENGTH(ops); i++)
		SAME(cj_num_apply(ops[i], t[_i].k, t[_i].some_nan,
		    t[_i].one, 0), t[_i].nan);
#define APPLY(op, a, b)							\
    cj_num_apply(CJ_OP_##op, t[_i].k, t[_i].a, t[_i].b, 0)
	SAME(APPLY(MIN, one, some_nan), t[_i].nan);
	SAME(APPLY(MAX, one, some_nan), t[_i].nan);
	SAME(APPLY(MIN, zero, minus_zero), t[_i].minus_zero);
	SAME(APPLY(MIN, minus_zero, zero), t[_i].minus_zero);
	SAME(APPLY(MAX, zero, minus_zero), 0);
	SAME(APPLY(MAX, minus_zero, zero), 0);
	SAME(APPLY(EQ, minus_zero, zero), 1);
	SAME(APPLY(LT, minus_zero, zero), 0);
	SAME(APPLY(LE, some_nan, some_nan), 0);
	SAME(APPLY(NE, some_nan, some_nan), 1);
	SAME(APPLY(EQ, some_nan, one), 0);
	SAME(APPLY(DIV, zero, zero), t[_i].nan);
	SAME(APPLY(NEG, zero, zero), t[_i].minus_zero);
	SAME(APPLY(ABS, minus_zero, zero), 0);
	SAME(APPLY(NEG, some_nan, zero),
	    t[_i].some_nan ^ t[_i].minus_zero);
	SAME(APPLY(COPYSIGN, one, minus_zero),
	    t[_i].one | t[_i].minus_zero);
#undef APPLY
}
END_TEST

static int64_t
floor_quotient(int64_t a, int64_t b)
{
	wide q;

	if (b == 0)
		return 0;
	q = (wide)a / b;
	if (q * b != a && (a < 0) != (b < 0))
		q--;
	return (int64_t)q;
}

/* All pairs of i8 and u8 against 64-bit arithmetic. */
START_TEST(bytes)
{
	int a, b;

	for (a = -128; a < 128; a++)
		for (b = -128; b < 128; b++) {
			uint64_t x = (uint64_t)(int64_t)a;
			uint64_t y = (uint64_t)(int64_t)b;
			int64_t q = (int8_t)floor_quotient(a, b);
			int64_t r = (int8_t)(b == 0 ? a : a -
			    floor_quotient(a, b) * b);

#define I8(op)	((int64_t)cj_num_apply(CJ_OP_##op, CJ_KIND_I8, x, y, 0))
#define U8(op)	((int64_t)cj_num_apply(CJ_OP_##op, CJ_KIND_U8, x & 255, \
    y & 255, 0))
			SAME((uint64_t)I8(ADD), (int8_t)(a + b));
			SAME((uint64_t)I8(MUL), (int8_t)(a * b));
			SAME((uint64_t)I8(DIV), q);
			SAME((uint64_t)I8(MOD), r);
			SAME((uint64_t)(int8_t)(I8(DIV) * b + I8(MOD)), a);
			SAME((uint64_t)I8(MUL_HI), a * b >> 8);
			SAME((uint64_t)I8(MIN), a < b ? a : b);
			SAME((uint64_t)I8(LT), a < b);
			SAME((uint64_t)I8(SHL), b < 0 || b >= 8 ? 0 :
			    (int8_t)(a * (1 << b)));
			SAME((uint64_t)I8(SHR), a >> (b < 0 || b >= 8 ? 7 :
			    b));
			SAME((uint64_t)U8(SUB), (uint8_t)(a - b));
			SAME((uint64_t)U8(DIV), (y & 255) == 0 ? 0 :
			    (int64_t)((x & 255) / (y & 255)));
			SAME((uint64_t)U8(MUL_HI), (int64_t)((x & 255) *
			    (y & 255) >> 8));
			SAME((uint64_t)U8(LE), (x & 255) <= (y & 255));
			SAME((uint64_t)U8(SHR), (y & 255) >= 8 ? 0 :
			    (int64_t)((x & 255) >> (y & 255)));
			SAME((uint64_t)U8(NOT), 255 - (int64_t)(x & 255));
			SAME((uint64_t)U8(POPC),
			    __builtin_popcount(x & 255));
			SAME((uint64_t)U8(CLZ), (x & 255) == 0 ? 8 :
			    __builtin_clz((unsigned)x & 255) - 24);
			SAME((uint64_t)I8(CTZ), (x & 255) == 0 ? 8 :
			    __builtin_ctz((unsigned)x));
#undef I8
#undef U8
		}
}
END_TEST

START_TEST(wide_integers)
{
	uint64_t least = (uint64_t)INT64_MIN, minus = (uint64_t)-1;
	uint64_t least32 = (uint64_t)(int64_t)INT32_MIN;

#define I64(op, a, b)	cj_num_apply(CJ_OP_##op, CJ_KIND_I64, a, b, 0)
	SAME(I64(DIV, least, minus), least);
	SAME(I64(MOD, least, minus), 0);
	SAME(I64(ABS, least, 0), least);
	SAME(I64(MUL_HI, minus, minus), 0);
	SAME(I64(CLZ, 0, 0), 64);
	SAME(I64(CTZ, 0, 0), 64);
	SAME(I64(SHL, 1, 63), least);
	SAME(I64(SHL, 1, 64), 0);
#undef I64
	SAME(cj_num_apply(CJ_OP_DIV, CJ_KIND_I32, least32, minus,
	    0), least32);
	SAME(cj_num_apply(CJ_OP_MUL_HI, CJ_KIND_U64, minus,
	    minus, 0), minus - 1);
	SAME(cj_num_apply(CJ_OP_FMA, CJ_KIND_U32, 65536, 65536,
	    7), 7);
	SAME(cj_num_apply(CJ_OP_NOT, CJ_KIND_BOOL, 1, 0, 0), 0);
	ck_assert(cj_num_index_overflows(CJ_OP_MUL, INT64_MAX, 2, 0));
	ck_assert(cj_num_index_overflows(CJ_OP_SHL, 1, 63, 0));
	ck_assert(!cj_num_index_overflows(CJ_OP_SHL, -1, 63, 0));
	ck_assert(!cj_num_index_overflows(CJ_OP_FMA, INT64_MAX, 1, 0));
	ck_assert(cj_num_index_overflows(CJ_OP_FMA, INT64_MAX, 1, 1));
}
END_TEST

/* The recipe of num.h, literally. */
static int64_t
divide_by_recipe(int64_t a, const uint64_t d[2])
{
	uint64_t x = (uint64_t)(a ^ a >> 63);
	uint64_t high = cj_num_apply(CJ_OP_MUL_HI, CJ_KIND_U64, d[0], x, 0);

	return (int64_t)((high + x) >> (d[1] & 0xffffffff)) ^ a >> 63;
}

static int32_t
divide_narrow(int32_t a, const uint64_t d[2])
{
	uint32_t x = (uint32_t)(a ^ a >> 31);
	uint32_t high = (uint32_t)((d[1] >> 32) * x >> 32);

	return (int32_t)((high + x) >> (d[1] & 31)) ^ a >> 31;
}

START_TEST(divisors)
{
	static const int64_t edges[] = { 1, 2, 3, 5, 7, 10, 127, 128, 129,
	    INT32_MAX, INT64_C(1) << 31, INT64_C(1) << 62, INT64_MAX - 1,
	    INT64_MAX };
	uint64_t m[2];
	int i, j;

	for (i = 0; i < 200000; i++) {
		int64_t d = i < (int)CJ_LENGTH(edges) ? edges[i] :
		    (int64_t)((random_word() >> 1) >> random_word() % 63);

		if (d == 0)
			continue;
		cj_num_divisor(d, m);
		for (j = 0; j < 8; j++) {
			int64_t a = (int64_t)random_word() >>
			    random_word() % 64;

			if (j == 0)
				a = INT64_MAX;
			if (j == 1)
				a = INT64_MIN;
			if (j == 2)
				a = INT64_MAX / d * d;
			if (j == 3)
				a = INT64_MAX / d * d - 1;
			SAME((uint64_t)divide_by_recipe(a, m),
			    floor_quotient(a, d));
			if (d <= INT32_MAX && a > INT32_MIN && a <= INT32_MAX)
				SAME((uint64_t)divide_narrow((int32_t)a, m),
				    floor_quotient(a, d));
		}
	}
	/* without its sign the quotient by 0 is 0 */
	cj_num_divisor(0, m);
	for (i = 0; i < 64; i++) {
		SAME((uint64_t)divide_by_recipe(INT64_MAX >> i, m), 0);
		SAME((uint64_t)divide_narrow(INT32_MAX >> i % 32, m), 0);
	}
}
END_TEST

START_TEST(approximations)
{
#define NEAR(op, a, want)						\
	ck_assert(fabs(cj_num_to_f64(CJ_KIND_F32, cj_num_apply(		\
	    CJ_OP_APPROX_##op, CJ_KIND_F32, float_bits(a), 0, 0)) -	\
	    (want)) <= 0x1p-23 * fabs(want))
	NEAR(EX2, 0.5f, 1.41421356237309505);
	NEAR(LG2, 3.0f, 1.58496250072115618);
	NEAR(SIN, 1.0f, 0.84147098480789651);
	NEAR(COS, 1.0f, 0.54030230586813972);
	NEAR(TANH, 0.5f, 0.46211715726000976);
	NEAR(RCP, 3.0f, 0.33333333333333333);
	NEAR(RSQRT, 2.0f, 0.70710678118654752);
	NEAR(SQRT, 2.0f, 1.41421356237309505);
#undef NEAR
	SAME(cj_num_apply(CJ_OP_APPROX_EX2, CJ_KIND_F32,
	    float_bits(200), 0, 0), float_bits(INFINITY));
	SAME(cj_num_apply(CJ_OP_APPROX_LG2, CJ_KIND_F32,
	    float_bits(-1), 0, 0), 0x7fffffff);
	/* denormals count as 0, in and out */
	SAME(cj_num_apply(CJ_OP_APPROX_EX2, CJ_KIND_F32,
	    float_bits(-140), 0, 0), float_bits(0));
	SAME(cj_num_apply(CJ_OP_APPROX_RCP, CJ_KIND_F32,
	    float_bits(-0x1p-140f), 0, 0), float_bits(-INFINITY));
}
END_TEST

static Suite *
num_apply_suite(void)
{
	Suite *s = suite_create("num_apply");
	TCase *t = tcase_create("num_apply");

	tcase_add_test(t, half_arithmetic);
	tcase_add_test(t, half_square_roots);
	tcase_add_test(t, brain_arithmetic);
	tcase_add_test(t, fma_rounds_once);
	tcase_add_test(t, fma_sees_what_is_far);
	tcase_add_loop_test(t, nans_and_zeros, 0, 4);
	tcase_add_test(t, bytes);
	tcase_add_test(t, wide_integers);
	tcase_add_test(t, divisors);
	tcase_add_test(t, approximations);
	suite_add_tcase(s, t);
	return s;
}

CJ_CHECK_MAIN(num_apply_suite)
