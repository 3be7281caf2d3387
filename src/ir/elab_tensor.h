/*
 * Views: their cuts, and loads and stores of their elements (elab_tensor.c,
 * elab_access.c). A part of elab_priv.h.
 */
#ifndef CJ_ELAB_TENSOR_H
#define CJ_ELAB_TENSOR_H

#include "elab_priv.h"

struct cj_value cj_tensor_index(struct cj_elab *el, struct cj_span span,
    const struct cj_tensor *t, const struct cj_value *at, uint32_t count);
/* Known coordinates are within their extents; else an error names the mode. */
bool cj_elab_inside(struct cj_elab *el, struct cj_span span,
    const struct cj_tuple *coord, const struct cj_tuple *shape);
/* Remember what of a coordinate of `from` is not proved to be inside: whoever
 * touches `made` checks it (elab_bounds.c). */
void cj_tensor_watch_index(struct cj_elab *el, struct cj_tensor *made,
    const struct cj_tensor *from, const struct cj_tuple *coord);
/* What a partition gave, which knows that it is one thread's; errors pass. */
struct cj_value cj_tensor_dealt(struct cj_elab *el, struct cj_value v);
/* Fix the coordinates that are not `_`. */
struct cj_value cj_tensor_slice(struct cj_elab *el, struct cj_span span,
    const struct cj_tensor *t, const struct cj_tuple *coord);
/* From a view's coordinates to those of what it was cut from. */
const struct cj_layout *cj_tensor_coords(struct cj_elab *el,
    const struct cj_tensor *t);
/* The same operation on the view and on its cut. NULL: reported. */
typedef const struct cj_layout *cj_layout_map(struct cj_algebra *al,
    const struct cj_layout *l, void *user);
struct cj_value cj_tensor_map(struct cj_elab *el, struct cj_span span,
    const struct cj_tensor *t, cj_layout_map *map, void *user,
    const char *what);
/* ... after which the view is a part, and knows where it was cut. */
struct cj_value cj_tensor_cut(struct cj_elab *el, struct cj_span span,
    const struct cj_tensor *t, cj_layout_map *map, void *user,
    const char *what);

struct cj_how {			/* of a load, store or atomic */
	enum cj_cache cache;
	enum cj_order order;
	enum cj_memory_scope scope;
	bool is_early;		/* a dependent launch need not have waited */
	uint32_t width;		/* elements at once; 0: as many as there are */
	const char *who;	/* the atom that asks for them */
};
/* Registers of all elements of a view with known extents. */
struct cj_value cj_tensor_load(struct cj_elab *el, struct cj_span span,
    const struct cj_tensor *t, const struct cj_how *how);
void cj_tensor_prefetch(struct cj_elab *el, struct cj_span span,
    const struct cj_tensor *t);
void cj_tensor_store(struct cj_elab *el, struct cj_span span,
    const struct cj_tensor *t, struct cj_value v, const struct cj_how *how);
struct cj_value cj_slot_load(struct cj_elab *el, struct cj_span span,
    const struct cj_value *place);
struct cj_value cj_slot_index(struct cj_elab *el, struct cj_span span,
    const struct cj_value *place, const struct cj_tuple *coord);
/* Registers have known indices: says what to do instead. */
struct cj_value cj_elab_dynamic_register(struct cj_elab *el,
    struct cj_span span, const struct cj_tuple *coord);
void cj_slot_store(struct cj_elab *el, struct cj_span span,
    const struct cj_value *place, struct cj_value v);

/* One mbarrier as an access and its offset; 0: reported. */
uint32_t cj_arg_mbarrier(struct cj_elab *el, struct cj_span span,
    const struct cj_value *v, const struct cj_tensor *to, cj_ref *offset);
/* `threads` neighbours (0: the block) meet where the builder is. */
void cj_elab_meet(struct cj_elab *el, unsigned threads, const char *what);
/* The same, and `what` is a value that they all have to have. */
void cj_elab_agree(struct cj_elab *el, unsigned threads, const char *what,
    cj_ref value);
/* Refuse meetings that a condition on the thread keeps some from. */
void cj_elab_check_meetings(struct cj_elab *el);
/* The launch is complete: its sync()s wait for such copies, if it has any. */
void cj_elab_sync_copies(struct cj_elab *el);
/* Combine a value over threads. */
struct cj_combine;
struct cj_value cj_elab_reduce_over(struct cj_elab *el,
    const struct cj_combine *c, struct cj_value v,
    const struct cj_value *over);
struct cj_value cj_elab_array_zeros(struct cj_elab *el, struct cj_args *args);

/* A call of PTX that gives one `result` (VOID: none); the executor calls
 * `emulate`, or stops where it is NULL. */
struct cj_value cj_elab_ptx_call(struct cj_elab *el, struct cj_span span,
    const char *text, enum cj_kind result, const struct cj_value *at,
    uint32_t count, const struct cj_value *emulate);
/* The body of an `extern fn` whose parameters are bound (elab_extern.c). */
struct cj_value cj_elab_extern_call(struct cj_elab *el,
    const struct cj_function_value *f, struct cj_span span);

#endif
