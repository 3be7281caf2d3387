/*
 * A device function becomes a kernel entry: parameters, attributes, body.
 *
 * Parameters are the leaves in order: the address of element 0 of an object,
 * or the registers of a value, one parameter each, as they lie in memory.
 */
#include "llvm_memory.h"

#include <stdio.h>

enum {
	KERNEL = 71,	/* LLVM's calling convention ptx_kernel */
	/* LLVM joins neighbouring accesses, in the square of their number:
	 * 0.1 s for 500. Ours are as wide as they may be but for scalars that
	 * a program reads one by one. */
	JOIN_MOST = 256
};

/* Every operation; those of hosts and tests, and what lower_async takes away,
 * never get here. */
#define EMITTER_BOTH(name)		cj_llvm_op_##name
#define EMITTER_LOWERED(name)		cj_llvm_op_##name
#define EMITTER_STRUCTURED(name)	NULL
#define EMITTER_HOST(name)		NULL
#define EMITTER_TEST(name)		NULL

static cj_llvm_emitter *const emitters[CJ_OP_COUNT] = {
#define OP(name, text, least, most, rule, result, attr, effects, scope,	\
    engine, level) [CJ_OP_##name] = EMITTER_##level(name),
#include "ir/ops.def"
#undef OP
};

void
cj_llvm_inst(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);

	assert(inst->op < CJ_OP_COUNT);
	if (emitters[inst->op] == NULL)
		cj_llvm_bug(g, "%s in device code", cj_op_info[inst->op].text);
	cj_llvm_debug_place(g, inst->place);
	if (cj_llvm_waits_before(g, r))
		cj_llvm_wait(g);
	emitters[inst->op](g, r);
	if (inst->type != 0 && inst->region == 0)
		assert(g->scalars[r] != NULL && "the result was made");
}

/* ---- parameters --------------------------------------------------------- */

static LLVMTypeRef
parameter_type(const struct cj_llvm_gen *g, const struct cj_leaf *leaf)
{
	enum cj_kind k = cj_type_kind(leaf->type);

	if (leaf->kind == CJ_LEAF_OBJECT)
		return LLVMPointerTypeInContext(g->context, 1);
	if (k == CJ_KIND_MAP)		/* 128 bytes, by value */
		return LLVMPointerTypeInContext(g->context, 0);
	if (cj_kind_bits(k) < 8)
		return g->i8;
	return cj_llvm_type(g, k);
}

static uint32_t
parameter_count(const struct cj_leaf *leaf)
{
	return leaf->kind == CJ_LEAF_OBJECT ? 1 : cj_type_count(leaf->type);
}

static LLVMTypeRef
function_type(struct cj_llvm_gen *g)
{
	const struct cj_function *f = g->function;
	CJ_VEC(LLVMTypeRef) types = { 0 };
	uint32_t i, j;

	g->leaf_first = CJ_NEWS(g->arena, uint32_t, f->leaves.len);
	for (i = 0; i < f->leaves.len; i++) {
		const struct cj_leaf *leaf = &f->leaves.at[i];

		g->leaf_first[i] = types.len;
		for (j = 0; j < parameter_count(leaf); j++)
			*cj_push(g->arena, &types) = parameter_type(g, leaf);
	}
	return LLVMFunctionType(g->void_type, types.at, types.len, 0);
}

static void
name_parameter(struct cj_llvm_gen *g, const char *name, uint32_t number)
{
	cj_llvm p = LLVMGetParam(g->fn, number);

	if (name != NULL && g->options->want_llvm)
		LLVMSetValueName2(p, name, strlen(name));
}

static void
name_parameters(struct cj_llvm_gen *g)
{
	const struct cj_function *f = g->function;
	uint32_t i, j;

	for (i = 0; i < f->leaves.len; i++)
		for (j = 0; j < parameter_count(&f->leaves.at[i]); j++)
			name_parameter(g, f->leaves.at[i].name,
			    g->leaf_first[i] + j);
}

/* A tensor map stays where the launch has put it: copies take its address. */
static void
mark_maps(struct cj_llvm_gen *g)
{
	const struct cj_function *f = g->function;
	LLVMTypeRef bytes = LLVMArrayType2(g->i8, 128);
	uint32_t i;

	for (i = 0; i < f->leaves.len; i++) {
		LLVMAttributeIndex at = g->leaf_first[i] + 1;

		if (cj_type_kind(f->leaves.at[i].type) != CJ_KIND_MAP)
			continue;
		LLVMAddAttributeAtIndex(g->fn, at,
		    LLVMCreateTypeAttribute(g->context,
		    LLVMGetEnumAttributeKindForName("byval", 5), bytes));
		LLVMAddAttributeAtIndex(g->fn, at,
		    LLVMCreateEnumAttribute(g->context,
		    LLVMGetEnumAttributeKindForName("align", 5), 64));
		LLVMAddAttributeAtIndex(g->fn, at,
		    LLVMCreateStringAttribute(g->context,
		    "nvvm.grid_constant", 18, "", 0));
	}
}

