/*
 * Contracts at run time: the host function accepts what the contract allows
 * and names what it does not, with the numbers that came.
 */
#include "elab_fixture.h"

static const char kernel[] =
    "kernel k(x: tensor(f16, (M, N):(ld, 1)) align(16),\n"
    "         y: tensor(f16, (M, N):(_, 1)), n: int)\n"
    "where N % 8 == 0, n < M, M + n <= 100\n"
    "{ launch grid(M) block(32) { y[block_idx.x, 0] = x[block_idx.x, n]; } }\n";

struct call {
	int64_t x[4], y[4], align, n;	/* M, N, stride 0, stride 1 */
};

/* The values of the leaves for a call. */
static const uint64_t *
values_of(const struct cj_function *f, const struct call *c)
{
	uint64_t *v = CJ_NEWS(&arena, uint64_t, f->leaves.len + 1);
	uint32_t i;

	for (i = 0; i < f->leaves.len; i++) {
		const struct cj_leaf *l = &f->leaves.at[i];
		const int64_t *t = l->parameter == 0 ? c->x : c->y;

		switch (l->kind) {
		case CJ_LEAF_EXTENT: v[i] = (uint64_t)t[l->mode]; break;
		case CJ_LEAF_STRIDE: v[i] = (uint64_t)t[2 + l->mode]; break;
		case CJ_LEAF_ALIGN:
			v[i] = (uint64_t)(l->parameter == 0 ? c->align : 2);
			break;
		case CJ_LEAF_SCALAR: v[i] = (uint64_t)c->n; break;
		case CJ_LEAF_PRESENT: v[i] = 1; break;
		case CJ_LEAF_OBJECT: case CJ_LEAF_VALUE:
			ck_abort_msg("the host function has no such leaf");
		}
	}
	return v;
}

static int launches;

static bool
count_launch(void *user, const struct cj_kernel_launch *k,
    const struct cj_launch *attributes)
{
	(void)user;
	(void)attributes;
	launches++;
	ck_assert_int_eq(k->block[0], 32);
	return true;
}

static const struct {
	struct call call;
	const char *need, *parameter, *values;	/* need NULL: accepted */
} cases[] = {
	{ { { 10, 16, 16, 1 }, { 10, 16, 24, 1 }, 16, 3 }, NULL, NULL, NULL },
	{ { { 10, 16, 0, 1 }, { 10, 16, 24, 1 }, 64, 3 }, NULL, NULL, NULL },
	/* a stride of one element matches anything */
	{ { { 1, 16, 3, 1 }, { 1, 16, 5, 1 }, 16, 0 }, NULL, NULL, NULL },
	{ { { 10, 16, 16, 1 }, { 11, 16, 24, 1 }, 16, 3 },
	    "extent of mode 0 of y == M", "y",
	    "extent of mode 0 of y = 11, M = 10" },
	{ { { 10, 16, 16, 2 }, { 10, 16, 24, 1 }, 16, 3 },
	    "stride of mode 1 of x == 1", "x", "stride of mode 1 of x = 2" },
	{ { { 10, 16, 20, 1 }, { 10, 16, 24, 1 }, 16, 3 },
	    "the stride of mode 0 a multiple of 8 elements, and so of 16 bytes",
	    "x", "ld = 20" },
	{ { { 10, 16, 16, 1 }, { 10, 16, 24, 1 }, 8, 3 },
	    "16-byte alignment", "x", "alignment of x = 8" },
	{ { { 10, 12, 16, 1 }, { 10, 12, 24, 1 }, 16, 3 }, "N % 8 == 0", NULL,
	    "N = 12" },
	{ { { 10, 16, 16, 1 }, { 10, 16, 24, 1 }, 16, 10 }, "n < M", NULL,
	    "n = 10, M = 10" },
	{ { { 60, 16, 16, 1 }, { 60, 16, 24, 1 }, 16, 50 }, "M + n <= 100",
	    NULL, "M = 60, n = 50" },
};

START_TEST(contract_is_checked)
{
	const struct cj_host_hooks hooks = { .launch = count_launch };
	struct cj_host_outcome out = { 0 };
	const struct cj_require *r;
	struct cj_module *m;

	load(kernel);
	m = elaborate(0, bind(0, NULL, 0, NULL, 0));
	cj_passes_run(m, &point, NULL, NULL);
	launches = 0;
	cj_interp_host(&arena, m, 1, values_of(&m->functions.at[1],
	    &cases[_i].call), &hooks, &diags, &out);
	if (cases[_i].need == NULL) {
		ck_assert_uint_eq(out.require, 0);
		ck_assert_int_eq(launches, 1);
		return;
	}
	ck_assert_int_eq(launches, 0);
	ck_assert_uint_ne(out.require, 0);
	r = &m->requires.at[out.require];
	ck_assert_str_eq(r->need, cases[_i].need);
	ck_assert_str_eq(out.values, cases[_i].values);
	if (cases[_i].parameter == NULL)
		ck_assert_ptr_null(r->parameter);
	else
		ck_assert_str_eq(r->parameter, cases[_i].parameter);
}
END_TEST

