/*
 * What a guard says of the accesses to a view: whether it may cut through
 * vectors, and the mask of each.
 *
 * It may ask a predicate: a condition, the same for all, a function of the
 * coordinate, or registers with a condition for each element of the view that
 * was guarded, as a program makes them of a coordinate tensor. Where these have
 * the extent 1, neighbours along that mode share a condition.
 */
#include "elab_access.h"

/* ---- predicates ---------------------------------------------------------- */

/* What of a mode has conditions of its own: all of it; behind the values of
 * an access the accesses, as c[(0, _), _] gives; nothing (NULL). */
static bool
asks_of(struct cj_elab *el, const struct cj_tuple *mode, struct cj_int count,
    const struct cj_tuple **out)
{
	*out = NULL;
	if (cj_is_value(count, 1))
		return true;
	*out = mode;
	if (cj_int_same(count, cj_tuple_product(&el->al, mode)))
		return true;
	if (cj_is_leaf(mode) || mode->rank < 2)
		return false;
	*out = cj_tuple_make(&el->al, mode->at + 1, mode->rank - 1);
	return cj_int_same(count, cj_tuple_product(&el->al, *out));
}

/* Has it a condition for each element of the view? False: reported. */
static bool
goes_along(struct cj_elab *el, struct cj_span span,
    const struct cj_tuple *pred, const struct cj_tuple *view)
{
	uint32_t rank = cj_tuple_rank(view), m;
	const struct cj_tuple *of;

	for (m = 0; m < rank && cj_tuple_rank(pred) == rank; m++)
		if (!asks_of(el, cj_tuple_get(view, m), cj_tuple_product(
		    &el->al, cj_tuple_get(pred, m)), &of))
			break;
	if (m == rank)
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_WRONG_SHAPE, span,
	    "conditions of shape %s are not for a view of shape %s",
	    cj_tuple_text(&el->al, pred), cj_tuple_text(&el->al, view)),
	    "There is one for each element of the view; along a mode of "
	    "extent 1 all share one, all(c, along = 0), and along the first "
	    "part of a mode, c[(0, _), _].");
	return false;
}

bool
cj_guard_asks(struct cj_elab *el, struct cj_span span,
    const struct cj_value *pred, struct cj_tensor *t)
{
	struct cj_value v = *pred;

	if (v.kind != CJ_VALUE_FUNCTION && v.kind != CJ_VALUE_BUILTIN &&
	    cj_value_kind_of(&v) != CJ_KIND_BOOL) {
		if (v.kind != CJ_VALUE_ERROR)
			cj_elab_not_condition(el, span, &v);
		return false;
	}
	if (el->time == CJ_TIME_DEVICE)
		v = cj_elab_read(el, span, v);	/* as it is now */
	if (v.kind == CJ_VALUE_ERROR)
		return false;
	t->asked = NULL;
	if (v.kind == CJ_VALUE_REGS && v.regs.shape != NULL) {
		if (!goes_along(el, span, v.regs.shape, t->layout->shape))
			return false;
		t->asked = cj_cut_new(el, t);
	}
	t->pred_span = span;
	t->pred = cj_memdup(el->arena, &v, sizeof v);
	return true;
}

/* The coordinate in the registers of the condition for the element `at`. */
static const struct cj_tuple *
place_asked(struct cj_elab *el, const struct cj_tensor *t,
    const struct cj_tuple *at)
{
	const struct cj_tuple *pred = t->pred->regs.shape, *of, *c, *all;
	const struct cj_tuple *view = t->asked->limit;
	const struct cj_tuple *out[CJ_MAX_RANK];
	uint32_t rank = cj_tuple_rank(view), m;
	struct cj_int place;

	all = cj_whole_coord(el, cj_cut_at(el, t->asked, at), view);
	for (m = 0; m < rank; m++) {
		place = cj_known(0);
		c = cj_tuple_get(all, m);
		asks_of(el, cj_tuple_get(view, m), cj_tuple_product(&el->al,
		    cj_tuple_get(pred, m)), &of);
		if (of != NULL && of != cj_tuple_get(view, m))
			c = cj_tuple_make(&el->al, c->at + 1, c->rank - 1);
		if (of != NULL && !cj_layout_offset(&el->al, cj_layout_make(
		    &el->al, of, NULL), c, &place))
			cj_bug(el->recover, "a condition has no place: %s",
			    el->al.why.text);
		out[m] = cj_tuple_int(&el->al, place);
	}
	return cj_is_leaf(pred) ? out[0] : cj_tuple_make(&el->al, out, rank);
}

