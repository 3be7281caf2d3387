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

struct cj_value
cj_builtin_print(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	struct line l = { 0 };
	uint32_t i;

	(void)row;
	if (el->em == NULL)
		return cj_value_none();
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
	else if (!truth)
		cj_elab_error(el, CJ_DIAG_ASSERTION, args->span,
		    "assertion failed: %s", text);
	return cj_value_none();
}
