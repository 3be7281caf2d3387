/*
 * Products into tensor memory: the atom tcgen05(M, N, K, A, B, C), where its
 * sums lie, gemm(mma, a, b, t), and copies of matrices from shared memory.
 *
 * One thread issues them, and commits them to an mbarrier. A is a whole tile
 * in shared memory or in tensor memory, B in shared memory.
 */
#include "elab_tiled.h"

enum { WORD = 32 };

/* ---- the atom ------------------------------------------------------------ */

static const char *
group_of(enum cj_kind a)
{
	switch ((unsigned)a) {
	case CJ_KIND_F16: case CJ_KIND_BF16: return "F16BF16";
	case CJ_KIND_TF32: return "TF32";
	case CJ_KIND_I8: case CJ_KIND_U8: return "S8";
	}
	return "F8F6F4";
}

static bool
find_atom(struct cj_elab *el, const struct cj_tcgen05 *t,
    struct cj_mma_atom *out)
{
	const char *a = cj_atom_type(t->a);
	const char *b = cj_atom_type(t->b);
	const char *d = cj_atom_type(t->d);

	return a != NULL && b != NULL && d != NULL &&
	    cj_mma_atom_find(&el->al, cj_printf(el->arena,
	    "SM100_MMA_%s_SS<%s,%s,%s,%u,%u,K,K>", group_of(t->a), a, b, d,
	    (unsigned)t->m, (unsigned)t->n), out);
}

static bool
kind_arg(struct cj_elab *el, struct cj_args *args, uint32_t i,
    enum cj_kind *k)
{
	const struct cj_value *v = &args->at[i];

	if (v->kind == CJ_VALUE_TYPE && !v->type->is_tensor) {
		*k = v->type->scalar;
		return true;
	}
	cj_elab_error(el, CJ_DIAG_WRONG_KIND, cj_arg_span(args, i),
	    "a number type is needed, this is %s", cj_value_what(el, v));
	return false;
}

/* The numbers and types of tcgen05(...). */
static bool
read_arguments(struct cj_elab *el, struct cj_args *args, struct cj_tcgen05 *t)
{
	uint32_t *const extents[3] = { &t->m, &t->n, &t->k };
	int64_t n;
	uint32_t i;

	for (i = 0; i < 3; i++) {
		if (!cj_value_to_known(el, cj_arg_span(args, i), &args->at[i],
		    "the shape of an instruction", &n))
			return false;
		*extents[i] = n < 0 || n > 1024 ? 0 : (uint32_t)n;
	}
	return kind_arg(el, args, 3, &t->a) && kind_arg(el, args, 4, &t->b) &&
	    kind_arg(el, args, 5, &t->d);
}

struct cj_value
cj_builtin_tcgen05(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	struct cj_atom_value a = { .use = CJ_ATOM_TCGEN05 };
	struct cj_tcgen05 t = { 0 };
	const char *wrong;

	if (!read_arguments(el, args, &t))
		return cj_value_error();
	a.text = cj_elab_call_text(el, row->name, args);
	wrong = cj_tcgen05_wrong(el->arena, &t);
	if (wrong != NULL || !find_atom(el, &t, &a.mma)) {
		cj_help(cj_elab_report(el, CJ_DIAG_NO_ATOM, args->span,
		    "there is no instruction %s: %s", a.text, wrong != NULL ?
		    wrong : "no such atom"), "tcgen05(128, 256, 16, bf16, "
		    "bf16, f32): operands are f16, bf16, tf32, f8e4m3, "
		    "f8e5m2, i8 or u8.");
		return cj_value_error();
	}
	if (el->target != NULL && el->target->family != 100)
		return cj_elab_error(el, CJ_DIAG_NO_ATOM, args->span,
		    "%s needs the target sm_100a or sm_103a, this is %s",
		    a.text, el->target->name);
	a.a = t.a;
	a.b = t.b;
	a.c = t.d;
	return (struct cj_value){ .kind = CJ_VALUE_ATOM,
	    .atom = cj_memdup(el->arena, &a, sizeof a) };
}

/* ---- where sums lie ------------------------------------------------------ */

