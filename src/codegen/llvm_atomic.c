/*
 * Accesses with an order, and atomic operations.
 *
 * LLVM passes order and scope of loads, stores and compare-and-exchange on,
 * but drops those of read-modify-write operations; these are written as PTX
 * where the target has the instruction, and are loops of compare-and-exchange
 * where it has not, over the 32-bit or 64-bit word that holds the element.
 */
#include "llvm_int.h"
#include "llvm_memory.h"

#include <stdio.h>

static const char *
scope_llvm(enum cj_memory_scope s)
{
	switch (s) {
	case CJ_MEMORY_BLOCK:
		return "block";
	case CJ_MEMORY_CLUSTER:
		return "cluster";
	case CJ_MEMORY_GPU:
		return "device";
	case CJ_MEMORY_SYSTEM:
		break;
	}
	return "";
}

static const char *
scope_ptx(enum cj_memory_scope s)
{
	switch (s) {
	case CJ_MEMORY_BLOCK:
		return "cta";
	case CJ_MEMORY_CLUSTER:
		return "cluster";
	case CJ_MEMORY_GPU:
		return "gpu";
	case CJ_MEMORY_SYSTEM:
		break;
	}
	return "sys";
}

/* Before sm_90 there are no clusters: the GPU is the next scope up. */
static enum cj_memory_scope
scope_of(const struct cj_llvm_gen *g, const struct cj_access *access)
{
	return access->scope == CJ_MEMORY_CLUSTER &&
	    g->m->target->number < 90 ? CJ_MEMORY_GPU : access->scope;
}

static unsigned
sync_scope(const struct cj_llvm_gen *g, const struct cj_access *access)
{
	const char *name = scope_llvm(scope_of(g, access));

	return LLVMGetSyncScopeID(g->context, name, strlen(name));
}

static LLVMAtomicOrdering
ordering(enum cj_order order)
{
	switch (order) {
	case CJ_ORDER_WEAK:
	case CJ_ORDER_RELAXED:
		return LLVMAtomicOrderingMonotonic;
	case CJ_ORDER_ACQUIRE:
		return LLVMAtomicOrderingAcquire;
	case CJ_ORDER_RELEASE:
		return LLVMAtomicOrderingRelease;
	case CJ_ORDER_ACQ_REL:
		return LLVMAtomicOrderingAcquireRelease;
	}
	return LLVMAtomicOrderingMonotonic;
}

static const char *
order_ptx(enum cj_order order)
{
	switch (order) {
	case CJ_ORDER_WEAK:
	case CJ_ORDER_RELAXED:
		return "relaxed";
	case CJ_ORDER_ACQUIRE:
		return "acquire";
	case CJ_ORDER_RELEASE:
		return "release";
	case CJ_ORDER_ACQ_REL:
		break;
	}
	return "acq_rel";
}

static enum cj_kind
element_of(const struct cj_llvm_gen *g, const struct cj_access *access)
{
	return g->m->objects.at[access->object].element;
}

/* ---- loads and stores --------------------------------------------------- */

static LLVMTypeRef
storage_type(const struct cj_llvm_gen *g, enum cj_kind k)
{
	return cj_llvm_int_type(g, cj_kind_bytes(k) * 8);
}

void
cj_llvm_ordered_load(struct cj_llvm_gen *g, cj_ref r,
    const struct cj_access *access, cj_ref offset)
{
	enum cj_kind k = element_of(g, access);
	uint32_t i, n = cj_type_count(cj_inst(g->m, r)->type);
	/* a load cannot release */
	LLVMAtomicOrdering order = access->order == CJ_ORDER_ACQ_REL ?
	    LLVMAtomicOrderingAcquire : ordering(access->order);
	cj_llvm v;

	for (i = 0; i < n; i++) {
		v = LLVMBuildLoad2(g->b, storage_type(g, k),
		    cj_llvm_address(g, access, offset, i), "");
		LLVMSetOrdering(v, order);
		LLVMSetAtomicSyncScopeID(v, sync_scope(g, access));
		LLVMSetAlignment(v, cj_kind_bytes(k));
		g->scalars[r][i] = cj_llvm_from_storage(g, k, v);
	}
}

void
cj_llvm_ordered_store(struct cj_llvm_gen *g, const struct cj_access *access,
    cj_ref offset, cj_ref value)
{
	enum cj_kind k = element_of(g, access);
	uint32_t i, n = cj_type_count(cj_inst(g->m, value)->type);
	LLVMAtomicOrdering order = access->order == CJ_ORDER_ACQ_REL ?
	    LLVMAtomicOrderingRelease : ordering(access->order);
	cj_llvm v;

	for (i = 0; i < n; i++) {
		v = cj_llvm_to_storage(g, k, cj_llvm_wide(g, value, i));
		v = LLVMBuildStore(g->b, v,
		    cj_llvm_address(g, access, offset, i));
		LLVMSetOrdering(v, order);
		LLVMSetAtomicSyncScopeID(v, sync_scope(g, access));
		LLVMSetAlignment(v, cj_kind_bytes(k));
	}
}

