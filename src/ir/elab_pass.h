/*
 * How values of the host come to device code (elab_pass.c), and what is known
 * of them there (elab_least.c).
 */
#ifndef CJ_ELAB_PASS_H
#define CJ_ELAB_PASS_H

#include "elab_priv.h"

/* The PARAM of a leaf of the host function, which is added if it is new. */
cj_ref cj_elab_host_leaf(struct cj_elab *el, const struct cj_leaf *leaf);
/* An instruction of level 1 as a value of the current function. */
cj_ref cj_elab_pass(struct cj_elab *el, cj_ref ref, unsigned level);
/* Registers of a `var` of the outer function as a value of a launch. */
cj_ref cj_elab_pass_slot(struct cj_elab *el, uint32_t object,
    uint32_t position, uint32_t count);
/* May code here use what a region holds? */
bool cj_elab_is_open(const struct cj_elab *el, cj_region region);
/* Is a term that the host can compute to arrive as a leaf? */
bool cj_elab_arrives(struct cj_elab *el, struct cj_int i);
/* Such a term; what the host prepared for divisions by it. */
cj_ref cj_elab_pass_int(struct cj_elab *el, struct cj_int i);
cj_ref cj_elab_pass_divisor(struct cj_elab *el, struct cj_int i);
/* Can the host prepare a division by b? */
bool cj_elab_is_prepared(struct cj_elab *el, struct cj_int b);
/* What the grid of the open launch says of terms, which runs only where it is
 * not empty; and what a term of level 1 is at least in its device code. */
void cj_elab_learn_grid(struct cj_elab *el);
int64_t cj_elab_least(struct cj_elab *el, struct cj_int i);

#endif
