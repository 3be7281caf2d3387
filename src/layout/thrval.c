/*
 * Who holds what: local tiles, partitions over threads, thread-value layouts;
 * and facts of layouts that accesses need: equivalence, injectivity,
 * alignment.
 */
#include "layout_priv.h"

enum { MAX_POINTS = 1 << 16 };

static const struct cj_tuple *
repeat_any(struct cj_algebra *al, uint32_t rank)
{
	const struct cj_tuple *any = cj_tuple_any(al);
	struct cj_list list;

	cj_list_init(&list);
	while (rank-- > 0)
		cj_list_add(al, &list, any);
	return cj_list_unwrap(al, &list);
}

/* A coordinate that is a tuple is filled up with `_`. */
static const struct cj_tuple *
fill_any(struct cj_algebra *al, const struct cj_tuple *coord, uint32_t rank)
{
	if (cj_is_leaf(coord))
		return coord;
	while (coord != NULL && coord->rank < rank)
		coord = cj_tuple_append(al, coord, cj_tuple_any(al));
	return coord;
}

const struct cj_layout *
cj_layout_view(struct cj_algebra *al, const struct cj_layout *l,
    const struct cj_tuple *coord)
{
	const struct cj_layout *rest;
	const struct cj_tuple *offset;
	struct cj_layout *moved;

	if (!cj_layout_slice(al, l, coord, &rest, &offset))
		return NULL;
	assert(rest != NULL && offset != NULL);
	if (rest->offset != NULL)
		return rest;
	moved = CJ_NEW(al->arena, struct cj_layout);
	*moved = *rest;
	moved->offset = offset;
	return moved;
}

/* What of ((tile), (rest)) is at `coord` of the mode `which`. */
static const struct cj_layout *
divided_at(struct cj_algebra *al, const struct cj_layout *l,
    const struct cj_tuple *tiler, const struct cj_tuple *coord, unsigned which)
{
	const struct cj_layout *z = cj_layout_divide(al, CJ_DIVIDE_ZIPPED, l,
	    tiler);
	const struct cj_tuple *pair[2];

	if (z == NULL)
		return NULL;
	assert(cj_layout_rank(z) == 2 && which < 2);
	pair[which] = fill_any(al, coord, cj_tuple_rank(z->shape->at[which]));
	pair[1 - which] = repeat_any(al,
	    cj_tuple_rank(z->shape->at[1 - which]));
	return cj_layout_view(al, z, cj_tuple_make(al, pair, 2));
}

const struct cj_layout *
cj_layout_local_tile(struct cj_algebra *al, const struct cj_layout *l,
    const struct cj_tuple *tiler, const struct cj_tuple *coord)
{
	return divided_at(al, l, tiler, coord, 1);
}

const struct cj_layout *
cj_layout_outer_partition(struct cj_algebra *al, const struct cj_layout *l,
    const struct cj_tuple *tiler, const struct cj_tuple *coord)
{
	return divided_at(al, l, tiler, coord, 0);
}

const struct cj_tuple *
cj_layout_flat_coord(struct cj_algebra *al, const struct cj_layout *l,
    struct cj_int index)
{
	const struct cj_tuple *at;
	struct cj_list coord;
	struct cj_int flat;
	uint32_t i;

	at = cj_idx2crd_stride(al, cj_tuple_int(al, index), l->shape,
	    l->stride);
	if (at == NULL)
		return NULL;
	cj_list_init(&coord);
	for (i = 0; i < cj_layout_rank(l); i++) {
		if (!cj_crd2idx_shape(al, cj_tuple_get(at, i),
		    cj_tuple_get(l->shape, i), &flat))
			return NULL;
		cj_list_add(al, &coord, cj_tuple_int(al, flat));
	}
	return cj_list_tuple(al, &coord);
}

const struct cj_layout *
cj_layout_local_partition(struct cj_algebra *al, const struct cj_layout *l,
    const struct cj_layout *threads, struct cj_int index)
{
	const struct cj_tuple *at = cj_layout_flat_coord(al, threads, index);

	return at == NULL ? NULL : cj_layout_outer_partition(al, l,
	    cj_tuple_product_each(al, threads->shape), at);
}

const struct cj_layout *
cj_layout_thread_value(struct cj_algebra *al, struct cj_int threads,
    struct cj_int n, struct cj_int v)
{
	struct cj_int span = cj_int_mul(al->sym, threads, v);
	const struct cj_tuple *shape[2], *stride[2], *values[2], *steps[2];

	if (cj_int_range(al->sym, threads).hi < 1
	    || cj_int_range(al->sym, v).hi < 1)
		return cj_refuse(al, CJ_REFUSED_SHAPE_DIV, NULL,
		    "%s threads with %s values each", cj_int_text(al, threads),
		    cj_int_text(al, v));
	values[0] = cj_tuple_int(al, v);
	values[1] = cj_tuple_int(al, cj_int_ceil_div(al->sym, n, span));
	steps[0] = cj_tuple_known(al, 1);
	steps[1] = cj_tuple_int(al, span);
	shape[0] = cj_tuple_int(al, threads);
	shape[1] = cj_tuple_make(al, values, 2);
	stride[0] = cj_tuple_int(al, v);
	stride[1] = cj_tuple_make(al, steps, 2);
	return cj_checked(al, cj_layout_of(al, cj_tuple_make(al, shape, 2),
	    cj_tuple_make(al, stride, 2)));
}

/* ---- point by point ---------------------------------------------------- */

/* Whether the values of l can be listed: known and not too many. */
static bool
is_listable(struct cj_algebra *al, const struct cj_layout *l)
{
	struct cj_int size = cj_layout_size(al, l);

	return cj_tuple_is_known(l->shape) && cj_tuple_is_known(l->stride)
	    && (l->offset == NULL || cj_tuple_is_known(l->offset))
	    && cj_is_known(size) && size.value <= MAX_POINTS
	    && !al->sym->overflow;
}

