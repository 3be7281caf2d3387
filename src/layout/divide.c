/*
 * Divides: a layout seen as tiles and the rest.
 *
 * logical: A o (B, B*), B* the complement of the tile B in A's shape: mode 0
 * runs within a tile, mode 1 over the tiles. By mode with a tiler. The other
 * forms gather: zipped ((tiles), (rest)), tiled ((tiles), rest...), flat
 * (tiles..., rest...). Where a tile does not divide a last extent, the number
 * of tiles is rounded up and the last one reaches beyond.
 */
#include "layout_priv.h"

static const struct cj_layout *
divide_by_layout(struct cj_algebra *al, const struct cj_layout *l,
    const struct cj_layout *tile)
{
	const struct cj_layout *pair[2], *flat;

	flat = cj_layout_coalesce(al, l, NULL);
	if (flat == NULL)
		return NULL;
	if (cj_is_value(cj_layout_size(al, tile), 0))
		return cj_refuse(al, CJ_REFUSED_SHAPE_DIV, NULL,
		    "a tile %s without elements", cj_layout_text(al, tile));
	pair[0] = tile;
	pair[1] = cj_layout_complement(al, tile, flat->shape);
	flat = cj_layout_concat(al, pair, 2);
	return flat == NULL ? NULL : cj_layout_compose(al, l, flat);
}

const struct cj_layout *
cj_tile_layout(struct cj_algebra *al, const struct cj_tuple *tile)
{
	assert(cj_is_leaf(tile));
	return tile->kind == CJ_TUPLE_LAYOUT ? tile->layout
	    : cj_layout_make(al, tile, NULL);
}

static const struct cj_layout *
too_many(struct cj_algebra *al, const struct cj_layout *l,
    const struct cj_tuple *tiler)
{
	return cj_refuse(al, CJ_REFUSED_RANK, NULL,
	    "tiler %s has more modes than %s", cj_tuple_text(al, tiler),
	    cj_layout_text(al, l));
}

const struct cj_layout *
cj_layout_by_tiler(struct cj_algebra *al, const struct cj_layout *l,
    const struct cj_tuple *tiler, cj_tile_fn *fn)
{
	const struct cj_layout *x;
	struct cj_list shape, stride;
	uint32_t i;

	if (tiler->kind == CJ_TUPLE_ANY)
		return l;
	if (tiler->kind == CJ_TUPLE_BASIS)
		return cj_refuse(al, CJ_REFUSED_KIND, NULL,
		    "%s is not a tiler", cj_tuple_text(al, tiler));
	if (cj_is_leaf(tiler)) {
		x = cj_tile_layout(al, tiler);
		return x == NULL ? NULL : fn(al, l, x);
	}
	if (tiler->rank > cj_layout_rank(l))
		return too_many(al, l, tiler);
	cj_list_init(&shape);
	cj_list_init(&stride);
	for (i = 0; i < cj_layout_rank(l); i++) {
		x = cj_layout_get(al, l, i);
		if (i < tiler->rank)
			x = cj_layout_by_tiler(al, x, tiler->at[i], fn);
		if (x == NULL)
			return NULL;
		if (x->is_composed)
			return cj_refuse(al, CJ_REFUSED_SWIZZLE, NULL,
			    "%s with its swizzle cannot be a mode",
			    cj_layout_text(al, x));
		cj_list_add(al, &shape, x->shape);
		cj_list_add(al, &stride, x->stride);
	}
	return cj_layout_of(al, cj_list_tuple(al, &shape),
	    cj_list_tuple(al, &stride));
}

/*
 * Gather the pairs at the leaves of the guide: ((A, a), (B, b), c) becomes
 * ((A, B), (a, b, c)).
 */
static bool
unzip(struct cj_algebra *al, const struct cj_tuple *t,
    const struct cj_tuple *guide, const struct cj_tuple **tile,
    const struct cj_tuple **rest)
{
	struct cj_list tiles, rests;
	uint32_t i;

	if (cj_is_leaf(guide)) {
		if (cj_is_leaf(t) || t->rank != 2) {
			cj_refuse(al, CJ_REFUSED_RANK, NULL,
			    "mode %s is not a pair of tile and rest",
			    cj_tuple_text(al, t));
			return false;
		}
		*tile = t->at[0];
		*rest = t->at[1];
		return true;
	}
	assert(!cj_is_leaf(t) || guide->rank <= 1);
	cj_list_init(&tiles);
	cj_list_init(&rests);
	for (i = 0; i < cj_tuple_rank(t); i++) {
		const struct cj_tuple *x = NULL, *y = cj_tuple_get(t, i);

		if (i < guide->rank && !unzip(al, y, guide->at[i], &x, &y))
			return false;
		if (x != NULL)
			cj_list_add(al, &tiles, x);
		cj_list_add(al, &rests, y);
	}
	*tile = cj_list_tuple(al, &tiles);
	*rest = cj_list_tuple(al, &rests);
	return *tile != NULL && *rest != NULL;
}

/* Its modes; a tuple of one stays, as CuTe's repeat<1>(_) takes it whole. */
static void
spread(struct cj_algebra *al, struct cj_list *list, const struct cj_tuple *t)
{
	uint32_t i;

	if (cj_tuple_rank(t) == 1) {
		cj_list_add(al, list, t);
		return;
	}
	for (i = 0; i < cj_tuple_rank(t); i++)
		cj_list_add(al, list, cj_tuple_get(t, i));
}

/* Forms as of divides; the product's first forms have the same order. */
static const struct cj_tuple *
gather(struct cj_algebra *al, enum cj_divide form, const struct cj_tuple *t,
    const struct cj_tuple *guide)
{
	const struct cj_tuple *tile, *rest;
	struct cj_list list;

	assert(form <= CJ_DIVIDE_FLAT);
	if (form == CJ_DIVIDE_LOGICAL)
		return t;
	if (!unzip(al, t, guide, &tile, &rest))
		return NULL;
	cj_list_init(&list);
	if (form == CJ_DIVIDE_FLAT)
		spread(al, &list, tile);
	else
		cj_list_add(al, &list, tile);
	if (form == CJ_DIVIDE_ZIPPED)
		cj_list_add(al, &list, rest);
	else
		spread(al, &list, rest);
	return cj_list_tuple(al, &list);
}

const struct cj_layout *
cj_layout_gather(struct cj_algebra *al, enum cj_divide form,
    const struct cj_layout *l, const struct cj_tuple *guide)
{
	return cj_layout_around(al, l, cj_layout_of(al,
	    gather(al, form, l->shape, guide),
	    gather(al, form, l->stride, guide)));
}

const struct cj_layout *
cj_layout_divide(struct cj_algebra *al, enum cj_divide form,
    const struct cj_layout *l, const struct cj_tuple *tiler)
{
	const struct cj_layout *d = cj_layout_by_tiler(al, cj_layout_inner(al,
	    l), tiler, divide_by_layout);

	if (d == NULL)
		return NULL;
	if (d->is_composed && l->is_composed)
		return cj_refuse(al, CJ_REFUSED_SWIZZLE, NULL,
		    "both the layout and the tile have a swizzle");
	d = cj_layout_gather(al, form, d, tiler);
	return cj_checked(al, cj_layout_around(al, l, d));
}
