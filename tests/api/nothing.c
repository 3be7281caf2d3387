/*
 * Kernels of examples/ on tensors of no elements: their outputs are what
 * mathematics says of nothing, and no kernel was launched for it.
 *
 * Each case is a line: file, kernel, constants, then tensors as
 * NAME:TYPE:EXTENTS[/STRIDE][=VALUE]. Elements of a tensor with a value have it
 * afterwards; all other memory is as it was.
 */
#include "fake_open.h"

#include <math.h>

static cutejit_context *c;

static const struct {
	const char *file, *kernel, *constants, *tensors;
} cases[] = {
	{ "softmax", "softmax", "T=bf16", "x:bf16:5x0 y:bf16:5x0" },
	{ "softmax", "softmax", "T=f32", "x:f32:0x96 y:f32:0x96" },
	{ "softmax", "softmax", "T=f32", "x:f32:0x4096 y:f32:0x4096" },
	{ "softmax", "softmax", "T=f32", "x:f32:0x262152 y:f32:0x262152" },
	{ "softmax", "log_softmax", "T=f16", "x:f16:5x0 y:f16:5x0" },
	{ "softmax_backward", "softmax_backward", "T=f32",
	    "y:f32:5x0 dy:f32:5x0 dx:f32:5x0" },
	{ "softmax_backward", "log_softmax_backward", "T=bf16",
	    "y:bf16:0x999 dy:bf16:0x999 dx:bf16:0x999" },
	{ "rmsnorm", "rmsnorm", "T=bf16", "x:bf16:5x0 w:bf16:0 y:bf16:5x0" },
	{ "rmsnorm", "rmsnorm", "T=bf16", "x:bf16:0x8 w:bf16:8 y:bf16:0x8" },
	{ "layernorm", "layernorm", "T=bf16",
	    "x:bf16:5x0 w:bf16:0 b:bf16:0 y:bf16:5x0" },
	{ "layernorm", "layernorm", "T=f32",
	    "x:f32:0x999 w:f32:999 b:f32:999 y:f32:0x999" },
	{ "add_rmsnorm", "add_rmsnorm", "T=bf16",
	    "x:bf16:5x0 residual:bf16:5x0 w:bf16:0 h:bf16:5x0 y:bf16:5x0" },
	{ "rmsnorm_backward", "rmsnorm_backward", "T=bf16",
	    "x:bf16:0x8 w:bf16:8 dy:bf16:0x8 dx:bf16:0x8 dw:bf16:8=0" },
	{ "rmsnorm_backward", "rmsnorm_backward", "T=f32",
	    "x:f32:5x0 w:f32:0 dy:f32:5x0 dx:f32:5x0 dw:f32:0" },
	{ "layernorm_backward", "layernorm_backward", "T=f32",
	    "x:f32:0x9 w:f32:9 dy:f32:0x9 dx:f32:0x9 dw:f32:9/3=0 "
	    "db:f32:9=0" },
	{ "cross_entropy", "cross_entropy", "T=bf16 I=i64",
	    "x:bf16:5x0 target:i64:5 loss:f32:5=0 lse:f32:5/2=-inf" },
	{ "cross_entropy", "cross_entropy", "T=f32 I=i32",
	    "x:f32:0x7 target:i32:0 loss:f32:0 lse:f32:0" },
	{ "cross_entropy", "cross_entropy_backward", "T=f32 I=i32",
	    "x:f32:5x0 target:i32:5 lse:f32:5 dloss:f32:5 dx:f32:5x0" },
	{ "reduce", "total", "T=f32 A=f32", "x:f32:0 y:f32:1=0" },
	{ "reduce", "total", "T=i64 A=i64", "x:i64:3x0 y:i64:1=0" },
	{ "reduce", "row_sums", "T=bf16 A=f32", "x:bf16:9x0 y:f32:9=0" },
	{ "reduce", "row_sums", "T=f64 A=f64", "x:f64:9x0 y:f64:9/5=0" },
	{ "reduce", "row_sums", "T=f32 A=f32", "x:f32:0x8 y:f32:0" },
	{ "reduce", "column_sums", "T=f32 A=f32", "x:f32:0x8 y:f32:8=0" },
	{ "reduce", "column_sums", "T=i32 A=i32", "x:i32:0x9 y:i32:9/2=0" },
	{ "reduce", "argmax", "T=f32", "x:f32:6x0 y:i64:6=-1" },
	{ "reduce", "argmax", "T=f16", "x:f16:6x0 y:i64:6/4=-1" },
	{ "extremes", "extreme", "T=f32",
	    "x:f32:0 value:f32:1=-inf index:i64:1=-1" },
	{ "extremes", "extreme", "T=f16 least=true",
	    "x:f16:4x0 value:f16:1=inf index:i64:1=-1" },
	{ "histogram", "histogram", "", "x:u8:0 count:u32:256=0" },
	{ "histogram", "histogram", "", "x:u8:0 count:u32:256/3=0" },
	{ "scan", "scan", "T=i32", "x:i32:0 y:i32:0" },
	{ "segmented_scan", "segmented_scan", "T=i32",
	    "x:i32:0 begins:u8:0 y:i32:0" },
	{ "topk", "topk", "T=f32 k=4",
	    "x:f32:0x64 value:f32:0x4 index:i32:0x4" },
	{ "transpose", "transpose", "T=f32", "x:f32:0x16 y:f32:16x0" },
	{ "transpose", "transpose", "T=bf16", "x:bf16:7x0 y:bf16:0x7" },
	{ "permute", "permute", "T=f32",
	    "x:f32:2x0x3x8 y:f32:2x3x0x8" },
	{ "concat", "concat", "T=f32", "a:f32:4x0 b:f32:4x0 y:f32:4x0" },
	{ "gather", "gather", "T=f32 I=i64",
	    "x:f32:4x9 index:i64:4x0 y:f32:4x0" },
	{ "gather", "scatter", "T=f32 I=i64",
	    "y:f32:4x0 index:i64:4x0 x:f32:4x9" },
	{ "gather", "scatter_add", "T=f32 I=i32",
	    "y:f32:0x3 index:i32:0x3 x:f32:0x9" },
	{ "embedding", "embedding", "T=bf16 I=i64",
	    "table:bf16:9x8 index:i64:0 y:bf16:0x8" },
	{ "embedding", "embedding_backward", "T=bf16 I=i64",
	    "dy:bf16:0x8 index:i64:0 gradient:f32:9x8" },
	{ "rope", "rope", "T=bf16",
	    "x:bf16:0x2x16 cos:f32:0x8 sin:f32:0x8 y:bf16:0x2x16" },
	{ "swiglu", "swiglu", "T=bf16", "gate:bf16:0 up:bf16:0 y:bf16:0" },
	{ "geglu", "geglu", "T=f32", "gate:f32:3x0 up:f32:3x0 y:f32:3x0" },
	{ "gelu", "gelu", "T=f16", "x:f16:0 y:f16:0" },
	{ "silu", "silu", "T=f16", "x:f16:0 y:f16:0" },
	{ "relu", "relu", "T=f16", "x:f16:0 y:f16:0" },
	{ "add", "add", "T=f32", "a:f32:0 b:f32:0 c:f32:0" },
	{ "quantize", "quantize", "T=bf16 Q=f8e4m3",
	    "x:bf16:0 q:f8e4m3:0 scale:f32:1=0" },
	{ "quantize", "quantize_rows", "T=bf16 Q=f8e4m3",
	    "x:bf16:5x0 q:f8e4m3:5x0 scale:f32:5=0" },
	{ "quantize", "quantize_blocks", "T=bf16 Q=f8e4m3",
	    "x:bf16:5x0 q:f8e4m3:5x0 scale:f32:5x0" },
	{ "quantize", "dequantize", "T=bf16 Q=f8e4m3",
	    "q:f8e4m3:0 scale:f32:1 x:bf16:0" },
	{ "quantize", "dequantize_rows", "T=bf16 Q=f8e4m3",
	    "q:f8e4m3:5x0 scale:f32:5 x:bf16:5x0" },
	{ "quantize", "dequantize_blocks", "T=f32 Q=f8e5m2",
	    "q:f8e5m2:5x0 scale:f32:5x0 x:f32:5x0" },
};

