/*
 * Copies of neighbours by the hardware's own unit, registers sent to a block
 * of the cluster, and arrivals there, as PTX.
 *
 * Addresses of shared memory go as 32 bits; mapa makes of them those of
 * another block. What a copy signals lies in the block that it goes to.
 */
#include "llvm_memory.h"

static void
begin(struct cj_llvm_ptx *c, struct cj_llvm_gen *g, int version)
{
	if (!cj_llvm_wants_ptx(g, version))
		cj_llvm_bug(g, "bulk copies need PTX %d.%d", version / 10,
		    version % 10);
	cj_llvm_begin_ptx(c, g);
}

/* text with $ where the operand goes */
static void
add(struct cj_llvm_ptx *c, const char *before, cj_llvm v,
    const char *constraint, const char *behind)
{
	cj_strbuf_printf(&c->text, "%s$%u%s", before, c->count, behind);
	cj_llvm_add_ptx(c, v, constraint);
}

/* ---- addresses ----------------------------------------------------------- */

static bool
is_shared(const struct cj_llvm_gen *g, uint32_t access)
{
	return g->m->objects.at[g->m->accesses.at[access].object].kind ==
	    CJ_OBJECT_SHARED;
}

static cj_llvm
low_word(struct cj_llvm_gen *g, cj_ref r)
{
	cj_llvm v = cj_llvm_value(g, r, 0);

	return LLVMTypeOf(v) == g->i32 ? v :
	    LLVMBuildTrunc(g->b, v, g->i32, "");
}

/* Of `count` elements, which are whole bytes together. */
static cj_llvm
bytes_of(struct cj_llvm_gen *g, cj_llvm count, enum cj_kind k)
{
	unsigned bits = cj_kind_bits(k);

	if (bits >= 8)
		return LLVMBuildMul(g->b, count, cj_llvm_i32(g, (int)(bits /
		    8)), "");
	return LLVMBuildLShr(g->b, LLVMBuildMul(g->b, count, cj_llvm_i32(g,
	    (int)bits), ""), cj_llvm_i32(g, 3), "");
}

cj_llvm
cj_llvm_shared_word_of(struct cj_llvm_gen *g, const struct cj_access *a,
    cj_ref offset, cj_ref rank)
{
	cj_llvm arguments[2];

	arguments[0] = cj_llvm_shared_word(g, a, offset);
	if (rank == 0)
		return arguments[0];
	arguments[1] = low_word(g, rank);
	return cj_llvm_asm(g, CJ_LLVM_ASM_PURE, g->i32,
	    "mapa.shared::cluster.u32 $0, $1, $2;", "=r,r,r", arguments, 2);
}

/* ", [address]" of what an access names; rank 0: of this block. */
static void
add_place(struct cj_llvm_ptx *c, const char *before, uint32_t access,
    cj_ref offset, cj_ref rank)
{
	struct cj_llvm_gen *g = c->g;
	const struct cj_access *a = &g->m->accesses.at[access];

	if (is_shared(g, access)) {
		add(c, before, cj_llvm_shared_word_of(g, a, offset, rank),
		    "r", "]");
		return;
	}
	cj_llvm_bounds(g, a, offset, 1);
	add(c, before, LLVMBuildPtrToInt(g->b, cj_llvm_address(g, a, offset,
	    0), g->i64, ""), "l", "]");
}

uint64_t
cj_llvm_policy(enum cj_evict e)
{
	/* what createpolicy.fractional makes for all of an access */
	static const uint64_t policies[CJ_EVICT_COUNT] = {
		[CJ_EVICT_FIRST] = UINT64_C(0x12f0000000000000),
		[CJ_EVICT_LAST] = UINT64_C(0x14f0000000000000),
	};

	assert(e != CJ_EVICT_NORMAL && e < CJ_EVICT_COUNT);
	return policies[e];
}

/* ---- what is combined ---------------------------------------------------- */

/* ".add.u32"; sums of 16-bit floats keep small numbers. */
static const char *
reduction(struct cj_llvm_gen *g, const struct cj_bulk_copy *b)
{
	enum cj_kind k = g->m->objects.at[g->m->accesses.at[b->to].object]
	    .element;
	bool is_bits = b->how == CJ_ATOMIC_AND || b->how == CJ_ATOMIC_OR ||
	    b->how == CJ_ATOMIC_XOR;
	bool is_half = k == CJ_KIND_F16 || k == CJ_KIND_BF16;
	const char *type;

	if (is_bits)
		type = cj_kind_bits(k) == 32 ? "b32" : "b64";
	else if (k == CJ_KIND_I32 || k == CJ_KIND_I64)
		type = k == CJ_KIND_I32 ? "s32" : "s64";
	else
		type = cj_kind_text(k);
	if (b->how == CJ_ATOMIC_ADD && k == CJ_KIND_I64)
		type = "u64";		/* the same sum */
	return cj_printf(g->arena, ".%s%s.%s", cj_llvm_combining(b->how),
	    is_half && b->how == CJ_ATOMIC_ADD ? ".noftz" : "", type);
}

