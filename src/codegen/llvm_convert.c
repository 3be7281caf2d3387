/*
 * Conversions between kinds: cj_num_convert() of ir/num.c, by the target's
 * instructions where they round once and as asked, else in integers.
 *
 * Integers that f32 cannot hold go to bf16 and narrower floats by way of an
 * f32 rounded to odd: cut toward zero, with the last bit set if anything was
 * lost. Such a number lies on the same side of every midpoint of a narrower
 * format as the integer, so that the second rounding is the only one.
 */
#include "llvm_round.h"

#include <stdio.h>

const struct cj_conversion cj_llvm_default = { .is_default = true };

/* Nearest even and, for the kind, the usual treatment of what is too large. */
static bool
is_usual(enum cj_kind to, struct cj_conversion how)
{
	return how.is_default || (how.rounding == CJ_ROUND_EVEN &&
	    how.saturate == (cj_kind_bits(to) <= 8));
}

static LLVMTypeRef
f32(const struct cj_llvm_gen *g)
{
	return cj_llvm_type(g, CJ_KIND_F32);
}

/* ---- float to float ----------------------------------------------------- */

/* Memory of f32 may be read as tf32: the bits behind it are not its own. */
cj_llvm
cj_llvm_tf32_value(struct cj_llvm_gen *g, cj_llvm x)
{
	LLVMTypeRef word = cj_llvm_int_type(g, 32);
	cj_llvm bits = LLVMBuildBitCast(g->b, x, word, "");

	bits = LLVMBuildAnd(g->b, bits, LLVMConstInt(word, 0xffffe000, 0),
	    "");
	return LLVMBuildBitCast(g->b, bits, LLVMTypeOf(x), "");
}

/* Exactly, as f32 or, for a double, as it is. */
static cj_llvm
as_f32(struct cj_llvm_gen *g, enum cj_kind from, cj_llvm x)
{
	if (from == CJ_KIND_F64 || from == CJ_KIND_F32)
		return x;
	if (from == CJ_KIND_TF32)
		return cj_llvm_tf32_value(g, x);
	if (cj_llvm_is_small(from))
		return cj_llvm_small_to_f32(g, from, x);
	return LLVMBuildFPExt(g->b, x, f32(g), "");
}

/* To a kind that holds all values of `from`. */
static cj_llvm
widen(struct cj_llvm_gen *g, enum cj_kind to, enum cj_kind from,
    struct cj_conversion how, cj_llvm x)
{
	cj_llvm is_infinite, limit;

	x = as_f32(g, from, x);
	if (to == CJ_KIND_F64)
		x = LLVMBuildFPExt(g->b, x, cj_llvm_type(g, to), "");
	if (!cj_llvm_saturates(to, how) || cj_llvm_format(from)->infinity == 0)
		return x;
	/* tf32 lies in the high bits of an f32 */
	limit = cj_llvm_const(g, to, cj_llvm_format(to)->largest <<
	    (to == CJ_KIND_TF32 ? 13 : 0));
	is_infinite = LLVMBuildFCmp(g->b, LLVMRealOGT,
	    cj_llvm_call1(g, "llvm.fabs", x), limit, "");
	limit = cj_llvm_call2(g, "llvm.copysign", limit, x);
	return LLVMBuildSelect(g->b, is_infinite, limit, x, "");
}

/* Does the target convert f32 to this 8-bit float by an instruction? */
static bool
has_fp8(struct cj_llvm_gen *g, enum cj_kind k)
{
	int chip = g->m->target->number;

	if (k != CJ_KIND_F8E4M3 && k != CJ_KIND_F8E5M2)
		return false;
	return chip >= 90 ? cj_llvm_wants_ptx(g, 78) :
	    chip >= 89 && cj_llvm_wants_ptx(g, 81);
}

static const char *
fp8_name(enum cj_kind k)
{
	return k == CJ_KIND_F8E4M3 ? "e4m3x2" : "e5m2x2";
}

/* Two f32 as two 8-bit floats in an i16, the first in its low byte. */
static cj_llvm
fp8_pair(struct cj_llvm_gen *g, enum cj_kind to, cj_llvm low, cj_llvm high)
{
	cj_llvm x[] = { high, low };
	char text[64];

	snprintf(text, sizeof text, "cvt.rn.satfinite.%s.f32 $0, $1, $2;",
	    fp8_name(to));
	return cj_llvm_asm(g, CJ_LLVM_ASM_PURE, g->i16, text, "=h,f,f", x, 2);
}

