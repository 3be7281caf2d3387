/*
 * Tiled MMAs: an atom repeated over threads and values.
 *
 * An operand is a pair of the modes M, N, K. A tensor is cut into permuted
 * tiles, those into atoms, an atom by its TV layout into threads and values,
 * and the atoms over the threads' grid: four divides and a composition.
 */
#include "atom.h"

#include "layout_priv.h"

/* The modes of an operand: A is (M, K), B is (N, K), C is (M, N). */
static void
modes_of(enum cj_operand which, uint32_t *first, uint32_t *second)
{
	*first = which == CJ_OPERAND_B ? 1 : 0;
	*second = which == CJ_OPERAND_C ? 1 : 2;
}

static const struct cj_layout *
atom_tv(const struct cj_mma_atom *atom, enum cj_operand which)
{
	switch (which) {
	case CJ_OPERAND_A:
		return atom->a;
	case CJ_OPERAND_B:
		return atom->b;
	case CJ_OPERAND_C:
		break;
	}
	return atom->c;
}

static const struct cj_tuple *
pair(struct cj_algebra *al, const struct cj_tuple *a,
    const struct cj_tuple *b)
{
	const struct cj_tuple *both[2] = { a, b };

	return a == NULL || b == NULL ? NULL : cj_tuple_make(al, both, 2);
}

static struct cj_int
size_of_mode(struct cj_algebra *al, const struct cj_tuple *shape,
    uint32_t mode)
{
	return cj_tuple_product(al, cj_tuple_get(shape, mode));
}

/* The atom's extent in a mode of an operand: of a sparse A half is stored. */
static struct cj_int
atom_extent(struct cj_algebra *al, const struct cj_mma_atom *atom,
    enum cj_operand which, uint32_t mode)
{
	struct cj_int n = size_of_mode(al, atom->shape, mode);

	return which == CJ_OPERAND_A && mode == 2 && atom->sparsity > 1
	    ? cj_int_div(al->sym, n, cj_known(atom->sparsity)) : n;
}

/* n:1 as a tile */
static const struct cj_tuple *
column(struct cj_algebra *al, struct cj_int n)
{
	return cj_tuple_layout(al, cj_layout_make(al, cj_tuple_int(al, n),
	    NULL));
}

bool
cj_tiled_mma_make(struct cj_algebra *al, const struct cj_mma_atom *atom,
    const struct cj_layout *atoms, const struct cj_tuple *permutation,
    struct cj_tiled_mma *out)
{
	const struct cj_tuple *any = cj_tuple_any(al);

	out->atom = *atom;
	out->atoms = cj_layout_append_to(al, atoms, 3, cj_layout_unit(al));
	if (permutation == NULL)
		permutation = pair(al, any, any);
	while (permutation != NULL && cj_tuple_rank(permutation) < 3)
		permutation = cj_tuple_append(al, permutation, any);
	out->permutation = permutation;
	if (out->atoms == NULL || permutation == NULL
	    || cj_layout_rank(out->atoms) != 3
	    || cj_tuple_rank(permutation) != 3) {
		cj_refuse(al, CJ_REFUSED_RANK, NULL,
		    "atoms %s and permutation do not have three modes, for"
		    " M, N and K", cj_layout_text(al, atoms));
		return false;
	}
	out->vmnk = cj_layout_product(al, CJ_PRODUCT_TILED, atom->threads,
	    cj_tuple_layout(al, out->atoms));
	assert(out->vmnk == NULL || cj_layout_rank(out->vmnk) == 4);
	return out->vmnk != NULL;
}

/* The permutation of mode M, N or K; without one, all atoms side by side. */
static const struct cj_tuple *
permutation_of(struct cj_algebra *al, const struct cj_tiled_mma *mma,
    enum cj_operand which, uint32_t mode)
{
	const struct cj_tuple *p = cj_tuple_get(mma->permutation, mode);

	assert(mode < 3 && p != NULL);
	if (p->kind != CJ_TUPLE_ANY)
		return p;
	return cj_tuple_int(al, cj_int_mul(al->sym, atom_extent(al,
	    &mma->atom, which, mode), size_of_mode(al, mma->vmnk->shape,
	    mode + 1)));
}

