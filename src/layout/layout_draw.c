/*
 * Pictures of layouts: four printers of grids (layout_grid.h), as text, SVG,
 * LaTeX (TikZ) and HTML.
 */
#include "layout_grid.h"

#include "layout_priv.h"

/* ---- text -------------------------------------------------------------- */

static bool
is_framed(const struct cj_grid *g, int64_t row, int64_t column)
{
	return row >= 0 && row < g->rows && column >= 0
	    && column < g->columns && cj_is_framed(cj_grid_at(g, row,
	    column));
}

/* The rule above a row, which may be the one behind the last. */
static void
text_rule(struct cj_strbuf *out, const struct cj_grid *g, int64_t row)
{
	int64_t j;
	bool line, corner;

	assert(row >= 0 && row <= g->rows);
	for (j = 0; j <= g->columns; j++) {
		line = is_framed(g, row - 1, j) || is_framed(g, row, j);
		corner = line || is_framed(g, row - 1, j - 1)
		    || is_framed(g, row, j - 1);
		cj_strbuf_putc(out, corner ? '+' : ' ');
		if (j < g->columns)
			cj_strbuf_printf(out, "%.*s", g->width + 2, line
			    ? "------------------------------------------"
			    : "                                          ");
	}
}

static void
text_row(struct cj_strbuf *out, const struct cj_grid *g, int64_t row)
{
	char text[64];
	int64_t j;

	assert(row >= 0 && row < g->rows);
	for (j = 0; j < g->columns; j++) {
		cj_cell_text(text, sizeof text, cj_grid_at(g, row, j), " ");
		cj_strbuf_putc(out, is_framed(g, row, j) || is_framed(g, row,
		    j - 1) ? '|' : ' ');
		cj_strbuf_printf(out, " %*s ", g->width, text);
	}
	if (is_framed(g, row, j - 1))
		cj_strbuf_putc(out, '|');
}

/* A line of one grid: title, columns, rule, row, rule, row, rule ... */
static void
text_line(struct cj_strbuf *out, const struct cj_grid *g, int64_t line)
{
	int64_t row = (line - 3) / 2;
	uint32_t j;

	if (line == 0) {
		cj_strbuf_puts(out, g->title);
		return;
	}
	if (line >= 2 * (int64_t)g->rows + 3 || (line == 1
	    && g->has_labels))
		return;
	if (!g->has_labels && line % 2 == 1 && line > 1)
		cj_strbuf_printf(out, "%4lld ", (long long)row);
	else
		cj_strbuf_puts(out, "     ");
	if (line == 1) {
		for (j = 0; j < g->columns; j++)
			cj_strbuf_printf(out, "  %*u ", g->width, j);
		return;
	}
	if (line % 2 == 0)
		text_rule(out, g, line / 2 - 1);
	else
		text_row(out, g, row);
}

/* Characters from the left edge of a grid to that of the next. */
static size_t
text_width(const struct cj_grid *g)
{
	size_t cells = 6 + (size_t)g->columns * (size_t)(g->width + 3);
	size_t title = strlen(g->title);

	return (cells > title ? cells : title) + 4;
}

