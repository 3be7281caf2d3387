/*
 * mma on the GPU: every atom that it has, against the model and its bound
 * (man/cute-ir.7). Integers and f64 must be the model's bits.
 *
 * Without a driver or a GPU every test is skipped.
 */
#include "mma_kernels.h"
#include "cuda_driver.h"

static double worst;		/* of an atom: error by magnitude */
static unsigned wrong;

/* Half a unit of the last place of a number of the kind. */
static double
half_unit(enum cj_kind k, double x)
{
	int digits = k == CJ_KIND_F16 ? 11 : 24, least = k == CJ_KIND_F16 ?
	    -14 : -126, e;

	frexp(x, &e);
	return ldexp(1, (e - 1 < least ? least : e - 1) - digits);
}

static double
bound_of(const struct cj_mma *mma)
{
	return cj_kind_bits(mma->a) == 8 ? 0x1p-12 : 0x1p-20;
}

static bool
is_right(const struct cj_mma *mma, uint64_t got, uint64_t want,
    double magnitude)
{
	double x, y, limit, most = mma->d == CJ_KIND_F16 ? 60000 : 3e38;

	if (got == want)
		return true;
	if (!cj_kind_is_float(mma->d))
		return false;
	x = cj_num_to_f64(mma->d, got);
	y = cj_num_to_f64(mma->d, want);
	if (isnan(y))
		return isnan(x);
	if (mma->d == CJ_KIND_F64)
		return false;
	/* where a part of the sum leaves the range, order decides */
	if (!(magnitude < most))
		return true;
	limit = half_unit(mma->d, y);
	if (fabs(x - y) > limit && (fabs(x - y) - limit) / magnitude > worst)
		worst = (fabs(x - y) - limit) / magnitude;
	return fabs(x - y) <= limit + bound_of(mma) * magnitude;
}

static void
look(const struct atom_line *l, const struct cj_mma *mma, uint64_t got,
    uint64_t want, double magnitude)
{
	if (is_right(mma, got, want, magnitude))
		return;
	if (wrong++ < 4)
		printf("%s: %#llx (%g), not %#llx (%g), of magnitude %g\n",
		    l->name, (unsigned long long)got,
		    cj_num_to_f64(mma->d, got), (unsigned long long)want,
		    cj_num_to_f64(mma->d, want), magnitude);
}

static void
run(struct cj_module *m, struct cj_memory *mem)
{
	void *loaded = cuda_load(&arena, m), *function, *parameters[4];
	device_pointer at[4];
	size_t bytes[4];
	unsigned i;

	for (i = 0; i < 4; i++) {
		bytes[i] = cj_memory_bytes(m->objects.at[1 + i].element,
		    mem[1 + i].hi);
		ck_assert_int_eq(cu.alloc(&at[i], bytes[i]), 0);
		ck_assert_int_eq(cu.to_device(at[i], mem[1 + i].data,
		    bytes[i]), 0);
		parameters[i] = &at[i];
	}
	ck_assert_int_eq(cu.function(&function, loaded, "mma"), 0);
	ck_assert_int_eq(cu.launch(function, 1, 1, 1, MMA_THREADS, 1, 1, 0,
	    NULL, parameters, NULL), 0);
	ck_assert_int_eq(cu.synchronize(), 0);
	ck_assert_int_eq(cu.from_device(mem[4].data, at[3], bytes[3]), 0);
	cu.unload(loaded);
}

START_TEST(every_atom)
{
	const struct atom_line *l = &atom_lines[_i];
	struct cj_memory mem[5] = { { 0 } };
	struct cj_module *m;

	CJ_CHECK_RECOVER(&point);
	if (gpu == NULL || gpu->number < atoi(l->arch + 2)) {
		cj_check_skip();
		return;
	}
	m = mma_module(&arena, l->name, gpu);
	mma_memory(&arena, m->mmas.at[1], mem);
	run(m, mem);
	worst = wrong = 0;
	mma_compare(l, m->mmas.at[1], mem, look);
	if (worst > 0)
		printf("%s: beyond half a unit by 2^%.1f of the magnitude\n",
		    l->name, log2(worst));
	ck_assert_uint_eq(wrong, 0);
}
END_TEST

Suite *
suite(void);

Suite *
suite(void)
{
	Suite *s = suite_create("mma_gpu");
	TCase *t = tcase_create("mma");

	read_atom_lines();
	tcase_add_checked_fixture(t, set_up_gpu, tear_down);
	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, every_atom, 0, (int)atom_line_count);
	suite_add_tcase(s, t);
	return s;
}

CJ_CHECK_MAIN(suite)
