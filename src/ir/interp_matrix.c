/*
 * ldmatrix, stmatrix, movmatrix: 8 rows of 16 bytes and 32 words of 4.
 *
 * Lane 8 j + i holds the offset of row i of matrix j; what other lanes hold is
 * not looked at. Of each matrix a lane has one word: number lane % 4 of row
 * lane / 4, or turned, the units of 16 bits at rows 2 (lane % 4) and the next
 * of column lane / 4.
 */
#include "interp_vectors.h"

enum { MOST_MATRICES = 4, MOST_ROWS = MOST_MATRICES * CJ_MATRIX_ROWS,
    WORD_BITS = 32 };

/* One matrix: as rows of memory, or as the words of the lanes. */
union matrix {
	char rows[CJ_MATRIX_ROWS][CJ_MATRIX_ROW_BYTES];
	uint16_t units[CJ_MATRIX_ROWS][CJ_MATRIX_ROWS];
	uint32_t words[CJ_LANES_WARP];	/* row by row: of the plain lanes */
};

/* Rows become columns. */
static void
turn(union matrix *m)
{
	uint32_t i, j;

	for (i = 0; i < CJ_MATRIX_ROWS; i++)
		for (j = 0; j < i; j++) {
			uint16_t held = m->units[i][j];

			m->units[i][j] = m->units[j][i];
			m->units[j][i] = held;
		}
}

/* ---- words and registers ------------------------------------------------- */

/* Registers that a word has; bits of one. */
static uint32_t
parts_of(enum cj_kind k, unsigned *bits)
{
	*bits = cj_kind_bits(k);
	assert(*bits >= 4 && WORD_BITS % *bits == 0);
	return WORD_BITS / *bits;
}

static void
put_words(struct cj_frame *f, const struct cj_step *s, uint32_t number,
    const union matrix *m)
{
	unsigned bits;
	uint32_t parts = parts_of(s->kind, &bits), i, lane;
	uint64_t mask = ((uint64_t)1 << bits) - 1;

	for (i = 0; i < parts; i++)
		for (lane = 0; lane < f->lanes; lane++) {
			uint64_t v = m->words[lane] >> i * bits & mask;

			if (cj_kind_is_signed(s->kind) && v >> (bits - 1))
				v |= ~mask;
			cj_reg_set(f->regs + s->dst, (number * parts + i)
			    * f->lanes + lane, s->kind, v);
		}
}

static void
get_words(struct cj_frame *f, const struct cj_step *s, uint32_t from,
    uint32_t number, union matrix *m)
{
	unsigned bits;
	uint32_t parts = parts_of(s->kind, &bits), i, lane;
	uint64_t mask = ((uint64_t)1 << bits) - 1;

	memset(m, 0, sizeof *m);
	for (i = 0; i < parts; i++)
		for (lane = 0; lane < f->lanes; lane++)
			m->words[lane] |= (uint32_t)((cj_reg_get(f->regs
			    + from, (number * parts + i) * f->lanes + lane,
			    s->kind) & mask) << i * bits);
}

static uint32_t
matrices_of(const struct cj_frame *f, const struct cj_step *s)
{
	uint32_t count = s->n / f->lanes * cj_kind_bits(s->kind) / WORD_BITS;

	assert(count >= 1 && count <= MOST_MATRICES);
	return count;
}

/* ---- rows of memory ------------------------------------------------------ */

/* With all that is checked of loads and stores. */
static struct cj_vectors
row_view(struct cj_frame *f, const struct cj_step *s)
{
	struct cj_vectors v = cj_vectors_of(f, s, CJ_NO_OFFSET);

	assert(cj_stored_bits(v.kind) >= 4);
	v.width = CJ_MATRIX_ROW_BYTES * 8 / cj_stored_bits(v.kind);
	return v;
}

/* A row of kinds under 8 bits begins at a byte, since 16 are promised. */
static char *
row_at(const struct cj_vectors *v, uint32_t lane)
{
	return v->memory->data + v->offset[lane] / (int64_t)v->width
	    * CJ_MATRIX_ROW_BYTES;
}

