/*
 * Rounding to a float format in integer instructions, in any direction and
 * with any range: for conversions that the target has no instruction for, and
 * for those where its instruction would round twice. The meaning is that of
 * cj_num_pack() in ir/num.c.
 *
 * A number is (-1)^sign m 2^e with an integer m, which is kept below a quarter
 * of its word. Its highest bit stands for 2^top. The last place of the result
 * is 2^q, q = max(top, least exponent) - mantissa bits; m is shifted right by
 * s = q - e, and what falls out decides the rounding. The encoding is then
 *
 *	(max(top, least) - least) << mantissa bits, plus the shifted m,
 *
 * whose hidden bit, if it has one, counts the exponent field up by one; a
 * carry of the rounding does the right thing by itself. s is cut at the width
 * less 1: then nothing is left, and what fell out is below half, as it should.
 */
#include "llvm_round.h"

static const struct cj_llvm_format formats[] = {
	/*		  bits man bias  largest  infinity  nan */
	[CJ_KIND_F4E2M1] = { 4, 1, 1, 0x7, 0, 0 },
	[CJ_KIND_F6E2M3] = { 6, 3, 1, 0x1f, 0, 0 },
	[CJ_KIND_F6E3M2] = { 6, 2, 3, 0x1f, 0, 0 },
	[CJ_KIND_F8E4M3] = { 8, 3, 7, 0x7e, 0, 0x7f },
	[CJ_KIND_F8E5M2] = { 8, 2, 15, 0x7b, 0x7c, 0x7f },
	[CJ_KIND_F8UE8M0] = { 8, 0, 127, 0xfe, 0, 0xff },
	[CJ_KIND_F16] = { 16, 10, 15, 0x7bff, 0x7c00, 0x7fff },
	[CJ_KIND_BF16] = { 16, 7, 127, 0x7f7f, 0x7f80, 0x7fff },
	[CJ_KIND_TF32] = { 19, 10, 127, 0x3fbff, 0x3fc00, 0x3ffff },
	[CJ_KIND_F32] = { 32, 23, 127, 0x7f7fffff, 0x7f800000, 0x7fffffff },
	[CJ_KIND_F64] = { 64, 52, 1023, 0x7fefffffffffffff,
	    0x7ff0000000000000, 0x7fffffffffffffff },
};

enum { TF32_SHIFT = 13 };

const struct cj_llvm_format *
cj_llvm_format(enum cj_kind k)
{
	assert(cj_kind_is_float(k) && formats[k].bits != 0);
	return &formats[k];
}

bool
cj_llvm_saturates(enum cj_kind to, struct cj_conversion how)
{
	return how.is_default ? cj_kind_bits(to) <= 8 : how.saturate;
}

static enum cj_rounding
rounding_of(struct cj_conversion how)
{
	return how.is_default ? CJ_ROUND_EVEN : how.rounding;
}

/* ---- a word of integer code --------------------------------------------- */

struct number {
	struct cj_llvm_gen *g;
	LLVMTypeRef type;	/* of m and e: i32 or i64 */
	cj_llvm sign;		/* i1 */
	cj_llvm m, e;
	bool may_grow;		/* m may have to be shifted left */
	enum cj_kind to;
	const struct cj_llvm_format *f;
	struct cj_conversion how;
};

static cj_llvm
word(const struct number *n, uint64_t value)
{
	return LLVMConstInt(n->type, value, 0);
}

static cj_llvm
choose(const struct number *n, cj_llvm c, cj_llvm a, cj_llvm b)
{
	return LLVMBuildSelect(n->g->b, c, a, b, "");
}

static cj_llvm
is(const struct number *n, LLVMIntPredicate p, cj_llvm a, cj_llvm b)
{
	return LLVMBuildICmp(n->g->b, p, a, b, "");
}

