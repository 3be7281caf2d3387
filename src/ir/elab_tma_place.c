/*
 * Where a copy through a tensor map is: in its tensor, as the coordinates say
 * that a cut of the view carries, and in shared memory.
 */
#include "elab_gather.h"
#include "elab_tma.h"

enum { UNIT = 128, ROW_UNIT = 16 };

/* ---- in global memory ---------------------------------------------------- */

bool
cj_tma_guard_fits(struct cj_elab *el, struct cj_span span,
    const struct cj_tma_value *t, const struct cj_tensor *v)
{
	if (v->is_guarded && v->pred != NULL) {
		cj_elab_report(el, CJ_DIAG_WRONG_PLACE, span,
		    "TMA asks no pred, it leaves out what is outside of the "
		    "tensor");
		return false;
	}
	return !v->is_guarded || !v->has_fill ||
	    cj_tma_fills(el, span, t, v->fill);
}

/* Do coordinates of the view count from the map's first element? A slice of
 * another place has the same modes. */
static bool
begins_alike(struct cj_elab *el, struct cj_span span,
    const struct cj_tma_value *t, const struct cj_tensor *v,
    const struct cj_int *at)
{
	struct cj_int first = v->offset;
	uint32_t m;

	for (m = 0; m < t->rank; m++)
		first = cj_int_sub(&el->sym, first, cj_int_mul(&el->sym, at[m],
		    cj_tuple_get(t->tensor->layout->stride, m)->value));
	if (cj_int_equal(&el->sym, first, t->tensor->offset) == CJ_YES)
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_WRONG_SHAPE, span,
	    "the view is cut from another part of the tensor than the map was "
	    "made for"), "Make the map of the whole tensor, and take tiles "
	    "with an extent of 1 along the other modes.");
	return false;
}

/* Where a slice begins in what it is a slice of; the map's may be one, too. */
static struct cj_int
start_of(const struct cj_tensor *v, uint32_t mode)
{
	return v->start == NULL ? cj_known(0) : v->start[mode];
}

/* A slice may end in front of the tensor's end: what is left of mode m of it,
 * from the tile's first element on, or not. */
static void
find_end(struct cj_elab *el, const struct cj_tma_value *t,
    const struct cj_tensor *v, uint32_t m, struct cj_tma_place *to)
{
	struct cj_int limit = cj_tuple_product(&el->al,
	    cj_tuple_get(v->cut->limit, m));

	to->is_limited[m] = cj_int_equal(&el->sym, limit,
	    cj_tuple_get(t->tensor->layout->shape, m)->value) != CJ_YES;
	to->left[m] = cj_int_sub(&el->sym, limit, to->at[m]);
	to->has_end |= to->is_limited[m];
}

/* Along the mode of stride 1 a chip stores whole units of 16 bytes: a tile that
 * reaches over an end inside one is not its own. */
static void
find_rest(struct cj_elab *el, const struct cj_tma_value *t,
    const struct cj_tensor *v, struct cj_tma_place *to)
{
	uint32_t m = t->mode[0];
	struct cj_int extent = cj_tuple_get(t->tensor->layout->shape, m)->value;

	if (!t->stores || v->cut == NULL || to->is_limited[m] ||
	    cj_tma_has_whole_units(el, t, extent))
		return;
	to->has_rest = to->is_limited[m] = true;
	to->left[m] = cj_int_sub(&el->sym, extent, to->at[m]);
}

