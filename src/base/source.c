/*
 * Source texts: copies with a map of their lines, and places in them.
 */
#include "source.h"

#include <assert.h>
#include <string.h>

void
cj_sources_init(struct cj_sources *s, struct cj_arena *a)
{
	memset(s, 0, sizeof *s);
	s->arena = a;
	memset(cj_push(a, &s->all), 0, sizeof *s->all.at);
}

void
cj_sources_copy(struct cj_sources *s, struct cj_arena *a,
    const struct cj_sources *from)
{
	uint32_t i;

	cj_sources_init(s, a);
	for (i = 1; i < from->all.len; i++)
		*cj_push(a, &s->all) = from->all.at[i];
}

/* Where the line behind the one at `at` begins; NULL: that is the last one. */
static const char *
next_line(const struct cj_source *s, const char *at)
{
	const char *end = memchr(at, '\n', (size_t)(s->text + s->length - at));

	return end == NULL ? NULL : end + 1;
}

static void
map_lines(struct cj_arena *a, struct cj_source *s)
{
	const char *at = s->text;
	uint32_t count = 1;

	while ((at = next_line(s, at)) != NULL)
		count++;
	s->lines = CJ_NEWS(a, uint32_t, count);
	s->line_count = count;
	for (at = s->text, count = 1; (at = next_line(s, at)) != NULL;)
		s->lines[count++] = (uint32_t)(at - s->text);
}

uint32_t
cj_source_add(struct cj_sources *s, const char *name, const char *text,
    size_t length)
{
	struct cj_source one = { 0 };

	if (length > CJ_SOURCE_MAX)
		return 0;
	one.name = cj_strdup(s->arena, name);
	one.text = cj_strndup(s->arena, text, length);
	one.length = (uint32_t)length;
	map_lines(s->arena, &one);
	*cj_push(s->arena, &s->all) = one;
	return s->all.len - 1;
}

const struct cj_source *
cj_source_get(const struct cj_sources *s, uint32_t i)
{
	assert(i != 0 && i < s->all.len && "a source of this list");
	return &s->all.at[i];
}

struct cj_span
cj_source_span(const struct cj_sources *s, uint32_t i)
{
	return (struct cj_span){ i, 0, cj_source_get(s, i)->length };
}

/* Index of the last line that begins at or before the offset. */
static uint32_t
line_at(const struct cj_source *s, uint32_t offset)
{
	uint32_t low = 0, high = s->line_count;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (s->lines[middle] <= offset)
			low = middle;
		else
			high = middle;
	}
	return low;
}

struct cj_position
cj_source_position(const struct cj_source *s, uint32_t offset)
{
	struct cj_position p = { 0, 1 };
	uint32_t line, i;

	if (offset > s->length)
		offset = s->length;
	line = line_at(s, offset);
	p.line = line + 1;
	for (i = s->lines[line]; i < offset; i++)
		p.column += ((unsigned char)s->text[i] & 0xc0) != 0x80;
	return p;
}

const char *
cj_source_line(const struct cj_source *s, uint32_t line, uint32_t *length)
{
	uint32_t begin, end;

	assert(line >= 1 && line <= s->line_count);
	begin = s->lines[line - 1];
	end = line < s->line_count ? s->lines[line] - 1 : s->length;
	if (end > begin && s->text[end - 1] == '\r')
		end--;
	*length = end - begin;
	return s->text + begin;
}

struct cj_span
cj_span_join(struct cj_span a, struct cj_span b)
{
	if (a.source == 0)
		return b;
	if (b.source == a.source && b.end > a.end)
		a.end = b.end;
	return a;
}

/* Bytes of a well-formed character at `s`, 0 if there is none. */
static size_t
utf8_length(const unsigned char *s, size_t left)
{
	/* First byte: its length, and the range of the second byte. */
	size_t length, i;
	unsigned low = 0x80, high = 0xbf;

	if (s[0] < 0x80)
		return 1;
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	length = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	if (s[0] == 0xe0)
		low = 0xa0;		/* shorter forms exist below */
	else if (s[0] == 0xed)
		high = 0x9f;		/* surrogates */
	else if (s[0] == 0xf0)
		low = 0x90;
	else if (s[0] == 0xf4)
		high = 0x8f;		/* beyond U+10FFFF */
	if (left < length || s[1] < low || s[1] > high)
		return 0;
	for (i = 2; i < length; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return length;
}

/* ASCII, eight bytes at a time: most texts are nothing else. */
static size_t
skip_ascii(const char *text, size_t length)
{
	uint64_t eight;
	size_t i;

	for (i = 0; i + sizeof eight <= length; i += sizeof eight) {
		memcpy(&eight, text + i, sizeof eight);
		if ((eight & UINT64_C(0x8080808080808080)) != 0)
			break;
	}
	return i;
}

size_t
cj_utf8_check(const char *text, size_t length)
{
	size_t i = 0, n;

	while (i < length) {
		n = skip_ascii(text + i, length - i);
		if (n == 0)
			n = utf8_length((const unsigned char *)text + i,
			    length - i);
		if (n == 0)
			break;
		i += n;
	}
	return i;
}
