/*
 * Composition: R(c) = A(B(c)) for all c in the domain of B.
 *
 * A is made flat and coalesced, so that it is a list of modes s_i:d_i over one
 * index; its last mode goes on beyond the domain. B is taken mode by mode: a
 * mode s:d of B walks the index in steps of d. Of each mode of A it takes
 * every (d / extents so far)-th element, which must come out even:
 *
 *   step     d divides s_i, or s_i divides d, or the walk ends inside mode i
 *   extent   what mode i contributes divides what is left of s
 *   carry    the modes of B do not add up to more than a mode of A holds, as
 *            A(x + y) is A(x) + A(y) only without a carry between its modes
 *
 * Integers that are symbols must meet the conditions for all their values.
 * The conditions are enough, not needed: small known layouts that do not meet
 * them are looked at point by point.
 */
#include "layout_priv.h"

/* A mode of B on its way through the modes of A. */
struct walk {
	const struct cj_modes *a;
	struct cj_list shape, stride;
	struct cj_int rest, step;
};

/* Whether b divides a; b is not 0. */
static enum cj_truth
divides(struct cj_algebra *al, struct cj_int b, struct cj_int a)
{
	struct cj_range r;

	if (cj_is_known(a) && cj_is_known(b))
		return b.value != 0 && a.value % b.value == 0 ? CJ_YES
		    : CJ_NO;
	r = cj_int_range(al->sym, cj_int_mod(al->sym, a, b));
	if (r.lo == 0 && r.hi == 0)
		return CJ_YES;
	return r.lo > 0 || r.hi < 0 ? CJ_NO : CJ_MAYBE;
}

static bool
refuse_step(struct cj_algebra *al, const struct walk *w, uint32_t mode,
    enum cj_truth truth)
{
	cj_refuse(al, truth == CJ_MAYBE ? CJ_REFUSED_SYMBOLIC
	    : CJ_REFUSED_STRIDE_DIV,
	    truth == CJ_MAYBE ? "One of the extent and the step has to divide"
	    " the other; a `where` clause can state it." :
	    "One of the extent and the step has to divide the other.",
	    "a step of %s does not fit mode %u of extent %s (of the left"
	    " layout, coalesced)%s", cj_int_text(al, w->step), mode,
	    cj_int_text(al, w->a->at[mode].shape),
	    truth == CJ_MAYBE ? ", as far as is known" : "");
	return false;
}

static bool
refuse_extent(struct cj_algebra *al, const struct walk *w, uint32_t mode,
    struct cj_int take, enum cj_truth truth)
{
	cj_refuse(al, truth == CJ_MAYBE ? CJ_REFUSED_SYMBOLIC
	    : CJ_REFUSED_SHAPE_DIV,
	    truth == CJ_MAYBE ? "The extent has to be a multiple of what the"
	    " mode holds, or to end inside it; a `where` clause can state it."
	    : "The extent has to be a multiple of what the mode holds, or to"
	    " end inside it.",
	    "an extent of %s is not a multiple of the %s that mode %u of"
	    " extent %s gives (of the left layout, coalesced)%s",
	    cj_int_text(al, w->rest), cj_int_text(al, take), mode,
	    cj_int_text(al, w->a->at[mode].shape),
	    truth == CJ_MAYBE ? ", as far as is known" : "");
	return false;
}

static struct cj_int
sign_of(struct cj_algebra *al, struct cj_int a)
{
	struct cj_range r = cj_int_range(al->sym, a);

	if (al->sym->fixed && !cj_is_known(a))
		return cj_int_div(al->sym, a, cj_int_abs(al->sym, a));
	/* a symbol that may be 0 has |a| = a, and 0 * anything is right */
	return cj_known(r.hi <= 0 && r.lo < 0 ? -1 : cj_is_value(a, 0) ? 0
	    : 1);
}

