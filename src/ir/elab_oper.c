/*
 * Operators on operands of one type (elab_unify.c) and one shape
 * (elab_shape.c): folding what is known, emitting the rest.
 *
 * `int` operands become terms (layout/sym.h). Known reals are computed in f64.
 * Everything else of a known type is folded by num.c, the arithmetic of the
 * executor, so that folding never changes a result.
 */
#include "elab_pass.h"
#include "elab_unify.h"

enum { MOST_OPERANDS = 4 };

/* ---- one operation ------------------------------------------------------- */

static bool
is_comparison(enum cj_op op)
{
	return op == CJ_OP_EQ || op == CJ_OP_NE || op == CJ_OP_LT ||
	    op == CJ_OP_LE;
}

static bool
needs_float(enum cj_op op)
{
	return cj_op_demand(op) == CJ_DEMAND_FLOAT;
}

static bool
needs_integer(enum cj_op op)
{
	enum cj_demand demand = cj_op_demand(op);

	return demand == CJ_DEMAND_INTEGER || demand == CJ_DEMAND_BITS;
}

/* The operation as the program writes it. */
static const char *
op_text(enum cj_op op)
{
	switch ((unsigned)op) {
	case CJ_OP_ADD: return "+";
	case CJ_OP_SUB: case CJ_OP_NEG: return "-";
	case CJ_OP_MUL: return "*";
	case CJ_OP_DIV: return "/";
	case CJ_OP_MOD: return "%";
	case CJ_OP_AND: return "&";
	case CJ_OP_OR: return "|";
	case CJ_OP_XOR: return "^";
	case CJ_OP_NOT: return "~";
	case CJ_OP_SHL: return "<<";
	case CJ_OP_SHR: return ">>";
	case CJ_OP_EQ: return "==";
	case CJ_OP_NE: return "!=";
	case CJ_OP_LT: return "<";
	case CJ_OP_LE: return "<=";
	}
	return cj_op_info[op].text;
}

static bool
fits_class(struct cj_elab *el, struct cj_span span, enum cj_op op,
    enum cj_kind k)
{
	bool is_logic = op == CJ_OP_AND || op == CJ_OP_OR ||
	    op == CJ_OP_XOR || op == CJ_OP_NOT;
	bool is_order = is_comparison(op) || op == CJ_OP_MIN ||
	    op == CJ_OP_MAX;
	bool is_float = k == CJ_KIND_VOID || cj_kind_is_float(k);
	struct cj_diag *d;

	if (k == CJ_KIND_BOOL ? is_logic || op == CJ_OP_EQ || op == CJ_OP_NE :
	    needs_float(op) ? is_float : needs_integer(op) ? !is_float :
	    is_order || is_float || cj_kind_is_integer(k))
		return true;
	d = cj_elab_report(el, CJ_DIAG_WRONG_KIND, span,
	    "\"%s\" needs %s, the operands are %s", op_text(op),
	    needs_float(op) ? "floating-point numbers" :
	    needs_integer(op) ? "integers" : "numbers",
	    k == CJ_KIND_VOID ? "real numbers" : cj_kind_text(k));
	if (needs_float(op) && cj_kind_is_integer(k))
		cj_help(d, "Convert them: f32(...).");
	return false;
}

static struct cj_value
truth_of(struct cj_elab *el, enum cj_truth t, enum cj_op op, struct cj_int a,
    struct cj_int b)
{
	cj_ref x, r;

	if (t != CJ_MAYBE)
		return cj_value_bool(t == CJ_YES);
	if (el->em == NULL)
		return cj_value_error();
	x = cj_elab_ref_int(el, a);
	r = cj_emit2(&el->em->b, op, cj_type_of(CJ_KIND_BOOL, 1), x,
	    cj_elab_ref_int(el, b));
	return cj_value_regs(el, CJ_KIND_BOOL, NULL, r);
}

static enum cj_truth
not(enum cj_truth t)
{
	return t == CJ_YES ? CJ_NO : t == CJ_NO ? CJ_YES : CJ_MAYBE;
}

