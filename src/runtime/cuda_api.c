/*
 * The CUDA driver: found, opened and asked for its version at first use.
 *
 * The table is the one writable thing of the process: the driver is one per
 * process too. A failure is not kept: a driver may come later.
 */
#include "cuda_api.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	struct cj_cuda table;
	bool is_open;
	pid_t process;
	void *primary[CJ_CUDA_DEVICES];
} driver;

static const char *
fill(struct cj_cuda *cu, void *library)
{
#define API(name, symbol, parameters)					\
	*(void **)&cu->name = dlsym(library, symbol);			\
	if (cu->name == NULL)						\
		return "it lacks " symbol ": it is older than CUDA 12.0";
#include "cuda_api.def"
#undef API
	return NULL;
}

static const char *
check(struct cj_cuda *cu)
{
	int rc = cu->Init(0);

	if (rc == CJ_CUDA_NO_DEVICE)
		return "the driver finds no GPU";
	if (rc != 0)
		return "the driver does not start (cuInit fails)";
	if (cu->DriverGetVersion(&cu->version) != 0
	    || cu->version < CJ_CUDA_LEAST)
		return "the driver is older than CUDA 12.0";
	if (cu->DeviceGetCount(&cu->devices) != 0 || cu->devices == 0)
		return "the driver finds no GPU";
	if (cu->devices > CJ_CUDA_DEVICES)
		cu->devices = CJ_CUDA_DEVICES;
	return NULL;
}

static const char *
open_driver(void)
{
	const char *named = getenv("CUTEJIT_LIBCUDA"), *why;
	void *library = dlopen(named != NULL && named[0] != '\0' ? named
	    : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

	if (library == NULL)
		return named != NULL && named[0] != '\0' ?
		    "the libcuda that CUTEJIT_LIBCUDA names is not there" :
		    "libcuda.so.1 is not there";
	memset(&driver.table, 0, sizeof driver.table);
	why = fill(&driver.table, library);
	if (why == NULL)
		why = check(&driver.table);
	if (why != NULL) {
		dlclose(library);
		return why;
	}
	driver.process = getpid();
	driver.is_open = true;
	return NULL;
}

const struct cj_cuda *
cj_cuda_open(const char **why)
{
	*why = NULL;
	pthread_mutex_lock(&lock);
	if (!driver.is_open)
		*why = open_driver();
	else if (driver.process != getpid())
		*why = "it was opened before this process was forked";
	pthread_mutex_unlock(&lock);
	return *why == NULL ? &driver.table : NULL;
}

int
cj_cuda_primary(const struct cj_cuda *cu, int ordinal, void **context)
{
	int device, rc = 0;

	if (ordinal < 0 || ordinal >= cu->devices)
		return CJ_CUDA_INVALID_VALUE;
	pthread_mutex_lock(&lock);
	if (driver.primary[ordinal] == NULL) {
		rc = cu->DeviceGet(&device, ordinal);
		if (rc == 0)
			rc = cu->DevicePrimaryCtxRetain(
			    &driver.primary[ordinal], device);
		if (rc != 0)
			driver.primary[ordinal] = NULL;
	}
	*context = driver.primary[ordinal];
	pthread_mutex_unlock(&lock);
	return rc;
}

bool
cj_cuda_is_ours(void)
{
	bool ours;

	pthread_mutex_lock(&lock);
	ours = driver.is_open && driver.process == getpid();
	pthread_mutex_unlock(&lock);
	return ours;
}
