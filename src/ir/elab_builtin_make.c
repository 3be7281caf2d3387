/*
 * Layouts made anew, products, inverses, coordinates, comparisons, and
 * transform().
 */
#include "elab_priv.h"

/* ---- making layouts ------------------------------------------------------ */

struct cj_value
cj_builtin_row_major(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	struct cj_value v = args->count == 1 ? args->at[0] :
	    cj_value_tuple(el, args->at, NULL, args->count);
	const struct cj_tuple *shape = cj_value_to_tuple(el, args->span, &v);

	return shape == NULL ? cj_value_error() : cj_arg_result(el, args->span,
	    cj_layout_row_major(&el->al, shape), row->name);
}

struct cj_value
cj_builtin_ordered(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_tuple *shape = cj_arg_tuple(el, args, 0);
	const struct cj_tuple *order = cj_arg_tuple(el, args, 1);

	return shape == NULL || order == NULL ? cj_value_error() :
	    cj_arg_result(el, args->span, cj_layout_ordered(&el->al, shape,
	    order), row->name);
}

struct cj_value
cj_builtin_identity(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_tuple *shape = cj_arg_tuple(el, args, 0);

	return shape == NULL ? cj_value_error() : cj_arg_result(el, args->span,
	    cj_layout_identity(&el->al, shape), row->name);
}

struct cj_value
cj_builtin_basis(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	struct cj_value v = { .kind = CJ_VALUE_BASIS };
	uint8_t path[CJ_MAX_PATH];
	int64_t n;
	uint32_t i;

	(void)row;
	for (i = 0; i < args->count; i++) {
		if (!cj_value_to_known(el, args->span, &args->at[i],
		    "the mode of a unit stride", &n))
			return cj_value_error();
		if (n < 0 || n > UINT8_MAX)
			return cj_elab_error(el, CJ_DIAG_WRONG_INDEX,
			    args->span, "there is no mode %lld",
			    (long long)n);
		path[i] = (uint8_t)n;
	}
	v.basis = cj_tuple_basis(&el->al, cj_known(1), path, args->count);
	return v;
}

struct cj_value
cj_builtin_swizzle(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	struct cj_value v = { .kind = CJ_VALUE_SWIZZLE };
	int64_t n[3];
	int i;

	(void)row;
	for (i = 0; i < 3; i++)
		if (!cj_value_to_known(el, args->span, &args->at[i],
		    "a swizzle", &n[i]))
			return cj_value_error();
	if (n[0] < 0 || n[1] < 0 || n[0] > 32 || n[1] > 32 - n[0] ||
	    n[2] < -32 || n[2] > 32 || (n[2] < n[0] && -n[2] < n[0]))
		return cj_elab_error(el, CJ_DIAG_WRONG_INDEX, args->span,
		    "swizzle(B, M, S) has B, M >= 0, B + M <= 32 and |S| >= B");
	v.swizzle = (struct cj_swizzle){ (int)n[0], (int)n[1], (int)n[2] };
	return v;
}

#define TWO_LAYOUTS(word, call)						\
	struct cj_value							\
	cj_builtin_##word(struct cj_elab *el, struct cj_args *args,	\
	    const struct cj_builtin *row)				\
	{								\
		const struct cj_layout *a = cj_arg_layout(el, args, 0);	\
		const struct cj_layout *b = cj_arg_layout(el, args, 1);	\
									\
		if (a == NULL || b == NULL)				\
			return cj_value_error();			\
		return cj_arg_result(el, args->span,			\
		    call(&el->al, a, b), row->name);			\
	}
TWO_LAYOUTS(append, cj_layout_append)
TWO_LAYOUTS(prepend, cj_layout_prepend)
TWO_LAYOUTS(max_common_layout, cj_layout_max_common_layout)

#define ONE_LAYOUT(word, call)						\
	struct cj_value							\
	cj_builtin_##word(struct cj_elab *el, struct cj_args *args,	\
	    const struct cj_builtin *row)				\
	{								\
		const struct cj_layout *a = cj_arg_layout(el, args, 0);	\
									\
		return a == NULL ? cj_value_error() :			\
		    cj_arg_result(el, args->span, call(&el->al, a),	\
		    row->name);						\
	}
