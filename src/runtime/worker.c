/*
 * Workers: programs of their own that generate code, so that whatever happens
 * to LLVM happens to them.
 *
 *	request	"cutejit-worker BUILD LEVEL PTX CHECKED LLVM\n", IR
 *	answer	"ok PTX-VERSION KERNELS BYTES BYTES MS MS MS\n", a line for each
 *		kernel, PTX, LLVM's text;  or "fault TEXT"
 *
 * Both sides are one build. A worker that runs past the deadline is killed; one
 * that crashes is a fault of ours, with a report. What needs the texts of the
 * program (lines for debuggers) is generated here.
 */
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "spawn.h"
#include "worker.h"

/* ---- the caller's side --------------------------------------------------- */

static const char *
request_text(struct cj_work *f, const struct cj_module *ir,
    const struct cj_codegen_options *o, size_t *length)
{
	struct cj_strbuf b;

	cj_strbuf_init(&b, &f->arena);
	cj_strbuf_printf(&b, "cutejit-worker %s %d %d %d %d\n",
	    cutejit_build(), o->level, o->ptx, o->checked, o->want_llvm);
	cj_module_print(&b, ir);
	*length = b.len;
	return b.text;
}

/* "FUNCTION SHARED TOTAL NAME"; the text behind it, or NULL. */
static const char *
read_kernel(struct cj_arena *a, const char *at, struct cj_codegen_result *out,
    uint32_t i)
{
	const char *end = strchr(at, '\n');
	long long shared, total;
	unsigned function;
	int skip = 0;

	if (end == NULL || sscanf(at, "%u %lld %lld %n", &function, &shared,
	    &total, &skip) != 3 || skip == 0 || at + skip > end)
		return NULL;
	out->kernels[i].function = function;
	out->kernels[i].shared_bytes = shared;
	out->kernels[i].shared_total = total;
	out->kernels[i].entry = cj_strndup(a, at + skip,
	    (size_t)(end - at - skip));
	return end + 1;
}

static bool
read_answer(struct cj_work *f, const struct cj_spawned *s,
    struct cj_codegen_result *out)
{
	struct cj_arena *a = &f->arena;
	const char *at = strchr(s->out, '\n'), *end = s->out + s->out_length;
	size_t ptx, llvm;
	uint32_t i;

	if (at == NULL || sscanf(s->out, "ok %d %u %zu %zu %lf %lf %lf",
	    &out->ptx_version, &out->kernel_count, &ptx, &llvm,
	    &out->build_ms, &out->passes_ms, &out->emit_ms) != 7
	    || out->kernel_count > s->out_length)
		return false;
	at++;
	out->kernels = cj_alloc_array(a, out->kernel_count,
	    sizeof *out->kernels);
	for (i = 0; i < out->kernel_count; i++) {
		at = read_kernel(a, at, out, i);
		if (at == NULL)
			return false;
	}
	if (ptx > (size_t)(end - at) || llvm != (size_t)(end - at) - ptx)
		return false;
	out->ptx = cj_strndup(a, at, ptx);
	out->ptx_length = ptx;
	out->llvm = llvm != 0 ? cj_strndup(a, at + ptx, llvm) : NULL;
	return true;
}

bool
cj_worker_generate(struct cj_work *f, const struct cj_module *ir,
    const struct cj_codegen_options *o, struct cj_codegen_result *out)
{
	const char *program = f->context->options.worker;
	const char *argv[] = { program, "worker", NULL };
	struct cj_spawned s;
	const char *in;
	size_t length;

	if (program == NULL || o->lineinfo)
		return false;
	in = request_text(f, ir, o, &length);
	memset(out, 0, sizeof *out);
	switch (cj_spawn(f, argv, in, length, &s)) {
	case CJ_SPAWN_OK:
		break;
	case CJ_SPAWN_FAILED:
		cj_fault(f, "the worker failed: %.160s", s.err);
	case CJ_SPAWN_LATE:
		cj_leave(&f->recover, CJ_WHY_DEADLINE, "late");
	case CJ_SPAWN_NOT:
		cj_log(f->context, CUTEJIT_LOG_WARNING,
		    "the worker %s cannot be started", program);
		return false;
	}
	if (strncmp(s.out, "fault ", 6) == 0)
		cj_fault(f, "code generation: %.180s", s.out + 6);
	if (!read_answer(f, &s, out))
		cj_fault(f, "the worker gave no answer: %.120s", s.out);
	return true;
}

