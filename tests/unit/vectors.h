/*
 * Running files of tests/vectors/ in a unit test.
 */
#ifndef CJ_VECTORS_H
#define CJ_VECTORS_H

#include "check_main.h"

#include "base/base.h"
#include "layout/layout.h"

/* The bytes of a file of the source tree, on the arena. */
static inline char *
read_source_file(struct cj_arena *a, const char *name, size_t *length)
{
	char *path = cj_printf(a, "%s/%s", CJ_SRCDIR, name), *text;
	FILE *f = fopen(path, "rb");
	long n;

	ck_assert_msg(f != NULL, "cannot open %s", path);
	fseek(f, 0, SEEK_END);
	n = ftell(f);
	rewind(f);
	ck_assert_msg(n > 0, "%s is empty", path);
	text = cj_alloc(a, (size_t)n + 1);
	ck_assert_uint_eq(fread(text, 1, (size_t)n, f), (size_t)n);
	fclose(f);
	*length = (size_t)n;
	return text;
}

/* All lines of tests/vectors/NAME agree, at least `least` of them. */
static inline void
check_vectors(const char *name, uint64_t least)
{
	struct cj_recover r = { .why = CJ_WHY_NONE };
	struct cj_check_counts counts = { 0, 0, 0 };
	struct cj_arena a, text_arena;
	struct cj_strbuf out;
	size_t length;
	char *text;

	cj_arena_init(&a, &r, NULL);
	cj_arena_init(&text_arena, &r, NULL);
	CJ_CHECK_RECOVER(&r);
	cj_strbuf_init(&out, &text_arena);
	text = read_source_file(&text_arena, cj_printf(&text_arena,
	    "tests/vectors/%s", name), &length);
	ck_assert(cj_layout_check(&a, text, length, name, &out, &counts));
	ck_assert_msg(counts.failed == 0, "%llu of %s failed:\n%.2000s",
	    (unsigned long long)counts.failed, name, out.text);
	ck_assert_msg(counts.passed >= least, "%s has only %llu lines", name,
	    (unsigned long long)counts.passed);
	cj_arena_fini(&a);
	cj_arena_fini(&text_arena);
}

#endif
