/*
 * Reports: messages as the interface shows them.
 *
 * Diagnostics refer to texts that may go away with the call, so a report is a
 * full copy: structures, and the printed forms with their source lines.
 */
#include "runtime.h"

static const cutejit_severity severities[] = {
	[CJ_NOTE] = CUTEJIT_SEVERITY_NOTE,
	[CJ_REMARK] = CUTEJIT_SEVERITY_REMARK,
	[CJ_WARNING] = CUTEJIT_SEVERITY_WARNING,
	[CJ_ERROR] = CUTEJIT_SEVERITY_ERROR,
};

static void
set_empty(struct cutejit_report *r)
{
	r->at = NULL;
	r->count = 0;
	r->plain = r->colour = r->value = "";
}

/* What needs no memory: that there is none. */
static const cutejit_diagnostic no_memory = {
	.severity = CUTEJIT_SEVERITY_ERROR, .code = "memory",
	.text = "out of memory"
};

void
cj_report_no_memory(struct cutejit_report *r)
{
	cj_report_fini(r);
	r->at = &no_memory;
	r->count = 1;
	r->plain = r->colour = "error: out of memory [memory]\n";
}

void
cj_report_init(struct cutejit_report *r, const struct cj_allocator *mem)
{
	memset(r, 0, sizeof *r);
	cj_arena_init(&r->arena, &r->recover, mem);
	set_empty(r);
}

void
cj_report_fini(struct cutejit_report *r)
{
	cj_arena_fini(&r->arena);
	set_empty(r);
}

void
cj_place_of(cutejit_place *out, const struct cj_sources *sources,
    struct cj_span span)
{
	const struct cj_source *s;
	struct cj_position p;

	memset(out, 0, sizeof *out);
	if (span.source == 0 || sources == NULL)
		return;
	s = cj_source_get(sources, span.source);
	out->file = s->name;
	out->begin = span.begin;
	out->end = span.end;
	p = cj_source_position(s, span.begin);
	out->line = p.line;
	out->column = p.column;
	p = cj_source_position(s, span.end);
	out->end_line = p.line;
	out->end_column = p.column;
}

static void
copy_place(struct cutejit_report *r, cutejit_place *out,
    const struct cj_diags *ds, struct cj_span span)
{
	cj_place_of(out, ds->sources, span);
	if (out->file != NULL)
		out->file = cj_strdup(&r->arena, out->file);
}

static const char *
copy_text(struct cutejit_report *r, const char *text)
{
	return text != NULL ? cj_strdup(&r->arena, text) : NULL;
}

static void
copy_notes(struct cutejit_report *r, cutejit_diagnostic *out,
    const struct cj_diag *d)
{
	const struct cj_note *n;
	cutejit_note *at;
	size_t count = 0;

	for (n = d->notes; n != NULL; n = n->next)
		count++;
	at = CJ_NEWS(&r->arena, cutejit_note, count);
	out->notes = at;
	out->note_count = count;
	for (n = d->notes; n != NULL; n = n->next, at++) {
		copy_place(r, &at->place, d->owner, n->span);
		at->text = copy_text(r, n->text);
	}
}

static void
copy_diag(struct cutejit_report *r, cutejit_diagnostic *out,
    const struct cj_diag *d)
{
	out->severity = severities[d->severity];
	out->code = cj_code_text(d->code);
	out->text = copy_text(r, d->text);
	copy_place(r, &out->place, d->owner, d->span);
	copy_notes(r, out, d);
	out->help = copy_text(r, d->help);
	copy_place(r, &out->fix_place, d->owner, d->fix_span);
	out->fix_text = copy_text(r, d->fix_text);
}

static const char *
print(struct cutejit_report *r, const struct cj_diags *ds, bool colour)
{
	struct cj_strbuf b;

	cj_strbuf_init(&b, &r->arena);
	cj_diags_print(&b, ds, colour);
	return b.text;
}

static void
fill(struct cutejit_report *r, const struct cj_diags *ds, const char *value)
{
	const struct cj_diag *d;
	cutejit_diagnostic *at;
	size_t count = 0;

	for (d = ds->first; d != NULL; d = d->next)
		count++;
	at = CJ_NEWS(&r->arena, cutejit_diagnostic, count);
	r->at = at;
	for (d = ds->first; d != NULL; d = d->next)
		copy_diag(r, at++, d);
	if (count != 0) {
		r->plain = print(r, ds, false);
		r->colour = print(r, ds, true);
	}
	if (value != NULL)
		r->value = copy_text(r, value);
	r->count = count;
}

bool
cj_report_fill(struct cutejit_report *r, const struct cj_diags *ds,
    const char *value)
{
	cj_arena_fini(&r->arena);
	set_empty(r);
	if (ds->first == NULL && value == NULL)
		return true;
	if (CJ_RECOVER(&r->recover)) {
		cj_report_no_memory(r);
		return false;
	}
	r->arena.recover = &r->recover;
	fill(r, ds, value);
	return true;
}

/* Behind those of `first`. */
static void
prepend(struct cutejit_report *r, const struct cutejit_report *first)
{
	cutejit_diagnostic *at = CJ_NEWS(&r->arena, cutejit_diagnostic,
	    first->count + r->count);

	memcpy(at, first->at, first->count * sizeof *at);
	memcpy(at + first->count, r->at, r->count * sizeof *at);
	r->at = at;
	r->count += first->count;
	r->plain = cj_printf(&r->arena, "%s%s", first->plain, r->plain);
	r->colour = cj_printf(&r->arena, "%s%s", first->colour, r->colour);
}

bool
cj_report_join(struct cutejit_report *r, const struct cutejit_report *first,
    const struct cj_diags *ds)
{
	if (!cj_report_fill(r, ds, NULL) || first->count == 0)
		return true;
	if (CJ_RECOVER(&r->recover))
		return false;
	r->arena.recover = &r->recover;
	prepend(r, first);
	return true;
}

size_t
cutejit_report_count(const cutejit_report *report)
{
	return report != NULL ? report->count : 0;
}

const cutejit_diagnostic *
cutejit_report_at(const cutejit_report *report, size_t i)
{
	return report != NULL && i < report->count ? &report->at[i] : NULL;
}

const char *
cutejit_report_text(const cutejit_report *report, int colour)
{
	if (report == NULL)
		return "";
	return colour ? report->colour : report->plain;
}
