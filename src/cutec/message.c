/*
 * Messages of the command: its own, and the library's reports as text, JSON
 * or SARIF 2.1.
 */
#include <assert.h>
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

#define NAME(before, behind)	"cutec: " before "error" behind

static const char *
complainer(void)
{
	return wants_colour(stderr) ? NAME("\033[1;31m", "\033[0m")
	    : NAME("", "");
}

static void
vcomplain(const char *format, va_list ap)
{
	fprintf(stderr, "%s: ", complainer());
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

void
caution(const char *text)
{
	bool colour = wants_colour(stderr);

	fprintf(stderr, "cutec: %swarning:%s %s\n", colour ? "\033[1;35m" : "",
	    colour ? "\033[0m" : "", text);
}

int
no_memory(void)
{
	complain("there is no memory");
	return CUTEJIT_LIMIT;
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

enum report_form
report_form_of(const char *word)
{
	static const char *const names[] = { "text", "json", "sarif" };
	unsigned i;

	for (i = 0; strcmp(word, names[i]) != 0; i++)
		assert(i < 2 && "options.def has these alone");
	return (enum report_form)i;
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

/* With a new line at its end; NULL: there is no memory. Takes `all`. */
static char *
dumped(json_t *all)
{
	char *text = json_dumps(all, JSON_INDENT(2)), *line;
	size_t n = text == NULL ? 0 : strlen(text);

	json_decref(all);
	line = text == NULL ? NULL : realloc(text, n + 2);
	if (line == NULL) {
		free(text);
		return NULL;
	}
	memcpy(line + n, "\n", 2);
	return line;
}

static char *
report_json(const cutejit_report *report)
{
	json_t *list = json_array(), *all;
	size_t i;

	for (i = 0; i < cutejit_report_count(report); i++)
		json_array_append_new(list,
		    diagnostic_json(cutejit_report_at(report, i)));
	all = json_pack("{s:i, s:o}", "schema", 1, "diagnostics", list);
	return dumped(all);
}

/* ---- SARIF -------------------------------------------------------------- */

/* A path as a reference of RFC 3986. */
static json_t *
uri_of(const char *path)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "abcdefghijklmnopqrstuvwxyz0123456789-._~/";
	char *out = malloc(3 * strlen(path) + 1), *to = out;
	json_t *uri;

	if (out == NULL)
		return NULL;
	for (; *path != '\0'; path++)
		if (strchr(plain, *path) != NULL)
			*to++ = *path;
		else
			to += sprintf(to, "%%%02X", (unsigned char)*path);
	*to = '\0';
	uri = json_string(out);
	free(out);
	return uri;
}

static json_t *
sarif_location(const cutejit_place *p)
{
	return json_pack("{s:{s:{s:o}, s:{s:i, s:i, s:i, s:i}}}",
	    "physicalLocation", "artifactLocation", "uri", uri_of(p->file),
	    "region", "startLine", (int)p->line, "startColumn", (int)p->column,
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

static char *
report_sarif(const cutejit_report *report)
{
	json_t *results = json_array(), *all;
	size_t i;

	for (i = 0; i < cutejit_report_count(report); i++)
		json_array_append_new(results,
		    sarif_result(cutejit_report_at(report, i)));
	all = json_pack("{s:s, s:s, s:[{s:{s:{s:s, s:s}}, s:s, s:o}]}",
	    "$schema",
	    "https://json.schemastore.org/sarif-2.1.0.json", "version",
	    "2.1.0", "runs", "tool", "driver", "name", "cutec", "version",
	    cutejit_version(), "columnKind", "unicodeCodePoints", "results",
	    results);
	return dumped(all);
}

char *
report_text(const cutejit_report *report, enum report_form form)
{
	switch (form) {
	case REPORT_TEXT:
		break;
	case REPORT_JSON:
		return report_json(report);
	case REPORT_SARIF:
		return report_sarif(report);
	}
	return strdup(cutejit_report_text(report, wants_colour(stderr)));
}

void
show_report(const cutejit_report *report, enum report_form form)
{
	char *text;

	if (cutejit_report_count(report) == 0)
		return;
	text = report_text(report, form);
	fflush(stdout);
	fputs(text == NULL ? "cutec: there is no memory\n" : text, stderr);
	free(text);
}
