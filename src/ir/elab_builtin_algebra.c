/*
 * The rest of CuTe's layout functions under its names: modes exchanged and
 * filled up, slices, coordinates, arithmetic of shapes, casts, offsets,
 * thread-value layouts. One macro for each form of arguments.
 */
#include "elab_gather.h"

static struct cj_value
of_tuple(struct cj_elab *el, struct cj_span span, const struct cj_tuple *t,
    const char *name)
{
	if (t == NULL || el->sym.overflow)
		return cj_elab_refused(el, span, name);
	return cj_value_from_tuple(el, t);
}

static struct cj_value
of_truth(struct cj_elab *el, struct cj_span span, enum cj_truth t,
    const char *name)
{
	if (t != CJ_MAYBE)
		return cj_value_bool(t == CJ_YES);
	return cj_elab_error(el, CJ_DIAG_NOT_KNOWN, span,
	    "%s cannot be decided at compile time here", name);
}

#define OPERATION(word)							\
	struct cj_value							\
	cj_builtin_##word(struct cj_elab *el, struct cj_args *args,	\
	    const struct cj_builtin *row)

/* ---- layouts of layouts -------------------------------------------------- */

#define ONE_LAYOUT(word, call)						\
	OPERATION(word)							\
	{								\
		const struct cj_layout *a = cj_arg_layout(el, args, 0);	\
									\
		return a == NULL ? cj_value_error() :			\
		    cj_arg_result(el, args->span, call(&el->al, a),	\
		    row->name);						\
	}
ONE_LAYOUT(make_layout_like, cj_layout_like)
ONE_LAYOUT(make_fragment_like, cj_layout_fragment_like)
ONE_LAYOUT(filter_zeros, cj_layout_filter_zeros)

OPERATION(zip)
{
	const struct cj_layout *a = cj_arg_layout(el, args, 0);
	const struct cj_layout *b = cj_arg_layout(el, args, 1);

	return a == NULL || b == NULL ? cj_value_error() :
	    cj_arg_result(el, args->span, cj_layout_zip(&el->al, a, b),
	    row->name);
}

OPERATION(unflatten)
{
	const struct cj_layout *l = cj_arg_layout(el, args, 0);
	const struct cj_tuple *profile = cj_arg_tuple(el, args, 1);

	return l == NULL || profile == NULL ? cj_value_error() :
	    cj_arg_result(el, args->span, cj_layout_unflatten(&el->al, l,
	    profile), row->name);
}

/* A known number from `least` to `most`; false: reported. */
static bool
number_arg(struct cj_elab *el, struct cj_args *args, uint32_t i,
    const char *what, int64_t least, int64_t most, int64_t *out)
{
	if (!cj_value_to_known(el, args->span, &args->at[i], what, out))
		return false;
	if (*out >= least && *out <= most)
		return true;
	cj_elab_error(el, CJ_DIAG_WRONG_INDEX, args->span,
	    "%s is from %lld to %lld, not %lld", what, (long long)least,
	    (long long)most, (long long)*out);
	return false;
}

/* append_to_rank(L, n [, x]): x is 1:0. */
static struct cj_value
fill_up(struct cj_elab *el, struct cj_args *args, bool in_front,
    const char *name)
{
	const struct cj_layout *l = cj_arg_layout(el, args, 0), *x;
	int64_t n;

	x = args->count == 3 ? cj_arg_layout(el, args, 2) :
	    cj_layout_unit(&el->al);
	if (l == NULL || x == NULL || !number_arg(el, args, 1, "a rank", 1,
	    CJ_MAX_RANK, &n))
		return cj_value_error();
	if (cj_layout_rank(l) > n)
		return cj_elab_error(el, CJ_DIAG_WRONG_SHAPE, args->span,
		    "the rank is %u already", cj_layout_rank(l));
	if (!in_front)
		return cj_arg_result(el, args->span, cj_layout_append_to(
		    &el->al, l, (uint32_t)n, x), name);
	while (l != NULL && cj_layout_rank(l) < n)
		l = cj_layout_prepend(&el->al, l, x);
	return cj_arg_result(el, args->span, l, name);
}