const struct cj_tuple *
cj_tiled_mma_tile(struct cj_algebra *al, const struct cj_tiled_mma *mma)
{
	struct cj_list list;
	uint32_t i;

	cj_list_init(&list);
	for (i = 0; i < 3; i++)
		cj_list_add(al, &list, cj_tuple_int(al, cj_tuple_product(al,
		    permutation_of(al, mma, CJ_OPERAND_B, i))));
	return cj_list_tuple(al, &list);
}

const struct cj_tuple *
cj_tiled_mma_operand(struct cj_algebra *al, const struct cj_tiled_mma *mma,
    enum cj_operand which)
{
	uint32_t i, j;

	modes_of(which, &i, &j);
	return pair(al, cj_tuple_int(al, cj_tuple_product(al,
	    permutation_of(al, mma, which, i))), cj_tuple_int(al,
	    cj_tuple_product(al, permutation_of(al, mma, which, j))));
}

const struct cj_layout *
cj_tiled_mma_thrfrg(struct cj_algebra *al, const struct cj_tiled_mma *mma,
    enum cj_operand which, const struct cj_layout *tensor)
{
	const struct cj_tuple *any = cj_tuple_any(al);
	const struct cj_layout *l;
	uint32_t i, j;

	modes_of(which, &i, &j);
	if (cj_layout_rank(tensor) < 2)
		return cj_refuse(al, CJ_REFUSED_RANK, NULL,
		    "an operand has two modes or more, %s has one",
		    cj_layout_text(al, tensor));
	l = cj_layout_divide(al, CJ_DIVIDE_LOGICAL, tensor, pair(al,
	    permutation_of(al, mma, which, i), permutation_of(al, mma, which,
	    j)));
	if (l == NULL)
		return NULL;
	l = cj_layout_divide(al, CJ_DIVIDE_ZIPPED, l, pair(al,
	    column(al, atom_extent(al, &mma->atom, which, i)),
	    column(al, atom_extent(al, &mma->atom, which, j))));
	if (l == NULL)
		return NULL;
	assert(cj_layout_rank(l) == 2 && "an atom, and all atoms");
	l = cj_layout_compose_tiler(al, l, pair(al, cj_tuple_layout(al,
	    atom_tv(&mma->atom, which)), any));
	if (l == NULL)
		return NULL;
	return cj_layout_divide(al, CJ_DIVIDE_ZIPPED, l, pair(al, any,
	    pair(al, column(al, size_of_mode(al, mma->vmnk->shape, i + 1)),
	    column(al, size_of_mode(al, mma->vmnk->shape, j + 1)))));
}

/* From a thread's index to its coordinate in VMNK. */
static const struct cj_layout *
thread_coords(struct cj_algebra *al, const struct cj_layout *vmnk)
{
	const struct cj_layout *both[2], *l, *ids;
	const struct cj_tuple *one = cj_tuple_known(al, 1);
	const struct cj_tuple *zero = cj_tuple_known(al, 0);

	both[0] = vmnk;
	both[1] = cj_layout_complement(al, vmnk, NULL);
	l = cj_layout_concat(al, both, 2);
	l = l == NULL ? NULL : cj_layout_right_inverse(al, l);
	ids = cj_layout_of(al, pair(al, cj_tuple_int(al, cj_layout_size(al,
	    vmnk)), one), pair(al, one, zero));
	return l == NULL ? NULL : cj_layout_compose(al, ids, l);
}

/* The threads of the mode that the operand does not have read the same. */
static const struct cj_tuple *
broadcast_tile(struct cj_algebra *al, const struct cj_tiled_mma *mma,
    enum cj_operand which)
{
	const struct cj_tuple *any = cj_tuple_any(al);
	const struct cj_layout *l;
	bool is_a = which == CJ_OPERAND_A;

	l = cj_layout_of(al, pair(al, cj_tuple_int(al, size_of_mode(al,
	    mma->vmnk->shape, 1)), cj_tuple_int(al, size_of_mode(al,
	    mma->vmnk->shape, 2))), pair(al, cj_tuple_known(al, is_a),
	    cj_tuple_known(al, !is_a)));
	return pair(al, pair(al, any, pair(al, cj_tuple_layout(al, l), any)),
	    any);
}

