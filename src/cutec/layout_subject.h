/*
 * What `cutec layout` draws beside layouts: MMAs, copies, threads, banks.
 */
#ifndef LAYOUT_SUBJECT_H
#define LAYOUT_SUBJECT_H

#include <stdbool.h>

#include "layout/layout_draw.h"

struct subject {
	struct cj_algebra *al;
	/* The value of an expression as text; NULL: reported. */
	const char *(*evaluate)(void *user, const char *text);
	void *user;
	/* results */
	struct cj_picture pictures[2];
	uint32_t count;
	const char *message;	/* what is wrong; NULL: reported */
};

/*
 * Take `text` as a subject; *is_subject is false where it is an expression.
 * False, with a message, where it is one and wrong.
 */
bool subject_take(struct subject *s, const char *text, bool *is_subject);

#endif
