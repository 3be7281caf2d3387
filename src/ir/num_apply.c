/*
 * Pure operations on numbers, one register at a time.
 *
 * f32 and f64 are computed by the machine. Narrower floats are computed in
 * double and rounded once more. Of add, sub, mul, div and sqrt the second
 * rounding is harmless, since 53 bits are at least 2p + 2 for p <= 24
 * (Figueroa); the sum of an fma is rounded to odd first (Boldo, Melquiond).
 * Integers are computed as 64-bit words, which wrap, and cut to their width.
 */
#include "num_priv.h"

#include "ir.h"

#include <float.h>
#include <math.h>

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 unsigned_wide;

/* ---- integers ------------------------------------------------------------ */

static uint64_t
divide_signed(int64_t a, int64_t b)
{
	int64_t q;

	if (b == 0)
		return 0;
	if (b == -1)
		return 0 - (uint64_t)a;
	q = a / b;
	return (uint64_t)(q - (a % b != 0 && (a < 0) != (b < 0)));
}

static uint64_t
modulo_signed(int64_t a, int64_t b)
{
	int64_t r;

	if (b == 0)
		return (uint64_t)a;
	if (b == -1)
		return 0;
	r = a % b;
	return (uint64_t)(r != 0 && (r < 0) != (b < 0) ? r + b : r);
}

static uint64_t
multiply_high(enum cj_kind k, uint64_t a, uint64_t b)
{
	unsigned width = cj_kind_bits(k);

	if (cj_kind_is_signed(k))
		return (uint64_t)((wide)(int64_t)a * (int64_t)b >> width);
	return (uint64_t)((unsigned_wide)a * b >> width);
}

static uint64_t
shift_left(enum cj_kind k, uint64_t a, uint64_t b)
{
	/* an amount below 0 is a very large word */
	return b >= cj_kind_bits(k) ? 0 : a << b;
}

static uint64_t
shift_right(enum cj_kind k, uint64_t a, uint64_t b)
{
	if (cj_kind_is_signed(k))
		return (uint64_t)((int64_t)a >> (b >= cj_kind_bits(k) ? 63 :
		    b));
	return b >= cj_kind_bits(k) ? 0 : a >> b;
}

static uint64_t
leading_zeros(enum cj_kind k, uint64_t a)
{
	unsigned width = cj_kind_bits(k);

	a <<= 64 - width;
	return a == 0 ? width : (uint64_t)__builtin_clzll(a);
}

static uint64_t
trailing_zeros(enum cj_kind k, uint64_t a)
{
	unsigned width = cj_kind_bits(k);

	if (width < 64)
		a |= UINT64_C(1) << width;
	return a == 0 ? 64 : (uint64_t)__builtin_ctzll(a);
}

static uint64_t
population(enum cj_kind k, uint64_t a)
{
	return (uint64_t)__builtin_popcountll(a << (64 - cj_kind_bits(k)));
}

static bool
is_less(enum cj_kind k, uint64_t a, uint64_t b)
{
	return cj_kind_is_signed(k) ? (int64_t)a < (int64_t)b : a < b;
}

static uint64_t
apply_integer(enum cj_op op, enum cj_kind k, uint64_t a, uint64_t b,
    uint64_t c)
{
	bool is_signed = cj_kind_is_signed(k);

	switch ((unsigned)op) {
	case CJ_OP_ADD: return a + b;
	case CJ_OP_SUB: return a - b;
	case CJ_OP_MUL: return a * b;
	case CJ_OP_FMA: return a * b + c;
	case CJ_OP_DIV: case CJ_OP_DIVIDE_BY:
		if (is_signed)
			return divide_signed((int64_t)a, (int64_t)b);
		return b == 0 ? 0 : a / b;
	case CJ_OP_MOD:
		if (is_signed)
			return modulo_signed((int64_t)a, (int64_t)b);
		return b == 0 ? a : a % b;
	case CJ_OP_NEG: return 0 - a;
	case CJ_OP_ABS: return is_signed && (int64_t)a < 0 ? 0 - a : a;
	case CJ_OP_MIN: return is_less(k, b, a) ? b : a;
	case CJ_OP_MAX: return is_less(k, a, b) ? b : a;
	case CJ_OP_AND: return a & b;
	case CJ_OP_OR: return a | b;
	case CJ_OP_XOR: return a ^ b;
	case CJ_OP_NOT: return ~a;
	case CJ_OP_SHL: return shift_left(k, a, b);
	case CJ_OP_SHR: return shift_right(k, a, b);
	case CJ_OP_MUL_HI: return multiply_high(k, a, b);
	case CJ_OP_POPC: return population(k, a);
	case CJ_OP_CLZ: return leading_zeros(k, a);
	case CJ_OP_CTZ: return trailing_zeros(k, a);
	}
	assert(false && "an operation on integers");
	return 0;
}

