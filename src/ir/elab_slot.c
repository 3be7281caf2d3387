/*
 * `var`: registers that are read and written at known positions.
 *
 * A place is a slot object and a layout from coordinates to registers. At
 * compile time alone (no function is being emitted) a `var` is a cell.
 */
#include "elab_origin.h"
#include "elab_pass.h"

/* What a `var` is of that begins with v: a real number alone gives f32. */
static enum cj_kind
kind_for(const struct cj_value *v)
{
	enum cj_kind k = cj_value_kind_of(v);

	return k == CJ_KIND_VOID ? CJ_KIND_F32 : k;
}

static struct cj_value
cell(struct cj_elab *el, struct cj_span span, cj_name name, struct cj_value v)
{
	struct cj_slot *s = CJ_NEW(el->arena, struct cj_slot);

	s->element = kind_for(&v);
	s->cell = CJ_NEW(el->arena, struct cj_value);
	*s->cell = cj_elab_coerce(el, span, s->element, v);
	s->is_scalar = true;
	s->name = name;
	s->span = span;
	return (struct cj_value){ .kind = CJ_VALUE_PLACE, .slot = s };
}

static void
set_registers(struct cj_elab *el, uint32_t object, int64_t first, cj_ref r)
{
	struct cj_access a = { .object = object,
	    .position = (uint32_t)first };

	assert(first >= 0 && r != 0);
	cj_emit(&el->em->b, CJ_OP_SLOT_SET, 0, cj_module_access(el->m, &a),
	    &r, 1);
}

static struct cj_value
number_slot(struct cj_elab *el, struct cj_span span, cj_name name,
    struct cj_value v, cj_region home)
{
	struct cj_slot *s = CJ_NEW(el->arena, struct cj_slot);
	enum cj_kind k = kind_for(&v);
	const struct cj_tuple *shape = cj_value_shape(&v);
	struct cj_object o = { .kind = CJ_OBJECT_SLOT, .align = 1,
	    .reads = true, .writes = true, .region = home,
	    .is_bare = v.kind == CJ_VALUE_UNWRITTEN };

	o.element = k;
	o.extent = cj_shape_count(shape);
	o.name = name == 0 ? "var" : cj_elab_name(el, name);
	o.place = el->em->b.place;
	s->object = cj_module_object(el->m, &o);
	s->element = k;
	s->is_scalar = shape == NULL;
	s->layout = cj_layout_make(&el->al, shape != NULL ? shape :
	    cj_tuple_known(&el->al, 1), NULL);
	s->name = name;
	s->span = span;
	if (v.kind != CJ_VALUE_UNWRITTEN)
		set_registers(el, s->object, 0, cj_elab_ref(el, &v, k));
	return (struct cj_value){ .kind = CJ_VALUE_PLACE,
	    .level = el->em->level, .fragment = v.fragment, .slot = s };
}

static struct cj_value
tuple_slot(struct cj_elab *el, struct cj_span span, cj_name name,
    const struct cj_tuple_value *t, cj_region home)
{
	struct cj_value *at = CJ_NEWS(el->arena, struct cj_value,
	    t->count + 1);
	uint32_t i;

	for (i = 0; i < t->count; i++) {
		at[i] = cj_elab_slot_in(el, span, name, t->at[i], home);
		if (at[i].kind == CJ_VALUE_ERROR)
			return at[i];
	}
	return cj_value_tuple(el, at, t->names, t->count);
}

static struct cj_value
no_variable(struct cj_elab *el, struct cj_span span, const struct cj_value *v)
{
	struct cj_diag *d = cj_elab_report(el, CJ_DIAG_WRONG_KIND, span,
	    "a variable holds numbers, this is %s", cj_value_what(el, v));

	if (v->kind == CJ_VALUE_TENSOR)
		cj_help(d, "Its elements are memory: say \"let\", and assign "
		    "to them.");
	return cj_value_error();
}

