/*
 * Feeding the grammar: tokens one by one, and the way on after an error.
 *
 * Tokens are kept as they are scanned, so that one can look ahead and back.
 * The feeder knows which brackets are open. After an error it skips to the
 * end of the statement, the parameter list or the declaration that the grammar
 * has given up: by brackets, by `;`, by words that only begin a statement, and
 * by lines (a declaration in the first column closes every block before it).
 */
#include "parser_priv.h"

/* A token that the text does not have. */
static void
push_made_up(struct cj_parser *p, enum cj_token_kind kind, uint32_t at)
{
	struct cj_token t = { .kind = kind, .span = { p->tree->source, at,
	    at } };

	if (kind == CJ_TOKEN_NAME)
		t.name = cj_intern_str(p->names, "value");
	*cj_push(p->arena, &p->tokens) = t;
}

static void
scan(struct cj_parser *p)
{
	struct cj_token t;

	if (p->is_value && p->tokens.len == 0) {
		push_made_up(p, CJ_TOKEN_CONST, 0);
		push_made_up(p, CJ_TOKEN_NAME, 0);
		push_made_up(p, CJ_TOKEN_ASSIGN, 0);
		return;
	}
	t = cj_lexer_next(p->lexer);
	if (p->is_value && t.kind == CJ_TOKEN_END)
		push_made_up(p, CJ_TOKEN_SEMICOLON, t.span.begin);
	*cj_push(p->arena, &p->tokens) = t;
}

const struct cj_token *
cj_feed_token(struct cj_parser *p, uint32_t i)
{
	while (p->tokens.len <= i) {
		if (p->tokens.len > 0 &&
		    p->tokens.at[p->tokens.len - 1].kind == CJ_TOKEN_END)
			return &p->tokens.at[p->tokens.len - 1];
		scan(p);
	}
	return &p->tokens.at[i];
}

static enum cj_token_kind
kind_at(struct cj_parser *p, uint32_t i)
{
	return cj_feed_token(p, i)->kind;
}

bool
cj_feed_is_first(struct cj_parser *p, uint32_t i)
{
	uint32_t begin = cj_feed_token(p, i)->span.begin;
	uint32_t end = i > 0 ? cj_feed_token(p, i - 1)->span.end : 0;

	if (i == 0 || begin < end)
		return true;
	return memchr(p->source->text + end, '\n', begin - end) != NULL;
}

/* ---- brackets ------------------------------------------------------------ */

static bool
is_opening(enum cj_token_kind kind)
{
	return kind == CJ_TOKEN_LPAREN || kind == CJ_TOKEN_LBRACKET ||
	    kind == CJ_TOKEN_LBRACE;
}

static bool
closes(enum cj_token_kind open, enum cj_token_kind close)
{
	return (open == CJ_TOKEN_LPAREN && close == CJ_TOKEN_RPAREN) ||
	    (open == CJ_TOKEN_LBRACKET && close == CJ_TOKEN_RBRACKET) ||
	    (open == CJ_TOKEN_LBRACE && close == CJ_TOKEN_RBRACE);
}

/* The innermost open bracket's kind; END if none is open. */
static enum cj_token_kind
innermost(struct cj_parser *p)
{
	if (p->open.len == 0)
		return CJ_TOKEN_END;
	return p->tokens.at[p->open.at[p->open.len - 1]].kind;
}

/* The grammar has taken token i. */
static void
take(struct cj_parser *p, uint32_t i)
{
	enum cj_token_kind kind = p->tokens.at[i].kind;

	if (is_opening(kind))
		*cj_push(p->arena, &p->open) = i;
	else if (p->open.len > 0 && closes(innermost(p), kind))
		p->open.len--;
}

struct cj_token
cj_feed(struct cj_parser *p)
{
	struct cj_token t;

	if (p->has_fed)
		take(p, p->next - 1);
	t = *cj_feed_token(p, p->next);
	p->has_fed = p->closings == 0 && t.kind != CJ_TOKEN_END;
	if (p->closings > 0) {
		p->closings--;
		t.kind = innermost(p) == CJ_TOKEN_LBRACE ? CJ_TOKEN_RBRACE :
		    CJ_TOKEN_RPAREN;
		t.span.end = t.span.begin;
		p->open.len--;
	} else if (t.kind != CJ_TOKEN_END) {
		p->next++;
	}
	return t;
}

/* ---- going on ------------------------------------------------------------ */

/* While skipping: brackets that opened inside what is given up. */
struct skip {
	enum cj_token_kind inside;	/* LPAREN, LBRACE; END: the file */
	uint32_t parens, braces;
	uint32_t at;			/* token */
	uint32_t first;			/* the one that did not fit */
};

static bool
is_name(enum cj_token_kind kind)
{
	return kind == CJ_TOKEN_NAME || cj_token_is_plain_word(kind);
}

