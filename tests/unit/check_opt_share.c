/*
 * Shared objects in each other's memory: who may lie where, and that the
 * barriers between are enough: with the accesses moved into the host, the
 * executor finds no race, and without the barrier that was put it does.
 */
#include "interp_fixture.h"

/* 64 threads write and read %1 elements of objects 2, 3, 4 by turns. */
#define HEAD(n2, n3, n4)						\
	"module \"t\" sm_80\n"						\
	"object @1 tensor f32[?] name \"y\" of 0.0 align 16 reads writes\n" \
	"object @2 shared f32[" n2 "] name \"a\" align 16 "		\
	"reads writes in #1\n" \
	"object @3 shared f32[" n3 "] name \"b\" align 16 "		\
	"reads writes in #1\n" \
	"object @4 shared f32[" n4 "] name \"c\" align 16 "		\
	"reads writes in #1\n" \
	"device $1 \"k\" block(64, 1, 1) { #1\n"			\
	"    leaf object ptr @1\n"					\
	"    %1 = special int thread_x\n"				\
	"    %2 = const int 63\n"					\
	"    %3 = sub int %2, %1\n"					\
	"    %4 = const f32 1\n"					\
	"    %5 = const int 0\n"					\
	"    %6 = const int 4\n"					\
	"    %7 = const int 1\n"
/* Write, meet, read what another warp wrote. */
#define USE(o, v)							\
	"    store @" o "[%1], %4 align 4\n"				\
	"    barrier\n"							\
	"    %" v " = load f32 @" o "[%3] align 4\n"			\
	"    store @1[%1], %" v " align 4\n"
#define BARRIER	"    barrier\n"

static const struct sample {
	const char *name, *text;
	uint32_t host[5];		/* of objects 2, 3, 4 */
	int barriers;			/* put in */
	int64_t reach;			/* bytes of the memory of object 2, if
					   others hang over its end */
} samples[] = {
	{ "large ones, by a barrier", HEAD("4096", "2048", "64")
	  USE("2", "11") USE("3", "12") "}\n", { 0, 0, 0, 2, 0 }, 1, 0 },
	{ "the larger one may come later", HEAD("2048", "4096", "64")
	  USE("2", "11") USE("3", "12") "}\n", { 0, 0, 3, 0, 0 }, 1, 0 },
	{ "small ones are not worth it", HEAD("128", "128", "64")
	  USE("2", "11") USE("3", "12") "}\n", { 0, 0, 0, 0, 0 }, 0, 0 },
	{ "a barrier is there", HEAD("128", "128", "64")
	  USE("2", "11") BARRIER USE("3", "12") "}\n", { 0, 0, 0, 2, 0 },
	  0, 0 },
	{ "alive together", HEAD("4096", "4096", "64")
	  "    store @2[%1], %4 align 4\n" USE("3", "11") USE("2", "12")
	  "}\n", { 0, 0, 0, 0, 0 }, 0, 0 },
	{ "two in one, side by side", HEAD("4096", "2048", "2048")
	  USE("2", "11") "    store @3[%1], %4 align 4\n"
	  USE("4", "12") "    %13 = load f32 @3[%3] align 4\n"
	  "    store @1[%1], %13 align 4\n}\n", { 0, 0, 0, 2, 2 }, 1, 0 },
	{ "over the end, since it saves enough", HEAD("8192", "6144", "6144")
	  USE("2", "11") "    store @3[%1], %4 align 4\n"
	  USE("4", "12") "    %13 = load f32 @3[%3] align 4\n"
	  "    store @1[%1], %13 align 4\n}\n", { 0, 0, 0, 2, 2 }, 1,
	  49152 },
	{ "over the end would save too little", HEAD("7936", "6144", "6144")
	  USE("2", "11") "    store @3[%1], %4 align 4\n"
	  USE("4", "12") "    %13 = load f32 @3[%3] align 4\n"
	  "    store @1[%1], %13 align 4\n}\n", { 0, 0, 0, 2, 0 }, 1,
	  31744 },
	{ "through a loop", HEAD("4096", "4096", "64")
	  "    for %8 in %5..%6 step %7 {\n" USE("2", "11") BARRIER
	  USE("3", "12") BARRIER "    }\n}\n", { 0, 0, 0, 0, 0 }, 0, 0 },
	{ "threads that return", HEAD("4096", "2048", "64")
	  USE("2", "11") "    %9 = lt bool %1, %6\n    if %9 {\n"
	  "        return\n    }\n    store @3[%1], %4 align 4\n}\n",
	  { 0, 0, 0, 0, 0 }, 0, 0 },
	{ "a block that returns", HEAD("4096", "2048", "64")
	  "    %8 = special int block_x\n" USE("2", "11")
	  "    %9 = lt bool %6, %8\n    if %9 {\n"
	  "        return\n    }\n" USE("3", "12") "}\n",
	  { 0, 0, 0, 2, 0 }, 1, 0 },
	{ "copies nobody waits for", HEAD("4096", "2048", "64")
	  "    %20 = const int 1024\n    %21 = add int %1, %20\n"
	  "    cp_async @2[%1] align 4 from @1[%21] align 4 count 1\n"
	  BARRIER USE("3", "12") "}\n", { 0, 0, 0, 0, 0 }, 0, 0 },
	{ "copies that have landed", HEAD("4096", "2048", "64")
	  "    %20 = const int 1024\n    %21 = add int %1, %20\n"
	  "    cp_async @2[%1] align 4 from @1[%21] align 4 count 1\n"
	  "    cp_wait all\n" BARRIER USE("3", "12") "}\n",
	  { 0, 0, 0, 2, 0 }, 0, 0 },
};

