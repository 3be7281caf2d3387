/*
 * A program whose users write formulas: each becomes a kernel at run time, and
 * a formula that is wrong is shown to who wrote it, at the place.
 *
 *	cc plugin.c -o plugin $(pkg-config --cflags --libs cutejit)
 *	./plugin			or: ./plugin 'x * x + 1.0'
 *
 * The formula is the user's text, the rest of the kernel is ours. Messages are
 * structures with lines and columns, so that they can be shown in the user's
 * terms, whatever stands around the formula.
 */
#include <cutejit.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 8 };

static const char before[] =
    "kernel apply(from: tensor(f32, N:1), to: tensor(f32, N:1))\n"
    "{\n"
    "    launch grid(ceil_div(N, 256)) block(256)\n"
    "    {\n"
    "        let i = block_idx.x * 256 + thread_idx.x;\n"
    "        if i < N {\n"
    "            let x = from[i];\n"
    "            to[i] =\n";
static const char after[] =
    "\n"
    "            ;\n"
    "        }\n"
    "    }\n"
    "}\n";
enum { LINES_BEFORE = 8 };

/* What the user wrote, with a caret below the place of each message. */
static void
show(const char *formula, const cutejit_report *report)
{
	const cutejit_diagnostic *d;
	size_t i;

	for (i = 0; (d = cutejit_report_at(report, i)) != NULL; i++) {
		printf("    %s\n", formula);
		if (d->place.line == LINES_BEFORE + 1)
			printf("    %*s^ ", (int)d->place.column - 1, "");
		printf("%s\n", d->text);
		if (d->help != NULL)
			printf("    %s\n", d->help);
	}
}

/* A module for a formula, or NULL when its user has been told. */
static cutejit_module *
compile(cutejit_context *context, const char *formula)
{
	size_t length = strlen(before) + strlen(formula) + strlen(after);
	char *text = malloc(length + 1);
	cutejit_compile_options o = CUTEJIT_COMPILE_OPTIONS_INIT;
	cutejit_module *module;
	cutejit_kernel *kernel;
	cutejit_status status;

	if (text == NULL)
		return NULL;
	sprintf(text, "%s%s%s", before, formula, after);
	status = cutejit_module_from_memory(context, "formula", text, length,
	    &module);
	free(text);
	o.until = CUTEJIT_UNTIL_IR;		/* all checks */
	if (status == CUTEJIT_OK)
		status = cutejit_compile(module, "apply", &o, &kernel);
	if (status == CUTEJIT_OK) {
		cutejit_kernel_destroy(kernel);
		return module;
	}
	show(formula, cutejit_context_report(context));
	cutejit_module_destroy(module);
	return NULL;
}

static int
apply(cutejit_context *context, const char *formula)
{
	float x[N], y[N];
	int64_t extent = N;
	cutejit_tensor t[2] = { { 0 }, { 0 } };
	cutejit_argument args[2];
	cutejit_module *module = compile(context, formula);
	int i;

	if (module == NULL)
		return CUTEJIT_ERROR;
	for (i = 0; i < N; i++)
		x[i] = (float)i / 2;
	for (i = 0; i < 2; i++) {
		t[i].data = i == 0 ? x : y;
		t[i].device_type = CUTEJIT_DL_CPU;
		t[i].ndim = 1;
		t[i].shape = &extent;
		cutejit_type_set(&t[i], "f32");
	}
	args[0] = cutejit_arg_tensor("from", &t[0]);
	args[1] = cutejit_arg_tensor("to", &t[1]);
	if (cutejit_run(module, "apply", args, 2, NULL, NULL, NULL)
	    != CUTEJIT_OK) {
		show(formula, cutejit_context_report(context));
		cutejit_module_destroy(module);
		return CUTEJIT_ERROR;
	}
	printf("%s:", formula);
	for (i = 0; i < N; i++)
		printf(" %g", y[i]);
	printf("\n");
	cutejit_module_destroy(module);
	return 0;
}

int
main(int argc, char **argv)
{
	cutejit_context *context;
	int status = 0;

	if (cutejit_context_create(NULL, &context) != CUTEJIT_OK)
		return CUTEJIT_LIMIT;
	if (argc > 1) {
		status = apply(context, argv[1]);
	} else {
		/* two that are right, two that are not */
		status |= apply(context, "x * x + 1.0");
		status |= apply(context, "max(x, 2.0) - min(x, 1.0)");
		status |= !apply(context, "x * * 2.0");
		status |= !apply(context, "x + sinus(x)");
	}
	cutejit_context_destroy(context);
	return status;
}
