/*
 * The library's texts: what is found in them without the grammar agrees with
 * it, and nothing is wrong with what units read unresolved.
 */
#include "elab_fixture.h"

#include "ir/elab_priv.h"
#include "std/std.h"

/* The unit of a program that imports text i, and what it has of that text. */
static struct cj_file *
imported(unsigned i)
{
	const char *name = cj_std_files[i].name;
	char path[64], text[128];
	uint32_t k;

	snprintf(path, sizeof path, "cute/%s", name);
	snprintf(text, sizeof text, "import \"%s\";\nconst nothing = 0;\n",
	    path);
	load(strcmp(name, "prelude.cute") == 0 ? "const nothing = 0;\n" :
	    text);
	for (k = 0; k < unit->files.len; k++)
		if (strcmp(unit->files.at[k]->name, path) == 0)
			return unit->files.at[k];
	ck_abort_msg("the unit has no %s", path);
	return NULL;
}

static cj_name
name_of(const struct cj_node *n)
{
	if (n->kind == CJ_NODE_FN)
		return n->fn.name.name;
	ck_assert_int_eq(n->kind, CJ_NODE_CONST);
	ck_assert_int_eq(n->let.binding->kind, CJ_NODE_NAME);
	return n->let.binding->name.name;
}

static bool
can_wait(const struct cj_node *n)
{
	return n->kind == CJ_NODE_FN || n->kind == CJ_NODE_CONST;
}

/* Declarations of the whole text beside those that the index has: the same,
 * none twice, and no more. */
static void
compare(const struct cj_file *f, const struct cj_tree *t)
{
	uint32_t i, waiting = 0, now = 0;

	for (i = 0; i < t->decls.count; i++) {
		const struct cj_node *n = t->decls.at[i];
		const struct cj_decl *d = &f->decls.at[waiting];

		if (!can_wait(n)) {
			ck_assert_uint_lt(now, f->tree->decls.count);
			ck_assert_uint_eq(f->tree->decls.at[now++]->span.begin,
			    n->span.begin);
			continue;
		}
		ck_assert_uint_lt(waiting++, f->decls.len);
		ck_assert_uint_eq(name_of(n), d->name);
		ck_assert_uint_eq(n->span.begin, d->text.begin);
		ck_assert_uint_le(n->span.end, d->text.end);
	}
	ck_assert_uint_eq(waiting, f->decls.len);
	ck_assert_uint_eq(now, f->tree->decls.count);
}

START_TEST(index_is_complete)
{
	const struct cj_std_file *std = &cj_std_files[_i];
	const struct cj_words none = { 0 };
	struct cj_file *f;
	struct cj_tree *t;
	uint32_t source;

	CJ_CHECK_RECOVER(&point);
	f = imported((unsigned)_i);
	source = cj_source_add(&sources, "all", std->text, std->length);
	t = cj_parse(&arena, &names, &sources, source, &diags);
	cj_resolve(t, &names, &diags, f->is_prelude ? unit->words : &none);
	ck_assert_msg(diags.first == NULL, "%s", messages());
	compare(f, t);
}
END_TEST

START_TEST(declarations_are_read_alone)
{
	struct cj_file *f;
	uint32_t i;

	CJ_CHECK_RECOVER(&point);
	f = imported((unsigned)_i);
	ck_assert_uint_gt(f->decls.len, 0);
	for (i = 0; i < f->decls.len; i++) {
		struct cj_decl *d = &f->decls.at[i];
		const struct cj_node *n;

		ck_assert_msg(d->node == NULL, "nobody has asked");
		n = cj_unit_read(f, d);
		ck_assert_uint_eq(name_of(n), d->name);
		ck_assert_uint_eq(n->span.source, d->text.source);
		ck_assert_uint_eq(n->span.begin, d->text.begin);
		ck_assert_ptr_eq(cj_unit_read(f, d), n);
	}
}
END_TEST

/* No two declarations of a unit have one number. */
START_TEST(numbers_differ)
{
	const struct cj_file *f;
	CJ_VEC(bool) seen = { 0 };
	uint32_t i, k;

	CJ_CHECK_RECOVER(&point);
	imported((unsigned)_i);
	for (i = 0; i <= unit->decl_count; i++)
		*cj_push(&arena, &seen) = false;
	for (i = 0; i < unit->files.len; i++) {
		f = unit->files.at[i];
		for (k = 0; k < f->decls.len; k++) {
			ck_assert_uint_lt(f->decls.at[k].index, seen.len);
			ck_assert(!seen.at[f->decls.at[k].index]);
			seen.at[f->decls.at[k].index] = true;
		}
	}
}
END_TEST

static bool
is_read(const char *name)
{
	cj_name wanted = cj_intern_str(&names, name);
	uint32_t i, k;

	for (i = 0; i < unit->files.len; i++) {
		const struct cj_file *f = unit->files.at[i];

		for (k = 0; k < f->decls.len; k++)
			if (f->decls.at[k].name == wanted)
				return f->decls.at[k].node != NULL;
	}
	ck_abort_msg("the library has no %s", name);
	return false;
}

/* Only what a program needs is read, when it is elaborated. */
START_TEST(units_read_what_they_use)
{
	static const int64_t extents[] = { 8 }, strides[] = { 1 };
	struct cj_actual y = tensor(CJ_KIND_F32, 1, extents, strides);

	CJ_CHECK_RECOVER(&point);
	load("import \"cute/rows.cute\";\n"
	    "kernel k(y: tensor(f32, N:1))\n"
	    "{ launch grid(1) block(1) { y[0] = exp(log2e * y[0]); } }\n");
	ck_assert(!is_read("exp") && !is_read("log2e"));
	elaborate(0, bind(0, &y, 1, NULL, 0));
	ck_assert(is_read("exp") && is_read("__exp_f32") && is_read("log2e"));
	ck_assert(!is_read("log") && !is_read("__exp_f64") && !is_read("ln2"));
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("elab_std");
	TCase *c = tcase_create("elab_std");

	tcase_add_checked_fixture(c, set_up, tear_down);
	tcase_add_loop_test(c, index_is_complete, 0, (int)cj_std_count);
	tcase_add_loop_test(c, declarations_are_read_alone, 0,
	    (int)cj_std_count);
	tcase_add_loop_test(c, numbers_differ, 0, (int)cj_std_count);
	tcase_add_test(c, units_read_what_they_use);
	suite_add_tcase(s, c);
	return s;
}

CJ_CHECK_MAIN(suite)
