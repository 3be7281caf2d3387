/*
 * Clocks and shadows: what interp_clock.c, interp_past.c, interp_sync.c and
 * interp_race*.c share.
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
	uint32_t own_warps;		/* of them: no units */
	bool has_async;			/* units see memory in their own way */
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
	struct cj_shadow **shadows;	/* by object; NULL: nobody writes */
};

/* All of it but how many pages there may be (interp_race_code.c). */
struct cj_race_run *cj_race_run_of(struct cj_arena *a,
    const struct cj_decoded *c, const struct cj_kernel_launch *k);
/* What a lane of the own warp knows of the others. */
static inline struct cj_known
cj_clock_own(const struct cj_clock *c, uint32_t warp)
{
	struct cj_known k = c->of[CJ_VIEW_THREADS].warp[warp];

	k.interval = c->met - 1;
	return k;
}
/* The same of what a fence stands behind: of who did it, and of others. */
struct cj_fenced {
	struct cj_known by[2];
};
struct cj_fenced cj_clock_fenced(const struct cj_frame *f,
    const struct cj_clock *c, enum cj_view view, uint64_t block,
    uint32_t warp);

/* ---- trees of what is known (interp_past.c) ------------------------------ */

unsigned cj_past_levels(uint64_t blocks);
/* A tree of one leaf: an interval of one warp; all that a clock has of its own
 * block. */
const struct cj_past *cj_past_of(struct cj_frame *f, uint64_t block,
    uint32_t warp, uint32_t interval);
const struct cj_past *cj_past_of_clock(struct cj_frame *f,
    const struct cj_clock *c);
/* What a tree says of a warp. */
struct cj_known cj_past_known(const struct cj_race_run *r,
    const struct cj_past *p, uint64_t block, uint32_t warp);
/* The leaf of a block; NULL: nothing is known of it. The second: what fences
 * have made known to units. */
const struct cj_past *cj_past_leaf(const struct cj_race_run *r,
    const struct cj_past *p, uint64_t block);
const struct cj_past *cj_past_fenced_leaf(const struct cj_race_run *r,
    const struct cj_past *p, enum cj_view view, uint64_t block);
/* A tree where all that it says of threads is so for units as well. */
const struct cj_past *cj_past_fence(struct cj_frame *f,
    const struct cj_past *p, enum cj_view view);

/* How many views a leaf has, and how many warps in one. */
static inline unsigned
cj_race_views(const struct cj_race_run *r)
{
	return r->has_async ? CJ_VIEWS : 1;
}

static inline uint32_t
cj_race_warps(const struct cj_race_run *r, enum cj_view view)
{
	return view == CJ_VIEW_THREADS ? r->warps : r->own_warps;
}

struct cj_known cj_leaf_known(const struct cj_race_run *r,
    const struct cj_past *leaf, enum cj_view view, uint32_t warp);
/* Take more knowledge of a warp in. */
static inline void
cj_known_learn(struct cj_known *k, struct cj_known more)
{
	if (more.interval > k->interval)
		k->interval = more.interval;
	if (k->since <= k->interval)
		k->since = k->lanes = 0;
	if (more.since <= k->interval)
		return;
	k->lanes |= more.lanes;
	if (more.since > k->since)
		k->since = more.since;
}

/* ---- who did it ---------------------------------------------------------- */

/*
 *	63..38 block + 1	37..33 warp	32..28 lane
 *	27..6 interval		1..0 form
 *	63..32 mask of warps (of the block that owns the shadow), and more
 *	63..2 address of a set
 */
typedef uint64_t cj_doer;

/* LANES stands for several of one warp. */
enum cj_doer_form { CJ_DOER_LANE, CJ_DOER_MASK, CJ_DOER_SET, CJ_DOER_LANES };
/* VIEW: a unit reads, on behalf of who stands there. */
enum cj_doer_kind { CJ_DOER_WRITE, CJ_DOER_READ, CJ_DOER_ATOMIC, CJ_DOER_VIEW,
    CJ_DOER_KINDS };

