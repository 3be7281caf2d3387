/*
 * Loads, stores and slots.
 *
 * The n registers of an access are cut into pieces: powers of two of bytes, as
 * large as the proved alignment and the target allow. A piece is one access of
 * LLVM over words: elements of 4 and 8 bytes as they are, narrower ones by
 * four bytes where there are so many. Registers of narrow kinds are cut out of
 * words, or joined to them; two of a packed kind are a word.
 *
 * Orders of memory and cache hints that LLVM does not pass on are written as
 * PTX.
 */
#include "llvm_memory.h"

enum { GLOBAL = 1, WIDEST = 32 };

/* An access while it is emitted. */
struct piece {
	uint32_t at, bytes;	/* from the access's first byte */
	LLVMTypeRef word;
	uint32_t words;
};

static const struct cj_object *
object_of(const struct cj_llvm_gen *g, const struct cj_access *access)
{
	return &g->m->objects.at[access->object];
}

/* ---- addresses ---------------------------------------------------------- */

static cj_llvm
base_of(const struct cj_llvm_gen *g, const struct cj_access *access)
{
	cj_llvm base = g->objects[access->object].base;

	if (base == NULL)
		cj_llvm_bug(g, "object %u has no address in this function",
		    access->object);
	return base;
}

static cj_llvm
step(struct cj_llvm_gen *g, cj_llvm from, LLVMTypeRef type, cj_llvm by)
{
	return LLVMBuildInBoundsGEP2(g->b, type, from, &by, 1, "");
}

/* Byte number `at` from element `offset`, of a kind of whole bytes. */
static cj_llvm
address(struct cj_llvm_gen *g, const struct cj_access *access, cj_ref offset,
    uint32_t at)
{
	unsigned bytes = cj_kind_bytes(object_of(g, access)->element);
	cj_llvm p = base_of(g, access);

	p = step(g, p, cj_llvm_int_type(g, bytes * 8),
	    cj_llvm_value(g, offset, 0));
	return at == 0 ? p : step(g, p, g->i8, cj_llvm_int(g->i64, at));
}

void
cj_llvm_bounds(struct cj_llvm_gen *g, const struct cj_access *access,
    cj_ref offset, uint32_t count)
{
	const struct cj_object *o = object_of(g, access);
	cj_llvm ok;

	if (!g->options->checked || o->extent < 0)
		return;
	if (o->extent < count) {
		cj_llvm_check(g, LLVMConstInt(g->i1, 0, 0),
		    "an access is longer than its object");
		return;
	}
	ok = LLVMBuildICmp(g->b, LLVMIntULE, cj_llvm_wide(g, offset, 0),
	    cj_llvm_int(g->i64, o->extent - count), "");
	cj_llvm_check(g, ok, cj_printf(g->arena, "out of bounds of %s",
	    o->name == NULL ? "an object" : o->name));
}

/* ---- pieces ------------------------------------------------------------- */

/* 256 bits: global memory of sm_100 and later, with PTX 8.8. */
static uint32_t
widest(struct cj_llvm_gen *g, const struct cj_access *access, uint32_t total)
{
	bool wide = g->objects[access->object].space == GLOBAL &&
	    g->m->target->number >= 100 && access->align >= WIDEST &&
	    total >= WIDEST && access->cache == CJ_CACHE_DEFAULT;

	return wide && cj_llvm_wants_ptx(g, 88) ? WIDEST : WIDEST / 2;
}

/* The piece at byte `at` of `total`. Widths fall or stay, so every piece is
 * aligned if the first is. */
static struct piece
piece_at(struct cj_llvm_gen *g, const struct cj_access *access, uint32_t at,
    uint32_t total)
{
	enum cj_kind k = object_of(g, access)->element;
	struct piece p = { .at = at, .bytes = widest(g, access, total) };
	unsigned own = cj_kind_bits(k) / 8;

	while (p.bytes > 1 && (p.bytes > access->align ||
	    p.bytes > total - at || at % p.bytes != 0))
		p.bytes /= 2;
	if (own >= 4) {
		assert(p.bytes >= own && "elements are aligned to themselves");
		p.word = cj_llvm_type(g, k);
		p.words = p.bytes / own;
	} else {
		p.words = p.bytes > 4 ? p.bytes / 4 : 1;
		p.word = cj_llvm_int_type(g, p.bytes >= 4 ? 32 : p.bytes * 8);
	}
	return p;
}

