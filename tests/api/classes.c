/*
 * Rows of any length are compiled once for each class of lengths: what is
 * loaded for one length of a class serves all of it.
 */
#include "test.h"

#include <dlfcn.h>

#include "fake_cuda.h"

enum { LENGTHS = 4, ROWS = 5 };

static const struct {
	const char *file, *names;	/* of tensors of rows, then of others */
	int rows;			/* so many of them are of rows */
} kernels[] = {
	{ "softmax", "x y", 2 },
	{ "rmsnorm", "x y w", 2 },
	{ "layernorm", "x y w b", 2 },
};

/* Lengths whose classes are one in each of these kernels. */
static const int64_t classes[][LENGTHS] = {
	{ 8, 16, 40, 64 },
	{ 3080, 3584, 4000, 4096 },
	{ 140000, 200000, 250008, 262144 },
	{ 1001, 1011, 1021, 1031 },
	{ 100001, 110001, 120001, 130001 },
};

static struct fake_state *fake;
static cutejit_context *c;

static void
call(cutejit_module *m, size_t number, int64_t n)
{
	static const uintptr_t memory = 0x100000000;
	cutejit_compile_options o = CUTEJIT_COMPILE_OPTIONS_INIT;
	cutejit_constant constant = { "T", "bf16" };
	cutejit_tensor t[4] = { { 0 } };
	cutejit_argument args[4];
	int64_t shape[4][2], strides[4][2];
	char names[16], *name, *rest = strcpy(names, kernels[number].names);
	int i;

	for (i = 0; (name = strtok_r(rest, " ", &rest)) != NULL; i++) {
		int rank = i < kernels[number].rows ? 2 : 1;

		shape[i][0] = rank == 2 ? ROWS : n;
		shape[i][1] = n;
		strides[i][0] = rank == 2 ? n : 1;
		strides[i][1] = 1;
		/* far apart, and never touched: the driver is a stand-in */
		t[i] = (cutejit_tensor){ .data = (void *)(memory +
		    (uintptr_t)i * 0x1000000), .ndim = rank, .shape = shape[i],
		    .strides = strides[i], .lanes = 1, .code = 4, .bits = 16,
		    .device_type = CUTEJIT_DL_CUDA };
		args[i] = cutejit_arg_tensor(name, &t[i]);
	}
	o.constants = &constant;
	o.constant_count = 1;
	DO(c, cutejit_call(m, kernels[number].file, args, (size_t)i, &o,
	    NULL));
}

static void
run_kernel(size_t number)
{
	char path[64];
	cutejit_module *m;
	size_t i, k;

	snprintf(path, sizeof path, "examples/%s/%s.cute",
	    kernels[number].file, kernels[number].file);
	DO(c, cutejit_module_from_file(c, path, &m));
	for (i = 0; i < sizeof classes / sizeof *classes; i++) {
		unsigned long loads = fake->loads;

		for (k = 0; k < LENGTHS; k++) {
			unsigned long launches = fake->launches;

			call(m, number, classes[i][k]);
			fprintf(stderr, "%s of %lld: %lu loads\n",
			    kernels[number].file, (long long)classes[i][k],
			    fake->loads - loads);
			CHECK(fake->launches > launches);
			CHECK(fake->loads == loads + 1);
		}
	}
	cutejit_module_destroy(m);
}

int
main(void)
{
	fake_cuda_state_fn *state;
	void *library;
	size_t i;

	setenv("CUTEJIT_LIBCUDA", FAKE_CUDA, 1);
	setenv("CUTEJIT_ASSEMBLER", "driver", 1);
	library = dlopen(FAKE_CUDA, RTLD_NOW);
	CHECK(library != NULL);
	*(void **)&state = dlsym(library, "fake_cuda_state");
	fake = state();
	c = test_context();
	for (i = 0; i < sizeof kernels / sizeof *kernels; i++)
		run_kernel(i);
	cutejit_context_destroy(c);
	return 0;
}
