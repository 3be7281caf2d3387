/*
 * Grids: for each cell of a picture what is in it and its colour.
 *
 * Colours are classes 0..7: of the value, the thread or the bank modulo eight
 * groups. An MMA is one grid with the names of its operands and the numbers of
 * their rows and columns among the cells:
 *
 *		 B   n
 *		 k   .
 *	 A   k   C   n
 *	 m   .   m   .
 */
#include "layout_grid.h"

#include <stdio.h>

#include "layout_priv.h"

enum { MAX_CELLS = 1 << 16, BANKS = 32, BANK_BITS = 32 };

static bool
grid_init(struct cj_algebra *al, struct cj_grid *g, int64_t rows,
    int64_t columns)
{
	if (rows < 1 || columns < 1) {
		cj_refuse(al, CJ_REFUSED_LIMIT, NULL,
		    "a layout without elements has no picture");
		return false;
	}
	if (rows > MAX_CELLS || columns > MAX_CELLS / rows) {
		cj_refuse(al, CJ_REFUSED_LIMIT, NULL,
		    "a picture of %lld by %lld cells; the limit is %d in all",
		    (long long)rows, (long long)columns, (int)MAX_CELLS);
		return false;
	}
	g->rows = (uint32_t)rows;
	g->columns = (uint32_t)columns;
	g->cells = CJ_NEWS(al->arena, struct cj_cell, (size_t)(rows
	    * columns));
	return true;
}

static bool
known_size(struct cj_algebra *al, const struct cj_tuple *t, int64_t *out)
{
	struct cj_int n = cj_tuple_product(al, t);

	*out = n.value;
	if (al->sym->overflow) {
		al->sym->overflow = false;
		cj_refuse(al, CJ_REFUSED_OVERFLOW, NULL,
		    "the size of %s does not fit in 64 bits",
		    cj_tuple_text(al, t));
		return false;
	}
	if (cj_is_known(n) && cj_tuple_is_known(t))
		return true;
	cj_refuse(al, CJ_REFUSED_SYMBOLIC, NULL,
	    "%s is not known, so it cannot be drawn", cj_tuple_text(al, t));
	return false;
}

static int
bits_of(const struct cj_picture *p)
{
	return p->element_bits == 0 ? BANK_BITS : p->element_bits;
}

static uint8_t
colour_of(const struct cj_picture *p, int64_t value)
{
	int64_t bits = bits_of(p);
	int64_t row = BANK_BITS * BANKS, bank;

	if (p->kind != CJ_DRAW_BANKS)
		return (uint8_t)((value % CJ_COLOURS + CJ_COLOURS)
		    % CJ_COLOURS);
	assert(bits > 0);
	bank = (value % row + row) * bits / BANK_BITS % BANKS;
	return (uint8_t)(bank * CJ_COLOURS / BANKS);
}

static bool
known_strides(struct cj_algebra *al, const struct cj_tuple *stride)
{
	if (cj_tuple_is_known(stride))
		return true;
	cj_refuse(al, CJ_REFUSED_SYMBOLIC, NULL,
	    "the strides %s are not all known integers, so there is nothing"
	    " to draw", cj_tuple_text(al, stride));
	return false;
}

/* The value at each coordinate; index = row + column * rows. */
static bool
fill_values(struct cj_algebra *al, struct cj_grid *g,
    const struct cj_picture *p)
{
	const struct cj_layout *l = p->layout;
	int64_t rows = 1, all, i;
	struct cj_int v;

	if (!known_size(al, l->shape, &all)
	    || !known_strides(al, l->stride))
		return false;
	if (!cj_is_leaf(l->shape) && l->shape->rank > 1
	    && !known_size(al, l->shape->at[0], &rows))
		return false;
	if (!grid_init(al, g, rows, rows == 0 ? 0 : all / rows))
		return false;
	for (i = 0; i < all; i++) {
		struct cj_cell *c = &g->cells[i % rows * g->columns
		    + i / rows];

		if (!cj_layout_offset(al, l, cj_tuple_known(al, i), &v))
			return false;
		*c = (struct cj_cell){ .value = v.value,
		    .kind = CJ_CELL_VALUE, .colour = colour_of(p, v.value) };
	}
	return true;
}

