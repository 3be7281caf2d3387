/*
 * Stages of every compile as files: CUTEJIT_DUMP=KIND[,...][:FOLDER] (dump.c).
 */
#ifndef CJ_DUMP_H
#define CJ_DUMP_H

#include "runtime.h"

/* The program has just come to `stage`: write what is asked of it. Failures
 * are logged and forgotten. */
void cj_dump_stage(struct cj_work *f, struct cutejit_module *m,
    const struct cj_recipe *r, struct cj_program *p, enum cj_stage stage);

#endif
