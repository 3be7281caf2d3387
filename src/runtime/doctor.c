/*
 * What is there: GPUs, tools, libraries, the cache, our environment.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foreign.h"
#include "assemble.h"
#include "remote.h"
#include "device.h"
#include "spawn.h"

/* ---- GPUs ---------------------------------------------------------------- */

struct counting {
	int count;
};

static cutejit_status
count_gpus(struct cj_work *f, void *arguments)
{
	struct counting *c = arguments;
	const struct cj_cuda *cu;
	cutejit_status status = cj_gpu_driver(f, &cu);

	if (status == CUTEJIT_OK)
		c->count = cu->devices;
	return status;
}

cutejit_status
cutejit_gpu_count(cutejit_context *context, int *count)
{
	struct counting c = { 0 };
	cutejit_status status;

	if (count == NULL)
		return cj_misuse(context, "the place for the result is NULL");
	*count = 0;
	if (context == NULL)
		return CUTEJIT_USAGE;
	status = cj_enter(context, count_gpus, &c);
	*count = c.count;
	return status;
}

struct asking {
	int ordinal;
	cutejit_gpu *out;
};

static cutejit_status
gpu_info(struct cj_work *f, void *arguments)
{
	struct asking *a = arguments;
	const struct cj_cuda *cu;
	cutejit_status status = cj_gpu_driver(f, &cu);

	if (status != CUTEJIT_OK)
		return status;
	if (!cj_gpu_probe(f, a->ordinal, a->out))
		return cj_fail(f, CUTEJIT_MISSING, CJ_DIAG_MISSING_GPU,
		    "there is no GPU %d: the driver finds %d", a->ordinal,
		    cu->devices);
	return CUTEJIT_OK;
}

cutejit_status
cutejit_gpu_info(cutejit_context *context, int ordinal, cutejit_gpu *out)
{
	struct asking a = { ordinal, out };

	if (context == NULL || out == NULL)
		return cj_misuse(context, "the place for the result is NULL");
	memset(out, 0, sizeof *out);
	return cj_enter(context, gpu_info, &a);
}

/* ---- findings ------------------------------------------------------------ */

struct doctor {
	struct cj_work *work;
	cutejit_finding_fn *each;
	void *user;
};

static void
say(struct doctor *d, const char *topic, cutejit_finding_state state,
    const char *text, const char *use)
{
	cutejit_finding f = { topic, state, text, use };

	d->each(d->user, &f);
}

static void
look_at_product(struct doctor *d)
{
	struct cj_arena *a = &d->work->arena;
	const char *why = cj_codegen_open();

	say(d, "cutejit", CUTEJIT_FOUND, cj_printf(a, "%s, build %.12s",
	    cutejit_version(), cutejit_build()), "this library");
	say(d, "generator", why == NULL ? CUTEJIT_FOUND : CUTEJIT_ABSENT,
	    why == NULL ? cutejit_generator() : why,
	    why == NULL ? "makes PTX" : "would make PTX");
	say(d, "executor", CUTEJIT_FOUND, cj_printf(a, "%ld processors",
	    sysconf(_SC_NPROCESSORS_ONLN)),
	    "runs every kernel on the CPU, with checks");
}

static void
look_at_gpus(struct doctor *d)
{
	struct cj_arena *a = &d->work->arena;
	const char *why;
	const struct cj_cuda *cu = cj_cuda_open(&why);
	cutejit_gpu g;
	int i;

	if (cu == NULL) {
		say(d, "driver", CUTEJIT_ABSENT, why, "without it kernels "
		    "run on the executor; compiling needs no driver");
		return;
	}
	say(d, "driver", CUTEJIT_FOUND, cj_printf(a, "libcuda.so.1, "
	    "CUDA %d.%d", cu->version / 1000, cu->version % 1000 / 10),
	    "loads and launches kernels");
	for (i = 0; i < cu->devices; i++)
		if (cj_gpu_probe(d->work, i, &g))
			say(d, cj_printf(a, "gpu %d", i), CUTEJIT_FOUND,
			    cj_printf(a, "%s, sm_%d%d, %d SMs, %.0f GiB",
			    g.name, g.major, g.minor, g.sms,
			    (double)g.memory_bytes / (1 << 30)),
			    g.target[0] != '\0' ? cj_printf(a,
			    "compiled for as %s", g.target)
			    : "no target fits it");
}

