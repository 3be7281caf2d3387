/*
 * Messages for tokens that do not fit.
 *
 * The usual slips: each function knows one, recognises it by the tokens around
 * the wrong one, reports it with its remedy and returns true. What none of them
 * knows gets the list of what was expected (slips_expected.c).
 */
#include "slips_priv.h"

static bool
is_compare(enum cj_token_kind kind)
{
	return kind >= CJ_TOKEN_EQ && kind <= CJ_TOKEN_GE;
}

static bool
is_binary(enum cj_token_kind kind)
{
	return kind >= CJ_TOKEN_OR && kind <= CJ_TOKEN_PERCENT;
}

static struct cj_span
between(struct cj_span a, struct cj_span b)
{
	return (struct cj_span){ a.source, a.end, b.begin };
}

static struct cj_diag *
report(const struct slip *s, struct cj_span span, const char *message)
{
	return cj_report(s->p->diags, CJ_DIAG_SYNTAX, span, "%s", message);
}

/*
 * The token of the same statement and bracket in front of the wrong one that
 * `is` accepts: its offset, or 0.
 */
static int
find_back(const struct slip *s, bool (*is)(enum cj_token_kind kind))
{
	int i, depth = 0;

	for (i = -1; (int64_t)s->at + i >= 0; i--) {
		enum cj_token_kind kind = token(s, i).kind;

		if (kind == CJ_TOKEN_RPAREN || kind == CJ_TOKEN_RBRACKET ||
		    kind == CJ_TOKEN_RBRACE)
			depth++;
		else if ((kind == CJ_TOKEN_LPAREN ||
		    kind == CJ_TOKEN_LBRACKET || kind == CJ_TOKEN_LBRACE) &&
		    depth-- == 0)
			return 0;
		else if (depth == 0 && is(kind))
			return i;
		else if (depth == 0 && (kind == CJ_TOKEN_SEMICOLON ||
		    kind == CJ_TOKEN_COMMA || kind == CJ_TOKEN_AND ||
		    kind == CJ_TOKEN_OR))
			return 0;
	}
	return 0;
}

/* The word that begins the statement of the wrong token. */
static bool
begins_condition(enum cj_token_kind kind)
{
	return kind == CJ_TOKEN_IF || kind == CJ_TOKEN_WHILE;
}

static bool
is_colon(enum cj_token_kind kind)
{
	return kind == CJ_TOKEN_COLON;
}

static bool
is_range(enum cj_token_kind kind)
{
	return kind == CJ_TOKEN_RANGE;
}

/* ---- the slips ----------------------------------------------------------- */

/* kernel a(…) { …   test "b" { … }: a block that is not closed */
static bool
slip_unclosed_block(const struct slip *s)
{
	uint32_t at = s->at;
	struct cj_token open;
	struct cj_diag *d;

	if (s->p->open.len == 0)
		return false;
	if (!cj_feed_is_decl(s->p, at) &&
	    (at == 0 || !cj_feed_is_decl(s->p, --at)))
		return false;
	open = *cj_feed_token(s->p, s->p->open.at[0]);
	d = cj_report(s->p->diags, CJ_DIAG_SYNTAX,
	    cj_feed_token(s->p, at)->span, "expected \"}\" before \"%s\"",
	    cj_token_text(cj_feed_token(s->p, at)->kind));
	cj_note(d, open.span, "this \"%s\" is not closed",
	    cj_token_text(open.kind));
	return true;
}

static bool
slip_end_of_file(const struct slip *s)
{
	uint32_t n = s->p->open.len;
	struct cj_token open;
	struct cj_diag *d;

	if ((s->bad.kind != CJ_TOKEN_END && !is_end_of_value(s)) || n == 0 ||
	    s->bad.is_wrong)
		return false;
	open = *cj_feed_token(s->p, s->p->open.at[n - 1]);
	d = cj_report(s->p->diags, CJ_DIAG_SYNTAX, s->bad.span,
	    "the %s ends where \"%s\" is needed",
	    s->p->is_value ? "expression" : "file",
	    open.kind == CJ_TOKEN_LPAREN ? ")" :
	    open.kind == CJ_TOKEN_LBRACKET ? "]" : "}");
	cj_note(d, open.span, "this \"%s\" is not closed",
	    cj_token_text(open.kind));
	return true;
}

