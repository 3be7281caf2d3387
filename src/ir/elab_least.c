/*
 * Least values in device code. It runs where the grid is not empty alone: each
 * extent of it is at least 1 there, and so are the factors of a product that
 * is, both sides of a smaller one, and so on. The host may have 0 for the same
 * term.
 *
 * What the grid says of a term is noted in front of the launch's body; what
 * follows for a term that is made of such ones, where somebody asks.
 */
#include "elab_pass.h"

/* Terms that are gone through for a grid, and numbers that stay exact. */
enum { MOST_STEPS = 1000, MOST = INT32_MAX };

struct learner {
	struct cj_elab *el;
	unsigned steps;
};

static struct cj_least *
least_of(struct cj_elab *el, uint32_t term)
{
	static const struct cj_least none = { .value = INT64_MIN };

	assert(el->em->level == 2 && term < el->sym.terms.len);
	while (el->em->least.len <= term)
		*cj_push(el->arena, &el->em->least) = none;
	return &el->em->least.at[term];
}

static bool
is_small(int64_t x)
{
	return x >= -MOST && x <= MOST;
}

static bool
is_not_negative(const struct cj_elab *el, struct cj_int i)
{
	return cj_int_range(&el->sym, i).lo >= 0;
}

/* ---- what follows for the parts of a term -------------------------------- */

static void learn(struct learner *l, struct cj_int i, int64_t least);

/* constant + factor * a >= least */
static void
learn_sum(struct learner *l, const struct cj_term *t, int64_t least)
{
	struct cj_int a = { 0, t->addend[0].term };
	int64_t factor = t->addend[0].factor;

	if (t->count == 1 && factor > 0 && is_small(factor) &&
	    is_small(t->constant))
		learn(l, a, (least - t->constant + factor - 1) / factor);
}

/* A product of numbers that are not negative is at least 1. */
static void
learn_product(struct learner *l, const struct cj_term *t)
{
	struct cj_int part;
	uint32_t n;

	for (n = 0; cj_term_part(t, n, &part); n++)
		if (!is_not_negative(l->el, part))
			return;
	for (n = 0; cj_term_part(t, n, &part); n++)
		learn(l, part, 1);
}

/* a / b >= least; that by 0 is 0. */
static void
learn_quotient(struct learner *l, struct cj_int a, struct cj_int b,
    int64_t least)
{
	if (cj_is_known(b)) {
		if (b.value > 0 && is_small(b.value))
			learn(l, a, least * b.value);
	} else if (is_not_negative(l->el, a) && is_not_negative(l->el, b)) {
		learn(l, a, 1);
		learn(l, b, 1);
	}
}

static void
learn(struct learner *l, struct cj_int i, int64_t least)
{
	struct cj_term t;
	struct cj_least *now;

	if (cj_is_known(i) || least < 1 || least > MOST || l->steps == 0)
		return;
	l->steps--;
	t = *cj_term_get(&l->el->sym, i);
	if (t.divisor > 1 && is_small(t.divisor))	/* the next multiple */
		least = (least + t.divisor - 1) / t.divisor * t.divisor;
	now = least_of(l->el, i.term);
	if (now->value >= least)
		return;
	now->value = least;
	switch ((unsigned)t.kind) {
	case CJ_TERM_SUM: learn_sum(l, &t, least); break;
	case CJ_TERM_PRODUCT: learn_product(l, &t); break;
	case CJ_TERM_DIV: learn_quotient(l, t.a, t.b, least); break;
	case CJ_TERM_MIN:
		learn(l, t.a, least);
		learn(l, t.b, least);
		break;
	}
}

void
cj_elab_learn_grid(struct cj_elab *el)
{
	struct learner l = { el, MOST_STEPS };
	int i;

	for (i = 0; i < 3; i++)
		learn(&l, el->grid_extent[i], 1);
}

/* ---- what follows for a term of its parts -------------------------------- */

static int64_t
least_sum(struct cj_elab *el, const struct cj_term *t)
{
	int64_t sum = t->constant, least;
	uint32_t i;

	for (i = 0; i < t->count; i++) {
		struct cj_int a = { 0, t->addend[i].term };

		least = cj_elab_least(el, a);
		if (!is_small(sum) || !is_small(least) ||
		    t->addend[i].factor < 1 || !is_small(t->addend[i].factor))
			return INT64_MIN;
		sum += t->addend[i].factor * least;
	}
	return sum;
}

static int64_t
least_product(struct cj_elab *el, const struct cj_term *t)
{
	struct cj_int part;
	int64_t product = 1, least;
	uint32_t n;

	for (n = 0; cj_term_part(t, n, &part); n++) {
		least = cj_elab_least(el, part);
		if (least < 0 || !is_small(least) || !is_small(product))
			return INT64_MIN;
		product *= least;
	}
	return product;
}

/* Does the contract say a % b == 0? */
static bool
divides(const struct cj_elab *el, struct cj_int a, struct cj_int b)
{
	const struct cj_term *x = cj_term_get(&el->sym, a);
	const struct cj_term *y = cj_term_get(&el->sym, b);
	uint32_t i;

	if (x->kind != CJ_TERM_SYMBOL || y->kind != CJ_TERM_SYMBOL)
		return false;
	for (i = 0; i < el->divided.len; i++)
		if (el->divided.at[i].symbol == x->symbol &&
		    el->divided.at[i].by == y->symbol)
			return true;
	return false;
}

/* Of a >= 1 and b that divides it: a % 0 would be a. */
static int64_t
least_quotient(struct cj_elab *el, struct cj_int a, struct cj_int b)
{
	int64_t least = cj_elab_least(el, a);

	if (cj_is_known(b))
		return b.value > 0 && least >= 0 ? least / b.value :
		    INT64_MIN;
	return !cj_is_known(a) && least >= 1 && is_not_negative(el, b) &&
	    divides(el, a, b) ? 1 : INT64_MIN;
}

static int64_t
least_of_parts(struct cj_elab *el, const struct cj_term *t)
{
	int64_t a, b;

	switch ((unsigned)t->kind) {
	case CJ_TERM_SUM: return least_sum(el, t);
	case CJ_TERM_PRODUCT: return least_product(el, t);
	case CJ_TERM_DIV: return least_quotient(el, t->a, t->b);
	case CJ_TERM_MIN: case CJ_TERM_MAX:
		a = cj_elab_least(el, t->a);
		b = cj_elab_least(el, t->b);
		return (t->kind == CJ_TERM_MIN) == (a < b) ? a : b;
	}
	return INT64_MIN;
}

int64_t
cj_elab_least(struct cj_elab *el, struct cj_int i)
{
	struct cj_range r = cj_int_range(&el->sym, i);
	struct cj_term t;
	int64_t least;

	if (cj_is_known(i))
		return i.value;
	if (!least_of(el, i.term)->is_whole) {
		t = *cj_term_get(&el->sym, i);
		least = least_of_parts(el, &t);
		if (least < r.lo)
			least = r.lo;
		if (least_of(el, i.term)->value < least)
			least_of(el, i.term)->value = least;
		least_of(el, i.term)->is_whole = true;
	}
	least = least_of(el, i.term)->value;
	return least > r.hi ? r.hi : least;	/* there is no such launch */
}