#define CJ_DOER_WARP_BITS	(~(cj_doer)0 << 33)	/* block and warp */
#define CJ_DOER_LANE_BITS	(~(cj_doer)0 << 28)	/* and lane */

static inline cj_doer
cj_doer_of(uint64_t block, uint32_t warp, uint32_t interval)
{
	assert(warp < 32 && interval <= CJ_LAST_INTERVAL);
	return (cj_doer)(block + 1) << 38 | (cj_doer)warp << 33
	    | (cj_doer)interval << 6;
}

static inline enum cj_doer_form
cj_doer_form(cj_doer d)
{
	return (enum cj_doer_form)(d & 3);
}

static inline uint64_t
cj_doer_block(cj_doer d)
{
	return (d >> 38) - 1;
}

static inline uint32_t
cj_doer_warp(cj_doer d)
{
	return (uint32_t)(d >> 33) & 31;
}

static inline uint32_t
cj_doer_lane(cj_doer d)
{
	return (uint32_t)(d >> 28) & 31;
}

static inline uint32_t
cj_doer_interval(cj_doer d)
{
	return (uint32_t)(d >> 6) & CJ_LAST_INTERVAL;
}

/* ---- shadows ------------------------------------------------------------- */

enum { CJ_SHADOW_PAGE = 1024 };

struct cj_shadow_page {
	_Atomic cj_doer who[CJ_SHADOW_PAGE];
	_Atomic cj_ref ref[CJ_SHADOW_PAGE];	/* the instruction */
};

typedef struct cj_shadow_page *cj_shadow_page_ref;

/* The shadow of one memory; NULL pages: nobody yet. */
struct cj_shadow {
	int64_t first;			/* element where cell 0 begins */
	size_t cells;
	unsigned log2_cell;		/* elements of a cell */
	bool is_own;			/* of one thread of ours: shared, */
	uint64_t owner;			/* of this block */
	_Atomic cj_shadow_page_ref *pages[CJ_DOER_KINDS];
};

/* An access under examination. */
struct cj_act {
	struct cj_frame *f;
	const struct cj_step *s;
	struct cj_race_run *run;
	struct cj_shadow *shadow;
	uint32_t lane, object;
	int64_t element;
	enum cj_doer_kind kind;
	bool is_async, is_over;
	cj_doer me;
};

/* Units of the hardware have block numbers behind those of the launch. */
static inline bool
cj_doer_is_of_unit(const struct cj_act *a, cj_doer d)
{
	return cj_doer_block(d) >= a->run->blocks;
}

/* What the lane under examination knows. */
static inline const struct cj_clock *
cj_act_clock(const struct cj_act *a)
{
	const struct cj_frame *f = a->f;

	return f->ahead == 0 || f->ahead >> a->lane & 1 ? f->clock : f->stale;
}

uint32_t cj_doer_mask_interval(cj_doer mask);
/* Who of a word did not come before the access; has no fence behind; 0: all
 * have (interp_race_word.c). */
cj_doer cj_doer_unordered(const struct cj_act *a, cj_doer w);
cj_doer cj_doer_unfenced(const struct cj_act *a, enum cj_view view, cj_doer w);
/* What becomes of a word when the access joins it; sets change inside. */
cj_doer cj_doer_joined(const struct cj_act *a, cj_doer old);

/* Reports (interp_race_report.c): `other` has done `kind` at `ref`, and that is
 * not in order; has no fence behind; is out of reach of a scope. */
void cj_race_report(const struct cj_act *a, cj_doer other, cj_ref ref,
    enum cj_doer_kind kind);
void cj_race_report_unfenced(const struct cj_act *a, cj_doer other, cj_ref ref,
    enum cj_doer_kind kind);
void cj_race_report_scope(const struct cj_act *a, cj_doer other, cj_ref ref);

/* ---- what blocks and scopes share ---------------------------------------- */

struct cj_sync_table *cj_sync_create(struct cj_arena *a);
/* Blocks that see each other's accesses of a scope have one number. */
uint64_t cj_scope_group(const struct cj_kernel_launch *l, uint64_t block,
    enum cj_memory_scope scope);

#endif
