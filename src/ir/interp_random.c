/*
 * Random numbers of arrays: element i of a generator is a function of the seed
 * and i, so that it depends neither on threads nor on the order of filling,
 * and has the same bits on every machine.
 *
 * Philox 4x32-10 (Salmon et al. 2011) makes 128 random bits of a counter.
 * Normal numbers are Box and Muller's; logarithm, sine and cosine are computed
 * here, by + - * / and sqrt alone, which IEEE 754 rounds the same everywhere
 * (a compiler may not contract them: GCC does not with -std=c17).
 */
#include "interp_priv.h"

#include <math.h>

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

void
cj_philox(uint64_t key, uint64_t counter, uint32_t out[4])
{
	uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
	uint32_t x[4] = { (uint32_t)counter, (uint32_t)(counter >> 32), 0, 0 };
	int round;

	for (round = 0; round < 10; round++) {
		uint64_t p = (uint64_t)0xd2511f53 * x[0];
		uint64_t q = (uint64_t)0xcd9e8d57 * x[2];

		x[0] = (uint32_t)(q >> 32) ^ x[1] ^ k0;
		x[1] = (uint32_t)q;
		x[2] = (uint32_t)(p >> 32) ^ x[3] ^ k1;
		x[3] = (uint32_t)p;
		k0 += 0x9e3779b9;
		k1 += 0xbb67ae85;
	}
	memcpy(out, x, sizeof x);
}

/* 53 bits of two words: 0 .. 2^53 - 1. */
static double
bits53(uint32_t a, uint32_t b)
{
	return (double)(((uint64_t)a << 32 | b) >> 11);
}

#define TWO_53		9007199254740992.0

double
cj_random_uniform(uint64_t seed, uint64_t i, double low, double high)
{
	uint32_t w[4];

	cj_philox(seed, i, w);
	return low + (high - low) * (bits53(w[0], w[1]) / TWO_53);
}

int64_t
cj_random_integer(uint64_t seed, uint64_t i, int64_t low, int64_t high)
{
	__extension__ typedef unsigned __int128 wide;
	uint64_t range = (uint64_t)high - (uint64_t)low;
	uint32_t w[4];

	if (high <= low)
		return low;
	cj_philox(seed, i, w);
	return (int64_t)((uint64_t)low + (uint64_t)((wide)((uint64_t)w[0] << 32
	    | w[1]) * range >> 64));
}

/* ln x for a normal x > 0: 2 atanh((m - 1) / (m + 1)) + e ln 2. */
static double
natural_log(double x)
{
	static const double odd[] = { 1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15,
	    1.0 / 13, 1.0 / 11, 1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3, 1.0 };
	uint64_t bits;
	int exponent;
	unsigned k;
	double m, s, square, sum = 0;

	memcpy(&bits, &x, sizeof bits);
	exponent = (int)(bits >> 52) - 1023;
	bits = (bits & (((uint64_t)1 << 52) - 1)) | (uint64_t)1023 << 52;
	memcpy(&m, &bits, sizeof m);
	if (m > 1.4142135623730951) {
		m /= 2;
		exponent++;
	}
	s = (m - 1) / (m + 1);
	square = s * s;
	for (k = 0; k < CJ_LENGTH(odd); k++)
		sum = sum * square + odd[k];
	return 2 * s * sum + exponent * 0.69314718055994530942;
}

/* Taylor's series for 0 <= x <= pi / 4. */
static void
small_sine_cosine(double x, double *sine, double *cosine)
{
	static const double s[] = { 1.0 / 355687428096000, -1.0 / 1307674368000,
	    1.0 / 6227020800, -1.0 / 39916800, 1.0 / 362880, -1.0 / 5040,
	    1.0 / 120, -1.0 / 6, 1.0 };
	static const double c[] = { 1.0 / 20922789888000, -1.0 / 87178291200,
	    1.0 / 479001600, -1.0 / 3628800, 1.0 / 40320, -1.0 / 720,
	    1.0 / 24, -1.0 / 2, 1.0 };
	double square = x * x, a = 0, b = 0;
	unsigned k;

	_Static_assert(CJ_LENGTH(s) == CJ_LENGTH(c), "terms of both");
	for (k = 0; k < CJ_LENGTH(s); k++) {
		a = a * square + s[k];
		b = b * square + c[k];
	}
	*sine = a * x;
	*cosine = b;
}

/*
 * cos and sin of 2 pi t for 0 <= t < 1, by octants: the angle to the nearest
 * axis is in 0 .. pi / 4; octants 1, 2, 5, 6 are nearest to the sine's axis.
 */
static void
turn(double t, double *sine, double *cosine)
{
	int octant = (int)(t * 8);
	double x = t * 8 - octant, s, c;

	small_sine_cosine((octant & 1 ? 1 - x : x) * 0.78539816339744830962,
	    &s, &c);
	*sine = (octant + 1) & 2 ? c : s;
	*cosine = (octant + 1) & 2 ? s : c;
	if (octant >= 4)
		*sine = -*sine;
	if (octant >= 2 && octant < 6)
		*cosine = -*cosine;
}

void
cj_random_normals(uint64_t seed, uint64_t pair, double out[2])
{
	uint32_t w[4];
	double radius, sine, cosine;

	cj_philox(seed, pair, w);
	radius = sqrt(-2 * natural_log((bits53(w[0], w[1]) + 1) / TWO_53));
	turn(bits53(w[2], w[3]) / TWO_53, &sine, &cosine);
	out[0] = radius * cosine;
	out[1] = radius * sine;
}
