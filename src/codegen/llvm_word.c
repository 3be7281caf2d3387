/*
 * Values as words of 32 bits.
 *
 * Narrow kinds keep, beside their scalars, the words that they came in or were
 * put together to: memory, ldmatrix, slots and mma take and give words, and
 * what goes from one to the other costs nothing. Two registers of a packed
 * kind are a word already.
 */
#include "llvm_memory.h"

enum { WORD = 32 };

static enum cj_kind
kind_of(const struct cj_llvm_gen *g, cj_ref r)
{
	return cj_type_kind(cj_inst(g->m, r)->type);
}

unsigned
cj_llvm_word_parts(const struct cj_llvm_gen *g, enum cj_kind k)
{
	unsigned bits = cj_kind_bits(k);

	return bits >= WORD || WORD % bits != 0 || cj_llvm_is_packed(g, k) ?
	    0 : WORD / bits;
}

/* ---- registers as they lie in memory ------------------------------------ */

cj_llvm
cj_llvm_to_storage(struct cj_llvm_gen *g, enum cj_kind k, cj_llvm v)
{
	unsigned bits = cj_kind_bits(k);

	if (k == CJ_KIND_BOOL)
		return LLVMBuildZExt(g->b, v, g->i8, "");
	if (cj_llvm_is_small(k))
		return LLVMBuildTrunc(g->b, v,
		    LLVMIntTypeInContext(g->context, bits), "");
	return LLVMBuildBitCast(g->b, v, cj_llvm_int_type(g, bits), "");
}

cj_llvm
cj_llvm_from_storage(struct cj_llvm_gen *g, enum cj_kind k, cj_llvm v)
{
	if (k == CJ_KIND_BOOL)
		return LLVMBuildICmp(g->b, LLVMIntNE, v,
		    LLVMConstNull(LLVMTypeOf(v)), "");
	if (cj_llvm_is_small(k))
		return LLVMBuildZExt(g->b, v, g->i8, "");
	return LLVMBuildBitCast(g->b, v, cj_llvm_type(g, k), "");
}

/* ---- joined and split --------------------------------------------------- */

/* Where the word of registers first ... is kept; NULL: it is none. */
static cj_llvm *
kept_word(const struct cj_llvm_gen *g, cj_ref r, uint32_t first,
    LLVMTypeRef type, unsigned each)
{
	unsigned parts = cj_llvm_word_parts(g, kind_of(g, r));

	if (g->words[r] == NULL || type != g->i32 || first % parts != 0 ||
	    each != WORD / parts)
		return NULL;
	assert(first + parts <= cj_type_count(cj_inst(g->m, r)->type));
	return &g->words[r][first / parts];
}

void
cj_llvm_split_word(struct cj_llvm_gen *g, cj_ref r, uint32_t first,
    cj_llvm word, unsigned each)
{
	enum cj_kind k = kind_of(g, r);
	LLVMTypeRef type = LLVMTypeOf(word), part;
	unsigned bits = LLVMGetIntTypeWidth(type), i;
	cj_llvm v, *kept = kept_word(g, r, first, type, each);

	if (each == 16 && bits == WORD && first % 2 == 0 &&
	    cj_llvm_is_packed(g, k)) {
		cj_llvm_set_pair(g, r, first / 2, LLVMBuildBitCast(g->b, word,
		    LLVMVectorType(cj_llvm_type(g, k), 2), ""));
		return;
	}
	if (kept != NULL)
		*kept = word;
	/* LLVM would make it a vector of parts, which NVPTX takes apart in
	 * memory where they are smaller than bytes */
	if (each < 8 && bits == WORD)
		word = cj_llvm_asm(g, CJ_LLVM_ASM_PURE, type,
		    "mov.b32 $0, $1;", "=r,r", &word, 1);
	part = LLVMIntTypeInContext(g->context, each);
	for (i = 0; i < bits / each; i++) {
		v = LLVMBuildLShr(g->b, word, LLVMConstInt(type, i * each, 0),
		    "");
		v = LLVMBuildTrunc(g->b, v, part, "");
		g->scalars[r][first + i] = cj_llvm_from_storage(g, k, v);
	}
}

cj_llvm
cj_llvm_join_word(struct cj_llvm_gen *g, cj_ref r, uint32_t first,
    LLVMTypeRef type, unsigned each)
{
	enum cj_kind k = kind_of(g, r);
	unsigned bits = LLVMGetIntTypeWidth(type), i;
	cj_llvm all = NULL, v, *kept = kept_word(g, r, first, type, each);

	if (each == 16 && bits == WORD && first % 2 == 0 &&
	    cj_llvm_is_packed(g, k))
		return LLVMBuildBitCast(g->b, cj_llvm_pair(g, r, first / 2),
		    type, "");
	if (kept != NULL && *kept != NULL)
		return *kept;
	for (i = 0; i < bits / each; i++) {
		v = cj_llvm_to_storage(g, k, cj_llvm_value(g, r, first + i));
		v = LLVMBuildZExt(g->b, v, type, "");
		v = LLVMBuildShl(g->b, v, LLVMConstInt(type, i * each, 0),
		    "");
		all = all == NULL ? v : LLVMBuildOr(g->b, all, v, "");
	}
	return all;
}

/* ---- a value as words --------------------------------------------------- */

cj_llvm
cj_llvm_word(struct cj_llvm_gen *g, cj_ref r, uint32_t n)
{
	unsigned bits = cj_kind_bits(kind_of(g, r));

	assert(WORD % bits == 0 && "registers fill words");
	if (bits == WORD)
		return LLVMBuildBitCast(g->b, cj_llvm_value(g, r, n), g->i32,
		    "");
	return cj_llvm_join_word(g, r, n * (WORD / bits), g->i32, bits);
}

void
cj_llvm_set_word(struct cj_llvm_gen *g, cj_ref r, uint32_t n, cj_llvm word)
{
	enum cj_kind k = kind_of(g, r);
	unsigned bits = cj_kind_bits(k);

	assert(WORD % bits == 0 && LLVMTypeOf(word) == g->i32);
	if (bits == WORD)
		g->scalars[r][n] = LLVMBuildBitCast(g->b, word,
		    cj_llvm_type(g, k), "");
	else
		cj_llvm_split_word(g, r, n * (WORD / bits), word, bits);
}
