/*
 * The formatter: what it writes, and that it keeps every token and comment.
 */
#include "syntax_fixture.h"

static const char *
format(const struct cj_tree *tree)
{
	struct cj_strbuf out;

	ck_assert_msg(!tree->is_broken, "%s", diags_text());
	cj_strbuf_init(&out, &fix.arena);
	cj_format(&out, &fix.names, &fix.sources, tree);
	return out.text;
}

static const struct { const char *from, *to; } cases[] = {
	{ "", "" },
	{ "\n\n// a\n\n\n// b\n\n", "// a\n\n// b\n" },
	{ "const   a=1 ;const b =2;", "const a = 1; const b = 2;\n" },
	{ "fn f( x,y )=>x+y*2-( -x );", "fn f(x, y) => x + y * 2 - (-x);\n" },
	{ "fn f(x)->f32{return x;}", "fn f(x) -> f32 { return x; }\n" },
	{ "fn f(){}", "fn f() { }\n" },
	{ "const a = 8 : 1 ;", "const a = 8:1;\n" },
	{ "const a:int = b : c;", "const a: int = b:c;\n" },
	{ "fn f(x :tensor( f32,N : 1 )align( 16 )=none) { }",
	    "fn f(x: tensor(f32, N:1) align(16) = none) { }\n" },
	{ "const a = f ( x ) [ 1 , 2 ] . b ;", "const a = f(x)[1, 2].b;\n" },
	{ "const a = ( x , ) ;", "const a = (x,);\n" },
	{ "const a = 0 .. n+1;", "const a = 0..n + 1;\n" },
	{ "const a = f(*t, - 1, ! b, ~ c, x=1, _);",
	    "const a = f(*t, -1, !b, ~c, x = 1, _);\n" },
	{ "const a = f(. gpu, scope=.block);",
	    "const a = f(.gpu, scope = .block);\n" },
	{ "const a = T in{ f16,bf16 };", "const a = T in {f16, bf16};\n" },
	{ "const a = if x{1}else{2};", "const a = if x { 1 } else { 2 };\n" },
	{ "const a = fn (x)=>fn( y )=>x;", "const a = fn(x) => fn(y) => x;\n" },
	{ "fn f() { let(a,b)=c; for(a,b)in t{ } return(a); }",
	    "fn f() { let (a, b) = c; for (a, b) in t { } return (a); }\n" },
	{ "fn f() { where(a); a = where (b); }",
	    "fn f() { where(a); a = where (b); }\n" },
	{ "kernel k(n:int)\n    where n>1\n  target sm_80\n  {\n}",
	    "kernel k(n: int)\nwhere n > 1\ntarget sm_80\n{\n}\n" },
	{ "fn f()\n{\na;\n\n\n\nb;\n\n}\n",
	    "fn f()\n{\n    a;\n\n    b;\n}\n" },
	{ "fn f()\n{\n\n   if a {\nb();\n}\nelse {\nc();\n}\n}\n",
	    "fn f()\n{\n    if a {\n        b();\n    }\n    else {\n"
	    "        c();\n    }\n}\n" },
	{ "fn f() {\na(b,\nc);\na(\nb\n);\nx = a\n+ b;\n}\n",
	    "fn f() {\n    a(b,\n      c);\n    a(\n        b\n    );\n"
	    "    x = a\n        + b;\n}\n" },
	{ "fn f() {\na(b, fn() {\nc();\n});\nd();\n}\n",
	    "fn f() {\n    a(b, fn() {\n        c();\n    });\n    d();\n}\n" },
	{ "test \"t\" over a in {1,\n2}, b in {3},\nc in {4} {\na();\n}\n",
	    "test \"t\" over a in {1,\n                    2}, b in {3},\n"
	    "    c in {4} {\n    a();\n}\n" },
	{ "fn f() { // one\n    a; //two\n    abc;   // three\n\n"
	    "    b; // x\n}\n",
	    "fn f() {  // one\n    a;    //two\n    abc;  // three\n\n"
	    "    b;  // x\n}\n" },
	{ "/* a */const b=/* c */1/* d */;/* e\n  f */\n",
	    "/* a */ const b = /* c */ 1 /* d */; /* e\n  f */\n" },
	{ "fn f() {\n// a\na;\n   // b\n}\n// c",
	    "fn f() {\n    // a\n    a;\n    // b\n}\n// c\n" },
	{ "extern  cuda{ int f ( ) ;\n }\nconst a=1;",
	    "extern cuda { int f ( ) ;\n }\nconst a = 1;\n" },
	{ "\xef\xbb\xbf" "const a=1;\r\n// b\r\n", "const a = 1;\n// b\n" },
	{ "const a = b ? c;", NULL },
};

START_TEST(texts_are_laid_out)
{
	struct cj_tree *tree;

	CJ_CHECK_RECOVER(&fix.point);
	tree = parse(cases[_i].from);
	if (cases[_i].to == NULL)
		ck_assert(tree->is_broken);
	else
		ck_assert_str_eq(format(tree), cases[_i].to);
}
END_TEST

/* The tokens and comments of a text without the blanks between them. */
static const char *
without_blanks(const char *text)
{
	struct cj_strbuf b;

	cj_strbuf_init(&b, &fix.arena);
	for (; *text != '\0'; text++)
		if (strchr(" \t\r\n", *text) == NULL)
			cj_strbuf_putc(&b, *text);
	return b.text;
}

static bool
check_stable(const char *stem)
{
	const char *once, *twice, *tree, *text;

	open_case(stem);
	text = cj_source_get(&fix.sources, fix.source)->text;
	if (strncmp(text, "\xef\xbb\xbf", 3) == 0)
		text += 3;
	tree = tree_text(parse_source());
	once = format(parse_source());
	ck_assert_str_eq(without_blanks(text), without_blanks(once));
	ck_assert_str_eq(tree, tree_text(parse(once)));
	twice = format(parse(once));
	ck_assert_str_eq(once, twice);
	return true;
}

START_TEST(nothing_is_lost_and_twice_is_once)
{
	CJ_CHECK_RECOVER(&fix.point);
	each_case("ast", check_stable);
}
END_TEST

static Suite *
format_suite(void)
{
	const TTest *const tests[] = { nothing_is_lost_and_twice_is_once };
	Suite *suite = suite_of("format", tests, CJ_LENGTH(tests));
	TCase *tc = tcase_create("loops");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_loop_test(tc, texts_are_laid_out, 0,
	    (int)CJ_LENGTH(cases));
	suite_add_tcase(suite, tc);
	return suite;
}

CJ_CHECK_MAIN(format_suite)
