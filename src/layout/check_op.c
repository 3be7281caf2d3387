/*
 * The operations of the vector files, each from its arguments as read.
 *
 * Nothing is computed here: a function takes its arguments apart, calls the
 * algebra, and wraps the result.
 */
#include "layout_check.h"

#include <stdio.h>

static const struct cj_layout *
layout_of(struct cj_algebra *al, const struct cj_datum *v)
{
	if (v->kind == CJ_DATUM_LAYOUT)
		return v->layout;
	return cj_refuse(al, CJ_REFUSED_KIND, NULL, "%s is not a layout",
	    v->word);
}

static const struct cj_tuple *
tuple_of(struct cj_algebra *al, const struct cj_datum *v)
{
	if (v->kind == CJ_DATUM_TUPLE)
		return v->tuple;
	return cj_refuse(al, CJ_REFUSED_KIND, NULL, "%s is not a tuple",
	    v->word);
}

static bool
int_of(struct cj_algebra *al, const struct cj_datum *v, struct cj_int *out)
{
	if (v->kind == CJ_DATUM_TUPLE && v->tuple->kind == CJ_TUPLE_INT) {
		*out = v->tuple->value;
		return true;
	}
	cj_refuse(al, CJ_REFUSED_KIND, NULL, "%s is not an integer",
	    v->word);
	return false;
}

static bool
known_of(struct cj_algebra *al, const struct cj_datum *v, int64_t *out)
{
	struct cj_int i;

	if (!int_of(al, v, &i))
		return false;
	*out = cj_int_range(al->sym, i).lo;
	return true;
}

/* A shape, or what has one. */
static const struct cj_tuple *
shape_of(struct cj_algebra *al, const struct cj_datum *v)
{
	return v->kind == CJ_DATUM_LAYOUT ? v->layout->shape
	    : tuple_of(al, v);
}

/* A tiler: a tuple, or one layout. */
static const struct cj_tuple *
tiler_of(struct cj_algebra *al, const struct cj_datum *v)
{
	if (v->kind == CJ_DATUM_LAYOUT)
		return cj_tuple_layout(al, v->layout);
	return tuple_of(al, v);
}

static bool
swizzle_of(struct cj_algebra *al, const struct cj_datum *v,
    struct cj_swizzle *out)
{
	if (v->kind != CJ_DATUM_SWIZZLE) {
		cj_refuse(al, CJ_REFUSED_KIND, NULL, "%s is not a swizzle",
		    v->word);
		return false;
	}
	*out = v->swizzle;
	/* the composition checks it */
	return cj_layout_composed(al, v->swizzle, NULL, cj_layout_unit(al))
	    != NULL;
}

static bool
give_layout(struct cj_datum *out, const struct cj_layout *l)
{
	*out = cj_datum_layout(l);
	return l != NULL;
}

static bool
give_tuple(struct cj_datum *out, const struct cj_tuple *t)
{
	*out = cj_datum_tuple(t);
	return t != NULL;
}

static const struct cj_tuple *
number(struct cj_algebra *al, struct cj_int i)
{
	return cj_checked(al, cj_tuple_int(al, i));
}

static bool
give_truth(struct cj_datum *out, enum cj_truth truth)
{
	*out = cj_datum_word(truth == CJ_YES ? "true" : truth == CJ_NO
	    ? "false" : "unknown");
	return true;
}

#define OPERATION(name)							\
static bool								\
op_##name(struct cj_algebra *al, const struct cj_datum *arg,		\
    uint32_t count, struct cj_datum *out)

/* ---- one or two arguments, and an expression of a and b ------------------ */

/* What layout_of(), tuple_of(), shape_of() and tiler_of() give. */
typedef const struct cj_layout *taken_layout;
typedef const struct cj_tuple *taken_tuple, *taken_shape, *taken_tiler;

#define UNARY(name, first, give, expression)				\
OPERATION(name)								\
{									\
	taken_##first a = first##_of(al, &arg[0]);			\
									\
	(void)count;							\
	return a != NULL && give(out, expression);			\
}

#define BINARY(name, first, second, give, expression)			\
OPERATION(name)								\
{									\
	taken_##first a = first##_of(al, &arg[0]);			\
	taken_##second b = second##_of(al, &arg[1]);			\
									\
	(void)count;							\
	return a != NULL && b != NULL && give(out, expression);		\
}

