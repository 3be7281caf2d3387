/*
 * tma_load(t, layout), tma_store(t, layout): tensor maps of the host part, and
 * copies of boxes through them.
 *
 * The tile is what the layout of shared memory holds, a mode of it for each of
 * the tensor. The box begins along the tensor's mode of stride 1 and grows over
 * other modes as long as shared memory goes on without a gap; what is left are
 * several boxes, each at its own place of both sides. Where a copy is, its
 * view says: the coordinates that a cut carries.
 */
#include "elab_gather.h"
#include "elab_tma.h"

/* ---- where shared memory holds the tile ---------------------------------- */

const struct cj_layout *
cj_unswizzled(struct cj_elab *el, const struct cj_layout *l)
{
	struct cj_layout *made = cj_memdup(el->arena, l, sizeof *l);

	made->swizzle = (struct cj_swizzle){ 0, 0, 0 };
	made->offset = NULL;
	made->is_composed = false;
	return made;
}

/* The offset of step i of a mode; the layout has no swizzle. */
int64_t
cj_mode_step(struct cj_elab *el, const struct cj_layout *l, uint32_t mode,
    int64_t i)
{
	const struct cj_tuple *at[CJ_MAX_RANK], *c;
	uint32_t m, rank = cj_layout_rank(l);
	struct cj_int o = cj_known(0);

	for (m = 0; m < rank; m++)
		at[m] = cj_tuple_known(&el->al, m == mode ? i : 0);
	c = cj_is_leaf(l->shape) ? at[0] : cj_tuple_make(&el->al, at, rank);
	if (!cj_layout_offset(&el->al, l, c, &o) || !cj_is_known(o))
		return -1;
	return o.value;
}

bool
cj_swizzle_of_map(const struct cj_layout *l, enum cj_kind k,
    enum cj_map_swizzle *out)
{
	int bytes = (int)cj_kind_bits(k) / 8, base = l->swizzle.base;

	*out = CJ_MAP_PLAIN;
	if (l->swizzle.bits == 0)
		return true;
	for (; bytes > 1; bytes /= 2)
		base++;
	if (base != 4 || l->swizzle.shift != 3 || l->swizzle.bits > 3)
		return false;
	*out = (enum cj_map_swizzle)l->swizzle.bits;
	return true;
}

/* How many steps of a mode lie `each` apart from 0 on, up to a box's limit. */
static int64_t
run_of(struct cj_elab *el, const struct cj_layout *l,
    const struct cj_tma_value *t, uint32_t mode, int64_t each)
{
	int64_t n = 1;

	while (n < t->extent[mode] && n < t->most[mode] &&
	    cj_mode_step(el, l, mode, n) == n * each)
		n++;
	while (t->extent[mode] % n != 0)
		n--;
	return n;
}

static bool
refuse(struct cj_elab *el, struct cj_span span, const char *what)
{
	cj_elab_report(el, CJ_DIAG_WRONG_SHAPE, span, "%s", what);
	return false;
}

/* Where another layout of shared memory is the remedy. */
static bool
refuse_layout(struct cj_elab *el, struct cj_span span, const char *what)
{
	cj_help(cj_elab_report(el, CJ_DIAG_WRONG_SHAPE, span, "%s", what),
	    "Make the layout with smem_layout(T, shape), unit = the mode in "
	    "which the tensor has stride 1.");
	return false;
}

static bool
unit_mode(struct cj_elab *el, struct cj_span span, struct cj_tma_value *t,
    uint32_t *unit)
{
	const struct cj_layout *l = t->tensor->layout;
	uint32_t m;

	for (m = 0; m < t->rank; m++)
		if (cj_is_value(cj_tuple_get(l->stride, m)->value, 1) &&
		    (t->extent[m] == 1 ||
		    cj_mode_step(el, cj_unswizzled(el, t->shared), m, 1) ==
		    1)) {
			*unit = m;
			return true;
		}
	return refuse_layout(el, span, "shared memory does not go along the "
	    "mode in which the tensor has stride 1");
}

/* Modes of the map in order of shared memory, and the box. */
static bool
find_box(struct cj_elab *el, struct cj_span span, struct cj_tma_value *t,
    struct cj_map *map)
{
	const struct cj_layout *l = cj_unswizzled(el, t->shared);
	bool taken[CJ_MAP_MODES] = { false }, grows = true;
	uint32_t unit, m, n;
	int64_t size;

