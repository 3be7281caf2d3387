/*
 * Front header of lexer/: from bytes to tokens.
 *
 * The scanner is flex, reentrant, on the caller's arena. It reports wrong
 * characters, numbers and strings itself and hands on the nearest sensible
 * token, so that the parser sees no error of the scanner's.
 */
#ifndef CJ_LEXER_H
#define CJ_LEXER_H

#include "token.h"

struct cj_lexer;

/* A scanner at the start of text `source`. Checks the text's UTF-8. */
struct cj_lexer *cj_lexer_create(struct cj_arena *a, struct cj_names *names,
    const struct cj_sources *sources, uint32_t source, struct cj_diags *ds);

/* The same for a part of a text that begins and ends between tokens. */
struct cj_lexer *cj_lexer_create_part(struct cj_arena *a,
    struct cj_names *names, const struct cj_sources *sources,
    struct cj_span part, struct cj_diags *ds);

/* The next token; END again and again at the end. */
struct cj_token cj_lexer_next(struct cj_lexer *lx);

/*
 * The text of `--emit=tokens`: a line per token, line:column, kind, text.
 * Also scans the text, on a part of `out`'s arena that stays.
 */
void cj_tokens_print(struct cj_strbuf *out, struct cj_names *names,
    const struct cj_sources *sources, uint32_t source, struct cj_diags *ds);

#endif
