/*
 * Pictures of layouts.
 *
 * A picture is first a grid: for each cell a text of one or two lines and a
 * colour. Four printers show grids: text, SVG, LaTeX (TikZ) and HTML. Colours
 * are classes 0..7: of the value, the thread or the bank modulo eight groups.
 */
#include "layout_draw.h"

#include <stdio.h>

#include "layout_priv.h"

enum { MAX_CELLS = 1 << 16, COLOURS = 8, BANKS = 32, BANK_BITS = 32 };

struct cell {
	int64_t value, second;	/* second < 0: one line only */
	uint8_t colour;
	bool is_set;
	uint32_t more;		/* other threads with the same element */
};

struct grid {
	const char *title;
	enum cj_draw_kind kind;
	uint32_t rows, columns;
	struct cell *cells;	/* row by row */
	int width;		/* characters of the widest cell */
};

/* ---- grids ------------------------------------------------------------- */

static bool
grid_init(struct cj_algebra *al, struct grid *g, int64_t rows,
    int64_t columns)
{
	if (rows < 1 || columns < 1 || rows > MAX_CELLS
	    || columns > MAX_CELLS / rows) {
		cj_refuse(al, CJ_REFUSED_LIMIT, NULL,
		    "a picture of %lld by %lld cells; the limit is %d in all",
		    (long long)rows, (long long)columns, (int)MAX_CELLS);
		return false;
	}
	g->rows = (uint32_t)rows;
	g->columns = (uint32_t)columns;
	g->cells = CJ_NEWS(al->arena, struct cell, (size_t)(rows
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

static uint8_t
colour_of(const struct cj_picture *p, int64_t value)
{
	int64_t bits = p->element_bits == 0 ? BANK_BITS : p->element_bits;
	int64_t row = BANK_BITS * BANKS, bank;

	if (p->kind != CJ_DRAW_BANKS)
		return (uint8_t)(((value % COLOURS) + COLOURS) % COLOURS);
	assert(bits > 0);
	bank = (value % row + row) * bits / BANK_BITS % BANKS;
	return (uint8_t)(bank * COLOURS / BANKS);
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
fill_values(struct cj_algebra *al, struct grid *g,
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
		struct cell *c = &g->cells[i % rows * g->columns + i / rows];

		if (!cj_layout_offset(al, l, cj_tuple_known(al, i), &v))
			return false;
		*c = (struct cell){ v.value, -1, colour_of(p, v.value),
		    true, 0 };
	}
	return true;
}

/* Who holds each element of the tile: the first thread and its value. */
static bool
fill_threads(struct cj_algebra *al, struct grid *g,
    const struct cj_picture *p)
{
	const struct cj_layout *l = p->layout;
	int64_t rows, columns = 1, threads, all, i;
	struct cj_int v;

	if (p->tile == NULL || cj_layout_rank(l) != 2) {
		cj_refuse(al, CJ_REFUSED_RANK, NULL,
		    "%s is not a layout of threads and values of a tile",
		    cj_layout_text(al, l));
		return false;
	}
	if (!known_size(al, cj_tuple_get(p->tile, 0), &rows)
	    || (cj_tuple_rank(p->tile) > 1 && !known_size(al,
	    cj_tuple_get(p->tile, 1), &columns))
	    || !known_size(al, l->shape, &all)
	    || !known_size(al, l->shape->at[0], &threads)
	    || !grid_init(al, g, rows, columns))
		return false;
	for (i = 0; i < all && i < (int64_t)MAX_CELLS * COLOURS; i++) {
		struct cell *c;

		if (!cj_layout_offset(al, l, cj_tuple_known(al, i), &v))
			return false;
		if (!cj_is_known(v) || v.value < 0
		    || v.value >= rows * columns)
			continue;
		c = &g->cells[v.value % rows * g->columns + v.value / rows];
		if (c->is_set) {
			c->more++;
			continue;
		}
		*c = (struct cell){ i % threads, i / threads,
		    (uint8_t)(i % threads % COLOURS), true, 0 };
	}
	return true;
}

static void
cell_text(char *out, size_t size, const struct grid *g, const struct cell *c,
    const char *between)
{
	if (!c->is_set)
		snprintf(out, size, "%s", "");
	else if (g->kind != CJ_DRAW_THREADS)
		snprintf(out, size, "%lld", (long long)c->value);
	else
		snprintf(out, size, "T%lld%s%sV%lld", (long long)c->value,
		    c->more > 0 ? "+" : "", between, (long long)c->second);
}

static bool
make_grid(struct cj_algebra *al, struct grid *g, const struct cj_picture *p)
{
	char text[64];
	uint32_t i;

	memset(g, 0, sizeof *g);
	g->title = p->title != NULL ? p->title
	    : cj_layout_text(al, p->layout);
	g->kind = p->kind;
	if (!(p->kind == CJ_DRAW_THREADS ? fill_threads : fill_values)(al, g,
	    p))
		return false;
	for (i = 0; i < g->rows * g->columns; i++) {
		int n;

		cell_text(text, sizeof text, g, &g->cells[i], " ");
		n = (int)strlen(text);
		g->width = n > g->width ? n : g->width;
	}
	i = (uint32_t)snprintf(text, sizeof text, "%u", g->columns - 1);
	if (g->width < (int)i)
		g->width = (int)i;
	return true;
}

/* ---- text -------------------------------------------------------------- */

/* A line of one grid: title, columns, rule, row, rule, row, rule ... */
static void
text_line(struct cj_strbuf *out, const struct grid *g, int64_t line)
{
	char text[64];
	uint32_t j;

	if (line == 0) {
		cj_strbuf_puts(out, g->title);
		return;
	}
	if (line == 1) {
		cj_strbuf_puts(out, "     ");
		for (j = 0; j < g->columns; j++)
			cj_strbuf_printf(out, "  %*u ", g->width, j);
		return;
	}
	if (line >= 2 * (int64_t)g->rows + 3)
		return;
	if (line % 2 == 1)
		cj_strbuf_printf(out, "%4lld ", (long long)(line - 3) / 2);
	else
		cj_strbuf_puts(out, "     ");
	for (j = 0; j < g->columns; j++) {
		if (line % 2 == 0) {
			cj_strbuf_printf(out, "+-%.*s-", g->width,
			    "----------------------------------------");
			continue;
		}
		cell_text(text, sizeof text, g, &g->cells[(line - 3) / 2
		    * g->columns + j], " ");
		cj_strbuf_printf(out, "| %*s ", g->width, text);
	}
	cj_strbuf_putc(out, line % 2 == 0 ? '+' : '|');
}

/* Characters from the left edge of a grid to that of the next. */
static size_t
text_width(const struct grid *g)
{
	size_t cells = 6 + (size_t)g->columns * (size_t)(g->width + 3);
	size_t title = strlen(g->title);

	return (cells > title ? cells : title) + 4;
}

static void
draw_text(struct cj_strbuf *out, const struct grid *g, uint32_t count)
{
	int64_t line, lines = 0;
	size_t left;
	uint32_t i;

	for (i = 0; i < count; i++) {
		if (2 * (int64_t)g[i].rows + 3 > lines)
			lines = 2 * (int64_t)g[i].rows + 3;
	}
	for (line = 0; line < lines; line++) {
		for (i = 0; i < count; i++) {
			left = out->len;
			text_line(out, &g[i], line);
			while (out->len < left + text_width(&g[i]))
				cj_strbuf_putc(out, ' ');
		}
		while (out->len > 0 && out->text[out->len - 1] == ' ')
			out->text[--out->len] = '\0';
		cj_strbuf_putc(out, '\n');
	}
}

/* ---- SVG --------------------------------------------------------------- */

/* Light enough for black text, apart for readers who see few colours. */
static const char *const palette[COLOURS] = { "#a6cee3", "#fdbf6f",
    "#b2df8a", "#fb9a99", "#cab2d6", "#ffff99", "#d9d9d9", "#80cdc1" };

static void
escaped(struct cj_strbuf *out, const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text == '<')
			cj_strbuf_puts(out, "&lt;");
		else if (*text == '&')
			cj_strbuf_puts(out, "&amp;");
		else
			cj_strbuf_putc(out, *text);
	}
}

enum { FONT = 10, ROW = 18, MARGIN = 34, TOP = 40, GAP = 30 };

static int
cell_pixels(const struct grid *g)
{
	int width = g->kind == CJ_DRAW_THREADS ? (g->width + 1) / 2
	    : g->width;
	int pixels = width * 7 + 8;

	return pixels < ROW ? ROW : pixels;
}

static int
row_pixels(const struct grid *g)
{
	return g->kind == CJ_DRAW_THREADS ? 2 * ROW - 8 : ROW;
}

static int
grid_pixels(const struct grid *g)
{
	int width = MARGIN + (int)g->columns * cell_pixels(g);
	int title = MARGIN + (int)strlen(g->title) * 7;

	return width > title ? width : title;
}

static void
svg_cell(struct cj_strbuf *out, const struct grid *g, const struct cell *c,
    int x, int y)
{
	int w = cell_pixels(g), h = row_pixels(g);

	cj_strbuf_printf(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" "
	    "height=\"%d\" fill=\"%s\"/>", x, y, w, h, c->is_set
	    ? palette[c->colour] : "#ffffff");
	if (!c->is_set)
		return;
	if (g->kind != CJ_DRAW_THREADS) {
		cj_strbuf_printf(out, "<text x=\"%d\" y=\"%d\">%lld</text>",
		    x + w / 2, y + h - 5, (long long)c->value);
		return;
	}
	cj_strbuf_printf(out, "<text x=\"%d\" y=\"%d\">T%lld%s</text>"
	    "<text x=\"%d\" y=\"%d\">V%lld</text>", x + w / 2, y + 12,
	    (long long)c->value, c->more > 0 ? "+" : "", x + w / 2, y + 24,
	    (long long)c->second);
}

static void
svg_grid(struct cj_strbuf *out, const struct grid *g, int left)
{
	int w = cell_pixels(g), h = row_pixels(g);
	uint32_t i, j;

	cj_strbuf_printf(out, "<text class=\"t\" x=\"%d\" y=\"14\">",
	    left + MARGIN);
	escaped(out, g->title);
	cj_strbuf_puts(out, "</text>\n");
	for (j = 0; j < g->columns; j++)
		cj_strbuf_printf(out, "<text class=\"n\" x=\"%d\" y=\"%d\">"
		    "%u</text>", left + MARGIN + (int)j * w + w / 2, TOP - 6,
		    j);
	for (i = 0; i < g->rows; i++) {
		int y = TOP + (int)i * h;

		cj_strbuf_printf(out, "\n<text class=\"n\" x=\"%d\" y=\"%d\">"
		    "%u</text>", left + MARGIN - 14, y + h / 2 + 4, i);
		for (j = 0; j < g->columns; j++)
			svg_cell(out, g, &g->cells[i * g->columns + j],
			    left + MARGIN + (int)j * w, y);
	}
	cj_strbuf_putc(out, '\n');
}

static void
draw_svg(struct cj_strbuf *out, const struct grid *g, uint32_t count)
{
	int width = 0, height = 0, left = 0;
	uint32_t i;

	for (i = 0; i < count; i++) {
		int h = TOP + (int)g[i].rows * row_pixels(&g[i]) + 10;

		width += grid_pixels(&g[i]) + GAP;
		height = h > height ? h : height;
	}
	cj_strbuf_printf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" "
	    "width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n<style>"
	    "rect{stroke:#444;stroke-width:.6}"
	    "text{font:%dpx monospace;text-anchor:middle}"
	    ".n{fill:#888}.t{text-anchor:start;font-weight:bold}</style>\n"
	    "<rect width=\"%d\" height=\"%d\" style=\"fill:#fff;"
	    "stroke:none\"/>\n", width, height, width, height, (int)FONT,
	    width, height);
	for (i = 0; i < count; i++) {
		svg_grid(out, &g[i], left);
		left += grid_pixels(&g[i]) + GAP;
	}
	cj_strbuf_puts(out, "</svg>\n");
}

