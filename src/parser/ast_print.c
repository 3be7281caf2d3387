/*
 * The tree as text: (kind part ...), for `--emit=ast`, golden tests and eyes.
 *
 * Declarations, statements, fields and arms stand on lines of their own, two
 * blanks deeper than what holds them; expressions stay on one line. Optional
 * parts carry a word in front. Chains of operators are printed without
 * recursion on their left.
 */
#include "parser.h"

struct print {
	struct cj_strbuf *out;
	struct cj_names *names;
	int indent;
};

static void print_node(struct print *p, const struct cj_node *n);

static void
newline(struct print *p)
{
	cj_strbuf_printf(p->out, "\n%*s", p->indent, "");
}

static void
puts_at(struct print *p, const char *s)
{
	cj_strbuf_puts(p->out, s);
}

static void
print_name(struct print *p, cj_name name)
{
	puts_at(p, cj_name_text(p->names, name));
}

static void
print_text(struct print *p, struct cj_text t)
{
	uint32_t i;

	cj_strbuf_putc(p->out, '"');
	for (i = 0; i < t.length; i++) {
		unsigned char c = (unsigned char)t.bytes[i];

		if (c == '"' || c == '\\')
			cj_strbuf_printf(p->out, "\\%c", c);
		else if (c == '\n')
			puts_at(p, "\\n");
		else if (c == '\t')
			puts_at(p, "\\t");
		else if (c < 0x20 || c == 0x7f)
			cj_strbuf_printf(p->out, "\\x%02x", c);
		else
			cj_strbuf_putc(p->out, (char)c);
	}
	cj_strbuf_putc(p->out, '"');
}

/* " part": one more node on this line. */
static void
part(struct print *p, const struct cj_node *n)
{
	cj_strbuf_putc(p->out, ' ');
	print_node(p, n);
}

static void
parts(struct print *p, const struct cj_list *list)
{
	uint32_t i;

	for (i = 0; i < list->count; i++)
		part(p, list->at[i]);
}

/* " (word node)" if there is a node. */
static void
worded(struct print *p, const char *word, const struct cj_node *n)
{
	if (n == NULL)
		return;
	cj_strbuf_printf(p->out, " (%s", word);
	part(p, n);
	cj_strbuf_putc(p->out, ')');
}

static void
worded_list(struct print *p, const char *word, const struct cj_list *list)
{
	if (list->count == 0)
		return;
	cj_strbuf_printf(p->out, " (%s", word);
	parts(p, list);
	cj_strbuf_putc(p->out, ')');
}

/* Nodes on lines of their own, deeper by one. */
static void
lines(struct print *p, const struct cj_list *list)
{
	uint32_t i;

	p->indent += 2;
	for (i = 0; i < list->count; i++) {
		newline(p);
		print_node(p, list->at[i]);
	}
	p->indent -= 2;
}

static void
line(struct print *p, const struct cj_node *n)
{
	struct cj_list one = { (struct cj_node **)(uintptr_t)&n, 1 };

	if (n != NULL)
		lines(p, &one);
}

/* The body of a function: a block deeper by one, an expression after =>. */
static void
body(struct print *p, const struct cj_node *n)
{
	if (n == NULL)
		return;
	if (n->kind == CJ_NODE_BLOCK) {
		line(p, n);
		return;
	}
	puts_at(p, " =>");
	part(p, n);
}

static void
spaced_name(struct print *p, cj_name name)
{
	cj_strbuf_putc(p->out, ' ');
	print_name(p, name);
}

static void
spaced_text(struct print *p, struct cj_text t)
{
	cj_strbuf_putc(p->out, ' ');
	print_text(p, t);
}

/* ---- expressions --------------------------------------------------------- */

/*
 * (+ (* a b) c): down the left operands in a loop, closing on the way up.
 * ' marks what stood in parentheses, which keep a product from being fused.
 */
