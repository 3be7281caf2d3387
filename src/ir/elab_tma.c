/*
 * tma_load(t, layout), tma_store(t, layout): tensor maps of the host part
 * (elab_tma_copy.c copies boxes through them).
 *
 * The tile is what the layout of shared memory holds, a mode of it for each of
 * the tensor. The box begins along the tensor's mode of stride 1 and grows over
 * other modes as long as shared memory goes on without a gap; what is left are
 * several boxes, each at its own place of both sides. Where a copy is, its
 * view says: the coordinates that a cut carries.
 */
#include "elab_gather.h"
#include "elab_tma.h"

enum { MOST_STEP = 8 };
#define MOST_EXTENT	((int64_t)1 << 32)
#define MOST_STRIDE	((int64_t)1 << 40)	/* bytes */

/* ---- what the tensor must be --------------------------------------------- */

/* A number that is known and cannot be in a map; false: reported. */
/* Has a mode stride 1, as far as is known? */
static bool
may_have_neighbours(const struct cj_layout *l)
{
	uint32_t m;

	for (m = 0; m < cj_layout_rank(l); m++) {
		struct cj_int n = cj_tuple_get(l->stride, m)->value;

		if (!cj_is_known(n) || n.value == 1)
			return true;
	}
	return false;
}

static bool
check_number(struct cj_elab *el, struct cj_span span,
    const struct cj_tma_value *t, uint32_t mode, bool is_stride)
{
	const struct cj_layout *l = t->tensor->layout;
	struct cj_int n = cj_tuple_get(is_stride ? l->stride : l->shape,
	    mode)->value, extent = cj_tuple_get(l->shape, mode)->value;
	int64_t bytes = cj_kind_bits(t->tensor->element) / 8;
	const char *name = el->m->objects.at[t->tensor->object].name;

	if (!cj_is_known(n))
		return true;
	if (!is_stride && n.value > MOST_EXTENT)
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_SHAPE, span,
		    "extent %u of \"%s\" is %lld, a tensor map has up to "
		    "2^32", mode, name, (long long)n.value),
		    "Give the kernel a part of it, or two modes in place of "
		    "this one.");
	if (!is_stride)
		return n.value <= MOST_EXTENT;
	if (!may_have_neighbours(l))
		return cj_no_map(el, span, cj_printf(el->arena, "\"%s\" has "
		    "stride 1 in no mode, and a copy by TMA moves neighbours",
		    name));
	if (n.value == 1 || cj_is_value(extent, 1) || (n.value >= 0 &&
	    n.value < MOST_STRIDE / bytes && n.value * bytes % 16 == 0))
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_UNALIGNED_COPY, span, "stride %u of "
	    "\"%s\" is %lld elements, of a tensor map it is a multiple of 16 "
	    "bytes from 0 to 2^40", mode, name, (long long)n.value),
	    "Give the rows room up to a multiple of %lld elements, or copy by "
	    "cp_async.", (long long)(16 / bytes));
	return false;
}

static bool
check_modes(struct cj_elab *el, struct cj_span span,
    const struct cj_tma_value *t)
{
	const struct cj_layout *l = t->tensor->layout;
	uint32_t m;

	if (t->tensor->cut != NULL)
		return cj_no_map(el, span, "a tensor map is made of a tensor, "
		    "or of a slice of one, not of a part that was cut");
	if (t->rank > CJ_MAP_MODES || (t->kind == CJ_MAP_TILES &&
	    t->rank != cj_layout_rank(t->shared))) {
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_SHAPE, span,
		    "a tensor map has up to %d modes, the same as shared "
		    "memory; these are %u and %u", CJ_MAP_MODES, t->rank,
		    cj_layout_rank(t->shared)), t->rank > CJ_MAP_MODES ?
		    "Fix a mode, as in tma_load(x[i, _, _, _, _, _], layout), "
		    "or take modes that lie behind each other as one." :
		    "Give the layout a mode for each of the tensor, of extent "
		    "1 where it moves one element.");
		return false;
	}
	if (cj_kind_bits(t->tensor->element) < 8)
		return cj_no_map(el, span, cj_printf(el->arena, "elements of a "
		    "tensor map are whole bytes, these are %s",
		    cj_kind_text(t->tensor->element)));
	for (m = 0; m < t->rank; m++)
		if (!cj_is_leaf(cj_tuple_get(l->shape, m)) ||
		    cj_tuple_get(l->stride, m)->kind != CJ_TUPLE_INT)
			return cj_no_map(el, span, "a tensor map has single "
			    "modes, this tensor has nested ones");
	for (m = 0; m < t->rank; m++)
		if (!check_number(el, span, t, m, false) ||
		    !check_number(el, span, t, m, true))
			return false;
	return true;
}

