/*
 * Kernels of the examples over more than 2^31 elements, on a GPU.
 *
 * Arrays are filled and looked at by kernels of their own, which count what is
 * wrong. Without a GPU, or with too little memory on it, the test is skipped.
 */
#include "test.h"

#include <dlfcn.h>

/* Bytes of each of the two arrays: 2^31 elements of i32 and some more. */
#define BYTES	(((size_t)4 << 31) + ((size_t)1 << 20))
#define BIG	((int64_t)1 << 31)

enum { SKIPPED = 77, INTEGER = 0, UNSIGNED = 1, BFLOAT = 4 };

static const char text[] =
    "kernel every(const T: type in {u8, i32, bf16} = i32,\n"
    "             x: tensor(T, N:1), period: int, at: int)\n"
    "{\n"
    "    launch grid(2048) block(256) {\n"
    "        for i in block_idx.x * 256 + thread_idx.x..N step(524288) {\n"
    "            x[i] = T(if i % period == at { 1 } else { 0 });\n"
    "        }\n"
    "    }\n"
    "}\n"
    "kernel digits(x: tensor(u8, N:1), period: int) {\n"
    "    launch grid(2048) block(256) {\n"
    "        for i in block_idx.x * 256 + thread_idx.x..N step(524288) {\n"
    "            x[i] = u8(i % period);\n"
    "        }\n"
    "    }\n"
    "}\n"
    "kernel peaks(x: tensor(bf16, (M, N):(N, 1))) {\n"
    "    launch grid(M) block(256) {\n"
    "        for c in thread_idx.x..N step(256) {\n"
    "            x[block_idx.x, c] =\n"
    "                bf16(if c == block_idx.x % N { 100 } else { 0 });\n"
    "        }\n"
    "    }\n"
    "}\n"
    "fn count(bad, wrong) { if wrong { atomic_add(bad[0], 1); } }\n"
    "kernel are_counts(y: tensor(i32, N:1), period: int,\n"
    "                  bad: tensor(u32, 1)) {\n"
    "    launch grid(2048) block(256) {\n"
    "        for i in block_idx.x * 256 + thread_idx.x..N step(524288) {\n"
    "            count(bad, int(y[i]) != i / period + 1);\n"
    "        }\n"
    "    }\n"
    "}\n"
    "kernel are_peaks(y: tensor(bf16, (M, N):(N, 1)), bad: tensor(u32, 1))\n"
    "{\n"
    "    launch grid(M) block(256) {\n"
    "        for c in thread_idx.x..N step(256) {\n"
    "            let v = f32(y[block_idx.x, c]);\n"
    "            count(bad, if c == block_idx.x % N { v != 1 }\n"
    "                       else { !(v < 1e-30) });\n"
    "        }\n"
    "    }\n"
    "}\n"
    "kernel are_turned(y: tensor(u8, (N, M):(M, 1)), period: int,\n"
    "                  bad: tensor(u32, 1)) {\n"
    "    launch grid(N) block(256) {\n"
    "        for m in thread_idx.x..M step(256) {\n"
    "            count(bad, int(y[block_idx.x, m]) !=\n"
    "                       (m * N + block_idx.x) % period);\n"
    "        }\n"
    "    }\n"
    "}\n";

static struct {
	int (*init)(unsigned), (*count)(int *), (*retain)(void **, int);
	int (*push)(void *);
	int (*alloc)(uint64_t *, size_t), (*release)(uint64_t);
	int (*set)(uint64_t, unsigned char, size_t);
	int (*to)(uint64_t, const void *, size_t);
	int (*from)(void *, uint64_t, size_t);
	int (*synchronize)(void);
} cu;

static struct {
	cutejit_context *context;
	cutejit_module *helpers;
	uint64_t a, b, little;	/* arrays of BYTES, BYTES and 1 MiB */
} test;

