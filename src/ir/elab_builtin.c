/*
 * Built-in names: the table of builtins.def, the rows that are one operation,
 * types, and what is asked of the time (thread indices, the device).
 */
#include <math.h>

#include "elab_unify.h"

static struct cj_value
each(struct cj_elab *el, struct cj_args *args, const struct cj_builtin *row)
{
	return cj_elab_apply(el, args->span, row->op, args->at, args->count);
}

const struct cj_builtin cj_builtins[] = {
#define BUILTIN(name, least, most, named, flags)			\
	{ #name, cj_builtin_##name, NULL, least, most, named, flags,	\
	    CJ_OP_NONE },
#define EACH(name, operands, op)					\
	{ #name, each, NULL, operands, operands, "",			\
	    CJ_BUILTIN_EACH, CJ_OP_##op },
#define VALUE(name)							\
	{ #name, NULL, cj_builtin_value_##name, 0, 0, "", 0, CJ_OP_NONE },
#include "builtins.def"
};
const unsigned cj_builtin_count = CJ_LENGTH(cj_builtins);

const struct cj_builtin *
cj_builtin_lookup(const char *name)
{
	unsigned i;

	for (i = 0; i < cj_builtin_count; i++)
		if (strcmp(cj_builtins[i].name, name) == 0)
			return &cj_builtins[i];
	return NULL;
}

/* ---- types --------------------------------------------------------------- */

/* The kind of a type, or of a value's elements; VOID: reported. */
static enum cj_kind
kind_of(struct cj_elab *el, struct cj_span span, const struct cj_value *v)
{
	enum cj_kind k = v->kind == CJ_VALUE_TYPE ? v->type->scalar :
	    v->kind == CJ_VALUE_REAL ? CJ_KIND_F32 : cj_value_kind_of(v);

	if (k == CJ_KIND_VOID && v->kind != CJ_VALUE_ERROR)
		cj_elab_error(el, CJ_DIAG_WRONG_KIND, span,
		    "a number type is needed, this is %s",
		    cj_value_what(el, v));
	return k;
}

struct cj_value
cj_builtin_bits(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	enum cj_kind k = kind_of(el, args->span, &args->at[0]);

	(void)row;
	return k == CJ_KIND_VOID ? cj_value_error() :
	    cj_value_known(cj_kind_bits(k));
}

struct cj_value
cj_builtin_element(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	enum cj_kind k = kind_of(el, args->span, &args->at[0]);

	(void)row;
	if (cj_kind_is_place(k))
		return cj_elab_error(el, CJ_DIAG_WRONG_KIND, args->span,
		    "%s is no value: its type has no use but shared b: "
		    "tensor(%s, n:1)", k == CJ_KIND_MAP ? "a tensor map" :
		    "an mbarrier", cj_kind_text(k));
	return k == CJ_KIND_VOID ? cj_value_error() : cj_value_type(el, k);
}

/* The type that a function of real numbers works in; int: a known integer. */
struct cj_value
cj_builtin_real_type(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_value *v = &args->at[0];
	enum cj_kind k = cj_value_is_number(v) ||
	    v->kind == CJ_VALUE_TENSOR || v->kind == CJ_VALUE_PLACE ?
	    kind_of(el, args->span, v) : CJ_KIND_VOID;
	struct cj_diag *d;

	(void)row;
	if (v->kind == CJ_VALUE_ERROR)
		return *v;
	if (cj_kind_is_float(k) || (v->kind == CJ_VALUE_INT &&
	    cj_is_known(v->i)))
		return cj_value_type(el, k);
	d = cj_elab_report(el, CJ_DIAG_WRONG_KIND, args->span,
	    "a real number is needed, this is %s", cj_value_what(el, v));
	if (cj_kind_is_integer(k))
		cj_help(d, "Convert it: f32(...).");
	return cj_value_error();
}

struct cj_value
cj_builtin_is_float(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	enum cj_kind k = kind_of(el, args->span, &args->at[0]);

	(void)row;
	return k == CJ_KIND_VOID ? cj_value_error() :
	    cj_value_bool(cj_kind_is_float(k));
}

struct cj_value
cj_builtin_is_integer(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	enum cj_kind k = kind_of(el, args->span, &args->at[0]);

	(void)row;
	return k == CJ_KIND_VOID ? cj_value_error() :
	    cj_value_bool(cj_kind_is_integer(k));
}

struct cj_value
cj_builtin_is_signed(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	enum cj_kind k = kind_of(el, args->span, &args->at[0]);

	(void)row;
	return k == CJ_KIND_VOID ? cj_value_error() :
	    cj_value_bool(cj_kind_is_signed(k) || cj_kind_is_float(k));
}

struct cj_value
cj_builtin_is_known(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	(void)el;
	(void)row;
	return cj_value_bool(cj_value_is_known(&args->at[0]));
}

struct cj_value
cj_builtin_tensor(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	struct cj_type_value *t = CJ_NEW(el->arena, struct cj_type_value);
	enum cj_kind k = kind_of(el, args->span, &args->at[0]);

	(void)row;
	t->is_tensor = true;
	t->scalar = k;
	t->layout = cj_value_to_layout(el, args->span, &args->at[1]);
	if (k == CJ_KIND_VOID || t->layout == NULL)
		return cj_value_error();
	return (struct cj_value){ .kind = CJ_VALUE_TYPE, .type = t };
}

/* ---- integers and tuples of them ----------------------------------------- */

/* A tuple divided by another of fewer modes, or by an integer from left to
 * right. */
static struct cj_value
shape_pair(struct cj_elab *el, struct cj_args *args, bool rounds_up,
    const char *name)
{
	const struct cj_tuple *a = cj_arg_tuple(el, args, 0);
	const struct cj_tuple *b = cj_arg_tuple(el, args, 1), *t;

	if (a == NULL || b == NULL)
		return cj_value_error();
	t = rounds_up ? cj_tuple_round_up(&el->al, a, b) :
	    cj_tuple_ceil_div(&el->al, a, b);
	return t == NULL || el->sym.overflow ?
	    cj_elab_refused(el, args->span, name) :
	    cj_value_from_tuple(el, t);
}

static struct cj_value
int_pair(struct cj_elab *el, struct cj_span span, struct cj_value a,
    struct cj_value b, bool rounds_up)
{
	struct cj_int x, y, q;

	if (!cj_value_to_int(el, span, &a, &x) ||
	    !cj_value_to_int(el, span, &b, &y))
		return cj_value_error();
	q = cj_int_ceil_div(&el->sym, x, y);
	return cj_value_int(rounds_up ? cj_int_mul(&el->sym, q, y) : q);
}

struct cj_value
cj_builtin_ceil_div(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	if (args->at[0].kind == CJ_VALUE_TUPLE)
		return shape_pair(el, args, false, row->name);
	return int_pair(el, args->span, args->at[0], args->at[1], false);
}

struct cj_value
cj_builtin_round_up(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	if (args->at[0].kind == CJ_VALUE_TUPLE)
		return shape_pair(el, args, true, row->name);
	return int_pair(el, args->span, args->at[0], args->at[1], true);
}

/* ---- bits, selection, conversions ---------------------------------------- */

static struct cj_value
bits_as(enum cj_kind to, enum cj_kind from, uint64_t bits)
{
	unsigned n = cj_kind_bits(to);

	(void)from;
	if (n < 64) {
		bits &= ((uint64_t)1 << n) - 1;
		if (cj_kind_is_integer(to) && cj_kind_is_signed(to) &&
		    (bits >> (n - 1) & 1) != 0)
			bits |= ~(((uint64_t)1 << n) - 1);
	}
	return cj_value_scalar(to, bits);
}

/* A literal has the width that is asked for. */
static struct cj_value
sized_literal(struct cj_elab *el, struct cj_span span, enum cj_kind to,
    struct cj_value v)
{
	static const enum cj_kind ints[] = { CJ_KIND_U8, CJ_KIND_U16,
	    CJ_KIND_U32, CJ_KIND_U64 };
	static const enum cj_kind floats[] = { CJ_KIND_VOID, CJ_KIND_F16,
	    CJ_KIND_F32, CJ_KIND_F64 };
	unsigned n = cj_kind_bits(to), i = n == 8 ? 0 : n == 16 ? 1 :
	    n == 32 ? 2 : 3;
	enum cj_kind k = v.kind == CJ_VALUE_REAL ? floats[i] :
	    v.i.value < 0 ? (enum cj_kind)(ints[i] - CJ_KIND_U8 +
	    CJ_KIND_I8) : ints[i];

	return cj_elab_coerce(el, span, k, v);
}

struct cj_value
cj_builtin_bitcast(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	struct cj_value v = cj_elab_read(el, args->span, args->at[1]);
	enum cj_kind to = kind_of(el, args->span, &args->at[0]), from;
	const struct cj_tuple *shape;

	(void)row;
	if (to == CJ_KIND_VOID || v.kind == CJ_VALUE_ERROR)
		return cj_value_error();
	if (v.kind == CJ_VALUE_REAL ||
	    (v.kind == CJ_VALUE_INT && cj_is_known(v.i)))
		v = sized_literal(el, args->span, to, v);
	if (v.kind == CJ_VALUE_ERROR)
		return v;
	from = cj_value_kind_of(&v);
	if (from == to)
		return v;
	if (!cj_value_is_number(&v) || from == CJ_KIND_INDEX ||
	    cj_kind_bits(from) != cj_kind_bits(to))
		return cj_elab_error(el, CJ_DIAG_WRONG_KIND, args->span,
		    "%s has not the %u bits of %s", cj_value_what(el, &v),
		    cj_kind_bits(to), cj_kind_text(to));
	if (v.kind == CJ_VALUE_SCALAR)
		return bits_as(to, from, v.bits);
	shape = cj_value_shape(&v);
	return cj_value_regs(el, to, shape, cj_emit1(&el->em->b,
	    CJ_OP_BITCAST, cj_type_of(to, cj_shape_count(shape)),
	    cj_elab_ref(el, &v, from)));
}

static struct cj_value
select_ints(struct cj_elab *el, cj_ref c, const struct cj_value *v)
{
	struct cj_range a = cj_int_range(&el->sym, v[0].i);
	struct cj_range b = cj_int_range(&el->sym, v[1].i);
	cj_ref x = cj_elab_ref_int(el, v[0].i);
	cj_ref r = cj_emit3(&el->em->b, CJ_OP_SELECT,
	    cj_type_of(CJ_KIND_INDEX, 1), c, x,
	    cj_elab_ref_int(el, v[1].i));

	return cj_value_int(cj_elab_symbol(el, r, NULL,
	    a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi, 1));
}

static struct cj_value
select_regs(struct cj_elab *el, struct cj_span span, struct cj_value *v,
    enum cj_kind k)
{
	const struct cj_tuple *shape;
	cj_ref refs[3];
	int i;

	if (!cj_elab_common_shape(el, span, v, 3, &shape))
		return cj_value_error();
	for (i = 0; i < 3; i++) {
		if (i != 0 || cj_value_shape(&v[0]) != NULL)
			v[i] = cj_elab_broadcast(el, span, v[i], shape);
		if (v[i].kind == CJ_VALUE_ERROR)
			return v[i];
		refs[i] = cj_elab_ref(el, &v[i], i == 0 ? CJ_KIND_BOOL : k);
	}
	return cj_value_regs(el, k, shape, cj_emit(&el->em->b, CJ_OP_SELECT,
	    cj_type_of(k, cj_shape_count(shape)), 0, refs, 3));
}

struct cj_value
cj_builtin_where(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	struct cj_value v[3];
	enum cj_kind k;
	int i;

	(void)row;
	for (i = 0; i < 3; i++) {
		v[i] = cj_elab_read(el, args->span, args->at[i]);
		if (v[i].kind == CJ_VALUE_ERROR)
			return v[i];
	}
	if (cj_value_kind_of(&v[0]) != CJ_KIND_BOOL)
		return cj_elab_error(el, CJ_DIAG_WRONG_KIND, args->span,
		    "where(c, a, b): c is a bool, this is %s",
		    cj_value_what(el, &v[0]));
	if (!cj_elab_unify(el, args->span, v + 1, 2, &k))
		return cj_value_error();
	if (v[0].kind == CJ_VALUE_BOOL && cj_value_shape(&v[1]) == NULL &&
	    cj_value_shape(&v[2]) == NULL)
		return v[0].truth ? v[1] : v[2];
	if (v[1].kind == CJ_VALUE_INT && v[2].kind == CJ_VALUE_INT &&
	    cj_value_shape(&v[0]) == NULL)
		return select_ints(el, cj_elab_ref(el, &v[0], CJ_KIND_BOOL),
		    v + 1);
	return select_regs(el, args->span, v, k == CJ_KIND_VOID ?
	    CJ_KIND_F32 : k);
}

/* Only "round" and "saturate" mean something to a conversion. */
static bool
conversion_names(struct cj_elab *el, const struct cj_args *args)
{
	static const char *const words[] = { "round", "saturate" };
	const char *name, *near;
	struct cj_diag *d;
	uint32_t i;

	for (i = 0; i < args->named_count; i++) {
		name = cj_elab_name(el, args->named[i].name);
		if (strcmp(name, words[0]) == 0 || strcmp(name, words[1]) == 0)
			continue;
		d = cj_elab_report(el, CJ_DIAG_WRONG_ARGUMENTS,
		    args->named[i].span, "a conversion has no argument \"%s\"",
		    name);
		near = cj_nearest(name, words, CJ_LENGTH(words));
		if (near != NULL)
			cj_help(d, "Did you mean \"%s\"?", near);
		else
			cj_help(d, "It is written T(x [, round = .even] "
			    "[, saturate = true]).");
		return false;
	}
	return true;
}

static bool
is_real(const struct cj_value *v)
{
	return v->kind == CJ_VALUE_REAL || (v->kind == CJ_VALUE_TENSOR ?
	    cj_kind_is_float(v->tensor->element) : cj_value_is_number(v) &&
	    cj_kind_is_float(cj_value_kind_of(v)));
}

/* What is not said stays as it is without: to integers numbers are cut, and
 * those that come from floats saturate; 8-bit floats and smaller do. */
bool
cj_elab_conversion(struct cj_elab *el, struct cj_args *args, enum cj_kind to,
    uint32_t *how)
{
	const struct cj_value *r = cj_arg_named(el, args, "round");
	const struct cj_value *s = cj_arg_named(el, args, "saturate");
	static const char *const words[] = { "even", "zero", "up", "down" };
	bool is_float = cj_kind_is_float(to);
	struct cj_conversion c = {
		.rounding = is_float ? CJ_ROUND_EVEN : CJ_ROUND_ZERO,
		.saturate = is_float && cj_kind_bits(to) <= 8
	};
	unsigned i;

	*how = 0;
	if (r == NULL && s == NULL)
		return conversion_names(el, args);
	if (!conversion_names(el, args))
		return false;
	if (s != NULL && s->kind == CJ_VALUE_BOOL)
		c.saturate = s->truth;
	for (i = 0; r != NULL && i < CJ_LENGTH(words); i++)
		if (r->kind == CJ_VALUE_CHOICE && strcmp(words[i],
		    cj_elab_name(el, r->choice)) == 0) {
			c.rounding = (enum cj_rounding)i;
			break;
		}
	if (i == CJ_LENGTH(words) || (s != NULL &&
	    s->kind != CJ_VALUE_BOOL)) {
		cj_elab_error(el, CJ_DIAG_WRONG_ARGUMENTS, args->span,
		    "a conversion takes round = .even, .zero, .up or .down, "
		    "and saturate = true or false, known");
		return false;
	}
	if (s != NULL && !s->truth && cj_kind_is_integer(to) &&
	    is_real(&args->at[0])) {
		cj_elab_error(el, CJ_DIAG_WRONG_ARGUMENTS, args->span,
		    "what comes from a float saturates in %s, always",
		    cj_kind_text(to));
		return false;
	}
	*how = cj_module_conversion(el->m, c);
	return true;
}

/* ---- values -------------------------------------------------------------- */

struct cj_value
cj_builtin_value_none(struct cj_elab *el, struct cj_span span)
{
	(void)el;
	(void)span;
	return cj_value_none();
}

struct cj_value
cj_builtin_value_inf(struct cj_elab *el, struct cj_span span)
{
	(void)el;
	(void)span;
	return cj_value_real(HUGE_VAL);
}

struct cj_value
cj_builtin_value_nan(struct cj_elab *el, struct cj_span span)
{
	(void)el;
	(void)span;
	return cj_value_real((double)NAN);
}

struct cj_value
cj_builtin_value_pi(struct cj_elab *el, struct cj_span span)
{
	(void)el;
	(void)span;
	return cj_value_real(3.14159265358979323846);
}

static bool
is_device(struct cj_elab *el, struct cj_span span, const char *name)
{
	if (el->time == CJ_TIME_DEVICE && el->em != NULL)
		return true;
	cj_elab_error(el, CJ_DIAG_WRONG_TIME, span,
	    "\"%s\" belongs to device code: the \"launch\" blocks", name);
	return false;
}

static struct cj_value
xyz(struct cj_elab *el, struct cj_span span, const char *name,
    const struct cj_int *extents, enum cj_special first)
{
	struct cj_value at[3];
	cj_name names[3] = { cj_elab_intern(el, "x"), cj_elab_intern(el, "y"),
	    cj_elab_intern(el, "z") };
	unsigned i;

	if (!is_device(el, span, name))
		return cj_value_error();
	for (i = 0; i < 3; i++)
		at[i] = cj_value_int(extents != NULL ? extents[i] :
		    cj_elab_special(el, (enum cj_special)(first + i)));
	return cj_value_tuple(el, at, names, 3);
}

struct cj_value
cj_builtin_value_thread_idx(struct cj_elab *el, struct cj_span span)
{
	return xyz(el, span, "thread_idx", NULL, CJ_SPECIAL_THREAD_X);
}

struct cj_value
cj_builtin_value_block_idx(struct cj_elab *el, struct cj_span span)
{
	return xyz(el, span, "block_idx", NULL, CJ_SPECIAL_BLOCK_X);
}

struct cj_value
cj_builtin_value_block_dim(struct cj_elab *el, struct cj_span span)
{
	return xyz(el, span, "block_dim", el->block_extent,
	    CJ_SPECIAL_BLOCK_DIM_X);
}

struct cj_value
cj_builtin_value_grid_dim(struct cj_elab *el, struct cj_span span)
{
	return xyz(el, span, "grid_dim", el->grid_extent,
	    CJ_SPECIAL_GRID_DIM_X);
}

/* Known at compile time. */
struct cj_value
cj_builtin_value_cluster_dim(struct cj_elab *el, struct cj_span span)
{
	return xyz(el, span, "cluster_dim", el->cluster_extent,
	    CJ_SPECIAL_COUNT);
}

static struct cj_value
special(struct cj_elab *el, struct cj_span span, enum cj_special what,
    const char *name)
{
	if (!is_device(el, span, name))
		return cj_value_error();
	return cj_value_int(cj_elab_special(el, what));
}

struct cj_value
cj_builtin_value_lane_idx(struct cj_elab *el, struct cj_span span)
{
	return special(el, span, CJ_SPECIAL_LANE, "lane_idx");
}

struct cj_value
cj_builtin_value_warp_idx(struct cj_elab *el, struct cj_span span)
{
	return special(el, span, CJ_SPECIAL_WARP, "warp_idx");
}

struct cj_value
cj_builtin_value_block_rank(struct cj_elab *el, struct cj_span span)
{
	return special(el, span, CJ_SPECIAL_BLOCK_RANK, "block_rank");
}

struct cj_value
cj_builtin_value_device(struct cj_elab *el, struct cj_span span)
{
	cj_name name = cj_elab_intern(el, "sms");
	struct cj_value sms;

	if (el->em == NULL || el->time == CJ_TIME_CONST ||
	    el->time == CJ_TIME_TEST)
		return cj_elab_error(el, CJ_DIAG_WRONG_TIME, span,
		    "\"device\" belongs to kernels");
	sms = cj_value_int(cj_elab_fact(el, (struct cj_device_ask){
	    .fact = CJ_DEVICE_SMS }, "device.sms"));
	return cj_value_tuple(el, &sms, &name, 1);
}
