/*
 * The page: totals, the source with what each line cost, shared tensors with
 * their banks and pictures, the atoms of products. One file, no scripts.
 */
#include "layout/layout_draw.h"
#include "profile.h"

static const char style[] =
    "body{font:14px/1.5 system-ui,sans-serif;margin:2em auto;max-width:78em;"
    "padding:0 1em;color:#1c2430;background:#fff}\n"
    "h1{font-size:1.5em;margin:0}h2{font-size:1.1em;margin:2em 0 .5em}\n"
    "p{margin:.3em 0;color:#556}\n"
    "table{border-collapse:collapse}\n"
    ".cost td,.cost th{padding:0 .7em;text-align:right;white-space:pre;"
    "font:12px/1.6 ui-monospace,monospace}\n"
    ".cost th{border-bottom:1px solid #ccd;color:#556;font-weight:600;"
    "position:sticky;top:0;background:#fff;vertical-align:bottom}\n"
    ".cost td.text,.cost th.text{text-align:left;padding-left:1.2em}\n"
    ".cost td.no{color:#99a;border-right:1px solid #dde}\n"
    ".cost tr.file td{padding-top:1em;font-weight:600;text-align:left}\n"
    ".tiles{display:flex;flex-wrap:wrap;gap:.8em}\n"
    ".tile{border:1px solid #dde;border-radius:6px;padding:.4em 1em}\n"
    ".tile b{display:block;font-size:1.3em}\n"
    ".tile span{color:#556;font-size:.85em}\n"
    ".banks td{width:2em;height:1.8em;text-align:center;"
    "font:10px ui-monospace,monospace;border:1px solid #fff}\n"
    ".picture{overflow:auto;max-height:34em;margin:.8em 0;"
    "border:1px solid #dde;padding:.5em}\n";

static void
put_text(struct cj_strbuf *out, const char *text, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++)
		switch (text[i]) {
		case '<':
			cj_strbuf_puts(out, "&lt;");
			break;
		case '>':
			cj_strbuf_puts(out, "&gt;");
			break;
		case '&':
			cj_strbuf_puts(out, "&amp;");
			break;
		case '\t':
			cj_strbuf_puts(out, "    ");
			break;
		default:
			cj_strbuf_putc(out, text[i]);
		}
}

static void
put_string(struct cj_strbuf *out, const char *text)
{
	put_text(out, text, strlen(text));
}

/* ---- columns ------------------------------------------------------------- */

/* One number of a line; `ideal` of the same line is what it could be. */
struct column {
	const char *title, *help;
	uint64_t (*value)(const struct cj_line_cost *c);
	bool is_bad;			/* coloured: the fewer the better */
};

static uint64_t warps(const struct cj_line_cost *c) { return c->sum.warps; }
static uint64_t bytes(const struct cj_line_cost *c) { return c->sum.bytes; }
static uint64_t lines(const struct cj_line_cost *c) { return c->sum.lines; }
static uint64_t passes(const struct cj_line_cost *c) { return c->sum.passes; }
static uint64_t barriers(const struct cj_line_cost *c) { return c->barriers; }
static uint64_t products(const struct cj_line_cost *c) { return c->products; }
static uint64_t copies(const struct cj_line_cost *c) { return c->copies; }

static uint64_t
sectors(const struct cj_line_cost *c)
{
	return c->sum.sectors;
}

static uint64_t
conflicts(const struct cj_line_cost *c)
{
	return c->sum.conflicts;
}

/* Of 100 lanes that could take part. */
static uint64_t
lanes(const struct cj_line_cost *c)
{
	return c->sum.warps == 0 ? 0
	    : (c->sum.lanes * 100 + c->sum.warps * 16) / (c->sum.warps * 32);
}

static const struct column columns[] = {
	{ "warps", "how often a warp came here", warps, false },
	{ "lanes %", "threads of the warps that took part", lanes, false },
	{ "bytes", "that threads asked for", bytes, false },
	{ "lines", "of 128 bytes of global memory", lines, true },
	{ "sectors", "of 32 bytes of global memory", sectors, true },
	{ "passes", "turns of the banks of shared memory", passes, true },
	{ "conflicts", "passes beyond the first of an access", conflicts,
	    true },
	{ "barriers", "warps that came to one", barriers, false },
	{ "products", "matrix instructions of warps", products, false },
	{ "copies", "asynchronous ones of warps", copies, false }
};

static uint64_t
most_of(const struct cj_profiled *p, const struct column *c)
{
	uint64_t most = 0, v;
	uint32_t i;

	for (i = 0; i < p->lines.len; i++) {
		v = c->value(&p->lines.at[i]);
		most = v > most ? v : most;
	}
	return most;
}

static void
put_cells(struct cj_strbuf *out, const struct cj_profiled *p,
    const struct cj_line_cost *line)
{
	size_t i;

	for (i = 0; i < CJ_LENGTH(columns); i++) {
		uint64_t v = line == NULL ? 0 : columns[i].value(line);

		if (most_of(p, &columns[i]) == 0)
			continue;
		if (v == 0)
			cj_strbuf_puts(out, "<td></td>");
		else if (columns[i].is_bad)
			cj_strbuf_printf(out, "<td style=\"background:rgba("
			    "230,90,40,%.2f)\">%llu</td>", 0.55 * (double)v
			    / (double)most_of(p, &columns[i]),
			    (unsigned long long)v);
		else
			cj_strbuf_printf(out, "<td>%llu</td>",
			    (unsigned long long)v);
	}
}

