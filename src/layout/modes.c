/*
 * Changing the modes of a layout: select, take, group, append, flatten,
 * coalesce, filter.
 */
#include "layout_priv.h"

const struct cj_layout *
cj_layout_select(struct cj_algebra *al, const struct cj_layout *l,
    const uint32_t *modes, uint32_t count)
{
	struct cj_list shape, stride;
	uint32_t i;

	cj_list_init(&shape);
	cj_list_init(&stride);
	for (i = 0; i < count; i++) {
		if (modes[i] >= cj_layout_rank(l))
			return cj_refuse(al, CJ_REFUSED_RANK, NULL,
			    "there is no mode %u in %s, which has rank %u",
			    modes[i], cj_layout_text(al, l),
			    cj_layout_rank(l));
		cj_list_add(al, &shape, cj_tuple_get(l->shape, modes[i]));
		cj_list_add(al, &stride, cj_tuple_get(l->stride, modes[i]));
	}
	return cj_layout_around(al, l, cj_layout_of(al,
	    cj_list_tuple(al, &shape), cj_list_tuple(al, &stride)));
}

const struct cj_layout *
cj_layout_take(struct cj_algebra *al, const struct cj_layout *l,
    uint32_t begin, uint32_t end)
{
	struct cj_list shape, stride;
	uint32_t i;

	if (begin >= end || end > cj_layout_rank(l))
		return cj_refuse(al, CJ_REFUSED_RANK, NULL,
		    "modes %u to %u are not a range of the modes of %s, which"
		    " has rank %u", begin, end, cj_layout_text(al, l),
		    cj_layout_rank(l));
	cj_list_init(&shape);
	cj_list_init(&stride);
	for (i = begin; i < end; i++) {
		cj_list_add(al, &shape, cj_tuple_get(l->shape, i));
		cj_list_add(al, &stride, cj_tuple_get(l->stride, i));
	}
	return cj_layout_around(al, l, cj_layout_of(al,
	    cj_list_tuple(al, &shape), cj_list_tuple(al, &stride)));
}

const struct cj_layout *
cj_layout_flatten(struct cj_algebra *al, const struct cj_layout *l)
{
	return cj_layout_around(al, l, cj_layout_of(al,
	    cj_tuple_flatten(al, l->shape), cj_tuple_flatten(al, l->stride)));
}

const struct cj_layout *
cj_layout_group(struct cj_algebra *al, const struct cj_layout *l,
    uint32_t begin, uint32_t end)
{
	const struct cj_tuple *shape = l->shape, *stride = l->stride;

	if (begin > end || end > cj_layout_rank(l))
		return cj_refuse(al, CJ_REFUSED_RANK, NULL,
		    "modes %u to %u are not a range of the modes of %s, which"
		    " has rank %u", begin, end, cj_layout_text(al, l),
		    cj_layout_rank(l));
	if (cj_is_leaf(shape)) {
		shape = cj_tuple_make(al, &shape, 1);
		stride = cj_tuple_make(al, &stride, 1);
	}
	return cj_layout_around(al, l, cj_layout_of(al,
	    cj_tuple_group(al, shape, begin, end),
	    cj_tuple_group(al, stride, begin, end)));
}

static const struct cj_layout *
no_swizzle(struct cj_algebra *al, const struct cj_layout *x)
{
	if (!x->is_composed && x->offset == NULL)
		return x;
	return cj_refuse(al, CJ_REFUSED_SWIZZLE, NULL,
	    "%s with its swizzle or offset cannot be a mode of another"
	    " layout", cj_layout_text(al, x));
}

const struct cj_layout *
cj_layout_append(struct cj_algebra *al, const struct cj_layout *l,
    const struct cj_layout *x)
{
	if (no_swizzle(al, x) == NULL)
		return NULL;
	return cj_layout_around(al, l, cj_layout_of(al,
	    cj_tuple_append(al, l->shape, x->shape),
	    cj_tuple_append(al, l->stride, x->stride)));
}

const struct cj_layout *
cj_layout_prepend(struct cj_algebra *al, const struct cj_layout *l,
    const struct cj_layout *x)
{
	if (no_swizzle(al, x) == NULL)
		return NULL;
	return cj_layout_around(al, l, cj_layout_of(al,
	    cj_tuple_prepend(al, l->shape, x->shape),
	    cj_tuple_prepend(al, l->stride, x->stride)));
}

/* Append (or prepend) 1:0 until the rank is at least `rank`. */
const struct cj_layout *
cj_layout_append_to(struct cj_algebra *al, const struct cj_layout *l,
    uint32_t rank, const struct cj_layout *x)
{
	if (rank > CJ_MAX_RANK)
		return cj_refuse(al, CJ_REFUSED_LIMIT, NULL,
		    "rank %u is beyond the limit of %d", rank,
		    (int)CJ_MAX_RANK);
	while (l != NULL && cj_layout_rank(l) < rank)
		l = cj_layout_append(al, l, x);
	return l;
}