/* ---- who holds what ------------------------------------------------------ */

/* Rows and columns of a part of a grid from `top`, `left` on. */
struct area {
	uint32_t top, left;
	int64_t rows, columns;
	bool row_major;		/* indices run along the rows */
};

/* The cell of an index of the tile; NULL outside. */
static struct cj_cell *
area_cell(struct cj_grid *g, const struct area *a, int64_t index)
{
	int64_t row, column;

	if (index < 0 || index >= a->rows * a->columns)
		return NULL;
	row = a->row_major ? index / a->columns : index % a->rows;
	column = a->row_major ? index % a->columns : index / a->rows;
	return &g->cells[(a->top + row) * g->columns + a->left + column];
}

/* The first thread that holds each element, and its value there. */
static bool
fill_area(struct cj_algebra *al, struct cj_grid *g, const struct area *a,
    const struct cj_layout *tv)
{
	int64_t threads, all, i;
	struct cj_int v;

	if (cj_layout_rank(tv) != 2) {
		cj_refuse(al, CJ_REFUSED_RANK, NULL,
		    "%s is not a layout of threads and values of a tile",
		    cj_layout_text(al, tv));
		return false;
	}
	if (!known_size(al, tv->shape, &all)
	    || !known_size(al, tv->shape->at[0], &threads))
		return false;
	assert(a->top + a->rows <= g->rows);
	for (i = 0; i < a->rows * a->columns; i++)
		area_cell(g, a, i)->kind = CJ_CELL_EMPTY;
	for (i = 0; i < all && i < (int64_t)MAX_CELLS * CJ_COLOURS; i++) {
		struct cj_cell *c;

		if (!cj_layout_offset(al, tv, cj_tuple_known(al, i), &v))
			return false;
		c = cj_is_known(v) ? area_cell(g, a, v.value) : NULL;
		if (c == NULL)
			continue;
		if (c->kind == CJ_CELL_HOLDER) {
			c->more++;
			continue;
		}
		*c = (struct cj_cell){ i % threads, i / threads,
		    CJ_CELL_HOLDER, (uint8_t)(i % threads % CJ_COLOURS), 0 };
	}
	return true;
}

/* A tile of one mode is a row, as a layout of one mode is. */
static bool
tile_extents(struct cj_algebra *al, const struct cj_tuple *tile,
    int64_t *rows, int64_t *columns)
{
	int64_t all;

	*rows = 1;
	if (!known_size(al, tile, &all))
		return false;
	if (cj_tuple_rank(tile) > 1 && !known_size(al, cj_tuple_get(tile, 0),
	    rows))
		return false;
	*columns = *rows == 0 ? 0 : all / *rows;
	return true;
}

static bool
fill_threads(struct cj_algebra *al, struct cj_grid *g,
    const struct cj_picture *p)
{
	struct area a = { .row_major = p->row_major };

	if (p->tile == NULL) {
		cj_refuse(al, CJ_REFUSED_RANK, NULL,
		    "%s has no tile whose elements its threads hold",
		    cj_layout_text(al, p->layout));
		return false;
	}
	return tile_extents(al, p->tile, &a.rows, &a.columns)
	    && grid_init(al, g, a.rows, a.columns)
	    && fill_area(al, g, &a, p->layout);
}

static void
label(struct cj_grid *g, int64_t row, int64_t column, enum cj_cell_kind kind,
    int64_t value)
{
	struct cj_cell *c = &g->cells[row * g->columns + column];

	assert(row < g->rows && column < g->columns);
	*c = (struct cj_cell){ .value = value, .kind = (uint8_t)kind };
}

