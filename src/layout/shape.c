/*
 * Arithmetic of shapes: division, rounding up, comparison, mode by mode.
 */
#include "layout_priv.h"

/* ceil(a / b), per mode where both are tuples; an integer b is divided away
 * from left to right. */
const struct cj_tuple *
cj_tuple_ceil_div(struct cj_algebra *al, const struct cj_tuple *a,
    const struct cj_tuple *b)
{
	struct cj_list list;
	struct cj_int rest;
	uint32_t i;

	if (cj_is_leaf(a))
		return cj_tuple_int(al, cj_int_ceil_div(al->sym, a->value,
		    cj_tuple_product(al, b)));
	if (!cj_is_leaf(b) && b->rank > a->rank)
		return cj_refuse(al, CJ_REFUSED_RANK, NULL,
		    "%s has more modes than %s", cj_tuple_text(al, b),
		    cj_tuple_text(al, a));
	cj_list_init(&list);
	rest = cj_is_leaf(b) ? b->value : cj_known(1);
	for (i = 0; i < a->rank; i++) {
		const struct cj_tuple *x, *by = cj_tuple_int(al, rest);

		if (!cj_is_leaf(b))
			by = i < b->rank ? b->at[i] : cj_tuple_known(al, 1);
		x = cj_tuple_ceil_div(al, a->at[i], by);
		if (x == NULL)
			return NULL;
		cj_list_add(al, &list, x);
		if (cj_is_leaf(b))
			rest = cj_int_ceil_div(al->sym, rest,
			    cj_tuple_product(al, a->at[i]));
	}
	return cj_checked(al, cj_list_tuple(al, &list));
}

/* Neighbours that are both known, or both symbols, become one extent. */
const struct cj_tuple *
cj_shape_coalesce(struct cj_algebra *al, const struct cj_tuple *shape)
{
	const struct cj_tuple *flat = cj_tuple_flatten(al, shape);
	struct cj_list list;
	struct cj_int last;
	uint32_t i;

	if (cj_is_leaf(flat))
		return flat;
	if (flat->rank == 0)
		return cj_tuple_known(al, 1);
	assert(flat->depth == 1);
	cj_list_init(&list);
	last = flat->at[0]->value;
	for (i = 1; i < flat->rank; i++) {
		struct cj_int next = flat->at[i]->value;

		if (cj_is_known(last) == cj_is_known(next)) {
			last = cj_int_mul(al->sym, last, next);
			continue;
		}
		cj_list_add(al, &list, cj_tuple_int(al, last));
		last = next;
	}
	cj_list_add(al, &list, cj_tuple_int(al, last));
	return cj_list_unwrap(al, &list);
}

const struct cj_tuple *
cj_tuple_round_up(struct cj_algebra *al, const struct cj_tuple *a,
    const struct cj_tuple *b)
{
	struct cj_int by = cj_is_leaf(b) ? b->value : cj_tuple_product(al, b);
	struct cj_list list;
	uint32_t i;

	if (cj_is_leaf(a) || cj_is_leaf(b)) {
		if (!cj_is_leaf(a) || !cj_is_leaf(b))
			return cj_refuse(al, CJ_REFUSED_RANK, NULL,
			    "%s cannot be rounded up to %s",
			    cj_tuple_text(al, a), cj_tuple_text(al, b));
		return cj_checked(al, cj_tuple_int(al, cj_int_mul(al->sym,
		    cj_int_ceil_div(al->sym, a->value, by), by)));
	}
	if (b->rank > a->rank)
		return cj_refuse(al, CJ_REFUSED_RANK, NULL,
		    "%s has more modes than %s", cj_tuple_text(al, b),
		    cj_tuple_text(al, a));
	cj_list_init(&list);
	for (i = 0; i < a->rank; i++) {
		const struct cj_tuple *x = cj_tuple_round_up(al, a->at[i],
		    i < b->rank ? b->at[i] : cj_tuple_known(al, 1));

		if (x == NULL)
			return NULL;
		cj_list_add(al, &list, x);
	}
	return cj_list_tuple(al, &list);
}

