/*
 * gemm(mma, a, b, acc) by wgmma: a and b are whole tiles in shared memory, or a
 * is a fragment in registers; the accumulator is a `var`.
 * The products of a gemm are one group; a fence stands in front of them.
 */
#include "elab_tiled.h"

/* ---- the atom ------------------------------------------------------------ */

/* K-major; the others are the same products. A in registers. */
static const char *
atom_name(struct cj_elab *el, const int64_t *mnk, const enum cj_kind *k,
    bool is_sparse)
{
	return cj_printf(el->arena, "SM90_%s%lldx%lldx%lld_%s%s%s_RS%s",
	    is_sparse ? "SPARSE_" : "", (long long)mnk[0], (long long)mnk[1],
	    (long long)mnk[2], cj_elab_atom_word(k[2]),
	    cj_elab_atom_word(k[0]), cj_elab_atom_word(k[1]),
	    cj_kind_bits(k[0]) == 16 ? "" : "_TN");
}

/* The product whose A is in shared memory ("SS") or in registers ("RS"). */
static const char *
name_of(struct cj_elab *el, const struct cj_atom_value *a, const char *source)
{
	char *name = cj_strdup(el->arena, a->mma.name);
	char *at = strstr(name, "_RS");

	assert(at != NULL && "atom_name has made it");
	memcpy(at + 1, source, 2);
	return name;
}

static bool
is_float8(enum cj_kind k)
{
	return k == CJ_KIND_F8E4M3 || k == CJ_KIND_F8E5M2;
}

static bool
is_int8(enum cj_kind k)
{
	return k == CJ_KIND_I8 || k == CJ_KIND_U8;
}

static bool
is_operand(enum cj_kind k, bool is_sparse)
{
	return is_float8(k) || is_int8(k) || k == CJ_KIND_F16 ||
	    k == CJ_KIND_BF16 || k == CJ_KIND_TF32 ||
	    (k == CJ_KIND_BOOL && !is_sparse);
}

/* wgmma(64, N, 16, f16, f16, f32), or f16 as the last */
static const char *
one_product(struct cj_elab *el, enum cj_kind a, enum cj_kind b,
    bool is_sparse)
{
	bool counts = is_int8(a) || a == CJ_KIND_BOOL;

	return cj_printf(el->arena, "wgmma(64, N, %u, %s, %s, %s%s)%s",
	    256 / cj_kind_bits(a) * (is_sparse ? 2 : 1), cj_kind_text(a),
	    cj_kind_text(b), counts ? "i32" : "f32",
	    is_sparse ? ", sparse = true" : "", is_float8(a) ||
	    a == CJ_KIND_F16 ? ", or f16 as the last" : "");
}

const char *
cj_wgmma_products(struct cj_elab *el, enum cj_kind a, enum cj_kind b,
    bool is_sparse)
{
	static const char n[] = "N is 8 to 256 by 8";
	bool counts = is_int8(a) || a == CJ_KIND_BOOL;

	if (a == CJ_KIND_F32 && b == CJ_KIND_F32)
		return cj_printf(el->arena, "f32 is multiplied as tf32: %s; "
		    "%s. Copies by TMA round to tf32.", one_product(el,
		    CJ_KIND_TF32, CJ_KIND_TF32, is_sparse), n);
	if (!is_operand(a, is_sparse) || !is_operand(b, is_sparse))
		return "Operands are f16, bf16, tf32, f8e4m3, f8e5m2, i8 or "
		    "u8, A and B the same but for signs and 8-bit floats; or "
		    "bool, which is not sparse.";
	if (a != b && !(is_float8(a) && is_float8(b)) &&
	    !(is_int8(a) && is_int8(b)))
		return cj_printf(el->arena, "A and B are of one type: %s; or "
		    "%s.", one_product(el, a, a, is_sparse), one_product(el,
		    b, b, is_sparse));
	return cj_printf(el->arena, "For %s and %s there is %s: %s%s.",
	    cj_kind_text(a), cj_kind_text(b), one_product(el, a, b,
	    is_sparse), n, counts ? ", and no odd multiple of 8 but 8 and 24"
	    : "");
}

