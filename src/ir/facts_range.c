/*
 * Arithmetic on sets of integers: bounds and a common divisor.
 */
#include "facts_priv.h"

static cj_wide
least(cj_wide a, cj_wide b)
{
	return a < b ? a : b;
}

static cj_wide
most(cj_wide a, cj_wide b)
{
	return a > b ? a : b;
}

/* ---- divisors ------------------------------------------------------------ */

static int64_t
common(int64_t a, int64_t b)
{
	assert(a >= 0 && b >= 0 && "divisors are not negative");
	while (b != 0) {
		int64_t r = a % b;

		a = b;
		b = r;
	}
	return a;
}

static int64_t
divisor_of(cj_wide n)
{
	if (n < 0)
		n = -n;
	if (n <= INT64_MAX)
		return (int64_t)n;
	return (int64_t)least(n & -n, (cj_wide)1 << 62);
}

static int64_t
product(int64_t a, int64_t b)
{
	int64_t p;

	if (!__builtin_mul_overflow(a, b, &p))
		return p;
	return a > b ? a : b;
}

static int64_t
power_of_two_in(int64_t n)
{
	return n == 0 ? (int64_t)1 << 62 : n & -n;
}

/* ---- sets ---------------------------------------------------------------- */

struct cj_range
cj_range_number(cj_wide n)
{
	struct cj_range r = { n, n, divisor_of(n) };

	return r;
}

static struct cj_range
between(cj_wide lo, cj_wide hi)
{
	struct cj_range r = { lo, hi, 1 };

	assert(lo <= hi && "a set is not empty");
	return r;
}

struct cj_range
cj_range_of_kind(enum cj_kind k)
{
	unsigned width = cj_kind_bits(k);

	if (!cj_kind_is_integer(k) && k != CJ_KIND_BOOL)
		return between(INT64_MIN, INT64_MAX);
	if (cj_kind_is_signed(k))
		return between(-((cj_wide)1 << (width - 1)),
		    ((cj_wide)1 << (width - 1)) - 1);
	return between(0, ((cj_wide)1 << width) - 1);
}

struct cj_range
cj_range_hull(struct cj_range a, struct cj_range b)
{
	struct cj_range r = { least(a.lo, b.lo), most(a.hi, b.hi),
	    common(a.divisor, b.divisor) };

	assert(a.lo <= a.hi && b.lo <= b.hi && "a set is not empty");
	return r;
}

struct cj_range
cj_range_wrap(struct cj_range r, enum cj_kind k)
{
	struct cj_range all = cj_range_of_kind(k);

	if (r.lo >= all.lo && r.hi <= all.hi)
		return r;
	if (k == CJ_KIND_INDEX) {	/* beyond is a fault, so not there */
		r.lo = least(most(r.lo, all.lo), all.hi);
		r.hi = least(most(r.hi, all.lo), all.hi);
		return r;
	}
	/* subtracting powers of two keeps divisors that are such */
	all.divisor = power_of_two_in(r.divisor);
	if (cj_kind_bits(k) < 62 && all.divisor >
	    (int64_t)1 << cj_kind_bits(k))
		all.divisor = (int64_t)1 << cj_kind_bits(k);
	return all;
}

/* ---- operations ---------------------------------------------------------- */

static struct cj_range
multiply(struct cj_range a, struct cj_range b)
{
	cj_wide p = a.lo * b.lo, q = a.lo * b.hi;
	cj_wide s = a.hi * b.lo, t = a.hi * b.hi;
	struct cj_range r = { least(least(p, q), least(s, t)),
	    most(most(p, q), most(s, t)), product(a.divisor, b.divisor) };

	return r;
}

static struct cj_range
add(struct cj_range a, struct cj_range b)
{
	struct cj_range r = { a.lo + b.lo, a.hi + b.hi,
	    common(a.divisor, b.divisor) };

	return r;
}

static struct cj_range
negate(struct cj_range a)
{
	struct cj_range r = { -a.hi, -a.lo, a.divisor };

	return r;
}

static cj_wide
floor_divide(cj_wide a, cj_wide b)
{
	cj_wide q;

	assert(b > 0);
	q = a / b;
	return q - (a % b != 0 && (a < 0) != (b < 0));
}

static struct cj_range
divide(struct cj_range a, struct cj_range b)
{
	cj_wide size = most(a.hi, -a.lo);
	bool zero = b.lo <= 0 && b.hi >= 0;
	struct cj_range r;

	if (b.hi < 1 || b.lo < 0)
		return between(-size, size);
	if (b.lo < 1)
		b.lo = 1;
	r = between(
	    least(floor_divide(a.lo, b.lo), floor_divide(a.lo, b.hi)),
	    most(floor_divide(a.hi, b.lo), floor_divide(a.hi, b.hi)));
	if (b.lo == b.hi && a.divisor % b.lo == 0)
		r.divisor = (int64_t)(a.divisor / b.lo);
	return zero ? cj_range_hull(r, cj_range_number(0)) : r;
}

static struct cj_range
modulo(struct cj_range a, struct cj_range b)
{
	bool zero = b.lo <= 0 && b.hi >= 0;
	struct cj_range r;

	if (b.lo >= 1 && a.lo >= 0 && a.hi < b.lo)
		return a;
	if (b.lo == b.hi && b.lo >= 1 && a.divisor % b.lo == 0)
		return cj_range_number(0);
	r = between(least(b.lo + 1, 0), most(b.hi - 1, 0));
	if (a.lo >= 0 && b.lo >= 0)
		r.hi = least(r.hi, a.hi);
	r.divisor = common(a.divisor, b.divisor);
	return zero ? cj_range_hull(r, a) : r;
}

