/*
 * What the library has to say about open texts, as diagnostics and quick
 * fixes of the protocol.
 *
 * A text is checked when no message waits: first the text itself, then, if it
 * is right, its constants are evaluated and every kernel whose compile-time
 * parameters have values is elaborated. A child process does that; the arrival
 * of a message ends it, and the check begins anew when there is time. What a
 * check finds is published at once.
 */
#include <string.h>

#include "lsp.h"

enum { SEVERITY_ERROR = 1, SEVERITY_WARNING, SEVERITY_INFORMATION,
	SEVERITY_HINT };
enum { TAG_UNNECESSARY = 1 };

enum { CHECK_MS = 10000, VALUE_MS = 2000 };

/* One check under way. */
struct check {
	struct server *s;
	struct document *d;
	cutejit_module *module;
	json_t *found, *fixes;
};

/* ---- places -------------------------------------------------------------- */

static bool
is_here(const struct document *d, const cutejit_place *p)
{
	return p->file != NULL && strcmp(p->file, document_name(d)) == 0;
}

/* The text of a place of any file; NULL: it cannot be shown. */
static struct document *
document_of_place(struct check *c, const cutejit_place *p)
{
	if (is_here(c->d, p))
		return c->d;
	return p->file != NULL && p->file[0] == '/' ?
	    document_at_path(c->s, p->file) : NULL;
}

static json_t *
location_of(const struct document *d, const cutejit_place *p)
{
	return json_pack("{s:s, s:o}", "uri", d->uri, "range",
	    lines_range(&d->lines, p->begin, p->end));
}

/* Where in this text a message about another one shows: at the import. */
static json_t *
range_here(struct check *c, const cutejit_diagnostic *g)
{
	const struct view *v;
	uint32_t i;

	if (is_here(c->d, &g->place))
		return lines_range(&c->d->lines, g->place.begin, g->place.end);
	v = view_of(c->s, c->d);
	for (i = 0; g->place.file != NULL && i < v->uses.len; i++) {
		const struct use *u = &v->uses.at[i];
		struct meaning m;

		if (u->kind != USE_IMPORT)
			continue;
		m = meaning_of(c->s, c->d, u);
		if (m.target != NULL && strcmp(document_name(m.target),
		    g->place.file) == 0)
			return lines_range(&c->d->lines, u->span.begin,
			    u->span.end);
	}
	return lines_range(&c->d->lines, 0, 0);
}

/* ---- diagnostics --------------------------------------------------------- */

static int
severity_of(cutejit_severity s)
{
	switch (s) {
	case CUTEJIT_SEVERITY_NOTE: return SEVERITY_INFORMATION;
	case CUTEJIT_SEVERITY_REMARK: return SEVERITY_HINT;
	case CUTEJIT_SEVERITY_WARNING: return SEVERITY_WARNING;
	case CUTEJIT_SEVERITY_ERROR: return SEVERITY_ERROR;
	}
	return SEVERITY_ERROR;
}

static void
add_related(struct check *c, json_t *list, const cutejit_place *p,
    const char *text)
{
	struct document *d = document_of_place(c, p);

	if (d != NULL)
		json_array_append_new(list, json_pack("{s:o, s:o}",
		    "location", location_of(d, p), "message",
		    string_of(text, strlen(text))));
}

/* Notes without a place, and the help, stand below the text. */
static json_t *
message_of(struct check *c, const cutejit_diagnostic *g)
{
	struct cj_strbuf b;
	size_t i;

	cj_strbuf_init(&b, &c->s->scratch);
	if (!is_here(c->d, &g->place) && g->place.file != NULL)
		cj_strbuf_printf(&b, "%s:%u:%u: ", g->place.file,
		    g->place.line, g->place.column);
	cj_strbuf_puts(&b, g->text);
	for (i = 0; i < g->note_count; i++)
		if (g->notes[i].place.file == NULL)
			cj_strbuf_printf(&b, "\n%s", g->notes[i].text);
	if (g->help != NULL)
		cj_strbuf_printf(&b, "\n%s", g->help);
	return string_of(b.text, b.len);
}

static json_t *
diagnostic_of(struct check *c, const cutejit_diagnostic *g)
{
	json_t *o = json_pack("{s:o, s:i, s:s, s:o}", "range",
	    range_here(c, g), "severity", severity_of(g->severity), "source",
	    "cute", "message", message_of(c, g));
	json_t *related = json_array();
	size_t i;

	if (*g->code != '\0')
		json_object_set_new(o, "code", json_string(g->code));
	if (g->severity == CUTEJIT_SEVERITY_WARNING &&
	    strncmp(g->code, "unused", 6) == 0)
		json_object_set_new(o, "tags", json_pack("[i]",
		    TAG_UNNECESSARY));
	if (!is_here(c->d, &g->place))
		add_related(c, related, &g->place, g->text);
	for (i = 0; i < g->note_count; i++)
		add_related(c, related, &g->notes[i].place, g->notes[i].text);
	if (json_array_size(related) != 0)
		json_object_set(o, "relatedInformation", related);
	json_decref(related);
	return o;
}

