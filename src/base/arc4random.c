/*
 * arc4random over getrandom, for static builds alone.
 *
 * The static C++ library that LLVM is linked with takes arc4random from glibc
 * 2.36. With this one in its place, a program built on Debian 12 needs glibc
 * 2.35 only, and so runs on Ubuntu 22.04 and later. LLVM seeds names of
 * temporary files with it, and nothing that needs to be secret.
 */
#include <stdint.h>
#include <sys/random.h>
#include <time.h>

uint32_t arc4random(void);

uint32_t
arc4random(void)
{
	uint32_t value;
	struct timespec now;

	if (getrandom(&value, sizeof value, 0) == (ssize_t)sizeof value)
		return value;
	clock_gettime(CLOCK_MONOTONIC, &now);	/* no such call: old kernel */
	return (uint32_t)now.tv_nsec * UINT32_C(2654435761);
}
