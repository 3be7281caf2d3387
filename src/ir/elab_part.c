/*
 * local_tile of registers. A register tensor is cut by its modes, as a view
 * is. A fragment is cut by the tile that all threads have together: its part
 * is what stands inside the smaller tile, a fragment of that one. Both stay
 * places where they were cut out of a `var`.
 *
 * A tiled MMA repeats its own tile along the modes of an operand, in order, so
 * that a smaller tile, which holds the MMA's as often as it fits, is the same
 * atoms in every thread.
 */
#include "elab_tiled.h"

bool
cj_elab_is_registers(const struct cj_value *v)
{
	return (v->kind == CJ_VALUE_PLACE && v->slot->cell == NULL &&
	    !v->slot->is_scalar) ||
	    (v->kind == CJ_VALUE_REGS && v->regs.shape != NULL);
}

static int64_t
mode_size(struct cj_elab *el, const struct cj_tuple *t, uint32_t mode)
{
	return cj_tuple_product(&el->al, cj_tuple_get(t, mode)).value;
}

static bool
is_whole(struct cj_elab *el, struct cj_args *args,
    const struct cj_tuple *shape, const struct cj_tuple *tile,
    const char *what)
{
	uint32_t rank = cj_tuple_rank(tile), i;
	int64_t have, need;

	if (!cj_tuple_is_known(tile)) {
		cj_elab_error(el, CJ_DIAG_NOT_KNOWN, cj_arg_span(args, 1),
		    "a tile of registers has known extents");
		return false;
	}
	if (rank != cj_tuple_rank(shape)) {
		cj_elab_error(el, CJ_DIAG_WRONG_SHAPE, cj_arg_span(args, 1),
		    "the tile has %u mode%s, %s %u", rank,
		    rank == 1 ? "" : "s", what, cj_tuple_rank(shape));
		return false;
	}
	for (i = 0; i < rank; i++) {
		have = mode_size(el, shape, i);
		need = mode_size(el, tile, i);
		if (need > 0 && have % need == 0)
			continue;
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_SHAPE,
		    cj_arg_span(args, 1), "mode %u of %s has the extent "
		    "%lld, which is no multiple of %lld", i, what,
		    (long long)have, (long long)need),
		    "Registers have no neighbours outside: take a tile that "
		    "divides them.");
		return false;
	}
	return true;
}

/* Each coordinate is `_` or the known number of a tile. */
static bool
is_there(struct cj_elab *el, struct cj_args *args,
    const struct cj_tuple *shape, const struct cj_tuple *tile,
    const struct cj_tuple *coord)
{
	uint32_t rank = cj_tuple_rank(tile), i;
	const struct cj_tuple *c;
	int64_t tiles;

	if (cj_tuple_rank(coord) != rank) {
		cj_elab_error(el, CJ_DIAG_WRONG_INDEX, cj_arg_span(args, 2),
		    "the tile has %u mode%s, its coordinate %u", rank,
		    rank == 1 ? "" : "s", cj_tuple_rank(coord));
		return false;
	}
	for (i = 0; i < rank; i++) {
		c = cj_tuple_get(coord, i);
		if (c->kind == CJ_TUPLE_ANY)
			continue;
		if (c->kind != CJ_TUPLE_INT || !cj_is_known(c->value)) {
			cj_elab_dynamic_register(el, cj_arg_span(args, 2),
			    coord);
			return false;
		}
		tiles = mode_size(el, shape, i) / mode_size(el, tile, i);
		if (c->value.value >= 0 && c->value.value < tiles)
			continue;
		cj_elab_error(el, CJ_DIAG_WRONG_INDEX, cj_arg_span(args, 2),
		    "the coordinate %lld of mode %u lies outside: there are "
		    "%lld tiles", (long long)c->value.value, i,
		    (long long)tiles);
		return false;
	}
	return true;
}

