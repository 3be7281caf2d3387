/*
 * Coordinates and values: crd2idx, idx2crd, the value of a layout, slices.
 *
 * Values of layouts with unit strides are coordinates: tuples as deep as the
 * longest path; missing components are 0.
 */
#include "layout_priv.h"

/* ---- strides and values ------------------------------------------------ */

const struct cj_tuple *
cj_stride_scale(struct cj_algebra *al, const struct cj_tuple *stride,
    struct cj_int by)
{
	struct cj_int value;

	assert(stride->kind == CJ_TUPLE_INT || stride->kind == CJ_TUPLE_BASIS);
	if (cj_is_value(by, 1))
		return stride;
	value = cj_int_mul(al->sym, stride->value, by);
	if (stride->kind == CJ_TUPLE_INT)
		return cj_tuple_int(al, value);
	return cj_tuple_basis(al, value, stride->path, stride->path_length);
}

bool
cj_stride_is(const struct cj_tuple *stride, int64_t value)
{
	return stride->kind == CJ_TUPLE_INT
	    && cj_is_value(stride->value, value);
}

bool
cj_stride_same(const struct cj_tuple *a, const struct cj_tuple *b)
{
	return a->kind == b->kind && cj_int_same(a->value, b->value)
	    && a->path_length == b->path_length
	    && memcmp(a->path, b->path, a->path_length) == 0;
}

/* value * 1@path as the coordinate it is: ((0, value)) for path { 0, 1 }. */
static const struct cj_tuple *
basis_coord(struct cj_algebra *al, const struct cj_tuple *b)
{
	const struct cj_tuple *t = cj_tuple_int(al, b->value);
	unsigned i;

	assert(b->kind == CJ_TUPLE_BASIS);
	for (i = b->path_length; i-- > 0 && t != NULL;) {
		struct cj_list list;
		unsigned j;

		cj_list_init(&list);
		for (j = 0; j < b->path[i]; j++)
			cj_list_add(al, &list, cj_tuple_known(al, 0));
		cj_list_add(al, &list, t);
		t = cj_list_tuple(al, &list);
	}
	return t;
}

const struct cj_tuple *
cj_value_add(struct cj_algebra *al, const struct cj_tuple *a,
    const struct cj_tuple *b)
{
	struct cj_list list;
	uint32_t i;

	if (a == NULL || b == NULL)
		return NULL;
	if (a->kind == CJ_TUPLE_BASIS)
		a = basis_coord(al, a);
	if (b->kind == CJ_TUPLE_BASIS)
		b = basis_coord(al, b);
	if (a == NULL || b == NULL)
		return NULL;
	if (cj_stride_is(a, 0))
		return b;
	if (cj_stride_is(b, 0))
		return a;
	if (a->kind == CJ_TUPLE_INT && b->kind == CJ_TUPLE_INT)
		return cj_tuple_int(al, cj_int_add(al->sym, a->value,
		    b->value));
	if (a->kind != CJ_TUPLE_TUPLE || b->kind != CJ_TUPLE_TUPLE)
		return cj_refuse(al, CJ_REFUSED_KIND, NULL,
		    "%s and %s do not add up: a number and a coordinate",
		    cj_tuple_text(al, a), cj_tuple_text(al, b));
	cj_list_init(&list);
	for (i = 0; i < a->rank || i < b->rank; i++) {
		const struct cj_tuple *x = i >= b->rank ? a->at[i]
		    : i >= a->rank ? b->at[i]
		    : cj_value_add(al, a->at[i], b->at[i]);

		if (x == NULL)
			return NULL;
		cj_list_add(al, &list, x);
	}
	return cj_list_tuple(al, &list);
}

/* ---- coordinate to value ----------------------------------------------- */

static bool
ranks_differ(struct cj_algebra *al, const struct cj_tuple *coord,
    const struct cj_tuple *shape)
{
	cj_refuse(al, CJ_REFUSED_RANK,
	    "A coordinate is an index, or a tuple with one member for each"
	    " mode.", "coordinate %s does not fit shape %s",
	    cj_tuple_text(al, coord), cj_tuple_text(al, shape));
	return false;
}

