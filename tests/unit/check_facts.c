/*
 * Facts: known cases by name, and over random functions: no value that occurs
 * is outside what is said of it.
 */
#include "check_ir_eval.h"

#define F(leaves, body)							\
	"module \"m\"\ndevice $1 \"f\" block(64, 4, 1) {\n" leaves body "}\n"

/* The last instruction's fact; scopes by number (0 is thread, 6 grid). */
static const struct known {
	const char *text;
	int64_t lo, hi, divisor;
	enum cj_scope uniform;
} knowns[] = {
	{ F("", "%1 = const int 12\n"), 12, 12, 12, CJ_SCOPE_GRID },
	{ F("", "%1 = const i32[3] {12, -8, 20}\n"), -8, 20, 4,
	    CJ_SCOPE_GRID },
	{ F("", "%1 = special int thread_x\n"), 0, 63, 1, CJ_SCOPE_THREAD },
	{ F("", "%1 = special int thread_y\n"), 0, 3, 1, CJ_SCOPE_WARP },
	{ F("", "%1 = special int thread_z\n"), 0, 0, 0, CJ_SCOPE_GRID },
	{ F("", "%1 = special int block_x\n"), 0, INT32_MAX - 1, 1,
	    CJ_SCOPE_BLOCK },
	{ F("", "%1 = special int block_dim_x\n"), 64, 64, 64,
	    CJ_SCOPE_GRID },
	{ F("", "%1 = special int warp\n"), 0, 7, 1, CJ_SCOPE_WARP },
	{ F("", "%1 = special int lane\n"), 0, 31, 1, CJ_SCOPE_THREAD },
	{ F("leaf value int range 8..80 by 8\n", "%1 = param int 0\n"), 8, 80,
	    8, CJ_SCOPE_GRID },
	{ F("leaf value int\n", "%1 = param int 0\n"), INT64_MIN, INT64_MAX,
	    1, CJ_SCOPE_GRID },
	{ F("leaf value u8\n", "%1 = param u8 0\n"), 0, 255, 1,
	    CJ_SCOPE_GRID },
	{ F("leaf value int range 8..80 by 8\n", "%1 = param int 0\n"
	    "%2 = special int thread_x\n%3 = fma int %1, %1, %2\n"), 64, 6463,
	    1, CJ_SCOPE_THREAD },
	{ F("leaf value int range 8..80 by 8\n", "%1 = param int 0\n"
	    "%2 = const int 6\n%3 = mul int %1, %2\n%4 = const int 4\n"
	    "%5 = div int %3, %4\n"), 12, 120, 12, CJ_SCOPE_GRID },
	{ F("leaf value int range 8..80 by 8\n", "%1 = param int 0\n"
	    "%2 = const int 4\n%3 = mod int %1, %2\n"), 0, 0, 0,
	    CJ_SCOPE_GRID },
	{ F("leaf value int\n", "%1 = param int 0\n"
	    "%2 = const int 4\n%3 = mod int %1, %2\n"), 0, 3, 1,
	    CJ_SCOPE_GRID },
	{ F("leaf value u8\n", "%1 = param u8 0\n%2 = add u8 %1, %1\n"), 0,
	    255, 1, CJ_SCOPE_GRID },
	{ F("leaf value u8\n", "%1 = param u8 0\n%2 = const u8 12\n"
	    "%3 = mul u8 %1, %2\n"), 0, 255, 4, CJ_SCOPE_GRID },
	{ F("leaf value u8\n", "%1 = param u8 0\n%2 = convert int %1\n"), 0,
	    255, 1, CJ_SCOPE_GRID },
	{ F("leaf value int\n", "%1 = param int 0\n%2 = convert u8 %1\n"), 0,
	    255, 1, CJ_SCOPE_GRID },
	{ F("", "%1 = special int thread_x\n%2 = const int 64\n"
	    "%3 = lt bool %1, %2\n"), 1, 1, 1, CJ_SCOPE_GRID },
	{ F("", "%1 = special int thread_x\n%2 = const int 63\n"
	    "%3 = lt bool %1, %2\n"), 0, 1, 1, CJ_SCOPE_THREAD },
	{ F("", "%1 = const int 0\n%2 = const int 100\n%3 = const int 4\n"
	    "for %4 in %1..%2 step %3 {\n%5 = add int %4, %3\n}\n"), 4, 103,
	    4, CJ_SCOPE_GRID },
	{ F("", "%1 = special int thread_x\n%2 = const int 100\n"
	    "%3 = const int 64\n"
	    "for %4 in %1..%2 step %3 {\n%5 = add int %4, %3\n}\n"), 64, 163,
	    1, CJ_SCOPE_THREAD },
	{ F("leaf value bool\n", "%1 = param bool 0\n%2 = const int 4\n"
	    "%3 = const int 6\n%4 = if int %1 {\nyield %2\n} else {\n"
	    "yield %3\n}\n%5 = add int %4, %2\n"), 8, 10, 2, CJ_SCOPE_GRID },
	{ F("", "%1 = special int thread_x\n%2 = const int 4\n"
	    "%3 = lt bool %1, %2\n%4 = ballot u32 %3\n"), 0, UINT32_MAX, 1,
	    CJ_SCOPE_WARP },
};

