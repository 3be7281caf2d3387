/*
 * ptx("add.f32 $0, $1, $2;", f32, a, b): instructions of PTX in the program.
 *
 * The text is handed on as it is. Only its $n are looked at here: the results
 * come first, then the operands, and each of them has to occur. What the
 * executor computes instead (emulate) stands in one arm of an IF on whether it
 * is the executor that runs, the instruction in the other.
 */
#include "elab_priv.h"

enum { MOST_OPERANDS = 60, MOST_NUMBERS = CJ_PTX_RESULTS + MOST_OPERANDS };

struct ptx {
	struct cj_span span;
	const char *text;
	enum cj_kind kind;		/* of the results; VOID: none */
	uint32_t results;
	bool is_tuple;
	uint32_t count;			/* operands: */
	const struct cj_value *at;
	cj_ref refs[MOST_OPERANDS];
	bool is_pure;
};

/* ---- the text ------------------------------------------------------------ */

static bool
is_blank(const struct cj_text *t)
{
	uint32_t i;

	for (i = 0; i < t->length; i++)
		if (strchr(" \t\n", t->bytes[i]) == NULL)
			return false;
	return true;
}

static bool
read_text(struct cj_elab *el, struct cj_args *args, struct ptx *p)
{
	const struct cj_value *v = &args->at[0];

	if (v->kind == CJ_VALUE_ERROR)
		return false;
	if (v->kind != CJ_VALUE_STRING) {
		cj_elab_error(el, CJ_DIAG_WRONG_KIND, args->spans[0],
		    "the text of the instructions is needed, this is %s",
		    cj_value_what(el, v));
		return false;
	}
	p->text = cj_strndup(el->arena, v->text->bytes, v->text->length);
	if (!is_blank(v->text) && strlen(p->text) == v->text->length)
		return true;
	cj_elab_error(el, CJ_DIAG_BAD_PTX, args->spans[0],
	    is_blank(v->text) ? "there are no instructions in the text" :
	    "there is a zero byte in the text");
	return false;
}

/* The number behind a `$`, or more than any. */
static uint32_t
number_at(const char **at)
{
	uint32_t n = 0;

	while (**at >= '0' && **at <= '9') {
		if (n < MOST_NUMBERS)
			n = n * 10 + (uint32_t)(**at - '0');
		++*at;
	}
	return n;
}

static void
help_numbers(struct cj_diag *d, const struct ptx *p)
{
	if (p->results == 0)
		cj_help(d, "Without a result, $0 is the first operand.");
	else if (p->results == 1)
		cj_help(d, "$0 is the result, $1 the first operand.");
	else
		cj_help(d, "$0 to $%u are the results, $%u is the first "
		    "operand.", p->results - 1, p->results);
}

static bool
check_numbers(struct cj_elab *el, struct cj_span span, const struct ptx *p)
{
	uint32_t all = p->results + p->count, n;
	bool occurs[MOST_NUMBERS] = { false };
	const char *at = p->text;

	while ((at = strchr(at, '$')) != NULL) {
		at++;
		if (*at < '0' || *at > '9')
			continue;
		n = number_at(&at);
		if (n < all) {
			occurs[n] = true;
			continue;
		}
		help_numbers(cj_elab_report(el, CJ_DIAG_BAD_PTX, span,
		    "the text names $%u, there %s %u result%s and %u "
		    "operand%s", n, p->results == 1 ? "is" : "are",
		    p->results, p->results == 1 ? "" : "s", p->count,
		    p->count == 1 ? "" : "s"), p);
		return false;
	}
	for (n = 0; n < all && occurs[n]; n++)
		continue;
	if (n == all)
		return true;
	help_numbers(cj_elab_report(el, CJ_DIAG_BAD_PTX, span,
	    n < p->results ? "nothing in the text writes $%u" :
	    "nothing in the text reads $%u", n), p);
	return false;
}

/* ---- types and operands -------------------------------------------------- */

static bool
is_register(enum cj_kind k)
{
	return k == CJ_KIND_BOOL || (cj_kind_bits(k) >= 16 &&
	    k != CJ_KIND_INDEX && (cj_kind_is_integer(k) ||
	    cj_kind_is_float(k)));
}

static bool
refuse_kind(struct cj_elab *el, struct cj_span span, enum cj_kind k)
{
	struct cj_diag *d = cj_elab_report(el, CJ_DIAG_BAD_PTX, span,
	    "PTX has no register for %s", k == CJ_KIND_INDEX ? "an int" :
	    cj_kind_text(k));

	cj_help(d, k == CJ_KIND_INDEX ? "Give it a size: i32(x), u64(x)." :
	    "Registers hold bool and numbers of 16, 32 and 64 bits: convert, "
	    "or pack with bitcast().");
	return false;
}

