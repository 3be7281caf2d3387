/*
 * What the GPU computes is what ir/num.c computes, to the bit: every pure
 * operation on every kind, every conversion in every rounding, over all values
 * of narrow kinds and over special and random ones of wide kinds. All NaNs
 * count as one. The hardware's approximations must be near. And the cases of
 * tests/golden/llvm that run leave the same memory as on the executor.
 *
 * Without a driver or a GPU the tests that need it are skipped.
 */
#include "cuda_driver.h"
#include "ir/interp.h"
#include "ir/ir_priv.h"
#include "llvm_golden.h"
#include "llvm_module.h"

#include <math.h>

enum { COUNT = 65536, EACH = 4, THREADS = 128, SHOWN = 8 };

/* ---- values ------------------------------------------------------------- */

static uint64_t
next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static uint64_t
special_float(enum cj_kind k, uint64_t which)
{
	static const double values[] = { 0, -0.0, 1, -1, 0.5, 1.5, 2.5, 3.5,
	    -2.5, 0x1p-149, 0x1p-126, -0x1p-133, 0x1p-24, 0x1p-14, 65504,
	    65520, 127, 128, 255, 256, -129, 32767.5, 2147483647,
	    -2147483649.0, 4294967296.0, 0x1p63, -0x1p63, 0x1p64, 3.4e38,
	    INFINITY, -INFINITY, NAN, 448, 464, 57344, 61440, 6, 28, 7.5 };

	return cj_num_from_f64(k, values[which % CJ_LENGTH(values)]);
}

/* Bits as they are kept: integers extended, floats in the low bits. */
static uint64_t
canonical(enum cj_kind k, uint64_t bits)
{
	unsigned width = cj_kind_bits(k);

	if (k == CJ_KIND_TF32)
		return bits & 0xffffe000;
	if (width == 64)
		return bits;
	bits &= ((uint64_t)1 << width) - 1;
	if (cj_kind_is_signed(k) && bits >> (width - 1) != 0)
		bits |= UINT64_MAX << width;
	return bits;
}

/* Operand number n of element i. */
static uint64_t
value(enum cj_kind k, unsigned n, uint32_t i)
{
	uint64_t state = (uint64_t)i * 3 + n * 1000003 + 17 * k;
	uint64_t r = next_random(&state), s = next_random(&state);

	if (cj_kind_bits(k) <= 8 && n < 2)
		return canonical(k, n == 0 ? i & 0xff : i >> 8);
	if (cj_kind_bits(k) == 16 && n == 0)
		return canonical(k, i);
	switch (s % 8) {
	case 0:
		if (cj_kind_is_float(k))
			return special_float(k, r);
		return canonical(k, r % 2 == 0 ? (uint64_t)1 <<
		    (r >> 8) % cj_kind_bits(k) : (uint64_t)-1);
	case 1:		/* small numbers */
		if (cj_kind_is_float(k))
			return cj_num_from_f64(k, (double)(int64_t)(r % 512) -
			    256);
		return canonical(k, r % 67 - 33);
	case 2:		/* floats of like size */
		if (cj_kind_is_float(k))
			return cj_num_from_f64(k, ldexp((double)(int64_t)r,
			    -63));
		return canonical(k, r >> (r & 63));
	case 3:		/* whatever an f32 can be */
		if (cj_kind_is_float(k))
			return cj_num_from_f64(k, cj_num_to_f64(CJ_KIND_F32,
			    r & 0xffffffff));
		return canonical(k, r);
	default:
		return canonical(k, r);
	}
}

static unsigned
storage_bits(enum cj_kind k)
{
	return k == CJ_KIND_BOOL ? 8 : cj_kind_bits(k);
}

static void
put(unsigned char *to, enum cj_kind k, uint32_t i, uint64_t bits)
{
	unsigned width = storage_bits(k), b;
	uint64_t at = (uint64_t)i * width;

	for (b = 0; b < width; b++, at++)
		if (bits >> b & 1)
			to[at / 8] |= (unsigned char)(1 << at % 8);
}

static uint64_t
get(const unsigned char *from, enum cj_kind k, uint32_t i)
{
	unsigned width = storage_bits(k), b;
	uint64_t at = (uint64_t)i * width, bits = 0;

	for (b = 0; b < width; b++, at++)
		bits |= (uint64_t)(from[at / 8] >> at % 8 & 1) << b;
	return k == CJ_KIND_BOOL ? bits : k == CJ_KIND_TF32 ? bits :
	    canonical(k, bits);
}

