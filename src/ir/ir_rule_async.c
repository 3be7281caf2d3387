/*
 * The rules of types of what the hardware does on its own: copies of cp.async,
 * bulk copies, boxes of TMA and their maps, products of warpgroups, and the
 * mbarriers that tell when they are done.
 */
#include "ir_rule_priv.h"

static const struct cj_object *
object_at(const struct cj_rule_view *v, uint32_t access)
{
	return &v->m->objects.at[v->m->accesses.at[access].object];
}

static bool
is_global(const struct cj_object *o)
{
	return o->kind == CJ_OBJECT_TENSOR ||
	    o->kind == CJ_OBJECT_WORKSPACE || o->kind == CJ_OBJECT_FOREIGN;
}

static const char *
check_cp_async(const struct cj_rule_view *v)
{
	const struct cj_copy *c = &v->m->copies.at[v->i->attr];
	const struct cj_access *to = &v->m->accesses.at[c->to];
	const struct cj_access *from = &v->m->accesses.at[c->from];
	const struct cj_object *s = &v->m->objects.at[to->object];
	const struct cj_object *g = &v->m->objects.at[from->object];
	uint64_t bits = (uint64_t)cj_kind_bits(s->element) * c->count;

	if (s->kind != CJ_OBJECT_SHARED || !is_global(g))
		return "it does not copy from global to shared memory";
	if (s->element != g->element)
		return "the objects differ in kind";
	if (bits != 32 && bits != 64 && bits != 128)
		return "it does not copy 4, 8 or 16 bytes";
	if (to->align * UINT64_C(8) % bits != 0 ||
	    from->align * UINT64_C(8) % bits != 0)
		return "the alignment is less than what is copied";
	if (c->cache > CJ_COPY_GLOBAL)
		return "there is no such cache level";
	if (c->cache == CJ_COPY_GLOBAL && bits != 128)
		return "only 16 bytes are cached by L2 alone";
	if (c->prefetch != 0 && c->prefetch != 64 && c->prefetch != 128 &&
	    c->prefetch != 256)
		return "L2 fetches 64, 128 or 256 bytes ahead";
	if (!cj_rule_are_indices(v, 0, 2))
		return "an offset is not an int";
	return v->i->operand_count < 3 || cj_rule_is_bool(v, 2) ? NULL :
	    "the mask is not bool";
}

static const char *
check_mbarrier(const struct cj_rule_view *v)
{
	const struct cj_object *o = object_at(v, v->i->attr);

	if (o->kind != CJ_OBJECT_SHARED || o->element != CJ_KIND_MBARRIER)
		return "the object holds no mbarriers";
	if (v->i->op == CJ_OP_MBARRIER_TEST &&
	    v->i->type != cj_type_of(CJ_KIND_BOOL, 1))
		return "the result is not bool";
	return cj_rule_are_indices(v, 0, v->i->operand_count) ? NULL :
	    "an operand is not an int";
}

/* Kinds of elements as bits: what is combined in global and in shared memory,
 * where the hardware has no sign for sums of 64 bits and needs none. */
#define OF(kind)	((uint32_t)1 << CJ_KIND_##kind)
#define WORDS		(OF(I32) | OF(U32))
#define INTEGERS	(WORDS | OF(I64) | OF(U64))
#define HALVES		(OF(F16) | OF(BF16))
static const struct {
	uint32_t global, shared;
} combined[CJ_ATOMIC_COUNT] = {
	[CJ_ATOMIC_ADD] = { INTEGERS | HALVES | OF(F32) | OF(F64), INTEGERS },
	[CJ_ATOMIC_MIN] = { INTEGERS | HALVES, WORDS },
	[CJ_ATOMIC_MAX] = { INTEGERS | HALVES, WORDS },
	[CJ_ATOMIC_AND] = { INTEGERS, WORDS },
	[CJ_ATOMIC_OR] = { INTEGERS, WORDS },
	[CJ_ATOMIC_XOR] = { INTEGERS, WORDS },
	[CJ_ATOMIC_INC] = { OF(U32), OF(U32) },
	[CJ_ATOMIC_DEC] = { OF(U32), OF(U32) },
};
_Static_assert(CJ_KIND_COUNT <= 32, "a bit for each");

bool
cj_bulk_reduces(enum cj_kind k, enum cj_atomic how, bool is_shared)
{
	assert(how < CJ_ATOMIC_COUNT);
	return (is_shared ? combined[how].shared : combined[how].global) >> k &
	    1;
}