/* Whether tokens i and i + 1 begin a declaration that is no statement. */
static bool
begins_decl(struct cj_parser *p, uint32_t i)
{
	enum cj_token_kind kind = kind_at(p, i), next = kind_at(p, i + 1);

	switch ((int)kind) {
	case CJ_TOKEN_KERNEL:
	case CJ_TOKEN_FN:
		return is_name(next) && kind_at(p, i + 2) == CJ_TOKEN_LPAREN;
	case CJ_TOKEN_TUNE:
		return is_name(next);
	case CJ_TOKEN_TEST:
	case CJ_TOKEN_BENCH:
	case CJ_TOKEN_IMPORT:
		return next == CJ_TOKEN_STRING;
	case CJ_TOKEN_EXTERN:
		return next == CJ_TOKEN_FN || next == CJ_TOKEN_CUDA ||
		    next == CJ_TOKEN_BITCODE;
	default:
		return false;
	}
}

bool
cj_feed_is_decl(struct cj_parser *p, uint32_t i)
{
	uint32_t begin = cj_feed_token(p, i)->span.begin;

	return (begin == 0 || p->source->text[begin - 1] == '\n') &&
	    begins_decl(p, i);
}

/* Words that begin a statement, and nothing else, or do so on a new line. */
static bool
begins_stmt(struct cj_parser *p, uint32_t i, bool is_in_parens)
{
	enum cj_token_kind kind = kind_at(p, i);

	switch ((int)kind) {
	case CJ_TOKEN_LET:
	case CJ_TOKEN_WHILE:
	case CJ_TOKEN_RETURN:
	case CJ_TOKEN_BREAK:
	case CJ_TOKEN_CONTINUE:
		return true;
	case CJ_TOKEN_VAR:
	case CJ_TOKEN_CONST:
	case CJ_TOKEN_FOR:
	case CJ_TOKEN_IF:
	case CJ_TOKEN_FN:
		return !is_in_parens && cj_feed_is_first(p, i);
	case CJ_TOKEN_SHARED:
	case CJ_TOKEN_TMEM:
	case CJ_TOKEN_PIPELINE:
	case CJ_TOKEN_ORDER:
	case CJ_TOKEN_ROLE:
	case CJ_TOKEN_PRODUCE:
	case CJ_TOKEN_CONSUME:
	case CJ_TOKEN_TURN:
	case CJ_TOKEN_LAUNCH:
	case CJ_TOKEN_TIME:
		return !is_in_parens && cj_feed_is_first(p, i) &&
		    is_name(kind_at(p, i + 1));
	default:
		return false;
	}
}

/* Whether what ended with a `}` in front of token i still goes on. */
static bool
goes_on(struct cj_parser *p, uint32_t i)
{
	enum cj_token_kind kind = kind_at(p, i);

	if (kind == CJ_TOKEN_ELSE || kind == CJ_TOKEN_RPAREN ||
	    kind == CJ_TOKEN_RBRACKET)
		return true;
	if (cj_feed_is_first(p, i))
		return false;
	return kind == CJ_TOKEN_COMMA || kind == CJ_TOKEN_SEMICOLON ||
	    (kind >= CJ_TOKEN_COLON && kind < CJ_TOKEN_NOT);
}

/* Close what the grammar gave up: brackets at or behind `begin`. */
static struct skip
skip_begin(struct cj_parser *p, uint32_t begin)
{
	struct skip s = { .at = p->next - p->has_fed };

	s.first = s.at;
	while (p->open.len > 0) {
		const struct cj_token *t =
		    &p->tokens.at[p->open.at[p->open.len - 1]];

		if (t->span.begin < begin)
			break;
		if (t->kind == CJ_TOKEN_LBRACE) {
			s.braces++;
			s.parens = 0;
		} else {
			s.parens++;
		}
		p->open.len--;
	}
	s.inside = innermost(p);
	/* `test` of `test "..."` was taken for a name in an open block */
	if (p->open.len > 0 && s.at > 0 && cj_feed_is_decl(p, s.at - 1))
		s.at--;
	return s;
}

/* Whether a block that is given up goes on with token i: it is indented. */
static bool
is_indented(struct cj_parser *p, uint32_t i)
{
	uint32_t begin = cj_feed_token(p, i)->span.begin;

	return cj_feed_is_first(p, i) && begin > 0 &&
	    p->source->text[begin - 1] != '\n' &&
	    kind_at(p, i) != CJ_TOKEN_END;
}

/* A brace amid a line, in parentheses, whose block began lines before. */
static bool
is_stray_brace(struct cj_parser *p, const struct skip *s)
{
	uint32_t begin, end = cj_feed_token(p, s->at)->span.begin;

	if (s->parens == 0 || s->inside != CJ_TOKEN_LBRACE ||
	    cj_feed_is_first(p, s->at) || cj_feed_is_first(p, s->at + 1))
		return false;
	begin = p->tokens.at[p->open.at[p->open.len - 1]].span.end;
	return memchr(p->source->text + begin, '\n', end - begin) != NULL;
}

