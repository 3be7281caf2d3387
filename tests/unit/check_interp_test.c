/*
 * Test functions in the executor: random numbers against known answers and
 * moments, generators for any number of workers, maps, expectations and what
 * they say, calls and their arguments.
 */
#include "interp_fixture.h"

#include "ir/interp_priv.h"

#include <math.h>

static struct cj_test_outcome test;
static char called[1024];
static int touches;
static struct cj_memory *first_argument;

static void *
on_allocate(void *user, size_t bytes)
{
	(void)user;
	return cj_alloc(&arena, bytes);
}

static bool
on_call(void *user, const struct cj_call *record, cj_place place,
    const struct cj_call_argument *arguments, double bytes, double flops)
{
	uint32_t i, n;

	(void)user;
	(void)place;
	first_argument = arguments[0].memory;
	snprintf(called, sizeof called, "%s %g %g", record->kernel, bytes,
	    flops);
	for (i = 0; i < record->count; i++) {
		const struct cj_argument *a = &record->argument[i];
		size_t at = strlen(called);

		if (a->kind == CJ_ARGUMENT_SCALAR)
			snprintf(called + at, sizeof called - at, "; %llx",
			    (unsigned long long)arguments[i].scalar);
		if (a->kind != CJ_ARGUMENT_TENSOR)
			continue;
		snprintf(called + at, sizeof called - at, "; %lld",
		    (long long)arguments[i].offset);
		for (n = 0; n < a->rank; n++) {
			at = strlen(called);
			snprintf(called + at, sizeof called - at, " %lld:%lld",
			    (long long)arguments[i].extents[n],
			    (long long)arguments[i].strides[n]);
		}
	}
	return true;
}

static void
on_touch(void *user, struct cj_memory *m, bool writes)
{
	(void)user;
	ck_assert(m->data != NULL);
	touches += writes ? 100 : 1;
}

static const struct cj_test_hooks hooks = { .call = on_call,
	.allocate = on_allocate, .touch = on_touch };

static void
run_test(const char *text)
{
	options.print = take_line;
	touches = 0;
	read_module(text);
	cj_interp_test(&arena, module, 1, &options, &hooks, &diags, &test);
	take_faults();
}

#define HEAD(kind)							\
	"module \"t\"\n"						\
	"object @1 array " kind "[?] name \"x\" align 16 reads writes\n" \
	"object @2 array " kind "[?] name \"y\" align 16 reads writes\n" \
	"test $1 \"t\" {\n"						\
	"    %1 = const int 1000\n"					\
	"    %2 = const int 0\n"					\
	"    %3 = const int 1\n"					\
	"    %4 = const int 7\n"

/* ---- random numbers ------------------------------------------------------ */

static double
normal(uint64_t key, uint64_t i)
{
	double v[2];

	cj_random_normals(key, i / 2, v);
	return v[i % 2];
}

/* From the known answers that Random123 publishes. */
START_TEST(philox_gives_known_answers)
{
	uint32_t w[4];

	cj_philox(0, 0, w);
	ck_assert_uint_eq(w[0], 0x6627e8d5);
	ck_assert_uint_eq(w[1], 0xe169c58d);
	ck_assert_uint_eq(w[2], 0xbc57ac4c);
	ck_assert_uint_eq(w[3], 0x9b00dbd8);
}
END_TEST

START_TEST(normal_numbers_are_normal)
{
	enum { N = 200000 };
	double sum = 0, square = 0, cube = 0, fourth = 0, pairs = 0, last = 0;
	int i, beyond = 0;

	for (i = 0; i < N; i++) {
		double v = normal(5, (uint64_t)i);

		sum += v;
		square += v * v;
		cube += v * v * v;
		fourth += v * v * v * v;
		pairs += v * last;
		last = v;
		beyond += fabs(v) > 1.959964;
	}
	ck_assert(fabs(sum / N) < 0.01);
	ck_assert(fabs(square / N - 1) < 0.02);
	ck_assert(fabs(cube / N) < 0.05);
	ck_assert(fabs(fourth / N - 3) < 0.1);
	ck_assert(fabs(pairs / N) < 0.01);
	ck_assert(abs(beyond - N / 20) < N / 200);
}
END_TEST

/* Against the mathematics library, which shares nothing with ours. */
START_TEST(normal_numbers_are_box_and_mullers)
{
	uint64_t i;

	for (i = 0; i < 20000; i++) {
		uint32_t w[4];
		double u, t, r, want;

		cj_philox(9, i >> 1, w);
		u = ((double)(((uint64_t)w[0] << 32 | w[1]) >> 11) + 1)
		    * 0x1p-53;
		t = (double)(((uint64_t)w[2] << 32 | w[3]) >> 11) * 0x1p-53;
		r = sqrt(-2 * log(u));
		want = i & 1 ? r * sin(6.283185307179586477 * t)
		    : r * cos(6.283185307179586477 * t);
		if (fabs(normal(9, i) - want) > 1e-14)
			ck_abort_msg("%llu: %.17g, not %.17g",
			    (unsigned long long)i, normal(9, i),
			    want);
	}
}
END_TEST

