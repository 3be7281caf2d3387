/*
 * Pictures of what holds tiles: the operands of an MMA, a copy's two sides.
 */
#include "layout_draw.h"

#include "layout_priv.h"

bool
cj_picture_of_mma(struct cj_algebra *al, const struct cj_tiled_mma *mma,
    struct cj_picture *out)
{
	assert(mma->atoms != NULL && mma->vmnk != NULL);
	memset(out, 0, sizeof *out);
	out->kind = CJ_DRAW_MMA;
	out->tile = cj_tiled_mma_tile(al, mma);
	out->a = cj_tiled_mma_tv(al, mma, CJ_OPERAND_A);
	out->b = cj_tiled_mma_tv(al, mma, CJ_OPERAND_B);
	out->layout = cj_tiled_mma_tv(al, mma, CJ_OPERAND_C);
	if (out->tile == NULL || out->a == NULL || out->b == NULL
	    || out->layout == NULL)
		return false;
	out->title = cj_printf(al->arena, "%s: A, B and C of %s",
	    mma->atom.name, cj_tuple_text(al, out->tile));
	return true;
}

static const struct cj_tuple *
extents(struct cj_algebra *al, const struct cj_tuple *tiler)
{
	struct cj_list list;
	uint32_t i;

	assert(tiler != NULL);
	cj_list_init(&list);
	for (i = 0; i < cj_tuple_rank(tiler); i++) {
		const struct cj_tuple *t = cj_tuple_get(tiler, i);

		cj_list_add(al, &list, cj_tuple_int(al,
		    t->kind == CJ_TUPLE_LAYOUT ? cj_layout_size(al, t->layout)
		    : cj_tuple_product(al, t)));
	}
	return cj_list_tuple(al, &list);
}

static bool
side_of(struct cj_algebra *al, const char *name, const char *side,
    const struct cj_layout *tv, struct cj_picture *out)
{
	if (tv == NULL || out->tile == NULL)
		return false;
	out->kind = CJ_DRAW_THREADS;
	out->layout = tv;
	out->title = cj_printf(al->arena, "%s: %s of %s", name, side,
	    cj_tuple_text(al, out->tile));
	return true;
}

bool
cj_picture_of_copy(struct cj_algebra *al, const struct cj_tiled_copy *copy,
    struct cj_picture out[2])
{
	memset(out, 0, 2 * sizeof *out);
	out[0].tile = out[1].tile = extents(al, copy->tiler);
	return side_of(al, copy->atom.name, "source", cj_tiled_copy_tv(al,
	    copy, CJ_SIDE_SOURCE), &out[0])
	    && side_of(al, copy->atom.name, "target", cj_tiled_copy_tv(al,
	    copy, CJ_SIDE_TARGET), &out[1]);
}

bool
cj_picture_of_copy_atom(struct cj_algebra *al,
    const struct cj_copy_atom *atom, struct cj_picture out[2])
{
	const struct cj_tuple *shape = atom->reference->shape, *tile[2];

	assert(cj_tuple_rank(shape) == 2);
	memset(out, 0, 2 * sizeof *out);
	tile[0] = cj_tuple_int(al, cj_tuple_product(al, shape->at[0]));
	tile[1] = cj_tuple_int(al, cj_tuple_product(al, shape->at[1]));
	out[0].tile = out[1].tile = cj_tuple_make(al, tile, 2);
	out[0].row_major = out[1].row_major = true;
	return side_of(al, atom->name, "source", atom->source, &out[0])
	    && side_of(al, atom->name, "target", atom->target, &out[1]);
}
