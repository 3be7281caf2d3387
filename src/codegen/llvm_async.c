/*
 * Copies by cp.async, and waiting for them.
 *
 * A mask that is false copies no bytes: the instruction fills the rest of its
 * 4, 8 or 16 with zeros, so that no branch is needed. LLVM's intrinsics take
 * part in its analysis of memory; the hint for L2 they cannot carry, so those
 * copies are written as PTX.
 */
#include "llvm_gen.h"

#include <stdio.h>
#include <string.h>

static uint32_t
bytes_of(const struct cj_llvm_gen *g, const struct cj_copy *c)
{
	uint32_t object = g->m->accesses.at[c->to].object;

	return c->count * cj_kind_bits(g->m->objects.at[object].element) / 8;
}

static const char *
level(const struct cj_copy *c)
{
	return c->cache == CJ_COPY_GLOBAL ? "cg" : "ca";
}

/* `size` is NULL where all bytes are copied. */
static void
copy_plain(struct cj_llvm_gen *g, const struct cj_copy *c, cj_llvm to,
    cj_llvm from, cj_llvm size)
{
	cj_llvm arguments[] = { to, from, size };
	char name[64];

	snprintf(name, sizeof name,
	    "llvm.nvvm.cp.async.%s.shared.global.%u%s", level(c),
	    (unsigned)bytes_of(g, c), size != NULL ? ".s" : "");
	cj_llvm_intrinsic(g, name, NULL, arguments, size != NULL ? 3 : 2);
}

/* What written copies begin with behind their predicate: their addresses, and
 * constants that are added to them. */
#define WRITTEN_PLACES	"[$0+$2], [$1+$3], "

static void
copy_written(struct cj_llvm_gen *g, const struct cj_copy *c, cj_llvm to,
    cj_llvm from, cj_llvm size)
{
	bool hint = c->prefetch != 0 && cj_llvm_wants_ptx(g, 74);
	cj_llvm arguments[6] = { LLVMBuildPtrToInt(g->b, to, g->i32, ""),
	    LLVMBuildPtrToInt(g->b, from, g->i64, ""), cj_llvm_i32(g, 0),
	    cj_llvm_i32(g, 0) };
	char text[128], level_2[16] = "", constraints[32] = "r,l,n,n";
	unsigned n = 4, at = 0;

	if (hint)
		snprintf(level_2, sizeof level_2, ".L2::%uB",
		    (unsigned)c->prefetch);
	if (g->predicate != NULL)
		at = (unsigned)snprintf(text, sizeof text, "@$%u ", n);
	if (g->predicate != NULL) {
		arguments[n++] = g->predicate;
		strcat(constraints, ",b");
	}
	at += (unsigned)snprintf(text + at, sizeof text - at,
	    "cp.async.%s.shared.global%s " WRITTEN_PLACES "%u", level(c),
	    level_2, (unsigned)bytes_of(g, c));
	if (size != NULL) {
		snprintf(text + at, sizeof text - at, ", $%u", n);
		arguments[n++] = size;
		strcat(constraints, ",r");
	}
	strcat(text, ";");
	strcat(constraints, ",~{memory}");
	cj_llvm_asm(g, CJ_LLVM_ASM_EFFECT, g->void_type, text, constraints,
	    arguments, n);
}

/* The address `number` of a written copy is another one and a constant: the
 * instruction adds it. */
static void
take_constant(struct cj_llvm_gen *g, cj_llvm call, unsigned number)
{
	cj_llvm v = LLVMGetOperand(call, number), at;
	long long bytes;

	at = LLVMIsATruncInst(v) != NULL ? LLVMGetOperand(v, 0) : v;
	at = LLVMIsAPtrToIntInst(at) != NULL ? LLVMGetOperand(at, 0) : NULL;
	if (at == NULL || LLVMIsAGetElementPtrInst(at) == NULL ||
	    LLVMGetNumIndices(at) != 1 ||
	    LLVMGetGEPSourceElementType(at) != g->i8 ||
	    LLVMIsAConstantInt(LLVMGetOperand(at, 1)) == NULL)
		return;
	bytes = LLVMConstIntGetSExtValue(LLVMGetOperand(at, 1));
	if (bytes < 0 || bytes >= 1 << 20)
		return;
	LLVMPositionBuilderBefore(g->b, call);
	LLVMSetOperand(call, number, LLVMBuildPtrToInt(g->b,
	    LLVMGetOperand(at, 0), LLVMTypeOf(v), ""));
	LLVMSetOperand(call, number + 2, cj_llvm_i32(g, (int32_t)bytes));
}

