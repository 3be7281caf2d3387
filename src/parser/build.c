/*
 * Building nodes: the grammar's actions call one function each.
 *
 * Every node gets its depth here, and one that would exceed CJ_NEST_MAX
 * becomes an ERROR node, so that no walk of a tree ever runs out of stack.
 */
#include "parser_priv.h"

struct depth {
	const struct cj_node *node;
	uint16_t max;
};

/*
 * The left operand of a chain of operators is not a level below it, nor is
 * what an arm holds: `if` and its block are two levels.
 */
static void
deepen(void *context, struct cj_node *below)
{
	struct depth *d = context;
	bool is_chain = d->node->kind == CJ_NODE_ARM ||
	    (d->node->kind == CJ_NODE_BINARY &&
	    below->kind == CJ_NODE_BINARY && below == d->node->binary.left);
	uint16_t depth = (uint16_t)(below->depth - is_chain);

	if (depth > d->max)
		d->max = depth;
}

static struct cj_node *
too_deep(struct cj_parser *p, struct cj_span span)
{
	struct cj_node *error = CJ_NEW(p->arena, struct cj_node);

	cj_report_too_deep(p, span);
	error->kind = CJ_NODE_ERROR;
	error->depth = 1;
	error->span = span;
	return error;
}

struct cj_node *
cj_build(struct cj_parser *p, struct cj_span span, struct cj_node *form)
{
	struct depth d = { form, 0 };

	cj_node_visit(form, deepen, &d);
	if (d.max >= CJ_NEST_MAX)
		return too_deep(p, span);
	form->depth = (uint16_t)(d.max + 1);
	form->span = span;
	assert(form->kind < CJ_NODE_COUNT);
	return cj_memdup(p->arena, form, sizeof *form);
}

struct cj_items *
cj_items(struct cj_parser *p)
{
	return CJ_NEW(p->arena, struct cj_items);
}

struct cj_items *
cj_items_add(struct cj_parser *p, struct cj_items *items,
    struct cj_node *node)
{
	if (items == NULL)
		items = cj_items(p);
	*cj_push(p->arena, &items->nodes) = node;
	return items;
}

struct cj_items *
cj_items_comma(struct cj_items *items)
{
	items->has_comma = true;
	return items;
}

struct cj_list
cj_items_list(const struct cj_items *items)
{
	if (items == NULL)
		return (struct cj_list){ NULL, 0 };
	return (struct cj_list){ items->nodes.at, items->nodes.len };
}

struct cj_node *
cj_build_group(struct cj_parser *p, struct cj_span span,
    struct cj_items *items)
{
	struct cj_list list = cj_items_list(items);
	struct cj_node *inner;

	if (list.count == 1 && !items->has_comma &&
	    list.at[0]->kind != CJ_NODE_NAMED &&
	    list.at[0]->kind != CJ_NODE_SPREAD) {
		inner = list.at[0];
		inner->has_parens = true;
		inner->span = span;
		return inner;
	}
	return cj_build(p, span, &(struct cj_node){ .kind = CJ_NODE_TUPLE,
	    .tuple = { list } });
}

struct cj_node *
cj_build_strings(struct cj_parser *p, struct cj_span span,
    struct cj_items *strings)
{
	struct cj_list list = cj_items_list(strings);
	struct cj_strbuf all;
	uint32_t i;

	if (list.count == 1)
		return list.at[0];
	cj_strbuf_init(&all, p->arena);
	for (i = 0; i < list.count; i++) {
		struct cj_text t = list.at[i]->string.text;

		cj_strbuf_write(&all, t.bytes, t.length);
	}
	return cj_build(p, span, &(struct cj_node){ .kind = CJ_NODE_STRING,
	    .string = { { all.text, (uint32_t)all.len } } });
}

struct cj_node *
cj_build_fn(struct cj_parser *p, struct cj_span span,
    const struct cj_node *head, struct cj_node *body)
{
	struct cj_node form = *head;

	if (head->kind == CJ_NODE_FN)	/* ERROR if it nests too deep */
		form.fn.body = body;
	return cj_build(p, span, &form);
}

struct cj_node *
cj_build_extern(struct cj_parser *p, struct cj_span span,
    const struct cj_node *fn)
{
	struct cj_node form = *fn;

	if (fn->kind == CJ_NODE_FN)
		form.fn.is_extern = true;
	return cj_build(p, span, &form);
}

struct cj_node *
cj_build_attr(struct cj_parser *p, struct cj_span span,
    struct cj_node *path, const struct cj_items *items)
{
	cj_name name = path->kind == CJ_NODE_NAME ? path->name.name : 0;

	return cj_build(p, span, &(struct cj_node){ .kind = CJ_NODE_ATTR,
	    .attr = { name, path, cj_items_list(items), items != NULL } });
}
