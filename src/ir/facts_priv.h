/*
 * Private to facts*.c: sets of integers by bounds and divisor.
 *
 * Bounds are held in 128 bits, so that what is computed from 64-bit bounds is
 * exact; only when it is stored is it cut to what the kind can hold.
 */
#ifndef CJ_FACTS_PRIV_H
#define CJ_FACTS_PRIV_H

#include "ir.h"

__extension__ typedef __int128 cj_wide;

struct cj_range {
	cj_wide lo, hi;
	int64_t divisor;	/* >= 1; 0: the value is 0 */
};

struct cj_range cj_range_of_kind(enum cj_kind k);
struct cj_range cj_range_number(cj_wide n);
struct cj_range cj_range_hull(struct cj_range a, struct cj_range b);

/* The values of a pure operation of kind `k`, before they wrap. */
struct cj_range cj_range_apply(enum cj_op op, enum cj_kind k,
    const struct cj_range *x);

/* What is left of `r` where values wrap to `k` (INDEX does not wrap). */
struct cj_range cj_range_wrap(struct cj_range r, enum cj_kind k);

#endif