static LLVMTypeRef
piece_type(const struct piece *p)
{
	return p->words == 1 ? p->word : LLVMVectorType(p->word, p->words);
}

static uint32_t
alignment(const struct cj_access *access, const struct piece *p)
{
	uint32_t align = access->align;

	assert(align != 0 && (align & (align - 1)) == 0);
	while (p->at % align != 0)
		align /= 2;
	return align;
}

/* ---- words and registers ------------------------------------------------ */

/* Bits of a narrow kind's element in memory. */
static unsigned
stored_bits(enum cj_kind k)
{
	return k == CJ_KIND_BOOL ? 8 : cj_kind_bits(k);
}

/* Number of the register in which a piece begins. */
static uint32_t
register_at(enum cj_kind k, uint32_t byte)
{
	return k == CJ_KIND_BOOL ? byte : byte * 8 / cj_kind_bits(k);
}

static void
take_apart(struct cj_llvm_gen *g, cj_ref r, const struct piece *p, cj_llvm v)
{
	enum cj_kind k = cj_type_kind(cj_inst(g->m, r)->type);
	uint32_t i, first, size = p->bytes / p->words;

	assert(p->bytes % p->words == 0);
	for (i = 0; i < p->words; i++) {
		cj_llvm word = p->words == 1 ? v : cj_llvm_element(g, v, i);

		first = register_at(k, p->at + i * size);
		if (cj_kind_bits(k) >= 32)
			g->scalars[r][first] = word;
		else
			cj_llvm_split_word(g, r, first, word, stored_bits(k));
	}
}

static cj_llvm
put_together(struct cj_llvm_gen *g, cj_ref r, const struct piece *p)
{
	enum cj_kind k = cj_type_kind(cj_inst(g->m, r)->type);
	cj_llvm all = LLVMGetPoison(piece_type(p)), word;
	uint32_t i, first, size = p->bytes / p->words;

	for (i = 0; i < p->words; i++) {
		first = register_at(k, p->at + i * size);
		word = cj_kind_bits(k) >= 32 ? cj_llvm_wide(g, r, first) :
		    cj_llvm_join_word(g, r, first, p->word, stored_bits(k));
		if (p->words == 1)
			return word;
		all = LLVMBuildInsertElement(g->b, all, word,
		    cj_llvm_i32(g, i), "");
	}
	return all;
}

/* ---- one access of LLVM ------------------------------------------------- */

static void
mark_invariant(struct cj_llvm_gen *g, cj_llvm load)
{
	unsigned kind = LLVMGetMDKindIDInContext(g->context, "invariant.load",
	    14);

	LLVMSetMetadata(load, kind, LLVMMetadataAsValue(g->context,
	    LLVMMDNodeInContext2(g->context, NULL, 0)));
}

static cj_llvm
load_piece(struct cj_llvm_gen *g, const struct cj_access *access,
    const struct piece *p, cj_llvm from)
{
	cj_llvm v;

	if (access->cache != CJ_CACHE_DEFAULT &&
	    g->objects[access->object].space == GLOBAL)
		return cj_llvm_hinted_load(g, access, piece_type(p), from);
	g->pieces++;
	v = LLVMBuildLoad2(g->b, piece_type(p), from, "");
	LLVMSetAlignment(v, alignment(access, p));
	if (g->objects[access->object].read_only)
		mark_invariant(g, v);
	return v;
}

static void
store_piece(struct cj_llvm_gen *g, const struct cj_access *access,
    const struct piece *p, cj_llvm v, cj_llvm to)
{
	if (access->cache != CJ_CACHE_DEFAULT &&
	    access->cache != CJ_CACHE_READ_ONLY &&
	    g->objects[access->object].space == GLOBAL) {
		cj_llvm_hinted_store(g, access, v, to);
		return;
	}
	g->pieces++;
	LLVMSetAlignment(LLVMBuildStore(g->b, v, to), alignment(access, p));
}

