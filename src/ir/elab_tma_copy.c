/*
 * Copies of boxes through tensor maps: copy() with what tma_load(), tma_store()
 * and their kin have made. Where a copy is, its view says, by the coordinates
 * that a cut carries.
 */
#include "elab_gather.h"
#include "elab_tma.h"

/* ---- the view in global memory ------------------------------------------- */

/* Outside of its tensor a load has zeros, a store writes nothing, and
 * nothing else is asked. */
static bool
guard_fits(struct cj_elab *el, struct cj_span span, const struct cj_tensor *v)
{
	struct cj_value fill;

	if (v->is_guarded && v->pred != NULL) {
		cj_elab_report(el, CJ_DIAG_WRONG_PLACE, span,
		    "TMA asks no pred, it leaves out what is outside of the "
		    "tensor");
		return false;
	}
	if (!v->is_guarded || !v->has_fill)
		return true;
	fill = cj_elab_coerce(el, span, v->element, *v->fill);
	if (fill.kind == CJ_VALUE_ERROR)
		return false;
	if ((fill.kind == CJ_VALUE_SCALAR && fill.bits == 0) ||
	    (fill.kind == CJ_VALUE_INT && cj_is_value(fill.i, 0)))
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_WRONG_PLACE, span,
	    "TMA fills with 0 alone"),
	    "Guard with fill = 0, or copy by another atom.");
	return false;
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

enum { UNIT = 128, ROW_UNIT = 16 };

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

/* Does it hold the tile as the map's layout does? Its first element, without
 * the swizzle. */
static bool
place_of(struct cj_elab *el, struct cj_span span,
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

/* Of rows by number: a column, and four of them for each box. */
static unsigned
add_rows(struct cj_elab *el, const struct cj_tma_value *t, uint32_t b,
    const struct cj_tma_place *to, cj_ref *refs, unsigned n)
{
	uint32_t i;

	refs[n++] = cj_elab_ref_int(el, cj_int_add(&el->sym, to->at[0],
	    cj_known(t->start[b][0])));
	for (i = 0; i < CJ_MAP_ROW_COUNT; i++)
		refs[n++] = cj_elab_ref_int(el, to->rows[t->start[b][1] + i]);
	return n;
}

/* coordinates of box b behind refs[n] */
static unsigned
add_coordinates(struct cj_elab *el, const struct cj_tma_value *t, uint32_t b,
    const struct cj_tma_place *to, cj_ref *refs, unsigned n)
{
	bool has_pixels = t->kind == CJ_MAP_PIXELS;
	uint32_t i;

	if (t->kind == CJ_MAP_ROWS)
		return add_rows(el, t, b, to, refs, n);
	for (i = 0; i < t->rank; i++)
		refs[n++] = cj_elab_ref_int(el, cj_int_add(&el->sym,
		    to->at[has_pixels ? i : t->mode[i]], cj_known(
		    t->start[b][i] * (has_pixels ? 1 :
		    t->step[t->mode[i]]))));
	for (i = t->rank; has_pixels && i < 2 * t->rank - 2; i++)
		refs[n++] = cj_elab_ref_int(el, to->at[i]);
	return n;
}

/* Into a stage that is filled, or out of one that is read: pipelines see to
 * the rest. */
static bool
is_staged(struct cj_elab *el, struct cj_args *args,
    const struct cj_tensor *shared, bool stores)
{
	const struct cj_open_stage *s = el->stage;

	while (s != NULL && s->id != shared->stage)
		s = s->outer;
	return shared->stage != 0 && s != NULL && s->is_produce == !stores &&
	    cj_arg_named(el, args, "raw") == NULL &&
	    cj_arg_named(el, args, "barrier") == NULL;
}

/* ---- tiles that blocks of a cluster share -------------------------------- */

/* The part that this block sends, and the blocks that it goes to. */
struct sharing {
	uint32_t modes;		/* bits; 0: nobody shares */
	struct cj_int part;
	cj_ref ranks;
};

static bool
check_cluster(struct cj_elab *el, struct cj_span span,
    const struct cj_tma_value *t)
{
	const int64_t *c = el->m->functions.at[el->em->function].cluster;

	if ((t->along[0] == 1 || t->along[0] == c[0]) &&
	    (t->along[1] == 1 || t->along[1] == c[1]))
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_WRONG_SHAPE, span, "this load is "
	    "for clusters of %lld x %lld blocks that share it, the launch has "
	    "%lld x %lld", (long long)t->along[0], (long long)t->along[1],
	    (long long)c[0], (long long)c[1]), "A load is shared by all "
	    "blocks along a mode of the cluster, or by one: launch cluster("
	    "%lld, %lld), or say multicast = (%lld, %lld).",
	    (long long)(t->along[0] > 1 ? t->along[0] : c[0]),
	    (long long)(t->along[1] > 1 ? t->along[1] : c[1]),
	    (long long)(t->along[0] > 1 ? c[0] : 1),
	    (long long)(t->along[1] > 1 ? c[1] : 1));
	return false;
}

