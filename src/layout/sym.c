/*
 * The table of terms: hash-consing, and what is known of each term.
 *
 * Terms refer only to older ones. Two terms of equal content are one; the
 * normal form is the work of sym_sum.c, sym_div.c and sym_bit.c. Range and
 * divisor are computed when a term is made.
 */
#include "sym_priv.h"

enum { FIRST_SLOTS = 256 };

void
cj_symtab_init(struct cj_symtab *t, struct cj_arena *a,
    struct cj_names *names)
{
	memset(t, 0, sizeof *t);
	t->arena = a;
	t->names = names;
	t->slot_count = FIRST_SLOTS;
	t->slots = CJ_NEWS(a, uint32_t, FIRST_SLOTS);
	memset(cj_push(a, &t->terms), 0, sizeof *t->terms.at);
}

/* ---- arithmetic -------------------------------------------------------- */

int64_t
cj_gcd(int64_t a, int64_t b)
{
	uint64_t x = a < 0 ? 0 - (uint64_t)a : (uint64_t)a;
	uint64_t y = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;

	while (y != 0) {
		uint64_t r = x % y;

		x = y;
		y = r;
	}
	return x > INT64_MAX ? INT64_MAX / 2 + 1 : (int64_t)x;
}

int64_t
cj_add64(struct cj_symtab *t, int64_t a, int64_t b)
{
	int64_t r;

	if (!__builtin_add_overflow(a, b, &r))
		return r;
	t->overflow = true;
	return 0;
}

int64_t
cj_mul64(struct cj_symtab *t, int64_t a, int64_t b)
{
	int64_t r;

	if (!__builtin_mul_overflow(a, b, &r))
		return r;
	t->overflow = true;
	return 0;
}

static bool
is_end(int64_t a)
{
	return a == INT64_MIN || a == INT64_MAX;
}

int64_t
cj_sat_add(int64_t a, int64_t b)
{
	int64_t r;

	if (is_end(a))
		return a;
	if (is_end(b))
		return b;
	if (__builtin_add_overflow(a, b, &r))
		return a < 0 ? INT64_MIN : INT64_MAX;
	return r;
}

int64_t
cj_sat_mul(int64_t a, int64_t b)
{
	int64_t r;

	if (a == 0 || b == 0)
		return 0;
	if (is_end(a) || is_end(b) || __builtin_mul_overflow(a, b, &r))
		return (a < 0) != (b < 0) ? INT64_MIN : INT64_MAX;
	return r;
}

int64_t
cj_floor_div(int64_t a, int64_t b)
{
	assert(b != 0);
	if (b == -1)
		return a == INT64_MIN ? INT64_MAX : -a;
	return a / b - (a % b != 0 && (a % b < 0) != (b < 0));
}

