/*
 * The same bytes as elements of another width.
 *
 * Upcast by n: n neighbours become one element; where strides are multiples
 * of n they shrink, where extents run along neighbours the extents shrink.
 * Downcast by n: the mode of stride 1 grows, all other strides grow.
 */
#include "layout_priv.h"

static const struct cj_layout *
upcast_mode(struct cj_algebra *al, const struct cj_tuple *shape,
    const struct cj_tuple *stride, int64_t n)
{
	struct cj_int d = stride->value, by = cj_known(n), size, step;

	if (stride->kind != CJ_TUPLE_INT)
		return cj_refuse(al, CJ_REFUSED_KIND, NULL,
		    "unit stride %s has no width", cj_tuple_text(al, stride));
	if (cj_is_value(d, 0))
		return cj_layout_of(al, shape, stride);
	if (!cj_is_known(d)) {
		if (!cj_int_divisible(al->sym, d, n))
			return cj_refuse(al, CJ_REFUSED_SYMBOLIC,
			    "A `where` clause can state it.",
			    "stride %s is not known to be a multiple of %lld",
			    cj_int_text(al, d), (long long)n);
		return cj_layout_of(al, shape, cj_tuple_int(al,
		    cj_int_div(al->sym, d, by)));
	}
	size = cj_int_abs(al->sym, d);
	assert(n > 0 && size.value != 0);
	if (size.value % n != 0 && n % size.value != 0)
		return cj_refuse(al, CJ_REFUSED_UPCAST_DIV,
		    "One has to be a multiple of the other.",
		    "stride %s and %lld elements to one",
		    cj_int_text(al, d), (long long)n);
	step = cj_int_ceil_div(al->sym, size, by);
	if (d.value < 0)
		step = cj_int_neg(al->sym, step);
	size = cj_int_ceil_div(al->sym, by, size);
	return cj_layout_of(al, cj_tuple_int(al, cj_int_ceil_div(al->sym,
	    shape->value, size)), cj_tuple_int(al, step));
}

static const struct cj_layout *
downcast_mode(struct cj_algebra *al, const struct cj_tuple *shape,
    const struct cj_tuple *stride, int64_t n)
{
	struct cj_int by = cj_known(n);

	assert(n > 0);
	if (stride->kind != CJ_TUPLE_INT)
		return cj_refuse(al, CJ_REFUSED_KIND, NULL,
		    "unit stride %s has no width", cj_tuple_text(al, stride));
	if (cj_stride_is(stride, 1) || cj_stride_is(stride, -1))
		return cj_layout_of(al, cj_tuple_int(al, cj_int_mul(al->sym,
		    shape->value, by)), stride);
	return cj_layout_of(al, shape, cj_stride_scale(al, stride, by));
}

typedef const struct cj_layout *cast_fn(struct cj_algebra *al,
    const struct cj_tuple *shape, const struct cj_tuple *stride, int64_t n);

static const struct cj_layout *
each_mode(struct cj_algebra *al, const struct cj_tuple *shape,
    const struct cj_tuple *stride, int64_t n, cast_fn *fn)
{
	struct cj_list shapes, strides;
	uint32_t i;

	if (cj_is_leaf(shape))
		return fn(al, shape, stride, n);
	assert(shape->rank == stride->rank && "congruent");
	cj_list_init(&shapes);
	cj_list_init(&strides);
	for (i = 0; i < shape->rank; i++) {
		const struct cj_layout *x = each_mode(al, shape->at[i],
		    stride->at[i], n, fn);

		if (x == NULL)
			return NULL;
		cj_list_add(al, &shapes, x->shape);
		cj_list_add(al, &strides, x->stride);
	}
	return cj_layout_of(al, cj_list_tuple(al, &shapes),
	    cj_list_tuple(al, &strides));
}

static int
log_of(int64_t n)
{
	assert(n > 0 && (n & (n - 1)) == 0);
	return __builtin_ctzll((uint64_t)n);
}

