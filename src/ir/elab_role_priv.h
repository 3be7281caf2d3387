/*
 * Between the files that compare roles: what a role does to pipelines and
 * orders, as a tree over values that all roles share.
 */
#ifndef CJ_ELAB_ROLE_PRIV_H
#define CJ_ELAB_ROLE_PRIV_H

#include "elab_priv.h"

/* A condition; interned, so that equal ones are one. */
enum cj_cond_kind { CJ_COND_KNOWN, CJ_COND_POSITIVE, CJ_COND_NOT, CJ_COND_AND,
    CJ_COND_OR };
struct cj_cond {
	enum cj_cond_kind kind;
	bool truth;			/* KNOWN */
	struct cj_int e;		/* POSITIVE: e > 0 */
	const struct cj_cond *x, *y;
	uint32_t number;
};

enum cj_deed_kind {
	CJ_DEED_OP,			/* one stage, or one turn */
	CJ_DEED_SKIP,			/* max(n, 0) stages */
	CJ_DEED_IF,
	CJ_DEED_FOR,			/* lo, hi, step */
	CJ_DEED_WHILE,
	CJ_DEED_EXIT			/* leaves the loop around */
};

struct cj_deed;
struct cj_deeds {
	const struct cj_deed **at;
	uint32_t len, cap;
};

struct cj_deed {
	enum cj_deed_kind kind;
	cj_ref at;			/* the instruction */
	uint32_t pipeline, order;	/* OP, SKIP: one of them */
	struct cj_int n;		/* SKIP */
	const struct cj_cond *cond;
	struct cj_int lo, hi, step, index;
	struct cj_deeds then, other;	/* IF; `then` is a loop's body */
	const char *loop;		/* FOR, WHILE: its key */
};

/* What a role did, and how its variables went on in loops. */
struct cj_role_text {
	uint32_t number;		/* role of the module; 0: outside */
	struct cj_deeds deeds;
};

/* A symbol: what nothing more is known of than its key. */
struct cj_role_atom {
	const char *key;
	struct cj_int symbol;
	struct cj_int of[4];	/* it is made of these, */
	uint32_t count;
	const struct cj_cond *cond;	/* and of this; NULL: of none */
	bool varies;		/* another one each time it is made */
};

/* A `var` in a loop. */
struct cj_role_var {
	const char *key, *loop;
	struct cj_int first, now, next;	/* `now`: the symbol of a turn */
	bool is_known, is_bad;
};

struct cj_compare {
	struct cj_elab *el;
	struct cj_symtab sym;
	CJ_VEC(struct cj_role_text) roles;
	CJ_VEC(struct cj_role_atom) atoms;	/* by symbol */
	CJ_VEC(const struct cj_cond *) conds;
	/* variables of loops: the key, what becomes of it, and whether roles
	 * disagree about that */
	CJ_VEC(struct cj_role_var) carried;
};

/* ---- while roles are read ------------------------------------------------ */

struct cj_role_value {
	bool is_known, is_cond;
	struct cj_int i;
	const struct cj_cond *cond;
};

struct cj_role_reader {
	struct cj_compare *c;
	const struct cj_module *m;
	uint32_t role;
	struct cj_role_value *values;	/* by ref */
	struct cj_int *slots;	/* by object: what it holds */
	bool *has_slot;
	unsigned depth;		/* of loops */
	uint32_t unique;	/* made so far */
	CJ_VEC(cj_ref) draws;	/* of this role, in its text */
	uint32_t steps;
	/* the loop that is read: what its ways end with */
	struct cj_int *end;
	bool *has_end;
	bool some_end;
};

/* Values of instructions (elab_role_value.c). */
struct cj_role_value cj_role_evaluate(struct cj_role_reader *r,
    const struct cj_inst *i);
struct cj_role_value cj_role_operand(struct cj_role_reader *r,
    const struct cj_inst *i, unsigned n);
struct cj_role_value cj_role_of_int(struct cj_int i);
/* An integer, a truth as 0 or 1; a truth, an integer if it is positive. */
struct cj_int cj_role_int(struct cj_role_reader *r, struct cj_role_value v);
const struct cj_cond *cj_role_cond(struct cj_role_reader *r,
    struct cj_role_value v);
/* A value that is equal to no other one. */
struct cj_int cj_role_unlike(struct cj_role_reader *r, const char *name);
const char *cj_role_key(struct cj_role_reader *r, struct cj_int i);
/* Does a pipeline carry drawn numbers? */
bool cj_role_is_drawn(const struct cj_role_reader *r, uint32_t pipeline);

/* ---- roles --------------------------------------------------------------- */

/* Read all roles of the launch (elab_role_text.c). */
void cj_roles_read(struct cj_compare *c);
/* The symbol of a key; of and cond of a new one are set by the caller. */
struct cj_int cj_role_symbol(struct cj_compare *c, const char *key,
    const char *name, int64_t lo, int64_t hi);
struct cj_role_atom *cj_role_atom_of(struct cj_compare *c, struct cj_int s);
/* Is a value made of another one, the index of a loop? */
bool cj_role_depends(struct cj_compare *c, struct cj_int e, struct cj_int on);

/* Refuse roles that agree, and wait for each other all the same
 * (elab_role_hang.c). */
void cj_roles_check_order(struct cj_compare *c);

#endif
