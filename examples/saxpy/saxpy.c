/*
 * A program that brings its kernel along as text and compiles it when it runs:
 *
 *	cc saxpy.c -o saxpy $(pkg-config --cflags --libs cutejit)
 *	./saxpy			in this folder
 *
 * First the short way: run the kernel once on arrays of this program, on the
 * GPU if there is one, else on the executor. Then the way of a program that
 * launches often: compile, prepare, run, change an argument, run again.
 */
#include <cutejit.h>

#include <stdio.h>
#include <stdlib.h>

enum { N = 1000 };

static cutejit_context *context;

static void
need(cutejit_status status)
{
	if (status == CUTEJIT_OK)
		return;
	fputs(cutejit_report_text(cutejit_context_report(context), 0),
	    stderr);
	exit(status);
}

/* A vector as DLPack describes it. */
static cutejit_tensor
vector(float *data, int64_t *extent)
{
	cutejit_tensor t = { 0 };

	t.data = data;
	t.device_type = CUTEJIT_DL_CPU;
	t.ndim = 1;
	t.shape = extent;
	cutejit_type_set(&t, "f32");
	return t;
}

static void
check(const float *y, float expected, const char *what)
{
	int i;

	for (i = 0; i < N; i++)
		if (y[i] != expected) {
			fprintf(stderr, "%s: y[%d] is %g, not %g\n", what, i,
			    y[i], expected);
			exit(CUTEJIT_ERROR);
		}
	printf("%s: y is %g\n", what, expected);
}

int
main(void)
{
	static float x[N], y[N];
	int64_t extent = N;
	cutejit_tensor tx = vector(x, &extent), ty = vector(y, &extent);
	cutejit_argument args[3], three = cutejit_arg_float("a", 3);
	cutejit_compile_options options = CUTEJIT_COMPILE_OPTIONS_INIT;
	cutejit_run_result result;
	cutejit_module *module;
	cutejit_kernel *kernel;
	cutejit_launch *launch;
	int i;

	for (i = 0; i < N; i++) {
		x[i] = 2;
		y[i] = 1;
	}
	args[0] = cutejit_arg_float("a", 10);
	args[1] = cutejit_arg_tensor("x", &tx);
	args[2] = cutejit_arg_tensor("y", &ty);

	if (cutejit_context_create(NULL, &context) != CUTEJIT_OK)
		return CUTEJIT_LIMIT;
	need(cutejit_module_from_file(context, "saxpy.cute", &module));

	need(cutejit_run(module, "saxpy", args, 3, NULL, NULL, &result));
	check(y, 21, result.device_name);

	options.until = CUTEJIT_UNTIL_IR;	/* for the executor */
	options.arguments = args;
	options.argument_count = 3;
	need(cutejit_compile(module, "saxpy", &options, &kernel));
	need(cutejit_prepare(kernel, args, 3, &launch));
	need(cutejit_launch_run(launch, NULL));
	check(y, 41, "prepared");
	need(cutejit_launch_set(launch, 0, &three));
	need(cutejit_launch_run(launch, NULL));
	check(y, 47, "with another a");

	cutejit_launch_destroy(launch);
	cutejit_kernel_destroy(kernel);
	cutejit_module_destroy(module);
	cutejit_context_destroy(context);
	return 0;
}