static bool
is_row(struct cj_frame *f, const struct cj_step *s, const struct cj_vectors *v,
    uint32_t lane)
{
	if (v->offset[lane] % (int64_t)v->width == 0)
		return true;
	cj_fault_at(f, s, lane, CJ_DIAG_MISALIGNED_ACCESS,
	    "a row of a matrix in \"%s\" begins at element %lld, which is no "
	    "multiple of %u", cj_vectors_name(f, v), (long long)v->offset[lane],
	    (unsigned)v->width);
	return false;
}

static void
read_rows(struct cj_frame *f, const struct cj_step *s, uint32_t rows,
    char *to)
{
	struct cj_vectors v = row_view(f, s);
	uint32_t lane;

	assert(rows <= f->lanes);
	cj_vectors_count(f, s, &v, rows);
	for (lane = 0; lane < rows; lane++, to += CJ_MATRIX_ROW_BYTES) {
		memset(to, 0, CJ_MATRIX_ROW_BYTES);
		if (!cj_lane_runs(f, lane)
		    || !cj_vectors_may_read(f, s, &v, lane)
		    || !is_row(f, s, &v, lane))
			continue;
		if (!cj_vectors_meet_copy(f, s, &v, lane)) {
			cj_vectors_check_written(f, s, &v, lane);
			cj_vectors_watch(f, s, &v, lane);
		}
		memcpy(to, row_at(&v, lane), CJ_MATRIX_ROW_BYTES);
	}
}

static void
write_rows(struct cj_frame *f, const struct cj_step *s, uint32_t rows,
    const char *from)
{
	struct cj_vectors v = row_view(f, s);
	uint32_t lane;

	assert(rows <= f->lanes);
	cj_vectors_count(f, s, &v, rows);
	for (lane = 0; lane < rows; lane++, from += CJ_MATRIX_ROW_BYTES) {
		if (!cj_lane_runs(f, lane)
		    || !cj_vectors_may_write(f, s, &v, lane)
		    || !is_row(f, s, &v, lane))
			continue;
		if (!cj_vectors_meet_copy(f, s, &v, lane))
			cj_vectors_watch(f, s, &v, lane);
		cj_memory_mark(v.memory, v.offset[lane], v.width,
		    CJ_WRITTEN_DATA);
		memcpy(row_at(&v, lane), from, CJ_MATRIX_ROW_BYTES);
	}
}

/* ---- steps --------------------------------------------------------------- */

/* a: offset. */
static void
step_ldmatrix(struct cj_frame *f, const struct cj_step *s)
{
	uint32_t count = matrices_of(f, s), i;
	union matrix m[MOST_MATRICES];

	cj_warp_needed(f, s);
	read_rows(f, s, count * CJ_MATRIX_ROWS, m[0].rows[0]);
	for (i = 0; i < count; i++) {
		if (cj_step_access(f, s)->transposed)
			turn(&m[i]);
		put_words(f, s, i, &m[i]);
	}
}

void
cj_interp_LDMATRIX(struct cj_decoder *d, cj_ref r)
{
	cj_step_value(d, r, step_ldmatrix);
}

/* a: offset, b: value. */
static void
step_stmatrix(struct cj_frame *f, const struct cj_step *s)
{
	uint32_t count = matrices_of(f, s), i;
	union matrix m[MOST_MATRICES];

	cj_warp_needed(f, s);
	for (i = 0; i < count; i++) {
		get_words(f, s, s->b, i, &m[i]);
		if (cj_step_access(f, s)->transposed)
			turn(&m[i]);
	}
	write_rows(f, s, count * CJ_MATRIX_ROWS, m[0].rows[0]);
}

void
cj_interp_STMATRIX(struct cj_decoder *d, cj_ref r)
{
	const struct cj_module *m = d->module;
	cj_type t = cj_inst(m, cj_operand(m, cj_inst(m, r), 1))->type;
	struct cj_step *s = cj_step_value(d, r, step_stmatrix);

	s->n = cj_type_count(t) * d->code->lanes;
	s->kind = (uint8_t)cj_type_kind(t);
}

static void
step_movmatrix(struct cj_frame *f, const struct cj_step *s)
{
	union matrix m;

	cj_warp_needed(f, s);
	get_words(f, s, s->a, 0, &m);
	turn(&m);
	put_words(f, s, 0, &m);
}

void
cj_interp_MOVMATRIX(struct cj_decoder *d, cj_ref r)
{
	cj_step_value(d, r, step_movmatrix);
}
