/*
 * Shapes of register tensors: what operands have in common, repeating what has
 * extent 1, and conversions of type.
 */
#include <math.h>

#include "elab_priv.h"
#include "elab_origin.h"

/* ---- one shape ----------------------------------------------------------- */

static const struct cj_tuple *
unwrap(const struct cj_tuple *t)
{
	while (!cj_is_leaf(t) && t->rank == 1)
		t = t->at[0];
	return t;
}

/* The shape of both; NULL: there is none. Extents are known. */
static const struct cj_tuple *
merge(struct cj_elab *el, const struct cj_tuple *a, const struct cj_tuple *b)
{
	const struct cj_tuple **at;
	uint32_t i;

	assert(a != NULL && b != NULL && "scalars have no shape");
	if (cj_tuple_same(a, b) || cj_shape_count(unwrap(b)) == 1)
		return a;
	if (cj_shape_count(unwrap(a)) == 1)
		return b;
	a = unwrap(a);
	b = unwrap(b);
	if (cj_is_leaf(a) || cj_is_leaf(b))
		return cj_shape_count(a) != cj_shape_count(b) ? NULL :
		    cj_is_leaf(a) ? b : a;
	if (a->rank != b->rank)
		return NULL;
	at = CJ_NEWS(el->arena, const struct cj_tuple *, a->rank);
	for (i = 0; i < a->rank; i++) {
		at[i] = merge(el, a->at[i], b->at[i]);
		if (at[i] == NULL)
			return NULL;
	}
	return cj_tuple_make(&el->al, at, a->rank);
}

/* Elements of a shape; 0: none, or more than anybody counts. */
static uint64_t
element_count(const struct cj_tuple *shape)
{
	uint64_t n = 1;
	uint32_t i;

	if (cj_is_leaf(shape))
		return shape->value.value < 1 ? 0 :
		    (uint64_t)shape->value.value;
	for (i = 0; i < shape->rank; i++) {
		uint64_t m = element_count(shape->at[i]);

		if (m != 0 && n > UINT64_MAX / m)
			return 0;
		n *= m;
	}
	return n;
}

static void
report_too_many(struct cj_elab *el, struct cj_span span,
    const struct cj_tuple *shape)
{
	const char *text = cj_tuple_text(&el->al, shape);
	struct cj_diag *d;

	if (el->naming != 0)
		d = cj_elab_report(el, CJ_DIAG_LIMIT, span,
		    "\"%s\" would have the shape %s in each thread",
		    cj_elab_name(el, el->naming), text);
	else
		d = cj_elab_report(el, CJ_DIAG_LIMIT, span,
		    "these would be registers of shape %s in each thread",
		    text);
	cj_note(d, span, "a register tensor has 1 to %d elements; a thread of "
	    "a GPU has 255 registers", CJ_MAX_TENSOR_REGISTERS);
	cj_help(d, "Deal it out to more threads, take a part at a time in a "
	    "loop, or keep it in shared memory.");
}

bool
cj_elab_fits_registers(struct cj_elab *el, struct cj_span span,
    const struct cj_tuple *shape)
{
	struct cj_diag *d;
	uint64_t n;

	if (!cj_tuple_is_known(shape)) {
		d = cj_elab_report(el, CJ_DIAG_NOT_KNOWN, span,
		    "the elements are registers, but the extents %s are not "
		    "known at compile time", cj_tuple_text(&el->al, shape));
		cj_elab_note_tuple(el, d, shape);
		cj_help(d, "Take a part of known extents: local_tile(), "
		    "partition(), or an index.");
		return false;
	}
	n = element_count(shape);
	if (n >= 1 && n <= CJ_MAX_TENSOR_REGISTERS)
		return true;
	report_too_many(el, span, shape);
	return false;
}

bool
cj_elab_common_shape(struct cj_elab *el, struct cj_span span,
    const struct cj_value *args, uint32_t count,
    const struct cj_tuple **shape)
{
	const struct cj_tuple *s, *both;
	uint32_t i;

	*shape = NULL;
	for (i = 0; i < count; i++) {
		s = cj_value_shape(&args[i]);
		if (s == NULL)
			continue;
		both = *shape == NULL ? s : merge(el, *shape, s);
		if (both == NULL) {
			cj_elab_error(el, CJ_DIAG_WRONG_SHAPE, span,
			    "operands have shapes %s and %s",
			    cj_tuple_text(&el->al, *shape),
			    cj_tuple_text(&el->al, s));
			return false;
		}
		*shape = both;
	}
	return *shape == NULL || el->time == CJ_TIME_TEST ||
	    cj_elab_fits_registers(el, span, *shape);
}

