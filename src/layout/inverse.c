/*
 * Inverses and nullspace.
 *
 * right_inverse: L(R(i)) = i for all i < size(R), as large as the modes of L
 * with strides 1, s, s*t, ... reach. left_inverse: R(L(i)) = i where L is
 * injective. Both sort the modes of the coalesced layout by stride.
 */
#include "layout_priv.h"

/* A mode, and the index in the domain at which it starts. */
struct sorted {
	struct cj_mode mode;
	struct cj_int start;
};

/* Exchange sort, as CuTe sorts, so that equal strides end in its order. */
static void
sort_by_stride(struct sorted *at, uint32_t count)
{
	uint32_t i, j;

	for (i = 0; i < count; i++) {
		for (j = i + 1; j < count; j++) {
			struct sorted swap = at[i];

			if (at[j].mode.stride->value.value
			    >= at[i].mode.stride->value.value)
				continue;
			at[i] = at[j];
			at[j] = swap;
		}
	}
}

/* The modes with known strides, sorted, of the coalesced layout. */
static uint32_t
sorted_modes(struct cj_algebra *al, const struct cj_layout *l,
    struct sorted **out)
{
	struct cj_int start = cj_known(1);
	struct cj_modes m;
	uint32_t i, count = 0;

	cj_modes_init(&m);
	cj_modes_flatten(al, &m, l->shape, l->stride);
	if (m.count == 0)
		cj_modes_add(al, &m, cj_known(1), cj_tuple_known(al, 0));
	cj_coalesce_modes(al, &m);
	assert(m.count > 0);
	*out = CJ_NEWS(al->arena, struct sorted, m.count);
	for (i = 0; i < m.count; i++) {
		if (m.at[i].stride->kind == CJ_TUPLE_INT
		    && cj_is_known(m.at[i].stride->value))
			(*out)[count++] = (struct sorted){ m.at[i], start };
		start = cj_int_mul(al->sym, start, m.at[i].shape);
	}
	sort_by_stride(*out, count);
	return count;
}

static bool
numbers_only(struct cj_algebra *al, const struct cj_layout *l)
{
	if ((l->stride->has & CJ_HAS_BASIS) == 0)
		return true;
	cj_refuse(al, CJ_REFUSED_KIND, NULL,
	    "%s gives coordinates; an inverse is of numbers",
	    cj_layout_text(al, l));
	return false;
}

/* Sw is its own inverse, so (Sw o L)^-1 = L^-1 o Sw, which has to be a
 * swizzle after L^-1. */
static const struct cj_layout *
with_swizzle(struct cj_algebra *al, const struct cj_layout *l,
    const struct cj_layout *inverse)
{
	if (inverse == NULL || !l->is_composed)
		return inverse;
	if (l->offset != NULL && !cj_stride_is(l->offset, 0))
		return cj_refuse(al, CJ_REFUSED_SWIZZLE, NULL,
		    "%s has an offset before its swizzle",
		    cj_layout_text(al, l));
	return cj_layout_compose_swizzle(al, inverse, l->swizzle);
}

static const struct cj_layout *
right_inverse(struct cj_algebra *al, const struct cj_layout *l)
{
	struct cj_int next = cj_known(1);
	struct sorted *at;
	struct cj_modes r;
	uint32_t i, count = sorted_modes(al, l, &at);

	cj_modes_init(&r);
	cj_modes_add(al, &r, cj_known(1), cj_tuple_known(al, 0));
	for (i = 0; i < count; i++) {
		if (!cj_int_same(at[i].mode.stride->value, next))
			continue;
		cj_modes_add(al, &r, at[i].mode.shape, cj_tuple_int(al,
		    at[i].start));
		next = cj_int_mul(al->sym, at[i].mode.shape,
		    at[i].mode.stride->value);
	}
	cj_coalesce_modes(al, &r);
	return cj_modes_layout(al, &r);
}