static struct cj_value
int_other(struct cj_elab *el, enum cj_op op, const struct cj_value *args,
    uint32_t count)
{
	cj_ref refs[MOST_OPERANDS];
	uint64_t bits[MOST_OPERANDS] = { 0 };
	bool known = true;
	uint32_t i;

	assert(count < MOST_OPERANDS);
	for (i = 0; i < count; i++) {
		known = known && cj_is_known(args[i].i);
		bits[i] = (uint64_t)args[i].i.value;
	}
	if (known)
		return cj_value_known((int64_t)cj_num_apply(op, CJ_KIND_INDEX,
		    bits[0], bits[1], bits[2]));
	for (i = 0; i < count; i++)
		refs[i] = cj_elab_ref_int(el, args[i].i);
	return cj_value_regs(el, CJ_KIND_INDEX, NULL, cj_emit(&el->em->b, op,
	    cj_type_of(CJ_KIND_INDEX, 1), 0, refs, count));
}

/* An operation on `int`: a term, or an instruction for the rare ones. */
static struct cj_value
int_apply(struct cj_elab *el, enum cj_op op, const struct cj_value *args,
    uint32_t count)
{
	struct cj_symtab *t = &el->sym;
	struct cj_int a = args[0].i, b = count > 1 ? args[1].i : cj_known(0);

	switch ((unsigned)op) {
	case CJ_OP_ADD: return cj_value_int(cj_int_add(t, a, b));
	case CJ_OP_SUB: return cj_value_int(cj_int_sub(t, a, b));
	case CJ_OP_MUL: return cj_value_int(cj_int_mul(t, a, b));
	case CJ_OP_DIV: return cj_value_int(cj_int_div(t, a, b));
	case CJ_OP_MOD: return cj_value_int(cj_int_mod(t, a, b));
	case CJ_OP_MIN: return cj_value_int(cj_int_min(t, a, b));
	case CJ_OP_MAX: return cj_value_int(cj_int_max(t, a, b));
	case CJ_OP_NEG: return cj_value_int(cj_int_neg(t, a));
	case CJ_OP_ABS: return cj_value_int(cj_int_abs(t, a));
	case CJ_OP_NOT:		/* -1 - a */
		return cj_value_int(cj_int_sub(t, cj_known(-1), a));
	case CJ_OP_AND:
		return cj_value_int(cj_int_bit(t, CJ_TERM_AND, a, b));
	case CJ_OP_OR:
		return cj_value_int(cj_int_bit(t, CJ_TERM_OR, a, b));
	case CJ_OP_XOR:
		return cj_value_int(cj_int_bit(t, CJ_TERM_XOR, a, b));
	case CJ_OP_SHL:
		return cj_value_int(cj_int_bit(t, CJ_TERM_SHL, a, b));
	case CJ_OP_SHR:
		return cj_value_int(cj_int_bit(t, CJ_TERM_SHR, a, b));
	case CJ_OP_FMA:
		return cj_value_int(cj_int_add(t, cj_int_mul(t, a, b),
		    args[2].i));
	case CJ_OP_EQ:
		return truth_of(el, cj_int_equal(t, a, b), op, a, b);
	case CJ_OP_NE:
		return truth_of(el, not(cj_int_equal(t, a, b)), op, a, b);
	case CJ_OP_LT:
		return truth_of(el, cj_int_less(t, a, b), op, a, b);
	case CJ_OP_LE:
		return truth_of(el, cj_int_less_equal(t, a, b), op, a, b);
	}
	return int_other(el, op, args, count);
}

/* A term that is too long becomes an instruction; a known number that does not
 * fit is an error. */
static struct cj_value
int_result(struct cj_elab *el, struct cj_span span, enum cj_op op,
    const struct cj_value *args, uint32_t count)
{
	struct cj_value v = int_apply(el, op, args, count);
	bool known = true;
	uint32_t i;

	if (!el->sym.overflow)
		return v;
	el->sym.overflow = false;
	for (i = 0; i < count; i++)
		known = known && cj_is_known(args[i].i);
	if (known || el->em == NULL)
		return cj_elab_error(el, CJ_DIAG_INEXACT, span,
		    "the result of \"%s\" does not fit in 64 bits",
		    op_text(op));
	if (is_comparison(op))
		return truth_of(el, CJ_MAYBE, op, args[0].i, args[1].i);
	return int_other(el, op, args, count);
}