/* min(next, rest), without a term where one divides the other for sure. */
static struct cj_int
take_of(struct cj_algebra *al, struct cj_int next, struct cj_int rest)
{
	struct cj_int q;

	if ((cj_is_known(next) && cj_is_known(rest)) || al->sym->fixed)
		return cj_int_min(al->sym, next, rest);
	if (divides(al, next, rest) == CJ_YES) {
		q = cj_int_div(al->sym, rest, next);
		if (cj_int_range(al->sym, q).lo >= 1)
			return next;
	}
	if (divides(al, rest, next) == CJ_YES) {
		q = cj_int_div(al->sym, next, rest);
		if (cj_int_range(al->sym, q).lo >= 1)
			return rest;
	}
	return cj_int_min(al->sym, next, rest);
}

/*
 * The step condition at mode i: step is a multiple of the extent (then the
 * mode gives nothing), or the extent one of the step, or the walk ends before
 * it would leave the mode.
 */
static enum cj_truth
step_fits(struct cj_algebra *al, const struct walk *w, struct cj_int extent,
    struct cj_int step, struct cj_int next)
{
	enum cj_truth skips, splits, ends;

	skips = divides(al, extent, step);
	if (skips == CJ_YES)
		return CJ_YES;
	if (al->as_cute || cj_is_value(w->rest, 1)) {
		ends = cj_int_less(al->sym, step, extent);
		return ends == CJ_MAYBE && cj_is_value(w->rest, 1) ? CJ_YES
		    : ends;
	}
	splits = divides(al, step, extent);
	if (splits == CJ_YES)
		return CJ_YES;
	ends = cj_int_less_equal(al->sym, w->rest, next);
	if (ends == CJ_YES && cj_int_less(al->sym, step, extent) == CJ_YES)
		return CJ_YES;
	if (skips == CJ_NO && splits == CJ_NO && ends == CJ_NO)
		return CJ_NO;
	if (skips == CJ_NO && cj_int_less(al->sym, step, extent) == CJ_NO)
		return CJ_NO;
	return CJ_MAYBE;
}

static bool
walk_mode(struct cj_algebra *al, struct walk *w, uint32_t i)
{
	const struct cj_mode *a = &w->a->at[i];

	struct cj_int step = cj_int_abs(al->sym, w->step), next, take;
	struct cj_int next_step;
	enum cj_truth fits;

	assert(i + 1 < w->a->count);
	next = cj_int_ceil_div(al->sym, a->shape, step);
	fits = step_fits(al, w, a->shape, step, next);
	if (fits != CJ_YES)
		return refuse_step(al, w, i, fits);
	next_step = cj_int_mul(al->sym, cj_int_ceil_div(al->sym, step,
	    a->shape), sign_of(al, w->step));
	if (cj_is_value(next, 1) || cj_is_value(w->rest, 1)) {
		w->step = next_step;
		return true;
	}
	take = take_of(al, next, w->rest);
	fits = divides(al, take, w->rest);
	if (fits != CJ_YES)
		return refuse_extent(al, w, i, take, fits);
	cj_list_add(al, &w->shape, cj_tuple_int(al, take));
	cj_list_add(al, &w->stride, cj_stride_scale(al, a->stride, w->step));
	w->rest = cj_int_div(al->sym, w->rest, take);
	w->step = next_step;
	return true;
}

