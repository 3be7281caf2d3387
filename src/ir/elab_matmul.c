/*
 * matmul(a, b) of tests: (M, K) times (K, N), for references. A sum per
 * element, over K from the first to the last, each step one fma in the type of
 * the elements.
 */
#include "elab_test_priv.h"

struct product {
	struct cj_span span;
	const struct cj_tensor *a, *b;
	struct cj_int m, n, k;
};

static struct cj_int
extent_of(struct cj_elab *el, const struct cj_tensor *t, uint32_t mode)
{
	return cj_tuple_product(&el->al, cj_tuple_get(t->layout->shape,
	    mode));
}

static struct cj_value
element_at(struct cj_elab *el, struct cj_span span, const struct cj_tensor *t,
    struct cj_int i, struct cj_int j)
{
	const struct cj_tuple *at[2];
	struct cj_value v;

	at[0] = cj_tuple_int(&el->al, i);
	at[1] = cj_tuple_int(&el->al, j);
	v = cj_tensor_slice(el, span, t, cj_tuple_make(&el->al, at, 2));
	return cj_elab_read(el, span, v);
}

/* for k in 0..K { sum = fma(a[m, k], b[k, n], sum) } */
static void
sum_products(struct cj_elab *el, const struct product *p, struct cj_int m,
    struct cj_int n, const struct cj_value *sum)
{
	cj_ref bound[3], loop, index;
	struct cj_value a, b, old;
	cj_region outer;
	struct cj_int k;

	bound[0] = cj_emit_index(&el->em->b, 0);
	bound[1] = cj_elab_ref_int(el, p->k);
	bound[2] = cj_emit_index(&el->em->b, 1);
	loop = cj_emit(&el->em->b, CJ_OP_FOR, 0, 0, bound, 3);
	outer = cj_elab_enter(el, loop, &index);
	k = cj_elab_index_symbol(el, index, "k", 0, p->k);
	a = element_at(el, p->span, p->a, m, k);
	b = element_at(el, p->span, p->b, k, n);
	old = cj_slot_load(el, p->span, sum);
	if (a.kind != CJ_VALUE_ERROR && b.kind != CJ_VALUE_ERROR)
		cj_slot_store(el, p->span, sum, cj_elab_fma(el, p->span, a, b,
		    old));
	cj_elab_leave(el, outer);
}

static struct cj_value
multiply(struct cj_elab *el, const struct product *p)
{
	const struct cj_tuple *shape[2], *coord;
	const struct cj_layout *l;
	struct cj_value y, sum;
	struct cj_int i, to;
	cj_region outer;

	shape[0] = cj_tuple_int(&el->al, p->m);
	shape[1] = cj_tuple_int(&el->al, p->n);
	l = cj_layout_row_major(&el->al, cj_tuple_make(&el->al, shape, 2));
	y = cj_elab_array_new(el, p->span, p->a->element, l);
	if (cj_is_value(p->m, 0) || cj_is_value(p->n, 0))
		return y;	/* there is no element that could be read */
	outer = cj_elab_map_begin(el, cj_layout_size(&el->al, l), &i);
	coord = cj_idx2crd(&el->al, i, l->shape);
	sum = cj_elab_slot(el, p->span, 0, cj_value_scalar(p->a->element, 0));
	sum_products(el, p, coord->at[0]->value, coord->at[1]->value, &sum);
	sum = cj_slot_load(el, p->span, &sum);
	if (sum.kind != CJ_VALUE_ERROR && cj_layout_offset(&el->al, l, coord,
	    &to))
		cj_elab_array_store(el, y.tensor, to, cj_elab_ref(el, &sum,
		    CJ_KIND_VOID));
	cj_elab_leave(el, outer);
	return y;
}

struct cj_value
cj_builtin_matmul(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	struct product p = { .span = args->span };
	uint32_t i;

	for (i = 0; i < 2; i++)
		if (!cj_elab_is_array(el, &args->at[i]) ||
		    cj_layout_rank(args->at[i].tensor->layout) != 2)
			return cj_elab_error(el, CJ_DIAG_WRONG_KIND,
			    args->span, "%s takes two arrays of two modes, "
			    "this is %s", row->name,
			    cj_value_what(el, &args->at[i]));
	p.a = args->at[0].tensor;
	p.b = args->at[1].tensor;
	if (p.a->element != p.b->element)
		return cj_elab_error(el, CJ_DIAG_MIXED_TYPES, args->span,
		    "%s and %s meet in one operation",
		    cj_kind_text(p.a->element), cj_kind_text(p.b->element));
	p.m = extent_of(el, p.a, 0);
	p.k = extent_of(el, p.a, 1);
	p.n = extent_of(el, p.b, 1);
	if (cj_int_equal(&el->sym, p.k, extent_of(el, p.b, 0)) == CJ_NO)
		return cj_elab_error(el, CJ_DIAG_WRONG_SHAPE, args->span,
		    "the columns of the first are not as many as the rows of "
		    "the second: %s and %s", cj_value_what(el, &args->at[0]),
		    cj_value_what(el, &args->at[1]));
	return multiply(el, &p);
}