static uint32_t
bytes_of(cj_type t)
{
	enum cj_kind k = cj_type_kind(t);
	uint64_t bits = k == CJ_KIND_BOOL ? 8 : cj_kind_bits(k);

	assert(bits * cj_type_count(t) % 8 == 0 && "whole bytes");
	return (uint32_t)(bits * cj_type_count(t) / 8);
}

/* Address of the first byte; kinds under 8 bits: of the byte it begins. */
cj_llvm
cj_llvm_first_byte(struct cj_llvm_gen *g, const struct cj_access *access,
    cj_ref offset)
{
	unsigned bits = cj_kind_bits(object_of(g, access)->element);
	cj_llvm at;

	if (g->address.of == access && g->address.offset == offset)
		return g->address.is;
	if (bits >= 8 || bits == 1)
		return address(g, access, offset, 0);
	at = LLVMBuildMul(g->b, cj_llvm_wide(g, offset, 0),
	    cj_llvm_int(g->i64, bits), "");
	at = LLVMBuildAShr(g->b, at, cj_llvm_int(g->i64, 3), "");
	return step(g, base_of(g, access), g->i8, at);
}

cj_llvm
cj_llvm_address(struct cj_llvm_gen *g, const struct cj_access *access,
    cj_ref offset, uint32_t element)
{
	return element == 0 ? cj_llvm_first_byte(g, access, offset) :
	    address(g, access, offset,
	    element * cj_kind_bytes(object_of(g, access)->element));
}

/* ---- elements that begin inside a byte ---------------------------------- */

/* Do the registers begin and end at whole bytes? */
static bool
is_whole(const struct cj_llvm_gen *g, cj_type t, cj_ref offset)
{
	unsigned bits = cj_kind_bits(cj_type_kind(t));
	struct cj_fact f = cj_llvm_fact(g, offset);

	if (bits >= 8 || bits == 1)
		return true;
	/* six bits lie across words */
	return bits == 4 && cj_type_count(t) % 2 == 0 && f.divisor % 2 == 0;
}

/* One element of 4 or 6 bits, out of the byte it begins in and the byte it
 * ends in, which may be the same: nothing beyond it is read. */
static cj_llvm
load_bits(struct cj_llvm_gen *g, const struct cj_access *access, cj_llvm index)
{
	unsigned bits = cj_kind_bits(object_of(g, access)->element);
	LLVMTypeRef type = LLVMIntTypeInContext(g->context, bits);
	cj_llvm base = base_of(g, access), bit, low, high, v;
	LLVMBuilderRef b = g->b;

	bit = LLVMBuildMul(b, index, cj_llvm_int(g->i64, bits), "");
	low = step(g, base, g->i8, LLVMBuildAShr(b, bit,
	    cj_llvm_int(g->i64, 3), ""));
	v = LLVMBuildZExt(b, LLVMBuildLoad2(b, g->i8, low, ""), g->i32, "");
	if (bits == 6) {
		high = LLVMBuildAdd(b, bit, cj_llvm_int(g->i64, 5), "");
		high = step(g, base, g->i8, LLVMBuildAShr(b, high,
		    cj_llvm_int(g->i64, 3), ""));
		high = LLVMBuildZExt(b, LLVMBuildLoad2(b, g->i8, high, ""),
		    g->i32, "");
		v = LLVMBuildOr(b, v, LLVMBuildShl(b, high,
		    cj_llvm_i32(g, 8), ""), "");
	}
	bit = LLVMBuildTrunc(b, bit, g->i32, "");
	bit = LLVMBuildAnd(b, bit, cj_llvm_i32(g, 7), "");
	return LLVMBuildTrunc(b, LLVMBuildLShr(b, v, bit, ""), type, "");
}

