/*
 * Roles after they are lowered: right in any order of warps, and nothing of
 * what lowering puts in can be left out without a fault that the executor
 * finds.
 */
#include "lower_fixture.h"

#define ROWS	8
#define TENSORS								\
	"x: tensor(f32, (8, 64):(64, 1)) align(16), "			\
	"y: tensor(f32, (8, 64):(64, 1)) align(16)"
#define STAGED								\
	"const lay = smem_layout(f32, (1, 64)); "			\
	"let load = tma_load(x, lay); let store = tma_store(y, lay); "
static const struct sample {
	const char *name, *text;
	/* What need not be there: the fence behind the mbarriers' begin where
	 * nothing asynchronous signals them, its barrier in front of another
	 * one, and stages given back at the end for which nobody waits. */
	unsigned spare;
} samples[] = {
	{ "by TMA, to threads", "kernel k(" TENSORS ") target sm_90a { " STAGED
	  "launch grid(1) block(96) { pipeline p(2) { a: tensor(f32, lay); } "
	  "role loader warps(0) { for i in 0..8 { produce p as s { "
	  "copy(load, local_tile(x, (1, 64), (i, 0)), s.a); } } } "
	  "role math warps(1..3) { for i in 0..8 { consume p as s { "
	  "y[i, math.thread] = s.a[0, 63 - math.thread]; } } } } }", 0 },
	{ "by TMA there and back", "kernel k(" TENSORS ") target sm_90a { "
	  STAGED
	  "launch grid(1) block(96) { pipeline p(2) { a: tensor(f32, lay); } "
	  "role loader warps(0) { for i in 0..8 { produce p as s { "
	  "copy(load, local_tile(x, (1, 64), (i, 0)), s.a); } } } "
	  "role math warps(1..3) { pipeline q(2) { b: tensor(f32, lay); } "
	  "for i in 0..8 { produce q as t { consume p as s { "
	  "t.b[0, math.thread] = s.a[0, 63 - math.thread]; } } "
	  "consume q as t { copy(store, t.b, local_tile(y, (1, 64), (i, 0)));"
	  " } } } } }", 0 },
	{ "stores, to TMA in another role", "kernel k(" TENSORS
	  ") target sm_90a { " STAGED
	  "launch grid(1) block(96) { pipeline p(3) { a: tensor(f32, lay); } "
	  "role make warps(0..2) { for i in 0..8 { produce p as s { "
	  "s.a[0, make.thread] = x[i, 63 - make.thread]; } } } "
	  "role send warps(2) { for i in 0..8 { consume p as s in_flight(1) { "
	  "copy(store, s.a, local_tile(y, (1, 64), (i, 0))); } } } } }", 2 },
	{ "cp.async, to threads", "kernel k(" TENSORS ") target sm_90a { "
	  "const c = tiled_copy(cp_async(f32, 4), 16:1, 4:1); "
	  "launch grid(1) block(96) { pipeline p(2) { a: tensor(f32, 64); } "
	  "role make warps(0) { for i in 0..8 { produce p as s { "
	  "if make.thread < 16 { copy(c, partition_s(c, x[i, _], "
	  "make.thread), partition_d(c, s.a, make.thread)); } } } } "
	  "role math warps(1..3) { for i in 0..8 { consume p as s { "
	  "y[i, math.thread] = s.a[63 - math.thread]; } } } } }", 1 },
	{ "split, by turns", "kernel k(" TENSORS ") target sm_90a { "
	  "launch grid(1) block(160) { shared last: tensor(f32, 64); "
	  "pipeline p(2) split { a: tensor(f32, 64); } order q(2); "
	  "if thread_idx.x < 64 { last[thread_idx.x] = 0; } sync(); "
	  "role make warps(0) { for i in 0..8 { produce p as s { "
	  "s.a[make.thread] = x[i, make.thread]; "
	  "s.a[32 + make.thread] = x[i, 32 + make.thread]; } } } "
	  "role math[2] warps(1..5) { for i in 0..8 { "
	  "if i % 2 != math.index { skip(p, 1); continue; } "
	  "turn q as math.index { "
	  "last[math.thread] = last[math.thread] + 1; "
	  "consume p as s { y[i, math.thread] = s.a[63 - math.thread]; } } "
	  "} } } }", 2 },
};