static uint64_t
bits_of(const struct cj_value *v)
{
	union { double x; uint64_t bits; } u;

	if (v->kind == CJ_VALUE_BOOL)
		return v->truth;
	if (v->kind == CJ_VALUE_INT)
		return (uint64_t)v->i.value;
	if (v->kind != CJ_VALUE_REAL)
		return v->bits;
	u.x = v->real;
	return u.bits;
}

static struct cj_value
fold(enum cj_op op, enum cj_kind k, const struct cj_value *args,
    uint32_t count)
{
	enum cj_kind in = k == CJ_KIND_VOID ? CJ_KIND_F64 : k;
	uint64_t bits[MOST_OPERANDS] = { 0 }, got;
	union { double x; uint64_t bits; } u;
	uint32_t i;

	assert(count < MOST_OPERANDS);
	for (i = 0; i < count; i++)
		bits[i] = bits_of(&args[i]);
	got = cj_num_apply(op, in, bits[0], bits[1], bits[2]);
	if (is_comparison(op))
		return cj_value_bool(got != 0);
	if (k != CJ_KIND_VOID)
		return cj_value_scalar(k, got);
	u.bits = got;
	return cj_value_real(u.x);
}

static struct cj_value
emit_apply(struct cj_elab *el, struct cj_span span, enum cj_op op,
    enum cj_kind k, struct cj_value *args, uint32_t count)
{
	const struct cj_tuple *shape = NULL;
	enum cj_kind result = is_comparison(op) ? CJ_KIND_BOOL : k;
	const struct cj_fragment *fragment = NULL;
	cj_ref refs[MOST_OPERANDS], r;
	struct cj_value v;
	uint32_t i;

	assert(k != CJ_KIND_VOID && el->em != NULL);
	if (!cj_elab_common_shape(el, span, args, count, &shape))
		return cj_value_error();
	for (i = 0; i < count; i++) {
		v = cj_elab_broadcast(el, span, args[i], shape);
		if (v.kind == CJ_VALUE_ERROR)
			return v;
		if (!cj_fragments_agree(el, span, fragment, v.fragment))
			return cj_value_error();
		refs[i] = cj_elab_ref(el, &v, k);
		if (fragment == NULL)
			fragment = v.fragment;
	}
	r = cj_emit(&el->em->b, op, cj_type_of(result,
	    cj_shape_count(shape)), 0, refs, count);
	v = cj_value_regs(el, result, shape, r);
	v.fragment = fragment;
	return v;
}

struct each_op {
	enum cj_op op;
	struct cj_span span;
};

static struct cj_value
apply_each(struct cj_elab *el, void *user, const struct cj_value *args,
    uint32_t count)
{
	const struct each_op *e = user;

	return cj_elab_apply(el, e->span, e->op, args, count);
}

bool
cj_elab_any_array(const struct cj_elab *el, const struct cj_value *args,
    uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		if (cj_elab_is_array(el, &args[i]))
			return true;
	return false;
}

struct cj_value
cj_elab_apply(struct cj_elab *el, struct cj_span span, enum cj_op op,
    const struct cj_value *args, uint32_t count)
{
	struct cj_value v[MOST_OPERANDS];
	struct each_op each = { op, span };
	bool ok, known = true, is_int = true;
	enum cj_kind k;
	uint32_t i;

	assert(count >= 1 && count < MOST_OPERANDS);
	if (cj_elab_any_array(el, args, count))
		return cj_elab_array_map(el, span, args, count, apply_each,
		    &each);
	for (i = 0; i < count; i++) {
		v[i] = cj_elab_read(el, span, args[i]);
		if (v[i].kind == CJ_VALUE_ERROR)
			return v[i];
		if (!cj_value_is_number(&v[i]))
			return cj_elab_error(el, CJ_DIAG_WRONG_KIND, span,
			    "\"%s\" needs numbers, this is %s",
			    op_text(op), cj_value_what(el, &v[i]));
	}
	k = cj_elab_common_kind(el, span, v, count, &ok);
	if (ok && k == CJ_KIND_INDEX && needs_float(op)) {
		for (i = 0; i < count; i++)
			known = known && cj_value_is_known(&v[i]);
		k = known ? CJ_KIND_VOID : k;
	}
	if (!ok || !fits_class(el, span, op, k))
		return cj_value_error();
	for (i = 0, known = true; i < count; i++) {
		v[i] = cj_elab_adapt(el, span, k, v[i]);
		if (v[i].kind == CJ_VALUE_ERROR)
			return v[i];
		known = known && cj_value_is_known(&v[i]);
		is_int = is_int && v[i].kind == CJ_VALUE_INT;
	}
	if (is_int)
		return int_result(el, span, op, v, count);
	return known ? fold(op, k, v, count) :
	    emit_apply(el, span, op, k, v, count);
}

