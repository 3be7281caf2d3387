/*
 * What objects become: parameters, globals in shared or constant memory,
 * allocas.
 *
 * Shared objects may lie over one another (ir/opt_share.c).
 * Shared memory is static while a function needs at most 48 KB of it, the most
 * that a launch gives unasked; beyond that all of it is dynamic, and objects
 * are offsets into it.
 *
 * Memory that a function does not write, and that nothing else can write while
 * it runs, is read-only there: loads may go through the read-only cache and
 * may be moved. The contract keeps tensors apart (ir.h, may_alias); where it
 * allows an overlap, foreign memory is written, or the function waits for
 * another launch, nothing is read-only.
 */
#include "llvm_memory.h"

#include <stdio.h>

enum { GLOBAL = 1, SHARED = 3, CONSTANT = 4, STATIC_SHARED_MOST = 48 << 10,
    CONSTANT_MOST = 48 << 10 };

/* How a function uses an object. */
struct use {
	bool is_used, is_written;
	bool has_order;		/* others write it while the kernel runs */
	bool is_awaited;	/* a load of it acquires */
	bool is_for_all;	/* ... from whoever has this memory */
};

static void
note_order(struct use *u, const struct cj_access *a)
{
	u->has_order |= a->order != CJ_ORDER_WEAK;
	if (a->order != CJ_ORDER_ACQUIRE && a->order != CJ_ORDER_ACQ_REL)
		return;
	u->is_awaited = true;
	u->is_for_all |= a->scope == CJ_MEMORY_SYSTEM;
}

static struct use *
uses_of(struct cj_llvm_gen *g)
{
	const struct cj_module *m = g->m;
	struct use *uses = CJ_NEWS(g->arena, struct use, m->objects.len);
	struct cj_walk w = cj_walk_begin(m, g->function->body);
	const struct cj_inst *i;

	while ((i = cj_walk_inst(&w)) != NULL) {
		struct cj_touch touches[CJ_TOUCHES];
		unsigned n = cj_touches(m, i, touches), k;

		for (k = 0; k < n; k++) {
			struct use *u = &uses[touches[k].access->object];

			u->is_used = true;
			u->is_written |= touches[k].writes;
			note_order(u, touches[k].access);
		}
	}
	return uses;
}

/* Can memory be written under another object's name? */
static bool
may_overlap(const struct cj_module *m, const struct use *uses)
{
	uint32_t o;

	for (o = 1; o < m->objects.len; o++)
		if (uses[o].is_used && (m->objects.at[o].may_alias ||
		    (m->objects.at[o].kind == CJ_OBJECT_FOREIGN &&
		    uses[o].is_written)))
			return true;
	return false;
}

/* Does it wait for what another launch has written, of which any memory may be
 * a part? */
static bool
hears_others(const struct cj_module *m, const struct use *uses)
{
	uint32_t o;

	for (o = 1; o < m->objects.len; o++)
		if (uses[o].is_for_all ||
		    (uses[o].is_awaited && !uses[o].is_written))
			return true;
	return false;
}

/* ---- shared memory and tables ------------------------------------------- */

static int64_t
bytes_of(const struct cj_object *o)
{
	int64_t bits = o->element == CJ_KIND_BOOL ? 8 :
	    cj_kind_bits(o->element);

	assert(o->extent >= 0 && "an extent known when compiling");
	return (o->extent * bits + 7) / 8;
}

static int64_t
aligned(int64_t at, const struct cj_object *o)
{
	int64_t align = o->align == 0 ? 16 : o->align;

	assert(at >= 0 && (align & (align - 1)) == 0);
	return (at + align - 1) / align * align;
}

/* Number of bytes for all shared objects of the function, one after another. */
static int64_t
shared_total(const struct cj_module *m, const struct use *uses)
{
	int64_t total = 0;
	uint32_t o;

	for (o = 1; o < m->objects.len; o++)
		if (uses[o].is_used && m->objects.at[o].kind ==
		    CJ_OBJECT_SHARED && m->objects.at[o].host == 0)
			total = aligned(total, &m->objects.at[o]) +
			    cj_shared_reach(m, o);
	return total;
}

