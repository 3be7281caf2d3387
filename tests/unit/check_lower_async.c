/*
 * Pipelines before and after they are lowered: the executor leaves the same in
 * memory, in any order of warps; what lowering puts in is enough, and each
 * wait and barrier of it is needed, as leaving it out shows.
 */
#include "lower_fixture.h"

#define KERNEL(stages, body)						\
	"kernel k(x: tensor(f32, (256, 7):(1, 256)) align(16), "	\
	"w: tensor(f32, (256, 7):(1, 256)) align(16), "			\
	"y: tensor(f32, 256:1) align(16)) { launch grid(2) block(64) { " \
	"pipeline p(" stages ") { a: tensor(f32, 256); } "		\
	"pipeline q(" stages ") { a: tensor(f32, 256); } "		\
	"const c = tiled_copy(cp_async(f32, 4), 64:1, 4:1); "		\
	"let t = thread_idx.x; var v = zeros(f32, 4); " body		\
	"local_tile(y, 4, t) = v; } }"
#define COPY(x, k)							\
	"copy(c, partition_s(c, " x "[_, " k "], t), partition_d(c, s.a, t));"
#define STORE(x, k)							\
	"local_tile(s.a, 4, t) = local_tile(" x "[_, " k "], 4, t);"
#define READ	"v += local_tile(s.a, 4, 63 - t);"
#define USE_Q								\
	"produce q as s { s.a[t] = 1; } consume q as s { v += s.a[63 - t]; } "

static const struct sample {
	const char *name, *text;
	unsigned barriers;		/* in a turn of the loop */
} samples[] = {
	{ "stores, one stage", KERNEL("1",
	  "for k in 0..7 { produce p as s { " STORE("x", "k") " } "
	  "consume p as s { " READ " } } " USE_Q), 2 },
	{ "stores, ahead", KERNEL("2",
	  "for k in 0..7 { produce p as s ahead(1) { " STORE("x", "k") " } "
	  "consume p as s { " READ " } } " USE_Q), 1 },
	{ "copies, not ahead", KERNEL("2",
	  "for k in 0..7 { produce p as s { " COPY("x", "k") " } "
	  "consume p as s { " READ " } } " USE_Q), 1 },
	{ "copies, two stages", KERNEL("2",
	  "for k in 0..7 { produce p as s ahead(1) { " COPY("x", "k") " } "
	  "consume p as s { " READ " } } " USE_Q), 1 },
	{ "copies, four stages", KERNEL("4",
	  "for k in 0..7 { produce p as s ahead(3) { " COPY("x", "k") " } "
	  "consume p as s { " READ " } } " USE_Q), 1 },
	{ "copies, a stage to spare", KERNEL("4",
	  "for k in 0..7 { produce p as s ahead(2) { " COPY("x", "k") " } "
	  "consume p as s { " READ " } } " USE_Q), 1 },
	{ "two rings", KERNEL("2",
	  "for k in 0..7 { produce p as s ahead(1) { " COPY("x", "k") " } "
	  "produce q as s ahead(1) { " COPY("w", "k") " } "
	  "consume p as s { " READ " } consume q as s { v *= 0.5; " READ
	  " } } "), 2 },
	{ "kept", KERNEL("3",
	  "for r in 0..2 { var n = v; for k in 0..7 { "
	  "produce p as s ahead(2) { " COPY("x", "k") " } "
	  "consume p as s { if k == 0 { n = local_tile(s.a, 4, 63 - t); } "
	  "v += local_tile(s.a, 4, 60 - t % 60) * n; "
	  "if k + 1 < 7 { consume p as m keep { "
	  "n = local_tile(m.a, 4, 63 - t); } } } } } " USE_Q), 1 },
	{ "nested", KERNEL("2",
	  "for k in 0..7 { produce p as s ahead(1) { " COPY("x", "k") " } "
	  "consume p as o { for j in 0..3 { produce q as s ahead(1) { "
	  STORE("w", "j") " } consume q as s { " READ
	  " v += local_tile(o.a, 4, 63 - t); } } } } "), 1 },
};

static const struct array arrays[] = {
	{ CJ_KIND_F32, { 256, 7 }, 2, false },
	{ CJ_KIND_F32, { 256, 7 }, 2, false },
	{ CJ_KIND_F32, { 256, 1 }, 1, true } };

static struct cj_module *
make(const struct sample *s)
{
	static const int64_t extents[] = { 256, 7 }, strides[] = { 1, 256 };
	struct cj_actual actuals[] = {
	    tensor(CJ_KIND_F32, 2, extents, strides),
	    tensor(CJ_KIND_F32, 2, extents, strides),
	    tensor(CJ_KIND_F32, 1, extents, strides) };
	struct cj_module *m;

	load(s->text);
	m = elaborate(0, bind(0, actuals, 3, NULL, 0));
	pass(m, "ahead");
	return m;
}

