/*
 * A driver that plays GPUs in host memory, for tests of the launching side.
 *
 * It checks what a driver checks (a context is current, handles are its own,
 * kernels exist, extents are legal), runs nothing, and writes down what it was
 * asked. A test opens it as CUTEJIT_LIBCUDA and finds fake_cuda_state() in it.
 */
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

#include <stdint.h>

enum { FAKE_PARAMS = 16, FAKE_DEVICES = 8 };

struct fake_launch {
	char kernel[64];
	unsigned grid[3], block[3], shared_bytes;
	void *stream, *context;
	int device;
	unsigned param_count;
	uint64_t params[FAKE_PARAMS];	/* as wide as the PTX says */
	unsigned cluster[3];
	int cooperative;
};

struct fake_state {
	/* set by the test */
	int devices;			/* 1 */
	int major, minor;		/* 9, 0 */
	const char *fail;		/* function that fails, "*": all ... */
	int error;			/* ... with this */
	int fail_after;			/* ... after so many calls */
	int is_fast;			/* launches are not written down */
	int no_pools;			/* memory is not ordered by streams */
	int registers, local_bytes;	/* of a thread, of each kernel */
	/* how long a launch takes; NULL: a tenth of a millisecond each */
	double (*ms_of)(const struct fake_launch *launch);
	/* NULL, or an error that a launch gives */
	int (*error_of)(const struct fake_launch *launch);
	int harm;			/* what every call gives from now on */
	/* written by the driver */
	unsigned long calls, launches, loads, unloads, live_bytes;
	unsigned long sets;		/* of memory, in streams or graphs */
	struct fake_launch last;
	unsigned long foul;		/* calls that broke a capture */
	unsigned long asked;		/* for attributes of kernels */
	unsigned long counted;		/* how many clusters have room */
	int map_type, map_fill;		/* of the last tensor map */
	double ms;			/* that all launches have taken */
};

/*
 * Without a test, the environment says what becomes of launches:
 * FAKE_CUDA_TUNE="best:96,fail:64,harm:32,crash:160,hang:192" names numbers of
 * threads of a block; the nearer one is to the best, the faster it is.
 * FAKE_CUDA_SAID is what its assembler says when it loads PTX.
 */

/*
 * Streams: cuStreamCreate makes one of the current context; NULL, 1 and 2 are
 * the default ones. cuStreamBeginCapture makes what is launched on it a graph;
 * in mode global or thread-local, calls that a capture does not bear (loading,
 * allocating) break it, unless the thread's mode is relaxed.
 *
 * Graphs: chains of nodes; cuGraphLaunch plays them as launches.
 */

typedef struct fake_state *fake_cuda_state_fn(void);

#endif
