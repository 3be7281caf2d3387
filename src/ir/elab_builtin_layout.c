/*
 * Layout operations under CuTe's names: arguments to layout/, results back.
 * An operation that takes a tensor gives a view (elab_tensor.c); one that cuts
 * keeps where the view's elements lie.
 */
#include "elab_tiled.h"

/* ---- results ------------------------------------------------------------- */

struct cj_value
cj_arg_result(struct cj_elab *el, struct cj_span span,
    const struct cj_layout *l, const char *name)
{
	if (l == NULL)
		return cj_elab_refused(el, span, name);
	if (el->sym.overflow)
		return cj_elab_refused(el, span, name);
	return cj_value_layout(l);
}

const struct cj_layout *
cj_arg_layout(struct cj_elab *el, struct cj_args *args, uint32_t i)
{
	return cj_value_to_layout(el, args->span, &args->at[i]);
}

const struct cj_tuple *
cj_arg_tuple(struct cj_elab *el, struct cj_args *args, uint32_t i)
{
	return cj_value_to_tuple(el, args->span, &args->at[i]);
}

static bool
mode_arg(struct cj_elab *el, struct cj_args *args, uint32_t i, uint32_t rank,
    uint32_t *mode)
{
	int64_t n;

	if (!cj_value_to_known(el, args->span, &args->at[i],
	    "the number of a mode", &n))
		return false;
	if (n < 0 || n >= rank) {
		cj_elab_error(el, CJ_DIAG_WRONG_INDEX, args->span,
		    "there is no mode %lld, the rank is %u", (long long)n,
		    rank);
		return false;
	}
	*mode = (uint32_t)n;
	return true;
}

/* ---- what a thing has ---------------------------------------------------- */

/* Shape of anything that has one; NULL: reported. */
static const struct cj_tuple *
shape_of(struct cj_elab *el, struct cj_args *args)
{
	const struct cj_value *v = &args->at[0];
	const struct cj_tuple *shape = cj_value_shape(v);

	if (shape != NULL)
		return shape;
	if (v->kind == CJ_VALUE_LAYOUT)
		return v->layout->shape;
	if (v->kind == CJ_VALUE_TYPE && v->type->is_tensor)
		return v->type->layout->shape;
	return cj_value_to_tuple(el, args->span, v);
}

/* The shape, or the mode of it that a second argument names. */
static const struct cj_tuple *
mode_of(struct cj_elab *el, struct cj_args *args, const struct cj_tuple *t)
{
	uint32_t mode;

	if (t == NULL || args->count == 1)
		return t;
	if (!mode_arg(el, args, 1, cj_tuple_rank(t), &mode))
		return NULL;
	return cj_tuple_get(t, mode);
}

struct cj_value
cj_builtin_size(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_value *v = &args->at[0];
	const struct cj_tuple *t;

	(void)row;
	if (v->kind == CJ_VALUE_MMA && args->count == 1)
		return cj_value_int(cj_layout_size(&el->al,
		    v->mma->tiled.vmnk));
	if (v->kind == CJ_VALUE_COPY && args->count == 1)
		return cj_value_int(cj_tuple_product(&el->al,
		    cj_tuple_get(v->copy->tiled.tv->shape, 0)));
	t = mode_of(el, args, shape_of(el, args));
	return t == NULL ? cj_value_error() :
	    cj_value_int(cj_tuple_product(&el->al, t));
}

struct cj_value
cj_builtin_shape(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_tuple *t = mode_of(el, args, shape_of(el, args));

	(void)row;
	return t == NULL ? cj_value_error() : cj_value_from_tuple(el, t);
}

struct cj_value
cj_builtin_rank(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_tuple *t;

	(void)row;
	/* of a tuple whatever it holds: types, functions, reals */
	if (args->at[0].kind == CJ_VALUE_TUPLE && args->count == 1)
		return cj_value_known(args->at[0].tuple->count);
	t = mode_of(el, args, shape_of(el, args));
	return t == NULL ? cj_value_error() :
	    cj_value_known(cj_tuple_rank(t));
}

