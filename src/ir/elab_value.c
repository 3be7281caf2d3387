/*
 * Values: making, comparing, and going to and from layout/'s tuples.
 */
#include "elab_gather.h"
#include "elab_tiled.h"
#include "elab_origin.h"

struct cj_value
cj_value_error(void)
{
	return (struct cj_value){ .kind = CJ_VALUE_ERROR };
}

struct cj_value
cj_value_none(void)
{
	return (struct cj_value){ .kind = CJ_VALUE_NONE };
}

struct cj_value
cj_value_int(struct cj_int i)
{
	return (struct cj_value){ .kind = CJ_VALUE_INT, .i = i };
}

struct cj_value
cj_value_known(int64_t i)
{
	return cj_value_int(cj_known(i));
}

struct cj_value
cj_value_real(double x)
{
	return (struct cj_value){ .kind = CJ_VALUE_REAL, .real = x };
}

struct cj_value
cj_value_bool(bool truth)
{
	return (struct cj_value){ .kind = CJ_VALUE_BOOL, .truth = truth };
}

struct cj_value
cj_value_scalar(enum cj_kind k, uint64_t bits)
{
	if (k == CJ_KIND_INDEX)
		return cj_value_known((int64_t)bits);
	if (k == CJ_KIND_BOOL)
		return cj_value_bool(bits != 0);
	return (struct cj_value){ .kind = CJ_VALUE_SCALAR,
	    .scalar = (uint8_t)k, .bits = bits };
}

struct cj_value
cj_value_layout(const struct cj_layout *l)
{
	assert(l != NULL);
	return (struct cj_value){ .kind = CJ_VALUE_LAYOUT, .layout = l };
}

struct cj_value
cj_value_type(struct cj_elab *el, enum cj_kind k)
{
	struct cj_type_value *t = CJ_NEW(el->arena, struct cj_type_value);

	t->scalar = k;
	return (struct cj_value){ .kind = CJ_VALUE_TYPE, .type = t };
}

struct cj_value
cj_value_tuple(struct cj_elab *el, const struct cj_value *at,
    const cj_name *names, uint32_t count)
{
	struct cj_tuple_value *t = CJ_NEW(el->arena, struct cj_tuple_value);

	assert(count == 0 || at != NULL);
	t->count = count;
	t->at = count == 0 ? NULL :
	    cj_memdup(el->arena, at, count * sizeof *at);
	if (names != NULL && count != 0)
		t->names = cj_memdup(el->arena, names, count * sizeof *names);
	return (struct cj_value){ .kind = CJ_VALUE_TUPLE, .tuple = t };
}

struct cj_value
cj_value_tensor(struct cj_elab *el, const struct cj_tensor *t)
{
	return (struct cj_value){ .kind = CJ_VALUE_TENSOR,
	    .tensor = cj_memdup(el->arena, t, sizeof *t) };
}

static void
kind_range(enum cj_kind k, int64_t *lo, int64_t *hi)
{
	unsigned bits = cj_kind_bits(k);

	assert(cj_kind_is_integer(k));
	*lo = INT64_MIN;
	*hi = INT64_MAX;
	if (k == CJ_KIND_INDEX || bits >= 64)
		return;
	if (cj_kind_is_signed(k)) {
		*lo = -((int64_t)1 << (bits - 1));
		*hi = ((int64_t)1 << (bits - 1)) - 1;
	} else {
		*lo = 0;
		*hi = ((int64_t)1 << bits) - 1;
	}
}

struct cj_value
cj_value_regs(struct cj_elab *el, enum cj_kind k,
    const struct cj_tuple *shape, cj_ref ref)
{
	struct cj_value v = { .kind = CJ_VALUE_REGS };

	assert(el->em != NULL && "a register belongs to a function");
	if (k == CJ_KIND_INDEX && shape == NULL) {
		int64_t lo, hi;
		const struct cj_inst *i = cj_inst(el->m, ref);

		kind_range(CJ_KIND_INDEX, &lo, &hi);
		if (i->op == CJ_OP_CONVERT) {
			enum cj_kind from = cj_type_kind(cj_inst(el->m,
			    cj_operand(el->m, i, 0))->type);

			if (cj_kind_is_integer(from))
				kind_range(from, &lo, &hi);
		}
		return cj_value_int(cj_elab_symbol(el, ref, NULL, lo, hi, 1));
	}
	v.scalar = (uint8_t)k;
	v.level = el->em->level;
	v.regs.ref = ref;
	v.regs.shape = shape;
	return v;
}

