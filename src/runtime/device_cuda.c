/*
 * The GPU as a device: contexts, images, and launches in the driver's form.
 *
 * Images are loaded as libraries, which belong to no context: one load serves
 * every device that the image fits, and works while a stream is captured. The
 * driver reports a bad image only when a kernel is asked for, so every kernel
 * is, at once.
 */
#include <stdlib.h>

#include "assemble.h"
#include "device.h"

/* ---- the driver ---------------------------------------------------------- */

cutejit_status
cj_gpu_driver(struct cj_work *f, const struct cj_cuda **out)
{
	const char *why;

	*out = cj_cuda_open(&why);
	if (*out != NULL)
		return CUTEJIT_OK;
	cj_fail(f, CUTEJIT_MISSING, CJ_DIAG_MISSING_DRIVER,
	    "no GPU can be used: %s", why);
	cj_say_help(f, "Compiling, and running on the executor "
	    "(--device=cpu), work without it.");
	return CUTEJIT_MISSING;
}

/* Sticky errors are of a kernel that ran before, not of what is asked now. */
static bool
is_sticky(int error)
{
	return error >= CJ_CUDA_ILLEGAL_ADDRESS && error < 720
	    && error != 701 && error != 704 && error != 705 && error != 708
	    && error != 709 && error != 711 && error != 712 && error != 713;
}

cutejit_status
cj_gpu_fail(struct cj_work *f, const struct cj_cuda *cu, int error,
    const char *doing)
{
	const char *name = NULL, *text = NULL;

	cu->GetErrorName(error, &name);
	cu->GetErrorString(error, &text);
	cj_fail(f, CUTEJIT_MISSING, CJ_DIAG_DRIVER, "%s: %s (%s)", doing,
	    text != NULL ? text : "unknown error",
	    name != NULL ? name : "?");
	if (error == CJ_CUDA_ASSERT)
		return CUTEJIT_ERROR;
	if (is_sticky(error)) {
		cj_say_help(f, "A kernel of this process has failed before; "
		    "run it on the executor (--device=cpu) to see where.");
		return CUTEJIT_ERROR;
	}
	return error == CJ_CUDA_OUT_OF_MEMORY ? CUTEJIT_LIMIT
	    : CUTEJIT_MISSING;
}

static int
attribute(const struct cj_cuda *cu, int ordinal, int which)
{
	int device, value = 0;

	if (cu->DeviceGet(&device, ordinal) != 0
	    || cu->DeviceGetAttribute(&value, which, device) != 0)
		return 0;
	return value;
}

bool
cj_gpu_probe(struct cj_work *f, int ordinal, cutejit_gpu *out)
{
	const char *why;
	const struct cj_cuda *cu = cj_cuda_open(&why);
	const struct cj_target *target;
	size_t bytes = 0;
	int device;

	(void)f;
	memset(out, 0, sizeof *out);
	if (cu == NULL || ordinal < 0 || ordinal >= cu->devices
	    || cu->DeviceGet(&device, ordinal) != 0)
		return false;
	cu->DeviceGetName(out->name, sizeof out->name, device);
	cu->DeviceTotalMem(&bytes, device);
	out->memory_bytes = bytes;
	out->major = attribute(cu, ordinal, CJ_CUDA_MAJOR);
	out->minor = attribute(cu, ordinal, CJ_CUDA_MINOR);
	out->sms = attribute(cu, ordinal, CJ_CUDA_SMS);
	out->driver = cu->version;
	target = cj_target_for_chip(out->major, out->minor);
	if (target != NULL)
		snprintf(out->target, sizeof out->target, "%s", target->name);
	return true;
}

/*
 * A driver asked to launch a kernel of a library takes the context that the
 * stream is of: on another GPU than the tensors', if that is so, and says
 * nothing. The handles of default streams, 0 to 2, are of whatever is current.
 */
int
cj_stream_check(const struct cj_cuda *cu, const void *context, void *stream)
{
	void *of = NULL;

	return (uintptr_t)stream <= 2 || cu->StreamGetCtx(stream, &of) != 0
	    || of == NULL || of == context ? 0 : CJ_WRONG_STREAM;
}

