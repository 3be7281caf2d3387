/*
 * The way from a text to an image: the picture of the architecture as code.
 *
 *	elaborate   tree and binding -> IR		ir/elab*
 *	optimise    IR -> IR, verified after each pass	ir/passes
 *	generate    IR -> PTX				generate.c, codegen/
 *	assemble    PTX -> cubin			assemble.c
 *	keep        on disk				cache*.c
 *
 * A program goes this way once, as far as somebody needs; whoever asks for it
 * meanwhile waits at its lock. What a stage has set never changes again.
 */
#include "assemble.h"
#include "device.h"
#include "dump.h"
#include "foreign.h"
#include "ir/depend.h"
#include "opening.h"
#include "program.h"
#include "remote.h"

static void
add_phase(struct cj_program *p, const char *name, double ms)
{
	uint32_t n = atomic_load(&p->phase_count);

	if (n == CJ_PHASES)
		return;
	p->phases[n].name = name;
	p->phases[n].ms = ms;
	atomic_store(&p->phase_count, n + 1);
}

/* LLVM, the first time. */
static void
add_load(struct cj_program *p, double ms)
{
	if (ms > 0.1)
		add_phase(p, "load LLVM", ms);
}

static void
drop(void *program)
{
	cj_program_drop(program);
}

/* ---- text -> IR ---------------------------------------------------------- */

static struct cj_aim
aim_of(const struct cj_recipe *r)
{
	return (struct cj_aim){ r->target, r->checked ? CJ_BOUNDS_ALL :
	    r->watched ? CJ_BOUNDS_MODES : CJ_BOUNDS_MEMORY };
}

struct cj_module *
cj_elaborate(struct cj_work *f, struct cutejit_module *m,
    const struct cj_recipe *r, struct cj_arena *a, struct cj_diags *ds)
{
	const struct cj_aim aim = aim_of(r);
	struct cj_module *ir;

	assert(r->binding != NULL && "elaboration needs a binding");
	cj_module_enter(f, m);
	ir = cj_elab_kernel(a, m->unit, r->member, r->binding, &aim, ds);
	if (ir != NULL)
		ir->sources = cj_sources_now(m, a);
	cj_module_leave(f, m);
	if (ir == NULL || ds->errors != 0)
		return NULL;
	return ir;
}

struct cj_program *
cj_program_of_contract(struct cj_work *f, struct cutejit_module *m,
    const struct cj_recipe *r)
{
	const struct cj_aim aim = aim_of(r);
	const struct cj_digest none = { 0 };
	struct cj_program *p = cj_program_create(f->context, &none);

	if (p == NULL)
		cj_leave(&f->recover, CJ_WHY_MEMORY,
		    "there is no memory for a program");
	cj_defer(f, drop, p);
	p->arena.recover = &f->recover;
	cj_module_enter(f, m);
	p->ir = cj_elab_contract(&p->arena, m->unit, r->member, r->binding,
	    &aim);
	cj_module_leave(f, m);
	if (p->ir != NULL)
		cj_passes_run(p->ir, &f->recover, NULL, NULL);
	return p;
}

struct half_made {
	struct cj_arena *arena;
	struct cj_mark mark;
};

/* What a stage has made when it ends early is of no use. */
static void
unmake(void *object)
{
	struct half_made *h = object;

	cj_arena_release(h->arena, h->mark);
}

static cutejit_status
make_ir(struct cj_work *f, struct cutejit_module *m,
    const struct cj_recipe *r, struct cj_program *p)
{
	struct half_made *h = CJ_NEW(&f->arena, struct half_made);
	int64_t start = cj_clock();
	struct cj_module *ir;

	h->arena = &p->arena;
	h->mark = cj_arena_mark(&p->arena);
	cj_defer(f, unmake, h);
	ir = cj_elaborate(f, m, r, &p->arena, &f->diags);
	if (ir == NULL) {
		cj_undefer(f);
		unmake(h);
		return CUTEJIT_ERROR;
	}
	add_phase(p, "elaborate", cj_ms_since(start));
	start = cj_clock();
	cj_passes_run(ir, &f->recover, NULL, NULL);
	cj_waits_report(&f->arena, ir, &f->diags);
	add_phase(p, "passes", cj_ms_since(start));
	cj_undefer(f);
	p->ir = ir;
	cj_report_fill(&p->report, &f->diags, NULL);
	return CUTEJIT_OK;
}

/* ---- IR -> PTX ----------------------------------------------------------- */

