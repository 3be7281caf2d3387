/*
 * The prelude: its index agrees with the grammar, and each function can be
 * read alone, as units do.
 */
#include "elab_fixture.h"

#include "ir/elab_priv.h"
#include "std/std.h"

static struct cj_file *
prelude_of_unit(void)
{
	load("const nothing = 0;\n");
	ck_assert_ptr_nonnull(unit->prelude);
	return unit->prelude;
}

/* The whole text at once: the same functions, none twice, and no more. */
START_TEST(index_is_complete)
{
	const struct cj_std_file *std = cj_std_find("prelude.cute");
	struct cj_file *f;
	struct cj_tree *t;
	uint32_t source, i;

	CJ_CHECK_RECOVER(&point);
	f = prelude_of_unit();
	source = cj_source_add(&sources, "all", std->text, std->length);
	t = cj_parse(&arena, &names, &sources, source, &diags);
	cj_resolve(t, &names, &diags, unit->words);
	ck_assert_msg(diags.errors == 0, "%s", messages());
	ck_assert_uint_eq(t->decls.count, f->decls.len);
	ck_assert_uint_gt(f->decls.len, 50);
	for (i = 0; i < f->decls.len; i++) {
		const struct cj_node *n = t->decls.at[i];
		const struct cj_decl *d = &f->decls.at[i];

		ck_assert_int_eq(n->kind, CJ_NODE_FN);
		ck_assert_uint_eq(n->fn.name.name, d->name);
		ck_assert_uint_eq(n->span.begin, d->text.begin);
		ck_assert_uint_le(n->span.end, d->text.end);
		ck_assert_uint_eq(d->index, i + 1);
	}
}
END_TEST

START_TEST(functions_are_read_alone)
{
	struct cj_file *f;
	uint32_t i;

	CJ_CHECK_RECOVER(&point);
	f = prelude_of_unit();
	for (i = 0; i < f->decls.len; i++) {
		struct cj_decl *d = &f->decls.at[i];
		const struct cj_node *n;

		ck_assert_msg(d->node == NULL, "nobody has asked");
		n = cj_unit_read(f, d);
		ck_assert_uint_eq(n->fn.name.name, d->name);
		ck_assert_uint_eq(n->span.source, d->text.source);
		ck_assert_uint_eq(n->span.begin, d->text.begin);
		ck_assert_ptr_eq(cj_unit_read(f, d), n);
	}
}
END_TEST

static bool
is_read(const char *name)
{
	cj_name wanted = cj_intern_str(&names, name);
	const struct cj_file *f = unit->prelude;
	uint32_t i;

	for (i = 0; i < f->decls.len; i++)
		if (f->decls.at[i].name == wanted)
			return f->decls.at[i].node != NULL;
	ck_abort_msg("the prelude has no %s", name);
	return false;
}

/* Only what a program needs is read, when it is elaborated. */
START_TEST(units_read_what_they_use)
{
	static const int64_t extents[] = { 8 }, strides[] = { 1 };
	struct cj_actual y = tensor(CJ_KIND_F32, 1, extents, strides);

	CJ_CHECK_RECOVER(&point);
	load("kernel k(y: tensor(f32, N:1))\n"
	    "{ launch grid(1) block(1) { y[0] = exp(y[0]); } }\n");
	ck_assert(!is_read("exp"));
	elaborate(0, bind(0, &y, 1, NULL, 0));
	ck_assert(is_read("exp") && is_read("__exp_f32"));
	ck_assert(!is_read("log") && !is_read("__exp_f64"));
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("elab_prelude");
	TCase *c = tcase_create("elab_prelude");

	tcase_add_checked_fixture(c, set_up, tear_down);
	tcase_add_test(c, index_is_complete);
	tcase_add_test(c, functions_are_read_alone);
	tcase_add_test(c, units_read_what_they_use);
	suite_add_tcase(s, c);
	return s;
}

CJ_CHECK_MAIN(suite)
