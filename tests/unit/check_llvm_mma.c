/*
 * mma in PTX: of every atom of the vectors, for every target that admits it,
 * the one instruction that its name says, and ptxas where it is found.
 */
#include "arena_fixture.h"
#include "mma_kernels.h"

/* What PTX calls the atom: from the parts of its name alone. */
static const char *
expected(const struct atom_line *l)
{
	static const struct {
		const char *cute, *ptx;
	} types[] = { { "F32F16F16F32", "f32.f16.f16.f32" },
	    { "F16F16F16F16", "f16.f16.f16.f16" },
	    { "F32BF16BF16F32", "f32.bf16.bf16.f32" },
	    { "F32TF32TF32F32", "f32.tf32.tf32.f32" },
	    { "F64F64F64F64", "f64.f64.f64.f64" },
	    { "S32S8S8S32", "s32.s8.s8.s32" },
	    { "S32S8U8S32", "s32.s8.u8.s32" },
	    { "S32U8S8S32", "s32.u8.s8.s32" },
	    { "S32U8U8S32", "s32.u8.u8.s32" },
	    { "S32S4S4S32", "s32.s4.s4.s32" },
	    { "S32S4U4S32", "s32.s4.u4.s32" },
	    { "S32U4S4S32", "s32.u4.s4.s32" },
	    { "S32U4U4S32", "s32.u4.u4.s32" },
	    { "S32U1U1S32", "s32.b1.b1.s32" },
	    { "F32E4M3E4M3F32", "f32.e4m3.e4m3.f32" },
	    { "F32E4M3E5M2F32", "f32.e4m3.e5m2.f32" },
	    { "F32E5M2E4M3F32", "f32.e5m2.e4m3.f32" },
	    { "F32E5M2E5M2F32", "f32.e5m2.e5m2.f32" },
	    { "F16E4M3E4M3F16", "f16.e4m3.e4m3.f16" },
	    { "F16E4M3E5M2F16", "f16.e4m3.e5m2.f16" },
	    { "F16E5M2E4M3F16", "f16.e5m2.e4m3.f16" },
	    { "F16E5M2E5M2F16", "f16.e5m2.e5m2.f16" } };
	const char *majors = strstr(l->name, "_NT") ? "col.row" :
	    strstr(l->name, "_NN") ? "col.col" :
	    strstr(l->name, "_TT") ? "row.row" : "row.col", *type = NULL;
	unsigned i;

	for (i = 0; i < CJ_LENGTH(types); i++)
		if (strstr(l->name, cj_printf(&arena, "_%s_",
		    types[i].cute)) != NULL)
			type = types[i].ptx;
	ck_assert_msg(type != NULL, "%s: its types are new here", l->name);
	return cj_printf(&arena, "mma.sync.aligned.m%un%uk%u.%s%s.%s%s",
	    l->m, l->n, l->k, majors,
	    strstr(l->name, "SATURATE") != NULL ? ".satfinite" : "", type,
	    strstr(l->name, "XORPOPC") != NULL ? ".xor.popc" :
	    strstr(l->name, "ANDPOPC") != NULL ? ".and.popc" : "");
}

static void
check_target(const struct atom_line *l, const struct cj_target *target)
{
	struct cj_module *m = mma_module(&arena, l->name, target);
	struct cj_codegen_options o = { .level = 2 };
	struct cj_codegen_result out;
	const char *want = expected(l), *at;
	char said[2000];

	if (cj_codegen_ptx(&arena, m, &o, &out) != CJ_CODEGEN_OK)
		ck_abort_msg("%s, %s: %s", l->name, target->name, out.error);
	at = strstr(out.ptx, want);
	ck_assert_msg(at != NULL && strstr(at + 1, "mma.sync") == NULL &&
	    at[strlen(want) + strspn(at + strlen(want), " \n\t")] == '{',
	    "%s is not once in\n%s", want, out.ptx);
	if (!cj_test_assemble(out.ptx, target->name, said, sizeof said))
		ck_abort_msg("%s, %s: %s", l->name, target->name, said);
}

START_TEST(every_atom)
{
	unsigned t, admitted = 0;

	CJ_CHECK_RECOVER(&point);
	for (t = 0; t < cj_target_count; t++)
		if (cj_targets[t].number >= atoi(atom_lines[_i].arch + 2)) {
			check_target(&atom_lines[_i], &cj_targets[t]);
			admitted++;
		}
	ck_assert_uint_ge(admitted, 5);
}
END_TEST

/* An older PTX than the instruction needs is refused, by its name. */
static const struct {
	const char *atom, *needs;
	int ptx;
} old[] = {
	{ "SM89_16x8x32_F32E4M3E4M3F32_TN", "8.4, and 8.3", 83 },
	{ "SM89_16x8x32_F16E4M3E4M3F16_TN", "8.7, and 8.6", 86 },
	{ "SM89_16x8x16_F32E4M3E5M2F32_TN", "8.7, and 8.6", 86 },
};

START_TEST(old_ptx)
{
	struct cj_codegen_options o = { .level = 2, .ptx = old[_i].ptx };
	struct cj_codegen_result out;

	CJ_CHECK_RECOVER(&point);
	ck_assert_int_ne(cj_codegen_ptx(&arena, mma_module(&arena,
	    old[_i].atom, cj_target_find("sm_89")), &o, &out),
	    CJ_CODEGEN_OK);
	ck_assert_str_eq(out.error, cj_printf(&arena, "code generation: %s "
	    "needs PTX %s is asked for", old[_i].atom, old[_i].needs));
}
END_TEST

Suite *
suite(void);

Suite *
suite(void)
{
	Suite *s = suite_create("llvm_mma");
	TCase *t = tcase_create("mma");

	read_atom_lines();
	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, every_atom, 0, (int)atom_line_count);
	tcase_add_loop_test(t, old_ptx, 0, CJ_LENGTH(old));
	suite_add_tcase(s, t);
	return s;
}

CJ_CHECK_MAIN(suite)
