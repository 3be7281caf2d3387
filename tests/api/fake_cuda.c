/*
 * The stand-in driver: see fake_cuda.h. Built as a library of its own.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake_cuda.h"

enum { INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_INITIALIZED = 3,
    NO_DEVICE = 100, INVALID_DEVICE = 101, INVALID_IMAGE = 200,
    INVALID_CONTEXT = 201, NO_BINARY = 209, INVALID_PTX = 218,
    INVALID_HANDLE = 400, NOT_FOUND = 500, CAPTURE_UNSUPPORTED = 900,
    CAPTURE_INVALIDATED = 901 };
enum { GLOBAL, THREAD_LOCAL, RELAXED, NODES = 64 };
enum { LOCAL_BYTES = 3, REGISTERS = 4 };
enum { INFO_LOG = 3, INFO_LOG_BYTES = 4 };	/* of its assembler */

struct context {
	int device;
};
struct kernel {
	char name[64];
	unsigned count, bytes[FAKE_PARAMS];
	struct kernel *next;
};
static struct library {
	char *code;
	struct kernel *kernels;
	struct library *next;
} *libraries;
struct block {
	uint64_t address;
	size_t bytes;
	struct block *next;
};

static struct fake_state state = { .devices = 1, .major = 9,
    .registers = 32 };
/* A node: a launch written down, or a setting of memory. */
struct node {
	int is_kernel;
	struct fake_launch launch;
	struct kernel *kernel;
	struct memset_node {
		uint64_t to;
		size_t pitch;
		unsigned value, element_bytes;
		size_t width, height;
	} memset;
	struct graph *graph;
};
struct graph {
	struct node *nodes[NODES];
	unsigned count;
	struct graph *of;		/* instantiated: copies by number */
};
struct stream {
	struct context *context;
	struct graph *graph;		/* being captured */
	int mode, is_broken;
	struct stream *next;
};
static struct stream *streams;
static __thread int thread_mode;	/* GLOBAL */

static struct context primaries[FAKE_DEVICES];
static struct block *blocks;
static int is_started;
static pid_t process;
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

/* For measurements, which do not know the state. */
int *fake_cuda_fast(void);
int *
fake_cuda_fast(void)
{
	return &state.is_fast;
}

/* The error that a test wants here, or 0. */
static int
begin(const char *name)
{
	int rc = 0;

	pthread_mutex_lock(&lock);
	state.calls++;
	if (state.fail != NULL && (strcmp(state.fail, name) == 0
	    || strcmp(state.fail, "*") == 0) && state.fail_after-- <= 0)
		rc = state.error;
	else if (state.harm != 0 && strcmp(name, "cuGetErrorName") != 0)
		rc = state.harm;
	pthread_mutex_unlock(&lock);
	return rc;
}

/* A call that a capture does not bear. */
static int
disturb(void)
{
	struct stream *s;
	int rc = 0;

	if (thread_mode == RELAXED)
		return 0;
	pthread_mutex_lock(&lock);
	for (s = streams; s != NULL; s = s->next)
		if (s->graph != NULL && s->mode != RELAXED) {
			s->is_broken = 1;
			state.foul++;
			rc = CAPTURE_UNSUPPORTED;
		}
	pthread_mutex_unlock(&lock);
	return rc;
}

#define QUIET()								\
	do {								\
		int rc_ = disturb();					\
		if (rc_ != 0)						\
			return rc_;					\
	} while (0)

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
	process = getpid();
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
	    : attribute == 16 ? 132 : attribute == 38 ? 1 << 20
	    : attribute == 115 ? !state.no_pools : attribute == 81 ? 233472
	    : attribute == 97 ? 232448 : attribute == 111 ? 1024 : 0;
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
	if (state.is_fast)
		return 0;
	return is_started && process == getpid() ? 0 : NOT_INITIALIZED;
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
		/* of a tensor map, what it was made of first */
		k->bytes[k->count++] = strncmp(p + 8, "align", 5) == 0 ? 8 :
		    (unsigned)atoi(p + 9) / 8;
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

/* What its assembler says, where it is asked: FAKE_CUDA_SAID, cut as the real
 * one cuts it. */
