/*
 * Between the files that lower channels: one of them while it is lowered.
 */
#ifndef CJ_LOWER_CHANNEL_H
#define CJ_LOWER_CHANNEL_H

#include "lower_priv.h"

/* One side of a channel in one role. */
struct side {
	uint32_t stage, parity;		/* slots */
	uint32_t oldest, held;		/* consume, in_flight: what goes back
					   next, how many have not */
};

struct channel {
	struct cj_lower *l;
	uint32_t p;
	const struct cj_pipeline *pipeline;
	const struct cj_channel *c;
	uint32_t full, empty;		/* objects */
	uint32_t least, most;		/* arrivals of a role at `empty` */
	bool is_read_async;		/* by TMA or products */
	uint32_t x, y;			/* the cluster's extents */
	uint32_t share;			/* bits: modes that loads are shared
					   along, 4: along both at once */
	uint32_t sharers;		/* blocks that give back to a block */
	struct side *fills, *reads;	/* by role */
	cj_ref *taken;			/* by block: its stage */
};

/* ---- pieces (lower_channel.c) -------------------------------------------- */

/* The rank of sharer number `i`. */
cj_ref cj_channel_rank_of(const struct channel *h, struct cj_builder *b,
    cj_ref i);
/* Does one lane alone give stages back? Arrivals of a role at "empty". */
bool cj_channel_is_freed_by_lane(const struct channel *h, uint32_t role);
uint32_t cj_channel_arrivals_empty(const struct channel *h, uint32_t role);
bool cj_channel_is_filled_by(const struct channel *h, unsigned engine);
void cj_channel_make_side(struct channel *h, uint32_t role, struct side *s,
    bool fills);
/* The stage behind `stage`; *is_last says whether that is the first again. */
cj_ref cj_channel_next_stage(struct channel *h, struct cj_builder *b,
    cj_ref stage, cj_ref *is_last);
void cj_channel_advance(struct channel *h, struct cj_builder *b,
    const struct side *s, cj_ref stage, cj_ref parity);
/* The block is what it was, but for its index. */
void cj_channel_end_block(struct channel *h, cj_ref block, cj_ref stage);

/* ---- PRODUCE (lower_fill.c); RELEASE and DRAIN (lower_back.c) ------------ */

void cj_channel_produce(struct channel *h, cj_ref block);
void cj_channel_release(struct channel *h, cj_ref r);
void cj_channel_drain(struct channel *h, cj_ref r);

#endif
