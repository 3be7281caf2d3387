/* Reductions of tuples: elab_collective.c serves elab_builtin_reduce.c. */
#ifndef CJ_ELAB_COLLECTIVE_H
#define CJ_ELAB_COLLECTIVE_H

#include "elab_priv.h"

/* A tuple of registers of one shape, combined to a tuple of scalars by a
 * function that takes two such tuples and gives one. */
struct cj_value cj_elab_reduce_tuple(struct cj_elab *el,
    const struct cj_combine *c, struct cj_value v);

#endif