static const struct {
	const char *name;
	uint8_t code, bits;
} types[] = { { "f32", 2, 32 }, { "f16", 2, 16 }, { "f64", 2, 64 },
	{ "bf16", 4, 16 }, { "i64", 0, 64 }, { "i32", 0, 32 },
	{ "u8", 1, 8 }, { "u32", 1, 32 }, { "f8e4m3", 10, 8 },
	{ "f8e5m2", 12, 8 } };

enum { TENSORS = 6, RANK = 4, ROOM = 8192, POISON = 0x5a };

struct array {
	char name[16];
	cutejit_tensor tensor;
	int64_t shape[RANK], strides[RANK];
	int is_set;			/* its elements have `value` */
	double value;
	unsigned char *data;		/* of ROOM bytes */
};
static struct array arrays[TENSORS];
static cutejit_argument arguments[TENSORS];
static size_t count;

/* NAME:TYPE:EXTENTS[/STRIDE][=VALUE] */
static void
read_tensor(struct array *a, const char *text)
{
	char type[16], *at;
	int used = 0, i;
	size_t k;

	CHECK(sscanf(text, "%15[^:]:%15[^:]:%n", a->name, type, &used) == 2);
	a->tensor = (cutejit_tensor){ .data = a->data, .lanes = 1,
	    .shape = a->shape, .strides = a->strides,
	    .device_type = CUTEJIT_DL_CUDA };
	for (k = 0; strcmp(types[k].name, type) != 0; k++)
		CHECK(k + 1 < sizeof types / sizeof *types);
	a->tensor.code = types[k].code;
	a->tensor.bits = types[k].bits;
	at = (char *)(uintptr_t)text + used - 1;
	do {
		a->shape[a->tensor.ndim++] = strtoll(at + 1, &at, 10);
	} while (*at == 'x');
	a->strides[a->tensor.ndim - 1] = *at == '/' ?
	    strtoll(at + 1, &at, 10) : 1;
	for (i = a->tensor.ndim - 1; i-- > 0;)
		a->strides[i] = a->strides[i + 1] * (a->shape[i + 1] > 0 ?
		    a->shape[i + 1] : 16);
	a->is_set = *at == '=';
	a->value = a->is_set ? strtod(at + 1, NULL) : 0;
}