/* `bits` shifted up by the index. */
static cj_ref
shifted(struct cj_elab *el, uint32_t bits, struct cj_int by)
{
	const cj_type t = cj_type_of(CJ_KIND_U32, 1);
	struct cj_builder *b = &el->em->b;
	cj_ref low = cj_emit_bits(b, t, bits), n;

	if (cj_is_value(by, 0))
		return low;
	n = cj_elab_ref_int(el, by);
	return cj_emit2(b, CJ_OP_SHL, t, low, cj_emit1(b, CJ_OP_CONVERT, t,
	    n));
}

/* Blocks have rank x + X y. */
static void
find_sharing(struct cj_elab *el, const struct cj_tma_value *t,
    struct sharing *s)
{
	const int64_t *c = el->m->functions.at[el->em->function].cluster;
	struct cj_int rank, x, y;
	uint32_t row = ((uint32_t)1 << c[0]) - 1, column = 0;
	int64_t i;

	memset(s, 0, sizeof *s);
	s->modes = (t->along[0] > 1) | (uint32_t)(t->along[1] > 1) << 1;
	if (s->modes == 0)
		return;
	rank = cj_elab_special(el, CJ_SPECIAL_BLOCK_RANK);
	x = cj_int_mod(&el->sym, rank, cj_known(c[0]));
	y = cj_int_div(&el->sym, rank, cj_known(c[0]));
	for (i = 0; i < c[1]; i++)
		column |= (uint32_t)1 << (c[0] * i);
	s->part = s->modes == 1 ? x : s->modes == 2 ? y : rank;
	s->ranks = s->modes == 1 ? shifted(el, row, cj_int_mul(&el->sym, y,
	    cj_known(c[0]))) : s->modes == 2 ? shifted(el, column, x) :
	    shifted(el, ((uint32_t)1 << (c[0] * c[1])) - 1, cj_known(0));
}

/* Each block counts all parts, so that all must be sent each time. */
static bool
stands_in_stage(struct cj_elab *el, struct cj_span span)
{
	const struct cj_region_info *g = &el->m->regions.at[el->em->b.region];

	if (g->owner != 0 && cj_inst(el->m, g->owner)->op == CJ_OP_PRODUCE)
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_WRONG_PLACE, span,
	    "a tile that blocks share is copied in a produce block itself, "
	    "with no condition around"), "Every block sends its part of every "
	    "tile.");
	return false;
}

/* The map itself, or one that map = m names; 0: reported. */
static cj_ref
map_of(struct cj_elab *el, struct cj_args *args, const struct cj_tma_value *t)
{
	const struct cj_value *v = cj_arg_named(el, args, "map");

	if (v == NULL)
		return cj_elab_ref(el, &t->map, CJ_KIND_VOID);
	return cj_elab_map_at(el, args->span, v);
}

