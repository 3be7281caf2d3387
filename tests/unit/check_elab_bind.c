/*
 * Binding: what arguments bind, canonical texts, why a member does not fit.
 */
#include "elab_fixture.h"

static const char relu[] =
    "kernel relu(const T: type in {f16, f32} = f16, const threads = 256,\n"
    "            x: tensor(T, (M, N):(_, 1)) align(16),\n"
    "            y: tensor(T, (M, N):(_, 1)) align(16), alpha: f32 = 1)\n"
    "where N % 8 == 0, threads % 32 == 0\n"
    "{ launch grid(1) block(threads) { } }\n"
    "kernel relu(const T: type = f32, x: tensor(T, *S), y: tensor(T, *S),\n"
    "            alpha: f32)\n"
    "{ launch grid(1) block(1) { } }\n"
    "kernel row(\n"
    "    x: tensor(f32, (M, const N in 1..1000):(_, const _ in {0, 1})),\n"
    "    b: tensor(f32, N:1) = none)\n"
    "{ launch grid(1) block(1) { } }\n"
    "kernel map(const n = 1, x: tensor(f32, N)[n], y: tensor(f32, N))\n"
    "{ launch grid(1) block(1) { } }\n";

static const int64_t ext[] = { 33, 80 }, str[] = { 80, 1 };
static const int64_t wide[] = { 96, 1 }, zero[] = { 80, 0 }, big[] = { 33,
    2000 };

static struct cj_actual
number(float x)
{
	struct cj_actual a = { .present = true, .kind = CJ_KIND_F32 };
	uint32_t bits;

	memcpy(&bits, &x, 4);
	a.bits = bits;
	return a;
}

static void
expect_text(const struct cj_binding *b, const char *text)
{
	ck_assert_msg(b != NULL, "does not fit: %s", why);
	ck_assert_str_eq(cj_binding_text(b), text);
}

START_TEST(arguments_bind)
{
	struct cj_actual a[3];

	load(relu);
	a[0] = tensor(CJ_KIND_F32, 2, ext, str);
	a[1] = tensor(CJ_KIND_F32, 2, ext, wide);
	a[2] = number(1);
	expect_text(bind(0, a, 3, NULL, 0), "T=f32, threads=256");
	expect_text(bind(1, a, 3, NULL, 0), "T=f32, rank(x)=2, rank(y)=2");
	a[2].present = false;
	expect_text(bind(0, a, 3, NULL, 0),
	    "T=f32, threads=256, alpha=default");
	ck_assert(bind(1, a, 3, NULL, 0) == NULL);
	ck_assert_str_eq(why, "alpha: the argument is missing");
}
END_TEST

START_TEST(names_bind)
{
	static const struct cj_const_argument consts[] = {
		{ "threads", "4 * 32", NULL }, { "T", "f32", NULL } };
	static const struct cj_const_argument bad[] = {
		{ "threads", "100", NULL } };
	static const struct cj_const_argument type[] = {
		{ "T", "bf16", NULL } };
	static const struct cj_const_argument unknown[] = {
		{ "thread", "1", NULL } };
	static const struct cj_const_argument wrong[] = {
		{ "threads", "1 +", NULL } };

	load(relu);
	expect_text(bind(0, NULL, 0, consts, 2), "T=f32, threads=128");
	expect_text(bind(0, NULL, 0, NULL, 0), "T=f16, threads=256");
	ck_assert(bind(0, NULL, 0, bad, 1) == NULL);
	ck_assert_str_eq(why, "needs threads % 32 == 0, got threads = 100");
	ck_assert(bind(0, NULL, 0, type, 1) == NULL);
	ck_assert_str_eq(why, "T = bf16 is not in {f16, f32}");
	ck_assert(bind(0, NULL, 0, unknown, 1) == NULL);
	ck_assert_str_eq(why, "relu has no parameter \"thread\"; it "
	    "has T, threads, x, y, alpha");
	ck_assert(bind(0, NULL, 0, wrong, 1) == NULL);
	ck_assert_msg(strncmp(why, "threads = 1 +: ", 15) == 0, "%s", why);
	ck_assert_uint_eq(diags.errors, 0);
}
END_TEST