bool
cj_tma_check_tensor(struct cj_elab *el, struct cj_span span,
    const struct cj_tma_value *t)
{
	const struct cj_object *o = &el->m->objects.at[t->tensor->object];

	if (!cj_elab_not_gathered(el, span, t->tensor,
	    "TMA moves boxes of neighbours", NULL))
		return false;
	if (o->kind != CJ_OBJECT_TENSOR) {
		cj_elab_error(el, CJ_DIAG_UNSUPPORTED, span, "tensor maps of "
		    "anything but tensor arguments are not supported by this "
		    "version");
		return false;
	}
	if (!check_modes(el, span, t))
		return false;
	if (o->align >= 16 && cj_elab_fills(el, t->tensor->offset,
	    cj_kind_bits(t->tensor->element) / 8, 16))
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_UNALIGNED_COPY, span,
	    "TMA needs 16-byte alignment, \"%s\" has %u", o->name, o->align),
	    "State it in the contract: align(16).");
	return false;
}

cj_ref
cj_tma_encode(struct cj_elab *el, const struct cj_tma_value *t)
{
	const struct cj_layout *l = t->tensor->layout;
	cj_ref refs[1 + 2 * CJ_MAP_MODES];
	uint32_t n;

	refs[0] = cj_elab_ref_int(el, t->tensor->offset);
	for (n = 0; n < t->rank; n++)
		refs[1 + n] = cj_elab_ref_int(el, cj_tuple_get(l->shape,
		    t->mode[n])->value);
	for (n = 0; n < t->rank; n++)
		refs[1 + t->rank + n] = cj_elab_ref_int(el,
		    cj_tuple_get(l->stride, t->mode[n])->value);
	return cj_emit(&el->em->b, CJ_OP_MAP_ENCODE,
	    cj_type_of(CJ_KIND_MAP, 1), t->record, refs, 1 + 2 * t->rank);
}

/* step = (1, 2): of the tensor every so-manieth element along a mode. */
static bool
find_steps(struct cj_elab *el, struct cj_args *args, struct cj_tma_value *t)
{
	const struct cj_value *v = cj_arg_named(el, args, "step");
	const struct cj_tuple *steps;
	uint32_t m;

	for (m = 0; m < t->rank; m++)
		t->step[m] = 1;
	if (v == NULL)
		return true;
	steps = cj_value_to_tuple(el, args->span, v);
	if (steps == NULL)
		return false;
	if (cj_tuple_rank(steps) != t->rank || !cj_tuple_is_known(steps))
		return cj_no_map(el, args->span, "\"step\" has a known "
		    "number for each mode of the tensor");
	for (m = 0; m < t->rank; m++) {
		t->step[m] = cj_tuple_product(&el->al,
		    cj_tuple_get(steps, m)).value;
		if (t->step[m] < 1 || t->step[m] > MOST_STEP)
			return cj_no_map(el, args->span,
			    cj_printf(el->arena, "a step is 1 to %d, not %lld",
			    MOST_STEP, (long long)t->step[m]));
		if (t->step[m] != 1 && cj_is_value(cj_tuple_get(
		    t->tensor->layout->stride, m)->value, 1))
			return cj_no_map(el, args->span, "along the mode "
			    "of stride 1 all neighbours are copied: its step "
			    "is 1");
	}
	return true;
}

static bool
find_promotion(struct cj_elab *el, struct cj_args *args, struct cj_map *map)
{
	const struct cj_value *v = cj_arg_named(el, args, "promote");
	int64_t bytes = CJ_MAP_PROMOTE;

	if (v != NULL && !cj_value_to_known(el, args->span, v, "the bytes that "
	    "L2 fetches", &bytes))
		return false;
	map->promote = (uint32_t)bytes;
	if (bytes == 0 || bytes == 64 || bytes == 128 || bytes == 256)
		return true;
	cj_elab_error(el, CJ_DIAG_WRONG_ARGUMENTS, args->span,
	    "\"promote\" is 0, 64, 128 or 256 bytes");
	return false;
}

