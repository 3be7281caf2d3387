/*
 * Tensor memory: shapes, products that there are, and the rules of types of
 * what has to do with it.
 *
 * Memory of 128 lanes and 512 columns of 32 bits belongs to a block. It is
 * allotted by columns, a power of two of at least 32. Warp w of a warpgroup
 * reaches lanes 32 w .. 32 w + 31 of it.
 */
#include "ir_rule_priv.h"

enum { WORD = 32, MOST_REGISTERS = 128 };

uint32_t
cj_tmem_columns(const struct cj_object *o)
{
	return (uint32_t)(o->extent * cj_kind_bits(o->element) / WORD /
	    CJ_TMEM_LANES);
}

uint32_t
cj_tmem_registers(uint32_t lanes, uint32_t bits, uint32_t repeat)
{
	bool ok = (lanes == 32 && bits == 32) || (lanes == 16 &&
	    (bits == 64 || bits == 128 || bits == 256));
	uint64_t n = (uint64_t)lanes * bits * repeat / WORD / WORD;

	return ok && repeat != 0 && (repeat & (repeat - 1)) == 0 &&
	    n <= MOST_REGISTERS ? (uint32_t)n : 0;
}

bool
cj_tcgen05_is_left_in_tmem(const struct cj_module *m,
    const struct cj_tcgen05 *t)
{
	return m->objects.at[m->accesses.at[t->a_at].object].kind ==
	    CJ_OBJECT_TMEM;
}

/* ---- products ------------------------------------------------------------ */

static bool
is_small_float(enum cj_kind k)
{
	return k == CJ_KIND_F8E4M3 || k == CJ_KIND_F8E5M2;
}

static bool
types_exist(enum cj_kind a, enum cj_kind b, enum cj_kind d)
{
	switch ((unsigned)a) {
	case CJ_KIND_F16:
		return b == a && (d == CJ_KIND_F16 || d == CJ_KIND_F32);
	case CJ_KIND_BF16: case CJ_KIND_TF32:
		return b == a && d == CJ_KIND_F32;
	case CJ_KIND_F8E4M3: case CJ_KIND_F8E5M2:
		return is_small_float(b) && (d == CJ_KIND_F16 ||
		    d == CJ_KIND_F32);
	case CJ_KIND_I8: case CJ_KIND_U8:
		return (b == CJ_KIND_I8 || b == CJ_KIND_U8) &&
		    d == CJ_KIND_I32;
	}
	return false;
}

const char *
cj_tcgen05_wrong(struct cj_arena *a, const struct cj_tcgen05 *t)
{
	uint32_t step = t->m == 128 ? 16 : 8;
	bool is_int = t->d == CJ_KIND_I32;

	if (!types_exist(t->a, t->b, t->d))
		return cj_printf(a, "nothing multiplies %s and %s and adds "
		    "in %s", cj_kind_text(t->a), cj_kind_text(t->b),
		    cj_kind_text(t->d));
	if (t->m != 64 && t->m != 128)
		return "M is 64 or 128";
	if (t->k != 256 / cj_kind_bits(t->a))
		return cj_printf(a, "K is %u for %s", 256 /
		    cj_kind_bits(t->a), cj_kind_text(t->a));
	if (t->n == 0 || t->n > 256 || t->n % step != 0)
		return cj_printf(a, "N is %u to 256 by %u where M is %u",
		    step, step, t->m);
	if (is_int && t->n != 8 && t->n != 24 && t->n % 16 != 0)
		return "N of integers is 8, 24 or a multiple of 16";
	return NULL;
}

/* ---- rules --------------------------------------------------------------- */

static const struct cj_object *
object_at(const struct cj_rule_view *v, uint32_t access)
{
	return &v->m->objects.at[v->m->accesses.at[access].object];
}

/* Operands n and n + 1: an address and an offset. */
static const char *
check_place(const struct cj_rule_view *v, unsigned n, uint32_t access)
{
	if (object_at(v, access)->kind != CJ_OBJECT_TMEM)
		return "the object is no tensor memory";
	if (cj_rule_type(v, n) != cj_type_of(CJ_KIND_U32, 1))
		return "the address is no u32";
	return v->i->operand_count <= n + 1 || cj_rule_is_index(v, n + 1) ?
	    NULL : "the offset is not an int";
}

static const char *
check_matrix(const struct cj_rule_view *v, unsigned n, uint32_t access)
{
	if (object_at(v, access)->kind != CJ_OBJECT_SHARED)
		return "an operand is not in shared memory";
	return cj_rule_is_index(v, n) ? NULL : "an offset is not an int";
}

static const char *
check_alloc(const struct cj_rule_view *v, const struct cj_tmem_use *u)
{
	if (object_at(v, u->tmem)->kind != CJ_OBJECT_TMEM)
		return "the object is no tensor memory";
	if (object_at(v, u->other)->kind != CJ_OBJECT_SHARED ||
	    object_at(v, u->other)->element != CJ_KIND_U32)
		return "the address goes to a u32 in shared memory";
	return cj_rule_is_index(v, 0) ? NULL : "the offset is not an int";
}