static const struct cj_tuple *
shape_div_int(struct cj_algebra *al, struct cj_int a, struct cj_int b)
{
	struct cj_int zero = cj_known(0);
	bool forth = cj_int_equal(al->sym, cj_int_mod(al->sym, a, b), zero)
	    == CJ_YES;
	bool back = cj_int_equal(al->sym, cj_int_mod(al->sym, b, a), zero)
	    == CJ_YES;
	bool known = cj_is_known(a) && cj_is_known(b);

	if ((!forth && !back) || cj_is_value(a, 0) || cj_is_value(b, 0))
		return cj_refuse(al, known ? CJ_REFUSED_SHAPE_DIV
		    : CJ_REFUSED_SYMBOLIC,
		    "One has to be a multiple of the other.",
		    "%s and %s do not divide each other",
		    cj_int_text(al, a), cj_int_text(al, b));
	return cj_tuple_int(al, cj_int_ceil_div(al->sym, a, b));
}

const struct cj_tuple *
cj_tuple_shape_div(struct cj_algebra *al, const struct cj_tuple *a,
    const struct cj_tuple *b)
{
	const struct cj_tuple *rest = b, *x;
	struct cj_list list;
	uint32_t i;

	if (cj_is_leaf(a))
		return shape_div_int(al, a->value, cj_tuple_product(al, b));
	if (!cj_is_leaf(b) && b->rank != a->rank)
		return cj_refuse(al, CJ_REFUSED_RANK, NULL,
		    "%s and %s have different ranks", cj_tuple_text(al, a),
		    cj_tuple_text(al, b));
	cj_list_init(&list);
	for (i = 0; i < a->rank; i++) {
		x = cj_tuple_shape_div(al, a->at[i], cj_is_leaf(b) ? rest
		    : b->at[i]);
		if (x == NULL)
			return NULL;
		cj_list_add(al, &list, x);
		if (!cj_is_leaf(b))
			continue;
		rest = shape_div_int(al, rest->value, cj_tuple_product(al,
		    a->at[i]));
		if (rest == NULL)
			return NULL;
	}
	return cj_checked(al, cj_list_tuple(al, &list));
}

const struct cj_tuple *
cj_tuple_product_each(struct cj_algebra *al, const struct cj_tuple *t)
{
	struct cj_list list;
	uint32_t i;

	cj_list_init(&list);
	for (i = 0; i < cj_tuple_rank(t); i++)
		cj_list_add(al, &list, cj_tuple_int(al, cj_tuple_product(al,
		    cj_tuple_get(t, i))));
	return cj_checked(al, cj_list_tuple(al, &list));
}

/* a < b in each component; a shorter one is less where all it has is. */
enum cj_truth
cj_tuple_elem_less(struct cj_algebra *al, const struct cj_tuple *a,
    const struct cj_tuple *b)
{
	enum cj_truth all = CJ_YES, one;
	uint32_t i;

	if (cj_is_leaf(a) && cj_is_leaf(b))
		return cj_int_less(al->sym, a->value, b->value);
	if (cj_is_leaf(a) || cj_is_leaf(b))
		return CJ_NO;
	for (i = 0; i < a->rank; i++) {
		if (i == b->rank)
			return CJ_NO;
		one = cj_tuple_elem_less(al, a->at[i], b->at[i]);
		if (one == CJ_NO)
			return CJ_NO;
		if (one == CJ_MAYBE)
			all = CJ_MAYBE;
	}
	return all;
}

/* Whether tiles of the tiler's size fill the shape without a rest. */
enum cj_truth
cj_tuple_evenly_divides(struct cj_algebra *al, const struct cj_tuple *shape,
    const struct cj_tuple *tiler)
{
	enum cj_truth all = CJ_YES, one;
	const struct cj_tuple *times;
	uint32_t i;

	if (cj_is_leaf(tiler)) {
		times = cj_tuple_ceil_div(al, shape, tiler);
		if (times == NULL)
			return CJ_NO;
		return cj_int_equal(al->sym, cj_tuple_product(al, shape),
		    cj_int_mul(al->sym, cj_tuple_product(al, tiler),
		    cj_tuple_product(al, times)));
	}
	if (tiler->rank > cj_tuple_rank(shape))
		return CJ_NO;
	for (i = 0; i < tiler->rank; i++) {
		one = cj_tuple_evenly_divides(al, cj_tuple_get(shape, i),
		    tiler->at[i]);
		if (one == CJ_NO)
			return CJ_NO;
		if (one == CJ_MAYBE)
			all = CJ_MAYBE;
	}
	return all;
}
