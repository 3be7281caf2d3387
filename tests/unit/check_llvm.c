/*
 * The frame of code generation: what goes wrong inside LLVM comes back as a
 * status, versions of PTX, levels, line tables, threads, the same text twice.
 */
#include "arena_fixture.h"
#include "llvm_module.h"

#include <pthread.h>

static struct cj_module *
small_module(struct cj_arena *a, const char *target)
{
	struct cj_module *m = cj_module_create(a, "small",
	    cj_target_find(target));
	cj_type t = cj_type_of(CJ_KIND_F32, 4);

	cj_test_op(m, CJ_OP_ADD, t, t);
	cj_test_op(m, CJ_OP_DIV, t, t);
	return m;
}

/* ---- faults ------------------------------------------------------------- */

static void
check_fault(enum cj_codegen_fault fault, const char *text)
{
	struct cj_codegen_options o = { .level = 2, .fault = fault };
	struct cj_codegen_result out;
	struct cj_module *m = small_module(&arena, "sm_80");
	int i;

	/* several times, and sound afterwards */
	for (i = 0; i < 3; i++) {
		ck_assert_int_eq(cj_codegen_ptx(&arena, m, &o, &out),
		    CJ_CODEGEN_FAULT);
		ck_assert_ptr_nonnull(out.error);
		ck_assert_msg(strstr(out.error, text) != NULL,
		    "\"%s\" says nothing of \"%s\"", out.error, text);
		ck_assert_ptr_null(out.ptx);
		ck_assert_ptr_eq(arena.recover, &point);
	}
	o.fault = CJ_CODEGEN_NO_FAULT;
	ck_assert_int_eq(cj_codegen_ptx(&arena, m, &o, &out), CJ_CODEGEN_OK);
	ck_assert_ptr_nonnull(strstr(out.ptx, "add_f32_f32"));
}

START_TEST(test_llvm_fatal)
{
	CJ_CHECK_RECOVER(&point);
	check_fault(CJ_CODEGEN_LLVM_FATAL, "LLVM: ");
}
END_TEST

START_TEST(test_llvm_error)
{
	CJ_CHECK_RECOVER(&point);
	check_fault(CJ_CODEGEN_LLVM_ERROR, "LLVM: ");
}
END_TEST

START_TEST(test_bug)
{
	CJ_CHECK_RECOVER(&point);
	check_fault(CJ_CODEGEN_BUG, "forced by a test");
}
END_TEST

/* An operation that has no place in device code is a bug, not a crash. */
START_TEST(test_host_operation)
{
	struct cj_codegen_options o = { .level = 2 };
	struct cj_codegen_result out;
	struct cj_module *m;
	struct cj_test_kernel t;

	CJ_CHECK_RECOVER(&point);
	m = cj_module_create(&arena, "m", cj_target_find("sm_80"));
	t = cj_test_kernel(m, "k", 1);
	cj_emit0(&t.b, CJ_OP_DEVICE, cj_type_of(CJ_KIND_INDEX, 1),
	    CJ_DEVICE_SMS);
	ck_assert_int_eq(cj_codegen_ptx(&arena, m, &o, &out),
	    CJ_CODEGEN_FAULT);
	ck_assert_ptr_nonnull(strstr(out.error, "device in device code"));
}
END_TEST

/* Memory that runs out in the middle leaves by the caller's point. */
START_TEST(test_memory)
{
	struct cj_codegen_options o = { .level = 2 };
	struct cj_codegen_result out;
	struct cj_recover own = { 0 };
	struct cj_arena a;
	struct cj_module *m;
	volatile size_t limit = 0;

	CJ_CHECK_RECOVER(&point);
	m = small_module(&arena, "sm_80");
	for (limit = 1 << 10; limit < 1 << 22; limit += limit / 4) {
		own.why = CJ_WHY_NONE;
		cj_arena_init(&a, &own, NULL);
		if (CJ_RECOVER(&own)) {
			ck_assert_int_eq(own.why, CJ_WHY_MEMORY);
			ck_assert_ptr_eq(a.recover, &own);
			cj_arena_fini(&a);
			continue;
		}
		a.limit = limit;
		ck_assert_int_eq(cj_codegen_ptx(&a, m, &o, &out),
		    CJ_CODEGEN_OK);
		cj_arena_fini(&a);
		return;
	}
	ck_abort_msg("4 MB were not enough");
}
END_TEST

