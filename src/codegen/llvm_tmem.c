/*
 * Tensor memory and products into it (tcgen05), as PTX.
 *
 * An address is what tmem_alloc left in shared memory plus lane << 16 plus
 * column. What a load gives goes to a slot, and all slots of loads that can be
 * seen go through the wait, for nothing else keeps LLVM from moving what
 * follows the wait in front of it.
 */
#include "llvm_memory.h"

#include <stdio.h>

enum { WORD = 32, MOST_REGISTERS = 128 };

static void
want_ptx(struct cj_llvm_gen *g)
{
	cj_llvm_needs_ptx(g, 86, "tensor memory");
}

static void
emit(struct cj_llvm_gen *g, enum cj_llvm_asm how, const char *text,
    const char *constraints, cj_llvm *arguments, unsigned count)
{
	want_ptx(g);
	cj_llvm_asm(g, how, g->void_type, text, constraints, arguments,
	    count);
}

static const struct cj_tmem_use *
use_of(const struct cj_llvm_gen *g, cj_ref r)
{
	return &g->m->tmem_uses.at[cj_inst(g->m, r)->attr];
}

static const struct cj_object *
object_of(const struct cj_llvm_gen *g, uint32_t access)
{
	return &g->m->objects.at[g->m->accesses.at[access].object];
}

/* Of operands n, the base, and n + 1, the offset in elements. */
static cj_llvm
address(struct cj_llvm_gen *g, const struct cj_inst *inst, unsigned n,
    uint32_t access)
{
	cj_llvm base = cj_llvm_value(g, cj_operand(g->m, inst, n), 0);
	cj_llvm at = LLVMBuildTrunc(g->b, cj_llvm_wide(g, cj_operand(g->m,
	    inst, n + 1), 0), g->i32, "");
	unsigned bits = cj_kind_bits(object_of(g, access)->element);

	if (bits != WORD)
		at = LLVMBuildLShr(g->b, at, cj_llvm_i32(g, bits == 16 ? 1 :
		    bits == 8 ? 2 : 3), "");
	return LLVMBuildAdd(g->b, base, at, "");
}

/* ---- allocation ---------------------------------------------------------- */

void
cj_llvm_op_TMEM_ALLOC(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_tmem_use *u = use_of(g, r);
	cj_llvm at = cj_llvm_shared_word(g, &g->m->accesses.at[u->other],
	    cj_operand(g->m, cj_inst(g->m, r), 0));

	emit(g, CJ_LLVM_ASM_CONVERGENT, cj_printf(g->arena,
	    "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [$0], "
	    "%u;", (unsigned)cj_tmem_columns(object_of(g, u->tmem))),
	    "r,~{memory}", &at, 1);
}

void
cj_llvm_op_TMEM_DEALLOC(struct cj_llvm_gen *g, cj_ref r)
{
	cj_llvm at = cj_llvm_value(g, cj_operand(g->m, cj_inst(g->m, r), 0),
	    0);

	emit(g, CJ_LLVM_ASM_CONVERGENT, cj_printf(g->arena,
	    "tcgen05.dealloc.cta_group::1.sync.aligned.b32 $0, %u;",
	    (unsigned)cj_tmem_columns(object_of(g, use_of(g, r)->tmem))),
	    "r,~{memory}", &at, 1);
}

void
cj_llvm_op_TMEM_RELINQUISH(struct cj_llvm_gen *g, cj_ref r)
{
	(void)r;
	emit(g, CJ_LLVM_ASM_CONVERGENT,
	    "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;",
	    "~{memory}", NULL, 0);
}

/* ---- loads and stores ---------------------------------------------------- */

static const char *
shape_text(struct cj_llvm_gen *g, const struct cj_tmem_use *u)
{
	return cj_printf(g->arena, "%ux%ub.x%u", (unsigned)u->lanes,
	    (unsigned)u->bits, (unsigned)u->repeat);
}

/* "$0,$1,..." from a number on. */
static const char *
registers_text(struct cj_llvm_gen *g, unsigned first, unsigned count)
{
	struct cj_strbuf out;
	unsigned i;

	cj_strbuf_init(&out, g->arena);
	for (i = 0; i < count; i++)
		cj_strbuf_printf(&out, "%s$%u", i == 0 ? "" : ",", first + i);
	return out.text;
}

static const char *
repeated(struct cj_llvm_gen *g, const char *what, unsigned count,
    const char *end)
{
	struct cj_strbuf out;

	cj_strbuf_init(&out, g->arena);
	while (count-- != 0)
		cj_strbuf_puts(&out, what);
	cj_strbuf_puts(&out, end);
	return out.text;
}

static LLVMTypeRef
words_type(struct cj_llvm_gen *g, unsigned count)
{
	LLVMTypeRef types[CJ_LLVM_ASM_MOST];
	unsigned i;

	assert(count <= CJ_LLVM_ASM_MOST);
	for (i = 0; i < count; i++)
		types[i] = g->i32;
	return count == 1 ? g->i32 : LLVMStructTypeInContext(g->context,
	    types, count, 0);
}

