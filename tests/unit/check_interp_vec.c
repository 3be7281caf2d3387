/*
 * Every loop of interp_vec.h against cj_num_apply and cj_num_convert, bit by
 * bit: random bits, random numbers of all sizes, and the corners (NaN, inf,
 * denormals, halfway cases, zeros of both signs, least and largest integers).
 */
#include "check_main.h"

#include "ir/interp_priv.h"
#include "random.h"

enum { COUNT = 256 + 7, ROUNDS = 40, ROOM = COUNT * 8 + 64 };

static struct cj_recover point;
static struct cj_arena arena;
static struct cj_module *module;

static const double corners[] = { 0, 1, 2, 3, 0.5, 1.5, 65504, 65519, 65520,
	65536, 2147483647, 2147483648.0, 4294967296.0, 9223372036854775807.0,
	1e-7, 5.9604644775390625e-8, 2.98023223876953125e-8, 6.1035e-5,
	1.17549435e-38, 1.4e-45, 7e-46, 9.18355e-41, 3.4028235e38, 1e300,
	4.9e-324, 0.1, 1.0009765625, 1.00048828125, 255, 256, 127.5 };

/* Operands that are worth a look, as num.h keeps them. */
static uint64_t
random_bits(enum cj_kind k)
{
	const struct cj_conversion how = { .is_default = true };
	uint64_t w = random_word(), v;
	double d;

	switch (random_word() % 8) {
	case 0:
	case 1:
		d = corners[w % CJ_LENGTH(corners)];
		d = w >> 40 & 1 ? -d : d;
		v = cj_num_convert(k, CJ_KIND_F64, cj_num_from_f64(CJ_KIND_F64,
		    d), how);
		break;
	case 2:
		v = cj_num_convert(k, CJ_KIND_I64, (uint64_t)((int64_t)w
		    >> random_word() % 64), how);
		break;
	case 3:
		v = w % 70;
		break;
	case 4:		/* all ones, or an infinity, or a NaN */
		v = cj_kind_is_float(k) ? cj_num_from_f64(k,
		    w & 1 ? __builtin_inf() : __builtin_nan("")) : UINT64_MAX;
		break;
	case 5:
		v = (uint64_t)1 << (cj_kind_bits(k) - 1);
		break;
	default:
		v = w;
		break;
	}
	if (cj_kind_bits(k) < 64)
		v = cj_kind_is_signed(k)
		    ? (uint64_t)((int64_t)(v << (64 - cj_kind_bits(k)))
		    >> (64 - cj_kind_bits(k)))
		    : v & (((uint64_t)1 << cj_kind_bits(k)) - 1);
	return v;
}

struct bench {
	struct cj_frame f;
	struct cj_step s;
	struct cj_machine machine;
	struct cj_decoded code;
	struct cj_fault_list faults;
	char *regs;
};

/* A frame of COUNT lanes; operands at 1, 2 and 3 rooms, the result at 4. */
static void
prepare(struct bench *b, unsigned op, enum cj_kind k, cj_type result)
{
	struct cj_builder build = { .module = module };
	uint32_t fn = cj_module_function(module, CJ_FUNCTION_TEST, "t");
	unsigned most = cj_op_info[op].least, n;
	cj_ref x[3];

	memset(b, 0, sizeof *b);
	build.region = module->functions.at[fn].body;
	for (n = 0; n < 3; n++)
		x[n] = cj_emit_bits(&build, cj_type_of(op == CJ_OP_SELECT
		    && n == 0 ? CJ_KIND_BOOL : k, 1), 0);
	b->s.ref = cj_emit(&build, (enum cj_op)op, result, 0, x, most);
	b->regs = cj_alloc(&arena, 6 * ROOM + CJ_FRAME_ALIGN);
	b->regs += -(uintptr_t)b->regs & (CJ_FRAME_ALIGN - 1);
	b->code.module = module;
	b->code.lanes = COUNT;
	b->machine.faults = &b->faults;
	b->machine.arena = &arena;
	cj_fault_list_init(&b->faults, &arena);
	b->f.regs = b->regs;
	b->f.code = &b->code;
	b->f.machine = &b->machine;
	b->f.lanes = COUNT;
	b->s.op = (uint16_t)op;
	b->s.kind = b->s.from = (uint8_t)k;
	b->s.n = COUNT;
	b->s.a = ROOM;
	b->s.b = most > 1 ? 2 * ROOM : CJ_NO_OFFSET;
	b->s.c = most > 2 ? 3 * ROOM : CJ_NO_OFFSET;
	b->s.dst = 4 * ROOM;
}

