/*
 * The verifier: each rule broken once, by text where the reader lets it
 * through, else by hand; and the right neighbours of what is wrong.
 */
#include "check_ir.h"

#define HEAD								\
	"module \"m\" sm_80\n"						\
	"object @1 tensor f32[?] of 0.0 align 4 reads\n"		\
	"object @2 slot f32[4] in #1\n"					\
	"object @3 tensor f32[?] of 1.0 align 4 writes\n"		\
	"object @4 shared f32[8] align 4 reads writes in #2\n"		\
	"object @5 tensor f32[?] of 2.0 align 4 reads writes\n"		\
	"object @6 workspace f32[?] align 16 reads writes\n"		\
	"object @7 array f32[?] align 4 reads writes\n"			\
	"object @8 table f32[1] align 4 reads data 1\n"			\
	"object @9 shared f16[512] align 16 reads writes in #1\n"	\
	"object @10 shared i4[8] align 4 reads writes in #1\n"
#define DEVICE(body)							\
	HEAD "device $1 \"f\" { #1\n"					\
	"leaf object ptr @1\nleaf object ptr @3\nleaf value int\n"	\
	"%1 = special int thread_x\n"					\
	"%2 = param int 2\n"						\
	"%3 = lt bool %1, %2\n"						\
	"%4 = const f32[4] 0\n"						\
	"%5 = const f32 0\n"						\
	body "scope { #2\n}\n}\n"
#define HOST(body)							\
	HEAD "host $1 \"h\" { #1\n%1 = const int 1\n%2 = const bool true\n" \
	body "scope { #2\n}\n}\n"					\
	"device $2 \"g\" {\nleaf value int\nleaf value f32\n}\n"
#define TEST(body)							\
	HEAD "test $1 \"t\" { #1\n%1 = const int 1\n%2 = const bool true\n" \
	"%3 = const f64 1\n" body "scope { #2\n}\n}\n"