static cj_llvm
narrow_usual(struct cj_llvm_gen *g, enum cj_kind to, cj_llvm x)
{
	LLVMTypeRef from = LLVMTypeOf(x);
	cj_llvm zero;

	if (to == CJ_KIND_F32 || to == CJ_KIND_F16 || to == CJ_KIND_BF16)
		return LLVMBuildFPTrunc(g->b, x, cj_llvm_type(g, to), "");
	if (from != f32(g) || !has_fp8(g, to))
		return cj_llvm_round_float(g, to, cj_llvm_default, x);
	zero = LLVMConstNull(from);
	return LLVMBuildTrunc(g->b, fp8_pair(g, to, x, zero), g->i8, "");
}

static bool
holds(enum cj_kind to, enum cj_kind from)
{
	if (to == CJ_KIND_F64)
		return true;
	if (to == CJ_KIND_F32)
		return from != CJ_KIND_F64;
	return to == CJ_KIND_TF32 && from != CJ_KIND_F64 &&
	    from != CJ_KIND_F32;
}

static cj_llvm
float_to_float(struct cj_llvm_gen *g, enum cj_kind to, enum cj_kind from,
    struct cj_conversion how, cj_llvm x)
{
	if (holds(to, from))
		return widen(g, to, from, how, x);
	x = as_f32(g, from, x);
	if (is_usual(to, how))
		return narrow_usual(g, to, x);
	return cj_llvm_round_float(g, to, how, x);
}

/* ---- integer to float --------------------------------------------------- */

static cj_llvm
int_to(struct cj_llvm_gen *g, enum cj_kind to, cj_llvm x, bool is_signed)
{
	LLVMTypeRef type = cj_llvm_type(g, to);

	return is_signed ? LLVMBuildSIToFP(g->b, x, type, "") :
	    LLVMBuildUIToFP(g->b, x, type, "");
}

/* An i64 (32-bit integers are extended) as f32, rounded to odd. */
static cj_llvm
int_to_odd(struct cj_llvm_gen *g, cj_llvm x, bool is_signed)
{
	LLVMBuilderRef b = g->b;
	cj_llvm f, back, lost;

	assert(LLVMGetIntTypeWidth(LLVMTypeOf(x)) <= 64);
	x = is_signed ? LLVMBuildSExt(b, x, g->i64, "") :
	    LLVMBuildZExt(b, x, g->i64, "");
	f = cj_llvm_intrinsic(g, is_signed ? "llvm.nvvm.ll2f.rz" :
	    "llvm.nvvm.ull2f.rz", NULL, &x, 1);
	back = cj_llvm_intrinsic(g, is_signed ? "llvm.nvvm.f2ll.rz" :
	    "llvm.nvvm.f2ull.rz", NULL, &f, 1);
	lost = LLVMBuildZExt(b, LLVMBuildICmp(b, LLVMIntNE, back, x, ""),
	    g->i32, "");
	f = LLVMBuildOr(b, LLVMBuildBitCast(b, f, g->i32, ""), lost, "");
	return LLVMBuildBitCast(b, f, f32(g), "");
}

static cj_llvm
int_to_float(struct cj_llvm_gen *g, enum cj_kind to, enum cj_kind from,
    struct cj_conversion how, cj_llvm x)
{
	bool is_signed = cj_kind_is_signed(from);

	if (!is_usual(to, how))
		return cj_llvm_round_int(g, to, how, x, is_signed);
	if (to == CJ_KIND_F32 || to == CJ_KIND_F64 || to == CJ_KIND_F16)
		return int_to(g, to, x, is_signed);
	/* f32 holds all integers of 16 bits */
	x = cj_kind_bits(from) <= 16 ? int_to(g, CJ_KIND_F32, x, is_signed) :
	    int_to_odd(g, x, is_signed);
	return narrow_usual(g, to, x);
}

/* ---- float to integer --------------------------------------------------- */

/* The intrinsic for a float or double and 32 or 64 bits; all saturate. */
static cj_llvm
to_word(struct cj_llvm_gen *g, cj_llvm x, unsigned width, bool is_signed,
    enum cj_rounding rounding)
{
	static const char *const roundings[] = {
		[CJ_ROUND_EVEN] = "rn", [CJ_ROUND_ZERO] = "rz",
		[CJ_ROUND_UP] = "rp", [CJ_ROUND_DOWN] = "rm"
	};
	bool is_double = LLVMTypeOf(x) != f32(g);
	char name[32];
	cj_llvm v, nan;

