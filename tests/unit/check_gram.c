/*
 * The grammar: what parses, as what, and what is said of the rest.
 *
 * Golden files hold the trees of whole programs and the messages for slips;
 * here are the laws that hold for all of them, and the limits.
 */
#include "syntax_fixture.h"

static bool
check_ast(const char *stem)
{
	const char *found;

	open_case(stem);
	found = tree_text(parse_source());
	if (fix.diags.errors != 0) {
		fprintf(stderr, "%s\n", diags_text());
		return false;
	}
	return is_golden(cj_printf(&fix.arena, "%s.ast", stem), found,
	    strlen(found));
}

START_TEST(trees_are_golden)
{
	CJ_CHECK_RECOVER(&fix.point);
	each_case("ast", check_ast);
}
END_TEST

static bool
check_messages(const char *stem)
{
	struct cj_tree *tree;
	const char *found;

	open_case(stem);
	tree = parse_source();
	if (!tree->is_broken)
		cj_resolve(tree, &fix.names, &fix.diags, &words);
	found = diags_text();
	if (fix.diags.errors == 0) {
		fprintf(stderr, "%s: nothing is wrong\n", stem);
		return false;
	}
	(void)tree_text(tree);
	return is_golden(cj_printf(&fix.arena, "%s.err", stem), found,
	    strlen(found));
}

START_TEST(messages_are_golden)
{
	CJ_CHECK_RECOVER(&fix.point);
	each_case("syntax", check_messages);
}
END_TEST

/* ---- one message for one mistake ----------------------------------------- */

/* Statements with one mistake each, to stand among right ones. */
static const char *const mistakes[] = {
	"let a = ;", "let = 1;", "a b;", "a + b;", "f(a;", "f(a b);",
	"f(a, , b);", "x = (1, 2;", "x = [1];", "x = a[1);", "x = 1 2;",
	"if { }", "if a { } else;", "if a b { x = 1; }", "for in 0..3 { }",
	"for i 0..3 { x = 1; }", "for i in { x = 1; }", "while { }",
	"let x = if a { 1 };", "let x = 1 + if a { 1 } else { 2 };",
	"return return;", "break 1;", "let a: = 1;", "var v;", "let w: f32;",
	"a < b < c;", "x = a < b < c;", "x = a:b:c;", "x = 0..1..2;",
	"for i in 0..=n { x = 1; }", "i++;", "int i = 0;", "x = a ? b : c;",
	"f('a');", "x = .5;", "x = t.1;", "x = 5.;", "x = 3u;", "x = \303\244;",
	"x = a and b;", "if a = b { x = 1; }", "{ x = 1; };", "x = \"open;",
	"for (i = 0; i < n; i++) { x = 1; }", "x = fn => 1;",
	"x = fn(a b) => 1;",
	"produce a { }", "consume a as { }", "role r: warps(1) { }",
	"role { x = 1; }", "turn a 1 { }", "order o;",
	"shared s tensor;", "shared s: tensor(f32, 1) align 16;",
	"pipeline p(1) { a: f32, }", "pipeline p { a: f32; }", "const = 3;",
	"const if { }", "const for i { }", "else { x = 1; }", "let in = 3;",
	"let (a, = 1;", "x = (a = );", "x = *a;", "x = {1};", "x = a in b;",
	"x = #;", "x = a $ b;", "x == 1;", "x => 1;", "x = 0x;", "x;;",
};

START_TEST(one_mistake_one_message)
{
	static char text[1024];
	struct cj_tree *tree;
	const char *found;

	CJ_CHECK_RECOVER(&fix.point);
	snprintf(text, sizeof text, "fn one()\n{\n    first();\n    if a {\n"
	    "        %s\n        last();\n    }\n    after();\n}\n"
	    "fn two() => 2;\n", mistakes[_i]);
	tree = parse(text);
	found = tree_text(tree);
	if (fix.diags.errors != 1)
		ck_abort_msg("%s\n%s", mistakes[_i], diags_text());
	ck_assert(tree->is_broken);
	ck_assert_uint_eq(tree->decls.count, 2);
	ck_assert_msg(strstr(found, "(call first)") != NULL &&
	    strstr(found, "(call last)") != NULL &&
	    strstr(found, "(call after)") != NULL, "%s\n%s", mistakes[_i],
	    found);
}
END_TEST

/* ---- limits -------------------------------------------------------------- */

/* `count` times `unit` between `head` and `tail`. */
static const char *
repeat(const char *head, const char *unit, int count, const char *tail)
{
	struct cj_strbuf b;

	cj_strbuf_init(&b, &fix.arena);
	cj_strbuf_puts(&b, head);
	while (count-- > 0)
		cj_strbuf_puts(&b, unit);
	cj_strbuf_puts(&b, tail);
	return b.text;
}

