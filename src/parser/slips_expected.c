/*
 * What was expected instead of a token that no slip explains, in words: groups
 * of tokens where all of a group would do, and what was found.
 */
#include "slips_priv.h"

/* Words for groups of tokens: `mark` tells the group, [from, to] are in it. */
static const struct group {
	const char *text;
	enum cj_token_kind mark, second;
	struct { enum cj_token_kind from, to; } members[8];
} groups[] = {
	{ "a declaration", CJ_TOKEN_KERNEL, CJ_TOKEN_END, {
	    { CJ_TOKEN_CONST, CJ_TOKEN_CONST }, { CJ_TOKEN_FN, CJ_TOKEN_FN },
	    { CJ_TOKEN_AS, CJ_TOKEN_WHERE } } },
	{ "a statement", CJ_TOKEN_LET, CJ_TOKEN_WHILE, {
	    { CJ_TOKEN_NAME, CJ_TOKEN_STRING },
	    { CJ_TOKEN_BREAK, CJ_TOKEN_WHERE },
	    { CJ_TOKEN_LPAREN, CJ_TOKEN_LPAREN },
	    { CJ_TOKEN_LBRACE, CJ_TOKEN_LBRACE },
	    { CJ_TOKEN_DOT, CJ_TOKEN_DOT } } },
	{ "an expression", CJ_TOKEN_INTEGER, CJ_TOKEN_NAME, {
	    { CJ_TOKEN_NAME, CJ_TOKEN_STRING },
	    { CJ_TOKEN_CONST, CJ_TOKEN_CONST },
	    { CJ_TOKEN_FALSE, CJ_TOKEN_IF }, { CJ_TOKEN_TRUE, CJ_TOKEN_TRUE },
	    { CJ_TOKEN_ANY, CJ_TOKEN_WHERE },
	    { CJ_TOKEN_LPAREN, CJ_TOKEN_LPAREN },
	    { CJ_TOKEN_DOT, CJ_TOKEN_DOT },
	    { CJ_TOKEN_MINUS, CJ_TOKEN_BIT_NOT } } },
	{ "a name", CJ_TOKEN_NAME, CJ_TOKEN_WHERE, {
	    { CJ_TOKEN_NAME, CJ_TOKEN_NAME },
	    { CJ_TOKEN_AS, CJ_TOKEN_WHERE } } },
	{ "an operator", CJ_TOKEN_PLUS, CJ_TOKEN_STAR, {
	    { CJ_TOKEN_IN, CJ_TOKEN_IN },
	    { CJ_TOKEN_COLON, CJ_TOKEN_RANGE },
	    { CJ_TOKEN_OR, CJ_TOKEN_PERCENT } } },
	{ "an assignment", CJ_TOKEN_ADD_SET, CJ_TOKEN_ASSIGN, {
	    { CJ_TOKEN_ASSIGN, CJ_TOKEN_ASSIGN },
	    { CJ_TOKEN_ADD_SET, CJ_TOKEN_SHR_SET } } },
};

static void
group_remove(struct cj_expected *left, const struct group *g)
{
	size_t i;
	int k;

	for (i = 0; i < CJ_LENGTH(g->members); i++) {
		if (g->members[i].from == 0)
			break;
		for (k = (int)g->members[i].from;
		    k <= (int)g->members[i].to; k++)
			left->at[k - CJ_TOKEN_NAME] = 0;
	}
	if (g->second == CJ_TOKEN_END)
		left->at[CJ_TOKEN_AFTER - CJ_TOKEN_NAME] = 0;
}

enum { WORDS_MAX = 6 };

struct words {
	struct cj_arena *arena;
	const char *at[WORDS_MAX];
	bool is_quoted[WORDS_MAX];
	uint32_t count;
};

static void
add_word(struct words *w, const char *word, bool is_quoted)
{
	if (w->count == WORDS_MAX)
		return;
	w->at[w->count] = word;
	w->is_quoted[w->count++] = is_quoted;
}

static void
add_token(struct words *w, enum cj_token_kind kind)
{
	if (kind == CJ_TOKEN_INTEGER)
		add_word(w, "an integer", false);
	else if (kind == CJ_TOKEN_CUDA_TEXT)
		add_word(w, "C++ text in { }", false);
	else if (cj_token_is_class(kind))
		add_word(w, cj_printf(w->arena, "a %s", cj_token_text(kind)),
		    false);
	else
		add_word(w, cj_token_text(kind), true);
}