/* ---- the instruction of a value ------------------------------------------ */

cj_ref
cj_elab_ref(struct cj_elab *el, const struct cj_value *v, enum cj_kind k)
{
	cj_type t;
	uint64_t bits;

	switch (v->kind) {
	case CJ_VALUE_INT:
		if (k == CJ_KIND_VOID || k == CJ_KIND_INDEX)
			return cj_elab_ref_int(el, v->i);
		assert(cj_is_known(v->i));
		cj_elab_is_exact(k, v->i.value, &bits);
		return cj_emit_bits(&el->em->b, cj_type_of(k, 1), bits);
	case CJ_VALUE_REAL:
		if (k == CJ_KIND_VOID)
			k = CJ_KIND_F32;
		return cj_emit_bits(&el->em->b, cj_type_of(k, 1),
		    cj_num_from_f64(k, v->real));
	case CJ_VALUE_BOOL:
		return cj_emit_bool(&el->em->b, v->truth);
	case CJ_VALUE_SCALAR:
		t = cj_type_of((enum cj_kind)v->scalar, 1);
		return cj_emit_bits(&el->em->b, t, v->bits);
	case CJ_VALUE_REGS:
		return cj_elab_pass(el, v->regs.ref, v->level);
	case CJ_VALUE_ERROR: case CJ_VALUE_NONE: case CJ_VALUE_ANY:
	case CJ_VALUE_TUPLE: case CJ_VALUE_LAYOUT: case CJ_VALUE_BASIS:
	case CJ_VALUE_SWIZZLE: case CJ_VALUE_TENSOR: case CJ_VALUE_PLACE:
	case CJ_VALUE_TYPE: case CJ_VALUE_FUNCTION: case CJ_VALUE_BUILTIN:
	case CJ_VALUE_RANGE: case CJ_VALUE_STRING: case CJ_VALUE_CHOICE:
	case CJ_VALUE_PIPELINE: case CJ_VALUE_ORDER: case CJ_VALUE_FILE:
	case CJ_VALUE_ATOM: case CJ_VALUE_MMA:
	case CJ_VALUE_COPY: case CJ_VALUE_UNWRITTEN:
		break;
	}
	cj_bug(el->recover, "no instruction for %s", cj_value_what(el, v));
}

struct cj_value
cj_elab_not_condition(struct cj_elab *el, struct cj_span span,
    const struct cj_value *v)
{
	struct cj_diag *d = cj_elab_report(el, CJ_DIAG_WRONG_KIND, span,
	    "a condition is a bool, this is %s", cj_value_what(el, v));
	cj_name name = v->kind == CJ_VALUE_TUPLE && v->tuple->count == 1 &&
	    v->tuple->names != NULL ? v->tuple->names[0] : 0;

	if (name != 0)
		cj_help(d, "(%s = ...) is a tuple with a name; \"==\" "
		    "compares.", cj_elab_name(el, name));
	return cj_value_error();
}

bool
cj_elab_condition(struct cj_elab *el, struct cj_span span, struct cj_value v,
    bool *known, bool *truth, cj_ref *ref)
{
	v = cj_elab_read(el, span, v);
	*known = v.kind == CJ_VALUE_BOOL;
	if (*known) {
		*truth = v.truth;
		return true;
	}
	if (v.kind == CJ_VALUE_REGS && v.scalar == CJ_KIND_BOOL &&
	    v.regs.shape == NULL) {
		*ref = cj_elab_ref(el, &v, CJ_KIND_BOOL);
		return true;
	}
	if (v.kind != CJ_VALUE_ERROR)
		cj_elab_not_condition(el, span, &v);
	return false;
}
