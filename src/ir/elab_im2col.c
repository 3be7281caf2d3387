/*
 * tma_im2col(x, layout, lower = , upper = [, stride = ]): pixels of a tensor
 * (N, [[D,] H,] W, C) one after the other as rows of a matrix, as convolutions
 * read them.
 *
 * Base pixels go from `lower` to as far as `upper` lies from the tensor's end,
 * in steps, W first; beyond a row comes the next one. The tile in shared memory
 * is pixels times channels. A copy says where it begins, and what is added to
 * each pixel: the filter's place. What is outside of the tensor is 0.
 *
 *	copy(load, x, s, barrier = b, at = (n, h, w, c), offset = (r, s))
 */
#include "elab_tma.h"

enum { MOST_PIXELS = 1024, MOST_STEP = 8 };

/* What corners the hardware has, by how many modes are spatial. */
static const struct { int64_t low, high; } limits[] = {
	[1] = { -32768, 32767 }, [2] = { -128, 127 }, [3] = { -16, 15 },
};

/* Known numbers for each spatial mode, in the tensor's order; to the map's. */
static bool
numbers(struct cj_elab *el, struct cj_args *args, const char *name,
    uint32_t count, int64_t usual, int64_t low, int64_t high, int32_t *out)
{
	const struct cj_value *v = cj_arg_named(el, args, name);
	const struct cj_tuple *t;
	uint32_t i;

	for (i = 0; i < count; i++)
		out[i] = (int32_t)usual;
	if (v == NULL)
		return true;
	t = cj_value_to_tuple(el, args->span, v);
	if (t == NULL)
		return false;
	if (cj_tuple_rank(t) != count || !cj_tuple_is_known(t))
		return cj_no_map(el, args->span, cj_printf(el->arena, "\"%s\" "
		    "has a known number for each of the %u modes between N "
		    "and C", name, count));
	for (i = 0; i < count; i++) {
		int64_t n = cj_tuple_product(&el->al, cj_tuple_get(t, i))
		    .value;

		if (n < low || n > high)
			return cj_no_map(el, args->span, cj_printf(el->arena,
			    "\"%s\" is %lld to %lld, not %lld", name,
			    (long long)low, (long long)high, (long long)n));
		out[count - 1 - i] = (int32_t)n;
	}
	return true;
}

/* Modes of the map: C, W, H, D, N. */
static bool
check_modes(struct cj_elab *el, struct cj_span span, struct cj_tma_value *t)
{
	const struct cj_layout *l = t->tensor->layout;
	uint32_t m;

	if (t->rank < 3 || t->rank > CJ_MAP_MODES ||
	    cj_layout_rank(t->shared) != 2)
		return cj_no_map(el, span, "tma_im2col() takes a tensor (N, W, "
		    "C), (N, H, W, C) or (N, D, H, W, C), and the layout of "
		    "pixels and channels");
	if (!cj_is_value(cj_tuple_get(l->stride, t->rank - 1)->value, 1))
		return cj_no_map(el, span,
		    "the tensor's last mode, its channels, "
		    "has stride 1");
	for (m = 0; m < t->rank; m++)
		t->mode[m] = t->rank - 1 - m;
	return true;
}

/* Channels of a copy: as many as stay together, rows as long as that. */
static bool
find_box(struct cj_elab *el, struct cj_span span, struct cj_tma_value *t,
    struct cj_map *map)
{
	const struct cj_layout *l = cj_unswizzled(el, t->shared);
	int64_t run = 1, i, bits = cj_kind_bits(t->tensor->element);
	uint32_t b;

	while (run < t->extent[1] && cj_mode_step(el, l, 1, run) == run &&
	    (run + 1) * bits <= (map->swizzle == CJ_MAP_PLAIN ? 2048 :
	    (int64_t)128 << map->swizzle))
		run++;
	if (t->extent[1] % run != 0 || run * bits % 128 != 0 ||
	    t->extent[1] / run > CJ_MOST_BOXES)
		return cj_no_map(el, span,
		    "channels lie in shared memory in rows "
		    "of whole units of 16 bytes, as long as the swizzle");
	for (i = 0; i < t->extent[0]; i++)
		if (cj_mode_step(el, l, 0, i) != i * run)
			return cj_no_map(el, span, "pixels are rows of shared "
			    "memory, one behind the other");
	if (t->extent[0] > MOST_PIXELS)
		return cj_no_map(el, span, "a copy has up to 1024 pixels");
	map->box[0] = (uint32_t)run;
	map->box[1] = (uint32_t)t->extent[0];
	for (b = 2; b < t->rank; b++)
		map->box[b] = 1;
	t->boxes = (uint32_t)(t->extent[1] / run);
	for (b = 0; b < t->boxes; b++) {
		t->start[b][0] = b * run;
		t->place[b] = cj_mode_step(el, l, 1, b * run);
	}
	return true;
}

