/*
 * Views of memory: whatever a layout operation does to a tensor's layout it
 * does to the coordinates too that the view's elements have in what it was
 * cut from, so that guard() knows what lies outside.
 */
#include "elab_gather.h"

static const struct cj_layout *
rank_zero(struct cj_elab *el)
{
	return cj_layout_make(&el->al, cj_tuple_make(&el->al, NULL, 0), NULL);
}

/* ---- cuts ---------------------------------------------------------------- */

struct cj_cut *
cj_cut_new(struct cj_elab *el, const struct cj_tensor *t)
{
	struct cj_cut *c = CJ_NEW(el->arena, struct cj_cut);

	c->coord = cj_layout_identity(&el->al, t->layout->shape);
	c->offset = cj_tuple_known(&el->al, 0);
	c->limit = t->layout->shape;
	c->is_of_part = t->is_part;
	return c->coord == NULL ? NULL : c;
}

/* The coordinates with their offset inside, as slices take it. */
static const struct cj_layout *
with_offset(struct cj_elab *el, const struct cj_cut *c)
{
	struct cj_layout *l = cj_memdup(el->arena, c->coord,
	    sizeof *c->coord);

	l->offset = c->offset;
	return l;
}

static struct cj_cut *
cut_of(struct cj_elab *el, const struct cj_cut *from,
    const struct cj_layout *l)
{
	struct cj_cut *c = CJ_NEW(el->arena, struct cj_cut);
	struct cj_layout *bare = cj_memdup(el->arena, l, sizeof *l);

	assert(cj_tuple_congruent(l->shape, l->stride));
	c->limit = from->limit;
	c->is_of_part = from->is_of_part;
	c->offset = l->offset == NULL ? cj_tuple_known(&el->al, 0) :
	    l->offset;
	bare->offset = NULL;
	c->coord = bare;
	return c;
}

const struct cj_tuple *
cj_cut_at(struct cj_elab *el, const struct cj_cut *cut,
    const struct cj_tuple *at)
{
	const struct cj_layout *l = cut->coord;
	const struct cj_tuple *c = cut->offset;

	if (cj_is_leaf(l->shape) || l->shape->rank != 0)
		c = cj_layout_at(&el->al, with_offset(el, cut), at);
	if (c == NULL)
		cj_bug(el->recover, "no coordinate: %s", el->al.why.text);
	return c;
}

/* ---- what goes along with a layout --------------------------------------- */

/* Where a view's elements lie: in what it was cut from, in the shape that a
 * gather made, in a view that its parts may leave, in one that has conditions
 * for its elements. Whatever is done to the layout is done to all. */
enum { COMPANIONS = 4 };

static const struct cj_cut *
companion(const struct cj_tensor *t, unsigned i)
{
	switch (i) {
	case 0: return t->cut;
	case 1: return t->gather == NULL ? NULL : t->gather->place;
	case 2: return t->within;
	}
	return t->asked;
}

static void
set_companion(struct cj_elab *el, struct cj_tensor *t, unsigned i,
    const struct cj_cut *c)
{
	struct cj_gather *g;

	switch (i) {
	case 0: t->cut = c; return;
	case 2: t->within = c; return;
	case 3: t->asked = c; return;
	}
	g = CJ_NEW(el->arena, struct cj_gather);
	*g = *t->gather;
	g->place = c;
	t->gather = g;
}

/*
 * Where strides allow it a map makes one mode of several, and those of the
 * coordinates are others than those of the elements: give both one shape.
 */
static bool
agree(struct cj_elab *el, const struct cj_layout **l,
    const struct cj_layout **coord)
{
	const struct cj_layout *finer;

	if (cj_tuple_congruent((*coord)->shape, (*l)->shape))
		return true;
	finer = cj_layout_compose(&el->al, *l, cj_layout_make(&el->al,
	    (*coord)->shape, NULL));
	if (finer == NULL)
		return false;
	*l = finer;
	if (cj_tuple_congruent((*coord)->shape, finer->shape))
		return true;
	*coord = cj_layout_compose(&el->al, *coord, cj_layout_make(
	    &el->al, finer->shape, NULL));
	return *coord != NULL && cj_tuple_congruent((*coord)->shape,
	    finer->shape);
}

