/*
 * Reading numbers and strings, and naming what is wrong with them.
 *
 * A number is handed to strtod as digits and an exponent, without its point:
 * the result is the nearest double whatever the program's locale.
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>

#include "lexer_priv.h"

static struct cj_span
span_at(const struct cj_lexer *lx, uint32_t begin, uint32_t end)
{
	return (struct cj_span){ lx->token.span.source, begin, end };
}

static int
digit_value(char c)
{
	if (isdigit((unsigned char)c))
		return c - '0';
	return tolower((unsigned char)c) - 'a' + 10;
}

void
cj_lex_integer(struct cj_lexer *lx, const char *text, uint32_t length)
{
	uint64_t base = 10, value = 0;
	bool is_big = false, has_digit = false;
	uint32_t i = 0;

	if (length > 2 && text[0] == '0' && isalpha((unsigned char)text[1])) {
		base = tolower((unsigned char)text[1]) == 'x' ? 16 : 2;
		i = 2;
	}
	for (; i < length; i++) {
		uint64_t d;

		if (text[i] == '_')
			continue;
		d = (uint64_t)digit_value(text[i]);
		has_digit = true;
		is_big = is_big || value > (UINT64_MAX - d) / base;
		value = value * base + d;
	}
	lx->token.integer = is_big ? UINT64_MAX : value;
	if (is_big)
		cj_report(lx->diags, CJ_DIAG_BAD_NUMBER, lx->token.span,
		    "integer needs more than 64 bits");
	else if (!has_digit)
		cj_report(lx->diags, CJ_DIAG_BAD_NUMBER, lx->token.span,
		    "\"%.*s\" has no digits", (int)length, text);
}

/* Digits without point and `_`, then an exponent that makes up for it. */
static char *
without_point(struct cj_arena *a, const char *plain)
{
	const char *e = strpbrk(plain, "eE"), *point = strchr(plain, '.');
	size_t digits = e != NULL ? (size_t)(e - plain) : strlen(plain);
	long exponent = e != NULL ? strtol(e + 1, NULL, 10) : 0;

	if (point == NULL)
		return cj_printf(a, "%.*se%ld", (int)digits, plain, exponent);
	if (exponent > -1000000000L)
		exponent -= plain + digits - (point + 1);
	return cj_printf(a, "%.*s%.*se%ld", (int)(point - plain), plain,
	    (int)(plain + digits - (point + 1)), point + 1, exponent);
}

void
cj_lex_number(struct cj_lexer *lx, const char *text, uint32_t length)
{
	char *plain = cj_alloc(lx->arena, length + 1u);
	uint32_t i, n = 0;

	for (i = 0; i < length; i++)
		if (text[i] != '_')
			plain[n++] = text[i];
	lx->token.number.text = plain;
	lx->token.number.value = strtod(without_point(lx->arena, plain), NULL);
	if (isinf(lx->token.number.value))
		cj_report(lx->diags, CJ_DIAG_BAD_NUMBER, lx->token.span,
		    "number is larger than f64 can hold");
}

void
cj_lex_bad_number(struct cj_lexer *lx, const char *text, uint32_t length)
{
	const char *point = memchr(text, '.', length);
	uint32_t i = 0;
	struct cj_diag *d;

	while (i < length && (isdigit((unsigned char)text[i]) ||
	    text[i] == '_'))
		i++;
	cj_lex_integer(lx, text, i);
	if (point != NULL && !isdigit((unsigned char)point[1])) {
		d = cj_report(lx->diags, CJ_DIAG_BAD_NUMBER, lx->token.span,
		    "a digit must follow the point in \"%.*s\"", (int)length,
		    text);
		cj_fixit(d, lx->token.span, "%.*s.0", (int)i, text);
		return;
	}
	d = cj_report(lx->diags, CJ_DIAG_BAD_NUMBER, lx->token.span,
	    "\"%.*s\" is no number", (int)length, text);
	if (text[0] == '0' && length > 1 && isalpha((unsigned char)text[1]))
		cj_help(d, "Hexadecimal is 0x1f, binary is 0b101.");
	else
		cj_help(d, "Numbers have no suffix; f32(1) converts.");
}

bool
cj_lex_point(struct cj_lexer *lx, const char *text, uint32_t length)
{
	bool is_element = lx->last_end == lx->token.span.begin &&
	    (lx->last == CJ_TOKEN_NAME || lx->last == CJ_TOKEN_RPAREN ||
	    lx->last == CJ_TOKEN_RBRACKET || cj_token_is_plain_word(lx->last));
	struct cj_strbuf fix;
	struct cj_diag *d;
	uint32_t i;

	if (!is_element) {
		d = cj_report(lx->diags, CJ_DIAG_BAD_NUMBER, lx->token.span,
		    "a digit must stand in front of the point");
		cj_fixit(d, lx->token.span, "0%.*s", (int)length, text);
		cj_lex_number(lx, text, length);
		return true;
	}
	cj_strbuf_init(&fix, lx->arena);
	for (i = 0; i < length; i++) {
		if (text[i] == '.')
			cj_strbuf_puts(&fix, i == 0 ? "[" : "][");
		else
			cj_strbuf_putc(&fix, text[i]);
	}
	cj_strbuf_putc(&fix, ']');
	d = cj_report(lx->diags, CJ_DIAG_SYNTAX, lx->token.span,
	    "an element is t%s, not t%.*s", fix.text, (int)length, text);
	cj_fixit(d, lx->token.span, "%s", fix.text);
	return false;
}

