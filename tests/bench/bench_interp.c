/*
 * How quick the executor is: elements of element-wise kernels a second, with
 * and without checks, steps of one lane, elements of a map and of a generator.
 *
 *	bench_interp [PART OF A NAME]
 *
 * Not a test: it prints what it measures on this machine.
 */
#include "ir/interp.h"
#include "bench_time.h"

#include <stdio.h>
#include <stdlib.h>

static const char *filter = "";	/* part of the names to measure */
static struct cj_recover point;
static struct cj_arena arena;

static struct cj_module *
read_module(const char *text)
{
	struct cj_strbuf error;
	struct cj_module *m;
	const char *wrong;

	cj_strbuf_init(&error, &arena);
	m = cj_module_read(&arena, text, strlen(text), &error);
	wrong = m == NULL ? error.text : cj_module_verify(m);
	if (wrong == NULL)
		return m;
	fprintf(stderr, "%s\n%s", wrong, text);
	exit(1);
}

#define HEAD(kind)							\
	"module \"t\" sm_80\n"						\
	"object @1 tensor " kind "[?] name \"x\" of 0.0 align 16 reads\n" \
	"object @2 tensor " kind "[?] name \"y\" of 1.0 align 16 writes\n" \
	"device $1 \"k\" {\n"						\
	"    leaf object ptr @1\n"					\
	"    leaf object ptr @2\n"					\
	"    leaf value int\n"						\
	"    %1 = special int block_x\n"				\
	"    %2 = special int block_dim_x\n"				\
	"    %3 = special int thread_x\n"				\
	"    %4 = mul int %1, %2\n"					\
	"    %5 = add int %4, %3\n"					\
	"    %6 = param int 2\n"					\
	"    %7 = lt bool %5, %6\n"					\
	"    if %7 {\n"

static const char relu_f16[] = HEAD("f16")
	"        %8 = const int 8\n"
	"        %9 = mul int %5, %8\n"
	"        %10 = load f16[8] @1[%9] align 16\n"
	"        %11 = const f16[8] 0\n"
	"        %12 = max f16[8] %10, %11\n"
	"        store @2[%9], %12 align 16\n"
	"    }\n}\n";

static const char relu_f32[] = HEAD("f32")
	"        %8 = const int 4\n"
	"        %9 = mul int %5, %8\n"
	"        %10 = load f32[4] @1[%9] align 16\n"
	"        %11 = const f32[4] 0\n"
	"        %12 = max f32[4] %10, %11\n"
	"        store @2[%9], %12 align 16\n"
	"    }\n}\n";

/* One element a thread, as the general member of a family. */
static const char scalar_f32[] = HEAD("f32")
	"        %8 = load f32 @1[%5] align 4\n"
	"        %9 = const f32 0\n"
	"        %10 = max f32 %8, %9\n"
	"        store @2[%5], %10 align 4\n"
	"    }\n}\n";

/* Twenty fused operations, as a polynomial of gelu has. */
static const char poly_bf16[] = HEAD("bf16")
	"        %8 = const int 8\n"
	"        %9 = mul int %5, %8\n"
	"        %10 = load bf16[8] @1[%9] align 16\n"
	"        %11 = convert f32[8] %10\n"
	"        %12 = const f32[8] 0.125\n"
#define F(a, b)	"        %" b " = fma f32[8] %" a ", %11, %12\n"
	F("11", "13") F("13", "14") F("14", "15") F("15", "16") F("16", "17")
	F("17", "18") F("18", "19") F("19", "20") F("20", "21") F("21", "22")
	F("22", "23") F("23", "24") F("24", "25") F("25", "26") F("26", "27")
	F("27", "28") F("28", "29") F("29", "30") F("30", "31") F("31", "32")
	"        %33 = convert bf16[8] %32\n"
	"        store @2[%9], %33 align 16\n"
	"    }\n}\n";

