/*
 * Sums and products of integers, in the normal form.
 *
 * A sum is worked on as a list of monomials num/den * base, ascending by
 * base, each base once (sym_priv.h). Known operands never come here: the
 * first lines of each operation answer them.
 */
#include "sym_priv.h"

enum { MAX_FACTORS = 64, MAX_RECOMBINED = 16, MAX_NESTED = 4 };

/* den of `term` where it is base/den, den known and exact; else 1. */
static int64_t
exact_den(const struct cj_symtab *t, uint32_t term)
{
	const struct cj_term *m = &t->terms.at[term];

	if (m->kind != CJ_TERM_DIV || !cj_is_known(m->b) || cj_is_known(m->a)
	    || m->b.value <= 0
	    || t->terms.at[m->a.term].kind == CJ_TERM_SUM
	    || t->terms.at[m->a.term].divisor % m->b.value != 0)
		return 1;
	return m->b.value;
}

static struct cj_mono
mono_of(const struct cj_symtab *t, uint32_t term, int64_t factor)
{
	struct cj_mono m = { factor, exact_den(t, term), term };

	if (m.den != 1) {
		int64_t g = cj_gcd(m.num, m.den);

		m.base = t->terms.at[term].a.term;
		m.num /= g;
		m.den /= g;
	}
	return m;
}

void
cj_poly_add_mono(struct cj_symtab *t, struct cj_poly *p, struct cj_mono m)
{
	uint32_t i = p->count, j;
	int64_t g;

	assert(m.den > 0);
	assert(p->count <= CJ_MAX_ADDENDS);
	if (m.num == 0)
		return;
	while (i > 0 && p->at[i - 1].base > m.base)
		i--;
	if (i == 0 || p->at[i - 1].base != m.base) {
		if (p->count == CJ_MAX_ADDENDS) {
			t->overflow = true;
			return;
		}
		for (j = p->count; j > i; j--)
			p->at[j] = p->at[j - 1];
		p->at[i] = m;
		p->count++;
		return;
	}
	i--;
	g = cj_gcd(p->at[i].den, m.den);
	m.num = cj_mul64(t, m.num, p->at[i].den / g);
	p->at[i].num = cj_add64(t, m.num, cj_mul64(t, p->at[i].num,
	    m.den / g));
	p->at[i].den = cj_mul64(t, p->at[i].den, m.den / g);
	if (p->at[i].num == 0 || p->at[i].den == 0) {
		p->count--;
		for (j = i; j < p->count; j++)
			p->at[j] = p->at[j + 1];
		return;
	}
	g = cj_gcd(p->at[i].num, p->at[i].den);
	p->at[i].num /= g;
	p->at[i].den /= g;
}

void
cj_poly_add(struct cj_symtab *t, struct cj_poly *p, struct cj_int a,
    int64_t scale)
{
	const struct cj_term *m;
	uint32_t i;

	if (scale == 0)
		return;
	if (cj_is_known(a)) {
		p->constant = cj_add64(t, p->constant,
		    cj_mul64(t, a.value, scale));
		return;
	}
	assert(a.term < t->terms.len);
	m = &t->terms.at[a.term];
	if (m->kind != CJ_TERM_SUM) {
		cj_poly_add_mono(t, p, mono_of(t, a.term, scale));
		return;
	}
	p->constant = cj_add64(t, p->constant,
	    cj_mul64(t, m->constant, scale));
	for (i = 0; i < m->count; i++)
		cj_poly_add_mono(t, p, mono_of(t, m->addend[i].term,
		    cj_mul64(t, m->addend[i].factor, scale)));
}

void
cj_poly_set(const struct cj_symtab *t, struct cj_poly *p, struct cj_int a)
{
	const struct cj_term *m;
	uint32_t i, j;

	p->count = 0;
	p->constant = a.value;
	if (cj_is_known(a))
		return;
	m = &t->terms.at[a.term];
	assert(m->count <= CJ_MAX_ADDENDS);
	if (m->kind != CJ_TERM_SUM) {
		p->at[p->count++] = mono_of(t, a.term, 1);
		return;
	}
	p->constant = m->constant;
	for (i = 0; i < m->count; i++) {
		struct cj_mono o = mono_of(t, m->addend[i].term,
		    m->addend[i].factor);

		for (j = p->count; j > 0 && p->at[j - 1].base > o.base; j--)
			p->at[j] = p->at[j - 1];
		p->at[j] = o;
		p->count++;
	}
}