static const struct cj_layout *
mode_of(struct cj_elab *el, const struct cj_layout *all, uint32_t mode)
{
	const struct cj_layout *both[2] = { cj_layout_get(&el->al,
	    cj_layout_get(&el->al, all, 0), mode), cj_layout_get(&el->al, all,
	    mode + 1) };

	return cj_layout_coalesce(&el->al, cj_layout_concat(&el->al, both, 2),
	    NULL);
}

struct cj_value
cj_builtin_tmem_layout(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_mma_value *mma = cj_arg_mma(el, args, 0);
	const struct cj_tuple *shape;
	const struct cj_layout *l, *both[2];

	if (mma == NULL || (shape = cj_arg_tuple(el, args, 1)) == NULL)
		return cj_value_error();
	if (mma->atom->use != CJ_ATOM_TCGEN05 || cj_tuple_rank(shape) != 2 ||
	    !cj_tuple_is_known(shape))
		return cj_elab_error(el, CJ_DIAG_WRONG_ARGUMENTS, args->span,
		    "tmem_layout() takes a tiled MMA of tcgen05() and a known "
		    "shape (M, N)");
	if (!cj_mma_tile_divides(el, cj_arg_span(args, 1), mma,
	    CJ_OPERAND_C, shape))
		return cj_value_error();
	l = cj_tmem_accumulator(&el->al, &mma->atom->mma, shape);
	if (l == NULL)
		return cj_elab_refused(el, args->span, row->name);
	both[0] = mode_of(el, l, 0);
	both[1] = mode_of(el, l, 1);
	return cj_arg_result(el, args->span, cj_layout_concat(&el->al, both,
	    2), row->name);
}

/* ---- the product --------------------------------------------------------- */

struct product {
	const struct cj_mma_value *mma;
	struct cj_tcgen05 t;
	const struct cj_tensor *d, *left;	/* left: in tensor memory */
	struct cj_smem_operand a, b;
	int64_t m, n, k;			/* instructions */
};

static int64_t
lane_step(enum cj_kind k)
{
	return (int64_t)CJ_TMEM_LANE_STEP * (WORD / cj_kind_bits(k));
}

/* Extents of a view of two modes; false: reported. */
static bool
extents_of(struct cj_elab *el, struct cj_span span, const struct cj_tensor *t,
    int64_t *rows, int64_t *columns)
{
	struct cj_int a, b;

	if (cj_layout_rank(t->layout) == 2) {
		a = cj_tuple_product(&el->al, cj_tuple_get(t->layout->shape,
		    0));
		b = cj_tuple_product(&el->al, cj_tuple_get(t->layout->shape,
		    1));
		if (cj_is_known(a) && cj_is_known(b)) {
			*rows = a.value;
			*columns = b.value;
			return true;
		}
	}
	cj_elab_error(el, CJ_DIAG_WRONG_SHAPE, span,
	    "a matrix of two known extents is needed");
	return false;
}

static uint32_t
lane_of(const struct cj_tcgen05 *t, int64_t row)
{
	return (uint32_t)(t->m == 64 ? row % 16 + row / 16 * 32 : row);
}

static int64_t
step_to(struct cj_elab *el, const struct cj_tensor *t, int64_t row,
    int64_t column)
{
	return cj_mode_step(el, t->layout, 0, row) + cj_mode_step(el,
	    t->layout, 1, column);
}

/* Rows along the lanes as the instruction has them, columns `step` elements
 * apart, in each tile of `rows` and `columns`. */
static bool
lies_right(struct cj_elab *el, const struct cj_tensor *t,
    const struct cj_tcgen05 *p, int64_t rows, int64_t columns,
    int64_t width, int64_t step)
{
	int64_t i, j, from;

	for (i = 0; i < rows; i++) {
		from = cj_mode_step(el, t->layout, 0, i - i % p->m);
		if (cj_mode_step(el, t->layout, 0, i) - from !=
		    lane_of(p, i % p->m) * lane_step(t->element))
			return false;
	}
	for (j = 0; j < columns; j++) {
		from = cj_mode_step(el, t->layout, 1, j - j % width);
		if (cj_mode_step(el, t->layout, 1, j) - from !=
		    j % width * step)
			return false;
	}
	return true;
}

