/*
 * Lines of atoms: their layouts, types and how operands are covered.
 *
 * A layout agrees if it prints the same or is the same table: equal sizes of
 * threads and values, equal values.
 */
#include "layout_check.h"

#include <stdlib.h>

#include "atom.h"

/*
 * CuTe writes a few atoms' strides with a level more than their shapes, which
 * is no layout: (32,2):((16,8)). Then the integers have to agree.
 */
static bool
same_integers(struct cj_algebra *al, const struct cj_layout *l,
    const char *column)
{
	const char *colon = strchr(column, ':');
	struct cj_datum shape, stride;

	return colon != NULL
	    && cj_datum_read(al, column, (size_t)(colon - column), &shape)
	    && cj_datum_read(al, colon + 1, strlen(colon + 1), &stride)
	    && shape.kind == CJ_DATUM_TUPLE && stride.kind == CJ_DATUM_TUPLE
	    && cj_tuple_same(l->shape, shape.tuple)
	    && cj_tuple_same(cj_tuple_flatten(al, l->stride),
	    cj_tuple_flatten(al, stride.tuple));
}

/* NULL if `l` is the layout of the column, else what it is. */
static const char *
compare_layout(struct cj_algebra *al, const struct cj_layout *l,
    const char *column)
{
	struct cj_datum got = cj_datum_layout(l), want;
	struct cj_strbuf b;

	if (l == NULL)
		return al->why.text;
	cj_strbuf_init(&b, al->arena);
	cj_datum_print(&b, al, &got);
	if (strcmp(b.text, column) == 0)
		return NULL;
	if (!cj_datum_read(al, column, strlen(column), &want)) {
		if (same_integers(al, l, column))
			return NULL;
	} else if (want.kind == CJ_DATUM_LAYOUT && want.layout != NULL
	    && cj_same_function(al, l, want.layout, 0) == NULL)
		return NULL;
	return cj_printf(al->arena, "expected %s, found %s", column, b.text);
}

static const char *
compare_text(struct cj_algebra *al, const char *got, const char *column)
{
	if (strcmp(got, column) == 0)
		return NULL;
	return cj_printf(al->arena, "expected %s, found %s", column, got);
}

/* ---- mma_atom ---------------------------------------------------------- */

/*
 * How the values cover an operand of `size` elements: each once (bij), each
 * once by several threads (bcast), each (cover), or not each (partial).
 */
static const char *
coverage(struct cj_algebra *al, const struct cj_layout *tv, int64_t size)
{
	const struct cj_layout *f = cj_layout_filter(al, tv);
	struct cj_points p;
	bool once = true, all = true, repeats;
	uint8_t *seen = CJ_NEWS(al->arena, uint8_t, (size_t)size);
	int64_t i, v, n = cj_layout_size(al, f).value;

	repeats = cj_layout_size(al, tv).value != n;
	if (!cj_points_init(al, &p, f))
		return "coordinates";
	for (i = 0; i < n; i++) {
		v = cj_points_next(al, &p);
		if (v < 0 || v >= size)
			return "outside";
		once = once && seen[v] == 0;
		seen[v] = 1;
	}
	for (i = 0; i < size; i++)
		all = all && seen[i] != 0;
	return !all ? "partial" : !once ? "cover" : repeats ? "bcast" : "bij";
}

static const char *
coverages(struct cj_algebra *al, const struct cj_mma_atom *atom)
{
	int64_t m = atom->shape->at[0]->value.value;
	int64_t n = atom->shape->at[1]->value.value;
	int64_t k = atom->shape->at[2]->value.value;

	assert(atom->shape->rank == 3);
	return cj_printf(al->arena, "A:%s B:%s C:%s",
	    coverage(al, atom->a, m * k), coverage(al, atom->b, n * k),
	    coverage(al, atom->c, m * n));
}

