/*
 * Opening the generator beside other work (opening.c).
 */
#ifndef CJ_OPENING_H
#define CJ_OPENING_H

#include "runtime.h"

struct cj_opening;

/* NULL: there is nothing to wait for. */
struct cj_opening *cj_opening_begin(struct cj_work *f);
/* Milliseconds that were waited. */
double cj_opening_end(struct cj_work *f, struct cj_opening *o);

#endif
