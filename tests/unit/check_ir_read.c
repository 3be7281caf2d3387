/*
 * The text form: what is printed reads back and prints the same; everything
 * that a module can hold is in it; garbage is an error with its line.
 */
#include "check_ir.h"

/* Texts exactly as the printer writes them, right by the verifier. */
static const char sample[] =
	"module \"relu\" sm_90a\n"
	"\n"
	"object @1 tensor f16[?] name \"x\" of 0.0 align 16 reads !1\n"
	"object @2 tensor f16[?] name \"y\" of 1.0 align 16 reads writes alias "
	    "layout \"(M, N):(N, 1)\"\n"
	"object @3 slot f32[8] name \"acc\" in #1\n"
	"object @4 shared f32[256] align 16 reads writes in #1\n"
	"object @5 table i32[3] align 4 reads data {1, -2, 3}\n"
	"object @6 tensor i32[1] of 2.1 align 4 reads writes\n"
	"object @7 shared i32[64] align 16 reads writes in #1\n"
	"object @8 shared f16[512] align 16 reads writes in #1\n"
	"\n"
	"device $1 \"relu_0\" block(256, 1, 1) cluster(2, 1, 1) min_blocks 2 "
	    "max_registers 64 !1 { #1\n"
	"    leaf object ptr name \"x\" @1\n"
	"    leaf object ptr name \"y\" @2 of 1.0.0\n"
	"    leaf object ptr @6\n"
	"    leaf value int name \"N\" range 0..2147483640 by 8\n"
	"    leaf value u64[2]\n"
	"    %1 = param int 3\n"
	"    %2 = special int thread_x !2\n"
	"    %3 = const f32[8] 0\n"
	"    slot_set @3[0], %3\n"
	"    %4 = load f16[8] @1[%2] align 16 cache streaming early !3\n"
	"    %5 = convert f32[8] %4\n"
	"    %6 = convert f16[8] %5 round up saturate\n"
	"    %7 = lt bool %2, %1\n"
	"    %8 = load f16 @1[%2] mask %7 align 2 why \"the stride is 3\"\n"
	"    %9 = load f16 @1[%2] mask %7 fill %8 align 2 order acquire "
	    "scope gpu\n"
	"    store @2[%2], %6 mask %7 align 16\n"
	"    barrier\n"
	"    cp_async @7[%2] align 4 from @6[%1] align 4 count 1\n"
	"    cp_async @7[%2] align 16 from @6[%1] align 16 cache streaming "
	    "count 4 mask %7 by global prefetch 256\n"
	"    cp_commit\n"
	"    cp_wait 3\n"
	"    cp_wait all\n"
	"    %10 = if int %7 {\n"
	"        yield %1\n"
	"    } else {\n"
	"        yield %2\n"
	"    }\n"
	"    if %7 {\n"
	"        %11 = const f32 0x7fc00001\n"
	"        store @4[%2], %11 align 4\n"
	"    }\n"
	"    %12 = const i32 -5\n"
	"    %13 = atomic i32 add @6[%2], %12 align 4 order relaxed scope gpu\n"
	"    %14 = atomic i32 cas @6[%2], %12, %13 mask %7 align 4 order "
	    "acq_rel scope system\n"
	"    %15 = const int 0\n"
	"    %16 = const int 2\n"
	"    for ^1 %17 in %15..%10 step %16 unroll 4 !3 {\n"
	"        %18 = slot_get f32[4] @3[4]\n"
	"        %19 = slice f32[2] %18 at 1\n"
	"        %20 = insert f32[4] %18, %19 at 2\n"
	"        %21 = permute f32[4] %20 [3, 2, 1, 0]\n"
	"        %22 = concat f32[6] %21, %19\n"
	"        %23 = bitcast u16[12] %22\n"
	"        loop ^2 {\n"
	"            if %7 {\n"
	"                break ^2\n"
	"            } else {\n"
	"                continue ^1\n"
	"            }\n"
	"        }\n"
	"        scope ^3 {\n"
	"            break ^3\n"
	"        }\n"
	"    }\n"
	"    %24 = shfl int xor %2, %16\n"
	"    %25 = ballot u32 %7\n"
	"    %26 = param u64[2] 4\n"
	"    %27 = divide_by int %2, %1, %26\n"
	"    %28 = select f32[8] %7, %3, %5\n"
	"    print \"a \\\"{}\\\"\\n\\x01\" %2\n"
	"    print \"none\"\n"
	"    %29 = const f32[4] {0.5, -0, inf, 1e-45}\n"
	"    assert \"must hold\" %7\n"
	"    inside \"mode 1 of x\" %2, %16\n"
	"    %30 = ldmatrix f32[4] @4[%2] align 16\n"
	"    %31 = const f16[8] 0\n"
	"    stmatrix @8[%2], %31 transposed align 16\n"
	"    %32 = slice f16[2] %31 at 0\n"
	"    %33 = movmatrix f16[2] %32\n"
	"    %34 = slice f16[4] %31 at 4\n"
	"    %35 = mma f16[4] \"SM80_16x8x16_F16F16F16F16_TN\" %31, %34, "
	    "%34\n"
	"    cluster_barrier\n"
	"    %36 = remote_load i32[4] @7[%2], %1 align 16\n"
	"    remote_store @7[%1], %2, %36 align 16\n"
	"    %37 = slice i32 %36 at 0\n"
	"    %38 = remote_atomic i32 add @7[%2], %1, %37 align 4 order "
	    "relaxed scope gpu\n"
	"    %39 = remote_atomic i32 cas @7[%2], %1, %37, %38 align 4 order "
	    "acq_rel scope cluster\n"
	"    return\n"
	"}\n"
	"\n"
	"place !1 1:0:9\n"
	"place !2 1:10:20 in !1\n"
	"place !3 1:30:34 in !2 turn 3\n";

