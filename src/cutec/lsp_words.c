/*
 * The words of the language itself, for completion and hover.
 *
 * Which words there are is said by the tables of the compiler; ir/words.def
 * adds how they are written and what they do. Functions of the prelude are no
 * words: they have texts.
 */
#include <string.h>

#include "lsp.h"

static const struct word words[] = {
#define BUILTIN(name, least, most, named, flags)			\
	{ WORD_FUNCTION, #name, NULL, NULL, least, most, named },
#define EACH(name, operands, op)					\
	{ WORD_FUNCTION, #name, NULL, NULL, operands, operands, "" },
#define VALUE(name)							\
	{ WORD_VALUE, #name, NULL, NULL, 0, 0, "" },
#include "ir/builtins.def"
#define KIND(kind, text, bits, class)					\
	{ WORD_TYPE, text, NULL, NULL, 0, 0, "" },
#include "ir/type.def"
#undef KIND
#define WORD_OF(kind, name, form, text)					\
	{ WORD_##kind, name, form, text, 0, 0, "" },
#include "ir/words.def"
};

enum { COUNT = sizeof words / sizeof *words };

/* More about a word of the compiler's tables. */
static const struct {
	const char *name, *form, *text;
} abouts[] = {
#define ABOUT(name, form, text) { name, form, text },
#include "ir/words.def"
};

static const struct {
	const char *of, *members;
} members[] = {
#define MEMBERS(of, members) { of, members },
#include "ir/words.def"
}, choices[] = {
#define CHOICES(argument, names) { argument, names },
#include "ir/words.def"
};

static const struct {
	const char *place, *name;
} places[] = {
#define ATTR(place, name, least, most) { #place, #name },
#include "parser/attr.def"
#undef ATTR
};

const struct word *
word_at(size_t i)
{
	return i < COUNT ? &words[i] : NULL;
}

const struct word *
word_find(const char *name, bool is_attribute)
{
	size_t i;

	for (i = 0; i < COUNT; i++)
		if (strcmp(words[i].name, name) == 0 &&
		    (words[i].kind == WORD_ATTRIBUTE) == is_attribute)
			return &words[i];
	return NULL;
}

static const char *
arity(struct cj_arena *a, const struct word *w)
{
	if (w->least == w->most)
		return cj_printf(a, w->least == 1 ? "%u argument" :
		    "%u arguments", w->least);
	if (w->most >= 65535)
		return cj_printf(a, "%u arguments or more", w->least);
	return cj_printf(a, "%u to %u arguments", w->least, w->most);
}

const char *
word_form(struct cj_arena *a, const struct word *w)
{
	size_t i;

	if (w->form != NULL)
		return w->form;
	for (i = 0; i < sizeof abouts / sizeof *abouts; i++)
		if (strcmp(abouts[i].name, w->name) == 0)
			return abouts[i].form;
	if (w->kind != WORD_FUNCTION)
		return w->name;
	return cj_printf(a, "%s(%s)", w->name, arity(a, w));
}

const char *
word_text(const struct word *w)
{
	size_t i;

	if (w->text != NULL)
		return w->text;
	for (i = 0; i < sizeof abouts / sizeof *abouts; i++)
		if (strcmp(abouts[i].name, w->name) == 0)
			return abouts[i].text;
	return NULL;
}

const char *
word_members(const char *of)
{
	size_t i;

	for (i = 0; i < sizeof members / sizeof *members; i++)
		if (strcmp(members[i].of, of) == 0)
			return members[i].members;
	return NULL;
}

const char *
word_choices(const char *argument)
{
	size_t i;

	for (i = 0; i < sizeof choices / sizeof *choices; i++)
		if (strcmp(choices[i].of, argument) == 0)
			return choices[i].members;
	return NULL;
}

bool
word_stands(const char *attribute, const char *place)
{
	size_t i;

	for (i = 0; i < sizeof places / sizeof *places; i++)
		if (strcmp(places[i].name, attribute) == 0 &&
		    strcmp(places[i].place, place) == 0)
			return true;
	return false;
}