static cj_llvm
word_of(struct cj_llvm_gen *g, cj_llvm all, unsigned count, unsigned i)
{
	return count == 1 ? all : LLVMBuildExtractValue(g->b, all, i, "");
}

void
cj_llvm_op_TMEM_LOAD(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_tmem_use *u = use_of(g, r);
	const struct cj_access *to = &g->m->accesses.at[u->other];
	unsigned n = cj_tmem_registers(u->lanes, u->bits, u->repeat), i;
	unsigned first = to->position * cj_kind_bits(object_of(g, u->other)
	    ->element) / WORD;
	cj_llvm at = address(g, cj_inst(g->m, r), 0, u->tmem), all;

	want_ptx(g);
	all = cj_llvm_asm(g, CJ_LLVM_ASM_CONVERGENT, words_type(g, n),
	    cj_printf(g->arena, "tcgen05.ld.sync.aligned.%s%s.b32 {%s}, "
	    "[$%u];", shape_text(g, u), u->packs ? ".pack::16b" : "",
	    registers_text(g, 0, n), n), repeated(g, "=r,", n,
	    "r,~{memory}"), &at, 1);
	for (i = 0; i < n; i++)
		cj_llvm_slot_set_word(g, to->object, first + i, word_of(g,
		    all, n, i));
}

void
cj_llvm_op_TMEM_STORE(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_tmem_use *u = use_of(g, r);
	const struct cj_inst *inst = cj_inst(g->m, r);
	unsigned n = cj_tmem_registers(u->lanes, u->bits, u->repeat), i;
	cj_llvm arguments[MOST_REGISTERS + 1];

	arguments[0] = address(g, inst, 0, u->tmem);
	for (i = 0; i < n; i++)
		arguments[1 + i] = cj_llvm_word(g, cj_operand(g->m, inst, 2),
		    i);
	emit(g, CJ_LLVM_ASM_CONVERGENT, cj_printf(g->arena,
	    "tcgen05.st.sync.aligned.%s%s.b32 [$0], {%s};", shape_text(g, u),
	    u->packs ? ".unpack::16b" : "", registers_text(g, 1, n)),
	    repeated(g, "r,", n + 1, "~{memory}"), arguments, n + 1);
}

/* ---- waits --------------------------------------------------------------- */

/* All slots of loads that r can see: marked; the result is their words. */
static unsigned
find_slots(const struct cj_llvm_gen *g, cj_ref r, bool *is_used)
{
	const struct cj_module *m = g->m;
	cj_region home = cj_llvm_home(g, r);
	unsigned words = 0;
	struct cj_walk w = cj_walk_begin(m, g->function->body);
	const struct cj_inst *i;

	while ((i = cj_walk_inst(&w)) != NULL) {
		uint32_t o;

		if (i->op != CJ_OP_TMEM_LOAD)
			continue;
		o = m->accesses.at[use_of(g, w.ref)->other].object;
		if (is_used[o] || !cj_llvm_slot_is_seen(m, o, home))
			continue;
		is_used[o] = true;
		words += cj_llvm_slot_words(g, o);
	}
	return words;
}

/* "=r,=r,0,1,": the words go in and come out. */
static const char *
tied_constraints(struct cj_llvm_gen *g, unsigned count)
{
	struct cj_strbuf out;
	unsigned i;

	cj_strbuf_init(&out, g->arena);
	for (i = 0; i < count; i++)
		cj_strbuf_puts(&out, "=r,");
	for (i = 0; i < count; i++)
		cj_strbuf_printf(&out, "%u,", i);
	cj_strbuf_puts(&out, "~{memory}");
	return out.text;
}

static void
wait_for_loads(struct cj_llvm_gen *g, cj_ref r)
{
	bool *is_used = CJ_NEWS(g->arena, bool, g->m->objects.len);
	unsigned n = find_slots(g, r, is_used), i, at = 0;
	cj_llvm words[CJ_LLVM_ASM_MOST], all;
	uint32_t o;

	if (n > CJ_LLVM_ASM_MOST)
		cj_llvm_bug(g, "%u registers of loads", n);
	for (o = 1; o < g->m->objects.len; o++)
		for (i = 0; is_used[o] && i < cj_llvm_slot_words(g, o); i++)
			words[at++] = cj_llvm_slot_word(g, o, i);
	all = cj_llvm_asm(g, CJ_LLVM_ASM_CONVERGENT, n == 0 ? g->void_type :
	    words_type(g, n), "tcgen05.wait::ld.sync.aligned;",
	    tied_constraints(g, n), words, n);
	at = 0;
	for (o = 1; o < g->m->objects.len; o++)
		for (i = 0; is_used[o] && i < cj_llvm_slot_words(g, o); i++)
			cj_llvm_slot_set_word(g, o, i, word_of(g, all, n,
			    at++));
}

void
cj_llvm_op_TMEM_WAIT(struct cj_llvm_gen *g, cj_ref r)
{
	want_ptx(g);
	if (cj_inst(g->m, r)->attr == CJ_TMEM_WAIT_LOAD)
		wait_for_loads(g, r);
	else
		emit(g, CJ_LLVM_ASM_CONVERGENT,
		    "tcgen05.wait::st.sync.aligned;", "~{memory}", NULL, 0);
}

