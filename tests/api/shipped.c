/*
 * Tables of winners that come with the examples, on a stand-in for the class of
 * GPUs that they are for: each line is of a class of calls of its kernel, and
 * such a call takes its values, or has them by itself where the line says so.
 */
#include "test.h"

#include <glob.h>

enum { MOST = 12, MODES = 5 };

struct tensor {
	cutejit_tensor tensor;
	int64_t extents[MODES], strides[MODES];
	char name[40];
};

struct line {
	char text[2000];
	char *kernel, *problem, *values;
};

static struct tensor tensors[MOST];
static cutejit_argument args[MOST];
static cutejit_constant consts[MOST];
static size_t tensor_count, const_count;
static unsigned lines;

static void
set_kind(cutejit_tensor *t, const char *name)
{
	static const struct kind {
		const char *name;
		uint8_t code, bits;
	} kinds[] = {
		{ "bf16", 4, 16 }, { "f16", 2, 16 }, { "f32", 2, 32 },
		{ "i32", 0, 32 }, { "i8", 0, 8 }, { "u8", 1, 8 },
		{ "i4", 0, 4 },
		{ "f8e4m3", 10, 8 }, { "f8e5m2", 12, 8 },
	};
	size_t i;

	for (i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (strcmp(kinds[i].name, name) == 0) {
			t->code = kinds[i].code;
			t->bits = kinds[i].bits;
			return;
		}
	fprintf(stderr, "what is %s?\n", name);
	exit(1);
}

/* "A=bf16(4096,8192)/1": extents are those of the class, modes behind that of
 * stride 1 are compact. */
static void
add_tensor(const char *text)
{
	struct tensor *t = &tensors[tensor_count];
	char kind[20], *at;
	int64_t size = 1;
	int unit = 0, m;

	memset(t, 0, sizeof *t);
	CHECK(tensor_count < MOST);
	CHECK(sscanf(text, "%39[^=]=%19[^(]", t->name, kind) == 2);
	set_kind(&t->tensor, kind);
	at = strchr(text, '(');
	CHECK(at != NULL);
	do
		t->extents[t->tensor.ndim++] = strtoll(at + 1, &at, 10);
	while (*at == ',');
	if (strncmp(at, ")/", 2) == 0)
		unit = atoi(at + 2);
	t->strides[unit] = 1;
	size = t->extents[unit];
	for (m = 0; m < t->tensor.ndim; m++)
		if (m != unit) {
			t->strides[m] = size;
			size *= t->extents[m];
		}
	t->tensor.data = (void *)(((uintptr_t)tensor_count + 1) << 40);
	t->tensor.device_type = CUTEJIT_DL_CUDA;
	t->tensor.lanes = 1;
	t->tensor.shape = t->extents;
	t->tensor.strides = t->strides;
	args[tensor_count++] = cutejit_arg_tensor(t->name, &t->tensor);
}

/* "nibbles=true" */
static void
add_const(char *text)
{
	char *value = strchr(text, '=');

	CHECK(value != NULL && const_count < MOST);
	*value = '\0';
	consts[const_count].name = text;
	consts[const_count++].text = value + 1;
}

static void
read_problem(char *problem)
{
	char *at = problem, *next;

	tensor_count = const_count = 0;
	for (; at != NULL && *at != '\0'; at = next) {
		next = strchr(at, ' ');
		if (next != NULL)
			*next++ = '\0';
		if (strchr(at, '(') != NULL && strchr(at, '/') != NULL)
			add_tensor(at);
		else
			add_const(at);
	}
}

/* Every value of the line is what the kernel was bound to, also where it says
 * that these are the kernel's own. */
static void
has_values(const struct line *l, const char *binding)
{
	static const char own[] = "default: ";
	size_t skipped = strncmp(l->values, own, strlen(own)) == 0
	    ? strlen(own) : 0;
	char values[300], *at, *next;

	snprintf(values, sizeof values, "%s", l->values + skipped);
	for (at = values; at != NULL; at = next) {
		next = strstr(at, "; ");
		if (next != NULL) {
			*next = '\0';
			next += 2;
		}
		if (strstr(binding, at) != NULL)
			continue;
		fprintf(stderr, "%s: %s is not in %s\n", l->kernel, at,
		    binding);
		exit(1);
	}
}

static void
check_line(cutejit_context *c, cutejit_module *m, const struct line *l)
{
	cutejit_compile_options o = CUTEJIT_COMPILE_OPTIONS_INIT;
	cutejit_kernel *k;

	read_problem(l->problem);
	o.until = CUTEJIT_UNTIL_IR;
	o.arguments = args;
	o.argument_count = tensor_count;
	o.constants = consts;
	o.constant_count = const_count;
	DO(c, cutejit_compile(m, l->kernel, &o, &k));
	has_values(l, cutejit_kernel_about(k)->binding);
	cutejit_kernel_destroy(k);
	lines++;
}

/* Fields of a line, which are pieces of its text; 0: it has others. */
static int
split(struct line *l)
{
	char *at[5];
	int i;

	at[0] = l->text;
	for (i = 1; i < 5; i++) {
		at[i] = strchr(at[i - 1], '\t');
		if (at[i] == NULL)
			return 0;
		*at[i]++ = '\0';
	}
	l->kernel = at[0];
	l->problem = at[2];
	l->values = at[3];
	return 1;
}

static void
check_table(cutejit_context *c, const char *table)
{
	char path[300];
	int is_meant = 0;
	struct line l;
	cutejit_module *m;
	FILE *f = fopen(table, "r");

	CHECK(f != NULL);
	snprintf(path, sizeof path, "%.*s.cute", (int)(strlen(table) - 5),
	    table);
	DO(c, cutejit_module_from_file(c, path, &m));
	while (fgets(l.text, sizeof l.text, f) != NULL) {
		if (l.text[0] == '#')
			continue;
		if (l.text[0] == '[') {
			is_meant = strstr(l.text, "sm_90x132") != NULL;
			continue;
		}
		CHECK(split(&l));
		if (is_meant)
			check_line(c, m, &l);
	}
	fclose(f);
	cutejit_module_destroy(m);
}

int
main(void)
{
	cutejit_options o = CUTEJIT_OPTIONS_INIT;
	cutejit_context *c;
	glob_t tables;
	size_t i;

	setenv("CUTEJIT_LIBCUDA", FAKE_CUDA, 1);
	setenv("CUTEJIT_ASSEMBLER", "driver", 1);
	o.cache = CUTEJIT_CACHE_MEMORY;
	CHECK(cutejit_context_create(&o, &c) == CUTEJIT_OK);
	CHECK(glob("examples/*/*.tune", 0, NULL, &tables) == 0);
	for (i = 0; i < tables.gl_pathc; i++)
		check_table(c, tables.gl_pathv[i]);
	globfree(&tables);
	CHECK(lines > 20);
	cutejit_context_destroy(c);
	printf("%u lines\n", lines);
	return 0;
}