const struct cj_layout *
cj_layout_unit(struct cj_algebra *al)
{
	return cj_layout_of(al, cj_tuple_known(al, 1),
	    cj_tuple_known(al, 0));
}

const struct cj_layout *
cj_layout_replace(struct cj_algebra *al, const struct cj_layout *l,
    uint32_t mode, const struct cj_layout *x)
{
	struct cj_list shape, stride;
	uint32_t i;

	if (mode >= cj_layout_rank(l))
		return cj_refuse(al, CJ_REFUSED_RANK, NULL,
		    "there is no mode %u in %s, which has rank %u", mode,
		    cj_layout_text(al, l), cj_layout_rank(l));
	if (no_swizzle(al, x) == NULL)
		return NULL;
	if (cj_is_leaf(l->shape))
		return cj_layout_around(al, l, x);
	cj_list_init(&shape);
	cj_list_init(&stride);
	for (i = 0; i < cj_layout_rank(l); i++) {
		cj_list_add(al, &shape, i == mode ? x->shape
		    : l->shape->at[i]);
		cj_list_add(al, &stride, i == mode ? x->stride
		    : l->stride->at[i]);
	}
	return cj_layout_around(al, l, cj_layout_of(al,
	    cj_list_tuple(al, &shape), cj_list_tuple(al, &stride)));
}

const struct cj_layout *
cj_layout_concat(struct cj_algebra *al, const struct cj_layout *const *at,
    uint32_t count)
{
	struct cj_list shape, stride;
	uint32_t i;

	cj_list_init(&shape);
	cj_list_init(&stride);
	for (i = 0; i < count; i++) {
		if (at[i] == NULL || no_swizzle(al, at[i]) == NULL)
			return NULL;
		cj_list_add(al, &shape, at[i]->shape);
		cj_list_add(al, &stride, at[i]->stride);
	}
	return cj_layout_of(al, cj_list_tuple(al, &shape),
	    cj_list_tuple(al, &stride));
}

/* ---- coalesce ---------------------------------------------------------- */

/*
 * Whether mode a before mode b is one mode: a's extent times its stride is
 * b's stride. A known extent is not merged into a symbolic one behind it, so
 * that what is known stays known.
 */
static bool
merges(struct cj_algebra *al, const struct cj_mode *a,
    const struct cj_mode *b)
{
	if (!cj_is_known(b->shape) && cj_is_known(a->shape))
		return false;
	if (cj_is_known(a->shape) && a->stride->kind == CJ_TUPLE_INT
	    && cj_is_known(a->stride->value)) {
		int64_t end;

		return b->stride->kind == CJ_TUPLE_INT
		    && cj_is_known(b->stride->value)
		    && !__builtin_mul_overflow(a->shape.value,
		    a->stride->value.value, &end)
		    && end == b->stride->value.value;
	}
	return cj_stride_same(cj_stride_scale(al, a->stride, a->shape),
	    b->stride);
}

/* Backwards, as CuTe does: the newest mode is the front of what is done. */
void
cj_coalesce_modes(struct cj_algebra *al, struct cj_modes *m)
{
	uint32_t i, top = m->count;
	struct cj_mode *at = m->at;

	if (m->count == 0)
		return;
	top--;
	for (i = m->count - 1; i-- > 0;) {
		if (cj_is_value(at[i].shape, 1))
			continue;
		if (cj_is_value(at[top].shape, 1)) {
			at[top] = at[i];
		} else if (merges(al, &at[i], &at[top])) {
			at[top].shape = cj_int_mul(al->sym, at[i].shape,
			    at[top].shape);
			at[top].stride = at[i].stride;
		} else {
			at[--top] = at[i];
		}
	}
	assert(top < m->count);
	m->count -= top;
	memmove(at, at + top, m->count * sizeof *at);
	if (m->count == 1 && cj_is_value(at[0].shape, 1))
		at[0].stride = cj_tuple_known(al, 0);
}

/* A last extent of 1 stays apart: the mode before it must not become the last
 * one and take the indices beyond the domain. */
void
cj_coalesce_beyond(struct cj_algebra *al, struct cj_modes *m)
{
	if (m->count > 0 && cj_is_value(m->at[m->count - 1].shape, 1))
		m->at[m->count - 1].shape = cj_known(2);
	cj_coalesce_modes(al, m);
}

static const struct cj_layout *
coalesce_all(struct cj_algebra *al, const struct cj_layout *l)
{
	struct cj_modes m;

	if (cj_is_leaf(l->shape) && !cj_is_value(l->shape->value, 1))
		return l;
	cj_modes_init(&m);
	cj_modes_flatten(al, &m, l->shape, l->stride);
	cj_coalesce_modes(al, &m);
	return cj_modes_layout(al, &m);
}

typedef const struct cj_layout *mode_fn(struct cj_algebra *al,
    const struct cj_layout *l);

