/*
 * mma: the registers of a warp as three matrices, multiplied and added.
 *
 * What is computed is the model of man/cute-ir.7: of f16, bf16, tf32 and 8-bit
 * floats every product is exact in f64; C and the products are summed in f64
 * with k ascending, and the sum is rounded once to the kind of the result. Of
 * f64 each step is an fma. Integers are exact; their sum wraps, or is clamped.
 */
#include "interp_priv.h"

enum { MOST_FLOATS = 16 * 64 };	/* numbers of A, in atoms of floats */

/* Numbers of an operand as the loops take them. */
union numbers {
	double f[MOST_FLOATS];
	int32_t i[CJ_MMA_MOST_A];
};

static const struct cj_mma *
mma_of(const struct cj_frame *f, const struct cj_step *s)
{
	return f->code->module->mmas.at[cj_step_inst(f, s)->attr];
}

/* ---- floats -------------------------------------------------------------- */

/* An f16: the exponent is set right by a product, denormals with it. */
static double
half_value(uint16_t bits)
{
	uint32_t wide = (uint32_t)(bits & 0x7fff) << 13;
	float v;

	if ((bits & 0x7c00) == 0x7c00)
		wide |= 0x7f800000;
	memcpy(&v, &wide, sizeof v);
	if ((bits & 0x7c00) != 0x7c00)
		v *= 0x1p112f;
	return bits & 0x8000 ? -(double)v : v;
}

static double
word_value(uint32_t bits)
{
	float v;

	memcpy(&v, &bits, sizeof v);
	return v;
}

#define SPREAD(type, value)						\
	for (i = 0; i < n; i++) {					\
		type x = ((const type *)from)[i];			\
									\
		to[at[i]] = (value);					\
	}

static void
get_floats(double *restrict to, const void *from, enum cj_kind k,
    const uint16_t *at, uint32_t n)
{
	uint32_t i;

	switch ((unsigned)k) {
	case CJ_KIND_F16:
		SPREAD(uint16_t, half_value(x))
		return;
	case CJ_KIND_BF16:
		SPREAD(uint16_t, word_value((uint32_t)x << 16))
		return;
	case CJ_KIND_TF32:	/* the last 13 bits are not looked at */
		SPREAD(uint32_t, word_value(x & ~(uint32_t)0x1fff))
		return;
	case CJ_KIND_F32:
		SPREAD(uint32_t, word_value(x))
		return;
	case CJ_KIND_F64:
		SPREAD(double, x)
		return;
	}
	for (i = 0; i < n; i++)
		to[at[i]] = cj_num_to_f64(k, cj_reg_get(from, i, k));
}

static void
put_floats(void *to, enum cj_kind k, const double *from, const uint16_t *at,
    uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		double x = from[at[i]];
		float rounded = (float)x;

		if (k == CJ_KIND_F32 && rounded == rounded)
			((float *)to)[i] = rounded;
		else
			cj_reg_set(to, i, k, cj_num_from_f64(k, x));
	}
}

/* a, b, c: A, B, C. */
static void
step_floats(struct cj_frame *f, const struct cj_step *s)
{
	const struct cj_mma *mma = mma_of(f, s);
	const struct cj_mma_table *table = cj_mma_best();
	union numbers a, b;
	double c[CJ_MMA_MOST_C];
	uint32_t g;

	cj_warp_needed(f, s);
	get_floats(a.f, f->regs + s->a, mma->a, mma->a_at,
	    mma->a_count * f->lanes);
	get_floats(b.f, f->regs + s->b, mma->b, mma->b_at,
	    mma->b_count * f->lanes);
	get_floats(c, f->regs + s->c, mma->c, mma->c_at,
	    mma->c_count * f->lanes);
	for (g = 0; g < mma->groups; g++)
		(mma->a == CJ_KIND_F64 ? table->fma : table->sum)(mma,
		    a.f + g * mma->m * mma->k, b.f + g * mma->n * mma->k,
		    c + g * mma->m * mma->n);
	put_floats(f->regs + s->dst, mma->d, c, mma->c_at, s->n);
}