/* What lies outside, as a guard or an argument says it. */
enum outside { ZEROS, NANS, OTHERS };

static enum outside
outside_of(struct cj_elab *el, struct cj_span span, enum cj_kind k,
    const struct cj_value *v)
{
	struct cj_value fill;

	if (v->kind == CJ_VALUE_REAL && !cj_kind_is_float(k))
		return OTHERS;
	fill = cj_elab_coerce(el, span, k, *v);
	if ((fill.kind == CJ_VALUE_SCALAR && fill.bits == 0) ||
	    (fill.kind == CJ_VALUE_INT && cj_is_value(fill.i, 0)))
		return ZEROS;
	return fill.kind == CJ_VALUE_SCALAR && cj_num_apply(CJ_OP_NE, k,
	    fill.bits, fill.bits, 0) ? NANS : OTHERS;
}

bool
cj_tma_fills(struct cj_elab *el, struct cj_span span,
    const struct cj_tma_value *t, const struct cj_value *fill)
{
	bool with_nan = !t->stores && el->m->maps.at[t->record].fills_nan;
	uint32_t errors = el->errors;

	if (outside_of(el, span, t->tensor->element, fill) == (with_nan ?
	    NANS : ZEROS))
		return true;
	if (el->errors == errors)
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_PLACE, span, "TMA "
		    "fills with %s", with_nan ? "NaN here, as its map says" :
		    "0 alone"), with_nan ? "Guard with fill = nan, or make "
		    "another map." : "Guard with fill = 0, make the map with "
		    "fill = nan, or copy by another atom.");
	return false;
}

/* fill = 0 or nan: what a load brings from outside of the tensor. */
static bool
find_fill(struct cj_elab *el, struct cj_args *args,
    const struct cj_tma_value *t, struct cj_map *map)
{
	const struct cj_value *v = cj_arg_named(el, args, "fill");
	enum cj_kind k = t->tensor->element;
	uint32_t errors = el->errors;
	enum outside o;

	if (v == NULL)
		return true;
	o = outside_of(el, args->span, k, v);
	map->fills_nan = o == NANS;
	if (o == ZEROS || (o == NANS && cj_map_can_fill_nan(k)))
		return true;
	if (el->errors == errors)
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_ARGUMENTS, args->span,
		    "outside of a tensor of %s a load finds 0%s",
		    cj_kind_text(k), cj_map_can_fill_nan(k) ? " or NaN" : ""),
		    "Say fill = 0%s; threads write other numbers once the "
		    "copy is there.", cj_map_can_fill_nan(k) ? " or fill = nan"
		    : "");
	return false;
}

bool
cj_tma_fetching(struct cj_elab *el, struct cj_args *args,
    const struct cj_tma_value *t, struct cj_map *map)
{
	return find_promotion(el, args, map) && find_fill(el, args, t, map);
}

/* multicast = (x, y): so many blocks of the cluster along each of its modes
 * have the same tile. */
static bool
find_sharers(struct cj_elab *el, struct cj_args *args, struct cj_tma_value *t)
{
	const struct cj_value *v = cj_arg_named(el, args, "multicast");
	uint32_t m;

	t->along[0] = t->along[1] = 1;
	if (v == NULL)
		return true;
	if (v->kind != CJ_VALUE_TUPLE || v->tuple->count != 2) {
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_ARGUMENTS,
		    args->span, "\"multicast\" says how many blocks along each "
		    "of two modes of the cluster share a tile"),
		    "tma_load(A, layout, multicast = (1, 2))");
		return false;
	}
	for (m = 0; m < 2; m++)
		if (!cj_value_to_known(el, args->span, &v->tuple->at[m],
		    "a number of blocks", &t->along[m]) ||
		    t->along[m] < 1 || t->along[m] > 16)
			return false;
	return true;
}