static void
load_each(struct cj_llvm_gen *g, cj_ref r, const struct cj_access *access,
    cj_ref offset)
{
	uint32_t i, n = cj_type_count(cj_inst(g->m, r)->type);

	for (i = 0; i < n; i++) {
		cj_llvm index = LLVMBuildAdd(g->b, cj_llvm_wide(g, offset, 0),
		    cj_llvm_int(g->i64, i), "");

		g->scalars[r][i] = cj_llvm_from_storage(g,
		    object_of(g, access)->element,
		    load_bits(g, access, index));
	}
}

/* ---- loads and stores --------------------------------------------------- */

static void
load_all(struct cj_llvm_gen *g, cj_ref r, const struct cj_access *access,
    cj_ref offset)
{
	cj_type t = cj_inst(g->m, r)->type;
	struct piece p = { 0 };
	cj_llvm from, first;
	uint32_t at;

	if (!is_whole(g, t, offset)) {
		load_each(g, r, access, offset);
		return;
	}
	first = cj_llvm_first_byte(g, access, offset);
	for (at = 0; at < bytes_of(t); at += p.bytes) {
		p = piece_at(g, access, at, bytes_of(t));
		from = at == 0 ? first : step(g, first, g->i8,
		    cj_llvm_int(g->i64, at));
		take_apart(g, r, &p, load_piece(g, access, &p, from));
	}
}

static bool
is_zero(const struct cj_module *m, cj_ref r)
{
	const struct cj_constant *c = cj_constant_of(m, r);
	uint32_t i, n = cj_type_count(cj_inst(m, r)->type);

	for (i = 0; c != NULL && i < n && c->bits[i] == 0; i++)
		;
	return c != NULL && i == n;
}

/* Registers of the fill, made before the mask is looked at; NULL: zeros. */
static cj_llvm *
fill_of(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	uint32_t i, n = cj_type_count(inst->type);
	cj_llvm *fill;

	if (inst->operand_count < 3 ||
	    is_zero(g->m, cj_operand(g->m, inst, 2)))
		return NULL;
	fill = CJ_NEWS(g->arena, cj_llvm, n);
	for (i = 0; i < n; i++)
		fill[i] = cj_llvm_wide(g, cj_operand(g->m, inst, 2), i);
	return fill;
}

/* Registers of a masked load: what was loaded, else the fill or zero. Nothing
 * but phis is built here. */
static void
merge_fill(struct cj_llvm_gen *g, cj_ref r, const struct cj_llvm_masked *m,
    const cj_llvm *fill)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	uint32_t i, n = cj_type_count(inst->type), from = 0;
	uint32_t parts = cj_llvm_word_parts(g, cj_type_kind(inst->type));
	cj_llvm *v = g->scalars[r], *pairs = g->pairs[r];

	/* words that the load made, one after the other; the fill is zero */
	for (i = 0; fill == NULL && g->words[r] != NULL && i < n / parts &&
	    g->words[r][i] != NULL; i++, from = i * parts)
		g->words[r][i] = cj_llvm_mask_merge(g, m, g->words[r][i],
		    cj_llvm_i32(g, 0));
	for (i = 0; pairs != NULL && i < n / 2; i++, from = 2 * i)
		pairs[i] = cj_llvm_mask_merge(g, m, pairs[i], fill != NULL ?
		    cj_llvm_pair(g, cj_operand(g->m, inst, 2), i) :
		    LLVMConstNull(LLVMTypeOf(pairs[i])));
	for (i = from; i < n; i++)
		v[i] = cj_llvm_mask_merge(g, m, v[i], fill != NULL ? fill[i] :
		    LLVMConstNull(LLVMTypeOf(v[i])));
	for (i = 0; i < from; i++)
		v[i] = NULL;
	for (i = 0; fill != NULL && g->words[r] != NULL && i < n / parts; i++)
		g->words[r][i] = NULL;	/* without the fill */
}

