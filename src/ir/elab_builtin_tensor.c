/*
 * Views and registers: guard, make_tensor, workspace, fill, zeros, reshape; and
 * exchanges within a warp.
 */
#include "elab_access.h"
#include "elab_tiled.h"

/* ---- views --------------------------------------------------------------- */

struct cj_value
cj_builtin_guard(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_value *fill = cj_arg_named(el, args, "fill");
	const struct cj_value *pred = cj_arg_named(el, args, "pred");
	struct cj_tensor t;

	(void)row;
	if (args->at[0].kind != CJ_VALUE_TENSOR)
		return cj_elab_error(el, CJ_DIAG_WRONG_KIND, args->span,
		    "guard takes a view, this is %s",
		    cj_value_what(el, &args->at[0]));
	t = *args->at[0].tensor;
	t.is_guarded = true;
	if (t.cut == NULL)
		t.cut = t.uncut = cj_cut_new(el, &t);
	if (fill != NULL) {
		if (cj_elab_coerce(el, cj_arg_named_span(el, args, "fill"),
		    t.element, *fill).kind == CJ_VALUE_ERROR)
			return cj_value_error();
		t.has_fill = true;
		t.fill = cj_memdup(el->arena, fill, sizeof *fill);
	}
	if (pred != NULL && !cj_guard_asks(el, cj_arg_named_span(el, args,
	    "pred"), pred, &t))
		return cj_value_error();
	return cj_value_tensor(el, &t);
}

/* align = n: what the caller knows of the first element's address. */
static bool
promise_align(struct cj_elab *el, struct cj_args *args, struct cj_tensor *t)
{
	const struct cj_value *v = cj_arg_named(el, args, "align");
	int64_t n;

	if (v == NULL)
		return true;
	n = v->kind == CJ_VALUE_INT && cj_is_known(v->i) ? v->i.value : 0;
	if (n <= 0 || n > 1024 || (n & (n - 1)) != 0) {
		cj_elab_error(el, CJ_DIAG_WRONG_ARGUMENTS, args->span,
		    "an alignment is a power of two up to 1024 that is known "
		    "at compile time, this is %s", cj_value_what(el, v));
		return false;
	}
	t->promised = (uint32_t)n;
	t->origin = t->offset;
	return true;
}

struct cj_value
cj_builtin_make_tensor(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_layout *l = cj_value_to_layout(el, args->span,
	    &args->at[1]);
	struct cj_tensor t;
	bool is_raw;

	(void)row;
	if (l == NULL || !cj_arg_flag(el, args, "raw", &is_raw))
		return cj_value_error();
	if (args->at[0].kind != CJ_VALUE_TENSOR)
		return cj_elab_error(el, CJ_DIAG_WRONG_KIND, args->span,
		    "make_tensor takes a tensor, this is %s",
		    cj_value_what(el, &args->at[0]));
	t = *args->at[0].tensor;
	if (!cj_elab_not_gathered(el, cj_arg_span(args, 0), &t,
	    "make_tensor takes memory from one place on", "Cut the view as "
	    "it is: local_tile(), partition(), t[a..b, _].") ||
	    !cj_elab_not_guarded(el, cj_arg_span(args, 0), &t, "make_tensor "
	    "takes memory from one place on", "Guard what make_tensor() gives, "
	    "or cut the view as it is: local_tile(), partition()."))
		return cj_value_error();
	t.layout = t.seen = l;
	t.cut = t.within = NULL;
	t.is_raw |= is_raw;
	return promise_align(el, args, &t) ? cj_value_tensor(el, &t) :
	    cj_value_error();
}

