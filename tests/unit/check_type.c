/*
 * Types: the rows of type.def and the packing of kind and count.
 */
#include "check_main.h"

#include "ir/type.h"

START_TEST(rows)
{
	static const struct {
		enum cj_kind k;
		const char *text;
		unsigned bits;
		bool is_integer, is_float, is_signed;
	} t[] = {
		{ CJ_KIND_BOOL, "bool", 1, false, false, false },
		{ CJ_KIND_INDEX, "int", 64, true, false, true },
		{ CJ_KIND_I4, "i4", 4, true, false, true },
		{ CJ_KIND_U64, "u64", 64, true, false, false },
		{ CJ_KIND_F8E4M3, "f8e4m3", 8, false, true, false },
		{ CJ_KIND_TF32, "tf32", 32, false, true, false },
		{ CJ_KIND_PTR, "ptr", 64, false, false, false },
		{ CJ_KIND_MAP, "tensormap", 1024, false, false, false },
	};
	unsigned i;

	for (i = 0; i < CJ_LENGTH(t); i++) {
		ck_assert_str_eq(cj_kind_text(t[i].k), t[i].text);
		ck_assert_uint_eq(cj_kind_bits(t[i].k), t[i].bits);
		ck_assert(cj_kind_is_integer(t[i].k) == t[i].is_integer);
		ck_assert(cj_kind_is_float(t[i].k) == t[i].is_float);
		ck_assert(cj_kind_is_signed(t[i].k) == t[i].is_signed);
	}
}
END_TEST

START_TEST(every_kind_is_found)
{
	unsigned k;

	for (k = CJ_KIND_VOID + 1; k < CJ_KIND_COUNT; k++)
		ck_assert_uint_eq(cj_kind_find(cj_kind_text(
		    (enum cj_kind)k)), k);
	ck_assert_uint_eq(cj_kind_find("f33"), CJ_KIND_VOID);
	ck_assert_uint_eq(cj_kind_find(""), CJ_KIND_VOID);
}
END_TEST

START_TEST(packing)
{
	cj_type t = cj_type_of(CJ_KIND_F16, CJ_MAX_REGISTERS);

	ck_assert_uint_eq(cj_type_kind(t), CJ_KIND_F16);
	ck_assert_uint_eq(cj_type_count(t), CJ_MAX_REGISTERS);
	ck_assert_uint_eq(cj_type_count(0), 0);
	ck_assert_uint_eq(cj_type_kind(0), CJ_KIND_VOID);
	ck_assert_uint_eq(cj_kind_bytes(CJ_KIND_BOOL), 1);
	ck_assert_uint_eq(cj_kind_bytes(CJ_KIND_F64), 8);
}
END_TEST

static Suite *
type_suite(void)
{
	Suite *s = suite_create("type");
	TCase *t = tcase_create("type");

	tcase_add_test(t, rows);
	tcase_add_test(t, every_kind_is_found);
	tcase_add_test(t, packing);
	suite_add_tcase(s, t);
	return s;
}

CJ_CHECK_MAIN(type_suite)
