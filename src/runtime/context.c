/*
 * Contexts: options, and what belongs to the whole program that uses us.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "assemble.h"
#include "base/room.h"
#include "cache.h"
#include "device.h"
#include "program.h"
#include "tune.h"

void *
cj_take(struct cutejit_context *c, size_t bytes)
{
	void *p = NULL;

	if (c->mem.alloc == NULL)	/* calloc promises all the same */
		return cj_room_lacks(bytes) ? NULL : calloc(1, bytes);
	p = c->mem.alloc(c->mem.user, bytes);
	if (p != NULL)
		memset(p, 0, bytes);
	return p;
}

void
cj_give_back(struct cutejit_context *c, void *memory)
{
	if (memory == NULL)
		return;
	if (c->mem.release != NULL)
		c->mem.release(c->mem.user, memory);
	else
		free(memory);
}

static bool
all_zero(const unsigned char *p, size_t bytes)
{
	size_t i;

	for (i = 0; i < bytes; i++)
		if (p[i] != 0)
			return false;
	return true;
}

bool
cj_options_copy(void *to, size_t known, const void *from)
{
	size_t size;

	if (from == NULL)
		return true;
	memcpy(&size, from, sizeof size);
	if (size < sizeof size || size > 64 * known)
		return false;
	if (size > known
	    && !all_zero((const unsigned char *)from + known, size - known))
		return false;
	memcpy(to, from, size < known ? size : known);
	memcpy(to, &known, sizeof known);
	return true;
}

void
cj_log(struct cutejit_context *c, cutejit_log_level level, const char *format,
    ...)
{
	char text[512];
	va_list ap;

	if (c->options.log == NULL)
		return;
	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	c->options.log(c->options.user, level, text);
}

/* ---- warnings ------------------------------------------------------------ */

static void
set_remarks(struct cj_diags *ds, bool off)
{
	int code;

	for (code = CJ_DIAG_NONE + 1; code < CJ_DIAG_COUNT; code++)
		if (cj_code_severity((enum cj_code)code) == CJ_REMARK &&
		    code != CJ_DIAG_SHADOWED && code != CJ_DIAG_WIDE_INDEX)
			ds->off[code] = off;
}

/* "error", "error=x", "no-error=x", "no-x", "x", "remarks", "no-remarks";
 * later ones win */
static bool
set_warning(struct cj_diags *ds, const char *word)
{
	bool off = strncmp(word, "no-", 3) == 0;
	const char *name = off ? word + 3 : word;
	enum cj_code code;

	if (strcmp(name, "error") == 0) {
		ds->warnings_are_errors = !off;
		return true;
	}
	if (strcmp(name, "remarks") == 0) {
		set_remarks(ds, off);
		return true;
	}
	if (strncmp(name, "error=", 6) == 0) {
		code = cj_code_find(name + 6);
		ds->as_error[code] = !off;
		if (!off)
			ds->off[code] = false;
	} else {
		code = cj_code_find(name);
		ds->off[code] = off;
	}
	return code != CJ_DIAG_NONE;
}

void
cj_set_warnings(struct cj_work *f, const struct cj_sources *sources)
{
	const cutejit_options *o = &f->context->options;
	size_t i;

	if (sources != NULL)
		f->diags.sources = sources;
	for (i = 0; i < o->warning_count; i++)
		set_warning(&f->diags, o->warnings[i]);
}

bool
cj_wants_remarks(const struct cutejit_context *c)
{
	size_t i;

	for (i = 0; i < c->options.warning_count; i++)
		if (strncmp(c->options.warnings[i], "no-", 3) != 0 &&
		    strcmp(c->options.warnings[i], "error") != 0)
			return true;
	return false;
}

/* ---- creating ------------------------------------------------------------ */

static const char *
own(struct cutejit_context *c, const char *text)
{
	return text != NULL ? cj_strdup(&c->arena, text) : NULL;
}

static const char *const *
own_list(struct cutejit_context *c, const char *const *from, size_t count)
{
	const char **to = CJ_NEWS(&c->arena, const char *, count);
	size_t i;

	for (i = 0; i < count; i++)
		to[i] = cj_strdup(&c->arena, from[i]);
	return to;
}

static void
own_options(struct cutejit_context *c)
{
	cutejit_options *o = &c->options;

	o->cache_folder = own(c, o->cache_folder);
	o->remote_cache = own(c, o->remote_cache);
	o->worker = own(c, o->worker != NULL ? o->worker
	    : cj_env("CUTEJIT_WORKER"));
	o->include_folders = own_list(c, o->include_folders, o->include_count);
	o->warnings = own_list(c, o->warnings, o->warning_count);
}

