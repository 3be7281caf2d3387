/*
 * copy(c, src, dst): what a thread has of both sides, moved as the atom says.
 *
 * Modes behind the first must have the same extents on both sides; the first
 * holds the values of one round, which an atom may hand to other threads.
 */
#include "elab_tiled.h"

/* ---- both sides ---------------------------------------------------------- */

static const char *
shape_text(struct cj_elab *el, const struct cj_tuple *shape)
{
	struct cj_strbuf out;

	cj_strbuf_init(&out, el->arena);
	cj_tuple_print(&out, &el->sym, shape, CJ_STYLE_LANGUAGE);
	return out.text;
}

static const char *
side_text(struct cj_elab *el, const struct cj_value *v)
{
	struct cj_strbuf out;

	if (v->kind != CJ_VALUE_TENSOR)
		return shape_text(el, cj_value_shape(v));
	cj_strbuf_init(&out, el->arena);
	cj_layout_print(&out, &el->sym, v->tensor->layout, CJ_STYLE_LANGUAGE);
	return out.text;
}

static struct cj_int
mode_size(struct cj_elab *el, const struct cj_tuple *shape, uint32_t mode)
{
	return cj_tuple_product(&el->al, cj_tuple_get(shape, mode));
}

/* The first mode, from `first` on, in which the extents differ. */
static uint32_t
disagreement(struct cj_elab *el, const struct cj_tuple *a,
    const struct cj_tuple *b, uint32_t first)
{
	uint32_t rank = cj_tuple_rank(a), i;

	if (rank != cj_tuple_rank(b))
		return rank < cj_tuple_rank(b) ? rank : cj_tuple_rank(b);
	for (i = first; i < rank; i++)
		if (cj_int_equal(&el->sym, mode_size(el, a, i),
		    mode_size(el, b, i)) != CJ_YES)
			return i;
	return UINT32_MAX;
}

static bool
fit_together(struct cj_elab *el, struct cj_span span,
    const struct cj_value *src, const struct cj_value *dst, uint32_t first)
{
	const struct cj_tuple *a = cj_value_shape(src);
	const struct cj_tuple *b = cj_value_shape(dst);
	uint32_t at = disagreement(el, a, b, first);
	struct cj_diag *d;

	if (at == UINT32_MAX)
		return true;
	d = cj_elab_report(el, CJ_DIAG_WRONG_SHAPE, span,
	    "source and destination differ in mode %u: %s and %s", at,
	    side_text(el, src), side_text(el, dst));
	cj_help(d, "Cut both with the same tiled copy, partition_s() and "
	    "partition_d(), from tiles of the same extents.");
	return false;
}

static bool
check_side(struct cj_elab *el, struct cj_args *args, uint32_t i,
    const struct cj_copy_value *c)
{
	const struct cj_value *v = &args->at[i];
	enum cj_kind k = cj_value_kind_of(v);

	if (v->kind == CJ_VALUE_ERROR)
		return false;
	if (cj_value_shape(v) == NULL) {
		cj_elab_error(el, CJ_DIAG_WRONG_KIND, cj_arg_span(args, i),
		    "copy moves tensors and fragments, this is %s",
		    cj_value_what(el, v));
		return false;
	}
	if (cj_kind_bits(k) == c->bits)
		return true;
	cj_elab_error(el, CJ_DIAG_WRONG_KIND, cj_arg_span(args, i),
	    "%s moves elements of %u bits, these are %s", c->atom->text,
	    c->bits, cj_kind_text(k));
	return false;
}

static bool
is_space(const struct cj_elab *el, const struct cj_value *v, bool is_shared)
{
	return v->kind == CJ_VALUE_TENSOR && is_shared ==
	    (el->m->objects.at[v->tensor->object].kind == CJ_OBJECT_SHARED);
}

static const char *
space_text(struct cj_elab *el, const struct cj_value *v)
{
	return v->kind != CJ_VALUE_TENSOR ? "in registers" :
	    is_space(el, v, true) ? "in shared memory" : "in global memory";
}