uint32_t
cj_shape_count(const struct cj_tuple *shape)
{
	uint32_t i, n = 1;

	if (shape == NULL)
		return 1;
	if (cj_is_leaf(shape)) {
		assert(cj_is_known(shape->value));
		return (uint32_t)shape->value.value;
	}
	for (i = 0; i < shape->rank; i++)
		n *= cj_shape_count(shape->at[i]);
	return n;
}

/* ---- what is known ------------------------------------------------------- */

static bool
is_layout_known(const struct cj_layout *l)
{
	return cj_tuple_is_known(l->shape) && cj_tuple_is_known(l->stride) &&
	    (l->offset == NULL || cj_tuple_is_known(l->offset));
}

bool
cj_value_is_known(const struct cj_value *v)
{
	uint32_t i;

	switch (v->kind) {
	case CJ_VALUE_ERROR: case CJ_VALUE_NONE: case CJ_VALUE_ANY:
	case CJ_VALUE_REAL: case CJ_VALUE_BOOL: case CJ_VALUE_SCALAR:
	case CJ_VALUE_SWIZZLE: case CJ_VALUE_TYPE: case CJ_VALUE_FUNCTION:
	case CJ_VALUE_BUILTIN: case CJ_VALUE_STRING: case CJ_VALUE_CHOICE:
	case CJ_VALUE_PIPELINE: case CJ_VALUE_ORDER: case CJ_VALUE_FILE:
	case CJ_VALUE_ATOM: case CJ_VALUE_MMA:
	case CJ_VALUE_COPY:
		return true;
	case CJ_VALUE_INT:
		return cj_is_known(v->i);
	case CJ_VALUE_BASIS:
		return cj_tuple_is_known(v->basis);
	case CJ_VALUE_RANGE:
		return cj_is_known(v->range->first) &&
		    cj_is_known(v->range->last);
	case CJ_VALUE_LAYOUT:
		return is_layout_known(v->layout);
	case CJ_VALUE_TUPLE:
		for (i = 0; i < v->tuple->count; i++)
			if (!cj_value_is_known(&v->tuple->at[i]))
				return false;
		return true;
	case CJ_VALUE_REGS: case CJ_VALUE_TENSOR: case CJ_VALUE_PLACE:
	case CJ_VALUE_UNWRITTEN:
		return false;
	}
	return false;
}

static bool
is_type_same(const struct cj_type_value *a, const struct cj_type_value *b)
{
	uint32_t i;

	if (a->scalar != b->scalar || a->is_type != b->is_type ||
	    a->is_fn != b->is_fn || a->is_tensor != b->is_tensor ||
	    a->is_tuple != b->is_tuple || a->count != b->count)
		return false;
	if (a->is_tensor && !cj_layout_same(a->layout, b->layout))
		return false;
	for (i = 0; i < a->count; i++)
		if (!is_type_same(a->at[i], b->at[i]))
			return false;
	return true;
}

static bool
is_text_same(const struct cj_text *a, const struct cj_text *b)
{
	return a->length == b->length &&
	    memcmp(a->bytes, b->bytes, a->length) == 0;
}

/* Known values, and terms by their handle. */
bool
cj_value_same(const struct cj_value *a, const struct cj_value *b)
{
	uint32_t i;

	if (a->kind != b->kind)
		return false;
	switch (a->kind) {
	case CJ_VALUE_ERROR: case CJ_VALUE_NONE: case CJ_VALUE_ANY:
		return true;
	case CJ_VALUE_INT:
		return cj_int_same(a->i, b->i);
	case CJ_VALUE_REAL:
		return a->real == b->real;
	case CJ_VALUE_BOOL:
		return a->truth == b->truth;
	case CJ_VALUE_SCALAR:
		return a->scalar == b->scalar && a->bits == b->bits;
	case CJ_VALUE_REGS:
		return a->regs.ref == b->regs.ref;
	case CJ_VALUE_TUPLE:
		if (a->tuple->count != b->tuple->count)
			return false;
		for (i = 0; i < a->tuple->count; i++)
			if (!cj_value_same(&a->tuple->at[i],
			    &b->tuple->at[i]))
				return false;
		return true;
	case CJ_VALUE_LAYOUT:
		return cj_layout_same(a->layout, b->layout);
	case CJ_VALUE_BASIS:
		return cj_tuple_same(a->basis, b->basis);
	case CJ_VALUE_SWIZZLE:
		return a->swizzle.bits == b->swizzle.bits &&
		    a->swizzle.base == b->swizzle.base &&
		    a->swizzle.shift == b->swizzle.shift;
	case CJ_VALUE_TENSOR:
		return a->tensor == b->tensor;
	case CJ_VALUE_PLACE:
		return a->slot == b->slot;
	case CJ_VALUE_TYPE:
		return is_type_same(a->type, b->type);
	case CJ_VALUE_FUNCTION:
		return a->function->node == b->function->node &&
		    a->function->env == b->function->env;
	case CJ_VALUE_BUILTIN:
		return a->builtin == b->builtin;
	case CJ_VALUE_RANGE:
		return cj_int_same(a->range->first, b->range->first) &&
		    cj_int_same(a->range->last, b->range->last);
	case CJ_VALUE_STRING:
		return is_text_same(a->text, b->text);
	case CJ_VALUE_CHOICE:
		return a->choice == b->choice;
	case CJ_VALUE_PIPELINE:
		return a->pipeline == b->pipeline;
	case CJ_VALUE_ORDER:
		return a->order == b->order;
	case CJ_VALUE_FILE:
		return a->file == b->file;
	case CJ_VALUE_ATOM:
		return strcmp(a->atom->text, b->atom->text) == 0;
	case CJ_VALUE_MMA:
		return strcmp(a->mma->text, b->mma->text) == 0;
	case CJ_VALUE_COPY:
		return strcmp(a->copy->text, b->copy->text) == 0;
	case CJ_VALUE_UNWRITTEN:
		return false;
	}
	return false;
}

