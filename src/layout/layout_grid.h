/*
 * A picture before it is printed: cells in rows and columns.
 */
#ifndef CJ_LAYOUT_GRID_H
#define CJ_LAYOUT_GRID_H

#include "layout_draw.h"

enum { CJ_COLOURS = 8 };

enum cj_cell_kind {
	CJ_CELL_NONE,		/* nothing, not even a frame */
	CJ_CELL_NAME,		/* value: the letter of an operand */
	CJ_CELL_LABEL,		/* value: the number of a row or a column */
	CJ_CELL_EMPTY,		/* framed; nobody holds it */
	CJ_CELL_VALUE,		/* value */
	CJ_CELL_HOLDER		/* thread `value`, its value `second` */
};

struct cj_cell {
	int64_t value, second;
	uint8_t kind, colour;
	uint32_t more;		/* other threads with the same element */
};

struct cj_grid {
	const char *title;
	bool has_labels;	/* among the cells: none are added */
	uint32_t rows, columns;
	struct cj_cell *cells;	/* row by row */
	int width;		/* characters of the widest cell */
	int lines;		/* of text in a cell: 1 or 2 */
};

/* False with `why` set, see cj_layout_draw. */
bool cj_grid_make(struct cj_algebra *al, struct cj_grid *g,
    const struct cj_picture *p);
/* What is written in a cell, `between` after the thread. */
void cj_cell_text(char *out, size_t size, const struct cj_cell *c,
    const char *between);

static inline const struct cj_cell *
cj_grid_at(const struct cj_grid *g, int64_t row, int64_t column)
{
	return &g->cells[row * g->columns + column];
}

static inline bool
cj_is_framed(const struct cj_cell *c)
{
	return c->kind >= CJ_CELL_EMPTY;
}

#endif
