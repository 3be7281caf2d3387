/*
 * Between the files of layout/: refusals, lists of tuples and modes.
 */
#ifndef CJ_LAYOUT_PRIV_H
#define CJ_LAYOUT_PRIV_H

#include "layout.h"

/* Set `why`; returns NULL. `help` may be NULL. */
void *cj_refuse(struct cj_algebra *al, enum cj_refusal kind,
    const char *help, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* `result`, or NULL where arithmetic on the way left 64 bits. */
const void *cj_checked(struct cj_algebra *al, const void *result);

/* The text of an integer, for messages. */
const char *cj_int_text(struct cj_algebra *al, struct cj_int i);

/* (a, b) */
const struct cj_tuple *cj_numbers(struct cj_algebra *al, int64_t a, int64_t b);

/* A growing list of tuples; small ones need no memory of their own. */
struct cj_list {
	const struct cj_tuple **at;
	uint32_t count, cap;
	const struct cj_tuple *small[16];
};

void cj_list_init(struct cj_list *list);
void cj_list_add(struct cj_algebra *al, struct cj_list *list,
    const struct cj_tuple *t);
const struct cj_tuple *cj_list_tuple(struct cj_algebra *al,
    const struct cj_list *list);
/* A list of one is its member, as CuTe's unwrap. */
const struct cj_tuple *cj_list_unwrap(struct cj_algebra *al,
    const struct cj_list *list);

/* Leaves of a layout, in order. The stride is an INT or a BASIS. */
struct cj_mode {
	struct cj_int shape;
	const struct cj_tuple *stride;
};

struct cj_modes {
	struct cj_mode *at;
	uint32_t count, cap;
	struct cj_mode small[16];
};

void cj_modes_init(struct cj_modes *m);
void cj_modes_add(struct cj_algebra *al, struct cj_modes *m,
    struct cj_int shape, const struct cj_tuple *stride);
void cj_modes_flatten(struct cj_algebra *al, struct cj_modes *m,
    const struct cj_tuple *shape, const struct cj_tuple *stride);
/* One mode is a scalar layout s:d, none is 1:0. */
const struct cj_layout *cj_modes_layout(struct cj_algebra *al,
    const struct cj_modes *m);

/* Layout of congruent parts, unchecked. */
const struct cj_layout *cj_layout_of(struct cj_algebra *al,
    const struct cj_tuple *shape, const struct cj_tuple *stride);
/* The same swizzle and offset around another inner layout. */
const struct cj_layout *cj_layout_around(struct cj_algebra *al,
    const struct cj_layout *outer, const struct cj_layout *inner);
/* The part before the swizzle. */
const struct cj_layout *cj_layout_inner(struct cj_algebra *al,
    const struct cj_layout *l);

/* by * stride, for a stride that is a leaf. */
const struct cj_tuple *cj_stride_scale(struct cj_algebra *al,
    const struct cj_tuple *stride, struct cj_int by);
bool cj_stride_is(const struct cj_tuple *stride, int64_t value);
bool cj_stride_same(const struct cj_tuple *a, const struct cj_tuple *b);
/* Sum of two values: integers or coordinates. NULL when they do not mix. */
const struct cj_tuple *cj_value_add(struct cj_algebra *al,
    const struct cj_tuple *a, const struct cj_tuple *b);

/* Compact strides from `*next` on, which is moved on; 0 for extents of 1. */
const struct cj_tuple *cj_compact_left(struct cj_algebra *al,
    const struct cj_tuple *shape, struct cj_int *next);

void cj_coalesce_modes(struct cj_algebra *al, struct cj_modes *m);
/* CuTe's coalesce_x: the function is kept beyond the domain as well. */
void cj_coalesce_beyond(struct cj_algebra *al, struct cj_modes *m);
/* A copy of `t` with fn in place of its leaves; NULL passes through. */
typedef const struct cj_tuple *cj_leaf_fn(struct cj_algebra *al,
    const struct cj_tuple *leaf, void *user);
const struct cj_tuple *cj_tuple_map(struct cj_algebra *al,
    const struct cj_tuple *t, cj_leaf_fn *fn, void *user);
const struct cj_tuple *cj_tuple_group(struct cj_algebra *al,
    const struct cj_tuple *t, uint32_t begin, uint32_t end);
const struct cj_tuple *cj_tuple_append(struct cj_algebra *al,
    const struct cj_tuple *t, const struct cj_tuple *x);
const struct cj_tuple *cj_tuple_prepend(struct cj_algebra *al,
    const struct cj_tuple *t, const struct cj_tuple *x);
typedef const struct cj_layout *cj_tile_fn(struct cj_algebra *al,
    const struct cj_layout *l, const struct cj_layout *tile);
/* fn at the leaves of the tiler; modes beyond it, and those at `_`, stay. */
const struct cj_layout *cj_layout_by_tiler(struct cj_algebra *al,
    const struct cj_layout *l, const struct cj_tuple *tiler, cj_tile_fn *fn);
/* The layout of a leaf of a tiler, n being n:1. */
const struct cj_layout *cj_tile_layout(struct cj_algebra *al,
    const struct cj_tuple *tile);
/* Gather the pairs at the leaves of the guide into a form of divides. */
const struct cj_layout *cj_layout_gather(struct cj_algebra *al,
    enum cj_divide form, const struct cj_layout *l,
    const struct cj_tuple *guide);
/* The complement of a filtered layout, elements left out or not: its last mode
 * goes on beyond the target, and no element comes twice. */
const struct cj_layout *cj_layout_gaps(struct cj_algebra *al,
    const struct cj_layout *f, const struct cj_tuple *cotarget);
/* l o Sw, as a swizzle after l. */
const struct cj_layout *cj_layout_compose_swizzle(struct cj_algebra *al,
    const struct cj_layout *l, struct cj_swizzle s);
/* Neighbours that are both known, or both symbols, become one extent. */
const struct cj_tuple *cj_shape_coalesce(struct cj_algebra *al,
    const struct cj_tuple *shape);

/* Keep what is paired with `_` (slice), or with an integer (dice). */
enum cj_keep { CJ_KEEP_ANY, CJ_KEEP_REST };
const struct cj_tuple *cj_tuple_slice(struct cj_algebra *al,
    const struct cj_tuple *coord, const struct cj_tuple *t,
    enum cj_keep keep);

#endif
