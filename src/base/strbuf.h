/*
 * Text under construction, on an arena. Always terminated.
 */
#ifndef CJ_STRBUF_H
#define CJ_STRBUF_H

#include <stdarg.h>

#include "arena.h"

struct cj_strbuf {
	struct cj_arena *arena;
	char *text;		/* never NULL after init */
	size_t len, cap;
};

void cj_strbuf_init(struct cj_strbuf *b, struct cj_arena *a);
void cj_strbuf_putc(struct cj_strbuf *b, char c);
void cj_strbuf_puts(struct cj_strbuf *b, const char *s);
void cj_strbuf_write(struct cj_strbuf *b, const char *s, size_t len);
/* In decimal. Dumps have thousands, for which formats take long. */
void cj_strbuf_number(struct cj_strbuf *b, uint64_t n);
void cj_strbuf_printf(struct cj_strbuf *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void cj_strbuf_vprintf(struct cj_strbuf *b, const char *format, va_list ap);

#endif