static bool
find_atom(struct cj_elab *el, const int64_t *mnk, const enum cj_kind *k,
    bool is_sparse, struct cj_mma_atom *out)
{
	const char *name = atom_name(el, mnk, k, is_sparse);
	struct cj_wgmma w;

	return (k[2] == CJ_KIND_F32 || k[2] == CJ_KIND_F16 ||
	    k[2] == CJ_KIND_I32) && cj_wgmma_find(el->arena, name, &w) ==
	    NULL && cj_mma_atom_find(&el->al, name, out);
}

/* Fragments of A lie as the instruction takes them from registers; where A is
 * in shared memory, nothing asks. */
struct cj_value
cj_builtin_wgmma(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	struct cj_atom_value a = { .use = CJ_ATOM_WGMMA };
	int64_t mnk[3];
	enum cj_kind k[3];
	bool is_sparse;
	uint32_t i;

	if (!cj_arg_flag(el, args, "sparse", &is_sparse))
		return cj_value_error();
	for (i = 0; i < 3; i++)
		if (!cj_value_to_known(el, cj_arg_span(args, i), &args->at[i],
		    "the shape of an instruction", &mnk[i]))
			return cj_value_error();
	for (i = 0; i < 3; i++) {
		const struct cj_value *v = &args->at[3 + i];

		if (v->kind != CJ_VALUE_TYPE || v->type->is_tensor)
			return cj_elab_error(el, CJ_DIAG_WRONG_KIND,
			    cj_arg_span(args, 3 + i), "a number type is "
			    "needed, this is %s", cj_value_what(el, v));
		k[i] = v->type->scalar;
	}
	a.text = cj_elab_call_text(el, row->name, args);
	if (!find_atom(el, mnk, k, is_sparse, &a.mma)) {
		cj_help(cj_elab_report(el, CJ_DIAG_NO_ATOM, args->span,
		    "there is no instruction %s", a.text), "%s",
		    cj_wgmma_products(el, k[0], k[1], is_sparse));
		return cj_value_error();
	}
	if (el->target != NULL && strcmp(el->target->name, "sm_90a") != 0)
		return cj_elab_error(el, CJ_DIAG_NO_ATOM, args->span,
		    "%s needs the target sm_90a, this is %s", a.text,
		    el->target->name);
	a.a = k[0] == CJ_KIND_BOOL ? CJ_KIND_U8 : k[0];	/* eight to one */
	a.b = k[1] == CJ_KIND_BOOL ? CJ_KIND_U8 : k[1];
	a.c = k[2];
	return (struct cj_value){ .kind = CJ_VALUE_ATOM,
	    .atom = cj_memdup(el->arena, &a, sizeof a) };
}

/* ---- the product --------------------------------------------------------- */

struct product {
	const struct cj_mma_value *mma;
	struct cj_wgmma w;
	struct cj_smem_operand a, b;
	bool a_in_registers;
	struct cj_access left;		/* then: its slot */
	int64_t groups;			/* warpgroups along M */
	int64_t m, n, k;		/* instructions */
	int64_t depth;			/* what is stored of A for one, by K */
	const cj_ref *metadata;		/* of a sparse A, by k, then m */
	const struct cj_slot *acc;
	struct cj_int warpgroup_step;	/* in A, for this warpgroup */
};

/* Registers of the accumulator one after the other, M first. */
static bool
check_acc(struct cj_elab *el, struct cj_args *args, struct product *p)
{
	const struct cj_value *acc = &args->at[3];
	const struct cj_tuple *shape = cj_value_shape(acc);

	if (acc->kind != CJ_VALUE_PLACE || acc->slot->cell != NULL ||
	    acc->slot->is_scalar) {
		cj_elab_error(el, CJ_DIAG_WRONG_PLACE, cj_arg_span(args, 3),
		    "gemm adds to a \"var\", this is %s",
		    cj_value_what(el, acc));
		return false;
	}
	p->acc = acc->slot;
	if (acc->fragment == NULL || acc->fragment->which != CJ_OPERAND_C ||
	    strcmp(acc->fragment->mma->text, p->mma->text) != 0 ||
	    cj_tuple_rank(shape) != 3 || acc->slot->first != 0 ||
	    cj_value_kind_of(acc) != p->w.c) {
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_SHAPE,
		    cj_arg_span(args, 3), "this is no accumulator of the "
		    "tiled MMA: %s", cj_value_what(el, acc)),
		    "var acc = fragment_c(mma, (M, N), fill = 0);");
		return false;
	}
	p->m = cj_shape_count(cj_tuple_get(shape, 1));
	p->n = cj_shape_count(cj_tuple_get(shape, 2));
	return true;
}

