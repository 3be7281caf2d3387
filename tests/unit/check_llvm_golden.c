/*
 * Cases of tests/golden/llvm: IR in, facts about its PTX out (README there).
 * Every case is emitted for every target and assembled where ptxas is found.
 */
#include "check_main.h"
#include "llvm_module.h"
#include "llvm_golden.h"

static struct cj_recover recover;
static struct cj_arena arena;
static struct cj_golden_cases cases;

static void
setup(void)
{
	cj_arena_init(&arena, &recover, NULL);
	cases = cj_golden_find(&arena);
}

static void
teardown(void)
{
	cj_arena_fini(&arena);
}

static int
count(const char *text, const char *what)
{
	int n = 0;

	for (; (text = strstr(text, what)) != NULL; text++)
		n++;
	return n;
}

static void
check_fact(const char *name, const struct cj_golden_fact *f,
    const struct cj_codegen_result *out)
{
	int found;

	if (strcmp(f->verb, "shared") == 0) {
		ck_assert_msg(out->kernels[0].shared_bytes == f->count,
		    "%s: %lld bytes of shared memory, not %d", name,
		    (long long)out->kernels[0].shared_bytes, f->count);
		return;
	}
	if (f->text == NULL)
		return;
	found = count(out->ptx, f->text);
	if (strcmp(f->verb, "lacks") == 0 ? found != 0 :
	    f->count >= 0 ? found != f->count : found == 0)
		ck_abort_msg("%s: \"%s\" %d times:\n%.3000s", name, f->text,
		    found, out->ptx);
}

static void
check_case(const struct cj_golden *c, const struct cj_target *target)
{
	struct cj_module *m = cj_golden_module(&arena, c, target);
	struct cj_codegen_options o = { .level = 2, .checked = c->checked,
	    .lineinfo = c->lineinfo };
	struct cj_codegen_result out;
	char said[2000];
	unsigned i;

	if (m == NULL)
		return;
	if (cj_codegen_ptx(&arena, m, &o, &out) != CJ_CODEGEN_OK)
		ck_abort_msg("%s, %s: %s", c->name, target->name, out.error);
	for (i = 0; i < c->facts.len; i++)
		if (c->facts.at[i].target == NULL ||
		    strcmp(c->facts.at[i].target, target->name) == 0)
			check_fact(cj_printf(&arena, "%s, %s", c->name,
			    target->name), &c->facts.at[i], &out);
	if (!cj_test_assemble(out.ptx, target->name, said, sizeof said))
		ck_abort_msg("%s, %s: %s", c->name, target->name, said);
}

START_TEST(test_case)
{
	unsigned t;

	CJ_CHECK_RECOVER(&recover);
	ck_assert_uint_ge(cases.len, 10);
	if ((unsigned)_i >= cases.len)
		return;
	for (t = 0; t < cj_target_count; t++)
		if (cj_targets[t].number >= cases.at[_i].needs)
			check_case(&cases.at[_i], &cj_targets[t]);
}
END_TEST

Suite *
suite(void);

Suite *
suite(void)
{
	Suite *s = suite_create("llvm_golden");
	TCase *t = tcase_create("golden");
	struct cj_arena a;

	/* how many there are, before any runs */
	if (CJ_RECOVER(&recover))
		abort();
	cj_arena_init(&a, &recover, NULL);
	cases = cj_golden_find(&a);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, test_case, 0,
	    cases.len > 0 ? (int)cases.len : 1);
	suite_add_tcase(s, t);
	cj_arena_fini(&a);
	return s;
}

CJ_CHECK_MAIN(suite)