/* ---- broadcasting -------------------------------------------------------- */

struct spread {
	uint32_t *at;		/* position in the source, by result */
	uint32_t count;		/* filled so far */
};

/* Append `inner` more modes: at[] times the extent, with a stride. */
static void
repeat(struct spread *s, uint32_t extent, uint32_t stride)
{
	uint32_t base = s->count, i, n;

	assert(extent >= 1);
	for (n = 1; n < extent; n++)
		for (i = 0; i < base; i++)
			s->at[n * base + i] = s->at[i] + n * stride;
	s->count = base * extent;
}

static void
spread(struct spread *s, const struct cj_tuple *from,
    const struct cj_tuple *to, uint32_t *running)
{
	uint32_t i, n;

	from = unwrap(from);
	to = unwrap(to);
	if (cj_shape_count(from) == 1) {
		repeat(s, cj_shape_count(to), 0);
	} else if (cj_is_leaf(from) || cj_is_leaf(to)) {
		n = cj_shape_count(to);
		repeat(s, n, *running);
		*running *= n;
	} else {
		for (i = 0; i < to->rank; i++)
			spread(s, from->at[i], to->at[i], running);
	}
}

static cj_ref
permuted(struct cj_elab *el, cj_ref ref, const uint32_t *at, uint32_t count)
{
	cj_type t = cj_type_of(cj_type_kind(cj_inst(el->m, ref)->type),
	    count);

	return cj_emit(&el->em->b, CJ_OP_PERMUTE, t,
	    cj_module_positions(el->m, at, count), &ref, 1);
}

cj_ref
cj_elab_permute(struct cj_elab *el, cj_ref ref, const uint32_t *at,
    uint32_t count)
{
	uint32_t i, n = cj_type_count(cj_inst(el->m, ref)->type);
	cj_type t = cj_type_of(cj_type_kind(cj_inst(el->m, ref)->type),
	    count);

	assert(ref != 0 && at != NULL);
	assert(count > 0);
	for (i = 1; i < count && at[i] == at[0] + i; i++)
		;
	if (i < count)
		return permuted(el, ref, at, count);
	if (at[0] == 0 && count == n)
		return ref;
	return cj_emit(&el->em->b, CJ_OP_SLICE, t, at[0], &ref, 1);
}

cj_ref
cj_elab_slice(struct cj_elab *el, cj_ref ref, uint32_t first, uint32_t count)
{
	uint32_t *at = CJ_NEWS(el->arena, uint32_t, count), i;

	for (i = 0; i < count; i++)
		at[i] = first + i;
	return cj_elab_permute(el, ref, at, count);
}

/* The first mode in which a value is neither of the extent there nor of 1. */
static void
say_misfit(struct cj_elab *el, struct cj_span span,
    const struct cj_tuple *from, const struct cj_tuple *shape)
{
	struct cj_diag *d = cj_elab_report(el, CJ_DIAG_WRONG_SHAPE, span,
	    "a value of shape %s does not fit the shape %s",
	    cj_tuple_text(&el->al, from), cj_tuple_text(&el->al, shape));
	uint32_t rank = cj_tuple_rank(shape), m;
	unsigned a, b;

	if (cj_tuple_rank(from) != rank) {
		cj_help(d, "The ranks differ: reshape(value, shape) gives it "
		    "another shape of as many elements.");
		return;
	}
	for (m = 0; m < rank; m++) {
		a = cj_shape_count(cj_tuple_get(from, m));
		b = cj_shape_count(cj_tuple_get(shape, m));
		if (a == 1 || a == b)
			continue;
		cj_help(d, "Mode %u has %u elements where there is room for "
		    "%u; extents are equal, or 1 where one is for all.",
		    m, a, b);
		return;
	}
}

