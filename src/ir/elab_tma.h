/*
 * Tensor maps as values, between the files that make, use and change them.
 */
#ifndef CJ_ELAB_TMA_H
#define CJ_ELAB_TMA_H

#include "elab_tiled.h"

enum { CJ_MOST_BOX = 256, CJ_MOST_BOXES = 64 };

struct cj_tma_value {
	bool stores, reduces;
	enum cj_map_kind kind;
	enum cj_atomic how;
	enum cj_evict evict;
	const struct cj_tensor *tensor;
	const struct cj_layout *shared;	/* with its swizzle */
	struct cj_value map;		/* REGS of kind tensormap, level 1 */
	uint32_t record, rank;
	int64_t extent[CJ_MAP_MODES];	/* of the tile, by mode, and the most */
	int64_t most[CJ_MAP_MODES];	/* of a box */
	int64_t step[CJ_MAP_MODES];	/* of the tensor, between elements */
	uint32_t mode[CJ_MAP_MODES];	/* of the tensor, by mode of the map */
	uint32_t boxes;
	int64_t start[CJ_MOST_BOXES][CJ_MAP_MODES];	/* by mode of the map */
	int64_t place[CJ_MOST_BOXES];	/* in shared memory, no swizzle */
	/* blocks that share it: how many along each mode of the cluster; each
	 * sends a part of every box to all of them, cut along a mode of the
	 * map into so many elements, which are so far apart */
	int64_t along[2];
	uint32_t cut_mode;
	int64_t cut_extent, cut_step;
};

/* False, reported; the second where another layout of shared memory helps. */
bool cj_no_map(struct cj_elab *el, struct cj_span span, const char *what);
bool cj_refuse_layout(struct cj_elab *el, struct cj_span span,
    const char *what);
/* The box, where each is, and what of it blocks send that share it; false:
 * reported (elab_tma_box.c). */
bool cj_tma_find_boxes(struct cj_elab *el, struct cj_args *args,
    struct cj_tma_value *t, struct cj_map *map);
/* promote =, fill =: false, reported. */
bool cj_tma_fetching(struct cj_elab *el, struct cj_args *args,
    const struct cj_tma_value *t, struct cj_map *map);
/* Is what a guard fills with what its map does? False: reported. */
bool cj_tma_fills(struct cj_elab *el, struct cj_span span,
    const struct cj_tma_value *t, const struct cj_value *fill);
/* The hardware lays out shorter rows otherwise; false: reported. */
bool cj_rows_fill_swizzle(struct cj_elab *el, struct cj_span span,
    const struct cj_tma_value *t, const struct cj_map *map);
/* Is an extent along the mode of stride 1 known to be whole units of 16 bytes?
 * Where the copy cannot do without, false: reported; where it is not known, the
 * launch asks. */
bool cj_tma_has_whole_units(struct cj_elab *el, const struct cj_tma_value *t,
    struct cj_int extent);
bool cj_tma_need_whole_units(struct cj_elab *el, struct cj_span span,
    const struct cj_tma_value *t);
/* The map's instruction in the host part. */
cj_ref cj_tma_encode(struct cj_elab *el, const struct cj_tma_value *t);
/* What tma_load() and its kin begin with; NULL: reported. */
struct cj_tma_value *cj_tma_begin(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row);
/* Is the tensor one that a map can show? False: reported. */
bool cj_tma_check_tensor(struct cj_elab *el, struct cj_span span,
    const struct cj_tma_value *t);
/* The tensor is read, or written. */
void cj_tma_mark(struct cj_elab *el, const struct cj_tma_value *t);
struct cj_value cj_tma_copy_value(struct cj_elab *el,
    const struct cj_tma_value *t, const char *name);
/* Where a copy is, in the map's order: its coordinates, then offsets; of rows a
 * column, and their numbers. */
