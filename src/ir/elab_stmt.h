/*
 * Statements (elab_stmt.c, elab_loop.c, elab_slot.c, elab_kernel.c): what they
 * share with expressions and with each other. A part of elab_priv.h.
 */
#ifndef CJ_ELAB_STMT_H
#define CJ_ELAB_STMT_H

void cj_elab_block(struct cj_elab *el, const struct cj_node *block);
void cj_elab_body(struct cj_elab *el, const struct cj_node *body);
void cj_elab_assign(struct cj_elab *el, struct cj_span span,
    struct cj_value place, struct cj_value v);
/* Of the type that a `const`, `let` or `var` states. */
struct cj_value cj_elab_typed(struct cj_elab *el, const struct cj_node *n,
    struct cj_value v);
/* Take a value apart: names, `_`, tuples of these. */
void cj_elab_bind(struct cj_elab *el, const struct cj_node *binding,
    enum cj_binding_kind kind, struct cj_value v);
/* A slot of the current function that holds `v` from now on. */
struct cj_value cj_elab_slot(struct cj_elab *el, struct cj_span span,
    cj_name name, struct cj_value v);
struct cj_value cj_elab_slot_in(struct cj_elab *el, struct cj_span span,
    cj_name name, struct cj_value v, cj_region home);
/* `v` as a type demands it: kinds, tuples of kinds, `fn`, `type`. */
struct cj_value cj_elab_coerce_type(struct cj_elab *el, struct cj_span span,
    const struct cj_type_value *t, struct cj_value v);
void cj_elab_for(struct cj_elab *el, const struct cj_node *n);
void cj_elab_while(struct cj_elab *el, const struct cj_node *n);
void cj_elab_launch(struct cj_elab *el, const struct cj_node *n);
/* Have the target's blocks the shared memory and the registers of the device
 * function just made, whose objects are those from `before` on? */
void cj_elab_limits(struct cj_elab *el, struct cj_span span,
    uint32_t function, uint32_t before);
void cj_elab_shared(struct cj_elab *el, const struct cj_node *n);
/* Does each register of each thread stand for the same element in both, as
 * far as that is known? False: reported (elab_fragment.c). */
bool cj_fragments_agree(struct cj_elab *el, struct cj_span span,
    const struct cj_fragment *a, const struct cj_fragment *b);
void cj_elab_tmem(struct cj_elab *el, const struct cj_node *n);
/* The object of a SHARED or FIELD, with `stages` members (0: one object), as a
 * tensor; false: reported. */
bool cj_elab_shared_tensor(struct cj_elab *el, const struct cj_node *n,
    uint32_t stages, struct cj_tensor *t);
/* One instruction with a region: builder goes in, and out again. */
cj_region cj_elab_enter(struct cj_elab *el, cj_ref owner, cj_ref *index);
void cj_elab_leave(struct cj_elab *el, cj_region outer);

#endif