/* A o (extent : step), for a step that is an integer. */
static bool
compose_mode(struct cj_algebra *al, const struct cj_modes *a,
    const struct cj_tuple *extent, const struct cj_tuple *step,
    const struct cj_tuple **shape, const struct cj_tuple **stride)
{
	struct walk w = { .a = a, .rest = extent->value, .step = step->value };
	uint32_t i;

	assert(a->count > 0 && step->kind == CJ_TUPLE_INT);
	*shape = extent;
	*stride = step;
	if (cj_stride_is(step, 0))
		return true;
	if (a->count == 1) {
		*stride = cj_stride_scale(al, a->at[0].stride, step->value);
		return true;
	}
	if (cj_is_value(extent->value, 0)) {
		cj_refuse(al, CJ_REFUSED_SHAPE_DIV, NULL,
		    "an extent of 0 cannot be composed with a layout of"
		    " several modes");
		return false;
	}
	cj_list_init(&w.shape);
	cj_list_init(&w.stride);
	for (i = 0; i + 1 < a->count; i++) {
		if (cj_is_value(a->at[i].shape, 0)) {
			cj_refuse(al, CJ_REFUSED_SHAPE_DIV, NULL,
			    "mode %u of the left layout has an extent of 0",
			    i);
			return false;
		}
		if (!walk_mode(al, &w, i))
			return false;
	}
	if (w.shape.count == 0 || !cj_is_value(w.rest, 1)) {
		cj_list_add(al, &w.shape, cj_tuple_int(al, w.rest));
		cj_list_add(al, &w.stride, cj_stride_scale(al,
		    a->at[i].stride, w.step));
	}
	*shape = cj_list_unwrap(al, &w.shape);
	*stride = cj_list_unwrap(al, &w.stride);
	return true;
}

/* ---- left layouts reached by unit strides ------------------------------- */

/* The left layout: flat modes, or parts that B's unit strides pick. */
struct left {
	bool is_flat;
	struct cj_int size;	/* end of the domain; 0: the last mode's */
	struct cj_modes modes;
	struct left *part;
	uint32_t count;
};

/* Coalesce l at the leaves of the profile, kept beyond the domain. */
static bool
left_init(struct cj_algebra *al, struct left *left,
    const struct cj_tuple *shape, const struct cj_tuple *stride,
    const struct cj_tuple *profile)
{
	uint32_t i;

	if (profile == NULL || cj_is_leaf(profile)) {
		left->is_flat = true;
		cj_modes_init(&left->modes);
		cj_modes_flatten(al, &left->modes, shape, stride);
		if (left->modes.count == 0)
			cj_modes_add(al, &left->modes, cj_known(1),
			    cj_tuple_known(al, 0));
		if (cj_is_value(left->modes.at[left->modes.count - 1].shape,
		    1))
			left->size = cj_tuple_product(al, shape);
		cj_coalesce_beyond(al, &left->modes);
		return true;
	}
	if (profile->rank > cj_tuple_rank(shape)) {
		cj_refuse(al, CJ_REFUSED_RANK, NULL,
		    "a unit stride picks mode %u of a layout of rank %u",
		    profile->rank - 1, cj_tuple_rank(shape));
		return false;
	}
	assert(!cj_is_leaf(profile));
	left->count = profile->rank;
	left->part = CJ_NEWS(al->arena, struct left, profile->rank);
	for (i = 0; i < profile->rank; i++) {
		if (!left_init(al, &left->part[i], cj_tuple_get(shape, i),
		    cj_tuple_get(stride, i), profile->at[i]))
			return false;
	}
	return true;
}

static bool
compose_into(struct cj_algebra *al, const struct left *left,
    const struct cj_tuple *b_shape, const struct cj_tuple *b_stride,
    const struct cj_tuple **shape, const struct cj_tuple **stride)
{
	struct cj_list shapes, strides;
	const struct cj_tuple *step = b_stride;
	uint32_t i;

	if (cj_is_leaf(b_shape)) {
		if (b_stride->kind == CJ_TUPLE_BASIS) {
			assert(left->part != NULL);
			for (i = 0; i < b_stride->path_length; i++)
				left = &left->part[b_stride->path[i]];
			step = cj_tuple_int(al, b_stride->value);
		}
		if (!left->is_flat) {
			cj_refuse(al, CJ_REFUSED_RANK, NULL,
			    "the unit stride %s picks several modes",
			    cj_tuple_text(al, b_stride));
			return false;
		}
		return compose_mode(al, &left->modes, b_shape, step, shape,
		    stride);
	}
	cj_list_init(&shapes);
	cj_list_init(&strides);
	for (i = 0; i < b_shape->rank; i++) {
		if (!compose_into(al, left, b_shape->at[i], b_stride->at[i],
		    shape, stride))
			return false;
		cj_list_add(al, &shapes, *shape);
		cj_list_add(al, &strides, *stride);
	}
	*shape = cj_list_tuple(al, &shapes);
	*stride = cj_list_tuple(al, &strides);
	return *shape != NULL && *stride != NULL;
}

