/*
 * What the files of slips share: the wrong token and what is around it.
 */
#ifndef CJ_SLIPS_PRIV_H
#define CJ_SLIPS_PRIV_H

#include "parser_priv.h"

/* The wrong token and its surroundings. */
struct slip {
	struct cj_parser *p;
	const struct cj_expected *expected;
	uint32_t at;			/* index of the wrong token */
	struct cj_token bad;
	struct cj_token prev;		/* kind BEFORE: there is none */
};

static inline struct cj_token
token(const struct slip *s, int offset)
{
	int64_t i = (int64_t)s->at + offset;

	if (i < 0)
		return (struct cj_token){ .kind = CJ_TOKEN_BEFORE,
		    .span = { s->bad.span.source, 0, 0 } };
	return *cj_feed_token(s->p, (uint32_t)i);
}

static inline bool
expects(const struct slip *s, enum cj_token_kind kind)
{
	if (kind == CJ_TOKEN_END)
		return s->expected->at[CJ_TOKEN_AFTER - CJ_TOKEN_NAME];
	return s->expected->at[kind - CJ_TOKEN_NAME];
}

static inline bool
is_name(enum cj_token_kind kind)
{
	return kind == CJ_TOKEN_NAME || cj_token_is_plain_word(kind);
}

static inline bool
ends_operand(enum cj_token_kind kind)
{
	return is_name(kind) || (kind >= CJ_TOKEN_INTEGER &&
	    kind <= CJ_TOKEN_STRING) || kind == CJ_TOKEN_RPAREN ||
	    kind == CJ_TOKEN_RBRACKET || kind == CJ_TOKEN_RBRACE ||
	    kind == CJ_TOKEN_TRUE || kind == CJ_TOKEN_FALSE ||
	    kind == CJ_TOKEN_ANY;
}

/* The bytes of a span, for %.*s. */
static inline const char *
text(const struct slip *s, struct cj_span span, int *length)
{
	*length = (int)(span.end - span.begin);
	return s->p->source->text + span.begin;
}

/* The `;` behind a text that is one expression. */
static inline bool
is_end_of_value(const struct slip *s)
{
	return s->p->is_value && s->bad.kind == CJ_TOKEN_SEMICOLON &&
	    s->bad.span.begin == s->bad.span.end;
}

/* slips_expected.c: what would do here, and what was found. */
void cj_slip_report_expected(const struct slip *s);
/* slips_foreign.c: what C, C++, CUDA and Python would have understood. */
bool cj_slip_foreign(const struct slip *s);
/* slips_value.c: values and bodies as they are written there. */
bool cj_slip_value(const struct slip *s);

#endif
