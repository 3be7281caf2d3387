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

/* How a convert rounds and what it does beyond the range. The language's
 * default: nearest even; to integers toward zero and saturating with NaN = 0;
 * integer to integer keeps the low bits; 8-bit floats and smaller saturate. */
struct cj_conversion {
	enum cj_rounding rounding;
	bool saturate;		/* floats: to the largest finite, not inf */
	bool is_default;
};

uint64_t cj_num_convert(enum cj_kind to, enum cj_kind from, uint64_t bits,
    struct cj_conversion how);
double cj_num_to_f64(enum cj_kind from, uint64_t bits);
uint64_t cj_num_from_f64(enum cj_kind to, double value);
int64_t cj_num_to_i64(enum cj_kind from, uint64_t bits);

/* One register of a pure operation (enum cj_op) of kind `k`: the meaning of
 * ADD ... LE, the approximations included. Operands of SHL/SHR have kind k. */
uint64_t cj_num_apply(unsigned op, enum cj_kind k, uint64_t a, uint64_t b,
    uint64_t c);

/* Shortest text that reads back to the same value; inf, -inf, nan. */
void cj_num_print(struct cj_strbuf *out, enum cj_kind k, uint64_t bits);

#endif