static bool
make_map(struct cj_elab *el, struct cj_args *args, struct cj_tma_value *t)
{
	struct cj_span span = args->span;
	struct cj_map map;
	uint32_t m;

	memset(&map, 0, sizeof map);
	for (m = 0; m < t->rank; m++) {
		struct cj_int n = cj_tuple_product(&el->al,
		    cj_tuple_get(t->shared->shape, m));

		if (!cj_is_known(n))
			return cj_no_map(el, span,
			    "the tile has known extents");
		t->extent[m] = n.value;
	}
	map.object = t->tensor->object;
	map.rank = t->rank;
	map.compares = t->reduces && (t->how == CJ_ATOMIC_MIN ||
	    t->how == CJ_ATOMIC_MAX);
	if (!cj_swizzle_of_map(t->shared, t->tensor->element, &map.swizzle))
		return cj_refuse_layout(el, span, "TMA exchanges units of 16 "
		    "bytes alone, in rows of 32, 64 or 128");
	if (!find_steps(el, args, t) || !cj_tma_fetching(el, args, t, &map) ||
	    !find_sharers(el, args, t) ||
	    !cj_tma_find_boxes(el, args, t, &map))
		return false;
	for (m = 0; m < CJ_MAP_MODES; m++)
		map.step[m] = m < t->rank ? (int32_t)t->step[t->mode[m]] : 1;
	t->record = cj_module_map(el->m, &map);
	t->map = cj_value_regs(el, CJ_KIND_MAP, NULL, cj_tma_encode(el, t));
	return true;
}

struct cj_value
cj_tma_copy_value(struct cj_elab *el, const struct cj_tma_value *t,
    const char *name)
{
	struct cj_atom_value atom = { .use = CJ_ATOM_TMA };
	struct cj_copy_value *c = CJ_NEW(el->arena, struct cj_copy_value);

	atom.text = cj_printf(el->arena, "%s(...)", name);
	atom.element = t->tensor->element;
	c->atom = cj_memdup(el->arena, &atom, sizeof atom);
	c->bits = cj_kind_bits(atom.element);
	c->tma = t;
	c->text = atom.text;
	return (struct cj_value){ .kind = CJ_VALUE_COPY, .copy = c };
}

struct cj_tma_value *
cj_tma_begin(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	struct cj_tma_value *t = CJ_NEW(el->arena, struct cj_tma_value);

	t->shared = cj_arg_layout(el, args, 1);
	if (t->shared == NULL || args->at[0].kind == CJ_VALUE_ERROR)
		return NULL;
	if (args->at[0].kind != CJ_VALUE_TENSOR) {
		cj_elab_error(el, CJ_DIAG_WRONG_KIND, cj_arg_span(args, 0),
		    "%s takes a tensor, this is %s", row->name,
		    cj_value_what(el, &args->at[0]));
		return NULL;
	}
	if (el->target != NULL && el->target->number < 90) {
		cj_elab_error(el, CJ_DIAG_NO_ATOM, args->span,
		    "%s needs the target sm_90 or later, this is %s",
		    row->name, el->target->name);
		return NULL;
	}
	t->tensor = args->at[0].tensor;
	t->rank = cj_layout_rank(t->tensor->layout);
	return t;
}

bool
cj_tma_has_whole_units(struct cj_elab *el, const struct cj_tma_value *t,
    struct cj_int extent)
{
	return cj_elab_fills(el, extent, cj_kind_bits(t->tensor->element) / 8,
	    16);
}

bool
cj_tma_need_whole_units(struct cj_elab *el, struct cj_span span,
    const struct cj_tma_value *t)
{
	struct cj_require r = { .parameter = el->m->objects.at[
	    t->tensor->object].name, .code = CJ_DIAG_CONTRACT,
	    .names = "the extent" };
	struct cj_int extent = cj_tuple_get(t->tensor->layout->shape,
	    t->mode[0])->value, rest;
	int64_t unit = 128 / cj_kind_bits(t->tensor->element);
	cj_ref refs[2];

	if (cj_tma_has_whole_units(el, t, extent))
		return true;
	r.need = cj_printf(el->m->arena, "an extent of whole units of 16 bytes "
	    "along its mode of stride 1, multiples of %lld elements",
	    (long long)unit);
	if (cj_is_known(extent))
		return cj_no_map(el, span, cj_printf(el->arena, "\"%s\" needs "
		    "%s", r.parameter, r.need));
	rest = cj_int_mod(&el->sym, extent, cj_known(unit));
	refs[1] = cj_elab_ref_int(el, extent);
	refs[0] = cj_emit2(&el->em->b, CJ_OP_EQ, cj_type_of(CJ_KIND_BOOL, 1),
	    cj_elab_ref_int(el, rest), cj_emit_index(&el->em->b, 0));
	*cj_push(el->m->arena, &el->m->requires) = r;
	cj_emit(&el->em->b, CJ_OP_REQUIRE, 0, el->m->requires.len - 1, refs,
	    2);
	return true;
}