/* Is the view a tile of the map's tensor, mode by mode? Its coordinates. */
static bool
tile_of(struct cj_elab *el, struct cj_span span, const struct cj_tma_value *t,
    const struct cj_tensor *v, struct cj_tma_place *to)
{
	const struct cj_layout *l = v->layout;
	uint32_t m;

	if (v->object != t->tensor->object || cj_layout_rank(l) != t->rank)
		return cj_no_map(el, span, "the view is not of the tensor "
		    "that the map was made for");
	for (m = 0; m < t->rank; m++) {
		const struct cj_tuple *c, *o = v->cut == NULL ? NULL :
		    v->cut->offset;

		c = cj_tuple_get(l->stride, m);
		to->at[m] = o == NULL || o->kind == CJ_TUPLE_INT ?
		    cj_known(0) : cj_tuple_get(o, m)->value;
		if (o != NULL && o->kind == CJ_TUPLE_INT && t->rank == 1)
			to->at[m] = o->value;
		if (v->cut != NULL)
			find_end(el, t, v, m, to);
		if (!cj_is_value(cj_tuple_product(&el->al,
		    cj_tuple_get(l->shape, m)), t->extent[m] * t->step[m]) ||
		    c->kind != CJ_TUPLE_INT || (t->extent[m] > 1 &&
		    cj_int_equal(&el->sym, c->value, cj_tuple_get(
		    t->tensor->layout->stride, m)->value) != CJ_YES))
			return cj_no_map(el, span, cj_printf(el->arena,
			    "mode %u of the view is no tile of %lld elements "
			    "of the map's tensor", m,
			    (long long)(t->extent[m] * t->step[m])));
		if (to->is_limited[m] && !v->is_guarded) {
			cj_help(cj_elab_report(el, CJ_DIAG_WRONG_SHAPE, span,
			    "mode %u of what the tile is of ends elsewhere "
			    "than the tensor, whose end alone TMA knows", m),
			    "Guard the tile in a stage of a pipeline: "
			    "guard(tile, fill = 0).");
			return false;
		}
	}
	find_rest(el, t, v, to);
	for (m = 0; m < t->rank; m++)
		to->at[m] = cj_int_add(&el->sym, to->at[m], cj_int_sub(
		    &el->sym, start_of(v, m), start_of(t->tensor, m)));
	return begins_alike(el, span, t, v, to->at);
}

/* ---- in shared memory ---------------------------------------------------- */

/* Stages follow each other, and each begins where a copy may. */
static bool
stages_fit(struct cj_elab *el, struct cj_span span,
    const struct cj_tensor *v)
{
	const struct cj_object *o = &el->m->objects.at[v->object];
	int64_t bytes;

	if (o->stages < 2)
		return true;
	bytes = cj_object_bytes(o) / o->stages;
	if (bytes % UNIT == 0)
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_UNALIGNED_COPY, span,
	    "copies by TMA begin at multiples of %d bytes, and the stages of "
	    "\"%s\" follow each other by %lld", UNIT, o->name,
	    (long long)bytes), "Let each stage begin at one: align(%d) behind "
	    "the field.", UNIT);
	return false;
}

bool
cj_tma_place_in_shared(struct cj_elab *el, struct cj_span span,
    const struct cj_tma_value *t, const struct cj_tensor *v,
    struct cj_int *at)
{
	const struct cj_layout *want = cj_unswizzled(el, t->shared);
	const struct cj_layout *have = cj_unswizzled(el, v->layout);
	uint32_t m, rank = cj_layout_rank(have);
	bool same = rank == (t->kind == CJ_MAP_TILES ? t->rank : 2) &&
	    v->layout->swizzle.bits == t->shared->swizzle.bits &&
	    v->layout->swizzle.base == t->shared->swizzle.base;
	int64_t i;

	for (m = 0; same && m < rank; m++) {
		same = cj_is_value(cj_tuple_product(&el->al,
		    cj_tuple_get(have->shape, m)), t->extent[m]);
		for (i = 0; same && i < t->extent[m]; i++)
			same = cj_mode_step(el, have, m, i) ==
			    cj_mode_step(el, want, m, i);
	}
	if (!same) {
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_SHAPE, span,
		    "this shared memory is laid out unlike the layout that "
		    "the map was made for"),
		    "Declare it with the layout that the map was given.");
		return false;
	}
	return stages_fit(el, span, v) && cj_swizzled_place(el, span, v, at);
}

