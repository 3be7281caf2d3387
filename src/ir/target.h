/*
 * Targets are data: rows of target.def.
 */
#ifndef CJ_TARGET_H
#define CJ_TARGET_H

#include "base/base.h"

struct cj_target {
	const char *name;	/* "sm_90a" */
	int number;		/* 90 */
	int ptx;		/* lowest PTX version times ten: 80 is 8.0 */
	const char *suffix;	/* "a", "f" or "" */
	int threads_per_sm, blocks_per_sm;
	int shared_bytes;	/* of one block, at most */
	int registers;		/* of one SM */
	int family;
};

/* What the system has of each block's shared memory, beside its own. */
enum { CJ_SYSTEM_SHARED_BYTES = 1024 };

enum { CJ_MAX_BLOCK_THREADS = 1024, CJ_MAX_BLOCK_Z = 64,
    CJ_MAX_GRID_YZ = 65535 };

extern const struct cj_target cj_targets[];
extern const unsigned cj_target_count;
const struct cj_target *cj_target_find(const char *name);
/* The best target for a chip of compute capability major.minor, or NULL. */
const struct cj_target *cj_target_for_chip(int major, int minor);
/* Does a program for `needs` (sm_80: that and later; sm_90a: exactly) run? */
bool cj_target_serves(const struct cj_target *target, const char *needs);

/* Is one load to several blocks of a cluster worth its name there? */
bool cj_target_multicasts(const struct cj_target *target);

#endif