struct cj_value
cj_builtin_workspace(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_value *fill = cj_arg_named(el, args, "fill");
	const struct cj_layout *l = cj_value_to_layout(el, args->span,
	    &args->at[1]);
	struct cj_object o = { .kind = CJ_OBJECT_WORKSPACE, .extent = -1,
	    .align = 256, .name = "workspace" };
	struct cj_tensor t = { .level = 1, .offset = cj_known(0) };
	struct cj_access access = { .align = 1 };
	struct cj_value v;
	cj_ref refs[2];
	struct cj_int size;

	(void)row;
	if (l == NULL || !cj_arg_flag(el, args, "restored", &o.restored))
		return cj_value_error();
	if (o.restored && fill == NULL)
		return cj_elab_error(el, CJ_DIAG_WRONG_ARGUMENTS, args->span,
		    "restored is about a fill, and there is none");
	if (args->at[0].kind != CJ_VALUE_TYPE ||
	    args->at[0].type->scalar == CJ_KIND_VOID)
		return cj_elab_error(el, CJ_DIAG_WRONG_KIND, args->span,
		    "workspace takes a number type first, this is %s",
		    cj_value_what(el, &args->at[0]));
	size = cj_layout_extent(&el->al, l);
	o.element = t.element = args->at[0].type->scalar;
	if (o.restored && cj_kind_bits(t.element) < 8)
		return cj_elab_error(el, CJ_DIAG_UNSUPPORTED, args->span,
		    "a workspace that is restored has elements of 8 bits or "
		    "more, not %s", cj_kind_text(t.element));
	if (cj_is_known(size))
		o.extent = size.value;
	o.place = el->em->b.place;
	t.object = access.object = cj_module_object(el->m, &o);
	t.layout = l;
	refs[0] = cj_elab_ref_int(el, size);
	if (fill != NULL) {
		v = cj_elab_coerce(el, args->span, t.element, *fill);
		if (v.kind == CJ_VALUE_ERROR)
			return v;
		/* the driver sets bytes, and a value lies across them */
		if (cj_kind_bits(t.element) == 6 && !(v.kind ==
		    CJ_VALUE_SCALAR && v.bits == 0))
			return cj_elab_error(el, CJ_DIAG_UNSUPPORTED,
			    args->span, "a workspace of %s is filled with 0 "
			    "alone", cj_kind_text(t.element));
		refs[1] = cj_elab_ref(el, &v, t.element);
	}
	cj_emit(&el->em->b, CJ_OP_WORKSPACE, 0, cj_module_access(el->m,
	    &access), refs, fill == NULL ? 1 : 2);
	return cj_value_tensor(el, &t);
}

/* Modes i and k of `at` as one, if one goes on where the other one ends. */
static const struct cj_layout *
joined(struct cj_elab *el, const struct cj_layout *const *at, uint32_t i,
    uint32_t k)
{
	const struct cj_layout *pair[] = { at[i], at[k] };
	const struct cj_layout *l = cj_layout_coalesce(&el->al,
	    cj_layout_concat(&el->al, pair, 2), NULL);

	return cj_is_leaf(l->shape) ? l : NULL;
}

/* Coalesced whatever the order of the modes: the same places, each as often. */
static const struct cj_layout *
coalesced_as_set(struct cj_elab *el, const struct cj_layout *l)
{
	const struct cj_layout **at, *one;
	uint32_t n = cj_layout_rank(l), i, k;

	if (l->swizzle.bits != 0 || l->offset != NULL || n < 2)
		return l;
	at = CJ_NEWS(el->arena, const struct cj_layout *, n);
	for (i = 0; i < n; i++)
		at[i] = cj_layout_get(&el->al, l, i);
	for (i = 0; i < n; i++) {
		for (k = 0; k < n; k++) {
			one = i != k ? joined(el, at, i, k) : NULL;
			if (one == NULL)
				continue;
			at[i] = one;
			at[k] = at[--n];
			/* what is longer may join others: once more */
			i = UINT32_MAX;
			break;
		}
	}
	return n == 1 ? at[0] : l;
}

/* The driver sets elements that are equally far apart. */
static bool
fillable(struct cj_elab *el, struct cj_span span, const struct cj_value *v,
    const struct cj_layout **out)
{
	const struct cj_layout *l;

	if (v->kind != CJ_VALUE_TENSOR) {
		cj_elab_error(el, CJ_DIAG_WRONG_KIND, span,
		    "fill takes a view, this is %s", cj_value_what(el, v));
		return false;
	}
	if (!cj_elab_not_gathered(el, span, v->tensor,
	    "fill takes elements that are equally far apart",
	    "Store to it in a launch."))
		return false;
	l = *out = coalesced_as_set(el, cj_layout_coalesce(&el->al,
	    v->tensor->layout, NULL));
	if (!cj_is_leaf(l->shape) || l->swizzle.bits != 0) {
		cj_help(cj_elab_report(el, CJ_DIAG_UNSUPPORTED, span,
		    "fill takes elements that are equally far apart, this is "
		    "%s", cj_value_what(el, v)),
		    "If there are no gaps, let the layout say so, as (M, N):"
		    "(N, 1) in a pattern; else a loop in the host part fills "
		    "a view of one mode each time.");
		return false;
	}
	if (v->tensor->is_guarded || cj_kind_bits(v->tensor->element) < 8) {
		cj_elab_error(el, CJ_DIAG_UNSUPPORTED, span, "fill takes %s",
		    v->tensor->is_guarded ? "a view without a guard" :
		    "elements of whole bytes");
		return false;
	}
	return true;
}

