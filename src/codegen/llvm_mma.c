/*
 * mma: an instruction of PTX, made from what ir/mma.h says of the atom.
 *
 * Registers of f32 and f64 are operands as they are; those of narrower kinds
 * go by words. What loads left as words (pairs of f16, ldmatrix) goes into the
 * instruction without another one.
 *
 * Where LLVM has an intrinsic for it, that is used: selecting it takes half of
 * the time of PTX that is written out, and there are hundreds.
 */
#include "llvm_memory.h"

enum { MOST_OPERANDS = 16 };	/* of A, B and C together */

/* How PTX names the types of operands, and what they are passed in. */
static const struct {
	enum cj_kind kind;
	const char *text;
	char constraint;	/* r: words */
} types[] = {
	{ CJ_KIND_F16, "f16", 'r' }, { CJ_KIND_BF16, "bf16", 'r' },
	{ CJ_KIND_TF32, "tf32", 'r' }, { CJ_KIND_F32, "f32", 'f' },
	{ CJ_KIND_F64, "f64", 'd' }, { CJ_KIND_F8E4M3, "e4m3", 'r' },
	{ CJ_KIND_F8E5M2, "e5m2", 'r' }, { CJ_KIND_I8, "s8", 'r' },
	{ CJ_KIND_U8, "u8", 'r' }, { CJ_KIND_I4, "s4", 'r' },
	{ CJ_KIND_U4, "u4", 'r' }, { CJ_KIND_BOOL, "b1", 'r' },
	{ CJ_KIND_I32, "s32", 'r' },
};

/* An instruction while it is put together. */
struct call {
	struct cj_llvm_gen *g;
	const struct cj_mma *mma;
	struct cj_strbuf text, constraints;
	cj_llvm arguments[MOST_OPERANDS];
	unsigned count, number;	/* of arguments; of operands in the text */
};

static unsigned
row_of(const struct call *c, enum cj_kind k)
{
	unsigned i;

	for (i = 0; i < CJ_LENGTH(types); i++)
		if (types[i].kind == k)
			return i;
	cj_llvm_bug(c->g, "mma of %s", cj_kind_text(k));
}

/* Operands of PTX that a value of T[n] is passed in. */
static uint32_t
operands_of(cj_type t)
{
	unsigned bits = cj_kind_bits(cj_type_kind(t));

	return bits >= 32 ? cj_type_count(t) : cj_type_count(t) * bits / 32;
}

/* {$4, $5}, and their constraints. */
static void
add_operands(struct call *c, cj_type t, const char *mark)
{
	char letter = types[row_of(c, cj_type_kind(t))].constraint;
	uint32_t i, n = operands_of(t);

	for (i = 0; i < n; i++, c->number++) {
		cj_strbuf_printf(&c->text, "%s$%u", i == 0 ? "{" : ", ",
		    c->number);
		cj_strbuf_printf(&c->constraints, "%s%s%c",
		    c->number == 0 ? "" : ",", mark, letter);
	}
	cj_strbuf_puts(&c->text, "}");
}

static void
add_value(struct call *c, cj_ref r)
{
	cj_type t = cj_inst(c->g->m, r)->type;
	uint32_t i, n = operands_of(t);
	bool words = types[row_of(c, cj_type_kind(t))].constraint == 'r';

	assert(c->count + n <= MOST_OPERANDS);
	for (i = 0; i < n; i++)
		c->arguments[c->count++] = words ? cj_llvm_word(c->g, r, i) :
		    cj_llvm_value(c->g, r, i);
}

/* mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 */
static void
add_name(struct call *c)
{
	static const char *const how[] = { [CJ_MMA_MULTIPLY] = "",
	    [CJ_MMA_XOR_POPC] = ".xor.popc", [CJ_MMA_AND_POPC] = ".and.popc" };
	const struct cj_mma *m = c->mma;
	bool is_bits = m->how != CJ_MMA_MULTIPLY;
	const char *a = types[row_of(c, is_bits ? CJ_KIND_BOOL : m->a)].text;
	const char *b = types[row_of(c, is_bits ? CJ_KIND_BOOL : m->b)].text;
	unsigned depth = is_bits ? m->k * cj_kind_bits(m->a) : m->k;

	cj_strbuf_printf(&c->text, "mma%s.sync.aligned.m%un%uk%u.%s.%s%s"
	    ".%s.%s.%s.%s%s ", m->selectors != 0 ? ".sp::ordered_metadata" :
	    "", (unsigned)m->m, (unsigned)m->n, depth,
	    m->a_by_column ? "col" : "row", m->b_by_row ? "row" : "col",
	    m->saturate ? ".satfinite" : "", types[row_of(c, m->d)].text, a, b,
	    types[row_of(c, m->c)].text, how[m->how]);
}

/* The version of PTX that has it, where its first target's has not. */
static int
ptx_of(const struct cj_mma *m)
{
	if (m->selectors != 0)
		return 85;
	if (m->how == CJ_MMA_AND_POPC)
		return 71;
	if (cj_kind_is_float(m->a) && cj_kind_bits(m->a) == 8)
		return m->d == CJ_KIND_F16 || m->k == 16 ? 87 : 84;
	return 0;
}

/* The results, one after the other: a struct of LLVM. */
static LLVMTypeRef
result_type(struct cj_llvm_gen *g, cj_type t)
{
	LLVMTypeRef members[MOST_OPERANDS];
	enum cj_kind k = cj_type_kind(t);
	uint32_t i, n = operands_of(t);

	assert(n > 1 && n <= MOST_OPERANDS);
	for (i = 0; i < n; i++)
		members[i] = k == CJ_KIND_F32 || k == CJ_KIND_F64 ?
		    cj_llvm_type(g, k) : g->i32;
	return LLVMStructTypeInContext(g->context, members, n, 0);
}