/* Address bits decide what a swizzle exchanges: the object begins at a
 * multiple of its pattern. */
bool
cj_swizzled_place(struct cj_elab *el, struct cj_span span,
    const struct cj_tensor *v, struct cj_int *at)
{
	struct cj_object *o = &el->m->objects.at[v->object];
	const struct cj_tuple *inner = v->layout->offset;
	enum cj_map_swizzle swizzle;
	uint32_t align = 128, bytes = cj_kind_bits(v->element) / 8;

	if (!cj_swizzle_of_map(v->layout, v->element, &swizzle))
		return cj_refuse_layout(el, span, "units of 16 bytes alone are "
		    "exchanged, in rows of 32, 64 or 128");
	if (swizzle != CJ_MAP_PLAIN)
		align = (uint32_t)128 << swizzle;
	if (o->align < align)
		o->align = align;
	if (!cj_elab_fills(el, v->offset, bytes, align) &&
	    !cj_is_value(v->offset, 0) && swizzle != CJ_MAP_PLAIN)
		return cj_no_map(el, span, "the view does not begin at a whole "
		    "pattern of the swizzle");
	*at = inner == NULL ? v->offset :
	    cj_int_add(&el->sym, v->offset, inner->value);
	return true;
}

bool
cj_tma_place_in_tensor(struct cj_elab *el, struct cj_args *args,
    const struct cj_tma_value *t, struct cj_tma_place *to)
{
	uint32_t i = t->stores ? 2 : 1;

	switch (t->kind) {
	case CJ_MAP_TILES: break;
	case CJ_MAP_PIXELS: return cj_im2col_place(el, args, t, to);
	case CJ_MAP_ROWS: return cj_rows_place(el, args, t, to);
	}
	return tile_of(el, cj_arg_span(args, i), t, args->at[i].tensor, to);
}

bool
cj_tma_names_tensor(struct cj_elab *el, struct cj_args *args,
    const struct cj_tma_value *t, const char *what)
{
	uint32_t i = t->stores ? 2 : 1;
	const struct cj_value *v = &args->at[i];

	return (v->kind == CJ_VALUE_TENSOR &&
	    v->tensor->object == t->tensor->object) ||
	    cj_no_map(el, cj_arg_span(args, i), cj_printf(el->arena,
	    "a copy of %s names the tensor that its map was made for", what));
}

bool
cj_tma_begins_at_unit(struct cj_elab *el, struct cj_args *args,
    const struct cj_tma_value *t, const struct cj_tma_place *to)
{
	int64_t bytes = cj_kind_bits(t->tensor->element) / 8, rest;
	uint32_t i;
	struct cj_int at = to->at[t->kind == CJ_MAP_TILES ? t->mode[0] : 0];

	for (i = 0; t->stores && i < t->rank; i++)
		if (cj_int_range(&el->sym, to->at[i]).hi < 0)
			return cj_no_map(el, cj_arg_span(args, 2), "a store by "
			    "TMA begins in front of its tensor: only its end "
			    "may lie outside");
	for (rest = 1; rest * bytes < ROW_UNIT; rest++) {
		struct cj_int whole = cj_int_sub(&el->sym, at,
		    cj_known(rest));

		if (!cj_elab_fills(el, whole, bytes, ROW_UNIT))
			continue;
		cj_help(cj_elab_report(el, CJ_DIAG_UNALIGNED_COPY,
		    cj_arg_span(args, t->stores ? 2 : 1), "along the mode of "
		    "stride 1 a copy by TMA begins at multiples of %d bytes, "
		    "this one %lld behind one", ROW_UNIT, (long long)(rest *
		    bytes)), "Begin at %lld elements, or a multiple of them, "
		    "and leave out what is too much.",
		    (long long)(ROW_UNIT / bytes));
		return false;
	}
	return true;
}