cutejit_status
cj_launch_fail(struct cj_work *f, const struct cj_cuda *cu, int error)
{
	if (error != CJ_WRONG_STREAM)
		return cj_gpu_fail(f, cu, error, "the launch failed");
	cj_fail(f, CUTEJIT_ERROR, CJ_DIAG_WRONG_DEVICE,
	    "the stream belongs to another context than the one that the "
	    "tensors' GPU is used in");
	cj_say_help(f, "Give a stream that was made in that context, or let "
	    "the stream's context be current.");
	return CUTEJIT_ERROR;
}

/* ---- contexts ------------------------------------------------------------ */

struct cj_entered {
	const struct cj_cuda *cu;
	bool is_pushed;
	int capture_mode;		/* that was in force */
};

static void
put_back(void *object)
{
	struct cj_entered *e = object;
	void *was;

	e->cu->ThreadExchangeStreamCaptureMode(&e->capture_mode);
	if (e->is_pushed)
		e->cu->CtxPopCurrent(&was);
}

/* Is the caller's context one of the device? Then it is used. */
static bool
use_current(struct cj_gpu *g, int ordinal)
{
	int device = -1, wanted = -1;

	if (g->cu->CtxGetCurrent(&g->context) != 0 || g->context == NULL
	    || g->cu->CtxGetDevice(&device) != 0)
		return false;
	if (ordinal >= 0 && (g->cu->DeviceGet(&wanted, ordinal) != 0
	    || wanted != device))
		return false;
	g->ordinal = ordinal >= 0 ? ordinal : device;
	return true;
}

static cutejit_status
use_primary(struct cj_work *f, struct cj_gpu *g, int ordinal)
{
	int rc;

	g->ordinal = ordinal >= 0 ? ordinal : 0;
	if (g->ordinal >= g->cu->devices)
		return cj_fail(f, CUTEJIT_MISSING, CJ_DIAG_MISSING_GPU,
		    "there is no GPU %d: the driver finds %d", ordinal,
		    g->cu->devices);
	rc = cj_cuda_primary(g->cu, g->ordinal, &g->context);
	if (rc == 0)
		rc = g->cu->CtxPushCurrent(g->context);
	return rc == 0 ? CUTEJIT_OK : cj_gpu_fail(f, g->cu, rc,
	    "the GPU cannot be used");
}

cutejit_status
cj_gpu_enter(struct cj_work *f, int ordinal, struct cj_gpu *g)
{
	struct cj_entered *e = CJ_NEW(&f->arena, struct cj_entered);
	cutejit_status status;

	memset(g, 0, sizeof *g);
	status = cj_gpu_driver(f, &g->cu);
	if (status != CUTEJIT_OK)
		return status;
	e->cu = g->cu;
	if (!use_current(g, ordinal)) {
		status = use_primary(f, g, ordinal);
		if (status != CUTEJIT_OK)
			return status;
		e->is_pushed = true;
	}
	e->capture_mode = CJ_CUDA_CAPTURE_RELAXED;
	g->cu->ThreadExchangeStreamCaptureMode(&e->capture_mode);
	g->entered = e;
	cj_defer(f, put_back, e);
	return CUTEJIT_OK;
}

void
cj_gpu_leave(struct cj_work *f, struct cj_gpu *g)
{
	if (g->entered == NULL)
		return;
	cj_undefer(f);
	put_back(g->entered);
	g->entered = NULL;
}

int64_t
cj_gpu_sms(const struct cj_gpu *g)
{
	return attribute(g->cu, g->ordinal, CJ_CUDA_SMS);
}

/* ---- images -------------------------------------------------------------- */

enum { LOG_BYTES = 4096 };

struct load_log {
	char info[LOG_BYTES], error[LOG_BYTES];
};