UNARY(flatten, layout, give_layout, cj_layout_flatten(al, a))
UNARY(filter_zeros, layout, give_layout, cj_layout_filter_zeros(al, a))
UNARY(make_layout_like, layout, give_layout, cj_layout_like(al, a))
UNARY(make_fragment_like, layout, give_layout, cj_layout_fragment_like(al, a))
UNARY(right_inverse, layout, give_layout, cj_layout_right_inverse(al, a))
UNARY(left_inverse, layout, give_layout, cj_layout_left_inverse(al, a))
UNARY(nullspace, layout, give_layout, cj_layout_nullspace(al, a))
UNARY(make_layout_right, tuple, give_layout, cj_layout_row_major(al, a))
UNARY(make_identity_layout, tuple, give_layout, cj_layout_identity(al, a))
UNARY(product_each, shape, give_tuple, cj_tuple_product_each(al, a))

BINARY(ceil_div, shape, shape, give_tuple, cj_tuple_ceil_div(al, a, b))
BINARY(round_up, shape, shape, give_tuple, cj_tuple_round_up(al, a, b))
BINARY(shape_div, shape, shape, give_tuple, cj_tuple_shape_div(al, a, b))
BINARY(compatible, shape, shape, give_truth, cj_tuple_compatible(al, a, b))
BINARY(elem_less, shape, shape, give_truth, cj_tuple_elem_less(al, a, b))
BINARY(evenly_divides, shape, shape, give_truth,
    cj_tuple_evenly_divides(al, a, b))
BINARY(congruent, shape, shape, give_truth, cj_tuple_congruent(a, b)
    ? CJ_YES : CJ_NO)
BINARY(weakly_congruent, shape, shape, give_truth,
    cj_tuple_weakly_congruent(a, b) ? CJ_YES : CJ_NO)

BINARY(composition, layout, layout, give_layout, cj_layout_compose(al, a, b))
BINARY(composition_tiler, layout, tiler, give_layout,
    cj_layout_compose_tiler(al, a, b))
BINARY(unflatten, layout, tuple, give_layout, cj_layout_unflatten(al, a, b))
BINARY(zip, layout, layout, give_layout, cj_layout_zip(al, a, b))
BINARY(max_common_vector, layout, layout, give_tuple,
    number(al, cj_layout_max_common_vector(al, a, b)))
BINARY(max_common_layout, layout, layout, give_layout,
    cj_layout_max_common_layout(al, a, b))
BINARY(crd2idx, tuple, layout, give_tuple, cj_layout_at(al, b, a))
BINARY(dice, tuple, layout, give_layout, cj_layout_dice(al, b, a))

#define DIVIDE(name, form)						\
BINARY(name, layout, tiler, give_layout, cj_layout_divide(al, form, a, b))

DIVIDE(logical_divide, CJ_DIVIDE_LOGICAL)
DIVIDE(zipped_divide, CJ_DIVIDE_ZIPPED)
DIVIDE(tiled_divide, CJ_DIVIDE_TILED)
DIVIDE(flat_divide, CJ_DIVIDE_FLAT)

#define PRODUCT(name, form)						\
BINARY(name, layout, tiler, give_layout, cj_layout_product(al, form, a, b))

PRODUCT(logical_product, CJ_PRODUCT_LOGICAL)
PRODUCT(zipped_product, CJ_PRODUCT_ZIPPED)
PRODUCT(tiled_product, CJ_PRODUCT_TILED)
PRODUCT(flat_product, CJ_PRODUCT_FLAT)
PRODUCT(blocked_product, CJ_PRODUCT_BLOCKED)
PRODUCT(raked_product, CJ_PRODUCT_RAKED)

/* ---- arguments that may be left out -------------------------------------- */

#define EXTEND(name, function)						\
OPERATION(name)								\
{									\
	const struct cj_layout *l = layout_of(al, &arg[0]);		\
	const struct cj_layout *x = count == 2 ? layout_of(al, &arg[1])	\
	    : cj_layout_unit(al);					\
									\
	return l != NULL && x != NULL					\
	    && give_layout(out, function(al, l, x));			\
}

EXTEND(append, cj_layout_append)
EXTEND(prepend, cj_layout_prepend)

