/*
 * Tiled copies: a copy atom repeated over threads and values.
 *
 * The TV layout of the tile is cut into atoms; within an atom, (thread, value)
 * goes to the reference order of bits and from there to the order of the side
 * (source or target) that is asked for.
 */
#include "atom.h"

#include "layout_priv.h"

static const struct cj_tuple *
pair(struct cj_algebra *al, const struct cj_tuple *a,
    const struct cj_tuple *b)
{
	const struct cj_tuple *both[2] = { a, b };

	return a == NULL || b == NULL ? NULL : cj_tuple_make(al, both, 2);
}

static const struct cj_layout *
with_shape(struct cj_algebra *al, const struct cj_layout *l,
    const struct cj_tuple *shape)
{
	const struct cj_layout *s = cj_layout_make(al, shape, NULL);

	return l == NULL || s == NULL ? NULL : cj_layout_compose(al, l, s);
}

static struct cj_int
size_of_mode(struct cj_algebra *al, const struct cj_layout *l, uint32_t mode)
{
	return cj_tuple_product(al, cj_tuple_get(l->shape, mode));
}

/* The shape of each tile. */
static const struct cj_tuple *
tiler_shape(struct cj_algebra *al, const struct cj_tuple *tiler)
{
	struct cj_list list;
	uint32_t i;

	if (tiler->kind == CJ_TUPLE_LAYOUT)
		return tiler->layout->shape;
	if (cj_is_leaf(tiler))
		return tiler;
	cj_list_init(&list);
	for (i = 0; i < tiler->rank; i++)
		cj_list_add(al, &list, tiler_shape(al, tiler->at[i]));
	return cj_list_tuple(al, &list);
}

/* ---- making ------------------------------------------------------------ */

static bool
made(struct cj_algebra *al, const struct cj_copy_atom *atom,
    const struct cj_layout *tv, const struct cj_tuple *tiler,
    struct cj_tiled_copy *out)
{
	struct cj_int zero = cj_known(0);

	out->atom = *atom;
	out->tv = tv;
	out->tiler = tiler;
	if (tv == NULL || tiler == NULL)
		return false;
	assert(cj_layout_rank(tv) == 2 && "threads and values");
	assert(cj_layout_rank(atom->reference) == 2);
	if (cj_int_equal(al->sym, cj_int_mod(al->sym, size_of_mode(al, tv, 0),
	    size_of_mode(al, atom->reference, 0)), zero) != CJ_YES) {
		cj_refuse(al, CJ_REFUSED_TILE_DIV, NULL,
		    "%s threads are no multiple of the %s of %s",
		    cj_int_text(al, size_of_mode(al, tv, 0)),
		    cj_int_text(al, size_of_mode(al, atom->reference, 0)),
		    atom->name);
		return false;
	}
	if (cj_int_equal(al->sym, cj_int_mod(al->sym, size_of_mode(al, tv, 1),
	    size_of_mode(al, atom->reference, 1)), zero) != CJ_YES) {
		cj_refuse(al, CJ_REFUSED_TILE_DIV, NULL,
		    "%s values of a thread are no multiple of the %s of %s",
		    cj_int_text(al, size_of_mode(al, tv, 1)),
		    cj_int_text(al, size_of_mode(al, atom->reference, 1)),
		    atom->name);
		return false;
	}
	return true;
}

bool
cj_tiled_copy_make(struct cj_algebra *al, const struct cj_copy_atom *atom,
    const struct cj_layout *threads, const struct cj_layout *values,
    struct cj_tiled_copy *out)
{
	const struct cj_tuple *tiler = NULL;
	const struct cj_layout *tv = cj_layout_tv(al, threads, values,
	    &tiler);

	return made(al, atom, tv, tiler, out);
}

/* The modes of the tile that the operand has. */
static const struct cj_tuple *
operand_tile(struct cj_algebra *al, const struct cj_tiled_mma *mma,
    enum cj_operand which)
{
	const struct cj_tuple *t = cj_tiled_mma_tile(al, mma);

	if (t == NULL)
		return NULL;
	return pair(al, cj_tuple_get(t, which == CJ_OPERAND_B),
	    cj_tuple_get(t, which == CJ_OPERAND_C ? 1 : 2));
}

bool
cj_tiled_copy_for_mma(struct cj_algebra *al, const struct cj_copy_atom *atom,
    const struct cj_tiled_mma *mma, enum cj_operand which,
    struct cj_tiled_copy *out)
{
	return made(al, atom, cj_tiled_mma_tv(al, mma, which),
	    operand_tile(al, mma, which), out);
}

/*
 * The part of each mode of `shape` that `tv` reaches, as layouts, and tv over
 * the tile of those parts.
 */