/* ---- does it cut through vectors? ---------------------------------------- */

/* Is there a predicate that may tell any elements apart? */
static bool
asks_each(const struct cj_tensor *t)
{
	return t->pred != NULL && (t->pred->kind == CJ_VALUE_FUNCTION ||
	    t->pred->kind == CJ_VALUE_BUILTIN);
}

/* Have elements a to b of a view one condition? */
static bool
share_condition(struct cj_elab *el, const struct cj_way *first,
    const struct cj_way *last, struct cj_cut_by *by)
{
	if (first->t->asked == NULL || cj_tuple_same(place_asked(el,
	    first->t, first->at), place_asked(el, last->t, last->at)))
		return true;
	*by = (struct cj_cut_by){ .is_condition = true };
	return false;
}

static bool
any_asks_each(const struct cj_tensor *t)
{
	while (!asks_each(t) && t->gather != NULL)
		t = t->gather->from;
	return asks_each(t);
}

/* Of what is not cut every element is inside. */
static bool
is_whole(const struct cj_tensor *t)
{
	return t->cut == NULL || t->cut == t->uncut;
}

/* No guard cuts through elements a to b of a view: both are inside or
 * neither. */
static bool
is_uniform(struct cj_elab *el, const struct cj_way *first,
    const struct cj_way *last, uint32_t width, struct cj_cut_by *by)
{
	struct cj_component a[CJ_MAX_AXES], b[CJ_MAX_AXES];
	struct cj_int d;
	unsigned n, i;

	if (is_whole(first->t))
		return true;
	n = cj_cut_components(el, first->t, first->at, a);
	cj_cut_components(el, last->t, last->at, b);
	for (i = 0; i < n; i++) {
		d = cj_int_sub(&el->sym, b[i].at, a[i].at);
		if (cj_is_value(d, 0))
			continue;
		by->is_limit = cj_is_known(d) && d.value >= 0 &&
		    d.value < width &&
		    cj_int_divisible(&el->sym, a[i].at, width);
		by->limit = a[i].limit;
		if (!by->is_limit ||
		    !cj_int_divisible(&el->sym, a[i].limit, width))
			return cj_elab_proves_less(el, b[i].at, b[i].limit);
	}
	return true;
}

/* The same of a view and of all that it was gathered from. */
static bool
all_uniform(struct cj_elab *el, const struct cj_pieces *p, uint32_t first,
    uint32_t last, struct cj_cut_by *by)
{
	struct cj_way a = cj_pieces_way(el, p, first);
	struct cj_way b = cj_pieces_way(el, p, last);

	while (!a.t->is_guarded || (is_uniform(el, &a, &b, p->width, by) &&
	    share_condition(el, &a, &b, by)))
		if (a.t->gather == NULL || !cj_tensor_is_guarded(
		    a.t->gather->from) || !cj_way_on(el, &a) ||
		    !cj_way_on(el, &b))
			return true;
	return false;
}

bool
cj_guard_allows(struct cj_elab *el, const struct cj_pieces *p,
    struct cj_cut_by *by)
{
	uint32_t r;

	*by = (struct cj_cut_by){ 0 };
	if (!cj_tensor_is_guarded(p->t) || p->width == 1)
		return true;
	if (any_asks_each(p->t))
		return false;
	for (r = 0; r < p->count; r++)
		if (p->lane[r] == p->width - 1 &&
		    !all_uniform(el, p, p->start[r], r, by))
			return false;
	return true;
}

