/*
 * How long a text takes: parsed and resolved, and all its kernels elaborated
 * and passed through the passes.
 *
 *	make build/bench/bench_text && build/bench/bench_text [LINES]
 *
 * The text has kernels of ten lines with a loop, an `if`, vectors and calls;
 * medians of 21 runs, in time of the processor, which other work on the machine
 * leaves nearly alone. Memory is kept as cutec keeps it (src/cutec/main.c).
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "ir/elab.h"
#include "bench_time.h"

enum { RUNS = 21, KERNEL_LINES = 10 };

static char *
make_text(unsigned kernels)
{
	static const char form[] =
	    "kernel k%u(x: tensor(f32, (M, N):(_, 1)) align(16),\n"
	    "         y: tensor(f32, (M, N):(_, 1)) align(16), a: f32 = 1)\n"
	    "where N %% 4 == 0\n"
	    "{\n"
	    "    launch grid(M) block(128) {\n"
	    "        for i in thread_idx.x..N / 4 step(128) {\n"
	    "            let v = local_tile(x[block_idx.x, _], 4, i);\n"
	    "            if a > 0 { local_tile(y[block_idx.x, _], 4, i) = "
	    "max(exp(a * v), 0) + sqrt(abs(v)); }\n"
	    "        } }\n"
	    "}\n";
	size_t room = kernels * (sizeof form + 16), at = 0;
	char *text = malloc(room);
	unsigned i;

	for (i = 0; text != NULL && i < kernels; i++)
		at += (size_t)snprintf(text + at, room - at, form, i);
	return text;
}

static void
fail(const char *why)
{
	fprintf(stderr, "bench_text: %s\n", why);
	exit(1);
}

static struct cj_actual
matrix(void)
{
	static const int64_t extents[] = { 64, 128 }, strides[] = { 128, 1 };

	return (struct cj_actual){ .present = true, .is_tensor = true,
	    .kind = CJ_KIND_F32, .rank = 2, .extents = extents,
	    .strides = strides, .count = 1 };
}

/* As a compilation does, each kernel has an arena of its own. Gives the time of
 * the passes. */
static double
elaborate(struct cj_recover *r, const struct cj_unit *u, struct cj_diags *ds)
{
	const struct cj_aim aim = { cj_target_find("sm_90a"),
	    CJ_BOUNDS_MEMORY };
	struct cj_actual at[3] = { matrix(), matrix(), { .present = true,
	    .kind = CJ_KIND_F32 } };
	const struct cj_member_info *m;
	uint32_t n = cj_unit_members(u, &m), i;
	const struct cj_binding *b;
	struct cj_module *module;
	struct cj_span span;
	const char *why;
	double passes = 0, begin;
	struct cj_arena a;

	for (i = 0; i < n; i++) {
		cj_arena_init(&a, r, NULL);
		b = cj_bind(&a, u, &m[i], NULL, 0, at, 3, ds, &why, &span);
		module = b == NULL ? NULL :
		    cj_elab_kernel(&a, u, &m[i], b, &aim, ds);
		if (module == NULL)
			fail("a kernel is refused");
		begin = cpu_ms();
		cj_passes_run(module, r, NULL, NULL);
		passes += cpu_ms() - begin;
		cj_arena_fini(&a);
	}
	return passes;
}

static void
run(const struct cj_prelude *prelude, const char *text, double ms[3])
{
	struct cj_recover r = { 0 };
	struct cj_names names;
	struct cj_sources sources;
	struct cj_unit_text t = { .prelude = prelude, .names = &names,
	    .sources = &sources };
	struct cj_diags ds;
	struct cj_arena a;
	struct cj_unit *u;
	double begin = cpu_ms();

	if (CJ_RECOVER(&r))
		fail(r.text);
	cj_arena_init(&a, &r, NULL);
	cj_unit_begin(&t, &a);
	cj_diags_init(&ds, &a, &sources);
	t.source = cj_source_add(&sources, "bench.cute", text, strlen(text));
	u = cj_unit_load(&a, &t, &ds);
	if (ds.errors != 0)
		fail("the text is refused");
	ms[0] = cpu_ms() - begin;
	ms[1] = elaborate(&r, u, &ds);
	ms[2] = cpu_ms() - begin;
	ms[1] = ms[2] - ms[1];
	cj_names_fini(&names);
	cj_arena_fini(&a);
}

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

int
main(int argc, char **argv)
{
	unsigned lines = argc > 1 ? (unsigned)atoi(argv[1]) : 2000, i;
	char *text = make_text(lines / KERNEL_LINES);
	static struct cj_recover r;
	double parse[RUNS], made[RUNS], all[RUNS], ms[3];
	struct cj_arena a;
	const struct cj_prelude *prelude;

#ifdef M_TRIM_THRESHOLD
	mallopt(M_MMAP_THRESHOLD, 32 << 20);
	mallopt(M_TRIM_THRESHOLD, 256 << 20);
#endif
	if (CJ_RECOVER(&r) || text == NULL)
		fail("no memory");
	cj_arena_init(&a, &r, NULL);
	prelude = cj_prelude_load(&a);
	for (i = 0; i < RUNS; i++) {
		run(prelude, text, ms);
		parse[i] = ms[0];
		made[i] = ms[1];
		all[i] = ms[2];
	}
	qsort(parse, RUNS, sizeof *parse, compare);
	qsort(made, RUNS, sizeof *made, compare);
	qsort(all, RUNS, sizeof *all, compare);
	printf("%u lines, %u kernels: parsed in %.2f ms (least %.2f), and "
	    "elaborated in %.2f ms (%.2f), with all passes %.2f ms (%.2f)\n",
	    lines, lines / KERNEL_LINES, parse[RUNS / 2], parse[0],
	    made[RUNS / 2], made[0], all[RUNS / 2], all[0]);
	free(text);
	cj_arena_fini(&a);
	return 0;
}