struct cj_int
cj_mono_int(struct cj_symtab *t, struct cj_mono m)
{
	struct cj_int base = { 0, m.base };
	struct cj_addend one;

	assert(m.num != 0 && m.den > 0);
	assert(t->terms.at[m.base].kind != CJ_TERM_SUM);

	if (m.den != 1)
		base = cj_term_binary(t, CJ_TERM_DIV, base, cj_known(m.den));
	if (cj_is_known(base))
		return cj_known(cj_mul64(t, base.value, m.num));
	one = (struct cj_addend){ m.num, base.term };
	return cj_term_sum(t, 0, &one, 1);
}

/*
 * b * DIV(a, b) + MOD(a, b) is a: find the MOD of `*p` that has its DIV with
 * the matching factor, and put a in their place. Coordinates that are put
 * together again give the index they came from.
 */
static bool
recombine(struct cj_symtab *t, struct cj_poly *p)
{
	uint32_t i, j;

	for (i = 0; i < p->count; i++) {
		struct cj_mono mod = p->at[i];
		struct cj_int a, b, d;

		if (t->terms.at[mod.base].kind != CJ_TERM_MOD || mod.den != 1)
			continue;
		a = t->terms.at[mod.base].a;
		b = t->terms.at[mod.base].b;
		d = cj_int_mul(t, cj_int_div(t, a, b), b);
		for (j = 0; j < p->count && !cj_is_known(d); j++) {
			struct cj_poly q;

			cj_poly_set(t, &q, d);
			if (q.count != 1 || q.constant != 0 || q.at[0].den != 1
			    || p->at[j].base != q.at[0].base
			    || p->at[j].den != 1
			    || p->at[j].num != cj_sat_mul(q.at[0].num, mod.num))
				continue;
			cj_poly_add(t, p, d, -mod.num);
			cj_poly_add_mono(t, p, (struct cj_mono){ -mod.num, 1,
			    mod.base });
			cj_poly_add(t, p, a, mod.num);
			return true;
		}
	}
	return false;
}

static bool
may_recombine(const struct cj_symtab *t, const struct cj_poly *p)
{
	uint32_t i, mods = 0;

	for (i = 0; i < p->count; i++)
		mods += t->terms.at[p->at[i].base].kind == CJ_TERM_MOD;
	return mods != 0 && p->count > 1 && p->count <= MAX_RECOMBINED;
}

struct cj_int
cj_poly_int(struct cj_symtab *t, struct cj_poly *p)
{
	struct cj_addend at[CJ_MAX_ADDENDS + 1];
	uint32_t i, j, count = 0;
	int64_t constant = p->constant;
	unsigned turns = 0;

	t->nested++;
	while (t->nested <= MAX_NESTED && turns++ < MAX_RECOMBINED
	    && may_recombine(t, p) && recombine(t, p))
		constant = p->constant;
	t->nested--;
	for (i = 0; i < p->count; i++) {
		struct cj_int base = { 0, p->at[i].base };
		struct cj_addend a;

		if (p->at[i].den != 1)
			base = cj_term_binary(t, CJ_TERM_DIV, base,
			    cj_known(p->at[i].den));
		if (cj_is_known(base)) {
			constant = cj_add64(t, constant, cj_mul64(t,
			    base.value, p->at[i].num));
			continue;
		}
		a = (struct cj_addend){ p->at[i].num, base.term };
		for (j = count; j > 0 && at[j - 1].term > a.term; j--)
			at[j] = at[j - 1];
		at[j] = a;
		count++;
	}
	return cj_term_sum(t, constant, at, count);
}

struct cj_int
cj_int_add(struct cj_symtab *t, struct cj_int a, struct cj_int b)
{
	struct cj_poly p;

	if (cj_is_known(a) && cj_is_known(b))
		return cj_known(cj_add64(t, a.value, b.value));
	if (t->fixed)
		return cj_fixed(t, CJ_FIXED_ADD, a, b);
	if (cj_is_value(a, 0))
		return b;
	if (cj_is_value(b, 0))
		return a;
	cj_poly_set(t, &p, a);
	cj_poly_add(t, &p, b, 1);
	return cj_poly_int(t, &p);
}