static const char host_sample[] =
	"module \"gemm\" sm_80\n"
	"\n"
	"object @1 tensor f32[?] name \"x\" of 0.0 align 4 reads\n"
	"object @2 workspace f32[?] name \"w\" align 256 reads writes\n"
	"\n"
	"host $1 \"gemm\" {\n"
	"    leaf object ptr name \"x\" @1\n"
	"    leaf extent int name \"M\" of 0.0.1 range 0..\n"
	"    leaf stride int of 0.0.1 range ..-4 by 4\n"
	"    leaf scalar f32 of 1.0.0\n"
	"    %1 = param int 1\n"
	"    %2 = const int 8\n"
	"    %3 = mod int %1, %2\n"
	"    %4 = const int 0\n"
	"    %5 = eq bool %3, %4\n"
	"    require %5, %1, %2 parameter \"x\" need \"M % 8 == 0\" names "
	    "\"M, c\" code syntax\n"
	"    require %5\n"
	"    %6 = divisor u64[2] %1\n"
	"    %7 = device int sms\n"
	"    %8 = param f32 3\n"
	"    workspace @2 %1, %8\n"
	"    %9 = device int clusters 4 per_sm 2\n"
	"    launch $2 grid(%9, %2, %2) block(%2, %2, %2) cluster(%2, %2, %2) "
	    "with(%6, %8) cooperative dependent\n"
	"}\n"
	"\n"
	"device $2 \"gemm_0\" {\n"
	"    leaf value u64[2]\n"
	"    leaf value f32 name \"alpha\"\n"
	"}\n";

static const char test_sample[] =
	"module \"test\"\n"
	"\n"
	"object @1 array f16[?] name \"x\" align 16 reads writes\n"
	"object @2 array f16[?] align 16 reads writes\n"
	"\n"
	"test $1 \"relu keeps\" {\n"
	"    %1 = const int 33\n"
	"    %2 = const int 1\n"
	"    %3 = const f64 0.5\n"
	"    array @1 normal %1, %2\n"
	"    array @2 empty %1\n"
	"    call launch \"relu\" member 1 arguments(tensor 0.0 f16 @1 rank 1, "
	    "none 1.0, scalar 2.0 int) with(%2, %1, %2, %1)\n"
	"    call time \"relu\" arguments() with(%3, %3)\n"
	"    call launch \"relu\" refused \"align\" arguments() with()\n"
	"    call launch arguments(scalar 0.0 f64) with(%3)\n"
	"    array_map %4 in %1 {\n"
	"        %5 = load f16 @1[%4] align 2\n"
	"        store @2[%4], %5 align 2\n"
	"    }\n"
	"    expect %6 in %1, %2 text \"y == x\" left \"y\" right \"x\" {\n"
	"        %7 = load f16 @1[%6] align 2\n"
	"        %8 = eq bool %7, %7\n"
	"        yield %8, %7, %7\n"
	"    }\n"
	"}\n";

static const char *const samples[] = { sample, host_sample, test_sample };

START_TEST(prints_the_same)
{
	struct cj_module *m;
	const char *wrong;

	CJ_CHECK_RECOVER(&point);
	m = module_of(samples[_i]);
	ck_assert_str_eq(text_of(m), samples[_i]);
	wrong = cj_module_verify(m);
	ck_assert_msg(wrong == NULL, "%s", wrong);
}
END_TEST

