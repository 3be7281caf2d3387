/*
 * Modules from text, for the tests of ir/.
 */
#ifndef CJ_CHECK_IR_H
#define CJ_CHECK_IR_H

#include "arena_fixture.h"

#include "ir/ir.h"

static inline struct cj_module *
module_of(const char *text)
{
	struct cj_strbuf error;
	struct cj_module *m;

	cj_strbuf_init(&error, &arena);
	m = cj_module_read(&arena, text, strlen(text), &error);
	if (m == NULL)
		ck_abort_msg("%s", error.text);
	return m;
}

static inline const char *
text_of(const struct cj_module *m)
{
	struct cj_strbuf out;

	cj_strbuf_init(&out, &arena);
	cj_module_print(&out, m);
	return out.text;
}

#endif
