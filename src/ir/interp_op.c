/*
 * What the pure operations mean: one number by cj_num_apply and
 * cj_num_convert of num.c, a value by a loop over its numbers. Where
 * interp_vec.c has a loop of its own for the operation and kind, with the same
 * results to the bit, that one is taken.
 */
#include "interp_priv.h"

__extension__ typedef unsigned __int128 wide;

/* ---- by number ----------------------------------------------------------- */

void
cj_step_generic(struct cj_frame *f, const struct cj_step *s)
{
	const struct cj_inst *inst = cj_step_inst(f, s);
	enum cj_kind to = cj_type_kind(inst->type), k = s->kind;
	unsigned count = inst->operand_count;
	uint32_t i;

	for (i = 0; i < s->n; i++) {
		uint64_t a = cj_reg_get(f->regs + s->a, i, k), b = 0, c = 0;

		if (count > 1)
			b = cj_reg_get(f->regs + s->b, i, k);
		if (count > 2)
			c = cj_reg_get(f->regs + s->c, i, k);
		cj_reg_set(f->regs + s->dst, i, to,
		    cj_num_apply(s->op, k, a, b, c));
	}
	if (k == CJ_KIND_INDEX)
		cj_index_overflow(f, s);
}

void
cj_step_convert(struct cj_frame *f, const struct cj_step *s)
{
	const struct cj_module *m = f->code->module;
	struct cj_conversion how =
	    m->conversions.at[cj_step_inst(f, s)->attr];
	uint32_t i;

	for (i = 0; i < s->n; i++)
		cj_reg_set(f->regs + s->dst, i, s->kind,
		    cj_num_convert(s->kind, s->from,
		    cj_reg_get(f->regs + s->a, i, s->from), how));
}

static void
elementwise(struct cj_decoder *d, cj_ref r)
{
	const struct cj_inst *i = cj_inst(d->module, r);
	cj_type t = cj_inst(d->module, cj_operand(d->module, i, 0))->type;
	cj_step_fn *run = cj_vec_best()->op[i->op][cj_type_kind(t)];
	struct cj_step *s = cj_step_value(d, r,
	    run != NULL ? run : cj_step_generic);

	s->kind = (uint8_t)cj_type_kind(t);
	s->from = d->place != NULL && d->place[r];
	s->n = cj_type_count(t) * d->code->lanes;
}

#define ELEMENTWISE(name)						\
void									\
cj_interp_##name(struct cj_decoder *d, cj_ref r)			\
{									\
	elementwise(d, r);						\
}
ELEMENTWISE(ADD)
ELEMENTWISE(SUB)
ELEMENTWISE(MUL)
ELEMENTWISE(DIV)
ELEMENTWISE(MOD)
ELEMENTWISE(FMA)
ELEMENTWISE(NEG)
ELEMENTWISE(ABS)
ELEMENTWISE(MIN)
ELEMENTWISE(MAX)
ELEMENTWISE(COPYSIGN)
ELEMENTWISE(SQRT)
ELEMENTWISE(FLOOR)
ELEMENTWISE(CEIL)
ELEMENTWISE(TRUNC)
ELEMENTWISE(RINT)
ELEMENTWISE(AND)
ELEMENTWISE(OR)
ELEMENTWISE(XOR)
ELEMENTWISE(NOT)
ELEMENTWISE(SHL)
ELEMENTWISE(SHR)
ELEMENTWISE(MUL_HI)
ELEMENTWISE(POPC)
ELEMENTWISE(CLZ)
ELEMENTWISE(CTZ)
ELEMENTWISE(EQ)
ELEMENTWISE(NE)
ELEMENTWISE(LT)
ELEMENTWISE(LE)
ELEMENTWISE(APPROX_EX2)
ELEMENTWISE(APPROX_LG2)
ELEMENTWISE(APPROX_SIN)
ELEMENTWISE(APPROX_COS)
ELEMENTWISE(APPROX_TANH)
ELEMENTWISE(APPROX_RCP)
ELEMENTWISE(APPROX_RSQRT)
ELEMENTWISE(APPROX_SQRT)
ELEMENTWISE(APPROX_DIV)