/* One shape for all: the second may have refined that of the first. */
static bool
all_agree(struct cj_elab *el, const struct cj_layout **l,
    const struct cj_layout *coord[COMPANIONS])
{
	unsigned turn, i;

	for (turn = 0; turn < COMPANIONS; turn++)
		for (i = 0; i < COMPANIONS; i++)
			if (coord[i] != NULL && !agree(el, l, &coord[i]))
				return false;
	return coord[0] == NULL || cj_tuple_congruent(coord[0]->shape,
	    (*l)->shape);
}

const struct cj_layout *
cj_tensor_coords(struct cj_elab *el, const struct cj_tensor *t)
{
	return t->cut != NULL ? t->cut->coord : cj_cut_new(el, t)->coord;
}

struct cj_value
cj_tensor_map(struct cj_elab *el, struct cj_span span,
    const struct cj_tensor *t, cj_layout_map *map, void *user,
    const char *what)
{
	struct cj_tensor made = *t;
	const struct cj_layout *coord[COMPANIONS] = { NULL };
	struct cj_cut *moved;
	unsigned i;

	for (i = 0; i < COMPANIONS; i++)
		if (companion(&made, i) != NULL)
			coord[i] = companion(&made, i)->coord;
	if (!all_agree(el, &made.layout, coord))
		return cj_elab_refused(el, span, what);
	made.is_part = true;
	made.layout = map(&el->al, made.layout, user);
	if (made.layout == NULL)
		return cj_elab_refused(el, span, what);
	for (i = 0; i < COMPANIONS; i++) {
		if (coord[i] == NULL)
			continue;
		moved = CJ_NEW(el->arena, struct cj_cut);
		*moved = *companion(&made, i);
		moved->coord = map(&el->al, coord[i], user);
		if (moved->coord == NULL)
			return cj_elab_refused(el, span, what);
		set_companion(el, &made, i, moved);
	}
	return cj_value_tensor(el, &made);
}

struct cj_value
cj_tensor_cut(struct cj_elab *el, struct cj_span span,
    const struct cj_tensor *t, cj_layout_map *map, void *user,
    const char *what)
{
	struct cj_tensor made = *t;

	if (made.cut == NULL)
		made.cut = cj_cut_new(el, t);
	return cj_tensor_map(el, span, &made, map, user, what);
}

/* ---- bounds that are known ----------------------------------------------- */

static bool
is_inside(struct cj_elab *el, struct cj_span span, const struct cj_tuple *c,
    const struct cj_tuple *shape, uint32_t mode)
{
	struct cj_int extent;
	uint32_t i;

	if (c->kind == CJ_TUPLE_TUPLE && !cj_is_leaf(shape) &&
	    c->rank == shape->rank) {
		for (i = 0; i < c->rank; i++)
			if (!is_inside(el, span, c->at[i], shape->at[i],
			    mode == UINT32_MAX ? i : mode))
				return false;
		return true;
	}
	if (c->kind != CJ_TUPLE_INT || !cj_is_known(c->value))
		return true;
	extent = cj_tuple_product(&el->al, shape);
	if (c->value.value >= 0 && (!cj_is_known(extent) ||
	    c->value.value < extent.value))
		return true;
	cj_elab_error(el, CJ_DIAG_WRONG_INDEX, span,
	    "the coordinate %lld of mode %u lies outside: the extent is %s",
	    (long long)c->value.value, mode == UINT32_MAX ? 0 : mode,
	    cj_elab_int_text(el, extent));
	return false;
}

bool
cj_elab_inside(struct cj_elab *el, struct cj_span span,
    const struct cj_tuple *coord, const struct cj_tuple *shape)
{
	return el->never_runs ||
	    is_inside(el, span, coord, shape, UINT32_MAX);
}