START_TEST(integers_stay_in_their_range)
{
	int counts[5] = { 0 }, i;

	for (i = 0; i < 50000; i++) {
		int64_t v = cj_random_integer(3, (uint64_t)i, -2, 3);

		ck_assert(v >= -2 && v < 3);
		counts[v + 2]++;
	}
	for (i = 0; i < 5; i++)
		ck_assert(abs(counts[i] - 10000) < 500);
	ck_assert_int_eq(cj_random_integer(3, 1, 4, 4), 4);
	for (i = 0; i < 100; i++) {
		double u = cj_random_uniform(3, (uint64_t)i, -1, 1);

		ck_assert(u >= -1 && u < 1);
	}
}
END_TEST

/* ---- generators ---------------------------------------------------------- */

static const float *
generate(const char *line, unsigned workers)
{
	static char text[4096];

	options.workers = workers;
	snprintf(text, sizeof text, "%s%s"
	    "    call launch \"k\" arguments(tensor 0.0 f32 @1 rank 1) "
	    "with(%%2, %%1, %%3)\n}\n", HEAD("f32"), line);
	run_test(text);
	ck_assert_str_eq(faults, "");
	ck_assert(test.passed);
	return (const float *)(const void *)first_argument->data;
}

START_TEST(fills_the_same_with_any_workers)
{
	static const char line[] =
	    "    %5 = const int 200001\n"
	    "    array @1 normal %5, %4\n";
	const float *a = generate(line, 1), *b = generate(line, 4);

	ck_assert_int_eq(memcmp(a, b, 200001 * sizeof *a), 0);
	ck_assert(a[17] == (float)normal(7, 17));
	ck_assert(a[200000] == (float)normal(7, 200000));
}
END_TEST

START_TEST(fills_by_all_generators)
{
	const float *x;
	int i;

	x = generate("    array @1 iota %1\n", 1);
	for (i = 0; i < 1000; i++)
		ck_assert(x[i] == (float)i);
	x = generate("    %5 = const f64 2.5\n    array @1 full %1, %5\n", 1);
	ck_assert(x[0] == 2.5 && x[999] == 2.5);
	x = generate("    %5 = const f64 -3\n    %6 = const f64 -2\n"
	    "    array @1 uniform %1, %5, %6, %4\n", 1);
	for (i = 0; i < 1000; i++)
		ck_assert(x[i] >= -3 && x[i] <= -2);
	ck_assert(x[0] != x[1]);
	x = generate("    array @1 integers %1, %2, %4, %4\n", 1);
	for (i = 0; i < 1000; i++)
		ck_assert(x[i] == floorf(x[i]) && x[i] >= 0 && x[i] < 7);
}
END_TEST

/* ---- maps ---------------------------------------------------------------- */

#define MAP								\
	"    array @1 iota %1\n"					\
	"    array @2 empty %1\n"					\
	"    %5 = const f32 2\n"					\
	"    array_map %6 in %1 {\n"					\
	"        %7 = load f32 @1[%6] align 4\n"			\
	"        %8 = mul f32 %7, %5\n"					\
	"        store @2[%6], %8 align 4\n"				\
	"    }\n"

/* What decoding needs grows with the text, and not with maps times text. */
START_TEST(many_maps)
{
	enum { MAPS = 2000 };
	struct cj_strbuf b;
	size_t before;
	int i;

	cj_strbuf_init(&b, &arena);
	cj_strbuf_puts(&b, HEAD("f32") "    array @1 iota %1\n");
	for (i = 0; i < MAPS; i++)
		cj_strbuf_printf(&b, "    array_map %%%d in %%1 {\n"
		    "        %%%d = load f32 @1[%%%d] align 4\n"
		    "        store @1[%%%d], %%%d align 4\n    }\n", 2 * i + 5,
		    2 * i + 6, 2 * i + 5, 2 * i + 5, 2 * i + 6);
	cj_strbuf_puts(&b, "}\n");
	read_module(b.text);
	before = arena.bytes;
	ck_assert_uint_eq(cj_interp_decode(&arena, module, 1)->inner.len, MAPS);
	ck_assert_uint_lt(arena.bytes - before, 32 << 20);
}
END_TEST

