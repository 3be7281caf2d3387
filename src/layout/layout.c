/*
 * Layouts: making them, looking at them, and changing their modes.
 *
 * A composed layout (swizzle, offset, inner layout) keeps its swizzle and
 * offset under every operation on modes; only the inner layout changes.
 */
#include "layout_priv.h"

/* ---- lists of modes ---------------------------------------------------- */

void
cj_modes_init(struct cj_modes *m)
{
	m->at = m->small;
	m->count = 0;
	m->cap = CJ_LENGTH(m->small);
}

void
cj_modes_add(struct cj_algebra *al, struct cj_modes *m, struct cj_int shape,
    const struct cj_tuple *stride)
{
	assert(stride->kind == CJ_TUPLE_INT || stride->kind == CJ_TUPLE_BASIS);
	assert(m->count <= m->cap);
	if (m->count == m->cap) {
		m->at = cj_regrow(al->arena, m->at, m->cap * sizeof *m->at,
		    m->cap * 2 * sizeof *m->at);
		m->cap *= 2;
	}
	m->at[m->count++] = (struct cj_mode){ shape, stride };
}

void
cj_modes_flatten(struct cj_algebra *al, struct cj_modes *m,
    const struct cj_tuple *shape, const struct cj_tuple *stride)
{
	uint32_t i;

	assert(cj_is_leaf(shape) == cj_is_leaf(stride));
	if (cj_is_leaf(shape)) {
		cj_modes_add(al, m, shape->value, stride);
		return;
	}
	for (i = 0; i < shape->rank; i++)
		cj_modes_flatten(al, m, shape->at[i], stride->at[i]);
}

const struct cj_layout *
cj_modes_layout(struct cj_algebra *al, const struct cj_modes *m)
{
	struct cj_list shape, stride;
	uint32_t i;

	if (m->count == 0)
		return cj_layout_of(al, cj_tuple_known(al, 1),
		    cj_tuple_known(al, 0));
	cj_list_init(&shape);
	cj_list_init(&stride);
	for (i = 0; i < m->count; i++) {
		cj_list_add(al, &shape, cj_tuple_int(al, m->at[i].shape));
		cj_list_add(al, &stride, m->at[i].stride);
	}
	return cj_layout_of(al, cj_list_unwrap(al, &shape),
	    cj_list_unwrap(al, &stride));
}

/* ---- making ------------------------------------------------------------ */

const struct cj_layout *
cj_layout_of(struct cj_algebra *al, const struct cj_tuple *shape,
    const struct cj_tuple *stride)
{
	struct cj_layout *l;

	if (shape == NULL || stride == NULL)
		return NULL;
	assert(shape->leaves == stride->leaves);
	l = CJ_NEW(al->arena, struct cj_layout);
	l->shape = shape;
	l->stride = stride;
	return l;
}

const struct cj_layout *
cj_layout_around(struct cj_algebra *al, const struct cj_layout *outer,
    const struct cj_layout *inner)
{
	struct cj_layout *l;

	if (inner == NULL || (!outer->is_composed && outer->offset == NULL))
		return inner;
	assert(!inner->is_composed);
	l = CJ_NEW(al->arena, struct cj_layout);
	*l = *inner;
	l->swizzle = outer->swizzle;
	l->offset = outer->offset;
	l->is_composed = outer->is_composed;
	return l;
}

const struct cj_layout *
cj_layout_inner(struct cj_algebra *al, const struct cj_layout *l)
{
	if (!l->is_composed && l->offset == NULL)
		return l;
	return cj_layout_of(al, l->shape, l->stride);
}

static const struct cj_tuple *
check_extent(struct cj_algebra *al, const struct cj_tuple *leaf, void *user)
{
	(void)user;
	if (leaf->kind != CJ_TUPLE_INT)
		return cj_refuse(al, CJ_REFUSED_KIND, NULL,
		    "\"%s\" is not an extent", cj_tuple_text(al, leaf));
	if (cj_is_known(leaf->value) && leaf->value.value < 0)
		return cj_refuse(al, CJ_REFUSED_KIND, NULL,
		    "extent %s is negative", cj_tuple_text(al, leaf));
	return leaf;
}

/* Whether all leaves are extents; no copy is made. */
static bool
all_extents(struct cj_algebra *al, const struct cj_tuple *t)
{
	uint32_t i;

	if (cj_is_leaf(t))
		return check_extent(al, t, NULL) != NULL;
	for (i = 0; i < t->rank; i++) {
		if (!all_extents(al, t->at[i]))
			return false;
	}
	return true;
}

const struct cj_tuple *
cj_compact_left(struct cj_algebra *al, const struct cj_tuple *shape,
    struct cj_int *next)
{
	const struct cj_tuple *stride;
	struct cj_list list;
	uint32_t i;