	assert(width == 32 || width == 64);
	snprintf(name, sizeof name, "llvm.nvvm.%c2%s%s.%s",
	    is_double ? 'd' : 'f', is_signed ? "" : "u",
	    width == 64 ? "ll" : "i", roundings[rounding]);
	v = cj_llvm_intrinsic(g, name, NULL, &x, 1);
	if (width == 32 && !is_double)
		return v;	/* of NaN: 0 */
	nan = LLVMBuildFCmp(g->b, LLVMRealUNO, x, x, "");
	return LLVMBuildSelect(g->b, nan, cj_llvm_int(LLVMTypeOf(v), 0), v,
	    "");
}

static cj_llvm
float_to_int(struct cj_llvm_gen *g, enum cj_kind to, enum cj_kind from,
    struct cj_conversion how, cj_llvm x)
{
	enum cj_rounding rounding = how.is_default ? CJ_ROUND_ZERO :
	    how.rounding;
	bool is_signed = cj_kind_is_signed(to);
	unsigned width = cj_kind_bits(to);
	cj_llvm v;

	x = as_f32(g, from, x);
	if (width >= 32)
		return to_word(g, x, width, is_signed, rounding);
	v = to_word(g, x, 32, true, rounding);
	v = cj_llvm_call2(g, "llvm.smax", v, cj_llvm_i32(g,
	    is_signed ? -(1 << (width - 1)) : 0));
	v = cj_llvm_call2(g, "llvm.smin", v, cj_llvm_i32(g,
	    is_signed ? (1 << (width - 1)) - 1 : (1 << width) - 1));
	return LLVMBuildTrunc(g->b, v, cj_llvm_type(g, to), "");
}

/* ---- integer to integer, and bool --------------------------------------- */

/* Into the range of `to`, in 64 bits. */
static cj_llvm
clamp(struct cj_llvm_gen *g, enum cj_kind to, bool from_signed, cj_llvm x)
{
	bool is_signed = cj_kind_is_signed(to);
	unsigned width = cj_kind_bits(to);
	uint64_t largest = UINT64_MAX >> (64 - width + is_signed);
	cj_llvm top = LLVMConstInt(g->i64, largest, 0);

	if (!from_signed)
		return cj_llvm_call2(g, "llvm.umin", x, top);
	x = cj_llvm_call2(g, "llvm.smax", x, is_signed ?
	    LLVMConstInt(g->i64, ~largest, 0) : cj_llvm_int(g->i64, 0));
	/* what is left is not negative, or within the signed range */
	return is_signed ? cj_llvm_call2(g, "llvm.smin", x, top) :
	    cj_llvm_call2(g, "llvm.umin", x, top);
}

static cj_llvm
int_to_int(struct cj_llvm_gen *g, enum cj_kind to, enum cj_kind from,
    struct cj_conversion how, cj_llvm x)
{
	bool is_signed = cj_kind_is_signed(from);
	LLVMTypeRef type = cj_llvm_type(g, to);

	if (!how.is_default && how.saturate) {
		x = is_signed ? LLVMBuildSExt(g->b, x, g->i64, "") :
		    LLVMBuildZExt(g->b, x, g->i64, "");
		x = clamp(g, to, is_signed, x);
	}
	if (LLVMGetIntTypeWidth(LLVMTypeOf(x)) >= cj_kind_bits(to))
		return LLVMBuildTrunc(g->b, x, type, "");
	return is_signed ? LLVMBuildSExt(g->b, x, type, "") :
	    LLVMBuildZExt(g->b, x, type, "");
}

/* Anything but zero; NaN too. */
static cj_llvm
to_bool(struct cj_llvm_gen *g, enum cj_kind from, cj_llvm x)
{
	if (cj_kind_is_float(from)) {
		x = as_f32(g, from, x);
		return LLVMBuildFCmp(g->b, LLVMRealUNE, x,
		    LLVMConstNull(LLVMTypeOf(x)), "");
	}
	return LLVMBuildICmp(g->b, LLVMIntNE, x,
	    LLVMConstNull(LLVMTypeOf(x)), "");
}

cj_llvm
cj_llvm_convert(struct cj_llvm_gen *g, enum cj_kind to, enum cj_kind from,
    struct cj_conversion how, cj_llvm x)
{
	bool is_float = cj_kind_is_float(from);