/* ---- versions, levels, tables ------------------------------------------- */

START_TEST(test_versions)
{
	static const struct {
		const char *target;
		int ptx, expected;	/* 0: refused */
	} cases[] = {
		{ "sm_80", 0, 70 }, { "sm_90a", 0, 80 }, { "sm_120a", 0, 87 },
		{ "sm_80", 90, 90 }, { "sm_80", 75, 75 }, { "sm_90a", 78, 0 },
		{ "sm_100a", 80, 0 }, { "sm_80", 91, 0 }, { "sm_80", 79, 0 },
		{ "sm_80", 60, 0 }, { "sm_103a", 0, 88 }
	};
	unsigned i;

	CJ_CHECK_RECOVER(&point);
	for (i = 0; i < CJ_LENGTH(cases); i++) {
		struct cj_codegen_options o = { .level = 1,
		    .ptx = cases[i].ptx };
		struct cj_codegen_result out;
		enum cj_codegen_status s = cj_codegen_ptx(&arena,
		    small_module(&arena, cases[i].target), &o, &out);

		if (cases[i].expected == 0) {
			ck_assert_int_eq(s, CJ_CODEGEN_FAULT);
			continue;
		}
		ck_assert_int_eq(s, CJ_CODEGEN_OK);
		ck_assert_int_eq(out.ptx_version, cases[i].expected);
		ck_assert_ptr_nonnull(strstr(out.ptx, cj_printf(&arena,
		    ".version %d.%d", cases[i].expected / 10,
		    cases[i].expected % 10)));
		ck_assert_ptr_nonnull(strstr(out.ptx, cj_printf(&arena,
		    ".target %s", cases[i].target)));
	}
}
END_TEST

/* sm_89 converts to 8-bit floats from PTX 8.1 on: asked for where allowed. */
START_TEST(test_version_grows)
{
	struct cj_module *m;
	struct cj_test_kernel t;
	struct cj_codegen_options o = { .level = 1 };
	struct cj_codegen_result out;

	CJ_CHECK_RECOVER(&point);
	m = cj_module_create(&arena, "m", cj_target_find("sm_89"));
	t = cj_test_kernel(m, "k", 4);
	cj_test_store(&t, cj_emit1(&t.b, CJ_OP_CONVERT,
	    cj_type_of(CJ_KIND_F8E4M3, 4), cj_test_load(&t,
	    cj_type_of(CJ_KIND_F32, 4), "a")), "y");
	ck_assert_int_eq(cj_codegen_ptx(&arena, m, &o, &out), CJ_CODEGEN_OK);
	ck_assert_int_eq(out.ptx_version, 81);
	ck_assert_ptr_nonnull(strstr(out.ptx, "cvt.rn.satfinite.e4m3x2.f32"));
	o.ptx = 80;
	ck_assert_int_eq(cj_codegen_ptx(&arena, m, &o, &out), CJ_CODEGEN_OK);
	ck_assert_int_eq(out.ptx_version, 80);
	ck_assert_ptr_null(strstr(out.ptx, "e4m3x2"));
}
END_TEST

START_TEST(test_levels)
{
	struct cj_codegen_options o = { .level = _i, .want_llvm = true };
	struct cj_codegen_result out, again;
	struct cj_module *m;
	char said[1000];

	CJ_CHECK_RECOVER(&point);
	m = small_module(&arena, "sm_80");
	ck_assert_int_eq(cj_codegen_ptx(&arena, m, &o, &out), CJ_CODEGEN_OK);
	ck_assert_int_eq(cj_codegen_ptx(&arena, m, &o, &again),
	    CJ_CODEGEN_OK);
	ck_assert_str_eq(out.ptx, again.ptx);
	ck_assert_uint_eq(out.ptx_length, strlen(out.ptx));
	ck_assert_ptr_nonnull(strstr(out.llvm, "define ptx_kernel void"));
	ck_assert_uint_eq(out.kernel_count, 2);
	ck_assert_str_eq(out.kernels[1].entry, "div_f32_f32");
	ck_assert_msg(cj_test_assemble(out.ptx, "sm_80", said, sizeof said),
	    "%s", said);
}
END_TEST

