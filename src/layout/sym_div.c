/*
 * Quotients and remainders, rounded down.
 *
 * a / b: what of `a` is known to be a multiple of b leaves the division,
 * a = b*q + r, so that a / b = q + r / b and a % b = r % b. Then the low part
 * of r goes where g | b, r = g*A + c and 0 <= c < g: r / b = A / (b/g) and
 * r % b = g * (A % (b/g)) + c. What is left becomes a term.
 *
 * a / 0 is 0 and a % 0 is a: by a symbol that may be 0 nothing is simplified.
 */
#include "sym_priv.h"

/* Divide p by the known b > 0: the quotient goes to q, the rest stays. */
static void
split_known(struct cj_symtab *t, struct cj_poly *p, int64_t b,
    struct cj_poly *q)
{
	uint32_t i, kept = 0;

	assert(b > 0);
	q->count = 0;
	q->constant = cj_floor_div(p->constant, b);
	p->constant = cj_floor_mod(p->constant, b);
	for (i = 0; i < p->count; i++) {
		struct cj_mono m = p->at[i];
		int64_t d = t->terms.at[m.base].divisor / m.den, all, g, den;

		if (__builtin_mul_overflow(cj_gcd(m.num, 0), d, &all))
			all = d % b == 0 ? d : cj_gcd(m.num, 0);
		if (all % b == 0
		    && !__builtin_mul_overflow(m.den, b / cj_gcd(m.num, b),
		    &den)) {
			g = cj_gcd(m.num, b);
			cj_poly_add_mono(t, q, (struct cj_mono){ m.num / g,
			    den, m.base });
			continue;
		}
		cj_poly_add_mono(t, q, (struct cj_mono){ m.num / b, m.den,
		    m.base });
		m.num %= b;
		if (m.num != 0)
			p->at[kept++] = m;
	}
	p->count = kept;
}

/* Largest known divisor of a monomial's value. */
static int64_t
mono_divisor(const struct cj_symtab *t, struct cj_mono m)
{
	int64_t d = t->terms.at[m.base].divisor / m.den, all;

	if (__builtin_mul_overflow(cj_gcd(m.num, 0), d, &all))
		return d;
	return all;
}

/*
 * The largest g > 1 that divides b for which p = g*A + c with 0 <= c < g known;
 * p becomes A, *low becomes c. 1 if there is none.
 */
static int64_t
take_low(struct cj_symtab *t, struct cj_poly *p, int64_t b,
    struct cj_poly *low)
{
	int64_t best = 1;
	uint32_t i, j, kept = 0;

	assert(b > 0);

	for (i = 0; i < p->count; i++) {
		int64_t g = cj_gcd(mono_divisor(t, p->at[i]), b);
		struct cj_range r;

		if (g <= best)
			continue;
		low->count = 0;
		low->constant = cj_floor_mod(p->constant, g);
		for (j = 0; j < p->count; j++) {
			if (mono_divisor(t, p->at[j]) % g != 0)
				low->at[low->count++] = p->at[j];
		}
		r = cj_poly_range(t, low);
		if (r.lo >= 0 && r.hi < g)
			best = g;
	}
	if (best == 1)
		return 1;
	low->count = 0;
	low->constant = cj_floor_mod(p->constant, best);
	p->constant = cj_floor_div(p->constant, best);
	for (j = 0; j < p->count; j++) {
		struct cj_mono m = p->at[j];
		int64_t g = cj_gcd(m.num, best);

		if (mono_divisor(t, m) % best != 0) {
			low->at[low->count++] = m;
			continue;
		}
		m.num /= g;
		m.den = cj_mul64(t, m.den, best / g);
		p->at[kept++] = m;
	}
	p->count = kept;
	return best;
}

/* floor(lo / b) where it equals floor(hi / b). */
static bool
one_quotient(struct cj_range r, int64_t b, int64_t *k)
{
	if (r.lo == INT64_MIN || r.hi == INT64_MAX)
		return false;
	*k = cj_floor_div(r.lo, b);
	return *k == cj_floor_div(r.hi, b);
}

/*
 * Term of p / b, p reduced. (x/y + c) / b is (x + c*y) / (y*b), and
 * (x % y) / b is (x/b) % (y/b) where b divides y.
 */
