/*
 * Lines of atoms: their layouts, types and how operands are covered.
 *
 * A layout agrees if it prints the same or is the same table: equal sizes of
 * threads and values, equal values.
 */
#include "layout_check.h"

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

const char *
cj_check_atom_line(struct cj_algebra *al, const char *const *column,
    uint32_t count, uint32_t arrow, bool *known)
{
	if (strcmp(column[0], "mma_atom") == 0)
		return check_mma(al, column, count, arrow);
	if (strcmp(column[0], "copy_atom") == 0)
		return check_copy(al, column, count, arrow);
	if (strcmp(column[0], "copy_atom_val") == 0)
		return check_copy_values(al, column, count, arrow);
	*known = false;
	return NULL;
}