/* Kinds under 8 bits come in a byte. */
void
cj_llvm_op_PARAM(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	const struct cj_leaf *leaf = &g->function->leaves.at[inst->attr];
	enum cj_kind k = cj_type_kind(inst->type);
	uint32_t i, n = cj_type_count(inst->type);
	cj_llvm v, *out = cj_llvm_define(g, r);

	if (k == CJ_KIND_MAP) {
		out[0] = LLVMGetParam(g->fn, g->leaf_first[inst->attr]);
		return;
	}
	assert(inst->attr < g->function->leaves.len);
	assert(parameter_count(leaf) == n);
	for (i = 0; i < n; i++) {
		v = LLVMGetParam(g->fn, g->leaf_first[inst->attr] + i);
		if (leaf->kind == CJ_LEAF_OBJECT)
			v = LLVMBuildPtrToInt(g->b, v, g->i64, "");
		else if (k == CJ_KIND_BOOL)
			v = LLVMBuildICmp(g->b, LLVMIntNE, v,
			    cj_llvm_int(g->i8, 0), "");
		else if (!cj_kind_is_float(k))
			v = LLVMBuildTrunc(g->b, v, cj_llvm_type(g, k), "");
		out[i] = v;
	}
	cj_llvm_finish(g, r);
}

/* ---- attributes of the entry -------------------------------------------- */

static void
put_number(struct cj_llvm_gen *g, const char *name, int64_t value)
{
	char text[32];

	snprintf(text, sizeof text, "%lld", (long long)value);
	cj_llvm_function_text(g, g->fn, name, text);
}

static void
put_extents(struct cj_llvm_gen *g, const char *name, const int64_t *n)
{
	char text[80];

	snprintf(text, sizeof text, "%lld,%lld,%lld", (long long)n[0],
	    (long long)n[1], (long long)n[2]);
	cj_llvm_function_text(g, g->fn, name, text);
}

static bool
is_known(const int64_t *n)
{
	return n[0] != 0 && n[1] != 0 && n[2] != 0;
}

/* What of min_blocks the chip can hold at once. */
static int64_t
blocks_that_fit(const struct cj_llvm_gen *g)
{
	const int64_t *n = g->function->block;
	int64_t threads = is_known(n) ? n[0] * n[1] * n[2] :
	    CJ_MAX_BLOCK_THREADS;
	int64_t most = g->m->target->threads_per_sm / threads;

	return g->function->min_blocks < most ? g->function->min_blocks : most;
}

/* Without a known block the registers must do for the largest one. */
static void
put_attributes(struct cj_llvm_gen *g)
{
	const struct cj_function *f = g->function;

	LLVMSetFunctionCallConv(g->fn, KERNEL);
	if (is_known(f->block))
		put_extents(g, "nvvm.reqntid", f->block);
	else
		put_number(g, "nvvm.maxntid", CJ_MAX_BLOCK_THREADS);
	if (f->min_blocks != 0 && blocks_that_fit(g) > 0)
		put_number(g, "nvvm.minctasm", blocks_that_fit(g));
	if (f->max_registers != 0)
		put_number(g, "nvvm.maxnreg", f->max_registers);
	if (is_known(f->cluster) && g->m->target->number >= 90 &&
	    f->cluster[0] * f->cluster[1] * f->cluster[2] > 1)
		put_extents(g, "nvvm.cluster_dim", f->cluster);
	cj_llvm_attribute(g, (unsigned)LLVMAttributeFunctionIndex, "nounwind",
	    0);
}

/* ---- the function ------------------------------------------------------- */

static void
reset(struct cj_llvm_gen *g, uint32_t function)
{
	const struct cj_module *m = g->m;

	g->function = &m->functions.at[function];
	g->scalars = CJ_NEWS(g->arena, cj_llvm *, m->insts.len);
	g->pairs = CJ_NEWS(g->arena, cj_llvm *, m->insts.len);
	g->words = CJ_NEWS(g->arena, cj_llvm *, m->insts.len);
	g->objects = CJ_NEWS(g->arena, struct cj_llvm_object, m->objects.len);
	g->facts = cj_facts_compute(g->arena, m, function);
	g->nest = NULL;
	g->dynamic_bytes = g->shared_bytes = 0;
	g->pieces = 0;
}

/* A name that is taken LLVM would change without a word. */
static void
check_name(const struct cj_llvm_gen *g)
{
	size_t length;
	const char *name = LLVMGetValueName2(g->fn, &length);

	if (strcmp(name, g->function->name) != 0)
		cj_llvm_bug(g, "two entries are called \"%s\"",
		    g->function->name);
}

void
cj_llvm_function(struct cj_llvm_gen *g, uint32_t function)
{
	LLVMBasicBlockRef body;

	reset(g, function);
	cj_llvm_plan_wait(g, function);
	assert(g->function->kind == CJ_FUNCTION_DEVICE);
	g->fn = LLVMAddFunction(g->module, g->function->name,
	    function_type(g));
	check_name(g);
	put_attributes(g);
	name_parameters(g);
	mark_maps(g);
	cj_llvm_debug_function(g);
	g->entry = cj_llvm_block(g, "entry");
	body = cj_llvm_block(g, "body");
	cj_llvm_enter(g, body);
	cj_llvm_objects(g);
	cj_llvm_begin_cluster(g);
	cj_llvm_body(g, g->function->body);
	cj_llvm_enter(g, g->entry);
	cj_llvm_begin(g);
	LLVMBuildBr(g->b, body);
	if (g->pieces > JOIN_MOST)
		cj_llvm_attribute(g, (unsigned)LLVMAttributeFunctionIndex,
		    "noimplicitfloat", 0);
}