	if (!unit_mode(el, span, t, &unit))
		return false;
	t->mode[0] = unit;
	taken[unit] = true;
	size = run_of(el, l, t, unit, 1);
	map->box[0] = (uint32_t)size;
	for (n = 1; n < t->rank; n++) {
		for (m = 0; m < t->rank; m++)
			if (!taken[m] && grows && t->extent[m] > 1 &&
			    cj_mode_step(el, l, m, 1) == size)
				break;
		grows = m < t->rank;
		for (m = grows ? m : 0; !grows && taken[m]; m++)
			;
		taken[m] = true;
		t->mode[n] = m;
		map->box[n] = grows ? (uint32_t)run_of(el, l, t, m, size) : 1;
		grows &= map->box[n] == t->extent[m];
		size *= map->box[n];
	}
	return true;
}

/* Where each box is; each must lie as the first one does. */
static bool
place_boxes(struct cj_elab *el, struct cj_span span, struct cj_tma_value *t,
    const struct cj_map *map)
{
	const struct cj_layout *l = cj_unswizzled(el, t->shared);
	int64_t each = 1, count = 1, b, rest, i, first;
	uint32_t n, m;

	for (n = 0; n < t->rank; n++)
		count *= t->extent[t->mode[n]] / map->box[n];
	if (count > CJ_MOST_BOXES)
		return refuse(el, span, cj_printf(el->arena, "the tile takes "
		    "%lld boxes, the most are %d", (long long)count,
		    CJ_MOST_BOXES));
	t->boxes = (uint32_t)count;
	for (b = 0; b < count; b++)
		for (n = 0, rest = b; n < t->rank; n++) {
			m = t->mode[n];
			t->start[b][n] = rest % (t->extent[m] / map->box[n]) *
			    map->box[n];
			rest /= t->extent[m] / map->box[n];
			t->place[b] += cj_mode_step(el, l, m, t->start[b][n]);
		}
	for (b = 0; b < count; b++)
		if (t->place[b] * cj_kind_bits(t->tensor->element) % 1024 != 0)
			return refuse(el, span, cj_printf(el->arena, "boxes "
			    "begin at multiples of 128 bytes of shared memory, "
			    "one of this tile at %lld", (long long)(t->place[b]
			    * cj_kind_bits(t->tensor->element) / 8)));
	for (n = 0; n < t->rank; each *= map->box[n++])
		for (i = 0; i < t->extent[t->mode[n]]; i++) {
			first = i - i % map->box[n];
			if (cj_mode_step(el, l, t->mode[n], i) -
			    cj_mode_step(el, l, t->mode[n], first) !=
			    i % map->box[n] * each)
				return refuse_layout(el, span, "the parts of "
				    "the tile lie unlike in shared memory");
		}
	return true;
}

/* ---- what the tensor must be --------------------------------------------- */

bool
cj_tma_check_tensor(struct cj_elab *el, struct cj_span span,
    const struct cj_tma_value *t)
{
	const struct cj_layout *l = t->tensor->layout;
	const struct cj_object *o = &el->m->objects.at[t->tensor->object];
	uint32_t m, bytes = cj_kind_bits(t->tensor->element) / 8;

	if (!cj_elab_not_gathered(el, span, t->tensor,
	    "TMA moves boxes of neighbours", NULL))
		return false;
	if (o->kind != CJ_OBJECT_TENSOR) {
		cj_elab_error(el, CJ_DIAG_UNSUPPORTED, span, "tensor maps of "
		    "anything but tensor arguments are not supported by this "
		    "version");
		return false;
	}
	if (t->rank > CJ_MAP_MODES || (!t->is_im2col &&
	    t->rank != cj_layout_rank(t->shared)) ||
	    t->tensor->cut != NULL || bytes == 0)
		return refuse(el, span, cj_printf(el->arena, "a tensor map "
		    "has up to 5 modes of whole bytes, the same as shared "
		    "memory; these are %u and %u", t->rank,
		    cj_layout_rank(t->shared)));
	for (m = 0; m < t->rank; m++)
		if (!cj_is_leaf(cj_tuple_get(l->shape, m)) ||
		    cj_tuple_get(l->stride, m)->kind != CJ_TUPLE_INT)
			return refuse(el, span, "a tensor map has single "
			    "modes, this tensor has nested ones");
	if (o->align >= 16 && cj_int_divisor(&el->sym, t->tensor->offset) *
	    bytes % 16 == 0)
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_UNALIGNED_COPY, span,
	    "TMA needs 16-byte alignment, \"%s\" has %u", o->name, o->align),
	    "State it in the contract: align(16).");
	return false;
}

