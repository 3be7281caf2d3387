/*
 * Tensor maps that device code changes, as PTX, and addresses.
 */
#include "llvm_memory.h"

enum { MAP_BYTES = 128, UNIT = 16 };

static void
want_ptx(struct cj_llvm_gen *g)
{
	/* from 8.5 on a stride is given in bytes */
	cj_llvm_needs_ptx(g, 85, "changing tensor maps");
}

static const struct cj_access *
access_of(const struct cj_llvm_gen *g, const struct cj_inst *inst)
{
	return &g->m->accesses.at[inst->attr];
}

static cj_llvm
global_word(struct cj_llvm_gen *g, const struct cj_access *a, cj_ref offset)
{
	return LLVMBuildPtrToInt(g->b, cj_llvm_address(g, a, offset, 0),
	    g->i64, "");
}

/* Copies take its generic address. */
void
cj_llvm_op_MAP_AT(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);

	cj_llvm_define(g, r)[0] = LLVMBuildAddrSpaceCast(g->b,
	    cj_llvm_address(g, access_of(g, inst), cj_operand(g->m, inst, 0),
	    0), g->ptr, "");
}

void
cj_llvm_op_MAP_INIT(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	LLVMTypeRef vector = LLVMVectorType(g->i32, UNIT / 4);
	cj_llvm to = cj_llvm_address(g, access_of(g, inst), cj_operand(g->m,
	    inst, 0), 0);
	cj_llvm from = cj_llvm_value(g, cj_operand(g->m, inst, 1), 0);
	int i;

	for (i = 0; i < MAP_BYTES / UNIT; i++) {
		cj_llvm at = cj_llvm_int(g->i64, i * UNIT), v, p;

		p = LLVMBuildInBoundsGEP2(g->b, g->i8, from, &at, 1, "");
		v = LLVMBuildLoad2(g->b, vector, p, "");
		LLVMSetAlignment(v, UNIT);
		p = LLVMBuildInBoundsGEP2(g->b, g->i8, to, &at, 1, "");
		LLVMSetAlignment(LLVMBuildStore(g->b, v, p), UNIT);
	}
}

static cj_llvm
as_width(struct cj_llvm_gen *g, LLVMTypeRef type, cj_llvm v)
{
	return LLVMBuildIntCast2(g->b, v, type, 1, "");
}

static cj_llvm
field_value(struct cj_llvm_gen *g, const struct cj_inst *inst, uint32_t field,
    const char **name, bool *is_wide)
{
	cj_llvm v = cj_llvm_value(g, cj_operand(g->m, inst, 2), 0);

	*is_wide = field == CJ_MAP_ADDRESS || field > CJ_MAP_STRIDE;
	*name = field == CJ_MAP_ADDRESS ? "global_address" :
	    field < CJ_MAP_STRIDE ? "global_dim" : "global_stride";
	return as_width(g, *is_wide ? g->i64 : g->i32, v);
}

void
cj_llvm_op_MAP_REPLACE(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	uint32_t field = (uint32_t)cj_constant_of(g->m, cj_operand(g->m,
	    inst, 1))->bits[0];
	const char *name, *ord = "";
	cj_llvm arguments[2];
	bool is_wide;

	want_ptx(g);
	arguments[0] = cj_llvm_shared_word(g, access_of(g, inst),
	    cj_operand(g->m, inst, 0));
	arguments[1] = field_value(g, inst, field, &name, &is_wide);
	if (field > CJ_MAP_STRIDE)
		ord = cj_printf(g->arena, "%u, ", field - CJ_MAP_STRIDE - 1);
	else if (field >= CJ_MAP_EXTENT)
		ord = cj_printf(g->arena, "%u, ", field - CJ_MAP_EXTENT);
	cj_llvm_asm(g, CJ_LLVM_ASM_EFFECT, g->void_type, cj_printf(g->arena,
	    "tensormap.replace.tile.%s.shared::cta.b1024.%s [$0], %s$1;",
	    name, is_wide ? "b64" : "b32", ord), is_wide ?
	    "r,l,~{memory}" : "r,r,~{memory}", arguments, 2);
}

void
cj_llvm_op_MAP_PUBLISH(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	const struct cj_copy *c = &g->m->copies.at[inst->attr];
	cj_llvm arguments[2];

	want_ptx(g);
	arguments[0] = global_word(g, &g->m->accesses.at[c->to],
	    cj_operand(g->m, inst, 0));
	arguments[1] = cj_llvm_shared_word(g, &g->m->accesses.at[c->from],
	    cj_operand(g->m, inst, 1));
	cj_llvm_asm(g, CJ_LLVM_ASM_CONVERGENT, g->void_type,
	    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic"
	    ".release.gpu.sync.aligned [$0], [$1], 128;", "l,r,~{memory}",
	    arguments, 2);
}

void
cj_llvm_op_MAP_ACQUIRE(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	cj_llvm at = LLVMBuildPtrToInt(g->b, LLVMBuildAddrSpaceCast(g->b,
	    cj_llvm_address(g, access_of(g, inst), cj_operand(g->m, inst, 0),
	    0), g->ptr, ""), g->i64, "");

	want_ptx(g);
	cj_llvm_asm(g, CJ_LLVM_ASM_EFFECT, g->void_type,
	    "fence.proxy.tensormap::generic.acquire.gpu [$0], 128;",
	    "l,~{memory}", &at, 1);
}

void
cj_llvm_op_ADDRESS(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);

	cj_llvm_define(g, r)[0] = global_word(g, access_of(g, inst),
	    cj_operand(g->m, inst, 0));
	cj_llvm_finish(g, r);
}
