/*
 * What a `let` divides is computed where it stands.
 *
 * Terms become instructions where something needs their number, which may be in
 * every turn of a loop. Most are cheap there, and what is cheap should rather
 * be computed again than hold a register; but a division by a number that only
 * the launch or the thread knows takes dozens of instructions, and nothing
 * moves it out of the loop afterwards: behind waits and in loops that may not
 * run at all it cannot be. So its number is computed at the `let`, and
 * remembered for all that stands behind it; where nobody needs it, it goes.
 */
#include "elab_priv.h"

enum { UNKNOWN, NEVER, DIVIDES };

static bool divides(struct cj_elab *el, struct cj_int i);

static bool
is_division(struct cj_elab *el, uint32_t term)
{
	const struct cj_term *t = &el->sym.terms.at[term];
	struct cj_int i = { 0, term };

	return (t->kind == CJ_TERM_DIV || t->kind == CJ_TERM_MOD) &&
	    !cj_is_known(t->b) && cj_elab_int_level(el, i) == 2;
}

static bool
find_division(struct cj_elab *el, uint32_t term)
{
	struct cj_int part;
	uint32_t n;

	if (is_division(el, term))
		return true;
	for (n = 0; cj_term_part(&el->sym.terms.at[term], n, &part); n++)
		if (divides(el, part))
			return true;
	return false;
}

/* Is there such a division in it? Asked once of each term. */
static bool
divides(struct cj_elab *el, struct cj_int i)
{
	bool found;

	if (cj_is_known(i))
		return false;
	while (el->divides.len <= i.term)
		*cj_push(el->arena, &el->divides) = UNKNOWN;
	if (el->divides.at[i.term] == UNKNOWN) {
		found = find_division(el, i.term);
		el->divides.at[i.term] = found ? DIVIDES : NEVER;
	}
	return el->divides.at[i.term] == DIVIDES;
}

static void
settle(struct cj_elab *el, struct cj_int i)
{
	struct cj_int part;
	uint32_t n;

	if (!divides(el, i))
		return;
	if (is_division(el, i.term)) {
		(void)cj_elab_ref_int(el, i);
		return;
	}
	/* terms are added meanwhile, and may move */
	for (n = 0; cj_term_part(cj_term_get(&el->sym, i), n, &part); n++)
		settle(el, part);
}

void
cj_elab_settle(struct cj_elab *el, const struct cj_value *v)
{
	uint32_t i;

	if (el->em == NULL || el->em->level != 2)
		return;
	if (v->kind == CJ_VALUE_INT)
		settle(el, v->i);
	else if (v->kind == CJ_VALUE_TENSOR)
		settle(el, v->tensor->offset);
	else if (v->kind == CJ_VALUE_TUPLE)
		for (i = 0; i < v->tuple->count; i++)
			cj_elab_settle(el, &v->tuple->at[i]);
}