cj_ref
cj_tma_encode(struct cj_elab *el, const struct cj_tma_value *t)
{
	const struct cj_layout *l = t->tensor->layout;
	cj_ref refs[1 + 2 * CJ_MAP_MODES];
	uint32_t n;

	refs[0] = cj_elab_ref_int(el, t->tensor->offset);
	for (n = 0; n < t->rank; n++)
		refs[1 + n] = cj_elab_ref_int(el, cj_tuple_get(l->shape,
		    t->mode[n])->value);
	for (n = 0; n < t->rank; n++)
		refs[1 + t->rank + n] = cj_elab_ref_int(el,
		    cj_tuple_get(l->stride, t->mode[n])->value);
	return cj_emit(&el->em->b, CJ_OP_MAP_ENCODE,
	    cj_type_of(CJ_KIND_MAP, 1), t->record, refs, 1 + 2 * t->rank);
}

/* box = shape: no larger boxes, and exactly those. */
static bool
limit_box(struct cj_elab *el, struct cj_args *args, struct cj_tma_value *t)
{
	const struct cj_value *v = cj_arg_named(el, args, "box");
	const struct cj_tuple *shape;
	uint32_t m;

	for (m = 0; m < t->rank; m++)
		t->most[m] = CJ_MOST_BOX;
	if (v == NULL)
		return true;
	shape = cj_value_to_tuple(el, args->span, v);
	if (shape == NULL)
		return false;
	if (cj_tuple_rank(shape) != t->rank || !cj_tuple_is_known(shape))
		return refuse(el, args->span, "a box has a known extent for "
		    "each mode of the tensor");
	for (m = 0; m < t->rank; m++) {
		t->most[m] = cj_tuple_product(&el->al, cj_tuple_get(shape, m))
		    .value;
		if (t->most[m] < 1 || t->most[m] > CJ_MOST_BOX ||
		    t->extent[m] % t->most[m] != 0)
			return refuse(el, args->span, cj_printf(el->arena,
			    "a box of %lld in mode %u does not divide the tile "
			    "of %lld; the most are %d", (long long)t->most[m],
			    m, (long long)t->extent[m], CJ_MOST_BOX));
	}
	return true;
}

/* What was asked for is what there is? */
static bool
is_asked(struct cj_elab *el, struct cj_args *args,
    const struct cj_tma_value *t, const struct cj_map *map)
{
	uint32_t n;

	for (n = 0; n < t->rank && cj_arg_named(el, args, "box") != NULL; n++)
		if (map->box[n] != t->most[t->mode[n]])
			return refuse(el, args->span, cj_printf(el->arena,
			    "shared memory holds boxes of %u in mode %u one "
			    "behind the other, not of %lld", map->box[n],
			    t->mode[n], (long long)t->most[t->mode[n]]));
	return true;
}

static bool
find_promotion(struct cj_elab *el, struct cj_args *args, struct cj_map *map)
{
	const struct cj_value *v = cj_arg_named(el, args, "promote");
	int64_t bytes = CJ_MAP_PROMOTE;

	if (v != NULL && !cj_value_to_known(el, args->span, v, "the bytes that "
	    "L2 fetches", &bytes))
		return false;
	map->promote = (uint32_t)bytes;
	if (bytes == 0 || bytes == 64 || bytes == 128 || bytes == 256)
		return true;
	cj_elab_error(el, CJ_DIAG_WRONG_ARGUMENTS, args->span,
	    "\"promote\" is 0, 64, 128 or 256 bytes");
	return false;
}

/* multicast = (x, y): so many blocks of the cluster along each of its modes
 * have the same tile. */
