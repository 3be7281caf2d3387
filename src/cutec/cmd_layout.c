/*
 * cutec layout: the calculator of the layout algebra, its pictures, and the
 * checker of files of cases.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cutec.h"
#include "layout/layout.h"

static int
check(const struct common *c, cutejit_context *context, const char *path)
{
	uint64_t passed = 0, failed = 0;
	const char *differences = "";
	size_t length;
	char *text = read_file(path, &length);
	int code;

	if (text == NULL)
		return CUTEJIT_MISSING;
	code = (int)cutejit_layout_check(context, path, text, length,
	    &differences, &passed, &failed);
	free(text);
	if (differences != NULL)
		fputs(differences, stdout);
	if (code != 0)
		return common_status(c, context, (cutejit_status)code);
	printf("%llu passed, %llu failed\n", (unsigned long long)passed,
	    (unsigned long long)failed);
	return failed == 0 ? 0 : CUTEJIT_ERROR;
}

/* ---- expressions --------------------------------------------------------- */

enum { PICTURES_MAX = 16 };

struct sheet {
	const char *form_name;	/* of --draw; NULL: print values and facts */
	enum cj_draw_form form;
	struct cj_algebra *al;
	const struct cj_layout *layouts[PICTURES_MAX];
	uint32_t count;
};

static bool
form_find(const char *name, enum cj_draw_form *out)
{
	static const char *const names[] = {
		[CJ_DRAW_TEXT] = "text", [CJ_DRAW_SVG] = "svg",
		[CJ_DRAW_LATEX] = "latex", [CJ_DRAW_HTML] = "html"
	};
	size_t i;

	for (i = 0; i < sizeof names / sizeof names[0]; i++) {
		if (strcmp(names[i], name) == 0) {
			*out = (enum cj_draw_form)i;
			return true;
		}
	}
	return false;
}

static void
print_facts(struct sheet *sheet, const struct cj_layout *l)
{
	struct cj_strbuf b;

	cj_strbuf_init(&b, sheet->al->arena);
	cj_layout_facts(&b, sheet->al, l);
	fputs(b.text, stdout);
}

/* Evaluate, and print; or keep the value for the picture. */
static int
evaluate(const struct common *c, cutejit_context *context,
    struct sheet *sheet, const char *text)
{
	const char *value = NULL;
	int code = common_status(c, context, cutejit_evaluate(context, NULL,
	    text, &value));
	const struct cj_layout *l;

	if (code != 0)
		return code;
	l = cj_layout_read(sheet->al, value, strlen(value));
	if (sheet->form_name == NULL) {
		puts(value);
		if (l != NULL)
			print_facts(sheet, l);
		return 0;
	}
	if (l == NULL)
		return usage_error("layout", "%s is not a layout of known "
		    "integers: it cannot be drawn", value);
	sheet->layouts[sheet->count++] = l;
	return 0;
}

static int
draw(struct sheet *sheet)
{
	struct cj_strbuf b;

	cj_strbuf_init(&b, sheet->al->arena);
	if (!cj_layout_draw_all(&b, sheet->al, sheet->layouts, sheet->count,
	    sheet->form)) {
		complain("%s", sheet->al->why.text);
		return CUTEJIT_ERROR;
	}
	fputs(b.text, stdout);
	return 0;
}

static int
calculate(const struct common *c, cutejit_context *context,
    struct sheet *sheet, char *const *texts, int count)
{
	int i, code = 0;

	for (i = 0; i < count && code == 0; i++)
		code = evaluate(c, context, sheet, texts[i]);
	return code != 0 || sheet->form_name == NULL ? code : draw(sheet);
}

/* calculate(), with an arena of its own for the layouts. */
static int
with_algebra(const struct common *c, cutejit_context *context,
    struct sheet *sheet, char *const *texts, int count)
{
	struct cj_recover point = { 0 };
	struct cj_arena arena;
	struct cj_names names;
	struct cj_symtab sym;
	struct cj_algebra al;
	int code;

	cj_arena_init(&arena, &point, NULL);
	cj_names_init(&names, &arena);
	if (CJ_RECOVER(&point)) {
		complain("%s", point.text);
		code = CUTEJIT_ERROR;
	} else {
		cj_symtab_init(&sym, &arena, &names);
		cj_algebra_init(&al, &arena, &sym);
		sheet->al = &al;
		code = calculate(c, context, sheet, texts, count);
	}
	cj_names_fini(&names);
	cj_arena_fini(&arena);
	return code;
}

/* What is wrong with the operands; NULL: nothing. */
static const char *
misuse(const char *file, const struct sheet *sheet, int operands)
{
	if (file != NULL && (operands > 0 || sheet->form_name != NULL))
		return "--check takes one FILE and no expression";
	if (file == NULL && operands == 0)
		return "an expression or --check FILE is needed";
	if (operands > PICTURES_MAX)
		return "too many expressions";
	return NULL;
}

static int
run(const struct common *c, struct sheet *sheet, const char *file,
    char *const *texts, int count)
{
	cutejit_context *context;
	int code;

	context = common_context(c, &code);
	if (context == NULL)
		return code;
	code = file != NULL ? check(c, context, file) :
	    with_algebra(c, context, sheet, texts, count);
	cutejit_context_destroy(context);
	return code;
}

int
cmd_layout(int argc, char **argv)
{
	static const struct option options[] = {
		COMMON_LONG,
		{ "check", required_argument, NULL, OPT_CHECK },
		{ "draw", required_argument, NULL, OPT_DRAW },
		{ NULL, 0, NULL, 0 }
	};
	struct sheet sheet = { 0 };
	const char *file = NULL, *wrong;
	struct common c;
	int o, code;

	common_init(&c, "layout");
	while ((o = getopt_long(argc, argv, COMMON_SHORT, options, NULL)) !=
	    -1) {
		if (o == OPT_CHECK) {
			file = optarg;
			continue;
		}
		if (o == OPT_DRAW && !form_find(optarg, &sheet.form))
			return usage_error("layout", "--draw is text, svg, "
			    "latex or html");
		if (o == OPT_DRAW) {
			sheet.form_name = optarg;
			continue;
		}
		code = common_take(&c, o, optarg);
		if (code != 0)
			return code < 0 ? 0 : code;
	}
	wrong = misuse(file, &sheet, argc - optind);
	if (wrong != NULL)
		return usage_error("layout", "%s", wrong);
	return run(&c, &sheet, file, argv + optind, argc - optind);
}