/* ---- runs --------------------------------------------------------------- */

static device_pointer
upload(enum cj_kind k, unsigned n, bool filled)
{
	size_t bytes = (size_t)COUNT * storage_bits(k) / 8;
	unsigned char *host = calloc(1, bytes);
	device_pointer p = 0;
	uint32_t i;

	for (i = 0; filled && i < COUNT; i++)
		put(host, k, i, value(k, n, i));
	ck_assert_int_eq(cu.alloc(&p, bytes), 0);
	ck_assert_int_eq(cu.to_device(p, host, bytes), 0);
	free(host);
	return p;
}

static unsigned char *
launch(void *module, const char *name, device_pointer *pointers,
    unsigned count, enum cj_kind k)
{
	size_t bytes = (size_t)COUNT * storage_bits(k) / 8;
	void *parameters[8], *function;
	unsigned char *host = malloc(bytes);
	unsigned i;

	for (i = 0; i < count; i++)
		parameters[i] = &pointers[i];
	ck_assert_int_eq(cu.function(&function, module, name), 0);
	ck_assert_int_eq(cu.launch(function, COUNT / EACH / THREADS, 1, 1,
	    THREADS, 1, 1, 0, NULL, parameters, NULL), 0);
	ck_assert_int_eq(cu.synchronize(), 0);
	ck_assert_int_eq(cu.from_device(host, pointers[count - 1], bytes), 0);
	return host;
}

static bool
is_nan(enum cj_kind k, uint64_t bits)
{
	return cj_kind_is_float(k) && isnan(cj_num_to_f64(k, bits));
}

/* How far an approximation may be off: of f32, widely. */
static bool
is_near(enum cj_op op, enum cj_kind k, const uint64_t *operands,
    uint64_t got, uint64_t want)
{
	double x = cj_num_to_f64(k, got), y = cj_num_to_f64(k, want);
	double argument = fabs(cj_num_to_f64(k, operands[0]));
	double second = op != CJ_OP_APPROX_DIV ? 1 :
	    fabs(cj_num_to_f64(k, operands[1]));
	double epsilon = k == CJ_KIND_F32 || k == CJ_KIND_F64 ? 1e-3 : 0.51;

	if (op < CJ_OP_APPROX_EX2 || op > CJ_OP_APPROX_DIV)
		return false;
	if ((op == CJ_OP_APPROX_SIN || op == CJ_OP_APPROX_COS) &&
	    argument > 100)
		return true;
	/* all but f16 are as wide as f32, and go through it: denormals of f32
	 * count as 0 there */
	if (k != CJ_KIND_F32 && (argument < 0x1p-126 || second < 0x1p-126))
		return true;
	if (fabs(y) > 1e38 || fabs(x) > 1e38 || k == CJ_KIND_F8UE8M0)
		return true;
	return fabs(x - y) <= epsilon * fabs(y) + 1e-5;
}

/* ---- operations --------------------------------------------------------- */

static bool
is_tested(enum cj_op op, enum cj_kind k)
{
	struct cj_module *m = cj_module_create(&arena, "rules", gpu);
	struct cj_builder b = { .module = m };
	cj_type t = cj_type_of(k, 1);
	struct cj_inst i = { .op = (uint16_t)op, .type = t,
	    .operand_count = cj_op_info[op].most };
	uint32_t f = cj_module_function(m, CJ_FUNCTION_TEST, "f");
	cj_ref x;
	unsigned n;

	if (cj_op_info[op].rule != CJ_RULE_SAME ||
	    cj_op_info[op].level != CJ_LEVEL_BOTH)
		return false;
	b.region = m->functions.at[f].body;
	x = cj_emit_bits(&b, t, 0);
	if (cj_op_info[op].result == CJ_RESULT_BOOL)
		i.type = cj_type_of(CJ_KIND_BOOL, 1);
	i.operands = m->pool.len;
	for (n = 0; n < i.operand_count; n++)
		*cj_push(m->arena, &m->pool) = x;
	return cj_rule_check(m, &i) == NULL;
}