static bool
find_sharers(struct cj_elab *el, struct cj_args *args, struct cj_tma_value *t)
{
	const struct cj_value *v = cj_arg_named(el, args, "multicast");
	uint32_t m;

	t->along[0] = t->along[1] = 1;
	if (v == NULL)
		return true;
	if (v->kind != CJ_VALUE_TUPLE || v->tuple->count != 2) {
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_ARGUMENTS,
		    args->span, "\"multicast\" says how many blocks along each "
		    "of two modes of the cluster share a tile"),
		    "tma_load(A, layout, multicast = (1, 2))");
		return false;
	}
	for (m = 0; m < 2; m++)
		if (!cj_value_to_known(el, args->span, &v->tuple->at[m],
		    "a number of blocks", &t->along[m]) ||
		    t->along[m] < 1 || t->along[m] > 16)
			return false;
	return true;
}

/* Cut each box along its slowest mode, into whole rows of the swizzle. */
static bool
cut_boxes(struct cj_elab *el, struct cj_span span, struct cj_tma_value *t,
    struct cj_map *map)
{
	int64_t parts = t->along[0] * t->along[1], step = 1;
	uint32_t n = map->rank, i;

	if (parts == 1)
		return true;
	while (n > 1 && map->box[n - 1] == 1)
		n--;
	n--;
	for (i = 0; i < n; i++)
		step *= map->box[i];
	if (map->box[n] % parts != 0 || (map->swizzle != CJ_MAP_PLAIN &&
	    (n == 0 || map->box[n] / parts % 8 != 0)))
		return refuse(el, span, cj_printf(el->arena, "%lld blocks "
		    "cannot send equal parts of a box of %u: these are whole "
		    "rows of its swizzle, 8 at a time", (long long)parts,
		    (unsigned)map->box[n]));
	t->cut_mode = n;
	t->cut_extent = map->box[n] / parts;
	t->cut_step = step * t->cut_extent;
	map->box[n] /= (uint32_t)parts;
	return true;
}

static bool
make_map(struct cj_elab *el, struct cj_args *args, struct cj_tma_value *t)
{
	struct cj_span span = args->span;
	struct cj_map map;
	uint32_t m;

	memset(&map, 0, sizeof map);
	for (m = 0; m < t->rank; m++) {
		struct cj_int n = cj_tuple_product(&el->al,
		    cj_tuple_get(t->shared->shape, m));

		if (!cj_is_known(n))
			return refuse(el, span, "the tile has known extents");
		t->extent[m] = n.value;
	}
	map.object = t->tensor->object;
	map.rank = t->rank;
	if (!cj_swizzle_of_map(t->shared, t->tensor->element, &map.swizzle))
		return refuse_layout(el, span, "TMA exchanges units of 16 "
		    "bytes alone, in rows of 32, 64 or 128");
	if (!limit_box(el, args, t) || !find_promotion(el, args, &map) ||
	    !find_box(el, span, t, &map) || !is_asked(el, args, t, &map) ||
	    !place_boxes(el, span, t, &map) ||
	    !find_sharers(el, args, t) || !cut_boxes(el, span, t, &map))
		return false;
	if (map.box[0] * cj_kind_bits(t->tensor->element) % 128 != 0)
		return refuse(el, span, cj_printf(el->arena, "rows of a box "
		    "are whole units of 16 bytes, these have %u elements of "
		    "%s", map.box[0], cj_kind_text(t->tensor->element)));
	if (map.swizzle != CJ_MAP_PLAIN && map.box[0] *
	    cj_kind_bits(t->tensor->element) > (uint32_t)128 << map.swizzle)
		return refuse_layout(el, span, cj_printf(el->arena, "rows of "
		    "a box are as long as the swizzle at most, %u bytes, these "
		    "have %u", 16u << map.swizzle, map.box[0] *
		    cj_kind_bits(t->tensor->element) / 8));
	t->record = cj_module_map(el->m, &map);
	t->map = cj_value_regs(el, CJ_KIND_MAP, NULL, cj_tma_encode(el, t));
	return true;
}

