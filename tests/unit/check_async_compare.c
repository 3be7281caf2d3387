/*
 * Do roles agree on how many stages they fill and take, whatever the values?
 * Pairs that do, and the same with one thing changed: refused, each in its
 * kernel.
 */
#include "elab_fixture.h"

#define FILL	"produce p as s { s.a[f.thread] = 0; } "
#define TAKE	"consume p as s { x[b.thread] = s.a[b.thread]; } "
#define TAKE_M	"consume p as s { x[m.thread] = s.a[m.thread]; } "
#define TILES	"for t in 0..tiles { "
#define STEPS	"for k in 0..steps { "
#define GROUPED(begin, next, op)					\
	"var start = " begin "; for g in 0..groups { "			\
	"if start < n[g] { for i in start..n[g] step(4) { "		\
	"for k in 0..c[g] { " op "} } } start = " next "; }"

static const struct pair {
	const char *name, *fills, *takes, *where;
	bool agree;
} pairs[] = {
	{ "gemm", TILES STEPS FILL "} }", TILES STEPS TAKE "} }", "", true },
	{ "gemm, one step less", TILES STEPS FILL "} }",
	  TILES "for k in 0..steps - 1 { " TAKE "} }", "", false },
	{ "gemm, another sequence", TILES STEPS FILL "} }",
	  "for t in 0..others { " STEPS TAKE "} }", "", false },
	{ "first step apart", TILES STEPS FILL "} }",
	  TILES TAKE "for k in 1..steps { " TAKE "} }", "", false },
	{ "first step apart, steps >= 1", TILES STEPS FILL "} }",
	  TILES TAKE "for k in 1..steps { " TAKE "} }", "where steps >= 1 ",
	  true },
	{ "attention k", TILES "for j in 0..c[t] { " FILL "} }",
	  TILES "if c[t] > 0 { " TAKE "for j in 1..c[t] { " TAKE "} } }", "",
	  true },
	{ "attention v", TILES "for j in 0..c[t] { " FILL "} }",
	  TILES "if c[t] > 0 { for j in 1..c[t] { " TAKE "} " TAKE "} }", "",
	  true },
	{ "attention q", TILES "if c[t] > 0 { " FILL "} }",
	  TILES "if c[t] > 0 { " TAKE "} }", "", true },
	{ "attention, no test", TILES "for j in 0..c[t] { " FILL "} }",
	  TILES TAKE "for j in 1..c[t] { " TAKE "} }", "", false },
	{ "attention, last v lost", TILES "for j in 0..c[t] { " FILL "} }",
	  TILES "for j in 1..c[t] { " TAKE "} }", "", false },
	{ "attention, written table", TILES "for j in 0..c[t] { " FILL "} }",
	  TILES "for j in 0..w[t] { " TAKE "} w[t] = 1; }", "", false },
	{ "grouped", GROUPED("block_idx.x", "(start + n[g]) % 4", FILL),
	  GROUPED("block_idx.x", "(start + n[g]) % 4", TAKE), "", true },
	{ "grouped, other start",
	  GROUPED("block_idx.x", "(start + n[g]) % 4", FILL),
	  GROUPED("grid_dim.x", "(start + n[g]) % 4", TAKE), "", false },
	{ "grouped, other update",
	  GROUPED("block_idx.x", "(start + n[g]) % 4", FILL),
	  GROUPED("block_idx.x", "(start + n[g]) % 3", TAKE), "", false },
	{ "two halves", TILES STEPS FILL "} }", TILES "for k in 0..half { "
	  TAKE "} for k in half..steps { " TAKE "} }", "", false },
	{ "two parts of known length", TILES STEPS FILL "} }",
	  TILES "for k in 0..3 { " TAKE "} for k in 3..steps { " TAKE "} }",
	  "where steps >= 3 ", true },
};

/* Of a pipeline that is split, read by m[2]. */
static const struct pair split_pairs[] = {
	{ "ping-pong", TILES STEPS FILL "} }", TILES "if t % 2 == m.index { "
	  STEPS TAKE_M "} } else { skip(p, steps); } }", "", true },
	{ "ping-pong, nobody's tile", TILES STEPS FILL "} }",
	  TILES "if t % 3 == m.index { " STEPS TAKE_M
	  "} } else { skip(p, steps); } }", "", false },
	{ "ping-pong, short skip", TILES STEPS FILL "} }",
	  TILES "if t % 2 == m.index { " STEPS TAKE_M
	  "} } else { skip(p, steps - 1); } }", "", false },
	{ "skip and length", TILES STEPS FILL "} }",
	  TILES "const if m.index == 0 { skip(p, 0); " STEPS TAKE_M "} } "
	  "else { if steps > 0 { skip(p, steps); } } }", "", true },
};

static void
compare(const struct pair *p, bool is_split)
{
	static const int64_t extents[] = { 32 }, strides[] = { 1 };
	struct cj_actual a[9] = { 0 };
	const struct cj_binding *b;
	struct cj_module *m;
	const struct cj_diag *d;
	uint32_t i;

	for (i = 0; i < 4; i++)
		a[i] = tensor(i == 0 ? CJ_KIND_F32 : CJ_KIND_I32, 1, extents,
		    strides);
	for (; i < CJ_LENGTH(a); i++)
		a[i] = (struct cj_actual){ .present = true,
		    .kind = CJ_KIND_I64, .count = 1 };
	load(cj_printf(&arena, "kernel k(x: tensor(f32, 32:1), "
	    "c: tensor(i32, 32:1), n: tensor(i32, 32:1), "
	    "w: tensor(i32, 32:1), tiles: int, others: int, groups: int, "
	    "steps: int, half: int) %s target sm_90a { "
	    "launch grid(1) block(96) { pipeline p(3) %s "
	    "{ a: tensor(f32, 32); } role f warps(0) { %s } "
	    "role %s { %s } } }", p->where, is_split ? "split" : "",
	    p->fills, is_split ? "m[2] warps(1..3)" : "b warps(1)",
	    p->takes));
	b = bind(0, a, CJ_LENGTH(a), NULL, 0);
	ck_assert_msg(b != NULL, "%s: %s", p->name, why);
	m = cj_elab_kernel(&arena, unit, member(0), b, &(struct cj_aim){
	    .target = cj_target_find("sm_90a") }, &diags);
	ck_assert_msg((m != NULL) == p->agree, "%s: %s", p->name,
	    messages());
	for (d = diags.first; d != NULL && !p->agree; d = d->next)
		if (d->severity == CJ_ERROR)
			ck_assert_msg(d->code == CJ_DIAG_UNEQUAL_ROLES,
			    "%s: %s", p->name, messages());
}

START_TEST(roles_agree_or_not)
{
	compare(&pairs[_i], false);
}
END_TEST

START_TEST(one_role_takes_each_stage)
{
	compare(&split_pairs[_i], true);
}
END_TEST

static Suite *
async_compare_suite(void)
{
	Suite *s = suite_create("async_compare");
	TCase *c = tcase_create("roles");

	tcase_add_checked_fixture(c, set_up, tear_down);
	tcase_add_loop_test(c, roles_agree_or_not, 0, CJ_LENGTH(pairs));
	tcase_add_loop_test(c, one_role_takes_each_stage, 0,
	    CJ_LENGTH(split_pairs));
	suite_add_tcase(s, c);
	return s;
}

CJ_CHECK_MAIN(async_compare_suite)
