/*
 * Private to opt_fold.c and fold_*.c.
 */
#ifndef CJ_FOLD_PRIV_H
#define CJ_FOLD_PRIV_H

#include "ir_priv.h"

/* The state of the pass in one function. */
struct cj_fold {
	struct cj_module *m;
	struct cj_walk walk;
	const struct cj_fact *facts;	/* of instructions below known */
	uint32_t known;
	CJ_VEC(cj_ref) replaced;	/* by instruction; 0: stays */
	CJ_VEC(bool) left;		/* by instruction: break or continue */
	CJ_VEC(cj_region) moved;	/* by region: where its contents went */
};

/* Facts of an index or other integer of one register, or NULL. */
const struct cj_fact *cj_fold_fact(const struct cj_fold *f, cj_ref r);

/* Every register of a constant has these bits? */
bool cj_fold_is(const struct cj_fold *f, cj_ref r, uint64_t bits);

/* A new constant in front of the instruction at hand. */
cj_ref cj_fold_constant(struct cj_fold *f, cj_type t, const uint64_t *bits);
cj_ref cj_fold_splat(struct cj_fold *f, cj_type t, uint64_t each);

/* A value that equals the pure instruction `r`, or 0. May change `r` itself
 * into a simpler instruction. */
cj_ref cj_fold_numbers(struct cj_fold *f, cj_ref r);	/* fold_number.c */
cj_ref cj_fold_identity(struct cj_fold *f, cj_ref r);	/* fold_identity.c */
cj_ref cj_fold_registers(struct cj_fold *f, cj_ref r);	/* fold_register.c */

/* Put the contents of a region in the place of the region's owner, if it is
 * known which region runs and that it runs once. fold_region.c */
void cj_fold_region(struct cj_fold *f, cj_ref owner);

#endif