/* Behind a complete type or head: a name here is an attribute. */
static bool
may_end(const struct slip *s)
{
	return ends_operand(s->prev.kind) && (expects(s, CJ_TOKEN_LBRACE) ||
	    expects(s, CJ_TOKEN_SEMICOLON) || expects(s, CJ_TOKEN_RPAREN));
}

static struct words
describe(const struct slip *s)
{
	struct cj_expected left = *s->expected;
	struct words w = { .arena = s->p->arena };
	size_t i;
	int k;

	for (i = 0; i < CJ_LENGTH(groups); i++) {
		if (!left.at[groups[i].mark - CJ_TOKEN_NAME] ||
		    !expects(s, groups[i].second))
			continue;
		group_remove(&left, &groups[i]);
		add_word(&w, groups[i].mark == CJ_TOKEN_NAME &&
		    may_end(s) ? "an attribute" : groups[i].text, false);
	}
	if (expects(s, CJ_TOKEN_ADD_SET))	/* no news behind a name */
		left.at[CJ_TOKEN_LPAREN - CJ_TOKEN_NAME] =
		    left.at[CJ_TOKEN_LBRACKET - CJ_TOKEN_NAME] =
		    left.at[CJ_TOKEN_DOT - CJ_TOKEN_NAME] = 0;
	if (s->p->is_value && left.at[CJ_TOKEN_SEMICOLON - CJ_TOKEN_NAME]) {
		left.at[CJ_TOKEN_SEMICOLON - CJ_TOKEN_NAME] = 0;
		add_word(&w, "the end of the expression", false);
	}
	for (k = CJ_TOKEN_NAME; k < CJ_TOKEN_AFTER; k++)
		if (left.at[k - CJ_TOKEN_NAME])
			add_token(&w, (enum cj_token_kind)k);
	if (left.at[CJ_TOKEN_AFTER - CJ_TOKEN_NAME])
		add_word(&w, "end of file", false);
	return w;
}

/* The wrong token in words: name "x", "+", end of file. */
static const char *
found(const struct slip *s)
{
	struct cj_arena *a = s->p->arena;
	const char *t;
	int n;

	t = text(s, s->bad.span, &n);
	if (is_end_of_value(s))
		return "the end of the expression";
	if (s->bad.kind == CJ_TOKEN_END || s->bad.kind == CJ_TOKEN_CUDA_TEXT ||
	    memchr(t, '\n', (size_t)n) != NULL || n > 60)
		return cj_token_text(s->bad.kind);
	if (s->bad.kind == CJ_TOKEN_STRING)
		return cj_printf(a, "string %.*s", n, t);
	if (cj_token_is_class(s->bad.kind))
		return cj_printf(a, "%s \"%.*s\"", cj_token_text(s->bad.kind),
		    n, t);
	return cj_printf(a, "\"%.*s\"", n, t);
}

/* The bracket that should have been closed, if it stands on another line. */
static void
note_bracket(const struct slip *s, struct cj_diag *d)
{
	struct cj_token open;
	uint32_t n = s->p->open.len;
	const char *t;

	if (n == 0)
		return;
	open = *cj_feed_token(s->p, s->p->open.at[n - 1]);
	t = s->p->source->text;
	if ((open.kind == CJ_TOKEN_LPAREN && expects(s, CJ_TOKEN_RPAREN)) ||
	    (open.kind == CJ_TOKEN_LBRACKET && expects(s, CJ_TOKEN_RBRACKET)))
		if (memchr(t + open.span.begin, '\n',
		    s->bad.span.begin - open.span.begin) != NULL)
			cj_note(d, open.span, "to close this \"%s\"",
			    cj_token_text(open.kind));
}

void
cj_slip_report_expected(const struct slip *s)
{
	struct words w = describe(s);
	struct cj_strbuf b;
	uint32_t i;

	cj_strbuf_init(&b, s->p->arena);
	for (i = 0; i < w.count; i++) {
		cj_strbuf_puts(&b, i == 0 ? "expected " :
		    i + 1 == w.count ? " or " : ", ");
		cj_strbuf_printf(&b, w.is_quoted[i] ? "\"%s\"" : "%s",
		    w.at[i]);
	}
	if (w.count == 0 || w.count == WORDS_MAX) {
		note_bracket(s, cj_report(s->p->diags, CJ_DIAG_SYNTAX,
		    s->bad.span, "%s means nothing here", found(s)));
		return;
	}
	note_bracket(s, cj_report(s->p->diags, CJ_DIAG_SYNTAX, s->bad.span,
	    "%s, found %s", b.text, found(s)));
}
