/*
 * The examples of man/cute-layout.7: each line `name(arguments)` that a line
 * `    = result` follows is computed, and must print as the manual says. What
 * is no operation of the algebra has `    -> result`: the sessions of
 * tests/golden/manual evaluate both in the language.
 */
#include "layouts.h"

#include "vectors.h"

enum { LEAST = 60 };

/* A value as the language writes it, in the notation of the vectors. */
static char *
to_vectors(const char *text, size_t length)
{
	char *out = cj_alloc(&arena, length + 1), *p = out;
	size_t i;
	int a, b, c;

	if (sscanf(text, "swizzle(%d, %d, %d)", &a, &b, &c) == 3)
		return cj_printf(&arena, "Sw<%d,%d,%d>", a, b, c);
	for (i = 0; i < length; i++) {
		if (text[i] == ' ' || (text[i] == ',' && text[i + 1] == ')'))
			continue;
		*p++ = text[i];
	}
	return out;
}

/* Cut `text` at the commas outside parentheses. */
static uint32_t
read_arguments(const char *text, const char *end, struct cj_datum *arg)
{
	const char *start = text;
	uint32_t n = 0;
	int depth = 0;

	for (;; text++) {
		depth += text < end && *text == '(';
		depth -= text < end && *text == ')';
		if (text < end && (*text != ',' || depth > 0))
			continue;
		while (*start == ' ')
			start++;
		ck_assert_uint_lt(n, CJ_MAX_ARGS);
		const char *v = to_vectors(start, (size_t)(text - start));
		ck_assert_msg(cj_datum_read(&al, v, strlen(v), &arg[n++]),
		    "cannot read %s: %s", v, al.why.text);
		if (text == end)
			return n;
		start = text + 1;
	}
}

/* The accessors of the vectors take a path first. */
static bool
takes_path(const char *name)
{
	return strcmp(name, "size") == 0 || strcmp(name, "cosize") == 0
	    || strcmp(name, "rank") == 0 || strcmp(name, "depth") == 0;
}

static const char *
value_text(const struct cj_datum *v)
{
	if (v->kind == CJ_DATUM_LAYOUT)
		return text_of(v->layout);
	if (v->kind == CJ_DATUM_TUPLE)
		return tuple_text(v->tuple);
	return v->word;
}

static void
run_example(const char *line, size_t length, const char *result)
{
	const char *open = memchr(line, '(', length);
	const struct cj_check_op *op;
	struct cj_datum arg[CJ_MAX_ARGS + 1], out;
	char *name;
	uint32_t n = 0;

	ck_assert(open != NULL && line[length - 1] == ')');
	name = cj_strndup(&arena, line, (size_t)(open - line));
	op = cj_check_op_find(name);
	ck_assert_msg(op != NULL, "there is no operation %s", name);
	memset(arg, 0, sizeof arg);
	if (takes_path(name))
		ck_assert(cj_datum_read(&al, "-", 1, &arg[n++]));
	n += read_arguments(open + 1, line + length - 1, arg + n);
	ck_assert_msg(op->fn(&al, arg, n, &out), "%.*s: %s", (int)length,
	    line, al.why.text);
	ck_assert_msg(strcmp(value_text(&out), result) == 0,
	    "%.*s is %s, the manual says %s", (int)length, line,
	    value_text(&out), result);
}

START_TEST(examples_are_right)
{
	size_t length;
	char *text = read_source_file(&arena, "man/cute-layout.7", &length);
	char *line = text, *next, *before = NULL;
	unsigned examples = 0;

	for (; *line != '\0'; before = line, line = next) {
		next = strchr(line, '\n');
		*next++ = '\0';
		if (strncmp(line, "    = ", 6) != 0)
			continue;
		run_example(before, strlen(before), line + 6);
		examples++;
	}
	ck_assert_uint_ge(examples, LEAST);
}
END_TEST

static Suite *
manual_suite(void)
{
	Suite *s = suite_create("manual");
	TCase *c = tcase_create("manual");

	tcase_add_checked_fixture(c, set_up, tear_down);
	tcase_add_test(c, examples_are_right);
	suite_add_tcase(s, c);
	return s;
}

CJ_CHECK_MAIN(manual_suite)
