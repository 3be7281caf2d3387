/*
 * Terms as text.
 */
#include "sym_priv.h"

enum { MAX_PRINT_DEPTH = 12 };

/* How tightly the place binds: what needs parentheses there. */
enum place { IN_SUM, SUBTRACTED, IN_PRODUCT, IN_DIVIDEND, IN_DIVISOR };

/* How an operation of two operands is written. */
enum form { QUOTIENT, CALL, BITS };

static const struct {
	enum form form;
	const char *text;
} binary[] = {
#define TERM(kind)
#define BINARY(kind, form, text) [CJ_TERM_##kind] = { form, text },
#include "term.def"
#undef TERM
#undef BINARY
};

static void print(struct cj_strbuf *out, const struct cj_symtab *t,
    struct cj_int a, enum place place, unsigned depth);

static void
print_binary(struct cj_strbuf *out, const struct cj_symtab *t,
    const struct cj_term *m, unsigned depth)
{
	enum form form = binary[m->kind].form;

	assert(cj_term_is_binary(m));
	if (form == CALL) {
		cj_strbuf_printf(out, "%s(", binary[m->kind].text);
		print(out, t, m->a, IN_SUM, depth);
		cj_strbuf_puts(out, ", ");
		print(out, t, m->b, IN_SUM, depth);
		cj_strbuf_putc(out, ')');
		return;
	}
	print(out, t, m->a, form == QUOTIENT ? IN_DIVIDEND : IN_DIVISOR,
	    depth);
	cj_strbuf_puts(out, binary[m->kind].text);
	print(out, t, m->b, IN_DIVISOR, depth);
}

/* factor * term: M*8, -M, M; (M/2)*3 keeps its parentheses. */
static void
print_addend(struct cj_strbuf *out, const struct cj_symtab *t,
    int64_t signed_factor, uint32_t term, unsigned depth)
{
	uint64_t factor = signed_factor < 0 ? 0 - (uint64_t)signed_factor :
	    (uint64_t)signed_factor;
	struct cj_int a = { 0, term };

	if (factor == 1) {
		print(out, t, a, signed_factor < 0 ? SUBTRACTED : IN_SUM,
		    depth);
		return;
	}
	print(out, t, a, IN_PRODUCT, depth);
	cj_strbuf_printf(out, "*%llu", (unsigned long long)factor);
}

static void
print_sum(struct cj_strbuf *out, const struct cj_symtab *t,
    const struct cj_term *m, unsigned depth)
{
	uint32_t i;

	for (i = 0; i < m->count; i++) {
		int64_t f = m->addend[i].factor;

		if (i != 0)
			cj_strbuf_puts(out, f < 0 ? " - " : " + ");
		else if (f < 0)
			cj_strbuf_putc(out, '-');
		print_addend(out, t, f, m->addend[i].term, depth);
	}
	if (m->constant < 0)
		cj_strbuf_printf(out, " - %llu",
		    (unsigned long long)(0 - (uint64_t)m->constant));
	else if (m->constant > 0)
		cj_strbuf_printf(out, " + %llu",
		    (unsigned long long)m->constant);
}

static void
print_product(struct cj_strbuf *out, const struct cj_symtab *t,
    const struct cj_term *m, unsigned depth)
{
	uint32_t i;

	for (i = 0; i < m->count; i++) {
		struct cj_int a = { 0, m->operand[i] };

		if (i != 0)
			cj_strbuf_putc(out, '*');
		print(out, t, a, IN_PRODUCT, depth);
	}
}

static void
print_symbol(struct cj_strbuf *out, const struct cj_symtab *t,
    const struct cj_term *m)
{
	if (m->name != 0 && t->names != NULL)
		cj_strbuf_puts(out, cj_name_text(t->names, m->name));
	else
		cj_strbuf_printf(out, "s%u", m->symbol);
}

static void
print_term(struct cj_strbuf *out, const struct cj_symtab *t,
    const struct cj_term *m, unsigned depth)
{
	if (m->kind == CJ_TERM_SYMBOL)
		print_symbol(out, t, m);
	else if (m->kind == CJ_TERM_SUM)
		print_sum(out, t, m, depth);
	else if (m->kind == CJ_TERM_PRODUCT)
		print_product(out, t, m, depth);
	else
		print_binary(out, t, m, depth);
}

/* The name of a symbol may be the text of a term: "K/8 - 1". */
static bool
is_term_text(const struct cj_symtab *t, const struct cj_term *m,
    enum place place)
{
	const char *name = m->name != 0 && t->names != NULL ?
	    cj_name_text(t->names, m->name) : "";

	return strstr(name, " + ") != NULL || strstr(name, " - ") != NULL ||
	    (place == IN_DIVISOR && strpbrk(name, "*/") != NULL);
}

/* Products and quotients read from left to right; everything but a name is
 * parenthesised as a divisor; in a sum only the bit operations are. */
static bool
needs_parentheses(const struct cj_symtab *t, const struct cj_term *m,
    enum place place)
{
	if (m->kind == CJ_TERM_SYMBOL)
		return place != IN_SUM && is_term_text(t, m, place);
	if (m->kind == CJ_TERM_SUM)
		return place != IN_SUM && place != SUBTRACTED;
	if (m->kind == CJ_TERM_PRODUCT)
		return place == IN_DIVISOR;
	if (binary[m->kind].form == QUOTIENT)
		return place == IN_PRODUCT || place == IN_DIVISOR;
	return binary[m->kind].form == BITS;
}

static void
print(struct cj_strbuf *out, const struct cj_symtab *t, struct cj_int a,
    enum place place, unsigned depth)
{
	const struct cj_term *m;
	bool parentheses;

	if (t->fixed) {
		cj_strbuf_printf(out, cj_is_known(a) ? "_%lld" : "%lld",
		    (long long)cj_int_range(t, a).lo);
		return;
	}
	if (cj_is_known(a)) {
		cj_strbuf_printf(out, "%lld", (long long)a.value);
		return;
	}
	if (depth == 0) {
		cj_strbuf_puts(out, "...");
		return;
	}
	assert(a.term < t->terms.len);
	m = &t->terms.at[a.term];
	parentheses = needs_parentheses(t, m, place);
	/* M*8 is one addend, not a sum to guard */
	if (m->kind == CJ_TERM_SUM && place != IN_DIVISOR && m->count == 1
	    && m->constant == 0 && m->addend[0].factor > 0)
		parentheses = false;
	if (parentheses)
		cj_strbuf_putc(out, '(');
	print_term(out, t, m, depth - 1);
	if (parentheses)
		cj_strbuf_putc(out, ')');
}

/* In a table of fixed values as CuTe does: _4 is static, 4 dynamic. */
void
cj_int_print(struct cj_strbuf *out, const struct cj_symtab *t,
    struct cj_int a)
{
	print(out, t, a, IN_SUM, MAX_PRINT_DEPTH);
}
