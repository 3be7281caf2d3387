/*
 * Reductions of whole arrays in tests: a loop over all elements, or over those
 * along some modes for each element of the rest.
 */
#include "elab_test_priv.h"

#include <math.h>

/* What a reduction starts from, so that no first element is needed. */
static struct cj_value
identity(enum cj_op op, enum cj_kind k)
{
	double bound = op == CJ_OP_MAX ? -HUGE_VAL : HUGE_VAL;
	unsigned bits = cj_kind_bits(k);
	int64_t bound_bits;

	if (op == CJ_OP_ADD)
		return cj_value_scalar(k, 0);
	if (op == CJ_OP_AND || op == CJ_OP_OR)
		return cj_value_scalar(CJ_KIND_BOOL, op == CJ_OP_AND);
	if (cj_kind_is_float(k))
		return cj_value_scalar(k, cj_num_from_f64(k, bound));
	if (!cj_kind_is_signed(k))
		return cj_value_scalar(k, op == CJ_OP_MAX ? 0 :
		    bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1);
	bits = bits > 64 ? 64 : bits;
	bound_bits = (int64_t)((UINT64_C(1) << (bits - 1)) - 1);
	return cj_value_scalar(k, (uint64_t)(op == CJ_OP_MAX ?
	    -bound_bits - 1 : bound_bits));
}

/* What the loop begins with: a function has its first element alone. */
static struct cj_value
first_of(struct cj_elab *el, const struct cj_combine *c,
    const struct cj_lane *lane, const struct cj_layout *view)
{
	const struct cj_tensor *t = lane->value.tensor;
	struct cj_int offset;

	if (c->op != CJ_OP_NONE)
		return identity(c->op, t->element);
	if (cj_is_value(cj_layout_size(&el->al, view), 0))
		return cj_elab_error(el, CJ_DIAG_WRONG_SHAPE, c->span,
		    "a function reduces one element at least, this has none");
	if (!cj_layout_offset(&el->al, view, cj_tuple_known(&el->al, 0),
	    &offset))
		return cj_elab_refused(el, c->span, "a reduction");
	return cj_elab_array_load(el, t, offset);
}

/* for i in first..n { slot = op(slot, v[coordinate i]) } */
static void
reduce_loop(struct cj_elab *el, const struct cj_combine *c,
    const struct cj_lane *lane, const struct cj_layout *view,
    const struct cj_value *slot)
{
	struct cj_int count = cj_layout_size(&el->al, view), i, offset;
	int64_t first = c->op == CJ_OP_NONE ? 1 : 0;
	cj_ref bound[3], loop, index;
	cj_region outer;

	bound[0] = cj_emit_index(&el->em->b, first);
	bound[1] = cj_elab_ref_int(el, count);
	bound[2] = cj_emit_index(&el->em->b, 1);
	loop = cj_emit(&el->em->b, CJ_OP_FOR, 0, 0, bound, 3);
	outer = cj_elab_enter(el, loop, &index);
	i = cj_elab_index_symbol(el, index, "k", first, count);
	if (!cj_layout_offset(&el->al, view, cj_tuple_int(&el->al, i),
	    &offset))
		cj_elab_refused(el, c->span, "a reduction");
	else
		cj_slot_store(el, c->span, slot, cj_elab_combined(el, c,
		    cj_slot_load(el, c->span, slot), cj_elab_array_load(el,
		    lane->value.tensor, offset)));
	cj_elab_leave(el, outer);
}

static struct cj_value
reduce_view(struct cj_elab *el, const struct cj_combine *c,
    const struct cj_lane *lane, const struct cj_layout *view)
{
	struct cj_value slot = cj_elab_slot(el, c->span, 0,
	    first_of(el, c, lane, view));

	if (slot.kind == CJ_VALUE_ERROR)
		return slot;
	reduce_loop(el, c, lane, view, &slot);
	return cj_slot_load(el, c->span, &slot);
}

