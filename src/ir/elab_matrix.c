/*
 * Operands that wgmma and tcgen05 read in shared memory: whole tiles.
 *
 * The instructions know one form of operands: tiles of 8 rows, rows as wide as
 * the swizzle, and two distances in bytes. They are read off the layout, mode
 * by mode, and each step of the layout is compared with them.
 */
#include "elab_gather.h"
#include "elab_tiled.h"

bool
cj_is_shared(struct cj_elab *el, const struct cj_value *v)
{
	return v->kind == CJ_VALUE_TENSOR && el->m->objects.at[
	    v->tensor->object].kind == CJ_OBJECT_SHARED;
}

static bool
refuse_for(struct cj_elab *el, const struct cj_smem_operand *o,
    const char *what, const char *help)
{
	cj_help(cj_elab_report(el, CJ_DIAG_WRONG_SHAPE, o->span,
	    "%s cannot read this operand: %s", o->who, what), "%s", help);
	return false;
}

static bool
refuse(struct cj_elab *el, const struct cj_smem_operand *o, const char *what)
{
	return refuse_for(el, o, what,
	    "Make the layout with smem_layout(T, (rows, K)).");
}

static bool
refuse_kind(struct cj_elab *el, const struct cj_smem_operand *o,
    enum cj_kind kind, enum cj_kind found)
{
	return refuse_for(el, o, cj_printf(el->arena, "it takes %s, these are "
	    "%s", cj_kind_text(kind), cj_kind_text(found)), strcmp(o->who,
	    "wgmma") == 0 ? cj_wgmma_products(el, found, found, false) :
	    "Say the operand's type in the atom as well.");
}

/* Bytes of step i of mode 0 (rows) or 1 (K). */
static int64_t
bytes_at(struct cj_elab *el, const struct cj_smem_operand *o, uint32_t mode,
    int64_t i)
{
	return cj_mode_step(el, o->plain, mode, i) *
	    (cj_kind_bits(o->kind) / 8);
}

/* What the fields say of step i of the mode that goes along rows of shared
 * memory, and of the other one; within `count` rows and one product's K. */
static int64_t
fast_bytes(const struct cj_smem_operand *o, int64_t i)
{
	int64_t width = (int64_t)16 << o->desc.swizzle;
	int64_t byte = i * (cj_kind_bits(o->kind) / 8);

	if (o->desc.by_column)
		return byte / width * (o->desc.swizzle == CJ_MAP_PLAIN ?
		    o->desc.stride : o->desc.leading) + byte % width;
	return o->desc.swizzle == CJ_MAP_PLAIN ?
	    byte / 16 * o->desc.leading + byte % 16 : byte;
}

static int64_t
slow_bytes(const struct cj_smem_operand *o, int64_t i)
{
	int64_t width = (int64_t)16 << o->desc.swizzle;

	return i / 8 * (o->desc.by_column && o->desc.swizzle == CJ_MAP_PLAIN ?
	    o->desc.leading : o->desc.stride) + i % 8 * width;
}

/* The distances, from the first steps that show them. */
static void
read_fields(struct cj_elab *el, struct cj_smem_operand *o, int64_t rows,
    int64_t k)
{
	bool plain = o->desc.swizzle == CJ_MAP_PLAIN;
	int64_t bytes = cj_kind_bits(o->kind) / 8;
	int64_t unit = ((int64_t)16 << o->desc.swizzle) / bytes;
	int64_t fast = 16, slow = 16;

	if (o->desc.by_column) {
		if (rows > unit)
			fast = bytes_at(el, o, 0, unit);
		if (k > 8)
			slow = bytes_at(el, o, 1, 8);
		o->desc.leading = (uint32_t)(plain ? slow : fast);
		o->desc.stride = (uint32_t)(plain ? fast : slow);
		return;
	}
	if (rows > 8)
		slow = bytes_at(el, o, 0, 8);
	if (plain && k > unit)
		fast = bytes_at(el, o, 1, unit);
	o->desc.leading = (uint32_t)fast;
	o->desc.stride = (uint32_t)slow;
}

