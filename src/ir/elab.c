/*
 * Elaboration: the state, messages with their trail, places.
 */
#include "elab_priv.h"

enum { TRAIL_NOTES = 8 };

void
cj_elab_init(struct cj_elab *el, struct cj_arena *a, const struct cj_unit *u,
    const struct cj_target *target, struct cj_diags *ds)
{
	memset(el, 0, sizeof *el);
	assert(u->arena != NULL && "the unit is loaded");
	el->arena = a;
	el->unit = u;
	el->names = u->names;
	el->sources = u->sources;
	el->ds = ds;
	el->recover = a->recover;
	el->target = target;
	cj_symtab_init(&el->sym, a, u->names);
	cj_algebra_init(&el->al, a, &el->sym);
	memset(cj_push(a, &el->symbols), 0, sizeof *el->symbols.at);
	el->m = cj_module_create(a, "", target);
	el->m->sources = u->sources;
	el->time = CJ_TIME_CONST;
}

const char *
cj_elab_name(const struct cj_elab *el, cj_name name)
{
	return name == 0 ? "_" : cj_name_text(el->names, name);
}

cj_name
cj_elab_intern(const struct cj_elab *el, const char *text)
{
	return cj_intern_str(el->names, text);
}

/* ---- messages ------------------------------------------------------------ */

/* Is the place in a text of the standard library? */
static bool
is_ours(const struct cj_elab *el, struct cj_span span)
{
	const struct cj_source *s = cj_source_get(el->sources, span.source);

	return s != NULL && strncmp(s->name, "cute/", 5) == 0;
}

/* The innermost place of the trail that is the user's; NULL: none is. */
static const struct cj_place_info *
users_place(const struct cj_elab *el)
{
	cj_place p = el->trail;

	while (p != 0 && is_ours(el, el->m->places.at[p].span))
		p = el->m->places.at[p].parent;
	return p == 0 ? NULL : &el->m->places.at[p];
}

struct cj_span
cj_elab_users_span(const struct cj_elab *el, struct cj_span span)
{
	const struct cj_place_info *users = is_ours(el, span) ?
	    users_place(el) : NULL;

	return users == NULL ? span : users->span;
}

static bool
is_at(struct cj_span a, struct cj_span b)
{
	return a.source == b.source && a.begin == b.begin;
}

/* Calls and turns that led here, but for those within the library; recursion
 * is shown once. */
static void
add_trail(struct cj_elab *el, struct cj_diag *d, struct cj_span at)
{
	cj_place p = el->trail;
	struct cj_span last = at;
	unsigned n = 0;

	while (p != 0 && n < TRAIL_NOTES) {
		const struct cj_place_info *info = &el->m->places.at[p];
		bool is_turn = info->turn >= 0;

		p = info->parent;
		if (!is_turn && (is_at(info->span, at) ||
		    is_at(info->span, last) || is_ours(el, info->span)))
			continue;
		last = info->span;
		n++;
		if (is_turn)
			cj_note(d, info->span, "in turn %lld of this loop",
			    (long long)info->turn);
		else
			cj_note(d, info->span, "in this call");
	}
}

static struct cj_diag *
report(struct cj_elab *el, enum cj_code code, struct cj_span span,
    const char *format, va_list ap)
{
	const struct cj_place_info *users = NULL;
	struct cj_strbuf text;
	struct cj_diag *d;

	if (is_ours(el, span))
		users = users_place(el);
	cj_strbuf_init(&text, el->ds->arena);
	cj_strbuf_vprintf(&text, format, ap);
	d = cj_report(el->ds, code, users == NULL ? span : users->span, "%s",
	    text.text);
	if (cj_code_severity(code) == CJ_ERROR)
		el->errors++;
	if (users != NULL)
		cj_note(d, span, "it was found here");
	add_trail(el, d, users == NULL ? span : users->span);
	return d;
}

struct cj_diag *
cj_elab_report(struct cj_elab *el, enum cj_code code, struct cj_span span,
    const char *format, ...)
{
	struct cj_diag *d;
	va_list ap;

	va_start(ap, format);
	d = report(el, code, span, format, ap);
	va_end(ap);
	return d;
}

struct cj_value
cj_elab_error(struct cj_elab *el, enum cj_code code, struct cj_span span,
    const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	report(el, code, span, format, ap);
	va_end(ap);
	return cj_value_error();
}

struct cj_value
cj_elab_refused(struct cj_elab *el, struct cj_span span, const char *what)
{
	const struct cj_why_not *why = &el->al.why;
	struct cj_diag *d;

	if (el->sym.overflow) {
		el->sym.overflow = false;
		return cj_elab_error(el, CJ_DIAG_LAYOUT, span,
		    "%s: a number does not fit in 64 bits", what);
	}
	d = cj_elab_report(el, CJ_DIAG_LAYOUT, span, "%s: %s", what,
	    why->text != NULL ? why->text : "the operation is refused");
	if (why->help != NULL)
		cj_help(d, "%s", why->help);
	return cj_value_error();
}

/* ---- places -------------------------------------------------------------- */

void
cj_elab_at(struct cj_elab *el, struct cj_span span)
{
	if (el->em != NULL)
		el->em->b.place = cj_module_place(el->m, span, el->trail, -1);
}

const char *
cj_elab_source_text(struct cj_elab *el, struct cj_span span)
{
	const struct cj_source *s = cj_source_get(el->sources,
	    span.source);

	assert(span.begin <= span.end && span.end <= s->length);

	return cj_strndup(el->arena, s->text + span.begin,
	    span.end - span.begin);
}