const struct cj_layout *
cj_layout_right_inverse(struct cj_algebra *al, const struct cj_layout *l)
{
	if (!numbers_only(al, l))
		return NULL;
	return cj_checked(al, with_swizzle(al, l, right_inverse(al,
	    cj_layout_inner(al, l))));
}

/*
 * R(L(i)) gives, of a value, the digits of the strides in descending order.
 * Where modes overlap, a digit can be larger than its mode: then it would run
 * into the next modes of the domain, if there are any.
 */
static bool
digits_fit(struct cj_algebra *al, const struct sorted *at, uint32_t count,
    struct cj_int size)
{
	int64_t reach = 0, most, part;
	uint32_t i;

	for (i = 0; i < count; i++) {
		struct cj_int s = at[i].mode.shape;
		int64_t d = at[i].mode.stride->value.value;

		assert(i == 0 || d >= at[i - 1].mode.stride->value.value);
		if (d == 0)
			continue;
		if (!cj_is_known(s) || __builtin_mul_overflow(s.value - 1, d,
		    &part) || __builtin_add_overflow(reach, part, &reach))
			return false;
		most = reach / d;
		if (i + 1 < count) {
			int64_t next = at[i + 1].mode.stride->value.value / d;

			most = next - 1 < most ? next - 1 : most;
		}
		if (most > s.value - 1 && !(i + 1 == count
		    && cj_int_same(cj_int_mul(al->sym, at[i].start, s), size)))
			return false;
	}
	return true;
}

static const struct cj_layout *
left_inverse(struct cj_algebra *al, const struct cj_layout *l)
{
	struct cj_int size = cj_known(1), last = cj_known(1);
	struct cj_modes r;
	struct sorted *at;
	uint32_t i, count = sorted_modes(al, l, &at);

	cj_modes_init(&r);
	cj_modes_add(al, &r, cj_known(1), cj_tuple_known(al, 0));
	for (i = 0; i < count; i++) {
		struct cj_int stride = at[i].mode.stride->value, gap;

		last = at[i].mode.shape;
		if (cj_is_value(stride, 0))
			continue;
		gap = cj_int_div(al->sym, stride, size);
		if (stride.value < 0 || !cj_is_known(gap)
		    || !cj_int_same(cj_int_mul(al->sym, gap, size), stride))
			return cj_refuse(al, CJ_REFUSED_LEFT_INVERSE_DIV,
			    "In ascending order, each stride has to be a"
			    " multiple of the stride before it.",
			    "stride %s is not a multiple of %s",
			    cj_int_text(al, stride), cj_int_text(al, size));
		r.at[r.count - 1].shape = gap;
		cj_modes_add(al, &r, at[i].mode.shape, cj_tuple_int(al,
		    at[i].start));
		size = cj_int_mul(al->sym, size, gap);
	}
	r.at[r.count - 1].shape = last;
	if (!al->as_cute && !digits_fit(al, at, count, cj_layout_size(al, l)))
		return cj_refuse(al, CJ_REFUSED_NONINJECTIVE, NULL,
		    "%s is not injective, and has no left inverse either",
		    cj_layout_text(al, l));
	cj_coalesce_modes(al, &r);
	return cj_modes_layout(al, &r);
}

const struct cj_layout *
cj_layout_left_inverse(struct cj_algebra *al, const struct cj_layout *l)
{
	if (!numbers_only(al, l))
		return NULL;
	if (!cj_tuple_is_known(l->stride))
		return cj_refuse(al, CJ_REFUSED_SYMBOLIC, NULL,
		    "a left inverse needs known strides, %s has not",
		    cj_layout_text(al, l));
	return cj_checked(al, with_swizzle(al, l, left_inverse(al,
	    cj_layout_inner(al, l))));
}