static enum cj_truth
same_points(struct cj_algebra *al, const struct cj_layout *a,
    const struct cj_layout *b, int64_t size)
{
	int64_t i;

	for (i = 0; i < size; i++) {
		struct cj_mark mark = cj_arena_mark(al->arena);
		const struct cj_tuple *c = cj_tuple_known(al, i);
		const struct cj_tuple *x = cj_layout_at(al, a, c);
		const struct cj_tuple *y = cj_layout_at(al, b, c);
		bool same = x != NULL && y != NULL && cj_tuple_same(x, y);

		cj_arena_release(al->arena, mark);
		if (x == NULL || y == NULL)
			return CJ_MAYBE;
		if (!same)
			return CJ_NO;
	}
	return CJ_YES;
}

static bool
swizzles_same(const struct cj_layout *a, const struct cj_layout *b)
{
	int x = a->is_composed ? a->swizzle.bits : 0;
	int y = b->is_composed ? b->swizzle.bits : 0;

	return x == y && (x == 0 || (a->swizzle.base == b->swizzle.base
	    && a->swizzle.shift == b->swizzle.shift));
}

static bool
offsets_same(const struct cj_layout *a, const struct cj_layout *b)
{
	if (a->offset != NULL && b->offset != NULL)
		return cj_tuple_same(a->offset, b->offset);
	return (a->offset == NULL || cj_stride_is(a->offset, 0))
	    && (b->offset == NULL || cj_stride_is(b->offset, 0));
}

enum cj_truth
cj_layout_equivalent(struct cj_algebra *al, const struct cj_layout *a,
    const struct cj_layout *b)
{
	struct cj_int n = cj_layout_size(al, a);
	enum cj_truth sizes = cj_int_equal(al->sym, n, cj_layout_size(al, b));
	const struct cj_layout *x, *y;

	if (sizes == CJ_NO || cj_checked(al, a) == NULL)
		return sizes == CJ_NO ? CJ_NO : CJ_MAYBE;
	x = cj_layout_coalesce(al, cj_layout_inner(al, a), NULL);
	y = cj_layout_coalesce(al, cj_layout_inner(al, b), NULL);
	if (x != NULL && y != NULL && cj_layout_same(x, y)
	    && swizzles_same(a, b) && offsets_same(a, b))
		return CJ_YES;
	if (!is_listable(al, a) || !is_listable(al, b))
		return CJ_MAYBE;
	return same_points(al, a, b, n.value);
}

/* Each value once: a bit per value, for known layouts that fit in it. */
static enum cj_truth
injective_points(struct cj_algebra *al, const struct cj_layout *l)
{
	int64_t size = cj_layout_size(al, l).value, i, reach;
	struct cj_mark mark = cj_arena_mark(al->arena);
	enum cj_truth truth = CJ_YES;
	uint8_t *seen;

	reach = cj_layout_cosize(al, l).value;
	if (al->sym->overflow || reach > MAX_POINTS * 64) {
		al->sym->overflow = false;
		return CJ_MAYBE;
	}
	seen = cj_alloc(al->arena, (size_t)reach * 2 + 1);
	for (i = 0; i < size && truth == CJ_YES; i++) {
		struct cj_int v;
		struct cj_mark point = cj_arena_mark(al->arena);

		if (!cj_layout_offset(al, l, cj_tuple_known(al, i), &v))
			truth = CJ_MAYBE;
		else if (seen[v.value + reach]++ != 0)
			truth = CJ_NO;
		cj_arena_release(al->arena, point);
	}
	cj_arena_release(al->arena, mark);
	return truth;
}

/*
 * In ascending order of stride each mode steps over all that the modes before
 * it reach: then no value comes twice. Not needed for it, so what fails is
 * looked at point by point. A swizzle changes nothing.
 */
enum cj_truth
cj_layout_injective(struct cj_algebra *al, const struct cj_layout *l)
{
	const struct cj_layout *inner = cj_layout_inner(al, l);
	struct cj_int reach = cj_known(0);
	struct cj_modes m;
	uint32_t i, j;

	cj_modes_init(&m);
	cj_modes_flatten(al, &m, inner->shape, inner->stride);
	for (i = 0; i < m.count; i++) {
		if (cj_stride_is(m.at[i].stride, 0) && cj_int_less(al->sym,
		    cj_known(1), m.at[i].shape) == CJ_YES)
			return CJ_NO;
		if (m.at[i].stride->kind != CJ_TUPLE_INT)
			return CJ_MAYBE;
	}
	while (m.count > 0) {
		struct cj_int d, least;

		for (i = 0, j = 1; j < m.count; j++) {
			if (cj_int_less(al->sym, cj_int_abs(al->sym,
			    m.at[j].stride->value), cj_int_abs(al->sym,
			    m.at[i].stride->value)) == CJ_YES)
				i = j;
		}
		d = cj_int_abs(al->sym, m.at[i].stride->value);
		least = cj_int_sub(al->sym, m.at[i].shape, cj_known(1));
		if (!cj_is_value(least, 0)
		    && cj_int_less(al->sym, reach, d) != CJ_YES)
			break;
		reach = cj_int_add(al->sym, reach, cj_int_mul(al->sym,
		    least, d));
		m.at[i] = m.at[--m.count];
	}
	if (m.count == 0 && !al->sym->overflow)
		return CJ_YES;
	al->sym->overflow = false;
	return is_listable(al, inner) ? injective_points(al, inner)
	    : CJ_MAYBE;
}
