/*
 * Pictures of layouts: grids of values, of threads and values, of banks.
 */
#ifndef CJ_LAYOUT_DRAW_H
#define CJ_LAYOUT_DRAW_H

#include "layout.h"

enum cj_draw_kind {
	CJ_DRAW_VALUES,		/* the value at each coordinate */
	CJ_DRAW_BANKS,		/* the same, coloured by bank of shared memory */
	CJ_DRAW_THREADS		/* (thread, value) -> index in `tile` */
};

struct cj_picture {
	const char *title;	/* NULL: the layout's text */
	enum cj_draw_kind kind;
	const struct cj_layout *layout;
	const struct cj_tuple *tile;	/* of THREADS: (rows, columns) */
	int element_bits;		/* of BANKS; 0 is 32 */
};

/*
 * Draw the pictures side by side. Mode 0 runs down, the other modes to the
 * right. False with `why` set where extents are symbols, values coordinates,
 * or a grid has more than 65536 cells.
 */
bool cj_layout_draw(struct cj_strbuf *out, struct cj_algebra *al,
    const struct cj_picture *pictures, uint32_t count,
    enum cj_draw_form form);

#endif