static bool
add_result(struct cj_elab *el, struct cj_span span, struct ptx *p,
    const struct cj_value *v)
{
	const struct cj_type_value *t = v->type;

	if (v->kind != CJ_VALUE_TYPE || t->is_type || t->is_fn || t->is_tensor
	    || t->is_tuple) {
		if (v->kind != CJ_VALUE_ERROR)
			cj_help(cj_elab_report(el, CJ_DIAG_BAD_PTX, span,
			    "the type of the result stands behind the text, "
			    "this is %s", cj_value_what(el, v)),
			    "A type, a tuple of types, or none.");
		return false;
	}
	if (!is_register(t->scalar))
		return refuse_kind(el, span, t->scalar);
	if (p->results > 0 && p->kind != t->scalar) {
		cj_help(cj_elab_report(el, CJ_DIAG_BAD_PTX, span,
		    "the results are %s and %s, they must have one type",
		    cj_kind_text(p->kind), cj_kind_text(t->scalar)),
		    "Take the bits of all as u32 or u64, and bitcast() them.");
		return false;
	}
	p->kind = t->scalar;
	p->results++;
	return true;
}

static bool
read_results(struct cj_elab *el, struct cj_args *args, struct ptx *p)
{
	const struct cj_value *v = &args->at[1];
	uint32_t i;

	if (v->kind == CJ_VALUE_NONE)
		return true;
	if (v->kind != CJ_VALUE_TUPLE)
		return add_result(el, args->spans[1], p, v);
	p->is_tuple = true;
	if (v->tuple->count < 1 || v->tuple->count > CJ_PTX_RESULTS) {
		cj_elab_error(el, CJ_DIAG_BAD_PTX, args->spans[1],
		    "1 to %d results are possible, this is %s",
		    CJ_PTX_RESULTS, cj_value_what(el, v));
		return false;
	}
	for (i = 0; i < v->tuple->count; i++)
		if (!add_result(el, args->spans[1], p, &v->tuple->at[i]))
			return false;
	return true;
}

static bool
read_operand(struct cj_elab *el, struct cj_span span, struct cj_value *v,
    cj_ref *ref)
{
	enum cj_kind k;

	*v = cj_elab_read(el, span, *v);
	if (v->kind == CJ_VALUE_ERROR)
		return false;
	if (!cj_value_is_number(v) || v->kind == CJ_VALUE_REAL) {
		cj_help(cj_elab_report(el, CJ_DIAG_BAD_PTX, span,
		    "an operand is a number with a type, this is %s",
		    cj_value_what(el, v)), "Write its type: f32(1.5).");
		return false;
	}
	if (cj_value_shape(v) != NULL) {
		cj_help(cj_elab_report(el, CJ_DIAG_BAD_PTX, span,
		    "an operand is one register, this is %s",
		    cj_value_what(el, v)), "Give its elements one by one: "
		    "x[0], x[1].");
		return false;
	}
	k = cj_value_kind_of(v);
	if (!is_register(k))
		return refuse_kind(el, span, k);
	*ref = cj_elab_ref(el, v, k);
	return true;
}

static bool
read_operands(struct cj_elab *el, struct cj_args *args, struct ptx *p)
{
	struct cj_value *at = CJ_NEWS(el->arena, struct cj_value,
	    MOST_OPERANDS);
	uint32_t i;

	p->count = args->count - 2;
	p->at = at;
	for (i = 0; i < p->count; i++) {
		at[i] = args->at[i + 2];
		if (!read_operand(el, args->spans[i + 2], &at[i],
		    &p->refs[i]))
			return false;
	}
	return true;
}

static bool
read_pure(struct cj_elab *el, struct cj_args *args, struct ptx *p)
{
	const struct cj_value *v = cj_arg_named(el, args, "pure");

	if (v == NULL)
		return true;
	if (v->kind != CJ_VALUE_BOOL) {
		if (v->kind != CJ_VALUE_ERROR)
			cj_elab_error(el, CJ_DIAG_WRONG_KIND, args->span,
			    "\"pure\" is true or false, this is %s",
			    cj_value_what(el, v));
		return false;
	}
	p->is_pure = v->truth;
	if (!p->is_pure || p->results > 0)
		return true;
	cj_elab_error(el, CJ_DIAG_BAD_PTX, args->span,
	    "without a result nothing is left of pure instructions");
	return false;
}

/* ---- what is emitted ----------------------------------------------------- */

static cj_type
type_of(const struct ptx *p)
{
	return p->results == 0 ? 0 : cj_type_of(p->kind, p->results);
}

static cj_ref
emit(struct cj_elab *el, const struct ptx *p)
{
	return cj_emit(&el->em->b, p->is_pure ? CJ_OP_PTX_PURE : CJ_OP_PTX,
	    type_of(p), cj_module_text(el->m, p->text), p->refs, p->count);
}

/* One result that emulate gives, as the text would. */
static cj_ref
emulated(struct cj_elab *el, const struct ptx *p, struct cj_value v)
{
	v = cj_elab_coerce(el, p->span, p->kind, cj_elab_read(el, p->span, v));
	if (v.kind == CJ_VALUE_ERROR)
		return 0;
	if (cj_value_shape(&v) == NULL)
		return cj_elab_ref(el, &v, p->kind);
	cj_elab_error(el, CJ_DIAG_WRONG_KIND, p->span,
	    "\"emulate\" gives %s where one %s is needed",
	    cj_value_what(el, &v), cj_kind_text(p->kind));
	return 0;
}

