/*
 * Clocks and shadows: what interp_clock.c, interp_race.c and
 * interp_race_code.c share.
 */
#ifndef CJ_INTERP_RACE_H
#define CJ_INTERP_RACE_H

#include "interp_priv.h"

/* Numbers that fit a word of a shadow. */
enum { CJ_LAST_INTERVAL = (1 << 22) - 1 };

/* Of a launch. */
struct cj_race_run {
	const struct cj_module *module;
	unsigned levels;		/* of the trees */
	uint32_t warps;			/* of a block: numbers in a leaf */
	uint64_t blocks;		/* of the launch; units come behind */
	bool orders;			/* the code acquires and releases */
	struct cj_sync_table *syncs;
	uint32_t *cells;		/* by object: elements of a cell */
	atomic_uint nodes;
	_Atomic int64_t pages_left;	/* that shadows may still have */
	bool has_stages;	/* produce and consume order their accesses */
	_Atomic(const char *) stopped;	/* why no longer looked for */
};

struct cj_race {
	struct cj_race_run *run;
	struct shadow **shadows;	/* by object; NULL: nobody writes */
};

/* All of it but how many pages there may be (interp_race_code.c). */
struct cj_race_run *cj_race_run_of(struct cj_arena *a,
    const struct cj_decoded *c, const struct cj_kernel_launch *k);
unsigned cj_past_levels(uint64_t blocks);
/* A clock that knows an interval of one warp alone. */
const struct cj_past *cj_past_of(struct cj_frame *f, uint64_t block,
    uint32_t warp, uint32_t interval);
/* What is known of a warp: the last interval of all of its lanes, and `lane`:
 * what one lane alone has done since (cj_lane_note), or 0. */
struct cj_known {
	uint32_t interval, lane;
};
struct cj_known cj_past_known(const struct cj_race_run *r,
    const struct cj_past *p, uint64_t block, uint32_t warp);
static inline uint32_t
cj_lane_note(uint32_t lane, uint32_t interval)
{
	return interval << 6 | lane << 1 | 1;
}
struct cj_sync_table *cj_sync_create(struct cj_arena *a);
/* Blocks that see each other's accesses of a scope have one number. */
uint64_t cj_scope_group(const struct cj_kernel_launch *l, uint64_t block,
    enum cj_memory_scope scope);

#endif
