/*
 * Between the files of kernels: parameter patterns, walked three times in the
 * same order.
 *
 *	BIND	what the caller's arguments bind at compile time
 *	CHECK	host code that requires what the pattern demands; nothing is
 *		assumed, so that no check proves itself
 *	ASSUME	the same symbols anew, with what the checks established
 */
#ifndef CJ_ELAB_CONTRACT_H
#define CJ_ELAB_CONTRACT_H

#include "elab_priv.h"

enum { CJ_MAX_MODES = 32, CJ_MAX_MEMBERS = 256 };

/* A run-time parameter as it is written. */
struct cj_pattern {
	const struct cj_node *param;
	uint32_t number;		/* among the run-time parameters */
	bool is_tensor, is_array, is_optional;
	const struct cj_node *type;	/* of the elements, or of the scalar */
	const struct cj_node *count;	/* tensor(...)[count] */
	const struct cj_node *shape;
	const struct cj_node *stride;	/* NULL: any */
	const struct cj_node *align, *unit, *alias;	/* ATTR or NULL */
};

/* What the binding says of a run-time parameter. */
struct cj_bound_param {
	bool present;
	uint32_t count;			/* tensors of x[n]; 1 */
	uint32_t rank;
};

struct cj_bound_name {
	cj_name name;
	struct cj_value value;
};

struct cj_binding {
	const char *text;
	const struct cj_member_info *member;
	CJ_VEC(struct cj_bound_name) consts;	/* const parameters */
	CJ_VEC(struct cj_bound_param) params;
	CJ_VEC(int64_t) pattern;	/* `const` of patterns, as walked */
};

enum cj_walk_kind { CJ_WALK_BIND, CJ_WALK_CHECK, CJ_WALK_ASSUME };

/* What was established about a symbol. */
struct cj_known_fact {
	int64_t lo, hi, divisor;
};

struct cj_contract {
	struct cj_elab *el;
	enum cj_walk_kind walk;
	const struct cj_node *kernel;
	struct cj_binding *b;
	uint32_t next;			/* of b->pattern */
	const struct cj_actual *actuals;	/* BIND; may be NULL */
	uint32_t actual_count;
	const struct cj_const_argument *given;	/* BIND */
	uint32_t given_count;
	CJ_VEC(const char *) asked;	/* BIND: names that patterns need */
	const char **why;		/* BIND: why it does not fit */
	struct cj_span *why_span;
	struct cj_strbuf text;		/* BIND: of the binding */
	CJ_VEC(struct cj_known_fact) facts;	/* by symbol */
	CJ_VEC(uint32_t) objects;	/* ASSUME: by parameter and member */
};

/* Patterns of the run-time parameters in order; false: reported. */
bool cj_pattern_list(struct cj_elab *el, const struct cj_node *kernel,
    const struct cj_pattern **out, uint32_t *count);
/* The nodes of the modes of a shape or stride for a rank; NULL for a mode of
 * `*S`. rest: the SPREAD or NULL, and where it begins. False: no fit. */
bool cj_pattern_modes(const struct cj_node *n, uint32_t rank,
    const struct cj_node **modes, const struct cj_node **rest,
    uint32_t *first);
/* Rank without, and least rank with, a `*S`. */
uint32_t cj_pattern_rank(const struct cj_node *n,
    const struct cj_node **rest);

/* Bind all parameters in el->env, in the way of c->walk. False: reported, or
 * does not fit. */
bool cj_contract_walk(struct cj_contract *c);
/* Does not fit, in one line. False. */
bool cj_contract_refuse(struct cj_contract *c, struct cj_span span,
    const char *format, ...) __attribute__((format(printf, 3, 4)));

/* May elements of one kind be given as another? An f32 is a tf32 whose last 13
 * bits nobody looks at, where the caller says so. */
bool cj_contract_takes(enum cj_kind element, enum cj_kind given);

/* What the caller has given for a name, or NULL. */
const struct cj_const_argument *cj_contract_argument(
    const struct cj_contract *c, const char *name);

/* The `where` conditions: BIND decides known ones, CHECK requires the rest
 * and gathers facts. */
bool cj_contract_where(struct cj_contract *c);
/* A condition that is wrong at run time. `need` is what holds otherwise. */
void cj_contract_require(struct cj_contract *c, cj_ref condition,
    const char *parameter, const char *need, const struct cj_int *shown,
    uint32_t count);
/* The value lies in the set or range; false: it does not fit, or reported. */
bool cj_contract_domain(struct cj_contract *c, const struct cj_node *domain,
    const char *name, struct cj_value v);
/* ", name=value" at the end of the binding's text. */
void cj_contract_name(struct cj_contract *c, const char *name,
    const char *value);
void cj_contract_fact(struct cj_contract *c, struct cj_int symbol,
    int64_t lo, int64_t hi, int64_t divisor);

/* One tensor of a parameter. */
struct cj_matched {
	struct cj_contract *c;
	const struct cj_pattern *p;
	uint32_t member, rank;
	const struct cj_actual *actual;		/* BIND, may be NULL */
	enum cj_kind element;
	struct cj_int extent[CJ_MAX_MODES], stride[CJ_MAX_MODES];
	const char *name;			/* "x", "x[1]" */
};

/* A number of the argument as a symbol of its own. */
struct cj_int cj_contract_symbol(struct cj_matched *m,
    enum cj_leaf_kind kind, uint32_t mode, const char *name);
/* "stride of mode 1 of x" */
const char *cj_contract_mode(struct cj_matched *m, const char *what,
    uint32_t mode);
/* The first value of a domain, as text; NULL: it says none. */
const char *cj_domain_first(struct cj_elab *el, const struct cj_node *domain);
/* A number for `const name` where no argument binds it; false: refused. */
bool cj_contract_given(struct cj_matched *m, const struct cj_node *bind,
    const char *name, int64_t *out);
/* One extent or stride of the pattern: what it is in the layout, checked. */
bool cj_contract_number(struct cj_matched *m, const struct cj_node *n,
    enum cj_leaf_kind kind, uint32_t mode, struct cj_int *out);
/* `actual`, a symbol of its own, is `wanted`; a stride (extent given) of one
 * element is anything. */
void cj_contract_equal(struct cj_matched *m, struct cj_int actual,
    struct cj_int wanted, const struct cj_int *extent);
/* refs[0] is the condition, the others are the values of r->names. */
void cj_contract_emit(struct cj_contract *c, const struct cj_require *r,
    const cj_ref *refs, uint32_t count);
cj_ref cj_contract_compare(struct cj_elab *el, enum cj_op op,
    struct cj_int a, struct cj_int b);
cj_ref cj_contract_either(struct cj_elab *el, cj_ref a, cj_ref b);

#endif