/* ---- slices -------------------------------------------------------------- */

static bool
has_any(const struct cj_tuple *c)
{
	uint32_t i;

	if (cj_is_leaf(c))
		return c->kind == CJ_TUPLE_ANY;
	for (i = 0; i < c->rank; i++)
		if (has_any(c->at[i]))
			return true;
	return false;
}

struct cj_value
cj_tensor_element(struct cj_elab *el, struct cj_span span,
    const struct cj_tensor *t, const struct cj_tuple *coord)
{
	struct cj_tensor made = *t;
	const struct cj_cut *from;
	struct cj_cut *cut;
	struct cj_int at;
	unsigned i;

	if (!cj_layout_offset(&el->al, t->layout, coord, &at))
		return cj_elab_refused(el, span, "index");
	made.offset = cj_int_add(&el->sym, t->offset, at);
	made.layout = rank_zero(el);
	for (i = 0; i < COMPANIONS; i++) {
		from = companion(t, i);
		if (from == NULL)
			continue;
		cut = CJ_NEW(el->arena, struct cj_cut);
		cut->coord = rank_zero(el);
		cut->limit = from->limit;
		cut->is_of_part = from->is_of_part;
		cut->offset = cj_layout_at(&el->al, with_offset(el, from),
		    coord);
		if (cut->offset == NULL)
			return cj_elab_refused(el, span, "index");
		set_companion(el, &made, i, cut);
	}
	return cj_value_tensor(el, &made);
}

struct cj_value
cj_tensor_dealt(struct cj_elab *el, struct cj_value v)
{
	struct cj_tensor *t;

	if (v.kind != CJ_VALUE_TENSOR)
		return v;
	t = CJ_NEW(el->arena, struct cj_tensor);
	*t = *v.tensor;
	t->is_dealt = true;
	v.tensor = t;
	return v;
}

struct cj_value
cj_tensor_slice(struct cj_elab *el, struct cj_span span,
    const struct cj_tensor *t, const struct cj_tuple *coord)
{
	struct cj_tensor made = *t;
	const struct cj_layout *rest;
	const struct cj_tuple *offset;
	const struct cj_cut *from;
	unsigned i;

	if (!t->is_guarded &&
	    !cj_elab_inside(el, span, coord, t->layout->shape))
		return cj_value_error();
	cj_tensor_watch_index(el, &made, t, coord);
	made.is_part = true;
	made.is_tiled = false;
	if (!has_any(coord))
		return cj_tensor_element(el, span, &made, coord);
	if (!cj_layout_slice(&el->al, t->layout, coord, &made.layout,
	    &offset))
		return cj_elab_refused(el, span, "index");
	assert(offset->kind == CJ_TUPLE_INT);
	made.offset = cj_int_add(&el->sym, t->offset, offset->value);
	for (i = 0; i < COMPANIONS; i++) {
		from = companion(t, i);
		if (from == NULL)
			continue;
		if (!cj_layout_slice(&el->al, with_offset(el, from), coord,
		    &rest, &offset))
			return cj_elab_refused(el, span, "index");
		set_companion(el, &made, i, cut_of(el, from, rest));
	}
	return cj_value_tensor(el, &made);
}

/* ---- ranges: t[a..b, j] -------------------------------------------------- */

struct window {
	uint32_t mode;
	bool is_whole;		/* the layout is one leaf */
	struct cj_int first, count;
};

static const struct cj_tuple *
replace(struct cj_algebra *al, const struct cj_tuple *t, uint32_t mode,
    const struct cj_tuple *with)
{
	const struct cj_tuple *at[CJ_MAX_RANK];
	uint32_t i;

	for (i = 0; i < t->rank; i++)
		at[i] = i == mode ? with : t->at[i];
	return cj_tuple_make(al, at, t->rank);
}