/* ---- integers ------------------------------------------------------------ */

static void
get_integers(int32_t *restrict to, const void *from, enum cj_kind k,
    const uint16_t *at, uint32_t n)
{
	uint32_t i;

	assert(cj_reg_bytes(k) == 1);
	if (cj_kind_is_signed(k))
		SPREAD(int8_t, x)
	else
		SPREAD(uint8_t, x)
}

static int32_t
added(const struct cj_mma *mma, int32_t c, int32_t sum)
{
	int64_t all = (int64_t)c + sum;

	if (!mma->saturate)
		return (int32_t)(uint32_t)(uint64_t)all;
	return all > INT32_MAX ? INT32_MAX : all < INT32_MIN ? INT32_MIN :
	    (int32_t)all;
}

static void
step_integers(struct cj_frame *f, const struct cj_step *s)
{
	const struct cj_mma *mma = mma_of(f, s);
	const struct cj_mma_table *table = cj_mma_best();
	const int32_t *c = CJ_AT(f, const int32_t, s->c);
	int32_t *out = CJ_AT(f, int32_t, s->dst), sum[CJ_MMA_MOST_C];
	union numbers a, b;
	uint32_t i;

	cj_warp_needed(f, s);
	assert(mma->groups == 1);
	get_integers(a.i, f->regs + s->a, mma->a, mma->a_at,
	    mma->a_count * f->lanes);
	get_integers(b.i, f->regs + s->b, mma->b, mma->b_at,
	    mma->b_count * f->lanes);
	switch (mma->how) {
	case CJ_MMA_MULTIPLY: table->count(mma, a.i, b.i, sum); break;
	case CJ_MMA_XOR_POPC: table->differ(mma, a.i, b.i, sum); break;
	case CJ_MMA_AND_POPC: table->both(mma, a.i, b.i, sum); break;
	}
	for (i = 0; i < s->n; i++)
		out[i] = added(mma, c[i], sum[mma->c_at[i]]);
}

/* ---- a sparse A: two of four are stored ---------------------------------- */

/* The four bits of a chunk name two places, the lower one first. */
static bool
is_right(const struct cj_sparse *what, uint32_t bits)
{
	if (what->a == CJ_KIND_TF32)
		return bits == 4 || bits == 14;
	return (bits & 3) < bits >> 2;
}

static uint32_t
bits_of(struct cj_frame *f, const struct cj_step *s,
    const struct cj_sparse *what, const uint32_t *words, uint32_t row,
    uint32_t chunk)
{
	uint32_t quad, shift, lane, bits;

	cj_metadata_at(what, row, chunk, &quad, &shift);
	lane = row % 8 * 4 + quad;
	bits = words[lane] >> shift & 15;
	if (is_right(what, bits))
		return bits;
	cj_fault_at(f, s, lane, CJ_DIAG_WRONG_METADATA, "metadata of row %u, "
	    "chunk %u is %u%u%u%u" CJ_WHO ", which %s", (unsigned)row,
	    (unsigned)chunk, (unsigned)(bits >> 3), (unsigned)(bits >> 2 & 1),
	    (unsigned)(bits >> 1 & 1), (unsigned)(bits & 1),
	    what->a == CJ_KIND_TF32 ? "is neither 0100 nor 1110" :
	    "names no two places, the lower one in the low bits");
	return 4;		/* the first two */
}

void
cj_sparse_places(struct cj_frame *f, const struct cj_step *s,
    const struct cj_sparse *what, const uint32_t *words,
    struct cj_places *out)
{
	uint32_t chunks = cj_chunks(what->a, what->k);
	uint32_t each = what->k / chunks / 2, row, chunk, bits, i, half;

	for (row = 0; row < 16; row++)
		for (chunk = 0; chunk < chunks; chunk++) {
			bits = bits_of(f, s, what, words, row, chunk);
			for (i = 0; i < each; i++) {
				/* numbers of the chunk; pairs of 4 bits */
				half = i * 2 / each;
				out->at[row][chunk * each + i] = (uint16_t)
				    (chunk * each * 2 + (each == 1 ?
				    bits >> 3 : each == 2 ? bits >> 2 * i & 3 :
				    (bits >> 2 * half & 3) * 2 + i % 2));
			}
		}
}

