/*
 * Slots: a `var` or a fragment, in allocas that LLVM turns into values.
 *
 * One alloca a register, or one for two registers of a packed kind, so that
 * packed arithmetic goes on through loops, or one for a word of registers of a
 * narrow kind, as memory and matrices give and take them. All hold zero from
 * the start: a program may read what it never wrote (the executor says so) and
 * must not fall into what LLVM leaves undefined.
 */
#include "llvm_memory.h"

static uint32_t
extent_of(const struct cj_llvm_gen *g, uint32_t object)
{
	return (uint32_t)g->m->objects.at[object].extent;
}

/* Registers of narrow kinds that share an alloca, those of a word; 0: none. A
 * bool is not worth the bits it would be in. */
static uint32_t
word_parts(const struct cj_llvm_gen *g, uint32_t object)
{
	enum cj_kind k = g->m->objects.at[object].element;

	return k == CJ_KIND_BOOL ? 0 : cj_llvm_word_parts(g, k);
}

static bool
in_words(const struct cj_llvm_gen *g, uint32_t object, uint32_t at)
{
	uint32_t parts = word_parts(g, object);

	return parts != 0 && at - at % parts + parts <= extent_of(g, object);
}

/* Registers 2i and 2i + 1 share an alloca; an odd last one has its own. */
static bool
in_pairs(const struct cj_llvm_gen *g, uint32_t object, uint32_t at)
{
	return cj_llvm_is_packed(g, g->m->objects.at[object].element) &&
	    (at | 1) < extent_of(g, object);
}

/* An int that is known to fit is kept in 32 bits. */
static bool
is_narrow(const struct cj_llvm_gen *g, uint32_t object)
{
	const struct cj_object *o = &g->m->objects.at[object];

	return o->element == CJ_KIND_INDEX && o->multiple != 0 &&
	    o->most <= INT32_MAX - o->multiple;
}

static LLVMTypeRef
type_of(const struct cj_llvm_gen *g, uint32_t object)
{
	return is_narrow(g, object) ? g->i32 :
	    cj_llvm_type(g, g->m->objects.at[object].element);
}

static cj_llvm
new_alloca(struct cj_llvm_gen *g, LLVMTypeRef type)
{
	LLVMBasicBlockRef here = LLVMGetInsertBlock(g->b);
	cj_llvm v = cj_llvm_alloca(g, type);

	cj_llvm_enter(g, g->entry);
	LLVMBuildStore(g->b, LLVMConstNull(type), v);
	cj_llvm_enter(g, here);
	return v;
}

/* The alloca of register `at`, which may be that of the one before. */
static cj_llvm
place_of(struct cj_llvm_gen *g, uint32_t object, uint32_t at, cj_llvm before)
{
	LLVMTypeRef type = type_of(g, object);
	uint32_t shared = 1;

	if (in_words(g, object, at)) {
		shared = word_parts(g, object);
		type = g->i32;
	} else if (in_pairs(g, object, at)) {
		shared = 2;
		type = LLVMVectorType(type, 2);
	}
	return at % shared != 0 ? before : new_alloca(g, type);
}

void
cj_llvm_slot(struct cj_llvm_gen *g, uint32_t object)
{
	uint32_t i, n = extent_of(g, object);
	cj_llvm *slots = CJ_NEWS(g->arena, cj_llvm, n);

	assert(g->m->objects.at[object].kind == CJ_OBJECT_SLOT);
	for (i = 0; i < n; i++)
		slots[i] = place_of(g, object, i, i == 0 ? NULL : slots[i - 1]);
	g->objects[object].slots = slots;
}

/* Where its bits are in the word. */
static unsigned
part_bits(const struct cj_llvm_gen *g, uint32_t object)
{
	return 32 / word_parts(g, object);
}

static unsigned
part_shift(const struct cj_llvm_gen *g, uint32_t object, uint32_t at)
{
	return at % word_parts(g, object) * part_bits(g, object);
}

static cj_llvm
get_part(struct cj_llvm_gen *g, uint32_t object, uint32_t at)
{
	cj_llvm v = LLVMBuildLoad2(g->b, g->i32, g->objects[object].slots[at],
	    "");

	v = LLVMBuildLShr(g->b, v, cj_llvm_i32(g, part_shift(g, object, at)),
	    "");
	v = LLVMBuildTrunc(g->b, v, LLVMIntTypeInContext(g->context,
	    part_bits(g, object)), "");
	return cj_llvm_from_storage(g, g->m->objects.at[object].element, v);
}

static void
set_part(struct cj_llvm_gen *g, uint32_t object, uint32_t at, cj_llvm v)
{
	cj_llvm slot = g->objects[object].slots[at], old;
	unsigned shift = part_shift(g, object, at);
	uint32_t mask = (((uint32_t)1 << part_bits(g, object)) - 1) << shift;

	v = cj_llvm_to_storage(g, g->m->objects.at[object].element, v);
	v = LLVMBuildShl(g->b, LLVMBuildZExt(g->b, v, g->i32, ""),
	    cj_llvm_i32(g, shift), "");
	old = LLVMBuildLoad2(g->b, g->i32, slot, "");
	old = LLVMBuildAnd(g->b, old, LLVMConstInt(g->i32, ~mask, 0), "");
	LLVMBuildStore(g->b, LLVMBuildOr(g->b, old, v, ""), slot);
}

/* Do registers i ... of n stand at `at` as one whole word of the slot? */
static bool
is_word(const struct cj_llvm_gen *g, uint32_t object, uint32_t at, uint32_t i,
    uint32_t n)
{
	uint32_t parts = word_parts(g, object);

	return parts != 0 && at % parts == 0 && i % parts == 0 &&
	    i + parts <= n && in_words(g, object, at);
}

