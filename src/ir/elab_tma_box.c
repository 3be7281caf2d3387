/*
 * The boxes of a tile: which the layout of shared memory holds without a gap,
 * where each begins on both sides, and the parts of them that blocks share.
 */
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
		count *= map->box[n] == 0 ? 0 :
		    t->extent[t->mode[n]] / map->box[n];
	if (count == 0)
		return cj_no_map(el, span, "the tile has no elements, and a "
		    "copy by TMA moves one box at least");
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

bool
cj_tma_find_boxes(struct cj_elab *el, struct cj_args *args,
    struct cj_tma_value *t, struct cj_map *map)
{
	struct cj_span span = args->span;

	return limit_box(el, args, t) && find_box(el, span, t, map) &&
	    is_asked(el, args, t, map) && place_boxes(el, span, t, map) &&
	    cut_boxes(el, span, t, map) && has_whole_rows(el, span, t, map) &&
	    cj_rows_fill_swizzle(el, span, t, map);
}