/* ---- the source ---------------------------------------------------------- */

static void
put_line(struct cj_strbuf *out, const struct cj_profiled *p,
    const struct cj_source *s, uint32_t number,
    const struct cj_line_cost *cost)
{
	uint32_t length;
	const char *text = cj_source_line(s, number, &length);

	cj_strbuf_puts(out, "<tr>");
	put_cells(out, p, cost);
	cj_strbuf_printf(out, "<td class=\"no\">%u</td><td class=\"text\">",
	    (unsigned)number);
	put_text(out, text, length);
	cj_strbuf_puts(out, "</td></tr>\n");
}

enum { CONTEXT = 2 };			/* lines around one that ran */

/* The text of the kernel whole, of others what ran. lines[*at] is the first
 * one of the text. */
static void
put_source(struct cj_strbuf *out, const struct cj_profiled *p, uint32_t *at)
{
	uint32_t source = p->lines.at[*at].source, n, length, shown = 0;
	const struct cj_source *s = cj_source_get(p->ir->sources, source);
	uint32_t last = s->line_count, ran = 0;

	cj_source_line(s, last, &length);
	last -= last > 1 && length == 0;
	cj_strbuf_puts(out, "<tr class=\"file\"><td colspan=\"99\">");
	put_string(out, s->name);
	cj_strbuf_puts(out, "</td></tr>\n");
	for (n = 1; n <= last; n++) {
		const struct cj_line_cost *c = *at < p->lines.len &&
		    p->lines.at[*at].source == source ? &p->lines.at[*at] :
		    NULL;
		bool is_near = (c != NULL && c->line <= n + CONTEXT) ||
		    (ran != 0 && n <= ran + CONTEXT);

		if (c != NULL && c->line == n) {
			(*at)++;
			ran = n;
		} else {
			c = NULL;
		}
		if (source != p->source && !is_near)
			continue;
		if (shown != 0 && shown != n - 1)
			cj_strbuf_puts(out, "<tr><td colspan=\"99\">"
			    "&#8943;</td></tr>\n");
		put_line(out, p, s, n, c);
		shown = n;
	}
}

static void
put_sources(struct cj_strbuf *out, const struct cj_profiled *p)
{
	uint32_t at = 0;
	size_t i;

	cj_strbuf_puts(out, "<h2>Source</h2>\n<table class=\"cost\"><thead>"
	    "<tr>");
	for (i = 0; i < CJ_LENGTH(columns); i++)
		if (most_of(p, &columns[i]) != 0)
			cj_strbuf_printf(out, "<th title=\"%s\">%s</th>",
			    columns[i].help, columns[i].title);
	cj_strbuf_puts(out, "<th></th><th class=\"text\"></th></tr></thead>"
	    "<tbody>\n");
	while (at < p->lines.len && p->lines.at[at].source != p->source)
		at++;
	if (at < p->lines.len)
		put_source(out, p, &at);
	for (at = 0; at < p->lines.len;)
		if (p->lines.at[at].source == p->source)
			at++;
		else
			put_source(out, p, &at);
	cj_strbuf_puts(out, "</tbody></table>\n");
}

/* ---- pictures ------------------------------------------------------------ */

static void
put_banks(struct cj_strbuf *out, const struct cj_banks *b)
{
	uint64_t most = 1;
	unsigned i;

	for (i = 0; i < CJ_BANKS; i++)
		most = b->words[i] > most ? b->words[i] : most;
	cj_strbuf_puts(out, "<p>words that moved through each of the 32 banks"
	    "</p><table class=\"banks\"><tr>");
	for (i = 0; i < CJ_BANKS; i++)
		cj_strbuf_printf(out, "<td style=\"background:rgba(40,110,"
		    "220,%.2f)\" title=\"bank %u\">%llu</td>",
		    0.08 + 0.6 * (double)b->words[i] / (double)most, i,
		    (unsigned long long)b->words[i]);
	cj_strbuf_puts(out, "</tr></table>\n");
}

static void
begin_algebra(struct cj_arena *a, struct cj_names *names,
    struct cj_symtab *syms, struct cj_algebra *al)
{
	cj_names_init(names, a);
	cj_symtab_init(syms, a, names);
	cj_algebra_init(al, a, syms);
}

static void
put_drawn(struct cj_strbuf *out, struct cj_algebra *al,
    const struct cj_picture *picture)
{
	struct cj_strbuf drawn;

	cj_strbuf_init(&drawn, al->arena);
	if (!cj_layout_draw(&drawn, al, picture, 1, CJ_DRAW_SVG))
		return;
	cj_strbuf_printf(out, "<div class=\"picture\">%s</div>\n",
	    drawn.text);
}