static void
print_chain(struct print *p, const struct cj_node *top)
{
	uint32_t i, count;
	struct cj_node **spine = cj_node_spine(p->out->arena,
	    (struct cj_node *)(uintptr_t)top, &count);

	assert(count > 0);
	for (i = count; i-- > 0;)
		cj_strbuf_printf(p->out, "%s(%s ",
		    spine[i]->has_parens ? "'" : "",
		    cj_oper_text(spine[i]->binary.oper));
	print_node(p, spine[0]->binary.left);
	for (i = 0; i < count; i++) {
		part(p, spine[i]->binary.right);
		cj_strbuf_putc(p->out, ')');
	}
}

static void
print_number(struct print *p, const struct cj_node *n)
{
	if (n->kind == CJ_NODE_INTEGER)
		cj_strbuf_printf(p->out, "%llu",
		    (unsigned long long)n->integer.value);
	else
		puts_at(p, n->number.text);
}

static void
print_member(struct print *p, const struct cj_node *n)
{
	part(p, n->member.base);
	spaced_name(p, n->member.name.name);
}

static void
print_lambda(struct print *p, const struct cj_node *n)
{
	worded_list(p, "params", &n->lambda.params);
	body(p, n->lambda.body);
}

static void
print_named(struct print *p, const struct cj_node *n)
{
	spaced_name(p, n->named.name.name);
	part(p, n->named.value);
}

static void
print_const_bind(struct print *p, const struct cj_node *n)
{
	part(p, n->const_bind.binding);
	worded(p, "in", n->const_bind.domain);
}

static void
print_if_value(struct print *p, const struct cj_node *n)
{
	uint32_t i;

	for (i = 0; i < n->if_value.arms.count; i++) {
		part(p, n->if_value.arms.at[i]->arm.cond);
		part(p, n->if_value.arms.at[i]->arm.body);
	}
	worded(p, "else", n->if_value.otherwise);
}

static void
print_param(struct print *p, const struct cj_node *n)
{
	const struct cj_node_param *q = &n->param;
	static const char *const modes[] = { "", " const", " var" };

	puts_at(p, modes[q->mode]);
	spaced_name(p, q->name.name);
	worded(p, "type", q->type);
	worded_list(p, "attrs", &q->attrs);
	worded(p, "in", q->domain);
	worded(p, "default", q->init);
}

static void
print_attr(struct print *p, const struct cj_node *n)
{
	const struct cj_node_attr *a = &n->attr;
	uint32_t i;

	part(p, a->path);
	if (!a->has_list)
		return;
	puts_at(p, " (");
	for (i = 0; i < a->items.count; i++) {
		puts_at(p, i > 0 ? " " : "");
		print_node(p, a->items.at[i]);
	}
	cj_strbuf_putc(p->out, ')');
}

/* ---- declarations -------------------------------------------------------- */

static void
print_kernel(struct print *p, const struct cj_node *n)
{
	const struct cj_node_kernel *k = &n->kernel;

	spaced_name(p, k->name.name);
	lines(p, &k->params);
	p->indent += 2;
	if (k->where.count > 0) {
		newline(p);
		puts_at(p, "(where");
		parts(p, &k->where);
		puts_at(p, ")");
	}
	if (k->targets.count > 0) {
		newline(p);
		puts_at(p, "(target");
		parts(p, &k->targets);
		puts_at(p, ")");
	}
	p->indent -= 2;
	line(p, k->body);
}

static void
print_fn(struct print *p, const struct cj_node *n)
{
	const struct cj_node_fn *f = &n->fn;

	if (f->is_extern)
		puts_at(p, " extern");
	spaced_name(p, f->name.name);
	worded_list(p, "params", &f->params);
	worded(p, "result", f->result);
	body(p, f->body);
}

static void
print_import(struct print *p, const struct cj_node *n)
{
	const struct cj_node_import *i = &n->import;

	spaced_text(p, i->path);
	if (i->alias.name == 0)
		return;
	puts_at(p, " as");
	spaced_name(p, i->alias.name);
}

static void
print_let(struct print *p, const struct cj_node *n)
{
	const struct cj_node_let *l = &n->let;

	part(p, l->binding);
	worded(p, "type", l->type);
	part(p, l->init);
}

static void
print_cuda(struct print *p, const struct cj_node *n)
{
	puts_at(p, n->cuda.is_file ? " file" : "");
	spaced_text(p, n->cuda.text);
}