static json_t *
title_of(struct check *c, const cutejit_diagnostic *g)
{
	bool is_short = g->fix_text[0] != '\0' &&
	    strlen(g->fix_text) <= 60 && strchr(g->fix_text, '\n') == NULL;
	const char *text = "Remove this";

	if (is_short)
		text = cj_printf(&c->s->scratch, g->fix_place.begin ==
		    g->fix_place.end ? "Insert \"%s\"" :
		    "Replace by \"%s\"", g->fix_text);
	else if (g->fix_text[0] != '\0')
		text = "Replace this";
	return string_of(text, strlen(text));
}

/* A fix is offered with its message, and only for this text. */
static void
add_fix(struct check *c, const cutejit_diagnostic *g, json_t *diagnostic)
{
	const cutejit_place *p = &g->fix_place;

	if (!is_here(c->d, p) || g->fix_text == NULL)
		return;
	json_array_append_new(c->fixes, json_pack("{s:o, s:O, s:[{s:o, "
	    "s:o}]}", "title", title_of(c, g), "diagnostic", diagnostic,
	    "edits", "range", lines_range(&c->d->lines, p->begin, p->end),
	    "newText", string_of(g->fix_text, strlen(g->fix_text))));
}

/* Members of a family often say the same. */
static bool
is_found(const struct check *c, const json_t *diagnostic)
{
	size_t i;

	for (i = 0; i < json_array_size(c->found); i++)
		if (json_equal(json_array_get(c->found, i), diagnostic))
			return true;
	return false;
}

static void
take_report(struct check *c, const cutejit_report *r)
{
	size_t i;

	for (i = 0; i < cutejit_report_count(r); i++) {
		const cutejit_diagnostic *g = cutejit_report_at(r, i);
		json_t *o;

		if (strcmp(g->code, "no-value") == 0)
			continue;
		o = diagnostic_of(c, g);
		if (!is_found(c, o)) {
			json_array_append(c->found, o);
			add_fix(c, g, o);
		}
		json_decref(o);
	}
}

/* ---- checking ------------------------------------------------------------ */

static bool
is_target(const char *name)
{
	const cutejit_target *t;
	size_t i;

	for (i = 0; (t = cutejit_target_at(i)) != NULL; i++)
		if (strcmp(t->name, name) == 0)
			return true;
	return false;
}

/* The first target that the kernel names; most are for any. */
static const char *
target_of(struct check *c, const cutejit_member *m)
{
	const struct view *v = view_of(c->s, c->d);
	uint32_t i;

	for (i = 0; i < v->tree->decls.count; i++) {
		const struct cj_node *n = v->tree->decls.at[i];
		const char *name;

		if (n->kind != CJ_NODE_KERNEL || n->kernel.targets.count == 0
		    || n->span.begin > m->place.begin ||
		    n->span.end < m->place.end)
			continue;
		name = view_text(v, n->kernel.targets.at[0]->name.name);
		if (is_target(name))
			return name;
	}
	return "sm_90a";
}

static void
check_kernel(struct check *c, const cutejit_member *m)
{
	cutejit_compile_options o = CUTEJIT_COMPILE_OPTIONS_INIT;
	cutejit_kernel *kernel;

	o.target = target_of(c, m);
	o.until = CUTEJIT_UNTIL_IR;
	o.member = m->member + 1;
	if (cutejit_compile(c->module, m->kernel, &o, &kernel) == CUTEJIT_OK)
		take_report(c, cutejit_kernel_report(kernel));
	else
		take_report(c, cutejit_context_report(c->s->context));
}

/* Constants that nobody uses would never be looked at. */
static void
check_constants(struct check *c)
{
	const struct view *v = view_of(c->s, c->d);
	const char *value;
	uint32_t i;

	for (i = 0; i < v->symbols.len; i++) {
		const struct symbol *y = &v->symbols.at[i];

		if (!y->is_file || y->kind != SYMBOL_CONST ||
		    y->node->let.init->kind == CJ_NODE_LAMBDA)
			continue;
		if (cutejit_evaluate(c->s->context, c->module, view_text(v,
		    y->name), &value) != CUTEJIT_OK)
			take_report(c, cutejit_context_report(c->s->context));
	}
}