static unsigned
compare_operation(enum cj_op op, enum cj_kind k, enum cj_kind result_kind,
    const unsigned char *got)
{
	unsigned wrong = 0;
	uint32_t i;

	for (i = 0; i < COUNT; i++) {
		uint64_t x[] = { value(k, 0, i), value(k, 1, i),
		    value(k, 2, i) };
		uint64_t g = get(got, result_kind, i);
		uint64_t want = cj_num_apply(op, k, x[0], x[1], x[2]);

		if (g == want || (is_nan(result_kind, g) &&
		    is_nan(result_kind, want)) || is_near(op, k, x, g, want))
			continue;
		if (wrong++ < SHOWN)
			printf("%s %s: %#llx %#llx %#llx: %#llx, not %#llx\n",
			    cj_op_info[op].text, cj_kind_text(k),
			    (unsigned long long)x[0], (unsigned long long)x[1],
			    (unsigned long long)x[2], (unsigned long long)g,
			    (unsigned long long)want);
	}
	return wrong;
}

START_TEST(test_operations)
{
	enum cj_kind k = (enum cj_kind)_i;
	device_pointer pointers[4], inputs[3], outputs[2];
	struct cj_module *m;
	unsigned op, n, wrong = 0;
	void *module;

	CJ_CHECK_RECOVER(&point);
	if (cj_kind_class(k) == CJ_CLASS_OTHER)
		return;
	if (gpu == NULL) {
		cj_check_skip();
		return;
	}
	m = cj_module_create(&arena, "operations", gpu);
	for (op = 1; op < CJ_OP_COUNT; op++)
		if (is_tested(op, k))
			cj_test_op(m, op, cj_type_of(k, EACH), cj_type_of(
			    cj_op_info[op].result == CJ_RESULT_BOOL ?
			    CJ_KIND_BOOL : k, EACH));
	module = cuda_load(&arena, m);
	for (n = 0; n < 3; n++)
		inputs[n] = upload(k, n, true);
	outputs[0] = upload(k, 0, false);
	outputs[1] = upload(CJ_KIND_BOOL, 0, false);
	for (op = 1; op < CJ_OP_COUNT; op++) {
		bool is_bool = cj_op_info[op].result == CJ_RESULT_BOOL;
		enum cj_kind to = is_bool ? CJ_KIND_BOOL : k;
		unsigned char *got;

		if (!is_tested(op, k))
			continue;
		for (n = 0; n < cj_op_info[op].most; n++)
			pointers[n] = inputs[n];
		pointers[n] = outputs[is_bool];
		got = launch(module, cj_printf(&arena, "%s_%s_%s",
		    cj_op_info[op].text, cj_kind_text(k), cj_kind_text(to)),
		    pointers, n + 1, to);
		n = compare_operation(op, k, to, got);
		if (n != 0)
			printf("%s %s: %u wrong\n", cj_op_info[op].text,
			    cj_kind_text(k), n);
		wrong += n;
		free(got);
	}
	cu.unload(module);
	ck_assert_uint_eq(wrong, 0);
}
END_TEST

/* ---- conversions -------------------------------------------------------- */

static struct cj_conversion
conversion(unsigned i)
{
	struct cj_conversion how = { .rounding = (enum cj_rounding)(i / 2),
	    .saturate = i % 2 != 0 };

	if (i == 8)
		how = (struct cj_conversion){ .is_default = true };
	return how;
}

static unsigned
compare_conversion(enum cj_kind to, enum cj_kind from, unsigned how,
    const unsigned char *got)
{
	unsigned wrong = 0;
	uint32_t i;

	for (i = 0; i < COUNT; i++) {
		uint64_t a = value(from, 0, i), g = get(got, to, i);
		uint64_t want = cj_num_convert(to, from, a, conversion(how));

		if (g == want || (is_nan(to, g) && is_nan(to, want)))
			continue;
		if (wrong++ < SHOWN)
			printf("%s to %s, conversion %u: %#llx: %#llx, "
			    "not %#llx\n", cj_kind_text(from),
			    cj_kind_text(to), how, (unsigned long long)a,
			    (unsigned long long)g, (unsigned long long)want);
	}
	return wrong;
}

static const char *
conversion_name(enum cj_kind to, unsigned how)
{
	return cj_printf(&arena, "to_%s_%u", cj_kind_text(to), how);
}

