/*
 * Numbers against references that share no code with them: values of narrow
 * floats from their fields by ldexp, rounding by search in the table of all
 * values, arithmetic in 128-bit fixed point.
 */
#include "check_main.h"

#include "ir/ir.h"

#include <math.h>

__extension__ typedef __int128 wide;

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
}

static uint64_t seed = 88172645463325252u;

static uint64_t
random_word(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

static double
to_double(uint64_t bits)
{
	double d;

	memcpy(&d, &bits, sizeof d);
	return d;
}

static uint64_t
double_bits(double d)
{
	uint64_t bits;

	memcpy(&bits, &d, sizeof bits);
	return bits;
}

static uint64_t
float_bits(float f)
{
	uint32_t bits;

	memcpy(&bits, &f, sizeof bits);
	return bits;
}

/* ck_assert_uint_eq() tells the runner about each call: too slow in loops. */
#define SAME(got, want)							\
	do {								\
		uint64_t got_ = (got), want_ = (want);			\
									\
		if (got_ != want_)					\
			ck_assert_uint_eq(got_, want_);			\
	} while (0)

static const struct cj_conversion plain = { .is_default = true };

/* ---- narrow floats ------------------------------------------------------- */

static const struct narrow {
	enum cj_kind kind;
	int bits, exponent, mantissa, bias;
	bool has_inf, has_nan, all_ones_nan_only, saturates;
} narrows[] = {
	{ CJ_KIND_F4E2M1, 4, 2, 1, 1, false, false, false, true },
	{ CJ_KIND_F6E2M3, 6, 2, 3, 1, false, false, false, true },
	{ CJ_KIND_F6E3M2, 6, 3, 2, 3, false, false, false, true },
	{ CJ_KIND_F8E4M3, 8, 4, 3, 7, false, true, true, true },
	{ CJ_KIND_F8E5M2, 8, 5, 2, 15, true, true, false, true },
	{ CJ_KIND_F16, 16, 5, 10, 15, true, true, false, false },
	{ CJ_KIND_BF16, 16, 8, 7, 127, true, true, false, false },
};

/* From the fields, by the formats' definitions. */
static double
value_by_fields(const struct narrow *n, unsigned bits)
{
	int e = (int)(bits >> n->mantissa) & ((1 << n->exponent) - 1);
	int m = (int)bits & ((1 << n->mantissa) - 1);
	int top = (1 << n->exponent) - 1;
	double sign = bits >> (n->bits - 1) & 1 ? -1 : 1, v;

	if (n->has_inf && e == top)
		return m == 0 ? sign * INFINITY : NAN;
	if (n->all_ones_nan_only && e == top && m == (1 << n->mantissa) - 1)
		return NAN;
	if (e == 0)
		v = ldexp(m, 1 - n->bias - n->mantissa);
	else
		v = ldexp(m + (1 << n->mantissa), e - n->bias - n->mantissa);
	return sign * v;
}

START_TEST(narrow_values)
{
	const struct narrow *n = &narrows[_i];
	unsigned bits;

	for (bits = 0; bits < 1u << n->bits; bits++) {
		double want = value_by_fields(n, bits);
		double got = cj_num_to_f64(n->kind, bits);

		if (isnan(want))
			ck_assert(isnan(got));
		else
			SAME(double_bits(got),
			    double_bits(want));
	}
}
END_TEST

/* All finite values without sign, and the largest encoding among them. */
static double table[1 << 15];
static unsigned most;

static void
tabulate(const struct narrow *n)
{
	unsigned bits = (1u << (n->bits - 1)) - 1;

	while (!isfinite(value_by_fields(n, bits)))
		bits--;
	most = bits;
	for (;; bits--) {
		table[bits] = value_by_fields(n, bits);
		if (bits == 0)
			break;
	}
}

/*
 * Round |v| by search: the neighbours below and above in the table, where the
 * one above the largest is what would come next were there no end.
 */
static unsigned
rounded_by_search(const struct narrow *n, double v, enum cj_rounding r,
    bool saturate)
{
	unsigned lo = 0, hi = most, sign, bits;
	double low, high, a = fabs(v);
	bool up = false;

	sign = signbit(v) ? 1u << (n->bits - 1) : 0;
	while (lo < hi) {
		unsigned mid = (lo + hi + 1) / 2;

		if (table[mid] <= a)
			lo = mid;
		else
			hi = mid - 1;
	}
	low = table[lo];
	if (a == low)
		return sign | lo;
	high = lo < most ? table[lo + 1] :
	    2 * low - table[lo - 1];
	if (lo == most && a >= high) {
		low = high;	/* beyond: only "inf" and the largest are left */
		up = r == CJ_ROUND_EVEN;
	}
	switch (r) {
	case CJ_ROUND_EVEN:
		if (low != high)
			up = a - low > high - a ||
			    (a - low == high - a && lo & 1);
		break;
	case CJ_ROUND_ZERO:
		break;
	case CJ_ROUND_UP:
		up = sign == 0;
		break;
	case CJ_ROUND_DOWN:
		up = sign != 0;
		break;
	}
	bits = lo + up;
	if (bits > most) {
		if (saturate || (!n->has_inf && !n->has_nan))
			bits = most;
		else if (!n->has_inf)
			bits = (1u << (n->bits - 1)) - 1;
	}
	return sign | bits;
}

static void
check_rounding(const struct narrow *n, double v)
{
	unsigned r, saturate;
	uint64_t bits = double_bits(v);

	SAME(cj_num_from_f64(n->kind, v),
	    rounded_by_search(n, v, CJ_ROUND_EVEN, n->saturates));
	for (r = CJ_ROUND_EVEN; r <= CJ_ROUND_DOWN; r++)
		for (saturate = 0; saturate < 2; saturate++) {
			struct cj_conversion how = { (enum cj_rounding)r,
			    saturate != 0, false };

			SAME(cj_num_convert(n->kind, CJ_KIND_F64,
			    bits, how), rounded_by_search(n, v,
			    (enum cj_rounding)r, saturate != 0));
		}
}

START_TEST(narrow_rounding)
{
	const struct narrow *n = &narrows[_i];
	unsigned bits, i;

	tabulate(n);
	for (bits = 0; bits <= most; bits++) {
		double a = value_by_fields(n, bits);
		double b = bits < most ? value_by_fields(n, bits + 1) :
		    2 * a - value_by_fields(n, bits - 1);
		double middle = (a + b) / 2;

		check_rounding(n, a);
		check_rounding(n, -a);
		check_rounding(n, middle);
		check_rounding(n, -middle);
		check_rounding(n, nextafter(middle, 0));
		check_rounding(n, nextafter(middle, INFINITY));
		check_rounding(n, nextafter(b, 0));
		check_rounding(n, nextafter(a, INFINITY));
	}
	for (i = 0; i < 100000; i++) {
		double v = to_double(random_word());

		if (isfinite(v))
			check_rounding(n, v);
		v = ldexp((double)random_word(), -64 -
		    (int)(random_word() % 40));
		check_rounding(n, v);
	}
}
END_TEST

START_TEST(narrow_specials)
{
	const struct narrow *n = &narrows[_i];
	struct cj_conversion free = { CJ_ROUND_EVEN, false, false };
	uint64_t inf = double_bits(INFINITY), ones, sign, got;

	tabulate(n);
	ones = (1u << (n->bits - 1)) - 1;
	sign = 1u << (n->bits - 1);
	got = cj_num_convert(n->kind, CJ_KIND_F64, double_bits(NAN), plain);
	SAME(got, ones);	/* the largest where there is no NaN */
	got = cj_num_convert(n->kind, CJ_KIND_F64, inf, free);
	if (n->has_inf)
		SAME(got, most + 1);
	else
		SAME(got, ones);
	got = cj_num_convert(n->kind, CJ_KIND_F64, double_bits(-INFINITY),
	    plain);
	SAME(got, sign | (n->saturates ? most :
	    most + 1));
}
END_TEST

START_TEST(scales)
{
	int i;

	for (i = 0; i < 255; i++) {
		double v = ldexp(1, i - 127);

		ck_assert(cj_num_to_f64(CJ_KIND_F8UE8M0, i) == v);
		SAME((uint64_t)cj_num_from_f64(CJ_KIND_F8UE8M0, v), i);
		SAME((uint64_t)cj_num_from_f64(CJ_KIND_F8UE8M0, -v), i);
		SAME((uint64_t)cj_num_from_f64(CJ_KIND_F8UE8M0, v * 1.25),
		    i);
		SAME((uint64_t)cj_num_from_f64(CJ_KIND_F8UE8M0, v * 1.75),
		    i < 254 ? i + 1 : 254);
		SAME((uint64_t)cj_num_from_f64(CJ_KIND_F8UE8M0, v * 1.5),
		    i + (i & 1));
		SAME((uint64_t)cj_num_convert(CJ_KIND_F8UE8M0, CJ_KIND_F64,
		    double_bits(v * 1.0625), (struct cj_conversion){
		    CJ_ROUND_UP, true, false }), i < 254 ? i + 1 : 254);
	}
	ck_assert(isnan(cj_num_to_f64(CJ_KIND_F8UE8M0, 255)));
	SAME((uint64_t)cj_num_from_f64(CJ_KIND_F8UE8M0, 0), 0);
	SAME((uint64_t)cj_num_from_f64(CJ_KIND_F8UE8M0, NAN), 255);
}
END_TEST

/* ---- f32 and f64 --------------------------------------------------------- */

START_TEST(single_rounding)
{
	int i;

	for (i = 0; i < 2000000; i++) {
		uint64_t bits = random_word();
		struct cj_conversion near = { CJ_ROUND_EVEN, false, false };
		float f;

		if (i % 2)	/* around the range of f32 */
			bits = (bits & ~(UINT64_C(0x7ff) << 52)) |
			    (868 + random_word() % 300) << 52;
		if (isnan(to_double(bits)))
			continue;
		f = (float)to_double(bits);
		SAME(cj_num_convert(CJ_KIND_F32, CJ_KIND_F64,
		    bits, near), float_bits(f));
		near.rounding = CJ_ROUND_ZERO;
		if (isfinite(to_double(bits)) &&
		    fabs((double)f) > fabs(to_double(bits)))
			f = nextafterf(f, 0);
		SAME(cj_num_convert(CJ_KIND_F32, CJ_KIND_F64,
		    bits, near), float_bits(f));
	}
}
END_TEST

START_TEST(integers_to_floats)
{
	struct cj_conversion up = { CJ_ROUND_UP, false, false };
	int i;

	for (i = 0; i < 1000000; i++) {
		uint64_t u = random_word() >> random_word() % 64;
		int64_t s = (int64_t)random_word() >> random_word() % 64;

		SAME(cj_num_convert(CJ_KIND_F32, CJ_KIND_U64, u,
		    plain), float_bits((float)u));
		SAME(cj_num_convert(CJ_KIND_F32, CJ_KIND_I64,
		    (uint64_t)s, plain), float_bits((float)s));
		SAME(cj_num_convert(CJ_KIND_F64, CJ_KIND_U64, u,
		    plain), double_bits((double)u));
		SAME(cj_num_convert(CJ_KIND_F64, CJ_KIND_INDEX,
		    (uint64_t)s, plain), double_bits((double)s));
	}
	SAME(cj_num_convert(CJ_KIND_F32, CJ_KIND_I32, 16777217,
	    up), float_bits(16777218.0f));
	SAME(cj_num_convert(CJ_KIND_F16, CJ_KIND_I32, 65520,
	    plain), 0x7c00);
	SAME(cj_num_convert(CJ_KIND_F16, CJ_KIND_I32, 65519,
	    plain), 0x7bff);
	SAME(cj_num_convert(CJ_KIND_F32, CJ_KIND_BOOL, 1, plain),
	    float_bits(1));
}
END_TEST

static const struct to_integer {
	enum cj_kind to;
	double from;
	int64_t want;
} to_integers[] = {
	{ CJ_KIND_I32, 1.9, 1 }, { CJ_KIND_I32, -1.9, -1 },
	{ CJ_KIND_I32, 3e9, INT32_MAX }, { CJ_KIND_I32, -3e9, INT32_MIN },
	{ CJ_KIND_I32, 2147483647.5, INT32_MAX },
	{ CJ_KIND_I32, -2147483648.5, INT32_MIN },
	{ CJ_KIND_U8, -1, 0 }, { CJ_KIND_U8, 255.9, 255 },
	{ CJ_KIND_U8, 256, 255 }, { CJ_KIND_I8, -128.9, -128 },
	{ CJ_KIND_I8, -129, -128 }, { CJ_KIND_I8, 127.9, 127 },
	{ CJ_KIND_I4, 7.9, 7 }, { CJ_KIND_I4, 8, 7 }, { CJ_KIND_I4, -9, -8 },
	{ CJ_KIND_U4, 16, 15 }, { CJ_KIND_INDEX, 1e30, INT64_MAX },
	{ CJ_KIND_I64, -1e30, INT64_MIN },
	{ CJ_KIND_U64, 18446744073709549568.0, -2048 },
	{ CJ_KIND_U64, 1e30, -1 }, { CJ_KIND_I32, NAN, 0 },
	{ CJ_KIND_U64, NAN, 0 }, { CJ_KIND_BOOL, 0.1, 1 },
	{ CJ_KIND_BOOL, -0.0, 0 }, { CJ_KIND_BOOL, NAN, 1 },
};

START_TEST(floats_to_integers)
{
	const struct to_integer *t = &to_integers[_i];

	SAME((uint64_t)(int64_t)cj_num_convert(t->to, CJ_KIND_F64,
	    double_bits(t->from), plain), t->want);
}
END_TEST

START_TEST(rounded_to_integers)
{
	static const double from[] = { 2.5, 3.5, -2.5, 2.25, -2.25 };
	static const int want[][4] = { { 2, 2, 3, 2 }, { 4, 3, 4, 3 },
	    { -2, -2, -2, -3 }, { 2, 2, 3, 2 }, { -2, -2, -2, -3 } };
	unsigned r;

	for (r = CJ_ROUND_EVEN; r <= CJ_ROUND_DOWN; r++)
		SAME((uint64_t)(int64_t)cj_num_convert(CJ_KIND_I32,
		    CJ_KIND_F64, double_bits(from[_i]), (struct cj_conversion){
		    (enum cj_rounding)r, false, false }), want[_i][r]);
}
END_TEST

START_TEST(integers_to_integers)
{
	struct cj_conversion clamp = { CJ_ROUND_EVEN, true, false };

	SAME(cj_num_convert(CJ_KIND_U8, CJ_KIND_I32,
	    (uint64_t)-1, plain), 255);
	SAME((uint64_t)(int64_t)cj_num_convert(CJ_KIND_I8, CJ_KIND_U8, 200,
	    plain), -56);
	SAME((uint64_t)(int64_t)cj_num_convert(CJ_KIND_I4, CJ_KIND_I32, 9,
	    plain), -7);
	SAME((uint64_t)(int64_t)cj_num_convert(CJ_KIND_I8, CJ_KIND_U8, 200,
	    clamp), 127);
	SAME((uint64_t)(int64_t)cj_num_convert(CJ_KIND_U8, CJ_KIND_I32,
	    (uint64_t)-5, clamp), 0);
	SAME((uint64_t)(int64_t)cj_num_convert(CJ_KIND_I8, CJ_KIND_I32,
	    (uint64_t)-500, clamp), -128);
	SAME((uint64_t)(int64_t)cj_num_convert(CJ_KIND_I64, CJ_KIND_U64,
	    UINT64_MAX, clamp), INT64_MAX);
	SAME((uint64_t)(int64_t)cj_num_convert(CJ_KIND_BOOL, CJ_KIND_I32,
	    256, plain), 1);
}
END_TEST

/* ---- arithmetic ---------------------------------------------------------- */

/* A narrow float as an integer times 2^-FIXED. */
enum { FIXED = 24 };

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
		if (x * y + (z << FIXED) != 0)
			SAME(got, ratio_by_search(n,
			    x * y + (z << FIXED), 1, FIXED));
		got = (unsigned)cj_num_apply(CJ_OP_DIV, n->kind, a, b, 0);
		if (x != 0 && y != 0)
			SAME(got, ratio_by_search(n,
			    (y < 0 ? -x : x) << FIXED, y < 0 ? -y : y, 0));
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
#define APPLY(op, a, b)	cj_num_apply(CJ_OP_##op, t[_i].k, t[_i].a, t[_i].b, 0)
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
			    (int8_t)(a << b));
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

	return (int32_t)((high + x) >> (d[1] & 0xffffffff)) ^ a >> 31;
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
	cj_num_divisor(0, m);
	ck_assert(m[0] == 0 && m[1] == 0);
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
}
END_TEST

