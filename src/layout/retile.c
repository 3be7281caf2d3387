/*
 * A fragment of an MMA as the values of a copy that is made for it.
 *
 * CuTe's retile takes the fragments of a tile in the order in which the atoms
 * lie in it. Where the MMA's permutation deals them out in another order, that
 * gives registers of other elements: then the order is found by the places in
 * the tile that both have, those of thread 0.
 */
#include "atom.h"

#include "layout_priv.h"

static bool
is_permuted(const struct cj_tiled_mma *mma)
{
	uint32_t i;

	if (mma->permutation == NULL || cj_is_leaf(mma->permutation))
		return false;
	for (i = 0; i < mma->permutation->rank; i++)
		if (mma->permutation->at[i]->kind == CJ_TUPLE_LAYOUT)
			return true;
	return false;
}

/* Both modes of the tile whose part has as many atoms as the fragment. */
static const struct cj_tuple *
tile_of(struct cj_algebra *al, const struct cj_tiled_mma *mma,
    enum cj_operand which, const struct cj_layout *fragment)
{
	const struct cj_tuple *one = cj_tiled_mma_operand(al, mma, which);
	const struct cj_tuple *part = cj_tiled_mma_partition_shape(al, mma,
	    which, one), *at[2];
	uint32_t m;

	assert(cj_layout_rank(fragment) == 3 && "values, and atoms along both");
	for (m = 0; part != NULL && m < 2; m++)
		at[m] = cj_tuple_int(al, cj_int_div(al->sym, cj_int_mul(
		    al->sym, cj_tuple_product(al, cj_tuple_get(one, m)),
		    cj_tuple_product(al, cj_tuple_get(fragment->shape,
		    m + 1))), cj_tuple_product(al, cj_tuple_get(part,
		    m + 1))));
	return part == NULL ? NULL : cj_tuple_make(al, at, 2);
}

/* Without the offset, which is 0 for thread 0. */
static const struct cj_layout *
bare(struct cj_algebra *al, const struct cj_layout *l)
{
	struct cj_layout *made = CJ_NEW(al->arena, struct cj_layout);

	*made = *l;
	made->offset = NULL;
	return made;
}

/* The values of thread 0 of the MMA: index in the fragment -> in the tile. */
static const struct cj_layout *
places_of_mma(struct cj_algebra *al, const struct cj_tiled_mma *mma,
    enum cj_operand which, const struct cj_tuple *tile)
{
	const struct cj_layout *tv = cj_tiled_mma_tv_of(al, mma, which, tile);
	const struct cj_tuple *at[2] = { cj_tuple_known(al, 0),
	    cj_tuple_any(al) };

	tv = tv == NULL ? NULL : cj_layout_view(al, tv, cj_tuple_make(al, at,
	    2));
	return tv == NULL ? NULL : bare(al, tv);
}

/* The same of the copy's side that is in registers. */
static const struct cj_layout *
places_of_copy(struct cj_algebra *al, const struct cj_tiled_copy *copy,
    const struct cj_tuple *tile)
{
	const struct cj_layout *l = cj_layout_make(al, tile, NULL);

	l = l == NULL ? NULL : cj_tiled_copy_partition(al, copy,
	    copy->atom.kind == CJ_COPY_STMATRIX ? CJ_SIDE_SOURCE :
	    CJ_SIDE_TARGET, l, cj_known(0));
	return l == NULL ? NULL : bare(al, l);
}

/* Have both the same values, one after the other? */
static bool
are_same(struct cj_algebra *al, const struct cj_layout *a,
    const struct cj_layout *b)
{
	struct cj_int size = cj_layout_size(al, a);
	size_t count;
	int64_t *x, *y;

	if (!cj_is_known(size) ||
	    !cj_int_same(size, cj_layout_size(al, b)))
		return false;
	assert(size.value >= 0);
	count = (size_t)size.value;
	x = CJ_NEWS(al->arena, int64_t, count + 1);
	y = CJ_NEWS(al->arena, int64_t, count + 1);
	return cj_layout_list(al, a, x, count) &&
	    cj_layout_list(al, b, y, count) &&
	    memcmp(x, y, count * sizeof *x) == 0;
}

const struct cj_layout *
cj_tiled_copy_retile_of(struct cj_algebra *al,
    const struct cj_tiled_copy *copy, const struct cj_tiled_mma *mma,
    enum cj_operand which, const struct cj_layout *fragment)
{
	const struct cj_layout *plain = cj_tiled_copy_retile(al, copy,
	    fragment), *order, *mine, *its, *l;
	const struct cj_tuple *tile;

	if (!is_permuted(mma) || cj_layout_rank(fragment) != 3)
		return plain;
	tile = tile_of(al, mma, which, fragment);
	mine = tile == NULL ? NULL : places_of_mma(al, mma, which, tile);
	its = mine == NULL ? NULL : places_of_copy(al, copy, tile);
	order = its == NULL ? NULL : cj_layout_left_inverse(al, mine);
	order = order == NULL ? NULL : cj_layout_compose(al, order, its);
	if (order == NULL)
		return NULL;
	l = cj_layout_compose(al, mine, order);
	if (l == NULL || !are_same(al, l, its))
		return cj_refuse(al, CJ_REFUSED_KIND, NULL, "the permutation "
		    "of the MMA leads to other places than the copy");
	l = cj_layout_compose(al, fragment, order);
	return l == NULL || plain == NULL || !are_same(al, l, plain) ? l :
	    plain;
}
