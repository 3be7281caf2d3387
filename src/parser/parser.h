/*
 * Front header of parser/: from a text to its tree, and what can be said
 * about a tree before any compile-time argument is known.
 *
 *	struct cj_tree *t = cj_parse(arena, names, sources, source, diags);
 *	if (!t->is_broken)
 *		cj_resolve(t, names, diags, &words);
 *	if (diags->errors) ...
 *
 * All of it is done once per text. Every wrong text gives diagnostics and a
 * tree that is safe to walk; nothing here leaves by the recovery point but
 * for want of memory.
 */
#ifndef CJ_PARSER_H
#define CJ_PARSER_H

#include "ast.h"
#include "lexer/lexer.h"

struct cj_tree {
	struct cj_arena *arena;
	uint32_t source;	/* the text */
	struct cj_list decls;	/* in order of the text */
	bool is_broken;		/* a syntax error was reported */
};

/*
 * Parse text `source`. Reports every syntax error once and goes on behind it.
 * The tree lives on `a` and holds what could be read; never NULL.
 */
struct cj_tree *cj_parse(struct cj_arena *a, struct cj_names *names,
    const struct cj_sources *sources, uint32_t source, struct cj_diags *ds);

/* The same for some declarations of a text, from the start of a line on. */
struct cj_tree *cj_parse_part(struct cj_arena *a, struct cj_names *names,
    const struct cj_sources *sources, struct cj_span part,
    struct cj_diags *ds);

/* Parse a text that is one expression. NULL: reported. */
const struct cj_node *cj_parse_value(struct cj_arena *a,
    struct cj_names *names, const struct cj_sources *sources, uint32_t source,
    struct cj_diags *ds);

/* Words that the language itself declares (ir/builtins.def). */
struct cj_words {
	const char *const *at;	/* NULL: unknown names are not looked for */
	uint32_t count;
	const char *const *behind;	/* lib.f: of imports with a name */
	uint32_t behind_count;
};

/*
 * Check what holds for the text whatever its arguments: declarations, scopes,
 * statements and attributes in their places, names that nothing declares
 * (only where no unqualified import may declare them). Call it for a tree
 * that is not broken. True if nothing was wrong.
 */
bool cj_resolve(struct cj_tree *tree, struct cj_names *names,
    struct cj_diags *ds, const struct cj_words *builtins);

/*
 * The text of `--emit=ast`: one form per node, (kind part ...), statements on
 * lines of their own, stable between versions of the same grammar.
 */
void cj_node_print(struct cj_strbuf *out, struct cj_names *names,
    const struct cj_node *node);
void cj_tree_print(struct cj_strbuf *out, struct cj_names *names,
    const struct cj_tree *tree);

/*
 * The text of `cutec fmt`: the same tokens and comments, laid out anew.
 * Formatting its own result changes nothing. The tree must not be broken.
 */
void cj_format(struct cj_strbuf *out, struct cj_names *names,
    const struct cj_sources *sources, const struct cj_tree *tree);

#endif