/* if c { … }; */
static bool
slip_stray_semicolon(const struct slip *s)
{
	struct cj_diag *d;

	if (s->bad.kind != CJ_TOKEN_SEMICOLON ||
	    (s->prev.kind != CJ_TOKEN_RBRACE &&
	    s->prev.kind != CJ_TOKEN_SEMICOLON) ||
	    expects(s, CJ_TOKEN_ELSE))
		return false;
	if (expects(s, CJ_TOKEN_COMMA) || expects(s, CJ_TOKEN_RPAREN))
		return false;
	d = cj_report(s->p->diags, CJ_DIAG_SYNTAX, s->bad.span,
	    "no \";\" follows \"%s\"", cj_token_text(s->prev.kind));
	cj_fixit(d, s->bad.span, "%s", "");
	return true;
}

/* a < b < c */
static bool
slip_compare_chain(const struct slip *s)
{
	struct cj_span middle;
	struct cj_diag *d;
	const char *m;
	int i, n;

	if (!is_compare(s->bad.kind) || !ends_operand(s->prev.kind) ||
	    (i = find_back(s, is_compare)) == 0)
		return false;
	middle = cj_span_join(token(s, i + 1).span, s->prev.span);
	m = text(s, middle, &n);
	d = report(s, s->bad.span, "comparisons do not chain");
	cj_help(d, "Compare twice: ... %s %.*s && %.*s %s ...",
	    cj_token_text(token(s, i).kind), n, m, n, m,
	    cj_token_text(s->bad.kind));
	cj_fixit(d, s->bad.span, "&& %.*s %s", n, m,
	    cj_token_text(s->bad.kind));
	return true;
}

/* a:b:c and a..b..c */
static bool
slip_pair_chain(const struct slip *s)
{
	bool is_layout = s->bad.kind == CJ_TOKEN_COLON;
	struct cj_diag *d;

	if ((!is_layout && s->bad.kind != CJ_TOKEN_RANGE) ||
	    !ends_operand(s->prev.kind) ||
	    find_back(s, is_layout ? is_colon : is_range) == 0)
		return false;
	d = cj_report(s->p->diags, CJ_DIAG_SYNTAX, s->bad.span,
	    "\"%s\" does not chain", cj_token_text(s->bad.kind));
	if (is_layout)
		cj_help(d, "A layout of two modes is (a, b):(c, d).");
	else
		cj_help(d, "A range is first..last; step(n) gives its step.");
	return true;
}

/* 0..=n, 0..<n */
static bool
slip_closed_range(const struct slip *s)
{
	struct cj_diag *d;

	if (s->bad.kind == CJ_TOKEN_LT && s->prev.kind == CJ_TOKEN_RANGE) {
		d = report(s, cj_span_join(s->prev.span, s->bad.span),
		    "ranges are half open as they are");
		cj_fixit(d, s->bad.span, "%s", "");
		return true;
	}
	if (s->bad.kind != CJ_TOKEN_ASSIGN || s->prev.kind != CJ_TOKEN_RANGE)
		return false;
	d = report(s, cj_span_join(s->prev.span, s->bad.span),
	    "ranges are half open: \"..=\" does not exist");
	cj_help(d, "Write 0..n + 1 for 0 to n.");
	return true;
}

/* 1 + if c { a } else { b } */
static bool
slip_if_operand(const struct slip *s)
{
	struct cj_diag *d;

	if ((s->bad.kind != CJ_TOKEN_IF && s->bad.kind != CJ_TOKEN_FN) ||
	    (!is_binary(s->prev.kind) && s->prev.kind != CJ_TOKEN_NOT &&
	    s->prev.kind != CJ_TOKEN_BIT_NOT &&
	    s->prev.kind != CJ_TOKEN_COLON && s->prev.kind != CJ_TOKEN_RANGE))
		return false;
	d = cj_report(s->p->diags, CJ_DIAG_SYNTAX, s->bad.span,
	    "\"%s\" as an operand needs parentheses",
	    cj_token_text(s->bad.kind));
	cj_help(d, s->bad.kind == CJ_TOKEN_IF ?
	    "Write (if c { a } else { b })." : "Write (fn(x) => e).");
	return true;
}