/* Every tile of `rows` and every step of k lies as the fields say. */
static bool
fields_hold(struct cj_elab *el, const struct cj_smem_operand *o, int64_t rows,
    int64_t k)
{
	int64_t i, from;

	for (i = 0; i < o->rows; i++) {
		from = i - i % rows;
		if (bytes_at(el, o, 0, i) - bytes_at(el, o, 0, from) !=
		    (o->desc.by_column ? fast_bytes : slow_bytes)(o,
		    i % rows))
			return false;
	}
	for (i = 0; i < o->depth; i++) {
		from = i - i % k;
		if (bytes_at(el, o, 1, i) - bytes_at(el, o, 1, from) !=
		    (o->desc.by_column ? slow_bytes : fast_bytes)(o, i % k))
			return false;
	}
	return true;
}

bool
cj_smem_operand_make(struct cj_elab *el, struct cj_span span,
    const struct cj_value *v, const char *who, enum cj_kind kind,
    int64_t rows, int64_t k, struct cj_smem_operand *o)
{
	struct cj_access access = { .align = 128 };
	const struct cj_tensor *t = v->tensor;
	struct cj_int n;
	uint32_t m;

	if (!cj_elab_not_gathered(el, span, t,
	    "an operand in shared memory is one matrix", NULL))
		return false;
	o->who = who;
	o->span = span;
	if (t->element != kind)
		return refuse_kind(el, o, kind, t->element);
	if (cj_layout_rank(t->layout) != 2)
		return refuse(el, o, "it is no matrix of two modes");
	o->kind = kind;
	o->object = t->object;
	o->plain = cj_unswizzled(el, t->layout);
	for (m = 0; m < 2; m++) {
		n = cj_tuple_product(&el->al, cj_tuple_get(t->layout->shape,
		    m));
		if (!cj_is_known(n))
			return refuse(el, o, "its extents are not known");
		*(m == 0 ? &o->rows : &o->depth) = n.value;
	}
	if (o->rows % rows != 0 || o->depth % k != 0)
		return refuse_for(el, o, cj_printf(el->arena, "%lld x %lld "
		    "are no multiples of %lld x %lld", (long long)o->rows,
		    (long long)o->depth, (long long)rows, (long long)k),
		    "The tile has whole instructions: make it larger, and "
		    "let zeros be where the tensor ends.");
	if (!cj_swizzle_of_map(t->layout, kind, &o->desc.swizzle))
		return refuse(el, o, "its swizzle is not one of 16 bytes "
		    "in rows of 32, 64 or 128");
	o->desc.by_column = bytes_at(el, o, 1, 1) !=
	    cj_kind_bits(kind) / 8;
	if (o->desc.by_column && cj_kind_bits(kind) != 16)
		return refuse_for(el, o, "elements that are not of 16 bits "
		    "have stride 1 along K", "Make the layout with "
		    "smem_layout(T, (rows, K)), or take f16 or bf16, which go "
		    "along either mode.");
	read_fields(el, o, rows, k);
	if (!fields_hold(el, o, rows, k))
		return refuse(el, o, "its layout is not tiled by the atom "
		    "of a swizzle");
	if (!cj_swizzled_place(el, span, t, &o->at))
		return false;
	if (!cj_elab_stage_allows(el, span, t, false))
		return false;
	cj_elab_touch(el, span, t, false, who);
	access.object = t->object;
	el->m->objects.at[t->object].reads = true;
	o->access = cj_module_access(el->m, &access);
	return true;
}

cj_ref
cj_smem_operand_offset(struct cj_elab *el,
    const struct cj_smem_operand *o, struct cj_int row, int64_t row_known,
    int64_t k)
{
	struct cj_int at = cj_int_add(&el->sym, o->at, row);

	return cj_elab_ref_int(el, cj_int_add(&el->sym, at, cj_known(
	    cj_mode_step(el, o->plain, 0, row_known) +
	    cj_mode_step(el, o->plain, 1, k))));
}
