/*
 * LLVM's passes: few, since what comes is unrolled and inlined already, and
 * the generator of NVPTX has its own.
 *
 *	0	allocas become values, nothing else
 *	1	and the cheap clean-up
 *	2	and loops: invariants out of them, unrolling
 *	3	LLVM's own -O3 where there are loops, in modules that are
 *		small: without loops it changes nothing worth its time, which
 *		is a quarter of a small compile; and its many turns of
 *		instcombine and GVN are two thirds of a large one
 *
 * In large modules the generator's loop strength reduction is kept from loops:
 * it would give each address a counter of its own, in registers that there are
 * no more, and search long for the best ones. It works on counters that LLVM
 * sees through: they are hidden from it. In very large ones so is what
 * addresses are computed from: of each two the generator asks whether one can
 * be had from the other, in a time that grows with the square. In smaller ones
 * what it finds pays: the loop of gemm_sm80 takes 4 % less with it. A block of
 * very many addresses has them in groups, by what they begin at: it is hidden
 * anew for each, and what the generator asks, it asks within a group.
 *
 * Where there are many accesses constants are taken out of their addresses
 * here, and what is then equal is made once. The generator would do the same,
 * but look for strength to reduce before it has met what is equal, in a time
 * that grows with the square. It is done before instcombine moves an address
 * to the one block that uses it, where it meets no other.
 */
#include "llvm_gen.h"

/* Instructions of a module of ours from which on it is large, and of LLVM's
 * behind its passes from which on it is very large; addresses of a block from
 * which on they are very many, and of a group of those. */
enum { LARGE = 700, VERY_LARGE = 3000, VERY_MANY = 1000, GROUP = 128 };

static bool
is_large(const struct cj_llvm_gen *g)
{
	return g->has_loops && g->m->insts.len > LARGE;
}

static const char *
pipeline(const struct cj_llvm_gen *g)
{
	static const char clean[] = "function(sroa,early-cse<memssa>,"
	    "instcombine<no-verify-fixpoint>,simplifycfg,reassociate,gvn,"
	    "instcombine<no-verify-fixpoint>,dce)";
	static const char loops[] = "function(mem2reg,early-cse,simplifycfg,"
	    "loop-mssa(loop-rotate,licm),loop(indvars),loop-unroll,"
	    "simplifycfg,separate-const-offset-from-gep,early-cse<memssa>,"
	    "loop-mssa(licm),instcombine<no-verify-fixpoint>,dce)";
	int level = g->options->level;

	if (level <= 0)
		return "function(sroa)";
	if (!g->has_loops || level == 1)
		return clean;
	if (level == 2 || is_large(g))
		return loops;
	return "function(sroa,early-cse),default<O3>";
}

/* Is v = phi + constant? */
static bool
is_step(cj_llvm v, cj_llvm phi)
{
	return LLVMIsAInstruction(v) != NULL &&
	    LLVMGetInstructionOpcode(v) == LLVMAdd &&
	    LLVMGetOperand(v, 0) == phi &&
	    LLVMIsAConstantInt(LLVMGetOperand(v, 1)) != NULL;
}

static bool
is_index_type(const struct cj_llvm_gen *g, LLVMTypeRef type)
{
	return type == g->i32 || type == g->i64;
}

/* v, a number or an address, behind a move of PTX, where the builder stands. */
static cj_llvm
hidden(struct cj_llvm_gen *g, cj_llvm v)
{
	bool wide = LLVMTypeOf(v) != g->i32;

	return cj_llvm_asm(g, CJ_LLVM_ASM_PURE, LLVMTypeOf(v), wide ?
	    "mov.b64 $0, $1;" : "mov.b32 $0, $1;", wide ? "=l,l" : "=r,r",
	    &v, 1);
}

/* A move of PTX between a step and the phi that it comes back to. */
static void
hide_counter(struct cj_llvm_gen *g, cj_llvm phi)
{
	unsigned i;

	for (i = 0; i < LLVMCountIncoming(phi); i++) {
		cj_llvm v = LLVMGetIncomingValue(phi, i);

		if (!is_step(v, phi))
			continue;
		LLVMPositionBuilderBefore(g->b, LLVMGetBasicBlockTerminator(
		    LLVMGetIncomingBlock(phi, i)));
		LLVMSetOperand(phi, i, hidden(g, v));
	}
}

static bool
is_address_by(cj_llvm user, cj_llvm index)
{
	return LLVMIsAGetElementPtrInst(user) != NULL &&
	    LLVMGetNumOperands(user) == 2 && LLVMGetOperand(user, 1) == index;
}

