/*
 * Threads: who they are, and what they do together.
 */
#include "llvm_gen.h"

#include <stdio.h>

/* ---- numbers of threads and blocks -------------------------------------- */

static cj_llvm
read_register(struct cj_llvm_gen *g, const char *name)
{
	char full[64];

	snprintf(full, sizeof full, "llvm.nvvm.read.ptx.sreg.%s", name);
	return cj_llvm_intrinsic(g, full, NULL, NULL, 0);
}

/* Extent of the block where it is known, else 0. */
static int64_t
known_extent(const struct cj_llvm_gen *g, unsigned axis)
{
	return g->function->block[axis];
}

static cj_llvm
thread_axis(struct cj_llvm_gen *g, unsigned axis)
{
	static const char *const names[] = { "tid.x", "tid.y", "tid.z" };

	if (known_extent(g, axis) == 1)
		return cj_llvm_i32(g, 0);
	return read_register(g, names[axis]);
}

static cj_llvm
block_extent(struct cj_llvm_gen *g, unsigned axis)
{
	static const char *const names[] = { "ntid.x", "ntid.y", "ntid.z" };

	if (known_extent(g, axis) != 0)
		return cj_llvm_i32(g, known_extent(g, axis));
	return read_register(g, names[axis]);
}

/* x + X (y + Y z) of a thread; blocks have at most 1024. */
static cj_llvm
thread_number(struct cj_llvm_gen *g)
{
	cj_llvm v = LLVMBuildMul(g->b, thread_axis(g, 2),
	    block_extent(g, 1), "");

	v = LLVMBuildAdd(g->b, v, thread_axis(g, 1), "");
	v = LLVMBuildMul(g->b, v, block_extent(g, 0), "");
	return LLVMBuildAdd(g->b, v, thread_axis(g, 0), "");
}

static cj_llvm
threads_of_block(struct cj_llvm_gen *g)
{
	cj_llvm v = LLVMBuildMul(g->b, block_extent(g, 0),
	    block_extent(g, 1), "");

	return LLVMBuildMul(g->b, v, block_extent(g, 2), "");
}

cj_llvm
cj_llvm_special(struct cj_llvm_gen *g, enum cj_special s)
{
	switch (s) {
	case CJ_SPECIAL_THREAD_X:
	case CJ_SPECIAL_THREAD_Y:
	case CJ_SPECIAL_THREAD_Z:
		return thread_axis(g, s - CJ_SPECIAL_THREAD_X);
	case CJ_SPECIAL_BLOCK_X:
		return read_register(g, "ctaid.x");
	case CJ_SPECIAL_BLOCK_Y:
		return read_register(g, "ctaid.y");
	case CJ_SPECIAL_BLOCK_Z:
		return read_register(g, "ctaid.z");
	case CJ_SPECIAL_BLOCK_DIM_X:
	case CJ_SPECIAL_BLOCK_DIM_Y:
	case CJ_SPECIAL_BLOCK_DIM_Z:
		return block_extent(g, s - CJ_SPECIAL_BLOCK_DIM_X);
	case CJ_SPECIAL_GRID_DIM_X:
		return read_register(g, "nctaid.x");
	case CJ_SPECIAL_GRID_DIM_Y:
		return read_register(g, "nctaid.y");
	case CJ_SPECIAL_GRID_DIM_Z:
		return read_register(g, "nctaid.z");
	case CJ_SPECIAL_LANE:
		return LLVMBuildAnd(g->b, thread_number(g),
		    cj_llvm_i32(g, 31), "");
	case CJ_SPECIAL_WARP:
		return LLVMBuildLShr(g->b, thread_number(g),
		    cj_llvm_i32(g, 5), "");
	case CJ_SPECIAL_BLOCK_RANK:
		if (g->m->target->number < 90)
			return cj_llvm_i32(g, 0);
		return read_register(g, "cluster.ctarank");
	case CJ_SPECIAL_COUNT:
		break;
	}
	cj_llvm_bug(g, "special value %d", (int)s);
}

/* All are below 2^31. */
void
cj_llvm_op_SPECIAL(struct cj_llvm_gen *g, cj_ref r)
{
	cj_llvm v = cj_llvm_special(g,
	    (enum cj_special)cj_inst(g->m, r)->attr);

	cj_llvm_define(g, r)[0] = v;
	cj_llvm_finish(g, r);
}

/* ---- together ----------------------------------------------------------- */

void
cj_llvm_op_BARRIER(struct cj_llvm_gen *g, cj_ref r)
{
	cj_llvm number = cj_llvm_i32(g, 0);

	(void)r;
	cj_llvm_intrinsic(g, "llvm.nvvm.barrier.cta.sync.aligned.all", NULL,
	    &number, 1);
}

/* Before sm_90 each block is its cluster. */
void
cj_llvm_op_CLUSTER_BARRIER(struct cj_llvm_gen *g, cj_ref r)
{
	if (g->m->target->number < 90) {
		cj_llvm_op_BARRIER(g, r);
		return;
	}
	cj_llvm_intrinsic(g, "llvm.nvvm.barrier.cluster.arrive.aligned", NULL,
	    NULL, 0);
	cj_llvm_intrinsic(g, "llvm.nvvm.barrier.cluster.wait.aligned", NULL,
	    NULL, 0);
}

