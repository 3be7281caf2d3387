/*
 * Artifacts: what `--emit` shows. Those that a program does not keep are made
 * again from the kernel's own texts, which gives the same.
 */
#include "artifact.h"

#include "program.h"
#include "select.h"
#include "spawn.h"

struct request {
	struct cutejit_kernel *kernel;
	const char *kind;
	const void *bytes;
	size_t length;
};

static void
set(struct request *q, const void *bytes, size_t length)
{
	q->bytes = bytes;
	q->length = length;
}

static void
set_text(struct request *q, const struct cj_strbuf *b)
{
	set(q, b->text, b->len);
}

/* ---- IR ------------------------------------------------------------------ */

/* The recipe of a kernel with its binding made anew. */
static void
bind_again(struct cj_work *f, struct cutejit_kernel *k, struct cj_recipe *r)
{
	const char *why;

	*r = k->recipe;
	r->binding = cj_kernel_bind(f, k, k->actuals, k->actual_count, &why);
	if (r->binding == NULL)
		cj_fault(f, "a binding cannot be made again: %.150s",
		    why != NULL ? why : "no reason given");
}

static struct cj_module *
elaborate_again(struct cj_work *f, struct cutejit_kernel *k)
{
	struct cj_recipe r;
	struct cj_module *ir;

	bind_again(f, k, &r);
	ir = cj_elaborate(f, k->module, &r, &f->arena, &f->diags);
	if (ir == NULL)
		cj_fault(f, "a kernel cannot be elaborated again");
	f->diags.first = NULL;		/* said when it was compiled */
	f->diags.last = &f->diags.first;
	return ir;
}

static void
make_ir(struct cj_work *f, struct request *q)
{
	struct cj_strbuf b;

	cj_strbuf_init(&b, &f->arena);
	cj_module_print(&b, q->kernel->program->ir);
	set_text(q, &b);
}

struct stop {
	const char *pass;
	struct cj_strbuf *out;
	bool is_found;
};

static void
print_after(void *user, const struct cj_pass *p, struct cj_module *m)
{
	struct stop *s = user;

	if (strcmp(p->name, s->pass) != 0)
		return;
	s->is_found = true;
	s->out->len = 0;
	cj_module_print(s->out, m);
}

static cutejit_status
make_ir_after(struct cj_work *f, struct request *q, const char *pass)
{
	struct cj_module *ir = elaborate_again(f, q->kernel);
	struct cj_strbuf b;
	struct stop s = { pass, &b, false };

	cj_strbuf_init(&b, &f->arena);
	if (strcmp(pass, "start") == 0) {
		cj_module_print(&b, ir);
		s.is_found = true;
	} else {
		cj_passes_run(ir, &f->recover, print_after, &s);
	}
	if (!s.is_found)
		return cj_fail(f, CUTEJIT_USAGE, CJ_DIAG_USAGE,
		    "there is no pass \"%s\"", pass);
	set_text(q, &b);
	return CUTEJIT_OK;
}

static uint32_t
leaf_bytes(const struct cj_leaf *leaf)
{
	unsigned bits = leaf->kind == CJ_LEAF_OBJECT ? 64
	    : cj_kind_bits(cj_type_kind(leaf->type));

	return bits < 8 ? 1 : bits / 8;
}

/* Parameters as the driver lays them out: each aligned to its own size. */
static void
print_offsets(struct cj_strbuf *b, const struct cj_function *fn)
{
	uint32_t i, r, offset = 0;

	cj_strbuf_printf(b, "parameters of %s:\n", fn->name);
	for (i = 0; i < fn->leaves.len; i++) {
		const struct cj_leaf *leaf = &fn->leaves.at[i];
		uint32_t bytes = leaf_bytes(leaf);
		uint32_t count = leaf->kind == CJ_LEAF_OBJECT ? 1
		    : cj_type_count(leaf->type);

		for (r = 0; r < count; r++) {
			offset = (offset + bytes - 1) & ~(bytes - 1);
			cj_strbuf_printf(b, "  %4u  %u  %s\n", offset, bytes,
			    leaf->name != NULL ? leaf->name : "");
			offset += bytes;
		}
	}
}

static void
make_host(struct cj_work *f, struct request *q)
{
	const struct cj_module *ir = q->kernel->program->ir;
	struct cj_strbuf b;
	uint32_t i;

	cj_strbuf_init(&b, &f->arena);
	cj_function_print(&b, ir, 1);
	for (i = 1; i < ir->functions.len; i++)
		if (ir->functions.at[i].kind == CJ_FUNCTION_DEVICE)
			print_offsets(&b, &ir->functions.at[i]);
	set_text(q, &b);
}

/* ---- code ---------------------------------------------------------------- */

static cutejit_status
make_llvm(struct cj_work *f, struct request *q)
{
	struct cj_codegen_result g;
	cutejit_status status = cj_generate(f, q->kernel->module,
	    &q->kernel->recipe, q->kernel->program, true, &g);

	if (status == CUTEJIT_OK)
		set(q, g.llvm, strlen(g.llvm));
	return status;
}

static cutejit_status
advance(struct cj_work *f, struct cutejit_kernel *k, enum cj_stage stage)
{
	struct cj_program *p = k->program;
	bool had_image = atomic_load(&p->stage) == CJ_STAGE_IMAGE;
	cutejit_status status = cj_program_advance(f, k->module, &k->recipe,
	    stage, p);

	return status == CUTEJIT_OK && stage == CJ_STAGE_IMAGE && !had_image
	    ? cj_spills_tell(f, p) : status;
}