/* The modes named by `along`, as bits; 0: reported. */
static uint64_t
along_modes(struct cj_elab *el, struct cj_span span,
    const struct cj_value *along, uint32_t rank)
{
	uint32_t count = along->kind == CJ_VALUE_TUPLE ?
	    along->tuple->count : 1, i;
	uint64_t bits = 0;

	for (i = 0; i < count; i++) {
		const struct cj_value *v = along->kind == CJ_VALUE_TUPLE ?
		    &along->tuple->at[i] : along;
		int64_t mode;

		if (!cj_value_to_known(el, span, v, "a mode of `along`",
		    &mode))
			return 0;
		if (mode < 0 || mode >= (int64_t)rank || rank > 64) {
			cj_elab_report(el, CJ_DIAG_WRONG_INDEX, span,
			    "there is no mode %lld, the array has %u",
			    (long long)mode, rank);
			return 0;
		}
		bits |= UINT64_C(1) << mode;
	}
	return bits;
}

static const struct cj_layout *
pick_modes(struct cj_elab *el, const struct cj_layout *l, uint64_t bits,
    bool ones)
{
	uint32_t rank = cj_layout_rank(l), i, n = 0;
	const struct cj_layout **at = CJ_NEWS(el->arena,
	    const struct cj_layout *, rank);

	for (i = 0; i < rank; i++) {
		if (bits >> i & 1)
			at[n++] = cj_layout_get(&el->al, l, i);
		else if (ones)
			at[n++] = cj_layout_make(&el->al,
			    cj_tuple_known(&el->al, 1),
			    cj_tuple_known(&el->al, 0));
	}
	return cj_layout_concat(&el->al, at, n);
}

static struct cj_value
reduce_along(struct cj_elab *el, const struct cj_combine *c,
    struct cj_lane *lane, uint64_t bits)
{
	const struct cj_layout *l = lane->value.tensor->layout;
	const struct cj_layout *outer = pick_modes(el, l, ~bits, true);
	const struct cj_layout *inner = pick_modes(el, l, bits, false);
	const struct cj_tensor *from = lane->value.tensor;
	struct cj_int i, offset, to;
	struct cj_value y = cj_elab_array_new(el, c->span, from->element,
	    cj_layout_row_major(&el->al, outer->shape));
	struct cj_tensor shifted = *from;
	struct cj_lane part = *lane;
	const struct cj_tuple *coord;
	struct cj_value v;
	cj_region region = cj_elab_map_begin(el, cj_layout_size(&el->al,
	    outer), &i);

	coord = cj_idx2crd(&el->al, i, outer->shape);
	if (cj_layout_offset(&el->al, outer, coord, &offset) &&
	    cj_layout_offset(&el->al, y.tensor->layout, coord, &to)) {
		shifted.offset = cj_int_add(&el->sym, from->offset, offset);
		part.value = cj_value_tensor(el, &shifted);
		v = reduce_view(el, c, &part, inner);
		if (v.kind != CJ_VALUE_ERROR)
			cj_elab_array_store(el, y.tensor, to,
			    cj_elab_ref(el, &v, from->element));
	} else {
		y = cj_elab_refused(el, c->span, "a reduction");
	}
	cj_elab_leave(el, region);
	return y;
}

struct cj_value
cj_elab_array_reduce(struct cj_elab *el, const struct cj_combine *c,
    struct cj_value v, const struct cj_value *along)
{
	const struct cj_tuple *shape;
	struct cj_lane *lane;
	uint64_t bits;

	if (v.kind == CJ_VALUE_ERROR)
		return v;
	lane = cj_elab_lanes(el, c->span, &v, 1, &shape);
	if (lane == NULL)
		return cj_value_error();
	assert(lane->is_array && "called for an array");
	if (along == NULL)
		return reduce_view(el, c, lane, lane->view);
	bits = along_modes(el, c->span, along, cj_layout_rank(lane->view));
	if (bits == 0)
		return cj_value_error();
	return reduce_along(el, c, lane, bits);
}
