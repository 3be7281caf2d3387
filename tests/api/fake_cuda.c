/*
 * The stand-in driver: see fake_cuda.h. Built as a library of its own.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "fake_cuda.h"

enum { INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_INITIALIZED = 3,
    NO_DEVICE = 100, INVALID_DEVICE = 101, INVALID_IMAGE = 200,
    INVALID_CONTEXT = 201, NO_BINARY = 209, INVALID_PTX = 218,
    INVALID_HANDLE = 400, NOT_FOUND = 500 };

struct context {
	int device;
};
struct kernel {
	char name[64];
	unsigned count, bytes[FAKE_PARAMS];
	struct kernel *next;
};
struct library {
	char *code;
	struct kernel *kernels;
};
struct block {
	uint64_t address;
	size_t bytes;
	struct block *next;
};

static struct fake_state state = { 1, 9, 0, NULL, 0, 0, 0, 0, 0, 0, 0, 0,
    { "", { 0 }, { 0 }, 0, NULL, NULL, 0, 0, { 0 }, { 0 }, 0 } };
static struct context primaries[FAKE_DEVICES];
static struct block *blocks;
static int is_started;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

enum { DEEPEST = 8 };
static __thread struct {
	struct context *at[DEEPEST];
	int depth;
} current;

struct fake_state *fake_cuda_state(void);
struct fake_state *
fake_cuda_state(void)
{
	return &state;
}

/* The error that a test wants here, or 0. */
static int
begin(const char *name)
{
	int rc = 0;

	pthread_mutex_lock(&lock);
	state.calls++;
	if (state.fail != NULL && strcmp(state.fail, name) == 0
	    && state.fail_after-- <= 0)
		rc = state.error;
	pthread_mutex_unlock(&lock);
	return rc;
}

#define FUNCTION(name, parameters)					\
int name parameters;							\
int									\
name parameters

#define BEGIN(name)							\
	do {								\
		int rc_ = begin(name);					\
		if (rc_ != 0)						\
			return rc_;					\
		if (!is_started)					\
			return NOT_INITIALIZED;				\
	} while (0)

static struct context *
top(void)
{
	return current.depth > 0 ? current.at[current.depth - 1] : NULL;
}

/* ---- devices and contexts ------------------------------------------------ */

FUNCTION(cuInit, (unsigned flags))
{
	int rc = begin("cuInit"), i;
	const char *devices = getenv("FAKE_CUDA_DEVICES");

	if (devices != NULL)
		state.devices = atoi(devices);
	if (rc != 0 || flags != 0)
		return rc != 0 ? rc : INVALID_VALUE;
	if (state.devices == 0)
		return NO_DEVICE;
	for (i = 0; i < FAKE_DEVICES; i++)
		primaries[i].device = i;
	is_started = 1;
	return 0;
}

FUNCTION(cuDriverGetVersion, (int *version))
{
	*version = 13000;
	return begin("cuDriverGetVersion");
}

FUNCTION(cuGetErrorName, (int error, const char **name))
{
	*name = error == OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY"
	    : error == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS"
	    : "CUDA_ERROR_OF_THE_TEST";
	return 0;
}

FUNCTION(cuGetErrorString, (int error, const char **text))
{
	*text = error == 700 ? "an illegal memory access was encountered"
	    : "an error that the test asked for";
	return 0;
}

FUNCTION(cuDeviceGetCount, (int *count))
{
	BEGIN("cuDeviceGetCount");
	*count = state.devices;
	return 0;
}

FUNCTION(cuDeviceGet, (int *device, int ordinal))
{
	BEGIN("cuDeviceGet");
	if (ordinal < 0 || ordinal >= state.devices)
		return INVALID_DEVICE;
	*device = ordinal;
	return 0;
}

FUNCTION(cuDeviceGetName, (char *name, int length, int device))
{
	BEGIN("cuDeviceGetName");
	(void)device;
	strncpy(name, "Stand-in", (size_t)length);
	return 0;
}