/* align 16 */
static bool
slip_attribute(const struct slip *s)
{
	struct cj_span all = cj_span_join(s->prev.span, s->bad.span);
	struct cj_token next = token(s, 1);
	struct cj_diag *d;
	const char *name, *value;
	int n, v;

	name = text(s, s->prev.span, &n);
	if ((s->bad.kind != CJ_TOKEN_INTEGER &&
	    s->bad.kind != CJ_TOKEN_NUMBER && s->bad.kind != CJ_TOKEN_NAME) ||
	    !is_name(s->prev.kind) || !cj_attr_is_known(name, (size_t)n))
		return false;
	value = text(s, s->bad.span, &v);
	d = cj_report(s->p->diags, CJ_DIAG_SYNTAX, s->bad.span,
	    "the arguments of \"%.*s\" stand in parentheses", n, name);
	if (is_binary(next.kind) || next.kind == CJ_TOKEN_RANGE)
		cj_help(d, "Write %.*s(...).", n, name);
	else
		cj_fixit(d, all, "%.*s(%.*s)", n, name, v, value);
	return true;
}

/* role x: warps(0..4) { … } */
static bool
slip_role_colon(const struct slip *s)
{
	struct cj_diag *d;

	if (s->bad.kind != CJ_TOKEN_COLON || !expects(s, CJ_TOKEN_LBRACE) ||
	    token(s, -2).kind != CJ_TOKEN_ROLE)
		return false;
	d = report(s, s->bad.span, "no \":\" follows the name of a role");
	cj_help(d, "Write role name warps(0..4) { ... }.");
	cj_fixit(d, s->bad.span, "%s", "");
	return true;
}

static bool
ends_facts(enum cj_token_kind kind)
{
	return kind == CJ_TOKEN_SEMICOLON || kind == CJ_TOKEN_LBRACE ||
	    kind == CJ_TOKEN_RBRACE;
}

/* kernel k(…) target sm_90 where M % 4 == 0 { … }, where a where b { … } */
static bool
slip_where(const struct slip *s)
{
	struct cj_diag *d;
	int i = -1;

	if (s->bad.kind != CJ_TOKEN_WHERE || !expects(s, CJ_TOKEN_LBRACE))
		return false;
	while (token(s, i).kind == CJ_TOKEN_NAME ||
	    token(s, i).kind == CJ_TOKEN_COMMA)
		i--;
	if (token(s, i).kind == CJ_TOKEN_TARGET) {
		d = report(s, s->bad.span, "\"where\" stands in front of "
		    "\"target\"");
		cj_help(d, "Write where facts target names { ... }.");
		return true;
	}
	while (token(s, i).kind != CJ_TOKEN_KERNEL)
		if ((int64_t)s->at + i < 0 || ends_facts(token(s, i--).kind))
			return false;
	d = report(s, s->bad.span, "a kernel has one \"where\"");
	cj_help(d, "A comma stands between its facts: where a, b.");
	return true;
}

/* if a = b { … } */
static bool
slip_assign_in_condition(const struct slip *s)
{
	struct cj_diag *d;

	if (s->bad.kind != CJ_TOKEN_ASSIGN || !ends_operand(s->prev.kind) ||
	    (is_name(s->prev.kind) && ends_operand(token(s, -2).kind)) ||
	    !expects(s, CJ_TOKEN_LBRACE) ||
	    find_back(s, begins_condition) == 0)
		return false;
	d = report(s, s->bad.span, "\"=\" assigns; \"==\" compares");
	cj_fixit(d, s->bad.span, "==");
	return true;
}

/* let x = if c { a }; */
static bool
slip_else(const struct slip *s)
{
	struct cj_diag *d;

	if (!expects(s, CJ_TOKEN_ELSE) || expects(s, CJ_TOKEN_LET))
		return false;
	d = report(s, s->bad.span,
	    "an \"if\" that gives a value needs \"else\"");
	cj_help(d, "Write if c { a } else { b }.");
	return true;
}

