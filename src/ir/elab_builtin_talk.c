/*
 * print and assert: a line of known text with places for what run time knows.
 */
#include "elab_priv.h"

enum { MOST_ELEMENTS = 64 };	/* of a tensor that is printed */

struct line {
	struct cj_strbuf text;
	CJ_VEC(cj_ref) refs;
};

static bool add_value(struct cj_elab *el, struct line *l,
    struct cj_span span, struct cj_value v);

/* {} in the text stands for an operand: the program's own are set apart. */
static void
add_text(struct line *l, const char *text, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++) {
		cj_strbuf_putc(&l->text, text[i]);
		if (text[i] == '{' && i + 1 < length && text[i + 1] == '}')
			cj_strbuf_putc(&l->text, ' ');
	}
}

/* "(1, 2)=" and the element, for the first ones. */
static bool
add_elements(struct cj_elab *el, struct line *l, struct cj_span span,
    const struct cj_value *v)
{
	const struct cj_tuple *shape = cj_value_shape(v), *coord;
	struct cj_int n = cj_tuple_product(&el->al, shape);
	struct cj_value one;
	int64_t i;

	if (!cj_is_known(n)) {
		cj_elab_error(el, CJ_DIAG_NOT_KNOWN, span,
		    "the extents of a tensor that is printed are known at "
		    "compile time");
		return false;
	}
	for (i = 0; i < n.value && i < MOST_ELEMENTS; i++) {
		coord = cj_idx2crd(&el->al, cj_known(i), shape);
		one = cj_value_from_tuple(el, coord);
		cj_strbuf_puts(&l->text, i == 0 ? "" : " ");
		cj_strbuf_puts(&l->text, cj_value_text(el, &one));
		cj_strbuf_putc(&l->text, '=');
		one = cj_elab_index(el, span, *v, &one, 1);
		if (!add_value(el, l, span, one))
			return false;
	}
	if (n.value > MOST_ELEMENTS)
		cj_strbuf_puts(&l->text, " ...");
	return true;
}

static bool
is_element(const struct cj_tuple *shape)
{
	return shape == NULL || (!cj_is_leaf(shape) && shape->rank == 0);
}

static bool
add_value(struct cj_elab *el, struct line *l, struct cj_span span,
    struct cj_value v)
{
	const char *text;
	uint32_t i;

	if (v.kind == CJ_VALUE_TENSOR && !is_element(cj_value_shape(&v)))
		return add_elements(el, l, span, &v);
	v = cj_elab_read(el, span, v);
	if (v.kind == CJ_VALUE_REGS && v.regs.shape != NULL)
		return add_elements(el, l, span, &v);
	if (v.kind == CJ_VALUE_ERROR)
		return false;
	if (v.kind == CJ_VALUE_STRING) {
		add_text(l, v.text->bytes, v.text->length);
	} else if (cj_value_is_known(&v) || v.kind == CJ_VALUE_LAYOUT) {
		text = cj_value_text(el, &v);
		add_text(l, text, strlen(text));
	} else if (v.kind == CJ_VALUE_INT || v.kind == CJ_VALUE_REGS) {
		cj_strbuf_puts(&l->text, "{}");
		*cj_push(el->arena, &l->refs) =
		    cj_elab_ref(el, &v, CJ_KIND_VOID);
	} else if (v.kind == CJ_VALUE_TUPLE) {
		cj_strbuf_putc(&l->text, '(');
		for (i = 0; i < v.tuple->count; i++) {
			if (i != 0)
				cj_strbuf_puts(&l->text, ", ");
			if (!add_value(el, l, span, v.tuple->at[i]))
				return false;
		}
		cj_strbuf_puts(&l->text, v.tuple->count == 1 ? ",)" : ")");
	} else {
		cj_elab_error(el, CJ_DIAG_WRONG_KIND, span,
		    "%s cannot be printed", cj_value_what(el, &v));
		return false;
	}
	return true;
}

static struct cj_value
print_line(struct cj_elab *el, const struct cj_args *args)
{
	struct line l = { 0 };
	uint32_t i;

	cj_strbuf_init(&l.text, el->arena);
	for (i = 0; i < args->count; i++) {
		if (i != 0)
			cj_strbuf_putc(&l.text, ' ');
		if (!add_value(el, &l, args->spans[i], args->at[i]))
			return cj_value_error();
	}
	cj_emit(&el->em->b, CJ_OP_PRINT, 0, cj_module_text(el->m,
	    l.text.text), l.refs.at, l.refs.len);
	return cj_value_none();
}

/* ---- who prints ---------------------------------------------------------- */

/* thread = n or (x, y, z), block likewise: numbers count x fastest. */
struct who {
	const char *name;
	enum cj_special first;
	const struct cj_int *extent;
	cj_ref condition;		/* holds for who is asked for; 0: all */
};

static void
add_condition(struct cj_elab *el, struct who *w, struct cj_int is,
    struct cj_int wanted)
{
	cj_type t = cj_type_of(CJ_KIND_BOOL, 1);
	cj_ref a = cj_elab_ref_int(el, is), b = cj_elab_ref_int(el, wanted);
	cj_ref c = cj_emit2(&el->em->b, CJ_OP_EQ, t, a, b);

	w->condition = w->condition == 0 ? c :
	    cj_emit2(&el->em->b, CJ_OP_AND, t, w->condition, c);
}

/* One that nobody has prints nothing: a slip, where it is known. `what` is
 * "thread" or "thread with y =". */
