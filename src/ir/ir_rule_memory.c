/*
 * The rules of types: slots, memory, matrices in shared memory.
 */
#include "ir_rule_priv.h"

static const char *
check_slot(const struct cj_rule_view *v, cj_type t)
{
	const struct cj_object *o = cj_rule_object(v);

	if (o->kind != CJ_OBJECT_SLOT)
		return "the object is not a slot";
	if (o->element != cj_type_kind(t))
		return "value and slot differ in kind";
	return (int64_t)cj_rule_access(v)->position + cj_type_count(t) <=
	    o->extent ? NULL : "the registers leave the slot";
}

/* What others order themselves by is made of whole bytes. */
static const char *
check_ordered(const struct cj_rule_view *v)
{
	enum cj_kind k = cj_rule_object(v)->element;

	if (v->i->op != CJ_OP_ATOMIC &&
	    cj_rule_access(v)->order == CJ_ORDER_WEAK)
		return NULL;
	return k != CJ_KIND_BOOL && cj_kind_bits(k) < 8 ?
	    "an element of an ordered access has less than 8 bits" : NULL;
}

static const char *
check_memory(const struct cj_rule_view *v, enum cj_kind element)
{
	const struct cj_object *o = cj_rule_object(v);
	uint32_t align = cj_rule_access(v)->align;

	if (o->kind == CJ_OBJECT_SLOT)
		return "a slot is not memory";
	if (o->element != element)
		return "value and object differ in kind";
	if (align == 0 || (align & (align - 1)) != 0)
		return "the alignment is not a power of two";
	if (cj_rule_access(v)->position != 0)
		return "only slots have positions";
	return cj_rule_is_index(v, 0) ? check_ordered(v) :
	    "the offset is not an int";
}

static const char *
check_load(const struct cj_rule_view *v)
{
	if (v->i->operand_count > 1 && !cj_rule_is_bool(v, 1))
		return "the mask is not bool";
	if (v->i->operand_count > 2 && cj_rule_type(v, 2) != v->i->type)
		return "fill and result differ in type";
	if (cj_rule_access(v)->order == CJ_ORDER_RELEASE)
		return "a load does not release";
	return check_memory(v, cj_type_kind(v->i->type));
}

/* A hint: what it names need not exist, so that the offset is all there is. */
static const char *
check_prefetch(const struct cj_rule_view *v)
{
	const struct cj_object *o = cj_rule_object(v);

	if (v->i->operand_count > 1 && !cj_rule_is_bool(v, 1))
		return "the mask is not bool";
	if (o->kind != CJ_OBJECT_TENSOR && o->kind != CJ_OBJECT_WORKSPACE)
		return "the object is not in global memory";
	return check_memory(v, o->element);
}

static const char *
check_store(const struct cj_rule_view *v)
{
	if (v->i->operand_count > 2 && !cj_rule_is_bool(v, 2))
		return "the mask is not bool";
	if (cj_rule_object(v)->kind == CJ_OBJECT_TABLE)
		return "known data cannot be written";
	if (cj_rule_access(v)->order == CJ_ORDER_ACQUIRE)
		return "a store does not acquire";
	return check_memory(v, cj_rule_kind(v, 1));
}

/* Only shared memory has blocks that own it. */
static const char *
check_rank(const struct cj_rule_view *v)
{
	if (!cj_rule_is_index(v, 1))
		return "the rank is not an int";
	return cj_rule_object(v)->kind == CJ_OBJECT_SHARED ? NULL :
	    "another block has shared memory alone";
}

static const char *
check_remote(const struct cj_rule_view *v, enum cj_kind k)
{
	const char *wrong = check_rank(v);

	if (wrong != NULL)
		return wrong;
	if (cj_rule_access(v)->order != CJ_ORDER_WEAK)
		return "an access in another block has no order";
	return check_memory(v, k);
}

