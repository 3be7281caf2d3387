/*
 * Layouts made after others: fragments, distributions, greatest alignments,
 * thread-value layouts; offsets and masks.
 */
#include "layout_priv.h"

static const struct cj_layout *
mode_left(struct cj_algebra *al, const struct cj_layout *mode)
{
	const struct cj_layout *f = cj_layout_filter_zeros(al, mode);
	struct cj_int next = cj_known(1);

	return cj_layout_of(al, mode->shape, cj_compact_left(al, f->shape,
	    &next));
}

const struct cj_layout *
cj_layout_fragment_like(struct cj_algebra *al, const struct cj_layout *l)
{
	const struct cj_layout *inner = cj_layout_inner(al, l), *rest;

	if (cj_layout_rank(inner) < 2 || !cj_tuple_is_known(inner->shape))
		return cj_layout_make(al, inner->shape, NULL);
	rest = cj_layout_take(al, inner, 1, cj_layout_rank(inner));
	rest = rest == NULL ? NULL : cj_layout_ordered(al, rest->shape,
	    rest->stride);
	if (rest == NULL)
		return NULL;
	return cj_layout_product(al, CJ_PRODUCT_TILED, mode_left(al,
	    cj_layout_get(al, inner, 0)), cj_tuple_layout(al, rest));
}

const struct cj_layout *
cj_layout_domain_distribute(struct cj_algebra *al,
    const struct cj_tuple *shape, int64_t n)
{
	struct cj_int start = cj_known(1);
	struct cj_modes flat, m;
	uint32_t i;

	if (!cj_tuple_is_known(shape) || n < 1)
		return cj_refuse(al, CJ_REFUSED_SYMBOLIC, NULL,
		    "%lld elements of %s: both have to be known and positive",
		    (long long)n, cj_tuple_text(al, shape));
	if (shape->has != 0)
		return cj_refuse(al, CJ_REFUSED_KIND, NULL,
		    "%s is not a shape", cj_tuple_text(al, shape));
	cj_modes_init(&flat);
	cj_modes_init(&m);
	cj_modes_flatten(al, &flat, shape, shape);
	for (i = 0; i < flat.count; i++) {
		int64_t g = cj_gcd(flat.at[i].shape.value, n);

		if (g == 0)
			return cj_refuse(al, CJ_REFUSED_SHAPE_DIV, NULL,
			    "%s has an extent of 0", cj_tuple_text(al,
			    shape));
		cj_modes_add(al, &m, cj_known(g), cj_is_value(
		    flat.at[i].shape, 1) ? cj_tuple_known(al, 0)
		    : cj_tuple_int(al, start));
		start = cj_int_mul(al->sym, start, flat.at[i].shape);
		n /= g;
	}
	cj_coalesce_modes(al, &m);
	return cj_checked(al, cj_modes_layout(al, &m));
}

static int64_t
gcd_of(const struct cj_tuple *t, int64_t g)
{
	uint32_t i;

	assert(t->kind == CJ_TUPLE_INT || t->kind == CJ_TUPLE_TUPLE);
	if (cj_is_leaf(t))
		return cj_gcd(g, t->value.value);
	for (i = 0; i < t->rank; i++)
		g = gcd_of(t->at[i], g);
	return g;
}

/*
 * What is known of the layout, split into its longest contiguous part and the
 * rest: n has to divide the size of the one and the strides of the other.
 */
static bool
plain_alignment(struct cj_algebra *al, const struct cj_layout *l,
    int64_t *out)
{
	const struct cj_layout *inverse, *split;
	struct cj_modes m;
	uint32_t i;

	cj_modes_init(&m);
	cj_modes_flatten(al, &m, l->shape, l->stride);
	cj_coalesce_modes(al, &m);
	for (i = 0; i < m.count; i++) {
		if (m.at[i].stride->kind != CJ_TUPLE_INT) {
			cj_refuse(al, CJ_REFUSED_KIND, NULL,
			    "%s gives coordinates", cj_layout_text(al, l));
			return false;
		}
		if (!cj_is_known(m.at[i].shape))
			m.at[i].shape = cj_known(1);
		if (!cj_is_known(m.at[i].stride->value))
			m.at[i].stride = cj_tuple_known(al, 0);
	}
	l = cj_modes_layout(al, &m);
	inverse = cj_layout_right_inverse(al, l);
	split = inverse == NULL ? NULL : cj_layout_divide(al,
	    CJ_DIVIDE_LOGICAL, l, cj_tuple_layout(al, inverse));
	if (split == NULL)
		return false;
	*out = gcd_of(split->stride->at[1], cj_tuple_product(al,
	    split->shape->at[0]).value);
	return true;
}