static void
set_entries(struct cj_program *p, const struct cj_codegen_result *g)
{
	uint32_t i, n = g->kernel_count;
	cutejit_entry *entries = CJ_NEWS(&p->arena, cutejit_entry, n);

	p->functions = CJ_NEWS(&p->arena, uint32_t, n);
	p->dynamic = CJ_NEWS(&p->arena, int64_t, n);
	for (i = 0; i < n; i++) {
		cutejit_entry *e = &entries[i];

		e->name = cj_strdup(&p->arena, g->kernels[i].entry);
		e->shared_bytes = (int)g->kernels[i].shared_total;
		e->registers = e->spill_bytes = e->stack_bytes =
		    e->constant_bytes = -1;
		p->functions[i] = g->kernels[i].function;
		p->dynamic[i] = g->kernels[i].shared_bytes;
	}
	atomic_store(&p->entries, entries);
	p->entry_count = n;
}

static cutejit_status
make_ptx(struct cj_work *f, struct cutejit_module *m,
    const struct cj_recipe *r, struct cj_program *p)
{
	struct cj_codegen_result g;
	cutejit_status status;

	status = cj_generate(f, m, r, p, false, &g);
	if (status != CUTEJIT_OK)
		return status;
	status = cj_foreign_add(f, m, r, &g.ptx, &g.ptx_length);
	if (status != CUTEJIT_OK)
		return status;
	p->ptx = cj_memdup(&p->arena, g.ptx, g.ptx_length + 1);
	p->ptx_length = g.ptx_length;
	set_entries(p, &g);
	add_load(p, g.load_ms);
	add_phase(p, "generate", g.build_ms + g.passes_ms + g.emit_ms);
	return CUTEJIT_OK;
}

/* ---- PTX -> cubin -------------------------------------------------------- */

/* Is it for others than this process? What had warnings is made anew each
 * time, so that they are not lost. */
static bool
is_kept(const struct cj_work *f, const struct cj_program *p)
{
	const struct cj_store *s = f->context->store;

	return (s->folder != NULL || s->remote != NULL)
	    && p->report.count == 0;
}

/* An assembler that is older than the PTX: no fault of anyone here. */
static bool
is_too_old(const char *log)
{
	return strstr(log, "Unsupported .version") != NULL
	    || strstr(log, "is not defined for option 'gpu-name'") != NULL;
}

static cutejit_status
make_image(struct cj_work *f, struct cutejit_module *m,
    const struct cj_recipe *r, struct cj_program *p)
{
	const struct cj_assembler *as = cj_assembler_get(f);
	int64_t start = cj_clock();
	cutejit_entry *entries;
	struct cj_assembly out;
	cutejit_status status;

	if (as->kind == CJ_ASSEMBLER_NONE)
		return CUTEJIT_OK;
	cj_ahead_feed(f, r, p->ptx, p->ptx_length);
	if (is_kept(f, p))
		cj_program_write_ir(f, p);
	status = cj_assemble(f, r, p->ptx, p->ptx_length, &p->arena, &out);
	if (status == CUTEJIT_LIMIT)
		return status;
	if (status != CUTEJIT_OK) {
		if (cj_refuse_own_ptx(f, p->ptx, &out, as->name) ||
		    cj_foreign_refused(f, m, p->ptx, as->name, out.log))
			return CUTEJIT_ERROR;
		if (!is_too_old(out.log))
			cj_fault(f, "%s: %.180s", as->name, out.log);
		cj_log(f->context, CUTEJIT_LOG_WARNING,
		    "%s is too old for %s", as->name, r->target->name);
		return CUTEJIT_OK;
	}
	entries = cj_memdup(&p->arena, atomic_load(&p->entries),
	    p->entry_count * sizeof *entries);
	if (!cj_cubin_read(out.cubin, out.length, out.properties, entries,
	    p->entry_count))
		cj_fault(f, "%s gave no cubin", as->name);
	atomic_store(&p->entries, entries);
	p->cubin = out.cubin;
	p->cubin_length = out.length;
	p->assembler = as->name;
	p->advice = cj_advice_of(&p->arena, out.properties);
	add_phase(p, "assemble", cj_ms_since(start));
	return CUTEJIT_OK;
}

/* ---- all of it ----------------------------------------------------------- */

/* The next stage on the way to one. */
static cutejit_status
step(struct cj_work *f, struct cutejit_module *m, const struct cj_recipe *r,
    enum cj_stage aim, struct cj_program *p)
{
	cutejit_status status = CUTEJIT_OK;
	struct cj_opening *opening;
	int stage = atomic_load(&p->stage);