/* ---- text ---------------------------------------------------------------- */

static const struct written {
	enum cj_kind k;
	uint64_t bits;
	const char *text;
} writtens[] = {
	{ CJ_KIND_F32, 0x3dcccccd, "0.1" }, { CJ_KIND_F32, 0, "0" },
	{ CJ_KIND_F32, 0x80000000, "-0" }, { CJ_KIND_F32, 0x3f800000, "1" },
	{ CJ_KIND_F32, 0x4b800001, "16777218" },
	{ CJ_KIND_F32, 1, "1e-45" }, { CJ_KIND_F32, 0x7f7fffff,
	    "3.4028235e38" }, { CJ_KIND_F32, 0xff800000, "-inf" },
	{ CJ_KIND_F32, 0x7fffffff, "nan" }, { CJ_KIND_F32, 0x40490fdb,
	    "3.1415927" }, { CJ_KIND_F32, 0x38d1b717, "0.0001" },
	{ CJ_KIND_F16, 0x2e66, "0.1" }, { CJ_KIND_F16, 0x7bff, "65500" },
	{ CJ_KIND_BF16, 0x3dcd, "0.1" }, { CJ_KIND_F8E4M3, 0x7e, "450" },
	{ CJ_KIND_F64, 0x3fb999999999999a, "0.1" },
	{ CJ_KIND_F64, 0x3ff0000000000001, "1.0000000000000002" },
	{ CJ_KIND_F64, 0x44b52d02c7e14af6, "1e23" },
	{ CJ_KIND_I8, (uint64_t)-128, "-128" }, { CJ_KIND_BOOL, 1, "true" },
	{ CJ_KIND_U64, UINT64_MAX, "18446744073709551615" },
	{ CJ_KIND_INDEX, (uint64_t)INT64_MIN, "-9223372036854775808" },
};

