/*
 * The lines of C that `cutec explain` shows, with a driver that plays GPUs:
 * tests/golden/cli/explain.run looks for each of them here.
 */
#include "test.h"

#include <dlfcn.h>

#include "fake_cuda.h"

static const char text[] =
    "kernel k(x: tensor(f32, N:1), y: tensor(f32, N:1), alpha: f32)\n"
    "{\n"
    "    launch grid(1) block(32) { y[thread_idx.x] = alpha * x[0]; }\n"
    "}\n";

static struct fixture {
	cutejit_context *c;
	cutejit_module *m;
	float data[2][32];
	struct vector vx, vy;
	cutejit_argument args[3];
} f;

#define x (f.vx.tensor)
#define y (f.vy.tensor)

static void
begin(void)
{
	f.args[0] = cutejit_arg_tensor("x", vector_set(&f.vx, f.data[0], 32,
	    CUTEJIT_DL_CUDA));
	f.args[1] = cutejit_arg_tensor("y", vector_set(&f.vy, f.data[1], 32,
	    CUTEJIT_DL_CUDA));
	f.args[2] = cutejit_arg_float("alpha", 1);
}

static cutejit_status
call(void)
{
	return cutejit_call(f.m, "k", f.args, 3, NULL, NULL);
}

static void
test_unknown_argument(void)
{
	cutejit_argument *args = f.args;

	begin();
	args[2] = cutejit_arg_float("beta", 1);     // wrong for k(x, y, alpha)
	REFUSED(f.c, CUTEJIT_ERROR, "unknown-argument", call());
	args[2] = cutejit_arg_float("alpha", 1);
	DO(f.c, call());
}

static void
test_wrong_device(void)
{
	begin();
	x.device_id = 0; y.device_id = 1;   // wrong: on two GPUs
	REFUSED(f.c, CUTEJIT_ERROR, "wrong-device", call());
	x.device_id = 0; y.device_id = 0;
	DO(f.c, call());
}

static void
test_missing_gpu(void)
{
	begin();
	x.device_id = 7; y.device_id = 7;   // wrong, if there is no eighth
	REFUSED(f.c, CUTEJIT_MISSING, "missing-gpu", call());
	x.device_id = 1; y.device_id = 1;
	DO(f.c, call());
}

int
main(void)
{
	setenv("CUTEJIT_LIBCUDA", FAKE_CUDA, 1);
	setenv("CUTEJIT_ASSEMBLER", "driver", 1);
	setenv("FAKE_CUDA_DEVICES", "2", 1);
	f.c = test_context();
	f.m = test_module(f.c, text);
	test_unknown_argument();
	test_wrong_device();
	test_missing_gpu();
	cutejit_module_destroy(f.m);
	cutejit_context_destroy(f.c);
	return 0;
}
