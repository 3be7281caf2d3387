/*
 * Passes on text: tests/golden/ir/NAME.ir goes in, NAME.PASS.ir must come out
 * of the pass alone, NAME.all.ir of all in order. UPDATE=1 writes what comes
 * out. What comes out is right by the verifier and does not change when the
 * pass runs once more.
 */
#include "check_ir_eval.h"

static const struct golden {
	const char *name, *pass;	/* "all": every pass in order */
} goldens[] = {
	{ "fold", "fold" }, { "fold_unsigned", "fold" }, { "inside", "fold" },
	{ "cse", "cse" },
	{ "licm", "licm" }, { "dce", "dce" }, { "unroll", "unroll" },
	{ "waits", "wgmma_wait" },
	{ "fold", "all" }, { "maps", "all" }, { "map_kinds", "all" },
	{ "all", "all" },
};

static const char *
path_of(const char *name, const char *pass)
{
	if (pass == NULL)
		return cj_printf(&arena, "%s/tests/golden/ir/%s.ir",
		    CJ_SRCDIR, name);
	return cj_printf(&arena, "%s/tests/golden/ir/%s.%s.ir", CJ_SRCDIR,
	    name, pass);
}

static const char *
file_text(const char *path)
{
	struct cj_strbuf text;
	FILE *f = fopen(path, "r");
	char part[4096];
	size_t n;

	cj_strbuf_init(&text, &arena);
	if (f == NULL)
		return "";
	while ((n = fread(part, 1, sizeof part, f)) > 0)
		cj_strbuf_write(&text, part, n);
	fclose(f);
	return text.text;
}

static void
run_pass(struct cj_module *m, const char *pass)
{
	const char *wrong;
	unsigned i;

	if (strcmp(pass, "all") == 0) {
		cj_passes_run(m, &point, NULL, NULL);
		return;
	}
	for (i = 0; i < cj_pass_count; i++)
		if (strcmp(cj_passes[i].name, pass) == 0)
			cj_passes[i].run(m);
	wrong = cj_module_verify(m);
	ck_assert_msg(wrong == NULL, "%s", wrong);
}

static void
check_file(const char *path, const char *found)
{
	const char *update = getenv("UPDATE");

	if (update != NULL && strcmp(update, "1") == 0 &&
	    strcmp(file_text(path), found) != 0) {
		FILE *f = fopen(path, "w");

		ck_assert_ptr_nonnull(f);
		fputs(found, f);
		fclose(f);
	}
	ck_assert_str_eq(found, file_text(path));
}

START_TEST(golden_texts)
{
	const struct golden *g = &goldens[_i];
	struct cj_module *m;
	const char *wrong, *once;

	CJ_CHECK_RECOVER(&point);
	m = module_of(file_text(path_of(g->name, NULL)));
	wrong = cj_module_verify(m);
	ck_assert_msg(wrong == NULL, "%s", wrong);
	run_pass(m, g->pass);
	once = text_of(m);
	check_file(path_of(g->name, g->pass), once);
	run_pass(m, g->pass);
	ck_assert_str_eq(text_of(m), once);
}
END_TEST

static unsigned hooked;

static void
count(void *user, const struct cj_pass *p, struct cj_module *m)
{
	ck_assert_ptr_eq(user, &hooked);
	ck_assert_ptr_eq(p, &cj_passes[hooked]);
	ck_assert_ptr_nonnull(m);
	hooked++;
}

START_TEST(hook_sees_each_pass)
{
	CJ_CHECK_RECOVER(&point);
	cj_passes_run(module_of("module \"m\"\ndevice $1 \"f\" {\n}\n"),
	    &point, count, &hooked);
	ck_assert_uint_eq(hooked, cj_pass_count);
}
END_TEST

START_TEST(wrong_modules_are_a_bug)
{
	struct cj_recover r = { 0 };

	if (CJ_RECOVER(&r)) {
		ck_assert_int_eq(r.why, CJ_WHY_BUG);
		/* before all passes, or, without assertions, behind them */
		if (strstr(r.text, "before all passes: ") != NULL)
			ck_assert_ptr_nonnull(strstr(r.text, "\"f\": break "
			    "after %1: the target cannot be left"));
		return;
	}
	cj_passes_run(module_of("module \"m\"\ndevice $1 \"f\" {\n"
	    "%1 = const bool true\nif ^1 %1 {\nbreak ^1\n}\n}\n"), &r, NULL,
	    NULL);
	ck_abort_msg("it went on");
}
END_TEST

/* What the print at the end shows, one register after the other. */
static uint64_t *
shown_values(const struct cj_module *m, const struct inputs *in,
    uint32_t *count)
{
	struct values *v = CJ_NEWS(&arena, struct values, m->insts.len);
	cj_ref last = m->regions.at[m->functions.at[1].body].last;
	const struct cj_inst *i = cj_inst(m, last);
	uint64_t *out = CJ_NEWS(&arena, uint64_t, RANDOM_MOST *
	    (i->operand_count + 1u));
	uint32_t n, at;

	*count = 0;
	ck_assert_uint_eq(i->op, CJ_OP_PRINT);
	if (!compute_all(m, v, in))
		return NULL;
	for (n = 0; n < i->operand_count; n++) {
		cj_ref r = cj_operand(m, i, n);

		for (at = 0; at < cj_type_count(cj_inst(m, r)->type); at++)
			out[(*count)++] = v[r].bits[at];
	}
	return out;
}

static const char *const each_pass[] = { "fold", "cse", "licm", "dce",
    "all" };

/* Random functions give the same numbers, bit for bit, after each pass. */
START_TEST(meaning_is_kept)
{
	enum { ROUNDS = 1000, TURNS = 10 };
	struct cj_mark mark;
	int round, turn;

	CJ_CHECK_RECOVER(&point);
	seed = 1234567 + (uint64_t)_i;
	mark = cj_arena_mark(&arena);
	for (round = 0; round < ROUNDS; round++) {
		struct cj_module *m = random_module(40);
		const char *before = text_of(m);
		struct inputs in[TURNS];
		uint64_t *want[TURNS], *got;
		uint32_t count = 0, found;

		for (turn = 0; turn < TURNS; turn++) {
			in[turn] = random_inputs(&m->functions.at[1]);
			want[turn] = shown_values(m, &in[turn], &count);
		}
		run_pass(m, each_pass[_i]);
		for (turn = 0; turn < TURNS; turn++) {
			if (want[turn] == NULL)
				continue;
			got = shown_values(m, &in[turn], &found);
			if (got == NULL || memcmp(got, want[turn],
			    found * sizeof *got) != 0)
				ck_abort_msg("%s\n%s", before, text_of(m));
		}
		cj_arena_release(&arena, mark);
	}
}
END_TEST

static Suite *
opt_suite(void)
{
	Suite *s = suite_create("opt");
	TCase *t = tcase_create("opt");

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_loop_test(t, golden_texts, 0, (int)CJ_LENGTH(goldens));
	tcase_add_loop_test(t, meaning_is_kept, 0,
	    (int)CJ_LENGTH(each_pass));
	tcase_add_test(t, hook_sees_each_pass);
	tcase_add_test(t, wrong_modules_are_a_bug);
	suite_add_tcase(s, t);
	return s;
}

CJ_CHECK_MAIN(opt_suite)