bool
cj_num_index_overflows(unsigned op, int64_t a, int64_t b, int64_t c)
{
	int64_t r;

	switch (op) {
	case CJ_OP_ADD: return __builtin_add_overflow(a, b, &r);
	case CJ_OP_SUB: return __builtin_sub_overflow(a, b, &r);
	case CJ_OP_MUL: return __builtin_mul_overflow(a, b, &r);
	case CJ_OP_FMA: {
		wide exact = (wide)a * b + c;

		return exact != (int64_t)exact;
	}
	case CJ_OP_NEG: case CJ_OP_ABS: return a == INT64_MIN;
	case CJ_OP_DIV: return a == INT64_MIN && b == -1;
	case CJ_OP_SHL:
		r = (int64_t)shift_left(CJ_KIND_INDEX, (uint64_t)a,
		    (uint64_t)b);
		return a != 0 && (b < 0 || b > 63 || r >> b != a);
	default: return false;
	}
}

void
cj_num_divisor(int64_t d, uint64_t out[2])
{
	unsigned log;
	uint64_t narrow = 0;

	out[0] = 0;
	out[1] = 63;
	if (d <= 0)
		return;
	/* Granlund, Montgomery: 2^log >= d, m = 2^64 (2^log - d) / d + 1 */
	log = d == 1 ? 0 : 64 - (unsigned)__builtin_clzll((uint64_t)d - 1);
	out[0] = (uint64_t)(((unsigned_wide)((UINT64_C(1) << log) -
	    (uint64_t)d) << 64) / (uint64_t)d) + 1;
	if (log < 32)
		narrow = (((UINT64_C(1) << log) - (uint64_t)d) << 32) /
		    (uint64_t)d + 1;
	out[1] = narrow << 32 | log;
}

/* ---- floats -------------------------------------------------------------- */

static double
minimum(double a, double b)
{
	if (isnan(a) || isnan(b))
		return NAN;
	if (a == b)
		return signbit(a) ? a : b;
	return a < b ? a : b;
}

static double
maximum(double a, double b)
{
	if (isnan(a) || isnan(b))
		return NAN;
	if (a == b)
		return signbit(a) ? b : a;
	return a > b ? a : b;
}

/* a * b + c in 53 bits rounded to odd: a * b must be exact. */
static double
fma_to_odd(double a, double b, double c)
{
	double p = a * b, s = p + c, t = s - p;
	double error = (p - (s - t)) + (c - t);
	uint64_t bits;

	if (!isfinite(s) || error == 0)
		return s;
	bits = cj_double_to_bits(s);
	if (bits & 1)
		return s;
	/* one step toward what was lost; s is never 0 with an error */
	return cj_bits_to_double((error > 0) == (s > 0) ? bits + 1 :
	    bits - 1);
}

/* Denormals of f32 are 0 to the approximations (.ftz), in and out. */
static float
flushed(float x)
{
	return fabsf(x) < FLT_MIN ? copysignf(0, x) : x;
}

/* The approximations, which the GPU computes less exactly still. */
static double
apply_approx(enum cj_op op, double a, double b)
{
	switch ((unsigned)op) {
	case CJ_OP_APPROX_EX2: return exp2(a);
	case CJ_OP_APPROX_LG2: return log2(a);
	case CJ_OP_APPROX_SIN: return sin(a);
	case CJ_OP_APPROX_COS: return cos(a);
	case CJ_OP_APPROX_TANH: return tanh(a);
	case CJ_OP_APPROX_RCP: return 1 / a;
	case CJ_OP_APPROX_RSQRT: return 1 / sqrt(a);
	case CJ_OP_APPROX_SQRT: return sqrt(a);
	case CJ_OP_APPROX_DIV: return a / b;
	}
	assert(false && "an operation on floats");
	return 0;
}