static struct cj_value
all_of(struct cj_elab *el, uint32_t rank)
{
	struct cj_value any = { .kind = CJ_VALUE_ANY };
	struct cj_value *at = CJ_NEWS(el->arena, struct cj_value, rank);
	uint32_t i;

	for (i = 0; i < rank; i++)
		at[i] = any;
	return rank == 1 ? any : cj_value_tuple(el, at, NULL, rank);
}

/* Tile `coord` of the registers, cut by their modes. */
static struct cj_value
cut(struct cj_elab *el, struct cj_args *args, const struct cj_tuple *tile,
    const struct cj_tuple *coord)
{
	const struct cj_layout *l = cj_elab_registers_of(el, args, 0);
	struct cj_value seen, at[2];

	if (l != NULL)
		l = cj_layout_divide(&el->al, CJ_DIVIDE_ZIPPED, l, tile);
	if (l == NULL)
		return cj_elab_refused(el, args->span, "local_tile");
	seen = cj_elab_seen_as(el, args->span, &args->at[0], l);
	at[0] = all_of(el, cj_tuple_rank(tile));
	at[1] = cj_value_from_tuple(el, coord);
	return seen.kind == CJ_VALUE_ERROR ? seen :
	    cj_elab_index(el, args->span, seen, at, 2);
}

/* (V, m, n): what a thread has of the smaller tile; NULL: reported. */
static const struct cj_tuple *
part_shape(struct cj_elab *el, struct cj_args *args,
    const struct cj_fragment *part)
{
	const struct cj_tuple *shape, *at[3];
	uint32_t i;

	if (!cj_mma_tile_divides(el, cj_arg_span(args, 1), part->mma,
	    part->which, part->tile))
		return NULL;
	shape = cj_tiled_mma_partition_shape(&el->al, &part->mma->tiled,
	    part->which, part->tile);
	if (shape == NULL) {
		cj_elab_refused(el, args->span, "local_tile");
		return NULL;
	}
	for (i = 0; i < 3; i++)
		at[i] = cj_tuple_known(&el->al, mode_size(el, shape, i));
	return cj_tuple_make(&el->al, at, 3);
}

static struct cj_value
tile_of_fragment(struct cj_elab *el, struct cj_args *args,
    const struct cj_fragment *f, const struct cj_tuple *tile,
    const struct cj_tuple *coord)
{
	struct cj_fragment *part = CJ_NEW(el->arena, struct cj_fragment);
	const struct cj_tuple *shape, *at[3];
	struct cj_value v;

	if (!is_whole(el, args, f->tile, tile, "the fragment's tile") ||
	    !is_there(el, args, f->tile, tile, coord))
		return cj_value_error();
	*part = (struct cj_fragment){ f->mma, f->which,
	    cj_tuple_product_each(&el->al, tile) };
	shape = part_shape(el, args, part);
	if (shape == NULL)
		return cj_value_error();
	at[0] = cj_tuple_known(&el->al, 0);
	at[1] = cj_tuple_get(coord, 0);
	at[2] = cj_tuple_get(coord, 1);
	v = cut(el, args, shape, cj_tuple_make(&el->al, at, 3));
	if (at[1]->kind != CJ_TUPLE_ANY && at[2]->kind != CJ_TUPLE_ANY)
		v.fragment = part;
	return v;
}

struct cj_value
cj_elab_tile_registers(struct cj_elab *el, struct cj_args *args,
    const struct cj_tuple *tile, const struct cj_tuple *coord)
{
	const struct cj_value *v = &args->at[0];

	assert(cj_elab_is_registers(v));
	if (v->fragment != NULL && v->fragment->tile != NULL)
		return tile_of_fragment(el, args, v->fragment, tile, coord);
	if (!is_whole(el, args, cj_value_shape(v), tile, "the registers") ||
	    !is_there(el, args, cj_value_shape(v), tile, coord))
		return cj_value_error();
	return cut(el, args, tile, coord);
}
