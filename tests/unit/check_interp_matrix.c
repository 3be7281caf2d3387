/*
 * ldmatrix, stmatrix and movmatrix in the executor: bit by bit against the
 * thread-value layouts that CuTe gives for them, for kinds of all widths; and
 * planted faults.
 */
#include "mma_kernels.h"
#include "interp_fixture.h"

enum { SHARED_BYTES = 2048 };

/* (lane, bit of its registers) -> bit of the rows, one after the other. */
static const struct {
	unsigned count;
	bool transposed;
	const char *held;
} forms[] = {
	{ 1, false, "(32,32):(32,1)" },
	{ 2, false, "(32,(32,2)):(32,(1,1024))" },
	{ 4, false, "(32,(32,4)):(32,(1,1024))" },
	{ 1, true, "((4,8),(16,2)):((256,16),(1,128))" },
	{ 2, true, "((4,8),(16,2,2)):((256,16),(1,128,1024))" },
	{ 4, true, "((4,8),(16,2,4)):((256,16),(1,128,1024))" },
};

static const enum cj_kind kinds[] = { CJ_KIND_I4, CJ_KIND_U8, CJ_KIND_I8,
    CJ_KIND_F8E4M3, CJ_KIND_BF16, CJ_KIND_F16, CJ_KIND_F32, CJ_KIND_TF32 };

enum { FORMS = CJ_LENGTH(forms), KINDS = CJ_LENGTH(kinds) };

/* Row i of lane i begins at 16 bytes times this: each once, out of order. */
static unsigned
row_of(unsigned i)
{
	return i * 11 % 32 + 64;
}

static bool
bit_of(const char *data, unsigned at)
{
	return (uint8_t)data[at / 8] >> at % 8 & 1;
}

/*
 * Shared memory comes from x and goes to z; every lane's offset comes from w;
 * what ldmatrix gives goes to y.
 */
static const char head[] =
	"module \"t\" sm_90\n"
	"object @1 tensor %s[?] name \"x\" of 0.0 align 16 reads\n"
	"object @2 tensor %s[?] name \"y\" of 1.0 align 16 reads writes\n"
	"object @3 tensor i32[?] name \"w\" of 2.0 align 4 reads\n"
	"object @4 tensor %s[?] name \"z\" of 3.0 align 16 writes\n"
	"object @5 shared %s[%u] name \"s\" align 16 reads writes in #1\n"
	"device $1 \"k\" { #1\n"
	"    leaf object ptr @1\n"
	"    leaf object ptr @2\n"
	"    leaf object ptr @3\n"
	"    leaf object ptr @4\n"
	"    %%1 = special int lane\n"
	"    %%2 = load i32 @3[%%1] align 4\n"
	"    %%3 = convert int %%2\n"
	"    %%4 = const int %u\n"
	"    %%5 = mul int %%1, %%4\n"
	"    %%6 = const int %u\n"
	"    %%7 = mul int %%1, %%6\n";

/* A module for kind `k`: each lane has `each` elements of the memory. */
static void
make(enum cj_kind k, unsigned count, const char *body)
{
	static char text[4096];
	unsigned elements = SHARED_BYTES * 8 / cj_kind_bits(k);
	const char *kind = cj_kind_text(k);
	int n = snprintf(text, sizeof text, head, kind, kind, kind, kind,
	    elements, elements / 32, 32 * count / cj_kind_bits(k));

	snprintf(text + n, sizeof text - (size_t)n, "%s}\n", body);
	read_module(text);
	give(1, elements);
	give(2, 32 * 32 * count / cj_kind_bits(k));
	give(4, elements);
	give(3, 32);
}

static void
fill_bytes(char *data, unsigned bytes)
{
	uint64_t state = bytes;
	unsigned i;

	for (i = 0; i < bytes; i++)
		data[i] = (char)mma_random(&state);
}

static void
give_rows(enum cj_kind k)
{
	int32_t *w = (int32_t *)(void *)memory[3].data;
	int i;

	for (i = 0; i < 32; i++)
		w[i] = (int32_t)(row_of((unsigned)i) * 128 / cj_kind_bits(k));
}

static bool
is_form(unsigned form, enum cj_kind k)
{
	return !forms[form].transposed || cj_kind_bits(k) <= 16;
}