static bool
make_sum(struct cj_elab *el, struct cj_args *args, struct product *p)
{
	const struct cj_value *v = &args->at[3];
	struct cj_span span = cj_arg_span(args, 3);
	int64_t rows, columns;

	if (v->kind == CJ_VALUE_ERROR)
		return false;
	if (!cj_is_tmem(el, v) || v->tensor->element != p->t.d) {
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_PLACE, span,
		    "tcgen05 adds to %s in tensor memory, this is %s",
		    cj_kind_text(p->t.d), cj_value_what(el, v)),
		    "tmem acc: tensor(%s, tmem_layout(mma, (M, N)));",
		    cj_kind_text(p->t.d));
		return false;
	}
	p->d = v->tensor;
	if (!extents_of(el, span, p->d, &rows, &columns))
		return false;
	if (rows % p->t.m == 0 && columns % p->t.n == 0 && lies_right(el,
	    p->d, &p->t, rows, columns, p->t.n, WORD /
	    cj_kind_bits(p->t.d))) {
		p->m = rows / p->t.m;
		p->n = columns / p->t.n;
		return true;
	}
	cj_help(cj_elab_report(el, CJ_DIAG_WRONG_SHAPE, span, "sums of %s do "
	    "not lie so in tensor memory", p->mma->atom->text),
	    "tmem acc: tensor(%s, tmem_layout(mma, (M, N)));",
	    cj_kind_text(p->t.d));
	return false;
}

/* A in tensor memory: its rows along the lanes. */
static bool
make_left(struct cj_elab *el, struct cj_args *args, struct product *p,
    int64_t *rows, int64_t *depth)
{
	struct cj_span span = cj_arg_span(args, 1);

	p->left = args->at[1].tensor;
	if (!extents_of(el, span, p->left, rows, depth))
		return false;
	if (p->left->element == p->t.a && p->t.m == 128 &&
	    *rows % p->t.m == 0 && *depth % p->t.k == 0 && lies_right(el,
	    p->left, &p->t, *rows, *depth, p->t.k, 1))
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_WRONG_SHAPE, span,
	    "tcgen05 cannot read A here: it takes %s, 128 rows along the "
	    "lanes, neighbours along the columns", cj_kind_text(p->t.a)),
	    "tmem p: tensor(%s, (128, K)); and M = 128.",
	    cj_kind_text(p->t.a));
	return false;
}

static bool
make_operands(struct cj_elab *el, struct cj_args *args, struct product *p)
{
	const struct cj_value *a = &args->at[1], *b = &args->at[2];
	int64_t rows, depth;

	if (a->kind == CJ_VALUE_ERROR || b->kind == CJ_VALUE_ERROR)
		return false;
	if ((!cj_is_shared(el, a) && !cj_is_tmem(el, a)) ||
	    !cj_is_shared(el, b)) {
		cj_elab_error(el, CJ_DIAG_WRONG_PLACE, args->span,
		    "tcgen05 takes A in shared or tensor memory, and B in "
		    "shared memory; these are %s and %s", cj_value_what(el,
		    a), cj_value_what(el, b));
		return false;
	}
	if (cj_is_tmem(el, a)) {
		if (!make_left(el, args, p, &rows, &depth))
			return false;
	} else {
		if (!cj_smem_operand_make(el, cj_arg_span(args, 1), a,
		    "tcgen05", p->t.a, p->t.m, p->t.k, &p->a))
			return false;
		rows = p->a.rows;
		depth = p->a.depth;
	}
	if (!cj_smem_operand_make(el, cj_arg_span(args, 2), b, "tcgen05",
	    p->t.b, p->t.n, p->t.k, &p->b))
		return false;
	p->k = depth / p->t.k;
	if (rows == p->m * p->t.m && p->b.rows == p->n * p->t.n &&
	    p->b.depth == depth)
		return true;
	cj_elab_error(el, CJ_DIAG_WRONG_SHAPE, args->span,
	    "A is %lld x %lld and B %lld x %lld, the sums are %lld x %lld",
	    (long long)rows, (long long)depth, (long long)p->b.rows,
	    (long long)p->b.depth, (long long)(p->m * p->t.m),
	    (long long)(p->n * p->t.n));
	return false;
}