void
cj_lex_stray(struct cj_lexer *lx, const char *text, uint32_t length)
{
	unsigned char c = (unsigned char)text[0];
	struct cj_diag *d;

	lx->is_wrong = true;
	if (length > 1 && c != '#') {
		if (!lx->is_bad_utf8)
			cj_report(lx->diags, CJ_DIAG_BAD_CHARACTER,
			    lx->token.span, "\"%.*s\" is no name: names are "
			    "letters of ASCII, digits and \"_\"", (int)length,
			    text);
		return;
	}
	if (c >= 0x80 && lx->is_bad_utf8)
		return;
	d = isprint(c) ? cj_report(lx->diags, CJ_DIAG_BAD_CHARACTER,
	    lx->token.span, "\"%c\" means nothing here", c) :
	    cj_report(lx->diags, CJ_DIAG_BAD_CHARACTER, lx->token.span,
	    "byte 0x%02x means nothing here", c);
	if (c == '#')
		cj_help(d, "There is no preprocessor: write const, const if, "
		    "or import \"file.cute\";");
	else if (c == '?')
		cj_help(d, "A choice of values is if c { a } else { b }.");
	else if (c == '@')
		cj_help(d, "A unit stride is basis(i).");
}

/* To the end of the line. Of a file whose lines end with a carriage return
 * alone it would be all that follows. */
void
cj_lex_comment(struct cj_lexer *lx, const char *text, uint32_t length)
{
	const char *cr = memchr(text, '\r', length);
	uint32_t at;

	if (cr == NULL || cr == text + length - 1)
		return;
	at = lx->token.span.begin + (uint32_t)(cr - text);
	lx->is_wrong = true;
	cj_help(cj_report(lx->diags, CJ_DIAG_BAD_CHARACTER,
	    span_at(lx, at, at + 1), "a carriage return alone ends no line, "
	    "and so not this comment"), "End lines with LF, or with CR LF.");
}

/* ---- strings ------------------------------------------------------------- */

static void
bad_escape(struct cj_lexer *lx, uint32_t at, uint32_t length, char c)
{
	struct cj_span span = span_at(lx, lx->token.span.begin + at,
	    lx->token.span.begin + at + length);
	struct cj_diag *d = cj_report(lx->diags, CJ_DIAG_BAD_STRING, span,
	    "\"\\%c\" is no escape", c);

	cj_help(d, "Escapes are \\n \\t \\r \\0 \\\\ \\\" \\' and \\x1f.");
}

/* The escape at text[i], behind its backslash: its byte, and its length. */
static char
escape(struct cj_lexer *lx, const char *text, uint32_t i, uint32_t *length)
{
	static const char from[] = "ntr0\\\"'", to[] = "\n\t\r\0\\\"'";
	const char *p = strchr(from, text[i]);

	*length = 1;
	if (p != NULL && *p != '\0')
		return to[p - from];
	if (text[i] == 'x' && isxdigit((unsigned char)text[i + 1]) &&
	    isxdigit((unsigned char)text[i + 2])) {
		*length = 3;
		return (char)(digit_value(text[i + 1]) * 16 +
		    digit_value(text[i + 2]));
	}
	bad_escape(lx, i - 1, 2, text[i]);
	return text[i];
}

/* Text [1, end) of the literal, without its escapes. */
static void
read_string(struct cj_lexer *lx, const char *text, uint32_t end)
{
	char *bytes = cj_alloc(lx->arena, end + 1u);
	uint32_t i, step, n = 0;

	for (i = 1; i < end; i++) {
		if (text[i] != '\\' || i + 1 == end) {
			bytes[n++] = text[i];
			continue;
		}
		bytes[n++] = escape(lx, text, i + 1, &step);
		i += step;
	}
	lx->token.string.bytes = bytes;
	lx->token.string.length = n;
}

void
cj_lex_string(struct cj_lexer *lx, const char *text, uint32_t length)
{
	struct cj_diag *d;

	assert(length >= 2 && text[0] == text[length - 1]);
	read_string(lx, text, length - 1);
	if (text[0] != '\'')
		return;
	d = cj_report(lx->diags, CJ_DIAG_BAD_STRING, lx->token.span,
	    "text stands in double quotes");
	cj_fixit(d, lx->token.span, "\"%.*s\"", (int)length - 2, text + 1);
}

void
cj_lex_open_string(struct cj_lexer *lx, const char *text, uint32_t length)
{
	struct cj_diag *d;

	lx->is_wrong = true;
	read_string(lx, text, length);
	d = cj_report(lx->diags, CJ_DIAG_BAD_STRING, lx->token.span,
	    "this text is not closed on its line");
	cj_help(d, "Texts that follow one another are joined: "
	    "\"one \" \"two\".");
}
