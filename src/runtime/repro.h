/*
 * Reports of faults of ours (repro.c).
 */
#ifndef CJ_REPRO_H
#define CJ_REPRO_H

struct cj_frame;

/* Write what is known of the fault that the frame left for; the path, on the
 * frame's arena, or NULL if it could not be written. */
const char *cj_repro_write(struct cj_frame *f);

#endif
