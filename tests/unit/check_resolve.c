/*
 * What is said of a text before its arguments are known. The messages
 * themselves are golden (check_gram.c); here is which texts are right.
 */
#include "syntax_fixture.h"

static bool
resolves(const char *text, const struct cj_words *known)
{
	return cj_resolve(parse_right(text), &fix.names, &fix.diags, known);
}

static const char *const right[] = {
	"fn f(x) { let y = x; { let z = y; } { let z = x; } return y; }",
	"fn f(x) { fn g(x) { let y = x; return y; } let y = g(x); return y; }",
	"fn f(x) => fn(x) => fn(x) => x;",
	"fn f() => g; const g = h; fn h() => f;",
	"fn f(n) { if n > 0 { return f(n - 1); } return n; }",
	"fn f() { fn g(n) { return g(n); } return g(1); }",
	"kernel k(x: tensor(T, (M, N):(_, 1)), const T: type = f32, y: "
	    "tensor(T, M * N:1)) where M % N == 0 { let a = M + N; }",
	"kernel k(x: tensor(f32, (M, *S):(*D, 1)) unit(const u) alias(y), y: "
	    "tensor(f32, S)) { let a = (M, S, D, u); }",
	"const N = 3; kernel k(x: tensor(f32, N:1)) { }",
	"kernel k(x: tensor(f32, N:1)[n]) { let m = n; }",
	"kernel k(n: int) { } kernel k(const A = 1, n: int) { }",
	"kernel f(n: int) { } fn f(n) => n;",
	"fn f(n) { for i in 0..n { break; } while true { continue; } }",
	"fn f(n) { for i in 0..n { let g = fn() { return 1; }; break; } }",
	"fn f(a, b) { (a, b) = (b, a); a[1] = 2; a.b = 3; f(a, b) *= 2; }",
	"kernel k(n: int) { for i in 0..n { launch grid(1) block(1) { for j in "
	    "0..i { break; } return; } } }",
	"kernel k(n: int) { launch grid(n) { shared s: tensor(f32, 8:1); "
	    "pipeline p(2) { a: f32; } for i in 0..n { consume p as t { "
	    "continue; } produce p as t { for j in 0..3 { break; } } } } }",
	"kernel k(n: int) { fn g() { sync(); shared s: f32; } "
	    "launch grid(1) { g(); } }",
	"kernel k(n: int) { } test \"t\" over n in {1}, m in 0..n { "
	    "launch k(n); "
	    "let f = fn() { launch k[0](m); }; }",
	"kernel k(n: int) { } bench \"b\" { time k(3) bytes(1) flops(2); }",
	"kernel k(const a = 1, n: int) { } tune k over a in {1} where a < 3;",
	"import \"x.cute\"; fn f() => what_x_declares;",
	"import \"x.cute\"; test \"t\" { launch kernel_of_x(3); }",
	"import \"x.cute\" as x; fn f() => x.y; test \"t\" { launch x.k(3); }",
	"fn f(x) { let size = x; return size; }",
	"fn f(t) { let (a, (b, _)) = t; for (c, d) in t { } return (a, b); }",
	"fn f(t) => f((_, 1), fill = _)[_, (_, 0)];",
	"const x = cute.size;",
};

START_TEST(right_texts_pass)
{
	CJ_CHECK_RECOVER(&fix.point);
	ck_assert_msg(resolves(right[_i], &words), "%s\n%s", right[_i],
	    diags_text());
	ck_assert_uint_eq(fix.diags.warnings, 0);
}
END_TEST

START_TEST(unknown_names_need_words)
{
	const struct cj_words none = { .at = NULL };

	CJ_CHECK_RECOVER(&fix.point);
	ck_assert(resolves("fn f() => qqqq;", NULL));
	ck_assert(resolves("fn f() => qqqq;", &none));
	ck_assert(!resolves("fn f() => qqqq;", &words));
	ck_assert_int_eq(fix.diags.first->code, CJ_DIAG_UNKNOWN_NAME);
}
END_TEST

/* Names are declared behind their declaration, and where it stands. */
static const char *const unknown[] = {
	"fn f() { let x = x; }", "fn f() { g(); fn g() { } }",
	"fn f() { { let x = 1; } return x; }",
	"fn f() { for i in i { } }", "fn f() { for i in 0..3 { } return i; }",
	"fn f() { fn g(x) => x; return x; }",
	"kernel k(x: tensor(f32, N:1)) { } fn f() => N;",
	"kernel k(x: tensor(f32, 3 * M:1)) { }",
	"test \"t\" over n in 0..n { }",
	"kernel k(n: int) { launch grid(m) { } }",
	"kernel k(n: int) { launch grid(1) { consume p as s { } } }",
	"test \"t\" { launch k(3); }",
};

START_TEST(names_end_with_their_scope)
{
	CJ_CHECK_RECOVER(&fix.point);
	ck_assert(!resolves(unknown[_i], &words));
	ck_assert_uint_eq(fix.diags.errors, 1);
	ck_assert_int_eq(fix.diags.first->code, CJ_DIAG_UNKNOWN_NAME);
}
END_TEST

START_TEST(kernels_are_no_functions)
{
	CJ_CHECK_RECOVER(&fix.point);
	ck_assert(!resolves("kernel k(n: int) { } fn f() => k;", &words));
	ck_assert_uint_eq(fix.diags.errors, 1);
	ck_assert_int_eq(fix.diags.first->code, CJ_DIAG_MISPLACED_STATEMENT);
}
END_TEST

/* Aliases of imports are names of the file. */
START_TEST(aliases_are_names)
{
	CJ_CHECK_RECOVER(&fix.point);
	ck_assert(!resolves("const a = 1; import \"b.cute\" as a;", &words));
	ck_assert_uint_eq(fix.diags.errors, 1);
	ck_assert_int_eq(fix.diags.first->code, CJ_DIAG_DUPLICATE_NAME);
}
END_TEST

static bool
check_right(const char *stem)
{
	const struct cj_words none = { .at = NULL };
	struct cj_tree *tree;

	if (strstr(stem, "/program_") == NULL &&
	    strstr(stem, "/language_") == NULL)
		return true;
	open_case(stem);
	tree = parse_source();
	cj_resolve(tree, &fix.names, &fix.diags, &none);
	if (fix.diags.first == NULL)
		return true;
	fprintf(stderr, "%s\n", diags_text());
	return false;
}

START_TEST(programs_are_right)
{
	CJ_CHECK_RECOVER(&fix.point);
	each_case("ast", check_right);
}
END_TEST

static Suite *
resolve_suite(void)
{
	const TTest *const tests[] = { unknown_names_need_words,
	    aliases_are_names,
	    programs_are_right };
	Suite *suite = suite_of("resolve", tests, CJ_LENGTH(tests));
	TCase *tc = tcase_create("loops");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, kernels_are_no_functions);
	tcase_add_loop_test(tc, right_texts_pass, 0, (int)CJ_LENGTH(right));
	tcase_add_loop_test(tc, names_end_with_their_scope, 0,
	    (int)CJ_LENGTH(unknown));
	suite_add_tcase(suite, tc);
	return suite;
}

CJ_CHECK_MAIN(resolve_suite)