	if (cj_is_leaf(shape)) {
		assert(shape->kind == CJ_TUPLE_INT);
		if (cj_is_value(shape->value, 1))
			return cj_tuple_known(al, 0);
		stride = cj_tuple_int(al, *next);
		*next = cj_int_mul(al->sym, *next, shape->value);
		return stride;
	}
	cj_list_init(&list);
	for (i = 0; i < shape->rank; i++)
		cj_list_add(al, &list, cj_compact_left(al, shape->at[i],
		    next));
	return cj_list_tuple(al, &list);
}

static const struct cj_tuple *
compact_right(struct cj_algebra *al, const struct cj_tuple *shape,
    struct cj_int *next)
{
	const struct cj_tuple *stride;
	struct cj_list list;
	uint32_t i;

	if (cj_is_leaf(shape))
		return cj_compact_left(al, shape, next);
	cj_list_init(&list);
	for (i = 0; i < shape->rank; i++)
		cj_list_add(al, &list, shape->at[i]);
	for (i = shape->rank; i-- > 0;) {
		stride = compact_right(al, shape->at[i], next);
		list.at[i] = stride;
	}
	return cj_list_tuple(al, &list);
}

const struct cj_layout *
cj_layout_make(struct cj_algebra *al, const struct cj_tuple *shape,
    const struct cj_tuple *stride)
{
	struct cj_int next = cj_known(1);

	if (shape == NULL || !all_extents(al, shape))
		return NULL;
	if (stride == NULL)
		stride = cj_compact_left(al, shape, &next);
	else if ((stride->has & (CJ_HAS_ANY | CJ_HAS_LAYOUT)) != 0)
		return cj_refuse(al, CJ_REFUSED_KIND, NULL,
		    "%s is not a stride", cj_tuple_text(al, stride));
	else if (!cj_tuple_congruent(shape, stride))
		return cj_refuse(al, CJ_REFUSED_RANK,
		    "A stride has the nesting of its shape.",
		    "shape %s and stride %s have different profiles",
		    cj_tuple_text(al, shape), cj_tuple_text(al, stride));
	return cj_checked(al, cj_layout_of(al, shape, stride));
}

const struct cj_layout *
cj_layout_composed(struct cj_algebra *al, struct cj_swizzle swizzle,
    const struct cj_tuple *offset, const struct cj_layout *l)
{
	struct cj_layout *c;
	int shift = swizzle.shift < 0 ? -swizzle.shift : swizzle.shift;

	if (swizzle.bits < 0 || swizzle.base < 0 || shift < swizzle.bits
	    || swizzle.base + swizzle.bits + shift > 62)
		return cj_refuse(al, CJ_REFUSED_SWIZZLE,
		    "The shift must be at least the number of bits.",
		    "Sw<%d,%d,%d> is not a swizzle", swizzle.bits,
		    swizzle.base, swizzle.shift);
	if (l->is_composed)
		return cj_refuse(al, CJ_REFUSED_SWIZZLE, NULL,
		    "%s has a swizzle already", cj_layout_text(al, l));
	if (swizzle.bits > 0 && (l->stride->has & CJ_HAS_BASIS) != 0)
		return cj_refuse(al, CJ_REFUSED_KIND, NULL,
		    "coordinates cannot be swizzled: %s",
		    cj_layout_text(al, l));
	c = CJ_NEW(al->arena, struct cj_layout);
	c->shape = l->shape;
	c->stride = l->stride;
	c->swizzle = swizzle;
	c->offset = offset;
	c->is_composed = true;
	return c;
}

const struct cj_layout *
cj_layout_row_major(struct cj_algebra *al, const struct cj_tuple *shape)
{
	struct cj_int next = cj_known(1);

	if (shape == NULL || !all_extents(al, shape))
		return NULL;
	return cj_checked(al, cj_layout_of(al, shape,
	    compact_right(al, shape, &next)));
}

static const struct cj_tuple *
basis_like(struct cj_algebra *al, const struct cj_tuple *shape,
    uint8_t *path, unsigned length)
{
	struct cj_list list;
	uint32_t i;

	if (cj_is_leaf(shape))
		return cj_tuple_basis(al, cj_known(1), path, length);
	if (length == CJ_MAX_PATH || shape->rank > UINT8_MAX + 1)
		return cj_refuse(al, CJ_REFUSED_LIMIT, NULL,
		    "the unit strides of %s are nested too deeply",
		    cj_tuple_text(al, shape));
	cj_list_init(&list);
	for (i = 0; i < shape->rank; i++) {
		const struct cj_tuple *b;

		path[length] = (uint8_t)i;
		b = basis_like(al, shape->at[i], path, length + 1);
		if (b == NULL)
			return NULL;
		cj_list_add(al, &list, b);
	}
	return cj_list_tuple(al, &list);
}