/* Rank `arg[0]` of layout arg[1], filled up with arg[2]. */
static bool
to_rank(struct cj_algebra *al, const struct cj_datum *arg, uint32_t count,
    const struct cj_layout **l, const struct cj_layout **x, uint32_t *rank)
{
	int64_t n;

	*l = layout_of(al, &arg[1]);
	*x = count == 3 ? layout_of(al, &arg[2]) : cj_layout_unit(al);
	if (*l == NULL || *x == NULL || !known_of(al, &arg[0], &n))
		return false;
	*rank = n < 0 || n > CJ_MAX_RANK ? CJ_MAX_RANK + 1 : (uint32_t)n;
	if (*rank >= cj_layout_rank(*l))
		return true;
	cj_refuse(al, CJ_REFUSED_RANK, NULL, "%s has more than %lld modes",
	    cj_layout_text(al, *l), (long long)n);
	return false;
}

OPERATION(append_to_rank)
{
	const struct cj_layout *l, *x;
	uint32_t rank;

	return to_rank(al, arg, count, &l, &x, &rank)
	    && give_layout(out, cj_layout_append_to(al, l, rank, x));
}

OPERATION(prepend_to_rank)
{
	const struct cj_layout *l, *x;
	uint32_t rank;

	if (!to_rank(al, arg, count, &l, &x, &rank))
		return false;
	if (rank > CJ_MAX_RANK) {
		cj_refuse(al, CJ_REFUSED_LIMIT, NULL, "rank %u", rank);
		return false;
	}
	while (l != NULL && cj_layout_rank(l) < rank)
		l = cj_layout_prepend(al, l, x);
	return give_layout(out, l);
}

OPERATION(ceil_div_layout)
{
	const struct cj_layout *l = layout_of(al, &arg[0]);
	const struct cj_tuple *t = shape_of(al, &arg[1]);

	(void)count;
	if (l == NULL || t == NULL)
		return false;
	l = cj_layout_complement(al, l, t);
	return l != NULL && give_tuple(out, l->shape);
}

/* An optional profile as argument 1. */
static bool
profile_of(struct cj_algebra *al, const struct cj_datum *arg, uint32_t count,
    const struct cj_tuple **profile)
{
	*profile = NULL;
	if (count < 2)
		return true;
	*profile = tuple_of(al, &arg[1]);
	return *profile != NULL;
}

#define BY_PROFILE(name, function)					\
OPERATION(name)								\
{									\
	const struct cj_layout *l = layout_of(al, &arg[0]);		\
	const struct cj_tuple *profile;					\
									\
	return l != NULL && profile_of(al, arg, count, &profile)	\
	    && give_layout(out, function(al, l, profile));		\
}

BY_PROFILE(coalesce, cj_layout_coalesce)
BY_PROFILE(filter, cj_layout_filter_profile)

OPERATION(complement)
{
	const struct cj_layout *l = layout_of(al, &arg[0]);
	const struct cj_tuple *target = NULL;

	if (l != NULL && count == 2) {
		target = shape_of(al, &arg[1]);
		if (target == NULL)
			return false;
	}
	return l != NULL && give_layout(out, cj_layout_complement(al, l,
	    target));
}

/* ---- accessors: a path and a layout ------------------------------------- */

/* `-` is the whole, `1.0` mode 0 of mode 1. */
static const struct cj_layout *
at_path(struct cj_algebra *al, const struct cj_datum *arg)
{
	const struct cj_layout *l = layout_of(al, &arg[1]);
	const char *p = arg[0].word;

	if (l == NULL || strcmp(p, "-") == 0)
		return l;
	for (;;) {
		uint32_t mode = 0;

		if (*p < '0' || *p > '9')
			return cj_refuse(al, CJ_REFUSED_KIND, NULL,
			    "%s is not a path", arg[0].word);
		while (*p >= '0' && *p <= '9' && mode <= CJ_MAX_RANK)
			mode = mode * 10 + (uint32_t)(*p++ - '0');
		l = cj_layout_get(al, l, mode);
		if (l == NULL || *p == '\0')
			return l;
		if (*p++ != '.')
			return cj_refuse(al, CJ_REFUSED_KIND, NULL,
			    "%s is not a path", arg[0].word);
	}
}

#define ACCESSOR(name, give, expression)				\
OPERATION(name)								\
{									\
	const struct cj_layout *l = at_path(al, arg);			\
									\
	(void)count;							\
	return l != NULL && give(out, expression);			\
}

