/*
 * Operands brought to one type: what an `int` or a literal becomes next to a
 * number of a sized type, and what is not mixed.
 */
#include "elab_unify.h"
#include "elab_origin.h"

struct mix {
	enum cj_kind sized;	/* of run-time and sized operands */
	bool has_index;		/* a run-time int */
	bool has_real, has_literal;
};

void
cj_elab_operands(struct cj_elab *el, struct cj_span operation,
    struct cj_span left, struct cj_span right)
{
	el->operation = operation;
	el->operand[0] = left;
	el->operand[1] = right;
}

static bool
is_same(struct cj_span a, struct cj_span b)
{
	return a.source == b.source && a.begin == b.begin && a.end == b.end;
}

/* The operand that is an int, as the fix-it: its kind was found last. */
static void
convert_int(struct cj_elab *el, struct cj_span span, struct cj_diag *d,
    enum cj_kind to)
{
	struct cj_span at = el->operand[el->int_operand & 1];

	cj_help(d, "Convert the int: %s(...).", cj_kind_text(to));
	if (el->int_operand < 2 && is_same(el->operation, span))
		cj_fixit(d, at, "%s(%s)", cj_kind_text(to),
		    cj_elab_source_text(el, at));
}

static struct cj_diag *
report_mixed(struct cj_elab *el, struct cj_span span, enum cj_kind a,
    enum cj_kind b)
{
	struct cj_diag *d = cj_elab_report(el, CJ_DIAG_MIXED_TYPES, span,
	    "%s and %s meet in one operation", cj_kind_text(a),
	    cj_kind_text(b));

	if (b == CJ_KIND_INDEX && a != CJ_KIND_BOOL)
		convert_int(el, span, d, a);
	else if (a == CJ_KIND_INDEX && b != CJ_KIND_BOOL)
		convert_int(el, span, d, b);
	else
		cj_help(d, "Convert one of them: %s(...) or %s(...).",
		    cj_kind_text(a), cj_kind_text(b));
	return d;
}

static enum cj_kind
mixed(struct cj_elab *el, struct cj_span span, enum cj_kind a, enum cj_kind b)
{
	report_mixed(el, span, a, b);
	return CJ_KIND_VOID;
}

/* VOID: a real number. The int may be a `var` that was meant to be none. */
static enum cj_kind
mixed_with_int(struct cj_elab *el, struct cj_span span, enum cj_kind sized,
    const struct cj_value *args, uint32_t count)
{
	struct cj_diag *d;
	uint32_t i;

	if (sized != CJ_KIND_VOID) {
		d = report_mixed(el, span, sized, CJ_KIND_INDEX);
	} else {
		sized = CJ_KIND_F32;
		d = cj_elab_report(el, CJ_DIAG_MIXED_TYPES, span, "a run-time "
		    "int and a real number meet in one operation");
		convert_int(el, span, d, sized);
	}
	for (i = 0; i < count && cj_kind_is_float(sized); i++)
		if (args[i].kind == CJ_VALUE_INT)
			cj_elab_note_var(el, d, args[i].i);
	return CJ_KIND_VOID;
}

static bool
add_to_mix(struct cj_elab *el, struct cj_span span, struct mix *m,
    const struct cj_value *v)
{
	enum cj_kind k = cj_value_kind_of(v);

	if (v->kind == CJ_VALUE_REAL) {
		m->has_real = true;
	} else if (v->kind == CJ_VALUE_INT && cj_is_known(v->i)) {
		m->has_literal = true;
	} else if (k == CJ_KIND_INDEX) {
		m->has_index = true;
	} else if (m->sized == CJ_KIND_VOID || m->sized == k) {
		m->sized = k;
	} else {
		mixed(el, span, m->sized, k);
		return false;
	}
	return true;
}

enum cj_kind
cj_elab_common_kind(struct cj_elab *el, struct cj_span span,
    const struct cj_value *args, uint32_t count, bool *ok)
{
	struct mix m = { CJ_KIND_VOID, false, false, false };
	uint32_t i;

	*ok = true;
	el->int_operand = 2;
	for (i = 0; i < count && *ok; i++) {
		if (count == 2 && args[i].kind == CJ_VALUE_INT)
			el->int_operand = i;
		*ok = add_to_mix(el, span, &m, &args[i]);
	}
	if (!*ok)
		return CJ_KIND_VOID;
	if (m.sized == CJ_KIND_VOID && m.has_index && m.has_real) {
		*ok = false;
		return mixed_with_int(el, span, CJ_KIND_VOID, args, count);
	}
	if (m.sized == CJ_KIND_VOID)
		return m.has_real ? CJ_KIND_VOID : CJ_KIND_INDEX;
	if (!m.has_index)
		return m.sized;
	if (cj_kind_is_integer(m.sized) && m.sized != CJ_KIND_U64)
		return CJ_KIND_INDEX;
	*ok = false;
	return mixed_with_int(el, span, m.sized, args, count);
}

