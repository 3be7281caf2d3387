/*
 * A fixture for tests of layouts: an algebra, and values from their text.
 */
#ifndef CJ_LAYOUTS_H
#define CJ_LAYOUTS_H

#include "check_main.h"

#include "base/base.h"
#include "layout/layout_check.h"

static struct cj_recover point;
static struct cj_arena arena;
static struct cj_names names;
static struct cj_symtab sym;
static struct cj_algebra al;

static inline void
set_up(void)
{
	cj_arena_init(&arena, &point, NULL);
	CJ_CHECK_RECOVER(&point);
	cj_names_init(&names, &arena);
	cj_symtab_init(&sym, &arena, &names);
	cj_algebra_init(&al, &arena, &sym);
}

static inline void
tear_down(void)
{
	cj_names_fini(&names);
	cj_arena_fini(&arena);
}

/* The layout that the text says, as CuTe prints it. */
static inline const struct cj_layout *
L(const char *text)
{
	struct cj_datum v;

	ck_assert_msg(cj_datum_read(&al, text, strlen(text), &v)
	    && v.kind == CJ_DATUM_LAYOUT, "\"%s\" is no layout", text);
	return v.layout;
}

static inline const struct cj_tuple *
T(const char *text)
{
	struct cj_datum v;

	ck_assert_msg(cj_datum_read(&al, text, strlen(text), &v)
	    && v.kind == CJ_DATUM_TUPLE, "\"%s\" is no tuple", text);
	return v.tuple;
}

static inline struct cj_int
extent(const char *name, int64_t divisor)
{
	return cj_symbol(&sym, cj_intern_str(&names, name), sym.terms.len,
	    divisor, INT64_MAX, divisor);
}

static inline const struct cj_tuple *
pair(const struct cj_tuple *a, const struct cj_tuple *b)
{
	const struct cj_tuple *both[2] = { a, b };

	return cj_tuple_make(&al, both, 2);
}

static inline const struct cj_tuple *
ints(struct cj_int a, struct cj_int b)
{
	return pair(cj_tuple_int(&al, a), cj_tuple_int(&al, b));
}

static inline const char *
text_of(const struct cj_layout *l)
{
	struct cj_strbuf b;

	if (l == NULL)
		return al.why.text;
	cj_strbuf_init(&b, &arena);
	cj_layout_print(&b, &sym, l, CJ_STYLE_LANGUAGE);
	return b.text;
}

static inline const char *
tuple_text(const struct cj_tuple *t)
{
	struct cj_strbuf b;

	if (t == NULL)
		return al.why.text;
	cj_strbuf_init(&b, &arena);
	cj_tuple_print(&b, &sym, t, CJ_STYLE_LANGUAGE);
	return b.text;
}

#define PRINTS(layout, expected)					\
	ck_assert_str_eq(text_of(layout), (expected))
#define REFUSES(result, refusal)					\
	do {								\
		ck_assert((result) == NULL);				\
		ck_assert_int_eq(al.why.kind, (refusal));		\
		ck_assert(al.why.text != NULL);				\
	} while (0)

#endif