/* The sum of all unit strides below: the profile of the values. */
static const struct cj_tuple *
coprofile(struct cj_algebra *al, const struct cj_tuple *stride)
{
	const struct cj_tuple *sum = cj_tuple_known(al, 0);
	uint32_t i;

	if (stride->kind == CJ_TUPLE_BASIS)
		return cj_value_add(al, sum, cj_tuple_basis(al, cj_known(0),
		    stride->path, stride->path_length));
	if (cj_is_leaf(stride))
		return sum;
	for (i = 0; i < stride->rank && sum != NULL; i++)
		sum = cj_value_add(al, sum, coprofile(al, stride->at[i]));
	return sum;
}

/* ---- carries ----------------------------------------------------------- */

/* The most that s:d has below the place value `end`. */
static struct cj_int
most_below(struct cj_algebra *al, const struct cj_mode *b, struct cj_int end)
{
	struct cj_int d = cj_int_abs(al->sym, b->stride->value);
	struct cj_int last = cj_int_mul(al->sym, d, cj_int_sub(al->sym,
	    b->shape, cj_known(1)));

	if (cj_is_value(last, 0) || divides(al, end, d) == CJ_YES)
		return cj_known(0);
	if (cj_int_less(al->sym, last, end) == CJ_YES)
		return last;
	return divides(al, d, end) == CJ_YES ? cj_int_sub(al->sym, end, d)
	    : last;
}

static bool
refuse_carry(struct cj_algebra *al, const struct left *left, uint32_t i)
{
	cj_refuse(al, CJ_REFUSED_STRIDE_DIV,
	    "The modes of the right layout must not overlap in what they"
	    " select; a `where` clause can state a bound.",
	    "the modes of the right layout together can leave mode %u of"
	    " extent %s (of the left layout, coalesced)", i,
	    cj_int_text(al, left->modes.at[i].shape));
	return false;
}

/*
 * Whether the modes `b` of one left layout add up without a carry. A carry
 * into an extent of 1 at the end is beyond the domain and does not count.
 */
static bool
adds_up(struct cj_algebra *al, const struct left *left,
    const struct cj_modes *b)
{
	struct cj_int end = cj_known(1), sum, most;
	uint32_t i, j, parts, all;
	bool negative;

	assert(left->is_flat);
	for (i = 0; i + 1 < left->modes.count; i++) {
		end = cj_int_mul(al->sym, end, left->modes.at[i].shape);
		sum = cj_known(0);
		negative = false;
		for (j = parts = all = 0; j < b->count; j++) {
			most = most_below(al, &b->at[j], end);
			sum = cj_int_add(al->sym, sum, most);
			parts += !cj_is_value(most, 0);
			all += !cj_stride_is(b->at[j].stride, 0)
			    && !cj_is_value(b->at[j].shape, 1);
			negative = negative || (!cj_is_value(most, 0)
			    && cj_int_range(al->sym,
			    b->at[j].stride->value).hi < 0);
		}
		/* a negative step borrows from what is above */
		if (negative && all > 1)
			return refuse_carry(al, left, i);
		if (cj_int_same(end, left->size))
			break;
		if (parts > 1 && cj_int_less(al->sym, sum, end) != CJ_YES)
			return refuse_carry(al, left, i);
	}
	return true;
}