bool
cj_elab_is_exact(enum cj_kind k, int64_t i, uint64_t *bits)
{
	static const struct cj_conversion how = { .is_default = true };

	*bits = cj_num_convert(k, CJ_KIND_INDEX, (uint64_t)i, how);
	if (k == CJ_KIND_U64)
		return i >= 0;
	return cj_num_to_i64(k, *bits) == i &&
	    (!cj_kind_is_float(k) || cj_num_to_f64(k, *bits) == (double)i);
}

static struct cj_value
out_of_range(struct cj_elab *el, struct cj_span span, enum cj_kind k,
    int64_t i)
{
	bool is_signed = cj_kind_is_signed(k);
	unsigned bits = cj_kind_bits(k) - is_signed;
	int64_t most = (int64_t)((UINT64_C(1) << bits) - 1);

	return cj_elab_error(el, CJ_DIAG_INEXACT, span,
	    "%lld does not fit %s, which goes from %lld to %lld",
	    (long long)i, cj_kind_text(k), is_signed ? -1 - (long long)most :
	    0, (long long)most);
}

static struct cj_value
adapt_int(struct cj_elab *el, struct cj_span span, enum cj_kind k, int64_t i)
{
	uint64_t bits;

	if (k == CJ_KIND_BOOL) {
		mixed(el, span, CJ_KIND_BOOL, CJ_KIND_INDEX);
		return cj_value_error();
	}
	if (cj_elab_is_exact(k, i, &bits))
		return cj_value_scalar(k, bits);
	if (cj_kind_is_integer(k) && k != CJ_KIND_U64 && k != CJ_KIND_INDEX)
		return out_of_range(el, span, k, i);
	return cj_elab_error(el, CJ_DIAG_INEXACT, span,
	    "%lld cannot be exact as %s", (long long)i, cj_kind_text(k));
}

struct cj_value
cj_elab_adapt(struct cj_elab *el, struct cj_span span, enum cj_kind k,
    struct cj_value v)
{
	if (v.kind == CJ_VALUE_INT) {
		if (k == CJ_KIND_INDEX)
			return v;
		if (k == CJ_KIND_VOID)
			return cj_value_real((double)v.i.value);
		if (!cj_is_known(v.i)) {
			mixed(el, span, k, CJ_KIND_INDEX);
			return cj_value_error();
		}
		return adapt_int(el, span, k, v.i.value);
	}
	if (v.kind == CJ_VALUE_REAL) {
		if (k == CJ_KIND_VOID)
			return v;
		if (!cj_kind_is_float(k)) {
			cj_help(cj_elab_report(el, CJ_DIAG_INEXACT, span,
			    "the real number %s meets %s",
			    cj_value_text(el, &v), cj_kind_text(k)),
			    "Convert what is no real number: f32(...).");
			return cj_value_error();
		}
		return cj_value_scalar(k, cj_num_from_f64(k, v.real));
	}
	if (cj_value_kind_of(&v) != k)
		return cj_elab_convert(el, span, k, v, 0);
	return v;
}

bool
cj_elab_unify(struct cj_elab *el, struct cj_span span, struct cj_value *v,
    uint32_t count, enum cj_kind *k)
{
	uint32_t i;
	bool ok;

	for (i = 0; i < count; i++)
		if (!cj_value_is_number(&v[i])) {
			cj_elab_error(el, CJ_DIAG_WRONG_KIND, span,
			    "a number is needed, this is %s",
			    cj_value_what(el, &v[i]));
			return false;
		}
	*k = cj_elab_common_kind(el, span, v, count, &ok);
	for (i = 0; i < count && ok; i++) {
		v[i] = cj_elab_adapt(el, span, *k, v[i]);
		ok = v[i].kind != CJ_VALUE_ERROR;
	}
	return ok;
}

struct cj_value
cj_elab_coerce(struct cj_elab *el, struct cj_span span, enum cj_kind to,
    struct cj_value v)
{
	enum cj_kind from;

	v = cj_elab_read(el, span, v);
	if (v.kind == CJ_VALUE_ERROR)
		return v;
	if (!cj_value_is_number(&v))
		return cj_elab_error(el, CJ_DIAG_WRONG_KIND, span,
		    "%s is needed, this is %s", cj_kind_text(to),
		    cj_value_what(el, &v));
	from = cj_value_kind_of(&v);
	if (from == to || v.kind == CJ_VALUE_REAL ||
	    (v.kind == CJ_VALUE_INT && cj_is_known(v.i)) ||
	    (to == CJ_KIND_INDEX && cj_kind_is_integer(from) &&
	    from != CJ_KIND_U64))
		return cj_elab_adapt(el, span, to, v);
	cj_help(cj_elab_report(el, CJ_DIAG_MIXED_TYPES, span,
	    "%s is needed, this is %s", cj_kind_text(to),
	    cj_value_what(el, &v)), "Convert it: %s(...).", cj_kind_text(to));
	return cj_value_error();
}