static const struct array arrays[] = {
	{ CJ_KIND_F32, { ROWS, 64 }, 2, false },
	{ CJ_KIND_F32, { ROWS, 64 }, 2, true } };

static struct cj_module *
make(const struct sample *s)
{
	struct cj_actual actuals[2];
	int64_t strides[2][2];
	struct cj_module *m;

	actuals_of(arrays, 2, actuals, strides);
	load(s->text);
	m = elaborate(0, bind(0, actuals, 2, NULL, 0));
	lower(m);
	return m;
}

/* Number of faults; y is left as the kernel wrote it. */
static uint64_t
run(const struct cj_module *m, uint64_t seed)
{
	return run_all(m, arrays, 2, seed);
}

START_TEST(right_in_any_order)
{
	const struct sample *s = &samples[_i];
	struct cj_module *m = make(s);
	uint64_t seed;
	unsigned i, j;

	for (seed = 0; seed < 20; seed++) {
		ck_assert_msg(run(m, seed) == 0, "%s: %s",
		    s->name, messages());
		for (i = 0; i < ROWS; i++)
			for (j = 0; j < 64; j++)
				ck_assert_float_eq(f32_of(1)[i * 64 + j],
				    f32_of(0)[i * 64 + 63 - j]);
	}
}
END_TEST

/* What orders something. */
static bool
is_sync(const struct cj_inst *i)
{
	switch ((unsigned)i->op) {
	case CJ_OP_MBARRIER_INIT: case CJ_OP_MBARRIER_ARRIVE:
	case CJ_OP_MBARRIER_EXPECT: case CJ_OP_MBARRIER_WAIT:
	case CJ_OP_CP_ARRIVE: case CJ_OP_FENCE: case CJ_OP_NAMED_BARRIER:
	case CJ_OP_SYNC_WARP: case CJ_OP_BARRIER: case CJ_OP_BULK_COMMIT:
	case CJ_OP_BULK_WAIT_READ:
		return true;
	}
	return false;
}

START_TEST(nothing_can_be_left_out)
{
	const struct sample *s = &samples[_i];
	unsigned n, spare = 0;

	for (n = 0;; n++) {
		struct cj_module *m = make(s);
		uint64_t faults = 0, seed;
		cj_region region;
		cj_ref r = find_nth(m, is_sync, n, &region);

		if (r == 0)
			break;
		cj_inst_remove(m, region, r);
		for (seed = 0; seed < 20 && faults == 0; seed++)
			faults = run(m, seed);
		spare += faults == 0;
		ck_assert_msg(spare <= s->spare, "%s: number %u, \"%s\", is "
		    "not needed", s->name, n,
		    cj_op_info[cj_inst(m, r)->op].text);
		cj_diags_init(&diags, &arena, &sources);
	}
	ck_assert_uint_gt(n, 5);
	ck_assert_uint_eq(spare, s->spare);
}
END_TEST

/* Two products of a turn: the first one's stage goes back when it has ended,
 * while the second one runs. */
#define OVERLAP(uses)							\
	"kernel k(x: tensor(f16, (64, 64):(64, 1)) align(16), "		\
	"y: tensor(f32, (64, 64):(64, 1))) target sm_90a { "		\
	"const mma = tiled_mma(wgmma(64, 64, 16, f16, f16, f32), "	\
	"(1, 1, 1)); "							\
	"const lay = smem_layout(f16, (64, 64)); "			\
	"let load = tma_load(x, lay); launch grid(1) block(256) { "	\
	"shared q: tensor(f16, lay); "					\
	"pipeline a(2) { m: tensor(f16, lay); } "			\
	"pipeline b(2) { m: tensor(f16, lay); } "			\
	"role load_both warpgroups(0) { for i in 0..9 { "		\
	"produce a as s { copy(load, x, s.m); } "			\
	"produce b as s { copy(load, x, s.m); } } } "			\
	"role math warpgroups(1) { var sums = zeros(f32, "		\
	"shape(partition_c(mma, y, math.thread))); "			\
	"var u = fragment_c(mma, (64, 64)); "				\
	"var v = fragment_c(mma, (64, 64), fill = 0); "			\
	"for i in 0..9 { consume a as s { consume b as t { "		\
	"gemm(mma, q, s.m, u, accumulate = false); "			\
	"gemm(mma, q, t.m, v); "					\
	uses " v *= 0.5; } } } "					\
	"partition_c(mma, y, math.thread) = sums; "			\
	"partition_c(mma, y, math.thread) = v; } } }"