/* The part of the left layout that a step of the right one is in. */
static const struct left *
left_of(const struct left *left, const struct cj_tuple *stride)
{
	uint32_t i;

	for (i = 0; i < stride->path_length; i++) {
		assert(stride->path[i] < left->count);
		left = &left->part[stride->path[i]];
	}
	return left;
}

static bool
has_no_carries(struct cj_algebra *al, const struct left *left,
    const struct cj_layout *b)
{
	struct cj_modes all, one;
	uint32_t i, j;

	cj_modes_init(&all);
	cj_modes_flatten(al, &all, b->shape, b->stride);
	if (left->is_flat)
		return adds_up(al, left, &all);
	for (i = 0; i < all.count; i++) {
		const struct left *part = left_of(left, all.at[i].stride);

		cj_modes_init(&one);
		for (j = i; j < all.count; j++) {
			if (left_of(left, all.at[j].stride) == part)
				cj_modes_add(al, &one, all.at[j].shape,
				    all.at[j].stride);
		}
		if (part->is_flat && one.count > 1
		    && !adds_up(al, part, &one))
			return false;
	}
	return true;
}

/* R as CuTe walks to it; `exact`: only where the conditions are met. */
static const struct cj_layout *
walk_all(struct cj_algebra *al, const struct left *left,
    const struct cj_layout *b, bool exact)
{
	const struct cj_tuple *shape, *stride;

	if (!compose_into(al, left, b->shape, b->stride, &shape, &stride))
		return NULL;
	if (exact && !cj_is_leaf(b->shape) && !has_no_carries(al, left, b))
		return NULL;
	return cj_layout_of(al, shape, stride);
}

/* ---- point by point ---------------------------------------------------- */

enum { MAX_POINTS = 1 << 12 };

static bool
has_negative(struct cj_algebra *al, const struct cj_tuple *coord)
{
	uint32_t i;

	if (cj_is_leaf(coord))
		return cj_int_range(al->sym, coord->value).lo < 0;
	for (i = 0; i < coord->rank; i++) {
		if (has_negative(al, coord->at[i]))
			return true;
	}
	return false;
}

static bool
is_equal(struct cj_algebra *al, const struct cj_tuple *x,
    const struct cj_tuple *y)
{
	if (x->kind == CJ_TUPLE_INT && y->kind == CJ_TUPLE_INT)
		return cj_int_equal(al->sym, x->value, y->value) == CJ_YES;
	return cj_tuple_same(x, y);
}

/* R(i) = A(B(i)), and B(i) is not before the beginning of A. */
static bool
is_composed_at(struct cj_algebra *al, const struct cj_layout *r,
    const struct cj_layout *a, const struct cj_layout *b, int64_t i)
{
	const struct cj_tuple *at = cj_tuple_known(al, i), *x, *y;

	x = cj_layout_at(al, b, at);
	if (x == NULL || has_negative(al, x))
		return false;
	x = cj_layout_at(al, a, x);
	y = cj_layout_at(al, r, at);
	return x != NULL && y != NULL && !al->sym->overflow
	    && is_equal(al, x, y);
}

/* All integers have one value; those of CuTe's dynamic ones are known. */
static bool
is_known(struct cj_algebra *al, const struct cj_layout *l)
{
	return al->sym->fixed || (cj_tuple_is_known(l->shape)
	    && cj_tuple_is_known(l->stride));
}

/*
 * Where a condition is not met the walk may still lead to the composition: of
 * small known layouts every point is looked at. NULL, with `why` as it was,
 * where it does not.
 */
static const struct cj_layout *
walk_and_look(struct cj_algebra *al, const struct left *left,
    const struct cj_layout *a, const struct cj_layout *b)
{
	struct cj_why_not why = al->why;
	const struct cj_layout *r;
	int64_t i, n;

	assert(!al->as_cute);
	if (!is_known(al, a) || !is_known(al, b))
		return NULL;
	n = cj_int_range(al->sym, cj_layout_size(al, b)).lo;
	if (al->sym->overflow || n < 1 || n > MAX_POINTS)
		return NULL;
	al->as_cute = true;
	r = walk_all(al, left, b, false);
	al->as_cute = false;
	for (i = 0; r != NULL && i < n; i++) {
		struct cj_mark mark = cj_arena_mark(al->arena);

		if (!is_composed_at(al, r, a, b, i))
			r = NULL;
		if (!al->sym->fixed)	/* else there may be new terms */
			cj_arena_release(al->arena, mark);
	}
	al->sym->overflow = false;
	al->why = why;
	return r;
}

