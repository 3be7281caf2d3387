/*
 * Where a dependent launch waits for the one in front of it (depend.c).
 */
#ifndef CJ_DEPEND_H
#define CJ_DEPEND_H

#include "base/diag.h"
#include "ir.h"

struct cj_waits {
	bool is_dependent;
	bool at_begin, at_end;		/* in front of all, behind all */
	CJ_VEC(cj_ref) before;		/* in front of these, in order */
};

struct cj_waits cj_waits_plan(struct cj_arena *a, const struct cj_module *m,
    uint32_t function);

/* Warn of what is read early and waits all the same, in every launch. */
void cj_waits_report(struct cj_arena *a, const struct cj_module *m,
    struct cj_diags *ds);

/* PTX that only deals out registers or fills one: it touches no memory. */
bool cj_inst_moves_registers(const struct cj_module *m,
    const struct cj_inst *i);

#endif