/* Scalars of words and pairs are taken out behind all phis. */
static void
spread_pairs(struct cj_llvm_gen *g, cj_ref r)
{
	cj_type t = cj_inst(g->m, r)->type;
	uint32_t i, n = cj_type_count(t);
	uint32_t parts = cj_llvm_word_parts(g, cj_type_kind(t));

	for (i = 0; g->words[r] != NULL && i < n / parts; i++)
		if (g->scalars[r][i * parts] == NULL)
			cj_llvm_set_word(g, r, i, g->words[r][i]);
	for (i = 0; g->pairs[r] != NULL && i < n / 2; i++)
		if (g->scalars[r][2 * i] == NULL)
			cj_llvm_set_pair(g, r, i, g->pairs[r][i]);
}

/* Pairs that a load did not make itself, made where it was done. */
static void
make_pairs(struct cj_llvm_gen *g, cj_ref r)
{
	uint32_t i, n = cj_type_count(cj_inst(g->m, r)->type);
	cj_llvm *v = g->scalars[r];

	for (i = 0; g->pairs[r] != NULL && i < n / 2; i++)
		if (g->pairs[r][i] == NULL)
			g->pairs[r][i] = cj_llvm_join(g, v[2 * i],
			    v[2 * i + 1]);
}

/* Addresses are computed in front of the mask's block, where equal parts of
 * them meet and are made once; a block each would be as many candidates for
 * the generator, which compares each with all. */
static struct cj_llvm_masked
mask_access(struct cj_llvm_gen *g, const struct cj_access *access,
    cj_ref offset, cj_llvm mask)
{
	if (mask != NULL) {
		g->address.is = cj_llvm_first_byte(g, access, offset);
		g->address.of = access;
		g->address.offset = offset;
	}
	return cj_llvm_mask_begin(g, mask);
}

static void
mask_access_end(struct cj_llvm_gen *g, struct cj_llvm_masked *m)
{
	g->address.of = NULL;
	cj_llvm_mask_end(g, m);
}

void
cj_llvm_op_LOAD(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	const struct cj_access *access = &g->m->accesses.at[inst->attr];
	cj_ref offset = cj_operand(g->m, inst, 0);
	cj_llvm *fill = fill_of(g, r);
	struct cj_llvm_masked m = mask_access(g, access, offset,
	    cj_llvm_mask(g, r, 1));

	cj_llvm_define(g, r);
	cj_llvm_bounds(g, access, offset, cj_type_count(inst->type));
	if (access->order != CJ_ORDER_WEAK)
		cj_llvm_ordered_load(g, r, access, offset);
	else
		load_all(g, r, access, offset);
	make_pairs(g, r);
	mask_access_end(g, &m);
	if (m.inside != NULL) {
		merge_fill(g, r, &m, fill);
		spread_pairs(g, r);
	}
	cj_llvm_finish(g, r);
}

void
cj_llvm_op_PREFETCH(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	const struct cj_access *access = &g->m->accesses.at[inst->attr];
	struct cj_llvm_masked m = cj_llvm_mask_begin(g,
	    cj_llvm_mask(g, r, 1));
	cj_llvm at = cj_llvm_first_byte(g, access,
	    cj_operand(g->m, inst, 0));

	cj_llvm_asm(g, CJ_LLVM_ASM_EFFECT, g->void_type,
	    "prefetch.global.L2 [$0];", "l", &at, 1);
	cj_llvm_mask_end(g, &m);
}

/* Four elements of six bits are three bytes. */
static void
store_sixes(struct cj_llvm_gen *g, cj_ref value, cj_llvm first)
{
	cj_type t = cj_inst(g->m, value)->type;
	uint32_t i, n = cj_type_count(t);
	cj_llvm v, all = cj_llvm_i32(g, 0), to;

	assert(n % 4 == 0 && "whole bytes");
	for (i = 0; i < n; i++) {
		v = LLVMBuildZExt(g->b, cj_llvm_value(g, value, i), g->i32,
		    "");
		v = LLVMBuildShl(g->b, v, cj_llvm_i32(g, i % 4 * 6), "");
		all = LLVMBuildOr(g->b, i % 4 == 0 ? cj_llvm_i32(g, 0) : all,
		    v, "");
		if (i % 4 != 3)
			continue;
		for (unsigned k = 0; k < 3; k++) {
			to = step(g, first, g->i8,
			    cj_llvm_int(g->i64, i / 4 * 3 + k));
			v = LLVMBuildLShr(g->b, all, cj_llvm_i32(g, 8 * k),
			    "");
			LLVMBuildStore(g->b, LLVMBuildTrunc(g->b, v, g->i8,
			    ""), to);
		}
	}
}