ONE_LAYOUT(right_inverse, cj_layout_right_inverse)
ONE_LAYOUT(left_inverse, cj_layout_left_inverse)
ONE_LAYOUT(nullspace, cj_layout_nullspace)

struct cj_value
cj_builtin_complement(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_layout *l = cj_arg_layout(el, args, 0);
	const struct cj_tuple *target = NULL;

	if (l == NULL)
		return cj_value_error();
	if (args->count == 2) {
		target = cj_arg_tuple(el, args, 1);
		if (target == NULL)
			return cj_value_error();
	}
	return cj_arg_result(el, args->span, cj_layout_complement(&el->al, l,
	    target), row->name);
}

/* ---- products ------------------------------------------------------------ */

static struct cj_value
product(struct cj_elab *el, struct cj_args *args, enum cj_product form,
    const char *name)
{
	const struct cj_layout *l = cj_arg_layout(el, args, 0);
	bool pairs = form == CJ_PRODUCT_BLOCKED || form == CJ_PRODUCT_RAKED;
	const struct cj_layout *whole = pairs ? cj_arg_layout(el, args, 1) :
	    NULL;
	const struct cj_tuple *tiler;

	/* these take layouts only, so that a shape is one */
	if (pairs)
		tiler = whole == NULL ? NULL : cj_tuple_layout(&el->al,
		    whole);
	else
		tiler = cj_arg_tuple(el, args, 1);
	return l == NULL || tiler == NULL ? cj_value_error() :
	    cj_arg_result(el, args->span, cj_layout_product(&el->al, form, l,
	    tiler), name);
}

#define PRODUCT(word, form)						\
	struct cj_value							\
	cj_builtin_##word(struct cj_elab *el, struct cj_args *args,	\
	    const struct cj_builtin *row)				\
	{								\
		return product(el, args, form, row->name);		\
	}
PRODUCT(logical_product, CJ_PRODUCT_LOGICAL)
PRODUCT(zipped_product, CJ_PRODUCT_ZIPPED)
PRODUCT(tiled_product, CJ_PRODUCT_TILED)
PRODUCT(flat_product, CJ_PRODUCT_FLAT)
PRODUCT(blocked_product, CJ_PRODUCT_BLOCKED)
PRODUCT(raked_product, CJ_PRODUCT_RAKED)

struct cj_value
cj_builtin_tile_to_shape(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_layout *l = cj_arg_layout(el, args, 0);
	const struct cj_tuple *shape = cj_arg_tuple(el, args, 1), *order = NULL;

	if (l == NULL || shape == NULL)
		return cj_value_error();
	if (args->count == 3) {
		order = cj_arg_tuple(el, args, 2);
		if (order == NULL)
			return cj_value_error();
	}
	return cj_arg_result(el, args->span, cj_layout_tile_to_shape(&el->al, l,
	    shape, order), row->name);
}

struct cj_value
cj_builtin_recast(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_layout *l = cj_arg_layout(el, args, 0);
	const struct cj_value *from = &args->at[1], *to = &args->at[2];

	if (l == NULL)
		return cj_value_error();
	if (from->kind != CJ_VALUE_TYPE || to->kind != CJ_VALUE_TYPE ||
	    from->type->scalar == CJ_KIND_VOID ||
	    to->type->scalar == CJ_KIND_VOID)
		return cj_elab_error(el, CJ_DIAG_WRONG_KIND, args->span,
		    "recast(layout, from, to) takes two number types");
	return cj_arg_result(el, args->span, cj_layout_recast(&el->al, l,
	    cj_kind_bits(from->type->scalar),
	    cj_kind_bits(to->type->scalar)), row->name);
}

/* ---- coordinates and comparisons ----------------------------------------- */

struct cj_value
cj_builtin_max_common_vector(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_layout *a = cj_arg_layout(el, args, 0);
	const struct cj_layout *b = cj_arg_layout(el, args, 1);

	(void)row;
	return a == NULL || b == NULL ? cj_value_error() :
	    cj_value_int(cj_layout_max_common_vector(&el->al, a, b));
}