static void
say(const int *options, void **values, unsigned count)
{
	const char *said = getenv("FAKE_CUDA_SAID");
	char *to = NULL;
	size_t room = 0, n;
	unsigned i;

	for (i = 0; i < count; i++) {
		if (options[i] == INFO_LOG)
			to = values[i];
		if (options[i] == INFO_LOG_BYTES)
			room = (size_t)(uintptr_t)values[i];
	}
	if (to == NULL || room == 0)
		return;
	n = said != NULL ? strlen(said) : 0;
	n = n < room ? n : room - 1;
	if (n != 0)
		memcpy(to, said, n);
	to[n] = '\0';
}

FUNCTION(cuLibraryLoadData, (void **library, const void *code,
    int *jit_options, void **jit_values, unsigned jit_count, int *options,
    void **values, unsigned count))
{
	struct library *l;

	BEGIN("cuLibraryLoadData");
	QUIET();
	(void)options, (void)values, (void)count;
	if (memcmp(code, "\177ELF", 4) == 0)	/* it plays no cubins */
		return NO_BINARY;
	say(jit_options, jit_values, jit_count);
	l = calloc(1, sizeof *l);
	l->code = strdup(code);
	read_ptx(l);
	pthread_mutex_lock(&lock);
	l->next = libraries;
	libraries = l;
	state.loads++;
	pthread_mutex_unlock(&lock);
	*library = l;
	return 0;
}

FUNCTION(cuLibraryUnload, (void *library))
{
	struct library *l = library, **at = &libraries;

	BEGIN("cuLibraryUnload");
	pthread_mutex_lock(&lock);
	while (*at != l)
		at = &(*at)->next;
	*at = l->next;
	pthread_mutex_unlock(&lock);
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
	(void)kernel, (void)device;
	state.asked++;
	*value = attribute == LOCAL_BYTES ? state.local_bytes :
	    attribute == REGISTERS ? state.registers : 16;
	return 0;
}

/* ---- launches ------------------------------------------------------------ */

static struct stream *
stream_of(void *handle)
{
	struct stream *s;

	for (s = streams; s != NULL && s != handle; s = s->next)
		;
	return s;
}

static int
describe(struct fake_launch *l, struct kernel *k, const unsigned *grid,
    const unsigned *block, unsigned shared, void *stream, void **params)
{
	unsigned i;

	for (i = 0; i < 3; i++)
		if (grid[i] == 0 || block[i] == 0 || block[i] > 1024
		    || (i > 0 && grid[i] > 65535))
			return INVALID_VALUE;
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
	return 0;
}

static struct node *
append(struct graph *g)
{
	struct node *n;

	if (g->count == NODES)
		return NULL;
	n = calloc(1, sizeof *n);
	n->graph = g;
	g->nodes[g->count++] = n;
	return n;
}

/* The number behind "word:" of FAKE_CUDA_TUNE; 0: none. */
static unsigned
named(const char *word)
{
	const char *all = getenv("FAKE_CUDA_TUNE"), *at;

	at = all != NULL ? strstr(all, word) : NULL;
	return at != NULL ? (unsigned)atoi(at + strlen(word)) : 0;
}

static double
default_ms(const struct fake_launch *l)
{
	int away = (int)l->block[0] - (int)named("best:");

	return named("best:") == 0 ? 0.1 : 0.1 + 0.001 * abs(away);
}

static int
default_error(const struct fake_launch *l)
{
	if (l->block[0] == named("crash:"))
		abort();
	while (l->block[0] == named("hang:"))
		pause();
	if (l->block[0] == named("harm:"))
		return state.harm = 700;
	return l->block[0] == named("fail:") ? 701 : 0;
}

static int
happen(const struct fake_launch *l)
{
	int rc = state.error_of != NULL ? state.error_of(l)
	    : default_error(l);

	if (rc != 0)
		return rc;
	state.launches++;
	state.last = *l;
	state.ms += state.ms_of != NULL ? state.ms_of(l) : default_ms(l);
	return 0;
}

