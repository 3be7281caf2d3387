/*
 * Products of warpgroups.
 *
 * The accumulator is a slot: its registers go into the instruction and come
 * out of it by matching constraints, so that LLVM keeps them where they are;
 * a copy between two products would make ptxas wait for each of them. Fences
 * and waits take and return all accumulators and left operands that can be seen
 * where they stand, for nothing else keeps LLVM from moving accesses of them
 * across, or from making new left operands in registers that a product reads;
 * waits only those that are accessed before the next of them (llvm_through.c).
 */
#include "llvm_memory.h"

#include <stdio.h>

/* An instruction while it is put together. */
struct call {
	struct cj_llvm_gen *g;
	struct cj_strbuf text, results, inputs;
	cj_llvm *slot;			/* where the results go */
	cj_llvm *arguments;
	LLVMTypeRef *types;
	unsigned tied, count, room;
};

static void
begin(struct call *c, struct cj_llvm_gen *g, unsigned room)
{
	memset(c, 0, sizeof *c);
	c->g = g;
	c->room = room;
	c->slot = CJ_NEWS(g->arena, cj_llvm, room);
	c->arguments = CJ_NEWS(g->arena, cj_llvm, room);
	c->types = CJ_NEWS(g->arena, LLVMTypeRef, room);
	cj_strbuf_init(&c->text, g->arena);
	cj_strbuf_init(&c->results, g->arena);
	cj_strbuf_init(&c->inputs, g->arena);
}

/* What a slot keeps at register `at`: f32, or 32 bits, perhaps of several. */
static LLVMTypeRef
word_type(const struct cj_llvm_gen *g, uint32_t object)
{
	return g->m->objects.at[object].element == CJ_KIND_F32 ?
	    cj_llvm_type(g, CJ_KIND_F32) : g->i32;
}

static bool
begins_word(const struct cj_llvm_gen *g, uint32_t object, uint32_t first,
    uint32_t at)
{
	const cj_llvm *slots = g->objects[object].slots;

	return at == first || slots[at] != slots[at - 1];
}

/* Registers first .. first + n of a slot go in and come out. */
static void
tie(struct call *c, uint32_t object, uint32_t first, uint32_t n)
{
	struct cj_llvm_gen *g = c->g;
	LLVMTypeRef type = word_type(g, object);
	uint32_t i;

	assert(c->tied == c->count && "what is tied comes first");
	assert(c->count + n <= c->room && g->objects[object].slots != NULL);
	for (i = first; i < first + n; i++) {
		cj_llvm at = g->objects[object].slots[i];

		if (!begins_word(g, object, first, i))
			continue;
		cj_strbuf_puts(&c->results, type == g->i32 ? "=r," : "=f,");
		cj_strbuf_printf(&c->inputs, "%u,", c->tied);
		c->types[c->tied] = type;
		c->slot[c->tied++] = at;
		c->arguments[c->count++] = LLVMBuildLoad2(g->b, type, at, "");
	}
}

/* The number of the operand in the text. */
static unsigned
add(struct call *c, cj_llvm v, const char *constraint)
{
	assert(c->count < c->room);
	cj_strbuf_printf(&c->inputs, "%s,", constraint);
	c->arguments[c->count] = v;
	return c->tied + c->count++;
}

static void
end(struct call *c)
{
	struct cj_llvm_gen *g = c->g;
	LLVMTypeRef type = c->tied == 0 ? g->void_type :
	    LLVMStructTypeInContext(g->context, c->types, c->tied, 0);
	cj_llvm all;
	unsigned i;

	cj_strbuf_printf(&c->results, "%s~{memory}", c->inputs.text);
	if (c->tied == 1)
		type = c->types[0];
	all = cj_llvm_asm(g, CJ_LLVM_ASM_CONVERGENT, type, c->text.text,
	    c->results.text, c->arguments, c->count);
	for (i = 0; i < c->tied; i++)
		LLVMBuildStore(g->b, c->tied == 1 ? all :
		    LLVMBuildExtractValue(g->b, all, i, ""), c->slot[i]);
}

