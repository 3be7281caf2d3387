/*
 * The table of values, and thin helpers over LLVM's builder.
 */
#include "llvm_gen.h"

#include <stdio.h>

static uint32_t
count_of(const struct cj_llvm_gen *g, cj_ref r)
{
	return cj_type_count(cj_inst(g->m, r)->type);
}

static enum cj_kind
kind_of(const struct cj_llvm_gen *g, cj_ref r)
{
	return cj_type_kind(cj_inst(g->m, r)->type);
}

/* ---- values ------------------------------------------------------------- */

cj_llvm *
cj_llvm_values(const struct cj_llvm_gen *g, cj_ref r)
{
	assert(r != 0 && r < g->m->insts.len);
	if (g->scalars[r] == NULL)
		cj_llvm_bug(g, "%%%u is used before it is made", r);
	return g->scalars[r];
}

cj_llvm
cj_llvm_value(const struct cj_llvm_gen *g, cj_ref r, uint32_t i)
{
	assert(i < count_of(g, r) && "a register of the value");
	return cj_llvm_values(g, r)[i];
}

struct cj_fact
cj_llvm_fact(const struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_constant *c = cj_constant_of(g->m, r);
	struct cj_fact f = { INT64_MIN, INT64_MAX, 1, CJ_SCOPE_THREAD };

	if (c != NULL && cj_type_count(c->type) == 1 &&
	    cj_kind_is_integer(cj_type_kind(c->type))) {
		f.lo = f.hi = (int64_t)c->bits[0];
		f.divisor = f.lo == INT64_MIN ? 1 : f.lo < 0 ? -f.lo : f.lo;
		return f;
	}
	return g->facts == NULL ? f : g->facts[r];
}

bool
cj_llvm_is_narrow(const struct cj_llvm_gen *g, cj_ref r)
{
	struct cj_fact f;

	if (kind_of(g, r) != CJ_KIND_INDEX || count_of(g, r) != 1)
		return false;
	f = cj_llvm_fact(g, r);
	return f.lo >= INT32_MIN && f.hi <= INT32_MAX;
}

static cj_llvm
to_width(const struct cj_llvm_gen *g, cj_llvm v, LLVMTypeRef type)
{
	LLVMTypeRef from = LLVMTypeOf(v);

	if (from == type)
		return v;
	if (type == g->i64)
		return LLVMBuildSExt(g->b, v, type, "");
	assert(from == g->i64 && type == g->i32);
	return LLVMBuildTrunc(g->b, v, type, "");
}

cj_llvm
cj_llvm_wide(const struct cj_llvm_gen *g, cj_ref r, uint32_t i)
{
	cj_llvm v = cj_llvm_value(g, r, i);

	return kind_of(g, r) == CJ_KIND_INDEX ? to_width(g, v, g->i64) : v;
}

cj_llvm
cj_llvm_narrow(const struct cj_llvm_gen *g, cj_ref r, uint32_t i)
{
	assert(cj_llvm_is_narrow(g, r));
	return to_width(g, cj_llvm_value(g, r, i), g->i32);
}

cj_llvm
cj_llvm_pair(const struct cj_llvm_gen *g, cj_ref r, uint32_t i)
{
	assert(2 * i + 1 < count_of(g, r) && "two registers of the value");
	if (g->pairs[r] == NULL || g->pairs[r][i] == NULL)
		cj_llvm_bug(g, "%%%u has no pairs", r);
	return g->pairs[r][i];
}

cj_llvm *
cj_llvm_define(struct cj_llvm_gen *g, cj_ref r)
{
	uint32_t n = count_of(g, r);
	unsigned parts = cj_llvm_word_parts(g, kind_of(g, r));

	assert(n > 0 && g->scalars[r] == NULL && "defined once");
	if (parts != 0 && n >= parts)
		g->words[r] = CJ_NEWS(g->arena, cj_llvm, n / parts);
	g->scalars[r] = CJ_NEWS(g->arena, cj_llvm, n);
	if (n >= 2 && cj_llvm_is_packed(g, kind_of(g, r)))
		g->pairs[r] = CJ_NEWS(g->arena, cj_llvm, n / 2);
	return g->scalars[r];
}

void
cj_llvm_set_pair(struct cj_llvm_gen *g, cj_ref r, uint32_t i, cj_llvm v)
{
	assert(g->pairs[r] != NULL && 2 * i + 1 < count_of(g, r));
	assert(LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMVectorTypeKind);
	g->pairs[r][i] = v;
	g->scalars[r][2 * i] = cj_llvm_element(g, v, 0);
	g->scalars[r][2 * i + 1] = cj_llvm_element(g, v, 1);
}

