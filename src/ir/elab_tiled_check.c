/*
 * Can a tiled MMA or a tiled copy work at all? Its arguments when it is made,
 * and the threads of the launch where it is used: those that the block does
 * not have leave their part undone.
 */
#include "elab_tiled.h"

/* ---- arguments ----------------------------------------------------------- */

static bool
has_positive_extents(const struct cj_tuple *shape)
{
	uint32_t i;

	if (cj_is_leaf(shape))
		return shape->kind == CJ_TUPLE_INT && shape->value.value > 0;
	for (i = 0; i < shape->rank; i++)
		if (!has_positive_extents(shape->at[i]))
			return false;
	return true;
}

/* Does it give each of the numbers 0 .. size - 1 once? */
static bool
is_numbering(struct cj_elab *el, const struct cj_layout *l, int64_t size)
{
	bool *is_taken = CJ_NEWS(el->arena, bool, (size_t)size);
	int64_t *at = CJ_NEWS(el->arena, int64_t, (size_t)size + 1), i;

	if (!cj_layout_list(&el->al, l, at, (size_t)size))
		return false;
	for (i = 0; i < size; i++) {
		if (at[i] < 0 || at[i] >= size || is_taken[at[i]])
			return false;
		is_taken[at[i]] = true;
	}
	return true;
}

bool
cj_elab_check_numbering(struct cj_elab *el, struct cj_span span,
    const struct cj_layout *l, int64_t most, const char *what)
{
	int64_t size;

	if (!cj_tuple_is_known(l->shape) || !has_positive_extents(l->shape)) {
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_SHAPE, span,
		    "the layout %s of the %s has an extent that is not known "
		    "to be 1 or more", cj_layout_text(&el->al, l), what),
		    "Say how many there are along each mode; 1 where there is "
		    "no other.");
		return false;
	}
	size = cj_layout_size(&el->al, l).value;
	if (size > most) {
		cj_elab_error(el, CJ_DIAG_LIMIT, span, "the layout %s of the "
		    "%s has %lld elements, the most are %lld",
		    cj_layout_text(&el->al, l), what, (long long)size,
		    (long long)most);
		return false;
	}
	if (is_numbering(el, l, size))
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_WRONG_SHAPE, span,
	    "the layout %s of the %s does not give each of the numbers 0 to "
	    "%lld once", cj_layout_text(&el->al, l), what,
	    (long long)(size - 1)),
	    "Leave the strides out, or let each go on where another one "
	    "ends.");
	return false;
}

/* The permutation of one mode covers the atoms a whole number of times. */
static bool
check_mode(struct cj_elab *el, struct cj_span span,
    const struct cj_mma_value *m, const struct cj_tuple *p, uint32_t mode)
{
	const struct cj_tuple *vmnk = m->tiled.vmnk->shape;
	int64_t unit = cj_tuple_product(&el->al, cj_tuple_get(
	    m->tiled.atom.shape, mode)).value * cj_tuple_product(&el->al,
	    cj_tuple_get(vmnk, mode + 1)).value;
	struct cj_int have;

	if (p->kind == CJ_TUPLE_ANY)
		return true;
	if (p->kind == CJ_TUPLE_LAYOUT && !cj_elab_check_numbering(el, span,
	    p->layout, CJ_MOST_VALUES, "permutation"))
		return false;
	have = p->kind == CJ_TUPLE_LAYOUT ? cj_layout_size(&el->al,
	    p->layout) : cj_tuple_product(&el->al, p);
	if (cj_is_known(have) && have.value > 0 && have.value % unit == 0)
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_WRONG_SHAPE, span,
	    "the permutation of %c is %s elements, which is no multiple of "
	    "the atoms' %lld", "MNK"[mode], cj_is_known(have) ?
	    cj_printf(el->arena, "%lld", (long long)have.value) : "of an "
	    "unknown number of", (long long)unit),
	    "The atoms along %c have %lld elements together: take that or a "
	    "multiple, or \"_\".", "MNK"[mode], (long long)unit);
	return false;
}

bool
cj_elab_check_permutation(struct cj_elab *el, struct cj_span span,
    const struct cj_mma_value *m)
{
	uint32_t i;

	for (i = 0; i < 3; i++)
		if (!check_mode(el, span, m, cj_tuple_get(
		    m->tiled.permutation, i), i))
			return false;
	return true;
}

/* ---- the values of a thread ---------------------------------------------- */