void
cj_llvm_constants_of_copy(struct cj_llvm_gen *g, cj_llvm call)
{
	cj_llvm called = LLVMGetCalledValue(call);
	size_t length;

	if (LLVMIsAInlineAsm(called) == NULL ||
	    strstr(LLVMGetInlineAsmAsmString(called, &length),
	    WRITTEN_PLACES) == NULL)
		return;
	take_constant(g, call, 0);
	take_constant(g, call, 1);
}

/* The number of bytes to read: all, or none where the mask is false. */
static cj_llvm
size_of_read(struct cj_llvm_gen *g, cj_ref r, const struct cj_copy *c)
{
	cj_llvm mask = NULL;

	if (cj_inst(g->m, r)->operand_count > 2)
		mask = cj_llvm_mask(g, r, 2);
	if (mask == NULL)
		return NULL;
	return LLVMBuildSelect(g->b, mask, cj_llvm_i32(g, bytes_of(g, c)),
	    cj_llvm_i32(g, 0), "");
}

static void
check_bounds(struct cj_llvm_gen *g, cj_ref r, const struct cj_copy *c)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	cj_ref to = cj_operand(g->m, inst, 0), from = cj_operand(g->m,
	    inst, 1);
	struct cj_llvm_masked m;

	cj_llvm_bounds(g, &g->m->accesses.at[c->to], to, c->count);
	m = cj_llvm_mask_begin(g, inst->operand_count > 2 ?
	    cj_llvm_mask(g, r, 2) : NULL);
	cj_llvm_bounds(g, &g->m->accesses.at[c->from], from, c->count);
	cj_llvm_mask_end(g, &m);
}

void
cj_llvm_op_CP_ASYNC(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	const struct cj_copy *c = &g->m->copies.at[inst->attr];
	cj_llvm to, from, size;

	if (g->options->checked)
		check_bounds(g, r, c);
	to = cj_llvm_address(g, &g->m->accesses.at[c->to],
	    cj_operand(g->m, inst, 0), 0);
	from = cj_llvm_address(g, &g->m->accesses.at[c->from],
	    cj_operand(g->m, inst, 1), 0);
	size = size_of_read(g, r, c);
	if (g->predicate != NULL ||
	    (c->prefetch != 0 && cj_llvm_wants_ptx(g, 74)))
		copy_written(g, c, to, from, size);
	else
		copy_plain(g, c, to, from, size);
}

void
cj_llvm_op_CP_COMMIT(struct cj_llvm_gen *g, cj_ref r)
{
	(void)r;
	cj_llvm_intrinsic(g, "llvm.nvvm.cp.async.commit.group", NULL, NULL,
	    0);
}

void
cj_llvm_op_CP_WAIT(struct cj_llvm_gen *g, cj_ref r)
{
	uint32_t n = cj_inst(g->m, r)->attr;
	cj_llvm newest;

	if (n == CJ_WAIT_ALL) {
		cj_llvm_intrinsic(g, "llvm.nvvm.cp.async.wait.all", NULL,
		    NULL, 0);
		return;
	}
	newest = cj_llvm_i32(g, n);
	cj_llvm_intrinsic(g, "llvm.nvvm.cp.async.wait.group", NULL, &newest,
	    1);
}

/* The mbarrier counts the arrival of a thread whose copies have all landed. */
void
cj_llvm_op_CP_ARRIVE(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	cj_llvm address = cj_llvm_shared_word(g, &g->m->accesses.at[
	    inst->attr], cj_operand(g->m, inst, 0));

	cj_llvm_asm(g, CJ_LLVM_ASM_EFFECT, g->void_type,
	    "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [$0];",
	    "r,~{memory}", &address, 1);
}
