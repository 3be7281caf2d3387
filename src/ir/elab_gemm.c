/*
 * gemm(mma, a, b, acc): acc += a b over fragments, one atom after the other:
 * K outermost, then N, then M, there and back, so that each atom shares an
 * operand with the one before, which need not be read from registers again:
 *
 *	    N ->
 *	M   0  7  8 15
 *	|   1  6  9 14
 *	v   2  5 10 13
 *	    3  4 11 12
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
	struct cj_steps source[2];	/* A, B */
	uint32_t instruction;		/* mma_sync: record of the module */
	cj_ref metadata;		/* of a sparse A: for each step of
					   `selectors` atoms along K those
					   of M */
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
check_kind(struct cj_elab *el, struct cj_args *args, uint32_t i,
    const struct cj_value *v, const struct cj_mma_value *m,
    enum cj_operand which)
{
	enum cj_kind k = cj_fragment_kind(m, which);
	const char *others;
	struct cj_diag *d;

	if (v->kind == CJ_VALUE_ERROR)
		return false;
	if (cj_value_kind_of(v) == k)
		return true;
	d = cj_elab_report(el, CJ_DIAG_WRONG_KIND, cj_arg_span(args, i),
	    "%s takes %s here, this is %s", m->atom->text, cj_kind_text(k),
	    cj_value_what(el, v));
	others = cj_atom_products(el, m->atom->use, which == CJ_OPERAND_C ?
	    m->atom->a : cj_value_kind_of(v));
	if (which == CJ_OPERAND_A && v->fragment != NULL &&
	    v->fragment->which == CJ_OPERAND_C)
		cj_help(d, "A result as left operand is operand_a(mma, "
		    "%s(acc)).", cj_kind_text(k));
	else if (which == CJ_OPERAND_C)
		cj_help(d, "Make it with fragment_c() of the same tiled MMA%s"
		    "%s", others == NULL ? "." : ", or take another one. ",
		    others == NULL ? "" : others);
	else if (others != NULL)
		cj_help(d, "%s", others);
	return false;
}

static bool
check_operand(struct cj_elab *el, struct cj_args *args, uint32_t i,
    const struct cj_value *v, const struct cj_mma_value *m,
    enum cj_operand which)
{
	const struct cj_tuple *shape = cj_value_shape(v);
	uint32_t rank = shape == NULL ? 0 : cj_tuple_rank(shape);
	uint32_t values = atom_values(el, m, which);

	if (!check_kind(el, args, i, v, m, which))
		return false;
	if (is_foreign(v, m, which) || rank < 2 || rank > 3 ||
	    (which == CJ_OPERAND_C && rank != 3) ||
	    mode_count(shape, 0) != values)
		return wrong_operand(el, args, i, v, cj_printf(el->arena,
		    "(%u values, %s)", values, which == CJ_OPERAND_A ?
		    "M, K" : which == CJ_OPERAND_B ? "N, K" : "M, N"));
	return true;
}

static const char tiles_that_fit[] = "Let a be of a tile (M, K), b of one "
    "(N, K) and acc of one (M, N), with the same M, N and K.";

static bool
same_count(struct cj_elab *el, struct cj_args *args, uint32_t a, uint32_t b,
    const char *mode, const char *between)
{
	if (a == b)
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_WRONG_SHAPE, args->span,
	    "%s have %u and %u atoms along %s", between, a, b, mode), "%s",
	    tiles_that_fit);
	return false;
}

static bool
same_depth(struct cj_elab *el, struct cj_args *args, const struct product *p,
    uint32_t b)
{
	struct cj_diag *d;

	if (p->k == b)
		return true;
	d = cj_elab_report(el, CJ_DIAG_WRONG_SHAPE, args->span,
	    "a and b have %u and %u atoms along K", p->k, b);
	cj_help(d, "%s", tiles_that_fit);
	cj_mma_help_sparse(el, d, p->mma);
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
	    same_depth(el, args, p, mode_count(shape[1], 2));
}

/* ---- one by one ---------------------------------------------------------- */

/* Registers of an operand for each of M x N. */
static cj_ref
spread(struct cj_elab *el, const struct product *p, cj_ref ref, bool is_a)
{
	uint32_t *at = CJ_NEWS(el->arena, uint32_t, p->m * p->n), m, n;

	for (n = 0; n < p->n; n++)
		for (m = 0; m < p->m; m++)
			at[n * p->m + m] = is_a ? m : n;
	return cj_elab_permute(el, ref, at, p->m * p->n);
}

