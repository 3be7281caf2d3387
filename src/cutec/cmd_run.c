/*
 * cutec run: run a kernel once on arrays, made by constructors of the language
 * or read from .npy files.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cutec.h"

enum { ARG_MAX_COUNT = 64, MEMBERS_MAX = 256 };

/* A run-time argument: tensors that we hold, or a text. */
struct value {
	const char *name, *type;
	bool is_tensor, is_array;
	cutejit_array *made[MEMBERS_MAX];	/* by a constructor, or */
	cutejit_tensor read[MEMBERS_MAX];	/* from a file */
	const cutejit_tensor *tensors[MEMBERS_MAX];
	size_t count;
	const char *text;
	char *scalar;			/* its value, where it is one */
};

struct output {
	const char *name, *path;	/* path NULL: print */
};

struct run {
	struct common c;
	const char *file, *kernel;
	cutejit_context *context;
	cutejit_module *module;
	const cutejit_member *member;	/* the family's first */
	struct value *values[ARG_MAX_COUNT];
	size_t value_count;
	struct output outputs[ARG_MAX_COUNT];
	size_t output_count;
	const char *profile_path;	/* NULL: named after the kernel */
	bool profile_failed;
};

/* ---- finding things ----------------------------------------------------- */

static const cutejit_member *
find_named(const struct run *r)
{
	const cutejit_member *m;
	size_t i;

	for (i = 0; (m = any_member(r->module, i)) != NULL; i++)
		if (strcmp(m->kernel, r->kernel) == 0)
			return m;
	common_no_kernel(&r->c, r->context, r->module, r->kernel);
	return NULL;
}

/* The only family of the file. */
static const cutejit_member *
find_family(const struct run *r)
{
	const cutejit_member *m, *only = cutejit_module_member(r->module, 0);
	size_t i;

	if (r->kernel != NULL)
		return find_named(r);
	for (i = 1; (m = cutejit_module_member(r->module, i)) != NULL; i++)
		if (strcmp(only->kernel, m->kernel) != 0) {
			complain("%s has several kernels, \"%s\" and \"%s\": "
			    "choose with -k", r->file, only->kernel,
			    m->kernel);
			return NULL;
		}
	if (only != NULL)
		return only;
	m = cutejit_module_imported(r->module, 0);
	if (m == NULL)
		complain("%s has no kernel", r->file);
	else
		complain("%s has no kernel of its own: choose an imported "
		    "one with -k, as \"%s\"", r->file, m->kernel);
	return NULL;
}

/* The parameter in any member of the family. */
static const cutejit_parameter *
find_parameter(const struct run *r, const char *name, size_t length)
{
	const cutejit_member *m;
	size_t i, k;

	for (i = 0; (m = any_member(r->module, i)) != NULL; i++) {
		if (strcmp(m->kernel, r->member->kernel) != 0)
			continue;
		for (k = 0; k < m->parameter_count; k++)
			if (strlen(m->parameters[k].name) == length &&
			    memcmp(m->parameters[k].name, name, length) == 0)
				return &m->parameters[k];
	}
	return NULL;
}

static struct value *
find_value(const struct run *r, const char *name)
{
	size_t i;

	for (i = 0; i < r->value_count; i++)
		if (strcmp(r->values[i]->name, name) == 0)
			return r->values[i];
	return NULL;
}

/* ---- arguments ---------------------------------------------------------- */

/* In front of what is wrong with the value. */
static void
complain_of(const struct value *v)
{
	complain("argument \"%s: %s\" has no value", v->name, v->type);
}

/* What a tensor is, where a value is none. */
static void
show_forms(const struct value *v)
{
	fprintf(stderr, "A tensor is made, as in %s='empty(f32, (16, 32))', "
	    "read, %s=@FILE.npy,\nor left out, %s=none, where there is a "
	    "default.\n", v->name, v->name, v->name);
}

/* @file.npy, or TYPE@file.npy for what numpy has no name for. */
static int
add_file(struct value *v, const char *text, const char *at)
{
	char type[16];
	cutejit_tensor *t = &v->read[v->count];
	int code;

	snprintf(type, sizeof type, "%.*s", (int)(at - text), text);
	code = npy_read(at + 1, type, t);
	if (code != 0) {
		complain_of(v);
		return code;
	}
	v->tensors[v->count++] = t;
	return 0;
}