/* ---- instructions ------------------------------------------------------- */

/* PTX of the operation and its type, "add.noftz.f16"; NULL: there is none. */
static const char *
add_name(const struct cj_llvm_gen *g, enum cj_kind k)
{
	switch (cj_kind_bits(k)) {
	case 16:
		if (k == CJ_KIND_F16)
			return "add.noftz.f16";
		return k == CJ_KIND_BF16 && g->m->target->number >= 90 ?
		    "add.noftz.bf16" : NULL;
	case 32:
		return k == CJ_KIND_F32 ? "add.f32" :
		    k == CJ_KIND_TF32 ? NULL : "add.u32";
	case 64:
		return k == CJ_KIND_F64 ? "add.f64" : "add.u64";
	}
	return NULL;
}

static const char *
order_name(enum cj_kind k, bool is_max)
{
	bool is_signed = cj_kind_is_signed(k);

	if (cj_kind_is_float(k))
		return NULL;
	switch (cj_kind_bits(k)) {
	case 32:
		if (is_max)
			return is_signed ? "max.s32" : "max.u32";
		return is_signed ? "min.s32" : "min.u32";
	case 64:
		if (is_max)
			return is_signed ? "max.s64" : "max.u64";
		return is_signed ? "min.s64" : "min.u64";
	}
	return NULL;
}

static const char *
bits_name(enum cj_kind k, const char *narrow, const char *wide)
{
	return cj_kind_bits(k) == 32 ? narrow : cj_kind_bits(k) == 64 ? wide :
	    NULL;
}

/* What ptxas makes of 64-bit operations on the memory of another block, other
 * than to add and to exchange, loses updates (CUDA 13.0, on a GH100). */
static bool
is_lost(enum cj_atomic op, enum cj_kind k, cj_llvm at)
{
	return cj_kind_bits(k) == 64 && op != CJ_ATOMIC_ADD &&
	    op != CJ_ATOMIC_EXCH && op != CJ_ATOMIC_CAS &&
	    LLVMGetPointerAddressSpace(LLVMTypeOf(at)) ==
	    CJ_LLVM_SHARED_CLUSTER;
}

static const char *
instruction(const struct cj_llvm_gen *g, enum cj_atomic op, enum cj_kind k)
{
	switch (op) {
	case CJ_ATOMIC_ADD:
		return add_name(g, k);
	case CJ_ATOMIC_MIN:
		return order_name(k, false);
	case CJ_ATOMIC_MAX:
		return order_name(k, true);
	case CJ_ATOMIC_AND:
		return bits_name(k, "and.b32", "and.b64");
	case CJ_ATOMIC_OR:
		return bits_name(k, "or.b32", "or.b64");
	case CJ_ATOMIC_XOR:
		return bits_name(k, "xor.b32", "xor.b64");
	case CJ_ATOMIC_INC:
		return k == CJ_KIND_U32 ? "inc.u32" : NULL;
	case CJ_ATOMIC_DEC:
		return k == CJ_KIND_U32 ? "dec.u32" : NULL;
	case CJ_ATOMIC_EXCH:
		return bits_name(k, "exch.b32", "exch.b64");
	case CJ_ATOMIC_CAS:
		return bits_name(k, "cas.b32", "cas.b64");
	case CJ_ATOMIC_COUNT:
		break;
	}
	return NULL;
}

static const char *
space_ptx(unsigned space)
{
	switch (space) {
	case 1:
		return ".global";
	case 3:
		return ".shared";
	case CJ_LLVM_SHARED_CLUSTER:
		return ".shared::cluster";
	}
	return "";
}

/* The old value, as the integer that lay in memory. */
static cj_llvm
by_instruction(struct cj_llvm_gen *g, const struct cj_access *access,
    const char *name, cj_llvm *arguments, unsigned count)
{
	LLVMTypeRef type = LLVMTypeOf(arguments[1]);
	unsigned bits = LLVMGetIntTypeWidth(type);
	char letter = bits == 64 ? 'l' : bits == 32 ? 'r' : 'h';
	char text[128], constraints[48];

	assert(bits >= 16 && (count == 2 || count == 3));
	snprintf(text, sizeof text, "atom.%s.%s%s.%s $0, [$1], $2%s;",
	    order_ptx(access->order), scope_ptx(scope_of(g, access)),
	    space_ptx(LLVMGetPointerAddressSpace(LLVMTypeOf(arguments[0]))),
	    name,
	    count == 3 ? ", $3" : "");
	snprintf(constraints, sizeof constraints, count == 3 ?
	    "=%c,l,%c,%c,~{memory}" : "=%c,l,%c,~{memory}", letter, letter,
	    letter);
	return cj_llvm_asm(g, CJ_LLVM_ASM_EFFECT, type, text, constraints,
	    arguments, count);
}