void
cj_interp_CONVERT(struct cj_decoder *d, cj_ref r)
{
	const struct cj_inst *i = cj_inst(d->module, r);
	cj_type to = i->type;
	cj_type from = cj_inst(d->module, cj_operand(d->module, i, 0))->type;
	cj_step_fn *run = NULL;
	struct cj_step *s;

	if (d->module->conversions.at[i->attr].is_default)
		run = cj_vec_best()->convert[cj_type_kind(to)]
		    [cj_type_kind(from)];
	s = cj_step_value(d, r, run != NULL ? run : cj_step_convert);
	s->from = (uint8_t)cj_type_kind(from);
}

void
cj_index_overflow(struct cj_frame *f, const struct cj_step *s)
{
	const int64_t *a = CJ_AT(f, int64_t, s->a);
	const int64_t *b = s->b == CJ_NO_OFFSET ? a : CJ_AT(f, int64_t, s->b);
	const int64_t *c = s->c == CJ_NO_OFFSET ? a : CJ_AT(f, int64_t, s->c);
	uint32_t i;

	if (s->from)	/* interp_place.c */
		return;
	for (i = 0; i < s->n; i++) {
		uint32_t lane = i % f->lanes;

		if (!cj_lane_runs(f, lane)
		    || !cj_num_index_overflows(s->op, a[i], b[i], c[i]))
			continue;
		cj_fault_at(f, s, lane, CJ_DIAG_INDEX_OVERFLOW,
		    "\"int\" overflows in %s of %lld and %lld",
		    cj_op_info[s->op].text, (long long)a[i],
		    (long long)b[i]);
	}
}

/* ---- presets ------------------------------------------------------------- */

static void
step_const(struct cj_frame *f, const struct cj_step *s)
{
	const struct cj_constant *c = cj_constant_of(f->code->module, s->ref);
	size_t row = (size_t)cj_reg_bytes(s->kind) * f->lanes;
	uint32_t r;

	for (r = 0; r < s->n / f->lanes; r++)
		cj_reg_fill(f->regs + s->dst + r * row, f->lanes, s->kind,
		    c->bits[r]);
}

void
cj_interp_CONST(struct cj_decoder *d, cj_ref r)
{
	if (!cj_decode_preset(d, r))
		cj_step_value(d, r, step_const);
}

void
cj_interp_PARAM(struct cj_decoder *d, cj_ref r)
{
	cj_decode_preset(d, r);
}

/* ---- choice and division ------------------------------------------------- */

/* a: condition of one register for all, or one each. */
static void
step_select(struct cj_frame *f, const struct cj_step *s)
{
	const struct cj_module *m = f->code->module;
	const struct cj_inst *inst = cj_step_inst(f, s);
	bool one = cj_type_count(cj_inst(m, cj_operand(m, inst, 0))->type)
	    == 1;
	const uint8_t *condition = CJ_AT(f, uint8_t, s->a);
	uint32_t i, bytes = cj_reg_bytes(s->kind);

	for (i = 0; i < s->n; i++) {
		uint8_t yes = condition[one ? i % f->lanes : i];
		uint32_t from = yes ? s->b : s->c;

		memcpy(f->regs + s->dst + (size_t)i * bytes,
		    f->regs + from + (size_t)i * bytes, bytes);
	}
}

void
cj_interp_SELECT(struct cj_decoder *d, cj_ref r)
{
	const struct cj_module *m = d->module;
	const struct cj_inst *i = cj_inst(m, r);
	cj_type condition = cj_inst(m, cj_operand(m, i, 0))->type;
	cj_step_fn *run = NULL;

	if (cj_type_count(condition) == cj_type_count(i->type))
		run = cj_vec_best()->op[CJ_OP_SELECT][cj_type_kind(i->type)];
	cj_step_value(d, r, run != NULL ? run : step_select);
}

/* By the formula that code generation emits (num.h). */
static int64_t
prepared(int64_t a, int64_t by, uint64_t multiplier, uint64_t shift)
{
	uint64_t sign = a < 0 ? UINT64_MAX : 0, x = (uint64_t)a ^ sign;
	uint64_t high = (uint64_t)((wide)multiplier * x >> 64);

	return (int64_t)((high + x) >> (shift & 63) ^ (by == 0 ? 0 : sign));
}