static void
put_layout(struct cj_strbuf *out, const struct cj_profiled *p,
    const struct cj_object *o)
{
	struct cj_picture picture = { .kind = CJ_DRAW_BANKS,
	    .element_bits = (int)cj_kind_bits(o->element) };
	struct cj_names names;
	struct cj_symtab syms;
	struct cj_algebra al;

	begin_algebra(p->arena, &names, &syms, &al);
	picture.layout = cj_layout_read(&al, o->layout, strlen(o->layout));
	if (picture.layout != NULL && o->extent <= 8192)
		put_drawn(out, &al, &picture);
	cj_names_fini(&names);
}

static void
put_shared(struct cj_strbuf *out, const struct cj_profiled *p)
{
	uint32_t i;

	for (i = 1; i < p->ir->objects.len; i++) {
		const struct cj_object *o = &p->ir->objects.at[i];

		if (o->kind != CJ_OBJECT_SHARED)
			continue;
		cj_strbuf_puts(out, "<h2>Shared tensor ");
		put_string(out, o->name == NULL ? "" : o->name);
		cj_strbuf_puts(out, "</h2>\n<p>layout ");
		put_string(out, o->layout == NULL ? "" : o->layout);
		cj_strbuf_puts(out, "</p>\n");
		put_banks(out, &p->counts->bank[i]);
		if (o->layout != NULL)
			put_layout(out, p, o);
	}
}

static void
put_atom(struct cj_strbuf *out, const struct cj_profiled *p,
    const char *name)
{
	struct cj_mma_atom atom;
	struct cj_picture picture;
	struct cj_tiled_mma tiled;
	struct cj_names names;
	struct cj_symtab syms;
	struct cj_algebra al;

	cj_strbuf_puts(out, "<h2>Product ");
	put_string(out, name);
	cj_strbuf_puts(out, "</h2>\n<p>thread and value of A (left), B (above)"
	    " and C</p>\n");
	begin_algebra(p->arena, &names, &syms, &al);
	if (cj_mma_atom_find(&al, name, &atom) && cj_tiled_mma_make(&al,
	    &atom, cj_layout_unit(&al), NULL, &tiled)
	    && cj_picture_of_mma(&al, &tiled, &picture))
		put_drawn(out, &al, &picture);
	cj_names_fini(&names);
}

static void
put_atoms(struct cj_strbuf *out, const struct cj_profiled *p)
{
	uint32_t i;

	for (i = 1; i < p->ir->mmas.len; i++)
		put_atom(out, p, p->ir->mmas.at[i]->name);
}

/* ---- the page ------------------------------------------------------------ */

static void
put_totals(struct cj_strbuf *out, const struct cj_profiled *p)
{
	size_t i;

	cj_strbuf_puts(out, "<div class=\"tiles\">");
	for (i = 2; i < CJ_LENGTH(columns); i++)
		cj_strbuf_printf(out, "<div class=\"tile\"><b>%llu</b><span>"
		    "%s: %s</span></div>\n",
		    (unsigned long long)columns[i].value(&p->total),
		    columns[i].title, columns[i].help);
	cj_strbuf_puts(out, "</div>\n");
}

static void
put_launches(struct cj_strbuf *out, const struct cj_profiled *p)
{
	uint32_t i;

	for (i = 0; i < p->plan->steps.len; i++) {
		const struct cj_plan_step *s = &p->plan->steps.at[i];

		if (s->kind == CJ_STEP_LAUNCH)
			cj_strbuf_printf(out, "<p>grid (%lld, %lld, %lld), "
			    "block (%lld, %lld, %lld)</p>\n",
			    (long long)s->grid[0], (long long)s->grid[1],
			    (long long)s->grid[2], (long long)s->block[0],
			    (long long)s->block[1], (long long)s->block[2]);
	}
}

static void
put_timeline(struct cj_strbuf *out, const struct cj_profiled *p)
{
	if (p->timeline == NULL || p->timeline->count == 0)
		return;
	cj_strbuf_printf(out, "<h2>Block %llu, warp by warp</h2>\n<p>waits "
	    "grey, products green, copies in flight blue, over %llu nominal "
	    "steps; point at one for its line</p>\n<div class=\"picture\">",
	    (unsigned long long)p->timeline->block,
	    (unsigned long long)p->timeline->end);
	cj_timeline_svg(out, p);
	cj_strbuf_puts(out, "</div>\n");
}

void
cj_profile_html(struct cj_strbuf *out, const struct cj_profiled *p)
{
	cj_strbuf_puts(out, "<!DOCTYPE html>\n<html lang=\"en\"><head>"
	    "<meta charset=\"utf-8\"><title>");
	put_string(out, p->kernel);
	cj_strbuf_printf(out, "</title>\n<style>\n%s</style></head><body>\n"
	    "<h1>", style);
	put_string(out, p->kernel);
	cj_strbuf_puts(out, "</h1>\n");
	put_launches(out, p);
	put_totals(out, p);
	put_timeline(out, p);
	put_sources(out, p);
	put_shared(out, p);
	put_atoms(out, p);
	cj_strbuf_puts(out, "</body></html>\n");
}