bool
cj_layout_max_alignment(struct cj_algebra *al, const struct cj_layout *l,
    int64_t *out)
{
	if (!plain_alignment(al, cj_layout_inner(al, l), out))
		return false;
	if (l->offset != NULL && l->offset->kind == CJ_TUPLE_INT)
		*out = cj_gcd(*out, cj_int_divisor(al->sym, l->offset->value));
	if (l->is_composed)
		*out = cj_gcd(*out, (int64_t)1 << l->swizzle.base);
	return true;
}

const struct cj_layout *
cj_layout_tv(struct cj_algebra *al, const struct cj_layout *threads,
    const struct cj_layout *values, const struct cj_tuple **tiler)
{
	const struct cj_layout *mn = cj_layout_product(al, CJ_PRODUCT_RAKED,
	    threads, cj_tuple_layout(al, values)), *inverse;
	const struct cj_tuple *sizes[2];

	if (mn == NULL)
		return NULL;
	*tiler = cj_tuple_product_each(al, mn->shape);
	sizes[0] = cj_tuple_int(al, cj_layout_size(al, threads));
	sizes[1] = cj_tuple_int(al, cj_layout_size(al, values));
	inverse = cj_layout_right_inverse(al, mn);
	return *tiler == NULL || inverse == NULL ? NULL : cj_layout_compose(
	    al, inverse, cj_layout_make(al, cj_tuple_make(al, sizes, 2),
	    NULL));
}

const struct cj_layout *
cj_layout_domain_offset(struct cj_algebra *al, const struct cj_layout *l,
    const struct cj_tuple *coord)
{
	const struct cj_tuple *by = cj_layout_at(al, cj_layout_inner(al, l),
	    coord);
	struct cj_layout *moved;

	if (by == NULL)
		return NULL;
	moved = CJ_NEW(al->arena, struct cj_layout);
	*moved = *l;
	moved->offset = l->offset == NULL ? by : cj_value_add(al, l->offset,
	    by);
	return moved->offset == NULL ? NULL : cj_checked(al, moved);
}

uint32_t
cj_layout_leading_dim(const struct cj_layout *l)
{
	uint32_t i;

	assert(cj_tuple_congruent(l->shape, l->stride));
	for (i = 0; i < cj_layout_rank(l); i++) {
		const struct cj_tuple *d = cj_tuple_get(l->stride, i);

		while (!cj_is_leaf(d) && d->rank > 0)
			d = d->at[0];
		if (cj_is_leaf(d) && cj_stride_is(d, 1))
			break;
	}
	return i;
}

bool
cj_layout_image_mask(struct cj_algebra *al, const struct cj_layout *l,
    const struct cj_tuple *coord, uint16_t *out)
{
	const struct cj_layout *v = cj_layout_view(al, l, coord);
	struct cj_int n, x;
	int64_t i;

	*out = 0;
	if (v == NULL)
		return false;
	n = cj_layout_size(al, v);
	for (i = 0; cj_is_known(n) && i < n.value; i++) {
		if (!cj_layout_offset(al, v, cj_tuple_known(al, i), &x))
			return false;
		if (!cj_is_known(x) || x.value < 0 || x.value > 15)
			break;
		*out |= (uint16_t)(1u << x.value);
	}
	if (cj_is_known(n) && i == n.value)
		return true;
	cj_refuse(al, CJ_REFUSED_KIND, NULL,
	    "%s has values that are not in 0..15", cj_layout_text(al, v));
	return false;
}
