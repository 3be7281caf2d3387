/*
 * The laws of the algebra, point by point, over random nested layouts.
 *
 * A law looks only at values: layouts are evaluated here, by division and
 * remainder over their modes, without the code under test. Where an operation
 * refuses, nothing is checked; how often each answered is printed. Extents and
 * strides are known, or symbols with a random value, range and divisor: then
 * the operation sees the symbols, and its result is taken at their values.
 *
 * CJ_LAWS is the number of cases (10000), CJ_SEED the seed.
 */
#include <time.h>

#include "layouts.h"
#include "random.h"

enum { MAX_MODES = 32, MAX_SIZE = 512, SYMBOLS = 64,
    MAX_PAIRS = 1 << 14 };

static int64_t symbol_value[SYMBOLS];

static unsigned
below(unsigned n)
{
	return (unsigned)((random_word() >> 11) % n);
}

/* ---- evaluation, on its own -------------------------------------------- */

struct flat {
	int64_t s[MAX_MODES], d[MAX_MODES];
	unsigned n;
	int64_t size, offset;
	struct cj_swizzle swizzle;
};

static int64_t
value_of_symbol(void *user, uint32_t symbol)
{
	(void)user;
	return symbol_value[symbol];
}

static int64_t
number(struct cj_int i)
{
	int64_t v;

	if (!cj_int_eval(&sym, i, value_of_symbol, NULL, &v))
		ck_abort_msg("a term overflows");
	return v;
}

static bool
flatten(struct flat *f, const struct cj_tuple *shape,
    const struct cj_tuple *stride)
{
	uint32_t i;

	if (!cj_is_leaf(shape)) {
		for (i = 0; i < shape->rank; i++) {
			if (!flatten(f, shape->at[i], stride->at[i]))
				return false;
		}
		return true;
	}
	if (f->n == MAX_MODES || stride->kind != CJ_TUPLE_INT)
		return false;
	f->s[f->n] = number(shape->value);
	f->d[f->n] = number(stride->value);
	f->size *= f->s[f->n];
	f->n++;
	return true;
}

static bool
flat_of(struct flat *f, const struct cj_layout *l)
{
	f->n = 0;
	f->size = 1;
	f->offset = l->offset != NULL ? number(l->offset->value) : 0;
	f->swizzle = l->swizzle;
	return flatten(f, l->shape, l->stride) && f->size <= MAX_SIZE * 4;
}

/* The last mode takes what lies beyond the domain. */
static int64_t
at(const struct flat *f, int64_t i)
{
	int64_t v = f->offset, bits;
	unsigned k;

	for (k = 0; k + 1 < f->n; k++) {
		v += i % f->s[k] * f->d[k];
		i /= f->s[k];
	}
	if (f->n > 0)
		v += i * f->d[k];
	if (f->swizzle.bits == 0)
		return v;
	bits = ((1 << f->swizzle.bits) - 1) << (f->swizzle.base
	    + (f->swizzle.shift > 0 ? f->swizzle.shift : 0));
	bits &= v;
	return v ^ (f->swizzle.shift > 0 ? bits >> f->swizzle.shift
	    : bits << -f->swizzle.shift);
}

/* ---- random layouts ---------------------------------------------------- */

/* Sometimes a symbol of the value, with what a contract might say of it. */
static struct cj_int
maybe_symbol(int64_t v, bool symbols)
{
	static const int64_t divisors[] = { 1, 2, 4, 8, 3 };
	int64_t d = divisors[below(5)];
	uint32_t k = sym.terms.len;

	if (!symbols || v < 1 || below(3) != 0 || k >= SYMBOLS)
		return cj_known(v);
	if (v % d != 0)
		d = 1;
	symbol_value[k] = v;
	return cj_symbol(&sym, cj_intern_str(&names, "s"), k, below(2)
	    ? d : v, below(4) ? INT64_MAX : v + 7, d);
}

struct making {
	int64_t next;		/* a compact stride so far */
	int64_t size;
	bool symbols;
	unsigned style;
};