START_TEST(maps_and_expects)
{
	for (options.workers = 1; options.workers < 4; options.workers++) {
		run_test(HEAD("f32") MAP
		    "    expect %9 in %1 text \"y == 2 * x\" left \"y\" right "
		    "\"2 * x\" {\n"
		    "        %10 = load f32 @2[%9] align 4\n"
		    "        %11 = load f32 @1[%9] align 4\n"
		    "        %12 = mul f32 %11, %5\n"
		    "        %13 = eq bool %10, %12\n"
		    "        yield %13, %10, %12\n"
		    "    }\n"
		    "}\n");
		ck_assert_str_eq(faults, "");
		ck_assert(test.passed && !test.stopped);
		ck_assert(test.failure == NULL);
	}
}
END_TEST

/* Extents 10 and 100: element 5 + 10 * 3 is [5, 3]. */
START_TEST(says_where_an_expectation_failed)
{
	for (options.workers = 1; options.workers < 4; options.workers++) {
		run_test(HEAD("f32") MAP
		    "    %9 = const int 35\n"
		    "    %10 = const f32 0.5\n"
		    "    store @2[%9], %10 align 4\n"
		    "    %11 = const int 999\n"
		    "    store @2[%11], %10 align 4\n"
		    "    %12 = const int 10\n"
		    "    %13 = const int 100\n"
		    "    expect %14 in %12, %13 text \"y == 2 * x\" left "
		    "\"y\" right \"2 * x\" {\n"
		    "        %15 = load f32 @2[%14] align 4\n"
		    "        %16 = load f32 @1[%14] align 4\n"
		    "        %17 = mul f32 %16, %5\n"
		    "        %18 = eq bool %15, %17\n"
		    "        yield %18, %15, %17\n"
		    "    }\n"
		    "}\n");
		ck_assert(!test.passed && !test.stopped);
		ck_assert_str_eq(test.failure,
		    "expect(y == 2 * x) failed at [5, 3]\n"
		    "    y = 0.5\n"
		    "    2 * x = 70\n"
		    "    2 of 1000 elements fail; worst absolute error 2e+03 "
		    "at [9, 99], relative 1 at [9, 99]");
	}
}
END_TEST

START_TEST(expects_one_condition)
{
	run_test(HEAD("f32")
	    "    expect %5 in %3 text \"1 > 7\" {\n"
	    "        %6 = lt bool %4, %3\n"
	    "        yield %6\n"
	    "    }\n"
	    "    print \"not here\"\n"
	    "}\n");
	ck_assert_str_eq(test.failure, "expect(1 > 7) failed");
	ck_assert_str_eq(printed, "");
}
END_TEST

START_TEST(expects_nothing_of_no_elements)
{
	run_test(HEAD("f32")
	    "    expect %5 in %1, %2 text \"false\" {\n"
	    "        %6 = lt bool %4, %3\n"
	    "        yield %6\n"
	    "    }\n"
	    "    print \"here\"\n"
	    "}\n");
	ck_assert(test.passed);
	ck_assert_str_eq(printed, "here\n");
}
END_TEST

/* A reference with loops, a slot per element and an early end, as elaboration
 * writes whole-array sums. */
START_TEST(maps_with_loops)
{
	const float *y;
	int i, j;

	run_test("module \"t\"\n"
	    "object @1 array f32[?] name \"y\" align 16 reads writes\n"
	    "object @2 slot f64[1] in #1\n"
	    "test $1 \"t\" {\n"
	    "    %1 = const int 1000\n"
	    "    %2 = const int 0\n"
	    "    %3 = const int 1\n"
	    "    array @1 empty %1\n"
	    "    array_map %4 in %1 { #1\n"
	    "        %5 = const f64 0\n"
	    "        slot_set @2[0], %5\n"
	    "        for ^1 %6 in %2..%4 step %3 {\n"
	    "            %7 = const int 100\n"
	    "            %8 = lt bool %7, %6\n"
	    "            if %8 {\n"
	    "                break ^1\n"
	    "            }\n"
	    "            %9 = convert f64 %6\n"
	    "            %10 = slot_get f64 @2[0]\n"
	    "            %11 = add f64 %10, %9\n"
	    "            slot_set @2[0], %11\n"
	    "        }\n"
	    "        %12 = slot_get f64 @2[0]\n"
	    "        %13 = convert f32 %12\n"
	    "        store @1[%4], %13 align 4\n"
	    "    }\n"
	    "    call launch \"k\" arguments(tensor 0.0 f32 @1 rank 1) "
	    "with(%2, %1, %3)\n"
	    "}\n");
	ck_assert_str_eq(faults, "");
	ck_assert(test.passed);
	y = (const float *)(const void *)first_argument->data;
	for (i = 0; i < 1000; i++) {
		double sum = 0;

		for (j = 0; j < i && j <= 100; j++)
			sum += j;
		ck_assert(y[i] == (float)sum);
	}
}
END_TEST