struct cj_value
cj_elab_broadcast(struct cj_elab *el, struct cj_span span, struct cj_value v,
    const struct cj_tuple *shape)
{
	uint32_t count = cj_shape_count(shape), n, running = 1;
	enum cj_kind k = cj_value_kind_of(&v);
	const struct cj_tuple *from = cj_value_shape(&v);
	struct spread s = { NULL, 1 };
	cj_ref ref;

	if (shape == NULL || (from != NULL && cj_tuple_same(from, shape)))
		return v;
	if (k == CJ_KIND_VOID)
		k = CJ_KIND_F32;
	ref = cj_elab_ref(el, &v, k);
	n = cj_type_count(cj_inst(el->m, ref)->type);
	if (from == NULL || n == 1) {
		if (count != 1)
			ref = cj_emit1(&el->em->b, CJ_OP_SPLAT,
			    cj_type_of(k, count), ref);
		return cj_value_regs(el, k, shape, ref);
	}
	if (merge(el, shape, from) == NULL ||
	    cj_shape_count(merge(el, shape, from)) != count) {
		say_misfit(el, span, from, shape);
		return cj_value_error();
	}
	if (n == count)
		return cj_value_regs(el, k, shape, ref);
	s.at = CJ_NEWS(el->arena, uint32_t, count);
	spread(&s, from, shape, &running);
	assert(s.count == count);
	return cj_value_regs(el, k, shape, cj_elab_permute(el, ref, s.at,
	    count));
}

/* ---- conversions --------------------------------------------------------- */

static struct cj_value
convert_known(struct cj_elab *el, enum cj_kind to, const struct cj_value *v,
    uint32_t conversion)
{
	struct cj_conversion how = el->m->conversions.at[conversion];
	union { double x; uint64_t bits; } u;

	switch ((unsigned)v->kind) {
	case CJ_VALUE_REAL:
		if (how.is_default && cj_kind_is_float(to))
			return cj_value_scalar(to,
			    cj_num_from_f64(to, v->real));
		u.x = v->real;
		return cj_value_scalar(to, cj_num_convert(to, CJ_KIND_F64,
		    u.bits, how));
	case CJ_VALUE_INT:
		return cj_value_scalar(to, cj_num_convert(to, CJ_KIND_INDEX,
		    (uint64_t)v->i.value, how));
	case CJ_VALUE_BOOL:
		return cj_value_scalar(to, cj_num_convert(to, CJ_KIND_BOOL,
		    v->truth, how));
	}
	return cj_value_scalar(to, cj_num_convert(to,
	    (enum cj_kind)v->scalar, v->bits, how));
}

struct conversion {
	struct cj_span span;
	enum cj_kind to;
	uint32_t how;
};

static struct cj_value
convert_each(struct cj_elab *el, void *user, const struct cj_value *args,
    uint32_t count)
{
	const struct conversion *c = user;

	assert(count == 1);
	return cj_elab_convert(el, c->span, c->to, args[0], c->how);
}

static struct cj_value
convert_tuple(struct cj_elab *el, struct cj_span span, enum cj_kind to,
    const struct cj_tuple_value *t, uint32_t conversion)
{
	struct cj_value *at = CJ_NEWS(el->arena, struct cj_value,
	    t->count + 1);
	uint32_t i;

	for (i = 0; i < t->count; i++)
		at[i] = cj_elab_convert(el, span, to, t->at[i], conversion);
	return cj_value_tuple(el, at, t->names, t->count);
}

/* saturate = true of what has the type already: infinities become finite. */
static struct cj_value
within_finite(struct cj_elab *el, struct cj_span span, enum cj_kind k,
    struct cj_value v, uint32_t conversion)
{
	struct cj_conversion how = el->m->conversions.at[conversion];
	union { double x; uint64_t bits; } u = { .x = HUGE_VAL };
	struct cj_value args[2];

	if (how.is_default || !how.saturate || !cj_kind_is_float(k))
		return v;
	args[0] = cj_value_scalar(k, cj_num_convert(k, CJ_KIND_F64, u.bits,
	    how));
	args[1] = v;
	args[1] = cj_elab_apply(el, span, CJ_OP_MIN, args, 2);
	args[0] = cj_elab_unary(el, span, CJ_OPER_NEG, args[0]);
	return cj_elab_apply(el, span, CJ_OP_MAX, args, 2);
}

struct cj_value
cj_elab_convert(struct cj_elab *el, struct cj_span span, enum cj_kind to,
    struct cj_value v, uint32_t conversion)
{
	struct conversion c = { span, to, conversion };
	const struct cj_tuple *shape;
	struct cj_value made;
	enum cj_kind from;
	cj_ref ref;

