/*
 * The CUDA driver, opened when first needed (cuda_api.c). No header of CUDA is
 * needed; tests/unit/check_cuda_api.c compares these declarations with one
 * where it is found.
 */
#ifndef CJ_CUDA_API_H
#define CJ_CUDA_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* CUlaunchAttribute and CUlaunchConfig. */
struct cj_cuda_attribute {
	int id;
	char pad[4];
	union {
		char bytes[64];
		int value;
		struct { unsigned x, y, z; } extents;
	} value;
};
struct cj_cuda_config {
	unsigned grid[3], block[3];
	unsigned shared_bytes;
	void *stream;
	struct cj_cuda_attribute *attributes;
	unsigned count;
};
/* CUDA_KERNEL_NODE_PARAMS_v2 and CUDA_MEMSET_NODE_PARAMS. */
struct cj_cuda_kernel_node {
	void *function;
	unsigned grid[3], block[3];
	unsigned shared_bytes;
	void **params, **extra;
	void *kernel;			/* if `function` is NULL */
	void *context;			/* NULL: the current one */
};
struct cj_cuda_memset_node {
	uint64_t to;
	size_t pitch;
	unsigned value;
	unsigned element_bytes;		/* 1, 2, 4 */
	size_t width, height;		/* elements, rows */
};
enum { CJ_CUDA_CAPTURE_RELAXED = 2 };	/* CUstreamCaptureMode */
enum {				/* CUlaunchAttributeID */
	CJ_CUDA_COOPERATIVE = 2,
	CJ_CUDA_CLUSTER = 4,
	CJ_CUDA_PROGRAMMATIC = 6
};
enum {				/* CUdevice_attribute */
	CJ_CUDA_SMS = 16,
	CJ_CUDA_L2_BYTES = 38,
	CJ_CUDA_MAJOR = 75,
	CJ_CUDA_MINOR = 76,
	CJ_CUDA_SHARED_PER_SM = 81,
	CJ_CUDA_SHARED_PER_BLOCK = 97,	/* that it may ask for */
	CJ_CUDA_SHARED_RESERVED = 111,	/* for each block, besides */
	CJ_CUDA_MEMORY_POOLS = 115
};
enum {				/* CUfunction_attribute */
	CJ_CUDA_SHARED_BYTES = 1,
	CJ_CUDA_LOCAL_BYTES = 3,
	CJ_CUDA_REGISTERS = 4,
	CJ_CUDA_MAX_DYNAMIC = 8,
	CJ_CUDA_WIDE_CLUSTER = 14
};
enum {				/* CUjit_option */
	CJ_CUDA_INFO_LOG = 3, CJ_CUDA_INFO_LOG_BYTES = 4,
	CJ_CUDA_ERROR_LOG = 5, CJ_CUDA_ERROR_LOG_BYTES = 6,
	CJ_CUDA_LEVEL = 7
};
enum {				/* CUresult */
	CJ_CUDA_OK = 0,
	CJ_CUDA_INVALID_VALUE = 1,
	CJ_CUDA_OUT_OF_MEMORY = 2,
	CJ_CUDA_NOT_INITIALIZED = 3,
	CJ_CUDA_DEINITIALIZED = 4,
	CJ_CUDA_NO_DEVICE = 100,
	CJ_CUDA_INVALID_IMAGE = 200,
	CJ_CUDA_INVALID_CONTEXT = 201,
	CJ_CUDA_NO_BINARY = 209,
	CJ_CUDA_INVALID_PTX = 218,
	CJ_CUDA_NO_JIT = 221,
	CJ_CUDA_PTX_VERSION = 222,
	CJ_CUDA_JIT_DISABLED = 223,
	CJ_CUDA_ILLEGAL_ADDRESS = 700,
	CJ_CUDA_ASSERT = 710
};

enum { CJ_CUDA_LEAST = 12000, CJ_CUDA_DEVICES = 64 };

struct cj_cuda {
#define API(name, symbol, parameters) int (*name) parameters;
#include "cuda_api.def"
#undef API
	int version;		/* 13000 is CUDA 13.0 */
	int devices;
};

/*
 * The driver, opened and initialised; NULL: *why says what is missing. The
 * same for all contexts of the process; stays open. A child of a process that
 * has used the driver cannot use it.
 */
const struct cj_cuda *cj_cuda_open(const char **why);
/* The primary context of a device, retained once; an error of the driver. */
int cj_cuda_primary(const struct cj_cuda *cu, int ordinal, void **context);
/* Whether the driver may still be called from this process. */
bool cj_cuda_is_ours(void);

#endif