START_TEST(finds_faults_in_maps)
{
	char first[sizeof faults];
	int i;

	for (i = 1; i <= 3; i++) {
		tear_down();
		set_up();
		options.workers = (unsigned)i;
		run_test(HEAD("f32")
		    "    array @1 iota %1\n"
		    "    array @2 empty %1\n"
		    "    array_map %5 in %1 {\n"
		    "        %6 = add int %5, %4\n"
		    "        %7 = load f32 @1[%6] align 4\n"
		    "        store @2[%5], %7 align 4\n"
		    "    }\n"
		    "}\n");
		ck_assert(!test.passed);
		ck_assert_msg(strstr(faults, "\"x\" is read at element 1000, "
		    "outside 0..1000, in element 993") != NULL, "%s", faults);
		ck_assert(strstr(faults, "and 6 more at this place") != NULL);
		if (i > 1)
			ck_assert_str_eq(first, faults);
		memcpy(first, faults, sizeof first);
	}
}
END_TEST

START_TEST(finds_empty_arrays_that_are_read)
{
	run_test(HEAD("f32")
	    "    array @1 empty %1\n"
	    "    %5 = load f32 @1[%4] align 4\n"
	    "    print \"{}\" %5\n"
	    "}\n");
	ck_assert(!test.passed);
	ck_assert(strstr(faults, "\"x\" is read at element 7, which nobody has "
	    "written") != NULL);
}
END_TEST

/* ---- calls --------------------------------------------------------------- */

START_TEST(calls_with_arguments)
{
	run_test(HEAD("f32")
	    "    array @1 iota %1\n"
	    "    array @2 empty %1\n"
	    "    %5 = const f32 1.5\n"
	    "    %6 = const f64 8000\n"
	    "    %7 = const f64 1e6\n"
	    "    call time \"axpy\" arguments(tensor 0.0 f32 @1 rank 2, "
	    "tensor 1.0 f32 @2 rank 1, scalar 2.0 f32, none 3.0) with(%6, %7, "
	    "%4, %4, %1, %3, %2, %2, %1, %3, %5)\n"
	    "}\n");
	ck_assert_str_eq(faults, "");
	ck_assert(test.passed);
	ck_assert_str_eq(called,
	    "axpy 8000 1e+06; 7 7:1 1000:0; 0 1000:1; 3fc00000");
}
END_TEST

/* Once for reading and once for writing, and again behind each call. */
START_TEST(touches_what_the_test_reads_after_a_call)
{
	run_test(HEAD("f32")
	    "    array @1 iota %1\n"
	    "    %5 = load f32 @1[%2] align 4\n"
	    "    call launch \"k\" arguments(tensor 0.0 f32 @1 rank 1) "
	    "with(%2, %1, %3)\n"
	    "    %6 = load f32 @1[%2] align 4\n"
	    "    %7 = load f32 @1[%3] align 4\n"
	    "    store @1[%3], %6 align 4\n"
	    "    store @1[%3], %7 align 4\n"
	    "    call launch \"k\" arguments(tensor 0.0 f32 @1 rank 1) "
	    "with(%2, %1, %3)\n"
	    "    array_map %8 in %1 {\n"
	    "        %9 = load f32 @1[%8] align 4\n"
	    "        store @1[%8], %9 align 4\n"
	    "    }\n"
	    "}\n");
	ck_assert(test.passed);
	ck_assert_int_eq(touches, 1 + 100 + 1 + 100);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("interp_test");
	TCase *c = tcase_create("all");

	tcase_add_checked_fixture(c, set_up, tear_down);
	tcase_add_test(c, philox_gives_known_answers);
	tcase_add_test(c, normal_numbers_are_normal);
	tcase_add_test(c, normal_numbers_are_box_and_mullers);
	tcase_add_test(c, integers_stay_in_their_range);
	tcase_add_test(c, fills_the_same_with_any_workers);
	tcase_add_test(c, fills_by_all_generators);
	tcase_add_test(c, many_maps);
	tcase_add_test(c, maps_and_expects);
	tcase_add_test(c, says_where_an_expectation_failed);
	tcase_add_test(c, expects_one_condition);
	tcase_add_test(c, expects_nothing_of_no_elements);
	tcase_add_test(c, maps_with_loops);
	tcase_add_test(c, finds_faults_in_maps);
	tcase_add_test(c, finds_empty_arrays_that_are_read);
	tcase_add_test(c, calls_with_arguments);
	tcase_add_test(c, touches_what_the_test_reads_after_a_call);
	suite_add_tcase(s, c);
	return s;
}

CJ_CHECK_MAIN(suite)
