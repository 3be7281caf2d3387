/*
 * Operations that move registers about: no instruction comes of most of them.
 *
 * Pairs are kept where two registers stay neighbours at an even position, so
 * that packed arithmetic goes on without taking pairs apart.
 */
#include "llvm_round.h"

/* Copy `n` registers of `from` at `at` to `r` at `to`. */
static void
copy(struct cj_llvm_gen *g, cj_ref r, uint32_t to, cj_ref from, uint32_t at,
    uint32_t n)
{
	cj_llvm *out = g->scalars[r], *in = cj_llvm_values(g, from);
	uint32_t i, parts = cj_llvm_word_parts(g,
	    cj_type_kind(cj_inst(g->m, r)->type));

	assert(to + n <= cj_type_count(cj_inst(g->m, r)->type));
	assert(at + n <= cj_type_count(cj_inst(g->m, from)->type));
	for (i = 0; i < n; i++)
		out[to + i] = in[at + i];
	if (g->words[r] != NULL && g->words[from] != NULL &&
	    to % parts == 0 && at % parts == 0)
		for (i = 0; i + parts <= n; i += parts)
			g->words[r][(to + i) / parts] =
			    g->words[from][(at + i) / parts];
	if (g->pairs[r] == NULL || g->pairs[from] == NULL ||
	    (to | at) % 2 != 0)
		return;
	for (i = 0; i + 1 < n; i += 2)
		g->pairs[r][(to + i) / 2] = g->pairs[from][(at + i) / 2];
}

void
cj_llvm_op_SPLAT(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	cj_llvm v = cj_llvm_wide(g, cj_operand(g->m, inst, 0), 0), pair;
	uint32_t i, n = cj_type_count(inst->type);
	cj_llvm *out = cj_llvm_define(g, r);

	for (i = 0; i < n; i++)
		out[i] = v;
	if (g->pairs[r] != NULL) {
		pair = cj_llvm_join(g, v, v);
		for (i = 0; i < n / 2; i++)
			g->pairs[r][i] = pair;
	}
	cj_llvm_finish(g, r);
}

void
cj_llvm_op_SLICE(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);

	cj_llvm_define(g, r);
	copy(g, r, 0, cj_operand(g->m, inst, 0), inst->attr,
	    cj_type_count(inst->type));
	cj_llvm_finish(g, r);
}

void
cj_llvm_op_CONCAT(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	uint32_t i, to = 0;

	cj_llvm_define(g, r);
	for (i = 0; i < inst->operand_count; i++) {
		cj_ref part = cj_operand(g->m, inst, i);
		uint32_t n = cj_type_count(cj_inst(g->m, part)->type);

		copy(g, r, to, part, 0, n);
		to += n;
	}
	assert(to == cj_type_count(inst->type));
	cj_llvm_finish(g, r);
}

/* Neighbours that stay so, `run` of them at a multiple of that. */
static void
copy_runs(struct cj_llvm_gen *g, cj_ref r, cj_ref from,
    const struct cj_positions *p, uint32_t run)
{
	uint32_t i, j;

	assert(run > 1);
	for (i = 0; i + run <= p->count; i += run) {
		for (j = 1; j < run && p->at[i + j] == p->at[i] + j; j++)
			;
		if (j == run && p->at[i] % run == 0)
			copy(g, r, i, from, p->at[i], run);
	}
}

void
cj_llvm_op_PERMUTE(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	const struct cj_positions *p = &g->m->positions.at[inst->attr];
	cj_ref from = cj_operand(g->m, inst, 0);
	uint32_t i;

	assert(p->count == cj_type_count(inst->type));
	cj_llvm_define(g, r);
	for (i = 0; i < p->count; i++)
		copy(g, r, i, from, p->at[i], 1);
	if (g->pairs[r] != NULL && g->pairs[from] != NULL)
		copy_runs(g, r, from, p, 2);
	if (g->words[r] != NULL && g->words[from] != NULL)
		copy_runs(g, r, from, p, cj_llvm_word_parts(g,
		    cj_type_kind(inst->type)));
	cj_llvm_finish(g, r);
}

/* Nothing is known any more of what covers registers at .. at + n. */
static void
forget(struct cj_llvm_gen *g, cj_ref r, uint32_t at, uint32_t n)
{
	cj_type t = cj_inst(g->m, r)->type;
	uint32_t i, all = cj_type_count(t);
	uint32_t parts = cj_llvm_word_parts(g, cj_type_kind(t));

	assert(at + n <= all);
	for (i = at / 2; g->pairs[r] != NULL && i < all / 2 &&
	    2 * i < at + n; i++)
		g->pairs[r][i] = NULL;
	for (i = parts == 0 ? 0 : at / parts; g->words[r] != NULL &&
	    i < all / parts && i * parts < at + n; i++)
		g->words[r][i] = NULL;
}

/* Pairs that the second operand covers by half are made anew by finish. */
void
cj_llvm_op_INSERT(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	cj_ref whole = cj_operand(g->m, inst, 0);
	cj_ref part = cj_operand(g->m, inst, 1);
	uint32_t n = cj_type_count(cj_inst(g->m, part)->type);

	cj_llvm_define(g, r);
	copy(g, r, 0, whole, 0, cj_type_count(inst->type));
	forget(g, r, inst->attr, n);
	copy(g, r, inst->attr, part, 0, n);
	cj_llvm_finish(g, r);
}

static bool
is_f16_nan(const struct cj_constant *c, uint32_t i)
{
	return cj_type_kind(c->type) == CJ_KIND_F16 && c->bits[i] == 0x7fff;
}

