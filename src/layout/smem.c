/*
 * Shared-memory atoms, and the descriptors of operands in shared memory.
 *
 * A descriptor knows one canonical form per mode: in units of 16 bytes, tiles
 * of 8 rows (K-major) or of rows of the swizzle's width (MN-major), a stride
 * between them in each direction. The operand of one atom is divided into such
 * tiles; if that gives exactly two strides of the right kind, they are the
 * fields.
 */
#include "atom.h"

#include "layout_priv.h"

enum { UNIT = 128 };	/* bits of the unit of descriptors */

static int
log_width(enum cj_smem_mode mode)
{
	switch (mode) {
	case CJ_SMEM_INTER:
		return 0;
	case CJ_SMEM_SW32:
		return 1;
	case CJ_SMEM_SW64:
		return 2;
	case CJ_SMEM_SW128:
	case CJ_SMEM_SW128_32B:
		break;
	}
	return 3;
}

struct cj_swizzle
cj_smem_swizzle(enum cj_smem_mode mode)
{
	if (mode == CJ_SMEM_SW128_32B)
		return (struct cj_swizzle){ 2, 5, 2 };
	return (struct cj_swizzle){ log_width(mode), 4, 3 };
}

const struct cj_layout *
cj_smem_atom_plain(struct cj_algebra *al, enum cj_major major,
    enum cj_smem_mode mode, int bits)
{
	int64_t width, rows = mode == CJ_SMEM_SW128_32B ? 4 : 8;

	if (bits < 1 || UNIT % bits != 0)
		return cj_refuse(al, CJ_REFUSED_UPCAST_DIV, NULL,
		    "%d bits do not divide 16 bytes", bits);
	width = ((int64_t)UNIT << log_width(mode)) / bits;
	if (major == CJ_MAJOR_K)
		return cj_layout_of(al, cj_numbers(al, rows, width),
		    cj_numbers(al, width, 1));
	return cj_layout_of(al, cj_numbers(al, width, rows),
	    cj_numbers(al, 1, width));
}

/* The byte swizzle in elements. */
static bool
element_swizzle(struct cj_algebra *al, enum cj_smem_mode mode, int bits,
    struct cj_swizzle *out)
{
	*out = cj_smem_swizzle(mode);
	if (bits >= 8)
		return cj_swizzle_recast(al, out, bits / 8, CJ_CAST_UP);
	return cj_swizzle_recast(al, out, 8 / bits, CJ_CAST_DOWN);
}

const struct cj_layout *
cj_smem_atom(struct cj_algebra *al, enum cj_major major,
    enum cj_smem_mode mode, int bits)
{
	const struct cj_layout *plain = cj_smem_atom_plain(al, major, mode,
	    bits);
	struct cj_swizzle s;

	if (plain == NULL || mode == CJ_SMEM_INTER)
		return plain;
	return element_swizzle(al, mode, bits, &s)
	    ? cj_layout_composed(al, s, NULL, plain) : NULL;
}

/* ---- descriptors ------------------------------------------------------- */

/* ((s00, s01), (s10, s11)): strides within and between the tiles. */
struct canonical {
	int64_t within[2], between[2];
};

static bool
not_canonical(struct cj_algebra *al, const struct cj_layout *l)
{
	cj_refuse(al, CJ_REFUSED_TILE_DIV,
	    "The operand's shared memory must be tiled by the atom of its"
	    " swizzle.",
	    "%s, in units of 16 bytes, is not a form that a descriptor can"
	    " describe", cj_layout_text(al, l));
	return false;
}

static bool
divide_canonical(struct cj_algebra *al, const struct cj_layout *l,
    int64_t rows, int64_t columns, struct canonical *out)
{
	const struct cj_tuple *tile[2];
	const struct cj_layout *d;
	int i;

	tile[0] = cj_tuple_known(al, rows);
	tile[1] = cj_tuple_known(al, columns);
	d = cj_layout_divide(al, CJ_DIVIDE_LOGICAL, l, cj_tuple_make(al, tile,
	    2));
	if (d == NULL)
		return false;
	assert(cj_layout_rank(d) == 2 && "an operand has two modes");
	for (i = 0; i < 2; i++) {
		const struct cj_tuple *s = d->stride->at[i];

		if (cj_is_leaf(s) || s->rank != 2 || s->depth != 1
		    || !cj_tuple_is_known(s))
			return not_canonical(al, l);
		out->within[i] = s->at[0]->value.value;
		out->between[i] = s->at[1]->value.value;
	}
	return true;
}

