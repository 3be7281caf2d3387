/*
 * Mbarriers and the copies that signal them, between the files of the executor
 * that have to do with them.
 */
#ifndef CJ_INTERP_TMA_H
#define CJ_INTERP_TMA_H

#include "interp_priv.h"

struct cj_bulk;

struct cj_mbarrier {
	uint32_t count, pending;	/* arrivals: of a phase, to come */
	int64_t tx;			/* bytes to come; may be negative */
	int64_t expected;		/* of the phase, in all */
	uint64_t phase;			/* how many have ended */
	bool is_made, is_fenced;	/* visible to copies */
	uint32_t maker;			/* warp that initialised it */
	struct cj_machine *owner;	/* whose it is, */
	uint32_t object;		/* in which object, */
	int64_t at;			/* at which place */
	cj_ref last;			/* arrival that counted last */
	bool far_coming, far_done;	/* another block has released there,
					   in this phase, in the last */
	const struct cj_past *coming, *done;	/* of this phase, the last */
	uint64_t coming_at, done_at;	/* of timelines */
	uint32_t due;			/* arrivals by commits that have not
					   come yet, */
	const struct cj_past *due_past;	/* what they bring, */
	uint64_t due_at;		/* when, */
	struct cj_frame *due_frame;	/* and who has issued the last */
	const struct cj_step *due_step;
};

/* One of them as it is; count 0: nobody has made it. */
struct cj_mbarrier_state {
	uint32_t count, pending;
	int64_t tx;
	uint64_t phase;
};
struct cj_mbarrier_state cj_mbarrier_look(const struct cj_frame *f,
    uint32_t object, int64_t at);
/* Those of a block; NULL: the code has none. */
struct cj_mbarriers *cj_mbarriers_create(struct cj_arena *a,
    const struct cj_decoded *c);
void cj_mbarriers_clear(struct cj_block *b);
/* The block ends: a fault if a commit has still to arrive at one of them. */
void cj_mbarriers_end(struct cj_block *b);
/* The one of a block that a lane's copy signals; NULL: there is none,
 * reported. */
struct cj_mbarrier *cj_mbarrier_of_copy(struct cj_frame *f,
    const struct cj_step *s, uint32_t lane, struct cj_machine *owner,
    uint32_t object, int64_t at);
/* Its number among those of its block. */
uint32_t cj_mbarrier_number(const struct cj_machine *owner,
    const struct cj_mbarrier *b);
/* Bytes have come; whoever waits is behind `p`. */
void cj_mbarrier_complete(struct cj_frame *f, struct cj_mbarrier *b,
    int64_t bytes, const struct cj_bulk *of);
/* An arrival by a commit, as late as it can be; whoever waits is behind `p`. */
void cj_mbarrier_commit(struct cj_frame *f, const struct cj_step *s,
    struct cj_mbarrier *b, const struct cj_past *p);
/* The block of a rank in the cluster; NULL: none, reported. */
struct cj_machine *cj_cluster_machine(struct cj_frame *f,
    const struct cj_step *s, uint32_t lane, int64_t rank);

/*
 * What is in flight by the hardware's own units: what comes to shared memory
 * and signals an mbarrier there, what goes from there to global memory, what a
 * product reads, or (SOURCE) what a copy to another block reads; or (REGISTERS)
 * what a load of tensor memory fills, no elements then. It has to do
 * with the elements of shared memory whose place without the swizzle is
 * lo .. hi - 1. The other side is a box of a map, or neighbours from `from` on
 * of an object, or registers.
 */
enum cj_bulk_kind { CJ_BULK_LOAD, CJ_BULK_STORE, CJ_BULK_PRODUCT,
    CJ_BULK_SOURCE, CJ_BULK_REGISTERS };
