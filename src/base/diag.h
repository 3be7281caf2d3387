/*
 * Diagnostics: what is wrong with the user's text or data, and what to do.
 *
 * A message is lower case, one line, no full stop, and names the object, what
 * was needed and what was found. Notes show the other half; a help is a whole
 * sentence with something to do; a fix-it is text that may replace a span.
 * Codes are rows of diag.def and never used again for something else.
 *
 *	struct cj_diag *d = cj_report(ds, CJ_DIAG_UNKNOWN_NAME, span,
 *	    "\"%s\" is not declared", text);
 *	cj_note(d, other, "\"%s\" is declared here", near);
 *	cj_help(d, "Did you mean \"%s\"?", near);
 */
#ifndef CJ_DIAG_H
#define CJ_DIAG_H

#include <stdbool.h>
#include <stdio.h>

#include "source.h"
#include "strbuf.h"

enum cj_severity { CJ_NOTE, CJ_REMARK, CJ_WARNING, CJ_ERROR };

enum cj_code {
	CJ_DIAG_NONE,
#define DIAG(name, code, severity, explanation) CJ_DIAG_##name,
#include "diag.def"
#undef DIAG
	CJ_DIAG_COUNT
};

struct cj_note {
	struct cj_span span;		/* source 0: no place */
	const char *text;
	struct cj_note *next;
};

struct cj_diag {
	struct cj_diags *owner;
	enum cj_code code;
	enum cj_severity severity;
	struct cj_span span;
	const char *text;
	struct cj_note *notes;		/* in order of reporting */
	const char *help;		/* may be NULL */
	struct cj_span fix_span;	/* source 0: no fix-it */
	const char *fix_text;
	struct cj_diag *next;
};

struct cj_diags {
	struct cj_arena *arena;
	const struct cj_sources *sources;
	struct cj_diag *first, **last;
	uint32_t errors, warnings, remarks;
	uint32_t limit;			/* errors kept; 20 unless set */
	uint32_t dropped;		/* beyond the limit */
	bool warnings_are_errors;
	unsigned char off[CJ_DIAG_COUNT];	/* silenced warnings */
	unsigned char as_error[CJ_DIAG_COUNT];
};

void cj_diags_init(struct cj_diags *ds, struct cj_arena *a,
    const struct cj_sources *sources);

/*
 * Report at `span`; the severity is the code's own. Never returns NULL: beyond
 * the limit, for a silenced code, and for a second report of the same code at
 * the same span, the result is a message that nobody prints.
 */
struct cj_diag *cj_report(struct cj_diags *ds, enum cj_code code,
    struct cj_span span, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void cj_note(struct cj_diag *d, struct cj_span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void cj_help(struct cj_diag *d, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void cj_fixit(struct cj_diag *d, struct cj_span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

const char *cj_code_text(enum cj_code code);
const char *cj_code_explanation(enum cj_code code);
enum cj_severity cj_code_severity(enum cj_code code);
enum cj_code cj_code_find(const char *text);	/* NONE if there is none */

/* Does the line of `span`, or the one above, say `// allow CODE: reason`?
 * Warnings are silenced so here; the executor asks it of its findings. */
bool cj_diag_is_allowed(const struct cj_diags *ds, enum cj_code code,
    struct cj_span span);

/* Does a message, or a note of one, of `d` and all behind it hold the text? */
bool cj_diag_mentions(const struct cj_diag *d, const char *text);

/* Print as compilers do, with source line and caret; colour if asked. */
void cj_diags_print(struct cj_strbuf *out, const struct cj_diags *ds,
    bool colour);

/* Nearest of `count` words to `word` by edit distance, or NULL. */
const char *cj_nearest(const char *word, const char *const *words,
    size_t count);

#endif
