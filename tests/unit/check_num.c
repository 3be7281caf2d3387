/*
 * Conversions against references that share no code with them.
 */
#include "check_num.h"

static const struct cj_conversion plain = { .is_default = true };

/* ---- narrow floats ------------------------------------------------------- */

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

static Suite *
num_suite(void)
{
	Suite *s = suite_create("num");
	TCase *t = tcase_create("num");

	tcase_add_loop_test(t, narrow_values, 0, (int)CJ_LENGTH(narrows));
	tcase_add_loop_test(t, narrow_rounding, 0, (int)CJ_LENGTH(narrows));
	tcase_add_loop_test(t, narrow_specials, 0, (int)CJ_LENGTH(narrows));
	tcase_add_test(t, scales);
	tcase_add_test(t, single_rounding);
	tcase_add_test(t, integers_to_floats);
	tcase_add_loop_test(t, floats_to_integers, 0,
	    (int)CJ_LENGTH(to_integers));
	tcase_add_loop_test(t, rounded_to_integers, 0, 5);
	tcase_add_test(t, integers_to_integers);
	suite_add_tcase(s, t);
	return s;
}

CJ_CHECK_MAIN(num_suite)