static int
open_driver(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW), *primary;
	int count = 0;

	if (library == NULL)
		return 0;
	*(void **)&cu.init = dlsym(library, "cuInit");
	*(void **)&cu.count = dlsym(library, "cuDeviceGetCount");
	*(void **)&cu.retain = dlsym(library, "cuDevicePrimaryCtxRetain");
	*(void **)&cu.push = dlsym(library, "cuCtxPushCurrent_v2");
	*(void **)&cu.alloc = dlsym(library, "cuMemAlloc_v2");
	*(void **)&cu.release = dlsym(library, "cuMemFree_v2");
	*(void **)&cu.set = dlsym(library, "cuMemsetD8_v2");
	*(void **)&cu.to = dlsym(library, "cuMemcpyHtoD_v2");
	*(void **)&cu.from = dlsym(library, "cuMemcpyDtoH_v2");
	*(void **)&cu.synchronize = dlsym(library, "cuCtxSynchronize");
	return cu.init(0) == 0 && cu.count(&count) == 0 && count > 0 &&
	    cu.retain(&primary, 0) == 0 && cu.push(primary) == 0;
}

/* An array of the GPU: compact, its last mode with stride 1. */
struct array {
	cutejit_tensor tensor;
	int64_t extent[2];
};

static cutejit_argument
array(struct array *s, const char *name, uint64_t data, uint8_t code,
    uint8_t bits, int64_t m, int64_t n)
{
	memset(s, 0, sizeof *s);
	s->extent[0] = m;
	s->extent[1] = n;
	s->tensor.data = (void *)(uintptr_t)data;
	s->tensor.device_type = CUTEJIT_DL_CUDA;
	s->tensor.ndim = n > 0 ? 2 : 1;
	s->tensor.code = code;
	s->tensor.bits = bits;
	s->tensor.lanes = 1;
	s->tensor.shape = s->extent;
	return cutejit_arg_tensor(name, &s->tensor);
}

static void
call(cutejit_module *m, const char *kernel, const cutejit_argument *args,
    size_t count)
{
	DO(test.context, cutejit_call(m, kernel, args, count, NULL, NULL));
	CHECK(cu.synchronize() == 0);
}

static void
call_example(const char *name, const char *kernel,
    const cutejit_argument *args, size_t count)
{
	cutejit_module *m;
	char path[256];

	snprintf(path, sizeof path, "examples/%s/%s.cute", name, name);
	DO(test.context, cutejit_module_from_file(test.context, path, &m));
	call(m, kernel, args, count);
	cutejit_module_destroy(m);
	fprintf(stderr, "%s: done\n", kernel);
}

/* The number of places that a kernel of `text` finds wrong must be 0; its last
 * argument is where it counts. */
static void
none_wrong(const char *kernel, cutejit_argument *args, size_t count)
{
	static const unsigned zero;
	unsigned bad = 1;
	struct array s;

	CHECK(cu.to(test.little, &zero, sizeof zero) == 0);
	args[count - 1] = array(&s, "bad", test.little, UNSIGNED, 32, 1, 0);
	call(test.helpers, kernel, args, count);
	CHECK(cu.from(&bad, test.little, sizeof bad) == 0);
	CHECK(bad == 0);
}

static void
fill_every(uint64_t to, uint8_t code, uint8_t bits, int64_t n, int64_t period,
    int64_t at)
{
	struct array x;
	cutejit_argument args[3] = {
		array(&x, "x", to, code, bits, n, 0),
		cutejit_arg_int("period", period), cutejit_arg_int("at", at) };

	call(test.helpers, "every", args, 3);
}

/* ---- the examples -------------------------------------------------------- */

static void
test_scan(void)
{
	int64_t n = BIG + 40;
	struct array x, y;
	cutejit_argument args[3];

	fill_every(test.a, INTEGER, 32, n, 65536, 0);
	CHECK(cu.set(test.b, 0xa5, BYTES) == 0);
	args[0] = array(&x, "x", test.a, INTEGER, 32, n, 0);
	args[1] = array(&y, "y", test.b, INTEGER, 32, n, 0);
	call_example("scan", "scan", args, 2);
	args[0] = array(&y, "y", test.b, INTEGER, 32, n, 0);
	args[1] = cutejit_arg_int("period", 65536);
	none_wrong("are_counts", args, 3);
}

