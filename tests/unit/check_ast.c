/*
 * Trees: their tables, visiting, spines and depth.
 */
#include "syntax_fixture.h"

static const struct cj_node *
init_of(const char *expr)
{
	return parse_right(cj_printf(&fix.arena, "const a = %s;", expr))
	    ->decls.at[0]->let.init;
}

START_TEST(operators_and_kinds_have_texts)
{
	ck_assert_str_eq(cj_oper_text(CJ_OPER_NONE), "");
	ck_assert_str_eq(cj_oper_text(CJ_OPER_SHL), "<<");
	ck_assert_str_eq(cj_node_kind_text(CJ_NODE_TIME), "time");
}
END_TEST

static const int precedence[] = {
	0,
#define OPER(name, text, precedence) precedence,
#include "parser/oper.def"
#undef OPER
};

/* For each pair of operators the tree is the one that precedence says. */
START_TEST(precedence_decides)
{
	int o, q;

	CJ_CHECK_RECOVER(&fix.point);
	for (o = CJ_OPER_OR; o < CJ_OPER_NEG; o++) {
		for (q = CJ_OPER_OR; q < CJ_OPER_NEG; q++) {
			int po = precedence[o];
			int pq = precedence[q];
			const struct cj_node *n;

			if (po == 3 && pq == 3)
				continue;	/* comparisons do not chain */
			n = init_of(cj_printf(&fix.arena, "a %s b %s c",
			    cj_oper_text((enum cj_oper)o),
			    cj_oper_text((enum cj_oper)q)));
			ck_assert_int_eq(n->binary.oper, po >= pq ? q : o);
			ck_assert_int_eq((po >= pq ? n->binary.left :
			    n->binary.right)->kind, CJ_NODE_BINARY);
		}
	}
}
END_TEST

START_TEST(spines_run_from_the_inside)
{
	struct cj_node **spine, *n;
	uint32_t count;

	CJ_CHECK_RECOVER(&fix.point);
	n = (struct cj_node *)(uintptr_t)init_of("(a + b) - c * d - (e - f)");
	spine = cj_node_spine(&fix.arena, n, &count);
	ck_assert_uint_eq(count, 3);
	ck_assert_int_eq(spine[0]->binary.oper, CJ_OPER_ADD);
	ck_assert_int_eq(spine[1]->binary.right->binary.oper, CJ_OPER_MUL);
	ck_assert_ptr_eq(spine[2], n);
	cj_node_spine(&fix.arena, n->binary.right->binary.left, &count);
	ck_assert_uint_eq(count, 0);
}
END_TEST

static const struct { const char *expr; unsigned depth; } depths[] = {
	{ "a", 1 }, { "((a))", 1 }, { "a + b", 2 }, { "a + b + c + d", 2 },
	{ "a + (b + c)", 3 }, { "-a", 2 }, { "f(a)", 2 }, { "f(g(a))", 3 },
	{ "(a,)", 2 }, { "a.b.c", 3 }, { "(-a) + b + c", 3 },
};

START_TEST(depth_counts_nesting)
{
	CJ_CHECK_RECOVER(&fix.point);
	ck_assert_uint_eq(init_of(depths[_i].expr)->depth, depths[_i].depth);
}
END_TEST

static void
count(void *context, struct cj_node *n)
{
	++*(uint32_t *)context;
	cj_node_visit(n, count, context);
}

START_TEST(visits_reach_every_node)
{
	uint32_t n = 0;

	CJ_CHECK_RECOVER(&fix.point);
	cj_node_visit(init_of("f(a, (b, c = d), *e)[_, 1..2].g"), count, &n);
	ck_assert_uint_eq(n, 14);
}
END_TEST

START_TEST(attributes_are_found)
{
	const struct cj_list *attrs;

	CJ_CHECK_RECOVER(&fix.point);
	attrs = &parse_right("fn f(x: t align(16) unit(1)) => x;")
	    ->decls.at[0]->fn.params.at[0]->param.attrs;
	ck_assert_ptr_eq(cj_attr_find(attrs,
	    cj_intern_str(&fix.names, "unit")), attrs->at[1]);
	ck_assert_ptr_null(cj_attr_find(attrs,
	    cj_intern_str(&fix.names, "alias")));
}
END_TEST

static Suite *
ast_suite(void)
{
	const TTest *const tests[] = { operators_and_kinds_have_texts,
	    precedence_decides, spines_run_from_the_inside,
	    visits_reach_every_node, attributes_are_found };
	Suite *suite = suite_of("ast", tests, CJ_LENGTH(tests));
	TCase *tc = tcase_create("loops");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_loop_test(tc, depth_counts_nesting, 0,
	    (int)CJ_LENGTH(depths));
	suite_add_tcase(suite, tc);
	return suite;
}

CJ_CHECK_MAIN(ast_suite)