const struct cj_layout *
cj_layout_identity(struct cj_algebra *al, const struct cj_tuple *shape)
{
	uint8_t path[CJ_MAX_PATH + 1];

	if (shape == NULL || !all_extents(al, shape))
		return NULL;
	return cj_layout_of(al, shape, basis_like(al, shape, path, 0));
}

/* ---- order ------------------------------------------------------------- */

/* Shapes and orders of the leaves of `order`, in reading order. */
struct ranked {
	struct cj_int size;
	struct cj_int order;
	bool is_known;
	int64_t key;
};

struct ranking {
	struct ranked *at;
	uint32_t count, next;
};

static bool
rank_leaves(struct cj_algebra *al, struct ranking *r,
    const struct cj_tuple *shape, const struct cj_tuple *order)
{
	uint32_t i;

	if (cj_is_leaf(order)) {
		struct ranked *x = &r->at[r->count++];
		x->size = cj_tuple_product(al, shape);
		x->order = order->value;
		x->is_known = cj_is_known(order->value)
		    && order->kind == CJ_TUPLE_INT;
		x->key = order->value.value;
		return true;
	}
	if (cj_is_leaf(shape) || shape->rank != order->rank) {
		cj_refuse(al, CJ_REFUSED_RANK, NULL,
		    "shape %s and order %s have different ranks",
		    cj_tuple_text(al, shape), cj_tuple_text(al, order));
		return false;
	}
	for (i = 0; i < order->rank; i++) {
		if (!rank_leaves(al, r, shape->at[i], order->at[i]))
			return false;
	}
	return true;
}

static const struct cj_tuple *
ordered_strides(struct cj_algebra *al, struct ranking *r,
    const struct cj_tuple *shape, const struct cj_tuple *order)
{
	struct cj_int start = cj_known(1);
	struct cj_list list;
	uint32_t i;
	int64_t key;

	if (!cj_is_leaf(order)) {
		cj_list_init(&list);
		for (i = 0; i < order->rank; i++)
			cj_list_add(al, &list, ordered_strides(al, r,
			    shape->at[i], order->at[i]));
		return cj_list_tuple(al, &list);
	}
	key = r->at[r->next++].key;
	for (i = 0; i < r->count; i++) {
		if (r->at[i].key < key)
			start = cj_int_mul(al->sym, start, r->at[i].size);
	}
	return cj_compact_left(al, shape, &start);
}

/* Strides of `shape`, ascending with `order`; what is not known of an order
 * comes after everything known, left to right. */
static const struct cj_tuple *
compact_order(struct cj_algebra *al, const struct cj_tuple *shape,
    const struct cj_tuple *order)
{
	struct ranking r = { 0 };
	int64_t most = 0;
	uint32_t i;

	r.at = CJ_NEWS(al->arena, struct ranked, order->leaves);
	if (!rank_leaves(al, &r, shape, order))
		return NULL;
	for (i = 0; i < r.count; i++) {
		if (r.at[i].is_known && r.at[i].key > most)
			most = r.at[i].key;
	}
	for (i = 0; i < r.count; i++) {
		if (!r.at[i].is_known)
			r.at[i].key = most > INT64_MAX - CJ_MAX_LEAVES - 1
			    ? INT64_MAX : most + (int64_t)i + 1;
	}
	return ordered_strides(al, &r, shape, order);
}

const struct cj_layout *
cj_layout_ordered(struct cj_algebra *al, const struct cj_tuple *shape,
    const struct cj_tuple *order)
{
	if (shape == NULL || order == NULL || !all_extents(al, shape))
		return NULL;
	return cj_checked(al, cj_layout_of(al, shape,
	    compact_order(al, shape, order)));
}

/* Extents with a stride of 0 become 1. */
static const struct cj_tuple *
filter_zeros(struct cj_algebra *al, const struct cj_tuple *stride,
    const struct cj_tuple *shape)
{
	struct cj_list list;
	uint32_t i;

	if (cj_is_leaf(shape))
		return cj_stride_is(stride, 0) ? cj_tuple_known(al, 1)
		    : shape;
	cj_list_init(&list);
	for (i = 0; i < shape->rank; i++)
		cj_list_add(al, &list, filter_zeros(al, stride->at[i],
		    shape->at[i]));
	return cj_list_tuple(al, &list);
}

const struct cj_layout *
cj_layout_like(struct cj_algebra *al, const struct cj_layout *l)
{
	const struct cj_tuple *shape = filter_zeros(al, l->stride, l->shape);

	return cj_checked(al, cj_layout_of(al, l->shape,
	    compact_order(al, shape, l->stride)));
}