static int
add_tensor(struct run *r, struct value *v, const char *text)
{
	const char *at = strchr(text, '@'), *paren = strchr(text, '(');
	cutejit_status status;

	if (v->count == MEMBERS_MAX)
		return usage_error("run", "%s: more than %d tensors", v->name,
		    MEMBERS_MAX);
	if (at != NULL && (paren == NULL || at < paren))
		return add_file(v, text, at);
	status = cutejit_array_create(r->context, r->module, text,
	    &v->made[v->count]);
	if (status != CUTEJIT_OK) {
		complain_of(v);
		common_status(&r->c, r->context, status);
		if (status == CUTEJIT_ERROR)
			show_forms(v);
		return (int)status;
	}
	v->tensors[v->count] = cutejit_array_tensor(v->made[v->count]);
	v->count++;
	return 0;
}

/* (a, b, c): the pieces between commas outside inner parentheses. */
static int
add_tensors(struct run *r, struct value *v, const char *text)
{
	size_t n = strlen(text);
	char *copy, *p, *piece;
	int depth = 0, code = 0;

	if (n < 2 || text[0] != '(' || text[n - 1] != ')')
		return usage_error("run", "%s takes several tensors: "
		    "%s='(a, b)'", v->name, v->name);
	copy = strndup(text + 1, n - 2);
	if (copy == NULL)
		return no_memory();
	for (p = piece = copy; code == 0; p++) {
		depth += *p == '(' ? 1 : *p == ')' ? -1 : 0;
		if (*p != '\0' && (*p != ',' || depth != 0))
			continue;
		if (*p == '\0') {
			if (*piece != '\0')
				code = add_tensor(r, v, piece);
			break;
		}
		*p = '\0';
		code = add_tensor(r, v, piece);
		for (piece = p + 1; *piece == ' '; piece++)
			;
	}
	free(copy);
	return code;
}

static int
add_constant(struct run *r, const char *name, const char *text)
{
	if (r->c.constant_count == LIST_MAX)
		return usage_error("run", "too many constants");
	r->c.constants[r->c.constant_count].name = name;
	r->c.constants[r->c.constant_count++].text = text;
	return 0;
}

static int
unknown_parameter(const struct run *r, const char *text, size_t length)
{
	size_t i;

	complain("kernel \"%s\" has no parameter \"%.*s\"; it has:",
	    r->member->kernel, (int)length, text);
	for (i = 0; i < r->member->parameter_count; i++)
		fprintf(stderr, "    %s: %s\n", r->member->parameters[i].name,
		    r->member->parameters[i].type);
	return CUTEJIT_USAGE;
}

/* A scalar is an expression; "none" leaves it out. */
static int
add_scalar(struct run *r, struct value *v, const char *text)
{
	const char *value;
	cutejit_status status;

	v->text = text;
	if (strcmp(text, "none") == 0)
		return 0;
	status = cutejit_evaluate(r->context, r->module, text, &value);
	if (status != CUTEJIT_OK) {
		complain_of(v);
		return common_status(&r->c, r->context, status);
	}
	v->scalar = strdup(value);
	if (v->scalar == NULL)
		return no_memory();
	v->text = v->scalar;
	return 0;
}

static int
add_argument(struct run *r, const char *argument)
{
	const char *equals = strchr(argument, '=');
	const cutejit_parameter *p;
	struct value *v;
	size_t length;

	if (equals == NULL || equals == argument)
		return usage_error("run", "an argument is NAME=VALUE, not "
		    "\"%s\"", argument);
	length = (size_t)(equals - argument);
	p = find_parameter(r, argument, length);
	if (p == NULL)
		return unknown_parameter(r, argument, length);
	if (find_value(r, p->name) != NULL)
		return usage_error("run", "\"%s\" is given twice", p->name);
	if (p->kind == CUTEJIT_PARAMETER_CONST)
		return add_constant(r, p->name, equals + 1);
	if (r->value_count == ARG_MAX_COUNT)
		return usage_error("run", "too many arguments");
	v = calloc(1, sizeof *v);
	if (v == NULL)
		return no_memory();
	r->values[r->value_count++] = v;
	v->name = p->name;
	v->type = p->type;
	if (p->kind == CUTEJIT_PARAMETER_SCALAR)
		return add_scalar(r, v, equals + 1);
	v->text = equals + 1;
	v->is_tensor = strcmp(v->text, "none") != 0;
	v->is_array = p->is_array;
	if (!v->is_tensor)
		return 0;
	return p->is_array ? add_tensors(r, v, v->text) :
	    add_tensor(r, v, v->text);
}

static cutejit_argument
argument_of(const struct value *v)
{
	if (v->is_tensor && v->is_array)
		return cutejit_arg_tensors(v->name, v->tensors, v->count);
	if (v->is_tensor)
		return cutejit_arg_tensor(v->name, v->tensors[0]);
	if (strcmp(v->text, "none") == 0)
		return cutejit_arg_none(v->name);
	return cutejit_arg_text(v->name, v->text);
}

