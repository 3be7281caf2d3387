/*
 * TMA copies of boxes, and the groups of stores, as PTX.
 */
#include "llvm_gen.h"

/* An instruction while it is put together: its operands in order. */
struct call {
	struct cj_llvm_gen *g;
	cj_llvm arguments[3 + CJ_MAP_MODES];
	struct cj_strbuf text, constraints;
	unsigned count;
};

static void
add(struct call *c, cj_llvm v, const char *constraint)
{
	cj_strbuf_printf(&c->constraints, "%s,", constraint);
	c->arguments[c->count++] = v;
}

/* [map, {coordinates}] */
static void
add_box(struct call *c, const struct cj_inst *inst, unsigned next)
{
	struct cj_llvm_gen *g = c->g;
	unsigned i;

	cj_strbuf_printf(&c->text, "[$%u, {", c->count);
	add(c, LLVMBuildPtrToInt(g->b, cj_llvm_value(g, cj_operand(g->m,
	    inst, 1), 0), g->i64, ""), "l");
	for (i = next; i < inst->operand_count; i++) {
		cj_llvm v = cj_llvm_value(g, cj_operand(g->m, inst, i), 0);

		cj_strbuf_printf(&c->text, "%s$%u", i == next ? "" : ", ",
		    c->count);
		add(c, LLVMTypeOf(v) == g->i32 ? v :
		    LLVMBuildTrunc(g->b, v, g->i32, ""), "r");
	}
	cj_strbuf_puts(&c->text, "}]");
}

static void
add_shared(struct call *c, uint32_t access, cj_ref offset)
{
	struct cj_llvm_gen *g = c->g;

	cj_strbuf_printf(&c->text, "[$%u]", c->count);
	add(c, cj_llvm_shared_word(g, &g->m->accesses.at[access], offset),
	    "r");
}

static void
begin(struct call *c, struct cj_llvm_gen *g)
{
	if (!cj_llvm_wants_ptx(g, 80))
		cj_llvm_bug(g, "TMA needs PTX 8.0");
	c->g = g;
	c->count = 0;
	cj_strbuf_init(&c->text, g->arena);
	cj_strbuf_init(&c->constraints, g->arena);
}

static void
end(struct call *c)
{
	cj_strbuf_puts(&c->text, ";");
	cj_strbuf_puts(&c->constraints, "~{memory}");
	cj_llvm_asm(c->g, CJ_LLVM_ASM_EFFECT, c->g->void_type, c->text.text,
	    c->constraints.text, c->arguments, c->count);
}

void
cj_llvm_op_TMA_LOAD(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	const struct cj_tma_copy *t = &g->m->tmas.at[inst->attr];
	struct call c;

	begin(&c, g);
	cj_strbuf_printf(&c.text, "cp.async.bulk.tensor.%ud.shared::cluster"
	    ".global.mbarrier::complete_tx::bytes ",
	    (unsigned)g->m->maps.at[t->map].rank);
	add_shared(&c, t->shared, cj_operand(g->m, inst, 0));
	cj_strbuf_puts(&c.text, ", ");
	add_box(&c, inst, 3);
	cj_strbuf_puts(&c.text, ", ");
	add_shared(&c, t->signal, cj_operand(g->m, inst, 2));
	end(&c);
}

void
cj_llvm_op_TMA_STORE(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	const struct cj_tma_copy *t = &g->m->tmas.at[inst->attr];
	struct call c;

	begin(&c, g);
	cj_strbuf_printf(&c.text, "cp.async.bulk.tensor.%ud.global"
	    ".shared::cta.bulk_group ",
	    (unsigned)g->m->maps.at[t->map].rank);
	add_box(&c, inst, 2);
	cj_strbuf_puts(&c.text, ", ");
	add_shared(&c, t->shared, cj_operand(g->m, inst, 0));
	end(&c);
}

static void
emit_number(struct cj_llvm_gen *g, const char *format, uint32_t n)
{
	cj_llvm_asm(g, CJ_LLVM_ASM_EFFECT, g->void_type, cj_printf(g->arena,
	    format, (unsigned)n), "~{memory}", NULL, 0);
}

void
cj_llvm_op_BULK_COMMIT(struct cj_llvm_gen *g, cj_ref r)
{
	(void)r;
	cj_llvm_asm(g, CJ_LLVM_ASM_EFFECT, g->void_type,
	    "cp.async.bulk.commit_group;", "~{memory}", NULL, 0);
}

void
cj_llvm_op_BULK_WAIT(struct cj_llvm_gen *g, cj_ref r)
{
	emit_number(g, "cp.async.bulk.wait_group %u;",
	    cj_inst(g->m, r)->attr);
}

void
cj_llvm_op_BULK_WAIT_READ(struct cj_llvm_gen *g, cj_ref r)
{
	emit_number(g, "cp.async.bulk.wait_group.read %u;",
	    cj_inst(g->m, r)->attr);
}