OPERATION(append_to_rank)
{
	return fill_up(el, args, false, row->name);
}

OPERATION(prepend_to_rank)
{
	return fill_up(el, args, true, row->name);
}

OPERATION(replace)
{
	const struct cj_layout *l = cj_arg_layout(el, args, 0);
	const struct cj_layout *x = cj_arg_layout(el, args, 2);
	int64_t mode;

	if (l == NULL || x == NULL || !cj_value_to_known(el, args->span,
	    &args->at[1], "a mode", &mode))
		return cj_value_error();
	if (mode < 0 || mode >= cj_layout_rank(l))
		return cj_elab_error(el, CJ_DIAG_WRONG_INDEX, args->span,
		    "there is no mode %lld, the layout has %u",
		    (long long)mode, cj_layout_rank(l));
	return cj_arg_result(el, args->span, cj_layout_replace(&el->al, l,
	    (uint32_t)mode, x), row->name);
}

static struct cj_value
cast(struct cj_elab *el, struct cj_args *args, enum cj_cast how,
    const char *name)
{
	const struct cj_layout *l = cj_arg_layout(el, args, 0);
	int64_t n;

	if (l == NULL || !number_arg(el, args, 1, "a factor", 1,
	    (int64_t)1 << 32, &n))
		return cj_value_error();
	return cj_arg_result(el, args->span, cj_layout_cast(&el->al, l, n,
	    how), name);
}

OPERATION(upcast)
{
	return cast(el, args, CJ_CAST_UP, row->name);
}

OPERATION(downcast)
{
	return cast(el, args, CJ_CAST_DOWN, row->name);
}

OPERATION(domain_distribute)
{
	const struct cj_tuple *shape = cj_arg_tuple(el, args, 0);
	int64_t n;

	if (shape == NULL || !number_arg(el, args, 1, "a number of elements",
	    1, INT64_MAX, &n))
		return cj_value_error();
	return cj_arg_result(el, args->span, cj_layout_domain_distribute(
	    &el->al, shape, n), row->name);
}

/* (tiler, (thread, value) -> index in the tile) */
OPERATION(make_layout_tv)
{
	const struct cj_layout *threads = cj_arg_layout(el, args, 0), *tv;
	const struct cj_layout *values = cj_arg_layout(el, args, 1);
	const struct cj_tuple *tiler;
	struct cj_value pair[2];

	if (threads == NULL || values == NULL)
		return cj_value_error();
	tv = cj_layout_tv(&el->al, threads, values, &tiler);
	pair[1] = cj_arg_result(el, args->span, tv, row->name);
	if (pair[1].kind == CJ_VALUE_ERROR)
		return pair[1];
	pair[0] = cj_value_from_tuple(el, tiler);
	return cj_value_tuple(el, pair, NULL, 2);
}

/* ---- slices and offsets -------------------------------------------------- */

OPERATION(dice)
{
	const struct cj_tuple *coord = cj_arg_tuple(el, args, 0);
	const struct cj_layout *l = cj_arg_layout(el, args, 1);

	return coord == NULL || l == NULL ? cj_value_error() :
	    cj_arg_result(el, args->span, cj_layout_dice(&el->al, l, coord),
	    row->name);
}

/* The rest as a layout and the offset. */
static struct cj_value
sliced(struct cj_elab *el, struct cj_args *args, struct cj_value out[2],
    const char *name)
{
	const struct cj_tuple *coord = cj_arg_tuple(el, args, 0), *offset;
	const struct cj_layout *l = cj_arg_layout(el, args, 1), *rest;

	if (coord == NULL || l == NULL)
		return cj_value_error();
	if (!cj_layout_slice(&el->al, l, coord, &rest, &offset))
		return cj_elab_refused(el, args->span, name);
	out[0] = cj_value_layout(rest);
	out[1] = cj_value_from_tuple(el, offset);
	return cj_value_tuple(el, out, NULL, 2);
}

