/*
 * Operands of gemm(): registers, or a whole tile in shared memory of which
 * each thread reads what it needs, step by step along K.
 *
 * Rows of 16 bytes come by ldmatrix: along K as they are, along M or N
 * transposed. What has no such rows is read element by element.
 */
#include "elab_access.h"
#include "elab_tiled.h"

bool
cj_steps_are_tile(const struct cj_elab *el, const struct cj_value *v)
{
	return v->kind == CJ_VALUE_TENSOR && v->fragment == NULL &&
	    cj_layout_rank(v->tensor->layout) == 2 &&
	    el->m->objects.at[v->tensor->object].kind == CJ_OBJECT_SHARED;
}

static bool
has_threads(struct cj_elab *el, const struct cj_steps *s)
{
	struct cj_int have = cj_int_mul(&el->sym, cj_int_mul(&el->sym,
	    el->block_extent[0], el->block_extent[1]), el->block_extent[2]);
	struct cj_int need = cj_layout_size(&el->al, s->mma->tiled.vmnk);

	if (cj_int_equal(&el->sym, have, need) == CJ_YES)
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_WRONG_SHAPE, s->span,
	    "an operand in shared memory is read by all threads of the block, "
	    "and the MMA has %lld of them: block(size(mma)) is needed",
	    (long long)need.value),
	    "Or give the operand in registers: partition_a(mma, tile, "
	    "thread).");
	return false;
}

/* ---- by ldmatrix --------------------------------------------------------- */

/* Does the mode run through memory with stride 1? */
static bool
is_unit(const struct cj_layout *l, uint32_t mode)
{
	const struct cj_tuple *s = cj_tuple_get(l->stride, mode);

	while (!cj_is_leaf(s) && s->rank > 0)
		s = s->at[0];
	return s->kind == CJ_TUPLE_INT && cj_is_value(s->value, 1);
}

static bool
has_rows(struct cj_elab *el, const struct cj_tensor *t)
{
	struct cj_pieces p;

	return cj_pieces_make(el, &p, t->span, t) && cj_pieces_are_rows(&p);
}

/* Registers as the copy sees a fragment; NULL: it does not fit. */
static const struct cj_layout *
copy_order(struct cj_elab *el, const struct cj_steps *s,
    const struct cj_tiled_copy *copy)
{
	const struct cj_layout *l = cj_layout_make(&el->al, s->shape, NULL);

	l = l == NULL ? NULL : cj_tiled_copy_retile_of(&el->al, copy,
	    &s->mma->tiled, s->which, l);
	if (l == NULL || cj_layout_rank(l) != 3 || cj_shape_count(
	    cj_tuple_get(l->shape, 2)) != cj_shape_count(
	    cj_tuple_get(s->shape, 2)))
		return NULL;
	return l;
}

static bool
try_matrices(struct cj_elab *el, struct cj_steps *s,
    const struct cj_tensor *tile, uint32_t count, bool transposed)
{
	struct cj_copy_value *c = CJ_NEW(el->arena, struct cj_copy_value);
	struct cj_copy_atom atom;
	struct cj_value part;

	c->atom = cj_atom_ldmatrix(el, count, transposed);
	c->bits = cj_kind_bits(tile->element);
	c->text = c->atom->text;
	if (!cj_copy_atom_values(&el->al, &c->atom->copy, (int)c->bits,
	    &atom) || !cj_tiled_copy_for_mma(&el->al, &atom, &s->mma->tiled,
	    s->which, &c->tiled))
		return false;
	s->order = copy_order(el, s, &c->tiled);
	if (s->order == NULL)
		return false;
	part = cj_copy_partition_source(el, s->span, c, tile,
	    cj_elab_thread_number(el));
	if (part.kind == CJ_VALUE_ERROR || !has_rows(el, part.tensor))
		return false;
	s->copy = c;
	s->part = part.tensor;
	return true;
}