static const struct cj_layout *
compose_plain(struct cj_algebra *al, const struct cj_layout *a,
    const struct cj_layout *b)
{
	const struct cj_tuple *profile = NULL;
	const struct cj_layout *r;
	struct left left = { 0 };

	if ((b->stride->has & CJ_HAS_BASIS) != 0) {
		profile = coprofile(al, b->stride);
		if (profile == NULL)
			return NULL;
	}
	if (!left_init(al, &left, a->shape, a->stride, profile))
		return NULL;
	r = walk_all(al, &left, b, !al->as_cute);
	if (r == NULL && !al->as_cute)
		r = walk_and_look(al, &left, a, b);
	return r;
}

/* A swizzle of B has to move in front of A: A o Sw = Sw' o A. */
const struct cj_layout *
cj_layout_compose(struct cj_algebra *al, const struct cj_layout *a,
    const struct cj_layout *b)
{
	const struct cj_layout *plain = cj_layout_inner(al, b);

	if (b->offset != NULL && !cj_stride_is(b->offset, 0))
		return cj_refuse(al, CJ_REFUSED_SWIZZLE, NULL,
		    "the right layout %s has an offset",
		    cj_layout_text(al, b));
	if (b->is_composed && b->swizzle.bits > 0) {
		a = cj_layout_compose_swizzle(al, a, b->swizzle);
		if (a == NULL)
			return NULL;
	}
	return cj_checked(al, cj_layout_around(al, a, compose_plain(al,
	    cj_layout_inner(al, a), plain)));
}

static const struct cj_layout *
by_tiler(struct cj_algebra *al, const struct cj_layout *a,
    const struct cj_tuple *tiler)
{
	struct cj_list shape, stride;
	uint32_t i;

	switch (tiler->kind) {
	case CJ_TUPLE_ANY:
		return a;
	case CJ_TUPLE_LAYOUT:
		return cj_layout_compose(al, a, tiler->layout);
	case CJ_TUPLE_INT:
		return compose_plain(al, a, cj_layout_of(al, tiler,
		    cj_tuple_known(al, 1)));
	case CJ_TUPLE_BASIS:
		return cj_refuse(al, CJ_REFUSED_KIND, NULL,
		    "%s is not a tiler", cj_tuple_text(al, tiler));
	case CJ_TUPLE_TUPLE:
		break;
	}
	if (tiler->rank > cj_layout_rank(a))
		return cj_refuse(al, CJ_REFUSED_RANK, NULL,
		    "tiler %s has more modes than %s",
		    cj_tuple_text(al, tiler), cj_layout_text(al, a));
	cj_list_init(&shape);
	cj_list_init(&stride);
	for (i = 0; i < tiler->rank; i++) {
		const struct cj_layout *x = by_tiler(al, cj_layout_get(al, a,
		    i), tiler->at[i]);

		if (x == NULL || x->is_composed)
			return NULL;
		cj_list_add(al, &shape, x->shape);
		cj_list_add(al, &stride, x->stride);
	}
	return cj_layout_of(al, cj_list_tuple(al, &shape),
	    cj_list_tuple(al, &stride));
}

const struct cj_layout *
cj_layout_compose_tiler(struct cj_algebra *al, const struct cj_layout *a,
    const struct cj_tuple *tiler)
{
	return cj_checked(al, cj_layout_around(al, a, by_tiler(al,
	    cj_layout_inner(al, a), tiler)));
}