struct cj_value
cj_builtin_depth(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_tuple *t = shape_of(el, args);

	(void)row;
	return t == NULL ? cj_value_error() :
	    cj_value_known(cj_tuple_depth(t));
}

struct cj_value
cj_builtin_stride(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_layout *l = cj_arg_layout(el, args, 0);
	const struct cj_tuple *t = l == NULL ? NULL :
	    mode_of(el, args, l->stride);

	(void)row;
	return t == NULL ? cj_value_error() : cj_value_from_tuple(el, t);
}

struct cj_value
cj_builtin_layout(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_layout *l = cj_arg_layout(el, args, 0);

	(void)row;
	return l == NULL ? cj_value_error() : cj_value_layout(l);
}

struct cj_value
cj_builtin_cosize(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_layout *l = cj_arg_layout(el, args, 0);

	(void)row;
	return l == NULL ? cj_value_error() :
	    cj_value_int(cj_layout_cosize(&el->al, l));
}

/* Are its values coordinates? */
static bool
has_coordinates(const struct cj_tuple *stride)
{
	uint32_t i;

	if (cj_is_leaf(stride))
		return stride->kind == CJ_TUPLE_BASIS;
	for (i = 0; i < stride->rank; i++)
		if (has_coordinates(stride->at[i]))
			return true;
	return false;
}

/* One component of each coordinate, as registers. */
static struct cj_value
components(struct cj_elab *el, struct cj_span span,
    const struct cj_layout *l, const struct cj_value *which)
{
	uint32_t count, i;
	const struct cj_tuple *at;
	struct cj_value c;
	cj_ref *refs;

	if (!cj_elab_fits_registers(el, span, l->shape))
		return cj_value_error();
	count = cj_shape_count(l->shape);
	refs = CJ_NEWS(el->arena, cj_ref, count);
	for (i = 0; i < count; i++) {
		at = cj_layout_at(&el->al, l, cj_tuple_known(&el->al, i));
		if (at == NULL)
			return cj_elab_refused(el, span, "get");
		c = cj_value_from_tuple(el, at);
		c = cj_elab_index(el, span, c, which, 1);
		if (c.kind != CJ_VALUE_INT)
			return c.kind == CJ_VALUE_ERROR ? c : cj_elab_error(
			    el, CJ_DIAG_WRONG_KIND, span, "a component of "
			    "these coordinates is %s",
			    cj_value_what(el, &c));
		refs[i] = cj_elab_ref_int(el, c.i);
	}
	return cj_value_regs(el, CJ_KIND_INDEX, l->shape, count == 1 ?
	    refs[0] : cj_emit(&el->em->b, CJ_OP_CONCAT, cj_type_of(
	    CJ_KIND_INDEX, count), 0, refs, count));
}

struct cj_value
cj_builtin_get(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	struct cj_value v = args->at[0];

	(void)row;
	if (v.kind == CJ_VALUE_LAYOUT && el->time == CJ_TIME_DEVICE &&
	    has_coordinates(v.layout->stride))
		return components(el, args->span, v.layout, &args->at[1]);
	if (v.kind == CJ_VALUE_INT && args->at[1].kind == CJ_VALUE_INT &&
	    cj_is_value(args->at[1].i, 0))
		return v;
	return cj_elab_index(el, args->span, v, &args->at[1], 1);
}

/* ---- operations on one layout or tensor ---------------------------------- */

struct work {
	const struct cj_tuple *tuple;
	const struct cj_layout *layout;
	const uint32_t *modes;
	uint32_t begin, end, count;
	enum cj_divide divide;
};

static struct cj_value
apply(struct cj_elab *el, struct cj_args *args, cj_layout_map *map,
    struct work *w, const char *name)
{
	const struct cj_layout *l;

