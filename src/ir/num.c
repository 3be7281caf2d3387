/*
 * Conversions between all kinds of numbers.
 *
 * Whatever is converted to a float is first taken apart into sign, magnitude
 * and power of two, exactly, and then rounded once by pack(). Every
 * float kind fits in a double exactly, so doubles are the way to the integers.
 */
#include "num_priv.h"

#include <math.h>

static const struct cj_format formats[CJ_KIND_COUNT] = {
	[CJ_KIND_F4E2M1] = { 4, 2, 1, 1, 0x7, 0, 0 },
	[CJ_KIND_F6E2M3] = { 6, 2, 3, 1, 0x1f, 0, 0 },
	[CJ_KIND_F6E3M2] = { 6, 3, 2, 3, 0x1f, 0, 0 },
	[CJ_KIND_F8E4M3] = { 8, 4, 3, 7, 0x7e, 0, 0x7f },
	[CJ_KIND_F8E5M2] = { 8, 5, 2, 15, 0x7b, 0x7c, 0x7f },
	[CJ_KIND_F16] = { 16, 5, 10, 15, 0x7bff, 0x7c00, 0x7fff },
	[CJ_KIND_BF16] = { 16, 8, 7, 127, 0x7f7f, 0x7f80, 0x7fff },
	[CJ_KIND_TF32] = { 19, 8, 10, 127, 0x3fbff, 0x3fc00, 0x3ffff },
	[CJ_KIND_F32] = { 32, 8, 23, 127, 0x7f7fffff, 0x7f800000, 0x7fffffff },
	[CJ_KIND_F64] = { 64, 11, 52, 1023, 0x7fefffffffffffff,
	    0x7ff0000000000000, 0x7fffffffffffffff },
};

/* A tf32 is an f32 whose last bits are 0. */
enum { TF32_SHIFT = 13, UE8M0_NAN = 0xff, UE8M0_LARGEST = 0xfe,
    UE8M0_BIAS = 127 };

const struct cj_format *
cj_num_format(enum cj_kind k)
{
	assert(formats[k].bits != 0 && "a float with sign and mantissa");
	return &formats[k];
}

uint64_t
cj_num_wrap(enum cj_kind k, uint64_t bits)
{
	unsigned width = cj_kind_bits(k);

	if (width >= 64)
		return bits;
	if (cj_kind_is_signed(k))
		return (uint64_t)((int64_t)(bits << (64 - width)) >>
		    (64 - width));
	return bits & ((UINT64_C(1) << width) - 1);
}

/* ---- taking apart -------------------------------------------------------- */

double
cj_num_to_f64(enum cj_kind from, uint64_t bits)
{
	const struct cj_format *f;
	uint64_t mantissa, exponent, sign;

	if (from == CJ_KIND_F32)
		return (double)cj_bits_to_float(bits);
	if (from == CJ_KIND_F64)
		return cj_bits_to_double(bits);
	if (from == CJ_KIND_F8UE8M0)
		return bits == UE8M0_NAN ? cj_bits_to_double(
		    formats[CJ_KIND_F64].nan) :
		    ldexp(1.0, (int)bits - UE8M0_BIAS);
	if (!cj_kind_is_float(from))
		return cj_kind_is_signed(from) ? (double)(int64_t)bits :
		    (double)bits;
	if (from == CJ_KIND_TF32)
		bits >>= TF32_SHIFT;
	f = cj_num_format(from);
	mantissa = bits & ((UINT64_C(1) << f->mantissa) - 1);
	exponent = bits >> f->mantissa & ((UINT64_C(1) << f->exponent) - 1);
	sign = (bits >> (f->bits - 1) & 1) << 63;
	if ((bits & ~(UINT64_C(1) << (f->bits - 1))) > f->largest) {
		if (f->inf != 0 && mantissa == 0)
			return cj_bits_to_double(sign |
			    formats[CJ_KIND_F64].inf);
		return cj_bits_to_double(formats[CJ_KIND_F64].nan);
	}
	if (exponent != 0)
		return cj_bits_to_double(sign |
		    (exponent + 1023 - (uint64_t)f->bias) << 52 |
		    mantissa << (52 - f->mantissa));
	/* a denormal: an integer times the least power of two */
	return cj_bits_to_double(sign | cj_double_to_bits((double)mantissa *
	    cj_bits_to_double((uint64_t)(1023 + 1 - f->bias - f->mantissa) <<
	    52)));
}

int64_t
cj_num_to_i64(enum cj_kind from, uint64_t bits)
{
	if (!cj_kind_is_float(from))
		return (int64_t)bits;
	return (int64_t)cj_num_convert(CJ_KIND_I64, from, bits,
	    (struct cj_conversion){ .is_default = true });
}

/* ---- putting together ---------------------------------------------------- */