/* Add to *sum; `index` runs colexicographically over the shape. */
static void
add_index(struct cj_algebra *al, struct cj_int index,
    const struct cj_tuple *shape, const struct cj_tuple *stride,
    struct cj_int *sum)
{
	uint32_t i;

	assert(cj_is_leaf(shape) == cj_is_leaf(stride));
	if (cj_is_value(index, 0))
		return;
	if (cj_is_leaf(shape)) {
		*sum = cj_int_add(al->sym, *sum, cj_int_mul(al->sym, index,
		    stride->value));
		return;
	}
	for (i = 0; i + 1 < shape->rank; i++) {
		struct cj_int size = cj_tuple_product(al, shape->at[i]);

		add_index(al, cj_int_mod(al->sym, index, size),
		    shape->at[i], stride->at[i], sum);
		index = cj_int_div(al->sym, index, size);
	}
	if (shape->rank > 0)
		add_index(al, index, shape->at[i], stride->at[i], sum);
}

/* `_` counts as 0, which is what the offset of a slice needs. */
static bool
add_coord(struct cj_algebra *al, const struct cj_tuple *coord,
    const struct cj_tuple *shape, const struct cj_tuple *stride,
    struct cj_int *sum)
{
	uint32_t i;

	if (coord->kind == CJ_TUPLE_ANY)
		return true;
	if (coord->kind == CJ_TUPLE_INT) {
		add_index(al, coord->value, shape, stride, sum);
		return true;
	}
	if (coord->kind != CJ_TUPLE_TUPLE || cj_is_leaf(shape)
	    || coord->rank != shape->rank)
		return ranks_differ(al, coord, shape);
	for (i = 0; i < coord->rank; i++) {
		if (!add_coord(al, coord->at[i], shape->at[i], stride->at[i],
		    sum))
			return false;
	}
	return true;
}

bool
cj_crd2idx(struct cj_algebra *al, const struct cj_tuple *coord,
    const struct cj_tuple *shape, const struct cj_tuple *stride,
    struct cj_int *out)
{
	*out = cj_known(0);
	if (!cj_tuple_congruent(shape, stride)) {
		cj_refuse(al, CJ_REFUSED_KIND, "A stride has the nesting of "
		    "its shape.", "shape %s and stride %s have different "
		    "profiles", cj_tuple_text(al, shape),
		    cj_tuple_text(al, stride));
		return false;
	}
	if ((stride->has & CJ_HAS_BASIS) != 0) {
		cj_refuse(al, CJ_REFUSED_KIND, NULL,
		    "strides %s give a coordinate, not a number",
		    cj_tuple_text(al, stride));
		return false;
	}
	return add_coord(al, coord, shape, stride, out)
	    && cj_checked(al, coord) != NULL;
}

/* The same where strides may be unit strides. */
static const struct cj_tuple *
basis_index(struct cj_algebra *al, struct cj_int index,
    const struct cj_tuple *shape, const struct cj_tuple *stride)
{
	const struct cj_tuple *sum = cj_tuple_known(al, 0);
	uint32_t i;

	assert(cj_is_leaf(shape) == cj_is_leaf(stride));
	if (cj_is_leaf(shape))
		return cj_stride_scale(al, stride, index);
	for (i = 0; i < shape->rank && sum != NULL; i++) {
		struct cj_int size = cj_tuple_product(al, shape->at[i]);
		struct cj_int part = i + 1 == shape->rank ? index
		    : cj_int_mod(al->sym, index, size);

		sum = cj_value_add(al, sum, basis_index(al, part,
		    shape->at[i], stride->at[i]));
		index = cj_int_div(al->sym, index, size);
	}
	return sum;
}