struct cj_bulk {
	enum cj_bulk_kind kind;
	const struct cj_step *step;
	struct cj_frame *frame;		/* that issued it */
	struct cj_machine *owner;	/* of the block whose object it is */
	uint32_t lane, object;
	int64_t lo, hi;
	enum cj_map_swizzle swizzle;
	uint64_t group;
	bool has_read;			/* STORE: waits for its end alone */
	bool reduces;			/* combines */
	enum cj_atomic how;
	const struct cj_tensor_map *map;	/* in flight: a copy, */
	struct cj_tensor_map own_map;	/* which is this one */
	int64_t at[CJ_MAP_NUMBERS];	/* coordinates, offsets */
	uint32_t other;			/* object, where there is no map; */
	int64_t from;			/* shared: of the frame's block */
	struct cj_bulk *source;		/* what protects it there */
	const uint64_t *held;		/* registers; other is 0 */
	struct cj_mbarrier *signal;
	struct cj_unit unit;		/* who moves the data */
	const struct cj_past *past;	/* before it was issued */
	uint64_t until;			/* of timelines */
	uint32_t sum, sum_end;		/* PRODUCT: bytes of the frame it */
	uint32_t left, left_end;	/* writes; that it reads */
	struct cj_bulk *next;
};

/* Row `row` of what is copied: where it begins on the other side, and which
 * of its elements are inside the tensor. */
struct cj_row {
	int64_t first;
	int64_t from, to;
};
struct cj_row cj_box_row(const struct cj_bulk *b, int64_t row);
/* Elements of a row, and how many rows there are. */
int64_t cj_box_width(const struct cj_bulk *b);
int64_t cj_box_rows(const struct cj_bulk *b);

/*
 * Published maps (interp_tensormap.c). May a copy of this lane go by the map?
 * Maps of the launch always; others have to be there, and visible to it.
 */
bool cj_map_may(struct cj_frame *f, const struct cj_step *s, uint32_t lane,
    const struct cj_tensor_map *map);

struct cj_async {
	uint8_t **late;			/* by object, by element: unfilled */
	uint32_t *sources;		/* by object: who will read it */
	uint32_t unit[CJ_UNIT_KINDS][CJ_LANES_WARP];	/* last intervals */
	uint32_t kept;			/* stores that have read */
	struct cj_bulk *bulks, *unused;	/* of the block, oldest first */
	struct product *product;	/* room for one (interp_wgmma.c) */
};

/* A new one at the end of the block's list. */
struct cj_bulk *cj_bulk_add(struct cj_frame *f, const struct cj_step *s,
    enum cj_bulk_kind kind);
void cj_bulk_drop(struct cj_bulk *b);
/* Is its side of shared memory there, quiet, and (to be read) written? */
bool cj_bulk_may(struct cj_frame *f, const struct cj_bulk *b);
/* `issue` for every block of the cluster whose bit is set. */
void cj_bulk_spread(struct cj_frame *f, const struct cj_step *s,
    uint32_t lane, uint32_t ranks,
    void (*issue)(void *user, struct cj_machine *owner), void *user);
/* From now on it is in flight. */
struct cj_bulk *cj_bulk_issue(struct cj_frame *f, const struct cj_bulk *b);
/* A warp begins a new block; it has ended the old one. */
void cj_bulk_clear(struct cj_frame *f);
/* The block ends: a fault if a store has still to read shared memory. */
void cj_bulk_end(struct cj_block *b);
/* cj_async_meets for what is here. */
bool cj_bulk_meets(struct cj_frame *f, const struct cj_step *s,
    uint32_t lane, struct cj_touched_range t);
/* Element `at` of an object behind a swizzle of its bytes, and back. */
int64_t cj_swizzled(enum cj_map_swizzle s, enum cj_kind k, int64_t at);
/* Byte of element (row, k) from the start of an operand, unswizzled. */
int64_t cj_operand_byte(const struct cj_operand_desc *d, int64_t row,
    int64_t k, int64_t bytes);

/* A block sends its part of a tile that others of the cluster load as well: a
 * fault if these ask for another one (interp_share.c). */
void cj_share_ask(struct cj_frame *f, const struct cj_bulk *b);
/* Land all copies of the block that signal b. */
void cj_tma_land(struct cj_frame *f, struct cj_mbarrier *b);

#endif
