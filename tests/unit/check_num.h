/*
 * References for numbers that share no code with num*.c: values of narrow
 * floats from their fields by ldexp, rounding by search in the table of all
 * values.
 */
#ifndef CJ_CHECK_NUM_H
#define CJ_CHECK_NUM_H

#include "check_main.h"

#include "ir/ir.h"
#include "random.h"

#include <math.h>

static inline double
to_double(uint64_t bits)
{
	double d;

	memcpy(&d, &bits, sizeof d);
	return d;
}

static inline uint64_t
double_bits(double d)
{
	uint64_t bits;

	memcpy(&bits, &d, sizeof bits);
	return bits;
}

static inline uint64_t
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
static inline double
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

/* All finite values without sign, and the largest encoding among them. */
static double table[1 << 15];
static unsigned most;

static inline void
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
static inline unsigned
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
		low = high;	/* beyond: "inf" or the largest */
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

#endif