/* ---- outputs ------------------------------------------------------------ */

enum { SHOWN_PER_MODE = 8 };

/* Rows of the last mode on a line each; long modes are cut with "...". */
static void
print_mode(const cutejit_tensor *t, int64_t *index, int32_t mode)
{
	int64_t n = t->shape[mode], shown = n < SHOWN_PER_MODE + 2 ? n :
	    SHOWN_PER_MODE, i;
	bool last = mode == t->ndim - 1;
	char text[64];

	printf("%*s[", mode * 2, "");
	if (!last)
		putchar('\n');
	for (i = 0; i < shown; i++) {
		index[mode] = i;
		if (last) {
			cutejit_element_text(t, index, text, sizeof text);
			printf("%s%s", i == 0 ? "" : ", ", text);
		} else {
			print_mode(t, index, mode + 1);
		}
	}
	if (shown < n)
		printf(last ? ", ... %lld more" : "  ... %lld more\n",
		    (long long)(n - shown));
	printf(last ? "]\n" : "%*s]\n", last ? 0 : mode * 2, "");
}

static void
print_tensor(const char *name, const cutejit_tensor *t)
{
	int64_t index[32] = { 0 };
	char text[64];
	int32_t i;

	printf("%s: %s (", name, cutejit_type_of(t));
	for (i = 0; i < t->ndim; i++)
		printf(i == 0 ? "%lld" : ", %lld", (long long)t->shape[i]);
	printf(")\n");
	if (t->ndim == 0) {
		cutejit_element_text(t, index, text, sizeof text);
		puts(text);
	} else if (t->ndim <= 32) {
		print_mode(t, index, 0);
	}
}

static int
write_outputs(const struct run *r)
{
	size_t i;

	for (i = 0; i < r->output_count; i++) {
		const struct output *o = &r->outputs[i];
		const struct value *v = find_value(r, o->name);

		if (o->path == NULL)
			print_tensor(o->name, v->tensors[0]);
		else if (!npy_write(o->path, v->tensors[0]))
			return CUTEJIT_MISSING;
	}
	return 0;
}

static int
check_outputs(const struct run *r)
{
	size_t i;

	for (i = 0; i < r->output_count; i++) {
		const char *name = r->outputs[i].name;
		const struct value *v = find_value(r, name);

		if (v == NULL && find_parameter(r, name, strlen(name)) != NULL)
			return usage_error("run", "\"%s\" is to be written, "
			    "but not given: '%s=empty(f32, (16, 32))' makes "
			    "one", name, name);
		if (v == NULL)
			return unknown_parameter(r, name, strlen(name));
		if (!v->is_tensor)
			return usage_error("run", "\"%s\" is no tensor "
			    "argument", name);
	}
	return 0;
}

/* ---- what it cost ------------------------------------------------------- */

/* html, json or trace, then perhaps =FILE. */
static int
take_report(struct run *r, const char *value)
{
	size_t n = strcspn(value, "=");

	if (r->c.run.profile != CUTEJIT_PROFILE_NONE)
		return usage_error("run", "--report makes one file; run again "
		    "for \"%s\"", value);
	r->c.run.profile = *value == 'j' ? CUTEJIT_PROFILE_JSON :
	    *value == 'h' ? CUTEJIT_PROFILE_HTML : CUTEJIT_PROFILE_TRACE;
	if (value[n] == '=' && value[n + 1] == '\0')
		return usage_error("run", "--report=%.*s= names no file",
		    (int)n, value);
	r->profile_path = value[n] == '=' ? value + n + 1 : NULL;
	return 0;
}

/* BLOCK or BLOCK,WARP: numbers. */
static int
take_trace(struct run *r, char *value)
{
	char *comma = strchr(value, ',');
	uint64_t block, warp = UINT32_MAX;
	bool good;

	if (comma != NULL)
		*comma = '\0';
	good = parse_unsigned(value, &block) &&
	    (comma == NULL || (parse_unsigned(comma + 1, &warp) &&
	    warp < 32));
	if (comma != NULL)
		*comma = ',';
	if (!good)
		return usage_error("run", "--trace needs BLOCK or BLOCK,WARP, "
		    "warps are 0 to 31, not \"%s\"", value);
	r->c.run.trace = 1;
	r->c.run.trace_block = block;
	r->c.run.trace_warp = (uint32_t)warp;
	return 0;
}

