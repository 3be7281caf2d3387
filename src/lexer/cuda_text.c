/*
 * Where C++ text ends: at the brace that closes it.
 *
 * Braces do not count in comments, in string, character and raw string
 * literals; ' between digits separates them. Conditional compilation is not
 * understood, as the manual says.
 */
#include <ctype.h>

#include "lexer_priv.h"

struct text {
	const char *at, *end;
};

static bool
is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Behind the literal that begins with quote `*t.at`. */
static const char *
skip_quoted(struct text t)
{
	char quote = *t.at;
	const char *p;

	for (p = t.at + 1; p < t.end && *p != quote; p++) {
		if (*p == '\\' && p + 1 < t.end)
			p++;
		else if (*p == '\n')
			return p;	/* not closed; it ends with its line */
	}
	return p < t.end ? p + 1 : p;
}

/* Behind R"d( ... )d" whose quote is *t.at; NULL if it is no raw string. */
static const char *
skip_raw(struct text t)
{
	const char *open = memchr(t.at, '(', (size_t)(t.end - t.at)), *p;
	size_t n;

	if (open == NULL || open - t.at > 17)
		return NULL;
	n = (size_t)(open - t.at) - 1;
	for (p = open + 1; p < t.end; p++) {
		if (*p == ')' && (size_t)(t.end - p) > n + 1 &&
		    memcmp(p + 1, t.at + 1, n) == 0 && p[n + 1] == '"')
			return p + n + 2;
	}
	return t.end;
}

static const char *
skip_comment(struct text t)
{
	const char *p;

	if (t.at[1] == '/') {
		for (p = t.at; p < t.end && *p != '\n'; p++)
			if (*p == '\\' && p + 1 < t.end)
				p++;
		return p;
	}
	for (p = t.at + 2; p + 1 < t.end; p++)
		if (p[0] == '*' && p[1] == '/')
			return p + 2;
	return t.end;
}

/* A word or a number; R in front of a quote begins a raw string. */
static const char *
skip_word(struct text t)
{
	bool is_number = isdigit((unsigned char)*t.at);
	const char *p = t.at, *raw;

	while (p < t.end && (is_word(*p) || (is_number && *p == '\'' &&
	    p + 1 < t.end && is_word(p[1]))))
		p++;
	if (is_number || p == t.end || *p != '"' || p[-1] != 'R' ||
	    p - t.at > 3)
		return p;
	raw = skip_raw((struct text){ p, t.end });
	return raw != NULL ? raw : p;
}

uint32_t
cj_cuda_text_end(const struct cj_source *source, uint32_t begin)
{
	struct text t = { source->text + begin, source->text + source->length };
	uint32_t depth = 1;

	while (t.at < t.end) {
		char c = *t.at;

		if (c == '{')
			depth++;
		else if (c == '}' && --depth == 0)
			return (uint32_t)(t.at - source->text);
		if (c == '"' || c == '\'')
			t.at = skip_quoted(t);
		else if (c == '/' && t.at + 1 < t.end &&
		    (t.at[1] == '/' || t.at[1] == '*'))
			t.at = skip_comment(t);
		else if (is_word(c))
			t.at = skip_word(t);
		else
			t.at++;
	}
	return source->length;
}