START_TEST(known_cases)
{
	const struct known *k = &knowns[_i];
	const struct cj_fact *f;
	struct cj_module *m;
	cj_ref r;

	CJ_CHECK_RECOVER(&point);
	m = module_of(k->text);
	ck_assert_ptr_null(cj_module_verify(m));
	for (r = m->insts.len - 1; cj_inst(m, r)->type == 0; r--)
		;
	f = &cj_facts_compute(&arena, m, 1)[r];
	ck_assert_msg(f->lo == k->lo && f->hi == k->hi &&
	    f->divisor == k->divisor && f->uniform == k->uniform,
	    "%s\nfound %lld .. %lld by %lld, scope %d", k->text,
	    (long long)f->lo, (long long)f->hi, (long long)f->divisor,
	    (int)f->uniform);
}
END_TEST

/* Is the value within what is said? */
static bool
holds(const struct cj_fact *f, enum cj_kind k, uint64_t bits)
{
	int64_t v = (int64_t)bits;

	if (k == CJ_KIND_U64 && v < 0)
		return f->hi == INT64_MAX && (f->divisor != 0) &&
		    bits % (uint64_t)f->divisor == 0;
	if (v < f->lo || v > f->hi)
		return false;
	return f->divisor == 0 ? v == 0 : v % f->divisor == 0;
}

START_TEST(random_functions)
{
	struct cj_mark mark;
	int round, turn;

	CJ_CHECK_RECOVER(&point);
	mark = cj_arena_mark(&arena);
	for (round = 0; round < 4000; round++) {
		struct cj_module *m = random_module(30);
		const struct cj_fact *f = cj_facts_compute(&arena, m, 1);
		struct values *v = CJ_NEWS(&arena, struct values,
		    m->insts.len);

		for (turn = 0; turn < 20; turn++) {
			struct inputs in = random_inputs(
			    &m->functions.at[1]);
			uint32_t at;
			cj_ref r;

			if (!compute_all(m, v, &in))
				continue;
			for (r = 1; r < m->insts.len; r++) {
				cj_type t = cj_inst(m, r)->type;
				enum cj_kind k = cj_type_kind(t);

				if (!cj_kind_is_integer(k) &&
				    k != CJ_KIND_BOOL)
					continue;
				for (at = 0; at < cj_type_count(t); at++)
					if (!holds(&f[r], k, v[r].bits[at]))
						ck_abort_msg("%%%u is %lld, "
						    "not %lld..%lld by %lld"
						    "\n%s", r, (long long)
						    v[r].bits[at], (long long)
						    f[r].lo, (long long)
						    f[r].hi, (long long)
						    f[r].divisor, text_of(m));
			}
		}
		cj_arena_release(&arena, mark);
	}
}
END_TEST

static Suite *
facts_suite(void)
{
	Suite *s = suite_create("facts");
	TCase *t = tcase_create("facts");

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_loop_test(t, known_cases, 0, (int)CJ_LENGTH(knowns));
	tcase_add_test(t, random_functions);
	suite_add_tcase(s, t);
	return s;
}

CJ_CHECK_MAIN(facts_suite)
