/*
 * Whose fault is it that the assembler refuses a PTX? What a program wrote
 * itself stands behind a mark (codegen.h) with its place: there the message
 * goes. All else is ours.
 */
#include "assemble.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* The line of the PTX that a message of the assembler is about; 0: none. */
static unsigned long
line_in(const char *log)
{
	const char *at = strstr(log, ", line ");

	return at == NULL ? 0 : strtoul(at + strlen(", line "), NULL, 10);
}

/* Where the program's own instructions come from that line `n` belongs to;
 * source 0: it is none of theirs. */
static struct cj_span
own_ptx(const char *ptx, unsigned long n)
{
	const struct cj_span none = { 0 };
	struct cj_span span = none, read;
	bool begins = false;

	for (; n > 0 && ptx != NULL; n--) {
		const char *text = ptx + strspn(ptx, "\t");

		if (strncmp(text, "// end inline asm", 17) == 0)
			span = none;
		else if (begins && sscanf(text, CJ_PTX_MARK "%" SCNu32 " %"
		    SCNu32 " %" SCNu32, &read.source, &read.begin, &read.end)
		    == 3)
			span = read;
		begins = strncmp(text, "// begin inline asm", 19) == 0;
		ptx = strchr(ptx, '\n');
		ptx = ptx == NULL ? NULL : ptx + 1;
	}
	return span;
}

bool
cj_refuse_own_ptx(struct cj_work *f, const char *ptx,
    const struct cj_assembly *out, const char *assembler)
{
	struct cj_span span = own_ptx(ptx, line_in(out->log));
	const struct cj_sources *all = f->diags.sources;

	if (span.source == 0 || all == NULL || span.source >= all->all.len ||
	    span.begin > span.end ||
	    span.end > cj_source_get(all, span.source)->length)
		return false;
	cj_note(cj_report(&f->diags, CJ_DIAG_BAD_PTX, span,
	    "the assembler refuses this"), span, "%s: %.*s", assembler,
	    (int)strcspn(out->log, "\n"), out->log);
	return true;
}