/* The values begin at operand `first`. */
static const char *
check_update(const struct cj_rule_view *v, unsigned first)
{
	enum cj_atomic how = cj_rule_access(v)->atomic;
	unsigned end = first + (how == CJ_ATOMIC_CAS ? 2 : 1), n;
	bool is_remote = v->i->op == CJ_OP_REMOTE_ATOMIC;

	if (v->i->operand_count != end &&
	    (is_remote || v->i->operand_count != end + 1))
		return "the number of operands is wrong";
	for (n = first; n < end; n++)
		if (cj_rule_type(v, n) != v->i->type)
			return "value and result differ in type";
	if (v->i->operand_count > end && !cj_rule_is_bool(v, end))
		return "the mask is not bool";
	if ((how == CJ_ATOMIC_INC || how == CJ_ATOMIC_DEC) &&
	    cj_type_kind(v->i->type) != CJ_KIND_U32)
		return "counting round needs u32";
	if ((how == CJ_ATOMIC_AND || how == CJ_ATOMIC_OR ||
	    how == CJ_ATOMIC_XOR) &&
	    !cj_kind_is_integer(cj_type_kind(v->i->type)))
		return "an operation on bits needs integers";
	return check_memory(v, cj_type_kind(v->i->type));
}

static const char *
check_atomic(const struct cj_rule_view *v)
{
	if (cj_rule_object(v)->kind == CJ_OBJECT_TABLE)
		return "known data cannot be written";
	return check_update(v, 1);
}

static const char *
check_remote_atomic(const struct cj_rule_view *v)
{
	const char *wrong = check_rank(v);

	return wrong != NULL ? wrong : check_update(v, 2);
}

/* ---- matrices ------------------------------------------------------------ */

/* Do the registers hold 1, 2 or 4 words, 32 bits of each matrix? Turned
 * matrices are turned in units of 16 bits, which elements must not straddle. */
static const char *
check_words(cj_type t, bool transposed)
{
	unsigned bits = cj_kind_bits(cj_type_kind(t));
	uint64_t all = (uint64_t)bits * cj_type_count(t);

	if (bits < 4 || (transposed ? 16 : 32) % bits != 0)
		return "the kind does not fit into the parts of a matrix";
	return all == 32 || all == 64 || all == 128 ? NULL :
	    "the registers are not those of 1, 2 or 4 matrices";
}

static const char *
check_matrices(const struct cj_rule_view *v, cj_type t)
{
	const char *wrong = check_memory(v, cj_type_kind(t));

	if (wrong != NULL)
		return wrong;
	if (cj_rule_object(v)->kind != CJ_OBJECT_SHARED)
		return "the object is not shared memory";
	if (cj_rule_access(v)->align < CJ_MATRIX_ROW_BYTES)
		return "rows are not aligned to 16 bytes";
	return check_words(t, cj_rule_access(v)->transposed);
}

static const char *
check_movmatrix(const struct cj_rule_view *v)
{
	cj_type t = cj_rule_type(v, 0);

	if (cj_kind_bits(cj_rule_kind(v, 0)) * cj_type_count(t) != 32)
		return "the registers are not those of one matrix";
	return check_words(t, true);
}

/* ---- all ----------------------------------------------------------------- */

const char *
cj_rule_memory(const struct cj_rule_view *v)
{
	switch ((unsigned)v->i->op) {
	case CJ_OP_SLOT_GET: return check_slot(v, v->i->type);
	case CJ_OP_SLOT_SET: return check_slot(v, cj_rule_type(v, 0));
	case CJ_OP_LOAD: return check_load(v);
	case CJ_OP_PREFETCH: return check_prefetch(v);
	case CJ_OP_STORE: return check_store(v);
	case CJ_OP_REMOTE_LOAD:
		return check_remote(v, cj_type_kind(v->i->type));
	case CJ_OP_REMOTE_STORE: return check_remote(v, cj_rule_kind(v, 2));
	case CJ_OP_ATOMIC: return check_atomic(v);
	case CJ_OP_REMOTE_ATOMIC: return check_remote_atomic(v);
	case CJ_OP_LDMATRIX: return check_matrices(v, v->i->type);
	case CJ_OP_STMATRIX: return check_matrices(v, cj_rule_type(v, 1));
	case CJ_OP_MOVMATRIX: return check_movmatrix(v);
	default: return cj_rule_async(v);
	}
}