static int
take_stop(struct run *r, const char *value)
{
	uint64_t line;

	if (!parse_unsigned(value, &line) || line < 1 || line > UINT32_MAX)
		return usage_error("run", "--stop-at needs the number of a "
		    "line, not \"%s\"", value);
	r->c.run.stop_line = (unsigned)line;
	return 0;
}

static void
write_profile(void *user, const char *text)
{
	struct run *r = user;
	const char *end = r->c.run.profile == CUTEJIT_PROFILE_HTML ? ".html" :
	    r->c.run.profile == CUTEJIT_PROFILE_TRACE ? ".trace.json" :
	    ".json";
	size_t n = strlen(r->member->kernel);
	char *name = malloc(n + strlen(end) + 1);

	if (name == NULL) {
		no_memory();
		r->profile_failed = true;
		return;
	}
	sprintf(name, "%s%s", r->member->kernel, end);
	if (!write_file(r->profile_path != NULL ? r->profile_path : name,
	    text, strlen(text)))
		r->profile_failed = true;
	free(name);
}

/* ---- the run ------------------------------------------------------------ */

static int
launch(struct run *r)
{
	cutejit_compile_options o = CUTEJIT_COMPILE_OPTIONS_INIT;
	cutejit_argument arguments[ARG_MAX_COUNT];
	cutejit_run_result result;
	size_t i;
	int code;

	for (i = 0; i < r->value_count; i++)
		arguments[i] = argument_of(r->values[i]);
	r->c.run.take_profile = write_profile;
	r->c.run.user = r;
	o.constants = r->c.constants;
	o.constant_count = r->c.constant_count;
	o.level = r->c.level;
	o.checked = r->c.checked;
	o.lineinfo = r->c.lineinfo;
	code = common_status(&r->c, r->context, cutejit_run(r->module,
	    r->member->kernel, arguments, r->value_count, &o, &r->c.run,
	    &result));
	if (code != 0)
		return code;
	printf("%s[%u] on %s: %.3f ms\n", r->member->kernel, result.member,
	    result.device_name, result.ms);
	code = write_outputs(r);
	return code == 0 && r->profile_failed ? CUTEJIT_MISSING : code;
}

static int
run_file(struct run *r, int argc, char **argv)
{
	int i, code;

	r->module = common_module(&r->c, r->context, r->file, &code);
	if (r->module == NULL)
		return code;
	r->member = find_family(r);
	if (r->member == NULL)
		return CUTEJIT_ERROR;
	for (i = 0; i < argc; i++) {
		code = add_argument(r, argv[i]);
		if (code != 0)
			return code;
	}
	code = check_outputs(r);
	return code != 0 ? code : launch(r);
}

static void
release(struct run *r)
{
	size_t i, k;

	for (i = 0; i < r->value_count; i++) {
		for (k = 0; k < r->values[i]->count; k++) {
			cutejit_array_destroy(r->values[i]->made[k]);
			npy_free(&r->values[i]->read[k]);
		}
		free(r->values[i]->scalar);
		free(r->values[i]);
	}
	cutejit_module_destroy(r->module);
	cutejit_context_destroy(r->context);
}

/* --out NAME=@FILE or --print NAME */
static int
take_output(struct run *r, int o, char *value)
{
	struct output *out = &r->outputs[r->output_count];
	char *equals = strchr(value, '=');

	if (r->output_count == ARG_MAX_COUNT)
		return usage_error("run", "too many outputs");
	if (o == OPT_OUT) {
		if (equals == NULL || equals[1] == '\0')
			return usage_error("run",
			    "--out needs NAME=@FILE.npy, not \"%s\"", value);
		*equals = '\0';
		out->path = equals[1] == '@' ? equals + 2 : equals + 1;
	}
	out->name = value;
	r->output_count++;
	return 0;
}

int
cmd_run(int argc, char **argv)
{
	struct run r = { 0 };
	int o, code;

	common_init(&r.c, "run");
	while ((o = option_next("run", argc, argv)) != -1) {
		if (o == 'k') {
			r.kernel = optarg;
			continue;
		}
		code = o == OPT_OUT || o == OPT_PRINT ?
		    take_output(&r, o, optarg) :
		    o == OPT_REPORT ? take_report(&r, optarg) :
		    o == OPT_TRACE ? take_trace(&r, optarg) :
		    o == OPT_STOP_AT ? take_stop(&r, optarg) :
		    common_take(&r.c, o, optarg);
		if (code != 0)
			return code < 0 ? 0 : code;
	}
	if (optind == argc)
		return usage_error("run", "a file is needed");
	r.file = argv[optind++];
	r.context = common_context(&r.c, &code);
	if (r.context != NULL)
		code = run_file(&r, argc - optind, argv + optind);
	release(&r);
	return code;
}