/* ---- LaTeX ------------------------------------------------------------- */

static void
latex_grid(struct cj_strbuf *out, const struct grid *g, uint32_t left)
{
	char text[64];
	uint32_t i, j;

	for (i = 0; i < g->rows * g->columns; i++) {
		const struct cell *c = &g->cells[i];

		cell_text(text, sizeof text, g, c, "\\\\");
		cj_strbuf_printf(out, "\\node[cell, fill=%s%d] at (%u,-%u) "
		    "{%s};\n", c->is_set ? "c" : "n", c->is_set ? c->colour
		    : 0, left + i % g->columns, i / g->columns, text);
	}
	for (j = 0; j < g->columns; j++)
		cj_strbuf_printf(out, "\\node at (%u,1) {\\tiny %u};\n",
		    left + j, j);
	for (i = 0; i < g->rows; i++)
		cj_strbuf_printf(out, "\\node at (%d,-%u) {\\tiny %u};\n",
		    (int)left - 1, i, i);
}

static void
draw_latex(struct cj_strbuf *out, const struct grid *g, uint32_t count)
{
	uint32_t i, left = 0;

	cj_strbuf_puts(out, "\\documentclass[convert]{standalone}\n"
	    "\\usepackage{tikz}\n\\begin{document}\n"
	    "\\definecolor{n0}{HTML}{FFFFFF}\n");
	for (i = 0; i < COLOURS; i++)
		cj_strbuf_printf(out, "\\definecolor{c%u}{HTML}{%s}\n", i,
		    palette[i] + 1);
	cj_strbuf_puts(out, "\\begin{tikzpicture}[cell/.style={rectangle, "
	    "draw, minimum size=1cm, inner sep=0, align=center, "
	    "font=\\scriptsize}]\n");
	for (i = 0; i < count; i++) {
		latex_grid(out, &g[i], left);
		left += g[i].columns + 2;
	}
	cj_strbuf_puts(out, "\\end{tikzpicture}\n\\end{document}\n");
}