struct cj_int
cj_int_sub(struct cj_symtab *t, struct cj_int a, struct cj_int b)
{
	struct cj_poly p;

	if (cj_is_known(a) && cj_is_known(b)) {
		int64_t r;

		if (!__builtin_sub_overflow(a.value, b.value, &r))
			return cj_known(r);
		t->overflow = true;
		return cj_known(0);
	}
	if (t->fixed)
		return cj_fixed(t, CJ_FIXED_SUB, a, b);
	if (cj_is_value(b, 0))
		return a;
	if (cj_int_same(a, b))
		return cj_known(0);
	cj_poly_set(t, &p, a);
	cj_poly_add(t, &p, b, -1);
	return cj_poly_int(t, &p);
}

struct cj_int
cj_int_neg(struct cj_symtab *t, struct cj_int a)
{
	return cj_int_sub(t, cj_known(0), a);
}

/* The product of two monomials; of bases, the merged operand lists. */
static struct cj_mono
mono_mul(struct cj_symtab *t, struct cj_mono x, struct cj_mono y)
{
	uint32_t all[2 * MAX_FACTORS], n = 0, i = 0, j = 0, nx, ny;
	const uint32_t *ox, *oy;
	struct cj_mono m = { 0, 1, x.base };
	int64_t g;

	assert(x.den > 0 && y.den > 0);
	nx = cj_term_operands(t, &x.base, &ox);
	ny = cj_term_operands(t, &y.base, &oy);
	if (nx + ny > MAX_FACTORS) {
		t->overflow = true;
		return m;
	}
	while (i < nx || j < ny) {
		if (j == ny || (i < nx && ox[i] <= oy[j]))
			all[n++] = ox[i++];
		else
			all[n++] = oy[j++];
	}
	m.base = cj_term_product(t, all, n);
	g = cj_gcd(x.num, y.den);
	x.num /= g;
	y.den /= g;
	g = cj_gcd(y.num, x.den);
	y.num /= g;
	x.den /= g;
	m.num = cj_mul64(t, x.num, y.num);
	m.den = cj_mul64(t, x.den, y.den);
	if (m.den == 0)
		m.den = 1;
	return m;
}

static struct cj_int
mul_known(struct cj_symtab *t, struct cj_int a, int64_t by)
{
	struct cj_poly p;

	if (by == 0)
		return cj_known(0);
	if (by == 1)
		return a;
	p.count = 0;
	p.constant = 0;
	cj_poly_add(t, &p, a, by);
	return cj_poly_int(t, &p);
}

struct cj_int
cj_int_mul(struct cj_symtab *t, struct cj_int a, struct cj_int b)
{
	struct cj_poly p, q, r;
	uint32_t i, j;

	if (cj_is_known(a) && cj_is_known(b))
		return cj_known(cj_mul64(t, a.value, b.value));
	if (t->fixed)
		return cj_fixed(t, CJ_FIXED_MUL, a, b);
	if (cj_is_known(a))
		return mul_known(t, b, a.value);
	if (cj_is_known(b))
		return mul_known(t, a, b.value);
	cj_poly_set(t, &p, a);
	cj_poly_set(t, &q, b);
	if (p.count * q.count > CJ_MAX_ADDENDS) {
		t->overflow = true;
		return cj_known(0);
	}
	r.count = 0;
	r.constant = cj_mul64(t, p.constant, q.constant);
	for (i = 0; i < p.count; i++) {
		struct cj_mono m = p.at[i];
		int64_t g = cj_gcd(q.constant, m.den);

		if (q.constant != 0) {
			m.num = cj_mul64(t, m.num, q.constant / g);
			m.den /= g;
			cj_poly_add_mono(t, &r, m);
		}
		for (j = 0; j < q.count; j++)
			cj_poly_add_mono(t, &r, mono_mul(t, p.at[i],
			    q.at[j]));
	}
	for (j = 0; j < q.count && p.constant != 0; j++) {
		struct cj_mono m = q.at[j];
		int64_t g = cj_gcd(p.constant, m.den);

		m.num = cj_mul64(t, m.num, p.constant / g);
		m.den /= g;
		cj_poly_add_mono(t, &r, m);
	}
	return cj_poly_int(t, &r);
}

struct cj_int
cj_int_abs(struct cj_symtab *t, struct cj_int a)
{
	struct cj_range r;

	if (cj_is_known(a) && a.value != INT64_MIN)
		return cj_known(a.value < 0 ? -a.value : a.value);
	r = cj_int_range(t, a);
	if (r.lo >= 0)
		return a;
	if (r.hi <= 0)
		return cj_int_neg(t, a);
	return cj_int_max(t, a, cj_int_neg(t, a));
}