ACCESSOR(get, give_layout, l)
ACCESSOR(shape, give_tuple, l->shape)
ACCESSOR(stride, give_tuple, l->stride)
ACCESSOR(rank, give_tuple, cj_tuple_known(al, cj_layout_rank(l)))
ACCESSOR(depth, give_tuple, cj_tuple_known(al, cj_tuple_depth(l->shape)))
ACCESSOR(size, give_tuple, number(al, cj_layout_size(al, l)))
ACCESSOR(cosize, give_tuple, number(al, cj_layout_cosize(al, l)))

/* ---- modes ------------------------------------------------------------- */

/* Mode numbers of a tuple or one integer; -1 is `last` where that is given. */
static bool
mode_of(struct cj_algebra *al, const struct cj_datum *v, uint32_t last,
    uint32_t *out)
{
	int64_t n;

	if (!known_of(al, v, &n))
		return false;
	if (n == -1)
		n = last;
	*out = n < 0 || n > CJ_MAX_RANK ? CJ_MAX_RANK + 1 : (uint32_t)n;
	return true;
}

/* Modes arg[0] to arg[1] of layout arg[2]. */
#define RANGE(name, function)						\
OPERATION(name)								\
{									\
	const struct cj_layout *l = layout_of(al, &arg[2]);		\
	uint32_t begin, end;						\
									\
	(void)count;							\
	return l != NULL && mode_of(al, &arg[0], 0, &begin)		\
	    && mode_of(al, &arg[1], cj_layout_rank(l), &end)		\
	    && give_layout(out, function(al, l, begin, end));		\
}

RANGE(group, cj_layout_group)
RANGE(take, cj_layout_take)

OPERATION(select)
{
	const struct cj_layout *l = layout_of(al, &arg[1]);
	const struct cj_tuple *t = tuple_of(al, &arg[0]);
	uint32_t *modes, i, n;

	(void)count;
	if (l == NULL || t == NULL)
		return false;
	n = cj_tuple_rank(t);
	modes = CJ_NEWS(al->arena, uint32_t, n);
	for (i = 0; i < n; i++) {
		struct cj_datum v = cj_datum_tuple(cj_tuple_get(t, i));

		v.word = arg[0].word;
		if (!mode_of(al, &v, CJ_MAX_RANK + 1, &modes[i]))
			return false;
	}
	return give_layout(out, cj_layout_select(al, l, modes, n));
}

OPERATION(replace)
{
	const struct cj_layout *l = layout_of(al, &arg[1]);
	const struct cj_layout *x = layout_of(al, &arg[2]);
	uint32_t mode;

	(void)count;
	return l != NULL && x != NULL
	    && mode_of(al, &arg[0], CJ_MAX_RANK, &mode)
	    && give_layout(out, cj_layout_replace(al, l, mode, x));
}

/* ---- coordinates ------------------------------------------------------- */

OPERATION(crd2crd)
{
	const struct cj_tuple *c = tuple_of(al, &arg[0]);
	const struct cj_tuple *a = shape_of(al, &arg[1]);
	const struct cj_tuple *b = shape_of(al, &arg[2]);

	(void)count;
	return c != NULL && a != NULL && b != NULL
	    && give_tuple(out, cj_crd2crd(al, c, a, b));
}

OPERATION(crd2idx_shape)
{
	const struct cj_tuple *c = tuple_of(al, &arg[0]);
	const struct cj_tuple *s = shape_of(al, &arg[1]);
	struct cj_int i;

	(void)count;
	return c != NULL && s != NULL && cj_crd2idx_shape(al, c, s, &i)
	    && give_tuple(out, number(al, i));
}

OPERATION(idx2crd)
{
	const struct cj_tuple *s = shape_of(al, &arg[1]);
	struct cj_int i;

	(void)count;
	return s != NULL && int_of(al, &arg[0], &i)
	    && give_tuple(out, cj_idx2crd(al, i, s));
}

OPERATION(idx2crd_stride)
{
	const struct cj_tuple *i = tuple_of(al, &arg[0]);
	const struct cj_tuple *s = tuple_of(al, &arg[1]);
	const struct cj_tuple *d = tuple_of(al, &arg[2]);

	(void)count;
	return i != NULL && s != NULL && d != NULL
	    && give_tuple(out, cj_idx2crd_stride(al, i, s, d));
}

/* The slice, and its offset inside it. */
static bool
sliced(struct cj_algebra *al, const struct cj_datum *arg,
    const struct cj_layout **rest, const struct cj_tuple **offset)
{
	const struct cj_tuple *c = tuple_of(al, &arg[0]);
	const struct cj_layout *l = layout_of(al, &arg[1]);

	return c != NULL && l != NULL
	    && cj_layout_slice(al, l, c, rest, offset);
}