static void
bench_kernel(const char *name, const char *text, int width, unsigned bytes,
    unsigned checks)
{
	const int64_t threads = 1 << 20, count = threads * width;
	struct cj_memory memory[3] = { { 0 } };
	struct cj_run_options o = { .checks = checks };
	struct cj_kernel_launch k = { .function = 1,
	    .grid = { threads / 256, 1, 1 }, .block = { 256, 1, 1 },
	    .cluster = { 1, 1, 1 }, .memory = memory };
	uint64_t value = (uint64_t)threads;
	struct cj_diags ds;
	struct cj_outcome out;
	double best = 1e9;
	int i;

	if (strstr(name, filter) == NULL)
		return;
	k.values = &value;
	for (i = 1; i < 3; i++) {
		memory[i].data = aligned_alloc(256, (size_t)count * bytes);
		memset(memory[i].data, 0, (size_t)count * bytes);
		memory[i].hi = count;
		memory[i].readable = memory[i].writable = true;
		memory[i].written = NULL;
	}
	if (checks & CJ_CHECK_WRITTEN)
		memory[2].written = calloc((size_t)count, 1);
	cj_diags_init(&ds, &arena, NULL);
	for (i = 0; i < 3; i++) {
		double t = now_ms() * 1e-3;

		cj_interp_kernel(&arena, read_module(text), &k, &o, &ds, &out);
		t = now_ms() * 1e-3 - t;
		best = t < best ? t : best;
	}
	printf("%-34s %8.1f M elements/s%s\n", name,
	    (double)count / best * 1e-6, out.faults != 0 ? " FAULTS" : "");
	free(memory[1].data);
	free(memory[2].data);
	free(memory[2].written);
}

/* ---- tests --------------------------------------------------------------- */

static void *
on_allocate(void *user, size_t bytes)
{
	(void)user;
	return calloc(1, bytes);
}

static void
bench_test(const char *name, const char *text, double count, const char *unit)
{
	const struct cj_test_hooks hooks = { .allocate = on_allocate };
	struct cj_run_options o = { .checks = CJ_CHECK_ALL };
	struct cj_module *m = read_module(text);
	struct cj_test_outcome out;
	struct cj_diags ds;
	double t;

	if (strstr(name, filter) == NULL)
		return;
	cj_diags_init(&ds, &arena, NULL);
	t = now_ms() * 1e-3;
	cj_interp_test(&arena, m, 1, &o, &hooks, &ds, &out);
	t = now_ms() * 1e-3 - t;
	printf("%-34s %8.1f M %s/s%s\n", name, count / t * 1e-6, unit,
	    out.passed ? "" : " FAILED");
}

#define TEST								\
	"module \"t\"\n"						\
	"object @1 array f32[?] name \"x\" align 16 reads writes\n"	\
	"object @2 array f32[?] name \"y\" align 16 reads writes\n"	\
	"object @3 slot f64[1] in #1\n"					\
	"test $1 \"t\" { #1\n"						\
	"    %1 = const int 10000000\n"					\
	"    %2 = const int 0\n"					\
	"    %3 = const int 1\n"

static const char lanes[] = TEST
	"    array @1 iota %1\n"
	"    for %4 in %2..%1 step %3 {\n"
	"        %5 = load f32 @1[%4] align 4\n"
	"        %6 = convert f64 %5\n"
	"        %7 = slot_get f64 @3[0]\n"
	"        %8 = add f64 %7, %6\n"
	"        slot_set @3[0], %8\n"
	"    }\n"
	"}\n";

static const char normals[] = TEST
	"    array @1 normal %1, %3\n"
	"}\n";

static const char map[] = TEST
	"    array @1 iota %1\n"
	"    array @2 empty %1\n"
	"    array_map %4 in %1 {\n"
	"        %5 = load f32 @1[%4] align 4\n"
	"        %6 = fma f32 %5, %5, %5\n"
	"        store @2[%4], %6 align 4\n"
	"    }\n"
	"}\n";

static const char expect[] = TEST
	"    array @1 iota %1\n"
	"    expect %4 in %1 text \"x == x\" left \"x\" right \"x\" {\n"
	"        %5 = load f32 @1[%4] align 4\n"
	"        %6 = eq bool %5, %5\n"
	"        yield %6, %5, %5\n"
	"    }\n"
	"}\n";

int
main(int argc, char **argv)
{
	if (argc > 1)
		filter = argv[1];
	if (CJ_RECOVER(&point)) {
		fprintf(stderr, "%s\n", point.text);
		return 1;
	}
	cj_arena_init(&arena, &point, NULL);
	bench_kernel("relu f16, vectors of 8", relu_f16, 8, 2, 0);
	bench_kernel("relu f32, vectors of 4", relu_f32, 4, 4, 0);
	bench_kernel("relu f32, single", scalar_f32, 1, 4, 0);
	bench_kernel("20 fma, bf16", poly_bf16, 8, 2, 0);
	bench_kernel("relu f16, bounds and written", relu_f16, 8, 2, 11);
	bench_kernel("relu f16, all checks", relu_f16, 8, 2, 15);
	bench_kernel("relu f32 single, all checks", scalar_f32, 1, 4, 15);
	bench_test("loop of a test, 6 operations", lanes, 6e7, "operations");
	bench_test("normal numbers", normals, 1e7, "elements");
	bench_test("map of a test", map, 1e7, "elements");
	bench_test("expect of a test", expect, 1e7, "elements");
	cj_arena_fini(&arena);
	return 0;
}
