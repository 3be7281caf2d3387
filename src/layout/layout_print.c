/*
 * Tuples and layouts as text: as the language writes them, or as CuTe does.
 */
#include "layout_priv.h"

static void
print_basis(struct cj_strbuf *out, const struct cj_symtab *t,
    const struct cj_tuple *b)
{
	unsigned i;

	cj_int_print(out, t, b->value);
	for (i = b->path_length; i-- > 0;)
		cj_strbuf_printf(out, "@%u", (unsigned)b->path[i]);
}

/* basis(i, j), 4*basis(1): the outermost mode first */
static void
print_basis_call(struct cj_strbuf *out, const struct cj_symtab *t,
    const struct cj_tuple *b)
{
	unsigned i;

	if (!cj_is_value(b->value, 1)) {
		bool group = !cj_is_known(b->value);

		cj_strbuf_puts(out, group ? "(" : "");
		cj_int_print(out, t, b->value);
		cj_strbuf_puts(out, group ? ")*" : "*");
	}
	cj_strbuf_puts(out, "basis(");
	for (i = 0; i < b->path_length; i++)
		cj_strbuf_printf(out, i == 0 ? "%u" : ", %u",
		    (unsigned)b->path[i]);
	cj_strbuf_putc(out, ')');
}

void
cj_tuple_print(struct cj_strbuf *out, const struct cj_symtab *t,
    const struct cj_tuple *tuple, enum cj_layout_style style)
{
	bool language = style == CJ_STYLE_LANGUAGE;
	uint32_t i;

	switch (tuple->kind) {
	case CJ_TUPLE_INT:
		cj_int_print(out, t, tuple->value);
		return;
	case CJ_TUPLE_ANY:
		cj_strbuf_putc(out, '_');
		return;
	case CJ_TUPLE_BASIS:
		(language ? print_basis_call : print_basis)(out, t, tuple);
		return;
	case CJ_TUPLE_LAYOUT:
		cj_layout_print(out, t, tuple->layout, style);
		return;
	case CJ_TUPLE_TUPLE:
		break;
	}
	cj_strbuf_putc(out, '(');
	for (i = 0; i < tuple->rank; i++) {
		if (i != 0)
			cj_strbuf_puts(out, language ? ", " : ",");
		cj_tuple_print(out, t, tuple->at[i], style);
	}
	cj_strbuf_puts(out, language && tuple->rank == 1 ? ",)" : ")");
}

static void
print_swizzle(struct cj_strbuf *out, struct cj_swizzle s,
    enum cj_layout_style style)
{
	cj_strbuf_printf(out, style == CJ_STYLE_LANGUAGE
	    ? "swizzle(%d, %d, %d)" : "Sw<%d,%d,%d>", s.bits, s.base,
	    s.shift);
}

/* In the language an operation's operand is one that binds tighter than `:`;
 * sums of names are, so nothing needs parentheses there. */
void
cj_layout_print(struct cj_strbuf *out, const struct cj_symtab *t,
    const struct cj_layout *l, enum cj_layout_style style)
{
	bool language = style == CJ_STYLE_LANGUAGE;

	if (l->is_composed) {
		cj_strbuf_puts(out, language ? "composition(" : "");
		print_swizzle(out, l->swizzle, style);
		cj_strbuf_puts(out, language ? ", " : " o ");
		if (l->offset != NULL)
			cj_tuple_print(out, t, l->offset, style);
		else
			cj_strbuf_putc(out, '0');
		cj_strbuf_puts(out, language ? ", " : " o ");
	}
	cj_tuple_print(out, t, l->shape, style);
	cj_strbuf_putc(out, ':');
	cj_tuple_print(out, t, l->stride, style);
	if (l->is_composed) {
		cj_strbuf_puts(out, language ? ")" : "");
	} else if (l->offset != NULL) {
		cj_strbuf_puts(out, " + ");
		cj_tuple_print(out, t, l->offset, style);
	}
}

const char *
cj_int_text(struct cj_algebra *al, struct cj_int i)
{
	struct cj_strbuf b;

	cj_strbuf_init(&b, al->arena);
	cj_int_print(&b, al->sym, i);
	return b.text;
}

const char *
cj_tuple_text(struct cj_algebra *al, const struct cj_tuple *t)
{
	struct cj_strbuf b;

	cj_strbuf_init(&b, al->arena);
	cj_tuple_print(&b, al->sym, t, CJ_STYLE_LANGUAGE);
	return b.text;
}

const char *
cj_layout_text(struct cj_algebra *al, const struct cj_layout *l)
{
	struct cj_strbuf b;

	cj_strbuf_init(&b, al->arena);
	cj_layout_print(&b, al->sym, l, CJ_STYLE_LANGUAGE);
	return b.text;
}