static void
read_case(const char *text)
{
	char line[256], *word, *rest = line;

	CHECK(strlen(text) < sizeof line);
	strcpy(line, text);
	for (count = 0; (word = strtok_r(rest, " ", &rest)) != NULL; count++) {
		CHECK(count < TENSORS);
		read_tensor(&arrays[count], word);
		arguments[count] = cutejit_arg_tensor(arrays[count].name,
		    &arrays[count].tensor);
	}
}

static size_t
read_constants(const char *text, char *line, cutejit_constant *out)
{
	char *word, *rest = strcpy(line, text);
	size_t n = 0;

	while ((word = strtok_r(rest, " ", &rest)) != NULL) {
		char *is = strchr(word, '=');

		*is = '\0';
		out[n].name = word;
		out[n++].text = is + 1;
	}
	return n;
}

static double
element(const struct array *a, const unsigned char *at)
{
	const cutejit_tensor *t = &a->tensor;
	float f;
	double d;
	int64_t i = 0;
	uint16_t h;

	switch (t->code * 100 + t->bits) {
	case 232: memcpy(&f, at, 4); return f;
	case 264: memcpy(&d, at, 8); return d;
	case 216:
		memcpy(&h, at, 2);
		return h == 0x7c00 ? INFINITY : h == 0xfc00 ? -INFINITY :
		    h == 0 ? 0 : NAN;
	case 416:
		memcpy(&h, at, 2);
		return h == 0 ? 0 : NAN;
	default:
		memcpy(&i, at, t->bits / 8);
		return t->code == 0 && i >> (t->bits - 1) != 0 ? -1 :
		    (double)i;
	}
}