void
cj_tma_emit_boxes(struct cj_elab *el, const struct cj_tma_value *t,
    const struct cj_tma_boxes *boxes, const struct cj_tma_place *to)
{
	cj_ref refs[4 + CJ_MAP_NUMBERS];
	uint32_t b;
	unsigned n;

	for (b = 0; b < t->boxes; b++) {
		n = 0;
		refs[n++] = cj_elab_ref_int(el, cj_int_add(&el->sym,
		    boxes->place, cj_known(t->place[b])));
		refs[n++] = boxes->map;
		if (boxes->copy.signal != 0)
			refs[n++] = boxes->signal;
		n = add_coordinates(el, t, b, to, refs, n);
		if (boxes->ranks != 0)
			refs[n++] = boxes->ranks;
		cj_emit(&el->em->b, t->stores ? CJ_OP_TMA_STORE :
		    CJ_OP_TMA_LOAD, 0, cj_module_tma(el->m, &boxes->copy),
		    refs, n);
	}
}

static bool
place_in_tensor(struct cj_elab *el, struct cj_args *args,
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

/* A copy begins at a whole unit along the mode of stride 1; what is certain not
 * to is refused, the rest is the executor's. False: reported. */
static bool
begins_at_unit(struct cj_elab *el, struct cj_args *args,
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

/* ---- what will be loaded soon -------------------------------------------- */

/* Which boxes of a tile come to L2, with no place in shared memory. */
struct cj_value
cj_tma_ask(struct cj_elab *el, struct cj_args *args,
    const struct cj_tma_value *t)
{
	const struct cj_value *tile = &args->at[1];
	struct cj_tma_place to = { .rows = NULL };
	cj_ref refs[1 + CJ_MAP_NUMBERS];
	uint32_t b;

	if (tile->kind == CJ_VALUE_ERROR)
		return *tile;
	if (tile->kind != CJ_VALUE_TENSOR || t->stores ||
	    t->kind != CJ_MAP_TILES)
		return cj_elab_error(el, CJ_DIAG_WRONG_KIND, args->span,
		    "a tile comes to L2 by what tma_load() made of its tensor");
	if (!cj_elab_not_gathered(el, cj_arg_span(args, 1), tile->tensor,
	    "TMA moves boxes of neighbours", NULL) ||
	    !guard_fits(el, cj_arg_span(args, 1), tile->tensor) ||
	    !tile_of(el, cj_arg_span(args, 1), t, tile->tensor, &to) ||
	    !begins_at_unit(el, args, t, &to))
		return cj_value_error();
	refs[0] = cj_elab_ref(el, &t->map, CJ_KIND_VOID);
	for (b = 0; b < t->boxes; b++)
		cj_emit(&el->em->b, CJ_OP_TMA_PREFETCH, 0,
		    t->record, refs,
		    add_coordinates(el, t, b, &to, refs, 1));
	return cj_value_none();
}

/* ---- the copy ------------------------------------------------------------ */

/* A copy as it is written, and what becomes of it. */
struct call {
	struct cj_elab *el;
	struct cj_args *args;
	const struct cj_copy_value *copy;
	const struct cj_tma_value *t;
	const struct cj_value *global, *shared, *barrier;
	uint32_t shared_at;		/* which argument that is */
	bool is_staged;
	struct cj_tma_boxes boxes;
	struct cj_tma_place to;
};

static bool
check_sides(struct call *c)
{
	struct cj_elab *el = c->el;
	bool *is_early = &c->boxes.copy.is_early;

	if (c->global->kind != CJ_VALUE_TENSOR || c->shared->kind !=
	    CJ_VALUE_TENSOR || el->m->objects.at[c->shared->tensor->object].kind
	    != CJ_OBJECT_SHARED) {
		cj_elab_error(el, CJ_DIAG_WRONG_PLACE, c->args->span,
		    "%s copies %s", c->copy->text, c->t->stores ?
		    "from shared to global memory" :
		    "from global to shared memory");
		return false;
	}
	if (!cj_arg_flag(el, c->args, "early", is_early))
		return false;
	if (*is_early && c->t->stores)
		cj_elab_error(el, CJ_DIAG_WRONG_ARGUMENTS, c->args->span,
		    "a store waits for the launch in front");
	return !*is_early || !c->t->stores;
}

/* Whoever fills or reads a stage of a pipeline names no barrier. */
static bool
check_stage(struct call *c)
{
	struct cj_elab *el = c->el;

	c->is_staged = is_staged(el, c->args, c->shared->tensor,
	    c->t->stores);
	if (!c->is_staged)
		return cj_arg_completes(el, c->args, !c->t->stores,
		    "a copy by TMA");
	if (cj_elab_threads_here(el) == 0) {
		cj_elab_error(el, CJ_DIAG_NOT_KNOWN, c->args->span,
		    "stages that TMA fills or reads need a block of known "
		    "threads");
		return false;
	}
	if (cj_arg_named(el, c->args, "multicast") != NULL) {
		cj_elab_error(el, CJ_DIAG_UNSUPPORTED, c->args->span,
		    "loads to several blocks into stages are not supported by "
		    "this version: say barrier = b[i]");
		return false;
	}
	el->m->objects.at[c->shared->tensor->object].reads |= c->t->stores;
	return true;
}

static bool
is_own_memory(struct call *c)
{
	if (!c->shared->tensor->is_remote && (!c->t->stores ||
	    cj_arg_named(c->el, c->args, "multicast") == NULL))
		return true;
	cj_help(cj_elab_report(c->el, CJ_DIAG_WRONG_PLACE, c->args->span,
	    "TMA copies to and from the memory of the own block"),
	    "A load goes to several blocks, the same place of each, by "
	    "multicast = bits of their ranks.");
	return false;
}

static bool
are_alike(struct call *c, struct cj_span span)
{
	enum cj_kind map = c->t->tensor->element;
	enum cj_kind memory = c->shared->tensor->element;

	if (memory == map)
		return true;
	cj_help(cj_elab_report(c->el, CJ_DIAG_MIXED_TYPES, span,
	    "a copy by TMA converts nothing: the tensor of its map has "
	    "elements of %s, the shared memory of %s", cj_kind_text(map),
	    cj_kind_text(memory)), "Declare the shared memory with elements "
	    "of %s.", cj_kind_text(map));
	return false;
}

static bool
find_places(struct call *c)
{
	struct cj_elab *el = c->el;
	struct cj_span span = cj_arg_span(c->args, c->shared_at);
	uint32_t i;

	for (i = 1; i <= 2; i++)
		if (!cj_elab_not_gathered(el, cj_arg_span(c->args, i),
		    c->args->at[i].tensor, "TMA moves boxes of neighbours",
		    NULL))
			return false;
	return are_alike(c, span) &&
	    guard_fits(el, cj_arg_span(c->args, 3 - c->shared_at),
	    c->global->tensor) && place_in_tensor(el, c->args, c->t, &c->to)
	    && begins_at_unit(el, c->args, c->t, &c->to)
	    && place_of(el, span, c->t, c->shared->tensor, &c->boxes.place)
	    && cj_elab_stage_allows(el, span, c->shared->tensor,
	    !c->t->stores);
}

static bool
name_signal(struct call *c)
{
	if (c->barrier == NULL)
		return true;
	c->boxes.copy.signal = cj_arg_mbarrier(c->el, c->args->span,
	    c->barrier, c->shared->tensor, &c->boxes.signal);
	return c->boxes.copy.signal != 0 &&
	    cj_arg_ranks(c->el, c->args, &c->boxes.ranks);
}

/* Blocks that load one tile together: each sends its part to all of them. */
static bool
share_load(struct call *c)
{
	struct cj_elab *el = c->el;
	const struct cj_tma_value *t = c->t;
	struct sharing share = { 0 };
	uint32_t cut = t->mode[t->cut_mode];

	if (t->stores || t->along[0] * t->along[1] <= 1)
		return true;
	if (c->barrier != NULL) {
		cj_elab_error(el, CJ_DIAG_WRONG_PLACE, c->args->span,
		    "what blocks share is copied into stages of a pipeline");
		return false;
	}
	if (!check_cluster(el, c->args->span, t) ||
	    !stands_in_stage(el, c->args->span))
		return false;
	find_sharing(el, t, &share);
	c->boxes.ranks = share.ranks;
	c->boxes.copy.share = share.modes;
	c->boxes.copy.cut = t->cut_mode;
	c->to.at[cut] = cj_int_add(&el->sym, c->to.at[cut], cj_int_mul(
	    &el->sym, share.part, cj_known(t->cut_extent * t->step[cut])));
	c->boxes.place = cj_int_add(&el->sym, c->boxes.place, cj_int_mul(
	    &el->sym, share.part, cj_known(t->cut_step)));
	return true;
}

struct cj_value
cj_elab_copy_tma(struct cj_elab *el, struct cj_args *args,
    const struct cj_copy_value *copy)
{
	const struct cj_tma_value *t = copy->tma;
	struct call c = { .el = el, .args = args, .copy = copy, .t = t,
	    .global = &args->at[t->stores ? 2 : 1],
	    .shared = &args->at[t->stores ? 1 : 2],
	    .shared_at = t->stores ? 1 : 2,
	    .barrier = cj_arg_named(el, args, "barrier"),
	    .boxes = { .copy = { .map = t->record, .evict = t->evict,
	    .reduces = t->reduces, .how = t->how } } };
	struct cj_access access = { .align = 128 };

	if (!check_sides(&c) || !check_stage(&c) || !is_own_memory(&c) ||
	    !find_places(&c))
		return cj_value_error();
	cj_elab_touch(el, cj_arg_span(args, c.shared_at), c.shared->tensor,
	    !t->stores, t->stores ? "tma_store" : "tma_load");
	c.boxes.map = map_of(el, args, t);
	if (c.boxes.map == 0)
		return cj_value_error();
	access.object = c.shared->tensor->object;
	if (!t->stores)
		el->m->objects.at[access.object].writes = true;
	c.boxes.copy.shared = cj_module_access(el->m, &access);
	if (!name_signal(&c) || !share_load(&c))
		return cj_value_error();
	/* a map of the device's has its own end: the executor asks */
	if (c.to.has_end || (c.to.has_rest && cj_arg_named(el, args, "map") ==
	    NULL))
		return cj_elab_copy_edge(el, args, t, &c.boxes, &c.to,
		    c.is_staged);
	cj_tma_emit_boxes(el, t, &c.boxes, &c.to);
	return cj_value_none();
}

/* ---- groups of stores ---------------------------------------------------- */

struct cj_value
cj_builtin_bulk_commit(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	(void)args;
	(void)row;
	cj_emit0(&el->em->b, CJ_OP_BULK_COMMIT, 0, 0);
	return cj_value_none();
}

enum { MOST_GROUPS = 64 };

struct cj_value
cj_elab_wait_groups(struct cj_elab *el, struct cj_args *args, enum cj_op op,
    int64_t most)
{
	int64_t n;

	if (!cj_value_to_known(el, args->span, &args->at[0],
	    "the number of groups that may stay open", &n))
		return cj_value_error();
	if (n < 0 || n > most)
		return cj_elab_error(el, CJ_DIAG_WRONG_ARGUMENTS, args->span,
		    "0 to %lld groups may stay open, not %lld",
		    (long long)most, (long long)n);
	cj_emit0(&el->em->b, op, 0, (uint32_t)n);
	return cj_value_none();
}

struct cj_value
cj_builtin_bulk_wait(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	(void)row;
	return cj_elab_wait_groups(el, args, CJ_OP_BULK_WAIT, MOST_GROUPS);
}

struct cj_value
cj_builtin_bulk_wait_read(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	(void)row;
	return cj_elab_wait_groups(el, args, CJ_OP_BULK_WAIT_READ,
	    MOST_GROUPS);
}
