/*
 * The tree of one text: what the parser builds and everyone else reads.
 *
 * A node is a kind, a place and the members of its kind (a tagged union; the
 * kinds are rows of node.def, which names the member that holds). Trees live
 * on the arena of their text, are complete when cj_parse returns, are not
 * written afterwards, and may be read from many threads.
 *
 * Lists are arrays of nodes. A pointer that may be NULL says so; all others
 * are set, also in the tree of a wrong text, where CJ_NODE_ERROR stands for
 * what could not be read. A cj_name of 0 is no name.
 *
 * Depth. No path from a node down to a leaf is longer than CJ_NEST_MAX if ARM
 * and left operands of BINARY are not counted, so walkers may recurse, but
 * must go down the left operands of BINARY in a loop (20,000 summands are one
 * such chain; cj_node_spine lists it). Arms of an `if`, however many, are one
 * list. (x) is x: parentheses are a flag on x and no level of the tree.
 */
#ifndef CJ_AST_H
#define CJ_AST_H

#include "base/base.h"

/* Levels of nesting; chosen so that walkers fit a stack of 512 KiB. */
#define CJ_NEST_MAX	256

enum cj_node_kind {
#define NODE(kind, member, text, below) CJ_NODE_##kind,
#include "node.def"
#undef NODE
	CJ_NODE_COUNT
};

enum cj_oper {
	CJ_OPER_NONE,		/* `=` in an assignment */
#define OPER(name, text, precedence) CJ_OPER_##name,
#include "oper.def"
#undef OPER
	CJ_OPER_COUNT
};

struct cj_node;

struct cj_list {
	struct cj_node **at;
	uint32_t count;
};

/* A name and where it stands; name 0: there is none. */
struct cj_ident {
	cj_name name;
	struct cj_span span;
};

/* Bytes after escapes; may hold NUL, and one more follows. */
struct cj_text {
	const char *bytes;
	uint32_t length;
};

/* ---- expressions --------------------------------------------------------- */

struct cj_node_name {
	cj_name name;
};

struct cj_node_integer {
	uint64_t value;		/* too large ones are errors before */
};

struct cj_node_number {
	double value;		/* nearest */
	const char *text;	/* as written, without `_` */
};

struct cj_node_string {
	struct cj_text text;	/* neighbours joined */
};

struct cj_node_bool {
	bool value;
};

struct cj_node_choice {		/* .name */
	struct cj_ident name;
};

/*
 * () (x,) (x, y) (a = 1): items are expressions, NAMED, SPREAD, in patterns
 * CONST_BIND and ANY. As a binding: NAME, ANY, TUPLE of these.
 */
struct cj_node_tuple {
	struct cj_list items;
};

struct cj_node_call {
	struct cj_node *callee;
	struct cj_list items;	/* as in a tuple */
};

struct cj_node_index {
	struct cj_node *base;
	struct cj_list items;	/* expressions, RANGE, ANY, TUPLE, SPREAD */
};

struct cj_node_member {
	struct cj_node *base;
	struct cj_ident name;
};

struct cj_node_unary {
	enum cj_oper oper;	/* NEG, NOT, BIT_NOT */
	struct cj_node *operand;
};

struct cj_node_binary {
	enum cj_oper oper;	/* OR ... MOD */
	struct cj_span oper_span;
	struct cj_node *left, *right;
};

struct cj_node_in {
	struct cj_node *value;
	struct cj_list items;	/* of the set */
};

struct cj_node_range {		/* half open */
	struct cj_node *first, *last;
};

struct cj_node_layout {
	struct cj_node *shape, *stride;
};

struct cj_node_lambda {
	struct cj_list params;	/* PARAM */
	struct cj_node *body;	/* BLOCK, else an expression */
};

struct cj_node_if_value {
	struct cj_list arms;	/* ARM, bodies are expressions */
	struct cj_node *otherwise;
};

/* ---- items and parts ----------------------------------------------------- */