/* ---- loops -------------------------------------------------------------- */

/* The new value, as an element, of an old one. */
static cj_llvm
updated(struct cj_llvm_gen *g, enum cj_atomic op, enum cj_kind k, cj_llvm old,
    cj_llvm by)
{
	static const enum cj_op ops[] = {
		[CJ_ATOMIC_ADD] = CJ_OP_ADD, [CJ_ATOMIC_MIN] = CJ_OP_MIN,
		[CJ_ATOMIC_MAX] = CJ_OP_MAX, [CJ_ATOMIC_AND] = CJ_OP_AND,
		[CJ_ATOMIC_OR] = CJ_OP_OR, [CJ_ATOMIC_XOR] = CJ_OP_XOR
	};
	cj_llvm x[] = { old, by, NULL };

	if (op == CJ_ATOMIC_EXCH || op == CJ_ATOMIC_CAS)
		return by;
	assert(op < CJ_LENGTH(ops) && "of u32 alone, an instruction");
	if (cj_kind_is_float(k))
		return cj_llvm_float_apply(g, ops[op], k, x);
	return cj_llvm_int_update(g, ops[op], k, old, by);
}

/* Where an element lies in its 32-bit word. */
struct place {
	cj_llvm word;		/* address */
	cj_llvm shift;		/* in bits; NULL: the element is the word */
	LLVMTypeRef type;	/* of the word */
};

static struct place
place_of(struct cj_llvm_gen *g, enum cj_kind k, cj_llvm at)
{
	struct place p = { at, NULL, storage_type(g, k) };
	cj_llvm low, minus;

	assert(cj_kind_bits(k) >= 8 || k == CJ_KIND_BOOL);
	if (cj_kind_bytes(k) >= 4)
		return p;
	p.type = g->i32;
	low = LLVMBuildAnd(g->b, LLVMBuildPtrToInt(g->b, at, g->i64, ""),
	    cj_llvm_int(g->i64, 3), "");
	minus = LLVMBuildNeg(g->b, low, "");
	p.word = LLVMBuildGEP2(g->b, g->i8, at, &minus, 1, "");
	p.shift = LLVMBuildShl(g->b, LLVMBuildTrunc(g->b, low, g->i32, ""),
	    cj_llvm_i32(g, 3), "");
	return p;
}

static cj_llvm
get_element(struct cj_llvm_gen *g, enum cj_kind k, const struct place *p,
    cj_llvm word)
{
	if (p->shift != NULL)
		word = LLVMBuildTrunc(g->b, LLVMBuildLShr(g->b, word,
		    p->shift, ""), storage_type(g, k), "");
	return cj_llvm_from_storage(g, k, word);
}

static cj_llvm
set_element(struct cj_llvm_gen *g, enum cj_kind k, const struct place *p,
    cj_llvm word, cj_llvm v)
{
	LLVMBuilderRef b = g->b;
	uint64_t ones = ((uint64_t)1 << cj_kind_bytes(k) % 8 * 8) - 1;
	cj_llvm mask;

	v = cj_llvm_to_storage(g, k, v);
	if (p->shift == NULL)
		return v;
	mask = LLVMBuildShl(b, LLVMConstInt(p->type, ones, 0), p->shift, "");
	v = LLVMBuildShl(b, LLVMBuildZExt(b, v, p->type, ""), p->shift, "");
	return LLVMBuildOr(b, LLVMBuildAnd(b, word,
	    LLVMBuildNot(b, mask, ""), ""), v, "");
}

/*
 * word = load; do { old = word; word = cmpxchg(old -> new) } while lost.
 * A cas ends as soon as the element differs from what was expected; bits are
 * compared.
 */
