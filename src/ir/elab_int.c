/*
 * From terms to instructions.
 *
 * A term is computed where something needs its number, and remembered while
 * the region that holds the instruction is open. In device code a term whose
 * symbols are all of level 1 is computed by the outer function and arrives as
 * a leaf (elab_pass.c); a mixed term is split, so that its largest parts of
 * level 1 arrive. A division by such a part uses a divisor that the host
 * prepared.
 */
#include "elab_pass.h"

/* ---- levels -------------------------------------------------------------- */

static unsigned
max_level(unsigned a, unsigned b)
{
	return a > b ? a : b;
}

static unsigned
term_level(struct cj_elab *el, uint32_t term)
{
	const struct cj_term *t;
	struct cj_int part;
	unsigned level = 0;
	uint32_t n;

	assert(term != 0 && term < el->sym.terms.len);
	while (el->levels.len <= term)
		*cj_push(el->arena, &el->levels) = 0;
	if (el->levels.at[term] != 0)
		return el->levels.at[term];
	t = &el->sym.terms.at[term];
	if (t->kind == CJ_TERM_SYMBOL)
		level = el->symbols.at[t->symbol].level;
	for (n = 0; cj_term_part(t, n, &part); n++)
		level = max_level(level, cj_elab_int_level(el, part));
	el->levels.at[term] = (uint8_t)level;
	return level;
}

unsigned
cj_elab_int_level(struct cj_elab *el, struct cj_int i)
{
	return cj_is_known(i) ? 0 : term_level(el, i.term);
}

/* ---- what is remembered -------------------------------------------------- */

static cj_ref
remembered(const struct cj_elab *el, uint32_t term)
{
	const struct cj_memo *m;

	if (term >= el->em->terms.len)
		return 0;
	m = &el->em->terms.at[term];
	return m->ref != 0 && cj_elab_is_open(el, m->region) ? m->ref : 0;
}

static void
remember(struct cj_elab *el, uint32_t term, cj_ref ref)
{
	struct cj_memo m = { el->em->b.region, ref };

	assert(ref != 0 && "a term has an instruction");
	while (el->em->terms.len <= term)
		memset(cj_push(el->arena, &el->em->terms), 0, sizeof m);
	el->em->terms.at[term] = m;
}

/* ---- terms --------------------------------------------------------------- */

static const cj_type index_type = CJ_KIND_INDEX | 1 << 8;

static cj_ref
emit2(struct cj_elab *el, enum cj_op op, cj_ref a, cj_ref b)
{
	return cj_emit2(&el->em->b, op, index_type, a, b);
}

/* factor * term */
static cj_ref
addend_ref(struct cj_elab *el, const struct cj_addend *x)
{
	struct cj_int term = { 0, x->term };
	cj_ref r = cj_elab_ref_int(el, term);

	return x->factor == 1 ? r :
	    emit2(el, CJ_OP_MUL, r, cj_emit_index(&el->em->b, x->factor));
}

/*
 * A sum without its constant. Addends of level 1 arrive one by one, behind the
 * others: what neighbouring elements of a view have in common is then computed
 * once, and there is a leaf for each row and each column, not for each element.
 */
static cj_ref
variable_ref(struct cj_elab *el, const struct cj_term *t)
{
	struct cj_int part, x = { 0, 0 };
	cj_ref sum = 0, r;
	bool outer;
	uint32_t i;
	int pass;

	for (pass = 0; pass < 2; pass++)
		for (i = 0; i < t->count; i++) {
			x.term = t->addend[i].term;
			outer = el->em->level == 2 &&
			    cj_elab_int_level(el, x) == 1;
			if (outer != (pass == 1))
				continue;
			part = cj_int_mul(&el->sym,
			    cj_known(t->addend[i].factor), x);
			r = cj_elab_arrives(el, part) ?
			    cj_elab_ref_int(el, part) :
			    addend_ref(el, &t->addend[i]);
			sum = sum == 0 ? r : emit2(el, CJ_OP_ADD, sum, r);
		}
	return sum;
}

static cj_ref
sum_ref(struct cj_elab *el, const struct cj_term *t)
{
	struct cj_term copy = *t;	/* the table may move */
	struct cj_int whole = cj_known(copy.constant), rest;
	cj_ref r;
	uint32_t i;

	if (copy.constant == 0)
		return variable_ref(el, &copy);
	for (i = 0, rest = cj_known(0); i < copy.count; i++) {
		struct cj_int x = { 0, copy.addend[i].term };

		rest = cj_int_add(&el->sym, rest, cj_int_mul(&el->sym,
		    cj_known(copy.addend[i].factor), x));
	}
	r = cj_elab_ref_int(el, rest);
	return emit2(el, CJ_OP_ADD, r, cj_emit_index(&el->em->b,
	    whole.value));
}

static cj_ref
product_ref(struct cj_elab *el, const struct cj_term *t)
{
	const uint32_t *operand = t->operand;
	uint32_t count = t->count, i;
	struct cj_int outer = cj_known(1);
	cj_ref r = 0, x;
	bool apart;

	assert(t->kind == CJ_TERM_PRODUCT && count >= 2);
	for (i = 0; i < count; i++) {
		struct cj_int o = { 0, operand[i] };

		if (el->em->level == 2 && cj_elab_int_level(el, o) == 1)
			outer = cj_int_mul(&el->sym, outer, o);
	}
	apart = !cj_is_known(outer) && !cj_elab_arrives(el, outer);
	for (i = 0; i < count; i++) {
		struct cj_int o = { 0, operand[i] };

		if (!apart && el->em->level == 2 &&
		    cj_elab_int_level(el, o) == 1)
			continue;
		x = cj_elab_ref_int(el, o);
		r = r == 0 ? x : emit2(el, CJ_OP_MUL, r, x);
	}
	if (apart || cj_is_value(outer, 1))
		return r;
	x = cj_elab_ref_int(el, outer);
	return r == 0 ? x : emit2(el, CJ_OP_MUL, r, x);
}

