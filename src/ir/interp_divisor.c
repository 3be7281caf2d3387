/*
 * Division by a number that is known late, as a multiplication (Granlund and
 * Montgomery 1994; Hacker's Delight, chapter 10, the round-up method for a
 * dividend of 63 bits).
 *
 * Let d >= 1, l = ceil(log2 d), M = ceil(2^(63 + l) / d). Then, for every
 * 0 <= a < 2^63, floor(a / d) = floor(a M / 2^(63 + l)):
 *
 *	M d = 2^(63 + l) + e with 0 <= e < d <= 2^l, so
 *	a M / 2^(63 + l) = a / d + a e / (d 2^(63 + l)).
 *
 * The second summand is not negative and below 1 / d, since a e < 2^63 2^l;
 * and a / d plus less than 1 / d has the floor of a / d.
 *
 * M fits 64 bits: for d = 1 it is 2^63; else d >= 2^(l - 1) + 1, l <= 63, so
 * 2^(63 + l) / d <= 2^64 - 2^64 / (2^(l - 1) + 1) < 2^64 - 3.
 *
 * The product with 2a instead of a makes the division by 2^63 one by 2^64, the
 * high half: floor(floor(2a M / 2^64) / 2^l) = floor(a M / 2^(63 + l)).
 *
 * For a < 0, floor(a / d) = -1 - floor((-1 - a) / d) = ~(~a / d), and ~a is
 * again in 0 .. 2^63 - 1.
 */
#include "interp.h"

__extension__ typedef unsigned __int128 wide;

void
cj_divisor_magic(int64_t d, uint64_t out[2])
{
	unsigned l = 0;

	out[0] = out[1] = 0;
	if (d < 1)
		return;
	while ((int64_t)((uint64_t)1 << l) < d && l < 63)
		l++;
	out[0] = (uint64_t)((((wide)1 << (63 + l)) + (wide)(d - 1))
	    / (wide)d);
	out[1] = l;
	assert((wide)out[0] * (wide)d >= (wide)1 << (63 + l));
}