static int64_t
pick_stride(struct making *m, int64_t s)
{
	static const int64_t some[] = { 0, 1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32,
	    48, 64, -1, -4 };
	int64_t d = m->next;

	m->next *= s;
	if (m->style == 0 || (m->style == 1 && below(4) != 0))
		return d;
	return some[below(m->style == 2 ? 14 : 16)];
}

static void
random_tree(struct making *m, unsigned depth, const struct cj_tuple **shape,
    const struct cj_tuple **stride)
{
	static const int64_t some[] = { 1, 2, 2, 2, 3, 4, 4, 4, 5, 6, 8, 9 };
	const struct cj_tuple *s[5], *d[5];
	unsigned i, rank = 1 + below(depth == 4 ? 5 : 3);
	int64_t n;

	if (depth == 0 || below(depth == 4 ? 5 : 2) == 0) {
		n = some[below(12)];
		if (m->size * n > MAX_SIZE)
			n = 1;
		m->size *= n;
		*shape = cj_tuple_int(&al, maybe_symbol(n, m->symbols));
		*stride = cj_tuple_int(&al, maybe_symbol(pick_stride(m, n),
		    m->symbols && below(2)));
		return;
	}
	for (i = 0; i < rank; i++)
		random_tree(m, depth - 1, &s[i], &d[i]);
	*shape = cj_tuple_make(&al, s, rank);
	*stride = cj_tuple_make(&al, d, rank);
}

static const struct cj_layout *
random_layout(bool symbols)
{
	struct making m = { 1, 1, symbols, below(4) };
	const struct cj_tuple *shape, *stride;
	const struct cj_layout *l;

	random_tree(&m, 4, &shape, &stride);
	l = cj_layout_make(&al, shape, stride);
	ck_assert_msg(l != NULL, "%s", al.why.text);
	return l;
}

/* One that a composition with a is likely to accept: steps of its extents. */
static const struct cj_layout *
random_right(const struct flat *a)
{
	const struct cj_tuple *s[3], *d[3];
	unsigned i, k, rank = 1 + below(3);
	int64_t step, n;

	for (i = 0; i < rank; i++) {
		for (step = 1, k = below(a->n + 1); k-- > 0;)
			step *= a->s[k];
		if (below(3) == 0)
			step *= 1 + below(3);
		n = a->n == 0 ? 2 : a->s[below(a->n)];
		if (below(3) == 0)
			n = 1 + below(8);
		s[i] = cj_tuple_known(&al, n);
		d[i] = cj_tuple_known(&al, step);
	}
	return cj_layout_make(&al, rank == 1 ? s[0] : cj_tuple_make(&al, s,
	    rank), rank == 1 ? d[0] : cj_tuple_make(&al, d, rank));
}

/* ---- laws -------------------------------------------------------------- */

enum law { COMPOSE, COMPLEMENT, RIGHT_INVERSE, LEFT_INVERSE, COALESCE, FILTER,
    DIVIDE, PRODUCT, SLICE, COORDINATES, INJECTIVE, EQUIVALENT, RECAST, LAWS };

static const char *const law_names[LAWS] = { "composition", "complement",
    "right_inverse", "left_inverse", "coalesce", "filter", "divide", "product",
    "slice", "coordinates", "injective", "equivalent", "recast" };

static uint64_t answered[LAWS], asked[LAWS];

static void
broken(enum law law, const struct cj_layout *a, const struct cj_layout *b,
    const struct cj_layout *r, int64_t i)
{
	ck_abort_msg("%s of %s and %s is %s: wrong at %lld", law_names[law],
	    text_of(a), b == NULL ? "-" : text_of(b), text_of(r),
	    (long long)i);
}

/* Whether the case counts: answered, and small enough to look at. */
static bool
is_answered(enum law law, const struct cj_layout *r, struct flat *f)
{
	asked[law]++;
	if (r == NULL) {
		ck_assert(al.why.kind != CJ_REFUSED_NOT);
		return false;
	}
	answered[law]++;
	return flat_of(f, r);
}

