/*
 * What the measurements in C share: the time, and an order of times.
 */
#ifndef BENCH_TIME_H
#define BENCH_TIME_H

#include <stdlib.h>
#include <time.h>

static inline double
clock_ms(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static inline double
now_ms(void)
{
	return clock_ms(CLOCK_MONOTONIC);
}

/* Of the processor, which other work on the machine does not change. */
static inline double
cpu_ms(void)
{
	return clock_ms(CLOCK_PROCESS_CPUTIME_ID);
}

static inline double
now_us(void)
{
	return now_ms() * 1e3;
}

static inline int
by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static inline void
sort_times(double *v, size_t n)
{
	qsort(v, n, sizeof *v, by_value);
}

#endif
