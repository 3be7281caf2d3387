/*
 * Numbers: the one place where values are converted and computed, for
 * constant folding and for the executor. A value is its bits in a uint64_t:
 * integers and bool sign- or zero-extended to 64 bits, floats as their own
 * encoding in the low bits.
 */
#ifndef CJ_NUM_H
#define CJ_NUM_H

#include "type.h"

enum cj_rounding { CJ_ROUND_EVEN, CJ_ROUND_ZERO, CJ_ROUND_UP, CJ_ROUND_DOWN };

/*
 * How a convert rounds and what it does beyond the range. The language's
 * default: nearest even; to integers toward zero and saturating with NaN = 0;
 * integer to integer keeps the low bits; 8-bit floats and smaller saturate.
 *
 * What holds whatever is asked for: a float becomes an integer by saturation;
 * kinds of 4 and 6 bits have neither inf nor NaN, so that everything beyond
 * becomes the largest finite, NaN too; an f8e4m3 that may not saturate
 * overflows to NaN; f8ue8m0 is a magnitude and takes no notice of the sign,
 * its least value stands for 0. A bool is "not 0", and 0 or 1 as a number.
 */
struct cj_conversion {
	enum cj_rounding rounding;
	bool saturate;		/* to float: to the largest finite, not inf;
				   integer to integer: to the nearest */
	bool is_default;
};

uint64_t cj_num_convert(enum cj_kind to, enum cj_kind from, uint64_t bits,
    struct cj_conversion how);
double cj_num_to_f64(enum cj_kind from, uint64_t bits);
uint64_t cj_num_from_f64(enum cj_kind to, double value);
int64_t cj_num_to_i64(enum cj_kind from, uint64_t bits);

/*
 * One register of a pure operation (enum cj_op) of kind `k`: the meaning of
 * ADD ... LE, SELECT, DIVIDE_BY (of a and b) and the approximations. Operands
 * of SHL/SHR have kind k. Comparisons give 0 or 1. INDEX wraps here; whoever
 * has to report its overflow looks by cj_num_index_overflows().
 *
 * Every float operation rounds once, to nearest even. A NaN that is computed
 * is the canonical one, all bits set but the sign, as the GPU gives for f16,
 * bf16 and f32; with f64 the GPU hands on the payload of an operand. neg, abs
 * and copysign touch the sign alone, also of NaN (the GPU's neg and abs make
 * it canonical). Denormals are kept, by approximations too. Approximations are
 * computed in double and rounded: within 1 unit of the last place of the true
 * value, where PTX allows its own more (man cute-ir). All but NaN and the
 * approximations was found equal to an H200 over a million operands each.
 */
uint64_t cj_num_apply(unsigned op, enum cj_kind k, uint64_t a, uint64_t b,
    uint64_t c);

/* Does ADD, SUB, MUL, FMA, NEG, ABS, DIV, SHL of INDEX leave 64 bits? */
bool cj_num_index_overflows(unsigned op, int64_t a, int64_t b, int64_t c);

/* Read what cj_num_print writes, and any decimal or 0x number; 0x with floats
 * gives the bits themselves. False: not a number of this kind. */
bool cj_num_read(enum cj_kind k, const char *text, size_t length,
    uint64_t *bits);

/*
 * What the operation `divisor` gives for d: numbers that turn floor(a / d)
 * into a multiplication. For d >= 1 and, of out, m = out[0], s = the low 32
 * bits of out[1], m32 = its high 32 bits:
 *
 *	x = a ^ (a >> 63)			(arithmetic shift)
 *	q = (mul_hi_u64(m, x) + x) >> s		floor(a / d) = q ^ (a >> 63)
 *
 * and where |a| and d are below 2^31 the same with 32-bit numbers, m32 for m,
 * mul_hi_u32 and the low 5 bits of s. For d = 0 q itself is the language's
 * a / 0 = 0, with nothing of the sign. For d < 0 the division is needed.
 */
void cj_num_divisor(int64_t d, uint64_t out[2]);

/* Shortest text that reads back to the same value; inf, -inf, nan. */
void cj_num_print(struct cj_strbuf *out, enum cj_kind k, uint64_t bits);

#endif
