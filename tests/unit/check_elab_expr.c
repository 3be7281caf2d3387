/*
 * Known expressions: numbers, types, tuples, layouts, functions.
 */
#include "elab_fixture.h"

static const char text[] =
    "const base = 3;\n"
    "const (p, q) = (base + 1, base * 2);\n"
    "fn fact(const n) {\n"
    "    const if n <= 1 { return 1; } return n * fact(n - 1); }\n"
    "fn sum_to(n) { var s = 0; for i in 0..n { s += i; } return s; }\n"
    "fn collatz(n) { var k = n; var c = 0; while k != 1 {\n"
    "    if k % 2 == 0 { k /= 2; } else { k = 3 * k + 1; } c += 1; }\n"
    "    return c; }\n"
    "fn first(t) { for x in t { if x > 2 { return x; } } return 0; }\n"
    "fn swap(var a, var b) { (a, b) = (b, a); }\n"
    "fn swapped() { var x = 1; var y = 2; swap(x, y); return (x, y); }\n"
    "fn outer(n) { fn inner(x) => x + n; return inner(inner(0)); }\n";

static const struct {
	const char *text, *value;
} cases[] = {
	/* integers round down */
	{ "7 / 2", "3" }, { "-7 / 2", "-4" }, { "7 / -2", "-4" },
	{ "-7 % 2", "1" }, { "7 % -2", "-1" }, { "5 / 0", "0" },
	{ "5 % 0", "5" }, { "1 << 10", "1024" }, { "-8 >> 1", "-4" },
	{ "0xff & 0x0f | 0x30", "63" }, { "~5", "-6" }, { "2 + 3 * 4", "14" },
	{ "min(3, 1, 2)", "1" }, { "max(3, 1, 2)", "3" },
	{ "ceil_div(7, 2)", "4" }, { "round_up(7, 4)", "8" },
	{ "ceil_div((7, 9), (2, 4))", "(4, 3)" }, { "abs(-3)", "3" },
	/* sized integers wrap, literals adapt */
	{ "u8(255) + 1", "0" }, { "i8(127) + 1", "-128" },
	{ "u8(300)", "44" }, { "i32(3.9)", "3" }, { "i32(-3.9)", "-3" },
	{ "u8(-1.0)", "0" }, { "i8(1000.0)", "127" }, { "u32(1) << 31",
	    "2147483648" }, { "u32(1) << 32", "0" }, { "i32(-1) >> 40", "-1" },
	{ "mul_hi(u32(0x80000000), 4)", "2" }, { "popc(u32(255))", "8" },
	{ "clz(u32(1))", "31" }, { "ctz(u32(8))", "3" },
	{ "bitcast(u32, f32(1))", "1065353216" },
	{ "bitcast(f32, 0x40000000)", "2" }, { "bitcast(i8, u8(255))", "-1" },
	/* reals are computed in f64, rounded where they meet a type */
	{ "1.0 / 4", "0.25" }, { "f16(0.1)", "0.1" },
	{ "f32(f16(0.1)) == f32(0.1)", "false" },
	{ "f32(1) / 3 == f32(1.0 / 3)", "true" }, { "sqrt(2.0) > 1.41421356",
	    "true" }, { "sqrt(f32(2)) < 1.41422", "true" },
	{ "f32(2) * 3 + 4", "10" }, { "-inf < 0.0", "true" },
	{ "nan == nan", "false" }, { "where(1 < 2, 3, 4)", "3" },
	/* comparisons and logic */
	{ "1 < 2 && 2 < 3", "true" }, { "1 == 2 || !(2 == 2)", "false" },
	{ "false && 1 / 0 == 1", "false" }, { "2 in {1, 2, 3}", "true" },
	{ "f16 in {f32, bf16}", "false" }, { "(1, 2) == (1, 2)", "true" },
	{ "f32 == f32", "true" }, { "f32 != f16", "true" },
	{ "if 1 < 2 { 3 } else { 4 }", "3" },
	/* names and functions */
	{ "p + q", "10" }, { "fact(6)", "720" }, { "sum_to(101)", "5050" },
	{ "collatz(27)", "111" }, { "first((1, 2, 3, 4))", "3" },
	{ "swapped()", "(2, 1)" }, { "outer(5)", "10" },
	{ "(fn(x) => x * x)(7)", "49" }, { "transform((1, 2), fn(x) => x + 1)",
	    "(2, 3)" }, { "transform((1, 2), (3, 4), fn(a, b) => a * b)",
	    "(3, 8)" }, { "(1, *(2, 3), 4)", "(1, 2, 3, 4)" },
	{ "(a = 1, b = 2).b", "2" }, { "(a = 1, b = (c = 2,)).b",
	    "(c = 2)" }, { "((1, 2), 3)[0][1]", "2" }, { "((1, 2), 3)[0, 1]",
	    "2" }, { "()", "()" }, { "(1,)", "(1,)" }, { "bits(bf16)", "16" },
	{ "bits(bool)", "1" }, { "element(u8(1))", "u8" },
	{ "is_float(f16)", "true" }, { "is_signed(u32)", "false" },
	{ "cute.max(1, 2)", "2" },
	/* layouts */
	{ "(4, 8):(1, 4)", "(4, 8):(1, 4)" }, { "row_major(4, 8)",
	    "(4, 8):(8, 1)" }, { "size(((2, 4), 8):((1, 16), 2))", "64" },
	{ "((2, 4), 8):((1, 16), 2)", "((2, 4), 8):((1, 16), 2)" },
	{ "size((4, 8), 1)", "8" }, { "cosize((4, 8):(8, 1))", "32" },
	{ "rank((1, 2, 3))", "3" }, { "row_major(4, 8)(1, 2)", "10" },
	{ "row_major(4, 8)(5)", "9" }, { "row_major(4, 8)[1]", "8:1" },
	{ "shape(row_major(4, 8))", "(4, 8)" }, { "stride(row_major(4, 8), 0)",
	    "8" }, { "coalesce((4, 8):(1, 4))", "32:1" },
	{ "composition(24:2, 6:3)", "6:6" },
	{ "zipped_divide(row_major(8, 8), (4, 2))",
	    "((4, 2), (2, 4)):((8, 1), (32, 2))" },
	{ "complement(4:1, 24)", "6:4" }, { "transpose(row_major(2, 3))",
	    "(3, 2):(1, 3)" }, { "idx2crd(5, (4, 8))", "(1, 1)" },
	{ "crd2idx((1, 1), (4, 8))", "5" }, { "8:1 == 8:1", "true" },
	{ "identity((4, 8))(6)", "(2, 1)" }, { "(4:basis(1))(3)", "(0, 3)" },
	{ "thread_value(4, 32, 2)", "(4, (2, 4)):(2, (1, 8))" },
	/* refused */
	{ "u8(3) + 256", NULL }, { "f32(1) + f16(1)", NULL },
	{ "(1, 2)[2]", NULL }, { "thread_idx.x", NULL }, { "unknown", NULL },
	{ "1 + (2, 3)", NULL }, { "max()", NULL }, { "base(1)", NULL },
};

START_TEST(known_expressions)
{
	const char *got;

	load(text);
	got = cj_elab_expression(&arena, unit, cases[_i].text, &diags);
	if (cases[_i].value == NULL) {
		ck_assert_msg(got == NULL, "%s gave %s", cases[_i].text, got);
		ck_assert_uint_ne(diags.errors, 0);
		return;
	}
	ck_assert_msg(got != NULL, "%s: %s", cases[_i].text, messages());
	ck_assert_msg(strcmp(got, cases[_i].value) == 0, "%s gave %s, not %s",
	    cases[_i].text, got, cases[_i].value);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("elab_expr");
	TCase *c = tcase_create("elab_expr");

	tcase_add_checked_fixture(c, set_up, tear_down);
	tcase_add_loop_test(c, known_expressions, 0,
	    (int)CJ_LENGTH(cases));
	suite_add_tcase(s, c);
	return s;
}

CJ_CHECK_MAIN(suite)
