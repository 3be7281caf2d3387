/*
 * Private to num*.c: formats of floats, packing and unpacking.
 */
#ifndef CJ_NUM_PRIV_H
#define CJ_NUM_PRIV_H

#include "num.h"

struct cj_format {
	unsigned char bits, exponent, mantissa;
	int bias;
	uint64_t largest;	/* finite, without sign */
	uint64_t inf;		/* 0: there is none */
	uint64_t nan;		/* canonical; 0: there is none */
};

/* Of a float kind but F8UE8M0. */
const struct cj_format *cj_num_format(enum cj_kind k);

/* Low bits of an integer kind, extended to 64 as values are kept. */
uint64_t cj_num_wrap(enum cj_kind k, uint64_t bits);

static inline double
cj_bits_to_double(uint64_t bits)
{
	double d;

	memcpy(&d, &bits, sizeof d);
	return d;
}

static inline uint64_t
cj_double_to_bits(double d)
{
	uint64_t bits;

	memcpy(&bits, &d, sizeof bits);
	return bits;
}

static inline float
cj_bits_to_float(uint64_t bits)
{
	uint32_t low = (uint32_t)bits;
	float f;

	memcpy(&f, &low, sizeof f);
	return f;
}

static inline uint64_t
cj_float_to_bits(float f)
{
	uint32_t bits;

	memcpy(&bits, &f, sizeof bits);
	return bits;
}

#endif
