/*
 * Constructors of arrays in tests: empty full normal uniform integers iota
 * array, each of a type and a shape or layout.
 *
 * Random numbers depend on the seed and the element alone (interp_array.c),
 * never on how many threads make them.
 */
#include "elab_test_priv.h"

/* The type and the layout in front; VOID: reported. */
static enum cj_kind
read_head(struct cj_elab *el, const struct cj_args *args,
    const struct cj_layout **l)
{
	const struct cj_value *t = &args->at[0];

	if (t->kind == CJ_VALUE_ERROR)
		return CJ_KIND_VOID;
	if (t->kind != CJ_VALUE_TYPE || t->type->scalar == CJ_KIND_VOID ||
	    cj_kind_class(t->type->scalar) == CJ_CLASS_OTHER) {
		cj_elab_report(el, CJ_DIAG_WRONG_KIND, args->spans[0],
		    "an array needs a type of numbers, this is %s",
		    cj_value_what(el, t));
		return CJ_KIND_VOID;
	}
	*l = cj_value_to_layout(el, args->spans[1], &args->at[1]);
	return *l == NULL ? CJ_KIND_VOID : t->type->scalar;
}

/* Turn the EMPTY generator of a new array into another one. */
static void
generate(struct cj_elab *el, const struct cj_value *array,
    enum cj_generator g, const cj_ref *more, uint32_t count)
{
	struct cj_module *m = el->m;
	cj_ref at = m->regions.at[el->em->b.region].last;
	struct cj_inst *i = cj_inst(m, at);
	cj_ref operand[4];

	assert(i->op == CJ_OP_ARRAY && count <= 3);
	assert(m->arrays.at[i->attr].object == array->tensor->object);
	operand[0] = cj_operand(m, i, 0);
	memcpy(operand + 1, more, count * sizeof *more);
	m->arrays.at[i->attr].generator = g;
	i->operands = m->pool.len;
	i->operand_count = (uint16_t)(count + 1);
	for (uint32_t n = 0; n <= count; n++)
		*cj_push(el->arena, &m->pool) = operand[n];
}

static cj_ref
seed_of(struct cj_elab *el, struct cj_args *args)
{
	const struct cj_value *v = cj_arg_named(el, args, "seed");
	struct cj_int seed = cj_known(0);

	if (v != NULL)
		cj_value_to_int(el, args->span, v, &seed);
	return cj_elab_ref_int(el, seed);
}

struct cj_value
cj_builtin_empty(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_layout *l;
	enum cj_kind k = read_head(el, args, &l);

	(void)row;
	return k == CJ_KIND_VOID ? cj_value_error() :
	    cj_elab_array_new(el, args->span, k, l);
}

struct cj_value
cj_builtin_full(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_layout *l;
	enum cj_kind k = read_head(el, args, &l);
	struct cj_value v, y;
	cj_ref value;

	(void)row;
	if (k == CJ_KIND_VOID)
		return cj_value_error();
	v = cj_elab_coerce(el, args->spans[2], k, args->at[2]);
	if (v.kind == CJ_VALUE_ERROR)
		return v;
	value = cj_elab_ref(el, &v, k);
	y = cj_elab_array_new(el, args->span, k, l);
	generate(el, &y, CJ_ARRAY_FULL, &value, 1);
	return y;
}

struct cj_value
cj_elab_array_zeros(struct cj_elab *el, struct cj_args *args)
{
	const struct cj_layout *l;
	enum cj_kind k = read_head(el, args, &l);
	struct cj_value y;
	cj_ref zero;

	if (k == CJ_KIND_VOID)
		return cj_value_error();
	zero = cj_emit_bits(&el->em->b, cj_type_of(k, 1), 0);
	y = cj_elab_array_new(el, args->span, k, l);
	generate(el, &y, CJ_ARRAY_FULL, &zero, 1);
	return y;
}

