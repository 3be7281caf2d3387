/*
 * ptx: the program's own instructions, as inline assembly. Its operands are
 * numbered as LLVM numbers them; in front stands a comment with the place that
 * they come from, by which a message of the assembler finds back to it.
 */
#include "llvm_gen.h"

/* How a kind is passed; narrower floats and tf32 as their bits. */
static char
letter_of(enum cj_kind k)
{
	if (k == CJ_KIND_F32)
		return 'f';
	if (k == CJ_KIND_F64)
		return 'd';
	switch (cj_kind_bits(k)) {
	case 1:
		return 'b';
	case 16:
		return 'h';
	case 32:
		return 'r';
	default:
		return 'l';
	}
}

static LLVMTypeRef
passed_type(const struct cj_llvm_gen *g, enum cj_kind k)
{
	return k == CJ_KIND_F32 || k == CJ_KIND_F64 ? cj_llvm_type(g, k) :
	    cj_llvm_int_type(g, cj_kind_bits(k));
}

/* What LLVM would take for more than text: every `$` without a number. */
static void
add_text(struct cj_strbuf *out, const char *text)
{
	for (; *text != '\0'; text++) {
		cj_strbuf_putc(out, *text);
		if (*text == '$' && (text[1] < '0' || text[1] > '9'))
			cj_strbuf_putc(out, '$');
	}
}

static void
add_mark(struct cj_llvm_gen *g, struct cj_strbuf *out, cj_place place)
{
	struct cj_span span;

	if (place == 0 || place >= g->m->places.len)
		return;
	span = g->m->places.at[place].span;
	cj_strbuf_printf(out, CJ_PTX_MARK "%u %u %u\n", span.source,
	    span.begin, span.end);
}

static LLVMTypeRef
result_type(struct cj_llvm_gen *g, cj_type t)
{
	LLVMTypeRef members[CJ_PTX_RESULTS];
	uint32_t count = t == 0 ? 0 : cj_type_count(t), i;

	assert(count <= CJ_LENGTH(members));
	if (count == 0)
		return g->void_type;
	for (i = 0; i < count; i++)
		members[i] = passed_type(g, cj_type_kind(t));
	return count == 1 ? members[0] :
	    LLVMStructTypeInContext(g->context, members, count, 0);
}

static void
take_results(struct cj_llvm_gen *g, cj_ref r, cj_llvm all)
{
	cj_type t = cj_inst(g->m, r)->type;
	LLVMTypeRef type;
	cj_llvm *out, v;
	uint32_t i;

	if (t == 0)
		return;
	type = cj_llvm_type(g, cj_type_kind(t));
	out = cj_llvm_define(g, r);
	for (i = 0; i < cj_type_count(t); i++) {
		v = cj_type_count(t) == 1 ? all :
		    LLVMBuildExtractValue(g->b, all, i, "");
		out[i] = LLVMBuildBitCast(g->b, v, type, "");
	}
	cj_llvm_finish(g, r);
}

static void
emit(struct cj_llvm_gen *g, cj_ref r, enum cj_llvm_asm how)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	cj_llvm *arguments = CJ_NEWS(g->arena, cj_llvm,
	    inst->operand_count + 1u);
	uint32_t count = inst->type == 0 ? 0 : cj_type_count(inst->type), n;
	struct cj_strbuf text, constraints;

	cj_strbuf_init(&text, g->arena);
	cj_strbuf_init(&constraints, g->arena);
	add_mark(g, &text, inst->place);
	add_text(&text, g->m->texts.at[inst->attr]);
	/* a result may be written before all operands are read: & */
	for (n = 0; n < count; n++)
		cj_strbuf_printf(&constraints, "%s=&%c", n == 0 ? "" : ",",
		    letter_of(cj_type_kind(inst->type)));
	for (n = 0; n < inst->operand_count; n++) {
		cj_ref x = cj_operand(g->m, inst, n);
		enum cj_kind k = cj_type_kind(cj_inst(g->m, x)->type);

		cj_strbuf_printf(&constraints, "%s%c", count + n == 0 ? "" :
		    ",", letter_of(k));
		arguments[n] = LLVMBuildBitCast(g->b, cj_llvm_value(g, x, 0),
		    passed_type(g, k), "");
	}
	take_results(g, r, cj_llvm_asm(g, how, result_type(g, inst->type),
	    text.text, constraints.text, arguments, inst->operand_count));
}

/* It may touch memory, and need the threads that are there. */
void
cj_llvm_op_PTX(struct cj_llvm_gen *g, cj_ref r)
{
	emit(g, r, CJ_LLVM_ASM_CONVERGENT);
}

void
cj_llvm_op_PTX_PURE(struct cj_llvm_gen *g, cj_ref r)
{
	emit(g, r, CJ_LLVM_ASM_PURE);
}

/* A GPU runs what is generated: the executor's arm is dropped. */
void
cj_llvm_op_EXECUTOR(struct cj_llvm_gen *g, cj_ref r)
{
	cj_llvm_define(g, r)[0] = LLVMConstNull(g->i1);
	cj_llvm_finish(g, r);
}