/* Step over a closing token; false: the grammar goes on in front of it. */
static bool
skip_closing(struct cj_parser *p, struct skip *s, enum cj_token_kind kind)
{
	if (kind != CJ_TOKEN_RBRACE) {
		if (s->braces > 0)
			return true;
		if (s->parens == 0 && s->inside == CJ_TOKEN_LPAREN)
			return false;
		s->parens -= s->parens > 0;
		return true;
	}
	if (s->braces == 0 && s->inside != CJ_TOKEN_END)
		return is_stray_brace(p, s);
	if (s->braces == 0 || (--s->braces == 0 && !goes_on(p, s->at + 1) &&
	    (s->inside != CJ_TOKEN_END || !is_indented(p, s->at + 1)))) {
		s->at++;	/* the grammar goes on behind it */
		return false;
	}
	return true;
}

/* At a `;` outside of skipped braces; false: this is the end. */
static bool
skip_semicolon(struct cj_parser *p, struct skip *s)
{
	if (s->inside == CJ_TOKEN_LPAREN)
		return false;
	if (s->parens > 0 && !cj_feed_is_first(p, s->at + 1))
		return true;	/* for (i = 0; i < n; ...) */
	if (s->inside == CJ_TOKEN_END && is_indented(p, s->at + 1))
		return true;	/* a body whose brace is missing */
	s->at++;
	return false;
}

/* Whether parsing goes on in front of token s->at. */
static bool
is_stop(struct cj_parser *p, struct skip *s)
{
	if (cj_feed_is_decl(p, s->at))
		return true;
	if (s->braces > 0)
		return false;
	if (s->inside == CJ_TOKEN_LBRACE)
		return begins_stmt(p, s->at, s->parens > 0);
	return s->inside == CJ_TOKEN_END && s->at > s->first &&
	    cj_feed_is_first(p, s->at) && begins_decl(p, s->at);
}

/* The grammar went on in front of this token before, and it did not fit. */
static bool
is_stuck(const struct cj_parser *p, const struct skip *s)
{
	return s->at == s->first && s->at == p->last_stop &&
	    p->open.len == p->last_open;
}

static bool
skip_one(struct cj_parser *p, struct skip *s)
{
	enum cj_token_kind kind = kind_at(p, s->at);

	if (kind == CJ_TOKEN_END || (!is_stuck(p, s) && is_stop(p, s)))
		return false;
	if (kind == CJ_TOKEN_LBRACE)
		s->braces++;
	else if (is_opening(kind))
		s->parens += s->braces == 0;
	else if (kind == CJ_TOKEN_RBRACE || kind == CJ_TOKEN_RPAREN ||
	    kind == CJ_TOKEN_RBRACKET) {
		if (!skip_closing(p, s, kind))
			return is_stuck(p, s) && s->at++ == s->first;
	} else if (kind == CJ_TOKEN_SEMICOLON && s->braces == 0) {
		if (!skip_semicolon(p, s))
			return false;
	}
	s->at++;
	return true;
}

/*
 * Brackets to be made up: at the end or at a new declaration those of all open
 * blocks; where a parameter list cannot go on, its own.
 */
static void
close_open(struct cj_parser *p, const struct skip *s)
{
	uint32_t i;

	if (s->inside == CJ_TOKEN_LPAREN) {
		p->closings = kind_at(p, s->at) != CJ_TOKEN_RPAREN;
		return;
	}
	if (kind_at(p, s->at) != CJ_TOKEN_END && !cj_feed_is_decl(p, s->at))
		return;
	for (i = 0; i < p->open.len; i++)
		if (p->tokens.at[p->open.at[i]].kind != CJ_TOKEN_LBRACE)
			return;
	p->closings = p->open.len;
}

/*
 * Errors that bring the grammar no further than it was before are few: the
 * brackets that are given up one by one. Where they go on without an end, the
 * token that it cannot get past is left out.
 */
static void
keep_going(struct cj_parser *p, struct skip *s)
{
	enum { MOST = 64 };

	if (s->at > p->furthest) {
		p->furthest = s->at;
		p->idle = 0;
	} else if (++p->idle > MOST &&
	    kind_at(p, p->furthest) != CJ_TOKEN_END) {
		s->at = ++p->furthest;
		p->idle = 0;
	}
}

struct cj_token
cj_feed_resync(struct cj_parser *p, const struct cj_span *dropped)
{
	struct skip s = skip_begin(p, dropped->begin);
	struct cj_token t = { .kind = CJ_TOKEN_RESYNC };

	if (!p->is_semicolon_missing)
		while (skip_one(p, &s))
			;
	keep_going(p, &s);
	close_open(p, &s);
	p->is_semicolon_missing = false;
	p->has_fed = false;
	p->last_stop = p->next = s.at;
	p->last_open = p->open.len;
	t.span = cj_feed_token(p, s.at)->span;
	t.span.end = t.span.begin;
	return t;
}
