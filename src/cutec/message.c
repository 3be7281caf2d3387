/*
 * Messages of the command: its own, and the library's reports as text, JSON
 * or SARIF 2.1.
 */
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cutec.h"

bool
wants_colour(FILE *stream)
{
	const char *off = getenv("NO_COLOR");

	return isatty(fileno(stream)) && (off == NULL || *off == '\0');
}

static void
vcomplain(const char *format, va_list ap)
{
	bool colour = wants_colour(stderr);

	fprintf(stderr, "cutec: %serror:%s ", colour ? "\033[1;31m" : "",
	    colour ? "\033[0m" : "");
	vfprintf(stderr, format, ap);
	fputc('\n', stderr);
}

void
complain(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vcomplain(format, ap);
	va_end(ap);
}

int
usage_error(const char *command, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vcomplain(format, ap);
	va_end(ap);
	fprintf(stderr, "`cutec %s --help` shows how it is used\n", command);
	return CUTEJIT_USAGE;
}

bool
report_form_find(const char *text, enum report_form *out)
{
	static const char *const names[] = { "text", "json", "sarif" };
	unsigned i;

	for (i = 0; i < sizeof names / sizeof *names; i++) {
		if (strcmp(text, names[i]) == 0) {
			*out = (enum report_form)i;
			return true;
		}
	}
	return false;
}

static const char *
severity_text(cutejit_severity s)
{
	switch (s) {
	case CUTEJIT_SEVERITY_NOTE: return "note";
	case CUTEJIT_SEVERITY_REMARK: return "remark";
	case CUTEJIT_SEVERITY_WARNING: return "warning";
	case CUTEJIT_SEVERITY_ERROR: return "error";
	}
	return "error";
}

/* ---- JSON --------------------------------------------------------------- */

static json_t *
place_json(const cutejit_place *p)
{
	if (p->file == NULL)
		return json_null();
	return json_pack("{s:s, s:i, s:i, s:i, s:i, s:i, s:i}", "file",
	    p->file, "line", (int)p->line, "column", (int)p->column,
	    "end_line", (int)p->end_line, "end_column", (int)p->end_column,
	    "begin", (int)p->begin, "end", (int)p->end);
}

static json_t *
diagnostic_json(const cutejit_diagnostic *d)
{
	json_t *o = json_pack("{s:s, s:s, s:s, s:o}", "severity",
	    severity_text(d->severity), "code", d->code, "text", d->text,
	    "place", place_json(&d->place));
	json_t *notes = json_array();
	size_t i;

	for (i = 0; i < d->note_count; i++)
		json_array_append_new(notes, json_pack("{s:s, s:o}", "text",
		    d->notes[i].text, "place",
		    place_json(&d->notes[i].place)));
	json_object_set_new(o, "notes", notes);
	if (d->help != NULL)
		json_object_set_new(o, "help", json_string(d->help));
	if (d->fix_place.file != NULL)
		json_object_set_new(o, "fix", json_pack("{s:s, s:o}", "text",
		    d->fix_text, "place", place_json(&d->fix_place)));
	return o;
}

static void
show_json(const cutejit_report *report)
{
	json_t *list = json_array(), *all;
	size_t i;

	for (i = 0; i < cutejit_report_count(report); i++)
		json_array_append_new(list,
		    diagnostic_json(cutejit_report_at(report, i)));
	all = json_pack("{s:i, s:o}", "schema", 1, "diagnostics", list);
	json_dumpf(all, stderr, JSON_INDENT(2));
	fputc('\n', stderr);
	json_decref(all);
}

/* ---- SARIF -------------------------------------------------------------- */

static json_t *
sarif_location(const cutejit_place *p)
{
	return json_pack("{s:{s:{s:s}, s:{s:i, s:i, s:i, s:i}}}",
	    "physicalLocation", "artifactLocation", "uri", p->file, "region",
	    "startLine", (int)p->line, "startColumn", (int)p->column,
	    "endLine", (int)p->end_line, "endColumn", (int)p->end_column);
}

static json_t *
sarif_result(const cutejit_diagnostic *d)
{
	const char *level = d->severity == CUTEJIT_SEVERITY_REMARK ? "note" :
	    severity_text(d->severity);
	json_t *o = json_pack("{s:s, s:s, s:{s:s}}", "level", level, "ruleId",
	    d->code, "message", "text", d->text);
	json_t *related = json_array();
	size_t i;

	if (d->place.file != NULL)
		json_object_set_new(o, "locations", json_pack("[o]",
		    sarif_location(&d->place)));
	for (i = 0; i < d->note_count; i++) {
		json_t *n;

		if (d->notes[i].place.file == NULL)
			continue;
		n = sarif_location(&d->notes[i].place);
		json_object_set_new(n, "message", json_pack("{s:s}", "text",
		    d->notes[i].text));
		json_array_append_new(related, n);
	}
	if (json_array_size(related) != 0)
		json_object_set(o, "relatedLocations", related);
	json_decref(related);
	return o;
}

static void
show_sarif(const cutejit_report *report)
{
	json_t *results = json_array(), *all;
	size_t i;

	for (i = 0; i < cutejit_report_count(report); i++)
		json_array_append_new(results,
		    sarif_result(cutejit_report_at(report, i)));
	all = json_pack("{s:s, s:s, s:[{s:{s:{s:s, s:s}}, s:o}]}", "$schema",
	    "https://json.schemastore.org/sarif-2.1.0.json", "version",
	    "2.1.0", "runs", "tool", "driver", "name", "cutec", "version",
	    cutejit_version(), "results", results);
	json_dumpf(all, stderr, JSON_INDENT(2));
	fputc('\n', stderr);
	json_decref(all);
}

void
show_report(const cutejit_report *report, enum report_form form)
{
	if (cutejit_report_count(report) == 0)
		return;
	switch (form) {
	case REPORT_TEXT:
		fflush(stdout);
		fputs(cutejit_report_text(report, wants_colour(stderr)),
		    stderr);
		break;
	case REPORT_JSON:
		show_json(report);
		break;
	case REPORT_SARIF:
		show_sarif(report);
		break;
	}
}