struct cj_value
cj_builtin_normal(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_layout *l;
	enum cj_kind k = read_head(el, args, &l);
	struct cj_value y;
	cj_ref seed;

	(void)row;
	if (k == CJ_KIND_VOID)
		return cj_value_error();
	if (!cj_kind_is_float(k))
		return cj_elab_error(el, CJ_DIAG_WRONG_KIND, args->spans[0],
		    "normal needs a floating-point type, not %s",
		    cj_kind_text(k));
	seed = seed_of(el, args);
	y = cj_elab_array_new(el, args->span, k, l);
	generate(el, &y, CJ_ARRAY_NORMAL, &seed, 1);
	return y;
}

/* A bound of kind `k`: argument `n`, or `other` if it was left out. */
static cj_ref
bound(struct cj_elab *el, const struct cj_args *args, uint32_t n,
    enum cj_kind k, double other)
{
	struct cj_value v = n < args->count ? args->at[n] :
	    cj_value_real(other);

	if (n < args->count)
		v = cj_elab_coerce(el, args->spans[n], k, v);
	return v.kind == CJ_VALUE_ERROR ? 0 : cj_elab_ref(el, &v, k);
}

/* low <= x < high, where both are known: is there such an x? */
static bool
has_between(struct cj_elab *el, const struct cj_args *args)
{
	struct cj_value less;

	if (args->count < 4)
		return true;
	less = cj_elab_binary(el, args->span, CJ_OPER_LT, args->at[2],
	    args->at[3]);
	if (less.kind == CJ_VALUE_ERROR)
		return false;
	if (less.kind != CJ_VALUE_BOOL || less.truth)
		return true;
	cj_elab_report(el, CJ_DIAG_WRONG_ARGUMENTS, args->span,
	    "no number is at least %s and less than %s",
	    cj_value_text(el, &args->at[2]), cj_value_text(el, &args->at[3]));
	return false;
}

static struct cj_value
between(struct cj_elab *el, struct cj_args *args, enum cj_kind k,
    enum cj_kind bounds, enum cj_generator g, const struct cj_layout *l)
{
	struct cj_value y;
	cj_ref more[3];

	if (!has_between(el, args))
		return cj_value_error();
	more[0] = bound(el, args, 2, bounds, 0);
	more[1] = bound(el, args, 3, bounds, 1);
	if (more[0] == 0 || more[1] == 0)
		return cj_value_error();
	more[2] = seed_of(el, args);
	y = cj_elab_array_new(el, args->span, k, l);
	generate(el, &y, g, more, 3);
	return y;
}

/* uniform(T, layout [, low, high]): low <= x < high, 0 and 1 unless stated */
struct cj_value
cj_builtin_uniform(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_layout *l;
	enum cj_kind k = read_head(el, args, &l);

	(void)row;
	if (k == CJ_KIND_VOID)
		return cj_value_error();
	if (!cj_kind_is_float(k))
		return cj_elab_error(el, CJ_DIAG_WRONG_KIND, args->spans[0],
		    "uniform needs a floating-point type, not %s; see integers",
		    cj_kind_text(k));
	return between(el, args, k, CJ_KIND_F64, CJ_ARRAY_UNIFORM, l);
}

/* Is a known bound, less `behind`, an integer of the type? */
static bool
holds(struct cj_elab *el, const struct cj_args *args, enum cj_kind k,
    uint32_t n, int64_t behind)
{
	const struct cj_value *v = &args->at[n];

	if (v->kind != CJ_VALUE_INT || !cj_is_known(v->i) ||
	    !cj_kind_is_integer(k) || cj_num_to_i64(k, cj_num_convert(k,
	    CJ_KIND_INDEX, (uint64_t)(v->i.value - behind),
	    (struct cj_conversion){ .is_default = true })) ==
	    v->i.value - behind)
		return true;
	cj_elab_report(el, CJ_DIAG_INEXACT, args->spans[n],
	    "%lld is no %s", (long long)(v->i.value - behind),
	    cj_kind_text(k));
	return false;
}

/* integers(T, layout, low, high): low <= x < high */
struct cj_value
cj_builtin_integers(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_layout *l;
	enum cj_kind k = read_head(el, args, &l);

	(void)row;
	return k == CJ_KIND_VOID || !holds(el, args, k, 2, 0) ||
	    !holds(el, args, k, 3, 1) ? cj_value_error() :
	    between(el, args, k, CJ_KIND_INDEX, CJ_ARRAY_INTEGERS, l);
}

