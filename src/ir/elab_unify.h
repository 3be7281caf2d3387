/*
 * Operands of one type: what operators and calls have in common.
 */
#ifndef CJ_ELAB_UNIFY_H
#define CJ_ELAB_UNIFY_H

#include "elab_priv.h"

/* The type of an operation on `args`; VOID with *ok: known reals, computed in
 * f64. *ok false: reported. */
enum cj_kind cj_elab_common_kind(struct cj_elab *el, struct cj_span span,
    const struct cj_value *args, uint32_t count, bool *ok);
/* A known number or an operand of `int` in the type k. */
struct cj_value cj_elab_adapt(struct cj_elab *el, struct cj_span span,
    enum cj_kind k, struct cj_value v);
/* Has k the number i itself? Its bits. */
bool cj_elab_is_exact(enum cj_kind k, int64_t i, uint64_t *bits);
/* Numbers brought to one kind (VOID: known reals); false: reported. */
bool cj_elab_unify(struct cj_elab *el, struct cj_span span,
    struct cj_value *v, uint32_t count, enum cj_kind *k);

#endif