/* What both ways of copying have in common. */
static const char *
check_bulk(const struct cj_rule_view *v, const struct cj_bulk_copy *c)
{
	const struct cj_object *to = object_at(v, c->to);
	bool is_shared = to->kind == CJ_OBJECT_SHARED;

	if (!is_shared && !is_global(to))
		return "it copies to global or shared memory alone";
	if (is_shared != (c->signal != 0))
		return "copies to shared memory signal an mbarrier, others "
		    "do not";
	if (c->signal != 0 && object_at(v, c->signal)->element !=
	    CJ_KIND_MBARRIER)
		return "what is signalled is no mbarrier";
	if (c->evict >= CJ_EVICT_COUNT)
		return "there is no such hint";
	return c->reduces && !cj_bulk_reduces(to->element, c->how, is_shared) ?
	    "the hardware does not combine elements of this kind so" : NULL;
}

static const char *
check_bulk_copy(const struct cj_rule_view *v)
{
	const struct cj_bulk_copy *c = &v->m->bulks.at[v->i->attr];
	const struct cj_object *to = object_at(v, c->to), *from;
	unsigned n = v->i->operand_count;
	const char *wrong = check_bulk(v, c);
	bool sends;

	if (wrong != NULL || c->from == 0)
		return wrong != NULL ? wrong : "it copies from memory";
	from = object_at(v, c->from);
	sends = to->kind == CJ_OBJECT_SHARED &&
	    from->kind == CJ_OBJECT_SHARED;
	if (to->element != from->element)
		return "the objects differ in kind";
	if (!sends && (to->kind == CJ_OBJECT_SHARED ? !is_global(from) :
	    from->kind != CJ_OBJECT_SHARED))
		return "one side is shared memory";
	if (!cj_rule_are_indices(v, 0, n < 4 ? 3 : 4))
		return "an operand is not an int";
	if (n < 5)
		return (c->signal != 0) != (n == 4) || sends ?
		    "the number of operands is wrong" : NULL;
	if (sends)
		return cj_rule_is_index(v, 4) ? NULL : "the rank is not an int";
	if (c->signal == 0 || c->reduces)
		return "the number of operands is wrong";
	return cj_rule_type(v, 4) == cj_type_of(CJ_KIND_U32, 1) ? NULL :
	    "the ranks are no bits of a u32";
}

static const char *
check_send(const struct cj_rule_view *v)
{
	const struct cj_bulk_copy *c = &v->m->bulks.at[v->i->attr];
	const struct cj_object *to = object_at(v, c->to);
	cj_type sent = cj_rule_type(v, 2);
	unsigned bits = cj_kind_bits(cj_type_kind(sent)) * cj_type_count(sent);
	const char *wrong = check_bulk(v, c);

	if (wrong != NULL)
		return wrong;
	if (c->from != 0 || to->kind != CJ_OBJECT_SHARED)
		return "it sends registers to shared memory";
	if (cj_type_kind(sent) != to->element)
		return "value and object differ in kind";
	if (c->reduces ? cj_type_count(sent) != 1 : bits != 32 &&
	    bits != 64 && bits != 128)
		return "it sends 4, 8 or 16 bytes, or combines one number";
	return cj_rule_are_indices(v, 0, 2) && cj_rule_is_index(v, 3) ? NULL :
	    "an operand is not an int";
}

static const char *
check_map(const struct cj_rule_view *v, const struct cj_map *map)
{
	enum cj_kind k = v->m->objects.at[map->object].element;
	uint32_t i, bytes = cj_kind_bits(k) / 8;

	if (map->rank < 1 || map->rank > CJ_MAP_MODES)
		return "a tensor map has 1 to 5 modes";
	if (bytes == 0)
		return "elements of a tensor map are whole bytes";
	if (map->swizzle > CJ_MAP_128)
		return "there is no such swizzle";
	if (map->promote != 0 && map->promote != 64 && map->promote != 128 &&
	    map->promote != 256)
		return "L2 fetches 64, 128 or 256 bytes";
	if (map->fills_nan && !cj_map_can_fill_nan(k))
		return "loads of this kind fill with 0 alone";
	if (map->kind == CJ_MAP_PIXELS && map->rank < 3)
		return "pixels have one mode or more";
	if (map->kind == CJ_MAP_ROWS && (map->rank != 2 || map->box[1] !=
	    CJ_MAP_ROW_COUNT))
		return "rows are four of a matrix";
	for (i = 0; i < map->rank; i++) {
		if (map->step[i] < 1 || map->step[i] > 8)
			return "a step is 1 to 8";
		if (map->box[i] < 1 || map->box[i] * (map->kind ==
		    CJ_MAP_TILES ? (uint32_t)map->step[i] : 1u) >
		    (map->kind == CJ_MAP_PIXELS && i == 1 ? 1024u : 256u))
			return "a box goes over 1 to 256 elements of a mode";
	}
	if (map->step[0] != 1)
		return "a box has all neighbours of mode 0";
	if (map->box[0] * bytes % 16 != 0)
		return "rows of a box are not whole units of 16 bytes";
	return map->swizzle != CJ_MAP_PLAIN && map->box[0] * bytes !=
	    (uint32_t)16 << map->swizzle ?
	    "rows of a box are not as long as the swizzle" : NULL;
}

