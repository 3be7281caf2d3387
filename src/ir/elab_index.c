/*
 * Indices: elements of tuples, modes of layouts, views of tensors and
 * variables, known registers of a value.
 */
#include "elab_origin.h"
#include "elab_pass.h"

static struct cj_value
tuple_element(struct cj_elab *el, struct cj_span span,
    const struct cj_tuple_value *t, const struct cj_value *at)
{
	int64_t i;

	if (!cj_value_to_known(el, span, at, "the index of a tuple", &i))
		return cj_value_error();
	if (i < 0 || i >= t->count)
		return cj_elab_error(el, CJ_DIAG_WRONG_INDEX, span,
		    "there is no element %lld in a tuple of %u",
		    (long long)i, t->count);
	return t->at[i];
}

static struct cj_value
layout_mode(struct cj_elab *el, struct cj_span span,
    const struct cj_layout *l, const struct cj_value *at)
{
	int64_t i;

	if (!cj_value_to_known(el, span, at, "the number of a mode", &i))
		return cj_value_error();
	if (i < 0 || i >= cj_layout_rank(l)) {
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_INDEX, span,
		    "there is no mode %lld in a layout of rank %u",
		    (long long)i, cj_layout_rank(l)), "L[i] is mode i of a "
		    "layout; its value at a coordinate is L(i, j), a part of "
		    "it L(i, _).");
		return cj_value_error();
	}
	l = cj_layout_get(&el->al, l, (uint32_t)i);
	return l == NULL ? cj_elab_refused(el, span, "index") :
	    cj_value_layout(l);
}

struct cj_value
cj_elab_dynamic_register(struct cj_elab *el, struct cj_span span,
    const struct cj_tuple *coord)
{
	struct cj_diag *d = cj_elab_report(el, CJ_DIAG_NOT_KNOWN, span,
	    "registers have no run-time index, this is %s",
	    cj_tuple_text(&el->al, coord));

	cj_elab_note_tuple(el, d, coord);
	cj_help(d, "Use \"const for\" for the index, choose with where(), or "
	    "keep the values in a shared tensor.");
	return cj_value_error();
}

static const struct cj_tuple *
coordinate(struct cj_elab *el, struct cj_span span, const struct cj_value *at,
    uint32_t count)
{
	struct cj_value c = count == 1 ? at[0] :
	    cj_value_tuple(el, at, NULL, count);

	return cj_value_to_tuple(el, span, &c);
}

/* Registers as coordinates see them: the first one, and a layout behind it. */
struct view {
	const struct cj_layout *layout;
	int64_t first;
};

/* Narrow one mode to a range, whose bounds are known: r[_, a..b]. */
static bool
narrow(struct cj_elab *el, struct cj_span span, struct view *v, uint32_t mode,
    const struct cj_range_value *r)
{
	const struct cj_tuple *shape = v->layout->shape;
	const struct cj_tuple *stride = v->layout->stride;
	const struct cj_tuple *at[CJ_MAX_RANK], *count, *bounds;
	bool is_whole = cj_is_leaf(shape);
	struct cj_layout *made;
	uint32_t i;

	if (!is_whole) {
		shape = shape->at[mode];
		stride = stride->at[mode];
	}
	if (!cj_is_leaf(shape)) {
		cj_elab_error(el, CJ_DIAG_WRONG_INDEX, span,
		    "a range cuts a single mode, mode %u has several", mode);
		return false;
	}
	at[0] = cj_tuple_int(&el->al, r->first);
	at[1] = cj_tuple_int(&el->al, r->last);
	bounds = cj_tuple_make(&el->al, at, 2);
	if (!cj_is_known(r->first) || !cj_is_known(r->last)) {
		cj_elab_dynamic_register(el, span, bounds);
		return false;
	}
	if (r->first.value < 0 || r->last.value > shape->value.value ||
	    r->first.value >= r->last.value) {
		cj_elab_error(el, CJ_DIAG_WRONG_INDEX, span,
		    r->first.value >= r->last.value ?
		    "the range %lld..%lld holds no coordinate of mode %u, "
		    "whose extent is %lld" : "the range %lld..%lld leaves "
		    "mode %u, whose extent is %lld",
		    (long long)r->first.value, (long long)r->last.value, mode,
		    (long long)shape->value.value);
		return false;
	}
	v->first += r->first.value * stride->value.value;
	count = cj_tuple_known(&el->al, r->last.value - r->first.value);
	made = cj_memdup(el->arena, v->layout, sizeof *v->layout);
	for (i = 0; !is_whole && i < made->shape->rank; i++)
		at[i] = i == mode ? count : made->shape->at[i];
	made->shape = is_whole ? count :
	    cj_tuple_make(&el->al, at, made->shape->rank);
	v->layout = made;
	return true;
}

