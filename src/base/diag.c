/*
 * Diagnostics: collecting them. What is printed is decided here: a message is
 * linked into the list, or built and forgotten.
 */
#include "diag.h"

#include <assert.h>
#include <string.h>

enum { ERROR_LIMIT = 20, LONGEST_WORD = 64 };

static const struct {
	const char *code;
	enum cj_severity severity;
	const char *explanation;
} rows[CJ_DIAG_COUNT] = {
	[CJ_DIAG_NONE] = { "", CJ_ERROR, "" },
#define DIAG(name, code, severity, explanation)	\
	[CJ_DIAG_##name] = { code, severity, explanation },
#include "diag.def"
#undef DIAG
};

const char *
cj_code_text(enum cj_code code)
{
	assert(code < CJ_DIAG_COUNT);
	return rows[code].code;
}

const char *
cj_code_explanation(enum cj_code code)
{
	assert(code < CJ_DIAG_COUNT);
	return rows[code].explanation;
}

enum cj_severity
cj_code_severity(enum cj_code code)
{
	assert(code < CJ_DIAG_COUNT);
	return rows[code].severity;
}

enum cj_code
cj_code_find(const char *text)
{
	int i;

	for (i = CJ_DIAG_NONE + 1; i < CJ_DIAG_COUNT; i++)
		if (strcmp(rows[i].code, text) == 0)
			return (enum cj_code)i;
	return CJ_DIAG_NONE;
}

void
cj_diags_init(struct cj_diags *ds, struct cj_arena *a,
    const struct cj_sources *sources)
{
	memset(ds, 0, sizeof *ds);
	ds->arena = a;
	ds->sources = sources;
	ds->last = &ds->first;
	ds->limit = ERROR_LIMIT;
	/* said of nearly every program: for those who ask by name */
	ds->off[CJ_DIAG_SHADOWED] = ds->off[CJ_DIAG_WIDE_INDEX] = true;
	ds->off[CJ_DIAG_ACCESS] = true;
}

static const char *
skip_blanks(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	return p;
}

/* Past `word` if the text at `p` begins with it and the word ends there. */
static const char *
skip_word(const char *p, const char *end, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(end - p) < n || memcmp(p, word, n) != 0)
		return NULL;
	p += n;
	if (p < end && (*p == '-' || *p == '_' || (*p >= '0' && *p <= '9')
	    || (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z')))
		return NULL;
	return p;
}

/* Does the line hold a comment `// allow CODE: reason`? */
static bool
line_allows(const struct cj_source *s, uint32_t line, const char *code)
{
	uint32_t length;
	const char *p = cj_source_line(s, line, &length);
	const char *end = p + length;

	for (; end - p >= 2; p++) {
		const char *q;

		if (p[0] != '/' || p[1] != '/')
			continue;
		q = skip_word(skip_blanks(p + 2, end), end, "allow");
		if (q != NULL
		    && skip_word(skip_blanks(q, end), end, code) != NULL)
			return true;
	}
	return false;
}

bool
cj_diag_is_allowed(const struct cj_diags *ds, enum cj_code code,
    struct cj_span span)
{
	const struct cj_source *s;
	uint32_t line;

	if (span.source == 0 || ds->sources == NULL)
		return false;
	s = cj_source_get(ds->sources, span.source);
	line = cj_source_position(s, span.begin).line;
	return line_allows(s, line, cj_code_text(code))
	    || (line > 1 && line_allows(s, line - 1, cj_code_text(code)));
}

bool
cj_diag_mentions(const struct cj_diag *d, const char *text)
{
	const struct cj_note *n;

	for (; d != NULL; d = d->next) {
		if (strstr(d->text, text) != NULL)
			return true;
		for (n = d->notes; n != NULL; n = n->next)
			if (strstr(n->text, text) != NULL)
				return true;
	}
	return false;
}

static bool
same_span(struct cj_span a, struct cj_span b)
{
	return a.source == b.source && a.begin == b.begin && a.end == b.end;
}

/* Messages without a place differ by their text. */
static bool
is_repeated(const struct cj_diags *ds, const struct cj_diag *d)
{
	const struct cj_diag *e;

	for (e = ds->first; e != NULL; e = e->next)
		if (e->code == d->code && same_span(e->span, d->span)
		    && (d->span.source != 0 || strcmp(e->text, d->text) == 0))
			return true;
	return false;
}

static enum cj_severity
severity_of(const struct cj_diags *ds, enum cj_code code)
{
	enum cj_severity s = cj_code_severity(code);

	if (ds->as_error[code] || (s == CJ_WARNING && ds->warnings_are_errors))
		return CJ_ERROR;
	return s;
}

static bool
is_silenced(const struct cj_diags *ds, const struct cj_diag *d)
{
	return cj_code_severity(d->code) != CJ_ERROR
	    && (ds->off[d->code] || cj_diag_is_allowed(ds, d->code, d->span));
}

static void
keep(struct cj_diags *ds, struct cj_diag *d)
{
	switch (d->severity) {
	case CJ_ERROR:
		if (ds->errors == ds->limit) {
			ds->dropped++;
			return;
		}
		ds->errors++;
		break;
	case CJ_WARNING:
		ds->warnings++;
		break;
	case CJ_REMARK:
	case CJ_NOTE:
		ds->remarks++;
		break;
	}
	*ds->last = d;
	ds->last = &d->next;
}

enum { CJ_TEXT_MAX = 4000 };	/* bytes of one message or note */

/* What quotes a name of a megabyte ends in "...", at a whole character. */
static const char *
format_text(struct cj_arena *a, const char *format, va_list ap)
{
	struct cj_strbuf b;
	size_t end = CJ_TEXT_MAX;

	cj_strbuf_init(&b, a);
	cj_strbuf_vprintf(&b, format, ap);
	if (b.len <= CJ_TEXT_MAX)
		return b.text;
	while (end > 0 && (b.text[end] & 0xc0) == 0x80)
		end--;
	memcpy(b.text + end, "...", sizeof "...");
	return b.text;
}

struct cj_diag *
cj_report(struct cj_diags *ds, enum cj_code code, struct cj_span span,
    const char *format, ...)
{
	struct cj_diag *d = CJ_NEW(ds->arena, struct cj_diag);
	va_list ap;

	assert(code != CJ_DIAG_NONE && code < CJ_DIAG_COUNT);
	va_start(ap, format);
	d->text = format_text(ds->arena, format, ap);
	va_end(ap);
	d->owner = ds;
	d->code = code;
	d->severity = severity_of(ds, code);
	d->span = span;
	if (!is_silenced(ds, d) && !is_repeated(ds, d))
		keep(ds, d);
	return d;
}

void
cj_note(struct cj_diag *d, struct cj_span span, const char *format, ...)
{
	struct cj_note *n = CJ_NEW(d->owner->arena, struct cj_note);
	struct cj_note **at = &d->notes;
	va_list ap;

	va_start(ap, format);
	n->text = format_text(d->owner->arena, format, ap);
	va_end(ap);
	n->span = span;
	while (*at != NULL)
		at = &(*at)->next;
	*at = n;
}

void
cj_help(struct cj_diag *d, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	d->help = format_text(d->owner->arena, format, ap);
	va_end(ap);
}

void
cj_fixit(struct cj_diag *d, struct cj_span span, const char *format, ...)
{
	va_list ap;

	assert(span.source != 0 && "a fix-it has a place");
	va_start(ap, format);
	d->fix_text = format_text(d->owner->arena, format, ap);
	va_end(ap);
	d->fix_span = span;
}

static size_t
least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/*
 * Edit distance where a swap of neighbours counts once. Three rows of the
 * usual table are kept: two before, one before, this one.
 */
static size_t
distance(const char *a, size_t m, const char *b, size_t n)
{
	size_t rows3[3][LONGEST_WORD + 1];
	size_t i, j;

	for (j = 0; j <= n; j++)
		rows3[0][j] = j;
	for (i = 1; i <= m; i++) {
		size_t *now = rows3[i % 3];
		const size_t *up = rows3[(i + 2) % 3];
		const size_t *upup = rows3[(i + 1) % 3];

		now[0] = i;
		for (j = 1; j <= n; j++) {
			now[j] = least(up[j - 1] + (a[i - 1] != b[j - 1]),
			    least(up[j], now[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2]
			    && a[i - 2] == b[j - 1])
				now[j] = least(now[j], upup[j - 2] + 1);
		}
	}
	return rows3[m % 3][n];
}

const char *
cj_nearest(const char *word, const char *const *words, size_t count)
{
	size_t length = strlen(word), best, i;
	const char *found = NULL;

	if (length < 2 || length > LONGEST_WORD)
		return NULL;
	best = (length + 4) / 3;	/* one above what is still alike */
	if (best > length)
		best = length;
	for (i = 0; i < count; i++) {
		size_t n = strlen(words[i]), d;

		if (n > LONGEST_WORD || n >= length + best
		    || n + best <= length)
			continue;
		if (length == 2 && n == 2 && words[i][0] != word[1])
			continue;	/* one letter alike says nothing */
		d = distance(word, length, words[i], n);
		if (d < best) {
			best = d;
			found = words[i];
		}
	}
	return found;
}