struct cj_value
cj_builtin_crd2idx(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_tuple *coord = cj_arg_tuple(el, args, 0);
	const struct cj_tuple *shape, *stride;
	struct cj_int i;
	bool ok;

	shape = coord == NULL ? NULL : cj_arg_tuple(el, args, 1);
	if (shape == NULL)
		return cj_value_error();
	if (args->count == 2) {
		ok = cj_crd2idx_shape(&el->al, coord, shape, &i);
	} else {
		stride = cj_arg_tuple(el, args, 2);
		if (stride == NULL)
			return cj_value_error();
		ok = cj_crd2idx(&el->al, coord, shape, stride, &i);
	}
	return ok ? cj_value_int(i) :
	    cj_elab_refused(el, args->span, row->name);
}

struct cj_value
cj_builtin_idx2crd(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_tuple *shape = cj_arg_tuple(el, args, 1), *c, *stride;
	struct cj_int i;

	if (shape == NULL ||
	    !cj_value_to_int(el, args->span, &args->at[0], &i))
		return cj_value_error();
	if (args->count == 2) {
		c = cj_idx2crd(&el->al, i, shape);
	} else {
		stride = cj_arg_tuple(el, args, 2);
		if (stride == NULL)
			return cj_value_error();
		c = cj_idx2crd_stride(&el->al, cj_tuple_int(&el->al, i),
		    shape, stride);
	}
	return c == NULL ? cj_elab_refused(el, args->span, row->name) :
	    cj_value_from_tuple(el, c);
}

static struct cj_value
truth(struct cj_elab *el, struct cj_span span, enum cj_truth t,
    const char *name)
{
	if (t != CJ_MAYBE)
		return cj_value_bool(t == CJ_YES);
	return cj_elab_error(el, CJ_DIAG_NOT_KNOWN, span,
	    "%s cannot be decided at compile time here", name);
}

#define TWO_TUPLES(word, call)						\
	struct cj_value							\
	cj_builtin_##word(struct cj_elab *el, struct cj_args *args,	\
	    const struct cj_builtin *row)				\
	{								\
		const struct cj_tuple *a = cj_arg_tuple(el, args, 0);	\
		const struct cj_tuple *b = cj_arg_tuple(el, args, 1);	\
									\
		(void)row;						\
		return a == NULL || b == NULL ? cj_value_error() :	\
		    cj_value_bool(call(a, b));				\
	}
TWO_TUPLES(congruent, cj_tuple_congruent)
TWO_TUPLES(weakly_congruent, cj_tuple_weakly_congruent)

struct cj_value
cj_builtin_compatible(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_tuple *a = cj_arg_tuple(el, args, 0);
	const struct cj_tuple *b = cj_arg_tuple(el, args, 1);

	return a == NULL || b == NULL ? cj_value_error() : truth(el,
	    args->span, cj_tuple_compatible(&el->al, a, b), row->name);
}

struct cj_value
cj_builtin_equivalent(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_layout *a = cj_arg_layout(el, args, 0);
	const struct cj_layout *b = cj_arg_layout(el, args, 1);

	return a == NULL || b == NULL ? cj_value_error() : truth(el,
	    args->span, cj_layout_equivalent(&el->al, a, b), row->name);
}

/* ---- transform ----------------------------------------------------------- */

/* fn over the elements of one or several tuples. */
struct cj_value
cj_builtin_transform(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	uint32_t n = args->count - 1, count, i, k;
	struct cj_value f = args->at[n], *at, *one;

	(void)row;
	if (args->at[0].kind != CJ_VALUE_TUPLE)
		return cj_elab_call_values(el, args->span, f, args->at, n);
	count = args->at[0].tuple->count;
	at = CJ_NEWS(el->arena, struct cj_value, count + 1);
	one = CJ_NEWS(el->arena, struct cj_value, n + 1);
	for (i = 0; i < count; i++) {
		for (k = 0; k < n; k++) {
			if (args->at[k].kind != CJ_VALUE_TUPLE ||
			    args->at[k].tuple->count != count)
				return cj_elab_error(el, CJ_DIAG_WRONG_SHAPE,
				    args->span, "transform takes tuples of "
				    "one length");
			one[k] = args->at[k].tuple->at[i];
		}
		at[i] = cj_elab_call_values(el, args->span, f, one, n);
		if (at[i].kind == CJ_VALUE_ERROR)
			return at[i];
	}
	return cj_value_tuple(el, at, args->at[0].tuple->names, count);
}
