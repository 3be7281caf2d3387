/*
 * Timelines of a block: as a trace of events for Chrome and Perfetto, and as a
 * picture for the page.
 *
 * Waits and products of a warp are slices of its track; copies overlap, and are
 * pairs of events with a number of their own. A slice is named by the text of
 * its place.
 */
#include "profile.h"

enum { LONGEST = 60 };

static const char *const kinds[CJ_SLICE_KINDS] = { "wait", "product",
    "copy" };

/* The text of a slice's place, its first line. */
static void
put_name(struct cj_strbuf *out, const struct cj_profiled *p,
    const struct cj_slice *s)
{
	cj_place place = cj_inst(p->ir, s->ref)->place;
	const struct cj_source *source;
	struct cj_span span;
	struct cj_strbuf name;
	uint32_t i;

	cj_strbuf_init(&name, p->arena);
	if (place != 0 && p->ir->sources != NULL &&
	    (span = p->ir->places.at[place].span).source != 0) {
		source = cj_source_get(p->ir->sources, span.source);
		for (i = span.begin; i < span.end && i < span.begin + LONGEST
		    && source->text[i] != '\n'; i++)
			cj_strbuf_putc(&name, source->text[i]);
	}
	if (*name.text == '\0')
		cj_strbuf_puts(&name, kinds[s->kind]);
	cj_profile_text(out, name.text);
}

static uint32_t
line_of(const struct cj_profiled *p, const struct cj_slice *s)
{
	cj_place place = cj_inst(p->ir, s->ref)->place;
	struct cj_span span;

	if (place == 0 || p->ir->sources == NULL)
		return 0;
	span = p->ir->places.at[place].span;
	return span.source == 0 ? 0 : cj_source_position(cj_source_get(
	    p->ir->sources, span.source), span.begin).line;
}

/* ---- events -------------------------------------------------------------- */

/* Tracks: those of warps, then, for products that run beside them, again. */
static uint32_t
track_of(const struct cj_timeline *t, const struct cj_slice *s)
{
	return s->kind == CJ_SLICE_PRODUCT ? t->warps + s->warp : s->warp;
}

static void
put_slice(struct cj_strbuf *out, const struct cj_profiled *p,
    const struct cj_slice *s)
{
	cj_strbuf_puts(out, ",\n{\"name\": ");
	put_name(out, p, s);
	cj_strbuf_printf(out, ", \"cat\": \"%s\", \"ph\": \"X\", \"ts\": %llu,"
	    " \"dur\": %llu, \"pid\": 1, \"tid\": %u, \"args\": {\"line\": "
	    "%u}}", kinds[s->kind], (unsigned long long)s->from,
	    (unsigned long long)(s->to - s->from),
	    (unsigned)track_of(p->timeline, s), (unsigned)line_of(p, s));
}

/* Both ends of a copy. */
static void
put_copy(struct cj_strbuf *out, const struct cj_profiled *p,
    const struct cj_slice *s, uint32_t number)
{
	unsigned end;

	for (end = 0; end < 2; end++) {
		cj_strbuf_puts(out, ",\n{\"name\": ");
		put_name(out, p, s);
		cj_strbuf_printf(out, ", \"cat\": \"copy\", \"ph\": \"%s\", "
		    "\"id\": %u, \"ts\": %llu, \"pid\": 1, \"tid\": %u, "
		    "\"args\": {\"line\": %u, \"warp\": %u}}",
		    end == 0 ? "b" : "e", (unsigned)number,
		    (unsigned long long)(end == 0 ? s->from : s->to),
		    (unsigned)s->warp, (unsigned)line_of(p, s),
		    (unsigned)s->warp);
	}
}

static void
put_track(struct cj_strbuf *out, uint32_t track, const char *format,
    uint32_t warp)
{
	char name[40];

	snprintf(name, sizeof name, format, (unsigned)warp);
	cj_strbuf_printf(out, ",\n{\"name\": \"thread_name\", \"ph\": \"M\", "
	    "\"pid\": 1, \"tid\": %u, \"args\": {\"name\": \"%s\"}}",
	    (unsigned)track, name);
}