static const struct rule {
	const char *text, *wrong;	/* wrong: NULL if it is right */
} rules[] = {
	{ DEVICE(""), NULL }, { HOST(""), NULL }, { TEST(""), NULL },
	/* matrices */
	{ DEVICE("%9 = ldmatrix f16[2] @9[%1] align 16\n"), NULL },
	{ DEVICE("%9 = ldmatrix f16[8] @9[%1] transposed align 16\n"), NULL },
	{ DEVICE("%9 = ldmatrix f16[8] @9[%1] align 8\n"),
	    "rows are not aligned to 16 bytes" },
	{ DEVICE("%9 = ldmatrix f16[6] @9[%1] align 16\n"),
	    "the registers are not those of 1, 2 or 4 matrices" },
	{ DEVICE("%9 = ldmatrix f32[4] @1[%1] align 16\n"),
	    "the object is not shared memory" },
	{ DEVICE("%8 = const f16[4] 0\nstmatrix @9[%1], %8 align 16\n"),
	    "it needs sm_90" },
	{ DEVICE("%8 = const f16[2] 0\n%9 = movmatrix f16[2] %8\n"), NULL },
	{ DEVICE("%9 = movmatrix f32 %5\n"),
	    "the kind does not fit into the parts of a matrix" },
	{ DEVICE("%9 = movmatrix f32[4] %4\n"),
	    "the registers are not those of one matrix" },
#define MMA(atom, a, b, c, d)						\
	DEVICE("%8 = const " a "\n%9 = const " b "\n%10 = const " c	\
	    " 0\n%11 = mma " d " \"" atom "\" %8, %9, %10\n")
	{ MMA("SM80_16x8x16_F32F16F16F32_TN", "f16[8] 0", "f16[4] 0", "f32[4]",
	    "f32[4]"), NULL },
	{ MMA("SM80_16x8x256_S32U1U1S32_TN_XORPOPC", "bool[128] false",
	    "bool[64] false", "i32[4]", "i32[4]"), NULL },
	{ MMA("SM80_16x8x16_F32F16F16F32_TN", "bf16[8] 0", "f16[4] 0", "f32[4]",
	    "f32[4]"), "A has not the type of the atom" },
	{ MMA("SM80_16x8x16_F32F16F16F32_TN", "f16[8] 0", "f16[8] 0", "f32[4]",
	    "f32[4]"), "B has not the type of the atom" },
	{ MMA("SM80_16x8x16_F32F16F16F32_TN", "f16[8] 0", "f16[4] 0", "f16[4]",
	    "f32[4]"), "C has not the type of the atom" },
	{ MMA("SM80_16x8x16_F32F16F16F32_TN", "f16[8] 0", "f16[4] 0", "f32[4]",
	    "f16[4]"), "the result has not the type of the atom" },
	{ MMA("SM89_16x8x32_F32E4M3E5M2F32_TN", "f8e4m3[16] 0", "f8e5m2[8] 0",
	    "f32[4]", "f32[4]"), "it needs sm_89" },
	{ HOST("%8 = const f16[2] 0\n%9 = movmatrix f16[2] %8\n"),
	    "it belongs to device functions" },
	/* types */
	{ DEVICE("%9 = add f32 %5, %1\n"), "operands differ in type" },
	{ DEVICE("%9 = add f32[4] %5, %5\n"),
	    "the result differs in type from the operand" },
	{ DEVICE("%9 = add bool %3, %3\n"), "operands are not numbers" },
	{ DEVICE("%9 = mod f32 %5, %5\n"), "operands are not integers" },
	{ DEVICE("%9 = and f32 %5, %5\n"),
	    "operands are neither integers nor bool" },
	{ DEVICE("%9 = sqrt int %1\n"), "operands are not floats" },
	{ DEVICE("%9 = lt int %1, %1\n"), "the result is not bool" },
	{ DEVICE("%9 = lt bool[4] %4, %4\n"), NULL },
	{ DEVICE("add %1, %1\n"),
	    "the result differs in type from the operand" },
	{ DEVICE("%9 = barrier int\n"), "the operation has no result" },
	{ DEVICE("%9 = select f32[4] %3, %4, %4\n"), NULL },
	{ DEVICE("%9 = select f32[4] %1, %4, %4\n"),
	    "the condition is not bool" },
	{ DEVICE("%9 = select f32[4] %3, %4, %5\n"),
	    "operands and result differ in type" },
	{ DEVICE("%8 = lt bool[4] %4, %4\n%9 = select f32 %8, %5, %5\n"),
	    "condition and result differ in registers" },
	{ DEVICE("%9 = convert i32[2] %4\n"),
	    "operand and result differ in registers" },
	{ DEVICE("%9 = convert ptr %1\n"), "the result is not a number" },
	{ DEVICE("%9 = bitcast f16[8] %4\n"), NULL },
	{ DEVICE("%9 = bitcast f16[7] %4\n"),
	    "operand and result differ in bits" },
	{ DEVICE("%9 = splat f32[4] %4\n"),
	    "the operand has several registers" },
	{ DEVICE("%9 = splat i32[4] %5\n"),
	    "operand and result differ in kind" },
	{ DEVICE("%9 = slice f32[2] %4 at 3\n"),
	    "the slice leaves its operand" },
	{ DEVICE("%9 = slice f32[2] %4 at 2\n"), NULL },
	{ DEVICE("%9 = concat f32[5] %4, %4\n"),
	    "the registers do not add up" },
	{ DEVICE("%9 = permute f32[2] %4 [0, 4]\n"),
	    "a position leaves the operand" },
	{ DEVICE("%9 = permute f32[2] %4 [0]\n"),
	    "positions and result differ in number" },
	{ DEVICE("%9 = insert f32[4] %4, %5 at 4\n"),
	    "the second operand leaves the first" },
	{ DEVICE("%9 = shfl f32 up %5, %5\n"), "the lane is not an int" },
	{ DEVICE("%9 = ballot int %3\n"), "the result is not u32" },
	{ DEVICE("%9 = divide_by int %1, %2, %1\n"),
	    "the third operand is not u64[2]" },
	/* parameters and the places of things */
	{ DEVICE("%9 = param int 3\n"), "there is no such leaf" },
	{ DEVICE("%9 = param f32 2\n"), "leaf and result differ in type" },
	{ DEVICE("%9 = index int\n"),
	    "it does not begin a region that has an index" },
	{ DEVICE("if %3 {\n%8 = const int 1\n}\n%9 = add int %8, %8\n"),
	    "an operand is not made on the way here" },
	{ DEVICE("if %3 {\n%8 = const int 1\n} else {\n"
	    "%9 = add int %8, %8\n}\n"),
	    "an operand is not made on the way here" },
	{ DEVICE("for %8 in %1..%2 step %1 {\n}\n%9 = add int %8, %8\n"),
	    "an operand is not made on the way here" },
	{ DEVICE("%9 = add int %1, %2\nif %3 {\n%8 = add int %9, %1\n}\n"),
	    NULL },
	{ DEVICE("print \"x\" %1\n"), NULL },
	{ DEVICE("assert \"x\" %1\n"), "the condition is not bool" },
	{ DEVICE("inside \"x\" %1, %5\n"), "an operand is not an int" },
	{ DEVICE("%9 = ptx int \"x\"\n"),
	    "PTX has no registers for the result" },
	{ DEVICE("%9 = ptx f32[17] \"x\"\n"), "there are too many results" },
	{ DEVICE("ptx_pure \"x\"\n"), "the operation has a result" },
	{ DEVICE("ptx \"x\" %1\n"),
	    "an operand is not one register of PTX" },
	{ DEVICE("%9 = executor u32\n"), "the result is not bool" },
	/* slots and memory */
	{ DEVICE("slot_set @2[0], %4\n"), NULL },
	{ DEVICE("slot_set @2[1], %4\n"), "the registers leave the slot" },
	{ DEVICE("slot_set @2[0], %1\n"), "value and slot differ in kind" },
	{ DEVICE("slot_set @1[0], %4\n"), "the object is not a slot" },
	{ DEVICE("%9 = slot_get f32[4] @2[0]\n"), NULL },
	{ DEVICE("%9 = load f32 @1[%1] align 4\n"), NULL },
	{ DEVICE("%9 = load f16 @1[%1] align 2\n"),
	    "value and object differ in kind" },
	{ DEVICE("%9 = load f32 @1[%5] align 4\n"),
	    "the offset is not an int" },
	{ DEVICE("%9 = load f32 @1[%1] align 3\n"),
	    "the alignment is not a power of two" },
	{ DEVICE("%9 = load f32 @1[%1]\n"),
	    "the alignment is not a power of two" },
	{ DEVICE("%9 = load f32 @1[%1] mask %1 align 4\n"),
	    "the mask is not bool" },
	{ DEVICE("%9 = load f32 @1[%1] mask %3 fill %4 align 4\n"),
	    "fill and result differ in type" },
	{ DEVICE("%9 = load f32 @2[%1] align 4\n"), "a slot is not memory" },
	{ DEVICE("%9 = load f32 @3[%1] align 4\n"),
	    "the object may not be read" },
	{ DEVICE("store @1[%1], %5 align 4\n"),
	    "the object may not be written" },
	{ DEVICE("store @3[%1], %4 mask %3 align 4\n"), NULL },
	{ DEVICE("store @8[%1], %5 align 4\n"),
	    "known data cannot be written" },
	{ DEVICE("store @5[%1], %5 align 4\n"),
	    "the object is no leaf of the function" },
	{ DEVICE("store @4[%1], %5 align 4\n"),
	    "the object does not live here" },
	{ DEVICE("%9 = load f32 @1[%1] align 4 order acquire scope gpu\n"),
	    NULL },
	{ DEVICE("%9 = load f32 @1[%1] align 4 order release scope gpu\n"),
	    "a load does not release" },
	{ DEVICE("%9 = load i4[2] @10[%1] align 1\n"), NULL },
	{ DEVICE("%9 = load i4[2] @10[%1] align 1 order relaxed\n"),
	    "an element of an ordered access has less than 8 bits" },
	{ DEVICE("store @3[%1], %4 align 4 order release scope gpu\n"), NULL },
	{ DEVICE("store @3[%1], %4 align 4 order acquire scope gpu\n"),
	    "a store does not acquire" },
	{ DEVICE("%9 = const i4 1\n%10 = atomic i4 add @10[%1], %9 align 1\n"),
	    "an element of an ordered access has less than 8 bits" },
	{ DEVICE("%9 = atomic f32 xor @3[%1], %5 align 4\n"),
	    "an operation on bits needs integers" },
	{ DEVICE("%9 = const f16 1\n%10 = const int 0\n"
	    "remote_store @9[%1], %10, %9 align 2 order release\n"),
	    "an access in another block has no order" },
	{ DEVICE("%9 = const f16 1\n%10 = const int 0\n%11 = remote_atomic "
	    "f16 add @9[%1], %10, %9 align 2 order release\n"), NULL },
	{ DEVICE("%9 = const f16 1\n%10 = const int 0\n%11 = remote_atomic "
	    "f16 cas @9[%1], %10, %9 align 2\n"),
	    "the number of operands is wrong" },
	{ DEVICE("%9 = const f16 1\n%10 = const int 0\n%11 = remote_atomic "
	    "f16 or @9[%1], %10, %9 align 2\n"),
	    "an operation on bits needs integers" },
	{ DEVICE("%9 = const int 0\n%10 = remote_atomic f32 add @3[%1], %9, "
	    "%5 align 4\n"), "another block has shared memory alone" },
	{ DEVICE("%9 = atomic f32 add @3[%1], %5, %5 align 4\n"),
	    "the mask is not bool" },
	{ DEVICE("%9 = atomic f32 cas @3[%1], %5 align 4\n"),
	    "the number of operands is wrong" },
	{ DEVICE("%9 = atomic f32 cas @3[%1], %5, %5 mask %3 align 4\n"),
	    NULL },
	/* control */
	{ DEVICE("if %1 {\n}\n"), "the condition is not bool" },
	{ DEVICE("if %3\n"), "the number of regions is wrong" },
	{ DEVICE("%9 = if int %3 {\nyield %1\n}\n"),
	    "the number of regions is wrong" },
	{ DEVICE("%9 = if int %3 {\nyield %1\n} else {\n}\n"),
	    "a region yields no result" },
	{ DEVICE("%9 = if int %3 {\nyield %1\n} else {\nreturn\n}\n"), NULL },
	{ DEVICE("%9 = if int %3 {\nyield %5\n} else {\nreturn\n}\n"),
	    "the result does not fit what the region belongs to" },
	{ DEVICE("if %3 {\nyield %1\n}\n"),
	    "the result does not fit what the region belongs to" },
	{ DEVICE("if %3 {\nyield %1, %1\n}\n"),
	    "there are too many results" },
	{ DEVICE("if %3 {\n} else {\n} else {\n}\n"),
	    "the number of regions is wrong" },
	{ DEVICE("loop {\n} else {\n}\n"), "the number of regions is wrong" },
	{ DEVICE("for %1..%2 step %1 {\n}\n"),
	    "the region does not begin with its index" },
	{ DEVICE("for %8 in %1..%5 step %1 {\n}\n"),
	    "an operand is not an int" },
	{ DEVICE("if %3 {\nreturn\nbarrier\n}\n"), "something follows it" },
	{ DEVICE("if ^1 %3 {\nbreak ^1\n}\n"),
	    "the target cannot be left like this" },
	{ DEVICE("scope ^1 {\ncontinue ^1\n}\n"),
	    "the target cannot be left like this" },
	{ DEVICE("loop ^1 {\ncontinue ^1\n}\n"), NULL },
	{ DEVICE("loop ^1 {\n}\nif %3 {\nbreak ^1\n}\n"),
	    "the target is not around it" },
	/* levels */
	{ DEVICE("require %3\n"), "it belongs to the host part" },
	{ DEVICE("array_map %8 in %1 {\n}\n"), "it belongs to tests" },
	{ HOST("barrier\n"), "it belongs to device functions" },
	{ HOST("%9 = special int lane\n"), "it belongs to device functions" },
	{ HOST("%9 = load f32 @1[%1] align 4\n"),
	    "the host part touches no memory" },
	{ HOST("array @7 empty %1\n"), "it belongs to tests" },
	{ TEST("barrier\n"), "it belongs to device functions" },
	/* host */
	{ HOST("require %1\n"), "the condition is not bool" },
	{ HOST("%9 = divisor int %1\n"), "the result is not u64[2]" },
	{ HOST("%9 = device f32 sms\n"), "the result is not an int" },
	{ HOST("%9 = device int clusters 16 per_sm 32\n"), NULL },
	{ HOST("%9 = device f32 clusters 2 per_sm 1\n"),
	    "the result is not an int" },
	{ HOST("workspace @1 %1\n"), "the object is not a workspace" },
	{ HOST("workspace @6 %1, %1\n"), "fill and object differ in type" },
	{ HOST("workspace @6 %1\n"), NULL },
	{ HOST("%9 = const f32 1\nlaunch $2 grid(%1, %1, %1) block(%1, %1, %1)"
	    " cluster(%1, %1, %1) with(%1, %9)\n"), NULL },
	{ HOST("launch $2 grid(%1, %1, %1) block(%1, %1, %1)"
	    " cluster(%1, %1, %1) with(%1, %1)\n"),
	    "the leaves do not fit the device function" },
	{ HOST("launch $2 grid(%1, %1, %1) block(%1, %1, %1)"
	    " cluster(%1, %1, %1) with(%1)\n"),
	    "the leaves do not fit the device function" },
	{ HOST("launch $1 grid(%1, %1, %1) block(%1, %1, %1)"
	    " cluster(%1, %1, %1) with()\n"),
	    "what is launched is not a device function" },
	{ HOST("launch $2 grid(%1, %1, %2) block(%1, %1, %1)"
	    " cluster(%1, %1, %1) with()\n"),
	    "grid, block or cluster is not an int" },
	/* tests */
	{ TEST("array @7 full %1\n"), "the number of operands is wrong" },
	{ TEST("array @1 empty %1\n"), "the object is not an array" },
	{ TEST("array_map %8 in %1 {\nreturn\n}\n"),
	    "it would leave a region that runs for each index" },
	{ TEST("loop ^1 {\narray_map %8 in %1 {\nbreak ^1\n}\n}\n"),
	    "it would leave a region that runs for each index" },
	{ TEST("expect %8 in %1 {\n}\n"), "a region yields no result" },
	{ TEST("expect %8 in %1 {\nyield %8\n}\n"),
	    "an expectation is a bool" },
	{ TEST("expect %8 in %1 {\nyield %2, %8\n}\n"),
	    "both sides are shown or none" },
	{ TEST("expect %8 in %1 {\nyield %2, %8, %8\n}\n"), NULL },
	{ TEST("call time \"k\" arguments() with()\n"),
	    "bytes and flops are not f64" },
	{ TEST("call launch \"k\" arguments(tensor 0.0 f32 @7 rank 1) "
	    "with(%1, %1)\n"), "offset, extents and strides are wrong" },
	{ TEST("call launch \"k\" arguments(tensor 0.0 f32 @7 rank 1) "
	    "with(%1, %1, %1)\n"), NULL },
	{ TEST("call launch \"k\" arguments(none 0.0) with(%1)\n"),
	    "the number of operands is wrong" },
	/* pixels */
	{ "module \"m\" sm_90\n"
	    "object @1 tensor f32[?] of 0.0 align 16 reads writes\n"
	    "object @2 shared f32[128] align 128 reads writes in #1\n"
	    "device $1 \"f\" { #1\nleaf object ptr @1\nleaf value tensormap\n"
	    "%1 = param tensormap 1\n%2 = const int 0\n"
	    "tma_store @2[%2] map %1 of @1 box (32, 4, 1) swizzle 0 pixels 0 "
	    "to 0 by 1 at %2, %2, %2, %2\n}\n", "pixels are loaded alone" },
	/* tables */
	{ "module \"m\"\nobject @1 slot f32[0]\n",
	    "a slot has a known extent" },
	{ "module \"m\"\nobject @1 shared f32[?] align 4\n",
	    "shared memory has a known extent" },
	{ "module \"m\"\nobject @1 table f32[4] align 4\n",
	    "a table has data" },
	{ "module \"m\"\nobject @1 tensor f32[4] of 0.0 align 4 restored\n",
	    "a workspace of elements of 8 bits or more is restored" },
	{ "module \"m\"\nobject @1 workspace i4[4] align 4 restored\n",
	    "a workspace of elements of 8 bits or more is restored" },
	{ "module \"m\"\nobject @1 workspace f32[?] align 4 writes restored\n"
	    "host $1 \"f\" {\n%1 = const int 4\nworkspace @1 %1\n}\n",
	    "what is restored has a fill" },
	{ "module \"m\"\nobject @1 tensor f32[4] of 0.0 align 12\n",
	    "the alignment is not a power of two" },
	{ "module \"m\"\ndevice $1 \"f\" {\nleaf extent int\n}\n",
	    "the kind does not fit the function" },
	{ "module \"m\"\ndevice $1 \"f\" block(2048, 1, 1) {\n}\n",
	    "block or cluster is beyond what a GPU has" },
	{ "module \"m\"\ndevice $1 \"f\" {\n"
	    "leaf value int range 1..0 by 1\n}\n", "the range is empty" },
	{ "module \"m\"\ndevice $1 \"f\" {\nleaf object int\n}\n",
	    "the object does not exist" },
};