struct cj_tma_place {
	struct cj_int at[CJ_MAP_NUMBERS];
	const struct cj_int *rows;
	/* by mode of the tensor: the view's slice ends in front of the tensor's
	 * end, and has so much left */
	bool has_end, is_limited[CJ_MAP_MODES];
	bool has_rest;		/* a store may end inside 16 bytes, which TMA
				   would write whole */
	struct cj_int left[CJ_MAP_MODES];
};
/* What a copy's instructions have in common. */
struct cj_tma_boxes {
	struct cj_tma_copy copy;
	struct cj_int place;		/* in shared memory, no swizzle */
	cj_ref map, signal, ranks;	/* the last two: 0 for none */
};

/* ---- where a copy is (elab_tma_place.c); false: reported ----------------- */

/* Outside of its tensor a load has what its map says, a store writes nothing,
 * and nothing else is asked: is that what the view's guard says? */
bool cj_tma_guard_fits(struct cj_elab *el, struct cj_span span,
    const struct cj_tma_value *t, const struct cj_tensor *v);
bool cj_tma_place_in_tensor(struct cj_elab *el, struct cj_args *args,
    const struct cj_tma_value *t, struct cj_tma_place *to);
/* A copy begins at a whole unit along the mode of stride 1; what is certain not
 * to is refused, the rest is the executor's. */
bool cj_tma_begins_at_unit(struct cj_elab *el, struct cj_args *args,
    const struct cj_tma_value *t, const struct cj_tma_place *to);
/* Does `v` hold the tile as the map's layout does? Its first element, without
 * the swizzle. */
bool cj_tma_place_in_shared(struct cj_elab *el, struct cj_span span,
    const struct cj_tma_value *t, const struct cj_tensor *v,
    struct cj_int *at);
/* Is the view the tensor that the map was made for? */
bool cj_tma_names_tensor(struct cj_elab *el, struct cj_args *args,
    const struct cj_tma_value *t, const char *what);
/* Of a copy of pixels, of rows by number. */
bool cj_im2col_place(struct cj_elab *el, struct cj_args *args,
    const struct cj_tma_value *t, struct cj_tma_place *to);
bool cj_rows_place(struct cj_elab *el, struct cj_args *args,
    const struct cj_tma_value *t, struct cj_tma_place *to);

/* Where blocks load one tile together, each sends its part to all of them;
 * false: reported (elab_tma_share.c). */
bool cj_tma_share_load(struct cj_elab *el, struct cj_span span,
    const struct cj_tma_value *t, struct cj_tma_boxes *boxes,
    struct cj_tma_place *to);

/* ---- the copy ------------------------------------------------------------ */

void cj_tma_emit_boxes(struct cj_elab *el, const struct cj_tma_value *t,
    const struct cj_tma_boxes *boxes, const struct cj_tma_place *to);
/* A copy of a tile that may reach over the end of its slice (elab_edge.c). */
struct cj_value cj_elab_copy_edge(struct cj_elab *el, struct cj_args *args,
    const struct cj_tma_value *t, const struct cj_tma_boxes *boxes,
    const struct cj_tma_place *to, bool is_staged);
/* Does the target do that with rows by number? False: reported. */
enum cj_rows_use { CJ_ROWS_LOADED, CJ_ROWS_STORED, CJ_ROWS_ASKED };
bool cj_rows_can(struct cj_elab *el, struct cj_span span, const char *name,
    enum cj_rows_use use);
/* tma_prefetch(load, tile). */
struct cj_value cj_tma_ask(struct cj_elab *el, struct cj_args *args,
    const struct cj_tma_value *t);
/* Numbers of `name`, one for each of `count` modes, in the map's order. */
bool cj_tma_numbers(struct cj_elab *el, struct cj_args *args,
    const char *name, uint32_t count, const char *help, struct cj_int *out);

/* fence(proxy = .tensormap, map = v); false: reported. */
bool cj_elab_map_acquire(struct cj_elab *el, struct cj_span span,
    const struct cj_value *v);
/* The map that was published there; 0: reported. */
cj_ref cj_elab_map_at(struct cj_elab *el, struct cj_span span,
    const struct cj_value *v);

#endif