void
cj_timeline_json(struct cj_strbuf *out, const struct cj_profiled *p)
{
	const struct cj_timeline *t = p->timeline;
	uint32_t i;

	cj_strbuf_puts(out, "{\"displayTimeUnit\": \"ns\", \"otherData\": "
	    "{\"unit\": \"steps of a warp, nominal\", \"left out\": ");
	cj_strbuf_printf(out, "%llu}, \"traceEvents\": [\n{\"name\": "
	    "\"process_name\", \"ph\": \"M\", \"pid\": 1, \"args\": {\"name\":"
	    " ", (unsigned long long)t->lost);
	cj_profile_text(out, cj_printf(p->arena, "%s, block %llu", p->kernel,
	    (unsigned long long)t->block));
	cj_strbuf_puts(out, "}}");
	for (i = 0; i < t->warps; i++) {
		put_track(out, i, "warp %u", i);
		put_track(out, t->warps + i, "products of warp %u", i);
	}
	for (i = 0; i < t->count; i++)
		if (t->slices[i].kind == CJ_SLICE_COPY)
			put_copy(out, p, &t->slices[i], i);
		else
			put_slice(out, p, &t->slices[i]);
	cj_strbuf_puts(out, "\n]}\n");
}

/* ---- a picture ----------------------------------------------------------- */

enum { WIDTH = 1100, LEFT = 70, ROW = 30, BAR = 9, MOST_DRAWN = 6000 };

/* Waits above, products in the middle, copies below; of what is narrower than
 * a fifth of a point one stands for all. */
static void
draw_slice(struct cj_strbuf *out, const struct cj_profiled *p,
    const struct cj_slice *s)
{
	static const char *const colours[CJ_SLICE_KINDS] = { "#c9ced8",
	    "#2f7d4f", "#3b73c4" };
	double scale = (double)WIDTH / (double)p->timeline->end;
	double width = (double)(s->to - s->from) * scale;

	cj_strbuf_printf(out, "<rect x=\"%.1f\" y=\"%u\" width=\"%.1f\" "
	    "height=\"%d\" style=\"stroke:none\" fill=\"%s\" "
	    "fill-opacity=\"%s\"><title>%s, line "
	    "%u, %llu to %llu</title></rect>\n",
	    LEFT + (double)s->from * scale,
	    (unsigned)(s->warp * ROW + (unsigned)s->kind * BAR),
	    width < 0.4 ? 0.4 : width, BAR - 1, colours[s->kind],
	    s->kind == CJ_SLICE_COPY ? ".45" : "1", kinds[s->kind],
	    (unsigned)line_of(p, s), (unsigned long long)s->from,
	    (unsigned long long)s->to);
}

void
cj_timeline_svg(struct cj_strbuf *out, const struct cj_profiled *p)
{
	const struct cj_timeline *t = p->timeline;
	uint32_t i;

	cj_strbuf_printf(out, "<svg class=\"timeline\" width=\"100%%\" "
	    "viewBox=\"0 0 %d %u\" style=\"font-size:11px\">\n",
	    LEFT + WIDTH + 10, (unsigned)(t->warps * ROW + 4));
	for (i = 0; i < t->warps; i++)
		cj_strbuf_printf(out, "<text x=\"0\" y=\"%u\" style=\""
		    "text-anchor:start;font-size:11px\">warp %u</text>"
		    "<line x1=\"%d\" x2=\"%d\" y1=\"%u\" y2=\"%u\" stroke="
		    "\"#eef\"/>\n", (unsigned)(i * ROW + 17), (unsigned)i,
		    LEFT, LEFT + WIDTH, (unsigned)(i * ROW + ROW - 2),
		    (unsigned)(i * ROW + ROW - 2));
	for (i = 0; i < t->count && i < MOST_DRAWN; i++)
		draw_slice(out, p, &t->slices[i]);
	cj_strbuf_puts(out, "</svg>\n");
}