/* What the builder makes, with numbers that have gaps. */
START_TEST(built_modules_read_back)
{
	struct cj_module *m;
	struct cj_builder b = { 0 };
	cj_ref one, three, gone, sum, cond, loop;
	cj_region body;
	const char *text;

	CJ_CHECK_RECOVER(&point);
	m = cj_module_create(&arena, "built", cj_target_find("sm_80"));
	b.module = m;
	b.place = cj_module_place(m, (struct cj_span){ 1, 2, 3 }, 0, -1);
	b.region = body = m->functions.at[cj_module_function(m,
	    CJ_FUNCTION_DEVICE, "f")].body;
	one = cj_emit_index(&b, 1);
	gone = cj_emit_index(&b, 2);
	b.place = cj_module_place(m, (struct cj_span){ 1, 5, 6 }, b.place, 4);
	three = cj_emit_index(&b, 3);
	sum = cj_emit2(&b, CJ_OP_ADD, cj_type_of(CJ_KIND_INDEX, 1), one,
	    three);
	cj_inst_remove(m, body, gone);
	cond = cj_emit2(&b, CJ_OP_LT, cj_type_of(CJ_KIND_BOOL, 1), one, sum);
	loop = cj_emit0(&b, CJ_OP_LOOP, 0, 0);
	b.region = cj_region_add(&b, loop, NULL);
	cj_emit1(&b, CJ_OP_IF, 0, cond);
	b.region = cj_region_add(&b, m->regions.at[b.region].last, NULL);
	cj_emit0(&b, CJ_OP_BREAK, 0, loop);
	ck_assert_ptr_null(cj_module_verify(m));
	text = text_of(m);
	ck_assert_str_eq(text,
	    "module \"built\" sm_80\n\n"
	    "device $1 \"f\" {\n"
	    "    %1 = const int 1 !1\n"
	    "    %2 = const int 3 !2\n"
	    "    %3 = add int %1, %2 !2\n"
	    "    %4 = lt bool %1, %3 !2\n"
	    "    loop ^1 !2 {\n"
	    "        if %4 !2 {\n"
	    "            break ^1 !2\n"
	    "        }\n"
	    "    }\n"
	    "}\n\n"
	    "place !1 1:2:3\n"
	    "place !2 1:5:6 in !1 turn 4\n");
	ck_assert_str_eq(text_of(module_of(text)), text);
}
END_TEST

START_TEST(one_function_alone)
{
	struct cj_strbuf out;

	CJ_CHECK_RECOVER(&point);
	cj_strbuf_init(&out, &arena);
	cj_function_print(&out, module_of(host_sample), 2);
	ck_assert_str_eq(out.text, "\ndevice $2 \"gemm_0\" {\n"
	    "    leaf value u64[2]\n    leaf value f32 name \"alpha\"\n}\n");
}
END_TEST

static const struct bad {
	const char *text, *error;
} bads[] = {
	{ "", "line 1: \"module\" is needed" },
	{ "module", "line 1: a text in quotes is needed" },
	{ "module \"a", "line 1: a text is not closed" },
	{ "module \"a\" sm_17", "line 1: the target is unknown" },
	{ "module \"a\"\nfoo", "line 2: an object, a function or a place is "
	    "needed" },
	{ "module \"a\"\nobject @2 slot f32[1]",
	    "line 2: objects are numbered in order" },
	{ "module \"a\"\nobject @1 slot f33[1]", "line 2: a type is needed" },
	{ "module \"a\"\nobject @1 slot f32[-1]",
	    "line 2: an integer is needed, or it is too large" },
	{ "module \"a\"\nobject @1 slot f32[1] in #1",
	    "line 2: a region is not there" },
	{ "module \"a\"\nobject @1 table i8[2] data {1, 300}",
	    "line 2: a number of the type is needed" },
	{ "module \"a\"\nobject @1 table i8[9] data {1}",
	    "line 2: there are too many or too few numbers" },
	{ "module \"a\"\nobject @1 table i8[99999999999] data 0",
	    "line 2: the type is too large for this text" },
	{ "module \"a\"\nplace !1 1:2:3 in !1",
	    "line 2: a parent comes before its child" },
#define IN_F(text) "module \"a\"\ndevice $1 \"f\" {\n" text
	{ IN_F(""), "line 3: there is no such operation" },
	{ IN_F("x\n}"), "line 3: there is no such operation" },
	{ IN_F("%1 = add int %2, %3\n}"),
	    "line 3: a value is used before it is made" },
	{ IN_F("%1 = const int 1\n%1 = const int 1\n}"),
	    "line 5: a number is given twice" },
	{ IN_F("%999 = const int 1\n}"),
	    "line 3: the number of a reference is wrong" },
	{ IN_F("%1 = const int x\n}"),
	    "line 3: a number of the type is needed" },
	{ IN_F("%1 = const f32[70000] 0\n}"),
	    "line 3: an integer is needed, or it is too large" },
	{ IN_F("%1 = add int\n}"), "line 4: the number of operands is wrong" },
	{ IN_F("barrier {\n}\n}"), "line 3: the operation has no regions" },
	{ IN_F("break ^1\n}"), "line 4: there is no such target" },
	{ IN_F("barrier !1\n}"), "line 4: a place is not listed" },
	{ IN_F("%1 = special int nowhere\n}"),
	    "line 3: the word is none of those known here" },
	{ IN_F("%9 = mma f32[4] \"SM80_1x1x1\" %1\n}"),
	    "line 3: there is no MMA atom \"SM80_1x1x1\"" },
	{ IN_F("%9 = mma f32[4] \"UniversalFMA<f32>\" %1\n}"),
	    "line 3: \"UniversalFMA<f32>\" is no mma of a warp" },
	{ IN_F("%9 = mma f64[4] \"SM80_8x8x4_C64C64C64C64_TN\" %1\n}"),
	    "line 3: \"SM80_8x8x4_C64C64C64C64_TN\" is not one instruction" },
	{ IN_F("%9 = mma f64[4] \"SM80_16x8x8_F16BF16BF16F16_TN\" %1\n}"),
	    "line 3: no instruction has the types of "
	    "\"SM80_16x8x8_F16BF16BF16F16_TN\"" },
	{ IN_F("slot_set @1[0]\n}"), "line 3: there is no such object" },
};