struct cj_value
cj_elab_slot_in(struct cj_elab *el, struct cj_span span, cj_name name,
    struct cj_value v, cj_region home)
{
	/* the host part reads no elements: it is told what a variable is */
	if (v.kind == CJ_VALUE_TENSOR && el->time == CJ_TIME_HOST)
		return no_variable(el, span, &v);
	v = cj_elab_read(el, span, v);
	if (v.kind == CJ_VALUE_TUPLE)
		return tuple_slot(el, span, name, v.tuple, home);
	if (el->em == NULL && cj_value_is_number(&v))
		return cell(el, span, name, v);
	if (cj_value_is_number(&v) || v.kind == CJ_VALUE_UNWRITTEN)
		return number_slot(el, span, name, v, home);
	return v.kind == CJ_VALUE_ERROR ? v : no_variable(el, span, &v);
}

struct cj_value
cj_elab_slot(struct cj_elab *el, struct cj_span span, cj_name name,
    struct cj_value v)
{
	return cj_elab_slot_in(el, span, name, v,
	    el->em == NULL ? 0 : el->em->b.region);
}

/* ---- positions ----------------------------------------------------------- */

/* Register of each element, in order of the coordinates; returns how many. */
static uint32_t
positions(struct cj_elab *el, const struct cj_slot *s, uint32_t **out)
{
	uint32_t count = cj_shape_count(s->layout->shape), i;
	uint32_t *at = CJ_NEWS(el->arena, uint32_t, count + 1);
	int64_t *offset = CJ_NEWS(el->arena, int64_t, count + 1);
	bool is_known = cj_layout_list(&el->al, s->layout, offset, count);

	assert(s->cell == NULL && s->object != 0 && is_known);
	(void)is_known;
	for (i = 0; i < count; i++)
		at[i] = (uint32_t)(s->first + offset[i]);
	*out = at;
	return count;
}

static bool
is_run(const uint32_t *at, uint32_t count)
{
	uint32_t i;

	for (i = 1; i < count; i++)
		if (at[i] != at[0] + i)
			return false;
	return true;
}

static cj_ref
get_registers(struct cj_elab *el, const struct cj_value *place,
    uint32_t first, uint32_t count)
{
	struct cj_access a = { .object = place->slot->object,
	    .position = first };

	assert(count > 0 && place->level <= el->em->level);
	if (place->level < el->em->level)
		return cj_elab_pass_slot(el, place->slot->object, first,
		    count);
	return cj_emit0(&el->em->b, CJ_OP_SLOT_GET,
	    cj_type_of(place->slot->element, count),
	    cj_module_access(el->m, &a));
}

static cj_ref
gather_registers(struct cj_elab *el, const struct cj_value *place,
    const uint32_t *at, uint32_t count)
{
	uint32_t lo = at[0], hi = at[0], i, *from;
	cj_ref whole;

	assert(count > 0);
	for (i = 0; i < count; i++) {
		lo = at[i] < lo ? at[i] : lo;
		hi = at[i] > hi ? at[i] : hi;
	}
	whole = get_registers(el, place, lo, hi - lo + 1);
	from = CJ_NEWS(el->arena, uint32_t, count);
	for (i = 0; i < count; i++)
		from[i] = at[i] - lo;
	return cj_elab_permute(el, whole, from, count);
}

struct cj_value
cj_slot_load(struct cj_elab *el, struct cj_span span,
    const struct cj_value *place)
{
	const struct cj_slot *s = place->slot;
	uint32_t *at, count;
	struct cj_value v;
	cj_ref r;

	if (s->cell != NULL)
		return *s->cell;
	if (el->em == NULL)
		return cj_elab_error(el, CJ_DIAG_NOT_KNOWN, span,
		    "the variable \"%s\" is known at run time only",
		    cj_elab_name(el, s->name));
	count = positions(el, s, &at);
	r = is_run(at, count) ? get_registers(el, place, at[0], count) :
	    gather_registers(el, place, at, count);
	v = cj_value_regs(el, s->element, s->is_scalar ? NULL :
	    s->layout->shape, r);
	v.fragment = place->fragment;
	if (v.kind == CJ_VALUE_INT)
		cj_elab_symbol_name(el, v.i, s->name);
	return v;
}