static const char *
check_mma(struct cj_algebra *al, const char *const *column, uint32_t count,
    uint32_t arrow)
{
	const char *const *want = column + arrow + 1, *why = NULL;
	struct cj_mma_atom atom;
	struct cj_strbuf b;

	if (arrow != 3 || count != 11)
		return "not the columns of mma_atom";
	if (!cj_mma_atom_find(al, column[1], &atom))
		return al->why.text;
	cj_strbuf_init(&b, al->arena);
	cj_tuple_print(&b, al->sym, atom.shape, CJ_STYLE_VECTORS);
	why = compare_text(al, atom.arch, column[2]);
	if (why == NULL)
		why = compare_text(al, b.text, want[0]);
	if (why == NULL)
		why = compare_text(al, cj_printf(al->arena,
		    "D=%s A=%s B=%s C=%s", atom.d_type, atom.a_type,
		    atom.b_type, atom.c_type), want[1]);
	if (why == NULL)
		why = compare_layout(al, atom.threads, want[2]);
	if (why == NULL)
		why = compare_layout(al, atom.a, want[3]);
	if (why == NULL)
		why = compare_layout(al, atom.b, want[4]);
	if (why == NULL)
		why = compare_layout(al, atom.c, want[5]);
	if (why == NULL)
		why = compare_text(al, coverages(al, &atom), want[6]);
	return why;
}

/* ---- copy_atom --------------------------------------------------------- */

static const char *
counts(struct cj_algebra *al, const struct cj_copy_atom *atom,
    const char *format)
{
	struct cj_int s = cj_tuple_product(al, cj_tuple_get(
	    atom->source->shape, 1));
	struct cj_int t = cj_tuple_product(al, cj_tuple_get(
	    atom->target->shape, 1));

	if (strcmp(format, "bits") == 0)
		return cj_printf(al->arena,
		    "src_bits_per_thr=%lld dst_bits_per_thr=%lld",
		    (long long)s.value, (long long)t.value);
	return cj_printf(al->arena, "src_vals=%lld dst_vals=%lld",
	    (long long)s.value, (long long)t.value);
}

static const char *
compare_sides(struct cj_algebra *al, const struct cj_copy_atom *atom,
    const char *const *want)
{
	const char *why = compare_layout(al, atom->source, want[0]);

	if (why == NULL)
		why = compare_layout(al, atom->target, want[1]);
	if (why == NULL)
		why = compare_layout(al, atom->reference, want[2]);
	return why;
}

static const char *
check_copy(struct cj_algebra *al, const char *const *column, uint32_t count,
    uint32_t arrow)
{
	const char *const *want = column + arrow + 1, *why;
	struct cj_copy_atom atom;

	if (arrow != 3 || count != 9)
		return "not the columns of copy_atom";
	if (!cj_copy_atom_find(al, column[1], &atom))
		return al->why.text;
	why = compare_text(al, atom.arch, column[2]);
	if (why == NULL)
		why = compare_layout(al, atom.threads, want[0]);
	if (why == NULL)
		why = compare_sides(al, &atom, want + 1);
	if (why == NULL)
		why = compare_text(al, counts(al, &atom, "bits"), want[4]);
	return why;
}

static const char *
check_copy_values(struct cj_algebra *al, const char *const *column,
    uint32_t count, uint32_t arrow)
{
	const char *const *want = column + arrow + 1, *why;
	struct cj_copy_atom atom, values;
	int bits;

	if (arrow != 3 || count != 8)
		return "not the columns of copy_atom_val";
	if (!cj_copy_atom_find(al, column[1], &atom))
		return al->why.text;
	bits = cj_atom_type_bits(column[2]);
	if (bits == 0)
		return "not a type";
	if (!cj_copy_atom_values(al, &atom, bits, &values))
		return al->why.text;
	why = compare_sides(al, &values, want);
	if (why == NULL)
		why = compare_text(al, counts(al, &values, "values"),
		    want[3]);
	return why;
}

/* ---- shared memory ----------------------------------------------------- */

/* K or MN, and INTER, SW32 ... */
static bool
modes_of(const char *major_text, const char *mode_text,
    enum cj_major *major, enum cj_smem_mode *mode)
{
	static const char *const modes[] = { "INTER", "SW32", "SW64",
	    "SW128", "SW128_32B" };
	size_t i;

