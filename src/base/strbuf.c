/*
 * Text under construction, on an arena.
 */
#include "strbuf.h"

#include <stdio.h>
#include <string.h>

static void
reserve(struct cj_strbuf *b, size_t more)
{
	size_t cap = b->cap;

	if (b->len + more + 1 <= cap)
		return;
	while (cap < b->len + more + 1)
		cap *= 2;
	b->text = cj_regrow(b->arena, b->text, b->cap, cap);
	b->cap = cap;
}

void
cj_strbuf_init(struct cj_strbuf *b, struct cj_arena *a)
{
	b->arena = a;
	b->cap = 64;
	b->len = 0;
	b->text = cj_alloc(a, b->cap);
}

void
cj_strbuf_write(struct cj_strbuf *b, const char *s, size_t len)
{
	reserve(b, len);
	if (len != 0)
		memcpy(b->text + b->len, s, len);
	b->len += len;
	b->text[b->len] = '\0';
}

void
cj_strbuf_putc(struct cj_strbuf *b, char c)
{
	cj_strbuf_write(b, &c, 1);
}

void
cj_strbuf_puts(struct cj_strbuf *b, const char *s)
{
	cj_strbuf_write(b, s, strlen(s));
}

void
cj_strbuf_number(struct cj_strbuf *b, uint64_t n)
{
	char digits[20];	/* of any number */
	size_t first = sizeof digits;

	do {
		digits[--first] = (char)('0' + n % 10);
		n /= 10;
	} while (n != 0);
	cj_strbuf_write(b, digits + first, sizeof digits - first);
}

void
cj_strbuf_vprintf(struct cj_strbuf *b, const char *format, va_list ap)
{
	va_list again;
	size_t room = b->cap - b->len;	/* mostly enough */
	int n;

	va_copy(again, ap);
	n = vsnprintf(b->text + b->len, room, format, ap);
	if (n > 0) {
		reserve(b, (size_t)n);
		if ((size_t)n >= room)
			vsnprintf(b->text + b->len, (size_t)n + 1, format,
			    again);
		b->len += (size_t)n;
	}
	va_end(again);
}

void
cj_strbuf_printf(struct cj_strbuf *b, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	cj_strbuf_vprintf(b, format, ap);
	va_end(ap);
}
