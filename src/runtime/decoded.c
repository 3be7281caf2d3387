/*
 * What the executor runs of a program: decoded at first use, then shared by
 * all calls.
 */
#include "program.h"

typedef _Atomic(const struct cj_decoded *) decoded_ref;

static void
decode(struct cj_work *f, struct cj_program *p, uint32_t function)
{
	decoded_ref *all = p->decoded;

	p->arena.recover = &f->recover;
	if (all == NULL) {
		all = cj_alloc(&p->arena,
		    p->ir->functions.len * sizeof *all);
		p->decoded = all;
	}
	if (all[function] == NULL)
		all[function] = cj_interp_decode(&p->arena, p->ir, function);
}

const struct cj_decoded *
cj_program_decoded(struct cj_work *f, struct cj_program *p,
    uint32_t function)
{
	decoded_ref *all = p->decoded;

	assert(p->ir != NULL && function < p->ir->functions.len);
	if (all == NULL || all[function] == NULL) {
		cj_defer_lock(f, &p->lock);
		decode(f, p, function);
		cj_undefer_lock(f);
		all = p->decoded;
	}
	return atomic_load(&all[function]);
}