/* The coordinate that is left when the ranges are cut out; NULL: refused. */
static const struct cj_tuple *
without_ranges(struct cj_elab *el, struct cj_span span, struct view *v,
    const struct cj_value *at, uint32_t count)
{
	struct cj_value *plain = CJ_NEWS(el->arena, struct cj_value,
	    count + 1);
	uint32_t i, rank = cj_layout_rank(v->layout);

	for (i = 0; i < count; i++) {
		plain[i] = at[i];
		if (at[i].kind != CJ_VALUE_RANGE)
			continue;
		if (count != rank) {
			cj_elab_error(el, CJ_DIAG_WRONG_INDEX, span,
			    "there are %u coordinates for %u modes", count,
			    rank);
			return NULL;
		}
		if (!narrow(el, span, v, i, at[i].range))
			return NULL;
		plain[i] = (struct cj_value){ .kind = CJ_VALUE_ANY };
	}
	return coordinate(el, span, plain, count);
}

/* Elements of registers that are a value: known positions. */
static struct cj_value
registers(struct cj_elab *el, struct cj_span span, const struct cj_value *v,
    const struct cj_value *index, uint32_t rank)
{
	struct view w = { .layout = cj_layout_make(&el->al, v->regs.shape,
	    NULL) };
	const struct cj_tuple *coord, *offset, *shape;
	const struct cj_layout *rest;
	uint32_t *at, count, i;
	int64_t *offsets;
	cj_ref r;

	if (w.layout == NULL)
		return cj_elab_refused(el, span, "index");
	coord = without_ranges(el, span, &w, index, rank);
	if (coord == NULL)
		return cj_value_error();
	if (!cj_elab_inside(el, span, coord, w.layout->shape))
		return cj_value_error();
	if (!cj_layout_slice(&el->al, w.layout, coord, &rest, &offset))
		return cj_elab_refused(el, span, "index");
	if (!cj_is_known(offset->value))
		return cj_elab_dynamic_register(el, span, coord);
	w.first += offset->value.value;
	shape = !cj_is_leaf(rest->shape) && rest->shape->rank == 0 ? NULL :
	    rest->shape;
	count = cj_shape_count(shape);
	at = CJ_NEWS(el->arena, uint32_t, count + 1);
	offsets = CJ_NEWS(el->arena, int64_t, count + 1);
	if (shape != NULL && !cj_layout_list(&el->al, rest, offsets, count))
		return cj_elab_refused(el, span, "index");
	for (i = 0; i < count; i++) {
		at[i] = (uint32_t)(w.first + offsets[i]);
		assert(at[i] < cj_shape_count(v->regs.shape));
	}
	r = cj_elab_pass(el, v->regs.ref, v->level);
	return cj_value_regs(el, (enum cj_kind)v->scalar, shape,
	    cj_elab_permute(el, r, at, count));
}

static struct cj_value
place(struct cj_elab *el, struct cj_span span, const struct cj_value *v,
    const struct cj_value *at, uint32_t count)
{
	const struct cj_tuple *c;
	struct cj_value read = *v;
	struct cj_slot *cut;
	struct view w;

	if (v->slot->cell != NULL) {
		read = *v->slot->cell;
		return cj_elab_index(el, span, read, at, count);
	}
	if (v->slot->is_scalar)
		return cj_elab_error(el, CJ_DIAG_WRONG_INDEX, span,
		    "%s has no elements", cj_value_what(el, v));
	w = (struct view){ v->slot->layout, v->slot->first };
	c = without_ranges(el, span, &w, at, count);
	if (c == NULL)
		return cj_value_error();
	cut = cj_memdup(el->arena, v->slot, sizeof *v->slot);
	cut->layout = w.layout;
	cut->first = w.first;
	read.slot = cut;
	return cj_slot_index(el, span, &read, c);
}

struct cj_value
cj_elab_index(struct cj_elab *el, struct cj_span span, struct cj_value base,
    const struct cj_value *at, uint32_t count)
{
	struct cj_diag *d;
	uint32_t i;

	switch ((unsigned)base.kind) {
	case CJ_VALUE_ERROR:
		return base;
	case CJ_VALUE_TENSOR:
		return cj_tensor_index(el, span, base.tensor, at, count);
	case CJ_VALUE_PLACE:
		return place(el, span, &base, at, count);
	case CJ_VALUE_TUPLE:
		base = count == 0 ? base :
		    tuple_element(el, span, base.tuple, &at[0]);
		return count <= 1 ? base :
		    cj_elab_index(el, span, base, at + 1, count - 1);
	case CJ_VALUE_LAYOUT:
		for (i = 0; i < count && base.kind == CJ_VALUE_LAYOUT; i++)
			base = layout_mode(el, span, base.layout, &at[i]);
		return base;
	case CJ_VALUE_REGS:
		if (base.regs.shape == NULL)
			break;
		return registers(el, span, &base, at, count);
	}
	d = cj_elab_report(el, CJ_DIAG_WRONG_INDEX, span,
	    "%s has no elements", cj_value_what(el, &base));
	if (base.kind == CJ_VALUE_NONE)
		cj_help(d, "The argument was left out: const if x != none "
		    "{ ... } has what needs it.");
	else if (base.kind == CJ_VALUE_TYPE && base.type->is_tensor)
		cj_help(d, "Only a kernel's parameter is several tensors; "
		    "memory has one more mode instead, tensor(T, "
		    "smem_layout(T, (64, 32, 2), unit = 1)), and s[_, _, i] is "
		    "one of them.");
	return cj_value_error();
}
