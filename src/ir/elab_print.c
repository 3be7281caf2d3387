/*
 * Values as texts: for print(), messages, names of bindings.
 */
#include "elab_tiled.h"

static void
print_list(struct cj_elab *el, struct cj_strbuf *out,
    const struct cj_tuple_value *t)
{
	uint32_t i;

	cj_strbuf_putc(out, '(');
	for (i = 0; i < t->count; i++) {
		if (i != 0)
			cj_strbuf_puts(out, ", ");
		if (t->names != NULL && t->names[i] != 0)
			cj_strbuf_printf(out, "%s = ",
			    cj_elab_name(el, t->names[i]));
		cj_value_print(el, out, &t->at[i]);
	}
	if (t->count == 1 && (t->names == NULL || t->names[0] == 0))
		cj_strbuf_putc(out, ',');
	cj_strbuf_putc(out, ')');
}

static void
print_type(struct cj_elab *el, struct cj_strbuf *out,
    const struct cj_type_value *t)
{
	uint32_t i;

	if (t->is_type) {
		cj_strbuf_puts(out, "type");
	} else if (t->is_fn) {
		cj_strbuf_puts(out, "fn");
	} else if (t->is_tuple) {
		cj_strbuf_putc(out, '(');
		for (i = 0; i < t->count; i++) {
			if (i != 0)
				cj_strbuf_puts(out, ", ");
			print_type(el, out, t->at[i]);
		}
		cj_strbuf_putc(out, ')');
	} else if (t->is_tensor) {
		cj_strbuf_printf(out, "tensor(%s, ", cj_kind_text(t->scalar));
		cj_layout_print(out, &el->sym, t->layout, CJ_STYLE_LANGUAGE);
		cj_strbuf_putc(out, ')');
	} else {
		cj_strbuf_puts(out, cj_kind_text(t->scalar));
	}
}

/* The text as it stands in the program; lambdas are known by their text. */
static void
print_source(struct cj_elab *el, struct cj_strbuf *out, struct cj_span span)
{
	const struct cj_source *s = cj_source_get(el->sources,
	    span.source);
	bool blank = false;
	uint32_t i;

	for (i = span.begin; i < span.end; i++) {
		char c = s->text[i];

		if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
			blank = true;
			continue;
		}
		if (blank)
			cj_strbuf_putc(out, ' ');
		blank = false;
		cj_strbuf_putc(out, c);
	}
}

static void
print_real(struct cj_strbuf *out, double x)
{
	union { double x; uint64_t bits; } u = { x };

	cj_num_print(out, CJ_KIND_F64, u.bits);
}

void
cj_value_print(struct cj_elab *el, struct cj_strbuf *out,
    const struct cj_value *v)
{
	switch (v->kind) {
	case CJ_VALUE_ERROR:
		cj_strbuf_puts(out, "?");
		break;
	case CJ_VALUE_NONE:
		cj_strbuf_puts(out, "none");
		break;
	case CJ_VALUE_ANY:
		cj_strbuf_puts(out, "_");
		break;
	case CJ_VALUE_INT:
		cj_int_print(out, &el->sym, v->i);
		break;
	case CJ_VALUE_REAL:
		print_real(out, v->real);
		break;
	case CJ_VALUE_BOOL:
		cj_strbuf_puts(out, v->truth ? "true" : "false");
		break;
	case CJ_VALUE_SCALAR:
		cj_num_print(out, (enum cj_kind)v->scalar, v->bits);
		break;
	case CJ_VALUE_TUPLE:
		print_list(el, out, v->tuple);
		break;
	case CJ_VALUE_LAYOUT:
		cj_layout_print(out, &el->sym, v->layout, CJ_STYLE_LANGUAGE);
		break;
	case CJ_VALUE_BASIS:
		cj_tuple_print(out, &el->sym, v->basis, CJ_STYLE_LANGUAGE);
		break;
	case CJ_VALUE_SWIZZLE:
		cj_strbuf_printf(out, "swizzle(%d, %d, %d)", v->swizzle.bits,
		    v->swizzle.base, v->swizzle.shift);
		break;
	case CJ_VALUE_TYPE:
		print_type(el, out, v->type);
		break;
	case CJ_VALUE_FUNCTION:
		if (v->function->name != 0)
			cj_strbuf_puts(out,
			    cj_elab_name(el, v->function->name));
		else
			print_source(el, out, v->function->node->span);
		break;
	case CJ_VALUE_BUILTIN:
		cj_strbuf_puts(out, v->builtin->name);
		break;
	case CJ_VALUE_RANGE:
		cj_int_print(out, &el->sym, v->range->first);
		cj_strbuf_puts(out, "..");
		cj_int_print(out, &el->sym, v->range->last);
		break;
	case CJ_VALUE_STRING:
		cj_strbuf_write(out, v->text->bytes, v->text->length);
		break;
	case CJ_VALUE_CHOICE:
		cj_strbuf_printf(out, ".%s", cj_elab_name(el, v->choice));
		break;
	case CJ_VALUE_FILE:
		cj_strbuf_puts(out, v->file == NULL ? "cute" : v->file->name);
		break;
	case CJ_VALUE_ATOM:
		cj_strbuf_puts(out, v->atom->text);
		break;
	case CJ_VALUE_MMA:
		cj_strbuf_puts(out, v->mma->text);
		break;
	case CJ_VALUE_COPY:
		cj_strbuf_puts(out, v->copy->text);
		break;
	case CJ_VALUE_REGS: case CJ_VALUE_TENSOR: case CJ_VALUE_PLACE:
	case CJ_VALUE_UNWRITTEN: case CJ_VALUE_PIPELINE:
	case CJ_VALUE_ORDER:
		cj_strbuf_puts(out, cj_value_what(el, v));
		break;
	}
}

