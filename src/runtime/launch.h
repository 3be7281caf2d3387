/*
 * What a launch is made of: launch.c, and graph.c for graphs.
 */
#ifndef CJ_LAUNCH_H
#define CJ_LAUNCH_H

#include "ready.h"

struct cj_scratch {
	const struct cj_cuda *cu;
	uint64_t address;
	size_t bytes;
	void *context;
	struct cj_scratch *next;	/* older and smaller */
};

/* Workspaces that runs leave as they are filled: what was filled once is for
 * all arguments that want the same. */
struct cj_kept {
	struct cj_scratch memory;	/* its `next` is NULL */
	struct cj_filled *fills;
	uint32_t count;
	bool is_filled;
	struct cj_kept *next;
};

struct cutejit_launch {
	struct cj_handle handle;
	struct cutejit_kernel *kernel;
	struct cj_ready *ready;		/* NULL only while it is created */
	struct cj_scratch *scratch;	/* our workspaces */
	struct cj_kept *kept;		/* and those that are restored, */
	struct cj_kept *in_use;		/* of which `ready` has this */
	void *user_workspace;
	size_t user_bytes;
	void *stream, *stream_context;	/* seen last, and it is of this */
};

#endif