static void
law_compose(const struct cj_layout *a, const struct flat *fa)
{
	const struct cj_layout *b = below(3) == 0 ? random_layout(false)
	    : random_right(fa), *r;
	struct flat fb, fr;
	int64_t i;

	r = cj_layout_compose(&al, a, b);
	if (!is_answered(COMPOSE, r, &fr) || !flat_of(&fb, b))
		return;
	if (cj_tuple_compatible(&al, b->shape, r->shape) == CJ_NO
	    || fr.size != fb.size)
		broken(COMPOSE, a, b, r, -1);
	for (i = 0; i < fb.size; i++) {
		/* below 0, and behind an extent of 1 at the end, is not in A's
		 * domain */
		if (at(&fb, i) < 0 || (at(&fb, i) >= fa->size
		    && fa->s[fa->n - 1] == 1))
			continue;
		if (at(&fr, i) != at(fa, at(&fb, i)))
			broken(COMPOSE, a, b, r, i);
	}
}

static uint8_t seen[1 << 20];
static int64_t first[MAX_PAIRS], second[MAX_PAIRS];

/* Every value of f(i) + g(j) once; `filled`: and none left out below n. */
static bool
are_distinct(const struct flat *f, const struct flat *g, int64_t n,
    bool filled)
{
	int64_t i, j, v, most = 0;

	if (f->size * g->size > MAX_PAIRS)
		return true;
	for (i = 0; i < f->size; i++)
		first[i] = at(f, i);
	for (j = 0; j < g->size; j++)
		second[j] = at(g, j);
	for (i = 0; i < f->size; i++) {
		for (j = 0; j < g->size; j++) {
			v = first[i] + second[j];
			if (v < 0 || v >= (int64_t)sizeof seen)
				return true;	/* too far to look at */
			most = v > most ? v : most;
		}
	}
	memset(seen, 0, (size_t)most + 1);
	for (i = 0; i < f->size; i++) {
		for (j = 0; j < g->size; j++) {
			if (seen[first[i] + second[j]]++ != 0)
				return false;
		}
	}
	for (i = 0; i < n && filled; i++) {
		if (i > most || seen[i] == 0)
			return false;
	}
	return true;
}

/* Whether each stride is a multiple of the end of the one before. */
static bool
has_no_gaps_cut(const struct flat *f)
{
	int64_t end = 1, last = 0;
	unsigned i, k;

	for (k = 0; k < f->n; k++) {
		unsigned best = f->n;

		for (i = 0; i < f->n; i++) {
			if (f->d[i] > last && (best == f->n
			    || f->d[i] < f->d[best]))
				best = i;
		}
		if (best == f->n)
			return true;
		if (f->d[best] % end != 0)
			return false;
		last = f->d[best];
		end = last * f->s[best];
	}
	return true;
}

static void
law_complement(const struct cj_layout *a)
{
	int64_t target = 1 + below(512);
	struct cj_int t = maybe_symbol(target, below(2));
	const struct cj_layout *f = cj_layout_filter(&al, a);
	const struct cj_layout *r = cj_layout_complement(&al, a,
	    cj_tuple_int(&al, t));
	struct flat ff, fr;
	int64_t i;

	if (!is_answered(COMPLEMENT, r, &fr) || f == NULL
	    || !flat_of(&ff, f) || ff.size * fr.size > MAX_PAIRS)
		return;
	for (i = 1; i < fr.size; i++) {
		if (at(&fr, i) <= at(&fr, i - 1))
			broken(COMPLEMENT, a, NULL, r, i);
	}
	if (!are_distinct(&ff, &fr, target, has_no_gaps_cut(&ff)))
		broken(COMPLEMENT, a, NULL, r, target);
}