bool
cj_swizzle_recast(struct cj_algebra *al, struct cj_swizzle *s, int64_t n,
    enum cj_cast cast)
{
	if (n < 1 || (n & (n - 1)) != 0) {
		cj_refuse(al, CJ_REFUSED_SWIZZLE, NULL,
		    "a swizzle cannot be recast by %lld, which is not a power"
		    " of two", (long long)n);
		return false;
	}
	if (cast == CJ_CAST_DOWN) {
		s->base += log_of(n);
		return true;
	}
	s->base -= log_of(n);
	if (s->base < 0) {
		s->bits = s->bits + s->base < 0 ? 0 : s->bits + s->base;
		s->base = 0;
	}
	return true;
}

/* The offset of a composed layout in the new width. */
static const struct cj_tuple *
recast_offset(struct cj_algebra *al, const struct cj_tuple *offset, int64_t n,
    enum cj_cast cast)
{
	if (offset == NULL)
		return NULL;
	if (cast == CJ_CAST_DOWN)
		return cj_stride_scale(al, offset, cj_known(n));
	if (offset->kind != CJ_TUPLE_INT
	    || (!cj_is_value(offset->value, 0)
	    && !cj_int_divisible(al->sym, offset->value, n)))
		return cj_refuse(al, CJ_REFUSED_UPCAST_DIV, NULL,
		    "offset %s is not a multiple of %lld",
		    cj_tuple_text(al, offset), (long long)n);
	return cj_tuple_int(al, cj_int_div(al->sym, offset->value,
	    cj_known(n)));
}

static const struct cj_layout *
recast_composed(struct cj_algebra *al, const struct cj_layout *l,
    const struct cj_layout *inner, int64_t n, enum cj_cast cast)
{
	const struct cj_tuple *offset = recast_offset(al, l->offset, n, cast);
	struct cj_swizzle s = l->swizzle;
	struct cj_layout *plain;

	if (inner == NULL || (l->offset != NULL && offset == NULL))
		return NULL;
	if (l->is_composed)
		return cj_swizzle_recast(al, &s, n, cast)
		    ? cj_layout_composed(al, s, offset, inner) : NULL;
	if (offset == NULL)
		return inner;
	plain = CJ_NEW(al->arena, struct cj_layout);
	*plain = *inner;
	plain->offset = offset;
	return plain;
}

/* Modes of stride 1: which of them grows is a question if there are more. */
static uint32_t
unit_modes(const struct cj_tuple *shape, const struct cj_tuple *stride)
{
	uint32_t i, n = 0;

	if (cj_is_leaf(shape))
		return cj_stride_is(stride, 1) || cj_stride_is(stride, -1);
	for (i = 0; i < shape->rank; i++)
		n += unit_modes(shape->at[i], stride->at[i]);
	return n;
}

const struct cj_layout *
cj_layout_cast(struct cj_algebra *al, const struct cj_layout *l, int64_t n,
    enum cj_cast cast)
{
	uint32_t units;

	if (n < 1)
		return cj_refuse(al, CJ_REFUSED_KIND, NULL,
		    "a width of %lld elements", (long long)n);
	if (cast == CJ_CAST_DOWN) {
		units = unit_modes(l->shape, l->stride);
		if (units == 0 || (units > 1 && !al->as_cute))
			return cj_refuse(al, CJ_REFUSED_NOT_CONTIGUOUS,
			    "Exactly one mode has to have a stride of 1.",
			    "%s has %u modes of stride 1",
			    cj_layout_text(al, l), units);
	}
	return cj_checked(al, recast_composed(al, l, each_mode(al, l->shape,
	    l->stride, n, cast == CJ_CAST_UP ? upcast_mode
	    : downcast_mode), n, cast));
}

const struct cj_layout *
cj_layout_recast(struct cj_algebra *al, const struct cj_layout *l,
    int64_t old_bits, int64_t new_bits)
{
	int64_t a = old_bits, b = new_bits;

	if (a < 1 || b < 1)
		return cj_refuse(al, CJ_REFUSED_KIND, NULL,
		    "elements of %lld and %lld bits", (long long)a,
		    (long long)b);
	while (b != 0) {
		int64_t r = a % b;

		a = b;
		b = r;
	}
	if (new_bits / a > 1)
		l = cj_layout_cast(al, l, new_bits / a, CJ_CAST_UP);
	if (l != NULL && old_bits / a > 1)
		l = cj_layout_cast(al, l, old_bits / a, CJ_CAST_DOWN);
	return l;
}