/* ---- operands ------------------------------------------------------------ */

static const char *
type_text(const struct cj_llvm_gen *g, enum cj_kind k)
{
	const char *text = cj_atom_type(k);

	if (text != NULL)
		return text;
	cj_llvm_bug(g, "wgmma of %s", cj_kind_text(k));
}

uint64_t
cj_llvm_distances(const struct cj_operand_desc *d)
{
	return (uint64_t)(d->leading >> 4 & 0x3fff) << 16 |
	    (uint64_t)(d->stride >> 4 & 0x3fff) << 32;
}

/* Fields that do not depend on the address. */
static uint64_t
fields_of(const struct cj_operand_desc *d)
{
	static const uint64_t kinds[] = { [CJ_MAP_PLAIN] = 0,
	    [CJ_MAP_32] = 3, [CJ_MAP_64] = 2, [CJ_MAP_128] = 1 };

	return cj_llvm_distances(d) | kinds[d->swizzle] << 62;
}

/* The known bytes that end the offset, if whole units; `offset` loses them. */
static int64_t
take_known(const struct cj_module *m, cj_ref *offset, unsigned bytes)
{
	const struct cj_inst *inst = cj_inst(m, *offset);
	const struct cj_constant *last;
	int64_t by;

	if (inst->op != CJ_OP_ADD)
		return 0;
	last = cj_constant_of(m, cj_operand(m, inst, 1));
	by = last == NULL ? 0 : (int64_t)last->bits[0] * (int64_t)bytes;
	if (by == 0 || by % 16 != 0)
		return 0;
	*offset = cj_operand(m, inst, 0);
	return by;
}

/* In a cluster an address has the block's rank above the 18 bits that a
 * descriptor keeps, where it has other fields; 0: a cluster that the launch
 * alone knows. */
static cj_llvm
address_in_block(struct cj_llvm_gen *g, cj_llvm at)
{
	const int64_t *c = g->function->cluster;

	if (c[0] == 1 && c[1] == 1 && c[2] == 1)
		return at;
	return LLVMBuildAnd(g->b, at, cj_llvm_i32(g, 0x3ffff), "");
}

/*
 * The address of an operand, below 2^18, is in the low word, in units of 16
 * bytes. The instructions of a product differ by what is known: it is added to
 * the word, so that they share the rest. That alone may lie outside of the
 * object; words wrap, and the sum is right again.
 */
cj_llvm
cj_llvm_descriptor(struct cj_llvm_gen *g, uint32_t access, cj_ref offset,
    uint64_t fields)
{
	const struct cj_access *a = &g->m->accesses.at[access];
	unsigned bytes = cj_kind_bytes(g->m->objects.at[a->object].element);
	int64_t known;
	cj_llvm at, by;

	cj_llvm_bounds(g, a, offset, 1);
	known = take_known(g->m, &offset, bytes);
	by = LLVMBuildTrunc(g->b, cj_llvm_wide(g, offset, 0), g->i32, "");
	at = address_in_block(g, LLVMBuildPtrToInt(g->b,
	    g->objects[a->object].base, g->i32, ""));
	at = LLVMBuildAdd(g->b, at, LLVMBuildMul(g->b, by,
	    cj_llvm_i32(g, bytes), ""), "");
	at = LLVMBuildAShr(g->b, at, cj_llvm_i32(g, 4), "");
	at = LLVMBuildAdd(g->b, at, cj_llvm_i32(g, (uint32_t)(known / 16) +
	    (uint32_t)fields), "");
	return LLVMBuildOr(g->b, LLVMBuildZExt(g->b, at, g->i64, ""),
	    LLVMConstInt(g->i64, fields >> 32 << 32, 0), "");
}