static cutejit_status
make_ptx(struct cj_work *f, struct request *q)
{
	cutejit_status status = advance(f, q->kernel, CJ_STAGE_PTX);

	if (status == CUTEJIT_OK)
		set(q, q->kernel->program->ptx,
		    q->kernel->program->ptx_length);
	return status;
}

static cutejit_status
make_cubin(struct cj_work *f, struct request *q)
{
	struct cj_program *p = q->kernel->program;
	cutejit_status status = advance(f, q->kernel, CJ_STAGE_IMAGE);

	if (status != CUTEJIT_OK)
		return status;
	if (p->cubin == NULL) {
		cj_fail(f, CUTEJIT_MISSING, CJ_DIAG_MISSING_ASSEMBLER,
		    "a cubin needs ptxas or nvJitLink of the CUDA toolkit: "
		    "neither is there, or it is too old");
		cj_say_help(f, "PTX can be made without, and a GPU's driver "
		    "takes it.");
		return CUTEJIT_MISSING;
	}
	set(q, p->cubin, p->cubin_length);
	return cj_advice_tell_cubin(f, p);
}

static cutejit_status
make_sass(struct cj_work *f, struct request *q)
{
	const char *tool = cj_find_program(&f->arena, "CUTEJIT_NVDISASM",
	    "nvdisasm");
	const char *const argv[] = { tool, "/dev/stdin", NULL };
	cutejit_status status = make_cubin(f, q);
	struct cj_spawned out;

	if (status != CUTEJIT_OK)
		return status;
	if (tool == NULL || cj_spawn(f, argv, q->bytes, q->length, &out)
	    != CJ_SPAWN_OK)
		return cj_fail(f, CUTEJIT_MISSING, CJ_DIAG_MISSING_TOOL,
		    "SASS needs nvdisasm of the CUDA toolkit: it is not there "
		    "or fails");
	set(q, out.out, out.out_length);
	return CUTEJIT_OK;
}

/* ---- asking -------------------------------------------------------------- */

static cutejit_status
make(struct cj_work *f, struct request *q)
{
	const char *kind = q->kind;

	if (strcmp(kind, "ir") == 0)
		return make_ir(f, q), CUTEJIT_OK;
	if (strncmp(kind, "ir:", 3) == 0)
		return make_ir_after(f, q, kind + 3);
	if (strcmp(kind, "host") == 0)
		return make_host(f, q), CUTEJIT_OK;
	if (strcmp(kind, "llvm") == 0)
		return make_llvm(f, q);
	if (strcmp(kind, "ptx") == 0)
		return make_ptx(f, q);
	if (strcmp(kind, "cubin") == 0)
		return make_cubin(f, q);
	if (strcmp(kind, "sass") == 0)
		return make_sass(f, q);
	return cj_fail(f, CUTEJIT_USAGE, CJ_DIAG_USAGE,
	    "\"%s\" is no stage of a compile", kind);
}

static struct cj_artifact *
find(struct cutejit_kernel *k, const char *kind)
{
	struct cj_artifact *a;

	for (a = k->artifacts; a != NULL; a = a->next)
		if (strcmp(a->kind, kind) == 0)
			return a;
	return NULL;
}

static struct cj_artifact *
keep(struct cj_work *f, const struct request *q)
{
	struct cutejit_kernel *k = q->kernel;
	struct cj_artifact *a;

	k->arena.recover = &f->recover;
	a = CJ_NEW(&k->arena, struct cj_artifact);
	a->kind = cj_strdup(&k->arena, q->kind);
	a->bytes = cj_strndup(&k->arena, q->bytes, q->length);
	a->length = q->length;
	a->next = k->artifacts;
	k->artifacts = a;
	return a;
}

static cutejit_status
artifact(struct cj_work *f, void *arguments)
{
	struct request *q = arguments;
	struct cj_artifact *a;
	cutejit_status status = CUTEJIT_OK;

	f->module = q->kernel->module;
	f->doing = q->kind;
	cj_set_warnings(f, &q->kernel->module->sources);
	cj_defer_lock(f, &q->kernel->lock);
	a = find(q->kernel, q->kind);
	if (a == NULL) {
		status = make(f, q);
		if (status == CUTEJIT_OK)
			a = keep(f, q);
	}
	if (a != NULL)
		set(q, a->bytes, a->length);
	cj_undefer_lock(f);
	return status;
}

cutejit_status
cutejit_kernel_artifact(cutejit_kernel *kernel, const char *kind,
    const void **bytes, size_t *length)
{
	struct request q = { kernel, kind, NULL, 0 };
	cutejit_status status;

	if (bytes == NULL)
		return cj_handle_misuse(kernel,
		    "the place for the result is NULL");
	*bytes = NULL;
	if (length != NULL)
		*length = 0;
	if (!cj_is(kernel, CJ_KERNEL))
		return cj_handle_refuse(kernel);
	if (kind == NULL)
		return cj_handle_misuse(kernel,
		    "a text that is needed is NULL");
	status = cj_enter(kernel->module->context, artifact, &q);
	if (status != CUTEJIT_OK)
		return status;
	*bytes = q.bytes;
	if (length != NULL)
		*length = q.length;
	return CUTEJIT_OK;
}
