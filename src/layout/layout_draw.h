/*
 * Pictures of layouts: grids of values, of threads and values, of banks.
 */
#ifndef CJ_LAYOUT_DRAW_H
#define CJ_LAYOUT_DRAW_H

#include "atom.h"

enum cj_draw_form { CJ_DRAW_TEXT, CJ_DRAW_SVG, CJ_DRAW_LATEX, CJ_DRAW_HTML };

enum cj_draw_kind {
	CJ_DRAW_VALUES,		/* the value at each coordinate */
	CJ_DRAW_BANKS,		/* the same, coloured by banks */
	CJ_DRAW_THREADS,	/* (thread, value) -> index in `tile` */
	CJ_DRAW_MMA		/* A left of C, B above it */
};

struct cj_picture {
	const char *title;	/* NULL: the layout's text, of BANKS how */
	enum cj_draw_kind kind;
	const struct cj_layout *layout;
	/* of THREADS: (rows, columns), one mode is a row; of MMA: (M, N, K) */
	const struct cj_tuple *tile;
	bool row_major;		/* of THREADS: the index runs along rows */
	int element_bits;	/* of BANKS; 0 is 32 */
	/* of MMA, where `layout` is C: (thread, value) -> m + k*M, n + k*N */
	const struct cj_layout *a, *b;
};

/*
 * Draw the pictures side by side. Mode 0 runs down, the other modes to the
 * right. False with `why` set where extents are symbols, values coordinates,
 * or a grid has more than 65536 cells.
 */
bool cj_layout_draw(struct cj_strbuf *out, struct cj_algebra *al,
    const struct cj_picture *pictures, uint32_t count,
    enum cj_draw_form form);

/* Pictures of operands, and of a copy's source and target. False: `why`. */
bool cj_picture_of_mma(struct cj_algebra *al, const struct cj_tiled_mma *mma,
    struct cj_picture *out);
bool cj_picture_of_copy(struct cj_algebra *al,
    const struct cj_tiled_copy *copy, struct cj_picture out[2]);
/* An atom (of values, cj_copy_atom_values): a row has as many elements as a
 * thread of the reference has values. */
bool cj_picture_of_copy_atom(struct cj_algebra *al,
    const struct cj_copy_atom *atom, struct cj_picture out[2]);

#endif
