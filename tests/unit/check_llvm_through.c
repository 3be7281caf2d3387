/*
 * Which waits for products hold an accumulator: those behind which something
 * may read or write it before the next product, fence or wait.
 */
#include "check_ir.h"

#include "codegen/llvm_gen.h"

#define WGMMA								\
	"wgmma \"SM90_64x16x16_F32BF16BF16_SS\" @4[0] a @2[%1] leading 16 " \
	"stride 1024 swizzle 128 b @3[%1] leading 16 stride 1024 swizzle 128\n"
#define GROUP	"wgmma_fence\n" WGMMA "wgmma_commit\n"
#define USE	"%9 = slot_get f32[8] @4[0]\n store @1[%1], %9 align 16\n"

static const struct row {
	const char *body, *holds;	/* a letter for each wait: y, n */
} rows[] = {
	{ GROUP "wgmma_wait 0\n" USE, "y" },
	{ GROUP "wgmma_wait 0\n", "n" },
	{ GROUP "wgmma_wait 0\n" GROUP "wgmma_wait 0\n" USE, "ny" },
	{ GROUP "wgmma_wait 1\n wgmma_wait 0\n" USE, "ny" },
	/* the last turn's way leads to the second wait, all others to a product
	 * or to that too */
	{ "for %4 in %1..%2 step %2 {\n" GROUP "wgmma_wait 1\n }\n"
	  "wgmma_wait 0\n" USE, "ny" },
	{ "for %4 in %1..%2 step %2 {\n" GROUP "wgmma_wait 1\n }\n" USE, "y" },
	/* another turn begins with it */
	{ "for %4 in %1..%2 step %2 {\n" USE GROUP "wgmma_wait 0\n }\n", "y" },
	{ "loop ^1 {\n" GROUP "if %3 { break ^1 }\n wgmma_wait 1\n }\n"
	  "wgmma_wait 0\n" USE, "ny" },
	/* a way out of the loop in front of what holds it */
	{ "loop ^1 {\n wgmma_wait 0\n if %3 { break ^1 }\n" GROUP "}\n" USE,
	  "y" },
	{ GROUP "if %3 { wgmma_wait 1\n }\n wgmma_wait 0\n" USE, "ny" },
	{ GROUP "if %3 { wgmma_wait 0\n }\n" USE, "y" },
	{ GROUP "wgmma_wait 0\n if %3 {\n" GROUP "wgmma_wait 0\n } else {\n"
	  GROUP "wgmma_wait 0\n }\n", "nnn" },
	/* only one of two ways holds it */
	{ GROUP "wgmma_wait 0\n if %3 {\n wgmma_fence\n }\n" USE, "y" },
	{ GROUP "wgmma_wait 0\n if %3 {\n wgmma_fence\n } else {\n"
	  "wgmma_fence\n }\n" USE, "n" },
};

static struct cj_module *
around(const char *body)
{
	return module_of(cj_printf(&arena, "module \"m\" sm_90a\n"
	    "object @1 tensor f32[?] name \"y\" of 0.0 align 16 writes\n"
	    "object @2 shared bf16[4096] name \"a\" align 1024 reads writes "
	    "in #1\n"
	    "object @3 shared bf16[1024] name \"b\" align 1024 reads writes "
	    "in #1\n"
	    "object @4 slot f32[8] name \"acc\" reads writes in #1\n"
	    "device $1 \"f\" block(128, 1, 1) { #1\n"
	    "leaf object ptr @1\n"
	    "%%1 = const int 0\n"
	    "%%2 = const int 1\n"
	    "%%3 = lt bool %%1, %%2\n"
	    "%s}\n", body));
}

START_TEST(test_holds)
{
	const struct row *row = &rows[_i];
	struct cj_llvm_gen *g;
	struct cj_module *m;
	struct cj_strbuf got;
	struct cj_walk w;

	m = around(row->body);
	g = CJ_NEW(&arena, struct cj_llvm_gen);
	g->m = m;
	g->function = &m->functions.at[1];
	cj_strbuf_init(&got, &arena);
	for (w = cj_walk_begin(m, g->function->body); cj_walk_next(&w);)
		if (w.event == CJ_WALK_INST &&
		    cj_inst(m, w.ref)->op == CJ_OP_WGMMA_WAIT)
			cj_strbuf_puts(&got, cj_llvm_goes_through(g, w.ref, 4)
			    ? "y" : "n");
	ck_assert_str_eq(got.text, row->holds);
}
END_TEST

static Suite *
llvm_through_suite(void)
{
	Suite *s = suite_create("llvm_through");
	TCase *t = tcase_create("waits");

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_loop_test(t, test_holds, 0,
	    (int)(sizeof rows / sizeof *rows));
	suite_add_tcase(s, t);
	return s;
}

CJ_CHECK_MAIN(llvm_through_suite)
