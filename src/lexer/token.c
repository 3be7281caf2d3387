/*
 * What is known of token kinds: their texts, and which words they are.
 *
 * All of it is token.def, expanded four ways.
 */
#include "token.h"

static const char *const texts[] = {
#define TOKEN(name, text) text,
#include "token.def"
#undef TOKEN
};

enum { RESERVED = 1, PLAIN };

static const unsigned char sorts[] = {
#define TOKEN(name, text) 0,
#define WORD(name, text, sort) sort,
#include "token.def"
#undef TOKEN
};

/* Words alone. */
static const struct {
	const char *text;
	unsigned char length;
	unsigned short kind;
} words[] = {
#define TOKEN(name, text)
#define WORD(name, text, sort) { text, sizeof text - 1, CJ_TOKEN_##name },
#include "token.def"
#undef TOKEN
};

static_assert(CJ_TOKEN_NAME == 258, "bison counts tokens from 258");
static_assert(CJ_LENGTH(texts) == CJ_TOKEN_AFTER - CJ_TOKEN_NAME,
    "a text per token");

static int
sort_of(enum cj_token_kind kind)
{
	if (kind < CJ_TOKEN_NAME || kind >= CJ_TOKEN_AFTER)
		return 0;
	return sorts[kind - CJ_TOKEN_NAME];
}

const char *
cj_token_text(enum cj_token_kind kind)
{
	if (kind < CJ_TOKEN_NAME || kind >= CJ_TOKEN_AFTER)
		return "end of file";
	return texts[kind - CJ_TOKEN_NAME];
}

bool
cj_token_is_class(enum cj_token_kind kind)
{
	return kind <= CJ_TOKEN_CUDA_TEXT || kind == CJ_TOKEN_RESYNC;
}

bool
cj_token_is_reserved(enum cj_token_kind kind)
{
	return sort_of(kind) == RESERVED;
}

bool
cj_token_is_plain_word(enum cj_token_kind kind)
{
	return sort_of(kind) == PLAIN;
}

/* Words begin with few letters, and few of a length with the same one. */
static unsigned
slot_of(const char *text, size_t length)
{
	return ((unsigned char)text[0] + 3 * (unsigned)length) % CJ_WORD_SLOTS;
}

void
cj_word_table_init(struct cj_word_table *w)
{
	unsigned k, slot;

	static_assert(CJ_LENGTH(words) <= CJ_LENGTH(w->next), "room for all");
	memset(w, 0, sizeof *w);
	for (k = 0; k < CJ_LENGTH(words); k++) {
		slot = slot_of(words[k].text, words[k].length);
		w->next[k] = w->first[slot];
		w->first[slot] = (unsigned char)(k + 1);
	}
}

enum cj_token_kind
cj_token_of_word(const struct cj_word_table *w, const char *text, size_t length)
{
	unsigned k;

	if (length == 0)
		return CJ_TOKEN_NAME;
	for (k = w->first[slot_of(text, length)]; k != 0; k = w->next[k - 1])
		if (words[k - 1].length == length &&
		    memcmp(words[k - 1].text, text, length) == 0)
			return (enum cj_token_kind)words[k - 1].kind;
	return CJ_TOKEN_NAME;
}