START_TEST(test_lines)
{
	static const char text[] = "one\ntwo\n  three\n";
	struct cj_codegen_options o = { .level = 2, .lineinfo = true };
	struct cj_codegen_result out;
	struct cj_sources sources;
	struct cj_span span = { .begin = 10, .end = 15 };
	struct cj_module *m;
	struct cj_test_kernel t;
	char said[1000];

	CJ_CHECK_RECOVER(&point);
	cj_sources_init(&sources, &arena);
	span.source = cj_source_add(&sources, "case.cute", text,
	    sizeof text - 1);
	m = cj_module_create(&arena, "m", cj_target_find("sm_90a"));
	m->sources = &sources;
	t = cj_test_kernel(m, "k", 1);
	t.b.place = cj_module_place(m, span, 0, -1);
	cj_test_store(&t, cj_emit1(&t.b, CJ_OP_SQRT,
	    cj_type_of(CJ_KIND_F32, 1), cj_test_load(&t,
	    cj_type_of(CJ_KIND_F32, 1), "a")), "y");
	ck_assert_int_eq(cj_codegen_ptx(&arena, m, &o, &out), CJ_CODEGEN_OK);
	ck_assert_ptr_nonnull(strstr(out.ptx, "case.cute"));
	ck_assert_ptr_nonnull(strstr(out.ptx, ".loc\t1 3 3"));
	ck_assert_msg(strstr(out.ptx, ", debug") == NULL,
	    "ptxas would not optimise this");
	ck_assert_msg(cj_test_assemble(out.ptx, "sm_90a", said, sizeof said),
	    "%s", said);
}
END_TEST

/* ---- threads ------------------------------------------------------------ */

static void *
compile_some(void *user)
{
	struct cj_recover own = { 0 };
	struct cj_arena a;
	struct cj_codegen_options o = { .level = 2 };
	struct cj_codegen_result out;
	char *text = NULL;
	int i;

	(void)user;
	if (CJ_RECOVER(&own))
		return NULL;
	cj_arena_init(&a, &own, NULL);
	for (i = 0; i < 12; i++) {
		/* faults of one thread are no other's */
		o.fault = i % 3 == 1 ? CJ_CODEGEN_LLVM_FATAL :
		    CJ_CODEGEN_NO_FAULT;
		if ((cj_codegen_ptx(&a, small_module(&a, "sm_90a"), &o,
		    &out) == CJ_CODEGEN_OK) != (i % 3 != 1))
			break;
		if (i == 11)
			text = strdup(out.ptx);
	}
	cj_arena_fini(&a);
	return text;
}

START_TEST(test_threads)
{
	pthread_t threads[4];
	void *texts[4];
	unsigned i;

	for (i = 0; i < CJ_LENGTH(threads); i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL,
		    compile_some, NULL), 0);
	for (i = 0; i < CJ_LENGTH(threads); i++)
		pthread_join(threads[i], &texts[i]);
	for (i = 0; i < CJ_LENGTH(threads); i++) {
		ck_assert_ptr_nonnull(texts[i]);
		ck_assert_str_eq(texts[i], texts[0]);
	}
	for (i = 0; i < CJ_LENGTH(threads); i++)
		free(texts[i]);
}
END_TEST

START_TEST(test_name)
{
	ck_assert_int_eq(strncmp(cj_codegen_version(), "LLVM ", 5), 0);
}
END_TEST

Suite *
suite(void);

Suite *
suite(void)
{
	Suite *s = suite_create("llvm");
	TCase *t = tcase_create("frame");

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, test_llvm_fatal);
	tcase_add_test(t, test_llvm_error);
	tcase_add_test(t, test_bug);
	tcase_add_test(t, test_host_operation);
	tcase_add_test(t, test_memory);
	tcase_add_test(t, test_versions);
	tcase_add_test(t, test_version_grows);
	tcase_add_loop_test(t, test_levels, 0, 4);
	tcase_add_test(t, test_lines);
	tcase_add_test(t, test_threads);
	tcase_add_test(t, test_name);
	suite_add_tcase(s, t);
	return s;
}

CJ_CHECK_MAIN(suite)
