/*
 * tma_load(t, layout), tma_store(t, layout): tensor maps of the host part
 * (elab_tma_copy.c copies boxes through them).
 *
 * The tile is what the layout of shared memory holds, a mode of it for each of
 * the tensor. The box begins along the tensor's mode of stride 1 and grows over
 * other modes as long as shared memory goes on without a gap; what is left are
 * several boxes, each at its own place of both sides. Where a copy is, its
 * view says: the coordinates that a cut carries.
 */
#include "elab_gather.h"
#include "elab_tma.h"

enum { MOST_STEP = 8 };
#define MOST_EXTENT	((int64_t)1 << 32)
#define MOST_STRIDE	((int64_t)1 << 40)	/* bytes */

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

bool
cj_no_map(struct cj_elab *el, struct cj_span span, const char *what)
{
	cj_elab_report(el, CJ_DIAG_WRONG_SHAPE, span, "%s", what);
	return false;
}

bool
cj_refuse_layout(struct cj_elab *el, struct cj_span span, const char *what)
{
	cj_help(cj_elab_report(el, CJ_DIAG_WRONG_SHAPE, span, "%s", what),
	    "Make the layout with smem_layout(T, shape), unit = the mode in "
	    "which the tensor has stride 1.");
	return false;
}

/* TMA moves neighbours along a mode that is known when compiling. */
static bool
refuse_untold(struct cj_elab *el, struct cj_span span,
    const struct cj_tma_value *t)
{
	const char *name = el->m->objects.at[t->tensor->object].name;

	cj_help(cj_elab_report(el, CJ_DIAG_WRONG_SHAPE, span, "along which "
	    "mode \"%s\" has stride 1 is not known", name), "State it in the "
	    "contract: a stride of 1 in the pattern, as in %s: tensor(T, (M, "
	    "N):(_, 1)), or unit(const u in {0, 1}) behind it for either.",
	    name);
	return false;
}

static bool
unit_mode(struct cj_elab *el, struct cj_span span, struct cj_tma_value *t,
    uint32_t *unit)
{
	const struct cj_layout *l = t->tensor->layout;
	bool is_told = false;
	uint32_t m;

	for (m = 0; m < t->rank; m++) {
		if (!cj_is_value(cj_tuple_get(l->stride, m)->value, 1))
			continue;
		is_told = true;
		if (t->extent[m] == 1 ||
		    cj_mode_step(el, cj_unswizzled(el, t->shared), m, 1) ==
		    1) {
			*unit = m;
			return true;
		}
	}
	if (!is_told)
		return refuse_untold(el, span, t);
	return cj_refuse_layout(el, span, "shared memory does not go along the "
	    "mode in which the tensor has stride 1");
}

/* Modes of the map in order of shared memory, and the box. */
static bool
find_box(struct cj_elab *el, struct cj_span span, struct cj_tma_value *t,
    struct cj_map *map)
{
	const struct cj_layout *l = cj_unswizzled(el, t->shared);
	bool taken[CJ_MAP_MODES] = { false }, grows = true;
	uint32_t unit = 0, m, n;
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

static bool
refuse_place(struct cj_elab *el, struct cj_span span,
    const struct cj_tma_value *t, int64_t box)
{
	cj_help(cj_elab_report(el, CJ_DIAG_WRONG_SHAPE, span, "boxes begin at "
	    "multiples of 128 bytes of shared memory, one of this tile at "
	    "%lld", (long long)(t->place[box] *
	    cj_kind_bits(t->tensor->element) / 8)), "Let a box be larger, or "
	    "the layout one without gaps, as smem_layout(T, shape) makes it.");
	return false;
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
		return cj_no_map(el, span, cj_printf(el->arena,
		    "the tile takes "
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
			return refuse_place(el, span, t, b);
	for (n = 0; n < t->rank; each *= map->box[n++])
		for (i = 0; i < t->extent[t->mode[n]]; i++) {
			first = i - i % map->box[n];
			if (cj_mode_step(el, l, t->mode[n], i) -
			    cj_mode_step(el, l, t->mode[n], first) !=
			    i % map->box[n] * each)
				return cj_refuse_layout(el, span,
				    "the parts of "
				    "the tile lie unlike in shared memory");
		}
	return true;
}

/* ---- what the tensor must be --------------------------------------------- */

/* A number that is known and cannot be in a map; false: reported. */
/* Has a mode stride 1, as far as is known? */
static bool
may_have_neighbours(const struct cj_layout *l)
{
	uint32_t m;

	for (m = 0; m < cj_layout_rank(l); m++) {
		struct cj_int n = cj_tuple_get(l->stride, m)->value;

		if (!cj_is_known(n) || n.value == 1)
			return true;
	}
	return false;
}

static bool
check_number(struct cj_elab *el, struct cj_span span,
    const struct cj_tma_value *t, uint32_t mode, bool is_stride)
{
	const struct cj_layout *l = t->tensor->layout;
	struct cj_int n = cj_tuple_get(is_stride ? l->stride : l->shape,
	    mode)->value, extent = cj_tuple_get(l->shape, mode)->value;
	int64_t bytes = cj_kind_bits(t->tensor->element) / 8;
	const char *name = el->m->objects.at[t->tensor->object].name;

	if (!cj_is_known(n))
		return true;
	if (!is_stride && n.value > MOST_EXTENT)
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_SHAPE, span,
		    "extent %u of \"%s\" is %lld, a tensor map has up to "
		    "2^32", mode, name, (long long)n.value),
		    "Give the kernel a part of it, or two modes in place of "
		    "this one.");
	if (!is_stride)
		return n.value <= MOST_EXTENT;
	if (!may_have_neighbours(l))
		return cj_no_map(el, span, cj_printf(el->arena, "\"%s\" has "
		    "stride 1 in no mode, and a copy by TMA moves neighbours",
		    name));
	if (n.value == 1 || cj_is_value(extent, 1) || (n.value >= 0 &&
	    n.value < MOST_STRIDE / bytes && n.value * bytes % 16 == 0))
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_UNALIGNED_COPY, span, "stride %u of "
	    "\"%s\" is %lld elements, of a tensor map it is a multiple of 16 "
	    "bytes from 0 to 2^40", mode, name, (long long)n.value),
	    "Give the rows room up to a multiple of %lld elements, or copy by "
	    "cp_async.", (long long)(16 / bytes));
	return false;
}