static const char *
check_map_encode(const struct cj_rule_view *v)
{
	const struct cj_map *map = &v->m->maps.at[v->i->attr];

	if (!is_global(&v->m->objects.at[map->object]))
		return "a tensor map is of global memory";
	if (v->i->operand_count != 1 + 2 * map->rank)
		return "extents and strides are not those of the map";
	if (v->i->type != cj_type_of(CJ_KIND_MAP, 1))
		return "the result is not a tensormap";
	return cj_rule_are_indices(v, 0, v->i->operand_count) ?
	    check_map(v, map) : "an operand is not an int";
}

static const char *
check_map_prefetch(const struct cj_rule_view *v)
{
	return cj_rule_type(v, 0) == cj_type_of(CJ_KIND_MAP, 1) ? NULL :
	    "the operand is not a tensormap";
}

static const char *
check_tma_prefetch(const struct cj_rule_view *v)
{
	const struct cj_map *map = &v->m->maps.at[v->i->attr];
	unsigned n = 1u + cj_map_numbers(map);

	if (v->i->operand_count != n)
		return "the coordinates are not those of the map";
	if (cj_rule_type(v, 0) != cj_type_of(CJ_KIND_MAP, 1))
		return "the first operand is not a tensormap";
	return cj_rule_are_indices(v, 1, n) ? check_map(v, map) :
	    "an operand is not an int";
}

/* Maps that lie in memory: copies to be changed, and published ones. */
static bool
holds_maps(const struct cj_rule_view *v, uint32_t access, bool is_shared)
{
	const struct cj_object *o = object_at(v, access);

	return o->element == CJ_KIND_MAP && (is_shared ?
	    o->kind == CJ_OBJECT_SHARED : is_global(o));
}

static const char *
check_map_replace(const struct cj_rule_view *v)
{
	const struct cj_constant *field = cj_constant_of(v->m, cj_operand(v->m,
	    v->i, 1));
	bool is_address;

	if (!holds_maps(v, v->i->attr, true))
		return "the object holds no maps that can be changed";
	if (field == NULL || field->bits[0] >= CJ_MAP_FIELD_COUNT ||
	    field->bits[0] == CJ_MAP_STRIDE)
		return "there is no such field of a map";
	is_address = field->bits[0] == CJ_MAP_ADDRESS;
	if (!cj_rule_is_index(v, 0) || (is_address ? cj_rule_type(v, 2) !=
	    cj_type_of(CJ_KIND_U64, 1) : !cj_rule_is_index(v, 2)))
		return "an operand is of the wrong kind";
	return NULL;
}

static const char *
check_map_at(const struct cj_rule_view *v)
{
	bool is_shared = v->i->op == CJ_OP_MAP_INIT;

	if (!holds_maps(v, v->i->attr, is_shared))
		return is_shared ? "the object holds no maps that can be "
		    "changed" : "the object holds no published maps";
	if (v->i->op == CJ_OP_MAP_AT && v->i->type !=
	    cj_type_of(CJ_KIND_MAP, 1))
		return "the result is not a tensormap";
	if (is_shared && cj_rule_type(v, 1) != cj_type_of(CJ_KIND_MAP, 1))
		return "the second operand is not a tensormap";
	return cj_rule_is_index(v, 0) ? NULL : "the offset is not an int";
}

static const char *
check_map_publish(const struct cj_rule_view *v)
{
	const struct cj_copy *c = &v->m->copies.at[v->i->attr];

	if (!holds_maps(v, c->to, false) || !holds_maps(v, c->from, true))
		return "it publishes in global memory what shared memory has";
	if (c->count != 1)
		return "it publishes one map";
	return cj_rule_are_indices(v, 0, 2) ? NULL :
	    "an offset is not an int";
}

static const char *
check_address(const struct cj_rule_view *v)
{
	const struct cj_object *o = object_at(v, v->i->attr);

	if (!is_global(o) || cj_kind_bits(o->element) < 8)
		return "addresses are those of whole bytes of global memory";
	if (v->i->type != cj_type_of(CJ_KIND_U64, 1))
		return "the result is not u64";
	return cj_rule_is_index(v, 0) ? NULL : "the offset is not an int";
}