/* fn at the leaves of the profile; modes beyond it stay. */
static const struct cj_layout *
by_profile(struct cj_algebra *al, const struct cj_layout *l,
    const struct cj_tuple *profile, mode_fn *fn)
{
	struct cj_list shape, stride;
	uint32_t i;

	if (profile == NULL || cj_is_leaf(profile))
		return fn(al, l);
	if (profile->rank > cj_layout_rank(l))
		return cj_refuse(al, CJ_REFUSED_RANK, NULL,
		    "profile %s has more modes than %s",
		    cj_tuple_text(al, profile), cj_layout_text(al, l));
	cj_list_init(&shape);
	cj_list_init(&stride);
	for (i = 0; i < cj_layout_rank(l); i++) {
		const struct cj_layout *x = cj_layout_of(al,
		    cj_tuple_get(l->shape, i), cj_tuple_get(l->stride, i));

		if (i < profile->rank)
			x = by_profile(al, x, profile->at[i], fn);
		if (x == NULL)
			return NULL;
		cj_list_add(al, &shape, x->shape);
		cj_list_add(al, &stride, x->stride);
	}
	return cj_layout_of(al, cj_list_tuple(al, &shape),
	    cj_list_tuple(al, &stride));
}

const struct cj_layout *
cj_layout_coalesce(struct cj_algebra *al, const struct cj_layout *l,
    const struct cj_tuple *profile)
{
	return cj_checked(al, cj_layout_around(al, l, by_profile(al,
	    cj_layout_inner(al, l), profile, coalesce_all)));
}

static const struct cj_layout *
filter_all(struct cj_algebra *al, const struct cj_layout *l)
{
	struct cj_modes m;
	uint32_t i;

	cj_modes_init(&m);
	cj_modes_flatten(al, &m, l->shape, l->stride);
	for (i = 0; i < m.count; i++) {
		if (cj_stride_is(m.at[i].stride, 0))
			m.at[i].shape = cj_known(1);
	}
	cj_coalesce_modes(al, &m);
	return cj_modes_layout(al, &m);
}

const struct cj_layout *
cj_layout_filter(struct cj_algebra *al, const struct cj_layout *l)
{
	return cj_layout_filter_profile(al, l, NULL);
}

const struct cj_layout *
cj_layout_filter_profile(struct cj_algebra *al, const struct cj_layout *l,
    const struct cj_tuple *profile)
{
	return cj_checked(al, cj_layout_around(al, l, by_profile(al,
	    cj_layout_inner(al, l), profile, filter_all)));
}

/* ---- profiles ---------------------------------------------------------- */

static const struct cj_tuple *
unflatten(struct cj_algebra *al, const struct cj_tuple *flat, uint32_t *next,
    const struct cj_tuple *profile)
{
	struct cj_list list;
	uint32_t i;

	assert(flat->depth <= 1);
	if (cj_is_leaf(profile))
		return cj_tuple_get(flat, (*next)++);
	cj_list_init(&list);
	for (i = 0; i < profile->rank; i++) {
		const struct cj_tuple *x = unflatten(al, flat, next,
		    profile->at[i]);

		assert(x != NULL);
		cj_list_add(al, &list, x);
	}
	return cj_list_tuple(al, &list);
}

const struct cj_layout *
cj_layout_unflatten(struct cj_algebra *al, const struct cj_layout *l,
    const struct cj_tuple *profile)
{
	uint32_t a = 0, b = 0;

	if (l->shape->depth > 1 || profile->leaves != l->shape->leaves)
		return cj_refuse(al, CJ_REFUSED_RANK,
		    "A flat layout takes a profile of as many integers.",
		    "%s cannot be given the profile %s",
		    cj_layout_text(al, l), cj_tuple_text(al, profile));
	return cj_layout_around(al, l, cj_layout_of(al,
	    unflatten(al, l->shape, &a, profile),
	    unflatten(al, l->stride, &b, profile)));
}

/* (a0, a1, ...) and (b0, b1, ...) become ((a0, b0), (a1, b1), ...); an a that
 * is no tuple is paired with the whole of b. */
const struct cj_layout *
cj_layout_zip(struct cj_algebra *al, const struct cj_layout *a,
    const struct cj_layout *b)
{
	const struct cj_layout *pair[2], *mode;
	struct cj_list shape, stride;
	uint32_t i;

	if (!cj_is_leaf(a->shape) && (cj_is_leaf(b->shape)
	    || cj_layout_rank(a) != cj_layout_rank(b)))
		return cj_refuse(al, CJ_REFUSED_RANK, NULL,
		    "%s and %s have different ranks",
		    cj_layout_text(al, a), cj_layout_text(al, b));
	cj_list_init(&shape);
	cj_list_init(&stride);
	pair[0] = a;
	pair[1] = b;
	for (i = 0; i < cj_layout_rank(a); i++) {
		if (!cj_is_leaf(a->shape)) {
			pair[0] = cj_layout_get(al, a, i);
			pair[1] = cj_layout_get(al, b, i);
		}
		mode = cj_layout_concat(al, pair, 2);
		if (mode == NULL)
			return NULL;
		cj_list_add(al, &shape, mode->shape);
		cj_list_add(al, &stride, mode->stride);
	}
	return cj_layout_of(al, cj_list_tuple(al, &shape),
	    cj_list_tuple(al, &stride));
}
