/*
 * print and assert in device code, by the vprintf of the CUDA driver.
 *
 * vprintf takes a format in generic memory and the arguments in a struct on
 * the stack, promoted as C does: integers to 64 bits here, floats to double.
 * A line begins with block and thread; values print as
 *
 * with as many digits as read back to the same number, T[n] as [a, b, ...].
 */
#include "llvm_gen.h"

#include <stdio.h>

/* The line under construction. */
struct line {
	struct cj_strbuf format;
	CJ_VEC(cj_llvm) values;
};

static void
put_value(struct cj_llvm_gen *g, struct line *l, cj_llvm v)
{
	*cj_push(g->arena, &l->values) = v;
}

/* A terminated text in global memory, as a generic address. */
static cj_llvm
text_global(struct cj_llvm_gen *g, const char *text, size_t length)
{
	cj_llvm bytes = LLVMConstStringInContext2(g->context, text, length,
	    0);
	cj_llvm v = LLVMAddGlobalInAddressSpace(g->module,
	    LLVMTypeOf(bytes), "text", 1);

	LLVMSetInitializer(v, bytes);
	LLVMSetGlobalConstant(v, 1);
	LLVMSetLinkage(v, LLVMPrivateLinkage);
	return LLVMConstAddrSpaceCast(v, g->ptr);
}

static void
put_float(struct cj_llvm_gen *g, struct line *l, enum cj_kind k, cj_llvm v)
{
	const char *digits = k == CJ_KIND_F64 ? "%.17g" : k == CJ_KIND_F32 ?
	    "%.9g" : "%.6g";

	cj_strbuf_puts(&l->format, digits);
	put_value(g, l, cj_llvm_convert(g, CJ_KIND_F64, k, cj_llvm_default,
	    v));
}

static void
put_bool(struct cj_llvm_gen *g, struct line *l, cj_llvm v)
{
	cj_strbuf_puts(&l->format, "%s");
	put_value(g, l, LLVMBuildSelect(g->b, v, text_global(g, "true", 4),
	    text_global(g, "false", 5), ""));
}

static void
put_register(struct cj_llvm_gen *g, struct line *l, enum cj_kind k, cj_llvm v)
{
	bool is_signed = cj_kind_is_signed(k);

	if (cj_kind_is_float(k)) {
		put_float(g, l, k, v);
		return;
	}
	if (k == CJ_KIND_BOOL) {
		put_bool(g, l, v);
		return;
	}
	cj_strbuf_puts(&l->format, k == CJ_KIND_PTR ? "0x%llx" :
	    is_signed ? "%lld" : "%llu");
	put_value(g, l, is_signed ? LLVMBuildSExt(g->b, v, g->i64, "") :
	    LLVMBuildZExt(g->b, v, g->i64, ""));
}

static void
put_operand(struct cj_llvm_gen *g, struct line *l, cj_ref r)
{
	cj_type t = cj_inst(g->m, r)->type;
	uint32_t i, n = cj_type_count(t);

	if (n > 1)
		cj_strbuf_puts(&l->format, "[");
	for (i = 0; i < n; i++) {
		if (i > 0)
			cj_strbuf_puts(&l->format, ", ");
		put_register(g, l, cj_type_kind(t), cj_llvm_wide(g, r, i));
	}
	if (n > 1)
		cj_strbuf_puts(&l->format, "]");
}

static void
put_place(struct cj_llvm_gen *g, struct line *l)
{
	static const enum cj_special where[] = {
		CJ_SPECIAL_BLOCK_X, CJ_SPECIAL_BLOCK_Y, CJ_SPECIAL_BLOCK_Z,
		CJ_SPECIAL_THREAD_X, CJ_SPECIAL_THREAD_Y, CJ_SPECIAL_THREAD_Z
	};
	unsigned i;

	cj_strbuf_puts(&l->format, "block (%lld, %lld, %lld) "
	    "thread (%lld, %lld, %lld): ");
	for (i = 0; i < CJ_LENGTH(where); i++)
		put_value(g, l, LLVMBuildZExt(g->b,
		    cj_llvm_special(g, where[i]), g->i64, ""));
}