FUNCTION(cuDeviceGetAttribute, (int *value, int attribute, int device))
{
	BEGIN("cuDeviceGetAttribute");
	(void)device;
	*value = attribute == 75 ? state.major : attribute == 76 ? state.minor
	    : attribute == 16 ? 132 : attribute == 38 ? 1 << 20 : 0;
	return 0;
}

FUNCTION(cuDeviceTotalMem_v2, (size_t *bytes, int device))
{
	BEGIN("cuDeviceTotalMem");
	(void)device;
	*bytes = (size_t)1 << 30;
	return 0;
}

FUNCTION(cuDevicePrimaryCtxRetain, (void **context, int device))
{
	BEGIN("cuDevicePrimaryCtxRetain");
	if (device < 0 || device >= state.devices)
		return INVALID_DEVICE;
	*context = &primaries[device];
	return 0;
}

FUNCTION(cuCtxGetCurrent, (void **context))
{
	*context = top();
	return is_started ? 0 : NOT_INITIALIZED;
}

FUNCTION(cuCtxPushCurrent_v2, (void *context))
{
	BEGIN("cuCtxPushCurrent");
	if (context == NULL || current.depth == DEEPEST)
		return INVALID_CONTEXT;
	current.at[current.depth++] = context;
	return 0;
}

FUNCTION(cuCtxPopCurrent_v2, (void **context))
{
	BEGIN("cuCtxPopCurrent");
	if (current.depth == 0)
		return INVALID_CONTEXT;
	*context = current.at[--current.depth];
	return 0;
}

FUNCTION(cuCtxGetDevice, (int *device))
{
	BEGIN("cuCtxGetDevice");
	if (top() == NULL)
		return INVALID_CONTEXT;
	*device = top()->device;
	return 0;
}

FUNCTION(cuCtxSynchronize, (void))
{
	BEGIN("cuCtxSynchronize");
	return top() != NULL ? 0 : INVALID_CONTEXT;
}

/* ---- libraries ----------------------------------------------------------- */

/* Parameters of an entry of a PTX text, by their types. */
static void
read_entry(struct kernel *k, const char *at)
{
	const char *end = strchr(at, ')'), *p;

	for (p = strstr(at, ".param ."); p != NULL && p < end
	    && k->count < FAKE_PARAMS; p = strstr(p + 1, ".param ."))
		k->bytes[k->count++] = (unsigned)atoi(p + 9) / 8;
}

static void
read_ptx(struct library *l)
{
	static const char word[] = ".entry ";
	const char *p;

	for (p = strstr(l->code, word); p != NULL; p = strstr(p, word)) {
		struct kernel *k = calloc(1, sizeof *k);
		size_t n;

		p += strlen(word);
		n = strcspn(p, "( \n");
		memcpy(k->name, p, n < 63 ? n : 63);
		read_entry(k, p);
		k->next = l->kernels;
		l->kernels = k;
	}
}

FUNCTION(cuLibraryLoadData, (void **library, const void *code,
    int *jit_options, void **jit_values, unsigned jit_count, int *options,
    void **values, unsigned count))
{
	struct library *l;

	BEGIN("cuLibraryLoadData");
	(void)jit_options, (void)jit_values, (void)jit_count;
	(void)options, (void)values, (void)count;
	if (memcmp(code, "\177ELF", 4) == 0)	/* it plays no cubins */
		return NO_BINARY;
	l = calloc(1, sizeof *l);
	l->code = strdup(code);
	read_ptx(l);
	state.loads++;
	*library = l;
	return 0;
}

FUNCTION(cuLibraryUnload, (void *library))
{
	struct library *l = library;

	BEGIN("cuLibraryUnload");
	while (l->kernels != NULL) {
		struct kernel *k = l->kernels;

		l->kernels = k->next;
		free(k);
	}
	free(l->code);
	free(l);
	state.unloads++;
	return 0;
}