/* Numbers above and to the left of an area, its name where they meet. */
static void
label_area(struct cj_grid *g, const struct area *a, char name)
{
	int64_t i;

	label(g, a->top - 1, a->left - 1, CJ_CELL_NAME, name);
	for (i = 0; i < a->columns; i++)
		label(g, a->top - 1, a->left + i, CJ_CELL_LABEL, i);
	for (i = 0; i < a->rows; i++)
		label(g, a->top + i, a->left - 1, CJ_CELL_LABEL, i);
}

/* A (m, k) to the left of C (m, n), B above it as (k, n). */
static bool
fill_mma(struct cj_algebra *al, struct cj_grid *g, const struct cj_picture *p)
{
	struct area a = { 0 }, b = { .row_major = true }, c = { 0 };
	int64_t m, n, k;

	assert(p->tile != NULL && p->a != NULL && p->b != NULL);
	if (!known_size(al, cj_tuple_get(p->tile, 0), &m)
	    || !known_size(al, cj_tuple_get(p->tile, 1), &n)
	    || !known_size(al, cj_tuple_get(p->tile, 2), &k))
		return false;
	if (m > MAX_CELLS || n > MAX_CELLS || k > MAX_CELLS)
		return grid_init(al, g, m, MAX_CELLS);
	if (!grid_init(al, g, m + k + 2, n + k + 2))
		return false;
	a = (struct area){ (uint32_t)k + 2, 1, m, k, false };
	b = (struct area){ 1, (uint32_t)k + 2, k, n, true };
	c = (struct area){ (uint32_t)k + 2, (uint32_t)k + 2, m, n, false };
	g->has_labels = true;
	label_area(g, &a, 'A');
	label_area(g, &b, 'B');
	label_area(g, &c, 'C');
	return fill_area(al, g, &a, p->a) && fill_area(al, g, &b, p->b)
	    && fill_area(al, g, &c, p->layout);
}

/* ---- all ----------------------------------------------------------------- */

void
cj_cell_text(char *out, size_t size, const struct cj_cell *c,
    const char *between)
{
	if (c->kind == CJ_CELL_NONE || c->kind == CJ_CELL_EMPTY)
		snprintf(out, size, "%s", "");
	else if (c->kind == CJ_CELL_NAME)
		snprintf(out, size, "%c", (char)c->value);
	else if (c->kind != CJ_CELL_HOLDER)
		snprintf(out, size, "%lld", (long long)c->value);
	else
		snprintf(out, size, "T%lld%s%sV%lld", (long long)c->value,
		    c->more > 0 ? "+" : "", between, (long long)c->second);
}

static bool
fill(struct cj_algebra *al, struct cj_grid *g, const struct cj_picture *p)
{
	g->lines = 2;
	switch (p->kind) {
	case CJ_DRAW_VALUES:
	case CJ_DRAW_BANKS:
		g->lines = 1;
		return fill_values(al, g, p);
	case CJ_DRAW_THREADS:
		return fill_threads(al, g, p);
	case CJ_DRAW_MMA:
		break;
	}
	return fill_mma(al, g, p);
}

static const char *
title_of(struct cj_algebra *al, const struct cj_picture *p)
{
	if (p->title != NULL)
		return p->title;
	if (p->kind != CJ_DRAW_BANKS)
		return cj_layout_text(al, p->layout);
	return cj_printf(al->arena, "%s: %d bits, a colour for %d banks",
	    cj_layout_text(al, p->layout), bits_of(p), BANKS / CJ_COLOURS);
}

bool
cj_grid_make(struct cj_algebra *al, struct cj_grid *g,
    const struct cj_picture *p)
{
	char text[64];
	uint32_t i;

	memset(g, 0, sizeof *g);
	g->title = title_of(al, p);
	if (!fill(al, g, p))
		return false;
	for (i = 0; i < g->rows * g->columns; i++) {
		int n;

		cj_cell_text(text, sizeof text, &g->cells[i], " ");
		n = (int)strlen(text);
		g->width = n > g->width ? n : g->width;
	}
	i = (uint32_t)snprintf(text, sizeof text, "%u", g->columns - 1);
	if (g->width < (int)i)
		g->width = (int)i;
	return true;
}