static bool
shrink_tile(struct cj_algebra *al, const struct cj_tuple *shape,
    const struct cj_layout *tv, const struct cj_layout **inner,
    const struct cj_tuple **tiler)
{
	const struct cj_layout *l;
	struct cj_list list, steps;
	uint32_t i, j, rank = cj_tuple_rank(shape);

	assert(cj_tuple_is_known(shape));
	cj_list_init(&list);
	for (i = 0; i < rank; i++) {
		cj_list_init(&steps);
		for (j = 0; j < rank; j++)
			cj_list_add(al, &steps, cj_tuple_known(al, i == j));
		l = cj_layout_make(al, shape, cj_list_tuple(al, &steps));
		l = l == NULL ? NULL : cj_layout_compose(al, l, tv);
		l = l == NULL ? NULL : cj_layout_filter(al, l);
		if (l == NULL)
			return false;
		cj_list_add(al, &list, cj_tuple_layout(al, l));
	}
	*tiler = cj_list_tuple(al, &list);
	l = cj_layout_make(al, shape, NULL);
	l = l == NULL ? NULL : cj_layout_compose_tiler(al, l, *tiler);
	l = l == NULL ? NULL : cj_layout_left_inverse(al, l);
	*inner = l == NULL ? NULL : cj_layout_compose(al, l, tv);
	return *inner != NULL;
}

bool
cj_tiled_copy_c_atom(struct cj_algebra *al, const struct cj_copy_atom *atom,
    const struct cj_tiled_mma *mma, struct cj_tiled_copy *out)
{
	const struct cj_layout *tv = cj_tiled_mma_tv(al, mma, CJ_OPERAND_C);
	const struct cj_tuple *tiler;

	if (tv == NULL)
		return false;
	tv = with_shape(al, tv, pair(al, cj_tuple_int(al, size_of_mode(al, tv,
	    0)), cj_tuple_int(al, size_of_mode(al, atom->source, 1))));
	return tv != NULL && shrink_tile(al, operand_tile(al, mma,
	    CJ_OPERAND_C), tv, &tv, &tiler) && made(al, atom, tv, tiler, out);
}

bool
cj_cotiled_copy_make(struct cj_algebra *al, const struct cj_copy_atom *atom,
    const struct cj_layout *atom_tv, const struct cj_layout *data,
    struct cj_tiled_copy *out)
{
	const struct cj_layout *both[2], *inverse, *tv;
	const struct cj_tuple *tiler;

	both[0] = cj_layout_left_inverse(al, data);
	both[1] = cj_layout_unit(al);
	inverse = cj_layout_concat(al, both, 2);
	tv = inverse == NULL ? NULL : cj_layout_compose(al, inverse, atom_tv);
	return tv != NULL && shrink_tile(al, cj_tuple_product_each(al,
	    data->shape), tv, &tv, &tiler) && made(al, atom, tv, tiler, out);
}

/* ---- using ------------------------------------------------------------- */

/* ((thread, value), tile modes) of a tensor that is cut into tiles. */
static const struct cj_layout *
tile_to_threads(struct cj_algebra *al, const struct cj_tiled_copy *copy,
    enum cj_side side, const struct cj_layout *tensor)
{
	const struct cj_copy_atom *a = &copy->atom;
	const struct cj_tuple *any = cj_tuple_any(al), *one;
	const struct cj_layout *ref, *tv, *l;

	ref = cj_layout_right_inverse(al, a->reference);
	ref = ref == NULL ? NULL : cj_layout_compose(al, ref,
	    side == CJ_SIDE_SOURCE ? a->source : a->target);
	tv = cj_layout_divide(al, CJ_DIVIDE_ZIPPED, copy->tv, pair(al,
	    cj_tuple_int(al, size_of_mode(al, a->reference, 0)),
	    cj_tuple_int(al, size_of_mode(al, a->reference, 1))));
	if (ref == NULL || tv == NULL)
		return NULL;
	tv = cj_layout_compose_tiler(al, tv, pair(al,
	    cj_tuple_layout(al, ref), any));
	tv = tv == NULL ? NULL : cj_layout_zip(al, cj_layout_get(al, tv, 0),
	    cj_layout_get(al, tv, 1));
	one = cj_tuple_known(al, 1);
	tv = tv == NULL ? NULL : cj_layout_coalesce(al, tv, pair(al, one,
	    pair(al, one, one)));
	l = tv == NULL ? NULL : cj_layout_compose_tiler(al, tensor, pair(al,
	    cj_tuple_layout(al, tv), any));
	return l;
}

