/*
 * cutec layout: the calculator of the layout algebra, its pictures, and the
 * checker of files of cases.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cutec.h"
#include "layout_subject.h"

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
	const struct common *common;
	cutejit_context *context;
	int code;		/* of the newest evaluation */
	struct cj_picture pictures[PICTURES_MAX];
	uint32_t count;
};

static enum cj_draw_form
form_of(const char *word)
{
	static const char *const names[] = {
		[CJ_DRAW_TEXT] = "text", [CJ_DRAW_SVG] = "svg",
		[CJ_DRAW_LATEX] = "latex", [CJ_DRAW_HTML] = "html"
	};
	size_t i;

	for (i = 0; strcmp(names[i], word) != 0; i++)
		assert(i + 1 < sizeof names / sizeof names[0] &&
		    "options.def has these alone");
	return (enum cj_draw_form)i;
}

static void
print_facts(struct sheet *sheet, const struct cj_layout *l)
{
	struct cj_strbuf b;

	cj_strbuf_init(&b, sheet->al->arena);
	cj_layout_facts(&b, sheet->al, l);
	fputs(b.text, stdout);
}

/* The value of an expression; NULL: reported, and the code is kept. */
static const char *
value_of(void *user, const char *text)
{
	struct sheet *sheet = user;
	const char *value = NULL;

	sheet->code = common_status(sheet->common, sheet->context,
	    cutejit_evaluate(sheet->context, NULL, text, &value));
	return sheet->code == 0 ? value : NULL;
}

static void
print_part(struct sheet *sheet, const char *name, const struct cj_layout *l)
{
	struct cj_strbuf b;

	cj_strbuf_init(&b, sheet->al->arena);
	cj_layout_print(&b, sheet->al->sym, l, CJ_STYLE_LANGUAGE);
	printf("%-11s %s\n", name, b.text);
}

static void
print_picture(struct sheet *sheet, const struct cj_picture *p)
{
	if (p->title != NULL)
		puts(p->title);
	if (p->kind == CJ_DRAW_MMA) {
		print_part(sheet, "A", p->a);
		print_part(sheet, "B", p->b);
		print_part(sheet, "C", p->layout);
	} else {
		print_part(sheet, "layout", p->layout);
		print_facts(sheet, p->layout);
	}
}

/* Print a picture's layouts, or keep it. */
static int
take_picture(struct sheet *sheet, const struct cj_picture *p)
{
	if (sheet->form_name == NULL)
		print_picture(sheet, p);
	else if (sheet->count == PICTURES_MAX)
		return usage_error("layout", "too many pictures");
	else
		sheet->pictures[sheet->count++] = *p;
	return 0;
}

/* An expression: print value and facts, or keep the layout. */
static int
take_expression(struct sheet *sheet, const char *text)
{
	const char *value = value_of(sheet, text);
	struct cj_picture p = { 0 };

	if (value == NULL)
		return sheet->code;
	if (sheet->form_name == NULL) {
		p.layout = cj_layout_read(sheet->al, value, strlen(value));
		puts(value);
		if (p.layout != NULL)
			print_facts(sheet, p.layout);
		return 0;
	}
	p.layout = cj_layout_or_shape_read(sheet->al, value, strlen(value));
	if (p.layout == NULL)
		return usage_error("layout", "%s is not a layout of known "
		    "integers: it cannot be drawn", value);
	p.kind = p.layout->is_composed ? CJ_DRAW_BANKS : CJ_DRAW_VALUES;
	return take_picture(sheet, &p);
}

static int
take(struct sheet *sheet, const char *text)
{
	struct subject s = { .al = sheet->al, .evaluate = value_of,
	    .user = sheet };
	bool is_subject;
	uint32_t i;
	int code = 0;

	if (subject_take(&s, text, &is_subject)) {
		for (i = 0; i < s.count && code == 0; i++)
			code = take_picture(sheet, &s.pictures[i]);
		return code;
	}
	if (!is_subject)
		return take_expression(sheet, text);
	if (s.message == NULL)
		return sheet->code;
	complain("%s", s.message);
	return CUTEJIT_ERROR;
}

static int
draw(struct sheet *sheet)
{
	struct cj_strbuf b;

	cj_strbuf_init(&b, sheet->al->arena);
	if (!cj_layout_draw(&b, sheet->al, sheet->pictures, sheet->count,
	    sheet->form)) {
		complain("%s", sheet->al->why.text);
		return CUTEJIT_ERROR;
	}
	fputs(b.text, stdout);
	return 0;
}

static int
calculate(struct sheet *sheet, char *const *texts, int count)
{
	int i, code = 0;

	for (i = 0; i < count && code == 0; i++)
		code = take(sheet, texts[i]);
	return code != 0 || sheet->form_name == NULL ? code : draw(sheet);
}

/* calculate(), with an arena of its own for the layouts. */
static int
with_algebra(struct sheet *sheet, char *const *texts, int count)
{
	struct cj_recover point = { 0 };
	struct cj_arena arena;
	struct cj_names names = { 0 };
	struct cj_symtab sym;
	struct cj_algebra al;
	int code;

	cj_arena_init(&arena, &point, NULL);
	if (CJ_RECOVER(&point)) {
		complain("%s", point.text);
		code = point.why == CJ_WHY_BUG ? CUTEJIT_INTERNAL :
		    CUTEJIT_LIMIT;
	} else {
		cj_names_init(&names, &arena);
		cj_symtab_init(&sym, &arena, &names);
		cj_algebra_init(&al, &arena, &sym);
		sheet->al = &al;
		code = calculate(sheet, texts, count);
	}
	if (names.arena != NULL)
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
	sheet->common = c;
	sheet->context = context;
	code = file != NULL ? check(c, context, file) :
	    with_algebra(sheet, texts, count);
	cutejit_context_destroy(context);
	return code;
}

int
cmd_layout(int argc, char **argv)
{
	struct sheet sheet = { 0 };
	const char *file = NULL, *wrong;
	struct common c;
	int o, code;

	common_init(&c, "layout");
	while ((o = option_next("layout", argc, argv)) != -1) {
		if (o == OPT_CHECK) {
			file = optarg;
			continue;
		}
		if (o == OPT_DRAW) {
			sheet.form = form_of(optarg);
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