	if (args->at[0].kind == CJ_VALUE_TENSOR)
		return cj_tensor_map(el, args->span, args->at[0].tensor, map,
		    w, name);
	l = cj_arg_layout(el, args, 0);
	if (l == NULL)
		return cj_value_error();
	return cj_arg_result(el, args->span, map(&el->al, l, w), name);
}

/* One after which a view is a part. */
static struct cj_value
cut(struct cj_elab *el, struct cj_args *args, cj_layout_map *map,
    struct work *w, const char *name)
{
	if (args->at[0].kind == CJ_VALUE_TENSOR)
		return cj_tensor_cut(el, args->span, args->at[0].tensor, map,
		    w, name);
	return apply(el, args, map, w, name);
}

static const struct cj_layout *
do_flatten(struct cj_algebra *al, const struct cj_layout *l, void *user)
{
	(void)user;
	return cj_layout_flatten(al, l);
}

struct cj_value
cj_builtin_flatten(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	return apply(el, args, do_flatten, NULL, row->name);
}

static const struct cj_layout *
do_coalesce(struct cj_algebra *al, const struct cj_layout *l, void *user)
{
	const struct work *w = user;

	return cj_layout_coalesce(al, l, w->tuple);
}

struct cj_value
cj_builtin_coalesce(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_layout *l = cj_arg_layout(el, args, 0);
	struct work w = { 0 };

	if (l == NULL)
		return cj_value_error();
	if (args->count == 2) {
		w.tuple = cj_arg_tuple(el, args, 1);
		if (w.tuple == NULL)
			return cj_value_error();
	}
	/* a guard's coordinates do not coalesce alike */
	return cj_arg_result(el, args->span, do_coalesce(&el->al, l, &w),
	    row->name);
}

struct cj_value
cj_builtin_filter(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_layout *l = cj_arg_layout(el, args, 0);
	const struct cj_tuple *profile = NULL;

	if (args->count == 2) {
		profile = cj_arg_tuple(el, args, 1);
		if (profile == NULL)
			return cj_value_error();
	}
	return l == NULL ? cj_value_error() : cj_arg_result(el, args->span,
	    cj_layout_filter_profile(&el->al, l, profile), row->name);
}

static const struct cj_layout *
do_group(struct cj_algebra *al, const struct cj_layout *l, void *user)
{
	const struct work *w = user;

	return cj_layout_group(al, l, w->begin, w->end);
}

static const struct cj_layout *
do_take(struct cj_algebra *al, const struct cj_layout *l, void *user)
{
	const struct work *w = user;

	return cj_layout_take(al, l, w->begin, w->end);
}

static struct cj_value
modes_between(struct cj_elab *el, struct cj_args *args, cj_layout_map *map,
    const char *name)
{
	struct work w = { 0 };
	int64_t begin, end;

	if (!cj_value_to_known(el, args->span, &args->at[1], "a mode",
	    &begin) || !cj_value_to_known(el, args->span, &args->at[2],
	    "a mode", &end))
		return cj_value_error();
	if (begin < 0 || end < begin || end > CJ_MAX_RANK)
		return cj_elab_error(el, CJ_DIAG_WRONG_INDEX, args->span,
		    "there are no modes %lld to %lld", (long long)begin,
		    (long long)end);
	w.begin = (uint32_t)begin;
	w.end = (uint32_t)end;
	return apply(el, args, map, &w, name);
}

struct cj_value
cj_builtin_group(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	return modes_between(el, args, do_group, row->name);
}

struct cj_value
cj_builtin_take(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	return modes_between(el, args, do_take, row->name);
}

static const struct cj_layout *
do_select(struct cj_algebra *al, const struct cj_layout *l, void *user)
{
	const struct work *w = user;

	return cj_layout_select(al, l, w->modes, w->count);
}

