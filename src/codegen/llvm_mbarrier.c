/*
 * Mbarriers, fences and barriers of parts of a block, as PTX.
 *
 * Addresses of shared memory go as 32 bits. A wait is a loop around an
 * instruction that suspends the thread for a while; its labels live in braces,
 * so that they may be repeated.
 */
#include "llvm_gen.h"

#include <stdio.h>

/* An operand of kind `int` as 32 bits: counts, bytes, numbers of barriers. */
static cj_llvm
low_word(struct cj_llvm_gen *g, cj_ref r)
{
	cj_llvm v = cj_llvm_value(g, r, 0);

	return LLVMTypeOf(v) == g->i32 ? v :
	    LLVMBuildTrunc(g->b, v, g->i32, "");
}

/* The forms with an order and a scope are of PTX 8.0. */
static void
want_ptx(struct cj_llvm_gen *g)
{
	if (!cj_llvm_wants_ptx(g, 80))
		cj_llvm_bug(g, "mbarriers need PTX 8.0");
}

cj_llvm
cj_llvm_shared_word(struct cj_llvm_gen *g, const struct cj_access *a,
    cj_ref offset)
{
	cj_llvm_bounds(g, a, offset, 1);
	return LLVMBuildPtrToInt(g->b, cj_llvm_address(g, a, offset, 0),
	    g->i32, "");
}

/* The block it is of. */
static cj_ref
rank_of(const struct cj_llvm_gen *g, const struct cj_inst *inst)
{
	return inst->operand_count > 2 ? cj_operand(g->m, inst, 2) : 0;
}

static void
emit(struct cj_llvm_gen *g, cj_ref r, const char *text)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	cj_llvm arguments[2];

	want_ptx(g);
	arguments[0] = cj_llvm_shared_word_of(g,
	    &g->m->accesses.at[inst->attr], cj_operand(g->m, inst, 0),
	    rank_of(g, inst));
	arguments[1] = low_word(g, cj_operand(g->m, inst, 1));
	cj_llvm_asm(g, CJ_LLVM_ASM_EFFECT, g->void_type, text,
	    "r,r,~{memory}", arguments, 2);
}

void
cj_llvm_op_MBARRIER_INIT(struct cj_llvm_gen *g, cj_ref r)
{
	emit(g, r, "mbarrier.init.shared::cta.b64 [$0], $1;");
}

/* Whom an arrival shows what its thread has written. */
static const char *
arrival_scope(const struct cj_llvm_gen *g, cj_ref rank)
{
	return rank != 0 && g->tells_others ? "cluster" : "cta";
}

static bool
is_one(const struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_constant *c = cj_constant_of(g->m, r);

	return c != NULL && c->bits[0] == 1;
}

void
cj_llvm_op_MBARRIER_ARRIVE(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	cj_ref rank = rank_of(g, inst);
	const char *name = cj_printf(g->arena,
	    "mbarrier.arrive.release.%s.shared::%s.b64 _, [$0]",
	    arrival_scope(g, rank), rank == 0 ? "cta" : "cluster");
	cj_llvm address;

	if (!is_one(g, cj_operand(g->m, inst, 1))) {
		emit(g, r, cj_printf(g->arena, "%s, $1;", name));
		return;
	}
	want_ptx(g);
	address = cj_llvm_shared_word_of(g, &g->m->accesses.at[inst->attr],
	    cj_operand(g->m, inst, 0), rank);
	cj_llvm_asm(g, CJ_LLVM_ASM_EFFECT, g->void_type,
	    cj_printf(g->arena, "%s;", name), "r,~{memory}", &address, 1);
}

void
cj_llvm_op_MBARRIER_EXPECT(struct cj_llvm_gen *g, cj_ref r)
{
	cj_ref rank = rank_of(g, cj_inst(g->m, r));

	emit(g, r, cj_printf(g->arena, "mbarrier.arrive.expect_tx.release.%s"
	    ".shared::%s.b64 _, [$0], $1;", arrival_scope(g, rank),
	    rank == 0 ? "cta" : "cluster"));
}

/* What it acquires from: the block or the cluster. */
static const char *
scope_of(const struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_access *a =
	    &g->m->accesses.at[cj_inst(g->m, r)->attr];

	return a->scope != CJ_MEMORY_BLOCK &&
	    cj_llvm_hears_others(g, a->object) ? "cluster" : "cta";
}

void
cj_llvm_op_MBARRIER_BYTES(struct cj_llvm_gen *g, cj_ref r)
{
	emit(g, r, "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [$0], $1;");
}

void
cj_llvm_op_MBARRIER_WAIT(struct cj_llvm_gen *g, cj_ref r)
{
	emit(g, r, cj_printf(g->arena, "{\n\t.reg .pred ended;\nagain:\n\t"
	    "mbarrier.try_wait.parity.acquire.%s.shared::cta.b64 ended, "
	    "[$0], $1;\n\t@!ended bra again;\n\t}", scope_of(g, r)));
}

