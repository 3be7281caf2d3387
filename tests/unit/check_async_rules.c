/*
 * The rules by which pipelines, roles and turns are lowered, one after the
 * other broken in small programs of every shape (tests/async/programs.cute).
 * As derived, a program leaves the same in any order of warps; with a rule
 * broken, the executor names a fault. async_rules.def says which.
 */
#include "async_break.h"

enum { ORDERS = 12 };

#define F16(rows, columns)	{ CJ_KIND_F16, { rows, columns }, 2, false }
#define F32(rows, columns)	{ CJ_KIND_F32, { rows, columns }, 2, false }
#define RESULT(rows, columns)	{ CJ_KIND_F32, { rows, columns }, 2, true }
#define VECTOR(n)		{ CJ_KIND_F32, { n, 1 }, 1, true }

static const struct program {
	const char *name, *kernel, *target;
	struct array arrays[MOST_ARRAYS];
	uint32_t count;
	const char *cluster, *outs;	/* compile-time arguments, or NULL */
} programs[] = {
	{ "gemm, one block", "gemm", "sm_90a", { F16(64, 64), F16(32, 64),
	  RESULT(64, 256) }, 3, NULL, NULL },
	{ "gemm, out(3)", "gemm", "sm_90a", { F16(64, 64), F16(32, 64),
	  RESULT(64, 256) }, 3, NULL, "3" },
	{ "gemm, cluster 2 x 1", "gemm", "sm_90a", { F16(64, 64), F16(32, 64),
	  RESULT(64, 256) }, 3, "(2, 1)", NULL },
	{ "gemm, cluster 2 x 2", "gemm", "sm_90a", { F16(64, 64), F16(32, 64),
	  RESULT(64, 256) }, 3, "(2, 2)", NULL },
	{ "ping-pong", "ping_pong", "sm_90a", { F16(64, 64),
	  RESULT(64, 256) }, 2, NULL, NULL },
	{ "attention", "attention", "sm_90a", { F16(64, 256),
	  RESULT(64, 256) }, 2, NULL, NULL },
	{ "fp8 gemm", "scaled", "sm_90a", { F16(64, 64), F32(1, 64),
	  RESULT(64, 256) }, 3, NULL, NULL },
	{ "grouped gemm", "grouped", "sm_90a", { F16(64, 64),
	  RESULT(64, 256) }, 2, NULL, NULL },
	{ "gemm sm_80", "sm80", "sm_80", { F32(8, 512), VECTOR(512) }, 2,
	  NULL, NULL },
	{ "attention sm_80", "attention80", "sm_80", { F32(8, 512),
	  VECTOR(512) }, 2, NULL, NULL },
	{ "work stealing", "stealing", "sm_90a", { F16(64, 64),
	  RESULT(64, 448) }, 2, NULL, NULL },
	{ "gather for wgmma", "gather", "sm_90a", { F16(64, 64), F16(32, 64),
	  RESULT(64, 256) }, 3, NULL, NULL },
	{ "many roles", "many", "sm_90a", { F16(64, 64), RESULT(64, 256),
	  RESULT(6, 32) }, 3, NULL, NULL },
	{ "grouped gemm, maps", "regrouped", "sm_90a", { F16(64, 64),
	  RESULT(64, 256) }, 2, NULL, NULL },
	{ "gemm sm_100", "sm100", "sm_100a", { F16(128, 64), F16(16, 64),
	  RESULT(128, 64) }, 3, NULL, NULL },
	{ "guarded TMA", "edge", "sm_90a", { F16(64, 64), RESULT(64, 256) },
	  2, NULL, NULL },
	{ "one role, TMA", "alone", "sm_90a", { F16(64, 128),
	  RESULT(64, 256) }, 2, NULL, NULL },
};

static const struct rule {
	const char *program, *rule, *found;
} rules[] = {
#define RULE(program, rule, found)	{ program, rule, found },
#include "async_rules.def"
#undef RULE
};

static char expected[MOST_ARRAYS][MOST_ELEMENTS * 4];

static void
load_programs(void)
{
	static char text[1 << 16];
	FILE *f = fopen(CJ_SRCDIR "/tests/async/programs.cute", "rb");
	size_t n;

	ck_assert_ptr_nonnull(f);
	n = fread(text, 1, sizeof text - 1, f);
	fclose(f);
	text[n] = '\0';
	load(text);
}

static const struct cj_member_info *
find_kernel(const char *name)
{
	const struct cj_member_info *m;
	uint32_t i, n = cj_unit_members(unit, &m);

	for (i = 0; i < n; i++)
		if (strcmp(m[i].kernel, name) == 0)
			return &m[i];
	ck_abort_msg("there is no kernel %s", name);
}

