/*
 * Do the parts that threads get of a view stay in it?
 *
 * A partition repeats a tile until the view is covered. Where the view is a
 * part of something and the tile does not divide it, the last one reaches into
 * what lies beside the view, and the limits of what the view was cut from do
 * not tell. Of known extents that is refused. Of others the parts also carry
 * their coordinates in the view (`within`), for guards and whoever watches.
 */
#include "elab_access.h"
#include "elab_tiled.h"

/* The coordinate that is `first` in a mode and 0 in the others. */
static const struct cj_tuple *
place_in(struct cj_elab *el, const struct cj_tuple *shape, uint32_t mode,
    struct cj_int first)
{
	const struct cj_tuple **at;
	uint32_t i, rank = cj_tuple_rank(shape);

	if (cj_is_leaf(shape))
		return cj_tuple_int(&el->al, first);
	at = CJ_NEWS(el->arena, const struct cj_tuple *, rank);
	for (i = 0; i < rank; i++)
		at[i] = cj_tuple_int(&el->al, i == mode ? first : cj_known(0));
	return cj_tuple_make(&el->al, at, rank);
}

/* Does what the view was cut from end there too, or before? Then its own
 * limits say all. */
static bool
ends_there(struct cj_elab *el, const struct cj_tensor *t,
    const struct cj_tuple *at)
{
	struct cj_component c[CJ_MAX_AXES];
	unsigned n, i;

	if (t->cut == NULL)
		return true;
	n = cj_cut_components(el, t, at, c);
	for (i = 0; i < n; i++)
		if (cj_int_less(&el->sym, c[i].at, c[i].limit) == CJ_NO)
			return true;
	return false;
}

static bool
refuse(struct cj_elab *el, struct cj_span span, struct cj_int have,
    int64_t need, const char *whose, const char *where)
{
	cj_help(cj_elab_report(el, CJ_DIAG_WRONG_SHAPE, span,
	    "%lld elements%s are no multiple of %s, which has %lld: the last "
	    "one would reach beyond the view", (long long)have.value, where,
	    whose, (long long)need), "Cut larger views, or take fewer threads, "
	    "values or atoms.");
	return false;
}

static struct cj_int
extent_of(struct cj_elab *el, const struct cj_tuple *t)
{
	return t->kind == CJ_TUPLE_LAYOUT ? cj_layout_size(&el->al,
	    t->layout) : cj_tuple_product(&el->al, t);
}

static const struct cj_tensor *
watched(struct cj_elab *el, const struct cj_tensor *t)
{
	struct cj_tensor *made = cj_memdup(el->arena, t, sizeof *t);

	made->within = cj_cut_new(el, t);
	return made;
}

const struct cj_tensor *
cj_tensor_in_tiles(struct cj_elab *el, struct cj_span span,
    const struct cj_tensor *t, const struct cj_tuple *tile, const char *whose)
{
	const struct cj_tuple *shape = t->layout->shape;
	uint32_t rank = cj_tuple_rank(tile), i;
	bool is_open = false;

	for (i = 0; i < rank && i < cj_tuple_rank(shape); i++) {
		struct cj_int have = extent_of(el, cj_tuple_get(shape, i));
		struct cj_int need = extent_of(el, cj_tuple_get(tile, i));

		if (cj_is_known(need) && cj_int_divisible(&el->sym, have,
		    need.value))
			continue;
		if (ends_there(el, t, place_in(el, shape, i, have)))
			continue;
		if (cj_is_known(have) && cj_is_known(need)) {
			refuse(el, span, have, need.value, whose,
			    cj_printf(el->arena, " along mode %u", i));
			return NULL;
		}
		is_open = true;
	}
	return is_open ? watched(el, t) : t;
}

/* The extent that one step along a mode of the view goes along in what it was
 * cut from, whose modes may be others; 0: it goes along none, or several. */
