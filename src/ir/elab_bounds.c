/*
 * Coordinates that leave their mode.
 *
 * An element beyond the extent of one mode may lie inside the memory: x[i, N]
 * is x[i + 1, 0] where rows are dense, and the padding of a shared tensor is
 * its own. So where somebody looks (the executor, or a checked build), each
 * access is preceded by `inside` for what is not proved of
 *
 *	the coordinates by which a view was indexed on the way to it
 *	the coordinates of its elements in what they were cut from
 *
 * A guard answers for the second, and for what was indexed behind the cut.
 */
#include "elab_access.h"

/* ---- indices ------------------------------------------------------------- */

static bool
is_proved(struct cj_elab *el, struct cj_int at, struct cj_int limit)
{
	return cj_int_range(&el->sym, at).lo >= 0 &&
	    cj_elab_proves_less(el, at, limit);
}

static void
add(struct cj_elab *el, struct cj_tensor *made, const struct cj_tensor *from,
    struct cj_int at, struct cj_int limit, uint32_t mode, bool is_tile)
{
	struct cj_unproved *u;

	if (is_proved(el, at, limit))
		return;
	u = CJ_NEW(el->arena, struct cj_unproved);
	u->at = at;
	u->limit = limit;
	u->mode = mode;
	u->is_part = from->is_part;
	u->is_tile = from->is_tiled && is_tile;
	u->is_cut = from->cut != NULL;
	u->next = made->unproved;
	made->unproved = u;
}

static void
add_all(struct cj_elab *el, struct cj_tensor *made,
    const struct cj_tensor *from, const struct cj_tuple *c,
    const struct cj_tuple *shape, uint32_t mode, bool is_tile)
{
	uint32_t i;

	if (c->kind == CJ_TUPLE_TUPLE && !cj_is_leaf(shape) &&
	    c->rank == shape->rank) {
		for (i = 0; i < c->rank; i++)
			add_all(el, made, from, c->at[i], shape->at[i],
			    mode == UINT32_MAX ? i : mode, is_tile);
		return;
	}
	if (c->kind == CJ_TUPLE_INT)
		add(el, made, from, c->value, cj_tuple_product(&el->al,
		    shape), mode == UINT32_MAX ? 0 : mode, is_tile);
}

/* Of ((a, b), (i, j)), a place in a tile and the tile's coordinate, the modes
 * are those of the tensor that was cut. */
static void
add_tiles(struct cj_elab *el, struct cj_tensor *made,
    const struct cj_tensor *from, const struct cj_tuple *c,
    const struct cj_tuple *shape)
{
	uint32_t i;

	for (i = 0; i < c->rank && i < shape->rank; i++)
		add_all(el, made, from, c->at[i], shape->at[i], UINT32_MAX,
		    i == 1);
}

/* Of a whole tensor of one mode, whatever looks at addresses sees it. */
static bool
is_seen_anyway(const struct cj_elab *el, const struct cj_tensor *t)
{
	const struct cj_tuple *shape = t->layout->shape;

	return el->bounds == CJ_BOUNDS_MODES && !t->is_part &&
	    (cj_is_leaf(shape) || shape->rank == 1);
}

void
cj_tensor_watch_index(struct cj_elab *el, struct cj_tensor *made,
    const struct cj_tensor *from, const struct cj_tuple *coord)
{
	if (el->bounds == CJ_BOUNDS_MEMORY || is_seen_anyway(el, from))
		return;
	if (from->is_tiled && coord->kind == CJ_TUPLE_TUPLE)
		add_tiles(el, made, from, coord, from->layout->shape);
	else
		add_all(el, made, from, coord, from->layout->shape, UINT32_MAX,
		    false);
}

/* ---- coordinates in what the view was cut from --------------------------- */

/* The components of a coordinate that belong to a limit's leaves. */
struct components {
	struct cj_elab *el;
	struct cj_component *out;
	unsigned count;
	bool is_part;
};

static void
add_components(struct components *c, const struct cj_tuple *coord,
    const struct cj_tuple *limit, uint32_t mode)
{
	const struct cj_tuple *zero = cj_tuple_known(&c->el->al, 0);
	uint32_t i;

	if (cj_is_leaf(limit)) {
		if (c->count == CJ_MAX_AXES)
			cj_bug(c->el->recover, "a guard with too many modes");
		c->out[c->count++] = (struct cj_component){ coord->value,
		    limit->value, mode == UINT32_MAX ? 0 : mode, c->is_part };
		return;
	}
	for (i = 0; i < limit->rank; i++)
		add_components(c, cj_is_leaf(coord) || i >= coord->rank ?
		    zero : coord->at[i], limit->at[i],
		    mode == UINT32_MAX ? i : mode);
}