static bool
lists_are_right(const cutejit_options *o)
{
	size_t i;

	if ((o->include_folders == NULL && o->include_count != 0)
	    || (o->warnings == NULL && o->warning_count != 0)
	    || (o->allocate == NULL) != (o->release == NULL)
	    || (unsigned)o->cache > CUTEJIT_CACHE_READ_ONLY)
		return false;
	for (i = 0; i < o->include_count; i++)
		if (o->include_folders[i] == NULL)
			return false;
	for (i = 0; i < o->warning_count; i++)
		if (o->warnings[i] == NULL)
			return false;
	return true;
}

static bool
warnings_are_known(const cutejit_options *o)
{
	struct cj_diags ds = { 0 };
	size_t i;

	for (i = 0; i < o->warning_count; i++)
		if (!set_warning(&ds, o->warnings[i]))
			return false;
	return true;
}

static struct cutejit_context *
allocate(const cutejit_options *o)
{
	struct cutejit_context bare = { 0 }, *c;
	pthread_condattr_t clock;

	bare.mem.alloc = o->allocate;
	bare.mem.release = o->release;
	bare.mem.user = o->allocator_user;
	c = cj_take(&bare, sizeof *c);
	if (c == NULL)
		return NULL;
	c->mem = bare.mem;
	c->options = *o;
	atomic_init(&c->references, 1);
	pthread_mutex_init(&c->lock, NULL);
	cj_tunings_init(c);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&c->generated, &clock);
	pthread_condattr_destroy(&clock);
	cj_arena_init(&c->arena, &c->recover, &c->mem);
	return c;
}

static void
release(struct cutejit_context *c)
{
	while (c->reports != NULL) {
		struct cj_thread_report *r = c->reports;

		c->reports = r->next;
		cj_report_fini(&r->report);
		if (r != &c->first_report)
			cj_give_back(c, r);
	}
	if (c->blank != NULL)
		cj_module_drop(c->blank);
	cj_handles_fini(c);
	cj_tunings_fini(c);
	cj_resident_fini(c);
	cj_arena_fini(&c->arena);
	pthread_cond_destroy(&c->generated);
	pthread_mutex_destroy(&c->lock);
	cj_give_back(c, c);
}

/* False: no memory. */
static bool
furnish(struct cutejit_context *c)
{
	if (CJ_RECOVER(&c->recover))
		return false;
	own_options(c);
	c->prelude = cj_prelude_load(&c->arena);
	c->store = cj_store_open(&c->arena, &c->options);
	return true;
}

static void
tell_environment(struct cutejit_context *c)
{
	const char *text;
	unsigned at = 0;

	if (CJ_RECOVER(&c->recover))
		return;
	while ((text = cj_environment_ignored(&c->arena, &at)) != NULL)
		cj_log(c, CUTEJIT_LOG_WARNING, "%s", text);
}

cutejit_status
cutejit_context_create(const cutejit_options *options, cutejit_context **out)
{
	cutejit_options o = CUTEJIT_OPTIONS_INIT;
	struct cutejit_context *c;

	if (out == NULL)
		return CUTEJIT_USAGE;
	*out = NULL;
	if (!cj_options_copy(&o, sizeof o, options) || !lists_are_right(&o)
	    || !warnings_are_known(&o))
		return CUTEJIT_USAGE;
	c = allocate(&o);
	if (c == NULL)
		return CUTEJIT_LIMIT;
	if (!furnish(c)) {
		release(c);
		return CUTEJIT_LIMIT;
	}
	if (c->store->remote_why != NULL)
		cj_log(c, CUTEJIT_LOG_WARNING, "no remote cache: %s",
		    c->store->remote_why);
	tell_environment(c);
	*out = c;
	return CUTEJIT_OK;
}

void
cj_context_hold(struct cutejit_context *c)
{
	atomic_fetch_add(&c->references, 1);
}

void
cj_context_drop(struct cutejit_context *c)
{
	int before = atomic_fetch_sub(&c->references, 1);

	assert(before > 0 && "a reference was held");
	if (before == 1)
		release(c);
}

void
cutejit_context_destroy(cutejit_context *context)
{
	if (context == NULL)
		return;
	cj_generations_end(context);
	atomic_store(&context->is_closed, true);
	cj_context_drop(context);
}