/* Warpgroups lie along M alone. */
static bool
check_groups(struct cj_elab *el, struct cj_args *args, struct product *p)
{
	const struct cj_tuple *tile = cj_tiled_mma_tile(&el->al,
	    &p->mma->tiled);
	int64_t rows = cj_tuple_product(&el->al, tile->at[0]).value;

	p->groups = rows / 64;
	if (rows % 64 == 0 && cj_is_value(cj_tuple_product(&el->al,
	    tile->at[1]), p->w.n) && cj_is_value(cj_tuple_product(&el->al,
	    tile->at[2]), p->w.k))
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_UNSUPPORTED, args->span,
	    "products by wgmma whose warpgroups do not lie along M alone are "
	    "not supported by this version"), "tiled_mma(atom, (n, 1, 1))");
	return false;
}

/* A warpgroup that there is, and the same for all of its threads. */
static bool
check_warpgroup(struct cj_elab *el, struct cj_args *args,
    const struct product *p, struct cj_int n)
{
	struct cj_range r = cj_int_range(&el->sym, n);
	cj_ref ref;

	if (r.lo >= p->groups || r.hi < 0) {
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_ARGUMENTS, args->span,
		    "there is no warpgroup %lld: %lld of them multiply",
		    (long long)(r.hi < 0 ? r.hi : r.lo),
		    (long long)p->groups), "They are 0 to %lld.",
		    (long long)(p->groups - 1));
		return false;
	}
	ref = cj_elab_ref_int(el, n);
	cj_elab_agree(el, 128, "\"warpgroup\"", ref);
	return true;
}

/* Which of the warpgroups this one is. */
static bool
warpgroup_of(struct cj_elab *el, struct cj_args *args, struct product *p,
    struct cj_int *out)
{
	const struct cj_value *v = cj_arg_named(el, args, "warpgroup");

	if (v != NULL)
		return cj_value_to_int(el, args->span, v, out) &&
		    check_warpgroup(el, args, p, *out);
	*out = cj_known(0);
	if (p->groups == 1)
		return true;
	*out = cj_int_div(&el->sym, cj_elab_special(el, CJ_SPECIAL_WARP),
	    cj_known(4));
	if (el->role != NULL)
		*out = cj_int_sub(&el->sym, *out, cj_known(el->m->roles.at[
		    el->role->number].first / 4));
	if (cj_elab_block_threads(el) == 128 * p->groups)
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_WRONG_ARGUMENTS, args->span,
	    "%lld warpgroups multiply, and the block has %lld threads: which "
	    "of them is this one?", (long long)p->groups, (long long)
	    cj_elab_block_threads(el)),
	    "Say so: gemm(mma, a, b, acc, warpgroup = n), 0 for the first.");
	return false;
}

/* Register i of the view is register i of its object. */
static bool
is_whole(struct cj_elab *el, const struct cj_slot *s)
{
	uint32_t count = cj_shape_count(s->layout->shape), i;
	struct cj_int at;

	if (s->cell != NULL || s->first != 0 ||
	    el->m->objects.at[s->object].extent != count)
		return false;
	for (i = 0; i < count; i++)
		if (!cj_layout_offset(&el->al, s->layout,
		    cj_tuple_known(&el->al, i), &at) || !cj_is_value(at, i))
			return false;
	return true;
}

/* The registers of A as a slot, which no one writes while products read it
 * (opt_wgmma_wait.c): the program's own, if it is one. */
static bool
hold_left(struct cj_elab *el, struct cj_span span, const struct cj_value *a,
    struct product *p)
{
	struct cj_value v = *a;