START_TEST(loads)
{
	unsigned form = (unsigned)_i % FORMS, n = forms[form].count, lane, b;
	enum cj_kind k = kinds[_i / (int)FORMS];
	unsigned all = SHARED_BYTES * 8 / 32 / cj_kind_bits(k);
	unsigned bits = cj_kind_bits(k);
	struct flat held = flat_read(forms[form].held);

	if (!is_form(form, k))
		return;
	make(k, n, cj_printf(&arena,
	    "    %%8 = load %s[%u] @1[%%5] align 16\n"
	    "    store @5[%%5], %%8 align 16\n"
	    "    barrier\n"
	    "    %%9 = ldmatrix %s[%u] @5[%%3]%s align 16\n"
	    "    store @2[%%7], %%9 align 4\n", cj_kind_text(k), all,
	    cj_kind_text(k), n * 32 / bits,
	    forms[form].transposed ? " transposed" : ""));
	fill_bytes(memory[1].data, SHARED_BYTES);
	give_rows(k);
	run_kernel(1, 32, NULL);
	expect_clean();
	for (lane = 0; lane < 32; lane++)
		for (b = 0; b < n * 32; b++) {
			unsigned from = flat_value(&held, lane + b * 32);

			ck_assert_msg(bit_of(memory[2].data, lane * n * 32 + b)
			    == bit_of(memory[1].data, row_of(from / 128) * 128
			    + from % 128), "%s, form %u: lane %u, bit %u",
			    cj_kind_text(k), form, lane, b);
		}
}
END_TEST

START_TEST(stores)
{
	unsigned form = (unsigned)_i % FORMS, n = forms[form].count, lane, b;
	enum cj_kind k = kinds[_i / (int)FORMS];
	unsigned all = SHARED_BYTES * 8 / 32 / cj_kind_bits(k);
	unsigned bits = cj_kind_bits(k);
	struct flat held = flat_read(forms[form].held);

	if (!is_form(form, k))
		return;
	make(k, n, cj_printf(&arena,
	    "    %%8 = load %s[%u] @1[%%5] align 16\n"
	    "    store @5[%%5], %%8 align 16\n"
	    "    barrier\n"
	    "    %%9 = load %s[%u] @2[%%7] align 4\n"
	    "    stmatrix @5[%%3], %%9%s align 16\n"
	    "    barrier\n"
	    "    %%10 = load %s[%u] @5[%%5] align 16\n"
	    "    store @4[%%5], %%10 align 16\n", cj_kind_text(k), all,
	    cj_kind_text(k), n * 32 / bits, forms[form].transposed ?
	    " transposed" : "", cj_kind_text(k), all));
	fill_bytes(memory[1].data, SHARED_BYTES);
	fill_bytes(memory[2].data, 32 * 4 * n);
	give_rows(k);
	run_kernel(1, 32, NULL);
	expect_clean();
	for (lane = 0; lane < 32; lane++)
		for (b = 0; b < n * 32; b++) {
			unsigned to = flat_value(&held, lane + b * 32);

			to = row_of(to / 128) * 128 + to % 128;
			ck_assert_int_eq(bit_of(memory[4].data, to),
			    bit_of(memory[2].data, lane * n * 32 + b));
			if (bit_of(memory[1].data, to) !=
			    bit_of(memory[4].data, to))
				memory[1].data[to / 8] ^=
				    (char)(1 << to % 8);
		}
	/* and nothing else */
	ck_assert_int_eq(memcmp(memory[1].data, memory[4].data,
	    SHARED_BYTES), 0);
}
END_TEST

START_TEST(turns)
{
	static const enum cj_kind narrow[] = { CJ_KIND_F16, CJ_KIND_U8,
	    CJ_KIND_I4 };
	enum cj_kind k = narrow[_i];
	struct flat plain = flat_read(forms[0].held);
	struct flat turned = flat_read(forms[3].held);
	unsigned lane, b, from[1024], bits = cj_kind_bits(k);

	make(k, 1, cj_printf(&arena,
	    "    %%8 = load %s[%u] @1[%%7] align 4\n"
	    "    %%9 = movmatrix %s[%u] %%8\n"
	    "    store @2[%%7], %%9 align 4\n", cj_kind_text(k), 32 / bits,
	    cj_kind_text(k), 32 / bits));
	fill_bytes(memory[1].data, 128);
	run_kernel(1, 32, NULL);
	expect_clean();
	for (lane = 0; lane < 32; lane++)
		for (b = 0; b < 32; b++)
			from[flat_value(&plain, lane + b * 32)] =
			    lane * 32 + b;
	for (lane = 0; lane < 32; lane++)
		for (b = 0; b < 32; b++)
			ck_assert_int_eq(bit_of(memory[2].data, lane * 32 + b),
			    bit_of(memory[1].data,
			    from[flat_value(&turned, lane + b * 32)]));
}
END_TEST