/* ---- the worker's side --------------------------------------------------- */

static char *
read_input(struct cj_arena *a, size_t *length)
{
	size_t cap = 1 << 16;
	char *all = malloc(cap), *more, *copy;
	ssize_t n;

	*length = 0;
	while (all != NULL && (n = read(0, all + *length, cap - *length)) > 0) {
		*length += (size_t)n;
		if (*length < cap)
			continue;
		cap *= 2;
		more = realloc(all, cap);
		if (more == NULL)
			free(all);
		all = more;
	}
	if (all == NULL)
		return NULL;
	copy = cj_strndup(a, all, *length);
	free(all);
	return copy;
}

static void
give(const char *bytes, size_t length)
{
	if (!cj_write_all(1, bytes, length))
		exit(CUTEJIT_MISSING);
}

static int
give_fault(struct cj_arena *a, const char *text)
{
	const char *all = cj_printf(a, "fault %s\n", text);

	give(all, strlen(all));
	return 0;
}

static int
give_result(struct cj_arena *a, const struct cj_codegen_result *r)
{
	size_t llvm = r->llvm != NULL ? strlen(r->llvm) : 0;
	struct cj_strbuf b;
	uint32_t i;

	cj_strbuf_init(&b, a);
	cj_strbuf_printf(&b, "ok %d %u %zu %zu %.3f %.3f %.3f\n",
	    r->ptx_version, r->kernel_count, r->ptx_length, llvm,
	    r->build_ms, r->passes_ms, r->emit_ms);
	for (i = 0; i < r->kernel_count; i++)
		cj_strbuf_printf(&b, "%u %lld %lld %s\n",
		    r->kernels[i].function,
		    (long long)r->kernels[i].shared_bytes,
		    (long long)r->kernels[i].shared_total,
		    r->kernels[i].entry);
	cj_strbuf_write(&b, r->ptx, r->ptx_length);
	if (llvm != 0)
		cj_strbuf_write(&b, r->llvm, llvm);
	give(b.text, b.len);
	return 0;
}

static int
answer(struct cj_arena *a)
{
	struct cj_codegen_options o = { 0 };
	struct cj_codegen_result r = { 0 };
	const struct cj_module *ir;
	struct cj_strbuf why;
	char build[80];
	int checked, llvm;
	size_t length;
	char *text = read_input(a, &length), *at;

	if (text == NULL || sscanf(text, "cutejit-worker %79s %d %d %d %d",
	    build, &o.level, &o.ptx, &checked, &llvm) != 5
	    || (at = strchr(text, '\n')) == NULL)
		return CUTEJIT_USAGE;
	if (strcmp(build, cutejit_build()) != 0)
		return give_fault(a, "the worker is of another build");
	o.checked = checked != 0;
	o.want_llvm = llvm != 0;
	at++;
	cj_strbuf_init(&why, a);
	ir = cj_module_read(a, at, length - (size_t)(at - text), &why);
	if (ir == NULL)
		return give_fault(a, why.text);
	if (cj_codegen_ptx(a, ir, &o, &r) != CJ_CODEGEN_OK)
		return give_fault(a, r.error != NULL ? r.error : "no reason");
	return give_result(a, &r);
}

int
cutejit_worker(void)
{
	struct cj_recover recover = { 0 };
	struct cj_arena a;
	int code;

	cj_arena_init(&a, &recover, NULL);
	if (CJ_RECOVER(&recover))
		return recover.why == CJ_WHY_MEMORY ? CUTEJIT_LIMIT
		    : CUTEJIT_INTERNAL;
	code = answer(&a);
	cj_arena_fini(&a);
	return code;
}
