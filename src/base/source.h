/*
 * Source texts and places in them.
 *
 * A span is a range of bytes of one text. Line and column exist only when a
 * message is printed. Lines and columns count from 1; a column counts UTF-8
 * characters.
 */
#ifndef CJ_SOURCE_H
#define CJ_SOURCE_H

#include "vec.h"

struct cj_span {
	uint32_t source;	/* index into cj_sources; 0 is no place */
	uint32_t begin, end;	/* byte offsets, half open */
};

struct cj_source {
	const char *name;	/* as messages show it */
	const char *text;	/* terminated; may hold NUL before the end */
	uint32_t length;
	uint32_t *lines;	/* offset of each line's first byte */
	uint32_t line_count;
};

struct cj_sources {
	struct cj_arena *arena;
	CJ_VEC(struct cj_source) all;	/* [0] is unused */
};

struct cj_position {
	uint32_t line, column;	/* from 1 */
};

/* Largest text: offsets are 32 bits and a little room is kept. */
#define CJ_SOURCE_MAX	(256u << 20)

void cj_sources_init(struct cj_sources *s, struct cj_arena *a);

/* The texts of `from`, which must outlive the copy, with their numbers. */
void cj_sources_copy(struct cj_sources *s, struct cj_arena *a,
    const struct cj_sources *from);

/* Add a text (copied); returns its index, 0 if it is longer than allowed. */
uint32_t cj_source_add(struct cj_sources *s, const char *name,
    const char *text, size_t length);

const struct cj_source *cj_source_get(const struct cj_sources *s, uint32_t i);
struct cj_span cj_source_span(const struct cj_sources *s, uint32_t i);
struct cj_position cj_source_position(const struct cj_source *s,
    uint32_t offset);

/* The bytes of line `line` (from 1), without its end. */
const char *cj_source_line(const struct cj_source *s, uint32_t line,
    uint32_t *length);

/* From the start of `a` to the end of `b`. */
struct cj_span cj_span_join(struct cj_span a, struct cj_span b);

/* Offset of the first byte that is not valid UTF-8, or `length`. */
size_t cj_utf8_check(const char *text, size_t length);

#endif