START_TEST(says_what_is_wrong)
{
	struct cj_strbuf error;

	CJ_CHECK_RECOVER(&point);
	cj_strbuf_init(&error, &arena);
	ck_assert_ptr_null(cj_module_read(&arena, bads[_i].text,
	    strlen(bads[_i].text), &error));
	ck_assert_str_eq(error.text, bads[_i].error);
}
END_TEST

/* Every beginning of a text, and every text with one byte changed: an error or
 * a module that prints and reads again. */
START_TEST(survives_damage)
{
	const char *text = samples[_i];
	size_t length = strlen(text), i;
	char *copy = malloc(length + 1);
	struct cj_mark mark;

	ck_assert_ptr_nonnull(copy);
	CJ_CHECK_RECOVER(&point);
	mark = cj_arena_mark(&arena);
	for (i = 0; i < 4 * length; i++) {
		struct cj_strbuf error;
		struct cj_module *m;

		memcpy(copy, text, length + 1);
		copy[i % length] = "}0%x\n"[i / length];
		cj_strbuf_init(&error, &arena);
		m = cj_module_read(&arena, copy, i < length ? i : length,
		    &error);
		if (m != NULL) {
			const char *once = text_of(m);

			cj_module_verify(m);
			if (strcmp(text_of(module_of(once)), once) != 0)
				ck_abort_msg("%s", once);
		} else if (error.len == 0) {
			ck_abort_msg("no message at %zu", i);
		}
		cj_arena_release(&arena, mark);
	}
	free(copy);
}
END_TEST

/* Depth costs no stack: a hundred thousand scopes. */
START_TEST(nests_deeply)
{
	struct cj_strbuf text;
	struct cj_module *m;
	int i;

	CJ_CHECK_RECOVER(&point);
	cj_strbuf_init(&text, &arena);
	cj_strbuf_puts(&text, "module \"deep\"\ndevice $1 \"f\" {\n");
	for (i = 0; i < 100000; i++)
		cj_strbuf_puts(&text, "scope {\n");
	for (i = 0; i < 100001; i++)
		cj_strbuf_puts(&text, "}\n");
	m = module_of(text.text);
	ck_assert_ptr_null(cj_module_verify(m));
	ck_assert_ptr_nonnull(cj_facts_compute(&arena, m, 1));
	cj_passes_run(m, &point, NULL, NULL);
	ck_assert_str_eq(text_of(m),
	    "module \"deep\"\n\ndevice $1 \"f\" {\n}\n");
}
END_TEST

static Suite *
ir_read_suite(void)
{
	Suite *s = suite_create("ir_read");
	TCase *t = tcase_create("ir_read");
	int count = (int)CJ_LENGTH(samples);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_loop_test(t, prints_the_same, 0, count);
	tcase_add_test(t, built_modules_read_back);
	tcase_add_test(t, one_function_alone);
	tcase_add_loop_test(t, says_what_is_wrong, 0, (int)CJ_LENGTH(bads));
	tcase_set_timeout(t, 120);	/* with sanitizers on a busy machine */
	tcase_add_loop_test(t, survives_damage, 0, count);
	tcase_add_test(t, nests_deeply);
	suite_add_tcase(s, t);
	return s;
}

CJ_CHECK_MAIN(ir_read_suite)