/* Register `at` of a slot. */
static cj_llvm
get(struct cj_llvm_gen *g, uint32_t object, uint32_t at)
{
	LLVMTypeRef type = type_of(g, object);
	cj_llvm slot = g->objects[object].slots[at];

	assert(at < extent_of(g, object));
	if (in_words(g, object, at))
		return get_part(g, object, at);
	if (!in_pairs(g, object, at))
		return LLVMBuildLoad2(g->b, type, slot, "");
	return cj_llvm_element(g, LLVMBuildLoad2(g->b,
	    LLVMVectorType(type, 2), slot, ""), at % 2);
}

static void
set(struct cj_llvm_gen *g, uint32_t object, uint32_t at, cj_llvm v)
{
	LLVMTypeRef type = type_of(g, object);
	cj_llvm slot = g->objects[object].slots[at];

	if (g->predicate != NULL)
		v = LLVMBuildSelect(g->b, g->predicate, v,
		    get(g, object, at), "");
	if (in_words(g, object, at)) {
		set_part(g, object, at, v);
		return;
	}
	if (in_pairs(g, object, at)) {
		cj_llvm old = LLVMBuildLoad2(g->b, LLVMVectorType(type, 2),
		    slot, "");

		v = LLVMBuildInsertElement(g->b, old, v,
		    cj_llvm_i32(g, at % 2), "");
	}
	LLVMBuildStore(g->b, v, slot);
}

void
cj_llvm_op_SLOT_GET(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	const struct cj_access *a = &g->m->accesses.at[inst->attr];
	LLVMTypeRef pair;
	uint32_t i, n = cj_type_count(inst->type);
	uint32_t parts = word_parts(g, a->object);
	cj_llvm *out = cj_llvm_define(g, r);

	for (i = 0; i < n; i++) {
		uint32_t at = a->position + i;

		if (is_word(g, a->object, at, i, n)) {
			cj_llvm_set_word(g, r, i / parts, LLVMBuildLoad2(g->b,
			    g->i32, g->objects[a->object].slots[at], ""));
			i += parts - 1;
			continue;
		}
		if (g->pairs[r] == NULL || i % 2 != 0 || at % 2 != 0 ||
		    i + 1 >= n || !in_pairs(g, a->object, at)) {
			out[i] = get(g, a->object, at);
			continue;
		}
		pair = LLVMVectorType(cj_llvm_type(g,
		    cj_type_kind(inst->type)), 2);
		cj_llvm_set_pair(g, r, i / 2, LLVMBuildLoad2(g->b, pair,
		    g->objects[a->object].slots[at], ""));
		i++;
	}
	cj_llvm_finish(g, r);
}

void
cj_llvm_op_SLOT_SET(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	const struct cj_access *a = &g->m->accesses.at[inst->attr];
	cj_ref value = cj_operand(g->m, inst, 0);
	uint32_t i, n = cj_type_count(cj_inst(g->m, value)->type);
	uint32_t parts = word_parts(g, a->object);

	for (i = 0; i < n; i++) {
		uint32_t at = a->position + i;

		if (is_word(g, a->object, at, i, n)) {
			LLVMBuildStore(g->b, cj_llvm_word(g, value, i / parts),
			    g->objects[a->object].slots[at]);
			i += parts - 1;
			continue;
		}
		if (g->pairs[value] == NULL || i % 2 != 0 || at % 2 != 0 ||
		    i + 1 >= n || !in_pairs(g, a->object, at)) {
			set(g, a->object, at, is_narrow(g, a->object) ?
			    cj_llvm_narrow(g, value, i) :
			    cj_llvm_wide(g, value, i));
			continue;
		}
		LLVMBuildStore(g->b, cj_llvm_pair(g, value, i / 2),
		    g->objects[a->object].slots[at]);
		i++;
	}
}

/* ---- words, for instructions that take and give registers ---------------- */

uint32_t
cj_llvm_slot_words(const struct cj_llvm_gen *g, uint32_t object)
{
	return extent_of(g, object) * cj_kind_bits(g->m->objects.at[object]
	    .element) / 32;
}

cj_llvm
cj_llvm_slot_word(struct cj_llvm_gen *g, uint32_t object, uint32_t n)
{
	unsigned bits = cj_kind_bits(g->m->objects.at[object].element);

	if (bits == 32)
		return LLVMBuildBitCast(g->b, get(g, object, n), g->i32, "");
	return LLVMBuildLoad2(g->b, g->i32,
	    g->objects[object].slots[n * (32 / bits)], "");
}

void
cj_llvm_slot_set_word(struct cj_llvm_gen *g, uint32_t object, uint32_t n,
    cj_llvm word)
{
	unsigned bits = cj_kind_bits(g->m->objects.at[object].element);

	if (bits == 32)
		set(g, object, n, LLVMBuildBitCast(g->b, word, type_of(g,
		    object), ""));
	else
		LLVMBuildStore(g->b, word,
		    g->objects[object].slots[n * (32 / bits)]);
}

bool
cj_llvm_slot_is_seen(const struct cj_module *m, uint32_t object, cj_region from)
{
	for (; from != 0; from = m->regions.at[from].parent)
		if (m->objects.at[object].region == from)
			return true;
	return false;
}

cj_region
cj_llvm_home(const struct cj_llvm_gen *g, cj_ref r)
{
	struct cj_walk w;

	for (w = cj_walk_begin(g->m, g->function->body); cj_walk_next(&w);)
		if (w.event == CJ_WALK_INST && w.ref == r)
			return w.region;
	return 0;
}