/* No name of the language has a dollar: kernels keep theirs. */
static const char *
global_name(struct cj_llvm_gen *g, const char *what, uint32_t object)
{
	return cj_printf(g->arena, "%s$%s%u", g->function->name, what,
	    object);
}

static cj_llvm
shared_static(struct cj_llvm_gen *g, uint32_t object)
{
	const struct cj_object *o = &g->m->objects.at[object];
	LLVMTypeRef type = LLVMArrayType2(g->i8,
	    (uint64_t)cj_shared_reach(g->m, object));
	cj_llvm v = LLVMAddGlobalInAddressSpace(g->module, type,
	    global_name(g, "shared", object), SHARED);

	LLVMSetLinkage(v, LLVMInternalLinkage);
	LLVMSetInitializer(v, LLVMGetUndef(type));
	LLVMSetAlignment(v, o->align == 0 ? 16 : o->align);
	return v;
}

/* One array without extent serves all functions of the module. */
static cj_llvm
shared_dynamic(struct cj_llvm_gen *g, uint32_t object)
{
	const struct cj_object *o = &g->m->objects.at[object];
	LLVMTypeRef type = LLVMArrayType2(g->i8, 0);
	cj_llvm at;

	if (g->dynamic_shared == NULL) {
		g->dynamic_shared = LLVMAddGlobalInAddressSpace(g->module,
		    type, "dynamic$shared", SHARED);
		LLVMSetLinkage(g->dynamic_shared, LLVMExternalLinkage);
		LLVMSetAlignment(g->dynamic_shared, 1024);
	}
	g->dynamic_bytes = aligned(g->dynamic_bytes, o);
	at = cj_llvm_int(g->i64, g->dynamic_bytes);
	g->dynamic_bytes += cj_shared_reach(g->m, object);
	assert(g->dynamic_bytes <= g->shared_bytes);
	return LLVMConstInBoundsGEP2(g->i8, g->dynamic_shared, &at, 1);
}

/* Elements of a table as bytes, in order of memory; kinds under 8 bits from
 * the low bits of a byte on. */
static char *
table_bytes(struct cj_llvm_gen *g, const struct cj_object *o)
{
	unsigned bits = o->element == CJ_KIND_BOOL ? 8 :
	    cj_kind_bits(o->element), b;
	char *bytes = cj_alloc(g->arena, (size_t)bytes_of(o));
	int64_t i, at;

	for (i = 0; i < o->extent; i++)
		for (b = 0; b < bits; b++) {
			at = i * bits + b;
			bytes[at / 8] |= (char)((o->data[i] >> b & 1) <<
			    (at % 8));
		}
	return bytes;
}

static cj_llvm
table(struct cj_llvm_gen *g, uint32_t object, unsigned space)
{
	const struct cj_object *o = &g->m->objects.at[object];
	cj_llvm bytes = LLVMConstStringInContext2(g->context,
	    table_bytes(g, o), (size_t)bytes_of(o), 1);
	cj_llvm v = LLVMAddGlobalInAddressSpace(g->module,
	    LLVMTypeOf(bytes), global_name(g, "table", object), space);

	LLVMSetLinkage(v, LLVMInternalLinkage);
	LLVMSetInitializer(v, bytes);
	LLVMSetGlobalConstant(v, 1);
	LLVMSetAlignment(v, o->align == 0 ? 16 : o->align);
	return v;
}

/* In the memory of an object that is not alive at the time. */
static void
shared_over(struct cj_llvm_gen *g, uint32_t object)
{
	const struct cj_object *o = &g->m->objects.at[object];
	cj_llvm at = cj_llvm_int(g->i64, o->offset);

	if (g->objects[o->host].base == NULL)
		cj_llvm_bug(g, "object %u lies over one that is not used",
		    object);
	g->objects[object].space = SHARED;
	g->objects[object].base = LLVMConstInBoundsGEP2(g->i8,
	    g->objects[o->host].base, &at, 1);
}