/* ---- HTML -------------------------------------------------------------- */

static void
html_grid(struct cj_strbuf *out, const struct grid *g)
{
	char text[64];
	uint32_t i, j;

	cj_strbuf_puts(out, "<table><caption>");
	escaped(out, g->title);
	cj_strbuf_puts(out, "</caption>\n<tr><th></th>");
	for (j = 0; j < g->columns; j++)
		cj_strbuf_printf(out, "<th>%u</th>", j);
	cj_strbuf_puts(out, "</tr>\n");
	for (i = 0; i < g->rows; i++) {
		cj_strbuf_printf(out, "<tr><th>%u</th>", i);
		for (j = 0; j < g->columns; j++) {
			const struct cell *c = &g->cells[i * g->columns + j];

			cell_text(text, sizeof text, g, c, "<br>");
			cj_strbuf_printf(out, c->is_set
			    ? "<td class=\"c%d\">%s</td>" : "<td></td>",
			    c->colour, text);
		}
		cj_strbuf_puts(out, "</tr>\n");
	}
	cj_strbuf_puts(out, "</table>\n");
}

static void
draw_html(struct cj_strbuf *out, const struct grid *g, uint32_t count)
{
	uint32_t i;

	cj_strbuf_puts(out, "<!DOCTYPE html>\n<meta charset=\"utf-8\">\n"
	    "<style>body{display:flex;gap:2em;align-items:flex-start}"
	    "table{border-collapse:collapse;font:11px monospace}"
	    "caption{text-align:left;font-weight:bold}"
	    "td{border:1px solid #444;min-width:1.6em;padding:1px 3px;"
	    "text-align:center}"
	    "th{color:#888;font-weight:normal;position:sticky;top:0;left:0;"
	    "background:#fff}");
	for (i = 0; i < COLOURS; i++)
		cj_strbuf_printf(out, ".c%u{background:%s}", i, palette[i]);
	cj_strbuf_puts(out, "</style>\n");
	for (i = 0; i < count; i++)
		html_grid(out, &g[i]);
}

/* ---- all --------------------------------------------------------------- */

bool
cj_layout_draw(struct cj_strbuf *out, struct cj_algebra *al,
    const struct cj_picture *pictures, uint32_t count,
    enum cj_draw_form form)
{
	struct grid *g = CJ_NEWS(al->arena, struct grid, count);
	uint32_t i;

	for (i = 0; i < count; i++) {
		if (!make_grid(al, &g[i], &pictures[i]))
			return false;
		assert(g[i].rows > 0 && g[i].columns > 0);
	}
	switch (form) {
	case CJ_DRAW_TEXT:
		draw_text(out, g, count);
		break;
	case CJ_DRAW_SVG:
		draw_svg(out, g, count);
		break;
	case CJ_DRAW_LATEX:
		draw_latex(out, g, count);
		break;
	case CJ_DRAW_HTML:
		draw_html(out, g, count);
		break;
	}
	return true;
}
