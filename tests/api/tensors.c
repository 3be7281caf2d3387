/*
 * Tensors as others describe them: every type, strides of all signs, offsets,
 * devices, plain and versioned DLPack; results element by element, and what is
 * wrong with a description is said before anything is launched.
 */
#include "test.h"

#include <stddef.h>

static cutejit_context *c;
static cutejit_module *m;

static const char text[] =
    "kernel move(x: tensor(T, (M, N):(sm, sn)),\n"
    "    y: tensor(T, (M, N):(tm, tn)), const T: type)\n"
    "{\n"
    "    launch grid(ceil_div(M * N, 64)) block(64) {\n"
    "        let i = block_idx.x * 64 + thread_idx.x;\n"
    "        if i < M * N { y[i / N, i % N] = x[i / N, i % N]; }\n"
    "    }\n"
    "}\n";

static const struct {
	uint8_t code, bits;
	const char *name;
} types[] = {
	{ 0, 8, "i8" }, { 0, 16, "i16" }, { 0, 32, "i32" }, { 0, 64, "i64" },
	{ 1, 8, "u8" }, { 1, 16, "u16" }, { 1, 32, "u32" }, { 1, 64, "u64" },
	{ 2, 16, "f16" }, { 2, 32, "f32" }, { 2, 64, "f64" },
	{ 4, 16, "bf16" }, { 6, 8, "bool" }, { 10, 8, "f8e4m3" },
	{ 12, 8, "f8e5m2" },
};

enum { ROWS = 3, COLUMNS = 5, ROOM = 512 };

/* Where element (i, k) of a strided array begins. */
static ptrdiff_t
at(const int64_t *strides, int i, int k, size_t bytes)
{
	return (ptrdiff_t)((i * strides[0] + k * strides[1])
	    * (int64_t)bytes);
}

static void
set(cutejit_tensor *t, size_t type, void *data, int64_t *shape,
    int64_t *strides)
{
	memset(t, 0, sizeof *t);
	t->data = data;
	t->device_type = CUTEJIT_DL_CPU;
	t->ndim = 2;
	t->code = types[type].code;
	t->bits = types[type].bits;
	t->lanes = 1;
	t->shape = shape;
	t->strides = strides;
}

/* Each type with strides of rows, of columns, with gaps, and backwards. */
static void
test_types(size_t type)
{
	static const int64_t forms[][2] = { { COLUMNS, 1 }, { 1, ROWS },
	    { 8, 1 }, { 16, 2 }, { -COLUMNS, 1 }, { -8, -1 } };
	size_t bytes = types[type].bits / 8, f, b;
	int64_t shape[2] = { ROWS, COLUMNS }, row[2] = { COLUMNS, 1 };
	int i, k;

	for (f = 0; f < sizeof forms / sizeof *forms; f++) {
		static unsigned char from[ROOM * 8], to[ROOM * 8];
		unsigned char *base = from + 64 * 8;
		int64_t strides[2] = { forms[f][0], forms[f][1] };
		cutejit_tensor x, y;
		cutejit_argument args[2];

		for (b = 0; b < sizeof from; b++)
			from[b] = (unsigned char)(b * 37 % 2);
		memset(to, 0xa5, sizeof to);
		set(&x, type, base - 8 * bytes, shape, strides);
		x.byte_offset = 8 * bytes;
		set(&y, type, to, shape, row);
		y.strides = f % 2 == 0 ? NULL : row;
		CHECK(strcmp(cutejit_type_of(&x), types[type].name) == 0);
		args[0] = cutejit_arg_tensor("x", &x);
		args[1] = cutejit_arg_tensor("y", &y);
		DO(c, cutejit_call(m, "move", args, 2, NULL, NULL));
		for (i = 0; i < ROWS; i++)
			for (k = 0; k < COLUMNS; k++)
				CHECK(memcmp(to + at(row, i, k, bytes), base
				    + at(strides, i, k, bytes), bytes) == 0);
		for (b = ROWS * COLUMNS * bytes; b < sizeof to; b++)
			CHECK(to[b] == 0xa5);
	}
}

/* ---- versioned ----------------------------------------------------------- */

static void
never_delete(cutejit_dlpack *self)
{
	CHECK(self == NULL);		/* nobody takes the tensor over */
}