struct cj_value
cj_builtin_select(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_tuple *t = cj_arg_tuple(el, args, 1);
	struct work w = { 0 };
	uint32_t *modes, i;

	if (t == NULL)
		return cj_value_error();
	modes = CJ_NEWS(el->arena, uint32_t, cj_tuple_rank(t) + 1);
	for (i = 0; i < cj_tuple_rank(t); i++) {
		const struct cj_tuple *m = cj_tuple_get(t, i);

		if (m->kind != CJ_TUPLE_INT || !cj_is_known(m->value) ||
		    m->value.value < 0 || m->value.value >= CJ_MAX_RANK)
			return cj_elab_error(el, CJ_DIAG_WRONG_INDEX,
			    args->span, "select takes known modes");
		modes[i] = (uint32_t)m->value.value;
	}
	w.modes = modes;
	w.count = cj_tuple_rank(t);
	return apply(el, args, do_select, &w, row->name);
}

/* Registers of shape (m, n) as (n, m). */
static struct cj_value
transpose_registers(struct cj_elab *el, struct cj_span span,
    struct cj_value v)
{
	const struct cj_tuple *s = cj_value_shape(&v), *at[2];
	uint32_t *from, m, n, i;
	cj_ref r;

	if (s == NULL || cj_is_leaf(s) || s->rank != 2)
		return cj_elab_error(el, CJ_DIAG_WRONG_SHAPE, span,
		    "transpose takes two modes, this is %s",
		    cj_value_what(el, &v));
	m = cj_shape_count(s->at[0]);
	n = cj_shape_count(s->at[1]);
	from = CJ_NEWS(el->arena, uint32_t, m * n + 1);
	for (i = 0; i < m * n; i++)
		from[i] = i / n + i % n * m;
	at[0] = s->at[1];
	at[1] = s->at[0];
	r = cj_elab_ref(el, &v, CJ_KIND_VOID);
	return cj_value_regs(el, cj_value_kind_of(&v),
	    cj_tuple_make(&el->al, at, 2),
	    cj_elab_permute(el, r, from, m * n));
}

struct cj_value
cj_builtin_transpose(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	static const uint32_t swapped[2] = { 1, 0 };
	struct work w = { .modes = swapped, .count = 2 };
	struct cj_value v = args->at[0];
	const struct cj_tuple *shape;

	if (v.kind == CJ_VALUE_REGS || v.kind == CJ_VALUE_PLACE)
		return transpose_registers(el, args->span,
		    cj_elab_read(el, args->span, v));
	shape = shape_of(el, args);
	if (shape == NULL)
		return cj_value_error();
	if (cj_tuple_rank(shape) != 2)
		return cj_elab_error(el, CJ_DIAG_WRONG_SHAPE, args->span,
		    "transpose takes two modes, the rank is %u",
		    cj_tuple_rank(shape));
	return apply(el, args, do_select, &w, row->name);
}

/* ---- divides and compositions -------------------------------------------- */

static const struct cj_layout *
do_divide(struct cj_algebra *al, const struct cj_layout *l, void *user)
{
	const struct work *w = user;

	return cj_layout_divide(al, w->divide, l, w->tuple);
}

struct cj_value
cj_elab_divide(struct cj_elab *el, struct cj_args *args, enum cj_divide form,
    const struct cj_tuple *tile, const char *name)
{
	struct work w = { .divide = form, .tuple = tile };

	return tile == NULL ? cj_value_error() :
	    cut(el, args, do_divide, &w, name);
}

#define DIVIDE(word, form)						\
	struct cj_value							\
	cj_builtin_##word(struct cj_elab *el, struct cj_args *args,	\
	    const struct cj_builtin *row)				\
	{								\
		return cj_elab_divide(el, args, form,			\
		    cj_arg_tuple(el, args, 1), row->name);		\
	}
