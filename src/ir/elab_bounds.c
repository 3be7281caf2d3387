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
    struct cj_int at, struct cj_int limit, uint32_t mode)
{
	struct cj_unproved *u;

	if (is_proved(el, at, limit))
		return;
	u = CJ_NEW(el->arena, struct cj_unproved);
	u->at = at;
	u->limit = limit;
	u->mode = mode;
	u->is_part = from->is_part;
	u->is_cut = from->cut != NULL;
	u->next = made->unproved;
	made->unproved = u;
}

static void
add_all(struct cj_elab *el, struct cj_tensor *made,
    const struct cj_tensor *from, const struct cj_tuple *c,
    const struct cj_tuple *shape, uint32_t mode)
{
	uint32_t i;

	if (c->kind == CJ_TUPLE_TUPLE && !cj_is_leaf(shape) &&
	    c->rank == shape->rank) {
		for (i = 0; i < c->rank; i++)
			add_all(el, made, from, c->at[i], shape->at[i],
			    mode == UINT32_MAX ? i : mode);
		return;
	}
	if (c->kind == CJ_TUPLE_INT)
		add(el, made, from, c->value, cj_tuple_product(&el->al,
		    shape), mode == UINT32_MAX ? 0 : mode);
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
	add_all(el, made, from, coord, from->layout->shape, UINT32_MAX);
}

/* ---- accesses ------------------------------------------------------------ */

struct watched {
	struct cj_elab *el;
	const struct cj_tensor *t;
	cj_ref mask;		/* of the access; 0: all */
};

static const char *
text_of(const struct watched *w, uint32_t mode, bool is_part)
{
	const char *name = w->el->m->objects.at[w->t->object].name;

	return cj_printf(w->el->arena, "mode %u of %s\"%s\"", (unsigned)mode,
	    is_part ? "a part of " : "", name != NULL ? name : "memory");
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
watch_indices(const struct watched *w)
{
	const struct cj_unproved *u;

	for (u = w->t->unproved; u != NULL; u = u->next)
		if (!w->t->is_guarded || !u->is_cut)
			watch_one(w, u->at, u->limit, text_of(w, u->mode,
			    u->is_part));
}

static void
watch_cut(const struct watched *w, const struct cj_pieces *p, uint32_t r)
{
	struct cj_component c[CJ_MAX_AXES];
	unsigned n = cj_pieces_coordinate(w->el, p, r, c), i;

	for (i = 0; i < n; i++)
		if (!is_proved(w->el, c[i].at, c[i].limit))
			watch_one(w, c[i].at, c[i].limit, text_of(w,
			    c[i].mode, w->t->cut->is_of_part));
}

static bool
is_watched(const struct cj_elab *el)
{
	return el->bounds != CJ_BOUNDS_MEMORY && el->em != NULL &&
	    el->time == CJ_TIME_DEVICE;
}

void
cj_pieces_watch(struct cj_elab *el, const struct cj_pieces *p, uint32_t r,
    cj_ref mask)
{
	struct watched w = { el, p->t, mask };
	uint32_t last;

	if (!is_watched(el))
		return;
	watch_indices(&w);
	if (p->t->is_guarded || p->t->cut == NULL)
		return;
	watch_cut(&w, p, r);
	/* the elements between are no farther along any mode */
	for (last = r; last + 1 < p->count && (p->start[last] != r ||
	    p->lane[last] != p->width - 1); last++)
		;
	if (p->width > 1 && p->start[last] == r)
		watch_cut(&w, p, last);
}

void
cj_tensor_watch(struct cj_elab *el, const struct cj_tensor *t, cj_ref mask)
{
	uint32_t zero = 0;
	struct cj_pieces p = { .t = t, .span = t->span, .width = 1,
	    .count = 1, .start = &zero, .lane = &zero };

	cj_pieces_watch(el, &p, 0, mask);
}
