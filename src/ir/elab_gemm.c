/*
 * gemm(mma, a, b, acc): acc += a b over fragments, one atom after the other:
 * K outermost, then N, then M.
 *
 * Shapes are (V, M, K), (V, N, K), (V, M, N); operands without the mode K have
 * one step of it.
 */
#include "elab_tiled.h"

struct product {
	struct cj_span span;
	const struct cj_mma_value *mma;
	uint32_t va, vb, vc;		/* values of an atom */
	uint32_t m, n, k;		/* atoms */
	cj_ref a, b;
};

static uint32_t
mode_count(const struct cj_tuple *shape, uint32_t mode)
{
	return mode >= cj_tuple_rank(shape) ? 1 :
	    cj_shape_count(cj_tuple_get(shape, mode));
}

/* ---- what fits ----------------------------------------------------------- */

static uint32_t
atom_values(struct cj_elab *el, const struct cj_mma_value *m,
    enum cj_operand which)
{
	const struct cj_mma_atom *a = &m->atom->mma;
	const struct cj_layout *l = which == CJ_OPERAND_A ? a->a :
	    which == CJ_OPERAND_B ? a->b : a->c;

	return (uint32_t)cj_tuple_product(&el->al, cj_tuple_get(l->shape, 1))
	    .value;
}

static bool
wrong_operand(struct cj_elab *el, struct cj_args *args, uint32_t i,
    const struct cj_value *v, const char *needed)
{
	cj_help(cj_elab_report(el, CJ_DIAG_WRONG_SHAPE, cj_arg_span(args, i),
	    "operand %s of gemm has the shape %s, this is %s",
	    i == 1 ? "a" : i == 2 ? "b" : "acc", needed,
	    cj_value_what(el, v)), "Make it with fragment_%s() or load "
	    "partition_%s() of the same tiled MMA.", i == 1 ? "a" : i == 2 ?
	    "b" : "c", i == 1 ? "a" : i == 2 ? "b" : "c");
	return false;
}

/* An operand that belongs to another MMA, or to another operand. */
static bool
is_foreign(const struct cj_value *v, const struct cj_mma_value *m,
    enum cj_operand which)
{
	return v->fragment != NULL && (v->fragment->which != which ||
	    strcmp(v->fragment->mma->text, m->text) != 0);
}

static bool
check_operand(struct cj_elab *el, struct cj_args *args, uint32_t i,
    struct cj_value *v, const struct cj_mma_value *m, enum cj_operand which)
{
	const struct cj_tuple *shape = cj_value_shape(v);
	enum cj_kind k = cj_fragment_kind(m, which);
	uint32_t rank = shape == NULL ? 0 : cj_tuple_rank(shape);
	uint32_t values = atom_values(el, m, which);

	if (v->kind == CJ_VALUE_ERROR)
		return false;
	if (cj_value_kind_of(v) != k) {
		cj_elab_error(el, CJ_DIAG_WRONG_KIND, cj_arg_span(args, i),
		    "%s takes %s here, this is %s", m->atom->text,
		    cj_kind_text(k), cj_value_what(el, v));
		return false;
	}
	if (is_foreign(v, m, which) || rank < 2 || rank > 3 ||
	    (which == CJ_OPERAND_C && rank != 3) ||
	    mode_count(shape, 0) != values)
		return wrong_operand(el, args, i, v, cj_printf(el->arena,
		    "(%u values, %s)", values, which == CJ_OPERAND_A ?
		    "M, K" : which == CJ_OPERAND_B ? "N, K" : "M, N"));
	return true;
}

static bool
same_count(struct cj_elab *el, struct cj_args *args, uint32_t a, uint32_t b,
    const char *mode, const char *between)
{
	if (a == b)
		return true;
	cj_elab_error(el, CJ_DIAG_WRONG_SHAPE, args->span,
	    "%s have %u and %u atoms along %s", between, a, b, mode);
	return false;
}

static bool
check_counts(struct cj_elab *el, struct cj_args *args, struct product *p,
    const struct cj_tuple *const *shape)
{
	p->va = mode_count(shape[0], 0);
	p->vb = mode_count(shape[1], 0);
	p->vc = mode_count(shape[2], 0);
	p->m = mode_count(shape[2], 1);
	p->n = mode_count(shape[2], 2);
	p->k = mode_count(shape[0], 2);
	return same_count(el, args, p->m, mode_count(shape[0], 1), "M",
	    "acc and a") && same_count(el, args, p->n,
	    mode_count(shape[1], 1), "N", "acc and b") &&
	    same_count(el, args, p->k, mode_count(shape[1], 2), "K",
	    "a and b");
}

/* ---- one by one ---------------------------------------------------------- */

/* Registers of an operand for each of M x N: those of step k. */
static cj_ref
spread(struct cj_elab *el, const struct product *p, cj_ref ref, bool is_a,
    uint32_t k)
{
	uint32_t *at = CJ_NEWS(el->arena, uint32_t, p->m * p->n), m, n;

	for (n = 0; n < p->n; n++)
		for (m = 0; m < p->m; m++)
			at[n * p->m + m] = is_a ? k * p->m + m : k * p->n + n;
	return cj_elab_permute(el, ref, at, p->m * p->n);
}

static cj_ref
multiply_each(struct cj_elab *el, const struct product *p, cj_ref acc)
{
	cj_type type = cj_type_of(p->mma->atom->c, p->m * p->n);
	cj_ref a, b;
	uint32_t k;

	for (k = 0; k < p->k; k++) {
		a = spread(el, p, p->a, true, k);
		b = spread(el, p, p->b, false, k);
		acc = cj_emit3(&el->em->b, CJ_OP_FMA, type, a, b, acc);
	}
	return acc;
}

