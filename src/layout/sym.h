/*
 * Integers that are known or symbolic.
 *
 * A symbol is an integer that only run time knows: an extent, a stride, a
 * thread index. Sums, products, quotients ... of symbols are terms of a table:
 * built in a normal form (a sum of products with known factors in front), so
 * that equal functions of this kind are equal handles, and each with what is
 * known of its value: a range and a divisor. `ir/` turns terms into
 * instructions; layout/ never needs their value.
 *
 * Division and remainder round down, as the language has it: a % b has the
 * sign of b, a / 0 is 0, a % 0 is a. Known arithmetic is exact: a result that
 * does not fit in 64 bits is refused (layout.h), never wrapped. Symbolic
 * ranges saturate at the ends of int64_t, which mean "unknown".
 */
#ifndef CJ_SYM_H
#define CJ_SYM_H

#include "base/base.h"

/* A known integer (term 0, value) or a term of the table (value 0). */
struct cj_int {
	int64_t value;
	uint32_t term;
};

enum cj_term_kind {
#define TERM(kind) CJ_TERM_##kind,
#define BINARY(kind, form, text) CJ_TERM_##kind,
#include "term.def"
#undef TERM
#undef BINARY
};

struct cj_addend {
	int64_t factor;		/* not 0 */
	uint32_t term;		/* not a sum */
};

struct cj_term {
	enum cj_term_kind kind;
	int64_t lo, hi;		/* inclusive range of the value */
	int64_t divisor;	/* >= 1, divides every value; 0: always 0 */
	cj_name name;		/* of a symbol */
	uint32_t symbol;	/* of a symbol: the caller's number */
	int64_t constant;	/* of a sum */
	const struct cj_addend *addend;	/* of a sum: by term, at least 1 */
	const uint32_t *operand;	/* of a product: terms, ascending */
	uint32_t count;		/* of addends or operands */
	struct cj_int a, b;	/* of the binary kinds */
	uint32_t depth;		/* of nested terms, at most CJ_MAX_TERM_DEPTH */
};

enum {
	CJ_MAX_ADDENDS = 256,	/* of one sum; a larger one is refused */
	CJ_MAX_TERM_DEPTH = 1000
};

struct cj_symtab {
	struct cj_arena *arena;
	struct cj_names *names;
	CJ_VEC(struct cj_term) terms;	/* [0] is unused */
	uint32_t *slots, slot_count;	/* hash-consing */
	bool overflow;		/* set when known arithmetic left 64 bits, or
				   a sum or term passed its limit */
	unsigned nested;	/* simplifications in progress */
	struct cj_divided *divided;	/* quotients and remainders so far; */
	uint32_t divided_count, divided_slots;	/* open addressing */
	/*
	 * Arithmetic with a symbol gives a new symbol of the result's value
	 * and nothing is simplified: CuTe's dynamic integers, for checking
	 * against it. Every symbol must have a range of one value.
	 */
	bool fixed;
};

void cj_symtab_init(struct cj_symtab *t, struct cj_arena *a,
    struct cj_names *names);

static inline struct cj_int
cj_known(int64_t value)
{
	return (struct cj_int){ value, 0 };
}

static inline bool
cj_is_known(struct cj_int i)
{
	return i.term == 0;
}

static inline bool
cj_is_value(struct cj_int i, int64_t value)
{
	return i.term == 0 && i.value == value;
}

/* Same handle: equal for all values of the symbols. */
static inline bool
cj_int_same(struct cj_int a, struct cj_int b)
{
	return a.term == b.term && a.value == b.value;
}

/* A new symbol; each call makes another one. lo > hi is not allowed. */
struct cj_int cj_symbol(struct cj_symtab *t, cj_name name, uint32_t symbol,
    int64_t lo, int64_t hi, int64_t divisor);

/* Narrow what is known of a symbol (from a contract). Terms that were built
 * from it before keep what they knew; so state facts first. */
void cj_symbol_assume(struct cj_symtab *t, struct cj_int symbol, int64_t lo,
    int64_t hi, int64_t divisor);

struct cj_int cj_int_add(struct cj_symtab *t, struct cj_int a, struct cj_int b);
struct cj_int cj_int_sub(struct cj_symtab *t, struct cj_int a, struct cj_int b);
struct cj_int cj_int_neg(struct cj_symtab *t, struct cj_int a);
struct cj_int cj_int_mul(struct cj_symtab *t, struct cj_int a, struct cj_int b);
struct cj_int cj_int_div(struct cj_symtab *t, struct cj_int a, struct cj_int b);
struct cj_int cj_int_mod(struct cj_symtab *t, struct cj_int a, struct cj_int b);
struct cj_int cj_int_ceil_div(struct cj_symtab *t, struct cj_int a,
    struct cj_int b);
struct cj_int cj_int_min(struct cj_symtab *t, struct cj_int a, struct cj_int b);
struct cj_int cj_int_max(struct cj_symtab *t, struct cj_int a, struct cj_int b);
struct cj_int cj_int_abs(struct cj_symtab *t, struct cj_int a);
/* kind is XOR, AND, OR, SHL or SHR. */
struct cj_int cj_int_bit(struct cj_symtab *t, enum cj_term_kind kind,
    struct cj_int a, struct cj_int b);

struct cj_range {
	int64_t lo, hi;
};
struct cj_range cj_int_range(const struct cj_symtab *t, struct cj_int a);

/* Greatest common divisor, not negative. */
int64_t cj_gcd(int64_t a, int64_t b);
/* Largest known divisor (0 for a known 0, |value| for a known value). */
int64_t cj_int_divisor(const struct cj_symtab *t, struct cj_int a);
bool cj_int_divisible(const struct cj_symtab *t, struct cj_int a, int64_t by);

enum cj_truth { CJ_NO, CJ_YES, CJ_MAYBE };
/* What is known of a comparison; differences are formed, so that
 * M + 1 > M is known without knowing M. */
enum cj_truth cj_int_equal(struct cj_symtab *t, struct cj_int a,
    struct cj_int b);
enum cj_truth cj_int_less(struct cj_symtab *t, struct cj_int a,
    struct cj_int b);
enum cj_truth cj_int_less_equal(struct cj_symtab *t, struct cj_int a,
    struct cj_int b);

const struct cj_term *cj_term_get(const struct cj_symtab *t, struct cj_int a);
/* What a term is made of, one by one from n = 0 on (without a sum's factors and
 * constant); false: there are no more. A symbol is made of nothing. */
bool cj_term_part(const struct cj_term *m, uint32_t n, struct cj_int *part);

/* Value for given values of the symbols; false on overflow. */
typedef int64_t cj_symbol_value(void *user, uint32_t symbol);
bool cj_int_eval(const struct cj_symtab *t, struct cj_int a,
    cj_symbol_value *value, void *user, int64_t *out);

/* As the user reads it: M, M*8, (N + 7)/8, M % 4. */
void cj_int_print(struct cj_strbuf *out, const struct cj_symtab *t,
    struct cj_int a);

#endif
