/*
 * Local views: the part of a view that a block or a thread works on.
 */
#include "elab_tiled.h"

static const struct cj_tuple *
any_of_rank(struct cj_elab *el, const struct cj_tuple *shape)
{
	const struct cj_tuple *at[CJ_MAX_RANK];
	uint32_t i, rank = cj_tuple_rank(shape);

	if (cj_is_leaf(shape) || rank == 1)
		return cj_tuple_any(&el->al);
	for (i = 0; i < rank; i++)
		at[i] = cj_tuple_any(&el->al);
	return cj_tuple_make(&el->al, at, rank);
}

/* A coordinate that is a tuple, filled up with `_`. */
static const struct cj_tuple *
filled(struct cj_elab *el, const struct cj_tuple *coord, uint32_t rank)
{
	const struct cj_tuple *at[CJ_MAX_RANK];
	uint32_t i;

	if (cj_is_leaf(coord) || coord->rank >= rank || rank > CJ_MAX_RANK)
		return coord;
	for (i = 0; i < rank; i++)
		at[i] = i < coord->rank ? coord->at[i] :
		    cj_tuple_any(&el->al);
	return cj_tuple_make(&el->al, at, rank);
}

static struct cj_value
slice_pair(struct cj_elab *el, struct cj_span span, const struct cj_value *v,
    const struct cj_tuple *first, const struct cj_tuple *second,
    const char *name)
{
	const struct cj_tuple *pair[2] = { first, second }, *offset;
	const struct cj_tuple *coord = cj_tuple_make(&el->al, pair, 2);
	const struct cj_layout *rest;

	if (v->kind == CJ_VALUE_TENSOR)
		return cj_tensor_slice(el, span, v->tensor, coord);
	if (!cj_layout_slice(&el->al, v->layout, coord, &rest, &offset))
		return cj_elab_refused(el, span, name);
	if (offset->kind != CJ_TUPLE_INT || !cj_is_value(offset->value, 0))
		rest = cj_layout_view(&el->al, v->layout, coord);
	return cj_arg_result(el, span, rest, name);
}

/* Of a tuple what a projection keeps: `_` drops, NULL keeps all. */
static const struct cj_tuple *
projected(struct cj_elab *el, const struct cj_tuple *t,
    const struct cj_tuple *by)
{
	const struct cj_tuple *at[CJ_MAX_RANK];
	uint32_t i, n = 0;

	if (by == NULL || cj_is_leaf(by) || cj_is_leaf(t))
		return t;
	for (i = 0; i < by->rank && i < t->rank; i++)
		if (by->at[i]->kind != CJ_TUPLE_ANY)
			at[n++] = t->at[i];
	return cj_tuple_make(&el->al, at, n);
}

/* The argument that projects; false: reported, or it does not fit. */
static bool
projection_arg(struct cj_elab *el, struct cj_args *args, uint32_t i,
    uint32_t rank, const struct cj_tuple **by)
{
	*by = NULL;
	if (args->count <= i)
		return true;
	*by = cj_arg_tuple(el, args, i);
	if (*by == NULL)
		return false;
	if (cj_tuple_rank(*by) == rank)
		return true;
	cj_elab_error(el, CJ_DIAG_WRONG_SHAPE, args->span,
	    "the projection has %u modes, the tile %u", cj_tuple_rank(*by),
	    rank);
	return false;
}

/* Cut by a tile and keep what is at `coord` of mode `which`. */
static struct cj_value
cut_at(struct cj_elab *el, struct cj_args *args, const struct cj_tuple *tile,
    const struct cj_tuple *coord, unsigned which, const char *name)
{
	const struct cj_tuple *shape, *all;
	struct cj_args read = *args;
	struct cj_tensor tiles;
	struct cj_value z, *at;

	if (args->at[0].kind == CJ_VALUE_TENSOR) {
		at = cj_memdup(el->arena, args->at, args->count * sizeof *at);
		at[0] = cj_value_tensor(el, cj_tensor_cut_in_tiles(el,
		    args->at[0].tensor, tile));
		read.at = at;
	}
	z = cj_elab_divide(el, &read, CJ_DIVIDE_ZIPPED, tile, name);
	if (z.kind == CJ_VALUE_ERROR)
		return z;
	shape = z.kind == CJ_VALUE_TENSOR ? z.tensor->layout->shape :
	    z.layout->shape;
	if (z.kind == CJ_VALUE_TENSOR) {
		tiles = *z.tensor;
		tiles.is_tiled = true;
		z = cj_value_tensor(el, &tiles);
	}
	all = any_of_rank(el, shape->at[!which]);
	coord = filled(el, coord, cj_tuple_rank(shape->at[which]));
	return slice_pair(el, args->span, &z, which == 0 ? coord : all,
	    which == 0 ? all : coord, name);
}