static cj_ref
multiply_each(struct cj_elab *el, const struct product *p, cj_ref acc,
    cj_ref a, cj_ref b)
{
	a = spread(el, p, a, true);
	b = spread(el, p, b, false);
	return cj_emit3(&el->em->b, CJ_OP_FMA, cj_type_of(p->mma->atom->c,
	    p->m * p->n), a, b, acc);
}

/* ---- by the warp --------------------------------------------------------- */

/* The i-th of the atoms, by their places: M, then N. */
static uint32_t
there_and_back(const struct product *p, uint32_t i)
{
	uint32_t n = i / p->m, m = i % p->m;

	return n * p->m + (n % 2 == 0 ? m : p->m - 1 - m);
}

/* Step k along K of all atoms' sums. */
static void
multiply_atoms(struct cj_elab *el, const struct product *p, uint32_t k,
    cj_ref *sum, cj_ref a, cj_ref b)
{
	cj_type type = cj_type_of(p->mma->atom->c, p->vc);
	uint32_t each = el->m->mmas.at[p->instruction]->selectors, i, next;
	cj_ref refs[5];

	for (next = 0; next < p->m * p->n; next++) {
		i = there_and_back(p, next);
		refs[0] = cj_elab_slice(el, a, i % p->m * p->va, p->va);
		refs[1] = cj_elab_slice(el, b, i / p->m * p->vb, p->vb);
		refs[2] = sum[i];
		if (each != 0) {
			refs[3] = cj_elab_slice(el, p->metadata, i % p->m +
			    k / each * p->m, 1);
			refs[4] = cj_emit_index(&el->em->b, k % each);
		}
		sum[i] = cj_emit(&el->em->b, each == 0 ? CJ_OP_MMA :
		    CJ_OP_MMA_SPARSE, type, p->instruction, refs,
		    each == 0 ? 3 : 5);
	}
}

/* acc and all products; 0: reported. */
static cj_ref
multiply(struct cj_elab *el, const struct product *p, cj_ref acc)
{
	bool is_simt = p->mma->atom->use == CJ_ATOM_FMA;
	uint32_t count = is_simt ? 1 : p->m * p->n, width = is_simt ?
	    p->m * p->n : p->vc, i, k;
	cj_ref *sum = CJ_NEWS(el->arena, cj_ref, count), a, b;

	for (i = 0; i < count; i++)
		sum[i] = cj_elab_slice(el, acc, i * width, width);
	for (k = 0; k < p->k; k++) {
		a = cj_steps_at(el, &p->source[0], k);
		b = cj_steps_at(el, &p->source[1], k);
		if (a == 0 || b == 0)
			return 0;
		if (is_simt)
			sum[0] = multiply_each(el, p, sum[0], a, b);
		else
			multiply_atoms(el, p, k, sum, a, b);
	}
	return count == 1 ? sum[0] : cj_emit(&el->em->b, CJ_OP_CONCAT,
	    cj_type_of(p->mma->atom->c, count * width), 0, sum, count);
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

/* A or B as it is given, or as a thread's part of a shared tile. */
static bool
make_source(struct cj_elab *el, struct cj_args *args, uint32_t i,
    struct product *p)
{
	struct cj_steps *s = &p->source[i];
	struct cj_value v = args->at[i + 1];

	s->span = cj_arg_span(args, i + 1);
	s->mma = p->mma;
	s->which = (enum cj_operand)i;
	if (cj_steps_are_tile(el, &v))
		return check_kind(el, args, i + 1, &v, p->mma, s->which) &&
		    cj_steps_make(el, s, v.tensor);
	v = cj_elab_read(el, s->span, v);
	if (!check_operand(el, args, i + 1, &v, p->mma, s->which))
		return false;
	s->shape = cj_value_shape(&v);
	s->step = mode_count(s->shape, 0) * mode_count(s->shape, 1);
	s->whole = cj_elab_ref(el, &v, CJ_KIND_VOID);
	return true;
}

/* Atoms side by side along K would each hold a part of the sums. */
static bool
sums_are_whole(struct cj_elab *el, struct cj_span span,
    const struct cj_mma_value *mma)
{
	const struct cj_tuple *shape = mma->tiled.vmnk->shape;
	struct cj_int n = cj_tuple_product(&el->al, shape->at[3]);

	if (cj_is_value(n, 1))
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_UNSUPPORTED, span,
	    "the atoms of %s lie %lld deep along mode K: each would hold a "
	    "part of the sums, and nothing adds them up", mma->text,
	    (long long)n.value), "Lay them along M and N: tiled_mma(atom, "
	    "(2, 2, 1)).");
	return false;
}