/* ---- copies -------------------------------------------------------------- */

static const char *
name_of(struct cj_llvm_gen *g, const struct cj_bulk_copy *b, bool spreads)
{
	const char *ways = !is_shared(g, b->to) ?
	    ".global.shared::cta.bulk_group" : is_shared(g, b->from) ?
	    ".shared::cluster.shared::cta.mbarrier::complete_tx::bytes" :
	    ".shared::cluster.global.mbarrier::complete_tx::bytes";

	return cj_printf(g->arena, "cp%s.async.bulk%s%s%s%s ",
	    b->reduces ? ".reduce" : "", ways,
	    spreads ? ".multicast::cluster" : "",
	    b->evict != CJ_EVICT_NORMAL ? ".L2::cache_hint" : "",
	    b->reduces ? reduction(g, b) : "");
}

void
cj_llvm_op_BULK_COPY(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	const struct cj_bulk_copy *b = &g->m->bulks.at[inst->attr];
	const struct cj_object *o = &g->m->objects.at[
	    g->m->accesses.at[b->to].object];
	cj_ref last = inst->operand_count > 4 ? cj_operand(g->m, inst, 4) : 0;
	bool spreads = last != 0 && !is_shared(g, b->from);
	struct cj_llvm_ptx c;

	assert(inst->operand_count >= (b->signal == 0 ? 3 : 4));
	begin(&c, g, 80);
	cj_strbuf_puts(&c.text, name_of(g, b, spreads));
	add_place(&c, "[", b->to, cj_operand(g->m, inst, 0),
	    spreads ? 0 : last);
	add_place(&c, ", [", b->from, cj_operand(g->m, inst, 1), 0);
	add(&c, ", ", bytes_of(g, low_word(g, cj_operand(g->m, inst, 2)),
	    o->element), "r", "");
	if (b->signal != 0)
		add_place(&c, ", [", b->signal, cj_operand(g->m, inst, 3),
		    spreads ? 0 : last);
	if (spreads)
		add(&c, ", ", LLVMBuildTrunc(g->b, cj_llvm_value(g, last, 0),
		    LLVMInt16TypeInContext(g->context), ""), "h", "");
	if (b->evict != CJ_EVICT_NORMAL)
		add(&c, ", ", LLVMConstInt(g->i64, cj_llvm_policy(b->evict),
		    0), "l", "");
	cj_llvm_end_ptx(&c);
}

/* ---- registers ----------------------------------------------------------- */

static void
add_words(struct cj_llvm_ptx *c, cj_ref value, unsigned bits, unsigned words)
{
	struct cj_llvm_gen *g = c->g;
	unsigned each = cj_kind_bits(cj_type_kind(cj_inst(g->m, value)->type));
	LLVMTypeRef type = bits == 64 ? g->i64 : g->i32;
	unsigned i;

	cj_strbuf_puts(&c->text, words > 1 ? ", {" : ", ");
	for (i = 0; i < words; i++)
		add(c, i == 0 ? "" : ", ", cj_llvm_join_word(g, value,
		    i * bits / each, type, each), bits == 64 ? "l" : "r", "");
	cj_strbuf_puts(&c->text, words > 1 ? "}" : "");
}

void
cj_llvm_op_SEND(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	const struct cj_bulk_copy *b = &g->m->bulks.at[inst->attr];
	cj_ref rank = cj_operand(g->m, inst, 1);
	cj_ref value = cj_operand(g->m, inst, 2);
	cj_type type = cj_inst(g->m, value)->type;
	unsigned each = cj_kind_bits(cj_type_kind(type));
	unsigned bits = each == 64 ? 64 : 32;
	unsigned words = each * cj_type_count(type) / bits;
	struct cj_llvm_ptx c;

	assert((words == 1 || words == 2 || words == 4) && "of a vector");
	begin(&c, g, 81);
	if (b->reduces)
		cj_strbuf_printf(&c.text, "red.async.relaxed.cluster"
		    ".shared::cluster.mbarrier::complete_tx::bytes%s ",
		    reduction(g, b));
	else
		cj_strbuf_printf(&c.text, "st.async.weak.shared::cluster"
		    ".mbarrier::complete_tx::bytes%s.b%u ", words == 1 ? "" :
		    words == 2 ? ".v2" : ".v4", bits);
	add_place(&c, "[", b->to, cj_operand(g->m, inst, 0), rank);
	add_words(&c, value, bits, words);
	add_place(&c, ", [", b->signal, cj_operand(g->m, inst, 3), rank);
	cj_llvm_end_ptx(&c);
}