/* The widest atom of the same kind whose elements go into so many. */
static const char *
narrower(struct cj_elab *el, const struct cj_copy_value *c, enum cj_kind k,
    int64_t each, int64_t values)
{
	uint32_t count = c->atom->count / 2;

	if (c->atom->use == CJ_ATOM_LDMATRIX ||
	    c->atom->use == CJ_ATOM_STMATRIX) {
		while (count != 0 && values % (each * count) != 0)
			count /= 2;
		return count == 0 ? cj_printf(el->arena, "universal_copy(%s)",
		    cj_kind_text(k)) : cj_atom_matrices_text(el, c->atom,
		    count);
	}
	while (count > 1 && values % count != 0)
		count /= 2;
	if (c->atom->use == CJ_ATOM_CP_ASYNC && count * c->bits >= 32)
		return cj_printf(el->arena, "cp_async(%s, %u)",
		    cj_kind_text(k), (unsigned)count);
	return count > 1 ? cj_printf(el->arena, "vector(%s, %u)",
	    cj_kind_text(k), (unsigned)count) : cj_printf(el->arena,
	    "universal_copy(%s)", cj_kind_text(k));
}

bool
cj_copy_values_fit(struct cj_elab *el, struct cj_args *args,
    const struct cj_copy_value *c, const struct cj_copy_atom *atom,
    enum cj_kind k, int64_t values)
{
	int64_t at_once = cj_tuple_product(&el->al, cj_tuple_get(
	    atom->reference->shape, 1)).value;

	if (values % at_once == 0)
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_WRONG_SHAPE, cj_arg_span(args, 0),
	    "%s moves %lld elements of a thread at once, it has %lld here",
	    c->atom->text, (long long)at_once, (long long)values),
	    "Take %s, or give a thread a multiple of %lld%s.", narrower(el, c,
	    k, at_once / c->atom->count, values), (long long)at_once,
	    args->count == 2 ? ", by a permutation of the MMA that goes "
	    "further" : "");
	return false;
}

/* ---- tiles --------------------------------------------------------------- */

static struct cj_int
tile_extent(struct cj_elab *el, const struct cj_tuple *t)
{
	return t->kind == CJ_TUPLE_LAYOUT ? cj_layout_size(&el->al,
	    t->layout) : cj_tuple_product(&el->al, t);
}

bool
cj_copy_tile_divides(struct cj_elab *el, struct cj_span span,
    const struct cj_copy_value *c, const struct cj_tuple *shape)
{
	const struct cj_tuple *tiler = c->tiled.tiler;
	struct cj_int extent, tile;
	uint32_t k;

	for (k = 0; k < cj_tuple_rank(tiler) && k < cj_tuple_rank(shape);
	    k++) {
		extent = cj_tuple_product(&el->al, cj_tuple_get(shape, k));
		tile = tile_extent(el, cj_tuple_get(tiler, k));
		if (!cj_is_known(extent) || !cj_is_known(tile) ||
		    extent.value % tile.value == 0)
			continue;
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_SHAPE, span,
		    "the tile of %s has %lld elements along mode %u, which "
		    "do not divide the tensor's %lld", c->text,
		    (long long)tile.value, k, (long long)extent.value),
		    "Take fewer threads or values along this mode, or a "
		    "larger tensor and guard() what is outside.");
		return false;
	}
	return true;
}

/* ---- the threads of the launch ------------------------------------------- */

int64_t
cj_elab_block_threads(const struct cj_elab *el)
{
	return cj_elab_threads_here(el);
}

bool
cj_elab_has_threads(struct cj_elab *el, struct cj_span span, int64_t need,
    const char *what)
{
	int64_t have = cj_elab_block_threads(el);

	if (el->time != CJ_TIME_DEVICE || have == 0 || have >= need)
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_WRONG_SHAPE, span,
	    "%s is for %lld threads, the %s has %lld", what,
	    (long long)need, el->role != NULL ? "role" : "block",
	    (long long)have), "Nobody would do the part of "
	    "the others: launch block(%lld), or let it have fewer threads.",
	    (long long)need);
	return false;
}

/* Is there a way by which not all of the block may come here? */
static bool
may_be_some(const struct cj_elab *el)
{
	const struct cj_module *m = el->m;
	cj_region r = el->em->b.region;
	cj_ref i;

	for (; r != 0; r = m->regions.at[r].parent)
		if (m->regions.at[r].owner != 0 && cj_inst(m,
		    m->regions.at[r].owner)->op == CJ_OP_IF)
			return true;
	for (i = 1; i < m->insts.len; i++)
		if (cj_inst(m, i)->op == CJ_OP_RETURN)
			return true;
	return false;
}

bool
cj_elab_has_warpgroups(struct cj_elab *el, struct cj_span span, int64_t need)
{
	int64_t have = cj_elab_block_threads(el);

	if (!cj_elab_has_threads(el, span, need, "this product by wgmma"))
		return false;
	if (have % 128 == 0 || may_be_some(el))
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_WRONG_SHAPE, span,
	    "whole warpgroups of 128 threads multiply by wgmma, and all %lld "
	    "threads of the block come here", (long long)have),
	    "Launch a multiple of 128 threads, or put the product under a "
	    "condition that holds for whole warpgroups.");
	return false;
}
