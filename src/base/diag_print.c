/*
 * Diagnostics: printing them as compilers do.
 *
 *	gemm.cute:14:14: error: copy needs 16-byte alignment [unaligned-copy]
 *	   14 |         copy(tA, sA);
 *	      |              ^~
 *	gemm.cute:9:21: note: the stride is set here
 *	    9 |     let s = 4;
 *	      |             ^
 *	help: Give the tensor align(16).
 *
 * Tabs are expanded, so that carets stand where the text does; of a span of
 * several lines the first is shown; of a long line, the part around the span.
 */
#include <assert.h>
#include <string.h>

#include "diag.h"

enum {
	TAB = 8,
	WIDEST = 160,		/* columns shown of a line */
	BEFORE = 100		/* of them, at most, in front of the span */
};

enum { BOLD, RED, MAGENTA, CYAN, GREEN, PLAIN };

static const char *const paint[] = {
	"\033[1m", "\033[1;31m", "\033[1;35m", "\033[1;36m", "\033[1;32m",
	"\033[0m"
};

static const struct {
	const char *word;
	int colour;
} severities[] = {
	[CJ_NOTE] = { "note", CYAN },
	[CJ_REMARK] = { "remark", GREEN },
	[CJ_WARNING] = { "warning", MAGENTA },
	[CJ_ERROR] = { "error", RED },
};

/* A line as it is shown: the span's columns are known only while printing. */
struct shown {
	const char *text;
	uint32_t length;
	uint32_t begin, end;	/* of the span, in bytes of the line */
	uint32_t from, until;	/* columns of the line that are printed */
	uint32_t caret, stop;	/* columns of the span */
};

static void
put_paint(struct cj_strbuf *out, bool colour, int which)
{
	if (colour)
		cj_strbuf_puts(out, paint[which]);
}

static void
put_painted(struct cj_strbuf *out, bool colour, int which, const char *text)
{
	put_paint(out, colour, which);
	cj_strbuf_puts(out, text);
	put_paint(out, colour, PLAIN);
}

static uint32_t
next_column(uint32_t column, unsigned char byte)
{
	return byte == '\t' ? column / TAB * TAB + TAB : column + 1;
}

/* Bytes of the character at `at`; 1 for a byte that begins none. */
static uint32_t
char_length(const struct shown *s, uint32_t at)
{
	uint32_t n = 1;

	while (n < 4 && at + n < s->length
	    && ((unsigned char)s->text[at + n] & 0xc0) == 0x80)
		n++;
	return cj_utf8_check(s->text + at, n) == n ? n : 1;
}

/* The display column of a byte of the line. */
static uint32_t
column_of(const struct shown *s, uint32_t byte)
{
	uint32_t column = 0, i;

	for (i = 0; i < byte && i < s->length; i += char_length(s, i))
		column = next_column(column, (unsigned char)s->text[i]);
	return column;
}

/* Characters that would move the cursor or reorder text become '?'. */
static bool
is_printable(const char *p, uint32_t n)
{
	const unsigned char *u = (const unsigned char *)p;

	if (n == 1)
		return u[0] >= ' ' && u[0] < 0x7f;
	if (n == 2)
		return !(u[0] == 0xc2 && u[1] < 0xa0);
	return !(u[0] == 0xe2 && ((u[1] == 0x80 && u[2] >= 0xaa
	    && u[2] <= 0xae) || (u[1] == 0x81 && u[2] >= 0xa6
	    && u[2] <= 0xa9)));
}

static void
put_blanks(struct cj_strbuf *out, uint32_t count)
{
	while (count-- > 0)
		cj_strbuf_putc(out, ' ');
}

static void
put_text(struct cj_strbuf *out, const struct shown *s)
{
	uint32_t column = 0, i, n;

	if (s->from != 0)
		cj_strbuf_puts(out, "...");
	for (i = 0; i < s->length && column < s->until; i += n) {
		uint32_t after = next_column(column,
		    (unsigned char)s->text[i]);

		n = char_length(s, i);
		if (column >= s->from) {
			if (s->text[i] == '\t')
				put_blanks(out, after - column);
			else if (is_printable(s->text + i, n))
				cj_strbuf_write(out, s->text + i, n);
			else
				cj_strbuf_putc(out, '?');
		}
		column = after;
	}
	if (i < s->length)
		cj_strbuf_puts(out, "...");
}

static void
put_margin(struct cj_strbuf *out, bool colour, uint32_t line)
{
	put_paint(out, colour, BOLD);
	if (line != 0)
		cj_strbuf_printf(out, "%5u |", line);
	else
		cj_strbuf_puts(out, "      |");
	put_paint(out, colour, PLAIN);
	cj_strbuf_putc(out, ' ');
}

/* Blanks up to a column of the line, as far as that is shown. */
static void
put_indent(struct cj_strbuf *out, const struct shown *s, uint32_t column)
{
	if (s->from != 0)
		put_blanks(out, 3);
	put_blanks(out, column > s->from ? column - s->from : 0);
}

