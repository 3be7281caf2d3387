/*
 * cutec fmt: lay out programs anew.
 *
 * A file is replaced by renaming a finished one, only if that changes it, and
 * never if its text is wrong. Links are followed, permissions are kept.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cutec.h"
#include "parser/parser.h"

struct fmt {
	bool checks;			/* --check: nothing is written */
	enum report_form form;
};

/* One text, and what the parser needs for it. */
struct laying {
	struct cj_recover recover;
	struct cj_arena arena;
	struct cj_names names;
	struct cj_sources sources;
	struct cj_diags diags;
	const char *name, *text;
	size_t length;
	char *result;			/* malloc; NULL: the text is wrong */
	size_t result_length;
};

static void
lay_out(struct laying *l)
{
	struct cj_tree *tree;
	struct cj_strbuf b;
	uint32_t source;

	cj_names_init(&l->names, &l->arena);
	cj_sources_init(&l->sources, &l->arena);
	cj_diags_init(&l->diags, &l->arena, &l->sources);
	source = cj_source_add(&l->sources, l->name, l->text, l->length);
	if (source == 0)
		return;
	tree = cj_parse(&l->arena, &l->names, &l->sources, source, &l->diags);
	if (tree->is_broken)
		return;
	cj_strbuf_init(&b, &l->arena);
	cj_format(&b, &l->names, &l->sources, tree);
	l->result = malloc(b.len + 1);
	if (l->result == NULL)
		cj_leave(&l->recover, CJ_WHY_MEMORY,
		    "there is no memory for the result");
	memcpy(l->result, b.text, b.len + 1);
	l->result_length = b.len;
}

/* What is wrong with a text, in the form asked for. */
static int
report_wrong(const struct fmt *f, const char *name, const char *text,
    size_t length)
{
	struct common c;
	cutejit_context *context;
	const char *tree;
	int code;

	common_init(&c, "fmt");
	c.form = f->form;
	context = common_context(&c, &code);
	if (context == NULL)
		return code;
	code = common_status(&c, context, cutejit_emit_text(context, name,
	    text, length, "ast", &tree));
	cutejit_context_destroy(context);
	return code != 0 ? code : CUTEJIT_ERROR;
}

/* Exit code: 0 whatever the text is like. */
static int
try_lay_out(struct laying *l)
{
	if (CJ_RECOVER(&l->recover)) {
		complain("%s: %s", l->name, l->recover.text);
		free(l->result);
		l->result = NULL;
		return l->recover.why == CJ_WHY_BUG ? CUTEJIT_INTERNAL :
		    CUTEJIT_LIMIT;
	}
	lay_out(l);
	return 0;
}

/* The text laid out anew, to be freed; NULL: the exit code is in *code. */
static char *
laid_out(const struct fmt *f, const char *name, const char *text,
    size_t length, size_t *result_length, int *code)
{
	struct laying l = { .name = name, .text = text, .length = length };

	cj_arena_init(&l.arena, &l.recover, NULL);
	*code = try_lay_out(&l);
	if (l.names.arena != NULL)
		cj_names_fini(&l.names);
	cj_arena_fini(&l.arena);
	if (*code == 0 && l.result == NULL)
		*code = report_wrong(f, name, text, length);
	*result_length = l.result_length;
	return l.result;
}

/* ---- files --------------------------------------------------------------- */

static int
give(const struct fmt *f, const char *path, bool is_changed,
    const char *bytes, size_t length)
{
	bool is_stdin = strcmp(path, "-") == 0;

	if (f->checks) {
		if (is_changed)
			puts(is_stdin ? "<stdin>" : path);
		return is_changed ? CUTEJIT_ERROR : 0;
	}
	if (is_stdin || is_changed)
		return write_text(path, bytes, length) ? 0 : CUTEJIT_MISSING;
	return 0;
}

static int
format_file(const struct fmt *f, const char *path)
{
	const char *name = strcmp(path, "-") == 0 ? "<stdin>" : path;
	size_t length, result_length = 0;
	char *text = read_file(path, &length), *result;
	int code;

	if (text == NULL)
		return CUTEJIT_MISSING;
	if (length > CJ_SOURCE_MAX) {
		complain("%s: a text may have %u bytes, not %zu", name,
		    CJ_SOURCE_MAX, length);
		free(text);
		return CUTEJIT_ERROR;
	}
	result = laid_out(f, name, text, length, &result_length, &code);
	if (result != NULL)
		code = give(f, path, result_length != length ||
		    memcmp(text, result, length) != 0, result,
		    result_length);
	free(result);
	free(text);
	return code;
}

/* -------------------------------------------------------------------------- */

static int
take(struct fmt *f, int o, const char *value)
{
	switch (o) {
	case OPT_CHECK:
		f->checks = true;
		return 0;
	case OPT_DIAGNOSTICS:
		f->form = report_form_of(value);
		return 0;
	case 'h':
		show_help("fmt");
		return -1;
	default:
		return CUTEJIT_USAGE;		/* complained of */
	}
}

int
cmd_fmt(int argc, char **argv)
{
	struct fmt f = { .form = REPORT_TEXT };
	int o, code, worst = 0;

	while ((o = option_next("fmt", argc, argv)) != -1) {
		code = take(&f, o, optarg);
		if (code != 0)
			return code < 0 ? 0 : code;
	}
	if (optind == argc)
		return usage_error("fmt", "a file is needed");
	for (; optind < argc; optind++) {
		code = format_file(&f, argv[optind]);
		if (code > worst)
			worst = code;
	}
	return worst;
}
