/*
 * Boxes of TMA copies.
 *
 * Shared memory is walked in its own order, and each step is asked which mode
 * of the tensor it moves along. As long as that is a unit step of a mode, the
 * box grows; then modes that lie behind each other in the tensor are merged, up
 * to 256 elements, the limit of a box in each direction.
 */
#include "atom.h"

#include "layout_priv.h"

enum { MAX_BOX = 256, MAX_RANK = 5 };

static struct cj_int
value_of(const struct cj_tuple *stride)
{
	assert(cj_is_leaf(stride));
	return stride->value;
}

/* Modes of (index in shared memory) -> mode of the tensor, as far as they are
 * unit steps. */
static const struct cj_layout *
unit_steps(struct cj_algebra *al, const struct cj_layout *values,
    const struct cj_layout *inverse)
{
	const struct cj_layout *l = cj_layout_compose(al, values, inverse);
	uint32_t n;

	l = l == NULL ? NULL : cj_layout_coalesce(al, l, NULL);
	if (l == NULL)
		return NULL;
	for (n = 0; n < cj_layout_rank(l); n++) {
		if (!cj_is_value(value_of(cj_tuple_get(l->stride, n)), 1))
			break;
	}
	if (n == 0)
		return cj_refuse(al, CJ_REFUSED_TILE_DIV,
		    "The fastest mode of the shared memory must be the"
		    " fastest mode of the tensor.",
		    "the tile has no vector in common with the tensor");
	return cj_layout_take(al, l, 0, n);
}

/* Coalesce forwards where the merged extent fits a box. */
static const struct cj_layout *
merge_boxes(struct cj_algebra *al, const struct cj_layout *l)
{
	struct cj_modes m, r;
	uint32_t i;

	cj_modes_init(&m);
	cj_modes_init(&r);
	cj_modes_flatten(al, &m, l->shape, l->stride);
	assert(m.count > 0);
	cj_modes_add(al, &r, m.at[0].shape, m.at[0].stride);
	for (i = 1; i < m.count; i++) {
		struct cj_mode *last = &r.at[r.count - 1];
		struct cj_int all = cj_int_mul(al->sym, last->shape,
		    m.at[i].shape);

		if (cj_is_value(m.at[i].shape, 1))
			continue;
		if (cj_is_value(last->shape, 1))
			*last = m.at[i];
		else if (cj_stride_same(cj_stride_scale(al, last->stride,
		    last->shape), m.at[i].stride) && cj_is_known(all)
		    && all.value <= MAX_BOX)
			last->shape = all;
		else
			cj_modes_add(al, &r, m.at[i].shape, m.at[i].stride);
	}
	return cj_modes_layout(al, &r);
}

static bool
has_stride(const struct cj_tuple *t, const struct cj_tuple *stride)
{
	uint32_t i;

	if (cj_is_leaf(t))
		return cj_stride_same(t, stride);
	for (i = 0; i < t->rank; i++) {
		if (has_stride(t->at[i], stride))
			return true;
	}
	return false;
}

/* The box, and the tensor's other modes with an extent of 1. */
static const struct cj_layout *
complete_box(struct cj_algebra *al, const struct cj_layout *tensor,
    const struct cj_layout *basis, const struct cj_layout *box)
{
	struct cj_modes t, b, all;
	uint32_t i;

	cj_modes_init(&t);
	cj_modes_init(&b);
	cj_modes_init(&all);
	cj_modes_flatten(al, &t, tensor->shape, tensor->stride);
	cj_modes_flatten(al, &b, basis->shape, basis->stride);
	cj_modes_flatten(al, &all, box->shape, box->stride);
	for (i = 0; i < t.count; i++) {
		if (!cj_is_value(t.at[i].shape, 1)
		    && !cj_stride_is(t.at[i].stride, 0)
		    && !has_stride(box->stride, b.at[i].stride))
			cj_modes_add(al, &all, cj_known(1), b.at[i].stride);
	}
	box = cj_modes_layout(al, &all);
	return cj_layout_rank(box) < MAX_RANK ? box : cj_layout_group(al, box,
	    MAX_RANK - 1, cj_layout_rank(box));
}

static const struct cj_layout *
find_box(struct cj_algebra *al, const struct cj_layout *tensor,
    const struct cj_layout *basis, const struct cj_layout *steps)
{
	const struct cj_layout *strides, *merged, *modes;
	const struct cj_tuple *shape;

	strides = cj_layout_compose(al, tensor, steps);
	modes = cj_layout_compose(al, basis, steps);
	if (strides == NULL || modes == NULL)
		return NULL;
	if (!cj_tuple_congruent(strides->shape, modes->shape))
		return cj_refuse(al, CJ_REFUSED_TILE_DIV, NULL,
		    "the tile of %s is no box", cj_layout_text(al, tensor));
	merged = merge_boxes(al, strides);
	shape = merged->shape;
	if (cj_is_leaf(shape))
		shape = cj_tuple_make(al, &shape, 1);
	modes = cj_layout_compose(al, cj_layout_of(al, strides->shape,
	    modes->stride), cj_layout_make(al, shape, NULL));
	return modes == NULL ? NULL : complete_box(al, tensor, basis, modes);
}

/* ---- coordinates ------------------------------------------------------- */

/* Greatest common divisor of the strides of the tensor's modes in box mode
 * j, in bytes and at least 16. */