static void
test_versioned(void)
{
	float from[6] = { 1, 2, 3, 4, 5, 6 }, to[6];
	int64_t shape[2] = { 2, 3 };
	cutejit_dlpack x = { 1, 3, NULL, never_delete, 1, { 0 } };
	cutejit_dlpack y = { 1, 0, NULL, never_delete, 0, { 0 } };
	cutejit_argument args[2];
	cutejit_kernel *k;
	cutejit_launch *l;
	int i;

	CHECK(sizeof(cutejit_tensor) == 48 && sizeof(cutejit_dlpack) == 80);
	CHECK(offsetof(cutejit_dlpack, flags) == 24);
	set(&x.tensor, 9, from, shape, NULL);
	set(&y.tensor, 9, to, shape, NULL);
	args[0] = cutejit_arg_dlpack("x", &x);
	args[1] = cutejit_arg_dlpack("y", &y);
	DO(c, cutejit_call(m, "move", args, 2, NULL, NULL));
	for (i = 0; i < 6; i++)
		CHECK(to[i] == (float)(i + 1));
	{
		cutejit_compile_options o = CUTEJIT_COMPILE_OPTIONS_INIT;
		float other[6] = { 6, 5, 4, 3, 2, 1 };

		o.arguments = args;
		o.argument_count = 2;
		DO(c, cutejit_compile(m, "move", &o, &k));
		DO(c, cutejit_prepare(k, args, 2, &l));
		DO(c, cutejit_launch_set_data(l, 0, other));
		DO(c, cutejit_launch_run(l, NULL));
		CHECK(to[0] == 6 && to[5] == 1);
		cutejit_launch_destroy(l);
		cutejit_kernel_destroy(k);
	}
	y.flags = 1;
	REFUSED(c, CUTEJIT_ERROR, "wrong-argument", cutejit_call(m, "move",
	    args, 2, NULL, NULL));
	CHECK(strstr(cutejit_report_text(cutejit_context_report(c), 0),
	    "read-only") != NULL);
	y.flags = 0;
	y.major = 2;
	REFUSED(c, CUTEJIT_ERROR, "wrong-argument", cutejit_call(m, "move",
	    args, 2, NULL, NULL));
	args[1] = cutejit_arg_dlpack("y", NULL);
	REFUSED(c, CUTEJIT_ERROR, "wrong-argument", cutejit_call(m, "move",
	    args, 2, NULL, NULL));
}

/* ---- wrong --------------------------------------------------------------- */

static void
test_wrong(void)
{
	static float x[64], y[64];
	int64_t shape[2] = { 2, 3 }, huge[2] = { INT64_MAX / 2, 8 };
	int64_t negative[2] = { 2, -3 }, zero[2] = { 0, 1 }, many[64] = { 0 };
	cutejit_tensor tx, ty;
	cutejit_argument args[2];
	int i;

	for (i = 0; i < 11; i++) {
		set(&tx, 9, x, shape, NULL);
		set(&ty, 9, y, shape, NULL);
		args[0] = cutejit_arg_tensor("x", &tx);
		args[1] = cutejit_arg_tensor("y", &ty);
		switch (i) {
		case 0: ty.shape = NULL; break;
		case 1: ty.ndim = -1; break;
		case 2: ty.ndim = 65; break;
		case 3: ty.shape = negative; break;
		case 4: ty.shape = huge; break;
		case 5: ty.data = NULL; break;
		case 6: ty.bits = 7; break;
		case 7: ty.lanes = 4; break;
		case 8: ty.device_type = 10; break;
		case 9: ty.lanes = 0; break;
		case 10: args[1].kind = (cutejit_argument_kind)99; break;
		}
		REFUSED(c, CUTEJIT_ERROR, "wrong-argument", cutejit_call(m,
		    "move", args, 2, NULL, NULL));
	}
	/* a tensor may have 64 modes, which the kernel does not take */
	set(&ty, 9, y, many, NULL);
	ty.ndim = 64;
	args[1] = cutejit_arg_tensor("y", &ty);
	REFUSED(c, CUTEJIT_ERROR, "contract", cutejit_call(m, "move", args, 2,
	    NULL, NULL));
	set(&ty, 9, y, shape, zero);	/* rows on top of each other */
	args[1] = cutejit_arg_tensor("y", &ty);
	REFUSED(c, CUTEJIT_ERROR, "overlap", cutejit_call(m, "move", args, 2,
	    NULL, NULL));
	set(&ty, 3, y, shape, NULL);	/* of another type */
	CHECK(cutejit_call(m, "move", args, 2, NULL, NULL)
	    == CUTEJIT_ERROR);
}

