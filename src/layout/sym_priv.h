/*
 * Between the files of sym: a sum unpacked, and the making of terms.
 *
 * A monomial is num/den * base: `base` is a symbol, a product, or any term
 * that is not a sum; den > 1 only where what is known of base says that den
 * divides it. In the table num/den * base is num * DIV(base, den), num and
 * den without a common factor. So (N/8)*4 and N/2 are one handle.
 */
#ifndef CJ_SYM_PRIV_H
#define CJ_SYM_PRIV_H

#include "sym.h"

struct cj_mono {
	int64_t num, den;
	uint32_t base;
};

/* A sum being worked on; `at` has room for CJ_MAX_ADDENDS and one more. */
struct cj_poly {
	int64_t constant;
	uint32_t count;
	struct cj_mono at[CJ_MAX_ADDENDS + 1];
};

void cj_poly_set(const struct cj_symtab *t, struct cj_poly *p,
    struct cj_int a);
/* p += scale * a */
void cj_poly_add(struct cj_symtab *t, struct cj_poly *p, struct cj_int a,
    int64_t scale);
void cj_poly_add_mono(struct cj_symtab *t, struct cj_poly *p,
    struct cj_mono m);
struct cj_int cj_poly_int(struct cj_symtab *t, struct cj_poly *p);
struct cj_int cj_mono_int(struct cj_symtab *t, struct cj_mono m);

/* Term of a binary kind, as it is; folded only where its range is a point. */
struct cj_int cj_term_binary(struct cj_symtab *t, enum cj_term_kind kind,
    struct cj_int a, struct cj_int b);
/* Term of a product of `count` sorted non-sum terms. */
uint32_t cj_term_product(struct cj_symtab *t, const uint32_t *operand,
    uint32_t count);
struct cj_int cj_term_sum(struct cj_symtab *t, int64_t constant,
    const struct cj_addend *at, uint32_t count);

/* Operands of a product, or the term alone. */
uint32_t cj_term_operands(const struct cj_symtab *t, const uint32_t *term,
    const uint32_t **operands);

static inline bool
cj_term_is_binary(const struct cj_term *m)
{
	return m->kind > CJ_TERM_PRODUCT;
}

/* The value of a binary kind. A shift by less than 0 or more than 62 shifts
 * everything out; a result that leaves 64 bits sets *overflow. */
int64_t cj_term_value(enum cj_term_kind kind, int64_t a, int64_t b,
    bool *overflow);

/* The operations of a table whose symbols have fixed values (sym_fixed.c):
 * sums and products, and those of the binary kinds. */
enum cj_fixed {
	CJ_FIXED_ADD, CJ_FIXED_SUB, CJ_FIXED_MUL,
#define TERM(kind)
#define BINARY(kind, form, text) CJ_FIXED_##kind,
#include "term.def"
#undef TERM
#undef BINARY
};
struct cj_int cj_fixed(struct cj_symtab *t, enum cj_fixed op,
    struct cj_int a, struct cj_int b);

/* Checked: sets t->overflow and returns 0. */
int64_t cj_add64(struct cj_symtab *t, int64_t a, int64_t b);
int64_t cj_mul64(struct cj_symtab *t, int64_t a, int64_t b);
/* Saturating; the ends of int64_t mean "unknown" and stay. */
int64_t cj_sat_add(int64_t a, int64_t b);
int64_t cj_sat_mul(int64_t a, int64_t b);
/* floor(a / b), b != 0; a - b * floor(a / b). INT64_MIN / -1 saturates. */
int64_t cj_floor_div(int64_t a, int64_t b);
int64_t cj_floor_mod(int64_t a, int64_t b);

struct cj_range cj_poly_range(const struct cj_symtab *t,
    const struct cj_poly *p);

/* What a symbol's facts have gone into (sym_div.c). */
void cj_forget_divided(struct cj_symtab *t);

#endif