START_TEST(text_of_numbers)
{
	const struct written *w = &writtens[_i];
	struct cj_strbuf out;
	uint64_t bits = 0;

	CJ_CHECK_RECOVER(&point);
	cj_strbuf_init(&out, &arena);
	cj_num_print(&out, w->k, w->bits);
	ck_assert_str_eq(out.text, w->text);
	ck_assert(cj_num_read(w->k, out.text, out.len, &bits));
	SAME(bits, w->bits);
}
END_TEST

START_TEST(text_reads_back)
{
	static const enum cj_kind kinds[] = { CJ_KIND_F32, CJ_KIND_F64,
	    CJ_KIND_F16, CJ_KIND_BF16, CJ_KIND_F8E5M2, CJ_KIND_F8UE8M0 };
	enum cj_kind k = kinds[_i];
	struct cj_mark mark;
	int i;

	CJ_CHECK_RECOVER(&point);
	mark = cj_arena_mark(&arena);
	for (i = 0; i < 20000; i++) {
		uint64_t bits = random_word() >> (64 - cj_kind_bits(k));
		uint64_t back = 0;
		struct cj_strbuf out;

		if (isnan(cj_num_to_f64(k, bits)))
			continue;
		cj_strbuf_init(&out, &arena);
		cj_num_print(&out, k, bits);
		ck_assert(cj_num_read(k, out.text, out.len, &back));
		SAME(back, bits);
		cj_arena_release(&arena, mark);
	}
}
END_TEST