/* Nothing looks at 0 where the grid says that the divisor is not. */
static void
narrow_divisor(struct cj_elab *el, struct cj_int b, cj_ref ref)
{
	const struct cj_inst *i = cj_inst(el->m, ref);
	struct cj_leaf *leaf;

	if (i->op != CJ_OP_PARAM)
		return;
	leaf = &el->m->functions.at[el->em->function].leaves.at[i->attr];
	leaf->lo = cj_elab_least(el, b);
}

/* The quotient by a prepared divisor. */
static cj_ref
prepared_quotient(struct cj_elab *el, struct cj_int a, struct cj_int b)
{
	cj_ref x = cj_elab_ref_int(el, a), y = cj_elab_ref_int(el, b);

	narrow_divisor(el, b, y);
	return cj_emit3(&el->em->b, CJ_OP_DIVIDE_BY, index_type, x, y,
	    cj_elab_pass_divisor(el, b));
}

/* Operands are emitted from left to right, whatever C compiler built us. */
static cj_ref
binary_ref(struct cj_elab *el, enum cj_op op, struct cj_int a,
    struct cj_int b)
{
	cj_ref x = cj_elab_ref_int(el, a);

	return emit2(el, op, x, cj_elab_ref_int(el, b));
}

static cj_ref
div_ref(struct cj_elab *el, struct cj_int a, struct cj_int b)
{
	return cj_elab_is_prepared(el, b) ? prepared_quotient(el, a, b) :
	    binary_ref(el, CJ_OP_DIV, a, b);
}

static cj_ref
mod_ref(struct cj_elab *el, struct cj_int a, struct cj_int b)
{
	cj_ref q, x;

	if (!cj_elab_is_prepared(el, b))
		return binary_ref(el, CJ_OP_MOD, a, b);
	/* through the term of the quotient, so that both share it */
	q = cj_elab_ref_int(el, cj_int_div(&el->sym, a, b));
	q = emit2(el, CJ_OP_MUL, q, cj_elab_ref_int(el, b));
	x = cj_elab_ref_int(el, a);
	return emit2(el, CJ_OP_SUB, x, q);
}

static cj_ref
symbol_ref(struct cj_elab *el, const struct cj_symbol_info *s)
{
	switch (s->source) {
	case CJ_SOURCE_REF:
		assert(s->level == el->em->level);
		return s->ref;
	case CJ_SOURCE_LEAF:
		return cj_elab_host_leaf(el, &s->leaf);
	case CJ_SOURCE_SPECIAL:
		assert(el->em->level == 2);
		return cj_emit0(&el->em->b, CJ_OP_SPECIAL, index_type,
		    s->number);
	case CJ_SOURCE_FACT:
		assert(el->em->level == 1);
		return cj_emit0(&el->em->b, CJ_OP_DEVICE, index_type,
		    s->number);
	case CJ_SOURCE_STEP:
		break;
	}
	cj_bug(el->recover, "a gathered mode has no stride");
}

static cj_ref
term_ref(struct cj_elab *el, const struct cj_term *t)
{
	switch (t->kind) {
	case CJ_TERM_SYMBOL:
		return symbol_ref(el, &el->symbols.at[t->symbol]);
	case CJ_TERM_SUM: return sum_ref(el, t);
	case CJ_TERM_PRODUCT: return product_ref(el, t);
	case CJ_TERM_DIV: return div_ref(el, t->a, t->b);
	case CJ_TERM_MOD: return mod_ref(el, t->a, t->b);
	case CJ_TERM_MIN: return binary_ref(el, CJ_OP_MIN, t->a, t->b);
	case CJ_TERM_MAX: return binary_ref(el, CJ_OP_MAX, t->a, t->b);
	case CJ_TERM_XOR: return binary_ref(el, CJ_OP_XOR, t->a, t->b);
	case CJ_TERM_AND: return binary_ref(el, CJ_OP_AND, t->a, t->b);
	case CJ_TERM_OR: return binary_ref(el, CJ_OP_OR, t->a, t->b);
	case CJ_TERM_SHL: return binary_ref(el, CJ_OP_SHL, t->a, t->b);
	case CJ_TERM_SHR: return binary_ref(el, CJ_OP_SHR, t->a, t->b);
	}
	return 0;
}

cj_ref
cj_elab_ref_int(struct cj_elab *el, struct cj_int i)
{
	cj_ref r;

	assert(el->em != NULL && "only a function has instructions");
	if (cj_is_known(i))
		return cj_emit_index(&el->em->b, i.value);
	r = remembered(el, i.term);
	if (r != 0)
		return r;
	if (cj_elab_arrives(el, i))
		r = cj_elab_pass_int(el, i);
	else
		r = term_ref(el, &el->sym.terms.at[i.term]);
	remember(el, i.term, r);
	return r;
}