OPERATION(slice)
{
	const struct cj_tuple *coord;
	struct cj_value both[2], v;

	if (args->at[1].kind == CJ_VALUE_TENSOR) {
		coord = cj_arg_tuple(el, args, 0);
		return coord == NULL ? cj_value_error() :
		    cj_tensor_slice(el, args->span, args->at[1].tensor,
		    coord);
	}
	v = sliced(el, args, both, row->name);
	return v.kind == CJ_VALUE_ERROR ? v : both[0];
}

OPERATION(slice_and_offset)
{
	struct cj_value both[2];

	return sliced(el, args, both, row->name);
}

OPERATION(domain_offset)
{
	const struct cj_tuple *coord = cj_arg_tuple(el, args, 0);
	const struct cj_layout *l;

	if (coord == NULL)
		return cj_value_error();
	if (args->at[1].kind == CJ_VALUE_TENSOR)
		return cj_tensor_shift(el, args->span, args->at[1].tensor,
		    coord, row->name);
	l = cj_arg_layout(el, args, 1);
	return l == NULL ? cj_value_error() : cj_arg_result(el, args->span,
	    cj_layout_domain_offset(&el->al, l, coord), row->name);
}

/* ---- numbers of layouts -------------------------------------------------- */

OPERATION(max_alignment)
{
	const struct cj_layout *l = cj_arg_layout(el, args, 0);
	int64_t n;

	if (l == NULL)
		return cj_value_error();
	return cj_layout_max_alignment(&el->al, l, &n) ? cj_value_known(n) :
	    cj_elab_refused(el, args->span, row->name);
}

OPERATION(leading_dim)
{
	const struct cj_layout *l = cj_arg_layout(el, args, 0);

	(void)row;
	return l == NULL ? cj_value_error() :
	    cj_value_known(cj_layout_leading_dim(l));
}

OPERATION(make_layout_image_mask)
{
	const struct cj_layout *l = cj_arg_layout(el, args, 0);
	const struct cj_tuple *coord = cj_arg_tuple(el, args, 1);
	uint16_t mask;

	if (l == NULL || coord == NULL)
		return cj_value_error();
	return cj_layout_image_mask(&el->al, l, coord, &mask) ?
	    cj_value_known(mask) : cj_elab_refused(el, args->span, row->name);
}

/* The swizzle's value of a number, which may be known only at run time. */
OPERATION(swizzle_apply)
{
	struct cj_int x;

	if (args->at[0].kind != CJ_VALUE_SWIZZLE)
		return cj_elab_error(el, CJ_DIAG_WRONG_KIND, args->span,
		    "%s takes a swizzle first, this is %s", row->name,
		    cj_value_what(el, &args->at[0]));
	if (!cj_value_to_int(el, args->span, &args->at[1], &x))
		return cj_value_error();
	x = cj_swizzle_apply(&el->al, args->at[0].swizzle, x);
	return el->sym.overflow ? cj_elab_refused(el, args->span, row->name) :
	    cj_value_int(x);
}

/* swizzle_bytes(B, M, S, T): of bytes, as one of elements of type T. */
OPERATION(swizzle_bytes)
{
	struct cj_args three = *args;
	const struct cj_value *type = &args->at[3];
	struct cj_value v;
	int64_t bits;

	three.count = 3;
	v = cj_builtin_swizzle(el, &three, row);
	if (v.kind == CJ_VALUE_ERROR)
		return v;
	if (type->kind != CJ_VALUE_TYPE || type->type->scalar ==
	    CJ_KIND_VOID)
		return cj_elab_error(el, CJ_DIAG_WRONG_KIND, args->span,
		    "swizzle_bytes(B, M, S, T) takes the type of the "
		    "elements, this is %s", cj_value_what(el, type));
	bits = cj_kind_bits(type->type->scalar);
	if (!cj_swizzle_recast(&el->al, &v.swizzle, bits < 8 ? 8 / bits :
	    bits / 8, bits < 8 ? CJ_CAST_DOWN : CJ_CAST_UP))
		return cj_elab_refused(el, args->span, row->name);
	return v;
}