static void
print_bitcode(struct print *p, const struct cj_node *n)
{
	spaced_text(p, n->bitcode.path);
}

static void
print_test(struct print *p, const struct cj_node *n)
{
	spaced_text(p, n->test.title);
	lines(p, &n->test.over);
	line(p, n->test.body);
}

static void
print_tune(struct print *p, const struct cj_node *n)
{
	spaced_name(p, n->tune.name.name);
	lines(p, &n->tune.over);
	worded_list(p, "where", &n->tune.where);
}

/* ---- statements ---------------------------------------------------------- */

static void
print_if(struct print *p, const struct cj_node *n)
{
	const struct cj_node_if *s = &n->if_stmt;
	uint32_t i;

	p->indent += 2;
	for (i = 0; i < s->arms.count; i++) {
		const struct cj_node_arm *a = &s->arms.at[i]->arm;

		newline(p);
		puts_at(p, a->is_const ? "(arm const" : "(arm");
		part(p, a->cond);
		line(p, a->body);
		puts_at(p, ")");
	}
	if (s->otherwise != NULL) {
		newline(p);
		puts_at(p, "(else");
		line(p, s->otherwise);
		puts_at(p, ")");
	}
	p->indent -= 2;
}

static void
print_for(struct print *p, const struct cj_node *n)
{
	const struct cj_node_for *f = &n->for_stmt;

	if (f->is_const)
		puts_at(p, " const");
	part(p, f->binding);
	part(p, f->over);
	worded_list(p, "attrs", &f->attrs);
	line(p, f->body);
}

static void
print_field(struct print *p, const struct cj_node *n)
{
	if (n->kind == CJ_NODE_FIELD && n->field.is_tmem)
		puts_at(p, " tmem");
	spaced_name(p, n->field.name.name);
	worded(p, "type", n->field.type);
	worded_list(p, "attrs", &n->field.attrs);
}

static void
print_stage(struct print *p, const struct cj_node *n)
{
	const struct cj_node_stage *s = &n->stage;

	part(p, s->path);
	spaced_name(p, s->name.name);
	worded_list(p, "attrs", &s->attrs);
	line(p, s->body);
}

static void
print_role(struct print *p, const struct cj_node *n)
{
	const struct cj_node_role *r = &n->role;

	spaced_name(p, r->name.name);
	worded(p, "count", r->count);
	worded_list(p, "attrs", &r->attrs);
	line(p, r->body);
}

static void
print_assign(struct print *p, const struct cj_node *n)
{
	const struct cj_node_assign *a = &n->assign;

	cj_strbuf_printf(p->out, " %s=", cj_oper_text(a->oper));
	part(p, a->place);
	part(p, a->value);
}

static void
print_block(struct print *p, const struct cj_node *n)
{
	lines(p, &n->block.stmts);
}

static void
print_while(struct print *p, const struct cj_node *n)
{
	part(p, n->while_stmt.cond);
	worded_list(p, "attrs", &n->while_stmt.attrs);
	line(p, n->while_stmt.body);
}

static void
print_pipeline(struct print *p, const struct cj_node *n)
{
	spaced_name(p, n->pipeline.name.name);
	parts(p, &n->pipeline.items);
	worded_list(p, "attrs", &n->pipeline.attrs);
	lines(p, &n->pipeline.fields);
}

static void
print_order(struct print *p, const struct cj_node *n)
{
	spaced_name(p, n->order.name.name);
	parts(p, &n->order.items);
}

static void
print_turn(struct print *p, const struct cj_node *n)
{
	part(p, n->turn.path);
	part(p, n->turn.index);
	line(p, n->turn.body);
}

static void
print_launch(struct print *p, const struct cj_node *n)
{
	part(p, n->launch.attr);
	parts(p, &n->launch.attrs);
	line(p, n->launch.body);
}

/* ---- nodes --------------------------------------------------------------- */

/* Parts in order, as far as a kind has nothing else to say. */
static void
print_below(void *print, struct cj_node *n)
{
	part(print, n);
}