/* Exponent of the highest bit of m; of 0 it is one below that of the last. */
static cj_llvm
top_exponent(const struct number *n)
{
	unsigned width = LLVMGetIntTypeWidth(n->type);
	cj_llvm a[] = { n->m, LLVMConstInt(n->g->i1, 0, 0) };
	cj_llvm zeros = cj_llvm_intrinsic(n->g, "llvm.ctlz", n->type, a, 2);

	return LLVMBuildAdd(n->g->b, n->e,
	    LLVMBuildSub(n->g->b, word(n, width - 1), zeros, ""), "");
}

/* What to add to the shifted m (or to `even`, whose last bit decides). */
static cj_llvm
increment(const struct number *n, cj_llvm rest, cj_llvm half, cj_llvm even)
{
	LLVMBuilderRef b = n->g->b;
	cj_llvm lost, odd;

	switch (rounding_of(n->how)) {
	case CJ_ROUND_ZERO:
		return word(n, 0);
	case CJ_ROUND_EVEN:
		odd = LLVMBuildAnd(b, even, word(n, 1), "");
		lost = is(n, LLVMIntUGT, LLVMBuildAdd(b, rest, odd, ""), half);
		break;
	case CJ_ROUND_UP:
		lost = LLVMBuildAnd(b, is(n, LLVMIntNE, rest, word(n, 0)),
		    LLVMBuildNot(b, n->sign, ""), "");
		break;
	case CJ_ROUND_DOWN:
		lost = LLVMBuildAnd(b, is(n, LLVMIntNE, rest, word(n, 0)),
		    n->sign, "");
		break;
	default:
		cj_llvm_bug(n->g, "a rounding");
	}
	return LLVMBuildZExt(b, lost, n->type, "");
}

struct shifted {
	cj_llvm kept, rest, half;
};

/* m >> s for s >= 1; m << -s for less, where m may grow. */
static struct shifted
shift(const struct number *n, cj_llvm s)
{
	LLVMBuilderRef b = n->g->b;
	unsigned width = LLVMGetIntTypeWidth(n->type);
	cj_llvm one = word(n, 1), right, left, up;
	struct shifted out;

	right = cj_llvm_call2(n->g, "llvm.smin", s, word(n, width - 1));
	right = cj_llvm_call2(n->g, "llvm.smax", right, one);
	out.kept = LLVMBuildLShr(b, n->m, right, "");
	out.half = LLVMBuildShl(b, one, LLVMBuildSub(b, right, one, ""), "");
	out.rest = LLVMBuildAnd(b, n->m, LLVMBuildSub(b,
	    LLVMBuildShl(b, one, right, ""), one, ""), "");
	if (!n->may_grow)
		return out;
	up = is(n, LLVMIntSLT, s, one);
	left = choose(n, up, LLVMBuildNeg(b, s, ""), word(n, 0));
	left = LLVMBuildAnd(b, left, word(n, width - 1), "");
	out.kept = choose(n, up, LLVMBuildShl(b, n->m, left, ""), out.kept);
	out.rest = choose(n, up, word(n, 0), out.rest);
	return out;
}

/* ---- results ------------------------------------------------------------ */

/* Where a finite value beyond the range goes. */
static cj_llvm
beyond(const struct number *n)
{
	cj_llvm largest = word(n, n->f->largest);
	cj_llvm out = word(n, n->f->infinity != 0 ? n->f->infinity :
	    n->f->nan);

	if (cj_llvm_saturates(n->to, n->how) || n->f->nan == 0)
		return largest;
	switch (rounding_of(n->how)) {
	case CJ_ROUND_EVEN:
		return out;
	case CJ_ROUND_ZERO:
		return n->to == CJ_KIND_F8UE8M0 ? out : largest;
	case CJ_ROUND_UP:
		return n->to == CJ_KIND_F8UE8M0 ? out :
		    choose(n, n->sign, largest, out);
	case CJ_ROUND_DOWN:
		return n->to == CJ_KIND_F8UE8M0 ? out :
		    choose(n, n->sign, out, largest);
	}
	return out;
}

