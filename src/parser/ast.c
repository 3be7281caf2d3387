/*
 * What can be asked of a tree without knowing what it means.
 */
#include "ast.h"

static const char *const kind_texts[] = {
#define NODE(kind, member, text, below) text,
#include "node.def"
#undef NODE
};

static const char *const oper_texts[] = {
	"",
#define OPER(name, text, precedence) text,
#include "oper.def"
#undef OPER
};

const char *
cj_node_kind_text(enum cj_node_kind kind)
{
	assert(kind < CJ_NODE_COUNT);
	return kind_texts[kind];
}

const char *
cj_oper_text(enum cj_oper oper)
{
	assert(oper < CJ_OPER_COUNT);
	return oper_texts[oper];
}

struct cj_node **
cj_node_spine(struct cj_arena *a, struct cj_node *top, uint32_t *count)
{
	struct cj_node *n, **spine;
	uint32_t i = 0;

	for (n = top; n->kind == CJ_NODE_BINARY; n = n->binary.left)
		i++;
	*count = i;
	spine = CJ_NEWS(a, struct cj_node *, i);
	for (n = top; n->kind == CJ_NODE_BINARY; n = n->binary.left)
		spine[--i] = n;
	assert(i == 0);
	return spine;
}

struct cj_node *
cj_attr_find(const struct cj_list *attrs, cj_name name)
{
	uint32_t i;

	assert(name != 0);
	for (i = 0; i < attrs->count; i++)
		if (attrs->at[i]->attr.name == name)
			return attrs->at[i];
	return NULL;
}

/* ---- visiting ------------------------------------------------------------ */

enum { MOST_BELOW = 4 };

/* What is below a node of a kind; offset 0 ends it. */
static const struct below {
	size_t offset;
	bool is_list;
} kinds_below[CJ_NODE_COUNT][MOST_BELOW + 1] = {
#define LEAF
#define ONE(member) { offsetof(struct cj_node, member), false },
#define ALL(member) { offsetof(struct cj_node, member), true },
#define NODE(kind, member, text, below) { below { 0, false } },
#include "node.def"
#undef NODE
#undef ALL
#undef ONE
#undef LEAF
};

void
cj_node_visit(const struct cj_node *n,
    void (*see)(void *context, struct cj_node *below), void *context)
{
	const struct below *b;
	uint32_t i;

	assert(n->kind < CJ_NODE_COUNT);
	for (b = kinds_below[n->kind]; b->offset != 0; b++) {
		const void *at = (const char *)n + b->offset;
		struct cj_node *const *one = at;
		const struct cj_list *all = at;

		if (!b->is_list && *one != NULL)
			see(context, *one);
		for (i = 0; b->is_list && i < all->count; i++)
			if (all->at[i] != NULL)
				see(context, all->at[i]);
	}
}
