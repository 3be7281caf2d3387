/*
 * Minimum, maximum and the bit operations, on two's complement.
 *
 * Where the operands cannot meet in a bit, XOR and OR are sums; AND with a
 * run of ones is a remainder; shifts by a known amount are products and
 * quotients. So swizzles of symbolic offsets stay in the sums' normal form
 * as far as they can.
 */
#include "sym_priv.h"

static struct cj_int
binary_sorted(struct cj_symtab *t, enum cj_term_kind kind, struct cj_int a,
    struct cj_int b)
{
	if (a.term > b.term)
		return cj_term_binary(t, kind, b, a);
	return cj_term_binary(t, kind, a, b);
}

struct cj_int
cj_int_min(struct cj_symtab *t, struct cj_int a, struct cj_int b)
{
	if (t->fixed && !(cj_is_known(a) && cj_is_known(b)))
		return cj_fixed(t, CJ_FIXED_MIN, a, b);
	if (cj_int_same(a, b) || cj_int_less_equal(t, a, b) == CJ_YES)
		return a;
	if (cj_int_less_equal(t, b, a) == CJ_YES)
		return b;
	return binary_sorted(t, CJ_TERM_MIN, a, b);
}

struct cj_int
cj_int_max(struct cj_symtab *t, struct cj_int a, struct cj_int b)
{
	if (t->fixed && !(cj_is_known(a) && cj_is_known(b)))
		return cj_fixed(t, CJ_FIXED_MAX, a, b);
	if (cj_int_same(a, b) || cj_int_less_equal(t, a, b) == CJ_YES)
		return b;
	if (cj_int_less_equal(t, b, a) == CJ_YES)
		return a;
	return binary_sorted(t, CJ_TERM_MAX, a, b);
}

/* A known value has all its bits: what a shift to the left loses is told. */
static struct cj_int
both_known(struct cj_symtab *t, enum cj_term_kind kind, int64_t a, int64_t b)
{
	if (kind == CJ_TERM_SHL && (b < 0 || b > 62) && a != 0)
		t->overflow = true;
	return cj_known(cj_term_value(kind, a, b, &t->overflow));
}

/* Whether every set bit of b lies below every bit a can have set. */
static bool
apart(const struct cj_symtab *t, struct cj_int a, struct cj_int b)
{
	int64_t d = cj_int_divisor(t, a);
	struct cj_range r = cj_int_range(t, b);

	return r.lo >= 0 && d != 0 && r.hi < (d & -d);
}

/* a & (ones << low), for known ones = 2^n - 1. */
static struct cj_int
and_run(struct cj_symtab *t, struct cj_int a, int64_t mask)
{
	int64_t low = mask & -mask;
	struct cj_int r;

	if (mask <= 0 || mask / low == INT64_MAX
	    || ((mask / low + 1) & (mask / low)) != 0)
		return cj_term_binary(t, CJ_TERM_AND, a, cj_known(mask));
	r = cj_int_mod(t, cj_int_div(t, a, cj_known(low)),
	    cj_known(mask / low + 1));
	return cj_int_mul(t, r, cj_known(low));
}

static struct cj_int
known_right(struct cj_symtab *t, enum cj_term_kind kind, struct cj_int a,
    int64_t b)
{
	assert(!cj_is_known(a) && "two known operands have a value");
	if (kind == CJ_TERM_AND)
		return b == 0 ? cj_known(0) : b == -1 ? a
		    : and_run(t, a, b);
	if (b == 0)
		return a;
	if (kind == CJ_TERM_SHL && b > 0 && b < 62)
		return cj_int_mul(t, a, cj_known((int64_t)1 << b));
	if (kind == CJ_TERM_SHR && b > 0 && b < 62)
		return cj_int_div(t, a, cj_known((int64_t)1 << b));
	return cj_term_binary(t, kind, a, cj_known(b));
}

/*
 * What of the sum `a` are multiples of `unit`, a power of two: they stay out
 * of a XOR with what is less than the unit, so that offsets which differ by
 * them share it.
 */
static struct cj_int
multiples(struct cj_symtab *t, struct cj_int a, int64_t unit)
{
	struct cj_term sum;
	struct cj_int out, x = { 0, 0 };
	uint32_t i;

	if (cj_is_known(a) || cj_term_get(t, a)->kind != CJ_TERM_SUM)
		return cj_known(0);
	sum = *cj_term_get(t, a);	/* the table may move */
	out = cj_known(sum.constant - (sum.constant & (unit - 1)));
	for (i = 0; i < sum.count; i++) {
		x.term = sum.addend[i].term;
		x = cj_int_mul(t, cj_known(sum.addend[i].factor), x);
		if (cj_int_divisor(t, x) % unit == 0)
			out = cj_int_add(t, out, x);
		x.value = 0;
	}
	return out;
}

/* a XOR b, b small; false: nothing of a can stay out of it. */
static bool
xor_below(struct cj_symtab *t, struct cj_int a, struct cj_int b,
    struct cj_int *out)
{
	struct cj_range r = cj_int_range(t, b);
	struct cj_int high;
	int64_t unit = 1;

	if (r.lo < 0 || r.hi > (int64_t)1 << 40)
		return false;
	while (unit <= r.hi)
		unit *= 2;
	high = multiples(t, a, unit);
	if (cj_is_value(high, 0) || t->overflow)
		return false;
	*out = cj_int_add(t, high, cj_int_bit(t, CJ_TERM_XOR,
	    cj_int_sub(t, a, high), b));
	return true;
}

struct cj_int
cj_int_bit(struct cj_symtab *t, enum cj_term_kind kind, struct cj_int a,
    struct cj_int b)
{
	bool commutes = kind == CJ_TERM_XOR || kind == CJ_TERM_AND
	    || kind == CJ_TERM_OR;
	struct cj_int high;

	assert(kind >= CJ_TERM_XOR);
	if (cj_is_known(a) && cj_is_known(b))
		return both_known(t, kind, a.value, b.value);
	if (t->fixed)
		return cj_fixed(t, CJ_FIXED_XOR + (kind - CJ_TERM_XOR), a, b);
	if (commutes && cj_is_known(a)) {
		struct cj_int swap = a;

		a = b;
		b = swap;
	}
	if (cj_int_same(a, b) && commutes)
		return kind == CJ_TERM_XOR ? cj_known(0) : a;
	if ((kind == CJ_TERM_XOR || kind == CJ_TERM_OR)
	    && (apart(t, a, b) || apart(t, b, a)))
		return cj_int_add(t, a, b);
	if (kind == CJ_TERM_XOR && (xor_below(t, a, b, &high) ||
	    xor_below(t, b, a, &high)))
		return high;
	if (cj_is_known(b))
		return known_right(t, kind, a, b.value);
	if (cj_is_value(a, 0))
		return a;
	return commutes ? binary_sorted(t, kind, a, b)
	    : cj_term_binary(t, kind, a, b);
}