static void
make_shared(struct cj_llvm_gen *g, const struct use *uses)
{
	bool is_static;
	uint32_t o;

	g->shared_bytes = shared_total(g->m, uses);
	is_static = g->shared_bytes <= STATIC_SHARED_MOST;
	for (o = 1; o < g->m->objects.len; o++) {
		if (!uses[o].is_used || g->m->objects.at[o].kind !=
		    CJ_OBJECT_SHARED || g->m->objects.at[o].host != 0)
			continue;
		g->objects[o].space = SHARED;
		g->objects[o].base = is_static ? shared_static(g, o) :
		    shared_dynamic(g, o);
	}
	for (o = 1; o < g->m->objects.len; o++)
		if (uses[o].is_used && g->m->objects.at[o].host != 0)
			shared_over(g, o);
}

static void
make_tables(struct cj_llvm_gen *g, const struct use *uses)
{
	int64_t total = 0;
	uint32_t o;

	for (o = 1; o < g->m->objects.len; o++) {
		if (!uses[o].is_used || g->m->objects.at[o].kind !=
		    CJ_OBJECT_TABLE)
			continue;
		total += bytes_of(&g->m->objects.at[o]);
		g->objects[o].space = total <= CONSTANT_MOST ? CONSTANT :
		    GLOBAL;
		g->objects[o].base = table(g, o, g->objects[o].space);
		g->objects[o].read_only = g->objects[o].space == GLOBAL;
	}
}

/* ---- parameters --------------------------------------------------------- */

static void
make_parameter(struct cj_llvm_gen *g, uint32_t object, uint32_t number,
    bool overlap, const struct use *use)
{
	const struct cj_object *o = &g->m->objects.at[object];
	struct cj_llvm_object *out = &g->objects[object];
	/* memory that is written until the wait must not be read before it, nor
	 * what others write; LLVM sees for itself that we only read it */
	bool apart = !overlap && !g->waits.is_dependent &&
	    (use->is_written || !use->has_order) &&
	    (o->kind == CJ_OBJECT_TENSOR || o->kind == CJ_OBJECT_WORKSPACE);
	uint32_t align = o->align == 0 ? 1 : o->align;

	assert(out->base == NULL && "one leaf for an object");
	assert((align & (align - 1)) == 0);
	out->base = LLVMGetParam(g->fn, number);
	out->space = GLOBAL;
	out->read_only = apart && !use->is_written;
	cj_llvm_attribute(g, number + 1, "align", align);
	if (apart)
		cj_llvm_attribute(g, number + 1, "noalias", 0);
	if (out->read_only)
		cj_llvm_attribute(g, number + 1, "readonly", 0);
}

static void
make_parameters(struct cj_llvm_gen *g, const struct use *uses)
{
	const struct cj_function *f = g->function;
	bool overlap = may_overlap(g->m, uses) || hears_others(g->m, uses);
	uint32_t i;

	for (i = 0; i < f->leaves.len; i++)
		if (f->leaves.at[i].kind == CJ_LEAF_OBJECT)
			make_parameter(g, f->leaves.at[i].object,
			    g->leaf_first[i], overlap,
			    &uses[f->leaves.at[i].object]);
}

void
cj_llvm_objects(struct cj_llvm_gen *g)
{
	struct use *uses = uses_of(g);
	uint32_t o;

	make_parameters(g, uses);
	make_shared(g, uses);
	make_tables(g, uses);
	for (o = 1; o < g->m->objects.len; o++)
		if (uses[o].is_used && g->m->objects.at[o].kind ==
		    CJ_OBJECT_SLOT)
			cj_llvm_slot(g, o);
}