	if (a->kind != CJ_VALUE_PLACE || !is_whole(el, a->slot))
		v = cj_elab_slot(el, span, 0, cj_elab_read(el, span, *a));
	if (v.kind != CJ_VALUE_PLACE)
		return false;
	p->left.object = v.slot->object;
	return true;
}

static bool
make_left(struct cj_elab *el, struct cj_args *args, struct product *p)
{
	const struct cj_value *a = &args->at[1];
	const struct cj_tuple *shape = cj_value_shape(a);
	struct cj_span span = cj_arg_span(args, 1);
	uint32_t values = cj_wgmma_left(&p->w);

	if ((a->fragment != NULL && (a->fragment->which != CJ_OPERAND_A ||
	    strcmp(a->fragment->mma->text, p->mma->text) != 0)) ||
	    cj_value_kind_of(a) != p->w.a || shape == NULL ||
	    cj_tuple_rank(shape) < 2 || cj_tuple_rank(shape) > 3 ||
	    cj_shape_count(cj_tuple_get(shape, 0)) != values ||
	    cj_shape_count(cj_tuple_get(shape, 1)) != p->m) {
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_SHAPE, span,
		    "A is a tile in shared memory or a fragment of %u values, "
		    "%lld rows of atoms of %s, this is %s", values,
		    (long long)p->m, p->mma->text, cj_value_what(el, a)),
		    "Make it with fragment_a() or operand_a() of the same "
		    "tiled MMA.");
		return false;
	}
	p->a_in_registers = true;
	p->k = cj_tuple_rank(shape) < 3 ? 1 :
	    cj_shape_count(cj_tuple_get(shape, 2));
	return hold_left(el, span, a, p);
}

static bool
make_tile(struct cj_elab *el, struct cj_args *args, struct product *p)
{
	struct cj_int wg;

	if (!cj_smem_operand_make(el, cj_arg_span(args, 1), &args->at[1],
	    "wgmma", p->w.a, 64, p->depth, &p->a) ||
	    !warpgroup_of(el, args, p, &wg))
		return false;
	p->k = p->a.depth / p->depth;
	p->warpgroup_step = cj_int_mul(&el->sym, wg, cj_known(p->groups == 1 ?
	    0 : cj_mode_step(el, p->a.plain, 0, 64)));
	if (p->a.rows == 64 * p->groups * p->m)
		return true;
	cj_elab_error(el, CJ_DIAG_WRONG_SHAPE, cj_arg_span(args, 1),
	    "A has %lld rows, the accumulator is for %lld",
	    (long long)p->a.rows, (long long)(64 * p->groups * p->m));
	return false;
}

static bool
make_operands(struct cj_elab *el, struct cj_args *args, struct product *p)
{
	const struct cj_value *a = &args->at[1], *b = &args->at[2];

	if (a->kind == CJ_VALUE_ERROR || b->kind == CJ_VALUE_ERROR)
		return false;
	if (!cj_is_shared(el, b) || (a->kind == CJ_VALUE_TENSOR &&
	    !cj_is_shared(el, a))) {
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_PLACE, args->span,
		    "wgmma takes A in shared memory or in registers, and B in "
		    "shared memory; these are %s and %s",
		    cj_value_what(el, a), cj_value_what(el, b)),
		    "Copy tiles to shared memory first, by tma_load() into "
		    "stages of a pipeline or by cp_async(); mma_sync() takes "
		    "registers alone.");
		return false;
	}
	if (!(cj_is_shared(el, a) ? make_tile : make_left)(el, args, p) ||
	    !cj_smem_operand_make(el, cj_arg_span(args, 2), b, "wgmma",
	    p->w.b, p->w.n, p->w.k, &p->b))
		return false;
	if (p->b.rows == p->w.n * p->n && p->b.depth == p->k * p->w.k)
		return true;
	cj_mma_help_sparse(el, cj_elab_report(el, CJ_DIAG_WRONG_SHAPE,
	    cj_arg_span(args, 2), "B is %lld x %lld; A and the accumulator are "
	    "for %lld x %lld", (long long)p->b.rows, (long long)p->b.depth,
	    (long long)(p->w.n * p->n), (long long)(p->k * p->w.k)), p->mma);
	return false;
}