/* A: words of a slot, or where it is in shared memory. */
static void
add_a(struct call *c, const struct cj_wgmma *w, const struct cj_inst *inst)
{
	struct cj_llvm_gen *g = c->g;
	const struct cj_access *left = &g->m->accesses.at[w->a_at];
	uint32_t i;

	if (cj_wgmma_has_offset(g->m, w)) {
		cj_strbuf_printf(&c->text, ", $%u", add(c,
		    cj_llvm_descriptor(g, w->a_at, cj_operand(g->m, inst, 0),
		    fields_of(&w->a_desc)), "l"));
		return;
	}
	cj_strbuf_puts(&c->text, ", {");
	for (i = left->position;
	    i < left->position + cj_wgmma_left(w); i++)
		if (begins_word(g, left->object, left->position, i))
			cj_strbuf_printf(&c->text, "%s$%u",
			    i == left->position ? "" : ",", add(c,
			    LLVMBuildLoad2(g->b, g->i32,
			    g->objects[left->object].slots[i], ""), "r"));
	cj_strbuf_puts(&c->text, "}");
}

/* p, signs, and which operands are turned: only of 16 bits can be. */
static void
add_tail(struct call *c, const struct cj_wgmma *w)
{
	bool has_offset = cj_wgmma_has_offset(c->g->m, w);

	if (w->selectors != 0)
		cj_strbuf_printf(&c->text, ", %u", (unsigned)w->selector);
	cj_strbuf_puts(&c->text, ", p");
	if (w->c != CJ_KIND_I32)
		cj_strbuf_puts(&c->text, ", 1, 1");
	if (cj_kind_bits(w->a) != 16)
		return;
	if (has_offset)
		cj_strbuf_printf(&c->text, ", %d", w->a_desc.by_column);
	cj_strbuf_printf(&c->text, ", %d", w->b_desc.by_column);
}

/* Is i a product that adds to the same registers as w? */
static bool
continues(const struct cj_module *m, const struct cj_inst *i,
    const struct cj_wgmma *w)
{
	const struct cj_wgmma *other;
	const struct cj_access *x, *y;

	if (i->op != CJ_OP_WGMMA)
		return false;
	other = &m->wgmmas.at[i->attr];
	x = &m->accesses.at[w->sum];
	y = &m->accesses.at[other->sum];
	return w->n == other->n && x->object == y->object &&
	    x->position == y->position;
}

/*
 * The product of the same sum that stands next to r, before or behind it, with
 * nothing but arithmetic in between; 0: there is none. Those of a run are one
 * instruction to LLVM, behind all that they need: a hundred registers that go
 * in and out again of each of them are most of what a kernel costs LLVM.
 */
static cj_ref
neighbour(const struct cj_llvm_gen *g, cj_ref r, bool behind)
{
	const struct cj_module *m = g->m;
	const struct cj_inst *i = cj_inst(m, r);
	const struct cj_wgmma *w = &m->wgmmas.at[i->attr];

	if (g->options->checked)
		return 0;
	for (r = behind ? i->next : i->prev; r != 0;
	    r = behind ? i->next : i->prev) {
		i = cj_inst(m, r);
		if (continues(m, i, w))
			return r;
		if (cj_op_info[i->op].effects != CJ_EFFECTS_PURE)
			return 0;
	}
	return 0;
}

static uint32_t find_slots(const struct cj_llvm_gen *g, cj_ref r,
    bool *is_used);

/* The fence in front of a run, where the run's sum is all that goes through it:
 * then it is of the same instruction to LLVM. */
static cj_ref
fence_of(const struct cj_llvm_gen *g, cj_ref first)
{
	const struct cj_module *m = g->m;
	const struct cj_inst *i = cj_inst(m, first);
	const struct cj_wgmma *w = &m->wgmmas.at[i->attr];
	const struct cj_access *sum = &m->accesses.at[w->sum];
	bool *is_used;
	cj_ref r;

	for (r = i->prev; r != 0 && cj_op_info[cj_inst(m, r)->op].effects ==
	    CJ_EFFECTS_PURE;)
		r = cj_inst(m, r)->prev;
	if (r == 0 || cj_inst(m, r)->op != CJ_OP_WGMMA_FENCE ||
	    g->options->checked)
		return 0;
	is_used = CJ_NEWS(g->arena, bool, m->objects.len);
	return find_slots(g, r, is_used) == w->n / 2 &&
	    is_used[sum->object] ? r : 0;
}