static struct cj_module *
make(const struct program *p)
{
	struct cj_const_argument consts[2];
	struct cj_actual actuals[MOST_ARRAYS];
	int64_t strides[MOST_ARRAYS][2];
	const struct cj_binding *b;
	struct cj_module *m;
	struct cj_span span;
	uint32_t n = 0;

	if (p->cluster != NULL)
		consts[n++] = (struct cj_const_argument){ "cluster",
		    p->cluster, NULL };
	if (p->outs != NULL)
		consts[n++] = (struct cj_const_argument){ "outs", p->outs,
		    NULL };
	actuals_of(p->arrays, p->count, actuals, strides);
	b = cj_bind(&arena, unit, find_kernel(p->kernel), consts, n, actuals,
	    p->count, &diags, &why, &span);
	ck_assert_msg(b != NULL, "%s does not fit: %s", p->name, why);
	m = cj_elab_kernel(&arena, unit, find_kernel(p->kernel), b,
	    &(struct cj_aim){ .target = cj_target_find(p->target) }, &diags);
	ck_assert_msg(m != NULL, "%s", messages());
	lower(m);
	return m;
}

static void
keep_results(const struct program *p)
{
	(void)p;
	memcpy(expected, array_data, sizeof expected);
}

static bool
has_results(const struct program *p)
{
	uint32_t i;

	for (i = 0; i < p->count; i++)
		if (memcmp(expected[i], array_data[i], (size_t)(elements_of(
		    &p->arrays[i]) * (int64_t)cj_kind_bytes(
		    p->arrays[i].kind))) != 0)
			return false;
	return true;
}

START_TEST(right_in_any_order)
{
	const struct program *p = &programs[_i];
	struct cj_module *m;
	uint64_t seed;

	load_programs();
	m = make(p);
	for (seed = 0; seed < ORDERS; seed++) {
		ck_assert_msg(run_all(m, p->arrays, p->count, seed) == 0,
		    "%s: %s", p->name, messages());
		if (seed == 0)
			keep_results(p);
		ck_assert_msg(has_results(p), "%s: order %u leaves others",
		    p->name, (unsigned)seed);
	}
}
END_TEST

static const struct program *
program_of(const struct rule *r)
{
	size_t i;

	for (i = 0; i < CJ_LENGTH(programs); i++)
		if (strcmp(programs[i].name, r->program) == 0)
			return &programs[i];
	ck_abort_msg("there is no program \"%s\"", r->program);
}

static unsigned
break_rule(struct cj_module *m, const char *rule)
{
	size_t i;

	for (i = 0; i < CJ_LENGTH(breakings); i++)
		if (strcmp(breakings[i].rule, rule) == 0)
			return breakings[i].breaks(m);
	ck_abort_msg("there is no rule \"%s\"", rule);
}

/* The first fault that was reported. */
static const char *
first_error(void)
{
	const struct cj_diag *d = diags.first;

	while (d != NULL && d->severity != CJ_ERROR)
		d = d->next;
	return d == NULL ? "counted" : cj_code_text(d->code);
}

static const char *
find_fault(const struct cj_module *m, const struct program *p)
{
	uint64_t seed;

	for (seed = 0; seed < ORDERS; seed++)
		if (run_all(m, p->arrays, p->count, seed) != 0)
			return first_error();
	return "nothing";
}

START_TEST(each_break_is_found)
{
	const struct rule *r = &rules[_i];
	const struct program *p = program_of(r);
	struct cj_module *m;
	const char *found;

	load_programs();
	m = make(p);
	ck_assert_msg(break_rule(m, r->rule) != 0, "%s, \"%s\": there is "
	    "nothing to break", r->program, r->rule);
	found = find_fault(m, p);
	ck_assert_msg(strcmp(found, r->found) == 0, "%s, \"%s\": %s, not %s",
	    r->program, r->rule, found, r->found);
}
END_TEST

static Suite *
async_rules_suite(void)
{
	Suite *s = suite_create("async_rules");
	TCase *c = tcase_create("rules");

	tcase_add_checked_fixture(c, set_up, tear_down);
	tcase_set_timeout(c, 120);
	tcase_add_loop_test(c, right_in_any_order, 0, CJ_LENGTH(programs));
	tcase_add_loop_test(c, each_break_is_found, 0, CJ_LENGTH(rules));
	suite_add_tcase(s, c);
	return s;
}

CJ_CHECK_MAIN(async_rules_suite)