static const char *
check_tma(const struct cj_rule_view *v)
{
	const struct cj_tma_copy *c = &v->m->tmas.at[v->i->attr];
	const struct cj_map *map = &v->m->maps.at[c->map];
	const struct cj_object *s = &v->m->objects.at[
	    v->m->accesses.at[c->shared].object];
	bool loads = v->i->op == CJ_OP_TMA_LOAD;
	unsigned n = 2u + (c->signal != 0) + cj_map_numbers(map);

	if (s->kind != CJ_OBJECT_SHARED ||
	    s->element != v->m->objects.at[map->object].element)
		return "the object is no shared memory of the map's kind";
	if (c->signal != 0 ? !loads : loads && v->m->is_lowered)
		return "loads signal an mbarrier, stores do not";
	if (c->signal != 0 && object_at(v, c->signal)->element !=
	    CJ_KIND_MBARRIER)
		return "what is signalled is no mbarrier";
	if (map->kind == CJ_MAP_PIXELS && !loads)	/* chips stop there */
		return "pixels are loaded alone";
	if (map->kind == CJ_MAP_ROWS && c->reduces)
		return "rows by number are not combined";
	if (v->i->operand_count != n && !(loads &&
	    v->i->operand_count == n + 1))
		return "the coordinates are not those of the map";
	if (v->i->operand_count > n &&
	    cj_rule_type(v, n) != cj_type_of(CJ_KIND_U32, 1))
		return "the ranks are no bits of a u32";
	if (c->evict >= CJ_EVICT_COUNT)
		return "there is no such hint";
	if (c->reduces && (loads || !cj_bulk_reduces(s->element, c->how,
	    false)))
		return "the hardware does not combine elements of this kind "
		    "so";
	if (cj_rule_type(v, 1) != cj_type_of(CJ_KIND_MAP, 1))
		return "the second operand is not a tensormap";
	return cj_rule_is_index(v, 0) && cj_rule_are_indices(v, 2, n) ?
	    check_map(v, map) : "an operand is not an int";
}

static const char *
check_wgmma(const struct cj_rule_view *v)
{
	const struct cj_wgmma *w = &v->m->wgmmas.at[v->i->attr];
	const struct cj_access *sum = &v->m->accesses.at[w->sum];
	const struct cj_object *o = &v->m->objects.at[sum->object];
	const struct cj_access *left = &v->m->accesses.at[w->a_at];
	const struct cj_object *a = &v->m->objects.at[left->object];
	unsigned b = cj_wgmma_has_offset(v->m, w) ? 1 : 0;
	unsigned extra = w->selectors != 0 ? 1 : 0;

	if (o->kind != CJ_OBJECT_SLOT || o->element != w->c ||
	    sum->position + w->n / 2 > (uint64_t)o->extent)
		return "the slot does not hold the result";
	if (object_at(v, w->b_at)->element != w->b)
		return "B is of another kind";
	if (a->element != w->a)
		return "A is of another kind";
	if (b == 0 && left->position + cj_wgmma_left(w) > (uint64_t)a->extent)
		return "the slot does not hold A";
	if (b == 1 && !cj_rule_is_index(v, 0))
		return "the offset of A is not an int";
	if (v->i->operand_count <= b + extra || v->i->operand_count > b + extra
	    + 2)
		return "the number of operands is wrong";
	if (extra != 0 && (cj_rule_type(v, b + 1) !=
	    cj_type_of(CJ_KIND_U32, 1) || w->selector >= w->selectors))
		return "the metadata are no u32, or there is no such selector";
	if (v->i->operand_count > b + extra + 1 &&
	    !cj_rule_is_bool(v, b + extra + 1))
		return "the condition is not bool";
	return cj_rule_is_index(v, b) ? NULL : "the offset of B is not an int";
}

const char *
cj_rule_async(const struct cj_rule_view *v)
{
	switch ((unsigned)v->i->op) {
	case CJ_OP_CP_ASYNC: return check_cp_async(v);
	case CJ_OP_MBARRIER_INIT: case CJ_OP_MBARRIER_ARRIVE:
	case CJ_OP_MBARRIER_EXPECT: case CJ_OP_MBARRIER_WAIT:
	case CJ_OP_MBARRIER_TEST: case CJ_OP_CP_ARRIVE:
	case CJ_OP_MBARRIER_BYTES:
		return check_mbarrier(v);
	case CJ_OP_MAP_ENCODE: return check_map_encode(v);
	case CJ_OP_TMA_LOAD: case CJ_OP_TMA_STORE: return check_tma(v);
	case CJ_OP_WGMMA: return check_wgmma(v);
	case CJ_OP_MAP_PREFETCH: return check_map_prefetch(v);
	case CJ_OP_TMA_PREFETCH: return check_tma_prefetch(v);
	case CJ_OP_MAP_AT: case CJ_OP_MAP_INIT: case CJ_OP_MAP_ACQUIRE:
		return check_map_at(v);
	case CJ_OP_MAP_REPLACE: return check_map_replace(v);
	case CJ_OP_MAP_PUBLISH: return check_map_publish(v);
	case CJ_OP_ADDRESS: return check_address(v);
	case CJ_OP_BULK_COPY: return check_bulk_copy(v);
	case CJ_OP_SEND: return check_send(v);
	default: return cj_rule_tmem(v);
	}
}