static void
test_total(void)
{
	int64_t n = BIG + 41;
	struct array x, y;
	int32_t sum = 0;
	cutejit_argument args[2];

	fill_every(test.a, INTEGER, 32, n, 3, 1);
	args[0] = array(&x, "x", test.a, INTEGER, 32, n, 0);
	args[1] = array(&y, "y", test.little, INTEGER, 32, 1, 0);
	call_example("reduce", "total", args, 2);
	CHECK(cu.from(&sum, test.little, sizeof sum) == 0);
	CHECK(sum == (n + 1) / 3);
}

/* One large element behind 2^31 others, in one row and in all. */
static void
test_places(void)
{
	int64_t n = BIG + 4000, place = BIG + 1234, found;
	uint64_t value = test.little + 64;
	struct array x, v, at;
	cutejit_argument args[3];

	fill_every(test.a, BFLOAT, 16, n, n, place);
	args[0] = array(&x, "x", test.a, BFLOAT, 16, 1, n);
	args[1] = array(&at, "y", test.little, INTEGER, 64, 1, 0);
	call_example("reduce", "argmax", args, 2);
	CHECK(cu.from(&found, test.little, sizeof found) == 0);
	CHECK(found == place);
	args[0] = array(&x, "x", test.a, BFLOAT, 16, n, 0);
	args[1] = array(&v, "value", value, BFLOAT, 16, 1, 0);
	args[2] = array(&at, "index", test.little, INTEGER, 64, 1, 0);
	call_example("extremes", "extreme", args, 3);
	CHECK(cu.from(&found, test.little, sizeof found) == 0);
	CHECK(found == place);
}

static void
test_softmax(void)
{
	int64_t m = BIG / 1024 + 3;
	struct array x, y;
	cutejit_argument args[3];

	args[0] = array(&x, "x", test.a, BFLOAT, 16, m, 1024);
	call(test.helpers, "peaks", args, 1);
	CHECK(cu.set(test.b, 0xa5, BYTES) == 0);
	args[1] = array(&y, "y", test.b, BFLOAT, 16, m, 1024);
	call_example("softmax", "softmax", args, 2);
	args[0] = args[1];
	none_wrong("are_peaks", args, 2);
}

static void
fill_digits(int64_t n, int64_t period)
{
	struct array x;
	cutejit_argument args[2] = {
		array(&x, "x", test.a, UNSIGNED, 8, n, 0),
		cutejit_arg_int("period", period) };

	call(test.helpers, "digits", args, 2);
}

static void
test_transpose(void)
{
	int64_t m = 65552, n = 32784;
	struct array x, y;
	cutejit_argument args[3];

	fill_digits(m * n, 251);
	CHECK(cu.set(test.b, 0xa5, BYTES) == 0);
	args[0] = array(&x, "x", test.a, UNSIGNED, 8, m, n);
	args[1] = array(&y, "y", test.b, UNSIGNED, 8, n, m);
	call_example("transpose", "transpose", args, 2);
	args[0] = args[1];
	args[1] = cutejit_arg_int("period", 251);
	none_wrong("are_turned", args, 3);
}

static void
test_histogram(void)
{
	int64_t n = BIG + 5;
	uint32_t count[256];
	struct array x, y;
	cutejit_argument args[2];
	int i;

	fill_digits(n, 256);
	args[0] = array(&x, "x", test.a, UNSIGNED, 8, n, 0);
	args[1] = array(&y, "count", test.little, UNSIGNED, 32, 256, 0);
	call_example("histogram", "histogram", args, 2);
	CHECK(cu.from(count, test.little, sizeof count) == 0);
	for (i = 0; i < 256; i++)
		CHECK(count[i] == BIG / 256 + (i < 5));
}

int
main(void)
{
	if (!open_driver() || cu.alloc(&test.a, BYTES) != 0 ||
	    cu.alloc(&test.b, BYTES) != 0 ||
	    cu.alloc(&test.little, 1 << 20) != 0) {
		fprintf(stderr, "no GPU with 18 GB of free memory\n");
		return SKIPPED;
	}
	test.context = test_context();
	test.helpers = test_module(test.context, text);
	test_scan();
	test_total();
	test_places();
	test_softmax();
	test_transpose();
	test_histogram();
	cutejit_module_destroy(test.helpers);
	cutejit_context_destroy(test.context);
	return 0;
}