START_TEST(stages_go_back_early)
{
	static const int64_t extents[] = { 64, 64 }, strides[] = { 64, 1 };
	struct cj_actual actuals[] = {
	    tensor(CJ_KIND_F16, 2, extents, strides),
	    tensor(CJ_KIND_F32, 2, extents, strides) };
	struct cj_strbuf seen;
	struct cj_module *m;
	struct cj_walk w;

	load(OVERLAP("sums += u;"));
	m = elaborate(0, bind(0, actuals, 2, NULL, 0));
	pass(m, "ahead");
	pass(m, "wgmma_wait");
	cj_strbuf_init(&seen, &arena);
	for (w = cj_walk_begin(m, m->functions.at[2].body);
	    cj_walk_next(&w);) {
		const struct cj_inst *i;

		if (w.event != CJ_WALK_INST)
			continue;
		i = cj_inst(m, w.ref);
		if (i->op == CJ_OP_WGMMA_COMMIT)
			cj_strbuf_puts(&seen, "group ");
		if (i->op == CJ_OP_WGMMA_WAIT)
			cj_strbuf_printf(&seen, "wait %u ", i->attr);
		if (i->op == CJ_OP_RELEASE)
			cj_strbuf_printf(&seen, "release %u ", m->stage_uses
			    .at[i->attr].pipeline);
	}
	ck_assert_str_eq(seen.text, "group group wait 1 release 1 wait 0 "
	    "release 2 ");
}
END_TEST

/* What reads a sum under a condition has its wait in front of that. */
START_TEST(waits_stand_in_front_of_conditions)
{
	static const int64_t extents[] = { 64, 64 }, strides[] = { 64, 1 };
	struct cj_actual actuals[] = {
	    tensor(CJ_KIND_F16, 2, extents, strides),
	    tensor(CJ_KIND_F32, 2, extents, strides) };
	struct cj_module *m;
	struct cj_walk w;
	unsigned waits = 0;

	load(OVERLAP("if i > 3 { u *= 2; } sums += u;"));
	m = elaborate(0, bind(0, actuals, 2, NULL, 0));
	pass(m, "ahead");
	pass(m, "wgmma_wait");
	for (w = cj_walk_begin(m, m->functions.at[2].body);
	    cj_walk_next(&w);) {
		cj_ref owner;

		if (w.event != CJ_WALK_INST || cj_inst(m, w.ref)->op !=
		    CJ_OP_WGMMA_WAIT)
			continue;
		owner = m->regions.at[w.region].owner;
		ck_assert(owner == 0 || cj_inst(m, owner)->op != CJ_OP_IF);
		waits++;
	}
	ck_assert_uint_ge(waits, 2);
}
END_TEST

static Suite *
lower_role_suite(void)
{
	Suite *s = suite_create("lower_role");
	TCase *c = tcase_create("channels");

	tcase_add_checked_fixture(c, set_up, tear_down);
	tcase_set_timeout(c, 120);
	tcase_add_loop_test(c, right_in_any_order, 0, CJ_LENGTH(samples));
	tcase_add_loop_test(c, nothing_can_be_left_out, 0,
	    CJ_LENGTH(samples));
	tcase_add_test(c, stages_go_back_early);
	tcase_add_test(c, waits_stand_in_front_of_conditions);
	suite_add_tcase(s, c);
	return s;
}

CJ_CHECK_MAIN(lower_role_suite)
