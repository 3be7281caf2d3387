/*
 * Do two views touch one byte, does a view touch one twice? By their strides,
 * not by the bytes between the first and the last: even and odd columns, or
 * two halves of each row, share nothing.
 *
 * Both are one question: can a sum of x[k] * step[k], each x[k] in its own
 * interval, come to lie in an interval? Equal steps are one, and so are steps
 * that continue one another. What is left is searched from the largest step
 * down; what the smaller ones can reach, and their common divisor, leave few
 * choices at each. A search that takes too long answers yes.
 */
#include <stdlib.h>

#include "runtime.h"

__extension__ typedef __int128 wide;

enum { STEPS_MAX = 64, TRIES_MAX = 100000 };

struct step {
	wide size;			/* > 0, bytes or elements */
	wide lo, hi;			/* how often */
};

struct sums {
	struct step at[STEPS_MAX];
	unsigned count;
	unsigned tries;
	bool too_many;
};

/* ---- making the question small ------------------------------------------- */

static void
add(struct sums *s, wide size, wide lo, wide hi)
{
	unsigned i;

	assert(lo <= hi);
	if (size < 0) {
		wide swap = lo;

		size = -size;
		lo = -hi;
		hi = -swap;
	}
	if (size == 0 || (lo == 0 && hi == 0))
		return;
	for (i = 0; i < s->count; i++)
		if (s->at[i].size == size) {
			s->at[i].lo += lo;
			s->at[i].hi += hi;
			return;
		}
	if (s->count == STEPS_MAX) {
		s->too_many = true;
		return;
	}
	s->at[s->count++] = (struct step){ size, lo, hi };
}

static int
larger_first(const void *a, const void *b)
{
	wide x = ((const struct step *)a)->size;
	wide y = ((const struct step *)b)->size;

	return x < y ? 1 : x > y ? -1 : 0;
}

/* A step that is n of the next one, of which there are n: one longer mode. */
static void
join(struct sums *s)
{
	unsigned i = 0;

	qsort(s->at, s->count, sizeof s->at[0], larger_first);
	while (s->count > 1 && i + 1 < s->count) {
		struct step *a = &s->at[i], *b = &s->at[i + 1];
		wide n = a->size / b->size;

		if (a->size % b->size != 0 || b->hi - b->lo + 1 < n) {
			i++;
			continue;
		}
		b->lo += a->lo * n;
		b->hi += a->hi * n;
		memmove(a, b, (s->count - i - 1) * sizeof *a);
		s->count--;
		i = i > 0 ? i - 1 : 0;
	}
}

/* ---- the search ---------------------------------------------------------- */

static wide
floor_div(wide a, wide b)
{
	wide q = a / b;

	return a % b < 0 ? q - 1 : q;
}

static wide
common(const struct sums *s, unsigned from)
{
	wide g = 0, b;
	unsigned i;

	for (i = from; i < s->count; i++)
		for (b = s->at[i].size; b != 0;) {
			wide r = g % b;

			g = b;
			b = r;
		}
	return g;
}

static bool search(struct sums *s, unsigned from, wide lo, wide hi);

/* Each choice for one step from which the rest can come to lo .. hi. */
static bool
choose(struct sums *s, unsigned at, wide lo, wide hi)
{
	const struct step *k = &s->at[at];
	wide rest_lo = 0, rest_hi = 0, first, last;
	unsigned i;

	for (i = at + 1; i < s->count; i++) {
		rest_lo += s->at[i].size * s->at[i].lo;
		rest_hi += s->at[i].size * s->at[i].hi;
	}
	first = -floor_div(rest_hi - lo, k->size);
	last = floor_div(hi - rest_lo, k->size);
	first = first < k->lo ? k->lo : first;
	last = last > k->hi ? k->hi : last;
	for (; first <= last; first++)
		if (search(s, at + 1, lo - first * k->size,
		    hi - first * k->size))
			return true;
	return false;
}

static bool
search(struct sums *s, unsigned from, wide lo, wide hi)
{
	wide g;

	if (from == s->count)
		return lo <= 0 && hi >= 0;
	if (++s->tries > TRIES_MAX)
		return true;
	g = common(s, from);
	if (floor_div(hi, g) * g < lo)
		return false;
	return choose(s, from, lo, hi);
}

static bool
comes_to(struct sums *s, wide lo, wide hi)
{
	if (s->too_many)
		return true;
	join(s);
	return search(s, 0, lo, hi);
}

/* ---- views --------------------------------------------------------------- */

static bool
is_empty(const struct cj_view *v)
{
	uint32_t i;

	for (i = 0; i < v->rank; i++)
		if (v->extents[i] == 0)
			return true;
	return false;
}

static int64_t
bytes_of(const struct cj_view *v)
{
	unsigned bits = cj_kind_bits(v->kind);

	return bits < 8 ? 0 : bits / 8;
}

bool
cj_views_meet(const struct cj_view *a, const struct cj_view *b)
{
	int64_t wa = bytes_of(a), wb = bytes_of(b);
	struct sums s = { .count = 0 };
	wide apart = (wide)(uintptr_t)b->data - (wide)(uintptr_t)a->data;
	uint32_t i;

	if (is_empty(a) || is_empty(b))
		return false;
	if (cj_kind_bits(a->kind) == 1)
		wa = 1;		/* a bool has a byte */
	if (cj_kind_bits(b->kind) == 1)
		wb = 1;
	if (wa == 0 || wb == 0)
		return true;	/* several elements of a byte */
	for (i = 0; i < a->rank; i++)
		add(&s, (wide)a->strides[i] * wa, 0, a->extents[i] - 1);
	for (i = 0; i < b->rank; i++)
		add(&s, -(wide)b->strides[i] * wb, 0, b->extents[i] - 1);
	return comes_to(&s, apart - (wa - 1), apart + (wb - 1));
}

/*
 * Two coordinates with one offset differ first in some mode, by 1 or more;
 * in the modes behind it they differ by anything.
 */
int
cj_view_meets_itself(const struct cj_view *v)
{
	uint32_t i, k;

	if (is_empty(v))
		return -1;
	for (i = 0; i < v->rank; i++) {
		struct sums s = { .count = 0 };

		if (v->extents[i] < 2)
			continue;
		if (v->strides[i] == 0)
			return (int)i;
		add(&s, v->strides[i], 1, v->extents[i] - 1);
		for (k = i + 1; k < v->rank; k++)
			add(&s, v->strides[k], 1 - v->extents[k],
			    v->extents[k] - 1);
		if (comes_to(&s, 0, 0))
			return (int)i;
	}
	return -1;
}
