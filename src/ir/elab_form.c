/*
 * How built-in functions are called: words.def has the form of each, which
 * the language server shows too. Messages about arguments quote it.
 */
#include "elab_priv.h"

static const struct {
	const char *name, *form;
} forms[] = {
#define ABOUT(name, form, text) { name, form },
#include "words.def"
};

static const char *
form_of(const struct cj_builtin *b)
{
	size_t i;

	for (i = 0; i < CJ_LENGTH(forms); i++)
		if (strcmp(forms[i].name, b->name) == 0)
			return forms[i].form;
	return NULL;
}

static void
help_form(struct cj_diag *d, const struct cj_builtin *b)
{
	const char *form = form_of(b);

	if (form != NULL)
		cj_help(d, "It is called as %s.", form);
}

/* ---- how many ------------------------------------------------------------ */

static const char *
how_many(struct cj_elab *el, const struct cj_builtin *b)
{
	if (b->least == b->most)
		return cj_printf(el->arena, "%u argument%s", b->least,
		    b->least == 1 ? "" : "s");
	if (b->most >= CJ_MANY_ARGUMENTS)
		return cj_printf(el->arena, "%u or more arguments", b->least);
	return cj_printf(el->arena, "%u to %u arguments", b->least, b->most);
}

static bool
check_count(struct cj_elab *el, const struct cj_builtin *b,
    const struct cj_args *args)
{
	if (args->count >= b->least && args->count <= b->most)
		return true;
	help_form(cj_elab_report(el, CJ_DIAG_WRONG_ARGUMENTS, args->span,
	    "\"%s\" takes %s, there %s %u", b->name, how_many(el, b),
	    args->count == 1 ? "is" : "are", args->count), b);
	return false;
}

/* ---- by name ------------------------------------------------------------- */

/* The words of a list with blanks between them. */
static uint32_t
split(struct cj_elab *el, const char *list, const char ***words)
{
	size_t most = strlen(list) / 2 + 1, n;
	uint32_t count = 0;

	*words = CJ_NEWS(el->arena, const char *, most);
	for (; *list != '\0'; list += n + (list[n] == ' ')) {
		n = strcspn(list, " ");
		(*words)[count++] = cj_strndup(el->arena, list, n);
	}
	return count;
}

/* Which arguments have names: "v" of "fill(view, v)" has none. */
static void
help_names(struct cj_elab *el, struct cj_diag *d, const struct cj_builtin *b)
{
	const char *form = form_of(b), **words;
	uint32_t count = split(el, b->named, &words), i;
	struct cj_strbuf names;

	cj_strbuf_init(&names, el->arena);
	for (i = 0; i < count; i++)
		cj_strbuf_printf(&names, "%s%s", i == 0 ? "" : i + 1 == count ?
		    " and " : ", ", words[i]);
	if (count == 0)
		cj_strbuf_puts(&names, "None of its arguments has a name");
	else
		cj_strbuf_printf(&names, " %s given by name", count == 1 ?
		    "is" : "are");
	if (form == NULL)
		cj_help(d, "%s.", names.text);
	else
		cj_help(d, "%s: it is called as %s.", names.text, form);
}

static bool
check_name(struct cj_elab *el, const struct cj_builtin *b,
    const struct cj_named_arg *arg)
{
	const char *name = cj_elab_name(el, arg->name), *near, **words;
	uint32_t count = split(el, b->named, &words), i;
	struct cj_diag *d;

	for (i = 0; i < count; i++)
		if (strcmp(words[i], name) == 0)
			return true;
	d = cj_elab_report(el, CJ_DIAG_WRONG_ARGUMENTS, arg->span,
	    "\"%s\" has no argument \"%s\"", b->name, name);
	near = cj_nearest(name, words, count);
	if (near != NULL)
		cj_help(d, "Did you mean \"%s\"?", near);
	else
		help_names(el, d, b);
	return false;
}

bool
cj_elab_check_arguments(struct cj_elab *el, const struct cj_builtin *b,
    const struct cj_args *args)
{
	uint32_t i;

	for (i = 0; i < args->named_count; i++)
		if (!check_name(el, b, &args->named[i]))
			return false;
	return check_count(el, b, args);
}
