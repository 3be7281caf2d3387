/*
 * What can be asked of a tree without knowing what it means.
 */
#include "ast.h"

static const char *const kind_texts[] = {
#define NODE(kind, member, text) text,
#include "node.def"
#undef NODE
};

static const struct {
	const char *text;
	int precedence;
} opers[] = {
	{ "", 0 },
#define OPER(name, text, precedence) { text, precedence },
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
	return opers[oper].text;
}

int
cj_oper_precedence(enum cj_oper oper)
{
	assert(oper < CJ_OPER_COUNT);
	return opers[oper].precedence;
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

struct visit {
	void (*see)(void *context, struct cj_node *below);
	void *context;
};

static void
one(const struct visit *v, struct cj_node *node)
{
	if (node != NULL)
		v->see(v->context, node);
}

static void
all(const struct visit *v, const struct cj_list *list)
{
	uint32_t i;

	for (i = 0; i < list->count; i++)
		one(v, list->at[i]);
}

static void
visit_kernel(const struct visit *v, const struct cj_node_kernel *k)
{
	all(v, &k->params);
	all(v, &k->where);
	all(v, &k->targets);
	one(v, k->body);
}

static void
visit_param(const struct visit *v, const struct cj_node_param *p)
{
	one(v, p->type);
	all(v, &p->attrs);
	one(v, p->domain);
	one(v, p->init);
}

static void
visit_let(const struct visit *v, const struct cj_node_let *l)
{
	one(v, l->binding);
	one(v, l->type);
	one(v, l->init);
}

static void
visit_for(const struct visit *v, const struct cj_node_for *f)
{
	one(v, f->binding);
	one(v, f->over);
	all(v, &f->attrs);
	one(v, f->body);
}

void
cj_node_visit(const struct cj_node *n,
    void (*see)(void *context, struct cj_node *below), void *context)
{
	const struct visit v = { see, context };

	switch (n->kind) {
	case CJ_NODE_ERROR:
	case CJ_NODE_NAME:
	case CJ_NODE_ANY:
	case CJ_NODE_INTEGER:
	case CJ_NODE_NUMBER:
	case CJ_NODE_STRING:
	case CJ_NODE_BOOL:
	case CJ_NODE_CHOICE:
	case CJ_NODE_FN_TYPE:
	case CJ_NODE_IMPORT:
	case CJ_NODE_EXTERN_CUDA:
	case CJ_NODE_EXTERN_BITCODE:
	case CJ_NODE_BREAK:
	case CJ_NODE_CONTINUE:
	case CJ_NODE_COUNT:
		return;
	case CJ_NODE_TUPLE:
		all(&v, &n->tuple.items);
		return;
	case CJ_NODE_CALL:
		one(&v, n->call.callee);
		all(&v, &n->call.items);
		return;
	case CJ_NODE_INDEX:
		one(&v, n->index.base);
		all(&v, &n->index.items);
		return;
	case CJ_NODE_MEMBER:
		one(&v, n->member.base);
		return;
	case CJ_NODE_UNARY:
		one(&v, n->unary.operand);
		return;
	case CJ_NODE_BINARY:
		one(&v, n->binary.left);
		one(&v, n->binary.right);
		return;
	case CJ_NODE_IN:
		one(&v, n->in.value);
		all(&v, &n->in.items);
		return;
	case CJ_NODE_RANGE:
		one(&v, n->range.first);
		one(&v, n->range.last);
		return;
	case CJ_NODE_LAYOUT:
		one(&v, n->layout.shape);
		one(&v, n->layout.stride);
		return;
	case CJ_NODE_LAMBDA:
		all(&v, &n->lambda.params);
		one(&v, n->lambda.body);
		return;
	case CJ_NODE_IF_VALUE:
		all(&v, &n->if_value.arms);
		one(&v, n->if_value.otherwise);
		return;
	case CJ_NODE_NAMED:
		one(&v, n->named.value);
		return;
	case CJ_NODE_SPREAD:
		one(&v, n->spread.operand);
		return;
	case CJ_NODE_CONST_BIND:
		one(&v, n->const_bind.binding);
		one(&v, n->const_bind.domain);
		return;
	case CJ_NODE_SET:
		all(&v, &n->set.items);
		return;
	case CJ_NODE_EACH:
		one(&v, n->each.binding);
		one(&v, n->each.domain);
		return;
	case CJ_NODE_PARAM:
		visit_param(&v, &n->param);
		return;
	case CJ_NODE_ATTR:
		one(&v, n->attr.path);
		all(&v, &n->attr.items);
		return;
	case CJ_NODE_ARM:
		one(&v, n->arm.cond);
		one(&v, n->arm.body);
		return;
	case CJ_NODE_FIELD:
	case CJ_NODE_SHARED:
	case CJ_NODE_TMEM:
		one(&v, n->field.type);
		all(&v, &n->field.attrs);
		return;
	case CJ_NODE_CONST:
	case CJ_NODE_LET:
	case CJ_NODE_VAR:
		visit_let(&v, &n->let);
		return;
	case CJ_NODE_FN:
		all(&v, &n->fn.params);
		one(&v, n->fn.result);
		one(&v, n->fn.body);
		return;
	case CJ_NODE_KERNEL:
		visit_kernel(&v, &n->kernel);
		return;
	case CJ_NODE_TEST:
	case CJ_NODE_BENCH:
		all(&v, &n->test.over);
		one(&v, n->test.body);
		return;
	case CJ_NODE_TUNE:
		all(&v, &n->tune.over);
		all(&v, &n->tune.where);
		return;
	case CJ_NODE_BLOCK:
		all(&v, &n->block.stmts);
		return;
	case CJ_NODE_IF:
		all(&v, &n->if_stmt.arms);
		one(&v, n->if_stmt.otherwise);
		return;
	case CJ_NODE_FOR:
		visit_for(&v, &n->for_stmt);
		return;
	case CJ_NODE_WHILE:
		one(&v, n->while_stmt.cond);
		all(&v, &n->while_stmt.attrs);
		one(&v, n->while_stmt.body);
		return;
	case CJ_NODE_RETURN:
		one(&v, n->return_stmt.value);
		return;
	case CJ_NODE_DO:
		one(&v, n->do_stmt.call);
		return;
	case CJ_NODE_ASSIGN:
		one(&v, n->assign.place);
		one(&v, n->assign.value);
		return;
	case CJ_NODE_PIPELINE:
		all(&v, &n->pipeline.items);
		all(&v, &n->pipeline.attrs);
		all(&v, &n->pipeline.fields);
		return;
	case CJ_NODE_ORDER:
		all(&v, &n->order.items);
		return;
	case CJ_NODE_ROLE:
		one(&v, n->role.count);
		all(&v, &n->role.attrs);
		one(&v, n->role.body);
		return;
	case CJ_NODE_PRODUCE:
	case CJ_NODE_CONSUME:
		one(&v, n->stage.path);
		all(&v, &n->stage.attrs);
		one(&v, n->stage.body);
		return;
	case CJ_NODE_TURN:
		one(&v, n->turn.path);
		one(&v, n->turn.index);
		one(&v, n->turn.body);
		return;
	case CJ_NODE_LAUNCH:
	case CJ_NODE_TIME:
		one(&v, n->launch.attr);
		all(&v, &n->launch.attrs);
		one(&v, n->launch.body);
		return;
	}
}