START_TEST(test_conversions)
{
	enum cj_kind from = (enum cj_kind)_i;
	device_pointer pointers[2];
	struct cj_module *m;
	unsigned to, how, n, wrong = 0;
	void *module;

	CJ_CHECK_RECOVER(&point);
	if (cj_kind_class(from) == CJ_CLASS_OTHER)
		return;
	if (gpu == NULL) {
		cj_check_skip();
		return;
	}
	m = cj_module_create(&arena, "conversions", gpu);
	for (to = 1; to < CJ_KIND_PTR; to++)
		for (how = 0; how <= 8; how++) {
			struct cj_test_kernel t = cj_test_kernel(m,
			    conversion_name(to, how), EACH);
			cj_ref x = cj_test_load(&t, cj_type_of(from, EACH),
			    "a");

			cj_test_store(&t, cj_emit(&t.b, CJ_OP_CONVERT,
			    cj_type_of(to, EACH), how == 8 ? 0 :
			    cj_module_conversion(m, conversion(how)), &x, 1),
			    "y");
		}
	module = cuda_load(&arena, m);
	pointers[0] = upload(from, 0, true);
	for (to = 1; to < CJ_KIND_PTR; to++) {
		pointers[1] = upload(to, 0, false);
		for (how = 0; how <= 8; how++) {
			unsigned char *got = launch(module,
			    conversion_name(to, how), pointers, 2, to);

			n = compare_conversion(to, from, how, got);
			if (n != 0)
				printf("%s to %s, conversion %u: %u wrong\n",
				    cj_kind_text(from), cj_kind_text(to), how,
				    n);
			wrong += n;
			free(got);
		}
	}
	cu.unload(module);
	ck_assert_uint_eq(wrong, 0);
}
END_TEST

/* ---- whole kernels on executor and GPU ---------------------------------- */

enum { ELEMENTS = 4096, MOST_LEAVES = 16 };

/* Values that sums keep exact: small integers. */
static unsigned char *
array_of(enum cj_kind k, uint32_t object, size_t bytes)
{
	unsigned char *p = aligned_alloc(64, bytes);
	uint32_t i;

	memset(p, 0, bytes);
	for (i = 0; i < ELEMENTS; i++) {
		int64_t v = (int64_t)((i * 7 + object * 13) % 23) - 9;

		put(p, k, i, cj_num_convert(k, CJ_KIND_I64, (uint64_t)v,
		    (struct cj_conversion){ .is_default = true }));
	}
	return p;
}

/* One case: memory of every tensor, here and on the GPU. */
struct run {
	const struct cj_golden *c;
	struct cj_module *m;
	const struct cj_function *f;
	struct cj_memory *memory;	/* by object */
	device_pointer device[MOST_LEAVES];
	uint64_t values[MOST_LEAVES * 2];
	void *parameters[MOST_LEAVES * 2];
	unsigned value_count, parameter_count;
};

static size_t
bytes_of(enum cj_kind k)
{
	return (size_t)ELEMENTS * storage_bits(k) / 8;
}

static void
make_leaf(struct run *r, uint32_t i)
{
	const struct cj_leaf *leaf = &r->f->leaves.at[i];
	uint32_t n = cj_type_count(leaf->type), j;
	uint64_t *v = &r->values[r->value_count];

	if (leaf->kind == CJ_LEAF_OBJECT) {
		struct cj_memory *memory = &r->memory[leaf->object];
		enum cj_kind k = r->m->objects.at[leaf->object].element;

		memory->data = (char *)array_of(k, leaf->object, bytes_of(k));
		memory->hi = ELEMENTS;
		memory->readable = memory->writable = true;
		if (gpu != NULL) {
			ck_assert_int_eq(cu.alloc(&r->device[i], bytes_of(k)),
			    0);
			ck_assert_int_eq(cu.to_device(r->device[i],
			    memory->data, bytes_of(k)), 0);
		}
		r->parameters[r->parameter_count++] = &r->device[i];
		return;
	}
	v[0] = 1000 + r->value_count;
	if (leaf->type == cj_type_of(CJ_KIND_U64, 2))
		cj_num_divisor(7, v);
	for (j = 0; j < n; j++)
		r->parameters[r->parameter_count++] = &v[j];
	r->value_count += n;
}

