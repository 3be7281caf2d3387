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

/* ---- results gathered ---------------------------------------------------- */

OPERATION(repeat_as_tuple)
{
	return cj_builtin_repeat(el, args, row);
}

OPERATION(get_leaves)
{
	return cj_builtin_flatten_to_tuple(el, args, row);
}

/* f over the elements of `n` tuples of one length; what is no tuple is one of
 * its own. NULL: reported. */
static struct cj_value *
results(struct cj_elab *el, struct cj_args *args, uint32_t n,
    const char *name, uint32_t *count)
{
	const struct cj_value *v = args->at;
	struct cj_value *at, *one = CJ_NEWS(el->arena, struct cj_value, n);
	uint32_t i, k;

	*count = is_tuple(&v[0]) ? v[0].tuple->count : 1;
	at = CJ_NEWS(el->arena, struct cj_value, *count + 1);
	for (i = 0; i < *count; i++) {
		for (k = 0; k < n; k++) {
			if (is_tuple(&v[k]) != is_tuple(&v[0]) ||
			    (is_tuple(&v[k]) && v[k].tuple->count != *count)) {
				cj_elab_report(el, CJ_DIAG_WRONG_SHAPE,
				    args->span, "%s takes tuples of one "
				    "length", name);
				return NULL;
			}
			one[k] = is_tuple(&v[k]) ? v[k].tuple->at[i] : v[k];
		}
		at[i] = cj_elab_call_values(el, args->span, v[n], one, n);
		if (at[i].kind == CJ_VALUE_ERROR)
			return NULL;
	}
	return at;
}

/* transform_apply(t, ..., f, g): g(f(t0), f(t1), ...) */
OPERATION(transform_apply)
{
	uint32_t n = args->count - 2, count;
	struct cj_value *at = results(el, args, n, row->name, &count);

	return at == NULL ? cj_value_error() : cj_elab_call_values(el,
	    args->span, args->at[n + 1], at, count);
}

/* filter_tuple(t, ..., f): the tuples that f gives, joined. */
OPERATION(filter_tuple)
{
	struct cj_args all = *args;
	uint32_t i;

	all.at = results(el, args, args->count - 1, row->name, &all.count);
	if (all.at == NULL)
		return cj_value_error();
	for (i = 0; i < all.count; i++)
		if (!is_tuple(&all.at[i]))
			return cj_elab_error(el, CJ_DIAG_WRONG_KIND,
			    args->span, "the function of %s gives a tuple: "
			    "() drops, (x,) keeps; this gives %s", row->name,
			    cj_value_what(el, &all.at[i]));
	return cj_builtin_tuple_cat(el, &all, row);
}

/* Ones up to a rank, by default one more: 1 in a tuple, 1:0 in a layout. */
static struct cj_value
ones(struct cj_elab *el, struct cj_args *args, bool in_front,
    const char *name)
{
	const struct cj_value one = cj_value_known(1);
	struct cj_value v = args->at[0], parts[2];
	struct cj_args more = { .span = args->span, .count = 2, .at = parts };
	bool is_shape = is_tuple(&v) || v.kind == CJ_VALUE_INT;
	const struct cj_layout *l = is_shape ? NULL :
	    cj_arg_layout(el, args, 0);
	uint32_t old;
	int64_t n;

	if (!is_shape && l == NULL)
		return cj_value_error();
	old = is_tuple(&v) ? v.tuple->count : is_shape ? 1 :
	    cj_layout_rank(l);
	n = (int64_t)old + 1;
	if (args->count == 2 && !cj_value_to_known(el, args->span,
	    &args->at[1], "a rank", &n))
		return cj_value_error();
	if (n < old)
		return cj_elab_error(el, CJ_DIAG_WRONG_SHAPE, args->span,
		    "the rank is %u already", old);
	if (n > CJ_MAX_RANK)
		return cj_elab_error(el, CJ_DIAG_WRONG_SHAPE, args->span,
		    "a rank is at most %d", (int)CJ_MAX_RANK);
	for (; old < n && (is_shape || l != NULL); old++) {
		parts[in_front ? 1 : 0] = v;
		parts[in_front ? 0 : 1] = one;
		if (is_shape)
			v = cj_builtin_tuple_cat(el, &more, NULL);
		else
			l = (in_front ? cj_layout_prepend :
			    cj_layout_append)(&el->al, l,
			    cj_layout_unit(&el->al));
	}
	return is_shape ? v : cj_arg_result(el, args->span, l, name);
}

OPERATION(append_ones)
{
	return ones(el, args, false, row->name);
}

OPERATION(prepend_ones)
{
	return ones(el, args, true, row->name);
}