	*major = strcmp(major_text, "K") == 0 ? CJ_MAJOR_K : CJ_MAJOR_MN;
	for (i = 0; i < CJ_LENGTH(modes); i++) {
		if (strcmp(modes[i], mode_text) != 0)
			continue;
		*mode = (enum cj_smem_mode)i;
		return *major == CJ_MAJOR_K || strcmp(major_text, "MN") == 0;
	}
	return false;
}

/* `index:offset ...` */
static const char *
compare_samples(struct cj_algebra *al, const struct cj_layout *l,
    const char *samples)
{
	struct cj_int v;
	char *end;

	while (*samples != '\0') {
		long long i = strtoll(samples, &end, 10), want;

		if (*end != ':')
			return "samples that cannot be read";
		want = strtoll(end + 1, &end, 10);
		if (!cj_layout_offset(al, l, cj_tuple_known(al, i), &v))
			return al->why.text;
		if (v.value != want)
			return cj_printf(al->arena,
			    "expected %lld at %lld, found %lld", want, i,
			    (long long)v.value);
		samples = *end == ' ' ? end + 1 : end;
	}
	return NULL;
}

static const char *
check_smem_atom(struct cj_algebra *al, const char *const *column,
    uint32_t count, uint32_t arrow)
{
	const char *const *want = column + arrow + 1, *why;
	enum cj_major major;
	enum cj_smem_mode mode;
	const struct cj_layout *l;
	struct cj_swizzle s;
	int bits;

	if (arrow != 5 || count != 10
	    || !modes_of(column[2], column[3], &major, &mode))
		return "not the columns of smem_atom";
	bits = atoi(column[4]);
	s = cj_smem_swizzle(mode);
	l = cj_smem_atom(al, major, mode, bits);
	why = compare_text(al, cj_printf(al->arena, "Sw<%d,%d,%d>", s.bits,
	    s.base, s.shift), want[0]);
	if (why == NULL)
		why = compare_layout(al, cj_smem_atom_plain(al, major, mode,
		    bits), want[1]);
	if (why == NULL)
		why = compare_layout(al, l, want[2]);
	return why == NULL ? compare_samples(al, l, want[3]) : why;
}

static const char *
check_smem_tile(struct cj_algebra *al, const char *const *column,
    uint32_t count, uint32_t arrow)
{
	const char *const *want = column + arrow + 1, *why;
	struct cj_datum shape, order = { .tuple = NULL };
	enum cj_major major;
	enum cj_smem_mode mode;
	const struct cj_layout *l;

	if (arrow != 7 || count != 10
	    || !modes_of(column[2], column[3], &major, &mode)
	    || !cj_datum_read(al, column[5], strlen(column[5]), &shape)
	    || shape.kind != CJ_DATUM_TUPLE)
		return "not the columns of smem_tile";
	if (strcmp(column[6], "-") != 0 && (!cj_datum_read(al, column[6],
	    strlen(column[6]), &order) || order.kind != CJ_DATUM_TUPLE))
		return "not an order";
	l = cj_smem_atom(al, major, mode, atoi(column[4]));
	l = l == NULL ? NULL : cj_layout_tile_to_shape(al, l, shape.tuple,
	    order.tuple);
	if (l == NULL)
		return al->why.text;
	why = compare_layout(al, l, want[0]);
	return why == NULL ? compare_samples(al, l, want[1]) : why;
}

static const char *
check_desc(struct cj_algebra *al, const char *const *column, uint32_t count,
    uint32_t arrow)
{
	const char *const *want = column + arrow + 1, *why;
	struct cj_matrix_desc d;
	struct cj_mma_atom atom;
	struct cj_datum shape;
	enum cj_major major;
	enum cj_smem_mode mode;

	if (arrow != 7 || count != 13
	    || !modes_of(column[4], column[5], &major, &mode)
	    || !cj_datum_read(al, column[6], strlen(column[6]), &shape)
	    || shape.kind != CJ_DATUM_TUPLE)
		return "not the columns of a descriptor";
	if (!cj_mma_atom_find(al, column[1], &atom))
		return al->why.text;
	why = compare_text(al, strcmp(column[2], "A") == 0 ? atom.a_type
	    : atom.b_type, column[3]);
	if (why != NULL)
		return why;
	if (!cj_matrix_desc_make(al, &atom, strcmp(column[2], "A") == 0
	    ? CJ_OPERAND_A : CJ_OPERAND_B, major, mode, shape.tuple, &d))
		return al->why.text;
	why = compare_text(al, cj_printf(al->arena,
	    "0x%016llx layout_type=%u LBO=%u SBO=%u",
	    (unsigned long long)d.bits, d.layout_type, d.leading, d.stride),
	    cj_printf(al->arena, "%s %s %s %s", want[0], want[1], want[2],
	    want[3]));
	return why == NULL ? compare_layout(al, d.fragment, want[4]) : why;
}

