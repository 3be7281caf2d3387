/*
 * Offsets in bytes, and positions as the protocol counts them: lines end by
 * \n, \r\n or \r, characters are UTF-16 units.
 *
 * Also bytes as JSON strings, which must be UTF-8.
 */
#include <stdlib.h>
#include <string.h>

#include "lsp.h"

/* Bytes of the end of a line at `i`; 0: none stands there. */
static size_t
line_end(const char *text, size_t length, size_t i)
{
	if (i >= length || (text[i] != '\n' && text[i] != '\r'))
		return 0;
	return text[i] == '\r' && i + 1 < length && text[i + 1] == '\n' ? 2 :
	    1;
}

bool
lines_init(struct lines *l, const char *text, size_t length)
{
	size_t i, n, count = 1;

	for (i = 0; i < length; i += n != 0 ? n : 1)
		count += (n = line_end(text, length, i)) != 0;
	l->at = malloc(count * sizeof *l->at);
	if (l->at == NULL)
		return false;
	l->text = text;
	l->length = length;
	l->count = 0;
	l->at[l->count++] = 0;
	for (i = 0; i < length; i += n != 0 ? n : 1)
		if ((n = line_end(text, length, i)) != 0)
			l->at[l->count++] = i + n;
	return true;
}

void
lines_fini(struct lines *l)
{
	free(l->at);
	memset(l, 0, sizeof *l);
}

/* UTF-16 units that begin with this byte of a character. */
static size_t
units(char byte)
{
	unsigned char b = (unsigned char)byte;

	return (b & 0xc0) == 0x80 ? 0 : b >= 0xf0 ? 2 : 1;
}

static json_t *
lines_position(const struct lines *l, size_t offset)
{
	size_t low = 0, high = l->count, i, character = 0;

	if (offset > l->length)
		offset = l->length;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (l->at[middle] <= offset)
			low = middle;
		else
			high = middle;
	}
	for (i = l->at[low]; i < offset; i++)
		character += units(l->text[i]);
	return json_pack("{s:I, s:I}", "line", (json_int_t)low, "character",
	    (json_int_t)character);
}

json_t *
lines_range(const struct lines *l, size_t begin, size_t end)
{
	return json_pack("{s:o, s:o}", "start", lines_position(l, begin),
	    "end", lines_position(l, end));
}

bool
lines_offset(const struct lines *l, const json_t *position, size_t *offset)
{
	const json_t *a = json_object_get(position, "line");
	const json_t *b = json_object_get(position, "character");
	json_int_t line = json_integer_value(a);
	json_int_t character = json_integer_value(b);
	size_t i;

	if (!json_is_integer(a) || !json_is_integer(b) || line < 0 ||
	    character < 0)
		return false;
	if (line >= (json_int_t)l->count) {
		*offset = l->length;
		return true;
	}
	for (i = l->at[line]; i < l->length &&
	    line_end(l->text, l->length, i) == 0; i++) {
		character -= (json_int_t)units(l->text[i]);
		if (character < 0)
			break;
	}
	*offset = i;
	return true;
}

json_t *
string_of(const char *bytes, size_t length)
{
	json_t *whole = json_stringn(bytes, length);
	char *copy;
	size_t i = 0;

	if (whole != NULL)
		return whole;
	copy = malloc(length + 1);
	if (copy == NULL)
		return json_string("");
	memcpy(copy, bytes, length);
	while ((i += cj_utf8_check(copy + i, length - i)) < length)
		copy[i] = '?';
	whole = json_stringn(copy, length);
	free(copy);
	return whole != NULL ? whole : json_string("");
}
