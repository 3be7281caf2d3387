/*
 * mma: the registers of a warp as three matrices, multiplied and added.
 *
 * What is computed is the model of man/cute-ir.7: of f16, bf16, tf32 and 8-bit
 * floats every product is exact in f64; C and the products are summed in f64
 * with k ascending, and the sum is rounded once to the kind of the result. Of
 * f64 each step is an fma. Integers are exact; their sum wraps, or is clamped.
 */
#include "interp_priv.h"

enum { MOST_FLOATS = 16 * 32 };	/* numbers of A, in atoms of floats */

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
	/* of single bits, both set is a product */
	(mma->how == CJ_MMA_XOR_POPC ? table->differ : table->count)(mma, a.i,
	    b.i, sum);
	for (i = 0; i < s->n; i++)
		out[i] = added(mma, c[i], sum[mma->c_at[i]]);
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
