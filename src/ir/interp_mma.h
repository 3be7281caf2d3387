/*
 * The loops of `mma`, once for any machine and once for x86 with AVX2 and FMA
 * (interp_vec.c, interp_vec_avx2.c); CJ_MMA_TABLE names the table.
 *
 * A stands at m + k * M, B at n + k * N, C at m + n * M: a column of C is a
 * few vectors, to which for each k a column of A is added, times a number.
 */

#define EACH_COLUMN(type, rows, start, step)				\
	for (n = 0; n < mma->n; n++) {					\
		type sum[rows];						\
									\
		for (i = 0; i < (rows); i++)				\
			sum[i] = (start);				\
		for (k = 0; k < mma->k; k++) {				\
			const type *restrict x = a + k * (rows);	\
			type y = b[k * mma->n + n];			\
									\
			for (i = 0; i < (rows); i++)			\
				sum[i] = (step);			\
		}							\
		for (i = 0; i < (rows); i++)				\
			c[n * (rows) + i] = sum[i];			\
	}

/* Atoms have 8 rows or 16. */
#define LOOP(name, type, start, step)					\
static void								\
name(const struct cj_mma *mma, const type *restrict a,			\
    const type *restrict b, type *restrict c)				\
{									\
	uint32_t n, k, i;						\
									\
	if (mma->m == 16)						\
		EACH_COLUMN(type, 16, start, step)			\
	else								\
		EACH_COLUMN(type, 8, start, step)			\
}

LOOP(mma_sum, double, c[n * mma->m + i], sum[i] + x[i] * y)
LOOP(mma_fma, double, c[n * mma->m + i], __builtin_fma(x[i], y, sum[i]))
LOOP(mma_count, int32_t, 0, sum[i] + x[i] * y)
LOOP(mma_and, int32_t, 0, sum[i] + __builtin_popcount((unsigned)(x[i] & y)))
LOOP(mma_xor, int32_t, 0, sum[i] + __builtin_popcount((unsigned)(x[i] ^ y)))

const struct cj_mma_table CJ_MMA_TABLE = {
	.sum = mma_sum, .fma = mma_fma, .count = mma_count, .both = mma_and,
	.differ = mma_xor
};
