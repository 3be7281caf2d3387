/*
 * The operations of tiled MMAs and copies, from the arguments of their lines.
 */
#include "layout_check.h"

#include "atom.h"

static bool
give(struct cj_datum *out, const struct cj_layout *l)
{
	*out = cj_datum_layout(l);
	return l != NULL;
}

static bool
give_tuple(struct cj_datum *out, const struct cj_tuple *t)
{
	*out = cj_datum_tuple(t);
	return t != NULL;
}

static bool
is_layout(struct cj_algebra *al, const struct cj_datum *v)
{
	if (v->kind == CJ_DATUM_LAYOUT)
		return true;
	cj_refuse(al, CJ_REFUSED_KIND, NULL, "%s is not a layout", v->word);
	return false;
}

static bool
is_tuple(struct cj_algebra *al, const struct cj_datum *v)
{
	if (v->kind == CJ_DATUM_TUPLE)
		return true;
	cj_refuse(al, CJ_REFUSED_KIND, NULL, "%s is not a tuple", v->word);
	return false;
}

/* A thread: `13` or `t=13`. */
static bool
thread_of(struct cj_algebra *al, const struct cj_datum *v,
    struct cj_int *out)
{
	struct cj_datum n = *v;

	if (strncmp(v->word, "t=", 2) == 0
	    && !cj_datum_read(al, v->word + 2, strlen(v->word + 2), &n))
		return false;
	if (n.kind != CJ_DATUM_TUPLE || n.tuple->kind != CJ_TUPLE_INT) {
		cj_refuse(al, CJ_REFUSED_KIND, NULL, "%s is not a thread",
		    v->word);
		return false;
	}
	*out = n.tuple->value;
	return true;
}

/* atom, atoms (M, N, K), permutation: the first three arguments. */
static bool
mma_of(struct cj_algebra *al, const struct cj_datum *arg,
    struct cj_tiled_mma *out)
{
	struct cj_mma_atom atom;

	return cj_mma_atom_find(al, arg[0].word, &atom)
	    && is_layout(al, &arg[1]) && is_tuple(al, &arg[2])
	    && cj_tiled_mma_make(al, &atom, arg[1].layout, arg[2].tuple,
	    out);
}

/* copyop@type */
static bool
copy_of(struct cj_algebra *al, const struct cj_datum *v,
    struct cj_copy_atom *out)
{
	const char *at = strrchr(v->word, '@');
	struct cj_copy_atom atom;
	int bits = at == NULL ? 0 : cj_atom_type_bits(at + 1);

	if (bits == 0) {
		cj_refuse(al, CJ_REFUSED_KIND, NULL,
		    "%s is not an atom and a type", v->word);
		return false;
	}
	return cj_copy_atom_find(al, cj_strndup(al->arena, v->word,
	    (size_t)(at - v->word)), &atom)
	    && cj_copy_atom_values(al, &atom, bits, out);
}

/* ---- tiled MMAs -------------------------------------------------------- */

#define OPERATION(name)							\
bool									\
cj_check_##name(struct cj_algebra *al, const struct cj_datum *arg,	\
    uint32_t count, struct cj_datum *out)

OPERATION(tmma_thr_layout_vmnk)
{
	struct cj_tiled_mma mma;

	(void)count;
	return mma_of(al, arg, &mma) && give(out, mma.vmnk);
}

OPERATION(tmma_tile_shape)
{
	struct cj_tiled_mma mma;

	(void)count;
	return mma_of(al, arg, &mma)
	    && give_tuple(out, cj_tiled_mma_tile(al, &mma));
}