const struct cj_layout *
cj_layout_filter_zeros(struct cj_algebra *al, const struct cj_layout *l)
{
	return cj_layout_around(al, l, cj_layout_of(al,
	    filter_zeros(al, l->stride, l->shape), l->stride));
}

/* ---- looking ----------------------------------------------------------- */

struct cj_int
cj_layout_size(struct cj_algebra *al, const struct cj_layout *l)
{
	return cj_tuple_product(al, l->shape);
}

/* Largest value plus one, by component of the coordinate for unit strides. */
static const struct cj_tuple *
largest(struct cj_algebra *al, const struct cj_tuple *shape,
    const struct cj_tuple *stride)
{
	const struct cj_tuple *sum = cj_tuple_known(al, 0);
	struct cj_int last;
	uint32_t i;

	if (!cj_is_leaf(shape)) {
		for (i = 0; i < shape->rank && sum != NULL; i++)
			sum = cj_value_add(al, sum, largest(al, shape->at[i],
			    stride->at[i]));
		return sum;
	}
	last = cj_int_sub(al->sym, shape->value, cj_known(1));
	if (stride->kind == CJ_TUPLE_INT)
		return cj_tuple_int(al, cj_int_mul(al->sym, last,
		    cj_int_abs(al->sym, stride->value)));
	return cj_tuple_basis(al, cj_int_mul(al->sym, last,
	    cj_int_abs(al->sym, stride->value)), stride->path,
	    stride->path_length);
}

static struct cj_int
coshape_size(struct cj_algebra *al, const struct cj_tuple *t)
{
	struct cj_int p = cj_known(1);
	uint32_t i;

	if (cj_is_leaf(t))
		return cj_int_add(al->sym, t->value, cj_known(1));
	for (i = 0; i < t->rank; i++)
		p = cj_int_mul(al->sym, p, coshape_size(al, t->at[i]));
	return p;
}

/* sum of (s - 1) * |d|, without making tuples */
static struct cj_int
reach(struct cj_algebra *al, const struct cj_tuple *shape,
    const struct cj_tuple *stride)
{
	struct cj_int sum = cj_known(0);
	uint32_t i;

	if (cj_is_leaf(shape))
		return cj_int_mul(al->sym, cj_int_sub(al->sym, shape->value,
		    cj_known(1)), cj_int_abs(al->sym, stride->value));
	for (i = 0; i < shape->rank; i++)
		sum = cj_int_add(al->sym, sum, reach(al, shape->at[i],
		    stride->at[i]));
	return sum;
}

struct cj_int
cj_layout_cosize(struct cj_algebra *al, const struct cj_layout *l)
{
	const struct cj_tuple *last;

	if (cj_is_value(cj_layout_size(al, l), 0))
		return cj_known(0);
	if ((l->stride->has & CJ_HAS_BASIS) == 0)
		return cj_int_add(al->sym, reach(al, l->shape, l->stride),
		    cj_known(1));
	last = largest(al, l->shape, l->stride);
	if (last == NULL)
		return cj_known(0);
	if (last->kind == CJ_TUPLE_BASIS)
		last = cj_value_add(al, cj_tuple_known(al, 0), last);
	return last == NULL ? cj_known(0) : coshape_size(al, last);
}

uint32_t
cj_layout_rank(const struct cj_layout *l)
{
	return cj_tuple_rank(l->shape);
}

const struct cj_layout *
cj_layout_get(struct cj_algebra *al, const struct cj_layout *l,
    uint32_t mode)
{
	if (mode >= cj_layout_rank(l))
		return cj_refuse(al, CJ_REFUSED_RANK, NULL,
		    "there is no mode %u in %s, which has rank %u", mode,
		    cj_layout_text(al, l), cj_layout_rank(l));
	return cj_layout_around(al, l, cj_layout_of(al,
	    cj_tuple_get(l->shape, mode), cj_tuple_get(l->stride, mode)));
}

bool
cj_layout_same(const struct cj_layout *a, const struct cj_layout *b)
{
	if (a == b)
		return true;
	if (a->is_composed != b->is_composed
	    || (a->offset == NULL) != (b->offset == NULL))
		return false;
	if (a->is_composed && (a->swizzle.bits != b->swizzle.bits
	    || a->swizzle.base != b->swizzle.base
	    || a->swizzle.shift != b->swizzle.shift))
		return false;
	if (a->offset != NULL && !cj_tuple_same(a->offset, b->offset))
		return false;
	return cj_tuple_same(a->shape, b->shape)
	    && cj_tuple_same(a->stride, b->stride);
}