/* With the text of LLVM wanted, values are called by operation and number. */
static void
name_values(struct cj_llvm_gen *g, cj_ref r)
{
	const char *op = cj_op_info[cj_inst(g->m, r)->op].text;
	char name[64];
	uint32_t i;
	size_t length;

	for (i = 0; i < count_of(g, r); i++) {
		cj_llvm v = g->scalars[r][i];

		LLVMGetValueName2(v, &length);
		if (length > 0 || LLVMIsConstant(v))
			continue;
		snprintf(name, sizeof name, "%s%u", op, r);
		LLVMSetValueName2(v, name, strlen(name));
	}
}

void
cj_llvm_finish(struct cj_llvm_gen *g, cj_ref r)
{
	uint32_t i, n = count_of(g, r);
	cj_llvm *v = g->scalars[r];

	assert(v != NULL && "a result was defined");
	if (kind_of(g, r) == CJ_KIND_INDEX)
		for (i = 0; i < n; i++)
			v[i] = to_width(g, v[i],
			    cj_llvm_is_narrow(g, r) ? g->i32 : g->i64);
	if (g->pairs[r] != NULL)
		for (i = 0; i < n / 2; i++)
			if (g->pairs[r][i] == NULL)
				g->pairs[r][i] = cj_llvm_join(g, v[2 * i],
				    v[2 * i + 1]);
	if (g->options->want_llvm)
		name_values(g, r);
}

/* ---- building ----------------------------------------------------------- */

cj_llvm
cj_llvm_join(struct cj_llvm_gen *g, cj_llvm low, cj_llvm high)
{
	LLVMTypeRef type = LLVMVectorType(LLVMTypeOf(low), 2);
	cj_llvm v = LLVMGetPoison(type);

	assert(LLVMTypeOf(low) == LLVMTypeOf(high));
	v = LLVMBuildInsertElement(g->b, v, low, cj_llvm_i32(g, 0), "");
	return LLVMBuildInsertElement(g->b, v, high, cj_llvm_i32(g, 1), "");
}

cj_llvm
cj_llvm_element(struct cj_llvm_gen *g, cj_llvm vector, unsigned i)
{
	return LLVMBuildExtractElement(g->b, vector, cj_llvm_i32(g, i), "");
}

/*
 * A name that LLVM lacks, or overload types that do not belong to it, would
 * become a call to an undefined function: both are caught here.
 */
cj_llvm
cj_llvm_intrinsic(struct cj_llvm_gen *g, const char *name, LLVMTypeRef over,
    cj_llvm *arguments, unsigned count)
{
	unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
	cj_llvm fn;

	if (id == 0)
		cj_llvm_bug(g, "LLVM has no %s", name);
	if (LLVMIntrinsicIsOverloaded(id) != (over != NULL))
		cj_llvm_bug(g, "overloading of %s", name);
	fn = LLVMGetIntrinsicDeclaration(g->module, id, &over, over != NULL);
	return LLVMBuildCall2(g->b, LLVMGlobalGetValueType(fn), fn, arguments,
	    count, "");
}

cj_llvm
cj_llvm_call1(struct cj_llvm_gen *g, const char *name, cj_llvm x)
{
	return cj_llvm_intrinsic(g, name, LLVMTypeOf(x), &x, 1);
}

cj_llvm
cj_llvm_call2(struct cj_llvm_gen *g, const char *name, cj_llvm x, cj_llvm y)
{
	cj_llvm arguments[] = { x, y };

	assert(LLVMTypeOf(x) == LLVMTypeOf(y));
	return cj_llvm_intrinsic(g, name, LLVMTypeOf(x), arguments, 2);
}

cj_llvm
cj_llvm_call3(struct cj_llvm_gen *g, const char *name, cj_llvm x, cj_llvm y,
    cj_llvm z)
{
	cj_llvm arguments[] = { x, y, z };

	assert(LLVMTypeOf(x) == LLVMTypeOf(y) &&
	    LLVMTypeOf(y) == LLVMTypeOf(z));
	return cj_llvm_intrinsic(g, name, LLVMTypeOf(x), arguments, 3);
}

/* An attribute without a value, or with the value 0. */
void
cj_llvm_mark_call(struct cj_llvm_gen *g, cj_llvm call, const char *name)
{
	unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));

	assert(kind != 0 && "an attribute that LLVM has");
	LLVMAddCallSiteAttribute(call,
	    (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
	    LLVMCreateEnumAttribute(g->context, kind, 0));
}