/* Does a fence go with the products behind it? */
static bool
joins(const struct cj_llvm_gen *g, cj_ref fence)
{
	const struct cj_module *m = g->m;
	cj_ref r = cj_inst(m, fence)->next;

	while (r != 0 && cj_op_info[cj_inst(m, r)->op].effects ==
	    CJ_EFFECTS_PURE)
		r = cj_inst(m, r)->next;
	return r != 0 && cj_inst(m, r)->op == CJ_OP_WGMMA &&
	    fence_of(g, r) == fence;
}

/* .sp.sync.aligned.m64n64k32.f32.f16.f16 */
static void
add_name(struct call *c, const struct cj_wgmma *w)
{
	cj_strbuf_printf(&c->text, "%s.sync.aligned.m64n%uk%u.%s.%s.%s%s",
	    w->selectors != 0 ? ".sp" : "", (unsigned)w->n,
	    (unsigned)(w->counts ? w->k * 8 : w->k), type_text(c->g, w->c),
	    w->counts ? "b1" : type_text(c->g, w->a),
	    w->counts ? "b1" : type_text(c->g, w->b),
	    w->counts ? ".and.popc" : w->saturate ? ".satfinite" : "");
}

/* One instruction; the sum is tied already. */
static void
add_product(struct call *c, cj_ref r)
{
	struct cj_llvm_gen *g = c->g;
	const struct cj_inst *inst = cj_inst(g->m, r);
	const struct cj_wgmma *w = &g->m->wgmmas.at[inst->attr];
	unsigned i, b = cj_wgmma_has_offset(g->m, w) ? 1 : 0;
	unsigned last = b + (w->selectors != 0);
	cj_llvm adds = cj_llvm_i32(g, 1);

	if (inst->operand_count > last + 1)
		adds = LLVMBuildZExt(g->b, cj_llvm_value(g, cj_operand(g->m,
		    inst, last + 1), 0), g->i32, "");
	cj_strbuf_printf(&c->text, "{\n\t.reg .pred p;\n\tsetp.ne.b32 p, "
	    "$%u, 0;\n\twgmma.mma_async", add(c, adds, "r"));
	add_name(c, w);
	cj_strbuf_puts(&c->text, " {");
	for (i = 0; i < c->tied; i++)
		cj_strbuf_printf(&c->text, "%s$%u", i == 0 ? "" : ",", i);
	cj_strbuf_puts(&c->text, "}");
	add_a(c, w, inst);
	cj_strbuf_printf(&c->text, ", $%u", add(c, cj_llvm_descriptor(g,
	    w->b_at, cj_operand(g->m, inst, b), fields_of(&w->b_desc)),
	    "l"));
	if (w->selectors != 0)
		cj_strbuf_printf(&c->text, ", $%u", add(c, cj_llvm_value(g,
		    cj_operand(g->m, inst, last), 0), "r"));
	add_tail(c, w);
	cj_strbuf_puts(&c->text, ";\n\t}");
}

void
cj_llvm_op_WGMMA(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_wgmma *w =
	    &g->m->wgmmas.at[cj_inst(g->m, r)->attr];
	const struct cj_access *sum = &g->m->accesses.at[w->sum];
	unsigned count = 1;
	cj_ref first = r, at;
	struct call c;

	if (cj_kind_bits(w->a) == 8 && w->c == CJ_KIND_I32 && w->a != w->b &&
	    !cj_llvm_wants_ptx(g, 84))
		cj_llvm_bug(g, "products of i8 and u8 need PTX 8.4");
	if (w->selectors != 0)
		cj_llvm_needs_ptx(g, 82, w->name);
	if (neighbour(g, r, true) != 0)
		return;		/* the last one brings it along */
	while ((at = neighbour(g, first, false)) != 0) {
		first = at;
		count++;
	}
	begin(&c, g, w->n / 2 + 8 * count);
	tie(&c, sum->object, sum->position, w->n / 2);
	if (fence_of(g, first) != 0)
		cj_strbuf_puts(&c.text, "wgmma.fence.sync.aligned;\n\t");
	for (at = first; at != 0; at = neighbour(g, at, true)) {
		if (at != first)
			cj_strbuf_puts(&c.text, "\n\t");
		add_product(&c, at);
	}
	end(&c);
}

