/*
 * Formats of floats, and rounding to them in integers (llvm_round.c).
 */
#ifndef CJ_LLVM_ROUND_H
#define CJ_LLVM_ROUND_H

#include "llvm_gen.h"

/* Encodings without the sign; tf32 here is 19 bits, without its padding. */
struct cj_llvm_format {
	int bits, mantissa, bias;
	uint64_t largest, infinity, nan;	/* 0: there is none */
};
const struct cj_llvm_format *cj_llvm_format(enum cj_kind k);

/* Of a conversion to float: does it saturate, how does it round? */
bool cj_llvm_saturates(enum cj_kind to, struct cj_conversion how);

/* Bits of a float or double, with NaN and infinities, as kind `to`, which has
 * fewer bits of mantissa. */
cj_llvm cj_llvm_round_float(struct cj_llvm_gen *g, enum cj_kind to,
    struct cj_conversion how, cj_llvm x);
/* An integer of at most 64 bits. */
cj_llvm cj_llvm_round_int(struct cj_llvm_gen *g, enum cj_kind to,
    struct cj_conversion how, cj_llvm x, bool is_signed);
/* The NaN of f16 as an integer of 32 or 64 bits that LLVM does not know: it
 * would widen it with its payload, where GPUs give the one NaN of f32. */
cj_llvm cj_llvm_f16_nan(struct cj_llvm_gen *g, LLVMTypeRef type);
/* A small float as an exact float. */
cj_llvm cj_llvm_small_to_f32(struct cj_llvm_gen *g, enum cj_kind from,
    cj_llvm bits);

#endif