static struct cj_int
quotient_term(struct cj_symtab *t, struct cj_poly *p, int64_t b)
{
	struct cj_int r = cj_poly_int(t, p), x, y;
	int64_t by, add;

	if (p->count != 1 || cj_is_known(r) || p->at[0].num != 1
	    || p->at[0].den != 1)
		return cj_is_known(r) ? cj_int_div(t, r, cj_known(b))
		    : cj_term_binary(t, CJ_TERM_DIV, r, cj_known(b));
	x = t->terms.at[p->at[0].base].a;
	y = t->terms.at[p->at[0].base].b;
	if (t->terms.at[p->at[0].base].kind == CJ_TERM_DIV && cj_is_known(y)
	    && y.value > 0 && !__builtin_mul_overflow(y.value, b, &by)
	    && !__builtin_mul_overflow(y.value, p->constant, &add))
		return cj_int_div(t, cj_int_add(t, x, cj_known(add)),
		    cj_known(by));
	if (t->terms.at[p->at[0].base].kind == CJ_TERM_MOD && cj_is_known(y)
	    && y.value > 0 && p->constant == 0 && y.value % b == 0)
		return cj_int_mod(t, cj_int_div(t, x, cj_known(b)),
		    cj_known(y.value / b));
	return cj_term_binary(t, CJ_TERM_DIV, r, cj_known(b));
}

static struct cj_int
div_known(struct cj_symtab *t, struct cj_int a, int64_t b)
{
	struct cj_poly p, q, low;
	int64_t k, g;
	uint32_t i;

	if (b == 1)
		return a;
	cj_poly_set(t, &p, a);
	split_known(t, &p, b, &q);
	assert(p.constant >= 0 && p.constant < b);
	g = take_low(t, &p, b, &low);
	assert(g > 0 && b % g == 0);
	b /= g;
	if (g > 1) {
		struct cj_int rest = cj_poly_int(t, &p);

		return cj_int_add(t, cj_poly_int(t, &q),
		    cj_int_div(t, rest, cj_known(b)));
	}
	g = b;
	for (i = 0; i < p.count; i++)
		g = cj_gcd(g, p.at[i].num);
	if (p.count != 0 && g > 1) {
		p.constant = cj_floor_div(p.constant, g);
		for (i = 0; i < p.count; i++)
			p.at[i].num /= g;
		b /= g;
	}
	if (one_quotient(cj_poly_range(t, &p), b, &k)) {
		q.constant = cj_add64(t, q.constant, k);
		return cj_poly_int(t, &q);
	}
	return cj_int_add(t, cj_poly_int(t, &q), quotient_term(t, &p, b));
}

/* (x % y + c) % b is (x + c) % b where b divides the factor times y. */
static void
drop_inner_mods(struct cj_symtab *t, struct cj_poly *p, int64_t b)
{
	uint32_t i;

	for (i = 0; i < p->count; i++) {
		struct cj_mono m = p->at[i];
		const struct cj_term *o = &t->terms.at[m.base];
		struct cj_int x = o->a;
		int64_t all;

		if (o->kind != CJ_TERM_MOD || !cj_is_known(o->b) || m.den != 1
		    || o->b.value == 0
		    || __builtin_mul_overflow(o->b.value, m.num, &all)
		    || all % b != 0)
			continue;
		cj_poly_add_mono(t, p, (struct cj_mono){ -m.num, 1, m.base });
		cj_poly_add(t, p, x, m.num);
		i = (uint32_t)-1;
	}
}

static struct cj_int
mod_known(struct cj_symtab *t, struct cj_int a, int64_t b)
{
	struct cj_poly p, q, low;
	int64_t k, g;

	assert(b > 0);
	if (b == 1)
		return cj_known(0);
	cj_poly_set(t, &p, a);
	split_known(t, &p, b, &q);
	if (one_quotient(cj_poly_range(t, &p), b, &k)) {
		p.constant = cj_add64(t, p.constant,
		    -cj_mul64(t, k, b));
		return cj_poly_int(t, &p);
	}
	g = take_low(t, &p, b, &low);
	if (g > 1) {
		struct cj_int rest = cj_poly_int(t, &p);

		rest = cj_int_mod(t, rest, cj_known(b / g));
		return cj_int_add(t, cj_int_mul(t, rest, cj_known(g)),
		    cj_poly_int(t, &low));
	}
	drop_inner_mods(t, &p, b);
	split_known(t, &p, b, &q);
	return cj_term_binary(t, CJ_TERM_MOD, cj_poly_int(t, &p),
	    cj_known(b));
}

/* ---- by a symbol ------------------------------------------------------- */

/* x / y as a monomial, where that is exact for all values. */
static bool
mono_div(struct cj_symtab *t, struct cj_mono x, struct cj_mono y,
    struct cj_mono *out)
{
	const uint32_t *ox, *oy;
	uint32_t nx = cj_term_operands(t, &x.base, &ox);
	uint32_t ny = cj_term_operands(t, &y.base, &oy);
	uint32_t left[64], n = 0, i, j = 0;
	int64_t g, num, den;

