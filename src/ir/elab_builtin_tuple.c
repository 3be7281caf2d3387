/*
 * Tuples of anything under CuTe's names: joining, repeating, flattening,
 * functions over the leaves.
 */
#include "elab_priv.h"

#define OPERATION(word)							\
	struct cj_value							\
	cj_builtin_##word(struct cj_elab *el, struct cj_args *args,	\
	    const struct cj_builtin *row)

enum { MAX_ELEMENTS = 1 << 16 };

static bool
is_tuple(const struct cj_value *v)
{
	return v->kind == CJ_VALUE_TUPLE;
}

static struct cj_value
too_long(struct cj_elab *el, struct cj_args *args)
{
	return cj_elab_error(el, CJ_DIAG_WRONG_SHAPE, args->span,
	    "the tuple has more than %d elements", (int)MAX_ELEMENTS);
}

/* One tuple of the elements of all; what is no tuple counts as one element. */
OPERATION(tuple_cat)
{
	struct cj_value *at;
	uint32_t i, k, n = 0;

	(void)row;
	for (i = 0; i < args->count; i++)
		n += is_tuple(&args->at[i]) ? args->at[i].tuple->count : 1;
	if (n > MAX_ELEMENTS)
		return too_long(el, args);
	at = CJ_NEWS(el->arena, struct cj_value, n + 1);
	for (i = 0, n = 0; i < args->count; i++) {
		if (!is_tuple(&args->at[i])) {
			at[n++] = args->at[i];
			continue;
		}
		for (k = 0; k < args->at[i].tuple->count; k++)
			at[n++] = args->at[i].tuple->at[k];
	}
	return cj_value_tuple(el, at, NULL, n);
}

/* repeat(n, x): (x, x, ...) */
OPERATION(repeat)
{
	struct cj_value *at;
	int64_t n, i;

	(void)row;
	if (!cj_value_to_known(el, args->span, &args->at[0],
	    "a number of elements", &n))
		return cj_value_error();
	if (n < 0 || n > MAX_ELEMENTS)
		return too_long(el, args);
	at = CJ_NEWS(el->arena, struct cj_value, (size_t)n + 1);
	for (i = 0; i < n; i++)
		at[i] = args->at[1];
	return cj_value_tuple(el, at, NULL, (uint32_t)n);
}

/* repeat_like(t, x): x at every leaf of t. */
static struct cj_value
repeat_like(struct cj_elab *el, const struct cj_value *t,
    const struct cj_value *x)
{
	struct cj_value *at;
	uint32_t i;

	if (!is_tuple(t))
		return *x;
	at = CJ_NEWS(el->arena, struct cj_value, t->tuple->count + 1);
	for (i = 0; i < t->tuple->count; i++)
		at[i] = repeat_like(el, &t->tuple->at[i], x);
	return cj_value_tuple(el, at, NULL, t->tuple->count);
}

OPERATION(repeat_like)
{
	(void)row;
	return repeat_like(el, &args->at[0], &args->at[1]);
}

OPERATION(wrap)
{
	(void)row;
	return is_tuple(&args->at[0]) ? args->at[0] :
	    cj_value_tuple(el, args->at, NULL, 1);
}

OPERATION(unwrap)
{
	struct cj_value v = args->at[0];

	(void)el;
	(void)row;
	while (is_tuple(&v) && v.tuple->count == 1)
		v = v.tuple->at[0];
	return v;
}

/* The first leaf. */
OPERATION(front)
{
	struct cj_value v = args->at[0];

	(void)row;
	while (is_tuple(&v)) {
		if (v.tuple->count == 0)
			return cj_elab_error(el, CJ_DIAG_WRONG_SHAPE,
			    args->span, "a tuple of none has no first");
		v = v.tuple->at[0];
	}
	return v;
}

static uint32_t
leaf_count(const struct cj_value *v)
{
	uint32_t n = 0, i;

	if (!is_tuple(v))
		return 1;
	for (i = 0; i < v->tuple->count; i++)
		n += leaf_count(&v->tuple->at[i]);
	return n;
}

static void
leaves_into(const struct cj_value *v, struct cj_value *at, uint32_t *n)
{
	uint32_t i;

	if (!is_tuple(v)) {
		at[(*n)++] = *v;
		return;
	}
	for (i = 0; i < v->tuple->count; i++)
		leaves_into(&v->tuple->at[i], at, n);
}

OPERATION(flatten_to_tuple)
{
	uint32_t n = leaf_count(&args->at[0]), used = 0;
	struct cj_value *at;

	(void)row;
	if (n > MAX_ELEMENTS)
		return too_long(el, args);
	at = CJ_NEWS(el->arena, struct cj_value, n + 1);
	leaves_into(&args->at[0], at, &used);
	assert(used == n);
	return cj_value_tuple(el, at, NULL, n);
}

/* fn over the leaves of one or several tuples of the same nesting. */
static struct cj_value
transform_leaf(struct cj_elab *el, struct cj_args *args, struct cj_value f,
    const struct cj_value *v, uint32_t n)
{
	uint32_t count, i, k;
	struct cj_value *at, *one;

	if (!is_tuple(&v[0]))
		return cj_elab_call_values(el, args->span, f, v, n);
	count = v[0].tuple->count;
	at = CJ_NEWS(el->arena, struct cj_value, count + 1);
	one = CJ_NEWS(el->arena, struct cj_value, n);
	for (i = 0; i < count; i++) {
		for (k = 0; k < n; k++) {
			if (!is_tuple(&v[k]) || v[k].tuple->count != count)
				return cj_elab_error(el, CJ_DIAG_WRONG_SHAPE,
				    args->span, "transform_leaf takes tuples "
				    "of one nesting");
			one[k] = v[k].tuple->at[i];
		}
		at[i] = transform_leaf(el, args, f, one, n);
		if (at[i].kind == CJ_VALUE_ERROR)
			return at[i];
	}
	return cj_value_tuple(el, at, v[0].tuple->names, count);
}

OPERATION(transform_leaf)
{
	uint32_t n = args->count - 1;

	(void)row;
	return transform_leaf(el, args, args->at[n], args->at, n);
}
