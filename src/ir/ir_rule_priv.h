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
bool cj_rule_is_index(const struct cj_rule_view *v, unsigned n);
bool cj_rule_is_bool(const struct cj_rule_view *v, unsigned n);
/* Operands from .. to - 1. */
bool cj_rule_are_indices(const struct cj_rule_view *v, unsigned from,
    unsigned to);

/* What the rows of asynchronous operations demand; NULL for others.
 * ir_rule_async.c */
const char *cj_rule_async(const struct cj_rule_view *v);
/* The same of tensor memory, ir_rule_tmem.c */
const char *cj_rule_tmem(const struct cj_rule_view *v);

#endif