	assert(to != CJ_KIND_VOID && conversion < el->m->conversions.len);
	if (cj_elab_is_array(el, &v))
		return cj_elab_array_map(el, span, &v, 1, convert_each, &c);
	v = cj_elab_read(el, span, v);
	if (v.kind == CJ_VALUE_ERROR)
		return v;
	if (v.kind == CJ_VALUE_TUPLE)
		return convert_tuple(el, span, to, v.tuple, conversion);
	if (!cj_value_is_number(&v))
		return cj_elab_error(el, CJ_DIAG_WRONG_KIND, span,
		    "%s cannot be converted to %s", cj_value_what(el, &v),
		    cj_kind_text(to));
	from = cj_value_kind_of(&v);
	if (from == to)
		return within_finite(el, span, to, v, conversion);
	if (cj_value_is_known(&v))
		return convert_known(el, to, &v, conversion);
	shape = cj_value_shape(&v);
	ref = cj_emit(&el->em->b, CJ_OP_CONVERT, cj_type_of(to,
	    cj_shape_count(shape)), conversion,
	    (cj_ref[]){ cj_elab_ref(el, &v, from) }, 1);
	made = cj_value_regs(el, to, shape, ref);
	made.fragment = v.fragment;
	return made;
}

/* ---- operators ----------------------------------------------------------- */

static enum cj_op
op_of(enum cj_oper op)
{
	switch (op) {
	case CJ_OPER_ADD: return CJ_OP_ADD;
	case CJ_OPER_SUB: return CJ_OP_SUB;
	case CJ_OPER_MUL: return CJ_OP_MUL;
	case CJ_OPER_DIV: return CJ_OP_DIV;
	case CJ_OPER_MOD: return CJ_OP_MOD;
	case CJ_OPER_BIT_AND: case CJ_OPER_AND: return CJ_OP_AND;
	case CJ_OPER_BIT_OR: case CJ_OPER_OR: return CJ_OP_OR;
	case CJ_OPER_BIT_XOR: return CJ_OP_XOR;
	case CJ_OPER_SHL: return CJ_OP_SHL;
	case CJ_OPER_SHR: return CJ_OP_SHR;
	case CJ_OPER_EQ: return CJ_OP_EQ;
	case CJ_OPER_NE: return CJ_OP_NE;
	case CJ_OPER_LT: case CJ_OPER_GT: return CJ_OP_LT;
	case CJ_OPER_LE: case CJ_OPER_GE: return CJ_OP_LE;
	case CJ_OPER_NEG: return CJ_OP_NEG;
	case CJ_OPER_NOT: case CJ_OPER_BIT_NOT: return CJ_OP_NOT;
	case CJ_OPER_NONE: case CJ_OPER_COUNT: break;
	}
	return CJ_OP_NONE;
}

static struct cj_value
negated(struct cj_elab *el, struct cj_span span, struct cj_value v)
{
	return cj_elab_apply(el, span, CJ_OP_NOT, &v, 1);
}

/* All elements of two tuples are equal. */
static struct cj_value
equal_tuples(struct cj_elab *el, struct cj_span span,
    const struct cj_tuple_value *a, const struct cj_tuple_value *b)
{
	struct cj_value all = cj_value_bool(a->count == b->count), one;
	uint32_t i;

	for (i = 0; i < a->count && a->count == b->count; i++) {
		one = cj_elab_binary(el, span, CJ_OPER_EQ, a->at[i],
		    b->at[i]);
		if (one.kind == CJ_VALUE_ERROR)
			return one;
		if (all.kind == CJ_VALUE_BOOL)
			all = all.truth ? one : all;
		else
			all = cj_elab_binary(el, span, CJ_OPER_BIT_AND, all,
			    one);
	}
	return all;
}

static bool
is_number_or_memory(const struct cj_value *v)
{
	return cj_value_is_number(v) || v->kind == CJ_VALUE_TENSOR ||
	    v->kind == CJ_VALUE_PLACE;
}

/* == of what is not a number: types, layouts, tuples, none, texts. */
static struct cj_value
equal_others(struct cj_elab *el, struct cj_span span,
    const struct cj_value *a, const struct cj_value *b)
{
	if (a->kind == CJ_VALUE_NONE || b->kind == CJ_VALUE_NONE)
		return cj_value_bool(a->kind == b->kind);
	if (a->kind == CJ_VALUE_TUPLE && b->kind == CJ_VALUE_TUPLE)
		return equal_tuples(el, span, a->tuple, b->tuple);
	if (a->kind != b->kind)
		return cj_elab_error(el, CJ_DIAG_WRONG_KIND, span,
		    "%s cannot be compared with %s", cj_value_what(el, a),
		    cj_value_what(el, b));
	return cj_value_bool(cj_value_same(a, b));
}