/* Elements are what they should be, and nothing else has changed. */
static void
check_array(const struct array *a)
{
	size_t width = a->tensor.bits / 8, i, at = 0;
	int64_t k, n = a->is_set ? a->shape[0] : 0;

	for (k = 0; k < n; k++) {
		size_t next = (size_t)(k * a->strides[0]) * width;

		for (; at < next; at++)
			CHECK(a->data[at] == POISON);
		CHECK(element(a, a->data + next) == a->value);
		at = next + width;
	}
	for (i = at; i < ROOM; i++)
		CHECK(a->data[i] == POISON);
}

static void
poison(void)
{
	size_t i;

	for (i = 0; i < TENSORS; i++)
		memset(arrays[i].data, POISON, ROOM);
}

static void
check_all(unsigned long launches)
{
	size_t i;

	CHECK(fake->launches == launches);
	for (i = 0; i < count; i++)
		check_array(&arrays[i]);
	poison();
}

/* A kernel with its launch prepared, and in a graph. */
static void
check_prepared(cutejit_kernel *k)
{
	unsigned long launches = fake->launches, sets = fake->sets;
	void *graph, *exec, *nodes[8];
	int (*create)(void **, unsigned), (*play)(void *, void *);
	int (*instantiate)(void **, void *, unsigned long long);
	int (*destroy)(void *), (*destroy_exec)(void *);
	cutejit_launch *l;

	fake_find("cuGraphCreate", &create);
	fake_find("cuGraphInstantiateWithFlags", &instantiate);
	fake_find("cuGraphLaunch", &play);
	fake_find("cuGraphDestroy", &destroy);
	fake_find("cuGraphExecDestroy", &destroy_exec);
	DO(c, cutejit_prepare(k, arguments, count, &l));
	DO(c, cutejit_launch_run(l, NULL));
	sets = fake->sets - sets;
	check_all(launches);
	CHECK(cutejit_launch_nodes(l) == sets && sets <= 8);
	CHECK(create(&graph, 0) == 0);
	DO(c, cutejit_launch_graph_add(l, graph, NULL, 0, nodes));
	CHECK(instantiate(&exec, graph, 0) == 0);
	DO(c, cutejit_launch_graph_update(l, exec, nodes, sets));
	CHECK(play(exec, NULL) == 0);
	check_all(launches);
	destroy_exec(exec);
	destroy(graph);
	cutejit_launch_destroy(l);
}

static void
run_case(size_t number)
{
	cutejit_compile_options o = CUTEJIT_COMPILE_OPTIONS_INIT;
	cutejit_compile_options call = CUTEJIT_COMPILE_OPTIONS_INIT;
	cutejit_constant constants[4];
	unsigned long launches = fake->launches;
	char path[64], line[64];
	cutejit_module *m;
	cutejit_kernel *k;
	int i;

	snprintf(path, sizeof path, "examples/%s/%s.cute", cases[number].file,
	    cases[number].file);
	DO(c, cutejit_module_from_file(c, path, &m));
	read_case(cases[number].tensors);
	o.constants = call.constants = constants;
	o.constant_count = call.constant_count =
	    read_constants(cases[number].constants, line, constants);
	o.arguments = arguments;
	o.argument_count = count;
	DO(c, cutejit_compile(m, cases[number].kernel, &o, &k));
	check_prepared(k);
	for (i = 0; i < 3; i++) {	/* the long way, then the quick one */
		DO(c, cutejit_call(m, cases[number].kernel, arguments, count,
		    &call, NULL));
		check_all(launches);
	}
	cutejit_kernel_destroy(k);
	cutejit_module_destroy(m);
}

int
main(void)
{
	size_t i;

	fake_open();
	for (i = 0; i < TENSORS; i++) {
		arrays[i].data = aligned_alloc(256, ROOM);
		CHECK(arrays[i].data != NULL);
	}
	poison();
	c = test_context();
	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		fprintf(stderr, "%s %s: %s\n", cases[i].kernel,
		    cases[i].constants, cases[i].tensors);
		run_case(i);
	}
	cutejit_context_destroy(c);
	for (i = 0; i < TENSORS; i++)
		free(arrays[i].data);
	return 0;
}
