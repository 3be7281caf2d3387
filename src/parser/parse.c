/*
 * Parsing a text: scanner, feeder and grammar put together.
 */
#include "parser_priv.h"

struct cj_tree *
cj_parse(struct cj_arena *a, struct cj_names *names,
    const struct cj_sources *sources, uint32_t source, struct cj_diags *ds)
{
	struct cj_parser p = { .arena = a, .names = names, .diags = ds };
	uint32_t errors = ds->errors + ds->dropped;

	p.source = cj_source_get(sources, source);
	p.tree = CJ_NEW(a, struct cj_tree);
	p.tree->arena = a;
	p.tree->source = source;
	p.decls = cj_items(&p);
	/* about a token for three bytes: the array seldom has to move */
	p.tokens.cap = p.source->length / 3 + 16;
	p.tokens.at = cj_alloc_array(a, p.tokens.cap, sizeof *p.tokens.at);
	p.lexer = cj_lexer_create(a, names, sources, source, ds);
	cj_gram_run(&p);
	p.tree->decls = cj_items_list(p.decls);
	p.tree->is_broken = ds->errors + ds->dropped != errors;
	return p.tree;
}