static bool
check_modes(struct cj_elab *el, struct cj_span span,
    const struct cj_tma_value *t)
{
	const struct cj_layout *l = t->tensor->layout;
	uint32_t m;

	if (t->tensor->cut != NULL)
		return cj_no_map(el, span, "a tensor map is made of a tensor, "
		    "or of a slice of one, not of a part that was cut");
	if (t->rank > CJ_MAP_MODES || (t->kind == CJ_MAP_TILES &&
	    t->rank != cj_layout_rank(t->shared))) {
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_SHAPE, span,
		    "a tensor map has up to %d modes, the same as shared "
		    "memory; these are %u and %u", CJ_MAP_MODES, t->rank,
		    cj_layout_rank(t->shared)), t->rank > CJ_MAP_MODES ?
		    "Fix a mode, as in tma_load(x[i, _, _, _, _, _], layout), "
		    "or take modes that lie behind each other as one." :
		    "Give the layout a mode for each of the tensor, of extent "
		    "1 where it moves one element.");
		return false;
	}
	if (cj_kind_bits(t->tensor->element) < 8)
		return cj_no_map(el, span, cj_printf(el->arena, "elements of a "
		    "tensor map are whole bytes, these are %s",
		    cj_kind_text(t->tensor->element)));
	for (m = 0; m < t->rank; m++)
		if (!cj_is_leaf(cj_tuple_get(l->shape, m)) ||
		    cj_tuple_get(l->stride, m)->kind != CJ_TUPLE_INT)
			return cj_no_map(el, span, "a tensor map has single "
			    "modes, this tensor has nested ones");
	for (m = 0; m < t->rank; m++)
		if (!check_number(el, span, t, m, false) ||
		    !check_number(el, span, t, m, true))
			return false;
	return true;
}

