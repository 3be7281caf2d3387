/*
 * Indices: elements of tuples, modes of layouts, views of tensors and
 * variables, known registers of a value.
 */
#include "elab_priv.h"

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
	if (i < 0 || i >= cj_layout_rank(l))
		return cj_elab_error(el, CJ_DIAG_WRONG_INDEX, span,
		    "there is no mode %lld in a layout of rank %u",
		    (long long)i, cj_layout_rank(l));
	l = cj_layout_get(&el->al, l, (uint32_t)i);
	return l == NULL ? cj_elab_refused(el, span, "index") :
	    cj_value_layout(l);
}

struct cj_value
cj_elab_dynamic_register(struct cj_elab *el, struct cj_span span,
    const struct cj_tuple *coord)
{
	struct cj_strbuf text;

	cj_strbuf_init(&text, el->arena);
	cj_tuple_print(&text, &el->sym, coord, CJ_STYLE_LANGUAGE);
	cj_help(cj_elab_report(el, CJ_DIAG_NOT_KNOWN, span,
	    "registers have no run-time index, this is %s", text.text),
	    "Use \"const for\" for the index, choose with where(), or keep "
	    "the values in a shared tensor.");
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

/* Elements of registers that are a value: known positions. */
static struct cj_value
registers(struct cj_elab *el, struct cj_span span, const struct cj_value *v,
    const struct cj_tuple *coord)
{
	const struct cj_layout *l = cj_layout_make(&el->al, v->regs.shape,
	    NULL), *rest;
	const struct cj_tuple *offset, *shape;
	uint32_t *at, count, i;
	cj_ref r;

	if (l == NULL || !cj_layout_slice(&el->al, l, coord, &rest, &offset))
		return cj_elab_refused(el, span, "index");
	if (!cj_is_known(offset->value))
		return cj_elab_dynamic_register(el, span, coord);
	shape = !cj_is_leaf(rest->shape) && rest->shape->rank == 0 ? NULL :
	    rest->shape;
	count = cj_shape_count(shape);
	at = CJ_NEWS(el->arena, uint32_t, count + 1);
	for (i = 0; i < count; i++) {
		struct cj_int o = cj_known(0);

		if (shape != NULL && !cj_layout_offset(&el->al, rest,
		    cj_tuple_known(&el->al, i), &o))
			return cj_elab_refused(el, span, "index");
		at[i] = (uint32_t)(offset->value.value + o.value);
		if (offset->value.value + o.value < 0 || at[i] >=
		    cj_shape_count(v->regs.shape))
			return cj_elab_error(el, CJ_DIAG_WRONG_INDEX, span,
			    "the coordinate lies outside %s",
			    cj_value_what(el, v));
	}
	r = cj_elab_pass(el, v->regs.ref, v->level);
	return cj_value_regs(el, (enum cj_kind)v->scalar, shape,
	    cj_elab_permute(el, r, at, count));
}

static struct cj_value
place(struct cj_elab *el, struct cj_span span, const struct cj_value *v,
    const struct cj_value *at, uint32_t count)
{
	const struct cj_tuple *c = coordinate(el, span, at, count);
	struct cj_value read;

	if (c == NULL)
		return cj_value_error();
	if (v->slot->cell != NULL) {
		read = *v->slot->cell;
		return cj_elab_index(el, span, read, at, count);
	}
	if (v->slot->is_scalar)
		return cj_elab_error(el, CJ_DIAG_WRONG_INDEX, span,
		    "%s has no elements", cj_value_what(el, v));
	return cj_slot_index(el, span, v, c);
}

struct cj_value
cj_elab_index(struct cj_elab *el, struct cj_span span, struct cj_value base,
    const struct cj_value *at, uint32_t count)
{
	const struct cj_tuple *c;
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
		c = coordinate(el, span, at, count);
		return c == NULL ? cj_value_error() :
		    registers(el, span, &base, c);
	}
	return cj_elab_error(el, CJ_DIAG_WRONG_INDEX, span,
	    "%s has no elements", cj_value_what(el, &base));
}