static void
law_inverses(const struct cj_layout *a, const struct flat *fa)
{
	const struct cj_layout *r = cj_layout_right_inverse(&al, a);
	struct flat fr, fc, none = { .n = 0, .size = 1 };
	int64_t i, v;

	if (is_answered(RIGHT_INVERSE, r, &fr)) {
		for (i = 0; i < fr.size; i++) {
			if (at(fa, at(&fr, i)) != i)
				broken(RIGHT_INVERSE, a, NULL, r, i);
		}
	}
	r = cj_layout_left_inverse(&al, a);
	if (!is_answered(LEFT_INVERSE, r, &fr))
		return;
	/* L(R(L(i))) = L(i), of the coalesced L beyond the domain; and
	 * R(L(i)) = i where L is injective */
	flat_of(&fc, cj_layout_coalesce(&al, a, NULL));
	for (i = 0; i < fa->size; i++) {
		v = at(fa, i);
		if (at(&fc, at(&fr, v)) != v)
			broken(LEFT_INVERSE, a, NULL, r, i);
	}
	if (!are_distinct(fa, &none, 0, false))
		return;
	for (i = 0; i < fa->size; i++) {
		if (at(fa, i) >= 0 && at(fa, i) < (int64_t)sizeof seen
		    && at(&fr, at(fa, i)) != i)
			broken(LEFT_INVERSE, a, NULL, r, i);
	}
}

static void
law_coalesce(const struct cj_layout *a, const struct flat *fa)
{
	const struct cj_layout *r = cj_layout_coalesce(&al, a, NULL);
	struct flat fr;
	int64_t i, j = 0;

	if (is_answered(COALESCE, r, &fr)) {
		if (fr.size != fa->size || r->shape->depth > 1)
			broken(COALESCE, a, NULL, r, -1);
		for (i = 0; i < fr.size; i++) {
			if (at(&fr, i) != at(fa, i))
				broken(COALESCE, a, NULL, r, i);
		}
	}
	/* the filtered layout is what changes the value, in order */
	r = cj_layout_filter(&al, a);
	if (!is_answered(FILTER, r, &fr))
		return;
	for (i = 0; i < fa->size; i++) {
		int64_t rest = i, keep = 0, scale = 1;
		unsigned k;

		for (k = 0; k < fa->n; k++) {
			if (fa->d[k] != 0) {
				keep += rest % fa->s[k] * scale;
				scale *= fa->s[k];
			}
			rest /= fa->s[k];
		}
		j = keep < fr.size ? keep : -1;
		if (j < 0 || at(&fr, j) != at(fa, i))
			broken(FILTER, a, NULL, r, i);
	}
}

static void
law_divide(const struct cj_layout *a, const struct flat *fa)
{
	const struct cj_layout *t = below(2) ? random_right(fa)
	    : cj_layout_make(&al, cj_tuple_known(&al, 1 + below(9)), NULL);
	const struct cj_layout *flat = cj_layout_coalesce(&al, a, NULL), *c,
	    *r;
	struct flat ft, fc, fr, f0, f1;
	int64_t i, j;

	r = cj_layout_divide(&al, CJ_DIVIDE_LOGICAL, a, cj_tuple_layout(&al,
	    t));
	if (!is_answered(DIVIDE, r, &fr))
		return;
	c = cj_layout_complement(&al, t, flat->shape);
	if (c == NULL || !flat_of(&fc, c) || !flat_of(&ft, t)
	    || ft.size * fc.size != fr.size)
		broken(DIVIDE, a, t, r, -1);
	flat_of(&f0, cj_layout_get(&al, r, 0));
	flat_of(&f1, cj_layout_get(&al, r, 1));
	for (i = 0; i < ft.size; i++) {
		for (j = 0; j < fc.size; j++) {
			if (at(&f0, i) + at(&f1, j)
			    != at(fa, at(&ft, i) + at(&fc, j))
			    && at(&ft, i) + at(&fc, j) < fa->size)
				broken(DIVIDE, a, t, r, i + j * ft.size);
		}
	}
}