static int64_t
common_stride(struct cj_algebra *al, const struct cj_modes *t,
    const struct cj_modes *b, const struct cj_tuple *mode, int bits)
{
	int64_t g = 0;
	uint32_t i;

	for (i = 0; i < t->count; i++) {
		int64_t d = cj_int_divisor(al->sym, t->at[i].stride->value);

		if (!has_stride(mode, b->at[i].stride))
			continue;
		while (d != 0) {
			int64_t r = g % d;

			g = d;
			d = r;
		}
	}
	g = g * bits / 8;
	return g < 16 ? 16 : g;
}

/* What a step of the tensor's mode i is in the box's coordinates. */
static const struct cj_tuple *
coord_of(struct cj_algebra *al, const struct cj_modes *t,
    const struct cj_modes *b, uint32_t i, const struct cj_layout *box,
    int bits)
{
	struct cj_int scale = cj_known(1);
	uint32_t j;
	uint8_t path;

	if (cj_is_value(t->at[i].shape, 1)
	    || cj_stride_is(t->at[i].stride, 0))
		return cj_tuple_known(al, 0);
	for (j = 0; j < cj_layout_rank(box); j++) {
		const struct cj_tuple *mode = cj_tuple_get(box->stride, j);

		if (!has_stride(mode, b->at[i].stride))
			continue;
		if (j == 0)
			scale = t->at[i].stride->value;
		else if (cj_tuple_rank(mode) > 1)
			scale = cj_int_ceil_div(al->sym, cj_int_div(al->sym,
			    cj_int_mul(al->sym, t->at[i].stride->value,
			    cj_known(bits)), cj_known(common_stride(al, t, b,
			    mode, bits))), cj_known(8));
		path = (uint8_t)j;
		return cj_tuple_basis(al, scale, &path, 1);
	}
	return cj_tuple_known(al, 0);
}

struct naming {
	struct cj_modes t, b;
	const struct cj_layout *box;
	uint32_t next;
	int bits;
};

static const struct cj_tuple *
name_leaf(struct cj_algebra *al, const struct cj_tuple *leaf, void *user)
{
	struct naming *n = user;

	assert(cj_is_leaf(leaf) && n->next < n->t.count);
	return coord_of(al, &n->t, &n->b, n->next++, n->box, n->bits);
}

static const struct cj_tuple *
name_coords(struct cj_algebra *al, const struct cj_layout *tensor,
    const struct cj_layout *basis, const struct cj_layout *box, int bits)
{
	struct naming n = { .box = box, .bits = bits };

	cj_modes_init(&n.t);
	cj_modes_init(&n.b);
	cj_modes_flatten(al, &n.t, tensor->shape, tensor->stride);
	cj_modes_flatten(al, &n.b, basis->shape, basis->stride);
	return cj_tuple_map(al, tensor->shape, name_leaf, &n);
}

/* ---- blocks and values ------------------------------------------------- */

static const struct cj_layout *
line(struct cj_algebra *al, int64_t n, int64_t stride)
{
	return cj_layout_of(al, cj_tuple_known(al, n), cj_tuple_known(al,
	    stride));
}

static const struct cj_layout *
blocks_values(struct cj_algebra *al, const struct cj_layout *inverse,
    int64_t elements, int64_t multicast, struct cj_int size)
{
	const struct cj_layout *both[2], *v;

	if (elements % multicast != 0)
		return cj_refuse(al, CJ_REFUSED_TILE_DIV, NULL,
		    "%lld blocks do not share %lld elements evenly",
		    (long long)multicast, (long long)elements);
	v = cj_layout_compose(al, inverse, line(al, elements, 1));
	v = v == NULL ? NULL : cj_layout_concat(al, &v, 1);
	both[1] = v == NULL ? NULL : cj_layout_tile_to_shape(al, v,
	    cj_tuple_int(al, size), NULL);
	v = cj_layout_compose(al, line(al, multicast, elements / multicast),
	    line(al, multicast, 1));
	both[0] = v == NULL ? NULL : cj_layout_compose(al, inverse, v);
	return cj_layout_concat(al, both, 2);
}

bool
cj_tma_make(struct cj_algebra *al, const struct cj_layout *tensor, int bits,
    const struct cj_layout *smem, const struct cj_tuple *tile,
    int64_t multicast, struct cj_tma *out)
{
	const struct cj_layout *basis = cj_layout_identity(al,
	    tensor->shape), *values, *inverse, *steps;
	struct cj_int n;

	values = basis == NULL ? NULL : cj_layout_compose_tiler(al, basis,
	    tile);
	inverse = cj_layout_right_inverse(al, cj_layout_inner(al, smem));
	if (values == NULL || inverse == NULL || multicast < 1)
		return false;
	if (cj_int_equal(al->sym, cj_layout_size(al, smem),
	    cj_layout_size(al, values)) != CJ_YES) {
		cj_refuse(al, CJ_REFUSED_TILE_DIV, NULL,
		    "the tile has %s elements, the shared memory %s",
		    cj_int_text(al, cj_layout_size(al, values)),
		    cj_int_text(al, cj_layout_size(al, smem)));
		return false;
	}
	steps = unit_steps(al, values, inverse);
	out->box = steps == NULL ? NULL : find_box(al, tensor, basis, steps);
	if (out->box == NULL)
		return false;
	n = cj_layout_size(al, out->box);
	if (!cj_is_known(n)) {
		cj_refuse(al, CJ_REFUSED_SYMBOLIC, NULL,
		    "a box has known extents, %s has not",
		    cj_layout_text(al, out->box));
		return false;
	}
	out->elements = n.value;
	out->coords = name_coords(al, tensor, basis, out->box, bits);
	out->tv = blocks_values(al, inverse, n.value, multicast,
	    cj_layout_size(al, values));
	return out->coords != NULL && out->tv != NULL;
}
