/*
 * Files of vectors, their values, and damaged ones.
 */
#include "vectors.h"

#include "layouts.h"

static const struct {
	const char *name;
	uint64_t lines;
} files[] = {
	{ "dynamic.txt", 388 },
	{ "negative.txt", 212 },
	{ "divergent.txt", 96 },
	{ "lax.txt", 83 },
	{ "swizzle_tables.txt", 15 },
};

START_TEST(vectors_agree)
{
	check_vectors(files[_i].name, files[_i].lines);
}
END_TEST

static uint64_t
failures(const char *text)
{
	struct cj_check_counts counts = { 0, 0, 0 };
	struct cj_strbuf out;
	struct cj_arena lines;

	cj_arena_init(&lines, &point, NULL);
	cj_strbuf_init(&out, &arena);
	cj_layout_check(&lines, text, strlen(text), "text", &out, &counts);
	cj_arena_fini(&lines);
	ck_assert(counts.failed == 0 || out.len > 0);
	return counts.failed;
}

START_TEST(wrong_lines_fail)
{
	ck_assert_uint_eq(failures("size\t-\t4:1\t=>\t4\t-\tcpp\n"), 0);
	ck_assert_uint_eq(failures("size\t-\t4:1\t=>\t5\t-\tcpp\n"), 1);
	ck_assert_uint_eq(failures(
	    "composition\t4:1\t2:1\t=>\t2:1\t0 2\tcpp\n"), 1);
	ck_assert_uint_eq(failures(
	    "composition\t8:1\t4:1\t=>\t(2,2):(1,2)\t-\tcpp\n"), 1);
	ck_assert_uint_eq(failures(
	    "composition\t8:1\t4:1\t=>\t4:2\t-\tcpp\n"), 1);
	ck_assert_uint_eq(failures(
	    "composition\t8:1\t4:1\t=>\terror:x\t-\tcpp\n"), 1);
	ck_assert_uint_eq(failures(
	    "composition\t(4,2):(1,9)\t4:3\t=>\t4:3\t-\tdef\n"), 1);
}
END_TEST

START_TEST(unreadable_lines_are_counted)
{
	static const char *const lines[] = { "nonsense", "size\t-",
	    "size\t-\t4:1\t=>", "there_is_no\t4:1\t=>\t4\t-\tcpp",
	    "size\t4:1\t=>\t4\t-\tcpp", "mma_atom\tX\t=>\tY",
	    "size\t-\t((((((((((((((((((((1))))))))))))))))))))\t=>\t1",
	    "size\t-\t99999999999999999999:1\t=>\t1\t-\tcpp",
	    "size\t-\t(4:1\t=>\t1\t-\tcpp", "\t\t=>\t", "=>" };
	size_t i;

	for (i = 0; i < CJ_LENGTH(lines); i++)
		ck_assert_uint_eq(failures(lines[i]), 1);
}
END_TEST

START_TEST(values_print_as_they_are_read)
{
	static const char *const texts[] = { "4", "(4)", "()",
	    "(3:2,(2,4:1),_)", "((2,4),8):((1,16),2)",
	    "Sw<3,4,3>", "1@1@0", "-7",
	    "Sw<2,3,3> o 5 o (8,2):(1,8)", "(4):(1) + 12", "LayoutLeft" };
	struct cj_datum v;
	struct cj_strbuf b;
	size_t i;

	for (i = 0; i < CJ_LENGTH(texts); i++) {
		ck_assert(cj_datum_read(&al, texts[i], strlen(texts[i]),
		    &v));
		cj_strbuf_init(&b, &arena);
		cj_datum_print(&b, &al, &v);
		ck_assert_str_eq(b.text, texts[i]);
	}
}
END_TEST

static Suite *
layout_read_suite(void)
{
	Suite *s = suite_create("layout_read");
	TCase *c = tcase_create("layout_read");

	tcase_add_checked_fixture(c, set_up, tear_down);
	tcase_add_loop_test(c, vectors_agree, 0, (int)CJ_LENGTH(files));
	tcase_add_test(c, wrong_lines_fail);
	tcase_add_test(c, unreadable_lines_are_counted);
	tcase_add_test(c, values_print_as_they_are_read);
	suite_add_tcase(s, c);
	return s;
}

CJ_CHECK_MAIN(layout_read_suite)