/* 4 * basis(1) */
static struct cj_value
scaled_basis(struct cj_elab *el, struct cj_span span, struct cj_value basis,
    struct cj_value by)
{
	struct cj_value v = { .kind = CJ_VALUE_BASIS };
	struct cj_int i;

	if (!cj_value_to_int(el, span, &by, &i))
		return cj_value_error();
	v.basis = cj_tuple_basis(&el->al, cj_int_mul(&el->sym, i,
	    basis.basis->value), basis.basis->path,
	    basis.basis->path_length);
	return v;
}

struct cj_value
cj_elab_binary(struct cj_elab *el, struct cj_span span, enum cj_oper op,
    struct cj_value a, struct cj_value b)
{
	struct cj_value args[2] = { a, b }, v;
	bool is_equal = op == CJ_OPER_EQ || op == CJ_OPER_NE;

	if (a.kind == CJ_VALUE_ERROR || b.kind == CJ_VALUE_ERROR)
		return cj_value_error();
	if (is_equal && !(is_number_or_memory(&a) &&
	    is_number_or_memory(&b))) {
		v = equal_others(el, span, &a, &b);
		return v.kind == CJ_VALUE_ERROR || op == CJ_OPER_EQ ? v :
		    negated(el, span, v);
	}
	if (op == CJ_OPER_MUL && a.kind == CJ_VALUE_BASIS)
		return scaled_basis(el, span, a, b);
	if (op == CJ_OPER_MUL && b.kind == CJ_VALUE_BASIS)
		return scaled_basis(el, span, b, a);
	if (op == CJ_OPER_GT || op == CJ_OPER_GE) {
		args[0] = b;
		args[1] = a;
	}
	return cj_elab_apply(el, span, op_of(op), args, 2);
}

struct cj_value
cj_elab_unary(struct cj_elab *el, struct cj_span span, enum cj_oper op,
    struct cj_value a)
{
	struct cj_value v;

	if (a.kind == CJ_VALUE_ERROR)
		return a;
	if (op == CJ_OPER_NEG && a.kind == CJ_VALUE_BASIS)
		return scaled_basis(el, span, a, cj_value_known(-1));
	v = cj_elab_is_array(el, &a) ? a : cj_elab_read(el, span, a);
	if (v.kind == CJ_VALUE_ERROR)
		return v;
	if (op == CJ_OPER_NOT && cj_value_kind_of(&v) != CJ_KIND_BOOL)
		return cj_elab_error(el, CJ_DIAG_WRONG_KIND, span,
		    "\"!\" needs a bool, this is %s", cj_value_what(el, &v));
	if (op == CJ_OPER_BIT_NOT && cj_value_kind_of(&v) == CJ_KIND_BOOL)
		return cj_elab_error(el, CJ_DIAG_WRONG_KIND, span,
		    "\"~\" needs integers, this is %s; \"!\" negates",
		    cj_value_what(el, &v));
	return cj_elab_apply(el, span, op_of(op), &v, 1);
}

struct fma_each {
	struct cj_span span;
};

static struct cj_value
fma_each(struct cj_elab *el, void *user, const struct cj_value *args,
    uint32_t count)
{
	const struct fma_each *f = user;

	assert(count == 3);
	return cj_elab_fma(el, f->span, args[0], args[1], args[2]);
}

/* a * b + c: one rounding for floats, the plain terms for integers. */
struct cj_value
cj_elab_fma(struct cj_elab *el, struct cj_span span, struct cj_value a,
    struct cj_value b, struct cj_value c)
{
	struct cj_value args[3] = { a, b, c }, product;
	struct fma_each each = { span };
	bool is_float = false;
	unsigned i;

	if (cj_elab_any_array(el, args, 3))
		return cj_elab_array_map(el, span, args, 3, fma_each, &each);
	for (i = 0; i < 3; i++) {
		args[i] = cj_elab_read(el, span, args[i]);
		if (args[i].kind == CJ_VALUE_ERROR)
			return args[i];
		is_float = is_float || args[i].kind == CJ_VALUE_REAL ||
		    cj_kind_is_float(cj_value_kind_of(&args[i]));
	}
	if (is_float)
		return cj_elab_apply(el, span, CJ_OP_FMA, args, 3);
	product = cj_elab_binary(el, span, CJ_OPER_MUL, args[0], args[1]);
	return cj_elab_binary(el, span, CJ_OPER_ADD, product, args[2]);
}