	cj_check_time(f);
	switch ((enum cj_stage)stage) {
	case CJ_STAGE_NONE:
		f->doing = "elaborating a kernel";
		opening = aim > CJ_STAGE_IR ? cj_opening_begin(f) : NULL;
		status = make_ir(f, m, r, p);
		add_load(p, cj_opening_end(f, opening));
		break;
	case CJ_STAGE_IR:
		f->doing = "generating PTX";
		cj_ahead_start(f, r, p->ir);
		status = make_ptx(f, m, r, p);
		break;
	case CJ_STAGE_PTX:
		f->doing = "assembling";
		status = make_image(f, m, r, p);
		break;
	case CJ_STAGE_IMAGE:
		assert(false && "there is nothing behind an image");
		break;
	}
	if (status == CUTEJIT_OK) {
		atomic_store(&p->stage, stage + 1);
		cj_dump_stage(f, m, r, p, (enum cj_stage)(stage + 1));
	}
	return status;
}

static cutejit_status
make(struct cj_work *f, struct cutejit_module *m, const struct cj_recipe *r,
    enum cj_stage stage, struct cj_program *p)
{
	cutejit_status status = CUTEJIT_OK;

	while (atomic_load(&p->stage) < (int)stage && status == CUTEJIT_OK)
		status = step(f, m, r, stage, p);
	return status;
}

static void
dump_all(struct cj_work *f, struct cutejit_module *m,
    const struct cj_recipe *r, enum cj_stage stage, struct cj_program *p)
{
	int s;

	for (s = CJ_STAGE_IR; s <= (int)stage; s++)
		cj_dump_stage(f, m, r, p, (enum cj_stage)s);
}

/* What the disk has of a program: the image, or (from a machine without an
 * assembler, or for PTX alone) all before it. */
static bool
take_from_disk(struct cj_work *f, struct cutejit_module *m,
    const struct cj_recipe *r, enum cj_stage stage, struct cj_program *p)
{
	struct cj_record record;

	if (!cj_store_find(f, &p->arena, &p->key, &record)
	    || !cj_program_read(f, m, p, &record))
		return false;
	p->origin = CUTEJIT_ORIGIN_DISK;
	atomic_store(&p->stage, (int)stage);
	atomic_fetch_add(&f->context->store->disk_hits, 1);
	dump_all(f, m, r, stage, p);
	return true;
}

/* The same of another machine; what it sent is kept on disk. */
static bool
take_from_remote(struct cj_work *f, struct cutejit_module *m,
    const struct cj_recipe *r, enum cj_stage stage, struct cj_program *p)
{
	struct cj_record record;
	const char *bytes;
	size_t length;

	if (f->context->store->remote == NULL
	    || !cj_remote_find(f, &p->arena, &p->key, &record, &bytes,
	    &length) || !cj_program_read(f, m, p, &record))
		return false;
	p->origin = CUTEJIT_ORIGIN_REMOTE;
	atomic_store(&p->stage, (int)stage);
	dump_all(f, m, r, stage, p);
	cj_store_put(f, &p->key, bytes, length);
	return true;
}

static cutejit_status
make_and_keep(struct cj_work *f, struct cutejit_module *m,
    const struct cj_recipe *r, enum cj_stage stage, struct cj_program *p)
{
	cutejit_status status = make(f, m, r, stage, p);
	struct cj_store *s = f->context->store;
	struct cj_record record;
	const char *bytes;
	size_t length;

	if (status != CUTEJIT_OK)
		return status;
	atomic_fetch_add(&s->misses, 1);
	if (!is_kept(f, p))
		return status;
	cj_program_write(f, p, &record);
	bytes = cj_record_encode(&f->arena, &p->key, &record, &length);
	cj_store_put(f, &p->key, bytes, length);
	if (s->remote != NULL)
		cj_remote_put(f, &p->key, bytes, length);
	return status;
}

/*
 * The whole way to PTX or an image, unless the disk has it. Only one process
 * makes an entry; the others find it when they have waited.
 */
static cutejit_status
make_once(struct cj_work *f, struct cutejit_module *m,
    const struct cj_recipe *r, enum cj_stage stage, struct cj_program *p)
{
	struct cj_flight *flight;
	cutejit_status status;

	if (cj_wants_remarks(f->context))
		return make_and_keep(f, m, r, stage, p);
	if (take_from_disk(f, m, r, stage, p))
		return CUTEJIT_OK;
	flight = cj_flight_begin(f, &p->key);
	if ((flight != NULL && take_from_disk(f, m, r, stage, p))
	    || take_from_remote(f, m, r, stage, p))
		status = CUTEJIT_OK;
	else
		status = make_and_keep(f, m, r, stage, p);
	if (flight != NULL)
		cj_flight_end(f, flight);
	return status;
}

/* PTX alone is what a machine without an assembler would keep. */
static const char *
assembler_of(struct cj_work *f, const struct cutejit_module *m,
    enum cj_stage stage)
{
	return cj_printf(&f->arena, "%s%s", stage == CJ_STAGE_PTX ? "" :
	    cj_assembler_get(f)->name, cj_foreign_compiler(f, m));
}

