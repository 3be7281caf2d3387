/*
 * What the passes over a finished tree share: scopes, the place in the
 * program, and the attributes that each place knows.
 */
#ifndef CJ_RESOLVE_PRIV_H
#define CJ_RESOLVE_PRIV_H

#include "parser_priv.h"

/* ---- scope.c ------------------------------------------------------------- */

/* A declared name. Level 0 is the file, each function is one level deeper. */
struct cj_decl {
	cj_name name;
	struct cj_span span;
	uint32_t level;
	uint32_t hidden;	/* 1 + index of what it hides, else 0 */
	bool is_watched;	/* a `let`, `var` or `const` of a function */
	bool is_used;
};

struct cj_scopes {
	struct cj_arena *arena;
	CJ_VEC(struct cj_decl) decls;	/* in scope, innermost last */
	CJ_VEC(uint32_t) top;		/* by name: 1 + index, else 0 */
	uint32_t level;
};

/* The innermost declaration of a name, or NULL. */
const struct cj_decl *cj_scope_find(const struct cj_scopes *s, cj_name name);

/* The same, for an expression that uses it. */
const struct cj_decl *cj_scope_use(struct cj_scopes *s, cj_name name);

/* The newest declaration is to be used. */
void cj_scope_watch(struct cj_scopes *s);

/*
 * Declare a name in the innermost scope. Returns what it hides in the same
 * function, or NULL; valid until the next declaration.
 */
const struct cj_decl *cj_scope_add(struct cj_scopes *s, struct cj_ident id);

/* A scope lasts from begin (its result) to end (which takes it). */
uint32_t cj_scope_begin(const struct cj_scopes *s);
void cj_scope_end(struct cj_scopes *s, uint32_t begin);

/* ---- attr.c -------------------------------------------------------------- */

enum cj_attr_place {
	CJ_ATTR_PARAM, CJ_ATTR_OBJECT, CJ_ATTR_LOOP, CJ_ATTR_WHILE,
	CJ_ATTR_LAUNCH, CJ_ATTR_PIPELINE, CJ_ATTR_ROLE, CJ_ATTR_PRODUCE,
	CJ_ATTR_CONSUME, CJ_ATTR_TIME
};

/* ---- resolve*.c ---------------------------------------------------------- */

/* Where in a program a statement stands. */
enum cj_place {
	CJ_IN_FN,		/* of the file: may be called from anywhere */
	CJ_IN_HOST,		/* a kernel outside its launches */
	CJ_IN_DEVICE,
	CJ_IN_TEST,
	CJ_IN_BENCH
};

/* What may be left by break, continue and return. */
struct cj_exits {
	bool has_loop;		/* break and continue find one */
	bool is_produce;	/* nearer than it stands a produce block */
};

struct cj_resolve {
	struct cj_arena *arena;
	struct cj_names *names;
	struct cj_diags *diags;
	const struct cj_tree *tree;
	const struct cj_words *words;
	struct cj_scopes scopes;
	bool checks_names;		/* nothing unseen may declare names */
	bool has_imports;		/* whose kernels may be launched */
	uint32_t assigned;		/* 1 + where the place of an assignment
					   begins that is in work */
	CJ_VEC(cj_name) reported;	/* unknown names, each once */
	cj_name tensor;			/* the word */
	enum cj_place place;
	struct cj_exits exits;
};

const char *cj_resolve_text(const struct cj_resolve *r, cj_name name);

/* The first kernel of a name in this file, or NULL. */
const struct cj_node *cj_resolve_find_kernel(const struct cj_resolve *r,
    cj_name name);

/* Does a member fit its family, and can it ever be launched (family.c)? */
void cj_resolve_family(struct cj_resolve *r, const struct cj_node *member);

/* A search (resolve_tune.c). */
void cj_resolve_tune(struct cj_resolve *r, const struct cj_node_tune *t);

/* Declare a local name; report what it hides. */
void cj_resolve_declare(struct cj_resolve *r, struct cj_ident id);

/* Leave a scope; say which of its names nobody used. */
void cj_resolve_leave(struct cj_resolve *r, uint32_t begin);

/* Declare the names of a binding. */
void cj_resolve_binding(struct cj_resolve *r, const struct cj_node *binding);

/* What an expression stands as: `_` and `*` have meaning in items only. */
enum cj_use {
	CJ_USE_VALUE,
	CJ_USE_ITEM,		/* of a call, a tuple, a layout */
	CJ_USE_INDEX,
	CJ_USE_SET
};

void cj_resolve_expr(struct cj_resolve *r, const struct cj_node *n,
    enum cj_use use);
void cj_resolve_list(struct cj_resolve *r, const struct cj_list *list,
    enum cj_use use);

/* Declare parameters, then go through their types, domains and defaults. */
void cj_resolve_params(struct cj_resolve *r, const struct cj_list *params);

/* A function's parameters and body, one level deeper. */
void cj_resolve_fn(struct cj_resolve *r, const struct cj_list *params,
    const struct cj_node *result, const struct cj_node *body);

void cj_resolve_stmt(struct cj_resolve *r, const struct cj_node *n);

/* Attributes at a place: known, once, with as many arguments as they take. */
void cj_resolve_attrs(struct cj_resolve *r, const struct cj_list *attrs,
    enum cj_attr_place place);

/* Is there that kernel? A launch may name one of an import, `tune` stands
 * beside its kernel. */
void cj_resolve_launched(struct cj_resolve *r, struct cj_ident name);
void cj_resolve_own_kernel(struct cj_resolve *r, struct cj_ident name);

#endif