bool
cj_tma_check_tensor(struct cj_elab *el, struct cj_span span,
    const struct cj_tma_value *t)
{
	const struct cj_object *o = &el->m->objects.at[t->tensor->object];

	if (!cj_elab_not_gathered(el, span, t->tensor,
	    "TMA moves boxes of neighbours", NULL))
		return false;
	if (o->kind != CJ_OBJECT_TENSOR) {
		cj_elab_error(el, CJ_DIAG_UNSUPPORTED, span, "tensor maps of "
		    "anything but tensor arguments are not supported by this "
		    "version");
		return false;
	}
	if (!check_modes(el, span, t))
		return false;
	if (o->align >= 16 && cj_elab_fills(el, t->tensor->offset,
	    cj_kind_bits(t->tensor->element) / 8, 16))
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

/* step = (1, 2): of the tensor every so-manieth element along a mode. */
static bool
find_steps(struct cj_elab *el, struct cj_args *args, struct cj_tma_value *t)
{
	const struct cj_value *v = cj_arg_named(el, args, "step");
	const struct cj_tuple *steps;
	uint32_t m;

	for (m = 0; m < t->rank; m++)
		t->step[m] = 1;
	if (v == NULL)
		return true;
	steps = cj_value_to_tuple(el, args->span, v);
	if (steps == NULL)
		return false;
	if (cj_tuple_rank(steps) != t->rank || !cj_tuple_is_known(steps))
		return cj_no_map(el, args->span, "\"step\" has a known "
		    "number for each mode of the tensor");
	for (m = 0; m < t->rank; m++) {
		t->step[m] = cj_tuple_product(&el->al,
		    cj_tuple_get(steps, m)).value;
		if (t->step[m] < 1 || t->step[m] > MOST_STEP)
			return cj_no_map(el, args->span,
			    cj_printf(el->arena, "a step is 1 to %d, not %lld",
			    MOST_STEP, (long long)t->step[m]));
		if (t->step[m] != 1 && cj_is_value(cj_tuple_get(
		    t->tensor->layout->stride, m)->value, 1))
			return cj_no_map(el, args->span, "along the mode "
			    "of stride 1 all neighbours are copied: its step "
			    "is 1");
	}
	return true;
}

/* box = shape: no larger boxes, and exactly those. */
static bool
limit_box(struct cj_elab *el, struct cj_args *args, struct cj_tma_value *t)
{
	const struct cj_value *v = cj_arg_named(el, args, "box");
	const struct cj_tuple *shape;
	uint32_t m;

	for (m = 0; m < t->rank; m++)
		t->most[m] = CJ_MOST_BOX / t->step[m];
	if (v == NULL)
		return true;
	shape = cj_value_to_tuple(el, args->span, v);
	if (shape == NULL)
		return false;
	if (cj_tuple_rank(shape) != t->rank || !cj_tuple_is_known(shape))
		return cj_no_map(el, args->span, "a box has a known extent for "
		    "each mode of the tensor");
	for (m = 0; m < t->rank; m++) {
		t->most[m] = cj_tuple_product(&el->al, cj_tuple_get(shape, m))
		    .value;
		if (t->most[m] < 1 || t->most[m] * t->step[m] > CJ_MOST_BOX ||
		    t->extent[m] % t->most[m] != 0)
			return cj_no_map(el, args->span, cj_printf(el->arena,
			    "a box of %lld in mode %u does not divide the tile "
			    "of %lld; the most are %lld",
			    (long long)t->most[m], m, (long long)t->extent[m],
			    (long long)(CJ_MOST_BOX / t->step[m])));
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
			return cj_no_map(el, args->span, cj_printf(el->arena,
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
	enum { UNIT = 128 };	/* where copies begin in shared memory */
	int64_t parts = t->along[0] * t->along[1], step = 1, bytes;
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
		return cj_no_map(el, span, cj_printf(el->arena, "%lld blocks "
		    "cannot send equal parts of a box of %u: these are whole "
		    "rows of its swizzle, 8 at a time", (long long)parts,
		    (unsigned)map->box[n]));
	t->cut_mode = n;
	t->cut_extent = map->box[n] / parts;
	t->cut_step = step * t->cut_extent;
	bytes = t->cut_step * cj_kind_bits(t->tensor->element) / 8;
	if (bytes % UNIT != 0)
		return cj_no_map(el, span, cj_printf(el->arena, "%lld blocks "
		    "cannot send parts of %lld bytes each: these begin at "
		    "multiples of %d", (long long)parts, (long long)bytes,
		    UNIT));
	map->box[n] /= (uint32_t)parts;
	return true;
}

bool
cj_rows_fill_swizzle(struct cj_elab *el, struct cj_span span,
    const struct cj_tma_value *t, const struct cj_map *map)
{
	uint32_t bytes = map->box[0] * cj_kind_bits(t->tensor->element) / 8;

	return map->swizzle == CJ_MAP_PLAIN || bytes == 16u << map->swizzle ||
	    cj_refuse_layout(el, span, cj_printf(el->arena, "rows of a box are "
	    "as long as the swizzle, %u bytes, these have %u",
	    16u << map->swizzle, bytes));
}

static bool
has_whole_rows(struct cj_elab *el, struct cj_span span,
    const struct cj_tma_value *t, const struct cj_map *map)
{
	enum cj_kind k = t->tensor->element;

	if (map->box[0] * cj_kind_bits(k) % 128 == 0)
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_WRONG_SHAPE, span, "rows of a box "
	    "are whole units of 16 bytes, these have %u elements of %s",
	    map->box[0], cj_kind_text(k)), "Take %u elements, or a multiple "
	    "of that, along the mode of stride 1.", 128 / cj_kind_bits(k));
	return false;
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
			return cj_no_map(el, span,
			    "the tile has known extents");
		t->extent[m] = n.value;
	}
	map.object = t->tensor->object;
	map.rank = t->rank;
	if (!cj_swizzle_of_map(t->shared, t->tensor->element, &map.swizzle))
		return cj_refuse_layout(el, span, "TMA exchanges units of 16 "
		    "bytes alone, in rows of 32, 64 or 128");
	if (!find_steps(el, args, t) || !limit_box(el, args, t) ||
	    !find_promotion(el, args, &map) ||
	    !find_box(el, span, t, &map) || !is_asked(el, args, t, &map) ||
	    !place_boxes(el, span, t, &map) ||
	    !find_sharers(el, args, t) || !cut_boxes(el, span, t, &map))
		return false;
	if (!has_whole_rows(el, span, t, &map))
		return false;
	if (!cj_rows_fill_swizzle(el, span, t, &map))
		return false;
	for (m = 0; m < CJ_MAP_MODES; m++)
		map.step[m] = m < t->rank ? (int32_t)t->step[t->mode[m]] : 1;
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

bool
cj_tma_has_whole_units(struct cj_elab *el, const struct cj_tma_value *t,
    struct cj_int extent)
{
	return cj_elab_fills(el, extent, cj_kind_bits(t->tensor->element) / 8,
	    16);
}

bool
cj_tma_need_whole_units(struct cj_elab *el, struct cj_span span,
    const struct cj_tma_value *t)
{
	struct cj_require r = { .parameter = el->m->objects.at[
	    t->tensor->object].name, .code = CJ_DIAG_CONTRACT,
	    .names = "the extent" };
	struct cj_int extent = cj_tuple_get(t->tensor->layout->shape,
	    t->mode[0])->value, rest;
	int64_t unit = 128 / cj_kind_bits(t->tensor->element);
	cj_ref refs[2];

	if (cj_tma_has_whole_units(el, t, extent))
		return true;
	r.need = cj_printf(el->m->arena, "an extent of whole units of 16 bytes "
	    "along its mode of stride 1, multiples of %lld elements",
	    (long long)unit);
	if (cj_is_known(extent))
		return cj_no_map(el, span, cj_printf(el->arena, "\"%s\" needs "
		    "%s", r.parameter, r.need));
	rest = cj_int_mod(&el->sym, extent, cj_known(unit));
	refs[1] = cj_elab_ref_int(el, extent);
	refs[0] = cj_emit2(&el->em->b, CJ_OP_EQ, cj_type_of(CJ_KIND_BOOL, 1),
	    cj_elab_ref_int(el, rest), cj_emit_index(&el->em->b, 0));
	*cj_push(el->m->arena, &el->m->requires) = r;
	cj_emit(&el->em->b, CJ_OP_REQUIRE, 0, el->m->requires.len - 1, refs,
	    2);
	return true;
}

/* reduce = .add of a store; false: reported. */
static bool
takes_reduction(struct cj_elab *el, struct cj_args *args,
    struct cj_tma_value *t)
{
	return cj_arg_reduction(el, args, &t->reduces, &t->how) &&
	    (!t->reduces || cj_elab_can_combine(el, args->span,
	    t->tensor->element, t->how, false));
}

void
cj_tma_mark(struct cj_elab *el, const struct cj_tma_value *t)
{
	struct cj_object *o = &el->m->objects.at[t->tensor->object];

	o->writes |= t->stores;
	o->reads |= !t->stores || t->reduces;
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
	    !takes_reduction(el, args, t)))
		return cj_value_error();
	if (!cj_tma_check_tensor(el, args->span, t) ||
	    !make_map(el, args, t) || (t->reduces &&
	    !cj_tma_need_whole_units(el, args->span, t)))
		return cj_value_error();
	cj_tma_mark(el, t);
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

/* tma_prefetch(load): the map comes to its cache; tma_prefetch(load, tile): the
 * tile to L2. */
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
	if (args->count == 2)
		return cj_tma_ask(el, args, v->copy->tma);
	map = cj_elab_ref(el, &v->copy->tma->map, CJ_KIND_VOID);
	cj_emit(&el->em->b, CJ_OP_MAP_PREFETCH, 0, 0, &map, 1);
	return cj_value_none();
}

/* ---- numbers of a copy --------------------------------------------------- */

bool
cj_tma_numbers(struct cj_elab *el, struct cj_args *args, const char *name,
    uint32_t count, const char *help, struct cj_int *out)
{
	const struct cj_value *v = cj_arg_named(el, args, name);
	const struct cj_tuple *t = v == NULL ? NULL :
	    cj_value_to_tuple(el, args->span, v);
	bool ok = t != NULL && cj_tuple_rank(t) == count;
	uint32_t i;

	for (i = 0; ok && i < count; i++) {
		const struct cj_tuple *n = t->kind == CJ_TUPLE_INT ? t :
		    cj_tuple_get(t, i);

		ok = n->kind == CJ_TUPLE_INT;
		out[count - 1 - i] = n->value;
	}
	if (!ok && (v == NULL || t != NULL))
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_ARGUMENTS, args->span,
		    "this copy has %u number%s of \"%s\"", count,
		    count == 1 ? "" : "s", name), "%s", help);
	return ok;
}

enum cj_map_kind
cj_tma_kind(const struct cj_tma_value *t)
{
	return t->kind;
}