const struct cj_layout *
cj_layout_nullspace(struct cj_algebra *al, const struct cj_layout *l)
{
	struct cj_int next = cj_known(1);
	struct cj_modes m, zero;
	uint32_t i;

	cj_modes_init(&m);
	cj_modes_init(&zero);
	cj_modes_flatten(al, &m, l->shape, l->stride);
	for (i = 0; i < m.count; i++) {
		if (cj_stride_is(m.at[i].stride, 0))
			cj_modes_add(al, &zero, m.at[i].shape,
			    cj_is_value(m.at[i].shape, 1)
			    ? cj_tuple_known(al, 0)
			    : cj_tuple_int(al, next));
		next = cj_int_mul(al->sym, next, m.at[i].shape);
	}
	return cj_checked(al, cj_modes_layout(al, &zero));
}

/* ---- common parts ------------------------------------------------------ */

/* a o b^-1, coalesced: its first mode n:1 says where both are the same. */
static const struct cj_layout *
common(struct cj_algebra *al, const struct cj_layout *a,
    const struct cj_layout *b, const struct cj_layout **inverse)
{
	const struct cj_layout *c;

	*inverse = cj_layout_right_inverse(al, b);
	if (*inverse == NULL)
		return NULL;
	c = cj_layout_compose(al, a, *inverse);
	return c == NULL ? NULL : cj_layout_coalesce(al, c, NULL);
}

static struct cj_int
vector_of(const struct cj_layout *c)
{
	const struct cj_tuple *shape, *stride;

	if (c == NULL)
		return cj_known(1);
	shape = cj_tuple_get(c->shape, 0);
	stride = cj_tuple_get(c->stride, 0);
	if (shape == NULL || !cj_is_leaf(shape) || !cj_is_known(shape->value)
	    || !cj_stride_is(stride, 1))
		return cj_known(1);
	return shape->value;
}

static bool
same_swizzle(const struct cj_layout *a, const struct cj_layout *b)
{
	return a->swizzle.bits == b->swizzle.bits
	    && a->swizzle.base == b->swizzle.base
	    && a->swizzle.shift == b->swizzle.shift;
}

/* A swizzle keeps 2^base neighbours together. */
static struct cj_int
cap_by(struct cj_algebra *al, struct cj_int n, const struct cj_layout *l)
{
	if (!l->is_composed)
		return n;
	return cj_int_min(al->sym, n, cj_known((int64_t)1
	    << l->swizzle.base));
}

struct cj_int
cj_layout_max_common_vector(struct cj_algebra *al, const struct cj_layout *a,
    const struct cj_layout *b)
{
	const struct cj_layout *inverse;
	struct cj_int n;

	if ((a->stride->has & CJ_HAS_BASIS) != 0
	    || (b->stride->has & CJ_HAS_BASIS) != 0)
		return cj_known(1);
	if (!a->is_composed && b->is_composed)
		return cj_layout_max_common_vector(al, b, a);
	n = vector_of(common(al, cj_layout_inner(al, a),
	    cj_layout_inner(al, b), &inverse));
	if (a->is_composed && b->is_composed && same_swizzle(a, b))
		return n;
	return cap_by(al, cap_by(al, n, a), b);
}

const struct cj_layout *
cj_layout_max_common_layout(struct cj_algebra *al, const struct cj_layout *a,
    const struct cj_layout *b)
{
	const struct cj_layout *inverse, *c;
	struct cj_int n;

	if (!a->is_composed && b->is_composed)
		return cj_layout_max_common_layout(al, b, a);
	c = common(al, cj_layout_inner(al, a), cj_layout_inner(al, b),
	    &inverse);
	if (c == NULL)
		return NULL;
	n = vector_of(c);
	if (cj_is_value(n, 1))
		return cj_layout_unit(al);
	n = cap_by(al, cap_by(al, n, a), b);
	return cj_layout_compose(al, inverse, cj_layout_of(al,
	    cj_tuple_int(al, n), cj_tuple_known(al, 1)));
}