/* ---- coordinates and shapes ---------------------------------------------- */

OPERATION(crd2crd)
{
	const struct cj_tuple *coord = cj_arg_tuple(el, args, 0);
	const struct cj_tuple *from = cj_arg_tuple(el, args, 1);
	const struct cj_tuple *to = cj_arg_tuple(el, args, 2);

	return coord == NULL || from == NULL || to == NULL ?
	    cj_value_error() : of_tuple(el, args->span, cj_crd2crd(&el->al,
	    coord, from, to), row->name);
}

/* The next coordinate in the order of indices; beyond the last one the last
 * mode goes on. */
OPERATION(increment_coord)
{
	const struct cj_tuple *coord = cj_arg_tuple(el, args, 0);
	const struct cj_tuple *shape = cj_arg_tuple(el, args, 1);
	struct cj_int i;

	if (coord == NULL || shape == NULL)
		return cj_value_error();
	if (!cj_crd2idx_shape(&el->al, coord, shape, &i))
		return cj_elab_refused(el, args->span, row->name);
	i = cj_int_add(&el->sym, i, cj_known(1));
	return of_tuple(el, args->span, cj_idx2crd(&el->al, i, shape),
	    row->name);
}

#define TWO_SHAPES(word, call, result)					\
	OPERATION(word)							\
	{								\
		const struct cj_tuple *a = cj_arg_tuple(el, args, 0);	\
		const struct cj_tuple *b = cj_arg_tuple(el, args, 1);	\
									\
		return a == NULL || b == NULL ? cj_value_error() :	\
		    result(el, args->span, call(&el->al, a, b),		\
		    row->name);						\
	}
TWO_SHAPES(shape_div, cj_tuple_shape_div, of_tuple)
TWO_SHAPES(elem_less, cj_tuple_elem_less, of_truth)
TWO_SHAPES(evenly_divides, cj_tuple_evenly_divides, of_truth)

OPERATION(product)
{
	const struct cj_tuple *t = cj_arg_tuple(el, args, 0);

	return t == NULL ? cj_value_error() : of_tuple(el, args->span,
	    cj_tuple_int(&el->al, cj_tuple_product(&el->al, t)), row->name);
}

OPERATION(product_each)
{
	const struct cj_tuple *t = cj_arg_tuple(el, args, 0);

	return t == NULL ? cj_value_error() : of_tuple(el, args->span,
	    cj_tuple_product_each(&el->al, t), row->name);
}

/* The sizes of what stands at the integers of a guide. */
static const struct cj_tuple *
product_like(struct cj_algebra *al, const struct cj_tuple *t,
    const struct cj_tuple *guide)
{
	const struct cj_tuple **at;
	uint32_t i;

	if (cj_is_leaf(guide))
		return cj_tuple_int(al, cj_tuple_product(al, t));
	at = CJ_NEWS(al->arena, const struct cj_tuple *, guide->rank + 1);
	for (i = 0; i < guide->rank; i++)
		at[i] = product_like(al, cj_tuple_get(t, i), guide->at[i]);
	return cj_tuple_make(al, at, guide->rank);
}

OPERATION(product_like)
{
	const struct cj_tuple *t = cj_arg_tuple(el, args, 0);
	const struct cj_tuple *guide = cj_arg_tuple(el, args, 1);

	if (t == NULL || guide == NULL)
		return cj_value_error();
	if (!cj_tuple_weakly_congruent(guide, t))
		return cj_elab_error(el, CJ_DIAG_WRONG_SHAPE, args->span,
		    "the guide has other modes than the tuple");
	return of_tuple(el, args->span, product_like(&el->al, t, guide),
	    row->name);
}