int64_t
cj_floor_mod(int64_t a, int64_t b)
{
	int64_t r;

	assert(b != 0);
	r = b == -1 ? 0 : a % b;
	return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

/* ---- facts ------------------------------------------------------------- */

struct cj_range
cj_int_range(const struct cj_symtab *t, struct cj_int a)
{
	if (cj_is_known(a))
		return (struct cj_range){ a.value, a.value };
	return (struct cj_range){ t->terms.at[a.term].lo,
	    t->terms.at[a.term].hi };
}

int64_t
cj_int_divisor(const struct cj_symtab *t, struct cj_int a)
{
	if (cj_is_known(a))
		return cj_gcd(a.value, 0);
	return t->terms.at[a.term].divisor;
}

bool
cj_int_divisible(const struct cj_symtab *t, struct cj_int a, int64_t by)
{
	return by != 0 && cj_int_divisor(t, a) % by == 0;
}

const struct cj_term *
cj_term_get(const struct cj_symtab *t, struct cj_int a)
{
	assert(a.term < t->terms.len);
	return cj_is_known(a) ? NULL : &t->terms.at[a.term];
}

bool
cj_term_part(const struct cj_term *m, uint32_t n, struct cj_int *part)
{
	if (cj_term_is_binary(m)) {
		*part = n == 0 ? m->a : m->b;
		return n < 2;
	}
	*part = cj_known(0);
	if (n >= m->count)	/* 0 of a symbol */
		return false;
	part->term = m->kind == CJ_TERM_SUM ? m->addend[n].term
	    : m->operand[n];
	return true;
}

static struct cj_range
range_scale(struct cj_range r, int64_t by)
{
	struct cj_range s = { cj_sat_mul(r.lo, by), cj_sat_mul(r.hi, by) };

	if (by < 0)
		s = (struct cj_range){ s.hi, s.lo };
	return s;
}

static struct cj_range
range_mul(struct cj_range a, struct cj_range b)
{
	struct cj_range x = { cj_sat_mul(a.lo, b.lo), cj_sat_mul(a.lo, b.hi) };
	struct cj_range y = { cj_sat_mul(a.hi, b.lo), cj_sat_mul(a.hi, b.hi) };
	struct cj_range r;

	r.lo = x.lo < x.hi ? x.lo : x.hi;
	r.hi = x.lo < x.hi ? x.hi : x.lo;
	r.lo = y.lo < r.lo ? y.lo : r.lo;
	r.lo = y.hi < r.lo ? y.hi : r.lo;
	r.hi = y.lo > r.hi ? y.lo : r.hi;
	r.hi = y.hi > r.hi ? y.hi : r.hi;
	return r;
}

static struct cj_range
range_add(struct cj_range a, struct cj_range b)
{
	/* an end is not a number: -unknown + unknown keeps each side's own */
	struct cj_range r;

	r.lo = a.lo == INT64_MIN || b.lo == INT64_MIN ? INT64_MIN
	    : cj_sat_add(a.lo, b.lo);
	r.hi = a.hi == INT64_MAX || b.hi == INT64_MAX ? INT64_MAX
	    : cj_sat_add(a.hi, b.hi);
	return r;
}

struct cj_range
cj_poly_range(const struct cj_symtab *t, const struct cj_poly *p)
{
	struct cj_range sum = { p->constant, p->constant };
	uint32_t i;

	for (i = 0; i < p->count; i++) {
		const struct cj_term *b = &t->terms.at[p->at[i].base];
		struct cj_range r = { b->lo, b->hi };

		if (p->at[i].den != 1) {
			if (r.lo != INT64_MIN)
				r.lo = cj_floor_div(r.lo, p->at[i].den);
			if (r.hi != INT64_MAX)
				r.hi = cj_floor_div(r.hi, p->at[i].den);
		}
		sum = range_add(sum, range_scale(r, p->at[i].num));
	}
	return sum;
}

static int64_t
div_end(int64_t a, int64_t b)
{
	if (is_end(a))
		return (a < 0) != (b < 0) ? INT64_MIN : INT64_MAX;
	return is_end(b) ? (a < 0) != (b < 0) && a != 0 ? -1 : 0
	    : cj_floor_div(a, b);
}

/* Quotients are monotone in each operand while the other's sign is fixed;
 * a divisor that may be 0 adds the quotient 0. */
static struct cj_range
range_div(struct cj_range a, struct cj_range b)
{
	struct cj_range r = { INT64_MIN, INT64_MAX };
	int64_t ends[4];
	int64_t least = b.lo < 1 ? 1 : b.lo;
	unsigned i;

	if (b.lo < 0)
		return r;
	if (b.hi < 1)
		return (struct cj_range){ 0, 0 };
	ends[0] = div_end(a.lo, least);
	ends[1] = div_end(a.lo, b.hi);
	ends[2] = div_end(a.hi, least);
	ends[3] = div_end(a.hi, b.hi);
	r = (struct cj_range){ ends[0], ends[0] };
	for (i = 1; i < 4; i++) {
		r.lo = ends[i] < r.lo ? ends[i] : r.lo;
		r.hi = ends[i] > r.hi ? ends[i] : r.hi;
	}
	if (b.lo == 0) {
		r.lo = r.lo > 0 ? 0 : r.lo;
		r.hi = r.hi < 0 ? 0 : r.hi;
	}
	return r;
}

static struct cj_range
range_mod(struct cj_range a, struct cj_range b)
{
	struct cj_range r = { 0, INT64_MAX };

	if (b.lo < 0)
		return (struct cj_range){ INT64_MIN, INT64_MAX };
	if (b.hi != INT64_MAX)
		r.hi = b.hi - 1;
	if (b.lo == 0)			/* a % 0 is a */
		return (struct cj_range){ a.lo < 0 ? a.lo : 0,
		    a.hi > r.hi ? a.hi : r.hi };
	if (a.lo >= 0 && a.hi < r.hi)
		r.hi = a.hi;
	return r;
}

/* All values of n bits, where both operands are not negative. */
static struct cj_range
range_bits(enum cj_term_kind kind, struct cj_range a, struct cj_range b)
{
	int64_t top = a.hi > b.hi ? a.hi : b.hi;
	int64_t ones = 0;

	if (kind == CJ_TERM_AND && (a.lo >= 0 || b.lo >= 0)) {
		if (a.lo >= 0 && b.lo >= 0)
			return (struct cj_range){ 0, a.hi < b.hi ? a.hi
			    : b.hi };
		return (struct cj_range){ 0, a.lo >= 0 ? a.hi : b.hi };
	}
	if (a.lo < 0 || b.lo < 0)
		return (struct cj_range){ INT64_MIN, INT64_MAX };
	while (ones < top)
		ones = ones * 2 + 1;
	return (struct cj_range){ 0, ones };
}

static struct cj_range
range_binary(enum cj_term_kind kind, struct cj_range a, struct cj_range b)
{
	struct cj_range all = { INT64_MIN, INT64_MAX };

	switch (kind) {
	case CJ_TERM_DIV:
		return range_div(a, b);
	case CJ_TERM_MOD:
		return range_mod(a, b);
	case CJ_TERM_MIN:
		return (struct cj_range){ a.lo < b.lo ? a.lo : b.lo,
		    a.hi < b.hi ? a.hi : b.hi };
	case CJ_TERM_MAX:
		return (struct cj_range){ a.lo > b.lo ? a.lo : b.lo,
		    a.hi > b.hi ? a.hi : b.hi };
	case CJ_TERM_XOR:
	case CJ_TERM_AND:
	case CJ_TERM_OR:
		return range_bits(kind, a, b);
	case CJ_TERM_SHR:
		return a.lo >= 0 ? (struct cj_range){ 0, a.hi } : all;
	case CJ_TERM_SHL:
	case CJ_TERM_SYMBOL: case CJ_TERM_SUM: case CJ_TERM_PRODUCT:
		break;
	}
	return all;
}

static int64_t
low_bit(int64_t a)
{
	return a == 0 ? 0 : (int64_t)((uint64_t)a & (0 - (uint64_t)a));
}

static int64_t
divisor_binary(enum cj_term_kind kind, int64_t a, struct cj_int bi, int64_t b)
{
	switch (kind) {
	case CJ_TERM_DIV:
		return cj_is_known(bi) && b != 0 && a % b == 0 ? a / b : 1;
	case CJ_TERM_MOD:
	case CJ_TERM_MIN:
	case CJ_TERM_MAX:
		return cj_gcd(a, b);
	case CJ_TERM_XOR:
	case CJ_TERM_OR:
		return cj_gcd(low_bit(a), low_bit(b));
	case CJ_TERM_AND:
		a = low_bit(a);
		b = low_bit(b);
		return a == 0 || b == 0 ? 0 : a > b ? a : b;
	case CJ_TERM_SHL:
		return a;
	case CJ_TERM_SHR:
	case CJ_TERM_SYMBOL: case CJ_TERM_SUM: case CJ_TERM_PRODUCT:
		break;
	}
	return 1;
}

/* ---- terms ------------------------------------------------------------- */

static uint64_t
mix(uint64_t h, uint64_t x)
{
	h = (h ^ x) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 29;
}

static uint64_t
hash_term(const struct cj_term *m)
{
	uint64_t h = mix((uint64_t)m->kind + 1, (uint64_t)m->constant);
	uint32_t i;

	if (cj_term_is_binary(m)) {
		h = mix(mix(h, m->a.term), (uint64_t)m->a.value);
		return mix(mix(h, m->b.term), (uint64_t)m->b.value);
	}
	for (i = 0; i < m->count; i++) {
		if (m->kind == CJ_TERM_SUM)
			h = mix(mix(h, m->addend[i].term),
			    (uint64_t)m->addend[i].factor);
		else
			h = mix(h, m->operand[i]);
	}
	return h;
}

static bool
same_term(const struct cj_term *x, const struct cj_term *y)
{
	uint32_t i;

	if (x->kind != y->kind || x->count != y->count
	    || x->constant != y->constant)
		return false;
	if (x->kind == CJ_TERM_SUM) {
		for (i = 0; i < x->count; i++) {
			if (x->addend[i].term != y->addend[i].term
			    || x->addend[i].factor != y->addend[i].factor)
				return false;
		}
		return true;
	}
	if (x->kind == CJ_TERM_PRODUCT)
		return memcmp(x->operand, y->operand,
		    x->count * sizeof *x->operand) == 0;
	return x->kind != CJ_TERM_SYMBOL && cj_int_same(x->a, y->a)
	    && cj_int_same(x->b, y->b);
}

static void
insert_slot(struct cj_symtab *t, uint32_t term)
{
	uint32_t mask = t->slot_count - 1;
	uint32_t i = (uint32_t)hash_term(&t->terms.at[term]) & mask;

	while (t->slots[i] != 0)
		i = (i + 1) & mask;
	t->slots[i] = term;
}

static uint32_t
find_term(const struct cj_symtab *t, const struct cj_term *m)
{
	uint32_t mask = t->slot_count - 1;
	uint32_t i = (uint32_t)hash_term(m) & mask;

	assert((t->slot_count & mask) == 0);
	for (; t->slots[i] != 0; i = (i + 1) & mask) {
		if (same_term(&t->terms.at[t->slots[i]], m))
			break;
	}
	return t->slots[i];
}

static uint32_t
add_term(struct cj_symtab *t, const struct cj_term *m)
{
	uint32_t i, term = t->terms.len;

	assert(m->lo <= m->hi);
	assert(m->divisor >= 0);
	if (m->depth > CJ_MAX_TERM_DEPTH)
		t->overflow = true;
	if (term * 2 >= t->slot_count) {
		t->slot_count *= 2;
		t->slots = CJ_NEWS(t->arena, uint32_t, t->slot_count);
		for (i = 1; i < term; i++) {
			if (t->terms.at[i].kind != CJ_TERM_SYMBOL)
				insert_slot(t, i);
		}
	}
	*cj_push(t->arena, &t->terms) = *m;
	if (m->kind != CJ_TERM_SYMBOL)
		insert_slot(t, term);
	return term;
}

/* A term beyond the depth limit is refused: the flag is set, 0 stands in. */
static struct cj_int
made(struct cj_symtab *t, const struct cj_term *m)
{
	if (m->lo == m->hi && !is_end(m->lo))
		return cj_known(m->lo);
	if (m->divisor == 0)
		return cj_known(0);
	if (m->depth > CJ_MAX_TERM_DEPTH) {
		t->overflow = true;
		return cj_known(0);
	}
	return (struct cj_int){ 0, add_term(t, m) };
}

static uint32_t
depth_of(const struct cj_symtab *t, struct cj_int a)
{
	return cj_is_known(a) ? 0 : t->terms.at[a.term].depth;
}

struct cj_int
cj_symbol(struct cj_symtab *t, cj_name name, uint32_t symbol, int64_t lo,
    int64_t hi, int64_t divisor)
{
	struct cj_term m = { .kind = CJ_TERM_SYMBOL };

	assert(lo <= hi);
	m.lo = lo;
	m.hi = hi;
	m.divisor = divisor < 1 ? 1 : divisor;
	m.name = name;
	m.symbol = symbol;
	return (struct cj_int){ 0, add_term(t, &m) };
}

void
cj_symbol_assume(struct cj_symtab *t, struct cj_int symbol, int64_t lo,
    int64_t hi, int64_t divisor)
{
	struct cj_term *m = &t->terms.at[symbol.term];

	assert(!cj_is_known(symbol) && m->kind == CJ_TERM_SYMBOL);
	cj_forget_divided(t);
	if (lo > m->lo && lo <= m->hi)
		m->lo = lo;
	if (hi < m->hi && hi >= m->lo)
		m->hi = hi;
	if (divisor > 1) {
		int64_t more = divisor / cj_gcd(divisor, m->divisor), all;

		if (!__builtin_mul_overflow(m->divisor, more, &all))
			m->divisor = all;
	}
}

struct cj_int
cj_term_binary(struct cj_symtab *t, enum cj_term_kind kind, struct cj_int a,
    struct cj_int b)
{
	struct cj_term m = { .kind = kind, .a = a, .b = b };
	struct cj_range r;

	uint32_t found = find_term(t, &m);

	if (found != 0)
		return (struct cj_int){ 0, found };
	r = range_binary(kind, cj_int_range(t, a), cj_int_range(t, b));
	m.lo = r.lo;
	m.hi = r.hi;
	m.divisor = divisor_binary(kind, cj_int_divisor(t, a), b,
	    cj_int_divisor(t, b));
	m.depth = depth_of(t, a) > depth_of(t, b) ? depth_of(t, a)
	    : depth_of(t, b);
	m.depth++;
	return made(t, &m);
}

uint32_t
cj_term_product(struct cj_symtab *t, const uint32_t *operand, uint32_t count)
{
	struct cj_term m = { .kind = CJ_TERM_PRODUCT };
	struct cj_range r = { 1, 1 };
	uint32_t i, found;

	assert(count >= 1);
	if (count == 1)
		return operand[0];
	m.operand = operand;
	m.count = count;
	found = find_term(t, &m);
	if (found != 0)
		return found;
	m.divisor = 1;
	for (i = 0; i < count; i++) {
		const struct cj_term *o = &t->terms.at[operand[i]];
		struct cj_range s = { o->lo, o->hi };
		int64_t all;

		/* a square is not negative */
		if (i + 1 < count && operand[i + 1] == operand[i]) {
			s = range_mul(s, s);
			s.lo = s.lo < 0 ? 0 : s.lo;
			if (!__builtin_mul_overflow(m.divisor, o->divisor,
			    &all))
				m.divisor = all;
			i++;
		}
		r = range_mul(r, s);
		if (!__builtin_mul_overflow(m.divisor, o->divisor, &all))
			m.divisor = all;
		m.depth = o->depth > m.depth ? o->depth : m.depth;
	}
	m.lo = r.lo;
	m.hi = r.hi;
	m.depth++;
	m.operand = cj_memdup(t->arena, operand, count * sizeof *operand);
	return add_term(t, &m);
}

struct cj_int
cj_term_sum(struct cj_symtab *t, int64_t constant,
    const struct cj_addend *at, uint32_t count)
{
	struct cj_term m = { .kind = CJ_TERM_SUM, .constant = constant };
	struct cj_range r = { constant, constant };
	uint32_t i, found;

	if (count == 0)
		return cj_known(constant);
	if (count == 1 && constant == 0 && at[0].factor == 1)
		return (struct cj_int){ 0, at[0].term };
	assert(count <= CJ_MAX_ADDENDS);
	m.addend = at;
	m.count = count;
	found = find_term(t, &m);
	if (found != 0)
		return (struct cj_int){ 0, found };
	m.divisor = cj_gcd(constant, 0);
	for (i = 0; i < count; i++) {
		const struct cj_term *o = &t->terms.at[at[i].term];
		struct cj_range s = { o->lo, o->hi };
		int64_t d;

		r = range_add(r, range_scale(s, at[i].factor));
		if (__builtin_mul_overflow(cj_gcd(at[i].factor, 0),
		    o->divisor, &d))
			d = o->divisor;
		m.divisor = cj_gcd(m.divisor, d);
		m.depth = o->depth > m.depth ? o->depth : m.depth;
	}
	m.lo = r.lo;
	m.hi = r.hi;
	m.depth++;
	if (m.lo == m.hi && !is_end(m.lo))
		return cj_known(m.lo);
	m.addend = cj_memdup(t->arena, at, count * sizeof *at);
	return made(t, &m);
}

uint32_t
cj_term_operands(const struct cj_symtab *t, const uint32_t *term,
    const uint32_t **operands)
{
	const struct cj_term *m = &t->terms.at[*term];

	if (m->kind != CJ_TERM_PRODUCT) {
		*operands = term;
		return 1;
	}
	*operands = m->operand;
	return m->count;
}