const struct cj_layout *
cj_tiled_mma_tv_of(struct cj_algebra *al, const struct cj_tiled_mma *mma,
    enum cj_operand which, const struct cj_tuple *shape)
{
	const struct cj_layout *l = cj_layout_make(al, shape, NULL), *threads;

	l = l == NULL ? NULL : cj_tiled_mma_thrfrg(al, mma, which, l);
	if (l != NULL && which != CJ_OPERAND_C)
		l = cj_layout_compose_tiler(al, l, broadcast_tile(al, mma,
		    which));
	threads = thread_coords(al, mma->vmnk);
	if (l == NULL || threads == NULL)
		return NULL;
	return cj_layout_compose_tiler(al, l, pair(al,
	    cj_tuple_layout(al, threads), cj_tuple_any(al)));
}

const struct cj_layout *
cj_tiled_mma_tv(struct cj_algebra *al, const struct cj_tiled_mma *mma,
    enum cj_operand which)
{
	return cj_tiled_mma_tv_of(al, mma, which, cj_tiled_mma_operand(al,
	    mma, which));
}

/* (_, (_, ..., _)): all values, all tiles of a rank */
static const struct cj_tuple *
all_values(struct cj_algebra *al, uint32_t rank)
{
	const struct cj_tuple *any = cj_tuple_any(al), *rest = any;
	struct cj_list list;

	cj_list_init(&list);
	while (list.count < rank)
		cj_list_add(al, &list, any);
	if (rank != 1)
		rest = cj_list_tuple(al, &list);
	return pair(al, any, rest);
}

const struct cj_tuple *
cj_tiled_mma_coord(struct cj_algebra *al, const struct cj_tiled_mma *mma,
    enum cj_operand which, const struct cj_tuple *shape, struct cj_int index)
{
	const struct cj_tuple *at = cj_layout_flat_coord(al, mma->vmnk, index);
	const struct cj_tuple *thread, *rest;
	uint32_t i, j;

	if (at == NULL)
		return NULL;
	assert(cj_tuple_rank(at) == 4 && "V, M, N and K");
	modes_of(which, &i, &j);
	thread = pair(al, cj_tuple_get(at, 0), pair(al,
	    cj_tuple_get(at, i + 1), cj_tuple_get(at, j + 1)));
	rest = cj_tuple_get(cj_tuple_get(shape, 1), 1);
	return pair(al, thread, all_values(al, cj_tuple_rank(rest)));
}

const struct cj_layout *
cj_tiled_mma_partition(struct cj_algebra *al, const struct cj_tiled_mma *mma,
    enum cj_operand which, const struct cj_layout *tensor,
    struct cj_int index)
{
	const struct cj_layout *l = cj_tiled_mma_thrfrg(al, mma, which,
	    tensor);
	const struct cj_tuple *at;

	if (l == NULL)
		return NULL;
	at = cj_tiled_mma_coord(al, mma, which, l->shape, index);
	return at == NULL ? NULL : cj_layout_view(al, l, at);
}

const struct cj_tuple *
cj_tiled_mma_partition_shape(struct cj_algebra *al,
    const struct cj_tiled_mma *mma, enum cj_operand which,
    const struct cj_tuple *shape)
{
	const struct cj_layout *l = cj_layout_make(al, shape, NULL);

	l = l == NULL ? NULL : cj_tiled_mma_thrfrg(al, mma, which, l);
	l = l == NULL ? NULL : cj_layout_view(al, l, pair(al,
	    cj_tuple_known(al, 0), all_values(al, cj_tuple_rank(shape))));
	return l == NULL ? NULL : l->shape;
}

const struct cj_layout *
cj_tiled_mma_fragment(struct cj_algebra *al, enum cj_operand which,
    const struct cj_layout *partition)
{
	/* an accumulator is new; A and B follow the order of the tensor */
	if (which == CJ_OPERAND_C)
		return cj_layout_make(al, partition->shape, NULL);
	return cj_layout_fragment_like(al, partition);
}
