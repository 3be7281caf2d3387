/*
 * Fuzz the way from a text to IR: every kernel is bound, first with nothing
 * and then with tensors of a type and a rank that the text itself chooses, and
 * elaborated; so is every test. What comes out without a message is right for
 * the verifier, and stays so through all passes. A work has 8 MiB and a
 * twentieth of a second: with more, the loops of a few texts that go on to the
 * limit take most of the time there is for all.
 */
#include "fuzz.h"

#include <time.h>

enum { MEMORY = 8 << 20, TENSORS = 16, COMBINATIONS = 2 };

struct front {
	struct cj_arena *arena;
	struct cj_recover *recover;
	struct cj_names names;
	struct cj_sources sources;
	struct cj_diags diags;
	struct cj_unit *unit;
	unsigned choice;	/* of tensors: the same for the same text */
};

static double
seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool
is_late(void *user)
{
	return seconds() > *(const double *)user;
}

static void
check(struct front *f, struct cj_module *m, uint32_t errors)
{
	const char *wrong;

	if (m == NULL || f->diags.errors != errors)
		return;
	wrong = cj_module_verify(m);
	if (wrong != NULL)
		cj_bug(f->recover, "%.200s", wrong);
	cj_passes_run(m, f->recover, NULL, NULL);
}

/* ---- kernels ------------------------------------------------------------- */

static void
make_actuals(const struct cj_parameter_info *p, uint32_t count, uint32_t rank,
    enum cj_kind k, struct cj_actual *out)
{
	static const int64_t extents[] = { 64, 32, 2 };
	static const int64_t strides[2][3] = {
		{ 1, 64, 2048 }, { 32, 1, 2048 } };
	uint32_t i, n = 0;

	for (i = 0; i < count && n < TENSORS; i++) {
		struct cj_actual *a = &out[n];

		if (p[i].kind == CJ_PARAMETER_CONST)
			continue;
		n++;
		a->present = true;
		a->is_tensor = p[i].kind == CJ_PARAMETER_TENSOR;
		a->kind = a->is_tensor || p[i].scalar == CJ_KIND_VOID ? k :
		    p[i].scalar;
		a->rank = rank;
		a->extents = extents;
		a->strides = strides[rank == 2];
		a->count = 1;
	}
}

static void
elaborate(struct front *f, const struct cj_member_info *m,
    const struct cj_actual *actuals, uint32_t count)
{
	const struct cj_aim aim = { cj_target_find("sm_90a"),
	    CJ_BOUNDS_MODES };
	const struct cj_binding *b;
	struct cj_span span = { 0 };
	const char *why = NULL;
	uint32_t errors = f->diags.errors;

	b = cj_bind(f->arena, f->unit, m, NULL, 0, actuals, count, &f->diags,
	    &why, &span);
	if (b == NULL)
		return;
	check(f, cj_elab_kernel(f->arena, f->unit, m, b, &aim, &f->diags),
	    errors);
}

static void
kernel(struct front *f, const struct cj_member_info *m)
{
	static const enum cj_kind kinds[] = { CJ_KIND_F32, CJ_KIND_F16 };
	struct cj_actual actuals[TENSORS];
	const struct cj_parameter_info *p;
	uint32_t n = cj_member_parameters(f->arena, f->unit, m, &p), i, count;

	for (i = count = 0; i < n; i++)
		count += p[i].kind != CJ_PARAMETER_CONST;
	elaborate(f, m, NULL, 0);
	if (count > TENSORS)
		return;
	memset(actuals, 0, sizeof actuals);
	make_actuals(p, n, 1 + f->choice / 2 % 2, kinds[f->choice % 2],
	    actuals);
	elaborate(f, m, actuals, count);
}

/* ---- all of a text ------------------------------------------------------- */

static void
test(struct front *f, const struct cj_test_info *t)
{
	struct cj_combination c = { .count = 1 };
	uint32_t errors;

	for (; c.number < c.count && c.number < COMBINATIONS; c.number++) {
		errors = f->diags.errors;
		check(f, cj_elab_test(f->arena, f->unit, t, &c, &f->diags),
		    errors);
	}
}

static void
run(struct front *f, const char *text, size_t size)
{
	struct cj_unit_text t = { .prelude = fuzz_prelude(), .names = &f->names,
	    .sources = &f->sources };
	const struct cj_member_info *members;
	const struct cj_test_info *tests;
	struct cj_strbuf out;
	uint32_t i, n;

	for (i = 0; i < size; i++)
		f->choice += (unsigned char)text[i];
	cj_unit_begin(&t, f->arena);
	cj_diags_init(&f->diags, f->arena, &f->sources);
	t.source = cj_source_add(&f->sources, "fuzz.cute", text, size);
	f->unit = cj_unit_load(f->arena, &t, &f->diags);
	if (f->diags.errors == 0) {
		n = cj_unit_members(f->unit, &members);
		for (i = 0; i < n; i++)
			kernel(f, &members[i]);
		n = cj_unit_tests(f->unit, &tests);
		for (i = 0; i < n; i++)
			test(f, &tests[i]);
	}
	cj_strbuf_init(&out, f->arena);
	cj_diags_print(&out, &f->diags, true);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	double end = seconds() + 0.05;
	struct cj_recover r = { .poll = is_late, .poll_user = &end };
	struct cj_arena a;
	struct front f = { .arena = &a, .recover = &r };

	cj_arena_init(&a, &r, NULL);
	a.limit = MEMORY;
	if (!CJ_RECOVER(&r)) {
		run(&f, (const char *)data, size);
	} else if (r.why == CJ_WHY_BUG) {
		fprintf(stderr, "%s\n", r.text);
		__builtin_trap();
	}
	cj_names_fini(&f.names);
	cj_arena_fini(&a);
	return 0;
}
