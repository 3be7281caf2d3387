/*
 * Attributes: which ones a place knows, and how many arguments they take.
 */
#include "parser_priv.h"
#include "resolve_priv.h"

static const struct attr {
	enum cj_attr_place place;
	const char *name;
	uint32_t least, most;
} table[] = {
#define ATTR(place, name, least, most) { CJ_ATTR_##place, #name, least, most },
#include "attr.def"
#undef ATTR
};

static const char *const places[] = {
	[CJ_ATTR_PARAM] = "a parameter",
	[CJ_ATTR_OBJECT] = "\"shared\", \"tmem\" or a field",
	[CJ_ATTR_LOOP] = "\"for\"",
	[CJ_ATTR_WHILE] = "\"while\"",
	[CJ_ATTR_LAUNCH] = "\"launch\"",
	[CJ_ATTR_PIPELINE] = "\"pipeline\"",
	[CJ_ATTR_ROLE] = "\"role\"",
	[CJ_ATTR_PRODUCE] = "\"produce\"",
	[CJ_ATTR_CONSUME] = "\"consume\"",
	[CJ_ATTR_TIME] = "\"time\"",
};

static const struct attr *
find(enum cj_attr_place place, const char *name)
{
	size_t i;

	for (i = 0; i < CJ_LENGTH(table); i++)
		if (table[i].place == place &&
		    strcmp(table[i].name, name) == 0)
			return &table[i];
	return NULL;
}

bool
cj_attr_is_known(const char *name, size_t length)
{
	size_t i;

	for (i = 0; i < CJ_LENGTH(table); i++)
		if (strlen(table[i].name) == length &&
		    memcmp(table[i].name, name, length) == 0)
			return true;
	return false;
}

/* Another place that knows the name, or NULL. */
static const char *
elsewhere(const char *name)
{
	size_t i;

	for (i = 0; i < CJ_LENGTH(table); i++)
		if (strcmp(table[i].name, name) == 0)
			return places[table[i].place];
	return NULL;
}

static void
report_unknown(struct cj_resolve *r, const struct cj_node *attr,
    enum cj_attr_place place, const char *name)
{
	const char *words[CJ_LENGTH(table)], *near, *other = elsewhere(name);
	struct cj_strbuf all;
	struct cj_diag *d;
	size_t i, n = 0;

	cj_strbuf_init(&all, r->arena);
	for (i = 0; i < CJ_LENGTH(table); i++) {
		if (table[i].place != place)
			continue;
		cj_strbuf_printf(&all, "%s%s", n == 0 ? "" : ", ",
		    table[i].name);
		words[n++] = table[i].name;
	}
	d = cj_report(r->diags, CJ_DIAG_UNKNOWN_ATTRIBUTE,
	    attr->attr.path->span,
	    other != NULL ? "attribute \"%s\" does not belong to %s" :
	    "unknown attribute \"%s\" of %s", name, places[place]);
	if (other != NULL)
		cj_note(d, (struct cj_span){ 0, 0, 0 },
		    "it belongs to %s", other);
	near = cj_nearest(name, words, n);
	if (near != NULL) {
		cj_help(d, "Did you mean \"%s\"?", near);
		cj_fixit(d, attr->attr.path->span, "%s", near);
	} else {
		cj_help(d, "Attributes of %s are %s.", places[place],
		    all.text);
	}
}

static_assert(CJ_LENGTH(places) == CJ_ATTR_TIME + 1, "a text per place");

static void
check_count(struct cj_resolve *r, const struct cj_node *attr,
    const struct attr *known)
{
	const struct cj_node_attr *a = &attr->attr;

	if (known->most == 0 && a->has_list)
		cj_report(r->diags, CJ_DIAG_BAD_ATTRIBUTE, attr->span,
		    "\"%s\" takes no arguments", known->name);
	else if (known->most > 0 && !a->has_list)
		cj_help(cj_report(r->diags, CJ_DIAG_BAD_ATTRIBUTE, attr->span,
		    "\"%s\" needs an argument", known->name),
		    "Write %s(...).", known->name);
	else if (a->items.count < known->least ||
	    a->items.count > known->most)
		cj_report(r->diags, CJ_DIAG_BAD_ATTRIBUTE, attr->span,
		    "\"%s\" takes %s, not %u", known->name,
		    known->most == 1 ? "one argument" : "1 to 3 arguments",
		    a->items.count);
}

void
cj_resolve_attrs(struct cj_resolve *r, const struct cj_list *attrs,
    enum cj_attr_place place)
{
	uint32_t i;

	for (i = 0; i < attrs->count; i++) {
		const struct cj_node *n = attrs->at[i];
		struct cj_node *first;
		const struct attr *known;
		const char *name;

		if (n->kind != CJ_NODE_ATTR)
			continue;	/* ERROR */
		if (n->attr.name == 0) {
			cj_report(r->diags, CJ_DIAG_UNKNOWN_ATTRIBUTE,
			    n->attr.path->span,
			    "an attribute of %s is a plain name",
			    places[place]);
			continue;
		}
		name = cj_resolve_text(r, n->attr.name);
		known = find(place, name);
		if (known == NULL) {
			report_unknown(r, n, place, name);
			continue;
		}
		first = cj_attr_find(attrs, n->attr.name);
		if (first != n)
			cj_note(cj_report(r->diags, CJ_DIAG_BAD_ATTRIBUTE,
			    n->span, "\"%s\" stands here a second time",
			    name), first->span, "it stands here first");
		check_count(r, n, known);
	}
}
