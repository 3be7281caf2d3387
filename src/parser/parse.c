/*
 * Parsing a text: scanner, feeder and grammar put together.
 */
#include "parser_priv.h"

static struct cj_tree *
parse(struct cj_arena *a, struct cj_names *names,
    const struct cj_sources *sources, struct cj_span part, bool is_value,
    struct cj_diags *ds)
{
	struct cj_parser p = { .arena = a, .names = names, .diags = ds,
	    .is_value = is_value };
	uint32_t errors = ds->errors + ds->dropped;

	p.source = cj_source_get(sources, part.source);
	p.tree = CJ_NEW(a, struct cj_tree);
	p.tree->arena = a;
	p.tree->source = part.source;
	p.decls = cj_items(&p);
	/* about a token for three bytes: the array seldom has to move */
	p.tokens.cap = (part.end - part.begin) / 3 + 16;
	p.tokens.at = cj_alloc_array(a, p.tokens.cap, sizeof *p.tokens.at);
	p.lexer = cj_lexer_create_part(a, names, sources, part, ds);
	cj_gram_run(&p);
	p.tree->decls = cj_items_list(p.decls);
	p.tree->is_broken = ds->errors + ds->dropped != errors;
	return p.tree;
}

struct cj_tree *
cj_parse(struct cj_arena *a, struct cj_names *names,
    const struct cj_sources *sources, uint32_t source, struct cj_diags *ds)
{
	return parse(a, names, sources, cj_source_span(sources, source),
	    false, ds);
}

struct cj_tree *
cj_parse_part(struct cj_arena *a, struct cj_names *names,
    const struct cj_sources *sources, struct cj_span part,
    struct cj_diags *ds)
{
	return parse(a, names, sources, part, false, ds);
}

const struct cj_node *
cj_parse_value(struct cj_arena *a, struct cj_names *names,
    const struct cj_sources *sources, uint32_t source, struct cj_diags *ds)
{
	struct cj_span all = cj_source_span(sources, source);
	const struct cj_tree *t = parse(a, names, sources, all, true, ds);

	if (t->is_broken)
		return NULL;
	if (t->decls.count == 1 && t->decls.at[0]->kind == CJ_NODE_CONST)
		return t->decls.at[0]->let.init;
	cj_report(ds, CJ_DIAG_SYNTAX, all, "one expression is needed");
	return NULL;
}