static bool
is_there(struct cj_elab *el, const char *what, struct cj_span span,
    struct cj_int wanted, struct cj_int extent)
{
	struct cj_diag *d;

	if (!cj_is_known(wanted) || (wanted.value >= 0 &&
	    (!cj_is_known(extent) || wanted.value < extent.value)))
		return true;
	d = cj_elab_report(el, CJ_DIAG_WRONG_INDEX, span,
	    "there is no %s %lld", what, (long long)wanted.value);
	if (cj_is_known(extent) && extent.value > 0)
		cj_help(d, "They are 0 to %lld.", (long long)extent.value - 1);
	return false;
}

static bool
want_number(struct cj_elab *el, struct who *w, struct cj_span span,
    const struct cj_value *v)
{
	struct cj_int n = cj_known(0), count = cj_known(1), wanted;
	unsigned i;

	if (!cj_value_to_int(el, span, v, &wanted))
		return false;
	for (i = 3; i-- > 0; ) {
		n = cj_int_add(&el->sym, cj_int_mul(&el->sym, n,
		    w->extent[i]), cj_elab_special(el,
		    (enum cj_special)(w->first + i)));
		count = cj_int_mul(&el->sym, count, w->extent[i]);
	}
	if (!is_there(el, w->name, span, wanted, count))
		return false;
	add_condition(el, w, n, wanted);
	return true;
}

static bool
want_coordinates(struct cj_elab *el, struct who *w, struct cj_span span,
    const struct cj_value *v)
{
	struct cj_int wanted;
	const char *what;
	uint32_t i;

	if (v->tuple->count > 3) {
		cj_elab_error(el, CJ_DIAG_WRONG_INDEX, span,
		    "a %s has up to 3 coordinates, these are %u", w->name,
		    v->tuple->count);
		return false;
	}
	for (i = 0; i < v->tuple->count; i++) {
		what = cj_printf(el->arena, "%s with %c =", w->name, "xyz"[i]);
		if (!cj_value_to_int(el, span, &v->tuple->at[i], &wanted) ||
		    !is_there(el, what, span, wanted, w->extent[i]))
			return false;
		add_condition(el, w, cj_elab_special(el,
		    (enum cj_special)(w->first + i)), wanted);
	}
	return true;
}

static bool
read_who(struct cj_elab *el, struct cj_args *args, struct who *w)
{
	const struct cj_value *v = cj_arg_named(el, args, w->name);

	if (v == NULL)
		return true;
	if (v->kind == CJ_VALUE_ERROR)
		return false;
	if (el->time != CJ_TIME_DEVICE) {
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_TIME, args->span,
		    "\"%s\" chooses among the threads of a launch, and here "
		    "runs one", w->name), "Leave it out.");
		return false;
	}
	return v->kind == CJ_VALUE_TUPLE ?
	    want_coordinates(el, w, args->span, v) :
	    want_number(el, w, args->span, v);
}

struct cj_value
cj_builtin_print(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	struct who w = { .name = "thread",
	    .first = CJ_SPECIAL_THREAD_X, .extent = el->block_extent };
	struct cj_value done;
	cj_region outer;

	(void)row;
	if (el->em == NULL)
		return cj_value_none();
	if (!read_who(el, args, &w))
		return cj_value_error();
	w.name = "block";
	w.first = CJ_SPECIAL_BLOCK_X;
	w.extent = el->grid_extent;
	if (!read_who(el, args, &w))
		return cj_value_error();
	if (w.condition == 0)
		return print_line(el, args);
	outer = cj_elab_enter(el, cj_emit(&el->em->b, CJ_OP_IF, 0, 0,
	    &w.condition, 1), NULL);
	done = print_line(el, args);
	cj_elab_leave(el, outer);
	return done;
}

/* ---- assert -------------------------------------------------------------- */

static void
assert_later(struct cj_elab *el, struct cj_args *args, cj_ref c,
    const char *text)
{
	struct cj_require r = { .need = text, .code = CJ_DIAG_ASSERTION };

	if (el->time == CJ_TIME_HOST) {
		*cj_push(el->m->arena, &el->m->requires) = r;
		cj_emit(&el->em->b, CJ_OP_REQUIRE, 0,
		    el->m->requires.len - 1, &c, 1);
		return;
	}
	(void)args;
	cj_emit(&el->em->b, CJ_OP_ASSERT, 0, cj_module_text(el->m, text), &c,
	    1);
}

struct cj_value
cj_builtin_assert(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const char *text = "the condition holds";
	bool known, truth;
	cj_ref c;

	(void)row;
	if (args->count == 2 && args->at[1].kind != CJ_VALUE_STRING)
		return args->at[1].kind == CJ_VALUE_ERROR ? args->at[1] :
		    cj_elab_error(el, CJ_DIAG_WRONG_KIND, args->span,
		    "the text of an assertion is needed, this is %s",
		    cj_value_what(el, &args->at[1]));
	if (args->count == 2)
		text = cj_strndup(el->m->arena, args->at[1].text->bytes,
		    args->at[1].text->length);
	if (!cj_elab_condition(el, args->span, args->at[0], &known, &truth,
	    &c))
		return cj_value_error();
	if (!known)
		assert_later(el, args, c, text);
	else if (!truth) {
		cj_elab_error(el, CJ_DIAG_ASSERTION, args->span,
		    "assertion failed: %s", text);
		el->has_ended = true;	/* what follows relies on it */
	}
	return cj_value_none();
}