/* a and b, a or b */
static bool
slip_word_operator(const struct slip *s)
{
	const char *w, *symbol;
	struct cj_diag *d;
	int n;

	if (s->bad.kind != CJ_TOKEN_NAME || !ends_operand(s->prev.kind))
		return false;
	w = text(s, s->bad.span, &n);
	if (n == 3 && memcmp(w, "and", 3) == 0)
		symbol = "&&";
	else if (n == 2 && memcmp(w, "or", 2) == 0)
		symbol = "||";
	else
		return false;
	d = cj_report(s->p->diags, CJ_DIAG_SYNTAX, s->bad.span,
	    "\"%.*s\" is written \"%s\"", n, w, symbol);
	cj_fixit(d, s->bad.span, "%s", symbol);
	return true;
}

/* i++; */
static bool
slip_increment(const struct slip *s)
{
	struct cj_token next = token(s, 1);
	struct cj_span both = cj_span_join(s->bad.span, next.span);
	struct cj_diag *d;

	if ((s->bad.kind != CJ_TOKEN_PLUS && s->bad.kind != CJ_TOKEN_MINUS) ||
	    next.kind != s->bad.kind ||
	    next.span.begin != s->bad.span.end ||
	    !expects(s, CJ_TOKEN_ADD_SET))
		return false;
	d = cj_report(s->p->diags, CJ_DIAG_SYNTAX, both,
	    "\"%s%s\" does not exist", cj_token_text(next.kind),
	    cj_token_text(next.kind));
	cj_fixit(d, both, " %s= 1", cj_token_text(next.kind));
	return true;
}

/* a + b; */
static bool
slip_value_statement(const struct slip *s)
{
	struct cj_diag *d;

	if (!expects(s, CJ_TOKEN_ADD_SET) || (!is_binary(s->bad.kind) &&
	    s->bad.kind != CJ_TOKEN_RANGE && s->bad.kind != CJ_TOKEN_IN))
		return false;
	d = report(s, s->bad.span,
	    "a statement is a call or an assignment, not a value");
	cj_help(d, "Give the value a name: let x = ...;");
	return true;
}

/* int x = 0; */
static bool
slip_type_first(const struct slip *s)
{
	struct cj_token next = token(s, 1);
	const char *t, *x, *ours;
	struct cj_diag *d;
	int n, m;

	if (s->bad.kind != CJ_TOKEN_NAME || !is_name(s->prev.kind) ||
	    !expects(s, CJ_TOKEN_ADD_SET) || next.kind != CJ_TOKEN_ASSIGN)
		return false;
	t = text(s, s->prev.span, &n);
	x = text(s, s->bad.span, &m);
	d = cj_report(s->p->diags, CJ_DIAG_SYNTAX, s->prev.span,
	    "a declaration begins with \"let\", \"var\" or \"const\"");
	if (n == 4 && memcmp(t, "auto", 4) == 0)
		cj_fixit(d, s->prev.span, "let");
	else if ((ours = cj_from_abroad(t, (size_t)n)) != NULL)
		cj_fixit(d, cj_span_join(s->prev.span, s->bad.span),
		    "var %.*s: %s", m, x, ours);
	else
		cj_fixit(d, cj_span_join(s->prev.span, s->bad.span),
		    "var %.*s: %.*s", m, x, n, t);
	return true;
}

/* let x: f32; */
static bool
slip_no_value(const struct slip *s)
{
	struct cj_diag *d;

	if (s->bad.kind != CJ_TOKEN_SEMICOLON ||
	    !expects(s, CJ_TOKEN_ASSIGN) || expects(s, CJ_TOKEN_SEMICOLON))
		return false;
	d = report(s, s->bad.span, "a declaration needs a value");
	cj_help(d, "Write name = value; a register tensor is zeros(f32, "
	    "shape).");
	return true;
}

/* where a, b, { … } */
static bool
slip_trailing_comma(const struct slip *s)
{
	struct cj_diag *d;

	if (s->prev.kind != CJ_TOKEN_COMMA || s->bad.kind != CJ_TOKEN_LBRACE)
		return false;
	d = report(s, s->prev.span, "no comma ends this list");
	cj_fixit(d, s->prev.span, "%s", "");
	return true;
}

