/*
 * Scanning a text token by token, and printing its tokens.
 */
#include "lexer_priv.h"

static void
check_utf8(struct cj_lexer *lx)
{
	const struct cj_source *s = lx->source;
	size_t length = lx->end - lx->offset;
	size_t at = cj_utf8_check(s->text + lx->offset, length);

	if (at == length)
		return;
	at += lx->offset;
	lx->is_bad_utf8 = true;
	cj_report(lx->diags, CJ_DIAG_BAD_UTF8, (struct cj_span){
	    lx->token.span.source, (uint32_t)at, (uint32_t)at + 1 },
	    "byte 0x%02x is not UTF-8 here", (unsigned char)s->text[at]);
}

struct cj_lexer *
cj_lexer_create_part(struct cj_arena *a, struct cj_names *names,
    const struct cj_sources *sources, struct cj_span part, struct cj_diags *ds)
{
	struct cj_lexer *lx = CJ_NEW(a, struct cj_lexer);

	lx->arena = a;
	lx->names = names;
	lx->diags = ds;
	lx->source = cj_source_get(sources, part.source);
	lx->token.span.source = part.source;
	lx->offset = part.begin;
	lx->end = part.end;
	assert(part.begin <= part.end && part.end <= lx->source->length &&
	    "a part of the text");
	cj_word_table_init(&lx->words);
	check_utf8(lx);
	cj_scanner_begin(lx);
	return lx;
}

struct cj_lexer *
cj_lexer_create(struct cj_arena *a, struct cj_names *names,
    const struct cj_sources *sources, uint32_t source, struct cj_diags *ds)
{
	return cj_lexer_create_part(a, names, sources,
	    cj_source_span(sources, source), ds);
}

struct cj_token
cj_lexer_next(struct cj_lexer *lx)
{
	uint32_t source = lx->token.span.source;

	lx->token = (struct cj_token){ .span = { source, 0, 0 } };
	lx->is_wrong = false;
	lx->token.kind = cj_scanner_next(lx);
	lx->token.is_wrong = lx->is_wrong;
	if (lx->token.kind == CJ_TOKEN_END)
		lx->token.span = (struct cj_span){ source, lx->end, lx->end };
	lx->before = lx->last;
	lx->last = lx->token.kind;
	lx->last_end = lx->token.span.end;
	assert(lx->token.span.begin <= lx->token.span.end &&
	    lx->token.span.end <= lx->source->length);
	return lx->token;
}

static const char *
kind_word(enum cj_token_kind kind)
{
	if (cj_token_is_class(kind))
		return cj_token_text(kind);
	return cj_token_is_reserved(kind) || cj_token_is_plain_word(kind) ?
	    "word" : "symbol";
}

/* Lines of one token: the text as it stands, control characters escaped. */
static void
print_text(struct cj_strbuf *out, const char *text, uint32_t length)
{
	uint32_t i;

	for (i = 0; i < length; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == '\n')
			cj_strbuf_puts(out, "\\n");
		else if (c == '\t')
			cj_strbuf_puts(out, "\\t");
		else if (c < 0x20 || c == 0x7f)
			cj_strbuf_printf(out, "\\x%02x", c);
		else
			cj_strbuf_putc(out, (char)c);
	}
}

void
cj_tokens_print(struct cj_strbuf *out, struct cj_names *names,
    const struct cj_sources *sources, uint32_t source, struct cj_diags *ds)
{
	struct cj_lexer *lx = cj_lexer_create(out->arena, names, sources,
	    source, ds);
	struct cj_token t;

	do {
		struct cj_position at;

		t = cj_lexer_next(lx);
		at = cj_source_position(lx->source, t.span.begin);
		cj_strbuf_printf(out, "%u:%u\t%s", at.line, at.column,
		    kind_word(t.kind));
		if (t.span.end > t.span.begin) {
			cj_strbuf_putc(out, '\t');
			print_text(out, lx->source->text + t.span.begin,
			    t.span.end - t.span.begin);
		}
		cj_strbuf_putc(out, '\n');
	} while (t.kind != CJ_TOKEN_END);
}
