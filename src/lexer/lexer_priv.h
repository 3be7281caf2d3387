/*
 * What the scanner's rules and the readers of literals share.
 */
#ifndef CJ_LEXER_PRIV_H
#define CJ_LEXER_PRIV_H

#include "lexer.h"

struct cj_lexer {
	struct cj_arena *arena;
	struct cj_names *names;
	struct cj_diags *diags;
	const struct cj_source *source;
	struct cj_token token;		/* under construction, then the last */
	enum cj_token_kind before;	/* the kind in front of `last` */
	enum cj_token_kind last;	/* handed on, and where it ended */
	uint32_t last_end;
	uint32_t offset;		/* behind what flex has matched */
	uint32_t end;			/* of the part that is scanned */
	uint32_t comment_begin;
	uint32_t comment_depth;
	bool is_wrong;			/* reported since the last token */
	bool is_bad_utf8;		/* reported: other bytes are not */
	struct cj_word_table words;
	void *scanner;			/* flex's */
};

/*
 * Each reads text [begin, end) of the source into lx->token, reports what is
 * wrong with it, and always leaves a value.
 */
void cj_lex_integer(struct cj_lexer *lx, const char *text, uint32_t length);
void cj_lex_number(struct cj_lexer *lx, const char *text, uint32_t length);
void cj_lex_string(struct cj_lexer *lx, const char *text, uint32_t length);
void cj_lex_open_string(struct cj_lexer *lx, const char *text,
    uint32_t length);

/* A number with letters in it or none where one must be. */
void cj_lex_bad_number(struct cj_lexer *lx, const char *text, uint32_t length);

/* `.5` as a number: true. `t.1`: reported, no token. */
bool cj_lex_point(struct cj_lexer *lx, const char *text, uint32_t length);

/* A character that begins no token. */
void cj_lex_comment(struct cj_lexer *lx, const char *text, uint32_t length);
void cj_lex_stray(struct cj_lexer *lx, const char *text, uint32_t length);

/*
 * The C++ text that begins at `begin`, behind its opening brace: offset of the
 * brace that closes it, or the text's length if there is none.
 */
uint32_t cj_cuda_text_end(const struct cj_source *source, uint32_t begin);

/* Entries into the generated scanner. */
void cj_scanner_begin(struct cj_lexer *lx);
enum cj_token_kind cj_scanner_next(struct cj_lexer *lx);

#endif