/* Lanes of the warp that exist: all but in the last warp of a block. */
cj_llvm
cj_llvm_warp_mask(struct cj_llvm_gen *g)
{
	const int64_t *n = g->function->block;
	cj_llvm first, left, mask, all = cj_llvm_i32(g, -1);

	if (n[0] * n[1] * n[2] % 32 == 0 && n[0] * n[1] * n[2] != 0)
		return all;
	first = LLVMBuildAnd(g->b, thread_number(g), cj_llvm_i32(g, -32),
	    "");
	left = LLVMBuildSub(g->b, threads_of_block(g), first, "");
	left = LLVMBuildSub(g->b, cj_llvm_i32(g, 32),
	    cj_llvm_call2(g, "llvm.smin", left, cj_llvm_i32(g, 32)), "");
	mask = LLVMBuildLShr(g->b, all, left, "");
	return mask;
}

/* 32 bits from another lane. */
static cj_llvm
exchange(struct cj_llvm_gen *g, enum cj_shfl how, cj_llvm word, cj_llvm lane,
    cj_llvm mask)
{
	static const char *const names[] = {
		[CJ_SHFL_IDX] = "llvm.nvvm.shfl.sync.idx.i32",
		[CJ_SHFL_UP] = "llvm.nvvm.shfl.sync.up.i32",
		[CJ_SHFL_DOWN] = "llvm.nvvm.shfl.sync.down.i32",
		[CJ_SHFL_XOR] = "llvm.nvvm.shfl.sync.bfly.i32"
	};
	cj_llvm arguments[] = { mask, word, lane,
	    cj_llvm_i32(g, how == CJ_SHFL_UP ? 0 : 31) };

	return cj_llvm_intrinsic(g, names[how], NULL, arguments, 4);
}

/* A register as a word or two, and back. */
static cj_llvm
exchange_register(struct cj_llvm_gen *g, enum cj_shfl how, cj_llvm v,
    cj_llvm lane, cj_llvm mask)
{
	LLVMTypeRef type = LLVMTypeOf(v), bits;
	unsigned width;
	cj_llvm low, high, half = cj_llvm_int(g->i64, 32);

	assert(how <= CJ_SHFL_XOR);
	switch (LLVMGetTypeKind(type)) {
	case LLVMIntegerTypeKind:
		width = LLVMGetIntTypeWidth(type);
		break;
	case LLVMDoubleTypeKind:
		width = 64;
		break;
	case LLVMFloatTypeKind:
	case LLVMVectorTypeKind:
		width = 32;
		break;
	default:
		width = 16;
	}
	bits = cj_llvm_int_type(g, width);
	v = LLVMBuildBitCast(g->b, v, bits, "");
	if (width <= 32) {
		v = LLVMBuildZExt(g->b, v, g->i32, "");
		v = exchange(g, how, v, lane, mask);
		v = LLVMBuildTrunc(g->b, v, bits, "");
		return LLVMBuildBitCast(g->b, v, type, "");
	}
	low = exchange(g, how, LLVMBuildTrunc(g->b, v, g->i32, ""), lane,
	    mask);
	high = exchange(g, how, LLVMBuildTrunc(g->b, LLVMBuildLShr(g->b, v,
	    half, ""), g->i32, ""), lane, mask);
	v = LLVMBuildShl(g->b, LLVMBuildZExt(g->b, high, g->i64, ""), half,
	    "");
	v = LLVMBuildOr(g->b, v, LLVMBuildZExt(g->b, low, g->i64, ""), "");
	return LLVMBuildBitCast(g->b, v, type, "");
}

/* The instruction looks at five bits only; a distance beyond them leaves every
 * lane its own value, as a distance of 0 does. */
static cj_llvm
lane_of(struct cj_llvm_gen *g, const struct cj_inst *inst)
{
	cj_llvm by = cj_llvm_wide(g, cj_operand(g->m, inst, 1), 0), fits;
	cj_llvm lane = LLVMBuildTrunc(g->b, by, g->i32, "");

	if (inst->attr != CJ_SHFL_UP && inst->attr != CJ_SHFL_DOWN)
		return lane;
	fits = LLVMBuildICmp(g->b, LLVMIntULT, by, cj_llvm_int(g->i64, 32),
	    "");
	return LLVMBuildSelect(g->b, fits, lane, cj_llvm_i32(g, 0), "");
}

void
cj_llvm_op_SHFL(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	enum cj_shfl how = (enum cj_shfl)inst->attr;
	cj_ref value = cj_operand(g->m, inst, 0);
	enum cj_kind k = cj_type_kind(inst->type);
	cj_llvm mask = cj_llvm_warp_mask(g), *out = cj_llvm_define(g, r), lane;
	uint32_t i = 0, n = cj_type_count(inst->type);

	lane = lane_of(g, inst);
	if (g->pairs[r] != NULL && cj_kind_bits(k) == 16)
		for (; i + 1 < n; i += 2)
			cj_llvm_set_pair(g, r, i / 2, exchange_register(g,
			    how, cj_llvm_pair(g, value, i / 2), lane, mask));
	for (; i < n; i++)
		out[i] = exchange_register(g, how,
		    cj_llvm_is_narrow(g, r) && cj_llvm_is_narrow(g, value) ?
		    cj_llvm_narrow(g, value, i) : cj_llvm_wide(g, value, i),
		    lane, mask);
	cj_llvm_finish(g, r);
}

void
cj_llvm_op_BALLOT(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	cj_llvm arguments[] = { cj_llvm_warp_mask(g),
	    cj_llvm_value(g, cj_operand(g->m, inst, 0), 0) };

	cj_llvm_define(g, r)[0] = cj_llvm_intrinsic(g,
	    "llvm.nvvm.vote.ballot.sync", NULL, arguments, 2);
	cj_llvm_finish(g, r);
}