static cj_llvm
by_loop(struct cj_llvm_gen *g, const struct cj_access *access, cj_llvm at,
    cj_llvm by, cj_llvm expected)
{
	enum cj_kind k = element_of(g, access);
	struct place p = place_of(g, k, at);
	LLVMBasicBlockRef before = LLVMGetInsertBlock(g->b);
	LLVMBasicBlockRef again = cj_llvm_block(g, "atomic.again");
	LLVMBasicBlockRef try = cj_llvm_block(g, "atomic.try");
	LLVMBasicBlockRef done = cj_llvm_block(g, "atomic.done");
	cj_llvm first, word, v, pair, seen, same, old;

	first = LLVMBuildLoad2(g->b, p.type, p.word, "");
	LLVMSetOrdering(first, LLVMAtomicOrderingMonotonic);
	LLVMSetAtomicSyncScopeID(first, sync_scope(g, access));
	LLVMSetAlignment(first, LLVMGetIntTypeWidth(p.type) / 8);
	LLVMBuildBr(g->b, again);

	cj_llvm_enter(g, again);
	word = LLVMBuildPhi(g->b, p.type, "word");
	old = get_element(g, k, &p, word);
	same = LLVMConstInt(g->i1, 1, 0);
	if (expected != NULL)
		same = LLVMBuildICmp(g->b, LLVMIntEQ,
		    cj_llvm_to_storage(g, k, old),
		    cj_llvm_to_storage(g, k, expected), "");
	LLVMBuildCondBr(g->b, same, try, done);

	cj_llvm_enter(g, try);
	v = set_element(g, k, &p, word, updated(g, access->atomic, k, old,
	    by));
	pair = LLVMBuildAtomicCmpXchgSyncScope(g->b, p.word, word, v,
	    ordering(access->order), access->order == CJ_ORDER_ACQUIRE ||
	    access->order == CJ_ORDER_ACQ_REL ? LLVMAtomicOrderingAcquire :
	    LLVMAtomicOrderingMonotonic, sync_scope(g, access));
	seen = LLVMBuildExtractValue(g->b, pair, 0, "");
	LLVMBuildCondBr(g->b, LLVMBuildExtractValue(g->b, pair, 1, ""), done,
	    again);

	LLVMAddIncoming(word, &first, &before, 1);
	LLVMAddIncoming(word, &seen, &try, 1);
	cj_llvm_enter(g, done);
	return old;
}

/* ---- the operation ------------------------------------------------------ */

static cj_llvm
one(struct cj_llvm_gen *g, const struct cj_access *access, cj_llvm at,
    cj_llvm by, cj_llvm expected)
{
	enum cj_kind k = element_of(g, access);
	const char *name = instruction(g, access->atomic, k);
	cj_llvm arguments[3] = { at }, old;
	unsigned n = 1;

	if (name == NULL || is_lost(access->atomic, k, at))
		return by_loop(g, access, at, by, expected);
	if (expected != NULL)
		arguments[n++] = cj_llvm_to_storage(g, k, expected);
	arguments[n++] = cj_llvm_to_storage(g, k, by);
	old = by_instruction(g, access, name, arguments, n);
	return cj_llvm_from_storage(g, k, old);
}

void
cj_llvm_op_ATOMIC(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	const struct cj_access *access = &g->m->accesses.at[inst->attr];
	bool is_cas = access->atomic == CJ_ATOMIC_CAS;
	cj_ref offset = cj_operand(g->m, inst, 0);
	struct cj_llvm_masked m = cj_llvm_mask_begin(g,
	    cj_llvm_mask(g, r, is_cas ? 3 : 2));
	uint32_t i, n = cj_type_count(inst->type);
	cj_llvm *out = cj_llvm_define(g, r);

	cj_llvm_bounds(g, access, offset, n);
	for (i = 0; i < n; i++)
		out[i] = one(g, access,
		    cj_llvm_address(g, access, offset, i),
		    cj_llvm_wide(g, cj_operand(g->m, inst, 1), i),
		    is_cas ? cj_llvm_wide(g, cj_operand(g->m, inst, 2), i) :
		    NULL);
	cj_llvm_mask_end(g, &m);
	for (i = 0; i < n && m.inside != NULL; i++)
		out[i] = cj_llvm_mask_merge(g, &m, out[i],
		    LLVMConstNull(LLVMTypeOf(out[i])));
	cj_llvm_finish(g, r);
}

/* At one element; cas: expected is behind the value. */
void
cj_llvm_op_REMOTE_ATOMIC(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	const struct cj_access *access = &g->m->accesses.at[inst->attr];
	cj_ref offset = cj_operand(g->m, inst, 0);
	cj_llvm *out = cj_llvm_define(g, r), own;
	uint32_t i;

	cj_llvm_bounds(g, access, offset, cj_type_count(inst->type));
	own = cj_llvm_borrow(g, access, cj_operand(g->m, inst, 1));
	for (i = 0; i < cj_type_count(inst->type); i++)
		out[i] = one(g, access, cj_llvm_address(g, access, offset, i),
		    cj_llvm_wide(g, cj_operand(g->m, inst, 2), i),
		    access->atomic != CJ_ATOMIC_CAS ? NULL :
		    cj_llvm_wide(g, cj_operand(g->m, inst, 3), i));
	cj_llvm_give_back(g, access, own);
	cj_llvm_finish(g, r);
}
