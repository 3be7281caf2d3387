/*
 * The stack of declarations.
 */
#include "parser/resolve_priv.h"
#include "syntax_fixture.h"

static struct cj_scopes scopes;

static struct cj_ident
ident(const char *text, uint32_t begin)
{
	return (struct cj_ident){ cj_intern_str(&fix.names, text),
	    { 1, begin, begin + 1 } };
}

static void
begin(void)
{
	scopes = (struct cj_scopes){ .arena = &fix.arena };
}

START_TEST(what_is_declared_is_found)
{
	struct cj_ident a, b;

	CJ_CHECK_RECOVER(&fix.point);
	begin();
	a = ident("a", 1);
	b = ident("b", 2);
	ck_assert_ptr_null(cj_scope_find(&scopes, a.name));
	ck_assert_ptr_null(cj_scope_add(&scopes, a));
	ck_assert_uint_eq(cj_scope_find(&scopes, a.name)->span.begin, 1);
	ck_assert_ptr_null(cj_scope_find(&scopes, b.name));
}
END_TEST

START_TEST(scopes_end)
{
	struct cj_ident a, b;
	uint32_t outer, inner;

	CJ_CHECK_RECOVER(&fix.point);
	begin();
	a = ident("a", 1);
	b = ident("b", 2);
	outer = cj_scope_begin(&scopes);
	cj_scope_add(&scopes, a);
	inner = cj_scope_begin(&scopes);
	cj_scope_add(&scopes, b);
	scopes.level++;
	ck_assert_ptr_null(cj_scope_add(&scopes, ident("a", 9)));
	ck_assert_uint_eq(cj_scope_find(&scopes, a.name)->span.begin, 9);
	scopes.level--;
	cj_scope_end(&scopes, inner);
	ck_assert_ptr_null(cj_scope_find(&scopes, b.name));
	ck_assert_uint_eq(cj_scope_find(&scopes, a.name)->span.begin, 1);
	cj_scope_end(&scopes, outer);
	ck_assert_ptr_null(cj_scope_find(&scopes, a.name));
}
END_TEST

START_TEST(hiding_in_one_function_is_seen)
{
	const struct cj_decl *old;

	CJ_CHECK_RECOVER(&fix.point);
	begin();
	cj_scope_add(&scopes, ident("a", 1));
	old = cj_scope_add(&scopes, ident("a", 5));
	ck_assert_ptr_nonnull(old);
	ck_assert_uint_eq(old->span.begin, 1);
	scopes.level++;
	ck_assert_ptr_null(cj_scope_add(&scopes, ident("a", 7)));
	old = cj_scope_add(&scopes, ident("a", 8));
	ck_assert_uint_eq(old->span.begin, 7);
}
END_TEST

static Suite *
scope_suite(void)
{
	const TTest *const tests[] = { what_is_declared_is_found, scopes_end,
	    hiding_in_one_function_is_seen };

	return suite_of("scope", tests, CJ_LENGTH(tests));
}

CJ_CHECK_MAIN(scope_suite)