static struct cj_int
extent_along(struct cj_elab *el, const struct cj_tensor *t, uint32_t mode)
{
	const struct cj_tuple *shape = t->layout->shape;
	struct cj_component a[CJ_MAX_AXES], b[CJ_MAX_AXES];
	struct cj_int along = cj_known(0);
	struct cj_int size = extent_of(el, cj_tuple_get(shape, mode));
	unsigned n, i, moved = 0;

	if (t->cut == NULL)
		return size;
	n = cj_cut_components(el, t, place_in(el, shape, mode, cj_known(0)), a);
	cj_cut_components(el, t, place_in(el, shape, mode, cj_known(1)), b);
	for (i = 0; i < n; i++)
		if (!a[i].is_part && !cj_int_same(a[i].at, b[i].at)) {
			along = a[i].limit;
			moved++;
		}
	/* A mode of several, as rows of a swizzle: it goes along all. */
	if (cj_is_known(along) && cj_is_known(size) && size.value > along.value)
		return cj_known(0);
	return moved == 1 ? along : cj_known(0);
}

const struct cj_tuple *
cj_tensor_extents_along(struct cj_elab *el, const struct cj_tensor *t,
    uint32_t rank)
{
	const struct cj_tuple **at = CJ_NEWS(el->arena,
	    const struct cj_tuple *, rank);
	uint32_t i;

	for (i = 0; i < rank; i++)
		at[i] = cj_tuple_int(&el->al,
		    i < cj_tuple_rank(t->layout->shape) ?
		    extent_along(el, t, i) : cj_known(0));
	return cj_tuple_make(&el->al, at, rank);
}

/* All of what it was cut from, but for where it begins (domain_offset()):
 * where it ends is nobody's limit. */
static bool
is_shifted(struct cj_elab *el, const struct cj_tensor *t,
    const struct cj_tuple *at, struct cj_int have)
{
	struct cj_component c[CJ_MAX_AXES];
	unsigned n = cj_cut_components(el, t, at, c), i;

	for (i = 0; i < n; i++)
		if (cj_int_same(c[i].limit, have))
			return true;
	return false;
}

/* A tile of a part may be one that the part does not hold whole. */
const struct cj_tensor *
cj_tensor_cut_in_tiles(struct cj_elab *el, const struct cj_tensor *t,
    const struct cj_tuple *tile)
{
	const struct cj_tuple *shape = t->layout->shape;
	uint32_t rank = cj_tuple_rank(tile), i;

	for (i = 0; i < rank && i < cj_tuple_rank(shape); i++) {
		struct cj_int have = extent_of(el, cj_tuple_get(shape, i));
		const struct cj_tuple *end;
		struct cj_int need;

		if (cj_tuple_get(tile, i)->kind == CJ_TUPLE_ANY)
			continue;
		need = extent_of(el, cj_tuple_get(tile, i));
		if ((cj_is_known(need) && cj_int_divisible(&el->sym, have,
		    need.value)) || cj_int_same(have, need))
			continue;
		end = place_in(el, shape, i, have);
		if (!ends_there(el, t, end) && !is_shifted(el, t, end, have))
			return watched(el, t);
	}
	return t;
}

const struct cj_tensor *
cj_tensor_in_order(struct cj_elab *el, struct cj_span span,
    const struct cj_tensor *t, const struct cj_layout *tv)
{
	struct cj_int have = cj_tuple_product(&el->al, t->layout->shape);
	struct cj_int need = cj_layout_cosize(&el->al, tv);

	if (cj_int_less(&el->sym, have, need) == CJ_NO ||
	    ends_there(el, t, cj_tuple_int(&el->al, have)))
		return t;
	if (!cj_is_known(have) || !cj_is_known(need))
		return watched(el, t);
	cj_help(cj_elab_report(el, CJ_DIAG_WRONG_SHAPE, span,
	    "the layout %s leads to %lld elements, the view has %lld",
	    cj_layout_text(&el->al, tv), (long long)need.value,
	    (long long)have.value), "Cut a larger view, or give fewer threads "
	    "or values a part of it.");
	return NULL;
}
