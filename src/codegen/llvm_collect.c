/*
 * Operations over all lanes of a warp: redux and match, an instruction each.
 */
#include "llvm_gen.h"

void
cj_llvm_op_REDUX(struct cj_llvm_gen *g, cj_ref r)
{
	static const char *const names[][2] = {
		[CJ_ATOMIC_ADD] = { "add", "add" },
		[CJ_ATOMIC_MIN] = { "umin", "min" },
		[CJ_ATOMIC_MAX] = { "umax", "max" },
		[CJ_ATOMIC_AND] = { "and", "and" },
		[CJ_ATOMIC_OR] = { "or", "or" },
		[CJ_ATOMIC_XOR] = { "xor", "xor" }
	};
	const struct cj_inst *inst = cj_inst(g->m, r);
	bool is_signed = cj_type_kind(inst->type) == CJ_KIND_I32;
	cj_llvm arguments[] = {
	    cj_llvm_value(g, cj_operand(g->m, inst, 0), 0),
	    cj_llvm_warp_mask(g) };
	char name[40];

	assert(inst->attr <= CJ_ATOMIC_XOR);
	assert(g->m->target->number >= 80);
	snprintf(name, sizeof name, "llvm.nvvm.redux.sync.%s",
	    names[inst->attr][is_signed]);
	cj_llvm_define(g, r)[0] = cj_llvm_intrinsic(g, name, NULL, arguments,
	    2);
	cj_llvm_finish(g, r);
}

void
cj_llvm_op_MATCH(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	cj_llvm v = cj_llvm_wide(g, cj_operand(g->m, inst, 0), 0);
	unsigned bits = cj_kind_bits(cj_type_kind(cj_inst(g->m,
	    cj_operand(g->m, inst, 0))->type));
	cj_llvm arguments[2];

	assert(bits == 32 || bits == 64);
	arguments[0] = cj_llvm_warp_mask(g);
	arguments[1] = LLVMBuildBitCast(g->b, v, bits == 64 ? g->i64 : g->i32,
	    "");
	cj_llvm_define(g, r)[0] = cj_llvm_intrinsic(g, bits == 64 ?
	    "llvm.nvvm.match.any.sync.i64" : "llvm.nvvm.match.any.sync.i32",
	    NULL, arguments, 2);
	cj_llvm_finish(g, r);
}