/* A launch goes to the graph that its stream is captured into, or happens. */
static int
note(struct kernel *k, const unsigned *grid, const unsigned *block,
    unsigned shared, void *stream, void **params)
{
	struct fake_launch l;
	struct stream *s;
	struct node *n;
	int rc = describe(&l, k, grid, block, shared, stream, params);

	if (rc != 0)
		return rc;
	pthread_mutex_lock(&lock);
	s = stream_of(stream);
	if (s != NULL && s->context != top()) {
		rc = INVALID_HANDLE;
	} else if (s != NULL && s->graph != NULL) {
		n = append(s->graph);
		n->is_kernel = 1;
		n->kernel = k;
		n->launch = l;
	} else {
		rc = happen(&l);
	}
	pthread_mutex_unlock(&lock);
	return rc;
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

	if (state.is_fast)
		return 0;
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

/* As if 130 of 132 multiprocessors could be in clusters. */
FUNCTION(cuOccupancyMaxActiveClusters, (int *count, void *function,
    const struct config *c))
{
	BEGIN("cuOccupancyMaxActiveClusters");
	if (function == NULL || top() == NULL || c->attributes[0].id != 4)
		return INVALID_VALUE;
	*count = (int)(130 * (233472 / (c->shared + 1024))
	    / c->attributes[0].value[0]);
	state.counted++;
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
	free(event);
	BEGIN("cuEventDestroy");
	return 0;
}

FUNCTION(cuEventRecord, (void *event, void *stream))
{
	BEGIN("cuEventRecord");
	(void)stream;
	*(double *)event = state.ms;
	return 0;
}

FUNCTION(cuEventSynchronize, (void *event))
{
	BEGIN("cuEventSynchronize");
	(void)event;
	return 0;
}

FUNCTION(cuEventElapsedTime, (float *ms, void *start, void *end))
{
	BEGIN("cuEventElapsedTime");
	*ms = (float)(*(double *)end - *(double *)start);
	return 0;
}

FUNCTION(cuStreamSynchronize, (void *stream))
{
	struct stream *s = stream_of(stream);

	BEGIN("cuStreamSynchronize");
	if (s == NULL || s->graph == NULL)
		return 0;
	s->is_broken = 1;
	state.foul++;
	return CAPTURE_UNSUPPORTED;
}

FUNCTION(cuStreamGetCtx, (void *stream, void **context))
{
	struct stream *s = stream_of(stream);

	BEGIN("cuStreamGetCtx");
	*context = s != NULL ? s->context : top();
	return 0;
}

FUNCTION(cuStreamCreate, (void **stream, unsigned flags))
{
	struct stream *s;

	BEGIN("cuStreamCreate");
	(void)flags;
	if (top() == NULL)
		return INVALID_CONTEXT;
	s = calloc(1, sizeof *s);
	s->context = top();
	pthread_mutex_lock(&lock);
	s->next = streams;
	streams = s;
	pthread_mutex_unlock(&lock);
	*stream = s;
	return 0;
}

FUNCTION(cuStreamDestroy_v2, (void *stream))
{
	struct stream **at, *s = NULL;

	BEGIN("cuStreamDestroy");
	pthread_mutex_lock(&lock);
	for (at = &streams; *at != NULL; at = &(*at)->next)
		if (*at == stream) {
			s = *at;
			*at = s->next;
			break;
		}
	pthread_mutex_unlock(&lock);
	free(s);
	return s != NULL ? 0 : INVALID_HANDLE;
}

FUNCTION(cuStreamBeginCapture_v2, (void *stream, int mode))
{
	struct stream *s = stream_of(stream);

	BEGIN("cuStreamBeginCapture");
	if (s == NULL || s->graph != NULL)
		return INVALID_VALUE;
	s->mode = mode;
	s->is_broken = 0;
	s->graph = calloc(1, sizeof *s->graph);
	return 0;
}

FUNCTION(cuStreamEndCapture, (void *stream, void **graph))
{
	struct stream *s = stream_of(stream);

	BEGIN("cuStreamEndCapture");
	if (s == NULL || s->graph == NULL)
		return INVALID_VALUE;
	*graph = s->graph;
	s->graph = NULL;
	return s->is_broken ? CAPTURE_INVALIDATED : 0;
}

FUNCTION(cuStreamIsCapturing, (void *stream, int *status))
{
	struct stream *s = stream_of(stream);

	BEGIN("cuStreamIsCapturing");
	*status = s != NULL && s->graph != NULL;
	return 0;
}

FUNCTION(cuThreadExchangeStreamCaptureMode, (int *mode))
{
	int was = thread_mode;

	BEGIN("cuThreadExchangeStreamCaptureMode");
	thread_mode = *mode;
	*mode = was;
	return 0;
}

#include "fake_memory.h"
#include "fake_graph.h"
#include "fake_map.h"