static const struct cj_tuple *
basis_coordinate(struct cj_algebra *al, const struct cj_tuple *coord,
    const struct cj_tuple *shape, const struct cj_tuple *stride)
{
	const struct cj_tuple *sum = cj_tuple_known(al, 0);
	uint32_t i;

	if (coord->kind == CJ_TUPLE_ANY)
		return basis_index(al, cj_known(0), shape, stride);
	if (coord->kind == CJ_TUPLE_INT)
		return basis_index(al, coord->value, shape, stride);
	if (coord->kind != CJ_TUPLE_TUPLE || cj_is_leaf(shape)
	    || coord->rank != shape->rank) {
		ranks_differ(al, coord, shape);
		return NULL;
	}
	for (i = 0; i < coord->rank && sum != NULL; i++)
		sum = cj_value_add(al, sum, basis_coordinate(al,
		    coord->at[i], shape->at[i], stride->at[i]));
	return sum;
}

static bool
has_any(struct cj_algebra *al, const struct cj_tuple *coord)
{
	if ((coord->has & (CJ_HAS_ANY | CJ_HAS_BASIS | CJ_HAS_LAYOUT)) == 0)
		return false;
	cj_refuse(al, CJ_REFUSED_KIND, (coord->has & CJ_HAS_LAYOUT) != 0 ?
	    "a:b is a layout; the elements from a to b - 1 are x[a..b]." :
	    NULL, "%s is not a whole coordinate", cj_tuple_text(al, coord));
	return true;
}

const struct cj_tuple *
cj_layout_at(struct cj_algebra *al, const struct cj_layout *l,
    const struct cj_tuple *coord)
{
	const struct cj_tuple *v;
	struct cj_int i;

	if ((l->stride->has & CJ_HAS_BASIS) == 0
	    && (l->offset == NULL || l->offset->kind == CJ_TUPLE_INT))
		return cj_layout_offset(al, l, coord, &i)
		    ? cj_tuple_int(al, i) : NULL;
	if (has_any(al, coord))
		return NULL;
	v = basis_coordinate(al, coord, l->shape, l->stride);
	if (v != NULL && v->kind == CJ_TUPLE_BASIS)
		v = cj_value_add(al, cj_tuple_known(al, 0), v);
	if (l->offset != NULL)
		v = cj_value_add(al, l->offset, v);
	return cj_checked(al, v);
}

bool
cj_layout_offset(struct cj_algebra *al, const struct cj_layout *l,
    const struct cj_tuple *coord, struct cj_int *out)
{
	if (has_any(al, coord)
	    || !cj_crd2idx(al, coord, l->shape, l->stride, out))
		return false;
	if (l->offset != NULL) {
		if (l->offset->kind != CJ_TUPLE_INT) {
			cj_refuse(al, CJ_REFUSED_KIND, NULL,
			    "%s gives a coordinate, not a number",
			    cj_layout_text(al, l));
			return false;
		}
		*out = cj_int_add(al->sym, *out, l->offset->value);
	}
	if (l->is_composed)
		*out = cj_swizzle_apply(al, l->swizzle, *out);
	return cj_checked(al, coord) != NULL;
}

/* ---- all at once -------------------------------------------------------- */

/* Behind the first `n` numbers the same, once for each further coordinate;
 * false also where one does not fit. */
static bool
list_mode(const struct cj_tuple *shape, const struct cj_tuple *stride,
    int64_t *out, size_t *n, size_t room)
{
	size_t count = *n, i;
	int64_t k, step, *to = out + count;

	if (!cj_is_leaf(shape)) {
		for (i = 0; i < shape->rank; i++)
			if (!list_mode(shape->at[i], stride->at[i], out, n,
			    room))
				return false;
		return true;
	}
	if (shape->kind != CJ_TUPLE_INT || stride->kind != CJ_TUPLE_INT
	    || !cj_is_known(shape->value) || !cj_is_known(stride->value)
	    || shape->value.value < 0
	    || (uint64_t)shape->value.value > room / (count + (count == 0)))
		return false;
	*n = count * (size_t)shape->value.value;
	for (k = 1; k < shape->value.value; k++) {
		if (__builtin_mul_overflow(k, stride->value.value, &step))
			return false;
		for (i = 0; i < count; i++)
			if (__builtin_add_overflow(out[i], step, to++))
				return false;
	}
	return true;
}