static void
share(void)
{
	unsigned i;
	const char *wrong;

	for (i = 0; i < cj_pass_count; i++)
		if (strcmp(cj_passes[i].name, "share") == 0)
			cj_passes[i].run(module);
	wrong = cj_module_verify(module);
	ck_assert_msg(wrong == NULL, "%s", wrong);
}

static int
count_barriers(cj_ref *first_put, cj_ref before)
{
	struct cj_walk w;
	int count = 0;

	for (w = cj_walk_begin(module, module->functions.at[1].body);
	    cj_walk_next(&w);)
		if (w.event == CJ_WALK_INST && cj_inst(module, w.ref)->op ==
		    CJ_OP_BARRIER) {
			count++;
			if (w.ref >= before && *first_put == 0)
				*first_put = w.ref;
		}
	return count;
}

START_TEST(lies_where_it_may)
{
	const struct sample *s = &samples[_i];
	cj_ref put = 0;
	int before;
	uint32_t o;

	read_module(s->text);
	before = count_barriers(&put, UINT32_MAX);
	share();
	for (o = 2; o < 5; o++)
		ck_assert_msg(module->objects.at[o].host == s->host[o],
		    "%s: @%u lies over @%u", s->name, (unsigned)o,
		    (unsigned)module->objects.at[o].host);
	ck_assert_msg(count_barriers(&put, UINT32_MAX) - before ==
	    s->barriers, "%s", s->name);
	if (s->reach != 0)
		ck_assert_msg(cj_shared_reach(module, 2) == s->reach, "%s: "
		    "%lld bytes", s->name, (long long)cj_shared_reach(module,
		    2));
}
END_TEST

/* Every access goes to the host: what the GPU sees. */
static void
move_accesses(void)
{
	uint32_t a;

	for (a = 1; a < module->accesses.len; a++) {
		struct cj_access *access = &module->accesses.at[a];
		const struct cj_object *o =
		    &module->objects.at[access->object];

		if (o->host != 0 && o->offset == 0)
			access->object = o->host;
	}
}

START_TEST(barriers_are_enough_and_needed)
{
	const struct sample *s = &samples[_i];
	cj_ref put = 0, insts;

	read_module(s->text);
	insts = module->insts.len;
	share();
	count_barriers(&put, insts);
	move_accesses();
	give(1, 4096);
	options.workers = 1;
	run_kernel(1, 64, NULL);
	expect_clean();
	if (put == 0)
		return;
	cj_inst_remove(module, module->functions.at[1].body, put);
	run_kernel(1, 64, NULL);
	expect_fault("[race]");
}
END_TEST

static Suite *
opt_share_suite(void)
{
	Suite *s = suite_create("opt_share");
	TCase *c = tcase_create("objects");

	tcase_add_checked_fixture(c, set_up, tear_down);
	tcase_add_loop_test(c, lies_where_it_may, 0, CJ_LENGTH(samples));
	tcase_add_loop_test(c, barriers_are_enough_and_needed, 0,
	    CJ_LENGTH(samples));
	suite_add_tcase(s, c);
	return s;
}

CJ_CHECK_MAIN(opt_share_suite)