const struct cj_layout *
cj_tiled_copy_tv(struct cj_algebra *al, const struct cj_tiled_copy *copy,
    enum cj_side side)
{
	const struct cj_layout *l = cj_layout_make(al, pair(al,
	    tiler_shape(al, copy->tiler), cj_tuple_known(al, 1)), NULL);

	l = l == NULL ? NULL : tile_to_threads(al, copy, side, l);
	return l == NULL ? NULL : cj_layout_get(al, l, 0);
}

/* `_` for each mode, or one `_` for a single one. */
static const struct cj_tuple *
repeat_any(struct cj_algebra *al, uint32_t rank)
{
	const struct cj_tuple *any = cj_tuple_any(al);
	struct cj_list list;

	cj_list_init(&list);
	while (list.count < rank)
		cj_list_add(al, &list, any);
	return cj_list_unwrap(al, &list);
}

const struct cj_layout *
cj_tiled_copy_thrfrg(struct cj_algebra *al, const struct cj_tiled_copy *copy,
    enum cj_side side, const struct cj_layout *tensor)
{
	const struct cj_layout *l;

	if (cj_layout_rank(tensor) < cj_tuple_rank(copy->tiler))
		return cj_refuse(al, CJ_REFUSED_RANK, NULL,
		    "%s has fewer modes than the tile %s",
		    cj_layout_text(al, tensor),
		    cj_tuple_text(al, copy->tiler));
	l = cj_layout_divide(al, CJ_DIVIDE_ZIPPED, tensor, copy->tiler);
	return l == NULL ? NULL : tile_to_threads(al, copy, side, l);
}

const struct cj_tuple *
cj_tiled_copy_coord(struct cj_algebra *al, uint32_t rank,
    struct cj_int thread)
{
	return pair(al, pair(al, cj_tuple_int(al, thread), cj_tuple_any(al)),
	    repeat_any(al, rank));
}

const struct cj_layout *
cj_tiled_copy_partition(struct cj_algebra *al,
    const struct cj_tiled_copy *copy, enum cj_side side,
    const struct cj_layout *tensor, struct cj_int thread)
{
	const struct cj_layout *l;

	l = cj_tiled_copy_thrfrg(al, copy, side, tensor);
	return l == NULL ? NULL : cj_layout_view(al, l, cj_tiled_copy_coord(al,
	    cj_layout_rank(tensor), thread));
}

const struct cj_layout *
cj_tiled_copy_retile(struct cj_algebra *al, const struct cj_tiled_copy *copy,
    const struct cj_layout *fragment)
{
	const struct cj_layout *frg, *v, *l;
	const struct cj_tuple *values, *at;
	struct cj_int size = size_of_mode(al, fragment, 0);
	struct cj_int threads = size_of_mode(al, copy->tv, 0);

	if (!cj_is_known(size) || !cj_is_known(threads))
		return cj_refuse(al, CJ_REFUSED_SYMBOLIC, NULL,
		    "a fragment has known extents, %s has not",
		    cj_layout_text(al, fragment));
	/* how a mode of the tile is spread over the V's of the fragment */
	frg = with_shape(al, cj_layout_right_inverse(al, copy->tv),
	    tiler_shape(al, copy->tiler));
	frg = frg == NULL ? NULL : cj_layout_cast(al, frg, threads.value
	    * size.value, CJ_CAST_UP);
	if (frg == NULL)
		return NULL;
	values = cj_tuple_int(al, size);
	v = cj_layout_right_inverse(al, frg);
	v = v == NULL ? NULL : cj_layout_product(al, CJ_PRODUCT_LOGICAL,
	    cj_layout_make(al, values, NULL), cj_tuple_layout(al, v));
	v = v == NULL ? NULL : cj_layout_divide(al, CJ_DIVIDE_ZIPPED, v,
	    cj_tuple_layout(al, cj_layout_make(al, cj_tuple_int(al,
	    size_of_mode(al, copy->atom.reference, 1)), NULL)));
	l = cj_layout_divide(al, CJ_DIVIDE_ZIPPED, fragment,
	    cj_tuple_prepend(al, cj_tuple_product_each(al, frg->shape),
	    values));
	if (v == NULL || l == NULL)
		return NULL;
	l = cj_layout_compose_tiler(al, l, pair(al, cj_tuple_layout(al, v),
	    cj_tuple_any(al)));
	at = cj_tuple_known(al, 0);
	while (at != NULL && cj_tuple_rank(at) < cj_layout_rank(fragment))
		at = cj_tuple_append(al, at, cj_tuple_any(al));
	return l == NULL || at == NULL ? NULL : cj_layout_view(al, l, pair(al,
	    cj_tuple_any(al), at));
}