/* let in = 3; */
static bool
slip_reserved(const struct slip *s)
{
	if (!cj_token_is_reserved(s->bad.kind) ||
	    s->bad.kind == CJ_TOKEN_ANY || !expects(s, CJ_TOKEN_NAME) ||
	    expects(s, CJ_TOKEN_INTEGER) || expects(s, CJ_TOKEN_LBRACE) ||
	    expects(s, CJ_TOKEN_IF) || expects(s, CJ_TOKEN_RBRACE) ||
	    cj_feed_is_first(s->p, s->at))
		return false;
	cj_report(s->p->diags, CJ_DIAG_SYNTAX, s->bad.span,
	    "\"%s\" is a reserved word and cannot be a name",
	    cj_token_text(s->bad.kind));
	return true;
}

static bool
begins_line_or_ends_block(const struct slip *s)
{
	return cj_feed_is_first(s->p, s->at) ||
	    s->bad.kind == CJ_TOKEN_RBRACE || s->bad.kind == CJ_TOKEN_LET ||
	    s->bad.kind == CJ_TOKEN_END;
}

/* a = b <newline> c = d; */
static bool
slip_semicolon(const struct slip *s)
{
	struct cj_span at = between(s->prev.span, s->prev.span);
	struct cj_diag *d;
	const char *t;
	int n;

	if (!expects(s, CJ_TOKEN_SEMICOLON) || !begins_line_or_ends_block(s) ||
	    is_binary(s->bad.kind) || s->prev.kind == CJ_TOKEN_BEFORE)
		return false;
	s->p->is_semicolon_missing = true;
	if (s->prev.is_wrong || s->bad.is_wrong)
		return true;	/* the scanner has said what is wrong */
	at.begin = at.end = s->prev.span.end;
	t = text(s, s->prev.span, &n);
	if (memchr(t, '\n', (size_t)n) != NULL || n > 40)
		d = report(s, at, "expected \";\"");
	else
		d = cj_report(s->p->diags, CJ_DIAG_SYNTAX, at,
		    "expected \";\" after \"%.*s\"", n, t);
	cj_fixit(d, at, ";");
	return true;
}

static bool (*const slips[])(const struct slip *s) = {
	slip_unclosed_block,
	slip_end_of_file,
	cj_slip_foreign,
	slip_stray_semicolon,
	slip_compare_chain,
	slip_pair_chain,
	slip_closed_range,
	slip_if_operand,
	slip_attribute,
	slip_role_colon,
	slip_where,
	slip_assign_in_condition,
	slip_else,
	slip_word_operator,
	slip_increment,
	slip_value_statement,
	slip_type_first,
	slip_no_value,
	slip_trailing_comma,
	slip_reserved,
	cj_slip_value,
	slip_semicolon,
};

/* ---- the first that fits ------------------------------------------------- */

void
cj_syntax_error(struct cj_parser *p, const struct cj_expected *expected)
{
	struct slip s = { .p = p, .expected = expected };
	size_t i;

	s.at = p->next - p->has_fed;
	s.bad = token(&s, 0);
	s.prev = token(&s, -1);
	/* a text that is not closed has swallowed what closes brackets */
	if (s.prev.is_wrong && s.prev.kind == CJ_TOKEN_STRING &&
	    s.bad.kind == CJ_TOKEN_END)
		return;
	for (i = 0; i < CJ_LENGTH(slips); i++)
		if (slips[i](&s))
			return;
	/* the scanner has reported what stands here */
	if (!s.bad.is_wrong && !s.prev.is_wrong)
		cj_slip_report_expected(&s);
}

void
cj_report_too_deep(struct cj_parser *p, struct cj_span span)
{
	if (p->is_too_deep)
		return;
	p->is_too_deep = true;
	span.end = span.begin < p->source->length ? span.begin + 1 :
	    span.begin;
	cj_report(p->diags, CJ_DIAG_TOO_DEEP, span,
	    "this is nested deeper than %d", CJ_NEST_MAX);
}