	assert(LLVMTypeOf(x) == cj_llvm_type(g, from));
	if (to == from)
		return x;
	if (to == CJ_KIND_BOOL)
		return to_bool(g, from, x);
	if (cj_kind_is_float(to))
		return is_float ? float_to_float(g, to, from, how, x) :
		    int_to_float(g, to, from, how, x);
	return is_float ? float_to_int(g, to, from, how, x) :
	    int_to_int(g, to, from, how, x);
}

/* ---- whole values ------------------------------------------------------- */

/* Two f32 to two f16 or bf16 are one instruction. */
static void
f32_pairs(struct cj_llvm_gen *g, cj_ref r, cj_ref from)
{
	LLVMTypeRef type = LLVMVectorType(cj_llvm_type(g,
	    cj_type_kind(cj_inst(g->m, r)->type)), 2);
	const cj_llvm *x = cj_llvm_values(g, from);
	uint32_t i, n = cj_type_count(cj_inst(g->m, r)->type);

	for (i = 0; i + 1 < n; i += 2)
		cj_llvm_set_pair(g, r, i / 2, LLVMBuildFPTrunc(g->b,
		    cj_llvm_join(g, x[i], x[i + 1]), type, ""));
}

/*
 * A bf16 is the high half of the f32: of a word with two of them, one goes up
 * and the lower half of the other is cleared, an instruction each.
 */
static void
from_bf16_pairs(struct cj_llvm_gen *g, cj_ref r, cj_ref from)
{
	uint32_t i, n = cj_type_count(cj_inst(g->m, r)->type);

	for (i = 0; i + 1 < n; i += 2) {
		cj_llvm word = cj_llvm_word(g, from, i / 2);

		g->scalars[r][i] = LLVMBuildBitCast(g->b, LLVMBuildShl(g->b,
		    word, cj_llvm_i32(g, 16), ""), f32(g), "");
		g->scalars[r][i + 1] = LLVMBuildBitCast(g->b, LLVMBuildAnd(
		    g->b, word, cj_llvm_i32(g, 0xffff0000), ""), f32(g), "");
	}
}

/* And to two 8-bit floats. */
static void
fp8_pairs(struct cj_llvm_gen *g, cj_ref r, cj_ref from)
{
	enum cj_kind to = cj_type_kind(cj_inst(g->m, r)->type);
	enum cj_kind k = cj_type_kind(cj_inst(g->m, from)->type);
	const cj_llvm *x = cj_llvm_values(g, from);
	uint32_t i, n = cj_type_count(cj_inst(g->m, r)->type);

	for (i = 0; i + 1 < n; i += 2) {
		cj_llvm v = fp8_pair(g, to, as_f32(g, k, x[i]),
		    as_f32(g, k, x[i + 1]));

		g->scalars[r][i] = LLVMBuildTrunc(g->b, v, g->i8, "");
		v = LLVMBuildLShr(g->b, v, LLVMConstInt(g->i16, 8, 0), "");
		g->scalars[r][i + 1] = LLVMBuildTrunc(g->b, v, g->i8, "");
	}
}

/* Two 8-bit floats are two f16 in one instruction, exactly, and each of those
 * is a bf16. */
static void
from_fp8_pairs(struct cj_llvm_gen *g, cj_ref r, cj_ref from)
{
	enum cj_kind to = cj_type_kind(cj_inst(g->m, r)->type);
	enum cj_kind k = cj_type_kind(cj_inst(g->m, from)->type);
	LLVMTypeRef pair = LLVMVectorType(cj_llvm_type(g, CJ_KIND_F16), 2);
	const cj_llvm *x = cj_llvm_values(g, from);
	uint32_t i, n = cj_type_count(cj_inst(g->m, r)->type);
	char text[64];

	snprintf(text, sizeof text, "cvt.rn.f16x2.%s $0, $1;", fp8_name(k));
	for (i = 0; i + 1 < n; i += 2) {
		cj_llvm v = LLVMBuildBitCast(g->b,
		    cj_llvm_join(g, x[i], x[i + 1]), g->i16, "");

		v = cj_llvm_asm(g, CJ_LLVM_ASM_PURE, g->i32, text, "=r,h", &v,
		    1);
		v = LLVMBuildBitCast(g->b, v, pair, "");
		if (to == CJ_KIND_F16) {
			cj_llvm_set_pair(g, r, i / 2, v);
			continue;
		}
		v = LLVMBuildFPExt(g->b, v, LLVMVectorType(f32(g), 2), "");
		if (to == CJ_KIND_BF16) {
			cj_llvm_set_pair(g, r, i / 2, LLVMBuildFPTrunc(g->b, v,
			    LLVMVectorType(cj_llvm_type(g, to), 2), ""));
			continue;
		}
		g->scalars[r][i] = cj_llvm_element(g, v, 0);
		g->scalars[r][i + 1] = cj_llvm_element(g, v, 1);
	}
}