/* The words of a sparse A, one by one; false: reported. */
static bool
find_metadata(struct cj_elab *el, struct cj_args *args, struct product *p)
{
	uint32_t each = p->w.selectors, count, i;
	cj_ref all, *at;

	if (!cj_elab_metadata(el, args, p->mma, each, (uint32_t)p->m,
	    (uint32_t)p->k, &all))
		return false;
	if (each == 0)
		return true;
	count = (uint32_t)p->m * (((uint32_t)p->k + each - 1) / each);
	at = CJ_NEWS(el->arena, cj_ref, count);
	for (i = 0; i < count; i++)
		at[i] = cj_elab_permute(el, all, &i, 1);
	p->metadata = at;
	return true;
}

/* Product (m, n, k) of the instructions. */
static void
multiply_one(struct cj_elab *el, struct product *p, const int64_t at[3],
    cj_ref adds)
{
	struct cj_access sum = { .object = p->acc->object };
	unsigned count = 0;
	cj_ref refs[4];

	sum.position = (uint32_t)((at[1] * p->m + at[0]) * (p->w.n / 2));
	p->w.sum = cj_module_access(el->m, &sum);
	if (p->a_in_registers) {
		p->left.position = (uint32_t)((at[2] * p->m + at[0]) *
		    cj_wgmma_left(&p->w));
		p->w.a_at = cj_module_access(el->m, &p->left);
	} else {
		refs[count++] = cj_smem_operand_offset(el, &p->a,
		    p->warpgroup_step, at[0] * 64 * p->groups,
		    at[2] * p->depth);
	}
	refs[count++] = cj_smem_operand_offset(el, &p->b, cj_known(0),
	    at[1] * p->w.n, at[2] * p->w.k);
	if (p->w.selectors != 0) {
		p->w.selector = (uint32_t)at[2] % p->w.selectors;
		refs[count++] = p->metadata[at[2] / p->w.selectors * p->m +
		    at[0]];
	}
	if (adds != 0)
		refs[count++] = adds;
	cj_emit(&el->em->b, CJ_OP_WGMMA, 0, cj_module_wgmma(el->m, &p->w),
	    refs, count);
}

static void
multiply(struct cj_elab *el, struct product *p, cj_ref first)
{
	int64_t at[3];

	p->w.a_at = p->a.access;
	p->w.b_at = p->b.access;
	p->w.a_desc = p->a.desc;
	p->w.b_desc = p->b.desc;
	for (at[2] = 0; at[2] < p->k; at[2]++)
		for (at[1] = 0; at[1] < p->n; at[1]++)
			for (at[0] = 0; at[0] < p->m; at[0]++)
				multiply_one(el, p, at, at[2] == 0 ? first :
				    0);
}

struct cj_value
cj_elab_gemm_wgmma(struct cj_elab *el, struct cj_args *args,
    const struct cj_mma_value *mma)
{
	const struct cj_value *e = cj_arg_named(el, args, "accumulate");
	struct product *p = CJ_NEW(el->arena, struct product);
	bool known = true, truth = true;
	const char *why;
	cj_ref adds = 0;

	p->mma = mma;
	why = cj_wgmma_find(el->m->arena, name_of(el, mma->atom,
	    args->at[1].kind == CJ_VALUE_TENSOR ? "SS" : "RS"), &p->w);
	if (why != NULL)
		cj_bug(el->recover, "%s", why);
	p->depth = cj_wgmma_left(&p->w) * 2;
	if (!check_groups(el, args, p) || !cj_elab_has_warpgroups(el,
	    args->span, 128 * p->groups) || !check_acc(el, args, p) ||
	    !make_operands(el, args, p) || !find_metadata(el, args, p))
		return cj_value_error();
	if (e != NULL && !cj_elab_condition(el, args->span, *e, &known,
	    &truth, &adds))
		return cj_value_error();
	if (known && !truth)
		adds = cj_emit_bool(&el->em->b, false);
	cj_elab_meet(el, 128, "gemm() by wgmma");
	cj_emit0(&el->em->b, CJ_OP_WGMMA_FENCE, 0, 0);
	multiply(el, p, adds);
	cj_emit0(&el->em->b, CJ_OP_WGMMA_COMMIT, 0, 0);
	return cj_value_none();
}