START_TEST(text_that_is_none)
{
	static const struct {
		enum cj_kind k;
		const char *text;
	} bad[] = { { CJ_KIND_I8, "128" }, { CJ_KIND_I8, "-129" },
	    { CJ_KIND_U8, "-1" }, { CJ_KIND_U8, "256" }, { CJ_KIND_I32, "" },
	    { CJ_KIND_I32, "1x" }, { CJ_KIND_I32, "-" },
	    { CJ_KIND_U64, "18446744073709551616" }, { CJ_KIND_F32, "e5" },
	    { CJ_KIND_F32, "1e" }, { CJ_KIND_F32, "1.2.3" },
	    { CJ_KIND_F32, "0x100000000" }, { CJ_KIND_BOOL, "1" },
	    { CJ_KIND_F16, "0x10000" } };
	uint64_t bits;
	unsigned i;

	for (i = 0; i < CJ_LENGTH(bad); i++)
		ck_assert_msg(!cj_num_read(bad[i].k, bad[i].text,
		    strlen(bad[i].text), &bits), "%s", bad[i].text);
}
END_TEST

static Suite *
num_suite(void)
{
	Suite *s = suite_create("num");
	TCase *t = tcase_create("num");
	int narrow = (int)CJ_LENGTH(narrows);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_loop_test(t, narrow_values, 0, narrow);
	tcase_add_loop_test(t, narrow_rounding, 0, narrow);
	tcase_add_loop_test(t, narrow_specials, 0, narrow);
	tcase_add_test(t, scales);
	tcase_add_test(t, single_rounding);
	tcase_add_test(t, integers_to_floats);
	tcase_add_loop_test(t, floats_to_integers, 0,
	    (int)CJ_LENGTH(to_integers));
	tcase_add_loop_test(t, rounded_to_integers, 0, 5);
	tcase_add_test(t, integers_to_integers);
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
	tcase_add_loop_test(t, text_of_numbers, 0,
	    (int)CJ_LENGTH(writtens));
	tcase_add_loop_test(t, text_reads_back, 0, 6);
	tcase_add_test(t, text_that_is_none);
	suite_add_tcase(s, t);
	return s;
}

CJ_CHECK_MAIN(num_suite)
