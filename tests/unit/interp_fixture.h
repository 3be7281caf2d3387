/*
 * For tests of the executor: a module from text, memory by object, a run, and
 * its faults as text.
 */
#ifndef CJ_INTERP_FIXTURE_H
#define CJ_INTERP_FIXTURE_H

#include "check_main.h"

#include "ir/interp.h"

static struct cj_recover point;
static struct cj_arena arena;
static struct cj_diags diags;
static struct cj_sources sources;
static struct cj_module *module;
static struct cj_memory memory[16];		/* by object */
static struct cj_run_options options;
static struct cj_outcome outcome;
static char faults[8192], printed[8192];

static void
set_up(void)
{
	CJ_CHECK_RECOVER(&point);
	cj_arena_init(&arena, &point, NULL);
	cj_sources_init(&sources, &arena);
	cj_diags_init(&diags, &arena, &sources);
	memset(memory, 0, sizeof memory);
	memset(&options, 0, sizeof options);
	memset(&outcome, 0, sizeof outcome);
	options.checks = CJ_CHECK_ALL;
	options.workers = 2;
	faults[0] = printed[0] = '\0';
}

static void
tear_down(void)
{
	cj_arena_fini(&arena);
}

static inline void
read_module(const char *text)
{
	struct cj_strbuf error;
	const char *wrong;

	cj_strbuf_init(&error, &arena);
	module = cj_module_read(&arena, text, strlen(text), &error);
	ck_assert_msg(module != NULL, "%s", error.text);
	module->sources = &sources;
	wrong = cj_module_verify(module);
	ck_assert_msg(wrong == NULL, "%s", wrong);
}

/* Memory of object `o`: `count` zero elements. */
static inline void *
give(unsigned o, int64_t count)
{
	size_t bytes = (size_t)count * 8 + 64;

	ck_assert_uint_lt(o, 16);
	memory[o].data = (char *)(((uintptr_t)cj_alloc(&arena, bytes + 256)
	    + 255) & ~(uintptr_t)255);
	memory[o].lo = 0;
	memory[o].hi = count;
	memory[o].readable = memory[o].writable = true;
	return memory[o].data;
}

static inline void
take_faults(void)
{
	struct cj_strbuf out;

	cj_strbuf_init(&out, &arena);
	cj_diags_print(&out, &diags, false);
	snprintf(faults, sizeof faults, "%s", out.text);
}

static inline void
take_line(void *user, const char *text)
{
	size_t n = strlen(printed);

	(void)user;
	snprintf(printed + n, sizeof printed - n, "%s\n", text);
}

/* Run function 1 with a grid of `blocks` of `threads`. */
static inline void
run_kernel(int64_t blocks, int64_t threads, const uint64_t *values)
{
	struct cj_kernel_launch k = { .function = 1,
	    .grid = { blocks, 1, 1 }, .block = { threads, 1, 1 },
	    .cluster = { 1, 1, 1 }, .memory = memory, .values = values };

	options.print = take_line;
	cj_interp_kernel(&arena, module, &k, &options, &diags, &outcome);
	take_faults();
}

static inline void
expect_clean(void)
{
	ck_assert_str_eq(faults, "");
	ck_assert_uint_eq(outcome.faults, 0);
	ck_assert(!outcome.stopped);
}

static inline void
expect_fault(const char *text)
{
	ck_assert_msg(strstr(faults, text) != NULL,
	    "\"%s\" is not in:\n%s", text, faults);
	ck_assert_uint_ge(outcome.faults, 1);
}

#endif