/* Infinity as the kind has it. */
static cj_llvm
infinity(const struct number *n)
{
	if (cj_llvm_saturates(n->to, n->how) || n->f->nan == 0)
		return word(n, n->f->largest);
	return word(n, n->f->infinity != 0 ? n->f->infinity : n->f->nan);
}

static cj_llvm
magnitude(const struct number *n)
{
	LLVMBuilderRef b = n->g->b;
	cj_llvm least = word(n, (uint64_t)(int64_t)(1 - n->f->bias));
	cj_llvm top = top_exponent(n), q, bits, zero = word(n, 0);
	struct shifted m;

	assert(n->to != CJ_KIND_F8UE8M0 && LLVMTypeOf(n->m) == n->type);
	q = cj_llvm_call2(n->g, "llvm.smax", top, least);
	m = shift(n, LLVMBuildSub(b, LLVMBuildSub(b, q,
	    word(n, (uint64_t)n->f->mantissa), ""), n->e, ""));
	bits = LLVMBuildAdd(b, m.kept, increment(n, m.rest, m.half, m.kept),
	    "");
	bits = LLVMBuildAdd(b, bits, LLVMBuildShl(b, LLVMBuildSub(b, q, least,
	    ""), word(n, (uint64_t)n->f->mantissa), ""), "");
	bits = choose(n, is(n, LLVMIntUGT, bits, word(n, n->f->largest)),
	    beyond(n), bits);
	return choose(n, is(n, LLVMIntEQ, n->m, zero), zero, bits);
}

/* An exponent alone: no zero, no sign, ties by the encoding's last bit. */
static cj_llvm
magnitude_ue8m0(struct number *n)
{
	LLVMBuilderRef b = n->g->b;
	cj_llvm top = top_exponent(n), zero = word(n, 0), scale, low;
	struct shifted m;

	n->sign = LLVMConstInt(n->g->i1, 0, 0);
	scale = LLVMBuildAdd(b, top, word(n, (uint64_t)n->f->bias), "");
	m = shift(n, LLVMBuildSub(b, top, n->e, ""));
	/* with nothing below the highest bit there is nothing to round */
	m.rest = choose(n, is(n, LLVMIntEQ, top, n->e), zero, m.rest);
	low = LLVMBuildOr(b, is(n, LLVMIntSLT, scale, zero),
	    is(n, LLVMIntEQ, n->m, zero), "");
	scale = LLVMBuildAdd(b, scale, increment(n, m.rest, m.half, scale),
	    "");
	scale = choose(n, is(n, LLVMIntSGT, scale, word(n, n->f->largest)),
	    beyond(n), scale);
	return choose(n, low, zero, scale);
}

/* Sign and magnitude as a value of the kind. */
static cj_llvm
finish(const struct number *n, cj_llvm bits)
{
	LLVMBuilderRef b = n->g->b;
	unsigned width = cj_llvm_is_small(n->to) ? 8 : cj_kind_bits(n->to);
	LLVMTypeRef type = cj_llvm_int_type(n->g, width);

	if (width > LLVMGetIntTypeWidth(n->type))
		bits = LLVMBuildZExt(b, bits, type, "");
	else
		bits = LLVMBuildTrunc(b, bits, type, "");
	if (n->to == CJ_KIND_TF32)
		bits = LLVMBuildShl(b, bits,
		    LLVMConstInt(type, TF32_SHIFT, 0), "");
	return LLVMBuildBitCast(b, bits, cj_llvm_type(n->g, n->to), "");
}

static cj_llvm
with_sign(const struct number *n, cj_llvm bits)
{
	cj_llvm sign;

	if (n->to == CJ_KIND_F8UE8M0)
		return bits;
	sign = LLVMBuildZExt(n->g->b, n->sign, n->type, "");
	sign = LLVMBuildShl(n->g->b, sign,
	    word(n, (uint64_t)n->f->bits - 1), "");
	return LLVMBuildOr(n->g->b, bits, sign, "");
}

