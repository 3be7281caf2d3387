/*
 * What the two halves of the formatter share: tokens and comments as items,
 * and what is known of each beyond its kind.
 */
#ifndef CJ_FORMAT_PRIV_H
#define CJ_FORMAT_PRIV_H

#include "parser.h"

enum cj_format_kind {
	CJ_FORMAT_TOKEN,
	CJ_FORMAT_LINE_COMMENT,
	CJ_FORMAT_COMMENT
};

/* A token or a comment of the text. */
struct cj_format_item {
	enum cj_format_kind kind;
	enum cj_token_kind token;	/* END for comments */
	const char *text;
	uint32_t length;
	uint32_t lines_before;		/* ends of lines in front of it */
	bool has_space;			/* blanks in front of it */
	bool is_type_colon;		/* name: type, not shape:stride */
	bool is_prefix;			/* - ! ~ * of one operand, .choice */
	bool is_set;			/* { and } of a set */
};

struct cj_format_items {
	struct cj_format_item *at;
	uint32_t len, cap;
};

/* Read the items of a text whose tree is not broken. END is the last one. */
void cj_format_read(struct cj_arena *a, struct cj_names *names,
    const struct cj_sources *sources, const struct cj_tree *tree,
    struct cj_format_items *items);

/* Blanks between two items on one line: 0 or 1. */
bool cj_format_is_apart(const struct cj_format_item *left,
    const struct cj_format_item *right);

#endif
