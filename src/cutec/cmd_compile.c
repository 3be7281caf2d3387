/*
 * cutec compile: kernels to PTX, cubin or any stage before.
 *
 * Outputs of the jobs are written in order, when all have run.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compile.h"

/* ---- reading the command line ------------------------------------------- */

static int
no_kind(const char *item)
{
	char known[120];
	size_t i, n = 0;

	for (i = 0; compile_kinds[i].kind != NULL && n < sizeof known; i++)
		n += (size_t)snprintf(known + n, sizeof known - n, "%s %s",
		    i == 0 ? "" : ",", compile_kinds[i].kind);
	return usage_error("compile", "there is nothing called \"%s\" to emit; "
	    "there are%s", item, known);
}

static int
add_emit(struct compile *p, char *item)
{
	char *equals = strchr(item, '=');
	struct emit *e = &p->emit[p->emit_count];

	if (equals != NULL)
		*equals = '\0';
	if (compile_find_kind(item) < 0)
		return no_kind(item);
	if (p->emit_count == EMIT_MAX)
		return usage_error("compile", "too many kinds to emit");
	e->kind = item;
	e->path = equals != NULL ? equals + 1 : NULL;
	e->row = compile_find_kind(item);
	p->emit_count++;
	return 0;
}

/* A list with commas between, cut in place. */
static int
split(char *value, struct compile *p,
    int (*add)(struct compile *p, char *item))
{
	char *item, *rest;
	int bad = 0;

	if (*value == '\0')
		return usage_error("compile", "a list has no items");
	for (item = strtok_r(value, ",", &rest); item != NULL && bad == 0;
	    item = strtok_r(NULL, ",", &rest))
		bad = add(p, item);
	return bad;
}

static int
add_arch(struct compile *p, char *item)
{
	const cutejit_target *t;
	char known[400];
	size_t i, n;

	for (i = 0; (t = cutejit_target_at(i)) != NULL; i++)
		if (strcmp(t->name, item) == 0)
			return list_add(&p->arches, item) ? 0 :
			    usage_error("compile", "too many targets");
	n = (size_t)snprintf(known, sizeof known, "there are");
	for (i = 0; (t = cutejit_target_at(i)) != NULL && n < sizeof known; i++)
		n += (size_t)snprintf(known + n, sizeof known - n, "%s %s",
		    i == 0 ? "" : ",", t->name);
	return usage_error("compile", "there is no target \"%s\"; %s", item,
	    known);
}

static int
take(struct compile *p, int o, char *value)
{
	switch (o) {
	case 'o':
		p->out = value;
		return 0;
	case 'k':
		return list_add(&p->kernels, value) ? 0 :
		    usage_error("compile", "too many -k");
	case 'M':
		p->wants_deps = true;
		p->next_is_deps = *value == 'F';
		return 0;
	case OPT_EMIT:
		return split(value, p, add_emit);
	case OPT_ARCH:
		return split(value, p, add_arch);
	case OPT_TIME:
		p->wants_time = true;
		return 0;
	case OPT_REPORT:
		p->wants_report = true;
		return 0;
	default:
		return common_take(&p->c, o, value);
	}
}

static int
read_options(struct compile *p, int argc, char **argv)
{
	int o, bad;

	while ((o = option_next("compile", argc, argv)) != -1) {
		bad = take(p, o, optarg);
		if (bad != 0)
			return bad;
		if (p->next_is_deps) {
			if (optind == argc)
				return usage_error("compile",
				    "-MF needs a file");
			p->deps = argv[optind++];
			p->next_is_deps = false;
		}
	}
	if (argc - optind != 1)
		return usage_error("compile", argc == optind ?
		    "a file is needed" : "one file at a time");
	p->file = argv[optind];
	return 0;
}

/* Without --emit: what the ending of -o says, else PTX. */
static int
default_emit(struct compile *p)
{
	const char *dot = p->out != NULL ? strrchr(p->out, '.') : NULL;
	const char *kind = "ptx";
	int i;

	for (i = 0; dot != NULL && compile_kinds[i].kind != NULL; i++)
		if (strcmp(dot, compile_kinds[i].ending) == 0)
			kind = compile_kinds[i].kind;
	snprintf(p->default_kind, sizeof p->default_kind, "%s", kind);
	return add_emit(p, p->default_kind);
}

static int
compile_kernels(struct compile *p)
{
	int code, worst;

	code = compile_collect_jobs(p, p->module);
	if (code != 0)
		return code;
	compile_run_jobs(p);
	worst = compile_drop_unmade(p);
	code = compile_write_outputs(p);
	return worst != 0 ? worst : code;
}

static int
compile_file(struct compile *p)
{
	bool wants_kernels = p->wants_report || p->wants_time;
	int code, worst = 0;
	size_t i;

	for (i = 0; i < p->emit_count; i++) {
		const struct emit *e = &p->emit[i];

		if (!compile_kinds[e->row].of_text) {
			wants_kernels = true;
		} else if (strcmp(e->kind, "deps") == 0) {
			p->wants_deps = true;
			p->deps = e->path != NULL ? e->path : p->deps;
		} else {
			code = compile_write_text(p, e);
			if (code != 0)
				worst = code;
		}
	}
	if (worst != 0 || (!wants_kernels && !p->wants_deps))
		return worst;
	p->module = common_module(&p->c, p->context, p->file, &code);
	if (p->module == NULL)
		return code;
	if (p->wants_deps)
		worst = compile_write_deps(p, p->deps);
	if (wants_kernels) {
		code = compile_kernels(p);
		worst = code != 0 ? code : worst;
	}
	cutejit_module_destroy(p->module);
	return worst;
}

int
cmd_compile(int argc, char **argv)
{
	struct compile *p = calloc(1, sizeof *p);
	int code;

	if (p == NULL)
		return no_memory();
	common_init(&p->c, "compile");
	code = read_options(p, argc, argv);
	if (code == 0)
		compile_set_stem(p);
	if (code == 0 && p->emit_count == 0)
		code = default_emit(p);
	if (code == 0) {
		p->context = common_context(&p->c, &code);
		if (p->context != NULL)
			code = compile_file(p);
		cutejit_context_destroy(p->context);
	}
	free(p);
	return code < 0 ? 0 : code;
}