/* Number of faults; y is left as the kernel wrote it. */
static uint64_t
run(const struct cj_module *m, uint64_t seed)
{
	return run_block(m, arrays, 3, seed);
}

START_TEST(both_forms_agree)
{
	const struct sample *s = &samples[_i];
	struct cj_module *m = make(s);
	static float expected[256];
	uint64_t seed;

	ck_assert_uint_eq(run(m, 0), 0);
	memcpy(expected, f32_of(2), sizeof expected);
	for (seed = 1; seed < 6; seed++) {
		ck_assert_msg(run(m, seed) == 0, "%s: %s", s->name,
		    messages());
		ck_assert_int_eq(memcmp(expected, f32_of(2),
		    sizeof expected), 0);
	}
	pass(m, "lower_async");
	for (seed = 0; seed < 6; seed++) {
		ck_assert_msg(run(m, seed) == 0, "%s: %s", s->name,
		    messages());
		ck_assert_int_eq(memcmp(expected, f32_of(2),
		    sizeof expected), 0);
	}
}
END_TEST

static bool
is_sync(const struct cj_inst *i)
{
	return i->op == CJ_OP_BARRIER || i->op == CJ_OP_CP_WAIT;
}

START_TEST(nothing_can_be_left_out)
{
	const struct sample *s = &samples[_i];
	unsigned n;

	for (n = 0;; n++) {
		struct cj_module *m = make(s);
		uint64_t faults = 0, seed;
		cj_region region;
		cj_ref r;

		pass(m, "lower_async");
		r = find_nth(m, is_sync, n, &region);
		if (r == 0)
			break;
		cj_inst_remove(m, region, r);
		for (seed = 0; seed < 8 && faults == 0; seed++)
			faults = run(m, seed);
		ck_assert_msg(faults != 0, "%s: number %u, \"%s\", is not "
		    "needed", s->name, n, cj_op_info[cj_inst(m, r)->op].text);
		cj_diags_init(&diags, &arena, &sources);
	}
	ck_assert_uint_gt(n, 0);
}
END_TEST

static bool
is_in_loop(const struct cj_module *m, cj_region g)
{
	cj_ref owner;

	while ((owner = m->regions.at[g].owner) != 0) {
		if (cj_inst(m, owner)->op == CJ_OP_FOR)
			return true;
		g = m->regions.at[g].parent;
	}
	return false;
}

/* Of the innermost loop: the first one that holds stages. */
START_TEST(turns_have_few_barriers)
{
	const struct sample *s = &samples[_i];
	struct cj_module *m = make(s);
	unsigned barriers = 0, muls = 0, n;
	struct cj_walk walk;
	cj_region region, loop = 0;
	cj_ref r;

	pass(m, "lower_async");
	for (n = 0; (r = find_nth(m, is_sync, n, &region)) != 0; n++) {
		if (cj_inst(m, r)->op != CJ_OP_BARRIER ||
		    !is_in_loop(m, region))
			continue;
		while (m->regions.at[region].owner != 0 && cj_inst(m,
		    m->regions.at[region].owner)->op != CJ_OP_FOR)
			region = m->regions.at[region].parent;
		barriers += loop == 0 || region == loop;
		loop = loop == 0 ? region : loop;
	}
	ck_assert_msg(barriers == s->barriers, "%s: %u barriers a turn, not "
	    "%u", s->name, barriers, s->barriers);
	/* nothing is multiplied by the number of a stage */
	for (walk = cj_walk_begin(m, m->functions.at[2].body);
	    cj_walk_next(&walk);) {
		const struct cj_inst *i;

		if (walk.event != CJ_WALK_INST)
			continue;
		i = cj_inst(m, walk.ref);
		muls += i->op == CJ_OP_MUL && cj_type_kind(i->type) ==
		    CJ_KIND_INDEX && cj_inst(m, cj_operand(m, i, 0))->op ==
		    CJ_OP_SLOT_GET;
	}
	ck_assert_uint_eq(muls, 0);
}
END_TEST

static Suite *
lower_async_suite(void)
{
	Suite *s = suite_create("lower_async");
	TCase *c = tcase_create("rings");

	tcase_add_checked_fixture(c, set_up, tear_down);
	tcase_set_timeout(c, 60);
	tcase_add_loop_test(c, both_forms_agree, 0, CJ_LENGTH(samples));
	tcase_add_loop_test(c, nothing_can_be_left_out, 0,
	    CJ_LENGTH(samples));
	tcase_add_loop_test(c, turns_have_few_barriers, 0,
	    CJ_LENGTH(samples));
	suite_add_tcase(s, c);
	return s;
}

CJ_CHECK_MAIN(lower_async_suite)