/* All that emulate gives, in the registers of the result; 0: reported, or
 * there is none. */
static cj_ref
emulate(struct cj_elab *el, const struct ptx *p, const struct cj_value *f)
{
	struct cj_value v = cj_elab_call_values(el, p->span, *f, p->at,
	    p->count);
	cj_ref refs[CJ_PTX_RESULTS];
	uint32_t i;

	if (v.kind == CJ_VALUE_ERROR || p->results == 0)
		return 0;
	if (!p->is_tuple)
		return emulated(el, p, v);
	if (v.kind != CJ_VALUE_TUPLE || v.tuple->count != p->results) {
		cj_elab_error(el, CJ_DIAG_WRONG_KIND, p->span,
		    "\"emulate\" gives %s where a tuple of %u is needed",
		    cj_value_what(el, &v), p->results);
		return 0;
	}
	for (i = 0; i < p->results; i++) {
		refs[i] = emulated(el, p, v.tuple->at[i]);
		if (refs[i] == 0)
			return 0;
	}
	return p->results == 1 ? refs[0] : cj_emit(&el->em->b, CJ_OP_CONCAT,
	    type_of(p), 0, refs, p->results);
}

static void
yield(struct cj_elab *el, cj_ref r)
{
	cj_emit(&el->em->b, CJ_OP_YIELD, 0, 0, &r, 1);
}

/* if executor { emulate } else { ptx } */
static cj_ref
emit_both(struct cj_elab *el, const struct ptx *p, const struct cj_value *f)
{
	cj_ref is = cj_emit0(&el->em->b, CJ_OP_EXECUTOR,
	    cj_type_of(CJ_KIND_BOOL, 1), 0);
	cj_ref owner = cj_emit(&el->em->b, CJ_OP_IF, 0, 0, &is, 1), r;
	cj_region outer = cj_elab_enter(el, owner, NULL);

	r = emulate(el, p, f);
	if (r != 0)
		yield(el, r);
	cj_elab_leave(el, outer);
	if (r == 0 && p->results > 0)
		return 0;
	cj_elab_enter(el, owner, NULL);
	r = emit(el, p);
	if (p->results > 0)
		yield(el, r);
	cj_elab_leave(el, outer);
	cj_inst(el->m, owner)->type = type_of(p);
	return owner;
}

static struct cj_value
result(struct cj_elab *el, const struct ptx *p, cj_ref r)
{
	struct cj_value at[CJ_PTX_RESULTS];
	uint32_t i;

	if (p->results == 0)
		return cj_value_none();
	if (!p->is_tuple)
		return cj_value_regs(el, p->kind, NULL, r);
	for (i = 0; i < p->results; i++)
		at[i] = cj_value_regs(el, p->kind, NULL, p->results == 1 ? r :
		    cj_emit(&el->em->b, CJ_OP_SLICE, cj_type_of(p->kind, 1), i,
		    &r, 1));
	return cj_value_tuple(el, at, NULL, p->results);
}

struct cj_value
cj_builtin_ptx(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	struct ptx p = { .span = args->span };
	const struct cj_value *f;
	cj_ref r;

	(void)row;
	if (!read_text(el, args, &p) || !read_results(el, args, &p) ||
	    !read_operands(el, args, &p) || !read_pure(el, args, &p) ||
	    !check_numbers(el, args->spans[0], &p))
		return cj_value_error();
	cj_elab_at(el, args->span);
	f = cj_arg_named(el, args, "emulate");
	if (f == NULL)
		return result(el, &p, emit(el, &p));
	if (f->kind == CJ_VALUE_FUNCTION || f->kind == CJ_VALUE_BUILTIN) {
		r = emit_both(el, &p, f);
		return r == 0 ? cj_value_error() : result(el, &p, r);
	}
	return f->kind == CJ_VALUE_ERROR ? *f : cj_elab_error(el,
	    CJ_DIAG_WRONG_KIND, args->span, "\"emulate\" is a function, this "
	    "is %s", cj_value_what(el, f));
}

struct cj_value
cj_elab_ptx_call(struct cj_elab *el, struct cj_span span, const char *text,
    enum cj_kind kind, const struct cj_value *at, uint32_t count,
    const struct cj_value *emulate)
{
	struct ptx p = { .span = span, .text = text, .kind = kind,
	    .results = kind != CJ_KIND_VOID, .count = count };
	struct cj_value *own = CJ_NEWS(el->arena, struct cj_value, count + 1);
	uint32_t i;
	cj_ref r;

	if (count > MOST_OPERANDS)
		return cj_elab_error(el, CJ_DIAG_LIMIT, span,
		    "%d operands are the most", MOST_OPERANDS);
	p.at = own;
	for (i = 0; i < count; i++) {
		own[i] = at[i];
		if (!read_operand(el, span, &own[i], &p.refs[i]))
			return cj_value_error();
	}
	cj_elab_at(el, span);
	if (emulate == NULL)
		return result(el, &p, emit(el, &p));
	r = emit_both(el, &p, emulate);
	return r == 0 && p.results != 0 ? cj_value_error() :
	    result(el, &p, r);
}