static bool
no_metadata(struct cj_elab *el, struct cj_args *args,
    const struct cj_mma_value *mma)
{
	cj_help(cj_elab_report(el, CJ_DIAG_WRONG_ARGUMENTS, args->span,
	    "the operand a of %s is not sparse: it has no metadata",
	    mma->atom->text), "mma_sync(16, 8, 32, f16, f16, f32, sparse = "
	    "true) is an atom that has.");
	return false;
}

bool
cj_elab_metadata(struct cj_elab *el, struct cj_args *args,
    const struct cj_mma_value *mma, uint32_t selectors, uint32_t m,
    uint32_t k, cj_ref *out)
{
	const struct cj_value *v = cj_arg_named(el, args, "metadata");
	uint32_t need, have;

	*out = 0;
	if (selectors == 0)
		return v == NULL || no_metadata(el, args, mma);
	need = m * ((k + selectors - 1) / selectors);
	if (v != NULL && v->kind == CJ_VALUE_ERROR)
		return false;
	have = v == NULL || cj_value_kind_of(v) != CJ_KIND_U32 ? 0 :
	    cj_value_shape(v) == NULL ? 1 : cj_shape_count(cj_value_shape(v));
	if (have == need) {
		*out = cj_elab_ref(el, v, CJ_KIND_U32);
		return true;
	}
	cj_help(cj_elab_report(el, CJ_DIAG_WRONG_SHAPE, args->span,
	    "the sparse operand a needs %u word%s of metadata in a thread, "
	    "this is %s", need, need == 1 ? "" : "s", v == NULL ? "nothing" :
	    cj_value_what(el, v)),
	    "gemm(mma, a, b, acc, metadata = e): u32 in the shape (%u, %u), "
	    "a word for each atom along M and %u along K.", m, need / m,
	    selectors);
	return false;
}

static bool
find_metadata(struct cj_elab *el, struct cj_args *args, struct product *p)
{
	uint32_t selectors = 0;
	const char *why;

	if (p->mma->atom->use == CJ_ATOM_MMA_SYNC) {
		p->instruction = cj_module_mma(el->m, p->mma->atom->mma.name,
		    &why);
		if (p->instruction == 0)
			cj_bug(el->recover, "%s", why);
		selectors = el->m->mmas.at[p->instruction]->selectors;
	}
	return cj_elab_metadata(el, args, p->mma, selectors, p->m, p->k,
	    &p->metadata);
}

struct cj_value
cj_builtin_gemm(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	struct product p = { .span = args->span };
	struct cj_value acc = args->at[3], v;
	const struct cj_tuple *shape[3];
	cj_ref sum;

	(void)row;
	p.mma = cj_arg_mma(el, args, 0);
	if (p.mma == NULL || !sums_are_whole(el, args->span, p.mma))
		return cj_value_error();
	if (p.mma->atom->use == CJ_ATOM_WGMMA)
		return cj_elab_gemm_wgmma(el, args, p.mma);
	if (p.mma->atom->use == CJ_ATOM_TCGEN05)
		return cj_elab_gemm_tcgen05(el, args, p.mma);
	if (p.mma->atom->use == CJ_ATOM_MMA_SYNC) {
		if (!cj_elab_has_threads(el, args->span, cj_layout_size(
		    &el->al, p.mma->tiled.vmnk).value, "this product"))
			return cj_value_error();
		cj_elab_meet(el, 32, "gemm() by mma_sync");
	}
	if (acc.kind != CJ_VALUE_PLACE)
		return cj_elab_error(el, CJ_DIAG_WRONG_PLACE,
		    cj_arg_span(args, 3), "gemm adds to a \"var\", this is "
		    "%s", cj_value_what(el, &acc));
	if (!make_source(el, args, 0, &p) || !make_source(el, args, 1, &p) ||
	    !check_operand(el, args, 3, &acc, p.mma, CJ_OPERAND_C))
		return cj_value_error();
	shape[0] = p.source[0].shape;
	shape[1] = p.source[1].shape;
	shape[2] = cj_value_shape(&acc);
	if (!check_counts(el, args, &p, shape) ||
	    !find_metadata(el, args, &p))
		return cj_value_error();
	v = accumulator(el, args, acc);
	if (v.kind == CJ_VALUE_ERROR)
		return v;
	sum = multiply(el, &p, cj_elab_ref(el, &v, CJ_KIND_VOID));
	if (sum == 0)
		return cj_value_error();
	v = cj_value_regs(el, p.mma->atom->c, shape[2], sum);
	v.fragment = acc.fragment;
	cj_elab_assign(el, args->span, acc, v);
	return cj_value_none();
}
