/*
 * Products: a block repeated as the elements of a tiler.
 *
 * logical: (A, A* o B), A* the complement of the block A in what the tiler B
 * needs: mode 0 is the block, mode 1 the repetitions. blocked and raked give
 * both operands the same rank and pair their modes, the block inside or
 * outside.
 */
#include "layout_priv.h"

_Static_assert((int)CJ_PRODUCT_LOGICAL == (int)CJ_DIVIDE_LOGICAL
    && (int)CJ_PRODUCT_ZIPPED == (int)CJ_DIVIDE_ZIPPED
    && (int)CJ_PRODUCT_TILED == (int)CJ_DIVIDE_TILED
    && (int)CJ_PRODUCT_FLAT == (int)CJ_DIVIDE_FLAT,
    "the forms that gather are the same");

/*
 * Whether `count` repetitions find a place in `gaps`: there are as many, or
 * its last mode steps over the whole block and can go on.
 */
static bool
has_room(struct cj_algebra *al, const struct cj_layout *f,
    const struct cj_layout *gaps, struct cj_int count)
{
	struct cj_int size = cj_layout_size(al, gaps), last;
	const struct cj_tuple *flat = cj_tuple_flatten(al, gaps->stride);

	if (al->as_cute || !cj_is_known(size) || !cj_is_known(count)
	    || size.value >= count.value)
		return true;
	last = cj_tuple_get(flat, cj_tuple_rank(flat) - 1)->value;
	if (cj_int_less_equal(al->sym, cj_layout_cosize(al, f), last)
	    == CJ_YES)
		return true;
	cj_refuse(al, CJ_REFUSED_NONINJECTIVE,
	    "In ascending order, each stride of the block has to be a"
	    " multiple of the stride before it times its extent.",
	    "there is room for %s of the %s repetitions between the elements"
	    " of %s", cj_int_text(al, size), cj_int_text(al, count),
	    cj_layout_text(al, f));
	return false;
}

/* From the index of a repetition to its place: what the block leaves out. */
static const struct cj_layout *
step_layout(struct cj_algebra *al, const struct cj_layout *block,
    const struct cj_layout *tile)
{
	const struct cj_layout *f = cj_layout_filter(al, block), *gaps;
	struct cj_int count = cj_layout_cosize(al, tile);

	gaps = f == NULL ? NULL : cj_layout_gaps(al, f, cj_tuple_int(al,
	    cj_int_mul(al->sym, cj_layout_size(al, block), count)));
	return gaps != NULL && has_room(al, f, gaps, count) ? gaps : NULL;
}

static const struct cj_layout *
product_by_layout(struct cj_algebra *al, const struct cj_layout *block,
    const struct cj_layout *tile)
{
	const struct cj_layout *pair[2], *rest = step_layout(al, block, tile);

	if (rest == NULL)
		return NULL;
	pair[0] = block;
	pair[1] = cj_layout_compose(al, rest, cj_layout_inner(al, tile));
	return cj_layout_concat(al, pair, 2);
}

/* block and tile side by side, mode by mode, which of them runs faster. */
static const struct cj_layout *
interleave(struct cj_algebra *al, enum cj_product form,
    const struct cj_layout *block, const struct cj_layout *tile)
{
	uint32_t rank = cj_layout_rank(block);
	const struct cj_layout *p, *a, *b;
	const struct cj_layout *unit = cj_layout_unit(al);

	rank = cj_layout_rank(tile) > rank ? cj_layout_rank(tile) : rank;
	block = cj_layout_append_to(al, block, rank, unit);
	tile = cj_layout_append_to(al, tile, rank, unit);
	if (block == NULL || tile == NULL)
		return NULL;
	assert(cj_layout_rank(block) == cj_layout_rank(tile));
	p = product_by_layout(al, block, tile);
	if (p == NULL)
		return NULL;
	a = cj_layout_get(al, p, 0);
	b = cj_layout_get(al, p, 1);
	if (form == CJ_PRODUCT_RAKED)
		return cj_layout_zip(al, b, a);
	return cj_layout_zip(al, a, b);
}

/*
 * block times (Sw o T): the swizzle of the tile moves to the bits that the
 * tile's steps have in the product.
 */
