/*
 * Tensor maps of launches: encoded once, moved to other addresses with no long
 * way, refused with place and remedy where a tensor has none.
 */
#include "fake_open.h"

static cutejit_context *c;
static cutejit_module *m;
static float *x, *y;

/* Tiles of x come to shared memory and go to y. */
static const char text[] =
    "kernel moved(x: tensor(f32, (M, N):(_, 1)) align(16),\n"
    "             y: tensor(f32, (M, N):(_, 1)) align(16))\n"
    "target sm_90\n"
    "{\n"
    "    let from = tma_load(x, smem_layout(f32, (32, 32)));\n"
    "    let to = tma_store(y, smem_layout(f32, (32, 32)));\n"
    "    launch grid(ceil_div(M, 32), ceil_div(N, 32)) block(32)\n"
    "    {\n"
    "        shared s: tensor(f32, smem_layout(f32, (32, 32)));\n"
    "        shared b: tensor(mbarrier, 1:1);\n"
    "        let at = (block_idx.x, block_idx.y);\n"
    "        if thread_idx.x == 0 {\n"
    "            mbarrier_init(b[0], 1);\n"
    "            fence(.mbarrier_init);\n"
    "            mbarrier_arrive_expect_tx(b[0], 4096);\n"
    "            copy(from, local_tile(x, (32, 32), at), s,\n"
    "                barrier = b[0]);\n"
    "            mbarrier_wait(b[0], 0);\n"
    "            copy(to, s, local_tile(y, (32, 32), at), raw = true);\n"
    "            bulk_commit();\n"
    "            bulk_wait(0);\n"
    "        }\n"
    "    }\n"
    "}\n"
    "kernel least(const T: type, x: tensor(T, N:1) align(16))\n"
    "target sm_90\n"
    "{\n"
    "    let to = tma_store(x, 64:1, reduce = .min);\n"
    "    launch grid(1) block(32) { tma_prefetch(to); }\n"
    "}\n"
    "kernel sums(const T: type, x: tensor(T, N:1) align(16))\n"
    "target sm_90\n"
    "{\n"
    "    let to = tma_store(x, 64:1, reduce = .add);\n"
    "    launch grid(1) block(32) { tma_prefetch(to); }\n"
    "}\n"
    "kernel holes(x: tensor(f32, N:1) align(16)) target sm_90\n"
    "{\n"
    "    let from = tma_load(x, 64:1, fill = nan);\n"
    "    launch grid(1) block(32) { tma_prefetch(from); }\n"
    "}\n"
    "kernel free(x: tensor(f32, (M, N):(S, 1)) align(4)) target sm_90\n"
    "{\n"
    "    let from = tma_load(x, smem_layout(f32, (32, 32)));\n"
    "    launch grid(1) block(32) { }\n"
    "}\n";

struct matrix {
	cutejit_tensor tensor;
	int64_t shape[2], strides[2];
};

static const cutejit_tensor *
matrix_set(struct matrix *a, float *at, int64_t rows, int64_t columns,
    int64_t stride)
{
	a->shape[0] = rows;
	a->shape[1] = columns;
	a->strides[0] = stride;
	a->strides[1] = 1;
	a->tensor = (cutejit_tensor){ .data = at, .ndim = 2, .code = 2,
	    .bits = 32, .lanes = 1, .shape = a->shape,
	    .strides = a->strides, .device_type = CUTEJIT_DL_CUDA };
	return &a->tensor;
}

static struct matrix mx, my;
static cutejit_argument args[2];

static void
set(float *from, float *to, int64_t rows, int64_t columns, int64_t stride)
{
	args[0] = cutejit_arg_tensor("x", matrix_set(&mx, from, rows, columns,
	    stride));
	args[1] = cutejit_arg_tensor("y", matrix_set(&my, to, rows, columns,
	    stride));
}

static int
has_address(const void *address)
{
	return has_param((uint64_t)(uintptr_t)address);
}

static uint64_t
hits(void)
{
	cutejit_cache_stats s;

	DO(c, cutejit_cache_stats_get(c, &s));
	return s.memory_hits;
}

/* The same maps, other addresses, other extents, in turn. */
static void
test_called(void)
{
	uint64_t before;
	int i;

	for (i = 0; i < 6; i++) {
		float *from = x + 64 * (i % 3), *to = y + 1024 * (i % 2);

		set(from, to, 64, 32 + 32 * (i % 2), 64);
		before = hits();
		DO(c, cutejit_call(m, "moved", args, 2, NULL, NULL));
		CHECK(hits() == before + 1 || i < 2);
		CHECK(has_address(from) && has_address(to));
		CHECK(fake->last.grid[0] == 2);
		CHECK(fake->last.grid[1] == 1u + (unsigned)i % 2);
	}
}

/* A driver that cannot move a map says so. */
static void
test_fails(void)
{
	set(x, y, 64, 32, 64);
	DO(c, cutejit_call(m, "moved", args, 2, NULL, NULL));
	set(x + 512, y, 64, 32, 64);
	fake->fail = "cuTensorMapReplaceAddress";
	fake->error = 1;
	CHECK(cutejit_call(m, "moved", args, 2, NULL, NULL) ==
	    CUTEJIT_MISSING);
	fake->fail = NULL;
	DO(c, cutejit_call(m, "moved", args, 2, NULL, NULL));
	CHECK(has_address(x + 512));
}