/* level 0: what the driver does by itself */
static int
load_library(const struct cj_cuda *cu, const void *code, int level,
    void **library, struct load_log *log)
{
	int options[] = { CJ_CUDA_INFO_LOG, CJ_CUDA_INFO_LOG_BYTES,
	    CJ_CUDA_ERROR_LOG, CJ_CUDA_ERROR_LOG_BYTES, CJ_CUDA_LEVEL };
	void *values[] = { log->info, (void *)(uintptr_t)LOG_BYTES,
	    log->error, (void *)(uintptr_t)LOG_BYTES,
	    (void *)(uintptr_t)level };

	memset(log, 0, sizeof *log);
	return cu->LibraryLoadData(library, code, options, values,
	    CJ_LENGTH(options) - (level == 0), NULL, NULL, 0);
}

static int
get_kernels(const struct cj_cuda *cu, const struct cj_program *p,
    struct cj_image *image)
{
	uint32_t i;

	for (i = 0; i < p->entry_count; i++) {
		int rc = cu->LibraryGetKernel(&image->kernels[i],
		    image->library, atomic_load(&p->entries)[i].name);

		if (rc != 0)
			return rc;
	}
	return 0;
}

static int
load_code(const struct cj_cuda *cu, const struct cj_program *p,
    const char *code, struct cj_image *image, struct load_log *log)
{
	int level = code == p->ptx ? cj_assembler_level(p->level, p->ptx,
	    p->ptx_length) : 0;
	int rc = load_library(cu, code, level < 3 ? level : 0,
	    &image->library, log);

	if (rc != 0) {
		image->library = NULL;
		return rc;
	}
	rc = get_kernels(cu, p, image);
	if (rc != 0) {
		cu->LibraryUnload(image->library);
		image->library = NULL;
	}
	return rc;
}

static cutejit_status
load_failed(struct cj_work *f, const struct cj_cuda *cu,
    const struct cj_program *p, int rc, const struct load_log *log)
{
	cutejit_status status;

	if (log->error[0] != '\0')
		cj_log(f->context, CUTEJIT_LOG_WARNING, "driver: %s",
		    log->error);
	switch (rc) {
	case CJ_CUDA_PTX_VERSION:
		cj_fail(f, CUTEJIT_MISSING, CJ_DIAG_DRIVER, "the driver "
		    "(CUDA %d.%d) is too old for the PTX of %s",
		    cu->version / 1000, cu->version % 1000 / 10, p->kernel);
		cj_say_help(f, "Install a newer driver, or ptxas of the CUDA "
		    "toolkit, so that a cubin can be made.");
		return CUTEJIT_MISSING;
	case CJ_CUDA_NO_BINARY:
		return cj_fail(f, CUTEJIT_MISSING, CJ_DIAG_DRIVER,
		    "%s was compiled for %s, which this GPU is not",
		    p->kernel, p->target->name);
	case CJ_CUDA_NO_JIT:
	case CJ_CUDA_JIT_DISABLED:
		return cj_fail(f, CUTEJIT_MISSING, CJ_DIAG_MISSING_ASSEMBLER,
		    "%s is PTX, and the driver may or can not compile it",
		    p->kernel);
	case CJ_CUDA_INVALID_PTX:
	case CJ_CUDA_INVALID_IMAGE:
		cj_fault(f, "the driver refuses an image (%d): %.150s", rc,
		    log->error);
	default:
		break;
	}
	status = cj_gpu_fail(f, cu, rc, cj_printf(&f->arena,
	    "%s cannot be loaded", p->kernel));
	return status;
}

/* Bytes beyond what a kernel may have without asking for more. */
static int
allow_dynamic(const struct cj_cuda *cu, const struct cj_program *p,
    struct cj_image *image)
{
	uint32_t i;
	int d, rc;

	for (i = 0; i < p->entry_count; i++) {
		image->dynamic[i] = p->dynamic[i];
		for (d = 0; p->dynamic[i] != 0 && d < cu->devices; d++) {
			int device;

			rc = cu->DeviceGet(&device, d);
			if (rc == 0)
				rc = cu->KernelSetAttribute(
				    CJ_CUDA_MAX_DYNAMIC, (int)p->dynamic[i],
				    image->kernels[i], device);
			/* a smaller device of another kind: its own launches
			 * will say so */
			if (rc != 0 && cu->devices == 1)
				return rc;
		}
	}
	return 0;
}

