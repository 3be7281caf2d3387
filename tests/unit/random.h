/*
 * Random numbers that are the same everywhere: Marsaglia's xorshift.
 */
#ifndef RANDOM_H
#define RANDOM_H

#include <stdint.h>

static uint64_t seed = 88172645463325252u;

static inline uint64_t
random_word(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

#endif