/* -1, 0, 1: what is shifted out is below, at or above a half; *lost: is any. */
static int
against_half(uint64_t magnitude, int shift, bool *lost)
{
	uint64_t rest, half;

	assert(shift > 0);
	*lost = magnitude != 0;
	if (shift > 64)
		return -1;
	half = UINT64_C(1) << (shift - 1);
	rest = shift == 64 ? magnitude :
	    magnitude & ((UINT64_C(1) << shift) - 1);
	*lost = rest != 0;
	return rest < half ? -1 : rest > half;
}

/* magnitude / 2^shift, rounded; shift > 0. */
static uint64_t
shift_rounded(uint64_t magnitude, int shift, bool negative,
    enum cj_rounding rounding)
{
	uint64_t quotient = shift > 63 ? 0 : magnitude >> shift;
	bool lost;
	int half = against_half(magnitude, shift, &lost);

	switch (rounding) {
	case CJ_ROUND_EVEN:
		return quotient + (half > 0 || (half == 0 && quotient & 1));
	case CJ_ROUND_ZERO:
		return quotient;
	case CJ_ROUND_UP:
		return quotient + (lost && !negative);
	case CJ_ROUND_DOWN:
		return quotient + (lost && negative);
	}
	return quotient;
}

static bool
saturates(enum cj_kind to, struct cj_conversion how)
{
	return how.is_default ? cj_kind_bits(to) <= 8 : how.saturate;
}

static enum cj_rounding
rounding_of(struct cj_conversion how)
{
	return how.is_default ? CJ_ROUND_EVEN : how.rounding;
}

/* Where a finite value beyond the range goes, without its sign. */
static uint64_t
overflow(enum cj_kind to, bool negative, struct cj_conversion how)
{
	const struct cj_format *f = cj_num_format(to);
	enum cj_rounding r = rounding_of(how);

	if (saturates(to, how) || f->nan == 0 || r == CJ_ROUND_ZERO ||
	    (r == CJ_ROUND_UP && negative) ||
	    (r == CJ_ROUND_DOWN && !negative))
		return f->largest;
	return f->inf != 0 ? f->inf : f->nan;
}

static uint64_t
with_sign(enum cj_kind to, bool negative, uint64_t bits)
{
	assert(bits >> (formats[to].bits - 1) == 0 && "the sign is free");
	bits |= (uint64_t)negative << (formats[to].bits - 1);
	return to == CJ_KIND_TF32 ? bits << TF32_SHIFT : bits;
}

static uint64_t
pack_ue8m0(uint64_t magnitude, int exponent, struct cj_conversion how)
{
	int top, scale;
	uint64_t whole;

	if (magnitude == 0)
		return 0;
	top = 63 - __builtin_clzll(magnitude);
	scale = top + exponent + UE8M0_BIAS;
	if (scale < 0)
		return 0;
	if (top > 0) {
		/* 1 or 2, halfway decided by the encoding's last bit */
		whole = shift_rounded(magnitude, top, false, rounding_of(how));
		if (rounding_of(how) == CJ_ROUND_EVEN &&
		    magnitude == UINT64_C(3) << (top - 1))
			whole = scale % 2 == 0 ? 1 : 2;
		scale += whole == 2;
	}
	if (scale > UE8M0_LARGEST)
		return saturates(CJ_KIND_F8UE8M0, how) ? UE8M0_LARGEST :
		    UE8M0_NAN;
	return (uint64_t)scale;
}

/* magnitude * 2^exponent, negative or not, rounded once into `to`. */
static uint64_t
pack(enum cj_kind to, bool negative, uint64_t magnitude, int exponent,
    struct cj_conversion how)
{
	const struct cj_format *f;
	int top, least, shift;
	uint64_t bits;

	if (to == CJ_KIND_F8UE8M0)
		return pack_ue8m0(magnitude, exponent, how);
	f = cj_num_format(to);
	if (magnitude == 0)
		return with_sign(to, negative, 0);
	top = 63 - __builtin_clzll(magnitude) + exponent;
	least = 1 - f->bias;
	if (top > f->bias + 1)
		return with_sign(to, negative, overflow(to, negative, how));
	shift = (top < least ? least : top) - f->mantissa - exponent;
	bits = shift > 0 ? shift_rounded(magnitude, shift, negative,
	    rounding_of(how)) : magnitude << -shift;
	/* the leading one adds itself to the exponent, and so does a carry */
	if (top >= least)
		bits += (uint64_t)(top - least) << f->mantissa;
	if (bits > f->largest)
		bits = overflow(to, negative, how);
	return with_sign(to, negative, bits);
}

static uint64_t
pack_inf(enum cj_kind to, bool negative, struct cj_conversion how)
{
	const struct cj_format *f;

	if (to == CJ_KIND_F8UE8M0)
		return saturates(to, how) ? UE8M0_LARGEST : UE8M0_NAN;
	f = cj_num_format(to);
	if (saturates(to, how) || f->nan == 0)
		return with_sign(to, negative, f->largest);
	return with_sign(to, negative, f->inf != 0 ? f->inf : f->nan);
}

