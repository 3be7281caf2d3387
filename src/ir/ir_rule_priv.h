/*
 * Private to ir_rule*.c: an instruction under examination.
 */
#ifndef CJ_IR_RULE_PRIV_H
#define CJ_IR_RULE_PRIV_H

#include "ir_priv.h"

/* The instruction, with its operands' types at hand. */
struct cj_rule_view {
	const struct cj_module *m;
	const struct cj_inst *i;
};

cj_type cj_rule_type(const struct cj_rule_view *v, unsigned n);
static inline enum cj_kind
cj_rule_kind(const struct cj_rule_view *v, unsigned n)
{
	return cj_type_kind(cj_rule_type(v, n));
}

static inline const struct cj_access *
cj_rule_access(const struct cj_rule_view *v)
{
	assert(cj_op_info[v->i->op].attr == CJ_ATTR_ACCESS);
	return &v->m->accesses.at[v->i->attr];
}

static inline const struct cj_object *
cj_rule_object(const struct cj_rule_view *v)
{
	return &v->m->objects.at[cj_rule_access(v)->object];
}

bool cj_rule_is_index(const struct cj_rule_view *v, unsigned n);
bool cj_rule_is_bool(const struct cj_rule_view *v, unsigned n);
/* Operands from .. to - 1. */
bool cj_rule_are_indices(const struct cj_rule_view *v, unsigned from,
    unsigned to);

/* What the rows of memory demand, and of all that follows here; NULL for
 * others. ir_rule_memory.c */
const char *cj_rule_memory(const struct cj_rule_view *v);
/* The same of asynchronous operations, ir_rule_async.c */
const char *cj_rule_async(const struct cj_rule_view *v);
/* The same of tensor memory, ir_rule_tmem.c */
const char *cj_rule_tmem(const struct cj_rule_view *v);

#endif