static const struct cj_layout *
narrowed(struct cj_algebra *al, const struct cj_layout *l, void *user)
{
	const struct window *w = user;
	struct cj_layout *made = cj_memdup(al->arena, l, sizeof *l);
	const struct cj_tuple *count = cj_tuple_int(al, w->count);

	assert(w->is_whole || w->mode < l->shape->rank);
	made->shape = w->is_whole ? count :
	    replace(al, l->shape, w->mode, count);
	return made;
}

/* The coordinate that is `first` in the window's mode and 0 elsewhere. */
static const struct cj_tuple *
window_start(struct cj_elab *el, const struct cj_tuple *shape,
    const struct window *w)
{
	const struct cj_tuple **at;
	uint32_t i;

	if (w->is_whole)
		return cj_tuple_int(&el->al, w->first);
	at = CJ_NEWS(el->arena, const struct cj_tuple *, shape->rank);
	for (i = 0; i < shape->rank; i++)
		at[i] = i == w->mode ? cj_tuple_int(&el->al, w->first) :
		    cj_tuple_any(&el->al);
	return cj_tuple_make(&el->al, at, shape->rank);
}

/* Move a tensor's origin to the start of the window, keeping its shape. */
static bool
move_origin(struct cj_elab *el, struct cj_tensor *t, const struct window *w)
{
	const struct cj_tuple *start = window_start(el, t->layout->shape, w);
	const struct cj_tuple *offset;
	const struct cj_layout *rest;
	struct cj_layout *moved;
	struct cj_cut *cut;
	unsigned i;

	if (!cj_layout_slice(&el->al, t->layout, start, &rest, &offset))
		return false;
	t->offset = cj_int_add(&el->sym, t->offset, offset->value);
	if (rest->offset != NULL) {
		moved = cj_memdup(el->arena, t->layout, sizeof *t->layout);
		moved->offset = rest->offset;
		t->layout = moved;
	}
	for (i = 0; i < COMPANIONS; i++) {
		if (companion(t, i) == NULL)
			continue;
		if (!cj_layout_slice(&el->al, with_offset(el,
		    companion(t, i)), start, &rest, &offset))
			return false;
		cut = CJ_NEW(el->arena, struct cj_cut);
		*cut = *companion(t, i);
		cut->offset = rest->offset;
		set_companion(el, t, i, cut);
	}
	return true;
}

/* Ranges of ranges begin behind each other. */
static void
begin_at(struct cj_elab *el, struct cj_tensor *t, const struct window *w)
{
	uint32_t rank = cj_layout_rank(t->layout), m;
	struct cj_int *start = CJ_NEWS(el->arena, struct cj_int, rank);

	for (m = 0; m < rank; m++)
		start[m] = t->start == NULL ? cj_known(0) : t->start[m];
	m = w->is_whole ? 0 : w->mode;
	start[m] = cj_int_add(&el->sym, start[m], w->first);
	t->start = start;
}

static struct cj_value
window(struct cj_elab *el, struct cj_span span, const struct cj_tensor *t,
    uint32_t mode, const struct cj_range_value *r)
{
	struct window w = { .mode = mode, .first = r->first };
	const struct cj_tuple *shape = t->layout->shape, *leaf;
	struct cj_tensor made = *t;

	w.is_whole = cj_is_leaf(shape);
	leaf = w.is_whole ? shape : shape->at[mode];
	if (!cj_is_leaf(leaf))
		return cj_elab_error(el, CJ_DIAG_WRONG_INDEX, span,
		    "a range cuts a single mode, mode %u has several", mode);
	if (!el->never_runs &&
	    (cj_int_less(&el->sym, leaf->value, r->last) == CJ_YES ||
	    cj_int_less(&el->sym, r->first, cj_known(0)) == CJ_YES))
		return cj_elab_error(el, CJ_DIAG_WRONG_INDEX, span,
		    "the range %s..%s leaves mode %u, whose extent is %s",
		    cj_elab_int_text(el, r->first),
		    cj_elab_int_text(el, r->last), mode,
		    cj_elab_int_text(el, leaf->value));
	w.count = cj_int_max(&el->sym, cj_known(0),
	    cj_int_sub(&el->sym, r->last, r->first));
	cj_tensor_watch_index(el, &made, t, window_start(el, shape, &w));
	w.first = cj_int_sub(&el->sym, r->last, cj_known(1));
	cj_tensor_watch_index(el, &made, t, window_start(el, shape, &w));
	w.first = r->first;
	if (!move_origin(el, &made, &w))
		return cj_elab_refused(el, span, "index");
	if (made.cut == NULL)
		begin_at(el, &made, &w);
	return cj_tensor_map(el, span, &made, narrowed, &w, "index");
}

