/*
 * Reports of faults of ours (repro.c).
 */
#ifndef CJ_REPRO_H
#define CJ_REPRO_H

struct cj_work;

/* Write what is known of the fault that the work left for; the path, on the
 * arena of the work, or NULL if it could not be written. */
const char *cj_repro_write(struct cj_work *f);

#endif