/* ---- tensor maps -------------------------------------------------------- */

/* The kind of shared memory: K_SW128, MN_INTER, plain ... */
static struct cj_swizzle
swizzle_of_kind(const char *kind)
{
	static const char *const names[] = { "SW128", "SW64", "SW32" };
	int i;

	for (i = 0; i < 3; i++) {
		if (strstr(kind, names[i]) != NULL)
			return (struct cj_swizzle){ 3 - i, 4, 3 };
	}
	return (struct cj_swizzle){ 0, 4, 3 };
}

static const char *
check_tma(struct cj_algebra *al, const char *const *column, uint32_t count,
    uint32_t arrow)
{
	const char *const *want = column + arrow + 1, *why;
	struct cj_swizzle s = swizzle_of_kind(column[2]);
	struct cj_datum gmem, smem, tile;
	struct cj_strbuf b;
	struct cj_tma tma;
	int bits = cj_atom_type_bits(column[1]);

	if (arrow != 7 || count < 13 || bits == 0
	    || strncmp(column[6], "multicast=", 10) != 0
	    || !cj_datum_read(al, column[3], strlen(column[3]), &gmem)
	    || !cj_datum_read(al, column[4], strlen(column[4]), &smem)
	    || !cj_datum_read(al, column[5], strlen(column[5]), &tile)
	    || gmem.kind != CJ_DATUM_LAYOUT || smem.kind != CJ_DATUM_LAYOUT
	    || tile.kind != CJ_DATUM_TUPLE)
		return "not the columns of tma_load";
	if (!cj_tma_make(al, gmem.layout, bits, smem.layout, tile.tuple,
	    strtoll(column[6] + 10, NULL, 10), &tma))
		return al->why.text;
	why = compare_text(al, cj_printf(al->arena,
	    "bits_per_instr=%lld Sw<%d,%d,%d>", (long long)tma.elements
	    * bits, s.bits, s.base, s.shift), cj_printf(al->arena, "%s %s",
	    want[0], want[1]));
	cj_strbuf_init(&b, al->arena);
	cj_tuple_print(&b, al->sym, tma.coords, CJ_STYLE_VECTORS);
	if (why == NULL)
		why = compare_text(al, b.text, want[2]);
	if (why == NULL)
		why = compare_layout(al, tma.box, want[3]);
	return why == NULL ? compare_layout(al, tma.tv, want[4]) : why;
}

/* ---- table ------------------------------------------------------------- */

const char *
cj_check_atom_line(struct cj_algebra *al, const char *const *column,
    uint32_t count, uint32_t arrow, bool *known)
{
	static const struct {
		const char *name;
		const char *(*check)(struct cj_algebra *al,
		    const char *const *column, uint32_t count,
		    uint32_t arrow);
	} rows[] = {
		{ "mma_atom", check_mma },
		{ "copy_atom", check_copy },
		{ "copy_atom_val", check_copy_values },
		{ "smem_atom", check_smem_atom },
		{ "smem_tile", check_smem_tile },
		{ "gmma_desc", check_desc },
		{ "umma_desc", check_desc },
		{ "tma_load", check_tma },
	};
	size_t i;

	for (i = 0; i < CJ_LENGTH(rows); i++) {
		if (strcmp(rows[i].name, column[0]) == 0)
			return rows[i].check(al, column, count, arrow);
	}
	*known = false;
	return NULL;
}