	if (nx < ny || nx > 64)
		return false;
	for (i = 0; i < nx; i++) {
		if (j < ny && ox[i] == oy[j])
			j++;
		else
			left[n++] = ox[i];
	}
	/* num/den = (x.num * y.den) / (x.den * y.num) */
	if (j < ny || __builtin_mul_overflow(x.num, y.den, &num)
	    || __builtin_mul_overflow(x.den, y.num, &den))
		return false;
	g = cj_gcd(num, den);
	num /= den < 0 ? -g : g;
	den /= den < 0 ? -g : g;
	if (n == 0) {
		*out = (struct cj_mono){ num, 1, 0 };
		return den == 1;
	}
	*out = (struct cj_mono){ num, den, cj_term_product(t, left, n) };
	return t->terms.at[out->base].divisor % den == 0;
}

/*
 * Divide p by the sum b, highest addend first: a quotient monomial is taken
 * where it removes an addend of p without making p longer.
 */
static struct cj_int
split_symbolic(struct cj_symtab *t, struct cj_poly *p, struct cj_int b)
{
	struct cj_poly by, q;
	uint32_t i, j;
	bool before = t->overflow;

	cj_poly_set(t, &by, b);
	q.count = 0;
	q.constant = 0;
	for (i = 0; i < p->count; i++) {
		struct cj_poly rest;
		struct cj_mono m;
		struct cj_int quotient;

		for (j = 0; j < by.count; j++) {
			if (!mono_div(t, p->at[i], by.at[j], &m))
				continue;
			quotient = m.base == 0 ? cj_known(m.num)
			    : cj_mono_int(t, m);
			rest = *p;
			t->overflow = false;
			cj_poly_add(t, &rest, cj_int_mul(t, quotient, b), -1);
			if (t->overflow || rest.count >= p->count)
				continue;
			*p = rest;
			cj_poly_add(t, &q, quotient, 1);
			i = (uint32_t)-1;
			break;
		}
	}
	t->overflow = before;
	return cj_poly_int(t, &q);
}

/* 0 <= r < b for all values of the symbols. */
static bool
in_range(struct cj_symtab *t, struct cj_int r, struct cj_int b)
{
	return cj_int_range(t, r).lo >= 0 && cj_int_less(t, r, b) == CJ_YES;
}

static bool
never_zero(const struct cj_symtab *t, struct cj_int b)
{
	struct cj_range r = cj_int_range(t, b);

	return r.lo > 0 || r.hi < 0;
}

static struct cj_int
div_symbolic(struct cj_symtab *t, struct cj_int a, struct cj_int b)
{
	struct cj_int q, r, x, y;
	struct cj_poly p;

	if (in_range(t, a, b))
		return cj_known(0);
	if (!never_zero(t, b))
		return cj_term_binary(t, CJ_TERM_DIV, a, b);
	assert(!cj_is_known(b));
	cj_poly_set(t, &p, a);
	q = split_symbolic(t, &p, b);
	r = cj_poly_int(t, &p);
	if (cj_is_value(r, 0) || in_range(t, r, b))
		return q;
	if (!cj_is_known(r) && t->terms.at[r.term].kind == CJ_TERM_DIV) {
		x = t->terms.at[r.term].a;
		y = t->terms.at[r.term].b;
		if (cj_int_range(t, y).lo > 0 && cj_int_range(t, b).lo > 0)
			return cj_int_add(t, q, cj_int_div(t, x,
			    cj_int_mul(t, y, b)));
	}
	return cj_int_add(t, q, cj_term_binary(t, CJ_TERM_DIV, r, b));
}

static struct cj_int
divide(struct cj_symtab *t, struct cj_int a, struct cj_int b)
{
	if (t->fixed && !(cj_is_known(a) && cj_is_known(b)))
		return cj_fixed(t, CJ_FIXED_DIV, a, b);
	if (cj_is_value(b, 0) || cj_is_value(a, 0))
		return cj_known(0);
	if (cj_is_known(a) && cj_is_known(b)) {
		if (a.value == INT64_MIN && b.value == -1)
			t->overflow = true;
		return cj_known(cj_floor_div(a.value, b.value));
	}
	if (!cj_is_known(b))
		return div_symbolic(t, a, b);
	if (b.value == INT64_MIN)
		return cj_term_binary(t, CJ_TERM_DIV, a, b);
	return b.value > 0 ? div_known(t, a, b.value)
	    : div_known(t, cj_int_neg(t, a), -b.value);
}