/* Bytes of two words, chosen by the four hexadecimal digits of `which`. */
static cj_llvm
permute_bytes(struct cj_llvm_gen *g, cj_llvm x, uint32_t y, uint32_t which)
{
	cj_llvm operands[] = { x, cj_llvm_i32(g, y), cj_llvm_i32(g, which) };

	return cj_llvm_intrinsic(g, "llvm.nvvm.prmt", NULL, operands, 3);
}

/* Two 8-bit integers as 16 bits: what came together is not taken apart. */
static cj_llvm
join_two(struct cj_llvm_gen *g, const cj_llvm *x)
{
	return LLVMBuildBitCast(g->b, cj_llvm_join(g, x[0], x[1]), g->i16, "");
}

/* The word that registers from `first` on came in; NULL: they did not. */
static cj_llvm
whole_word(struct cj_llvm_gen *g, cj_ref from, uint32_t first)
{
	cj_type t = cj_inst(g->m, from)->type;
	unsigned parts = cj_llvm_word_parts(g, cj_type_kind(t));

	return g->words[from] == NULL || first % parts != 0 ||
	    first + parts > cj_type_count(t) ? NULL :
	    g->words[from][first / parts];
}

/* Four 8-bit integers as one word, 128 more where they have a sign. */
static cj_llvm
join_bytes(struct cj_llvm_gen *g, cj_ref from, uint32_t first, bool is_signed)
{
	const cj_llvm *x = cj_llvm_values(g, from) + first;
	cj_llvm v = whole_word(g, from, first);

	if (v == NULL)
		v = LLVMBuildBitCast(g->b, cj_llvm_join(g, join_two(g, x),
		    join_two(g, x + 2)), g->i32, "");
	return !is_signed ? v : LLVMBuildXor(g->b, v,
	    cj_llvm_i32(g, 0x80808080), "");
}

static cj_llvm
both(struct cj_llvm_gen *g, enum cj_kind k, double value)
{
	cj_llvm v = LLVMConstReal(cj_llvm_type(g, k), value);

	return LLVMConstVector((cj_llvm[]){ v, v }, 2);
}

/*
 * Four 8-bit integers to 16-bit floats, or to f32 in two pairs. A byte b in
 * the lowest bits of 2^10 as f16, or of 2^23 as f32, is that number plus b;
 * the difference is exact. The conversions of the hardware are eight times as
 * slow as what this takes.
 */
static void
four_bytes(struct cj_llvm_gen *g, cj_ref r, uint32_t i, cj_llvm word,
    bool is_signed)
{
	enum cj_kind to = cj_type_kind(cj_inst(g->m, r)->type);
	enum cj_kind way = to == CJ_KIND_F16 ? to : CJ_KIND_F32;
	LLVMTypeRef pair = LLVMVectorType(cj_llvm_type(g, way), 2);
	cj_llvm base = both(g, way, (is_signed ? 128 : 0) +
	    (way == CJ_KIND_F16 ? 1024 : 8388608)), v;
	uint32_t p;

	for (p = 0; p < 2; p++) {
		if (way == CJ_KIND_F16)
			v = LLVMBuildBitCast(g->b, permute_bytes(g, word,
			    0x64646464, 0x4140 + 0x202 * p), pair, "");
		else
			v = LLVMBuildBitCast(g->b, cj_llvm_join(g,
			    permute_bytes(g, word, 0x4b000000, 0x7440 + 2 * p),
			    permute_bytes(g, word, 0x4b000000, 0x7441 + 2 * p)),
			    pair, "");
		v = LLVMBuildFSub(g->b, v, base, "");
		if (to != way)
			v = LLVMBuildFPTrunc(g->b, v,
			    LLVMVectorType(cj_llvm_type(g, to), 2), "");
		if (to == CJ_KIND_F32) {
			g->scalars[r][i + 2 * p] = cj_llvm_element(g, v, 0);
			g->scalars[r][i + 2 * p + 1] = cj_llvm_element(g, v, 1);
		} else {
			cj_llvm_set_pair(g, r, i / 2 + p, v);
		}
	}
}