/* ---- comparison -------------------------------------------------------- */

/* a - b where it can be formed; else false, and no flag is raised. */
static bool
difference(struct cj_symtab *t, struct cj_int a, struct cj_int b,
    struct cj_poly *p)
{
	bool before = t->overflow, formed;

	t->overflow = false;
	cj_poly_set(t, p, a);
	cj_poly_add(t, p, b, -1);
	formed = !t->overflow;
	t->overflow = before;
	return formed;
}

enum cj_truth
cj_int_equal(struct cj_symtab *t, struct cj_int a, struct cj_int b)
{
	struct cj_poly p;
	struct cj_range r;
	int64_t g = 0;
	uint32_t i;

	if (cj_int_same(a, b))
		return CJ_YES;
	if (cj_is_known(a) && cj_is_known(b))
		return CJ_NO;
	if (!difference(t, a, b, &p))
		return CJ_MAYBE;
	if (p.count == 0)
		return p.constant == 0 ? CJ_YES : CJ_NO;
	r = cj_poly_range(t, &p);
	if (r.lo > 0 || r.hi < 0)
		return CJ_NO;
	if (r.lo == 0 && r.hi == 0)
		return CJ_YES;
	for (i = 0; i < p.count; i++) {
		int64_t d = t->terms.at[p.at[i].base].divisor / p.at[i].den;
		int64_t all;

		if (__builtin_mul_overflow(d, cj_gcd(p.at[i].num, 0), &all))
			all = d;
		g = cj_gcd(g, all);
	}
	return g != 0 && p.constant % g != 0 ? CJ_NO : CJ_MAYBE;
}

/*
 * A known range of a sum, tighter than addend by addend: k*b*DIV(a, b) lies in
 * k*(a - b + 1) .. k*a, which may cancel against the other addends.
 */
static struct cj_range
tight_range(struct cj_symtab *t, const struct cj_poly *p, unsigned turns)
{
	struct cj_range r = cj_poly_range(t, p);
	bool before = t->overflow;
	uint32_t i;

	for (i = 0; i < p->count && turns > 0; i++) {
		const struct cj_term *m = &t->terms.at[p->at[i].base];
		struct cj_mono o = p->at[i];
		struct cj_poly q;
		struct cj_range s;
		int64_t b = m->b.value, slack;
		struct cj_int a = m->a;

		if (m->kind != CJ_TERM_DIV || !cj_is_known(m->b) || b <= 1
		    || o.den != 1 || o.num % b != 0)
			continue;
		q = *p;
		t->overflow = false;
		cj_poly_add_mono(t, &q, (struct cj_mono){ -o.num, 1, o.base });
		cj_poly_add(t, &q, a, o.num / b);
		slack = cj_sat_mul(o.num / b, b - 1);
		if (t->overflow || q.count > p->count + 1)
			continue;
		s = tight_range(t, &q, turns - 1);
		if (s.lo != INT64_MIN && slack > 0)
			s.lo = cj_sat_add(s.lo, -slack);
		if (s.hi != INT64_MAX && slack < 0)
			s.hi = cj_sat_add(s.hi, -slack);
		r.lo = s.lo > r.lo ? s.lo : r.lo;
		r.hi = s.hi < r.hi ? s.hi : r.hi;
	}
	t->overflow = before;
	return r;
}

static enum cj_truth
compare(struct cj_symtab *t, struct cj_int a, struct cj_int b, int64_t least)
{
	struct cj_poly p;
	struct cj_range r;

	if (cj_is_known(a) && cj_is_known(b))
		return least == 1 ? (a.value < b.value ? CJ_YES : CJ_NO)
		    : (a.value <= b.value ? CJ_YES : CJ_NO);
	if (!difference(t, b, a, &p))
		return CJ_MAYBE;
	r = tight_range(t, &p, 3);
	return r.lo >= least ? CJ_YES : r.hi < least ? CJ_NO : CJ_MAYBE;
}

enum cj_truth
cj_int_less(struct cj_symtab *t, struct cj_int a, struct cj_int b)
{
	return compare(t, a, b, 1);
}

enum cj_truth
cj_int_less_equal(struct cj_symtab *t, struct cj_int a, struct cj_int b)
{
	return compare(t, a, b, 0);
}