static bool
is_name(const char *text)
{
	return text[strspn(text, "abcdefghijklmnopqrstuvwxyz_"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")] == '\0';
}

/* The widest accesses are cut: say by what, and what to demand. */
void
cj_guard_blame(struct cj_elab *el, struct cj_pieces *p,
    const struct cj_cut_by *by)
{
	struct cj_strbuf limit;

	cj_strbuf_init(&limit, el->arena);
	p->why = "the guard may cut through wider accesses";
	p->remedy = "Let the place and the extent of the tile be multiples of "
	    "what is copied at once.";
	if (any_asks_each(p->t)) {
		p->why = "the guard's predicate is asked for each element";
		p->remedy = "Let the predicate be a condition that is the "
		    "same for all elements, or registers with one for each "
		    "access.";
	} else if (by->is_condition) {
		p->why = "the guard has other conditions for neighbours";
		p->remedy = "Let conditions have the extent 1 along the mode "
		    "of what is copied at once, all(c, along = 0), or one "
		    "for each access, c[(0, _), _, _].";
	}
	if (!by->is_limit)
		return;
	cj_int_print(&limit, &el->sym, by->limit);
	p->why = cj_printf(el->arena, "the guard may cut through wider "
	    "accesses, since %s is %s multiple of %u", limit.text,
	    cj_is_known(by->limit) ? "no" : "not known to be a", p->width);
	p->remedy = !cj_is_known(by->limit) && is_name(limit.text) ?
	    cj_printf(el->arena, "Demand it of the kernel's arguments, where "
	    "%s %% %u == 0.", limit.text, p->width) : "Pad the tensor to whole "
	    "accesses.";
}

/* ---- masks --------------------------------------------------------------- */

static cj_ref
both(struct cj_elab *el, cj_ref a, cj_ref b)
{
	return a == 0 ? b : cj_emit2(&el->em->b, CJ_OP_AND,
	    cj_type_of(CJ_KIND_BOOL, 1), a, b);
}

/* 0 <= c < limit, what is not proved of it. */
static void
add_bounds(struct cj_elab *el, const struct cj_component *c, cj_ref *mask)
{
	const cj_type type = cj_type_of(CJ_KIND_BOOL, 1);
	cj_ref at, limit;

	if (!cj_elab_proves_less(el, c->at, c->limit)) {
		at = cj_elab_ref_int(el, c->at);
		limit = cj_elab_ref_int(el, c->limit);
		*mask = both(el, *mask, cj_emit2(&el->em->b, CJ_OP_LT, type,
		    at, limit));
	}
	if (cj_int_range(&el->sym, c->at).lo < 0) {
		at = cj_elab_ref_int(el, c->at);
		*mask = both(el, *mask, cj_emit2(&el->em->b, CJ_OP_LE, type,
		    cj_emit_index(&el->em->b, 0), at));
	}
}

/* That of registers; the place is known, or that is reported. */
static struct cj_value
condition_of(struct cj_elab *el, const struct cj_way *w)
{
	struct cj_value at = cj_value_from_tuple(el, place_asked(el, w->t,
	    w->at));

	return cj_elab_index(el, w->t->pred_span, *w->t->pred, &at, 1);
}

/* What is wrong with it is said where it stands, with the access as a call. */
static bool
predicate(struct cj_elab *el, const struct cj_way *w,
    const struct cj_tuple *coord, cj_ref *mask)
{
	struct cj_value c = cj_value_from_tuple(el, coord);
	struct cj_value v = *w->t->pred;
	cj_place trail = el->trail;
	bool known, truth, is_condition;
	cj_ref ref;

	el->trail = cj_module_place(el->m, w->span, trail, -1);
	if (asks_each(w->t))
		v = cj_elab_call_values(el, w->t->pred_span, v, &c, 1);
	else if (w->t->asked != NULL)
		v = condition_of(el, w);
	is_condition = cj_elab_condition(el, w->t->pred_span, v, &known,
	    &truth, &ref);
	el->trail = trail;
	cj_elab_at(el, w->span);
	if (!is_condition)
		return false;
	if (known && truth)
		return true;
	*mask = both(el, *mask, known ? cj_emit_bool(&el->em->b, truth) :
	    ref);
	return true;
}

/* What the guard of one view says of an element. */
static bool
add_guard(struct cj_elab *el, const struct cj_way *w, cj_ref *mask)
{
	struct cj_component c[CJ_MAX_AXES];
	const struct cj_tuple *coord = cj_tuple_known(&el->al, 0);
	unsigned n = 0, i;

	if (w->t->cut != NULL) {
		coord = cj_cut_at(el, w->t->cut, w->at);
		n = is_whole(w->t) ? 0 :
		    cj_cut_components(el, w->t, w->at, c);
	}
	for (i = 0; i < n; i++)
		add_bounds(el, &c[i], mask);
	return w->t->pred == NULL || predicate(el, w, coord, mask);
}

/* A guard of the view, and those of what it was gathered from: what is not cut
 * ends where its mode does. */
bool
cj_pieces_mask(struct cj_elab *el, const struct cj_pieces *p, uint32_t r,
    cj_ref *mask)
{
	struct cj_way w = cj_pieces_way(el, p, r);
	struct cj_component index;

	*mask = 0;
	if (w.t->is_guarded && !add_guard(el, &w, mask))
		return false;
	while (cj_tensor_is_guarded(w.t) && cj_way_on(el, &w)) {
		if (!w.t->is_guarded)
			continue;
		index = (struct cj_component){ w.index, w.extent, w.mode,
		    false };
		if (is_whole(w.t))
			add_bounds(el, &index, mask);
		if (!add_guard(el, &w, mask))
			return false;
	}
	return true;
}