START_TEST(what_does_not_fit)
{
	static const int64_t three[] = { 2, 3, 4 };
	struct cj_actual a[3];

	load(relu);
	a[0] = tensor(CJ_KIND_F32, 3, three, three);
	a[1] = tensor(CJ_KIND_F32, 2, ext, str);
	a[2] = number(1);
	ck_assert(bind(0, a, 3, NULL, 0) == NULL);
	ck_assert_str_eq(why, "x: needs rank 2, got 3");
	a[0] = tensor(CJ_KIND_F32, 2, ext, wide);
	a[1] = tensor(CJ_KIND_F16, 2, ext, str);
	ck_assert(bind(0, a, 3, NULL, 0) == NULL);
	ck_assert_str_eq(why, "y: needs elements of type f32, got f16");
	a[1] = number(2);
	ck_assert(bind(0, a, 3, NULL, 0) == NULL);
	ck_assert_str_eq(why, "y: needs a tensor, got a number");
	ck_assert(bind(0, a, 2, NULL, 0) == NULL);
	ck_assert_str_eq(why, "relu takes 3 arguments, there are 2");
	a[0] = tensor(CJ_KIND_F32, 2, ext, zero);
	a[1] = tensor(CJ_KIND_F32, 2, ext, str);
	ck_assert(bind(0, a, 3, NULL, 0) == NULL);
	ck_assert_str_eq(why,
	    "x: the stride of mode 1 is 0, needed is 1");
}
END_TEST

START_TEST(patterns_bind)
{
	struct cj_actual a[2];

	load(relu);
	a[0] = tensor(CJ_KIND_F32, 2, ext, zero);
	memset(&a[1], 0, sizeof a[1]);
	expect_text(bind(2, a, 2, NULL, 0), "b=none, N=80, x.stride1=0");
	a[1] = tensor(CJ_KIND_F32, 1, ext + 1, str + 1);
	expect_text(bind(2, a, 2, NULL, 0), "N=80, x.stride1=0");
	a[1] = tensor(CJ_KIND_F32, 1, ext, str + 1);
	ck_assert(bind(2, a, 2, NULL, 0) == NULL);
	ck_assert_str_eq(why, "b: the extent of mode 0 is 33, needed is 80");
	a[0] = tensor(CJ_KIND_F32, 2, big, str);
	ck_assert(bind(2, a, 2, NULL, 0) == NULL);
	ck_assert_str_eq(why, "N = 2000 is not in 1..1000");
}
END_TEST

START_TEST(arrays_of_tensors_bind)
{
	struct cj_actual a[2], more[2];

	load(relu);
	more[0] = tensor(CJ_KIND_F32, 1, ext, str + 1);
	more[1] = tensor(CJ_KIND_F32, 1, ext, str + 1);
	a[0] = tensor(CJ_KIND_F32, 1, ext, str + 1);
	a[0].count = 3;
	a[0].more = more;
	a[1] = tensor(CJ_KIND_F32, 1, ext, str + 1);
	expect_text(bind(3, a, 2, NULL, 0), "n=3, count(x)=3");
	more[1].kind = CJ_KIND_F64;
	ck_assert(bind(3, a, 2, NULL, 0) == NULL);
	ck_assert_str_eq(why, "x[2]: needs elements of type f32, got f64");
}
END_TEST

START_TEST(parameters_are_described)
{
	const struct cj_parameter_info *p;

	load(relu);
	ck_assert_uint_eq(cj_member_parameters(&arena, unit, member(0), &p),
	    5);
	ck_assert_str_eq(p[0].name, "T");
	ck_assert_int_eq(p[0].kind, CJ_PARAMETER_CONST);
	ck_assert(p[0].has_default);
	ck_assert_int_eq(p[2].kind, CJ_PARAMETER_TENSOR);
	ck_assert_str_eq(p[2].type, "tensor(T, (M, N):(_, 1))");
	ck_assert_int_eq(p[4].kind, CJ_PARAMETER_SCALAR);
	ck_assert_int_eq(p[4].scalar, CJ_KIND_F32);
	ck_assert_uint_eq(cj_member_parameters(&arena, unit, member(3), &p),
	    3);
	ck_assert(p[1].is_array && !p[2].is_array);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("elab_bind");
	TCase *c = tcase_create("elab_bind");

	tcase_add_checked_fixture(c, set_up, tear_down);
	tcase_add_test(c, arguments_bind);
	tcase_add_test(c, names_bind);
	tcase_add_test(c, what_does_not_fit);
	tcase_add_test(c, patterns_bind);
	tcase_add_test(c, arrays_of_tensors_bind);
	tcase_add_test(c, parameters_are_described);
	suite_add_tcase(s, c);
	return s;
}

CJ_CHECK_MAIN(suite)