static void
compare(struct bench *b, unsigned op, enum cj_kind k, cj_step_fn *run)
{
	cj_type out = cj_type_of((op >= CJ_OP_EQ && op <= CJ_OP_LE)
	    ? CJ_KIND_BOOL : k, 1);
	unsigned n, i;

	for (n = 1; n <= 3; n++)
		for (i = 0; i < COUNT; i++)
			cj_reg_set(b->regs + n * ROOM, i,
			    op == CJ_OP_SELECT && n == 1 ? CJ_KIND_BOOL : k,
			    op == CJ_OP_SELECT && n == 1 ? random_word() & 1
			    : random_bits(k));
	run(&b->f, &b->s);
	for (i = 0; i < COUNT; i++) {
		uint64_t x[3], want, got;

		for (n = 0; n < 3; n++)
			x[n] = cj_reg_get(b->regs + (n + 1) * ROOM, i,
			    op == CJ_OP_SELECT && n == 0 ? CJ_KIND_BOOL : k);
		want = cj_num_apply(op, k, x[0], x[1], x[2]);
		got = cj_reg_get(b->regs + 4 * ROOM, i, cj_type_kind(out));
		if (k == CJ_KIND_INDEX && cj_num_index_overflows(op,
		    (int64_t)x[0], (int64_t)x[1], (int64_t)x[2]))
			continue;	/* a fault, if the lane runs */
		if (want != got)	/* checking each one costs a minute */
			ck_abort_msg("%s %s of %llx, %llx, %llx: %llx, not "
			    "%llx", cj_op_info[op].text, cj_kind_text(k),
		    (unsigned long long)x[0], (unsigned long long)x[1],
		    (unsigned long long)x[2], (unsigned long long)got,
		    (unsigned long long)want);
	}
}

static unsigned
compare_table(const struct cj_vec_table *t)
{
	unsigned op, k, i, rows = 0;
	struct bench b;

	for (op = 0; op < CJ_OP_COUNT; op++)
		for (k = 0; k < CJ_KIND_COUNT; k++) {
			bool is_test = op >= CJ_OP_EQ && op <= CJ_OP_LE;

			if (t->op[op][k] == NULL)
				continue;
			rows++;
			prepare(&b, op, (enum cj_kind)k, cj_type_of(is_test
			    ? CJ_KIND_BOOL : (enum cj_kind)k, 1));
			for (i = 0; i < ROUNDS; i++)
				compare(&b, op, (enum cj_kind)k,
				    t->op[op][k]);
		}
	return rows;
}

static void
compare_conversion(struct bench *b, enum cj_kind to, enum cj_kind from,
    cj_step_fn *run)
{
	const struct cj_conversion how = { .is_default = true };
	unsigned i;

	for (i = 0; i < COUNT; i++)
		cj_reg_set(b->regs + ROOM, i, from, random_bits(from));
	run(&b->f, &b->s);
	for (i = 0; i < COUNT; i++) {
		uint64_t x = cj_reg_get(b->regs + ROOM, i, from);
		uint64_t got = cj_reg_get(b->regs + 4 * ROOM, i, to);
		uint64_t want = cj_num_convert(to, from, x, how);

		if (want != got)
			ck_abort_msg("%s of %s %llx: %llx, not %llx",
			    cj_kind_text(to), cj_kind_text(from),
			    (unsigned long long)x, (unsigned long long)got,
			    (unsigned long long)want);
	}
}

static unsigned
compare_conversions(const struct cj_vec_table *t)
{
	unsigned to, from, i, rows = 0;
	struct bench b;

	for (to = 0; to < CJ_KIND_COUNT; to++)
		for (from = 0; from < CJ_KIND_COUNT; from++) {
			if (t->convert[to][from] == NULL)
				continue;
			rows++;
			prepare(&b, CJ_OP_CONVERT, (enum cj_kind)from,
			    cj_type_of((enum cj_kind)to, 1));
			for (i = 0; i < ROUNDS; i++)
				compare_conversion(&b, (enum cj_kind)to,
				    (enum cj_kind)from, t->convert[to][from]);
		}
	return rows;
}