bool
cj_layout_list(struct cj_algebra *al, const struct cj_layout *l,
    int64_t *out, size_t count)
{
	struct cj_int first = cj_known(0), at;
	size_t n = 1, i;

	if (l->offset != NULL && l->offset->kind == CJ_TUPLE_INT)
		first = l->offset->value;
	else if (l->offset != NULL)
		return false;
	if (count == 0 || !cj_is_known(first))
		return count == 0;
	out[0] = first.value;
	if (!list_mode(l->shape, l->stride, out, &n, count) || n != count)
		return false;
	for (i = 0; l->is_composed && i < count; i++) {
		at = cj_swizzle_apply(al, l->swizzle, cj_known(out[i]));
		if (!cj_is_known(at))
			return false;
		out[i] = at.value;
	}
	return true;
}

/* ---- index to coordinate ----------------------------------------------- */

static const struct cj_tuple *
split_index(struct cj_algebra *al, struct cj_int index,
    const struct cj_tuple *shape)
{
	struct cj_list list;
	uint32_t i;

	if (cj_is_leaf(shape))
		return cj_tuple_int(al, index);
	cj_list_init(&list);
	for (i = 0; i < shape->rank; i++) {
		struct cj_int size = cj_tuple_product(al, shape->at[i]);
		struct cj_int part = i + 1 == shape->rank ? index
		    : cj_int_mod(al->sym, index, size);

		cj_list_add(al, &list, split_index(al, part, shape->at[i]));
		if (i + 1 < shape->rank)
			index = cj_int_div(al->sym, index, size);
	}
	return cj_list_tuple(al, &list);
}

const struct cj_tuple *
cj_idx2crd(struct cj_algebra *al, struct cj_int index,
    const struct cj_tuple *shape)
{
	return cj_checked(al, split_index(al, index, shape));
}

const struct cj_tuple *
cj_idx2crd_stride(struct cj_algebra *al, const struct cj_tuple *index,
    const struct cj_tuple *shape, const struct cj_tuple *stride)
{
	struct cj_list list;
	uint32_t i;

	if (cj_is_leaf(shape)) {
		if (index->kind != CJ_TUPLE_INT || stride->kind != CJ_TUPLE_INT)
			return ranks_differ(al, index, shape), NULL;
		return cj_is_value(shape->value, 1) ? cj_tuple_known(al, 0)
		    : cj_tuple_int(al, cj_int_mod(al->sym, cj_int_div(al->sym,
		    index->value, stride->value), shape->value));
	}
	if (cj_is_leaf(stride)) {
		struct cj_int next = stride->value;

		stride = cj_compact_left(al, shape, &next);
	}
	if (stride->rank != shape->rank
	    || (!cj_is_leaf(index) && index->rank != shape->rank))
		return ranks_differ(al, index, shape), NULL;
	cj_list_init(&list);
	for (i = 0; i < shape->rank; i++) {
		const struct cj_tuple *x = cj_idx2crd_stride(al,
		    cj_is_leaf(index) ? index : index->at[i], shape->at[i],
		    stride->at[i]);

		if (x == NULL)
			return NULL;
		cj_list_add(al, &list, x);
	}
	return cj_checked(al, cj_list_tuple(al, &list));
}

/* Horner's scheme, from the last mode on; the extents multiply up. */
static bool
colex(struct cj_algebra *al, const struct cj_tuple *coord,
    const struct cj_tuple *shape, struct cj_int *scale, struct cj_int *sum)
{
	uint32_t i;

	if (cj_is_leaf(coord)) {
		if (coord->kind != CJ_TUPLE_INT)
			return ranks_differ(al, coord, shape);
		*sum = cj_int_add(al->sym, *sum, cj_int_mul(al->sym, *scale,
		    coord->value));
		*scale = cj_int_mul(al->sym, *scale,
		    cj_tuple_product(al, shape));
		return true;
	}
	if (cj_is_leaf(shape) || coord->rank != shape->rank)
		return ranks_differ(al, coord, shape);
	for (i = 0; i < coord->rank; i++) {
		if (!colex(al, coord->at[i], shape->at[i], scale, sum))
			return false;
	}
	return true;
}