struct cj_value
cj_tma_copy_value(struct cj_elab *el, const struct cj_tma_value *t,
    const char *name)
{
	struct cj_atom_value atom = { .use = CJ_ATOM_TMA };
	struct cj_copy_value *c = CJ_NEW(el->arena, struct cj_copy_value);

	atom.text = cj_printf(el->arena, "%s(...)", name);
	atom.element = t->tensor->element;
	c->atom = cj_memdup(el->arena, &atom, sizeof atom);
	c->bits = cj_kind_bits(atom.element);
	c->tma = t;
	c->text = atom.text;
	return (struct cj_value){ .kind = CJ_VALUE_COPY, .copy = c };
}

struct cj_tma_value *
cj_tma_begin(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	struct cj_tma_value *t = CJ_NEW(el->arena, struct cj_tma_value);

	t->shared = cj_arg_layout(el, args, 1);
	if (t->shared == NULL || args->at[0].kind == CJ_VALUE_ERROR)
		return NULL;
	if (args->at[0].kind != CJ_VALUE_TENSOR) {
		cj_elab_error(el, CJ_DIAG_WRONG_KIND, cj_arg_span(args, 0),
		    "%s takes a tensor, this is %s", row->name,
		    cj_value_what(el, &args->at[0]));
		return NULL;
	}
	if (el->target != NULL && el->target->number < 90) {
		cj_elab_error(el, CJ_DIAG_NO_ATOM, args->span,
		    "%s needs the target sm_90 or later, this is %s",
		    row->name, el->target->name);
		return NULL;
	}
	t->tensor = args->at[0].tensor;
	t->rank = cj_layout_rank(t->tensor->layout);
	return t;
}

static struct cj_value
make(struct cj_elab *el, struct cj_args *args, const struct cj_builtin *row,
    bool stores)
{
	struct cj_tma_value *t = cj_tma_begin(el, args, row);

	if (t == NULL)
		return cj_value_error();
	t->stores = stores;
	if (!cj_arg_evict(el, args, &t->evict) || (stores &&
	    !cj_arg_reduction(el, args, &t->reduces, &t->how)) ||
	    (t->reduces && !cj_elab_can_combine(el, args->span,
	    t->tensor->element, t->how, false)))
		return cj_value_error();
	if (!cj_tma_check_tensor(el, args->span, t) ||
	    !make_map(el, args, t))
		return cj_value_error();
	if (stores)
		el->m->objects.at[t->tensor->object].writes = true;
	if (!stores || t->reduces)
		el->m->objects.at[t->tensor->object].reads = true;
	return cj_tma_copy_value(el, t, row->name);
}

struct cj_value
cj_builtin_tma_load(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	return make(el, args, row, false);
}

struct cj_value
cj_builtin_tma_store(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	return make(el, args, row, true);
}

/* tma_prefetch(load): the map comes to its cache. */
struct cj_value
cj_builtin_tma_prefetch(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_value *v = &args->at[0];
	cj_ref map;

	if (v->kind == CJ_VALUE_ERROR)
		return *v;
	if (v->kind != CJ_VALUE_COPY || v->copy->tma == NULL)
		return cj_elab_error(el, CJ_DIAG_WRONG_KIND, args->span,
		    "%s takes what tma_load() or tma_store() made, this is %s",
		    row->name, cj_value_what(el, v));
	map = cj_elab_ref(el, &v->copy->tma->map, CJ_KIND_VOID);
	cj_emit(&el->em->b, CJ_OP_MAP_PREFETCH, 0, 0, &map, 1);
	return cj_value_none();
}

/* ---- copies -------------------------------------------------------------- */

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

/* Is the view a tile of the map's tensor, mode by mode? Its coordinates. */
static bool
tile_of(struct cj_elab *el, struct cj_span span, const struct cj_tma_value *t,
    const struct cj_tensor *v, struct cj_int *at)
{
	const struct cj_layout *l = v->layout;
	uint32_t m;

	if (v->object != t->tensor->object || cj_layout_rank(l) != t->rank)
		return refuse(el, span, "the view is not of the tensor that "
		    "the map was made for");
	for (m = 0; m < t->rank; m++) {
		const struct cj_tuple *c, *o = v->cut == NULL ? NULL :
		    v->cut->offset;

		c = cj_tuple_get(l->stride, m);
		if (!cj_is_value(cj_tuple_product(&el->al,
		    cj_tuple_get(l->shape, m)), t->extent[m]) ||
		    c->kind != CJ_TUPLE_INT || (t->extent[m] > 1 &&
		    cj_int_equal(&el->sym, c->value, cj_tuple_get(
		    t->tensor->layout->stride, m)->value) != CJ_YES) ||
		    (v->cut != NULL && cj_int_equal(&el->sym,
		    cj_tuple_product(&el->al, cj_tuple_get(v->cut->limit, m)),
		    cj_tuple_get(t->tensor->layout->shape, m)->value) !=
		    CJ_YES))
			return refuse(el, span, cj_printf(el->arena, "mode %u "
			    "of the view is no tile of %lld elements of the "
			    "map's tensor", m, (long long)t->extent[m]));
		at[m] = o == NULL || o->kind == CJ_TUPLE_INT ? cj_known(0) :
		    cj_tuple_get(o, m)->value;
		if (o != NULL && o->kind == CJ_TUPLE_INT && t->rank == 1)
			at[m] = o->value;
	}
	return begins_alike(el, span, t, v, at);
}