static void
step_divide_by(struct cj_frame *f, const struct cj_step *s)
{
	const int64_t *a = CJ_AT(f, int64_t, s->a);
	const int64_t *by = CJ_AT(f, int64_t, s->b);
	const uint64_t *pair = CJ_AT(f, uint64_t, s->c);
	int64_t *out = CJ_AT(f, int64_t, s->dst);
	uint32_t i;

	for (i = 0; i < s->n; i++) {
		uint32_t lane = i % f->lanes;

		out[i] = (int64_t)cj_num_apply(CJ_OP_DIV, CJ_KIND_INDEX,
		    (uint64_t)a[i], (uint64_t)by[lane], 0);
		if (cj_lane_runs(f, lane) && out[i] !=
		    prepared(a[i], by[lane], pair[lane],
		    pair[lane + f->lanes]))
			cj_bug(f->machine->arena->recover,
			    "%lld is not what divide_by was prepared for",
			    (long long)by[lane]);
	}
}

void
cj_interp_DIVIDE_BY(struct cj_decoder *d, cj_ref r)
{
	cj_step_value(d, r, step_divide_by);
}

/* ---- registers ----------------------------------------------------------- */

static uint32_t
row_bytes(const struct cj_frame *f, const struct cj_step *s)
{
	return cj_reg_bytes(s->kind) * f->lanes;
}

static void
step_splat(struct cj_frame *f, const struct cj_step *s)
{
	uint32_t row = row_bytes(f, s), r;

	for (r = 0; r < s->n / f->lanes; r++)
		memcpy(f->regs + s->dst + (size_t)r * row, f->regs + s->a,
		    row);
}

void
cj_interp_SPLAT(struct cj_decoder *d, cj_ref r)
{
	cj_step_value(d, r, step_splat);
}

static void
step_slice(struct cj_frame *f, const struct cj_step *s)
{
	uint32_t row = row_bytes(f, s);

	memcpy(f->regs + s->dst,
	    f->regs + s->a + (size_t)cj_step_inst(f, s)->attr * row,
	    (size_t)s->n / f->lanes * row);
}

void
cj_interp_SLICE(struct cj_decoder *d, cj_ref r)
{
	cj_step_value(d, r, step_slice);
}

static void
step_copy(struct cj_frame *f, const struct cj_step *s)
{
	memcpy(f->regs + s->dst, f->regs + s->a, s->n);
}

/* A step per operand: they lie wherever they were computed. */
void
cj_interp_CONCAT(struct cj_decoder *d, cj_ref r)
{
	const struct cj_module *m = d->module;
	const struct cj_inst *i = cj_inst(m, r);
	uint32_t to = cj_decode_result(d, r);
	unsigned n;

	for (n = 0; n < i->operand_count; n++) {
		uint32_t bytes = cj_value_bytes(
		    cj_inst(m, cj_operand(m, i, n))->type, d->code->lanes);
		uint32_t from = cj_decode_operand(d, r, n);
		struct cj_step *s = cj_step_add(d, r, step_copy);

		s->a = from;
		s->dst = to;
		s->n = bytes;
		to += bytes;
	}
}

static void
step_permute(struct cj_frame *f, const struct cj_step *s)
{
	const struct cj_module *m = f->code->module;
	const struct cj_positions *p =
	    &m->positions.at[cj_step_inst(f, s)->attr];
	uint32_t row = row_bytes(f, s), i;

	assert(p->count == s->n / f->lanes);
	for (i = 0; i < p->count; i++)
		memcpy(f->regs + s->dst + (size_t)i * row,
		    f->regs + s->a + (size_t)p->at[i] * row, row);
}

void
cj_interp_PERMUTE(struct cj_decoder *d, cj_ref r)
{
	cj_step_value(d, r, step_permute);
}

void
cj_interp_INSERT(struct cj_decoder *d, cj_ref r)
{
	const struct cj_module *m = d->module;
	const struct cj_inst *i = cj_inst(m, r);
	cj_type part = cj_inst(m, cj_operand(m, i, 1))->type;
	uint32_t lanes = d->code->lanes, to, from;
	struct cj_step *s = cj_step_value(d, r, step_copy);

	s->n = cj_value_bytes(i->type, lanes);
	to = s->dst;
	from = s->b;
	s = cj_step_add(d, r, step_copy);
	s->dst = to + i->attr * cj_reg_bytes(cj_type_kind(part)) * lanes;
	s->a = from;
	s->n = cj_value_bytes(part, lanes);
}