START_TEST(long_chains_parse)
{
	struct cj_tree *tree;

	CJ_CHECK_RECOVER(&fix.point);
	tree = parse_right(repeat("fn f(x) => x", " + x", 20000, ";"));
	ck_assert_uint_le(tree->decls.at[0]->depth, 8);
	ck_assert(cj_resolve(tree, &fix.names, &fix.diags, &words));
	ck_assert_uint_gt(strlen(tree_text(tree)), 100000);
	tree = parse_right(repeat("fn f(x) { if x { }",
	    " else if x { x(); }", 5000, " }"));
	ck_assert(cj_resolve(tree, &fix.names, &fix.diags, &words));
	ck_assert_uint_gt(strlen(tree_text(tree)), 100000);
}
END_TEST

START_TEST(parentheses_do_not_nest)
{
	struct cj_tree *tree;

	CJ_CHECK_RECOVER(&fix.point);
	tree = parse_right(repeat(repeat("fn f(x) => ", "(", 5000, "x"), ")",
	    5000, ";"));
	ck_assert_str_eq(tree_text(tree), "(fn f (params (param x)) => x)\n");
}
END_TEST

static const struct { const char *open, *middle, *close; } nests[] = {
	{ "f(", "x", ")" }, { "(", "x", ",)" }, { "x[", "1", "]" },
	{ "-", "x", "" }, { "", "x", ".a" }, { "fn() => ", "x", "" },
	{ "if x { ", "x", " } else { x }" }, { "fn() { g(", "x", "); }" },
	{ "x + (", "x", ") * 2" },
};

START_TEST(nesting_has_a_limit)
{
	const char *text;

	CJ_CHECK_RECOVER(&fix.point);
	text = repeat(repeat("fn f(x) { g(", nests[_i].open, 60,
	    nests[_i].middle), nests[_i].close, 60, "); }");
	(void)tree_text(parse_right(text));
	text = repeat(repeat("fn f(x) { g(", nests[_i].open, 4000,
	    nests[_i].middle), nests[_i].close, 4000, "); }");
	(void)tree_text(parse(text));
	ck_assert_uint_eq(fix.diags.errors, 1);
	ck_assert_uint_eq(fix.diags.first->code, CJ_DIAG_TOO_DEEP);
	ck_assert_ptr_nonnull(strstr(fix.diags.first->text, "deeper than"));
}
END_TEST

START_TEST(a_hundred_ifs_nest)
{
	CJ_CHECK_RECOVER(&fix.point);
	(void)tree_text(parse_right(repeat(repeat("fn f(x) { ", "if x { ", 120,
	    ""), "}", 120, " }")));
}
END_TEST

START_TEST(brackets_without_end)
{
	CJ_CHECK_RECOVER(&fix.point);
	(void)tree_text(parse(repeat("fn f(x) => ", "(", 400000, "x;")));
	ck_assert_uint_eq(fix.diags.errors, 1);
	ck_assert_uint_eq(fix.diags.first->code, CJ_DIAG_TOO_DEEP);
	(void)tree_text(parse(repeat("fn f(x) ", "{", 100000, "")));
	(void)tree_text(parse(repeat("fn f(x) ", "}", 100000, "")));
	(void)tree_text(parse(repeat("", "kernel k(x: (", 10000, "")));
}
END_TEST

/* All that is done with a text, as deep and as wide as texts may be. */
static void *
walk_everything(void *text)
{
	struct cj_strbuf out;
	struct cj_tree *tree;

	cj_strbuf_init(&out, &fix.arena);
	tree = parse(text);
	(void)tree_text(tree);
	cj_resolve(tree, &fix.names, &fix.diags, &words);
	if (!tree->is_broken)
		cj_format(&out, &fix.names, &fix.sources, tree);
	return NULL;
}

START_TEST(a_small_stack_is_enough)
{
	static const int counts[] = { 60, 4000 };
	pthread_attr_t attr;
	pthread_t thread;
	char *text;
	size_t i, k;

	CJ_CHECK_RECOVER(&fix.point);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 512 << 10);
	for (i = 0; i < CJ_LENGTH(nests); i++) {
		for (k = 0; k < CJ_LENGTH(counts); k++) {
			text = cj_strdup(&fix.arena, repeat(repeat(
			    "fn f(x) { g(", nests[i].open, counts[k],
			    nests[i].middle), nests[i].close, counts[k],
			    "); }"));
			ck_assert_int_eq(pthread_create(&thread, &attr,
			    walk_everything, text), 0);
			pthread_join(thread, NULL);
		}
	}
	pthread_attr_destroy(&attr);
}
END_TEST

/* ---- memory -------------------------------------------------------------- */

static int allocs_left;

static void *
failing_alloc(void *user, size_t bytes)
{
	(void)user;
	return allocs_left-- > 0 ? malloc(bytes) : NULL;
}

static void
free_alloc(void *user, void *memory)
{
	(void)user;
	free(memory);
}