static void
put_carets(struct cj_strbuf *out, const struct shown *s, bool colour,
    int which)
{
	uint32_t i, stop = s->stop < s->until ? s->stop : s->until;

	put_margin(out, colour, 0);
	put_indent(out, s, s->caret);
	put_paint(out, colour, which);
	cj_strbuf_putc(out, '^');
	for (i = s->caret + 1; i < stop; i++)
		cj_strbuf_putc(out, '~');
	put_paint(out, colour, PLAIN);
	cj_strbuf_putc(out, '\n');
}

/* The first line of a span; returns its number. */
static uint32_t
look_up(const struct cj_source *source, struct cj_span span, struct shown *s)
{
	uint32_t line = cj_source_position(source, span.begin).line;
	uint32_t start = source->lines[line - 1];

	assert(span.begin <= span.end);
	s->text = cj_source_line(source, line, &s->length);
	s->begin = span.begin - start;
	s->end = span.end - start;
	if (s->end > s->length)
		s->end = s->length;
	s->caret = column_of(s, s->begin);
	s->stop = column_of(s, s->end);
	s->from = s->caret > BEFORE + TAB ? s->caret - BEFORE : 0;
	s->until = s->from + WIDEST;
	return line;
}

/* A fix-it on the line that was shown stands under its place. */
static bool
put_fix_below(struct cj_strbuf *out, const struct cj_diag *d,
    const struct shown *s, const struct cj_source *source)
{
	uint32_t start = (uint32_t)(s->text - source->text);
	struct cj_span f = d->fix_span;

	if (f.source != d->span.source || f.begin < start
	    || f.end > start + s->length || strchr(d->fix_text, '\n') != NULL
	    || d->fix_text[0] == '\0')
		return false;
	put_margin(out, false, 0);
	put_indent(out, s, column_of(s, f.begin - start));
	cj_strbuf_puts(out, d->fix_text);
	cj_strbuf_putc(out, '\n');
	return true;
}

static void
put_place(struct cj_strbuf *out, const struct cj_sources *sources,
    struct cj_span span)
{
	const struct cj_source *source;
	struct cj_position p;

	if (span.source == 0)
		return;
	source = cj_source_get(sources, span.source);
	p = cj_source_position(source, span.begin);
	cj_strbuf_printf(out, "%s:%u:%u: ", source->name, p.line, p.column);
}

static void
put_heading(struct cj_strbuf *out, const struct cj_sources *sources,
    struct cj_span span, enum cj_severity severity, bool colour)
{
	put_paint(out, colour, BOLD);
	put_place(out, sources, span);
	put_paint(out, colour, PLAIN);
	put_painted(out, colour, severities[severity].colour,
	    severities[severity].word);
	cj_strbuf_puts(out, ": ");
}

static void
put_line(struct cj_strbuf *out, const struct shown *s, uint32_t line,
    bool colour, int which)
{
	put_margin(out, colour, line);
	put_text(out, s);
	cj_strbuf_putc(out, '\n');
	put_carets(out, s, colour, which);
}

static void
put_note(struct cj_strbuf *out, const struct cj_sources *sources,
    const struct cj_note *n, bool colour)
{
	struct shown s;
	uint32_t line;

	put_heading(out, sources, n->span, CJ_NOTE, colour);
	cj_strbuf_printf(out, "%s\n", n->text);
	if (n->span.source == 0)
		return;
	line = look_up(cj_source_get(sources, n->span.source), n->span, &s);
	put_line(out, &s, line, colour, CYAN);
}

static void
put_help(struct cj_strbuf *out, const struct cj_diag *d, bool fix_is_shown,
    bool colour)
{
	if (d->help != NULL) {
		put_painted(out, colour, CYAN, "help");
		cj_strbuf_printf(out, ": %s\n", d->help);
	}
	if (d->fix_span.source == 0 || fix_is_shown)
		return;
	put_place(out, d->owner->sources, d->fix_span);
	put_painted(out, colour, CYAN, "fix");
	if (d->fix_text[0] == '\0')
		cj_strbuf_puts(out, ": remove this\n");
	else
		cj_strbuf_printf(out, ": write %s\n", d->fix_text);
}

static void
print_diag(struct cj_strbuf *out, const struct cj_diag *d, bool colour)
{
	const struct cj_sources *sources = d->owner->sources;
	const struct cj_note *n;
	bool fix_is_shown = false;

	put_heading(out, sources, d->span, d->severity, colour);
	cj_strbuf_printf(out, "%s [%s]\n", d->text, cj_code_text(d->code));
	if (d->span.source != 0) {
		const struct cj_source *source =
		    cj_source_get(sources, d->span.source);
		struct shown s;
		uint32_t line = look_up(source, d->span, &s);

		put_line(out, &s, line, colour,
		    severities[d->severity].colour);
		if (d->fix_span.source != 0)
			fix_is_shown = put_fix_below(out, d, &s, source);
	}
	for (n = d->notes; n != NULL; n = n->next)
		put_note(out, sources, n, colour);
	put_help(out, d, fix_is_shown, colour);
}

void
cj_diags_print(struct cj_strbuf *out, const struct cj_diags *ds, bool colour)
{
	const struct cj_diag *d;

	for (d = ds->first; d != NULL; d = d->next)
		print_diag(out, d, colour);
	if (ds->dropped != 0)
		cj_strbuf_printf(out, "note: %u more error%s not shown\n",
		    ds->dropped, ds->dropped == 1 ? " is" : "s are");
}