static struct cj_range
absolute(struct cj_range a)
{
	struct cj_range r = a;

	if (a.lo >= 0)
		return a;
	r.hi = most(-a.lo, a.hi);
	r.lo = a.hi < 0 ? -a.hi : 0;
	return r;
}

static struct cj_range
shift_left(enum cj_kind k, struct cj_range a, struct cj_range b)
{
	if (b.lo != b.hi || b.lo < 0 || b.lo >= cj_kind_bits(k) || b.lo > 61)
		return b.lo == b.hi && (b.lo < 0 || b.lo >= cj_kind_bits(k)) ?
		    cj_range_number(0) : cj_range_of_kind(k);
	return multiply(a, cj_range_number((cj_wide)1 << (int)b.lo));
}

static struct cj_range
shift_right(enum cj_kind k, struct cj_range a, struct cj_range b)
{
	if (b.lo == b.hi && b.lo >= 0 && b.lo < cj_kind_bits(k))
		return divide(a, cj_range_number((cj_wide)1 << (int)b.lo));
	/* toward 0, or toward -1 from below */
	return between(least(a.lo, a.lo < 0 ? -1 : 0), most(a.hi, 0));
}

/* The least 2^n - 1 that is not below v >= 0. */
static cj_wide
filled(cj_wide v)
{
	cj_wide f = 0;

	while (f < v)
		f = f * 2 + 1;
	return f;
}

static struct cj_range
bitwise(enum cj_op op, enum cj_kind k, struct cj_range a, struct cj_range b)
{
	int64_t pa = power_of_two_in(a.divisor);
	int64_t pb = power_of_two_in(b.divisor);
	struct cj_range r = cj_range_of_kind(k);

	if (op == CJ_OP_AND) {
		if (a.lo >= 0 || b.lo >= 0) {
			r.lo = 0;
			r.hi = a.lo < 0 ? b.hi : b.lo < 0 ? a.hi :
			    least(a.hi, b.hi);
		}
		if (k == CJ_KIND_BOOL)
			r.lo = least(a.lo, b.lo);
		r.divisor = pa > pb ? pa : pb;
	} else {
		if (a.lo >= 0 && b.lo >= 0) {
			r.lo = op == CJ_OP_OR ? most(a.lo, b.lo) : 0;
			r.hi = filled(most(a.hi, b.hi));
		}
		r.divisor = pa < pb ? pa : pb;
	}
	if (r.lo == 0 && r.hi == 0)
		r.divisor = 0;
	return r;
}

static struct cj_range
compare(enum cj_op op, struct cj_range a, struct cj_range b)
{
	bool never = false, always = false;

	switch ((unsigned)op) {
	case CJ_OP_LT:
		always = a.hi < b.lo;
		never = a.lo >= b.hi;
		break;
	case CJ_OP_LE:
		always = a.hi <= b.lo;
		never = a.lo > b.hi;
		break;
	case CJ_OP_EQ:
		always = a.lo == a.hi && b.lo == b.hi && a.lo == b.lo;
		never = a.hi < b.lo || b.hi < a.lo;
		break;
	case CJ_OP_NE:
		never = a.lo == a.hi && b.lo == b.hi && a.lo == b.lo;
		always = a.hi < b.lo || b.hi < a.lo;
		break;
	}
	if (always || never)
		return cj_range_number(always);
	return between(0, 1);
}

static struct cj_range
minimum(struct cj_range a, struct cj_range b)
{
	struct cj_range r = { least(a.lo, b.lo), least(a.hi, b.hi),
	    common(a.divisor, b.divisor) };

	return r;
}

static struct cj_range
maximum(struct cj_range a, struct cj_range b)
{
	struct cj_range r = { most(a.lo, b.lo), most(a.hi, b.hi),
	    common(a.divisor, b.divisor) };

	return r;
}

static struct cj_range
invert(enum cj_kind k, struct cj_range a)
{
	cj_wide top = cj_kind_is_signed(k) ? -1 : cj_range_of_kind(k).hi;

	return between(top - a.hi, top - a.lo);
}

struct cj_range
cj_range_apply(enum cj_op op, enum cj_kind k, const struct cj_range *x)
{
	switch ((unsigned)op) {
	case CJ_OP_ADD: return add(x[0], x[1]);
	case CJ_OP_SUB: return add(x[0], negate(x[1]));
	case CJ_OP_MUL: return multiply(x[0], x[1]);
	case CJ_OP_FMA: return add(multiply(x[0], x[1]), x[2]);
	case CJ_OP_NEG: return negate(x[0]);
	case CJ_OP_ABS: return absolute(x[0]);
	case CJ_OP_DIV: case CJ_OP_DIVIDE_BY: return divide(x[0], x[1]);
	case CJ_OP_MOD: return modulo(x[0], x[1]);
	case CJ_OP_MIN: return minimum(x[0], x[1]);
	case CJ_OP_MAX: return maximum(x[0], x[1]);
	case CJ_OP_AND: case CJ_OP_OR: case CJ_OP_XOR:
		return bitwise(op, k, x[0], x[1]);
	case CJ_OP_NOT: return invert(k, x[0]);
	case CJ_OP_SHL: return shift_left(k, x[0], x[1]);
	case CJ_OP_SHR: return shift_right(k, x[0], x[1]);
	case CJ_OP_POPC: case CJ_OP_CLZ: case CJ_OP_CTZ:
		return cj_range_wrap(between(0, cj_kind_bits(k)), k);
	case CJ_OP_EQ: case CJ_OP_NE: case CJ_OP_LT: case CJ_OP_LE:
		return compare(op, x[0], x[1]);
	case CJ_OP_SELECT:
		return cj_range_hull(x[1], x[2]);
	default:
		return cj_range_of_kind(k);
	}
}