struct cj_node_named {
	struct cj_ident name;
	struct cj_node *value;
};

struct cj_node_spread {
	struct cj_node *operand;	/* in a pattern: a NAME or ANY */
};

struct cj_node_const_bind {
	struct cj_node *binding;
	struct cj_node *domain;	/* SET or expression (a range); may be NULL */
};

struct cj_node_set {
	struct cj_list items;
};

struct cj_node_each {
	struct cj_node *binding;
	struct cj_node *domain;	/* SET or expression */
};

enum cj_mode {
	CJ_MODE_PLAIN,		/* given at run time, or generic in a fn */
	CJ_MODE_CONST,
	CJ_MODE_VAR		/* passed in and out */
};

struct cj_node_param {
	enum cj_mode mode;
	struct cj_ident name;
	struct cj_node *type;	/* may be NULL */
	struct cj_list attrs;	/* ATTR */
	struct cj_node *domain;	/* SET or expression; may be NULL */
	struct cj_node *init;	/* default; may be NULL */
};

struct cj_node_attr {
	cj_name name;		/* of a path that is one NAME, else 0 */
	struct cj_node *path;	/* NAME, MEMBER, INDEX */
	struct cj_list items;
	bool has_list;		/* align() has an empty list, split none */
};

struct cj_node_arm {
	bool is_const;		/* `const if` */
	struct cj_node *cond;
	struct cj_node *body;	/* BLOCK, in an IF_VALUE an expression */
};

struct cj_node_field {		/* FIELD, SHARED, TMEM */
	bool is_tmem;
	struct cj_ident name;
	struct cj_node *type;
	struct cj_list attrs;
};

/* ---- declarations -------------------------------------------------------- */

struct cj_node_import {
	struct cj_text path;
	struct cj_span path_span;
	struct cj_ident alias;	/* name 0: none */
};

struct cj_node_let {		/* CONST, LET, VAR */
	struct cj_node *binding;
	struct cj_node *type;	/* may be NULL */
	struct cj_node *init;
};

struct cj_node_fn {
	bool is_extern;
	struct cj_ident name;
	struct cj_list params;
	struct cj_node *result;	/* type; may be NULL */
	struct cj_node *body;	/* BLOCK or expression; NULL: only declared */
};

struct cj_node_cuda {
	bool is_file;		/* text is a path, else CUDA C++ */
	struct cj_text text;
	struct cj_span text_span;
};

struct cj_node_bitcode {
	struct cj_text path;
	struct cj_span path_span;
};

struct cj_node_kernel {
	struct cj_ident name;
	struct cj_list params;
	struct cj_list where;	/* expressions */
	struct cj_list targets;	/* NAME */
	struct cj_node *body;	/* BLOCK */
};

struct cj_node_test {		/* TEST, BENCH */
	struct cj_text title;
	struct cj_span title_span;
	struct cj_list over;	/* EACH */
	struct cj_node *body;	/* BLOCK */
};

struct cj_node_tune {
	struct cj_ident name;
	struct cj_list over;	/* EACH */
	struct cj_list where;
};

/* ---- statements ---------------------------------------------------------- */

struct cj_node_block {
	struct cj_list stmts;
};

struct cj_node_if {
	struct cj_list arms;	/* ARM, bodies are BLOCKs */
	struct cj_node *otherwise;	/* BLOCK; may be NULL */
};

struct cj_node_for {
	bool is_const;
	struct cj_node *binding;
	struct cj_node *over;
	struct cj_list attrs;	/* step(n) unroll(n) */
	struct cj_node *body;
};

struct cj_node_while {
	struct cj_node *cond;
	struct cj_list attrs;
	struct cj_node *body;
};

struct cj_node_return {
	struct cj_node *value;	/* may be NULL */
};

struct cj_node_do {
	struct cj_node *call;	/* CALL, once the text is resolved */
};

struct cj_node_assign {
	enum cj_oper oper;	/* NONE for `=`, ADD for `+=`, ... */
	struct cj_span oper_span;
	struct cj_node *place;
	struct cj_node *value;
};