/* A move between v and all addresses of which it is the index. */
static void
hide_index(struct cj_llvm_gen *g, cj_llvm v)
{
	LLVMUseRef u = LLVMGetFirstUse(v), next;
	cj_llvm behind = NULL, user;

	for (; u != NULL; u = next) {
		user = LLVMGetUser(u);
		next = LLVMGetNextUse(u);
		if (!is_address_by(user, v))
			continue;
		if (behind == NULL) {
			LLVMPositionBuilderBefore(g->b,
			    LLVMGetNextInstruction(v));
			behind = hidden(g, v);
		}
		LLVMSetOperand(user, 1, behind);
	}
}

static bool
is_very_large(const struct cj_llvm_gen *g)
{
	uint32_t count = 0;
	LLVMValueRef fn, i;
	LLVMBasicBlockRef b;

	for (fn = LLVMGetFirstFunction(g->module); fn != NULL;
	    fn = LLVMGetNextFunction(fn))
		for (b = LLVMGetFirstBasicBlock(fn); b != NULL;
		    b = LLVMGetNextBasicBlock(b))
			for (i = LLVMGetFirstInstruction(b); i != NULL;
			    i = LLVMGetNextInstruction(i))
				count++;
	return is_large(g) && count > VERY_LARGE;
}

static void
visit_block(struct cj_llvm_gen *g, LLVMBasicBlockRef b, bool hides_indices)
{
	LLVMValueRef i;

	for (i = LLVMGetFirstInstruction(b); i != NULL;
	    i = LLVMGetNextInstruction(i)) {
		if (LLVMTypeOf(i) == g->i16)
			cj_llvm_opposite(g, i);
		else if (LLVMIsACallInst(i) != NULL)
			cj_llvm_constants_of_copy(g, i);
		else if (!is_large(g) || !is_index_type(g, LLVMTypeOf(i)))
			continue;
		else if (LLVMIsAPHINode(i) != NULL)
			hide_counter(g, i);
		else if (hides_indices)
			hide_index(g, i);
	}
}

/* ---- very many addresses in a block -------------------------------------- */

/* An address by an index that is not known: where it begins, or NULL. */
static cj_llvm
begin_of(cj_llvm i)
{
	return LLVMIsAGetElementPtrInst(i) != NULL &&
	    LLVMGetNumOperands(i) == 2 &&
	    !LLVMIsConstant(LLVMGetOperand(i, 1)) ?
	    LLVMGetOperand(i, 0) : NULL;
}

static uint32_t
addresses_in(LLVMBasicBlockRef b)
{
	uint32_t count = 0;
	LLVMValueRef i;

	for (i = LLVMGetFirstInstruction(b); i != NULL;
	    i = LLVMGetNextInstruction(i))
		count += begin_of(i) != NULL;
	return count;
}

/* The next addresses of a block that begin alike have a beginning of their
 * own. */
static void
group_addresses(struct cj_llvm_gen *g, LLVMBasicBlockRef b)
{
	cj_llvm begin = NULL, behind = NULL;
	LLVMValueRef i;
	uint32_t left = 0;

	for (i = LLVMGetFirstInstruction(b); i != NULL;
	    i = LLVMGetNextInstruction(i)) {
		cj_llvm own = begin_of(i);

		if (own == NULL)
			continue;
		if (own != begin || left == 0) {
			LLVMPositionBuilderBefore(g->b, i);
			begin = own;
			behind = hidden(g, own);
			left = GROUP;
		}
		LLVMSetOperand(i, 0, behind);
		left--;
	}
}

/* ---- all of it ----------------------------------------------------------- */

/* What LLVM's passes do not know of. */
static void
finish(struct cj_llvm_gen *g)
{
	bool hides_indices = is_very_large(g);
	LLVMValueRef fn;
	LLVMBasicBlockRef b;

	for (fn = LLVMGetFirstFunction(g->module); fn != NULL;
	    fn = LLVMGetNextFunction(fn))
		for (b = LLVMGetFirstBasicBlock(fn); b != NULL;
		    b = LLVMGetNextBasicBlock(b)) {
			visit_block(g, b, hides_indices);
			if (addresses_in(b) > VERY_MANY)
				group_addresses(g, b);
		}
}

char *
cj_llvm_optimise(struct cj_llvm_gen *g, LLVMTargetMachineRef machine)
{
	LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
	LLVMErrorRef error = LLVMRunPasses(g->module,
	    pipeline(g), machine, options);

	LLVMDisposePassBuilderOptions(options);
	if (error != NULL)
		return LLVMGetErrorMessage(error);
	finish(g);
	return NULL;
}