static bool
find_matrices(struct cj_elab *el, struct cj_steps *s,
    const struct cj_tensor *tile)
{
	unsigned bits = cj_kind_bits(tile->element);
	bool along_k = is_unit(tile->layout, 1);
	uint32_t count;

	if (s->mma->atom->use != CJ_ATOM_MMA_SYNC || tile->is_guarded ||
	    (!along_k && (bits != 16 || !is_unit(tile->layout, 0))) ||
	    (bits != 8 && bits != 16 && bits != 32))
		return false;
	for (count = 4; count >= 1; count /= 2)
		if (try_matrices(el, s, tile, count, !along_k))
			return true;
	return false;
}

/* ---- steps --------------------------------------------------------------- */

bool
cj_steps_make(struct cj_elab *el, struct cj_steps *s,
    const struct cj_tensor *tile)
{
	struct cj_value part;

	if (!has_threads(el, s))
		return false;
	if (!cj_tuple_is_known(tile->layout->shape)) {
		cj_elab_error(el, CJ_DIAG_NOT_KNOWN, s->span,
		    "the extents of an operand must be known");
		return false;
	}
	if (!cj_mma_tile_divides(el, s->span, s->mma, s->which,
	    tile->layout->shape))
		return false;
	s->shape = cj_tiled_mma_partition_shape(&el->al, &s->mma->tiled,
	    s->which, tile->layout->shape);
	if (s->shape == NULL) {
		cj_elab_refused(el, s->span, "gemm");
		return false;
	}
	s->step = cj_shape_count(cj_tuple_get(s->shape, 0)) *
	    cj_shape_count(cj_tuple_get(s->shape, 1));
	if (find_matrices(el, s, tile))
		return true;
	part = cj_mma_partition(el, s->span, s->mma, s->which, tile,
	    cj_elab_thread_number(el));
	s->part = part.kind == CJ_VALUE_ERROR ? NULL : part.tensor;
	return s->part != NULL;
}

static const struct cj_tuple *
step_coord(struct cj_elab *el, uint32_t k)
{
	const struct cj_tuple *at[3];

	at[0] = at[1] = cj_tuple_any(&el->al);
	at[2] = cj_tuple_known(&el->al, k);
	return cj_tuple_make(&el->al, at, 3);
}

/* From the copy's order of a step to the fragment's. */
static cj_ref
reorder(struct cj_elab *el, const struct cj_steps *s, uint32_t k, cj_ref r)
{
	uint32_t *at = CJ_NEWS(el->arena, uint32_t, s->step), i;
	const struct cj_layout *rest;
	const struct cj_tuple *first;
	struct cj_int o;

	if (!cj_layout_slice(&el->al, s->order, step_coord(el, k), &rest,
	    &first))
		cj_bug(el->recover, "%s", el->al.why.text);
	for (i = 0; i < s->step; i++) {
		if (!cj_layout_offset(&el->al, rest, cj_tuple_known(&el->al,
		    i), &o))
			cj_bug(el->recover, "%s", el->al.why.text);
		o = cj_int_add(&el->sym, o, first->value);
		assert(o.value >= (int64_t)k * s->step &&
		    o.value < (int64_t)(k + 1) * s->step);
		at[o.value - (int64_t)k * s->step] = i;
	}
	return cj_elab_permute(el, r, at, s->step);
}

cj_ref
cj_steps_at(struct cj_elab *el, const struct cj_steps *s, uint32_t k)
{
	static const struct cj_how plain;
	struct cj_value part, v;
	cj_ref r;

	if (s->whole != 0)
		return cj_elab_slice(el, s->whole, k * s->step, s->step);
	part = cj_tensor_slice(el, s->span, s->part, step_coord(el, k));
	if (part.kind == CJ_VALUE_ERROR)
		return 0;
	if (s->copy == NULL) {
		v = cj_tensor_load(el, s->span, part.tensor, &plain);
		return v.kind == CJ_VALUE_ERROR ? 0 :
		    cj_elab_ref(el, &v, CJ_KIND_VOID);
	}
	r = cj_copy_load_matrices(el, s->span, s->copy, part.tensor);
	return r == 0 ? 0 : reorder(el, s, k, r);
}