/* ---- to and from layout/ ------------------------------------------------- */

static const struct cj_tuple *
tuple_of_values(struct cj_elab *el, struct cj_span span,
    const struct cj_tuple_value *t)
{
	const struct cj_tuple **at = CJ_NEWS(el->arena,
	    const struct cj_tuple *, t->count + 1), *made;
	uint32_t i;

	for (i = 0; i < t->count; i++) {
		at[i] = cj_value_to_tuple(el, span, &t->at[i]);
		if (at[i] == NULL)
			return NULL;
	}
	made = cj_tuple_make(&el->al, at, t->count);
	if (made == NULL)
		cj_elab_refused(el, span, "tuple");
	return made;
}

const struct cj_tuple *
cj_value_to_tuple(struct cj_elab *el, struct cj_span span,
    const struct cj_value *v)
{
	struct cj_value read;
	struct cj_int i;

	switch (v->kind) {
	case CJ_VALUE_ERROR:
		return NULL;
	case CJ_VALUE_INT:
		return cj_tuple_int(&el->al, v->i);
	case CJ_VALUE_ANY:
		return cj_tuple_any(&el->al);
	case CJ_VALUE_BASIS:
		return v->basis;
	case CJ_VALUE_LAYOUT:
		return cj_tuple_layout(&el->al, v->layout);
	case CJ_VALUE_TUPLE:
		return tuple_of_values(el, span, v->tuple);
	case CJ_VALUE_SCALAR: case CJ_VALUE_REGS: case CJ_VALUE_PLACE:
	case CJ_VALUE_TENSOR: case CJ_VALUE_REAL: case CJ_VALUE_BOOL:
		read = cj_elab_read(el, span, *v);
		if (!cj_value_to_int(el, span, &read, &i))
			return NULL;
		return cj_tuple_int(&el->al, i);
	case CJ_VALUE_NONE: case CJ_VALUE_SWIZZLE: case CJ_VALUE_TYPE:
	case CJ_VALUE_FUNCTION: case CJ_VALUE_BUILTIN: case CJ_VALUE_RANGE:
	case CJ_VALUE_STRING: case CJ_VALUE_CHOICE: case CJ_VALUE_PIPELINE:
	case CJ_VALUE_ORDER:
	case CJ_VALUE_FILE:
	case CJ_VALUE_ATOM: case CJ_VALUE_MMA: case CJ_VALUE_COPY:
	case CJ_VALUE_UNWRITTEN:
		break;
	}
	cj_elab_error(el, CJ_DIAG_WRONG_KIND, span,
	    "a tuple of integers is needed, this is %s",
	    cj_value_what(el, v));
	return NULL;
}

struct cj_value
cj_value_from_tuple(struct cj_elab *el, const struct cj_tuple *t)
{
	struct cj_value *at, v = { .kind = CJ_VALUE_ANY };
	uint32_t i;

	switch (t->kind) {
	case CJ_TUPLE_INT:
		return cj_value_int(t->value);
	case CJ_TUPLE_ANY:
		return v;
	case CJ_TUPLE_BASIS:
		v.kind = CJ_VALUE_BASIS;
		v.basis = t;
		return v;
	case CJ_TUPLE_LAYOUT:
		return cj_value_layout(t->layout);
	case CJ_TUPLE_TUPLE:
		break;
	}
	at = CJ_NEWS(el->arena, struct cj_value, t->rank + 1);
	for (i = 0; i < t->rank; i++)
		at[i] = cj_value_from_tuple(el, t->at[i]);
	return cj_value_tuple(el, at, NULL, t->rank);
}

