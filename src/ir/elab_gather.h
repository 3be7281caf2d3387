/*
 * Views whose elements lie wherever indices say, and coordinates of elements:
 * between elab_gather.c, elab_tensor.c and those who touch elements.
 */
#ifndef CJ_ELAB_GATHER_H
#define CJ_ELAB_GATHER_H

#include "elab_priv.h"

/* One element, whether or not the coordinate is inside. */
struct cj_value cj_tensor_element(struct cj_elab *el, struct cj_span span,
    const struct cj_tensor *t, const struct cj_tuple *coord);
/* The view that begins at a coordinate, with the same shape. */
struct cj_value cj_tensor_shift(struct cj_elab *el, struct cj_span span,
    const struct cj_tensor *t, const struct cj_tuple *coord,
    const char *what);
/* The coordinate `at` of a view, in what it was cut from. */
const struct cj_tuple *cj_cut_at(struct cj_elab *el, const struct cj_cut *cut,
    const struct cj_tuple *at);
/* A coordinate in all its components: where it ends early, zeros follow. */
const struct cj_tuple *cj_whole_coord(struct cj_elab *el,
    const struct cj_tuple *c, const struct cj_tuple *shape);
/* A cut of the whole of t. */
struct cj_cut *cj_cut_new(struct cj_elab *el, const struct cj_tensor *t);

/* The indices that an access has read so far: each is read once. */
struct cj_index_reads {
	CJ_VEC(struct cj_index_read) done;
};

/* The way from an element of a view to that of the tensor behind its gathers,
 * a step for each of them. */
struct cj_way {
	struct cj_span span;
	struct cj_index_reads *reads;
	const struct cj_tensor *t;	/* where we are */
	const struct cj_tuple *at;	/* coordinate of the element in it */
	bool is_guarded;		/* so is a view that we came through */
	/* of the last step: an index, of whom, and the mode of `t` it is in */
	struct cj_int index, extent;
	uint32_t mode;
	const char *name;		/* NULL: registers */
};

/* Begins at the view; at is a coordinate of any nesting. */
struct cj_way cj_way_begin(struct cj_elab *el, struct cj_span span,
    struct cj_index_reads *reads, const struct cj_tensor *t,
    const struct cj_tuple *at);
/* False: no gather is left. The index is read, or was; where that cannot be,
 * which is reported, it is 0. */
bool cj_way_on(struct cj_elab *el, struct cj_way *w);

/* The offset of an element in the object. */
struct cj_int cj_gather_offset(struct cj_elab *el, struct cj_span span,
    struct cj_index_reads *reads, const struct cj_tensor *t,
    const struct cj_tuple *at);
/* Is a guard on the view, or on what it was gathered from? */
bool cj_tensor_is_guarded(const struct cj_tensor *t);
/* Has a stride a symbol in it that stands for a gathered mode? */
bool cj_gather_has_step(struct cj_elab *el, struct cj_int stride);
/* Refuse a gathered view: `what` takes memory at fixed distances; help NULL:
 * copy the elements. */
bool cj_elab_not_gathered(struct cj_elab *el, struct cj_span span,
    const struct cj_tensor *t, const char *what, const char *help);
/* The same of what looks at memory and a layout alone. */
bool cj_elab_not_guarded(struct cj_elab *el, struct cj_span span,
    const struct cj_tensor *t, const char *what, const char *help);

#endif