/* As the real one: a bad image is found out here. */
FUNCTION(cuLibraryGetKernel, (void **kernel, void *library, const char *name))
{
	struct library *l = library;
	struct kernel *k;

	BEGIN("cuLibraryGetKernel");
	for (k = l->kernels; k != NULL; k = k->next)
		if (strcmp(k->name, name) == 0) {
			*kernel = k;
			return 0;
		}
	return NOT_FOUND;
}

FUNCTION(cuKernelSetAttribute, (int attribute, int value, void *kernel,
    int device))
{
	BEGIN("cuKernelSetAttribute");
	(void)attribute, (void)kernel, (void)device;
	return value > 232448 ? INVALID_VALUE : 0;
}

FUNCTION(cuKernelGetAttribute, (int *value, int attribute, void *kernel,
    int device))
{
	BEGIN("cuKernelGetAttribute");
	(void)attribute, (void)kernel, (void)device;
	*value = 16;
	return 0;
}

/* ---- launches ------------------------------------------------------------ */

static int
note(struct kernel *k, const unsigned *grid, const unsigned *block,
    unsigned shared, void *stream, void **params)
{
	struct fake_launch *l = &state.last;
	unsigned i;

	for (i = 0; i < 3; i++)
		if (grid[i] == 0 || block[i] == 0 || block[i] > 1024
		    || (i > 0 && grid[i] > 65535))
			return INVALID_VALUE;
	pthread_mutex_lock(&lock);
	state.launches++;
	memset(l, 0, sizeof *l);
	strcpy(l->kernel, k->name);
	memcpy(l->grid, grid, sizeof l->grid);
	memcpy(l->block, block, sizeof l->block);
	l->shared_bytes = shared;
	l->stream = stream;
	l->context = top();
	l->device = top()->device;
	l->param_count = k->count;
	for (i = 0; i < k->count; i++)
		memcpy(&l->params[i], params[i], k->bytes[i]);
	pthread_mutex_unlock(&lock);
	return 0;
}

FUNCTION(cuLaunchKernel, (void *function, unsigned gx, unsigned gy,
    unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
    void *stream, void **params, void **extra))
{
	unsigned grid[3] = { gx, gy, gz }, block[3] = { bx, by, bz };

	if (state.is_fast)
		return 0;
	BEGIN("cuLaunchKernel");
	(void)extra;
	if (top() == NULL)
		return INVALID_CONTEXT;
	return note(function, grid, block, shared, stream, params);
}

struct attribute {
	int id;
	char pad[4];
	unsigned value[16];
};
struct config {
	unsigned grid[3], block[3], shared;
	void *stream;
	struct attribute *attributes;
	unsigned count;
};

FUNCTION(cuLaunchKernelEx, (const struct config *c, void *function,
    void **params, void **extra))
{
	unsigned i;
	int rc;

	BEGIN("cuLaunchKernelEx");
	(void)extra;
	if (top() == NULL)
		return INVALID_CONTEXT;
	rc = note(function, c->grid, c->block, c->shared, c->stream, params);
	for (i = 0; rc == 0 && i < c->count; i++) {
		if (c->attributes[i].id == 2)
			state.last.cooperative =
			    (int)c->attributes[i].value[0];
		else if (c->attributes[i].id == 4)
			memcpy(state.last.cluster, c->attributes[i].value,
			    sizeof state.last.cluster);
	}
	return rc;
}

/* ---- memory -------------------------------------------------------------- */

FUNCTION(cuMemAlloc_v2, (uint64_t *address, size_t bytes))
{
	struct block *b;
	void *p;

	BEGIN("cuMemAlloc");
	if (top() == NULL)
		return INVALID_CONTEXT;
	if (bytes == 0)
		return INVALID_VALUE;
	if (posix_memalign(&p, 256, bytes) != 0)
		return OUT_OF_MEMORY;
	b = calloc(1, sizeof *b);
	b->address = *address = (uint64_t)(uintptr_t)p;
	b->bytes = bytes;
	pthread_mutex_lock(&lock);
	b->next = blocks;
	blocks = b;
	state.live_bytes += bytes;
	pthread_mutex_unlock(&lock);
	return 0;
}