unsigned
cj_cut_components(struct cj_elab *el, const struct cj_tensor *t,
    const struct cj_tuple *at, struct cj_component *out)
{
	struct components all = { el, out, 0, t->cut->is_of_part };

	add_components(&all, cj_cut_at(el, t->cut, at), t->cut->limit,
	    UINT32_MAX);
	all.is_part = true;
	if (t->within != NULL)
		add_components(&all, cj_cut_at(el, t->within, at),
		    t->within->limit, UINT32_MAX);
	return all.count;
}

/* ---- accesses ------------------------------------------------------------ */

struct watched {
	struct cj_elab *el;
	const struct cj_tensor *t;
	cj_ref mask;		/* of the access; 0: all */
};

static const char *
text_of(const struct watched *w, uint32_t mode, const char *of)
{
	const char *name = w->el->m->objects.at[w->t->object].name;

	return cj_printf(w->el->arena, "mode %u of %s\"%s\"", (unsigned)mode,
	    of, name != NULL ? name : "memory");
}

static const char *
part_text(bool is_part)
{
	return is_part ? "a part of " : "";
}

/* Where the mask is false any coordinate will do. */
static cj_ref
masked(const struct watched *w, cj_ref value, int64_t otherwise)
{
	struct cj_builder *b = &w->el->em->b;
	cj_ref refs[3] = { w->mask, value, 0 };

	if (w->mask == 0)
		return value;
	refs[2] = cj_emit_index(b, otherwise);
	return cj_emit(b, CJ_OP_SELECT, cj_type_of(CJ_KIND_INDEX, 1), 0, refs,
	    3);
}

static void
watch_one(const struct watched *w, struct cj_int at, struct cj_int limit,
    const char *text)
{
	struct cj_elab *el = w->el;
	cj_ref refs[2];

	refs[0] = masked(w, cj_elab_ref_int(el, at), 0);
	refs[1] = masked(w, cj_elab_ref_int(el, limit), 1);
	cj_emit(&el->em->b, CJ_OP_INSIDE, 0, cj_module_text(el->m, text),
	    refs, 2);
}

static void
watch_indices(const struct watched *w, const struct cj_tensor *t)
{
	const struct cj_unproved *u;

	const char *text;

	for (u = t->unproved; u != NULL; u = u->next) {
		if (t->is_guarded && u->is_cut)
			continue;
		text = text_of(w, u->mode, u->is_tile ? "the tiles of " :
		    part_text(u->is_part));
		if (t->is_guarded)
			text = cj_printf(w->el->arena, "%s, by an index in "
			    "front of its guard,", text);
		watch_one(w, u->at, u->limit, text);
	}
}

static void
watch_cut(const struct watched *w, const struct cj_tensor *t,
    const struct cj_tuple *at)
{
	struct cj_component c[CJ_MAX_AXES];
	unsigned n, i;

	if (t->is_guarded || t->cut == NULL)
		return;
	n = cj_cut_components(w->el, t, at, c);
	for (i = 0; i < n; i++)
		if (!is_proved(w->el, c[i].at, c[i].limit))
			watch_one(w, c[i].at, c[i].limit, text_of(w,
			    c[i].mode, part_text(c[i].is_part)));
}

static void
watch_gathered(const struct watched *w, const struct cj_way *way)
{
	const char *text = text_of(w, way->mode,
	    part_text(way->t->is_part));

	if (way->t->is_guarded || is_proved(w->el, way->index, way->extent))
		return;
	watch_one(w, way->index, way->extent, cj_printf(w->el->arena,
	    way->name == NULL ? "%s, by an index in registers," :
	    "%s, by \"%s\",", text, way->name));
}

/* Of an element, and of what it is in all that was gathered. */
static void
watch_element(const struct watched *w, const struct cj_pieces *p, uint32_t r,
    bool is_first)
{
	struct cj_way way = cj_pieces_way(w->el, p, r);

	if (is_first)
		watch_indices(w, way.t);
	watch_cut(w, way.t, way.at);
	while (cj_way_on(w->el, &way)) {
		if (is_first) {
			watch_gathered(w, &way);
			watch_indices(w, way.t);
		}
		watch_cut(w, way.t, way.at);
	}
}

static bool
is_watched(const struct cj_elab *el)
{
	return el->bounds != CJ_BOUNDS_MEMORY && el->em != NULL &&
	    (el->time == CJ_TIME_DEVICE || el->time == CJ_TIME_TEST);
}

void
cj_pieces_watch(struct cj_elab *el, const struct cj_pieces *p, uint32_t r,
    cj_ref mask)
{
	struct watched w = { el, p->t, mask };
	uint32_t last;

	if (!is_watched(el))
		return;
	watch_element(&w, p, r, true);
	/* the elements between are no farther along any mode */
	for (last = r; last + 1 < p->count && (p->start[last] != r ||
	    p->lane[last] != p->width - 1); last++)
		;
	if (p->width > 1 && p->start[last] == r)
		watch_element(&w, p, last, false);
}
