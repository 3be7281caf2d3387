/*
 * Numbers as text: the shortest that reads back.
 */
#include "arena_fixture.h"
#include "check_num.h"

static const struct written {
	enum cj_kind k;
	uint64_t bits;
	const char *text;
} writtens[] = {
	{ CJ_KIND_F32, 0x3dcccccd, "0.1" }, { CJ_KIND_F32, 0, "0" },
	{ CJ_KIND_F32, 0x80000000, "-0" }, { CJ_KIND_F32, 0x3f800000, "1" },
	{ CJ_KIND_F32, 0x4b800001, "16777218" },
	{ CJ_KIND_F32, 1, "1e-45" }, { CJ_KIND_F32, 0x7f7fffff,
	    "3.4028235e38" }, { CJ_KIND_F32, 0xff800000, "-inf" },
	{ CJ_KIND_F32, 0x7fffffff, "nan" }, { CJ_KIND_F32, 0x40490fdb,
	    "3.1415927" }, { CJ_KIND_F32, 0x38d1b717, "0.0001" },
	{ CJ_KIND_F16, 0x2e66, "0.1" }, { CJ_KIND_F16, 0x7bff, "65500" },
	{ CJ_KIND_BF16, 0x3dcd, "0.1" }, { CJ_KIND_F8E4M3, 0x7e, "448" },
	{ CJ_KIND_F8E4M3, 0x2a, "0.3125" }, { CJ_KIND_F8E4M3, 1,
	    "0.001953125" }, { CJ_KIND_F8E5M2, 0x7b, "57344" },
	{ CJ_KIND_F6E3M2, 0x1f, "28" }, { CJ_KIND_F8UE8M0, 0,
	    "5.877472e-39" },
	{ CJ_KIND_F64, 0x3fb999999999999a, "0.1" },
	{ CJ_KIND_F64, 0x3ff0000000000001, "1.0000000000000002" },
	{ CJ_KIND_F64, 0x44b52d02c7e14af6, "1e23" },
	{ CJ_KIND_I8, (uint64_t)-128, "-128" }, { CJ_KIND_BOOL, 1, "true" },
	{ CJ_KIND_U64, UINT64_MAX, "18446744073709551615" },
	{ CJ_KIND_INDEX, (uint64_t)INT64_MIN, "-9223372036854775808" },
};

START_TEST(text_of_numbers)
{
	const struct written *w = &writtens[_i];
	struct cj_strbuf out;
	uint64_t bits = 0;

	CJ_CHECK_RECOVER(&point);
	cj_strbuf_init(&out, &arena);
	cj_num_print(&out, w->k, w->bits);
	ck_assert_str_eq(out.text, w->text);
	ck_assert(cj_num_read(w->k, out.text, out.len, &bits));
	SAME(bits, w->bits);
}
END_TEST

START_TEST(text_reads_back)
{
	static const enum cj_kind kinds[] = { CJ_KIND_F32, CJ_KIND_F64,
	    CJ_KIND_F16, CJ_KIND_BF16, CJ_KIND_F8E5M2, CJ_KIND_F8UE8M0 };
	enum cj_kind k = kinds[_i];
	struct cj_mark mark;
	int i;

	CJ_CHECK_RECOVER(&point);
	mark = cj_arena_mark(&arena);
	for (i = 0; i < 20000; i++) {
		uint64_t bits = random_word() >> (64 - cj_kind_bits(k));
		uint64_t back = 0;
		struct cj_strbuf out;

		if (isnan(cj_num_to_f64(k, bits)))
			continue;
		cj_strbuf_init(&out, &arena);
		cj_num_print(&out, k, bits);
		ck_assert(cj_num_read(k, out.text, out.len, &back));
		SAME(back, bits);
		cj_arena_release(&arena, mark);
	}
}
END_TEST

START_TEST(text_that_is_none)
{
	static const struct {
		enum cj_kind k;
		const char *text;
	} bad[] = { { CJ_KIND_I8, "128" }, { CJ_KIND_I8, "-129" },
	    { CJ_KIND_U8, "-1" }, { CJ_KIND_U8, "256" }, { CJ_KIND_I32, "" },
	    { CJ_KIND_I32, "1x" }, { CJ_KIND_I32, "-" },
	    { CJ_KIND_U64, "18446744073709551616" }, { CJ_KIND_F32, "e5" },
	    { CJ_KIND_F32, "1e" }, { CJ_KIND_F32, "1.2.3" },
	    { CJ_KIND_F32, "0x100000000" }, { CJ_KIND_BOOL, "1" },
	    { CJ_KIND_F16, "0x10000" } };
	uint64_t bits;
	unsigned i;

	for (i = 0; i < CJ_LENGTH(bad); i++)
		ck_assert_msg(!cj_num_read(bad[i].k, bad[i].text,
		    strlen(bad[i].text), &bits), "%s", bad[i].text);
}
END_TEST

static Suite *
num_text_suite(void)
{
	Suite *s = suite_create("num_text");
	TCase *t = tcase_create("num_text");

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_loop_test(t, text_of_numbers, 0,
	    (int)CJ_LENGTH(writtens));
	tcase_add_loop_test(t, text_reads_back, 0, 6);
	tcase_add_test(t, text_that_is_none);
	suite_add_tcase(s, t);
	return s;
}

CJ_CHECK_MAIN(num_text_suite)