bool
cj_crd2idx_shape(struct cj_algebra *al, const struct cj_tuple *coord,
    const struct cj_tuple *shape, struct cj_int *out)
{
	struct cj_int scale = cj_known(1);

	*out = cj_known(0);
	return colex(al, coord, shape, &scale, out)
	    && cj_checked(al, coord) != NULL;
}

const struct cj_tuple *
cj_crd2crd(struct cj_algebra *al, const struct cj_tuple *coord,
    const struct cj_tuple *from, const struct cj_tuple *to)
{
	struct cj_list list;
	struct cj_int index;
	uint32_t i;

	if (cj_is_leaf(coord) || cj_is_leaf(from) || cj_is_leaf(to))
		return cj_crd2idx_shape(al, coord, from, &index)
		    ? cj_idx2crd(al, index, to) : NULL;
	if (coord->rank != from->rank || coord->rank != to->rank)
		return ranks_differ(al, coord, coord->rank != from->rank ? from
		    : to), NULL;
	cj_list_init(&list);
	for (i = 0; i < coord->rank; i++) {
		const struct cj_tuple *x = cj_crd2crd(al, coord->at[i],
		    from->at[i], to->at[i]);

		if (x == NULL)
			return NULL;
		cj_list_add(al, &list, x);
	}
	return cj_list_tuple(al, &list);
}

/* ---- slices ------------------------------------------------------------ */

bool
cj_layout_slice(struct cj_algebra *al, const struct cj_layout *l,
    const struct cj_tuple *coord, const struct cj_layout **rest,
    const struct cj_tuple **offset)
{
	const struct cj_tuple *shape, *stride, *fixed;
	struct cj_layout *moved;
	struct cj_int sum;

	shape = cj_tuple_slice(al, coord, l->shape, CJ_KEEP_ANY);
	if (shape == NULL)
		return false;
	stride = cj_tuple_slice(al, coord, l->stride, CJ_KEEP_ANY);
	if ((l->stride->has & CJ_HAS_BASIS) != 0)
		fixed = basis_coordinate(al, coord, l->shape, l->stride);
	else
		fixed = cj_crd2idx(al, coord, l->shape, l->stride, &sum)
		    ? cj_tuple_int(al, sum) : NULL;
	*rest = cj_layout_of(al, shape, stride);
	if (fixed != NULL && fixed->kind == CJ_TUPLE_BASIS)
		fixed = cj_value_add(al, cj_tuple_known(al, 0), fixed);
	*offset = fixed;
	if (*rest == NULL || fixed == NULL || cj_checked(al, fixed) == NULL)
		return false;
	if (!l->is_composed && l->offset == NULL)
		return true;
	assert(shape->leaves == stride->leaves);
	moved = CJ_NEW(al->arena, struct cj_layout);
	*moved = *l;
	moved->shape = shape;
	moved->stride = stride;
	moved->offset = l->offset == NULL ? fixed
	    : cj_value_add(al, l->offset, fixed);
	*rest = moved;
	*offset = cj_tuple_known(al, 0);
	return moved->offset != NULL && cj_checked(al, moved) != NULL;
}

const struct cj_layout *
cj_layout_dice(struct cj_algebra *al, const struct cj_layout *l,
    const struct cj_tuple *coord)
{
	const struct cj_tuple *shape = cj_tuple_slice(al, coord, l->shape,
	    CJ_KEEP_REST);

	if (shape == NULL)
		return NULL;
	return cj_layout_around(al, l, cj_layout_of(al, shape,
	    cj_tuple_slice(al, coord, l->stride, CJ_KEEP_REST)));
}