static void
set_up(void)
{
	CJ_CHECK_RECOVER(&point);
	cj_arena_init(&arena, &point, NULL);
	module = cj_module_create(&arena, "t", NULL);
}

static void
tear_down(void)
{
	cj_arena_fini(&arena);
}

START_TEST(plain_loops_agree)
{
	ck_assert_uint_gt(compare_table(&cj_vec_plain), 200);
}
END_TEST

START_TEST(plain_conversions_agree)
{
	ck_assert_uint_gt(compare_conversions(&cj_vec_plain), 100);
}
END_TEST

START_TEST(best_loops_agree)
{
	ck_assert_uint_gt(compare_table(cj_vec_best()), 200);
}
END_TEST

START_TEST(best_conversions_agree)
{
	ck_assert_uint_gt(compare_conversions(cj_vec_best()), 100);
}
END_TEST

/* All 2^16 values of both narrow floats, there and back. */
START_TEST(all_halves_convert)
{
	const struct cj_conversion how = { .is_default = true };
	static const enum cj_kind kinds[] = { CJ_KIND_F16, CJ_KIND_BF16 };
	const struct cj_vec_table *t = cj_vec_best();
	unsigned k, from, i;
	struct bench b;

	for (k = 0; k < 2; k++) {
		prepare(&b, CJ_OP_CONVERT, kinds[k],
		    cj_type_of(CJ_KIND_F32, 1));
		for (from = 0; from < 65536; from += 256) {
			for (i = 0; i < 256; i++)
				cj_reg_set(b.regs + ROOM, i, kinds[k],
				    from + i);
			t->convert[CJ_KIND_F32][kinds[k]](&b.f, &b.s);
			for (i = 0; i < 256; i++)
				ck_assert_uint_eq(cj_reg_get(b.regs + 4 * ROOM,
				    i, CJ_KIND_F32), cj_num_convert(
				    CJ_KIND_F32, kinds[k], from + i, how));
		}
	}
}
END_TEST

/* Whether a fault is seen depends on the lanes that run alone. */
START_TEST(overflow_is_seen_of_running_lanes)
{
	static const unsigned ops[] = { CJ_OP_ADD, CJ_OP_SUB, CJ_OP_MUL,
	    CJ_OP_FMA, CJ_OP_NEG, CJ_OP_DIV };
	unsigned o, i, round;
	struct bench b;

	for (o = 0; o < CJ_LENGTH(ops); o++)
		for (round = 0; round < ROUNDS; round++) {
			uint64_t want = 0;

			prepare(&b, ops[o], CJ_KIND_INDEX,
			    cj_type_of(CJ_KIND_INDEX, 1));
			b.s.from = 0;
			for (i = 0; i < COUNT; i++) {
				int64_t x[3];
				unsigned n;

				b.regs[i] = (char)(random_word() & 1);
				for (n = 0; n < 3; n++) {
					x[n] = (int64_t)random_bits(
					    CJ_KIND_INDEX);
					cj_reg_set(b.regs + (n + 1) * ROOM, i,
					    CJ_KIND_INDEX, (uint64_t)x[n]);
				}
				want += b.regs[i] && cj_num_index_overflows(
				    ops[o], x[0], x[1], x[2]);
			}
			cj_vec_best()->op[ops[o]][CJ_KIND_INDEX](&b.f, &b.s);
			ck_assert_uint_eq(b.faults.total, want);
			b.s.from = 1;	/* where nobody goes: it may wrap */
			cj_vec_best()->op[ops[o]][CJ_KIND_INDEX](&b.f, &b.s);
			ck_assert_uint_eq(b.faults.total, want);
		}
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("interp_vec");
	TCase *c = tcase_create("all");

	tcase_set_timeout(c, 60);
	tcase_add_checked_fixture(c, set_up, tear_down);
	tcase_add_test(c, plain_loops_agree);
	tcase_add_test(c, plain_conversions_agree);
	tcase_add_test(c, best_loops_agree);
	tcase_add_test(c, best_conversions_agree);
	tcase_add_test(c, all_halves_convert);
	tcase_add_test(c, overflow_is_seen_of_running_lanes);
	suite_add_tcase(s, c);
	return s;
}

CJ_CHECK_MAIN(suite)