/* ---- groups -------------------------------------------------------------- */

static uint32_t
mark_slot(const struct cj_llvm_gen *g, uint32_t access, cj_region home,
    bool *is_used)
{
	const struct cj_module *m = g->m;
	uint32_t o = m->accesses.at[access].object;

	if (m->objects.at[o].kind != CJ_OBJECT_SLOT || is_used[o] ||
	    !cj_llvm_slot_is_seen(m, o, home))
		return 0;
	is_used[o] = true;
	return (uint32_t)m->objects.at[o].extent;
}

/* All accumulators and left operands of the function that r can see; the
 * result is how many registers they are. Objects are marked in `is_used`. */
static uint32_t
find_slots(const struct cj_llvm_gen *g, cj_ref r, bool *is_used)
{
	const struct cj_module *m = g->m;
	cj_region home = cj_llvm_home(g, r);
	uint32_t registers = 0;
	struct cj_walk w = cj_walk_begin(m, g->function->body);
	const struct cj_inst *i;

	while ((i = cj_walk_inst(&w)) != NULL) {
		const struct cj_wgmma *product;

		if (i->op != CJ_OP_WGMMA)
			continue;
		product = &m->wgmmas.at[i->attr];
		registers += mark_slot(g, product->sum, home, is_used);
		registers += mark_slot(g, product->a_at, home, is_used);
	}
	return registers;
}

/* Those that nobody needs before something else holds them go past a wait. */
static uint32_t
pass_by(const struct cj_llvm_gen *g, cj_ref r, bool *is_used)
{
	uint32_t o, n = 0;

	for (o = 1; o < g->m->objects.len; o++) {
		is_used[o] = is_used[o] && cj_llvm_goes_through(g, r, o);
		if (is_used[o])
			n += (uint32_t)g->m->objects.at[o].extent;
	}
	return n;
}

/* An instruction through which all that products use goes. */
static void
emit_through(struct cj_llvm_gen *g, cj_ref r, const char *text)
{
	const struct cj_module *m = g->m;
	bool *is_used = CJ_NEWS(g->arena, bool, m->objects.len);
	uint32_t o, n = find_slots(g, r, is_used);
	struct call c;

	if (cj_inst(m, r)->op == CJ_OP_WGMMA_WAIT)
		n = pass_by(g, r, is_used);
	if (n > CJ_LLVM_ASM_MOST)
		cj_llvm_bug(g, "%u registers of products", (unsigned)n);
	begin(&c, g, n);
	for (o = 1; o < m->objects.len; o++)
		if (is_used[o])
			tie(&c, o, 0, (uint32_t)m->objects.at[o].extent);
	cj_strbuf_puts(&c.text, text);
	end(&c);
}

void
cj_llvm_op_WGMMA_WAIT(struct cj_llvm_gen *g, cj_ref r)
{
	emit_through(g, r, cj_printf(g->arena,
	    "wgmma.wait_group.sync.aligned %u;",
	    (unsigned)cj_inst(g->m, r)->attr));
}

/* What fills an accumulator stands in front of it. */
void
cj_llvm_op_WGMMA_FENCE(struct cj_llvm_gen *g, cj_ref r)
{
	if (!joins(g, r))
		emit_through(g, r, "wgmma.fence.sync.aligned;");
}

static void
emit(struct cj_llvm_gen *g, const char *text)
{
	cj_llvm_asm(g, CJ_LLVM_ASM_CONVERGENT, g->void_type, text,
	    "~{memory}", NULL, 0);
}

void
cj_llvm_op_WGMMA_COMMIT(struct cj_llvm_gen *g, cj_ref r)
{
	(void)r;
	emit(g, "wgmma.commit_group.sync.aligned;");
}
