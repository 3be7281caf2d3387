/*
 * Slips in values, declarations and bodies of those who come from C, Rust,
 * Python or Triton: pointers, lists, conversions, choices and functions as they
 * are written there.
 */
#include "slips_priv.h"

static bool
begins_operand(const struct slip *s, enum cj_token_kind kind)
{
	return s->bad.kind == kind && !ends_operand(s->prev.kind) &&
	    s->prev.kind != CJ_TOKEN_BEFORE;
}

/* x as f64 */
static bool
slip_as(const struct slip *s)
{
	struct cj_token type = token(s, 1);
	const char *t, *ours;
	int n;

	if (s->bad.kind != CJ_TOKEN_AS || !ends_operand(s->prev.kind) ||
	    !is_name(type.kind))
		return false;
	t = text(s, type.span, &n);
	ours = cj_from_abroad(t, (size_t)n);
	cj_help(cj_report(s->p->diags, CJ_DIAG_SYNTAX, s->bad.span,
	    "a conversion is a call of its type"), "Write %.*s(x).",
	    ours != NULL ? (int)strlen(ours) : n, ours != NULL ? ours : t);
	return true;
}

/* [1, 2, 3] */
static bool
slip_list(const struct slip *s)
{
	if (!begins_operand(s, CJ_TOKEN_LBRACKET))
		return false;
	cj_help(cj_report(s->p->diags, CJ_DIAG_SYNTAX, s->bad.span,
	    "a list of values does not stand in \"[\""), "A tuple is "
	    "(1, 2, 3), registers are zeros(f32, 3), an array of a test is "
	    "array(f32, (1, 2, 3)).");
	return true;
}

/* &x[i], *x */
static bool
slip_pointer(const struct slip *s)
{
	if (!begins_operand(s, CJ_TOKEN_BIT_AND) &&
	    !begins_operand(s, CJ_TOKEN_STAR))
		return false;
	cj_help(cj_report(s->p->diags, CJ_DIAG_SYNTAX, s->bad.span,
	    "there are no pointers"), "A part of a tensor is a view, "
	    "x[i..i + 4] or local_tile(x, 4, i); a function changes what it "
	    "takes as var.");
	return true;
}

/* (x) => x, |x| x */
static bool
slip_lambda(const struct slip *s)
{
	if (!begins_operand(s, CJ_TOKEN_BIT_OR) &&
	    (s->bad.kind != CJ_TOKEN_GIVES || s->prev.kind != CJ_TOKEN_RPAREN))
		return false;
	cj_help(cj_report(s->p->diags, CJ_DIAG_SYNTAX, s->bad.span,
	    "a function as a value is fn(x) => e"),
	    "Write fn(a, b) => a + b.");
	return true;
}

/* a if c else b */
static bool
slip_choice(const struct slip *s)
{
	const char *between = s->p->source->text + s->prev.span.end;

	if (s->bad.kind != CJ_TOKEN_IF || !ends_operand(s->prev.kind) ||
	    s->prev.kind == CJ_TOKEN_RBRACE || memchr(between, '\n',
	    s->bad.span.begin - s->prev.span.end) != NULL)
		return false;
	cj_help(cj_report(s->p->diags, CJ_DIAG_SYNTAX, s->bad.span,
	    "a condition stands in front of what it chooses"),
	    "A choice of values is if c { a } else { b }.");
	return true;
}

/* cute::copy */
static bool
slip_scope(const struct slip *s)
{
	struct cj_token a = s->prev, b = s->bad;
	struct cj_diag *d;

	if (a.kind == CJ_TOKEN_COLON)
		;
	else if (token(s, 1).kind == CJ_TOKEN_COLON)
		a = b, b = token(s, 1);
	if (a.kind != CJ_TOKEN_COLON || b.kind != CJ_TOKEN_COLON ||
	    a.span.end != b.span.begin)
		return false;
	d = cj_report(s->p->diags, CJ_DIAG_SYNTAX,
	    cj_span_join(a.span, b.span), "\"::\" does not exist");
	cj_help(d, "What an import has stands behind a point: name.f; "
	    "built-in functions need nothing in front.");
	return true;
}

/* const int n = 4, shared float s[256] */
static bool
slip_declared(const struct slip *s)
{
	enum cj_token_kind begin = token(s, -2).kind;
	const char *x;
	int n;

	if (!is_name(s->prev.kind) || !is_name(s->bad.kind) ||
	    (begin != CJ_TOKEN_CONST && begin != CJ_TOKEN_LET &&
	    begin != CJ_TOKEN_VAR && begin != CJ_TOKEN_SHARED))
		return false;
	x = text(s, s->bad.span, &n);
	cj_help(cj_report(s->p->diags, CJ_DIAG_SYNTAX,
	    s->prev.span, "the type stands behind the name"),
	    begin == CJ_TOKEN_SHARED ?
	    "Write shared %.*s: tensor(f32, 128);" :
	    "Write %.*s: f32 = ..., or no type at all.", n, x);
	return true;
}

static bool
is_head(enum cj_token_kind kind)
{
	return kind == CJ_TOKEN_IF || kind == CJ_TOKEN_WHILE ||
	    kind == CJ_TOKEN_FOR || kind == CJ_TOKEN_ELSE;
}

/* What the head that the wrong token follows begins with: if, while, for or
 * else; another kind if it follows none. */
static enum cj_token_kind
head_of(const struct slip *s)
{
	enum cj_token_kind kind;
	int i = -1;

	while ((kind = token(s, i).kind) != CJ_TOKEN_BEFORE &&
	    !is_head(kind) && kind != CJ_TOKEN_SEMICOLON &&
	    kind != CJ_TOKEN_LBRACE && kind != CJ_TOKEN_RBRACE)
		i--;
	return kind;
}

/* if c return; if c y = 1; else y = 1; for i in a..b y[i] = 1; behind for and
 * while the first words have been taken for an attribute */
static bool
slip_body(const struct slip *s)
{
	enum cj_token_kind head = head_of(s), bad = s->bad.kind;
	bool has_attributes = head == CJ_TOKEN_FOR || head == CJ_TOKEN_WHILE;

	if (!expects(s, CJ_TOKEN_LBRACE) || !is_head(head) ||
	    (!is_name(bad) && bad != CJ_TOKEN_RETURN &&
	    bad != CJ_TOKEN_BREAK && bad != CJ_TOKEN_CONTINUE &&
	    (!has_attributes || (bad != CJ_TOKEN_ASSIGN &&
	    bad != CJ_TOKEN_SEMICOLON))))
		return false;
	cj_help(cj_report(s->p->diags, CJ_DIAG_SYNTAX, s->bad.span,
	    "a body stands in braces"), "Write { ... } around it, one "
	    "statement too.");
	return true;
}

bool
cj_slip_value(const struct slip *s)
{
	return slip_as(s) || slip_list(s) || slip_pointer(s) ||
	    slip_lambda(s) || slip_choice(s) || slip_scope(s) ||
	    slip_declared(s) || slip_body(s);
}
