/*
 * What the grammar, the builder of nodes, the feeder of tokens and the writer
 * of syntax errors share while one text is parsed.
 */
#ifndef CJ_PARSER_PRIV_H
#define CJ_PARSER_PRIV_H

#include "parser.h"

/* A list under construction. */
struct cj_items {
	CJ_VEC(struct cj_node *) nodes;
	bool has_comma;		/* (x,): a comma at the end */
};

struct cj_parser {
	struct cj_arena *arena;
	struct cj_names *names;
	struct cj_diags *diags;
	const struct cj_source *source;
	struct cj_lexer *lexer;
	struct cj_tree *tree;
	struct cj_items *decls;	/* so far; the tree's, also after a stop */
	bool is_value;		/* the text is one expression: `const value =`
				   stands in front and `;` behind, without
				   length */

	/* feed.c */
	CJ_VEC(struct cj_token) tokens;	/* scanned so far, END last */
	uint32_t next;			/* the one to be handed on */
	CJ_VEC(uint32_t) open;		/* brackets that are open: tokens */
	bool has_fed;			/* token next - 1, not yet taken */
	uint32_t closings;		/* brackets still to be made up */
	uint32_t furthest, idle;	/* token where parsing went on; how
					   often since not behind it */
	uint32_t last_stop, last_open;	/* where skipping ended last */
	bool is_semicolon_missing;	/* all that was wrong */
	bool is_too_deep;		/* reported */
};

/* ---- feed.c: tokens for the grammar -------------------------------------- */

/* The next token for the grammar. */
struct cj_token cj_feed(struct cj_parser *p);

/*
 * The grammar has thrown away `dropped`, up to the last token it was fed: skip
 * to where it can go on, and hand on RESYNC there.
 */
struct cj_token cj_feed_resync(struct cj_parser *p,
    const struct cj_span *dropped);

/* Token i from the start of the text; END behind the end. */
const struct cj_token *cj_feed_token(struct cj_parser *p, uint32_t i);

/* Whether token i begins a declaration in the first column. */
bool cj_feed_is_decl(struct cj_parser *p, uint32_t i);

/* Whether token i is the first one on its line. */
bool cj_feed_is_first(struct cj_parser *p, uint32_t i);

/* ---- build.c: nodes ------------------------------------------------------ */

/* A copy of `form` at `span`, its depth set. ERROR if it nests too deep. */
struct cj_node *cj_build(struct cj_parser *p, struct cj_span span,
    struct cj_node *form);

struct cj_items *cj_items(struct cj_parser *p);
struct cj_items *cj_items_add(struct cj_parser *p, struct cj_items *items,
    struct cj_node *node);
struct cj_items *cj_items_comma(struct cj_items *items);
struct cj_list cj_items_list(const struct cj_items *items);

/* ( items ): the item itself with its parentheses, or a tuple. */
struct cj_node *cj_build_group(struct cj_parser *p, struct cj_span span,
    struct cj_items *items);

/* STRING nodes one after the other: one STRING. */
struct cj_node *cj_build_strings(struct cj_parser *p, struct cj_span span,
    struct cj_items *strings);

/* The head of a function with its body. */
struct cj_node *cj_build_fn(struct cj_parser *p, struct cj_span span,
    const struct cj_node *head, struct cj_node *body);

/* `fn` after `extern`. */
struct cj_node *cj_build_extern(struct cj_parser *p, struct cj_span span,
    const struct cj_node *fn);

struct cj_node *cj_build_attr(struct cj_parser *p, struct cj_span span,
    struct cj_node *path, const struct cj_items *items);

/* ---- slips.c: messages --------------------------------------------------- */

/* Which tokens would do, by kind less CJ_TOKEN_NAME; [AFTER - NAME] is END. */
struct cj_expected {
	unsigned char at[CJ_TOKEN_AFTER - CJ_TOKEN_NAME + 1];
};

/* Report that the last token does not fit. */
void cj_syntax_error(struct cj_parser *p, const struct cj_expected *expected);
void cj_report_too_deep(struct cj_parser *p, struct cj_span span);

/* ---- resolve_expr.c ------------------------------------------------------ */

/* What a name of C, CUDA or Python is called here; NULL: not known. */
const char *cj_from_abroad(const char *text, size_t length);

/* ---- attr.c -------------------------------------------------------------- */

/* Whether anything has an attribute of this name. */
bool cj_attr_is_known(const char *name, size_t length);

/* ---- gram.y -------------------------------------------------------------- */

void cj_gram_run(struct cj_parser *p);

#endif