/* In double: for f64 itself, and for narrow floats before the last rounding. */
static double
apply_double(enum cj_op op, double a, double b, double c)
{
	switch ((unsigned)op) {
	case CJ_OP_ADD: return a + b;
	case CJ_OP_SUB: return a - b;
	case CJ_OP_MUL: return a * b;
	case CJ_OP_DIV: return a / b;
	case CJ_OP_FMA: return fma(a, b, c);
	case CJ_OP_MIN: return minimum(a, b);
	case CJ_OP_MAX: return maximum(a, b);
	case CJ_OP_SQRT: return sqrt(a);
	case CJ_OP_FLOOR: return floor(a);
	case CJ_OP_CEIL: return ceil(a);
	case CJ_OP_TRUNC: return trunc(a);
	case CJ_OP_RINT: return nearbyint(a);
	default: return apply_approx(op, a, b);
	}
}

static float
apply_single(enum cj_op op, float a, float b, float c)
{
	switch ((unsigned)op) {
	case CJ_OP_ADD: return a + b;
	case CJ_OP_SUB: return a - b;
	case CJ_OP_MUL: return a * b;
	case CJ_OP_DIV: return a / b;
	case CJ_OP_FMA: return fmaf(a, b, c);
	case CJ_OP_SQRT: return sqrtf(a);
	case CJ_OP_APPROX_EX2: case CJ_OP_APPROX_LG2: case CJ_OP_APPROX_SIN:
	case CJ_OP_APPROX_COS: case CJ_OP_APPROX_RCP: case CJ_OP_APPROX_RSQRT:
	case CJ_OP_APPROX_SQRT: case CJ_OP_APPROX_DIV:
		return flushed((float)apply_approx(op, (double)flushed(a),
		    (double)flushed(b)));
	default: return (float)apply_double(op, (double)a, (double)b,
	    (double)c);
	}
}

static uint64_t
compute(enum cj_op op, enum cj_kind k, uint64_t a, uint64_t b, uint64_t c)
{
	double x, y, z;
	float f;

	if (k == CJ_KIND_F32) {
		f = apply_single(op, cj_bits_to_float(a), cj_bits_to_float(b),
		    cj_bits_to_float(c));
		return isnan(f) ? cj_num_format(k)->nan : cj_float_to_bits(f);
	}
	x = cj_num_to_f64(k, a);
	y = cj_num_to_f64(k, b);
	z = cj_num_to_f64(k, c);
	if (op == CJ_OP_FMA && k != CJ_KIND_F64)
		return cj_num_from_f64(k, fma_to_odd(x, y, z));
	return cj_num_from_f64(k, apply_double(op, x, y, z));
}

/* neg, abs, copysign: the sign bit and nothing else. */
static uint64_t
apply_sign(enum cj_op op, enum cj_kind k, uint64_t a, uint64_t b)
{
	uint64_t sign;

	if (k == CJ_KIND_F8UE8M0)
		return a;	/* a magnitude */
	sign = UINT64_C(1) << (cj_kind_bits(k) - 1);
	switch ((unsigned)op) {
	case CJ_OP_NEG: return a ^ sign;
	case CJ_OP_ABS: return a & ~sign;
	default: return (a & ~sign) | (b & sign);
	}
}

static uint64_t
compare_floats(enum cj_op op, double a, double b)
{
	switch ((unsigned)op) {
	case CJ_OP_EQ: return a == b;
	case CJ_OP_NE: return a != b;
	case CJ_OP_LT: return a < b;
	default: return a <= b;
	}
}

static uint64_t
apply_float(enum cj_op op, enum cj_kind k, uint64_t a, uint64_t b, uint64_t c)
{
	switch ((unsigned)op) {
	case CJ_OP_NEG: case CJ_OP_ABS: case CJ_OP_COPYSIGN:
		return apply_sign(op, k, a, b);
	case CJ_OP_EQ: case CJ_OP_NE: case CJ_OP_LT: case CJ_OP_LE:
		return compare_floats(op, cj_num_to_f64(k, a),
		    cj_num_to_f64(k, b));
	default:
		return compute(op, k, a, b, c);
	}
}

uint64_t
cj_num_apply(unsigned op, enum cj_kind k, uint64_t a, uint64_t b, uint64_t c)
{
	assert(op < CJ_OP_COUNT && k > CJ_KIND_VOID && k < CJ_KIND_COUNT);
	if (op == CJ_OP_SELECT)
		return a != 0 ? b : c;
	if (cj_kind_is_float(k))
		return apply_float((enum cj_op)op, k, a, b, c);
	switch (op) {
	case CJ_OP_EQ: return a == b;
	case CJ_OP_NE: return a != b;
	case CJ_OP_LT: return is_less(k, a, b);
	case CJ_OP_LE: return !is_less(k, b, a);
	default:
		return cj_num_wrap(k, apply_integer((enum cj_op)op, k, a, b,
		    c));
	}
}