/* What the contract proves: widths of the accesses. */
static const struct {
	const char *text;
	unsigned count;
	enum cj_op op;
	unsigned registers;	/* of the first such access */
	unsigned masks;
} proofs[] = {
	{ "kernel k(x: tensor(f16, (M, N):(_, 1)) align(16)) where N % 8 == 0 "
	  "{ launch grid(M) block(1) { local_tile(x[block_idx.x, _], 8, "
	  "thread_idx.x) = 0; } }", 1, CJ_OP_STORE, 8, 0 },
	/* the base may be at any element */
	{ "kernel k(x: tensor(f16, (M, N):(_, 1))) where N % 8 == 0 "
	  "{ launch grid(M) block(1) { local_tile(x[block_idx.x, _], 8, "
	  "thread_idx.x) = 0; } }", 8, CJ_OP_STORE, 1, 0 },
	/* 4 bytes beyond the aligned ones */
	{ "kernel k(x: tensor(f16, N:1) align(16)) "
	  "{ launch grid(1) block(1) { x[2..10] = 0; } }", 4, CJ_OP_STORE, 2,
	  0 },
	{ "kernel k(x: tensor(f32, N:1) align(16)) where N % 4 == 0 "
	  "{ launch grid(1) block(32) { guard(local_tile(x, 4, thread_idx.x)) "
	  "= 0; } }", 1, CJ_OP_STORE, 4, 1 },
	/* the guard may cut an access of 4 in two */
	{ "kernel k(x: tensor(f32, N:1) align(16)) "
	  "{ launch grid(1) block(32) { guard(local_tile(x, 4, thread_idx.x)) "
	  "= 0; } }", 4, CJ_OP_STORE, 1, 4 },
	/* tiles that all lie inside need no mask */
	{ "kernel k(x: tensor(f32, N:1) align(16)) where N % 4 == 0 "
	  "{ launch grid(N / 4) block(1) { guard(local_tile(x, 4, "
	  "block_idx.x)) = 0; } }", 1, CJ_OP_STORE, 4, 0 },
	/* a known extent of a row; the stride is a multiple by the contract */
	{ "kernel k(x: tensor(f32, (M, 4):(4, 1)) align(16)) "
	  "{ launch grid(M) block(1) { x[block_idx.x, _] = 0; } }", 1,
	  CJ_OP_STORE, 4, 0 },
	/* column-major registers, row-major memory: four rows of four */
	{ "kernel k(x: tensor(f32, (4, 4):(4, 1)) align(16)) "
	  "{ launch grid(1) block(1) { x = 0; } }", 4, CJ_OP_STORE, 4, 0 },
	/* a broadcast row is read once */
	{ "kernel k(x: tensor(f32, (4, 4):(0, 1)) align(16), y: tensor(f32, "
	  "1:1)) { launch grid(1) block(1) { y[0] = sum(x); } }", 1,
	  CJ_OP_LOAD, 4, 0 },
};

static void
count_in(const struct cj_module *m, cj_region region, enum cj_op op,
    unsigned found[3])
{
	cj_ref r;

	for (r = m->regions.at[region].first; r != 0; r = cj_inst(m, r)->next) {
		const struct cj_inst *i = cj_inst(m, r);
		cj_region g;

		for (g = i->region; g != 0; g = m->regions.at[g].next)
			count_in(m, g, op, found);
		if (i->op != op)
			continue;
		if (found[0]++ == 0)
			found[1] = cj_type_count(op == CJ_OP_STORE ?
			    cj_inst(m, cj_operand(m, i, 1))->type : i->type);
		if (i->operand_count == 3)
			found[2]++;
	}
}

START_TEST(widths_are_proved)
{
	unsigned found[3] = { 0 };
	struct cj_module *m;

	load(proofs[_i].text);
	m = elaborate(0, bind(0, NULL, 0, NULL, 0));
	count_in(m, m->functions.at[2].body, proofs[_i].op, found);
	ck_assert_uint_eq(found[0], proofs[_i].count);
	ck_assert_uint_eq(found[1], proofs[_i].registers);
	ck_assert_uint_eq(found[2], proofs[_i].masks);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("elab_contract");
	TCase *c = tcase_create("elab_contract");

	tcase_add_checked_fixture(c, set_up, tear_down);
	tcase_add_loop_test(c, contract_is_checked, 0,
	    (int)CJ_LENGTH(cases));
	tcase_add_loop_test(c, widths_are_proved, 0,
	    (int)CJ_LENGTH(proofs));
	suite_add_tcase(s, c);
	return s;
}

CJ_CHECK_MAIN(suite)