/* `elements` of the object's kind fill the registers of a shape. */
static const char *
check_shape(const struct cj_rule_view *v, const struct cj_tmem_use *u,
    uint64_t elements)
{
	uint32_t n = cj_tmem_registers(u->lanes, u->bits, u->repeat);
	unsigned bits = cj_kind_bits(object_at(v, u->tmem)->element);

	if (n == 0)
		return "there is no such shape";
	if (u->packs && bits != 16)
		return "elements of 16 bits alone are packed";
	return elements * bits == (uint64_t)n * WORD ? NULL :
	    "the registers are not those of the shape";
}

static const char *
check_load(const struct cj_rule_view *v, const struct cj_tmem_use *u)
{
	const struct cj_object *to = object_at(v, u->other);
	uint32_t parts = WORD / cj_kind_bits(object_at(v, u->tmem)->element);
	uint64_t n = (uint64_t)cj_tmem_registers(u->lanes, u->bits,
	    u->repeat) * parts;

	if (to->kind != CJ_OBJECT_SLOT || to->element !=
	    object_at(v, u->tmem)->element)
		return "it goes to a slot of the same kind";
	if (v->m->accesses.at[u->other].position % parts != 0 ||
	    v->m->accesses.at[u->other].position + n > (uint64_t)to->extent)
		return "the slot does not hold it";
	return check_shape(v, u, n);
}

static const char *
check_store(const struct cj_rule_view *v, const struct cj_tmem_use *u)
{
	cj_type t = cj_rule_type(v, 2);

	if (cj_type_kind(t) != object_at(v, u->tmem)->element)
		return "the value is of another kind";
	return check_shape(v, u, cj_type_count(t));
}

/* Shapes of copies: how many lanes and bits, and whom they go to. */
static bool
copy_exists(const struct cj_tmem_use *u)
{
	switch (u->lanes) {
	case 128:
		return (u->bits == 256 || u->bits == 128) &&
		    u->spread == CJ_TMEM_OWN;
	case 64:
		return u->bits == 128 && (u->spread == CJ_TMEM_PAIRS_02_13 ||
		    u->spread == CJ_TMEM_PAIRS_01_23);
	case 32:
		return u->bits == 128 && u->spread == CJ_TMEM_ALL_FOUR;
	}
	return false;
}

static const char *
check_copy(const struct cj_rule_view *v, const struct cj_tmem_use *u)
{
	const char *wrong = check_place(v, 0, u->tmem);

	if (wrong != NULL)
		return wrong;
	if (object_at(v, u->other)->element != object_at(v, u->tmem)->element)
		return "it copies elements of one kind";
	if (!copy_exists(u))
		return "there is no such shape";
	return check_matrix(v, 2, u->other);
}

static const char *
check_use(const struct cj_rule_view *v)
{
	const struct cj_tmem_use *u = &v->m->tmem_uses.at[v->i->attr];
	const char *wrong;

	if (v->i->op == CJ_OP_TMEM_ALLOC)
		return check_alloc(v, u);
	if ((wrong = check_place(v, 0, u->tmem)) != NULL)
		return wrong;
	switch ((unsigned)v->i->op) {
	case CJ_OP_TMEM_LOAD: return check_load(v, u);
	case CJ_OP_TMEM_STORE: return check_store(v, u);
	case CJ_OP_TMEM_COPY: return check_copy(v, u);
	}
	return NULL;
}

static const char *
check_product(const struct cj_rule_view *v)
{
	const struct cj_tcgen05 *t = &v->m->tcgen05s.at[v->i->attr];
	bool in_tmem = cj_tcgen05_is_left_in_tmem(v->m, t);
	unsigned b = in_tmem ? 4 : 3, n = v->i->operand_count;
	const char *wrong = cj_tcgen05_wrong(v->m->arena, t);

	if (wrong != NULL || (wrong = check_place(v, 0, t->d_at)) != NULL)
		return wrong;
	if (object_at(v, t->d_at)->element != t->d ||
	    object_at(v, t->a_at)->element != t->a ||
	    object_at(v, t->b_at)->element != t->b)
		return "an operand is of another kind";
	if (n != b + 1 && n != b + 2)
		return "the number of operands is wrong";
	wrong = in_tmem ? check_place(v, 2, t->a_at) :
	    check_matrix(v, 2, t->a_at);
	if (wrong != NULL || (wrong = check_matrix(v, b, t->b_at)) != NULL)
		return wrong;
	return n == b + 1 || cj_rule_is_bool(v, b + 1) ? NULL :
	    "the condition is not bool";
}

static const char *
check_commit(const struct cj_rule_view *v)
{
	const struct cj_object *o = object_at(v, v->i->attr);

	if (o->kind != CJ_OBJECT_SHARED || o->element != CJ_KIND_MBARRIER)
		return "the object is no mbarrier";
	return cj_rule_is_index(v, 0) ? NULL : "the offset is not an int";
}

const char *
cj_rule_tmem(const struct cj_rule_view *v)
{
	switch ((unsigned)v->i->op) {
	case CJ_OP_TMEM_ALLOC: case CJ_OP_TMEM_DEALLOC: case CJ_OP_TMEM_LOAD:
	case CJ_OP_TMEM_STORE: case CJ_OP_TMEM_COPY:
		return check_use(v);
	case CJ_OP_TMEM_WAIT:
		return v->i->attr < CJ_TMEM_WAIT_COUNT ? NULL :
		    "there is no such wait";
	case CJ_OP_TCGEN05_MMA: return check_product(v);
	case CJ_OP_TCGEN05_COMMIT: return check_commit(v);
	default: return NULL;
	}
}