/* What derives the waits of pipelines does not know these products. */
static bool
is_no_stage(struct cj_elab *el, struct cj_args *args)
{
	uint32_t i;

	for (i = 0; i < args->count; i++) {
		const struct cj_value *v = &args->at[i];

		if (v->kind != CJ_VALUE_TENSOR || v->tensor->stage == 0)
			continue;
		cj_help(cj_elab_report(el, CJ_DIAG_UNSUPPORTED,
		    cj_arg_span(args, i), "tcgen05 does not read stages of "
		    "pipelines in this version"), "Use shared memory with "
		    "mbarriers: mbarrier_wait(full[i], p), gemm(), "
		    "tcgen05_commit(empty[i]).");
		return false;
	}
	return true;
}

/* The address and the offset of (row, column) in tensor memory. */
static void
place(struct cj_elab *el, const struct cj_tensor *t, int64_t row,
    int64_t column, cj_ref *refs)
{
	refs[0] = cj_tmem_address(el, t->object);
	refs[1] = cj_elab_ref_int(el, cj_int_add(&el->sym, t->offset,
	    cj_known(step_to(el, t, row, column))));
}

/* Product (m, n, k) of the instructions. */
static void
multiply_one(struct cj_elab *el, struct product *p, const int64_t at[3],
    cj_ref adds)
{
	unsigned count = 2;
	cj_ref refs[6];

	place(el, p->d, at[0] * p->t.m, at[1] * p->t.n, refs);
	if (p->left != NULL) {
		place(el, p->left, at[0] * p->t.m, at[2] * p->t.k, refs + 2);
		count = 4;
	} else {
		refs[count++] = cj_smem_operand_offset(el, &p->a, cj_known(0),
		    at[0] * p->t.m, at[2] * p->t.k);
	}
	refs[count++] = cj_smem_operand_offset(el, &p->b, cj_known(0),
	    at[1] * p->t.n, at[2] * p->t.k);
	if (adds != 0)
		refs[count++] = adds;
	cj_emit(&el->em->b, CJ_OP_TCGEN05_MMA, 0, cj_module_tcgen05(el->m,
	    &p->t), refs, count);
}

static void
multiply(struct cj_elab *el, struct product *p, cj_ref first)
{
	struct cj_access d = { .object = p->d->object }, a = { 0 };
	int64_t at[3];

	p->t.d_at = cj_module_access(el->m, &d);
	p->t.b_at = p->b.access;
	p->t.b_desc = p->b.desc;
	if (p->left != NULL) {
		a.object = p->left->object;
		p->t.a_at = cj_module_access(el->m, &a);
	} else {
		p->t.a_at = p->a.access;
		p->t.a_desc = p->a.desc;
	}
	for (at[2] = 0; at[2] < p->k; at[2]++)
		for (at[1] = 0; at[1] < p->n; at[1]++)
			for (at[0] = 0; at[0] < p->m; at[0]++)
				multiply_one(el, p, at, at[2] == 0 ? first :
				    0);
}

static bool
has_one_atom(struct cj_elab *el, struct cj_args *args,
    const struct cj_mma_value *mma)
{
	if (cj_is_value(cj_layout_size(&el->al, mma->tiled.vmnk), 1))
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_WRONG_ARGUMENTS, args->span,
	    "one thread issues a product of tcgen05: several atoms beside "
	    "each other have nobody who would"), "tiled_mma(atom, (1, 1, "
	    "1)): larger tiles take several instructions.");
	return false;
}

struct cj_value
cj_elab_gemm_tcgen05(struct cj_elab *el, struct cj_args *args,
    const struct cj_mma_value *mma)
{
	const struct cj_value *e = cj_arg_named(el, args, "accumulate");
	struct product *p = CJ_NEW(el->arena, struct product);
	const struct cj_tuple *shape = mma->atom->mma.shape;
	bool known = true, truth = true;
	cj_ref adds = 0;

	p->mma = mma;
	p->t = (struct cj_tcgen05){ .a = mma->atom->a, .b = mma->atom->b,
	    .d = mma->atom->c,
	    .m = (uint32_t)cj_tuple_get(shape, 0)->value.value,
	    .n = (uint32_t)cj_tuple_get(shape, 1)->value.value,
	    .k = (uint32_t)cj_tuple_get(shape, 2)->value.value };
	if (!has_one_atom(el, args, mma) || !is_no_stage(el, args) ||
	    !make_sum(el, args, p) ||
	    !make_operands(el, args, p))
		return cj_value_error();
	if (e != NULL && !cj_elab_condition(el, args->span, *e, &known,
	    &truth, &adds))
		return cj_value_error();
	if (known && !truth)
		adds = cj_emit_bool(&el->em->b, false);
	multiply(el, p, adds);
	return cj_value_none();
}