static void
find_places(struct cj_frame *f, const struct cj_step *s, struct cj_places *p)
{
	const struct cj_mma *mma = mma_of(f, s);
	const uint32_t *list = &f->code->lists.at[s->target];
	struct cj_sparse what = { mma->a, mma->k,
	    (uint32_t)*CJ_AT(f, int64_t, list[1]) };

	assert(mma->m == 16);
	cj_sparse_places(f, s, &what, CJ_AT(f, uint32_t, list[0]), p);
}

static void
step_sparse_floats(struct cj_frame *f, const struct cj_step *s)
{
	const struct cj_mma *mma = mma_of(f, s);
	union numbers a, b;
	double c[CJ_MMA_MOST_C];
	struct cj_places p;
	uint32_t m, n, i;

	cj_warp_needed(f, s);
	find_places(f, s, &p);
	get_floats(a.f, f->regs + s->a, mma->a, mma->a_at,
	    mma->a_count * f->lanes);
	get_floats(b.f, f->regs + s->b, mma->b, mma->b_at,
	    mma->b_count * f->lanes);
	get_floats(c, f->regs + s->c, mma->c, mma->c_at,
	    mma->c_count * f->lanes);
	for (n = 0; n < mma->n; n++)
		for (m = 0; m < mma->m; m++)
			for (i = 0; i < mma->k / 2; i++)
				c[n * mma->m + m] += a.f[i * mma->m + m] *
				    b.f[p.at[m][i] * mma->n + n];
	put_floats(f->regs + s->dst, mma->d, c, mma->c_at, s->n);
}

static void
step_sparse_integers(struct cj_frame *f, const struct cj_step *s)
{
	const struct cj_mma *mma = mma_of(f, s);
	const int32_t *c = CJ_AT(f, const int32_t, s->c);
	int32_t *out = CJ_AT(f, int32_t, s->dst), sum[CJ_MMA_MOST_C];
	union numbers a, b;
	struct cj_places p;
	uint32_t m, n, i;

	cj_warp_needed(f, s);
	find_places(f, s, &p);
	get_integers(a.i, f->regs + s->a, mma->a, mma->a_at,
	    mma->a_count * f->lanes);
	get_integers(b.i, f->regs + s->b, mma->b, mma->b_at,
	    mma->b_count * f->lanes);
	memset(sum, 0, sizeof sum);
	for (n = 0; n < mma->n; n++)
		for (m = 0; m < mma->m; m++)
			for (i = 0; i < mma->k / 2; i++)
				sum[n * mma->m + m] += a.i[i * mma->m + m] *
				    b.i[p.at[m][i] * mma->n + n];
	for (i = 0; i < s->n; i++)
		out[i] = added(mma, c[i], sum[mma->c_at[i]]);
}

/* target: offsets of metadata and selector in `lists`. */
void
cj_interp_MMA_SPARSE(struct cj_decoder *d, cj_ref r)
{
	const struct cj_mma *mma =
	    d->module->mmas.at[cj_inst(d->module, r)->attr];
	uint32_t list = cj_decode_list(d, r, 3);
	struct cj_step *s = cj_step_value(d, r, cj_kind_is_float(mma->a) ?
	    step_sparse_floats : step_sparse_integers);

	assert(d->code->lanes == CJ_LANES_WARP && mma->selectors != 0);
	s->target = list;
}

void
cj_interp_MMA(struct cj_decoder *d, cj_ref r)
{
	const struct cj_mma *mma =
	    d->module->mmas.at[cj_inst(d->module, r)->attr];
	bool is_float = cj_kind_is_float(mma->a);

	assert(d->code->lanes == CJ_LANES_WARP);
	assert(!is_float || mma->groups * mma->m * mma->k <= MOST_FLOATS);
	assert(is_float || mma->c == CJ_KIND_I32);
	cj_step_value(d, r, is_float ? step_floats : step_integers);
}