struct cj_value
cj_builtin_fill(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	struct cj_access access = { .align = 1 };
	const struct cj_layout *l;
	const struct cj_tensor *t;
	struct cj_value v;
	cj_ref refs[4];

	(void)row;
	if (!fillable(el, args->span, &args->at[0], &l))
		return cj_value_error();
	t = args->at[0].tensor;
	v = cj_elab_coerce(el, args->span, t->element, args->at[1]);
	if (v.kind == CJ_VALUE_ERROR)
		return v;
	el->m->objects.at[t->object].writes = true;
	access.object = t->object;
	refs[0] = cj_elab_ref_int(el, t->offset);
	refs[1] = cj_elab_ref(el, &v, t->element);
	refs[2] = cj_elab_ref_int(el, l->shape->value);
	refs[3] = cj_elab_ref_int(el, l->stride->value);
	cj_emit(&el->em->b, CJ_OP_FILL, 0, cj_module_access(el->m, &access),
	    refs, 4);
	return cj_value_none();
}

/* ---- registers ----------------------------------------------------------- */

static bool
registers_shape(struct cj_elab *el, struct cj_span span,
    const struct cj_value *v, const struct cj_tuple **out)
{
	const struct cj_layout *l = cj_value_to_layout(el, span, v);

	if (l == NULL)
		return false;
	*out = l->shape;
	return cj_elab_fits_registers(el, span, l->shape);
}

struct cj_value
cj_builtin_zeros(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_tuple *shape;
	enum cj_kind k;

	(void)row;
	if (args->at[0].kind != CJ_VALUE_TYPE ||
	    args->at[0].type->scalar == CJ_KIND_VOID)
		return cj_elab_error(el, CJ_DIAG_WRONG_KIND, args->span,
		    "zeros takes a number type first, this is %s",
		    cj_value_what(el, &args->at[0]));
	if (el->time == CJ_TIME_TEST)
		return cj_elab_array_zeros(el, args);
	k = args->at[0].type->scalar;
	if (!registers_shape(el, args->span, &args->at[1], &shape))
		return cj_value_error();
	if (el->em == NULL)
		return cj_elab_error(el, CJ_DIAG_WRONG_TIME, args->span,
		    "registers belong to functions that run");
	return cj_value_regs(el, k, shape, cj_emit_bits(&el->em->b,
	    cj_type_of(k, cj_shape_count(shape)), 0));
}

/* The shape that a value gets. Its elements keep their order, in which mode 0
 * goes first: strides of a layout would say otherwise. */
static const struct cj_tuple *
new_shape(struct cj_elab *el, struct cj_span span, const struct cj_value *v)
{
	const struct cj_layout *l = cj_value_to_layout(el, span, v), *compact;

	if (l == NULL || v->kind != CJ_VALUE_LAYOUT)
		return l == NULL ? NULL : l->shape;
	compact = cj_layout_make(&el->al, l->shape, NULL);
	if (compact != NULL && cj_layout_same(l, compact))
		return l->shape;
	cj_help(cj_elab_report(el, CJ_DIAG_WRONG_KIND, span,
	    "reshape takes a shape, this is the layout %s",
	    cj_value_text(el, v)),
	    "Elements keep their order, mode 0 first. transpose(reshape(a, "
	    "(n, m))) fills m rows of n one after the other.");
	return NULL;
}

struct cj_value
cj_builtin_reshape(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	struct cj_value v = cj_elab_read(el, args->span, args->at[0]);
	bool is_array = cj_elab_is_array(el, &v);
	const struct cj_tuple *shape;
	struct cj_diag *d;

	(void)row;
	if (v.kind == CJ_VALUE_ERROR)
		return v;
	if (!is_array && v.kind != CJ_VALUE_REGS) {
		d = cj_elab_report(el, CJ_DIAG_WRONG_KIND, args->span,
		    "reshape takes registers, this is %s",
		    cj_value_what(el, &v));
		if (v.kind == CJ_VALUE_TENSOR)
			cj_help(d, "composition(t, shape) is a view of memory "
			    "in another shape.");
		return cj_value_error();
	}
	shape = new_shape(el, args->span, &args->at[1]);
	if (shape == NULL)
		return cj_value_error();
	if (is_array)
		return cj_elab_array_reshape(el, args->span, v, shape);
	if (!cj_elab_fits_registers(el, args->span, shape))
		return cj_value_error();
	if (cj_shape_count(shape) != cj_shape_count(v.regs.shape))
		return cj_elab_error(el, CJ_DIAG_WRONG_SHAPE, args->span,
		    "the new shape has %u elements, the value has %u",
		    cj_shape_count(shape), cj_shape_count(v.regs.shape));
	return cj_value_regs(el, (enum cj_kind)v.scalar, shape,
	    cj_elab_ref(el, &v, CJ_KIND_VOID));
}