static const struct cj_layout *
product_swizzled(struct cj_algebra *al, const struct cj_layout *block,
    const struct cj_layout *tile)
{
	const struct cj_layout *plain = cj_layout_inner(al, tile), *p, *step;

	if (tile->offset != NULL && !cj_stride_is(tile->offset, 0))
		return cj_refuse(al, CJ_REFUSED_SWIZZLE, NULL,
		    "%s has an offset", cj_layout_text(al, tile));
	p = product_by_layout(al, block, plain);
	if (p == NULL)
		return NULL;
	/* the factor between a step of the tile and one of the product */
	step = step_layout(al, block, plain);
	step = step == NULL ? NULL : cj_layout_compose_swizzle(al, step,
	    tile->swizzle);
	return step == NULL || !step->is_composed ? (step == NULL ? NULL : p)
	    : cj_layout_composed(al, step->swizzle, NULL, p);
}

static const struct cj_layout *
product_any(struct cj_algebra *al, const struct cj_layout *block,
    const struct cj_layout *tile)
{
	if (tile->is_composed && tile->swizzle.bits > 0)
		return product_swizzled(al, block, tile);
	return product_by_layout(al, block, tile);
}

const struct cj_layout *
cj_layout_product(struct cj_algebra *al, enum cj_product form,
    const struct cj_layout *block, const struct cj_tuple *tiler)
{
	const struct cj_layout *inner = cj_layout_inner(al, block), *p;

	if (form == CJ_PRODUCT_BLOCKED || form == CJ_PRODUCT_RAKED) {
		if (!cj_is_leaf(tiler) || tiler->kind == CJ_TUPLE_ANY
		    || tiler->kind == CJ_TUPLE_BASIS)
			return cj_refuse(al, CJ_REFUSED_KIND, NULL,
			    "%s is not a layout to tile with",
			    cj_tuple_text(al, tiler));
		p = cj_tile_layout(al, tiler);
		p = p == NULL ? NULL : interleave(al, form, inner, p);
		return cj_checked(al, cj_layout_around(al, block, p));
	}
	p = cj_layout_by_tiler(al, inner, tiler, product_any);
	if (p == NULL)
		return NULL;
	p = cj_layout_gather(al, (enum cj_divide)form, p, tiler);
	return cj_checked(al, cj_layout_around(al, block, p));
}

/* Whether the block fits the target evenly in each mode; a target that is a
 * symbol has to be known to be a multiple. */
static bool
block_fits(struct cj_algebra *al, const struct cj_layout *block,
    const struct cj_tuple *shape, struct cj_list *times)
{
	uint32_t i;

	for (i = 0; i < cj_tuple_rank(shape); i++) {
		struct cj_int target = cj_tuple_product(al,
		    cj_tuple_get(shape, i));
		struct cj_int size = cj_tuple_product(al,
		    cj_tuple_get(block->shape, i));
		struct cj_int n = cj_int_ceil_div(al->sym, target, size);

		if (cj_is_known(target) && cj_is_known(size)
		    && !cj_int_same(cj_int_mul(al->sym, n, size), target)) {
			cj_refuse(al, CJ_REFUSED_TILE_DIV, NULL,
			    "mode %u of the block, %s, does not divide the"
			    " target %s", i, cj_int_text(al, size),
			    cj_int_text(al, target));
			return false;
		}
		cj_list_add(al, times, cj_tuple_int(al, n));
	}
	return true;
}

const struct cj_layout *
cj_layout_tile_to_shape(struct cj_algebra *al, const struct cj_layout *block,
    const struct cj_tuple *shape, const struct cj_tuple *order)
{
	const struct cj_layout *padded, *times;
	const struct cj_tuple *product;
	struct cj_list list;

	if (cj_layout_rank(block) > cj_tuple_rank(shape))
		return cj_refuse(al, CJ_REFUSED_RANK, NULL,
		    "block %s has more modes than the target %s",
		    cj_layout_text(al, block), cj_tuple_text(al, shape));
	padded = cj_layout_append_to(al, cj_layout_inner(al, block),
	    cj_tuple_rank(shape), cj_layout_unit(al));
	cj_list_init(&list);
	if (padded == NULL || !block_fits(al, padded, shape, &list))
		return NULL;
	product = cj_list_tuple(al, &list);
	times = order == NULL ? cj_layout_make(al, product, NULL)
	    : cj_layout_ordered(al, product, order);
	if (times == NULL)
		return NULL;
	padded = interleave(al, CJ_PRODUCT_BLOCKED, padded, times);
	return cj_checked(al, cj_layout_around(al, block, padded));
}
