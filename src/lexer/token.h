/*
 * Tokens: a code, a place, and the value of literals and names.
 */
#ifndef CJ_TOKEN_H
#define CJ_TOKEN_H

#include "base/base.h"

enum cj_token_kind {
	CJ_TOKEN_END = 0,
	CJ_TOKEN_BEFORE = 257,	/* codes below are characters to bison */
#define TOKEN(name, text) CJ_TOKEN_##name,
#include "token.def"
#undef TOKEN
	CJ_TOKEN_AFTER
};

struct cj_token {
	enum cj_token_kind kind;
	struct cj_span span;
	bool is_wrong;			/* reported, also what led up to it */
	union {
		cj_name name;		/* NAME and every plain word */
		uint64_t integer;	/* INTEGER */
		struct {
			double value;
			const char *text;	/* without `_` */
		} number;		/* NUMBER */
		struct {
			const char *bytes;
			uint32_t length;
		} string;		/* STRING, CUDA_TEXT */
	};
};

/* As messages show a kind: `"+="`, `name`, `"while"`, `end of file`. */
const char *cj_token_text(enum cj_token_kind kind);

/* Symbols and words are shown in quotes, classes of tokens are not. */
bool cj_token_is_class(enum cj_token_kind kind);
bool cj_token_is_reserved(enum cj_token_kind kind);	/* words */
bool cj_token_is_plain_word(enum cj_token_kind kind);

/* Where words are found: the number of one + 1, by what its text looks like,
 * and of the next one that looks so. */
enum { CJ_WORD_SLOTS = 64, CJ_WORDS_MOST = 64 };
struct cj_word_table {
	unsigned char first[CJ_WORD_SLOTS], next[CJ_WORDS_MOST];
};
void cj_word_table_init(struct cj_word_table *w);

/* The word's code; NAME if it has no meaning of its own. */
enum cj_token_kind cj_token_of_word(const struct cj_word_table *w,
    const char *text, size_t length);

#endif