static cj_llvm
hidden_nan(struct cj_llvm_gen *g)
{
	cj_llvm bits = LLVMBuildTrunc(g->b, cj_llvm_f16_nan(g, g->i32),
	    cj_llvm_int_type(g, 16), "");

	return LLVMBuildBitCast(g->b, bits, cj_llvm_type(g, CJ_KIND_F16), "");
}

void
cj_llvm_op_CONST(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_constant *c = cj_constant_of(g->m, r);
	uint32_t i, n = cj_type_count(c->type);
	cj_llvm *out = cj_llvm_define(g, r);

	assert(n == cj_type_count(cj_inst(g->m, r)->type));
	for (i = 0; i < n; i++)
		out[i] = is_f16_nan(c, i) ? hidden_nan(g) :
		    cj_llvm_const(g, cj_type_kind(c->type), c->bits[i]);
	cj_llvm_finish(g, r);
}

/* ---- bits as another type ----------------------------------------------- */

/* A register as an integer of exactly its bits. */
static cj_llvm
to_bits(struct cj_llvm_gen *g, enum cj_kind k, cj_llvm v)
{
	unsigned bits = cj_kind_bits(k);

	if (cj_llvm_is_small(k))
		return bits == 8 ? v : LLVMBuildTrunc(g->b, v,
		    LLVMIntTypeInContext(g->context, bits), "");
	return LLVMBuildBitCast(g->b, v, cj_llvm_int_type(g, bits), "");
}

static cj_llvm
from_bits(struct cj_llvm_gen *g, enum cj_kind k, cj_llvm v)
{
	if (cj_llvm_is_small(k))
		return cj_kind_bits(k) == 8 ? v :
		    LLVMBuildZExt(g->b, v, g->i8, "");
	return LLVMBuildBitCast(g->b, v, cj_llvm_type(g, k), "");
}

/*
 * Are these bits those of a float of 16 bits, and become one of the other kind?
 * LLVM 22 makes a module of it that is wrong where that is compared with 0: it
 * takes what the bits were for an integer. So it does not see what they were.
 */
static bool
is_other_half(const struct cj_llvm_gen *g, enum cj_kind k, cj_ref from)
{
	const struct cj_inst *i = cj_inst(g->m, from);
	enum cj_kind j = cj_type_kind(i->type);

	if (k != CJ_KIND_F16 && k != CJ_KIND_BF16)
		return false;
	for (; j == k || !(j == CJ_KIND_F16 || j == CJ_KIND_BF16);
	    j = cj_type_kind(i->type)) {
		if (i->op != CJ_OP_BITCAST)
			return false;
		i = cj_inst(g->m, cj_operand(g->m, i, 0));
	}
	return true;
}

static cj_llvm
hidden(struct cj_llvm_gen *g, cj_llvm v)
{
	unsigned bits = LLVMGetIntTypeWidth(LLVMTypeOf(v));

	return cj_llvm_asm(g, CJ_LLVM_ASM_PURE, LLVMTypeOf(v),
	    cj_printf(g->arena, "mov.b%u $0, $1;", bits),
	    bits == 16 ? "=h,h" : bits == 32 ? "=r,r" : "=l,l", &v, 1);
}

/*
 * Registers follow each other from low bits to high. Runs of registers that
 * cover the same bits in both types are joined and split again; the longest
 * run is the least common multiple of the two widths.
 */
static void
bitcast_run(struct cj_llvm_gen *g, cj_ref r, cj_ref from, unsigned run,
    uint32_t index)
{
	enum cj_kind k = cj_type_kind(cj_inst(g->m, r)->type);
	enum cj_kind j = cj_type_kind(cj_inst(g->m, from)->type);
	unsigned wide = cj_kind_bits(k), narrow = cj_kind_bits(j), i;
	LLVMTypeRef type = LLVMIntTypeInContext(g->context, run);
	cj_llvm all = NULL, v;

	assert(run % wide == 0 && run % narrow == 0);
	for (i = 0; i < run / narrow; i++) {
		v = to_bits(g, j, cj_llvm_wide(g, from,
		    index * (run / narrow) + i));
		v = LLVMBuildZExt(g->b, v, type, "");
		v = LLVMBuildShl(g->b, v,
		    LLVMConstInt(type, i * narrow, 0), "");
		all = all == NULL ? v : LLVMBuildOr(g->b, all, v, "");
	}
	if (is_other_half(g, k, from))
		all = hidden(g, all);
	for (i = 0; i < run / wide; i++) {
		v = LLVMBuildLShr(g->b, all,
		    LLVMConstInt(type, i * wide, 0), "");
		v = LLVMBuildTrunc(g->b, v,
		    LLVMIntTypeInContext(g->context, wide), "");
		g->scalars[r][index * (run / wide) + i] = from_bits(g, k, v);
	}
}

void
cj_llvm_op_BITCAST(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	cj_ref from = cj_operand(g->m, inst, 0);
	unsigned a = cj_kind_bits(cj_type_kind(inst->type));
	unsigned b = cj_kind_bits(cj_type_kind(cj_inst(g->m, from)->type));
	unsigned run = a;
	cj_llvm word;
	uint32_t i;

	while (run % b != 0)
		run += a;
	cj_llvm_define(g, r);
	if (run < 32 && 32 % run == 0 &&
	    a * cj_type_count(inst->type) % 32 == 0)
		run = 32;
	for (i = 0; i < cj_type_count(inst->type) / (run / a); i++)
		if (run != 32) {
			bitcast_run(g, r, from, run, i);
		} else {
			word = cj_llvm_word(g, from, i);
			cj_llvm_set_word(g, r, i, is_other_half(g,
			    cj_type_kind(inst->type), from) ?
			    hidden(g, word) : word);
		}
	cj_llvm_finish(g, r);
}