/* ---- threads ------------------------------------------------------------- */

static struct cj_value
shfl(struct cj_elab *el, struct cj_args *args, enum cj_shfl how)
{
	struct cj_value v = cj_elab_read(el, args->span, args->at[0]);
	enum cj_kind k;
	struct cj_int lane;
	cj_ref refs[2];

	if (v.kind == CJ_VALUE_ERROR ||
	    !cj_value_to_int(el, args->span, &args->at[1], &lane))
		return cj_value_error();
	if (!cj_value_is_number(&v))
		return cj_elab_error(el, CJ_DIAG_WRONG_KIND, args->span,
		    "lanes exchange numbers, this is %s",
		    cj_value_what(el, &v));
	k = v.kind == CJ_VALUE_REAL ? CJ_KIND_F32 : cj_value_kind_of(&v);
	refs[0] = cj_elab_ref(el, &v, k);
	refs[1] = cj_elab_ref_int(el, lane);
	return cj_value_regs(el, k, cj_value_shape(&v), cj_emit(&el->em->b,
	    CJ_OP_SHFL, cj_inst(el->m, refs[0])->type, how, refs, 2));
}

struct cj_value
cj_builtin_shfl(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	(void)row;
	return shfl(el, args, CJ_SHFL_IDX);
}

struct cj_value
cj_builtin_shfl_up(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	(void)row;
	return shfl(el, args, CJ_SHFL_UP);
}

struct cj_value
cj_builtin_shfl_down(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	(void)row;
	return shfl(el, args, CJ_SHFL_DOWN);
}

struct cj_value
cj_builtin_shfl_xor(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	(void)row;
	return shfl(el, args, CJ_SHFL_XOR);
}

/* Each 32 bits of a lane are of one matrix. */
struct cj_value
cj_builtin_movmatrix(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	struct cj_value v = cj_elab_read(el, args->span, args->at[0]);
	enum cj_kind k = cj_value_kind_of(&v);
	unsigned bits = cj_kind_bits(k), each = bits == 0 ? 1 : 32 / bits;
	cj_ref *turned, whole, part;
	uint32_t n, i;

	if (v.kind == CJ_VALUE_ERROR)
		return v;
	n = v.kind == CJ_VALUE_REGS ? cj_shape_count(v.regs.shape) : 0;
	if (n == 0 || bits < 4 || 16 % bits != 0 || n % each != 0)
		return cj_elab_error(el, CJ_DIAG_WRONG_KIND, args->span,
		    "%s takes 32 bits of each matrix, in registers of 4, 8 or "
		    "16 bits, this is %s", row->name, cj_value_what(el, &v));
	cj_elab_meet(el, 32, row->name);
	turned = CJ_NEWS(el->arena, cj_ref, n / each);
	whole = cj_elab_ref(el, &v, CJ_KIND_VOID);
	for (i = 0; i < n / each; i++) {
		part = n == each ? whole : cj_emit(&el->em->b, CJ_OP_SLICE,
		    cj_type_of(k, each), i * each, &whole, 1);
		turned[i] = cj_emit1(&el->em->b, CJ_OP_MOVMATRIX,
		    cj_type_of(k, each), part);
	}
	return cj_value_regs(el, k, v.regs.shape, n == each ? turned[0] :
	    cj_emit(&el->em->b, CJ_OP_CONCAT, cj_type_of(k, n), 0, turned,
	    n / each));
}

struct cj_value
cj_builtin_ballot(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	bool known, truth;
	cj_ref c;

	(void)row;
	if (!cj_elab_condition(el, args->span, args->at[0], &known, &truth,
	    &c))
		return cj_value_error();
	if (known)
		c = cj_emit_bool(&el->em->b, truth);
	return cj_value_regs(el, CJ_KIND_U32, NULL, cj_emit1(&el->em->b,
	    CJ_OP_BALLOT, cj_type_of(CJ_KIND_U32, 1), c));
}