/* Some bits of each half of a word, with others that are changed by them: one
 * instruction, which the assembler does not make of two with a number each. */
static cj_llvm
bits_in(struct cj_llvm_gen *g, enum cj_kind k, cj_llvm word, uint32_t bits,
    uint32_t others)
{
	cj_llvm operands[] = { word, cj_llvm_i32(g, bits * 0x10001),
	    cj_llvm_i32(g, others * 0x10001) };

	return LLVMBuildBitCast(g->b, cj_llvm_asm(g, CJ_LLVM_ASM_PURE, g->i32,
	    "lop3.b32 $0, $1, $2, $3, 0x6a;", "=r,r,r,r", operands, 3),
	    LLVMVectorType(cj_llvm_type(g, k), 2), "");
}

/*
 * Two signed 8-bit integers to bf16. Seven bits fit below 2^7, whose bits are
 * 0x4300; what is to be taken off is 128, or 256 where there is a sign: -2^7
 * and -2^8, which differ by the bit that the sign has. The sum is exact.
 */
static cj_llvm
two_bytes(struct cj_llvm_gen *g, cj_ref from, uint32_t first)
{
	cj_llvm whole = whole_word(g, from, first & ~3u);
	cj_llvm word = whole != NULL ? permute_bytes(g, whole, 0,
	    first % 4 == 0 ? 0x4140 : 0x4342) : permute_bytes(g,
	    LLVMBuildZExt(g->b, join_two(g, cj_llvm_values(g, from) + first),
	    g->i32, ""), 0, 0x4140);
	cj_llvm v[] = { bits_in(g, CJ_KIND_BF16, word, 0x7f, 0x4300),
	    both(g, CJ_KIND_BF16, 1),
	    bits_in(g, CJ_KIND_BF16, word, 0x80, 0xc300) };

	return cj_llvm_intrinsic(g, "llvm.fma", LLVMTypeOf(v[0]), v, 3);
}

/* 8-bit integers to floats; how many of them went, by twos or fours. */
static uint32_t
from_bytes(struct cj_llvm_gen *g, cj_ref r, cj_ref from,
    struct cj_conversion how)
{
	enum cj_kind to = cj_type_kind(cj_inst(g->m, r)->type);
	enum cj_kind k = cj_type_kind(cj_inst(g->m, from)->type);
	uint32_t i, n = cj_type_count(cj_inst(g->m, r)->type);

	if ((k != CJ_KIND_I8 && k != CJ_KIND_U8) || !is_usual(to, how) ||
	    (to != CJ_KIND_F16 && to != CJ_KIND_BF16 && to != CJ_KIND_F32))
		return 0;
	if (k == CJ_KIND_I8 && to == CJ_KIND_BF16) {
		for (i = 0; i + 2 <= n; i += 2)
			cj_llvm_set_pair(g, r, i / 2, two_bytes(g, from, i));
		return i;
	}
	for (i = 0; i + 4 <= n; i += 4)
		four_bytes(g, r, i, join_bytes(g, from, i,
		    cj_kind_is_signed(k)), cj_kind_is_signed(k));
	return i;
}

/* Up to eight 4-bit integers as one word, as they lie in memory. */
static cj_llvm
join_nibbles(struct cj_llvm_gen *g, cj_ref from, uint32_t first, uint32_t n)
{
	const cj_llvm *x = cj_llvm_values(g, from) + first;
	cj_llvm word = whole_word(g, from, first);
	uint32_t i;

	if (word != NULL)
		return word;
	word = LLVMBuildZExt(g->b, x[0], g->i32, "");
	for (i = 1; i < n; i++)
		word = LLVMBuildOr(g->b, word, LLVMBuildShl(g->b,
		    LLVMBuildZExt(g->b, x[i], g->i32, ""), cj_llvm_i32(g,
		    4 * i), ""), "");
	return word;
}

/*
 * The pair p of a word of 4-bit integers, to 16-bit floats: `next` is the word
 * without its lowest integer. As bytes: in the lowest bits of 2^7 or 2^10, 8
 * more where they have a sign, which is taken off again.
 */