/* Null handles and structures of sizes that cannot be: CUTEJIT_USAGE. */
static void
test_usage(void)
{
	cutejit_options o = CUTEJIT_OPTIONS_INIT;
	cutejit_compile_options co = CUTEJIT_COMPILE_OPTIONS_INIT;
	struct {
		cutejit_options o;
		int more;
	} later = { CUTEJIT_OPTIONS_INIT, 0 };
	cutejit_context *context;
	cutejit_module *module;
	cutejit_kernel *k;
	cutejit_launch *l;

	o.size = 3;
	CHECK(cutejit_context_create(&o, &context) == CUTEJIT_USAGE);
	CHECK(context == NULL);
	CHECK(cutejit_context_create(NULL, NULL) == CUTEJIT_USAGE);
	later.o.size = sizeof later;	/* of a later header, nothing set */
	CHECK(cutejit_context_create(&later.o, &context) == CUTEJIT_OK);
	cutejit_context_destroy(context);
	later.more = 1;
	CHECK(cutejit_context_create(&later.o, &context) == CUTEJIT_USAGE);
	CHECK(cutejit_module_from_memory(NULL, "x", "", 0, &module)
	    == CUTEJIT_USAGE && module == NULL);
	CHECK(cutejit_compile(NULL, "k", NULL, &k) == CUTEJIT_USAGE
	    && k == NULL);
	CHECK(cutejit_compile(m, NULL, NULL, &k) == CUTEJIT_USAGE);
	co.size = 1;
	REFUSED(c, CUTEJIT_USAGE, "usage", cutejit_compile(m, "move", &co,
	    &k));
	CHECK(cutejit_prepare(NULL, NULL, 0, &l) == CUTEJIT_USAGE
	    && l == NULL);
	CHECK(cutejit_call(NULL, "k", NULL, 0, NULL, NULL) == CUTEJIT_USAGE);
	CHECK(cutejit_call(m, "move", NULL, 2, NULL, NULL) == CUTEJIT_USAGE);
	CHECK(cutejit_launch_run(NULL, NULL) == CUTEJIT_USAGE);
	CHECK(cutejit_launch_set(NULL, 0, NULL) == CUTEJIT_USAGE);
	CHECK(cutejit_launch_set_all(NULL, NULL) == CUTEJIT_USAGE);
	CHECK(cutejit_launch_set_data(NULL, 0, NULL) == CUTEJIT_USAGE);
	CHECK(cutejit_launch_nodes(NULL) == 0);
	CHECK(cutejit_cache_stats_get(NULL, NULL) == CUTEJIT_USAGE);
	CHECK(cutejit_context_report(NULL) == NULL);
	CHECK(cutejit_cache_remote(NULL, NULL) == NULL);
	cutejit_context_destroy(NULL);
	cutejit_module_destroy(NULL);
	cutejit_kernel_destroy(NULL);
	cutejit_launch_destroy(NULL);
}

#ifdef HAVE_ASSERTIONS
/* Handles that were destroyed, where the library has assertions: told so, and
 * a second destroy does nothing. Elsewhere nobody looks. */
static void
test_stale(void)
{
	cutejit_module *own = test_module(c, saxpy_text);
	cutejit_compile_options o = CUTEJIT_COMPILE_OPTIONS_INIT;
	cutejit_kernel *k, *again;
	cutejit_launch *l, *other;
	float x[8] = { 0 }, y[8] = { 0 };
	struct vector vx, vy;
	cutejit_argument args[3];
	const cutejit_tensor *kept;
	cutejit_array *array, *none;

	args[0] = cutejit_arg_float("a", 2);
	args[1] = cutejit_arg_tensor("x", vector_set(&vx, x, 8,
	    CUTEJIT_DL_CPU));
	args[2] = cutejit_arg_tensor("y", vector_set(&vy, y, 8,
	    CUTEJIT_DL_CPU));
	o.until = CUTEJIT_UNTIL_IR;
	DO(c, cutejit_array_create(c, NULL, "zeros(f32, 8:1)", &array));
	kept = cutejit_array_tensor(array);
	CHECK(kept != NULL && kept->data != NULL);
	cutejit_array_destroy(array);
	CHECK(cutejit_array_tensor(array) == NULL);
	cutejit_array_destroy(array);
	args[1] = cutejit_arg_tensor("x", kept);
	REFUSED(c, CUTEJIT_ERROR, "wrong-argument", cutejit_call(own,
	    "saxpy", args, 3, NULL, NULL));
	args[1] = cutejit_arg_tensor("x", &vx.tensor);
	DO(c, cutejit_compile(own, "saxpy", &o, &k));
	DO(c, cutejit_prepare(k, args, 3, &l));
	cutejit_kernel_destroy(k);
	cutejit_module_destroy(own);
	DO(c, cutejit_launch_run(l, NULL));	/* keeps both alive */
	REFUSED(c, CUTEJIT_USAGE, "usage", cutejit_array_create(c, own,
	    "zeros(f32, 8:1)", &none));
	CHECK(none == NULL);
	REFUSED(c, CUTEJIT_USAGE, "usage", cutejit_compile(own, "saxpy", &o,
	    &again));
	REFUSED(c, CUTEJIT_USAGE, "usage", cutejit_prepare(k, args, 3,
	    &other));
	cutejit_kernel_destroy(k);
	cutejit_module_destroy(own);
	DO(c, cutejit_launch_run(l, NULL));
	cutejit_launch_destroy(l);
	REFUSED(c, CUTEJIT_USAGE, "usage", cutejit_launch_run(l, NULL));
	REFUSED(c, CUTEJIT_USAGE, "usage", cutejit_launch_set(l, 0, args));
	cutejit_launch_destroy(l);
}
#endif

int
main(void)
{
	size_t i;

	setenv("CUTEJIT_LIBCUDA", "/nonexistent/libcuda.so.1", 1);
	c = test_context();
	m = test_module(c, text);
	for (i = 0; i < sizeof types / sizeof *types; i++)
		test_types(i);
	test_versioned();
	test_wrong();
	test_usage();
#ifdef HAVE_ASSERTIONS
	test_stale();
#endif
	cutejit_module_destroy(m);
	cutejit_context_destroy(c);
	return 0;
}