/* ---- by the warp --------------------------------------------------------- */

/* `count` registers from `first` on. */
static cj_ref
slice(struct cj_elab *el, cj_ref ref, uint32_t first, uint32_t count)
{
	uint32_t *at = CJ_NEWS(el->arena, uint32_t, count), i;

	for (i = 0; i < count; i++)
		at[i] = first + i;
	return cj_elab_permute(el, ref, at, count);
}

static cj_ref
multiply_atoms(struct cj_elab *el, const struct product *p, cj_ref acc)
{
	const struct cj_mma_atom *atom = &p->mma->atom->mma;
	enum cj_kind k = p->mma->atom->c;
	uint32_t count = p->m * p->n, step, i, instruction;
	cj_ref *sum = CJ_NEWS(el->arena, cj_ref, count), a, b;
	const char *why;

	instruction = cj_module_mma(el->m, atom->name, &why);
	if (instruction == 0)
		cj_bug(el->recover, "%s", why);
	for (i = 0; i < count; i++)
		sum[i] = slice(el, acc, i * p->vc, p->vc);
	for (step = 0; step < p->k; step++)
		for (i = 0; i < count; i++) {
			a = slice(el, p->a, (step * p->m + i % p->m) * p->va,
			    p->va);
			b = slice(el, p->b, (step * p->n + i / p->m) * p->vb,
			    p->vb);
			sum[i] = cj_emit(&el->em->b, CJ_OP_MMA,
			    cj_type_of(k, p->vc), instruction,
			    (cj_ref[]){ a, b, sum[i] }, 3);
		}
	return count == 1 ? sum[0] : cj_emit(&el->em->b, CJ_OP_CONCAT,
	    cj_type_of(k, count * p->vc), 0, sum, count);
}

/* ---- the built-in -------------------------------------------------------- */

static cj_ref
zeros(struct cj_elab *el, enum cj_kind k, uint32_t count)
{
	cj_ref zero = cj_emit_bits(&el->em->b, cj_type_of(k, 1), 0);

	return count == 1 ? zero : cj_emit1(&el->em->b, CJ_OP_SPLAT,
	    cj_type_of(k, count), zero);
}

/* What is added to: the old value, or 0 where accumulate is false. */
static struct cj_value
accumulator(struct cj_elab *el, struct cj_args *args, struct cj_value acc)
{
	const struct cj_value *e = cj_arg_named(el, args, "accumulate");
	enum cj_kind k = cj_value_kind_of(&acc);
	const struct cj_tuple *shape = cj_value_shape(&acc);
	uint32_t count = cj_shape_count(shape);
	bool known = true, truth = true;
	cj_ref c = 0, old, zero;

	if (e != NULL && !cj_elab_condition(el, args->span, *e, &known,
	    &truth, &c))
		return cj_value_error();
	if (known && !truth)
		return cj_value_regs(el, k, shape, zeros(el, k, count));
	acc = cj_elab_read(el, cj_arg_span(args, 3), acc);
	if (known || acc.kind == CJ_VALUE_ERROR)
		return acc;
	old = cj_elab_ref(el, &acc, k);
	zero = zeros(el, k, count);
	return cj_value_regs(el, k, shape, cj_emit3(&el->em->b, CJ_OP_SELECT,
	    cj_type_of(k, count), c, old, zero));
}

struct cj_value
cj_builtin_gemm(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	struct product p = { .span = args->span };
	const struct cj_tuple *shape[3];
	struct cj_value v[3], acc = args->at[3];
	const struct cj_fragment *fragment = acc.fragment;
	cj_ref sum;
	uint32_t i;

	(void)row;
	p.mma = cj_arg_mma(el, args, 0);
	if (p.mma == NULL)
		return cj_value_error();
	if (acc.kind != CJ_VALUE_PLACE)
		return cj_elab_error(el, CJ_DIAG_WRONG_PLACE,
		    cj_arg_span(args, 3), "gemm adds to a \"var\", this is "
		    "%s", cj_value_what(el, &acc));
	v[0] = cj_elab_read(el, cj_arg_span(args, 1), args->at[1]);
	v[1] = cj_elab_read(el, cj_arg_span(args, 2), args->at[2]);
	v[2] = acc;
	for (i = 0; i < 3; i++) {
		if (!check_operand(el, args, i + 1, &v[i], p.mma,
		    (enum cj_operand)i))
			return cj_value_error();
		shape[i] = cj_value_shape(&v[i]);
	}
	if (!check_counts(el, args, &p, shape))
		return cj_value_error();
	p.a = cj_elab_ref(el, &v[0], CJ_KIND_VOID);
	p.b = cj_elab_ref(el, &v[1], CJ_KIND_VOID);
	v[2] = accumulator(el, args, acc);
	if (v[2].kind == CJ_VALUE_ERROR)
		return v[2];
	sum = cj_elab_ref(el, &v[2], CJ_KIND_VOID);
	sum = p.mma->atom->use == CJ_ATOM_FMA ? multiply_each(el, &p, sum) :
	    multiply_atoms(el, &p, sum);
	v[2] = cj_value_regs(el, p.mma->atom->c, shape[2], sum);
	v[2].fragment = fragment;
	cj_elab_assign(el, args->span, acc, v[2]);
	return cj_value_none();
}
