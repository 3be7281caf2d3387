/*
 * mma in the executor, for every atom of the vectors: the bits of the model,
 * from layouts that the test reads itself. And that a missing lane is a fault.
 */
#include "interp_fixture.h"
#include "mma_kernels.h"

static void
same_bits(const struct atom_line *l, const struct cj_mma *mma, uint64_t got,
    uint64_t want, double magnitude)
{
	(void)magnitude;
	if (cj_kind_is_float(mma->d) && isnan(cj_num_to_f64(mma->d, want)))
		want = cj_num_from_f64(mma->d, NAN);
	ck_assert_msg(got == want, "%s: %#llx, not %#llx", l->name,
	    (unsigned long long)got, (unsigned long long)want);
}

START_TEST(every_atom)
{
	const struct atom_line *l;

	l = &atom_lines[_i];
	module = mma_module(&arena, l->name, cj_target_find("sm_90a"));
	mma_memory(&arena, module->mmas.at[1], memory);
	run_kernel(1, MMA_THREADS, NULL);
	expect_clean();
	mma_compare(l, module->mmas.at[1], memory, same_bits);
}
END_TEST

/* A row less, and this says so. */
START_TEST(atoms_are_all_there)
{
	static const struct {
		const char *begin;
		unsigned count;
	} want[] = { { "SM70_", 8 }, { "SM75_", 3 }, { "SM80_", 63 },
	    { "SM89_", 8 }, { "SM90_", 3 } };
	unsigned i, n, seen;

	for (i = 0; i < CJ_LENGTH(want); i++) {
		for (seen = n = 0; n < atom_line_count; n++)
			seen += strncmp(atom_lines[n].name, want[i].begin,
			    strlen(want[i].begin)) == 0;
		ck_assert_msg(seen == want[i].count, "%s: %u",
		    want[i].begin, seen);
	}
}
END_TEST

START_TEST(needs_all_lanes)
{
	read_module(
	    "module \"t\" sm_80\n"
	    "object @1 tensor f32[?] name \"y\" of 0.0 align 16 writes\n"
	    "device $1 \"k\" {\n"
	    "    leaf object ptr @1\n"
	    "    %1 = special int thread_x\n"
	    "    %2 = const int 7\n"
	    "    %3 = ne bool %1, %2\n"
	    "    %4 = const f16[4] 1\n"
	    "    %5 = const f16[2] 1\n"
	    "    %6 = const f32[4] 0\n"
	    "    if %3 {\n"
	    "        %7 = mma f32[4] \"SM80_16x8x8_F32F16F16F32_TN\" %4, %5, "
	    "%6\n"
	    "        %8 = const int 4\n"
	    "        %9 = mul int %1, %8\n"
	    "        store @1[%9], %7 align 16\n"
	    "    }\n"
	    "}\n");
	give(1, 128);
	run_kernel(1, 32, NULL);
	expect_fault("mma needs all lanes of the warp, and lane 7 does not "
	    "take part");
}
END_TEST

Suite *
suite(void);

Suite *
suite(void)
{
	Suite *s = suite_create("interp_mma");
	TCase *t = tcase_create("mma");

	read_atom_lines();
	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, atoms_are_all_there);
	tcase_add_test(t, needs_all_lanes);
	tcase_add_loop_test(t, every_atom, 0, (int)atom_line_count);
	suite_add_tcase(s, t);
	return s;
}

CJ_CHECK_MAIN(suite)