static void
law_product(const struct cj_layout *a, const struct flat *fa)
{
	const struct cj_layout *t = cj_layout_make(&al, cj_tuple_known(&al,
	    1 + below(9)), NULL), *r;
	struct flat none = { .n = 0, .size = 1 }, f1, fr;
	int64_t i;

	r = cj_layout_product(&al, CJ_PRODUCT_LOGICAL, a, cj_tuple_layout(
	    &al, t));
	if (!is_answered(PRODUCT, r, &fr))
		return;
	flat_of(&f1, cj_layout_get(&al, r, 1));
	for (i = 0; i < fa->size; i++) {
		if (at(&fr, i) != at(fa, i))
			broken(PRODUCT, a, t, r, i);
	}
	if (fr.size < 4096 && are_distinct(fa, &none, 0, false)
	    && !are_distinct(fa, &f1, 0, false))
		broken(PRODUCT, a, t, r, -1);
}

/* A coordinate of the shape with some modes open; *index is of the fixed. */
static const struct cj_tuple *
random_coord(const struct cj_tuple *shape, unsigned depth)
{
	const struct cj_tuple *c[5];
	uint32_t i;

	if (below(3) == 0)
		return cj_tuple_any(&al);
	if (cj_is_leaf(shape) || below(4) == 0 || shape->rank > 5)
		return cj_tuple_int(&al, maybe_symbol(below((unsigned)number(
		    cj_tuple_product(&al, shape))), true));
	for (i = 0; i < shape->rank; i++)
		c[i] = random_coord(shape->at[i], depth - 1);
	return cj_tuple_make(&al, c, shape->rank);
}

/* Put the modes of `with`, in order, in the places of `_`. */
static const struct cj_tuple *
fill_in(const struct cj_tuple *coord, const struct cj_tuple *with,
    uint32_t *next)
{
	const struct cj_tuple *c[5];
	uint32_t i;

	if (coord->kind == CJ_TUPLE_ANY)
		return cj_tuple_get(with, (*next)++);
	if (cj_is_leaf(coord))
		return coord;
	for (i = 0; i < coord->rank; i++)
		c[i] = fill_in(coord->at[i], with, next);
	return cj_tuple_make(&al, c, coord->rank);
}

static void
law_slice(const struct cj_layout *a)
{
	const struct cj_tuple *c = random_coord(a->shape, 4), *offset, *rest_c;
	const struct cj_layout *rest = NULL, *l = a;
	struct cj_int x, y;
	uint32_t next = 0;
	int64_t n, i;

	if (below(4) == 0 && cj_tuple_is_known(a->stride))
		l = cj_layout_composed(&al, (struct cj_swizzle){ 2, 1, 3 },
		    NULL, a);
	asked[SLICE]++;
	if (c->kind == CJ_TUPLE_ANY
	    || !cj_layout_slice(&al, l, c, &rest, &offset))
		return;
	answered[SLICE]++;
	n = number(cj_layout_size(&al, rest));
	i = n == 0 ? 0 : below((unsigned)n);
	rest_c = cj_idx2crd(&al, cj_known(i), rest->shape);
	if (!cj_layout_offset(&al, rest, rest_c, &x) || !cj_layout_offset(&al,
	    l, fill_in(c, rest_c, &next), &y)
	    || number(x) + number(offset->value) != number(y))
		broken(SLICE, l, NULL, rest, i);
}

static void
law_coordinates(const struct cj_layout *a, const struct flat *fa)
{
	int64_t i = below((unsigned)fa->size * 2);
	struct cj_int x = maybe_symbol(i, below(2)), v, w;
	const struct cj_tuple *c = cj_idx2crd(&al, x, a->shape);

	asked[COORDINATES]++;
	answered[COORDINATES]++;
	if (!cj_crd2idx_shape(&al, c, a->shape, &v) || number(v) != i)
		broken(COORDINATES, a, NULL, a, i);
	if (!cj_layout_offset(&al, a, c, &v) || !cj_layout_offset(&al, a,
	    cj_tuple_int(&al, x), &w) || number(v) != at(fa, i)
	    || number(w) != at(fa, i))
		broken(COORDINATES, a, NULL, a, i);
}