#define MMA_OPERAND(letter)						\
OPERATION(tmma_layout##letter##_TV)					\
{									\
	struct cj_tiled_mma mma;					\
									\
	(void)count;							\
	return mma_of(al, arg, &mma) && give(out, cj_tiled_mma_tv(al,	\
	    &mma, CJ_OPERAND_##letter));				\
}									\
									\
OPERATION(tmma_partition_##letter)					\
{									\
	struct cj_tiled_mma mma;					\
	struct cj_int thread;						\
									\
	(void)count;							\
	return mma_of(al, arg, &mma) && is_layout(al, &arg[3])		\
	    && thread_of(al, &arg[4], &thread)				\
	    && give(out, cj_tiled_mma_partition(al, &mma,		\
	    CJ_OPERAND_##letter, arg[3].layout, thread));		\
}									\
									\
OPERATION(tmma_partition_shape_##letter)				\
{									\
	struct cj_tiled_mma mma;					\
									\
	(void)count;							\
	return mma_of(al, arg, &mma) && is_tuple(al, &arg[3])		\
	    && give_tuple(out, cj_tiled_mma_partition_shape(al, &mma,	\
	    CJ_OPERAND_##letter, arg[3].tuple));			\
}									\
									\
OPERATION(tmma_fragment_##letter)					\
{									\
	struct cj_tiled_mma mma;					\
	const struct cj_layout *l;					\
									\
	(void)count;							\
	if (!mma_of(al, arg, &mma) || !is_layout(al, &arg[3]))		\
		return false;						\
	l = cj_tiled_mma_partition(al, &mma, CJ_OPERAND_##letter,	\
	    arg[3].layout, cj_known(0));				\
	return l != NULL && give(out, cj_tiled_mma_fragment(al,		\
	    CJ_OPERAND_##letter, l));					\
}

MMA_OPERAND(A)
MMA_OPERAND(B)
MMA_OPERAND(C)

/* ---- tiled copies ------------------------------------------------------ */

/* copyop@type, thread layout, value layout */
static bool
tiled_of(struct cj_algebra *al, const struct cj_datum *arg,
    struct cj_tiled_copy *out)
{
	struct cj_copy_atom atom;

	return copy_of(al, &arg[0], &atom) && is_layout(al, &arg[1])
	    && is_layout(al, &arg[2])
	    && cj_tiled_copy_make(al, &atom, arg[1].layout, arg[2].layout,
	    out);
}

static bool
partition(struct cj_algebra *al, const struct cj_datum *arg, enum cj_side side,
    struct cj_datum *out)
{
	struct cj_tiled_copy copy;
	struct cj_int thread;

	return tiled_of(al, arg, &copy) && is_layout(al, &arg[3])
	    && thread_of(al, &arg[4], &thread)
	    && give(out, cj_tiled_copy_partition(al, &copy, side,
	    arg[3].layout, thread));
}

OPERATION(tcopy_partition_S)
{
	(void)count;
	return partition(al, arg, CJ_SIDE_SOURCE, out);
}

OPERATION(tcopy_partition_D)
{
	(void)count;
	return partition(al, arg, CJ_SIDE_TARGET, out);
}

#define TILED(prefix, maker)						\
OPERATION(prefix##_tiler)						\
{									\
	struct cj_tiled_copy copy;					\
									\
	(void)count;							\
	return maker(al, arg, &copy) && give_tuple(out, copy.tiler);	\
}									\
									\
OPERATION(prefix##_layout_TV)						\
{									\
	struct cj_tiled_copy copy;					\
									\
	(void)count;							\
	return maker(al, arg, &copy) && give(out, copy.tv);		\
}									\
									\
OPERATION(prefix##_layoutS_TV)						\
{									\
	struct cj_tiled_copy copy;					\
									\
	(void)count;							\
	return maker(al, arg, &copy) && give(out, cj_tiled_copy_tv(al,	\
	    &copy, CJ_SIDE_SOURCE));					\
}									\
									\
OPERATION(prefix##_layoutD_TV)						\
{									\
	struct cj_tiled_copy copy;					\
									\
	(void)count;							\
	return maker(al, arg, &copy) && give(out, cj_tiled_copy_tv(al,	\
	    &copy, CJ_SIDE_TARGET));					\
}

TILED(tcopy, tiled_of)

/* copyop, atom TV layout, data layout */
static bool
cotiled_of(struct cj_algebra *al, const struct cj_datum *arg,
    struct cj_tiled_copy *out)
{
	struct cj_copy_atom atom;

	return copy_of(al, &arg[0], &atom) && is_layout(al, &arg[1])
	    && is_layout(al, &arg[2])
	    && cj_cotiled_copy_make(al, &atom, arg[1].layout, arg[2].layout,
	    out);
}

TILED(cotiled_copy, cotiled_of)

/* copyop@type, mma atom: one tile of it */
static bool
c_atom_of(struct cj_algebra *al, const struct cj_datum *arg,
    struct cj_tiled_copy *out)
{
	struct cj_mma_atom atom;
	struct cj_tiled_mma mma;
	struct cj_copy_atom copy;

	return copy_of(al, &arg[0], &copy)
	    && cj_mma_atom_find(al, arg[1].word, &atom)
	    && cj_tiled_mma_make(al, &atom, cj_layout_unit(al), NULL, &mma)
	    && cj_tiled_copy_c_atom(al, &copy, &mma, out);
}

TILED(tcopy_C_atom, c_atom_of)

/* copyop@type, mma atom, atoms, permutation */
static bool
for_mma(struct cj_algebra *al, const struct cj_datum *arg,
    enum cj_operand which, struct cj_tiled_mma *mma,
    struct cj_tiled_copy *out)
{
	struct cj_copy_atom copy;

	return copy_of(al, &arg[0], &copy) && mma_of(al, arg + 1, mma)
	    && cj_tiled_copy_for_mma(al, &copy, mma, which, out);
}

/* A tensor of twice the tile in both modes. */
static const struct cj_tuple *
twice_tile(struct cj_algebra *al, const struct cj_tiled_copy *copy)
{
	struct cj_list list;
	uint32_t i;

	cj_list_init(&list);
	for (i = 0; i < cj_tuple_rank(copy->tiler); i++)
		cj_list_add(al, &list, cj_tuple_int(al, cj_int_mul(al->sym,
		    cj_tuple_product(al, cj_tuple_get(copy->tiler, i)),
		    cj_known(2))));
	return cj_list_tuple(al, &list);
}

static bool
partition_twice(struct cj_algebra *al, const struct cj_datum *arg,
    const struct cj_tiled_copy *copy, struct cj_datum *out)
{
	const struct cj_layout *l = cj_layout_row_major(al, twice_tile(al,
	    copy));
	struct cj_int thread;

	return l != NULL && thread_of(al, &arg[5], &thread)
	    && give(out, cj_tiled_copy_partition(al, copy, CJ_SIDE_SOURCE, l,
	    thread));
}

static bool
retile_twice(struct cj_algebra *al, const struct cj_tiled_mma *mma,
    const struct cj_tiled_copy *copy, enum cj_operand which,
    struct cj_datum *out)
{
	const struct cj_layout *l = cj_layout_row_major(al, twice_tile(al,
	    copy));

	l = l == NULL ? NULL : cj_tiled_mma_partition(al, mma, which, l,
	    cj_known(0));
	l = l == NULL ? NULL : cj_layout_make(al, l->shape, NULL);
	return l != NULL && give(out, cj_tiled_copy_retile(al, copy, l));
}

#define FROM_MMA(letter)						\
static bool								\
from_##letter(struct cj_algebra *al, const struct cj_datum *arg,	\
    struct cj_tiled_copy *out)						\
{									\
	struct cj_tiled_mma mma;					\
									\
	return for_mma(al, arg, CJ_OPERAND_##letter, &mma, out);	\
}									\
									\
TILED(tcopy_from_mma_##letter, from_##letter)				\
									\
OPERATION(tcopy_from_mma_##letter##_partition_S)			\
{									\
	struct cj_tiled_copy copy;					\
									\
	(void)count;							\
	return from_##letter(al, arg, &copy)				\
	    && partition_twice(al, arg, &copy, out);			\
}									\
									\
OPERATION(tcopy_from_mma_##letter##_retile_D)				\
{									\
	struct cj_tiled_copy copy;					\
	struct cj_tiled_mma mma;					\
									\
	(void)count;							\
	return for_mma(al, arg, CJ_OPERAND_##letter, &mma, &copy)	\
	    && retile_twice(al, &mma, &copy, CJ_OPERAND_##letter, out);	\
}

FROM_MMA(A)
FROM_MMA(B)
FROM_MMA(C)

/* ---- tensor memory ----------------------------------------------------- */

OPERATION(tmem_fragment_C)
{
	struct cj_mma_atom atom;

	(void)count;
	return cj_mma_atom_find(al, arg[0].word, &atom)
	    && is_tuple(al, &arg[1])
	    && give(out, cj_tmem_accumulator(al, &atom, arg[1].tuple));
}

/* copyop@type, mma: the accumulator of one tile of it, and its copy */
static bool
tmem_of(struct cj_algebra *al, const struct cj_datum *arg,
    const struct cj_layout **tmem, struct cj_tiled_copy *out)
{
	struct cj_copy_atom atom;
	struct cj_mma_atom mma;
	const struct cj_tuple *shape;

	if (!copy_of(al, &arg[0], &atom)
	    || !cj_mma_atom_find(al, arg[1].word, &mma))
		return false;
	shape = cj_tuple_make(al, mma.shape->at, 2);
	*tmem = cj_tmem_accumulator(al, &mma, shape);
	*tmem = *tmem == NULL ? NULL : cj_layout_get(al, *tmem, 0);
	return *tmem != NULL && cj_tmem_copy_make(al, &atom,
	    cj_atom_type_bits(strrchr(arg[0].word, '@') + 1), *tmem, out);
}

static bool
tmem_copy_of(struct cj_algebra *al, const struct cj_datum *arg,
    struct cj_tiled_copy *out)
{
	const struct cj_layout *tmem;

	return tmem_of(al, arg, &tmem, out);
}

TILED(tmem_copy, tmem_copy_of)

OPERATION(tmem_copy_partition_S_tmem)
{
	const struct cj_layout *tmem;
	struct cj_tiled_copy copy;
	struct cj_int thread = cj_known(0);

	return tmem_of(al, arg, &tmem, &copy)
	    && (count < 3 || thread_of(al, &arg[2], &thread))
	    && give(out, cj_tiled_copy_partition(al, &copy, CJ_SIDE_SOURCE,
	    tmem, thread));
}

OPERATION(tmem_copy_partition_D)
{
	struct cj_tiled_copy copy;
	struct cj_int thread;

	(void)count;
	return tmem_copy_of(al, arg, &copy) && is_layout(al, &arg[2])
	    && thread_of(al, &arg[3], &thread)
	    && give(out, cj_tiled_copy_partition(al, &copy, CJ_SIDE_TARGET,
	    arg[2].layout, thread));
}