static void
test_prepared(void)
{
	cutejit_compile_options o = CUTEJIT_COMPILE_OPTIONS_INIT;
	cutejit_kernel *k;
	cutejit_launch *l;

	set(x, y, 64, 64, 64);
	o.arguments = args;
	o.argument_count = 2;
	DO(c, cutejit_compile(m, "moved", &o, &k));
	DO(c, cutejit_prepare(k, args, 2, &l));
	DO(c, cutejit_launch_run(l, NULL));
	CHECK(has_address(x) && has_address(y));
	set(x + 128, y, 64, 64, 64);
	DO(c, cutejit_launch_set(l, 0, &args[0]));
	DO(c, cutejit_launch_run(l, NULL));
	CHECK(has_address(x + 128) && has_address(y) && !has_address(x));
	cutejit_launch_destroy(l);
	cutejit_kernel_destroy(k);
}

static const char *
message(void)
{
	return cutejit_report_text(cutejit_context_report(c), 0);
}

/* What combines has to know what the elements are; signs count where they are
 * compared, and are illegal in sums of 64 bits. */
static void
test_types(void)
{
	static const struct {
		uint8_t code, bits;
		int compared, added;	/* CUtensorMapDataType */
	} rows[] = {
		{ 1, 32, 2, 2 }, { 0, 32, 3, 2 }, { 1, 64, 4, 4 },
		{ 0, 64, 5, 4 }, { 2, 16, 6, 6 }, { 4, 16, 9, 9 },
	};
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		args[0] = cutejit_arg_tensor("x", matrix_set(&mx, x, 64, 1, 1));
		mx.tensor.ndim = 1;
		mx.strides[0] = 1;
		mx.tensor.code = rows[i].code;
		mx.tensor.bits = rows[i].bits;
		DO(c, cutejit_call(m, "least", args, 1, NULL, NULL));
		CHECK(fake->map_type == rows[i].compared &&
		    fake->map_fill == 0);
		DO(c, cutejit_call(m, "sums", args, 1, NULL, NULL));
		CHECK(fake->map_type == rows[i].added);
	}
	mx.tensor.code = 2;
	mx.tensor.bits = 32;
	DO(c, cutejit_call(m, "holes", args, 1, NULL, NULL));
	CHECK(fake->map_type == 7 && fake->map_fill == 1);
}

/* What no map can be made of: the place, what is wrong, what to do. */
static void
test_refused(void)
{
	float *far = (float *)((uintptr_t)x + ((uintptr_t)1 << 50));

	set(x + 1, y, 64, 32, 64);
	REFUSED(c, CUTEJIT_ERROR, "contract", cutejit_call(m, "moved", args,
	    2, NULL, NULL));
	CHECK(strstr(message(), "16-byte alignment") != NULL);
	set(x, y, 64, 32, 62);
	REFUSED(c, CUTEJIT_ERROR, "contract", cutejit_call(m, "moved", args,
	    2, NULL, NULL));
	set(x, far, ((int64_t)1 << 32) + 1, 4, 4);
	REFUSED(c, CUTEJIT_ERROR, "limit", cutejit_call(m, "moved", args, 2,
	    NULL, NULL));
	CHECK(strstr(message(), "an extent of \"x\"") != NULL);
	CHECK(strstr(message(), "a part of the tensor") != NULL);
	set(x, far, 64, 4, (int64_t)1 << 38);
	REFUSED(c, CUTEJIT_ERROR, "limit", cutejit_call(m, "moved", args, 2,
	    NULL, NULL));
	CHECK(strstr(message(), "a stride of \"x\"") != NULL);
	set(x, y, 64, 64, 64);
	args[0] = cutejit_arg_tensor("x", &mx.tensor);
	REFUSED(c, CUTEJIT_ERROR, "unaligned-copy", cutejit_call(m, "free",
	    args, 1, NULL, NULL));
	fake->fail = "cuTensorMapEncodeTiled";
	fake->error = 1;
	set(x, y, 96, 96, 96);
	CHECK(cutejit_call(m, "moved", args, 2, NULL, NULL) ==
	    CUTEJIT_MISSING);
	CHECK(strstr(message(), "tensor map of \"x\"") != NULL);
	fake->fail = NULL;
}

int
main(void)
{
	cutejit_options o = CUTEJIT_OPTIONS_INIT;

	fake_open();
	x = aligned_alloc(1024, 1 << 20);
	y = aligned_alloc(1024, 1 << 20);
	CHECK(x != NULL && y != NULL);
	o.cache = CUTEJIT_CACHE_MEMORY;
	CHECK(cutejit_context_create(&o, &c) == CUTEJIT_OK);
	m = test_module(c, text);
	test_called();
	test_fails();
	test_prepared();
	test_types();
	test_refused();
	cutejit_module_destroy(m);
	cutejit_context_destroy(c);
	free(x);
	free(y);
	return 0;
}