static void
law_facts(const struct cj_layout *a, const struct flat *fa)
{
	struct flat none = { .n = 0, .size = 1 }, fb;
	enum cj_truth truth = cj_layout_injective(&al, a);
	const struct cj_layout *b = random_layout(false);
	int64_t i;
	bool far = false, same;

	for (i = 0; i < fa->size; i++)
		far = far || at(fa, i) < 0
		    || at(fa, i) >= (int64_t)sizeof seen;
	asked[INJECTIVE]++;
	answered[INJECTIVE] += truth != CJ_MAYBE;
	if (!far && truth != CJ_MAYBE && fa->size <= MAX_PAIRS
	    && are_distinct(fa, &none, 0, false) != (truth == CJ_YES))
		broken(INJECTIVE, a, NULL, a, truth);
	truth = cj_layout_equivalent(&al, a, b);
	asked[EQUIVALENT]++;
	answered[EQUIVALENT] += truth != CJ_MAYBE;
	if (truth == CJ_MAYBE || !flat_of(&fb, b))
		return;
	same = fa->size == fb.size;
	for (i = 0; i < fa->size && same; i++)
		same = at(fa, i) == at(&fb, i);
	if (same != (truth == CJ_YES))
		broken(EQUIVALENT, a, b, b, truth);
}

/* Upcast by n: element i of n neighbours is value / n. */
static void
law_recast(const struct cj_layout *a, const struct flat *fa)
{
	int64_t n = 2 << below(2), i;
	const struct cj_layout *r = cj_layout_recast(&al, a, 32, 32 / n);
	struct flat fr, none = { .n = 0, .size = 1 };

	/* downcast: n elements for each of a, side by side */
	if (!is_answered(RECAST, r, &fr) || fr.size != fa->size * n)
		return;
	for (i = 0; i < fa->size; i++) {
		if (at(fa, i) < 0)
			return;
	}
	if (are_distinct(fa, &none, 0, false)
	    && !are_distinct(&fr, &none, 0, false))
		broken(RECAST, a, NULL, r, n);
}

static void
one_case(uint64_t number_of_case)
{
	bool symbols = number_of_case % 2 == 1;
	const struct cj_layout *a;
	struct flat fa;

	cj_symtab_init(&sym, &arena, &names);
	a = random_layout(symbols);
	if (!flat_of(&fa, a))
		return;
	law_compose(a, &fa);
	law_complement(a);
	law_inverses(a, &fa);
	law_coalesce(a, &fa);
	law_divide(a, &fa);
	law_product(a, &fa);
	law_slice(a);
	law_coordinates(a, &fa);
	law_facts(a, &fa);
	law_recast(a, &fa);
	ck_assert_msg(!sym.overflow, "overflow left behind");
}

START_TEST(laws_hold)
{
	uint64_t i, cases = 10000;

	seed = (uint64_t)time(NULL) * 2654435761u | 1;
	if (getenv("CJ_SEED") != NULL)
		seed = strtoull(getenv("CJ_SEED"), NULL, 0);
	if (getenv("CJ_LAWS") != NULL)
		cases = strtoull(getenv("CJ_LAWS"), NULL, 0);
	printf("seed %llu, %llu cases\n", (unsigned long long)seed,
	    (unsigned long long)cases);
	fflush(stdout);
	cj_intern_str(&names, "s");	/* stays when a case is released */
	for (i = 0; i < cases; i++) {
		struct cj_mark mark = cj_arena_mark(&arena);

		one_case(i);
		cj_arena_release(&arena, mark);
	}
	for (i = 0; i < LAWS; i++) {
		printf("%-14s %llu of %llu answered\n", law_names[i],
		    (unsigned long long)answered[i],
		    (unsigned long long)asked[i]);
		ck_assert_msg(answered[i] * 50 >= asked[i],
		    "%s hardly ever answered", law_names[i]);
	}
}
END_TEST

static Suite *
laws_suite(void)
{
	Suite *s = suite_create("laws");
	TCase *c = tcase_create("laws");

	tcase_add_checked_fixture(c, set_up, tear_down);
	tcase_set_timeout(c, 3600);
	tcase_add_test(c, laws_hold);
	suite_add_tcase(s, c);
	return s;
}

CJ_CHECK_MAIN(laws_suite)