/* ---- faults -------------------------------------------------------------- */

#define WRITE_ALL							\
	"    %8 = load f16[32] @1[%5] align 16\n"			\
	"    store @5[%5], %8 align 16\n"				\
	"    barrier\n"
#define READ								\
	"    %9 = ldmatrix f16[8] @5[%3] align 16\n"			\
	"    store @2[%7], %9 align 16\n"
#define WRITE								\
	"    %9 = const f16[8] 1\n"					\
	"    stmatrix @5[%3], %9 align 16\n"

static const struct {
	const char *body;
	int32_t wrong;		/* offset of lane 5 */
	const char *fault;	/* NULL: none */
} plants[] = {
	{ WRITE_ALL READ, 0, NULL },
	{ WRITE_ALL READ, 1020, "\"s\" is read at element 1024, outside "
	    "0..1024" },
	{ WRITE_ALL READ, -8, "\"s\" is read at element -8, outside 0..1024" },
	{ WRITE_ALL READ, 4, "\"s\" is touched at element 4, which is not "
	    "aligned to the 16 bytes that were promised" },
	{ READ, 0, "\"s\" is read at element 0, which nobody has written" },
	{ WRITE, 8, NULL },
	{ WRITE, 1024, "\"s\" is written at element 1024, outside 0..1024" },
	{ WRITE, 12, "\"s\" is touched at element 12, which is not aligned" },
	{ WRITE, 6 * 16, "\"s\" is written at element 96 by lanes 5 and 6 at "
	    "once" },
	{ WRITE_ALL "    if %10 {\n" READ "    }\n", 0, "ldmatrix needs all "
	    "lanes of the warp, and lane 0 does not take part" },
	{ "    if %10 {\n" WRITE "    }\n", 8, "stmatrix needs all lanes of "
	    "the warp, and lane 0 does not take part" },
};

START_TEST(faults_of_rows)
{
	int32_t *w;
	int i;

	make(CJ_KIND_F16, 4, cj_printf(&arena, "    %%11 = const int 0\n"
	    "    %%10 = lt bool %%11, %%1\n%s", plants[_i].body));
	w = (int32_t *)(void *)memory[3].data;
	for (i = 0; i < 32; i++)
		w[i] = i * 16;
	w[5] = plants[_i].wrong;
	run_kernel(1, 32, NULL);
	if (plants[_i].fault == NULL)
		expect_clean();
	else
		expect_fault(plants[_i].fault);
}
END_TEST

/* Two warps: one writes by stmatrix what the other reads by ldmatrix. */
START_TEST(races)
{
	int32_t *w;
	int i;

	make(CJ_KIND_F16, 4, WRITE_ALL
	    "    %10 = special int warp\n"
	    "    %11 = const int 0\n"
	    "    %12 = eq bool %10, %11\n"
	    "    if %12 {\n" WRITE "    } else {\n"
	    "        %13 = ldmatrix f16[8] @5[%3] align 16\n"
	    "        store @2[%7], %13 align 16\n"
	    "    }\n");
	w = (int32_t *)(void *)memory[3].data;
	for (i = 0; i < 32; i++)
		w[i] = i * 8;
	run_kernel(1, 64, NULL);
	expect_fault("and nothing orders them");
}
END_TEST

Suite *
suite(void);

Suite *
suite(void)
{
	Suite *s = suite_create("interp_matrix");
	TCase *t = tcase_create("matrix");

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_loop_test(t, loads, 0, (int)FORMS * (int)KINDS);
	tcase_add_loop_test(t, stores, 0, (int)FORMS * (int)KINDS);
	tcase_add_loop_test(t, turns, 0, 3);
	tcase_add_loop_test(t, faults_of_rows, 0, CJ_LENGTH(plants));
	tcase_add_test(t, races);
	suite_add_tcase(s, t);
	return s;
}

CJ_CHECK_MAIN(suite)