/* Bits as num.h has them: extended from the kind's width. */
static uint64_t
cut(enum cj_kind k, uint64_t bits)
{
	unsigned width = cj_kind_bits(k);

	if (width >= 64)
		return bits;
	bits <<= 64 - width;
	return cj_kind_is_signed(k) ? (uint64_t)((int64_t)bits >> (64 - width))
	    : bits >> (64 - width);
}

/* The bits of all registers of a lane in a row, cut anew. */
static void
step_bitcast(struct cj_frame *f, const struct cj_step *s)
{
	unsigned from = cj_kind_bits(s->from), to = cj_kind_bits(s->kind);
	uint32_t in = s->n / f->lanes * to / from, lane, r;

	assert(from != 0 && to != 0 && from <= 64 && to <= 64);
	if (from == to && from % 8 == 0) {
		memcpy(f->regs + s->dst, f->regs + s->a,
		    (size_t)s->n * cj_reg_bytes(s->kind));
		return;
	}
	for (lane = 0; lane < f->lanes; lane++) {
		wide held = 0;
		unsigned have = 0;
		uint32_t out = 0;

		for (r = 0; r < in; r++) {
			uint64_t bits = cj_reg_get(f->regs + s->a,
			    r * f->lanes + lane, s->from);

			if (from < 64)
				bits &= ((uint64_t)1 << from) - 1;
			held |= (wide)bits << have;
			for (have += from; have >= to; have -= to) {
				cj_reg_set(f->regs + s->dst,
				    out++ * f->lanes + lane, s->kind,
				    cut(s->kind, (uint64_t)held));
				held >>= to;
			}
		}
		assert(out * f->lanes == s->n);
	}
}

void
cj_interp_BITCAST(struct cj_decoder *d, cj_ref r)
{
	const struct cj_module *m = d->module;
	struct cj_step *s = cj_step_value(d, r, step_bitcast);

	s->from = (uint8_t)cj_type_kind(cj_inst(m, cj_operand(m,
	    cj_inst(m, r), 0))->type);
}

/* ---- lanes that run ------------------------------------------------------ */

/* By so many lanes that the number is known, and compilers turn the choice into
 * vectors. */
#define BLEND(type)							\
	do {								\
		type *restrict out = CJ_AT(f, type, s->dst);		\
		const type *restrict in = CJ_AT(f, const type, s->a);	\
									\
		for (i = 0; i < s->n; i += CJ_LANES_WARP) {		\
			const uint8_t *restrict runs =			\
			    cj_mask(f, CJ_FRAME_MASK) + i % f->lanes;	\
									\
			for (j = 0; j < CJ_LANES_WARP; j++)		\
				out[i + j] = (type)(runs[j] ?		\
				    in[i + j] : out[i + j]);		\
		}							\
	} while (0)

static void
blend_many(struct cj_frame *f, const struct cj_step *s)
{
	uint32_t i, j;

	switch (cj_reg_bytes(s->kind)) {
	case 1:
		BLEND(uint8_t);
		return;
	case 2:
		BLEND(uint16_t);
		return;
	case 4:
		BLEND(uint32_t);
		return;
	case 8:
		BLEND(uint64_t);
		return;
	}
	assert(0 && "a register has 1, 2, 4 or 8 bytes");
}

void
cj_step_blend(struct cj_frame *f, const struct cj_step *s)
{
	const uint8_t *mask = cj_mask(f, CJ_FRAME_MASK);
	uint32_t bytes = cj_reg_bytes(s->kind), i;

	if (f->full) {
		memcpy(f->regs + s->dst, f->regs + s->a, (size_t)s->n * bytes);
		return;
	}
	if (f->lanes % CJ_LANES_WARP == 0 && s->dst != s->a) {
		blend_many(f, s);
		return;
	}
	for (i = 0; i < s->n; i++)
		if (mask[i % f->lanes])
			memcpy(f->regs + s->dst + (size_t)i * bytes,
			    f->regs + s->a + (size_t)i * bytes, bytes);
}
