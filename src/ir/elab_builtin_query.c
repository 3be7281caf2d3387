/*
 * What tuples and layouts are asked under CuTe's names: searches, kinds of
 * leaves, unit strides, divisors, bytes, and a swizzle apart from its layout.
 */
#include "elab_priv.h"

#define OPERATION(word)							\
	struct cj_value							\
	cj_builtin_##word(struct cj_elab *el, struct cj_args *args,	\
	    const struct cj_builtin *row)

static bool
is_tuple(const struct cj_value *v)
{
	return v->kind == CJ_VALUE_TUPLE;
}

/* ---- searches ------------------------------------------------------------ */

/* A leaf that is looked for: equal to `x`, or one for which `f` holds. */
struct search {
	const struct cj_value *x, *f;
	uint8_t path[CJ_MAX_DEPTH * 4];
	unsigned length;
	const char *name;
};

/* MAYBE: reported. */
static enum cj_truth
is_wanted(struct cj_elab *el, struct cj_span span, const struct search *s,
    const struct cj_value *leaf)
{
	enum cj_truth t = CJ_MAYBE;
	bool known = false, truth = false;
	struct cj_value v;
	cj_ref ref;

	if (s->f != NULL) {
		v = cj_elab_call_values(el, span, *s->f, leaf, 1);
		if (v.kind == CJ_VALUE_ERROR || !cj_elab_condition(el, span,
		    v, &known, &truth, &ref))
			return CJ_MAYBE;
		if (known)
			return truth ? CJ_YES : CJ_NO;
	} else if (leaf->kind == CJ_VALUE_INT && s->x->kind == CJ_VALUE_INT) {
		t = cj_int_equal(&el->sym, leaf->i, s->x->i);
	} else if (leaf->kind != s->x->kind || (cj_value_is_known(leaf) &&
	    cj_value_is_known(s->x))) {
		t = cj_value_same(leaf, s->x) ? CJ_YES : CJ_NO;
	}
	if (t == CJ_MAYBE)
		cj_elab_report(el, CJ_DIAG_NOT_KNOWN, span, "%s cannot be "
		    "decided at compile time at the leaf %s", s->name,
		    cj_value_text(el, leaf));
	return t;
}

static enum cj_truth
search(struct cj_elab *el, struct cj_span span, struct search *s,
    const struct cj_value *t)
{
	enum cj_truth found = CJ_NO;
	uint32_t i;

	if (!is_tuple(t))
		return is_wanted(el, span, s, t);
	if (s->length == CJ_LENGTH(s->path) || t->tuple->count > UINT8_MAX) {
		cj_elab_report(el, CJ_DIAG_WRONG_SHAPE, span,
		    "%s takes tuples of up to %d elements, nested up to %u "
		    "levels", s->name, UINT8_MAX,
		    (unsigned)CJ_LENGTH(s->path));
		return CJ_MAYBE;
	}
	s->length++;
	for (i = 0; i < t->tuple->count && found == CJ_NO; i++) {
		s->path[s->length - 1] = (uint8_t)i;
		found = search(el, span, s, &t->tuple->at[i]);
	}
	if (found == CJ_NO)
		s->length--;
	return found;
}

/* Where the first one is: a mode, or a tuple of modes from outside inwards. */
static struct cj_value
place_of(struct cj_elab *el, struct cj_args *args, struct search *s)
{
	struct cj_value at[CJ_LENGTH(s->path)];
	unsigned i;

	switch (search(el, args->span, s, &args->at[0])) {
	case CJ_MAYBE:
		return cj_value_error();
	case CJ_NO:
		return cj_value_none();
	case CJ_YES:
		break;
	}
	if (s->length == 0)
		return cj_value_known(0);
	for (i = 0; i < s->length; i++)
		at[i] = cj_value_known(s->path[i]);
	return s->length == 1 ? at[0] : cj_value_tuple(el, at, NULL,
	    s->length);
}

OPERATION(find)
{
	struct search s = { .x = &args->at[1], .name = row->name };

	return place_of(el, args, &s);
}

OPERATION(find_if)
{
	struct search s = { .f = &args->at[1], .name = row->name };

	return place_of(el, args, &s);
}

/* ---- kinds --------------------------------------------------------------- */