/* An atom that moves between two kinds of memory; false: reported. */
static bool
check_spaces(struct cj_elab *el, struct cj_args *args,
    const struct cj_copy_value *c, bool ok, const char *from,
    const char *to)
{
	if (ok)
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_WRONG_PLACE, args->span,
	    "%s copies from %s to %s; here the source lies %s, the "
	    "destination %s", c->atom->text, from, to,
	    space_text(el, &args->at[1]), space_text(el, &args->at[2])),
	    "vector(T, n) and universal_copy(T) copy between any two.");
	return false;
}

/* ---- through registers --------------------------------------------------- */

/* The same registers, in the nesting of another shape of the same sizes. */
static struct cj_value
reshaped(struct cj_elab *el, struct cj_value v, const struct cj_tuple *shape)
{
	return cj_value_regs(el, (enum cj_kind)v.scalar, shape,
	    cj_elab_ref(el, &v, CJ_KIND_VOID));
}

static void
put(struct cj_elab *el, struct cj_span span, const struct cj_value *dst,
    struct cj_value v, const struct cj_how *how)
{
	if (dst->kind == CJ_VALUE_TENSOR)
		cj_tensor_store(el, span, dst->tensor, v, how);
	else
		cj_elab_assign(el, span, *dst, v);
}

static struct cj_value
through_registers(struct cj_elab *el, struct cj_args *args,
    const struct cj_copy_value *c)
{
	const struct cj_value *src = &args->at[1], *dst = &args->at[2];
	struct cj_how how = { .scope = CJ_MEMORY_GPU, .who = c->atom->text };
	struct cj_value v;

	if (c->atom->use == CJ_ATOM_VECTOR)
		how.width = c->atom->count;
	if (!fit_together(el, args->span, src, dst, 0))
		return cj_value_error();
	v = src->kind == CJ_VALUE_TENSOR ? cj_tensor_load(el,
	    cj_arg_span(args, 1), src->tensor, &how) :
	    cj_elab_read(el, cj_arg_span(args, 1), *src);
	v = cj_elab_coerce(el, args->span, cj_value_kind_of(dst), v);
	if (v.kind == CJ_VALUE_ERROR)
		return v;
	put(el, cj_arg_span(args, 2), dst, reshaped(el, v,
	    cj_value_shape(dst)), &how);
	return cj_value_none();
}

/* ---- cp.async ------------------------------------------------------------ */

static struct cj_value
asynchronous(struct cj_elab *el, struct cj_args *args,
    const struct cj_copy_value *c)
{
	const struct cj_value *src = &args->at[1], *dst = &args->at[2];
	struct cj_async_how how = { .count = c->atom->count,
	    .cache = c->atom->cache };

	if (!check_spaces(el, args, c, is_space(el, src, false) &&
	    is_space(el, dst, true), "global", "shared memory") ||
	    !fit_together(el, args->span, src, dst, 0))
		return cj_value_error();
	return cj_tensor_copy_async(el, args->span, src->tensor, dst->tensor,
	    &how) ? cj_value_none() : cj_value_error();
}

/* ---- the built-in -------------------------------------------------------- */

struct cj_value
cj_builtin_copy(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_copy_value *c = cj_arg_copy(el, args, 0);

	(void)row;
	if (c == NULL || !check_side(el, args, 1, c) ||
	    !check_side(el, args, 2, c))
		return cj_value_error();
	switch (c->atom->use) {
	case CJ_ATOM_UNIVERSAL: case CJ_ATOM_VECTOR:
		return through_registers(el, args, c);
	case CJ_ATOM_CP_ASYNC:
		return asynchronous(el, args, c);
	case CJ_ATOM_LDMATRIX: case CJ_ATOM_STMATRIX:
	case CJ_ATOM_FMA: case CJ_ATOM_MMA_SYNC:
		break;
	}
	return cj_elab_error(el, CJ_DIAG_UNSUPPORTED, args->span,
	    "copies by %s are not supported by this version", c->atom->text);
}