static void
take_results(struct cj_llvm_gen *g, cj_ref r, cj_llvm all)
{
	cj_type t = cj_inst(g->m, r)->type;
	cj_llvm *out = cj_llvm_define(g, r), v;
	uint32_t i;

	for (i = 0; i < operands_of(t); i++) {
		v = LLVMBuildExtractValue(g->b, all, i, "");
		if (LLVMTypeOf(v) == g->i32)
			cj_llvm_set_word(g, r, i, v);
		else
			out[i] = v;
	}
	cj_llvm_finish(g, r);
}

/* ---- intrinsics ---------------------------------------------------------- */

/* What intrinsics are called behind the shape; NULL: there is none. */
static const char *
intrinsic_kinds(const struct cj_mma *m)
{
	if (m->how != CJ_MMA_MULTIPLY || m->selectors != 0 ||
	    m->a_by_column || m->b_by_row || m->saturate ||
	    m->a != m->b || m->c != m->d)
		return NULL;
	switch ((unsigned)m->a) {
	case CJ_KIND_BF16: return "bf16";
	case CJ_KIND_TF32: return "tf32";
	case CJ_KIND_F64: return "f64";
	case CJ_KIND_I8: return "s8";
	case CJ_KIND_U8: return "u8";
	case CJ_KIND_F16: return m->d == CJ_KIND_F32 ? "f32.f32" : NULL;
	}
	return NULL;
}

/* The declaration of an intrinsic that takes as many operands, or NULL. */
static cj_llvm
find_intrinsic(const struct call *c)
{
	const struct cj_mma *m = c->mma;
	const char *kinds = intrinsic_kinds(m), *name;
	unsigned id;
	cj_llvm fn;

	if (kinds == NULL)
		return NULL;
	name = cj_printf(c->g->arena, "llvm.nvvm.mma.m%un%uk%u.row.col.%s",
	    (unsigned)m->m, (unsigned)m->n, (unsigned)m->k, kinds);
	id = LLVMLookupIntrinsicID(name, strlen(name));
	if (id == 0 || LLVMIntrinsicIsOverloaded(id))
		return NULL;
	fn = LLVMGetIntrinsicDeclaration(c->g->module, id, NULL, 0);
	return LLVMCountParams(fn) == c->count ? fn : NULL;
}

/* All lanes of a warp take part: it must not be moved under a condition. */
static cj_llvm
call_intrinsic(struct call *c, cj_llvm fn)
{
	LLVMTypeRef types_of[MOST_OPERANDS];
	LLVMTypeRef type = LLVMGlobalGetValueType(fn);
	unsigned i;
	cj_llvm call;

	LLVMGetParamTypes(type, types_of);
	for (i = 0; i < c->count; i++)
		c->arguments[i] = LLVMBuildBitCast(c->g->b, c->arguments[i],
		    types_of[i], "");
	call = LLVMBuildCall2(c->g->b, type, fn, c->arguments, c->count, "");
	cj_llvm_mark_call(c->g, call, "convergent");
	return call;
}

/* , $12, 0x1 */
static void
add_metadata(struct call *c, const struct cj_inst *inst)
{
	struct cj_llvm_gen *g = c->g;
	const struct cj_constant *selector = cj_constant_of(g->m,
	    cj_operand(g->m, inst, 4));

	cj_strbuf_printf(&c->text, ", $%u, 0x%x", c->number++,
	    (unsigned)selector->bits[0]);
	cj_strbuf_puts(&c->constraints, ",r");
	c->arguments[c->count++] = cj_llvm_value(g, cj_operand(g->m, inst, 3),
	    0);
}

/* The instruction as text, with its operands. */
static cj_llvm
call_written(struct call *c, const struct cj_inst *inst)
{
	unsigned n;

	cj_strbuf_init(&c->text, c->g->arena);
	cj_strbuf_init(&c->constraints, c->g->arena);
	add_name(c);
	add_operands(c, inst->type, "=");
	for (n = 0; n < 3; n++) {
		cj_strbuf_puts(&c->text, ", ");
		add_operands(c, cj_inst(c->g->m, cj_operand(c->g->m, inst,
		    n))->type, "");
	}
	if (c->mma->selectors != 0)
		add_metadata(c, inst);
	cj_strbuf_puts(&c->text, ";");
	return cj_llvm_asm(c->g, CJ_LLVM_ASM_WARP, result_type(c->g,
	    inst->type), c->text.text, c->constraints.text, c->arguments,
	    c->count);
}

static void
multiply(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	struct call c = { .g = g, .mma = g->m->mmas.at[inst->attr] };
	cj_llvm fn;
	unsigned n;

	assert(g->m->target->number >= c.mma->needs);
	cj_llvm_needs_ptx(g, ptx_of(c.mma), c.mma->name);
	for (n = 0; n < 3; n++)
		add_value(&c, cj_operand(g->m, inst, n));
	fn = find_intrinsic(&c);
	take_results(g, r, fn != NULL ? call_intrinsic(&c, fn) :
	    call_written(&c, inst));
}

void
cj_llvm_op_MMA(struct cj_llvm_gen *g, cj_ref r)
{
	multiply(g, r);
}

void
cj_llvm_op_MMA_SPARSE(struct cj_llvm_gen *g, cj_ref r)
{
	multiply(g, r);
}