static bool
is_int(const struct cj_value *v)
{
	return v->kind == CJ_VALUE_INT || ((v->kind == CJ_VALUE_SCALAR ||
	    (v->kind == CJ_VALUE_REGS && v->regs.shape == NULL)) &&
	    cj_kind_is_integer(cj_value_kind_of(v)));
}

static bool
is_leaf(const struct cj_value *v)
{
	return is_int(v) || v->kind == CJ_VALUE_ANY ||
	    v->kind == CJ_VALUE_BASIS;
}

static bool
is_any(const struct cj_value *v)
{
	return v->kind == CJ_VALUE_ANY;
}

static bool
is_basis(const struct cj_value *v)
{
	switch (v->kind) {
	case CJ_VALUE_BASIS:
		return true;
	case CJ_VALUE_LAYOUT:
		return (v->layout->stride->has & CJ_HAS_BASIS) != 0;
	case CJ_VALUE_TENSOR:
		return (v->tensor->layout->stride->has & CJ_HAS_BASIS) != 0;
	default:
		return false;
	}
}

/* Does a leaf for which `test` is `wanted` stand in v? */
static bool
has_leaf(const struct cj_value *v, bool (*test)(const struct cj_value *),
    bool wanted)
{
	uint32_t i;

	if (!is_tuple(v))
		return test(v) == wanted;
	for (i = 0; i < v->tuple->count; i++)
		if (has_leaf(&v->tuple->at[i], test, wanted))
			return true;
	return false;
}

#define QUERY(word, answer)						\
	OPERATION(word)							\
	{								\
		const struct cj_value *v = &args->at[0];		\
									\
		(void)el;						\
		(void)row;						\
		return v->kind == CJ_VALUE_ERROR ? *v :			\
		    cj_value_bool(answer);				\
	}
QUERY(is_static, cj_value_is_known(v))
QUERY(is_int_tuple, !has_leaf(v, is_int, false))
QUERY(is_valid_leaf, is_leaf(v))
QUERY(has_underscore, has_leaf(v, is_any, true))
QUERY(has_scaled_basis, has_leaf(v, is_basis, true))

static bool
is_int_type(const struct cj_type_value *t)
{
	uint32_t i;

	if (!t->is_tuple)
		return !t->is_tensor && !t->is_type && !t->is_fn &&
		    cj_kind_is_integer(t->scalar);
	for (i = 0; i < t->count; i++)
		if (!is_int_type(t->at[i]))
			return false;
	return true;
}

OPERATION(is_int_tuple_type)
{
	const struct cj_value *v = &args->at[0];

	if (v->kind == CJ_VALUE_ERROR)
		return *v;
	if (v->kind != CJ_VALUE_TYPE)
		return cj_elab_error(el, CJ_DIAG_WRONG_KIND, args->span,
		    "%s takes a type, this is %s", row->name,
		    cj_value_what(el, v));
	return cj_value_bool(is_int_type(v->type));
}

OPERATION(is_congruent)
{
	return cj_builtin_congruent(el, args, row);
}

OPERATION(is_weakly_congruent)
{
	return cj_builtin_weakly_congruent(el, args, row);
}

/* is_major(L, mode): the first stride of the mode is 1. */
OPERATION(is_major)
{
	const struct cj_layout *l = cj_arg_layout(el, args, 0);
	const struct cj_tuple *d;
	int64_t mode;

	(void)row;
	if (l == NULL || !cj_value_to_known(el, args->span, &args->at[1],
	    "the number of a mode", &mode))
		return cj_value_error();
	if (mode < 0 || mode >= cj_layout_rank(l))
		return cj_elab_error(el, CJ_DIAG_WRONG_INDEX, args->span,
		    "there is no mode %lld, the rank is %u", (long long)mode,
		    cj_layout_rank(l));
	d = cj_tuple_get(l->stride, (uint32_t)mode);
	while (!cj_is_leaf(d) && d->rank > 0)
		d = d->at[0];
	return cj_value_bool(d->kind == CJ_TUPLE_INT &&
	    cj_is_value(d->value, 1));
}

/* ---- unit strides -------------------------------------------------------- */

/* What is multiplied with the unit; what is no basis is itself. */
OPERATION(basis_value)
{
	const struct cj_value *v = &args->at[0];

	if (v->kind == CJ_VALUE_BASIS)
		return cj_value_int(v->basis->value);
	return is_int(v) || v->kind == CJ_VALUE_ERROR ? *v :
	    cj_elab_error(el, CJ_DIAG_WRONG_KIND, args->span,
	    "%s takes a unit stride, this is %s", row->name,
	    cj_value_what(el, v));
}

