/*
 * Mbarriers and the copies that signal them, between the files of the executor
 * that have to do with them.
 */
#ifndef CJ_INTERP_TMA_H
#define CJ_INTERP_TMA_H

#include "interp_priv.h"

struct cj_mbarrier {
	uint32_t count, pending;	/* arrivals: of a phase, to come */
	int64_t tx;			/* bytes to come; may be negative */
	uint64_t phase;			/* how many have ended */
	bool is_made, is_fenced;	/* visible to copies */
	uint32_t maker;			/* warp that initialised it */
	cj_ref last;			/* arrival that counted last */
	const struct cj_past *coming, *done;	/* of this phase, the last */
};

/* Those of a block; NULL: the code has none. */
struct cj_mbarriers *cj_mbarriers_create(struct cj_arena *a,
    const struct cj_decoded *c);
void cj_mbarriers_clear(struct cj_block *b);
/* The one that a lane's copy signals; NULL: there is none, reported. */
struct cj_mbarrier *cj_mbarrier_of_copy(struct cj_frame *f,
    const struct cj_step *s, uint32_t lane, uint32_t object, int64_t at);
/* Bytes have come; whoever waits is behind `p`. */
void cj_mbarrier_complete(struct cj_frame *f, struct cj_mbarrier *b,
    int64_t bytes, const struct cj_past *p);

/* Land all copies of the block that signal b. */
void cj_tma_land(struct cj_frame *f, struct cj_mbarrier *b);
/* What the warp has written is visible to copies and products from now on. */
void cj_proxy_fence(struct cj_frame *f);

#endif