/* Every allocation fails in turn; control comes back each time. */
START_TEST(want_of_memory_leaves)
{
	const struct cj_allocator mem = { failing_alloc, free_alloc, NULL };
	static volatile int n;
	static volatile bool is_done;
	const char *text;

	CJ_CHECK_RECOVER(&fix.point);
	text = strdup(repeat("fn f(x) => x", " + g(x, y)[1]", 3000, ";"));
	cj_arena_fini(&fix.arena);
	for (n = 0, is_done = false; !is_done; n++) {
		allocs_left = n;
		cj_arena_init(&fix.arena, &fix.point, &mem);
		if (CJ_RECOVER(&fix.point)) {
			ck_assert_int_eq(fix.point.why, CJ_WHY_MEMORY);
		} else {
			cj_names_init(&fix.names, &fix.arena);
			cj_sources_init(&fix.sources, &fix.arena);
			cj_diags_init(&fix.diags, &fix.arena, &fix.sources);
			(void)tree_text(parse(text));
			is_done = true;
		}
		cj_arena_fini(&fix.arena);
	}
	ck_assert_int_gt(n, 5);
	free((char *)(uintptr_t)text);
	cj_arena_init(&fix.arena, &fix.point, NULL);
	cj_names_init(&fix.names, &fix.arena);
}
END_TEST

/* ---- spans --------------------------------------------------------------- */

static void
spans_nest(void *context, struct cj_node *n)
{
	const struct cj_span *outer = context;

	ck_assert_uint_eq(n->span.source, fix.source);
	ck_assert_uint_le(outer->begin, n->span.begin);
	ck_assert_uint_le(n->span.end, outer->end);
	ck_assert_uint_le(n->span.begin, n->span.end);
	cj_node_visit(n, spans_nest, &n->span);
}

static bool
check_spans(const char *stem)
{
	struct cj_tree *tree;
	uint32_t i, end = 0;

	open_case(stem);
	tree = parse_source();
	for (i = 0; i < tree->decls.count; i++) {
		struct cj_node *n = tree->decls.at[i];

		ck_assert_uint_le(end, n->span.begin);
		ck_assert_uint_lt(n->span.begin, n->span.end);
		end = n->span.end;
		cj_node_visit(n, spans_nest, &n->span);
	}
	return true;
}

START_TEST(spans_lie_in_spans)
{
	CJ_CHECK_RECOVER(&fix.point);
	each_case("ast", check_spans);
}
END_TEST

START_TEST(spans_are_the_text)
{
	static const char text[] = "const a = (b + c) * d[1].e;";
	const struct cj_node *n;

	CJ_CHECK_RECOVER(&fix.point);
	n = parse_right(text)->decls.at[0]->let.init;
	ck_assert_uint_eq(n->span.begin, 10);
	ck_assert_uint_eq(n->span.end, 26);
	ck_assert_uint_eq(n->binary.oper_span.begin, 18);
	ck_assert_uint_eq(n->binary.left->span.begin, 10);
	ck_assert_uint_eq(n->binary.left->span.end, 17);
	ck_assert(n->binary.left->has_parens && !n->has_parens);
	ck_assert_uint_eq(n->binary.right->member.name.span.begin, 25);
}
END_TEST

/* Any prefix of a program, and any program short of a token, is survived. */
START_TEST(cut_programs_are_survived)
{
	size_t n, i;
	char *text;

	CJ_CHECK_RECOVER(&fix.point);
	text = read_file(CJ_SRCDIR "/tests/golden/ast/stmt.cute", &n);
	ck_assert_ptr_nonnull(text);
	for (i = 0; i < n; i++) {
		struct cj_mark mark = cj_arena_mark(&fix.arena);

		add_source("t", text, i);
		(void)tree_text(parse_source());
		add_source("t", text + i, n - i);
		(void)tree_text(parse_source());
		cj_names_fini(&fix.names);
		cj_arena_release(&fix.arena, mark);
		cj_sources_init(&fix.sources, &fix.arena);
		cj_names_init(&fix.names, &fix.arena);
		cj_diags_init(&fix.diags, &fix.arena, &fix.sources);
	}
}
END_TEST

static Suite *
gram_suite(void)
{
	const TTest *const tests[] = {
		trees_are_golden, messages_are_golden, long_chains_parse,
		parentheses_do_not_nest, a_hundred_ifs_nest,
		brackets_without_end, spans_lie_in_spans, spans_are_the_text,
		cut_programs_are_survived, a_small_stack_is_enough,
		want_of_memory_leaves,
	};
	Suite *suite = suite_of("gram", tests, CJ_LENGTH(tests));
	TCase *tc = tcase_create("loops");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_loop_test(tc, one_mistake_one_message, 0,
	    (int)CJ_LENGTH(mistakes));
	tcase_add_loop_test(tc, nesting_has_a_limit, 0,
	    (int)CJ_LENGTH(nests));
	suite_add_tcase(suite, tc);
	return suite;
}

CJ_CHECK_MAIN(gram_suite)