START_TEST(rules_of_text)
{
	const struct rule *r = &rules[_i];
	const char *wrong;

	CJ_CHECK_RECOVER(&point);
	wrong = cj_module_verify(module_of(r->text));
	if (r->wrong == NULL)
		ck_assert_msg(wrong == NULL, "%s\n%s", wrong, r->text);
	else
		ck_assert_msg(wrong != NULL && strstr(wrong, r->wrong) != NULL,
		    "found: %s\n%s", wrong == NULL ? "nothing" : wrong,
		    r->text);
}
END_TEST

static struct cj_module *
good(void)
{
	return module_of(DEVICE("%6 = add int %1, %2\n"));
}

static cj_ref
find(const struct cj_module *m, enum cj_op op)
{
	cj_ref r;

	for (r = 1; r < m->insts.len; r++)
		if (m->insts.at[r].op == op)
			return r;
	ck_abort_msg("there is none");
	return 0;
}

static void
damage(struct cj_module *m, int how)
{
	struct cj_inst *add = &m->insts.at[find(m, CJ_OP_ADD)];

	switch (how) {
	case 0: m->pool.at[add->operands] = 0; break;
	case 1: m->pool.at[add->operands] = 99999; break;
	case 2: m->pool.at[add->operands] = find(m, CJ_OP_ADD); break;
	case 3: add->place = 7; break;
	case 4: add->op = CJ_OP_COUNT; break;
	case 5: add->operands = 0xffffff; break;
	case 6: add->attr = 3; break;
	case 7: add->operand_count = 1; break;
	case 8: m->insts.at[add->next].prev = 0; break;
	case 9: add->prev = 0; break;
	case 10: add->next = find(m, CJ_OP_SPECIAL); break;
	case 11: m->insts.at[find(m, CJ_OP_CONST)].attr = 0; break;
	case 12: m->insts.at[find(m, CJ_OP_SPECIAL)].attr = 99; break;
	case 13: m->regions.at[m->regions.len - 1].parent = 0; break;
	case 14: m->regions.at[m->regions.len - 1].owner = 1; break;
	case 15: m->objects.at[1].region = 999; break;
	case 16: m->objects.at[1].kind = 99; break;
	case 17: m->functions.at[1].body = 0; break;
	case 18: add->type = cj_type_of(CJ_KIND_COUNT, 1); break;
	}
}

START_TEST(damage_is_seen)
{
	struct cj_module *m;

	CJ_CHECK_RECOVER(&point);
	m = good();
	ck_assert_ptr_null(cj_module_verify(m));
	damage(m, _i);
	ck_assert_ptr_nonnull(cj_module_verify(m));
}
END_TEST

static Suite *
ir_verify_suite(void)
{
	Suite *s = suite_create("ir_verify");
	TCase *t = tcase_create("ir_verify");

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_loop_test(t, rules_of_text, 0, (int)CJ_LENGTH(rules));
	tcase_add_loop_test(t, damage_is_seen, 0, 19);
	suite_add_tcase(s, t);
	return s;
}

CJ_CHECK_MAIN(ir_verify_suite)
