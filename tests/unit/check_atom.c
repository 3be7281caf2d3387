/*
 * Atoms, tiled MMAs and copies, shared and tensor memory.
 */
#include "vectors.h"

#include "layouts.h"
#include "layout/atom.h"

static const struct {
	const char *name;
	uint64_t lines;
} files[] = {
	{ "mma_atoms.txt", 618 },
	{ "copy_atoms.txt", 309 },
	{ "smem_atoms.txt", 230 },
	{ "tiled.txt", 1689 },
};

START_TEST(vectors_agree)
{
	check_vectors(files[_i].name, files[_i].lines);
}
END_TEST

START_TEST(unknown_atoms_are_refused)
{
	struct cj_mma_atom m;
	struct cj_copy_atom c;

	ck_assert(!cj_mma_atom_find(&al, "SM90_64x12x16_F32F16F16_SS", &m));
	ck_assert_int_eq(al.why.kind, CJ_REFUSED_KIND);
	ck_assert(!cj_copy_atom_find(&al, "SM75_U32x8_LDSM_N", &c));
	ck_assert(cj_mma_atom_find(&al, "SM90_64x24x16_F32F16F16_SS", &m));
	PRINTS(m.c, "((4, 8, 4), (2, 2, 3)):((128, 1, 16), (64, 8, 512))");
}
END_TEST

START_TEST(operands_without_a_descriptor_are_refused)
{
	struct cj_matrix_desc d;
	struct cj_mma_atom m;

	ck_assert(cj_mma_atom_find(&al, "SM80_16x8x16_F32F16F16F32_TN", &m));
	ck_assert(!cj_matrix_desc_make(&al, &m, CJ_OPERAND_A, CJ_MAJOR_K,
	    CJ_SMEM_SW128, T("(128,64)"), &d));
	ck_assert_int_eq(al.why.kind, CJ_REFUSED_KIND);
	ck_assert(cj_mma_atom_find(&al, "SM90_64x64x16_F32F16F16_SS", &m));
	ck_assert(!cj_matrix_desc_make(&al, &m, CJ_OPERAND_A, CJ_MAJOR_K,
	    CJ_SMEM_SW128, T("(128,60)"), &d));
	ck_assert_int_eq(al.why.kind, CJ_REFUSED_TILE_DIV);
}
END_TEST

START_TEST(copies_with_too_few_threads_are_refused)
{
	struct cj_copy_atom bits, atom;
	struct cj_tiled_copy copy;

	ck_assert(cj_copy_atom_find(&al, "SM75_U32x4_LDSM_N", &bits));
	ck_assert(cj_copy_atom_values(&al, &bits, 16, &atom));
	ck_assert(!cj_tiled_copy_make(&al, &atom, L("16:1"), L("8:1"),
	    &copy));
	ck_assert_int_eq(al.why.kind, CJ_REFUSED_TILE_DIV);
}
END_TEST

static Suite *
atom_suite(void)
{
	Suite *s = suite_create("atom");
	TCase *c = tcase_create("atom");

	tcase_add_checked_fixture(c, set_up, tear_down);
	tcase_add_loop_test(c, vectors_agree, 0, (int)CJ_LENGTH(files));
	tcase_add_test(c, unknown_atoms_are_refused);
	tcase_add_test(c, operands_without_a_descriptor_are_refused);
	tcase_add_test(c, copies_with_too_few_threads_are_refused);
	suite_add_tcase(s, c);
	return s;
}

CJ_CHECK_MAIN(atom_suite)