static void
look_at_assemblers(struct doctor *d)
{
	struct cj_arena *a = &d->work->arena;
	const char *ptxas = cj_find_program(a, "CUTEJIT_PTXAS", "ptxas");
	const struct cj_assembler *as = cj_assembler_get(d->work);
	unsigned major, minor;

	if (ptxas != NULL)
		say(d, "ptxas", CUTEJIT_FOUND, as->kind
		    == CJ_ASSEMBLER_PTXAS ? cj_printf(a, "%s, %s", as->name,
		    as->path) : ptxas, "makes cubins from PTX");
	else
		say(d, "ptxas", CUTEJIT_ABSENT, "not in CUTEJIT_PTXAS, PATH, "
		    "CUDA_HOME or /usr/local/cuda", "would make cubins");
	if (cj_nvjitlink_open(a, &major, &minor) != NULL)
		say(d, "nvJitLink", CUTEJIT_FOUND, cj_printf(a, "%u.%u",
		    major, minor), "makes cubins where ptxas is not");
	else
		say(d, "nvJitLink", CUTEJIT_ABSENT, "libnvJitLink.so is not "
		    "there", "would make cubins where ptxas is not");
	say(d, "assembler", as->kind != CJ_ASSEMBLER_NONE ? CUTEJIT_FOUND
	    : CUTEJIT_NOTE, as->kind != CJ_ASSEMBLER_NONE ? as->name
	    : "the driver", as->kind != CJ_ASSEMBLER_NONE
	    ? "is used for cubins" : "takes PTX; cubins cannot be made");
}

static void
look_at_tools(struct doctor *d)
{
	const char *path = cj_find_program(&d->work->arena,
	    "CUTEJIT_NVDISASM", "nvdisasm");
	const char *why;
	int major, minor;

	if (cj_nvrtc_open(&d->work->arena, &major, &minor, &why) != NULL)
		say(d, "NVRTC", CUTEJIT_FOUND, cj_printf(&d->work->arena,
		    "%d.%d", major, minor), "compiles extern cuda");
	else
		say(d, "NVRTC", CUTEJIT_ABSENT, cj_printf(&d->work->arena,
		    "libnvrtc.so %s", why), "would compile extern cuda");
	say(d, "nvdisasm", path != NULL ? CUTEJIT_FOUND : CUTEJIT_ABSENT,
	    path != NULL ? path : "not there", "shows SASS (--emit=sass)");
}

static void
look_at_cache(struct doctor *d)
{
	const struct cj_store *s = d->work->context->store;
	struct cj_arena *a = &d->work->arena;

	const char *why = cj_store_trouble(a, s);

	if (s->root == NULL)
		say(d, "cache", CUTEJIT_NOTE, s->why,
		    "kernels are compiled anew by each process");
	else if (why != NULL)
		say(d, "cache", CUTEJIT_ABSENT, cj_printf(a, "%s (%s) cannot "
		    "be written: %s", s->root, s->why, why),
		    "would keep compiled kernels");
	else
		say(d, "cache", CUTEJIT_FOUND, cj_printf(a, "%s (%s), at "
		    "most %.0f MiB%s", s->root, s->why,
		    (double)s->limit / (1 << 20), s->is_read_only
		    ? ", read only" : ""), "keeps compiled kernels");
}

static void
look_at_ignored(struct doctor *d)
{
	const char *text;
	unsigned at = 0;

	while ((text = cj_environment_ignored(&d->work->arena, &at)) != NULL)
		say(d, "environment", CUTEJIT_NOTE, text,
		    "it is not used");
}

static void
look_at_remote(struct doctor *d)
{
	const struct cj_store *s = d->work->context->store;

	if (s->remote != NULL)
		say(d, "remote cache", CUTEJIT_FOUND, cj_printf(
		    &d->work->arena, "%s, %u ms%s", s->remote->shown,
		    s->remote->timeout_ms, s->remote->is_read_only
		    ? ", read only" : ""), "shares compiled kernels");
	else if (s->remote_why != NULL)
		say(d, "remote cache", CUTEJIT_ABSENT, s->remote_why,
		    "would share compiled kernels");
}

/* A password is not shown. */
static bool
is_secret(const char *variable)
{
	return strncmp(variable, "CUTEJIT_REMOTE_CACHE=", 21) == 0
	    && strchr(variable, '@') != NULL;
}

static void
look_at_environment(struct doctor *d)
{
	extern char **environ;
	char **e;

	for (e = environ; e != NULL && *e != NULL; e++)
		if (strncmp(*e, "CUTEJIT_", 8) == 0)
			say(d, "environment", CUTEJIT_NOTE, is_secret(*e)
			    ? "CUTEJIT_REMOTE_CACHE=(with a password)" : *e,
			    "changes what the library does");
}

static cutejit_status
look(struct cj_work *f, void *arguments)
{
	struct doctor *d = arguments;

	d->work = f;
	look_at_product(d);
	look_at_gpus(d);
	look_at_assemblers(d);
	look_at_tools(d);
	look_at_cache(d);
	look_at_remote(d);
	look_at_environment(d);
	look_at_ignored(d);
	return CUTEJIT_OK;
}

cutejit_status
cutejit_doctor(cutejit_context *context, cutejit_finding_fn *each, void *user)
{
	struct doctor d = { NULL, each, user };

	if (context == NULL || each == NULL)
		return cj_misuse(context,
		    "a function or a place for a result is NULL");
	return cj_enter(context, look, &d);
}