/* ---- another origin: domain_offset --------------------------------------- */

static const struct cj_layout *
do_offset(struct cj_algebra *al, const struct cj_layout *l, void *user)
{
	return cj_layout_domain_offset(al, l, user);
}

/* The offset of a plain layout moves out of it. */
static const struct cj_layout *
without_offset(struct cj_elab *el, const struct cj_layout *l)
{
	struct cj_layout *bare = cj_memdup(el->arena, l, sizeof *l);

	bare->offset = NULL;
	return bare;
}

struct cj_value
cj_tensor_shift(struct cj_elab *el, struct cj_span span,
    const struct cj_tensor *t, const struct cj_tuple *coord, const char *what)
{
	struct cj_tensor inside = *t, made;
	struct cj_cut *cut;
	struct cj_value v;
	unsigned i;

	for (i = 0; i < COMPANIONS; i++) {
		if (companion(t, i) == NULL)
			continue;
		cut = cj_memdup(el->arena, companion(t, i), sizeof *cut);
		cut->coord = with_offset(el, cut);
		set_companion(el, &inside, i, cut);
	}
	v = cj_tensor_cut(el, span, &inside, do_offset, (void *)coord, what);
	if (v.kind == CJ_VALUE_ERROR)
		return v;
	made = *v.tensor;
	if (!made.layout->is_composed) {
		made.offset = cj_int_add(&el->sym, made.offset,
		    made.layout->offset->value);
		made.layout = without_offset(el, made.layout);
	}
	for (i = 0; i < COMPANIONS; i++) {
		if (companion(&made, i) == NULL)
			continue;
		cut = cj_memdup(el->arena, companion(&made, i), sizeof *cut);
		cut->offset = cut->coord->offset;
		cut->coord = without_offset(el, cut->coord);
		set_companion(el, &made, i, cut);
	}
	return cj_value_tensor(el, &made);
}

struct cj_value
cj_tensor_index(struct cj_elab *el, struct cj_span span,
    const struct cj_tensor *t, const struct cj_value *at, uint32_t count)
{
	struct cj_value v = cj_value_tensor(el, t), coord;
	struct cj_value *plain = CJ_NEWS(el->arena, struct cj_value,
	    count + 1);
	uint32_t i, rank = cj_layout_rank(t->layout);
	const struct cj_tuple *c;

	for (i = 0; i < count; i++) {
		plain[i] = at[i];
		if (at[i].kind != CJ_VALUE_RANGE)
			continue;
		if (count != rank)
			return cj_elab_error(el, CJ_DIAG_WRONG_INDEX, span,
			    "there are %u coordinates for %u modes", count,
			    rank);
		v = window(el, span, v.tensor, i, at[i].range);
		if (v.kind == CJ_VALUE_ERROR)
			return v;
		plain[i] = (struct cj_value){ .kind = CJ_VALUE_ANY };
	}
	coord = count == 1 ? plain[0] :
	    cj_value_tuple(el, plain, NULL, count);
	c = cj_value_to_tuple(el, span, &coord);
	if (c == NULL)
		return cj_value_error();
	if (c->kind == CJ_TUPLE_ANY)
		return v;
	return cj_tensor_slice(el, span, v.tensor, c);
}
