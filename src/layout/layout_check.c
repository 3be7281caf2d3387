/*
 * Running files of vectors: each line is read, computed and compared.
 *
 * The match rules are those of tests/vectors/README.md. A line whose note says
 * that the reference does not meet the definition may be refused, or must be
 * answered as the reference does.
 */
#include "layout_check.h"

#include <stdlib.h>

enum { MAX_COLUMNS = 32, MAX_POINTS = 1 << 22 };

struct line {
	const char *column[MAX_COLUMNS];
	uint32_t count, arrow;	/* arrow: index of `=>` */
	bool fixed;		/* `_4` static, `4` dynamic */
};

struct check {
	struct cj_algebra *al;
	struct cj_strbuf *out;
	const char *file;
	uint32_t number;
};

static void
report(struct check *c, const struct line *l, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void
report(struct check *c, const struct line *l, const char *format, ...)
{
	va_list ap;
	uint32_t i;

	cj_strbuf_printf(c->out, "%s:%u:", c->file, c->number);
	for (i = 0; i < l->arrow; i++)
		cj_strbuf_printf(c->out, " %s", l->column[i]);
	cj_strbuf_puts(c->out, ": ");
	va_start(ap, format);
	cj_strbuf_vprintf(c->out, format, ap);
	va_end(ap);
	cj_strbuf_putc(c->out, '\n');
}

/* ---- functions --------------------------------------------------------- */

bool
cj_points_init(struct cj_algebra *al, struct cj_points *p,
    const struct cj_layout *l)
{
	uint32_t i;

	cj_modes_init(&p->m);
	cj_modes_flatten(al, &p->m, l->shape, l->stride);
	p->at = CJ_NEWS(al->arena, int64_t, p->m.count + 1);
	p->value = 0;
	p->offset = 0;
	p->swizzle = (struct cj_swizzle){ 0, 0, 0 };
	if (l->offset != NULL) {
		if (l->offset->kind != CJ_TUPLE_INT)
			return false;
		p->offset = cj_int_range(al->sym, l->offset->value).lo;
	}
	if (l->is_composed)
		p->swizzle = l->swizzle;
	for (i = 0; i < p->m.count; i++) {
		if (p->m.at[i].stride->kind != CJ_TUPLE_INT)
			return false;
		p->m.at[i].shape = cj_known(cj_int_range(al->sym,
		    p->m.at[i].shape).lo);
	}
	return true;
}

int64_t
cj_points_next(struct cj_algebra *al, struct cj_points *p)
{
	int64_t v = p->value + p->offset;
	uint32_t i;

	for (i = 0; i < p->m.count; i++) {
		int64_t d = cj_int_range(al->sym,
		    p->m.at[i].stride->value).lo;

		p->value += d;
		if (++p->at[i] < p->m.at[i].shape.value)
			break;
		p->value -= d * p->at[i];
		p->at[i] = 0;
	}
	if (p->swizzle.bits == 0)
		return v;
	return cj_swizzle_apply(al, p->swizzle, cj_known(v)).value;
}

static int64_t
value_of(struct cj_algebra *al, struct cj_int i)
{
	return cj_int_range(al->sym, i).lo;
}

/* Equal rank, equal size of each mode, equal values. NULL if so. */
const char *
cj_same_function(struct cj_algebra *al, const struct cj_layout *a,
    const struct cj_layout *b, int64_t plus)
{
	int64_t i, n = value_of(al, cj_layout_size(al, a));
	struct cj_points p, q;

	if (cj_layout_rank(a) != cj_layout_rank(b))
		return "rank differs";
	if (n != value_of(al, cj_layout_size(al, b)))
		return "size differs";
	for (i = 0; i < cj_layout_rank(a); i++) {
		if (value_of(al, cj_tuple_product(al, cj_tuple_get(a->shape,
		    (uint32_t)i))) != value_of(al, cj_tuple_product(al,
		    cj_tuple_get(b->shape, (uint32_t)i))))
			return "size of a mode differs";
	}
	if (n > MAX_POINTS)
		return "too large to compare";
	if (!cj_points_init(al, &p, a) || !cj_points_init(al, &q, b))
		return "no numbers to compare";
	for (i = 0; i < n; i++) {
		if (cj_points_next(al, &p) != cj_points_next(al, &q) + plus)
			return "a value differs";
	}
	return NULL;
}

/* The `eval` column: values at 0, 1, 2 ... */
static bool
matches_eval(struct cj_algebra *al, const struct cj_layout *l,
    const char *eval)
{
	struct cj_points p;
	char *end;
	int64_t n = value_of(al, cj_layout_size(al, l)), i;

	if (!cj_points_init(al, &p, l))
		return true;
	for (i = 0; *eval != '\0'; i++) {
		long long v = strtoll(eval, &end, 10);

		if (end == eval || i >= n || cj_points_next(al, &p) != v)
			return false;
		eval = *end == ' ' ? end + 1 : end;
	}
	return i == n;
}

/* R(L(i)) for all i; both results. */
static const char *
same_image(struct cj_algebra *al, const struct cj_layout *l,
    const struct cj_layout *r, const struct cj_layout *expected)
{
	struct cj_int n = cj_layout_size(al, l), v, x, y;
	int64_t i;

	for (i = 0; i < value_of(al, n); i++) {
		struct cj_mark mark = cj_arena_mark(al->arena);
		bool good = cj_layout_offset(al, l, cj_tuple_known(al, i), &v)
		    && cj_layout_offset(al, r, cj_tuple_int(al, v), &x)
		    && cj_layout_offset(al, expected, cj_tuple_int(al, v),
		    &y) && value_of(al, x) == value_of(al, y);

		cj_arena_release(al->arena, mark);
		if (!good)
			return "a value on the image differs";
	}
	return NULL;
}

/* ---- comparing --------------------------------------------------------- */

static const char *
text_of(struct cj_algebra *al, const struct cj_datum *v)
{
	struct cj_strbuf b;

	cj_strbuf_init(&b, al->arena);
	cj_datum_print(&b, al, v);
	return b.text;
}

static const char *
compare_function(struct cj_algebra *al, const struct cj_check_op *op,
    const struct cj_datum *arg, const struct cj_datum *got,
    const char *expected)
{
	struct cj_datum want;

	if (!cj_datum_read(al, expected, strlen(expected), &want))
		return "the expected value cannot be read";
	if (got->kind != want.kind)
		return "another kind of value";
	if (got->kind == CJ_DATUM_SWIZZLE)
		return got->swizzle.bits == 0 && want.swizzle.bits == 0
		    ? NULL : "another swizzle";
	if (got->kind != CJ_DATUM_LAYOUT)
		return "another value";
	if (op->rule == CJ_RULE_IMAGE)
		return same_image(al, arg[0].layout, got->layout,
		    want.layout);
	if (op->rule == CJ_RULE_COMPOSE && cj_tuple_compatible(al,
	    arg[1].layout->shape, got->layout->shape) != CJ_YES)
		return "not compatible with the right layout";
	return cj_same_function(al, got->layout, want.layout, want.plus);
}

/* NULL if `got` is what the line says, else why not. */
static const char *
compare(struct cj_algebra *al, const struct line *l,
    const struct cj_check_op *op, const struct cj_datum *arg,
    const struct cj_datum *got)
{
	const char *expected = l->column[l->arrow + 1], *why = NULL;
	const char *eval = l->arrow + 2 < l->count
	    ? l->column[l->arrow + 2] : "-";

	if (strcmp(text_of(al, got), expected) != 0) {
		if (op->rule == CJ_RULE_EXACT)
			return "printed differently";
		why = compare_function(al, op, arg, got, expected);
	}
	if (why == NULL && got->kind == CJ_DATUM_LAYOUT
	    && strcmp(eval, "-") != 0 && !matches_eval(al, got->layout, eval))
		why = "a value differs from the column of values";
	return why;
}

static bool
is_lax(const struct line *l)
{
	uint32_t i;

	for (i = l->arrow + 3; i < l->count; i++) {
		if (strstr(l->column[i], "definition not met") != NULL)
			return true;
	}
	return false;
}

enum verdict { PASSED, REFUSED, FAILED, UNREADABLE };

static enum verdict
check_answer(struct check *c, const struct line *l,
    const struct cj_check_op *op, const struct cj_datum *arg,
    const struct cj_datum *got)
{
	const char *expected = l->column[l->arrow + 1], *why;

	if (strncmp(expected, "error:", 6) == 0) {
		report(c, l, "expected %s, found %s", expected,
		    text_of(c->al, got));
		return FAILED;
	}
	why = is_lax(l) && strcmp(text_of(c->al, got), expected) != 0
	    ? "a third answer" : compare(c->al, l, op, arg, got);
	if (why == NULL)
		return PASSED;
	report(c, l, "expected %s, found %s: %s", expected,
	    text_of(c->al, got), why);
	return FAILED;
}

static bool
run(struct check *c, const struct line *l, const struct cj_check_op *op,
    struct cj_datum *arg, struct cj_datum *got)
{
	uint32_t i, n = l->arrow - 1;

	for (i = 0; i < n; i++) {
		if (!cj_datum_read(c->al, l->column[1 + i],
		    strlen(l->column[1 + i]), &arg[i]))
			return false;
	}
	return op->fn(c->al, arg, n, got);
}

static bool
confirmed_by_definition(const struct line *l)
{
	return l->arrow + 3 < l->count
	    && strstr(l->column[l->arrow + 3], "def") != NULL;
}

/*
 * What we refuse must be refused by the reference; or its answer is not
 * confirmed by the definition, and then we still find the same by its rules.
 */
static enum verdict
check_refusal(struct check *c, const struct line *l,
    const struct cj_check_op *op, struct cj_datum *arg)
{
	const char *expected = l->column[l->arrow + 1];
	const char *text = c->al->why.text;
	struct cj_datum got;
	bool answered;

	if (strncmp(expected, "error:", 6) == 0)
		return PASSED;
	if (is_lax(l))
		return REFUSED;
	if (!confirmed_by_definition(l)) {
		c->al->as_cute = true;
		answered = run(c, l, op, arg, &got);
		c->al->as_cute = false;
		if (answered)
			return check_answer(c, l, op, arg, &got) == PASSED
			    ? REFUSED : FAILED;
	}
	report(c, l, "expected %s, refused: %s", expected, text);
	return FAILED;
}

/* ---- lines ------------------------------------------------------------- */

static enum verdict
check_operation(struct check *c, const struct line *l,
    const struct cj_check_op *op)
{
	struct cj_datum arg[CJ_MAX_ARGS], got;
	uint32_t n = l->arrow - 1;

	assert(l->arrow >= 1 && op->most <= CJ_MAX_ARGS);
	memset(arg, 0, sizeof arg);
	if (n < op->least || n > op->most) {
		report(c, l, "%u arguments are not what the operation takes",
		    n);
		return UNREADABLE;
	}
	return run(c, l, op, arg, &got) ? check_answer(c, l, op, arg, &got)
	    : check_refusal(c, l, op, arg);
}

static enum verdict
check_line(struct check *c, const struct line *l)
{
	const struct cj_check_op *op;
	const char *why;
	bool known = true;

	if (l->arrow < 1 || l->arrow + 1 >= l->count) {
		report(c, l, "not a line of the form op args => result");
		return UNREADABLE;
	}
	op = cj_check_op_find(l->column[0]);
	if (op != NULL)
		return check_operation(c, l, op);
	why = cj_check_atom_line(c->al, l->column, l->count, l->arrow,
	    &known);
	if (!known) {
		report(c, l, "there is no operation \"%s\"", l->column[0]);
		return UNREADABLE;
	}
	if (why == NULL)
		return PASSED;
	report(c, l, "%s", why);
	return FAILED;
}

/* Cut a line at its tabs; the copy is on the arena. */
static void
split_line(struct cj_arena *a, struct line *l, const char *text,
    size_t length)
{
	char *copy = cj_strndup(a, text, length), *tab;

	l->count = 0;
	l->arrow = 0;
	while (copy != NULL && l->count < MAX_COLUMNS) {
		tab = strchr(copy, '\t');
		if (tab != NULL)
			*tab = '\0';
		if (strcmp(copy, "=>") == 0 && l->arrow == 0)
			l->arrow = l->count;
		l->column[l->count++] = copy;
		copy = tab == NULL ? NULL : tab + 1;
	}
	if (l->arrow == 0)
		l->arrow = l->count;
}

/* A file with `_4` somewhere tells static from dynamic integers. */
static bool
has_static_marks(const char *text, size_t length)
{
	size_t i;

	for (i = 1; i + 1 < length; i++) {
		if (text[i] == '_' && text[i + 1] >= '0' && text[i + 1] <= '9'
		    && (text[i - 1] == '(' || text[i - 1] == ','
		    || text[i - 1] == ':' || text[i - 1] == '\t'))
			return true;
	}
	return false;
}

static enum verdict
run_line(struct cj_arena *a, struct check *c, const char *text,
    size_t length, bool fixed)
{
	struct cj_symtab sym;
	struct cj_algebra al;
	struct line l = { .fixed = fixed };

	assert(text != NULL);
	cj_symtab_init(&sym, a, NULL);
	sym.fixed = fixed;
	cj_algebra_init(&al, a, &sym);
	c->al = &al;
	split_line(a, &l, text, length);
	return check_line(c, &l);
}

bool
cj_layout_check(struct cj_arena *a, const char *text, size_t length,
    const char *file, struct cj_strbuf *out, struct cj_check_counts *counts)
{
	struct check c = { .out = out, .file = file };
	bool fixed = has_static_marks(text, length), readable = true;
	const char *end = text + length, *next;

	for (; text < end; text = next) {
		struct cj_mark mark = cj_arena_mark(a);
		enum verdict v;
		size_t n;

		next = memchr(text, '\n', (size_t)(end - text));
		next = next == NULL ? end : next + 1;
		n = (size_t)(next - text);
		while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == '\r'))
			n--;
		c.number++;
		if (n == 0 || *text == '#')
			continue;
		v = run_line(a, &c, text, n, fixed);
		counts->passed += v == PASSED || v == REFUSED;
		counts->refused += v == REFUSED;
		counts->failed += v == FAILED || v == UNREADABLE;
		readable = readable && v != UNREADABLE;
		/* what was reported lies above the mark */
		if (v == PASSED || v == REFUSED)
			cj_arena_release(a, mark);
	}
	return readable;
}