static void
draw_text(struct cj_strbuf *out, const struct cj_grid *g, uint32_t count)
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
static const char *const palette[CJ_COLOURS] = { "#a6cee3", "#fdbf6f",
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
cell_pixels(const struct cj_grid *g)
{
	int width = g->lines == 2 ? (g->width + 1) / 2
	    : g->width;
	int pixels = width * 7 + 8;

	return pixels < ROW ? ROW : pixels;
}

static int
row_pixels(const struct cj_grid *g)
{
	return g->lines == 2 ? 2 * ROW - 8 : ROW;
}

static int
grid_pixels(const struct cj_grid *g)
{
	int width = MARGIN + (int)g->columns * cell_pixels(g);
	int title = MARGIN + (int)strlen(g->title) * 7;

	return width > title ? width : title;
}

static void
svg_text(struct cj_strbuf *out, const char *style, int x, int y,
    int64_t number)
{
	cj_strbuf_printf(out, "<text%s x=\"%d\" y=\"%d\">%lld</text>", style,
	    x, y, (long long)number);
}

static const char label_style[] = " class=\"n\"";

static void
svg_name(struct cj_strbuf *out, const struct cj_cell *c, int x, int y)
{
	cj_strbuf_printf(out, "<text class=\"o\" x=\"%d\" y=\"%d\">%c"
	    "</text>", x, y, (char)c->value);
}

static void
svg_cell(struct cj_strbuf *out, const struct cj_grid *g,
    const struct cj_cell *c, int x, int y)
{
	int w = cell_pixels(g), h = row_pixels(g);

	assert(c->colour < CJ_COLOURS);
	if (c->kind == CJ_CELL_NAME)
		svg_name(out, c, x + w / 2, y + h / 2 + 4);
	if (c->kind == CJ_CELL_LABEL)
		svg_text(out, label_style, x + w / 2, y + h / 2 + 4,
		    c->value);
	if (!cj_is_framed(c))
		return;
	cj_strbuf_printf(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" "
	    "height=\"%d\" fill=\"%s\"/>", x, y, w, h,
	    c->kind == CJ_CELL_EMPTY ? "#ffffff" : palette[c->colour]);
	if (c->kind == CJ_CELL_VALUE)
		svg_text(out, "", x + w / 2, y + h - 5, c->value);
	if (c->kind == CJ_CELL_HOLDER)
		cj_strbuf_printf(out, "<text x=\"%d\" y=\"%d\">T%lld%s</text>"
		    "<text x=\"%d\" y=\"%d\">V%lld</text>", x + w / 2, y + 12,
		    (long long)c->value, c->more > 0 ? "+" : "", x + w / 2,
		    y + 24, (long long)c->second);
}

static void
svg_labels(struct cj_strbuf *out, const struct cj_grid *g, int left)
{
	int w = cell_pixels(g), h = row_pixels(g);
	uint32_t i;

	if (g->has_labels)
		return;
	for (i = 0; i < g->columns; i++)
		svg_text(out, label_style, left + (int)i * w + w / 2, TOP - 6,
		    i);
	for (i = 0; i < g->rows; i++)
		svg_text(out, label_style, left - 14, TOP + (int)i * h + h / 2
		    + 4, i);
}

static void
svg_grid(struct cj_strbuf *out, const struct cj_grid *g, int left)
{
	int w = cell_pixels(g), h = row_pixels(g);
	uint32_t i, j;

	cj_strbuf_printf(out, "<text class=\"t\" x=\"%d\" y=\"14\">",
	    left + MARGIN);
	escaped(out, g->title);
	cj_strbuf_puts(out, "</text>\n");
	svg_labels(out, g, left + MARGIN);
	for (i = 0; i < g->rows; i++) {
		cj_strbuf_putc(out, '\n');
		for (j = 0; j < g->columns; j++)
			svg_cell(out, g, cj_grid_at(g, i, j), left + MARGIN
			    + (int)j * w, TOP + (int)i * h);
	}
	cj_strbuf_putc(out, '\n');
}

static void
draw_svg(struct cj_strbuf *out, const struct cj_grid *g, uint32_t count)
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
	    ".n{fill:#888}.o{font-size:14px;font-weight:bold}"
	    ".t{text-anchor:start;font-weight:bold}</style>\n"
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
latex_cell(struct cj_strbuf *out, const struct cj_cell *c, uint32_t x,
    uint32_t y)
{
	char text[64];

	assert(c->colour < CJ_COLOURS);
	cj_cell_text(text, sizeof text, c, "\\\\");
	if (c->kind == CJ_CELL_NAME)
		cj_strbuf_printf(out, "\\node at (%u.5,-%u.5) {\\bfseries %s};"
		    "\n", x, y, text);
	else if (c->kind == CJ_CELL_LABEL)
		cj_strbuf_printf(out, "\\node[label] at (%u.5,-%u.5) {%s};\n",
		    x, y, text);
	else if (c->kind == CJ_CELL_EMPTY)
		cj_strbuf_printf(out, "\\cell{%u}{%u}{white}{}\n", x, y);
	else if (c->kind != CJ_CELL_NONE)
		cj_strbuf_printf(out, "\\cell{%u}{%u}{c%d}{%s}\n", x, y,
		    c->colour, text);
}

static void
latex_grid(struct cj_strbuf *out, const struct cj_grid *g, uint32_t left)
{
	uint32_t i, j;

	cj_strbuf_printf(out, "\\node[title] at (%u,1.5) "
	    "{\\detokenize{%s}};\n", left, g->title);
	for (i = 0; i < g->rows * g->columns; i++)
		latex_cell(out, &g->cells[i], left + i % g->columns,
		    i / g->columns);
	if (g->has_labels)
		return;
	for (j = 0; j < g->columns; j++)
		cj_strbuf_printf(out, "\\node[label] at (%u.5,.5) {%u};\n",
		    left + j, j);
	for (i = 0; i < g->rows; i++)
		cj_strbuf_printf(out, "\\node[label, left] at (%u,-%u.5) "
		    "{%u};\n", left, i, i);
}

/* Columns of a grid and of its title, of some 10 characters a column. */
static uint32_t
latex_columns(const struct cj_grid *g)
{
	uint32_t title = (uint32_t)strlen(g->title) / 5 + 1;

	return g->columns > title ? g->columns : title;
}

/* The page is as large as the picture; no class or package but TikZ. Titles
 * are ASCII, which the typewriter font has at its places. */
static const char latex_head[] = "\\documentclass{article}\n"
    "\\usepackage{tikz}\n"
    "\\ifdefined\\pagewidth\\let\\pdfpagewidth\\pagewidth\n"
    "\\let\\pdfpageheight\\pageheight\\fi\n"
    "\\hoffset=-1in \\voffset=-1in\n"
    "% nodes would take TeX minutes\n"
    "\\newcommand\\cell[4]{\\begin{pgfscope}\\pgfsetfillcolor{#3}"
    "\\pgfpathrectangle{\\pgfpointxy{#1}{-#2}}{\\pgfpointxy{1}{-1}}"
    "\\pgfusepath{fill,stroke}\\end{pgfscope}%\n"
    "\\pgftext[at=\\pgfpointxy{#1.5}{-#2.5}]"
    "{\\small\\shortstack{#4}}}\n"
    "\\begin{document}\n";

static void
draw_latex(struct cj_strbuf *out, const struct cj_grid *g, uint32_t count)
{
	uint32_t i, left = 0;

	cj_strbuf_puts(out, latex_head);
	for (i = 0; i < CJ_COLOURS; i++)
		cj_strbuf_printf(out, "\\definecolor{c%u}{HTML}{%s}\n", i,
		    palette[i] + 1);
	cj_strbuf_puts(out, "\\setbox0\\hbox{\\begin{tikzpicture}[label/.style"
	    "={text=gray, font=\\footnotesize}, title/.style={anchor=west, "
	    "inner sep=0, font=\\ttfamily}]\n");
	for (i = 0; i < count; i++) {
		latex_grid(out, &g[i], left);
		left += latex_columns(&g[i]) + 2;
	}
	cj_strbuf_puts(out, "\\path (current bounding box.south west) "
	    "+(-.3,-.3) (current bounding box.north east) +(.3,.3);\n"
	    "\\end{tikzpicture}}\n"
	    "\\pdfpagewidth=\\wd0 \\pdfpageheight=\\dimexpr\\ht0+\\dp0"
	    "\\relax\n\\shipout\\box0\n\\end{document}\n");
}

/* ---- HTML -------------------------------------------------------------- */

static void
html_cell(struct cj_strbuf *out, const struct cj_cell *c)
{
	char text[64];

	assert(c->colour < CJ_COLOURS);
	cj_cell_text(text, sizeof text, c, "<br>");
	if (c->kind == CJ_CELL_NAME)
		cj_strbuf_printf(out, "<th class=\"o\">%s</th>", text);
	else if (c->kind == CJ_CELL_NONE || c->kind == CJ_CELL_LABEL)
		cj_strbuf_printf(out, "<th>%s</th>", text);
	else if (c->kind == CJ_CELL_EMPTY)
		cj_strbuf_puts(out, "<td></td>");
	else
		cj_strbuf_printf(out, "<td class=\"c%d\">%s</td>", c->colour,
		    text);
}

static void
html_grid(struct cj_strbuf *out, const struct cj_grid *g)
{
	uint32_t i, j;

	cj_strbuf_puts(out, g->has_labels ? "<table><caption>"
	    : "<table class=\"s\"><caption>");
	escaped(out, g->title);
	cj_strbuf_puts(out, "</caption>\n");
	if (!g->has_labels) {
		cj_strbuf_puts(out, "<tr><th></th>");
		for (j = 0; j < g->columns; j++)
			cj_strbuf_printf(out, "<th>%u</th>", j);
		cj_strbuf_puts(out, "</tr>\n");
	}
	for (i = 0; i < g->rows; i++) {
		cj_strbuf_puts(out, "<tr>");
		if (!g->has_labels)
			cj_strbuf_printf(out, "<th>%u</th>", i);
		for (j = 0; j < g->columns; j++)
			html_cell(out, cj_grid_at(g, i, j));
		cj_strbuf_puts(out, "</tr>\n");
	}
	cj_strbuf_puts(out, "</table>\n");
}

static void
draw_html(struct cj_strbuf *out, const struct cj_grid *g, uint32_t count)
{
	uint32_t i;

	cj_strbuf_puts(out, "<!DOCTYPE html>\n<meta charset=\"utf-8\">\n"
	    "<style>body{display:flex;align-items:flex-start}"
	    "table{margin-right:2em;border-collapse:collapse;"
	    "font:11px monospace}"
	    "caption{text-align:left;font-weight:bold}"
	    "td{border:1px solid #444;min-width:1.6em;padding:1px 3px;"
	    "text-align:center}"
	    "th{color:#888;font-weight:normal;background:#fff}"
	    "th.o{color:#000;font-weight:bold}"
	    ".s th{position:sticky}.s tr:first-child th{top:0}"
	    ".s th:first-child{left:0}");
	for (i = 0; i < CJ_COLOURS; i++)
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
	struct cj_grid *g = CJ_NEWS(al->arena, struct cj_grid, count);
	uint32_t i;

	for (i = 0; i < count; i++) {
		if (!cj_grid_make(al, &g[i], &pictures[i]))
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