static bool
is_writable(struct cj_elab *el, struct cj_span span,
    const struct cj_value *place)
{
	struct cj_diag *d;

	if (el->em != NULL && place->level == el->em->level)
		return true;
	d = cj_elab_report(el, CJ_DIAG_WRONG_PLACE, span,
	    "\"%s\" belongs to the host part, device code cannot assign to it",
	    cj_elab_name(el, place->slot->name));
	cj_note(d, place->slot->span, "it is declared here");
	return false;
}

/* A `var` that begins with 0 and is to hold 1.5 should begin with 0.0. */
static bool
is_real_for_int(struct cj_elab *el, struct cj_span span,
    const struct cj_slot *s, const struct cj_value *v)
{
	struct cj_diag *d;

	if (s->element != CJ_KIND_INDEX || s->name == 0 ||
	    !(v->kind == CJ_VALUE_REAL || (cj_value_is_number(v) &&
	    cj_kind_is_float(cj_value_kind_of(v)))))
		return false;
	d = cj_elab_report(el, CJ_DIAG_MIXED_TYPES, span,
	    "\"%s\" is an int, this is %s", cj_elab_name(el, s->name),
	    cj_value_what(el, v));
	cj_note(d, s->span, "it is declared here: \"var %s = 0.0\" is an f32",
	    cj_elab_name(el, s->name));
	cj_help(d, "Convert it: int(...), or declare a real number.");
	return true;
}

void
cj_slot_store(struct cj_elab *el, struct cj_span span,
    const struct cj_value *place, struct cj_value v)
{
	const struct cj_slot *s = place->slot;
	uint32_t *at, count, i;
	cj_ref r;

	if (s->cell != NULL) {
		if (is_real_for_int(el, span, s, &v))
			return;
		v = cj_elab_coerce(el, span, s->element, v);
		if (v.kind != CJ_VALUE_ERROR)
			*s->cell = v;
		return;
	}
	if (!is_writable(el, span, place) || is_real_for_int(el, span, s, &v))
		return;
	v = cj_elab_coerce(el, span, s->element, v);
	if (v.kind == CJ_VALUE_ERROR)
		return;
	if (s->is_scalar && cj_value_shape(&v) != NULL) {
		cj_elab_error(el, CJ_DIAG_WRONG_SHAPE, span,
		    "a single number is assigned to, this is %s",
		    cj_value_what(el, &v));
		return;
	}
	v = cj_elab_broadcast(el, span, v, s->is_scalar ? NULL :
	    s->layout->shape);
	if (v.kind == CJ_VALUE_ERROR)
		return;
	r = cj_elab_ref(el, &v, s->element);
	count = positions(el, s, &at);
	if (is_run(at, count)) {
		set_registers(el, s->object, at[0], r);
		return;
	}
	for (i = 0; i < count; i++)
		set_registers(el, s->object, at[i],
		    cj_elab_permute(el, r, &i, 1));
}

/* ---- parts --------------------------------------------------------------- */

struct cj_value
cj_slot_index(struct cj_elab *el, struct cj_span span,
    const struct cj_value *place, const struct cj_tuple *coord)
{
	const struct cj_slot *s = place->slot;
	struct cj_slot *part = CJ_NEW(el->arena, struct cj_slot);
	struct cj_value v = *place;
	const struct cj_layout *rest;
	const struct cj_tuple *offset;

	if (s->cell != NULL)
		return cj_elab_error(el, CJ_DIAG_WRONG_KIND, span,
		    "a number has no elements");
	if (!cj_elab_inside(el, span, coord, s->layout->shape))
		return cj_value_error();
	if (!cj_layout_slice(&el->al, s->layout, coord, &rest, &offset))
		return cj_elab_refused(el, span, "index");
	if (offset->kind != CJ_TUPLE_INT || !cj_is_known(offset->value))
		return cj_elab_dynamic_register(el, span, coord);
	*part = *s;
	part->first += offset->value.value;
	part->layout = rest;
	part->is_scalar = !cj_is_leaf(rest->shape) && rest->shape->rank == 0;
	if (part->is_scalar)
		part->layout = cj_layout_make(&el->al,
		    cj_tuple_known(&el->al, 1), NULL);
	v.slot = part;
	v.fragment = NULL;
	return v;
}
