/*
 * Swizzles: XOR of one run of bits of an offset into another.
 *
 * Sw<B,M,S>: the B bits from M + |S| on go into the B bits from M on if S is
 * positive, the other way round if S is negative.
 */
#include "layout_priv.h"

int64_t
cj_swizzle_source(struct cj_swizzle s)
{
	return (((int64_t)1 << s.bits) - 1)
	    << (s.base + (s.shift > 0 ? s.shift : 0));
}

int64_t
cj_swizzle_target(struct cj_swizzle s)
{
	return (((int64_t)1 << s.bits) - 1)
	    << (s.base - (s.shift < 0 ? s.shift : 0));
}

struct cj_int
cj_swizzle_apply(struct cj_algebra *al, struct cj_swizzle s,
    struct cj_int offset)
{
	struct cj_int bits;

	if (s.bits == 0)
		return offset;
	bits = cj_int_bit(al->sym, CJ_TERM_AND, offset,
	    cj_known(cj_swizzle_source(s)));
	bits = s.shift > 0
	    ? cj_int_bit(al->sym, CJ_TERM_SHR, bits, cj_known(s.shift))
	    : cj_int_bit(al->sym, CJ_TERM_SHL, bits, cj_known(-s.shift));
	return cj_int_bit(al->sym, CJ_TERM_XOR, offset, bits);
}
