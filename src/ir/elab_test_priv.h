/*
 * Between the files that elaborate tests: arrays, expectations, calls.
 */
#ifndef CJ_ELAB_TEST_PRIV_H
#define CJ_ELAB_TEST_PRIV_H

#include "elab_priv.h"

/* A new array of `l`; its ARRAY instruction is emitted, EMPTY. */
struct cj_value cj_elab_array_new(struct cj_elab *el, struct cj_span span,
    enum cj_kind element, const struct cj_layout *l);

/*
 * An operand of element-wise work as the region for one index sees it: an
 * array seen through the common shape, or the value itself.
 */
struct cj_lane {
	struct cj_value value;
	bool is_array;
	const struct cj_layout *view;	/* of an array, broadcast */
};

/* Bring operands to one shape. NULL: reported; no array among them: *shape
 * is NULL too, and the result is not. */
struct cj_lane *cj_elab_lanes(struct cj_elab *el, struct cj_span span,
    const struct cj_value *args, uint32_t count,
    const struct cj_tuple **shape);
/* The scalar that a lane has at a coordinate of the common shape. */
struct cj_value cj_elab_lane_at(struct cj_elab *el, struct cj_span span,
    const struct cj_lane *lane, const struct cj_tuple *coord);

/* An ARRAY_MAP of `count` elements: in its region, *i is the index. Gives the
 * region around it, for cj_elab_leave(). */
cj_region cj_elab_map_begin(struct cj_elab *el, struct cj_int count,
    struct cj_int *i);
/* The element at an offset from the first one. */
struct cj_value cj_elab_array_load(struct cj_elab *el,
    const struct cj_tensor *t, struct cj_int offset);
/* y[offset from its first element] = value, of the array's kind. */
void cj_elab_array_store(struct cj_elab *el, const struct cj_tensor *y,
    struct cj_int offset, cj_ref value);
/* zeros(T, layout) in a test. */
struct cj_value cj_elab_array_zeros(struct cj_elab *el, struct cj_args *args);

/* The number of elements of a shape as an instruction. */
cj_ref cj_elab_count(struct cj_elab *el, const struct cj_tuple *shape);

/* A CALL without a kernel whose argument is the array. */
void cj_elab_hand_over(struct cj_elab *el, struct cj_span span,
    const struct cj_tensor *t);

#endif