/* What stands behind the word of a kind; NULL: its parts. */
static void (*const kinds_parts[CJ_NODE_COUNT])(struct print *p,
    const struct cj_node *n) = {
	[CJ_NODE_MEMBER] = print_member,
	[CJ_NODE_LAMBDA] = print_lambda,
	[CJ_NODE_IF_VALUE] = print_if_value,
	[CJ_NODE_NAMED] = print_named,
	[CJ_NODE_CONST_BIND] = print_const_bind,
	[CJ_NODE_PARAM] = print_param,
	[CJ_NODE_ATTR] = print_attr,
	[CJ_NODE_FIELD] = print_field,
	[CJ_NODE_IMPORT] = print_import,
	[CJ_NODE_CONST] = print_let,
	[CJ_NODE_FN] = print_fn,
	[CJ_NODE_EXTERN_CUDA] = print_cuda,
	[CJ_NODE_EXTERN_BITCODE] = print_bitcode,
	[CJ_NODE_KERNEL] = print_kernel,
	[CJ_NODE_TEST] = print_test,
	[CJ_NODE_BENCH] = print_test,
	[CJ_NODE_TUNE] = print_tune,
	[CJ_NODE_BLOCK] = print_block,
	[CJ_NODE_LET] = print_let,
	[CJ_NODE_VAR] = print_let,
	[CJ_NODE_IF] = print_if,
	[CJ_NODE_FOR] = print_for,
	[CJ_NODE_WHILE] = print_while,
	[CJ_NODE_ASSIGN] = print_assign,
	[CJ_NODE_SHARED] = print_field,
	[CJ_NODE_TMEM] = print_field,
	[CJ_NODE_PIPELINE] = print_pipeline,
	[CJ_NODE_ORDER] = print_order,
	[CJ_NODE_ROLE] = print_role,
	[CJ_NODE_PRODUCE] = print_stage,
	[CJ_NODE_CONSUME] = print_stage,
	[CJ_NODE_TURN] = print_turn,
	[CJ_NODE_LAUNCH] = print_launch,
	[CJ_NODE_TIME] = print_launch,
};

/* Leaves are their own text; false: it is no leaf. */
static bool
print_leaf(struct print *p, const struct cj_node *n)
{
	if (n->kind == CJ_NODE_NAME)
		print_name(p, n->name.name);
	else if (n->kind == CJ_NODE_ANY)
		puts_at(p, "_");
	else if (n->kind == CJ_NODE_INTEGER || n->kind == CJ_NODE_NUMBER)
		print_number(p, n);
	else if (n->kind == CJ_NODE_STRING)
		print_text(p, n->string.text);
	else if (n->kind == CJ_NODE_BOOL)
		puts_at(p, n->boolean.value ? "true" : "false");
	else if (n->kind == CJ_NODE_FN_TYPE)
		puts_at(p, "fn");
	else if (n->kind == CJ_NODE_CHOICE)
		cj_strbuf_printf(p->out, ".%s",
		    cj_name_text(p->names, n->choice.name.name));
	else
		return false;
	return true;
}

static void
print_node(struct print *p, const struct cj_node *n)
{
	if (print_leaf(p, n))
		return;
	if (n->kind == CJ_NODE_BINARY) {
		print_chain(p, n);
		return;
	}
	cj_strbuf_printf(p->out, "(%s", n->kind == CJ_NODE_UNARY ?
	    cj_oper_text(n->unary.oper) : cj_node_kind_text(n->kind));
	if (kinds_parts[n->kind] != NULL)
		kinds_parts[n->kind](p, n);
	else
		cj_node_visit(n, print_below, p);
	cj_strbuf_putc(p->out, ')');
}

void
cj_node_print(struct cj_strbuf *out, struct cj_names *names,
    const struct cj_node *node)
{
	struct print p = { out, names, 0 };

	print_node(&p, node);
}

void
cj_tree_print(struct cj_strbuf *out, struct cj_names *names,
    const struct cj_tree *tree)
{
	uint32_t i;

	for (i = 0; i < tree->decls.count; i++) {
		cj_node_print(out, names, tree->decls.at[i]);
		cj_strbuf_putc(out, '\n');
	}
}