OPERATION(slice)
{
	const struct cj_layout *rest;
	const struct cj_tuple *offset;

	(void)count;
	return sliced(al, arg, &rest, &offset) && give_layout(out, rest);
}

OPERATION(slice_and_offset)
{
	const struct cj_layout *rest;
	const struct cj_tuple *offset;
	struct cj_layout *moved;

	(void)count;
	if (!sliced(al, arg, &rest, &offset))
		return false;
	if (rest->is_composed)
		return give_layout(out, rest);
	moved = CJ_NEW(al->arena, struct cj_layout);
	*moved = *rest;
	moved->offset = offset;
	return give_layout(out, moved);
}

/* ---- local views ------------------------------------------------------- */

/* Modes of `t` that the projection keeps: beside integers, not beside X. */
static const struct cj_tuple *
project(struct cj_algebra *al, const struct cj_tuple *proj,
    const struct cj_tuple *t)
{
	return cj_tuple_slice(al, proj, t, CJ_KEEP_REST);
}

OPERATION(local_tile)
{
	const struct cj_layout *l = layout_of(al, &arg[0]);
	const struct cj_tuple *tiler = tiler_of(al, &arg[1]);
	const struct cj_tuple *coord = tuple_of(al, &arg[2]), *proj;

	if (l == NULL || tiler == NULL || coord == NULL)
		return false;
	if (count == 4) {
		proj = tuple_of(al, &arg[3]);
		if (proj == NULL)
			return false;
		tiler = project(al, proj, tiler);
		coord = project(al, proj, coord);
	}
	return tiler != NULL && coord != NULL
	    && give_layout(out, cj_layout_local_tile(al, l, tiler, coord));
}

OPERATION(local_partition)
{
	const struct cj_layout *l = layout_of(al, &arg[0]);
	const struct cj_layout *threads = layout_of(al, &arg[1]);
	const struct cj_tuple *proj;
	struct cj_int i;

	if (l == NULL || threads == NULL || !int_of(al, &arg[2], &i))
		return false;
	if (count == 4) {
		proj = tuple_of(al, &arg[3]);
		threads = proj == NULL ? NULL : cj_layout_dice(al, threads,
		    proj);
	}
	return threads != NULL && give_layout(out, cj_layout_local_partition(
	    al, l, threads, i));
}

/* ---- making ------------------------------------------------------------ */

OPERATION(make_layout)
{
	const struct cj_tuple *s = tuple_of(al, &arg[0]);
	const struct cj_tuple *d = count == 2 ? tuple_of(al, &arg[1]) : NULL;

	return s != NULL && (count < 2 || d != NULL)
	    && give_layout(out, cj_layout_make(al, s, d));
}

OPERATION(domain_distribute)
{
	const struct cj_tuple *s = shape_of(al, &arg[0]);
	int64_t n;

	(void)count;
	return s != NULL && known_of(al, &arg[1], &n)
	    && give_layout(out, cj_layout_domain_distribute(al, s, n));
}

/* The order of tile_to_shape: a tuple or a tag. */
static const struct cj_tuple *
order_of(struct cj_algebra *al, const struct cj_datum *v, uint32_t rank)
{
	struct cj_list list;
	uint32_t i;

	if (v->kind != CJ_DATUM_WORD || strcmp(v->word, "LayoutRight") != 0)
		return tuple_of(al, v);
	cj_list_init(&list);
	for (i = 0; i < rank; i++)
		cj_list_add(al, &list, cj_tuple_known(al, rank - i));
	return cj_list_unwrap(al, &list);
}

OPERATION(make_ordered_layout)
{
	const struct cj_tuple *s = tuple_of(al, &arg[0]), *order;

	(void)count;
	if (s != NULL && arg[1].kind == CJ_DATUM_WORD) {
		if (strcmp(arg[1].word, "LayoutLeft") == 0)
			return give_layout(out, cj_layout_make(al, s, NULL));
		if (strcmp(arg[1].word, "LayoutRight") == 0)
			return give_layout(out, cj_layout_row_major(al, s));
	}
	order = tuple_of(al, &arg[1]);
	return s != NULL && order != NULL
	    && give_layout(out, cj_layout_ordered(al, s, order));
}