const struct cj_layout *
cj_value_to_layout(struct cj_elab *el, struct cj_span span,
    const struct cj_value *v)
{
	const struct cj_tuple *shape;
	const struct cj_layout *l;

	if (v->kind == CJ_VALUE_LAYOUT)
		return v->layout;
	if (v->kind == CJ_VALUE_TENSOR)
		return cj_elab_not_gathered(el, span, v->tensor,
		    "a layout gives each element a place in memory",
		    "shape() and size() tell its extents; strides are those "
		    "of the tensor behind it.") ? v->tensor->layout : NULL;
	if (v->kind == CJ_VALUE_TYPE && v->type->is_tensor)
		return v->type->layout;
	shape = cj_value_to_tuple(el, span, v);
	if (shape == NULL)
		return NULL;
	l = cj_layout_make(&el->al, shape, NULL);
	if (l == NULL)
		cj_elab_refused(el, span, "layout");
	return l;
}

/* ---- integers out of values ---------------------------------------------- */

bool
cj_value_to_int(struct cj_elab *el, struct cj_span span,
    const struct cj_value *v, struct cj_int *out)
{
	struct cj_value read = cj_elab_read(el, span, *v), made;

	if (read.kind == CJ_VALUE_ERROR)
		return false;
	if (read.kind == CJ_VALUE_INT) {
		*out = read.i;
		return true;
	}
	if ((read.kind == CJ_VALUE_SCALAR || read.kind == CJ_VALUE_REGS) &&
	    cj_kind_is_integer((enum cj_kind)read.scalar) &&
	    cj_value_shape(&read) == NULL) {
		made = cj_elab_convert(el, span, CJ_KIND_INDEX, read, 0);
		if (made.kind != CJ_VALUE_INT)
			return false;
		*out = made.i;
		return true;
	}
	cj_elab_error(el, CJ_DIAG_WRONG_KIND, span,
	    "an integer is needed, this is %s", cj_value_what(el, &read));
	return false;
}

bool
cj_value_to_known(struct cj_elab *el, struct cj_span span,
    const struct cj_value *v, const char *what, int64_t *out)
{
	struct cj_int i;

	if (!cj_value_to_int(el, span, v, &i))
		return false;
	if (!cj_is_known(i)) {
		cj_elab_note_int(el, cj_elab_report(el, CJ_DIAG_NOT_KNOWN,
		    span, "%s must be known at compile time, this is %s",
		    what, cj_value_what(el, v)), i);
		return false;
	}
	*out = i.value;
	return true;
}

enum cj_kind
cj_value_kind_of(const struct cj_value *v)
{
	switch (v->kind) {
	case CJ_VALUE_INT: return CJ_KIND_INDEX;
	case CJ_VALUE_BOOL: return CJ_KIND_BOOL;
	case CJ_VALUE_SCALAR: case CJ_VALUE_REGS: case CJ_VALUE_UNWRITTEN:
		return (enum cj_kind)v->scalar;
	case CJ_VALUE_TENSOR: return v->tensor->element;
	case CJ_VALUE_PLACE: return v->slot->element;
	case CJ_VALUE_ERROR: case CJ_VALUE_NONE: case CJ_VALUE_ANY:
	case CJ_VALUE_REAL: case CJ_VALUE_TUPLE: case CJ_VALUE_LAYOUT:
	case CJ_VALUE_BASIS: case CJ_VALUE_SWIZZLE: case CJ_VALUE_TYPE:
	case CJ_VALUE_FUNCTION: case CJ_VALUE_BUILTIN: case CJ_VALUE_RANGE:
	case CJ_VALUE_STRING: case CJ_VALUE_CHOICE: case CJ_VALUE_PIPELINE:
	case CJ_VALUE_ORDER: case CJ_VALUE_FILE:
	case CJ_VALUE_ATOM: case CJ_VALUE_MMA: case CJ_VALUE_COPY:
		break;
	}
	return CJ_KIND_VOID;
}

const struct cj_tuple *
cj_value_shape(const struct cj_value *v)
{
	if (v->kind == CJ_VALUE_REGS || v->kind == CJ_VALUE_UNWRITTEN)
		return v->regs.shape;
	if (v->kind == CJ_VALUE_TENSOR)
		return v->tensor->layout->shape;
	if (v->kind == CJ_VALUE_PLACE && !v->slot->is_scalar)
		return v->slot->layout->shape;
	return NULL;
}

bool
cj_value_is_number(const struct cj_value *v)
{
	return v->kind == CJ_VALUE_INT || v->kind == CJ_VALUE_REAL ||
	    v->kind == CJ_VALUE_BOOL || v->kind == CJ_VALUE_SCALAR ||
	    v->kind == CJ_VALUE_REGS;
}