cj_llvm
cj_llvm_asm(struct cj_llvm_gen *g, enum cj_llvm_asm how, LLVMTypeRef result,
    const char *text, const char *constraints, cj_llvm *arguments,
    unsigned count)
{
	LLVMTypeRef types[CJ_LLVM_ASM_MOST], type;
	cj_llvm code, call;
	unsigned i;

	assert(count <= CJ_LENGTH(types));
	for (i = 0; i < count; i++)
		types[i] = LLVMTypeOf(arguments[i]);
	type = LLVMFunctionType(result, types, count, 0);
	code = LLVMGetInlineAsm(type, text, strlen(text), constraints,
	    strlen(constraints), how >= CJ_LLVM_ASM_EFFECT, 0,
	    LLVMInlineAsmDialectATT, 0);
	call = LLVMBuildCall2(g->b, type, code, arguments, count, "");
	if (how == CJ_LLVM_ASM_CONVERGENT || how == CJ_LLVM_ASM_WARP)
		cj_llvm_mark_call(g, call, "convergent");
	if (how == CJ_LLVM_ASM_WARP)
		cj_llvm_mark_call(g, call, "memory");	/* none */
	return call;
}

void
cj_llvm_begin_ptx(struct cj_llvm_ptx *c, struct cj_llvm_gen *g)
{
	c->g = g;
	c->count = 0;
	cj_strbuf_init(&c->text, g->arena);
	cj_strbuf_init(&c->constraints, g->arena);
}

void
cj_llvm_add_ptx(struct cj_llvm_ptx *c, cj_llvm v, const char *constraint)
{
	cj_strbuf_printf(&c->constraints, "%s,", constraint);
	assert(c->count < CJ_LENGTH(c->arguments));
	c->arguments[c->count++] = v;
}

void
cj_llvm_end_ptx(struct cj_llvm_ptx *c)
{
	cj_strbuf_puts(&c->text, ";");
	cj_strbuf_puts(&c->constraints, "~{memory}");
	cj_llvm_asm(c->g, CJ_LLVM_ASM_EFFECT, c->g->void_type, c->text.text,
	    c->constraints.text, c->arguments, c->count);
}

const char *
cj_llvm_combining(enum cj_atomic how)
{
	static const char *const names[] = {
		[CJ_ATOMIC_ADD] = "add", [CJ_ATOMIC_MIN] = "min",
		[CJ_ATOMIC_MAX] = "max", [CJ_ATOMIC_AND] = "and",
		[CJ_ATOMIC_OR] = "or", [CJ_ATOMIC_XOR] = "xor",
		[CJ_ATOMIC_INC] = "inc", [CJ_ATOMIC_DEC] = "dec",
	};

	assert(how < CJ_LENGTH(names) && "the verifier has asked");
	return names[how];
}

LLVMBasicBlockRef
cj_llvm_block(struct cj_llvm_gen *g, const char *name)
{
	return LLVMAppendBasicBlockInContext(g->context, g->fn, name);
}

void
cj_llvm_enter(struct cj_llvm_gen *g, LLVMBasicBlockRef block)
{
	LLVMPositionBuilderAtEnd(g->b, block);
}

bool
cj_llvm_ended(const struct cj_llvm_gen *g)
{
	return LLVMGetBasicBlockTerminator(LLVMGetInsertBlock(g->b)) != NULL;
}

/* The entry block gets its jump to the body last, so its end is open. */
cj_llvm
cj_llvm_alloca(struct cj_llvm_gen *g, LLVMTypeRef type)
{
	LLVMBasicBlockRef here = LLVMGetInsertBlock(g->b);
	cj_llvm v;

	assert(LLVMGetBasicBlockTerminator(g->entry) == NULL);
	cj_llvm_enter(g, g->entry);
	v = LLVMBuildAlloca(g->b, type, "slot");
	cj_llvm_enter(g, here);
	return v;
}

void
cj_llvm_attribute(struct cj_llvm_gen *g, unsigned where, const char *name,
    uint64_t value)
{
	unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));

	assert(kind != 0 && "an attribute that LLVM has");
	LLVMAddAttributeAtIndex(g->fn, where,
	    LLVMCreateEnumAttribute(g->context, kind, value));
}

void
cj_llvm_function_text(struct cj_llvm_gen *g, cj_llvm fn, const char *name,
    const char *value)
{
	LLVMAddAttributeAtIndex(fn,
	    (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
	    LLVMCreateStringAttribute(g->context, name,
	    (unsigned)strlen(name), value, (unsigned)strlen(value)));
}