static cj_llvm
encode(struct number *n)
{
	return n->to == CJ_KIND_F8UE8M0 ? magnitude_ue8m0(n) : magnitude(n);
}

/* ---- from floats -------------------------------------------------------- */

cj_llvm
cj_llvm_round_float(struct cj_llvm_gen *g, enum cj_kind to,
    struct cj_conversion how, cj_llvm x)
{
	bool is_double = LLVMGetTypeKind(LLVMTypeOf(x)) == LLVMDoubleTypeKind;
	const struct cj_llvm_format *from =
	    cj_llvm_format(is_double ? CJ_KIND_F64 : CJ_KIND_F32);
	struct number n = { .g = g, .to = to, .f = cj_llvm_format(to),
	    .how = how, .type = is_double ? g->i64 : g->i32 };
	LLVMBuilderRef b = g->b;
	cj_llvm bits, abs, field, hidden, out, nan;

	assert(n.f->mantissa < from->mantissa);
	bits = LLVMBuildBitCast(b, x, n.type, "");
	n.sign = is(&n, LLVMIntSLT, bits, word(&n, 0));
	abs = LLVMBuildAnd(b, bits, word(&n, from->nan), "");
	field = LLVMBuildLShr(b, abs, word(&n, (uint64_t)from->mantissa), "");
	hidden = word(&n, (uint64_t)1 << from->mantissa);
	n.m = LLVMBuildAnd(b, bits,
	    word(&n, ((uint64_t)1 << from->mantissa) - 1), "");
	n.m = choose(&n, is(&n, LLVMIntEQ, field, word(&n, 0)), n.m,
	    LLVMBuildOr(b, n.m, hidden, ""));
	n.e = cj_llvm_call2(g, "llvm.umax", field, word(&n, 1));
	n.e = LLVMBuildSub(b, n.e, word(&n, (uint64_t)(from->bias +
	    from->mantissa)), "");
	out = encode(&n);
	out = choose(&n, is(&n, LLVMIntEQ, abs, word(&n, from->infinity)),
	    infinity(&n), out);
	out = with_sign(&n, out);
	nan = to == CJ_KIND_F16 ? cj_llvm_f16_nan(g, n.type) :
	    word(&n, n.f->nan != 0 ? n.f->nan : n.f->largest);
	out = choose(&n, is(&n, LLVMIntUGT, abs, word(&n, from->infinity)),
	    nan, out);
	return finish(&n, out);
}

cj_llvm
cj_llvm_f16_nan(struct cj_llvm_gen *g, LLVMTypeRef type)
{
	bool is_long = LLVMGetIntTypeWidth(type) == 64;

	return cj_llvm_asm(g, CJ_LLVM_ASM_PURE, type, is_long ?
	    "mov.b64 $0, 0x7fff;" : "mov.b32 $0, 0x7fff;",
	    is_long ? "=l" : "=r", NULL, 0);
}

/* ---- from integers ------------------------------------------------------ */

/*
 * In 64 bits. The magnitude may take all of them: then the two lowest are
 * folded into one that says whether they were set, which is enough for
 * rounding to at most 53 bits.
 */
cj_llvm
cj_llvm_round_int(struct cj_llvm_gen *g, enum cj_kind to,
    struct cj_conversion how, cj_llvm x, bool is_signed)
{
	struct number n = { .g = g, .to = to, .f = cj_llvm_format(to),
	    .how = how, .type = g->i64, .may_grow = true };
	LLVMBuilderRef b = g->b;
	cj_llvm zero = word(&n, 0), big, folded;