/* ---- copies from shared memory ------------------------------------------- */

static bool
spread_arg(struct cj_elab *el, struct cj_args *args, int64_t lanes,
    enum cj_tmem_spread *out)
{
	const struct cj_value *v = cj_arg_named(el, args, "spread");
	const char *name = v == NULL || v->kind != CJ_VALUE_CHOICE ? "" :
	    cj_elab_name(el, v->choice);

	*out = lanes == 32 ? CJ_TMEM_ALL_FOUR : CJ_TMEM_OWN;
	if (lanes == 64 && strcmp(name, "pairs_02_13") == 0)
		*out = CJ_TMEM_PAIRS_02_13;
	else if (lanes == 64 && strcmp(name, "pairs_01_23") == 0)
		*out = CJ_TMEM_PAIRS_01_23;
	else if (lanes == 64 || v != NULL)
		return cj_elab_error(el, CJ_DIAG_WRONG_ARGUMENTS, args->span,
		    "64 lanes, and no others, have spread = .pairs_02_13 or "
		    ".pairs_01_23"), false;
	return true;
}

struct cj_value
cj_builtin_tcgen05_copy(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_tuple *shape = cj_arg_tuple(el, args, 2);
	struct cj_tmem_use u = { 0 };
	struct cj_smem_operand s = { 0 };
	struct cj_access to = { 0 };
	const struct cj_tensor *t = args->at[0].tensor;
	int64_t lanes, bits;
	cj_ref refs[3];

	if (shape == NULL || args->at[0].kind == CJ_VALUE_ERROR ||
	    args->at[1].kind == CJ_VALUE_ERROR)
		return cj_value_error();
	if (!cj_is_tmem(el, &args->at[0]) || !cj_is_shared(el, &args->at[1]))
		return cj_elab_error(el, CJ_DIAG_WRONG_PLACE, args->span,
		    "%s copies a matrix from shared memory to tensor memory",
		    row->name);
	if (cj_tuple_rank(shape) != 2 || !cj_tuple_is_known(shape))
		return cj_elab_error(el, CJ_DIAG_WRONG_ARGUMENTS, args->span,
		    "a shape of tensor memory is (lanes, bits)");
	lanes = cj_tuple_product(&el->al, shape->at[0]).value;
	bits = cj_tuple_product(&el->al, shape->at[1]).value;
	if (!((bits == 128 && (lanes == 128 || lanes == 64 || lanes == 32)) ||
	    (bits == 256 && lanes == 128)))
		return cj_elab_error(el, CJ_DIAG_NO_ATOM, args->span,
		    "there are copies of (128, 256), (128, 128), (64, 128) "
		    "and (32, 128) to tensor memory");
	if (!spread_arg(el, args, lanes, &u.spread) ||
	    !is_no_stage(el, args) ||
	    !cj_smem_operand_make(el, cj_arg_span(args, 1), &args->at[1],
	    row->name, t->element, lanes, bits / cj_kind_bits(t->element),
	    &s))
		return cj_value_error();
	to.object = t->object;
	u.tmem = cj_module_access(el->m, &to);
	u.other = s.access;
	u.desc = s.desc;
	u.lanes = (uint32_t)lanes;
	u.bits = (uint32_t)bits;
	place(el, t, 0, 0, refs);
	refs[2] = cj_smem_operand_offset(el, &s, cj_known(0), 0, 0);
	cj_emit(&el->em->b, CJ_OP_TMEM_COPY, 0, cj_module_tmem(el->m, &u),
	    refs, 3);
	return cj_value_none();
}
