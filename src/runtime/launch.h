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

struct cutejit_launch {
	struct cj_handle handle;
	struct cutejit_kernel *kernel;
	struct cj_ready *ready;		/* NULL only while it is created */
	struct cj_scratch *scratch;	/* our workspaces */
	void *user_workspace;
	size_t user_bytes;
	void *stream, *stream_context;	/* seen last, and it is of this */
};

#endif