	assert(n.f->mantissa + 2 <= 62 && "room for the folded bit");
	n.m = is_signed ? LLVMBuildSExt(b, x, g->i64, "") :
	    LLVMBuildZExt(b, x, g->i64, "");
	n.sign = LLVMConstInt(g->i1, 0, 0);
	if (is_signed) {
		n.sign = is(&n, LLVMIntSLT, n.m, zero);
		n.m = choose(&n, n.sign, LLVMBuildNeg(b, n.m, ""), n.m);
	}
	big = is(&n, LLVMIntUGE, n.m, word(&n, (uint64_t)1 << 62));
	folded = is(&n, LLVMIntNE, LLVMBuildAnd(b, n.m, word(&n, 3), ""),
	    zero);
	folded = LLVMBuildOr(b, LLVMBuildLShr(b, n.m, word(&n, 2), ""),
	    LLVMBuildZExt(b, folded, g->i64, ""), "");
	n.m = choose(&n, big, folded, n.m);
	n.e = choose(&n, big, word(&n, 2), zero);
	return finish(&n, with_sign(&n, encode(&n)));
}

/* ---- small floats, exactly ---------------------------------------------- */

static cj_llvm
ue8m0_to_f32(struct cj_llvm_gen *g, cj_llvm bits)
{
	LLVMBuilderRef b = g->b;
	cj_llvm x = LLVMBuildZExt(b, bits, g->i32, ""), v;

	v = LLVMBuildShl(b, x, cj_llvm_i32(g, 23), "");
	/* 2^-127 is a denormal; the code 255 is NaN */
	v = LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntEQ, x,
	    cj_llvm_i32(g, 0), ""), cj_llvm_i32(g, 0x400000), v, "");
	v = LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntEQ, x,
	    cj_llvm_i32(g, 0xff), ""), cj_llvm_i32(g, 0x7fffffff), v, "");
	return LLVMBuildBitCast(b, v, cj_llvm_type(g, CJ_KIND_F32), "");
}

/*
 * Exponent and mantissa, put where f32 has them, are the value times a power
 * of two, denormals too; one exact multiplication gives the value.
 */
cj_llvm
cj_llvm_small_to_f32(struct cj_llvm_gen *g, enum cj_kind from, cj_llvm bits)
{
	const struct cj_llvm_format *f = cj_llvm_format(from);
	LLVMTypeRef f32 = cj_llvm_type(g, CJ_KIND_F32);
	LLVMBuilderRef b = g->b;
	cj_llvm x, abs, sign, v, special;
	uint64_t scale = (uint64_t)(127 + 127 - f->bias) << 23;

	assert(LLVMTypeOf(bits) == g->i8 && f->bits <= 8);
	if (from == CJ_KIND_F8UE8M0)
		return ue8m0_to_f32(g, bits);
	x = LLVMBuildZExt(b, bits, g->i32, "");
	abs = LLVMBuildAnd(b, x, cj_llvm_i32(g, (1 << (f->bits - 1)) - 1), "");
	v = LLVMBuildShl(b, abs, cj_llvm_i32(g, 23 - f->mantissa), "");
	v = LLVMBuildFMul(b, LLVMBuildBitCast(b, v, f32, ""),
	    cj_llvm_const(g, CJ_KIND_F32, scale), "");
	v = LLVMBuildBitCast(b, v, g->i32, "");
	if (f->infinity != 0) {
		special = LLVMBuildICmp(b, LLVMIntEQ, abs,
		    cj_llvm_i32(g, (int64_t)f->infinity), "");
		v = LLVMBuildSelect(b, special, cj_llvm_i32(g, 0x7f800000), v,
		    "");
	}
	sign = LLVMBuildAnd(b, x, cj_llvm_i32(g, 1 << (f->bits - 1)), "");
	sign = LLVMBuildShl(b, sign, cj_llvm_i32(g, 32 - f->bits), "");
	v = LLVMBuildOr(b, v, sign, "");
	if (f->nan != 0) {
		special = LLVMBuildICmp(b, LLVMIntUGT, abs, cj_llvm_i32(g,
		    (int64_t)(f->infinity != 0 ? f->infinity : f->largest)),
		    "");
		v = LLVMBuildSelect(b, special, cj_llvm_i32(g, 0x7fffffff), v,
		    "");
	}
	return LLVMBuildBitCast(b, v, f32, "");
}