FUNCTION(cuMemFree_v2, (uint64_t address))
{
	struct block **at, *b = NULL;

	BEGIN("cuMemFree");
	pthread_mutex_lock(&lock);
	for (at = &blocks; *at != NULL; at = &(*at)->next)
		if ((*at)->address == address) {
			b = *at;
			*at = b->next;
			state.live_bytes -= b->bytes;
			break;
		}
	pthread_mutex_unlock(&lock);
	if (b == NULL)
		return INVALID_VALUE;
	free((void *)(uintptr_t)address);
	free(b);
	return 0;
}

FUNCTION(cuMemcpyHtoD_v2, (uint64_t to, const void *from, size_t bytes))
{
	BEGIN("cuMemcpyHtoD");
	memcpy((void *)(uintptr_t)to, from, bytes);
	return 0;
}

FUNCTION(cuMemcpyDtoH_v2, (void *to, uint64_t from, size_t bytes))
{
	BEGIN("cuMemcpyDtoH");
	memcpy(to, (void *)(uintptr_t)from, bytes);
	return 0;
}

FUNCTION(cuMemcpyDtoD_v2, (uint64_t to, uint64_t from, size_t bytes))
{
	BEGIN("cuMemcpyDtoD");
	memcpy((void *)(uintptr_t)to, (void *)(uintptr_t)from, bytes);
	return 0;
}

FUNCTION(cuMemcpyHtoDAsync_v2, (uint64_t to, const void *from, size_t bytes,
    void *stream))
{
	BEGIN("cuMemcpyHtoDAsync");
	(void)stream;
	memcpy((void *)(uintptr_t)to, from, bytes);
	return 0;
}

FUNCTION(cuMemsetD8Async, (uint64_t to, unsigned char value, size_t count,
    void *stream))
{
	BEGIN("cuMemsetD8Async");
	(void)stream;
	memset((void *)(uintptr_t)to, value, count);
	return 0;
}

FUNCTION(cuMemsetD16Async, (uint64_t to, unsigned short value, size_t count,
    void *stream))
{
	unsigned short *p = (unsigned short *)(uintptr_t)to;

	BEGIN("cuMemsetD16Async");
	(void)stream;
	while (count-- > 0)
		*p++ = value;
	return 0;
}

FUNCTION(cuMemsetD32Async, (uint64_t to, unsigned value, size_t count,
    void *stream))
{
	unsigned *p = (unsigned *)(uintptr_t)to;

	BEGIN("cuMemsetD32Async");
	(void)stream;
	while (count-- > 0)
		*p++ = value;
	return 0;
}

/* ---- events and streams -------------------------------------------------- */

FUNCTION(cuEventCreate, (void **event, unsigned flags))
{
	BEGIN("cuEventCreate");
	(void)flags;
	*event = calloc(1, 8);
	return 0;
}

FUNCTION(cuEventDestroy_v2, (void *event))
{
	BEGIN("cuEventDestroy");
	free(event);
	return 0;
}

FUNCTION(cuEventRecord, (void *event, void *stream))
{
	BEGIN("cuEventRecord");
	(void)stream;
	*(uint64_t *)event = state.launches;
	return 0;
}

FUNCTION(cuEventSynchronize, (void *event))
{
	BEGIN("cuEventSynchronize");
	(void)event;
	return 0;
}

/* Every launch takes a tenth of a millisecond. */
FUNCTION(cuEventElapsedTime, (float *ms, void *start, void *end))
{
	BEGIN("cuEventElapsedTime");
	*ms = (float)(*(uint64_t *)end - *(uint64_t *)start) * 0.1f;
	return 0;
}

FUNCTION(cuStreamSynchronize, (void *stream))
{
	BEGIN("cuStreamSynchronize");
	(void)stream;
	return 0;
}

FUNCTION(cuStreamGetCtx, (void *stream, void **context))
{
	BEGIN("cuStreamGetCtx");
	(void)stream;
	*context = top();
	return 0;
}
