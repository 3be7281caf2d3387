/*
 * Do the blocks of a cluster, which share loads, fill and read equally often?
 */
#include "elab_role_check.h"

/* Is a value another one in other blocks of the cluster? */
static bool
is_of_block(struct cj_role_question *q, struct cj_int e)
{
	static const char *const keys[] = { "rank", "rank 0", "rank 1",
	    "rank 2" };
	uint32_t i, k;

	for (i = 0; i < q->c->atoms.len; i++)
		for (k = 0; k < CJ_LENGTH(keys); k++)
			if (strcmp(q->c->atoms.at[i].key, keys[k]) == 0 &&
			    cj_role_depends(q->c, e,
			    q->c->atoms.at[i].symbol))
				return true;
	return false;
}

static bool
cond_is_of_block(struct cj_role_question *q, const struct cj_cond *c)
{
	return c != NULL && (is_of_block(q, c->e) ||
	    cond_is_of_block(q, c->x) || cond_is_of_block(q, c->y));
}

/* A condition under which a loop is left. */
static bool
is_exit(const struct cj_deed *d)
{
	return d->kind == CJ_DEED_IF && ((d->then.len == 1 &&
	    d->then.at[0]->kind == CJ_DEED_EXIT) || (d->other.len == 1 &&
	    d->other.at[0]->kind == CJ_DEED_EXIT));
}

/* The first deed that is done differently in other blocks; NULL: none. */
static const struct cj_deed *
differs(struct cj_role_question *q, const struct cj_deeds *deeds)
{
	const struct cj_deed *found = NULL;
	uint32_t i;

	for (i = 0; i < deeds->len && found == NULL; i++) {
		const struct cj_deed *d = deeds->at[i];
		struct cj_deeds one = { &deeds->at[i], 1, 1 };

		if (!cj_role_concerns(q, &one) && !is_exit(d))
			continue;
		if (cond_is_of_block(q, d->cond) || is_of_block(q, d->lo) ||
		    is_of_block(q, d->hi) || is_of_block(q, d->step) ||
		    is_of_block(q, d->n))
			return d;
		found = differs(q, &d->then);
		if (found == NULL)
			found = differs(q, &d->other);
	}
	return found;
}

static bool
is_shared(const struct cj_module *m, const struct cj_pipe *p)
{
	cj_ref r;
	uint32_t i;

	for (r = 1; r < m->insts.len; r++) {
		const struct cj_inst *l = cj_inst(m, r);

		for (i = 0; l->op == CJ_OP_TMA_LOAD &&
		    m->tmas.at[l->attr].share != 0 && i < p->count; i++)
			if (m->accesses.at[m->tmas.at[l->attr].shared].object
			    == p->field[i].object)
				return true;
	}
	return false;
}

/* Blocks that share loads fill and read equally often. */
void
cj_role_compare_blocks(struct cj_compare *c, const struct cj_pipe *p)
{
	struct cj_role_question q = { .c = c, .pipeline = p->number };
	const struct cj_deed *d = NULL;
	struct cj_diag *report;
	uint32_t i;

	if (!is_shared(c->el->m, p))
		return;
	for (i = 0; i < c->roles.len && d == NULL; i++)
		d = differs(&q, &c->roles.at[i].deeds);
	if (d == NULL)
		return;
	report = cj_elab_report(c->el, CJ_DIAG_UNEQUAL_ROLES,
	    c->el->m->places.at[cj_inst(c->el->m, d->at)->place].span,
	    "the blocks of a cluster may not fill and read as many stages of "
	    "\"%s\", whose loads they share", cj_elab_name(c->el, p->name));
	cj_note(report, p->span, "the pipeline");
	cj_help(report, "Let all of them do as much: count clusters, "
	    "block_idx.x / 2 for two blocks along x.");
}