static struct cj_int
reduce(struct cj_symtab *t, struct cj_int a, struct cj_int b)
{
	struct cj_poly p;
	struct cj_int r;

	if (t->fixed && !(cj_is_known(a) && cj_is_known(b)))
		return cj_fixed(t, CJ_FIXED_MOD, a, b);
	if (cj_is_value(b, 0) || cj_is_value(a, 0))
		return a;
	if (cj_is_known(a) && cj_is_known(b))
		return cj_known(cj_floor_mod(a.value, b.value));
	if (cj_is_known(b) && b.value > 0)
		return mod_known(t, a, b.value);
	if (cj_is_known(b))
		return b.value == INT64_MIN
		    ? cj_term_binary(t, CJ_TERM_MOD, a, b)
		    : cj_int_neg(t, mod_known(t, cj_int_neg(t, a), -b.value));
	if (in_range(t, a, b))
		return a;
	if (!never_zero(t, b))
		return cj_term_binary(t, CJ_TERM_MOD, a, b);
	cj_poly_set(t, &p, a);
	split_symbolic(t, &p, b);
	r = cj_poly_int(t, &p);
	if (cj_is_value(r, 0) || in_range(t, r, b))
		return r;
	return cj_term_binary(t, CJ_TERM_MOD, r, b);
}

/* ---- what was divided before --------------------------------------------- */

/*
 * A sum looks for quotients that go with its remainders, which asks for further
 * quotients of sums: without a memory, many times as many for each level. A
 * result depends on how many simplifications are in progress, since their depth
 * is bounded, and on what is known of symbols: facts end the memory.
 */
struct cj_divided {
	struct cj_int a, b, result;
	unsigned nested;
	bool is_mod, is_there;
};

static struct cj_divided *
find_divided(const struct cj_symtab *t, const struct cj_divided *key)
{
	uint64_t words[] = { (uint64_t)key->a.value, (uint64_t)key->b.value,
	    (uint64_t)key->a.term << 32 | key->b.term,
	    (uint64_t)key->nested << 1 | key->is_mod };
	uint32_t i = (uint32_t)cj_hash64(words, sizeof words);

	for (;; i++) {
		struct cj_divided *d = &t->divided[i & (t->divided_slots - 1)];

		if (!d->is_there || (cj_int_same(d->a, key->a) &&
		    cj_int_same(d->b, key->b) && d->nested == key->nested &&
		    d->is_mod == key->is_mod))
			return d;
	}
}

static void
grow_divided(struct cj_symtab *t)
{
	struct cj_divided *old = t->divided;
	uint32_t slots = t->divided_slots, i;

	t->divided_slots = slots == 0 ? 64 : 2 * slots;
	t->divided = CJ_NEWS(t->arena, struct cj_divided, t->divided_slots);
	for (i = 0; i < slots; i++)
		if (old[i].is_there)
			*find_divided(t, &old[i]) = old[i];
}

void
cj_forget_divided(struct cj_symtab *t)
{
	t->divided = NULL;
	t->divided_count = t->divided_slots = 0;
}

static struct cj_int
divided(struct cj_symtab *t, struct cj_int a, struct cj_int b, bool is_mod)
{
	struct cj_divided key = { .a = a, .b = b, .nested = t->nested,
	    .is_mod = is_mod, .is_there = true }, *d;
	bool before = t->overflow;

	if (t->fixed || (cj_is_known(a) && cj_is_known(b)))
		return is_mod ? reduce(t, a, b) : divide(t, a, b);
	if (2 * t->divided_count >= t->divided_slots)
		grow_divided(t);
	d = find_divided(t, &key);
	if (d->is_there)
		return d->result;
	t->overflow = false;
	key.result = is_mod ? reduce(t, a, b) : divide(t, a, b);
	if (!t->overflow) {		/* else it has to be said again */
		if (2 * t->divided_count >= t->divided_slots)
			grow_divided(t);
		*find_divided(t, &key) = key;
		t->divided_count++;
	}
	t->overflow |= before;
	return key.result;
}

struct cj_int
cj_int_div(struct cj_symtab *t, struct cj_int a, struct cj_int b)
{
	return divided(t, a, b, false);
}

struct cj_int
cj_int_mod(struct cj_symtab *t, struct cj_int a, struct cj_int b)
{
	return divided(t, a, b, true);
}

struct cj_int
cj_int_ceil_div(struct cj_symtab *t, struct cj_int a, struct cj_int b)
{
	struct cj_int up;

	if (cj_is_known(a) && cj_is_known(b)) {
		if (b.value == 0)
			return cj_known(0);
		if (a.value == INT64_MIN && b.value == -1)
			t->overflow = true;
		return cj_known(cj_floor_div(a.value, b.value)
		    + (cj_floor_mod(a.value, b.value) != 0));
	}
	if (cj_is_value(b, 0))
		return cj_known(0);
	if (cj_is_known(b) && b.value < 0 && b.value != INT64_MIN)
		return cj_int_ceil_div(t, cj_int_neg(t, a),
		    cj_known(-b.value));
	if (cj_int_range(t, b).lo < 0)
		return cj_int_neg(t, cj_int_div(t, cj_int_neg(t, a), b));
	up = cj_int_add(t, a, cj_int_sub(t, b, cj_known(1)));
	return cj_int_div(t, up, b);
}