static void
run_executor(struct run *r)
{
	struct cj_kernel_launch k = { .grid = { r->c->grid, 1, 1 },
	    .cluster = { 1, 1, 1 }, .memory = r->memory,
	    .values = r->values };
	struct cj_run_options o = { .workers = 1 };
	struct cj_outcome out;
	struct cj_diags diags;
	struct cj_strbuf text;

	while (&r->m->functions.at[k.function] != r->f)
		k.function++;
	memcpy(k.block, r->f->block, sizeof k.block);
	cj_diags_init(&diags, &arena, NULL);
	cj_interp_kernel(&arena, r->m, &k, &o, &diags, &out);
	if (out.stopped || out.faults != 0) {
		cj_strbuf_init(&text, &arena);
		cj_diags_print(&text, &diags, false);
		ck_abort_msg("%s: faults on the executor: %s", r->c->name,
		    text.text);
	}
}

static void
run_gpu(struct run *r)
{
	void *module = cuda_load(&arena, r->m), *function;

	ck_assert_int_eq(cu.function(&function, module, r->f->name), 0);
	ck_assert_int_eq(cu.launch(function, (unsigned)r->c->grid, 1, 1,
	    (unsigned)r->f->block[0], (unsigned)r->f->block[1],
	    (unsigned)r->f->block[2], 0, NULL, r->parameters, NULL), 0);
	ck_assert_int_eq(cu.synchronize(), 0);
	cu.unload(module);
}

static void
compare_memory(struct run *r, uint32_t i)
{
	uint32_t o = r->f->leaves.at[i].object, e;
	enum cj_kind k = r->m->objects.at[o].element;
	unsigned char *got = malloc(bytes_of(k));

	ck_assert_int_eq(cu.from_device(got, r->device[i], bytes_of(k)), 0);
	for (e = 0; e < ELEMENTS; e++) {
		uint64_t g = get(got, k, e);
		uint64_t want = get((unsigned char *)r->memory[o].data, k, e);

		ck_assert_msg(g == want || (is_nan(k, g) && is_nan(k, want)),
		    "%s: @%u[%u] is %#llx, not %#llx", r->c->name, o, e,
		    (unsigned long long)g, (unsigned long long)want);
	}
	free(got);
}

static void
release(struct run *r)
{
	uint32_t o;

	for (o = 1; o < r->m->objects.len; o++)
		if (r->m->objects.at[o].kind == CJ_OBJECT_TENSOR)
			free(r->memory[o].data);
}

START_TEST(test_case)
{
	struct cj_golden_cases cases;
	struct run r = { 0 };
	uint32_t i, n;

	CJ_CHECK_RECOVER(&point);
	cases = cj_golden_find(&arena);
	ck_assert_uint_ge(cases.len, 10);
	for (n = 0; n < cases.len; n++) {
		r = (struct run){ .c = &cases.at[n] };
		if (r.c->grid == 0 || (gpu != NULL &&
		    gpu->number < r.c->needs))
			continue;
		r.m = cj_golden_module(&arena, r.c, gpu != NULL ? gpu :
		    cj_target_find("sm_90a"));
		if (r.m == NULL)
			continue;
		r.f = &r.m->functions.at[1];
		r.memory = CJ_NEWS(&arena, struct cj_memory,
		    r.m->objects.len + 1);
		ck_assert_uint_le(r.f->leaves.len, MOST_LEAVES);
		for (i = 0; i < r.f->leaves.len; i++)
			make_leaf(&r, i);
		run_executor(&r);
		if (gpu != NULL)
			run_gpu(&r);
		for (i = 0; gpu != NULL && i < r.f->leaves.len; i++)
			if (r.f->leaves.at[i].kind == CJ_LEAF_OBJECT)
				compare_memory(&r, i);
		release(&r);
	}
	if (gpu == NULL)		/* only the executor has run them */
		cj_check_skip();
}
END_TEST

Suite *
suite(void);

Suite *
suite(void)
{
	Suite *s = suite_create("llvm_gpu");
	TCase *t = tcase_create("gpu");

	tcase_add_checked_fixture(t, set_up_gpu, tear_down);
	tcase_set_timeout(t, 300);
	tcase_add_test(t, test_case);
	tcase_add_loop_test(t, test_operations, 1, CJ_KIND_COUNT);
	tcase_add_loop_test(t, test_conversions, 1, CJ_KIND_COUNT);
	suite_add_tcase(s, t);
	return s;
}

CJ_CHECK_MAIN(suite)
