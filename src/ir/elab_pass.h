/*
 * How values of the host come to device code, between elab_int.c and
 * elab_pass.c.
 */
#ifndef CJ_ELAB_PASS_H
#define CJ_ELAB_PASS_H

#include "elab_priv.h"

/* May code here use what a region holds? */
bool cj_elab_is_open(const struct cj_elab *el, cj_region region);
/* Is a term that the host can compute to arrive as a leaf? */
bool cj_elab_arrives(struct cj_elab *el, struct cj_int i);
/* Such a term; what the host prepared for divisions by it. */
cj_ref cj_elab_pass_int(struct cj_elab *el, struct cj_int i);
cj_ref cj_elab_pass_divisor(struct cj_elab *el, struct cj_int i);
/* Can the host prepare a division by b? */
bool cj_elab_is_prepared(struct cj_elab *el, struct cj_int b);

#endif