/* basis_get(e, t): what stands in t where e points; of an integer e all. */
OPERATION(basis_get)
{
	const struct cj_value *e = &args->at[0];
	struct cj_value v = args->at[1];
	unsigned i;

	if (e->kind == CJ_VALUE_ERROR || is_int(e))
		return e->kind == CJ_VALUE_ERROR ? *e : v;
	if (e->kind != CJ_VALUE_BASIS)
		return cj_elab_error(el, CJ_DIAG_WRONG_KIND, args->span,
		    "%s takes a unit stride first, this is %s", row->name,
		    cj_value_what(el, e));
	for (i = 0; i < e->basis->path_length; i++) {
		if (!is_tuple(&v) || e->basis->path[i] >= v.tuple->count)
			return cj_elab_error(el, CJ_DIAG_WRONG_INDEX,
			    args->span, "%s points to no mode of %s",
			    cj_value_text(el, e),
			    cj_value_text(el, &args->at[1]));
		v = v.tuple->at[e->basis->path[i]];
	}
	return v;
}

/* ---- what is known of integers ------------------------------------------- */

OPERATION(static)
{
	const struct cj_value *v = &args->at[0];

	return v->kind == CJ_VALUE_ERROR || cj_value_is_known(v) ? *v :
	    cj_elab_error(el, CJ_DIAG_NOT_KNOWN, args->span,
	    "%s takes what is known at compile time, this is %s", row->name,
	    cj_value_what(el, v));
}

/* The largest number that is known to divide each integer. */
static const struct cj_tuple *
divisors(struct cj_elab *el, const struct cj_tuple *t)
{
	const struct cj_tuple **at;
	uint32_t i;

	if (t->kind == CJ_TUPLE_INT)
		return cj_tuple_known(&el->al, cj_int_divisor(&el->sym,
		    t->value));
	if (cj_is_leaf(t))
		return NULL;
	at = CJ_NEWS(el->arena, const struct cj_tuple *, t->rank + 1);
	for (i = 0; i < t->rank; i++)
		if ((at[i] = divisors(el, t->at[i])) == NULL)
			return NULL;
	return cj_tuple_make(&el->al, at, t->rank);
}

OPERATION(get_divisibility)
{
	const struct cj_tuple *t = cj_arg_tuple(el, args, 0);

	if (t == NULL)
		return cj_value_error();
	t = divisors(el, t);
	return t != NULL ? cj_value_from_tuple(el, t) :
	    cj_elab_error(el, CJ_DIAG_WRONG_KIND, args->span,
	    "%s takes integers only, this is %s", row->name,
	    cj_value_text(el, &args->at[0]));
}

/* x where the run has checked that n divides it: a symbol that says so. */
static struct cj_value
divided(struct cj_elab *el, struct cj_args *args, struct cj_int x, int64_t n)
{
	struct cj_value v[2] = { cj_value_int(x), cj_value_known(n) }, c[2];
	struct cj_text need;
	struct cj_range r = cj_int_range(&el->sym, x);
	int64_t old = cj_int_divisor(&el->sym, x), by;
	struct cj_args check = { .span = args->span, .count = 2, .at = c };

	need.bytes = cj_printf(el->arena, "a multiple of %lld: %s",
	    (long long)n, cj_value_text(el, &v[0]));
	need.length = (uint32_t)strlen(need.bytes);
	c[0] = cj_elab_binary(el, args->span, CJ_OPER_MOD, v[0], v[1]);
	v[1] = cj_value_known(0);
	c[0] = cj_elab_binary(el, args->span, CJ_OPER_EQ, c[0], v[1]);
	if (c[0].kind == CJ_VALUE_ERROR)
		return c[0];
	c[1] = (struct cj_value){ .kind = CJ_VALUE_STRING, .text = &need };
	cj_builtin_assert(el, &check, NULL);
	/* the least common multiple, unless it is beyond 64 bits */
	if (__builtin_mul_overflow(old / cj_gcd(old, n), n, &by))
		by = n;
	return cj_value_int(cj_elab_symbol(el, cj_elab_ref_int(el, x),
	    "assumed", r.lo, r.hi, by));
}

