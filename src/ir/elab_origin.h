/*
 * Where a value that compile time needs became one of run time: notes for
 * messages, each at a declaration.
 */
#ifndef CJ_ELAB_ORIGIN_H
#define CJ_ELAB_ORIGIN_H

#include "elab_priv.h"

/* What messages and layouts call a symbol that has no name yet. */
void cj_elab_symbol_name(struct cj_elab *el, struct cj_int symbol,
    cj_name name);
/* Of a value; `n` is the expression that made it, or NULL. */
void cj_elab_note_origin(struct cj_elab *el, struct cj_diag *d,
    const struct cj_value *v, const struct cj_node *n);
/* Of extents, strides or a coordinate. */
void cj_elab_note_tuple(struct cj_elab *el, struct cj_diag *d,
    const struct cj_tuple *t);
void cj_elab_note_int(struct cj_elab *el, struct cj_diag *d, struct cj_int i);
/* An int that meets a real number: the `var` that it is, if it is one. */
void cj_elab_note_var(struct cj_elab *el, struct cj_diag *d, struct cj_int i);

#endif
