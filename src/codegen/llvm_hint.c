/*
 * Accesses to global memory with a cache hint, which LLVM does not pass on:
 * one PTX instruction of up to 16 bytes each, over words of 8 to 64 bits.
 *
 * A hinted load of memory that is written in the same kernel must stay where
 * it is; one of memory that is not is free to move.
 */
#include "llvm_memory.h"

#include <stdio.h>

/* The words of an access as PTX registers. */
struct words {
	unsigned bits, count;
	LLVMTypeRef type, reg;	/* of one word; of its register */
	char letter;
};

static struct words
words_of(struct cj_llvm_gen *g, LLVMTypeRef type)
{
	struct words w = { .count = 1, .type = type };

	if (LLVMGetTypeKind(type) == LLVMVectorTypeKind) {
		w.count = LLVMGetVectorSize(type);
		w.type = LLVMGetElementType(type);
	}
	switch (LLVMGetTypeKind(w.type)) {
	case LLVMFloatTypeKind:
		w.bits = 32;
		break;
	case LLVMDoubleTypeKind:
		w.bits = 64;
		break;
	default:
		w.bits = LLVMGetIntTypeWidth(w.type);
	}
	w.reg = w.bits == 64 ? g->i64 : w.bits == 32 ? g->i32 : g->i16;
	w.letter = w.bits == 64 ? 'l' : w.bits == 32 ? 'r' : 'h';
	assert(w.count * w.bits <= 128 && "an access of at most 16 bytes");
	return w;
}

/* The priorities L1:: came with PTX 7.4; without them the hint is dropped. */
static enum cj_cache
known_hint(struct cj_llvm_gen *g, const struct cj_access *access, bool loads)
{
	switch (access->cache) {
	case CJ_CACHE_LAST_USE:
		if (loads && !g->objects[access->object].read_only)
			return access->cache;
		break;
	case CJ_CACHE_NO_ALLOCATE:
		break;
	case CJ_CACHE_STREAMING:
	case CJ_CACHE_READ_ONLY:
	case CJ_CACHE_DEFAULT:
		return access->cache;
	}
	return cj_llvm_wants_ptx(g, 74) ? access->cache : CJ_CACHE_DEFAULT;
}

static const char *
load_hint(enum cj_cache cache, bool read_only)
{
	switch (cache) {
	case CJ_CACHE_STREAMING:
		return read_only ? ".cs.nc" : ".cs";
	case CJ_CACHE_LAST_USE:
		return read_only ? ".nc.L1::evict_first" : ".lu";
	case CJ_CACHE_NO_ALLOCATE:
		return read_only ? ".nc.L1::no_allocate" : ".L1::no_allocate";
	case CJ_CACHE_READ_ONLY:
		return ".nc";
	case CJ_CACHE_DEFAULT:
		break;
	}
	return read_only ? ".nc" : "";
}

static const char *
store_hint(enum cj_cache cache)
{
	switch (cache) {
	case CJ_CACHE_STREAMING:
		return ".cs";
	case CJ_CACHE_LAST_USE:
		return ".L1::evict_first";
	case CJ_CACHE_NO_ALLOCATE:
		return ".L1::no_allocate";
	case CJ_CACHE_READ_ONLY:
	case CJ_CACHE_DEFAULT:
		break;
	}
	return "";
}

/* "{$1, $2}", or "$1" for one word. */
static void
put_words(struct cj_strbuf *s, const struct words *w, unsigned first)
{
	unsigned i;

	cj_strbuf_puts(s, w->count > 1 ? "{" : "");
	for (i = 0; i < w->count; i++)
		cj_strbuf_printf(s, "%s$%u", i > 0 ? ", " : "", first + i);
	cj_strbuf_puts(s, w->count > 1 ? "}" : "");
}

static void
put_type(struct cj_strbuf *s, const struct words *w)
{
	if (w->count > 1)
		cj_strbuf_printf(s, ".v%u", w->count);
	cj_strbuf_printf(s, ".b%u ", w->bits);
}

/* A register as a word; bytes come in registers of 16 bits. */
static cj_llvm
as_word(struct cj_llvm_gen *g, const struct words *w, cj_llvm v)
{
	if (w->bits == 8)
		return LLVMBuildTrunc(g->b, v, g->i8, "");
	return LLVMBuildBitCast(g->b, v, w->type, "");
}

static cj_llvm
as_register(struct cj_llvm_gen *g, const struct words *w, cj_llvm v)
{
	if (w->bits == 8)
		return LLVMBuildZExt(g->b, v, g->i16, "");
	return LLVMBuildBitCast(g->b, v, w->reg, "");
}

cj_llvm
cj_llvm_hinted_load(struct cj_llvm_gen *g, const struct cj_access *access,
    LLVMTypeRef type, cj_llvm from)
{
	struct words w = words_of(g, type);
	bool read_only = g->objects[access->object].read_only;
	LLVMTypeRef regs[4] = { w.reg, w.reg, w.reg, w.reg }, result = w.reg;
	struct cj_strbuf text, constraints;
	cj_llvm v, all;
	unsigned i;

	assert(w.count <= CJ_LENGTH(regs));
	cj_strbuf_init(&text, g->arena);
	cj_strbuf_init(&constraints, g->arena);
	cj_strbuf_printf(&text, "ld.global%s", load_hint(known_hint(g,
	    access, true), read_only));
	put_type(&text, &w);
	put_words(&text, &w, 0);
	cj_strbuf_printf(&text, ", [$%u];", w.count);
	for (i = 0; i < w.count; i++)
		cj_strbuf_printf(&constraints, "=%c,", w.letter);
	cj_strbuf_puts(&constraints, read_only ? "l" : "l,~{memory}");
	if (w.count > 1)
		result = LLVMStructTypeInContext(g->context, regs, w.count, 0);
	v = cj_llvm_asm(g, read_only ? CJ_LLVM_ASM_PURE : CJ_LLVM_ASM_EFFECT,
	    result, text.text, constraints.text, &from, 1);
	if (w.count == 1)
		return as_word(g, &w, v);
	all = LLVMGetPoison(type);
	for (i = 0; i < w.count; i++)
		all = LLVMBuildInsertElement(g->b, all, as_word(g, &w,
		    LLVMBuildExtractValue(g->b, v, i, "")), cj_llvm_i32(g, i),
		    "");
	return all;
}

void
cj_llvm_hinted_store(struct cj_llvm_gen *g, const struct cj_access *access,
    cj_llvm v, cj_llvm to)
{
	struct words w = words_of(g, LLVMTypeOf(v));
	struct cj_strbuf text, constraints;
	cj_llvm arguments[5] = { to };
	unsigned i;

	assert(w.count < CJ_LENGTH(arguments));
	cj_strbuf_init(&text, g->arena);
	cj_strbuf_init(&constraints, g->arena);
	cj_strbuf_printf(&text, "st.global%s", store_hint(known_hint(g, access,
	    false)));
	put_type(&text, &w);
	cj_strbuf_puts(&text, "[$0], ");
	put_words(&text, &w, 1);
	cj_strbuf_puts(&text, ";");
	cj_strbuf_puts(&constraints, "l");
	for (i = 0; i < w.count; i++) {
		cj_strbuf_printf(&constraints, ",%c", w.letter);
		arguments[1 + i] = as_register(g, &w, w.count == 1 ? v :
		    cj_llvm_element(g, v, i));
	}
	cj_strbuf_puts(&constraints, ",~{memory}");
	cj_llvm_asm(g, CJ_LLVM_ASM_EFFECT, g->void_type, text.text,
	    constraints.text, arguments, w.count + 1);
}