struct cj_value
cj_builtin_local_tile(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_tuple *tile = cj_arg_tuple(el, args, 1);
	const struct cj_tuple *coord = cj_arg_tuple(el, args, 2), *by;
	struct cj_args read = *args;
	struct cj_value *at;

	if (tile == NULL || coord == NULL || !projection_arg(el, args, 3,
	    cj_tuple_rank(tile), &by))
		return cj_value_error();
	tile = projected(el, tile, by);
	coord = projected(el, coord, by);
	if (cj_elab_is_registers(&args->at[0]))
		return cj_elab_tile_registers(el, args, tile, coord);
	at = cj_memdup(el->arena, args->at, args->count * sizeof *at);
	if (at[0].kind == CJ_VALUE_PLACE)
		at[0] = cj_slot_load(el, cj_arg_span(args, 0), &at[0]);
	read.at = at;
	return cut_at(el, &read, tile, coord, 1, row->name);
}

/* What thread `args->at[2]` has of tiles of the threads' extents. */
struct cj_value
cj_builtin_local_partition(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_layout *threads = cj_arg_layout(el, args, 1);
	const struct cj_tuple *coord, *tile, *by;
	struct cj_int index;

	if (threads == NULL || !cj_value_to_int(el, args->span, &args->at[2],
	    &index) || !projection_arg(el, args, 3, cj_layout_rank(threads),
	    &by))
		return cj_value_error();
	coord = cj_layout_flat_coord(&el->al, threads, index);
	tile = cj_tuple_product_each(&el->al, threads->shape);
	if (coord == NULL || tile == NULL)
		return cj_elab_refused(el, args->span, row->name);
	return cj_tensor_dealt(el, cut_at(el, args, projected(el, tile, by),
	    projected(el, coord, by), 0, row->name));
}

struct cj_value
cj_builtin_partition(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	struct cj_args inner = *args;
	const struct cj_tensor *view;
	const struct cj_tuple *thread = cj_arg_tuple(el, args, 2), *shape;
	const struct cj_layout *tv = cj_arg_layout(el, args, 0);
	struct cj_value z, dealt;

	inner.at = args->at + 1;
	if (thread == NULL || tv == NULL)
		return cj_value_error();
	if (cj_layout_rank(tv) != 2)
		return cj_elab_error(el, CJ_DIAG_WRONG_SHAPE, args->span,
		    "partition takes a layout (thread, value) first, its "
		    "rank is %u", cj_layout_rank(tv));
	if (inner.at[0].kind == CJ_VALUE_TENSOR) {
		view = cj_tensor_in_order(el, args->span, inner.at[0].tensor,
		    tv);
		if (view == NULL)
			return cj_value_error();
		dealt = cj_value_tensor(el, view);
		inner.at = &dealt;
	}
	z = cj_elab_compose(el, &inner, tv, row->name);
	if (z.kind == CJ_VALUE_ERROR)
		return z;
	shape = z.kind == CJ_VALUE_TENSOR ? z.tensor->layout->shape :
	    z.layout->shape;
	return cj_tensor_dealt(el, slice_pair(el, args->span, &z, thread,
	    any_of_rank(el, shape->at[1]), row->name));
}

struct cj_value
cj_builtin_thread_value(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	struct cj_int i[3];
	int k;

	for (k = 0; k < 3; k++)
		if (!cj_value_to_int(el, args->span, &args->at[k], &i[k]))
			return cj_value_error();
	return cj_arg_result(el, args->span, cj_layout_thread_value(&el->al,
	    i[0], i[1], i[2]), row->name);
}
