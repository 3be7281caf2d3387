/*
 * Local memory: what the registers of a thread do not hold is kept in memory
 * of its own, and every use of it is a load or a store. Nothing in the program
 * says so, and only the assembler knows.
 *
 * Its numbers are part of a program's entry in the cache, so that a program is
 * found there as fast as ever, and is told of as it was when it was made. Where
 * the driver compiled the PTX it is asked when the image is loaded
 * (device_cuda.c).
 */
#include "runtime.h"

enum { MOST_REGISTERS = 255, FILE_REGISTERS = 65536 };

/* What is spilled is told by ptxas alone; others tell how much there is. */
static bool
has_local(const cutejit_entry *e)
{
	return e->spill_bytes > 0 || e->stack_bytes > 0;
}

/* "24 registers and 488 bytes of local memory, to which it spills 908". */
static const char *
numbers(struct cj_arena *a, const cutejit_entry *e)
{
	struct cj_strbuf b;

	cj_strbuf_init(&b, a);
	if (e->registers > 0)
		cj_strbuf_printf(&b, "%d registers and ", e->registers);
	if (e->stack_bytes > 0)
		cj_strbuf_printf(&b, "%d bytes of ", e->stack_bytes);
	cj_strbuf_puts(&b, "local memory");
	if (e->spill_bytes > 0)
		cj_strbuf_printf(&b, ", to which it spills %d",
		    e->spill_bytes);
	if (e->spill_bytes > 0 && e->stack_bytes <= 0)
		cj_strbuf_puts(&b, " bytes");
	return b.text;
}

/* What leaves a thread fewer registers than there are, as it is written; NULL:
 * nothing. */
static const char *
limit_text(struct cj_arena *a, const struct cj_function *fn, int registers)
{
	int64_t threads = fn->block[0] * fn->block[1] * fn->block[2];
	int64_t blocks = fn->min_blocks > 1 ? fn->min_blocks : 1;
	struct cj_strbuf b;

	if (registers >= MOST_REGISTERS || (fn->max_registers == 0 &&
	    threads * blocks <= FILE_REGISTERS / (MOST_REGISTERS + 1)))
		return NULL;
	cj_strbuf_init(&b, a);
	if (fn->max_registers != 0)
		cj_strbuf_printf(&b, "max_registers(%lld)",
		    (long long)fn->max_registers);
	else
		cj_strbuf_printf(&b, "block(%lld)", (long long)threads);
	if (fn->max_registers == 0 && blocks > 1)
		cj_strbuf_printf(&b, " min_blocks(%lld)", (long long)blocks);
	return b.text;
}

/* ---- who holds them ------------------------------------------------------ */

enum { TOLD = 4, SMALL = 8 };	/* holders told of; registers of no account */

/* Registers of 32 bits of each thread. */
static int64_t
registers_of(const struct cj_object *o)
{
	if (o->kind != CJ_OBJECT_SLOT || o->element == CJ_KIND_BOOL)
		return 0;
	return (o->extent * cj_kind_bits(o->element) + 31) / 32;
}

/* By object: what the function has in registers. */
static int64_t *
held_by(struct cj_arena *a, const struct cj_module *ir,
    const struct cj_function *fn)
{
	int64_t *held = CJ_NEWS(a, int64_t, ir->objects.len);
	struct cj_walk w;

	for (w = cj_walk_begin(ir, fn->body); cj_walk_next(&w);) {
		struct cj_touch t[CJ_TOUCHES];
		unsigned n = w.event != CJ_WALK_INST ? 0 :
		    cj_touches(ir, cj_inst(ir, w.ref), t);

		while (n-- > 0)
			held[t[n].access->object] = registers_of(
			    &ir->objects.at[t[n].access->object]);
	}
	return held;
}

/* The largest first; not all of them need be alive at once. */
static void
note_holders(struct cj_diag *d, struct cj_arena *a,
    const struct cj_module *ir, const struct cj_function *fn)
{
	int64_t *held = held_by(a, ir, fn);
	const struct cj_object *o;
	uint32_t i, most;
	int told;

	for (told = 0; told < TOLD; told++) {
		most = 0;
		for (i = 1; i < ir->objects.len; i++)
			if (held[i] >= SMALL &&
			    (most == 0 || held[i] > held[most]))
				most = i;
		if (most == 0)
			return;
		o = &ir->objects.at[most];
		cj_note(d, ir->places.at[o->place].span,
		    "\"%s\" takes %lld registers of each thread", o->name,
		    (long long)held[most]);
		held[most] = 0;
	}
}

/* ---- what is said -------------------------------------------------------- */

static void
report(struct cj_diags *ds, const struct cj_module *ir,
    const struct cj_function *fn, const cutejit_entry *e)
{
	const char *limit = limit_text(ds->arena, fn, e->registers);
	struct cj_diag *d;

	d = cj_report(ds, CJ_DIAG_SPILL, ir->places.at[fn->place].span,
	    "each thread of \"%s\" has %s", e->name, numbers(ds->arena, e));
	note_holders(d, ds->arena, ir, fn);
	if (limit == NULL)
		cj_help(d, "Hold fewer values at once: a smaller tile, fewer "
		    "elements of each thread, loops that are not unrolled; "
		    "or share them among more threads.");
	else
		cj_help(d, "So few registers are what %s leaves: fewer "
		    "threads in a block, a smaller min_blocks(n) or a larger "
		    "max_registers(n) give more; or hold fewer values at once.",
		    limit);
}

static void
report_all(struct cj_diags *ds, const struct cj_program *p)
{
	const cutejit_entry *e = atomic_load(&p->entries);
	uint32_t i;

	cj_advice_report(ds, p);
	for (i = 0; i < p->entry_count; i++)
		if (has_local(&e[i]))
			report(ds, p->ir, &p->ir->functions.at[
			    p->functions[i]], &e[i]);
}

void
cj_spills_keep(struct cj_work *f, struct cj_program *p)
{
	struct cj_diags own = f->diags;
	const struct cj_diag *d;

	if (atomic_load(&p->has_whole))
		return;
	own.first = NULL;
	own.last = &own.first;
	own.errors = own.warnings = own.remarks = 0;
	if (own.sources == NULL)
		own.sources = p->ir->sources;
	report_all(&own, p);
	if (own.first == NULL)
		return;
	for (d = own.first; d != NULL; d = d->next)
		cj_log(f->context, CUTEJIT_LOG_INFO, "%s", d->text);
	cj_report_join(&p->whole, &p->report, &own);
	atomic_store(&p->has_whole, true);
}

cutejit_status
cj_spills_tell(struct cj_work *f, const struct cj_program *p)
{
	uint32_t before = f->diags.errors;

	if (!atomic_load(&p->has_whole))
		return CUTEJIT_OK;
	if (f->diags.sources == NULL)
		f->diags.sources = p->ir->sources;
	report_all(&f->diags, p);
	return f->diags.errors == before ? CUTEJIT_OK : CUTEJIT_ERROR;
}