/* ---- products and copies ------------------------------------------------- */

/* Version 1 of the descriptor. */
static uint64_t
fields_of(const struct cj_operand_desc *d)
{
	static const uint64_t kinds[] = { [CJ_MAP_PLAIN] = 0,
	    [CJ_MAP_32] = 6, [CJ_MAP_64] = 4, [CJ_MAP_128] = 2 };

	return cj_llvm_distances(d) | (uint64_t)1 << 46 |
	    kinds[d->swizzle] << 61;
}

static const char *
kind_text(const struct cj_tcgen05 *t)
{
	switch ((unsigned)t->a) {
	case CJ_KIND_F16: case CJ_KIND_BF16: return "f16";
	case CJ_KIND_TF32: return "tf32";
	case CJ_KIND_I8: case CJ_KIND_U8: return "i8";
	}
	return "f8f6f4";
}

/* The number of a type, among those of its kind of product. */
static uint32_t
format_of(enum cj_kind k)
{
	switch ((unsigned)k) {
	case CJ_KIND_BF16: case CJ_KIND_F8E5M2: case CJ_KIND_I8: return 1;
	case CJ_KIND_TF32: return 2;
	}
	return 0;			/* f16, f8e4m3, u8 */
}

/* Types, majors and extents. */
static uint32_t
instruction_of(const struct cj_tcgen05 *t)
{
	uint32_t sum = t->d == CJ_KIND_F32 ? 1 : t->d == CJ_KIND_I32 ? 2 : 0;

	return sum << 4 | format_of(t->a) << 7 | format_of(t->b) << 10 |
	    (uint32_t)t->a_desc.by_column << 15 |
	    (uint32_t)t->b_desc.by_column << 16 | t->n >> 3 << 17 |
	    t->m >> 4 << 24;
}

void
cj_llvm_op_TCGEN05_MMA(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	const struct cj_tcgen05 *t = &g->m->tcgen05s.at[inst->attr];
	bool in_tmem = cj_tcgen05_is_left_in_tmem(g->m, t);
	unsigned b = in_tmem ? 4 : 3;
	cj_llvm arguments[5];

	arguments[0] = address(g, inst, 0, t->d_at);
	arguments[1] = in_tmem ? address(g, inst, 2, t->a_at) :
	    cj_llvm_descriptor(g, t->a_at, cj_operand(g->m, inst, 2),
	    fields_of(&t->a_desc));
	arguments[2] = cj_llvm_descriptor(g, t->b_at, cj_operand(g->m, inst,
	    b), fields_of(&t->b_desc));
	arguments[3] = cj_llvm_i32(g, instruction_of(t));
	arguments[4] = inst->operand_count > b + 1 ? LLVMBuildZExt(g->b,
	    cj_llvm_value(g, cj_operand(g->m, inst, b + 1), 0), g->i32, "") :
	    cj_llvm_i32(g, 1);
	emit(g, CJ_LLVM_ASM_EFFECT, cj_printf(g->arena, "{\n\t.reg .pred p;"
	    "\n\tsetp.ne.b32 p, $4, 0;\n\ttcgen05.mma.cta_group::1.kind::%s "
	    "[$0], %s, $2, $3, p;\n\t}", kind_text(t), in_tmem ? "[$1]" :
	    "$1"), in_tmem ? "r,r,l,r,r,~{memory}" : "r,l,l,r,r,~{memory}",
	    arguments, 5);
}

void
cj_llvm_op_TMEM_COPY(struct cj_llvm_gen *g, cj_ref r)
{
	static const char *const spreads[CJ_TMEM_SPREADS] = {
		[CJ_TMEM_OWN] = "",
		[CJ_TMEM_PAIRS_02_13] = ".warpx2::02_13",
		[CJ_TMEM_PAIRS_01_23] = ".warpx2::01_23",
		[CJ_TMEM_ALL_FOUR] = ".warpx4",
	};
	const struct cj_inst *inst = cj_inst(g->m, r);
	const struct cj_tmem_use *u = use_of(g, r);
	cj_llvm arguments[2];

	arguments[0] = address(g, inst, 0, u->tmem);
	arguments[1] = cj_llvm_descriptor(g, u->other, cj_operand(g->m, inst,
	    2), fields_of(&u->desc));
	emit(g, CJ_LLVM_ASM_EFFECT, cj_printf(g->arena,
	    "tcgen05.cp.cta_group::1.%ux%ub%s [$0], $1;", (unsigned)u->lanes,
	    (unsigned)u->bits, spreads[u->spread]), "r,l,~{memory}",
	    arguments, 2);
}

void
cj_llvm_op_TCGEN05_COMMIT(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	cj_llvm at = cj_llvm_shared_word(g, &g->m->accesses.at[inst->attr],
	    cj_operand(g->m, inst, 0));

	at = LLVMBuildZExt(g->b, at, g->i64, "");
	emit(g, CJ_LLVM_ASM_EFFECT, "tcgen05.commit.cta_group::1."
	    "mbarrier::arrive::one.shared::cluster.b64 [$0];",
	    "l,~{memory}", &at, 1);
}