OPERATION(tile_to_shape)
{
	const struct cj_layout *l = layout_of(al, &arg[0]);
	const struct cj_tuple *s = shape_of(al, &arg[1]), *order = NULL;

	if (l == NULL || s == NULL)
		return false;
	if (count == 3 && (arg[2].kind != CJ_DATUM_WORD
	    || strcmp(arg[2].word, "LayoutLeft") != 0)) {
		order = order_of(al, &arg[2], cj_tuple_rank(s));
		if (order == NULL)
			return false;
	}
	return give_layout(out, cj_layout_tile_to_shape(al, l, s, order));
}

/* ---- widths ------------------------------------------------------------ */

static bool
cast(struct cj_algebra *al, const struct cj_datum *arg, enum cj_cast cast,
    struct cj_datum *out)
{
	struct cj_swizzle s;
	int64_t n;

	if (!known_of(al, &arg[0], &n))
		return false;
	if (arg[1].kind == CJ_DATUM_LAYOUT)
		return give_layout(out, cj_layout_cast(al, arg[1].layout, n,
		    cast));
	if (!swizzle_of(al, &arg[1], &s)
	    || !cj_swizzle_recast(al, &s, n, cast))
		return false;
	*out = cj_datum_swizzle(s);
	return true;
}

OPERATION(upcast)
{
	(void)count;
	return cast(al, arg, CJ_CAST_UP, out);
}

OPERATION(downcast)
{
	(void)count;
	return cast(al, arg, CJ_CAST_DOWN, out);
}

#define op_swizzle_upcast	op_upcast
#define op_swizzle_downcast	op_downcast

OPERATION(recast)
{
	const struct cj_layout *l = layout_of(al, &arg[2]);
	int64_t from, to;

	(void)count;
	return l != NULL && known_of(al, &arg[0], &from)
	    && known_of(al, &arg[1], &to)
	    && give_layout(out, cj_layout_recast(al, l, from, to));
}

OPERATION(max_alignment)
{
	int64_t n;

	(void)count;
	if (arg[0].kind == CJ_DATUM_SWIZZLE)
		return give_tuple(out, number(al, cj_known((int64_t)1
		    << arg[0].swizzle.base)));
	return layout_of(al, &arg[0]) != NULL
	    && cj_layout_max_alignment(al, arg[0].layout, &n)
	    && give_tuple(out, number(al, cj_known(n)));
}

/* ---- swizzles ---------------------------------------------------------- */

OPERATION(swizzle_apply)
{
	struct cj_swizzle s;
	struct cj_int i;

	(void)count;
	return swizzle_of(al, &arg[0], &s) && int_of(al, &arg[1], &i)
	    && give_tuple(out, number(al,
	    cj_swizzle_apply(al, s, i)));
}

OPERATION(swizzle_compose)
{
	const struct cj_layout *l = layout_of(al, &arg[1]);
	struct cj_swizzle s;

	(void)count;
	if (l == NULL || !swizzle_of(al, &arg[0], &s))
		return false;
	return give_layout(out, s.bits == 0 ? l : cj_layout_composed(al, s,
	    NULL, l));
}

OPERATION(swizzle_swizzle)
{
	struct cj_swizzle a, b, s;

	(void)count;
	if (!swizzle_of(al, &arg[0], &a) || !swizzle_of(al, &arg[1], &b)
	    || !cj_swizzle_compose(al, a, b, &s))
		return false;
	*out = cj_datum_swizzle(s);
	return true;
}

OPERATION(layout_o_swizzle)
{
	const struct cj_layout *l = layout_of(al, &arg[0]);
	struct cj_swizzle s;

	(void)count;
	return l != NULL && swizzle_of(al, &arg[1], &s)
	    && give_layout(out, cj_layout_compose_swizzle(al, l, s));
}

/* ---- table ------------------------------------------------------------- */

static const struct cj_check_op ops[] = {
#define CHECK(name, rule, function, least, most)			\
	{ #name, CJ_RULE_##rule, op_##function, least, most },
#define TILED(name, least, most)					\
	{ #name, CJ_RULE_FUNC, cj_check_##name, least, most },
#include "check_op.def"
};

const struct cj_check_op *
cj_check_op_find(const char *name)
{
	size_t i;

	for (i = 0; i < CJ_LENGTH(ops); i++) {
		if (strcmp(ops[i].name, name) == 0)
			return &ops[i];
	}
	return NULL;
}