/* A store covers whole bytes: the elaborator refused any other. */
static void
store_all(struct cj_llvm_gen *g, const struct cj_access *access,
    cj_ref offset, cj_ref value)
{
	cj_type t = cj_inst(g->m, value)->type;
	cj_llvm first = cj_llvm_first_byte(g, access, offset), to;
	struct piece p = { 0 };
	uint32_t at;

	if (cj_kind_bits(cj_type_kind(t)) == 6) {
		store_sixes(g, value, first);
		return;
	}
	for (at = 0; at < bytes_of(t); at += p.bytes) {
		p = piece_at(g, access, at, bytes_of(t));
		to = at == 0 ? first : step(g, first, g->i8,
		    cj_llvm_int(g->i64, at));
		store_piece(g, access, &p, put_together(g, value, &p), to);
	}
}

void
cj_llvm_op_STORE(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	const struct cj_access *access = &g->m->accesses.at[inst->attr];
	cj_ref offset = cj_operand(g->m, inst, 0);
	cj_ref value = cj_operand(g->m, inst, 1);
	struct cj_llvm_masked m = mask_access(g, access, offset,
	    cj_llvm_mask(g, r, 2));

	cj_llvm_bounds(g, access, offset,
	    cj_type_count(cj_inst(g->m, value)->type));
	if (access->order != CJ_ORDER_WEAK)
		cj_llvm_ordered_store(g, access, offset, value);
	else
		store_all(g, access, offset, value);
	mask_access_end(g, &m);
}

/* ---- memory of another block -------------------------------------------- */

cj_llvm
cj_llvm_borrow(struct cj_llvm_gen *g, const struct cj_access *access,
    cj_ref rank)
{
	cj_llvm own = base_of(g, access), arguments[2], theirs;

	if (g->m->target->number < 90)
		return own;
	arguments[0] = own;
	arguments[1] = LLVMBuildTrunc(g->b, cj_llvm_wide(g, rank, 0), g->i32,
	    "");
	theirs = cj_llvm_intrinsic(g, "llvm.nvvm.mapa.shared.cluster", NULL,
	    arguments, 2);
	assert(LLVMGetPointerAddressSpace(LLVMTypeOf(theirs)) ==
	    CJ_LLVM_SHARED_CLUSTER);
	g->objects[access->object].base = theirs;
	return own;
}

void
cj_llvm_give_back(struct cj_llvm_gen *g, const struct cj_access *access,
    cj_llvm own)
{
	g->objects[access->object].base = own;
}

void
cj_llvm_op_REMOTE_LOAD(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	const struct cj_access *access = &g->m->accesses.at[inst->attr];
	cj_ref offset = cj_operand(g->m, inst, 0);
	cj_llvm own;

	cj_llvm_define(g, r);
	cj_llvm_bounds(g, access, offset, cj_type_count(inst->type));
	own = cj_llvm_borrow(g, access, cj_operand(g->m, inst, 1));
	load_all(g, r, access, offset);
	cj_llvm_give_back(g, access, own);
	make_pairs(g, r);
	cj_llvm_finish(g, r);
}

void
cj_llvm_op_REMOTE_STORE(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	const struct cj_access *access = &g->m->accesses.at[inst->attr];
	cj_ref offset = cj_operand(g->m, inst, 0);
	cj_ref value = cj_operand(g->m, inst, 2);
	cj_llvm own;

	cj_llvm_bounds(g, access, offset,
	    cj_type_count(cj_inst(g->m, value)->type));
	own = cj_llvm_borrow(g, access, cj_operand(g->m, inst, 1));
	store_all(g, access, offset, value);
	cj_llvm_give_back(g, access, own);
}