struct cj_node_pipeline {
	struct cj_ident name;
	struct cj_list items;	/* number of stages */
	struct cj_list attrs;	/* split */
	struct cj_list fields;	/* FIELD */
};

struct cj_node_order {
	struct cj_ident name;
	struct cj_list items;
};

struct cj_node_role {
	struct cj_ident name;
	struct cj_node *count;	/* role name[count]; may be NULL */
	struct cj_list attrs;
	struct cj_node *body;
};

struct cj_node_stage {		/* PRODUCE, CONSUME */
	struct cj_node *path;
	struct cj_ident name;
	struct cj_list attrs;
	struct cj_node *body;
};

struct cj_node_turn {
	struct cj_node *path;
	struct cj_node *index;
	struct cj_node *body;
};

/*
 * LAUNCH with a body is a launch block: attr and attrs together are its
 * attributes (grid first). LAUNCH without one calls the kernel in attr: path
 * is its name or name[i], items are its arguments. TIME calls the kernel in
 * attr, attrs are bytes(n) and flops(n).
 */
struct cj_node_launch {
	struct cj_node *attr;
	struct cj_list attrs;
	struct cj_node *body;	/* BLOCK or NULL */
};

/* -------------------------------------------------------------------------- */

struct cj_node {
	enum cj_node_kind kind;
	uint16_t depth;		/* levels below and with this one */
	bool has_parens;	/* stood in ( ): (a * b) + c is not fused */
	struct cj_span span;	/* with its parentheses */
	union {
		struct cj_node_name name;
		struct cj_node_integer integer;
		struct cj_node_number number;
		struct cj_node_string string;
		struct cj_node_bool boolean;
		struct cj_node_choice choice;
		struct cj_node_tuple tuple;
		struct cj_node_call call;
		struct cj_node_index index;
		struct cj_node_member member;
		struct cj_node_unary unary;
		struct cj_node_binary binary;
		struct cj_node_in in;
		struct cj_node_range range;
		struct cj_node_layout layout;
		struct cj_node_lambda lambda;
		struct cj_node_if_value if_value;

		struct cj_node_named named;
		struct cj_node_spread spread;
		struct cj_node_const_bind const_bind;
		struct cj_node_set set;
		struct cj_node_each each;
		struct cj_node_param param;
		struct cj_node_attr attr;
		struct cj_node_arm arm;
		struct cj_node_field field;

		struct cj_node_import import;
		struct cj_node_let let;
		struct cj_node_fn fn;
		struct cj_node_cuda cuda;
		struct cj_node_bitcode bitcode;
		struct cj_node_kernel kernel;
		struct cj_node_test test;
		struct cj_node_tune tune;

		struct cj_node_block block;
		struct cj_node_if if_stmt;
		struct cj_node_for for_stmt;
		struct cj_node_while while_stmt;
		struct cj_node_return return_stmt;
		struct cj_node_do do_stmt;
		struct cj_node_assign assign;
		struct cj_node_pipeline pipeline;
		struct cj_node_order order;
		struct cj_node_role role;
		struct cj_node_stage stage;
		struct cj_node_turn turn;
		struct cj_node_launch launch;
	};
};

const char *cj_node_kind_text(enum cj_node_kind kind);
const char *cj_oper_text(enum cj_oper oper);	/* "" for NONE */

/*
 * The left spine of a BINARY node, innermost first: for ((a + b) * c) - d the
 * nodes of +, *, -. For any other node, count is 0 (and the result valid).
 */
struct cj_node **cj_node_spine(struct cj_arena *a, struct cj_node *top,
    uint32_t *count);

/* Call `see` for each node directly below `node`, in order of the text. */
void cj_node_visit(const struct cj_node *node,
    void (*see)(void *context, struct cj_node *below), void *context);

/* The attribute called `name` of a list, or NULL. */
struct cj_node *cj_attr_find(const struct cj_list *attrs, cj_name name);

#endif