static bool
make_map(struct cj_elab *el, struct cj_args *args, struct cj_tma_value *t)
{
	uint32_t spatial = t->rank - 2, m;
	struct cj_map map;

	memset(&map, 0, sizeof map);
	for (m = 0; m < 2; m++) {
		struct cj_int n = cj_tuple_product(&el->al,
		    cj_tuple_get(t->shared->shape, m));

		if (!cj_is_known(n))
			return cj_no_map(el, args->span, "the tile has known "
			    "extents");
		t->extent[m] = n.value;
	}
	map.object = t->tensor->object;
	map.rank = t->rank;
	map.kind = CJ_MAP_PIXELS;
	for (m = 0; m < CJ_MAP_MODES; m++)
		map.step[m] = 1;
	if (!cj_swizzle_of_map(t->shared, t->tensor->element, &map.swizzle))
		return cj_no_map(el, args->span,
		    "TMA exchanges units of 16 bytes "
		    "alone, in rows of 32, 64 or 128");
	if (!cj_tma_fetching(el, args, t, &map) ||
	    !find_box(el, args->span, t, &map) ||
	    !cj_rows_fill_swizzle(el, args->span, t, &map) ||
	    !numbers(el, args, "lower", spatial, 0, limits[spatial].low,
	    limits[spatial].high, map.lower) ||
	    !numbers(el, args, "upper", spatial, 0, limits[spatial].low,
	    limits[spatial].high, map.upper) ||
	    !numbers(el, args, "stride", spatial, 1, 1, MOST_STEP,
	    map.step + 1))
		return false;
	t->record = cj_module_map(el->m, &map);
	t->map = cj_value_regs(el, CJ_KIND_MAP, NULL, cj_tma_encode(el, t));
	return true;
}

struct cj_value
cj_builtin_tma_im2col(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	struct cj_tma_value *t = cj_tma_begin(el, args, row);

	if (t == NULL)
		return cj_value_error();
	t->kind = CJ_MAP_PIXELS;
	t->along[0] = t->along[1] = 1;
	if (!cj_arg_evict(el, args, &t->evict) ||
	    !check_modes(el, args->span, t) ||
	    !cj_tma_check_tensor(el, args->span, t) ||
	    !make_map(el, args, t))
		return cj_value_error();
	cj_tma_mark(el, t);
	return cj_tma_copy_value(el, t, row->name);
}

/* ---- copies -------------------------------------------------------------- */

/* Offsets that the instruction cannot hold, whatever is not known of them; the
 * executor looks at the others. */
static bool
check_offsets(struct cj_elab *el, struct cj_span span,
    const struct cj_tma_value *t, const struct cj_int *offset)
{
	int64_t most = cj_map_most_offset(&el->m->maps.at[t->record]);
	uint32_t i;

	for (i = 0; i < t->rank - 2; i++) {
		struct cj_range r = cj_int_range(&el->sym, offset[i]);

		if (r.hi >= 0 && r.lo <= most)
			continue;
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_INDEX, span,
		    "an offset of this copy is 0 to %lld, %s is %lld",
		    (long long)most, cj_is_known(offset[i]) ? "this" :
		    r.hi < 0 ? "its largest" : "its smallest",
		    (long long)(r.hi < 0 ? r.hi : r.lo)), "Let \"lower\" and "
		    "\"at\" begin where the filter's first place is, and count "
		    "offsets from there.");
		return false;
	}
	return true;
}

bool
cj_im2col_place(struct cj_elab *el, struct cj_args *args,
    const struct cj_tma_value *t, struct cj_tma_place *to)
{
	static const char help[] = "copy(load, x, s, barrier = b[i], at = (n, "
	    "h, w, c), offset = (r, s)): where it begins, and what is added to "
	    "each pixel.";

	if (!cj_tma_names_tensor(el, args, t, "pixels") ||
	    !cj_tma_numbers(el, args, "at", t->rank, help, to->at))
		return false;
	return cj_tma_numbers(el, args, "offset", t->rank - 2, help,
	    to->at + t->rank) && check_offsets(el, args->span, t, to->at +
	    t->rank);
}