enum { UNIT = 128 };

/* Stages follow each other, and each begins where a copy may. */
static bool
stages_fit(struct cj_elab *el, struct cj_span span,
    const struct cj_tensor *v)
{
	const struct cj_object *o = &el->m->objects.at[v->object];
	int64_t bytes;

	if (o->stages < 2)
		return true;
	bytes = o->extent / o->stages * cj_kind_bits(o->element) / 8;
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
	bool same = rank == (t->is_im2col ? 2 : t->rank) &&
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
		return refuse_layout(el, span, "units of 16 bytes alone are "
		    "exchanged, in rows of 32, 64 or 128");
	if (swizzle != CJ_MAP_PLAIN)
		align = (uint32_t)128 << swizzle;
	if (o->align < align)
		o->align = align;
	if (cj_int_divisor(&el->sym, v->offset) * bytes % align != 0 &&
	    !cj_is_value(v->offset, 0) && swizzle != CJ_MAP_PLAIN)
		return refuse(el, span, "the view does not begin at a whole "
		    "pattern of the swizzle");
	*at = inner == NULL ? v->offset :
	    cj_int_add(&el->sym, v->offset, inner->value);
	return true;
}

/* coordinates of box b behind refs[n] */
static unsigned
add_coordinates(struct cj_elab *el, const struct cj_tma_value *t, uint32_t b,
    const struct cj_int *at, cj_ref *refs, unsigned n)
{
	uint32_t i;

	for (i = 0; i < t->rank; i++)
		refs[n++] = cj_elab_ref_int(el, cj_int_add(&el->sym,
		    at[t->is_im2col ? i : t->mode[i]],
		    cj_known(t->start[b][i])));
	for (i = t->rank; t->is_im2col && i < 2 * t->rank - 2; i++)
		refs[n++] = cj_elab_ref_int(el, at[i]);
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
	cj_elab_error(el, CJ_DIAG_WRONG_SHAPE, span, "this load is for "
	    "clusters of %lld x %lld blocks that share it, the launch has "
	    "%lld x %lld", (long long)t->along[0], (long long)t->along[1],
	    (long long)c[0], (long long)c[1]);
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

struct cj_value
cj_elab_copy_tma(struct cj_elab *el, struct cj_args *args,
    const struct cj_copy_value *c)
{
	const struct cj_tma_value *t = c->tma;
	const struct cj_value *barrier = cj_arg_named(el, args, "barrier");
	const struct cj_value *global = &args->at[t->stores ? 2 : 1];
	const struct cj_value *shared = &args->at[t->stores ? 1 : 2];
	struct cj_tma_copy copy = { .map = t->record, .evict = t->evict,
	    .reduces = t->reduces, .how = t->how };
	struct cj_access access = { .align = 128 };
	struct cj_int at[2 * CJ_MAP_MODES], place;
	cj_ref refs[4 + 2 * CJ_MAP_MODES], signal = 0, ranks = 0, map;
	struct sharing share = { 0 };
	uint32_t b;
	unsigned n;

	if (global->kind != CJ_VALUE_TENSOR || shared->kind !=
	    CJ_VALUE_TENSOR || el->m->objects.at[shared->tensor->object].kind
	    != CJ_OBJECT_SHARED)
		return cj_elab_error(el, CJ_DIAG_WRONG_PLACE, args->span,
		    "%s copies %s", c->text, t->stores ?
		    "from shared to global memory" :
		    "from global to shared memory");
	if (is_staged(el, args, shared->tensor, t->stores)) {
		if (cj_elab_threads_here(el) == 0)
			return cj_elab_error(el, CJ_DIAG_NOT_KNOWN,
			    args->span, "stages that TMA fills or reads need "
			    "a block of known threads");
		if (cj_arg_named(el, args, "multicast") != NULL)
			return cj_elab_error(el, CJ_DIAG_UNSUPPORTED,
			    args->span, "loads to several blocks into stages "
			    "are not supported by this version: say barrier "
			    "= b[i]");
		el->m->objects.at[shared->tensor->object].reads |= t->stores;
	}
	else if (!cj_arg_completes(el, args, !t->stores, "a copy by TMA"))
		return cj_value_error();
	if (shared->tensor->is_remote || (t->stores &&
	    cj_arg_named(el, args, "multicast") != NULL)) {
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_PLACE, args->span,
		    "TMA copies to and from the memory of the own block"),
		    "A load goes to several blocks, the same place of each, "
		    "by multicast = bits of their ranks.");
		return cj_value_error();
	}
	if (!cj_elab_not_gathered(el, cj_arg_span(args, 1),
	    args->at[1].tensor, "TMA moves boxes of neighbours", NULL) ||
	    !cj_elab_not_gathered(el, cj_arg_span(args, 2),
	    args->at[2].tensor, "TMA moves boxes of neighbours", NULL) ||
	    !guard_fits(el, cj_arg_span(args, t->stores ? 2 : 1),
	    global->tensor) || !(t->is_im2col ? cj_im2col_place(el, args, t,
	    at) : tile_of(el, cj_arg_span(args, t->stores ? 2 : 1), t,
	    global->tensor, at)) ||
	    !place_of(el, cj_arg_span(args, t->stores ? 1 : 2), t,
	    shared->tensor, &place))
		return cj_value_error();
	if (!cj_elab_stage_allows(el, cj_arg_span(args, t->stores ? 1 : 2),
	    shared->tensor, !t->stores))
		return cj_value_error();
	cj_elab_touch(el, cj_arg_span(args, t->stores ? 1 : 2),
	    shared->tensor, !t->stores, t->stores ? "tma_store" : "tma_load");
	map = map_of(el, args, t);
	if (map == 0)
		return cj_value_error();
	if (!t->stores)
		el->m->objects.at[shared->tensor->object].writes = true;
	access.object = shared->tensor->object;
	copy.shared = cj_module_access(el->m, &access);
	if (barrier != NULL) {
		copy.signal = cj_arg_mbarrier(el, args->span, barrier,
		    shared->tensor, &signal);
		if (copy.signal == 0 || !cj_arg_ranks(el, args, &ranks))
			return cj_value_error();
	}
	if (!t->stores && t->along[0] * t->along[1] > 1) {
		if (barrier != NULL)
			return cj_elab_error(el, CJ_DIAG_WRONG_PLACE,
			    args->span, "what blocks share is copied into "
			    "stages of a pipeline");
		if (!check_cluster(el, args->span, t) ||
		    !stands_in_stage(el, args->span))
			return cj_value_error();
		find_sharing(el, t, &share);
		ranks = share.ranks;
		copy.share = share.modes;
		at[t->mode[t->cut_mode]] = cj_int_add(&el->sym,
		    at[t->mode[t->cut_mode]], cj_int_mul(&el->sym,
		    share.part, cj_known(t->cut_extent)));
		place = cj_int_add(&el->sym, place, cj_int_mul(&el->sym,
		    share.part, cj_known(t->cut_step)));
	}
	for (b = 0; b < t->boxes; b++) {
		n = 0;
		refs[n++] = cj_elab_ref_int(el, cj_int_add(&el->sym, place,
		    cj_known(t->place[b])));
		refs[n++] = map;
		if (copy.signal != 0)
			refs[n++] = signal;
		n = add_coordinates(el, t, b, at, refs, n);
		if (ranks != 0)
			refs[n++] = ranks;
		cj_emit(&el->em->b, t->stores ? CJ_OP_TMA_STORE :
		    CJ_OP_TMA_LOAD, 0, cj_module_tma(el->m, &copy), refs, n);
	}
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