/* What the driver's own assembler made: nobody else has told. */
static void
read_numbers(struct cj_work *f, const struct cj_cuda *cu,
    struct cj_program *p, const struct cj_image *image, const char *info)
{
	cutejit_entry *entries = cj_memdup(&p->arena,
	    atomic_load(&p->entries), p->entry_count * sizeof *entries);
	int device, value;
	uint32_t i;

	if (cu->CtxGetDevice(&device) != 0)
		return;
	for (i = 0; i < p->entry_count; i++) {
		if (cu->KernelGetAttribute(&value, CJ_CUDA_REGISTERS,
		    image->kernels[i], device) == 0)
			entries[i].registers = value;
		if (cu->KernelGetAttribute(&value, CJ_CUDA_LOCAL_BYTES,
		    image->kernels[i], device) == 0)
			entries[i].stack_bytes = value;
	}
	atomic_store(&p->entries, entries);
	if (p->cubin == NULL)
		p->advice = cj_advice_of(&p->arena, info);
	cj_spills_keep(f, p);
}

static int
load_ptx(const struct cj_cuda *cu, const struct cj_program *p,
    struct cj_image *image, struct load_log *log)
{
	int rc = load_code(cu, p, p->ptx, image, log);

	image->is_ptx = rc == 0 || p->cubin == NULL;
	return rc;
}

/* A cubin where there is one, but for registers of roles that it ignores. A
 * driver may be older than the assembler, or may not compile: then the other
 * one. */
static int
load_best(const struct cj_cuda *cu, const struct cj_program *p,
    struct cj_image *image, struct load_log *log)
{
	int rc = CJ_CUDA_NO_BINARY;

	if (p->cubin == NULL)
		return load_ptx(cu, p, image, log);
	if (cj_advice_is_of_units(p->advice) &&
	    load_ptx(cu, p, image, log) == 0)
		return 0;
	rc = load_code(cu, p, p->cubin, image, log);
	return rc == CJ_CUDA_INVALID_IMAGE || rc == CJ_CUDA_NO_BINARY ?
	    load_ptx(cu, p, image, log) : rc;
}

static cutejit_status
load(struct cj_work *f, const struct cj_cuda *cu, struct cj_program *p)
{
	struct cj_image *image = CJ_NEW(&p->arena, struct cj_image);
	struct load_log *log = CJ_NEW(&f->arena, struct load_log);
	int rc;

	image->kernels = CJ_NEWS(&p->arena, void *, p->entry_count);
	image->dynamic = CJ_NEWS(&p->arena, int64_t, p->entry_count);
	rc = load_best(cu, p, image, log);
	if (rc == 0) {
		rc = allow_dynamic(cu, p, image);
		if (rc != 0)
			cu->LibraryUnload(image->library);
	}
	if (rc != 0)
		return load_failed(f, cu, p, rc, log);
	p->image = image;
	if (!image->is_ptx)
		return CUTEJIT_OK;
	read_numbers(f, cu, p, image, log->info);
	return cj_spills_tell(f, p);
}

cutejit_status
cj_image_load(struct cj_work *f, const struct cj_cuda *cu,
    struct cj_program *p)
{
	cutejit_status status = CUTEJIT_OK;

	cj_defer_lock(f, &p->lock);
	p->arena.recover = &f->recover;
	if (p->image == NULL)
		status = load(f, cu, p);
	cj_undefer_lock(f);
	return status;
}

/* After a fork, or once the driver is gone, there is nothing to give back. */
void
cj_image_unload(struct cj_image *image)
{
	const char *why;
	const struct cj_cuda *cu;

	if (image == NULL || image->library == NULL || !cj_cuda_is_ours())
		return;
	cu = cj_cuda_open(&why);
	if (cu != NULL)
		cu->LibraryUnload(image->library);
	image->library = NULL;
}
