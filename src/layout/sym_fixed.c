/*
 * Integers as CuTe has them: static, or dynamic with a value.
 *
 * For checking against CuTe. A dynamic integer is a symbol whose range is its
 * value; every result is a new one, so nothing is equal by construction. What
 * stays static where one operand is dynamic are CuTe's own rules.
 */
#include "sym_priv.h"

/* 0 * x, 0 / x, 0 % x, x % 1 and 0 & x are static. */
static bool
stays_static(enum cj_fixed op, struct cj_int a, struct cj_int b)
{
	if (op == CJ_FIXED_MUL || op == CJ_FIXED_AND)
		return cj_is_value(a, 0) || cj_is_value(b, 0);
	if (op == CJ_FIXED_DIV)
		return cj_is_value(a, 0);
	return op == CJ_FIXED_MOD && (cj_is_value(a, 0) || cj_is_value(b, 1)
	    || cj_is_value(b, -1));
}

static int64_t
value_of(struct cj_symtab *t, enum cj_fixed op, int64_t a, int64_t b)
{
	int64_t r = 0;

	switch (op) {
	case CJ_FIXED_ADD:
		return cj_add64(t, a, b);
	case CJ_FIXED_SUB:
		if (__builtin_sub_overflow(a, b, &r))
			t->overflow = true;
		return r;
	case CJ_FIXED_MUL:
		return cj_mul64(t, a, b);
#define TERM(kind)
#define BINARY(kind, form, text) \
	case CJ_FIXED_##kind: \
		return cj_term_value(CJ_TERM_##kind, a, b, &t->overflow);
#include "term.def"
#undef TERM
#undef BINARY
	}
	return r;
}

struct cj_int
cj_fixed(struct cj_symtab *t, enum cj_fixed op, struct cj_int a,
    struct cj_int b)
{
	struct cj_range ra = cj_int_range(t, a), rb = cj_int_range(t, b);
	int64_t v;

	assert(ra.lo == ra.hi && rb.lo == rb.hi);
	if (stays_static(op, a, b))
		return cj_known(0);
	v = value_of(t, op, ra.lo, rb.lo);
	return cj_symbol(t, 0, 0, v, v, cj_gcd(v, 0));
}
