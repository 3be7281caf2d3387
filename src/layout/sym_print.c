/*
 * Terms as text, and their value for given values of the symbols.
 */
#include "sym_priv.h"

enum { MAX_PRINT_DEPTH = 12 };

/* How tightly the place binds: what needs parentheses there. */
enum place { IN_SUM, SUBTRACTED, IN_PRODUCT, IN_DIVIDEND, IN_DIVISOR };

static void print(struct cj_strbuf *out, const struct cj_symtab *t,
    struct cj_int a, enum place place, unsigned depth);

static void
print_call(struct cj_strbuf *out, const struct cj_symtab *t,
    const char *name, const struct cj_term *m, unsigned depth)
{
	cj_strbuf_printf(out, "%s(", name);
	print(out, t, m->a, IN_SUM, depth);
	cj_strbuf_puts(out, ", ");
	print(out, t, m->b, IN_SUM, depth);
	cj_strbuf_putc(out, ')');
}

static void
print_infix(struct cj_strbuf *out, const struct cj_symtab *t,
    const char *op, const struct cj_term *m, unsigned depth)
{
	bool divides = m->kind == CJ_TERM_DIV || m->kind == CJ_TERM_MOD;

	print(out, t, m->a, divides ? IN_DIVIDEND : IN_DIVISOR, depth);
	cj_strbuf_puts(out, op);
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
	switch (m->kind) {
	case CJ_TERM_SYMBOL:
		print_symbol(out, t, m);
		break;
	case CJ_TERM_SUM:
		print_sum(out, t, m, depth);
		break;
	case CJ_TERM_PRODUCT:
		print_product(out, t, m, depth);
		break;
	case CJ_TERM_DIV:
		print_infix(out, t, "/", m, depth);
		break;
	case CJ_TERM_MOD:
		print_infix(out, t, " % ", m, depth);
		break;
	case CJ_TERM_MIN:
		print_call(out, t, "min", m, depth);
		break;
	case CJ_TERM_MAX:
		print_call(out, t, "max", m, depth);
		break;
	case CJ_TERM_XOR:
		print_infix(out, t, " ^ ", m, depth);
		break;
	case CJ_TERM_AND:
		print_infix(out, t, " & ", m, depth);
		break;
	case CJ_TERM_OR:
		print_infix(out, t, " | ", m, depth);
		break;
	case CJ_TERM_SHL:
		print_infix(out, t, " << ", m, depth);
		break;
	case CJ_TERM_SHR:
		print_infix(out, t, " >> ", m, depth);
		break;
	}
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
	switch (m->kind) {
	case CJ_TERM_SYMBOL:
		return place != IN_SUM && is_term_text(t, m, place);
	case CJ_TERM_MIN:
	case CJ_TERM_MAX:
		return false;
	case CJ_TERM_PRODUCT:
		return place == IN_DIVISOR;
	case CJ_TERM_DIV:
	case CJ_TERM_MOD:
		return place == IN_PRODUCT || place == IN_DIVISOR;
	case CJ_TERM_SUM:
		return place != IN_SUM && place != SUBTRACTED;
	case CJ_TERM_XOR:
	case CJ_TERM_AND:
	case CJ_TERM_OR:
	case CJ_TERM_SHL:
	case CJ_TERM_SHR:
		break;
	}
	return true;
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

/* ---- evaluation -------------------------------------------------------- */

/* Each term once: terms share their operands. */
struct eval {
	const struct cj_symtab *t;
	cj_symbol_value *value;
	void *user;
	int64_t *known;
	uint8_t *done;
	bool overflow;
};

static int64_t eval(struct eval *e, struct cj_int a);

static int64_t
checked_mul(struct eval *e, int64_t a, int64_t b)
{
	int64_t r = 0;

	if (__builtin_mul_overflow(a, b, &r))
		e->overflow = true;
	return r;
}

static int64_t
checked_add(struct eval *e, int64_t a, int64_t b)
{
	int64_t r = 0;

	if (__builtin_add_overflow(a, b, &r))
		e->overflow = true;
	return r;
}

static int64_t
eval_binary(struct eval *e, const struct cj_term *m)
{
	int64_t a = eval(e, m->a), b = eval(e, m->b);
	bool shifts = b >= 0 && b < 63;

	switch (m->kind) {
	case CJ_TERM_DIV:
		return b == 0 ? 0 : cj_floor_div(a, b);
	case CJ_TERM_MOD:
		return b == 0 ? a : cj_floor_mod(a, b);
	case CJ_TERM_MIN:
		return a < b ? a : b;
	case CJ_TERM_MAX:
		return a > b ? a : b;
	case CJ_TERM_XOR:
		return a ^ b;
	case CJ_TERM_AND:
		return a & b;
	case CJ_TERM_OR:
		return a | b;
	case CJ_TERM_SHL:
		return shifts ? checked_mul(e, a, (int64_t)1 << b) : 0;
	case CJ_TERM_SHR:
		return shifts ? a >> b : a < 0 ? -1 : 0;
	case CJ_TERM_SYMBOL:
	case CJ_TERM_SUM:
	case CJ_TERM_PRODUCT:
		break;
	}
	return 0;
}

static int64_t
eval_term(struct eval *e, const struct cj_term *m)
{
	int64_t r;
	uint32_t i;

	switch (m->kind) {
	case CJ_TERM_SYMBOL:
		return e->value(e->user, m->symbol);
	case CJ_TERM_SUM:
		r = m->constant;
		for (i = 0; i < m->count; i++)
			r = checked_add(e, r, checked_mul(e,
			    m->addend[i].factor, eval(e, (struct cj_int){ 0,
			    m->addend[i].term })));
		return r;
	case CJ_TERM_PRODUCT:
		r = 1;
		for (i = 0; i < m->count; i++)
			r = checked_mul(e, r, eval(e, (struct cj_int){ 0,
			    m->operand[i] }));
		return r;
	case CJ_TERM_DIV:
	case CJ_TERM_MOD:
	case CJ_TERM_MIN:
	case CJ_TERM_MAX:
	case CJ_TERM_XOR:
	case CJ_TERM_AND:
	case CJ_TERM_OR:
	case CJ_TERM_SHL:
	case CJ_TERM_SHR:
		break;
	}
	return eval_binary(e, m);
}

static int64_t
eval(struct eval *e, struct cj_int a)
{
	if (cj_is_known(a))
		return a.value;
	assert(a.term < e->t->terms.len);
	if (!e->done[a.term]) {
		e->known[a.term] = eval_term(e, &e->t->terms.at[a.term]);
		e->done[a.term] = 1;
	}
	return e->known[a.term];
}

bool
cj_int_eval(const struct cj_symtab *t, struct cj_int a,
    cj_symbol_value *value, void *user, int64_t *out)
{
	struct eval e = { .t = t, .value = value, .user = user };
	struct cj_mark mark = cj_arena_mark(t->arena);

	if (cj_is_known(a)) {
		*out = a.value;
		return true;
	}
	/* operands are older than their terms */
	e.known = CJ_NEWS(t->arena, int64_t, a.term + 1);
	e.done = CJ_NEWS(t->arena, uint8_t, a.term + 1);
	*out = eval(&e, a);
	cj_arena_release(t->arena, mark);
	return !e.overflow;
}
