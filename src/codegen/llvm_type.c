/*
 * How the kinds of the IR look in LLVM, and constants of them.
 */
#include "llvm_gen.h"

LLVMTypeRef
cj_llvm_type(const struct cj_llvm_gen *g, enum cj_kind k)
{
	switch (k) {
	case CJ_KIND_F16:
		return LLVMHalfTypeInContext(g->context);
	case CJ_KIND_BF16:
		return LLVMBFloatTypeInContext(g->context);
	case CJ_KIND_TF32:
	case CJ_KIND_F32:
		return LLVMFloatTypeInContext(g->context);
	case CJ_KIND_F64:
		return LLVMDoubleTypeInContext(g->context);
	case CJ_KIND_F4E2M1:
	case CJ_KIND_F6E2M3:
	case CJ_KIND_F6E3M2:
	case CJ_KIND_F8E4M3:
	case CJ_KIND_F8E5M2:
	case CJ_KIND_F8UE8M0:
		return g->i8;
	case CJ_KIND_BOOL:
	case CJ_KIND_INDEX:
	case CJ_KIND_I4:
	case CJ_KIND_I8:
	case CJ_KIND_I16:
	case CJ_KIND_I32:
	case CJ_KIND_I64:
	case CJ_KIND_U4:
	case CJ_KIND_U8:
	case CJ_KIND_U16:
	case CJ_KIND_U32:
	case CJ_KIND_U64:
	case CJ_KIND_PTR:
	case CJ_KIND_MBARRIER:
		return cj_llvm_int_type(g, cj_kind_bits(k));
	case CJ_KIND_VOID:
	case CJ_KIND_MAP:
	case CJ_KIND_COUNT:
		break;
	}
	cj_llvm_bug(g, "no registers of kind %s", cj_kind_text(k));
}

LLVMTypeRef
cj_llvm_int_type(const struct cj_llvm_gen *g, unsigned bits)
{
	switch (bits) {
	case 1:
		return g->i1;
	case 8:
		return g->i8;
	case 16:
		return g->i16;
	case 32:
		return g->i32;
	case 64:
		return g->i64;
	}
	return LLVMIntTypeInContext(g->context, bits);
}

bool
cj_llvm_is_packed(const struct cj_llvm_gen *g, enum cj_kind k)
{
	int chip = g->m->target->number;

	if (k == CJ_KIND_F16 || k == CJ_KIND_BF16)
		return true;
	/* add, mul and fma.rn.f32x2 */
	return k == CJ_KIND_F32 && chip >= 100 && chip < 110;
}

bool
cj_llvm_is_small(enum cj_kind k)
{
	return cj_kind_is_float(k) && cj_kind_bits(k) <= 8;
}

/* Bits of a float are given by way of an integer: all NaNs survive. */
cj_llvm
cj_llvm_const(const struct cj_llvm_gen *g, enum cj_kind k, uint64_t bits)
{
	LLVMTypeRef type = cj_llvm_type(g, k);
	unsigned width = cj_kind_bits(k);

	if (!cj_kind_is_float(k) || cj_llvm_is_small(k))
		return LLVMConstInt(type, bits, 0);
	assert(width == 16 || width == 32 || width == 64);
	return LLVMConstBitCast(
	    LLVMConstInt(cj_llvm_int_type(g, width), bits, 0), type);
}

cj_llvm
cj_llvm_int(LLVMTypeRef type, int64_t value)
{
	return LLVMConstInt(type, (unsigned long long)value, 1);
}

cj_llvm
cj_llvm_i32(const struct cj_llvm_gen *g, int64_t value)
{
	return cj_llvm_int(g->i32, value);
}

bool
cj_llvm_wants_ptx(struct cj_llvm_gen *g, int version)
{
	assert(version % 10 <= 8 && g->ptx_needs <= g->ptx_limit);
	if (version > g->ptx_limit)
		return false;
	if (version > g->ptx_needs)
		g->ptx_needs = version;
	return true;
}

void
cj_llvm_needs_ptx(struct cj_llvm_gen *g, int version, const char *what)
{
	if (!cj_llvm_wants_ptx(g, version))
		cj_leave(g->arena->recover, CJ_WHY_BUG,
		    "%s needs PTX %d.%d, and %d.%d is asked for", what,
		    version / 10, version % 10, g->ptx_limit / 10,
		    g->ptx_limit % 10);
}