DIVIDE(logical_divide, CJ_DIVIDE_LOGICAL)
DIVIDE(zipped_divide, CJ_DIVIDE_ZIPPED)
DIVIDE(tiled_divide, CJ_DIVIDE_TILED)
DIVIDE(flat_divide, CJ_DIVIDE_FLAT)

static const struct cj_layout *
do_compose(struct cj_algebra *al, const struct cj_layout *l, void *user)
{
	const struct work *w = user;

	return w->layout != NULL ? cj_layout_compose(al, l, w->layout) :
	    cj_layout_compose_tiler(al, l, w->tuple);
}

struct cj_value
cj_elab_compose(struct cj_elab *el, struct cj_args *args,
    const struct cj_layout *with, const char *name)
{
	struct work w = { .layout = with };

	return cut(el, args, do_compose, &w, name);
}

/* A swizzle on the right: of a swizzle, or in front of a layout. */
static struct cj_value
compose_swizzle(struct cj_elab *el, struct cj_args *args, const char *name)
{
	struct cj_value v = args->at[1];
	const struct cj_layout *l, *right;

	if (args->at[0].kind == CJ_VALUE_SWIZZLE)
		return cj_swizzle_compose(&el->al, args->at[0].swizzle,
		    v.swizzle, &v.swizzle) ? v : cj_elab_refused(el,
		    args->span, name);
	l = cj_arg_layout(el, args, 0);
	right = l == NULL ? NULL : cj_layout_make(&el->al, l->shape, NULL);
	if (right != NULL)
		right = cj_layout_composed(&el->al, v.swizzle,
		    cj_tuple_known(&el->al, 0), right);
	if (l == NULL)
		return cj_value_error();
	return cj_arg_result(el, args->span, right == NULL ? NULL :
	    cj_layout_compose(&el->al, l, right), name);
}

/* composition(swizzle, offset, layout), as such layouts are printed. */
static struct cj_value
compose_at_offset(struct cj_elab *el, struct cj_args *args, const char *name)
{
	const struct cj_layout *l;

	if (args->at[0].kind != CJ_VALUE_SWIZZLE)
		return cj_elab_error(el, CJ_DIAG_WRONG_KIND,
		    cj_arg_span(args, 0), "only a swizzle is composed with an "
		    "offset, this is %s", cj_value_what(el, &args->at[0]));
	if (args->at[1].kind != CJ_VALUE_INT)
		return cj_elab_error(el, CJ_DIAG_WRONG_KIND,
		    cj_arg_span(args, 1), "the offset is an int, this is %s",
		    cj_value_what(el, &args->at[1]));
	l = cj_arg_layout(el, args, 2);
	return l == NULL ? cj_value_error() : cj_arg_result(el, args->span,
	    cj_layout_composed(&el->al, args->at[0].swizzle,
	    cj_tuple_int(&el->al, args->at[1].i), l), name);
}

struct cj_value
cj_builtin_composition(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	struct work w = { 0 };

	if (args->count == 3)
		return compose_at_offset(el, args, row->name);
	if (args->at[1].kind == CJ_VALUE_SWIZZLE)
		return compose_swizzle(el, args, row->name);
	if (args->at[0].kind == CJ_VALUE_SWIZZLE) {
		w.layout = cj_arg_layout(el, args, 1);
		return w.layout == NULL ? cj_value_error() :
		    cj_arg_result(el, args->span, cj_layout_composed(&el->al,
		    args->at[0].swizzle, cj_tuple_known(&el->al, 0),
		    w.layout), row->name);
	}
	if (args->at[1].kind == CJ_VALUE_LAYOUT) {
		w.layout = args->at[1].layout;
	} else {
		w.tuple = cj_arg_tuple(el, args, 1);
		if (w.tuple == NULL)
			return cj_value_error();
		if (cj_is_leaf(w.tuple))
			w.layout = cj_layout_make(&el->al, w.tuple, NULL);
	}
	return cut(el, args, do_compose, &w, row->name);
}
