/*
 * The vector loops for x86 with AVX2 and FMA; elsewhere this file is empty.
 */
#include "interp_priv.h"

#ifdef __x86_64__

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#pragma clang attribute push(__attribute__((target("avx2,fma"))),	\
    apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif

#define CJ_VEC_TABLE	cj_vec_avx2
#include "interp_vec.h"
#define CJ_MMA_TABLE	cj_mma_avx2
#include "interp_mma.h"

#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
