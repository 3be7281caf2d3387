/*
 * The vector loops for any machine, and which table is the best here.
 */
#include "interp_priv.h"

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

#define CJ_VEC_TABLE	cj_vec_plain
#include "interp_vec.h"
#define CJ_MMA_TABLE	cj_mma_plain
#include "interp_mma.h"

#ifdef __x86_64__
static bool
has_avx2(void)
{
	__builtin_cpu_init();
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#endif

const struct cj_vec_table *
cj_vec_best(void)
{
#ifdef __x86_64__
	if (has_avx2())
		return &cj_vec_avx2;
#endif
	return &cj_vec_plain;
}

const struct cj_mma_table *
cj_mma_best(void)
{
#ifdef __x86_64__
	if (has_avx2())
		return &cj_mma_avx2;
#endif
	return &cj_mma_plain;
}