static cj_llvm
two_nibbles(struct cj_llvm_gen *g, cj_llvm word, cj_llvm next, uint32_t p,
    enum cj_kind way, bool is_signed)
{
	cj_llvm operands[] = { word, next, cj_llvm_i32(g, 0x0400 + 0x1111 *
	    p) };
	cj_llvm v = cj_llvm_intrinsic(g, "llvm.nvvm.prmt", NULL, operands, 3);
	uint32_t bias = is_signed ? 8 : 0;

	operands[0] = bits_in(g, way, v, 0xf, (way == CJ_KIND_F16 ? 0x6400 :
	    0x4300) + bias);
	operands[1] = both(g, way, 1);
	operands[2] = both(g, way, (way == CJ_KIND_F16 ? -1024. : -128.) -
	    bias);
	return cj_llvm_intrinsic(g, "llvm.fma", LLVMTypeOf(operands[0]),
	    operands, 3);
}

/* An even number of 4-bit integers to floats. */
static void
from_nibbles(struct cj_llvm_gen *g, cj_ref r, cj_ref from)
{
	enum cj_kind to = cj_type_kind(cj_inst(g->m, r)->type);
	enum cj_kind k = cj_type_kind(cj_inst(g->m, from)->type);
	uint32_t i, n = cj_type_count(cj_inst(g->m, r)->type) & ~1u;
	cj_llvm word = NULL, next = NULL, v;

	for (i = 0; i < n; i += 2) {
		if (i % 8 == 0) {
			word = join_nibbles(g, from, i, n - i < 8 ? n - i :
			    8);
			next = LLVMBuildLShr(g->b, word, cj_llvm_i32(g, 4),
			    "");
		}
		v = two_nibbles(g, word, next, i % 8 / 2, to == CJ_KIND_F32 ?
		    CJ_KIND_F16 : to, cj_kind_is_signed(k));
		if (to != CJ_KIND_F32) {
			cj_llvm_set_pair(g, r, i / 2, v);
			continue;
		}
		v = LLVMBuildFPExt(g->b, v, LLVMVectorType(f32(g), 2), "");
		g->scalars[r][i] = cj_llvm_element(g, v, 0);
		g->scalars[r][i + 1] = cj_llvm_element(g, v, 1);
	}
}

/* Whatever goes two by two; false: nothing. */
static bool
convert_pairs(struct cj_llvm_gen *g, cj_ref r, cj_ref from,
    struct cj_conversion how)
{
	enum cj_kind to = cj_type_kind(cj_inst(g->m, r)->type);
	enum cj_kind k = cj_type_kind(cj_inst(g->m, from)->type);

	if (k == CJ_KIND_F32 && (to == CJ_KIND_F16 || to == CJ_KIND_BF16) &&
	    is_usual(to, how))
		f32_pairs(g, r, from);
	else if (k == CJ_KIND_BF16 && to == CJ_KIND_F32 && is_usual(to, how))
		from_bf16_pairs(g, r, from);
	else if (cj_kind_is_float(k) && k != CJ_KIND_F64 && k != to &&
	    is_usual(to, how) && has_fp8(g, to))
		fp8_pairs(g, r, from);
	else if ((to == CJ_KIND_F16 || to == CJ_KIND_BF16 ||
	    to == CJ_KIND_F32) && is_usual(to, how) && has_fp8(g, k))
		from_fp8_pairs(g, r, from);
	else if ((to == CJ_KIND_F16 || to == CJ_KIND_BF16 ||
	    to == CJ_KIND_F32) && is_usual(to, how) && (k == CJ_KIND_I4 ||
	    k == CJ_KIND_U4))
		from_nibbles(g, r, from);
	else
		return false;
	return true;
}

void
cj_llvm_op_CONVERT(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	cj_ref from = cj_operand(g->m, inst, 0);
	struct cj_conversion how = inst->attr == 0 ? cj_llvm_default :
	    g->m->conversions.at[inst->attr];
	uint32_t i = 0, n = cj_type_count(inst->type);
	cj_llvm *out = cj_llvm_define(g, r);

	if (n >= 2 && convert_pairs(g, r, from, how))
		i = n & ~1u;
	else
		i = from_bytes(g, r, from, how);
	for (; i < n; i++)
		out[i] = cj_llvm_convert(g, cj_type_kind(inst->type),
		    cj_type_kind(cj_inst(g->m, from)->type), how,
		    cj_llvm_wide(g, from, i));
	cj_llvm_finish(g, r);
}