void
cj_llvm_op_MBARRIER_TEST(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	cj_llvm arguments[2], ended;

	want_ptx(g);
	arguments[0] = cj_llvm_shared_word(g, &g->m->accesses.at[inst->attr],
	    cj_operand(g->m, inst, 0));
	arguments[1] = low_word(g, cj_operand(g->m, inst, 1));
	ended = cj_llvm_asm(g, CJ_LLVM_ASM_EFFECT, g->i32,
	    cj_printf(g->arena, "{\n\t.reg .pred ended;\n\t"
	    "mbarrier.try_wait.parity.acquire.%s.shared::cta.b64 ended, "
	    "[$1], $2;\n\tselp.b32 $0, 1, 0, ended;\n\t}", scope_of(g, r)),
	    "=r,r,r,~{memory}", arguments, 2);
	cj_llvm_define(g, r)[0] = LLVMBuildICmp(g->b, LLVMIntNE, ended,
	    cj_llvm_i32(g, 0), "");
	cj_llvm_finish(g, r);
}

/* ---- fences -------------------------------------------------------------- */

void
cj_llvm_op_FENCE(struct cj_llvm_gen *g, cj_ref r)
{
	static const char *const texts[CJ_FENCE_COUNT] = {
		[CJ_FENCE_MBARRIER_INIT] =
		    "fence.mbarrier_init.release.cluster;",
		[CJ_FENCE_ASYNC] = "fence.proxy.async;",
		[CJ_FENCE_ASYNC_SHARED] = "fence.proxy.async.shared::cta;",
		[CJ_FENCE_ASYNC_GLOBAL] = "fence.proxy.async.global;",
		[CJ_FENCE_BEFORE_SYNC] = "tcgen05.fence::before_thread_sync;",
		[CJ_FENCE_AFTER_SYNC] = "tcgen05.fence::after_thread_sync;",
	};

	want_ptx(g);
	cj_llvm_asm(g, CJ_LLVM_ASM_EFFECT, g->void_type,
	    texts[cj_inst(g->m, r)->attr], "~{memory}", NULL, 0);
}

/* ---- parts of a block ---------------------------------------------------- */

/* Numbers that are known stand in the text: with one in a register, a kernel
 * counts as one that uses all 16 barriers. */
static bool
meet_known(struct cj_llvm_gen *g, const struct cj_inst *inst, const char *name)
{
	const struct cj_constant *number = cj_constant_of(g->m,
	    cj_operand(g->m, inst, 0)), *threads = cj_constant_of(g->m,
	    cj_operand(g->m, inst, 1));
	char text[48];

	if (number == NULL || threads == NULL)
		return false;
	snprintf(text, sizeof text, "%s %u, %u;", name,
	    (unsigned)number->bits[0], (unsigned)threads->bits[0]);
	cj_llvm_asm(g, CJ_LLVM_ASM_CONVERGENT, g->void_type, text,
	    "~{memory}", NULL, 0);
	return true;
}

static void
meet(struct cj_llvm_gen *g, cj_ref r, const char *name)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	cj_llvm arguments[2];
	char text[48];

	if (meet_known(g, inst, name))
		return;
	snprintf(text, sizeof text, "%s $0, $1;", name);

	arguments[0] = low_word(g, cj_operand(g->m, inst, 0));
	arguments[1] = low_word(g, cj_operand(g->m, inst, 1));
	cj_llvm_asm(g, CJ_LLVM_ASM_CONVERGENT, g->void_type, text,
	    "r,r,~{memory}", arguments, 2);
}

void
cj_llvm_op_NAMED_BARRIER(struct cj_llvm_gen *g, cj_ref r)
{
	meet(g, r, "bar.sync");
}

void
cj_llvm_op_NAMED_ARRIVE(struct cj_llvm_gen *g, cj_ref r)
{
	meet(g, r, "bar.arrive");
}

void
cj_llvm_op_SYNC_WARP(struct cj_llvm_gen *g, cj_ref r)
{
	cj_llvm mask = cj_llvm_warp_mask(g);

	(void)r;
	cj_llvm_asm(g, CJ_LLVM_ASM_CONVERGENT, g->void_type,
	    "bar.warp.sync $0;", "r,~{memory}", &mask, 1);
}

/* ---- registers of a warpgroup -------------------------------------------- */

static void
move_registers(struct cj_llvm_gen *g, cj_ref r, const char *way)
{
	char text[64];

	want_ptx(g);
	snprintf(text, sizeof text, "setmaxnreg.%s.sync.aligned.u32 %u;", way,
	    (unsigned)cj_inst(g->m, r)->attr);
	cj_llvm_asm(g, CJ_LLVM_ASM_CONVERGENT, g->void_type, text,
	    "~{memory}", NULL, 0);
}

void
cj_llvm_op_REGISTERS_DOWN(struct cj_llvm_gen *g, cj_ref r)
{
	move_registers(g, r, "dec");
}

void
cj_llvm_op_REGISTERS_UP(struct cj_llvm_gen *g, cj_ref r)
{
	move_registers(g, r, "inc");
}
