/*
 * ldmatrix, stmatrix, movmatrix: of words, whatever the kind is.
 */
#include "llvm_memory.h"

enum { WORD = 32, MOST_MATRICES = 4 };

static uint32_t
words_of(cj_type t)
{
	uint32_t bits = cj_kind_bits(cj_type_kind(t)) * cj_type_count(t);

	assert(bits % WORD == 0 && "whole words");
	return bits / WORD;
}

/* ---- rows in shared memory ---------------------------------------------- */

/* llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16, for one address space */
static const char *
name_of(struct cj_llvm_gen *g, const char *what,
    const struct cj_access *access, uint32_t count)
{
	assert(count == 1 || count == 2 || count == 4);
	return cj_printf(g->arena, "llvm.nvvm.%s.sync.aligned.m8n8.x%u%s.b16",
	    what, (unsigned)count, access->transposed ? ".trans" : "");
}

static const struct cj_access *
access_of(const struct cj_llvm_gen *g, const struct cj_inst *inst)
{
	return &g->m->accesses.at[inst->attr];
}

void
cj_llvm_op_LDMATRIX(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	const struct cj_access *access = access_of(g, inst);
	uint32_t count = words_of(inst->type), i;
	cj_llvm from = cj_llvm_first_byte(g, access,
	    cj_operand(g->m, inst, 0));
	cj_llvm all = cj_llvm_intrinsic(g, name_of(g, "ldmatrix", access,
	    count), LLVMTypeOf(from), &from, 1);

	assert(count <= MOST_MATRICES);
	cj_llvm_define(g, r);
	for (i = 0; i < count; i++)
		cj_llvm_set_word(g, r, i, count == 1 ? all :
		    LLVMBuildExtractValue(g->b, all, i, ""));
	cj_llvm_finish(g, r);
}

void
cj_llvm_op_STMATRIX(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	const struct cj_access *access = access_of(g, inst);
	cj_ref value = cj_operand(g->m, inst, 1);
	uint32_t count = words_of(cj_inst(g->m, value)->type), i;
	cj_llvm arguments[1 + MOST_MATRICES];

	assert(g->m->target->number >= 90 && count <= MOST_MATRICES);
	arguments[0] = cj_llvm_first_byte(g, access,
	    cj_operand(g->m, inst, 0));
	for (i = 0; i < count; i++)
		arguments[1 + i] = cj_llvm_word(g, value, i);
	cj_llvm_intrinsic(g, name_of(g, "stmatrix", access, count),
	    LLVMTypeOf(arguments[0]), arguments, 1 + count);
}

/* ---- registers ---------------------------------------------------------- */

void
cj_llvm_op_MOVMATRIX(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	cj_llvm word = cj_llvm_word(g, cj_operand(g->m, inst, 0), 0);

	cj_llvm_needs_ptx(g, 78, "movmatrix");
	cj_llvm_define(g, r);
	cj_llvm_set_word(g, r, 0, cj_llvm_asm(g, CJ_LLVM_ASM_WARP, g->i32,
	    "movmatrix.sync.aligned.m8n8.trans.b16 $0, $1;", "=r,r", &word,
	    1));
	cj_llvm_finish(g, r);
}