/* assume(x, n): n divides x. */
OPERATION(assume)
{
	struct cj_int x;
	int64_t n;

	(void)row;
	if (!cj_value_to_int(el, args->span, &args->at[0], &x) ||
	    !cj_value_to_known(el, args->span, &args->at[1], "a divisor",
	    &n))
		return cj_value_error();
	if (n < 1)
		return cj_elab_error(el, CJ_DIAG_WRONG_INDEX, args->span,
		    "a divisor is at least 1, not %lld", (long long)n);
	if (cj_int_divisible(&el->sym, x, n))
		return cj_value_int(x);
	if (cj_is_known(x))
		return cj_elab_error(el, CJ_DIAG_ASSERTION, args->span,
		    "%lld is no multiple of %lld", (long long)x.value,
		    (long long)n);
	if (el->em == NULL)
		return cj_elab_error(el, CJ_DIAG_NOT_KNOWN, args->span,
		    "nothing can be checked here: assume stands in a kernel "
		    "or a test");
	return divided(el, args, x, n);
}

/* ---- bytes and swizzles -------------------------------------------------- */

/* size_in_bytes(L, T), size_in_bytes(view): of all up to the last element. */
OPERATION(size_in_bytes)
{
	const struct cj_value *v = &args->at[0], *type;
	const struct cj_layout *l = cj_arg_layout(el, args, 0);
	enum cj_kind k = cj_value_kind_of(v);
	struct cj_int n;

	if (l == NULL)
		return cj_value_error();
	if (args->count == 2) {
		type = &args->at[1];
		k = type->kind == CJ_VALUE_TYPE ? type->type->scalar :
		    CJ_KIND_VOID;
	} else if (v->kind == CJ_VALUE_TENSOR) {
		k = v->tensor->element;
	} else {
		k = CJ_KIND_VOID;
	}
	if (k == CJ_KIND_VOID)
		return cj_elab_error(el, CJ_DIAG_WRONG_KIND, args->span,
		    "%s takes a layout and the type of the elements, or a "
		    "view", row->name);
	n = cj_int_mul(&el->sym, cj_layout_cosize(&el->al, l),
	    cj_known(cj_kind_bits(k)));
	n = cj_int_ceil_div(&el->sym, n, cj_known(8));
	return el->sym.overflow ? cj_elab_refused(el, args->span, row->name) :
	    cj_value_int(n);
}

OPERATION(get_swizzle_portion)
{
	const struct cj_layout *l = cj_arg_layout(el, args, 0);
	struct cj_value v = { .kind = CJ_VALUE_SWIZZLE };

	(void)row;
	if (l == NULL)
		return cj_value_error();
	v.swizzle = l->swizzle;
	return v;
}

OPERATION(get_nonswizzle_portion)
{
	const struct cj_layout *l = cj_arg_layout(el, args, 0);

	return l == NULL ? cj_value_error() : cj_arg_result(el, args->span,
	    cj_layout_make(&el->al, l->shape, l->stride), row->name);
}

/* c -> inner(offset + outer(c)) */
OPERATION(make_composed_layout)
{
	const struct cj_value *inner = &args->at[0];
	const struct cj_tuple *offset = cj_arg_tuple(el, args, 1);
	const struct cj_layout *outer = cj_arg_layout(el, args, 2), *l;
	bool is_zero;

	if (offset == NULL || outer == NULL)
		return cj_value_error();
	if (inner->kind == CJ_VALUE_SWIZZLE)
		return cj_arg_result(el, args->span, cj_layout_composed(
		    &el->al, inner->swizzle, offset, outer), row->name);
	l = cj_arg_layout(el, args, 0);
	if (l == NULL)
		return cj_value_error();
	is_zero = offset->kind == CJ_TUPLE_INT &&
	    cj_is_value(offset->value, 0);
	if (!is_zero && !cj_is_leaf(l->shape))
		return cj_elab_error(el, CJ_DIAG_WRONG_SHAPE, args->span,
		    "an offset before a layout of several modes carries from "
		    "one into the next: the inner layout has one mode here");
	if (!is_zero)
		l = cj_layout_domain_offset(&el->al, l, offset);
	return cj_arg_result(el, args->span, l == NULL ? NULL :
	    cj_layout_compose(&el->al, l, outer), row->name);
}
