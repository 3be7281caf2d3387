/*
 * The vector loops for any machine, and which table is the best here.
 */
#include "interp_priv.h"

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

#define CJ_VEC_TABLE	cj_vec_plain
#include "interp_vec.h"

const struct cj_vec_table *
cj_vec_best(void)
{
#ifdef __x86_64__
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		return &cj_vec_avx2;
#endif
	return &cj_vec_plain;
}
