/*
 * Terms as numbers: the value of an operation, and that of a term for given
 * values of its symbols.
 */
#include "sym_priv.h"

int64_t
cj_term_value(enum cj_term_kind kind, int64_t a, int64_t b, bool *overflow)
{
	bool shifts = b >= 0 && b <= 62;
	int64_t r = 0;

	assert(kind > CJ_TERM_PRODUCT && "a term of two operands");
	switch (kind) {
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
		if (shifts && __builtin_mul_overflow(a, (int64_t)1 << b, &r)) {
			*overflow = true;
			return 0;
		}
		return r;
	case CJ_TERM_SHR:
		return shifts ? a >> b : a < 0 ? -1 : 0;
	case CJ_TERM_SYMBOL: case CJ_TERM_SUM: case CJ_TERM_PRODUCT:
		break;
	}
	return 0;
}

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
eval_term(struct eval *e, const struct cj_term *m)
{
	int64_t r;
	uint32_t i;

	if (m->kind == CJ_TERM_SYMBOL)
		return e->value(e->user, m->symbol);
	if (cj_term_is_binary(m)) {
		r = eval(e, m->a);
		return cj_term_value(m->kind, r, eval(e, m->b), &e->overflow);
	}
	if (m->kind == CJ_TERM_SUM) {
		r = m->constant;
		for (i = 0; i < m->count; i++)
			r = checked_add(e, r, checked_mul(e,
			    m->addend[i].factor, eval(e, (struct cj_int){ 0,
			    m->addend[i].term })));
		return r;
	}
	r = 1;
	for (i = 0; i < m->count; i++)
		r = checked_mul(e, r, eval(e, (struct cj_int){ 0,
		    m->operand[i] }));
	return r;
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
