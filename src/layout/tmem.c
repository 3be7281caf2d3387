/*
 * Tensor memory: where accumulators lie, and copies of them.
 *
 * An accumulator is laid out on a grid of 128 lanes first, columns then; only
 * at the end the grid becomes addresses.
 */
#include "atom.h"

#include "layout_priv.h"

enum { LANES = 128, COLUMNS = 16384, LANE_STEP = 1 << 16, WORD = 32 };

static const struct cj_tuple *
pair(struct cj_algebra *al, const struct cj_tuple *a,
    const struct cj_tuple *b)
{
	const struct cj_tuple *both[2] = { a, b };

	return cj_tuple_make(al, both, 2);
}

/* The m x n elements of one atom on the grid. */
static const struct cj_layout *
atom_grid(struct cj_algebra *al, int64_t m, int64_t n, bool two_blocks)
{
	if (!two_blocks && m == 64)
		return cj_layout_of(al, pair(al, cj_numbers(al, 16, 4),
		    cj_tuple_known(al, n)), pair(al, cj_numbers(al, 1, 32),
		    cj_tuple_known(al, LANES)));
	if (m == LANES)
		return cj_layout_of(al, cj_numbers(al, LANES, n),
		    cj_numbers(al, 1, LANES));
	if (two_blocks && (m == 64 || m == 32) && n % (LANES / m) == 0)
		return cj_layout_of(al, pair(al, cj_tuple_known(al, m),
		    cj_numbers(al, n * m / LANES, LANES / m)), pair(al,
		    cj_tuple_known(al, 1), cj_numbers(al, LANES, m)));
	return cj_refuse(al, CJ_REFUSED_TILE_DIV, NULL,
	    "no accumulator has %lld rows and %lld columns", (long long)m,
	    (long long)n);
}

/* Half a grid is free beside 64 rows: the next tile takes it, where tiles may
 * be interleaved. */
static const struct cj_layout *
rest_layout(struct cj_algebra *al, const struct cj_tuple *shape,
    int64_t first)
{
	struct cj_int next = cj_known(first);
	struct cj_list list;
	const struct cj_tuple *rest;
	uint32_t i;

	assert(!cj_is_leaf(shape) && first >= 1);
	cj_list_init(&list);
	for (i = 1; i < shape->rank; i++)
		cj_list_add(al, &list, shape->at[i]);
	rest = cj_list_tuple(al, &list);
	return cj_layout_of(al, rest, cj_compact_left(al, rest, &next));
}

const struct cj_layout *
cj_tmem_accumulator(struct cj_algebra *al, const struct cj_mma_atom *atom,
    const struct cj_tuple *shape)
{
	int bits = cj_atom_type_bits(atom->c_type);
	const struct cj_tuple *part, *tile;
	const struct cj_layout *grid, *to;
	struct cj_tiled_mma mma;
	bool two, apart;

	if (atom->kind != CJ_MMA_TCGEN05 || bits > WORD)
		return cj_refuse(al, CJ_REFUSED_KIND, NULL,
		    "%s does not keep its result in tensor memory",
		    atom->name);
	if (!cj_tiled_mma_make(al, atom, cj_layout_unit(al), NULL, &mma))
		return NULL;
	part = cj_tiled_mma_partition_shape(al, &mma, CJ_OPERAND_C, shape);
	if (part == NULL || !cj_tuple_is_known(part))
		return part == NULL ? NULL : cj_refuse(al,
		    CJ_REFUSED_SYMBOLIC, NULL, "%s is not known",
		    cj_tuple_text(al, part));
	assert(part->rank >= 1 && bits > 0);
	two = cj_is_value(cj_layout_size(al, atom->threads), 2);
	apart = !two && strstr(atom->name, "_TS") != NULL;
	tile = part->at[0];
	grid = atom_grid(al, cj_tuple_product(al, tile->at[0]).value,
	    cj_tuple_product(al, tile->at[1]).value, two);
	if (grid == NULL)
		return NULL;
	grid = cj_layout_product(al, CJ_PRODUCT_TILED, grid,
	    cj_tuple_layout(al, rest_layout(al, part, apart
	    && cj_is_value(cj_tuple_product(al, tile->at[0]), 64) ? 2 : 1)));
	to = cj_layout_of(al, cj_numbers(al, LANES, COLUMNS), cj_numbers(al,
	    (int64_t)LANE_STEP * WORD / bits, WORD / bits));
	return grid == NULL ? NULL : cj_layout_compose(al, to, grid);
}

bool
cj_tmem_copy_make(struct cj_algebra *al, const struct cj_copy_atom *atom,
    int bits, const struct cj_layout *tmem, struct cj_tiled_copy *out)
{
	const struct cj_layout *both[2], *tv;

	assert(bits > 0 && bits <= WORD);
	if (atom->address == NULL) {
		cj_refuse(al, CJ_REFUSED_KIND, NULL,
		    "%s does not copy tensor memory", atom->name);
		return false;
	}
	/* each of four warps has the same place in its own 32 lanes */
	both[0] = cj_layout_of(al, cj_numbers(al, 32, 4), cj_numbers(al, 0,
	    (int64_t)32 * LANE_STEP * WORD / bits));
	both[1] = cj_layout_cast(al, atom->address, bits, CJ_CAST_UP);
	both[1] = both[1] == NULL ? NULL : cj_layout_coalesce(al, both[1],
	    NULL);
	tv = cj_layout_concat(al, both, 2);
	return tv != NULL && cj_cotiled_copy_make(al, atom, tv, tmem, out);
}