/* reduce = .add of a store; false: reported. */
static bool
takes_reduction(struct cj_elab *el, struct cj_args *args,
    struct cj_tma_value *t)
{
	return cj_arg_reduction(el, args, &t->reduces, &t->how) &&
	    (!t->reduces || cj_elab_can_combine(el, args->span,
	    t->tensor->element, t->how, false));
}

void
cj_tma_mark(struct cj_elab *el, const struct cj_tma_value *t)
{
	struct cj_object *o = &el->m->objects.at[t->tensor->object];

	o->writes |= t->stores;
	o->reads |= !t->stores || t->reduces;
}

static struct cj_value
make(struct cj_elab *el, struct cj_args *args, const struct cj_builtin *row,
    bool stores)
{
	struct cj_tma_value *t = cj_tma_begin(el, args, row);

	if (t == NULL)
		return cj_value_error();
	t->stores = stores;
	if (!cj_arg_evict(el, args, &t->evict) || (stores &&
	    !takes_reduction(el, args, t)))
		return cj_value_error();
	if (!cj_tma_check_tensor(el, args->span, t) ||
	    !make_map(el, args, t) || (t->reduces &&
	    !cj_tma_need_whole_units(el, args->span, t)))
		return cj_value_error();
	cj_tma_mark(el, t);
	return cj_tma_copy_value(el, t, row->name);
}

struct cj_value
cj_builtin_tma_load(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	return make(el, args, row, false);
}

struct cj_value
cj_builtin_tma_store(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	return make(el, args, row, true);
}

/* tma_prefetch(load): the map comes to its cache; tma_prefetch(load, tile): the
 * tile to L2. */
struct cj_value
cj_builtin_tma_prefetch(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_value *v = &args->at[0];
	cj_ref map;

	if (v->kind == CJ_VALUE_ERROR)
		return *v;
	if (v->kind != CJ_VALUE_COPY || v->copy->tma == NULL)
		return cj_elab_error(el, CJ_DIAG_WRONG_KIND, args->span,
		    "%s takes what tma_load() or tma_store() made, this is %s",
		    row->name, cj_value_what(el, v));
	if (args->count == 2)
		return cj_arg_tma_alone(el, args) ? cj_tma_ask(el, args,
		    v->copy->tma) : cj_value_error();
	if (args->named_count > 0) {
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_ARGUMENTS, args->span,
		    "a map alone comes to its cache, with no place"),
		    "Name what comes to L2: tma_prefetch(load, tile).");
		return cj_value_error();
	}
	map = cj_elab_ref(el, &v->copy->tma->map, CJ_KIND_VOID);
	cj_emit(&el->em->b, CJ_OP_MAP_PREFETCH, 0, 0, &map, 1);
	return cj_value_none();
}

/* ---- numbers of a copy --------------------------------------------------- */

bool
cj_tma_numbers(struct cj_elab *el, struct cj_args *args, const char *name,
    uint32_t count, const char *help, struct cj_int *out)
{
	const struct cj_value *v = cj_arg_named(el, args, name);
	const struct cj_tuple *t = v == NULL ? NULL :
	    cj_value_to_tuple(el, args->span, v);
	bool ok = t != NULL && cj_tuple_rank(t) == count;
	uint32_t i;

	for (i = 0; ok && i < count; i++) {
		const struct cj_tuple *n = t->kind == CJ_TUPLE_INT ? t :
		    cj_tuple_get(t, i);

		ok = n->kind == CJ_TUPLE_INT;
		out[count - 1 - i] = n->value;
	}
	if (!ok && (v == NULL || t != NULL))
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_ARGUMENTS, args->span,
		    "this copy has %u number%s of \"%s\"", count,
		    count == 1 ? "" : "s", name), "%s", help);
	return ok;
}

enum cj_map_kind
cj_tma_kind(const struct cj_tma_value *t)
{
	return t->kind;
}