/* For the report of a fault, which outlives this frame and the program's other
 * holders. */
static void
remember(struct cj_work *f, const struct cj_recipe *r, struct cj_program *p)
{
	f->recipe = cj_memdup(&f->arena, r, sizeof *r);
	cj_program_hold(p);
	if (f->program != NULL)
		cj_program_drop(f->program);
	f->program = p;
}

/* The key has the assembler's version in it. While there is no entry to be
 * found, it is asked for beside what leads to the PTX, and beside the
 * assembling. */
static cutejit_status
make_image_once(struct cj_work *f, struct cutejit_module *m,
    const struct cj_recipe *r, struct cj_program *p)
{
	cutejit_status status = CUTEJIT_OK;

	cj_ahead_begin(f);
	if (atomic_load(&p->stage) == CJ_STAGE_NONE && cj_ahead_ask(f)) {
		status = make(f, m, r, CJ_STAGE_PTX, p);
		if (status == CUTEJIT_OK)
			cj_ahead_feed(f, r, p->ptx, p->ptx_length);
	}
	if (status == CUTEJIT_OK) {
		p->key = cj_cache_key(m, r, assembler_of(f, m,
		    CJ_STAGE_IMAGE));
		status = make_once(f, m, r, CJ_STAGE_IMAGE, p);
	}
	cj_ahead_end(f);
	return status;
}

static cutejit_status
advance(struct cj_work *f, struct cutejit_module *m,
    const struct cj_recipe *r, enum cj_stage stage, struct cj_program *p)
{
	bool is_new = atomic_load(&p->stage) == CJ_STAGE_NONE;

	p->arena.recover = &f->recover;
	remember(f, r, p);
	if (is_new) {
		p->kernel = cj_strdup(&p->arena, r->member->kernel);
		p->member = r->member->member;
		p->binding = cj_strdup(&p->arena, r->binding_text);
		p->target = r->target;
		p->level = r->level;
	}
	if (stage == CJ_STAGE_IMAGE)
		return make_image_once(f, m, r, p);
	if (r->look_on_disk || (stage == CJ_STAGE_PTX && is_new))
		p->key = cj_cache_key(m, r, assembler_of(f, m, stage));
	if (stage == CJ_STAGE_PTX && is_new)
		return make_once(f, m, r, stage, p);
	if (is_new && r->look_on_disk
	    && take_from_disk(f, m, r, CJ_STAGE_IMAGE, p))
		return CUTEJIT_OK;
	return make(f, m, r, stage, p);
}

/* Under the program's lock: up to a stage at least. */
static cutejit_status
advance_to(struct cj_work *f, struct cutejit_module *m,
    const struct cj_recipe *r, enum cj_stage stage, struct cj_program *p)
{
	cutejit_status status = CUTEJIT_OK;
	int before = atomic_load(&p->stage);

	if (before < (int)stage)
		status = advance(f, m, r, stage, p);
	if (before != CJ_STAGE_IMAGE &&
	    atomic_load(&p->stage) == CJ_STAGE_IMAGE)
		cj_spills_keep(f, p);
	return status;
}

cutejit_status
cj_program_get(struct cj_work *f, struct cutejit_module *m,
    const struct cj_recipe *r, enum cj_stage stage, struct cj_program **out)
{
	struct cj_digest d = cj_recipe_digest(m, r);
	struct cj_program *p = r->is_fresh
	    ? cj_program_create(f->context, &d)
	    : cj_table_get(f->context, &m->programs, &d);
	cutejit_status status = CUTEJIT_OK;

	if (p == NULL)
		cj_leave(&f->recover, CJ_WHY_MEMORY,
		    "there is no memory for a program");
	cj_defer(f, drop, p);
	if (atomic_load(&p->stage) >= (int)stage) {
		atomic_fetch_add(&f->context->store->memory_hits, 1);
	} else {
		cj_defer_lock(f, &p->lock);
		status = advance_to(f, m, r, stage, p);
		cj_undefer_lock(f);
	}
	cj_undefer(f);
	if (status != CUTEJIT_OK) {
		cj_program_drop(p);
		return status;
	}
	*out = p;
	return CUTEJIT_OK;
}

cutejit_status
cj_program_advance(struct cj_work *f, struct cutejit_module *m,
    const struct cj_recipe *r, enum cj_stage stage, struct cj_program *p)
{
	cutejit_status status = CUTEJIT_OK;

	if (atomic_load(&p->stage) >= (int)stage)
		return CUTEJIT_OK;
	cj_defer_lock(f, &p->lock);
	status = advance_to(f, m, r, stage, p);
	cj_undefer_lock(f);
	return status;
}
