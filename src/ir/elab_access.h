/*
 * How the elements of a view become accesses: for loads, stores and copies
 * (elab_access.c, elab_async_copy.c).
 */
#ifndef CJ_ELAB_ACCESS_H
#define CJ_ELAB_ACCESS_H

#include "elab_gather.h"

enum { CJ_MAX_AXES = 64 };

struct cj_axis {
	int64_t extent;
	struct cj_int stride;
	uint32_t radix;		/* of the register index */
	int64_t taken;		/* elements of the chain's run; 0: not in it */
	int64_t run;		/* stride of it in the chain */
};

struct cj_pieces {
	const struct cj_tensor *t;
	struct cj_span span;
	struct cj_axis axis[CJ_MAX_AXES];
	unsigned axes;
	uint32_t count;		/* registers */
	uint32_t width;		/* elements of an access */
	unsigned bits;		/* of an element in memory */
	uint32_t *start;	/* per register: its access's first one */
	uint32_t *lane;		/* position within the access */
	bool is_cut;		/* narrower, since a guard may cut it */
	const char *why;	/* not wider; NULL: as wide as can be */
	const char *remedy;	/* of `why`, where it has one of its own */
	bool is_unaligned;	/* since no larger alignment is known */
	struct cj_index_reads *reads;	/* of a gathered view; NULL: none yet */
};

/* ---- guards (elab_guard.c) ----------------------------------------------- */

/* Have the guard of t ask `pred`, too: a condition, one for each element or a
 * function that gives one for a coordinate; false: it is none, reported. */
bool cj_guard_asks(struct cj_elab *el, struct cj_span span,
    const struct cj_value *pred, struct cj_tensor *t);
/* What lets a guard cut through accesses: its limit is no multiple. */
struct cj_cut_by {
	bool is_limit;		/* else a coordinate, or a predicate */
	bool is_condition;	/* registers, other ones for neighbours */
	struct cj_int limit;
};
/* Are all elements of an access inside of the guards, or none? */
bool cj_guard_allows(struct cj_elab *el, const struct cj_pieces *p,
    struct cj_cut_by *by);
/* Say why accesses are no wider, and what to demand. */
void cj_guard_blame(struct cj_elab *el, struct cj_pieces *p,
    const struct cj_cut_by *by);
/* The current function may touch the elements; else it is reported. */
bool cj_tensor_may_touch(struct cj_elab *el, struct cj_span span,
    const struct cj_tensor *t, bool writes);
/* ---- the accesses of a view (elab_pieces.c) ------------------------------ */

/* Bytes, a power of two, of which the address of an element is a multiple that
 * lies `way` elements before the view's first. */
int64_t cj_tensor_align(struct cj_elab *el, const struct cj_tensor *t,
    struct cj_int *way);
/* The widest accesses that are proved; false: reported. */
bool cj_pieces_make(struct cj_elab *el, struct cj_pieces *p,
    struct cj_span span, const struct cj_tensor *t);
/* Bytes that an access touches, and what its first is a multiple of. */
uint32_t cj_pieces_bytes(const struct cj_pieces *p);
uint32_t cj_pieces_align(const struct cj_pieces *p);
/* Is each access a row of 16 bytes of a matrix, as a thread has it? */
bool cj_pieces_are_rows(const struct cj_pieces *p);
/* What to do about `why`; where nothing special is known: `otherwise`. */
const char *cj_pieces_help(const struct cj_pieces *p, const char *otherwise);
/* The atom whose accesses are as wide as these may be. */
const char *cj_pieces_atom(struct cj_elab *el, const struct cj_pieces *p,
    bool is_async);
/* Narrower ones, of a width that divides. */
void cj_pieces_narrow(struct cj_pieces *p, uint32_t width);
/* The offset of the access that begins at register r, also as an
 * instruction. */
struct cj_int cj_pieces_term(struct cj_elab *el, const struct cj_pieces *p,
    uint32_t r);
cj_ref cj_pieces_offset(struct cj_elab *el, const struct cj_pieces *p,
    uint32_t r);
/* A component of an element's coordinate in what the view was cut from, or in
 * a view that it may have left. */
struct cj_component {
	struct cj_int at, limit;
	uint32_t mode;
	bool is_part;		/* the mode is one of a part */
};
/* Those of the coordinate `at` of a view that is cut, at most CJ_MAX_AXES. */
unsigned cj_cut_components(struct cj_elab *el, const struct cj_tensor *t,
    const struct cj_tuple *at, struct cj_component *out);
/* The way from register r through gathers. */
struct cj_way cj_pieces_way(struct cj_elab *el, const struct cj_pieces *p,
    uint32_t r);
/* For accesses of single elements: register 0 is the first element. */
struct cj_pieces cj_pieces_first(struct cj_elab *el, struct cj_span span,
    const struct cj_tensor *t);
/* Have the access that begins at register r watched: no coordinate leaves its
 * mode where `mask` (0: always) holds (elab_bounds.c). */
void cj_pieces_watch(struct cj_elab *el, const struct cj_pieces *p, uint32_t r,
    cj_ref mask);
/* Its mask; 0: always inside. */
bool cj_pieces_mask(struct cj_elab *el, const struct cj_pieces *p, uint32_t r,
    cj_ref *mask);
/*
 * All elements of src to those of dst by cp.async, `count` at a time (4, 8 or
 * 16 bytes), which both views must allow; neighbours are in the order of
 * coordinates. A guard of src (fill 0) masks. No group is made: that is
 * cp_async_commit(), or the produce block around. False: reported.
 */
struct cj_async_how {
	uint32_t count;
	enum cj_copy_cache cache;
	uint32_t prefetch;	/* bytes for L2: 0, 64, 128, 256 */
};
bool cj_tensor_copy_async(struct cj_elab *el, struct cj_span span,
    const struct cj_tensor *src, const struct cj_tensor *dst,
    const struct cj_async_how *how);
/* Remarks on what a warp does at once: sectors, banks (elab_warp.c). */
void cj_elab_warp_access(struct cj_elab *el, const struct cj_pieces *p);

#endif