static bool
fill_k_major(struct cj_algebra *al, const struct cj_layout *l,
    enum cj_smem_mode mode, struct cj_matrix_desc *out)
{
	struct canonical c;

	if (mode == CJ_SMEM_SW128_32B)
		return not_canonical(al, l);
	if (!divide_canonical(al, l, 8, 2, &c))
		return false;
	if (c.within[0] != 1 << log_width(mode)
	    || (mode != CJ_SMEM_INTER && c.within[1] != 1))
		return not_canonical(al, l);
	out->stride = (unsigned)c.between[0];
	out->leading = (unsigned)c.within[1];
	return true;
}

static bool
fill_mn_major(struct cj_algebra *al, const struct cj_layout *l,
    enum cj_smem_mode mode, struct cj_matrix_desc *out)
{
	int64_t width = 1 << log_width(mode);
	struct canonical c;

	if (!divide_canonical(al, l, width, mode == CJ_SMEM_SW128_32B ? 4 : 8,
	    &c))
		return false;
	if ((mode != CJ_SMEM_INTER && c.within[0] != 1)
	    || c.within[1] != width)
		return not_canonical(al, l);
	out->stride = (unsigned)(mode == CJ_SMEM_INTER ? c.between[0]
	    : c.between[1]);
	out->leading = (unsigned)(mode == CJ_SMEM_INTER ? c.between[1]
	    : c.between[0]);
	return true;
}

/* Fields: leading at 16, stride at 32 (14 bits each), the type on top. */
static void
pack(struct cj_matrix_desc *d, enum cj_mma_kind kind, enum cj_smem_mode mode)
{
	static const uint8_t wgmma[] = { 0, 3, 2, 1, 0 };
	static const uint8_t tcgen05[] = { 0, 6, 4, 2, 1 };
	bool is_tcgen05 = kind == CJ_MMA_TCGEN05;

	assert(mode < CJ_LENGTH(wgmma));
	d->layout_type = is_tcgen05 ? tcgen05[mode] : wgmma[mode];
	d->bits = (uint64_t)(d->leading & 0x3fff) << 16
	    | (uint64_t)(d->stride & 0x3fff) << 32
	    | (uint64_t)d->layout_type << (is_tcgen05 ? 61 : 62);
	if (is_tcgen05)
		d->bits |= (uint64_t)1 << 46;	/* version */
}

bool
cj_matrix_desc_make(struct cj_algebra *al, const struct cj_mma_atom *atom,
    enum cj_operand which, enum cj_major major, enum cj_smem_mode mode,
    const struct cj_tuple *shape, struct cj_matrix_desc *out)
{
	int bits = cj_atom_type_bits(which == CJ_OPERAND_A ? atom->a_type
	    : atom->b_type);
	const struct cj_layout *l;
	struct cj_tiled_mma mma;

	if (atom->kind != CJ_MMA_WGMMA && atom->kind != CJ_MMA_TCGEN05) {
		cj_refuse(al, CJ_REFUSED_KIND, NULL,
		    "%s reads no operand from shared memory", atom->name);
		return false;
	}
	if (atom->kind == CJ_MMA_WGMMA && mode == CJ_SMEM_SW128_32B) {
		cj_refuse(al, CJ_REFUSED_KIND, NULL,
		    "wgmma has no swizzle in units of 32 bytes");
		return false;
	}
	l = cj_smem_atom_plain(al, major, mode, bits);
	l = l == NULL ? NULL : cj_layout_tile_to_shape(al, l, shape, NULL);
	if (l == NULL || !cj_tiled_mma_make(al, atom, cj_layout_unit(al),
	    NULL, &mma))
		return false;
	l = cj_tiled_mma_partition(al, &mma, which, l, cj_known(0));
	l = l == NULL ? NULL : cj_layout_cast(al, l, UNIT / bits, CJ_CAST_UP);
	l = l == NULL ? NULL : cj_layout_inner(al, l);
	if (l == NULL)
		return false;
	out->fragment = cj_layout_replace(al, l, 0, cj_layout_unit(al));
	l = cj_layout_get(al, l, 0);
	if (cj_layout_rank(l) != 2)
		return not_canonical(al, l);
	if (!(major == CJ_MAJOR_K ? fill_k_major : fill_mn_major)(al, l, mode,
	    out))
		return false;
	pack(out, atom->kind, mode);
	return out->fragment != NULL;
}