/* iota(T, layout): the element at index i (colexicographic) is i. */
struct cj_value
cj_builtin_iota(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_layout *l;
	enum cj_kind k = read_head(el, args, &l);
	struct cj_value y, v;
	struct cj_int i, offset;
	cj_ref value;
	cj_region outer;

	(void)row;
	if (k == CJ_KIND_VOID)
		return cj_value_error();
	y = cj_elab_array_new(el, args->span, k, l);
	outer = cj_elab_map_begin(el, cj_layout_size(&el->al, l), &i);
	v = cj_elab_convert(el, args->span, k, cj_value_int(i), 0);
	if (v.kind != CJ_VALUE_ERROR && cj_layout_offset(&el->al, l,
	    cj_tuple_int(&el->al, i), &offset)) {
		value = cj_elab_ref(el, &v, k);
		cj_elab_array_store(el, y.tensor, offset, value);
	} else {
		y = cj_value_error();
	}
	cj_elab_leave(el, outer);
	return y;
}

/* ---- array(T, values) ---------------------------------------------------- */

/* Extents of nested tuples of equal size; depth 0: they differ. */
static uint32_t
nested_extents(const struct cj_value *v, uint32_t extent[CJ_MAX_DEPTH])
{
	uint32_t depth = 0;

	while (v->kind == CJ_VALUE_TUPLE && depth < CJ_MAX_DEPTH) {
		extent[depth++] = v->tuple->count;
		if (v->tuple->count == 0)
			break;
		v = &v->tuple->at[0];
	}
	return depth;
}

static bool
store_nested(struct cj_elab *el, const struct cj_args *args,
    const struct cj_value *v, const uint32_t *extent, uint32_t depth,
    const struct cj_tensor *y, int64_t *next)
{
	struct cj_value x;
	uint32_t i;

	if (depth == 0) {
		x = cj_elab_coerce(el, args->spans[1], y->element, *v);
		if (x.kind == CJ_VALUE_ERROR)
			return false;
		cj_elab_array_store(el, y, cj_known((*next)++),
		    cj_elab_ref(el, &x, y->element));
		return true;
	}
	if (v->kind != CJ_VALUE_TUPLE || v->tuple->count != extent[0]) {
		cj_elab_report(el, CJ_DIAG_WRONG_SHAPE, args->spans[1],
		    "the rows of an array have different lengths");
		return false;
	}
	for (i = 0; i < extent[0]; i++)
		if (!store_nested(el, args, &v->tuple->at[i], extent + 1,
		    depth - 1, y, next))
			return false;
	return true;
}

/* array(T, (a, b, ...)), rows in tuples: row-major. */
struct cj_value
cj_builtin_array(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_value *t = &args->at[0], *v = &args->at[1];
	const struct cj_tuple *mode[CJ_MAX_DEPTH], *shape;
	uint32_t extent[CJ_MAX_DEPTH], depth, i;
	const struct cj_layout *l;
	struct cj_value y;
	int64_t next = 0;

	(void)row;
	if (t->kind == CJ_VALUE_ERROR || v->kind == CJ_VALUE_ERROR)
		return cj_value_error();
	if (t->kind != CJ_VALUE_TYPE || t->type->scalar == CJ_KIND_VOID ||
	    v->kind != CJ_VALUE_TUPLE)
		return cj_elab_error(el, CJ_DIAG_WRONG_KIND, args->span,
		    "array needs a type and a tuple of numbers");
	depth = nested_extents(v, extent);
	for (i = 0; i < depth; i++)
		mode[i] = cj_tuple_known(&el->al, extent[i]);
	shape = depth == 1 ? mode[0] : cj_tuple_make(&el->al, mode, depth);
	l = shape == NULL ? NULL : cj_layout_row_major(&el->al, shape);
	if (l == NULL)
		return cj_elab_refused(el, args->span, "array");
	y = cj_elab_array_new(el, args->span, t->type->scalar, l);
	return store_nested(el, args, v, extent, depth, y.tensor, &next) ?
	    y : cj_value_error();
}