const char *
cj_value_text(struct cj_elab *el, const struct cj_value *v)
{
	struct cj_strbuf out;

	cj_strbuf_init(&out, el->arena);
	cj_value_print(el, &out, v);
	return out.text;
}

const char *
cj_elab_int_text(struct cj_elab *el, struct cj_int i)
{
	struct cj_strbuf out;

	cj_strbuf_init(&out, el->arena);
	cj_int_print(&out, &el->sym, i);
	return out.text;
}

static const char *
of_shape(struct cj_elab *el, enum cj_kind k, const struct cj_tuple *shape,
    const char *scalar, const char *tensor)
{
	struct cj_strbuf out;

	if (shape == NULL)
		return cj_printf(el->arena, scalar, cj_kind_text(k));
	cj_strbuf_init(&out, el->arena);
	cj_strbuf_printf(&out, tensor, cj_kind_text(k));
	cj_strbuf_puts(&out, " of shape ");
	cj_tuple_print(&out, &el->sym, shape, CJ_STYLE_LANGUAGE);
	return out.text;
}

static const char *
what_number(struct cj_elab *el, const struct cj_value *v)
{
	if (v->kind == CJ_VALUE_REGS)
		return v->regs.shape == NULL ?
		    cj_printf(el->arena, "a run-time %s",
		    cj_kind_text((enum cj_kind)v->scalar)) :
		    of_shape(el, (enum cj_kind)v->scalar, v->regs.shape,
		    "%s", "a register tensor of %s");
	if (v->kind == CJ_VALUE_TENSOR)
		return of_shape(el, v->tensor->element,
		    v->tensor->layout->shape, "%s", "a tensor of %s");
	assert(v->kind == CJ_VALUE_PLACE);
	return of_shape(el, v->slot->element,
	    v->slot->is_scalar ? NULL : v->slot->layout->shape,
	    "a variable of type %s", "a variable of %s");
}

/* A term with a symbol that no name of the program stands for. */
static bool
is_nameless(const struct cj_symtab *t, struct cj_int i)
{
	const struct cj_term *x = cj_term_get(t, i);
	struct cj_int part;
	uint32_t n;

	if (x == NULL)
		return false;
	if (x->kind == CJ_TERM_SYMBOL)
		return x->name == 0;
	for (n = 0; cj_term_part(x, n, &part); n++)
		if (is_nameless(t, part))
			return true;
	return false;
}

const char *
cj_value_what(struct cj_elab *el, const struct cj_value *v)
{
	switch (v->kind) {
	case CJ_VALUE_ERROR: return "wrong";
	case CJ_VALUE_NONE: return "none";
	case CJ_VALUE_ANY: return "\"_\"";
	case CJ_VALUE_INT:
		return is_nameless(&el->sym, v->i) ? "a run-time int" :
		    cj_printf(el->arena, "the int %s", cj_value_text(el, v));
	case CJ_VALUE_REAL:
		return cj_printf(el->arena, "the number %s",
		    cj_value_text(el, v));
	case CJ_VALUE_BOOL: return "a bool";
	case CJ_VALUE_SCALAR:
		return cj_printf(el->arena, "the %s %s",
		    cj_kind_text((enum cj_kind)v->scalar),
		    cj_value_text(el, v));
	case CJ_VALUE_REGS: case CJ_VALUE_TENSOR: case CJ_VALUE_PLACE:
		return what_number(el, v);
	case CJ_VALUE_TUPLE:
		return cj_printf(el->arena, "a tuple of %u", v->tuple->count);
	case CJ_VALUE_LAYOUT: return "a layout";
	case CJ_VALUE_BASIS: return "a unit stride";
	case CJ_VALUE_SWIZZLE: return "a swizzle";
	case CJ_VALUE_TYPE:
		return cj_printf(el->arena, "the type %s",
		    cj_value_text(el, v));
	case CJ_VALUE_FUNCTION: return "a function";
	case CJ_VALUE_BUILTIN:
		return cj_printf(el->arena, "the function %s",
		    v->builtin->name);
	case CJ_VALUE_RANGE: return "a range";
	case CJ_VALUE_STRING: return "a text";
	case CJ_VALUE_CHOICE:
		return cj_printf(el->arena, "the choice .%s",
		    cj_elab_name(el, v->choice));
	case CJ_VALUE_PIPELINE: return "a pipeline";
	case CJ_VALUE_ORDER: return "an order";
	case CJ_VALUE_FILE: return "an import";
	case CJ_VALUE_ATOM:
		return cj_printf(el->arena, "the atom %s", v->atom->text);
	case CJ_VALUE_MMA: return "a tiled MMA";
	case CJ_VALUE_COPY: return "a tiled copy";
	case CJ_VALUE_UNWRITTEN:
		return "a fragment that nothing has written";
	}
	return "";
}
