/*
 * Several orders of warps on the same arguments.
 */
#ifndef CJ_SCHEDULES_H
#define CJ_SCHEDULES_H

#include "device.h"

struct cj_schedules;

/* Keep what the tensors that are written hold now, by object. */
struct cj_schedules *cj_schedules_begin(struct cj_work *f,
    const struct cj_module *ir, const struct cj_memory *memory);
/* Put it back. */
void cj_schedules_again(struct cj_schedules *s);
/* After a run: compare with the first, which had seed `first`; false: it is
 * reported that they differ. */
bool cj_schedules_compare(struct cj_schedules *s, uint64_t first,
    uint64_t seed);

#endif