static uint64_t
pack_nan(enum cj_kind to)
{
	const struct cj_format *f;

	if (to == CJ_KIND_F8UE8M0)
		return UE8M0_NAN;
	f = cj_num_format(to);
	return with_sign(to, false, f->nan != 0 ? f->nan : f->largest);
}

static uint64_t
pack_double(enum cj_kind to, double v, struct cj_conversion how)
{
	uint64_t bits = cj_double_to_bits(v), magnitude;
	bool negative = bits >> 63 != 0;
	int exponent = (int)(bits >> 52 & 0x7ff);

	if (isnan(v))
		return pack_nan(to);
	if (exponent == 0x7ff)
		return pack_inf(to, negative, how);
	magnitude = bits & ((UINT64_C(1) << 52) - 1);
	if (exponent != 0)
		magnitude |= UINT64_C(1) << 52;
	else
		exponent = 1;
	return pack(to, negative, magnitude, exponent - 1075, how);
}

uint64_t
cj_num_from_f64(enum cj_kind to, double value)
{
	const struct cj_conversion how = { .is_default = true };

	if (to == CJ_KIND_F32 && !isnan(value))
		return cj_float_to_bits((float)value);
	if (to == CJ_KIND_F64 && !isnan(value))
		return cj_double_to_bits(value);
	if (cj_kind_is_float(to))
		return pack_double(to, value, how);
	return cj_num_convert(to, CJ_KIND_F64, cj_double_to_bits(value), how);
}

/* ---- to integers --------------------------------------------------------- */

static double
rounded(double v, enum cj_rounding rounding)
{
	switch (rounding) {
	case CJ_ROUND_EVEN: return nearbyint(v);
	case CJ_ROUND_ZERO: return trunc(v);
	case CJ_ROUND_UP: return ceil(v);
	case CJ_ROUND_DOWN: return floor(v);
	}
	return v;
}

static uint64_t
integer_from_double(enum cj_kind to, double v, struct cj_conversion how)
{
	unsigned width = cj_kind_bits(to);
	bool is_signed = cj_kind_is_signed(to);
	double limit = ldexp(1.0, (int)(is_signed ? width - 1 : width));
	uint64_t largest = UINT64_MAX >> (64 - width + is_signed);

	if (isnan(v))
		return 0;
	v = rounded(v, how.is_default ? CJ_ROUND_ZERO : how.rounding);
	if (v >= limit)
		return largest;
	if (is_signed)
		return v < -limit ? ~largest : (uint64_t)(int64_t)v;
	return v <= 0 ? 0 : (uint64_t)v;
}

static uint64_t
clamp_integer(enum cj_kind to, enum cj_kind from, uint64_t bits)
{
	unsigned width = cj_kind_bits(to);
	bool is_signed = cj_kind_is_signed(to);
	uint64_t largest = UINT64_MAX >> (64 - width + is_signed);

	if (cj_kind_is_signed(from) && (int64_t)bits < 0) {
		if (!is_signed)
			return 0;
		return (int64_t)bits < (int64_t)~largest ? ~largest : bits;
	}
	return bits > largest ? largest : bits;
}

/* ---- all ----------------------------------------------------------------- */

static uint64_t
to_float(enum cj_kind to, enum cj_kind from, uint64_t bits,
    struct cj_conversion how)
{
	bool negative;

	if (cj_kind_is_float(from)) {
		/* a tf32 lies in an f32, of which it keeps these bits */
		if (to == CJ_KIND_F32 && from == CJ_KIND_TF32 &&
		    isnan(cj_num_to_f64(from, bits)))
			return bits & 0xffffe000;
		if (how.is_default && to == CJ_KIND_F32 &&
		    from == CJ_KIND_F64 && !isnan(cj_bits_to_double(bits)))
			return cj_float_to_bits((float)cj_bits_to_double(
			    bits));
		return pack_double(to, cj_num_to_f64(from, bits), how);
	}
	negative = cj_kind_is_signed(from) && (int64_t)bits < 0;
	return pack(to, negative, negative ? 0 - bits : bits, 0, how);
}

uint64_t
cj_num_convert(enum cj_kind to, enum cj_kind from, uint64_t bits,
    struct cj_conversion how)
{
	assert(cj_kind_class(to) != CJ_CLASS_OTHER &&
	    cj_kind_class(from) != CJ_CLASS_OTHER && "numbers");
	if (to == from)
		return bits;
	if (cj_kind_is_float(to))
		return to_float(to, from, bits, how);
	if (to == CJ_KIND_BOOL)
		return cj_kind_is_float(from) ?
		    cj_num_to_f64(from, bits) != 0 : bits != 0;
	if (cj_kind_is_float(from))
		return integer_from_double(to, cj_num_to_f64(from, bits), how);
	if (!how.is_default && how.saturate && cj_kind_is_integer(to))
		return clamp_integer(to, from, bits);
	return cj_num_wrap(to, bits);
}