static cj_llvm
pack_values(struct cj_llvm_gen *g, const struct line *l)
{
	LLVMTypeRef *types = CJ_NEWS(g->arena, LLVMTypeRef, l->values.len);
	LLVMTypeRef type;
	cj_llvm room;
	uint32_t i;

	for (i = 0; i < l->values.len; i++)
		types[i] = LLVMTypeOf(l->values.at[i]);
	type = LLVMStructTypeInContext(g->context, types, l->values.len, 0);
	assert(l->values.len >= 6 && "block and thread come first");
	room = cj_llvm_alloca(g, type);
	for (i = 0; i < l->values.len; i++)
		LLVMBuildStore(g->b, l->values.at[i],
		    LLVMBuildStructGEP2(g->b, type, room, i, ""));
	return room;
}

static void
write_line(struct cj_llvm_gen *g, struct line *l)
{
	LLVMTypeRef types[] = { g->ptr, g->ptr };
	LLVMTypeRef type = LLVMFunctionType(g->i32, types, 2, 0);
	cj_llvm fn = LLVMGetNamedFunction(g->module, "vprintf");
	cj_llvm arguments[2];

	cj_strbuf_putc(&l->format, '\n');
	if (fn == NULL)
		fn = LLVMAddFunction(g->module, "vprintf", type);
	arguments[0] = text_global(g, l->format.text, l->format.len);
	arguments[1] = pack_values(g, l);
	LLVMBuildCall2(g->b, type, fn, arguments, 2, "");
}

/* A character of the text, with what printf would take for its own doubled. */
static void
put_char(struct line *l, char c)
{
	cj_strbuf_putc(&l->format, c);
	if (c == '%')
		cj_strbuf_putc(&l->format, c);
}

/* Print "block (x,y,z) thread (x,y,z): text" with operands for each {}. */
static void
print_values(struct cj_llvm_gen *g, const char *text, const cj_ref *operands,
    uint32_t count)
{
	struct line l = { .values = { 0 } };
	uint32_t next = 0;
	const char *p;

	cj_strbuf_init(&l.format, g->arena);
	put_place(g, &l);
	for (p = text; *p != '\0'; p++) {
		if (p[0] == '{' && p[1] == '}' && next < count) {
			put_operand(g, &l, operands[next++]);
			p++;
		} else {
			put_char(&l, *p);
		}
	}
	write_line(g, &l);
}

void
cj_llvm_op_PRINT(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);

	print_values(g, g->m->texts.at[inst->attr],
	    &g->m->pool.at[inst->operands], inst->operand_count);
}

void
cj_llvm_check(struct cj_llvm_gen *g, cj_llvm ok, const char *text)
{
	LLVMBasicBlockRef wrong = cj_llvm_block(g, "check.wrong");
	LLVMBasicBlockRef right = cj_llvm_block(g, "check.right");

	LLVMBuildCondBr(g->b, ok, right, wrong);
	cj_llvm_enter(g, wrong);
	print_values(g, text, NULL, 0);
	cj_llvm_intrinsic(g, "llvm.trap", NULL, NULL, 0);
	LLVMBuildUnreachable(g->b);
	cj_llvm_enter(g, right);
}

/* Without checks it is not evaluated, and nothing is assumed. */
void
cj_llvm_op_ASSERT(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);

	if (g->options->checked)
		cj_llvm_check(g, cj_llvm_value(g, cj_operand(g->m, inst, 0),
		    0), g->m->texts.at[inst->attr]);
}

/* A coordinate is below its extent, in the width of the wider one; a negative
 * one is a large unsigned one. */
void
cj_llvm_op_INSIDE(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	cj_ref at = cj_operand(g->m, inst, 0);
	cj_ref limit = cj_operand(g->m, inst, 1);

	if (g->options->checked)
		cj_llvm_check(g, LLVMBuildICmp(g->b, LLVMIntULT,
		    cj_llvm_wide(g, at, 0), cj_llvm_wide(g, limit, 0),
		    "inside"), cj_printf(g->arena, "out of bounds: %s",
		    g->m->texts.at[inst->attr]));
}