/* In the child: what there is to say about a text. */
static json_t *
check_text(void *argument)
{
	struct check *c = argument;
	const cutejit_member *m;
	size_t i;

	c->found = json_array();
	c->fixes = json_array();
	if (cutejit_module_from_memory(c->s->context, document_name(c->d),
	    c->d->text, c->d->length, &c->module) != CUTEJIT_OK) {
		take_report(c, cutejit_context_report(c->s->context));
	} else {
		take_report(c, cutejit_module_report(c->module));
		check_constants(c);
		for (i = 0; (m = cutejit_module_member(c->module, i)) != NULL;
		    i++)
			if (is_here(c->d, &m->place))
				check_kernel(c, m);
	}
	return json_pack("{s:o, s:o}", "found", c->found, "fixes", c->fixes);
}

static void
publish(struct server *s, const struct document *d, json_t *found)
{
	json_t *params = json_pack("{s:s, s:O}", "uri", d->uri,
	    "diagnostics", found);

	if (json_is_integer(d->version))
		json_object_set(params, "version", d->version);
	wire_write(&s->wire, json_pack("{s:s, s:s, s:o}", "jsonrpc", "2.0",
	    "method", "textDocument/publishDiagnostics", "params", params));
}

/* One warning where there is no answer. */
static json_t *
no_answer(const struct document *d, enum child_end end)
{
	return json_pack("{s:[{s:o, s:i, s:s, s:s}], s:[]}", "found",
	    "range", lines_range(&d->lines, 0, 0), "severity",
	    SEVERITY_WARNING, "source", "cute", "message", end == CHILD_LATE ?
	    "this text takes too long to check" :
	    "checking this text ended early: a fault of cutec; please report "
	    "it", "fixes");
}

static void
check_document(struct server *s, struct document *d)
{
	struct check c = { s, d, NULL, NULL, NULL };
	enum child_end end;
	json_t *result = child_run(s, check_text, &c, true, CHECK_MS, &end);

	if (end == CHILD_UNWANTED)
		return;
	if (result == NULL)
		result = no_answer(d, end);
	d->is_dirty = false;
	json_decref(d->fixes);
	d->fixes = json_incref(json_object_get(result, "fixes"));
	publish(s, d, json_object_get(result, "found"));
	json_decref(result);
}

void
check_documents(struct server *s)
{
	struct document *d;

	for (d = s->documents; d != NULL; d = d->next) {
		if (wire_waits(&s->wire, 0))
			return;
		if (d->is_open && d->is_dirty)
			check_document(s, d);
	}
}

/* ---- values -------------------------------------------------------------- */

struct evaluating {
	struct server *s;
	const struct document *d;
	const char *expression;
};

/* In the child: [value], or [] if there is none. */
static json_t *
evaluate(void *argument)
{
	struct evaluating *e = argument;
	cutejit_module *module;
	const char *value;

	if (cutejit_module_from_memory(e->s->context, document_name(e->d),
	    e->d->text, e->d->length, &module) != CUTEJIT_OK ||
	    cutejit_evaluate(e->s->context, module, e->expression, &value) !=
	    CUTEJIT_OK)
		return json_array();
	return json_pack("[o]", string_of(value, strlen(value)));
}

const char *
value_of(struct server *s, const struct document *d, const char *expression)
{
	struct evaluating e = { s, d, expression };
	enum child_end end;
	json_t *result = child_run(s, evaluate, &e, false, VALUE_MS, &end);
	const char *value = json_string_value(json_array_get(result, 0));

	if (value != NULL)
		value = cj_strdup(&s->scratch, value);
	json_decref(result);
	return value;
}

/* ---- quick fixes --------------------------------------------------------- */

json_t *
answer_actions(struct server *s, const json_t *params)
{
	struct document *d = document_param(s, params);
	const json_t *range = json_object_get(params, "range");
	json_t *list = json_array();
	size_t from, to, i;

	if (d == NULL || !lines_offset(&d->lines, json_object_get(range,
	    "start"), &from) || !lines_offset(&d->lines, json_object_get(range,
	    "end"), &to)) {
		json_decref(list);
		return refuse(s, LSP_INVALID_PARAMS, "params need "
		    "textDocument and range");
	}
	for (i = 0; i < json_array_size(d->fixes); i++) {
		json_t *fix = json_array_get(d->fixes, i);
		json_t *at = json_object_get(json_object_get(fix,
		    "diagnostic"), "range");
		size_t begin, end;

		if (!lines_offset(&d->lines, json_object_get(at, "start"),
		    &begin) || !lines_offset(&d->lines, json_object_get(at,
		    "end"), &end) || end < from || begin > to)
			continue;
		json_array_append_new(list, json_pack(
		    "{s:O, s:s, s:b, s:[O], s:{s:{s:O}}}", "title",
		    json_object_get(fix, "title"), "kind", "quickfix",
		    "isPreferred", 1, "diagnostics", json_object_get(fix,
		    "diagnostic"), "edit", "changes", d->uri,
		    json_object_get(fix, "edits")));
	}
	return list;
}
